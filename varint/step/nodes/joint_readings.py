"""Joint coordinates and their rates of a pose in motion, of joints that slide along axes and then turn."""

import math
from dataclasses import dataclass

from varint.base.numba import CompiledRecord, Float1, Float2, Float3, Int1, Int2, njit, record_at
from varint.mathematics.quaternion import multiply, rotation_matrix
from varint.mathematics.rotation_vector import coefficients
from varint.mathematics.vectors import add, cross, dot, rotate, rotate_back, scale, sub, vector
from varint.step.whole_state import is_whole_body

ALONG_A, ALONG_B, ABOUT_AXIS, FREELY = range(4)  # kinds of readings: along an axis in a or in b, ...


@dataclass(frozen=True, eq=False)
class JointReadings(CompiledRecord):
    """Readings of n motions of joints, in axes of their bodies a and b, whose rows are the frames of the joint.

    Along and about the first of the axes; a ball has the axes of the frame.
    """

    kind: Int1  # (n,)
    column: Int1  # (n,) of the coordinates, the first of three of a ball
    body: Int2  # (n, 2) slots of bodies a and b, the world the last
    axes_a: Float3  # (n, 3, 3)
    axes_b: Float3  # (n, 3, 3)
    origin: Float3  # (n, 2, 3) in a and in b
    turn: Float3  # (n, 2, 4) frames of the joint to axes of a and of b, of a ball


@dataclass(frozen=True, eq=False)
class PoseReading(CompiledRecord, writable=True):
    """A pose in motion, the world last, and the coordinates of its joints."""

    readings: JointReadings
    position: Float2  # (nb + 1, 3)
    quat: Float2  # (nb + 1, 4)
    rotation: Float3  # (nb + 1, 3, 3)
    motion: Float2  # (nb + 1, 6) m/s, world, and rad/s, body axes
    q: Float1  # (nq,) m, rad
    rate: Float1  # (nq,) m/s, rad/s


pose_at = record_at(PoseReading)


@njit
def read_joints(readings, position, quat, rotation, motion, q, rate):
    """Write joint coordinates to ``q`` (nq,), with the turns nearest to the ones in it, and rates to ``rate`` (nq,).

    ``position`` (nb + 1, 3), ``quat`` (nb + 1, 4), ``rotation`` (nb + 1, 3, 3), ``motion`` (nb + 1, 6), the world last.
    """
    for n in range(readings.kind.size):
        kind, column, axes_a, axes_b = readings.kind[n], readings.column[n], readings.axes_a[n], readings.axes_b[n]
        a, b = readings.body[n, 0], readings.body[n, 1]
        A, B = rotation[a], rotation[b]
        w_a, w_b = vector(motion[a, 3:]), vector(motion[b, 3:])
        if kind == ALONG_A or kind == ALONG_B:
            origin_a, origin_b = vector(readings.origin[n, 0]), vector(readings.origin[n, 1])
            arm = rotate_back(A, add(sub(vector(position[b]), vector(position[a])), rotate(B, origin_b)))
            q[column] = dot(vector(axes_a[0]), sub(arm, origin_a))
            v_b = add(vector(motion[b, :3]), rotate(B, cross(w_b, origin_b)))
            v_a = add(vector(motion[a, :3]), rotate(A, cross(w_a, arm)))
            along = rotate(A, vector(axes_a[0])) if kind == ALONG_A else rotate(B, vector(axes_b[0]))
            rate[column] = dot(along, sub(v_b, v_a))
            continue
        spin = sub(w_b, rotate_back(B, rotate(A, w_a)))
        if kind == ABOUT_AXIS:
            second, third = rotate(A, vector(axes_a[1])), rotate(A, vector(axes_a[2]))
            x, y = rotate(B, vector(axes_b[1])), rotate(B, vector(axes_b[2]))
            angle = math.atan2(dot(third, x) - dot(second, y), dot(second, x) + dot(third, y))
            q[column] = angle + 2.0 * math.pi * math.floor(0.5 + (q[column] - angle) / (2.0 * math.pi))
            rate[column] = dot(vector(axes_b[0]), spin)
        else:
            turn = _nearest(_vector_between(readings.turn[n], quat[a], quat[b]), vector(q[column : column + 3]))
            changing = _after(turn, rotate(axes_b, spin))
            for k in range(3):
                q[column + k], rate[column + k] = turn[k], changing[k]


@njit
def _vector_between(turn, quat_a, quat_b):
    """Return the rotation vector, up to pi, from frame a of a ball to its frame b.

    ``turn`` (2, 4): see `JointReadings`; ``quat_a``, ``quat_b`` (4,): of the bodies.
    """
    p, r = _inverse(multiply(quat_a, turn[0])), multiply(quat_b, turn[1])
    w, x, y, z = multiply(p, r)
    sign = -1.0 if w < 0.0 else 1.0
    sine = math.sqrt(x * x + y * y + z * z)
    return scale(sign * (2.0 * math.atan2(sine, sign * w) / sine if sine > 0.0 else 2.0), (x, y, z))


@njit
def _inverse(q):
    return q[0], -q[1], -q[2], -q[3]


@njit
def _nearest(turn, near):
    """Return the rotation vector nearest to ``near`` of the rotation with the vector ``turn``."""
    angle, size = math.sqrt(dot(turn, turn)), math.sqrt(dot(near, near))
    if angle > 1e-9:  # below, the axis of a rotation is round-off
        axis = scale(1.0 / angle, turn)
    else:
        axis = scale(1.0 / max(size, 1e-9), near)
    turns = math.floor(0.5 + (dot(axis, near) - angle) / (2.0 * math.pi))
    return add(turn, scale(2.0 * math.pi * turns, axis))


@njit
def _after(r, spin):
    """Return the rate of a rotation vector by a ``spin`` in the turned frame: times the inverse right Jacobian."""
    square = dot(r, r)
    a, b, _, _, _, _ = coefficients(square)
    c = (1.0 - (1.0 - b * square) / (2.0 * a)) / square if square > 1e-12 else 1.0 / 12.0
    half = cross(r, spin)
    return add(add(spin, scale(0.5, half)), scale(c, cross(r, half)))


@njit(seconds=1, what="joint coordinates of a state")
def read_pose(word: int) -> bool:
    """Read a `PoseReading` by its word; return whether its numbers are valid for a `State`."""
    pose = pose_at(word)
    position, quat, motion = pose.position, pose.quat, pose.motion
    is_whole = True
    for i in range(position.shape[0] - 1):
        is_whole &= is_whole_body(position[i], quat[i], motion[i, :3], motion[i, 3:])
        rotation_matrix(quat[i], pose.rotation[i])
    for k in range(pose.q.size):
        pose.q[k] = 0.0
    read_joints(pose.readings, position, quat, pose.rotation, motion, pose.q, pose.rate)
    return is_whole
