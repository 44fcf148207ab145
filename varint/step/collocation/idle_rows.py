"""Rows of contacts that have no part in a collocation step: the elimination of closures leaves them out.

Their multipliers stay zero. In a dense node the others, which are busy, are brought together before it is factored.
"""

from varint.base.numba import natural, njit
from varint.step.dense import rank_lu_solve


@njit
def gather_busy(closures, own, n):
    """Write the rows of dense node n that are not idle, from its first on, to ``own.busy`` (closed,); return how many.

    ``own``: ``work.closures``, of which ``idle`` (rows,) is read. Also writes ``own.busy_count`` (dense,).
    """
    first, last, count = closures.node[n], closures.node[n + 1], 0
    q = closures.start.size // (closures.rows[1] - closures.rows[0])
    for e in range(last - first):
        if not own.idle[natural(closures.rows[0] + (first + e) // q)]:
            own.busy[first + count] = e
            count += 1
    own.busy_count[n] = count
    return count


@njit
def bring_together(K, start, stride, scales, busy, count):
    """Move the ``count`` rows and columns ``busy`` of the block at ``K[start:]`` (size,), ``stride`` apart, to its top.

    Also their ``scales`` (n,).
    """
    for i in range(count):
        scales[i] = scales[busy[i]]
        for j in range(count):
            K[start + i * stride + j] = K[start + busy[i] * stride + busy[j]]


@njit
def solve_busy(own, start, stride, n, first, last):
    """Overwrite the busy values of ``own.row`` (closed,), ``first`` to ``last``, with the solution of dense node n.

    The node is factored; its block is at ``own.K[start:]``, rows ``stride`` apart. ``own.column`` (2, closed): scratch.
    """
    busy, count, column = own.busy[first:last], own.busy_count[n], own.column[0]
    for m in range(count):
        column[m] = own.row[first + busy[m]]
    rank_lu_solve(
        own.K, start, stride, count, own.rank[n], own.scale[first:last], own.pivot[0, first:last],
        own.pivot[1, first:last], column, own.column[1],
    )  # fmt: skip
    for m in range(count):
        own.row[first + busy[m]] = column[m]
