"""Kinetic energy and angular momentum of bodies at T nodes of a motion, in the order of the description."""

from varint._numba import njit
from varint.algebra.quaternion import rotation_matrix
from varint.algebra.vectors import add, cross, dot, rotate, scale, vector


@njit
def kinetic_energies(mass, inertia, velocity, angular_velocity, out):
    """Write J into ``out`` (T,): masses (nb,), inertias (nb, 3, 3), velocities (T, nb, 3) in the world and the body."""
    for node in range(out.size):
        twice = 0.0
        for i in range(mass.size):
            v, w = vector(velocity[node, i]), vector(angular_velocity[node, i])
            twice += mass[i] * dot(v, v) + dot(w, rotate(inertia[i], w))
        out[node] = 0.5 * twice


@njit
def angular_momenta(mass, inertia, nodes, R, out):
    """Write N m s about the origin into ``out`` (T, 3), world.

    ``nodes``: position, quat, velocity, angular velocity (T, nb, ...); ``R`` (3, 3) scratch.
    """
    position, quat, velocity, angular_velocity = nodes
    for node in range(out.shape[0]):
        total = 0.0, 0.0, 0.0
        for i in range(mass.size):
            rotation_matrix(quat[node, i], R)
            spin = rotate(R, rotate(inertia[i], vector(angular_velocity[node, i])))
            orbit = cross(vector(position[node, i]), vector(velocity[node, i]))
            total = add(total, add(scale(mass[i], orbit), spin))
        for k in range(3):
            out[node, k] = total[k]
