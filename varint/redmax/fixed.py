"""Runs with steps of one size: linearly implicit Euler, BDF1, SDIRK2 and BDF2."""

import numpy as np

from varint.redmax.contacts import Blocked
from varint.redmax.implicit import NotConverged, Stages
from varint.redmax.linear import euler_step

METHODS = ("euler", "bdf1", "bdf2", "sdirk2")


class Fixed:
    """A run of ``equations`` from (q, qdot) in steps of ``dt`` by ``method``.

    Charts are changed where a step starts. The work of the laws is summed by the trapezoidal rule. ``contacts``: hard
    stops and joint friction, for linearly implicit Euler.

    Attributes
    ----------
    t : float
    y : (2 nq + nf,) q, qdot and the work of each law, J
    evaluations, steps, newton_iterations : int
    failure : str or None
    """

    def __init__(self, equations, method, q, qdot, end, dt, contacts=None):
        self.equations, self.method, self.end, self.dt = equations, method, end, dt
        self.t, self.y = 0.0, np.concatenate([q, qdot, np.zeros(equations.nf)])
        self.stages, self.contacts = Stages(equations), contacts
        self.steps = 0
        self.failure = None
        self.before = None  # q, qdot of the last node, for BDF2
        self.power = self._settle()

    @property
    def newton_iterations(self):
        return self.stages.iterations

    @property
    def evaluations(self):
        return self.stages.iterations + self.steps * (self.method == "euler")

    def _split(self):
        nq = self.equations.nq
        return self.y[:nq], self.y[nq : 2 * nq]

    def _settle(self):
        """Powers (nf,) at the node; angles of forces count their turns from here."""
        equations = self.equations
        equations.place(self._split()[0])
        equations.move(*self._split())
        equations.load(self.t)
        equations.turns[:] = equations.value
        return equations.power.copy()

    def step(self, times):
        """One step; the new state (1, ...), or none if it failed, and its tree. ``times``: of all nodes."""
        q, v = (part.copy() for part in self._split())
        t, h = self.t, self.dt
        if self.equations.change_charts(q, v):
            self.before = None
        try:
            if self.method == "euler":
                after = euler_step(self.equations, t, h, q, v, self.contacts)
            elif self.method == "bdf1":
                after = self.stages.bdf1(t, h, q, v)
            elif self.method == "bdf2" and self.before is not None:
                after = self.stages.bdf2(t, h, q, v, *self.before)
            else:
                after = self.stages.sdirk2(t, h, q, v)
        except Blocked as problem:
            self.failure = str(problem)
            return np.empty((0, self.y.size)), self.equations.tree
        except (NotConverged, np.linalg.LinAlgError):
            self.failure = "Newton's iteration did not converge. A smaller dt may help"
            return np.empty((0, self.y.size)), self.equations.tree
        if not all(np.isfinite(part).all() for part in after):
            self.failure = "the motion is not finite any more. A smaller dt may help"
            return np.empty((0, self.y.size)), self.equations.tree
        nq = self.equations.nq
        self.before = q, v
        self.t = times[self.steps]
        self.steps += 1
        self.y = np.concatenate([*after, self.y[2 * nq :]])
        power = self._settle()
        self.y[2 * nq :] += 0.5 * h * (self.power + power)
        if self.contacts:
            self.y[2 * nq :] += self.contacts.work
        self.power = power
        return self.y[None].copy(), self.equations.tree
