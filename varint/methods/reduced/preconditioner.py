"""The inverse of the reduced inertia with stiffness and damping of the forces, in O(n) (DIFF Algorithm 10).

    y = (M_r + J^T blkdiag(P_b) J + P_j)^-1 x

P_j: of laws along the coordinates of one tree node, c g g^T with c = -(h f_rate + h^2 f_value) of their effort f; P_b:
of all others, the blocks of single bodies; blocks between two bodies have no place in the tree. Only parts that are
positive are taken, so that the matrix is positive definite. The factors are as in recursions/articulated.py.
"""

from dataclasses import fields, replace

import numpy as np

from varint.methods.reduced.equations import Equations
from varint.methods.reduced.linear_solves import reduced_gradient
from varint.methods.reduced.recursions import articulated
from varint.methods.reduced.recursions.tree_records import ReducedWorkspace, TreeNodes

ALONG = 1e-12  # of the largest entry of a reduced gradient: smaller ones are round-off


class StiffTree:
    """Solves with the matrix of the module, at the state of the last `Equations.load`, for steps of ``h`` seconds.

    Later evaluations of the equations leave it as it is.
    """

    def __init__(self, equations: Equations, h: float) -> None:
        self.driven = equations.driven_columns.copy()
        names = [field.name for field in fields(equations.work) if field.name != "nodes"]
        self.work = replace(equations.work, **{name: getattr(equations.work, name).copy() for name in names})
        self._none = np.zeros_like(self.work.bias)
        self.of_coordinates, self.of_bodies = _added(equations, h)
        _factor(self.work, self.of_coordinates, _at_nodes(self.work, self.of_bodies))

    def solve(self, x: np.ndarray) -> np.ndarray:
        """Return y (nq,); prescribed coordinates stay at zero."""
        y = np.where(self.driven, 0.0, np.asarray(x, dtype=float).ravel())
        self.work.wrench[:] = 0.0
        articulated.inward_pass(self.work, self._none, y)
        articulated.outward_pass(self.work, self._none, y)
        return y


def _added(equations: Equations, h: float) -> tuple[np.ndarray, np.ndarray]:
    """Return P_j (nq, nq), block diagonal by nodes, and P_b (nb, 6, 6): motions are m, world, and rad, body axes."""
    e, plan, work = equations, equations.compiled.plan, equations.ws.efforts
    nodes = e.nodes
    node_of_column = np.repeat(np.arange(nodes.dof.size), nodes.dof)[np.argsort(_columns(nodes), kind="stable")]
    of_coordinates, of_bodies = np.zeros((e.nq, e.nq)), np.zeros((e.nb, 6, 6))
    for s in range(plan.laws.sum_law.size - 1):
        c = max(0.0, -h * work.sum_by_rate[s] - h * h * work.sum_by_value[s])
        row = reduced_gradient(e, e.ws.efforts.gradient, s)
        along = np.flatnonzero(np.abs(row) > ALONG * np.abs(row).max())
        if len(set(node_of_column[along].tolist())) == 1:
            of_coordinates[np.ix_(along, along)] += c * np.outer(row[along], row[along])
            continue
        gradient = np.zeros((e.nb + 1, 6))
        for m in range(plan.laws.sum_first[s], plan.laws.sum_first[s + 1]):
            np.add.at(gradient, plan.measures.body[m], work.gradient[m])
        of_bodies += c * np.einsum("bi,bj->bij", gradient[:-1], gradient[:-1])
    if plan.loads.kind.size:
        e.differentiate_loads()
        for i, by_pose, by_velocity in zip(
            plan.loads.body, work.wrench_by_pose[:, 0], work.wrench_by_velocity[:, 0], strict=True
        ):
            of_bodies[i] += _positive(-h * by_velocity - h * h * by_pose)
    return of_coordinates, of_bodies


def _columns(nodes: TreeNodes) -> np.ndarray:
    """Return the columns (nq,) of the coordinates, node after node."""
    return np.concatenate([np.arange(c, c + d) for c, d in zip(nodes.column, nodes.dof, strict=True)]).astype(int)


def _positive(matrix: np.ndarray) -> np.ndarray:
    """Return the positive part of the symmetric part of a matrix."""
    sizes, axes = np.linalg.eigh(0.5 * (matrix + matrix.T))
    return (axes * np.maximum(sizes, 0.0)) @ axes.T


def _at_nodes(work: ReducedWorkspace, of_bodies: np.ndarray) -> np.ndarray:
    """Return matrices of bodies (nb, 6, 6) by twists (angular, linear) of their nodes in world axes, (nl, 6, 6)."""
    out, eye = np.zeros((work.nodes.parent.size, 6, 6)), np.eye(3)
    for i, R, P in zip(work.nodes.body_node, work.rotation, of_bodies, strict=False):
        T = np.block([[np.zeros((3, 3)), eye], [R.T, np.zeros((3, 3))]])
        out[i] = T.T @ P @ T
    return out


def _factor(work: ReducedWorkspace, of_coordinates: np.ndarray, of_nodes: np.ndarray) -> None:
    """Write ``work.U`` and ``work.L`` as `articulated.factor` does, with further inertias.

    ``of_coordinates`` (nq, nq), ``of_nodes`` (nl, 6, 6): see `_added`, `_at_nodes`.
    """
    nodes, nl = work.nodes, work.nodes.parent.size
    inertias = np.zeros((nl + 1, 6, 6))
    inertias[:nl, :3, :3] = work.axes[:nl] @ nodes.inertia @ np.swapaxes(work.axes[:nl], 1, 2)
    inertias[:nl, 3:, 3:] = nodes.mass[:, None, None] * np.eye(3)
    inertias[:nl] += of_nodes
    work.inertia[:] = 0.0  # passes without biases do not read them
    for i in range(nl - 1, -1, -1):
        H, p = inertias[i], nodes.parent[i]
        columns = slice(nodes.column[i], nodes.column[i] + nodes.dof[i])
        if nodes.dof[i] > 0 and not work.prescribed[i]:
            S = work.subspace[columns]
            L = np.linalg.cholesky(S @ H @ S.T + of_coordinates[columns, columns])
            U = np.linalg.solve(L, S @ H)
            work.U[columns], work.L[columns, : nodes.dof[i]] = U, L
            H = H - U.T @ U
        x, y, z = work.point[i] - work.point[p]
        X = np.eye(6)
        X[3:, :3] = [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]  # v + w x r
        inertias[p] += X.T @ H @ X
