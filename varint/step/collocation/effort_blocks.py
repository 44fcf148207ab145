"""Derivatives of laws and loads in Newton's matrix of a collocation step (elimination.py).

Those of an effort along the coordinate of one link go to the pivots of this link, those of efforts with rows of their
own to the fills of closures (closures.py). Strong ones on one body: `end_rates.damp_blocks`.
"""

from varint.base.numba import natural, njit
from varint.mathematics.vectors import dot, rotate, turn_of, vector
from varint.step.collocation.closures import free_motion


@njit
def note_efforts(plan, ws, closures, rule, work, h, j):
    """Keep gradients (2, 6) of measures of efforts with a row of their own at node j, and efforts' derivatives."""
    own, last = work.closures, rule.weight.size - 1
    for s in range(plan.laws.sum_first.size - 1):
        for measure in range(plan.laws.sum_first[s], plan.laws.sum_first[s + 1]):
            m = natural(measure)
            r = plan.measures.row[m]
            if r < closures.rows[0] or own.held[r]:
                continue
            own.by_value[j, r] = h * rule.weight[j] * ws.efforts.sum_by_value[s]
            own.by_rate[j, r] = rule.weight[j] * ws.efforts.sum_by_rate[s]
            if work.ends.any[0]:
                work.ends.by_row[j, r] = rule.weight[j] * rule.lead[j] * work.ends.by_rate[s]
            if work.internal.by_row.shape[0] > 0:
                for k in range(last):
                    work.internal.by_row[r, j, k] = work.internal.by_sum[s, j, k]
            for side in range(2):
                for a in range(6):
                    own.gradient[j, r, side, a] = ws.efforts.gradient[m, side, a]
                    if j == last - 1:  # the end takes those of the node before: they are of the matrix alone
                        own.gradient[last, r, side, a] = ws.efforts.gradient[m, side, a]


@njit
def note_along(plan, ws, tree, rule, work, h, j):
    """Add derivatives of efforts along links at node j to ``work.stiff`` and ``work.damp`` (s, nl).

    After `evaluate_node`; ``h``: size of the step, s.
    """
    for s in range(tree.along.size):
        if tree.along[s] < 0:
            continue
        i, m = natural(tree.along[s]), natural(plan.laws.sum_first[s])
        side = natural(0 if plan.measures.body[m, 0] == tree.body[i] else 1)
        gradient, (line, turn) = ws.efforts.gradient[m, side], free_motion(tree, work, j, i)
        along = dot(line, vector(gradient)) + dot(turn, rotate(work.rotation[j, i], turn_of(gradient)))
        work.stiff[j, i] += h * rule.weight[j] * ws.efforts.sum_by_value[s] * along * along
        work.damp[j, i] += rule.weight[j] * ws.efforts.sum_by_rate[s] * along * along
        if work.ends.any[0]:
            work.ends.along[j, i] += rule.weight[j] * rule.lead[j] * work.ends.by_rate[s] * along * along
        if work.internal.by_link.shape[0] > 0:
            for k in range(work.internal.by_link.shape[2]):
                work.internal.by_link[i, j, k] += along * along * work.internal.by_sum[s, j, k]


@njit
def add_along(rule, work, i, q):
    """Add L, of the laws along the coordinate of link i, to the pivots ``work.E[i]`` (q, q).

    Of values and rates, of the leads of strong efforts, and through internal variables.
    """
    E, ends, internal = work.E[i], work.ends, work.internal
    for j in range(q):
        for k in range(q):
            E[j, k] += work.damp[j, i] * rule.slope[j, k + 1]
        if j > 0:
            E[j, j - 1] += work.stiff[j, i]
    for j in range(q if ends.any[0] else 0):
        for k in range(q):
            E[j, k] += ends.along[j, i] * rule.top[k + 1]
    for j in range(q if internal.by_link.shape[0] > 0 else 0):
        for k in range(q):
            E[j, k] += internal.by_link[i, j, k]
