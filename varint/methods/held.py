"""Runs that Python steps, with inputs that are held over each step, for `varint.Stepper`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from varint.base.errors import ArgumentError
from varint.kinematics.frames import with_world
from varint.kinematics.joint_reader import JointColumns, read_others, split_joints
from varint.methods.reduced.run import ReducedRun
from varint.methods.reduced.tree import Tree
from varint.methods.variational.maximal_run import MaximalRun
from varint.methods.variational.stepwise import Stepwise
from varint.model.state import State
from varint.results.half_turns import HalfTurns
from varint.results.record import JoinedNodes, joined
from varint.runs.run import Failure, SteeredRun
from varint.step.march.records import NODE, RECORDED
from varint.step.march.steps import DONE, FAILED, NOT_FINITE, UNRESOLVED
from varint.step.one_sided import rows_state, set_rows
from varint.step.step import worst_residual

ROOM, BYTES = 1024, 1 << 22  # nodes that are recorded before they are put aside: 1024, or 4 MB
Nodes = dict[str, np.ndarray]


class Held(NamedTuple):
    """Forces whose inputs are held: their numbers, and the numbers of their elements."""

    forces: list[int]
    elements: list[int]


class Recorded:
    """Recorded nodes of a stepped run: the input of each is that of the step from there.

    ``whole``: blocks of many nodes, with their inputs; ``blocks``: of the nodes behind these, at least one, whose
    ``inputs`` stand beside them.
    """

    def __init__(self, held: Held, start: Nodes, inputs: np.ndarray) -> None:
        self.held, self.count, self.settled = held, len(start["t"]), 0
        self.whole: list[Nodes] = []
        self.blocks, self.inputs = [start], [inputs.copy()]
        self._last = self.inputs[0]
        self.width = sum(array.nbytes for array in start.values()) // self.count + 1
        self.room = min(ROOM, BYTES // self.width + 1)

    def begin(self, inputs: np.ndarray, is_recorded: bool) -> None:
        """Begin a step with these ``inputs``, from a node that is the last recorded one or not."""
        self.catch_up()
        self._last = inputs.copy()
        if is_recorded:
            self.inputs[-1] = self._last

    def catch_up(self, more: int = 0) -> None:
        """Add the inputs of the nodes that were recorded meanwhile, and of ``more`` that are not put aside yet."""
        self.inputs += [self._last] * (self.count - self.settled + more - len(self.inputs))

    def add(self, nodes: Nodes) -> None:
        """Put nodes aside."""
        if len(nodes["t"]):
            self.blocks.append({**nodes, "t": nodes["t"].copy()})  # a part of it would keep the room of all
            self.count += len(nodes["t"])
            if self.count - self.settled > self.room:
                self._settle()

    def _settle(self) -> None:
        """Make one block of all nodes but the last, whose input may change: a small block takes more than its nodes."""
        self.catch_up()
        nodes = joined(self.blocks)
        self.blocks = [{name: array[-1:].copy() for name, array in nodes.items()}]
        nodes["command"][:-1, self.held.forces] = np.array(self.inputs[:-1])
        self.whole.append({name: array[:-1] for name, array in nodes.items()})
        self.inputs, self.settled = self.inputs[-1:], self.count - 1

    def cut(self, count: int) -> None:
        """Leave the first ``count`` nodes."""
        self.catch_up()
        while self.settled >= count:
            last = self.whole.pop()
            self.settled -= len(last["t"])
            self.blocks.insert(0, dict(last))
            self.inputs = [*last["command"][:, self.held.forces], *self.inputs]
        nodes = joined(self.blocks)
        self.blocks = [{name: array[: count - self.settled] for name, array in nodes.items()}]
        self.inputs, self.count = self.inputs[: count - self.settled], count

    def nodes(self, tail: Nodes, present: np.ndarray, first: int = 0) -> JoinedNodes:
        """Return all nodes from number ``first`` on, and a last one in ``tail`` that is not recorded.

        ``present``: inputs at the present node.
        """
        self.catch_up()
        left_out = max(first - self.settled, 0)
        latest = joined([dict(block) for block in [*_later(self.blocks, left_out), tail]])
        inputs = [*self.inputs[left_out:], *[present] * len(tail["t"])]
        if not len(tail["t"]):
            inputs[-1] = present
        latest["command"][:, self.held.forces] = np.array(inputs)
        return JoinedNodes([*_later(self.whole, first), latest])


def _later(blocks: Sequence[Nodes], first: int) -> Iterator[Nodes]:
    """Yield the nodes of ``blocks`` from number ``first`` on."""
    for block in blocks:
        count = len(block["t"])
        if first < count:
            yield {name: array[first:] for name, array in block.items()} if first else block
        first = max(first - count, 0)


class HeldMarch:
    """Steps of a march, one compiled call each, between which the inputs alone change.

    Parameters
    ----------
    run : MaximalRun
        Before its start; by any scheme, or by collocation.
    held : Held
    extrapolates : bool
        Whether inputs follow the line through the last two nodes.
    tree : Tree
        Whose coordinates are read.
    every : int, optional
        Record each ``every``-th node.
    """

    def __init__(self, run: MaximalRun, held: Held, extrapolates: bool, tree: Tree, every: int | None) -> None:
        self.run, self.held, self.every, self._tree, march = run, held, every, tree, run.march
        readable, self._others = split_joints(run.mechanism, tree.joints, tree.columns)
        self._stepwise = Stepwise(march, held.elements, [extrapolates] * len(held.elements), True, readable, tree.nq)
        self._fresh = [(array, array.copy()) for _, array in march.state_arrays()]
        sizes = {name: columns.stop - columns.start for name, columns in tree.columns.items()}
        counted = [angle for angle in march.compiled.counted if sizes.get(angle.joint) == angle.size]
        columns = [tree.columns[angle.joint].start + angle.number for angle in counted]
        self._counted = np.array(columns, dtype=int), np.array([angle.measures[0] for angle in counted], dtype=int)
        self.input, self.seconds = self._stepwise.input, march.ws.pace.time
        self.q, self.rate = self._stepwise.reading.q, self._stepwise.reading.rate
        self.both = self._stepwise.both
        self._start()
        self._stepwise.hold()
        self._room = 0
        self.state: Callable[[], State] = self._stepwise.state
        self.take: Callable[[Any, int], int] = self._stepwise.take if every is None else self._take

    @property
    def word(self) -> Any:
        """First argument of ``take``."""
        return self._stepwise.word

    def restart(self, state: State) -> None:
        """Go back to t = 0, at ``state``."""
        march = self.run.march
        for array, fresh in self._fresh:
            array[:] = fresh
        march.node = march.pose = 0
        set_rows(march.compiled.plan, march.ws, 0, rows_state(march.ws))
        self.run.start_state, self.run.failure = state, None
        self.run.iterations[:] = 0
        self._start()
        self._stepwise.place[RECORDED] = 0

    def _start(self) -> None:
        march = self.run.march
        block = self.run.start()
        self.input[:] = march.commands[0, self.held.elements]
        self._stepwise.begin()
        _set_turns(self.q, self._tree, march.turns)
        self.recorded = Recorded(self.held, block.nodes, self.input)

    def _take(self, word: Any, steps: int) -> int:
        """Take ``steps`` as `take_steps` does, recording nodes."""
        stepwise, every = self._stepwise, self.every
        assert every is not None
        wanted = steps // every + 1
        if stepwise.recorded + wanted > self._room:
            self._put_aside(max(wanted, self.recorded.room))
        before = stepwise.recorded
        self.recorded.catch_up(before)
        self.recorded.begin(self.input, bool(stepwise.place[NODE] % every == 0))
        status = stepwise.take(stepwise.word, steps)
        unresolved = stepwise.steps.rows.unresolved[before : stepwise.recorded]
        return UNRESOLVED if status == DONE and unresolved.max(initial=-1) >= 0 else status

    def _put_aside(self, room: int) -> None:
        """Put the recorded nodes aside and make room for ``room`` more."""
        stepwise, march, kept = self._stepwise, self.run.march, self.recorded
        if self.every is None:
            return
        rows, count = stepwise.steps.rows, stepwise.recorded
        kept.catch_up(count)
        self.run.iterations += rows.counts
        numbers = (kept.count + np.arange(count)) * self.every
        kept.add(self.run.block(march.block(numbers, tuple(rows), count), 0.0).nodes)
        self._room = room
        stepwise.record(march.outputs(room))

    def failed(self) -> Failure:
        """Return the failure of the last step; the march is at the node before it."""
        stepwise, march = self._stepwise, self.run.march
        march.node = int(stepwise.place[NODE])
        failure = self.run.named(march.node, *worst_residual(march.compiled.plan, march.ws))
        stepwise.go_back()
        return failure

    def unresolved(self) -> int:
        """Number of the body that a step did not resolve."""
        slots = np.append(
            self._stepwise.steps.rows.unresolved[: self._stepwise.recorded], self.run.march.ws.balance.unresolved
        )
        return int(self.run.march.compiled.order[slots[slots >= 0][0]])

    def vertex_motion(self) -> np.ndarray:
        """See `MaximalRun`."""
        return self.run.vertex_motion()

    def read(self) -> None:
        """Fill ``q`` and ``rate`` (nq,) with the joint coordinates at the present node."""
        columns, measures = self._counted
        if columns.size:
            self.q[columns] = self.run.march.ws.efforts.value_near[measures]
        self._stepwise.read(self.word)
        if self._others:
            _read(self._others, self._stepwise.present(), self.q, self.rate)

    def save(self) -> tuple:
        """Return all that the steps to come depend on, and the number of the recorded nodes."""
        self._put_aside(self._room)
        self.read()
        return self._stepwise.save(), self.input.copy(), self.q.copy(), self.recorded.count

    def recall(self, saved: tuple) -> None:
        """Go back to a result of `save`."""
        self._put_aside(self._room)
        march, self.input[:], self.q[:], count = saved
        self._stepwise.recall(march)
        self._stepwise.place[RECORDED] = 0
        self.recorded.cut(min(count, self.recorded.count))

    def nodes(self, first: int) -> JoinedNodes:
        """Return the recorded nodes from number ``first`` on, and the present one."""
        self._put_aside(self._room)
        self._stepwise.leave()
        return self.recorded.nodes(self.run.tail().nodes, self.input, first)


class HeldRun:
    """Steps of any other run, whose constant inputs are set; see `HeldMarch`.

    ``inputs`` (m,): in which inputs are set; ``place`` (2, nq): for ``q`` and ``rate``.
    """

    word = None

    def __init__(
        self, run: SteeredRun, held: Held, tree: Tree, every: int | None, inputs: np.ndarray, place: np.ndarray
    ) -> None:
        self.run, self.held, self.every = run, held, every
        self.input, self.both = inputs, place.reshape(-1)
        self.q, self.rate = place
        _set_turns(self.q, tree, run.turns)
        self.input[:] = run.constant[held.elements]
        self._half_turns = HalfTurns(run.mechanism)
        start = run.start()
        self.recorded = Recorded(held, start.nodes, self.input)
        self._half_turns.passed(start.nodes)
        self._joints = [*chain(*split_joints(run.mechanism, tree.joints, tree.columns))]
        self._failure: Failure | None = None
        self._unresolved = -1
        self.seconds, self._columns = np.zeros(1), tree.columns

    def take(self, word: None, steps: int) -> int:
        """Take steps: how that ended, see `take_steps`."""
        if not np.isfinite(self.input).all():
            return NOT_FINITE
        run, before, first = self.run, self.run.checkpoint(), self.run.node
        self.recorded.begin(self.input, self.every is not None and first % self.every == 0)
        run.constant[self.held.elements] = self.input
        block = run.steer(steps)
        beyond = None if run.failure else self._half_turns.passed(block.nodes)
        self._failure = Failure(beyond.message, beyond.time) if beyond else run.failure
        if self._failure is not None:
            solved = 0 if beyond else run.node - first
            self._go_back(before)
            block = run.steer(solved)
        if self.every is not None:
            self.recorded.add(block.nodes)
        self.seconds[0] = run.reached.time
        if self._failure:
            return FAILED
        self._unresolved = run.unresolved(block.nodes)
        return DONE if self._unresolved < 0 else UNRESOLVED

    def _go_back(self, saved: Mapping[str, np.ndarray]) -> None:
        self.run.restore(saved)
        self._half_turns = HalfTurns(self.run.mechanism)

    def failed(self) -> Failure:
        """Return the failure of the last step."""
        assert self._failure is not None
        return self._failure

    def unresolved(self) -> int:
        """Number of the body that a step did not resolve."""
        return self._unresolved

    def state(self) -> State:
        """Return the present node."""
        return self.run.state()

    def vertex_motion(self) -> np.ndarray:
        """See `MaximalRun`."""
        return self.run.vertex_motion()

    def read(self) -> None:
        """Fill ``q`` and ``rate`` (nq,) with the joint coordinates at the present node."""
        if isinstance(self.run, ReducedRun):
            self.q[:], self.rate[:] = self.run.coordinates()
        else:
            for name, near in self.run.counted().items():
                columns = self._columns.get(name)
                if columns is not None and columns.stop - columns.start == len(near):
                    self.q[columns] = np.where(np.isnan(near), self.q[columns], near)
            _read(self._joints, self.state(), self.q, self.rate)

    def save(self) -> tuple:
        """Return all that the steps to come depend on, and the number of the recorded nodes."""
        run = self.run
        if isinstance(run, MaximalRun) and run.extrapolated.any():
            raise ArgumentError("save() takes no functions that are extrapolated: what they gave before is not kept")
        self.read()
        return run.checkpoint(), self.input.copy(), self.q.copy(), self.recorded.count

    def recall(self, saved: tuple) -> None:
        """Go back to a result of `save`."""
        march, self.input[:], self.q[:], count = saved
        self.run.constant[self.held.elements] = self.input
        self._go_back(march)
        self.seconds[0] = self.run.reached.time
        self.recorded.cut(min(count, self.recorded.count))

    def nodes(self, first: int) -> JoinedNodes:
        """Return the recorded nodes from number ``first`` on, and the present one."""
        return self.recorded.nodes(self.run.tail().nodes, self.input, first)


def _set_turns(q: np.ndarray, tree: Tree, turns: Mapping[str, np.ndarray]) -> None:
    """Set coordinates ``q`` (nq,), which the first reading is nearest to, to ``turns``, (dof,) by joint, else zero."""
    q[:] = 0.0
    for name, values in turns.items():
        columns = tree.columns.get(name)
        if columns is not None and columns.stop - columns.start == len(values):
            q[columns] = np.nan_to_num(values)


def _read(joints: list[JointColumns], state: State, q: np.ndarray, rate: np.ndarray) -> None:
    """See `read_others`."""
    motion = np.vstack([np.hstack([state.velocity, state.angular_velocity]), np.zeros(6)])
    read_others(joints, (*with_world(state.position, state.quat_wxyz), motion), q, rate)
