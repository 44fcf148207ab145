"""REDMAX as its paper has it: J^T M J is assembled and solved as a dense matrix, in O(n^3).

    J^T M J ddq = J^T (f - M dJ/dt dq) + G^T lambda,    G ddq = -c        (DIFF eq. 2.105)

The steps are as in "ode45", the pair of Dormand and Prince with error control: the same as by the recursions.
"""

import numpy as np
from scipy.integrate import RK45
from scipy.linalg import solve_triangular

from varint.methods.reduced.constraint_forces import NotFinite
from varint.methods.reduced.integrators.base import register
from varint.methods.reduced.integrators.error_controlled import Adaptive


@register
class MatrixRK45(Adaptive):
    """Explicit Runge-Kutta, order 5, with dense matrices in place of the recursions."""

    name, order = "matrix", 5
    what = "REDMAX with dense matrices and explicit Runge-Kutta, with error control"
    solver_class = RK45
    locates = False

    def acceleration(self, t: float, q: np.ndarray, rates: np.ndarray) -> np.ndarray:
        e = self.equations
        if e.paths:  # the matrices of the equations are dense then
            return e.acceleration(t, q, rates)
        q, rates, second = e.imposed(t, q, rates)
        e.place_and_move(q, rates)
        free, J = ~e.driven_columns, e.jacobian()
        at_rest = J @ second + e.jacobian_rate() @ rates  # accelerations of the bodies by prescribed motions and rates
        force = e.load(t).copy()
        force[:, :3] += e.compiled.plan.bodies.mass[:, None] * e.gravity
        force[:, 3:] -= np.cross(e.velocity[:, 3:], self._times_mass(e.velocity)[:, 3:])
        force -= self._times_mass(at_rest.reshape(e.nb, 6))
        M = e.mass_matrix()[np.ix_(free, free)]
        if not (np.isfinite(M).all() and np.isfinite(force).all()):
            raise NotFinite
        try:
            L = np.linalg.cholesky(M)
        except np.linalg.LinAlgError:  # a singular mass matrix
            raise NotFinite from None
        u = solve_triangular(L, J[:, free].T @ force.ravel(), lower=True)
        if e.row_count:
            u += self._correction(L, u, (q, rates, second), J, at_rest)
        second[free] = solve_triangular(L, u, lower=True, trans="T")
        return second

    def _times_mass(self, motion: np.ndarray) -> np.ndarray:
        """Return M times the motions (nb, 6) of the bodies."""
        bodies = self.equations.compiled.plan.bodies
        angular = np.einsum("nij,nj->ni", bodies.inertia, motion[:, 3:])
        return np.concatenate([bodies.mass[:, None] * motion[:, :3], angular], axis=1)

    def _correction(
        self, L: np.ndarray, u: np.ndarray, at: tuple[np.ndarray, ...], J: np.ndarray, at_rest: np.ndarray
    ) -> np.ndarray:
        """Change of u = L^T ddq that closes the loops, in the sense of least squares."""
        e, (q, rates, second) = self.equations, at
        free, open_, motion = ~e.driven_columns, second.copy(), np.zeros((e.nb + 1, 6))
        open_[free] = solve_triangular(L, u, lower=True, trans="T")
        motion[: e.nb] = (at_rest + J[:, free] @ open_[free]).reshape(e.nb, 6)
        rows, wanted = e.missing_accelerations(open_, q, rates, motion)
        A = solve_triangular(L, e.reduced_rows(rows)[:, free].T, lower=True).T
        return e.constraints.solve(A, wanted)
