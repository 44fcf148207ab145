"""Rolling resistance: a torque across the normal, against the relative rotation of two bodies that touch.

With its coefficient b, m, the normal impulse z_n of a contact, and the relative angular velocity w across the normal,

    |torque| <= b z_n,     torque opposite to w where w is not zero

which is the law of friction of a second contact with the rates r w and the impulses torque / r, of a length r, and the
coefficient b / r. Its normal row is that of the first, whose impulse it knows, but pushes nothing.
"""

import math

from varint.base.numba import njit
from varint.mathematics.vectors import add, cross, dot, rotate_back, scale, vector
from varint.step.contacts.cones import APART


@njit
def is_rolling(plan, k):
    """Return whether contact k is the rolling resistance of another."""
    return plan.contacts.parent.size > 0 and plan.contacts.parent[k] >= 0


@njit
def roller_of(plan, k):
    """Return the contact that is the rolling resistance of contact k, or -1."""
    return plan.contacts.roller[k] if plan.contacts.roller.size > 0 else -1


@njit
def follow_parent(plan, ws, k):
    """Set ``closed`` and ``taking`` of rolling resistance k, of ``ws.contacts``, to the values of its contact."""
    work, parent = ws.contacts, plan.contacts.parent[k]
    work.closed[k], work.taking[k] = work.closed[parent], work.taking[parent]


@njit
def write_rolling_frame(plan, ws, pose, k):
    """Write ``frame``, ``slip`` and ``upper`` of rolling resistance k at a pose; call after `write_feature_frame`.

    Of ``ws.contacts``. The frame is that of its contact. ``upper`` (nk, 3, 12): zero but for torques along the two
    directions across the normal, times ``lever``, m. ``slip`` is ``slip_vector`` along the frame.
    """
    planes, nb, work = plan.contacts.height.size, plan.bodies.mass.size, ws.contacts
    f, parent, upper = k - planes, plan.contacts.parent[k], ws.contacts.upper[k]
    for a in range(3):
        for m in range(3):
            work.frame[f, a, m] = work.frame[parent - planes, a, m]
    for m in range(12):
        upper[0, m] = upper[1, m] = upper[2, m] = 0.0
    for side in range(2):
        body = plan.contacts.body[k] if side == 0 else plan.contacts.other[k]
        lever = plan.contacts.lever[k] if side == 0 else -plan.contacts.lever[k]
        for a in range(1, 3 if body != nb else 1):
            turning = scale(lever, rotate_back(ws.rotation[pose, body], vector(work.frame[f, a])))
            for m in range(3):
                upper[a, 6 * side + 3 + m] = turning[m]
    for a in range(2):
        work.slip[k, a] = dot(vector(work.frame[f, 1 + a]), vector(work.slip_vector[f]))


@njit
def rolling_rates(plan, ws, h, k):
    """Write the rates of rolling resistance k over a step of ``h`` seconds and their gradients by the unknowns.

    Of ``ws.contacts``, ``rate`` (nk, 3), m/s, and ``row`` (nk, 3, 12): components 1 and 2. Those along the normal come
    from `take_normal`.
    """
    work, nb = ws.contacts, plan.bodies.mass.size
    work.rate[k, 1] = work.rate[k, 2] = 0.0
    for side in range(2):
        body, at = plan.contacts.body[k] if side == 0 else plan.contacts.other[k], 6 * side
        if body == nb:
            continue
        w = vector(ws.velocity[body, 3:])
        u = scale(0.5 * h, w)
        c = math.sqrt(1.0 - dot(u, u))
        for a in range(1, 3):
            turning = vector(work.upper[k, a, at + 3 : at + 6])
            gradient = add(scale(c, turning), cross(turning, u))
            work.rate[k, a] += dot(turning, w)
            for m in range(3):
                work.row[k, a, at + m], work.row[k, a, at + 3 + m] = 0.0, gradient[m]


@njit
def take_normal(plan, ws, k):
    """Take normal row, rate and impulse of rolling resistance k from its contact; return whether that one is open.

    Writes component 0 of ``z``, ``rate`` (nk, 3) and ``row`` (nk, 3, 12) of ``ws.contacts``. Call after these are known
    of the contact.
    """
    work, parent = ws.contacts, plan.contacts.parent[k]
    work.z[k, 0], work.rate[k, 0] = work.z[parent, 0], work.rate[parent, 0]
    for m in range(12):
        work.row[k, 0, m] = work.row[parent, 0, m]
    return work.mode[parent] == APART
