"""Limits that a start is beyond, and that let it come back (docs/theory.md section 11).

Such a limit keeps its gap, as long as that is below zero, from falling below a floor f which rises to zero by

    f'' = -2 b f' - b^2 f,        b = RETURN,

from the gap and its rate, zero at least, where the limit closes. It does so at the start of each step where it is open
and the gap closes by less than - b times itself, and opens where it would pull: the gap closes faster by itself. At
zero it is a limit as any other.
"""

import math

import numpy as np

from varint.base.numba import Float1, indirect
from varint.step.dense import copy_motions
from varint.step.energy.entries import add_event
from varint.step.limits.rows import TOUCHING, limit_gap, limit_row, set_closed, unit_of_limit
from varint.step.measures import rate_of
from varint.step.momentum import momenta_of
from varint.step.plan import Plan, Workspace
from varint.step.projection import project
from varint.step.roles import add_role_works

RETURN = 5.0  # 1/s; as `baumgarte` of varint.redmax
MEETING = 1e-10  # of `unit_of_limit` a second: a gap that grows larger faster than that is stopped by an impulse


def start_floors(ws: Workspace, gaps: Float1) -> None:
    """Let limits whose ``gaps`` (nl,), m or rad, are below zero come back, from the start of a run on."""
    ws.efforts.floor[:], ws.efforts.rest_gap[:], ws.efforts.come_back[0] = np.minimum(gaps, 0.0), 0.0, RETURN
    close_on_floors.prepare()


@indirect(seconds=1, what="hard stops")
def close_on_floors(plan: Plan, ws: Workspace, pose: int) -> None:
    """Close open limits with a floor at a pose, at their gap; gaps that grow larger are stopped by an impulse.

    ``pose``: its number. Writes ``ws.efforts.floor``, ``closed``, ``rest_gap`` (nl,), ``target_rate`` (nr,), and
    ``ws.momentum`` (nb, 6), without ``ws.momentum_rest``; ``ws.search.rate`` (nl,), rates of the gaps that grow larger,
    NaN where a limit is held open by something else: the momenta are NaN then, too. Rows of open limits become zero in
    ``ws.jacobian``.
    """
    efforts, search, any_open, any_meets = ws.efforts, ws.search, False, False
    for n in range(plan.limits.measure.size):
        any_open = any_open or (efforts.floor[n] < 0.0 and not efforts.closed[n])
    if not any_open:
        return
    project(plan, ws, pose)
    copy_motions(ws.increment_body, ws.pace.velocity)
    for n in range(plan.limits.measure.size):
        search.rate[n] = 0.0
        if not efforts.floor[n] < 0.0 or efforts.closed[n]:
            continue
        r, m, sign = limit_row(plan, n), plan.limits.measure[n], plan.limits.sign[n]
        before, efforts.floor[n] = efforts.floor[n], min(limit_gap(plan, ws, pose, n), 0.0)
        rate = -sign * rate_of(plan.measures.body[m], ws.jacobian[pose, r], ws.pace.velocity)
        unit = unit_of_limit(plan, n)
        stays = abs(rate) <= MEETING * unit and abs(efforts.floor[n] - before) <= TOUCHING * unit
        if efforts.rest_gap[n] != 0.0 and stays:
            search.rate[n] = math.nan  # opened in the step before, and yet something else holds it
            ws.momentum[:] = math.nan  # with which no step is solved, so that the run ends there
        ends = efforts.floor[n] >= -TOUCHING * unit
        if ends:
            efforts.floor[n] = 0.0
        if ends or rate > -efforts.come_back[0] * efforts.floor[n]:
            efforts.target_rate[r] = 0.0
            if ws.released[r] > 0.0:
                ws.jacobian[pose, r] = 0.0
            continue
        search.rate[n] += min(rate, 0.0)
        any_meets = any_meets or rate < -MEETING * unit
        efforts.rest_gap[n], efforts.target_rate[r] = efforts.floor[n], -sign * max(rate, 0.0)
        set_closed(plan, ws, n, True)
    if any_meets:
        project(plan, ws, pose)
        copy_motions(ws.increment_body, ws.velocity)
        add_role_works(plan, ws, efforts.work, False)
        for n in range(plan.limits.measure.size):
            half = -0.5 * plan.limits.sign[n] * search.rate[n]
            efforts.work[plan.limits.element[n]] += half * ws.increment_row[limit_row(plan, n)]
        add_event(ws)
        momenta_of(plan, ws.velocity, ws.momentum)
        ws.momentum_rest[:] = 0.0
