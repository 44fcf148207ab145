"""Derivatives of stages by the instants at which they begin and end.

A stage that ends at an event keeps some margin there at zero, as the gap of a limit. Along a change of its start the
margin at its end changes by dg at the same instant, so the end moves by dt = - dg / (rate of the margin along the
stage's own size): this is the saltation.
"""

from varint.base.numba import njit
from varint.mathematics.vectors import cross, dot, rotate, scale, vector
from varint.step.dense import add_scaled6
from varint.step.derivatives.columns import add_column, refine_wide, to_end, turns
from varint.step.derivatives.operator import join_constraints
from varint.step.derivatives.tangent import add_effort_changes, factor_stage, is_still, push_half
from varint.step.derivatives.tape import play_stage
from varint.step.efforts import curvature_factor
from varint.step.intervals import StepSpan
from varint.step.measures import pair_of, rate_of, weighted_curvature
from varint.step.pairs import curve_pairs


@njit(seconds=5, what="derivatives of steps")
def carry_instants(plan, ws, tape, work, k, inputs, drift, changes, states):
    """Write the rates of the end of stage k by its start time and by its end time to ``changes`` (2, nb, 12), 1/s.

    The state that it starts from stays. ``drift``: rates of the load (nb, 6) and of the targets at the end (nr,).
    ``states`` (2, ns): rates of the states of laws, written. ``work``: a `Tangent`; ``inputs``: empty, as in
    `carry_forward`. Uses ``work.body``, ``work.row``, ``work.wide`` and ``work.wide_row``.
    """
    body, row, (load, target) = work.body[2], work.row[0], drift
    upper, h = play_stage(plan, ws, tape, k)
    step = StepSpan(upper, 1, h)
    factor_stage(plan, ws, body, row, step, False)
    turns(plan, ws, work, h)
    curve_pairs(plan, ws, work, upper)
    work.wide[0], work.wide[1], work.wide[2], work.wide_row[0] = 0.0, 0.0, 0.0, 0.0
    for n in range(2):
        before, after = 1.0 - n, 1.0 * n
        longer = after - before
        _residuals_by_size(plan, ws, work, step, longer, states[n], body, row)
        for i in range(plan.bodies.mass.size):
            for a in range(6):
                body[i, a] += 0.5 * (longer * tape.load[k, 0, i, a] + h * before * load[i, a])
        for r in range(row.size):
            if ws.released[r] == 0.0:
                row[r] += after * target[r] / h
            work.wide_row[0, r, n] = row[r]
        add_column(body, n, work.wide[0])
        add_column(work.end, n, work.wide[1])
        add_column(work.middle, n, work.wide[2])
    refine_wide(plan, ws, work, step, 2, work.wide[0], work.wide_row[0])
    to_end(plan, ws, work, h, inputs, 0, states, work.unmoved, work.wide[0], changes)
    for n in range(2):
        before, after = 1.0 - n, 1.0 * n
        longer = after - before
        for i in range(plan.bodies.mass.size):
            for a in range(6):
                body[i, a] = 0.5 * (longer * tape.load[k, 1, i, a] + h * after * load[i, a])
        _momenta_by_size(plan, ws, h, longer, -1.0, body)
        for i in range(plan.bodies.mass.size):
            for a in range(6):
                changes[n, i, 6 + a] += body[i, a]
        for a in range(states.shape[1]):
            states[n, a] += 0.5 * longer * ws.efforts.flow[a]


@njit
def _residuals_by_size(plan, ws, work, step, longer, states, body, row):
    """Write minus the changes of the residuals by a step ``longer``, s, to ``body`` (nb, 6) and ``row`` (nr,).

    Without the share of applied loads. The motions of middle and end are written to ``work.middle`` and ``work.end``;
    half the change of the states of laws at the end, by the size alone, to ``states`` (ns,). ``step``: a `StepSpan`.
    Uses ``work.velocity``, ``work.begun``, ``work.begun_rate`` and ``work.lean``.
    """
    upper, end, h = step.upper, step.end, step.h
    for i in range(plan.bodies.mass.size):
        w = vector(ws.velocity[i, 3:])
        c = (1.0 - 0.25 * h * h * dot(w, w)) ** 0.5
        for a in range(3):
            work.end[i, a], work.end[i, 3 + a] = longer * ws.velocity[i, a], longer * w[a] / c
        for a in range(6):
            work.middle[i, a], body[i, a] = 0.5 * work.end[i, a], 0.0
    for r in range(row.size):
        row[r] = 0.0
        if ws.released[r] > 0.0:
            continue
        pair_of(plan, r, work.end, ws.efforts.motion)
        if is_still(ws.efforts.motion):
            continue
        row[r] -= rate_of(plan.measures.body[r], ws.jacobian[end, r], work.end) / h
        if upper == end:
            turned = ws.efforts.change
            weighted_curvature(plan, ws, r, ws.position[end], ws.rotation[end], ws.efforts.motion, turned)
            for s in range(2):
                i = plan.measures.body[r, s]
                if i < plan.bodies.mass.size:
                    add_scaled6(body[i], ws.multiplier[r], turned[s])
    join_constraints(plan, ws, work.no_row, row)
    for a in range(states.size):
        states[a] = 0.5 * longer * ws.efforts.flow[a]
    work.velocity[:] = 0.0
    work.begun[:] = 0.0
    work.begun_rate[:] = 0.0
    work.lean[:] = 0.0
    add_effort_changes(plan, ws, work, 0.5 * h, 1.0, states, body)
    _momenta_by_size(plan, ws, h, longer, 1.0, body)


@njit
def _momenta_by_size(plan, ws, h, longer, side, out):
    """Add the changes of the momenta at an end of a stage by its size alone to ``out`` (nb, 6).

    By gravity, turning and efforts. ``side``: 1 at its start, -1 at its end. Uses ``ws.efforts.column``.
    """
    for i in range(plan.bodies.mass.size):
        w = vector(ws.velocity[i, 3:])
        spin = rotate(plan.bodies.inertia[i], w)
        c = (1.0 - 0.25 * h * h * dot(w, w)) ** 0.5
        slower, lever = -0.25 * h * dot(w, w) / c, cross(w, spin)  # the change of c with h
        for a in range(3):
            out[i, a] += 0.5 * longer * plan.bodies.mass[i] * plan.bodies.gravity[a]
            out[i, 3 + a] -= longer * (side * slower * spin[a] + 0.5 * lever[a])
    work, share = ws.efforts, longer / h
    for s in range(plan.laws.sum_law.size - 1):
        for m in range(plan.laws.sum_first[s], plan.laws.sum_first[s + 1]):
            effort = curvature_factor(plan, work, s, m)
            for e in range(2):
                i = plan.measures.body[m, e]
                if i < out.shape[0]:
                    g = work.gradient[m, e]
                    for a in range(6):
                        work.column[a] = share * work.sum_effort[s] * g[a]
                    _push(plan, ws, i, scale(effort, vector(g[3:])), h, longer, side, out[i])
    for n in range(plan.loads.kind.size):
        i = plan.loads.body[n]
        for a in range(6):
            work.column[a] = share * work.wrench[n, a]
        _push(plan, ws, i, vector(work.wrench[n, 3:]), h, longer, side, out[i])


@njit
def _push(plan, ws, i, turning, h, longer, side, out):
    """Add `push_half` of ``ws.efforts.column`` on body i to ``out`` (6,), with the change of T by the stage's size."""
    w, T = vector(ws.velocity[i, 3:]), vector(ws.efforts.tangent[i])
    c = (1.0 - 0.25 * h * h * dot(w, w)) ** 0.5
    push_half(ws.efforts.column, turning, T, scale(0.5 * longer / (c * (1.0 + c)), w), 0.5 * h, side, out)
