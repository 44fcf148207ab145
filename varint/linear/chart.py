"""States by their minimal coordinates and rates: the chart in which a mechanism is linearised, to all orders."""

import numpy as np

from varint.display import names_text
from varint.errors import StateError
from varint.kernels.adjoint import velocities_back
from varint.kernels.columns import allowed_motions, changes_of_velocities
from varint.kernels.configuration import place, place_anew
from varint.kernels.constraints import follow_constraints, sum_of_constraint
from varint.kernels.workspace import by_numbers, tangent_work, workspace
from varint.linear.minimal_coordinates import DEPENDENT, Coordinates
from varint.mechanism import Mechanism
from varint.model.rotation_vectors import quat_from_vector, quat_product
from varint.model.state import State

LONGEST = 0.2  # rad, or sizes of a part, of coordinates and turns of bodies: how far these are moved at once
SHORTEST = 1e-3  # rad, or sizes of a part: shorter pieces mean that there is no way
PIECES = 200  # of the way to a state
ITERATIONS = 60  # of each piece
NEAR = 1e-6  # of the size: where joints are closed as well as this their redundant rows are seen as such
CLOSED = 1e-14  # of the size: nothing is left to do
ROUND_OFF = 1e-11  # of the size: joints that are closed, where corrections gain no more


class Chart:
    """States near that of ``coordinates`` by x (2 n,), what `Coordinates.read` reads of them.

    Joints are closed. Constraints of forces keep the values and rates that they have at the state of the coordinates.
    """

    def __init__(self, mechanism: Mechanism, coordinates: Coordinates) -> None:
        self.mechanism, self.coordinates, self.compiled = mechanism, coordinates, mechanism.compiled
        plan, state = self.compiled.plan, coordinates.state
        self.ws, self.work = workspace(plan, functions=self.compiled.functions), tangent_work(plan)
        self.no_numbers = by_numbers(plan, 0)  # gradients by these are left aside
        self.bodies, self.pushes = self._ends(coordinates.rows)
        self.rows = flat(coordinates.rows)
        slides = coordinates.rows[..., :3].any(axis=(1, 2))
        self.units = np.where(slides, self.compiled.length, 1.0)  # (n,) rad, or the size of a part, m
        velocity = np.hstack([state.velocity, state.angular_velocity])
        self.rates = self.rows @ velocity.ravel()  # (n,) at the state
        self._hold(velocity[self.compiled.order])

    def _ends(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Slots (n, 2) of the bodies between which the coordinates are, and their rows (n, 2, 6) by these."""
        world = rows.shape[1]
        bodies, pushes = np.full((len(rows), 2), world), np.zeros((len(rows), 2, 6))
        for n, row in enumerate(rows):
            found = np.flatnonzero(row.any(axis=1))
            bodies[n, : len(found)], pushes[n, : len(found)] = self.compiled.slot[found], row[found]
        return bodies, pushes

    def _hold(self, velocity: np.ndarray) -> None:
        """Targets of the constraints of forces, and their rates, by velocities (nb, 6) in kernel order."""
        plan, ws, state, order = self.compiled.plan, self.ws, self.coordinates.state, self.compiled.order
        ws.position[:, :-1], ws.quat[:, :-1] = state.position[order], state.quat_wxyz[order]
        place_anew(plan, ws, 0)
        follow_constraints(plan, ws, ws.position[0], ws.rotation[0])
        self.target_rate, moving = np.zeros(plan.rows.role.size), np.vstack([velocity, np.zeros(6)])
        for c, (first, size) in enumerate(zip(plan.constraints.row, plan.constraints.size, strict=True)):
            rows = slice(first, first + size)
            ws.efforts.target[first] = sum_of_constraint(plan, ws, c)
            self.target_rate[first] = np.sum(ws.jacobian[0, rows] * moving[plan.measures.body[rows]])
        self.near = ws.efforts.value_near.copy()

    def state(self, x: np.ndarray) -> State:
        """The state that has the coordinates and rates x (2 n,).

        Raises StateError where there is none that is connected with that of the coordinates by a path of such.
        """
        goal, rates = np.split(x, 2)
        self.ws.efforts.value_near[:] = self.near
        pose, at, most = self._placed(self.coordinates.state, 0), np.zeros_like(goal), LONGEST
        rows, motions = self.rows, flat(self.coordinates.motions)
        for _ in range(PIECES):
            turns = ((goal - at) @ motions).reshape(-1, 6)[:, 3:]
            longest = max(np.abs((goal - at) / self.units).max(initial=0.0), np.abs(turns).max())
            share = min(1.0, most / longest) if longest > 0.0 else 1.0
            there = goal if share == 1.0 else at + share * (goal - at)
            closed = self._closed(pose, there, rows, motions)
            if closed is None:
                self._placed(pose, 0)
                most = 0.25 * min(most, longest)
                if most < SHORTEST:
                    break
                continue
            pose, at = closed, there
            allowed, rows = self._allowed(), self._rows_at(pose)
            motions = self._along(rows, allowed)
            if share == 1.0:
                return self._moving(pose, rates, motions, self._along(self.rows, allowed))
        raise self._missing()

    def _placed(self, pose: State, number: int) -> State:
        """``pose`` as that pose of the workspace, with its rows."""
        ws, order = self.ws, self.compiled.order
        ws.position[number, :-1], ws.quat[number, :-1] = pose.position[order], pose.quat_wxyz[order]
        place(self.compiled.plan, ws, number)
        return pose

    def _rows_at(self, pose: State) -> np.ndarray:
        """(n, 6 nb) changes of the coordinates by motions of the bodies there."""
        return flat(self.coordinates.rows_at(pose))

    def _allowed(self) -> np.ndarray:
        """(n, 6 nb) independent motions that the rows allow at pose 0."""
        found = np.zeros_like(self.coordinates.rows)
        allowed_motions(self.compiled.plan, self.ws, self.work, self.bodies, self.pushes, found)
        return flat(found[:, self.compiled.slot])

    def _along(self, rows: np.ndarray, motions: np.ndarray) -> np.ndarray:
        """(n, 6 nb) ``motions`` combined, so that each changes one of the coordinates with these ``rows`` alone."""
        for _ in range(2 if len(rows) else 0):  # the second pass takes off round-off
            among = rows @ motions.T
            if not np.linalg.cond(among, 1) <= DEPENDENT:
                raise self._missing()
            motions = np.linalg.inv(among).T @ motions
        return motions

    def _closed(self, pose: State, goal: np.ndarray, rows: np.ndarray, motions: np.ndarray) -> State | None:
        """The pose with the coordinates ``goal`` (n,), next to one that is closed and is pose 0; None: not found.

        ``rows``, ``motions`` (n, 6 nb) are those there, and so are the factors: next to a closed pose rows that are
        redundant look independent.
        """
        plan, ws, length = self.compiled.plan, self.ws, self.compiled.length
        pose, before, near = _moved(pose, (goal - self._read(pose)) @ motions), np.inf, False
        for _ in range(ITERATIONS):
            self._placed(pose, 1)
            off, gap = goal - self._read(pose), np.abs(plan.rows.scale * ws.residual_row).max(initial=0.0)
            size = max(gap, length * np.abs(off).max(initial=0.0)) / max(length, np.abs(pose.position).max())
            if size <= CLOSED or before <= min(2.0 * size, ROUND_OFF):
                self._placed(pose, 0)
                follow_constraints(plan, ws, ws.position[0], ws.rotation[0])
                return pose
            if not size < before:
                return None
            before, residual = size, ws.residual_row.copy()
            if gap <= NEAR * length and not near:
                near = True
                rows = self._rows_at(self._placed(pose, 0))
                motions = self._along(rows, self._allowed())
            change = self._projected(-residual)
            change += (off - rows @ change) @ motions
            pose = _moved(pose, change)
        return None

    def _read(self, pose: State) -> np.ndarray:
        """(n,) coordinates of a pose."""
        return self.coordinates.read(pose)[: len(self.rows)]

    def _projected(self, rates: np.ndarray) -> np.ndarray:
        """(6 nb,) the least velocities at pose 0, in the metric of the mass, with these ``rates`` (nr,) of the rows."""
        ws = self.ws
        ws.momentum[:], ws.efforts.target_rate[:] = 0.0, rates
        changes_of_velocities(self.compiled.plan, ws, self.work, np.zeros((0, len(ws.momentum), 12)))
        return ws.velocity[self.compiled.slot].ravel()

    def _moving(self, pose: State, rates: np.ndarray, motions: np.ndarray, velocities: np.ndarray) -> State:
        """``pose``, which is pose 0, with velocities that have the ``rates`` (n,); all is kept for `gradient`.

        ``motions``, ``velocities`` (n, 6 nb): by the coordinates, and by their rates.
        """
        self.motions, self.velocities, bodies = motions, velocities, self.compiled.plan.bodies
        least = self._projected(self.target_rate)
        velocity = (least + (self.rates + rates - self.rows @ least) @ velocities).reshape(-1, 6)
        inner = velocity[self.compiled.order]
        self.ws.momentum[:, :3] = bodies.mass[:, None] * inner[:, :3]
        self.ws.momentum[:, 3:] = np.einsum("nab,nb->na", bodies.inertia, inner[:, 3:])
        return State(pose.position, pose.quat_wxyz, velocity[:, :3], velocity[:, 3:])

    def gradient(self, by: np.ndarray) -> np.ndarray:
        """(2 n,) the gradient by x at the state made last, of that (nb, 12) by pose and velocities.

        With the pose the velocities change as those of momenta that stay, but for what changes the rates.
        """
        by_rates, left = self.velocities @ by[:, 6:].ravel(), by.copy()
        left[:, 6:] -= (by_rates @ self.rows).reshape(-1, 6)
        left = left[self.compiled.order]
        velocities_back(self.compiled.plan, self.ws, 0, left, self.no_numbers)
        return np.concatenate([self.motions @ left[self.compiled.slot, :6].ravel(), by_rates])

    def _missing(self) -> StateError:
        names = names_text(self.coordinates.names)
        return StateError(
            f"'{self.mechanism.name}' has no state with these coordinates x (of {names}) on the path from that of the"
            " linear system: give smaller ones, below half a turn of each body"
        )


def flat(parts: np.ndarray) -> np.ndarray:
    """(n, k nb) of (n, nb, k)."""
    return parts.reshape(len(parts), parts.shape[1] * parts.shape[2])


def _moved(pose: State, motion: np.ndarray) -> State:
    """A pose moved by (6 nb,): of each body m, world, and a rotation vector, body axes."""
    motion = motion.reshape(-1, 6)
    quat = quat_product(pose.quat_wxyz, quat_from_vector(motion[:, 3:]))
    quat /= np.linalg.norm(quat, axis=1, keepdims=True)
    return State(pose.position + motion[:, :3], quat, pose.velocity, pose.angular_velocity)
