"""Works and states of laws over a step of order 2, whose efforts act in its middle (middle.py)."""

import math

from varint.base.numba import natural, njit
from varint.step.laws import HAS_POTENTIAL, law_effort, law_potential
from varint.step.measures import weighted_value


@njit
def law_work(plan, ws, f, s, start, step):
    """Return the work of law f along sum s, J, in a ``step``, s, from the pose ``start`` on; after `sum_ends`.

    W_0 is the effort in the middle of the step, at zero rate, times the change of the sum over the step: so an effort
    that is constant does what its potential loses. W is W_0 and the rest of the effort, times the rate in the middle
    and the step. Of fused measures without a potential the change is that rate times the step, and a law with an
    internal variable has all of its effort in the rest.

    If the law has a potential, W_0 falls short of its decrease by an error e, which is large if the step is too long.
    Returned is W + sign(e) max(0, |e| - |W - W_0|): errors below the work of damping, W - W_0, are not corrected.
    """
    work = ws.efforts
    effort, value, rate = work.effort[natural(plan.laws.element[f])], work.sum_value[s], work.sum_rate[s]
    if plan.laws.state[f] >= 0:
        return step * effort * rate
    change, has_ends = step * rate, HAS_POTENTIAL[plan.laws.kind[f]] or not _is_fused(plan, s)
    if has_ends:
        change = work.sum_at[natural(1 - start), s] - work.sum_at[natural(start), s]
    at_rest = law_effort(plan, work, f, value, 0.0, 0.0)[0]
    done = at_rest * change + step * (effort - at_rest) * rate
    if not HAS_POTENTIAL[plan.laws.kind[f]]:
        return done
    before, after = (
        law_potential(plan, f, work.sum_at[start, s]),
        law_potential(plan, f, work.sum_at[natural(1 - start), s]),
    )
    missed, damped = before - after - at_rest * change, abs(done - at_rest * change)
    return done + math.copysign(max(0.0, abs(missed) - damped), missed)


@njit(inline="always")
def finish_laws(plan, ws, s, start, step):
    """Add a ``step``, s, from the pose ``start`` on to the works and states of the laws along sum s.

    ``start``: number of a pose, 0 or 1. Works ``ws.efforts.work`` (ne,), J, states ``ws.efforts.state`` (states,).
    """
    work = ws.efforts
    for number in range(plan.laws.sum_law[s], plan.laws.sum_law[s + 1]):
        f = natural(number)
        work.work[natural(plan.laws.element[f])] += law_work(plan, ws, f, s, start, step)
        state = plan.laws.state[f]
        if state >= 0:
            work.state[natural(state)] += step * work.flow[natural(state)]


@njit(inline="always")
def _is_fused(plan, s):
    """Return whether sum s belongs to an element of a beam, or to a path of a muscle."""
    return plan.measures.fused[natural(plan.laws.sum_first[s])]


@njit
def sum_ends(plan, ws, s, start, known):
    """Write ``sum_at`` of sum s where laws need it: at the pose ``start``, unless ``known``, and at 1 - ``start``.

    ``ws.efforts.sum_at`` (2, ns), m or rad, has a row for each pose; ``start``: number of a pose, 0 or 1.
    """
    work, matters = ws.efforts, not _is_fused(plan, s)
    for number in range(plan.laws.sum_law[s], plan.laws.sum_law[s + 1]):
        matters |= HAS_POTENTIAL[natural(plan.laws.kind[natural(number)])]
    for k in range(1 if known else 0, 2 if matters else 0):
        pose, near = start, work.value_near
        if k == 1:
            pose, near = natural(1 - start), work.value
        value, scratch = 0.0, ws.efforts.change
        for number in range(plan.laws.sum_first[s], plan.laws.sum_first[s + 1]):
            m = natural(number)
            term = weighted_value(plan, ws, m, near[m], ws.position[pose], ws.rotation[pose], scratch)
            value += plan.measures.weight[m] * term
        work.sum_at[pose, s] = value
