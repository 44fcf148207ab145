"""Mass along paths of two points, and impulses at the points of any path, in steps of maximal coordinates.

The material does not slide past the two points. The integrals of paths/masses.py are then those of (1 - alpha)^2,
(1 - alpha) alpha, alpha^2, 1 - alpha and alpha over the belly, ``moments``, kg, times what the points do.
"""

from varint.base.numba import njit
from varint.mathematics.vectors import cross, rotate, rotate_back, vector


@njit
def add_pulls(plan, ws, first, last, pose):
    """Add the impulses ``pull`` of points to ``wrench``."""
    table, work, pull = plan.massive_paths, ws.massive_paths, ws.massive_paths.pull
    for n in range(first, last + 1):
        k = table.place[n]
        if k < 0:
            continue
        force, out = vector(pull[n]), work.wrench[k]
        torque = cross(vector(table.arm[n]), rotate_back(ws.rotation[pose, table.slot[n]], force))
        for c in range(3):
            out[c] += force[c]
            out[3 + c] += torque[c]


@njit
def is_straight(table, p):
    """Return whether path p has two points: then ``moments`` has its integrals."""
    return table.first[p + 1] - table.first[p] == 2


@njit
def add_straight(plan, ws, p, start, end, h, pose, kick):
    """Add momenta and ``kick`` (s) times the weight of a straight path at a pose to ``wrench``; return its potential.

    In J. ``start``, ``end``: poses of a step of ``h`` seconds; h = 0 for the weight alone. Scratch:
    ``ws.massive_paths.pull``.
    """
    table, work, g = plan.massive_paths, ws.massive_paths, plan.bodies.gravity
    n, potential, moments = table.first[p], 0.0, table.moments[p]
    x, y, rate = work.x[start], work.x[end], 1.0 / h if h != 0.0 else 0.0
    for c in range(3):
        near, far = rate * (y[n, c] - x[n, c]), rate * (y[n + 1, c] - x[n + 1, c])
        work.pull[n, c] = moments[0] * near + moments[1] * far + kick * moments[3] * g[c]
        work.pull[n + 1, c] = moments[1] * near + moments[2] * far + kick * moments[4] * g[c]
        potential -= g[c] * (moments[3] * work.x[pose, n, c] + moments[4] * work.x[pose, n + 1, c])
    add_pulls(plan, ws, n, n + 1, pose)
    return potential


@njit
def couple_straight(plan, ws, p, upper, lower):
    """Add the part of a straight path to ``ws.massive_paths.H``."""
    table, H, first = plan.massive_paths, ws.massive_paths.H, plan.massive_paths.first[p]
    for n in range(first, first + 2):
        for other in range(first, first + 2):
            i, k, weight = table.place[n], table.place[other], table.moments[p, n + other - 2 * first]
            if i < 0 or k < 0:
                continue
            R, Q = ws.rotation[upper, table.slot[n]], ws.rotation[lower, table.slot[other]]
            for c in range(6):
                unit = 1.0 if c % 3 == 0 else 0.0, 1.0 if c % 3 == 1 else 0.0, 1.0 if c % 3 == 2 else 0.0
                moved = unit if c < 3 else rotate(Q, cross(unit, vector(table.arm[other])))
                torque = cross(vector(table.arm[n]), rotate_back(R, moved))
                for d in range(3):
                    H[6 * i + d, 6 * k + c] += weight * moved[d]
                    H[6 * i + 3 + d, 6 * k + c] += weight * torque[d]
