"""Symplectic collocation for trees, in canonical coordinates q and p = M(q) dq.

A step of h has s stages with rates V_i and forces F_i = (dL/dq + Q)(q_i, V_i) (methods/reduced/canonical.py):

    q_i = q + h sum_j a_ij V_j,    M(q_i) V_i = p + h sum_j a*_ij F_j,    a*_ij = b_j - b_j a_ji / b_i
    q(t + h) = q + h sum_i b_i V_i,    p(t + h) = p + h sum_i b_i F_i

a, b: coefficients of collocation at the points c of a step (``nodes`` of the class). These are the equations of the
variational integrator whose discrete Lagrangian is the quadrature h sum_i b_i L(q_i, V_i) along polynomials of degree s
(Marsden and West, 2001, section 2.6; Ober-Bloebaum and Saake, 2015): symplectic, with exact conservation of the momenta
of symmetries. At Gauss points a* = a.

The internal variables I of laws, dI/dt = flow, are integrated by the same coefficients a and b.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import ClassVar, NamedTuple

import numpy as np

from varint.base.errors import ArgumentError
from varint.methods.reduced.canonical import Canonical
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.implicit import NotConverged
from varint.methods.reduced.integrators.base import Task
from varint.methods.reduced.integrators.fixed_steps import FixedSteps
from varint.methods.reduced.recursions import stage_iterations
from varint.methods.reduced.recursions.stage_iterations import DIVERGED, ROUND_OFF, SLOW, StageIteration
from varint.step.nodes.efforts import evaluate_efforts

ITERATIONS = 100  # most iterations for the stages of a step


ForceFunction = Callable[[float, np.ndarray, np.ndarray], np.ndarray]  # of t, q, dq; returns F


class Tableau(NamedTuple):
    """Coefficients of collocation: c, b (s,), a (s, s), and a* (s, s) in ``conjugate``.

    onward : (s, s) extrapolates values at the points of a step to the points of the next one
    """

    c: np.ndarray
    b: np.ndarray
    a: np.ndarray
    conjugate: np.ndarray
    onward: np.ndarray


@cache
def tableau(nodes: tuple[float, ...]) -> Tableau:
    """Return the coefficients of collocation at the points ``nodes`` (s,) in (0, 1], as fractions of a step."""
    c = np.array(nodes)
    powers = np.arange(c.size)
    inverse = np.linalg.inv(c[:, None] ** powers)  # from values at the points to coefficients of powers
    a = (c[:, None] ** (powers + 1) / (powers + 1)) @ inverse
    b = (1.0 / (powers + 1)) @ inverse
    onward = ((1.0 + c)[:, None] ** powers) @ inverse
    return Tableau(c, b, a, b - (b[:, None] * a).T / b[:, None], onward)


class StepStart(NamedTuple):
    """Start of a step of ``h``, s, at time ``t``, s: coordinates q + low_q (nq,), momenta p + low_p (nq,).

    low_q, low_p : (nq,) rounding errors of q and p, see `sum_exactly`
    integral : (ns,) internal variables of laws
    """

    t: float
    h: float
    q: np.ndarray
    low_q: np.ndarray
    p: np.ndarray
    low_p: np.ndarray
    integral: np.ndarray


class StageValues(NamedTuple):
    """Values at the s stages of a step.

    rates, force : (s, nq) V_i and F_i of the module
    flow : (s, ns) rates of the internal variables
    power : (s, ne) of the elements, W
    """

    rates: np.ndarray
    force: np.ndarray
    flow: np.ndarray
    power: np.ndarray


class Symplectic(FixedSteps):
    """Base class of symplectic collocation in steps of ``dt``; a subclass has ``nodes`` and `solve_stages`.

    The first estimate of the stages extrapolates those of the last step. Momenta are carried from step to step. The
    rounding errors of q and p are added in the next step (compensated sums).
    """

    trees_only = True
    nodes: ClassVar[tuple[float, ...]]

    def __init__(self, equations: Equations, q: np.ndarray, qdot: np.ndarray, task: Task) -> None:
        self.tableau = self.tableau_of(task)
        self.canonical = Canonical(equations)
        s, nq = self.tableau.c.size, equations.nq
        self._known = False  # whether the next two lines hold the last step; if not, p is computed from q and dq
        self._p, self._low_q, self._low_p = np.zeros((3, nq))
        self._stages = StageValues(*(np.zeros((s, n)) for n in (nq, nq, equations.law_state.size, equations.ne)))
        varies = equations.inputs is not None and equations.inputs.varies
        self._run = None if varies else stage_iteration(equations, self.tableau)
        super().__init__(equations, q, qdot, task)

    @classmethod
    def tableau_of(cls, task: Task) -> Tableau:
        """Return the coefficients of the method."""
        return tableau(cls.nodes)

    @classmethod
    def factor(cls, task: Task, z: np.ndarray) -> np.ndarray:
        """See `Integrator`: V = (I + z a*)^-1 1 are the rates of the stages if the rate at the start is 1."""
        rule = cls.tableau_of(task)
        ones = np.ones((z.size, rule.c.size, 1))
        rates = np.linalg.solve(np.eye(rule.c.size) + z[:, None, None] * rule.conjugate, ones)
        return 1.0 - z * (rates[..., 0] @ rule.b)

    @classmethod
    def check(cls, equations: Equations, task: Task) -> None:
        """See `Integrator`: raises ArgumentError for prescribed motions and loops."""
        e, name = equations, f"integrator {cls.name!r} supports only trees without prescribed motions"
        remedy = "use another integrator"
        if e.drives:
            raise ArgumentError(f"{name}, but the motion of {e.drives[0].label} is prescribed: {remedy}")
        if len(e.closures):
            joint = e.mechanism.joints[e.closures.joint[0]].name
            raise ArgumentError(f"{name}, but joint '{joint}' closes a loop: {remedy}")

    def forget(self) -> bool:
        """See `FixedSteps`: the next step computes p from q and dq."""
        known, self._known = self._known, False
        return known

    def remember(self, start: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
        """See `FixedSteps`: keeps the momenta, rounding errors and stages of the step."""
        self._p, self._low_q, self._low_p, self._stages = self._next
        self._known = True

    def solve(
        self, t: float, h: float, q: np.ndarray, v: np.ndarray, integral: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """See `FixedSteps`: one step by the equations of the module."""
        e, b = self.equations, self.tableau.b
        s = b.size
        low_q, low_p = np.zeros((2, q.size))
        if self._known:
            p, low_q, low_p = self._p, self._low_q, self._low_p
            first = StageValues(*(self.tableau.onward @ part for part in self._stages))
        else:
            e.integrate_from(integral, 0.0)
            p, force = self.canonical.momentum(q, v), self.canonical.force(t, q, v)
            first = StageValues(*(np.tile(part, (s, 1)) for part in (v, force, e.flow, e.power)))
        stages = self.solve_stages(StepStart(t, h, q, low_q, p, low_p, integral), first)
        self._power = b @ stages.power
        after, low_q = sum_exactly(q, low_q + h * (b @ stages.rates))
        p, low_p = sum_exactly(p, low_p + h * (b @ stages.force))
        rates = self.canonical.rates_of_momentum(after, p)
        e.integrate_from(integral + h * (b @ stages.flow), 0.0)
        self._next = p, low_q, low_p, stages
        return after, rates

    def solve_stages(self, step: StepStart, first: StageValues) -> StageValues:
        """Return the stages of ``step``, iterated from the estimates ``first``. Raises NotConverged."""
        raise NotImplementedError

    def iterate(self, step: StepStart, first: StageValues, tol: float) -> StageValues:
        """Return the stages of ``step`` by fixed-point iteration from the estimates ``first``.

        V_i = M(q_i)^-1 p_i in O(n), with q_i and p_i from the last V, until increments are at most ``tol``, m/s,
        rad/s, or at round-off. Compiled if inputs are constant. Raises NotConverged.
        """
        if self._run is not None:
            return self._iterate_compiled(self._run, step, first, tol)
        rates, flow, before, least = first.rates, first.flow, np.inf, np.inf
        for _ in range(ITERATIONS):
            self.stages.iterations += 1
            at = self.places(step, rates)
            now = self.evaluate(step, at, rates, flow, self.canonical.force)
            momenta = step.p + (step.low_p + step.h * (self.tableau.conjugate @ now.force))
            after = np.array([self.canonical.rates_of_momentum(*pair) for pair in zip(at, momenta, strict=True)])
            change, size = float(np.abs(after - rates).max()), float(np.abs(after).max())
            rates, flow = after, now.flow
            if not np.isfinite(change) or change > DIVERGED * least:
                break
            if change <= tol or (change >= before and change <= ROUND_OFF * max(size, SLOW)):
                return now._replace(rates=rates)
            before, least = change, min(least, change)
        raise NotConverged

    def _iterate_compiled(self, run: StageIteration, step: StepStart, first: StageValues, tol: float) -> StageValues:
        """Return the result of `iterate` by the compiled iteration with the arrays ``run``. Raises NotConverged."""
        e = self.equations
        if run.tree is not e.work:  # charts have changed, and the arrays with them
            self._run = run = replace(run, tree=e.work)
        run.q[:], run.p[:], run.integral[:] = (step.q, step.low_q), (step.p, step.low_p), step.integral
        run.rates[:], run.flow[:] = first.rates, first.flow
        count = stage_iterations.iterate(e.compiled.plan, e.ws, run, step.h, tol, ITERATIONS)
        self.stages.iterations += count if count > 0 else ITERATIONS
        if count < 0:
            raise NotConverged
        return StageValues(run.rates.copy(), run.force.copy(), run.flow.copy(), run.power.copy())

    def newton(self, step: StepStart, first: StageValues, tol: float) -> StageValues:
        """Return the stages of ``step`` by Newton's method for all rates at once, from the estimates ``first``.

        Ends when increments are at most ``tol``, m/s, rad/s. Raises NotConverged.
        """
        rates, flow, parts = first.rates, first.flow, []

        def force(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
            """Return F (nq,) at a stage, and add its p and the derivatives of p and F to ``parts``."""
            p, F = self.canonical.momentum_and_force(t, q, v)
            parts.append((p, *self.canonical.by_motion()))
            return F

        for _ in range(ITERATIONS):
            self.stages.iterations += 1
            parts.clear()
            now = self.evaluate(step, self.places(step, rates), rates, flow, force)
            momenta, by_p, by_F = (np.array(each) for each in zip(*parts, strict=True))
            residual = momenta - step.p - (step.low_p + step.h * (self.tableau.conjugate @ now.force))
            K = newton_matrix(step.h, self.tableau, by_p, by_F)
            if not (np.isfinite(K).all() and np.isfinite(residual).all()):
                break
            change = np.linalg.solve(K, residual.ravel()).reshape(rates.shape)
            rates, flow = rates - change, now.flow
            if np.abs(change).max() <= tol:
                return self.evaluate(step, self.places(step, rates), rates, flow, self.canonical.force)
        raise NotConverged

    def places(self, step: StepStart, rates: np.ndarray) -> np.ndarray:
        """Return the coordinates q_i (s, nq) of the stages of ``step`` with the ``rates`` V_i (s, nq)."""
        return step.q + (step.low_q + step.h * (self.tableau.a @ rates))

    def evaluate(
        self, step: StepStart, at: np.ndarray, rates: np.ndarray, flow: np.ndarray, force: ForceFunction
    ) -> StageValues:
        """Return the stages of ``step`` at coordinates ``at`` (s, nq) and ``rates`` (s, nq).

        flow : (s, ns) rates of the internal variables in the last iteration
        force : function that places the equations at a stage and returns its F (nq,)
        """
        e, parts = self.equations, []
        for i, t in enumerate(step.t + step.h * self.tableau.c):
            weights = step.h * self.tableau.a[i]  # a law solves for the flow of its stage itself
            e.integrate_from(step.integral + (weights @ flow - weights[i] * flow[i]), weights[i])
            parts.append((rates[i], force(t, at[i], rates[i]), e.flow.copy(), e.power.copy()))
        return StageValues(*(np.array(each) for each in zip(*parts, strict=True)))

    def _work(self, size: float, power: np.ndarray) -> np.ndarray:
        """Return the work (ne,), J, in the last step of ``size``, s, by the quadrature; ``power`` is not used."""
        return size * self._power

    def memory(self) -> dict[str, np.ndarray]:
        """See `Integrator`: also the momenta and stages that the next step continues from."""
        kept = {"p": self._p, "low_q": self._low_q, "low_p": self._low_p, **self._stages._asdict()}
        known = {"known": np.array([self._known])}
        return super().memory() | known | {f"stage {name}": array.copy() for name, array in kept.items()}

    def recall(self, saved: dict[str, np.ndarray]) -> None:
        """See `Integrator`."""
        super().recall(saved)
        self._known = bool(saved["known"][0])
        self._p, self._low_q, self._low_p = (saved[f"stage {name}"].copy() for name in ("p", "low_q", "low_p"))
        self._stages = StageValues(*(saved[f"stage {name}"].copy() for name in StageValues._fields))


def stage_iteration(e: Equations, tableau: Tableau) -> StageIteration:
    """Allocate the arrays of the compiled iteration, and write the constant inputs of ``e`` to its workspace."""
    s, nl, ns = tableau.c.size, e.nodes.parent.size, e.law_state.size
    if e.ne:
        evaluate_efforts.prepare()
        e.ws.efforts.input[:] = e.inputs.commands.constant if e.inputs else 0.0
    return StageIteration(
        tree=e.work,
        a=tableau.a.copy(),
        conjugate=tableau.conjugate.copy(),
        no_motion=np.zeros((nl, 6)),
        momenta=np.zeros((nl + 1, 6)),
        load=e.inputs.loads.constant.copy() if e.inputs else np.zeros((e.nb, 6)),
        total=np.zeros((e.nb, 6)),
        q=np.zeros((2, e.nq)),
        p=np.zeros((2, e.nq)),
        integral=np.zeros(ns),
        places=np.zeros((s, e.nq)),
        rates=np.zeros((s, e.nq)),
        force=np.zeros((s, e.nq)),
        flow=np.zeros((s, ns)),
        flow_before=np.zeros((s, ns)),
        power=np.zeros((s, e.ne)),
    )


def newton_matrix(h: float, tableau: Tableau, by_p: np.ndarray, by_F: np.ndarray) -> np.ndarray:
    """Return the derivative (s nq, s nq) of M(q_i) V_i - h sum_j a*_ij F_j with respect to the rates V of all stages.

    by_p, by_F : (s, 2, nq, nq) derivatives of p and of F at the stages with respect to q, then to dq
    """
    s, nq = by_p.shape[0], by_p.shape[2]
    of_F = h * np.einsum("jk,jab->jkab", tableau.a, by_F[:, 0])
    of_F[np.arange(s), np.arange(s)] += by_F[:, 1]
    K = h * np.einsum("ik,iab->ikab", tableau.a, by_p[:, 0]) - h * np.einsum("ij,jkab->ikab", tableau.conjugate, of_F)
    K[np.arange(s), np.arange(s)] += by_p[:, 1]
    return K.swapaxes(1, 2).reshape(s * nq, s * nq)


def sum_exactly(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a + b rounded, and its rounding error: together exactly a + b (Knuth). ``a``, ``b``: of one shape."""
    total = a + b
    of_b = total - a
    return total, (a - (total - of_b)) + (b - of_b)
