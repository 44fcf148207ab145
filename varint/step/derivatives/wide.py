"""The LDU of one matrix for eight right-hand sides at once: vectors (nb, 6, 8) of bodies and (nr, 8) of rows.

The eight numbers of an entry stand next to each other, and a sum over entries is made in registers (`eight`, `plus`,
`put`): each number of a factor is read once for all of them, and they are worked on as vectors.
"""

from varint.base.numba import njit
from varint.mathematics.vectors import dot, turn_of, vector
from varint.step.ball_pairs import is_ball
from varint.step.dense import WIDE, upper_solve_wide
from varint.step.lower_pairs import at_child, pivot_effort

NOTHING = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@njit
def eight(x):
    """Return the numbers of an entry (8,)."""
    return x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]


@njit
def put(x, t):
    """Write eight numbers to an entry ``x`` (8,)."""
    x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7] = t


@njit
def plus(t, f, x):
    """Return eight numbers ``t`` plus ``f`` times the numbers of the entry ``x`` (8,)."""
    return (
        t[0] + f * x[0], t[1] + f * x[1], t[2] + f * x[2], t[3] + f * x[3], t[4] + f * x[4], t[5] + f * x[5],
        t[6] + f * x[6], t[7] + f * x[7],
    )  # fmt: skip


@njit
def dot_wide(t, f, a, X):
    """Return eight numbers ``t`` plus ``f`` times the inner products of ``a`` (6,) with the columns of ``X`` (6, 8)."""
    for k in range(6):
        t = plus(t, f * a[k], X[k])
    return t


@njit
def largest(t, f, x):
    """Return eight sizes ``t``, or ``f`` times the sizes of the entry ``x`` (8,) where they are larger."""
    return (
        max(t[0], f * abs(x[0])), max(t[1], f * abs(x[1])), max(t[2], f * abs(x[2])), max(t[3], f * abs(x[3])),
        max(t[4], f * abs(x[4])), max(t[5], f * abs(x[5])), max(t[6], f * abs(x[6])), max(t[7], f * abs(x[7])),
    )  # fmt: skip


@njit
def solve_wide(plan, ws, work, step, body, row):
    """Solve as `refine.solve_again` for eight right-hand sides, in place: ``body`` (nb, 6, 8), ``row`` (nr, 8).

    ``work``: a `Tangent`.
    """
    upper, end = step.upper, step.end
    nb, ldu, low = plan.bodies.mass.size, ws.ldu, 1 if end != upper else 0
    for i in range(nb):
        _turn(ws.rotation[upper, i], body[i], False)
    for place in range(nb, -1, -1):
        i = place - 1 if place > 0 else nb  # the world comes last
        for k in range(plan.loops.node_first[i], plan.loops.node_first[i + 1]):
            _eliminate_node(plan, ws, work, plan.loops.node_order[k], i, body, row)
        if i == nb:
            continue
        first, x, parent = plan.joints.rows[i], body[i], plan.joints.parent[i]
        rows = plan.joints.rows[i + 1] - first
        of_joint = row[first : first + rows]
        if is_ball(plan, i):
            _forward_ball(plan, ws, work, i, low, body, of_joint)
            continue
        if plan.joints.pair[i] > 0:
            _forward_pair(plan, ws, work, i, low, body, row)
            continue
        _lower_solve(ldu.D[i], 6, x)
        upper_solve_wide(ldu.D[i], 6, x)
        for r in range(rows):
            put(of_joint[r], dot_wide(eight(of_joint[r]), -1.0, ldu.lower[first + r, 0], x))
        _lower_solve(ldu.S[i], rows, of_joint)
        upper_solve_wide(ldu.S[i], rows, of_joint)
        if parent != nb:
            for k in range(6):
                t = eight(body[parent, k])
                for r in range(rows):
                    t = plus(t, ldu.upper[first + r, 1, k], of_joint[r])
                put(body[parent, k], t)
        for e in range(plan.loops.fill_pass[i], plan.loops.fill_first[i + 1]):
            r = plan.loops.fill_row[e]
            t = dot_wide(eight(row[r]), -1.0, ldu.fill_lower[e], x)
            for a in range(rows):
                t = plus(t, -ldu.fill_joint_lower[e, a], of_joint[a])
            put(row[r], t)
    _substitute(plan, ws, work, low, body, row)
    for i in range(nb):
        _turn(ws.rotation[end, i], body[i], True)


@njit
def _turn(R, x, back):
    """Turn the last three of the vectors ``x`` (6, 8) by ``R`` (3, 3), or back."""
    t = NOTHING, NOTHING, NOTHING
    if back:
        for k in range(3):
            t = plus(t[0], R[k, 0], x[3 + k]), plus(t[1], R[k, 1], x[3 + k]), plus(t[2], R[k, 2], x[3 + k])
    else:
        for k in range(3):
            t = plus(t[0], R[0, k], x[3 + k]), plus(t[1], R[1, k], x[3 + k]), plus(t[2], R[2, k], x[3 + k])
    put(x[3], t[0])
    put(x[4], t[1])
    put(x[5], t[2])


@njit
def _asked(plan, ws, work, i, rows, low, of_joint):
    """Write `lower_pairs._asked` to ``work.joint[0]`` (6, 8); ``of_joint`` (n, 8): right-hand sides of its rows."""
    b, points, e = work.joint[0], plan.joints.points[i], ws.ldu.arm[low, i, 3:]
    for a in range(3):
        shift, turn = NOTHING, NOTHING
        for r in range(points):
            shift = plus(shift, ws.ldu.frame[low, i, r, a], of_joint[r])
        for r in range(points, rows):
            turn = plus(turn, ws.ldu.frame[low, i, r, 3 + a], of_joint[r])
        put(b[a], shift)
        put(b[3 + a], turn)
    for a in range(3):
        j, k = (a + 1) % 3, (a + 2) % 3
        put(b[a], plus(plus(eight(b[a]), e[k], b[3 + j]), -e[j], b[3 + k]))


@njit
def _along(change, b):
    """Return eight inner products of ``change`` (3,) with the turns of motions ``b`` (6, 8)."""
    return plus(plus(plus(NOTHING, change[0], b[3]), change[1], b[4]), change[2], b[5])


@njit
def _own_motion(plan, ws, work, i, x, of_joint):
    """Write `lower_pairs._own_motion` to ``work.joint[1]``; ``of_joint`` (n, 8): right-hand sides of its rows."""
    first, rows, z, E = plan.joints.rows[i], plan.joints.pair[i], work.joint[1], ws.ldu.S[i]
    free, size = 6 - rows, 6 - rows + of_joint.shape[0] - rows
    for k in range(free):
        put(z[k], dot_wide(NOTHING, 1.0, ws.ldu.frame[0, i, rows + k], x))
    if plan.joints.sprung[i]:
        up, change = pivot_effort(ws, i)
        share = dot(turn_of(ws.ldu.frame[0, i, 5]), up)
        put(z[0], plus(eight(z[0]), -share, _along(change, work.joint[0])))
    for k in range(free, size):
        r = rows + k - free
        put(z[k], dot_wide(eight(of_joint[r]), -1.0, ws.ldu.lower[first + r, 0], work.joint[0]))
    _lower_solve(E, size, z)
    upper_solve_wide(E, size, z)


@njit
def _forward_pair(plan, ws, work, i, low, body, row):
    """Eliminate body i as `lower_pairs.forward_pair` does, in ``body`` (nb, 6, 8) and ``row`` (nr, 8)."""
    x, M, U, V, (b, z) = body[i], ws.ldu.D[i], ws.ldu.X[i], ws.ldu.Y[i], (work.joint[0], work.joint[1])
    rows, parent, d = plan.joints.pair[i], plan.joints.parent[i], ws.ldu.arm[0, i]
    first, last = plan.loops.fill_pass[i], plan.loops.fill_first[i + 1]
    of_joint = row[plan.joints.rows[i] : plan.joints.rows[i + 1]]
    size = 6 - rows + of_joint.shape[0] - rows
    _asked(plan, ws, work, i, rows, low, of_joint)
    for k in range(size):
        put(z[k], dot_wide(NOTHING, 1.0, V[k], b))
    for a in range(6):
        t = dot_wide(eight(x[a]), -1.0, M[a], b)
        for k in range(size):
            t = plus(t, -U[k, a], z[k])
        put(x[a], t)
    if parent == plan.bodies.mass.size and first == last:
        return
    _own_motion(plan, ws, work, i, x, of_joint)
    for e in range(first, last):
        r = plan.loops.fill_row[e]
        t = dot_wide(eight(row[r]), -1.0, ws.ldu.fill_lower[e], b)
        for k in range(6 - rows):
            t = plus(t, -ws.ldu.fill_joint_lower[e, k], z[k])
        put(row[r], t)
    if parent == plan.bodies.mass.size:
        return
    for a in range(6):
        t = eight(x[a])
        for k in range(size):
            t = plus(t, -U[k, a], z[k])
        put(b[a], t)
    y = body[parent]
    for a in range(6):
        t = plus(eight(y[a]), 1.0, b[a])
        if a > 2:
            j, k = (a - 2) % 3, (a - 1) % 3
            t = plus(plus(t, d[j], b[k]), -d[k], b[j])
        put(y[a], t)


@njit
def _back_pair(plan, ws, work, i, low, body, row):
    """Substitute back to body i as `lower_pairs.back_pair` does, in ``body`` (nb, 6, 8) and ``row`` (nr, 8)."""
    x, M, U, V, (b, z) = body[i], ws.ldu.D[i], ws.ldu.X[i], ws.ldu.Y[i], (work.joint[0], work.joint[1])
    y, w, of_joint = work.joint[2], work.joint[3], row[plan.joints.rows[i] : plan.joints.rows[i + 1]]
    first, rows, parent, d = plan.joints.rows[i], plan.joints.pair[i], plan.joints.parent[i], ws.ldu.arm[low, i]
    free, size = 6 - rows, 6 - rows + of_joint.shape[0] - rows
    _asked(plan, ws, work, i, rows, low, of_joint)
    _own_motion(plan, ws, work, i, x, of_joint)
    for a in range(6):
        t = NOTHING
        if parent != plan.bodies.mass.size:
            t = eight(body[parent, a])
            if a < 3:
                j, k = (a + 1) % 3, (a + 2) % 3
                t = plus(plus(t, d[k], body[parent, 3 + j]), -d[j], body[parent, 3 + k])
        put(y[a], t)
    for a in range(6):
        t = dot_wide(plus(NOTHING, -1.0, x[a]), 1.0, M[a], y)
        for k in range(size):
            t = plus(t, U[k, a], z[k])
        put(w[a], t)
    for k in range(size):
        t = dot_wide(eight(z[k]), -1.0, V[k], y)
        for e in range(plan.loops.fill_pass[i], plan.loops.fill_first[i + 1] if k < free else 0):
            t = plus(t, -ws.ldu.fill_upper[e, k], row[plan.loops.fill_row[e]])
        put(z[k], t)
    for a in range(6):
        t = plus(eight(y[a]), 1.0, b[a])
        for k in range(free):
            t = plus(t, ws.ldu.frame[low, i, rows + k, a], z[k])
        put(x[a], t)
    for k in range(free, size):
        r = rows + k - free
        put(of_joint[r], eight(z[k]))
        g = at_child(ws.ldu.upper[first + r, 1], vector(ws.ldu.arm[0, i]))
        for a in range(6):
            put(w[a], plus(eight(w[a]), g[a], z[k]))
    if plan.joints.sprung[i]:
        up, change = pivot_effort(ws, i)
        t = plus(_along(change, b), dot(change, turn_of(ws.ldu.frame[low, i, 5])), z[0])
        for a in range(3):
            put(w[3 + a], plus(eight(w[3 + a]), up[a], t))
    points, e = plan.joints.points[i], ws.ldu.arm[0, i, 3:]
    for a in range(3):
        j, k = (a + 1) % 3, (a + 2) % 3
        put(w[3 + a], plus(plus(eight(w[3 + a]), e[j], w[k]), -e[k], w[j]))  # torque about the point of the rows
    for r in range(rows):
        at, t = 0 if r < points else 3, NOTHING
        for a in range(at, at + 3):
            t = plus(t, ws.ldu.frame[0, i, r, a], w[a])
        put(of_joint[r], t)
    for e in range(plan.loops.fill_pass[i], plan.loops.fill_first[i + 1]):
        for r in range(of_joint.shape[0]):
            put(of_joint[r], plus(eight(of_joint[r]), -ws.ldu.fill_joint_upper[e, r], row[plan.loops.fill_row[e]]))


@njit
def _add_cross(x, at, f, d, y, by):
    """Add f d x y to three entries of ``x`` (n, 8), from number ``at`` on, with three of ``y`` (m, 8) from ``by`` on.

    ``d`` (3,).
    """
    for a in range(3):
        j, k = (a + 1) % 3, (a + 2) % 3
        put(x[at + a], plus(plus(eight(x[at + a]), f * d[j], y[by + k]), -f * d[k], y[by + j]))


@njit
def _add_times(x, at, f, M, column, y, by):
    """Add f M y to three entries of ``x`` (n, 8), see `_add_cross`; ``M`` (6, 6) from ``column`` on, ``y`` (m, 8)."""
    for a in range(3):
        t = eight(x[at + a])
        for k in range(3):
            t = plus(t, f * M[a, column + k], y[by + k])
        put(x[at + a], t)


@njit
def _add_asked(ws, i, low, of_joint, b):
    """Add the shifts that the rows of the ball joint of body i ask for to ``b`` (n, 8); ``of_joint`` (3, 8)."""
    for a in range(3):
        t = eight(b[a])
        for r in range(3):
            t = plus(t, ws.ldu.frame[low, i, r, a], of_joint[r])
        put(b[a], t)


@njit
def _forward_ball(plan, ws, work, i, low, body, of_joint):
    """Eliminate body i as `ball_pairs.forward_ball` does, in ``body`` (nb, 6, 8); ``of_joint`` (3, 8): its rows."""
    x, M, b, parent, arm = body[i], ws.ldu.D[i], work.joint[0], plan.joints.parent[i], ws.ldu.arm[0, i]
    _add_cross(x, 3, 1.0, arm[3:], x, 0)
    _lower_solve(ws.ldu.S[i], 3, x[3:])
    upper_solve_wide(ws.ldu.S[i], 3, x[3:])
    _add_times(x, 0, -1.0, M, 3, x, 3)
    if parent == plan.bodies.mass.size:
        return
    for k in range(3):
        put(b[k], NOTHING)
        put(b[3 + k], eight(x[k]))
    _add_asked(ws, i, low, of_joint, b)
    _add_times(b, 3, -1.0, M, 0, b, 0)
    y = body[parent]
    for k in range(3):
        put(y[k], plus(eight(y[k]), 1.0, b[3 + k]))
    _add_cross(y, 3, 1.0, arm, b, 3)


@njit
def _back_ball(plan, ws, work, i, low, body, row):
    """Substitute back to body i as `ball_pairs.back_ball` does, in ``body`` (nb, 6, 8) and ``row`` (nr, 8)."""
    x, shift, parent, arm = body[i], work.joint[0], plan.joints.parent[i], ws.ldu.arm[low, i]
    of_joint = row[plan.joints.rows[i] : plan.joints.rows[i + 1]]
    for k in range(3):
        put(shift[k], NOTHING if parent == plan.bodies.mass.size else eight(body[parent, k]))
        put(shift[3 + k], plus(NOTHING, -1.0, x[k]))
    _add_asked(ws, i, low, of_joint, shift)
    if parent != plan.bodies.mass.size:
        _add_cross(shift, 0, -1.0, arm, body[parent], 3)
    _add_times(shift, 3, 1.0, ws.ldu.D[i], 0, shift, 0)
    _add_times(x, 3, -1.0, ws.ldu.Y[i], 0, shift, 0)
    for k in range(3):
        put(x[k], eight(shift[k]))
    _add_cross(x, 0, -1.0, arm[3:], x, 3)
    for r in range(3):
        t = NOTHING
        for a in range(3):
            t = plus(t, ws.ldu.frame[0, i, r, a], shift[3 + a])
        put(of_joint[r], t)


@njit
def _lower_solve(A, n, B):
    """Overwrite ``B`` (n, 8) with L^-1 B, L of ``A`` (n, n) factored by `lu_factor`."""
    for i in range(1, n):
        t = eight(B[i])
        for j in range(i):
            t = plus(t, -A[i, j], B[j])
        put(B[i], t)


@njit
def _eliminate_node(plan, ws, work, n, i, body, row):
    """Eliminate node n, whose top is body i, from the right-hand sides ``body`` (nb, 6, 8) and ``row`` (nr, 8)."""
    ldu, loops = ws.ldu, plan.loops
    first, last = loops.node_row[n], loops.node_row[n + 1]
    for head in range(first, last):
        end = head + plan.rows.chain[head]
        for c in range(WIDE if end > head else 0):
            total = 0.0
            for r in range(head, end):
                total += row[r, c]
            for r in range(head, end):
                row[r, c] = 0.0 if ws.released[head] == 0.0 and r > head else total
    _solve_node(plan, ws, work, n, first, last, row)
    for r in range(last, loops.node_high[n]):
        t = eight(row[r])
        for m in range(first, last):
            t = plus(t, -ldu.K[loops.row_start[r] + m], row[m])
        put(row[r], t)
    if i < plan.bodies.mass.size:
        for k in range(6):
            t = eight(body[i, k])
            for e in range(last - first):
                t = plus(t, -ldu.fill_upper[loops.node_fill[n] + e, k], row[first + e])
            put(body[i, k], t)


@njit
def _solve_node(plan, ws, work, n, first, last, row):
    """Solve the rows of node n as `dense.rank_lu_solve` does, for eight right-hand sides in ``row`` (nr, 8)."""
    ldu, rank = ws.ldu, ws.ldu.rank[n]
    start = plan.loops.row_start[first] + first
    stride = plan.loops.node_high[n] - plan.loops.node_low[n]
    scale, rows, columns = ldu.closure_scale[first:last], ldu.pivot[0, first:last], ldu.pivot[1, first:last]
    K, scratch, b = ldu.K, work.node, row[first:last]
    for i in range(rank):
        t = plus(NOTHING, scale[rows[i]], b[rows[i]])
        for j in range(i):
            t = plus(t, -K[start + i * stride + j], scratch[j])
        put(scratch[i], t)
    for i in range(rank - 1, -1, -1):
        t = eight(scratch[i])
        for j in range(i + 1, rank):
            t = plus(t, -K[start + i * stride + j], scratch[j])
        put(scratch[i], t)
        put(scratch[i], plus(NOTHING, K[start + i * stride + i], scratch[i]))
    for i in range(last - first):
        put(b[i], NOTHING)
    for i in range(rank):
        put(b[columns[i]], plus(NOTHING, scale[columns[i]], scratch[i]))


@njit
def _substitute(plan, ws, work, low, body, row):
    """Substitute back as `ldu.substitute_all` does, in ``body`` (nb, 6, 8) and ``row`` (nr, 8)."""
    nb, loops, ldu = plan.bodies.mass.size, plan.loops, ws.ldu
    for k in range(loops.node_first[nb + 1] - 1, loops.node_first[nb] - 1, -1):
        _substitute_node(plan, ws, loops.node_order[k], row)
    for i in range(nb):
        if is_ball(plan, i):
            _back_ball(plan, ws, work, i, low, body, row)
        elif plan.joints.pair[i] > 0:
            _back_pair(plan, ws, work, i, low, body, row)
        else:
            _back(plan, ws, i, body, row)
        for e in range(loops.fill_first[i], loops.fill_pass[i]):
            r = loops.fill_row[e]
            put(row[r], dot_wide(eight(row[r]), -1.0, ldu.fill_joint_lower[e], body[i]))
        for k in range(loops.node_first[i + 1] - 1, loops.node_first[i] - 1, -1):
            _substitute_node(plan, ws, loops.node_order[k], row)


@njit
def _back(plan, ws, i, body, row):
    """Substitute back to body i as `ldu._back` does, in ``body`` (nb, 6, 8) and ``row`` (nr, 8)."""
    loops, ldu, x, parent = plan.loops, ws.ldu, body[i], plan.joints.parent[i]
    start, stop = plan.joints.rows[i], plan.joints.rows[i + 1]
    for r in range(start, stop):
        t = eight(row[r])
        if parent != plan.bodies.mass.size:
            t = dot_wide(t, -1.0, ldu.Y[i, r - start], body[parent])
        for e in range(loops.fill_pass[i], loops.fill_first[i + 1]):
            t = plus(t, -ldu.fill_joint_upper[e, r - start], row[loops.fill_row[e]])
        put(row[r], t)
    for k in range(6):
        t = eight(x[k])
        for e in range(loops.fill_pass[i], loops.fill_first[i + 1]):
            t = plus(t, -ldu.fill_upper[e, k], row[loops.fill_row[e]])
        for r in range(start, stop):
            t = plus(t, ldu.X[i, k, r - start], row[r])
        put(x[k], t)


@njit
def _substitute_node(plan, ws, n, row):
    """Subtract K_nm row_m from the rows of node n in ``row`` (nr, 8)."""
    loops = plan.loops
    for r in range(loops.node_row[n], loops.node_row[n + 1]):
        t = eight(row[r])
        for s in range(loops.node_row[n + 1], loops.node_high[n]):
            t = plus(t, -ws.ldu.K[loops.row_start[r] + s], row[s])
        put(row[r], t)
