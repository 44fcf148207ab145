"""Elimination of a body together with its tree joint, if that is a lower pair, in the block LDU (ldu.py).

A lower pair here has three rows or more: POINT rows, all at one point, and then AXIS rows (plan/joints.py).

All vectors are in world axes. A motion is (dx, turn) and an impulse is (force, torque) times time, both at a centre of
mass. With G and H the rows at the poses ``upper`` and ``lower`` (ldu.py), and d from the centre of the parent to that
of the child, the motion x of the child is the sum of three: the rigid motion with the parent (y), a motion that the
joint allows (N z), and one that satisfies the right-hand sides of the rows (b), all at ``lower``:

    x = y + N z + b,    y = T x_p = (dx_p + turn_p x d, turn_p),    H N = 0,    H b = right-hand sides of the rows

The rows depend on the relative pose only, so along y their gradients by child and by parent cancel. P is N at
``upper``: impulses along the rows do no work along P. With D x - G^T lambda = r for the child,

    E = P^T D N    V = E^-1 P^T D    z = E^-1 P^T (r - D b) - V y    D_p += T_u^T M T,    M = D - D N V

(D_p: the pivot of the parent; T_u: T at ``upper``). This is an articulated-body pass with equations at ``upper`` and
unknowns at ``lower``. ``ws.ldu.frame`` holds six motions of each joint at both poses (index 0: ``upper``): first one
for each row, which changes this row by one and no other; then N, at ``upper`` P. Of those of the rows only one half is
written: of a POINT row the translation, which is all of it, of an AXIS row the turn, which is about the point of the
POINT rows; ``ws.ldu.arm`` holds how far the child's centre is from there. The multiplier of a row is the work of the
joint's impulse along the motion of this row at ``upper``.

A hinge is *sprung* where an effort acts along its angle, in a mechanism without loops. The effort has no row: ``up`` is
its P g of middle.py, and ``change`` times the turn of the child relative to the parent is what it falls by. So it adds
P . up change . N to E and takes P . up change . b off the right-hand side. Where both turn in space, its torques on the
two are not quite opposite, by third order in the step: that is left out, as other such parts are.

``further`` rows of the joint, those of efforts and constraints along it, extend E, U = D N and V; their multipliers
extend z. In code vectors are rows of an array: ``N[k]`` is column k of N, ``V[k]`` row k of V.
"""

import math

from varint.base.numba import natural, njit
from varint.mathematics.vectors import add, cross, dot, rotate, scale, square_to, sub, turn_of, vector
from varint.step.ball_pairs import is_ball, write_ball
from varint.step.dense import add_scaled6, dot6, lu_factor, lu_solve

UNIT = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@njit
def write_other_frame(plan, ws, i, pose, at):
    """Do `write_frame` for a body whose tree joint is no hinge; nothing where it is no lower pair."""
    rows, points = natural(plan.joints.pair[i]), natural(plan.joints.points[i])
    if is_ball(plan, i):
        write_ball(plan, ws, i, pose, at)
    elif rows > 0:
        write_frame(plan, ws, i, pose, rows, points, ws.ldu.frame[at, i], ws.ldu.arm[at, i])


@njit(inline="always")
def write_frame(plan, ws, i, pose, rows, points, basis, arm):
    """Write the basis (6, 6) of motions of body i relative to its parent, and the arm (6,), at the pose ``pose``.

    The joint has ``rows`` rows, first so many ``points``, of the kind POINT.
    """
    first, parent = natural(plan.joints.rows[i]), natural(plan.joints.parent[i])
    G, position, rotation = ws.jacobian[pose], ws.position[pose], ws.rotation[pose]
    d = sub(vector(position[i]), vector(position[parent]))
    arm[0], arm[1], arm[2] = d
    near = plan.joints.first_body[i] == 1  # whether the child is body b: a POINT row acts on both at the point of b
    e = (0.0, 0.0, 0.0)  # from that point to the centre of the child
    if points > 0:
        lever = rotate(rotation[i if near else parent], vector(plan.measures.w[first]))
        e = scale(-1.0, lever) if near else sub(d, lever)
    arm[3], arm[4], arm[5] = e
    for k in range(points):
        basis[k, 0], basis[k, 1], basis[k, 2] = vector(G[first + k, 0])
    if points < 3:
        _write_shifts(basis, points, rows)
    _write_turns(plan, rotation, G, i, rows, points, e, basis)


@njit(inline="always")
def _write(motion, shift, turn):
    """Write (``shift``, ``turn``) to ``motion`` (6,)."""
    motion[0], motion[1], motion[2] = shift
    motion[3], motion[4], motion[5] = turn


@njit(inline="always")
def _write_turn(motion, turn, e):
    """Write the motion of a child that turns about a point; ``e`` leads from this point to the child's centre."""
    _write(motion, cross(turn, e), turn)


@njit(inline="always")
def _turn_row(motion, turn):
    """Write the turn of an AXIS row to the angular part of ``motion`` (6,)."""
    motion[3], motion[4], motion[5] = turn


@njit(inline="always")
def _write_shifts(basis, points, at):
    """Write the translations that ``points`` POINT rows leave free, from entry ``at`` of ``basis`` (6, 6) on.

    The directions of these rows are the first entries of ``basis``.
    """
    none = (0.0, 0.0, 0.0)
    if points == 2:
        _write(basis[at], cross(vector(basis[0]), vector(basis[1])), none)
    elif points == 1:
        one, other = square_to(vector(basis[0]))
        _write(basis[at], one, none)
        _write(basis[at + 1], other, none)
    elif points == 0:
        for k in range(3):
            _write(basis[at + k], UNIT[k], none)


@njit(inline="always")
def _write_turns(plan, rotation, G, i, rows, points, e, basis):
    """Write a turn for each AXIS row that changes this row alone, by one, and then the free turns, to ``basis`` (6, 6).

    ``rotation`` (nb + 1, 3, 3); ``e``: see `_write_turn`. The first turns are dual to the gradients a, b, c of the
    rows.
    """
    axes, at, R = rows - points, natural(plan.joints.rows[i]) + points, rotation[i]
    if axes == 2:
        a, b = _in_world(R, G, at), _in_world(R, G, at + 1)
        axis = cross(a, b)
        share = 1.0 / dot(axis, axis)
        _turn_row(basis[points], scale(share, cross(b, axis)))
        _turn_row(basis[points + 1], scale(share, cross(axis, a)))
        _write_turn(basis[5], axis, e)
    elif axes == 3:
        a, b, c = (
            _in_world(R, G, at),
            _in_world(R, G, at + 1),
            _in_world(R, G, at + 2),
        )
        share = 1.0 / dot(a, cross(b, c))
        _turn_row(basis[points], scale(share, cross(b, c)))
        _turn_row(basis[points + 1], scale(share, cross(c, a)))
        _turn_row(basis[points + 2], scale(share, cross(a, b)))
    elif axes == 1:
        a = _in_world(R, G, at)
        _turn_row(basis[points], scale(1.0 / dot(a, a), a))
        side = plan.joints.first_body[i]
        body_a, body_b = plan.joints.side[i, side], plan.joints.side[i, 1 - side]
        _write_turn(basis[4], rotate(rotation[body_a], vector(plan.measures.u[at])), e)
        _write_turn(basis[5], rotate(rotation[body_b], vector(plan.measures.w[at])), e)
    else:
        for k in range(3):
            _write_turn(basis[3 + k], UNIT[k], e)


@njit(inline="always")
def _in_world(R, G, r):
    """Return the gradient of row r of ``G`` (nr, 2, 6) by the rotation of the child, in axes of the world."""
    return rotate(R, turn_of(G[r, 0]))


@njit(inline="always")
def factor_pair(plan, ws, i, free, further, sprung, low):
    """Eliminate body i and its joint from the matrix: factor E, overwrite D by M, add T_u^T M T to the parent's pivot.

    E goes to ``ws.ldu.S``, U = D N to ``ws.ldu.X``, V = E^-1 P^T D to ``ws.ldu.Y``. ``free``: number of motions N.
    ``further``: number of rows beyond those of the pair. ``sprung``: see `Joints`. ``low``: index of the basis at the
    pose ``lower``, 1, or 0 if both poses are one.
    """
    D, U, V, E = ws.ldu.D[i], ws.ldu.X[i], ws.ldu.Y[i], ws.ldu.S[i]
    N, P, size = ws.ldu.frame[low, i, 6 - free :], ws.ldu.frame[0, i, 6 - free :], free + further
    for k in range(free):
        v0 = v1 = v2 = v3 = v4 = v5 = 0.0
        for a in range(6):
            U[k, a] = dot6(D[a], N[k])
            f = P[k, a]
            v0 += f * D[a, 0]
            v1 += f * D[a, 1]
            v2 += f * D[a, 2]
            v3 += f * D[a, 3]
            v4 += f * D[a, 4]
            v5 += f * D[a, 5]
        V[k, 0], V[k, 1], V[k, 2], V[k, 3], V[k, 4], V[k, 5] = v0, v1, v2, v3, v4, v5
    for k in range(free):
        for j in range(free):
            E[k, j] = dot6(P[k], U[j])
    if sprung:
        up, change = pivot_effort(ws, i)
        E[0, 0] += dot(turn_of(P[0]), up) * dot(turn_of(N[0]), change)
    if further > 0:
        _add_rows(plan, ws, i, free, further, low)
    lu_factor(E, size)
    for k in range(size):
        for j in range(k):
            add_scaled6(V[k], -E[k, j], V[j])
    for k in range(size - 1, -1, -1):
        for j in range(k + 1, size):
            add_scaled6(V[k], -E[k, j], V[j])
        share, v = E[k, k], V[k]
        v[0], v[1], v[2], v[3], v[4], v[5] = (
            share * v[0], share * v[1], share * v[2], share * v[3], share * v[4], share * v[5],
        )  # fmt: skip
    for a in range(6):
        d0, d1, d2, d3, d4, d5 = D[a, 0], D[a, 1], D[a, 2], D[a, 3], D[a, 4], D[a, 5]
        for k in range(size):
            f = U[k, a]
            d0 -= f * V[k, 0]
            d1 -= f * V[k, 1]
            d2 -= f * V[k, 2]
            d3 -= f * V[k, 3]
            d4 -= f * V[k, 4]
            d5 -= f * V[k, 5]
        D[a, 0], D[a, 1], D[a, 2], D[a, 3], D[a, 4], D[a, 5] = d0, d1, d2, d3, d4, d5
    parent = natural(plan.joints.parent[i])
    if parent != plan.bodies.mass.size:
        _add_carried(D, ws.ldu.D[parent], vector(ws.ldu.arm[0, i]), vector(ws.ldu.arm[low, i]))


@njit(inline="always")
def pivot_effort(ws, i):
    """Return ``up`` and ``change`` of the effort along the angle of the hinge of body i, in axes of the world."""
    return vector(ws.ldu.effort[1, i]), turn_of(ws.ldu.effort[1, i])


@njit(inline="always")
def _add_rows(plan, ws, i, free, further, low):
    """Write the parts of U, V and E, in ``ws.ldu``, that belong to the ``further`` rows.

    Those of U and V are round-off for a row that depends on the relative pose only.
    """
    first = plan.joints.rows[i] + plan.joints.pair[i]
    U, V, E = ws.ldu.X[i], ws.ldu.Y[i], ws.ldu.S[i]
    N, P = ws.ldu.frame[low, i, 6 - free :], ws.ldu.frame[0, i, 6 - free :]
    for k in range(free, free + further):
        r = first + k - free
        G, H = ws.ldu.upper[r], ws.ldu.lower[r]
        for j in range(free):
            E[j, k], E[k, j] = -dot6(P[j], G[0]), dot6(H[0], N[j])
        for j in range(free, free + further):
            E[k, j] = ws.released[r] if j == k else 0.0
        g, h = at_child(G[1], vector(ws.ldu.arm[0, i])), at_child(H[1], vector(ws.ldu.arm[low, i]))
        for a in range(6):
            U[k, a], V[k, a] = -(G[0, a] + g[a]), H[0, a] + h[a]


@njit
def pass_pair(plan, ws, i, free, further, low):
    """Eliminate body i and its joint from the closure rows coupled to them: update block K and the parent's fills.

    All are in ``ws.ldu``. After `factor_pair`, whose arguments these are.
    """
    # The fills of closure row e are L_e = lower[e], a row, and U_e = upper[e], a column. With U, V, E of `factor_pair`,
    #   l_e = L_e N,   u_e = E^-1 (P^T U_e, 0),   w_e = U_e - U u_e,   K_ef -= l_e u_f,
    # and for the fills of the parent p   L_e,p = T^T (L_e - l_e V),   U_e,p = T_u^T w_e.
    # l_e goes to joint_lower, u_e to upper (its first entries, after w_e was used). joint_upper[r]: by how much the
    # multiplier of row r of the joint falls if that of closure row e is one.
    loops, ldu, first = plan.loops, ws.ldu, plan.loops.fill_pass[i]
    last, rows = loops.fill_first[i + 1], 6 - free
    U, V, z, joint_row = ldu.X[i], ldu.Y[i], ldu.z, plan.joints.rows[i]
    N, P = ldu.frame[low, i, rows:], ldu.frame[0, i, rows:]
    linear, angular = plan.bodies.scale[i, 0], plan.bodies.scale[i, 1]
    for e in range(first, last):
        lower, upper, joint_lower, joint_upper = (
            ldu.fill_lower[e],
            ldu.fill_upper[e],
            ldu.fill_joint_lower[e],
            ldu.fill_joint_upper[e],
        )
        along = abs(dot(vector(lower), vector(upper)))
        turning = dot(vector(lower[3:]), vector(lower[3:])) * dot(vector(upper[3:]), vector(upper[3:]))
        size = linear * along + angular * angular / linear * math.sqrt(turning)  # of the free body's term in K
        ldu.closure_scale[loops.fill_row[e]] = max(ldu.closure_scale[loops.fill_row[e]], size)
        for k in range(free + further):
            z[k] = dot6(P[k], upper) if k < free else 0.0
        lu_solve(ldu.S[i], free + further, z)
        above = loops.fill_up[e]
        if above >= 0:
            add_scaled6(ldu.fill_lower[above], 1.0, at_parent(lower, vector(ldu.arm[low, i])))
        for k in range(free):
            joint_lower[k] = dot6(lower, N[k])
            if above >= 0:
                add_scaled6(ldu.fill_lower[above], -joint_lower[k], at_parent(V[k], vector(ldu.arm[low, i])))
        for k in range(free + further):
            add_scaled6(upper, -z[k], U[k])
        if above >= 0:
            add_scaled6(ldu.fill_upper[above], 1.0, at_parent(upper, vector(ldu.arm[0, i])))
        for k in range(free, free + further):
            joint_upper[rows + k - free] = z[k]
            add_scaled6(upper, -z[k], at_child(ldu.upper[joint_row + rows + k - free, 1], vector(ldu.arm[0, i])))
        _write_works(ws, i, natural(plan.joints.points[i]), rows, upper, -1.0, joint_upper, 0)
        for k in range(free):
            upper[k] = z[k]
    for e in range(first, last):
        at = loops.row_start[loops.fill_row[e]]
        for other in range(first, last):
            total = 0.0
            for k in range(free):
                total += ldu.fill_joint_lower[e, k] * ldu.fill_upper[other, k]
            ldu.K[at + loops.fill_row[other]] -= total


@njit(inline="always")
def at_parent(g, d):
    """Return the wrench ``g`` (6,) at the child's centre as one at the parent's; ``d`` leads from parent to child."""
    t = cross(d, vector(g))
    return g[0], g[1], g[2], g[3] + t[0], g[4] + t[1], g[5] + t[2]


@njit(inline="always")
def at_child(g, d):
    """Return the wrench ``g`` (6,) at the parent's centre as one at the child's; ``d`` leads from parent to child."""
    t = cross(d, vector(g))
    return g[0], g[1], g[2], g[3] - t[0], g[4] - t[1], g[5] - t[2]


@njit(inline="always")
def _add_carried(M, parent, d, e):
    """Add T_d^T M T_e, ``M`` (6, 6), to ``parent`` (6, 6).

    T_d maps the parent's motion to the child's, rigidly over the arm ``d``.
    """
    for a in range(3):
        _add_row(M[a, 0], M[a, 1], M[a, 2], M[a, 3], M[a, 4], M[a, 5], e, parent[a])
    _add_moment(M[3], d[1], M[2], -d[2], M[1], e, parent[3])
    _add_moment(M[4], d[2], M[0], -d[0], M[2], e, parent[4])
    _add_moment(M[5], d[0], M[1], -d[1], M[0], e, parent[5])


@njit(inline="always")
def _add_moment(torque, f, F, g, G, e, row):
    """Add the row ``torque`` + f F + g G, times T_e, to ``row`` (6,)."""
    _add_row(
        torque[0] + f * F[0] + g * G[0],
        torque[1] + f * F[1] + g * G[1],
        torque[2] + f * F[2] + g * G[2],
        torque[3] + f * F[3] + g * G[3],
        torque[4] + f * F[4] + g * G[4],
        torque[5] + f * F[5] + g * G[5],
        e,
        row,
    )


@njit(inline="always")
def _add_row(x, y, z, p, q, r, e, row):
    """Add the row (x, y, z, p, q, r) times T_e to ``row`` (6,)."""
    row[0] += x
    row[1] += y
    row[2] += z
    row[3] += p + e[1] * z - e[2] * y
    row[4] += q + e[2] * x - e[0] * z
    row[5] += r + e[0] * y - e[1] * x


@njit(inline="always")
def _asked(plan, ws, i, points, rows, row, low):
    """Return b (6,), the motion that satisfies the right-hand sides of the ``rows`` rows of the pair, in ``row`` (nr,).

    The turns of AXIS rows are about the point of the POINT rows; the last part of the arm leads from it to the centre.
    """
    basis, arm = ws.ldu.frame[low, i], ws.ldu.arm[low, i]
    first, e = natural(plan.joints.rows[i]), turn_of(arm)
    shift, turn = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for r in range(points):
        shift = add(shift, scale(row[first + r], vector(basis[r])))
    for r in range(points, rows):
        turn = add(turn, scale(row[first + r], turn_of(basis[r])))
    x, y, z = add(shift, cross(turn, e))
    return x, y, z, turn[0], turn[1], turn[2]


@njit(inline="always")
def _write_works(ws, i, points, rows, w, share, out, first):
    """Write a ``share`` of the works of the impulse ``w`` (6,) along the motions of the rows at ``upper``.

    To ``out`` (n,), from number ``first`` on.
    """
    basis, arm = ws.ldu.frame[0, i], ws.ldu.arm[0, i]
    e = turn_of(arm)
    force = (w[0], w[1], w[2])
    torque = add((w[3], w[4], w[5]), cross(e, force))
    for r in range(points):
        out[first + r] = share * dot(vector(basis[r]), force)
    for r in range(points, rows):
        out[first + r] = share * dot(turn_of(basis[r]), torque)


@njit(inline="always")
def _own_motion(plan, ws, i, free, further, sprung, row, x, b, z):
    """Write ``z`` (6,) = E^-1 (P^T x, h - H b) for ``x`` = r - D b, with h and H of the ``further`` rows.

    h is in ``row`` (nr,).
    """
    for k in range(free):
        z[k] = dot6(ws.ldu.frame[0, i, 6 - free + k], x)
    if sprung:
        up, change = pivot_effort(ws, i)
        z[0] -= dot(turn_of(ws.ldu.frame[0, i, 5]), up) * dot(change, (b[3], b[4], b[5]))
    for k in range(free, free + further):
        r = natural(plan.joints.rows[i] + 6 - free + k - free)
        z[k] = row[r] - dot6(ws.ldu.lower[r, 0], b)
    lu_solve(ws.ldu.S[i], free + further, z)


@njit(inline="always")
def forward_pair(plan, ws, i, points, free, further, sprung, low, body, row):
    """Eliminate body i and its joint from the right-hand sides ``body`` (nb, 6), ``row`` (nr,).

    Subtract D b from that of body i, add T_u^T (r - D b - U z) to that of its parent, and subtract L_e (b + N z) from
    that of each closure row e coupled to the body (L_e: see `pass_pair`).
    """
    x, M, U, V, z = body[i], ws.ldu.D[i], ws.ldu.X[i], ws.ldu.Y[i], ws.ldu.z
    b = _asked(plan, ws, i, points, 6 - free, row, low)
    for a in range(6):
        x[a] -= dot6(M[a], b)
    for k in range(free + further):  # D = M + U V
        add_scaled6(x, -dot6(V[k], b), U[k])
    parent, first, last = natural(plan.joints.parent[i]), plan.loops.fill_pass[i], plan.loops.fill_first[i + 1]
    if parent == plan.bodies.mass.size and first == last:
        return
    _own_motion(plan, ws, i, free, further, sprung, row, x, b, z)
    for e in range(first, last):
        total = dot6(ws.ldu.fill_lower[e], b)
        for k in range(free):
            total += ws.ldu.fill_joint_lower[e, k] * z[k]
        row[plan.loops.fill_row[e]] -= total
    if parent == plan.bodies.mass.size:
        return
    y, d = body[parent], ws.ldu.arm[0, i]
    f0, f1, f2, t0, t1, t2 = x[0], x[1], x[2], x[3], x[4], x[5]
    for k in range(free + further):
        f0 -= U[k, 0] * z[k]
        f1 -= U[k, 1] * z[k]
        f2 -= U[k, 2] * z[k]
        t0 -= U[k, 3] * z[k]
        t1 -= U[k, 4] * z[k]
        t2 -= U[k, 5] * z[k]
    _add_row(f0, f1, f2, t0, t1, t2, d, y)


@njit(inline="always")
def back_pair(plan, ws, i, points, free, further, sprung, low, body, row):
    """Replace right-hand sides by the solution, in ``body`` (nb, 6) and ``row`` (nr,): motion i, its multipliers.

    After `forward_pair`; the motion of the parent and the multipliers of the closures are solved already. Scratch:
    ``ws.ldu.z``.
    """
    x, M, U, V, z = body[i], ws.ldu.D[i], ws.ldu.X[i], ws.ldu.Y[i], ws.ldu.z
    first, rows, parent = natural(plan.joints.rows[i]), 6 - free, natural(plan.joints.parent[i])
    b = _asked(plan, ws, i, points, rows, row, low)
    _own_motion(plan, ws, i, free, further, sprung, row, x, b, z)
    y = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    # w becomes the impulse of the pair's rows on the child: D x - r, less that of the further rows
    w0, w1, w2, w3, w4, w5 = -x[0], -x[1], -x[2], -x[3], -x[4], -x[5]
    for k in range(free + further):
        w0 += U[k, 0] * z[k]
        w1 += U[k, 1] * z[k]
        w2 += U[k, 2] * z[k]
        w3 += U[k, 3] * z[k]
        w4 += U[k, 4] * z[k]
        w5 += U[k, 5] * z[k]
    if parent != plan.bodies.mass.size:
        p, d = body[parent], ws.ldu.arm[low, i]
        y = (
            p[0] + p[4] * d[2] - p[5] * d[1], p[1] + p[5] * d[0] - p[3] * d[2], p[2] + p[3] * d[1] - p[4] * d[0],
            p[3], p[4], p[5],
        )  # fmt: skip
        w0 += dot6(M[0], y)
        w1 += dot6(M[1], y)
        w2 += dot6(M[2], y)
        w3 += dot6(M[3], y)
        w4 += dot6(M[4], y)
        w5 += dot6(M[5], y)
        for k in range(free + further):
            z[k] -= dot6(V[k], y)
    for a in range(6):
        x[a] = y[a] + b[a]
    for k in range(free):
        free_motion = z[k]
        for e in range(plan.loops.fill_pass[i], plan.loops.fill_first[i + 1]):
            free_motion -= ws.ldu.fill_upper[e, k] * row[plan.loops.fill_row[e]]
        add_scaled6(x, free_motion, ws.ldu.frame[low, i, rows + k])
    for k in range(free, free + further):
        row[first + rows + k - free] = z[k]
        g = at_child(ws.ldu.upper[first + rows + k - free, 1], vector(ws.ldu.arm[0, i]))
        w0, w1, w2 = w0 + z[k] * g[0], w1 + z[k] * g[1], w2 + z[k] * g[2]
        w3, w4, w5 = w3 + z[k] * g[3], w4 + z[k] * g[4], w5 + z[k] * g[5]
    if sprung:
        up, change = pivot_effort(ws, i)
        f = dot(change, (b[3], b[4], b[5])) + z[0] * dot(change, turn_of(ws.ldu.frame[low, i, 5]))
        w3, w4, w5 = w3 + f * up[0], w4 + f * up[1], w5 + f * up[2]
    w = (w0, w1, w2, w3, w4, w5)
    _write_works(ws, i, points, rows, w, 1.0, row, first)
    for e in range(plan.loops.fill_pass[i], plan.loops.fill_first[i + 1]):
        for r in range(rows + further):
            row[first + r] -= ws.ldu.fill_joint_upper[e, r] * row[plan.loops.fill_row[e]]
