"""Steps of collocation in which hard stops and contacts are met or let go: in parts that end at these events.

Impacts, and the bracket of the search for their instants, are those of the other steps (step/limits/impacts.py). Trials
are placed here: at the root of the gap's polynomial, then by Newton's method with the rate of the gap. Where closed
contacts let go, slip or stick is found by regula falsi in the margin of the event at the end of a part.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from varint.base.numba import STATE, role_arrays, spans_of, word_of
from varint.step.collocation.contacts import (
    KINDS,
    LETS_GO,
    SLIPS,
    STICKS,
    TURNS,
    change_contact,
    contact_changes,
    contact_gap_and_rate,
    margin_of_contacts,
    meets_contacts,
    note_slips,
    place_contacts,
    settle_landed,
    settle_states,
)
from varint.step.collocation.facing import (
    begin_facing,
    faces,
    look_at_faces,
    renew_features,
    share_of_part,
    turn_features,
)
from varint.step.collocation.gap_polynomials import UNRESOLVED, WHOLE
from varint.step.collocation.records import NodeWorkspace
from varint.step.collocation.stops import (
    STOPS,
    TRIAL,
    StopWatch,
    energies_at,
    gap_and_rate,
    keep_start,
    keep_trial,
    lets_go,
    meets_stops,
    place_stops,
    show_at,
    take_momenta,
)
from varint.step.contacts.accelerations import take_closed
from varint.step.contacts.events import SLOWLY
from varint.step.inputs import Inputs
from varint.step.intervals import Interval
from varint.step.limits.bracket import SAME, SEARCH
from varint.step.limits.impact_rows import MOST_CHANGES, PARTING
from varint.step.limits.impacts import (
    RUN_STARTS,
    act_event,
    begin_events,
    find_pushes,
    judge_trial,
    retry_events,
)
from varint.step.newton import CONVERGED, NOT_CONVERGED
from varint.step.pace import accelerate_node
from varint.step.plan import Plan, Workspace
from varint.step.restart import ACCEPTED, AGAIN, AT_START, SHORTEST_SHARE
from varint.step.sizes import unit_of_length
from varint.step.step import MOST_TRIALS

if TYPE_CHECKING:
    from varint.methods.variational.collocation_march import CollocationMarch

MOST_LOOKS = 20  # cuts of one part where its polynomials show an event; a gap that closes even then fails the step
PULLS_SEEN = 3  # of these, where a closed stop may pull: after that it does so from the start of the part on
MOST_PIECES = 1000  # parts of a step that are done: more are a search that does not end
LAST_SHARE = 1e-9  # of a step: where a slip ends within it the contact sticks
SOON = 1e-6  # of a step: other features within it are taken at its end; shorter parts have their energy looked at
LEAST = 1e-12  # of a step: over a shorter part the round-off of poses would look like a velocity
SAME_ENERGY = 1e-9  # of the kinetic energy: less of it may come or go without work in an event, ...
SHORT_ENERGY = 1e-5  # ... or in a part of a step that is shorter than `SOON`
END = 1e-14  # of a step: less that is left counts as none
CALLED = (  # compiled before the first step
    keep_start, meets_stops, lets_go, show_at, take_momenta, gap_and_rate, keep_trial, place_stops, find_pushes,
    accelerate_node, energies_at,
)  # fmt: skip
OF_SHAPES = begin_facing, share_of_part, look_at_faces, faces, renew_features, turn_features
OF_CONTACTS = (
    place_contacts, meets_contacts, contact_changes, margin_of_contacts, change_contact, contact_gap_and_rate,
    settle_landed, settle_states, note_slips, take_closed,
)  # fmt: skip


def watch_stops(
    plan: Plan, ws: Workspace, work: NodeWorkspace, arrays: list[tuple[str, np.ndarray]]
) -> StopWatch | None:
    """Let steps with events be rejected; return the record for that, None without hard stops and contacts.

    The caller keeps it alive: ``work.stops`` has its address. ``arrays``: all that steps depend on, by name.
    """
    contacts = plan.contacts.body.size > 0
    if not (plan.limits.measure.size or contacts):
        return None
    shapes = plan.contacts.pair_shape.size > 0
    for function in CALLED + OF_CONTACTS * contacts + OF_SHAPES * shapes:
        function.prepare()
    spans, words = spans_of((array, False) for _, array in arrays)
    nb, ne = plan.bodies.mass.size, plan.elements.force.size
    table, rate, loads = np.zeros((2, ne)), np.zeros((2, ne)), np.zeros((2, nb, 6))
    none, numbers = np.zeros(0, dtype=np.int64), np.zeros(0)
    inputs = Inputs(
        np.zeros((nb, 6)), loads.view(), table.view(), rate.view(), np.zeros(1, dtype=np.int64), np.ones(1), none,
        numbers, np.zeros((1, 0, 0)), none, numbers, np.zeros((1, 0, 0)), np.zeros((1, 0, 0)),
    )  # fmt: skip
    held = np.zeros((2, len(work.by), plan.limits.measure.size))
    watch = StopWatch(spans, np.zeros(words, dtype=np.int64), inputs, table, rate, loads, *held)
    work.watch[0], work.stops[0] = STOPS, word_of(watch)
    return watch


@contextmanager
def start_kept(ws: Workspace) -> Iterator[None]:
    """Keep the mark of the first step of a run through a step to an instant between nodes."""
    before = int(ws.search.limit[0])
    try:
        yield
    finally:
        ws.search.limit[0] = before


def take_with_events(march: "CollocationMarch", counts: np.ndarray, width: float) -> bool:
    """Take the next ``width`` dt in parts that end at events, or are shorter where that is needed to solve them.

    In the first step of a run stops that touch and approach have their impacts first; it is then taken whole if it has
    no other event. Return False where a part was not solved: the march is then where it was, but for ``counts`` (2,),
    of iterations and sub-steps, which are added to.
    """
    start, search = march.checkpoint(), march.ws.search
    starts = search.limit[0] == RUN_STARTS
    parts = PartedStep(march, counts, width)
    parts.begin()
    if starts:
        march.relax(width)
    if starts and march.longest_share == 1.0 and march.take_whole(width, counts):
        return True
    march.work.watch[0] = TRIAL
    solved = parts.take()
    march.work.watch[0], search.limit[0] = STOPS, -1
    if not solved:
        march.restore(start)
        return False
    march.drop_start_values()  # of steps of another length
    march.pass_node()
    return True


class Bracket(NamedTuple):
    """The search for the instant of an event of a closed contact: its margins at shares of a step before and after it.

    ``low_margin`` is not positive as long as no share before the event is known.
    """

    contact: int
    kind: int
    low: float
    low_margin: float
    high: float
    high_margin: float
    beyond: bool = True  # whether the last trial was after it
    trials: int = 0

    def narrowed(self, part: float, margin: float) -> "Bracket":
        """Return the bracket with a trial at ``part``; an end that stays twice counts half."""
        if margin <= 0.0:
            kept = 0.5 * self.low_margin if self.beyond else self.low_margin
            return self._replace(low_margin=kept, high=part, high_margin=margin, beyond=True, trials=self.trials + 1)
        kept = self.high_margin if self.beyond else 0.5 * self.high_margin
        return self._replace(low=part, low_margin=margin, high_margin=kept, beyond=False, trials=self.trials + 1)

    @property
    def crossing(self) -> float:
        """Return the share to try next: the zero of the line through both ends."""
        if self.low_margin <= 0.0:
            return 0.5 * self.high
        if self.kind == TURNS:  # no more is known than before or after
            return 0.5 * (self.low + self.high)
        return self.low + (self.high - self.low) * self.low_margin / (self.low_margin - self.high_margin)

    @property
    def is_used_up(self) -> bool:
        """Return whether further trials would not help."""
        soon = self.kind == TURNS and self.high < SOON
        return soon or self.trials > SEARCH or self.high - self.low < SAME


class PartedStep:
    """A step of ``width`` dt of a `CollocationMarch` in parts.

    ``counts`` (2,): of iterations and sub-steps, added to. ``search.limit`` (1,) holds the number of the stop whose
    event is searched for, that of a contact after those of all stops, -1 for none, or RUN_STARTS.
    """

    def __init__(self, march: "CollocationMarch", counts: np.ndarray, width: float) -> None:
        self.march, self.counts, self.width = march, counts, width
        self.plan, self.ws, self.search = march.compiled.plan, march.ws, march.ws.search
        self.arrays = [array for _, array in role_arrays(march.work, STATE)]
        self.kept = [np.empty_like(array) for array in self.arrays]
        self.touches = self.plan.contacts.body.size > 0
        self.has_shapes = self.plan.contacts.pair_shape.size > 0
        self.part = 1.0  # the share of the step that was solved last, at whose ends ``watch.inputs`` are
        self.works = np.zeros(self.plan.elements.force.size)
        self.before = (0.0, 0.0)  # `_energies` at the start of the part
        self.changes, self.most_changes = 0, MOST_CHANGES + KINDS * self.plan.contacts.body.size
        # whether the step fails: too many events, one that cannot be located, or one that changes energy without work
        self.is_lost = False
        self.bracket: Bracket | None = None
        self.event: Bracket | None = None  # the one whose event acts next

    def begin(self) -> None:
        """Begin the search for events; momenta may change, by impacts where a run starts, or by floors that close."""
        self._show(0)
        before = self.ws.momentum.copy()
        begin_events(self.plan, self.ws, 0, self.width * self.march.dt)
        if not np.array_equal(before, self.ws.momentum):
            if self.touches:
                self.march.note_inputs(self.width)
                self._settle(0.0, -1)
            take_momenta(self.ws, self.march.tree, self.march.work)
            self.march.drop_start_values()
            self.march.relax(self.width)

    def take(self) -> bool:
        """Take the step; return whether all parts were solved. As `advance_step` of step/step.py.

        A part that shows an event before its end is cut there; one that is not solved is halved; the others are judged:
        AGAIN tries another share, AT_START lets an event act at the start first, ACCEPTED goes on from the end.
        """
        # shares of the step: done, the bound of a part after failures, the part that is tried
        done, size, part = 0.0, 1.0, 1.0
        tried, looks, pieces = 0, 0, 0  # trials of a part, parts cut where an event was seen, parts that are done
        search, farthest = self.search, self._farthest(1.0)
        self._keep()
        while done < 1.0:
            longest_share = self.march.longest_share
            longest = min(size, 1.0 - done, longest_share, farthest)
            part = min(part, longest)
            status, seen, expected = self._try(done, part)
            tried += 1
            most = MOST_LOOKS if expected >= 0.0 else PULLS_SEEN if search.changes[0] < MOST_CHANGES else 0
            short = part * seen < (LEAST if expected >= 0.0 else SOON)
            if status == CONVERGED and seen < WHOLE and looks < most and not short:
                self._back()
                search.limit[0], part, looks, self.bracket = -1, part * seen, looks + 1, None
                continue
            if status == CONVERGED and seen < WHOLE and expected >= 0.0:
                return False  # a gap closes within the part, however short
            verdict, least = self._judge(part, longest, expected) if status == CONVERGED else (ACCEPTED, part)
            if status == CONVERGED and self.touches:
                verdict, least = self._judge_contacts(part, longest, verdict, least)
            if tried > MOST_TRIALS or pieces > MOST_PIECES or self.is_lost:
                return False
            if status != CONVERGED:
                self._back()
                self.bracket = None
                size = 0.5 * (size if search.limit[0] >= 0 else min(size, part))
                if size < SHORTEST_SHARE * longest_share:
                    contact = self._slowest_slip()  # a slip that ends turns ever faster, then it sticks
                    if contact < 0:
                        return False
                    if size < LAST_SHARE:
                        self.event = Bracket(contact, STICKS, 0.0, -1.0, size, -1.0)
                        self._act(False)
                        self._keep()
                        size, part = 1.0, 1.0
                        continue
                part = min(size, 1.0 - done, longest_share)
                retry_events(self.plan, self.ws, 0, self.width * self.march.dt * part)
            elif verdict != ACCEPTED:
                self._back()
                if verdict == AT_START:
                    contact = int(search.limit[0]) - self.plan.limits.measure.size
                    self._act(False)
                    self._keep()
                    if contact >= 0 and not self.ws.contacts.closed[contact]:
                        least = 0.5 * part  # the same part would close it again
                elif self.has_shapes and search.limit[0] < 0 and self.bracket is None:
                    size = least  # shapes met by features without a slot: longer parts would show it again
                part = least
            else:
                if part < LEAST and done + part < 1.0 - END:
                    return False
                judged = part < SOON and done + part < 1.0 - END
                done = 1.0 if done + part > 1.0 - END else done + part
                self._show(0)
                if judged and not self._keeps(self.before, SHORT_ENERGY):
                    return False
                if search.limit[0] >= 0 or self.event is not None:
                    self._act(True)
                    size = 1.0
                if self.has_shapes and done < 1.0:
                    size = min(1.0, 2.0 * size)
                    renew_features(self.plan, self.ws, self.march.work, 0, self.width * self.march.dt * (1.0 - done))
                    farthest = self._farthest(1.0 - done)
                self._keep()
                part, tried, pieces, looks = 1.0, 0, pieces + 1, 0
        self.counts[1] += pieces - 1
        return not self.is_lost  # an event at the end of the last part may have lost it

    def _farthest(self, left: float) -> float:
        """Return the share of the step in which shapes that could meet move little; ``left``: share that remains."""
        if not self.has_shapes:
            return 1.0
        return left * share_of_part(self.plan, self.ws, self.march.work, self.width * self.march.dt * left)

    def _try(self, done: float, part: float) -> tuple[int, float, float]:
        """Solve a part from ``done`` on, both shares of the step; return the status and two shares of the part.

        Those of `meets_stops`: where an event was seen first, WHOLE for none, and where a gap is expected to close, -1
        where that is not known.
        """
        march = self.march
        march.drop_start_values()
        status = march.take_part(self.width * done, self.width * part, self.counts)
        self.part = part if status == CONVERGED else self.part
        seen, expected = march.work.meets.tolist()
        if status == CONVERGED and seen == UNRESOLVED:
            status = NOT_CONVERGED
        return status, seen, expected

    def _judge(self, part: float, longest: float, expected: float) -> tuple[int, float]:
        """Return the verdict on a part that was solved, and the part to try next, a share of the step."""
        search, span, watch = self.search, self.width * self.march.dt, self.march.watch
        assert watch is not None
        self._show(1)
        n, guess, limits = int(search.limit[0]), part * expected, self.plan.limits.measure.size
        if n >= limits or (n >= 0 and not self.ws.efforts.closed[n]):
            measured, number = (contact_gap_and_rate, n - limits) if n >= limits else (gap_and_rate, n)
            gap, rate = measured(self.plan, self.ws, 1, number)
            guess = part - gap / (rate * span) if rate != 0.0 else -1.0  # Newton's method
        when = Interval(0, 0.0, 1.0, span * part)  # the nodes of ``watch.inputs`` are the ends of the part
        verdict, least = judge_trial(self.plan, self.ws, watch.inputs, 0, 1, when, part, longest, True)
        same = n in (-1, search.limit[0])
        if verdict not in (ACCEPTED, AT_START) and same and max(search.low[0], 0.0) < guess < search.high[0]:
            return verdict, guess
        return verdict, least

    def _slowest_slip(self) -> int:
        """Return the contact that slides slowest, more slowly than `SLOWLY`, or -1.

        Where its slip ends its direction may turn ever faster, so that steps up to there, and not beyond, are solved.
        """
        moving = self.march.work.touch.slide.any(axis=1) & self.ws.contacts.closed
        speed = np.where(moving, np.hypot(*self.ws.contacts.slip.T), np.inf)
        slow = SLOWLY * unit_of_length(self.plan.bodies.length[0])
        return int(np.argmin(speed)) if speed.size and speed.min() < slow else -1

    def _judge_contacts(self, part: float, longest: float, verdict: int, least: float) -> tuple[int, float]:
        """Return verdict and next part, see `_judge`, by the contacts too: a search for an event of one may begin."""
        search, self.event = self.search, None
        if verdict != ACCEPTED:
            self.bracket = None
            return verdict, least
        if self.bracket is not None:
            margin = self._margin(1, part, self.bracket)[0]
            self.bracket = self.bracket.narrowed(part, margin)
            if margin > 0.0 or not (margin >= -1.0 or self.bracket.is_used_up):
                search.limit[0] = -1
                if self.bracket.high < LAST_SHARE:  # of shorter parts gaps have the round-off of fast motions
                    self.event, self.bracket = self.bracket, None
                    self.is_lost = self.event.kind != STICKS
                    return AT_START, longest
                return AGAIN, self.bracket.high if self.bracket.is_used_up else self.bracket.crossing
        if self.bracket is not None and self.bracket.kind == STICKS:
            # the slip is at right angles to its direction at the start of the part, and not zero: it has turned
            slip = self.march.work.touch.slip[self.bracket.contact]
            if np.hypot(*slip) > SLOWLY * unit_of_length(self.plan.bodies.length[0]):
                shorter, self.bracket, search.limit[0] = 0.5 * self.bracket.high, None, -1
                return AGAIN, shorter
        margin, contact, kind = self._margin(1, part, None)
        if margin < -1.0 and not self._is_of(contact, kind):
            search.limit[0], self.changes = -1, self.changes + 1
            self.is_lost = self.changes > self.most_changes
            self.bracket = Bracket(contact, kind, 0.0, -1.0, part, margin)
            self._back()
            at_start = self._margin(0, part, self.bracket)[0]
            self.bracket = self.bracket._replace(low_margin=at_start if at_start > 1.0 else -1.0)
            if at_start > 1.0 or (kind == STICKS and part > SHORTEST_SHARE):
                return AGAIN, self.bracket.crossing
            self.event, self.bracket = self.bracket, None
            return AT_START, longest
        if self.bracket is not None:
            search.limit[0] = -1
        self.event, self.bracket = self.bracket, None
        return verdict, least

    def _is_of(self, contact: int, kind: int) -> bool:
        """Return whether the bracket is that of an event."""
        return self.bracket is not None and self.bracket.contact == contact and self.bracket.kind == kind

    def _margin(self, pose: int, part: float, of: Bracket | None) -> tuple[float, int, int]:
        """Return `margin_of_contacts` at the start or the end of a ``part``, by its ``pose``, 0 or 1."""
        watch, span = self.march.watch, self.width * self.march.dt * part
        assert watch is not None
        which = (-1, LETS_GO) if of is None else (of.contact, of.kind)
        return margin_of_contacts(self.plan, self.ws, self.march.work, watch.inputs, pose, float(pose), span, *which)

    def _energies(self) -> tuple[float, float]:
        """Return the kinetic energy at pose 0 and the work up to there, J."""
        return energies_at(self.plan, self.ws, 0, self.works)

    def _keeps(self, before: tuple[float, float], share: float) -> bool:
        """Return whether no more than a ``share`` of the kinetic energy came or went without work since `_energies`.

        And no more than that at the speed `SLOWLY`, at which landings are not located. Either the kinetic energy or
        that less the work has to stay: an event of a closed contact may correct the work of the part before.
        """
        kinetic, work = self._energies()
        slow = 0.5 * self.plan.bodies.mass.sum() * (SLOWLY * unit_of_length(self.plan.bodies.length[0])) ** 2
        change = kinetic - before[0]
        return bool(min(abs(change), abs(change - work + before[1])) <= share * max(kinetic, before[0]) + slow)

    def _act(self, timed: bool) -> None:
        """Let the event at pose 0 act; ``timed``: whether the part before ends at it.

        The step is lost where energy comes or goes without work in it.
        """
        before = self._energies()
        self._let_act(timed)
        self.is_lost = self.is_lost or not self._keeps(before, SAME_ENERGY)

    def _let_act(self, timed: bool) -> None:
        """Do `_act` without a look at the energy."""
        plan, ws, work, event = self.plan, self.ws, self.march.work, self.event
        contact = int(self.search.limit[0]) - plan.limits.measure.size
        beside = self.has_shapes and event is None and timed and contact >= 0
        if beside and not faces(plan, ws, work, 0, contact):
            self.search.limit[0] = -1  # a feature beside the shape was met: other ones face each other there
            return
        if event is not None:
            self._margin(0, 0.0, None)  # the slips there
            change_contact(plan, ws, work, 0, event.contact, event.kind)
        else:
            rests = contact >= 0 and not timed and not self._approaches(contact)
            closed = ws.efforts.closed.copy()
            act_event(plan, ws, 0, timed)
            for n in np.flatnonzero(~closed & ws.efforts.closed & rests):  # closed along with it, it would pull
                self.search.limit[0] = n
                act_event(plan, ws, 0, False)
            self.march.relax(self.width)
            if contact >= 0 and not timed:
                settle_landed(plan, ws, 0)
        if self.touches:
            slips = event.contact if event is not None and event.kind == SLIPS else -1
            self._settle(float(timed), slips)
        self.event = None
        take_momenta(ws, self.march.tree, work)

    def _approaches(self, contact: int) -> bool:
        """Return whether a contact that touches at pose 0 has an impact, and does not just rest."""
        least = PARTING * unit_of_length(self.plan.bodies.length[0])
        return contact_gap_and_rate(self.plan, self.ws, 0, contact)[1] < -least

    def _settle(self, share: float, slips: int) -> None:
        """Let closed contacts slide or stick at pose 0, at a ``share`` of the last part, see `settle_states`."""
        watch = self.march.watch
        assert watch is not None
        settle_states(
            self.plan, self.ws, self.march.work, watch.inputs, 0, share, self.width * self.march.dt * self.part, slips
        )

    def _keep(self) -> None:
        """Keep the state at pose 0, where the next part starts, for `_back`, and its energies."""
        self.before = self._energies()
        keep_trial(self.plan, self.ws, False)
        for kept, array in zip(self.kept, self.arrays, strict=True):
            kept[:] = array

    def _back(self) -> None:
        """Go back to the start of the part."""
        keep_trial(self.plan, self.ws, True)
        for kept, array in zip(self.kept, self.arrays, strict=True):
            array[:] = kept

    def _show(self, pose: int) -> None:
        show_at(self.plan, self.ws, self.march.tree, self.march.work, pose)
