"""Hard limits as data: compiled, sized, copied, and named by the events of a run."""

import numpy as np

from varint.base.numba import allocate
from varint.step.limits.records import LimitNumbers, Limits
from varint.step.limits.rows import place_limits


def plan_parts(roles, places):
    """Return the limits as a part of a plan, by its name.

    ``roles``: `Roles` of the elements; ``places``: number in the plan of each measure.
    """
    limits = [
        (places[roles.sums[s][0]], e, limit)
        for (e, element), s in zip(roles.laws, roles.law_sum, strict=True)
        for limit in element.terms
    ]
    numbers = {name: np.array([getattr(limit, name) for *_, limit in limits], dtype=float) for name in NUMBERS}
    measure, element = (np.array([each[k] for each in limits], dtype=np.int64) for k in range(2))
    return {"limits": Limits(measure=measure, element=element, **numbers)}


NUMBERS = ("value", "sign", "restitution")


def one_sided_number_parts(plan):
    """Return the part of a gradient by numbers of limits, zero, by its name."""
    return {"limits": allocate(LimitNumbers, {"limits": plan.limits.measure.size})}


def one_sided(plan):
    """Return the limits of a plan, a `Limits`."""
    return plan.limits


def one_sided_state(ws):
    """Return (closed, gap at which they are held) of the limits, each (limits,)."""
    return ws.efforts.closed.astype(np.int64), ws.efforts.rest_gap.copy()


def set_one_sided(plan, ws, pose, state):
    """Restore a `one_sided_state`, with the rows at a pose."""
    if plan.limits.measure.size:
        place_limits(plan, ws, pose, *state)


def one_sided_element_at(plan, events, j):
    """Return the element whose limit is met or lets go in event j."""
    return int(plan.limits.element[events.limits.limit[j]])


def resting_at(plan, events):
    """Return the elements (n,) of the limits that closed, or let go, in the events of a tape."""
    limits = events.limits
    return plan.limits.element[limits.limit[np.flatnonzero(limits.restitution[: int(events.count[0])] == 0.0)]]


def is_release(tape, j):
    """Return whether in event j a closed limit opens: no change of the start takes it off its gap."""
    events, limits = tape.events, tape.events.limits
    stage, limit = events.stage[j], limits.limit[j]
    closed_now = (events.stage[:j] == stage) & (limits.limit[:j] == limit) & (limits.restitution[:j] == 0.0)
    return bool(closed_now.any() or (stage > 0 and tape.limits.closed[stage - 1, limit]))
