"""Derivatives of the stages of a reduced run with deformable bodies or nets.

The coordinates are those of the joints j and of the free vertices f. With K as in stage_derivatives.py, the vertices
are eliminated by the sparse factors of K_ff, which leaves the joints the matrix K_jj - K_jf K_ff^-1 K_fj.
"""

from typing import Any

import numpy as np
from scipy.sparse.linalg import splu

from varint.derivatives.reduced.stage_derivatives import ImplicitStage, NoDerivative
from varint.methods.reduced.inverse import InverseDynamics
from varint.methods.reduced.mesh_dynamics import MeshInverse


class MeshStageDerivatives(ImplicitStage):
    """See `StageDerivatives`."""

    def _derivatives(self, inverse: InverseDynamics) -> tuple[Any, Any, Any, np.ndarray, np.ndarray]:
        assert isinstance(inverse, MeshInverse)
        derivatives = inverse.by_motion()
        if not all(np.isfinite(part.data).all() for part in derivatives[:3]):
            raise NoDerivative
        return derivatives

    def _of_joints(self, K: Any) -> np.ndarray:
        nq = self.nq
        self.above, below = K[:nq, nq:].toarray(), K[nq:, :nq].toarray()
        try:
            self.factors = splu(K[nq:, nq:].tocsc())
        except RuntimeError:  # singular
            raise NoDerivative from None
        self.followed = self.factors.solve(below) if below.size else below
        return K[:nq, :nq].toarray() - self.above @ self.followed

    def _solved(self, tau: np.ndarray, sigma: np.ndarray, back: bool) -> tuple[np.ndarray, np.ndarray]:
        of_joints, free = np.split(tau, [self.nq])
        if back:
            joints, rows = super()._solved(of_joints - self.followed.T @ free, sigma, back)
            return np.append(joints, self._vertices(free - self.above.T @ joints, "T")), rows
        alone = self._vertices(free, "N")
        joints, rows = super()._solved(of_joints - self.above @ alone, sigma, back)
        return np.append(joints, alone - self.followed @ joints), rows

    def _vertices(self, right: np.ndarray, transposed: str) -> np.ndarray:
        return self.factors.solve(right, transposed) if right.size else right
