"""The fill-in-free block LDU (VI Algorithms 3 and 4) and the dense closure nodes (VI section 4.3).

Newton's matrix (VI eq. 38, with the sign of eqs. 26 and 33) has a block row and column for every
body and every joint,

    [ D   -G^T ]      D: one 6 x 6 block a body,
    [ H    C   ]      G, H: rows of the joints at the start and at the end of the step,
                      C: zero, or one for the row of an element (forces.py).

Bodies are eliminated from the leaves to the root, each followed by its tree joint: a joint touches
one body that is still there, its parent, so nothing fills in. A loop closure touches two; it is
kept for the dense node of its cluster, and felt by the bodies between it and the articulation
(the fills of the plan). The cluster is eliminated just before its articulation body; rows found
redundant there get no multiplier.

The step uses it with D = derivative of the momenta, a projection with D = mass matrix and H = G.
"""

from varint._jit import njit
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


@njit
def solve_newton(plan, ws, body, row, upper, lower):
    """Solve the system above in place: right-hand side and solution in ``body`` (nb, 6), ``row`` (nr,).

    Pivots in ``ws.D``, overwritten by their factors; G is ``ws.jacobian[upper]``, H
    ``ws.jacobian[lower]``.
    """
    G, H = ws.jacobian[upper], ws.jacobian[lower]
    _eliminate_all(plan, ws, G, H, body, row)
    _substitute_all(plan, ws, body, row)


@njit
def _eliminate_all(plan, ws, G, H, body, row):
    """VI Alg. 3, with the L pass of Alg. 4 on the right-hand side in the same sweep."""
    nb = plan.mass.size
    if ws.K.size:
        _place_closures(plan.cluster_row, plan.row_fill, G, H, ws.fill_lower, ws.fill_upper)
        _place_compliances(plan.cluster_row, plan.cluster_block, plan.row_compliance, ws.K, ws.closure_scale)
    for place in range(nb, -1, -1):
        i = place - 1 if place > 0 else nb  # the world comes last
        for c in range(plan.cluster_first[i], plan.cluster_first[i + 1]):
            first, last = plan.cluster_row[c], plan.cluster_row[c + 1]
            block, size = plan.cluster_block[c], last - first
            if plan.gauge_kind.size:
                low = ws.fill_lower[plan.fill_first[nb + c] : plan.fill_first[nb + c + 1]]
                _chain_efforts(plan.row_chain[first:last], ws.K, block, size, row[first:last], low)
            scale, rows, columns = ws.closure_scale[first:last], ws.pivot[0, first:last], ws.pivot[1, first:last]
            ws.rank[c], ws.last_pivot[c] = rank_lu_factor(ws.K, block, size, scale, rows, columns)
            rank_lu_solve(ws.K, block, size, ws.rank[c], scale, rows, columns, row[first:last], ws.closure_column)
            if i < nb:
                e = plan.fill_first[nb + c]
                low, up, solved = ws.fill_lower[e:], ws.fill_upper[e:], ws.fill_joint_lower[e:]
                _fold_cluster(
                    ws.K, block, size, ws.rank[c], scale, rows, columns, low, up, solved, ws.D[i], ws.closure_column
                )
                for k in range(size):
                    add_scaled6(body[i], -row[first + k], up[k])
        if i == nb:
            continue
        start = plan.joint_rows[i]
        rows_i = plan.joint_rows[i + 1] - start
        has_parent = plan.parent[i] != nb
        up_body = plan.parent[i] if has_parent else i
        G_i, H_i, C_i, row_i = G[start:], H[start:], plan.row_compliance[start:], row[start:]
        # the joints of most mechanisms have five rows: with that number fixed the loops unroll, a sixth faster
        if rows_i == 5:
            _eliminate(
                ws.D[i], ws.X[i], ws.S[i], ws.Y[i], G_i, H_i, C_i, 5, has_parent, ws.D[up_body],
                body[i], row_i, body[up_body],
            )  # fmt: skip
        elif rows_i == 6:
            _eliminate(
                ws.D[i], ws.X[i], ws.S[i], ws.Y[i], G_i, H_i, C_i, 6, has_parent, ws.D[up_body],
                body[i], row_i, body[up_body],
            )  # fmt: skip
        else:
            _eliminate(
                ws.D[i], ws.X[i], ws.S[i], ws.Y[i], G_i, H_i, C_i, rows_i, has_parent, ws.D[up_body],
                body[i], row_i, body[up_body],
            )  # fmt: skip
        c = plan.fill_cluster[i]
        if c >= 0:
            first, last = plan.fill_first[i], plan.fill_first[i + 1]
            _pass_fills(
                ws.D[i], ws.X[i], ws.S[i], ws.Y[i], G_i, H_i, rows_i, first, last, plan.fill_row, plan.fill_up,
                ws.fill_lower, ws.fill_upper, ws.fill_joint_lower, ws.fill_joint_upper,
                ws.K, plan.cluster_block[c], plan.cluster_row[c], plan.cluster_row[c + 1] - plan.cluster_row[c],
                body[i], row_i, row, ws.closure_scale,
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
    lu_solve(S, rows, y)
    if has_parent:
        for r in range(rows):
            add_scaled6(x_parent, y[r], G[r, 1])
            for k in range(6):
                Y[r, k] = H[r, 1, k]
        lu_solve_wide(S, rows, Y)
        add_product_wide(G, 1, Y, rows, D_parent)


@njit
def _place_closures(cluster_row, row_fill, G, H, fill_lower, fill_upper):
    """Write the closures' own blocks into the fills of their bodies."""
    fill_lower[:] = 0.0
    fill_upper[:] = 0.0
    for r in range(cluster_row[0], cluster_row[-1]):
        for side in range(2):
            e = row_fill[r, side]
            if e >= 0:
                add_scaled6(fill_lower[e], 1.0, H[r, side])
                add_scaled6(fill_upper[e], -1.0, G[r, side])


@njit
def _place_compliances(cluster_row, cluster_block, compliance, K, closure_scale):
    K[:] = 0.0
    for c in range(cluster_block.size - 1):
        first, size = cluster_row[c], cluster_row[c + 1] - cluster_row[c]
        for k in range(size):
            K[cluster_block[c] + k * size + k] = closure_scale[first + k] = compliance[first + k]


@njit
def _chain_efforts(chain, K, block, size, row, lower):
    """Rows with one effort: each gets the sum of all but for its own compliance, which is one.

    ``lower`` (size, 6), at the articulation; of no length where that is the world.
    """
    for first in range(size):
        last = first + chain[first]
        for j in range(size if chain[first] else 0):
            total = -1.0 if first <= j < last else 0.0
            for r in range(first, last):
                total += K[block + r * size + j]
            for r in range(first, last):
                K[block + r * size + j] = total + 1.0 if r == j else total
        total = 0.0
        for r in range(first, last):
            total += row[r]
        for r in range(first, last):
            row[r] = total
        for k in range(6 if lower.shape[0] else 0):
            total = 0.0
            for r in range(first, last):
                total += lower[r, k]
            for r in range(first, last):
                lower[r, k] = total


@njit
def _pass_fills(
    D, X, S, Y, G, H, rows, first, last, fill_row, fill_up, lower, upper, joint_lower, joint_upper, K, block,
    first_row, size, x, y, row, closure_scale,
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
        at = block + (fill_row[e] - first_row) * size - first_row
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
def _fold_cluster(K, block, size, rank, scale, rows, columns, lower, upper, solved, D, column):
    """Eliminate a cluster from its articulation: solved = K^-1 F_ci, D -= F_ic solved."""
    for k in range(6):
        for e in range(size):
            solved[e, k] = lower[e, k]
        rank_lu_solve(K, block, size, rank, scale, rows, columns, solved[:, k], column)
    for e in range(size):
        for a in range(6):
            add_scaled6(D[a], -upper[e, a], solved[e])


@njit
def _substitute_all(plan, ws, body, row):
    """The U pass of VI Alg. 4, from the root to the leaves."""
    nb = plan.mass.size
    for i in range(nb):
        x = body[i]
        start, stop = plan.joint_rows[i], plan.joint_rows[i + 1]
        if plan.parent[i] != nb:
            for r in range(start, stop):
                row[r] -= dot6(ws.Y[i, r - start], body[plan.parent[i]])
        if plan.fill_cluster[i] >= 0:
            for e in range(plan.fill_first[i], plan.fill_first[i + 1]):
                multiplier = row[plan.fill_row[e]]
                add_scaled6(x, -multiplier, ws.fill_upper[e])
                for r in range(start, stop):
                    row[r] -= ws.fill_joint_upper[e, r - start] * multiplier
        for k in range(6):
            for r in range(start, stop):
                x[k] += ws.X[i, k, r - start] * row[r]
        for c in range(plan.cluster_first[i], plan.cluster_first[i + 1]):
            for e in range(plan.fill_first[nb + c], plan.fill_first[nb + c + 1]):
                row[plan.fill_row[e]] -= dot6(ws.fill_joint_lower[e], x)
