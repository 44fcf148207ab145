"""Elements of beams in a step: their strains and efforts in its middle, their rows in Newton's matrix, their impulses.

An element has six measures, each with one effort, which is an unknown (compliant/rows.py). All six act as one force F
at the point of b, and a torque, and their opposites on a. So gradients of single measures are needed for Newton's
matrix alone. A, B: rotations of the bodies, Q: from a to the frame halfway between them, so that Q Q = A^T B; rho: the
rotation vector of A^T B; d, v, w, f: of measures/middle.py and rotation.py; v_a, w_a, v_b, w_b: velocities. Then

    d strain / dt = Q^T (dd - eta x d),    dd = A^T (v_b + B (w_b x w) - v_a) - w_a x (d + v),    delta = (1 + Q) eta
    d rho / dt = delta - rho x delta / 2 + f rho x (rho x delta),    delta = A^T B w_b - w_a

Newton's matrix has the change of the frame at zero rotation between the bodies, and of it the blocks of single bodies.
With the vector L between the points of a and b, world, changes (dv, dw) of a body's velocities change the impulses of
force and torque on it by h^2/4 times s/2 dw x F and -s/2 dv x F - (F . L) dw / 4 + (L (F . dw) + F (L . dw)) / 8, s = 1
for b, -1 for a. The torque of the element has no part in these blocks.
"""

from varint.base.numba import indirect, natural, njit
from varint.mathematics.vectors import ZERO, add, cross, dot, rotate, rotate_back, scale, sub, turn_of, vector, write
from varint.measures.middle import half_of, half_turn, lever, to_middle, torque_of
from varint.measures.rotation import by_rotation, vector_change
from varint.step.compliant.beams import SIZE, ends_of, turn_of_half
from varint.step.law_works import finish_laws
from varint.step.laws import evaluate_along
from varint.step.middle import finish_push, start_push, write_rows
from varint.step.plan import Plan, Workspace

WHAT = "beams"


@njit(inline="always")
def _velocity(ws, i):
    """Return velocity and angular velocity of body i; zero for the world."""
    if i == ws.velocity.shape[0]:
        return ZERO, ZERO
    v = ws.velocity[i]
    return vector(v), turn_of(v)


@indirect(seconds=2, what=WHAT)
def apply_beams(plan: Plan, ws: Workspace, start: int, end: int, h: float) -> None:
    """Evaluate the elements in the middle of a step and take their impulses off ``ws.residual_body``.

    Writes the values of the measures, their sums and efforts as `laws.evaluate_laws` does, without gradients; the
    residuals of the rows, after which the efforts of the sums are multiplier / ``half_step``; and ``ws.efforts.push``.
    After `middle_poses`.
    """
    work, measures, half_step = ws.efforts, plan.measures, 0.5 * h
    for n in range(plan.beams.first.size):
        m, s = natural(plan.beams.first[n]), natural(plan.beams.sum[n])
        side = natural(measures.first[m])
        a, b = natural(measures.body[m, side]), natural(measures.body[m, natural(1 - side)])
        x_a, A, x_b, B = work.position[a], work.rotation[a], work.position[b], work.rotation[b]
        k, reach, w = half_turn(plan, m, A, B), lever(plan, m, x_a, A, x_b, B), vector(measures.w[m])
        d = sub(reach, vector(measures.v[m]))
        rho, f = turn_of_half(k)
        (v_a, w_a), (v_b, w_b) = _velocity(ws, a), _velocity(ws, b)
        delta = sub(rotate_back(A, rotate(B, w_b)), w_a)
        shift = rotate_back(A, add(sub(v_b, v_a), rotate(B, cross(w_b, w))))
        moved = sub(sub(shift, cross(w_a, reach)), cross(half_of(k, delta), d))
        back = scale(-1.0, k)
        strain, strain_rate = to_middle(back, d), to_middle(back, moved)
        turn, turn_rate = rho, vector_change(rho, f, delta)
        force = torque = ZERO
        for j in range(3):
            u, v = vector(measures.u[m + j]), vector(measures.v[m + 3 + j])
            r = natural(plan.compliant.row[SIZE * n + j])
            value = dot(u, strain) - measures.c[m + j]
            _evaluate(plan, ws, m + j, s + j, r, value, dot(u, strain_rate), half_step)
            force = add(force, scale(ws.multiplier[r], u))
            r = natural(plan.compliant.row[SIZE * n + 3 + j])
            _evaluate(plan, ws, m + 3 + j, s + 3 + j, r, dot(v, turn), dot(v, turn_rate), half_step)
            torque = add(torque, scale(ws.multiplier[r], v))
        force = to_middle(k, force)
        torque = add(torque_of(k, d, force), by_rotation(torque, rho, f))
        push, far, near = rotate(A, force), rotate_back(B, rotate(A, torque)), add(cross(reach, force), torque)
        on_a, on_b = work.push[n, 0], work.push[n, 1]
        write(on_a, scale(-1.0, push), scale(-1.0, near))
        write(on_b, push, add(far, cross(w, rotate_back(B, push))))
        if a < plan.bodies.mass.size:
            start_push(ws.residual_body[a], -1.0, on_a, work.tangent[a])
        if b < plan.bodies.mass.size:
            start_push(ws.residual_body[b], -1.0, on_b, work.tangent[b])


@njit(inline="always")
def _evaluate(plan, ws, m, s, r, value, rate, half_step):
    """Evaluate the laws along measure m, the only one of sum s, and write the residual of its row r.

    To ``ws.efforts`` (``value``, and the sum with multiplier / ``half_step`` in ``ws.efforts.sum_effort``) and
    ``ws.residual_row``.
    """
    work = ws.efforts
    work.value[m] = value
    evaluate_along(plan, work, s, value, rate, half_step)
    ws.residual_row[r] = ws.multiplier[r] - half_step * work.sum_effort[s]
    work.sum_effort[s] = ws.multiplier[r] / half_step


@indirect(seconds=2, what=WHAT)
def stiffen_beams(plan: Plan, ws: Workspace, upper: int, end: int, h: float, factored: bool) -> None:
    """Write the elements' rows of Newton's matrix, and add their geometric stiffness to ``ws.ldu.D``.

    After `apply_beams`.
    """
    if factored:
        return
    work, measures, nb, zero = ws.efforts, plan.measures, plan.bodies.mass.size, ZERO
    upper, lower, half_step = natural(upper), natural(end), 0.5 * h
    for n in range(plan.beams.first.size):
        m, s = natural(plan.beams.first[n]), natural(plan.beams.sum[n])
        side = natural(measures.first[m])
        a, b = natural(measures.body[m, side]), natural(measures.body[m, natural(1 - side)])
        x_a, A, x_b, B = work.position[a], work.rotation[a], work.position[b], work.rotation[b]
        k, reach, w = half_turn(plan, m, A, B), lever(plan, m, x_a, A, x_b, B), vector(measures.w[m])
        d = sub(reach, vector(measures.v[m]))
        rho, f = turn_of_half(k)
        for j in range(SIZE):
            r = natural(plan.compliant.row[SIZE * n + j])
            if j < 3:
                e = to_middle(k, vector(measures.u[m + j]))
                z, along, force = torque_of(k, d, e), rotate(A, e), e
                near = add(cross(reach, force), z)
                far = add(rotate_back(B, rotate(A, z)), cross(w, rotate_back(B, along)))
            else:
                near = by_rotation(vector(measures.v[m + j]), rho, f)
                along, far = zero, rotate_back(B, rotate(A, near))
            factors = -half_step * half_step * work.sum_by_value[s + j], -half_step * work.sum_by_rate[s + j]
            up, low, side_a, side_b = ws.jacobian[upper, r], ws.jacobian[lower, r], side, natural(1 - side)
            if a < nb:
                push = scale(-1.0, along), scale(-1.0, near)
                write_rows(push, work.tangent[a], factors, up[side_a], low[side_a])
            if b < nb:
                write_rows((along, far), work.tangent[b], factors, up[side_b], low[side_b])
        share, F, L = -half_step, vector(work.push[n, 1]), rotate(A, d)
        if a < nb:
            _add_geometric(ws.ldu.D[a], A, F, L, share, -0.5)
        if b < nb:
            _add_geometric(ws.ldu.D[b], B, F, L, share, 0.5)


@njit
def _add_geometric(D, R, F, L, share, half):
    """Add ``share`` times the geometric stiffness of one body to ``D`` (6, 6), ``half`` = s / 2.

    ``R`` (3, 3): body to world.
    """
    along = -0.25 * dot(F, L)
    f, l = rotate_back(R, F), rotate_back(R, L)
    for k in range(3):
        turned = scale(
            share * half, cross((R[0, k], R[1, k], R[2, k]), F)
        )  # change of the force by a rotation about the body's axis k
        for j in range(3):
            D[j, 3 + k] += turned[j]
            D[3 + k, j] += turned[j]
            D[3 + j, 3 + k] += share * (0.125 * (l[j] * f[k] + f[j] * l[k]) + (along if j == k else 0.0))


@njit
def _strain_ends(plan, ws, n, pose):
    """Write the values of element n at ``pose`` of ``ws`` to ``ws.efforts.sum_at``."""
    m, s, measures = natural(plan.beams.first[n]), natural(plan.beams.sum[n]), plan.measures
    x_a, A, x_b, B = ends_of(plan, m, ws.position[pose], ws.rotation[pose])
    k, out = half_turn(plan, m, A, B), ws.efforts.sum_at[pose]
    d = to_middle(scale(-1.0, k), sub(lever(plan, m, x_a, A, x_b, B), vector(measures.v[m])))
    rho, _ = turn_of_half(k)
    for j in range(3):
        out[s + j] = dot(vector(measures.u[m + j]), d) - measures.c[m + j]
        out[s + 3 + j] = dot(vector(measures.v[m + 3 + j]), rho)


@indirect(seconds=2, what=WHAT)
def finish_beams(plan: Plan, ws: Workspace, start: int, end: int, h: float) -> None:
    """Do `efforts.finish_efforts` for the elements, before it changes ``ws.efforts.summed``."""
    work, start = ws.efforts, natural(start)
    known = work.summed[0] == start + 1
    for n in range(plan.beams.first.size):
        if not known:
            _strain_ends(plan, ws, n, start)
        _strain_ends(plan, ws, n, natural(1 - start))
        m, first = natural(plan.beams.first[n]), natural(plan.beams.sum[n])
        for j in range(SIZE):
            finish_laws(plan, ws, first + j, start, h)
            work.value_near[m + j] = work.value[m + j]
        side = natural(plan.measures.first[m])
        for far in range(2):
            i = natural(plan.measures.body[m, natural(1 - side) if far else side])
            if i < plan.bodies.mass.size:
                finish_push(ws, i, 1.0, work.push[n, far])
