"""Vectors of three as tuples, and rotation matrices as arrays.

Functions take tuples: one type of argument, one compiled version. `vector` makes one of an array.
"""

import math

from varint.base.numba import njit

ZERO = (0.0, 0.0, 0.0)


@njit
def vector(a):
    """Return the first three numbers of an array."""
    return a[0], a[1], a[2]


@njit
def turn_of(a):
    """Return the last three of the six numbers of a motion or an impulse, as an array."""
    return a[3], a[4], a[5]


@njit
def add(a, b):
    """Return a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@njit
def sub(a, b):
    """Return a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@njit
def scale(s, a):
    """Return a vector times a number."""
    return s * a[0], s * a[1], s * a[2]


@njit
def dot(a, b):
    """Return the inner product of a and b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit
def cross(a, b):
    """Return the vector product a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@njit
def rotate(R, a):
    """Return R a for a matrix ``R`` (3, 3)."""
    return (
        R[0, 0] * a[0] + R[0, 1] * a[1] + R[0, 2] * a[2],
        R[1, 0] * a[0] + R[1, 1] * a[1] + R[1, 2] * a[2],
        R[2, 0] * a[0] + R[2, 1] * a[1] + R[2, 2] * a[2],
    )


@njit
def rotate_back(R, a):
    """Return R^T a for a matrix ``R`` (3, 3)."""
    return (
        R[0, 0] * a[0] + R[1, 0] * a[1] + R[2, 0] * a[2],
        R[0, 1] * a[0] + R[1, 1] * a[1] + R[2, 1] * a[2],
        R[0, 2] * a[0] + R[1, 2] * a[1] + R[2, 2] * a[2],
    )


@njit
def square_to(n):
    """Return two unit vectors at right angles to a unit vector and to each other."""
    a = cross(n, (1.0, 0.0, 0.0) if abs(n[0]) < 0.6 else (0.0, 1.0, 0.0))
    a = scale(1.0 / math.sqrt(dot(a, a)), a)
    return a, cross(n, a)


@njit
def write(out, a, b):
    """Write two vectors into ``out`` (6,)."""
    out[0], out[1], out[2], out[3], out[4], out[5] = a[0], a[1], a[2], b[0], b[1], b[2]


@njit
def add_to(out, share, a):
    """Add a share of a vector to ``out`` (3,)."""
    out[0] += share * a[0]
    out[1] += share * a[1]
    out[2] += share * a[2]


@njit(inline="always")
def arctangent(s, c):
    """Return atan2(s, c) in two thirds of its time; not for s = c = 0."""
    if abs(s) > abs(c):
        return math.copysign(0.5 * math.pi, s) - math.atan(c / s)
    return math.atan(s / c) + (0.0 if c > 0.0 else math.copysign(math.pi, s))


@njit
def continued(period, near, value):
    """Return ``value`` plus the whole periods that bring it nearest to ``near``; itself for a period of zero."""
    if period > 0.0 and abs(near - value) > 0.5 * period:
        return value + period * round((near - value) / period)
    return value
