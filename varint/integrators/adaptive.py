"""A run in maximal coordinates whose steps follow the motion."""

from varint.errors import ArgumentError
from varint.integrators.run import MaximalRun
from varint.kernels.step import SAME_TIME
from varint.running import Block

TURN = 0.1  # rad, of the fastest body in a step where nothing else is asked for


class AdaptiveRun(MaximalRun):
    """A `MaximalRun` whose steps follow the motion and stay reversible, see `varint.kernels.pace`.

    It goes to the last node before its end; from there a step aside leads to the end, which is recorded last.
    """

    @property
    def done(self) -> float:
        """s"""
        return self.time

    @property
    def total(self) -> float:
        """s"""
        return self.march.end

    @property
    def finished(self) -> bool:
        """Whether all steps are done."""
        return self.march.is_over

    def advance(self, steps: int) -> Block:
        """March ``steps`` steps, or up to the last or to the one that fails."""
        self._give(steps)
        return self._marched(steps)

    def tail(self) -> Block:
        """The state at the end, or that of the node before the step that failed where it is not recorded."""
        left = (self.march.end - self.time) / self.march.dt
        if self.failure is not None or left <= SAME_TIME:
            return super().tail()
        self._give(0)
        found = self.march.aside(left)
        if found is None:
            assert self.march.failure is not None
            self.failure = self._named(*self.march.failure)
            return self._block(self.march.advance(0), 0.0)
        found.t[:] = self.march.end
        return self._block(found, 0.0)


def check_adaptive(run: MaximalRun) -> None:
    """That steps of a run may follow its motion; raises ArgumentError."""
    if run.march.compiled.plan.limits.measure.size:
        raise ArgumentError(
            "adaptive steps cannot meet hard stops, which end a step where they are hit: give the stops a stiffness, or"
            " take steps of dt"
        )
    if run.loads.varies or run.commands.varies or run.controllers:
        raise ArgumentError(
            "adaptive steps need loads and inputs of forces that are constant: their nodes are not known beforehand"
        )
    if run.march.scheme.staggered:
        raise ArgumentError("adaptive steps need order 2 or above: order 1 starts half a step before its first node")
