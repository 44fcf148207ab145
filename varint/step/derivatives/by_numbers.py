"""The gradient of a run by the numbers of its plan and by loads and inputs: shares of its stages (adjoint.py).

A stage with residuals F, momenta E and pose Q at its end, duals z of F and gradients e by the momenta and d by the pose
adds - z . dF + e . dE + d . dQ. Its changes by the numbers of bodies and rows, by loads, inputs, targets and by its
size are written out here. The share of laws and loads is a sum of their efforts, each times the gradient by it:
`acting` evaluates that for other numbers of theirs, `pushing` for other measures too.
"""

import numpy as np

from varint.base.numba import njit
from varint.mathematics.vectors import add, continued, cross, dot, scale, sub, vector
from varint.step.damping.end_rates import move_ahead, rate_of_law
from varint.step.dense import dot6
from varint.step.derivatives.by_products import keep_products
from varint.step.derivatives.operator import first_row
from varint.step.derivatives.tape import play_damping, play_stage
from varint.step.laws import TAKES_INPUT, law_effort
from varint.step.limits.rows import add_numbers
from varint.step.loads import FOLLOWER, PUSH, SLIDING, evaluate_loads, pressed_side, wrench_of
from varint.step.measures import add_by_numbers, measure_at, pair_of
from varint.step.plan import CONSTRAINT

LONGEST_STEP = 2e-4  # of the size of a number, or of one: the longest step of differences of laws and loads by it
FINER, SCALES = 1.0 / 16.0, 4  # shorter ones where there is a kink between
SAME = 1e-6  # differences to both sides agree to this: no kink
NOISE = 64 * 2.2e-16  # the same, of values over steps
SMALL_JUMP = 1e-4  # of an effort
HALVINGS = 48


@njit
def add_stage(plan, ws, tape, work, k, step, body, row, by):
    """Add the share of stage ``k`` to the gradient by numbers; ``body`` (nb, 6), ``row`` (nr,): duals of residuals.

    ``step``: a `StepSpan`. ``work``: a `Tangent` with the gradients by motions of middle and end, T and momenta.
    ``by``: a `ByNumbers`; ``by.target`` of the stage is written. Uses ``ws.efforts.motion``.
    """
    upper, end, h = step.upper, step.end, step.h
    for i in range(plan.bodies.mass.size):
        _add_body(plan, ws, tape, work, k, i, h, body[i], by)
    for r in range(plan.rows.role.size):
        if ws.released[r] > 0.0 or (plan.rows.role[r] != CONSTRAINT and not by.wanted[0]):
            continue
        dual = row[first_row(plan, r)] / h
        pair_of(plan, r, body, ws.efforts.motion)
        for s in range(2):
            for a in range(6):
                ws.efforts.motion[s, a] *= ws.multiplier[r]
        if plan.rows.role[r] == CONSTRAINT:
            by.target[k, r] = dual  # of the constraint, in the place of each of its rows
        factor = -dual
        if upper != end:
            add_by_numbers(plan, ws, r, ws.position[upper], ws.rotation[upper], ws.efforts.motion, 0.0, 0.0, by)
            ws.efforts.motion[:] = 0.0
        value = _value_of(plan, ws, r, end)
        add_by_numbers(plan, ws, r, ws.position[end], ws.rotation[end], ws.efforts.motion, factor, value, by)
    if upper != end:
        keep_products(plan, ws, upper, body, ws.velocity, row, (1.0, 0.0, 0.0), by.products)
    keep_products(plan, ws, end, body, ws.velocity, row, (1.0 if upper == end else 0.0, 0.0, -1.0 / h), by.products)
    add_numbers(plan, ws, row, h, by)
    add_stage_efforts(plan, ws, work, k, h, body, by)
    _add_soft_rows(plan, ws, k, h, row, by)


@njit
def _value_of(plan, ws, r, pose):
    """Return the value of the measure of row r at a pose, with its turns; 0 for rows of joints, of fixed weight.

    In m or rad; ``pose``: that of ``ws.position`` (2, nb, 3).
    """
    if plan.rows.role[r] != CONSTRAINT:
        return 0.0
    value = measure_at(plan, ws, r, ws.position[pose], ws.rotation[pose], ws.efforts.change)
    return continued(plan.measures.period[r], ws.efforts.value_near[r], value)


@njit
def _add_body(plan, ws, tape, work, k, i, h, z, by):
    """Add the terms of body i: ``by.mass``, ``by.inertia``, ``by.gravity``, ``by.load`` and ``by.h`` of stage k.

    ``z`` (6,): dual of its momentum balance.
    """
    half_step, mass, J = 0.5 * h, plan.bodies.mass[i], plan.bodies.inertia[i]
    e, w, lean = work.momentum[i], vector(ws.velocity[i, 3:]), vector(work.lean[i])
    c = (1.0 - half_step * half_step * dot(w, w)) ** 0.5
    both, gain = add(vector(z[3:]), vector(e[3:])), sub(vector(e[3:]), vector(z[3:]))
    lever = sub(scale(c, gain), scale(half_step, cross(both, w)))
    slower = -0.5 * half_step * dot(w, w) / c  # the change of c with h
    by_h = sub(scale(slower, gain), scale(0.5, cross(both, w)))
    total = dot(lean, w) * 0.5 / (c * (1.0 + c))
    for a in range(3):
        v, g, push = ws.velocity[i, a], plan.bodies.gravity[a], z[a] + e[a]
        by.mass[i] += (e[a] - z[a]) * v + half_step * push * g
        by.gravity[a] += half_step * mass * push
        total += 0.5 * mass * push * g
        total += (work.end[i, a] + 0.5 * work.middle[i, a]) * v
        total += (work.end[i, 3 + a] + 0.5 * work.middle[i, 3 + a]) * w[a] / c
        for b in range(3):
            by.inertia[i, a, b] += lever[a] * w[b]
            total += by_h[a] * J[a, b] * w[b]
    for a in range(6):
        by.load[k, 0, i, a], by.load[k, 1, i, a] = half_step * z[a], half_step * e[a]
        total += 0.5 * (z[a] * tape.load[k, 0, i, a] + e[a] * tape.load[k, 1, i, a])
    by.h[k] += total


@njit
def _push_gradient(plan, ws, work, i, half_step, z, out):
    """Write h/2 (P(T)^T z + P(-T)^T e) to ``out`` (6,): the gradient by a force and torque on body i in mid-step.

    ``z`` (6,): dual of its momentum balance; e: ``work.momentum``.
    """
    e, T = work.momentum[i], vector(ws.efforts.tangent[i])
    tilt = cross(T, sub(vector(z[3:]), vector(e[3:])))
    for a in range(3):
        out[a] = half_step * (z[a] + e[a])
        out[3 + a] = half_step * (z[3 + a] + e[3 + a] - tilt[a])


@njit
def add_stage_efforts(plan, ws, work, k, h, body, by):
    """Add the terms of laws and loads to ``by.input`` and ``by.h``; keep the arrays that `acting` and `pushing` need.

    These are ``by.push``, ``by.rotation``, ``by.normal``, ``by.value``, ``by.rate``, ``by.start_rate`` and
    ``by.effort``. ``body`` (nb, 6): duals of the momentum balances.
    """
    efforts, laws, loads, half_step = ws.efforts, plan.laws, plan.loads, 0.5 * h
    for i in range(body.shape[0]):
        _push_gradient(plan, ws, work, i, half_step, body[i], by.push[k, i])
    for n in range(loads.kind.size):
        i, kind = loads.body[n], loads.kind[n]
        for a in range(3):
            for b in range(3):
                by.rotation[k, n, a, b] = efforts.rotation[i, a, b]
        gradient = by.push[k, i]
        by.h[k] += dot6(gradient, efforts.wrench[n]) / h
        if kind == SLIDING:
            for a in range(3):
                by.normal[k, n, a] = efforts.gradient[loads.pressed[n], pressed_side(plan, n), a]
        elif kind == PUSH or kind == FOLLOWER:
            wrench_of(plan, efforts, n, efforts.rotation, ws.velocity, 1.0, efforts.column)
            by.input[k, loads.element[n]] += dot6(gradient, efforts.column)
    for s in range(plan.compliant.joint_sum.size, laws.sum_law.size - 1):
        along, first, last = 0.0, laws.sum_first[s], laws.sum_first[s + 1]
        for m in range(first, last):
            for e in range(2):
                i = plan.measures.body[m, e]
                if i < body.shape[0]:
                    along += dot6(by.push[k, i], efforts.gradient[m, e])
        by.value[k, s], by.rate[k, s], by.effort[k, s] = efforts.sum_value[s], efforts.sum_rate[s], along
        by.h[k] += along * efforts.sum_effort[s] / h
        if ws.damping.active[0]:
            by.start_rate[k, s] = ws.damping.start_rate[s]
        for f in range(laws.sum_law[s], laws.sum_law[s + 1]):
            a, dual = laws.state[f], 0.0
            if a >= 0:
                dual = by.state[k, a]
                flow = 0.5 * efforts.flow[a]  # by the size of the step: the state in its middle, and at its end
                by.h[k] += flow * (along * efforts.by_state[a, 0] + dual * (1.0 + efforts.by_state[a, 1]))
            if TAKES_INPUT[laws.kind[f]]:
                by.input[k, laws.element[f]] += _by_input(plan, ws, f, s, half_step, along, dual)


@njit
def _add_soft_rows(plan, ws, k, h, row, by):
    """Add the terms of compliant rows of joints (soft_joints.py), with duals ``row`` (nr,), to ``by.h``.

    Keeps ``by.value``, ``by.rate`` and ``by.effort`` for `acting`.
    """
    work = ws.efforts
    for n in range(plan.compliant.joint_row.size):
        s = plan.compliant.joint_sum[n]
        along = 0.5 * h * row[plan.compliant.joint_row[n]]
        by.value[k, s], by.rate[k, s], by.effort[k, s] = work.sum_value[s], work.sum_rate[s], along
        by.h[k] += along * work.sum_by_value[s] * work.sum_value[s] / h  # the rest of f, by the rate, has no h in h f


@njit
def _by_input(plan, ws, f, s, half_step, along, dual):
    """Return the derivative of a sum by the input of law f of sum s, by differences that span no kink of the law.

    The sum: ``along`` times its effort plus ``dual`` times its state at the end. At a kink the derivative on one side:
    where the slopes of the law are those at the input itself, or else the larger. ``half_step``: s. Restores
    ``ws.efforts.input`` (ne,).
    """
    work, e = ws.efforts, plan.laws.element[f]
    input_here = work.input[e]
    size = LONGEST_STEP * max(1.0, abs(input_here))
    here = _effect_of_input(plan, ws, f, s, half_step, (along, dual), 0.0)
    slope, apart = 0.0, np.inf
    left = right = (0.0, 0.0)
    for _ in range(SCALES):
        ahead = _effect_of_input(plan, ws, f, s, half_step, (along, dual), size)
        near = _effect_of_input(plan, ws, f, s, half_step, (along, dual), 0.5 * size)
        behind = _effect_of_input(plan, ws, f, s, half_step, (along, dual), -size)
        back = _effect_of_input(plan, ws, f, s, half_step, (along, dual), -0.5 * size)
        right = (4.0 * near[0] - ahead[0] - 3.0 * here[0]) / size, abs(near[1] - here[1]) + abs(ahead[1] - here[1])
        left = (3.0 * here[0] - 4.0 * back[0] + behind[0]) / size, abs(back[1] - here[1]) + abs(behind[1] - here[1])
        largest = max(abs(ahead[0]), abs(behind[0]), abs(here[0]))
        central = (8.0 * (near[0] - back[0]) - (ahead[0] - behind[0])) / (6.0 * size)
        bend = abs(right[0] - left[0])
        if bend < apart:
            slope, apart = central, bend
        if bend <= SAME * abs(central) + NOISE * largest / size:
            return slope
        size *= FINER
    inner, outer = (right, left) if right[1] < left[1] else (left, right)
    if outer[1] - inner[1] > 1e-6 * abs(here[1]):
        return inner[0]
    return right[0] if abs(right[0]) > abs(left[0]) else left[0]


@njit
def _effect_of_input(plan, ws, f, s, half_step, duals, change):
    """Return the sum of `_by_input` at a changed input, and a number that jumps where the slopes of the law do.

    ``half_step``: s. ``duals``: factors (2,) of effort and state. Restores ``ws.efforts.input`` (ne,).
    """
    work, e, a = ws.efforts, plan.laws.element[f], plan.laws.state[f]
    input_here = work.input[e]
    work.input[e] = input_here + change
    effort, by_value, by_rate = law_effort(plan, work, f, work.sum_value[s], rate_of_law(plan, ws, f, s), half_step)
    effect, slopes = duals[0] * effort, by_value + by_rate
    if a >= 0:
        effect += duals[1] * 2.0 * half_step * work.flow[a]
        slopes += work.by_state[a, 0] + work.by_state[a, 1]
    work.input[e] = input_here
    return effect, slopes


@njit
def _kept_rate(tape, by, k, f, s):
    """Return the rate, m/s or rad/s, that law f along sum s took in stage k: of ``by.rate`` (K, ns), moved ahead."""
    if tape.damping.active[0] and tape.damping.lead[k, f] > 0.0:
        return by.rate[k, s] + tape.damping.lead[k, f] * (by.rate[k, s] - by.start_rate[k, s])
    return by.rate[k, s]


@njit
def _resist_ahead(plan, ws, tape, k):
    """Write the wrenches of strong resistances in stage k to ``ws.efforts.wrench`` (nl, 6). After `evaluate_loads`."""
    work = ws.efforts
    play_damping(ws, tape, k)
    for n in range(plan.loads.kind.size):
        if ws.damping.load_lead[n] > 0.0:
            move_ahead(plan, ws.damping, n, tape.velocity[k])
            wrench_of(plan, work, n, work.rotation, ws.damping.ahead, 0.0, work.wrench[n])


@njit(seconds=1, what="derivatives of steps")
def acting_law(plan, ws, tape, stages, f, s, by, out):
    """Write the contributions of law f along sum s to `acting`, zero if it presses on a load.

    To ``out`` (m,), one for each of ``stages`` (m,). Writes ``ws.efforts.input``, ``ws.efforts.state``.
    """
    work, e, a = ws.efforts, plan.laws.element[f], plan.laws.state[f]
    for n in range(stages.size):
        k, total = stages[n], 0.0
        work.input[e] = tape.input[k, e]
        if a >= 0:
            work.state[a] = tape.state[k, a]
        rate = _kept_rate(tape, by, k, f, s)
        total += by.effort[k, s] * law_effort(plan, work, f, by.value[k, s], rate, 0.5 * tape.h[k])[0]
        if a >= 0:
            total += by.state[k, a] * tape.h[k] * work.flow[a]
        out[n] = total


@njit(seconds=2, what="derivatives of steps")
def acting(plan, ws, tape, stages, by, out):
    """Write to ``out`` (n,) the sum of the efforts of laws and loads in ``plan``, each times the gradient by it.

    For each of ``stages`` (n,), numbers on the tape. Writes ``ws.efforts.input``, ``ws.efforts.state``,
    ``ws.efforts.value``, ``ws.efforts.effort``, ``ws.efforts.gradient`` and ``ws.efforts.rotation``.
    """
    work, laws, loads = ws.efforts, plan.laws, plan.loads
    for place in range(stages.size):
        k, total = stages[place], 0.0
        for e in range(work.input.size):
            work.input[e] = tape.input[k, e]
        for a in range(work.state.size):
            work.state[a] = tape.state[k, a]
        for s in range(laws.sum_law.size - 1):
            work.value[laws.sum_first[s]] = by.value[k, s]  # where it presses a load on, the distance
            for f in range(laws.sum_law[s], laws.sum_law[s + 1]):
                rate = _kept_rate(tape, by, k, f, s)
                effort = law_effort(plan, work, f, by.value[k, s], rate, 0.5 * tape.h[k])[0]
                work.effort[laws.element[f]] = effort
                total += by.effort[k, s] * effort
                if laws.state[f] >= 0:
                    total += by.state[k, laws.state[f]] * tape.h[k] * work.flow[laws.state[f]]
        for n in range(loads.kind.size):
            for a in range(3):
                if loads.kind[n] == SLIDING:
                    work.gradient[loads.pressed[n], pressed_side(plan, n), a] = by.normal[k, n, a]
                for b in range(3):
                    work.rotation[loads.body[n], a, b] = by.rotation[k, n, a, b]
        evaluate_loads(plan, ws, work.rotation, tape.velocity[k])
        if tape.damping.active[0]:
            _resist_ahead(plan, ws, tape, k)
        for n in range(loads.kind.size):
            total += dot6(by.push[k, loads.body[n]], work.wrench[n])
        out[place] = total


@njit(seconds=2, what="derivatives of steps")
def pushing(plan, ws, tape, stages, by, out):
    """Write to ``out`` (n,) the sums of `acting` with the measures of ``plan`` too, at the motion of the tape.

    For each of ``stages`` (n,), numbers on the tape. Writes ``ws.efforts.sum_effort`` and plays the stages.
    """
    work, laws = ws.efforts, plan.laws
    for place in range(stages.size):
        k, total = stages[place], 0.0
        play_stage(plan, ws, tape, k)
        for n in range(plan.compliant.row.size):  # efforts that are unknowns were of the tape's own measures
            r = plan.compliant.row[n]
            work.sum_effort[plan.compliant.sum[n]] = (ws.multiplier[r] - ws.residual_row[r]) / (0.5 * tape.h[k])
        for a in range(work.state.size):
            total += by.state[k, a] * tape.h[k] * work.flow[a]
        for n in range(plan.compliant.joint_row.size):  # along the gradients at both ends
            r, s = plan.compliant.joint_row[n], plan.compliant.joint_sum[n]
            for e in range(2):
                i = plan.measures.body[r, e]
                if i < plan.bodies.mass.size:
                    total += work.sum_effort[s] * dot6(by.load[k, 0, i], work.gradient[laws.sum_first[s], e])
                    total += work.sum_effort[s] * dot6(by.load[k, 1, i], work.gradient[r, e])
        for s in range(plan.compliant.joint_sum.size, laws.sum_law.size - 1):
            for m in range(laws.sum_first[s], laws.sum_first[s + 1]):
                for e in range(2):
                    i = plan.measures.body[m, e]
                    if i < plan.bodies.mass.size:
                        total += work.sum_effort[s] * dot6(by.push[k, i], work.gradient[m, e])
        for n in range(plan.loads.kind.size):
            total += dot6(by.push[k, plan.loads.body[n]], work.wrench[n])
        out[place] = total


@njit(seconds=1, what="derivatives of steps")
def jumps_of_law(plan, ws, f, along, inputs, states, out):
    """Write to ``out`` (n - 1,) by how much the effort of law f jumps between one stage and the next, N or N m.

    ``along`` (n, 2): value and rate of its sum; ``inputs``, ``states`` (n,): input and internal variable. Between two
    stages all four change in proportion. Zero where the effort changes there about as its slopes say.
    """
    work, a = ws.efforts, plan.laws.state[f]
    for k in range(inputs.size - 1):
        out[k] = 0.0
        first = _effort_between(plan, work, f, along, inputs, states, k, 0.0)
        last = _effort_between(plan, work, f, along, inputs, states, k, 1.0)
        by_value, by_rate = 0.5 * (first[1] + last[1]), 0.5 * (first[2] + last[2])
        expected = by_value * (along[k + 1, 0] - along[k, 0]) + by_rate * (along[k + 1, 1] - along[k, 1])
        change, size = last[0] - first[0], max(abs(first[0]), abs(last[0]))
        if a < 0 and abs(change - expected) <= SMALL_JUMP * size:
            continue
        low, high, below, above = 0.0, 1.0, first[0], last[0]
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            effort = _effort_between(plan, work, f, along, inputs, states, k, middle)[0]
            if abs(above - effort) > abs(effort - below):
                low, below = middle, effort
            else:
                high, above = middle, effort
        if abs(above - below) > SMALL_JUMP * size:
            out[k] = above - below


@njit
def _effort_between(plan, work, f, along, inputs, states, k, share):
    """Return the effort of law f, N or N m, and its slopes by value and rate, a ``share`` of the step after stage k.

    ``along`` (n, 2), ``inputs`` (n,), ``states`` (n,): see `jumps_of_law`. Writes ``work.input`` and ``work.state``.
    """
    work.input[plan.laws.element[f]] = inputs[k] + share * (inputs[k + 1] - inputs[k])
    if plan.laws.state[f] >= 0:
        work.state[plan.laws.state[f]] = states[k] + share * (states[k + 1] - states[k])
    value = along[k, 0] + share * (along[k + 1, 0] - along[k, 0])
    rate = along[k, 1] + share * (along[k + 1, 1] - along[k, 1])
    return law_effort(plan, work, f, value, rate, 0.0)


@njit
def add_node(plan, ws, pose, body, row, velocity, multiplier, by):
    """Add the share of the velocities at a node, M v - G^T ``multiplier`` = momenta, to the gradient by numbers.

    ``velocity`` (nb, 6), ``multiplier`` (nr,); ``body`` (nb, 6), ``row`` (nr,): duals. Adds to ``by.mass``,
    ``by.inertia`` and other fields of ``by``, a `ByNumbers`. Uses ``ws.efforts.motion``.
    """
    for i in range(plan.bodies.mass.size):
        for a in range(3):
            by.mass[i] -= body[i, a] * velocity[i, a]
            for b in range(3):
                by.inertia[i, a, b] -= body[i, 3 + a] * velocity[i, 3 + b]
    motion = ws.efforts.motion
    for r in range(plan.rows.role.size):
        if ws.released[r] > 0.0:
            continue
        for s in range(2):
            i = plan.measures.body[r, s]
            for a in range(6):
                motion[s, a] = 0.0
                if i < plan.bodies.mass.size:
                    motion[s, a] = multiplier[r] * body[i, a] + row[r] * velocity[i, a]
        add_by_numbers(plan, ws, r, ws.position[pose], ws.rotation[pose], motion, 0.0, 0.0, by)
    keep_products(plan, ws, pose, body, velocity, row, (1.0, 1.0, 0.0), by.products)


@njit(seconds=1, what="derivatives of steps")
def add_start(plan, ws, pose, factor, state, by):
    """Add the share of the values of sums at the start, with the ``factor`` (nr,) of each row, to two gradients.

    By the state, ``state`` (nb, 12), and by numbers, ``by``. Uses ``ws.efforts.motion``.
    """
    efforts = ws.efforts
    for r in range(plan.rows.role.size):
        if plan.rows.role[r] != CONSTRAINT or ws.released[r] > 0.0:
            continue
        value = measure_at(plan, ws, r, ws.position[pose], ws.rotation[pose], efforts.change)
        for s in range(2):
            i = plan.measures.body[r, s]
            if i < plan.bodies.mass.size:
                for a in range(6):
                    state[i, a] += factor[r] * plan.measures.weight[r] * efforts.change[s, a]
        efforts.motion[:] = 0.0
        add_by_numbers(plan, ws, r, ws.position[pose], ws.rotation[pose], efforts.motion, factor[r], value, by)
