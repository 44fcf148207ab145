"""Newton's matrix of a collocation step (steps.py): elimination of the bodies from the leaves on, in O(nb q^3).

Wrenches of a body at the nodes j = 0 .. q - 1 depend on its motions x at the nodes k = 1 .. q, W = D x + w, once all it
carries is eliminated. With the free motion N = (axis x offset, axis) of its hinge at the nodes, the rigid motion T
over the arm from the parent, the derivative K of the moment along the axis by the motion that moves them, and that of
the laws along the angle, L,

    E = N^T D N + K N + L    V = E^-1 (N^T D + K)    x = T x_p + N z    z = -E^-1 (open + N^T w) - V T x_p
    D_p += T^T (D - U V) T,    w_p += T^T (w + U z_0),    U = D N,  z_0 = z for x_p = 0

Motions of node j are those of number j - 1 in arrays of q, and wrenches of node 0 have no motion: the start is fixed.
"""

from varint.base.numba import natural, njit
from varint.mathematics.vectors import add, cross, dot, scale, sub, turn_of, vector, write
from varint.step.dense import add_scaled6, dot6


@njit
def _own_blocks(tree, rule, work, h, i):
    """Write D of body i alone."""
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
def _free_motion(work, j, i):
    axis = vector(work.axis[j, i])
    return cross(axis, vector(work.offset[j, i])), axis


@njit(inline="always")
def _moment_change(work, j, i):
    """K of node j: the change of the moment along the axis with the motion of body i, as its six factors."""
    axis, offset, force = vector(work.axis[j, i]), vector(work.offset[j, i]), vector(work.carried[j, i])
    push = cross(force, axis)
    return scale(-1.0, push), add(cross(offset, push), cross(axis, vector(work.moment[j, i])))


@njit
def _write_hinge_blocks(work, i, q):
    """U, the rows N^T D + K in V, and E of body i."""
    for j in range(q):
        line, turn = _free_motion(work, j, i)
        for k in range(q):
            D, V = work.D[i, j * q + k], work.V[i, j * q + k]
            for b in range(6):
                V[b] = (
                    D[0, b] * line[0] + D[1, b] * line[1] + D[2, b] * line[2]
                    + D[3, b] * turn[0] + D[4, b] * turn[1] + D[5, b] * turn[2]
                )  # fmt: skip
        if j > 0:
            V, (force, torque) = work.V[i, j * q + j - 1], _moment_change(work, j, i)
            write(V, add(vector(V), force), add(turn_of(V), torque))
    for k in range(q):
        line, turn = _free_motion(work, k + 1, i)
        for j in range(q):
            D, U, V = work.D[i, j * q + k], work.U[i, j * q + k], work.V[i, j * q + k]
            for a in range(6):
                U[a] = (
                    D[a, 0] * line[0] + D[a, 1] * line[1] + D[a, 2] * line[2]
                    + D[a, 3] * turn[0] + D[a, 4] * turn[1] + D[a, 5] * turn[2]
                )  # fmt: skip
            work.E[i, j, k] = dot(vector(V), line) + dot(turn_of(V), turn)


@njit
def _add_laws(rule, work, i, q):
    """Add L, of the laws along the angle of body i's hinge, to E."""
    for j in range(q):
        for k in range(q):
            work.E[i, j, k] += work.damp[j, i] * rule.slope[j, k + 1]
        if j > 0:
            work.E[i, j, j - 1] += work.stiff[j, i]


@njit
def _invert(E, q):
    """Replace E (q, q) by its inverse. Its leading minors are near those of S, which are not zero: no pivoting."""
    for c in range(q):
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
    """Replace V of body i by E^-1 V."""
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
    """Add T^T (D - U V) T of body i to D of its parent."""
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
    write(out, add(vector(out), scale(f, line)), add(turn_of(out), scale(f, turn)))


@njit
def eliminate(tree, rule, work, h):
    """Factor Newton's matrix at the present iterate: U, V and E of all bodies."""
    nb, q = tree.mass.size, rule.weight.size - 1
    for i in range(nb):
        _own_blocks(tree, rule, work, h, i)
    for i in range(nb - 1, -1, -1):
        p = natural(tree.parent[i])
        _write_hinge_blocks(work, i, q)
        if tree.hinge.size:
            _add_laws(rule, work, i, q)
        _invert(work.E[i], q)
        if p < nb:
            _over_pivots(work, i, q)
            _add_to_parent(work, i, p, q)


@njit
def solve_turns(tree, work):
    """Write the increments of the angles to ``work.turn``, by the factors at hand. Returns the largest, rad."""
    nb, q = work.turn.shape
    work.motion[:] = 0.0
    for i in range(nb - 1, -1, -1):
        p, z = natural(tree.parent[i]), work.turn[i]
        z[:] = 0.0
        for j in range(q):
            line, turn = _free_motion(work, j, i)
            w = work.motion[i, j]
            given = work.open[j, i] + dot(line, vector(w)) + dot(turn, turn_of(w))
            for k in range(q):
                z[k] -= work.E[i, k, j] * given
        if p < nb:
            for j in range(q):
                w = work.motion[i, j]
                for k in range(q):
                    add_scaled6(w, z[k], work.U[i, j * q + k])
                arm = sub(vector(work.position[j, i]), vector(work.position[j, p]))
                _add_row(work.motion[p, j], 1.0, vector(w), add(turn_of(w), cross(arm, vector(w))))
    largest = 0.0
    for i in range(nb):
        p, z = natural(tree.parent[i]), work.turn[i]
        for k in range(q):
            x = work.motion[i, k]
            if p < nb:
                above = work.motion[p, k]
                arm = sub(vector(work.position[k + 1, i]), vector(work.position[k + 1, p]))
                write(x, add(vector(above), cross(turn_of(above), arm)), turn_of(above))
                for j in range(q):
                    z[j] -= dot6(work.V[i, j * q + k], x)
            else:
                x[:] = 0.0
        for k in range(q):
            line, turn = _free_motion(work, k + 1, i)
            _add_row(work.motion[i, k], z[k], line, turn)
            largest = max(largest, abs(z[k]))
    return largest
