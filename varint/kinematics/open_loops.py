"""Messages on loops that cannot be closed: which joints stay open, in which loop, and what locks it."""

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from varint.kinematics.closure import Closure
from varint.kinematics.frames import JointFrames
from varint.model.body import WORLD
from varint.model.structure import Structure

SHARE_OF_CONFLICT = 0.01  # of the largest gap: joints less open than this have no part in it
MOST_ROWS = 600  # of a loop that is looked at: a tenth of a second
SINGULAR = 1e-3  # of the largest singular value: a motion that is left where links are in line


def conflict(
    structure: Structure,
    closure: Closure,
    x: np.ndarray,
    R: np.ndarray,
    held: Collection[int],
    named: Iterable[str],
    placed: Collection[str],
    way: str,
) -> str:
    """Return the message on gaps that cannot be closed, at poses where they are smallest together: sizes and loop.

    ``held``: bodies; ``named``: joints at prescribed coordinates, those ``placed`` in no loop and no coupling.
    """
    g, _ = closure.evaluate(x, R)
    gaps = {}
    for j in np.unique(closure.joint[closure.joint >= 0]):
        gaps[int(j)] = float(np.linalg.norm((closure.scale * g)[closure.joint == j]))
    largest = max(gaps.values())
    open_ = [j for j in gaps if not gaps[j] <= SHARE_OF_CONFLICT * largest]  # all, where they are no numbers
    open_ = sorted(open_, key=gaps.__getitem__, reverse=True) or [max(gaps, key=gaps.__getitem__)]
    loop, locked = loop_through(structure, open_, held), _locked_joints(structure, closure, x, R)
    if elsewhere := not set(locked) <= set(loop):  # gaps spread to loops that are free to move
        loop = loop_through(structure, locked, held)
    names = " - ".join(f"'{structure.joints[j].name}'" for j in loop)
    parts = [f"{structure.joints[j].label} {gaps[j]:.2g} m" for j in open_]
    for force, gap in closure.coupling_gaps(g):
        if gap > SHARE_OF_CONFLICT * largest:
            parts.append(f"{structure.forces[force].label} {gap:.2g} m")
    at = f", locked at joints {', '.join(repr(structure.joints[j].name) for j in locked)}," if elsewhere else ""
    where = f"the loop {names}{at} stays" if len(loop) > 1 else f"{structure.joints[loop[0]].label} stays"
    named = [name for name in named if name not in placed]
    labels = [f"body '{structure.bodies[i].name}'" for i in held] + [structure.joint(name).label for name in named]
    holding = f", holding {', '.join(labels)}" if labels else ""
    return (
        f"mechanism '{structure.name}' cannot be put together{holding}{way}: {where} open by"
        f" {sum(gaps[j] for j in open_):.3g} m: {', '.join(parts)}."
        f" {freed(named, 'coordinates')}Change the coordinates, poses or bodies asked for, or the dimensions of the"
        " loop"
    )


def freed(named: Sequence[str], key: str) -> str:
    """Return the advice to free one of the joints ``named``, empty without names; ``key``: "coordinates" or "rates"."""
    if not named:
        return ""
    joints = ", ".join(f"'{name}'" for name in named)
    return f"Free {'joint' if len(named) == 1 else 'one of the joints'} {joints}, whose {key} are prescribed. "


def _locked_joints(structure: Structure, closure: Closure, x: np.ndarray, R: np.ndarray) -> list[int]:
    """Return joints that move in the only motion left when gaps stop shrinking: their links are in line.

    The most moved first. None where other motions are left too, or the rows are more than `MOST_ROWS`.
    """
    size = closure.row_size(G := closure.evaluate(x, R)[1])
    A = closure.matrix(G, size)
    moving = np.flatnonzero(np.repeat(closure.root.any(axis=(1, 2)), 6))
    if len(size) > MOST_ROWS or not moving.size:
        return []
    A = A if isinstance(A, np.ndarray) else A.toarray()
    values, motions = np.linalg.svd(A[:, moving])[1:]
    if len(values) < len(moving) or np.count_nonzero(values > SINGULAR * values[0]) != len(moving) - 1:
        return []
    y = np.zeros(A.shape[1])
    y[moving] = motions[-1]
    motion = closure.motion(y)
    turned = np.zeros(len(structure.joints))
    for j, joint in enumerate(structure.joints):
        frames = JointFrames(structure, joint)
        turned[j] = np.linalg.norm(np.einsum("ksl,sl->k", frames.twist_jacobian(x, R), motion[[frames.a, frames.b]]))
    return [int(j) for j in np.argsort(-turned) if turned[j] > SHARE_OF_CONFLICT * turned.max()]


def loop_through(structure: Structure, open_joints: Sequence[int], held: Collection[int]) -> list[int]:
    """Return the shortest loop of open joints through the first one, else of any joints; held bodies count as world."""
    import networkx as nx  # slow to import

    fixed = {WORLD, *(structure.bodies[i].name for i in held)}

    def end(body: str) -> str:
        return WORLD if body in fixed else body

    first = structure.joints[open_joints[0]]
    for allowed in (open_joints, range(len(structure.joints))):
        graph = nx.Graph()
        graph.add_nodes_from((end(first.body_a), end(first.body_b)))
        for j in allowed:
            joint = structure.joints[j]
            if joint is not first:
                graph.add_edge(end(joint.body_a), end(joint.body_b), joint=j)
        if nx.has_path(graph, end(first.body_b), end(first.body_a)):
            path = nx.shortest_path(graph, end(first.body_b), end(first.body_a))
            return [open_joints[0], *(graph.edges[edge]["joint"] for edge in nx.utils.pairwise(path))]
    return [open_joints[0]]
