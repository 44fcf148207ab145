"""The curvature of all rows between two bodies, times their multipliers, as one matrix (12, 12).

With G the gradient of the sum of the rows, x and t the translations and rotation vectors of the bodies a and b of a
pair, and K its curvature, the curvature of a measure (measures/base.py) along rotations of one body is worked out, for
each row, and the rest follows. A measure does not change where both bodies move together, but for functions of users,
which are left to formulas.py. Along a translation of both its gradient stays, and G_x of one body is that of the other
with the other sign, so

    K(., x_b) = - K(., x_a)        K(x_b, .) = - K(x_a, .)        K(t, x) = K(x, t)^T        K(x, x): see `_along_x`

Along a rotation of both about the centre of a, by w in the world, b moves by w x d, d from a to b, G_x turns by w and
G_t stays; A, B: the rotation matrices. So

    K(x_a, t_b) B^T w = w x G_xa - K(x_a, x_b) (w x d) - K(x_a, t_a) A^T w
    K(t, t_b)   B^T w =          - K(t, x_b)   (w x d) - K(t, t_a)   A^T w        of t_a, and of t_b
"""

from varint.base.numba import njit
from varint.mathematics.vectors import cross, sub, vector
from varint.step.derivatives.wide import NOTHING, dot_wide, eight, plus, put
from varint.step.formulas import is_formula
from varint.step.measures import BENDS, curve_transposed, pair_of, weighted_curvature
from varint.step.roles import curve_roles


@njit
def curve_pairs(plan, ws, work, pose):
    """Write the matrices of all pairs of bodies at a pose, which is placed, to ``work.curve`` of a `Tangent`."""
    nb = plan.bodies.mass.size
    for p in range(work.pair.shape[0]):
        W, (one, other) = work.curve[p], (work.pair[p, 0], work.pair[p, 1])
        W[:] = 0.0
        a = 0 if one < nb else 1
        pulled = False
        pull = (0.0, 0.0, 0.0)
        for r in range(work.pair_row[p], work.pair_row[p + 1]):
            if ws.released[r] > 0.0 or ws.multiplier[r] == 0.0 or is_formula(plan, r):
                continue
            pulled = True
            g, f = ws.jacobian[pose, r, a], ws.multiplier[r]
            pull = (pull[0] + f * g[0], pull[1] + f * g[1], pull[2] + f * g[2])
            _along_t(plan, ws, r, pose, a, W)
            _along_x(plan, ws, r, pose, a, W)
        if not pulled:
            continue
        x = 6 * a
        for i in range(3):
            for k in range(3):
                W[x + 3 + k, x + i] = W[x + i, x + 3 + k]
        if one < nb and other < nb:
            _fill(W, ws.position[pose], ws.rotation[pose], one, other, pull)


@njit
def _along_t(plan, ws, r, pose, side, W):
    """Add the curvature of row r along rotations of its body ``side``, times the multiplier, to ``W`` (12, 12).

    Scratch: ``ws.efforts.motion``, ``ws.efforts.change``.
    """
    motion, change = ws.efforts.motion, ws.efforts.change
    motion[:] = 0.0
    for k in range(3):
        motion[side, 3 + k] = 1.0
        weighted_curvature(plan, ws, r, ws.position[pose], ws.rotation[pose], motion, change)
        motion[side, 3 + k] = 0.0
        for e in range(2):
            for i in range(6):
                W[6 * e + i, 6 * side + 3 + k] += ws.multiplier[r] * change[e, i]


@njit
def _along_x(plan, ws, r, pose, side, W):
    """Add K(x, x) of row r to ``W`` (12, 12), likewise; zero if translations do not change the gradient by them.

    Scratch: ``ws.efforts.motion``, ``ws.efforts.change``.
    """
    if not BENDS[plan.measures.kind[r]]:
        return
    motion, change = ws.efforts.motion, ws.efforts.change
    motion[:] = 0.0
    for k in range(3):
        motion[side, k] = 1.0
        weighted_curvature(plan, ws, r, ws.position[pose], ws.rotation[pose], motion, change)
        motion[side, k] = 0.0
        for i in range(3):
            W[6 * side + i, 6 * side + k] += ws.multiplier[r] * change[side, i]


@njit
def _fill(W, position, rotation, a, b, pull):
    """Complete the matrix ``W`` (12, 12) of the bodies a, side 0, and b, side 1: the columns of a, and K(t_b, t_a).

    ``position`` (nb + 1, 3), ``rotation`` (nb + 1, 3, 3) of the bodies; ``pull`` (3,): G_xa.
    """
    for i in range(3):
        for k in range(3):
            W[6 + i, k] = W[i, 6 + k] = -W[i, k]
            W[6 + i, 6 + k] = W[i, k]
            W[3 + i, 6 + k] = -W[3 + i, k]
            W[6 + i, 3 + k] = -W[i, 3 + k]
    A, B, apart = rotation[a], rotation[b], sub(vector(position[b]), vector(position[a]))
    for k in range(3):
        w = (B[0, k], B[1, k], B[2, k])
        moved, pulled = cross(w, apart), cross(w, pull)
        back = (
            A[0, 0] * w[0] + A[1, 0] * w[1] + A[2, 0] * w[2],
            A[0, 1] * w[0] + A[1, 1] * w[1] + A[2, 1] * w[2],
            A[0, 2] * w[0] + A[1, 2] * w[1] + A[2, 2] * w[2],
        )
        for i in range(6):
            total = pulled[i] if i < 3 else 0.0
            for j in range(3):
                total -= W[i, 6 + j] * moved[j] + W[i, 3 + j] * back[j]
            W[i, 9 + k] = total
        for i in range(3):
            W[6 + i, 9 + k] = -W[i, 9 + k]
            W[9 + k, 6 + i], W[9 + k, i] = W[6 + i, 9 + k], W[i, 9 + k]
    for k in range(3):
        w = (B[0, k], B[1, k], B[2, k])
        moved = cross(w, apart)
        for i in range(9, 12):
            total = 0.0
            for j in range(3):
                turned = A[0, j] * w[0] + A[1, j] * w[1] + A[2, j] * w[2]
                total -= W[i, 6 + j] * moved[j] + W[i, 3 + j] * turned
            W[i, 9 + k] = total


@njit
def bend_rows(plan, ws, work, pose):
    """Write the changes of the rates of rows, by motions of their two bodies, to ``work.bend`` (nr, 12).

    Of the rates at ``ws.velocity``.
    """
    motion, change = ws.efforts.motion, ws.efforts.change
    for r in range(work.bend.shape[0]):
        bend = work.bend[r]
        bend[:] = 0.0
        if ws.released[r] > 0.0:
            continue
        pair_of(plan, r, ws.velocity, motion)
        at = ws.position[pose], ws.rotation[pose]
        curve_transposed(plan, ws, r, at[0], at[1], ws.jacobian[pose, r], motion, change)
        for s in range(2):
            if plan.measures.body[r, s] < ws.velocity.shape[0]:
                for k in range(6):
                    bend[6 * s + k] = change[s, k]


@njit
def add_curved(plan, ws, work, pose, moves, factor, out):
    """Add to ``out`` (nb, 6, 8) the changes of the impulses of rows, times a factor, by ``moves`` (nb, 6 or more, 8).

    ``pose``: that of `curve_pairs`.
    """
    nb = plan.bodies.mass.size
    curve_roles(plan, ws, pose, moves, factor, out)
    for p in range(work.pair.shape[0]):
        W, (one, other) = work.curve[p], (work.pair[p, 0], work.pair[p, 1])
        if one < nb and other < nb:
            _add_between(W, moves[one], moves[other], factor, out[one], out[other])
        else:
            i, x = (one, 0) if one < nb else (other, 6)
            for k in range(6):
                put(out[i, k], dot_wide(eight(out[i, k]), factor, W[x + k, x : x + 6], moves[i]))


@njit
def _add_between(W, one, other, factor, to_one, to_other):
    """Add as `add_curved` for two bodies: translations count by their difference, and are pushed to opposite sides.

    ``W`` (12, 12); ``one``, ``other`` (6, 8): their motions; ``to_one``, ``to_other`` (6, 8): the sums.
    """
    x = plus(eight(one[0]), -1.0, other[0])
    y = plus(eight(one[1]), -1.0, other[1])
    z = plus(eight(one[2]), -1.0, other[2])
    for k in range(12):
        if 6 <= k < 9:
            continue
        t = plus(plus(plus(NOTHING, W[k, 0], x), W[k, 1], y), W[k, 2], z)
        for j in range(3, 6):
            t = plus(plus(t, W[k, j], one[j]), W[k, 6 + j], other[j])
        if k < 6:
            put(to_one[k], plus(eight(to_one[k]), factor, t))
        else:
            put(to_other[k - 6], plus(eight(to_other[k - 6]), factor, t))
        if k < 3:
            put(to_other[k], plus(eight(to_other[k]), -factor, t))
