"""Derivatives of accelerations along changes of the state.

A change of the state is (dx, dtheta, dv, dw) of each body: position (world), rotation vector (body axes), velocity
(world) and angular velocity (body axes). With M the mass, G the rows, lambda the multipliers and c = (dG/dt) V the
share of the velocities V in the rows' second derivatives,

    M a - G^T lambda = f - (0, w x J w),        G a = - c + second derivatives of targets

so a change of the state changes the accelerations by

    M da - G^T dlambda = df + dG^T lambda - (0, dw x J w + w x J dw),        G da = - dc - dG a

dG and the change of c with V are the exact curvature of measures. The change of c with the pose is a third derivative,
which no measure has: it is a central difference of fourth order of the curvature.
"""

from varint.base.numba import njit
from varint.mathematics.quaternion import multiply, rotation_matrix
from varint.mathematics.vectors import cross, rotate, scale, vector
from varint.step.configuration import place_node
from varint.step.dense import add_scaled6, dot6
from varint.step.derivatives.operator import join_constraints
from varint.step.derivatives.tangent import add_changes_from, add_input, is_still
from varint.step.formulas import is_formula
from varint.step.intervals import StepSpan
from varint.step.laws import evaluate_laws
from varint.step.ldu import solve_again
from varint.step.loads import differentiate_loads, evaluate_loads
from varint.step.measures import pair_of, rate_of, weighted_curvature
from varint.step.nodes.efforts import add_efforts
from varint.step.nodes.reactions import accelerate
from varint.step.rows import clear_rows

STEP = 4e-3  # rad, or sizes of a part, of the differences of the curvature


@njit(seconds=5, what="derivatives of accelerations")
def acceleration_changes(plan, ws, work, bend, inputs, changes, out):
    """Write accelerations at a state to ``ws.increment_body`` (nb, 6), and their changes to ``out`` (n + m, nb, 6).

    The state is pose 0, which is placed, and in ``ws.efforts`` as well, with ``ws.velocity`` and the inputs.
    ``changes`` (n, nb, 12): of poses and velocities; the last m are by inputs, see `carry_forward`. ``bend`` (nh,):
    second time derivatives of the targets of constraints. ``work``: a `Tangent`; uses ``work.middle``,
    ``work.velocity``, ``work.lean``, ``work.row`` and ``ws.multiplier``.
    """
    efforts, nb, (elements, spans) = ws.efforts, plan.bodies.mass.size, inputs
    load, row = ws.increment_body, work.row[0]
    for i in range(nb):
        for k in range(3):
            load[i, k] = plan.bodies.mass[i] * plan.bodies.gravity[k]
            load[i, 3 + k] = 0.0
    efforts.tangent[:] = 0.0
    work.lean[:] = 0.0
    evaluate_laws(plan, ws, efforts.position, efforts.rotation, ws.velocity, 0.0)
    evaluate_loads(plan, ws, efforts.rotation, ws.velocity)
    differentiate_loads(plan, ws, efforts.position, efforts.rotation, ws.velocity)
    add_efforts(plan, efforts, load)
    clear_rows(plan, ws.released, ws.jacobian[0])
    accelerate(plan, ws, 0, ws.pace.rows, ws.velocity, bend, ws.jacobian[1])
    for r in range(row.size):
        ws.multiplier[r] = ws.increment_row[r]
    moving = False
    for i in range(nb):
        for k in range(6):
            moving = moving or ws.velocity[i, k] != 0.0
    for n in range(changes.shape[0]):
        out[n] = 0.0
        for i in range(nb):
            for k in range(6):
                work.middle[i, k], work.velocity[i, k] = changes[n, i, k], changes[n, i, 6 + k]
        add_changes_from(plan, ws, work, 0, 1.0, 1.0, work.state, out[n])
        _change_rows(plan, ws, work, row, out[n])
        if moving:
            _change_bends(plan, ws, work, row)
        for i in range(nb):
            J, w, dw = plan.bodies.inertia[i], vector(ws.velocity[i, 3:]), vector(work.velocity[i, 3:])
            one, other = cross(dw, rotate(J, w)), cross(w, rotate(J, dw))
            for k in range(3):
                out[n, i, 3 + k] -= one[k] + other[k]
        join_constraints(plan, ws, work.no_row, row)
        solve_again(plan, ws, StepSpan(0, 0, 1.0), out[n], row)
    for m in range(elements.size):
        n = changes.shape[0] + m
        out[n] = 0.0
        row[:] = 0.0
        add_input(plan, ws, elements[m], spans[m], 1.0, 1.0, out[n])
        solve_again(plan, ws, StepSpan(0, 0, 1.0), out[n], row)


@njit
def _change_rows(plan, ws, work, row, out):
    """Add dG^T lambda to ``out`` (nb, 6), and write - dG a - (dc by dV) to ``row`` (nr,).

    By ``work.middle``, the motions, and ``work.velocity``; lambda in ``ws.multiplier``, a in ``ws.increment_body``.
    """
    efforts = ws.efforts
    for r in range(row.size):
        row[r] = 0.0
        if ws.released[r] > 0.0:
            continue
        pair_of(plan, r, work.middle, efforts.motion)
        if not is_still(efforts.motion):
            weighted_curvature(plan, ws, r, ws.position[0], ws.rotation[0], efforts.motion, efforts.change)
            for s in range(2):
                i = plan.measures.body[r, s]
                if i < out.shape[0]:
                    add_scaled6(out[i], ws.multiplier[r], efforts.change[s])
                    row[r] -= dot6(efforts.change[s], ws.increment_body[i])
        pair_of(plan, r, work.velocity, efforts.motion)
        if is_still(efforts.motion):
            continue
        weighted_curvature(plan, ws, r, ws.position[0], ws.rotation[0], efforts.motion, efforts.change)
        for s in range(2):
            i = plan.measures.body[r, s]
            if i < out.shape[0]:
                row[r] -= dot6(efforts.change[s], ws.velocity[i])
        pair_of(plan, r, ws.velocity, efforts.motion)
        weighted_curvature(plan, ws, r, ws.position[0], ws.rotation[0], efforts.motion, efforts.change)
        for s in range(2):
            i = plan.measures.body[r, s]
            if i < out.shape[0]:
                row[r] -= dot6(efforts.change[s], work.velocity[i])


@njit
def _change_bends(plan, ws, work, row):
    """Subtract the change of c with the pose, along ``work.middle``, from ``row`` (nr,).

    Uses pose 1: ``ws.position``, ``ws.quat`` and ``ws.rotation``.
    """
    size, length = 0.0, plan.bodies.length[0]
    for i in range(work.middle.shape[0]):
        for k in range(6):
            size = max(size, abs(work.middle[i, k]) / (length if k < 3 else 1.0))
    if size == 0.0:
        return
    step, efforts = STEP / size, ws.efforts
    for side in (-1.0, 1.0):
        for part in (0.5, 1.0):
            for i in range(work.middle.shape[0]):
                d, q = vector(work.middle[i, 3:]), ws.quat[0, i]
                half = scale(0.5 * side * part * step, d)
                for k in range(3):
                    ws.position[1, i, k] = ws.position[0, i, k] + side * part * step * work.middle[i, k]
                turned = multiply((q[0], q[1], q[2], q[3]), _exponential(half))
                for k in range(4):
                    ws.quat[1, i, k] = turned[k]
                rotation_matrix(ws.quat[1, i], ws.rotation[1, i])
            share = (8.0 if part == 0.5 else -1.0) * side / (6.0 * step)
            for r in range(row.size):
                pair_of(plan, r, work.middle, efforts.motion)
                if ws.released[r] > 0.0 or (is_still(efforts.motion) and not is_formula(plan, r)):
                    continue
                pair_of(plan, r, ws.velocity, efforts.motion)
                weighted_curvature(plan, ws, r, ws.position[1], ws.rotation[1], efforts.motion, efforts.change)
                row[r] -= share * rate_of(plan.measures.body[r], efforts.change, ws.velocity)


@njit
def _exponential(half):
    """Return the unit quaternion (scalar first) of a rotation by twice ``half`` (3,), which is small."""
    x = half[0] * half[0] + half[1] * half[1] + half[2] * half[2]
    sine = 1.0 - x / 6.0 * (1.0 - x / 20.0 * (1.0 - x / 42.0))
    cosine = 1.0 - 0.5 * x * (1.0 - x / 12.0 * (1.0 - x / 30.0))
    return cosine, sine * half[0], sine * half[1], sine * half[2]


@njit(seconds=1, what="inverse dynamics")
def second_rates(plan, ws, nodes, acceleration, out):
    """Write second time derivatives of the sums that constraints keep to ``out`` (T, nh), along a motion that need not.

    ``nodes``: position (T, nb, 3), quat (T, nb, 4), velocity (T, nb, 6); ``acceleration`` (T, nb, 6).
    """
    position, quat, velocity = nodes
    efforts = ws.efforts
    for node in range(position.shape[0]):
        place_node(plan, ws, position[node], quat[node])
        for c in range(plan.constraints.row.size):
            first, total = plan.constraints.row[c], 0.0
            for r in range(first, first + plan.constraints.size[c]):
                pair_of(plan, r, velocity[node], efforts.motion)
                weighted_curvature(plan, ws, r, ws.position[0], ws.rotation[0], efforts.motion, efforts.change)
                total += rate_of(plan.measures.body[r], efforts.change, velocity[node])
                total += rate_of(plan.measures.body[r], ws.jacobian[0, r], acceleration[node])
            out[node, c] = total
