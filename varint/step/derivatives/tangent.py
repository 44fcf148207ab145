"""Derivatives of a step by the state that it starts from, along given changes of that state.

A change of the state is (dx, dtheta, dp, dl) of each body: position (world) and rotation vector (body axes), linear
(world) and angular momentum (body axes). With S the rotation of the step, its unit quaternion (c, u), and S/2 the half
of it, a change of the start alone moves

    the end of the step by (dx, S^T dtheta)          its middle by (dx, (S/2)^T dtheta)

and the residuals of the step (newton.py) by the result of `_by_start` (columns.py). The exact operator (operator.py)
then gives the changes (dv, dphi) of the velocities, and with them the changes of the end:

    dx + h dv      S^T dtheta + h dphi      m dv + h/2 ...      S^T dL - h dphi x (S^T L) + h/2 ...

L: the angular momentum that the step starts with, dL its change by dphi; ...: the changes of the efforts.
"""

from varint.base.numba import Float1, Float2, indirect, njit
from varint.mathematics.vectors import ZERO, add, cross, scale, turn_of, vector, write
from varint.step.damping.end_rates import rate_of_law
from varint.step.dense import add_scaled6, dot6
from varint.step.derivatives.operator import prepare_operator
from varint.step.efforts import curvature_factor, load_change
from varint.step.intervals import StepSpan
from varint.step.laws import evaluate_laws, law_effort
from varint.step.ldu import solve_newton
from varint.step.loads import differentiate_loads, evaluate_loads, wrench_of
from varint.step.measures import pair_of, take_third, weighted_curvature
from varint.step.nodes.efforts import add_efforts
from varint.step.plan import Plan, Workspace
from varint.step.roles import stiffen_roles


@indirect(seconds=2, what="derivatives of steps")
def factor_stage(plan: Plan, ws: Workspace, body: Float2, row: Float1, step: StepSpan, transposed: bool) -> None:
    """Factor Newton's matrix at the solution, and prepare the exact operator; writes ``ws.ldu.D``.

    ``body`` (nb, 6), ``row`` (nr,): scratch. ``step``: a `StepSpan`. ``transposed``: factors for
    `refine.solve_transposed`.
    """
    upper, end, h = step.upper, step.end, step.h
    prepare_operator(plan, ws, 0.5 * h)
    for i in range(plan.bodies.mass.size):
        for a in range(6):
            body[i, a] = 0.0
            for b in range(6):
                ws.ldu.D[i, a, b] = ws.derivative[i, a, b]
    for r in range(row.size):
        row[r] = 0.0
    stiffen_roles(plan, ws, upper, end, h, False)
    if not transposed:
        solve_newton(plan, ws, body, row, upper, end)
        return
    for i in range(plan.bodies.mass.size):
        D = ws.ldu.D[i]
        for a in range(6):
            for b in range(a):
                D[a, b], D[b, a] = D[b, a], D[a, b]
        effort = ws.ldu.effort[0, i]
        write(effort, turn_of(effort), vector(effort))
    solve_newton(plan, ws, body, row, end, upper)


@njit
def turned_back(u, c, d):
    """Return S^T d of a rotation S with the unit quaternion (c, u)."""
    across = cross(u, d)
    return add(d, add(scale(-2.0 * c, across), scale(2.0, cross(u, across))))


@njit
def step_turn(ws, i, half_step):
    """Return the unit quaternion of body i's rotation in the step: vector part (3,) and scalar part."""
    u = scale(half_step, vector(ws.velocity[i, 3:]))
    return u, (1.0 - (u[0] * u[0] + u[1] * u[1] + u[2] * u[2])) ** 0.5


@njit
def is_still(motion):
    """Return whether both bodies are at rest, by their motions ``motion`` (2, 6): then no row between them changes."""
    for s in range(2):
        for k in range(6):
            if motion[s, k] != 0.0:
                return False
    return True


@njit
def add_effort_changes(plan, ws, tangent, half_step, side, states, out):
    """Add to ``out`` (nb, 6) the change of half an effort's impulse, h/2 f (g_x, (I + [T]) g_theta).

    By the motions of the middle, and the changes of velocities and of T, in ``tangent``, and changes ``states`` (ns,)
    of states of laws. ``side``: 1 at the start of the step, -1 at its end, where T has the other sign; ``states`` are
    then brought to the end.
    """
    add_changes_from(plan, ws, tangent, plan.compliant.joint_sum.size, half_step, side, states, out)


@njit
def add_changes_from(plan, ws, tangent, start, half_step, side, states, out):
    """Add effort changes as `add_effort_changes` does, of the sums from number ``start`` on, to ``out`` (nb, 6).

    These act in the middle; ``half_step``: h/2, s. ``states`` (ns,): changes of states of laws, updated with ``side`` =
    -1. Uses ``ws.efforts.column``.
    """
    work, laws, middle = ws.efforts, plan.laws, tangent.middle
    for s in range(start, laws.sum_law.size - 1):
        first, last, by_value, by_rate = laws.sum_first[s], laws.sum_first[s + 1], 0.0, 0.0
        for m in range(first, last):
            pair_of(plan, m, middle, work.motion)
            take_third(plan, work, m, middle)
            weighted_curvature(plan, ws, m, work.position, work.rotation, work.motion, work.curved[m])
            for e in range(2):
                i = plan.measures.body[m, e]
                if i < out.shape[0]:
                    g = work.gradient[m, e]
                    by_value += dot6(g, middle[i])
                    by_rate += dot6(g, tangent.velocity[i]) + dot6(work.curved[m, e], ws.velocity[i])
        effort_change = work.sum_by_value[s] * by_value + work.sum_by_rate[s] * by_rate
        if ws.damping.active[0]:
            effort_change += ws.damping.by_start[s] * tangent.begun_rate[s]
        for f in range(laws.sum_law[s], laws.sum_law[s + 1]):
            a = laws.state[f]
            if a >= 0:
                effort_change += work.by_state[a, 0] * states[a]
                if side < 0.0:
                    state = work.by_state[a, 1] * states[a]
                    states[a] = state + work.by_state[a, 2] * by_value + work.by_state[a, 3] * by_rate
        for m in range(first, last):
            effort = curvature_factor(plan, work, s, m)
            for e in range(2):
                i = plan.measures.body[m, e]
                if i < out.shape[0]:
                    g, change = work.gradient[m, e], work.column
                    for k in range(6):
                        change[k] = effort_change * g[k] + effort * work.curved[m, e, k]
                    push_half(
                        change, scale(effort, vector(g[3:])), work.tangent[i], tangent.lean[i], half_step, side, out[i]
                    )
    for n in range(plan.loads.kind.size):
        i = plan.loads.body[n]
        load_change(plan, work, n, middle, tangent.velocity, work.column)
        if ws.damping.active[0] and ws.damping.load_lead[n] > 0.0:
            lead = ws.damping.load_lead[n]
            for k in range(6):  # by minus the lead, where by the mean ones it is by 1 and the lead
                work.column[k] -= lead / (1.0 + lead) * dot6(work.wrench_by_velocity[n, 0, k], tangent.begun[i])
        push_half(work.column, vector(work.wrench[n, 3:]), work.tangent[i], tangent.lean[i], half_step, side, out[i])


@njit
def push_half(change, turning, T, lean, half_step, side, out):
    """Add the change of h/2 (f_x, f_theta + side T x f_theta) to ``out`` (6,).

    Of f by ``change`` (6,) and of T by ``lean`` (3,); ``turning``: f_theta.
    """
    turned = vector(change[3:])
    tilt = add(cross(vector(T), turned), cross(vector(lean), turning))
    for k in range(3):
        out[k] += half_step * change[k]
        out[3 + k] += half_step * (turned[k] + side * tilt[k])


@njit
def add_input(plan, ws, element, span, half_step, side, out):
    """Add to ``out`` (nb, 6) the change of h/2 (f_x, f_theta + side T x f_theta) by the input of an element.

    After the residual of the step. ``span``: of the differences of the element's law. Uses ``ws.efforts.column``;
    ``ws.efforts.input`` is restored.
    """
    work, laws = ws.efforts, plan.laws
    for s in range(laws.sum_law.size - 1):
        by_input = 0.0
        for f in range(laws.sum_law[s], laws.sum_law[s + 1]):
            if laws.element[f] == element:
                by_input += _law_by_input(plan, work, f, work.sum_value[s], rate_of_law(plan, ws, f, s), span)
        for m in range(laws.sum_first[s], laws.sum_first[s + 1]):
            for e in range(2):
                i = plan.measures.body[m, e]
                if by_input != 0.0 and i < out.shape[0]:
                    for k in range(6):
                        work.column[k] = by_input * work.gradient[m, e, k]
                    push_half(work.column, ZERO, work.tangent[i], work.column, half_step, side, out[i])
    for n in range(plan.loads.kind.size):
        if plan.loads.element[n] == element:
            i = plan.loads.body[n]
            wrench_of(plan, work, n, work.rotation, ws.velocity, 1.0, work.column)  # a push is as large as its input
            push_half(work.column, ZERO, work.tangent[i], work.column, half_step, side, out[i])


@njit
def _law_by_input(plan, work, f, value, rate, span):
    """Return the derivative of the effort of law f by its input: central differences of fourth order over ``span``.

    ``value``, ``rate``: of its sum, m or rad, and per second; ``span``: in the unit of the input. Restores
    ``work.input`` (ne,).
    """
    element = plan.laws.element[f]
    input_before, near, far = work.input[element], 0.0, 0.0
    for sign in (1.0, -1.0):
        work.input[element] = input_before + sign * 0.5 * span
        near += sign * law_effort(plan, work, f, value, rate, 0.0)[0]
        work.input[element] = input_before + sign * span
        far += sign * law_effort(plan, work, f, value, rate, 0.0)[0]
    work.input[element] = input_before
    return (8.0 * near - far) / (6.0 * span)


@njit(seconds=3, what="derivatives of forces")
def force_changes(plan, ws, work, multiplier, motions, velocities, out):
    """Write forces on the bodies at rest at pose 0 to ``ws.increment_body`` (nb, 6), and their changes to ``out``.

    Without the impulses of rows, but with the change of their directions: row r pushes with ``multiplier[r]``, N or N
    m; ``multiplier`` (nr,). ``motions``, ``velocities``, ``out`` (n, nb, 6). The pose is placed, and in ``ws.efforts``
    as well, with the inputs. The states of laws stay: ``work.state`` is zero. Sets ``ws.velocity`` to zero; uses
    ``work.middle``, ``work.velocity`` and ``work.lean``.
    """
    efforts, nb = ws.efforts, plan.bodies.mass.size
    ws.velocity[:] = 0.0
    for i in range(nb):
        for k in range(3):
            ws.increment_body[i, k] = plan.bodies.mass[i] * plan.bodies.gravity[k]
            ws.increment_body[i, 3 + k] = 0.0
    efforts.tangent[:] = 0.0
    work.lean[:] = 0.0
    evaluate_laws(plan, ws, efforts.position, efforts.rotation, ws.velocity, 0.0)
    evaluate_loads(plan, ws, efforts.rotation, ws.velocity)
    differentiate_loads(plan, ws, efforts.position, efforts.rotation, ws.velocity)
    add_efforts(plan, efforts, ws.increment_body)
    for n in range(motions.shape[0]):
        out[n] = 0.0
        for r in range(plan.rows.role.size):
            if ws.released[r] > 0.0:
                continue
            pair_of(plan, r, motions[n], efforts.motion)
            weighted_curvature(plan, ws, r, ws.position[0], ws.rotation[0], efforts.motion, efforts.change)
            for s in range(2):
                i = plan.measures.body[r, s]
                if i < nb:
                    add_scaled6(out[n, i], multiplier[r], efforts.change[s])
        for i in range(nb):
            for k in range(6):
                work.middle[i, k], work.velocity[i, k] = motions[n, i, k], velocities[n, i, k]
        add_changes_from(plan, ws, work, 0, 1.0, 1.0, work.state, out[n])
