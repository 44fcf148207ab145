"""The border of Newton's system: further unknowns, for couplings between bodies that no joint connects.

With A the system of the LDU, x its unknowns and y those of the n rows that roles have written to the border,

    A x - U y = b,    V x + y = given,    so that    (1 + V A^-1 U) y = given - V A^-1 b,    x = A^-1 (b + U y)

The rows of U^T and V, ``upper`` and ``lower``, have a wrench on, or a rate by the motion of, each of a few bodies. V
may have the multipliers of one joint too, ``by_row``. The columns A^-1 U come from the factors at hand: a border costs
n + 1 back-substitutions and n^3 / 3, and one back-substitution for each further right-hand side. A may be any system
that a function solves, see `bordered`, such as a transposed one (contacts/adjoint.py).

Code that writes new pivots sets ``count`` to zero; each role then appends its rows when it adds to the pivots, and may
change ``given`` before each right-hand side. It reads its ``y`` after `solve_bordered`.
"""

from varint.base.numba import Float1, Float2, indirect, natural, njit
from varint.step.dense import add_scaled6, dot6, pivoted_lu_factor, pivoted_lu_solve
from varint.step.intervals import StepSpan
from varint.step.ldu import solve_again, solve_newton
from varint.step.plan import Plan, Workspace
from varint.step.solver_records import Border


def border_sizes(rows: int, bodies: int, nb: int, nr: int, loaded: bool = False) -> dict[str, int]:
    """Return the sizes of a `Border` for ``rows`` of up to ``bodies`` bodies each; ``nb``, ``nr``: of the plan.

    ``loaded``: whether rows depend on multipliers of joints.
    """
    taken = {
        "border": rows, "border_bodies": bodies, "border_cells": rows * rows, "border_slots": nb, "border_nr": nr,
        "border_joints": rows if loaded else 0,
    }  # fmt: skip
    return taken if rows else dict.fromkeys(taken, 0)


@njit
def rate_along(border, rows, r, body):
    """Return row r of ``rows`` (n, bodies of a row, 6) of the border times the motions ``body`` (nb, 6).

    ``rows``: ``upper`` or ``lower``.
    """
    total = 0.0
    for s in range(border.body.shape[1]):
        i = natural(border.body[r, s])
        if i < body.shape[0]:
            total += dot6(rows[r, s], body[i])
    return total


@njit
def push_along(border, rows, r, share, body):
    """Add a ``share`` of row r of ``rows`` (n, bodies of a row, 6) of the border to the wrenches ``body`` (nb, 6).

    ``rows``: ``upper`` or ``lower``.
    """
    for s in range(border.body.shape[1]):
        i = natural(border.body[r, s])
        if i < body.shape[0]:
            add_scaled6(body[i], share, rows[r, s])


@njit
def add_column(border, body, row):
    """Add the column of a border to ``body`` (nb, 6) and ``row`` (nr,)."""
    for i in range(body.shape[0]):
        add_scaled6(body[i], 1.0, border.column_body[i])
    for r in range(row.size):
        row[r] += border.column_row[r]


def bordered(solve):
    """Return two compiled functions, ``couple`` and ``complete``, for a function ``solve`` that solves with A in place.

    ``solve(plan, ws, step, scratch, body, row)``: right-hand side and solution in ``body`` (nb, 6), ``row`` (nr,).

    couple(plan, ws, border, step, scratch)               add V A^-1 U to ``block``
    complete(plan, ws, border, step, scratch, body, row)  add A^-1 U y to x
    """

    @njit
    def couple(plan, ws, border, step, scratch):
        """Add V A^-1 U to ``border.block`` (n * n,), row after row.

        ``border.upper``, ``border.lower`` (n, bodies of a row, 6): U^T and V; ``scratch``: the one that ``solve``
        takes. Also writes ``border.column_body``, ``border.column_row``.
        """
        n, body, row = border.count[0], border.column_body, border.column_row
        loads = border.first_row.size > 0
        for c in range(n):
            body[:] = 0.0
            row[:] = 0.0
            push_along(border, border.upper, c, 1.0, body)
            solve(plan, ws, step, scratch, body, row)
            for r in range(n):
                border.block[r * n + c] += rate_along(border, border.lower, r, body)
            for r in range(n if loads else 0):
                for k in range(border.by_row.shape[1]):
                    border.block[r * n + c] += border.by_row[r, k] * row[border.first_row[r] + k]

    @njit
    def complete(plan, ws, border, step, scratch, body, row):
        """Add A^-1 U y to the solution ``body`` (nb, 6), ``row`` (nr,); ``scratch``: the one that ``solve`` takes.

        The product stays in ``border.column_body`` and ``border.column_row``.
        """
        column_body, column_row = border.column_body, border.column_row
        column_body[:] = 0.0
        column_row[:] = 0.0
        for r in range(border.count[0]):
            push_along(border, border.upper, r, border.y[r], column_body)
        solve(plan, ws, step, scratch, column_body, column_row)
        add_column(border, body, row)

    return couple, complete


@njit
def _solve(plan, ws, step, scratch, body, row):
    """Solve with A in place by the factors at hand, ``body`` (nb, 6), ``row`` (nr,), without a scratch."""
    solve_again(plan, ws, step, body, row)


_couple, _complete = bordered(_solve)


@indirect(seconds=1, what="steps with a border")
def solve_border(
    plan: Plan, ws: Workspace, border: Border, step: StepSpan, factored: bool, body: Float2, row: Float1
) -> None:
    """Complete x = A^-1 b in ``body`` (nb, 6), ``row`` (nr,) by a border, and write its ``y``.

    ``step``: as in `solve_again`. ``factored``: whether the last factors in ``border.block`` are used again.
    """
    n, y = border.count[0], border.y
    if n == 0:
        return
    if not factored:
        for r in range(n):
            for c in range(n):
                border.block[r * n + c] = 1.0 if r == c else 0.0
        _couple(plan, ws, border, step, border)
        pivoted_lu_factor(border.block, n, border.order, y)
    for r in range(n):
        y[r] = border.given[r] - rate_along(border, border.lower, r, body)
    for r in range(n if border.first_row.size > 0 else 0):
        for k in range(border.by_row.shape[1]):
            y[r] -= border.by_row[r, k] * row[border.first_row[r] + k]
    pivoted_lu_solve(border.block, n, border.order, y)
    _complete(plan, ws, border, step, border, body, row)


@njit
def solve_bordered(plan, ws, step, factored, body, row):
    """Solve Newton's system with its border in place, right-hand side and solution in ``body`` (nb, 6), ``row`` (nr,).

    As `solve_newton` between the poses of a ``step``, or, if ``factored``, as `solve_again`.
    """
    if factored:
        solve_again(plan, ws, step, body, row)
    else:
        solve_newton(plan, ws, body, row, step.upper, step.end)
    if ws.border.body.shape[0] > 0:
        solve_border(plan, ws, ws.border, step, factored, body, row)
