"""Forces of contacts at recorded nodes, from the accelerations there."""

import math

from varint.base.numba import Float2, indirect, natural, njit
from varint.mathematics.vectors import add, cross, dot, rotate, vector
from varint.step.contacts.features import acceleration_bias, feature_of, levers_of, rate_along
from varint.step.contacts.finding import choose_features
from varint.step.contacts.nodes import solve_at_node, take_right_sides
from varint.step.contacts.rolling import is_rolling
from varint.step.contacts.rows import contact_gap, write_upper
from varint.step.plan import Plan, Workspace
from varint.step.sizes import length_unit

NEAR, SLOW = (
    1e-9,
    1e-7,
)  # m, m/s, times `length_unit`: at a recorded node a contact so near, that parts no faster, rests; or it sticks


@njit
def rest_contacts(plan, ws, velocity):
    """Take the contacts that rest at pose 0 with the velocities ``velocity`` (nb, 6) into the problem of accelerations.

    They rest where their gap is at most NEAR and its rate at most SLOW; rolling resistances rest with their contacts.
    Writes ``taking``, ``sticking``, ``mode``, ``direction`` (nk, 2), the unit vector of the slip, zero below SLOW, and
    ``bias`` (nk, 3), m/s^2, the acceleration of the point that touches while those of the bodies are zero, of
    ``ws.contacts``; and the rows ``upper`` at pose 0. Fills the slots of shapes before.
    """
    work, unit = ws.contacts, length_unit(plan)
    if plan.contacts.pair_shape.size:
        choose_features(plan, ws, 0, 0.0)
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        upper = work.upper
        if is_rolling(plan, k) and not work.taking[plan.contacts.parent[k]]:
            work.taking[k] = False
            continue
        write_upper(plan, ws, 0, k)
        rates = (
            rate_along(plan, upper, k, 0, velocity),
            rate_along(plan, upper, k, 1, velocity),
            rate_along(plan, upper, k, 2, velocity),
        )
        rests = is_rolling(plan, k) or (contact_gap(plan, ws, 0, k) <= NEAR * unit and abs(rates[0]) <= SLOW * unit)
        work.taking[k] = rests
        work.sticking[k], work.mode[k] = False, 0
        size = math.sqrt(rates[1] ** 2 + rates[2] ** 2)
        for a in range(2):
            work.direction[k, a] = rates[1 + a] / size if size > SLOW * unit else 0.0
        _write_bias(plan, ws, 0, k, velocity)


@indirect(seconds=1, what="contacts")
def take_closed(plan: Plan, ws: Workspace, pose: int, velocity: Float2) -> None:
    """Take the closed contacts into the problem of `accelerate_contacts` at a pose with ``velocity`` (nb, 6).

    Those with a slip, ``ws.contacts.slip`` (nk, 2), slide along it; the law of friction decides over the others. Writes
    ``ws.contacts.direction`` (nk, 2).
    """
    work = ws.contacts
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        work.taking[k], work.sticking[k], work.mode[k] = work.closed[k], False, 0
        if not work.closed[k]:
            continue
        write_upper(plan, ws, pose, k)
        size = math.sqrt(work.slip[k, 0] ** 2 + work.slip[k, 1] ** 2)
        for a in range(2):
            work.direction[k, a] = work.slip[k, a] / size if size > 0.0 else 0.0
        _write_bias(plan, ws, pose, k, velocity)


@njit
def _write_bias(plan, ws, pose, k, velocity):
    """Write accelerations of the point of contact k by ``velocity`` (nb, 6) alone to its ``bias`` (3,), m/s^2."""
    work, i = ws.contacts, plan.contacts.body[k]
    if is_rolling(plan, k):
        work.bias[k, 0] = work.bias[k, 1] = work.bias[k, 2] = 0.0
        return
    if feature_of(plan, k) >= 0:
        work.bias[k, 0], work.bias[k, 1], work.bias[k, 2] = acceleration_bias(plan, ws, pose, k, velocity)
        return
    w, point = vector(velocity[i, 3:]), vector(plan.contacts.point[k])
    centripetal = rotate(ws.rotation[pose, i], cross(w, cross(w, point)))
    for a in range(3):
        work.bias[k, a] = dot(vector(plan.contacts.frame[k, a]), centripetal)


@njit
def accelerate_contacts(plan, ws):
    """Solve for accelerations at pose 0 with the contacts that rest; right sides and solution as in `solve_newton`.

    They are in ``ws.increment_body`` (nb, 6) and ``ws.increment_row`` (nr,); forces go to ``ws.contacts.z`` (nk, 3), N.
    """
    take_right_sides(ws)
    solve_at_node(plan, ws, 0)


@njit
def forces_of_contacts(plan, ws, out):
    """Write forces, places and normals of the listed contacts at pose 0 to ``out`` (nk, 10); zero for open ones.

    Force on ``body`` (3), N, its part along the normal, N, place of the point that touches (3), m, and normal (3),
    world. Of rolling resistances all is zero. Rows of contacts that are not listed stay as they are.
    """
    for n in range(ws.contacts.near_count[0]):
        k = natural(ws.contacts.near[n])
        f, i = feature_of(plan, k), plan.contacts.body[k]
        for j in range(10):
            out[k, j] = 0.0
        if not ws.contacts.taking[k] or is_rolling(plan, k):
            continue
        frame = plan.contacts.frame[k] if f < 0 else ws.contacts.frame[f]
        carrier = vector(plan.contacts.point[k]) if f < 0 else vector(ws.contacts.carrier[f, 0])
        lever = -plan.contacts.radius[k] if f < 0 else levers_of(plan, ws, k)[0]
        place = add(vector(ws.position[0, i]), rotate(ws.rotation[0, i], carrier))
        out[k, 3] = ws.contacts.z[k, 0]
        for j in range(3):
            for a in range(3):
                out[k, j] += ws.contacts.z[k, a] * frame[a, j]
            out[k, 4 + j], out[k, 7 + j] = place[j] + lever * frame[0, j], frame[0, j]
