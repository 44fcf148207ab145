"""Dense nodes of loop closures in the block LDU: the rows of a cluster that are eliminated together (VI section 4.3).

A node is eliminated just before the body at the top of its loops. Its rows are a block of ``ws.ldu.K``, coupled with
later rows that share bodies with it; rows found redundant there get no multiplier. See ldu.py.
"""

from varint.base.numba import njit
from varint.step.dense import add_scaled6, rank_lu_factor, rank_lu_solve


@njit
def place_closures(plan, ws, G, H):
    """Write the closures' own blocks into the fills of their bodies, their compliances into ``ws.ldu.K``.

    ``G``, ``H`` (nr, 2, 6): their rows. Also sets ``ws.ldu.fill_lower``, ``ws.ldu.fill_upper`` and
    ``ws.ldu.closure_scale``.
    """
    ws.ldu.fill_lower[:] = 0.0
    ws.ldu.fill_upper[:] = 0.0
    ws.ldu.K[:] = 0.0
    for r in range(plan.loops.node_row[0], plan.loops.node_row[-1]):
        for side in range(2):
            e = plan.loops.row_fill[r, side]
            if e >= 0:
                add_scaled6(ws.ldu.fill_lower[e], 1.0, H[r, side])
                add_scaled6(ws.ldu.fill_upper[e], -1.0, G[r, side])
        ws.ldu.K[plan.loops.row_start[r] + r] = ws.ldu.closure_scale[r] = ws.released[r]


@njit
def _block(plan, n):
    """Return first row and end of the rows of node n, the start of its block in K, and the stride of rows there."""
    first, last = plan.loops.node_row[n], plan.loops.node_row[n + 1]
    return first, last, plan.loops.row_start[first] + first, plan.loops.node_high[n] - plan.loops.node_low[n]


@njit
def _chain_rows(plan, ws, n, has_top, row):
    """Replace the rows of node n with one effort: each gets the sum of all but for its own diagonal, which is one.

    In ``ws.ldu`` and ``row`` (nr,). Where the diagonal is zero the sum is a constraint: it stays in the first row, the
    others say that their efforts are its own. ``has_top``: whether the node has a body as its top, whose fills are
    summed too.
    """
    # With A_rj the gradients and s over the rows of one chain, the rows become
    #   an effort:     lambda_r + sum_s sum_j A_sj lambda_j = sum_s row_s   for each r: all efforts are the same one
    #   a constraint:  sum_s sum_j A_sj lambda_j = sum_s row_s              in the first row,
    #                  scale_r (lambda_r - lambda_first) = 0                in the others
    begin, end, start, stride = _block(plan, n)
    width, scale, fill = plan.loops.node_high[n] - begin, ws.ldu.closure_scale, plan.loops.node_fill[n] - begin
    for first in range(begin, end):
        if plan.rows.chain[first] == 0:
            continue
        last = first + plan.rows.chain[first]
        constraint = ws.released[first] == 0.0
        at = start - stride * begin
        for j in range(width):
            total = 0.0 if constraint or not first <= begin + j < last else -1.0  # K_jj holds `released`, one
            for r in range(first, last):
                total += ws.ldu.K[at + r * stride + j]
            for r in range(first, last):
                diagonal = 0.0 if constraint or r != begin + j else 1.0
                ws.ldu.K[at + r * stride + j] = 0.0 if constraint and r > first else total + diagonal
        total = 0.0
        for r in range(first, last):
            total += row[r]
        for r in range(first, last):
            row[r] = 0.0 if constraint and r > first else total
        for k in range(6 if has_top else 0):
            total = 0.0
            for r in range(first, last):
                total += ws.ldu.fill_lower[fill + r, k]
            for r in range(first, last):
                ws.ldu.fill_lower[fill + r, k] = 0.0 if constraint and r > first else total
        for r in range(first + 1, last if constraint else first):
            scale[first] += scale[r]
            ws.ldu.K[at + r * stride + r - begin], ws.ldu.K[at + r * stride + first - begin] = scale[r], -scale[r]


@njit
def _eliminate_node(plan, ws, n, row):
    """Eliminate the closure rows of node n from the later ones that it is coupled with; keep rank and last pivot.

    In ``ws.ldu`` and ``row`` (nr,): factor K_nn, row_n = K_nn^-1 row_n, K_nm = K_nn^-1 K_nm, K_mm -= K_mn K_nm, row_m
    -= K_mn row_n.
    """
    first, last, start, stride = _block(plan, n)
    size, high, K, column, spare = (
        last - first,
        plan.loops.node_high[n],
        ws.ldu.K,
        ws.ldu.closure_column[0],
        ws.ldu.closure_column[1],
    )
    scale, rows, columns = ws.ldu.closure_scale[first:last], ws.ldu.pivot[0, first:last], ws.ldu.pivot[1, first:last]
    # rows beyond the rank are redundant: `rank_lu_solve` gives them no multiplier, and K_mm leaves them out
    rank, ws.ldu.last_pivot[n] = rank_lu_factor(K, start, stride, size, scale, rows, columns)
    ws.ldu.rank[n] = rank
    rank_lu_solve(K, start, stride, size, rank, scale, rows, columns, row[first:last], spare)
    for s in range(size, high - first):  # K_nm = K_nn^-1 K_nm, column by column
        for k in range(size):
            column[k] = K[start + k * stride + s]
        rank_lu_solve(K, start, stride, size, rank, scale, rows, columns, column, spare)
        for k in range(size):
            K[start + k * stride + s] = column[k]
    for r in range(last, high):  # K_mm -= K_mn K_nm and row_m -= K_mn row_n
        for k in range(rank):
            m = first + columns[k]
            factor, source, target = K[plan.loops.row_start[r] + m], plan.loops.row_start[m], plan.loops.row_start[r]
            if factor != 0.0:
                row[r] -= factor * row[m]
                for s in range(last, high):
                    K[target + s] -= factor * K[source + s]


@njit
def eliminate_nodes(plan, ws, i, body, row):
    """Eliminate the closure nodes whose top is body i, nb for the world.

    ``body`` (nb, 6), ``row`` (nr,): right-hand side of bodies and rows, which is changed as blocks of ``ws.ldu`` are.
    """
    has_top = i < plan.bodies.mass.size
    for k in range(plan.loops.node_first[i], plan.loops.node_first[i + 1]):
        n = plan.loops.node_order[k]
        if plan.laws.kind.size + plan.constraints.row.size > 0:
            _chain_rows(plan, ws, n, has_top, row)
        _eliminate_node(plan, ws, n, row)
        if has_top:
            _fold_node(plan, ws, n, i, body, row)


@njit
def _eliminate_node_again(plan, ws, n, i, body, row):
    """Bring the right-hand side past node n, whose top is i, by its factors: ``row`` (nr,) and ``body`` (nb, 6)."""
    ldu, loops = ws.ldu, plan.loops
    first, last = loops.node_row[n], loops.node_row[n + 1]
    for head in range(first, last):
        end = head + plan.rows.chain[head]
        total = 0.0
        for r in range(head, end):
            total += row[r]
        for r in range(head, end):
            row[r] = 0.0 if ws.released[head] == 0.0 and r > head else total
    start, stride = loops.row_start[first] + first, loops.node_high[n] - loops.node_low[n]
    rank_lu_solve(
        ldu.K, start, stride, last - first, ldu.rank[n], ldu.closure_scale[first:last], ldu.pivot[0, first:last],
        ldu.pivot[1, first:last], row[first:last], ldu.closure_column[1],
    )  # fmt: skip
    for r in range(last, loops.node_high[n]):
        for m in range(first, last):
            row[r] -= ldu.K[loops.row_start[r] + m] * row[m]
    if i < plan.bodies.mass.size:
        for e in range(last - first):
            add_scaled6(body[i], -row[first + e], ldu.fill_upper[loops.node_fill[n] + e])


@njit
def eliminate_nodes_again(plan, ws, i, body, row):
    """Bring the right-hand side past the closure nodes whose top is body i, nb for the world, by their factors.

    ``body`` (nb, 6), ``row`` (nr,): of bodies and rows; both are changed.
    """
    for k in range(plan.loops.node_first[i], plan.loops.node_first[i + 1]):
        _eliminate_node_again(plan, ws, plan.loops.node_order[k], i, body, row)


@njit
def _fold_node(plan, ws, n, i, body, row):
    """Eliminate node n from its top i, whose fills are first the node's, then fills of later rows.

    solved = K_nn^-1 F_ni, D -= F_in solved; for each later row m, F_mi -= K_mn solved, F_im -= F_in K_nm. All in
    ``ws.ldu``; the right-hand side of the body, ``body`` (nb, 6), changes by the solved ``row`` (nr,) of the node.
    """
    first, last, start, stride = _block(plan, n)
    size, fill, rank, K = last - first, plan.loops.node_fill[n], ws.ldu.rank[n], ws.ldu.K
    scale, rows, columns = ws.ldu.closure_scale[first:last], ws.ldu.pivot[0, first:last], ws.ldu.pivot[1, first:last]
    solved, column, spare = ws.ldu.fill_joint_lower, ws.ldu.closure_column[0], ws.ldu.closure_column[1]
    for k in range(6):
        for e in range(size):
            column[e] = ws.ldu.fill_lower[fill + e, k]
        rank_lu_solve(K, start, stride, size, rank, scale, rows, columns, column, spare)
        for e in range(size):
            solved[fill + e, k] = column[e]
    for e in range(size):
        up = ws.ldu.fill_upper[fill + e]
        add_scaled6(body[i], -row[first + e], up)
        for a in range(6):
            add_scaled6(ws.ldu.D[i, a], -up[a], solved[fill + e])
    for e in range(fill + size, plan.loops.fill_first[i + 1]):
        r = plan.loops.fill_row[e]
        if last <= r < plan.loops.node_high[n]:
            for k in range(size):
                add_scaled6(ws.ldu.fill_lower[e], -K[plan.loops.row_start[r] + first + k], solved[fill + k])
                add_scaled6(ws.ldu.fill_upper[e], -K[plan.loops.row_start[first + k] + r], ws.ldu.fill_upper[fill + k])


@njit
def substitute_node(node_row, node_high, row_start, K, n, row):
    """Subtract K_nm row_m, of later rows m, from row_n of node n, in ``row`` (nr,).

    ``node_row`` (nn + 1,), ``node_high`` (nn,), ``row_start`` (nr + 1,): see `Loops`; ``K`` (size,): see `Factors`.
    """
    for r in range(node_row[n], node_row[n + 1]):
        total = row[r]
        for s in range(node_row[n + 1], node_high[n]):
            total -= K[row_start[r] + s] * row[s]
        row[r] = total


@njit
def substitute_nodes(plan, ws, i, row):
    """Find the multipliers of the closure nodes whose top is body i, nb for the world, in place in ``row`` (nr,)."""
    loops = plan.loops
    for k in range(loops.node_first[i + 1] - 1, loops.node_first[i] - 1, -1):
        substitute_node(loops.node_row, loops.node_high, loops.row_start, ws.ldu.K, loops.node_order[k], row)
