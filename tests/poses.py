"""Poses, rows and Jacobians in the order of a mechanism's description, for tests of joints and states."""

import numpy as np
from scipy.spatial.transform import Rotation

from varint.kinematics.frames import JointFrames
from varint.model.motion import joint_pose
from varint.model.rotation_vectors import rotation_matrix
from varint.step.configuration import follow_products
from varint.step.rows import evaluate_rows
from varint.step.workspace import joint_workspace


def pose_of(state):
    """x (nb + 1, 3), R (nb + 1, 3, 3) of a state, the world last."""
    R = np.concatenate([rotation_matrix(state.quat_wxyz), np.eye(3)[None]])
    return np.vstack([state.position, np.zeros(3)]), R


def rows_at(mechanism, x, R, near=None):
    """Rows (nr,), in m, and their Jacobian (nr, nb, 6) in (x, body rotation) at a pose, the world last.

    ``near``: a pose where joints whose rows keep to their motions were last seen; this one, where not given.
    """
    compiled = mechanism.compiled
    plan, order = compiled.plan, np.append(compiled.order, -1)
    g, sides = np.zeros(plan.rows.role.size), np.zeros((plan.rows.role.size, 2, 6))
    pose, seen = ([np.ascontiguousarray(part[order]) for part in given] for given in ((x, R), near or (x, R)))
    ws = joint_workspace(plan)
    follow_products(plan, ws, *seen)
    evaluate_rows(plan, ws, *pose, g, sides)
    G = np.zeros((g.size, len(x), 6))
    for j, bodies in enumerate(plan.joints.side):
        for r in range(plan.joints.rows[j], plan.joints.rows[j + 1]):
            for body, entry in zip(bodies, sides[r], strict=True):
                G[r, order[body]] += entry
    return plan.rows.scale * g, plan.rows.scale[:, None, None] * G[:, :-1]


def moved(x, R, v, w):
    """The pose after a displacement ``v`` (nb, 3), m, world, and turns ``w`` (nb, 3), rad, body."""
    x, R = x.copy(), R.copy()
    x[:-1] += v
    R[:-1] = R[:-1] @ Rotation.from_rotvec(w).as_matrix()
    return x, R


def measured(mechanism, name, x, R):
    """Coordinates (dof,) of a joint."""
    return JointFrames(mechanism, mechanism.joint(name)).measure(x, R)


def measured_rates(mechanism, name, state, step=1e-6):
    """Rates (dof,) of a joint, by central differences of its coordinates along the velocities of ``state``."""
    pose = pose_of(state)
    ahead, behind = (
        measured(mechanism, name, *moved(*pose, h * state.velocity, h * state.angular_velocity)) for h in (step, -step)
    )
    return (ahead - behind) / (2 * step)


def reachable(mechanism, name, x, R, tolerance=1e-8):
    """Whether the joint's motions, at the coordinates that it measures, lead to the pose its bodies are in."""
    frames = JointFrames(mechanism, mechanism.joint(name))
    turn, shift = frames.relative_pose(x, R)
    turn_q, shift_q = joint_pose(frames.joint, frames.coordinates(turn, shift))
    return np.allclose(turn, turn_q, atol=tolerance) and np.allclose(shift, shift_q, atol=tolerance)


def arrays_of(record):
    """The arrays of a record and of the records in it."""
    for part in record:
        if isinstance(part, np.ndarray):
            yield part
        else:
            yield from arrays_of(part)


def move_child(frames, child, x, R, v, w, rates):
    """Fill the velocities v, w (nb + 1, 3), world, of body ``child`` of the joint ``frames`` from those of the other.

    x (nb + 1, 3), R (nb + 1, 3, 3): poses of the bodies and the world; ``rates`` (dof,): of the joint.
    """
    B, twist = R[frames.b] @ frames.axes_b, frames.twist(x, R, rates)
    dw = B @ twist[:3]
    dv = B @ twist[3:] - np.cross(dw, R[frames.b] @ frames.origin_b)
    if child == frames.b:
        w[child] = w[frames.a] + dw
        v[child] = v[frames.a] + np.cross(w[frames.a], x[child] - x[frames.a]) + dv
    else:
        w[child] = w[frames.b] - dw
        v[child] = v[frames.b] - dv - np.cross(w[child], x[frames.b] - x[child])
