"""Rows of joints in double-double, four at once: values, and impulses along their gradients.

Up to three consecutive POINT or AXIS rows of a joint with the same w are a group; each DISTANCE row is a group of its
own. The values and gradients of a group depend on one vector, its lever: from the centre of body a to the point of body
b, or of AXIS rows the direction that is fixed in b. Before a function with an argument ``pose`` is called,
``ws.extended.rotation`` must hold the rotation matrices of that pose (`increment._rotations`). A double-double is a
number with its low part, called rest.
"""

from varint.base.numba import apart, four, natural, njit
from varint.mathematics.double_double import (
    add_vectors,
    cross,
    cross_plain,
    divide,
    dot,
    dot_plain,
    exact_product,
    exact_sum,
    rotate,
    rotate_back,
    rotate_plain,
    scale_by_plain,
    sub,
    sub_vectors,
    vector_of,
)
from varint.step.lane_picks import block, pick_row, pick_three
from varint.step.measures import AXIS, DISTANCE, POINT
from varint.step.plan import JOINT


@njit(contract=False, inline="always")
def _pick_rotation(ws, i):
    """Return the rotation matrices of four bodies (nb: the world), as three rows, vectors of double-doubles."""
    R, rest = ws.extended.rotation, ws.extended.rotation_rest
    return (
        (pick_row(R, i, 0), pick_row(rest, i, 0)),
        (pick_row(R, i, 1), pick_row(rest, i, 1)),
        (pick_row(R, i, 2), pick_row(rest, i, 2)),
    )


@njit(contract=False, inline="always")
def _is_extended(plan, r):
    """Return whether row r is evaluated in double-double."""
    kind = plan.measures.kind[r]
    return (kind == POINT or kind == AXIS or kind == DISTANCE) and plan.rows.role[r] == JOINT


@njit
def find_levers(plan, ws):
    """Write the groups of POINT, then of AXIS, then of DISTANCE rows to ``ws.extended.lever``, a row for each group.

    Its columns: first row of the group, number of rows, slots of the bodies a and b. Their ends by kind go to
    ``ws.extended.lever_end``.
    """
    work, n = ws.extended, 0
    for place in range(3):
        kind = POINT if place == 0 else AXIS if place == 1 else DISTANCE
        for j in range(plan.joints.side.shape[0]):
            side_a, begin = plan.joints.first_body[j], n
            for r in range(plan.joints.rows[j], plan.joints.rows[j + 1]):
                if plan.measures.kind[r] != kind or not _is_extended(plan, r):
                    continue
                if n > begin and kind != DISTANCE and work.lever[n - 1, 1] < 3:
                    w, other = plan.measures.w[r], plan.measures.w[work.lever[n - 1, 0]]
                    if w[0] == other[0] and w[1] == other[1] and w[2] == other[2]:
                        if r == work.lever[n - 1, 0] + work.lever[n - 1, 1]:
                            work.lever[n - 1, 1] += 1
                            continue
                work.lever[n, 0], work.lever[n, 1] = r, 1
                work.lever[n, 2] = plan.joints.side[j, side_a]
                work.lever[n, 3] = plan.joints.side[j, 1 - side_a]
                n += 1
        work.lever_end[place] = n


@njit(inline="always")
def _column(table, n, k):
    """Return column k of four rows n of ``table`` (groups, 4)."""
    return natural(table[n[0], k]), natural(table[n[1], k]), natural(table[n[2], k]), natural(table[n[3], k])


@njit(contract=False, inline="always")
def _levers(plan, ws, pose, kind, n):
    """Return the levers, in axes of a, of the four groups with the indices ``n``, all of one kind.

    They are in m, those of AXIS rows dimensionless. With them: the first rows of the groups, the bodies (a, b), and the
    rotation matrices of these.
    """
    table, nb = ws.extended.lever, plan.bodies.mass.size
    r, a, b = _column(table, n, 0), _column(table, n, 2), _column(table, n, 3)
    A, B = _pick_rotation(ws, a), _pick_rotation(ws, b)
    d = rotate_plain(B, pick_three(plan.measures.w, r, 0))
    if kind != AXIS:
        x, rest = ws.position[pose], ws.position_rest[pose]
        d = add_vectors(d, (pick_three(x, b, 0), _pick_rests(rest, b, nb)))
        d = sub_vectors(d, (pick_three(x, a, 0), _pick_rests(rest, a, nb)))
    return rotate_back(A, d), r, (a, b), (A, B)


@njit(contract=False, inline="always")
def _pick_rests(rest, i, nb):
    """Return the low parts of the positions of four bodies, zero for the world (nb)."""
    k, l, m, n = min(i[0], nb - 1), min(i[1], nb - 1), min(i[2], nb - 1), min(i[3], nb - 1)
    s = four(1.0 if i[0] < nb else 0.0, 1.0 if i[1] < nb else 0.0, 1.0 if i[2] < nb else 0.0, 1.0 if i[3] < nb else 0.0)
    x, y, z = pick_three(rest, (k, l, m, n), 0)
    return s * x, s * y, s * z


@njit(contract=False, inline="always")
def _over_distance(plan, r, lever):
    """Return vectors from the point of a to that of b, axes of a, over the distances of DISTANCE rows ``r``."""
    u = pick_three(plan.measures.u, r, 0)
    (x, y, z), (s, t, v) = sub_vectors(lever, (u, (0.0, 0.0, 0.0)))
    c = plan.measures.c
    c = four(c[r[0]], c[r[1]], c[r[2]], c[r[3]]), 0.0
    return vector_of(divide((x, s), c), divide((y, t), c), divide((z, v), c))


@njit(contract=False, inline="always")
def _row_of(ws, n, r, k):
    """Return row number k of each of four groups; the last row of a group that has fewer."""
    t, k = ws.extended.lever, natural(k)
    return (
        r[0] + natural(min(k, t[n[0], 1] - 1)), r[1] + natural(min(k, t[n[1], 1] - 1)),
        r[2] + natural(min(k, t[n[2], 1] - 1)), r[3] + natural(min(k, t[n[3], 1] - 1)),
    )  # fmt: skip


@njit(contract=False)
def evaluate_extended(plan, ws, pose, h):
    """Evaluate rows at a pose in double-double; write their values, divided by ``h``, to ``ws.residual_row``, rounded.

    Entries of other rows stay. With the lever d, and u, c of the row: u . d - c of a POINT row, u . d of an AXIS row,
    and c (e . e - 1) / 2 of a DISTANCE row, with e = `_over_distance`.
    """
    c, first = plan.measures.c, 0
    for place in range(3):
        kind = POINT if place == 0 else AXIS if place == 1 else DISTANCE
        for start in range(first, ws.extended.lever_end[place], 4):
            n = block(start, ws.extended.lever_end[place])
            lever, r, _, _ = _levers(plan, ws, pose, kind, n)
            if kind == DISTANCE:
                d = _over_distance(plan, r, lever)
                g = sub(dot(d, d), (1.0, 0.0))
                _put_rows(ws, r, 0.5 * four(c[r[0]], c[r[1]], c[r[2]], c[r[3]]) * (g[0] + g[1]) / h)
                continue
            for k in range(3):
                row = _row_of(ws, n, r, k)
                g = dot_plain(pick_three(plan.measures.u, row, 0), lever)
                if kind == POINT:
                    g = sub(g, (four(c[row[0]], c[row[1]], c[row[2]], c[row[3]]), 0.0))
                _put_rows(ws, row, (g[0] + g[1]) / h)
        first = ws.extended.lever_end[place]


@njit(contract=False, inline="always")
def _put_rows(ws, r, lanes):
    """Write lanes to ``ws.residual_row`` of four rows."""
    x = ws.residual_row
    x[r[0]], x[r[1]], x[r[2]], x[r[3]] = apart(lanes)


@njit(contract=False, inline="always")
def _multipliers(ws, n, r, k):
    """Return the multipliers of row number k of four groups; zero where a group has fewer, or the row is released."""
    t, row, f, released = ws.extended.lever, _row_of(ws, n, r, k), ws.multiplier, ws.released
    return four(
        f[row[0]] if k < t[n[0], 1] and released[row[0]] == 0.0 else 0.0,
        f[row[1]] if k < t[n[1], 1] and released[row[1]] == 0.0 else 0.0,
        f[row[2]] if k < t[n[2], 1] and released[row[2]] == 0.0 else 0.0,
        f[row[3]] if k < t[n[3], 1] and released[row[3]] == 0.0 else 0.0,
    )


@njit(contract=False, inline="always")
def _push(plan, ws, n, r):
    """Return the sums of multiplier times u over the rows of four groups, POINT or AXIS, axes of a.

    That of POINT rows is the impulse on b. The cross product of either with the lever is the angular impulse on a.
    """
    push = _push_along(plan, ws, n, r, 0)
    push = add_vectors(push, _push_along(plan, ws, n, r, 1))
    return add_vectors(push, _push_along(plan, ws, n, r, 2))


@njit(contract=False, inline="always")
def _push_along(plan, ws, n, r, k):
    f, (x, y, z) = _multipliers(ws, n, r, k), pick_three(plan.measures.u, _row_of(ws, n, r, k), 0)
    return vector_of(exact_product(f, x), exact_product(f, y), exact_product(f, z))


@njit(contract=False, inline="always")
def _add(ws, count, i, first, sign, a):
    """Add ``sign`` times a double-double vector to the impulses of the first ``count`` of four bodies.

    ``first``: 0 for the force, in world axes, 3 for the torque, in axes of the body. The world is left out.
    """
    (h0, h1, h2), (r0, r1, r2) = a
    x, y, z, p, q, r = apart(h0), apart(h1), apart(h2), apart(r0), apart(r1), apart(r2)
    _add_one(ws, i[0], first, sign, (x[0], y[0], z[0]), (p[0], q[0], r[0]))
    if count > 1:
        _add_one(ws, i[1], first, sign, (x[1], y[1], z[1]), (p[1], q[1], r[1]))
    if count > 2:
        _add_one(ws, i[2], first, sign, (x[2], y[2], z[2]), (p[2], q[2], r[2]))
    if count > 3:
        _add_one(ws, i[3], first, sign, (x[3], y[3], z[3]), (p[3], q[3], r[3]))


@njit(contract=False, inline="always")
def _add_one(ws, i, first, sign, head, rest):
    """Add ``sign`` times a double-double vector to the impulse of body i, from entry ``first`` on.

    ``head``, ``rest`` (3,): its parts; to ``ws.extended.impulse`` and ``ws.extended.impulse_rest``. Nothing for the
    world.
    """
    if i >= ws.extended.impulse.shape[0]:
        return
    p, p_rest = ws.extended.impulse[i], ws.extended.impulse_rest[i]
    for k in range(3):
        p[first + k], error = exact_sum(p[first + k], sign * head[k])
        p_rest[first + k] += error + sign * rest[k]


@njit(contract=False)
def add_impulses(plan, ws, pose):
    """Add the impulses of all rows that are not released, along their gradients at a pose, to ``ws.extended.impulse``.

    The impulses of a group are summed in double-double before they are added to the bodies.
    """
    for j in range(plan.joints.side.shape[0]):
        for r in range(plan.joints.rows[j], plan.joints.rows[j + 1]):
            if ws.released[r] > 0.0 or _is_extended(plan, r):
                continue
            for s in range(2):
                d, f = ws.jacobian[pose, r, s], ws.multiplier[r]
                _add_one(ws, plan.joints.side[j, s], 0, f, (d[0], d[1], d[2]), (0.0, 0.0, 0.0))
                _add_one(ws, plan.joints.side[j, s], 3, f, (d[3], d[4], d[5]), (0.0, 0.0, 0.0))
    first = 0
    for place in range(3):
        kind, last = POINT if place == 0 else AXIS if place == 1 else DISTANCE, ws.extended.lever_end[place]
        for start in range(first, last, 4):
            n, count = block(start, last), min(4, last - start)
            lever, r, (a, b), (A, B) = _levers(plan, ws, pose, kind, n)
            if kind == DISTANCE:
                push, u = scale_by_plain(_multipliers(ws, n, r, 0), _over_distance(plan, r, lever)), plan.measures.u
                # from the centre of a to its point, for the lever: the force acts along the line through both points
                arm = pick_three(u, r, 0)
                _add(ws, count, a, 3, -1.0, cross_plain(arm, push))
            else:
                push = _push(plan, ws, n, r)
                _add(ws, count, a, 3, 1.0, cross(push, lever))
            force = rotate(A, push)
            _add(ws, count, b, 3, 1.0, cross_plain(pick_three(plan.measures.w, r, 0), rotate_back(B, force)))
            if kind != AXIS:
                _add(ws, count, a, 0, -1.0, force)
                _add(ws, count, b, 0, 1.0, force)
        first = last
