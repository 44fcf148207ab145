"""HELD rows: coordinates of joints, or weighted sums of them, kept at an aim (docs/theory.md section 12)."""

from varint._numba import njit
from varint.kernels.gauges import gauge_at, on_from


@njit
def begin_held(plan, ws, pose):
    """At the start of a run: count turns from here, those of driven rows from their aim; keep sums as they are here."""
    for h in range(plan.held_row.size):
        first = plan.held_row[h]
        for r in range(first, first + max(1, plan.row_chain[first])):
            ws.row_near[r] = ws.row_aim[r]
    follow_held(plan, ws.position[pose], ws.rotation[pose], ws.row_near, ws.gauge_gradient[0])
    for h in range(plan.held_row.size):
        if plan.held_driven[h] == 0:
            first, total = plan.held_row[h], 0.0
            for r in range(first, first + max(1, plan.row_chain[first])):
                total += plan.gauge_weight[plan.row_gauge[r]] * ws.row_near[r]
            ws.row_aim[first] = total


@njit
def follow_held(plan, position, rotation, near, gradient):
    """Take the values of the gauges at a pose into ``near`` (nr,); ``gradient`` (2, 6): scratch."""
    for h in range(plan.held_row.size):
        first = plan.held_row[h]
        for r in range(first, first + max(1, plan.row_chain[first])):
            e = plan.row_gauge[r]
            near[r] = on_from(plan.gauge_kind[e], near[r], gauge_at(plan, e, position, rotation, gradient[0], gradient))


@njit
def aim_held(plan, ws, commands, rates, first_node, node, share, dt):
    """Aims at ``node + share`` from those at nodes and their rates (T, nf), T = 1: constant; cubics in between.

    Their rates go to ``ws.increment_row``.
    """
    for h in range(plan.held_row.size):
        if plan.held_driven[h] == 0:
            continue
        r, f = plan.held_row[h], plan.held_law[h]
        left = right = 0
        if commands.shape[0] > 1:
            left = node - first_node
            right = min(left + 1, commands.shape[0] - 1)
        a, b, s = commands[left, f], commands[right, f], share
        p, q = dt * rates[left, f], dt * rates[right, f]
        # from the left by p s, what is missing to b and q by s^2 and s^3
        c, d = 3.0 * (b - a) - 2.0 * p - q, 2.0 * (a - b) + p + q
        ws.row_aim[r] = b if s == 1.0 else a + s * (p + s * (c + s * d))
        ws.increment_row[r] = (p + s * (2.0 * c + 3.0 * s * d)) / dt


@njit
def pass_held(plan, ws, pose):
    """After a step to ``pose``: the work of its impulses, at the rate where they act, then the rates at its end."""
    for h in range(plan.held_row.size):
        r = plan.held_row[h]
        ws.work[plan.held_law[h]] += ws.multiplier[r] * ws.row_rate[r]
        if plan.held_driven[h]:
            ws.row_rate[r] = ws.increment_row[r]
    follow_held(plan, ws.position[pose], ws.rotation[pose], ws.row_near, ws.gauge_gradient[0])
