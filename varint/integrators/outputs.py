"""A run in maximal coordinates that is recorded at given times, between its nodes or at them."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from varint.integrators.run import MaximalRun
from varint.running import Block

AT_NODE = 1e-9  # of a step: times as near to a node are those of the node


class RunAtTimes(MaximalRun):
    """A `MaximalRun` that records its start, the ``times`` and the last state, and no other node.

    From the node before such a time goes a step of the scheme of the share that is left, aside from the run, which is
    the same as without: joints are closed there as at the nodes, and the order is that of the scheme. Functions of the
    state hold their inputs over it.
    """

    times = np.zeros(0)
    taken = 0  # of the times

    def at(self, times: np.ndarray) -> "RunAtTimes":
        """Record at ``times``, s, which rise and lie within the run."""
        places = times / self.march.dt
        near = np.round(places)
        places = np.where(np.abs(places - near) < AT_NODE, near, places)
        self.times = times[(places > 0) & (places < self.total)]  # start and end are recorded anyway
        places = places[(places > 0) & (places < self.total)]
        self.nodes = np.floor(places).astype(np.int64)
        self.shares = places - self.nodes
        return self

    def advance(self, steps: int) -> Block:
        """March ``steps`` steps, or up to the end or to the one that fails."""
        end = min(self.march.node + steps, self.steps)
        blocks: list[Block] = []
        while self.done < end and self.failure is None:
            while self.failure is None and self.taken < len(self.times) and self.nodes[self.taken] == self.done:
                blocks.append(self._passed())
            if self.failure is None:
                following = int(self.nodes[self.taken]) if self.taken < len(self.times) else end
                blocks.append(super().advance(min(end, following) - self.march.node))
        nodes = {name: np.concatenate([block.nodes[name] for block in blocks]) for name in blocks[0].nodes}
        return Block(nodes, sum(block.seconds for block in blocks))

    def tail(self) -> Block:
        """The last state, where it is later than all that is recorded."""
        if self.taken and self.times[self.taken - 1] >= self.time * (1 - AT_NODE):
            return self._block(self.march.advance(0), 0.0)
        return super().tail()

    def checkpoint(self) -> dict[str, np.ndarray]:
        """All that the steps to come depend on."""
        return super().checkpoint() | {"recorded": np.array([1 + self.taken])}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Go back to a `checkpoint`."""
        super().restore(saved)
        self.taken = int(saved["recorded"][0]) - 1

    def _passed(self) -> Block:
        """The next of the times, which lies in the step from the present node."""
        march, share = self.march, float(self.shares[self.taken])
        self._give(1)
        if self.controllers:
            march.commands[:, [e for e, _ in self.controllers]] = march.inputs
        found = march.aside(share)
        if found is None:
            assert march.failure is not None
            self.failure = self._named(*march.failure)
            return self._block(march.advance(0), 0.0)
        found = replace(found, command=march.compiled.by_force(self._inputs(share)[None]))
        block = self._block(found, 0.0)
        block.nodes["t"] = self.times[self.taken : self.taken + 1].copy()
        if self.loads.varies:
            block.nodes["load"] = self.loads.between(march.node, share)[None]
        self.taken += 1
        return block

    def _inputs(self, share: float) -> np.ndarray:
        """(ne,) inputs at a share of the step from the present node: linear, or cubic for motions, as they act."""
        march, constraints = self.march, self.march.compiled.plan.constraints
        a, b = march.commands[0], march.commands[-1]
        found = (1.0 - share) * a + share * b
        e = constraints.element[constraints.driven]
        p, q = march.command_rates[0, e] * march.dt, march.command_rates[-1, e] * march.dt
        square, cube = 3.0 * (b[e] - a[e]) - 2.0 * p - q, 2.0 * (a[e] - b[e]) + p + q
        found[e] = a[e] + share * (p + share * (square + share * cube))
        return found
