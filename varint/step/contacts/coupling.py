"""Contacts between two moving bodies in Newton's system: a dense block beside the factors of all else.

With A the system of bodies, joints and contacts with the world, N the rows of the impulses and [lower, C] those of the
m contacts that touch (contacts/cones.py),

    (C + lower A^-1 N^T) dz = given - lower A^-1 b,      x = A^-1 (b + N^T dz)

each row is multiplied by C^-1, which is what is known. The columns A^-1 N^T come from the factors at hand: the LDU is
that of the mechanism without these contacts, and the block costs 3 m of its back-substitutions, and (3 m)^3 / 3.
"""

import math

from varint.base.numba import natural, njit
from varint.step.contacts.cones import is_coupled
from varint.step.contacts.features import rate_along
from varint.step.dense import add_scaled6, pivoted_lu_factor, pivoted_lu_solve
from varint.step.ldu import solve_again


@njit
def solve_coupled(plan, ws, step, factored, body, row):
    """Complete x = A^-1 b in ``body`` (nb, 6), ``row`` (nr,) by the contacts between moving bodies that touch.

    ``step``: as in `solve_again`. Their ``ws.contacts.change`` is dz. ``factored``: the block and the list of contacts
    of the last call are used again.
    """
    work = ws.contacts
    if work.coupled.size == 0:
        return
    if not factored:
        _factor_block(plan, ws, step)
    count, right = work.coupled_count[0], work.coupled_right
    if count == 0:
        return
    for m in range(count):
        k = work.coupled[m]
        _multiply(plan, work, k, body, work.given[k], -1.0, right, 3 * m)
    pivoted_lu_solve(work.coupled_block, 3 * count, work.coupled_order, right)
    _clear_column(work)
    for m in range(count):
        k = work.coupled[m]
        for a in range(3):
            work.change[k, a] = right[3 * m + a]
            _push(plan, work, k, a, right[3 * m + a])
    solve_again(plan, ws, step, work.column_body, work.column_row)
    for i in range(body.shape[0]):
        add_scaled6(body[i], 1.0, work.column_body[i])
    for r in range(row.size):
        row[r] += work.column_row[r]


@njit
def _clear_column(work):
    work.column_body[:] = 0.0
    work.column_row[:] = 0.0


@njit
def _push(plan, work, k, a, share):
    """Add a share of the impulse along row a of contact k to the column."""
    add_scaled6(work.column_body[plan.contacts.body[k]], share, work.upper[k, a])
    add_scaled6(work.column_body[plan.contacts.other[k]], share, work.upper[k, a, 6:])


@njit
def _multiply(plan, work, k, x, given, sign, out, at):
    """C^-1 (given + sign lower x) of contact k to ``out[at : at + 3]``."""
    lower, inverse = work.lower, work.inverse[k]
    first = given[0] + sign * rate_along(plan, lower, k, 0, x)
    second = given[1] + sign * rate_along(plan, lower, k, 1, x)
    third = given[2] + sign * rate_along(plan, lower, k, 2, x)
    for a in range(3):
        out[at + a] = inverse[a, 0] * first + inverse[a, 1] * second + inverse[a, 2] * third


@njit
def _factor_block(plan, ws, step):
    """Write and factor I + C^-1 lower A^-1 N^T of the contacts that touch, and list them."""
    work, count = ws.contacts, 0
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        if work.taking[k] and is_coupled(plan, work, k):
            if count == work.coupled.size:  # no space: NaN, with which no step is solved
                work.coupled_count[0], work.change[k, 0], ws.increment_body[0, 0] = 0, math.nan, math.nan
                return
            work.coupled[count] = k
            count += 1
    work.coupled_count[0] = count
    size, block = 3 * count, work.coupled_block
    nothing = (0.0, 0.0, 0.0)
    for column in range(size):
        _clear_column(work)
        _push(plan, work, work.coupled[column // 3], column % 3, 1.0)
        solve_again(plan, ws, step, work.column_body, work.column_row)
        for m in range(count):
            _multiply(plan, work, work.coupled[m], work.column_body, nothing, 1.0, work.coupled_right, 3 * m)
        for r in range(size):
            block[r * size + column] = work.coupled_right[r] + (1.0 if r == column else 0.0)
    pivoted_lu_factor(block, size, work.coupled_order, work.coupled_right)
