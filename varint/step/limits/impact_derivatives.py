"""Derivatives of impacts, ahead and back along a run (docs/theory.md section 11).

`event_ahead` takes changes of the state through an impact, `one_sided_event_back` gradients by it.
"""

from varint.base.numba import njit
from varint.step.dense import add_scaled6, copy_motions, dot6
from varint.step.derivatives.adjoint import momenta_back, velocities_back
from varint.step.derivatives.operator import curve_transposed, join_constraints, pair_of
from varint.step.derivatives.tangent import is_still
from varint.step.derivatives.tape import play_event
from varint.step.intervals import StepSpan
from varint.step.ldu import solve_again
from varint.step.limits.rows import limit_gap, limit_row, set_closed
from varint.step.measures import add_by_numbers, rate_of, weighted_curvature
from varint.step.momentum import momenta_of
from varint.step.projection import project, project_velocities


@njit(seconds=3, what="derivatives of steps")
def event_ahead(plan, ws, events, j, work, rates, changes):
    """Take ``changes`` (n, nb, 12) of pose and momenta before impact j to those after it.

    ``rates`` (n, nr): the changes of the rates of targets; lost. What an impact does: see `one_sided_event_back`.
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
    """The change of the projected velocities by a ``change`` (nb, 12) of the node, into ``body`` (nb, 6).

    After `project_velocities`. ``rate`` (nr,): of the rates of rows.
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
    """Turn a gradient ``state`` (nb, 12) by pose and momenta after impact j into that before it.

    An impact takes the velocities v of the momenta before it to those whose rate along the limit is - e times that of
    v, and these to momenta. Adds to ``by``; leaves the gradient by the rates of targets in ``ws.increment_row``.
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
    if lets_go:  # those were made of the velocities before
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
    """Write the gradient of the gap at impact j by pose and momenta to ``state`` (nb, 12)."""
    n = _play_impact(plan, ws, events, j)
    r = limit_row(plan, n)
    state[:] = 0.0
    for s in range(2):
        i = plan.measures.body[r, s]
        if i < plan.bodies.mass.size:
            add_scaled6(state[i], -plan.limits.sign[n], ws.jacobian[0, r, s])


@njit(seconds=1, what="derivatives of steps")
def add_one_sided_margin_at(plan, ws, events, j, factor, by):
    """Add to ``by`` the derivatives of ``factor`` times the gap at impact j by its numbers."""
    n = _play_impact(plan, ws, events, j)
    r, sign = limit_row(plan, n), plan.limits.sign[n]
    by.limits.value[n] += factor * sign
    ws.efforts.motion[:] = 0.0
    add_by_numbers(plan, ws, r, ws.position[0], ws.rotation[0], ws.efforts.motion, -factor * sign, 0.0, by)


@njit
def _lets_go_in(events, j):
    """Whether a closed limit lets go in impact j."""
    for n in range(events.limits.closed.shape[1]):
        if events.limits.closed[j, n] == 2:
            return True
    return False


@njit
def _play_release(plan, ws, events, j, back):
    """Open the limits that let go in impact j, or close them again where ``back``."""
    for n in range(plan.limits.measure.size):
        if events.limits.closed[j, n] == 2:
            set_closed(plan, ws, n, back)
            limit_gap(plan, ws, 0, n)


@njit
def _play_impact(plan, ws, events, j):
    """`play_event`; returns the limit of impact j."""
    play_event(plan, ws, events, j)
    return events.limits.limit[j]
