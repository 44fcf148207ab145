"""Which efforts of a step are by rates towards its end (docs/theory.md section 10).

A damper c on an inertia m multiplies a momentum in a step of h seconds by R = (1 - z / 2) / (1 + z / 2), z = c h / m,
by the mean rate r of the step. For z above 6 that leaves more than half of it, with the other sign. With the rate at
the start, r_0, an effort by the rate

    r + a (r - r_0),    r = g . v,  r_0 = g_0 . v_0,    g in the middle, g_0 and the velocities v_0 at the start

has R = (1 - (1 - a) z / 2) / (1 + (1 + a) z / 2). A lead a = LEAD = 1/3 has -1/2 < R < 1 for all z, and is the least
that has: errors of slow motions, of first order in h, grow with it. Above z = SWINGS = 6 efforts whose slope is
constant take it. Those whose slope changes with the rate, as dry friction, take a = 1, the end of the step, from
z = BENDS = 2 on: R = 1 / (1 + z) for the secant of any such law, which so brings a motion to rest without turning it.

Several efforts c_j along the rates g_j v act on common bodies. With Y = g M^-1 g^T, by the mass M of the bodies in
their joints at the start of the step, z_j = h c_j Y_jj of each by itself decides about it first. Of the others those
take their lead for which, over all others,

    s_j = h sum_k c_k |Y_jk| (t_j / t_k)^(1/2)

is above the same bound; t_k: the sum of c over the efforts along the same sum as k. For those left h C <= 6 M as forms,
and with B = h sum (1 - a) c g g^T / 2, A = h sum (1 + a) c g g^T / 2 over all efforts B <= A / 2 + 3/2 M: so R >= -1/2,
whatever couples them.
"""

import math

from varint.base.numba import indirect, njit
from varint.mathematics.vectors import dot, vector
from varint.step.configuration import mass_pivots
from varint.step.damping.end_rates import rates_at_start
from varint.step.dense import add_scaled6, copy_motions, dot6
from varint.step.intervals import StepSpan
from varint.step.laws import other_law_effort
from varint.step.ldu import solve_again, solve_newton
from varint.step.measures import weighted_measure
from varint.step.plan import Plan, Workspace
from varint.step.projection import project
from varint.step.rows import clear_rows

SWINGS, LEAD = 6.0, 1.0 / 3.0  # z from which on a damper takes a lead, and which
BENDS, WHOLE = 2.0, 1.0  # the same of an effort whose slope depends on its rate


@indirect(seconds=4, what="strong damping")
def choose_leads(plan: Plan, ws: Workspace, pose: int, h: float) -> None:
    """Write ``ws.damping.lead`` (laws,) and ``load_lead`` (loads,) of a stage of ``h`` s from pose ``pose``.

    Also v_0, ``start`` (nb, 6), and of the sums with a lead g_0, ``gradient`` (nm, 2, 6), and r_0, ``start_rate``
    (sums,). Uses ``ws.increment_body``.
    """
    find_strengths(plan, ws, pose, abs(h))
    if ws.damping.count[0] > 0:
        _choose(ws.damping, abs(h))
    rates_at_start(plan, ws, pose)


@njit
def find_strengths(plan, ws, pose, h):
    """Write the slopes of the efforts, ``ws.damping.now`` (n,), and the mobilities along them, ``size`` (n, n).

    In a stage of ``h`` s from pose ``pose``. Also v_0, ``start`` (nb, 6). Uses ``ws.increment_body``.
    """
    damping = ws.damping
    if damping.count[0] > 0:
        _find_mobility(plan, ws, pose)
    project(plan, ws, pose)
    copy_motions(ws.increment_body, damping.start)
    for n in range(damping.count[0]):
        damping.now[n] = _slope(plan, ws, n, h)


@njit
def _find_mobility(plan, ws, pose):
    """Write rates by unit impulses along the efforts, of the bodies in their joints, to ``ws.damping.size`` (n, n).

    Also the values of their sums to ``value`` (n,). ``pose``: number of the pose. Uses ``ws.ldu``,
    ``ws.jacobian[pose]``, ``ws.increment_body`` and ``increment_row``.
    """
    damping, work, step = ws.damping, ws.efforts, StepSpan(pose, pose, 1.0)
    for n in range(damping.count[0]):
        s, value = damping.sum[n], 0.0
        for m in range(plan.laws.sum_first[s] if s >= 0 else 0, plan.laws.sum_first[s + 1] if s >= 0 else 0):
            near, gradient = work.value_near[m], work.gradient[m]
            value += weighted_measure(plan, ws, m, near, ws.position[pose], ws.rotation[pose], gradient)
        damping.value[n] = value
    mass_pivots(plan, ws.ldu.D)
    clear_rows(plan, ws.released, ws.jacobian[pose])
    ws.increment_body[:] = 0.0
    ws.increment_row[:] = 0.0
    solve_newton(plan, ws, ws.increment_body, ws.increment_row, pose, pose)
    for n in range(damping.count[0]):
        ws.increment_body[:] = 0.0
        ws.increment_row[:] = 0.0
        _push(plan, ws, n)
        solve_again(plan, ws, step, ws.increment_body, ws.increment_row)
        for k in range(damping.count[0]):
            damping.size[n, k] = rate_along(plan, ws, k)


@njit
def _push(plan, ws, n):
    """Add a unit impulse along effort n to ``ws.increment_body`` (nb, 6), which is zero."""
    s, nb = ws.damping.sum[n], plan.bodies.mass.size
    if s < 0:
        ws.increment_body[plan.loads.body[ws.damping.load[n]], ws.damping.axis[n]] = 1.0
        return
    for m in range(plan.laws.sum_first[s], plan.laws.sum_first[s + 1]):
        for side in range(2):
            i = plan.measures.body[m, side]
            if i < nb:
                add_scaled6(ws.increment_body[i], 1.0, ws.efforts.gradient[m, side])


@njit
def rate_along(plan, ws, n):
    """Return the rate along effort n, m/s or rad/s, by the velocities ``ws.increment_body`` (nb, 6)."""
    s, nb, rate = ws.damping.sum[n], plan.bodies.mass.size, 0.0
    if s < 0:
        return ws.increment_body[plan.loads.body[ws.damping.load[n]], ws.damping.axis[n]]
    for m in range(plan.laws.sum_first[s], plan.laws.sum_first[s + 1]):
        for side in range(2):
            i = plan.measures.body[m, side]
            if i < nb:
                rate += dot6(ws.efforts.gradient[m, side], ws.increment_body[i])
    return rate


@njit
def _slope(plan, ws, n, h):
    """Return the slope of effort n against its rate, N s/m or N m s/rad.

    Of a quadratic resistance at the velocities ``ws.damping.start`` (nb, 6). Of a law whose slope depends on its value,
    the larger one of those where a stage of ``h`` s starts and where it would end without the law.
    """
    damping, load = ws.damping, ws.damping.load[n]
    if load < 0 and damping.slope[n] == 0.0:
        f, slope = damping.law[n], 0.0
        for value in (damping.value[n], damping.value[n] + h * rate_along(plan, ws, n)):
            slope = max(slope, -other_law_effort(plan, ws.efforts, f, value, 0.0, 0.5 * h)[2])
        return slope
    if load < 0 or plan.loads.power[load] == 1:
        return damping.slope[n]
    motion = damping.start[plan.loads.body[load]]
    part = vector(motion) if damping.axis[n] < 3 else vector(motion[3:])
    return 2.0 * damping.slope[n] * math.sqrt(dot(part, part))


@njit
def slope_now(plan, ws, n, h):
    """Return the slope of effort n, a number, N s/m or N m s/rad, of a stage of ``h`` s at its rate now.

    Dry friction that slides has next to none.
    """
    damping, f = ws.damping, ws.damping.law[n]
    if f < 0 or not damping.bends[n]:
        return damping.now[n]
    return max(0.0, -other_law_effort(plan, ws.efforts, f, damping.value[n], rate_along(plan, ws, n), 0.5 * h)[2])


@njit
def _choose(damping, h):
    """Write ``lead`` (laws,) and ``load_lead`` (loads,) of a stage of ``h`` s, as the module says.

    Of ``damping`` (`Damping`, whose ``damping.size``, ``damping.total`` and ``damping.alone`` are overwritten).
    """
    count, size, now, total, alone = damping.count[0], damping.size, damping.now, damping.total, damping.alone
    for n in range(count):
        for j in range(count):
            size[j, n] = h * now[n] * abs(size[j, n])
        alone[n] = size[n, n] > (BENDS if damping.bends[n] else SWINGS)
        _give(damping, n, 0.0)
    for n in range(count):
        total[n] = 0.0
        for k in range(count):
            if k == n or (damping.sum[n] >= 0 and damping.sum[k] == damping.sum[n]):
                total[n] += 0.0 if alone[k] else now[k]
    for n in range(count):
        reach = 0.0
        for k in range(count if not alone[n] else 0):
            if total[k] > 0.0 and not alone[k]:
                reach += size[n, k] * math.sqrt(total[n] / total[k])
        if alone[n] or reach > (BENDS if damping.bends[n] else SWINGS):
            _give(damping, n, WHOLE if damping.bends[n] else LEAD)


@njit
def _give(damping, n, lead):
    """Set the ``lead`` of effort n, a number, in ``damping.lead`` (laws,) or ``damping.load_lead`` (loads,)."""
    if damping.law[n] >= 0:
        damping.lead[damping.law[n]] = lead
    elif lead > 0.0 or damping.axis[n] % 3 == 0:  # one for all axes
        damping.load_lead[damping.load[n]] = lead
