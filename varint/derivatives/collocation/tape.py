"""A taped run of `Lobatto`, for the backward pass: the tape has its steps, and each node of a step as a stage."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from varint.base.errors import ArgumentError
from varint.base.numba import allocate
from varint.derivatives.checkpoints import Packing
from varint.derivatives.schedule import Layout
from varint.derivatives.taped import OBJECT, MaximalTape, TapedNode, TapePart, TapeSetting, size_of, strong_label
from varint.mechanism.mechanism import Mechanism
from varint.methods.variational.collocation_march import CollocationMarch
from varint.methods.variational.lobatto import Lobatto
from varint.methods.variational.lobatto_run import LobattoRun
from varint.methods.variational.maximal_run import MaximalRun
from varint.model.state import State
from varint.plan import Compiled
from varint.runs.problem import MOST_STEPS
from varint.step.collocation.adjoint import push_stages
from varint.step.collocation.tape import StepTape, march_taped
from varint.step.newton import CONVERGED
from varint.step.plan import ByNumbers, Plan, Tape, Workspace
from varint.step.workspace import by_numbers, workspace_sizes


class TapedMarch(CollocationMarch):
    """A march that keeps its steps, up to ``room``, and records no node. ``pushed``: whether loads act on bodies."""

    def __init__(self, mechanism: Mechanism, state: State, s: int, dt: float, room: int, pushed: bool) -> None:
        super().__init__(mechanism, state, s, dt, MOST_STEPS)
        self.sizes |= {"balls": self.tree.ball.size}
        self._pushed, self._words = pushed, workspace_sizes(self.compiled.plan, 1, 0, False)["taped_words"]
        self.keep(room)

    def keep(self, room: int) -> None:
        """Keep up to ``room`` steps from now on, on a new tape."""
        sizes = self.sizes | {"steps": room, "pushed": room if self._pushed else 0, "taped_words": self._words}
        self.taped: StepTape = allocate(StepTape, sizes)

    def _solve(
        self, inputs: np.ndarray, loads: np.ndarray, steps: int, parts: int, h: float, stride: int,
        out: tuple[np.ndarray, ...],
    ) -> tuple[int, int, int]:  # fmt: skip
        """See `CollocationMarch`."""
        count = int(self.taped.count[0])
        status, done, iterations = march_taped(
            self.compiled.plan, self.ws, self.tree, self.closures, self.rule, self.work, inputs, loads, self.node,
            steps, parts, h, self.taped,
        )  # fmt: skip
        if self.work.ends.used[0]:
            raise self._unknown_ends()
        if status != CONVERGED and parts > 1:  # another division is tried
            self.taped.count[0] = count
        return status, done, iterations

    def _unknown_ends(self) -> ArgumentError:
        """Return the error for a run with strong damping, which names the force."""
        damping = self.ws.damping
        label = strong_label(self._mechanism, self.compiled, damping.lead, damping.load_lead)
        return ArgumentError(
            f"{label} damps so strongly that steps of {self.dt:g} s take its rate towards their end, and"
            " derivatives of such steps are not available along collocation: take a smaller dt, or varint.Variational"
            " at order 2"
        )


class LinkNode(NamedTuple):
    """Coordinates (2, nl), rotations (nl, 3, 3) at coordinate zero and momenta (nl, 6) at a node of a run."""

    coordinate: np.ndarray
    turned: np.ndarray
    momentum: np.ndarray


class CollocationTape(MaximalTape):
    """See `MaximalTape`. Entries on the tape are steps; ``method``: of the run.

    links : list of LinkNode
        At the start, and at ``nodes``.
    """

    method: Lobatto
    links: list[LinkNode]

    def __init__(self, mechanism: Mechanism, state: State, setting: TapeSetting, at: list, method: Lobatto) -> None:
        self.method = method
        super().__init__(mechanism, state, setting, at)

    @property
    def march(self) -> TapedMarch:
        """The march of the run."""
        march = self.run.march
        assert isinstance(march, TapedMarch)
        return march

    @staticmethod
    def compiled_of(mechanism: Mechanism) -> Compiled:
        """See `MaximalTape`."""
        return mechanism.apart

    @property
    def pushing(self) -> Callable[..., None]:
        """See `MaximalTape`."""
        march = self.march

        def push(plan: Plan, ws: Workspace, tape: Tape, stages: np.ndarray, by: ByNumbers, out: np.ndarray) -> None:
            push_stages(plan, ws, march.tree, march.closures, march.rule, march.work, march.taped, stages, by, out)

        return push

    @property
    def stages_of_step(self) -> int:
        """See `MaximalTape`: one, as entries are steps."""
        return 1

    @property
    def counters(self) -> list[np.ndarray]:
        """See `MaximalTape`."""
        return [self.march.taped.count]

    def parts(self) -> Iterator[TapePart]:
        """See `MaximalTape`; ``first``, and the numbers in nodes, count steps, ``stages`` their nodes."""
        nodes, kept = self.march.rule.node, self.march.taped
        for part in super().parts():
            count = part.stages * nodes.size
            self.tape.node[:count] = np.repeat(kept.node[: part.stages], nodes.size)
            within = kept.h[: part.stages, None] / self.dt * nodes
            self.tape.share[:count] = (kept.share[: part.stages, None] + within).ravel()
            yield part._replace(stages=count)

    @property
    def _nodes_of_step(self) -> int:
        return self.method.order // 2 + 1

    @property
    def _pushed(self) -> bool:
        return self.loads.varies or bool(self.loads.constant.any())

    def _tape(self, steps: int) -> Tape:
        plan = self.compiled.plan
        return allocate(Tape, workspace_sizes(plan, 1, steps * self._nodes_of_step, False) | {"taped_words": 0})

    def _sizes(self) -> tuple[int, int]:
        self.run, plan, s = self._new_run(1), self.compiled.plan, self._nodes_of_step
        self.is_fresh = True
        tapes, by = ([size_of(of(k)) for k in (0, 1)] for of in (self._tape, lambda k: by_numbers(plan, k * s)))
        stage = size_of(self.march.taped) + tapes[1] - tapes[0] + by[1] - by[0]
        return Packing(self.run.checkpoint()).size + OBJECT, stage

    def _new_run(self, room: int) -> MaximalRun:
        march = TapedMarch(self.mechanism, self.first, self._nodes_of_step, self.dt, room, self._pushed)
        return LobattoRun(self.mechanism, march, self.first, self.steps, self.loads, self.commands)

    def _begin(self, layout: Layout) -> None:
        if self.is_fresh:  # to make a march takes longer than many steps
            self.march.keep(layout.room)
        else:
            self.run = self._new_run(layout.room)
        self.is_fresh = False
        self.tape, self.links = self._tape(layout.room), []
        self.run.start()

    def _present(self, place: tuple[int, float, int, int, int, int]) -> TapedNode:
        work = self.march.work
        self.links.append(LinkNode(work.coordinate.copy(), work.turned.copy(), work.momentum.copy()))
        return super()._present(place)
