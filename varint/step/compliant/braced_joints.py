"""Joints with a compliance in impacts: rows whose ringing the steps do not resolve are rigid there.

An impact leaves rates of the rows of such a joint, with which its springs ring. A step of the size h multiplies the
momentum of a row with the mobility W = G M^-1 G^T, the compliance alpha and the damping time beta by some

    (1 - s W) / (1 + s W),    s = h/2 (h/2 + beta) / alpha

Where s W is far above 1, it would turn round in each step from then on, damped or not, and contacts would meet that as
motion. So where s W is above 1 a row takes part in impacts as that of a rigid joint does, and what its spring takes is
work of the joint's force. As alpha goes to zero the impact is that of rigid joints; rows that ring slowly have no part
in it.
"""

import math

from varint.base.numba import indirect, njit
from varint.mathematics.vectors import dot, rotate, turn_of, vector
from varint.step.dense import dot6
from varint.step.laws import law_effort
from varint.step.measures import weighted_measure
from varint.step.plan import Plan, Workspace

WHAT = "impacts on joints with a compliance"
RIGID = 1e10  # s W of rows that are rigid: so much smaller is the rate that is left to them


@njit
def _mobility(plan, m, G):
    """Return the rate of measure m with the gradient G (2, 6) by a unit impulse along it, 1/kg or 1/(kg m^2)."""
    mobility = 0.0
    for side in range(2):
        i = plan.measures.body[m, side]
        if i < plan.bodies.mass.size:
            line, turn = vector(G[side]), turn_of(G[side])
            mobility += dot(line, line) / plan.bodies.mass[i] + dot(turn, rotate(plan.bodies.inverse_inertia[i], turn))
    return mobility


@indirect(seconds=1, what=WHAT)
def brace_rows(plan: Plan, ws: Workspace, pose: int, held: bool) -> None:
    """Write the gradients of the rigid ones to ``ws.jacobian[pose]``, scaled for the 1 of `ws.released`, if ``held``.

    Else `_release` them.
    """
    if not held:
        _release(plan, ws, pose)
        return
    work, half_step = ws.efforts, 0.5 * ws.balance.dt[0]
    for n in range(plan.compliant.joint_row.size):
        r, s = plan.compliant.joint_row[n], plan.compliant.joint_sum[n]
        m = plan.laws.sum_first[s]
        G = work.gradient[m]
        g = weighted_measure(plan, ws, m, 0.0, ws.position[pose], ws.rotation[pose], G)
        _, by_value, by_rate = law_effort(plan, work, plan.laws.sum_law[s], g, 0.0, 0.0)
        mobility, factor = _mobility(plan, m, G), 0.0
        if -half_step * (half_step * by_value + by_rate) * mobility > 1.0:
            factor = math.sqrt(RIGID / mobility)
        for side in range(2):
            for k in range(6):
                ws.jacobian[pose, r, side, k] = factor * G[side, k]


@njit
def _release(plan, ws, pose):
    """Take the rows out of ``ws.jacobian[pose]`` again, after an impact: add its works to the elements' works.

    In ``ws.efforts.work``. The velocities before it are in ``ws.velocity``, those after it in ``ws.increment_body``, as
    the impulses in ``ws.increment_row``.
    """
    nb = plan.bodies.mass.size
    for n in range(plan.compliant.joint_row.size):
        r, s = plan.compliant.joint_row[n], plan.compliant.joint_sum[n]
        rate = 0.0
        for side in range(2):
            i, row = plan.measures.body[r, side], ws.jacobian[pose, r, side]
            if i < nb:
                rate += 0.5 * (dot6(row, ws.velocity[i]) + dot6(row, ws.increment_body[i]))
            for k in range(6):
                row[k] = 0.0
        ws.efforts.work[plan.laws.element[plan.laws.sum_law[s]]] += ws.increment_row[r] * rate
