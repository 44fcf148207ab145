"""The linear systems of the implicit schemes: an equation of motion and rows that hold loops together."""

from typing import NamedTuple

import numpy as np

REDUNDANT = 1e-8  # singular value, relative to the largest or to one, up to which a row is redundant


class Sizes(NamedTuple):
    """Sizes of the coordinates (n,), m or rad, and of the rows (m,), by which equations have numbers of order one."""

    coordinates: np.ndarray
    rows: np.ndarray


class LinearStep(NamedTuple):
    """Conditions of a linear scheme on the rates v at the end of a step: A v = b + G^T impulses, G v = g."""

    A: np.ndarray  # (nq, nq) reduced inertia, with terms of dampers and springs
    b: np.ndarray  # (nq,) N s, N m s
    G: np.ndarray  # (k, nq) rows of loops, couplings and, last, prescribed columns
    g: np.ndarray  # (k,)

    def independent(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return left (k, r), sizes (r,), right (nq, nq): singular values of G, rows of order one, above round-off."""
        left, sizes, right = np.linalg.svd(self.G)
        rank = np.count_nonzero(sizes > REDUNDANT * max(sizes[0], 1.0))
        return left[:, :rank], sizes[:rank], right


def solve_saddle(
    A: np.ndarray, G: np.ndarray, C: np.ndarray, a: np.ndarray, c: np.ndarray, sizes: Sizes | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return x (n,), y (m,) with A x - G^T y = a, C x = c; least in size where rows are redundant.

    ``A`` (n, n): a mass matrix and more; ``G``, ``C`` (m, n): rows of order one, in ``sizes`` if given. Rows are
    weighted by the size of A.
    """
    n, m = C.shape[1], C.shape[0]
    if not m:
        return np.linalg.solve(A, a), np.zeros(0)
    if sizes is not None:
        D, R = sizes
        x, y = solve_saddle(D[:, None] * A * D, G * D / R[:, None], C * D / R[:, None], D * a, c / R)
        return D * x, y / R
    size = np.abs(A).max(initial=0.0) or 1.0
    K = np.block([[A / size, -G.T], [C, np.zeros((m, m))]])
    x = np.linalg.lstsq(K, np.concatenate([a / size, c]), rcond=REDUNDANT)[0]
    return x[:n], size * x[n:]
