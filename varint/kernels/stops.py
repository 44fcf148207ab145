"""Hard stops: one-sided limits of gauges, with restitution (docs/theory.md section 11).

A stop keeps gap = sign (limit - gauge) from falling below zero. While it is open its gauge takes no
part; a step that would end beyond it is cut at the impact, found by regula falsi in the size of the
sub-step, and there the rate of the gauge turns to -e times itself by an impulse along it (Newton's
law). A stop that is hit again and again in one step, or has e = 0, closes: its gauge's row then is a
constraint, until the multiplier would pull.
"""

from varint._numba import njit
from varint.kernels.configuration import mass_pivots
from varint.kernels.dense import dot6
from varint.kernels.forces import clear_rows
from varint.kernels.gauges import gauge_at, on_from
from varint.kernels.ldu import solve_newton

TOUCHING = 1e-11  # m or rad: a gap of this size counts as none
SEARCH = 60  # trials for the instant of an impact
MOST_CHANGES = 20  # of stops that close or open in one step
MOST_IMPACTS = 3  # of a stop in one step, then it closes


@njit
def measure_stop(plan, ws, pose, s, jacobian):
    """Gap of stop s at a pose; the gauge's gradient goes to its row of ``jacobian`` (nr, 2, 6)."""
    e = plan.stop_gauge[s]
    gradient = ws.gauge_gradient[e]
    value = gauge_at(plan, e, ws.position[pose], ws.rotation[pose], ws.velocity[0], gradient)
    value = on_from(plan.gauge_kind[e], ws.gauge_value[e], value)
    for side in range(2):
        for k in range(6):
            jacobian[plan.gauge_row[e], side if plan.gauge_flip[e] == 0 else 1 - side, k] = gradient[side, k]
    return plan.stop_sign[s] * (plan.stop_limit[s] - value)


@njit
def hold_stops(plan, ws, end):
    """Residuals and Jacobians of the closed stops at the end pose."""
    for s in range(plan.stop_gauge.size):
        if ws.closed[s]:
            gap = measure_stop(plan, ws, end, s, ws.jacobian[end])
            ws.residual_row[plan.gauge_row[plan.stop_gauge[s]]] = plan.stop_sign[s] * (ws.rest_gap[s] - gap)


@njit
def first_beyond(plan, ws, end):
    """The open stop that is furthest beyond its limit at the end pose, -1 for none."""
    worst, found = -TOUCHING, -1
    for s in range(plan.stop_gauge.size):
        if not ws.closed[s]:
            gap = measure_stop(plan, ws, end, s, ws.jacobian[end])
            if gap < worst:
                worst, found = gap, s
    return found


@njit
def open_pulling(plan, ws):
    """Open the closed stop whose multiplier pulls most; whether there was one."""
    most, found = 0.0, -1
    for s in range(plan.stop_gauge.size):
        pull = plan.stop_sign[s] * ws.multiplier[plan.gauge_row[plan.stop_gauge[s]]]
        if ws.closed[s] and pull > most:
            most, found = pull, s
    if found >= 0:
        set_closed(plan, ws, found, False)
    return found >= 0


@njit
def set_closed(plan, ws, s, closed):
    """Close or open a stop: its row is a constraint or not."""
    ws.closed[s] = closed
    ws.compliance[plan.gauge_row[plan.stop_gauge[s]]] = 0.0 if closed else 1.0


@njit
def impact(plan, ws, pose, s, restitution):
    """Turn the rate of stop s at a node: momenta, energy lost. Without restitution it closes; closed ones hold."""
    e = plan.stop_gauge[s]
    r = plan.gauge_row[e]
    body, row = ws.increment_body, ws.increment_row
    before = 0.0
    for turn in range(2):
        if turn == 1:
            set_closed(plan, ws, s, True)
        clear_rows(plan, ws.compliance, ws.jacobian[pose])
        mass_pivots(plan, ws.D)
        for i in range(plan.mass.size):
            for k in range(6):
                body[i, k] = ws.momentum[i, k]
        for k in range(row.size):
            row[k] = ws.row_rate[k]
        for other in range(plan.stop_gauge.size):
            if ws.closed[other]:
                measure_stop(plan, ws, pose, other, ws.jacobian[pose])
        if turn == 1:
            row[r] = -restitution * before
            ws.rest_gap[s] = measure_stop(plan, ws, pose, s, ws.jacobian[pose])
        solve_newton(plan, ws, body, row, pose, pose)
        if turn == 0:
            measure_stop(plan, ws, pose, s, ws.jacobian[pose])
            for side in range(2):
                if plan.gauge_body[e, side] < plan.mass.size:
                    before += dot6(ws.gauge_gradient[e, side], body[plan.gauge_body[e, side]])
            if plan.stop_sign[s] * before <= 0.0 and restitution > 0.0:
                return
    after = -restitution * before
    ws.work[plan.gauge_law[e]] += 0.5 * row[r] * (before + after)
    for i in range(plan.mass.size):
        for k in range(3):
            ws.momentum[i, k] = plan.mass[i] * body[i, k]
            ws.momentum[i, 3 + k] = 0.0
            for m in range(3):
                ws.momentum[i, 3 + k] += plan.inertia[i, k, m] * body[i, 3 + m]
    for i in range(plan.mass.size):
        for k in range(6):
            ws.velocity[i, k] = body[i, k]
    set_closed(plan, ws, s, restitution == 0.0)
