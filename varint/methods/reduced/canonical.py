"""Canonical momenta p = M dq, N s, N m s, and forces F = dL/dq + Q of a tree, with exact derivatives.

The equations of motion are dp/dt = F(t, q, dq): Q are the generalised forces of loads and laws, and gravity is part of
L. Both p and F are found in O(n) (recursions/momentum_recursions.py), and so are their derivatives along a direction.
"""

import numpy as np

from varint.methods.reduced.equations import Equations
from varint.methods.reduced.inverse import InverseDynamics
from varint.methods.reduced.recursions import force_tangents
from varint.methods.reduced.recursions import momentum_recursions as momenta
from varint.methods.reduced.recursions import tangent_recursions as tangents


class Canonical(InverseDynamics):
    """Evaluates p and F of a tree without loops, couplings and prescribed joints, and then their derivatives there."""

    def __init__(self, equations: Equations) -> None:
        super().__init__(equations)
        nl, self._none = equations.nodes.parent.size, np.zeros(equations.nq)
        self._W, self._X = np.zeros((2, nl + 1, 6))
        self._no_motion = np.zeros((nl, 6))

    def momentum(self, q: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """Return p (nq,) at ``q`` and ``rates`` (nq,)."""
        self.equations.place_and_move(q, rates)
        p = np.empty(q.size)
        momenta.find_momenta(self.equations.work, self._W, p)
        return p

    def rates_of_momentum(self, q: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Return dq = M^-1 p (nq,)."""
        work = self.equations.work
        work.q[:], work.rates[:] = q, p
        momenta.find_rates(work, self._no_motion)
        return work.rates.copy()

    def force(self, t: float, q: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """Return F (nq,) at time ``t``."""
        e, F = self.equations, np.empty(q.size)
        self.momentum(q, rates)
        momenta.find_forces(e.work, e.gravity, e.load(t), self._W, F)
        return F

    def momentum_and_force(self, t: float, q: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return p and F (nq,) at time ``t``; `by_motion` then gives their derivatives."""
        e, p, F = self.equations, np.empty(q.size), np.empty(q.size)
        self._accelerated(q, rates, self._none)
        momenta.find_momenta(e.work, self._W, p)
        momenta.find_forces(e.work, e.gravity, e.load(t), self._W, F)
        self._X[:] = e.work.wrench
        return p, F

    def by_motion(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the derivatives (2, nq, nq) of p, and of F, by q and by dq, after `momentum_and_force`."""
        e, nq = self.equations, self.equations.nq
        e.differentiate_loads()
        p, F = np.empty((2 * nq, nq)), np.empty((2 * nq, nq))
        for k, change in enumerate(np.eye(2 * nq)):
            self._differentiate(change[:nq], change[nq:], p[k], F[k])
        return tuple(array.reshape(2, nq, nq).swapaxes(1, 2) for array in (p, F))  # type: ignore[return-value]

    def _differentiate(self, u: np.ndarray, du: np.ndarray, p: np.ndarray, F: np.ndarray) -> None:
        """Write the changes of p and F (nq,) along the changes ``u``, ``du`` (nq,) of q and dq."""
        e, tangent, loads = self.equations, self.tangent, np.empty(self._none.size)
        momenta.change_momenta(tangent, u, du)
        tangent.total_wrench[:] = self._W
        tangents.change_efforts(tangent, u, p)
        dW = tangent.wrench_change.copy()
        tangent.wrench_change[:] = 0.0
        momenta.change_rates_of_momenta(tangent, u, du, self._W, dW, tangent.wrench_change, F)
        if e.ne:
            work = e.work
            force_tangents.changes_of_bodies(
                self.node, e.rotation, work.twist, self._pose, self._change, self._motion, self._faster
            )
            bodies = e.velocity, self._motion, self._faster
            force_tangents.change_loads(
                e.compiled.plan, e.ws, self.node, e.position, e.rotation, bodies, self._pose, tangent.wrench_change
            )
        tangent.total_wrench[:] = self._X
        tangents.change_efforts(tangent, u, loads)
        F -= loads
