"""Contacts of shapes in a collocation step: features for a step, places for rows, frames that go along.

A feature is a pair of vertices, edges or faces that may touch, a slot the arrays of one of them, a place the rows that
are kept for one closed contact of two bodies. Poses are numbered 0 and 1.

Slots of features are filled at the start of a step or part (step/contacts/finding.py), and keep their features through
it. A closed contact has the rows of one of the places of its two bodies. Its frame at a node is the one at node 0, with
the direction across the normal turned to stay at right angles to it: that is smooth, unlike `square_to`.
"""

import math

from varint.base.numba import indirect, natural, njit
from varint.mathematics.vectors import add, cross, dot, rotate, scale, sub, turn_of, vector, write
from varint.step.collocation.records import LinkTree, NodeWorkspace
from varint.step.contacts.cones import STILL
from varint.step.contacts.events import PARTING
from varint.step.contacts.features import feature_of, locate_contact, rate_along
from varint.step.contacts.finding import choose_features, longest_share, see_features
from varint.step.contacts.rows import contact_gap, normal_rate, set_slip
from varint.step.plan import Plan, Workspace
from varint.step.sizes import length_unit

FARTHEST = 0.25  # of the smaller shape: how far two that could meet move in a part of a step
# m, times `length_unit`: features are chosen for poses at which shapes have moved so far against each other, so that
# mirror images turn together
AHEAD = 1e-11


@njit
def move_bodies(plan, ws):
    """Write the velocities of bodies without joints, M^-1 times ``ws.momentum`` (nb, 6), to ``ws.velocity`` (nb, 6).

    Linear parts in axes of the world, angular ones in those of the body.
    """
    for b in range(plan.bodies.mass.size):
        p = ws.momentum[b]
        line = scale(1.0 / plan.bodies.mass[b], vector(p))
        write(ws.velocity[b], line, rotate(plan.bodies.inverse_inertia[b], turn_of(p)))


@indirect(seconds=1, what="contacts of shapes in collocation")
def begin_facing(plan: Plan, ws: Workspace, tree: LinkTree, work: NodeWorkspace, h: float) -> None:
    """Fill the slots of shapes for a step of ``h`` s from the present node, which is shown at pose 0.

    Writes poses and momenta (nb, 6) of pose 0, ``ws.velocity`` (nb, 6), ``work.touch.longest`` (1,), a share of the
    step, and the arrays of slots; these stay where ``h`` is not above 0, at a look without a step.
    """
    for b in range(tree.link.size):
        n = natural(tree.link[b])
        R, p = work.rotation[0, n], work.momentum[n]
        for k in range(3):
            ws.position[0, b, k], ws.momentum[b, k] = work.position[0, n, k], p[k]
            ws.momentum[b, 3 + k] = R[0, k] * p[3] + R[1, k] * p[4] + R[2, k] * p[5]
            for m in range(3):
                ws.rotation[0, b, k, m] = R[k, m]
    move_bodies(plan, ws)
    if h > 0.0:
        renew_features(plan, ws, work, 0, h)
    work.touch.longest[0] = _share_of_step(plan, ws, h)


@indirect(seconds=1, what="contacts of shapes in collocation")
def renew_features(plan: Plan, ws: Workspace, work: NodeWorkspace, pose: int, h: float) -> None:
    """Fill the slots with the features that could meet within ``h`` s from a pose on; closed contacts keep theirs.

    Where one of these does not face the other shape any more no slot changes: its normal would jump silently.
    Reads ``ws.velocity`` (nb, 6). Overwrites the other pose and ``work.touch.seen``.
    """
    ahead, seen = _go_ahead(plan, ws, pose, ws.velocity, AHEAD), work.touch.seen
    _mark_closed(plan, ws, seen)
    see_features(plan, ws, ahead, seen)
    for f in range(seen.size):
        if ws.contacts.closed[plan.contacts.height.size + f] and not seen[f]:
            return  # the event TURNS takes it
    choose_features(plan, ws, ahead, h)


@njit
def _mark_closed(plan, ws, seen):
    """Set ``seen`` (features,) to whether contacts are closed."""
    for f in range(seen.size):
        seen[f] = ws.contacts.closed[plan.contacts.height.size + f]


@njit
def _share_of_step(plan, ws, h):
    """Return the share of ``h`` s (a number) from pose 0 in which no shapes that could turn other features move far.

    1 where all pairs that are near are of two balls, which have no other features.
    """
    first, pair = plan.contacts.shapes.first_vertex, plan.contacts.pair_shape
    for n in range(ws.contacts.near_pair_count[0]):
        a, b = pair[ws.contacts.near_pair[n]]
        if first[a + 1] > first[a] + 1 or first[b + 1] > first[b] + 1:
            return longest_share(plan, ws, 0, h, FARTHEST)
    return 1.0


@indirect(seconds=1, what="contacts of shapes in collocation")
def share_of_part(plan: Plan, ws: Workspace, work: NodeWorkspace, h: float) -> float:
    """Return `_share_of_step` at ``ws.velocity`` (nb, 6); ``work`` is that of all functions of its kind, not used."""
    return _share_of_step(plan, ws, h)


@njit
def take_places(plan, ws, closures, work):
    """Give each closed contact the rows of a free place of its bodies, ``work.touch.row`` (touching, 3), or -1.

    Also writes ``work.touch.used`` (places,). Contacts with planes have their own.
    """
    touch = work.touch
    for k in range(touch.used.size):
        touch.used[k] = False
    for n in range(ws.contacts.near_count[0]):
        c = natural(ws.contacts.near[n])
        f = feature_of(plan, c)
        place = c if f < 0 else -1
        if f >= 0 and ws.contacts.closed[c]:
            for k in range(closures.first_place[f], closures.end_place[f]):
                if not touch.used[k]:
                    place = k
                    break
        for a in range(3):
            touch.row[c, a] = closures.contact[place, a] if place >= 0 else -1
        if place >= 0:
            touch.used[place] = True


@njit
def turn_frame(plan, ws, work, c, k):
    """Write how the frame of the rows of contact c at node k is turned in that of `write_feature_frame` there.

    To ``work.touch.turned`` (s, features, 2), a cosine and a sine; at node 0 also ``work.touch.tangent``.
    """
    f = feature_of(plan, c)
    E, tangent, turned = ws.contacts.frame[f], work.touch.tangent[f], work.touch.turned[k, f]
    if k == 0:
        for m in range(3):
            tangent[m] = E[1, m]
        turned[0], turned[1] = 1.0, 0.0
        return
    t, normal = vector(tangent), vector(E[0])
    t = sub(t, scale(dot(t, normal), normal))
    size = math.sqrt(dot(t, t))
    turned[0], turned[1] = dot(t, vector(E[1])) / size, dot(t, vector(E[2])) / size


@njit
def to_pose(plan, work, c, k, pair):
    """Return two components (2,) along the rows of contact c at node k in the frame of `write_upper` there."""
    f = feature_of(plan, c)
    if f < 0:
        return pair
    cosine, sine = work.touch.turned[k, f, 0], work.touch.turned[k, f, 1]
    return cosine * pair[0] - sine * pair[1], sine * pair[0] + cosine * pair[1]


@indirect(seconds=1, what="contacts of shapes in collocation")
def look_at_faces(plan: Plan, ws: Workspace, work: NodeWorkspace, pose: int) -> None:
    """Write whether closed contacts still face each other by their features to ``work.touch.seen``.

    Half of `AHEAD` after a pose: features that `turn_features` chose there are seen. Reads ``ws.pace.velocity`` (nb,
    6). Overwrites the other pose.
    """
    _mark_closed(plan, ws, work.touch.seen)
    see_features(plan, ws, _go_ahead(plan, ws, pose, ws.pace.velocity, 0.5 * AHEAD), work.touch.seen)


@njit
def _go_ahead(plan, ws, pose, velocity, way):
    """Write the poses (nb, 3), (nb, 3, 3) of bodies a little after a pose to the other one; return its number.

    ``velocity`` (nb, 6): of the bodies. ``way``: how far shapes with a slot move against each other until then, m,
    times `length_unit`.
    """
    ahead, fastest, nb = 1 - pose, 0.0, plan.bodies.mass.size
    for n in range(ws.contacts.near_count[0]):
        c = natural(ws.contacts.near[n])
        f = feature_of(plan, c)
        if f >= 0 and ws.contacts.kind[f] >= 0:
            fastest = max(fastest, _speed_between(plan, ws, pose, velocity, c))
    time = way * length_unit(plan) / fastest if fastest > PARTING * length_unit(plan) else 0.0
    for b in range(nb):
        x, w = add(vector(ws.position[pose, b]), scale(time, vector(velocity[b]))), turn_of(velocity[b])
        ws.position[ahead, b, 0], ws.position[ahead, b, 1], ws.position[ahead, b, 2] = x
        for a in range(3):
            row = vector(ws.rotation[pose, b, a])
            row = add(row, scale(time, cross(row, w)))
            ws.rotation[ahead, b, a, 0], ws.rotation[ahead, b, a, 1], ws.rotation[ahead, b, a, 2] = row
    return ahead


@njit
def _speed_between(plan, ws, pose, velocity, c):
    """Return a bound of how fast the features of contact c move against each other, m/s; ``velocity`` (nb, 6)."""
    i, j, nb = natural(plan.contacts.body[c]), natural(plan.contacts.other[c]), plan.bodies.mass.size
    _, _, A, B = locate_contact(plan, ws, pose, c)
    apart, speed = vector(velocity[i]), 0.0
    for b, at in ((i, A), (j, B)):
        if b == nb:
            continue
        arm, w = sub(at, vector(ws.position[pose, b])), turn_of(velocity[b])
        speed += math.sqrt(dot(arm, arm) * dot(w, w))
    if j != nb:
        apart = sub(apart, vector(velocity[j]))
    return speed + math.sqrt(dot(apart, apart))


@indirect(seconds=1, what="contacts of shapes in collocation")
def turn_features(plan: Plan, ws: Workspace, pose: int) -> None:
    """Choose the features of shapes anew at a pose, for what follows, and open contacts that part by these.

    At ``ws.velocity`` (nb, 6), those with which the bodies move on. The features are those `AHEAD` of the pose.
    Overwrites the other pose. A normal may jump from one face to the next: a corner that slid along one face past its
    edge parts from the next one. Writes the arrays of slots, and ``closed``, ``held_gap`` and ``slip`` (contacts, 2) of
    ``ws.contacts``, m/s, of all that are closed: an impact takes a slip of zero for one that sticks.
    """
    work, least = ws.contacts, STILL * length_unit(plan)
    choose_features(plan, ws, _go_ahead(plan, ws, pose, ws.velocity, AHEAD), 0.0)
    for n in range(work.near_count[0]):
        c = natural(work.near[n])
        if not work.closed[c]:
            continue
        if feature_of(plan, c) >= 0:
            work.held_gap[c] = contact_gap(plan, ws, pose, c)
        if normal_rate(plan, ws, pose, c) > PARTING * length_unit(plan):
            work.closed[c] = False
        first = rate_along(plan, work.upper, c, 1, ws.velocity)
        second = rate_along(plan, work.upper, c, 2, ws.velocity)
        moves = work.closed[c] and math.sqrt(first * first + second * second) > least
        set_slip(plan, ws, c, first if moves else 0.0, second if moves else 0.0)


@indirect(seconds=1, what="contacts of shapes in collocation")
def faces(plan: Plan, ws: Workspace, work: NodeWorkspace, pose: int, c: int) -> bool:
    """Return whether the shapes of contact c face each other at a pose by the features that it has.

    Overwrites ``work.touch.seen`` (features,).
    """
    f = feature_of(plan, c)
    if f < 0:
        return True
    for g in range(work.touch.seen.size):
        work.touch.seen[g] = g == f
    see_features(plan, ws, pose, work.touch.seen)
    return work.touch.seen[f]
