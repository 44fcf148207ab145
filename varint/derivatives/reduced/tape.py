"""A run in reduced coordinates of which all steps are kept."""

from collections.abc import Sequence

import numpy as np

from varint.base.errors import ArgumentError, ConvergenceError
from varint.derivatives.reduced.records import ReducedNode, ReducedSetting, Step
from varint.derivatives.reduced.steps import ExplicitSteps, ImplicitSteps, Recorder
from varint.mechanism.mechanism import Mechanism
from varint.meshes.mesh_state import vertices_of, with_vertices
from varint.methods.reduced.implicit import Motion
from varint.methods.reduced.integrators import Integrator
from varint.methods.reduced.integrators.explicit import Explicit
from varint.methods.reduced.integrators.fixed_steps import Implicit
from varint.methods.reduced.mesh_dynamics import MeshInverse
from varint.methods.reduced.states import ReducedState
from varint.model.forces.soft_mesh import soft_meshes
from varint.model.state import State


class ReducedTape:
    """A run whose steps are kept, and some of its nodes.

    Parameters
    ----------
    mechanism : Mechanism
    kind : type of Implicit or Explicit
        The scheme.
    state : State or ReducedState
        To start from.
    setting : ReducedSetting
    at : sequence of int
        Numbers of the nodes, rising; the run ends at the last one.

    Attributes
    ----------
    start : (q, rates)
        As the run has it, before prescribed joints are where their motion says; free vertices after the joints.
    joints_at_start : (q, rates)
        The joints of ``start``.
    given : (2, n, 3), optional
        Places and velocities of all vertices in the ``state``.
    meshes : MeshInverse, optional
        Of deformable bodies and nets.
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
        self.joints_at_start: Motion = start[0], start[1]
        self.tree, self.given = e.tree, vertices_of(mechanism, state)
        self.nodes: list[ReducedNode] = []
        self.steps: list[Step] = []
        recorder: Recorder
        if issubclass(kind, Explicit):
            if e.row_count:
                raise ArgumentError(
                    f"gradients with scheme {kind.name!r} are those of trees, and '{mechanism.name}' has loops or"
                    " couplings: take an implicit scheme"
                )
            recorder = ExplicitSteps(kind, e, self.joints_at_start, setting)
        else:
            recorder = ImplicitSteps(kind, e, self.joints_at_start, setting, self.given)
        vertices = recorder.vertices()
        self.start: Motion = np.append(start[0], vertices[0]), np.append(start[1], vertices[1])
        self.meshes = MeshInverse(e) if soft_meshes(mechanism) else None
        if at[0] == 0:
            self._keep(0, self.start)
        for number in at[int(at[0] == 0) :]:
            self.steps.extend(recorder.up_to(number))
            if recorder.integrator.failure:
                self._fail(recorder.integrator)
            self._keep(number, self.steps[-1].end)

    def _keep(self, number: int, motion: Motion) -> None:
        """Keep the node of that number, at ``motion``."""
        e = self.equations
        q, rates = self.imposed(number * self.setting.dt, motion)
        e.place_and_move(q[: e.nq], rates[: e.nq])
        state = e.state()
        if self.meshes:
            vertices = self.meshes.places(q[e.nq :]), self.meshes.velocities(rates[e.nq :])
            state = with_vertices(self.mechanism, state, np.array(vertices))
        self.nodes.append(ReducedNode(number, len(self.steps), e.tree, (q, rates), state))

    def imposed(self, t: float, motion: Motion) -> Motion:
        """Impose the prescribed joints at time ``t``, s, on ``motion``; return the result."""
        nq = self.equations.nq
        q, rates, _ = self.equations.imposed(t, motion[0][:nq], motion[1][:nq])
        return np.append(q, motion[0][nq:]), np.append(rates, motion[1][nq:])

    def _fail(self, integrator: Integrator) -> None:
        e, t = self.equations, integrator.t
        body = e.hardest_accelerated(t, *np.split(integrator.y[: 2 * e.nq], 2))
        message = f"the step at t = {t:g} s, hardest for body '{body}', could not be done: {integrator.failure}"
        raise ConvergenceError(message, time=t, body=body, joint=None, trajectory=None)
