"""Hard contacts in a collocation step: rows of closed ones, where they are met or let go (docs/theory.md section 16).

A closed contact is a row that keeps its gap at the nodes after the start, as a closed stop is (stops.py); its gradients
are those of the other steps (step/contacts/rows.py), at poses that are shown at pose 1 of the workspace. An open one is
met where the polynomial of its gap falls below zero. It lets go where the law of contact, for the accelerations at the
end of a step, finds it open.
"""

import math

from varint.base.numba import indirect, natural, njit
from varint.step.collocation.gap_polynomials import UNRESOLVED, WHOLE, first_pull, look_along
from varint.step.collocation.records import ClosedLoops, NodeRule, NodeWorkspace
from varint.step.contacts.cones import APART
from varint.step.contacts.events import settle_contacts
from varint.step.contacts.features import rate_along
from varint.step.contacts.rows import TOUCHING, contact_gap, write_upper
from varint.step.inputs import Inputs
from varint.step.limits.impacts import LEAST_FORCE, find_pushes
from varint.step.limits.rows import NEAR
from varint.step.pace import sum_of_forces
from varint.step.plan import Plan, Workspace
from varint.step.projection import project
from varint.step.sizes import length_unit

SHOWN = 1  # the pose of the workspace that shows a node


@njit
def any_contact_closed(ws):
    """Whether a hard contact is closed."""
    for k in range(ws.contacts.closed.size):
        if ws.contacts.closed[k]:
            return True
    return False


@njit
def _show_at_pose(ws, work, k):
    """Copy the poses of the bodies at node k to the pose `SHOWN`."""
    for b in range(work.body_position.shape[1]):
        for a in range(3):
            ws.position[SHOWN, b, a] = work.body_position[k, b, a]
            for c in range(3):
                ws.rotation[SHOWN, b, a, c] = work.body_rotation[k, b, a, c]


@indirect(seconds=1, what="hard contacts in collocation")
def place_contacts(plan: Plan, ws: Workspace, closures: ClosedLoops, work: NodeWorkspace, k: int) -> None:
    """Write the rows of closed contacts at node k, as `place_stops` does those of stops; after `show_bodies` there.

    Gradients to ``work.closures.gradient``, for k > 0 residuals, m, to ``work.closures.row``; at node 0 which rows are
    constraints to ``work.closures.held`` (rows,).
    """
    own, q, shown = work.closures, work.position.shape[0] - 1, False
    for n in range(ws.contacts.near_count[0]):
        c = natural(ws.contacts.near[n])
        r = natural(closures.contact[c, 0])
        if k == 0:
            own.held[r] = ws.contacts.closed[c]
        if not ws.contacts.closed[c]:
            continue
        if not shown:
            _show_at_pose(ws, work, k)
            shown = True
        write_upper(plan, ws, SHOWN, c)
        _copy_row(plan, ws, c, 0, own.gradient[k, r], r)
        if k > 0:
            off = contact_gap(plan, ws, SHOWN, c) - ws.contacts.held_gap[c]
            own.row[(r - closures.rows[0]) * q + k - 1] = off


@njit
def _copy_row(plan, ws, c, a, gradient, r):
    """Copy row a of contact c to the ``gradient`` (2, 6) of row r of the plan, by the motions of its bodies."""
    for side in range(2):
        at = 0 if plan.measures.body[r, side] == plan.contacts.body[c] else 6
        for m in range(6):
            gradient[side, m] = ws.contacts.upper[c, a, at + m]


@indirect(seconds=1, what="hard contacts in collocation")
def meets_contacts(plan: Plan, ws: Workspace, closures: ClosedLoops, rule: NodeRule, work: NodeWorkspace) -> bool:
    """Return whether an open contact is met, or a closed one may open, in a solved step; see `meets_stops`.

    Writes ``work.meets`` (2,), and ``work.contact_gap`` (contacts, s), m. Call after `show_bodies` at all nodes.
    """
    q, own, touching, met = rule.weight.size - 1, ws.contacts, TOUCHING * length_unit(plan), False
    for k in range(q + 1):
        _show_at_pose(ws, work, k)
        for n in range(own.near_count[0]):
            c = natural(own.near[n])
            work.contact_gap[c, k] = contact_gap(plan, ws, SHOWN, c)
    determined = _are_determined(closures, work)
    for n in range(own.near_count[0]):
        c = natural(own.near[n])
        gap = work.contact_gap[c]
        if not own.closed[c]:
            met = look_along(rule, gap, work.meets, q, touching) or met
            continue
        if abs(gap[q] - own.held_gap[c]) > NEAR * length_unit(plan):
            work.meets[0], work.meets[1] = UNRESOLVED, -1.0
            return True
        first = (closures.contact[c, 0] - closures.rows[0]) * q
        share = first_pull(rule, work.closures.multiplier, first, q, -1.0) if determined else WHOLE
        if share < work.meets[0]:
            met, work.meets[0], work.meets[1] = True, share, -1.0
    return met


@njit
def _are_determined(closures, work):
    """Whether no row is redundant: else rows of contacts share their impulses arbitrarily, and some may pull."""
    for n in range(work.closures.rank.size):
        if work.closures.rank[n] < closures.node[n + 1] - closures.node[n]:
            return False
    return True


@njit
def _margin(plan, ws, c, least):
    """Return how far closed contact c is from letting go, in units of ``least``, N; after `find_pushes`."""
    own = ws.contacts
    force = -own.rate[c, 0] / plan.contacts.mobility[c] if own.mode[c] == APART else own.z[c, 0]
    return force / least if least > 0.0 else 0.0


@njit
def _least_margin(plan, ws):
    """Return the least `_margin` of the closed contacts, infinite for none, and its contact; after `find_pushes`."""
    least, margin, first = LEAST_FORCE * sum_of_forces(plan, ws), math.inf, -1
    for n in range(ws.contacts.near_count[0]):
        c = natural(ws.contacts.near[n])
        if ws.contacts.closed[c] and _margin(plan, ws, c, least) < margin:
            margin, first = _margin(plan, ws, c, least), c
    return margin, first


@indirect(seconds=1, what="hard contacts in collocation")
def contact_lets_go(plan: Plan, ws: Workspace, pose: int) -> bool:
    """Return whether a closed contact opens at a pose; call after `find_pushes` there."""
    return _least_margin(plan, ws)[0] < -1.0


@indirect(seconds=1, what="hard contacts in collocation")
def margin_of_contacts(
    plan: Plan, ws: Workspace, inputs: Inputs, pose: int, share: float, dt: float
) -> tuple[float, int]:
    """Return how far the closed contacts are from their next event at a pose, and the contact that is nearest to it.

    In units of the least force that counts: below -1 past the event, from -1 to 1 at it. ``inputs``: `Inputs` of a part
    of ``dt`` s, of which the pose is at a ``share``.
    """
    if not any_contact_closed(ws):
        return math.inf, -1
    find_pushes(plan, ws, inputs, pose, 0, share, dt)
    return _least_margin(plan, ws)


@indirect(seconds=1, what="hard contacts in collocation")
def open_contact(plan: Plan, ws: Workspace, pose: int, c: int) -> None:
    """Open contact c at a node; ``ws.momentum`` (nb, 6) becomes that of the projected velocity."""
    settle_contacts(plan, ws, pose)
    ws.contacts.closed[c] = False


@indirect(seconds=1, what="hard contacts in collocation")
def contact_gap_and_rate(plan: Plan, ws: Workspace, pose: int, c: int) -> tuple[float, float]:
    """Return the gap of contact c, m, at a pose, and its rate, m/s, by the projected velocities."""
    project(plan, ws, pose)
    write_upper(plan, ws, pose, c)
    return contact_gap(plan, ws, pose, c), rate_along(plan, ws.contacts.upper, c, 0, ws.increment_body)
