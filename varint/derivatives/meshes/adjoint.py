"""Gradients that go back along the stages of a run with deformable bodies.

A stage (methods/variational/deformable_march.py) is one of the bodies alone, from the momenta P - W to P' - W', with

    W = J^T s,    W' = J'^T e,    s_f = p,    p' = e_f,
    s = M (x' - x) / h - k,    e = M (x' - x) / h + k,    k = h/2 (f(x_m) + f_v(x_m, (x' - x) / h) + M g)

of all vertices, free ones (f) and those that bodies hold (h), of which J and J' are the Jacobians at both ends. Let mu
and nu be the gradients of the objective by p and p', and Q and Q' those by the momenta of the bodies. The gradients
sigma by s and epsilon by e are -mu and nu of free vertices, and -J Q and J' Q' of held ones. Those by the places at the
end are X' = (ds/dx')^T sigma + (de/dx')^T epsilon, those at the start X likewise. X'_f and the gradient by the free
places at the end have the sum zero, which gives mu. X'_h acts as J'^T X'_h on the poses of the bodies at the end, which
the stage of the bodies alone takes to the momenta at its start: a system of the attached bodies is solved.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_array, diags_array
from scipy.sparse.linalg import splu

from varint.derivatives.backward import Adjoint, load_node, velocity_of
from varint.derivatives.given import LoadPlace
from varint.derivatives.meshes.start_changes import MeshStart
from varint.derivatives.meshes.tape import MeshTape
from varint.derivatives.taped import TapePart
from varint.meshes.attached_meshes import AttachedMeshes
from varint.meshes.mesh_state import MeshState
from varint.step.derivatives.adjoint import carry_back
from varint.step.meshes.steps import velocities_with_back
from varint.step.plan import ByNumbers
from varint.step.workspace import by_numbers


@dataclass(frozen=True, eq=False)
class StageDuals:
    """The motion of a stage, and the gradients by what its vertices add to the equations.

    h : float, s
    x : (2, n, 3) m, at its start and end
    position, rotation : (2, nb + 1, 3), (2, nb + 1, 3, 3) of the bodies there
    momenta : (2, nb, 6) gradients by the momenta of the bodies there
    free : (2, f, 3) gradients -mu and by p' of the free vertices
    """

    h: float
    x: np.ndarray
    position: np.ndarray
    rotation: np.ndarray
    momenta: np.ndarray
    free: np.ndarray

    def by_loads(self, meshes: AttachedMeshes) -> np.ndarray:
        """Return sigma and epsilon (2, n, 3)."""
        duals = np.zeros_like(self.x)
        duals[:, meshes.free] = self.free
        for k, sign in enumerate((-1.0, 1.0)):
            duals[k, meshes.held] = sign * meshes.velocities(self.momenta[k], self.rotation[k])
        return duals


class NodeDuals(NamedTuple):
    """The motion at a node, and the gradients by the balance of momenta and by what the objective reads of vertices.

    position, rotation : (nb + 1, 3), (nb + 1, 3, 3) of the bodies
    velocity, momenta : (nb, 6) of the bodies, and the gradient by the balance
    free : (f, 3) m/s, velocities of the free vertices
    by_vertices : (2, n, 3) gradient by places and velocities
    """

    position: np.ndarray
    rotation: np.ndarray
    velocity: np.ndarray
    momenta: np.ndarray
    free: np.ndarray
    by_vertices: np.ndarray


class MeshStage:
    """The derivatives of s and e of a stage by the places of all vertices at its ends.

    Q : h/4 (K + N) of stiffness and of the viscous forces by places, D/2 of these by velocities, M/h
    """

    def __init__(self, meshes: AttachedMeshes, x: np.ndarray, h: float) -> None:
        middle, self.velocity = 0.5 * (x[0] + x[1]), (x[1] - x[0]) / h
        responses, viscosities = meshes.responses(middle), meshes.viscosities(middle, self.velocity)
        bent = meshes.slopes([each.by_place for each in viscosities])
        self.Q = (0.25 * h) * (meshes.slopes(responses) + bent)
        self.D = 0.5 * meshes.slopes(viscosities)
        self.M = np.repeat(meshes.mass / h, 3)
        self.viscous = meshes.forces(middle, viscosities)
        self.force = meshes.forces(middle, responses) + self.viscous + meshes.mass[:, None] * meshes.gravity
        self.mass, self.h = meshes.mass, h

    def back(self, both: np.ndarray, end: bool) -> np.ndarray:
        """Return gradients (3 n, k) by the places at the end or the start, from sigma and epsilon (2, 3 n, k)."""
        total, change = both[0] + both[1], both[0] - both[1]
        sign = 1.0 if end else -1.0
        return sign * (self.M[:, None] * total + self.D @ change) + self.Q.T @ change

    def matrix(self, free: np.ndarray) -> csc_array:
        """Return the transposed derivatives (3 f, 3 f) of s of the ``free`` coordinates by their places at the end."""
        whole = (diags_array(self.M) + self.Q + self.D).T.tocsc()
        return whole[free][:, free].tocsc()

    def loads(self) -> np.ndarray:
        """Return s and e (2, n, 3)."""
        moved, kick = self.mass[:, None] * self.velocity, 0.5 * self.h * self.force
        return np.array([moved - kick, moved + kick])

    def by_size(self, both: np.ndarray) -> float:
        """Return the derivative by h, from sigma and epsilon (2, n, 3)."""
        moved = self.mass[:, None] * self.velocity / self.h
        kick = 0.5 * self.force + (self.D @ self.velocity.ravel()).reshape(-1, 3)
        return float(np.sum(both[0] * (-moved - kick) + both[1] * (kick - moved)))


class MeshAdjoint(Adjoint):
    """See `Adjoint`.

    free : (2, f, 3) gradients by places and momenta of the free vertices
    by_vertices : (nodes, 2, n, 3) gradients by places and velocities of all vertices at the run's nodes
    duals : of the stages and nodes of the part of the run that was gone back along last, from its end on
    """

    run: MeshTape

    def __init__(self, run: MeshTape, by_states: np.ndarray, by: ByNumbers, places: Mapping[str, LoadPlace]) -> None:
        super().__init__(run, by_states, by, places)
        self.meshes = run.march.meshes
        self.free = np.zeros((2, len(self.meshes.free), 3))
        self.by_vertices = np.zeros((len(run.nodes), 2, *self.meshes.points.shape))
        self.duals: list[StageDuals | NodeDuals] = []
        self._scratch = by_numbers(run.compiled.plan, run.tape.h.size, 1)
        self._scratch.wanted[0] = False
        slots, free = self.meshes.slots, self.meshes.free
        self._motions = (6 * slots[:, None] + np.arange(6)).ravel()
        self._coordinates, self._held = (
            (3 * vertices[:, None] + np.arange(3)).ravel() for vertices in (free, self.meshes.held)
        )

    def back(self, part: TapePart) -> None:
        """See `Adjoint`."""
        self.duals = []
        super().back(part)

    def _back(self, first: int, last: int, events: int, state: np.ndarray, law_state: np.ndarray) -> None:
        for k in range(last - 1, first - 1, -1):
            self._stage_back(k, state, law_state)

    def _carried(self, k: int, state: np.ndarray, law_state: np.ndarray, by: ByNumbers) -> None:
        carry_back(self.run.compiled.plan, self.ws, self.run.tape, self.work, (k, k + 1), state, law_state, by)
        if by is self._scratch:
            by.products.count[0] = 0

    def _stage_back(self, k: int, state: np.ndarray, law_state: np.ndarray) -> None:
        meshes, ws, h, x = self.meshes, self.ws, float(self.run.tape.h[k]), self.run.march.taped[k].copy()
        alone, laws = state.copy(), law_state.copy()
        self._carried(k, alone, laws, self._scratch)
        position, rotation = ws.position.copy(), ws.rotation.copy()
        stage, after = MeshStage(meshes, x, h), state[:, 6:].copy()
        momenta, by_pose, mu = self._solved(k, stage, alone[:, 6:], after, rotation)
        state[:, :6] += by_pose
        self._carried(k, state, law_state, self.by)
        duals = StageDuals(h, x, position, rotation, np.array([momenta, after]), np.array([-mu, self.free[1]]))
        both, (s, _) = duals.by_loads(meshes), stage.loads()
        before = stage.back(both.reshape(2, -1, 1), False).reshape(-1, 3)
        state[:, :6] += meshes.wrenches(before, rotation[0])
        state[:, 3:6] -= meshes.leverage(momenta, s[meshes.held], rotation[0])
        self.free = np.array([before[meshes.free], mu])
        self.by.h[k] += stage.by_size(both)
        self.duals.append(duals)

    def _solved(
        self, k: int, stage: MeshStage, alone: np.ndarray, after: np.ndarray, rotation: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return gradients by the momenta (nb, 6) at the start of stage k, the poses (nb, 6) at its end, and mu (f, 3).

        ``alone`` (nb, 6): the first without the vertices; ``after`` (nb, 6): by the momenta at the end.
        """
        meshes, size, count = self.meshes, stage.M.size, self._motions.size
        answer = self._answers(k)
        J0, J1 = (meshes.jacobian(each) for each in rotation[:2])
        both = np.zeros((2, size, 1 + count))  # of what is known, and of each momentum at the start
        both[1, self._coordinates, 0] = self.free[1].ravel()
        both[1, self._held, 0] = meshes.velocities(after, rotation[1]).ravel()
        both[0, self._held, 1:] = -J0
        known = stage.back(both, True)[self._coordinates]
        known[:, 0] += self.free[0].ravel()
        mu = splu(stage.matrix(self._coordinates)).solve(known) if known.size else known
        both[0, self._coordinates] = -mu
        on_bodies = J1.T @ stage.back(both, True)[self._held]
        lever = meshes.leverage(after, stage.loads()[1][meshes.held], rotation[1])
        known_pose = on_bodies[:, 0].reshape(-1, 6)
        known_pose[:, 3:] += lever[meshes.slots]
        first = alone.ravel()[self._motions] + answer @ known_pose.ravel()
        by_momenta = np.linalg.solve(np.eye(count) - answer @ on_bodies[:, 1:], first)
        by_pose = np.zeros(alone.size)
        by_pose[self._motions] = known_pose.ravel() + on_bodies[:, 1:] @ by_momenta
        momenta = alone.copy()
        momenta.ravel()[self._motions] = by_momenta
        return momenta, by_pose.reshape(-1, 6), (mu[:, 0] + mu[:, 1:] @ by_momenta).reshape(-1, 3)

    def _answers(self, k: int) -> np.ndarray:
        """Return gradients (6 b, 6 b) by the momenta at the start of stage k, one column for each gradient by a pose.

        Those of the bodies alone, for unit gradients by the poses at the end.
        """
        nb, answers = len(self.by_start), np.zeros((self._motions.size, self._motions.size))
        for n, motion in enumerate(self._motions):
            unit, laws = np.zeros((nb, 12)), np.zeros_like(self.law_state)
            unit[divmod(int(motion), 6)] = 1.0
            self._carried(k, unit, laws, self._scratch)
            answers[:, n] = unit[:, 6:].ravel()[self._motions]
        return answers

    def _feed_vertices(self, k: int, by: np.ndarray) -> None:
        self.by_vertices[k] += by

    def _velocities_back(self, k: int, state: np.ndarray, law_state: np.ndarray) -> None:
        meshes, plan, node = self.meshes, self.run.compiled.plan, self.run.nodes[k]
        ws = load_node(node, plan, self.ws)
        position, rotation, by_vertices = ws.position[0].copy(), ws.rotation[0].copy(), self.by_vertices[k].copy()
        by_x, by_v = by_vertices
        state[:, 6:] += meshes.wrenches(by_v, rotation)
        velocities_with_back(plan, ws, 0, meshes.added_inertia(rotation), state, self.by)
        velocity, momenta, mass = ws.velocity.copy(), state[:, 6:].copy(), meshes.mass[meshes.held, None]
        for one, other in ((velocity, momenta), (momenta, velocity)):
            state[:, 3:6] -= meshes.leverage(one, mass * meshes.carried_velocities(other), rotation)
        state[:, :6] += meshes.wrenches(by_x, rotation)
        state[:, 3:6] += meshes.leverage(velocity, by_v[meshes.held], rotation)
        self.free += np.array([by_x[meshes.free], by_v[meshes.free] / meshes.mass[meshes.free, None]])
        assert isinstance(node.state, MeshState)
        free = node.state.all_vertices[1, meshes.free]
        self.duals.append(NodeDuals(position, rotation, velocity, momenta, free, by_vertices))

    def finish(self) -> None:
        """See `Adjoint`; before, the gradient by the start of the vertices becomes one by that of the bodies."""
        self.duals = []
        motion, bodies = self.run.march.started, self.run.compiled.plan.bodies
        self.started = self.by_start[:, 6:].copy()
        by_bodies = np.zeros_like(self.by_start)
        for i, c, starts in self.run.starts:
            by_bodies[i, c] = starts.of(self.start_value)
        extra = velocity_of(bodies, by_bodies[:, 6:])
        self.by_start[:, :6] += by_bodies[:, :6]
        self.by_start[:, 6:] += extra
        self.by.mass[:] -= np.sum(extra[:, :3] * motion[:, :3], axis=1)
        self.by.inertia[:] -= extra[:, 3:, None] * motion[:, None, 3:]
        super().finish()

    def start_value(self, start: MeshStart) -> float:
        """Return the product of the gradients at the start with the start of the vertices and their momenta."""
        meshes = start.meshes
        mass, free, held = meshes.mass[:, None], meshes.free, meshes.held
        of_free = np.sum(self.free[0] * start.x[free]) + np.sum(self.free[1] * mass[free] * start.v[free])
        carried = meshes.velocities(self.started, start.rotation)
        return float(of_free + np.sum(mass[held] * carried * start.v[held]))
