"""Hard limits between which a mechanism moves in reduced coordinates: impacts, contact, release (docs/redmax.md 5).

Impacts follow the law of events/impacts.py with the mobilities S = N M^-1 N^T, all rows of loops, couplings and
prescribed joints holding; N: the derivatives by q of the gaps g that touch.

A limit without restitution, one that starts a step by going on beyond, and one whose rebound would rise by less than
``rest``, stays in contact: it is a row of the closures (`Equations.hold`) until its force would pull.

A limit that is exceeded, g < 0, comes back at the rate b of `Equations.baumgarte`. Where rows are kept by accelerations
their force does that. Where they are kept by rates, as in implicit stages, u = - b g holds from the first instant on:
the impulse that brings u there is part of the impact.
"""

from typing import NamedTuple

import numpy as np

from varint.kinematics.start_at_stops import cannot_come_back
from varint.methods.reduced.contacts import Blocked, Contacts
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.events.impacts import solve_impacts
from varint.methods.reduced.events.law import SLOW, ContactLaw, complementary
from varint.methods.reduced.inverse import InverseDynamics
from varint.methods.reduced.saddle import REDUNDANT
from varint.step.limits.gaps import evaluate_gaps

TOUCHING = 1e-11  # m or rad: a gap of this size counts as closed
SOON = 1e-6  # s, over which the acceleration of a gap is measured, and shapes turn to other features


class Jump(NamedTuple):
    """Changes by an impact: of the rates (nq,), the work (ne,) of the elements, J, and the impulses (nc,)."""

    rates: np.ndarray
    work: np.ndarray
    impulse: np.ndarray


class Stops:
    """The hard limits of ``equations``; which of them are in contact is ``equations.held``.

    ``contacts``: what exerts impulses, for the record; ``rest``, m or rad: a rebound that rises by less is contact.
    ``by_rates``: the integrator keeps rows of contacts by rates, not by accelerations.
    """

    def __init__(self, equations: Equations, rest: float = TOUCHING, by_rates: bool = False) -> None:
        limits, plan = equations.compiled.plan.limits, equations.compiled.plan
        self.by_rates = by_rates
        self.equations, self.contacts, self.rest = equations, Contacts(equations), max(rest, TOUCHING)
        self.sign, self.restitution, self.element = limits.sign, limits.restitution, limits.element
        self.scale = plan.rows.scale[plan.measures.row[limits.measure]]
        self.side = plan.measures.body[limits.measure]
        self._gap, self._gradient = np.zeros(len(self)), np.zeros((len(self), 2, 6))
        self._inverse = InverseDynamics(equations) if self.contacts.driven else None
        equations.held = np.zeros(len(self), dtype=np.bool_)

    def __len__(self) -> int:
        return self.sign.size

    @property
    def held(self) -> np.ndarray:
        """(nl,) limits in contact, whose margins are no gaps."""
        return self.equations.held

    def begin(self, t: float, q: np.ndarray, rates: np.ndarray, size: float) -> float:
        """A step of up to ``size`` s starts at time ``t``; return the longest that may be taken."""
        return np.inf

    def is_facing(self, number: int) -> bool:
        """Whether margin ``number`` is that of two shapes which face each other by given features."""
        return False

    @property
    def watches_within(self) -> bool:
        """Whether margins, and `overlooks`, are asked for between the ends of a step too."""
        return False

    def overlooks(self, t: float, q: np.ndarray, rates: np.ndarray) -> bool:
        """Whether a step that ends at time ``t`` was too long to see all that it met."""
        return False

    def acceleration(self, t: float, q: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """ddq (nq,) with the efforts of the limits in contact."""
        return self.equations.acceleration(t, q, rates)

    def first_step(self, natural: float) -> float | None:
        """Size, s, to try after an event where ``natural`` was that without; None to find one."""
        return natural

    def next_step(self, size: float, again: bool) -> float | None:
        """Size, s, to try after an event at the start of a step of ``size``; ``again``: the same as just before."""
        return size

    def memory(self) -> dict[str, np.ndarray]:
        """State of the events that future steps depend on; none beside that of the equations."""
        return {}

    def recall(self, saved: dict[str, np.ndarray]) -> None:
        """Go back to a `memory`."""

    @property
    def size(self) -> int:
        """Number of recorded impulses, see `Contacts.parts`."""
        return self.contacts.impulse.size

    @property
    def acts(self) -> bool:
        """Whether `efforts` are other than zero."""
        return self._inverse is not None or bool(self.equations.held.any())

    def named(self, met: set[int]) -> str:
        """Labels of the limits that were ``met``, and of those in contact, one after the other."""
        return self.contacts.labelled(self.element[sorted(met | set(np.flatnonzero(self.equations.held).tolist()))])

    @property
    def exceeded(self) -> set[int]:
        """Numbers of the limits that the last pose was beyond: a start comes back from there."""
        return set(np.flatnonzero(self._gap < -TOUCHING).tolist())

    def unlawful(self, names: str) -> Blocked:
        """The error for stops and contacts of these ``names`` whose forces obey no law of friction."""
        if self.exceeded:
            return Blocked(cannot_come_back([names]))
        return Blocked(
            f"no forces of {names} obey the law of friction at this pose (Painleve's paradox). Lower coefficients"
            " of friction, or varint.simulate, whose step finds an impulse there, may help"
        )

    def look(self, t: float, q: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gaps (nl,), m or rad, and their rates (nl,), at time ``t``."""
        e = self.equations
        q, rates, _ = e.imposed(t, q, rates)
        e.place_and_move(q, rates)
        e.count_turns()
        evaluate_gaps(e.compiled.plan, e.ws, e.position, e.rotation, self._gap, self._gradient)
        motion = np.vstack([e.velocity, np.zeros(6)])[self.side]
        return self._gap.copy(), -self.sign * np.einsum("nsk,nsk->n", self._gradient, motion)

    def pushes(self, t: float, q: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """Efforts (nl,), N or N m, by which limits in contact push at time ``t``; below zero they would pull."""
        push, held = np.zeros(len(self)), self.equations.held
        if held.any():
            self.equations.acceleration(t, q, rates)
            push[held] = -(self.sign * self.scale)[held] * self.equations.held_multiplier
        return push

    def margins(self, t: float, q: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Margins (nl,) that must stay above zero, gaps or in contact `pushes`, and the rates of the gaps (nl,)."""
        gap, rate = self.look(t, q, rates)
        return np.where(self.equations.held, self.pushes(t, q, rates), gap), rate

    def efforts(self, t: float, q: np.ndarray, rates: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rates (nc,) of the impulses, N, N m, and power (ne,) of limits in contact, W.

        After `Equations.acceleration`, which gave ``second`` (nq,).
        """
        e, out, power = self.equations, np.zeros(self.size), np.zeros(self.equations.ne)
        parts, held, multiplier = self.contacts.parts(out), e.held, e.multiplier
        if held.any():
            own = e.closures.held_parts
            motion = np.vstack([e.velocity, np.zeros(6)])[e.closures.side[own]]
            along = np.einsum("rsk,rsk->r", e.closures.jacobian[own], motion)
            np.add.at(parts.along, self.element[held], self.scale[held] * e.held_multiplier)
            np.add.at(power, self.element[held], e.held_multiplier * along)
        if self._inverse is not None:
            q, rates, _ = e.imposed(t, q, rates)
            tau, _ = self._inverse.evaluate(t, q, rates, second, multiplier)
            parts.drives[:] = tau[e.driven_columns]
        return out, power

    def settle(self, t: float, q: np.ndarray, rates: np.ndarray, limit: int = -1, closing: bool = False) -> Jump:
        """The impact at the limits that touch at time ``t``; from then on those in contact are held.

        ``limit``: the one that was searched for, which is let go where it is in contact; ``closing``: it closes, with
        no restitution. ``rates`` (nq,) stay as they are. Raises Blocked.
        """
        e, was = self.equations, self.equations.held.copy()
        if limit >= 0 and was[limit]:
            jump, resting = Jump(np.zeros(e.nq), np.zeros(e.ne), np.zeros(self.size)), was
            resting[limit] = False
        else:
            e.hold(np.zeros_like(was))
            gap, _ = self.look(t, q, rates)
            touching = was | (gap <= TOUCHING)
            if limit >= 0:
                touching[limit] = True
            jump, resting = self._impact(t, q, rates, np.flatnonzero(touching), was, limit if closing else -1)
        self._hold(t, q, rates + jump.rates, resting)
        return jump

    def _hold(self, t: float, q: np.ndarray, rates: np.ndarray, resting: np.ndarray) -> None:
        """Hold those of the limits ``resting`` (nl,) that push: the gaps of the others would grow beside them."""
        e, numbers = self.equations, np.flatnonzero(resting)
        e.hold(resting)
        if not numbers.size:
            return
        e.reach(t, q, rates)
        if self.pushes(t, q, rates)[numbers].min() >= 0.0:
            return
        e.hold(np.zeros_like(resting))
        gap, speed = (values[numbers] for values in self.look(t, q, rates))
        jacobian = -self.sign[numbers, None, None] * self._gradient[numbers]
        E = e.impulse_motions(self.side[numbers], jacobian)[0]
        back = np.where(gap < -TOUCHING, e.baumgarte * (2.0 * speed + e.baumgarte * gap), 0.0)
        second = self._accelerations(t, q, rates, speed, numbers) + back
        push = complementary(E @ E.T, second)
        if push is None:
            raise self.contacts.contradiction(self.element[numbers])
        e.hold(np.isin(np.arange(len(self)), numbers[push > 0.0]))
        e.reach(t, q, rates)

    def _impact(
        self, t: float, q: np.ndarray, rates: np.ndarray, touching: np.ndarray, was: np.ndarray, closing: int
    ) -> tuple[Jump, np.ndarray]:
        """The jump at the limits ``touching`` (k,), after `look`, and which (nl,) rest afterwards.

        ``was`` (nl,): in contact before; those and ``closing`` have no restitution.
        """
        e, resting = self.equations, np.zeros_like(was)
        gap, before = (values[touching] for values in self.look(t, q, rates))
        jacobian = -self.sign[touching, None, None] * self._gradient[touching]
        E, alone, multiplier = e.impulse_motions(self.side[touching], jacobian)
        S = E @ E.T
        fixed = np.diag(S) <= REDUNDANT**2 * alone  # by loops or prescribed joints
        if (fixed & (before < -SLOW)).any():
            raise self.contacts.contradiction(self.element[touching[fixed & (before < -SLOW)]])
        free = np.flatnonzero(~fixed)
        restitution, z = np.where(touching == closing, 0.0, self.restitution[touching]), np.zeros(touching.size)

        def motion(impulses: np.ndarray) -> np.ndarray:
            z[free] = impulses
            return e.motion_of(E.T @ z)

        def rests(impulses: np.ndarray, after: np.ndarray) -> np.ndarray:  # it rises by less than ``rest``
            faster = self._accelerations(t, q, rates + motion(impulses), after, touching[free])
            return after**2 <= -2.0 * faster * self.rest

        law = ContactLaw(free.size, np.zeros(0, dtype=np.int64), np.zeros(0))
        own, held = S[np.ix_(free, free)], was[touching[free]]
        hit = solve_impacts(law, own, before[free], restitution[free], held, ~held & (restitution[free] > 0.0), rests)
        after, energy, closed = before.copy(), np.zeros(touching.size), np.zeros(touching.size, dtype=np.bool_)
        z[free], after[free], energy[free], closed[free] = hit
        parts = ~closed & ~fixed & (after > SLOW)
        if parts.any():
            closed[free] |= parts[free] & rests(hit.z, hit.rates)
        back = np.where(gap < -TOUCHING, -e.baumgarte * gap, 0.0)
        returns = (was[touching] | (touching == closing)) & (back > 0.0)
        returns &= after <= before + SLOW  # no other impact drives it faster
        closed |= ~fixed & returns
        back[~closed] = 0.0
        if self.by_rates and back.any():
            push = complementary(own, (after - back)[free])
            if push is None:
                raise self.contacts.contradiction(self.element[touching])
            energy[free] += push * (after[free] + 0.5 * own @ push)
            z[free] += push
        self.look(t, q, rates)
        e.factor()
        resting[touching] = closed
        change = e.motion_of(E.T @ z)
        return self._jump(t, (q, rates, change), z, energy, touching, jacobian, z @ multiplier), resting

    def _accelerations(
        self, t: float, q: np.ndarray, rates: np.ndarray, before: np.ndarray, touching: np.ndarray
    ) -> np.ndarray:
        """Second time derivatives (k,) of the gaps ``touching`` (k,), whose rates are ``before`` (k,)."""
        second = self.equations.acceleration(t, q, rates).copy()
        later = q + SOON * (rates + 0.5 * SOON * second)
        return (self.look(t + SOON, later, rates + SOON * second)[1][touching] - before) / SOON

    def _jump(
        self, t: float, motion: tuple[np.ndarray, np.ndarray, np.ndarray], z: np.ndarray, energy: np.ndarray,
        touching: np.ndarray, jacobian: np.ndarray, multiplier: np.ndarray,
    ) -> Jump:  # fmt: skip
        """The record of an impact with the impulses z (k,), which bring in ``energy`` (k,), J.

        ``motion``: q, the rates before and their change (nq,); ``multiplier`` (row_count,) of loops and couplings.
        """
        e, work, impulse = self.equations, np.zeros(self.equations.ne), np.zeros(self.size)
        q, rates, change = motion
        parts, own = self.contacts.parts(impulse), self.element[touching]
        np.add.at(work, own, energy)
        np.subtract.at(parts.along, own, self.sign[touching] * z)
        if self.contacts.driven:
            q, rates, _ = e.imposed(t, q, rates)
            e.place_and_move(q, rates)
            load = np.zeros((e.nb + 1, 6))
            np.add.at(load, self.side[touching], z[:, None, None] * jacobian)
            exerted = e.generalised(load[:-1]) + multiplier @ e.violations(q, rates)[2]
            parts.drives[:] = (e.mass_matrix() @ change - exerted)[e.driven_columns]
        return Jump(change, work, impulse)
