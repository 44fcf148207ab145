"""Impulses of one-sided rows and of dry friction whose size depends on the impulses themselves.

With the impulses z along n rows the rates along them, less their bounds, are u = S z + free. Wanted are

    z_i >= 0, u_i >= 0, z_i u_i = 0                       of one-sided rows,
    |z_k| <= c_k(z), and z_k = -c_k u_k / |u_k| where the rates u_k are not zero, of the rows of disc k,
    c_k(z) = sum_t weight_t |F_t z + f_t|                 over its terms: pressures.

Both are zeros of z - P(z - u / D): P cuts to zero or more, or to the disc; D are sizes of S. That map has exact
derivatives, and Newton's method on it ends after a few steps where the state of each row is that of the last step. From
elsewhere it may cycle. Then impulses at given bounds, a convex problem, and the bounds that follow from them are found
in turn (staggered projections). If that fails too, the solution is followed while the friction is reduced from a value
at which all rows stick, or raised from zero.
"""

import math
from dataclasses import dataclass

import numpy as np

from varint.base.numba import CompiledRecord, Float1, Float2, Int1, njit

NEWTON_STEPS = 15
ROUNDS, SWEEPS = 2, 30  # of sweeps, each followed by Newton's method
PASSES, TRIES, LEAST_TAKEN = 60, 5, 0.02  # in turn; passes before Newton's method is tried; least part of a change
GIVEN = -1.0  # in place of a share of the friction: bounds are given
SHARES, MOST = 20, 1e3  # steps in which the friction is raised from zero, or reduced from this multiple of its size
EXACT, SOLVED = 1e-13, 1e-9  # residual, relative to the rates at work: where Newton stops, and the largest accepted
DEPENDENT = 1e-9  # of a row's own size, added to it: rows may be redundant


@dataclass(frozen=True, eq=False)
class Cones(CompiledRecord, writable=True):
    """One problem of n rows and K discs with T terms, and its solution; the first rows are the one-sided ones."""

    S: Float2  # (n, n) rates by impulses
    free: Float1  # (n,) rates less bounds, without impulses
    D: Float1  # (n,) sizes of S, above zero, the same for all rows of a disc
    first: Int1  # (K + 1,) rows of a disc: from first[k] up to first[k + 1]
    F: Float2  # (T, n) pressures by impulses
    f: Float1  # (T,) pressures without them
    weight: Float1  # (T,)
    term: Int1  # (K + 1,) terms of a disc: from term[k] up to term[k + 1]
    z: Float1  # (n,) impulses: the start, then the solution

    # room to work in
    given: Float1  # (K,) bounds, where they are given
    change: Float1  # (K,) of the bounds by the last pass
    rate: Float1  # (n,) u
    bound: Float1  # (K,) c
    slope: Float2  # (K, n) derivatives of c
    missed: Float1  # (n,) z - P(z - u / D)
    best: Float1  # (n,)
    matrix: Float2  # (n, n + 1)


def room(n: int, K: int, T: int) -> Cones:
    """Return arrays for a problem of n rows, K discs and T terms."""
    discs = np.zeros(K + 1, dtype=np.int64)
    return Cones(
        S=np.zeros((n, n)), free=np.zeros(n), D=np.zeros(n), first=discs, F=np.zeros((T, n)), f=np.zeros(T),
        weight=np.zeros(T), term=discs.copy(), z=np.zeros(n), given=np.zeros(K), change=np.zeros(K), rate=np.zeros(n),
        bound=np.zeros(K), slope=np.zeros((K, n)), missed=np.zeros(n), best=np.zeros(n), matrix=np.zeros((n, n + 1)),
    )  # fmt: skip


@njit(seconds=2, what="friction and contacts")
def solve_cones(p: Cones, scale: float) -> float:
    """Solve for ``p.z``; return the residual relative to ``scale``, the root of J; above SOLVED it failed."""
    missed = _newton(p, scale, 1.0)
    if missed > SOLVED:
        missed = _alternate(p, scale)
    if missed > SOLVED:
        missed = _follow(p, scale, MOST)
    if missed > SOLVED:
        missed = _follow(p, scale, 0.0)
    return missed


@njit
def _alternate(p: Cones, scale: float) -> float:
    """Solve for impulses at given bounds ``p.given``, and bounds by these impulses, in turn; return the residual.

    Newton's method is tried in between. ``p.change``: of the bounds by the last pass.
    """
    taken, missed = 1.0, math.inf  # part of a change of the bounds that is applied
    _evaluate(p, 1.0)
    for k in range(p.bound.size):
        p.given[k] = p.bound[k]
        p.change[k] = 0.0
    for n in range(PASSES):
        _settle(p, scale, GIVEN)
        across = along = 0.0
        _evaluate(p, 1.0)
        for k in range(p.bound.size):
            change = p.bound[k] - p.given[k]
            second = change - p.change[k]
            across += p.change[k] * second
            along += second * second
            p.change[k] = change
        if n > 0:  # Aitken's relaxation: the secant of the last two changes, where they turn back
            secant = -taken * across
            taken = min(max(secant / along, LEAST_TAKEN), 1.0) if secant > 0.0 else 1.0
        for k in range(p.bound.size):
            p.given[k] += taken * p.change[k]
        if n % TRIES == TRIES - 1:
            missed = _newton(p, scale, 1.0)
            if missed <= SOLVED:
                break
    return missed


@njit
def _settle(p: Cones, scale: float, share: float) -> float:
    """Solve by Newton's method, and again after sweeps where it cycles; return the residual."""
    missed = _newton(p, scale, share)
    for _ in range(ROUNDS):
        if missed <= SOLVED:
            break
        for _ in range(SWEEPS):
            _sweep(p, share)
        missed = _newton(p, scale, share)
    return missed


@njit
def _follow(p: Cones, scale: float, start: float) -> float:
    """Follow the solution, from rest, from ``start`` times the friction to all of it; return the residual.

    Writes ``p.z``.
    """
    p.z[:] = 0.0
    missed = math.inf
    for n in range(SHARES + 1):
        done = n / SHARES
        missed = _settle(p, scale, start ** (1.0 - done) if start > 0.0 else done)
    return missed


@njit
def _newton(p: Cones, scale: float, share: float) -> float:
    """Solve by Newton's method from ``p.z`` (n,), with the ``share`` of the friction; return the least residual.

    ``p.z`` is set to the iterate with this residual, kept in ``p.best``; zero if none is finite. See above.
    """
    least = math.inf
    for _ in range(NEWTON_STEPS):
        missed = _evaluate(p, share) / scale
        if not math.isfinite(missed):
            break
        if missed < least:
            improved = missed < 0.5 * least
            least = missed
            for i in range(p.z.size):
                p.best[i] = p.z[i]
            if missed <= EXACT or (missed <= SOLVED and not improved):
                break
        elif least <= SOLVED:
            break
        _linearise(p)
        if not _eliminate(p.matrix):
            break
        for i in range(p.z.size):
            p.z[i] += p.matrix[i, p.z.size]
    for i in range(p.z.size):
        p.z[i] = p.best[i] if math.isfinite(least) else 0.0
    return least


@njit
def _evaluate(p: Cones, share: float) -> float:
    """Write ``p.rate``, ``p.bound``, residuals ``p.missed`` at ``p.z``; return the largest residual, the root of J."""
    worst = 0.0
    for i in range(p.z.size):
        p.rate[i] = _rate(p, i)
    for i in range(p.first[0]):
        p.missed[i] = p.z[i] - max(p.z[i] - p.rate[i] / p.D[i], 0.0)
        worst = max(worst, math.sqrt(p.D[i]) * abs(p.missed[i]))
    for k in range(p.bound.size):
        p.bound[k] = _bound(p, k, share, True)
        length = _length(p, k)
        cut = p.bound[k] / length if length > p.bound[k] else 1.0
        for i in range(p.first[k], p.first[k + 1]):
            p.missed[i] = p.z[i] - cut * (p.z[i] - p.rate[i] / p.D[i])
            worst = max(worst, math.sqrt(p.D[i]) * abs(p.missed[i]))
    return worst


@njit
def _rate(p: Cones, i: int) -> float:
    total = p.free[i]
    for j in range(p.z.size):
        total += p.S[i, j] * p.z[j]
    return total


@njit
def _bound(p: Cones, k: int, share: float, sloped: bool) -> float:
    """Return the bound of disc k; if ``sloped``, write its derivatives to ``p.slope``."""
    total = 0.0
    if sloped:
        p.slope[k, :] = 0.0
    if share == GIVEN:
        return p.given[k]
    for t in range(p.term[k], p.term[k + 1]):
        pressure, weight = p.f[t], share * p.weight[t]
        for j in range(p.z.size):
            pressure += p.F[t, j] * p.z[j]
        total += weight * abs(pressure)
        if sloped:
            signed = weight if pressure >= 0.0 else -weight
            for j in range(p.z.size):
                p.slope[k, j] += signed * p.F[t, j]
    return total


@njit
def _length(p: Cones, k: int) -> float:
    """Return the length of z - u / D of disc k."""
    total = 0.0
    for i in range(p.first[k], p.first[k + 1]):
        total += (p.z[i] - p.rate[i] / p.D[i]) ** 2
    return math.sqrt(total)


@njit
def _linearise(p: Cones) -> None:
    """Write the derivatives of the residuals to ``p.matrix`` (n, n + 1), with the negative residuals as last column."""
    n = p.z.size
    for i in range(n):
        for j in range(n):
            p.matrix[i, j] = 0.0
        p.matrix[i, n] = -p.missed[i]
    for i in range(p.first[0]):
        if p.z[i] - p.rate[i] / p.D[i] > 0.0:
            _hold(p, i)
        else:
            p.matrix[i, i] = 1.0
    for k in range(p.bound.size):
        first, last = p.first[k], p.first[k + 1]
        length = _length(p, k)
        if length <= p.bound[k]:
            for i in range(first, last):
                _hold(p, i)
            continue
        share = p.bound[k] / length
        for i in range(first, last):
            along = (p.z[i] - p.rate[i] / p.D[i]) / length
            for j in range(n):
                p.matrix[i, j] -= along * p.slope[k, j]
            p.matrix[i, i] += 1.0
            for a in range(first, last):
                part = (1.0 if a == i else 0.0) - along * (p.z[a] - p.rate[a] / p.D[a]) / length
                part *= share
                p.matrix[i, a] -= part
                for j in range(n):
                    p.matrix[i, j] += part * p.S[a, j] / p.D[a]


@njit
def _hold(p: Cones, i: int) -> None:
    """Write row i of ``p.matrix``: the rate of row i is to become zero."""
    for j in range(p.z.size):
        p.matrix[i, j] = p.S[i, j] / p.D[i]
    p.matrix[i, i] += DEPENDENT


@njit
def _eliminate(A: Float2) -> bool:
    """Solve in place by Gauss's method: the last column of A (n, n + 1) becomes the solution; whether there is one."""
    n = A.shape[0]
    for c in range(n):
        pivot = c
        for i in range(c + 1, n):
            if abs(A[i, c]) > abs(A[pivot, c]):
                pivot = i
        if A[pivot, c] == 0.0:
            return False
        for j in range(c, n + 1):
            A[c, j], A[pivot, j] = A[pivot, j], A[c, j]
        for i in range(c + 1, n):
            factor = A[i, c] / A[c, c]
            if factor != 0.0:
                for j in range(c + 1, n + 1):
                    A[i, j] -= factor * A[c, j]
    for c in range(n - 1, -1, -1):
        for j in range(c + 1, n):
            A[c, n] -= A[c, j] * A[j, n]
        A[c, n] /= A[c, c]
    return True


@njit
def _sweep(p: Cones, share: float) -> None:
    """Correct each row, and each disc, in turn: changes ``p.z`` and ``p.rate``."""
    for i in range(p.first[0]):
        p.z[i] = max(p.z[i] - _rate(p, i) / p.D[i], 0.0)
    for k in range(p.bound.size):
        for i in range(p.first[k], p.first[k + 1]):
            p.rate[i] = _rate(p, i)
        length, bound = _length(p, k), _bound(p, k, share, False)
        cut = bound / length if length > bound else 1.0
        for i in range(p.first[k], p.first[k + 1]):
            p.z[i] = cut * (p.z[i] - p.rate[i] / p.D[i])
