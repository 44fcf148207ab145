"""Impacts of contacts at a node, where the search for events ends (docs/theory.md section 14).

Points that touch and approach rebound with -e times their rate, those that approach fastest first; those that approach
equally fast do at once, and so do all without restitution, which close. The impulses obey the law of friction. With
friction a rebound can gain energy: e is then lowered to the largest that does not. Hard limits that touch are part of
the same problem (limits/impact_rows.py).
"""

import math

from varint.base.numba import indirect, natural, njit
from varint.geometry.features import CIRCLE_CIRCLE, CIRCLE_LINE, CIRCLE_PLANE, CIRCLE_POINT, RIM_POINT
from varint.step.contacts.features import feature_of, rate_along
from varint.step.contacts.nodes import project_contacts, solve_at_node, take_right_sides
from varint.step.contacts.rolling import follow_parent, is_rolling
from varint.step.contacts.rows import TOUCHING, contact_gap, normal_rate, set_slip, write_upper
from varint.step.dense import copy_motions
from varint.step.derivatives.tape import keep_event
from varint.step.energy.entries import add_event
from varint.step.limits.impact_rows import (
    CHANGED,
    LAWFUL,
    approach_limits,
    change_sides,
    close_limits,
    may_rebound,
    rounds_of,
    take_limits,
    work_of_limits,
    write_rebounds,
)
from varint.step.momentum import momenta_of
from varint.step.plan import Plan, Workspace
from varint.step.roles import add_role_works, brace_roles
from varint.step.sizes import length_unit

NOBODY = -1
PROJECTION, HIT, LOWERED = 1, 2, 3  # of events on a tape: velocities at a node, an impact, one of less rebound
# those in m and m/s are times `length_unit` (step/sizes.py):
PARTING = 1e-10  # m/s, threshold of rates that approach or part
ALIKE, SAME_RATE = 1e-9, 1e-9  # relative, and m/s: rates that differ by no more than both together count as equal
TOGETHER = 1e-9  # m: points nearer than this when another one is met are met with it, so that mirror images stay such
SETTLED, SLOWLY = 1e-8, 1e-3  # m, m/s: below these, what lands without a rebound is not located in time
GAINED = 1e-14  # of the sum of the sizes of the works of limits and contacts: a smaller gain is round-off
BISECTIONS = 40  # of the common factor of all rebounds


@indirect(seconds=2, what="contacts")
def act_contacts(plan: Plan, ws: Workspace, pose: int, met: int, timed: bool) -> None:
    """Apply the impacts at a node: of ``met``, and of the contacts that approach after it.

    Contact ``met`` closes where it has no restitution or no longer approaches, even if it separates in the impact.
    ``pose``: number of the pose of the node. ``met``: number of a limit or contact as in limits/clearances.py, NOBODY
    for none. ``timed``: whether the sub-step before ends where the event is. In ``ws.contacts`` writes ``closed``,
    ``held_gap``, ``slip`` (nc, 2), that after the impacts, and sets ``impulse`` (nc, 3) to zero. Also writes
    ``ws.velocity`` and ``ws.momentum`` (nb, 6), and on the tape ``ws.tape.events.contacts.act`` and
    ``ws.tape.events.contacts.slips``.
    """
    work, k = ws.contacts, met - plan.limits.measure.size
    event = _keep_act(plan, ws, pose, PROJECTION, met, timed)
    settle_contacts(plan, ws, pose)
    any_closes = False
    rounds = rounds_of(plan.limits.measure.size + work.near_count[0])
    while _choose(plan, ws, pose, met):
        rounds -= 1
        if rounds < 0:
            _fail(ws)
            break
        closes = met >= 0 and k >= 0 and work.bias[k, 0] == 0.0
        event = _keep_act(plan, ws, pose, HIT, met, False)
        if _hit(plan, ws, pose, met) and event >= 0:
            ws.tape.events.contacts.act[event] = LOWERED
        if closes:
            work.closed[k], work.held_gap[k] = True, contact_gap(plan, ws, pose, k)
        met = NOBODY
        any_closes = any_closes or closes
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        if is_rolling(plan, k):
            follow_parent(plan, ws, k)
        elif any_closes and not work.closed[k] and _rests(plan, ws, pose, k):
            work.closed[k], work.held_gap[k] = True, min(contact_gap(plan, ws, pose, k), 0.0)
        set_slip(plan, ws, k, 0.0, 0.0)
        for a in range(3):
            work.impulse[k, a] = 0.0
        if event >= 0:
            ws.tape.events.contacts.slips[event, k] = 1 if work.closed[k] else 0
        if not work.closed[k]:
            continue
        write_upper(plan, ws, pose, k)
        _slip_with(plan, ws, k, ws.velocity)


@njit
def _slip_with(plan, ws, k, velocity):
    """Set the slip of contact k, ``ws.contacts.slip`` (nc, 2), to that of its bodies' velocities (nb, 6); m/s.

    Call after `write_upper`. Components of at most `PARTING` become zero.
    """
    first = rate_along(plan, ws.contacts.upper, k, 1, velocity)
    second = rate_along(plan, ws.contacts.upper, k, 2, velocity)
    least = PARTING * length_unit(plan)
    set_slip(plan, ws, k, first if abs(first) > least else 0.0, second if abs(second) > least else 0.0)


@njit
def _reach(plan, ws, k):
    """Return the gap, m, below which contact k is met beside another one; a rim has to touch, as its point runs."""
    f = feature_of(plan, k)
    rims = CIRCLE_PLANE, CIRCLE_POINT, CIRCLE_LINE, CIRCLE_CIRCLE, RIM_POINT
    return (TOUCHING if f >= 0 and ws.contacts.kind[f] in rims else TOGETHER) * length_unit(plan)


@njit
def _rests(plan, ws, pose, k):
    """Return whether contact k touches and neither approaches nor parts at ``ws.velocity`` (nb, 6).

    Points of a face that rest do so together: one that stayed open would be met alone, a little later.
    """
    if contact_gap(plan, ws, pose, k) > _reach(plan, ws, k):
        return False
    return abs(normal_rate(plan, ws, pose, k)) <= PARTING * length_unit(plan)


@njit
def _keep_act(plan, ws, pose, act, met, timed):
    """Record the next act of the contacts on the tape, if there is one; return the index of the event, or -1.

    ``act``: PROJECTION or HIT; ``met``, ``timed``: see `act_contacts`. Of ``ws.tape.events.contacts`` writes entry j of
    ``act`` and ``met`` (events,), 0 for a limit or none, and row j of ``taking``, ``slips`` and ``restitution``
    (events, nc).
    """
    j = keep_event(plan, ws, pose, timed) if ws.tape.h.size else -1
    if j < 0:
        return j
    acts, work = ws.tape.events.contacts, ws.contacts
    acts.act[j], acts.met[j] = act, max(met - plan.limits.measure.size, 0)
    for k in range(work.closed.size):
        acts.taking[j, k], acts.slips[j, k] = 1 if work.taking[k] else 0, 0
        rebounds = work.taking[k] and work.bias[k, 0] != 0.0
        acts.restitution[j, k] = work.bias[k, 0] / work.rate[k, 0] if rebounds else 0.0
    return j


@njit
def _rate_at_node(plan, ws, pose, k):
    """Return the gap rate of contact k at a node, m/s, at ``ws.increment_body`` (nb, 6), after `project_contacts`."""
    write_upper(plan, ws, pose, k)
    return rate_along(plan, ws.contacts.upper, k, 0, ws.increment_body)


@njit
def approaches(plan, ws, pose, k):
    """Return whether the gap of contact k, which touches, does not grow at the momenta ``ws.momentum`` (nb, 6)."""
    project_contacts(plan, ws, pose)
    return _rate_at_node(plan, ws, pose, k) <= PARTING * length_unit(plan)


@njit
def _is_near(plan, ws, pose, k):
    """Return whether the gap of contact k, open and without restitution, is above `TOUCHING` and at most `SETTLED`."""
    if ws.contacts.closed[k] or _restitution(plan, ws, k) > 0.0:
        return False
    return TOUCHING < contact_gap(plan, ws, pose, k) / length_unit(plan) <= SETTLED


@njit
def _touches(plan, ws, pose, k):
    """Return whether contact k, which is open, ``ws.contacts.closed`` (nc,), and has no restitution, touches."""
    if ws.contacts.closed[k] or _restitution(plan, ws, k) > 0.0:
        return False
    return abs(contact_gap(plan, ws, pose, k)) <= TOUCHING * length_unit(plan)


@njit
def settles(plan, ws, pose, k):
    """Return whether contact k, or -1, is so near and slow at a node that its landing is not located in time.

    At ``ws.momentum`` (nb, 6). A body that comes to rest rocks on its corners, ever lower and faster. A corner that
    touches and parts so slowly comes back at once.
    """
    touches = k >= 0 and _touches(plan, ws, pose, k)
    if k < 0 or not (touches or _is_near(plan, ws, pose, k)):
        return False
    project_contacts(plan, ws, pose)
    rate = _rate_at_node(plan, ws, pose, k) / length_unit(plan)
    return PARTING < rate <= SLOWLY if touches else rate >= -SLOWLY


@njit
def settle_near(plan, ws, pose, met):
    """Close contact ``met`` and others at a node, so that the step ends where the closed ones do not overlap further.

    The others are open, have no restitution, touch or are within `SETTLED`, and do not approach faster than `SLOWLY`.
    Writes ``ws.contacts.closed``, ``ws.contacts.held_gap`` (nc,), m, and of the contacts that close
    ``ws.contacts.slip`` (nc, 2), m/s: an impact later at the same node would else find them at rest, and stop them.
    """
    work = ws.contacts
    project_contacts(plan, ws, pose)
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        slow = k != met and (_is_near(plan, ws, pose, k) or _touches(plan, ws, pose, k))
        if k == met or (slow and _rate_at_node(plan, ws, pose, k) >= -SLOWLY * length_unit(plan)):
            if not work.closed[k] and not is_rolling(plan, k):
                write_upper(plan, ws, pose, k)
                _slip_with(plan, ws, k, ws.increment_body)
            work.closed[k], work.held_gap[k] = True, min(contact_gap(plan, ws, pose, k), 0.0)


@njit
def settle_contacts(plan, ws, pose):
    """Write the projected velocities at a node to ``ws.velocity`` (nb, 6), their momenta to ``ws.momentum`` (nb, 6).

    Clears ``ws.momentum_rest`` and ``ws.contacts.slip``; adds the works of the projection to ``ws.efforts.work`` (ne,),
    J.
    """
    project_contacts(plan, ws, pose)
    add_role_works(plan, ws, ws.efforts.work, True)
    copy_motions(ws.increment_body, ws.velocity)
    momenta_of(plan, ws.velocity, ws.momentum)
    ws.momentum_rest[:] = 0.0
    for n in range(ws.contacts.near_count[0]):
        k = natural(ws.contacts.near[n])
        set_slip(plan, ws, k, 0.0, 0.0)


@njit
def _choose(plan, ws, pose, met):
    """Choose the limits and contacts of the next impact; return whether there is any.

    ``met``: see `act_contacts`. Writes of ``ws.contacts`` ``taking``, ``hits`` (nc,), ``rate``, ``bias`` (nc, 3), m/s:
    the bias is the restitution times the rate of those that rebound.
    """
    work, fastest, any_hit, limits = ws.contacts, 0.0, met >= 0, plan.limits.measure.size
    if limits > 0:
        fastest = approach_limits(plan, ws, pose, met)
    numbered, met = met, met - limits if met >= 0 else NOBODY
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        holds = _holds(plan, ws, k) and not is_rolling(plan, k)
        work.taking[k], work.sticking[k], work.mode[k] = holds, False, 0
        work.direction[k, 0] = work.direction[k, 1] = 0.0
        work.bias[k, 0] = work.bias[k, 1] = work.bias[k, 2] = 0.0
        if is_rolling(plan, k):
            continue
        if not work.closed[k] and not (k == met or contact_gap(plan, ws, pose, k) <= _reach(plan, ws, k)):
            work.rate[k, 0] = 1.0  # out of reach
            continue
        rate = normal_rate(plan, ws, pose, k)
        work.rate[k, 0] = rate
        if not holds and _restitution(plan, ws, k) > 0.0:
            fastest = max(fastest, -rate)
        elif rate < -PARTING * length_unit(plan):
            any_hit = True
    any_hit = any_hit or fastest > PARTING * length_unit(plan)
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        if is_rolling(plan, k):
            _roll_with(plan, ws, pose, k)
            continue
        rate = work.rate[k, 0]
        if work.taking[k] or not (rate <= PARTING * length_unit(plan) or k == met):
            continue
        restitution = _restitution(plan, ws, k)
        if restitution == 0.0 or rate >= -PARTING * length_unit(plan):
            work.taking[k] = restitution == 0.0 or k == met or feature_of(plan, k) < 0  # it closes
            any_hit = any_hit or work.taking[k]
        elif -rate >= fastest * (1.0 - ALIKE) - SAME_RATE * length_unit(plan):
            work.taking[k], work.bias[k, 0] = True, restitution * rate
            work.hits[k] += 1
    return take_limits(plan, ws, pose, numbered, fastest) or any_hit if limits > 0 else any_hit


@njit
def _roll_with(plan, ws, pose, k):
    """Let rolling resistance k take part in an impact where its contact does: ``ws.contacts.taking`` (nc,)."""
    follow_parent(plan, ws, k)
    if ws.contacts.taking[k]:
        write_upper(plan, ws, pose, k)


@njit
def _holds(plan, ws, k):
    """Return whether contact k is closed, ``ws.contacts.closed`` (nc,), and in an impact has no rebound of its own.

    Those between features that have restitution do not: they pass impacts on one by one, as the balls of a cradle.
    """
    return ws.contacts.closed[k] and (feature_of(plan, k) < 0 or _restitution(plan, ws, k) == 0.0)


@njit
def _restitution(plan, ws, k):
    """Return the restitution of contact k in its next impact, zero where ``ws.contacts.hits`` (nc,) lets it close."""
    restitution = plan.contacts.restitution[k]
    rows = plan.limits.measure.size + ws.contacts.near_count[0]
    return restitution if may_rebound(restitution, ws.contacts.hits[k], rows) else 0.0


@njit
def _hit(plan, ws, pose, met):
    """Apply the impact of the limits and contacts that were chosen; return whether their rebounds were lowered.

    ``met``: see `act_contacts`. Writes ``ws.velocity``, ``ws.momentum`` (nb, 6), which has no ``ws.momentum_rest``
    then, and ``ws.efforts.work`` (ne,), J; ``ws.contacts.closed``, where the contact does not part, and
    ``ws.contacts.held_gap``. ``ws.contacts.kept_bias`` is scratch. An impact that was not solved leaves NaN in
    ``ws.increment_body`` and -1 in ``ws.contacts.missed``.
    """
    work, low, high = ws.contacts, 0.0, 1.0
    brace_roles(plan, ws, pose, True)
    solved = _try_hit(plan, ws, pose, 1.0)
    lowered = _gains(plan, ws)
    if lowered:
        for n in range(work.near_count[0]):
            k = natural(work.near[n])
            work.kept_bias[k] = work.bias[k, 0]
        for _ in range(BISECTIONS):
            share = 0.5 * (low + high)
            _scale_bias(work, share)
            _try_hit(plan, ws, pose, share)
            if _gains(plan, ws):
                high = share
            else:
                low = share
        _scale_bias(work, low)
        solved = _try_hit(plan, ws, pose, low)
    if not solved:
        _fail(ws)
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        if not work.taking[k]:
            continue
        ws.efforts.work[plan.contacts.element[k]] += _work_of_hit(plan, ws, k)[0]
        if is_rolling(plan, k):
            follow_parent(plan, ws, k)
            continue
        stays = rate_along(plan, work.upper, k, 0, ws.increment_body) <= PARTING * length_unit(plan)
        if stays and not work.closed[k]:
            work.held_gap[k] = min(contact_gap(plan, ws, pose, k), TOUCHING * length_unit(plan))
        work.closed[k] = stays
    if plan.limits.measure.size:
        close_limits(plan, ws, pose, met, NOBODY)
    add_role_works(plan, ws, ws.efforts.work, False)
    brace_roles(plan, ws, pose, False)
    add_event(ws)
    copy_motions(ws.increment_body, ws.velocity)
    momenta_of(plan, ws.velocity, ws.momentum)
    ws.momentum_rest[:] = 0.0
    return lowered


@njit
def _fail(ws):
    """Mark the contacts of an impact that was not solved; no step is solved with its velocities, so that runs end.

    Writes ``ws.contacts.missed`` (nc,); sets ``ws.increment_body``, ``ws.velocity`` and ``ws.momentum`` (nb, 6) to nan.
    """
    work = ws.contacts
    ws.increment_body[:] = math.nan
    ws.velocity[:] = math.nan
    ws.momentum[:] = math.nan
    for n in range(work.near_count[0]):
        k = natural(work.near[n])
        work.missed[k] = -1.0 if work.taking[k] else 0.0


@njit
def _scale_bias(work, share):
    """Set the rates of rebound, ``work.bias`` (nk, 3), to a ``share`` of ``work.kept_bias``."""
    for k in range(work.kept_bias.size):
        work.bias[k, 0] = share * work.kept_bias[k]


@njit
def _try_hit(plan, ws, pose, share):
    """Solve for velocities, ``ws.increment_body`` (nb, 6), and impulses, ``ws.contacts.z`` (nc, 3); return success.

    ``share``, 0 to 1: factor on the rebounds of limits. The impulses of rows go to ``ws.increment_row`` (nr,).
    """
    passes, sides, solved, limited = 0, CHANGED, False, plan.limits.measure.size > 0
    while sides == CHANGED:
        copy_motions(ws.momentum, ws.increment_body)
        for r in range(ws.increment_row.size):
            ws.increment_row[r] = ws.efforts.target_rate[r]
        if limited:
            write_rebounds(plan, ws, pose, share)
        take_right_sides(ws)
        solved = solve_at_node(plan, ws, pose)
        sides = change_sides(plan, ws, pose, share, passes) if limited else LAWFUL
        passes += 1
    return solved and sides == LAWFUL


@njit
def _work_of_hit(plan, ws, k):
    """Return the work of contact k in the impact, J, and the sum of the sizes of its terms.

    Each term is an impulse of ``ws.contacts.z`` (nc, 3), N s, times the mean of the rates before and after.
    """
    total = size = 0.0
    for a in range(3):
        z, upper = 0.5 * ws.contacts.z[k, a], ws.contacts.upper
        before = z * rate_along(plan, upper, k, a, ws.velocity)
        after = z * rate_along(plan, upper, k, a, ws.increment_body)
        total, size = total + before + after, size + abs(before) + abs(after)
    return total, size


@njit
def _gains(plan, ws):
    """Return whether limits and contacts bring energy in by the impact that was tried; drives may do so too."""
    total, size = work_of_limits(ws)
    for n in range(ws.contacts.near_count[0]):
        k = natural(ws.contacts.near[n])
        if ws.contacts.taking[k]:
            work, terms = _work_of_hit(plan, ws, k)
            total, size = total + work, size + terms
    return total > GAINED * size
