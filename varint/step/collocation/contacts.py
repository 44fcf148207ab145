"""Hard contacts in a collocation step: rows of closed ones, where they are met or let go (docs/theory.md section 16).

A closed contact is a row that keeps its gap at the nodes after the start, as a closed stop is (stops.py); its gradients
are those of the other steps (step/contacts/rows.py), at poses that are shown at pose 1 of the workspace. An open one is
met where the polynomial of its gap falls below zero.

At the end of a step the law of contact and friction is solved for the accelerations. A closed contact lets go where the
law finds it open, and one that sticks slips where it finds it sliding. One that slides sticks where the component of
its slip, by the momenta, along the direction at the start of the part passes zero, if the slip is zero there: else it
has turned, and goes on in shorter parts. These are the events of closed contacts; each has a margin, zero there.
"""

import math

from varint.base.numba import indirect, natural, njit
from varint.step.collocation.facing import look_at_faces, take_places, turn_features, turn_frame
from varint.step.collocation.gap_polynomials import UNRESOLVED, WHOLE, first_pull, look_along
from varint.step.collocation.records import ClosedLoops, NodeRule, NodeWorkspace
from varint.step.collocation.shown import SHOWN, copy_poses
from varint.step.collocation.slips import begin_slip, hold_rows, slides
from varint.step.contacts.cones import APART, SLIDING, STILL
from varint.step.contacts.events import NOBODY, PARTING, TOGETHER, act_contacts, settle_contacts
from varint.step.contacts.features import feature_of, rate_along
from varint.step.contacts.finding import misses_features
from varint.step.contacts.nodes import begin_projection, solve_at_node
from varint.step.contacts.rows import TOUCHING, contact_gap, normal_rate, set_slip, write_upper
from varint.step.inputs import Inputs
from varint.step.limits.impacts import LEAST_FORCE, find_pushes
from varint.step.limits.rows import NEAR
from varint.step.pace import sum_of_forces
from varint.step.plan import Plan, Workspace
from varint.step.projection import project
from varint.step.sizes import length_unit

LETS_GO, SLIPS, STICKS = range(3)  # kinds of events of closed contacts
KINDS = 3
TURNS = 3  # another kind: other features of the shapes face each other
WATCHED = 1  # `stops.STOPS`: of ``work.watch``, steps that are judged as a whole
STOPPED = 1e-11  # m/s, times `length_unit`: a slip of this size counts as none


@njit
def any_contact_closed(ws):
    """Return whether a hard contact is closed."""
    for k in range(ws.contacts.closed.size):
        if ws.contacts.closed[k]:
            return True
    return False


@indirect(seconds=1, what="hard contacts in collocation")
def place_contacts(plan: Plan, ws: Workspace, closures: ClosedLoops, work: NodeWorkspace, k: int) -> None:
    """Write the rows of closed contacts at node k, as `place_stops` does those of stops; after `show_bodies` there.

    Gradients to ``work.closures.gradient``, residuals, m, to ``work.closures.value``; at node 0 which rows are
    constraints to ``work.closures.held`` (rows,).
    """
    own, shown = work.closures, False
    if k == 0:
        take_places(plan, ws, closures, work)
        hold_rows(ws, closures, work)
    for n in range(ws.contacts.near_count[0]):
        c = natural(ws.contacts.near[n])
        if not ws.contacts.closed[c] or work.touch.row[c, 0] < 0:
            continue
        r, rubs = natural(work.touch.row[c, 0]), work.touch.row[c, 1] >= 0
        if not shown:
            copy_poses(work, k, ws.position[SHOWN], ws.rotation[SHOWN])
            shown = True
        write_upper(plan, ws, SHOWN, c)
        _copy_row(plan, ws, c, 0, own.gradient[k, r], r)
        if rubs:
            _copy_across(plan, ws, work, c, k, r)
        own.value[k, r] = contact_gap(plan, ws, SHOWN, c) - ws.contacts.held_gap[c]


@njit
def _copy_row(plan, ws, c, a, gradient, r):
    """Copy row a of contact c to the ``gradient`` (2, 6) of row r of the plan, by the motions of its bodies."""
    for side in range(2):
        at = 0 if plan.measures.body[r, side] == plan.contacts.body[c] else 6
        for m in range(6):
            gradient[side, m] = ws.contacts.upper[c, a, at + m]


@njit
def _copy_across(plan, ws, work, c, k, r):
    """Copy the rows of contact c across its normal at node k to ``work.touch.across`` (s, rows, 2, 6); see `_copy_row`.

    Those of shapes along the frame of `turn_frame`.
    """
    first, second, f = work.touch.across[k, 2 * c], work.touch.across[k, 2 * c + 1], feature_of(plan, c)
    _copy_row(plan, ws, c, 1, first, r)
    _copy_row(plan, ws, c, 2, second, r)
    if f < 0:
        return
    turn_frame(plan, ws, work, c, k)
    cosine, sine = work.touch.turned[k, f, 0], work.touch.turned[k, f, 1]
    for side in range(2):
        for m in range(6):
            x, y = first[side, m], second[side, m]
            first[side, m], second[side, m] = cosine * x + sine * y, cosine * y - sine * x


@indirect(seconds=1, what="hard contacts in collocation")
def meets_contacts(plan: Plan, ws: Workspace, closures: ClosedLoops, rule: NodeRule, work: NodeWorkspace) -> bool:
    """Return whether an open contact is met, or a closed one may open, in a solved step; see `meets_stops`.

    Writes ``work.meets`` (2,), and ``work.touch.gap`` (contacts, s), m. Call after `show_bodies` at all nodes.
    """
    q, own, touching, met = rule.weight.size - 1, ws.contacts, TOUCHING * length_unit(plan), False
    for k in range(q + 1):
        copy_poses(work, k, ws.position[SHOWN], ws.rotation[SHOWN])
        for n in range(own.near_count[0]):
            c = natural(own.near[n])
            work.touch.gap[c, k] = contact_gap(plan, ws, SHOWN, c)
    if work.touch.seen.size and work.watch[0] == WATCHED:
        met = work.touch.longest[0] < WHOLE or misses_features(plan, ws, 0, SHOWN, WHOLE)
    determined = _are_determined(closures, work)
    for n in range(own.near_count[0]):
        c = natural(own.near[n])
        gap = work.touch.gap[c]
        if not own.closed[c]:
            met = look_along(rule, gap, work.meets, q, touching) or met
            continue
        if abs(gap[q] - own.held_gap[c]) > NEAR * length_unit(plan):
            work.meets[0], work.meets[1] = UNRESOLVED, -1.0
            return True
        first = (work.touch.row[c, 0] - closures.rows[0]) * q
        placed = determined and work.touch.row[c, 0] >= 0
        share = first_pull(rule, work.closures.multiplier, first, q, -1.0) if placed else WHOLE
        if share < work.meets[0]:
            met, work.meets[0], work.meets[1] = True, share, -1.0
    return met


@njit
def _are_determined(closures, work):
    """Whether no row is redundant: else rows of contacts share their impulses arbitrarily, and some may pull."""
    for n in range(work.closures.rank.size):
        if work.closures.rank[n] < work.closures.busy_count[n]:
            return False
    return True


@njit
def _slip_of(plan, ws, c, velocity):
    """Return the slip (2,), m/s, of contact c at velocities (nb, 6); after `write_upper`."""
    upper = ws.contacts.upper
    return rate_along(plan, upper, c, 1, velocity), rate_along(plan, upper, c, 2, velocity)


@njit
def _margin(plan, ws, work, c, kind, least):
    """Return how far closed contact c is from an event of a ``kind``, in units of what counts; after `find_pushes`.

    ``least``: the force, N, that counts. A number: positive before the event, below -1 past it, infinite for one that
    the contact cannot have. Where the law finds it sticking it is so, however forces are shared: then 2 at least.
    Reads accelerations ``ws.contacts.rate`` (contacts, 3), m/s^2, forces ``z`` (contacts, 3), N, and of a contact that
    slides ``work.touch.slip`` (contacts, 2), m/s, and ``slide`` (contacts, 2), its direction.
    """
    own, mode = ws.contacts, ws.contacts.mode[c]
    unit = 1.0 / least if least > 0.0 else 0.0
    if kind == LETS_GO:
        return unit * (-own.rate[c, 0] / plan.contacts.mobility[c] if mode == APART else own.z[c, 0])
    if kind == TURNS:
        return -2.0 if feature_of(plan, c) >= 0 and not work.touch.seen[feature_of(plan, c)] else 2.0
    friction, moves = plan.contacts.friction[c], slides(work, c)
    if friction == 0.0 or moves != (kind == STICKS):
        return math.inf
    if kind == STICKS:
        slip, slide = work.touch.slip[c], work.touch.slide[c]
        along = slip[0] * slide[0] + slip[1] * slide[1]
        return along / (STOPPED * length_unit(plan))
    if mode == SLIDING:
        moving = unit * math.sqrt(own.rate[c, 1] ** 2 + own.rate[c, 2] ** 2) / plan.contacts.mobility[c]
        return -moving if moving > 1.0 else 2.0
    load = friction * own.z[c, 0] - math.sqrt(own.z[c, 1] ** 2 + own.z[c, 2] ** 2)
    return max(unit * load, 2.0)


@njit
def _least_margin(plan, ws, work):
    """Return the least `_margin` of the closed contacts, a number, its contact and kind, two integers.

    Infinite, -1 and LETS_GO for none. After `find_pushes`. Of a contact that lets go nothing else counts. Reads
    ``ws.contacts.near`` (contacts,) and ``closed`` (contacts,), and what `_margin` reads.
    """
    least, margin, first, of_kind = LEAST_FORCE * sum_of_forces(plan, ws), math.inf, -1, LETS_GO
    for kind in range(KINDS if work.touch.seen.size == 0 else KINDS + 1):
        for n in range(ws.contacts.near_count[0]):
            c = natural(ws.contacts.near[n])
            own = _margin(plan, ws, work, c, kind, least) if ws.contacts.closed[c] else math.inf
            if own < margin:
                margin, first, of_kind = own, c, kind
        if margin < -1.0:
            break
    return margin, first, of_kind


@indirect(seconds=1, what="hard contacts in collocation")
def note_slips(plan: Plan, ws: Workspace, work: NodeWorkspace, pose: int) -> None:
    """Write the slips at the momenta at a pose, of closed contacts that slide, to ``work.touch.slip`` (contacts, 2).

    Friction acts on along the directions of the polynomials, also where these slips are against them. Also writes the
    impulses, N s, that the momenta lack, to ``work.touch.left``.
    """
    any_slides = False
    for n in range(ws.contacts.near_count[0]):
        c = natural(ws.contacts.near[n])
        any_slides = any_slides or (ws.contacts.closed[c] and slides(work, c))
    if not any_slides:
        return
    begin_projection(plan, ws, pose)
    solve_at_node(plan, ws, pose)
    for n in range(ws.contacts.near_count[0]):
        c = natural(ws.contacts.near[n])
        if not (ws.contacts.closed[c] and slides(work, c)):
            continue
        first, second = _slip_of(plan, ws, c, ws.increment_body)
        work.touch.slip[c, 0], work.touch.slip[c, 1] = first, second
        work.touch.left[c, 0] = ws.contacts.z[c, 0]


@indirect(seconds=1, what="hard contacts in collocation")
def contact_changes(plan: Plan, ws: Workspace, work: NodeWorkspace, pose: int) -> bool:
    """Return whether a closed contact is past an event at a ``pose``, its number; after `note_slips`, `find_pushes`."""
    if work.touch.seen.size:
        look_at_faces(plan, ws, work, pose)
    return _least_margin(plan, ws, work)[0] < -1.0


@indirect(seconds=1, what="hard contacts in collocation")
def margin_of_contacts(
    plan: Plan,
    ws: Workspace,
    work: NodeWorkspace,
    inputs: Inputs,
    pose: int,
    share: float,
    dt: float,
    c: int,
    kind: int,
) -> tuple[float, int, int]:
    """Return the margin of contact c, -1 for the one that is nearest to its event, at a pose, the contact, the kind.

    Below -1 past the event, from -1 to 1 at it. ``inputs``: `Inputs` of a part of ``dt`` s, of which the pose is at a
    ``share``; ``kind``: of the event.
    """
    if not any_contact_closed(ws):
        return math.inf, -1, LETS_GO
    note_slips(plan, ws, work, pose)
    find_pushes(plan, ws, inputs, pose, 0, share, dt)
    if work.touch.seen.size:
        look_at_faces(plan, ws, work, pose)
    if c < 0:
        return _least_margin(plan, ws, work)
    return _margin(plan, ws, work, c, kind, LEAST_FORCE * sum_of_forces(plan, ws)), c, kind


@indirect(seconds=1, what="hard contacts in collocation")
def change_contact(plan: Plan, ws: Workspace, work: NodeWorkspace, pose: int, c: int, kind: int) -> None:
    """Let an event of closed contact c act at a node; ``ws.momentum`` (nb, 6) becomes that of the projected velocity.

    ``kind``: of the event. Call `margin_of_contacts` before, and `settle_states` afterwards.
    """
    for n in range(ws.contacts.near_count[0]):  # the slip of the polynomials may be against the direction of friction
        d = natural(ws.contacts.near[n])
        if ws.contacts.closed[d] and slides(work, d) and work.touch.left[d, 3] < 0.0:
            work_of = plan.contacts.friction[d] * work.touch.left[d, 0] * work.touch.left[d, 3]
            ws.efforts.work[plan.contacts.element[d]] -= work_of
    settle_contacts(plan, ws, pose)
    if kind == TURNS:
        turn_features(plan, ws, pose)
        act_contacts(plan, ws, pose, NOBODY, True)
        return
    if kind == STICKS:
        for n in range(ws.contacts.near_count[0]):
            d = natural(ws.contacts.near[n])
            if not (ws.contacts.closed[d] and slides(work, d)):
                continue
            write_upper(plan, ws, pose, d)
            slip = _slip_of(plan, ws, d, ws.velocity)
            stops = d == c or math.sqrt(slip[0] * slip[0] + slip[1] * slip[1]) <= STILL * length_unit(plan)
            set_slip(plan, ws, d, 0.0 if stops else slip[0], 0.0 if stops else slip[1])
            for a in range(2):
                work.touch.slide[d, a] = 0.0 if stops else work.touch.slide[d, a]
        settle_contacts(plan, ws, pose)
    if kind == LETS_GO:
        ws.contacts.closed[c] = False


@indirect(seconds=1, what="hard contacts in collocation")
def settle_landed(plan: Plan, ws: Workspace, pose: int) -> None:
    """Project the momenta at a pose on closed contacts, of which one may just have landed so slowly as to rest.

    Writes what `settle_contacts` writes. Call `settle_states` afterwards.
    """
    settle_contacts(plan, ws, pose)


@indirect(seconds=1, what="hard contacts in collocation")
def settle_states(
    plan: Plan, ws: Workspace, work: NodeWorkspace, inputs: Inputs, pose: int, share: float, dt: float, slips: int
) -> None:
    """Choose what closed contacts do after an event at a node, by their slips and by the law for the accelerations.

    Reads ``ws.velocity`` (nb, 6); ``slips``: a contact that begins to slide, -1 for none. Writes
    ``ws.contacts.closed``, ``slip``, ``held_gap`` and ``work.touch.slide``. ``inputs``, ``share``, ``dt``: as in
    `margin_of_contacts`.
    """
    own, least_speed, any_closed = ws.contacts, STILL * length_unit(plan), False
    for n in range(own.near_count[0]):
        c = natural(own.near[n])
        slide = work.touch.slide[c]
        for a in range(4):
            work.touch.left[c, a] = 0.0  # the momenta have been projected
        if own.closed[c] and normal_rate(plan, ws, pose, c) > PARTING * length_unit(plan):
            own.closed[c] = False  # an impact elsewhere parts it
        if own.closed[c] and feature_of(plan, c) >= 0:
            gap = contact_gap(plan, ws, pose, c)
            if abs(gap - own.held_gap[c]) <= TOGETHER * length_unit(plan):
                own.held_gap[c] = gap  # to bring it elsewhere in a short part would be a blow
        if not own.closed[c] or plan.contacts.friction[c] == 0.0:
            slide[0] = slide[1] = 0.0
            any_closed = any_closed or own.closed[c]
            continue
        any_closed = True
        first, second = _slip_of(plan, ws, c, ws.velocity)
        size = math.sqrt(first * first + second * second)
        moves = size > least_speed
        slide[0], slide[1] = (first / size, second / size) if moves else (0.0, 0.0)
        set_slip(plan, ws, c, first if moves else 0.0, second if moves else 0.0)
    if not any_closed:
        return
    find_pushes(plan, ws, inputs, pose, 0, share, dt)
    least = LEAST_FORCE * sum_of_forces(plan, ws)
    for n in range(own.near_count[0]):
        c = natural(own.near[n])
        if not own.closed[c]:
            continue
        if _margin(plan, ws, work, c, LETS_GO, least) < -1.0:
            own.closed[c] = False
            work.touch.slide[c, 0] = work.touch.slide[c, 1] = 0.0
            continue
        starts = c == slips or _margin(plan, ws, work, c, SLIPS, least) < -1.0
        size = math.sqrt(own.z[c, 1] ** 2 + own.z[c, 2] ** 2)
        pull = math.sqrt(own.rate[c, 1] ** 2 + own.rate[c, 2] ** 2)
        if starts and plan.contacts.friction[c] > 0.0 and not slides(work, c) and size + pull > 0.0:
            for a in range(2):
                work.touch.slide[c, a] = -own.z[c, 1 + a] / size if size > 0.0 else own.rate[c, 1 + a] / pull
            begin_slip(plan, ws, work, c, 0.0)


@indirect(seconds=1, what="hard contacts in collocation")
def contact_gap_and_rate(plan: Plan, ws: Workspace, pose: int, c: int) -> tuple[float, float]:
    """Return the gap of contact c, m, at a pose, and its rate, m/s, by the projected velocities."""
    project(plan, ws, pose)
    write_upper(plan, ws, pose, c)
    return contact_gap(plan, ws, pose, c), rate_along(plan, ws.contacts.upper, c, 0, ws.increment_body)
