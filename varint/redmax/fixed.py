"""Runs with steps of one size: linearly implicit Euler, BDF1, SDIRK2 and BDF2."""

import numpy as np

from varint.redmax.contacts import Blocked
from varint.redmax.implicit import NotConverged, Stages
from varint.redmax.linear import euler_step

METHODS = ("euler", "bdf1", "bdf2", "sdirk2")


class Fixed:
    """A run of ``equations`` from (q, qdot) in steps of ``dt`` by ``method``.

    Charts are changed where a step starts. The work of the laws is summed by the trapezoidal rule. Prescribed joints
    are where their motion has them from the start on. ``contacts``: hard stops and joint friction, for linearly
    implicit Euler.

    Attributes
    ----------
    t : float
    y : (2 nq + nf + ns + nc,) q, qdot, the work of each law, J, the integrals of deviations, m s, rad s, and the sums
        of the impulses of ``contacts``
    evaluations, steps, newton_iterations : int
    failure : str or None
    """

    def __init__(self, equations, method, q, qdot, end, dt, contacts=None):
        self.equations, self.method, self.end, self.dt = equations, method, end, dt
        q, qdot, _ = equations.imposed(0.0, q, qdot)
        summed = np.zeros(equations.nf + equations.servos.size + (contacts.impulse.size if contacts else 0))
        self.t, self.y = 0.0, np.concatenate([q, qdot, summed])
        self.stages, self.contacts = Stages(equations), contacts
        self.steps = 0
        self.failure = None
        self.before = None  # q, qdot and integrals of the last node, for BDF2
        self.power = self._settle()

    @property
    def newton_iterations(self):
        return self.stages.iterations

    @property
    def evaluations(self):
        return self.stages.iterations + self.steps * (self.method == "euler")

    def _split(self):
        """q, qdot, the work of the laws, the integrals and the impulses: views of y."""
        e = self.equations
        return np.split(self.y, np.cumsum([e.nq, e.nq, e.nf, e.servos.size]))

    def _settle(self):
        """Powers (nf,) at the node; angles of forces count their turns from here, integrals end there."""
        equations = self.equations
        q, qdot, _, integral, _ = self._split()
        equations.place(q)
        equations.move(q, qdot)
        equations.load(self.t)
        integral[:] = equations.integral
        equations.turns[:] = equations.value
        return equations.power.copy()

    def step(self, times):
        """One step; the new state (1, ...), or none if it failed, and its tree. ``times``: of all nodes."""
        q, v, _, integral, _ = (part.copy() for part in self._split())
        t, h = self.t, self.dt
        if self.equations.change_charts(q, v):
            self.before = None
            q, v, _ = self.equations.imposed(t, q, v)
        now = q, v, integral
        try:
            if self.method == "euler":
                after = euler_step(self.equations, t, h, *now, self.contacts)
            elif self.method == "bdf1":
                after = self.stages.bdf1(t, h, *now)
            elif self.method == "bdf2" and self.before is not None:
                after = self.stages.bdf2(t, h, *now, *self.before)
            else:
                after = self.stages.sdirk2(t, h, *now)
        except Blocked as problem:
            self.failure = str(problem)
            return np.empty((0, self.y.size)), self.equations.tree
        except (NotConverged, np.linalg.LinAlgError):
            self.failure = "Newton's iteration did not converge. A smaller dt may help"
            return np.empty((0, self.y.size)), self.equations.tree
        if not all(np.isfinite(part).all() for part in after):
            self.failure = "the motion is not finite any more. A smaller dt may help"
            return np.empty((0, self.y.size)), self.equations.tree
        self.before = now
        self.t = times[self.steps]
        self.steps += 1
        self.y = np.concatenate([*after, self.y[2 * self.equations.nq :]])
        power = self._settle()
        _, _, work, _, impulse = self._split()
        work += 0.5 * h * (self.power + power)
        if self.contacts:
            work += self.contacts.work
            impulse += self.contacts.impulse
        self.power = power
        return self.y[None].copy(), self.equations.tree
