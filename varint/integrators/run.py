"""A run in maximal coordinates: the march of a mechanism with its controllers, and what is said where it fails."""

import time
from collections.abc import Mapping

import numpy as np

from varint.errors import StateError
from varint.integrators.march import RECORDED, March, join_blocks
from varint.integrators.march import Block as MarchBlock
from varint.kernels.impacts import DEEPEST_SUBSTEP
from varint.loads import called, is_controlled
from varint.mechanism import Mechanism
from varint.model.state import State
from varint.record import Counts
from varint.running import Block, Failure

LARGEST_GAP = 1e-8  # of a driven coordinate in a state to start from, in sizes of a part


class MaximalRun:
    """See `varint.running.Run`.

    Parameters
    ----------
    mechanism : Mechanism
    march : March
        With the commands of the whole run.
    state : State
        To start from.
    steps : int
        In all.
    loads : (T, nb, 6) or None
        External loads at the nodes that are recorded, in the order of the description; None where they are constant.
    """

    def __init__(self, mechanism: Mechanism, march: March, state: State, steps: int, loads: np.ndarray | None) -> None:
        self.loads = loads
        self.mechanism, self.march, self.total, self.start_state = mechanism, march, steps, state
        self.commands = np.stack([march.commands, march.command_rates])
        of_elements = enumerate(march.compiled.force)
        self.controllers = [(e, int(k)) for e, k in of_elements if is_controlled(mechanism.forces[k])]
        self.end = steps * march.dt
        self.layout: dict = {}
        self.failure: Failure | None = None
        self.iterations = np.zeros(2, dtype=np.int64)  # Newton's, and sub-steps

    @property
    def done(self) -> int:
        """Steps."""
        return self.march.node

    @property
    def time(self) -> float:
        """s"""
        return self.march.node * self.march.dt

    @property
    def finished(self) -> bool:
        """Whether all steps are done."""
        return self.done >= self.total

    @property
    def counts(self) -> Counts:
        """What was done so far."""
        return Counts(self.march.node, *self.iterations.tolist())

    def start(self) -> Block:
        """Record the start; raises StateError where a prescribed motion starts elsewhere."""
        first = self.march.start(self.start_state)
        self._check_driven()
        if self.controllers:
            self._call()
            first.command[:, [k for _, k in self.controllers]] = self.march.inputs
        self.march.advance(0)  # compiles or loads the kernels, which is no stepping time
        return self._block(first, 0.0)

    def advance(self, steps: int) -> Block:
        """March ``steps`` steps, or up to the end or to the one that fails."""
        steps, began = min(steps, self.total - self.done), time.perf_counter()
        block = self._controlled(steps) if self.controllers else self.march.advance(steps)
        seconds = time.perf_counter() - began
        self.iterations += (block.newton_iterations, block.substeps)
        if self.march.failure is not None:
            self.failure = self._named(*self.march.failure)
        return self._block(block, seconds)

    def state(self) -> State:
        """The present node."""
        return self.march.state()

    def checkpoint(self) -> dict[str, np.ndarray]:
        """All that the steps to come depend on."""
        recorded = self.march.node // self.march.every + 1
        return self.march.checkpoint() | {"recorded": np.array([recorded]), "iterations": self.iterations.copy()}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Go back to a `checkpoint`."""
        self.march.restore(saved)
        self.iterations[:] = saved["iterations"]
        if self.controllers:
            self._call()

    def _block(self, block: MarchBlock, seconds: float) -> Block:
        nodes = {"t": self.march.dt * block.node}
        nodes |= {name: getattr(block, name) for name in RECORDED if name != "node"}
        if self.loads is not None:
            nodes["load"] = self.loads[block.node // self.march.every]
        return Block(nodes, seconds)

    def _controlled(self, steps: int) -> MarchBlock:
        """March ``steps`` steps; the functions that command forces are called at each node, for the step to come."""
        march, blocks = self.march, []
        elements, forces = (list(numbers) for numbers in zip(*self.controllers, strict=True))
        for _ in range(steps):
            nodes = [0, 0] if self.commands.shape[1] == 1 else [march.node, march.node + 1]
            march.commands, march.command_rates = self.commands[:, nodes]
            march.commands[:, elements], march.first_command = march.inputs, march.node
            block = march.advance(1)
            blocks.append(block)
            if march.failure:
                break
            self._call()
            block.command[:, forces] = march.inputs
        return join_blocks(blocks)

    def _call(self) -> None:
        """The inputs that the functions give at the present node."""
        t, state = self.time, self.march.state()
        self.march.inputs = np.array([called(self.mechanism.forces[k], t, state) for _, k in self.controllers])

    def _check_driven(self) -> None:
        for e, here, target in self.march.off_target():
            if not abs(here - target) <= LARGEST_GAP * max(1.0, self.march.compiled.length):
                force = self.mechanism.forces[self.march.compiled.force[e]]
                raise StateError(
                    f"{force.label} starts at {target:g}, but coordinate {force.coordinate} of joint '{force.joint}' is"
                    f" at {here:g}: give a state with mechanism.state(coordinates={{'{force.joint}': ...}})"
                )

    def _named(self, node: int, body: int, joint: int) -> Failure:
        """The failure at ``node``, with names in place of the kernel's numbers."""
        compiled, when = self.march.compiled, node * self.march.dt
        name = self.mechanism.bodies[compiled.order[body]].name if body >= 0 else None
        number = compiled.joints[joint] if joint >= 0 else -1
        held = self.mechanism.joints[number].name if number >= 0 else None
        where = f"body '{name}'" + (f" and joint '{held}'" if held else "")
        message = (
            f"the step at t = {when:g} s could not be solved, not even in {2**DEEPEST_SUBSTEP} sub-steps;"
            f" the residual is largest at {where}. A smaller dt may help; infinite loads or a lock-up cannot be solved"
        )
        return Failure(message, when, name, held)
