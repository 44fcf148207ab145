"""Energies and angular momentum of bodies at T nodes of a motion, in the order of the description."""

from varint.base.numba import njit
from varint.mathematics.quaternion import rotation_matrix
from varint.mathematics.vectors import add, cross, dot, rotate, scale, vector

SIDE_BY_SIDE = 8  # partial sums of numpy's sums
MOST_SUMMED = 128  # numbers that these add in one piece


@njit
def kinetic_energies(mass, inertia, velocity, angular_velocity, out):
    """Write kinetic energies, J, at T nodes to ``out`` (T,).

    ``mass`` (nb,), ``inertia`` (nb, 3, 3), body axes; ``velocity`` (T, nb, 3), world, ``angular_velocity`` (T, nb, 3),
    body axes.
    """
    for node in range(out.size):
        twice = 0.0
        for i in range(mass.size):
            v, w = vector(velocity[node, i]), vector(angular_velocity[node, i])
            twice += mass[i] * dot(v, v) + dot(w, rotate(inertia[i], w))
        out[node] = 0.5 * twice


@njit
def angular_momenta(mass, inertia, nodes, R, out):
    """Write angular momenta about the origin, N m s, world, at T nodes to ``out`` (T, 3).

    ``mass`` (nb,), ``inertia`` (nb, 3, 3), body axes; ``nodes``: position, quat, velocity, angular velocity
    (T, nb, ...); ``R`` (3, 3): scratch.
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


@njit(contract=False)
def gravity_energies(mass, gravity, position, terms, out):
    """Write energies of gravity, J, zero at the origin, at T nodes to ``out`` (T,).

    ``mass`` (nb,); ``gravity`` (3,), m/s^2; ``position`` (T, nb, 3), m, world. To the bits of sums by numpy, of
    MOST_SUMMED numbers at most. ``terms`` (3 nb,): scratch.
    """
    for node in range(out.size):
        for i in range(mass.size):
            for k in range(3):
                terms[3 * i + k] = mass[i] * gravity[k] * position[node, i, k]
        out[node] = -_sum(terms)


@njit(contract=False)
def _sum(terms):
    """Return the sum of ``terms`` (n,), in the order of numpy's: eight partial sums, then the rest."""
    whole = terms.size - terms.size % SIDE_BY_SIDE
    total = 0.0
    if whole:
        a, b, c, d, e, f, g, h = terms[0], terms[1], terms[2], terms[3], terms[4], terms[5], terms[6], terms[7]
        for n in range(SIDE_BY_SIDE, whole, SIDE_BY_SIDE):
            a, b, c, d = a + terms[n], b + terms[n + 1], c + terms[n + 2], d + terms[n + 3]
            e, f, g, h = e + terms[n + 4], f + terms[n + 5], g + terms[n + 6], h + terms[n + 7]
        total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for n in range(whole, terms.size):
        total += terms[n]
    return total
