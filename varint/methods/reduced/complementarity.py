"""Linear complementarity problems by Lemke's method, with the columns of the matrix on demand (NOTES 0.8).

    w = q + M z,    z >= 0,  w >= 0,  z w = 0

An artificial variable z0 is added to all of w, as large as makes w positive, and one variable after the other enters
the basis, the complement of the one that left it, until z0 leaves. With the rows R whose w is zero, and the columns a
of M whose z is in the basis, each pivot solves

    (M_Ra  1) (z_a, z0) = -q_R

afresh, which is the M_aa of NOTES eq. 0.4, and knows w of the other rows from the same columns: columns of M that never
enter are never requested. Ties are broken lexicographically, so that no basis comes back. The method finds a solution
for positive semidefinite M, where there is one, and for the copositive matrices of the friction of Stewart and Trinkle.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

LEAST_PIVOT, TIE, MET = 1e-10, 1e-12, 1e-10  # for q of size one and columns of order one; the last of z0 at the end
PIVOTS_PER_ROW = 50


class Ray(ArithmeticError):
    """Lemke's method found no solution: it ended on a ray of the polyhedron, or not at all."""


class Complementary(NamedTuple):
    """z (n,); columns : how many of the n columns of M were asked for."""

    z: np.ndarray
    columns: int


def solve_complementarity(q: np.ndarray, column: Callable[[int], np.ndarray]) -> Complementary:
    """Return z of the problem above; ``column(j)`` (n,) is column j of M, of order one. Raises Ray."""
    n, size = len(q), float(np.abs(q).max(initial=0.0))
    if not (q < 0.0).any():
        return Complementary(np.zeros(n), 0)
    tableau = _Tableau(q / size, column)
    # at equal q the last row: it is the least of q_i + epsilon^i
    entering = tableau.swap(tableau.artificial, n - 1 - int(q[::-1].argmin()))
    for _ in range(PIVOTS_PER_ROW * n):
        leaving = tableau.leaving(entering)
        if leaving is None:
            break
        entering = tableau.swap(entering, leaving)
        if leaving == tableau.artificial:
            break
    else:
        raise Ray(f"no end after {PIVOTS_PER_ROW * n} pivots")
    return Complementary(size * np.maximum(tableau.solution(), 0.0), len(tableau.columns))


class _Tableau:
    """The basis: w_i has the number i, z_i the number n + i, and z0 ``artificial`` = 2 n."""

    def __init__(self, q: np.ndarray, column: Callable[[int], np.ndarray]) -> None:
        self.q, self._column, self.n = q, column, len(q)
        self.columns: dict[int, np.ndarray] = {}
        self.artificial = 2 * self.n
        self.basic = np.arange(2 * self.n + 1) < self.n

    def swap(self, entering: int, leaving: int) -> int:
        """Exchange two variables; the complement of ``leaving``."""
        self.basic[entering], self.basic[leaving] = True, False
        return (leaving + self.n) % (2 * self.n)

    def _of(self, number: int) -> np.ndarray:
        """Return the change (n,) of w by a unit of a variable; with the opposite sign for a component of w itself."""
        if number == self.artificial:
            return np.ones(self.n)
        if number < self.n:
            return -np.eye(self.n)[number]
        j = number - self.n
        if j not in self.columns:
            self.columns[j] = self._column(j)
        return self.columns[j]

    def _respond(self, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of the basic variables, and their values (n, k) where q is ``right`` (n, k)."""
        numbers = np.flatnonzero(self.basic)
        rows, others = numbers[numbers < self.n], numbers[numbers >= self.n]
        zero = np.flatnonzero(~self.basic[: self.n])
        columns = np.array([self._of(number) for number in others]).reshape(-1, self.n).T
        values = -np.linalg.solve(columns[zero], right[zero])
        return numbers, np.concatenate([right[rows] + columns[rows] @ values, values])

    def leaving(self, entering: int) -> int | None:
        """Return the basic variable that reaches zero first while ``entering`` grows; None if z0 is zero already.

        Raises Ray if no variable does.
        """
        column = self._of(entering)
        numbers, values = self._respond(np.column_stack([self.q, column]))
        falls = np.flatnonzero(values[:, 1] < -LEAST_PIVOT)
        if not falls.size:
            if values[numbers == self.artificial, 0].item() <= MET:  # feasible, but for rounding
                return None
            raise Ray(f"variable {entering} grows without bound")
        speed = -values[falls, 1]
        reach = np.maximum(values[falls, 0], 0.0) / speed
        tied = falls[reach <= reach.min() + TIE]
        if self.artificial in numbers[tied]:
            return self.artificial
        if tied.size > 1:
            order = self._respond(np.eye(self.n))[1][tied] / -values[tied, 1:]
            tied = tied[np.lexsort(order.T[::-1])]
        return int(numbers[tied[0]])

    def solution(self) -> np.ndarray:
        """Return z (n,)."""
        numbers, values = self._respond(self.q[:, None])
        z, inside = np.zeros(self.n), (numbers >= self.n) & (numbers < self.artificial)
        z[numbers[inside] - self.n] = values[inside, 0]
        return z
