"""A run in reduced coordinates of which all steps are kept."""

from collections.abc import Sequence

import numpy as np

from varint.errors import ArgumentError, ConvergenceError
from varint.gradients.reduced_records import ReducedNode, ReducedSetting, Step
from varint.gradients.reduced_steps import ExplicitSteps, ImplicitSteps, Recorder
from varint.mechanism import Mechanism
from varint.model.state import State
from varint.redmax.implicit import Motion
from varint.redmax.integrators import Integrator
from varint.redmax.integrators.explicit import Explicit
from varint.redmax.integrators.fixed_steps import Implicit
from varint.redmax.states import ReducedState


class ReducedTape:
    """A run whose steps are kept, and some of its nodes.

    Parameters
    ----------
    mechanism : Mechanism
    kind : type of Implicit or Explicit
        The scheme.
    state : State or ReducedState
        To start from.
    setting : Setting
    at : sequence of int
        Numbers of the nodes, rising; the run ends at the last one.

    Attributes
    ----------
    start : (q, rates)
        As the run has it, before prescribed joints are where their motion says.
    tree : Tree
        At the start.

    Raises ArgumentError, StateError, ConvergenceError.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        kind: type[Implicit] | type[Explicit],
        state: State | ReducedState,
        setting: ReducedSetting,
        at: Sequence[int],
    ) -> None:
        self.mechanism, self.setting = mechanism, setting
        self.equations, *start = setting.equations(mechanism, state)
        e = self.equations
        if not e.nq:
            raise ArgumentError(f"mechanism '{mechanism.name}' has no coordinate: nothing can move")
        self.start: Motion = start[0], start[1]
        self.tree = e.tree
        self.nodes: list[ReducedNode] = []
        self.steps: list[Step] = []
        if at[0] == 0:
            self._keep(0, self.start)
        recorder: Recorder
        if issubclass(kind, Explicit):
            if e.row_count:
                raise ArgumentError(
                    f"gradients with scheme {kind.name!r} are those of trees, and '{mechanism.name}' has loops or"
                    " couplings: take an implicit scheme"
                )
            recorder = ExplicitSteps(kind, e, self.start, setting)
        else:
            recorder = ImplicitSteps(kind, e, self.start, setting)
        for number in at[int(at[0] == 0) :]:
            self.steps.extend(recorder.up_to(number))
            if recorder.integrator.failure:
                self._fail(recorder.integrator)
            self._keep(number, self.steps[-1].end)

    def _keep(self, number: int, motion: Motion) -> None:
        """Keep the node of that number, at ``motion``."""
        e = self.equations
        q, rates, _ = e.imposed(number * self.setting.dt, *motion)
        e.place_and_move(q, rates)
        self.nodes.append(ReducedNode(number, len(self.steps), e.tree, (q, rates), e.state()))

    def _fail(self, integrator: Integrator) -> None:
        e, t = self.equations, integrator.t
        body = e.hardest_accelerated(t, *np.split(integrator.y[: 2 * e.nq], 2))
        message = f"the step at t = {t:g} s, hardest for body '{body}', could not be done: {integrator.failure}"
        raise ConvergenceError(message, time=t, body=body, joint=None, trajectory=None)
