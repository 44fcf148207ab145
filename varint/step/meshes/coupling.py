"""Linear algebra between deformable bodies and the q = 6 b motions of the bodies that hold their vertices, in loops.

The matrices are small: a library of linear algebra would start threads for them, which cost more than they save.
"""

import math

from varint.base.numba import njit
from varint.step.dense import lu_solve

WHAT = "steps with deformable bodies"


@njit
def _add_transposed_product(A, B, sign, S):
    """S += sign A^T B, of ``A`` (n, q) with few entries that are not zero."""
    for r in range(A.shape[0]):
        for i in range(A.shape[1]):
            if A[r, i] != 0.0:
                factor = sign * A[r, i]
                for j in range(B.shape[1]):
                    S[i, j] += factor * B[r, j]


@njit(seconds=1, what=WHAT)
def schur_complement(J0, stiff, before, followed, S):
    """``S`` (q, q) = J0^T stiff - before^T followed."""
    for i in range(S.shape[0]):
        for j in range(S.shape[1]):
            S[i, j] = 0.0
    _add_transposed_product(J0, stiff, 1.0, S)
    _add_transposed_product(before, followed, -1.0, S)


@njit(seconds=2, what=WHAT)
def factor_coupling(S, columns, slots, near, K, order):
    """Factor 1 + S N in ``K`` (q, q), N the motions of the bodies in ``slots`` (b,) among ``columns`` (q, nb, 6).

    (1 + S N) P = L U, row after row, U's diagonal inverted, P of the exchanges of columns in ``order`` (q,). ``near``
    (q, q): scratch.
    """
    q = S.shape[0]
    for i in range(q):
        for j in range(q):
            near[i, j] = columns[j, slots[i // 6], i % 6]
    for i in range(q):
        row = K[i]
        for j in range(q):
            row[j] = 1.0 if i == j else 0.0
        for k in range(q):
            factor = S[i, k]
            for j in range(q):
                row[j] += factor * near[k, j]
    for i in range(q):
        row = K[i]
        for k in range(i):
            row[k], row[order[k]] = row[order[k]], row[k]
        for k in range(i):
            upper, factor = K[k], row[k] * K[k, k]
            row[k] = factor
            for j in range(k + 1, q):
                row[j] -= factor * upper[j]
        pivot = i
        for j in range(i + 1, q):
            if abs(row[j]) > abs(row[pivot]):
                pivot = j
        order[i] = pivot
        for k in range(i + 1):
            K[k, i], K[k, pivot] = K[k, pivot], K[k, i]
        row[i] = 1.0 / row[i]


@njit
def _solve_coupling(K, order, b):
    """Overwrite ``b`` (q,) with the solution, of the factors of `factor_coupling`."""
    lu_solve(K, b.size, b)
    for i in range(b.size - 1, -1, -1):
        b[i], b[order[i]] = b[order[i]], b[i]


@njit(seconds=1, what=WHAT)
def pull_on_bodies(before, own, slots, pull, increment):
    """Add before^T own to the rows ``slots`` of ``increment`` (nb, 6). ``pull`` (q,): scratch."""
    for i in range(pull.size):
        pull[i] = 0.0
    for r in range(own.size):
        for i in range(pull.size):
            pull[i] += before[r, i] * own[r]
    for i in range(pull.size):
        increment[slots[i // 6], i % 6] += pull[i]


@njit(seconds=2, what=WHAT)
def solve_coupled(S, K, order, slots, columns, column_rows, pull, body, row):
    """Take the effect of the meshes on the motions ``body`` (nb, 6) and multipliers ``row`` (nr,), by Woodbury.

    ``K``, ``order``: of `factor_coupling`. ``pull`` (q,): scratch.
    """
    q = S.shape[0]
    for i in range(q):
        pull[i] = 0.0
        for j in range(q):
            pull[i] += S[i, j] * body[slots[j // 6], j % 6]
    _solve_coupling(K, order, pull)
    for k in range(q):
        for i in range(body.shape[0]):
            for m in range(6):
                body[i, m] -= pull[k] * columns[k, i, m]
        for r in range(row.size):
            row[r] -= pull[k] * column_rows[k, r]


@njit(seconds=1, what=WHAT)
def vertices_after(own, followed, slots, body, change):
    """``change`` (3 f,) = -(own + followed b), b the motions ``body`` (nb, 6) of the bodies in ``slots``."""
    for r in range(own.size):
        total = own[r]
        for i in range(followed.shape[1]):
            total += followed[r, i] * body[slots[i // 6], i % 6]
        change[r] = -total


@njit(seconds=1, what=WHAT)
def turns_to_velocities(velocity, h, body):
    """The change of the rotation over h in ``body`` (nb, 6) as one of w: a step turns by (cosine, h w / 2)."""
    for i in range(body.shape[0]):
        x, y, z = 0.5 * h * velocity[i, 3], 0.5 * h * velocity[i, 4], 0.5 * h * velocity[i, 5]
        a, b, c = body[i, 3], body[i, 4], body[i, 5]
        cosine = math.sqrt(1.0 - (x * x + y * y + z * z))
        body[i, 3] = cosine * a + (y * c - z * b)
        body[i, 4] = cosine * b + (z * a - x * c)
        body[i, 5] = cosine * c + (x * b - y * a)
