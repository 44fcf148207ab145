"""Small dense factorisations in place: unpivoted LU of 6 x 6 pivots, rank-revealing LU of closure nodes.

LU factors keep the reciprocals of U's diagonal, so that solving multiplies.
"""

import math

from varint.base.numba import njit

RANK_TOLERANCE = 1e-11  # a closure pivot below this share of its terms counts as a redundant row
WIDE, RIGHT = 8, 6  # columns of wide blocks: what vectors of four take at once; that of the right-hand side


@njit
def lu_factor(A, n):
    """Factor the leading n x n block of ``A`` (6, 6 or more) in place, without pivoting (VI Alg. 1, one block)."""
    for k in range(n):
        pivot = 1.0 / A[k, k]
        A[k, k] = pivot
        for i in range(k + 1, n):
            factor = A[i, k] * pivot
            A[i, k] = factor
            for j in range(k + 1, n):
                A[i, j] -= factor * A[k, j]


@njit
def lu_solve(A, n, b):
    """Overwrite ``b`` (n,) with the solution, ``A`` (6, 6 or more) factored by `lu_factor` (VI Alg. 2)."""
    for i in range(1, n):
        total = b[i]
        for j in range(i):
            total -= A[i, j] * b[j]
        b[i] = total
    for i in range(n - 1, -1, -1):
        total = b[i]
        for j in range(i + 1, n):
            total -= A[i, j] * b[j]
        b[i] = total * A[i, i]


@njit(inline="always")
def lower_solve_columns(A, G, n, x, X):
    """Write X (6, 8) = L^-1 [G_0^T, x], L that of ``A`` (6, 6) factored by `lu_factor`.

    G (n, 2, 6), n up to 6, x (6,). A row is made in registers: writing it number by number and reading it back as a
    vector would stall.
    """
    for i in range(6):
        b0 = G[0, 0, i] if n > 0 else 0.0
        b1 = G[1, 0, i] if n > 1 else 0.0
        b2 = G[2, 0, i] if n > 2 else 0.0
        b3 = G[3, 0, i] if n > 3 else 0.0
        b4 = G[4, 0, i] if n > 4 else 0.0
        b5 = G[5, 0, i] if n > 5 else 0.0
        b6, b7 = x[i], 0.0
        for j in range(i):
            f = A[i, j]
            b0 -= f * X[j, 0]
            b1 -= f * X[j, 1]
            b2 -= f * X[j, 2]
            b3 -= f * X[j, 3]
            b4 -= f * X[j, 4]
            b5 -= f * X[j, 5]
            b6 -= f * X[j, 6]
            b7 -= f * X[j, 7]
        X[i, 0], X[i, 1], X[i, 2], X[i, 3] = b0, b1, b2, b3
        X[i, 4], X[i, 5], X[i, 6], X[i, 7] = b4, b5, b6, b7


@njit(inline="always")
def lower_solve_rows(A, H, n, y, Y):
    """Write Y (n, 8) = L^-1 [H_1, y], L that of ``A`` (6, 8) factored by `lu_factor`; H (n, 2, 6), y (n,)."""
    for i in range(n):
        b0, b1, b2, b3 = H[i, 1, 0], H[i, 1, 1], H[i, 1, 2], H[i, 1, 3]
        b4, b5, b6, b7 = H[i, 1, 4], H[i, 1, 5], y[i], 0.0
        for j in range(i):
            f = A[i, j]
            b0 -= f * Y[j, 0]
            b1 -= f * Y[j, 1]
            b2 -= f * Y[j, 2]
            b3 -= f * Y[j, 3]
            b4 -= f * Y[j, 4]
            b5 -= f * Y[j, 5]
            b6 -= f * Y[j, 6]
            b7 -= f * Y[j, 7]
        Y[i, 0], Y[i, 1], Y[i, 2], Y[i, 3] = b0, b1, b2, b3
        Y[i, 4], Y[i, 5], Y[i, 6], Y[i, 7] = b4, b5, b6, b7


@njit(inline="always")
def upper_solve_wide(A, n, B):
    """Overwrite the columns of ``B`` (n, 8) with U^-1 B, U that of ``A`` (6, 6 or more) factored by `lu_factor`."""
    for i in range(n - 1, -1, -1):
        b0, b1, b2, b3 = B[i, 0], B[i, 1], B[i, 2], B[i, 3]
        b4, b5, b6, b7 = B[i, 4], B[i, 5], B[i, 6], B[i, 7]
        for j in range(i + 1, n):
            f = A[i, j]
            b0 -= f * B[j, 0]
            b1 -= f * B[j, 1]
            b2 -= f * B[j, 2]
            b3 -= f * B[j, 3]
            b4 -= f * B[j, 4]
            b5 -= f * B[j, 5]
            b6 -= f * B[j, 6]
            b7 -= f * B[j, 7]
        f = A[i, i]
        B[i, 0], B[i, 1], B[i, 2], B[i, 3] = f * b0, f * b1, f * b2, f * b3
        B[i, 4], B[i, 5], B[i, 6], B[i, 7] = f * b4, f * b5, f * b6, f * b7


@njit
def multiply_wide(H, side, X, n, S):
    """Write S (n, 8) = H_side X with H (n, 2, 6), X (6, 8)."""
    for a in range(n):
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
        for k in range(6):
            f = H[a, side, k]
            s0 += f * X[k, 0]
            s1 += f * X[k, 1]
            s2 += f * X[k, 2]
            s3 += f * X[k, 3]
            s4 += f * X[k, 4]
            s5 += f * X[k, 5]
            s6 += f * X[k, 6]
            s7 += f * X[k, 7]
        S[a, 0], S[a, 1], S[a, 2], S[a, 3] = s0, s1, s2, s3
        S[a, 4], S[a, 5], S[a, 6], S[a, 7] = s4, s5, s6, s7


@njit
def add_product_wide(G, side, Y, n, P):
    """Add G_side^T Y to P (6, 6), with G (n, 2, 6), Y (n, 8), of which two columns are left out."""
    for a in range(6):
        p0, p1, p2, p3, p4, p5 = P[a, 0], P[a, 1], P[a, 2], P[a, 3], P[a, 4], P[a, 5]
        for r in range(n):
            f = G[r, side, a]
            p0 += f * Y[r, 0]
            p1 += f * Y[r, 1]
            p2 += f * Y[r, 2]
            p3 += f * Y[r, 3]
            p4 += f * Y[r, 4]
            p5 += f * Y[r, 5]
        P[a, 0], P[a, 1], P[a, 2], P[a, 3], P[a, 4], P[a, 5] = p0, p1, p2, p3, p4, p5


@njit
def dot6(a, b):
    """Return the inner product of two vectors (6,)."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@njit
def add_scaled6(y, f, x):
    """Add f x to y; ``x``, ``y`` (6,)."""
    for k in range(6):
        y[k] += f * x[k]


@njit
def pivoted_lu_factor(K, n, order, scale):
    """Factor the n x n matrix in ``K`` (n n,) in place, with partial pivoting; rows count by their largest entry.

    ``order`` (n,) gets the row that each was exchanged with; ``scale`` (n,): scratch.
    """
    for i in range(n):
        scale[i] = 0.0
        for j in range(n):
            scale[i] = max(scale[i], abs(K[i * n + j]))
    for k in range(n):
        best, pivot_row = -1.0, k
        for i in range(k, n):
            size = abs(K[i * n + k]) / scale[i] if scale[i] > 0.0 else 0.0
            if size > best:
                best, pivot_row = size, i
        order[k] = pivot_row
        if pivot_row != k:
            scale[k], scale[pivot_row] = scale[pivot_row], scale[k]
            for j in range(n):
                a, b = k * n + j, pivot_row * n + j
                K[a], K[b] = K[b], K[a]
        pivot = 1.0 / K[k * n + k] if K[k * n + k] != 0.0 else math.nan
        K[k * n + k] = pivot
        for i in range(k + 1, n):
            factor = K[i * n + k] * pivot
            if factor != 0.0:
                K[i * n + k] = factor
                for j in range(k + 1, n):
                    K[i * n + j] -= factor * K[k * n + j]


@njit
def pivoted_lu_solve(K, n, order, b):
    """Overwrite ``b`` (n,) with the solution; ``K`` (n * n,) and ``order`` (n,) from `pivoted_lu_factor`."""
    for i in range(n):
        b[i], b[order[i]] = b[order[i]], b[i]
    for i in range(n):
        total = b[i]
        for j in range(i):
            total -= K[i * n + j] * b[j]
        b[i] = total
    for i in range(n - 1, -1, -1):
        total = b[i]
        for j in range(i + 1, n):
            total -= K[i * n + j] * b[j]
        b[i] = total * K[i * n + i]


@njit
def rank_lu_factor(K, start, stride, n, scale, rows, columns):
    """Factor the n x n block at ``K[start:]`` with complete pivoting; return its numerical rank and last pivot.

    Its rows are ``stride`` apart in ``K`` (size,). ``scale`` (n,): size of the terms that each entry of the diagonal is
    a sum of, overwritten by the factors that bring them to one. The block is factored so scaled: pivots are then
    relative to what they came from.
    Rows and columns are swapped in place; ``rows`` and ``columns`` (n,) get their order. Elimination stops where no
    pivot above `RANK_TOLERANCE` is left: what remains are redundant rows, whose multipliers `rank_lu_solve` leaves at
    zero.
    """
    for i in range(n):
        rows[i] = i
        columns[i] = i
        scale[i] = 1.0 / math.sqrt(scale[i]) if scale[i] > 0.0 else 0.0
    for i in range(n):
        for j in range(n):
            K[start + i * stride + j] *= scale[i] * scale[j]
    last = 1.0
    for k in range(n):
        best, best_row, best_column = 0.0, k, k
        for i in range(k, n):
            largest = 0.0
            for j in range(k, n):
                largest = max(largest, abs(K[start + i * stride + j]))
            if largest > best:
                best, best_row = largest, i
        for j in range(n - 1, k - 1, -1):
            if abs(K[start + best_row * stride + j]) == best:
                best_column = j
        if not best > RANK_TOLERANCE:
            return k, last
        last = best
        if best_row != k:
            rows[k], rows[best_row] = rows[best_row], rows[k]
            for j in range(n):
                a, b = start + k * stride + j, start + best_row * stride + j
                K[a], K[b] = K[b], K[a]
        if best_column != k:
            columns[k], columns[best_column] = columns[best_column], columns[k]
            for i in range(n):
                a, b = start + i * stride + k, start + i * stride + best_column
                K[a], K[b] = K[b], K[a]
        pivot = 1.0 / K[start + k * stride + k]
        K[start + k * stride + k] = pivot
        for i in range(k + 1, n):
            factor = K[start + i * stride + k] * pivot
            if factor != 0.0:
                K[start + i * stride + k] = factor
                for j in range(k + 1, n):
                    K[start + i * stride + j] -= factor * K[start + k * stride + j]
    return n, last


@njit
def rank_lu_solve(K, start, stride, n, rank, scale, rows, columns, b, scratch):
    """Overwrite ``b`` (n,) with the basic solution of the block factored by `rank_lu_factor`; ``scratch`` (n,).

    ``K`` (size,), and ``rows``, ``columns``, ``scale`` (n,) as that left them.
    """
    for i in range(rank):
        total = scale[rows[i]] * b[rows[i]]
        for j in range(i):
            total -= K[start + i * stride + j] * scratch[j]
        scratch[i] = total
    for i in range(rank - 1, -1, -1):
        total = scratch[i]
        for j in range(i + 1, rank):
            total -= K[start + i * stride + j] * scratch[j]
        scratch[i] = total * K[start + i * stride + i]
    for i in range(n):
        b[i] = 0.0
    for i in range(rank):
        b[columns[i]] = scale[columns[i]] * scratch[i]


@njit
def copy_motions(values, to):
    """Copy velocities or momenta ``values`` (nb, 6) to ``to`` (nb, 6)."""
    for i in range(to.shape[0]):
        v, out = values[i], to[i]
        out[0], out[1], out[2], out[3], out[4], out[5] = v[0], v[1], v[2], v[3], v[4], v[5]
