"""Integrators with error control: those of scipy."""

from typing import Any, ClassVar

import numpy as np

from varint.redmax.constraints import NotFinite
from varint.redmax.equations import Equations
from varint.redmax.integrators.base import Integrator, Task

SHORT = 1e-9  # of the run: a step as short as this gets nowhere ...
MANY_SHORT = 500  # ... if so many others come before it
GIVEN_UP = "no step is short enough for rtol and atol"


class Adaptive(Integrator):
    """A solver of scipy; the work of the elements and the states of laws are integrated along.

    The solver starts anew where a chart is left and where loops are closed near a singular pose.
    """

    solver_class: ClassVar[Any]

    evaluations = 0
    short = 0  # steps in a row
    size = 0.0  # s, of the last step

    def __init__(self, equations: Equations, q: np.ndarray, qdot: np.ndarray, task: Task) -> None:
        super().__init__(equations, q, qdot, task)
        self.t, self.y = 0.0, np.concatenate([q, qdot, np.zeros(equations.ne + equations.law_state.size)])
        self.options: dict[str, Any] = {"rtol": task.rtol, "atol": task.atol}
        self.configure()
        self._begin(None)

    def configure(self) -> None:
        """Add to the ``options`` of the solver."""

    def _begin(self, first_step: float | None) -> None:
        self.equations.change_charts(*self._split())
        self._reach()
        self._make_solver(first_step)

    def _make_solver(self, first_step: float | None) -> None:
        # the end is set afterwards: the size of the first step does not depend on it
        self.solver = self.solver_class(self._slope, self.t, self.y, np.inf, first_step=first_step, **self.options)
        self.solver.t_bound = self.task.end

    def _split(self) -> tuple[np.ndarray, np.ndarray]:
        nq = self.equations.nq
        return self.y[:nq], self.y[nq : 2 * nq]

    def _integral(self, y: np.ndarray) -> np.ndarray:
        return y[2 * self.equations.nq + self.equations.ne :]

    def _reach(self) -> bool:
        """Whether the state was changed: near singular poses its loops are closed."""
        self.equations.integrate_from(self._integral(self.y), 0.0)
        if self.equations.reach(self.t, *self._split()):
            return False
        self.equations.close(*self._split())
        return True

    def _slope(self, t: float, y: np.ndarray) -> np.ndarray:
        nq, slope = self.equations.nq, np.empty_like(y)
        self.equations.integrate_from(self._integral(y), 0.0)
        slope[:nq] = self.equations.imposed(t, y[:nq], y[nq : 2 * nq])[1]
        slope[nq : 2 * nq] = self.equations.acceleration(t, y[:nq], y[nq : 2 * nq])
        slope[2 * nq :] = np.concatenate([self.equations.power, self.equations.flow])
        self.evaluations += 1
        if not np.isfinite(slope).all():
            raise NotFinite
        return slope

    def gets_nowhere(self) -> bool:
        """Whether there is no further step: very many short ones, reported in ``failure``, or a failure of `settle`."""
        if self.short > MANY_SHORT:
            self.failure = (
                f"{self.short} steps in a row were shorter than {SHORT * self.task.end:.1g} s. Larger rtol and atol, or"
                " an integrator for stiff forces, may help"
            )
        return self.failure is not None

    def step(self) -> None:
        if self.gets_nowhere():
            return
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is found by `_slope`
                message = self.solver.step()
        except NotFinite as problem:
            message = str(problem)
        if self.solver.status == "failed" or message:
            self.failure = message or GIVEN_UP
            return
        self.steps += 1
        self.size, self.t, self.y = self.solver.t - self.t, self.solver.t, self.solver.y.copy()
        self.short = self.short + 1 if self.size < SHORT * self.task.end else 0

    def settle(self) -> None:
        try:
            if self.t < self.task.end and (self.equations.change_charts(*self._split()) or self._reach()):
                self._begin(self.size)
        except NotFinite as problem:
            self.failure = str(problem)

    def states(self, times: np.ndarray) -> np.ndarray:
        try:
            return self.solver.dense_output()(times).T
        except NotFinite as problem:
            self.failure = str(problem)
            return np.empty((0, self.y.size))

    def ends(self) -> bool:
        return self.t + self.solver.h_abs >= self.task.end

    def memory(self) -> dict[str, np.ndarray]:
        counts = np.array([self.steps, self.evaluations, self.short])
        solver = {"f": self.solver.f.copy(), "h_abs": np.array([self.solver.h_abs])}
        return {"t": np.array([self.t]), "y": self.y.copy(), "counts": counts} | solver

    def recall(self, saved: dict[str, np.ndarray]) -> None:
        self.t, self.y = float(saved["t"][0]), saved["y"].copy()
        self._make_solver(1.0)
        self.solver.f, self.solver.h_abs = saved["f"].copy(), float(saved["h_abs"][0])
        self.steps, self.evaluations, self.short = (int(number) for number in saved["counts"])
