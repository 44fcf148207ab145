"""Components of a mechanism: bodies that joints or forces connect, other than through the world."""

from collections.abc import Collection, Iterable


def find_components(count: int, groups: Iterable[Collection[int]]) -> list[int]:
    """Return the number of the component of each of ``count`` bodies, in the order of their first bodies.

    ``groups``: bodies that a joint or a force connects, in indices of the description; the world is ``-1``.
    """
    import networkx as nx  # slow to import

    graph = nx.Graph()
    graph.add_nodes_from(range(count))
    for group in groups:
        nx.add_path(graph, [body for body in group if body >= 0])
    number = [0] * count
    for k, component in enumerate(nx.connected_components(graph)):
        for body in component:
            number[body] = k
    return number
