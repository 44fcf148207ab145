"""Bilateral staggered projections with external contacts (BISP, DIFF section 2.11, Algorithm 8).

Normal loads, and friction inside joints and at contacts, are found in turn. A pass has three parts:

    v, alpha   min 1/2 v^T A v - (b + B^T beta)^T v   with   G v = g,  N v >= n          (contacts, the reduced program)
    c          mu |pressures| at the points of joints that make up the wrench transmitted then, and mu alpha
    beta       min 1/2 (beta - beta')^T W (beta - beta') + (beta - beta')^T B v   with   |beta| <= c

beta' is the friction before, and W = T M^-1 T^T has the masses of *free* bodies: joints are not in it, they answer in
the next pass. Corrections of DIFF: its bounds -mu alpha <= beta <= mu alpha (eq. 2.121) take |alpha|, since pressures
of joints have either sign; its eq. 2.126 counts the difference of the contact forces of two programs as forces of
joints, here the wrench of a joint is without forces of contacts and loops (as in `JointFrictions.pressures`, which has
the missing h Jdot v of eq. 2.124 too); the slip is B v of the reduced rates, so that a fixed point sticks exactly. At
convergence each row obeys Coulomb's law in a box: no slip below the bound, friction against the slip at it.

Where friction holds, a row with the size S of the mechanism and W of free bodies loses the share S / W of its rate with
each pass: a light body at the end of a heavy mechanism takes many.
"""

import numpy as np
from scipy.optimize import lsq_linear

from varint.methods.reduced.complementarity import Ray, solve_complementarity
from varint.methods.reduced.contact_solvers.base import Rival, register
from varint.methods.reduced.contact_solvers.staggered import CONVERGED
from varint.methods.reduced.contacts import Blocked, ContactProblem, ContactRows, GivenStep
from varint.methods.reduced.program import Infeasible, solve_program
from varint.methods.reduced.saddle import LinearStep

MOST_PASSES, CLOSE = 300, 1e-3  # and the relative change of the impulses that is accepted in the last one


@register
class BilateralProjections(Rival):
    """Friction of each row by itself, by free masses, in turn with its normal load; joint friction too."""

    name = "bisp"
    what = "bilateral staggered projections, joint friction and contacts, friction box (DIFF 2.11, Algorithm 8)"
    joint_friction = True
    passes = 0  # of the last step

    def _impulses(self, task: GivenStep, rows: ContactRows, bound: np.ndarray) -> np.ndarray:
        """See `Contacts`."""
        movable = self.moving(task, rows, bound)
        problem = ContactProblem(self, task, rows, bound, movable)
        kept, count, cones = problem.kept, len(problem.normals), problem.cones
        S, free, first = cones.S, cones.free, problem.first
        weights = self._root_masses(rows.load[kept[count:]])
        momentum = self._root_momenta(rows.jacobian)
        E, reduced, rest = task.rest.E, rows.by_rates[kept] @ task.rest.E, task.rest
        z = self.z[kept]
        for self.passes in range(1, MOST_PASSES + 1):
            before = z.copy()
            try:
                z[:count] = _normal_impulses(S[:count], free[:count] + S[:count, count:] @ z[count:])
            except Ray:
                step = task.step._replace(b=task.step.b + rows.by_rates[kept[count:]].T @ z[count:])
                z[:count] = _by_program(step, rows.by_rates, bound, problem.normals)
            most = np.repeat(problem.bounds(z), np.diff(first))
            v = rest.p + E @ (rest.target + reduced.T @ z)
            z[count:] = _friction(weights, momentum @ v, z[count:], most)
            change, size = np.linalg.norm((z - before) @ reduced), np.linalg.norm(z @ reduced)
            if change <= CONVERGED * size or (self.passes == MOST_PASSES and change <= CLOSE * size):
                whole = np.zeros(len(self.z))
                whole[kept] = z
                return whole
        names = ", ".join([*self.frictions.labels, *self.ground.labels])
        raise Blocked(
            f"bilateral staggered projections of {names} did not converge in {MOST_PASSES} passes: friction changes"
            " what presses on it by too much, or is found by the masses of free bodies that are far lighter than what"
            " they move. Use contact_solver='cones', or less friction"
        )

    def _root_masses(self, load: np.ndarray) -> np.ndarray:
        """Return X (n, 6 nb) with X X^T = T M^-1 T^T for the loads T (n, nb + 1, 6) of unit impulses."""
        bodies = self.equations.compiled.plan.bodies
        linear = load[:, :-1, :3] / np.sqrt(bodies.mass)[:, None]
        angular = np.einsum("nbi,bij->nbj", load[:, :-1, 3:], np.linalg.cholesky(np.linalg.inv(bodies.inertia)))
        return np.concatenate([linear, angular], axis=2).reshape(len(load), 6 * bodies.mass.size)

    def _root_momenta(self, jacobian: np.ndarray) -> np.ndarray:
        """Return the Jacobian of the bodies times M^1/2 (6 nb, nq): X times it is the slip of rows by the rates."""
        bodies = self.equations.compiled.plan.bodies
        motion = jacobian.reshape(self.equations.nb, 6, -1)
        linear = np.sqrt(bodies.mass)[:, None, None] * motion[:, :3]
        angular = np.linalg.inv(np.linalg.cholesky(np.linalg.inv(bodies.inertia))) @ motion[:, 3:]
        return np.concatenate([linear, angular], axis=1).reshape(jacobian.shape)


def _normal_impulses(S: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Return the least impulses (m,) along the one-sided rows that leave no rate below its bound; raises Ray."""
    m = len(free)
    size = np.sqrt(np.diag(S[:, :m]))
    unit = S[:, :m] / np.outer(size, size)
    return solve_complementarity(free / size, lambda j: unit[:, j]).z / size


def _by_program(step: LinearStep, by_rates: np.ndarray, bound: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """Return the impulses of `_normal_impulses` from a convex program, along the one-sided rows ``normals``.

    Raises Infeasible, which has the contradicting rows.
    """
    try:
        return solve_program(step, by_rates[normals], bound[normals], []).alpha
    except Infeasible as problem:
        raise Infeasible(normals[problem.rows]) from None


def _friction(weights: np.ndarray, motion: np.ndarray, before: np.ndarray, most: np.ndarray) -> np.ndarray:
    """Return the friction (n,) within ``most`` (n,) that leaves the least kinetic energy of free bodies.

    ``weights`` (n, 6 nb): X of the rows; ``motion`` (6 nb,): M^1/2 times the velocities, which include the friction
    ``before`` (n,).
    """
    free = np.flatnonzero(most > 0.0)
    beta = np.zeros(len(most))
    if free.size:
        X, bound = weights[free].T, most[free]
        solution = lsq_linear(X, X @ before[free] - motion, (-bound, bound), method="bvls", tol=1e-14, max_iter=500)
        beta[free] = solution.x
    return beta
