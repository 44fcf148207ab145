"""Derivatives of the steps of a reduced run, forwards and backwards (DIFF section 3.5, with loops as well).

A stage (varint/redmax/implicit.py) makes its end x, v and its integrals I of d, e = c - d and the integrals j that it
starts from, v = (x - d) / s, a = (v - e / s) / s:

    tau(x, v, a, lambda, j) = 0,    sigma(x, v) = 0,    I = I(x, v, j)

With K = s^2 tau_x + s tau_v + tau_a and C = s sigma_x + sigma_v, exact and at the converged stage,

    [K  -G^T] [dv       ]   [tau_a de / s - s (tau_x dd + tau_j dj)]
    [C   0  ] [s dlambda] = [-sigma_x dd                           ],    dx = dd + s dv

of the coordinates that are not prescribed. Backwards the transpose of the same matrix is solved, by the same singular
values where rows are redundant: of unknowns times the roots of the masses in tau_a, and rows to match.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from varint.errors import ArgumentError
from varint.gradients.reduced_records import SLOTS, Stage, Step, steady_columns
from varint.gradients.reduced_tape import ReducedTape
from varint.kernels.laws import LAW_NAMES
from varint.model.forces import LAWS
from varint.redmax.equations import Equations
from varint.redmax.implicit import Motion
from varint.redmax.inverse import InverseDynamics
from varint.redmax.linear_solves import reduced_gradient
from varint.redmax.saddle import REDUNDANT
from varint.redmax.tree import Tree

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
        """Changes of x, v (nq,) and I (ns,) by those of d, e, j, the ``start`` q (nq,) and the stage, ``more``."""

    def back(self, by_x: np.ndarray, by_v: np.ndarray, by_I: np.ndarray) -> tuple[*Arrays, np.ndarray, Change]:
        """The transpose of `forward`: by d, e, j, the start, and the changes of the stage."""


def _evaluated(inverse: InverseDynamics, step: Step, stage: Stage) -> tuple[np.ndarray, ...]:
    """tau and sigma by q, then by the rates, after an evaluation of the stage."""
    e = inverse.equations
    e.recall(step.memory)
    e.integrate_from(stage.integral, stage.s)
    inverse.evaluate(stage.t, stage.x, stage.rates, stage.second, stage.multiplier)
    return *inverse.derivatives(1.0, 0.0, 0.0), *inverse.derivatives(0.0, 1.0, 0.0)


class ImplicitStage:
    """See `StageDerivatives`."""

    def __init__(self, inverse: InverseDynamics, step: Step, stage: Stage) -> None:
        e, s = inverse.equations, stage.s
        self.tau_q, self.sigma_q, tau_v, sigma_v = _evaluated(inverse, step, stage)
        self.s, self.free, self.steady = s, ~e.driven_columns, steady_columns(e)
        tau_state, flow_by_q, flow_by_state = _of_states(e)
        slope = 1.0 / (1.0 - s * flow_by_state)
        self.by_integral, self.integral_by_start = tau_state * slope, slope
        self.integral_by_q = s * slope[:, None] * flow_by_q
        self.tau_a = e.mass_matrix()
        self.by_targets = np.zeros((e.row_count, e.nq))  # sigma by the start, which couplings keep
        self.by_targets[len(e.closures) :] = -e.baumgarte * e.couplings.rows(e.work.q)
        free, G = self.free, inverse.rows() if e.row_count else self.by_targets
        self.unit = 1.0 / np.sqrt(np.diag(self.tau_a)[free])
        K = (s * s * self.tau_q + s * tau_v + self.tau_a)[np.ix_(free, free)] * np.outer(self.unit, self.unit)
        G, C = G[:, free] * self.unit, (s * self.sigma_q + sigma_v)[:, free] * self.unit
        self.row = 1.0 / max(np.linalg.norm(G, axis=1).max(initial=0.0), e.constraints.least_unit)
        none = np.zeros((e.row_count, e.row_count))
        self.matrix = np.block([[K, -self.row * G.T], [self.row * C, none]])
        if not all(np.isfinite(part).all() for part in (self.matrix, self.tau_q, self.by_integral, self.integral_by_q)):
            raise NoDerivative

    def forward(self, dd: np.ndarray, de: np.ndarray, dj: np.ndarray, start: np.ndarray, more: Change | None) -> Arrays:
        s, free = self.s, self.free
        dd, de = np.where(free, dd, np.where(self.steady, start, 0.0)), np.where(free, de, 0.0)
        tau = self.tau_a @ de / s - s * (self.tau_q @ dd + self.by_integral @ dj)
        sigma = -self.sigma_q @ dd - self.by_targets @ start
        if more:
            tau, sigma = tau - s * more.tau, sigma - more.sigma
        found, dv = (
            self._least(self.matrix, np.concatenate([self.unit * tau[free], self.row * sigma])),
            np.zeros(len(dd)),
        )
        dv[free] = self.unit * found[: self.unit.size]
        dx = dd + s * dv
        return dx, dv, self.integral_by_q @ dx + self.integral_by_start * dj + (more.integral if more else 0.0)

    def back(self, by_x: np.ndarray, by_v: np.ndarray, by_I: np.ndarray) -> tuple[*Arrays, np.ndarray, Change]:
        s, free = self.s, self.free
        by_x = by_x + self.integral_by_q.T @ by_I
        right, tau = np.zeros(len(self.matrix)), np.zeros(len(by_x))
        right[: self.unit.size] = self.unit * (by_v + s * by_x)[free]
        found = self._least(self.matrix.T, right)
        tau[free], sigma = self.unit * found[: self.unit.size], self.row * found[self.unit.size :]
        by_d = by_x - s * self.tau_q.T @ tau - self.sigma_q.T @ sigma
        by_e = np.where(free, self.tau_a.T @ tau / s, 0.0)
        by_j = self.integral_by_start * by_I - s * self.by_integral.T @ tau
        by_start = np.where(self.steady, by_d, 0.0) - self.by_targets.T @ sigma
        return np.where(free, by_d, 0.0), by_e, by_j, by_start, Change(-s * tau, -sigma, by_I)

    def _least(self, matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
        """The solution, the least one where rows are redundant."""
        if len(matrix) > self.unit.size:
            return np.linalg.lstsq(matrix, right, rcond=REDUNDANT)[0]
        return np.linalg.solve(matrix, right)


class ExplicitStage:
    """See `StageDerivatives`: at q = d, rates e and states of laws j it gives x = e, v = ddq and I, the flow of j."""

    def __init__(self, inverse: InverseDynamics, step: Step, stage: Stage) -> None:
        e = inverse.equations
        self.tau_q, _, self.tau_v, _ = _evaluated(inverse, step, stage)
        self.free, self.steady = ~e.driven_columns, steady_columns(e)
        self.tau_state, self.flow_by_q, self.flow_by_state = _of_states(e)
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


def _of_states(e: Equations) -> Arrays:
    """Derivatives by internal variables: tau (nq, ns), and their flow (ns, nq) by q and (ns,) by themselves.

    After `InverseDynamics.evaluate`. No law's flow follows the rate of its measure.
    """
    plan, work, count = e.compiled.plan, e.ws.efforts, e.law_state.size
    tau, flow_by_q, flow_by_state = np.zeros((e.nq, count)), np.zeros((count, e.nq)), np.zeros(count)
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
            found = law.effort(*law.call_arguments(law.effort, values))
            if law.flow:
                flow, by_itself = law.flow(*law.call_arguments(law.flow, values))
                found = *found, flow, 0.0, 0.0, by_itself
            by_state, (flow_by_value, flow_by_rate, flow_by_state[k]) = found[3], found[5:]
            assert flow_by_rate == 0.0
            row = reduced_gradient(e, e.ws.efforts.gradient, which)
            tau[:, k], flow_by_q[k] = -by_state * row, flow_by_value * row
    return tau, flow_by_q, flow_by_state


class Derivatives:
    """The derivatives of all steps of a run, stage by stage, and between their charts."""

    def __init__(self, run: ReducedTape) -> None:
        self.run, self.equations = run, run.equations
        self.inverse = InverseDynamics(run.equations)
        e = run.equations
        q, rates, _ = e.imposed(0.0, *run.start)
        self.ends: list[tuple[Tree, Motion]] = [(run.tree, (q, rates)), *((step.tree, step.end) for step in run.steps)]

    def stage(self, step: Step, stage: Stage) -> StageDerivatives:
        """Derivatives of a stage; raises ArgumentError if there are none."""
        self.equations.use(step.tree)
        kind = ImplicitStage if stage.s else ExplicitStage
        try:
            return kind(self.inverse, step, stage)
        except (NoDerivative, np.linalg.LinAlgError):
            body = self.equations.hardest_accelerated(stage.t, stage.x, stage.rates)
            raise ArgumentError(
                f"the step to t = {stage.t:g} s, hardest for body '{body}', has no derivative that is finite"
            ) from None

    def of_bodies(self, tree: Tree, motion: Motion) -> np.ndarray:
        """(nb, 12, 2 nq) of the bodies, see `InverseDynamics.body_changes`."""
        self.equations.use(tree)
        return self.inverse.body_changes(*motion)

    def between_charts(self, k: int) -> np.ndarray | None:
        """(2 nq, 2 nq) of q and rates at the start of step ``k`` by those before; None where no chart changes."""
        (tree, before), step = self.ends[k], self.run.steps[k]
        nq, moved = self.equations.nq, np.zeros(self.equations.nq, dtype=bool)
        for columns in tree.columns.values():
            moved[columns] = any((a[columns] != b[columns]).any() for a, b in zip(before, step.start, strict=True))
        if not moved.any():
            return None
        both = np.concatenate([moved, moved])
        old = self.of_bodies(tree, before).reshape(-1, 2 * nq)[:, both]
        new = self.of_bodies(step.tree, step.start).reshape(-1, 2 * nq)[:, both]
        found = np.eye(2 * nq)
        found[np.ix_(both, both)] = np.linalg.lstsq(new, old, rcond=None)[0]
        return found


def carry_forward(
    run: ReducedTape, start: Motion, changes: Sequence[Sequence[Change]] | None = None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Changes of q and rates (nq,) at the run's nodes, by those of its ``start``, and by ``changes`` of its stages."""
    derivatives, e = Derivatives(run), run.equations
    nq, ns, steady = e.nq, e.law_state.size, steady_columns(e)
    q = np.where(e.driven_columns, np.where(steady, start[0], 0.0), start[0])
    ends = [(q, np.where(e.driven_columns, 0.0, start[1]), np.zeros(ns))]
    before = (np.zeros(nq), np.zeros(nq), np.zeros(ns))
    for k, step in enumerate(run.steps):
        chart, (q, v, I) = derivatives.between_charts(k), ends[-1]
        if chart is not None:
            q, v = np.split(chart @ np.concatenate([q, v]), 2)
        motion, integral = np.zeros((step.shape.d.shape[1], nq)), np.zeros((step.shape.d.shape[1], ns))
        for slot, (own_q, own_v, own_I) in enumerate((before, (q, v, I))):
            motion[SLOTS * slot], motion[SLOTS * slot + 1], integral[SLOTS * slot + 2] = own_q, own_v, own_I
        for n, stage in enumerate(step.stages):
            given = step.shape.d[n] @ motion, step.shape.e[n] @ motion, step.shape.integral[n] @ integral
            more = changes[k][n] if changes else None
            place = SLOTS * (n + 2)
            motion[place], motion[place + 1], integral[place + 2] = derivatives.stage(step, stage).forward(
                *given, start[0], more
            )
        before = q, v, I
        ends.append((*(step.shape.end[:2] @ motion), step.shape.end[2] @ integral))
    return [ends[node.steps][:2] for node in run.nodes]


class CarriedBack:
    """The gradient by the start and by changes of the stages, of a number with ``by_nodes`` (nodes, 2 nq) at nodes.

    Attributes
    ----------
    by_q, by_rates : (nq,) by the start
    by_integral : (ns,) by the states of laws there
    duals : list (steps) of lists of Change
        By the changes of the stages.
    """

    def __init__(self, run: ReducedTape, by_nodes: Sequence[np.ndarray]) -> None:
        derivatives, e, count = Derivatives(run), run.equations, len(run.steps)
        nq, ns, steady = e.nq, e.law_state.size, steady_columns(e)
        starts = np.zeros((count + 1, 2 * nq)), np.zeros((count + 1, ns))
        given = {node.steps: by for node, by in zip(run.nodes, by_nodes, strict=True)}
        self.duals: list[list[Change]] = [[] for _ in run.steps]
        by_start = np.zeros(nq)
        for k in reversed(range(-1, count)):
            by_end, by_I = starts[0][k + 1], starts[1][k + 1]
            if k + 1 < count and (chart := derivatives.between_charts(k + 1)) is not None:
                by_end = chart.T @ by_end
            by_end = by_end + given.get(k + 1, 0.0)
            if k < 0:
                break
            for place, by_motion, by_integral in self._step(derivatives, k, by_end, by_I, by_start):
                if place >= 0:
                    starts[0][place] += by_motion
                    starts[1][place] += by_integral
        free = ~e.driven_columns
        self.by_q = np.where(free | steady, by_end[:nq], 0.0) + by_start
        self.by_rates = np.where(free, by_end[nq:], 0.0)
        self.by_integral = by_I

    def _step(
        self, derivatives: Derivatives, k: int, by_end: np.ndarray, by_I: np.ndarray, by_start: np.ndarray
    ) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Derivatives by q and rates (2 nq,), and integrals, at the start of step k - 1, and of step k."""
        step, (q, v) = derivatives.run.steps[k], np.split(by_end, 2)
        motion, integral = (np.zeros((step.shape.d.shape[1], width)) for width in (len(q), len(by_I)))
        motion += np.outer(step.shape.end[0], q) + np.outer(step.shape.end[1], v)
        integral += np.outer(step.shape.end[2], by_I)
        for n, stage in reversed(list(enumerate(step.stages))):
            place = SLOTS * (n + 2)
            by = motion[place], motion[place + 1], integral[place + 2]
            by_d, by_e, by_j, more, dual = derivatives.stage(step, stage).back(*by)
            motion += np.outer(step.shape.d[n], by_d) + np.outer(step.shape.e[n], by_e)
            integral += np.outer(step.shape.integral[n], by_j)
            by_start += more
            self.duals[k].insert(0, dual)
        for slot in (0, 1):
            yield k - 1 + slot, motion[SLOTS * slot : SLOTS * slot + 2].ravel(), integral[SLOTS * slot + 2]
