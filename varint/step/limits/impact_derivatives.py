"""Derivatives of impacts at hard limits, forward and backward along a run (docs/theory.md section 11).

`event_ahead` carries changes of the state through an impact forward, `one_sided_event_back` gradients backward. In all
functions ``events`` is the record of the impacts on a tape, ``j`` the number of one of them, and ``work`` scratch.
"""

from varint.base.numba import njit
from varint.step.dense import add_scaled6, copy_motions, dot6
from varint.step.derivatives.adjoint import momenta_back, velocities_back
from varint.step.derivatives.operator import join_constraints
from varint.step.derivatives.tangent import is_still
from varint.step.derivatives.tape import play_event
from varint.step.intervals import StepSpan
from varint.step.ldu import solve_again
from varint.step.limits.rows import limit_gap, limit_row, set_closed
from varint.step.measures import add_by_numbers, curve_transposed, pair_of, rate_of, weighted_curvature
from varint.step.momentum import momenta_of
from varint.step.projection import project, project_velocities


@njit(seconds=3, what="derivatives of steps")
def event_ahead(plan, ws, events, j, work, rates, changes):
    """Turn ``changes`` (n, nb, 12) of pose and momenta before impact j into the changes after it, in place.

    ``rates`` (n, nr): changes of the rates of targets; overwritten. For the impact see `one_sided_event_back`. Writes
    pose 0, ``ws.jacobian`` and ``ws.efforts``.
    """
    n, e = _play_impact(plan, ws, events, j), events.limits.restitution[j]
    r, body, row, efforts = limit_row(plan, n), work.body[0], work.row[0], ws.efforts
    project_velocities(plan, ws, 0)
    limit_gap(plan, ws, 0, n)
    before = rate_of(plan.measures.body[r], ws.jacobian[0, r], ws.velocity)
    lets_go = _lets_go_in(events, j)
    for k in range(changes.shape[0]):
        ws.jacobian[0, r] = 0.0  # while the limit is open
        _velocity_change(plan, ws, work, changes[k], rates[k], body, row)
        limit_gap(plan, ws, 0, n)
        pair_of(plan, r, work.start, efforts.motion)
        weighted_curvature(plan, ws, r, ws.position[0], ws.rotation[0], efforts.motion, efforts.change)
        turned = rate_of(plan.measures.body[r], ws.jacobian[0, r], body)
        rates[k, r] = -e * (turned + rate_of(plan.measures.body[r], efforts.change, ws.velocity))
        if lets_go:
            momenta_of(plan, body, changes[k, :, 6:])
    set_closed(plan, ws, n, True)
    if lets_go:
        momenta_of(plan, ws.velocity, ws.momentum)
        _play_release(plan, ws, events, j, False)
    efforts.target_rate[r] = -e * before
    project_velocities(plan, ws, 0)
    for k in range(changes.shape[0]):
        _velocity_change(plan, ws, work, changes[k], rates[k], body, row)
        momenta_of(plan, body, changes[k, :, 6:])
    efforts.target_rate[r] = 0.0
    set_closed(plan, ws, n, False)


@njit
def _velocity_change(plan, ws, work, change, rate, body, row):
    """Write the change of the projected velocities by a ``change`` (nb, 12) of pose and momenta to ``body`` (nb, 6).

    Call after `project_velocities`. ``rate`` (nr,): change of the rates of rows. ``row`` (nr,): written, the right side
    of the rows. Writes ``ws.efforts`` and ``work.start``.
    """
    efforts = ws.efforts
    for i in range(body.shape[0]):
        for a in range(6):
            work.start[i, a], body[i, a] = change[i, a], change[i, 6 + a]
    for r in range(row.size):
        row[r] = 0.0
        if ws.released[r] > 0.0:
            continue
        row[r] = rate[r]
        pair_of(plan, r, work.start, efforts.motion)
        if is_still(efforts.motion):
            continue
        weighted_curvature(plan, ws, r, ws.position[0], ws.rotation[0], efforts.motion, efforts.change)
        for s in range(2):
            i = plan.measures.body[r, s]
            if i < body.shape[0]:
                add_scaled6(body[i], ws.multiplier[r], efforts.change[s])
                row[r] -= dot6(efforts.change[s], ws.velocity[i])
    join_constraints(plan, ws, work.no_row, row)
    solve_again(plan, ws, StepSpan(0, 0, 1.0), body, row)


@njit(seconds=2, what="derivatives of steps")
def one_sided_event_back(plan, ws, events, j, state, by):
    """Turn a gradient ``state`` (nb, 12) by pose and momenta after impact j into the one before it, in place.

    An impact projects the velocities v before it to velocities whose rate along the limit is -e times the rate of v,
    with the restitution e. Adds to the gradient by numbers, ``by.limits`` among others; writes the gradient by the
    rates of targets to ``ws.increment_row``. Also writes pose 0, ``ws.efforts``, and, as scratch, ``ws.goal``,
    ``ws.residual_row`` and ``ws.saved_step``.
    """
    n, e = _play_impact(plan, ws, events, j), events.limits.restitution[j]
    r, nb = limit_row(plan, n), plan.bodies.mass.size
    project(plan, ws, 0)
    limit_gap(plan, ws, 0, n)
    copy_motions(ws.increment_body, ws.base)  # v
    rate = rate_of(plan.measures.body[r], ws.jacobian[0, r], ws.base)
    set_closed(plan, ws, n, True)
    lets_go = _lets_go_in(events, j)
    if lets_go:
        _play_release(plan, ws, events, j, False)
        momenta_of(plan, ws.base, ws.momentum)
    ws.efforts.target_rate[r] = -e * rate
    project(plan, ws, 0)
    momenta_back(plan, ws.increment_body, state, by)
    velocities_back(plan, ws, 0, state, by)
    by_rate = ws.increment_row[r]
    for k in range(ws.increment_row.size):
        ws.residual_row[k] = ws.increment_row[k]
    by.limits.restitution[n] -= by_rate * rate
    ws.efforts.target_rate[r] = 0.0
    set_closed(plan, ws, n, False)
    limit_gap(plan, ws, 0, n)
    if lets_go:
        _play_release(plan, ws, events, j, True)
        copy_motions(events.momentum[j], ws.momentum)
    efforts = ws.efforts
    pair_of(plan, r, ws.base, efforts.motion)
    for s in range(2):
        for k in range(6):
            efforts.motion[s, k] *= -e * by_rate
    curve_transposed(plan, ws, r, ws.position[0], ws.rotation[0], ws.jacobian[0, r], efforts.motion, efforts.change)
    add_by_numbers(plan, ws, r, ws.position[0], ws.rotation[0], efforts.motion, 0.0, 0.0, by)
    for i in range(nb):
        for k in range(6):
            ws.goal[i, k] = 0.0
    for s in range(2):
        i = plan.measures.body[r, s]
        if i < nb:
            add_scaled6(state[i], 1.0, efforts.change[s])
            add_scaled6(ws.goal[i], -e * by_rate, ws.jacobian[0, r, s])
    first = ws.saved_step.velocity[0]  # the gradient by momenta so far
    if lets_go:  # these momenta are those of the velocities before the impact
        momenta_back(plan, ws.base, state, by)
        for i in range(nb):
            add_scaled6(ws.goal[i], 1.0, state[i, 6:])
            state[i, 6:] = 0.0
    for i in range(nb):
        for k in range(6):
            first[i, k], state[i, 6 + k] = state[i, 6 + k], ws.goal[i, k]
    velocities_back(plan, ws, 0, state, by)
    for i in range(nb):
        for k in range(6):
            state[i, 6 + k] += first[i, k]
    for k in range(ws.increment_row.size):
        ws.increment_row[k] += ws.residual_row[k]


@njit(seconds=1, what="derivatives of steps")
def one_sided_margin_at(plan, ws, events, j, state):
    """Write the gradient of the gap at impact j with respect to pose and momenta to ``state`` (nb, 12)."""
    n = _play_impact(plan, ws, events, j)
    r = limit_row(plan, n)
    state[:] = 0.0
    for s in range(2):
        i = plan.measures.body[r, s]
        if i < plan.bodies.mass.size:
            add_scaled6(state[i], -plan.limits.sign[n], ws.jacobian[0, r, s])


@njit(seconds=1, what="derivatives of steps")
def add_one_sided_margin_at(plan, ws, events, j, factor, by):
    """Add to ``by`` the derivatives of ``factor`` times the gap at impact j with respect to numbers of the plan.

    Writes ``by.limits.value`` (nl,) and the records of measures, and, as scratch, ``ws.efforts``.
    """
    n = _play_impact(plan, ws, events, j)
    r, sign = limit_row(plan, n), plan.limits.sign[n]
    by.limits.value[n] += factor * sign
    ws.efforts.motion[:] = 0.0
    add_by_numbers(plan, ws, r, ws.position[0], ws.rotation[0], ws.efforts.motion, -factor * sign, 0.0, by)


@njit
def _lets_go_in(events, j):
    """Return whether a closed limit opens in impact j."""
    for n in range(events.limits.closed.shape[1]):
        if events.limits.closed[j, n] == 2:
            return True
    return False


@njit
def _play_release(plan, ws, events, j, back):
    """Open the limits, ``ws.efforts.closed`` (nl,), that open in impact j, or, if ``back``, close them again."""
    for n in range(plan.limits.measure.size):
        if events.limits.closed[j, n] == 2:
            set_closed(plan, ws, n, back)
            limit_gap(plan, ws, 0, n)


@njit
def _play_impact(plan, ws, events, j):
    """Set ``ws`` to the state before impact j, poses and momenta (nb, 6), see `play_event`; return its limit."""
    play_event(plan, ws, events, j)
    return events.limits.limit[j]
