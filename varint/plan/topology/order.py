"""Spanning tree, order of elimination, cut joints and loop clusters, by networkx.

The mechanism graph has bodies (and the world) as nodes and joints as edges (VI section 4.2). A
spanning tree that keeps the joints with the most rows leaves the cheapest joints as cuts (loop
closures), and among equals the ones deepest in the mechanism; where there are many loops, those
that close short ones. Loops only interact inside one biconnected component; its cut joints form
one cluster. Closures are eliminated each where its loop ends, in an order in which those that share
bodies follow one another.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from varint.base.display import Shown

Pair = tuple[int, int]

KEPT = 7  # rows: more than any joint has
FEW = 5  # loops of a component: up to so many their length matters little


@dataclass(frozen=True)
class Topology(Shown):
    """Everything in indices of the description; the world is ``-1``.

    Attributes
    ----------
    bodies : list of int
        Bodies in tree order: a parent before its children, a subtree in one piece.
    attached : dict
        Spring to the body whose tree joint takes it, see `find_topology`.
    tree_joint, parent : dict
        Joint to the parent, and parent, of each body; joint ``None`` for the base of a floating group.
    clusters : list of (articulation, [cut joints])
        One for each biconnected component with loops; the articulation is its body nearest to the root.
        By place of the articulation in ``bodies``, the world last.
    cluster_of : dict
        For each body inside a loop, below the articulation: the number of its cluster.
    nodes : list of [(top, [cut joints])]
        The dense nodes that cut joints and springs that close loops are eliminated in, in that order, by the clusters
        that both make together. The top of a node is the body nearest to the root of the loops it closes.
    solved_in : dict
        For each body inside such a loop: the number of its place in ``nodes``.
    """

    bodies: list
    tree_joint: dict
    parent: dict
    clusters: list
    cluster_of: dict
    nodes: list
    solved_in: dict
    attached: dict


def find_topology(
    ends: Sequence[Pair],
    rows: Sequence[int],
    body_count: int,
    clustered: bool = True,
    springs: Sequence[Pair] = (),
    chained: Collection[int] = (),
    kept_joints: Collection[int] = (),
    takes: Callable[[int, int | None], bool] = lambda spring, joint: True,
    cut_joints: Collection[int] = (),
) -> Topology:
    """Order a mechanism.

    Parameters
    ----------
    ends : list of (int, int)
        Bodies of each joint, -1 for the world.
    rows : list of int
        Number of constraint rows of each joint.
    clustered : bool
        One cluster for each biconnected component; if False, one for all loops (VI section 4.3).
    springs : list of (int, int)
        Pairs of bodies that one row each couples without constraint. Neighbours in the tree take it in their joint
        as long as that has no more than six rows; the others close loops, numbered on from the joints.
    chained : set of int
        Springs whose effort is that of the spring before them: all of such a chain get into one cluster.
    kept_joints : set of int
        Joints that are cut only where every tree leaves one of them out.
    takes : function
        Whether a joint of the tree, None for the base of a floating group, takes a spring of its neighbours.
    cut_joints : set of int
        Joints that are no part of the tree: bodies that nothing else carries are bases of floating groups.
    """
    import networkx as nx  # slow to import

    worth = [count + KEPT * (j in kept_joints) for j, count in enumerate(rows)]
    graph = nx.MultiGraph()
    graph.add_nodes_from(range(-1, body_count))
    graph.add_edges_from((a, b, j) for j, (a, b) in enumerate(ends) if j not in cut_joints)
    roots = [-1] + [min(part) for part in nx.connected_components(graph) if -1 not in part]
    depth = nx.multi_source_dijkstra_path_length(graph, set(roots))
    whole = sorted(set(range(len(ends))) - set(cut_joints))
    early = _close_short_loops(ends, whole, worth, depth)
    edges = sorted(set(whole) - early, key=lambda j: (min(depth[ends[j][0]], depth[ends[j][1]]), j))
    weighted = nx.MultiGraph()
    weighted.add_nodes_from(graph)
    weighted.add_edges_from((*ends[j], j, {"weight": worth[j]}) for j in edges)
    tree = nx.maximum_spanning_tree(weighted, weight="weight")

    tree_joint: dict = {}
    parent: dict = {}
    bodies: list = []
    for root in roots:
        if root >= 0:
            tree_joint[root], parent[root] = None, -1
            bodies.append(root)
        for above, below in nx.dfs_edges(tree, root):
            tree_joint[below], parent[below] = next(iter(tree[above][below])), above
            bodies.append(below)
    used = set(tree_joint.values())
    cuts = [j for j in range(len(ends)) if j not in used]
    clusters, cluster_of = _find_clusters(ends, cuts, tree_joint, bodies, clustered, ())
    attached: dict = {}
    room = {body: 6 - (rows[joint] if joint is not None else 0) for body, joint in tree_joint.items()}
    for k, (a, b) in enumerate(springs):
        alone = k not in chained and k + 1 not in chained
        child = next((body for body, other in ((a, b), (b, a)) if parent.get(body) == other and room[body]), None)
        if child is None or not alone or not takes(k, tree_joint[child]):
            cuts.append(len(ends) + k)
        else:
            attached[k], room[child] = child, room[child] - 1
    follows = {len(ends) + k for k in chained}
    ends = [*ends, *springs]
    solved, solved_in = _find_clusters(ends, cuts, tree_joint, bodies, clustered, follows)
    nodes = [
        _find_nodes(ends, cuts, parent, bodies, follows) if clustered else [(articulation, cuts)]
        for articulation, cuts in solved
    ]
    return Topology(bodies, tree_joint, parent, clusters, cluster_of, nodes, solved_in, attached)


def _components(
    ends: Sequence[Pair], numbers: Iterable[int], follows: Collection[int] = (), bases: Iterable[int] = ()
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield biconnected components with loops of the joints in ``numbers``, as (joints, bodies).

    ``follows``: joints that belong with the one before; ``bases``: of floating groups, that springs couple through
    the world.
    """
    import networkx as nx  # slow to import

    # joints as nodes of their own: two joints between the same bodies make a loop too
    graph = nx.Graph()
    chain: dict = {}
    first = -1
    for j in sorted(numbers):
        first = first if j in follows else j
        chain.setdefault(first, []).append(j)
        for body in ends[j]:
            graph.add_edge(("joint", first), body)
    for body in bases:
        graph.add_edge(("base", body), body)
        graph.add_edge(("base", body), -1)
    for component in nx.biconnected_components(graph):
        if len(component) >= 4:
            heads = [node[1] for node in component if isinstance(node, tuple) and node[0] == "joint"]
            yield sorted(j for head in heads for j in chain[head]), [n for n in component if not isinstance(n, tuple)]


def _close_short_loops(
    ends: Sequence[Pair], numbers: Iterable[int], worth: Sequence[int], depth: Mapping[int, int]
) -> set[int]:
    """Return joints to cut, one for each of a set of short independent loops, in components of many loops.

    ``numbers``: joints that loops are made of. Of a loop the joint of the least ``worth``, among these one in the
    fewest loops, the deepest of them. Loops are sets of joints, written as bits of an integer; those that share a cut
    joint with an earlier one are led around it.
    """
    closed: dict[int, int] = {}
    for joints, members in _components(ends, numbers):
        if len(joints) - len(members) + 1 <= FEW:
            continue
        loops = sorted({_shortest_loop(ends, joints, j) for j in joints}, key=lambda loop: (loop.bit_count(), loop))
        rank = {
            j: (worth[j], sum(loop >> j & 1 for loop in loops), -min(depth[ends[j][0]], depth[ends[j][1]]), -j)
            for j in joints
        }
        for loop in loops:
            for cut, other in closed.items():
                if loop >> cut & 1:
                    loop ^= other
            if loop:
                closed[min((j for j in joints if loop >> j & 1), key=rank.__getitem__)] = loop
    return set(closed)


def _shortest_loop(ends: Sequence[Pair], joints: Sequence[int], closure: int) -> int:
    """Return a shortest loop through the joint ``closure`` of a component, as bits: breadth first from its one end."""
    beside: dict[int, list[Pair]] = {}
    for j in joints:
        for near, far in (ends[j], ends[j][::-1]):
            beside.setdefault(near, []).append((far, j))
    start, goal = ends[closure]
    way = {start: 1 << closure}
    front = [start]
    for body in front:
        for far, j in beside[body]:
            if j != closure and far not in way:
                way[far] = way[body] | 1 << j
                front.append(far)
        if goal in way:
            return way[goal]
    raise AssertionError("every joint of a biconnected component is in a loop")


def _find_clusters(
    ends: Sequence[Pair],
    cuts: list[int],
    tree_joint: Mapping[int, int | None],
    bodies: Sequence[int],
    clustered: bool,
    follows: Collection[int],
) -> tuple[list[tuple[int, list[int]]], dict[int, int]]:
    if not cuts:
        return [], {}
    if not clustered:
        return [(-1, cuts)], dict.fromkeys(bodies, 0)
    place = {body: number for number, body in enumerate(bodies)}
    place[-1] = -1
    cut = set(cuts)
    bases = [body for body, joint in tree_joint.items() if joint is None]
    clusters = []
    for joints, members in _components(ends, cut | {j for j in tree_joint.values() if j is not None}, follows, bases):
        if cut.isdisjoint(joints):
            continue
        articulation = min(members, key=place.__getitem__)
        clusters.append((articulation, [j for j in joints if j in cut], members))
    clusters.sort(key=lambda cluster: place[cluster[0]] if cluster[0] >= 0 else len(bodies))
    cluster_of = {body: c for c, (top, _, members) in enumerate(clusters) for body in members if body != top}
    return [(articulation, closures) for articulation, closures, _ in clusters], cluster_of


def _find_nodes(
    ends: Sequence[Pair],
    cuts: Sequence[int],
    parent: Mapping[int, int],
    bodies: Sequence[int],
    follows: Collection[int],
) -> list[tuple[int, list[int]]]:
    """Return the nodes of a cluster: one for each cut joint, or chain of them."""
    import networkx as nx  # slow to import

    place = {body: number for number, body in enumerate(bodies)}
    place[-1] = -1
    groups: dict = {}
    for j in cuts:
        head = next(reversed(groups)) if j in follows else j
        groups.setdefault(head, []).append(j)
    top: dict[int, int] = {}
    reached: dict[int, list[int]] = {}
    for head, group in groups.items():
        below = {body for j in group for body in ends[j]}
        while len(below) > 1:
            lowest = max(below, key=place.__getitem__)
            reached.setdefault(lowest, []).append(head)
            below = below - {lowest} | {parent[lowest]}
        (top[head],) = below
    near = nx.Graph()
    near.add_nodes_from(groups)
    for heads in reached.values():
        near.add_edges_from(combinations(heads, 2))
    order = list(nx.utils.reverse_cuthill_mckee_ordering(near))
    return [(top[head], groups[head]) for head in sorted(order, key=lambda head: -place[top[head]])]
