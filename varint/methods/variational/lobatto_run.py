"""A run by collocation."""

from collections.abc import Mapping

import numpy as np

from varint.mechanism.mechanism import Mechanism
from varint.methods.variational.blocked_starts import blocked_limits
from varint.methods.variational.collocation_march import MOST_PARTS, CollocationMarch
from varint.methods.variational.maximal_run import MaximalRun
from varint.methods.variational.node_block import NodeBlock
from varint.methods.variational.outputs import RunAtTimes
from varint.model.state import State
from varint.results.inputs.at_nodes import Commands, Loads
from varint.runs.run import Failure

FASTEST = {4: 2.828, 6: 3.113, 8: 3.1406, 10: 6.253}  # by order: a step times the frequency of a spring, at most


class LobattoRun(MaximalRun):
    """See `MaximalRun`: a run of `Lobatto`."""

    march: CollocationMarch

    def __init__(
        self,
        mechanism: Mechanism,
        march: CollocationMarch,
        state: State,
        steps: int,
        loads: Loads,
        commands: Commands,
    ) -> None:
        super().__init__(mechanism, march, state, steps, loads, commands)
        march.inputs_within = self._inputs_within

    def checkpoint(self) -> dict[str, np.ndarray]:
        """See `MaximalRun`; with the inputs that functions of the state gave, and their slopes."""
        return super().checkpoint() | {"given": self.march.inputs.copy(), "slopes": self.slopes.copy()}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Go back to a `checkpoint`."""
        super().restore(saved)
        self.march.inputs, self.slopes = saved["given"].copy(), saved["slopes"].copy()

    def _give(self, steps: int, share: float = 1.0) -> None:
        """Set loads and commands of ``steps`` from the present node on, for their records."""
        nodes = self.march.node + np.arange(steps + 1)
        self.march.give(self.loads.constant, self.loads.at(nodes), *self._commands_at(nodes))

    def _inputs_within(self, first: float, steps: int, width: float, parts: int) -> np.ndarray:
        """See `CollocationMarch`."""
        within = (np.arange(parts)[:, None] + self.march.rule.node) / parts
        whole = np.arange(steps if self.commands.varies and steps else 1)
        starts = first + width * whole  # whole numbers first: the bits do not depend on how steps are cut into blocks
        places = (starts[:, None, None] + width * within).reshape(-1, within.shape[1])
        inputs = np.zeros((2, *places.shape, len(self.march.compiled.force)))
        inputs.reshape(2, places.size, inputs.shape[3])[:] = self.commands.at(
            np.minimum(places, self.steps).reshape(-1)
        )
        if self.controllers:
            share = first - self.march.first + width * within  # without the rounding of large node numbers
            inputs[0][..., [e for e, _ in self.controllers]] = self._controlled_at(share)
        return inputs

    def _controlled_at(self, share: np.ndarray) -> np.ndarray:
        """Return the inputs (..., m) of functions of the state at shares (...) of the step from the present node."""
        elements = [e for e, _ in self.controllers]
        before, after = self.march.commands[[0, -1]][:, elements]
        return before + share[..., None] * (after - before)

    def _inputs(self, share: float) -> np.ndarray:
        """See `MaximalRun`."""
        place = min(self.march.node + share, self.steps)
        inputs = self.commands.at(np.array([place]))[0, 0]
        inputs[[e for e, _ in self.controllers]] = self._controlled_at(np.array(share))
        return inputs

    def _controlled(self, steps: int) -> NodeBlock:
        """See `MaximalRun`: each step with its own table of inputs."""
        return self._one_by_one(steps)

    def named(self, node: int, body: int, joint: int) -> Failure:
        """Return the failure at ``node``."""
        when = self.march.time
        if len(blocked_limits(self.march)) > 1:
            return super().named(node, body, joint)
        message = (
            f"the step at t = {when:g} s could not be solved, nor divided into {MOST_PARTS}: it is too long for the"
            f" motion or for stiff forces{self._stiffest()}. Take a smaller dt, or varint.Variational"
        )
        return Failure(message, when)

    def _stiffest(self) -> str:
        """Return a part of a message: the force whose bodies may oscillate too fast for the step, if there is one."""
        element, frequency = self.march.stiffest()
        limit = FASTEST[self.march.order]
        if element < 0 or not self.march.dt * frequency > limit:
            return ""
        force = self.mechanism.forces[self.march.compiled.force[element]]
        return (
            f" ({force.label} lets its bodies oscillate at up to {frequency:.2g} rad/s, and steps of this order must"
            f" not be longer than {limit:g} over that, {limit / frequency:.1g} s)"
        )


class LobattoAtTimes(RunAtTimes, LobattoRun):
    """A run of `Lobatto` that is recorded at times."""
