"""Linear algebra between deformable bodies and the q = 6 b motions of the bodies that hold their vertices, in loops.

The matrices are small: a library of linear algebra would start threads for them, which cost more than they save.
"""

import math

from varint.base.numba import njit

WHAT = "steps with deformable bodies"


@njit
def _add_transposed_product(A, B, sign, S):
    """Add sign A^T B to ``S`` (q, k), of ``A`` (n, q) with few entries that are not zero; ``B`` (n, k)."""
    for r in range(A.shape[0]):
        for i in range(A.shape[1]):
            if A[r, i] != 0.0:
                factor = sign * A[r, i]
                for j in range(B.shape[1]):
                    S[i, j] += factor * B[r, j]


@njit(seconds=1, what=WHAT)
def schur_complement(J0, stiff, before, followed, S):
    """Write J0^T stiff - before^T followed to ``S`` (q, q)."""
    for i in range(S.shape[0]):
        for j in range(S.shape[1]):
            S[i, j] = 0.0
    _add_transposed_product(J0, stiff, 1.0, S)
    _add_transposed_product(before, followed, -1.0, S)


@njit(seconds=1, what=WHAT)
def pull_on_bodies(before, alone, slots, pull, increment):
    """Add before^T alone to the rows ``slots`` of ``increment`` (nb, 6).

    ``before`` (3 f, q), ``alone`` (3 f,), ``slots`` (b,); ``pull`` (q,): scratch.
    """
    for i in range(pull.size):
        pull[i] = 0.0
    for r in range(alone.size):
        for i in range(pull.size):
            pull[i] += before[r, i] * alone[r]
    for i in range(pull.size):
        increment[slots[i // 6], i % 6] += pull[i]


@njit(seconds=1, what=WHAT)
def vertices_after(alone, followed, slots, body, change):
    """Write -(alone + followed b) to ``change`` (3 f,), b the motions ``body`` (nb, 6) of the bodies in ``slots``.

    ``alone`` (3 f,), ``followed`` (3 f, q), ``slots`` (b,).
    """
    for r in range(alone.size):
        total = alone[r]
        for i in range(followed.shape[1]):
            total += followed[r, i] * body[slots[i // 6], i % 6]
        change[r] = -total


@njit(seconds=1, what=WHAT)
def turns_to_velocities(velocity, h, body):
    """Replace the changes of rotations over h in ``body`` (nb, 6) by changes of w.

    ``velocity`` (nb, 6): a step turns by (cosine, h w / 2).
    """
    for i in range(body.shape[0]):
        x, y, z = 0.5 * h * velocity[i, 3], 0.5 * h * velocity[i, 4], 0.5 * h * velocity[i, 5]
        a, b, c = body[i, 3], body[i, 4], body[i, 5]
        cosine = math.sqrt(1.0 - (x * x + y * y + z * z))
        body[i, 3] = cosine * a + (y * c - z * b)
        body[i, 4] = cosine * b + (z * a - x * c)
        body[i, 5] = cosine * c + (x * b - y * a)
