"""Euler angles and rotation vectors that forces follow, at states that do not carry them: along straight paths.

All coordinates grow from zero in proportion, to those of the state with their turns.
"""

from collections.abc import Collection, Mapping

import numpy as np

from varint.base.errors import StateError
from varint.kinematics.frames import (
    JointFrames,
    followed_vectors,
    joint_coordinates,
    nearest_coordinates,
    with_world,
)
from varint.kinematics.tree_poses import poses_along_tree
from varint.measures.base import EulerCoordinate
from varint.model.forces.measured import euler_angle, euler_place, outer_euler_angles, vector_entries
from varint.model.motion import coordinate_units
from varint.model.rotation_vectors import matrix_from_vector, quat_from_matrix
from varint.model.state import State
from varint.model.structure import Structure
from varint.plan import Compiled
from varint.plan.compiled import EulerAngle

PIECE, LEAP = 0.2, 0.5  # rad: of a path at most, and of an Euler angle in such a piece
SHORTEST, END = 1e-9, 1e-6  # rad: a piece where an angle that leaps is not defined, unless so near the end of the path
WHOLE = 2 * np.pi  # rad


def followed_at(
    structure: Structure,
    compiled: Compiled,
    state: State,
    carried: Collection[str],
    middles: Mapping[EulerCoordinate, float],
) -> dict[str, np.ndarray]:
    """Return rotation vectors (3,) and Euler angles (1,), rad, that forces follow, at a state, by force.

    Of forces that are not among ``carried``. Angles of joints in ``state.turns`` have the turns of the straight path;
    else they are the nearest to ``middles``, by joint, number of the coordinate and angles, or to zero. Raises
    StateError where an Euler angle is not defined on its path.
    """
    followed: dict[str, np.ndarray] = {}
    for angle in compiled.euler_angles:
        if angle.force in carried:
            continue
        middle = middles.get(EulerCoordinate(angle.joint, angle.number, angle.angles), 0.0)
        value = _euler_angle_at(structure, angle, state, middle)
        if angle.measures:
            followed[angle.force] = np.array([value])
    rotations = [rotation for rotation in compiled.followed if rotation.force not in carried]
    if rotations and any(np.any(np.nan_to_num(q)) for q in state.turns.values()):
        quats = _quats_along_tree(structure, compiled, state)
        for each in rotations:
            followed[each.force] = followed_vectors(structure, each.bodies, quats, np.zeros(3))[-1]
    return followed


def euler_angles_at_nodes(
    structure: Structure, angle: EulerAngle, position: np.ndarray, quat_wxyz: np.ndarray, near: float
) -> np.ndarray:
    """Return an Euler angle (T, 1), rad, at poses (T, nb, 3), (T, nb, 4): the first the nearest to ``near``.

    Others are the nearest to the node before.
    """
    joint = structure.joint(angle.joint)
    turn, _ = JointFrames(structure, joint).relative_pose(*with_world(position, quat_wxyz))
    values = euler_angle(joint, angle.number, angle.angles, turn)
    return np.unwrap(np.append(near, values))[1:, None]


def _euler_angle_at(structure: Structure, angle: EulerAngle, state: State, middle: float) -> float:
    """Return an Euler angle, rad, see `followed_at`."""
    joint = structure.joint(angle.joint)
    x, R = with_world(state.position, state.quat_wxyz)
    frames = JointFrames(structure, joint)
    value = float(euler_angle(joint, angle.number, angle.angles, frames.relative_pose(x, R)[0]))
    if joint.name not in state.turns:
        return value + WHOLE * float(np.rint((middle - value) / WHOLE))
    q = nearest_coordinates(joint, frames.measure(x, R)[None], np.nan_to_num(state.turns[joint.name])[None])[0]
    vector = q[vector_entries(joint, angle.number)]
    outer = _outer_angles_along(angle.angles, vector)
    if outer is None:
        raise StateError(
            f"{structure.force(angle.force).label}: the angles {angle.angles!r} of {joint.label} are not defined on the"
            f" path to its coordinates {np.round(q, 6).tolist()}, where the second of them passes a quarter turn: start"
            " elsewhere, name the angles in another order, or put joints that turn in its place"
        )
    place = euler_place(joint, angle.number, angle.angles)
    return value if place == 1 else float(outer[place // 2])


def _outer_angles_along(angles: str, vector: np.ndarray) -> np.ndarray | None:
    """Return the first and the third Euler angle (2,), rad, at the end of the path to a rotation ``vector`` (3,).

    None where they are not defined on the path.
    """
    length, done, piece, last = float(np.linalg.norm(vector)), 0.0, PIECE, np.zeros(2)
    while done < length:
        piece = min(piece, length - done)
        ahead = length if piece == length - done else done + piece
        outer = outer_euler_angles(angles, matrix_from_vector(vector * (ahead / length)))
        outer += WHOLE * np.rint((last - outer) / WHOLE)
        if np.abs(outer - last).max() <= LEAP:
            done, last, piece = ahead, outer, min(2.0 * piece, PIECE)
        elif piece > SHORTEST:
            piece *= 0.5
        else:
            return last if length - done <= END else None
    return last


def _quats_along_tree(structure: Structure, compiled: Compiled, state: State) -> np.ndarray:
    """Return orientations (T, nb, 4) along the path of the tree joints, and of the state at its end."""
    pose, ends, angle = (state.position[None], state.quat_wxyz[None]), {}, 0.0
    for number in compiled.topology.tree_joint.values():
        if number is None or not (joint := structure.joints[number]).dof:
            continue
        near = state.turns.get(joint.name)
        ends[joint.name] = np.atleast_1d(joint_coordinates(structure, joint, *pose, near)[0])
        angle += np.abs(ends[joint.name][np.array(coordinate_units(joint)) == "rad"]).sum()
    pieces = int(np.ceil(angle / PIECE)) or 1
    quats = [
        quat_from_matrix(poses_along_tree(structure, compiled, {n: share * q for n, q in ends.items()})[1][:-1])
        for share in np.arange(1, pieces + 1) / pieces
    ]
    return np.array([*quats, state.quat_wxyz])
