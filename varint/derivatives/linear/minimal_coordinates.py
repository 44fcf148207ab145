"""Minimal coordinates about a state: as many independent joint coordinates as the mechanism can move in."""

from dataclasses import dataclass

import numpy as np

from varint.base.errors import ArgumentError, StateError
from varint.derivatives.linear.candidates import Candidates
from varint.mechanism.mechanism import Mechanism
from varint.model.forces.along import AlongCoordinate
from varint.model.rotation_vectors import quat_from_vector, quat_product
from varint.model.state import State
from varint.step.configuration import place_anew
from varint.step.coordinates import turns_between
from varint.step.derivatives.columns import allowed_motions
from varint.step.plan import Plan, Tangent, Workspace
from varint.step.workspace import tangent_work, workspace

EARLY = 1e-2  # of the largest that is left: a joint coordinate that is described earlier is taken before others
DEPENDENT = 1e13  # condition of the inverse mass along coordinates that depend on each other


@dataclass(frozen=True, eq=False)
class Coordinates:
    """n of the joint coordinates about a ``state``, independent of each other, by which all others follow.

    names : (n,) of joints, "NAME[k]" where one has several; of bodies that float "NAME.position[k]", "NAME.rotation[k]"
    rows : (n, nb, 6) their changes by the motions of the bodies, in the order of the description
    motions : (n, nb, 6) of the bodies, m, world, and rad, body axes, by each of them
    """

    state: State
    names: tuple[str, ...]
    rows: np.ndarray
    motions: np.ndarray

    def read(self, state: State) -> np.ndarray:
        """Return the coordinates and rates (2 n,) of a nearby state, less the values of the state here."""
        here, motions = self.state, np.empty((2, *state.position.shape[:1], 6))
        np.subtract(state.position, here.position, out=motions[0, :, :3])
        np.subtract(state.velocity, here.velocity, out=motions[1, :, :3])
        np.subtract(state.angular_velocity, here.angular_velocity, out=motions[1, :, 3:])
        motions[0, :, 3:], _ = _turns(here, state)
        return self.along(motions).T.ravel()

    def read_changes(self, state: State, changes: np.ndarray) -> np.ndarray:
        """Return the changes (2 n, c) of `read` at a state by changes (c, nb, 12) of its pose and velocity."""
        pose, (_, after) = changes[..., :6].copy(), _turns(self.state, state)
        pose[..., 3:] = np.einsum("bij,cbj->cbi", after, pose[..., 3:])
        return np.concatenate([self.along(pose), self.along(changes[..., 6:])])

    def along(self, motions: np.ndarray) -> np.ndarray:
        """Return the changes (n, c) of the coordinates by motions (c, nb, 6)."""
        width = self.rows.shape[1] * 6
        return self.rows.reshape(-1, width) @ motions.reshape(-1, width).T

    def rows_at(self, state: State) -> np.ndarray:
        """Return the changes (n, nb, 6) of the coordinates of `read`, at a state, by small motions of its bodies."""
        rows, (_, after) = self.rows.copy(), _turns(self.state, state)
        rows[..., 3:] = np.einsum("nbi,bij->nbj", rows[..., 3:], after)
        return rows

    def rate_rows_at(self, state: State) -> np.ndarray:
        """Return the changes (n, nb, 6) of the rates that `read` gives for a state, by velocities of its bodies."""
        return self.rows

    def bends(self, state: State, motions: np.ndarray, velocity: np.ndarray | None = None) -> np.ndarray:
        """Return the changes (n, c) of the rates by motions (c, nb, 6) of the bodies, whose velocities stay."""
        return np.zeros((len(self.names), len(motions)))

    def rates_by_pose(self, state: State) -> np.ndarray:
        """Return the changes (n, nb, 6) of the rates that `read` gives for a state, by motions of its bodies."""
        nb = len(state.position)
        return self.bends(state, np.eye(6 * nb).reshape(-1, nb, 6)).reshape(-1, nb, 6)

    def flow_changes(
        self, changes: np.ndarray, accelerations: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray
    ) -> np.ndarray:
        """Return the changes (2 n, c) of the time derivatives of coordinates and rates at the state here.

        ``changes`` (c, nb, 12): of pose and velocity; ``accelerations`` (c, nb, 6): theirs; ``velocity``,
        ``acceleration`` (nb, 6): of the bodies, world, and body axes.
        """
        moving = changes[..., 6:].copy()
        moving[..., 3:] += 0.5 * np.cross(changes[..., 3:6], velocity[:, 3:])
        return np.concatenate([self.along(moving), self.along(accelerations)])

    def flow(self, velocity: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
        """Return the time derivatives (2 n,) of coordinates and rates at the state here; arguments (nb, 6)."""
        rates = self.along(np.stack([velocity, acceleration])).T
        rates[1] += self.bends(self.state, velocity[None], velocity)[:, 0]
        return rates.ravel()


def _turns(state: State, other: State) -> tuple[np.ndarray, np.ndarray]:
    """Return rotation vectors (nb, 3) from one state to another, and matrices (nb, 3, 3), see `turns_between`."""
    quats = (np.ascontiguousarray(each.quat_wxyz, dtype=float) for each in (state, other))
    turns = np.empty((len(state.position), 3)), np.empty((len(state.position), 3, 3))
    turns_between(*quats, *turns)
    return turns


def moved(mechanism: Mechanism, state: State, change: np.ndarray) -> State:
    """Return the state changed by ``change`` (nb, 12) of pose and velocity, with joints closed.

    Prescribed joint coordinates and their rates stay.
    """
    dx, turn, dv, dw = np.split(change, 4, axis=1)
    quat = quat_product(state.quat_wxyz, quat_from_vector(turn))
    guess = state.of_bodies(state.position + dx, quat, state.velocity + dv, state.angular_velocity + dw)
    driven = [force for force in mechanism.forces if force.constraint and force.commanded]
    held = [force.joint for force in driven if isinstance(force, AlongCoordinate)]
    here, rates = (values(state) if held else {} for values in (mechanism.coordinates, mechanism.rates))
    return mechanism.assemble(
        guess, coordinates={name: here[name] for name in held}, rates={name: rates[name] for name in held}
    )


def check_moves(mechanism: Mechanism, coordinates: Coordinates) -> None:
    """Raise ArgumentError where there are no coordinates."""
    if not coordinates.names:
        raise ArgumentError(f"mechanism '{mechanism.name}' cannot move from its state")


def coordinates_at(candidates: Candidates, ws: Workspace, work: Tangent, state: State) -> Coordinates:
    """Choose coordinates about ``state``, which is pose 0 of the workspace and placed there; ``work``: scratch.

    Raises StateError if the joint coordinates do not determine the motion.
    """
    mechanism, compiled = candidates.mechanism, candidates.compiled
    names, ends, nb = candidates.names, candidates.ends, len(candidates.compiled.order)
    pushes = candidates.pushes(ws, state)
    allowed, along, chosen = np.zeros((len(names), nb, 6)), np.zeros((len(names), nb + 1, 6)), np.arange(len(names))
    allowed_motions(compiled.plan, ws, work, ends, pushes, allowed)
    for side in (0, 1):
        along[chosen, ends[:, side]] += pushes[:, side]
    rows, motions = (array[:, compiled.slot].reshape(len(names), 6 * nb) for array in (along, allowed))
    count = _mobility(compiled.plan, ws)
    if count < len(names):
        chosen = _independent(candidates.scale[:, None] * (rows @ motions.T) * candidates.scale, count)
        rows, motions = rows[chosen], motions[chosen]
    for _ in range(2 if count else 0):  # the second pass takes off round-off
        among = rows @ motions.T
        if len(among) != count or not _condition(among) <= DEPENDENT:
            raise StateError(f"the joint coordinates of '{mechanism.name}' do not determine its motion from this pose")
        motions = np.linalg.inv(among).T @ motions
    shape = len(chosen), nb, 6
    return Coordinates(state, tuple(names[k] for k in chosen), rows.reshape(shape), motions.reshape(shape))


def _condition(matrix: np.ndarray) -> float:
    """Return the condition number of a square matrix, by sums of columns; infinite if it has no inverse."""
    try:
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return np.inf
    return float(np.abs(matrix).sum(axis=0).max() * np.abs(inverse).sum(axis=0).max())


def mobility(mechanism: Mechanism, position: np.ndarray, quat_wxyz: np.ndarray) -> int:
    """Count the degrees of freedom of the mechanism at a pose (nb, 3), (nb, 4), with all of its constraints."""
    compiled = mechanism.compiled
    ws = workspace(compiled.plan, functions=compiled.functions)
    ws.position[0, :-1], ws.quat[0, :-1] = position[compiled.order], quat_wxyz[compiled.order]
    place_anew(compiled.plan, ws, 0)
    none = np.zeros((0, 2), dtype=np.int64), np.zeros((0, 2, 6)), np.zeros((0, len(position), 6))
    allowed_motions(compiled.plan, ws, tangent_work(compiled.plan), *none)
    return _mobility(compiled.plan, ws)


def _mobility(plan: Plan, ws: Workspace) -> int:
    """Count the degrees of freedom by the ranks that the solver found at the pose that was factored last."""
    closed, closures = ws.released == 0.0, np.arange(plan.loops.node_row[0], plan.loops.node_row[-1])
    in_tree = closed.copy()
    in_tree[closures] = False
    beside = np.zeros(len(closed), dtype=bool)  # rows of a closure that take part, but are no equation of their own
    beside[closures] = ~closed[closures]
    for first in closures[plan.rows.chain[closures] > 0]:
        beside[first + 1 : first + plan.rows.chain[first]] = True
    independent = ws.ldu.rank.sum() - np.count_nonzero(beside)
    return int(6 * plan.bodies.mass.size - np.count_nonzero(in_tree) - independent)


def _independent(inverse_mass: np.ndarray, count: int) -> np.ndarray:
    """Choose up to ``count`` independent coordinates by Cholesky's method with pivots; return their numbers, rising.

    ``inverse_mass`` (n, n): along the coordinates. A pivot is the first that is above `EARLY` of the largest.
    """
    left, chosen = inverse_mass.copy(), np.zeros(len(inverse_mass), dtype=bool)
    for _ in range(count):
        size = np.where(chosen, 0.0, np.diag(left))
        fitting = np.flatnonzero(size > EARLY * size.max(initial=0.0))
        if not fitting.size:
            break
        k = fitting[0]
        chosen[k] = True
        left = left - np.outer(left[:, k], left[k]) / left[k, k]
    return np.flatnonzero(chosen)
