"""Newton's matrix of a collocation step (steps.py): elimination of the bodies from the leaves on, in O(nb q^3).

Wrenches of a body at the nodes j = 0 .. q - 1 depend on its motions x at the nodes k = 1 .. q, W = D x + w, once all it
carries is eliminated. With its free motion N at the nodes, (axis x offset, axis) of a turn, (axis, 0) of a slide, and
of a screw the first and pitch times the second, the rigid motion T over the arm from the parent, the derivative K of
N^T W by the motion that moves N, and that of the laws along the coordinate, L,

    E = N^T D N + K N + L    V = E^-1 (N^T D + K)    x = T x_p + N z    z = -E^-1 (open + N^T w) - V T x_p
    D_p += T^T (D - U V) T,    w_p += T^T (w + U z_0),    U = D N,  z_0 = z for x_p = 0

A link without mass adds nothing to D. Closures are eliminated before the body at their top (closures.py).

Motions of node j are those of number j - 1 in arrays of q, and wrenches of node 0 have no motion: the start is fixed.
"""

from varint.base.numba import natural, njit
from varint.mathematics.vectors import add, cross, dot, scale, sub, turn_of, vector, write
from varint.step.collocation.closures import (
    factor_closures,
    find_multipliers,
    free_motion,
    lift_closures,
    pass_closures,
    pass_values,
    solve_closures,
    start_fills,
    yield_turns,
)
from varint.step.collocation.conditions_on_rates import fill_rates
from varint.step.collocation.effort_blocks import add_along
from varint.step.collocation.end_rates import damp_blocks
from varint.step.collocation.friction import rub_fills
from varint.step.collocation.records import SCREW, SLIDE, WELD
from varint.step.dense import add_scaled6, dot6


@njit
def _own_blocks(tree, rule, work, h, i):
    """Write D (q q, 6, 6) of link i alone."""
    # a turn t of R_k turns T_j by S_jk (tr P - P^T) t with P = R_j Q R_k^T; one of R_j by (A_j - tr A_j) t
    q = rule.weight.size - 1
    for j in range(q):
        spread = work.spread[j, i]
        for k in range(q):
            D, f, R = work.D[i, j * q + k], rule.stiffness[j, k + 1] / h, work.rotation[k + 1, i]
            D[:] = 0.0
            trace = 0.0
            for a in range(3):
                D[a, a] = f * tree.mass[i]
                for b in range(3):
                    P = spread[a, 0] * R[b, 0] + spread[a, 1] * R[b, 1] + spread[a, 2] * R[b, 2]
                    D[3 + b, 3 + a] = -f * P
                    if a == b:
                        trace += P
            along = f * trace
            if j == k + 1:
                A, F = work.tilt[j, i], work.wrench[j, i]
                along -= A[0, 0] + A[1, 1] + A[2, 2]
                for a in range(3):
                    for b in range(3):
                        D[3 + a, 3 + b] += A[a, b]
                D[3, 1], D[3, 2] = F[2], -F[1]  # moments are about a point that stays: shift x force
                D[4, 0], D[4, 2] = -F[2], F[0]
                D[5, 0], D[5, 1] = F[1], -F[0]
            for a in range(3):
                D[3 + a, 3 + a] += along


@njit(inline="always")
def _turned_motion(tree, work, j, i):
    """K of node j: the change of what is open by the free motion that moves with link i, as factors (3,), (3,)."""
    axis, offset, force = vector(work.axis[j, i]), vector(work.offset[j, i]), vector(work.carried[j, i])
    if tree.motion[i] == SLIDE:
        return (0.0, 0.0, 0.0), cross(axis, force)
    push = cross(force, axis)
    turn = add(cross(offset, push), cross(axis, vector(work.moment[j, i])))
    if tree.motion[i] == SCREW:
        turn = add(turn, scale(-tree.pitch[i], push))
    return scale(-1.0, push), turn


@njit
def _write_link_blocks(tree, work, i, q):
    """Write U (q q, 6), the rows N^T D + K in V (q q, 6), and E (q, q) of link i."""
    for j in range(q):
        line, turn = free_motion(tree, work, j, i)
        for k in range(q):
            D, V = work.D[i, j * q + k], work.V[i, j * q + k]
            for b in range(6):
                V[b] = (
                    D[0, b] * line[0] + D[1, b] * line[1] + D[2, b] * line[2]
                    + D[3, b] * turn[0] + D[4, b] * turn[1] + D[5, b] * turn[2]
                )  # fmt: skip
        if j > 0:
            V, (force, torque) = work.V[i, j * q + j - 1], _turned_motion(tree, work, j, i)
            write(V, add(vector(V), force), add(turn_of(V), torque))
    for k in range(q):
        line, turn = free_motion(tree, work, k + 1, i)
        for j in range(q):
            D, U, V = work.D[i, j * q + k], work.U[i, j * q + k], work.V[i, j * q + k]
            for a in range(6):
                U[a] = (
                    D[a, 0] * line[0] + D[a, 1] * line[1] + D[a, 2] * line[2]
                    + D[a, 3] * turn[0] + D[a, 4] * turn[1] + D[a, 5] * turn[2]
                )  # fmt: skip
            work.E[i, j, k] = dot(vector(V), line) + dot(turn_of(V), turn)


@njit
def _invert(E, q):
    """Replace E (q, q) by its inverse. Leading minors of S, with damping of any size too, are not zero: no pivoting."""
    for c in range(q):
        _clear_column(E, c, q)


@njit
def invert_any(E, order, q):
    """Replace E (q, q) by its inverse, with partial pivoting: what closures hold may have any minors.

    ``order`` (q or more,): scratch.
    """
    for c in range(q):
        best = c
        for j in range(c + 1, q):
            if abs(E[j, c]) > abs(E[best, c]):
                best = j
        order[c] = best
        for k in range(q):
            E[c, k], E[best, k] = E[best, k], E[c, k]
        _clear_column(E, c, q)
    for c in range(q - 1, -1, -1):
        best = int(order[c])
        for j in range(q):
            E[j, c], E[j, best] = E[j, best], E[j, c]


@njit(inline="always")
def _clear_column(E, c, q):
    """Take one step of the inversion in place of E (q, q), with the pivot (c, c)."""
    f = 1.0 / E[c, c]
    E[c, c] = 1.0
    for k in range(q):
        E[c, k] *= f
    for j in range(q):
        if j != c:
            g = E[j, c]
            E[j, c] = 0.0
            for k in range(q):
                E[j, k] -= g * E[c, k]


@njit
def _over_pivots(work, i, q):
    """Replace V (q q, 6) of link i by E^-1 V."""
    nb = work.E.shape[0]
    for k in range(q):
        for j in range(q):
            out = work.U[nb, j]
            out[:] = 0.0
            for m in range(q):
                add_scaled6(out, work.E[i, j, m], work.V[i, m * q + k])
        for j in range(q):
            write(work.V[i, j * q + k], vector(work.U[nb, j]), turn_of(work.U[nb, j]))


@njit
def _add_to_parent(work, i, p, q):
    """Add T^T (D - U V) T of link i to D (q q, 6, 6) of its parent."""
    for j in range(q):
        arm = sub(vector(work.position[j, i]), vector(work.position[j, p]))
        for k in range(q):
            e = sub(vector(work.position[k + 1, i]), vector(work.position[k + 1, p]))
            D, out = work.D[i, j * q + k], work.D[p, j * q + k]
            for a in range(6):
                x0, x1, x2, x3, x4, x5 = D[a, 0], D[a, 1], D[a, 2], D[a, 3], D[a, 4], D[a, 5]
                for m in range(q):
                    f, v = work.U[i, j * q + m, a], work.V[i, m * q + k]
                    x0, x1, x2 = x0 - f * v[0], x1 - f * v[1], x2 - f * v[2]
                    x3, x4, x5 = x3 - f * v[3], x4 - f * v[4], x5 - f * v[5]
                line, turn = (x0, x1, x2), add((x3, x4, x5), cross(e, (x0, x1, x2)))
                _add_row(out[a], 1.0, line, turn)
                if a == 0:
                    _add_row(out[4], arm[2], line, turn)
                    _add_row(out[5], -arm[1], line, turn)
                elif a == 1:
                    _add_row(out[3], -arm[2], line, turn)
                    _add_row(out[5], arm[0], line, turn)
                elif a == 2:
                    _add_row(out[3], arm[1], line, turn)
                    _add_row(out[4], -arm[0], line, turn)


@njit(inline="always")
def _add_row(out, f, line, turn):
    """Add a factor times (line, turn), each (3,), to ``out`` (6,)."""
    write(out, add(vector(out), scale(f, line)), add(turn_of(out), scale(f, turn)))


@njit
def eliminate(plan, ws, tree, closures, rule, work, h):
    """Factor Newton's matrix at the present iterate: U, V (q q, 6), E (q, q) of all links, and the closures."""
    nl, q, closed = tree.mass.size, rule.weight.size - 1, closures.rows[1] > closures.rows[0]
    for i in range(nl):
        if tree.mass[i] > 0.0:
            _own_blocks(tree, rule, work, h, i)
        else:
            work.D[i] = 0.0
    if work.ends.any[0]:
        damp_blocks(plan, tree, rule, work)
    if closed:
        start_fills(plan, tree, closures, rule, work)
        if closures.rated.size:
            fill_rates(plan, closures, rule, work)
        if closures.rubs.size:
            rub_fills(plan, ws, closures, rule, work)
    for i in range(nl - 1, -1, -1):
        p, b = natural(tree.parent[i]), natural(tree.body[i])
        if closed and tree.link[b] == i:
            factor_closures(plan, tree, closures, work, b)
        if tree.motion[i] != WELD:
            _write_link_blocks(tree, work, i, q)
            if tree.along.size:
                add_along(rule, work, i, q)
            if closed:
                invert_any(work.E[i], work.V[nl, 0], q)
            else:
                _invert(work.E[i], q)
            if p < nl:
                _over_pivots(work, i, q)
            if closed:
                pass_closures(plan, tree, closures, work, i, b)
        if p < nl:
            _add_to_parent(work, i, p, q)
        if closed:
            lift_closures(plan, tree, work, i, b)
    if closed:
        factor_closures(plan, tree, closures, work, tree.link.size)


@njit
def solve_turns(plan, tree, closures, work):
    """Write the increments of the coordinates to ``work.turn`` (nl, q), by the factors at hand. Returns the largest.

    Those of the closures' multipliers go to ``work.closures.row``, where the values of the rows are.
    """
    nl, q = work.turn.shape
    closed = closures.rows[1] > closures.rows[0]
    work.motion[:] = 0.0
    for i in range(nl - 1, -1, -1):
        p, z, b = natural(tree.parent[i]), work.turn[i], natural(tree.body[i])
        if closed and tree.link[b] == i:
            solve_closures(plan, tree, closures, work, b)
        z[:] = 0.0
        for j in range(q):
            line, turn = free_motion(tree, work, j, i)
            w = work.motion[i, j]
            given = work.open[j, i] + dot(line, vector(w)) + dot(turn, turn_of(w))
            for k in range(q):
                z[k] -= work.E[i, k, j] * given
        if closed:
            pass_values(plan, closures, work, i, b)
        if p < nl:
            for j in range(q):
                w = work.motion[i, j]
                for k in range(q):
                    add_scaled6(w, z[k], work.U[i, j * q + k])
                arm = sub(vector(work.position[j, i]), vector(work.position[j, p]))
                _add_row(work.motion[p, j], 1.0, vector(w), add(turn_of(w), cross(arm, vector(w))))
    if closed:
        solve_closures(plan, tree, closures, work, tree.link.size)
        find_multipliers(plan, tree, closures, work, tree.link.size)
    largest = 0.0
    for i in range(nl):
        p, z, b = natural(tree.parent[i]), work.turn[i], natural(tree.body[i])
        for k in range(q):
            x = work.motion[i, k]
            if p < nl:
                above = work.motion[p, k]
                arm = sub(vector(work.position[k + 1, i]), vector(work.position[k + 1, p]))
                write(x, add(vector(above), cross(turn_of(above), arm)), turn_of(above))
                for j in range(q):
                    z[j] -= dot6(work.V[i, j * q + k], x)
            else:
                x[:] = 0.0
        if closed:
            yield_turns(plan, closures, work, i, b)
        for k in range(q):
            line, turn = free_motion(tree, work, k + 1, i)
            _add_row(work.motion[i, k], z[k], line, turn)
            largest = max(largest, abs(z[k]) / tree.unit[i])
        if closed and tree.link[b] == i:
            find_multipliers(plan, tree, closures, work, b)
    return largest
