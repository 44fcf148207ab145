"""Joint coordinates to poses and velocities of bodies, and back, along the spanning tree."""

import numpy as np

from varint.compile import anchors
from varint.model.body import WORLD
from varint.model.motion import joint_pose, motion_subspace
from varint.model.rotation import rotation_matrix


class JointFrames:
    """The frames of a joint on its two bodies.

    ``a``, ``b``: body indices, -1 for the world. ``axes_a``, ``axes_b`` (3, 3) and ``origin_a``,
    ``origin_b`` (3,): in body axes.
    """

    def __init__(self, structure, joint):
        number = {**structure.body_index, WORLD: -1}
        self.joint = joint
        self.a, self.b = number[joint.body_a], number[joint.body_b]
        (self.axes_a, self.origin_a), (self.axes_b, self.origin_b) = (
            self._in_body(structure, body, point)
            for body, point in zip((self.a, self.b), anchors(joint, structure), strict=True)
        )

    def _in_body(self, structure, body, point):
        if body < 0:
            return self.joint.frame, point
        R = rotation_matrix(structure.bodies[body].quat_wxyz)
        return R.T @ self.joint.frame, R.T @ (point - structure.bodies[body].position)

    def relative_pose(self, x, R):
        """Rotation (3, 3) and origin (3,) of frame b in frame a, bodies at ``x`` (nb + 1, 3), ``R`` (nb + 1, 3, 3)."""
        A, B = R[self.a] @ self.axes_a, R[self.b] @ self.axes_b
        return A.T @ B, A.T @ (x[self.b] + R[self.b] @ self.origin_b - x[self.a] - R[self.a] @ self.origin_a)

    def measure(self, x, R):
        """Joint coordinates (dof,)."""
        return self.joint.measure(*self.relative_pose(x, R))

    def place(self, child, x, R, q):
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

    def relative_velocity(self, x, R, rates):
        """World velocity (v, w) of body b that the joint ``rates`` (dof,) give it while body a rests."""
        B = R[self.b] @ self.axes_b
        twist = motion_subspace(self.joint, self.measure(x, R)) @ rates
        w = B @ twist[:3]
        return B @ twist[3:] - np.cross(w, R[self.b] @ self.origin_b), w

    def move(self, child, x, R, v, w, rates):
        """Fill the world velocities of body ``child`` of the joint from those of the other."""
        dv, dw = self.relative_velocity(x, R, rates)
        if child == self.b:
            w[child] = w[self.a] + dw
            v[child] = v[self.a] + np.cross(w[self.a], x[child] - x[self.a]) + dv
        else:
            w[child] = w[self.b] - dw
            v[child] = v[self.b] - dv - np.cross(w[child], x[self.b] - x[child])


def reference_pose(structure):
    """x (nb + 1, 3), R (nb + 1, 3, 3) of the reference configuration, the world last."""
    x = np.array([body.position for body in structure.bodies] + [np.zeros(3)])
    R = np.concatenate([rotation_matrix([body.quat_wxyz for body in structure.bodies]), np.eye(3)[None]])
    return x, R


def forward_pose(structure, topology, coordinates, x, R):
    """Poses along the tree at ``coordinates`` (joint name to (dof,)); joints not named keep theirs. In place."""
    x0, R0 = x.copy(), R.copy()
    for body in topology.bodies:
        number = topology.tree_joint[body]
        if number is None:
            continue
        joint = structure.joints[number]
        frames = JointFrames(structure, joint)
        q = coordinates[joint.name] if joint.name in coordinates else frames.measure(x0, R0)
        frames.place(body, x, R, q)


def forward_velocity(structure, topology, rates, x, R):
    """World velocities v, w (nb + 1, 3) along the tree at ``rates``; joints not named are at rest."""
    v, w = np.zeros_like(x), np.zeros_like(x)
    for body in topology.bodies:
        number = topology.tree_joint[body]
        if number is None:
            continue
        joint = structure.joints[number]
        frames = JointFrames(structure, joint)
        frames.move(body, x, R, v, w, rates.get(joint.name, np.zeros(joint.dof)))
    return v, w
