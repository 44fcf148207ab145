"""Unit quaternions, scalar first, rotating body axes into the world (VI section 2.1)."""

import math

from varint._numba import njit


@njit
def rotation_matrix(q, R):
    """Write the rotation matrix of ``q`` (4,) into ``R`` (3, 3) (VI eq. 15)."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    R[0, 0] = 1.0 - 2.0 * (y * y + z * z)
    R[0, 1] = 2.0 * (x * y - w * z)
    R[0, 2] = 2.0 * (x * z + w * y)
    R[1, 0] = 2.0 * (x * y + w * z)
    R[1, 1] = 1.0 - 2.0 * (x * x + z * z)
    R[1, 2] = 2.0 * (y * z - w * x)
    R[2, 0] = 2.0 * (x * z - w * y)
    R[2, 1] = 2.0 * (y * z + w * x)
    R[2, 2] = 1.0 - 2.0 * (x * x + y * y)


@njit
def multiply(q, p):
    """The Hamilton product ``q p`` (4,) (VI eq. 3)."""
    return (
        q[0] * p[0] - q[1] * p[1] - q[2] * p[2] - q[3] * p[3],
        q[0] * p[1] + q[1] * p[0] + q[2] * p[3] - q[3] * p[2],
        q[0] * p[2] - q[1] * p[3] + q[2] * p[0] + q[3] * p[1],
        q[0] * p[3] + q[1] * p[2] - q[2] * p[1] + q[3] * p[0],
    )


@njit
def advance(q, w0, w1, w2, half_step, out):
    """Write ``q (c, half_step w)`` with ``c = sqrt(1 - |half_step w|^2)`` into ``out`` (VI eq. 32).

    The scalar part is positive for either sign of the step, as a composition with negative
    sub-steps needs. Returned unit to round-off: the product is renormalised, so that the norm
    does not wander over millions of steps. ``out`` must not be ``q``.
    """
    x, y, z = half_step * w0, half_step * w1, half_step * w2
    c = math.sqrt(1.0 - (x * x + y * y + z * z))
    a = q[0] * c - q[1] * x - q[2] * y - q[3] * z
    i = q[0] * x + q[1] * c + q[2] * z - q[3] * y
    j = q[0] * y - q[1] * z + q[2] * c + q[3] * x
    k = q[0] * z + q[1] * y - q[2] * x + q[3] * c
    scale = 1.0 / math.sqrt(a * a + i * i + j * j + k * k)
    out[0] = scale * a
    out[1] = scale * i
    out[2] = scale * j
    out[3] = scale * k
