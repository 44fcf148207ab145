"""Rotation vectors r: the right Jacobian S of exp[r] (body angular velocity = S dr/dt) and its derivatives.

With t = |r|, W = [r]:  S = I - a W + b W^2  (DIFF section 2.4.8), S(-r) = S(r)^T,

    a = (1 - cos t) / t^2,   b = (t - sin t) / t^3.

Their derivatives are with respect to x = t^2: 2 x a' = sin t / t - 2 a, 2 x b' = a - 3 b, and near zero the series
are sum (-x)^k / (2 k + 2)! and sum (-x)^k / (2 k + 3)!.
"""

import math

from varint.base.numba import njit
from varint.mathematics.vectors import cross

SERIES_BELOW = 0.25  # of x: there ten terms are exact to round-off


@njit
def coefficients(x):
    """Return (a, b, a', b', a'', b'') at x = |r|^2."""
    if x < SERIES_BELOW:
        a = b = da = db = dda = ddb = 0.0
        term = 1.0  # (-x)^k / (2 k + 1)!, and the same with powers of x taken off by derivatives
        slope = 0.0
        curve = 0.0
        for k in range(10):
            n = 2.0 * k
            a += term / (n + 2.0)
            b += term / ((n + 2.0) * (n + 3.0))
            da += slope / (n + 2.0)
            db += slope / ((n + 2.0) * (n + 3.0))
            dda += curve / (n + 2.0)
            ddb += curve / ((n + 2.0) * (n + 3.0))
            factor = -1.0 / ((n + 2.0) * (n + 3.0))
            curve = factor * (curve * x + 2.0 * slope)
            slope = factor * (slope * x + term)
            term = factor * term * x
        return a, b, da, db, dda, ddb
    t = math.sqrt(x)
    s, c = math.sin(t) / t, math.cos(t)
    a, b = (1.0 - c) / x, (1.0 - s) / x
    ds = 0.5 * (c - s) / x
    da, db = 0.5 * (s - 2.0 * a) / x, 0.5 * (a - 3.0 * b) / x
    return a, b, da, db, 0.5 * (ds - 4.0 * da) / x, 0.5 * (da - 5.0 * db) / x


@njit
def right_jacobian(r0, r1, r2, out):
    """Write S into ``out`` (3, 3)."""
    x = r0 * r0 + r1 * r1 + r2 * r2
    a, b, _, _, _, _ = coefficients(x)
    out[0, 0] = 1.0 + b * (r0 * r0 - x)
    out[1, 1] = 1.0 + b * (r1 * r1 - x)
    out[2, 2] = 1.0 + b * (r2 * r2 - x)
    out[0, 1], out[1, 0] = b * r0 * r1 + a * r2, b * r0 * r1 - a * r2
    out[0, 2], out[2, 0] = b * r0 * r2 - a * r1, b * r0 * r2 + a * r1
    out[1, 2], out[2, 1] = b * r1 * r2 + a * r0, b * r1 * r2 - a * r0


@njit
def right_jacobian_times(r, v):
    """Return S v, as three numbers."""
    a, b, _, _, _, _ = coefficients(r[0] * r[0] + r[1] * r[1] + r[2] * r[2])
    rv = cross(r, v)
    rrv = cross(r, rv)
    return v[0] - a * rv[0] + b * rrv[0], v[1] - a * rv[1] + b * rrv[1], v[2] - a * rv[2] + b * rrv[2]


@njit
def right_jacobian_along(r, u, v):
    """Return (dS/dr . u) v, as three numbers: with v = dr/dt = u it is S-dot dr/dt.

    d/dr of -a r x v + b r x (r x v) along u.
    """
    x = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
    a, b, da, db, _, _ = coefficients(x)
    dx = 2.0 * (r[0] * u[0] + r[1] * u[1] + r[2] * u[2])
    rv, uv = cross(r, v), cross(u, v)
    rrv, urv, ruv = cross(r, rv), cross(u, rv), cross(r, uv)
    return (
        -da * dx * rv[0] - a * uv[0] + db * dx * rrv[0] + b * (urv[0] + ruv[0]),
        -da * dx * rv[1] - a * uv[1] + db * dx * rrv[1] + b * (urv[1] + ruv[1]),
        -da * dx * rv[2] - a * uv[2] + db * dx * rrv[2] + b * (urv[2] + ruv[2]),
    )


@njit
def right_jacobian_twice(r, u, v, z):
    """Return (d2S/dr2 . u . v) z, as three numbers; symmetric in u and v."""
    x = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
    _, b, da, db, dda, ddb = coefficients(x)
    xu = 2.0 * (r[0] * u[0] + r[1] * u[1] + r[2] * u[2])
    xv = 2.0 * (r[0] * v[0] + r[1] * v[1] + r[2] * v[2])
    xuv = 2.0 * (u[0] * v[0] + u[1] * v[1] + u[2] * v[2])
    A, B = dda * xu * xv + da * xuv, ddb * xu * xv + db * xuv
    rz, uz, vz = cross(r, z), cross(u, z), cross(v, z)
    rrz, urz, vrz = cross(r, rz), cross(u, rz), cross(v, rz)
    ruz, rvz, uvz, vuz = cross(r, uz), cross(r, vz), cross(u, vz), cross(v, uz)
    return (
        -A * rz[0] - da * (xu * vz[0] + xv * uz[0]) + B * rrz[0]
        + db * (xu * (vrz[0] + rvz[0]) + xv * (urz[0] + ruz[0])) + b * (uvz[0] + vuz[0]),
        -A * rz[1] - da * (xu * vz[1] + xv * uz[1]) + B * rrz[1]
        + db * (xu * (vrz[1] + rvz[1]) + xv * (urz[1] + ruz[1])) + b * (uvz[1] + vuz[1]),
        -A * rz[2] - da * (xu * vz[2] + xv * uz[2]) + B * rrz[2]
        + db * (xu * (vrz[2] + rvz[2]) + xv * (urz[2] + ruz[2])) + b * (uvz[2] + vuz[2]),
    )  # fmt: skip
