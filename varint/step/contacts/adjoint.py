"""Gradients back through contacts, by the implicit derivative of their law (docs/theory.md section 14).

With the states of the contacts held, the law is a smooth function F(u, z, b) of rates, impulses and the slip b before a
step. Impulses count here times the mobility W, in m/s:

    open      W z                             sticking  u
    sliding   u_n,  W (z_t - mu z_n c)        c of p_t = z_t - s / W, s the slip turned by b, see contacts/cones.py

To the transposed system of all else, A^T x = g, the contacts add the duals y of F with the rows L of u and N of z:

    A^T x + L^T F_u^T y = g,      F_z^T y = N x        (F_z^T + N A^-T L^T F_u^T) y = N A^-T g

a dense system of the contacts that touch, a border of the transposed system. With redundant contacts
it is singular: harmless if g does not depend on how they share the load, which the residual shows.

Arguments: ``k``, number of a contact; ``step``, a `StepSpan`; ``work``, ``ws.contacts``; ``tangent``, a `Tangent`, and
``border``, its `Border`, with row 3 m + a for component a of contact ``ws.contacts.inside[m]``; ``body`` (nb, 6) and
``row`` (nr,), the parts of x.
"""

import math

from varint.base.numba import njit
from varint.mathematics.vectors import ZERO, dot, vector
from varint.step.border import add_column, bordered, rate_along
from varint.step.contacts.changes import UnitMotion, body_of_side, frame_of, move_points, push_change
from varint.step.contacts.cones import APART, SLIDING, STICKING, growth_of_slip, turned_slip
from varint.step.contacts.features import feature_of
from varint.step.dense import add_scaled6, rank_lu_factor, rank_lu_solve
from varint.step.derivatives.refine import refine_transposed
from varint.step.ldu import solve_again

LEFT = 1e-6  # residual over the right-hand side, above which g depends on forces that nothing determines
LEAST_SHARE = 1e-4  # of the terms of right-hand sides: less of one counts as so much
NOBODY = -1


@njit
def slip_place(ws, k):
    """Return the place of the slip (3,) of contact k, world, among the numbers that a stage hands on."""
    return ws.efforts.state.size + 3 * k


@njit
def list_touching(plan, ws, modes, carried):
    """List the contacts that count in ``ws.contacts.inside``, and return their number: writes their numbers in order.

    These take part and are not open by their ``modes`` (nk,). Open ones count too where ``carried`` (ns + 3 nk,), the
    gradient by what the stage hands on, has a part by their slip. NOBODY where they are more than it holds:
    `undetermined` has the first of these then, and a minus.
    """
    work, count = ws.contacts, 0
    for k in range(plan.contacts.body.size):
        at = slip_place(ws, k)
        open_now = modes[k] == APART and carried[at] == 0.0 and carried[at + 1] == 0.0 and carried[at + 2] == 0.0
        if open_now or not work.taking[k]:
            continue
        if count == work.inside.size:
            work.undetermined[0] = -(k + 1)
            return NOBODY
        work.inside[count] = k
        count += 1
    return count


@njit
def sliding_terms(plan, work, k):
    """Return terms of a contact that slides along no given direction: c, friction over |p_t|, F_b (row-major), ds/du.

    c: (2,), along the two directions across the normal; F_b, ds/du: (4,), row-major. ``work``: ``ws.contacts``.
    """
    mu, mobility = plan.contacts.friction[k], plan.contacts.mobility[k]
    z, u, before = work.z[k], work.rate[k], work.slip[k]
    brake = mobility * mu * max(z[0] - u[0] / mobility, 0.0)
    slip, is_turned = turned_slip(u[1:], before, brake)
    growth = growth_of_slip(u[1:], slip, is_turned)
    p, q = z[1] - slip[0] / mobility, z[2] - slip[1] / mobility
    size = math.sqrt(p * p + q * q)
    c, d, share = 0.0, 0.0, 0.0
    if size > 0.0:
        c, d, share = p / size, q / size, mu * z[0] / size
    by_before, length = (0.0, 0.0, 0.0, 0.0), math.sqrt(before[0] ** 2 + before[1] ** 2)
    moving = math.sqrt(slip[0] ** 2 + slip[1] ** 2)
    if is_turned and moving > 0.0:
        # a change of the slip before across itself rotates s by half of its own rotation
        e, f = -before[1] / length, before[0] / length
        turn = 0.5 * share / length * (slip[0] * c + slip[1] * d)  # s is along -c, so Q (-s_y, s_x) = (s.c) (-d, c)
        by_before = -turn * d * e, -turn * d * f, turn * c * e, turn * c * f
    return (c, d), share, by_before, growth


@njit
def is_given(work, k):
    """Return whether contact k has a given direction of slip, as at nodes."""
    return work.direction[k, 0] != 0.0 or work.direction[k, 1] != 0.0


@njit
def write_law(plan, ws, k):
    """Write F_u to ``ws.contacts.inverse`` and F_z / W to ``by_impulse`` (3, 3) of contact k."""
    work, mu = ws.contacts, plan.contacts.friction[k]
    by_rate, by_impulse, along = work.inverse[k], work.by_impulse[k], work.direction[k]
    for a in range(3):
        for b in range(3):
            by_rate[a, b] = by_impulse[a, b] = 0.0
    if work.mode[k] == APART:
        for a in range(3):
            by_impulse[a, a] = 1.0
        return
    by_rate[0, 0] = 1.0
    if work.mode[k] == STICKING:
        by_rate[1, 1] = by_rate[2, 2] = 1.0
        return
    by_impulse[1, 1] = by_impulse[2, 2] = 1.0
    if is_given(work, k) or mu == 0.0:
        by_impulse[1, 0], by_impulse[2, 0] = mu * along[0], mu * along[1]
        return
    (c, d), share, _, growth = sliding_terms(plan, work, k)
    by_impulse[1, 0], by_impulse[2, 0] = -mu * c, -mu * d
    by_impulse[1, 1] -= share * d * d
    by_impulse[1, 2] = by_impulse[2, 1] = share * c * d
    by_impulse[2, 2] -= share * c * c
    first, second = c * growth[2] - d * growth[0], c * growth[3] - d * growth[1]  # of (-d, c) . ds/du
    by_rate[1, 1], by_rate[1, 2] = -share * d * first, -share * d * second
    by_rate[2, 1], by_rate[2, 2] = share * c * first, share * c * second


@njit
def add_dual_rows(plan, ws, rows, k, share, body):
    """Add the rows of contact k times their shares to the vectors ``body`` (nb, 6) of its bodies.

    That is sum_a ``share[a]`` ``rows[k, a]``: ``rows`` (nk, 3, 12), ``share`` (3,).
    """
    for side in range(2):
        i = body_of_side(plan, k, side)
        if i < plan.bodies.mass.size:
            for a in range(3):
                add_scaled6(body[i], share[a], rows[k, a, 6 * side : 6 * side + 6])


@njit
def _solve_transposed(plan, ws, step, tangent, body, row):
    """Solve the transposed system of all else in place; a ``step`` of no size is that of a node.

    ``body`` (nb, 6), ``row`` (nr,): right-hand side, replaced by the solution.
    """
    if step.h == 0.0:
        solve_again(plan, ws, step, body, row)
        return
    spare = (tangent.body[1], tangent.row[1]), (tangent.body[2], tangent.row[2]), (tangent.body[3], tangent.row[3])
    refine_transposed(plan, ws, step, body, row, tangent.left, spare)


_couple, _complete = bordered(_solve_transposed)


@njit
def _write_border(plan, ws, border, count):
    """Write the rows of the duals y to a border: U = -L^T F_u^T, V = -N / W, and F_z^T / W to its block.

    ``count``: number of contacts that touch. U^T and V are ``border.upper`` and ``border.lower``, of the bodies
    ``border.body``; ``border.block`` is (3 count, 3 count), row-major.
    """
    work, n = ws.contacts, 3 * count
    border.count[0] = n
    for j in range(n):
        k, a = work.inside[j // 3], j % 3
        by_rate = work.inverse[k, a]
        for s in range(2):
            border.body[j, s] = body_of_side(plan, k, s)
        for c in range(12):
            across = by_rate[0] * work.row[k, 0, c] + by_rate[1] * work.row[k, 1, c] + by_rate[2] * work.row[k, 2, c]
            border.upper[j, c // 6, c % 6] = -across
            border.lower[j, c // 6, c % 6] = -work.upper[k, a, c] / plan.contacts.mobility[k]
        for i in range(n):
            border.block[i * n + j] = work.by_impulse[k, a, i % 3] if i // 3 == j // 3 else 0.0


@njit
def _add_given(plan, ws, border, step, tangent, body, row):
    """Add A^-T L^T ``given`` to x, of the contacts that touch.

    x: ``body`` (nb, 6), ``row`` (nr,). ``given`` (nk, 3): of ``ws.contacts``. ``border.column_body`` and
    ``border.column_row`` are scratch.
    """
    work, count = ws.contacts, border.count[0] // 3
    border.column_body[:] = 0.0
    border.column_row[:] = 0.0
    for m in range(count):
        add_dual_rows(plan, ws, work.row, work.inside[m], work.given[work.inside[m]], border.column_body)
    _solve_transposed(plan, ws, step, tangent, border.column_body, border.column_row)
    add_column(border, body, row)


@njit
def solve_duals(plan, ws, tangent, step, count, body, row):
    """Complete x = A^-T g in ``body`` (nb, 6), ``row`` (nr,) by the ``count`` contacts of `list_touching`.

    ``ws.contacts.row`` is L. Of each contact ``change`` (3,) is y, and ``given`` (3,), which holds the gradient by its
    rates before, that gradient less F_u^T y. ``step``: a `StepSpan`, of factors at hand; h = 0 at a node. Writes
    ``tangent.border.y`` and the rest of that border.
    """
    work, border, size = ws.contacts, tangent.border, 0.0
    _write_border(plan, ws, border, count)
    _couple(plan, ws, border, step, tangent)
    _add_given(plan, ws, border, step, tangent, body, row)
    for r in range(3 * count):
        border.y[r] = -rate_along(border, border.lower, r, body)
        for s in range(2):
            i = border.body[r, s]
            for c in range(6 if i < body.shape[0] else 0):
                size = max(size, abs(border.lower[r, s, c] * body[i, c]))
    _factor_and_solve(plan, ws, border, LEAST_SHARE * size)
    for m in range(count):
        k = work.inside[m]
        for a in range(3):
            work.change[k, a] = border.y[3 * m + a]
        for b in range(3):
            for a in range(3):
                work.given[k, b] -= work.inverse[k, a, b] * work.change[k, a]
    _complete(plan, ws, border, step, tangent, body, row)


@njit
def _factor_and_solve(plan, ws, border, least):
    """Solve for the duals in place; note in the workspace where the contacts are redundant, and where that matters.

    ``border.y`` (3 count,): right-hand side, replaced by the duals of the contacts that touch. ``ws.contacts.hits`` is
    then 1 for the contacts whose friction has no derivative. ``least``: what counts as nothing.
    """
    work, n, order = ws.contacts, border.count[0], ws.contacts.back_order
    block, right, count = work.inside_block, border.y, n // 3
    ones, scratch = work.inside_rows[2][:n], work.inside_rows[3]
    for i in range(n):
        ones[i] = 1.0
    for i in range(n * n):
        block[i] = border.block[i]
    rank = rank_lu_factor(block, 0, n, n, ones, order[0, :n], order[1, :n])[0]
    if rank == n:
        rank_lu_solve(block, 0, n, n, rank, ones, order[0, :n], order[1, :n], right[:n], scratch)
        return
    work.redundant[0] += 1
    if _is_open(ws, border, rank, right, least):
        work.undetermined[0] = work.inside[0] + 1
    for m in range(n):
        least = max(least, LEAST_SHARE * abs(right[m]))
    for first in range(count):
        element, load = plan.contacts.element[work.inside[first]], work.inside_rows[4]
        if first > 0 and plan.contacts.element[work.inside[first - 1]] == element:
            continue
        for m in range(count):  # the gradient by friction, of the normal forces, which nothing may determine
            k = work.inside[m]
            along = friction_direction(plan, work, k)
            load[3 * m] = load[3 * m + 1] = load[3 * m + 2] = 0.0
            if plan.contacts.element[k] == element:
                load[3 * m] = right[3 * m + 1] * along[0] + right[3 * m + 2] * along[1]
        if _is_open(ws, border, rank, load, least):
            for k in range(plan.contacts.element.size):
                work.hits[k] = 1 if plan.contacts.element[k] == element else work.hits[k]


@njit
def _is_open(ws, border, rank, right, least):
    """Replace ``right`` by the basic solution of the factored system; return whether a residual remains.

    ``right`` (3 count,): right-hand side, of the contacts that touch. ``rank``: of the factored system. The residual
    counts relative to the largest of ``right``, or to ``least`` if that is larger. ``ws.contacts.inside_rows`` is
    scratch.
    """
    work, order, n, largest = ws.contacts, ws.contacts.back_order, border.count[0], least
    block, original = work.inside_block, work.inside_rows[1]
    for i in range(n):
        original[i] = right[i]
        largest = max(largest, abs(right[i]))
    ones = work.inside_rows[2][:n]
    rank_lu_solve(block, 0, n, n, rank, ones, order[0, :n], order[1, :n], right[:n], work.inside_rows[3])
    for i in range(n):
        left = -original[i]
        for j in range(n):
            left += border.block[i * n + j] * right[j]
        if not abs(left) <= LEFT * largest:
            return True
    return False


@njit
def friction_direction(plan, work, k):
    """Return the direction (2,) of the friction on contact k along its frame; zero where it does not slide."""
    if work.mode[k] != SLIDING:
        return 0.0, 0.0
    if is_given(work, k) or plan.contacts.friction[k] == 0.0:
        return -work.direction[k, 0], -work.direction[k, 1]
    return sliding_terms(plan, work, k)[0]


@njit
def slip_back(plan, ws, k, pose, by_before, carried, state):
    """Add the gradient ``by_before`` (2,), by the slip of contact k before a step, along its frame, to ``carried``.

    ``carried`` (ns + 3 nk,): by what the stage was handed. To ``state`` (nb, :6) goes the gradient by the pose, at
    which the frame is.
    """
    if by_before[0] == 0.0 and by_before[1] == 0.0:
        return
    work, at = ws.contacts, slip_place(ws, k)
    n, s, t = frame_of(plan, ws, k)
    for m in range(3):
        carried[at + m] += by_before[0] * s[m] + by_before[1] * t[m]
    f = feature_of(plan, k)
    before = vector(work.slip_vector[f]) if f >= 0 else ZERO
    frame_back(plan, ws, k, pose, (-by_before[0] * dot(n, before), -by_before[1] * dot(n, before)), state)


@njit
def frame_back(plan, ws, k, pose, share, state):
    """Add sum_a ``share[a]`` t_a . dn by the motions of the bodies at a pose to ``state`` (nb, :6)."""
    if feature_of(plan, k) < 0 or (share[0] == 0.0 and share[1] == 0.0):
        return
    _, s, t = frame_of(plan, ws, k)
    for side in range(2):
        i = body_of_side(plan, k, side)
        for c in range(6 if i < plan.bodies.mass.size else 0):
            dn = move_points(plan, ws, pose, k, side, c)[0]
            state[i, c] += share[0] * dot(s, dn) + share[1] * dot(t, dn)


@njit
def pushes_back(plan, ws, pose, k, share, vectors, state):
    """Add the gradient of `push_change` by the motions of the bodies of contact k to ``state`` (nb, :6)."""
    for side in range(2):
        i = body_of_side(plan, k, side)
        for c in range(6 if i < plan.bodies.mass.size else 0):
            state[i, c] += push_change(plan, ws, pose, k, share, vectors, UnitMotion(side, c))
