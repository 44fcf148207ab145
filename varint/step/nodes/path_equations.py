"""Rows of a path as matrices in a metric of the bodies: their sizes, their factors, and what these solve.

``rows`` and ``work`` are the `PathRows` and the `PathWork` of `varint.step.nodes.driven_path`.
"""

import math

from varint.base.numba import natural, njit
from varint.mathematics.definite import ldl_factor, ldl_solve
from varint.mathematics.pivoted_cholesky import cholesky_factor, cholesky_solve, trace_of_inverse


@njit
def set_sizes(rows, work, metric):
    """Write ``work.sizes`` (m,) at the pose AT, and the rows over them to ``work.lines`` (m, 6 nb) as `set_lines`.

    A row over its size is its distance from zero in the metric.
    """
    sizes = work.sizes
    for r in range(sizes.size):
        sizes[r] = 1.0
    _place_rows(work.lines, work.G, rows.side, metric.shift, metric.turn, sizes, work.left)
    for r in range(sizes.size):
        sizes[r] = max(work.left[r], metric.least[r])
    for c in range(rows.chain.shape[0]):
        total = 0.0
        for r in range(rows.chain[c, 0], rows.chain[c, 1]):
            total += sizes[r]
        for r in range(rows.chain[c, 0], rows.chain[c, 1]):
            sizes[r] = total
    for r in range(sizes.size):
        sizes[r] = math.sqrt(sizes[r])
        line, f = work.lines[r], 1.0 / sizes[r]
        for c in range(line.size):
            line[c] *= f
    _sum_chains(rows, work)


@njit
def set_lines(rows, work, metric):
    """Write the rows at the pose AT over their sizes, by motions of unit length in a metric, to ``lines`` (m, 6 nb).

    The rows of a chain are summed in its first.
    """
    _place_rows(work.lines, work.G, rows.side, metric.shift, metric.turn, work.sizes, work.left)
    _sum_chains(rows, work)


@njit
def _place_rows(lines, G, side, shift, turn, sizes, square):
    """Write rows ``G`` (m, 2, 6) over their ``sizes`` (m,) to ``lines`` (m, 6 nb).

    Writes their squares to ``square`` (m,). ``side`` (m, 2): slots of the bodies; ``shift`` (nb + 1,) and
    ``turn`` (nb + 1, 3, 3): see `PathMetric`.
    """
    m, n = lines.shape
    for r in range(m):
        line, f, total = lines[r], 1.0 / sizes[r], 0.0
        for c in range(n):
            line[c] = 0.0
        for k in range(2):
            b = natural(side[r, k])
            first = 6 * b
            if first < n:
                row, T, h = G[r, k], turn[b], f * shift[b]
                for j in range(3):
                    straight, about = h * row[j], f * (row[3] * T[0, j] + row[4] * T[1, j] + row[5] * T[2, j])
                    line[natural(first + j)], line[natural(first + 3 + j)] = straight, about
                    total += straight * straight + about * about
        square[r] = total


@njit
def _sum_chains(rows, work):
    """Write the sum of the rows of each chain to its first in ``work.lines`` (m, 6 nb), and zeros to the others."""
    for k in range(rows.chain.shape[0]):
        first = work.lines[rows.chain[k, 0]]
        for r in range(rows.chain[k, 0] + 1, rows.chain[k, 1]):
            line = work.lines[r]
            for c in range(line.size):
                first[c] += line[c]
                line[c] = 0.0


@njit
def factor_rows(work, rank, damping):
    """Factor ``work.product`` (m, m), of rows with rows, plus ``damping``; return the largest pivot beyond ``rank``."""
    lines, product = work.lines, work.product
    m, n = lines.shape
    for i in range(m):
        for j in range(i + 1):
            total = damping if i == j else 0.0
            for c in range(n):
                total += lines[i, c] * lines[j, c]
            product[i, j] = total
    return cholesky_factor(product, rank, work.order, work.pivot, work.column)


@njit
def factor_normal(rows, work):
    """Factor ``work.normal`` (6 nb, 6 nb), the matrix of the normal equations of the rows."""
    if rows.chain.shape[0] > 0:
        _set_normal(work.lines, work.normal)
    else:
        _set_normal_of_blocks(work.lines, rows.side, work.normal)
    ldl_factor(work.normal, work.normal_pivot, work.reciprocal)


@njit
def _set_normal(lines, normal):
    """Write the lower half of ``normal`` (n, n), the products of the columns of ``lines`` (m, n)."""
    m, n = lines.shape
    for i in range(n):
        for j in range(i + 1):
            normal[i, j] = 0.0
    for r in range(m):
        for i in range(n):
            f = lines[r, i]
            if f != 0.0:
                for j in range(i + 1):
                    normal[i, j] += f * lines[r, j]


@njit
def _set_normal_of_blocks(lines, side, normal):
    """Write the lower half of ``normal`` (n, n) as `_set_normal` does, of ``lines`` (m, n) that are zero but in blocks.

    ``side`` (m, 2): the numbers of the two blocks of each line, 6 wide.
    """
    m, n = lines.shape
    for i in range(n):
        for j in range(i + 1):
            normal[i, j] = 0.0
    for r in range(m):
        line, low, high = lines[r], natural(6 * min(side[r, 0], side[r, 1])), natural(6 * max(side[r, 0], side[r, 1]))
        if high < n and high != low:
            for i in range(6):
                f = line[high + i]
                if f != 0.0:
                    for j in range(6):
                        normal[high + i, low + j] += f * line[low + j]
                    for j in range(6):
                        normal[high + i, high + j] += f * line[high + j]
        if low < n:
            for i in range(6):
                f = line[low + i]
                if f != 0.0:
                    for j in range(6):
                        normal[low + i, low + j] += f * line[low + j]


@njit
def solve_rows(work, target):
    """Write ``work.y`` (6 nb,), the least one that changes the rows over their sizes by ``target`` (m,).

    By the factors of the rows or, where these decide on it, of the normal equations.
    """
    if work.rank[0] < work.y.size:
        cholesky_solve(work.product, work.order, work.pivot, work.column, target, work.multiplier)
        _combine(work.lines, work.multiplier, work.y)
    else:
        _combine(work.lines, target, work.y)
        ldl_solve(work.normal, work.reciprocal, work.y)


@njit
def _combine(lines, factor, y):
    """Write ``y`` (n,), the sum of the ``lines`` (m, n), each times its ``factor`` (m,)."""
    for c in range(y.size):
        y[c] = 0.0
    for r in range(factor.size):
        f = factor[r]
        for c in range(y.size):
            y[c] += f * lines[r, c]


@njit
def changes_along(lines, y, left):
    """Write ``left`` (m,), the changes of the rows over their sizes, ``lines`` (m, n), along ``y`` (n,)."""
    for r in range(left.size):
        total = 0.0
        for c in range(y.size):
            total += lines[r, c] * y[c]
        left[r] = total


@njit
def least_singular(factors, pivot, rank, inverse):
    """Return a lower bound of the root of the least eigenvalue of a matrix: of all, one over the root of the inverses.

    ``factors`` (m, m), ``pivot`` (m,): of its ``rank`` rows by `cholesky_factor`; ``inverse`` (m, m): scratch.
    """
    for r in range(rank):
        if pivot[r] == math.inf:
            return 0.0
    return 1.0 / math.sqrt(trace_of_inverse(factors, pivot, rank, inverse))
