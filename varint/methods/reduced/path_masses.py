"""Mass along the paths of muscles, tendons and ropes, in the mass matrix and the forces of a tree; dense solves.

The articulated-body recursions know bodies alone. With such masses, M = J^T M J + sum of the paths' matrices is
assembled and factored by Cholesky, in O(n^3).
"""

import numpy as np
from scipy.linalg import solve_triangular

from varint.mathematics.arcs import ARC_NODES
from varint.mechanism.mechanism import Mechanism
from varint.methods.reduced.constraint_forces import NotFinite
from varint.methods.reduced.recursions.path_recursions import PathTable, PathWorkspace, evaluate_paths
from varint.methods.reduced.recursions.tree_records import ReducedWorkspace, TreeNodes
from varint.model.body import WORLD
from varint.model.forces.path import PathInertia, path_inertias
from varint.model.rotation_vectors import rotation_matrix


class PathMasses:
    """The masses along paths of ``mechanism``. After `evaluate`: ``mass`` (nq, nq), ``force`` (nq,)."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.inertias: list[PathInertia] = [element for _, element in path_inertias(mechanism)]
        self._nodes: TreeNodes | None = None

    def __len__(self) -> int:
        return len(self.inertias)

    def evaluate(self, work: ReducedWorkspace, gravity: np.ndarray) -> None:
        """Evaluate ``mass`` after `place`, and ``force``, by ``gravity`` (3,), m/s^2, less the bias, after `move`."""
        if self._nodes is not work.nodes:  # other charts have other nodes
            self._nodes = work.nodes
            self._table = _table(self.mechanism, self.inertias, work.nodes)
            self._ws = _workspace(self._table, work)
        evaluate_paths(work, self._table, self._ws, gravity)
        self.mass, self.force = self._ws.mass, self._ws.force


def _table(mechanism: Mechanism, inertias: list[PathInertia], nodes: TreeNodes) -> PathTable:
    slot, node, offset, wrap, count = mechanism.compiled.slot, [], [], [], 0
    axes: dict[str, np.ndarray] = {WORLD: np.eye(3)}
    for inertia in inertias:
        for name, point, w in inertia.stations():
            wrap.append(w if w < 0 else count + w)
            if name == WORLD:
                node.append(nodes.parent.size)
                offset.append(point)
                continue
            number = mechanism.body_index[name]
            body, slot_of_body = mechanism.bodies[number], slot[number]
            axes[name] = nodes.body_axes[slot_of_body] @ rotation_matrix(body.quat_wxyz).T
            node.append(nodes.body_node[slot_of_body])
            offset.append(nodes.body_axes[slot_of_body] @ (rotation_matrix(body.quat_wxyz).T @ (point - body.position)))
        count += len(inertia.wraps)
    wraps = [each for inertia in inertias for each in inertia.wraps]
    return PathTable(
        first=np.cumsum([0, *(len(inertia.stations()) for inertia in inertias)]),
        node=np.array(node, dtype=np.int64),
        offset=np.array(offset),
        mass=np.array([inertia.mass for inertia in inertias]),
        belly=np.array([inertia.belly for inertia in inertias]),
        lumped=np.array([inertia.lumped or 0 for inertia in inertias], dtype=np.int64),
        wrap=np.array(wrap, dtype=np.int64),
        axis=np.reshape([axes[each.body] @ each.axis for each in wraps], (-1, 3)).astype(float),
        side=np.reshape([axes[each.body] @ each.side for each in wraps], (-1, 3)).astype(float),
        size=np.reshape([each.size for each in wraps], (-1, 3)).astype(float),
    )


def _workspace(table: PathTable, work: ReducedWorkspace) -> PathWorkspace:
    nl, nq, N = work.nodes.parent.size, work.q.size, int(np.diff(table.first).max()) + 1
    return PathWorkspace(
        mass=np.zeros((nq, nq)),
        force=np.zeros(nq),
        J=np.zeros((nl + 1, 6, nq)),
        still=np.zeros((nl, 6)),
        acceleration=np.zeros((nl + 1, 6)),
        x=np.zeros((N, 3)),
        v=np.zeros((N, 3)),
        a=np.zeros((N, 3)),
        X=np.zeros((N, 3, nq)),
        t=np.zeros((N, 3)),
        t_rate=np.zeros((N, 3)),
        s=np.zeros(N),
        slip=np.zeros(N),
        slip_rate=np.zeros(N),
        slip_row=np.zeros((N, nq)),
        near=np.zeros((3, nq)),
        far=np.zeros((3, nq)),
        arc=np.zeros((N, 3)),
        arc_row=np.zeros((N, nq)),
        relative=np.zeros((6, nq)),
        by_ends=np.zeros((ARC_NODES, 3, 6)),
    )


class DenseMass:
    """A mass matrix, factored as L L^T on the ``free`` (nq,) coordinates; prescribed ones do not move.

    It stands for the factors of the articulated-body recursions: scaled rates are L^T dq.
    """

    def __init__(self, M: np.ndarray, free: np.ndarray) -> None:
        """Raise NotFinite where M is no positive definite matrix of numbers."""
        if not np.isfinite(M).all():
            raise NotFinite
        self.free, self.size = free, len(M)
        try:
            self.L = np.linalg.cholesky(M[np.ix_(free, free)])
        except np.linalg.LinAlgError:
            raise NotFinite from None

    def scaled(self, G: np.ndarray) -> np.ndarray:
        """Return G L^-T (m, nq) of rows G (m, nq); zero in the columns of prescribed coordinates."""
        out = np.zeros_like(G)
        out[:, self.free] = solve_triangular(self.L, G[:, self.free].T, lower=True, check_finite=False).T
        return out

    def motion_of(self, scaled: np.ndarray) -> np.ndarray:
        """Return L^-T ``scaled`` (nq,)."""
        out = np.zeros(self.size)
        out[self.free] = solve_triangular(self.L, scaled[self.free], lower=True, trans="T", check_finite=False)
        return out

    def solve(self, effort: np.ndarray) -> np.ndarray:
        """Return M^-1 ``effort`` (nq,) of the free coordinates."""
        return self.motion_of(self.scaled(effort[None])[0])
