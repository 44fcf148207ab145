"""Inverse dynamics of a mechanism and its exact derivatives: residuals and Newton matrices of the implicit schemes.

    tau(q, dq, ddq, lambda) = J^T (M (J ddq + Jdot dq) - f) - G^T lambda,    sigma(q, dq) = G dq + b g

Both vanish on motions that obey the equations (DIFF eq. 2.105) and whose violations g of closures and couplings decay
at the rate b. The derivatives are all analytic, of S, M, Jdot, of every gauge and law of the forces and of the rows:
O(n) for each direction.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from varint.redmax.equations import Equations
from varint.redmax.kernels import force_tangents, tangents, wrenches
from varint.redmax.kernels.records import ReducedWorkspace, TangentWorkspace
from varint.redmax.tree import Tree


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
        nodes, plan, rows = equations.nodes, equations.forced.plan, len(equations.closures)
        nl, ng = nodes.parent.size, plan.gauge_kind.size
        self.tangent = _tangent_workspace(equations.work)
        self.node = np.append(nodes.body_node, nl)
        self._pose, self._change = self.tangent.pose_change, self.tangent.twist_change
        self._direction, self._turned, self._slope = np.zeros((ng, 2, 6)), np.zeros((ng, 2, 6)), np.zeros((ng, 2))
        self._row, self._turned_row, self._row_slope = np.zeros((rows, 2, 6)), np.zeros((rows, 2, 6)), np.zeros(rows)
        self._law_change = np.zeros(equations.nf)
        self._tau = np.zeros(equations.nq)

    def evaluate(
        self, t: float, q: np.ndarray, rates: np.ndarray, second: np.ndarray, multiplier: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """tau (nq,) and sigma (m,) at time ``t``; ``second`` (nq,): ddq, ``multiplier`` (m,): lambda."""
        e, tangent = self.equations, self.tangent
        self.q, self.rates, self.multiplier = q, rates, multiplier
        e.place_and_move(q, rates)
        if tangent.work is not e.work:  # other charts
            self.tangent = tangent = replace(tangent, work=e.work)
        tangent.second[:] = second
        tangents.accelerate(tangent)
        total = tangent.total_wrench
        total[:] = e.bias_wrenches(e.load(t))
        wrenches.add_inertial_wrenches(e.work, tangent.acceleration, total)
        sigma = self._closures(multiplier, total)
        wrenches.transpose_product(e.work, total, self._tau)
        sigma = np.concatenate([sigma, e.couplings @ (rates + e.baumgarte * q) - e.baumgarte * e.aim])
        return self._tau - multiplier[len(e.closures) :] @ e.couplings, sigma

    def _closures(self, multiplier: np.ndarray, wrench: np.ndarray) -> np.ndarray:
        """sigma (m,) of the closures; their forces are subtracted from ``wrench`` (nl + 1, 6)."""
        e, first = self.equations, len(self.equations.closures)
        if not first:
            return np.zeros(0)
        rows = e.closures.evaluate(e.position, e.rotation, e.velocity)
        force_tangents.to_world(e.closures.side, rows.jacobian, e.rotation, self._row)
        force_tangents.add_directions(e.closures.side, self.node, self._row, multiplier[:first], wrench)
        return rows.rate + e.baumgarte * rows.value

    def rows(self) -> np.ndarray:
        """G (m, nq)."""
        return self.equations.violations(self.q, self.rates)[2]

    def along(self, u: np.ndarray, du: np.ndarray, ddu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Changes of tau (nq,) and sigma (m,) along the changes u, du, ddu (nq,) of q, dq and ddq."""
        e, change = self.equations, np.empty(self.equations.nq)
        closures = self._change_efforts(u, du, ddu, change)
        return change, np.concatenate([closures, e.couplings @ (du + e.baumgarte * u)])

    def _change_efforts(self, u: np.ndarray, du: np.ndarray, ddu: np.ndarray, out: np.ndarray) -> np.ndarray:
        """The change of tau into ``out`` (nq,); that of sigma of the closures as result."""
        tangents.change_motions(self.tangent, u, du, ddu)
        self._change_loads(self.tangent.wrench_change)
        closures = self._change_closures(self.tangent.wrench_change)
        tangents.change_efforts(self.tangent, u, out)
        return closures

    def _change_loads(self, wrench: np.ndarray) -> None:
        """Subtract the changes of the loads of forces from ``wrench`` (nl + 1, 6)."""
        e, plan = self.equations, self.equations.forced.plan
        if e.nf:
            force_tangents.turn_gauges(
                plan.gauge_body, self.node, plan.gauge_kind, plan.gauge_vector, e.position, e.rotation, e.twist,
                e.value, self._direction, self._pose, self._change, self._turned, self._slope,
            )  # fmt: skip
            force_tangents.change_loads(
                plan.gauge_body, self.node, plan.gauge_kind, plan.gauge_law, plan.law_kind, plan.law_parameter,
                e.value, e.rate, e.effort, e.slopes, e.law_slopes, self._direction, self._turned, self._slope,
                self._law_change, wrench,
            )  # fmt: skip

    def _change_closures(self, wrench: np.ndarray) -> np.ndarray:
        """Changes (m,) of sigma of the closures; those of their forces are subtracted from ``wrench`` (nl + 1, 6)."""
        e, c = self.equations, self.equations.closures
        if not len(c):
            return np.zeros(0)
        force_tangents.turn_rows(
            c.side, self.node, c.flip, c.kind, c.u, c.w, c.c, c.scale, e.position, e.rotation, e.twist,
            self._row, self._pose, self._change, self._turned_row, self._row_slope,
        )  # fmt: skip
        force_tangents.add_directions(c.side, self.node, self._turned_row, self.multiplier[: len(c)], wrench)
        moved = np.einsum("rsk,rsk->r", self._row, self._pose[self.node[c.side]])
        return self._row_slope + e.baumgarte * moved

    def derivatives(self, by_q: float, by_rates: float, by_second: float) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives (nq, nq) of tau and (m, nq) of sigma by y, where q, dq, ddq change by y times these numbers."""
        e = self.equations
        if e.nf:
            force_tangents.to_world(e.forced.plan.gauge_body, e.gradient, e.rotation, self._direction)
        count = len(e.closures)
        tau, sigma = np.empty((e.nq, e.nq)), np.empty((e.nq, e.row_count))
        changes = [factor * np.eye(e.nq) for factor in (by_q, by_rates, by_second)]
        for k, (u, du, ddu) in enumerate(zip(*changes, strict=True)):
            sigma[k, :count] = self._change_efforts(u, du, ddu, tau[k])
        sigma[:, count:] = (by_rates + e.baumgarte * by_q) * e.couplings.T
        return tau.T, sigma.T


def driving_efforts(
    equations: Equations, trees: Sequence[Tree], t: np.ndarray, q: np.ndarray, qdot: np.ndarray, integral: np.ndarray
) -> dict[str, np.ndarray]:
    """Joint name to the efforts (T, dof), N, N m, along its coordinates that its prescribed motion takes.

    ``trees`` (T,): with the charts of ``q``, ``qdot`` (T, nq); ``integral`` (T, ns): of deviations.
    """
    if not equations.drives:
        return {}
    inverse, found = InverseDynamics(equations), np.empty_like(q)
    equations.turns[:] = 0.0
    for k, time in enumerate(t):
        equations.use(trees[k])
        equations.integrate_from(integral[k], 0.0)
        second = equations.acceleration(time, q[k], qdot[k]).copy()
        equations.turns[:] = equations.value
        found[k], _ = inverse.evaluate(time, q[k], qdot[k], second, equations.multiplier)
    return {drive.name: found[:, drive.columns] for drive in equations.drives}
