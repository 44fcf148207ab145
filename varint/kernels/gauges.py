"""Gauges: scalars of the pose of two bodies, and their gradients by the motions of both (docs/theory.md section 10)."""

import math

from varint._numba import njit
from varint.kernels.plan import DEAD, FOLLOWER, FRAME, LENGTH, SLIP, SPEED, SPIN, TURN


@njit
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@njit
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit
def turned(R, a):
    return dot(R[0], a), dot(R[1], a), dot(R[2], a)


@njit
def turned_back(R, a):
    return (
        R[0, 0] * a[0] + R[1, 0] * a[1] + R[2, 0] * a[2],
        R[0, 1] * a[0] + R[1, 1] * a[1] + R[2, 1] * a[2],
        R[0, 2] * a[0] + R[1, 2] * a[1] + R[2, 2] * a[2],
    )


@njit(inline="always")
def arctangent(s, c):
    """atan2(s, c) in two thirds of its time; not for s = c = 0."""
    if abs(s) > abs(c):
        return math.copysign(0.5 * math.pi, s) - math.atan(c / s)
    return math.atan(s / c) + (0.0 if c > 0.0 else math.copysign(math.pi, s))


@njit(inline="always")
def _angle(A, B, vectors, gradient):
    """TURN: atan2(u0 . d, u1 . d), d = A^T B w."""
    u, v = vectors[0], vectors[1]
    d = turned_back(A, turned(B, vectors[2]))
    s, c = dot(u, d), dot(v, d)
    scale = 1.0 / (s * s + c * c)
    s_d, c_d = scale * c, -scale * s
    near = cross((s_d * u[0] + c_d * v[0], s_d * u[1] + c_d * v[1], s_d * u[2] + c_d * v[2]), d)
    far = turned_back(B, turned(A, near))  # the moments on both add up to nothing
    gradient[0, 0] = gradient[0, 1] = gradient[0, 2] = 0.0
    gradient[1, 0] = gradient[1, 1] = gradient[1, 2] = 0.0
    gradient[0, 3], gradient[0, 4], gradient[0, 5] = near
    gradient[1, 3], gradient[1, 4], gradient[1, 5] = -far[0], -far[1], -far[2]
    return arctangent(s, c)


@njit(inline="always")
def gauge(kind, vectors, x_a, A, x_b, B, v_b, gradient):
    """Value of a gauge, m or rad, and its ``gradient`` (2, 6) by the motions of both bodies; see `Plan.gauge_vector`.

    ``x_a``, ``x_b`` (3,) and ``A``, ``B`` (3, 3): pose of the two bodies; ``v_b`` (6,): velocity of b. A TURN is in
    [-pi, pi]; DEAD and the kinds after it have a gradient only.
    """
    if kind == TURN:
        return _angle(A, B, vectors, gradient)
    if kind >= DEAD:
        gradient[:] = 0.0
        if kind <= FOLLOWER:
            _push(kind, vectors, B, gradient[1])
        else:
            _motion(kind, vectors, B, v_b, gradient[1])
        return 0.0
    u, w = vectors[0], vectors[1]
    arm = turned(B, w)
    d = (x_b[0] + arm[0] - x_a[0], x_b[1] + arm[1] - x_a[1], x_b[2] + arm[2] - x_a[2])
    if kind == LENGTH:
        start = turned(A, u)
        d = (d[0] - start[0], d[1] - start[1], d[2] - start[2])
        value = math.sqrt(dot(d, d))
        along = (d[0] / value, d[1] / value, d[2] / value) if value > 0.0 else (0.0, 0.0, 0.0)
        lever, facing = (u[0], u[1], u[2]), turned_back(A, along)
    else:  # SLIDE, FRAME
        along = turned(A, u)
        value = dot(along, d) - vectors[2, 0]
        lever, facing = turned_back(A, d), (u[0], u[1], u[2])
    near, far = cross(facing, lever), cross(w, turned_back(B, along))
    gradient[0, 0], gradient[0, 1], gradient[0, 2] = -along[0], -along[1], -along[2]
    gradient[0, 3], gradient[0, 4], gradient[0, 5] = near
    gradient[1, 0], gradient[1, 1], gradient[1, 2] = along
    gradient[1, 3], gradient[1, 4], gradient[1, 5] = far
    if kind == FRAME:
        value += _rotation_vector_part(A, B, vectors, gradient)
    return value


@njit
def _rotation_vector_part(A, B, vectors, gradient):
    """n . rho with exp [rho] = R R0^T, axes of a, R = A^T B and R0 the same at rest; gradient added.

    A change of R by a turn delta from the left, axes of a, changes rho by the inverse of the left Jacobian, so
    n . rho by y . delta, y = n + rho x n / 2 + f rho x (rho x n), f = (1 - phi cot(phi / 2) / 2) / phi^2.
    """
    n, rest = vectors[3], vectors[4:]
    x = turned_back(A, turned(B, rest[0]))  # the columns of R R0^T
    y = turned_back(A, turned(B, rest[1]))
    z = turned_back(A, turned(B, rest[2]))
    sine = (0.5 * (y[2] - z[1]), 0.5 * (z[0] - x[2]), 0.5 * (x[1] - y[0]))
    size = math.sqrt(dot(sine, sine))
    phi = math.atan2(size, 0.5 * (x[0] + y[1] + z[2] - 1.0))
    scale = phi / size if size > 1e-8 else 1.0
    rho = (scale * sine[0], scale * sine[1], scale * sine[2])
    f = (1.0 - 0.5 * phi / math.tan(0.5 * phi)) / (phi * phi) if phi > 1e-3 else 1.0 / 12.0
    once = cross(rho, n)
    twice = cross(rho, once)
    slope = (
        n[0] + 0.5 * once[0] + f * twice[0],
        n[1] + 0.5 * once[1] + f * twice[1],
        n[2] + 0.5 * once[2] + f * twice[2],
    )
    far = turned_back(B, turned(A, slope))
    for k in range(3):
        gradient[0, 3 + k] -= slope[k]
        gradient[1, 3 + k] += far[k]
    return dot(n, rho)


@njit
def _push(kind, vectors, B, gradient):
    """DEAD, FOLLOWER: a force and a torque on b, in directions fixed in the world or in b; gradient (6,)."""
    force, torque = vectors[0], vectors[1]
    if kind == DEAD:
        f, t, n = turned_back(B, force), turned_back(B, torque), (force[0], force[1], force[2])
    else:
        f, t, n = (force[0], force[1], force[2]), (torque[0], torque[1], torque[2]), turned(B, force)
    moment = cross(vectors[2], f)
    for k in range(3):
        gradient[k], gradient[3 + k] = n[k], t[k] + moment[k]


@njit
def _motion(kind, vectors, B, v, gradient):
    """SPEED, SPIN, SLIP: the direction in which b, or a point of it along a plane, moves; gradient (6,).

    At rest any direction will do: there the effort is zero, and the same damping acts across it.
    """
    w = (v[3], v[4], v[5])
    if kind == SPEED:
        d = (v[0], v[1], v[2])
    elif kind == SLIP:
        moved, n = turned(B, cross(w, vectors[1])), vectors[0]
        d = (v[0] + moved[0], v[1] + moved[1], v[2] + moved[2])
        away = dot(n, d)
        d = (d[0] - away * n[0], d[1] - away * n[1], d[2] - away * n[2])
    else:
        d = w
    size = math.sqrt(dot(d, d))
    if size == 0.0:
        d, size = (1.0, 0.0, 0.0), 1.0
        if kind == SLIP:
            n = vectors[0]
            d = (-n[2], 0.0, n[0]) if abs(n[1]) < 0.7 else (n[1], -n[0], 0.0)
            size = math.sqrt(dot(d, d))
    d = (d[0] / size, d[1] / size, d[2] / size)
    first = 3 if kind == SPIN else 0
    for k in range(3):
        gradient[first + k] = d[k]
    if kind == SLIP:
        gradient[3], gradient[4], gradient[5] = cross(vectors[1], turned_back(B, d))


@njit(inline="always")
def on_from(kind, near, value):
    """Value of a gauge, for a TURN with as many turns as bring it nearest to ``near``."""
    if kind == TURN and abs(near - value) > math.pi:
        return value + 2.0 * math.pi * round((near - value) / (2.0 * math.pi))
    return value


@njit
def gauge_at(plan, e, position, rotation, v_b, gradient):
    """`gauge` of gauge e at a pose (nb + 1, 3), (nb + 1, 3, 3)."""
    a, b = plan.gauge_body[e, 0], plan.gauge_body[e, 1]
    return gauge(
        plan.gauge_kind[e], plan.gauge_vector[e], position[a], rotation[a], position[b], rotation[b], v_b, gradient
    )


@njit
def measure(plan, position, rotation, velocity, gradient, value):
    """Values (ng,) and gradients (ng, 2, 6) of all gauges, each for itself; TURNs in [-pi, pi].

    At a pose (nb + 1, 3), (nb + 1, 3, 3) with velocities (nb, 6).
    """
    for e in range(plan.gauge_kind.size):
        a, b = plan.gauge_body[e, 0], plan.gauge_body[e, 1]
        moving = b if b < plan.mass.size else 0  # of the world no velocity is asked for
        value[e] = gauge(
            plan.gauge_kind[e], plan.gauge_vector[e], position[a], rotation[a], position[b], rotation[b],
            velocity[moving], gradient[e],
        )  # fmt: skip
