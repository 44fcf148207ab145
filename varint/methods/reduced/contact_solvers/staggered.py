"""Staggered projections of Kaufman and others: programs of the normals and of the friction in turn (DIFF Algorithm 7).

    min 1/2 v^T A v - (b + T^T beta)^T v          with  G v = g,  N v >= n       gives alpha
    min 1/2 v^T A v - (b + N^T alpha)^T v + sum_k c_k |T_k v|  with  G v = g     gives |beta_k| <= c_k = mu alpha

until alpha changes by less than `CONVERGED` in the metric of A^-1 (DIFF eqs. 2.120 and 2.121, in primal form; the sign
of alpha is that of impulses that push). The friction of the last step is where it starts. A fixed point obeys the law
of the friction polygon. Where alpha follows from the friction of one point that slides, alpha' = c - r alpha with
r = mu |S_nt| / S_nn: the passes diverge from r = 1 on, at Painleve's configurations, though a solution may exist.
"""

from typing import ClassVar

import numpy as np

from varint.methods.reduced.contact_solvers.base import Rival, VelocityProblem, register
from varint.methods.reduced.contacts import Blocked
from varint.methods.reduced.program import solve_program

CONVERGED = 1e-9  # of the impulses
PASSES = 200
BOX = np.eye(2)
PYRAMID = np.array([[0.5, 0.5], [0.5, -0.5]])  # of rows whose impulses are beta_1 + beta_2 and beta_1 - beta_2


@register
class StaggeredBox(Rival):
    """Friction of each tangent by itself, up to mu alpha: a square whose corners are sqrt(2) too far out."""

    name = "staggered"
    what = "staggered projections, friction box (DIFF eqs. 2.120, 2.121)"
    polygon: ClassVar[np.ndarray] = BOX

    def impulses(self, problem: VelocityProblem) -> np.ndarray:
        """See `Rival`."""
        step, along, reduced, bound = problem.step, problem.along, problem.reduced, problem.bound
        m, points = self.one_sided, len(self.normal_rows)
        turned = np.kron(np.eye(points), self.polygon)
        tangents, none = turned @ along[m:], np.zeros((0, along.shape[1]))
        z = problem.start.copy()
        before = np.zeros(m)  # not of the last step: the friction is to be solved for at least once
        for _ in range(PASSES):
            alpha = solve_program(step._replace(b=step.b + along[m:].T @ z[m:]), along[:m], bound, []).alpha
            z = np.append(alpha, z[m:])
            if np.linalg.norm((alpha - before) @ reduced[:m]) <= CONVERGED * np.linalg.norm(z @ reduced):
                return z
            before = alpha
            most = np.repeat(self.ground.friction * alpha[self.normal_rows], 2)
            held = np.flatnonzero(most > 0.0)
            cones = [(most[k], tangents[k : k + 1]) for k in held]
            pressed = step._replace(b=step.b + along[:m].T @ alpha)
            along_turned = np.zeros(2 * points)
            if cones:
                along_turned[held] = np.concatenate(solve_program(pressed, none, np.zeros(0), cones).beta)
            z[m:] = turned.T @ along_turned
        names = ", ".join(self.ground.labels)
        raise Blocked(
            f"staggered projections of {names} did not converge in {PASSES} passes: friction changes the normal"
            " impulses by as much as these change the friction. Use contact_solver='cones', or less friction"
        )


@register
class StaggeredPyramid(StaggeredBox):
    """Friction |beta_1| + |beta_2| up to mu alpha: the law of Stewart and Trinkle's LCP with four directions."""

    name = "staggered_pyramid"
    what = "staggered projections, friction pyramid of 4 sides (Stewart and Trinkle's law, NOTES 0.10)"
    polygon = PYRAMID
