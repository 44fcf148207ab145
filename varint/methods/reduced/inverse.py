"""Inverse dynamics of a mechanism and its exact derivatives: residuals and Newton matrices of the implicit schemes.

    tau(q, dq, ddq, lambda) = J^T (M (J ddq + Jdot dq) - f) - G^T lambda,    sigma(q, dq) = G dq + b g

Both vanish on motions that obey the equations (DIFF eq. 2.105) and whose violations g of closures and couplings decay
at the rate b. The derivatives are all analytic, of S, M, Jdot, of every measure and law of the forces and of the rows:
O(n) for each direction. Mass along paths (path_masses.py) is in tau, and not in the derivatives.
"""

from dataclasses import replace

import numpy as np

from varint.methods.reduced.equations import Equations
from varint.methods.reduced.recursions import force_tangents, wrenches
from varint.methods.reduced.recursions import tangent_recursions as tangents
from varint.methods.reduced.recursions.tree_records import ReducedWorkspace, TangentWorkspace


def _tangent_workspace(work: ReducedWorkspace) -> TangentWorkspace:
    nl, nq = work.nodes.parent.size, work.q.size
    return TangentWorkspace(
        work=work,
        second=np.zeros(nq),
        joint_velocity=np.zeros((nl, 6)),
        joint_acceleration=np.zeros((nl, 6)),
        acceleration=np.zeros((nl + 1, 6)),
        total_wrench=np.zeros((nl + 1, 6)),
        pose_change=np.zeros((nl + 1, 6)),
        twist_change=np.zeros((nl + 1, 6)),
        acceleration_change=np.zeros((nl + 1, 6)),
        wrench_change=np.zeros((nl + 1, 6)),
    )


class InverseDynamics:
    """Evaluates tau and sigma, and then their derivatives there."""

    def __init__(self, equations: Equations) -> None:
        self.equations = equations
        nodes = equations.nodes
        self.tangent = _tangent_workspace(equations.work)
        self.node = np.append(nodes.body_node, nodes.parent.size)
        self._pose, self._change = self.tangent.pose_change, self.tangent.twist_change
        self._motion, self._faster = np.zeros((2, equations.nb, 6))  # of the bodies, and change of their velocity
        self._jacobian, self._row_change = np.zeros((0, 2, 6)), np.zeros((equations.closures.rows.size, 2))
        self._tau, self._rows = np.zeros(equations.nq), np.zeros((0, equations.nq))  # of the couplings

    def evaluate(
        self, t: float, q: np.ndarray, rates: np.ndarray, second: np.ndarray, multiplier: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return tau (nq,) and sigma (m,) at time ``t``; ``second`` (nq,): ddq, ``multiplier`` (m,): lambda."""
        e, tangent = self.equations, self._accelerated(q, rates, second)
        e.closures.at(t)
        self.q, self.rates, self.multiplier = q, rates, multiplier
        total = tangent.total_wrench
        total[:] = e.bias_wrenches(self._load(t))
        wrenches.add_inertial_wrenches(e.work, tangent.acceleration, total)
        sigma = self._closures(multiplier, total)
        wrenches.transpose_product(e.work, total, self._tau)
        if e.paths:
            e.paths.evaluate(e.work, e.gravity)
            self._tau += e.paths.mass @ second - e.paths.force
        self._rows = e.couplings.rows(q)
        kept = self._rows @ rates + e.baumgarte * (e.couplings.values(q) - e.targets)
        return self._tau - multiplier[len(e.closures) :] @ self._rows, np.concatenate([sigma, kept])

    def _accelerated(self, q: np.ndarray, rates: np.ndarray, second: np.ndarray) -> TangentWorkspace:
        """Return the workspace with the tree in motion."""
        e, tangent = self.equations, self.tangent
        e.place_and_move(q, rates)
        if tangent.work is not e.work:  # other charts
            self.tangent = tangent = replace(tangent, work=e.work)
        tangent.second[:] = second
        tangents.accelerate(tangent)
        return tangent

    def _load(self, t: float) -> np.ndarray:
        """Return the loads (nb, 6) of all forces but gravity, see `Equations.load`, with the nodes accelerated."""
        return self.equations.load(t)

    def _closures(self, multiplier: np.ndarray, wrench: np.ndarray) -> np.ndarray:
        """Return sigma (m,) of the closures, and subtract their forces from ``wrench`` (nl + 1, 6)."""
        e, first = self.equations, len(self.equations.closures)
        if len(self._row_change) != e.closures.rows.size:  # limits close and open
            self._row_change = np.zeros((e.closures.rows.size, 2))
        if not first:
            return np.zeros(0)
        rows = e.closures.evaluate(e.position, e.rotation, e.velocity)
        self._jacobian, along = rows.jacobian, e.closures.of_parts(multiplier[:first])
        force_tangents.subtract_rows(
            e.compiled.plan, e.closures.rows, self.node, e.rotation, self._jacobian, along, wrench
        )
        return rows.rate + e.baumgarte * rows.value

    def rows(self) -> np.ndarray:
        """Return G (m, nq)."""
        return self.equations.violations(self.q, self.rates)[2]

    def along(self, u: np.ndarray, du: np.ndarray, ddu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the changes of tau (nq,) and sigma (m,) along the changes u, du, ddu (nq,) of q, dq and ddq."""
        e, change = self.equations, np.empty(self.equations.nq)
        closures, bends = self._change_efforts(u, du, ddu, change), e.couplings.bends(self.q)
        change -= self.multiplier[len(e.closures) :] @ bends * u
        kept = self._rows @ (du + e.baumgarte * u) + bends @ (self.rates * u)
        return change, np.concatenate([closures, kept])

    def _change_efforts(self, u: np.ndarray, du: np.ndarray, ddu: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write the change of tau to ``out`` (nq,); return the change of sigma of the closures (m,)."""
        e, tangent = self.equations, self.tangent
        tangents.change_motions(tangent, u, du, ddu)
        force_tangents.changes_of_bodies(
            self.node, e.rotation, e.work.twist, self._pose, self._change, self._motion, self._faster
        )
        bodies = e.velocity, self._motion, self._faster
        if e.ne:
            force_tangents.change_loads(
                e.compiled.plan, e.ws, self.node, e.position, e.rotation, bodies, self._pose, tangent.wrench_change
            )
        self._change_more()
        if len(e.closures):
            along = e.closures.of_parts(self.multiplier[: len(e.closures)])
            force_tangents.change_rows(
                e.compiled.plan, e.ws, (e.closures.rows, self._jacobian, along),
                self.node, e.position, e.rotation, bodies, self._pose, self._row_change, tangent.wrench_change,
            )  # fmt: skip
        tangents.change_efforts(tangent, u, out)
        change = e.closures.summed(self._row_change)
        return change[:, 1] + e.baumgarte * e.closures.with_value * change[:, 0]

    def _change_more(self) -> None:
        """Add changes of further terms of `_load` to ``tangent.wrench_change``, for the present changes of motion."""

    def motion_along(self, u: np.ndarray) -> np.ndarray:
        """Return the motions (nb, 6) of the bodies along a change u (nq,) of q, after `evaluate`, in kernel order.

        Translations, m, world, and rotation vectors, rad, body axes.
        """
        e, none = self.equations, np.zeros(self.equations.nq)
        tangents.change_motions(self.tangent, u, none, none)
        force_tangents.changes_of_bodies(
            self.node, e.rotation, e.work.twist, self._pose, self._change, self._motion, self._faster
        )
        return self._motion

    def body_changes(self, q: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """Return derivatives (nb, 12, 2 nq) of poses and velocities of the bodies by q and dq, in kernel order.

        Rows: position, m, world, rotation vector, rad, body axes, velocity, m/s, world, angular velocity, rad/s, body.
        """
        e, none = self.equations, np.zeros(self.equations.nq)
        tangent, changes = self._accelerated(q, rates, none), np.empty((2 * e.nq, e.nb, 12))
        for k, change in enumerate(np.eye(2 * e.nq)):
            tangents.change_motions(tangent, change[: e.nq], change[e.nq :], none)
            force_tangents.changes_of_bodies(
                self.node, e.rotation, e.work.twist, self._pose, self._change, self._motion, self._faster
            )
            changes[k, :, :6], changes[k, :, 6:] = self._motion, self._faster
        return np.moveaxis(changes, 0, 2)

    def derivatives(self, by_q: float, by_rates: float, by_second: float) -> tuple[np.ndarray, np.ndarray]:
        """Return derivatives (nq, nq) of tau and (m, nq) of sigma by y, which changes q, dq, ddq by these factors."""
        e = self.equations
        e.differentiate_loads()
        count = len(e.closures)
        tau, sigma = np.empty((e.nq, e.nq)), np.empty((e.nq, e.row_count))
        changes = [factor * np.eye(e.nq) for factor in (by_q, by_rates, by_second)]
        for k, (u, du, ddu) in enumerate(zip(*changes, strict=True)):
            sigma[k, :count] = self._change_efforts(u, du, ddu, tau[k])
        bends = e.couplings.bends(self.q)
        sigma[:, count:] = (by_rates + e.baumgarte * by_q) * self._rows.T + by_q * (bends * self.rates).T
        return tau.T - np.diag(by_q * (self.multiplier[count:] @ bends)), sigma.T


def driving_efforts(inverse: InverseDynamics, t: float, q: np.ndarray, qdot: np.ndarray) -> np.ndarray:
    """Return the efforts (nd,), N, N m, along the coordinates of prescribed joints, drive by drive.

    Memories of the equations stay as they are.
    """
    equations = inverse.equations
    kept = equations.memory()
    second = equations.acceleration(t, q, qdot).copy()
    tau, _ = inverse.evaluate(t, q, qdot, second, equations.multiplier)
    equations.recall(kept)
    return np.concatenate([tau[drive.columns] for drive in equations.drives])
