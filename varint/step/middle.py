"""The middle of a step of order 2: what acts there, at both ends of the step, and by its unknowns.

A measure g and its law's effort f(g, dg/dt) act over a step at the middle pose x = (x + x') / 2,
q = (q + q') / |q + q'|, half of it at either end:

    start  h/2 f (g_x, (I + [T]) g_theta)      end  h/2 f (g_x, (I - [T]) g_theta),    gradients in the middle,

and so does a load on one body. u = h w / 2 is the vector part, and c = sqrt(1 - u . u) the scalar part, of the step's
rotation, a unit quaternion; T = u / (1 + c), of length tan(angle / 4). With P = diag(I, I + [T]) the first is
h/2 f P g. For f = -dV/dg these are the derivatives of the discrete Lagrangian -h V(middle): symplectic, symmetric, and
with the momenta conserved; for a stiff spring it is the implicit midpoint rule, stable at any step.

Newton's unknown for w is dphi, dw = (c I + [u]) dphi: h dphi is a change of the pose at the end of the step, a rotation
vector in axes of the body there.
"""

import math

from varint.base.numba import natural, njit
from varint.mathematics.quaternion import multiply
from varint.mathematics.sums import two_sum, two_sums
from varint.mathematics.vectors import add, cross, dot, scale, sub, turn_of, vector, write


@njit
def middle_poses(plan, ws, start, half_step):
    """Write the middle poses of the bodies that laws and loads act on, and (T, c) of each, to ``ws.efforts``.

    To ``position`` (nb + 1, 3), ``rotation`` (nb + 1, 3, 3) and ``tangent`` (nb + 1, 4), from the pose ``start`` and
    ``ws.velocity``.
    """
    work, start = ws.efforts, natural(start)
    for i in range(plan.bodies.mass.size):
        if not plan.bodies.loaded[i]:
            continue
        v = ws.velocity[i]
        x, y, z = half_step * v[3], half_step * v[4], half_step * v[5]
        c = math.sqrt(1.0 - (x * x + y * y + z * z))
        share = 1.0 / (1.0 + c)
        T = work.tangent[i]
        T[0], T[1], T[2], T[3] = share * x, share * y, share * z, c
        for k in range(3):
            work.position[i, k] = ws.position[start, i, k] + half_step * v[k]
        _write_rotation(multiply(ws.quat[start, i], (1.0 + c, x, y, z)), share, work.rotation[i])


@njit(inline="always")
def _write_rotation(q, s, R):
    """Write the rotation matrix of a quaternion that is not normalised, s = 2 / |q|^2, to ``R`` (3, 3)."""
    w, x, y, z = q
    R[0, 0], R[0, 1], R[0, 2] = 1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)
    R[1, 0], R[1, 1], R[1, 2] = s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)
    R[2, 0], R[2, 1], R[2, 2] = s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)


@njit
def start_push(p, share, g, T):
    """Add share (g_x, (I + [T]) g_theta) to ``p`` (6,), from ``g`` (6,)."""
    tilt = cross(vector(T), turn_of(g))
    for k in range(3):
        p[k] += share * g[k]
        p[3 + k] += share * (g[3 + k] + tilt[k])


@njit
def finish_push(ws, i, share, g):
    """Add share (g_x, (I - [T]) g_theta), ``g`` (6,), to ``ws.momentum`` of body i, with ``ws.momentum_rest``."""
    finish_turn(ws, i, share, g)
    p, rest = ws.momentum[i], ws.momentum_rest[i]
    for k in range(3):
        p[k], rest[k] = two_sum(p[k], rest[k] + share * g[k])


@njit(inline="always")
def finish_turn(ws, i, share, g):
    """Add the angular part of `finish_push` to ``ws.momentum`` and ``ws.momentum_rest``."""
    p, rest, turn = ws.momentum[i], ws.momentum_rest[i], turn_of(g)
    push = scale(share, sub(turn, cross(vector(ws.efforts.tangent[i]), turn)))
    turn, left = two_sums(turn_of(p), add(turn_of(rest), push))
    p[3], p[4], p[5] = turn
    rest[3], rest[4], rest[5] = left


@njit
def unknown_to_motion(d, T, half_step, motion):
    """Write the motion of a body in the middle of the step by a change ``d`` (6,) = (dv, dphi) of the unknowns.

    To ``motion`` (6,).
    """
    turn = vector(d[3:])
    tilt = cross(vector(T), turn)
    for k in range(3):
        motion[k], motion[3 + k] = half_step * d[k], half_step * (turn[k] + tilt[k])


@njit
def unknown_to_velocity(d, T, velocity):
    """Write the change of the velocity by a change ``d`` (6,) = (dv, dphi) of the unknowns: dw = (c I + [u]) dphi.

    To ``velocity`` (6,).
    """
    turn = vector(d[3:])
    tilt, c = cross(vector(T), turn), T[3]
    for k in range(3):
        velocity[k], velocity[3 + k] = d[k], c * turn[k] + (1.0 + c) * tilt[k]


@njit
def unknown_to_tangent(d, T, half_step):
    """Return the change of T by a change ``d`` (6,) of the unknowns: h/2 (c / (1 + c) + [T] + T T^T) dphi."""
    turn, t, c = vector(d[3:]), vector(T), T[3]
    change = add(scale(c / (1.0 + c), turn), add(cross(t, turn), scale(dot(t, turn), t)))
    return scale(half_step, change)


@njit
def push_change(gradient, change, T, tangent_change, factor, out):
    """Add ``factor`` times the change of (g_x, (I + [T]) g_theta) to ``out`` (6,).

    ``gradient`` (6,): g; ``change`` (6,) of g, ``tangent_change`` of T.
    """
    turned = vector(change[3:])
    lever = add(add(turned, cross(vector(T), turned)), cross(tangent_change, vector(gradient[3:])))
    for k in range(3):
        out[k] += factor * change[k]
        out[3 + k] += factor * lever[k]


@njit
def write_rows(gradient, T, factors, up, low):
    """Write the rows (6,) of an effort for one body: ``up`` = P g, ``low`` = -h/2 df/dd, see efforts.py.

    ``gradient``: (g_x, g_theta). ``factors``: -h^2/4 of the derivative of the effort by its measure, and -h/2 of that
    by its rate. With u = (1 + c) T the rate changes by c g_theta - (1 + c) T x g_theta. In a step whose impulses act
    along the rows at its end (newton.py), ``up`` and ``low`` are the same array, which then holds ``low``.
    """
    (by_value, by_rate), (line, turn) = factors, gradient
    tilt, c = cross(vector(T), turn), T[3]
    straight, across = by_value + by_rate * c, by_value + by_rate * (1.0 + c)
    write(up, line, add(turn, tilt))
    write(low, scale(by_value + by_rate, line), sub(scale(straight, turn), scale(across, tilt)))
