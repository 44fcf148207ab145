"""Joint coordinates to poses and velocities of bodies, and back, along the spanning tree."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from varint.mathematics.products.coordinates import coordinates
from varint.mathematics.products.records import one_product
from varint.mathematics.products.stages import BALL, FIRST, NEXT, PERIOD
from varint.model.joints.base import Joint
from varint.model.motion import Ball, Slide, Turn, joint_pose, motion_subspace
from varint.model.product_table import joint_table
from varint.model.rotation_vectors import cross_matrix, rotation_matrix, turned, vector_from_matrix
from varint.model.structure import Structure
from varint.plan.topology import Topology

NODES = 20_000  # that are worked on at once
NO_TURN = 1e-9  # rad: below, the axis of a rotation is round-off


class JointFrames:
    """The frames of a joint on its two bodies.

    ``a``, ``b``: body indices, -1 for the world. ``axes_a``, ``axes_b`` (3, 3) and ``origin_a``,
    ``origin_b`` (3,): in body axes.
    """

    def __init__(self, structure: Structure, joint: Joint) -> None:
        self.joint = joint
        self.a, self.b = (structure.body_index.get(body, -1) for body in (joint.body_a, joint.body_b))
        (self.axes_a, self.origin_a), (self.axes_b, self.origin_b) = (
            self._in_body(structure, body, point)
            for body, point in zip((self.a, self.b), structure.anchors(joint), strict=True)
        )

    def _in_body(self, structure: Structure, body: int, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if body < 0:
            return self.joint.frame, point
        R = rotation_matrix(structure.bodies[body].quat_wxyz)
        return R.T @ self.joint.frame, R.T @ (point - structure.bodies[body].position)

    def relative_pose(self, x: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return rotation (..., 3, 3) and origin (..., 3) of frame b in frame a.

        Bodies at ``x`` (..., nb + 1, 3), ``R`` (..., nb + 1, 3, 3), the world last.
        """
        (x_a, R_a), (x_b, R_b) = ((x[..., body, :], R[..., body, :, :]) for body in (self.a, self.b))
        back = np.swapaxes(R_a @ self.axes_a, -1, -2)
        apart = x_b + R_b @ self.origin_b - x_a - R_a @ self.origin_a
        return back @ R_b @ self.axes_b, (back @ apart[..., None])[..., 0]

    def measure(self, x: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Return the joint coordinates (..., dof)."""
        return self.coordinates(*self.relative_pose(x, R))

    def coordinates(self, turn: np.ndarray, shift: np.ndarray) -> np.ndarray:
        """Return joint coordinates (..., dof) of relative poses; searched ones continue from one pose to the next."""
        if type(self.joint).measure is not Joint.measure:
            return self.joint.measure(turn, shift)
        length = float(max(1e-3, np.abs(shift).max()))
        q = np.empty((*turn.shape[:-2], self.joint.dof))
        poses = np.ascontiguousarray(turn).reshape(-1, 3, 3), np.ascontiguousarray(shift).reshape(-1, 3)
        coordinates(*one_product(joint_table(self.joint), length), *poses, q.reshape(-1, self.joint.dof))
        return q

    def relative_twist(self, x: np.ndarray, R: np.ndarray, v: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Return the twist (..., 6) of b seen from a, at b's origin in b's axes, angular first.

        Velocities ``v``, world, and ``w``, body axes, (..., nb + 1, 3).
        """
        turn, shift = self.relative_pose(x, R)
        (v_a, w_a, R_a), (v_b, w_b, R_b) = (
            (v[..., body, :], w[..., body, :], R[..., body, :, :]) for body in (self.a, self.b)
        )
        arm = self.origin_a + shift @ self.axes_a.T
        apart = v_b + turned(R_b, np.cross(w_b, self.origin_b)) - v_a - turned(R_a, np.cross(w_a, arm))
        angular = w_b @ self.axes_b - turned(np.swapaxes(turn, -1, -2), w_a @ self.axes_a)
        return np.concatenate([angular, turned(np.swapaxes(R_b @ self.axes_b, -1, -2), apart)], axis=-1)

    def twist_jacobian(self, x: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Return the Jacobian (6, 2, 6) of the twist of b seen from a, at b's origin in b's axes, angular first.

        A body's motion is that of its centre of mass (world) and its turn (body axes).
        """
        turn, shift = self.relative_pose(x, R)
        B = R[self.b] @ self.axes_b
        back = turn.T @ self.axes_a.T  # from the axes of body a to those of frame b
        jacobian = np.zeros((6, 2, 6))
        jacobian[:3, 0, 3:], jacobian[:3, 1, 3:] = -back, self.axes_b.T
        jacobian[3:, 0, :3], jacobian[3:, 1, :3] = -B.T, B.T
        jacobian[3:, 0, 3:] = back @ cross_matrix(self.origin_a + self.axes_a @ shift)
        jacobian[3:, 1, 3:] = -self.axes_b.T @ cross_matrix(self.origin_b)
        return jacobian

    def rate_jacobian(self, x: np.ndarray, R: np.ndarray, q: np.ndarray | None = None) -> np.ndarray:
        """Return the Jacobian (dof, 2, 6) of the rates by the motions of bodies a and b as in `twist_jacobian`.

        ``q`` (dof,): the coordinates, measured where not given.
        """
        return np.tensordot(self.inverse_subspace(x, R, q), self.twist_jacobian(x, R), 1)

    def inverse_subspace(self, x: np.ndarray, R: np.ndarray, q: np.ndarray | None = None) -> np.ndarray:
        """Return the factors (..., dof, 6) of rates by the twist of b seen from a; ``q`` as in `rate_jacobian`."""
        if self._constant_inverse is not None:
            return self._constant_inverse
        return np.linalg.pinv(motion_subspace(self.joint, self.measure(x, R) if q is None else q))

    @cached_property
    def _constant_inverse(self) -> np.ndarray | None:
        """Return the constant factor (dof, 6) of `rate_jacobian` of a joint with one turn or slide; None for others."""
        if len(self.joint.allowed) == 1 and isinstance(self.joint.allowed[0], Turn | Slide):
            return np.linalg.pinv(motion_subspace(self.joint, np.zeros(1)))
        return None

    @property
    def steady_numbers(self) -> np.ndarray | None:
        """Return the numbers (3, 3) of `steady_rows` of a joint with one turn or slide; None for other joints."""
        inverse = self._constant_inverse
        if inverse is None:
            return None
        return np.array([self.axes_b @ inverse[0, :3], self.axes_b @ inverse[0, 3:], self.origin_b])

    def place(self, child: int, x: np.ndarray, R: np.ndarray, q: np.ndarray) -> None:
        """Fill the pose of body ``child`` of the joint from that of the other, at coordinates ``q``."""
        turn, shift = joint_pose(self.joint, q)
        if child == self.b:
            A = R[self.a] @ self.axes_a
            R[child] = A @ turn @ self.axes_b.T
            x[child] = x[self.a] + R[self.a] @ self.origin_a + A @ shift - R[child] @ self.origin_b
        else:
            A = R[self.b] @ self.axes_b @ turn.T
            R[child] = A @ self.axes_a.T
            x[child] = x[self.b] + R[self.b] @ self.origin_b - A @ shift - R[child] @ self.origin_a

    def twist(self, x: np.ndarray, R: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """Return the twist (6,) of b seen from a at the joint ``rates`` (dof,), as in `twist_jacobian`."""
        return motion_subspace(self.joint, self.measure(x, R)) @ rates


def with_world(
    position: ArrayLike, quat_wxyz: ArrayLike, vertices: Sequence[np.ndarray] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """Return x (..., n, 3), R (..., n, 3, 3), the world last, of bodies at (..., nb, 3), (..., nb, 4).

    Between the bodies and the world stand the ``vertices`` of meshes, each (..., m, 3), which do not turn.
    """
    position, R = np.asarray(position), rotation_matrix(quat_wxyz)
    if vertices:
        more = np.concatenate(vertices, axis=-2)
        position = np.concatenate([position, more], axis=-2)
        R = np.concatenate([R, np.broadcast_to(np.eye(3), (*more.shape, 3))], axis=-3)
    x = np.concatenate([position, np.zeros_like(position[..., :1, :])], axis=-2)
    return x, np.concatenate([R, np.broadcast_to(np.eye(3), (*R.shape[:-3], 1, 3, 3))], axis=-3)


def reference_pose(structure: Structure) -> tuple[np.ndarray, np.ndarray]:
    """Return x (nb + 1, 3), R (nb + 1, 3, 3) of the reference configuration, the world last."""
    return with_world([body.position for body in structure.bodies], [body.quat_wxyz for body in structure.bodies])


def in_body(structure: Structure, body: int, point: np.ndarray) -> np.ndarray:
    """Return a point (3,) of the reference configuration, m, world, from the centre of mass of a body, in its axes."""
    described = structure.bodies[body]
    return rotation_matrix(described.quat_wxyz).T @ (point - described.position)


def moved(x: np.ndarray, R: np.ndarray, motion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the pose (nb + 1, 3), (nb + 1, 3, 3) after a motion (nb + 1, 6): m, world, and a turn, rad, body axes."""
    half = 0.5 * np.linalg.norm(motion[:, 3:], axis=1, keepdims=True)
    quat = np.hstack([np.cos(half), 0.5 * np.sinc(half / np.pi) * motion[:, 3:]])
    return x + motion[:, :3], R @ rotation_matrix(quat)


def forward_pose(
    structure: Structure, topology: Topology, coordinates: Mapping[str, np.ndarray], x: np.ndarray, R: np.ndarray
) -> None:
    """Set the poses along the tree at ``coordinates`` (joint name to (dof,)); other joints keep theirs.

    None of the joints named is in a loop. A loop moves as one body.
    """
    x0, R0 = x.copy(), R.copy()
    for body in topology.bodies:
        number = topology.tree_joint[body]
        if number is None:
            continue
        if body in topology.cluster_of:
            above = topology.parent[body]
            turn = R[above] @ R0[above].T
            x[body], R[body] = x[above] + turn @ (x0[body] - x0[above]), turn @ R0[body]
            continue
        joint = structure.joints[number]
        frames = JointFrames(structure, joint)
        q = coordinates[joint.name] if joint.name in coordinates else frames.measure(x0, R0)
        frames.place(body, x, R, q)


def joint_coordinates(
    structure: Structure,
    joint: Joint,
    position: np.ndarray,
    quat_wxyz: np.ndarray,
    near: np.ndarray | None = None,
) -> np.ndarray:
    """Return the coordinates (T, dof) of ``joint`` at poses (T, nb, 3), (T, nb, 4); (T,) of one coordinate.

    Angles are continued past pi, rotation vectors past pi: from one node to the next a body may
    turn by no more than pi. At the first node both are the nearest to ``near`` (dof,), or the shortest.
    """
    frames = JointFrames(structure, joint)
    position, quat_wxyz = _of_its_bodies(frames, position, quat_wxyz)
    q = [frames.measure(*with_world(position[part], quat_wxyz[part])) for part in _parts(len(position))]
    whole = continued_coordinates(joint, np.concatenate(q))
    if near is not None and len(whole):
        start_near(joint, whole, near)
    return whole[:, 0] if joint.dof == 1 else whole


def joint_rates(
    structure: Structure,
    joint: Joint,
    q: np.ndarray,
    position: np.ndarray,
    quat_wxyz: np.ndarray,
    velocity: np.ndarray,
    angular_velocity: np.ndarray,
) -> np.ndarray:
    """Return the rates (T, dof) of the coordinates ``q`` (T, dof) of ``joint``; (T,) of one coordinate.

    Poses and velocities (T, nb, ...). What the velocities have across the joint's motions is left out.
    """
    frames, rates = JointFrames(structure, joint), np.zeros((len(q), joint.dof))
    if not joint.dof:
        return rates
    motion = position, quat_wxyz, velocity, angular_velocity
    position, quat_wxyz, velocity, angular_velocity = _of_its_bodies(frames, *motion)
    for part in _parts(len(q)):
        x, R = with_world(position[part], quat_wxyz[part])
        speeds = velocity[part], angular_velocity[part]
        v, w = (np.concatenate([array, np.zeros_like(array[:, :1])], axis=1) for array in speeds)
        S = motion_subspace(joint, q[part].reshape(-1, joint.dof))
        rates[part] = turned(np.linalg.pinv(S), frames.relative_twist(x, R, v, w))
    return rates[:, 0] if joint.dof == 1 else rates


def _of_its_bodies(frames: JointFrames, *arrays: np.ndarray) -> list[np.ndarray]:
    """Return the arrays (T, nb, ...) of the bodies of a joint, and renumber these in ``frames``."""
    bodies = [body for body in (frames.a, frames.b) if body >= 0]
    frames.a, frames.b = (bodies.index(body) if body >= 0 else body for body in (frames.a, frames.b))
    return [np.asarray(array)[:, bodies] for array in arrays]


def _parts(count: int) -> Iterator[slice]:
    """Yield nodes 0 to ``count`` in parts: intermediate arrays are many times larger than the result."""
    return (slice(first, first + NODES) for first in range(0, max(count, 1), NODES))


def continued_coordinates(joint: Joint, q: np.ndarray) -> np.ndarray:
    """Continue coordinates ``q`` (T, dof) of ``joint`` in place: rotations nearest to the row before."""
    column = 0
    for motion in joint.allowed:
        if isinstance(motion, Ball):
            q[:, column : column + 3] = continued(q[:, column : column + 3])
        elif isinstance(motion, Turn):
            q[:, column] = np.unwrap(q[:, column])
        column += motion.size
    return q


def start_near(joint: Joint, q: np.ndarray, near: np.ndarray) -> None:
    """Shift continued coordinates ``q`` (T, dof) by whole turns, so that the first are the nearest to ``near``."""
    first, column = nearest_coordinates(joint, q[:1], np.nan_to_num(near)[None])[0], 0
    for motion in joint.allowed:
        if isinstance(motion, Ball):
            entries = slice(column, column + 3)
            q[0, entries] = first[entries]
            q[:, entries] = continued(q[:, entries])
        elif motion.period:
            q[:, column] += first[column] - q[0, column]
        column += motion.size


def nearest_coordinates(joint: Joint, q: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Return coordinates of the poses at ``q`` (T, dof), or (T,), with rotations nearest to ``reference``."""
    nearest, near = q.reshape(len(q), -1).copy(), reference.reshape(len(q), -1)
    column = 0
    for motion in joint.allowed:
        entries = slice(column, column + motion.size)
        if isinstance(motion, Ball):
            nearest[:, entries] = _nearest_vectors(nearest[:, entries], near[:, entries])
        elif motion.period:
            apart = near[:, column] - nearest[:, column]
            nearest[:, column] += motion.period * np.round(apart / motion.period)
        column += motion.size
    return nearest.reshape(q.shape)


def _nearest_vectors(vectors: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Return rotation vectors (T, 3) of the same rotations, the nearest to ``near`` (T, 3); rad."""
    angle = np.linalg.norm(vectors, axis=1, keepdims=True)
    size = np.linalg.norm(near, axis=1, keepdims=True)
    turning = np.where(angle > NO_TURN, vectors / np.maximum(angle, NO_TURN), near / np.maximum(size, NO_TURN))
    along = np.sum(turning * near, axis=1, keepdims=True)
    return vectors + 2 * np.pi * np.round((along - angle) / (2 * np.pi)) * turning


def followed_vectors(
    structure: Structure, bodies: tuple[str, str], quat_wxyz: np.ndarray, near: ArrayLike
) -> np.ndarray:
    """Return rotation vectors (T, 3), rad, of the second body since the reference seen from the first.

    In axes of the first in the reference, at orientations (T, nb, 4); the first node is the nearest to ``near`` (3,),
    others to the node before.
    """
    R = []
    for name in bodies:
        number = structure.body_index.get(name, -1)
        if number < 0:
            R.append(np.broadcast_to(np.eye(3), (len(quat_wxyz), 3, 3)))
        else:
            R.append(rotation_matrix(quat_wxyz[:, number]) @ rotation_matrix(structure.bodies[number].quat_wxyz).T)
    vectors = vector_from_matrix(np.swapaxes(R[0], 1, 2) @ R[1])
    return continued(np.vstack([near, vectors]))[1:]


def without_turns(joint: Joint, q: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Return coordinates (dof,) of the same pose as ``q`` (dof,), on the path from ``start`` in its first turn."""
    unturned, table, stage = q.copy(), joint_table(joint), 0
    while stage >= 0:
        row, k = table[stage], int(table[stage, FIRST])
        if row[BALL]:
            size = np.linalg.norm(q[k : k + 3])
            unturned[k : k + 3] *= np.fmod(size, 2 * np.pi) / size if size > 2 * np.pi else 1.0
        elif row[PERIOD]:
            unturned[k] = start[k] + np.fmod(q[k] - start[k], row[PERIOD])
        stage = int(row[NEXT])
    return unturned


def continued(vectors: np.ndarray) -> np.ndarray:
    """Return rotation vectors (T, 3) of the same rotations, each the nearest to the one before; rad."""
    last = tuple(vectors[0].tolist())
    vectors_so_far = [last]
    for vector in vectors[1:].tolist():  # plain numbers: quicker here than arrays of three
        angle = math.hypot(*vector)
        (x, y, z), size = (vector, angle) if angle > NO_TURN else (last, math.hypot(*last) or 1.0)
        along = (x * last[0] + y * last[1] + z * last[2]) / size
        shift = 2 * math.pi * round((along - angle) / (2 * math.pi)) / size
        last = (vector[0] + shift * x, vector[1] + shift * y, vector[2] + shift * z)
        vectors_so_far.append(last)
    return np.array(vectors_so_far)
