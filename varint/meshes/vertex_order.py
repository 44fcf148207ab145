"""Sparse factors of matrices between vertices, in an order of these that is found once (SuperLU)."""

import numpy as np
from scipy.sparse import csc_array
from scipy.sparse.linalg import splu

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
        found = splu(graph, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        self._order = (3 * np.argsort(found.perm_c)[:, None] + np.arange(3)).ravel()
        numbered = csc_array((np.arange(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
        self._ordered = numbered[self._order][:, self._order]
        self._ordered.sort_indices()  # which SuperLU would do to the shared indices alone

    def factor(self, matrix: csc_array) -> "OrderedFactors":
        """Factors of a matrix of the pattern."""
        ordered = self._ordered
        data = matrix.data[ordered.data]
        return OrderedFactors(csc_array((data, ordered.indices, ordered.indptr), shape=ordered.shape), self._order)


class OrderedFactors:
    """Factors of a matrix whose rows and columns are in an ``order`` (3 n,) of the unknowns.

    size : number of their entries
    """

    def __init__(self, ordered: csc_array, order: np.ndarray) -> None:
        how = {"permc_spec": "NATURAL", "diag_pivot_thresh": PIVOT, "options": {"SymmetricMode": True}}
        self._lu, self._order = splu(ordered, **how), order
        self.size = int(self._lu.nnz)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """The solution for one right-hand side (3 n,) or several (3 n, k)."""
        found = np.empty_like(right)
        found[self._order] = self._lu.solve(right[self._order])
        return found
