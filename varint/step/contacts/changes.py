"""First derivatives of the rows of contacts: of impulses at a pose, and of rates over a step, by motions of bodies.

A *column* c of a side s of a contact is a unit motion of its body: 0 to 2 a translation, world, 3 to 5 a rotation about
an axis of the body. The directions t_a of a frame turn with the normal n only as far as they have to, by
dt_a = -(dn . t_a) n: the law does not depend on their angle about n.
"""

import math
from typing import NamedTuple

from varint.base.numba import njit
from varint.mathematics.vectors import ZERO, add, cross, dot, rotate, rotate_back, scale, sub, vector
from varint.step.contacts.features import STILL_BODY, feature_of, levers_of, locate_contact, turned_features


@njit
def frame_of(plan, ws, k):
    """Return the normal and two directions across it, vectors (3,), world, along which impulses of contact k act."""
    f = feature_of(plan, k)
    frame = plan.contacts.frame[k] if f < 0 else ws.contacts.frame[f]
    return vector(frame[0]), vector(frame[1]), vector(frame[2])


@njit
def across(plan, ws, k, first, second):
    """Return the vector (3,), world, of the components ``first``, ``second`` along the directions across the normal."""
    _, s, t = frame_of(plan, ws, k)
    return add(scale(first, s), scale(second, t))


@njit
def body_of_side(plan, k, side):
    """Return the slot of the body on a side of contact k: 0 for ``body``, 1 for ``other``."""
    return plan.contacts.body[k] if side == 0 else plan.contacts.other[k]


@njit
def points_of(plan, ws, pose, k):
    """Return the normal of contact k at a pose, the carriers of both bodies, and their levers along the normal, m.

    Vectors (3,), world; the levers are two numbers with signs. A contact with a plane has twice its point, and -r of
    it.
    """
    if feature_of(plan, k) < 0:
        i, r = plan.contacts.body[k], plan.contacts.radius[k]
        A = add(vector(ws.position[pose, i]), rotate(ws.rotation[pose, i], vector(plan.contacts.point[k])))
        return vector(plan.contacts.frame[k, 0]), A, A, (-r, -r)
    _, normal, A, B = locate_contact(plan, ws, pose, k)
    return normal, A, B, levers_of(plan, ws, k)


class UnitMotion(NamedTuple):
    """One of the twelve unit motions of the bodies of a contact."""

    side: int  # of the contact: 0 or 1
    column: int  # 0 to 2: 1 m/s along an axis of the world, 3 to 5: 1 rad/s about an axis of the body


@njit
def unit_motion(plan, ws, pose, k, side, column):
    """Return the velocity (3,) and the angular velocity (3,), world, of a unit motion; see `UnitMotion`."""
    one = (
        1.0 if column % 3 == 0 else 0.0,
        1.0 if column % 3 == 1 else 0.0,
        1.0 if column % 3 == 2 else 0.0,
    )
    if column < 3:
        return one, ZERO
    return ZERO, rotate(ws.rotation[pose, body_of_side(plan, k, side)], one)


@njit
def move_points(plan, ws, pose, k, side, column):
    """Return the rates of the normal and of both carriers, `points_of`, by a unit motion; three vectors (3,), world."""
    f, motion = feature_of(plan, k), unit_motion(plan, ws, pose, k, side, column)
    if f < 0:
        i = plan.contacts.body[k]
        moved = add(motion[0], cross(motion[1], rotate(ws.rotation[pose, i], vector(plan.contacts.point[k]))))
        return ZERO, moved, moved
    return turned_features(plan, ws, pose, k, (motion, STILL_BODY) if side == 0 else (STILL_BODY, motion))


@njit
def push_change(plan, ws, pose, k, share, vectors, at):
    """Return the derivative of sum_a ``share[a]`` ``upper[k, a]`` . ``vectors`` by the unit motion ``at``.

    ``share``: three numbers; ``vectors`` (nb, 6): motions of the bodies, translations in the world, rotations in axes
    of the body. ``at``: a `UnitMotion` at the pose of ``upper``.
    """
    (n, s, t), (_, A, B, levers) = frame_of(plan, ws, k), points_of(plan, ws, pose, k)
    motion = unit_motion(plan, ws, pose, k, at.side, at.column)
    dn, dA, dB = move_points(plan, ws, pose, k, at.side, at.column)
    push = add(scale(share[0], n), add(scale(share[1], s), scale(share[2], t)))
    turned = sub(scale(share[0], dn), scale(share[1] * dot(dn, s) + share[2] * dot(dn, t), n))
    touching = scale(0.5, add(add(A, scale(levers[0], n)), add(B, scale(levers[1], n))))
    moved = scale(0.5, add(add(dA, scale(levers[0], dn)), add(dB, scale(levers[1], dn))))
    total = 0.0
    for side in range(2):
        i = body_of_side(plan, k, side)
        if i == plan.bodies.mass.size:
            continue
        sign, arm, swept = 1.0 if side == 0 else -1.0, sub(touching, vector(ws.position[pose, i])), moved
        along, turn, tilted = vector(vectors[i]), rotate(ws.rotation[pose, i], vector(vectors[i, 3:])), ZERO
        if side == at.side:
            swept, tilted = sub(swept, motion[0]), cross(motion[1], turn)
        torque = add(cross(swept, push), cross(arm, turned))
        total += sign * (dot(along, turned) + dot(turn, torque) + dot(tilted, cross(arm, push)))
    return total


@njit
def gap_change(plan, ws, pose, k, at):
    """Return the derivative of the gap of contact k at a pose by the unit motion ``at``."""
    normal, A, B, _ = points_of(plan, ws, pose, k)
    motion, i = unit_motion(plan, ws, pose, k, at.side, at.column), body_of_side(plan, k, at.side)
    arm = sub(A if at.side == 0 else B, vector(ws.position[pose, i]))
    return (1.0 if at.side == 0 else -1.0) * dot(normal, add(motion[0], cross(motion[1], arm)))


@njit
def _places(plan, ws, step, k, side, here, there):
    """Return the carriers of a side at start and end of a step, from the centre of mass, axes of the body, m.

    ``here``, ``there``: the same (3,), world, at start and end.
    """
    start, end = step.upper, step.end
    i = body_of_side(plan, k, side)
    first = rotate_back(ws.rotation[start, i], sub(here, vector(ws.position[start, i])))
    return first, rotate_back(ws.rotation[end, i], sub(there, vector(ws.position[end, i])))


@njit
def slip_by_end(plan, ws, step, k, along, at):
    """Return the derivative of the slip ``along`` a vector (3,), world, by the unit motion ``at`` of the end of a step.

    The start, the vector and the velocities are held.
    """
    start, end, h = step.upper, step.end, step.h
    _, A, B, levers = points_of(plan, ws, start, k)
    _, C, D, _ = points_of(plan, ws, end, k)
    motion = unit_motion(plan, ws, end, k, at.side, at.column)
    dn, dC, dD = move_points(plan, ws, end, k, at.side, at.column)
    total = 0.0
    for side in range(2):
        i = body_of_side(plan, k, side)
        if i == plan.bodies.mass.size:
            continue
        R, Q = ws.rotation[start, i], ws.rotation[end, i]
        place = _places(plan, ws, step, k, side, A if side == 0 else B, C if side == 0 else D)
        swept, turning = dC if side == 0 else dD, ZERO
        if side == at.side:
            turning = rotate_back(Q, motion[1])
            swept = sub(swept, motion[0])
        shift = scale(0.5, sub(rotate_back(Q, swept), cross(turning, place[1])))
        p = scale(0.5, add(place[0], place[1]))
        moved = sub(rotate(Q, add(shift, cross(turning, p))), rotate(R, shift))
        rolled = cross(scale(0.5 * levers[side], dn), along)
        spin = rotate(R, vector(ws.velocity[i, 3:]))
        total += (1.0 if side == 0 else -1.0) * (dot(along, moved) / h + dot(rolled, spin))
    return total


@njit
def slip_by_start(plan, ws, step, k, along, at):
    """Return the derivative of the slip ``along`` a vector (3,) across the normal by a unit motion of the start.

    ``at``: that motion, of the start of a step. The vector turns with the frame; velocities and end are held.
    """
    start, end, h = step.upper, step.end, step.h
    n, A, B, levers = points_of(plan, ws, start, k)
    after, C, D, _ = points_of(plan, ws, end, k)
    motion = unit_motion(plan, ws, start, k, at.side, at.column)
    dn, dA, dB = move_points(plan, ws, start, k, at.side, at.column)
    mean, turned, total = scale(0.5, add(n, after)), scale(-dot(dn, along), n), 0.0
    for side in range(2):
        i = body_of_side(plan, k, side)
        if i == plan.bodies.mass.size:
            continue
        R, Q, v, lever = ws.rotation[start, i], ws.rotation[end, i], vector(ws.velocity[i]), levers[side]
        place = _places(plan, ws, step, k, side, A if side == 0 else B, C if side == 0 else D)
        p, spin = scale(0.5, add(place[0], place[1])), rotate(R, vector(ws.velocity[i, 3:]))
        slip = add(v, scale(1.0 / h, sub(rotate(Q, p), rotate(R, p))))
        swept, turning, spun = dA if side == 0 else dB, ZERO, ZERO
        if side == at.side:
            turning = rotate_back(R, motion[1])
            swept, spun = sub(swept, motion[0]), cross(motion[1], spin)
        shift = scale(0.5, sub(rotate_back(R, swept), cross(turning, place[0])))
        moved = sub(rotate(Q, shift), rotate(R, add(shift, cross(turning, p))))
        rolled = scale(lever, add(cross(scale(0.5, dn), along), cross(mean, turned)))
        change = dot(turned, slip) + dot(along, moved) / h + dot(rolled, spin)
        change += lever * dot(cross(mean, along), spun)
        total += (1.0 if side == 0 else -1.0) * change
    return total


@njit
def slip_by_velocity(plan, ws, step, k, along, at):
    """Return the derivative of the slip ``along`` a vector (3,) by a unit change of a velocity, with both poses held.

    ``at``: a `UnitMotion`, here of 1 m/s or 1 rad/s.
    """
    start, end = step.upper, step.end
    motion, lever = unit_motion(plan, ws, start, k, at.side, at.column), points_of(plan, ws, start, k)[3][at.side]
    mean = scale(0.5, add(points_of(plan, ws, start, k)[0], points_of(plan, ws, end, k)[0]))
    change = dot(along, motion[0]) + lever * dot(cross(mean, along), motion[1])
    return (1.0 if at.side == 0 else -1.0) * change


@njit
def slip_by_size(plan, ws, step, k, along):
    """Return the derivative of the slip ``along`` a vector (3,) by the size of a step, poses and velocities held."""
    start, end, h = step.upper, step.end, step.h
    _, A, B, _ = points_of(plan, ws, start, k)
    _, C, D, _ = points_of(plan, ws, end, k)
    total = 0.0
    for side in range(2):
        i = body_of_side(plan, k, side)
        if i < plan.bodies.mass.size:
            place = _places(plan, ws, step, k, side, A if side == 0 else B, C if side == 0 else D)
            p = scale(0.5, add(place[0], place[1]))
            turned = sub(rotate(ws.rotation[end, i], p), rotate(ws.rotation[start, i], p))
            total -= (1.0 if side == 0 else -1.0) * dot(along, turned) / (h * h)
    return total


@njit
def write_step_rows(plan, ws, step, k):
    """Write the exact gradients of the rates of contact k: by the end to ``lower``, by the unknowns to ``row``.

    Both (3, 12): motions of both bodies at the end, and changes (dv, dphi) of both, see operator.py.
    """
    end, h = step.end, step.h
    _, s, t = frame_of(plan, ws, k)
    ends, row = ws.contacts.lower[k], ws.contacts.row[k]
    for side in range(2):
        i = body_of_side(plan, k, side)
        for a in range(3):
            for c in range(6):
                ends[a, 6 * side + c] = row[a, 6 * side + c] = 0.0
        if i == plan.bodies.mass.size:
            continue
        u = scale(0.5 * h, vector(ws.velocity[i, 3:]))
        cosine = math.sqrt(1.0 - dot(u, u))
        for c in range(6):
            ends[0, 6 * side + c] = gap_change(plan, ws, end, k, UnitMotion(side, c)) / h
            row[0, 6 * side + c] = h * ends[0, 6 * side + c]
        for a in range(1, 3):
            along = s if a == 1 else t
            for c in range(6):
                ends[a, 6 * side + c] = slip_by_end(plan, ws, step, k, along, UnitMotion(side, c))
                row[a, 6 * side + c] = h * ends[a, 6 * side + c]
            spun = (
                slip_by_velocity(plan, ws, step, k, along, UnitMotion(side, 3)),
                slip_by_velocity(plan, ws, step, k, along, UnitMotion(side, 4)),
                slip_by_velocity(plan, ws, step, k, along, UnitMotion(side, 5)),
            )
            by_turn = add(scale(cosine, spun), cross(spun, u))  # dw = c dphi + u x dphi
            for c in range(3):
                row[a, 6 * side + c] += slip_by_velocity(plan, ws, step, k, along, UnitMotion(side, c))
                row[a, 6 * side + 3 + c] += by_turn[c]
