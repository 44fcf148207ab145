"""Spanning tree, order of elimination, cut joints and loop clusters, by networkx.

The mechanism graph has bodies (and the world) as nodes and joints as edges (VI section 4.2). A
spanning tree that keeps the joints with the most rows leaves the cheapest joints as cuts (loop
closures), and among equals the ones deepest in the mechanism, so that loops stay short. Loops
only interact inside one biconnected component; its cut joints form one cluster.
"""

from dataclasses import dataclass

import networkx as nx


@dataclass(frozen=True)
class Topology:
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
        In order of elimination reversed: by place of the articulation in ``bodies``, the world last.
    cluster_of : dict
        For each body inside a loop, below the articulation: the number of its cluster.
    """

    bodies: list
    tree_joint: dict
    parent: dict
    clusters: list
    cluster_of: dict
    attached: dict


def find_topology(ends, rows, body_count, clustered=True, springs=(), chained=()) -> Topology:
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
    """
    graph = nx.MultiGraph()
    graph.add_nodes_from(range(-1, body_count))
    graph.add_edges_from((a, b, j) for j, (a, b) in enumerate(ends))
    roots = [-1] + [min(part) for part in nx.connected_components(graph) if -1 not in part]
    depth = nx.multi_source_dijkstra_path_length(graph, set(roots))
    edges = sorted(range(len(ends)), key=lambda j: (min(depth[ends[j][0]], depth[ends[j][1]]), j))
    weighted = nx.MultiGraph()
    weighted.add_nodes_from(graph)
    weighted.add_edges_from((*ends[j], j, {"weight": rows[j]}) for j in edges)
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
    attached: dict = {}
    room = {body: 6 - (rows[joint] if joint is not None else 0) for body, joint in tree_joint.items()}
    for k, (a, b) in enumerate(springs):
        alone = k not in chained and k + 1 not in chained
        child = next((body for body, other in ((a, b), (b, a)) if parent.get(body) == other and room[body]), None)
        if child is None or not alone:
            cuts.append(len(ends) + k)
        else:
            attached[k], room[child] = child, room[child] - 1
    follows = {len(ends) + k for k in chained}
    clusters, cluster_of = _find_clusters([*ends, *springs], cuts, tree_joint, bodies, clustered, follows)
    return Topology(bodies, tree_joint, parent, clusters, cluster_of, attached)


def _find_clusters(ends, cuts, tree_joint, bodies, clustered, follows):
    if not cuts:
        return [], {}
    if not clustered:
        return [(-1, cuts)], dict.fromkeys(bodies, 0)
    place = {body: number for number, body in enumerate(bodies)}
    place[-1] = -1
    # joints as nodes of their own: two joints between the same bodies make a loop too
    graph = nx.Graph()
    cut, tree = set(cuts), set(tree_joint.values())
    chain: dict = {}
    first = -1
    for j, (a, b) in enumerate(ends):
        if j in cut or j in tree:
            first = first if j in follows else j
            chain.setdefault(first, []).append(j)
            graph.add_edge(("joint", first), a)
            graph.add_edge(("joint", first), b)
    for body, joint in tree_joint.items():
        if joint is None:  # springs couple floating groups by way of the world
            graph.add_edge(("base", -1 - body), body)
            graph.add_edge(("base", -1 - body), -1)
    found = []
    for component in nx.biconnected_components(graph):
        heads = [node[1] for node in component if isinstance(node, tuple) and node[1] in cut]
        closures = sorted(j for head in heads for j in chain[head])
        if len(component) < 4 or not closures:
            continue
        members = [node for node in component if not isinstance(node, tuple)]
        articulation = min(members, key=place.__getitem__)
        found.append((articulation, closures, members))
    found.sort(key=lambda cluster: place[cluster[0]] if cluster[0] >= 0 else len(bodies))
    cluster_of = {body: c for c, (top, _, members) in enumerate(found) for body in members if body != top}
    return [(articulation, closures) for articulation, closures, _ in found], cluster_of
