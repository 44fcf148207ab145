"""Inverse dynamics of a mechanism and its exact derivatives: residuals and Newton matrices of the implicit schemes.

    tau(q, dq, ddq, lambda) = J^T (M (J ddq + Jdot dq) - f) - G^T lambda,    gap(q, dq) = G dq + b g

Zero on motions that obey the equations (DIFF eq. 2.105) and close their gaps g at the rate b. The derivatives are
all analytic, of S, M, Jdot, of every gauge and law of the forces and of the rows: O(n) for each direction.
"""

import numpy as np

from varint.redmax.equations import Equations
from varint.redmax.kernels import articulated, force_tangents, kinematics, tangents


class InverseDynamics:
    """Evaluates tau and gap, and then their derivatives there."""

    def __init__(self, equations: Equations):
        self.equations = equations
        nodes, plan, nq, rows = equations.nodes, equations.forced.plan, equations.nq, len(equations.closures)
        nl, ng = nodes.parent.size, plan.gauge_kind.size
        self.node = np.append(nodes.body_node, nl)
        self._own, self._own_second = np.zeros((nl, 6)), np.zeros((nl, 6))
        self._acceleration, self._total = np.zeros((nl + 1, 6)), np.zeros((nl + 1, 6))
        self._pose, self._change, self._change_second = np.zeros((3, nl + 1, 6))
        self._wrench = np.zeros((nl + 1, 6))
        self._direction, self._turned, self._slope = np.zeros((ng, 2, 6)), np.zeros((ng, 2, 6)), np.zeros((ng, 2))
        self._row, self._turned_row, self._row_slope = np.zeros((rows, 2, 6)), np.zeros((rows, 2, 6)), np.zeros(rows)
        self._law_change = np.zeros(equations.nf)
        self._tau = np.zeros(nq)

    def evaluate(self, t, q, rates, second, multiplier):
        """tau (nq,) and gap (m,) at time ``t``; ``second`` (nq,): ddq, ``multiplier`` (m,): lambda."""
        e, n = self.equations, self.equations.nodes
        self.q, self.rates, self.second, self.multiplier = q, rates, second, multiplier
        e.place(q)
        e.move(q, rates)
        tangents.own_motion(n.kind, n.column, e.S, rates, self._own)
        tangents.own_motion(n.kind, n.column, e.S, second, self._own_second)
        kinematics.accelerations(n.parent, e.x, e.bias + self._own_second, self._acceleration)
        self._total[:] = e.needed(e.load(t))
        articulated.add_inertia(n.mass, n.inertia, e.F, self._acceleration, self._total)
        gap, first = np.zeros(0), len(e.closures)
        if first:
            rows = e.closures.evaluate(e.position, e.rotation, e.velocity)
            gap = rows.rate + e.baumgarte * rows.value
            force_tangents.to_world(e.closures.side, rows.jacobian, e.rotation, self._row)
            force_tangents.add_directions(e.closures.side, self.node, self._row, multiplier[:first], self._total)
        articulated.pull_back(n.parent, n.kind, n.column, e.x, e.S, self._total, self._tau)
        gap = np.concatenate([gap, e.couplings @ (rates + e.baumgarte * q) - e.baumgarte * e.aim])
        return self._tau - multiplier[first:] @ e.couplings, gap

    def rows(self) -> np.ndarray:
        """G (m, nq)."""
        return self.equations.gaps(self.q, self.rates)[2]

    def along(self, u, du, ddu):
        """Changes of tau (nq,) and gap (m,) along the changes u, du, ddu (nq,) of q, dq and ddq."""
        e, n = self.equations, self.equations.nodes
        plan, c, wrench = e.forced.plan, e.closures, self._wrench
        tangents.forward(
            n.parent, n.kind, n.sign, n.column, n.arm, n.stage, n.product, self.q, self.rates, self.second,
            e.F, e.x, e.S, e.twist, self._acceleration, self._own, self._own_second, u, du, ddu,
            self._pose, self._change, self._change_second,
        )  # fmt: skip
        tangents.change_needed(
            n.mass, n.inertia, e.F, e.twist, self._acceleration, self._pose, self._change, self._change_second, wrench
        )
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
        change = np.zeros(0)
        if len(c):
            force_tangents.turn_rows(
                c.side, self.node, c.flip, c.kind, c.u, c.w, c.c, c.scale, e.position, e.rotation, e.twist,
                self._row, self._pose, self._change, self._turned_row, self._row_slope,
            )  # fmt: skip
            force_tangents.add_directions(c.side, self.node, self._turned_row, self.multiplier[: len(c)], wrench)
            moved = np.einsum("rsk,rsk->r", self._row, self._pose[self.node[c.side]])
            change = self._row_slope + e.baumgarte * moved
        out = np.empty(e.nq)
        tangents.backward(
            n.parent, n.kind, n.sign, n.column, n.arm, n.stage, n.product, self.q, u, e.F, e.x, e.S, self._total,
            self._pose, wrench, out,
        )  # fmt: skip
        return out, np.concatenate([change, e.couplings @ (du + e.baumgarte * u)])

    def derivatives(self, by_q, by_rates, by_second):
        """Derivatives (nq, nq) of tau and (m, nq) of gap by y, where q, dq, ddq change by y times these numbers."""
        e = self.equations
        if e.nf:
            force_tangents.to_world(e.forced.plan.gauge_body, e.gradient, e.rotation, self._direction)
        columns = [self.along(by_q * y, by_rates * y, by_second * y) for y in np.eye(e.nq)]
        tau, gap = (np.reshape(part, (e.nq, -1)).T for part in zip(*columns, strict=True)) if columns else ((), ())
        return tau, gap


def driving_efforts(inverse: InverseDynamics, t, q, qdot) -> np.ndarray:
    """(nd,) efforts, N, N m, along the coordinates of prescribed joints that their motion takes, drive by drive.

    Memories of the equations stay as they are.
    """
    equations = inverse.equations
    kept = equations.memory()
    second = equations.acceleration(t, q, qdot).copy()
    tau, _ = inverse.evaluate(t, q, qdot, second, equations.multiplier)
    equations.recall(kept)
    return np.concatenate([tau[drive.columns] for drive in equations.drives])
