"""Impacts and releases of hard limits on the tape of a run."""

from varint._numba import njit
from varint.kernels.tape import keep_event, play_event
from varint.terms.limits.kernels.limits import keep_limits, limit_gap, place_limits, set_closed


@njit
def keep_impact(ws, pose, n, restitution, timed):
    """Keep the impact at limit n that comes now, at the pose ``pose``; ``timed``: see `Events`."""
    j, own = keep_event(ws, pose, timed), ws.tape.events.limits
    if j >= 0:
        own.limit[j], own.restitution[j] = n, restitution
        keep_limits(ws, own.closed[j], own.rest_gap[j])


@njit
def keep_release(ws, n):
    """Keep that limit n lets go in the impact that was kept last."""
    events, j = ws.tape.events, ws.tape.events.count[0] - 1
    if j < events.stage.size:
        events.limits.closed[j, n] = 2


@njit
def lets_go_in(events, j):
    """Whether a closed limit lets go in impact j."""
    for n in range(events.limits.closed.shape[1]):
        if events.limits.closed[j, n] == 2:
            return True
    return False


@njit
def play_release(plan, ws, events, j, back):
    """Open the limits that let go in impact j, or close them again where ``back``."""
    for n in range(plan.limits.measure.size):
        if events.limits.closed[j, n] == 2:
            set_closed(plan, ws, n, back)
            limit_gap(plan, ws, 0, n)


@njit
def play_impact(plan, ws, events, j):
    """Bring pose 0 of the workspace, with ``ws.momentum``, to where it was before impact j; returns its limit."""
    play_event(plan, ws, events, j)
    place_limits(plan, ws, 0, events.limits.closed[j], events.limits.rest_gap[j])
    return events.limits.limit[j]
