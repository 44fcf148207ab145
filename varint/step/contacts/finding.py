"""The features of two shapes that face each other, in slots of their pair: filled before each step and sub-step.

A slot is for one contact: one feature of each shape, such as a vertex and a face.

Arguments: ``pose``, number of a pose of the workspace; ``p``, of a pair of shapes; ``f``, of a slot; ``k``, of a
contact, which for slot f is np + f with the np contacts with planes; ``m``, of features in ``ws.found``, where there
are ``count``; ``work``, ``ws.contacts``; ``features``, ``ws.found``.
"""

import math

from varint.base.numba import indirect, natural, njit
from varint.geometry.features import CIRCLE_POINT, LINE_LINE, POINT_LINE, POINT_POINT, RIM_POINT, locate_features
from varint.geometry.narrow import find_features
from varint.geometry.shape_records import PLANE
from varint.mathematics.vectors import dot, scale, sub, vector
from varint.step.contacts.broad_phase import AHEAD, EMPTY, MARGIN, is_list_whole, list_near, way_of_pair
from varint.step.contacts.features import locate_contact
from varint.step.contacts.rolling import roller_of
from varint.step.plan import Plan, Workspace
from varint.step.sizes import length_unit

UNSEEN = 1e-9  # times `size_of_pair`: largest overlap that features without a slot may have after a step
LOST = -2  # LOST - kind: the mark of a closed slot whose features were not found again
FLUSH = 1e-11  # m, times `length_unit`: features succeed those of a contact with a gap above its ``held_gap`` by this
TURNED = 0.5  # cosine by which the normal between round bodies may turn in a step in which they could meet
SAME_PLACE = 1e-7  # times `size_of_pair`: features so near each other, whose ...
SAME_NORMAL = 1.0 - 1e-12  # ... normals have this cosine, are one contact
SHORTEST = 1.0 / 64.0  # of a step: sub-steps up to this are accepted with an overlap of features without a slot ...
FINEST = SHORTEST**4  # ... and up to this with round bodies that may have passed each other


@njit
def size_of_pair(plan, p):
    """Return the smaller radius of the bounding spheres of the shapes of pair p, m."""
    shapes, (a, b) = plan.contacts.shapes, (plan.contacts.pair_shape[p, 0], plan.contacts.pair_shape[p, 1])
    return min(shapes.bound[a], shapes.bound[b])


@indirect(seconds=8, what="contacts of shapes")
def find_between(plan: Plan, ws: Workspace, pose: int, p: int, reach: float) -> int:
    """Write the features of pair p with a gap below ``reach``, m, at a pose to ``ws.found``; return their number.

    That is at most the length of ``ws.found.kind`` (space,).
    """
    contacts = plan.contacts
    k = contacts.height.size + contacts.pair_first[p]
    i, j = contacts.body[k], contacts.other[k]
    return find_features(
        contacts.shapes, contacts.pair_shape[p, 0], contacts.pair_shape[p, 1],
        (ws.position[pose, i], ws.rotation[pose, i]), (ws.position[pose, j], ws.rotation[pose, j]), reach, ws.found,
    )  # fmt: skip


@njit
def _is_of(work, features, f, m):
    """Return whether slot f is for the features m of ``features``: the same kind and the same ``key`` (2,)."""
    same = work.kind[f] == features.kind[m] and work.swapped[f] == features.swapped[m]
    return same and work.key[f, 0] == features.key[m, 0] and work.key[f, 1] == features.key[m, 1]


@njit
def _follows(work, features, f, m):
    """Return whether features m continue slot f: the same vertex, ball or rim, on another feature of the other shape.

    ``key`` (2,) then has the same first number.
    """
    points = LINE_LINE not in (work.kind[f], features.kind[m])
    return points and work.swapped[f] == features.swapped[m] and work.key[f, 0] == features.key[m, 0]


@njit
def _take(work, features, f, m):
    """Copy the features m to slot f, and mark them as taken: their kind becomes EMPTY.

    Writes ``kind`` and ``swapped`` (features,), ``key`` and ``size`` (features, 2), ``place`` and ``axis`` (features,
    2, 3) of ``work`` (the contacts, of a run).
    """
    work.kind[f], work.swapped[f] = features.kind[m], features.swapped[m]
    for side in range(2):
        work.key[f, side], work.size[f, side] = features.key[m, side], features.radius[m, side]
        for a in range(3):
            work.place[f, side, a], work.axis[f, side, a] = features.point[m, side, a], features.direction[m, side, a]
    features.kind[m] = EMPTY


@njit
def _best_for(ws, f, count, follow):
    """Return the index in ``ws.found`` of the features that match slot f, or -1.

    If several match, the first feature has to be nearest to that of the slot, by its point (3,), body axes. With
    ``follow`` all match that continue those of the slot (`_follows`), and the gap has to be nearest to zero.
    """
    work, features, best, least = ws.contacts, ws.found, -1, math.inf
    for m in range(count):
        if features.kind[m] == EMPTY or not (
            _follows(work, features, f, m) if follow else _is_of(work, features, f, m)
        ):
            continue
        away = sub(vector(work.place[f, 0]), vector(features.point[m, 0]))
        distance = abs(features.gap[m]) if follow else dot(away, away)
        if distance < least:
            best, least = m, distance
    return best


@njit
def _clear(plan, ws, f):
    """Open the contact of slot f, and mark the slot as empty.

    Of ``ws.contacts``: ``kind`` becomes EMPTY, ``closed``, ``hits``, ``impulse`` (3,) and ``slip_vector`` (3,) zero.
    """
    work, k = ws.contacts, plan.contacts.height.size + f
    work.kind[f], work.closed[k], work.hits[k] = EMPTY, False, 0
    for a in range(3):
        work.impulse[k, a] = work.slip_vector[f, a] = 0.0


@njit
def _locate_found(plan, ws, pose, k, m):
    """Return gap, normal and carriers as `locate_contact`, if contact k had the features m of ``ws.found``.

    A gap, m, the normal (3,), and both carriers (3,), world.
    """
    features, i, j = ws.found, plan.contacts.body[k], plan.contacts.other[k]
    first, second = (j, i) if features.swapped[m] else (i, j)
    gap, normal, A, B = locate_features(
        features.kind[m], features.point[m], features.direction[m], features.radius[m],
        (ws.position[pose, first], ws.rotation[pose, first]), (ws.position[pose, second], ws.rotation[pose, second]),
    )  # fmt: skip
    return (gap, scale(-1.0, normal), B, A) if features.swapped[m] else (gap, normal, A, B)


@njit
def _take_touching(plan, ws, pose, p, f, count):
    """Give the closed slot f, whose features were not found again, the nearest touching features, or empty it.

    Features touch if their gap is at most max(``held_gap``, 0) + FLUSH. The nearest are those whose carrier (3,),
    world, is nearest to the old one, within MARGIN times `size_of_pair`; their gap becomes the
    ``ws.contacts.held_gap``. Where two corners coincide the same point is found as a vertex of the first shape, as one
    of the second, or as two edges that cross. If the contact opened there, its closing again would be an impact.
    ``ws.contacts.kind``, which was LOST - kind, is written too.
    """
    work, features, k = ws.contacts, ws.found, plan.contacts.height.size + f
    work.kind[f] = LOST - work.kind[f]
    _, _, there, _ = locate_contact(plan, ws, pose, k)
    best, least = -1, (MARGIN * size_of_pair(plan, p)) ** 2
    for m in range(count):
        if features.kind[m] == EMPTY or features.gap[m] > max(work.held_gap[k], 0.0) + FLUSH * length_unit(plan):
            continue
        away = sub(_locate_found(plan, ws, pose, k, m)[2], there)
        if dot(away, away) < least:
            best, least = m, dot(away, away)
    if best < 0:
        _clear(plan, ws, f)
        return
    work.held_gap[k] = features.gap[best]
    _take(work, features, f, best)


@njit
def _fill(plan, ws, pose, p, count):
    """Distribute the features found among the slots of pair p.

    Slots, in their order, keep features that are found again. A closed slot whose features are gone takes those that
    continue them (`_follows`), else touching ones; an open one whose features are gone is emptied. Empty slots then
    take the others, the smallest gap first. Writes ``ws.contacts.kind`` (features,) and the other arrays of slots.
    Returns whether a closed slot has taken features that continue its own.
    """
    moved = False
    work, features, np_ = ws.contacts, ws.found, plan.contacts.height.size
    first, last = plan.contacts.pair_first[p], plan.contacts.pair_first[p + 1]
    for f in range(first, last):
        if work.kind[f] == EMPTY:
            continue
        best = _best_for(ws, f, count, False)
        if best < 0 and work.closed[np_ + f]:
            best = _best_for(ws, f, count, True)
            most = max(work.held_gap[np_ + f], 0.0) + FLUSH * length_unit(plan)
            if best >= 0 and work.kind[f] == RIM_POINT and features.gap[best] > most:
                _clear(plan, ws, f)
                continue
            moved = moved or best >= 0
        if best >= 0:
            _take(work, features, f, best)
        elif work.closed[np_ + f]:
            work.kind[f] = LOST - work.kind[f]
        else:
            _clear(plan, ws, f)
    for f in range(first, last):
        if work.kind[f] <= LOST:
            _take_touching(plan, ws, pose, p, f, count)
    for f in range(first, last):
        if work.kind[f] != EMPTY:
            continue
        best = -1
        for m in range(count):
            if features.kind[m] != EMPTY and (best < 0 or features.gap[m] < features.gap[best]):
                best = m
        if best < 0:
            return moved
        _take(work, features, f, best)
    return moved


@njit
def _touches_too(plan, ws, pose, k, least):
    """Return an open contact of the same bodies as contact k with a gap up to ``least``, m, or -1.

    It is by the same first feature, which has a radius, see ``ws.contacts.size`` (features, 2): a ball, an end of a
    capsule, a rim.
    """
    work, contacts, g = ws.contacts, plan.contacts, k - plan.contacts.height.size
    if work.size[g, 0] == 0.0 or work.kind[g] == LINE_LINE:
        return -1
    for n in range(work.near_count[0]):
        m = natural(work.near[n])
        f = m - contacts.height.size
        if f < 0 or work.closed[m] or work.kind[f] == EMPTY or work.kind[f] == LINE_LINE:
            continue
        alike = contacts.element[m] == contacts.element[k] and contacts.body[m] == contacts.body[k]
        alike = alike and contacts.other[m] == contacts.other[k] and work.swapped[f] == work.swapped[g]
        if alike and work.key[f, 0] == work.key[g, 0] and locate_contact(plan, ws, pose, m)[0] <= least:
            return m
    return -1


@njit
def _hand_over(plan, ws, k, m):
    """Move the impulse and the slip of contact k to contact m.

    These are ``impulse`` (nk, 3) and ``slip_vector`` (features, 3) of ``ws.contacts``.
    """
    work, planes = ws.contacts, plan.contacts.height.size
    for a in range(3):
        work.impulse[m, a], work.slip_vector[m - planes, a] = work.impulse[k, a], work.slip_vector[k - planes, a]
        work.impulse[k, a] = work.slip_vector[k - planes, a] = 0.0


@njit
def _roll_on(plan, ws, pose):
    """Hand over closed contacts of round features that have rolled over the seam of two flush shapes.

    Writes ``closed``, ``held_gap`` and ``hits`` (nk,) and what `_hand_over` writes. Runs that are taped for gradients
    do not: derivatives do not follow impulse and slip from contact to contact.
    """
    work, contacts = ws.contacts, plan.contacts
    for n in range(work.near_count[0] if ws.tape.h.size == 0 else 0):
        k = natural(work.near[n])
        if not work.closed[k] or k < contacts.height.size or work.kind[k - contacts.height.size] == EMPTY:
            continue
        least = work.held_gap[k] + FLUSH * length_unit(plan)
        if locate_contact(plan, ws, pose, k)[0] <= least:
            continue
        m = _touches_too(plan, ws, pose, k, least)
        if m < 0:
            continue
        work.closed[m], work.closed[k] = True, False
        work.held_gap[m], work.hits[m] = locate_contact(plan, ws, pose, m)[0], work.hits[k]
        _hand_over(plan, ws, k, m)
        if roller_of(plan, k) >= 0:
            _hand_over(plan, ws, contacts.roller[k], contacts.roller[m])


@indirect(seconds=3, what="contacts of shapes")
def choose_features(plan: Plan, ws: Workspace, pose: int, h: float) -> None:
    """Fill the slots with the features that face each other at a pose, as far as they might meet within ``h`` seconds.

    Writes ``ws.contacts.kind`` (features,) and the other arrays of slots, and opens contacts whose slots are
    emptied.
    Closed contacts of round features that roll over the seam of two flush shapes pass to the next shape.
    """
    moved = False
    list_near(plan, ws, pose, h)
    for n in range(ws.contacts.near_pair_count[0]):
        p = ws.contacts.near_pair[n]
        reach = AHEAD * way_of_pair(plan, ws, pose, p, h) + MARGIN * size_of_pair(plan, p)
        moved = _fill(plan, ws, pose, p, find_between(plan, ws, pose, p, reach)) or moved
    if moved:
        _roll_on(plan, ws, pose)


@indirect(seconds=1, what="contacts of shapes")
def misses_features(plan: Plan, ws: Workspace, start: int, end: int, part: float) -> bool:
    """Return whether in a trial shapes may have met by features that have no slot, or passed through each other.

    ``start``, ``end``: numbers of its poses; ``part``: its share (0, 1] of a step. Slots without features have
    ``ws.contacts.kind`` (features,) below zero. In a trial up to SHORTEST overlaps do not count, and points pass each
    other only where they move by more than MARGIN of the size of their shapes.
    """
    work, contacts, short = ws.contacts, plan.contacts, part <= SHORTEST
    listed = is_list_whole(plan, ws, end)
    for n in range(work.near_pair_count[0] if listed else contacts.pair_shape.shape[0]):
        p = work.near_pair[n] if listed else n
        least = (MARGIN * size_of_pair(plan, p)) ** 2 if short else 0.0
        for f in range(contacts.pair_first[p], contacts.pair_first[p + 1]):
            k = contacts.height.size + f
            if work.kind[f] not in (POINT_POINT, POINT_LINE, CIRCLE_POINT) or work.closed[k]:
                continue
            gap, normal, A, B = locate_contact(plan, ws, start, k)
            _, after, C, D = locate_contact(plan, ws, end, k)
            way = sub(sub(C, A), sub(D, B))
            if max(gap * gap, least) < dot(way, way) and dot(normal, after) < TURNED:
                return True
        for m in range(0 if short else find_between(plan, ws, end, p, -UNSEEN * size_of_pair(plan, p))):
            seen = False
            for f in range(contacts.pair_first[p], contacts.pair_first[p + 1]):
                seen = seen or _is_of(work, ws.found, f, m)
            if not seen:
                return True
    return False


@njit
def overlooks_features(plan, ws, start, end, part):
    """Return whether shapes met in a trial by features without a slot; it is then repeated in half the time.

    ``part``: its share (0, 1] of the step, not halved below `FINEST`.
    """
    return part > FINEST and plan.contacts.pair_shape.size > 0 and misses_features(plan, ws, start, end, part)


@njit
def depth_of_pair(plan, ws, pose, p):
    """Return the depth by which the shapes of pair p overlap at a pose, m; zero where they do not.

    It is the largest of their features in ``ws.found``, by ``gap`` (space,), which are written.
    """
    depth = 0.0
    for m in range(find_between(plan, ws, pose, p, 0.0)):
        depth = max(depth, -ws.found.gap[m])
    return depth


@njit
def _is_seen(plan, ws, pose, p, f, count):
    """Return whether the contact of slot f of pair p is among the features found: the same, or others at its place.

    Others have the same gap, carrier (3,) and normal (3,), world, but for FLUSH, SAME_PLACE and SAME_NORMAL.
    """
    work, features, k = ws.contacts, ws.found, plan.contacts.height.size + f
    gap, normal, A, _ = locate_contact(plan, ws, pose, k)
    least, flush = (SAME_PLACE * size_of_pair(plan, p)) ** 2, FLUSH * length_unit(plan)
    for m in range(count):
        if _is_of(work, features, f, m):
            return True
        other, facing, there, _ = _locate_found(plan, ws, pose, k, m)
        away = sub(A, there)
        if abs(other - gap) <= flush and dot(away, away) <= least and dot(normal, facing) >= SAME_NORMAL:
            return True
    return False


@njit
def see_features(plan, ws, pose, seen):
    """Set ``seen`` (features,), where True, to whether the shapes still face each other by the features of the slot."""
    work, contacts = ws.contacts, plan.contacts
    for n in range(work.near_pair_count[0]):
        p = work.near_pair[n]
        first, last, farthest = contacts.pair_first[p], contacts.pair_first[p + 1], -math.inf
        for f in range(first, last):
            if seen[f]:
                farthest = max(farthest, locate_contact(plan, ws, pose, contacts.height.size + f)[0])
        if farthest == -math.inf:
            continue
        count = find_between(plan, ws, pose, p, farthest + MARGIN * size_of_pair(plan, p))
        for f in range(first, last):
            seen[f] = seen[f] and _is_seen(plan, ws, pose, p, f, count)


@njit
def longest_share(plan, ws, pose, h, way):
    """Return the share of a step in which no two shapes that could meet move farther than ``way`` of their size.

    ``pose``: of the start; ``h``: size of the step, s; ``way``: a share of `size_of_pair`. Only pairs count with
    features in a slot, ``ws.contacts.kind`` (features,), and none of a plane, whose features are the same everywhere.
    """
    work, contacts, share = ws.contacts, plan.contacts, 1.0
    for n in range(work.near_pair_count[0]):
        p = work.near_pair[n]
        a, b = contacts.pair_shape[p, 0], contacts.pair_shape[p, 1]
        faces = contacts.shapes.kind[a] != PLANE and contacts.shapes.kind[b] != PLANE
        for f in range(contacts.pair_first[p], contacts.pair_first[p + 1] if faces else contacts.pair_first[p]):
            if work.kind[f] != EMPTY:
                longest = way_of_pair(plan, ws, pose, p, h)
                share = min(share, way * size_of_pair(plan, p) / longest) if longest > 0.0 else share
                break
    return share
