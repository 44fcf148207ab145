"""A mechanism at one state in maximal coordinates, and the linear systems that give its velocities after a step.

Motions are m, world, and rad, body axes; with M the masses, f the forces with the gyroscopic torques, D and K their
derivatives by velocities and motions, G the rows of joints and constraints, g their values:

    A v1 - G^T y = p,    G v1 = target rates - rate g

y: impulses. Where A is M, the block LDU of the kernels solves it in O(n); else a sparse LU (`SparseSystem`).
"""

from itertools import pairwise

import numpy as np
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import splu

from varint.kinematics.turns import start_turns
from varint.mechanism.mechanism import Mechanism
from varint.model.rotation_vectors import cross_matrix
from varint.model.state import State
from varint.results.inputs.at_nodes import Commands, called, is_controlled, starts_of_motions
from varint.step.configuration import place_anew
from varint.step.constraints import start_constraints
from varint.step.velocity_steps import (
    differentiate_forces,
    evaluate_state,
    move_along_screws,
    move_poses,
    project_pose,
    project_velocity,
    solve_velocities,
)
from varint.step.workspace import workspace

CLOSED = 1e-14  # of a joint that is projected, in sizes of a part


class VelocityLevel:
    """The state of a mechanism that steps change, in a workspace of the kernels; nb bodies, nr rows.

    ``velocity`` (nb, 6), m/s, world, and rad/s, body axes; ``load`` (nb, 6), N, world, and N m, body axes, after
    `evaluate`. Bodies in the order of the kernels.

    Parameters
    ----------
    mechanism : Mechanism
    dt, steps : float, int
        Size, s, and number of the steps of the run, up to whose end inputs are functions of time.
    rate : float
        1/s, at which gaps close: g' = -rate g (DIFF eq. 1.97).
    share : float
        Of a step, after whose start inputs are taken.
    projected : bool
        Whether poses and velocities are moved onto the rows in each step.
    """

    def __init__(
        self, mechanism: Mechanism, dt: float, steps: int, rate: float, share: float, projected: bool = False
    ) -> None:
        self.mechanism, self.dt, self.steps, self.rate, self.share = mechanism, dt, steps, rate, share
        self.projected = projected
        self.compiled, self.plan = mechanism.compiled, mechanism.compiled.plan
        self.ws = workspace(self.plan, functions=self.compiled.functions)
        self.velocity = self.ws.velocity
        nb = len(mechanism.bodies)
        self.load, self._body = np.zeros((2, nb, 6))
        self._row = np.zeros(self.plan.rows.role.size)
        self._driven = np.flatnonzero(self.plan.constraints.driven)
        forces = enumerate(self.compiled.force.tolist())
        self._controlled = [(e, mechanism.forces[k]) for e, k in forces if is_controlled(mechanism.forces[k])]
        self._last: State | None = None
        self.node = 0

    # ------------------------------------------------------------------------------------- states

    def take(self, state: State) -> None:
        """Begin a step at ``state``: the node after the last one if `give` made it, else the start of a run."""
        ws, order, plan = self.ws, self.compiled.order, self.plan
        ws.position[0, :-1], ws.quat[0, :-1] = state.position[order], state.quat_wxyz[order]
        ws.velocity[:, :3], ws.velocity[:, 3:] = state.velocity[order], state.angular_velocity[order]
        if state is not self._last:
            self._start(state)
        self._set_targets(self.node)
        self._set_inputs(state)
        evaluate_state(plan, ws, True, self.load)
        self._set_rates(self.node + 1)

    def _start(self, state: State) -> None:
        mechanism, compiled = self.mechanism, self.compiled
        self.node = 0
        starts = starts_of_motions(mechanism, state)
        self._commands = Commands(mechanism, compiled, self.steps, self.dt, starts, self.steps * self.dt)
        self._steady = None if self._commands.varies else self._commands.at(np.zeros(1))
        self.ws.efforts.value_near[:] = 0.0
        start_turns(compiled, self.ws, state.turns, state.memory)
        place_anew(self.plan, self.ws, 0)
        self._set_targets(0)
        start_constraints(self.plan, self.ws, 0)

    def give(self) -> State:
        """End the step: the `State` that it led to, in the order of the description."""
        ws, slot = self.ws, self.compiled.slot
        if self.projected:
            project_velocity(self.plan, ws, self._row)
        self.node += 1
        self._last = State(
            ws.position[0, slot], ws.quat[0, slot], self.velocity[slot, :3].copy(), self.velocity[slot, 3:].copy()
        )
        return self._last

    def evaluate(self) -> None:
        """Evaluate the rows and ``load`` at the present pose and velocity, with the present inputs, within a step."""
        evaluate_state(self.plan, self.ws, False, self.load)

    def _inputs(self, node: float) -> np.ndarray:
        """Return inputs of the elements and their rates (2, ne) at ``node``; zero for functions of the state."""
        return (self._commands.at(np.array([node])) if self._steady is None else self._steady)[:, 0]

    def _set_inputs(self, state: State) -> None:
        self.ws.efforts.input[:] = self._inputs(self.node + self.share)[0]
        for element, force in self._controlled:
            self.ws.efforts.input[element] = called(force, self.node * self.dt, state)

    def _set_targets(self, node: int) -> None:
        """Set the targets of prescribed motions at ``node``."""
        constraints = self.plan.constraints
        targets = self._inputs(node)[0, constraints.element[self._driven]]
        self.ws.efforts.target[constraints.row[self._driven]] = targets

    def _set_rates(self, node: int) -> None:
        """Set the rates of the targets of prescribed motions at ``node``."""
        constraints = self.plan.constraints
        rates = self._inputs(node)[1, constraints.element[self._driven]]
        self.ws.efforts.target_rate[constraints.row[self._driven]] = rates

    def move(self, velocity: np.ndarray, along_screws: bool = False) -> None:
        """Move the poses by ``velocity`` (nb, 6) over the step, and onto the rows where they are projected.

        ``along_screws``: see `move_along_screws`, which changes ``velocity``.
        """
        (move_along_screws if along_screws else move_poses)(self.plan, self.ws, self.dt, velocity)
        self._take_end()
        if self.projected:
            project_pose(self.plan, self.ws, CLOSED * self.compiled.length, self._body, self._row)

    def _take_end(self) -> None:
        """Take the inputs and the targets at the end of the step; functions of the state keep their values."""
        controlled = np.array([element for element, _ in self._controlled], dtype=int)
        held = self.ws.efforts.input[controlled]
        self.ws.efforts.input[:] = self._inputs(self.node + 1)[0]
        self.ws.efforts.input[controlled] = held
        self._set_targets(self.node + 1)

    # ------------------------------------------------------------------------------------- velocities

    @property
    def rates(self) -> np.ndarray:
        """(nr,) right side of the rows, after `take` or `evaluate`."""
        return self.ws.efforts.target_rate - self.rate * self.ws.residual_row

    def momenta(self, velocity: np.ndarray) -> np.ndarray:
        """Return M v (nb, 6) of velocities (nb, 6)."""
        bodies = self.plan.bodies
        spin = np.einsum("nij,nj->ni", bodies.inertia, velocity[:, 3:])
        return np.concatenate([bodies.mass[:, None] * velocity[:, :3], spin], axis=1)

    def solved(self, momenta: np.ndarray) -> np.ndarray:
        """Return velocities (nb, 6) that obey A = M and p = ``momenta`` (nb, 6)."""
        body, self._row[:] = momenta.copy(), self.rates
        solve_velocities(self.plan, self.ws, body, self._row)
        return body


class Pattern:
    """The places of entries in a sparse matrix of that ``shape``; entries of one place add up, others are left out."""

    def __init__(self, blocks: list[tuple[np.ndarray, np.ndarray]], shape: tuple[int, int]) -> None:
        rows, columns = np.concatenate([_places(*block) for block in blocks], axis=1)
        self.shape, self._inside = shape, (rows < shape[0]) & (columns < shape[1])
        keys, self._place = np.unique((columns * shape[0] + rows)[self._inside], return_inverse=True)
        self.rows, self.columns = keys % shape[0], keys // shape[0]
        self._starts = np.searchsorted(self.columns, np.arange(shape[1] + 1))

    def data(self, *blocks: np.ndarray) -> np.ndarray:
        """Return the entries (N,): sums over the blocks, which are in the order of the places."""
        entries = np.concatenate([block.ravel() for block in blocks])[self._inside]
        return np.bincount(self._place, entries, len(self.rows))

    def matrix(self, data: np.ndarray) -> csc_matrix:
        """Return the matrix with the ``data`` (N,)."""
        return csc_matrix((data, self.rows, self._starts), shape=self.shape)


class ForceMatrices:
    """M, K and D (6 nb, 6 nb) of `VelocityLevel` as data of one ``pattern``; bodies in the order of the kernels.

    K and D are the derivatives of the loads by motions and by velocities. They are exact, the gyroscopic torques among
    them; inputs are held.
    """

    def __init__(self, level: VelocityLevel) -> None:
        self.level, plan = level, level.plan
        nr, nb, loads = plan.rows.role.size, plan.bodies.mass.size, plan.loads
        self._own = np.arange(nr, plan.measures.kind.size)
        self._sum = np.repeat(np.arange(plan.laws.sum_first.size - 1), np.diff(plan.laws.sum_first))
        self._pair = np.argwhere(self._sum[:, None] == self._sum).T
        self._turned, self._along = np.zeros((len(self._own), 12, 12)), np.zeros((len(self._own), 12))
        other = np.where(loads.other >= 0, np.append(loads.body, nb)[loads.other], nb)
        measured = _columns(plan.measures.body[self._own]).reshape(-1, 12)
        left, right = (measured[side] for side in self._pair)
        of_loads, all_bodies = _columns(loads.body), _columns(np.arange(nb))
        blocks = [
            (measured, measured),
            (left, right),
            (of_loads, of_loads),
            (of_loads, _columns(other)),
            (all_bodies, all_bodies),
        ]
        self.pattern = Pattern(blocks, (6 * nb, 6 * nb))
        self._none = [np.zeros(rows.shape[0] * rows.shape[1] * columns.shape[1]) for rows, columns in blocks]
        masses = np.zeros((nb, 6, 6))
        masses[:, :3, :3] = plan.bodies.mass[:, None, None] * np.eye(3)
        masses[:, 3:, 3:] = plan.bodies.inertia
        self.M = self.pattern.data(*self._none[:-1], masses)
        self._spin = np.zeros((nb, 6, 6))

    def evaluate(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the data of K and of D after `VelocityLevel.take`."""
        level, (left, right) = self.level, self._pair
        plan, work = level.plan, level.ws.efforts
        differentiate_forces(plan, level.ws, self._turned, self._along)
        g = work.gradient[self._own].reshape(-1, 12)
        by_value, by_rate = work.sum_by_value[self._sum, None], work.sum_by_rate[self._sum, None]
        along = by_value * g + by_rate * self._along
        J, w = plan.bodies.inertia, level.velocity[:, 3:]
        self._spin[:, 3:, 3:] = cross_matrix(np.einsum("nij,nj->ni", J, w)) - cross_matrix(w) @ J
        pose, velocity = work.wrench_by_pose, work.wrench_by_velocity
        efforts, damping = g[left, :, None] * along[right, None], (by_rate * g)[left, :, None] * g[right, None]
        K = self.pattern.data(self._turned, efforts, pose[:, 0], pose[:, 1], self._none[4])
        return K, self.pattern.data(self._none[0], damping, velocity[:, 0], velocity[:, 1], self._spin)

    def product(self, data: np.ndarray, motions: np.ndarray) -> np.ndarray:
        """Return the products (nb, 6) of the matrix with the ``data`` and motions (nb, 6)."""
        return (self.pattern.matrix(data) @ motions.ravel()).reshape(-1, 6)


class SparseSystem:
    """Solves the system of the module for any A, by a sparse LU of the rows that the block LDU finds independent."""

    def __init__(self, level: VelocityLevel, pattern: Pattern) -> None:
        self.level, plan, n = level, level.plan, pattern.shape[0]
        nr, acts = plan.rows.role.size, level.ws.released == 0.0
        self._first = np.arange(nr)  # the row that a row of a constraint is added to
        for start, size in zip(plan.constraints.row, plan.constraints.size, strict=True):
            self._first[start : start + size] = start
        self._acting, self._kept = np.flatnonzero(acts), np.flatnonzero(acts & (self._first == np.arange(nr)))
        m = self._kept.size
        rows = n + np.searchsorted(self._kept, self._first[self._acting])[:, None]
        columns = _columns(plan.measures.body[self._acting]).reshape(-1, 12)
        columns[columns >= n] = n + m  # of the world
        diagonal = n + np.arange(m)[:, None]
        blocks = [(pattern.rows[:, None], pattern.columns[:, None]), (rows, columns), (columns, rows)]
        self._pattern = Pattern([*blocks, (diagonal, diagonal)], (n + m, n + m))
        self._nodes = list(pairwise(plan.loops.node_row.tolist()))
        self._body, self._row = np.zeros((n // 6, 6)), np.zeros(nr)

    def solved(self, A: np.ndarray, momenta: np.ndarray) -> np.ndarray:
        """Return velocities (nb, 6) from the data of A and ``momenta`` p (nb, 6); NaN if numbers are not finite."""
        level, scale = self.level, self.level.plan.rows.scale * ~self._redundant()
        G = scale[self._first[self._acting], None] * level.ws.jacobian[0, self._acting].reshape(-1, 12)
        b = np.concatenate([momenta.ravel(), (scale * level.rates)[self._kept]])
        data = self._pattern.data(A, G, -G, (scale[self._kept] == 0.0).astype(float))
        if not (np.isfinite(data).all() and np.isfinite(b).all()):
            return np.full_like(momenta, np.nan)
        matrix = self._pattern.matrix(data)
        factors = splu(matrix)
        x = factors.solve(b)
        x += factors.solve(b - matrix @ x)  # rows then hold to round-off
        return x[: momenta.size].reshape(-1, 6)

    def _redundant(self) -> np.ndarray:
        """Return which rows (nr,) are sums of others in the present pose."""
        level, redundant = self.level, np.zeros(self._row.size, dtype=bool)
        if not self._nodes:
            return redundant
        self._body[:], self._row[:] = 0.0, 0.0
        solve_velocities(level.plan, level.ws, self._body, self._row)
        for (first, last), rank in zip(self._nodes, level.ws.ldu.rank.tolist(), strict=True):
            redundant[self._first[first + level.ws.ldu.pivot[1, first + rank : last]]] = True
        return redundant


def _columns(bodies: np.ndarray) -> np.ndarray:
    """Return the columns (..., 6) of the motions of ``bodies`` (...,)."""
    return 6 * bodies[..., None] + np.arange(6)


def _places(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return row and column (2, N) of each entry of blocks (n, a, b) whose rows are (n, a) and columns (n, b)."""
    shape = (*rows.shape, columns.shape[1])
    pair = np.broadcast_to(rows[..., None], shape), np.broadcast_to(columns[:, None], shape)
    return np.array(pair).reshape(2, -1)
