"""Derivatives of the stages of a reduced run, forwards and backwards (DIFF section 3.5, with loops as well).

A stage (methods/reduced/implicit.py) makes its end x, v and its integrals I of d, e = c - d and the integrals j that it
starts from, v = (x - d) / s, a = (v - e / s) / s:

    tau(x, v, a, lambda, j) = 0,    sigma(x, v) = 0,    I = I(x, v, j)

With K = s^2 tau_x + s tau_v + tau_a and C = s sigma_x + sigma_v, exact and at the converged stage,

    [K  -G^T] [dv       ]   [tau_a de / s - s (tau_x dd + tau_j dj)]
    [C   0  ] [s dlambda] = [-sigma_x dd                           ],    dx = dd + s dv

of the coordinates that are not prescribed. Backwards the transpose of the same matrix is solved, by the same singular
values where rows are redundant: of unknowns times the roots of the masses in tau_a, and rows to match.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from varint.derivatives.reduced.records import Stage, Step, steady_columns
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.inverse import InverseDynamics
from varint.methods.reduced.linear_solves import reduced_gradient
from varint.methods.reduced.mesh_dynamics import MeshInverse
from varint.methods.reduced.saddle import REDUNDANT
from varint.model.forces import LAWS
from varint.model.forces.soft_mesh import soft_meshes
from varint.step.laws import LAW_NAMES

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]


class Change(NamedTuple):
    """Changes of tau (nq,), sigma (m,) and the integrals (ns,) of a stage."""

    tau: np.ndarray
    sigma: np.ndarray
    integral: np.ndarray


class NoDerivative(ArithmeticError):
    """The derivatives of a stage are not finite, or its matrix is singular."""


class StageDerivatives(Protocol):
    """The derivatives of a stage, of its ends x, v, I by what it is given, d, e, j."""

    def forward(self, dd: np.ndarray, de: np.ndarray, dj: np.ndarray, start: np.ndarray, more: Change | None) -> Arrays:
        """Return changes of x, v (nq,) and I (ns,) by changes of d, e, j, of ``start`` q and of the stage, ``more``."""

    def back(self, by_x: np.ndarray, by_v: np.ndarray, by_I: np.ndarray) -> tuple[*Arrays, np.ndarray, Change]:
        """Return the transpose of `forward`: by d, e, j, the start, and the changes of the stage."""


def inverse_of(equations: Equations) -> InverseDynamics:
    """Return inverse dynamics of the joints, and of the free vertices of deformable bodies and nets."""
    return MeshInverse(equations) if soft_meshes(equations.mechanism) else InverseDynamics(equations)


def residuals(
    inverse: InverseDynamics, t: float, motion: tuple[np.ndarray, ...], multiplier: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return tau (N,) of joints and free vertices, and sigma (m,), of a ``motion`` x, rates, second."""
    nq = inverse.equations.nq
    if isinstance(inverse, MeshInverse):
        inverse.free = np.array([part[nq:] for part in motion])
    tau, sigma = inverse.evaluate(t, *(part[:nq] for part in motion), multiplier)  # type: ignore[call-arg]
    return (np.append(tau, inverse.residual()) if isinstance(inverse, MeshInverse) else tau.copy()), sigma


def with_vertices_unmarked(marks: np.ndarray, count: int) -> np.ndarray:
    """Return the ``marks`` (nq,) of coordinates of joints, followed by False for free vertices: (count,)."""
    return np.append(marks, np.zeros(count - marks.size, dtype=bool))


def evaluate_stage(inverse: InverseDynamics, step: Step, stage: Stage) -> None:
    """Evaluate tau and sigma at a stage, in the charts of the step."""
    e = inverse.equations
    e.recall(step.memory)
    e.integrate_from(stage.integral, stage.s)
    residuals(inverse, stage.t, (stage.x, stage.rates, stage.second), stage.multiplier)


class ImplicitStage:
    """See `StageDerivatives`."""

    tau_q: Any  # (N, N), dense or sparse, as tau_a
    tau_a: Any

    def __init__(self, inverse: InverseDynamics, step: Step, stage: Stage) -> None:
        e, s, count = inverse.equations, stage.s, len(stage.x)
        evaluate_stage(inverse, step, stage)
        self.tau_q, tau_v, self.tau_a, self.sigma_q, sigma_v = self._derivatives(inverse)
        self.s, self.nq = s, e.nq
        self.free, self.steady = (
            ~with_vertices_unmarked(e.driven_columns, count),
            with_vertices_unmarked(steady_columns(e), count),
        )
        tau_state, flow_by_q, flow_by_state = _of_states(e, count)
        slope = 1.0 / (1.0 - s * flow_by_state)
        self.by_integral, self.integral_by_start = tau_state * slope, slope
        self.integral_by_q = s * slope[:, None] * flow_by_q
        self.by_targets = np.zeros((e.row_count, count))  # sigma by the start, which couplings keep
        self.by_targets[len(e.closures) :, : e.nq] = -e.baumgarte * e.couplings.rows(e.work.q)
        free, G = self.free[: e.nq], inverse.rows() if e.row_count else self.by_targets[:, : e.nq]
        self.unit = 1.0 / np.sqrt(self.tau_a.diagonal()[: e.nq][free])
        K = self._of_joints(s * s * self.tau_q + s * tau_v + self.tau_a)
        K = K[np.ix_(free, free)] * np.outer(self.unit, self.unit)
        G, C = G[:, free] * self.unit, (s * self.sigma_q + sigma_v)[:, : e.nq][:, free] * self.unit
        self.row = 1.0 / max(np.linalg.norm(G, axis=1).max(initial=0.0), e.constraints.least_unit)
        none = np.zeros((e.row_count, e.row_count))
        self.matrix = np.block([[K, -self.row * G.T], [self.row * C, none]])
        if not all(np.isfinite(part).all() for part in (self.matrix, self.by_integral, self.integral_by_q)):
            raise NoDerivative

    def _derivatives(self, inverse: InverseDynamics) -> tuple[Any, Any, Any, np.ndarray, np.ndarray]:
        """Return tau_q, tau_v, tau_a (N, N) and sigma_q, sigma_v (m, N), after an evaluation of the stage."""
        tau_q, sigma_q = inverse.derivatives(1.0, 0.0, 0.0)
        tau_v, sigma_v = inverse.derivatives(0.0, 1.0, 0.0)
        if not np.isfinite(tau_q).all():
            raise NoDerivative
        return tau_q, tau_v, inverse.equations.mass_matrix(), sigma_q, sigma_v

    def _of_joints(self, K: Any) -> np.ndarray:
        """Return the matrix (nq, nq) of the joints, from K (N, N)."""
        return K

    def _solved(self, tau: np.ndarray, sigma: np.ndarray, back: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return the solution (N,) and (m,) of the system above, or of its transpose."""
        free, size = self.free[: self.nq], self.unit.size
        right = np.concatenate([self.unit * tau[free], self.row * sigma])
        solution, of_joints = self._least(self.matrix.T if back else self.matrix, right), np.zeros(self.nq)
        of_joints[free] = self.unit * solution[:size]
        return of_joints, self.row * solution[size:]

    def forward(self, dd: np.ndarray, de: np.ndarray, dj: np.ndarray, start: np.ndarray, more: Change | None) -> Arrays:
        s, free = self.s, self.free
        dd, de = np.where(free, dd, np.where(self.steady, start, 0.0)), np.where(free, de, 0.0)
        tau = self.tau_a @ de / s - s * (self.tau_q @ dd + self.by_integral @ dj)
        sigma = -self.sigma_q @ dd - self.by_targets @ start
        if more:
            tau, sigma = tau - s * more.tau, sigma - more.sigma
        dv, _ = self._solved(tau, sigma, False)
        dx = dd + s * dv
        return dx, dv, self.integral_by_q @ dx + self.integral_by_start * dj + (more.integral if more else 0.0)

    def back(self, by_x: np.ndarray, by_v: np.ndarray, by_I: np.ndarray) -> tuple[*Arrays, np.ndarray, Change]:
        s, free = self.s, self.free
        by_x = by_x + self.integral_by_q.T @ by_I
        tau, sigma = self._solved(by_v + s * by_x, np.zeros(len(self.sigma_q)), True)
        by_d = by_x - s * self.tau_q.T @ tau - self.sigma_q.T @ sigma
        by_e = np.where(free, self.tau_a.T @ tau / s, 0.0)
        by_j = self.integral_by_start * by_I - s * self.by_integral.T @ tau
        by_start = np.where(self.steady, by_d, 0.0) - self.by_targets.T @ sigma
        return np.where(free, by_d, 0.0), by_e, by_j, by_start, Change(-s * tau, -sigma, by_I)

    def _least(self, matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the solution, the least one where rows are redundant."""
        if len(matrix) > self.unit.size:
            return np.linalg.lstsq(matrix, right, rcond=REDUNDANT)[0]
        return np.linalg.solve(matrix, right)


class ExplicitStage:
    """See `StageDerivatives`: at q = d, rates e and states of laws j it gives x = e, v = ddq and I, the flow of j."""

    def __init__(self, inverse: InverseDynamics, step: Step, stage: Stage) -> None:
        e = inverse.equations
        evaluate_stage(inverse, step, stage)
        self.tau_q, self.tau_v = inverse.derivatives(1.0, 0.0, 0.0)[0], inverse.derivatives(0.0, 1.0, 0.0)[0]
        self.free, self.steady = ~e.driven_columns, steady_columns(e)
        self.tau_state, self.flow_by_q, self.flow_by_state = _of_states(e, e.nq)
        self.mass = e.mass_matrix()[np.ix_(self.free, self.free)]
        if not all(np.isfinite(part).all() for part in (self.mass, self.tau_q, self.tau_v)):
            raise NoDerivative

    def forward(self, dd: np.ndarray, de: np.ndarray, dj: np.ndarray, start: np.ndarray, more: Change | None) -> Arrays:
        dq, dv = np.where(self.free, dd, np.where(self.steady, start, 0.0)), np.where(self.free, de, 0.0)
        tau, flow = (
            self.tau_q @ dq + self.tau_v @ dv + self.tau_state @ dj,
            self.flow_by_q @ dq + self.flow_by_state * dj,
        )
        if more:
            tau, flow = tau + more.tau, flow + more.integral
        second = np.zeros(len(dq))
        second[self.free] = -np.linalg.solve(self.mass, tau[self.free])
        return dv, second, flow

    def back(self, by_x: np.ndarray, by_v: np.ndarray, by_I: np.ndarray) -> tuple[*Arrays, np.ndarray, Change]:
        tau = np.zeros(len(by_x))
        tau[self.free] = -np.linalg.solve(self.mass, by_v[self.free])
        by_q = self.tau_q.T @ tau + self.flow_by_q.T @ by_I
        by_e = np.where(self.free, by_x + self.tau_v.T @ tau, 0.0)
        by_j = self.tau_state.T @ tau + self.flow_by_state * by_I
        by_start = np.where(self.steady, by_q, 0.0)
        return np.where(self.free, by_q, 0.0), by_e, by_j, by_start, Change(tau, np.zeros(0), by_I)


def _of_states(e: Equations, width: int) -> Arrays:
    """Return derivatives by internal variables: of tau (N, ns), and of flows (ns, N) by places, (ns,) by themselves.

    ``width``: N, of the coordinates of joints and of free vertices.

    After `InverseDynamics.evaluate`. No law's flow follows the rate of its measure.
    """
    plan, work, count = e.compiled.plan, e.ws.efforts, e.law_state.size
    tau, flow_by_q, flow_by_state = np.zeros((width, count)), np.zeros((count, width)), np.zeros(count)
    for which in range(plan.laws.sum_law.size - 1 if count else 0):
        for f in range(plan.laws.sum_law[which], plan.laws.sum_law[which + 1]):
            k = plan.laws.state[f]
            if k < 0:
                continue
            law, first = LAWS[LAW_NAMES[plan.laws.kind[f]]], plan.laws.first[f]
            values = {name: plan.laws.parameter[first + n] for n, name in enumerate(law.parameters)} | {
                "value": work.sum_value[which],
                "rate": work.sum_rate[which],
                "input": work.input[plan.laws.element[f]],
                "state": e.law_state[k],
            }
            derivatives = law.effort(*law.call_arguments(law.effort, values))
            if law.flow:
                flow, by_itself = law.flow(*law.call_arguments(law.flow, values))
                derivatives = *derivatives, flow, 0.0, 0.0, by_itself
            by_state, (flow_by_value, flow_by_rate, flow_by_state[k]) = derivatives[3], derivatives[5:]
            assert flow_by_rate == 0.0
            row = reduced_gradient(e, e.ws.efforts.gradient, which)
            tau[: e.nq, k], flow_by_q[k, : e.nq] = -by_state * row, flow_by_value * row
    return tau, flow_by_q, flow_by_state
