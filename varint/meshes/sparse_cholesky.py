"""Sparse factors L D L^T of symmetric matrices, compiled: of columns, one row after another (Davis 2005, LDL).

Matrices are columns with rising rows: ``starts`` (n + 1,), ``rows`` (nnz,), ``values`` (nnz,). What is below the
diagonal is not read.
"""

from varint.base.numba import njit

WHAT = "deformable bodies"


@njit(seconds=1, what=WHAT)
def find_fill(starts, rows, parent, count, mark):
    """Write the elimination tree ``parent`` (n,), -1 at roots, and ``count`` (n,) of entries in each column of L.

    ``starts`` (n + 1,) and ``rows`` (nnz,): of the matrix; ``mark`` (n,): scratch.
    """
    for k in range(parent.size):
        parent[k], mark[k], count[k] = -1, k, 0
        for p in range(starts[k], starts[k + 1]):
            i = rows[p]
            while i < k and mark[i] != k:
                if parent[i] < 0:
                    parent[i] = k
                count[i] += 1
                mark[i] = k
                i = parent[i]


@njit(seconds=2, what=WHAT)
def factor_sparse(starts, rows, values, tree, L, D, scratch):
    """Factor into ``L``, (starts, rows, values), and the reciprocals of the pivots ``D`` (n,).

    ``starts`` (n + 1,), ``rows`` (nnz,), ``values`` (nnz,): the matrix; ``tree``: (parent,) of `find_fill`;
    ``scratch``: three integer arrays (n,), and zeros (n,). Returns whether all pivots are positive; else the factors
    are no use.
    """
    (parent,), (begin, below, factors), (mark, count, stack, y) = tree, L, scratch
    n = D.size
    for k in range(n):
        top, mark[k], count[k], pivot = n, k, 0, 0.0
        for p in range(starts[k], starts[k + 1]):
            i = rows[p]
            if i == k:
                pivot = values[p]
            if i >= k:
                break
            y[i] = values[p]
            length = 0
            while mark[i] != k:
                stack[length] = i
                length += 1
                mark[i] = k
                i = parent[i]
            while length > 0:
                top -= 1
                length -= 1
                stack[top] = stack[length]
        for s in range(top, n):
            i = stack[s]
            value, y[i], last = y[i], 0.0, begin[i] + count[i]
            for p in range(begin[i], last):
                y[below[p]] -= factors[p] * value
            share = value * D[i]
            pivot -= share * value
            below[last], factors[last] = k, share
            count[i] += 1
        if not pivot > 0.0:
            for i in range(n):
                y[i] = 0.0
            return False
        D[k] = 1.0 / pivot
    return True


@njit(seconds=1, what=WHAT)
def solve_sparse(order, L, D, right, X, out):
    """Write solutions ``out`` (n, w) for ``right`` (n, w), of which ``order`` (n,) has the rows in turn.

    ``L``: (starts, rows, values); ``D`` (n,): the reciprocals of the pivots; ``X`` (n, w): scratch.
    """
    begin, below, factors = L
    n, w = right.shape
    for k in range(n):
        for c in range(w):
            X[k, c] = right[order[k], c]
    for k in range(n):
        for p in range(begin[k], begin[k + 1]):
            i, factor = below[p], factors[p]
            for c in range(w):
                X[i, c] -= factor * X[k, c]
    for k in range(n - 1, -1, -1):
        for c in range(w):
            X[k, c] *= D[k]
        for p in range(begin[k], begin[k + 1]):
            i, factor = below[p], factors[p]
            for c in range(w):
                X[k, c] -= factor * X[i, c]
        for c in range(w):
            out[order[k], c] = X[k, c]
