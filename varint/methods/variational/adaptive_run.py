"""Runs in maximal coordinates whose steps follow the motion."""

import numpy as np

from varint.base.errors import ArgumentError
from varint.mechanism.mechanism import Mechanism
from varint.methods.variational.march import March
from varint.methods.variational.maximal_run import MaximalRun
from varint.methods.variational.outputs import AtTimes
from varint.model.state import State
from varint.results.inputs.at_nodes import Commands, Loads
from varint.runs.run import Block, Failure, Reached
from varint.step.step import SAME_TIME

ENDLESS = 1e9  # steps of a run
TURN, TURN_OF_SECOND_ORDER = 0.1, 0.05  # rad, of the fastest body in a step where nothing else is asked for


class AdaptiveRun(MaximalRun):
    """A run whose steps follow the motion and stay reversible, see `varint.step.pace`.

    It goes to the last node before its end; from there a part of a step leads to the end, which is recorded last.
    Prescribed motions that are functions of time are cubics over each step.
    """

    def __init__(
        self, mechanism: Mechanism, march: March, state: State, steps: int, loads: Loads, commands: Commands
    ) -> None:
        super().__init__(mechanism, march, state, steps, loads, commands)
        self.stepwise = self.stepwise or commands.varies

    @property
    def reached(self) -> Reached:
        """Progress of the run, in s."""
        return super().reached._replace(done=self.time, total=self.march.end)

    @property
    def finished(self) -> bool:
        """Whether all whole steps are done."""
        return self.march.is_over

    def advance(self, steps: int) -> Block:
        """March ``steps`` steps, or up to the last or to the one that fails; fails where they would never end."""
        march = self.march
        size = march.dt / float(march.ws.pace.density[0])
        if not march.end <= ENDLESS * size:
            self.failure = Failure(
                f"the steps that follow the motion at t = {march.time:g} s are as short as {size:.3g} s, and more than"
                f" {ENDLESS:g} of them lead to t = {march.end:g} s. Equal steps, without adaptive=True, pass over what"
                " is that fast; a stiffness that is too large by powers of ten may be its cause",
                march.time,
            )
            return self.block(march.nothing(), 0.0)
        self._give(1)
        return self._marched(steps)

    def tail(self) -> Block:
        """Return the state at the end, or that of the node before the step that failed where it is not recorded."""
        left = (self.march.end - self.time) / self.march.dt
        if self.failure is not None or left <= SAME_TIME:
            return super().tail()
        return self.instant(left, self.march.end)

    def _give(self, steps: int, share: float | None = None) -> None:
        """Set loads, and the commands at the present node and at the end of the next step, or of the run."""
        march = self.march
        end = min(march.next_time, march.end)
        width = (end - march.time) / march.dt
        inputs, rates = self._commands_at(np.array([march.time, end]) / march.dt)
        width = width if width > SAME_TIME else 1.0
        step = np.array([march.time]), width if share is None else share, width
        functions = self._of_time(*step), self._aims(*step)
        march.give(self.loads.constant, self.loads.at(np.arange(1)), inputs, rates, width, *functions)


class AdaptiveAtTimes(AtTimes, AdaptiveRun):
    """An adaptive run that is recorded at times."""

    def at(self, times: np.ndarray) -> "AdaptiveAtTimes":
        """Record at ``times``, s, which rise and lie within the run."""
        self.times = times[(times > 0) & (times < self.march.end)]  # start and end are recorded anyway
        return self

    @property
    def finished(self) -> bool:
        """Whether all steps are done, and all times recorded."""
        return self.march.is_over and self.taken == len(self.times)

    def tail(self) -> Block:
        """Return the state at the end; after a failure the last node, where it is later than all recorded ones."""
        return super().tail() if self.failure is not None else AdaptiveRun.tail(self)

    def _share(self) -> float:
        left = (self.times[self.taken] - self.time) / self.march.dt
        return left if left > SAME_TIME else 0.0

    def _is_between(self) -> bool:
        return self.taken < len(self.times) and self.march.passes(self.times[self.taken])

    def _reach(self, last: int) -> int:
        self.march.stop = self.times[self.taken] if self.taken < len(self.times) else np.inf
        return last


def default_turn(order: int) -> float:
    """Return the largest turn of the fastest body in a step, rad, with ``adaptive=True``."""
    return TURN if order > 2 else TURN_OF_SECOND_ORDER


def check_adaptive(run: MaximalRun) -> None:
    """Check that steps of a run may follow its motion; raises ArgumentError."""
    if run.loads.varies:
        raise ArgumentError(
            "adaptive steps cannot take loads with one value a node, for their nodes are not known beforehand: give"
            " loads on bodies that change by a force, such as PointForce"
        )
