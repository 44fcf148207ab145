"""The velocity of a step under inequalities and dry friction, one convex program (DIFF eqs. 2.112, 2.127).

    min 1/2 v^T A v - b^T v + sum_k c_k |B_k v|     with  G v = g,   N v >= n

Its solution obeys A v = b + G^T lambda + N^T alpha + sum_k B_k^T beta_k with alpha >= 0 only where a row of N v >= n is
met, and |beta_k| <= c_k, against B_k v and of full size where that is not zero: complementarity, and Coulomb's law in
its exact cone. The equations are eliminated first, v = p + E y with E^T A E = 1; the remaining problem, the projection
of a point onto a convex set, is solved by Clarabel's interior-point method.
"""

import importlib.util
from types import ModuleType
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_matrix

from varint.base.distribution import install_command
from varint.base.errors import ArgumentError
from varint.methods.reduced.saddle import REDUNDANT, LinearStep

FAR = 1e3  # sizes of the rates at work, below which a bound is left out until it is not met: it would blur the rest
MET = 1e-9  # m/s, rad/s: by how much less a row may have that nothing can change
TOLERANCES = 1e-12, 1e-8  # of the solver, relative: the second where round-off stops it before the first


class Solution(NamedTuple):
    """v : (nq,); alpha : (m,) impulses along the rows of N; beta : one (r,) a cone, along the rows of B."""

    v: np.ndarray
    alpha: np.ndarray
    beta: list[np.ndarray]


class Infeasible(ArithmeticError):
    """No velocity obeys all rows; ``rows``: numbers of rows of N that contradict each other."""

    def __init__(self, rows: np.ndarray) -> None:
        super().__init__("no velocity obeys all rows")
        self.rows = rows


class NotSolved(ArithmeticError):
    """The solver gave up."""


def load_solver() -> ModuleType:
    """Return the solver's package; raises ArgumentError where it is missing."""
    try:
        import clarabel
    except ImportError:
        raise ArgumentError(
            "hard stops and hard contacts with integrator='euler' need the package clarabel:"
            f" {install_command('contact')}"
        ) from None
    return clarabel


def has_solver() -> bool:
    """Return whether the solver's package is there."""
    return importlib.util.find_spec("clarabel") is not None


def solve_program(step: LinearStep, N: np.ndarray, n: np.ndarray, cones: list[tuple[float, np.ndarray]]) -> Solution:
    """Solve the program above.

    Parameters
    ----------
    step : LinearStep
        A symmetric, positive definite where G v = 0; else LinAlgError is raised. G v = g is obeyed in the sense of
        least squares; rows may be redundant.
    N : (m, nq), n : (m,)
    cones : list of (c, B)
        c from 0 and B (r, nq).
    """
    p, E, r, *_ = eliminate(step)
    rows, bounds = N @ E, n - N @ p
    size = np.linalg.norm(rows, axis=1)
    fixed = size <= REDUNDANT * np.linalg.norm(N, axis=1) * np.linalg.norm(E)
    if (bounds[fixed] > MET).any():
        raise Infeasible(np.flatnonzero(fixed & (bounds > MET)))
    rows, bounds = rows / _size(size)[:, None], bounds / _size(size)
    fields = [(c, B @ E, B @ p) for c, B in cones]
    sizes = [c * np.linalg.norm(B) for c, B, _ in fields]
    scale = float(max(np.abs(r).max(initial=0.0), bounds[~fixed].max(initial=0.0), *sizes, 0.0)) or 1.0
    near = ~fixed & (bounds > -FAR * scale)
    while True:
        kept = np.flatnonzero(near)
        try:
            y, alpha, beta = _project(r / scale, rows[kept], bounds[kept] / scale, fields, scale)
        except Infeasible as problem:
            raise Infeasible(kept[problem.rows]) from None
        missed = ~near & ~fixed & (scale * (rows @ y) < bounds)
        if not missed.any():
            break
        near |= missed
    impulses = np.zeros(len(N))
    impulses[kept] = scale * alpha / size[kept]
    return Solution(p + scale * (E @ y), impulses, [scale * part for part in beta])


class Elimination(NamedTuple):
    """The rates v = p + E y that obey G v = g, with E^T A E = 1, and y without other rows, the ``target``.

    p (nq,), E (nq, k), target (k,); left, sizes, right: the singular values of G, see `LinearStep.independent`.
    """

    p: np.ndarray
    E: np.ndarray
    target: np.ndarray
    left: np.ndarray
    sizes: np.ndarray
    right: np.ndarray

    def multiplier(self, impulse: np.ndarray) -> np.ndarray:
        """Return the least impulses (k, ...) along the rows of G that make up ``impulse`` (nq, ...)."""
        return self.left @ ((self.right[: self.sizes.size] @ impulse).T / self.sizes).T


def eliminate(step: LinearStep) -> Elimination:
    """Eliminate the equations of ``step``, in the sense of least squares; raises LinAlgError, see `solve_program`."""
    A, b, G, g = step
    nq = A.shape[0]
    p, Z, svd = np.zeros(nq), np.eye(nq), (np.zeros((0, 0)), np.zeros(0), np.eye(nq))
    if len(G):
        svd = left, sizes, right = step.independent()
        p, Z = right[: sizes.size].T @ ((left.T @ g) / sizes), right[sizes.size :].T
    E = Z @ np.linalg.inv(np.linalg.cholesky(Z.T @ A @ Z)).T
    return Elimination(p, E, E.T @ (b - A @ p), *svd)


def _size(norms: np.ndarray) -> np.ndarray:
    return np.where(norms > 0.0, norms, 1.0)


def _project(
    target: np.ndarray, rows: np.ndarray, bounds: np.ndarray, fields: list[tuple], scale: float
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Return y, multipliers of the rows and of the cones of min 1/2 |y - target|^2 + sum |..| with rows y >= bounds.

    Raises Infeasible, NotSolved.
    """
    clarabel = load_solver()
    k, m, count = target.size, len(bounds), len(fields)
    if not m + count:
        return target, np.zeros(0), []
    blocks, right = [np.hstack([-rows, np.zeros((m, count))])], [-bounds]
    kinds = [clarabel.NonnegativeConeT(m)] if m else []
    weights, sizes = np.zeros(count), np.ones(count)
    for j, (c, B, offset) in enumerate(fields):
        sizes[j] = np.linalg.norm(B) or 1.0
        weights[j] = c * sizes[j] / scale
        block = np.zeros((1 + len(B), k + count))
        block[0, k + j] = -1.0
        block[1:, :k] = -B / sizes[j]
        blocks.append(block)
        right.append(np.append(0.0, offset / (sizes[j] * scale)))
        kinds.append(clarabel.SecondOrderConeT(1 + len(B)))
    P = csc_matrix(np.diag(np.append(np.ones(k), np.zeros(count))))
    program = P, np.append(-target, weights), csc_matrix(np.vstack(blocks)), np.concatenate(right), kinds
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    for tolerance in TOLERANCES:
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
        solution = clarabel.DefaultSolver(*program, settings).solve()
        if str(solution.status) == "Solved":
            break
    else:
        if "PrimalInfeasible" in str(solution.status):
            raise Infeasible(np.flatnonzero(np.array(solution.z)[:m] > 1e-3 * np.max(solution.z[:m], initial=0.0)))
        raise NotSolved
    z = np.array(solution.z)
    starts = m + np.cumsum([0] + [1 + len(B) for _, B, _ in fields])
    beta = [z[i + 1 : i + 1 + len(B)] / size for i, (_, B, _), size in zip(starts, fields, sizes, strict=False)]
    return np.array(solution.x)[:k], z[:m], beta
