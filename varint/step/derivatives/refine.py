"""Solutions of a step's exact system: by the factors of the LDU at hand, refined with the exact operator.

The factors leave out a part of the order of h^2 times the efforts (operator.py), so each pass leaves that share of the
error before it. Right-hand sides of the system itself are taken eight at a time (columns.py).
"""

from varint.base.numba import njit
from varint.step.dense import dot6
from varint.step.derivatives.operator import apply_transposed
from varint.step.intervals import StepSpan
from varint.step.ldu import solve_again

PASSES = 12  # of a solution, at most
EXACT = 1e-13  # of the right-hand side: the rest is round-off, but for a few digits


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
def solve_transposed(plan, ws, step, body, row, row_before):
    """Solve with the transpose of Newton's matrix, by factors of the matrix with G and H exchanged and D^T.

    In place, ``body`` (nb, 6) and ``row`` (nr,), as in `solve_again`. That matrix has -G^T and H where the transpose
    has H^T and -G, so its rows and their unknowns have the other sign. ``row_before`` (nr,): the right-hand side of the
    rows, as is ``row``.
    """
    upper, end, h = step.upper, step.end, step.h
    for r in range(row.size):
        row[r] = -row[r]
    solve_again(plan, ws, StepSpan(end, upper, h), body, row)
    for r in range(row.size):
        row[r] = -row[r]
    for c in range(plan.constraints.row.size):  # beside the first row of a constraint: that multipliers are equal
        first = plan.constraints.row[c]
        if ws.released[first] > 0.0:
            continue
        for r in range(first + 1, first + plan.constraints.size[c]):
            row[r] = row_before[r]
            for s in range(2):
                i = plan.measures.body[r, s]
                if i < plan.bodies.mass.size:
                    row[r] += dot6(ws.jacobian[upper, r, s], body[i])


@njit
def _add(keep, share, body, row, to_body, to_row):
    """Scale ``to_body`` (nb, 6), ``to_row`` (nr,) by ``keep``; add ``share`` times ``body`` (nb, 6), ``row`` (nr,)."""
    for i in range(body.shape[0]):
        for k in range(6):
            to_body[i, k] = keep * to_body[i, k] + share * body[i, k]
    for r in range(row.size):
        to_row[r] = keep * to_row[r] + share * row[r]


@njit
def _size(plan, body, row):
    """Return the largest entry of ``body`` (nb, 6) and ``row`` (nr,), m/s: bodies by inertia, rows by their unit."""
    largest = 0.0
    for i in range(body.shape[0]):
        for k in range(6):
            largest = max(largest, plan.bodies.scale[i, k // 3] * abs(body[i, k]))
    for r in range(row.size):
        largest = max(largest, plan.rows.scale[r] * abs(row[r]))
    return largest
