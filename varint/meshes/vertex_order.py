"""Sparse factors of matrices between vertices, in an order of these that is found once.

They are L D L^T where all pivots are positive and the fill is small, else those of SuperLU.
"""

import numpy as np
from scipy.sparse import csc_array
from scipy.sparse.linalg import splu

from varint.meshes.sparse_cholesky import factor_sparse, find_fill, solve_sparse

SLIM = 4e6  # sum of the squares of the entries of the columns of L: above it SuperLU is faster
FEW = 7  # right-hand sides at once: for more of them OpenBLAS starts threads
PIVOT = 1e-3  # of the largest entry of a column: a diagonal entry above it is the pivot


class VertexOrder:
    """An order for symmetric matrices (3 n, 3 n) of one pattern: of minimum degree among the vertices."""

    def __init__(self, matrix: csc_array) -> None:
        size = matrix.shape[0]
        row, column = matrix.indices // 3, np.repeat(np.arange(size), np.diff(matrix.indptr)) // 3
        pairs = np.unique(column.astype(np.int64) * (size // 3) + row)
        row, column = pairs % (size // 3), pairs // (size // 3)
        starts = np.searchsorted(column, np.arange(size // 3 + 1))
        diagonal = np.where(row == column, float(size), 1.0)  # so large that no other entry is a pivot
        graph = csc_array((diagonal, row, starts), shape=(size // 3, size // 3))
        factors = splu(graph, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        self._order = (3 * np.argsort(factors.perm_c)[:, None] + np.arange(3)).ravel()
        numbered = csc_array((np.arange(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
        self._ordered = numbered[self._order][:, self._order]
        self._ordered.sort_indices()  # which SuperLU would do to the shared indices alone
        self._parent, count, mark = np.empty((3, size), dtype=np.int64)
        self._columns = self._ordered.indptr.astype(np.int64), self._ordered.indices.astype(np.int64)
        find_fill(*self._columns, self._parent, count, mark)
        self._begin = np.concatenate([[0], np.cumsum(count)])
        self._is_slim = float(np.sum(count.astype(float) ** 2)) <= SLIM

    def factor(self, matrix: csc_array) -> "OrderedFactors | SlimFactors":
        """Return the factors of a matrix of the pattern."""
        ordered = self._ordered
        data = matrix.data[ordered.data]
        if self._is_slim:
            n, entries = len(self._order), int(self._begin[-1])
            L = self._begin, np.empty(entries, dtype=np.int64), np.empty(entries)
            D, (mark, counts, stack) = np.empty(n), np.full((3, n), -1, dtype=np.int64)
            if factor_sparse(*self._columns, data, (self._parent,), L, D, (mark, counts, stack, np.zeros(n))):
                return SlimFactors(self._order, L, D)
        return OrderedFactors(csc_array((data, ordered.indices, ordered.indptr), shape=ordered.shape), self._order)


class SlimFactors:
    """L D L^T of a matrix whose rows and columns are in an ``order`` (3 n,) of the unknowns, see sparse_cholesky.py."""

    def __init__(self, order: np.ndarray, L: tuple[np.ndarray, np.ndarray, np.ndarray], D: np.ndarray) -> None:
        self._order, self._L, self._D = order, L, D
        self.size = len(D) + 2 * len(L[1])

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return the solution for one right-hand side (3 n,) or several (3 n, k)."""
        columns = np.ascontiguousarray(right).reshape(len(right), -1)
        X, solution = np.empty((2, *columns.shape))
        solve_sparse(self._order, self._L, self._D, columns, X, solution)
        return solution.reshape(right.shape)


class OrderedFactors:
    """Factors of a matrix whose rows and columns are in an ``order`` (3 n,) of the unknowns.

    size : number of their entries
    """

    def __init__(self, ordered: csc_array, order: np.ndarray) -> None:
        how = {"permc_spec": "NATURAL", "diag_pivot_thresh": PIVOT, "options": {"SymmetricMode": True}}
        self._lu, self._order = splu(ordered, **how), order
        self.size = int(self._lu.nnz)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return the solution for one right-hand side (3 n,) or several (3 n, k)."""
        solution, ordered = np.empty(right.shape), right[self._order]
        if right.ndim == 1:
            solution[self._order] = self._lu.solve(ordered)
            return solution
        for first in range(0, right.shape[1], FEW):
            few = slice(first, first + FEW)
            solution[self._order, few] = self._lu.solve(ordered[:, few])
        return solution
