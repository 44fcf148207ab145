"""Changes of the state carried along a run with events, whose instants move."""

from collections.abc import Callable

import numpy as np

from varint.derivatives.event_checks import (
    Drifts,
    check_met,
    check_rebounds,
    check_stays,
    last_of_step,
    shares,
)
from varint.mechanism.mechanism import Mechanism
from varint.step.derivatives.columns import carry_forward
from varint.step.derivatives.instants import carry_instants
from varint.step.events import margin_at
from varint.step.limits.impact_derivatives import event_ahead
from varint.step.limits.parts import is_release
from varint.step.plan import Tangent, Tape, Workspace
from varint.step.workspace import states_of

NO_INPUTS = np.zeros(0, dtype=np.int64), np.zeros(0)


class EventCarrier:
    """Takes changes of pose and momenta (n, nb, 12), and of the states of laws, along the stages of a run.

    Parameters
    ----------
    mechanism : Mechanism
    ws, work : Workspace, Tangent
        Beside the run; what they hold is lost.
    drifts : Drifts
    stages : int
        Of the scheme: a sub-step has so many.
    carry : callable
        From stages (first, last + 1), changes and states, which it takes along between events, in place.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        ws: Workspace,
        work: Tangent,
        drifts: Drifts,
        stages: int,
        carry: Callable[[tuple[int, int], np.ndarray, np.ndarray], None],
    ) -> None:
        self.mechanism, self.plan = mechanism, mechanism.compiled.plan
        self.ws, self.work, self.drifts, self.size, self._between = ws, work, drifts, stages, carry

    def carry(self, tape: Tape, changes: np.ndarray, states: np.ndarray) -> None:
        """Carry changes from the start of the stages on the tape to their end, in place; raises ArgumentError."""
        self.tape, self.changes, self.states = tape, changes, states
        self.shift = np.zeros(len(changes))  # s: by how much later the present sub-step begins
        self.last = -1  # stage, whose end does not move
        done, events = 0, tape.events
        for j in range(int(events.count[0])):
            stage, timed = int(events.stage[j]), bool(events.timed[j])
            check_rebounds(self.mechanism, tape, j)
            self._carry(done, stage - timed * self.size)
            if timed:
                self._timed(j, stage - self.size)
            elif not is_release(tape, j):
                check_stays(self.mechanism, tape, j, self._margin(j), changes)
            done = stage
            self._event(j)
        self._carry(done, int(tape.count[0]))

    def _carry(self, first: int, last: int) -> None:
        """Carry through stages first to last - 1, in which no event is timed."""
        while first < min(last, self.last + 1):
            is_last = first + self.size > self.last
            self._substep(first, np.zeros_like(self.shift) if is_last else self.shift)
            first += self.size
        if first < last:
            self._between((first, last), self.changes, self.states)

    def _substep(self, first: int, after: np.ndarray) -> None:
        """Carry through the sub-step that ends so much later (n,), s, as it began later by ``shift``."""
        at = shares(self.tape, first, self.size)[:, None]
        shifts = (1.0 - at) * self.shift + at * after
        for k in range(self.size):
            self._between((first + k, first + k + 1), self.changes, self.states)
            if shifts[k : k + 2].any():
                _add(self.changes, self.states, shifts[k : k + 2], *self._by_instants(first + k))
        self.shift = after.copy()

    def _timed(self, j: int, first: int) -> None:
        """Carry through the sub-step whose end is the instant of event j."""
        tape, end = self.tape, first + self.size - 1
        if self.last < first:
            self.last = last_of_step(tape, first, int(tape.count[0]))
        if self.last == end:  # the event is at the very end of the step: nothing gets shorter
            self._substep(first, np.zeros_like(self.shift))
            check_stays(self.mechanism, tape, j, self._margin(j), self.changes)
            return
        at = shares(tape, first, self.size)[:, None]
        shifts, by_end = (1.0 - at) * self.shift, np.zeros((1, *self.changes.shape[1:]))
        of_laws = np.zeros((1, self.states.shape[1]))
        for k in range(self.size):
            stages = first + k, first + k + 1
            self._between(stages, self.changes, self.states)
            begun = np.empty_like(by_end)
            carry_forward(self.plan, self.ws, tape, self.work, stages, NO_INPUTS, by_end, begun, of_laws)
            instants = self._by_instants(first + k)
            _add(self.changes, self.states, shifts[k : k + 2], *instants)
            _add(by_end, of_laws, at[k : k + 2], *instants)
        margin = self._margin(j)
        rate = float(np.sum(margin * by_end))
        check_met(self.mechanism, tape, j, rate)
        self.shift = -np.tensordot(self.changes, margin, 2) / rate
        self.changes += self.shift[:, None, None] * by_end
        self.states += self.shift[:, None] * of_laws

    def _margin(self, j: int) -> np.ndarray:
        """Return the gradient (nb, 12) of the margin at event j by pose and momenta."""
        margin = np.zeros(self.changes.shape[1:])
        margin_at(self.plan, self.ws, self.tape.events, j, margin)
        return margin

    def _event(self, j: int) -> None:
        rates = np.zeros((len(self.changes), self.plan.rows.role.size))
        if self.shift.any():
            drift = self.drifts.of_stage(self.tape, int(self.tape.events.stage[j]) - 1)
            rates += self.shift[:, None] * drift.target_rate
        event_ahead(self.plan, self.ws, self.tape.events, j, self.work, rates, self.changes)

    def _by_instants(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return changes (2, nb, 12) of pose and momenta at the end of stage k by the instants of its start and end.

        Per second; also those (2, states) of the states of laws.
        """
        plan, ws, work, drift = self.plan, self.ws, self.work, self.drifts.of_stage(self.tape, k)
        by_instants, states = np.zeros((2, *self.changes.shape[1:])), np.zeros((2, states_of(plan)))
        carry_instants(plan, ws, self.tape, work, k, NO_INPUTS, (drift.load, drift.target), by_instants, states)
        elements = np.flatnonzero(drift.input)
        if elements.size:  # the inputs are those in the middle of the stage
            by_inputs = np.zeros((elements.size, *by_instants.shape[1:]))
            inputs, none = (elements, self.drifts.spans[elements]), np.zeros((elements.size, states.shape[1]))
            begun = np.empty_like(by_inputs)
            carry_forward(plan, ws, self.tape, work, (k, k + 1), inputs, by_inputs, begun, none)
            by_instants += 0.5 * np.tensordot(drift.input[elements], by_inputs, 1)
        return by_instants, states


def _add(
    changes: np.ndarray, states: np.ndarray, shifts: np.ndarray, by_instants: np.ndarray, of_laws: np.ndarray
) -> None:
    """Add to changes and states the effect of a stage whose start and end are later by ``shifts`` (2, n), s."""
    changes += np.tensordot(shifts, by_instants, (0, 0))
    states += shifts.T @ of_laws
