"""Hard contact with dry friction, linearised for Newton's method (docs/theory.md section 14).

With impulse z, N s, and velocity u of the contact point, m/s, and their normal and tangential components (n, t),

    u_n >= 0,  z_n >= 0,  u_n z_n = 0        |z_t| <= mu z_n,  z_t opposite to u_t if u_t is not zero

is the root of a function of z and u that is smooth within each of three modes (Alart, Curnier 1991). With s, which is
u_t turned as below, W, the mobility of the point, p_n = z_n - u_n / W and p_t = z_t - s / W,

    open      p_n < 0:                 z = 0
    sticking  |p_t| <= mu p_n:         u = 0
    sliding   else, c = p_t / |p_t|:   u_n = 0,  z_t = mu z_n c

s: u_t rotated to the mean slip direction before and after the node, which makes friction second order.

Arguments: ``k``, number of a contact; ``work``, ``ws.contacts``.
"""

import math

from varint.base.numba import indirect, natural, njit
from varint.step.dense import add_scaled6, dot6
from varint.step.plan import Plan, Workspace
from varint.step.sizes import length_unit

APART, STICKING, SLIDING = range(3)
AS_FOUND, ALL_STICK, ALL_APART, ALL_PRESS = range(4)  # whether the law chooses the modes
SOFTNESS = 1e-8  # compliance of constraint rows over the mobility; acts on increments of z, so no error remains
SOFTER = 1e-5  # of redundant points that slide: what gaps miss of each other, over the compliance, moves their impulses
NEARLY = 1.0 - 1e-10  # of its bound: friction below this sticks; it also keeps C invertible
STILL = 1e-9  # m/s, times `length_unit`: a slower slip is round-off, and has no direction
OPPOSITE = 0.05  # two unit vectors with a shorter sum count as opposite


@njit
def turned_slip(slip, before, brake):
    """Return s, ``slip`` (2,) rotated to the mean direction of it and ``before`` (2,), and whether it was rotated.

    ``brake``: slip that friction removes in a step, m/s. Where ``before`` is no larger, s is ``slip`` itself, as the
    mean would oscillate from step to step; and where the two are nearly opposite.
    """
    x, y = slip[0], slip[1]
    size, size_before = math.sqrt(x * x + y * y), math.sqrt(before[0] * before[0] + before[1] * before[1])
    if size == 0.0 or size_before <= brake:
        return (x, y), False
    # both vectors at the length of their product: their sum has the mean direction
    a, b = x * size_before + before[0] * size, y * size_before + before[1] * size
    length = math.sqrt(a * a + b * b)
    if length < OPPOSITE * size * size_before:
        return (x, y), False
    share = size / length
    return (share * a, share * b), True


@njit
def growth_of_slip(slip, turned, is_turned):
    """Return ds/dslip (4,), row-major, of s = ``turned`` (2,) as `turned_slip` returns it.

    ``slip`` (2,): u_t, m/s; ``is_turned``: whether s was rotated. A change along the slip scales s; a change across it
    rotates s by half the rotation of the slip.
    """
    if not is_turned:
        return 1.0, 0.0, 0.0, 1.0
    size = math.sqrt(slip[0] * slip[0] + slip[1] * slip[1])
    a, b, c, d = slip[0] / size, slip[1] / size, turned[0] / size, turned[1] / size
    return c * a + 0.5 * d * b, c * b - 0.5 * d * a, d * a - 0.5 * c * b, d * b + 0.5 * c * a


@njit(inline="always")
def _copy_row(row, to, two):
    """Copy ``row`` (12,) of a contact to ``to`` (12,): the columns of its first body, or of ``two``."""
    for j in range(6):
        to[j] = row[j]
    for j in range(6, 12 if two else 6):
        to[j] = row[j]


@njit(inline="always")
def _clear_row(row, two):
    """Set a row (12,) of a contact to zero, of its first body or of ``two``."""
    for j in range(6):
        row[j] = 0.0
    for j in range(6, 12 if two else 6):
        row[j] = 0.0


@njit
def _has_given_friction(work, k, friction):
    """Return whether contact k has no friction, or friction along a given direction.

    Its tangential impulse is then a multiple of the normal one. ``work.direction`` (nk, 2): the given directions, zero
    for none. ``friction``: coefficient of friction, times ``work.share``.
    """
    return friction == 0.0 or work.direction[k, 0] != 0.0 or work.direction[k, 1] != 0.0


@njit
def weigh_cone(plan, ws, k, forced):
    """Write mode, ``pressing`` and residual ``given`` of the law of contact k; return its square, (m/s)^2.

    ``z``, ``rate`` (nk, 3) of ``ws.contacts``: impulses, N s, and rates, m/s. ``given`` (nk, 3): right side of
    `write_cone`. ``forced``: AS_FOUND, or ALL_STICK, ALL_APART, to assume that it does, or ALL_PRESS, that it touches
    and sticks where it does not slip. Counts a change of the mode in ``changes``.
    """
    work, mobility = ws.contacts, plan.contacts.mobility[k]
    z, u, right, before, mass = work.z[k], work.rate[k], work.given[k], work.mode[k], 1.0 / mobility
    friction = plan.contacts.friction[k] * work.share[0]
    pressing = z[0] - u[0] * mass if forced != ALL_PRESS else 0.0
    work.pressing[k] = pressing
    if forced == ALL_APART or (pressing < 0.0 and forced == AS_FOUND):
        work.mode[k] = APART
        work.changes[0] += before != APART
        right[0], right[1], right[2] = -z[0], -z[1], -z[2]
        return mobility * mobility * (z[0] * z[0] + z[1] * z[1] + z[2] * z[2])
    right[0] = -u[0]
    if _has_given_friction(work, k, friction):
        work.mode[k] = SLIDING
        work.changes[0] += before != SLIDING
        right[1] = -friction * z[0] * work.direction[k, 0] - z[1]
        right[2] = -friction * z[0] * work.direction[k, 1] - z[2]
        return u[0] * u[0] + mobility * mobility * (right[1] * right[1] + right[2] * right[2])
    slip, _ = turned_slip(u[1:], work.slip[k], mobility * friction * max(pressing, 0.0))
    p, q = z[1] - slip[0] * mass, z[2] - slip[1] * mass
    size = math.sqrt(p * p + q * q)
    still = forced == ALL_PRESS and abs(u[1]) + abs(u[2]) <= STILL * length_unit(plan)
    if size <= NEARLY * friction * pressing or still or forced == ALL_STICK or work.sticking[k]:
        work.mode[k] = STICKING
        work.changes[0] += before != STICKING
        right[1], right[2] = -u[1], -u[2]
        return u[0] * u[0] + u[1] * u[1] + u[2] * u[2]
    work.mode[k] = SLIDING
    work.changes[0] += before != SLIDING
    share = friction * z[0] / size
    right[1], right[2] = share * p - z[1], share * q - z[2]
    return u[0] * u[0] + mobility * mobility * (right[1] * right[1] + right[2] * right[2])


@njit
def write_cone(plan, ws, k):
    """Write the rows of contact k in Newton's system, lower dx + C dz = given, and ``inverse`` = C^-1.

    ``lower`` (nk, 3, 12) and ``inverse`` (nk, 3, 3) of ``ws.contacts`` are written. ``row``, ``rate``, ``mode`` and
    ``pressing`` are those of the last `weigh_cone`.
    """
    work, mobility, mode = ws.contacts, plan.contacts.mobility[k], ws.contacts.mode[k]
    row, lower, inverse = work.row[k], work.lower[k], work.inverse[k]
    friction, soft = plan.contacts.friction[k] * work.share[0], (SOFTER if work.softened[0] else SOFTNESS) * mobility
    two = plan.contacts.other[k] != plan.bodies.mass.size
    for a in range(3):
        inverse[a, 0] = inverse[a, 1] = inverse[a, 2] = 0.0
    if mode == APART:
        for a in range(3):
            inverse[a, a] = 1.0
            _clear_row(lower[a], two)
        return
    inverse[0, 0] = 1.0 / soft
    _copy_row(row[0], lower[0], two)
    if mode == STICKING:
        for a in range(1, 3):
            inverse[a, a] = 1.0 / soft
            _copy_row(row[a], lower[a], two)
        return
    if _has_given_friction(work, k, friction):
        for a in range(1, 3):
            _clear_row(lower[a], two)
            inverse[a, a] = 1.0
            inverse[a, 0] = -friction * work.direction[k, a - 1] * inverse[0, 0]
        return
    z, u, pressing = work.z[k], work.rate[k], work.pressing[k]
    slip, is_turned = turned_slip(u[1:], work.slip[k], mobility * friction * max(pressing, 0.0))
    growth = growth_of_slip(u[1:], slip, is_turned)
    p, q = z[1] - slip[0] / mobility, z[2] - slip[1] / mobility
    size = math.sqrt(p * p + q * q)
    c, d = p / size, q / size
    share = min(max(friction * pressing, 0.0) / size, NEARLY)
    # tangential, Q = I - c c^T: lower = share Q ds/du row / W, C = I - share Q, and -mu c in the column of z_n
    for j in range(12 if two else 6):
        s0 = growth[0] * row[1, j] + growth[1] * row[2, j]
        s1 = growth[2] * row[1, j] + growth[3] * row[2, j]
        across = share * (c * s1 - d * s0) / mobility
        lower[1, j], lower[2, j] = -d * across, c * across
    stretch = share / (1.0 - share)
    inverse[1, 1], inverse[1, 2] = 1.0 + stretch * d * d, -stretch * c * d
    inverse[2, 1], inverse[2, 2] = -stretch * c * d, 1.0 + stretch * c * c
    inverse[1, 0], inverse[2, 0] = friction * c / soft, friction * d / soft


@njit
def is_coupled(plan, work, k):
    """Return whether contact k, which takes part, has rows between two moving bodies in Newton's system.

    It has none while its ``work.mode`` (nk,) is APART.
    """
    return plan.contacts.other[k] != plan.bodies.mass.size and work.mode[k] != APART


@njit
def fold_cones(plan, ws, body, factored):
    """Condense the contacts: D += N^T C^-1 lower, unless ``factored``, and ``body`` (nb, 6) += N^T C^-1 given.

    N is ``upper``, D is ``ws.ldu.D``. If ``factored``, the rows of the last factorisation are used again. Contacts
    between two moving bodies that touch have rows in the border instead, with C^-1 given in ``ws.border.given``.
    """
    work = ws.contacts
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        if not work.taking[k]:
            continue
        i, upper, lower, inverse, right = (
            natural(plan.contacts.body[k]),
            work.upper[k],
            work.lower[k],
            work.inverse[k],
            work.given[k],
        )
        if not factored:
            write_cone(plan, ws, k)
        if is_coupled(plan, work, k):
            continue
        for a in range(3):
            push = inverse[a, 0] * right[0] + inverse[a, 1] * right[1] + inverse[a, 2] * right[2]
            add_scaled6(body[i], push, upper[a])
            if plan.contacts.other[k] != plan.bodies.mass.size:
                add_scaled6(body[plan.contacts.other[k]], push, upper[a, 6:])
        if factored or work.mode[k] == APART:
            continue
        D = ws.ldu.D[i]
        s, t, u = _condensed(inverse[0], lower), _condensed(inverse[1], lower), _condensed(inverse[2], lower)
        for m in range(6):
            e, f, g = upper[0, m], upper[1, m], upper[2, m]
            for j in range(6):
                D[m, j] = ((D[m, j] + e * s[j]) + f * t[j]) + g * u[j]
    if work.coupled.size > 0:
        if not factored:
            _write_border(plan, ws)
        for m in range(work.coupled_count[0]):
            k, first = work.coupled[m], work.coupled_row[0] + 3 * m
            for a in range(3):
                inverse, right = work.inverse[k, a], work.given[k]
                ws.border.given[first + a] = inverse[0] * right[0] + inverse[1] * right[1] + inverse[2] * right[2]


@njit
def _write_border(plan, ws):
    """List the contacts between moving bodies that touch, and add their rows to the border: N, and C^-1 lower.

    Writes ``ws.contacts.coupled``, ``coupled_count`` and ``coupled_row``, and three rows each of ``ws.border.body``,
    ``ws.border.upper`` and ``ws.border.lower``; adds to ``ws.border.count``. Where there is no space for all of them a
    row becomes NaN, so that the step is not solved.
    """
    work, border, count = ws.contacts, ws.border, 0
    work.coupled_row[0] = border.count[0]
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        if not (work.taking[k] and is_coupled(plan, work, k)):
            continue
        if count == work.coupled.size:  # no space: NaN, with which no step is solved
            border.upper[work.coupled_row[0], 0, 0] = math.nan
            break
        work.coupled[count] = k
        for a in range(3):
            r = border.count[0] + 3 * count + a
            lower, e, f, g = work.lower[k], work.inverse[k, a, 0], work.inverse[k, a, 1], work.inverse[k, a, 2]
            for s in range(border.body.shape[1]):
                border.body[r, s] = plan.bodies.mass.size
            border.body[r, 0], border.body[r, 1] = plan.contacts.body[k], plan.contacts.other[k]
            for c in range(12):
                border.upper[r, c // 6, c % 6] = work.upper[k, a, c]
                border.lower[r, c // 6, c % 6] = e * lower[0, c] + f * lower[1, c] + g * lower[2, c]
        count += 1
    work.coupled_count[0] = count
    border.count[0] += 3 * count


@njit
def _condensed(share, lower):
    """Combine the rows ``lower`` (3, 12) of the first body by the shares (3,)."""
    e, f, g = share[0], share[1], share[2]
    return (
        e * lower[0, 0] + f * lower[1, 0] + g * lower[2, 0],
        e * lower[0, 1] + f * lower[1, 1] + g * lower[2, 1],
        e * lower[0, 2] + f * lower[1, 2] + g * lower[2, 2],
        e * lower[0, 3] + f * lower[1, 3] + g * lower[2, 3],
        e * lower[0, 4] + f * lower[1, 4] + g * lower[2, 4],
        e * lower[0, 5] + f * lower[1, 5] + g * lower[2, 5],
    )


@indirect(seconds=1, what="contacts")
def unfold_cones(plan: Plan, ws: Workspace) -> None:
    """Back-substitute x = ``ws.increment_body`` (nb, 6).

    ``ws.contacts.change`` (nk, 3) is C^-1 (given - lower x), or what the border found.
    """
    work = ws.contacts
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        if not work.taking[k] or is_coupled(plan, work, k):
            continue
        x, lower, inverse = ws.increment_body[natural(plan.contacts.body[k])], work.lower[k], work.inverse[k]
        left_n = work.given[k, 0] - dot6(lower[0], x)
        left_t = work.given[k, 1] - dot6(lower[1], x)
        left_s = work.given[k, 2] - dot6(lower[2], x)
        for a in range(3):
            work.change[k, a] = inverse[a, 0] * left_n + inverse[a, 1] * left_t + inverse[a, 2] * left_s
    for m in range(work.coupled_count[0] if work.coupled.size > 0 else 0):
        for a in range(3):
            work.change[work.coupled[m], a] = ws.border.y[work.coupled_row[0] + 3 * m + a]


@njit
def add_changes(ws, share):
    """Add ``share`` times their changes to the impulses ``ws.contacts.z`` (nk, 3) of the contacts that take part."""
    work = ws.contacts
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        for a in range(3 if work.taking[k] else 0):
            work.z[k, a] += share * work.change[k, a]


@njit
def add_pushes(plan, ws, factor, body):
    """Add ``factor`` times the wrenches of the impulses of active contacts to ``body`` (nb, 6)."""
    work = ws.contacts
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        if work.taking[k]:
            add_push(plan, ws, k, factor, body)


@njit
def add_push(plan, ws, k, factor, body):
    """Add ``factor`` times the wrenches of the impulses of contact k to ``body`` (nb, 6)."""
    work, i, j = ws.contacts, natural(plan.contacts.body[k]), natural(plan.contacts.other[k])
    push = factor * work.z[k, 0], factor * work.z[k, 1], factor * work.z[k, 2]
    _add_push(push, work.upper[k], 0, body[i])
    if j != plan.bodies.mass.size:
        _add_push(push, work.upper[k], 6, body[j])


@njit
def _add_push(push, upper, at, wrench):
    """Add the impulses (3,) along the rows ``upper`` (3, 12) to the ``wrench`` (6,) on the body at column ``at``."""
    for m in range(6):
        first, second, third = upper[0, at + m], upper[1, at + m], upper[2, at + m]
        wrench[m] = ((wrench[m] + push[0] * first) + push[1] * second) + push[2] * third
