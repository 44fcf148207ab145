"""Contacts of pairs of features: gap, frame and rates over a step (docs/theory.md section 14).

The frame is that of the pose where a step starts, and impulses act in it at one point of both bodies. The rates over a
step are the change of the gap, and along the frame the displacement of what touches: of both carriers, each as a point
of its body in the middle between those at the two ends of the step, with h R w x lever of the radii about them, along
the mean of the normals. With those at the start alone the slip of a ball on a turntable would be of first order.

Arguments: ``pose``, number of a pose of the workspace; ``k``, number of a contact.
"""

import math

from varint.base.numba import indirect, njit
from varint.geometry.features import lever_lengths, locate_features, move_features
from varint.mathematics.vectors import add, cross, dot, rotate, rotate_back, scale, square_to, sub, vector
from varint.step.dense import dot6
from varint.step.plan import Plan, Workspace

Vector = tuple[float, float, float]
Motion = tuple[Vector, Vector]  # of a body: translation and rotation vector, world
STILL_BODY = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))  # the motion of the world


@njit
def feature_of(plan, k):
    """Return the number of the pair of features of contact k; negative for a contact with a plane of the world."""
    return k - plan.contacts.height.size


@njit
def rate_along(plan, rows, k, a, velocity):
    """Return row a of contact k, ``rows[k, a]``, times the motions of its bodies, m/s.

    ``rows`` (nk, 3, 12): `upper` or `row` of ``ws.contacts``; ``velocity`` (nb, 6).
    """
    j = plan.contacts.other[k]
    rate = dot6(rows[k, a], velocity[plan.contacts.body[k]])
    return rate if j == plan.bodies.mass.size else rate + dot6(rows[k, a, 6:], velocity[j])


@indirect(seconds=2, what="contacts of shapes")
def locate_contact(plan: Plan, ws: Workspace, pose: int, k: int) -> tuple[float, Vector, Vector, Vector]:
    """Return the gap, m, normal from ``other`` to ``body``, and the carriers of ``body`` and ``other``, at a pose.

    Normal and carriers: (3,), world; the carriers in m.
    """
    f, work = feature_of(plan, k), ws.contacts
    i, j = plan.contacts.body[k], plan.contacts.other[k]
    first, second = (j, i) if work.swapped[f] else (i, j)
    gap, normal, A, B = locate_features(
        work.kind[f], work.place[f], work.axis[f], work.size[f],
        (ws.position[pose, first], ws.rotation[pose, first]), (ws.position[pose, second], ws.rotation[pose, second]),
    )  # fmt: skip
    return (gap, scale(-1.0, normal), B, A) if work.swapped[f] else (gap, normal, A, B)


@njit
def levers_of(plan, ws, k):
    """Return the distances along the normal from the carriers of ``body`` and ``other`` to the point that touches, m.

    Two numbers with signs, by the radii ``ws.contacts.size`` (features, 2).
    """
    f = feature_of(plan, k)
    first, second = lever_lengths(ws.contacts.kind[f], ws.contacts.size[f])
    return (-second, first) if ws.contacts.swapped[f] else (-first, second)


@indirect(seconds=1, what="contacts of shapes")
def write_feature_frame(plan: Plan, ws: Workspace, pose: int, k: int) -> None:
    """Write ``frame``, ``carrier``, ``slip`` and ``upper`` of a contact between features at a pose.

    Of this contact these are (3, 3), (2, 3), (2,) and (3, 12). ``slip`` is ``slip_vector`` along the frame.
    """
    f, i, j, nb = feature_of(plan, k), plan.contacts.body[k], plan.contacts.other[k], plan.bodies.mass.size
    work, upper = ws.contacts, ws.contacts.upper[k]
    _, normal, A, B = locate_contact(plan, ws, pose, k)
    near, far = levers_of(plan, ws, k)
    touching = scale(0.5, add(add(A, scale(near, normal)), add(B, scale(far, normal))))
    first, second = square_to(normal)
    for m in range(3):
        work.frame[f, 0, m], work.frame[f, 1, m], work.frame[f, 2, m] = normal[m], first[m], second[m]
    for side in range(2):
        body = i if side == 0 else j
        x, R, sign = vector(ws.position[pose, body]), ws.rotation[pose, body], 1.0 if side == 0 else -1.0
        carrier = rotate_back(R, sub(A if side == 0 else B, x))
        arm = rotate_back(R, sub(touching, x))
        for m in range(3):
            work.carrier[f, side, m] = carrier[m]
        for a in range(3 if body != nb else 0):
            along = scale(sign, vector(work.frame[f, a]))
            torque = cross(arm, rotate_back(R, along))
            for m in range(3):
                upper[a, 6 * side + m], upper[a, 6 * side + 3 + m] = along[m], torque[m]
    for a in range(2):
        work.slip[k, a] = dot(vector(work.frame[f, 1 + a]), vector(work.slip_vector[f]))


@indirect(seconds=1, what="contacts of shapes")
def feature_rates(plan: Plan, ws: Workspace, start: int, end: int, h: float, k: int) -> None:
    """Write the rates of a contact between features over a step, and their gradients ``row``, by the unknowns.

    ``rate`` (nk, 3), m/s, and ``row`` (nk, 3, 12) of ``ws.contacts``. ``start``, ``end``: numbers of the poses of the
    step; ``h``: its size, s. Call after `write_feature_frame` at the start.
    """
    work, f, nb, half_step = ws.contacts, feature_of(plan, k), plan.bodies.mass.size, 0.5 * h
    gap, after, A, B = locate_contact(plan, ws, end, k)
    normal = vector(work.frame[f, 0])
    mean, levers = scale(0.5, add(normal, after)), levers_of(plan, ws, k)
    work.rate[k, 0] = (gap - work.held_gap[k]) / h
    work.rate[k, 1] = work.rate[k, 2] = 0.0
    for side in range(2):
        body = plan.contacts.body[k] if side == 0 else plan.contacts.other[k]
        if body == nb:
            continue
        sign, at = 1.0 if side == 0 else -1.0, 6 * side
        v, R, Q = ws.velocity[body], ws.rotation[start, body], ws.rotation[end, body]
        there = rotate_back(Q, sub(A if side == 0 else B, vector(ws.position[end, body])))
        p = scale(0.5, add(vector(work.carrier[f, side]), there))
        u = scale(half_step, vector(v[3:]))
        c = math.sqrt(1.0 - dot(u, u))
        turned = cross(u, p)
        swing = rotate(R, scale(2.0, add(scale(c, turned), cross(u, turned))))  # see contact_rows._press_on_plane
        row = scale(sign, after), scale(sign, cross(there, rotate_back(Q, after)))
        for m in range(3):
            work.row[k, 0, at + m], work.row[k, 0, at + 3 + m] = row[0][m], row[1][m]
        for a in range(1, 3):
            along = scale(sign, vector(work.frame[f, a]))
            rolled = rotate_back(R, cross(scale(levers[side], mean), along))
            work.rate[k, a] += dot(along, vector(v)) + dot(along, swing) / h + dot(rolled, vector(v[3:]))
            gradient = add(cross(p, rotate_back(Q, along)), add(scale(c, rolled), cross(rolled, u)))
            for m in range(3):
                work.row[k, a, at + m], work.row[k, a, at + 3 + m] = along[m], gradient[m]


@indirect(seconds=1, what="contacts of shapes")
def turned_features(
    plan: Plan, ws: Workspace, pose: int, k: int, motions: tuple[Motion, Motion]
) -> tuple[Vector, Vector, Vector]:
    """Return the changes of the normal and of both carriers of a contact of shapes, by ``motions`` of its two bodies.

    ``motions``: of ``body`` and ``other``, each a translation (3,), m, and a rotation vector (3,), rad, world, or their
    rates. Returned are three vectors (3,), world.
    """
    work, f = ws.contacts, feature_of(plan, k)
    i, j = plan.contacts.body[k], plan.contacts.other[k]
    first, second = (j, i) if work.swapped[f] else (i, j)
    ahead, behind = (motions[1], motions[0]) if work.swapped[f] else motions
    turning, dA, dB = move_features(
        work.kind[f], work.place[f], work.axis[f], work.size[f],
        (ws.position[pose, first], ws.rotation[pose, first]), (ws.position[pose, second], ws.rotation[pose, second]),
        ahead, behind,
    )  # fmt: skip
    return (scale(-1.0, turning), dB, dA) if work.swapped[f] else (turning, dA, dB)


@njit
def acceleration_bias(plan, ws, pose, k, velocity):
    """Return the accelerations (3,), m/s^2, along the frame of a contact of shapes at zero acceleration of its bodies.

    ``velocity`` (nb, 6): of the bodies at the pose, from which these follow. With s the velocity of the point of
    ``body`` relative to that of ``other``, they are s' along the frame, of the points where the bodies touch as these
    move on, and along the normal also s along its change. Call after `write_feature_frame` at the pose.
    """
    work, f, nb = ws.contacts, feature_of(plan, k), plan.bodies.mass.size
    i, j = plan.contacts.body[k], plan.contacts.other[k]
    motions = STILL_BODY, STILL_BODY
    if j != nb:
        motions = STILL_BODY, (vector(velocity[j]), rotate(ws.rotation[pose, j], vector(velocity[j, 3:])))
    motions = (vector(velocity[i]), rotate(ws.rotation[pose, i], vector(velocity[i, 3:]))), motions[1]
    turning, dA, dB = turned_features(plan, ws, pose, k, motions)
    _, normal, A, B = locate_contact(plan, ws, pose, k)
    levers = levers_of(plan, ws, k)
    slip, change = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for side in range(2):
        body = i if side == 0 else j
        if body == nb:
            continue
        sign, (v, w), lever = 1.0 if side == 0 else -1.0, motions[side], levers[side]
        arm = sub(add(A if side == 0 else B, scale(lever, normal)), vector(ws.position[pose, body]))
        moving = add(dA if side == 0 else dB, scale(lever, turning))
        slip = add(slip, scale(sign, add(v, cross(w, arm))))
        change = add(change, scale(sign, cross(w, sub(moving, v))))
    along = vector(work.frame[f, 0]), vector(work.frame[f, 1]), vector(work.frame[f, 2])
    return dot(along[0], change) + dot(turning, slip), dot(along[1], change), dot(along[2], change)
