"""Unit quaternions, scalar first, rotating body axes into the world (VI section 2.1)."""

import math

from varint.base.numba import njit
from varint.mathematics.sums import two_sum


@njit
def rotation_matrix(q, R):
    """Write the rotation matrix of ``q`` (4,), unit to round-off, into ``R`` (3, 3) (VI eq. 15).

    The error of the norm by round-off is divided out to first order: without it the rotation is not one, and the
    reactions do a little work.
    """
    w, x, y, z = q[0], q[1], q[2], q[3]
    s = 4.0 - 2.0 * (w * w + x * x + y * y + z * z)
    R[0, 0] = 1.0 - s * (y * y + z * z)
    R[0, 1] = s * (x * y - w * z)
    R[0, 2] = s * (x * z + w * y)
    R[1, 0] = s * (x * y + w * z)
    R[1, 1] = 1.0 - s * (x * x + z * z)
    R[1, 2] = s * (y * z - w * x)
    R[2, 0] = s * (x * z - w * y)
    R[2, 1] = s * (y * z + w * x)
    R[2, 2] = 1.0 - s * (x * x + y * y)


@njit
def multiply(q, p):
    """Return the Hamilton product ``q p`` (4,) (VI eq. 3)."""
    return (
        q[0] * p[0] - q[1] * p[1] - q[2] * p[2] - q[3] * p[3],
        q[0] * p[1] + q[1] * p[0] + q[2] * p[3] - q[3] * p[2],
        q[0] * p[2] - q[1] * p[3] + q[2] * p[0] + q[3] * p[1],
        q[0] * p[3] + q[1] * p[2] - q[2] * p[1] + q[3] * p[0],
    )


@njit
def advance(q, rest, w0, w1, w2, half_step, out, out_rest):
    """Write ``q (c, half_step w)`` with ``c = sqrt(1 - |half_step w|^2)`` into ``out`` (4,) (VI eq. 32).

    The scalar part is positive for either sign of the step, as a composition with negative sub-steps needs. The sum of
    ``q`` and its change is compensated: ``rest`` (4,) is the part that rounding took off ``q``, ``out_rest`` (4,),
    written, the part that it takes off ``out``. The change returns the norm to one, so that it does not wander over
    millions of steps. ``out`` must not be ``q``.
    """
    x, y, z = half_step * w0, half_step * w1, half_step * w2
    square = x * x + y * y + z * z
    c = -square / (1.0 + math.sqrt(1.0 - square))  # of the scalar part, less one
    c += 0.5 * (1.0 - (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]))
    s, a = two_sum(q[0], rest[0] + q[0] * c - q[1] * x - q[2] * y - q[3] * z)
    t, b = two_sum(q[1], rest[1] + q[0] * x + q[1] * c + q[2] * z - q[3] * y)
    u, d = two_sum(q[2], rest[2] + q[0] * y - q[1] * z + q[2] * c + q[3] * x)
    v, e = two_sum(q[3], rest[3] + q[0] * z + q[1] * y - q[2] * x + q[3] * c)
    out[0], out[1], out[2], out[3] = s, t, u, v
    out_rest[0], out_rest[1], out_rest[2], out_rest[3] = a, b, d, e
