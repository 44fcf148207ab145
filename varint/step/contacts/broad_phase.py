"""Which pairs of shapes can meet: the broad phase. All loops over contacts visit those of such pairs alone.

About each shape is a sphere, grown by a skin. Pairs whose grown spheres overlap are listed; the list holds until the
centre of a shape has moved so far that what is left of its skin could be used up within two steps. Then it is made
anew, from all pairs. A pair that is not listed has no features within reach, so that the list changes no result.
"""

import math

from varint.base.numba import indirect, natural, njit
from varint.geometry.shape_records import HOLLOW, PLANE
from varint.mathematics.vectors import add, dot, rotate, sub, vector
from varint.step.contacts.rolling import roller_of
from varint.step.plan import Plan, Workspace

AHEAD = 2.0  # times the way of a step: so far features are looked for ...
MARGIN = 0.05  # ... and so much of the size of the smaller shape
EMPTY = -1  # kind of a slot without features
SKIN = 4.0  # times how far features of a shape are looked for: the larger, the longer and the more lasting the list


@njit
def _longest_way(plan, ws, i, arm, h):
    """Return how far points of body i within ``arm``, m, of its centre of mass may move in ``h`` seconds, m.

    Of ``ws.velocity`` and gravity: other forces add nothing.
    """
    v, w, g = vector(ws.velocity[i]), vector(ws.velocity[i, 3:]), vector(plan.bodies.gravity)
    return h * (math.sqrt(dot(v, v)) + arm * math.sqrt(dot(w, w)) + h * math.sqrt(dot(g, g)))


@njit
def _arm(plan, s):
    """Return the distance from the centre of mass within which all of shape s is, m, if a sphere is about it."""
    c = vector(plan.contacts.shapes.centre[s])
    return math.sqrt(dot(c, c)) + plan.contacts.shapes.bound[s]


@njit
def _way_near(plan, ws, pose, s, other, h):
    """Return how far points of shape s that face the shape ``other`` may move in ``h`` seconds from a pose, m.

    Planes and hollow shapes have no end: the farther from the centre of mass the other shape is, the faster they turn.
    """
    i, arm = _slot_of(plan, s), 0.0
    if i == plan.bodies.mass.size:
        return 0.0
    if _is_bounded(plan, s):
        arm = _arm(plan, s)
    elif _is_bounded(plan, other):
        away = sub(_centre(plan, ws, pose, other), vector(ws.position[pose, i]))
        arm = math.sqrt(dot(away, away)) + plan.contacts.shapes.bound[other]
    return _longest_way(plan, ws, i, arm, h)


@njit
def way_of_pair(plan, ws, pose, p, h):
    """Return how far the shapes of pair p may move against each other in ``h`` seconds from a pose, m."""
    a, b = plan.contacts.pair_shape[p, 0], plan.contacts.pair_shape[p, 1]
    return _way_near(plan, ws, pose, a, b, h) + _way_near(plan, ws, pose, b, a, h)


@njit
def list_all(ws):
    """List all contacts and pairs of shapes; the next `list_near` chooses among them.

    Writes ``near``, ``near_pair``, ``is_near``, both counts, ``near_count`` and ``near_pair_count``, and ``skin`` of
    ``ws.contacts``.
    """
    work = ws.contacts
    work.near_count[0], work.near_pair_count[0] = work.near.size, work.near_pair.size
    for k in range(work.near.size):
        work.near[k] = k
    for p in range(work.near_pair.size):
        work.near_pair[p], work.is_near[p] = p, True
    for s in range(work.skin.size):
        work.skin[s] = -math.inf


@indirect(seconds=1, what="contacts")
def copy_near(plan: Plan, ws: Workspace, back: bool) -> None:
    """Copy the state of the listed contacts that a step changes to ``ws.contacts.saved``, or, if ``back``, from there.

    ``saved`` (nk, 10): closed, ``held_gap``, ``slip`` (2), ``impulse`` (3), and of shapes ``slip_vector`` (3). The list
    is the same at both: it is made at the start of (sub-)steps. All others are open.
    """
    work = ws.contacts
    planes = work.closed.size - work.kind.size
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        saved, slip, impulse = work.saved[k], work.slip[k], work.impulse[k]
        if back:
            work.closed[k], work.held_gap[k] = saved[0] != 0.0, saved[1]
            slip[0], slip[1] = saved[2], saved[3]
            impulse[0], impulse[1], impulse[2] = saved[4], saved[5], saved[6]
        else:
            saved[0], saved[1] = 1.0 if work.closed[k] else 0.0, work.held_gap[k]
            saved[2], saved[3] = slip[0], slip[1]
            saved[4], saved[5], saved[6] = impulse[0], impulse[1], impulse[2]
        if k < planes:
            continue
        slip_vector = work.slip_vector[k - planes]
        for m in range(3):
            if back:
                slip_vector[m] = saved[7 + m]
            else:
                saved[7 + m] = slip_vector[m]


@njit
def clear_impulses(ws):
    """Set the impulses ``ws.contacts.z`` (nk, 3) of the listed contacts to zero; all others are zero."""
    for n in range(ws.contacts.near_count[0]):
        z = ws.contacts.z[natural(ws.contacts.near[n])]
        z[0] = z[1] = z[2] = 0.0


@njit
def _slot_of(plan, s):
    """Return the slot of the body of shape s, nb for a shape of the world."""
    body = plan.contacts.shapes.body[s]
    return plan.bodies.mass.size if body < 0 else body


@njit
def _centre(plan, ws, pose, s):
    """Return the centre (3,) of the sphere about shape s at a pose, world, m."""
    i = _slot_of(plan, s)
    return add(vector(ws.position[pose, i]), rotate(ws.rotation[pose, i], vector(plan.contacts.shapes.centre[s])))


@njit
def _is_bounded(plan, s):
    """Return whether shape s has a sphere about it; planes and hollow shapes have not."""
    return plan.contacts.shapes.bound[s] < math.inf


@njit
def _need(plan, ws, s, h):
    """Return the share of shape s in the distance within which features are looked for in ``h`` seconds, m."""
    i = _slot_of(plan, s)
    if i == plan.bodies.mass.size or not _is_bounded(plan, s):
        return 0.0
    return AHEAD * _longest_way(plan, ws, i, _arm(plan, s), h) + MARGIN * plan.contacts.shapes.bound[s]


@njit
def _left_of_skin(plan, ws, pose, s):
    """Return the skin of shape s less the distance that its centre moved since the list was made, m.

    Zero for shapes of the world, planes and hollow shapes; minus infinity where no list has been made.
    """
    if plan.contacts.shapes.body[s] < 0 or not _is_bounded(plan, s):
        return 0.0 if ws.contacts.skin[s] >= 0.0 else -math.inf
    way = sub(_centre(plan, ws, pose, s), vector(ws.contacts.listed_centre[s]))
    return ws.contacts.skin[s] - math.sqrt(dot(way, way))


@njit
def is_list_whole(plan, ws, pose):
    """Return whether the spheres of no unlisted pair can overlap at a pose."""
    for s in range(ws.contacts.skin.size):
        if not _left_of_skin(plan, ws, pose, s) >= 0.0:
            return False
    return True


@njit
def _is_within_skins(plan, ws, pose, p):
    """Return whether the grown spheres of pair p overlap; hollow shapes, and planes that move, are near everything.

    Of a plane of the world and another shape: whether the grown sphere reaches below the plane.
    """
    shapes, work = plan.contacts.shapes, ws.contacts
    a, b = plan.contacts.pair_shape[p]
    skin = work.skin[a] + work.skin[b]
    if shapes.kind[a] == HOLLOW or shapes.kind[b] == HOLLOW:
        return True
    apart = sub(vector(work.listed_centre[b]), vector(work.listed_centre[a]))
    if shapes.kind[a] != PLANE and shapes.kind[b] != PLANE:
        reach = shapes.bound[a] + shapes.bound[b] + skin
        return dot(apart, apart) < reach * reach
    plane, other, sign = (a, b, 1.0) if shapes.kind[a] == PLANE else (b, a, -1.0)
    if shapes.body[plane] >= 0:
        return True
    normal = rotate(ws.rotation[pose, _slot_of(plan, plane)], vector(shapes.normal[shapes.first_face[plane]]))
    return sign * dot(normal, apart) - shapes.bound[other] < skin


@njit
def _forget(plan, ws, f):
    """Clear slot f, which loops over contacts do not visit any more, and all that ``ws.contacts`` has of its contact k.

    Of f: ``kind`` becomes EMPTY, ``slip_vector`` zero. Of k: ``closed``, ``hits``, ``taking``, ``sticking``, ``mode``,
    ``solved_mode``, ``missed``, ``impulse``, ``z``, ``solved``, ``solved_rate``, ``bias``, ``slip`` and ``direction``
    become zero.
    """
    work, k = ws.contacts, plan.contacts.height.size + f
    work.kind[f], work.closed[k], work.hits[k] = EMPTY, False, 0
    work.taking[k], work.sticking[k], work.mode[k], work.solved_mode[k], work.missed[k] = False, False, 0, 0, 0.0
    for a in range(3):
        work.impulse[k, a] = work.z[k, a] = work.solved[k, a] = 0.0
        work.slip_vector[f, a] = work.solved_rate[k, a] = work.bias[k, a] = 0.0
    for a in range(2):
        work.slip[k, a] = work.direction[k, a] = 0.0


@njit
def list_near(plan, ws, pose, h):
    """List the pairs that could meet in a step of ``h`` seconds from a pose, and the contacts of these and of planes.

    Nothing changes as long as the list holds. A new one writes ``skin``, ``listed_centre`` (shapes, 3), ``is_near``,
    ``near_pair``, ``near_pair_count``, ``near`` and ``near_count`` of ``ws.contacts``: first contacts with planes, then
    the slots of pairs, then rolling resistances, whose ``kind`` is EMPTY. Slots of pairs that leave the list are
    emptied.
    """
    work, contacts, whole = ws.contacts, plan.contacts, True
    for s in range(work.skin.size):
        whole = whole and _left_of_skin(plan, ws, pose, s) >= _need(plan, ws, s, h)
    if whole:
        return
    for s in range(work.skin.size):
        work.skin[s] = SKIN * _need(plan, ws, s, h)
        centre = _centre(plan, ws, pose, s)
        for m in range(3):
            work.listed_centre[s, m] = centre[m]
    count, pairs = contacts.height.size, 0
    for p in range(work.is_near.size):
        first, last, was_near = contacts.pair_first[p], contacts.pair_first[p + 1], work.is_near[p]
        work.is_near[p] = _is_within_skins(plan, ws, pose, p)
        if work.is_near[p]:
            work.near_pair[pairs] = p
            pairs += 1
        for f in range(first, last if work.is_near[p] or was_near else first):
            if work.is_near[p]:
                work.near[count] = contacts.height.size + f
                count += 1
            else:
                _forget(plan, ws, f)
                roller = roller_of(plan, contacts.height.size + f)
                if roller >= 0:
                    _forget(plan, ws, roller - contacts.height.size)
    for n in range(contacts.height.size, count):
        roller = roller_of(plan, work.near[n])
        if roller >= 0:
            work.near[count], work.kind[roller - contacts.height.size] = roller, EMPTY
            count += 1
    work.near_count[0], work.near_pair_count[0] = count, pairs
