"""The fill-in-free block LDU (VI Algorithms 3 and 4) and the dense closure nodes (VI section 4.3).

Newton's matrix (VI eq. 38, with the sign of eqs. 26 and 33) has a block row and column for every
body and every joint,

    [ D   -G^T ]      D: one 6 x 6 block a body,
    [ H    C   ]      G, H: rows of the joints at the start and at the end of the step,
                      C: zero, or one for the row of an element (forces.py).

Bodies are eliminated from the leaves to the root, each followed by its tree joint: a joint touches
one body that is still there, its parent, so nothing fills in. A loop closure touches two; it is
kept, and felt by the bodies on its loop (the fills of the plan), until only the top of the loop is
left. Just before that body it is eliminated as a dense node, from the top and from the closures still
there that share bodies with it; rows found redundant there get no multiplier.

The step uses it with D = derivative of the momenta, a projection with D = mass matrix and H = G.
"""

from varint._numba import Float1, Float2, indirect, njit
from varint.kernels.dense import (
    add_product_wide,
    add_scaled6,
    dot6,
    lu_factor,
    lu_solve,
    lu_solve_wide,
    lu_solve_wider,
    multiply_wide,
    rank_lu_factor,
    rank_lu_solve,
)
from varint.kernels.plan import Plan, Workspace


@indirect
def solve_newton(plan: Plan, ws: Workspace, body: Float2, row: Float1, upper: int, lower: int) -> None:
    """Solve the system above in place: right-hand side and solution in ``body`` (nb, 6), ``row`` (nr,).

    Pivots in ``ws.ldu.D``, overwritten by their factors; G is ``ws.jacobian[upper]``, H
    ``ws.jacobian[lower]``.
    """
    G, H = ws.jacobian[upper], ws.jacobian[lower]
    _eliminate_all(plan, ws, G, H, body, row)
    _substitute_all(plan, ws, body, row)


@njit(inline="always")
def _eliminate_all(plan, ws, G, H, body, row):
    """VI Alg. 3, with the L pass of Alg. 4 on the right-hand side in the same sweep."""
    nb = plan.bodies.mass.size
    if ws.ldu.K.size:
        _place_closures(plan.loops.node_row, plan.loops.row_fill, G, H, ws.ldu.fill_lower, ws.ldu.fill_upper)
        _place_compliances(plan.loops.node_row, plan.loops.row_start, ws.compliance, ws.ldu.K, ws.ldu.closure_scale)
    for place in range(nb, -1, -1):
        i = place - 1 if place > 0 else nb  # the world comes last
        for k in range(plan.loops.node_first[i], plan.loops.node_first[i + 1]):
            n = plan.loops.node_order[k]
            first, last, high = plan.loops.node_row[n], plan.loops.node_row[n + 1], plan.loops.node_high[n]
            start, stride = plan.loops.row_start[first] + first, high - plan.loops.node_low[n]
            if plan.laws.sum_first.size > 1:
                low = ws.ldu.fill_lower[plan.loops.node_fill[n] :] if i < nb else ws.ldu.fill_lower[:0]
                _chain_rows(
                    plan.rows.chain[first:last], ws.compliance[first:last], ws.ldu.K, start, stride, high - first,
                    ws.ldu.closure_scale[first:last], row[first:last], low,
                )  # fmt: skip
            scale, rows, columns = (
                ws.ldu.closure_scale[first:last],
                ws.ldu.pivot[0, first:last],
                ws.ldu.pivot[1, first:last],
            )
            ws.ldu.rank[n], ws.ldu.last_pivot[n] = _eliminate_node(
                ws.ldu.K,
                plan.loops.row_start,
                start,
                stride,
                first,
                last,
                high,
                scale,
                rows,
                columns,
                row,
                ws.ldu.closure_column,
            )
            if i < nb:
                _fold_node(
                    ws.ldu.K, plan.loops.row_start, start, stride, first, last, high, ws.ldu.rank[n], scale, rows, columns,
                    plan.loops.node_fill[n], plan.loops.fill_first[i + 1], plan.loops.fill_row, ws.ldu.fill_lower, ws.ldu.fill_upper,
                    ws.ldu.fill_joint_lower, ws.ldu.D[i], body[i], row, ws.ldu.closure_column,
                )  # fmt: skip
        if i == nb:
            continue
        start = plan.joints.rows[i]
        rows_i = plan.joints.rows[i + 1] - start
        has_parent = plan.joints.parent[i] != nb
        up_body = plan.joints.parent[i] if has_parent else i
        G_i, H_i, C_i, row_i = G[start:], H[start:], ws.compliance[start:], row[start:]
        # the joints of most mechanisms have five rows: with that number fixed the loops unroll, a sixth faster
        if rows_i == 5:
            _eliminate(
                ws.ldu.D[i], ws.ldu.X[i], ws.ldu.S[i], ws.ldu.Y[i], G_i, H_i, C_i, 5, has_parent, ws.ldu.D[up_body],
                body[i], row_i, body[up_body],
            )  # fmt: skip
        elif rows_i == 6:
            _eliminate(
                ws.ldu.D[i], ws.ldu.X[i], ws.ldu.S[i], ws.ldu.Y[i], G_i, H_i, C_i, 6, has_parent, ws.ldu.D[up_body],
                body[i], row_i, body[up_body],
            )  # fmt: skip
        else:
            _eliminate(
                ws.ldu.D[i], ws.ldu.X[i], ws.ldu.S[i], ws.ldu.Y[i], G_i, H_i, C_i, rows_i, has_parent, ws.ldu.D[up_body],
                body[i], row_i, body[up_body],
            )  # fmt: skip
        first, last = plan.loops.fill_pass[i], plan.loops.fill_first[i + 1]
        if first < last:
            _pass_fills(
                ws.ldu.D[i], ws.ldu.X[i], ws.ldu.S[i], ws.ldu.Y[i], G_i, H_i, rows_i, first, last, plan.loops.fill_row, plan.loops.fill_up,
                ws.ldu.fill_lower, ws.ldu.fill_upper, ws.ldu.fill_joint_lower, ws.ldu.fill_joint_upper,
                ws.ldu.K, plan.loops.row_start, body[i], row_i, row, ws.ldu.closure_scale,
            )  # fmt: skip


@njit(inline="always")
def _eliminate(D, X, S, Y, G, H, C, rows, has_parent, D_parent, x, y, x_parent):
    """Eliminate a body and its tree joint.

    Factor D, X = D^-1 G^T, factor S = H X + C, Y = S^-1 H_p, D_p += G_p^T Y; right-hand sides x of the
    body, y of the joint, x_p of the parent.
    """
    lu_factor(D, 6)
    for k in range(6):
        X[k, 5] = x[k]
    for r in range(rows):
        for k in range(6):
            X[k, r] = G[r, 0, k]
    if rows == 6:
        lu_solve_wider(D, 6, X, x)
    else:  # x takes a column of X that no row needs
        lu_solve_wide(D, 6, X)
        for k in range(6):
            x[k] = X[k, 5]
    if rows == 0:
        return
    multiply_wide(H, 0, X, rows, S)
    for r in range(rows):
        y[r] -= S[r, 5] if rows < 6 else dot6(H[r, 0], x)
        S[r, r] += C[r]
    lu_factor(S, rows)
    if not has_parent:
        lu_solve(S, rows, y)
        return
    for r in range(rows):
        for k in range(6):
            Y[r, k] = H[r, 1, k]
    lu_solve_wider(S, rows, Y, y)
    for r in range(rows):
        add_scaled6(x_parent, y[r], G[r, 1])
    add_product_wide(G, 1, Y, rows, D_parent)


@njit
def _place_closures(node_row, row_fill, G, H, fill_lower, fill_upper):
    """Write the closures' own blocks into the fills of their bodies."""
    fill_lower[:] = 0.0
    fill_upper[:] = 0.0
    for r in range(node_row[0], node_row[-1]):
        for side in range(2):
            e = row_fill[r, side]
            if e >= 0:
                add_scaled6(fill_lower[e], 1.0, H[r, side])
                add_scaled6(fill_upper[e], -1.0, G[r, side])


@njit
def _place_compliances(node_row, row_start, compliance, K, closure_scale):
    K[:] = 0.0
    for r in range(node_row[0], node_row[-1]):
        K[row_start[r] + r] = closure_scale[r] = compliance[r]


@njit
def _chain_rows(chain, compliance, K, start, stride, width, scale, row, lower):
    """Rows with one effort: each gets the sum of all but for its own compliance, which is one.

    Where it is zero the sum is a constraint: it stays in the first row, the others say that their efforts are its own.
    The rows are ``stride`` apart from ``K[start]`` on, with ``width`` columns. ``lower`` (rows, 6), at the top; of no
    length where that is the world.
    """
    for first in range(chain.size):
        if chain[first] == 0:
            continue
        last = first + chain[first]
        held = compliance[first] == 0.0
        for j in range(width):
            total = 0.0 if held or not first <= j < last else -1.0
            for r in range(first, last):
                total += K[start + r * stride + j]
            for r in range(first, last):
                K[start + r * stride + j] = 0.0 if held and r > first else total + (0.0 if held or r != j else 1.0)
        total = 0.0
        for r in range(first, last):
            total += row[r]
        for r in range(first, last):
            row[r] = 0.0 if held and r > first else total
        for k in range(6 if lower.shape[0] else 0):
            total = 0.0
            for r in range(first, last):
                total += lower[r, k]
            for r in range(first, last):
                lower[r, k] = 0.0 if held and r > first else total
        for r in range(first + 1, last if held else first):
            scale[first] += scale[r]
            K[start + r * stride + r], K[start + r * stride + first] = scale[r], -scale[r]


@njit
def _pass_fills(
    D, X, S, Y, G, H, rows, first, last, fill_row, fill_up, lower, upper, joint_lower, joint_upper, K, row_start,
    x, y, row, closure_scale,
):  # fmt: skip
    """Eliminate a body and its joint from the closure rows it feels: into the dense block K, ``row`` and the parent."""
    for e in range(first, last):
        low, up, joint_low, joint_up = lower[e], upper[e], joint_lower[e], joint_upper[e]
        lu_solve(D, 6, up)
        for a in range(rows):
            below = 0.0
            for k in range(6):
                below += low[k] * X[k, a]
            joint_low[a] = below
            joint_up[a] = -dot6(H[a, 0], up)
        lu_solve(S, rows, joint_up)
    for e in range(first, last):
        row[fill_row[e]] -= dot6(lower[e], x)
        for a in range(rows):
            row[fill_row[e]] -= joint_lower[e, a] * y[a]
        at = row_start[fill_row[e]]
        for other in range(first, last):
            total = dot6(lower[e], upper[other])
            if e == other:
                closure_scale[fill_row[e]] = max(closure_scale[fill_row[e]], abs(total))
            for a in range(rows):
                total += joint_lower[e, a] * joint_upper[other, a]
            K[at + fill_row[other]] -= total
    for e in range(first, last):
        above = fill_up[e]
        if above >= 0:
            for a in range(rows):
                add_scaled6(lower[above], -joint_lower[e, a], Y[a])
                add_scaled6(upper[above], joint_upper[e, a], G[a, 1])


@njit
def _eliminate_node(K, row_start, start, stride, first, last, high, scale, rows, columns, row, scratch):
    """Eliminate closure rows first : last from the later ones up to ``high``; return their rank and last pivot.

    Factor K_nn, row_n = K_nn^-1 row_n, K_nm = K_nn^-1 K_nm, K_mm -= K_mn K_nm, row_m -= K_mn row_n.
    """
    size, column = last - first, scratch[0]
    rank, smallest = rank_lu_factor(K, start, stride, size, scale, rows, columns)
    rank_lu_solve(K, start, stride, size, rank, scale, rows, columns, row[first:last], scratch[1])
    for s in range(size, high - first):
        for k in range(size):
            column[k] = K[start + k * stride + s]
        rank_lu_solve(K, start, stride, size, rank, scale, rows, columns, column, scratch[1])
        for k in range(size):
            K[start + k * stride + s] = column[k]
    for r in range(last, high):
        for k in range(rank):
            n = first + columns[k]
            factor, source, target = K[row_start[r] + n], row_start[n], row_start[r]
            if factor != 0.0:
                row[r] -= factor * row[n]
                for s in range(last, high):
                    K[target + s] -= factor * K[source + s]
    return rank, smallest


@njit
def _fold_node(
    K, row_start, start, stride, first, last, high, rank, scale, rows, columns, own, stop, fill_row, lower, upper,
    joint_lower, D, x, row, scratch,
):  # fmt: skip
    """Eliminate a node from its top, whose fills from ``own`` to ``stop`` are the node's own, then those of later rows.

    solved = K_nn^-1 F_ni, D -= F_in solved; for each later row m, F_mi -= K_mn solved, F_im -= F_in K_nm.
    """
    size = last - first
    for k in range(6):
        for e in range(size):
            scratch[0, e] = lower[own + e, k]
        rank_lu_solve(K, start, stride, size, rank, scale, rows, columns, scratch[0], scratch[1])
        for e in range(size):
            joint_lower[own + e, k] = scratch[0, e]
    for e in range(size):
        up = upper[own + e]
        add_scaled6(x, -row[first + e], up)
        for a in range(6):
            add_scaled6(D[a], -up[a], joint_lower[own + e])
    for e in range(own + size, stop):
        r = fill_row[e]
        if last <= r < high:
            for k in range(size):
                add_scaled6(lower[e], -K[row_start[r] + first + k], joint_lower[own + k])
                add_scaled6(upper[e], -K[row_start[first + k] + r], upper[own + k])


@njit(inline="always")
def _substitute_all(plan, ws, body, row):
    """The U pass of VI Alg. 4, from the root to the leaves."""
    nb = plan.bodies.mass.size
    for k in range(plan.loops.node_first[nb + 1] - 1, plan.loops.node_first[nb] - 1, -1):
        substitute_node(
            plan.loops.node_row, plan.loops.node_high, plan.loops.row_start, ws.ldu.K, plan.loops.node_order[k], row
        )
    for i in range(nb):
        x = body[i]
        start, stop = plan.joints.rows[i], plan.joints.rows[i + 1]
        if plan.joints.parent[i] != nb:
            for r in range(start, stop):
                row[r] -= dot6(ws.ldu.Y[i, r - start], body[plan.joints.parent[i]])
        for e in range(plan.loops.fill_pass[i], plan.loops.fill_first[i + 1]):
            multiplier = row[plan.loops.fill_row[e]]
            add_scaled6(x, -multiplier, ws.ldu.fill_upper[e])
            for r in range(start, stop):
                row[r] -= ws.ldu.fill_joint_upper[e, r - start] * multiplier
        for k in range(6):
            for r in range(start, stop):
                x[k] += ws.ldu.X[i, k, r - start] * row[r]
        for e in range(plan.loops.fill_first[i], plan.loops.fill_pass[i]):
            row[plan.loops.fill_row[e]] -= dot6(ws.ldu.fill_joint_lower[e], x)
        for k in range(plan.loops.node_first[i + 1] - 1, plan.loops.node_first[i] - 1, -1):
            substitute_node(
                plan.loops.node_row, plan.loops.node_high, plan.loops.row_start, ws.ldu.K, plan.loops.node_order[k], row
            )


@njit
def substitute_node(node_row, node_high, row_start, K, n, row):
    """row_n -= K_nm row_m."""
    for r in range(node_row[n], node_row[n + 1]):
        total = row[r]
        for s in range(node_row[n + 1], node_high[n]):
            total -= K[row_start[r] + s] * row[s]
        row[r] = total
