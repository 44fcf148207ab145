"""Derivatives of the compliant rows of joints by the start of a step, and what they add to its end (soft_joints.py).

The impulse mu of a row acts along G at the start and along G' at the end of a step. A change of its start moves start
and end; with K and K' the curvatures there, and y the change of mu,

    row    d(h/2 f) = G . start d(h/2 f)/dg + G' . end d(h/2 f)/dg'
    start  mu K start      end  y G' + mu K' end

The second are changes of momenta. Those at the start, and y, belong to the residuals and unknowns of operator.py.
"""

from varint.base.numba import Float1, Float2, indirect, njit
from varint.step.compliant.soft_joints import by_ends
from varint.step.dense import add_scaled6, dot6
from varint.step.measures import curve_transposed, pair_of, weighted_curvature
from varint.step.plan import Plan, Workspace

WHAT = "derivatives of joints with a compliance"


@njit
def _measure_of(plan, n):
    """Return row number n of compliant joints, and the measure whose gradient is G."""
    return plan.compliant.joint_row[n], plan.laws.sum_first[plan.compliant.joint_sum[n]]


@njit
def _add_curved(plan, ws, m, pose, motions, factor, out):
    """Add a factor times the curvature of measure m at a pose, along ``motions`` (nb, 6), to ``out`` (nb, 6)."""
    work = ws.efforts
    pair_of(plan, m, motions, work.motion)
    weighted_curvature(plan, ws, m, ws.position[pose], ws.rotation[pose], work.motion, work.change)
    for side in range(2):
        i = plan.measures.body[m, side]
        if i < out.shape[0]:
            add_scaled6(out[i], factor, work.change[side])


@indirect(seconds=2, what=WHAT)
def rows_from_start(
    plan: Plan, ws: Workspace, half_step: float, start: Float2, end: Float2, out: Float2, out_row: Float2, c: int
) -> None:
    """Add minus the changes of the residuals, by motions of the ends, to ``out`` (nb, 6), ``out_row``[:, c].

    ``start``, ``end`` (nb, 6): the motions; ``out_row`` (nr, columns).
    """
    for n in range(plan.compliant.joint_row.size):
        r, m = _measure_of(plan, n)
        by_start, by_end = by_ends(plan, ws, n, half_step)
        for side in range(2):
            i = plan.measures.body[r, side]
            if i < out.shape[0]:
                out_row[r, c] += by_start * dot6(ws.efforts.gradient[m, side], start[i])
                out_row[r, c] += by_end * dot6(ws.efforts.gradient[r, side], end[i])
        _add_curved(plan, ws, m, 0, start, ws.multiplier[r], out)


@indirect(seconds=2, what=WHAT)
def rows_at_end(plan: Plan, ws: Workspace, end: Float2, row: Float2, c: int, out: Float2) -> None:
    """Add the changes of the momenta at the end, by its motion ``end`` (nb, 6) and changes of mu, to ``out`` (nb, 6).

    ``row`` (nr, columns): column c has the changes of mu.
    """
    for n in range(plan.compliant.joint_row.size):
        r, m = _measure_of(plan, n)
        for side in range(2):
            i = plan.measures.body[r, side]
            if i < out.shape[0]:
                add_scaled6(out[i], row[r, c], ws.efforts.gradient[r, side])
        _add_curved(plan, ws, m, 1, end, ws.multiplier[r], out)


@njit
def _add_curved_back(plan, ws, m, pose, gradient, vectors, factor, out):
    """Add the transpose of `_add_curved` to ``out`` (nb, 6); ``gradient`` (2, 6) of the measure at the pose."""
    work = ws.efforts
    pair_of(plan, m, vectors, work.motion)
    curve_transposed(plan, ws, m, ws.position[pose], ws.rotation[pose], gradient, work.motion, work.change)
    for side in range(2):
        i = plan.measures.body[m, side]
        if i < out.shape[0]:
            add_scaled6(out[i], factor, work.change[side])


@indirect(seconds=2, what=WHAT)
def rows_from_start_back(
    plan: Plan, ws: Workspace, half_step: float, body: Float2, row: Float1, by_start: Float2, by_end: Float2
) -> None:
    """Add the transpose of `rows_from_start`, of duals ``body``, ``row`` (nr,), to gradients by the ends' motions.

    ``by_start``, ``by_end`` (nb, 6); ``body`` (nb, 6).
    """
    for n in range(plan.compliant.joint_row.size):
        r, m = _measure_of(plan, n)
        of_start, of_end = by_ends(plan, ws, n, half_step)
        for side in range(2):
            i = plan.measures.body[r, side]
            if i < body.shape[0]:
                add_scaled6(by_start[i], row[r] * of_start, ws.efforts.gradient[m, side])
                add_scaled6(by_end[i], row[r] * of_end, ws.efforts.gradient[r, side])
        _add_curved_back(plan, ws, m, 0, ws.efforts.gradient[m], body, ws.multiplier[r], by_start)


@indirect(seconds=2, what=WHAT)
def rows_at_end_back(plan: Plan, ws: Workspace, momentum: Float2, by_end: Float2, row: Float1) -> None:
    """Add the transpose of `rows_at_end`, of a gradient ``momentum`` (nb, 6) by the momenta.

    To ``by_end`` (nb, 6), by the motion of the end, and ``row`` (nr,), by the changes of mu.
    """
    for n in range(plan.compliant.joint_row.size):
        r, m = _measure_of(plan, n)
        for side in range(2):
            i = plan.measures.body[r, side]
            if i < momentum.shape[0]:
                row[r] += dot6(ws.efforts.gradient[r, side], momentum[i])
        _add_curved_back(plan, ws, m, 1, ws.efforts.gradient[r], momentum, ws.multiplier[r], by_end)
