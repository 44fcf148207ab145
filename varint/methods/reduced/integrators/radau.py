"""Radau IIA with three stages, for stiff forces."""

import numpy as np
from scipy.integrate import Radau

from varint.methods.reduced.integrators.base import register
from varint.methods.reduced.integrators.error_controlled import Adaptive
from varint.methods.reduced.inverse import InverseDynamics

OPTIONAL = ("h_abs_old", "error_norm_old", "LU_real", "LU_complex", "Z", "y_old", "t_old")
SHIFT = 1.5e-8  # of the size of a coordinate or rate: differences for derivatives, the root of the round-off of one


@register
class RadauIIA(Adaptive):
    """Implicit Runge-Kutta, order 5, with the exact matrix of Newton's iteration where nothing but laws act."""

    name, order, stiff = "radau", 5, True
    differentiates = True
    what = "implicit Runge-Kutta, with error control"
    solver_class = Radau

    def configure(self) -> None:
        self.inverse = InverseDynamics(self.equations)

    def _make_solver(self, first_step: float | None) -> None:
        equations = self.equations
        touches = self.events is not None and self.events.acts
        exact = not (equations.row_count or equations.drives or equations.law_state.size or touches)
        self.options["jac"] = self._jacobian if exact else self._differences
        super()._make_solver(first_step)

    def _jacobian(self, t: float, y: np.ndarray) -> np.ndarray:
        """Return the derivatives (n, n) of the slope of a tree by y: -M^-1 times the derivatives of tau.

        Without the work of laws: nothing depends on it, and it converges with the other parts.
        """
        nq, no_loops = self.equations.nq, np.zeros(0)
        q, rates = y[:nq], y[nq : 2 * nq]
        self.inverse.evaluate(t, q, rates, self.equations.acceleration(t, q, rates).copy(), no_loops)
        M, *others = (self.inverse.derivatives(*which)[0] for which in np.eye(3)[::-1])
        J = np.zeros((y.size, y.size))
        J[:nq, nq : 2 * nq] = np.eye(nq)
        by_rates, by_q = np.split(np.linalg.solve(M, -np.hstack(others)), 2, axis=1)
        J[nq : 2 * nq, :nq], J[nq : 2 * nq, nq : 2 * nq] = by_q, by_rates
        return J

    def _differences(self, t: float, y: np.ndarray) -> np.ndarray:
        """Return the derivatives (n, n) of the slope by y, by forward differences.

        Those that scipy takes otherwise lengthen each time along what nothing depends on, such as the position of a
        body that floats, without end. On works and impulses nothing depends.
        """
        e, slope, J = self.equations, self._slope(t, y), np.zeros((y.size, y.size))
        sizes = np.ones(y.size)
        sizes[: 2 * e.nq] = np.tile(e.coordinate_sizes(e.compiled.length), 2)
        for i in (*range(2 * e.nq), *range(2 * e.nq + e.ne, self.own)):
            shifted = y.copy()
            shifted[i] += SHIFT * max(abs(y[i]), sizes[i])
            J[:, i] = (self._slope(t, shifted) - slope) / (shifted[i] - y[i])
        return J

    def memory(self) -> dict[str, np.ndarray]:
        """Return also the matrices of Newton's iteration, which last over steps, and the stages it starts from."""
        s, n = self.solver, self.y.size
        none, pivots = np.zeros((n, n)), np.zeros(n, dtype=np.int64)
        real, complex_ = s.LU_real or (none, pivots), s.LU_complex or (none.astype(complex), pivots)
        return super().memory() | {
            "known": np.array([getattr(s, name) is not None for name in OPTIONAL]),
            "numbers": np.array([number or 0.0 for number in (s.h_abs_old, s.error_norm_old, s.t_old)]),
            "current": np.array([s.current_jac]),
            "J": np.array(s.J),
            "LU_real": np.array(real[0]),
            "LU_complex": np.array(complex_[0]),
            "pivots": np.array([real[1], complex_[1]], dtype=np.int64),
            "Z": np.zeros((3, n)) if s.Z is None else np.array(s.Z),
            "y_old": np.zeros(n) if s.y_old is None else np.array(s.y_old),
        }

    def recall(self, saved: dict[str, np.ndarray]) -> None:
        super().recall(saved)
        s = self.solver
        if ((saved["pivots"] < 0) | (saved["pivots"] >= self.y.size)).any():
            raise ValueError("its checkpoint names unknown pivots")
        numbers, pivots = saved["numbers"].tolist(), saved["pivots"].astype(np.int32)
        values = {
            "h_abs_old": numbers[0],
            "error_norm_old": numbers[1],
            "LU_real": (np.asfortranarray(saved["LU_real"]), pivots[0]),
            "LU_complex": (np.asfortranarray(saved["LU_complex"]), pivots[1]),
            "Z": saved["Z"].copy(),
            "y_old": saved["y_old"].copy(),
            "t_old": numbers[2],
        }
        for name, known in zip(OPTIONAL, saved["known"], strict=True):
            setattr(s, name, values[name] if known else None)
        s.current_jac, s.J = bool(saved["current"][0]), saved["J"].copy()
        s.sol = s._compute_dense_output() if s.Z is not None else None
