"""Compliant rows of joints in a step: rigid rows with a compliance (NOTES 0.11).

A row g with the compliance alpha and the damping time beta has over a step of h seconds the effort

    f = -(m + beta r) / alpha,    m = (g + g') / 2,  r = (g' - g) / h,    g at its start, g' at its end

which acts along the gradients at both ends, as the impulse of a rigid row does: h/2 f G at the start, h/2 f G' at the
end. Without damping these are the derivatives of the discrete Lagrangian -h m^2 / (2 alpha): symplectic, symmetric, of
order 2; f (g' - g) is minus the change of the potential. The unknown mu = h/2 f has the residual mu - h/2 f, which
becomes that of the rigid row, g' = 0, as alpha goes to zero, if g = 0 at the start. Newton's matrix has the exact
derivatives, and so has the operator (operator.py), in which mu is an unknown too.
"""

from varint.base.numba import Float1, Float2, Float3, indirect, njit
from varint.mathematics.sums import two_sum
from varint.mathematics.vectors import rotate, vector
from varint.step.configuration import place_node
from varint.step.dense import WIDE, add_scaled6, dot6
from varint.step.laws import law_effort
from varint.step.measures import weighted_measure
from varint.step.plan import Plan, Workspace

WHAT = "joints with a compliance"


@indirect(seconds=2, what=WHAT)
def average_rows(plan: Plan, ws: Workspace, start: int, end: int, h: float) -> None:
    """Replace the efforts of the rows in the middle of a step by f, and subtract mu G from ``ws.residual_body``.

    G goes to the gradients of the measures of the laws, G' to those of the rows, values and efforts to ``ws.efforts``;
    residuals to ``ws.residual_row``. After `evaluate_laws`.
    """
    work, half_step = ws.efforts, 0.5 * h
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


@njit
def by_ends(plan, ws, n, half_step):
    """Return the derivatives of h/2 f of row n by its values at the start and at the end of a step."""
    s = plan.compliant.joint_sum[n]
    by_value, by_rate = half_step * ws.efforts.sum_by_value[s], ws.efforts.sum_by_rate[s]
    return 0.5 * (by_value - by_rate), 0.5 * (by_value + by_rate)


@indirect(seconds=1, what=WHAT)
def stiffen_rows(plan: Plan, ws: Workspace, upper: int, end: int, h: float, factored: bool) -> None:
    """Write the columns of mu, G, and the rows of Newton's matrix, by G', to ``ws.jacobian``. After `average_rows`."""
    if factored:
        return
    work = ws.efforts
    for n in range(plan.compliant.joint_row.size):
        r, m = plan.compliant.joint_row[n], plan.laws.sum_first[plan.compliant.joint_sum[n]]
        share = -h * by_ends(plan, ws, n, 0.5 * h)[1]
        for side in range(2):
            for k in range(6):
                ws.jacobian[upper, r, side, k] = work.gradient[m, side, k]
                ws.jacobian[end, r, side, k] = share * work.gradient[r, side, k]


@indirect(seconds=1, what="derivatives of joints with a compliance")
def apply_rows(
    plan: Plan, ws: Workspace, h: float, body: Float3, row: Float2, out_body: Float3, out_row: Float2
) -> None:
    """Add the part of these rows to the result of `columns.apply_wide`, with the same arguments.

    ``body``, ``out_body`` (nb, 6, 8); ``row``, ``out_row`` (nr, 8). After `average_rows`.
    """
    for n in range(plan.compliant.joint_row.size):
        r, m = plan.compliant.joint_row[n], plan.laws.sum_first[plan.compliant.joint_sum[n]]
        before, after = ws.efforts.gradient[m], ws.efforts.gradient[r]
        share = -h * by_ends(plan, ws, n, 0.5 * h)[1]
        for c in range(WIDE):
            out_row[r, c] += row[r, c]
            for side in range(2):
                i = plan.measures.body[r, side]
                for k in range(6 if i < plan.bodies.mass.size else 0):
                    out_row[r, c] += share * after[side, k] * body[i, k, c]
                    out_body[i, k, c] -= row[r, c] * before[side, k]


@indirect(seconds=1, what="derivatives of joints with a compliance")
def apply_rows_back(
    plan: Plan, ws: Workspace, h: float, body: Float2, row: Float1, out_body: Float2, out_row: Float1
) -> None:
    """Add the transpose of `apply_rows`, of one column, as `operator.apply_transposed` takes it.

    ``body``, ``out_body`` (nb, 6); ``row``, ``out_row`` (nr,).
    """
    for n in range(plan.compliant.joint_row.size):
        r, m = plan.compliant.joint_row[n], plan.laws.sum_first[plan.compliant.joint_sum[n]]
        share = -h * by_ends(plan, ws, n, 0.5 * h)[1]
        out_row[r] += row[r]
        for side in range(2):
            i = plan.measures.body[r, side]
            if i < plan.bodies.mass.size:
                out_row[r] -= dot6(ws.efforts.gradient[m, side], body[i])
                add_scaled6(out_body[i], share * row[r], ws.efforts.gradient[r, side])


@indirect(seconds=1, what=WHAT)
def finish_rows(plan: Plan, ws: Workspace, start: int, end: int, h: float) -> None:
    """Add mu G' to ``ws.momentum``, with ``ws.momentum_rest``."""
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

    The elastic part, without damping. ``out`` (T, k, 6): world axes. ``position`` (T, nb, 3), ``quat`` (T, nb, 4): of T
    nodes, in the order of the kernel.
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
