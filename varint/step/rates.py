"""Nonholonomic rows, A(q) v = 0, in a step: the discrete Lagrange-d'Alembert principle (docs/theory.md section 13).

The impulses of a step act along the rows A at its start, as for joints. A row of a joint has its value at the end set
to zero; here it is a displacement over the step. All is relative to a, in axes of a: the directions s and m of the row
at the start, s' and m' at the end, the displacement dc of its point, and the rotation of b by phi about n,

    value = (s + s') / 2 . dc + (m + m') / 2 . 2 sin(phi / 2) n

Exchanging start and end changes its sign, so the step is symmetric. It depends on relative poses alone, so momentum is
conserved. Where a is the world, 2 sin(phi / 2) n is h times the angular velocity of the step.
"""

from varint.base.numba import indirect, njit, switch
from varint.mathematics.quaternion import multiply
from varint.mathematics.vectors import add, cross, dot, rotate, rotate_back, scale, sub, vector, write
from varint.measures import KINDS
from varint.step.formulas import evaluate_formula_rate, is_formula
from varint.step.measures import KIND_NAMES, measure_at
from varint.step.plan import Plan, Workspace
from varint.step.role import Role

_rates = [KINDS[name].rates for name in KIND_NAMES]
_AT = "plan, m, A, B"
_directions = switch("directions", _AT, [(each[0], f"function({_AT})") if each else None for each in _rates])
_PULLED = "plan, m, e, moved, turned"
_pulled = switch("pulled", _PULLED, [(each[1], f"function({_PULLED})") if each else None for each in _rates])


@indirect(seconds=1, what="rolling without slip")
def place_rates(plan: Plan, ws: Workspace, start: int, end: int, h: float) -> None:
    """Write A at the end of a step to ``ws.jacobian[end]``, where `evaluate_rates` left other derivatives."""
    for n in range(plan.constraints.rate.size):
        r = plan.constraints.rate[n]
        if ws.released[r] == 0.0:
            measure_at(plan, ws, r, ws.position[end], ws.rotation[end], ws.jacobian[end, r])


@njit
def _seen(x_a, A, x_b, B, w):
    """Return the position of the point ``w`` (axes of b) in the frame of a."""
    return rotate_back(A, add(sub(vector(x_b), vector(x_a)), rotate(B, w)))


@njit
def _conjugate(q):
    return q[0], -q[1], -q[2], -q[3]


@indirect(seconds=1, what="rolling without slip")
def evaluate_rates(plan: Plan, ws: Workspace, start: int, end: int, h: float) -> None:
    """Write the values of the rows over a step, m, to ``ws.residual_row``; derivatives to ``ws.jacobian[end]``."""
    for n in range(plan.constraints.rate.size):
        r = plan.constraints.rate[n]
        if ws.released[r] > 0.0:
            continue
        if is_formula(plan, r):
            evaluate_formula_rate(plan, ws, r, start, end)
            continue
        first = plan.measures.first[r]
        a, b, w = plan.measures.body[r, first], plan.measures.body[r, 1 - first], vector(plan.measures.w[r])
        A, B, A_end, B_end = ws.rotation[start, a], ws.rotation[start, b], ws.rotation[end, a], ws.rotation[end, b]
        here = _seen(ws.position[start, a], A, ws.position[start, b], B, w)
        there = _seen(ws.position[end, a], A_end, ws.position[end, b], B_end, w)
        moved = sub(there, here)
        # the turn of b seen from a, axes of a: q_a'^* q_b' (q_a^* q_b)^*
        before = multiply(_conjugate(ws.quat[start, a]), ws.quat[start, b])
        turn = multiply(multiply(_conjugate(ws.quat[end, a]), ws.quat[end, b]), _conjugate(before))
        sign = 1.0 if turn[0] >= 0.0 else -1.0  # the shorter rotation
        c, v = sign * turn[0], (sign * turn[1], sign * turn[2], sign * turn[3])
        turned = scale(2.0, v)
        kind = plan.measures.kind[r]
        s, m, _ = _directions(kind, plan, r, A, B)
        s_end, m_end, direction = _directions(kind, plan, r, A_end, B_end)
        s, m = scale(0.5, add(s, s_end)), scale(0.5, add(m, m_end))
        ws.residual_row[r] = dot(s, moved) + dot(m, turned)
        # gradients by the point, by the rotation (2 dv = c dtheta + v x dtheta), and by s' and m'
        by_direction = scale(0.5, _pulled(kind, plan, r, direction, moved, turned))
        across = cross(m, v)
        near = sub(sub(cross(s, there), sub(scale(c, m), across)), by_direction)
        n_end = rotate(A_end, s)
        # a rotation of b at the end acts on ``turn`` from the right: hence the axes at the start
        far = add(cross(w, rotate_back(B_end, n_end)), rotate_back(B, rotate(A, add(scale(c, m), across))))
        far = add(far, rotate_back(B_end, rotate(A_end, by_direction)))
        write(ws.jacobian[end, r, first], scale(-1.0, n_end), near)
        write(ws.jacobian[end, r, 1 - first], n_end, far)


RATES = Role(lambda plan: plan.constraints.rate.size, {"residual": evaluate_rates, "finish": place_rates}, double=False)
