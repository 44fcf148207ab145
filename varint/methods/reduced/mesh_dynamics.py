"""Inverse dynamics with deformable bodies (DIFF eq. 2.94 to 2.99), by coordinates of joints and vertices.

Attached vertices move with their bodies, x = x_b + R_b r: they load these with the forces of the material and of
gravity, and take part in their inertia. Free vertices are coordinates of their own (the identity block of DIFF
eq. 2.96):

    tau(q, dq, ddq, lambda) + sum J_h^T (m a_h - f_h) = 0,    m a_f - f_f = 0

with J_h the velocities of the attached vertices by dq. Derivatives are exact, but for the damping.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import block_array, csc_array, diags_array

from varint.meshes.attached_meshes import AttachedMeshes, crossing_matrices
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.inverse import InverseDynamics
from varint.methods.reduced.recursions import kinematic_recursions as kinematics


class MotionDerivatives(NamedTuple):
    """tau_q, tau_v, tau_a (N, N) and sigma_q, sigma_v (m, N) by the N coordinates of joints and free vertices.

    Derivatives of tau, and of the residual of the free vertices below it, by places, rates and accelerations.
    """

    tau_q: csc_array
    tau_v: csc_array
    tau_a: csc_array
    sigma_q: np.ndarray
    sigma_v: np.ndarray


class MeshInverse(InverseDynamics):
    """`InverseDynamics` of joints and vertices.

    meshes : AttachedMeshes
    free : (3, 3 nf) places of the free vertices, m, velocities and accelerations; set before `evaluate`
    """

    def __init__(self, equations: Equations) -> None:
        super().__init__(equations)
        self.meshes = AttachedMeshes(equations.mechanism, equations.compiled)
        self.free = np.zeros((3, 3 * len(self.meshes.free)))
        self._node = self.node[self.meshes.slots]
        self._mass, self._first, self._second = self.meshes.moments_of_mass()
        self._rates, self._second_change = np.zeros((2, equations.nb, 6))

    def residual(self) -> np.ndarray:
        """Return m a - f (3 nf,) of the free vertices, N, after `evaluate`."""
        free = self.meshes.free
        return self.meshes.mass[free].repeat(3) * self.free[2] - self._force[free].ravel()

    def places(self, free: np.ndarray) -> np.ndarray:
        """Return the places (n, 3), m, of all vertices, with the bodies at their present poses and ``free`` (3 nf,)."""
        x = np.empty_like(self.meshes.points)
        x[self.meshes.free] = free.reshape(-1, 3)
        self.meshes.place(self.equations.position, self.equations.rotation, x)
        return x

    def velocities(self, free: np.ndarray) -> np.ndarray:
        """Return the velocities (n, 3), m/s, of all vertices, see `places`."""
        v = np.zeros_like(self.meshes.points)
        v[self.meshes.free] = free.reshape(-1, 3)
        v[self.meshes.held] = self.meshes.velocities(self.equations.velocity, self.equations.rotation)
        return v

    def damping_power(self, free: np.ndarray) -> np.ndarray:
        """Return the power (meshes,) of the damping, W, at places and velocities ``free`` (2, 3 nf).

        The bodies are at their present poses.
        """
        x, v = self.places(free[0]), self.velocities(free[1])
        return self.meshes.power(self.meshes.forces(x, self.meshes.viscosities(x, v)), v)

    def _load(self, t: float) -> np.ndarray:
        e, meshes, slots = self.equations, self.meshes, self.meshes.slots
        x = self.places(self.free[0])
        self._responses = meshes.responses(x)
        self._viscosities = meshes.viscosities(x, self.velocities(self.free[1]))
        self._force = meshes.forces(x, self._responses) + meshes.forces(x, self._viscosities)
        self._force += meshes.mass[:, None] * meshes.gravity
        kinematics.motion_to_bodies(e.work, self.tangent.acceleration, self._rates)
        # of the vertices of a body, in its axes: force m A + al x c + w x (w x c), moment c x A + J al + w x (J w)
        R, c, J = e.rotation[slots], self._first, self._second
        w, rates = e.velocity[slots, 3:], self._rates[slots, 3:]
        A = np.einsum("bji,bj->bi", R, self._rates[slots, :3])
        Jw = np.einsum("bij,bj->bi", J, w)
        turned = np.cross(w, c)
        force = self._mass[:, None] * A + np.cross(rates, c) + np.cross(w, turned)
        moment = np.cross(c, A) + np.einsum("bij,bj->bi", J, rates) + np.cross(w, Jw)
        self._at = R, A, w, rates, turned, Jw, force
        load = meshes.wrenches(self._force, e.rotation)
        load[slots, :3] -= np.einsum("bij,bj->bi", R, force)
        load[slots, 3:] -= moment
        self._moment = -load[slots, 3:]
        return super()._load(t) + load

    def derivatives(self, by_q: float, by_rates: float, by_second: float) -> tuple[np.ndarray, np.ndarray]:
        """See `InverseDynamics`: with the free vertices as they are.

        Exact but for damping, of which the derivatives by velocities are there alone.
        """
        damping = self._viscosities, by_rates / by_q
        self.stiffness = self.meshes.stiffness(self._responses, 1.0, False, damping=damping)
        self._linearise(self.stiffness.held)
        return super().derivatives(by_q, by_rates, by_second)

    def by_motion(self) -> MotionDerivatives:
        """Return the exact derivatives, damping included, after `evaluate`."""
        meshes, nq, slots = self.meshes, self.equations.nq, self.meshes.slots
        bent = meshes.slopes([each.by_place for each in self._viscosities])
        K, D = meshes.slopes(self._responses) + bent, meshes.slopes(self._viscosities)
        self._linearise(None)
        parts = [super(MeshInverse, self).derivatives(*by) for by in np.eye(3)]
        rotation, velocity = self.equations.rotation.copy(), self.equations.velocity.copy()
        J, changes = self.along_joints(), self.body_changes(self.q, self.rates)[slots, :, :nq]
        turned = meshes.turning_velocities(velocity, rotation) @ changes[:, 3:6].reshape(-1, nq)
        speeds = meshes.jacobian(rotation) @ changes[:, 6:].reshape(-1, nq) + turned  # of held vertices by q
        free, held = ((3 * of[:, None] + np.arange(3)).ravel() for of in (meshes.free, meshes.held))

        def whole(joints: np.ndarray, by_places: csc_array, by_q: np.ndarray) -> csc_array:
            full = joints + J.T @ by_q[held]
            return block_array(
                [[csc_array(full), csc_array(J.T @ by_places[held][:, free])], [by_q[free], by_places[free][:, free]]],
                format="csc",
            )

        (tau_q, sigma_q), (tau_v, sigma_v), (tau_a, _) = parts
        more = np.zeros((len(sigma_q), free.size))
        mass = diags_array(np.append(np.zeros(nq), np.repeat(meshes.mass[meshes.free], 3)))
        padded = np.zeros((nq + free.size, nq + free.size))
        padded[:nq, :nq] = tau_a
        return MotionDerivatives(
            whole(tau_q, K, K[:, held] @ J + D[:, held] @ speeds),
            whole(tau_v, D, D[:, held] @ J),
            (csc_array(padded) + mass).tocsc(),
            np.hstack([sigma_q, more]),
            np.hstack([sigma_v, more]),
        )

    def along_joints(self) -> np.ndarray:
        """Return J_h (3 held, nq): velocities of the attached vertices by the rates of the joints."""
        e, slots = self.equations, self.meshes.slots
        J = e.jacobian().reshape(e.nb, 6, e.nq)[slots]
        return self.meshes.jacobian(e.rotation) @ J.reshape(-1, e.nq)

    def _linearise(self, held: csc_array | None) -> None:
        """Set the derivatives of the wrenches (torque, force), world, on the bodies by their changes (b, 18).

        Changes of poses, motions and accelerations. ``held``: stiffness of the attached vertices; None: their forces
        stay.
        """
        R, A, w, rates, turned, Jw, force = self._at
        C, W, J, S = crossing_matrices(self._first), crossing_matrices(w), self._second, crossing_matrices
        of_force, of_moment = np.zeros((2, len(R), 3, 18))
        of_force[..., 9:12], of_moment[..., 9:12] = -(S(turned) + W @ C), W @ J - S(Jw)
        of_force[..., 12:15], of_moment[..., 12:15] = self._mass[:, None, None] * R.swapaxes(1, 2), C @ R.swapaxes(1, 2)
        of_force[..., 15:], of_moment[..., 15:] = -C, J
        # axes turn: A = R^T a by A x, the force by the turn x, and the rate of w in body axes by the rates x
        of_force[..., 3:6] = self._mass[:, None, None] * S(A) - S(force) - C @ S(rates)
        of_moment[..., 3:6] = C @ S(A) + J @ S(rates) - S(self._moment)
        of_moment[..., 3:6] -= self.meshes.turned_moments(self._force, self.equations.rotation)
        self._inertial = np.concatenate([R @ of_moment, R @ of_force], axis=1)
        self._elastic = np.zeros((6 * len(R), 6 * len(R)))
        if held is None:
            return
        along = self.meshes.jacobian(self.equations.rotation)
        stiff = (along.T @ (held @ along)).reshape(len(R), 6, 6 * len(R))
        self._elastic = np.concatenate([R @ stiff[:, 3:], stiff[:, :3]], axis=1).reshape(6 * len(R), 6 * len(R))

    def _change_more(self) -> None:
        slots, tangent = self.meshes.slots, self.tangent
        kinematics.motion_to_bodies(self.equations.work, tangent.acceleration_change, self._second_change)
        pose = self._motion[slots]
        change = np.concatenate([pose, self._faster[slots], self._second_change[slots]], axis=1)
        wrench = np.einsum("bij,bj->bi", self._inertial, change) + (self._elastic @ pose.ravel()).reshape(-1, 6)
        tangent.wrench_change[self._node] += wrench
