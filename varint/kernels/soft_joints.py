"""Compliant rows of joints in a step: rigid rows with a compliance (NOTES 0.11).

A row g with the compliance alpha and the damping time beta has over a step of h seconds the effort

    f = -(m + beta r) / alpha,    m = (g + g') / 2,  r = (g' - g) / h,    g at its start, g' at its end

which acts along the gradients at both ends, as the impulse of a rigid row does: h/2 f G at the start, h/2 f G' at the
end. Without damping these are the derivatives of the discrete Lagrangian -h m^2 / (2 alpha): symplectic, symmetric, of
order 2; f (g' - g) is minus the change of the potential. The unknown mu = h/2 f has the residual mu - h/2 f, which
becomes that of the rigid row, g' = 0, as alpha goes to zero, if g = 0 at the start. Newton's matrix has the exact
derivatives.
"""

import math

from varint._numba import indirect, njit
from varint.algebra.sums import two_sum
from varint.algebra.vectors import rotate, vector
from varint.kernels.configuration import place_node
from varint.kernels.dense import add_scaled6
from varint.kernels.laws import law_effort
from varint.kernels.measures import weighted_measure
from varint.kernels.plan import Plan, Workspace

WHAT = "joints with a compliance"


@indirect(seconds=2, what=WHAT)
def average_rows(plan: Plan, ws: Workspace, start: int, half_step: float) -> None:
    """Replace the efforts of the rows in the middle of a step by f, and take mu G off ``ws.residual_body``.

    G goes to the gradients of the measures of the laws, G' to those of the rows. After `evaluate_laws`.
    """
    work, end = ws.efforts, 1 - start
    for n in range(plan.compliant.joint_row.size):
        r, s = plan.compliant.joint_row[n], plan.compliant.joint_sum[n]
        m = plan.laws.sum_first[s]
        before, after = work.gradient[m], work.gradient[r]
        g = weighted_measure(plan, ws, m, 0.0, ws.position[start], ws.rotation[start], before)
        work.value[m] = weighted_measure(plan, ws, m, 0.0, ws.position[end], ws.rotation[end], after)
        middle, rate = 0.5 * (g + work.value[m]), 0.5 * (work.value[m] - g) / half_step
        effort = work.sum_by_value[s] * middle + work.sum_by_rate[s] * rate
        work.sum_value[s], work.sum_rate[s], work.sum_effort[s] = middle, rate, 0.0
        work.effort[plan.laws.element[plan.laws.sum_law[s]]] = effort
        ws.residual_row[r] = ws.multiplier[r] - half_step * effort
        for side in range(2):
            i = plan.measures.body[m, side]
            if i < plan.bodies.mass.size:
                add_scaled6(ws.residual_body[i], -ws.multiplier[r], before[side])


@indirect(seconds=1, what=WHAT)
def stiffen_rows(plan: Plan, ws: Workspace, upper: int, lower: int, half_step: float) -> None:
    """Write the columns of mu, G, and the rows of Newton's matrix, by G'. After `average_rows`."""
    work = ws.efforts
    for n in range(plan.compliant.joint_row.size):
        r, s = plan.compliant.joint_row[n], plan.compliant.joint_sum[n]
        m = plan.laws.sum_first[s]
        share = -half_step * (half_step * work.sum_by_value[s] + work.sum_by_rate[s])
        for side in range(2):
            for k in range(6):
                ws.jacobian[upper, r, side, k] = work.gradient[m, side, k]
                ws.jacobian[lower, r, side, k] = share * work.gradient[r, side, k]


@indirect(seconds=1, what=WHAT)
def extrapolate_ringing(ws: Workspace, stage: int, length: float, still: float) -> None:
    """Write the start values of Newton's iteration to ``ws.velocity``, from ``ws.history[stage]`` (n, nb, 6).

    Stiff rows ring with a period of two steps or a little more: their velocities change sign from step to step. With
    the backward differences D of `step._extrapolate`, start values that meet polynomials of degree a - 1 and such
    alternating velocities b times, and what they missed at the last step, are

        b = 0    D^0 + ... + D^(a-1)                           D^a
        b = 1    D^0 + ... + D^(a-1) -   D^a                 2 D^a -   D^(a+1)
        b = 2    D^0 + ... + D^(a-1) - 3 D^a + D^(a+1)       4 D^a - 4 D^(a+1) + D^(a+2)

    The pair (a, b) that missed least is taken. ``length``, m, scales rad/s to m/s; velocities below ``still``, m/s,
    start from the last.
    """
    history, velocity = ws.history[stage], ws.velocity
    best, degree, times, scale = math.inf, 1, 0, 0.0
    for b in range(3):
        for a in range(1, history.shape[0] - b):
            size = scale = 0.0
            for i in range(velocity.shape[0]):
                for k in range(6):
                    missed = (1.0 if b == 0 else 2.0 * b) * history[a, i, k]
                    if b > 0:
                        missed -= (1.0 if b == 1 else 4.0) * history[a + 1, i, k]
                    if b == 2:
                        missed += history[a + 2, i, k]
                    unit = 1.0 if k < 3 else length
                    size += (unit * missed) ** 2
                    scale += (unit * history[0, i, k]) ** 2
            if size < best:
                best, degree, times = size, a, b
    if scale < still * still:
        degree, times = 1, 0
    for i in range(velocity.shape[0]):
        for k in range(6):
            value = history[0, i, k]
            for j in range(1, degree):
                value += history[j, i, k]
            if times > 0:
                value -= (1.0 if times == 1 else 3.0) * history[degree, i, k]
            if times == 2:
                value += history[degree + 1, i, k]
            velocity[i, k] = value


@njit
def finish_rows(plan, ws):
    """Add mu G' to ``ws.momentum``."""
    for n in range(plan.compliant.joint_row.size):
        r = plan.compliant.joint_row[n]
        for side in range(2):
            i = plan.measures.body[r, side]
            if i < plan.bodies.mass.size:
                p, rest = ws.momentum[i], ws.momentum_rest[i]
                for k in range(6):
                    push = ws.multiplier[r] * ws.efforts.gradient[r, side, k]
                    p[k], rest[k] = two_sum(p[k], rest[k] + push)


@njit(seconds=1, what="reactions of joints with a compliance")
def row_reactions(plan, ws, position, quat, out):
    """Write the force, N, and the torque about the centre of mass, N m, of each row on its second body to ``out``.

    The elastic part, without damping. ``out`` (T, k, 6): world axes. T nodes in the order of the kernel: position
    (T, nb, 3), quat (T, nb, 4).
    """
    work = ws.efforts
    for node in range(position.shape[0]):
        place_node(plan, ws, position[node], quat[node])
        for n in range(plan.compliant.joint_row.size):
            s = plan.compliant.joint_sum[n]
            m, f = plan.laws.sum_first[s], plan.laws.sum_law[s]
            G, side = work.gradient[m], 1 - plan.measures.first[m]
            g = weighted_measure(plan, ws, m, 0.0, ws.position[0], ws.rotation[0], G)
            effort = law_effort(plan, work, f, g, 0.0, 0.0)[0]
            torque = rotate(ws.rotation[0, plan.measures.body[m, side]], vector(G[side, 3:]))
            for k in range(3):
                out[node, n, k], out[node, n, 3 + k] = effort * G[side, k], effort * torque[k]
