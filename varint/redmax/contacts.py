"""Hard stops and joint friction in a step of the linearly implicit Euler scheme (DIFF sections 2.8, 2.11).

A stop with the gap g = sign (limit - measure) asks for

    dg/dt >= -g / h             so that it ends at the limit, not beyond;
    dg/dt >= -b g               where it is beyond already, b the rate of `Equations.baumgarte`;
    dg/dt >= -e dg0/dt          at an impact: it closes in, and without the stop would be hit within the step.

An approach slower than what one step brings by itself is at rest on its stop: no restitution. Impulses act against
approaching rates only, so that e <= 1 takes energy out, however many stops are hit at once.

Prescribed joints are rows of G, the last of them: what holds them is their effort.
"""

from typing import NamedTuple

import numpy as np

from varint.mechanism import Mechanism
from varint.model.forces.base import Force
from varint.redmax.equations import Equations
from varint.redmax.friction import JointFrictions
from varint.redmax.program import Infeasible, NotSolved, Solution, solve_program
from varint.redmax.saddle import LinearStep, solve_saddle

SETTLED = 1e-6  # relative change of the friction limits from pass to pass, at which they agree ...
MANY_PASSES = 50  # ... and after so many passes ...
ENOUGH = 1e-3  # ... at this one
LEAST_SHARE = 0.02  # of the change of a pass that is taken over


class Blocked(ArithmeticError):
    """The stops or the friction leave no motion; the message names them."""


def is_contact(mechanism: Mechanism, force: Force) -> bool:
    """Whether a force is a hard stop or joint friction."""
    return force.reduced_only or any(getattr(element, "limits", ()) for element in force.elements(mechanism))


class ContactEfforts(NamedTuple):
    """Efforts, N, N m, or impulses, N s, N m s.

    stops : (..., ne) along the measure of each element
    frictions : (..., d) of each `JointCoulombFriction`, by its name, along the motions that the joint allows
    drives : (..., nd) of the prescribed columns of q
    """

    stops: np.ndarray
    frictions: dict[str, np.ndarray]
    drives: np.ndarray


class Contacts:
    """The hard stops and the joint friction of ``equations``.

    Of the last step, ``work`` (ne,) of the elements, J, and ``impulse`` (nc,), see `parts`.
    """

    def __init__(self, equations: Equations) -> None:
        self.equations = equations
        limits = equations.compiled.plan.limits
        self.measure, self.sign, self.element = limits.measure, limits.sign, limits.element
        self.limit, self.restitution = limits.value, limits.restitution
        self.frictions = JointFrictions(equations)
        self.work = np.zeros(equations.ne)
        self.driven = int(equations.driven_columns.sum())
        self.sizes = [equations.ne, *(bearing.free.shape[1] for bearing in self.frictions.bearings), self.driven]
        self.impulse = np.zeros(sum(self.sizes))

    def parts(self, impulse: np.ndarray) -> ContactEfforts:
        """``impulse`` (..., nc), or efforts in its place, by what exerts them."""
        stops, *frictions, drives = np.split(impulse, np.cumsum(self.sizes)[:-1], axis=-1)
        return ContactEfforts(stops, dict(zip(self.frictions.names, frictions, strict=True)), drives)

    def solve(self, h: float, rates: np.ndarray, step: LinearStep, offset: np.ndarray) -> np.ndarray:
        """Rates (nq,) at the end of a ``step`` from ``rates``, with impulses of the contacts, after `Equations.load`.

        ``offset`` (nq,): by how much the coordinates change faster than at v.
        """
        self.work[:] = self.impulse[:] = 0.0
        free, multiplier = solve_saddle(step.A, step.G, step.G, step.b, step.g)
        N, n, rebound = self._rows(h, rates, free, offset)
        if not len(self.frictions) and (N @ free >= n).all():
            self.parts(self.impulse).drives[:] = self._of_drives(multiplier)
            return free
        found = self._solve_with_contacts(h, rates, step, N, n, rebound)
        self._record(rates, step, N, found)
        return found.v

    def _solve_with_contacts(
        self, h: float, rates: np.ndarray, step: LinearStep, N: np.ndarray, n: np.ndarray, rebound: np.ndarray
    ) -> Solution:
        """The step with N v at least n (m,), and at impacts ``rebound`` (m,) where that can be had."""
        try:
            try:
                return self._stagger(h, rates, step, N, np.maximum(n, rebound))
            except Infeasible:  # a rebound hits another stop within the step, and is lost
                return self._stagger(h, rates, step, N, n)
        except Infeasible as problem:
            labels = [*map(self._label, problem.rows), *self._motions] or ["the loops"]
            names = ", ".join(dict.fromkeys(labels))
            raise Blocked(f"no motion obeys all of {names} at once") from None
        except NotSolved:
            names = ", ".join(dict.fromkeys([*map(self._label, range(len(n))), *self.frictions.labels]))
            raise Blocked(f"the program of {names} could not be solved. A smaller dt may help") from None

    def _record(self, rates: np.ndarray, step: LinearStep, N: np.ndarray, found: Solution) -> None:
        """Write ``work`` and ``impulse`` of the step that was ``found``."""
        parts, middle = self.parts(self.impulse), 0.5 * (rates + found.v)
        np.add.at(self.work, self.element, found.alpha * (N @ middle))
        self.frictions.add_work(found.beta, middle, self.work)
        np.subtract.at(parts.stops, self.element, self.sign * found.alpha)
        for name, impulse in zip(self.frictions.names, self.frictions.joint_impulses(found.beta), strict=True):
            parts.frictions[name][:] = impulse
        parts.drives[:] = self._of_drives(self._multiplier(step, N, found))

    def _of_drives(self, multiplier: np.ndarray) -> np.ndarray:
        """The part of the multipliers (k,) of G that belongs to prescribed columns, the last rows."""
        return multiplier[len(multiplier) - self.driven :]

    def _stagger(self, h: float, rates: np.ndarray, step: LinearStep, N: np.ndarray, n: np.ndarray) -> Solution:
        """Bilateral staggered projections: friction limits by the joints' pressures, these by the motion, in turn."""
        frictions = self.frictions
        if not len(frictions):
            return solve_program(step, N, n, [])
        frictions.place()
        share, last = 1.0, np.zeros(len(frictions.limits))  # of a change that is taken over; the last change
        for number in range(2 * MANY_PASSES):
            limits = frictions.limits
            found = solve_program(step, N, n, list(zip(h * limits, frictions.rows, strict=True)))
            multiplier = self._multiplier(step, N, found) / h
            frictions.update_limits(
                h, rates, found.v, multiplier[: len(self.equations.closures)], found.beta, self._loads(found.alpha / h)
            )
            change = frictions.limits - limits
            if np.abs(change).max() <= (SETTLED if number < MANY_PASSES else ENOUGH) * limits.max():
                return found
            if number:  # Aitken's relaxation: the secant of the last two changes, where they turn back
                second = change - last
                secant = -share * (last @ second)
                share = float(np.clip(secant / (second @ second), LEAST_SHARE, 1.0)) if secant > 0.0 else 1.0
            frictions.limits, last = limits + share * change, change
        raise Blocked(
            f"the friction of {', '.join(frictions.labels)} and the pressures do not settle. A smaller dt may help"
        )

    def _multiplier(self, step: LinearStep, N: np.ndarray, found: Solution) -> np.ndarray:
        """(k,) impulses along the rows of G, the least."""
        impulse = step.A @ found.v - step.b - N.T @ found.alpha
        if len(self.frictions):
            impulse -= self.frictions.reduced(found.beta)
        if not len(step.G):
            return np.zeros(0)
        left, sizes, right = step.independent()
        return left @ ((right[: sizes.size] @ impulse) / sizes)

    def _rows(
        self, h: float, rates: np.ndarray, free: np.ndarray, offset: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """N (m, nq) and n (m,) of the stops: N v >= n, and the rebound (m,); ``free`` (nq,): rates without them."""
        e = self.equations
        N = np.empty((self.measure.size, e.nq))
        for s, k in enumerate(self.measure):
            load = np.zeros((e.nb + 1, 6))
            np.add.at(load, e.compiled.plan.measures.body[k], -self.sign[s] * e.ws.efforts.gradient[k])
            N[s] = e.generalised(load[:-1])
        gap = self.sign * (self.limit - e.ws.efforts.value[self.measure])
        before, after, faster = N @ rates, N @ free, N @ offset
        n = np.where(gap >= 0.0, -gap / h, -e.baumgarte * gap) - faster
        hit = (
            (before < 0.0)
            & (gap + h * (after + faster) < 0.0)
            & (-before > np.abs(after - before))
            & (self.restitution > 0.0)
        )
        return N, n, np.where(hit, -self.restitution * before, n)

    def _loads(self, force: np.ndarray) -> np.ndarray:
        """(nb, 6) of forces (m,) along the gaps of the stops."""
        e = self.equations
        load = np.zeros((e.nb + 1, 6))
        for s, k in enumerate(self.measure):
            np.add.at(load, e.compiled.plan.measures.body[k], -self.sign[s] * force[s] * e.ws.efforts.gradient[k])
        return load[:-1]

    @property
    def _motions(self) -> list[str]:
        return [f"the motion prescribed for {drive.label}" for drive in self.equations.drives]

    def _label(self, s: int) -> str:
        force = self.equations.mechanism.forces[self.equations.compiled.force[self.element[s]]]
        return f"{force.label} on joint '{force.joint}'" if hasattr(force, "joint") else force.label
