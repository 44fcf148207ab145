"""Zero poses in which the welds of MJCF hold, and slides that are redundant: changes by `repair=True`."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from varint.files.mjcf.numbers import (
    EQ_CONNECT,
    EQ_JOINT,
    EQ_WELD,
    JOINT_BALL,
    JOINT_FREE,
    JOINT_SLIDE,
    OF_BODIES,
    WRAP_JOINT,
    is_turn_free,
)
from varint.files.robots.robot import Pose
from varint.model.rotation_vectors import rotation_matrix, vector_from_matrix

CLOSED = 1e-13  # m and rad: smaller gaps and changes of coordinates count as none
MOST_STEPS = 200  # of Gauss-Newton to an assembled pose
INDEPENDENT = 1e-6  # part of a unit axis orthogonal to the axes before it: a slide with a shorter one is redundant
RANK = 1e-9  # of the largest singular value: directions below it change nothing


def frames_of(model: Any, data: Any, number: int) -> tuple[tuple[int, Pose], tuple[int, Pose]]:
    """Return the bodies of a connect or weld, and their frames, world, that must coincide, at the pose of ``data``.

    For a connect only their origins coincide.
    """

    def on(body: int, turn: np.ndarray, point: np.ndarray) -> tuple[int, Pose]:
        return body, Pose(data.xmat[body].reshape(3, 3), data.xpos[body]) @ Pose(turn, point.copy())

    weld, row = model.eq_type[number] == EQ_WELD, model.eq_data[number]
    objects = int(model.eq_obj1id[number]), int(model.eq_obj2id[number])
    if model.eq_objtype[number] != OF_BODIES:
        first, second = (
            on(int(model.site_bodyid[site]), rotation_matrix(model.site_quat[site]), model.site_pos[site])
            for site in objects
        )
        return first, second
    # the row of a weld has the point on the second body first, that of a connect last
    points = (row[3:6], row[0:3]) if weld else (row[0:3], row[3:6])
    turn = rotation_matrix(row[6:10]) if weld else np.eye(3)
    return on(objects[0], turn, points[0]), on(objects[1], np.eye(3), points[1])


def assemble_welds(model: Any, data: Any) -> list[tuple[int, float, float]] | None:
    """Move the pose of ``data`` (qpos) to one near it in which all active connects and welds hold.

    Joints of joint equalities stay. Returns bodies that move, with the change of their place, m, and of their
    orientation, rad; None, with the pose as it was, if no such pose is found or a ball or free joint with a spring
    would have to move.
    """
    import mujoco

    active = [
        number
        for number in range(model.neq)
        if model.eq_active0[number] and model.eq_type[number] in (EQ_CONNECT, EQ_WELD)
    ]
    held = [int(model.jnt_dofadr[joint]) for joint in _joints_of_equalities(model)]
    before = data.qpos.copy()
    _move(model, data, np.zeros(model.nv))
    places, turns = data.xpos.copy(), data.xmat.copy()
    for _ in range(MOST_STEPS):
        gaps, rows = _gaps(model, data, active)
        if np.abs(gaps).max(initial=0.0) <= CLOSED:
            break
        rows[:, held] = 0.0
        _move(model, data, np.linalg.lstsq(rows, -gaps, rcond=RANK)[0])
    closed = bool(np.abs(_gaps(model, data, active)[0]).max(initial=0.0) <= 10.0 * CLOSED)
    moved = np.zeros(model.nv)
    mujoco.mj_differentiatePos(model, moved, 1.0, before, data.qpos)
    wide = np.isin(model.jnt_type[model.dof_jntid], (JOINT_BALL, JOINT_FREE))
    sprung = model.jnt_stiffness[model.dof_jntid] != 0.0
    if not closed or (np.abs(moved) > CLOSED)[wide & sprung].any():
        data.qpos[:] = before
        mujoco.mj_kinematics(model, data)
        return None
    changes = []
    for body in range(1, model.nbody):
        turn = data.xmat[body].reshape(3, 3) @ turns[body].reshape(3, 3).T
        shift, angle = np.linalg.norm(data.xpos[body] - places[body]), np.linalg.norm(vector_from_matrix(turn))
        if max(shift, angle) > 1e-9:
            changes.append((body, float(shift), float(angle)))
    return changes


def redundant_slides(model: Any, joints: Sequence[int], fixed: Collection[int]) -> list[int]:
    """Return the slides of a body that depend linearly on adjacent slides, and on which only actuators act themselves.

    ``joints``: of the body, in their order; ``fixed``: those that do not move. The body can move in
    the same way without the slides that are returned.
    """
    left_out: list[int] = []
    run: list[int] = []
    for joint in [*(joint for joint in joints if joint not in fixed), -1]:
        if joint >= 0 and model.jnt_type[joint] == JOINT_SLIDE:
            run.append(joint)
            continue
        directions: list[np.ndarray] = []
        free = {one: _is_free(model, one) for one in run}
        for one in sorted(run, key=lambda one: free[one]):
            axis = model.jnt_axis[one] / np.linalg.norm(model.jnt_axis[one])
            for other in directions:
                axis = axis - (axis @ other) * other
            size = np.linalg.norm(axis)
            if size > INDEPENDENT:
                directions.append(axis / size)
            elif free[one]:
                left_out.append(one)
        run = []
    return left_out


def _is_free(model: Any, joint: int) -> bool:
    """Return whether only actuators act along a slide or refer to it, and a <key> leaves it at rest at its zero."""
    dof, place = int(model.jnt_dofadr[joint]), int(model.jnt_qposadr[joint])
    acting = (model.jnt_stiffness[joint], model.dof_damping[dof], model.dof_frictionloss[dof], model.dof_armature[dof])
    of_tendons = model.wrap_objid[model.wrap_type == WRAP_JOINT]
    starts = model.nkey and (model.key_qpos[0, place] != model.qpos0[place] or model.key_qvel[0, dof] != 0.0)
    refers = joint in of_tendons or place in (model.jnt_qposadr[one] for one in _joints_of_equalities(model))
    return not (any(acting) or model.jnt_limited[joint] or refers or starts)


def _joints_of_equalities(model: Any) -> Iterator[int]:
    for number in np.flatnonzero(model.eq_type == EQ_JOINT):
        yield from (int(one) for one in (model.eq_obj1id[number], model.eq_obj2id[number]) if one >= 0)


def _move(model: Any, data: Any, change: np.ndarray) -> None:
    import mujoco

    mujoco.mj_integratePos(model, data.qpos, change, 1.0)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)


def _gaps(model: Any, data: Any, numbers: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the gaps (n,) of closures, m and rad, and their Jacobian (n, nv), for turns that of a closed one."""
    import mujoco

    gaps, rows = [np.zeros(0)], [np.zeros((0, model.nv))]
    for number in numbers:
        (a, one), (b, other) = frames_of(model, data, number)
        of_a, of_b = np.zeros((2, 3, model.nv)), np.zeros((2, 3, model.nv))
        mujoco.mj_jac(model, data, of_a[0], of_a[1], one.p, a)
        mujoco.mj_jac(model, data, of_b[0], of_b[1], other.p, b)
        gaps.append(one.p - other.p)
        rows.append(of_a[0] - of_b[0])
        if not is_turn_free(model, number):
            gaps.append(vector_from_matrix(one.R @ other.R.T))
            rows.append(of_a[1] - of_b[1])
    return np.concatenate(gaps), np.concatenate(rows)
