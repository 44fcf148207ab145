"""Minimal coordinates about a state: as many independent joint coordinates as the mechanism can move in."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from varint.algebra.rotation_vector import right_jacobian
from varint.errors import ArgumentError, StateError
from varint.kernels.configuration import place_anew
from varint.kernels.linear import allowed_motions
from varint.kernels.plan import Plan, Workspace
from varint.kernels.workspace import workspace
from varint.kinematics.frames import JointFrames, with_world
from varint.mechanism import Mechanism
from varint.model.forces.along import AlongCoordinate
from varint.model.motion import coordinate_units
from varint.model.rotation import quat_from_vector, quat_product, vector_from_quat
from varint.model.state import State

EARLY = 1e-2  # of the largest that is left: a joint coordinate that is described earlier is taken before others
DEPENDENT = 1e13  # condition of the inverse mass along coordinates that depend on each other
CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])


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
        """(2 n,) the coordinates of a nearby state, and their rates, from those of the state here."""
        dx, turn = state.position - self.state.position, turns(self.state, state)
        dv, dw = state.velocity - self.state.velocity, state.angular_velocity - self.state.angular_velocity
        pose, motion = np.hstack([dx, turn]), np.hstack([dv, dw])
        return np.concatenate([np.tensordot(self.rows, each, 2) for each in (pose, motion)])

    def read_changes(self, state: State, changes: np.ndarray) -> np.ndarray:
        """(2 n, c) changes of what `read` gives for a state, by changes (c, nb, 12) of its pose and velocity."""
        pose, after = changes[..., :6].copy(), _right_jacobian_inverses(turns(self.state, state))
        pose[..., 3:] = np.einsum("bij,cbj->cbi", after, pose[..., 3:])
        parts = pose, changes[..., 6:]
        return np.concatenate([np.tensordot(self.rows, each, ((1, 2), (1, 2))) for each in parts])


def turns(state: State, other: State) -> np.ndarray:
    """(nb, 3) rotation vectors from one state to another, body axes, up to pi."""
    turn = quat_product(state.quat_wxyz * CONJUGATE, other.quat_wxyz)
    return vector_from_quat(np.where(turn[:, :1] < 0, -turn, turn))


def _right_jacobian_inverses(vectors: np.ndarray) -> np.ndarray:
    """(nb, 3, 3) changes of rotation vectors (nb, 3) below 2 pi by small turns that follow them, body axes."""
    found = np.empty((len(vectors), 3, 3))
    for vector, out in zip(vectors, found, strict=True):
        right_jacobian(*vector, out)
    return np.linalg.inv(found)


def moved(mechanism: Mechanism, state: State, change: np.ndarray) -> State:
    """The state changed by (nb, 12) of pose and velocity, and put onto the joints; prescribed motions stay."""
    dx, turn, dv, dw = np.split(change, 4, axis=1)
    quat = quat_product(state.quat_wxyz, quat_from_vector(turn))
    guess = State(state.position + dx, quat, state.velocity + dv, state.angular_velocity + dw)
    driven = [force for force in mechanism.forces if force.constraint and force.commanded]
    held = [force.joint for force in driven if isinstance(force, AlongCoordinate)]
    here, rates = (found(state) if held else {} for found in (mechanism.coordinates, mechanism.rates))
    return mechanism.assemble(
        guess, coordinates={name: here[name] for name in held}, rates={name: rates[name] for name in held}
    )


def check_moves(mechanism: Mechanism, coordinates: Coordinates) -> None:
    """Raise ArgumentError where there are no coordinates."""
    if not coordinates.names:
        raise ArgumentError(f"mechanism '{mechanism.name}' cannot move from its state")


def coordinates_at(mechanism: Mechanism, ws: Workspace, state: State) -> Coordinates:
    """Those about ``state``, which is pose 0 of the workspace and placed there.

    Raises StateError where the joint coordinates do not tell how the mechanism moves.
    """
    compiled, nb = mechanism.compiled, len(mechanism.bodies)
    found = list(_candidates(mechanism, state))
    names = [name for name, *_ in found]
    bodies = np.array([ends for _, ends, _, _ in found], dtype=np.int64).reshape(-1, 2)
    pushes = np.array([push for _, _, push, _ in found]).reshape(-1, 2, 6)
    slots = np.append(compiled.slot, nb)[bodies]
    motions = np.zeros((len(names), nb, 6))
    allowed_motions(compiled.plan, ws, slots, pushes, motions)
    motions = motions[:, compiled.slot]
    rows = np.zeros((len(names), nb + 1, 6))
    for side in (0, 1):
        np.add.at(rows, (np.arange(len(names)), bodies[:, side]), pushes[:, side])
    rows = rows[:, :-1]
    chosen, count = np.arange(len(names)), _mobility(compiled.plan, ws)
    if count < len(names):
        scale = np.array([compiled.length if unit == "rad" else 1.0 for *_, unit in found])
        inverse_mass = np.tensordot(rows, motions, ((1, 2), (1, 2)))
        chosen = _independent(scale[:, None] * inverse_mass * scale, count)
    rows, motions = rows[chosen], motions[chosen]
    for _ in range(2 if count else 0):  # the second pass takes off round-off
        among = np.tensordot(rows, motions, ((1, 2), (1, 2)))
        if len(among) != count or np.linalg.cond(among) > DEPENDENT:
            raise StateError(f"the joint coordinates of '{mechanism.name}' do not tell how it moves from this pose")
        motions = np.tensordot(np.linalg.inv(among).T, motions, 1)
    return Coordinates(state, tuple(names[k] for k in chosen), rows, motions)


def _candidates(mechanism: Mechanism, state: State) -> Iterator[tuple[str, tuple[int, int], np.ndarray, str]]:
    """Name, bodies (-1: the world), row (2, 6) by the motions of these, and unit of each coordinate that there is."""
    x, R = with_world(state.position, state.quat_wxyz)
    for joint in mechanism.joints:
        if joint.dof == 0:
            continue
        frames, units = JointFrames(mechanism, joint), coordinate_units(joint)
        for k, row in enumerate(frames.rate_jacobian(x, R)):
            yield joint.name if joint.dof == 1 else f"{joint.name}[{k}]", (frames.a, frames.b), row, units[k]
    for body, number in mechanism.compiled.topology.tree_joint.items():
        if number is None:
            for k, row in enumerate(np.eye(6)):
                what, unit = ("position", "m") if k < 3 else ("rotation", "rad")
                name = f"{mechanism.bodies[body].name}.{what}[{k % 3}]"
                yield name, (-1, body), np.array([np.zeros(6), row]), unit


def mobility(mechanism: Mechanism, position: np.ndarray, quat_wxyz: np.ndarray) -> int:
    """In how many ways the mechanism can move from a pose (nb, 3), (nb, 4), with all of its constraints."""
    compiled = mechanism.compiled
    ws = workspace(compiled.plan, functions=compiled.functions)
    ws.position[0, :-1], ws.quat[0, :-1] = position[compiled.order], quat_wxyz[compiled.order]
    place_anew(compiled.plan, ws, 0)
    none = np.zeros((0, 2), dtype=np.int64), np.zeros((0, 2, 6)), np.zeros((0, len(position), 6))
    allowed_motions(compiled.plan, ws, *none)
    return _mobility(compiled.plan, ws)


def _mobility(plan: Plan, ws: Workspace) -> int:
    """In how many ways the mechanism can move, by the ranks that the solver found at the pose factored last."""
    closed, closures = ws.compliance == 0.0, np.arange(plan.loops.node_row[0], plan.loops.node_row[-1])
    in_tree = closed.copy()
    in_tree[closures] = False
    beside = np.zeros(len(closed), dtype=bool)  # rows of a closure that take part, but are no equation of their own
    beside[closures] = ~closed[closures]
    for first in closures[plan.rows.chain[closures] > 0]:
        beside[first + 1 : first + plan.rows.chain[first]] = True
    independent = ws.ldu.rank.sum() - np.count_nonzero(beside)
    return int(6 * plan.bodies.mass.size - np.count_nonzero(in_tree) - independent)


def _independent(inverse_mass: np.ndarray, count: int) -> np.ndarray:
    """So many coordinates that are independent, in their order, by Cholesky's method with pivots."""
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
