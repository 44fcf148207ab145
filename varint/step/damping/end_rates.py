"""Efforts of strong laws and resistances by rates towards the end of a step (choice.py says which these are).

With the lead a of an effort, its rate r in the middle and r_0 at the start of the step, it takes the rate
r + a (r - r_0): in the middle for a = 0, at the end for a = 1.
"""

from varint.base.numba import indirect, natural, njit
from varint.step.laws import law_effort
from varint.step.loads import RESISTANCE, differentiate_resistance, wrench_of
from varint.step.measures import measure_rate, weighted_measure
from varint.step.plan import Plan, Workspace

WHAT = "strong damping"


@indirect(seconds=1, what=WHAT)
def apply_ahead(plan: Plan, ws: Workspace, half_step: float) -> None:
    """Replace the efforts (ne,) of strong laws and the wrenches (loads, 6) of strong loads in a step.

    ``half_step``: half of it, s. After `evaluate_other_laws` and `evaluate_loads`. In ``ws.efforts``, whose
    ``sum_by_rate`` and ``law_by_rate`` become the derivatives by the mean rate at a fixed rate at the start; the
    derivatives by that rate go to ``ws.damping.by_start``.
    """
    work, damping = ws.efforts, ws.damping
    for place in range(plan.laws.other.size):
        s = natural(plan.laws.other[place])
        damping.by_start[s] = 0.0
        if leads(plan, ws, s):
            gained, by_rate = work.sum_rate[s] - damping.start_rate[s], 0.0
            damping.by_start[s] = -evaluate_ahead(plan, work, damping, s, gained, half_step)
            for f in range(plan.laws.sum_law[s], plan.laws.sum_law[s + 1]):
                work.law_by_rate[f] *= 1.0 + damping.lead[f]
                by_rate += work.law_by_rate[f]
            work.sum_by_rate[s] = by_rate
    for n in range(plan.loads.kind.size):
        if damping.load_lead[n] > 0.0:
            move_ahead(plan, damping, n, ws.velocity)
            push_ahead(plan, work, damping, n, work.rotation)


@njit
def evaluate_ahead(plan, work, damping, s, gained, span):
    """Evaluate the laws along sum s as `laws.evaluate_along`, each at the rate of the sum and its lead of ``gained``.

    ``gained``, m/s or rad/s; ``span``: see `law_effort`; ``damping.lead`` (laws,). Writes ``work.effort`` (ne,), of
    sums ``work.sum_effort`` and ``work.sum_by_value``, of laws ``work.law_by_value``; and ``work.sum_by_rate`` and
    ``work.law_by_rate``, derivatives by the rates at which the laws act. Returns that of the effort by ``gained``.
    """
    value, rate = work.sum_value[s], work.sum_rate[s]
    effort = by_value = by_rate = by_gained = 0.0
    for f in range(plan.laws.sum_law[s], plan.laws.sum_law[s + 1]):
        lead = damping.lead[f]
        of_law, own_by_value, own_by_rate = law_effort(plan, work, f, value, rate + lead * gained, span)
        work.effort[plan.laws.element[f]] = of_law
        work.law_by_value[f], work.law_by_rate[f] = own_by_value, own_by_rate
        effort, by_value, by_rate = effort + of_law, by_value + own_by_value, by_rate + own_by_rate
        by_gained += lead * own_by_rate
    work.sum_effort[s], work.sum_by_value[s], work.sum_by_rate[s] = effort, by_value, by_rate
    return by_gained


@njit
def push_ahead(plan, work, damping, n, rotation):
    """Evaluate load n, a resistance, at the velocities ``damping.ahead`` in place of the present ones.

    ``rotation`` (nb + 1, 3, 3), ``damping.ahead`` (nb, 6). Writes ``work.effort`` (ne,) and ``work.wrench`` (loads, 6).
    """
    e = plan.loads.element[n]
    work.effort[e] = wrench_of(plan, work, n, rotation, damping.ahead, work.input[e], work.wrench[n])


@njit
def leads(plan, ws, s):
    """Return whether a law along sum s, a number, has a lead."""
    for f in range(plan.laws.sum_law[s], plan.laws.sum_law[s + 1]):
        if ws.damping.lead[f] > 0.0:
            return True
    return False


@njit
def move_ahead(plan, damping, n, velocity):
    """Write the velocity by which load n acts to ``damping.ahead``; ``velocity`` (nb, 6): velocities in the middle."""
    i, lead = plan.loads.body[n], damping.load_lead[n]
    for k in range(6):
        damping.ahead[i, k] = velocity[i, k] + lead * (velocity[i, k] - damping.start[i, k])


@njit
def rates_at_start(plan, ws, pose):
    """Write the gradients and rates of the sums with a lead, at the pose ``pose`` of the start, to ``ws.damping``.

    These are ``ws.damping.gradient`` and ``ws.damping.start_rate``, by the velocities ``ws.damping.start``.
    """
    work, damping = ws.efforts, ws.damping
    for place in range(plan.laws.other.size):
        s, rate = natural(plan.laws.other[place]), 0.0
        for m in range(plan.laws.sum_first[s], plan.laws.sum_first[s + 1] if leads(plan, ws, s) else 0):
            near, gradient = work.value_near[m], damping.gradient[m]
            weighted_measure(plan, ws, m, near, ws.position[pose], ws.rotation[pose], gradient)
            rate += measure_rate(plan, m, gradient, damping.start)
        damping.start_rate[s] = rate


@njit
def rate_of_law(plan, ws, f, s):
    """Return the rate, m/s or rad/s, that law f along sum s takes in the step that was evaluated last."""
    rate = ws.efforts.sum_rate[s]
    if ws.damping.active[0] and ws.damping.lead[f] > 0.0:
        return rate + ws.damping.lead[f] * (rate - ws.damping.start_rate[s])
    return rate


@indirect(seconds=1, what=WHAT)
def differentiate_ahead(plan: Plan, ws: Workspace) -> None:
    """Replace the derivatives of strong loads by velocities: theirs change by more than the mean ones.

    In ``ws.efforts.wrench_by_velocity``.
    """
    damping = ws.damping
    for n in range(plan.loads.kind.size):
        if damping.load_lead[n] > 0.0 and plan.loads.kind[n] == RESISTANCE:
            by_velocity = ws.efforts.wrench_by_velocity[n, 0]
            by_velocity[:] = 0.0
            move_ahead(plan, damping, n, ws.velocity)
            differentiate_resistance(plan, n, damping.ahead, by_velocity)
            for a in range(6):
                for k in range(6):
                    by_velocity[a, k] *= 1.0 + damping.load_lead[n]
