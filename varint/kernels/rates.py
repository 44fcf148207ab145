"""Rows of rates, A(q) v = 0, in a step: the discrete principle of Lagrange and d'Alembert (docs/theory.md section 13).

The impulses of a step act along the rows A at its start, as those of joints. In place of a value at its end a row has a
displacement over the step that vanishes. With the poses of body b seen from a, the directions s and m of the row in
axes of a at the start, s' and m' at the end, the displacement dc of its point and the quaternion (cos, sin n) of half
the turn phi of b,

    value = (s + s') / 2 . dc + (m + m') / 2 . 2 sin(phi / 2) n

It changes its sign where both ends change places, so the step is symmetric, and depends on the relative poses alone, so
momentum is conserved. A step between the world and a body turns it by h w = 2 sin(phi / 2) n.
"""

from varint._numba import indirect, njit, switch
from varint.algebra.quaternion import multiply
from varint.algebra.vectors import add, cross, dot, rotate, rotate_back, scale, sub, vector, write
from varint.kernels.measures import KIND_NAMES, measure_at
from varint.kernels.plan import Plan, Workspace
from varint.measures import KINDS

_rates = [KINDS[name].rates for name in KIND_NAMES]
_AT = "plan, m, A, B"
_directions = switch("directions", _AT, [(each[0], f"function({_AT})") if each else None for each in _rates])
_PULLED = "plan, m, e, moved, turned"
_pulled = switch("pulled", _PULLED, [(each[1], f"function({_PULLED})") if each else None for each in _rates])


@njit
def place_rates(plan, ws, pose):
    """Write the rows of rates at a pose to its Jacobian, in place of the derivatives of a step's values."""
    for n in range(plan.constraints.rate.size):
        r = plan.constraints.rate[n]
        if ws.compliance[r] == 0.0:
            measure_at(plan, ws, r, ws.position[pose], ws.rotation[pose], ws.jacobian[pose, r])


@njit
def _seen(x_a, A, x_b, B, w):
    """The point ``w`` of b, axes of b, seen from a."""
    return rotate_back(A, add(sub(vector(x_b), vector(x_a)), rotate(B, w)))


@njit
def _conjugate(q):
    return q[0], -q[1], -q[2], -q[3]


@indirect(seconds=1, what="rolling without slip")
def evaluate_rates(plan: Plan, ws: Workspace, start: int, end: int) -> None:
    """Values of the rows of rates over a step, m, to ``ws.residual_row``; derivatives by the pose ``end`` to its
    Jacobian."""
    for n in range(plan.constraints.rate.size):
        r = plan.constraints.rate[n]
        if ws.compliance[r] > 0.0:
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
        sign = 1.0 if turn[0] >= 0.0 else -1.0
        c, v = sign * turn[0], (sign * turn[1], sign * turn[2], sign * turn[3])
        turned = scale(2.0, v)
        kind = plan.measures.kind[r]
        s, m, _ = _directions(kind, plan, r, A, B)
        s_end, m_end, direction = _directions(kind, plan, r, A_end, B_end)
        s, m = scale(0.5, add(s, s_end)), scale(0.5, add(m, m_end))
        ws.residual_row[r] = dot(s, moved) + dot(m, turned)
        # by the place of the point, by the turn (2 dv = c dtheta + v x dtheta), and by s' and m'
        by_direction = scale(0.5, _pulled(kind, plan, r, direction, moved, turned))
        across = cross(m, v)
        near = sub(sub(cross(s, there), sub(scale(c, m), across)), by_direction)
        n_end = rotate(A_end, s)
        far = add(cross(w, rotate_back(B_end, n_end)), rotate_back(B, rotate(A, add(scale(c, m), across))))
        far = add(far, rotate_back(B_end, rotate(A_end, by_direction)))
        write(ws.jacobian[end, r, first], scale(-1.0, n_end), near)
        write(ws.jacobian[end, r, 1 - first], n_end, far)
