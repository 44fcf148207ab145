"""The march of a mechanism with deformable bodies, in the node-momentum form.

A stage of size h takes the vertices from x to x', with the discrete Lagrangian of the implicit midpoint rule,

    L = sum_i (m_i |x_i' - x_i|^2 / 2 h + h/2 m_i g . (x_i + x_i')) - h V((x + x') / 2)

with the elastic energy V. Viscous forces act as its gradient does, with the velocities (x' - x) / h. They do no work
along rigid motions: (F + F')^T (F' - F) / 2 is half the change of F^T F, but for an antisymmetric part. Free vertices
have the momenta p = -dL/dx at the start and p' = dL/dx' at the end. Attached ones follow their body, x = x_b + R_b r,
at both ends, so that -(dx/dq)^T dL/dx and (dx'/dq')^T dL/dx' add to its momenta. V is invariant under rigid motions,
so that without gravity the sums of momenta are constant; L is symmetric, so that a stage has order 2 and compositions
have the order of their scheme.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from varint.base.numba import allocate
from varint.mechanism.mechanism import Mechanism
from varint.meshes.attached_meshes import AttachedMeshes
from varint.meshes.mesh_start import start_along
from varint.meshes.mesh_state import vertices_of, with_vertices
from varint.meshes.vertex_record import subtract_lost
from varint.methods.variational.march import March
from varint.methods.variational.node_block import NodeBlock
from varint.methods.variational.schemes import Scheme
from varint.model.state import State
from varint.plan import Compiled
from varint.step.border import border_sizes, solve_border
from varint.step.intervals import Interval
from varint.step.meshes.coupling import pull_on_bodies, schur_complement, turns_to_velocities, vertices_after
from varint.step.meshes.steps import begin_stage, evaluate_stage, finish_stage, project_with, solve_bodies
from varint.step.solver_records import Border

ITERATIONS = 40
HALVINGS = 8  # of an increment that does not lower the residual
WARM = 3  # node from which on start values are extrapolated from the last two steps
ROUND_OFF = 32.0 * np.finfo(float).eps
SLOW = 0.3  # of the last increment: one above it was found with factors that are too old
STAGNANT = 100.0  # times round-off: increments below it that no longer halve are round-off


@dataclass(frozen=True, eq=False)
class DeformableBlock(NodeBlock):
    """Recorded nodes with the motion of all vertices.

    vertices, vertex_velocities : (T, n, 3) m, m/s, world
    """

    vertices: np.ndarray
    vertex_velocities: np.ndarray


class DeformableMarch(March):
    """State of a run with deformable bodies between two nodes; see `March`.

    momentum : (free, 3) N s, of the free vertices at the node
    x : (n, 3) m, of all vertices at the node
    lost : (meshes,) J, by damping since the start
    started : (nb, 6) velocities of the bodies at the start
    given : (2, n, 3) places and velocities of all vertices in the state that the run starts from, or None
    taped : (kept, 2, n, 3) m, of all vertices at the start and the end of the stages on the tape
    """

    halves = False
    goes_back = True

    def __init__(
        self, mechanism: Mechanism, compiled: Compiled, scheme: Scheme, dt: float, tol: float, every: int, kept: int = 0
    ) -> None:
        super().__init__(compiled, scheme, dt, tol, every, kept=kept)
        self._mechanism, self.meshes = mechanism, AttachedMeshes(mechanism, compiled)
        self.x, free = self.meshes.points.copy(), len(self.meshes.free)
        self.momentum = np.zeros((free, 3))
        self.lost = np.zeros(len(self.meshes.meshes))
        self._speeds = np.zeros((scheme.stages.size, 2, free, 3))  # of the free vertices over the last stages
        b, nb, nr = len(self.meshes.slots), compiled.plan.bodies.mass.size, compiled.plan.rows.role.size
        self.given: np.ndarray | None = None
        self.started, self.taped = np.zeros((nb, 6)), np.zeros((kept, 2, *self.x.shape))
        self._border, self._pull = allocate(Border, border_sizes(6 * b, b, nb, nr)), np.zeros(6 * b)
        self._border.count[0] = 6 * b
        self._border.body[:] = self.meshes.slots
        self._border.upper[:] = np.eye(6 * b).reshape(6 * b, b, 6)
        solve_border.prepare()

    def start(self, state: State) -> DeformableBlock:
        """Place the mechanism at node 0, the vertices in equilibrium or as a `MeshState` has them, and record it."""
        super().start(state)
        ws, meshes = self.ws, self.meshes
        self.started = ws.velocity.copy()
        self.given = vertices_of(self._mechanism, state)
        x, v = start_along(meshes, ws.position[0], ws.rotation[0], ws.velocity, self.given)
        self.x, self.momentum = x, meshes.mass[meshes.free, None] * v[meshes.free]
        self._speeds[:] = v[meshes.free]
        ws.momentum[:] += np.einsum("nij,nj->ni", meshes.added_inertia(ws.rotation[0]), ws.velocity)
        return self.present()

    def _start_damping(self) -> None:
        """Leave all efforts by mean rates: the steps with vertices know no others."""

    def present(self) -> DeformableBlock:
        """Return the present node; nothing that the steps to come depend on is changed."""
        arrays = self.outputs(1)
        self._write_node(arrays, 0)
        return self.block(np.array([self.node]), arrays, 1)

    def outputs(self, records: int) -> tuple[np.ndarray, ...]:
        """See `March`; with vertices and their velocities."""
        lost = np.empty((records, len(self.lost)))
        return (*super().outputs(records), lost, *np.empty((2, records, len(self.meshes.points), 3)))

    def block(self, nodes: np.ndarray, arrays: tuple[np.ndarray, ...], records: int) -> DeformableBlock:
        """See `March`."""
        *others, lost, x, v = arrays
        block = super().block(nodes, tuple(others), records)
        subtract_lost(self._mechanism, block.work, lost[:records])
        return DeformableBlock(**vars(block), vertices=x[:records].copy(), vertex_velocities=v[:records].copy())

    def state(self) -> State:
        """See `March`; a `MeshState`."""
        block = self.present()
        motion = np.array([block.vertices[-1], block.vertex_velocities[-1]])
        return with_vertices(self._mechanism, block.last_state(), motion)

    def unresolved_end(self) -> int:
        """Return -1: the balance of energy does not judge steps with deformable bodies."""
        return -1

    def checkpoint(self) -> dict:
        """See `March`."""
        arrays = {"vertices": self.x, "vertex momenta": self.momentum, "vertex speeds": self._speeds}
        arrays["lost"] = self.lost
        return super().checkpoint() | {name: array.copy() for name, array in arrays.items()}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """See `March`."""
        super().restore(saved)
        for array, name in (
            (self.x, "vertices"),
            (self.momentum, "vertex momenta"),
            (self._speeds, "vertex speeds"),
            (self.lost, "lost"),
        ):
            array[:] = saved[name]

    def _run(self, steps: int) -> tuple[bool, NodeBlock]:
        nodes = self.to_record(steps)
        arrays, records, counts = self.outputs(len(nodes)), 0, 7
        for _ in range(steps):
            solved, iterations = self._step()
            arrays[counts][0] += iterations
            if not solved:
                return False, self.block(nodes[:records], arrays, records)
            self.node += 1
            self.ws.pace.time[0] = self.dt * self.node
            if self.node % self.every == 0:
                self._write_node(arrays, records)
                records += 1
        return True, self.block(nodes[:records], arrays, records)

    def _write_node(self, arrays: tuple[np.ndarray, ...], k: int) -> None:
        """Write the present node to row ``k`` of the `outputs`."""
        plan, ws, meshes, pose = self.compiled.plan, self.ws, self.meshes, self.pose
        position, quat, velocity, work, states, _, times, _, lost, x, v = arrays
        project_with(plan, ws, pose, meshes.added_inertia(ws.rotation[pose]), work[k])
        position[k], quat[k], velocity[k] = ws.position[pose, :-1], ws.quat[pose, :-1], ws.increment_body
        states[k], times[k], lost[k], x[k], v[k] = ws.efforts.state, self.time, self.lost, self.x, 0.0
        v[k, meshes.free] = self.momentum / meshes.mass[meshes.free, None]
        v[k, meshes.held] = meshes.velocities(ws.increment_body, ws.rotation[pose])

    def _step(self) -> tuple[bool, int]:
        """Make a step from the present node; return whether it was solved, and its iterations."""
        plan, ws, inputs, before, count = self.compiled.plan, self.ws, self.acting(), 0.0, 0
        stages, extrapolate = self.scheme.stages.tolist(), self.node >= WARM
        for n, share in enumerate(stages):
            h, after = self.dt * share, before + share
            when = Interval(self.node, before, after, self.dt)
            begin_stage(plan, ws, inputs, h, n, extrapolate, when)
            stage = DeformableStage(self, h)
            solved, iterations = stage.solve(self._speeds[n], extrapolate)
            count += iterations
            if not solved:
                return False, count
            last, k = n == len(stages) - 1, int(ws.tape.count[0])
            if not finish_stage(plan, ws, inputs, self.pose, h, self.tol, n, when, last):
                return False, count
            if k < len(self.taped):
                ws.tape.momentum[k] -= self.meshes.wrenches(stage.start_momenta, ws.rotation[self.pose])
                self.taped[k] = self.x, stage.x
            ws.momentum[:] += self.meshes.wrenches(stage.end_momenta, ws.rotation[1 - self.pose])
            self.lost -= h * stage.damping_power()
            self.momentum += (stage.end_momenta - stage.start_momenta)[self.meshes.free]
            self.x, self.pose, before = stage.x, 1 - self.pose, after
            self._speeds[n, 1], self._speeds[n, 0] = self._speeds[n, 0], stage.speed
        return True, count


class DeformableStage:
    """The equations of one stage of a `DeformableMarch`, and their solution.

    x : (n, 3) m, of all vertices at its end
    speed : (free, 3) m/s, change of the free ones over h
    start_momenta, end_momenta : (n, 3) N s, -dL/dx and dL/dx' of all vertices
    """

    def __init__(self, march: DeformableMarch, h: float) -> None:
        self.march, self.h = march, h
        self.plan, self.ws, self.meshes, self.pose = march.compiled.plan, march.ws, march.meshes, march.pose
        self.speed = np.zeros_like(march.momentum)
        self.x = march.x.copy()
        self.start_momenta = self.end_momenta = np.zeros_like(self.x)
        self._factors: Any = None

    def solve(self, speeds: np.ndarray, extrapolate: bool) -> tuple[bool, int]:
        """Solve for bodies, rows and vertices by Newton's method; return whether it converged, and the iterations.

        ``speeds`` (2, free, 3): of the last two such stages; the next is ``extrapolate``-d from them.

        Converged when the next increment is expected to be at round-off. The factors of the vertices serve as long as
        the increments shrink fast.
        """
        ws, length = self.ws, self.plan.bodies.length[0]
        self.speed = 2.0 * speeds[0] - speeds[1] if extrapolate else speeds[0].copy()
        merit, before = self._evaluate(np.inf), np.inf
        for iteration in range(1, ITERATIONS + 1):
            if not np.isfinite(merit):
                return False, iteration
            fresh = self._factors is None
            change, bodies, rows = self._increment()
            size = max(np.abs(change).max(initial=0.0), np.abs(bodies * np.repeat([1.0, length], 3)).max())
            fastest = max(np.abs(self.speed).max(initial=0.0), np.abs(ws.velocity[:, :3]).max())
            least = ROUND_OFF * (fastest + np.abs(self.x).max() / abs(self.h))
            kept, share, previous = (self.speed, ws.velocity.copy(), ws.multiplier.copy()), 1.0, merit
            for _ in range(HALVINGS):
                self.speed = kept[0] + share * change
                ws.velocity[:], ws.multiplier[:] = kept[1] + share * bodies, kept[2] + share * rows
                merit = self._evaluate(share * size)
                if merit < previous or size <= STAGNANT * least:
                    break
                share *= 0.5
            if not (merit < previous or size <= STAGNANT * least):
                if fresh:
                    return False, iteration
                self.speed, self._factors = kept[0], None
                ws.velocity[:], ws.multiplier[:] = kept[1], kept[2]
                merit = self._evaluate(np.inf)
                continue
            stagnant = size <= STAGNANT * least and size >= 0.5 * before
            sharp = iteration > 1 and size * size <= least * before  # so is the next increment
            if share == 1.0 and (size <= least or sharp or stagnant):
                return True, iteration
            if share < 1.0 or size > SLOW * before:
                self._factors = None
            before = size
        return False, ITERATIONS

    def _evaluate(self, increment: float) -> float:
        """Evaluate the residuals at the present unknowns; return the sum of their squares, each scaled to m/s."""
        plan, ws, meshes, h, pose = self.plan, self.ws, self.meshes, self.h, self.pose
        if not np.isfinite(evaluate_stage(plan, ws, pose, h, increment)):
            return np.nan
        x0, mass = self.march.x, meshes.mass[:, None]
        self.x = x0.copy()
        self.x[meshes.free] += h * self.speed
        meshes.place(ws.position[1 - pose], ws.rotation[1 - pose], self.x)
        middle = 0.5 * (x0 + self.x)
        self._responses = meshes.responses(middle)
        self._velocity = (self.x - x0) / h
        self._viscosities = meshes.viscosities(middle, self._velocity)
        self._viscous = meshes.forces(middle, self._viscosities)
        kick = 0.5 * h * (meshes.forces(middle, self._responses) + self._viscous + mass * meshes.gravity)
        moved = mass * self._velocity
        self.start_momenta, self.end_momenta = moved - kick, moved + kick
        self._residual = self.start_momenta[meshes.free] - self.march.momentum
        ws.residual_body[:] += meshes.wrenches(self.start_momenta, ws.rotation[pose])
        closed = ws.released == 0.0
        rows = (plan.rows.scale * ws.residual_row)[closed]
        bodies = ws.residual_body * np.repeat(plan.bodies.scale, 3, axis=1)
        vertices = self._residual / mass[meshes.free]
        return float(np.sum(rows * rows) + np.sum(bodies * bodies) + np.sum(vertices * vertices))

    def damping_power(self) -> np.ndarray:
        """Return the power (meshes,), W, of the damping in the stage."""
        return self.meshes.power(self._viscous, self._velocity)

    def _factor(self) -> None:
        """Factor the matrix of the free vertices, and compute its Schur complement on the bodies."""
        meshes, ws, h = self.meshes, self.ws, self.h
        parts = meshes.stiffness(self._responses, 0.25 * h * h, True, damping=(self._viscosities, 0.5 * h))
        lu = meshes.factors(parts.free)
        J0, J1 = meshes.jacobian(ws.rotation[self.pose]), meshes.jacobian(ws.rotation[1 - self.pose])
        before, after = parts.mixed @ J0, parts.mixed @ J1
        followed = np.ascontiguousarray(lu.solve(after)) if after.size else after
        lower = self.march._border.lower
        schur_complement(J0, parts.held @ J1, before, followed, lower.reshape(len(lower), len(lower)))
        self._factors = lu, before, followed

    def _increment(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return Newton's changes of the speeds (free, 3), of velocities (nb, 6) and of multipliers (nr,)."""
        # With f the free vertices, b the bodies and rows, C and K_h the stiffness of free by held and of held vertices,
        # J0 and J1 the Jacobians of the held ones at both poses:
        #   K_f df + C J1 db = -r_f,    (A + J0^T K_h J1) db + (C J0)^T df = -r_b
        # Without df this is A + S with S on the attached bodies alone: rows of a border, with factors as old as
        # those of K_f.
        fresh = self._factors is None
        if fresh:
            self._factor()
        lu, before, followed = self._factors
        ws, slots, h, march = self.ws, self.meshes.slots, self.h, self.march
        free = lu.solve(self._residual.ravel())
        ws.increment_body[:], ws.increment_row[:] = -ws.residual_body, -ws.residual_row
        pull_on_bodies(before, free, slots, march._pull, ws.increment_body)
        solve_bodies(self.plan, ws, march._border, self.pose, h, fresh)
        body, row, change = ws.increment_body.copy(), ws.increment_row.copy(), np.empty_like(free)
        vertices_after(free, followed, slots, body, change)
        turns_to_velocities(ws.velocity, h, body)
        return change.reshape(-1, 3), body, row
