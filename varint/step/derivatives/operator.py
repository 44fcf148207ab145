"""The exact derivative of a step's residual, applied to vectors (columns.py) or transposed, in O(n).

The residual (newton.py) is a function of the velocities (v, w) and the multipliers. Its derivative acts on changes
(dv, dphi) of the velocities and on changes of the multipliers; dphi: see middle.py, as u, c, T and P. Beside the part
that the LDU factors it holds the change of an effort's direction with the other body of its measure, of the order of
h^2 times the effort. Rows of efforts have no unknown of their own here, their places are zero; but compliant rows of
joints have (soft_joints.py).

With, for each body, in the middle of the step

    motion     h/2 (dv, (I + [T]) dphi)          velocity   (dv, (c I + [u]) dphi)
    dT         h/2 (c / (1 + c) + [T] + T T^T) dphi

an effort f along a measure with the gradient g and the curvature K gives the change

    -h/2 (df P g + f P K motion + f (0, dT x g_theta)),
    df = f_value g . motion + f_rate (g . velocity + (K motion) . (v, w))

and the transpose follows term by term, K^T z = K z - (0, g_theta x z_theta) for each body (measures/base.py).
"""

from varint.base.numba import njit
from varint.mathematics.vectors import ZERO, add, cross, dot, scale, sub, vector
from varint.step.damping.end_rates import differentiate_ahead
from varint.step.dense import add_scaled6, dot6
from varint.step.efforts import curvature_factor
from varint.step.loads import body_of, differentiate_loads
from varint.step.measures import curve_transposed, pair_of, weighted_curvature
from varint.step.middle import push_change, unknown_to_motion, unknown_to_tangent, unknown_to_velocity
from varint.step.momentum import momentum_derivative
from varint.step.roles import apply_roles_back


@njit
def prepare_operator(plan, ws, half_step):
    """Write derivatives of the momenta to ``ws.derivative``, and of the loads, after the residual of the step."""
    for i in range(plan.bodies.mass.size):
        w = ws.velocity[i]
        momentum_derivative(plan.bodies.mass[i], plan.bodies.inertia[i], w[3], w[4], w[5], half_step, ws.derivative[i])
    differentiate_loads(plan, ws, ws.efforts.position, ws.efforts.rotation, ws.velocity)
    if ws.damping.active[0]:
        differentiate_ahead(plan, ws)


@njit
def apply_transposed(plan, ws, step, body, row, out_body, out_row):
    """Apply the transposed operator to ``body`` (nb, 6), ``row`` (nr,), in the places of residuals.

    Writes ``out_body`` (nb, 6), ``out_row`` (nr,), in the places of velocities and multipliers. ``step``:
    (upper, end, h). The impulses act along the rows in ``ws.jacobian[upper]``; the pose at the end of the step, and its
    rows, are number ``end`` in ``ws.position``, ``ws.rotation`` and ``ws.jacobian``.
    """
    upper, end, h = step.upper, step.end, step.h
    for i in range(plan.bodies.mass.size):
        out_body[i] = 0.0
        for k in range(6):
            add_scaled6(out_body[i], body[i, k], ws.derivative[i, k])
    for r in range(plan.rows.role.size):
        out_row[r] = 0.0
    for c in range(plan.constraints.row.size):  # the residual of a constraint is that of its first row
        first = plan.constraints.row[c]
        for r in range(first + 1, first + plan.constraints.size[c]):
            if ws.released[first] == 0.0:
                out_row[r] += row[r]
                out_row[first] -= row[r]
    for r in range(plan.rows.role.size):
        if ws.released[r] > 0.0:
            continue
        share = row[first_row(plan, r)]
        for s in range(2):
            i = plan.measures.body[r, s]
            if i < plan.bodies.mass.size:
                add_scaled6(out_body[i], share, ws.jacobian[end, r, s])
                out_row[r] -= dot6(ws.jacobian[upper, r, s], body[i])
        if upper == end:
            _turn_row_transposed(plan, ws, r, end, h, body, out_body)
    apply_roles_back(plan, ws, h, body, row, out_body, out_row)
    for s in range(plan.compliant.joint_sum.size, plan.laws.sum_law.size - 1):
        _apply_sum_transposed(plan, ws, s, 0.5 * h, body, out_body)
    for n in range(plan.loads.kind.size):
        for s in range(2):
            b = body_of(plan, n, s)
            if b < plan.bodies.mass.size:
                _apply_load_transposed(plan, ws.efforts, n, s, 0.5 * h, body[plan.loads.body[n]], out_body[b])


@njit
def first_row(plan, r):
    """Return the first row of the constraint that row r belongs to, or r itself."""
    for c in range(plan.constraints.row.size):
        if plan.constraints.row[c] <= r < plan.constraints.row[c] + plan.constraints.size[c]:
            return plan.constraints.row[c]
    return r


@njit
def join_constraints(plan, ws, row, out_row):
    """Replace the residuals ``out_row`` (nr,) of constraints: the first row's by the sum, the others by differences.

    The differences of their multipliers ``row`` (nr,) from the first, which are to be zero.
    """
    for c in range(plan.constraints.row.size):
        first = plan.constraints.row[c]
        if ws.released[first] > 0.0:
            continue
        for r in range(first + 1, first + plan.constraints.size[c]):
            out_row[first] += out_row[r]
            out_row[r] = row[r] - row[first]


@njit
def _turn_row_transposed(plan, ws, r, end, h, body, out_body):
    """Add the transposed change of the impulse along row r, by its direction, to ``out_body`` (nb, 6).

    The direction is the row's gradient at the end of the step; ``body`` (nb, 6).
    """
    work = ws.efforts
    pair_of(plan, r, body, work.motion)
    curve_transposed(plan, ws, r, ws.position[end], ws.rotation[end], ws.jacobian[end, r], work.motion, work.change)
    for s in range(2):
        i = plan.measures.body[r, s]
        if i < body.shape[0]:
            add_scaled6(out_body[i], -h * ws.multiplier[r], work.change[s])


@njit
def apply_sum(plan, ws, s, half_step, body, out_body):
    """Add the changes of the residual by the laws along sum s to ``out_body`` (nb, 6).

    ``body`` (nb, 6): changes of the velocities. Uses ``ws.efforts.motion``, ``ws.efforts.third``.
    """
    work, laws, effort_change = ws.efforts, plan.laws, 0.0
    first, last = laws.sum_first[s], laws.sum_first[s + 1]
    for m in range(first, last):
        for side in range(2):
            i = plan.measures.body[m, side]
            work.motion[side] = 0.0
            if i < body.shape[0]:
                unknown_to_motion(body[i], work.tangent[i], half_step, work.motion[side])
                unknown_to_velocity(body[i], work.tangent[i], work.column)
                effort_change += work.sum_by_value[s] * dot6(work.gradient[m, side], work.motion[side])
                effort_change += work.sum_by_rate[s] * dot6(work.gradient[m, side], work.column)
        third = plan.measures.third[m]
        if third >= 0:
            work.third[:] = 0.0
            if third < body.shape[0]:
                unknown_to_motion(body[third], work.tangent[third], half_step, work.third)
        weighted_curvature(plan, ws, m, work.position, work.rotation, work.motion, work.curved[m])
        for side in range(2):
            i = plan.measures.body[m, side]
            if i < body.shape[0]:
                effort_change += work.sum_by_rate[s] * dot6(work.curved[m, side], ws.velocity[i])
    for m in range(first, last):
        effort = curvature_factor(plan, work, s, m)
        for side in range(2):
            i = plan.measures.body[m, side]
            if i < body.shape[0]:
                T, g = work.tangent[i], work.gradient[m, side]
                dT = unknown_to_tangent(body[i], T, half_step)
                push_change(g, work.curved[m, side], T, dT, -half_step * effort, out_body[i])
                lever = add(vector(g[3:]), cross(vector(T), vector(g[3:])))
                for k in range(3):
                    out_body[i, k] -= half_step * effort_change * g[k]
                    out_body[i, 3 + k] -= half_step * effort_change * lever[k]


@njit
def _apply_sum_transposed(plan, ws, s, half_step, body, out_body):
    """Add the transpose of `apply_sum`, of ``body`` (nb, 6), to ``out_body`` (nb, 6).

    Uses ``ws.efforts.motion``, ``ws.efforts.third`` and ``ws.efforts.change``.
    """
    work, laws, along = ws.efforts, plan.laws, 0.0
    first, last = laws.sum_first[s], laws.sum_first[s + 1]
    for m in range(first, last):
        for side in range(2):
            i = plan.measures.body[m, side]
            if i < body.shape[0]:
                g, T = work.gradient[m, side], vector(work.tangent[i])
                lever = add(vector(g[3:]), cross(T, vector(g[3:])))
                along += dot(vector(g), vector(body[i])) + dot(lever, vector(body[i, 3:]))
    by_value, by_rate = along * work.sum_by_value[s], along * work.sum_by_rate[s]
    for m in range(first, last):
        effort = curvature_factor(plan, work, s, m)
        for side in range(2):
            i = plan.measures.body[m, side]
            work.motion[side] = 0.0
            if i < body.shape[0]:
                _pull(ws, i, body[i], effort, by_rate, work.motion[side])
        third = plan.measures.third[m]
        if third >= 0:
            work.third[:] = 0.0
            if third < body.shape[0]:
                _pull(ws, third, body[third], effort, by_rate, work.third)
        curve_transposed(plan, ws, m, work.position, work.rotation, work.gradient[m], work.motion, work.change)
        for side in range(2):
            i = plan.measures.body[m, side]
            if i < body.shape[0]:
                g = work.gradient[m, side]
                for k in range(6):
                    work.change[side, k] += by_value * g[k]
                turned = scale(effort, cross(vector(g[3:]), vector(body[i, 3:])))
                to_unknown(work.change[side], g, by_rate, turned, work.tangent[i], half_step, -half_step, out_body[i])


@njit
def _pull(ws, i, dual, effort, by_rate, motion):
    """Write ``effort`` (I + [T])^T ``dual`` plus ``by_rate`` times the velocity of body i to ``motion`` (6,).

    ``dual`` (6,).
    """
    turn = vector(dual[3:])
    back = sub(turn, cross(vector(ws.efforts.tangent[i]), turn))
    for k in range(3):
        motion[k] = effort * dual[k] + by_rate * ws.velocity[i, k]
        motion[3 + k] = effort * back[k] + by_rate * ws.velocity[i, 3 + k]


@njit
def to_unknown(by_motion, by_velocity, rate, by_tangent, T, half_step, factor, out):
    """Add ``factor`` times the transposes of three maps of the unknowns to ``out`` (6,).

    Of `unknown_to_motion`, applied to ``by_motion`` (6,), of ``rate`` times `unknown_to_velocity`, to the array
    ``by_velocity`` (6,), and of `unknown_to_tangent`, to ``by_tangent`` (3,).
    """
    t, c = vector(T), T[3]
    turn, spin = vector(by_motion[3:]), vector(by_velocity[3:])
    angular = scale(half_step, sub(turn, cross(t, turn)))
    angular = add(angular, scale(rate, sub(scale(c, spin), scale(1.0 + c, cross(t, spin)))))
    leaned = sub(scale(c / (1.0 + c), by_tangent), cross(t, by_tangent))
    angular = add(angular, scale(half_step, add(leaned, scale(dot(t, by_tangent), t))))
    for k in range(3):
        out[k] += factor * (half_step * by_motion[k] + rate * by_velocity[k])
        out[3 + k] += factor * angular[k]


@njit
def _apply_load_transposed(plan, work, n, s, half_step, body, out):
    """Add the transpose of `efforts.add_load_change`, of ``body`` (6,), to the unknowns ``out`` (6,).

    The unknowns of the body of load n (s = 0), or of the other. Uses ``work.motion``.
    """
    turn = vector(body[3:])
    back = sub(turn, cross(vector(work.tangent[plan.loads.body[n]]), turn))
    by_motion, by_velocity = work.motion[0], work.motion[1]
    by_motion[:] = 0.0
    by_velocity[:] = 0.0
    for k in range(6):
        share = body[k] if k < 3 else back[k - 3]
        add_scaled6(by_motion, share, work.wrench_by_pose[n, s, k])
        add_scaled6(by_velocity, share, work.wrench_by_velocity[n, s, k])
    turned = cross(vector(work.wrench[n, 3:]), turn) if s == 0 else ZERO
    to_unknown(by_motion, by_velocity, 1.0, turned, work.tangent[body_of(plan, n, s)], half_step, -half_step, out)
