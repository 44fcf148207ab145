"""Hard limits between which a mechanism moves in reduced coordinates: impacts, contact, release (docs/redmax.md 5).

Impacts follow the law of events/impacts.py with the mobilities S = N M^-1 N^T, all rows of loops, couplings and
prescribed joints holding; N: the derivatives by q of the gaps g that touch.

A limit stays in contact if it has no restitution, if it starts a step moving further beyond, or if its rebound would
rise by less than ``rest``. It is then a constraint row (`Equations.hold`) until its force becomes tensile.

A limit that is exceeded, g < 0, returns with the decay rate b, 1/s, of `Equations.baumgarte`. If constraints are
enforced on accelerations, their force produces the return. If they are enforced on rates, as in implicit stages,
u = -b g holds from the first instant, and the impact includes the impulse that sets it.
"""

from typing import NamedTuple

import numpy as np

from varint.kinematics.start_at_stops import cannot_come_back
from varint.methods.reduced.contacts import Blocked, Contacts
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.events.impacts import solve_impacts
from varint.methods.reduced.events.law import SLIGHT, SLOW, ContactLaw, complementary
from varint.methods.reduced.events.rebounds import GapMotion, are_low
from varint.methods.reduced.inverse import InverseDynamics
from varint.methods.reduced.saddle import REDUNDANT
from varint.step.limits.gaps import evaluate_gaps
from varint.step.sizes import unit_of_length

TOUCHING = 1e-11  # of `Stops.unit`: a gap up to this counts as closed
SOON = 1e-6  # s: step of the forward difference for accelerations of gaps, and of shapes that change features


class Jump(NamedTuple):
    """Changes by an impact.

    ``rates`` (nq,): change of the rates, m/s or rad/s. ``work`` (ne,): work of each element, J. ``impulse`` (nc,):
    impulses of limits and drives, N s or N m s, in the order of `Contacts.parts`.
    """

    rates: np.ndarray
    work: np.ndarray
    impulse: np.ndarray


class Stops:
    """The hard limits of ``equations``; which of them are in contact is ``equations.held``.

    ``contacts``: layout of the recorded impulses. ``unit`` (nl,): what small gaps are measured in, and small rates, a
    second: `unit_of_length` of the parts, m, or 1 rad. ``rest``, in units: a limit whose rebound would rise by less
    stays in contact. ``by_rates``: the integrator enforces constraint rows of limits on rates, not on accelerations.
    """

    def __init__(self, equations: Equations, rest: float = TOUCHING, by_rates: bool = False) -> None:
        limits, plan = equations.compiled.plan.limits, equations.compiled.plan
        self.by_rates = by_rates
        self.equations, self.contacts, self.rest = equations, Contacts(equations), max(rest, TOUCHING)
        self.sign, self.restitution, self.element = limits.sign, limits.restitution, limits.element
        self.scale = plan.rows.scale[plan.measures.row[limits.measure]]
        self.side = plan.measures.body[limits.measure]
        self.unit = np.where(self.scale == 1.0, unit_of_length(equations.compiled.length), 1.0)  # rows in m have 1
        self._gap, self._gradient = np.zeros(len(self)), np.zeros((len(self), 2, 6))
        self._inverse = InverseDynamics(equations) if self.contacts.driven else None
        equations.held = np.zeros(len(self), dtype=np.bool_)

    def __len__(self) -> int:
        return self.sign.size

    @property
    def held(self) -> np.ndarray:
        """(nl,) bool: limits in contact, whose margins are forces instead of gaps."""
        return self.equations.held

    def begin(self, t: float, q: np.ndarray, rates: np.ndarray, size: float) -> float:
        """Prepare a step of up to ``size`` s from time ``t``, q and rates (nq,); return the longest allowed size, s."""
        return np.inf

    def is_facing(self, number: int) -> bool:
        """Return whether margin ``number`` belongs to a pair of facing shape features; never for limits."""
        return False

    @property
    def watches_within(self) -> bool:
        """Return whether margins and `overlooks` must also be evaluated between the ends of a step."""
        return False

    def overlooks(self, t: float, q: np.ndarray, rates: np.ndarray) -> bool:
        """Return whether a step that ended at time ``t``, at q and rates (nq,), was too long to detect all contacts."""
        return False

    def acceleration(self, t: float, q: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """Return accelerations (nq,), m/s^2 or rad/s^2, with the forces of the limits in contact."""
        return self.equations.acceleration(t, q, rates)

    def first_step(self, natural: float) -> float | None:
        """Return the step size, s, to try after an event, None to estimate one; ``natural``: size without it, s."""
        return natural

    def next_step(self, size: float, again: bool) -> float | None:
        """Return the step size, s, to try after an event at the start of a step of ``size`` s, None to estimate one.

        ``again``: the same event was already met in this step.
        """
        return size

    def memory(self) -> dict[str, np.ndarray]:
        """Return the state that later steps depend on, beside that of the equations; empty for limits."""
        return {}

    def recall(self, saved: dict[str, np.ndarray]) -> None:
        """Restore a `memory`."""

    @property
    def size(self) -> int:
        """Return nc, the number of recorded impulses, see `Contacts.parts`."""
        return self.contacts.impulse.size

    @property
    def acts(self) -> bool:
        """Return whether `efforts` may differ from zero."""
        return self._inverse is not None or bool(self.equations.held.any())

    def named(self, met: set[int]) -> str:
        """Return the labels of the limits with the numbers ``met`` and of all in contact, in one text."""
        return self.contacts.labelled(self.element[sorted(met | set(np.flatnonzero(self.equations.held).tolist()))])

    @property
    def exceeded(self) -> set[int]:
        """Return the numbers of the limits that the last evaluated pose exceeds; such a start returns gradually."""
        return set(np.flatnonzero(self._gap < -TOUCHING * self.unit).tolist())

    def unlawful(self, names: str) -> Blocked:
        """Return the error for stops and contacts, with the labels ``names``, whose forces have no lawful solution."""
        if self.exceeded:
            return Blocked(cannot_come_back([names]))
        return Blocked(
            f"no forces of {names} obey the law of friction at this pose (Painleve's paradox). Lower coefficients"
            " of friction, or varint.simulate, whose step finds an impulse there, may help"
        )

    def look(self, t: float, q: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return gaps (nl,), m or rad, and their rates (nl,), m/s or rad/s, at time ``t``, q and rates (nq,)."""
        e = self.equations
        q, rates, _ = e.imposed(t, q, rates)
        e.place_and_move(q, rates)
        e.count_turns()
        evaluate_gaps(e.compiled.plan, e.ws, e.position, e.rotation, self._gap, self._gradient)
        motion = np.vstack([e.velocity, np.zeros(6)])[self.side]
        return self._gap.copy(), -self.sign * np.einsum("nsk,nsk->n", self._gradient, motion)

    def pushes(self, t: float, q: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """Return forces (nl,), N or N m, of the limits in contact at time ``t``: compressive > 0, tensile < 0."""
        push, held = np.zeros(len(self)), self.equations.held
        if held.any():
            self.equations.acceleration(t, q, rates)
            push[held] = -(self.sign * self.scale)[held] * self.equations.held_multiplier
        return push

    def margins(self, t: float, q: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return margins (nl,) that must stay above zero, and the rates of the gaps (nl,), m/s or rad/s.

        The margin of an open limit is its gap, m or rad; that of a limit in contact its force `pushes`, N or N m.
        """
        gap, rate = self.look(t, q, rates)
        return np.where(self.equations.held, self.pushes(t, q, rates), gap), rate

    def efforts(self, t: float, q: np.ndarray, rates: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the forces (nc,), N or N m, of limits in contact and drives, and the power (ne,) of the limits, W.

        Call after `Equations.acceleration`, with its result ``second`` (nq,).
        """
        e, out, power = self.equations, np.zeros(self.size), np.zeros(self.equations.ne)
        parts, held, multiplier = self.contacts.parts(out), e.held, e.multiplier
        if held.any():
            held_rows = e.closures.held_parts
            motion = np.vstack([e.velocity, np.zeros(6)])[e.closures.side[held_rows]]
            along = np.einsum("rsk,rsk->r", e.closures.jacobian[held_rows], motion)
            np.add.at(parts.along, self.element[held], self.scale[held] * e.held_multiplier)
            np.add.at(power, self.element[held], e.held_multiplier * along)
        if self._inverse is not None:
            q, rates, _ = e.imposed(t, q, rates)
            tau, _ = self._inverse.evaluate(t, q, rates, second, multiplier)
            parts.drives[:] = tau[e.driven_columns]
        return out, power

    def settle(self, t: float, q: np.ndarray, rates: np.ndarray, limit: int = -1, closing: bool = False) -> Jump:
        """Resolve the impact at the limits that touch at time ``t``; return its jump.

        Then hold the limits that stay in contact. ``limit``: number of the limit whose event was located, -1 for none;
        if it is in contact, it is released without an impact. ``closing``: treat ``limit`` as having no restitution. It
        closes even where its gap grows at this instant, if it rises by less than `rest`: it falls back in the step.
        ``rates`` (nq,) is not modified. Raises Blocked if no motion obeys the limits.
        """
        e, was = self.equations, self.equations.held.copy()
        if limit >= 0 and was[limit]:
            jump, resting = Jump(np.zeros(e.nq), np.zeros(e.ne), np.zeros(self.size)), was
            resting[limit] = False
        else:
            e.hold(np.zeros_like(was))
            gap, _ = self.look(t, q, rates)
            touching = was | (gap <= TOUCHING * self.unit)
            if limit >= 0:
                touching[limit] = True
            jump, resting = self._impact(t, q, rates, np.flatnonzero(touching), was, limit if closing else -1)
        self._hold(t, q, rates + jump.rates, resting)
        return jump

    def _hold(self, t: float, q: np.ndarray, rates: np.ndarray, resting: np.ndarray) -> None:
        """Hold the limits among ``resting`` (nl,) whose force is compressive; release the others.

        The gaps of the others would open. ``rates`` (nq,) are those after the impact. Raises Blocked if no
        forces obey the limits.
        """
        e, numbers = self.equations, np.flatnonzero(resting)
        e.hold(resting)
        if not numbers.size:
            return
        e.reach(t, q, rates)
        if self.pushes(t, q, rates)[numbers].min() >= 0.0:
            return
        e.hold(np.zeros_like(resting))
        self.look(t, q, rates)
        jacobian = -self.sign[numbers, None, None] * self._gradient[numbers]
        E = e.impulse_motions(self.side[numbers], jacobian)[0]
        second = self.accelerations_of_free(t, q, rates, numbers)
        push = complementary(E @ E.T, second)
        if push is None:
            raise self.contacts.contradiction(self.element[numbers])
        e.hold(np.isin(np.arange(len(self)), numbers[push > 0.0]))
        e.reach(t, q, rates)

    def _impact(
        self, t: float, q: np.ndarray, rates: np.ndarray, touching: np.ndarray, was: np.ndarray, closing: int
    ) -> tuple[Jump, np.ndarray]:
        """Return the jump at the limits ``touching`` (k,), and (nl,) bool, which limits are in contact after it.

        ``was`` (nl,): limits in contact before; these, and limit ``closing`` (-1: none), have no restitution.
        """
        e, resting = self.equations, np.zeros_like(was)
        gap, before = (values[touching] for values in self.look(t, q, rates))
        unit, slow = self.unit[touching], SLOW * self.unit[touching]
        jacobian = -self.sign[touching, None, None] * self._gradient[touching]
        E, alone, multiplier = e.impulse_motions(self.side[touching], jacobian)
        S = E @ E.T
        fixed = np.diag(S) <= REDUNDANT**2 * alone  # by loops or prescribed joints
        if (fixed & (before < -slow)).any():
            raise self.contacts.contradiction(self.element[touching[fixed & (before < -slow)]])
        free = np.flatnonzero(~fixed)
        restitution, z = np.where(touching == closing, 0.0, self.restitution[touching]), np.zeros(touching.size)

        def motion(impulses: np.ndarray) -> np.ndarray:
            z[free] = impulses  # in the z of the whole impact, as scratch: it is set to the result below
            return e.motion_of(E.T @ z)

        def rests(impulses: np.ndarray, after: np.ndarray) -> np.ndarray:  # which would rise by less than ``rest``
            numbers, changed = touching[free], rates + motion(impulses)
            first = GapMotion(before[free], self._accelerations(t, q, rates, before[free], numbers))
            then = GapMotion(after, self._accelerations(t, q, changed, after, numbers))
            return are_low(first, then, self.rest * unit[free], TOUCHING * unit[free])

        law = ContactLaw(free.size, np.zeros(0, dtype=np.int64), np.zeros(0))
        S_free, held = S[np.ix_(free, free)], was[touching[free]]
        passing = ~held & (restitution[free] > 0.0)
        arm = self.scale[touching[free]]
        hit = solve_impacts(law, S_free, before[free], restitution[free], held, passing, rests, unit[free], arm)
        after, energy, closed = before.copy(), np.zeros(touching.size), np.zeros(touching.size, dtype=np.bool_)
        z[free], after[free], energy[free], closed[free] = hit
        separating = ~closed & ~fixed & (after > slow) & ((after < SLIGHT * unit) | (touching == closing))
        if separating.any():
            closed[free] |= separating[free] & rests(hit.z, hit.rates)
        back = np.where(gap < -TOUCHING * unit, -e.baumgarte * gap, 0.0)
        returns = (was[touching] | (touching == closing)) & (back > 0.0)
        returns &= after <= before + slow  # no other impact drives it faster
        closed |= ~fixed & returns
        back[~closed] = 0.0
        if self.by_rates and back.any():
            push = complementary(S_free, (after - back)[free])
            if push is None:
                raise self.contacts.contradiction(self.element[touching])
            lift = S_free @ push
            energy[free] += push * (after[free] + 0.5 * lift)
            z[free] += push
            lifted = closed[free] & (back[free] == 0.0) & (lift > slow[free])  # opened by the return of another limit
            if lifted.any():
                closed[free] &= ~lifted | rests(z[free], after[free] + lift)
        self.look(t, q, rates)
        e.factor()
        resting[touching] = closed
        change = e.motion_of(E.T @ z)
        return self._jump(t, (q, rates, change), z, energy, touching, jacobian, z @ multiplier), resting

    def accelerations_of_free(self, t: float, q: np.ndarray, rates: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Return the accelerations (k,) of the gaps ``numbers`` (k,), m/s^2 or rad/s^2, all open.

        The acceleration at which an exceeded limit returns is subtracted.
        """
        gap, speed = (values[numbers] for values in self.look(t, q, rates))
        b = self.equations.baumgarte
        back = np.where(gap < -TOUCHING * self.unit[numbers], b * (2.0 * speed + b * gap), 0.0)
        return self._accelerations(t, q, rates, speed, numbers) + back

    def _accelerations(
        self, t: float, q: np.ndarray, rates: np.ndarray, speed: np.ndarray, numbers: np.ndarray
    ) -> np.ndarray:
        """Return accelerations (k,), m/s^2 or rad/s^2, of the gaps ``numbers`` (k,), by a forward difference over SOON.

        ``speed`` (k,): rates of these gaps at ``rates`` (nq,), m/s or rad/s.
        """
        second = self.equations.acceleration(t, q, rates).copy()
        later = q + SOON * (rates + 0.5 * SOON * second)
        return (self.look(t + SOON, later, rates + SOON * second)[1][numbers] - speed) / SOON

    def _jump(
        self, t: float, motion: tuple[np.ndarray, np.ndarray, np.ndarray], z: np.ndarray, energy: np.ndarray,
        touching: np.ndarray, jacobian: np.ndarray, multiplier: np.ndarray,
    ) -> Jump:  # fmt: skip
        """Return the record of an impact with the impulses z (k,), N s or N m s, which add ``energy`` (k,), J.

        ``motion``: q, the rates before and their change, each (nq,). ``touching`` (k,): numbers of the limits, with the
        rows ``jacobian`` (k, 2, 6) of their gaps. ``multiplier`` (row_count,): impulses of loops and couplings.
        """
        e, work, impulse = self.equations, np.zeros(self.equations.ne), np.zeros(self.size)
        q, rates, change = motion
        parts, elements = self.contacts.parts(impulse), self.element[touching]
        np.add.at(work, elements, energy)
        np.subtract.at(parts.along, elements, self.sign[touching] * z)
        if self.contacts.driven:
            q, rates, _ = e.imposed(t, q, rates)
            e.place_and_move(q, rates)
            load = np.zeros((e.nb + 1, 6))
            np.add.at(load, self.side[touching], z[:, None, None] * jacobian)
            exerted = e.generalised(load[:-1]) + multiplier @ e.violations(q, rates)[2]
            parts.drives[:] = (e.mass_matrix() @ change - exerted)[e.driven_columns]
        return Jump(change, work, impulse)
