"""Rows of contacts: gaps and the rates of the points that touch, at a pose or over a step.

The point of a contact is a point of its body or, of a ball, the one of it that is nearest to the plane, at -r n from
the centre of the ball. Impulses act along the frame of the contact, which the world holds, at the point of the pose
where a step starts. The rate over a step is the displacement in it over its size; that of a ball is that of its centre
and, along the plane, R w x (-r n) of its rotation.
"""

import math

from varint._numba import Float1, Float2, indirect, natural, njit
from varint.algebra.vectors import add, cross, dot, rotate, rotate_back, scale, vector
from varint.kernels.plan import Plan, Workspace
from varint.terms.contacts.kernels.contact_cones import (
    ALL_APART,
    APART,
    STICKING,
    STILL,
    add_pushes,
    fold_cones,
    linearize_cone,
    unfold_cones,
)
from varint.terms.contacts.kernels.contact_coupling import solve_coupled
from varint.terms.contacts.kernels.contact_features import (
    feature_of,
    feature_rates,
    locate_contact,
    rate_along,
    write_feature_frame,
)
from varint.terms.contacts.kernels.contact_rolling import (
    follow_parent,
    is_rolling,
    rolling_rates,
    take_normal,
    write_rolling_frame,
)

OUT_OF_REACH = 1e3  # m: the gap of a slot without features
TOUCHING = 1e-11  # m: a gap of this size counts as none
EPSILON = 2.220446049250313e-16
ROUND_OFF = 4.0 * EPSILON  # of the terms of a gap: a closed contact that is so near is where it was


@njit
def has_contacts(plan):
    """Whether a plan has contacts."""
    return plan.contacts.body.size > 0


@njit
def contact_gap(plan, ws, pose, k):
    """Gap of contact k at a pose, m."""
    f = feature_of(plan, k)
    if f >= 0:
        return locate_contact(plan, ws, pose, k)[0] if ws.contacts.kind[f] >= 0 else OUT_OF_REACH
    i, normal = natural(plan.contacts.body[k]), vector(plan.contacts.frame[k, 0])
    reach = add(vector(ws.position[pose, i]), rotate(ws.rotation[pose, i], vector(plan.contacts.point[k])))
    return dot(normal, reach) - plan.contacts.height[k] - plan.contacts.radius[k]


@njit
def _terms_of_gap(plan, ws, pose, k):
    """Sum of the sizes of the terms of the gap of contact k with a plane, m."""
    i = natural(plan.contacts.body[k])
    x, p = vector(ws.position[pose, i]), vector(plan.contacts.point[k])
    return math.sqrt(dot(x, x)) + math.sqrt(dot(p, p)) + abs(plan.contacts.height[k]) + plan.contacts.radius[k]


@njit
def write_upper(plan, ws, pose, k):
    """Write the rows of the impulses of contact k at a pose, (force, torque in axes of the body), to ``upper``."""
    if feature_of(plan, k) >= 0:
        if is_rolling(plan, k):
            write_rolling_frame(plan, ws, pose, k)
        else:
            write_feature_frame(plan, ws, pose, k)
        return
    i = natural(plan.contacts.body[k])
    upper, R = ws.contacts.upper[k], ws.rotation[pose, i]
    point, normal = vector(plan.contacts.point[k]), vector(plan.contacts.frame[k, 0])
    lever = scale(-plan.contacts.radius[k], rotate_back(ws.rotation[pose, i], normal))
    arm = add(point, lever)
    for a in range(3):
        along = vector(plan.contacts.frame[k, a])
        torque = cross(arm, rotate_back(R, along))
        for m in range(3):
            upper[a, m], upper[a, 3 + m] = along[m], torque[m]


@njit
def rest_on(plan, ws, pose):
    """Take the closed contacts into the problem of a step from a pose, with their impulses of the last step."""
    work = ws.contacts
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        if is_rolling(plan, k):
            follow_parent(plan, ws, k)
        work.taking[k], work.sticking[k], work.mode[k] = work.closed[k], False, APART
        for a in range(3):
            work.z[k, a] = work.bias[k, a] = 0.0
        work.direction[k, 0] = work.direction[k, 1] = 0.0
        if work.closed[k]:
            write_upper(plan, ws, pose, k)


@njit
def start_step(plan, ws, pose, h):
    """Prepare the problem of a step of ``h`` seconds from a pose; its iterate starts at the impulses of the last."""
    work = ws.contacts
    rest_on(plan, ws, pose)
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        if not work.taking[k]:
            continue
        f = feature_of(plan, k)
        if f >= 0:
            for a in range(3 if work.span[0] > 0.0 else 0):
                work.z[k, a] = dot(vector(work.frame[f, a]), vector(work.impulse[k])) * (h / work.span[0])
            continue
        off = contact_gap(plan, ws, pose, k) - work.held_gap[k]
        work.bias[k, 0] = off / h if abs(off) > ROUND_OFF * _terms_of_gap(plan, ws, pose, k) else 0.0
        for a in range(3 if work.span[0] > 0.0 else 0):
            work.z[k, a] = work.impulse[k, a] * (h / work.span[0])


@njit
def rates_of_step(plan, ws, start, end, h, k):
    """Write the rates of contact k over a step, and their gradients by the unknowns of its bodies."""
    if feature_of(plan, k) >= 0:
        if is_rolling(plan, k):
            rolling_rates(plan, ws, h, k)
        else:
            feature_rates(plan, ws, start, end, h, k)
        return
    work, i, half_step = ws.contacts, natural(plan.contacts.body[k]), 0.5 * h
    v, R, Q = ws.velocity[i], ws.rotation[start, i], ws.rotation[end, i]
    p, normal, radius = vector(plan.contacts.point[k]), vector(plan.contacts.frame[k, 0]), plan.contacts.radius[k]
    u = scale(half_step, vector(v[3:]))
    c = math.sqrt(1.0 - dot(u, u))
    # R' p - R p = 2 R (c u x p + u x (u x p)), with the rotation (c, u) of the step: no difference of large numbers
    turned = cross(u, p)
    swing = rotate(R, scale(2.0, add(scale(c, turned), cross(u, turned))))
    for a in range(3):
        along = vector(plan.contacts.frame[k, a])
        rate = dot(along, vector(v)) + dot(along, swing) / h + work.bias[k, a]
        gradient = cross(p, rotate_back(Q, along))
        if a > 0 and radius > 0.0:
            rolled = rotate_back(R, cross(scale(-radius, normal), along))
            rate += dot(rolled, vector(v[3:]))
            gradient = add(gradient, add(scale(c, rolled), cross(rolled, u)))
        work.rate[k, a] = rate
        for m in range(3):
            work.row[k, a, m], work.row[k, a, 3 + m] = along[m], gradient[m]


@indirect(seconds=2, what="contacts")
def press_contacts(plan: Plan, ws: Workspace, start: int, end: int, h: float) -> tuple[float, float, float]:
    """Take the contacts into the residuals of a step, `newton.evaluate_step`, with their impulses ``ws.contacts.z``.

    Returns the sum of squares and the largest of what their laws miss, m/s, and the largest impulse, as m/s.
    """
    work = ws.contacts
    merit = worst = moved = 0.0
    work.changes[0] = 0
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        work.missed[k] = 0.0
        if work.taking[k]:
            rates_of_step(plan, ws, start, end, h, k)
            is_open = take_normal(plan, ws, k) if is_rolling(plan, k) else False
            missed, square = linearize_cone(plan, ws, k, ALL_APART if is_open else work.forced[0])
            merit, worst, work.missed[k] = merit + square, max(worst, missed), missed
            for a in range(3):
                moved = max(moved, plan.contacts.mobility[k] * abs(work.z[k, a]))
    add_pushes(plan, ws, -1.0, ws.residual_body)
    return merit, worst, moved


@indirect(seconds=1, what="contacts")
def fold_contacts(plan: Plan, ws: Workspace, body: Float2, factored: bool) -> None:
    """See `fold_cones`."""
    fold_cones(plan, ws, body, factored)


@indirect(seconds=1, what="contacts")
def unfold_contacts(
    plan: Plan, ws: Workspace, step: tuple[int, int, float], factored: bool, body: Float2, row: Float1
) -> None:
    """Complete a solution in ``body`` (nb, 6), ``row`` (nr,) by the contacts: `solve_coupled` and `unfold_cones`."""
    solve_coupled(plan, ws, step, factored, body, row)
    unfold_cones(plan, ws, body)


@njit
def keep_solution(ws):
    """Keep the solution of a step, as problems at its start may follow before its end is accepted."""
    work = ws.contacts
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        work.solved_mode[k] = work.mode[k]
        for a in range(3):
            work.solved[k, a] = work.z[k, a] if work.taking[k] else 0.0
            work.solved_rate[k, a] = work.rate[k, a]


@njit
def add_works_before_node(plan, ws, share, works):
    """Add the work, J, of the ``share`` of the contacts' impulses in a solved step that belongs to the step before it.

    ``works``: of each component. Impulses act about the node at the start of a step. As loads they do their work at the
    velocity of either step.
    """
    for n in range(ws.contacts.near_count[0]):
        k = natural(ws.contacts.near[n])
        if ws.contacts.closed[k]:
            c = plan.components.of_element[plan.contacts.element[k]]
            works[c] += share * _power(ws.contacts.solved[k], ws.contacts.slip[k])


@njit
def _power(z, slip):
    """Work of an impulse (3,) at a slip (2,), J."""
    return z[1] * slip[0] + z[2] * slip[1]


@njit
def set_slip(plan, ws, k, first, second):
    """Set the slip of contact k along its frame, m/s."""
    work, f = ws.contacts, feature_of(plan, k)
    work.slip[k, 0], work.slip[k, 1] = first, second
    for m in range(3 if f >= 0 else 0):
        work.slip_vector[f, m] = first * work.frame[f, 1, m] + second * work.frame[f, 2, m]


@njit
def normal_rate(plan, ws, pose, k):
    """Write ``upper`` of contact k at a pose; return the rate of its gap with ``ws.velocity``, m/s."""
    write_upper(plan, ws, pose, k)
    return rate_along(plan, ws.contacts.upper, k, 0, ws.velocity)


@njit
def finish_contacts(plan, ws, end, h):
    """Add to the works, and keep slips and impulses at the end of a solved stage; contacts that part open."""
    work, share = ws.contacts, ws.balance.size[0] / (h + ws.balance.size[0])
    gain = work.gain[0]
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        speed = math.sqrt(work.solved_rate[k, 1] ** 2 + work.solved_rate[k, 2] ** 2)
        slides, rolls = work.closed[k] and work.solved_mode[k] != STICKING and speed > STILL, is_rolling(plan, k)
        if rolls:
            follow_parent(plan, ws, k)
            slides = slides and work.closed[k]
        if work.closed[k]:
            before, after = _power(work.solved[k], work.slip[k]), _power(work.solved[k], work.solved_rate[k, 1:])
            ws.efforts.work[plan.contacts.element[k]] += share * before + (1.0 - share) * after
            is_open = work.solved_mode[k] == APART and not rolls
            gap = contact_gap(plan, ws, end, k) if is_open else work.held_gap[k]
            if gap > max(work.held_gap[k], 0.0) + TOUCHING:
                work.closed[k] = slides = False
            elif work.held_gap[k] < -TOUCHING and gap > work.held_gap[k]:
                work.held_gap[k] = gap  # an overlap that parts does not come back
        set_slip(plan, ws, k, work.solved_rate[k, 1] if slides else 0.0, work.solved_rate[k, 2] if slides else 0.0)
        f = feature_of(plan, k)
        for a in range(3):
            impulse = work.solved[k, a]
            if f >= 0:
                z, E = work.solved[k], work.frame[f]
                impulse = z[0] * E[0, a] + z[1] * E[1, a] + z[2] * E[2, a]
            if gain < 1.0:
                impulse = work.impulse[k, a] + gain * (impulse - work.impulse[k, a])
            work.impulse[k, a] = impulse if work.closed[k] else 0.0
    work.span[0] = h
