"""Measures along the paths of muscles, evaluated together: lengths (measures/length.py) and wraps (measures/wrap.py).

A path consists of pieces, each a line between two points, straight or around a surface. A line around a surface of S
from A to C has one length L(p, q) for its two measures; the measures' own functions would evaluate it twice, and its
second derivatives for each column of the blocks of its bodies. A test compares the results with those functions.

In Newton's matrix a sum whose bodies are two, the world apart, has one row between them with the gradients of all its
measures. One with a single body has none: (gradient) (change of the effort) is added to the block of the body. Sums of
more bodies have a row for each measure (efforts.py).

The second derivatives of a line add a block for each body by itself. With the gradient f by a point x = x_b + R u of
the body, world, and its derivative H by that point,

    d(f, u x R^T f) = (H dx, u x (R^T H dx - dtheta x R^T f)),    dx = dv + R (dtheta x u)

and for the body of the surface, with p and q from its centre of mass, the gradients g_p and g_q in its axes,

    dp = -R^T dv - dtheta x p,    d(f, t) = (-R (dg_p + dg_q + dtheta x (g_p + g_q)), -d(p x g_p + q x g_q))
"""

import math

from varint._numba import Float2, Float3, indirect, njit
from varint.algebra.vectors import ZERO, add, cross, dot, rotate, rotate_back, scale, sub, vector, write
from varint.algebra.wrapping import wrapped_hessian, wrapped_length
from varint.kernels.plan import Plan, Workspace
from varint.measures import number_of
from varint.measures.wrap import LEADS, seen_from, surface_of

LENGTH = number_of("length")
WHAT = "paths of muscles"


@njit
def _bodies(plan, m):
    """The bodies a and b of measure m."""
    first = plan.measures.first[m]
    return plan.measures.body[m, first], plan.measures.body[m, 1 - first]


@njit
def _line(plan, m, position, rotation):
    """The points p and q of a line around a surface, from its centre in its axes."""
    a, b = _bodies(plan, m)
    own = seen_from(plan, m, position, rotation, a, b, vector(plan.measures.u[m]))
    other = seen_from(plan, m, position, rotation, plan.measures.third[m], b, vector(plan.measures.v[m]))
    if plan.measures.rest[m, 2, 2] == LEADS:
        return own, other
    return other, own


@njit
def _segment(plan, m, position, rotation):
    """Length and direction of a straight line from its point of a to that of b."""
    a, b = _bodies(plan, m)
    one = add(vector(position[a]), rotate(rotation[a], vector(plan.measures.u[m])))
    d = sub(add(vector(position[b]), rotate(rotation[b], vector(plan.measures.w[m]))), one)
    size = math.sqrt(dot(d, d))
    return size, scale(1.0 / size if size > 0.0 else 0.0, d)


@njit
def _write_wrap(plan, work, m, rotation, p, g):
    """Write the gradient of a wrap with its own point ``p`` and the gradient ``g`` by that, times its weight."""
    a, b = _bodies(plan, m)
    first, g = plan.measures.first[m], scale(plan.measures.weight[m], g)
    f = rotate(rotation[b], g)
    write(work.gradient[m, first], f, cross(vector(plan.measures.u[m]), rotate_back(rotation[a], f)))
    lever = add(p, vector(plan.measures.w[m]))
    write(work.gradient[m, 1 - first], scale(-1.0, f), scale(-1.0, cross(lever, g)))


@indirect(seconds=3, what=WHAT)
def evaluate_paths(plan: Plan, ws: Workspace, position: Float2, rotation: Float3) -> None:
    """Write the measures and their gradients at a pose (nb + 1, 3), (nb + 1, 3, 3), world last, to ``ws.efforts``."""
    work, paths = ws.efforts, plan.paths
    for n in range(paths.measure.size):
        m, other = paths.measure[n], paths.other[n]
        if plan.measures.kind[m] == LENGTH:
            a, b = _bodies(plan, m)
            first = plan.measures.first[m]
            work.value[m], f = _segment(plan, m, position, rotation)
            f = scale(plan.measures.weight[m], f)
            lever = cross(rotate_back(rotation[a], f), vector(plan.measures.u[m]))
            write(work.gradient[m, first], scale(-1.0, f), lever)
            lever = cross(vector(plan.measures.w[m]), rotate_back(rotation[b], f))
            write(work.gradient[m, 1 - first], f, lever)
            continue
        p, q = _line(plan, m, position, rotation)
        axis, surface = surface_of(plan, m)
        work.value[m], by_p, by_q = wrapped_length(p, q, axis, surface)
        if plan.measures.rest[m, 2, 2] == LEADS:
            _write_wrap(plan, work, m, rotation, p, by_p)
        else:
            _write_wrap(plan, work, m, rotation, q, by_q)
        if other >= 0:
            work.value[other] = 0.0
            _write_wrap(plan, work, other, rotation, q, by_q)


@njit
def _add_column(D, k, share, df, lever, T):
    """Add ``share`` (df, (I + [T]) lever) to column k."""
    tilt = add(lever, cross(T, lever))
    for c in range(3):
        D[c, k] += share * df[c]
        D[3 + c, k] += share * tilt[c]


@njit
def _unit(k):
    return 1.0 if k % 3 == 0 else 0.0, 1.0 if k % 3 == 1 else 0.0, 1.0 if k % 3 == 2 else 0.0


@njit
def _lean(t, c, turn):
    """Change of T by that of the unknown (efforts.py), over h/2."""
    return add(scale(c / (1.0 + c), turn), add(cross(t, turn), scale(dot(t, turn), t)))


@njit
def _add_point(D, R, u, f, H, tangent, share):
    """Add ``share`` times the second derivatives by the motion of the body of a point ``u``; ``f``, ``H``: above.

    ``H``: three columns; ``tangent``: (T, c) of the body, see efforts.py.
    """
    T, own = vector(tangent), rotate_back(R, f)
    torque = cross(u, own)
    for k in range(6):
        unit = _unit(k)
        if k < 3:
            turn, dx, lean = ZERO, unit, ZERO
        else:
            turn = add(unit, cross(T, unit))
            dx, lean = rotate(R, cross(turn, u)), _lean(T, tangent[3], unit)
        df = add(scale(dx[0], H[0]), add(scale(dx[1], H[1]), scale(dx[2], H[2])))
        lever = cross(u, sub(rotate_back(R, df), cross(turn, own)))
        _add_column(D, k, share, df, lever, T)
        if k >= 3:
            leaned = cross(lean, torque)
            for c in range(3):
                D[3 + c, k] += share * leaned[c]


@njit
def _turned(R, H):
    """Three columns of R H R^T, of the first three rows and columns of ``H``."""
    a, b, c = rotate(R, vector(H[:, 0])), rotate(R, vector(H[:, 1])), rotate(R, vector(H[:, 2]))
    return (
        add(scale(R[0, 0], a), add(scale(R[0, 1], b), scale(R[0, 2], c))),
        add(scale(R[1, 0], a), add(scale(R[1, 1], b), scale(R[1, 2], c))),
        add(scale(R[2, 0], a), add(scale(R[2, 1], b), scale(R[2, 2], c))),
    )


@njit
def _add_surface(D, R, points, gradients, ends, H, tangent, share):
    """Add ``share`` times the second derivatives by the motion of the body of a surface; ``H`` (6, 6).

    ``ends``: one for each of the points p and q that is on another body, zero for one on the body itself.
    """
    T, c = vector(tangent), tangent[3]
    p, q = points
    by_p, by_q = scale(ends[0], gradients[0]), scale(ends[1], gradients[1])
    whole = add(by_p, by_q)
    torque = scale(-1.0, add(cross(p, by_p), cross(q, by_q)))
    for k in range(6):
        unit = _unit(k)
        if k < 3:
            turn = lean = ZERO
            shift = rotate_back(R, unit)
            dp, dq = scale(-ends[0], shift), scale(-ends[1], shift)
        else:
            turn, lean = add(unit, cross(T, unit)), _lean(T, c, unit)
            dp, dq = scale(-ends[0], cross(turn, p)), scale(-ends[1], cross(turn, q))
        one = scale(ends[0], add(rotate(H, dp), rotate(H[:, 3:], dq)))
        other = scale(ends[1], add(rotate(H[3:], dp), rotate(H[3:, 3:], dq)))
        df = scale(-1.0, rotate(R, add(add(one, other), cross(turn, whole))))
        lever = add(add(cross(dp, by_p), cross(p, one)), add(cross(dq, by_q), cross(q, other)))
        _add_column(D, k, share, df, scale(-1.0, lever), T)
        leaned = cross(lean, torque)
        for a in range(3):
            D[3 + a, k] += share * leaned[a]


@njit
def _bend_segment(plan, ws, m, share):
    """Blocks of both bodies of a straight line."""
    work, (a, b) = ws.efforts, _bodies(plan, m)
    size, n = _segment(plan, m, work.position, work.rotation)
    if size == 0.0:
        return
    H = (
        scale(1.0 / size, (1.0 - n[0] * n[0], -n[1] * n[0], -n[2] * n[0])),
        scale(1.0 / size, (-n[0] * n[1], 1.0 - n[1] * n[1], -n[2] * n[1])),
        scale(1.0 / size, (-n[0] * n[2], -n[1] * n[2], 1.0 - n[2] * n[2])),
    )
    if a < plan.bodies.mass.size:
        u = vector(plan.measures.u[m])
        _add_point(ws.ldu.D[a], work.rotation[a], u, scale(-1.0, n), H, work.tangent[a], share)
    if b < plan.bodies.mass.size:
        w = vector(plan.measures.w[m])
        _add_point(ws.ldu.D[b], work.rotation[b], w, n, H, work.tangent[b], share)


@njit
def _bend_end(plan, ws, m, f, H, share):
    """Block of body a of a wrap, on which its own point is."""
    a, work = _bodies(plan, m)[0], ws.efforts
    if a < plan.bodies.mass.size:
        u = vector(plan.measures.u[m])
        _add_point(ws.ldu.D[a], work.rotation[a], u, f, H, work.tangent[a], share)


@njit
def _bend_wrap(plan, ws, n, share):
    """Blocks of the bodies of piece n, a line around a surface."""
    work, nb, m, other = ws.efforts, plan.bodies.mass.size, plan.paths.measure[n], plan.paths.other[n]
    b = _bodies(plan, m)[1]
    R, H = work.rotation[b], work.bent
    p, q = _line(plan, m, work.position, work.rotation)
    axis, surface = surface_of(plan, m)
    by_p, by_q = wrapped_hessian(p, q, axis, surface, H)
    ends = (1.0, 1.0 if other >= 0 else 0.0)
    if plan.measures.rest[m, 2, 2] == LEADS:
        _bend_end(plan, ws, m, rotate(R, by_p), _turned(R, H), share)
    else:
        ends = (0.0, 1.0)
        _bend_end(plan, ws, m, rotate(R, by_q), _turned(R, H[3:, 3:]), share)
    if other >= 0:
        _bend_end(plan, ws, other, rotate(R, by_q), _turned(R, H[3:, 3:]), share)
    if b < nb:
        w = vector(plan.measures.w[m])
        points = add(p, w), add(q, w)
        _add_surface(ws.ldu.D[b], R, points, (by_p, by_q), ends, H, work.tangent[b], share)


@indirect(seconds=5, what=WHAT)
def bend_paths(plan: Plan, ws: Workspace, half_step: float) -> None:
    """Add the change of the directions of efforts to Newton's matrix, ``ws.ldu.D``. After `apply_efforts`."""
    for n in range(plan.paths.measure.size):
        m, effort = plan.paths.measure[n], ws.efforts.sum_effort[plan.paths.sum[n]]
        if effort == 0.0:
            continue
        share = -half_step * half_step * effort * plan.measures.weight[m]
        if plan.measures.kind[m] == LENGTH:
            _bend_segment(plan, ws, m, share)
        else:
            _bend_wrap(plan, ws, n, share)
