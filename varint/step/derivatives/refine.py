"""Solutions of a step's exact system: by the factors of the LDU at hand, refined with the exact operator.

The factors leave out a part of the order of h^2 times the efforts (operator.py), so each pass leaves that share
of the error before it. Those of the system itself are taken eight at a time (columns.py).
"""

from varint.base.numba import njit
from varint.step.ball_pairs import forward_ball, is_ball
from varint.step.dense import add_scaled6, dot6, lu_solve, rank_lu_solve
from varint.step.derivatives.operator import apply_transposed
from varint.step.intervals import StepSpan
from varint.step.ldu import substitute_all, turn_bodies
from varint.step.lower_pairs import forward_pair

PASSES = 12  # of a solution, at most
EXACT = 1e-13  # of the right-hand side: what is left of it is round-off, but for a few digits


@njit
def solve_again(plan, ws, step, body, row):
    """Solve for another right-hand side in place, with the factors of the last `solve_newton` of the ``step``."""
    upper, end = step.upper, step.end
    nb, ldu, low = plan.bodies.mass.size, ws.ldu, 1 if end != upper else 0
    turn_bodies(ws.rotation[upper], body)
    for place in range(nb, -1, -1):
        i = place - 1 if place > 0 else nb  # the world comes last
        for k in range(plan.loops.node_first[i], plan.loops.node_first[i + 1]):
            _eliminate_node_again(plan, ws, plan.loops.node_order[k], i, body, row)
        if i == nb:
            continue
        first, x, parent = plan.joints.rows[i], body[i], plan.joints.parent[i]
        rows, pair = plan.joints.rows[i + 1] - first, plan.joints.pair[i]
        if is_ball(plan, i):
            forward_ball(plan, ws, i, low, body, row)
            continue
        if plan.joints.sprung[i]:
            forward_pair(plan, ws, i, 3, 1, 0, True, low, body, row)
            continue
        if pair == 5 and rows == 5 and plan.joints.points[i] == 3:
            forward_pair(plan, ws, i, 3, 1, 0, False, low, body, row)
            continue
        if pair > 0:
            forward_pair(plan, ws, i, plan.joints.points[i], 6 - pair, rows - pair, False, low, body, row)
            continue
        own = row[first : first + rows]
        lu_solve(ldu.D[i], 6, x)
        for r in range(rows):
            own[r] -= dot6(ldu.lower[first + r, 0], x)
        lu_solve(ldu.S[i], rows, own)
        if parent != nb:
            for r in range(rows):
                add_scaled6(body[parent], own[r], ldu.upper[first + r, 1])
        for e in range(plan.loops.fill_pass[i], plan.loops.fill_first[i + 1]):
            r = plan.loops.fill_row[e]
            row[r] -= dot6(ldu.fill_lower[e], x)
            for a in range(rows):
                row[r] -= ldu.fill_joint_lower[e, a] * own[a]
    substitute_all(plan, ws, upper, end, body, row)


@njit
def _eliminate_node_again(plan, ws, n, i, body, row):
    """The right-hand side of node n, whose top is i."""
    ldu, loops = ws.ldu, plan.loops
    first, last = loops.node_row[n], loops.node_row[n + 1]
    for head in range(first, last):
        end = head + plan.rows.chain[head]
        total = 0.0
        for r in range(head, end):
            total += row[r]
        for r in range(head, end):
            row[r] = 0.0 if ws.compliance[head] == 0.0 and r > head else total
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
def refine_transposed(plan, ws, step, body, row, passes, spare):
    """Solve the transposed exact system of a step in place, ``body`` (nb, 6), ``row`` (nr,).

    After `prepare_operator` and a `solve_newton` of the step, by pivots that are transposed, with its rows exchanged,
    see `solve_transposed`. ``passes`` (n,): filled with the largest residual left after each pass, relative to the
    right-hand side, at most n passes; it ends where that is all round-off, or a pass did not halve it. ``spare``: three
    pairs like body and row.
    """
    (b_body, b_row), (r_body, r_row), (x_body, x_row) = spare
    _add(0.0, 1.0, body, row, b_body, b_row)
    _add(0.0, 1.0, body, row, r_body, r_row)
    body[:] = 0.0
    row[:] = 0.0
    size = _size(plan, b_body, b_row)
    for n in range(passes.size):
        _add(0.0, 1.0, r_body, r_row, x_body, x_row)
        solve_transposed(plan, ws, step, x_body, x_row, r_row)
        _add(1.0, 1.0, x_body, x_row, body, row)
        apply_transposed(plan, ws, step, body, row, r_body, r_row)
        _add(-1.0, 1.0, b_body, b_row, r_body, r_row)
        passes[n] = _size(plan, r_body, r_row) / size if size > 0.0 else 0.0
        if passes[n] <= EXACT or (n > 0 and passes[n] > 0.5 * passes[n - 1]):
            break


@njit
def solve_transposed(plan, ws, step, body, row, given):
    """`solve_again` for the transpose of Newton's matrix, by factors of the matrix with G and H exchanged and D^T.

    That matrix has -G^T and H where the transpose has H^T and -G, so its rows and their unknowns have the other sign.
    ``given`` (nr,): the right-hand side of the rows, as is ``row``.
    """
    upper, end, h = step.upper, step.end, step.h
    for r in range(row.size):
        row[r] = -row[r]
    solve_again(plan, ws, StepSpan(end, upper, h), body, row)
    for r in range(row.size):
        row[r] = -row[r]
    for c in range(plan.constraints.row.size):  # beside the first row of a constraint: that multipliers are equal
        first = plan.constraints.row[c]
        if ws.compliance[first] > 0.0:
            continue
        for r in range(first + 1, first + plan.constraints.size[c]):
            row[r] = given[r]
            for s in range(2):
                i = plan.measures.body[r, s]
                if i < plan.bodies.mass.size:
                    row[r] += dot6(ws.jacobian[upper, r, s], body[i])


@njit
def _add(keep, share, body, row, to_body, to_row):
    """Keep that share of a pair of vectors and add a share of another."""
    for i in range(body.shape[0]):
        for k in range(6):
            to_body[i, k] = keep * to_body[i, k] + share * body[i, k]
    for r in range(row.size):
        to_row[r] = keep * to_row[r] + share * row[r]


@njit
def _size(plan, body, row):
    """Largest entry, m/s: bodies by their inertia, rows by their unit."""
    largest = 0.0
    for i in range(body.shape[0]):
        for k in range(6):
            largest = max(largest, plan.bodies.scale[i, k // 3] * abs(body[i, k]))
    for r in range(row.size):
        largest = max(largest, plan.rows.scale[r] * abs(row[r]))
    return largest
