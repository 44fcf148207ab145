"""Hard contacts with hard limits in reduced coordinates, by located events (docs/theory.md section 14).

While a contact point is closed, its row along the normal is a constraint of the equations of motion; while it sticks,
so are its rows along the plane; while it slides, friction mu N opposes its slip. Such a regime ends at an event:

    touch down        the gap falls through zero: an impact by the law of the variational integrator
    lift-off          the normal force falls through zero
    stick to slip     the friction reaches mu N
    slip to stick     the slip, along its direction at the start of the step, falls through zero
    other features    other features of two shapes face each other: a ball has rolled over an edge, a corner slid off

The regimes that follow are the solution of the law for accelerations; at the end of a regime for the state `SOON`
later, since force and slip are continuous there. Forces of redundant contacts, as the four feet of a box, are not
unique: then a regime lasts as long as any forces within the law keep it. In all functions ``t`` is in s, ``q`` and
``rates`` (nq,) are coordinates and their rates, m, rad, m/s, rad/s, and ``number`` is that of a margin.
"""

import numpy as np

from varint.methods.reduced.constraint_forces import NotFinite
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.events.impacts import PARTING, Impacts, solve_impacts
from varint.methods.reduced.events.law import SLIGHT, SLOW, ContactLaw, margins_of_any
from varint.methods.reduced.events.points import ContactPoints
from varint.methods.reduced.events.rebounds import GapMotion, are_low
from varint.methods.reduced.events.stops import SOON, TOUCHING, Jump, Stops
from varint.methods.reduced.recursions import kinematic_recursions as kinematics
from varint.methods.reduced.saddle import REDUNDANT

# of `ContactEvents.unit`, a second:
STILL, COARSE = 1e-9, 1e3  # slip below which it has no direction; at the end of sliding: or below COARSE rest
STARTING = 1e2  # (STARTING rest)^(2/3) is the slip up to which a slip that starts keeps its direction
ANY = -1.0  # in place of a speed: regimes continue, see `ContactEvents._choose`
REGIMES = ("closed", "slides", "starts", "along")  # the attributes that describe the regimes
SHORTER = 8.0  # factor by which a step is shortened after a point was met twice in it
ZERO = 1e-8  # acceleration that counts as zero, over the largest acceleration of a point


class ContactEvents:
    """The hard limits and hard contacts of ``equations``: regimes, events, efforts; the interface is that of `Stops`.

    There are n margins, in this order: of the nl limits; of the P points the gaps or normal forces; the same P points'
    friction reserves or slips; of each slot of shapes, 1 if its features still face each other, else -1.

    closed, slides : (P,) bool, regimes of the points
    along : (P, 2) unit vectors of the slip
    starts : (P,) bool, whether a slip has started and is slow; it keeps its direction, with an error of the size of
        ``rest``, since friction would turn it so fast that explicit steps become short without bound
    force : (P, 3) N, along the normal and two directions across it, after `acceleration`
    unit : (n,) what small gaps are measured in, and small rates, a second, see `Stops`; 1 for margins of other kinds
    rest : in units, rebounds that rise by less close
    """

    def __init__(self, equations: Equations, rest: float = TOUCHING) -> None:
        self.equations, self.stops = equations, Stops(equations, rest)
        self.contacts, self.rest = self.stops.contacts, self.stops.rest
        self.touching = ContactPoints(equations, self.contacts.ground)
        self.limits, self.points = len(self.stops), len(self.touching)
        self.element = np.concatenate([self.stops.element, self.touching.element])
        self.unit = np.concatenate([self.stops.unit, self.touching.unit, np.ones(self.points + self.touching.shapes)])
        self.still = max(STILL, COARSE * rest)
        self.slow = max(STILL, (STARTING * rest) ** (2.0 / 3.0))
        self.closed, self.slides, self.starts = np.zeros((3, self.points), dtype=np.bool_)
        self.along, self.force = np.zeros((self.points, 2)), np.zeros((self.points, 3))
        self.restitution = np.concatenate([self.stops.restitution, self.touching.restitution])
        self._margins_of_regime = np.ones((2, self.points))

    def __len__(self) -> int:
        return self.limits + 2 * self.points + self.touching.shapes

    @property
    def size(self) -> int:
        """Return the number of recorded impulses, see `Contacts.parts`."""
        return self.stops.size

    @property
    def acts(self) -> bool:
        """Return whether `efforts` may differ from zero."""
        return self.stops.acts or bool(self.closed.any())

    @property
    def held(self) -> np.ndarray:
        """Return which margins (n,) are not gaps."""
        others = np.ones(self.points + self.touching.shapes, dtype=np.bool_)
        return np.concatenate([self.equations.held, self.closed, others])

    def first_step(self, natural: float) -> float | None:
        """See `Stops`: steps that grew in free flight are too long in contact."""
        return None if self.closed.any() else natural

    def next_step(self, size: float, again: bool) -> float | None:
        """See `Stops`: a point met ``again`` departs by less than the error of a step of ``size`` s: shorten it."""
        return size / SHORTER if again else self.first_step(size)

    def memory(self) -> dict[str, np.ndarray]:
        """Return copies of the regimes and of the slots of shapes."""
        return {name: getattr(self, name).copy() for name in REGIMES} | self.touching.memory()

    def recall(self, saved: dict[str, np.ndarray]) -> None:
        """Restore a `memory`."""
        for name in REGIMES:
            getattr(self, name)[:] = saved[name]
        self.touching.recall(saved)

    def named(self, met: set[int]) -> str:
        """Return the labels of the limits and contacts of the margins ``met`` and of the closed ones, in one text."""
        rows = {self._row_of(n) for n in met}
        held = np.flatnonzero(np.concatenate([self.equations.held, self.closed])).tolist()
        return self.contacts.labelled(self.element[sorted(rows.union(held))])

    @property
    def exceeded(self) -> set[int]:
        """See `Stops.exceeded`."""
        return self.stops.exceeded

    def _row_of(self, number: int) -> int:
        """Return the row of ``element`` that margin ``number`` belongs to: the limits, then the points."""
        first, P = self.limits, self.points
        if number < first + P:
            return number
        return number - P if number < first + 2 * P else number - 2 * P + self.touching.planes

    # ------------------------------------------------------------------------------------- within a regime

    def begin(self, t: float, q: np.ndarray, rates: np.ndarray, size: float) -> float:
        """Set the directions of slip for a step, and the slots of shapes; see `Stops.begin`."""
        longest = self._seek(t, q, rates, size)
        if not self.slides.any():
            return longest
        slip = self._rates_at(t, q, rates)[:, 1:]
        speed = np.linalg.norm(slip, axis=1)
        self.starts &= self.slides & (speed < self.slow * self.touching.unit)
        turned = self.slides & ~self.starts & (speed > STILL * self.touching.unit)
        self.along[turned] = slip[turned] / speed[turned, None]
        return longest

    def _seek(self, t: float, q: np.ndarray, rates: np.ndarray, size: float) -> float:
        """Fill the slots of shapes for a step of ``size`` s from this pose; return the longest step allowed, s."""
        if not self.touching.shapes:
            return np.inf
        self._place(t, q, rates)
        longest = self.touching.seek(size, self.closed)
        self.slides &= self.closed
        self.starts &= self.closed
        return longest

    def _place(self, t: float, q: np.ndarray, rates: np.ndarray) -> None:
        """Set poses and velocities of the bodies."""
        q, rates, _ = self.equations.imposed(t, q, rates)
        self.equations.place_and_move(q, rates)

    def is_facing(self, number: int) -> bool:
        """See `Stops.is_facing`."""
        return number >= self.limits + 2 * self.points

    @property
    def watches_within(self) -> bool:
        """Return whether shapes may meet and separate again within a step; see `Stops.watches_within`."""
        return self.touching.shapes > 0

    def overlooks(self, t: float, q: np.ndarray, rates: np.ndarray) -> bool:
        """See `Stops.overlooks`."""
        if not self.touching.shapes:
            return False
        self._place(t, q, rates)
        return self.touching.overlooks()

    def acceleration(self, t: float, q: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """Return accelerations (nq,) with the forces of the closed contacts; write these to ``force`` (P, 3), N."""
        e, second = self.equations, self.equations.acceleration(t, q, rates)
        self.force[:] = 0.0
        self._margins_of_regime[:] = 1.0
        closed = np.flatnonzero(self.closed)
        if not closed.size:
            return second
        rows, before, free = self._rows_and_accelerations(closed)
        gap = self._gap[closed]
        slip, b = before[:, 1:], e.baumgarte
        speed = np.linalg.norm(slip, axis=1)
        moves = speed > np.where(self.starts[closed], self.slow, STILL) * self.touching.unit[closed]
        along = self.along[closed]
        ahead = np.where(np.einsum("pa,pa->p", slip, along) < 0.0, -1.0, 1.0)
        direction = np.where(moves[:, None], (ahead / np.where(moves, speed, 1.0))[:, None] * slip, along)
        slides, friction = self.slides[closed], self.touching.friction[closed]
        law = ContactLaw(closed.size, np.arange(closed.size), friction)
        c = np.concatenate([free[:, 0], free[:, 1:].ravel()])
        c[: closed.size] += 2.0 * b * before[:, 0] + b * b * gap
        sticks = ~slides & (friction > 0.0)
        c[closed.size :] += np.where(np.repeat(sticks, 2), 2.0 * b * slip.ravel(), 0.0)
        E, multiplier = self._responses(closed, rows)
        S = E @ E.T
        if not (np.isfinite(S).all() and np.isfinite(c).all()):
            raise NotFinite
        z, redundant = law.hold(S, c, np.ones(closed.size, dtype=np.bool_), sticks, direction)
        tangential = z[closed.size :].reshape(-1, 2)
        self.force[closed, 0], self.force[closed, 1:] = z[: closed.size], tangential
        bound = friction * z[: closed.size] - np.linalg.norm(tangential, axis=1)
        margins = np.array([z[: closed.size], np.where(sticks, bound, 1.0)])
        if redundant and (margins < 0.0).any():
            margins = margins_of_any(law, S, c, z, slides, direction)
        margins[1, slides & (friction > 0.0)] = np.einsum("pa,pa->p", slip, along)[slides & (friction > 0.0)]
        self._margins_of_regime[:, closed] = margins
        if e.row_count:
            e.constraints.multiplier = multiplier[-1] + z @ multiplier[:-1]
        return second + e.motion_of(E.T @ z)

    def _rows_and_accelerations(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return rows (p, 2, 3, 6), their rates (p, 3) and accelerations (p, 3), after `Equations.acceleration`."""
        e, motion = self.equations, np.zeros((self.equations.nb, 6))
        self._gap, self._rows = self.touching.read()
        kinematics.motion_to_bodies(e.work, e.work.acceleration, motion)
        rows, along = self._rows[points], self.touching.along
        return rows, along(rows, e.velocity, points), along(rows, motion, points) + self.touching.bends(points)

    def _responses(self, points: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return E (3 p, nq) of unit forces along ``rows`` (p, 2, 3, 6), normals first, see `impulse_motions`.

        Also the multipliers (3 p + 1, row_count) of loops with each, and, as the last row, the present ones.
        """
        present = self.equations.multiplier.copy()
        E, _, multiplier = self.equations.impulse_motions(*self.touching.sides_and_jacobians(points, rows))
        return E, np.vstack([multiplier, present])

    def _rates_at(self, t: float, q: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """Return the rates (P, 3), m/s, of the points along their rows; write ``_gap`` and ``_rows``.

        If features of an open slot have passed each other where they do not face each other, its gap is positive.
        """
        self._place(t, q, rates)
        self._gap, self._rows = self.touching.read()
        passed = ~self.closed & (self._gap < 0.0)
        passed[: self.touching.planes] = False
        if passed.any():
            passed[self.touching.planes :] &= ~self.touching.still_faced(passed)
            self._gap[passed] *= -1.0
        return self.touching.along(self._rows, self.equations.velocity, np.arange(self.points))

    def look(self, t: float, q: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the gaps of limits and points, m or rad, and their rates, each (n,); 1 and 0 for the other margins."""
        gap, rate = self.stops.look(t, q, rates)
        of_points = self._rates_at(t, q, rates)[:, 0]
        rest, others = np.zeros(self.points), np.ones(self.touching.shapes)
        gap = np.concatenate([gap, self._gap, rest + 1.0, others])
        return gap, np.concatenate([rate, of_points, rest, 0.0 * others])

    def margins(self, t: float, q: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return margins (n,) that must stay above zero, and the rates (n,) of the gaps among them, else 0."""
        e, (value, rate) = self.equations, self.look(t, q, rates)
        if self.closed.any() or e.held.any():
            self.acceleration(t, q, rates)
            held = np.flatnonzero(e.held)
            value[held] = -(self.stops.sign * self.stops.scale)[held] * e.held_multiplier
            facing = self.limits + 2 * self.points
            of_points = value[self.limits : facing].reshape(2, -1)
            of_points[:, self.closed] = self._margins_of_regime[:, self.closed]
            slots = self.closed[self.touching.planes :]
            value[facing:][slots & ~self.touching.still_faced(self.closed)] = -1.0
        return value, rate

    def efforts(self, t: float, q: np.ndarray, rates: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return rates of the impulses and powers as `Stops.efforts`, with the contacts; call after `acceleration`."""
        e = self.equations
        out, power = self.stops.efforts(t, q, rates, second)
        if self.closed.any():
            parts = self.contacts.parts(out)
            touching = self.touching
            wrench = np.stack([np.einsum("pak,pa->pk", self._rows[:, s], self.force) for s in range(2)], axis=1)
            self.contacts.ground.add_wrenches(wrench[: touching.planes, 0], parts.ground)
            with_world = np.vstack([e.velocity, np.zeros(6)])
            for s in range(2):
                power_on_side = np.einsum("pk,pk->p", wrench[:, s], with_world[touching.side[:, s]])
                np.add.at(power, touching.element, power_on_side)
            if self.contacts.driven:
                parts.drives[:] -= e.generalised(touching.loads(wrench))[e.driven_columns]
        return out, power

    # ------------------------------------------------------------------------------------- events

    def settle(self, t: float, q: np.ndarray, rates: np.ndarray, number: int = -1, closing: bool = False) -> Jump:
        """Return the jump at an event at time ``t``, and set the regimes that follow; see `Stops.settle`."""
        e, first = self.equations, self.limits
        point = (number - first) % self.points if number >= first else -1
        refaced = self.is_facing(number)
        of_regime = number >= 0 and bool(self.held[number]) and not refaced
        if not of_regime:
            if refaced or number < 0:
                self._seek(t, q, rates, 0.0)
            jump, closed = self._impacts(t, q, rates, -1 if refaced else number, closing)
            self._choose(t, q, rates + jump.rates, *closed, self.still if refaced else STILL)
            return self._still(t, q, rates, jump)
        jump = Jump(np.zeros(e.nq), np.zeros(e.ne), np.zeros(self.size))
        if number >= first + self.points and self.slides[point]:
            slip = self._rates_at(t, q, rates)[point, 1:]
            speed = float(np.linalg.norm(slip))
            if speed > self.still * self.touching.unit[point]:  # the slip has changed its direction, and continues
                self.along[point] = slip / speed
                return jump
            self.slides[point] = False
            self._choose(t, q, rates, e.held.copy(), self.closed.copy(), self.still)
            return self._still(t, q, rates, jump)
        before = self._regime(point, number)
        self.acceleration(t, q, rates)
        push = self.force[point].copy()
        self._choose(t, q, rates, e.held.copy(), self.closed.copy(), ANY)
        if self._regime(point, number) == before:
            self._end(number, point, push)
        return jump

    def _regime(self, point: int, number: int) -> tuple:
        """Return the regime to which margin ``number`` belongs: of a limit, or of the ``point``."""
        if number < self.limits:
            return (bool(self.equations.held[number]),)
        return bool(self.closed[point]), bool(self.slides[point])

    def _end(self, number: int, point: int, push: np.ndarray) -> None:
        """End the regime of margin ``number``, although the law allows it to continue; ``push`` (3,): force, N."""
        if number < self.limits:
            resting = self.equations.held.copy()
            resting[number] = False
            self.equations.hold(resting)
        elif number < self.limits + self.points:
            self.closed[point] = self.slides[point] = False
        else:
            size = float(np.linalg.norm(push[1:]))
            self.slides[point] = self.starts[point] = True
            self.along[point] = -push[1:] / size if size > 0.0 else 0.0

    def _choose(
        self, t: float, q: np.ndarray, rates: np.ndarray, limits: np.ndarray, closed: np.ndarray, slow: float
    ) -> None:
        """Choose and set the regimes of the ``limits`` (nl,) and points ``closed`` (P,) that touch, by the law.

        Points faster than ``slow``, in units a second, slide. If ``slow`` is ANY, points that slide continue to do so,
        and the law is solved for the state that the present regimes reach `SOON` later. Raises Blocked if no forces
        obey the law.
        """
        e, stops, later = self.equations, self.stops, slow == ANY
        if later:
            second = self.acceleration(t, q, rates)
            t, q, rates = t + SOON, q + SOON * (rates + 0.5 * SOON * second), rates + SOON * second
        e.hold(np.zeros_like(limits))
        numbers, points = np.flatnonzero(limits), np.flatnonzero(closed)
        free_limits = stops.accelerations_of_free(t, q, rates, numbers) if numbers.size else np.zeros(0)
        e.acceleration(t, q, rates)
        rows, before, free = self._rows_and_accelerations(points)
        E = self._rows_of_impact(numbers, points, rows)[0]
        K, speed = numbers.size + points.size, np.linalg.norm(before[:, 1:], axis=1)
        unit = np.concatenate([stops.unit[numbers], self.touching.unit[points]])
        moving = self.slides[points] if later else speed > slow * unit[numbers.size :]
        slow_start = self.starts[points] & later
        turns = (speed > STILL * unit[numbers.size :]) & ~slow_start
        along = np.where(turns[:, None], before[:, 1:] / np.where(turns, speed, 1.0)[:, None], self.along[points])
        along[~moving] = 0.0
        law = ContactLaw(K, numbers.size + np.arange(points.size), self.touching.friction[points])
        c = np.concatenate([free_limits, free[:, 0], free[:, 1:].ravel()])
        S = E @ E.T
        z = law.solve(S, c, moving, along)
        if z is None:
            raise stops.unlawful(self.contacts.labelled(self.element[[*numbers, *self.limits + points]]))
        after, units = S @ z + c, np.concatenate([unit, np.repeat(unit[numbers.size :], 2)])
        least = ZERO * ((np.abs(c) / units).max(initial=0.0) or 1.0) * units  # accelerations along the rows
        stays = after[:K] <= least[:K]
        resting = np.zeros_like(limits)
        resting[numbers] = stays[: numbers.size]
        e.hold(resting)
        if resting.any():
            e.reach(t, q, rates)
        self.closed[:] = self.slides[:] = self.starts[:] = False
        self.closed[points] = stays[numbers.size :]
        faster = after[K:].reshape(-1, 2)
        growth = np.linalg.norm(faster, axis=1)
        starts = ~moving & (growth > least[K::2]) & (law.friction > 0.0)
        along[starts] = faster[starts] / growth[starts, None]
        self.along[points] = along
        self.slides[points] = (moving | starts) & self.closed[points]
        self.starts[points] = (starts | (moving & slow_start)) & self.closed[points]

    def _still(self, t: float, q: np.ndarray, rates: np.ndarray, jump: Jump) -> Jump:
        """Return ``jump`` with the least change of rates that stops closed points; sticking ones also across."""
        points = np.flatnonzero(self.closed)
        if not points.size:
            return jump
        left = self._rates_at(t, q, rates + jump.rates)[points]
        E, _ = self._responses(points, self._rows[points])
        law = ContactLaw(points.size, np.arange(points.size), self.touching.friction[points])
        sticks = ~self.slides[points] & (law.friction > 0.0)
        c, every = np.concatenate([left[:, 0], left[:, 1:].ravel()]), np.ones(points.size, dtype=np.bool_)
        z = law.hold(E @ E.T, c, every, sticks, np.zeros((points.size, 2))).z
        return jump._replace(rates=jump.rates + self.equations.motion_of(E.T @ z))

    # ------------------------------------------------------------------------------------- impacts

    def _rows_of_impact(
        self, numbers: np.ndarray, points: np.ndarray, rows: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return responses E (n, nq), sizes without loops (n,), multipliers, bodies (n, 2) and Jacobians of all rows.

        Rows of the limits ``numbers``, of the normals of ``points``, then across these; call after `look`.
        """
        e, stops = self.equations, self.stops
        side, jacobian = self.touching.sides_and_jacobians(points, rows)
        side = np.concatenate([stops.side[numbers], side])
        of_limits = -stops.sign[numbers, None, None] * stops._gradient[numbers]
        jacobian = np.concatenate([of_limits, jacobian])
        return *e.impulse_motions(side, jacobian), side, jacobian

    def _impacts(
        self, t: float, q: np.ndarray, rates: np.ndarray, number: int, closing: bool
    ) -> tuple[Jump, tuple[np.ndarray, np.ndarray]]:
        """Return the jump by successive impacts, and which limits (nl,) and points (P,) are closed afterwards.

        ``number``: of the limit or point that is met, or -1; ``closing``: it closes without a rebound.
        """
        e, nl = self.equations, self.limits
        was = np.concatenate([e.held, self.closed])
        e.hold(np.zeros(nl, dtype=np.bool_))
        gap, rate = self.look(t, q, rates)
        touching = was | (gap[: nl + self.points] <= TOUCHING * self.unit[: nl + self.points])
        if number >= 0:
            touching[number] = True
        numbers, points = np.flatnonzero(touching[:nl]), np.flatnonzero(touching[nl:])
        both, K = np.flatnonzero(touching), int(touching.sum())
        unit = self.unit[both]
        slow = SLOW * unit
        rows = self._rows[points]
        E, alone, multiplier, side, jacobian = self._rows_of_impact(numbers, points, rows)
        S = E @ E.T
        fixed = np.diag(S)[:K] <= REDUNDANT**2 * alone[:K]
        along = self.touching.along(rows, e.velocity, points)
        u = np.concatenate([rate[both], along[:, 1:].ravel()])
        if (fixed & (u[:K] < -slow)).any():
            raise self.contacts.contradiction(self.element[both[fixed & (u[:K] < -slow)]])
        law = ContactLaw(K, numbers.size + np.arange(points.size), self.touching.friction[points])
        restitution = self.restitution[both].copy()
        lands = number >= nl + self.touching.planes and rate[number] >= -PARTING * self.unit[number]
        if number >= 0 and (closing or lands):
            restitution[both == number] = 0.0

        def rests(z: np.ndarray, after: np.ndarray) -> np.ndarray:
            first = self._gap_motion(t, q, rates, u[:K], (numbers, points))
            then = self._gap_motion(t, q, rates + e.motion_of(E.T @ z), after[:K], (numbers, points))
            return are_low(first, then, self.rest * unit, TOUCHING * unit)

        passing = np.where(both < nl, ~was[both] & (restitution > 0.0), both >= nl + self.touching.planes)
        arm = np.concatenate([self.stops.scale[numbers], np.ones(points.size)])
        hit = solve_impacts(law, S, u, restitution, was[both], passing, rests, unit, arm)
        held = np.zeros(nl + self.points, dtype=np.bool_)
        returns = (was[both] | (closing & (both == number))) & (gap[both] < -TOUCHING * unit) & (both < nl)
        closed = hit.closed | (returns & ((S @ hit.z)[:K] <= slow))  # as `Stops` has it
        slight = (hit.rates[:K] < SLIGHT * unit) | (closing & (both == number))
        parts = ~closed & (hit.rates[:K] > slow) & ((both >= nl) | slight)
        if parts.any():  # rebounds lower than ``rest`` return at once: they would rock a body that comes to rest
            closed |= parts & rests(hit.z, hit.rates)
            self.look(t, q, rates)
            e.factor()
        held[both] = closed & ~fixed
        motion = q, rates, e.motion_of(E.T @ hit.z)
        jump = self._jump(t, motion, hit, (numbers, points), (side, jacobian, hit.z @ multiplier))
        return jump, (held[:nl], held[nl:])

    def _gap_motion(
        self, t: float, q: np.ndarray, rates: np.ndarray, along: np.ndarray, who: tuple[np.ndarray, np.ndarray]
    ) -> GapMotion:
        """Return the motion of the gaps of the limits and points ``who``, which have the rates ``along`` (K,)."""
        numbers, points = who
        speed = along[: numbers.size]
        faster = self.stops._accelerations(t, q, rates, speed, numbers) if numbers.size else np.zeros(0)
        self.equations.acceleration(t, q, rates)
        return GapMotion(along, np.append(faster, self._rows_and_accelerations(points)[2][:, 0]))

    def _jump(
        self, t: float, motion: tuple[np.ndarray, np.ndarray, np.ndarray], hit: Impacts,
        who: tuple[np.ndarray, np.ndarray], exerted: tuple[np.ndarray, np.ndarray, np.ndarray],
    ) -> Jump:  # fmt: skip
        """Return the record of the impacts ``hit`` at the limits and points ``who``.

        ``motion``: q, rates before and their change, each (nq,). ``exerted``: bodies (n, 2) and Jacobians (n, 2, 6) of
        the rows, multipliers (row_count,) of loops.
        """
        e, (numbers, points), (side, jacobian, multiplier) = self.equations, who, exerted
        q, rates, change = motion
        work, impulse = np.zeros(e.ne), np.zeros(self.size)
        parts, of_limits = self.contacts.parts(impulse), self.stops.element[numbers]
        element = self.touching.element[points]
        np.add.at(work, np.concatenate([of_limits, element, np.repeat(element, 2)]), hit.energy)
        np.subtract.at(parts.along, of_limits, self.stops.sign[numbers] * hit.z[: numbers.size])
        q, rates, _ = e.imposed(t, q, rates)
        e.place_and_move(q, rates)
        load, n = np.zeros((e.nb + 1, 6)), numbers.size
        wrench, p = np.zeros((self.points, 6)), points.size
        pushes = hit.z[:, None, None] * jacobian
        wrench[points] = pushes[n : n + p, 0] + pushes[n + p :, 0].reshape(p, 2, 6).sum(axis=1)
        self.contacts.ground.add_wrenches(wrench[: self.touching.planes], parts.ground)
        if self.contacts.driven:
            np.add.at(load, side, pushes)
            by_loops = multiplier @ e.violations(q, rates)[2]
            parts.drives[:] = (e.mass_matrix() @ change - e.generalised(load[:-1]) - by_loops)[e.driven_columns]
        return Jump(change, work, impulse)
