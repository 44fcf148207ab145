"""Runs in maximal coordinates that are recorded at given times, between their nodes or at them."""

from collections.abc import Mapping

import numpy as np

from varint.methods.variational.maximal_run import MaximalRun
from varint.runs.run import Block, join_blocks

AT_NODE = 1e-9  # of a step: times as near to a node are the time of the node


class AtTimes(MaximalRun):
    """Base of runs that record their start, the ``times`` and the last state, and no other node.

    A part of a step of the scheme leads from the node before to such a time, and leaves the run as it is: joints are
    closed there as at the nodes, and the order is that of the scheme. Functions of the state
    are held or extrapolated over it, as over the step.
    """

    times = np.zeros(0)
    taken = 0  # of the times

    def advance(self, steps: int) -> Block:
        """March ``steps`` steps, or up to the end or to the one that fails."""
        march, blocks = self.march, list[Block]()
        last = march.node + steps
        while self.failure is None and not self.finished and march.node < last:
            while self.failure is None and self._is_between():
                blocks.append(self._passed())
            if self.failure is None:
                blocks.append(super().advance(self._reach(last) - march.node))
        return join_blocks(blocks)

    def tail(self) -> Block:
        """Return the last state, where it is later than all that is recorded."""
        if self.taken and self.times[self.taken - 1] >= self.time - AT_NODE * self.march.dt:
            return self.block(self.march.advance(0), 0.0)
        return super().tail()

    def checkpoint(self) -> dict[str, np.ndarray]:
        """Return all that the steps to come depend on."""
        return super().checkpoint() | {"recorded": np.array([1 + self.taken])}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Go back to a `checkpoint`."""
        super().restore(saved)
        self.taken = int(saved["recorded"][0]) - 1

    def _passed(self) -> Block:
        """Return the next of the times, which lies in the step from the present node."""
        block = self.instant(self._share(), float(self.times[self.taken]))
        self.taken += self.failure is None
        return block

    def _share(self) -> float:
        """Return the share of dt from the present node to the next of the times."""
        raise NotImplementedError

    def _is_between(self) -> bool:
        """Return whether there is a next of the times, and it lies in the step from the present node."""
        raise NotImplementedError

    def _reach(self, last: int) -> int:
        """Return the node up to which steps are taken before the next of the times is recorded, at most ``last``."""
        raise NotImplementedError


class RunAtTimes(AtTimes):
    """A run in steps of dt that is recorded at times."""

    def at(self, times: np.ndarray) -> "RunAtTimes":
        """Record at ``times``, s, which rise and lie within the run."""
        places = times / self.march.dt
        near = np.round(places)
        places = np.where(np.abs(places - near) < AT_NODE, near, places)
        self.times = times[(places > 0) & (places < self.steps)]  # start and end are recorded anyway
        places = places[(places > 0) & (places < self.steps)]
        self.nodes = np.floor(places).astype(np.int64)
        self.shares = places - self.nodes
        return self

    def _share(self) -> float:
        return float(self.shares[self.taken])

    def _is_between(self) -> bool:
        return self.taken < len(self.times) and bool(self.nodes[self.taken] == self.march.node)

    def _reach(self, last: int) -> int:
        return min(last, int(self.nodes[self.taken])) if self.taken < len(self.times) else last
