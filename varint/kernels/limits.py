"""Hard limits of measures, with restitution (docs/theory.md section 11).

A limit keeps gap = sign (limit - measure) from falling below zero. While it is open its measure takes no part. Closed,
its measure's row is a constraint, until the multiplier would pull. How it is met: impacts.py.
"""

from varint._numba import njit
from varint.algebra.vectors import continued
from varint.kernels.measures import measure_at

TOUCHING = 1e-11  # m or rad: a gap of this size counts as none


@njit
def limit_row(plan, n):
    """Row of limit n."""
    return plan.measures.row[plan.limits.measure[n]]


@njit
def limit_gap(plan, ws, pose, n):
    """Gap of limit n at a pose; the gradient of its measure goes to its row of that pose's Jacobian."""
    m = plan.limits.measure[n]
    value = measure_at(plan, ws, m, ws.position[pose], ws.rotation[pose], ws.jacobian[pose, limit_row(plan, n)])
    value = continued(plan.measures.period[m], ws.efforts.value_near[m], value)
    return plan.limits.sign[n] * (plan.limits.value[n] - value)


@njit
def close_limits(plan, ws, end):
    """Residuals and Jacobians of the closed limits at the end pose."""
    for n in range(plan.limits.measure.size):
        if ws.efforts.closed[n]:
            gap = limit_gap(plan, ws, end, n)
            ws.residual_row[limit_row(plan, n)] = plan.limits.sign[n] * (ws.efforts.rest_gap[n] - gap)


@njit
def first_beyond(plan, ws, end):
    """The open limit that is furthest passed at the end pose, -1 for none."""
    worst, found = -TOUCHING, -1
    for n in range(plan.limits.measure.size):
        if not ws.efforts.closed[n]:
            gap = limit_gap(plan, ws, end, n)
            if gap < worst:
                worst, found = gap, n
    return found


@njit
def open_pulling(plan, ws):
    """Open the closed limit whose multiplier pulls most; whether there was one."""
    most, found = 0.0, -1
    for n in range(plan.limits.measure.size):
        pull = plan.limits.sign[n] * ws.multiplier[limit_row(plan, n)]
        if ws.efforts.closed[n] and pull > most:
            most, found = pull, n
    if found >= 0:
        set_closed(plan, ws, found, False)
    return found >= 0


@njit
def set_closed(plan, ws, n, closed):
    """Close or open a limit: its row is a constraint or not."""
    ws.efforts.closed[n] = closed
    ws.compliance[limit_row(plan, n)] = 0.0 if closed else 1.0
