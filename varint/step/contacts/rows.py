"""Rows of contacts: gaps and the rates of the points that touch, at a pose or over a step.

The point of a contact is a point of its body or, of a ball, the one of it that is nearest to the plane, at -r n from
the centre of the ball. Impulses act along the frame of the contact, which the world holds, at the point of the pose
where a step starts. The rate over a step is the displacement in it over its size; that of a ball is that of its centre
and, along the plane, R w x (-r n) of its rotation.

Arguments: ``pose``, ``start`` and ``end``, numbers of poses of the workspace; ``h``, size of the step between the last
two, s; ``k``, number of a contact; all arrays named without ``ws`` are of ``ws.contacts``.
"""

import math

from varint.base.numba import indirect, natural, njit
from varint.mathematics.vectors import add, cross, dot, rotate, rotate_back, scale, sub, turn_of, vector, write
from varint.step.contacts.cones import (
    ALL_APART,
    APART,
    STICKING,
    STILL,
    add_push,
    add_pushes,
    fold_cones,
    weigh_cone,
)
from varint.step.contacts.features import feature_of, feature_rates, locate_contact, rate_along, write_feature_frame
from varint.step.contacts.rolling import follow_parent, is_rolling, rolling_rates, take_normal, write_rolling_frame
from varint.step.plan import Plan, Workspace
from varint.step.sizes import length_unit

OUT_OF_REACH = 1e3  # m: the gap of a slot without features
TOUCHING = 1e-11  # m, times `length_unit`: a gap of this size counts as none
EPSILON = 2.220446049250313e-16
STOPPED = 0.5  # of the slip before a step: what is left of one that friction all but stops
ROUND_OFF = 4.0 * EPSILON  # of the terms of a gap: a closed contact that is so near is where it was


@njit
def has_contacts(plan):
    """Return whether a plan has contacts."""
    return plan.contacts.body.size > 0


@njit
def contact_gap(plan, ws, pose, k):
    """Return the gap of contact k at a pose, m.

    It is OUT_OF_REACH for a slot without features, ``kind`` (features,) below zero.
    """
    f = feature_of(plan, k)
    if f >= 0:
        return locate_contact(plan, ws, pose, k)[0] if ws.contacts.kind[f] >= 0 else OUT_OF_REACH
    i, normal = natural(plan.contacts.body[k]), vector(plan.contacts.frame[k, 0])
    reach = add(vector(ws.position[pose, i]), rotate(ws.rotation[pose, i], vector(plan.contacts.point[k])))
    return dot(normal, reach) - plan.contacts.height[k] - plan.contacts.radius[k]


@njit
def _is_round_off(plan, ws, pose, k, off):
    """Return whether a change ``off`` of the gap of contact k with a plane, m, is less than the round-off of its terms.

    These are position and point (3,), height and radius.
    """
    x, p = vector(ws.position[pose, natural(plan.contacts.body[k])]), vector(plan.contacts.point[k])
    if abs(off) <= ROUND_OFF * max(abs(x[0]), abs(x[1]), abs(x[2])):
        return True
    size = math.sqrt(dot(x, x)) + math.sqrt(dot(p, p)) + abs(plan.contacts.height[k]) + plan.contacts.radius[k]
    return abs(off) <= ROUND_OFF * size


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
def _take_closed(plan, ws, k):
    """Take contact k into the problem of a step or a node if it is closed, without impulse; return whether it is.

    Writes ``taking``, ``sticking`` and ``mode`` (nk,), and sets ``z``, ``bias`` (nk, 3) and ``direction`` (nk, 2) to
    zero.
    """
    work = ws.contacts
    if is_rolling(plan, k):
        follow_parent(plan, ws, k)
    work.taking[k], work.sticking[k], work.mode[k] = work.closed[k], False, APART
    for a in range(3):
        work.z[k, a] = work.bias[k, a] = 0.0
    work.direction[k, 0] = work.direction[k, 1] = 0.0
    return work.closed[k]


@njit
def rest_on(plan, ws, pose):
    """Take the closed contacts into the problem at a pose, with their rows ``upper`` and without impulses.

    ``upper`` (nk, 3, 12): see `write_upper`.
    """
    for n in range(ws.contacts.near_count[0]):
        k = natural(ws.contacts.near[n])
        if _take_closed(plan, ws, k):
            write_upper(plan, ws, pose, k)


@njit
def start_step(plan, ws, pose, h):
    """Prepare the problem of a step of ``h`` seconds from a pose; its iterate starts at the impulses of the last.

    Impulses go to ``ws.contacts.z`` (nk, 3), N s, scaled to the step. ``ws.contacts.slid`` (nk, 2), m/s: the slips
    before. ``ws.contacts.bias`` (nk, 3), m/s: of contacts with planes that are not where they are held, by more than
    round-off. ``upper`` of contacts with planes is written where Newton's system is, by `write_plane_rows`.
    """
    work, planes = ws.contacts, plan.contacts.height.size
    share = h / work.span[0] if work.span[0] > 0.0 else 0.0
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        if not _take_closed(plan, ws, k):
            continue
        z, impulse = work.z[k], vector(work.impulse[k])
        if k >= planes:
            write_upper(plan, ws, pose, k)
            frame = work.frame[k - planes]
            for a in range(3):
                z[a] = dot(vector(frame[a]), impulse) * share
            work.slid[k, 0], work.slid[k, 1] = work.slip[k, 0], work.slip[k, 1]
            continue
        work.slid[k, 0], work.slid[k, 1] = work.slip[k, 0], work.slip[k, 1]
        off = contact_gap(plan, ws, pose, k) - work.held_gap[k]
        work.bias[k, 0] = 0.0 if _is_round_off(plan, ws, pose, k, off) else off / h
        z[0], z[1], z[2] = scale(share, impulse)


@njit(inline="always")
def _press_on_plane(plan, ws, k, start, h, motion):
    """Write the rates of contact k with a plane over a step; take its impulse ``z`` into the residual of its body.

    ``motion`` of the body over the step: v, w, and the rotation (u, c). Writes ``ws.contacts.rate`` (nk, 3), m/s, and
    changes ``ws.residual_body`` (nb, 6).
    """
    v, w, u, c = motion
    work, i, z = ws.contacts, natural(plan.contacts.body[k]), ws.contacts.z[k]
    R, frame, bias, radius = ws.rotation[start, i], plan.contacts.frame[k], work.bias[k], plan.contacts.radius[k]
    p, normal, first, second = vector(plan.contacts.point[k]), vector(frame[0]), vector(frame[1]), vector(frame[2])
    # R' p - R p = 2 R (c u x p + u x (u x p)), with the rotation (c, u) of the step: no difference of large numbers
    turned = cross(u, p)
    moved = add(v, scale(2.0 / h, rotate(R, add(scale(c, turned), cross(u, turned)))))
    force = add(add(scale(z[0], normal), scale(z[1], first)), scale(z[2], second))
    torque = cross(p, rotate_back(R, force))
    work.rate[k, 0] = dot(normal, moved) + bias[0]
    if radius > 0.0:
        moved = add(moved, scale(radius, cross(normal, rotate(R, w))))
        torque = sub(torque, scale(radius, rotate_back(R, cross(normal, force))))
    work.rate[k, 1], work.rate[k, 2] = dot(first, moved) + bias[1], dot(second, moved) + bias[2]
    residual = ws.residual_body[i]
    write(residual, sub(vector(residual), force), sub(turn_of(residual), torque))


@njit
def write_plane_rows(plan, ws, start, end, h, k):
    """Write ``upper`` of contact k with a plane, and ``row``, the gradients of its rates by the body's unknowns.

    Both (nk, 3, 12), of which the first six columns are of this body.
    """
    write_upper(plan, ws, start, k)
    i = natural(plan.contacts.body[k])
    R, Q, row, radius = ws.rotation[start, i], ws.rotation[end, i], ws.contacts.row[k], plan.contacts.radius[k]
    u, normal = scale(0.5 * h, turn_of(ws.velocity[i])), vector(plan.contacts.frame[k, 0])
    c = math.sqrt(1.0 - dot(u, u))
    for a in range(3):
        along = vector(plan.contacts.frame[k, a])
        gradient = cross(vector(plan.contacts.point[k]), rotate_back(Q, along))
        if a > 0 and radius > 0.0:
            rolled = rotate_back(R, cross(scale(-radius, normal), along))
            gradient = add(gradient, add(scale(c, rolled), cross(rolled, u)))
        for m in range(3):
            row[a, m], row[a, 3 + m] = along[m], gradient[m]


@njit
def write_all_plane_rows(plan, ws, start, end, h):
    """Do `write_plane_rows` for all contacts with planes that take part in a step.

    These are the ones with ``taking`` (nk,).
    """
    for n in range(ws.contacts.near_count[0]):
        k = natural(ws.contacts.near[n])
        if ws.contacts.taking[k] and k < plan.contacts.height.size:
            write_plane_rows(plan, ws, start, end, h, k)


@indirect(seconds=2, what="contacts")
def press_contacts(plan: Plan, ws: Workspace, start: int, end: int, h: float) -> None:
    """Take the contacts into the residuals of a step, `newton.evaluate_step`, with their impulses ``ws.contacts.z``.

    Writes ``rate`` (nk, 3), m/s, ``missed`` (nk,), and changes ``ws.residual_body`` (nb, 6). What their laws miss, m/s,
    counts in ``ws.missed`` (3,). Contacts of one body follow one another, so that its motion is read once.
    """
    work, planes, half_step, at = ws.contacts, plan.contacts.height.size, 0.5 * h, -1
    motion = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 1.0)
    merit = worst = moved = 0.0
    work.changes[0] = 0
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        work.missed[k] = 0.0
        if not work.taking[k]:
            continue
        is_open = False
        if k < planes:
            i = natural(plan.contacts.body[k])
            if i != at:
                w = turn_of(ws.velocity[i])
                u = scale(half_step, w)
                at, motion = i, (vector(ws.velocity[i]), w, u, math.sqrt(1.0 - dot(u, u)))
            _press_on_plane(plan, ws, k, start, h, motion)
        elif is_rolling(plan, k):
            rolling_rates(plan, ws, h, k)
            is_open = take_normal(plan, ws, k)
        else:
            feature_rates(plan, ws, start, end, h, k)
        missed, z = weigh_cone(plan, ws, k, ALL_APART if is_open else work.forced[0]), work.z[k]
        merit, worst, work.missed[k] = merit + missed, max(worst, missed), missed
        moved = max(moved, plan.contacts.mobility[k] * max(abs(z[0]), abs(z[1]), abs(z[2])))
        if k >= planes:
            add_push(plan, ws, k, -1.0, ws.residual_body)
    ws.missed[0], ws.missed[1] = ws.missed[0] + merit, max(ws.missed[1], math.sqrt(worst))
    ws.missed[2] = max(ws.missed[2], moved)


@indirect(seconds=1, what="contacts")
def fold_contacts(plan: Plan, ws: Workspace, upper: int, end: int, h: float, factored: bool) -> None:
    """Write the rows of contacts, unless ``factored``, and do `fold_cones` with the right side ``ws.increment_body``.

    ``factored``: whether the rows of the last factorisation are used again.
    """
    if not factored:
        write_all_plane_rows(plan, ws, upper, end, h)
    fold_cones(plan, ws, ws.increment_body, factored)


@njit
def keep_solution(ws):
    """Copy the solution of a step to ``solved``, ``solved_rate`` (nk, 3) and ``solved_mode`` (nk,) of ``ws.contacts``.

    Problems at its start may follow before its end is accepted.
    """
    work = ws.contacts
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        work.solved_mode[k] = work.mode[k]
        for a in range(3):
            work.solved[k, a] = work.z[k, a] if work.taking[k] else 0.0
            work.solved_rate[k, a] = work.rate[k, a]


@indirect(seconds=1, what="contacts")
def drive_contacts(plan: Plan, ws: Workspace, share: float) -> None:
    """Add the work, J, of the ``share`` of the contacts' impulses in a solved step that belongs to the step before it.

    To ``ws.balance.driven`` (components,); the impulses go to ``ws.increment_body`` (nb, 6). They act about the node
    at the start of a step. As loads they do their work at the velocity of either step.
    """
    add_pushes(plan, ws, share, ws.increment_body)
    for n in range(ws.contacts.near_count[0]):
        k = natural(ws.contacts.near[n])
        if ws.contacts.closed[k]:
            c = plan.components.of_element[plan.contacts.element[k]]
            ws.balance.driven[c] += share * _power(ws.contacts.solved[k], ws.contacts.slid[k])


@njit
def _power(z, slip):
    """Return the work, J, of the friction of an impulse ``z`` (3,) at a ``slip`` (2,), m/s."""
    return z[1] * slip[0] + z[2] * slip[1]


@njit
def _is_stopping(work, k):
    """Return whether contact k, which slid, lost half of its slip or more in a solved step.

    The impulse of a first step after an event then works at the mean of both slips, as in an impact: bodies that jam
    at a node are stopped by an impulse of any size.
    """
    before = work.slid[k, 0] ** 2 + work.slid[k, 1] ** 2
    return work.solved_rate[k, 1] ** 2 + work.solved_rate[k, 2] ** 2 <= STOPPED * STOPPED * before


@njit
def set_slip(plan, ws, k, first, second):
    """Set the slip of contact k along its frame, m/s.

    ``first``, ``second``: along the two directions across the normal. Writes ``slip`` (nk, 2), and of shapes
    ``slip_vector`` (features, 3), world.
    """
    work, f = ws.contacts, feature_of(plan, k)
    work.slip[k, 0], work.slip[k, 1] = first, second
    for m in range(3 if f >= 0 else 0):
        work.slip_vector[f, m] = first * work.frame[f, 1, m] + second * work.frame[f, 2, m]


@njit
def normal_rate(plan, ws, pose, k):
    """Write ``upper`` of contact k at a pose; return the rate of its gap with ``ws.velocity`` (nb, 6), m/s."""
    write_upper(plan, ws, pose, k)
    return rate_along(plan, ws.contacts.upper, k, 0, ws.velocity)


@indirect(seconds=2, what="contacts")
def finish_contacts(plan: Plan, ws: Workspace, start: int, end: int, h: float) -> None:
    """Add to the works, and keep slips and impulses at the end of a solved stage; contacts that part open.

    ``h``: size of the stage, s. Works: ``ws.efforts.work`` (ne,), J. Slips and impulses: ``slip`` (nk, 2), m/s, and
    ``impulse`` (nk, 3), N s, of shapes world. Also writes ``ws.contacts.closed``, ``ws.contacts.held_gap``, which
    follows an overlap that parts, and ``ws.contacts.span``.
    """
    work, share = ws.contacts, ws.balance.size[0] / (h + ws.balance.size[0])
    gain, unit = work.gain[0], length_unit(plan)
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        first, second, rolls = work.solved_rate[k, 1], work.solved_rate[k, 2], is_rolling(plan, k)
        moves = first * first + second * second > (STILL * unit) ** 2
        slides = work.closed[k] and work.solved_mode[k] != STICKING and moves
        if rolls:
            follow_parent(plan, ws, k)
            slides = slides and work.closed[k]
        if work.closed[k]:
            before, after = _power(work.solved[k], work.slid[k]), _power(work.solved[k], work.solved_rate[k, 1:])
            part = 0.5 if share < 0.5 and _is_stopping(work, k) else share
            ws.efforts.work[plan.contacts.element[k]] += part * before + (1.0 - part) * after
            is_open = work.solved_mode[k] == APART and not rolls
            gap = contact_gap(plan, ws, end, k) if is_open else work.held_gap[k]
            if gap > max(work.held_gap[k], 0.0) + TOUCHING * unit:
                work.closed[k] = slides = False
            elif work.held_gap[k] < -TOUCHING * unit and gap > work.held_gap[k]:
                work.held_gap[k] = gap  # an overlap that parts does not come back
        set_slip(plan, ws, k, first if slides else 0.0, second if slides else 0.0)
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
