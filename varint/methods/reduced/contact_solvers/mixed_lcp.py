"""The mixed linear complementarity problem of a step as a pure one (NOTES 0.7), by pivots (0.8), with friction (0.10).

Loops and prescribed joints are eliminated, v = p + E y with E^T A E = 1: with the rows Y of the impulses z, the matrix
that NOTES 0.7 writes as N A^-1 N^T is (Y E) (Y E)^T. Rows and impulses are scaled so that its diagonal is one. Signs
are of impulses that push, A v = b + N^T theta + D^T phi (the first two systems of NOTES 0.10 have the opposite ones).
Friction is of one of two kinds.

Of Anitescu, Stewart and Trinkle, along the four directions d_k = +- tangents of a point, with its greatest slip xi:

    0 <= phi_k,  D_k v + xi >= 0,  their product zero;    0 <= xi,  mu theta - sum phi_k >= 0,  their product zero.

Of a box, |phi| <= mu t along each tangent, where t is an estimate of theta: here theta without friction. The upper
bounds have multipliers psi: with x = phi + mu t and r = D v,

    0 <= x,  r + psi >= 0,  their product zero;    0 <= psi,  2 mu t - x >= 0,  their product zero.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from varint.methods.reduced.complementarity import Ray, solve_complementarity
from varint.methods.reduced.contact_solvers.base import Rival, VelocityProblem, register
from varint.methods.reduced.contacts import Blocked
from varint.methods.reduced.program import MET, Infeasible, solve_program


class UnitRows(NamedTuple):
    """Rows (n, k) of Y E of length one, their ``size`` (n,), and (n,) rates less bounds over the size."""

    row: np.ndarray
    size: np.ndarray
    free: np.ndarray


class MixedProblem(Rival):
    """The part that both kinds of friction share; ``columns``: how many columns of the matrix the last step needed."""

    columns = 0

    def impulses(self, problem: VelocityProblem) -> np.ndarray:
        """See `Rival`."""
        m, movable = self.one_sided, problem.movable
        stuck = ~movable[:m] & (problem.bound - problem.free[:m] > MET)
        if stuck.any():
            raise Infeasible(np.flatnonzero(stuck))
        size = np.where(movable, np.linalg.norm(problem.reduced, axis=1), 1.0)
        free = problem.free - np.append(problem.bound, np.zeros(len(movable) - m))
        self.columns = 0
        try:
            return self._solved(UnitRows(problem.reduced / size[:, None], size, free / size), np.flatnonzero(movable))
        except Ray:
            solve_program(problem.step, problem.along[:m], problem.bound, [])  # names rows that contradict each other
            names = ", ".join(self.ground.labels)
            raise Blocked(
                f"the linear complementarity problem of {names} has no solution that pivots find. Use"
                " contact_solver='cones', or less friction"
            ) from None

    def _solved(self, rows: UnitRows, moving: np.ndarray) -> np.ndarray:
        """Return the impulses (n,); raises Ray.

        ``moving``: numbers of the rows along which any impulse changes the rate.
        """
        raise NotImplementedError

    def _solve(self, q: np.ndarray, column: Callable[[int], np.ndarray]) -> np.ndarray:
        solution = solve_complementarity(q, column)
        self.columns += solution.columns
        return solution.z

    def _normals(self, rows: UnitRows, normals: np.ndarray) -> np.ndarray:
        """Return the impulses along the one-sided rows ``normals`` without friction, times the sizes of the rows."""
        Y = rows.row[normals]
        return self._solve(rows.free[normals], lambda j: Y @ Y[j])


@register
class BoxProblem(MixedProblem):
    """Friction of each tangent by itself, up to mu times the normal impulse that there is without friction."""

    name = "lcp_box"
    what = "mixed LCP by Lemke's pivots, friction box from normal impulses without friction (NOTES 0.7, 0.8, 0.10)"

    def _solved(self, rows: UnitRows, moving: np.ndarray) -> np.ndarray:
        m, size = self.one_sided, rows.size
        normals, estimate, z = moving[moving < m], np.zeros(m), np.zeros(len(size))
        estimate[normals] = self._normals(rows, normals) / size[normals]
        most = np.repeat(self.ground.friction * estimate[self.normal_rows], 2) * size[m:]
        tangents = moving[moving >= m]
        tangents = tangents[most[tangents - m] > 0.0]
        if not tangents.size:
            z[:m] = estimate
            return z
        bound, count = most[tangents - m], len(normals)
        Y = rows.row[np.concatenate([normals, tangents])]
        least = rows.free[np.concatenate([normals, tangents])] - Y @ (Y[count:].T @ bound)
        unit = np.vstack([np.zeros((count, len(bound))), np.eye(len(bound))])

        def column(j: int) -> np.ndarray:
            if j >= len(Y):
                return np.append(unit[:, j - len(Y)], np.zeros(len(bound)))
            return np.append(Y @ Y[j], -unit[j])

        x = self._solve(np.append(least, 2.0 * bound), column)
        z[normals] = x[:count] / size[normals]
        z[tangents] = (x[count : len(Y)] - bound) / size[tangents]
        return z


@register
class PyramidProblem(MixedProblem):
    """Friction |phi_1| + |phi_2| up to mu theta, normal impulses and friction at once."""

    name = "lcp_pyramid"
    what = "mixed LCP by Lemke's pivots, friction pyramid of Anitescu, Stewart and Trinkle (NOTES 0.7, 0.8, 0.10)"

    def _solved(self, rows: UnitRows, moving: np.ndarray) -> np.ndarray:
        m, size = self.one_sided, rows.size
        normals, z = moving[moving < m], np.zeros(len(size))
        points = np.flatnonzero((self.ground.friction > 0.0) & np.isin(self.normal_rows, normals))
        owner, tangent = np.divmod(moving[moving >= m] - m, 2)
        along = np.isin(owner, points)
        owner, tangent = np.repeat(owner[along], 2), np.repeat(self.tangent_rows[owner[along], tangent[along]], 2)
        sign = np.tile([1.0, -1.0], len(owner) // 2)
        pressing, point = self.normal_rows[owner], np.searchsorted(points, owner)
        Y = np.concatenate([rows.row[normals], sign[:, None] * rows.row[tangent]])
        slip = np.zeros((len(Y), len(points)))  # of each edge, in units of the normal row
        slip[len(normals) + np.arange(len(owner)), point] = size[pressing] / size[tangent]
        cone = -slip.T.copy()
        at = np.searchsorted(normals, self.normal_rows[points])
        cone[np.arange(len(points)), at] = self.ground.friction[points]

        def column(j: int) -> np.ndarray:
            if j >= len(Y):
                return np.append(slip[:, j - len(Y)], np.zeros(len(points)))
            return np.append(Y @ Y[j], cone[:, j])

        q = np.concatenate([rows.free[normals], sign * rows.free[tangent], np.zeros(len(points))])
        x = self._solve(q, column)
        z[normals] = x[: len(normals)] / size[normals]
        np.add.at(z, tangent, sign * x[len(normals) : len(Y)] / size[tangent])
        return z
