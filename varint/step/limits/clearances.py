"""Distances of the rows of all terms from their events: limits first, then contacts, under one number n."""

from varint.base.numba import natural, njit
from varint.step.contacts.rows import TOUCHING, contact_gap
from varint.step.limits.rows import first_limit_beyond, limit_clearance
from varint.step.sizes import length_unit


@njit
def contact_of(plan, n):
    """Return the contact with number n; negative for a limit."""
    return n - plan.limits.measure.size


@njit
def is_closed(plan, ws, n):
    """Return whether n is a closed limit. Contacts have no events while they are closed."""
    return contact_of(plan, n) < 0 and ws.efforts.closed[n]


@njit
def clearance(plan, ws, pose, n):
    """Return the distance of n from its next event, at a pose; below -1 it is past that event, from -1 to 1 at it.

    A gap is divided by what counts as none; see `limit_clearance` for the force ``ws.search.push`` (limits,).
    """
    k = contact_of(plan, n)
    if k < 0:
        return limit_clearance(plan, ws, pose, n)
    return contact_gap(plan, ws, pose, k) / (TOUCHING * length_unit(plan))


@njit
def first_beyond(plan, ws, pose, forces):
    """Return the number that is furthest past its event at a pose, or -1; closed limits count with ``forces`` only.

    Closed contacts do not count.
    """
    first, worst = first_limit_beyond(plan, ws, pose, forces)
    for m in range(ws.contacts.near_count[0]):
        k = natural(ws.contacts.near[m])
        if not ws.contacts.closed[k]:
            value = contact_gap(plan, ws, pose, k) / (TOUCHING * length_unit(plan))
            if value < worst:
                first, worst = plan.limits.measure.size + k, value
    return first
