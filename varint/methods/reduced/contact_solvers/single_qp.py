"""The single quadratic program of Anitescu and Hart with a friction pyramid of four sides (DIFF eq. 1.103).

The dual of DIFF, with the sign of N that makes impulses push, is

    min 1/2 z^T S z + z^T (u0 - n)   with   alpha >= 0,  |beta_1| + |beta_2| <= mu alpha   at each point.

The impulses at a point are sums of non-negative ones along the four edges of its pyramid, normal + mu tangent. So the
primal program has four one-sided rows a point,

    min 1/2 v^T A v - b^T v   with   G v = g,   (N +- mu T_1) v >= n,   (N +- mu T_2) v >= n.

It is convex because it couples the normal rate with the slip: where a point slides along an edge the normal rate is
n + mu |slip|, not n, so that the gap comes to h mu |slip|.
"""

import numpy as np

from varint.methods.reduced.contact_solvers.base import Rival, VelocityProblem, register
from varint.methods.reduced.contacts import ContactRows
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.program import Infeasible, solve_program


@register
class SingleProgram(Rival):
    """Friction along the edges of a pyramid, and a contact that slides hovers."""

    name = "single_qp"
    what = "one quadratic program, friction pyramid of 4 sides (DIFF eq. 1.103, Anitescu and Hart)"

    def __init__(self, equations: Equations) -> None:
        super().__init__(equations)
        edges, owner = [], []
        friction = np.concatenate([np.zeros(len(self.measure)), self.ground.friction])
        for s in range(self.one_sided):
            normal = np.zeros(self.first[-1])
            normal[s] = 1.0
            if friction[s] == 0.0:
                edges.append(normal)
                owner.append(s)
                continue
            for row in self.tangent_rows[s - len(self.measure)]:
                for sign in (1.0, -1.0):
                    edge = normal.copy()
                    edge[row] = sign * friction[s]
                    edges.append(edge)
                    owner.append(s)
        self._edges, self._owner = np.array(edges).reshape(-1, self.first[-1]), np.array(owner, dtype=np.int64)

    def impulses(self, problem: VelocityProblem) -> np.ndarray:
        """See `Rival`."""
        try:
            solution = solve_program(problem.step, self._edges @ problem.along, problem.bound[self._owner], [])
        except Infeasible as contradiction:
            raise Infeasible(np.unique(self._owner[contradiction.rows])) from None
        return self._edges.T @ solution.alpha

    def _obeyed(self, rows: ContactRows, rates: np.ndarray) -> bool:
        """See `Contacts`."""
        return bool((self._edges @ (rows.by_rates @ rates) >= rows.bound[self._owner]).all())
