"""A run that can be gone back along: its stages are kept part by part, as many at a time as fit into the memory.

Where all fit they are kept at once. Else the run is marched again from checkpoints (schedule.py), to the same bits.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from math import ceil, inf
from typing import NamedTuple

import numpy as np

from varint.base.errors import ArgumentError, ConvergenceError
from varint.base.numba import CompiledRecord
from varint.derivatives.checkpoints import Packing
from varint.derivatives.event_checks import Drifts
from varint.derivatives.fed_back import FedBack
from varint.derivatives.schedule import Layout, ahead, layout_of
from varint.files.runs.space import available_memory, size_text
from varint.mechanism.mechanism import Mechanism
from varint.methods.variational.adaptive_run import AdaptiveRun, check_adaptive
from varint.methods.variational.composed_damping import refuse_amplified
from varint.methods.variational.march import March
from varint.methods.variational.maximal_run import MaximalRun
from varint.methods.variational.schemes import Scheme
from varint.model.state import State
from varint.plan import Compiled
from varint.results.inputs.at_nodes import Commands, Loads, starts_of_motions
from varint.runs.problem import MOST_STEPS
from varint.step.contacts.rows import has_contacts
from varint.step.derivatives.by_numbers import pushing
from varint.step.one_sided import has_terms, rows_state
from varint.step.plan import Workspace
from varint.step.step import SAME_TIME
from varint.step.workspace import by_numbers, workspace

SPARE = 1.2  # stages that there is room for, over those of a run without sub-steps
SHARE_OF_MEMORY = 0.5  # of what is free: taken where no memory is given
GUESS = 4  # adaptive steps of a run, over those of dt, that there is room for at first
OBJECT = 200  # bytes of a packed checkpoint beside those of the march
BLOCK = 256  # steps between two looks at whether they resolved the motion


class TapeSetting(NamedTuple):
    """Settings of a run, as for `simulate`; ``steps`` of the whole run, for which inputs and loads are given.

    ``turn``: rad, of a step that follows the motion; None for steps of dt. ``end``: s, of such a run. ``memory``:
    bytes, or None.
    """

    method: Scheme
    dt: float
    tol: float
    steps: int
    loads: tuple[Mapping | None, Mapping | None] = (None, None)
    turn: float | None = None
    end: float = inf
    redo: bool = False
    memory: float | None = None


class TapedNode(NamedTuple):
    """An instant of a run, in kernel order: the node ``number``, or a step of a ``share`` of dt from there, aside.

    ``stages`` lie before the node, and before the end of that step ``until``; so many ``events`` of its part of the
    run before the node, and before that end ``events_until``. Its state was found from the others.
    """

    number: int
    share: float
    stages: int
    until: int
    events: int
    events_until: int
    state: State
    rows: tuple[tuple[np.ndarray, ...], ...]  # state of the one-sided rows
    position: np.ndarray  # (nb + 1, 3)
    quat: np.ndarray  # (nb + 1, 4)
    momentum: np.ndarray  # (nb, 6)
    value_near: np.ndarray  # as in `EffortWork`, up to target_rate
    target: np.ndarray
    target_rate: np.ndarray
    q: np.ndarray  # as in `ProductWork`
    order: np.ndarray


class UnresolvedStage(NamedTuple):
    """Interval of times, s, in which steps first did not resolve the motion, and the name of a body."""

    after: float
    until: float
    body: str


class TapePart(NamedTuple):
    """The part of a run that is on its tape: ``stages`` after ``first`` others, and the nodes in it."""

    first: int
    stages: int
    nodes: range


class MaximalTape:
    """A run, its states at some nodes, and its stages.

    Parameters
    ----------
    mechanism : Mechanism
    state : State
        To start from.
    setting : TapeSetting
    at : sequence
        Numbers of the nodes, rising; of steps that follow the motion times, s. The run is done up to the last one.
        With functions of the state all nodes up to that are taken.

    Attributes
    ----------
    nodes : list of TapedNode
    wanted : list of int
        Numbers among ``nodes`` of those in ``at``.
    fed_back : FedBack
    unresolved : UnresolvedStage or None
    layout : Layout
    passes : (parts,) int
        How often each part was marched.

    Raises ArgumentError, ConvergenceError.
    """

    def __init__(self, mechanism: Mechanism, state: State, setting: TapeSetting, at: Sequence[float]) -> None:
        self.mechanism, self.first, self.compiled = mechanism, state, self.compiled_of(mechanism)
        self.setting, self.dt, self.steps, self.at = setting, setting.dt, setting.steps, list(at)
        self.fed_back = FedBack(mechanism, self.compiled, self.steps * self.dt)
        self.wanted = list(range(len(self.at)))
        if self.fed_back:
            self.wanted, self.at = [int(node) for node in at], list(range(int(at[-1]) + 1))
        self.loads = Loads(mechanism, self.compiled, self.steps, *setting.loads)
        self.commands = self.commands_of(mechanism, state, self.dt)
        self.drifts = Drifts(mechanism, self.commands, self.loads, self.dt, setting.method)
        self.memory = _memory() if setting.memory is None else setting.memory
        self.bytes = self._sizes()
        self.is_adaptive = setting.turn is not None
        self.last = MOST_STEPS if self.is_adaptive else int(self.at[-1])  # node
        layout = self._layout(max(1, min(self.last, GUESS * self.steps)), SPARE * self.stages_of_step)
        if self.is_adaptive:  # in one part, as the number of steps is not known
            layout = Layout(1, MOST_STEPS, layout.room)
        while True:
            largest = self._go(layout)
            if largest <= layout.room:
                break
            steps = max(1, self.last)
            layout = self._layout(steps, largest / min(layout.part, steps))  # sub-steps needed more
        self.inputs = self.table(mechanism, state, self.dt)
        if self.is_adaptive:
            self.drifts.knots = self.knots

    @staticmethod
    def compiled_of(mechanism: Mechanism) -> Compiled:
        """Return the plan of a run of ``mechanism``."""
        return mechanism.compiled

    @property
    def pushing(self) -> Callable[..., None]:
        """The function that evaluates laws and loads in stages with other measures, of the arguments of `pushing`."""
        return pushing

    @property
    def stages_of_step(self) -> int:
        """Stages of a step that is not divided."""
        return self.setting.method.stages.size

    @property
    def counters(self) -> list[np.ndarray]:
        """The numbers (1,) of entries on the tape."""
        return [self.tape.count, self.tape.events.count]

    def table(self, mechanism: Mechanism, start: State, dt: float) -> np.ndarray:
        """Return inputs of the elements and their rates (2, T, ne), at the nodes of a run with other numbers."""
        return self.commands_of(mechanism, start, dt).at(self.knots)

    def functions_at(self, mechanism: Mechanism, times: np.ndarray) -> np.ndarray:
        """Return inputs (n, m) that are functions of time, of another mechanism, at ``times`` (n,), s."""
        return Commands(mechanism, self.compiled_of(mechanism), self.steps, self.dt, None, inf).within(times)

    @property
    def knots(self) -> np.ndarray:
        """(T,) where the inputs are given, in units of dt: whole numbers where all steps are of dt."""
        return np.array(self.times) / self.dt if self.is_adaptive else np.arange(self.steps + 1)

    def widths(self, nodes: np.ndarray) -> np.ndarray:
        """Return the shares of dt between each of the nodes and the next row of the inputs."""
        if not (self.is_adaptive and self.commands.varies):
            return np.ones(len(nodes))
        return np.diff(self.knots)[nodes]

    def parts(self) -> Iterator[TapePart]:
        """Yield the parts of the run from the last to the first, each with its stages on the tape; once."""
        for k in range(len(self.marks) - 2, -1, -1):
            if k < len(self.marks) - 2:
                self._reach(k)
            yield TapePart(self.marks[k], int(self.counters[0][0]), range(self.begins[k], self.begins[k + 1]))
            while k > 0 and self.kept[-1][0] >= k:
                self.kept.pop()

    def commands_of(self, mechanism: Mechanism, start: State, dt: float) -> Commands:
        """Return the inputs of a run of another mechanism, from another start, in steps of another size."""
        motions = starts_of_motions(mechanism, start)
        end = self.steps * dt if self.setting.turn is None else self.setting.end
        return Commands(mechanism, self.compiled_of(mechanism), self.steps, dt, motions, end)

    def _layout(self, steps: int, stages: float) -> Layout:
        checkpoint, stage = self.bytes
        layout = layout_of(steps, stages, self.memory, checkpoint, stage)
        if layout is None:
            raise ArgumentError(
                f"a gradient of '{self.mechanism.name}' keeps a checkpoint and the stages of a step at least:"
                f" memory= must be {checkpoint + ceil(stages) * stage} bytes or more, and there are"
                f" {size_text(self.memory)}"
            )
        return layout

    def _sizes(self) -> tuple[int, int]:
        """Return the bytes of a checkpoint, and of a stage with all that is kept of it."""
        return sizes(self.compiled, self.setting)

    def _new_run(self, room: int) -> MaximalRun:
        """Return the run before its start, with ``room`` for the stages on the tape."""
        setting = self.setting
        march = March(
            self.compiled, setting.method, setting.dt, setting.tol, MOST_STEPS, setting.turn, setting.end, setting.redo,
            room,
        )  # fmt: skip
        kind = AdaptiveRun if self.is_adaptive else MaximalRun
        return kind(self.mechanism, march, self.first, self.steps, self.loads, self.commands)

    def _begin(self, layout: Layout) -> None:
        """Take up a new run at its start, with a tape of that ``layout``."""
        refuse_amplified(self.mechanism, self.setting.method, self.setting.dt, self.first)
        self.run = self._new_run(layout.room)
        self.tape = self.run.march.ws.tape
        if self.is_adaptive:
            check_adaptive(self.run)
        self.run.start()

    def _present(self, place: tuple[int, float, int, int, int, int]) -> TapedNode:
        """Return the present node; ``place``: see `TapedNode`."""
        march = self.run.march
        return node_of(march.ws, march.pose, place, march.state())

    def _go(self, layout: Layout) -> int:
        """Do the run, with the last part on the tape and the first checkpoints; returns the stages of the largest."""
        self.layout = layout
        self._begin(layout)
        self.begin = self._present((0, 0.0, 0, 0, 0, 0))
        self.nodes: list[TapedNode] = []
        self.unresolved: UnresolvedStage | None = None
        self.times, self.marks, self.begins = [0.0], [0], [0]
        self.largest = 0
        count = max(1, ceil(self.last / layout.part))
        self.passes = np.zeros(count, dtype=int)
        checkpoint = self.run.checkpoint()
        self.packing = Packing(checkpoint)
        self.kept = [(0, self.packing.pack(checkpoint))]
        self._reach(count - 1)
        if self.is_adaptive:
            self.last = self.run.march.node
        if self.is_adaptive and self.setting.end - self.times[-1] > SAME_TIME * self.dt:
            self.times.append(self.setting.end)
        return self.largest

    def _reach(self, part: int) -> None:
        """Take a part on the tape, from the last checkpoint before it, with new ones added."""
        at, saved = self.kept[-1]
        if self.run.march.node != at * self.layout.part:
            self.run.restore(self.packing.unpack(saved))
        goal = at
        while at < part:
            if at == goal:
                if at > self.kept[-1][0]:
                    self.kept.append((at, self.packing.pack(self.run.checkpoint())))
                free = self.layout.checkpoints - len(self.kept)
                goal = at + ahead(part + 1 - at, free + 1) if free else part
            self._march(at, False)
            at += 1
        self._march(part, True)

    def _march(self, part: int, kept: bool) -> None:
        """March through a part; with its stages on the tape, where they are ``kept``."""
        is_new = part == len(self.marks) - 1
        self.empty = 0 if kept else self.layout.room
        for counter in self.counters:  # a tape that is full counts on
            counter[0] = self.empty
        self.passes[part] += 1
        self.part, self.taken = part, self.begins[part]
        is_last = part == len(self.passes) - 1
        end = min((part + 1) * self.layout.part, self.last)
        while self.run.march.node < end and not self.run.march.is_over:
            self._take(is_new)
            self._advance(end, is_new)
        if is_last:
            self._take(is_new)
        if is_new:
            self.marks.append(self._stages)
            self.begins.append(len(self.nodes))
            counts = (int(counter[0]) - self.empty for counter in self.counters)
            self.largest = max(self.largest, *counts)

    @property
    def _stages(self) -> int:
        """Number of stages before the present node."""
        return self.marks[self.part] + int(self.counters[0][0]) - self.empty

    @property
    def _events(self) -> int:
        """Number of events before the present node, in the present part."""
        return int(self.counters[-1][0]) - self.empty

    def _advance(self, end: int, is_new: bool) -> None:
        """March up to the node ``end``, or as far as there is nothing to look at."""
        next_one = self.at[self.taken] if self.taken < len(self.at) else inf
        if self.is_adaptive:
            self.run.march.stop = next_one
            steps = 1 if self.commands.varies else BLOCK
        else:
            steps = int(min(BLOCK, next_one - self.run.march.node))
        before = self.run.time
        self.run.advance(min(steps, end - self.run.march.node))
        self._check()
        march = self.run.march
        slot = int(march.ws.balance.unresolved[0])
        if slot >= 0 and self.unresolved is None:
            body = self.mechanism.bodies[self.compiled.order[slot]].name
            self.unresolved = UnresolvedStage(before, march.time, body)
        march.ws.balance.unresolved[0] = -1
        if is_new and self.is_adaptive and self.commands.varies and march.time > before:
            self.times.append(march.time)

    def _take(self, is_new: bool) -> None:
        """Take the instants that are due, at the present node or in the step from there."""
        while self.taken < len(self.at):
            time = self.at[self.taken]
            if not (self.run.march.passes(time) if self.is_adaptive else time == self.run.march.node):
                return
            left = (time - self.run.march.time) / self.dt if self.is_adaptive else 0.0
            if left > SAME_TIME:
                node = self._aside(left, time)
            elif is_new:
                place = self.run.march.node, 0.0, self._stages, self._stages, self._events, self._events
                node = self._present(place)
            if is_new:
                self.nodes.append(node)
            self.taken += 1

    def _aside(self, share: float, time: float) -> TapedNode:
        """Return the instant ``time``, a ``share`` of dt after the present node."""
        march, stages, events, seen = self.run.march, self._stages, self._events, []

        def look(pose: int) -> None:
            place = march.node, share, stages, self._stages, events, self._events
            seen.append(node_of(march.ws, pose, place, self.first))

        block = self.run.instant(share, time, look).nodes
        self._check()
        arrays = (block[name][0] for name in ("position", "quat_wxyz", "velocity", "angular_velocity"))
        return seen[0]._replace(state=State(*arrays))

    def _check(self) -> None:
        if self.run.failure is not None:
            message, time, body, joint = self.run.failure
            raise ConvergenceError(message, time=time, body=body, joint=joint, trajectory=None)


def strong_label(mechanism: Mechanism, compiled: Compiled, leads: np.ndarray, load_leads: np.ndarray) -> str:
    """Return the kind and name of a force with a lead, ``leads`` (laws,) or ``load_leads`` (loads,)."""
    plan = compiled.plan
    element = plan.laws.element[np.argmax(leads)] if leads.any() else plan.loads.element[np.argmax(load_leads)]
    return mechanism.forces[compiled.force[element]].label


def check_leads(run: MaximalTape, stages: int) -> None:
    """Raise ArgumentError where the derivatives of the strong damping in ``stages`` on the tape are not known.

    These are beside driven constraints and contacts. If none of the stages has a lead, the tape is played without.
    """
    damping, plan = run.tape.damping, run.compiled.plan
    if not damping.active[0]:
        return
    leads, load_leads = (part[:stages].any(axis=0) for part in (damping.lead, damping.load_lead))
    if not (leads.any() or load_leads.any()):
        damping.active[0] = False
        return
    if not (plan.constraints.driven.any() or has_contacts(plan)):
        return
    mechanism = run.mechanism
    other = next(force for force in mechanism.forces if force.constraint or force.solved_for)
    label = strong_label(mechanism, run.compiled, np.asarray(leads), np.asarray(load_leads))
    raise ArgumentError(
        f"{label} damps so strongly that steps of {run.dt:g} s take its rate towards their end, and gradients of that"
        f" are not available beside {other.label}: take a smaller dt, or leave one of them out"
    )


def sizes(compiled: Compiled, setting: TapeSetting) -> tuple[int, int]:
    """Return the bytes of a checkpoint, and of a stage with the gradient by all that acts in it."""
    plan = compiled.plan
    march = March(compiled, setting.method, setting.dt, setting.tol, 1)
    tapes = [size_of(workspace(plan, 1, compiled.functions, kept=kept).tape) for kept in (0, 1)]
    by = [size_of(by_numbers(plan, kept)) for kept in (0, 1)]
    times = 2 if has_terms(plan) else 1  # at an event there is a second gradient
    return Packing(march.checkpoint()).size + OBJECT, tapes[1] - tapes[0] + times * (by[1] - by[0])


def size_of(record: CompiledRecord) -> int:
    """Return the bytes of the arrays of a record, records within it included."""
    parts = (getattr(record, field.name) for field in fields(record))
    return sum(part.nbytes if isinstance(part, np.ndarray) else size_of(part) for part in parts)


def _memory() -> float:
    """Return the bytes to use if no memory is given: `SHARE_OF_MEMORY` of the free memory."""
    free = available_memory()
    return inf if free is None else SHARE_OF_MEMORY * free


def node_of(ws: Workspace, pose: int, place: tuple[int, float, int, int, int, int], state: State) -> TapedNode:
    """Return a node, at a ``pose`` of a workspace with momenta there; ``place``: see `TapedNode`."""
    efforts = ws.efforts
    poses = ws.position[pose], ws.quat[pose], ws.momentum
    targets = efforts.value_near, efforts.target, efforts.target_rate
    products = ws.products.q, ws.products.order
    return TapedNode(*place, state, rows_state(ws), *(array.copy() for array in (*poses, *targets, *products)))
