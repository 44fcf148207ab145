"""Projected Gauss-Seidel on the rows of a step, a fixed number of sweeps (NOTES 0.15, friction step of 0.16).

One row after the other, with the rates as they are by then,

    alpha_i = max(0, alpha_i - (u_i - n_i) / S_ii),    beta_k = min(max(beta_k - u_k / S_kk, -mu alpha), mu alpha)

from the impulses of the last step. NOTES 0.16 has the second with the wrong sign in its second case. Loops and joints
are not among the rows: reduced coordinates, and the elimination of `Contacts`, hold them to round-off.
"""

import numpy as np

from varint.methods.reduced.contact_solvers.base import Rival, VelocityProblem, register

SWEEPS = 20


@register
class GaussSeidel(Rival):
    """Friction of each tangent by itself, up to mu alpha, and rates along rows with the error that the sweeps leave."""

    name = "gauss_seidel"
    what = f"projected Gauss-Seidel, {SWEEPS} sweeps, friction box (NOTES 0.15, 0.16)"
    sweeps = SWEEPS

    def impulses(self, problem: VelocityProblem) -> np.ndarray:
        """See `Rival`."""
        m, z, reduced = self.one_sided, problem.start.copy(), problem.reduced
        offset = problem.free - np.append(problem.bound, np.zeros(len(z) - m))
        S = reduced @ reduced.T
        size = np.diag(S)
        order = [(s, np.zeros(0, dtype=np.int64)) for s in range(m - len(self.normal_rows))]
        order += list(zip(self.normal_rows.tolist(), self.tangent_rows, strict=True))
        friction = np.append(np.zeros(m - len(self.normal_rows)), self.ground.friction)
        for _ in range(self.sweeps):
            for normal, tangents in order:
                if problem.movable[normal]:
                    z[normal] = max(z[normal] - (S[normal] @ z + offset[normal]) / size[normal], 0.0)
                most = friction[normal] * z[normal]
                for k in tangents:
                    if problem.movable[k]:
                        z[k] = min(max(z[k] - (S[k] @ z + offset[k]) / size[k], -most), most)
        return z
