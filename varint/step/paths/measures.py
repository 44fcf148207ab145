"""Measures along the paths of muscles, evaluated together: lengths (measures/length.py) and wraps (measures/wrap.py).

A path consists of pieces, each a line between two points, straight or around a surface. A line around a surface of S
from A to C has one length L(p, q) for its two measures; the measures' own functions would evaluate it twice, and its
second derivatives for each column of the blocks of its bodies. A test compares the results with those functions.

In Newton's matrix a sum whose bodies are two, the world apart, has one row between them with the gradients of all its
measures. One with a single body has none: (gradient) (change of the effort) is added to the block of the body. Sums of
more bodies have a row for each measure (efforts.py).

The second derivatives of a line add a block for each body by itself. With the gradient f by a point x + R u of the
body, world, and its derivative H by that point, the force is f and the torque u x R^T f. On the body of a surface, with
p and q from its centre of mass and the gradients g_p and g_q in its axes, they are

    -R (g_p + g_q),    -(p x g_p + q x g_q),    dp = -R^T dv - dtheta x p
"""

import math

from varint.base.numba import Float2, Float3, indirect, inner_sizes, natural, njit
from varint.mathematics.small_matrices import crossed, rows_of, scaled, skew, sum_of, times, transposed
from varint.mathematics.vectors import add, cross, dot, rotate, rotate_back, scale, sub, vector, write
from varint.mathematics.wrapping import wrapped_hessian, wrapped_length
from varint.measures import number_of
from varint.measures.wrap import LEADS, seen_from, surface_of
from varint.step.plan import Plan, Workspace

LENGTH = number_of("length")
WHAT = "paths of muscles"
VECTORS, MATRICES = inner_sizes(3), inner_sizes(3, 3)


@njit
def _bodies(plan, m):
    """Return the bodies a and b of measure m."""
    first = plan.measures.first[m]
    return natural(plan.measures.body[m, natural(first)]), natural(plan.measures.body[m, natural(1 - first)])


@njit
def _line(plan, m, position, rotation):
    """Return the points p and q of a line around a surface, from its centre in its axes."""
    a, b = _bodies(plan, m)
    leading = seen_from(plan, m, position, rotation, a, b, vector(plan.measures.u[m]))
    other = seen_from(plan, m, position, rotation, plan.measures.third[m], b, vector(plan.measures.v[m]))
    if plan.measures.rest[m, 2, 2] == LEADS:
        return leading, other
    return other, leading


@njit
def _point_of(plan, i, at, position, rotation):
    """Return the point ``at`` of body i, world; ``position`` (nb + 1, 3), ``rotation`` (nb + 1, 3, 3)."""
    if i == plan.bodies.mass.size:
        return at
    return add(vector(position[i]), rotate(rotation[i], at))


@njit
def _write_segment(plan, work, m, position, rotation):
    """Write the length of a straight line from its point of a to that of b to ``work.value``, and its gradient.

    ``rotation`` (nb + 1, 3, 3).
    """
    (a, b), nb, first = _bodies(plan, m), plan.bodies.mass.size, plan.measures.first[m]
    u, w = vector(plan.measures.u[m]), vector(plan.measures.w[m])
    d = sub(_point_of(plan, b, w, position, rotation), _point_of(plan, a, u, position, rotation))
    work.value[m] = size = math.sqrt(dot(d, d))
    f = scale(plan.measures.weight[m] / size if size > 0.0 else 0.0, d)
    if a < nb:
        write(work.gradient[m, natural(first)], scale(-1.0, f), cross(rotate_back(rotation[a], f), u))
    if b < nb:
        write(work.gradient[m, natural(1 - first)], f, cross(w, rotate_back(rotation[b], f)))


@njit
def _write_wrap(plan, work, m, rotation, p, g):
    """Write the gradient of a wrap with its point ``p`` and the gradient ``g`` by that, times its weight.

    ``rotation`` (nb + 1, 3, 3).
    """
    (a, b), nb = _bodies(plan, m), plan.bodies.mass.size
    first, g = plan.measures.first[m], scale(plan.measures.weight[m], g)
    f = rotate(rotation[b], g)
    if a < nb:
        lever = cross(vector(plan.measures.u[m]), rotate_back(rotation[a], f))
        write(work.gradient[m, natural(first)], f, lever)
    if b < nb:
        lever = cross(g, add(p, vector(plan.measures.w[m])))
        write(work.gradient[m, natural(1 - first)], scale(-1.0, f), lever)


@indirect(seconds=3, what=WHAT)
def evaluate_paths(plan: Plan, ws: Workspace, position: Float2, rotation: Float3) -> None:
    """Write the measures and their gradients at a pose, world last, to ``ws.efforts``.

    ``position`` (nb + 1, 3), ``rotation`` (nb + 1, 3, 3). But not the gradients by motions of the world, which stay
    zero.
    """
    work, paths, position, rotation = ws.efforts, plan.paths, VECTORS(position), MATRICES(rotation)
    for n in range(paths.measure.size):
        m, other = natural(paths.measure[n]), paths.other[n]
        if plan.measures.kind[m] == LENGTH:
            _write_segment(plan, work, m, position, rotation)
            continue
        p, q = _line(plan, m, position, rotation)
        axis, surface = surface_of(plan, m)
        work.value[m], by_p, by_q = wrapped_length(p, q, axis, surface)
        if plan.measures.rest[m, 2, 2] == LEADS:
            _write_wrap(plan, work, m, rotation, p, by_p)
        else:
            _write_wrap(plan, work, m, rotation, q, by_q)
        if other >= 0:
            work.value[natural(other)] = 0.0
            _write_wrap(plan, work, natural(other), rotation, q, by_q)


@njit
def _lean(t, c):
    """Return the derivative of T by the unknown (middle.py), over h/2: c / (1 + c) + [T] + T T^T."""
    k = c / (1.0 + c)
    return (
        (k + t[0] * t[0], t[0] * t[1] - t[2], t[0] * t[2] + t[1]),
        (t[1] * t[0] + t[2], k + t[1] * t[1], t[1] * t[2] - t[0]),
        (t[2] * t[0] - t[1], t[2] * t[1] + t[0], k + t[2] * t[2]),
    )


@njit
def _add_blocks(D, X, Y, M, torque, tangent, share):
    """Add ``share`` times the change of (force, (I + [T]) torque) on a body by its unknowns to its block ``D``.

    ``D`` (6, 6), ``X``, ``Y`` (3, 3) and M, all by rows: by motions (dx, dtheta) the force changes by X dx + Y dtheta,
    the torque by Y^T dx + M dtheta. ``tangent``: (T, c) of the body, see middle.py; dtheta = (I + [T]) dphi.
    """
    T = vector(tangent)
    turned = sub(M[0], cross(T, M[0])), sub(M[1], cross(T, M[1])), sub(M[2], cross(T, M[2]))
    tilted, leaned = crossed(T, turned), crossed(torque, _lean(T, tangent[3]))
    for i in range(3):
        tilt = cross(T, Y[i])
        for k in range(3):
            D[i, k] += share * X[i][k]
            D[i, 3 + k] += share * (Y[i][k] - tilt[k])
            D[3 + k, i] += share * (Y[i][k] + tilt[k])
            D[3 + i, 3 + k] += share * (turned[i][k] + tilted[i][k] - leaned[i][k])


@njit
def _add_point(D, R, u, f, H, tangent, share):
    """Add ``share`` times the second derivatives by the motion of the body of a point ``u``; ``f``, ``H``: above.

    dx of the point = dv + G dtheta, G = -R [u]:  X = H, Y = H G, M = G^T H G + [u] [R^T f].
    """
    G = cross(u, vector(R[0])), cross(u, vector(R[1])), cross(u, vector(R[2]))
    in_body, Y = rotate_back(R, f), times(H, G)
    M = sum_of(times(transposed(G), Y), crossed(u, skew(in_body)))
    _add_blocks(D, H, Y, M, cross(u, in_body), tangent, share)


@njit
def _add_surface(D, R, points, gradients, H, tangent, share):
    """Add ``share`` times the second derivatives by the motion of the body of a surface.

    ``H``: the parts of the second derivatives by (p, p), (p, q), (q, q); they and the gradients are zero for a point
    that is on the body itself. The points move by J dtheta - R^T dv, J = ([p], [q]). With S = H_pp + H_pq + H_qp +
    H_qq, and A, B the changes H J of the gradients g_p, g_q by dtheta:

        X = R S R^T,    Y = -R (A + B - [g_p + g_q]),    M = [g_p] [p] + [g_q] [q] - [p] A - [q] B
    """
    (p, q), (by_p, by_q), (pp, pq, qq), turn = points, gradients, H, transposed(rows_of(R))
    qp = transposed(pq)
    A, B = sum_of(times(pp, skew(p)), times(pq, skew(q))), sum_of(times(qp, skew(p)), times(qq, skew(q)))
    S = sum_of(sum_of(pp, pq), sum_of(qp, qq))
    Y = times(rows_of(R), sum_of(skew(add(by_p, by_q)), scaled(-1.0, sum_of(A, B))))
    levers = sum_of(crossed(p, A), crossed(q, B))
    M = sum_of(sum_of(crossed(by_p, skew(p)), crossed(by_q, skew(q))), scaled(-1.0, levers))
    torque = scale(-1.0, add(cross(p, by_p), cross(q, by_q)))
    _add_blocks(D, times(times(rows_of(R), S), turn), Y, M, torque, tangent, share)


@njit
def _bend_segment(plan, ws, m, share):
    """Add the blocks of both bodies of a straight line."""
    work, (a, b), nb, size = ws.efforts, _bodies(plan, m), plan.bodies.mass.size, ws.efforts.value[m]
    if size == 0.0 or min(a, b) == nb:
        return
    first, sign = plan.measures.first[m], 1.0 if b < nb else -1.0
    g = work.gradient[m, natural(1 - first if b < nb else first)]
    n = scale(sign / plan.measures.weight[m], vector(g))
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
    """Add the block of body a of a wrap, on which its point is; ``f``, ``H`` by that point in axes of the surface."""
    (a, b), work = _bodies(plan, m), ws.efforts
    if a < plan.bodies.mass.size:
        u, R = vector(plan.measures.u[m]), rows_of(work.rotation[b])
        H = times(times(R, H), transposed(R))
        _add_point(ws.ldu.D[a], work.rotation[a], u, rotate(work.rotation[b], f), H, work.tangent[a], share)


@njit
def _bend_wrap(plan, ws, n, share):
    """Add the blocks of the bodies of piece n, a line around a surface."""
    work, nb, m, other = ws.efforts, plan.bodies.mass.size, natural(plan.paths.measure[n]), plan.paths.other[n]
    b = _bodies(plan, m)[1]
    p, q = _line(plan, m, work.position, work.rotation)
    axis, surface = surface_of(plan, m)
    by_p, by_q, (pp, pq, qq) = wrapped_hessian(p, q, axis, surface)
    leads = plan.measures.rest[m, 2, 2] == LEADS
    if leads:
        _bend_end(plan, ws, m, by_p, pp, share)
    else:
        _bend_end(plan, ws, m, by_q, qq, share)
    if other >= 0:
        _bend_end(plan, ws, natural(other), by_q, qq, share)
    if b < nb:
        w = vector(plan.measures.w[m])
        of_p, of_q = 1.0 if leads else 0.0, 1.0 if other >= 0 or not leads else 0.0
        H = scaled(of_p, pp), scaled(of_p * of_q, pq), scaled(of_q, qq)
        gradients = scale(of_p, by_p), scale(of_q, by_q)
        _add_surface(ws.ldu.D[b], work.rotation[b], (add(p, w), add(q, w)), gradients, H, work.tangent[b], share)


@indirect(seconds=5, what=WHAT)
def bend_paths(plan: Plan, ws: Workspace, half_step: float) -> None:
    """Add the change of the directions of efforts to Newton's matrix, ``ws.ldu.D``. After `apply_efforts`."""
    for n in range(plan.paths.measure.size):
        m, effort = natural(plan.paths.measure[n]), ws.efforts.sum_effort[natural(plan.paths.sum[n])]
        if effort == 0.0:
            continue
        share = -half_step * half_step * effort * plan.measures.weight[m]
        if plan.measures.kind[m] == LENGTH:
            _bend_segment(plan, ws, m, share)
        else:
            _bend_wrap(plan, ws, n, share)
