"""Laws and loads in a step: residual, rows and Newton's matrix (docs/theory.md section 10).

They act in the middle of the step (middle.py). In Newton's matrix an effort between two bodies is one more row with a
compliance. Its change is h/2 df = -lower . d, d = (dv, dphi) of the two bodies:

    [ D      -upper^T ]
    [ lower   1       ]

Such a row is one of the tree joint between the two bodies, or one of a closure (theory.md section 10). An effort along
the angle of a hinge has none in mechanisms without loops (lower_pairs.py). Where one body is the world there is no row,
and upper lower^T is added to D. D takes as well the exact derivative of the loads, and the
change of an effort's direction with each body by itself. Its change with the other body has no place in the graph of
the LDU, and neither has that of the rate with the gradient: both are left to the exact operator (operator.py).

Friction between two balls has two rows more: its changes along two directions at right angles to the normal.
"""

from varint.base.numba import indirect, natural, njit
from varint.mathematics.vectors import add, cross, dot, scale, square_to, sub, turn_of, vector, write
from varint.step.damping.end_rates import apply_ahead, differentiate_ahead
from varint.step.dense import add_scaled6, dot6
from varint.step.law_works import finish_laws, sum_ends
from varint.step.laws import SPRING, evaluate_other_laws, other_law_effort
from varint.step.loads import (
    SLIDING,
    body_of,
    contact_torque,
    differentiate_loads,
    differentiate_sliding,
    evaluate_loads,
    load_power,
)
from varint.step.measures import ANGLE, weighted_curvature
from varint.step.middle import (
    finish_push,
    finish_turn,
    middle_poses,
    push_change,
    start_push,
    unknown_to_motion,
    unknown_to_tangent,
    unknown_to_velocity,
    write_rows,
)
from varint.step.paths.measures import bend_paths, evaluate_paths
from varint.step.paths.records import OWN_ROWS
from varint.step.plan import IN_PIVOT, Plan, Workspace
from varint.step.role import Role


@njit
def has_efforts(plan):
    """Return whether laws or loads act."""
    return plan.laws.kind.size + plan.loads.kind.size > 0


@indirect(seconds=2, what="forces")
def apply_efforts(plan: Plan, ws: Workspace, start: int, end: int, h: float) -> None:
    """Evaluate laws and loads in the middle of the step, and subtract h/2 P g f from ``ws.residual_body``."""
    half_step = 0.5 * h
    middle_poses(plan, ws, start, half_step)
    work = ws.efforts
    evaluate_other_laws(plan, ws, work.position, work.rotation, ws.velocity, half_step)
    evaluate_loads(plan, ws, work.rotation, ws.velocity)
    if ws.damping.active[0]:
        apply_ahead(plan, ws, half_step)
    for place in range(plan.compliant.joint_sum.size, plan.laws.other.size):  # the first push along rows of their own
        s = natural(plan.laws.other[place])
        share = -half_step * work.sum_effort[s]
        for number in range(plan.laws.sum_first[s], plan.laws.sum_first[s + 1]):
            m = natural(number)
            turns = plan.measures.kind[m] == ANGLE
            for side in range(2):
                i = natural(plan.measures.body[m, side])
                if i == plan.bodies.mass.size:
                    continue
                if turns:
                    p, g, T = ws.residual_body[i], turn_of(work.gradient[m, side]), vector(work.tangent[i])
                    p[3], p[4], p[5] = add(turn_of(p), scale(share, add(g, cross(T, g))))
                else:
                    start_push(ws.residual_body[i], share, work.gradient[m, side], work.tangent[i])
    for n in range(plan.loads.kind.size):
        i = natural(plan.loads.body[n])
        start_push(ws.residual_body[i], -half_step, work.wrench[n], work.tangent[i])


@njit
def load_change(plan, work, n, motion, velocity, out):
    """Write the change of the wrench of load n by motions and changes of velocities to ``out`` (6,).

    ``motion``, ``velocity`` (nb, 6).
    """
    out[:] = 0.0
    for s in range(2):
        i = body_of(plan, n, s)
        if i < plan.bodies.mass.size:
            _add_change(work, n, s, motion[i], velocity[i], out)


@njit
def _add_change(work, n, s, motion, velocity, out):
    """Add the change of the wrench of load n by a motion and a change of the velocity (6,) of one body to ``out`` (6,).

    ``s``: 0 for the body of the load, 1 for the other.
    """
    for k in range(6):
        out[k] += dot6(work.wrench_by_pose[n, s, k], motion) + dot6(work.wrench_by_velocity[n, s, k], velocity)


@indirect(seconds=2, what="forces")
def stiffen(plan: Plan, ws: Workspace, upper: int, end: int, h: float, factored: bool) -> None:
    """Add laws and loads to Newton's matrix: rows in the Jacobians, and blocks of bodies, added to ``ws.ldu.D``.

    After `apply_efforts`. A row whose limit is closed is a constraint and keeps its gradient.
    """
    if factored:
        return
    work, upper, lower, half_step = ws.efforts, natural(upper), natural(end), 0.5 * h
    up, low = work.change[0], work.change[1]
    if plan.paths.measure.size:
        bend_paths(plan, ws, half_step)
    for place in range(plan.compliant.joint_sum.size, plan.laws.other.size):
        s = natural(plan.laws.other[place])
        by_value, by_rate = -half_step * half_step * work.sum_by_value[s], -half_step * work.sum_by_rate[s]
        if plan.paths.row[s] != OWN_ROWS:
            _join_rows(plan, ws, s, by_value, by_rate, upper, lower)
            continue
        for number in range(plan.laws.sum_first[s], plan.laws.sum_first[s + 1]):
            m = natural(number)
            r = plan.measures.row[m]
            if r == IN_PIVOT:
                _write_pivot(plan, ws, m, by_value, by_rate)
                continue
            for side in range(2):
                i = natural(plan.measures.body[m, side])
                if i == plan.bodies.mass.size:
                    continue
                g, T = work.gradient[m, side], work.tangent[i]
                if r < 0:
                    write_rows((vector(g), turn_of(g)), T, (by_value, by_rate), up, low)
                    for k in range(6):
                        add_scaled6(ws.ldu.D[i, k], up[k], low)
                elif ws.released[r] > 0.0:
                    up_row, low_row = ws.jacobian[upper, r, side], ws.jacobian[lower, r, side]
                    write_rows((vector(g), turn_of(g)), T, (by_value, by_rate), up_row, low_row)
            if plan.measures.stiffening[m]:
                _add_curvature(plan, ws, m, curvature_factor(plan, work, s, m), half_step)
    differentiate_loads(plan, ws, work.position, work.rotation, ws.velocity)
    if ws.damping.active[0]:
        differentiate_ahead(plan, ws)
    _add_loads(plan, ws, upper, lower, half_step)


@njit
def _join_rows(plan, ws, s, by_value, by_rate, upper, lower):
    """Write one row for all measures of sum s, or add their block to the pivot of the one body that they move.

    The row to ``ws.jacobian`` at the poses ``upper`` and ``lower``, the block to ``ws.ldu.D``. ``by_value``,
    ``by_rate``: see `write_rows`. Scratch: ``ws.efforts.motion``, ``ws.efforts.change``.
    """
    work, nb, r = ws.efforts, plan.bodies.mass.size, plan.paths.row[s]
    total = work.motion
    total[:] = 0.0
    near = moved = nb
    if r >= 0:
        near = plan.measures.body[r, 0]
    for number in range(plan.laws.sum_first[s], plan.laws.sum_first[s + 1]):
        m = natural(number)
        for side in range(2):
            i = natural(plan.measures.body[m, side])
            if i < nb:
                moved = i
                add_scaled6(total[1 if r >= 0 and i != near else 0], 1.0, work.gradient[m, side])
    if r < 0:
        up, low = work.change[0], work.change[1]
        write_rows((vector(total[0]), turn_of(total[0])), work.tangent[moved], (by_value, by_rate), up, low)
        for k in range(6):
            add_scaled6(ws.ldu.D[moved, k], up[k], low)
        return
    for side in range(2):
        T, gradient = work.tangent[plan.measures.body[r, side]], (vector(total[side]), turn_of(total[side]))
        write_rows(gradient, T, (by_value, by_rate), ws.jacobian[upper, r, side], ws.jacobian[lower, r, side])


@njit(inline="always")
def _write_pivot(plan, ws, m, by_value, by_rate):
    """Write the rows of `write_rows` of measure m for the child of a hinge, whose pivot takes the effort.

    The measure is the angle of the hinge. To ``ws.ldu.effort``.
    """
    work, i = ws.efforts, natural(plan.measures.body[m, 0])
    T, g, out = work.tangent[i], turn_of(work.gradient[m, 0]), ws.ldu.effort[0, i]
    tilt, c = cross(vector(T), g), T[3]
    low = sub(scale(by_value + by_rate * c, g), scale(by_value + by_rate * (1.0 + c), tilt))
    write(out, add(g, tilt), low)


@njit
def _add_curvature(plan, ws, m, effort, half_step):
    """Add the change of the direction of an effort along measure m, by the unknowns of the same body, to ``ws.ldu.D``.

    Scratch in ``ws.efforts``.
    """
    work = ws.efforts
    column, motion, change, unit = work.column, work.motion, work.change, work.unit
    for side in range(2 if effort != 0.0 else 0):
        i = plan.measures.body[m, side]
        if i == plan.bodies.mass.size:
            continue
        T = work.tangent[i]
        motion[:] = 0.0
        work.third[:] = 0.0
        for k in range(6):
            unit[:] = 0.0
            unit[k] = 1.0
            unknown_to_motion(unit, T, half_step, motion[side])
            weighted_curvature(plan, ws, m, work.position, work.rotation, motion, change)
            column[:] = 0.0
            by_tangent = unknown_to_tangent(unit, T, half_step)
            push_change(work.gradient[m, side], change[side], T, by_tangent, -half_step * effort, column)
            for a in range(6):
                ws.ldu.D[i, a, k] += column[a]


@njit
def _add_loads(plan, ws, upper, lower, half_step):
    """Add the change of the loads by the unknowns of their bodies to ``ws.ldu.D``.

    Friction between two bodies is written as rows, as far as it is a change of the force along the surface. Scratch in
    ``ws.efforts``.
    """
    work = ws.efforts
    column, unit, change = work.column, work.unit, work.change[0]
    for n in range(plan.loads.kind.size):
        i, rows = plan.loads.body[n], plan.loads.row[n, 0] >= 0
        T = work.tangent[i]
        for k in range(6):
            unit[:] = 0.0
            unit[k] = 1.0
            column[:] = 0.0
            change[:] = 0.0
            _by_unknowns(plan, work, n, 0, unit, half_step, change)
            if rows:
                _write_friction_rows(plan, ws, n, k, upper, lower, half_step)
            push_change(work.wrench[n], change, T, unknown_to_tangent(unit, T, half_step), -half_step, column)
            for a in range(6):
                ws.ldu.D[i, a, k] += column[a]


@njit
def _write_friction_rows(plan, ws, n, k, upper, lower, half_step):
    """Write entry k of the body of load n in the rows of friction, see `write_rows`, to ``ws.jacobian``.

    Subtracts it from ``ws.efforts.change[0]``.
    """
    work, loads, i = ws.efforts, plan.loads, plan.loads.body[n]
    change, T = work.change[0], vector(work.tangent[i])
    directions = square_to(vector(work.gradient[loads.pressed[n], 0]))
    for a in range(2):
        r, along = loads.row[n, a], directions[a]
        side = 0 if plan.measures.body[r, 0] == i else 1
        sign = 1.0 if side == 0 else -1.0
        growth = dot(along, vector(change))
        torque = contact_torque(plan, work, n, work.rotation[i], along)
        tilt = add(torque, cross(T, torque))
        ws.jacobian[upper, r, side, k] = sign * (along[k] if k < 3 else tilt[k - 3])
        ws.jacobian[lower, r, side, k] = -half_step * sign * growth
        for b in range(3):
            change[b] -= growth * along[b]
            change[3 + b] -= growth * torque[b]


@njit
def _by_unknowns(plan, work, n, s, d, half_step, out):
    """Add the change of the wrench of load n along a change d (6,) of the unknowns of its body, or of the other."""
    T = work.tangent[body_of(plan, n, s)]
    unknown_to_motion(d, T, half_step, work.motion[0])
    unknown_to_velocity(d, T, work.motion[1])
    _add_change(work, n, s, work.motion[0], work.motion[1], out)


@njit
def add_load_change(plan, work, n, d, half_step, out):
    """Add to ``out`` (6,) the change of the residual of its body by load n along changes d (nb, 6) of the unknowns.

    Scratch: ``work.change``.
    """
    i, change = plan.loads.body[n], work.change[0]
    change[:] = 0.0
    for s in range(2):
        b = body_of(plan, n, s)
        if b < plan.bodies.mass.size:
            _by_unknowns(plan, work, n, s, d[b], half_step, change)
    T = work.tangent[i]
    push_change(work.wrench[n], change, T, unknown_to_tangent(d[i], T, half_step), -half_step, out)


@njit
def curvature_factor(plan, work, s, m):
    """Return the factor of the curvature of measure m, of sum s: the effort.

    For a length that is zero, its derivative by the value.
    """
    if plan.measures.radial[m] and work.value[m] == 0.0:
        return work.sum_by_value[s]
    return work.sum_effort[s]


@indirect
def finish_efforts(plan: Plan, ws: Workspace, start: int, end: int, h: float) -> None:
    """Add h/2 f (g_x, (I - [T]) g_theta) to ``ws.momentum``; bring works and states of laws in ``ws.efforts`` forward.

    Keeps the measures' values there. ``start``: the pose where the step begins.
    """
    work, start, half_step = ws.efforts, natural(start), 0.5 * h
    known = work.summed[0] == start + 1
    for place in range(plan.laws.other.size):
        s = natural(plan.laws.other[place])
        sum_ends(plan, ws, s, start, known)
        finish_laws(plan, ws, s, start, 2.0 * half_step)
        for number in range(plan.laws.sum_first[s], plan.laws.sum_first[s + 1]):
            m = natural(number)
            work.value_near[m] = work.value[m]
            turns = plan.measures.kind[m] == ANGLE
            for side in range(2):
                i = natural(plan.measures.body[m, side])
                if i == plan.bodies.mass.size:
                    continue
                if turns:
                    finish_turn(ws, i, half_step * work.sum_effort[s], work.gradient[m, side])
                else:
                    finish_push(ws, i, half_step * work.sum_effort[s], work.gradient[m, side])
    for m in range(plan.measures.kind.size, work.value.size):  # rotation vectors, last seen at the end of the step
        work.value_near[m] = work.value[m]
    work.summed[0] = 2 - start
    for n in range(plan.loads.kind.size):
        i = plan.loads.body[n]
        work.work[plan.loads.element[n]] += 2.0 * half_step * load_power(plan, work, n, ws.velocity)
        finish_push(ws, i, half_step, work.wrench[n])


def _called(plan, stages):
    """Return the functions that laws and loads of the kinds of a plan call through pointers."""
    return (
        (other_law_effort,) * bool((plan.laws.kind != SPRING).any())
        + (differentiate_sliding,) * bool((plan.loads.kind == SLIDING).any())
        + (evaluate_paths, bend_paths) * bool(plan.paths.measure.size)
    )


EFFORTS = Role(
    lambda plan: plan.laws.kind.size + plan.loads.kind.size,
    {"residual": apply_efforts, "matrices": stiffen, "finish": finish_efforts},
    also=_called,
    exact=False,
)
