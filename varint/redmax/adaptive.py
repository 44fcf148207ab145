"""Integrators with error control, scipy's: RK45, DOP853, Radau."""

import numpy as np
from scipy.integrate import DOP853, RK45, Radau

from varint.redmax.inverse import InverseDynamics

METHODS: dict = {"rk45": RK45, "dop853": DOP853, "radau": Radau}


class NotFinite(ArithmeticError):
    """A derivative that is no number."""


class Adaptive:
    """A run of ``equations`` from (q, qdot) by scipy's solver ``method``.

    The work of the laws and the deviations of servos with an integral gain are integrated along.

    Attributes
    ----------
    t : float
    y : (2 nq + nf + ns,) q, qdot, the work of each law, J, and the integrals of deviations, m s, rad s
    evaluations, steps, newton_iterations : int
    failure : str or None
    """

    newton_iterations = 0  # Radau's are not counted

    def __init__(self, equations, method, q, qdot, end, rtol, atol):
        self.equations, self.method, self.end = equations, METHODS[method], end
        self.tolerances = {"rtol": rtol, "atol": atol}
        self.t, self.y = 0.0, np.concatenate([q, qdot, np.zeros(equations.nf + equations.servos.size)])
        if method == "radau" and not (equations.row_count or equations.drives or equations.servos.size):
            self.inverse = InverseDynamics(equations)
            self.tolerances["jac"] = self._jacobian
        self.evaluations = self.steps = 0
        self.failure = None
        self._start(None)

    def _start(self, first_step):
        self.equations.change_charts(*self._split())
        self._reach()
        self.solver = self.method(self._slope, self.t, self.y, self.end, first_step=first_step, **self.tolerances)

    def _split(self):
        nq = self.equations.nq
        return self.y[:nq], self.y[nq : 2 * nq]

    def _integral(self, y):
        return y[2 * self.equations.nq + self.equations.nf :]

    def _reach(self):
        """Whether the state was changed: near singular poses its loops are closed."""
        self.equations.integrate_from(self._integral(self.y), 0.0)
        if self.equations.reach(self.t, *self._split()):
            return False
        self.equations.close(*self._split())
        return True

    def _slope(self, t, y):
        nq, slope = self.equations.nq, np.empty_like(y)
        self.equations.integrate_from(self._integral(y), 0.0)
        slope[:nq] = self.equations.imposed(t, y[:nq], y[nq : 2 * nq])[1]
        slope[nq : 2 * nq] = self.equations.acceleration(t, y[:nq], y[nq : 2 * nq])
        slope[2 * nq :] = np.concatenate([self.equations.power, self.equations.deviation])
        self.evaluations += 1
        if not np.isfinite(slope).all():
            raise NotFinite
        return slope

    def _jacobian(self, t, y):
        """Derivatives of the slope of a tree: -M^-1 times those of tau. Of the work of laws, which nothing depends on,
        they are left out: it converges with the iteration of the others."""
        nq, no_loops = self.equations.nq, np.zeros(0)
        q, rates = y[:nq], y[nq : 2 * nq]
        self.inverse.evaluate(t, q, rates, self.equations.acceleration(t, q, rates).copy(), no_loops)
        M, *others = (self.inverse.derivatives(*which)[0] for which in np.eye(3)[::-1])
        J = np.zeros((y.size, y.size))
        J[:nq, nq : 2 * nq] = np.eye(nq)
        by_rates, by_q = np.split(np.linalg.solve(M, -np.hstack(others)), 2, axis=1)
        J[nq : 2 * nq, :nq], J[nq : 2 * nq, nq : 2 * nq] = by_q, by_rates
        return J

    def step(self, times):
        """One step; states (k, ...) at those of the ``times`` that it passed, none where it failed, and their tree."""
        tree = self.equations.tree
        try:
            message = self.solver.step()
        except NotFinite:
            message = "accelerations are not finite"
        if self.solver.status == "failed" or message:
            self.failure = message or "the step size went to zero"
            return np.empty((0, self.y.size)), tree
        passed = times[slice(*np.searchsorted(times, (self.t, self.solver.t), side="right"))]
        states = self.solver.dense_output()(passed).T if passed.size else np.empty((0, self.y.size))
        self.steps += 1
        size, self.t, self.y = self.solver.t - self.t, self.solver.t, self.solver.y.copy()
        if self.t < self.end and (self.equations.change_charts(*self._split()) or self._reach()):
            self._start(min(size, self.end - self.t))
        return states, tree
