"""Nearly flat rims: points fixed in the body stand for them in a step (docs/theory.md section 14).

The lowest point of such a rim runs around it within a step. The impulse would act at the lowest point of the start, but
the gap would be closed at that of the end, which adds energy. A point fixed in the body has impulse and gap at one
place. The first is the lowest at the start of a step; as long as the rim overlaps the plane at the end of a trial, the
lowest there is added, closed from the start on, and the trial repeated. The rim overlaps by less each time.

Only rims that are above a plane or a face with all of their circle are so replaced: beside the edges of a face, on
cylinders and on height fields a rim stays as it is.

Arguments: ``pose``, number of a pose of the workspace; ``p``, of a pair of shapes; ``f`` and ``g``, of its slots;
``k``, of a contact; ``start``, ``end``, the poses of a trial; ``work``, ``ws.contacts``.
"""

import math

from varint.base.numba import indirect, njit
from varint.geometry.features import CIRCLE_PLANE, POINT_PLANE, RIM_POINT
from varint.geometry.nearest import is_above
from varint.geometry.shape_records import CYLINDER, PLANE, ROUND
from varint.mathematics.vectors import add, cross, dot, rotate, rotate_back, scale, sub, vector
from varint.step.contacts.broad_phase import EMPTY
from varint.step.contacts.finding import size_of_pair
from varint.step.contacts.rows import contact_gap
from varint.step.energy.entries import add_landing
from varint.step.plan import Plan, Workspace

FAST = 2.0  # times its rotation in a step: a rim whose axis is tilted by less may turn over
LEAST_COSINE = 0.8  # of the angle about the rim between its lowest points at the ends of a trial
DEEP = 3e-11  # of the size of the smaller shape: overlap by which that of a rim may grow in a step
MOST = 4  # points of a rim, from which on those that have parted make way for further ones
AS_IT_IS, REPEAT, HALVE = -1, -2, -3  # what `look_at_rims` asks for


@njit
def _sides(plan, ws, k):
    """Return the slots of the bodies of the first and the second feature of contact k.

    ``ws.contacts.swapped`` (features,): whether the first is that of ``other``.
    """
    f, i, j = k - plan.contacts.height.size, plan.contacts.body[k], plan.contacts.other[k]
    return (j, i) if ws.contacts.swapped[f] else (i, j)


@njit
def _rim_shape(plan, ws, p, f):
    """Return the cylinder whose rim, or a point of it, is the first feature of slot f of pair p, or -1.

    It is known by ``ws.contacts.kind`` and the first of ``key`` (2,), a number of a vertex of all shapes.
    """
    work, shapes = ws.contacts, plan.contacts.shapes
    if work.kind[f] not in (POINT_PLANE, CIRCLE_PLANE, RIM_POINT):
        return -1
    s = plan.contacts.pair_shape[p, 1 if work.swapped[f] else 0]
    of_it = shapes.first_vertex[s] <= work.key[f, 0] < shapes.first_vertex[s + 1]
    return s if shapes.kind[s] == CYLINDER and of_it else -1


@njit
def _is_all_above(plan, ws, pose, p, f):
    """Return whether all of the rim of slot f is above the plane or the face of a polyhedron that it faces.

    The foot of its centre (3,) has to be inside such a face by the radius of the rim.
    """
    work, shapes, (i, j) = ws.contacts, plan.contacts.shapes, _sides(plan, ws, plan.contacts.height.size + f)
    other = plan.contacts.pair_shape[p, 0 if work.swapped[f] else 1]
    if shapes.kind[other] != ROUND:
        return shapes.kind[other] == PLANE
    centre = rotate(ws.rotation[pose, i], vector(shapes.vertex[work.key[f, 0]]))
    centre = sub(add(vector(ws.position[pose, i]), centre), vector(ws.position[pose, j]))
    s = _rim_shape(plan, ws, p, f)
    return is_above(shapes, work.key[f, 1], rotate_back(ws.rotation[pose, j], centre), -shapes.radius[s])


@njit
def _has_rim(plan, p):
    """Return whether one of the shapes of pair p is a cylinder."""
    kind, (a, b) = plan.contacts.shapes.kind, (plan.contacts.pair_shape[p, 0], plan.contacts.pair_shape[p, 1])
    return kind[a] == CYLINDER or kind[b] == CYLINDER


@njit
def _directions(plan, ws, pose, k, s):
    """Return the axis (3,) of the cylinder s and the normal (3,) of the plane of contact k, world.

    ``s``: number of a shape.
    """
    (i, j), e = _sides(plan, ws, k), vector(plan.contacts.shapes.along[plan.contacts.shapes.first_edge[s]])
    normal = vector(ws.contacts.axis[k - plan.contacts.height.size, 1])
    return rotate(ws.rotation[pose, i], e), rotate(ws.rotation[pose, j], normal)


@njit
def _turn(plan, ws, pose, k, e, h):
    """Return the tilt of the axis ``e`` of the rim of contact k, rad, below which it may turn over in ``h`` seconds.

    ``e`` (3,): unit vector, world. The rim turns by its angular velocity against the plane, or from rest by an impulse
    as large as the last one, p: by h^2 / 2 times W p over the radius and the time that p took, with the mobility W of
    the contact.
    """
    f, (i, j), spin, nb = k - plan.contacts.height.size, _sides(plan, ws, k), (0.0, 0.0, 0.0), plan.bodies.mass.size
    for side in range(2):
        body = i if side == 0 else j
        if body != nb:
            w = rotate(ws.rotation[pose, body], vector(ws.velocity[body, 3:]))
            spin = add(spin, scale(1.0 if side == 0 else -1.0, w))
    spin, push, span = cross(e, spin), vector(ws.contacts.impulse[k]), ws.contacts.span[0]
    faster = plan.contacts.mobility[k] * math.sqrt(dot(push, push)) / ws.contacts.size[f, 0]
    return h * max(FAST * math.sqrt(dot(spin, spin)), 0.5 * faster * h / span if span > 0.0 else 0.0)


@njit
def _is_beside(work, f, g):
    """Return whether slots f and g are for the same rim, or points of it, against the same plane.

    They then have the same ``key`` (2,).
    """
    same = work.key[f, 0] == work.key[g, 0] and work.key[f, 1] == work.key[g, 1] and work.swapped[f] == work.swapped[g]
    return same and work.kind[g] in (POINT_PLANE, CIRCLE_PLANE, RIM_POINT)


@njit
def _has_circle(plan, ws, p, f):
    """Return whether a slot of pair p is for the whole rim that slot f has a point of.

    Such a slot has CIRCLE_PLANE in ``ws.contacts.kind`` (features,).
    """
    work = ws.contacts
    for g in range(plan.contacts.pair_first[p], plan.contacts.pair_first[p + 1]):
        if work.kind[g] == CIRCLE_PLANE and _is_beside(work, f, g):
            return True
    return False


@njit
def _open(plan, ws, f):
    """Open slot f, and clear all that is known of its contact k, at the start of the trial too.

    Of ``ws.contacts``: ``closed``, ``held_gap``, ``hits``, ``slip`` (2,), ``impulse`` (3,), ``slip_vector`` (3,) and
    ``saved`` (10,) become zero.
    """
    work, k = ws.contacts, plan.contacts.height.size + f
    work.closed[k], work.held_gap[k], work.hits[k] = False, 0.0, 0
    work.slip[k, 0] = work.slip[k, 1] = 0.0
    for m in range(3):
        work.impulse[k, m] = work.slip_vector[f, m] = 0.0
    for m in range(work.saved.shape[1]):
        work.saved[k, m] = 0.0


@njit
def _fix(plan, ws, p, f):
    """Replace the rim of slot f of pair p by points for this step: slot f, and its other slots that are closed.

    Its slots that are open are emptied. Writes ``ws.contacts.kind`` (features,), and radius zero for slot f.
    """
    work, planes = ws.contacts, plan.contacts.height.size
    for g in range(plan.contacts.pair_first[p], plan.contacts.pair_first[p + 1]):
        if work.kind[g] == EMPTY or g == f or not _is_beside(work, f, g):
            continue
        if work.closed[planes + g]:
            work.kind[g] = RIM_POINT
        else:
            work.kind[g] = EMPTY
            _open(plan, ws, g)
    work.kind[f], work.size[f, 0] = RIM_POINT, 0.0


@njit
def _set_point(work, f, point):
    """Set ``work.place`` of slot f for the first body to ``point`` (3,), m.

    From the centre of mass, axes of the body.
    """
    for m in range(3):
        work.place[f, 0, m] = point[m]


@indirect(seconds=2, what="contacts of shapes")
def fix_rims(plan: Plan, ws: Workspace, pose: int, h: float) -> None:
    """Replace by points the closed rims that are so flat that they may turn over within ``h`` seconds of a pose.

    Writes ``ws.contacts.kind`` (features,) and ``place``, and opens slots that are emptied.
    """
    work, contacts = ws.contacts, plan.contacts
    for n in range(work.near_pair_count[0]):
        p = work.near_pair[n]
        for f in range(contacts.pair_first[p], contacts.pair_first[p + 1] if _has_rim(plan, p) else 0):
            k = contacts.height.size + f
            if work.kind[f] != CIRCLE_PLANE or not work.closed[k] or not _is_all_above(plan, ws, pose, p, f):
                continue
            e, up = _directions(plan, ws, pose, k, _rim_shape(plan, ws, p, f))
            tilt = cross(e, up)
            if math.sqrt(dot(tilt, tilt)) < _turn(plan, ws, pose, k, e, h):
                _set_point(work, f, _lowest(plan, ws, pose, p, f)[1])
                _fix(plan, ws, p, f)


@njit
def _lowest(plan, ws, pose, p, f):
    """Return the gap, m, and the lowest point of the rim of slot f; infinity and the centre where it is level.

    The point (3,) is from the centre of mass, axes of its body, m.
    """
    work, shapes, k = ws.contacts, plan.contacts.shapes, plan.contacts.height.size + f
    s, (i, j) = _rim_shape(plan, ws, p, f), _sides(plan, ws, k)
    R, e = ws.rotation[pose, i], vector(shapes.along[shapes.first_edge[s]])
    up = rotate(ws.rotation[pose, j], vector(work.axis[f, 1]))
    centre, down = vector(shapes.vertex[work.key[f, 0]]), scale(-1.0, rotate_back(R, up))
    for _ in range(2):  # twice, as the first leaves round-off along the axis
        down = sub(down, scale(dot(e, down), e))
        length = math.sqrt(dot(down, down))
        if length == 0.0:
            return math.inf, centre
        down = scale(1.0 / length, down)
    point = add(centre, scale(shapes.radius[s], down))
    there = add(vector(ws.position[pose, i]), rotate(R, point))
    plane = add(vector(ws.position[pose, j]), rotate(ws.rotation[pose, j], vector(work.place[f, 1])))
    return dot(up, sub(there, plane)), point


@njit
def _slot_for(plan, ws, p, f):
    """Return a slot of pair p for one more point of the rim of slot f, empty or open after the trial, or -1.

    Slots are empty by ``ws.contacts.kind``, open by ``closed`` (nk,). An empty slot is taken before an open one as long
    as the rim has fewer than MOST points.
    """
    work, planes = ws.contacts, plan.contacts.height.size
    empty, parted, count = -1, -1, 0
    for g in range(plan.contacts.pair_first[p], plan.contacts.pair_first[p + 1]):
        if work.kind[g] == EMPTY:
            empty = g
        elif work.kind[g] == RIM_POINT and _is_beside(work, f, g):
            count += 1
            parted = parted if work.closed[planes + g] else g
    return parted if empty < 0 or (count >= MOST and parted >= 0) else empty


@njit
def _add_point(plan, ws, f, g, point):
    """Set slot g to a further ``point`` (3,) of the rim of slot f; its contact opens.

    ``point``: from the centre of mass, axes of the body, m. Writes ``kind``, ``swapped``, ``key``, ``size``, ``axis``
    and ``place`` of ``ws.contacts``.
    """
    work = ws.contacts
    _open(plan, ws, g)
    work.kind[g], work.swapped[g] = RIM_POINT, work.swapped[f]
    for side in range(2):
        work.key[g, side], work.size[g, side] = work.key[f, side], work.size[f, side]
        for m in range(3):
            work.axis[g, side, m], work.place[g, side, m] = work.axis[f, side, m], work.place[f, side, m]
    _set_point(work, g, point)


@njit
def _turns_over(plan, ws, start, end, p, f):
    """Replace the rim of slot f by its lowest point at the start if that moved far around it in a trial.

    Far: the points (3,) from the centre, axes of the body, have a cosine below LEAST_COSINE. Returns whether it did.
    """
    (_, before), (_, after), work = _lowest(plan, ws, start, p, f), _lowest(plan, ws, end, p, f), ws.contacts
    centre = vector(plan.contacts.shapes.vertex[work.key[f, 0]])
    if dot(sub(before, centre), sub(after, centre)) >= LEAST_COSINE * work.size[f, 0] ** 2:
        return False
    _set_point(work, f, before)
    _fix(plan, ws, p, f)
    return True


@indirect(seconds=2, what="contacts of shapes")
def look_at_rims(plan: Plan, ws: Workspace, start: int, end: int) -> int:
    """Return the contact to close at the start of a trial: a point of a rim that overlaps at its end; else a verdict.

    AS_IT_IS: there is no such point. REPEAT: the lowest point of a closed rim went far around it; a point stands for
    that rim from now on. HALVE: there is no slot for a point. ``ws.contacts.solved`` (nk, 3), N s, are the impulses of
    the trial.
    """
    work, contacts, planes = ws.contacts, plan.contacts, plan.contacts.height.size
    for n in range(work.near_pair_count[0]):
        p = work.near_pair[n]
        for f in range(contacts.pair_first[p], contacts.pair_first[p + 1] if _has_rim(plan, p) else 0):
            if work.kind[f] < 0 or _rim_shape(plan, ws, p, f) < 0 or not _is_all_above(plan, ws, start, p, f):
                continue
            if work.kind[f] == CIRCLE_PLANE:
                if work.solved[planes + f, 0] > 0.0 and _turns_over(plan, ws, start, end, p, f):
                    return REPEAT
                continue
            if work.kind[f] == POINT_PLANE and (work.solved[planes + f, 0] == 0.0 or _has_circle(plan, ws, p, f)):
                continue
            gap, point = _lowest(plan, ws, end, p, f)
            if gap >= min(_lowest(plan, ws, start, p, f)[0], 0.0) - DEEP * size_of_pair(plan, p):
                continue
            if work.kind[f] == POINT_PLANE:
                _fix(plan, ws, p, f)
            g = _slot_for(plan, ws, p, f)
            if g < 0:
                return HALVE
            _add_point(plan, ws, f, g, point)
            return planes + g
    return AS_IT_IS


@njit
def any_rim_point(plan, ws):
    """Return whether a point stands for a rim."""
    work, contacts = ws.contacts, plan.contacts
    for n in range(work.near_pair_count[0]):
        p = work.near_pair[n]
        for f in range(contacts.pair_first[p], contacts.pair_first[p + 1] if _has_rim(plan, p) else 0):
            if work.kind[f] == RIM_POINT:
                return True
    return False


@njit
def landed_point(plan, ws):
    """Return the closed contact with the largest impulse in a step, of rims with two or more points, or -1."""
    work, contacts, most, best = ws.contacts, plan.contacts, 0.0, -1
    for n in range(work.near_pair_count[0]):
        p = work.near_pair[n]
        for f in range(contacts.pair_first[p], contacts.pair_first[p + 1] if _has_rim(plan, p) else 0):
            k, count = contacts.height.size + f, 0
            if work.kind[f] != RIM_POINT or not work.closed[k] or not work.solved[k, 0] > most:
                continue
            for g in range(contacts.pair_first[p], contacts.pair_first[p + 1]):
                count += work.kind[g] == RIM_POINT and _is_beside(work, f, g)
            if count > 1:
                most, best = work.solved[k, 0], k
    return best


@njit
def is_rim_point(plan, ws, k):
    """Return whether contact k is of a point that stands for a rim.

    It has RIM_POINT in ``ws.contacts.kind`` (features,).
    """
    return k >= plan.contacts.height.size and ws.contacts.kind[k - plan.contacts.height.size] == RIM_POINT


@njit
def close_rim_point(plan, ws, pose, k):
    """Close contact k, of a point that stands for a rim, at a pose: the step then ends where it does not overlap.

    Writes ``ws.contacts.closed`` and ``held_gap`` (nk,).
    """
    ws.contacts.closed[k], ws.contacts.held_gap[k] = True, min(contact_gap(plan, ws, pose, k), 0.0)
    add_landing(plan, ws, plan.contacts.element[k])
