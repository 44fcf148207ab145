"""Chart of minimal coordinates: states with closed joints from coordinates and rates x, and gradients by x."""

import numpy as np

from varint.base.display import names_text
from varint.base.errors import StateError
from varint.derivatives.linear.minimal_coordinates import DEPENDENT, Coordinates
from varint.kinematics.turns import start_turns
from varint.mechanism.mechanism import Mechanism
from varint.model.rotation_vectors import quat_from_vector, quat_product
from varint.model.state import State
from varint.step.configuration import place, place_anew
from varint.step.constraints import follow_constraints, sum_of_constraint
from varint.step.derivatives.adjoint import velocities_back
from varint.step.derivatives.columns import allowed_motions, changes_of_velocities
from varint.step.workspace import by_numbers, tangent_work, workspace

LONGEST = 0.2  # longest piece of the path: change of a coordinate (rad, or part sizes) or rotation of a body (rad)
SHORTEST = 1e-3  # the path is given up if a piece has to be shorter than this (rad, or part sizes)
PIECES = 200  # most pieces tried on the path to a state, failed ones included
ITERATIONS = 60  # of each piece
NEAR = 1e-6  # gap over part size below which the Jacobian is factored anew: its redundant rows are found so near alone
CLOSED = 1e-14  # residual over the part size or the largest coordinate, whichever is larger: converged
ROUND_OFF = 1e-11  # the same: accepted if a correction no longer halves it


class Chart:
    """Map x (2 n,), as `Coordinates.read` measures it, to states near the linearisation state ``coordinates.state``.

    Joints are closed. Couplings and prescribed motions keep the values and rates of the linearisation state.
    """

    def __init__(self, mechanism: Mechanism, coordinates: Coordinates) -> None:
        self.mechanism, self.coordinates, self.compiled = mechanism, coordinates, mechanism.compiled
        plan, state = self.compiled.plan, coordinates.state
        self.ws, self.work = workspace(plan, functions=self.compiled.functions), tangent_work(plan)
        self.no_numbers = by_numbers(
            plan, 0
        )  # `velocities_back` adds gradients by numbers of the mechanism here; they are not used
        self.bodies, self.pushes = self._ends(coordinates.rows)
        self.rows = flat(coordinates.rows)
        slides = coordinates.rows[..., :3].any(axis=(1, 2))
        self.units = np.where(slides, self.compiled.length, 1.0)  # (n,) rad, or the size of a part, m
        velocity = np.hstack([state.velocity, state.angular_velocity])
        self.rates = self.rows @ velocity.ravel()  # (n,) at the state
        self._hold(velocity[self.compiled.order])

    def _ends(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return kernel numbers (n, 2) of the bodies of each coordinate, and its Jacobian (n, 2, 6) by their motions.

        A coordinate of one body has the world in second place, with zeros.
        """
        world = rows.shape[1]
        bodies, pushes = np.full((len(rows), 2), world), np.zeros((len(rows), 2, 6))
        for n, row in enumerate(rows):
            touched = np.flatnonzero(row.any(axis=1))
            bodies[n, : len(touched)], pushes[n, : len(touched)] = self.compiled.slot[touched], row[touched]
        return bodies, pushes

    def _hold(self, velocity: np.ndarray) -> None:
        """Store the values and rates that the forces' constraints keep; ``velocity`` (nb, 6) in kernel order."""
        plan, ws, state, order = self.compiled.plan, self.ws, self.coordinates.state, self.compiled.order
        ws.position[:, :-1], ws.quat[:, :-1] = state.position[order], state.quat_wxyz[order]
        start_turns(self.compiled, ws, state.turns, state.memory)
        place_anew(plan, ws, 0)
        follow_constraints(plan, ws, ws.position[0], ws.rotation[0])
        self.target_rate, moving = np.zeros(plan.rows.role.size), np.vstack([velocity, np.zeros(6)])
        for c, (first, size) in enumerate(zip(plan.constraints.row, plan.constraints.size, strict=True)):
            rows = slice(first, first + size)
            ws.efforts.target[first] = sum_of_constraint(plan, ws, c)
            self.target_rate[first] = np.sum(ws.jacobian[0, rows] * moving[plan.measures.body[rows]])
        self.near = ws.efforts.value_near.copy()

    def state(self, x: np.ndarray) -> State:
        """Return the state that has the coordinates and rates x (2 n,).

        Raises StateError if none is reached along the straight line of coordinates from the linearisation state.
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
                return self._moving(pose, rates, motions, allowed)
        raise self._missing()

    def _placed(self, pose: State, number: int) -> State:
        """Write ``pose`` into the workspace as pose ``number``, evaluate its constraint rows, and return it."""
        ws, order = self.ws, self.compiled.order
        ws.position[number, :-1], ws.quat[number, :-1] = pose.position[order], pose.quat_wxyz[order]
        place(self.compiled.plan, ws, number)
        return pose

    def _rows_at(self, pose: State) -> np.ndarray:
        """Return the Jacobian (n, 6 nb) of the coordinates by motions of the bodies, at ``pose``."""
        return flat(self.coordinates.rows_at(pose))

    def _allowed(self) -> np.ndarray:
        """Return independent motions (n, 6 nb) of the bodies that the constraints allow at pose 0 of the workspace."""
        motions = np.zeros_like(self.coordinates.rows)
        allowed_motions(self.compiled.plan, self.ws, self.work, self.bodies, self.pushes, motions)
        return flat(motions[:, self.compiled.slot])

    def _along(self, rows: np.ndarray, motions: np.ndarray) -> np.ndarray:
        """Combine ``motions`` (n, 6 nb) so that motion k changes coordinate k by one and no other.

        ``rows`` (n, 6 nb): Jacobian of the coordinates. Raises StateError if these have become dependent.
        """
        for _ in range(2 if len(rows) else 0):  # the second pass takes off round-off
            among = rows @ motions.T
            if not np.linalg.cond(among, 1) <= DEPENDENT:
                raise self._missing()
            motions = np.linalg.inv(among).T @ motions
        return motions

    def _closed(self, pose: State, goal: np.ndarray, rows: np.ndarray, motions: np.ndarray) -> State | None:
        """Return the closed pose with coordinates ``goal`` (n,), or None if Newton's method does not converge.

        It starts from ``pose``, which is closed and pose 0 of the workspace. ``rows``, ``motions`` (n, 6 nb) and the
        factorisation belong to ``pose`` until the gap is below `NEAR`, then to the iterate: farther from closure
        redundant rows look independent.
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
        """Return the coordinates (n,) of a pose."""
        return self.coordinates.read(pose)[: len(self.rows)]

    def _projected(self, rates: np.ndarray) -> np.ndarray:
        """Return the velocities (6 nb,) at pose 0 of least kinetic energy that give the rows ``rates`` (nr,)."""
        ws = self.ws
        ws.momentum[:], ws.efforts.target_rate[:] = 0.0, rates
        changes_of_velocities(self.compiled.plan, ws, self.work, np.zeros((0, len(ws.momentum), 12)))
        return ws.velocity[self.compiled.slot].ravel()

    def _moving(self, pose: State, rates: np.ndarray, motions: np.ndarray, allowed: np.ndarray) -> State:
        """Return ``pose``, which is pose 0, with velocities whose rates exceed the linearisation state's by ``rates``.

        ``rates`` (n,). ``motions`` (n, 6 nb): of the bodies by each coordinate; ``allowed`` (n, 6 nb): all that the
        constraints allow. Stores data of `gradient`.
        """
        self.rate_rows, bodies = flat(self.coordinates.rate_rows_at(pose)), self.compiled.plan.bodies
        self.motions, self.velocities = motions, self._along(self.rate_rows, allowed)
        least = self._projected(self.target_rate)
        velocity = (least + (self.rates + rates - self.rate_rows @ least) @ self.velocities).reshape(-1, 6)
        inner = velocity[self.compiled.order]
        self.ws.momentum[:, :3] = bodies.mass[:, None] * inner[:, :3]
        self.ws.momentum[:, 3:] = np.einsum("nab,nb->na", bodies.inertia, inner[:, 3:])
        self.moving = pose.of_bodies(pose.position, pose.quat_wxyz, velocity[:, :3], velocity[:, 3:])
        return self.moving

    def gradient(self, by: np.ndarray) -> np.ndarray:
        """Return the gradient (2 n,) by x at the state that `state` returned last, from ``by`` (nb, 12).

        ``by``: the gradient by pose and velocities. If the pose changes, the momenta stay and are projected onto the
        constraints; the part of that change that would alter the rates is taken off.
        """
        by_rates, left = self.velocities @ by[:, 6:].ravel(), by.copy()
        left[:, 6:] -= (by_rates @ self.rate_rows).reshape(-1, 6)
        left = left[self.compiled.order]
        velocities_back(self.compiled.plan, self.ws, 0, left, self.no_numbers)
        by_pose = self.motions @ left[self.compiled.slot, :6].ravel()
        bends = self.coordinates.bends(self.moving, self.motions.reshape(len(self.motions), len(by), 6))
        return np.concatenate([by_pose - by_rates @ bends, by_rates])

    def _missing(self) -> StateError:
        names = names_text(self.coordinates.names)
        return StateError(
            f"'{self.mechanism.name}': no state with closed joints was reached at this x (coordinates {names})"
            " from the state of the linearisation: give a smaller x; no body may rotate by half a turn"
        )


def flat(parts: np.ndarray) -> np.ndarray:
    """Return an array (n, nb, k) as (n, nb k)."""
    return parts.reshape(len(parts), parts.shape[1] * parts.shape[2])


def _moved(pose: State, motion: np.ndarray) -> State:
    """Return the pose after ``motion`` (6 nb,): a translation, m, world, and a rotation vector of each body."""
    motion = motion.reshape(-1, 6)
    quat = quat_product(pose.quat_wxyz, quat_from_vector(motion[:, 3:]))
    quat /= np.linalg.norm(quat, axis=1, keepdims=True)
    return pose.of_bodies(pose.position + motion[:, :3], quat, pose.velocity, pose.angular_velocity)
