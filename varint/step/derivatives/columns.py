"""Motions that rows allow, and derivatives of steps and of velocities (tangent.py), along many changes of the state.

Changes are taken eight at a time (wide.py). Their common parts are made once: the factors, the rotations of the step,
and the curvature of the rows between two bodies, which is one matrix (12, 12) for all of them together.
"""

import math

from varint.base.numba import njit
from varint.mathematics.vectors import scale, turn_of
from varint.step.configuration import mass_pivots, place
from varint.step.dense import WIDE, dot6
from varint.step.derivatives.operator import apply_sum
from varint.step.derivatives.refine import EXACT, PASSES
from varint.step.derivatives.tangent import add_effort_changes, add_input, factor_stage, step_turn, turned_back
from varint.step.derivatives.tape import load_start, play_stage
from varint.step.derivatives.wide import NOTHING, dot_wide, eight, largest, plus, put, solve_wide
from varint.step.efforts import add_load_change, has_efforts
from varint.step.intervals import StepSpan
from varint.step.ldu import solve_newton
from varint.step.measures import weighted_curvature
from varint.step.middle import unknown_to_motion, unknown_to_tangent, unknown_to_velocity
from varint.step.momentum import angular_momentum
from varint.step.pairs import add_curved, bend_rows, curve_pairs
from varint.step.projection import project_velocities
from varint.step.roles import apply_roles, change_at_end, change_from_start
from varint.step.rows import clear_rows


@njit
def take_node(plan, ws, other, pose):
    """Copy the node at the pose ``pose`` of another workspace to pose 0 of this one, and place it.

    Writes ``ws.position``, ``ws.quat``, ``ws.momentum``, ``ws.efforts.value_near``, ``ws.efforts.target``,
    ``ws.efforts.target_rate``, ``ws.products.q`` and ``ws.products.order``.
    """
    efforts, source = ws.efforts, other.efforts
    for i in range(plan.bodies.mass.size):
        for k in range(3):
            ws.position[0, i, k] = other.position[pose, i, k]
        for k in range(4):
            ws.quat[0, i, k] = other.quat[pose, i, k]
        for k in range(6):
            ws.momentum[i, k] = other.momentum[i, k]
    for m in range(efforts.value_near.size):
        efforts.value_near[m] = source.value_near[m]
    for r in range(efforts.target.size):
        efforts.target[r], efforts.target_rate[r] = source.target[r], source.target_rate[r]
    for n in range(plan.products.start.size):
        for k in range(ws.products.q.shape[1]):
            ws.products.q[n, k], ws.products.order[n, k] = other.products.q[n, k], other.products.order[n, k]
    place(plan, ws, 0)


@njit(seconds=4, what="linearisations")
def allowed_motions(plan, ws, work, bodies, pushes, out):
    """Write the motions M^-1 push that the rows allow to ``out`` (n, nb, 6).

    ``pushes`` (n, 2, 6): on ``bodies`` (n, 2). At pose 0, which is placed. The inner products of motions with pushes
    are the inverse mass along the pushes. ``work``: a `Tangent`; uses ``work.wide``, ``work.wide_row``,
    ``ws.increment_body`` and ``ws.increment_row``.
    """
    clear_rows(plan, ws.released, ws.jacobian[0])
    mass_pivots(plan, ws.ldu.D)
    ws.increment_body[:] = 0.0
    ws.increment_row[:] = 0.0
    solve_newton(plan, ws, ws.increment_body, ws.increment_row, 0, 0)
    body, again, row = work.wide[0], work.wide[1], work.wide_row[0]
    for first in range(0, out.shape[0], WIDE):
        body[:] = 0.0
        row[:] = 0.0
        count = min(WIDE, out.shape[0] - first)
        for c in range(count):
            for s in range(2):
                i = bodies[first + c, s]
                if i < plan.bodies.mass.size:
                    for k in range(6):
                        body[i, k, c] += pushes[first + c, s, k]
        solve_wide(plan, ws, work, StepSpan(0, 0, 1.0), body, row)
        for r in range(row.shape[0]):  # once more for the round-off across the rows
            put(row[r], _along_row(plan, ws, r, 0, NOTHING, -1.0, body))
        again[:] = 0.0
        solve_wide(plan, ws, work, StepSpan(0, 0, 1.0), again, row)
        for c in range(count):
            for i in range(body.shape[0]):
                for k in range(6):
                    out[first + c, i, k] = body[i, k, c] + again[i, k, c]


@njit(seconds=4, what="linearisations")
def changes_of_velocities(plan, ws, work, changes):
    """Turn changes (n, nb, 12) of poses and momenta at a node into changes of poses and velocities.

    The node is pose 0, which is placed, with ``ws.momentum`` and the rates of targets. Its velocities go to
    ``ws.velocity``. ``work``: a `Tangent`.
    """
    project_velocities(plan, ws, 0)
    curve_pairs(plan, ws, work, 0)
    bend_rows(plan, ws, work, 0)
    change, body, row = work.change, work.wide[0], work.wide_row[0]
    for first in range(0, changes.shape[0], WIDE):
        _pack(changes, first, change)
        for i in range(body.shape[0]):
            for k in range(6):
                put(body[i, k], eight(change[i, 6 + k]))
        add_curved(plan, ws, work, 0, change, 1.0, body)
        for r in range(row.shape[0]):
            t = NOTHING
            for s in range(2):
                i = plan.measures.body[r, s]
                if i < body.shape[0]:
                    t = dot_wide(t, -1.0, work.bend[r, 6 * s : 6 * s + 6], change[i])
            put(row[r], t)
        _join(plan, ws, work.wide_row[1], row, False)
        solve_wide(plan, ws, work, StepSpan(0, 0, 1.0), body, row)
        for c in range(min(WIDE, changes.shape[0] - first)):
            for i in range(body.shape[0]):
                for k in range(6):
                    changes[first + c, i, 6 + k] = body[i, k, c]


@njit(seconds=8, what="derivatives of steps")
def carry_forward(plan, ws, tape, work, stages, inputs, changes, begun, states):
    """Take ``changes`` (n, nb, 12) of the state at the start of the stages to their end.

    ``inputs``: elements (m,) and the spans (m,) of differences; the last m changes are by the inputs of these elements,
    which are one more for all stages. ``states`` (n, ns): changes of states of laws, likewise. ``stages``:
    (first, last + 1). ``tape``: of the run. ``ws``: another workspace, or the same; its state is lost. ``work``: a
    `Tangent`. ``begun`` (n, nb, 12): scratch.
    """
    change, body, row = work.change, work.wide[0], work.wide_row[0]
    for k in range(stages[0], stages[1]):
        if tape.damping.active[0]:
            for n in range(changes.shape[0]):
                for i in range(changes.shape[1]):
                    for a in range(12):
                        begun[n, i, a] = changes[n, i, a]
            load_start(plan, ws, tape, k)
            changes_of_velocities(plan, ws, work, begun)
        upper, h = play_stage(plan, ws, tape, k)
        step = StepSpan(upper, 1, h)
        factor_stage(plan, ws, work.body[0], work.row[0], step, False)
        turns(plan, ws, work, h)
        curve_pairs(plan, ws, work, upper)
        for first in range(0, changes.shape[0], WIDE):
            _pack(changes, first, change)
            _by_start(plan, ws, work, step, inputs, first, states, begun, body, row)
            refine_wide(plan, ws, work, step, min(WIDE, changes.shape[0] - first), body, row)
            to_end(plan, ws, work, h, inputs, first, states, begun, body, changes)


@njit
def _pack(changes, first, change):
    """Copy eight ``changes`` (n, nb, 12) from number ``first`` on to ``change`` (nb, 12, 8); zero beyond the last."""
    for c in range(WIDE):
        n = first + c
        for i in range(change.shape[0]):
            for k in range(12):
                change[i, k, c] = changes[n, i, k] if n < changes.shape[0] else 0.0


@njit
def turns(plan, ws, work, h):
    """Write rotations of changes from start to end and middle, ``work.turn``, and derivatives of the angular momentum.

    At the end of a step of ``h``, s: ``work.spin``.
    """
    half_step = 0.5 * h
    for i in range(plan.bodies.mass.size):
        w, (u, c), G, spin = ws.velocity[i], step_turn(ws, i, half_step), ws.derivative[i], work.spin[i]
        half, norm = scale(1.0 / (1.0 + c), u), (0.5 * (1.0 + c)) ** 0.5
        for b in range(3):
            unit = (1.0 if b == 0 else 0.0, 1.0 if b == 1 else 0.0, 1.0 if b == 2 else 0.0)
            at_end, in_middle = turned_back(u, c, unit), turned_back(scale(norm, half), norm, unit)
            for a in range(3):
                work.turn[i, 0, a, b], work.turn[i, 1, a, b] = at_end[a], in_middle[a]
        for k in range(6):
            gain = turned_back(u, c, (G[3, k], G[4, k], G[5, k]))
            for a in range(3):
                spin[a, k] = gain[a]
        x, y, z = scale(h, angular_momentum(plan.bodies.inertia[i], turn_of(w), -half_step))
        spin[0, 4] -= z
        spin[0, 5] += y
        spin[1, 3] += z
        spin[1, 5] -= x
        spin[2, 3] -= y
        spin[2, 4] += x


@njit
def _along_row(plan, ws, r, pose, t, factor, motions):
    """Return eight numbers ``t`` plus a factor times the changes of row r by ``motions`` (nb, 6, 8)."""
    for s in range(2):
        i = plan.measures.body[r, s]
        if i < motions.shape[0]:
            t = dot_wide(t, factor, ws.jacobian[pose, r, s], motions[i])
    return t


@njit
def _join(plan, ws, row, out_row, by_multipliers):
    """Write `operator.join_constraints` of eight columns to ``out_row`` (nr, 8); ``row`` (nr, 8): multipliers.

    Without ``by_multipliers``, 0 in place of the differences of multipliers.
    """
    for c in range(plan.constraints.row.size):
        first = plan.constraints.row[c]
        if ws.released[first] > 0.0:
            continue
        for r in range(first + 1, first + plan.constraints.size[c]):
            put(out_row[first], plus(eight(out_row[first]), 1.0, out_row[r]))
            put(out_row[r], NOTHING)
            if by_multipliers:
                put(out_row[r], plus(eight(row[r]), -1.0, row[first]))


@njit
def _by_start(plan, ws, work, step, inputs, first, states, begun, body, row):
    """Write minus the changes of the residuals by eight changes of the start to ``body`` (nb, 6, 8), ``row`` (nr, 8).

    The changes are ``work.change``, and number ``first`` and on of all; ``states`` (n, ns): changes of states of laws;
    ``begun`` (n, nb, 12): changes of poses and velocities at the start.
    Changes of the end are written to ``work.wide[1]``, of the middle to ``work.wide[2]``. Uses ``work.velocity``,
    ``work.lean``.
    """
    upper, h, change, end, middle = step.upper, step.h, work.change, work.wide[1], work.wide[2]
    for i in range(plan.bodies.mass.size):
        at_end, in_middle = work.turn[i, 0], work.turn[i, 1]
        for k in range(3):
            put(end[i, k], eight(change[i, k]))
            put(middle[i, k], eight(change[i, k]))
            t = d = NOTHING
            for b in range(3):
                t, d = plus(t, at_end[k, b], change[i, 3 + b]), plus(d, in_middle[k, b], change[i, 3 + b])
            put(end[i, 3 + k], t)
            put(middle[i, 3 + k], d)
        for k in range(6):
            put(body[i, k], eight(change[i, 6 + k]))
    if upper == 0:
        add_curved(plan, ws, work, upper, change, 1.0, body)
    else:
        add_curved(plan, ws, work, upper, end, 1.0, body)
    for r in range(row.shape[0]):
        put(row[r], NOTHING)
        if ws.released[r] == 0.0:
            put(row[r], _along_row(plan, ws, r, 1, NOTHING, -1.0 / h, end))
    _join(plan, ws, row, row, False)
    if not has_efforts(plan):
        return
    elements, spans = inputs
    work.velocity[:] = 0.0
    work.lean[:] = 0.0
    out, count = work.body[0], states.shape[0]
    for c in range(min(WIDE, count - first)):
        _column(middle, c, work.middle)
        out[:] = 0.0
        _take_begun(plan, ws, work, begun, first + c)
        add_effort_changes(plan, ws, work, 0.5 * h, 1.0, states[first + c], out)
        _column(change, c, work.start)
        _column(end, c, work.end)
        change_from_start(plan, ws, 0.5 * h, work.start, work.end, out, row, c)
        m = first + c - (count - elements.size)
        if m >= 0:
            add_input(plan, ws, elements[m], spans[m], 0.5 * h, 1.0, out)
        add_column(out, c, body)


@njit
def _take_begun(plan, ws, work, begun, n):
    """Write the velocities of change n of the start, of ``begun`` (n, nb, 12), to ``work.begun`` (nb, 6).

    And the changes of rates at the start to ``work.begun_rate`` (ns,). Uses ``ws.efforts.motion``.
    """
    if not ws.damping.active[0]:
        return
    for i in range(work.begun.shape[0]):
        for k in range(6):
            work.begun[i, k] = begun[n, i, 6 + k]
    for s in range(plan.compliant.joint_sum.size, plan.laws.sum_law.size - 1):
        work.begun_rate[s] = 0.0
        if ws.damping.by_start[s] != 0.0:
            for m in range(plan.laws.sum_first[s], plan.laws.sum_first[s + 1]):
                work.begun_rate[s] += _change_of_rate(plan, ws, work, begun[n], m)


@njit
def _change_of_rate(plan, ws, work, change, m):
    """Return the change of the rate of measure m at the start, by ``change`` (nb, 12) of poses and velocities there.

    Uses ``ws.efforts.motion``, ``ws.efforts.third`` and ``ws.efforts.change``.
    """
    efforts, rate, nb = ws.efforts, 0.0, change.shape[0]
    for e in range(2):
        i = plan.measures.body[m, e]
        for k in range(6):
            efforts.motion[e, k] = change[i, k] if i < nb else 0.0
    third = plan.measures.third[m]
    if third >= 0:
        for k in range(6):
            efforts.third[k] = change[third, k] if third < nb else 0.0
    weighted_curvature(plan, ws, m, ws.position[0], ws.rotation[0], efforts.motion, efforts.change)
    for e in range(2):
        i = plan.measures.body[m, e]
        if i < nb:
            rate += dot6(ws.damping.gradient[m, e], work.begun[i]) + dot6(efforts.change[e], ws.damping.start[i])
    return rate


@njit
def _column(columns, c, out):
    """Copy column c of ``columns`` (nb, 6 or more, 8) to ``out`` (nb, 6)."""
    for i in range(out.shape[0]):
        for k in range(6):
            out[i, k] = columns[i, k, c]


@njit
def add_column(values, c, columns):
    """Add ``values`` (nb, 6) to column c of ``columns`` (nb, 6, 8)."""
    for i in range(values.shape[0]):
        for k in range(6):
            columns[i, k, c] += values[i, k]


@njit
def to_end(plan, ws, work, h, inputs, first, states, begun, body, changes):
    """Write the ``changes`` (n, nb, 12) at the end, from number ``first`` on, and the ``states`` (n, ns) of laws.

    ``body`` (nb, 6, 8), and ``work.wide_row[0]``: the changes of the unknowns; ``begun``: see `_by_start`, after which
    this comes.
    """
    change, end = work.change, work.wide[1]
    for i in range(plan.bodies.mass.size):
        for k in range(6):
            put(change[i, k], plus(eight(end[i, k]), h, body[i, k]))
        for k in range(3):
            put(change[i, 6 + k], plus(NOTHING, plan.bodies.mass[i], body[i, k]))
            put(change[i, 9 + k], dot_wide(NOTHING, 1.0, work.spin[i, k], body[i]))
    efforts, (elements, spans) = has_efforts(plan), inputs
    for c in range(min(WIDE, changes.shape[0] - first)):
        n = first + c
        for i in range(change.shape[0]):
            for k in range(12):
                changes[n, i, k] = change[i, k, c]
        if efforts:
            out = work.body[0]
            _take_begun(plan, ws, work, begun, n)
            _ends_of_efforts(plan, ws, work, 0.5 * h, c, body, states[n], out)
            _column(change, c, work.end)
            change_at_end(plan, ws, work.end, work.wide_row[0], c, out)
            m = n - (changes.shape[0] - elements.size)
            if m >= 0:
                add_input(plan, ws, elements[m], spans[m], 0.5 * h, -1.0, out)
            for i in range(change.shape[0]):
                for k in range(6):
                    changes[n, i, 6 + k] += out[i, k]


@njit
def _ends_of_efforts(plan, ws, work, half_step, c, body, states, out):
    """Write changes of the efforts' impulses at the end of the step to ``out`` (nb, 6), by column c of the unknowns.

    ``body`` (nb, 6, 8), ``states`` (ns,). Uses ``work.middle``, ``work.velocity`` and ``work.lean``.
    """
    d, motion, middle = work.body[1], ws.efforts.column, work.middle
    _column(body, c, d)
    _column(work.wide[2], c, middle)
    for i in range(plan.bodies.mass.size):
        T = ws.efforts.tangent[i]
        unknown_to_motion(d[i], T, half_step, motion)
        for k in range(6):
            middle[i, k] += motion[k]
        unknown_to_velocity(d[i], T, work.velocity[i])
        lean = unknown_to_tangent(d[i], T, half_step)
        for k in range(3):
            work.lean[i, k] = lean[k]
    out[:] = 0.0
    add_effort_changes(plan, ws, work, half_step, -1.0, states, out)


@njit
def apply_wide(plan, ws, work, step, count, body, row, out_body, out_row):
    """Write changes of the residuals by changes of the unknowns (operator.py).

    To ``out_body`` (nb, 6, 8), ``out_row`` (nr, 8). ``body`` (nb, 6, 8), ``row`` (nr, 8): changes of the velocities,
    (dv, dphi), and of the multipliers; eight columns, the first ``count`` of them used. ``step``: a `StepSpan`. The
    impulses act along the rows in ``ws.jacobian[upper]``; the pose at the end of the step, and its rows, are number
    ``end``. After `prepare_operator`, and `curve_pairs` at the pose ``upper``.
    """
    upper, end, h = step.upper, step.end, step.h
    for i in range(plan.bodies.mass.size):
        for k in range(6):
            put(out_body[i, k], dot_wide(NOTHING, 1.0, ws.derivative[i, k], body[i]))
    for r in range(out_row.shape[0]):
        put(out_row[r], NOTHING)
        if ws.released[r] > 0.0:
            continue
        put(out_row[r], _along_row(plan, ws, r, end, NOTHING, 1.0, body))
        for s in range(2):
            i = plan.measures.body[r, s]
            if i < plan.bodies.mass.size:
                for k in range(6):
                    put(out_body[i, k], plus(eight(out_body[i, k]), -ws.jacobian[upper, r, s, k], row[r]))
    if upper == end:
        add_curved(plan, ws, work, upper, body, -h, out_body)
    _join(plan, ws, row, out_row, True)
    if not has_efforts(plan):
        return
    apply_roles(plan, ws, h, body, row, out_body, out_row)
    d, out = work.body[0], work.body[1]
    for c in range(count):
        _column(body, c, d)
        out[:] = 0.0
        for s in range(plan.compliant.joint_sum.size, plan.laws.sum_law.size - 1):
            apply_sum(plan, ws, s, 0.5 * h, d, out)
        for n in range(plan.loads.kind.size):
            i = plan.loads.body[n]
            add_load_change(plan, ws.efforts, n, d, 0.5 * h, out[i])
        add_column(out, c, out_body)


@njit
def refine_wide(plan, ws, work, step, count, body, row):
    """Solve the exact system of a step for eight columns in place, ``body`` (nb, 6, 8), ``row`` (nr, 8).

    After `factor_stage` and all that `apply_wide` needs. ``work.left``: filled with the largest residual left after
    each pass, relative to the right-hand side of its column; it ends where they are all round-off, or were not halved.
    """
    work.left[:] = 0.0
    (b_body, r_body, x_body), (b_row, r_row, x_row) = (
        (work.wide[3], work.wide[4], work.wide[5]),
        (work.wide_row[1], work.wide_row[2], work.wide_row[3]),
    )
    _take(body, row, b_body, b_row)
    size = _sizes(plan, b_body, b_row)
    solve_wide(plan, ws, work, step, body, row)
    if step.upper != step.end and not has_efforts(plan) and plan.loops.node_row.size == 1:
        return  # a tree without forces: the factors are of the operator itself
    before = (math.inf, math.inf, math.inf, math.inf, math.inf, math.inf, math.inf, math.inf)
    for n in range(PASSES):
        apply_wide(plan, ws, work, step, count, body, row, r_body, r_row)
        _add(b_body, b_row, -1.0, r_body, r_row, x_body, x_row)
        left, again = _sizes(plan, x_body, x_row), False
        for c in range(WIDE):
            if size[c] > 0.0:
                work.left[n] = max(work.left[n], left[c] / size[c])
            again = again or (left[c] > EXACT * size[c] and not left[c] > 0.5 * before[c])
        if n == PASSES - 1 or not again:
            return
        before = left
        solve_wide(plan, ws, work, step, x_body, x_row)
        _add(body, row, 1.0, x_body, x_row, body, row)


@njit
def _take(body, row, to_body, to_row):
    """Copy eight columns ``body`` (nb, 6, 8), ``row`` (nr, 8) to ``to_body`` (nb, 6, 8), ``to_row`` (nr, 8)."""
    for i in range(body.shape[0]):
        for k in range(6):
            put(to_body[i, k], eight(body[i, k]))
    for r in range(row.shape[0]):
        put(to_row[r], eight(row[r]))


@njit
def _add(body, row, factor, other_body, other_row, to_body, to_row):
    """Write eight columns plus ``factor`` times others to ``to_body`` (nb, 6, 8), ``to_row`` (nr, 8).

    ``body``, ``other_body`` (nb, 6, 8); ``row``, ``other_row`` (nr, 8).
    """
    for i in range(body.shape[0]):
        for k in range(6):
            put(to_body[i, k], plus(eight(body[i, k]), factor, other_body[i, k]))
    for r in range(row.shape[0]):
        put(to_row[r], plus(eight(row[r]), factor, other_row[r]))


@njit
def _sizes(plan, body, row):
    """Return the largest entry of each of eight columns ``body`` (nb, 6, 8), ``row`` (nr, 8), m/s.

    Bodies by their inertia, rows by their unit.
    """
    t = NOTHING
    for i in range(body.shape[0]):
        for k in range(6):
            t = largest(t, plan.bodies.scale[i, k // 3], body[i, k])
    for r in range(row.shape[0]):
        t = largest(t, plan.rows.scale[r], row[r])
    return t
