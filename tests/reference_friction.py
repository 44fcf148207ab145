"""Friction inside joints as the reference implementation of REDMAX has it: staggered projections, dense, in cm, g, s.

Contact points are carried by the body behind each joint. Their pressures are the least that give the joint's force, in
the metric of the two bodies and with a small regularisation that depends on the units; friction is bounded along each
tangent by itself; both are found in turn until a projection changes by a thousandth. Forces are kept from step to step
in the axes of the bodies. What a joint transmits comes from velocities with the Jacobian of the start of the step.
"""

import numpy as np
from scipy.optimize import lsq_linear

import varint as vi
from varint.methods.reduced.equations import Equations

REGULAR, CLOSE, LEAST = 1e-6, 1e-3, 1e-10


def pin(radius, length, axes):
    """Four points at each end of a pin along the third of ``axes`` (3, 3); two pressures and one tangent a point."""
    found = []
    for angle in np.pi / 2 * np.arange(4):
        out, along = np.array([np.cos(angle), np.sin(angle), 0.0]), np.array([-np.sin(angle), np.cos(angle), 0.0])
        for side in (-1, 1):
            point = radius * out + [0.0, 0.0, 0.5 * side * length]
            found.append((axes @ point, [axes @ -out, axes @ [0.0, 0.0, 1.0]], [axes @ along]))
    return found


def bar(length, width, height):
    """The corners of a bar along x; two pressures and one tangent a point."""
    corners = np.array([[x, y, z] for x in (1, -1) for y in (1, -1) for z in (1, -1)]) / 2
    sides = np.array([length, width, height])
    return [(sides * corner, [np.eye(3)[1], np.eye(3)[2]], [np.eye(3)[0]]) for corner in corners]


def ball(radius):
    """The ends of three diameters; a pressure and two tangents a point."""
    axes = np.eye(3)
    return [
        (side * radius * axes[k], [side * axes[k]], [axes[(k + 1) % 3], axes[(k + 2) % 3]])
        for k in range(3)
        for side in (1, -1)
    ]


class ReferenceFriction:
    """A chain of two bodies with ``contacts`` in both joints, which are 5 cm behind the centres of the bodies."""

    def __init__(self, mechanism, contacts, coefficient):
        bodies = [
            vi.Body(
                b.name, mass=1e3 * b.mass, inertia=1e7 * b.inertia, position=100 * b.position, quat_wxyz=b.quat_wxyz
            )
            for b in mechanism.bodies
        ]
        joints = [
            type(j)(
                j.name, j.body_a, j.body_b, point=100 * mechanism.anchors(j)[0],
                **({"axis": j.axis} if hasattr(j, "axis") else {}),
            )
            for j in mechanism.joints
        ]  # fmt: skip
        whole = vi.Mechanism(mechanism.name, bodies, joints, gravity=100 * mechanism.gravity)
        self.equations, self.contacts, self.coefficient = Equations(whole), contacts, coefficient
        self.gravity, self.mass = whole.gravity, np.array([body.mass for body in bodies])
        self.inertia = np.array([body.inertia for body in bodies])
        self.inverse = np.zeros((12, 12))
        for i in range(2):
            self.inverse[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = np.eye(3) / self.mass[i]
            self.inverse[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = np.linalg.inv(self.inertia[i])
        self.friction = np.zeros((2, 6))  # forces and torques, in axes of the bodies

    def place(self, q, v):
        e = self.equations
        e.place(q)
        e.move(q, v)
        slot = e.compiled.slot[:2]
        self.x, self.R = e.position[slot], e.rotation[slot]
        self.J = e.jacobian().reshape(-1, 6, q.size)[slot].reshape(12, q.size)
        self.reduced = e.mass_matrix()

    def energy(self, v):
        return 0.5 * v @ self.reduced @ v - self.mass @ self.x @ self.gravity

    def run(self, h, steps):
        """The energy gained, from rest at zero coordinates, erg."""
        q, v = np.zeros((2, self.equations.nq))
        self.place(q, v)
        before = self.energy(v)
        for _ in range(steps):
            self.place(q, v)
            v = self.step(h, v)
            q = q + h * v
        self.place(q, v)
        return self.energy(v) - before

    def step(self, h, v):
        M, J, least = np.linalg.inv(self.inverse), self.J, np.linalg.inv(self.reduced)
        velocity, force = (J @ v).reshape(2, 6), np.zeros((2, 6))
        for i, (linear, angular) in enumerate(zip(velocity[:, :3], velocity[:, 3:], strict=True)):
            force[i, :3] = self.mass[i] * (self.gravity - np.cross(self.R[i] @ angular, linear))
            force[i, 3:] = -np.cross(angular, self.inertia[i] @ angular)
        b = self.reduced @ v + h * self.equations.reduced_force(0.0)
        free = M @ velocity.ravel() + h * force.ravel()
        pressed, tangents = zip(*(self.rows(joint) for joint in range(2)), strict=True)
        friction, held = self.turned(self.friction), np.zeros(12)
        for _ in range(100):
            jointed = J @ (least @ (b + h * J.T @ friction))
            last, held = held, (M @ jointed - free) / h - friction
            change = held - last
            if change @ self.inverse @ change < CLOSE * (held @ self.inverse @ held):
                break
            friction = self.projected(h, free + h * held, self.bounds(h, held, pressed), np.concatenate(tangents))
        self.friction = self.turned(friction.reshape(2, 6), back=True).reshape(2, 6)
        return least @ (b + h * J.T @ (held + friction))

    def turned(self, wrenches, back=False):
        """Forces from axes of the bodies to those of the world, (12,)."""
        out = wrenches.copy()
        for i in range(2):
            out[i, :3] = (self.R[i].T if back else self.R[i]) @ wrenches[i, :3]
        return out.ravel()

    def rows(self, joint):
        """Of the velocities (12,): along the pressures (p, 12) and along the tangents (t, 12)."""
        found = [], []
        for point, *directions in self.contacts:
            for rows, own in zip(found, directions, strict=True):
                rows += [self.row(joint, point - [5.0, 0.0, 0.0], direction) for direction in own]
        return np.array(found[0]), np.array(found[1])

    def row(self, joint, point, direction):
        """``point`` and ``direction`` in axes of the body behind the joint."""
        row, world = np.zeros((2, 6)), self.R[joint] @ direction
        row[joint] = *world, *np.cross(point, direction)
        if joint:
            arm = self.x[1] + self.R[1] @ point - self.x[0]
            row[0] = *-world, *(-self.R[0].T @ np.cross(arm, world))
        return row.ravel()

    def bounds(self, h, held, pressed):
        """Of each tangent, from the least pressures that give what the joints transmit; ``held`` (12,): of bodies."""
        second = held[6:]
        torque = self.R[0].T @ (self.R[1] @ second[3:] + np.cross(self.x[1] - self.x[0], second[:3]))
        onto_first = np.concatenate([second[:3], torque])
        transmitted = np.concatenate([held[:6] + onto_first, np.zeros(6)]), np.concatenate([-onto_first, second])
        found = []
        for N, wrench in zip(pressed, transmitted, strict=True):
            A = N @ self.inverse @ N.T + REGULAR * np.eye(len(N))
            pressure = np.abs(np.linalg.solve(A, h * N @ self.inverse @ wrench)).reshape(len(self.contacts), -1)
            each = len(self.contacts[0][2])
            found.append(np.repeat(self.coefficient * pressure.sum(axis=1), each))
        return np.concatenate(found)

    def projected(self, h, momentum, bounds, tangents):
        """The friction (12,) within its bounds that leaves the least energy of free bodies."""
        acting = bounds > self.coefficient * LEAST
        T, limit = tangents[acting], bounds[acting]
        if not acting.any():
            return np.zeros(12)
        root = np.linalg.cholesky(self.inverse).T
        found = lsq_linear(root @ T.T, root @ momentum, (-limit, limit), method="bvls", tol=1e-14, max_iter=500)
        return -T.T @ found.x / h
