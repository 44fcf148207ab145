"""The least change of the accelerations that keeps constraints, which may be redundant or come to be so.

Constraints are rows A u = b in scaled accelerations u = L^T (1 + K)^T ddq, whose sum of squares is twice the kinetic
energy of that motion: A = G (1 + K)^-T L^-T (recursions/articulated.py). By singular values of A no condition number is
squared, as it is where G M^-1 G^T is solved for the multipliers.
"""

import numpy as np

TINY = 1e-300
# singular values of the rows, relative to the largest or, where loops repeat the tree and all are round-off, to a row
# of the whole mass
REDUNDANT = 1e-6  # up to here a row is redundant, at a state that a run has reached
NO_PIVOT = 1e-9  # up to here it is left out, at any state
# the last singular value of the rank, relative to the largest that it had so far
NEAR = 0.05  # below, a singular pose is near: loops are closed after each step, or the motion could leave its branch
RELEASED = 1e-3  # below, a row that comes to depend on the others is released, gradually


class NotFinite(ArithmeticError):
    """Accelerations that are no numbers."""

    def __init__(self) -> None:
        super().__init__("accelerations are not finite")


class ConstraintSolver:
    """Solves for least accelerations under ``count`` rows, of bodies whose masses add up to ``mass``, kg.

    At poses where loops are open by some error, redundant rows are independent by that error, and mean nothing. So the
    rank is the largest of the states that a run has reached, see `reach`.

    Attributes
    ----------
    multiplier : (count,)
        Of the last `solve`: the least.
    """

    def __init__(self, count: int, mass: float) -> None:
        self.least_unit = 1.0 / np.sqrt(mass)  # of singular values: that of a gradient of one, as rows in m have
        self.multiplier = np.zeros(count)
        self._rank = 0
        self.relative_sizes = np.ones(1)  # singular values of the last rows
        self._largest_margin = 0.0  # largest of the last singular value that counts

    def solve(self, A: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the least u (n,) = A^T multiplier with A u = b in the sense of least squares, A (m, n).

        At a singular pose rows that come to depend on the others are released smoothly: the effort that they transmit
        is finite, and so is the violation in passing. Raises NotFinite.
        """
        if not (np.isfinite(A).all() and np.isfinite(b).all()):
            raise NotFinite
        left, sizes, right = np.linalg.svd(A, full_matrices=False)
        self.relative_sizes = sizes / max(sizes[0], self.least_unit)
        rank = min(self._rank or len(sizes), np.count_nonzero(self.relative_sizes > NO_PIVOT))
        released = RELEASED * self._largest_margin + TINY
        x = np.clip(2.0 * self.relative_sizes[:rank] / released - 1.0, 0.0, 1.0)
        weight = x**3 * (10.0 - 15.0 * x + 6.0 * x**2)  # a smooth step from 0 to 1
        u = weight * (left[:, :rank].T @ b) / sizes[:rank]
        self.multiplier = left[:, :rank] @ (u / sizes[:rank])
        return right[:rank].T @ u

    def memory(self) -> np.ndarray:
        """Return rank and largest margin (2,), on which later solutions depend."""
        return np.array([self._rank, self._largest_margin])

    def recall(self, saved: np.ndarray) -> None:
        """Go back to a `memory`; raises ValueError for any other arrays."""
        if saved[0] not in range(len(self.multiplier) + 1):
            raise ValueError("its checkpoint has a rank that its loops cannot have")
        self._rank, self._largest_margin = int(saved[0]), float(saved[1])

    def reach(self) -> bool:
        """Count the rank of the last `solve`, whose state is reached; return whether it is clear of singular poses."""
        rank = int(np.count_nonzero(self.relative_sizes > REDUNDANT))
        if rank > self._rank:
            self._rank, self._largest_margin = rank, 0.0
        if not self._rank:
            return True
        margin = float(self.relative_sizes[self._rank - 1])
        self._largest_margin = max(self._largest_margin, margin)
        return margin > NEAR * self._largest_margin
