"""The transposes of the derivatives of steps (tangent.py): from the end of a run back to its start.

A stage takes a change s of its start to E_s s + E_y y, where A y = R s: y are the changes of the unknowns, A the exact
operator. So an objective with the gradient e by the state at the end has by the start

    E_s^T e + R^T z,      A^T z = E_y^T e

and by anything else on which the residuals F and the end depend, - z . dF + e . dE (by_numbers.py). The factors of A^T
are those of A with the rows of start and end of the step exchanged and the pivots transposed.
"""

from varint.base.numba import njit
from varint.mathematics.vectors import cross, scale, turn_of, vector
from varint.step.configuration import mass_pivots
from varint.step.contacts.rows import has_contacts
from varint.step.contacts.stages_back import stage_back
from varint.step.dense import add_scaled6, dot6
from varint.step.derivatives.by_numbers import add_node, add_stage
from varint.step.derivatives.operator import first_row, to_unknown
from varint.step.derivatives.refine import refine_transposed
from varint.step.derivatives.tangent import factor_stage, step_turn, turned_back
from varint.step.derivatives.tape import load_start, play_stage
from varint.step.efforts import curvature_factor
from varint.step.intervals import StepSpan
from varint.step.ldu import solve_newton
from varint.step.loads import body_of
from varint.step.measures import curve_transposed, pair_of
from varint.step.momentum import angular_momentum
from varint.step.projection import project_velocities
from varint.step.roles import change_at_end_back, change_from_start_back


@njit(seconds=6, what="derivatives of steps")
def carry_back(plan, ws, tape, work, stages, state, law_state, by):
    """Take a gradient by the end of the stages back to their start; add the gradient by numbers to ``by``.

    ``state`` (nb, 12), ``law_state`` (ns,): the gradient by the state, by states of laws and by slips of contacts;
    changed in place. ``stages``: (first, last + 1). ``tape``: of the run. ``ws``: another workspace, or the same; its
    state is lost. ``work``: a `Tangent`. ``by``: a `ByNumbers`; also ``by.h`` and ``by.state`` of each stage are
    written.
    """
    body, row = work.body[0], work.row[0]
    spare = (work.body[1], work.row[1]), (work.body[2], work.row[2]), (work.body[3], work.row[3])
    for k in range(stages[1] - 1, stages[0] - 1, -1):
        upper, h = play_stage(plan, ws, tape, k)
        step = StepSpan(upper, 1, h)
        factor_stage(plan, ws, body, row, step, True)
        by.h[k] = 0.0
        for s in range(law_state.size):
            by.state[k, s] = law_state[s]
        _from_end(plan, ws, work, h, state, law_state, body, row)
        refine_transposed(plan, ws, step, body, row, work.left, spare)
        if has_contacts(plan):
            stage_back(plan, ws, tape, work, k, step, law_state, body, row, by)
        _to_start(plan, ws, work, step, body, row, state)
        for s in range(law_state.size):
            law_state[s] = work.state[s]
        add_stage(plan, ws, tape, work, k, step, body, row, by)
        if tape.damping.active[0]:
            _start_back(plan, ws, tape, work, k, state, by)


@njit
def _start_back(plan, ws, tape, work, k, state, by):
    """Add the gradient by velocities ``work.begun`` and rates ``work.begun_rate`` at the start to ``state`` (nb, 12).

    Uses ``work.by_begun`` and the workspace.
    """
    load_start(plan, ws, tape, k)
    by_start = work.by_begun
    for i in range(by_start.shape[0]):
        for a in range(6):
            by_start[i, a], by_start[i, 6 + a] = 0.0, work.begun[i, a]
    for s in range(plan.compliant.joint_sum.size, plan.laws.sum_law.size - 1):
        if work.begun_rate[s] != 0.0:
            for m in range(plan.laws.sum_first[s], plan.laws.sum_first[s + 1]):
                _rate_back(plan, ws, m, work.begun_rate[s], by_start)
    velocities_back(plan, ws, 0, by_start, by)
    for i in range(by_start.shape[0]):
        for a in range(12):
            state[i, a] += by_start[i, a]


@njit
def _rate_back(plan, ws, m, by_rate, out):
    """Add ``by_rate`` times the gradient of the rate of measure m at the start, by poses and velocities, to ``out``.

    ``out`` (nb, 12). Uses ``ws.efforts.motion``, ``ws.efforts.third`` and ``ws.efforts.change``.
    """
    work, damping = ws.efforts, ws.damping
    third = plan.measures.third[m]
    if third >= 0:
        for k in range(6):
            work.third[k] = by_rate * damping.start[third, k] if third < out.shape[0] else 0.0
    for e in range(2):
        i = plan.measures.body[m, e]
        work.motion[e] = 0.0
        if i < out.shape[0]:
            for k in range(6):
                work.motion[e, k] = by_rate * damping.start[i, k]
                out[i, 6 + k] += by_rate * damping.gradient[m, e, k]
    curve_transposed(plan, ws, m, ws.position[0], ws.rotation[0], damping.gradient[m], work.motion, work.change)
    for e in range(2):
        i = plan.measures.body[m, e]
        if i < out.shape[0]:
            for k in range(6):
                out[i, k] += work.change[e, k]


@njit(seconds=2, what="derivatives of steps")
def velocities_back(plan, ws, pose, state, by):
    """Turn a gradient ``state`` (nb, 12) by pose and velocities at a node into the gradient by pose and momenta.

    In place. The velocities are as `project` gives them; the node is the pose ``pose`` with ``ws.momentum``. Adds to
    ``by``, a `ByNumbers`; leaves the gradient by the rates of targets in ``ws.increment_row``. Uses
    ``ws.increment_body``.
    """
    project_velocities(plan, ws, pose)
    ws.increment_row[:] = 0.0
    for i in range(plan.bodies.mass.size):
        for k in range(6):
            ws.increment_body[i, k] = state[i, 6 + k]
    mass_pivots(plan, ws.ldu.D)
    solve_velocities_back(plan, ws, pose, state, by)


@njit
def solve_velocities_back(plan, ws, pose, state, by):
    """Turn ``state`` (nb, 12) as `velocities_back` does, after ``ws.ldu.D`` and ``ws.increment_body`` are set.

    ``ws.increment_body``: the gradient by the velocities. Leaves the gradient by the rates of targets in
    ``ws.increment_row``.
    """
    solve_newton(plan, ws, ws.increment_body, ws.increment_row, pose, pose)
    curvature_of_rows_back(plan, ws, pose, state)
    add_node(plan, ws, pose, ws.increment_body, ws.increment_row, ws.velocity, ws.multiplier, by)
    for i in range(plan.bodies.mass.size):
        for k in range(6):
            state[i, 6 + k] = ws.increment_body[i, k]
    for r in range(ws.increment_row.size):
        ws.increment_row[r] = -ws.increment_row[r]


@njit
def curvature_of_rows_back(plan, ws, pose, state):
    """Add the share of the directions of rows to a gradient ``state`` (nb, :6) by the pose of a node.

    Velocities and impulses are in ``ws.velocity``, ``ws.multiplier``; the duals of the balance of momenta in
    ``ws.increment_body``, and the duals of the rows, with the other sign, in ``ws.increment_row``. Uses
    ``ws.efforts.motion``.
    """
    efforts = ws.efforts
    for r in range(plan.rows.role.size):
        if ws.released[r] > 0.0:
            continue
        for s in range(2):
            i = plan.measures.body[r, s]
            for k in range(6):
                efforts.motion[s, k] = 0.0
                if i < plan.bodies.mass.size:
                    efforts.motion[s, k] = ws.multiplier[r] * ws.increment_body[i, k]
                    efforts.motion[s, k] += ws.increment_row[r] * ws.velocity[i, k]
        at = ws.jacobian[pose, r]
        curve_transposed(plan, ws, r, ws.position[pose], ws.rotation[pose], at, efforts.motion, efforts.change)
        for s in range(2):
            i = plan.measures.body[r, s]
            if i < plan.bodies.mass.size:
                add_scaled6(state[i], 1.0, efforts.change[s])


@njit
def momenta_back(plan, velocity, state, by):
    """Turn a gradient ``state`` (nb, 12) by pose and momenta into the gradient by pose and velocities, in place.

    ``velocity`` (nb, 6). Adds to ``by.mass`` and ``by.inertia``.
    """
    for i in range(velocity.shape[0]):
        J, p, v = plan.bodies.inertia[i], vector(state[i, 9:]), velocity[i]
        for a in range(3):
            by.mass[i] += state[i, 6 + a] * v[a]
            state[i, 6 + a] *= plan.bodies.mass[i]
            state[i, 9 + a] = J[a, 0] * p[0] + J[a, 1] * p[1] + J[a, 2] * p[2]
            for b in range(3):
                by.inertia[i, a, b] += p[a] * v[3 + b]


@njit
def _from_end(plan, ws, work, h, state, law_state, body, row):
    """Write E_y^T e to ``body`` (nb, 6) and ``row`` (nr,), with e = ``state`` (nb, 12), ``law_state`` (ns,).

    The gradients by motions of start, middle and end and by the momenta are written to ``work.start``, ``work.middle``,
    ``work.end`` and ``work.momentum``, by velocities and rates of sums at the start to ``work.begun`` and
    ``work.begun_rate``. Uses ``work.velocity`` and ``work.lean``.
    """
    half_step = 0.5 * h
    for i in range(plan.bodies.mass.size):
        J, w, e = plan.bodies.inertia[i], ws.velocity[i], state[i]
        for k in range(6):
            work.end[i, k], work.middle[i, k], work.momentum[i, k] = e[k], 0.0, e[6 + k]
            work.start[i, k] = 0.0
        free, (u, c) = angular_momentum(J, turn_of(w), -half_step), step_turn(ws, i, half_step)
        by_angular = vector(e[9:])
        gain, lever = turned_back(scale(-1.0, u), c, by_angular), cross(by_angular, free)
        for k in range(3):
            body[i, k] = h * e[k] + plan.bodies.mass[i] * e[6 + k]
            body[i, 3 + k] = h * (e[3 + k] + lever[k])
            for a in range(3):
                body[i, 3 + k] += ws.derivative[i, 3 + a, 3 + k] * gain[a]
    for r in range(row.size):
        row[r] = 0.0
    _from_end_of_roles(plan, ws, work, h, body, row)
    work.velocity[:] = 0.0
    work.begun[:] = 0.0
    work.begun_rate[:] = 0.0
    work.lean[:] = 0.0
    efforts_back(plan, ws, work, half_step, -1.0, law_state, work.momentum)
    for i in range(plan.bodies.mass.size):
        if plan.bodies.loaded[i]:
            T = ws.efforts.tangent[i]
            to_unknown(work.middle[i], work.velocity[i], 1.0, vector(work.lean[i]), T, half_step, 1.0, body[i])


@njit
def _from_end_of_roles(plan, ws, work, h, body, row):
    """Add `_from_end` of the momenta that roles add to ``body`` (nb, 6), ``row`` (nr,) and ``work.end``.

    Uses ``work.body``.
    """
    curved = work.body[1]
    for i in range(curved.shape[0]):
        for k in range(6):
            curved[i, k] = 0.0
    change_at_end_back(plan, ws, work.momentum, curved, row)
    for i in range(curved.shape[0]):
        add_scaled6(work.end[i], 1.0, curved[i])
        add_scaled6(body[i], h, curved[i])


@njit
def _to_start(plan, ws, work, step, body, row, state):
    """Write E_s^T e + R^T z, the gradient by the start, to ``state`` (nb, 12); z: ``body`` (nb, 6), ``row`` (nr,).

    After `_from_end`; the gradient by states of laws is ``work.state``.
    """
    upper, end, h = step.upper, step.end, step.h
    curved = work.start if upper != end else work.end
    efforts = ws.efforts
    for r in range(plan.rows.role.size):
        if ws.released[r] > 0.0:
            continue
        pair_of(plan, r, body, efforts.motion)
        at = ws.jacobian[upper, r]
        curve_transposed(plan, ws, r, ws.position[upper], ws.rotation[upper], at, efforts.motion, efforts.change)
        share = row[first_row(plan, r)] / h
        for s in range(2):
            i = plan.measures.body[r, s]
            if i < plan.bodies.mass.size:
                add_scaled6(curved[i], ws.multiplier[r], efforts.change[s])
                add_scaled6(work.end[i], -share, ws.jacobian[end, r, s])
    # gradients by velocities and T are not needed here: the start moves neither
    efforts_back(plan, ws, work, 0.5 * h, 1.0, work.state, body)
    change_from_start_back(plan, ws, 0.5 * h, body, row, work.start, work.end)
    for i in range(plan.bodies.mass.size):
        u, c = step_turn(ws, i, 0.5 * h)
        norm = (0.5 * (1.0 + c)) ** 0.5
        half = scale(norm / (1.0 + c), u)
        at_end = turned_back(scale(-1.0, u), c, vector(work.end[i, 3:]))
        in_middle = turned_back(scale(-1.0, half), norm, vector(work.middle[i, 3:]))
        for k in range(3):
            state[i, k] = work.start[i, k] + work.end[i, k] + work.middle[i, k]
            state[i, 3 + k] = work.start[i, 3 + k] + at_end[k] + in_middle[k]
        for k in range(6):
            state[i, 6 + k] = body[i, k]


@njit
def efforts_back(plan, ws, tangent, half_step, side, law_state, out):
    """Add the transpose of `tangent.add_effort_changes` to the gradients by middle motions, velocities and T.

    ``out`` (nb, 6): the gradient by the momenta that it adds to. ``law_state`` (ns,): the gradient by the states of
    laws at the end of the step, of which ``tangent.state`` is made with ``side`` = -1. Adds to ``tangent.middle``,
    ``tangent.velocity``, ``tangent.lean``, ``tangent.begun`` and ``tangent.begun_rate``. Uses ``ws.efforts.motion`` and
    ``ws.efforts.third``.
    """
    work, laws = ws.efforts, plan.laws
    for s in range(plan.compliant.joint_sum.size, laws.sum_law.size - 1):
        first, last, along = laws.sum_first[s], laws.sum_first[s + 1], 0.0
        for m in range(first, last):
            for e in range(2):
                i = plan.measures.body[m, e]
                if i < out.shape[0]:
                    _pull(out[i], work.tangent[i], half_step, side, work.column)
                    along += dot6(work.column, work.gradient[m, e])
        by_value, by_rate = along * work.sum_by_value[s], along * work.sum_by_rate[s]
        if ws.damping.active[0]:
            tangent.begun_rate[s] += along * ws.damping.by_start[s]
        for f in range(laws.sum_law[s], laws.sum_law[s + 1]):
            a = laws.state[f]
            if a >= 0:
                if side < 0.0:
                    by_value += law_state[a] * work.by_state[a, 2]
                    by_rate += law_state[a] * work.by_state[a, 3]
                    tangent.state[a] = law_state[a] * work.by_state[a, 1]
                tangent.state[a] += along * work.by_state[a, 0]
        for m in range(first, last):
            effort = curvature_factor(plan, work, s, m)
            for e in range(2):
                i = plan.measures.body[m, e]
                work.motion[e] = 0.0
                if i < out.shape[0]:
                    g = work.gradient[m, e]
                    _pull(out[i], work.tangent[i], half_step, side, work.column)
                    for k in range(6):
                        work.motion[e, k] = effort * work.column[k] + by_rate * ws.velocity[i, k]
                    _lean_back(scale(effort, vector(g[3:])), out[i], half_step, side, tangent.lean[i])
            third = plan.measures.third[m]
            if third >= 0:
                work.third[:] = 0.0
                if third < out.shape[0]:
                    _pull(out[third], work.tangent[third], half_step, side, work.column)
                    for k in range(6):
                        work.third[k] = effort * work.column[k] + by_rate * ws.velocity[third, k]
            curve_transposed(plan, ws, m, work.position, work.rotation, work.gradient[m], work.motion, work.change)
            for e in range(2):
                i = plan.measures.body[m, e]
                if i < out.shape[0]:
                    add_scaled6(tangent.middle[i], 1.0, work.change[e])
                    add_scaled6(tangent.middle[i], by_value, work.gradient[m, e])
                    add_scaled6(tangent.velocity[i], by_rate, work.gradient[m, e])
    for n in range(plan.loads.kind.size):
        i = plan.loads.body[n]
        _pull(out[i], work.tangent[i], half_step, side, work.column)
        for k in range(6):
            for s in range(2):
                b = body_of(plan, n, s)
                if b < out.shape[0]:
                    add_scaled6(tangent.middle[b], work.column[k], work.wrench_by_pose[n, s, k])
                    add_scaled6(tangent.velocity[b], work.column[k], work.wrench_by_velocity[n, s, k])
                    if s == 0 and ws.damping.active[0] and ws.damping.load_lead[n] > 0.0:
                        share = -ws.damping.load_lead[n] / (1.0 + ws.damping.load_lead[n])
                        add_scaled6(tangent.begun[b], share * work.column[k], work.wrench_by_velocity[n, s, k])
        _lean_back(vector(work.wrench[n, 3:]), out[i], half_step, side, tangent.lean[i])


@njit
def _pull(out, T, half_step, side, change):
    """Write the gradient (6,) by the change of f to ``change`` (6,).

    ``out`` (6,): the gradient by h/2 (f_x, f_theta + side T x f_theta).
    """
    turn = vector(out[3:])
    tilt = cross(vector(T), turn)
    for k in range(3):
        change[k], change[3 + k] = half_step * out[k], half_step * (turn[k] - side * tilt[k])


@njit
def _lean_back(turning, out, half_step, side, lean):
    """Add the gradient by a change of T to ``lean`` (3,), see `_pull`, with f_theta ``turning``; ``out`` (6,)."""
    by = cross(turning, vector(out[3:]))
    for k in range(3):
        lean[k] += half_step * side * by[k]
