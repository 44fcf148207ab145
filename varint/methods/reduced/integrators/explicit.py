"""Explicit Runge-Kutta pairs, of scipy."""

from typing import ClassVar

import numpy as np

from varint.methods.reduced.charts import EXPONENTIAL
from varint.methods.reduced.constraint_forces import NotFinite
from varint.methods.reduced.integrators.error_controlled import GIVEN_UP, SHORT, Adaptive
from varint.methods.reduced.recursions import explicit_recursions as explicit
from varint.methods.reduced.recursions.explicit_recursions import MARCHED, NOT_FINITE, Pair, StepControl, Steps
from varint.step.nodes.efforts import evaluate_efforts


class Explicit(Adaptive):
    """Steps of scipy's solvers, which on a tree under constant inputs are compiled (recursions/explicit_recursions.py).

    Facts, of the class: ``estimates``, names of the solver's weights of the error, that of the higher order first.
    """

    estimates: ClassVar[tuple[str, ...]]

    run: Steps | None

    def _make_solver(self, first_step: float | None) -> None:
        e = self.equations
        varies = e.inputs is not None and e.inputs.varies
        euler = any(chart != EXPONENTIAL for chart in e.tree.charts.values())
        touches = self.events is not None and self.events.acts
        compiled = not (e.row_count or e.drives or varies or euler or e.paths or touches)
        self.width = self.own if compiled else self.y.size  # compiled steps have no impulses: nothing is in contact
        super()._make_solver(first_step)
        solver = self.solver
        if not compiled:
            self.run = None
            return
        if e.ne:
            evaluate_efforts.prepare()
            e.ws.efforts.input[:] = e.inputs.commands.constant if e.inputs else 0.0
        self.pair = Pair(
            A=np.ascontiguousarray(solver.A),
            B=np.array(solver.B),
            error=np.array([getattr(solver, name) for name in self.estimates]),
            exponent=np.array([solver.error_exponent]),
        )
        solver.K[:] = 0.0  # elements without power of their own, as contacts, are not written
        self.run = Steps(
            tree=e.work,
            balls=np.array(e.tree.balls, dtype=np.int64),
            load=e.inputs.loads.constant.copy() if e.inputs else np.zeros((e.nb, 6)),
            total=np.zeros((e.nb, 6)),
            y=solver.y.copy(),
            y_before=np.zeros(self.width),
            trial=np.zeros(self.width),
            K=solver.K,
            f=solver.f.copy(),
            clock=np.zeros(4),
            count=np.zeros(3, dtype=np.int64),
        )

    def march(self, steps: int, stop: float) -> None:
        if self.run is None or self.events or self.follows:
            return self.step()
        if self.gets_nowhere():
            return None
        return self._march(self.run, steps, stop)

    def try_step(self) -> None:
        if self.run is None:
            return super().try_step()
        return self._march(self.run, 1, np.inf)

    def _march(self, run: Steps, steps: int, stop: float) -> None:
        solver = self.solver
        y = self.y if self.width == self.y.size else self.y[: self.width]
        run.y[:], run.f[:], run.count[:] = y, solver.f, (self.steps, self.evaluations, self.short)
        run.clock[:] = self.t, self.t, solver.h_abs, self.size
        control = StepControl(solver.rtol, solver.atol, solver.t_bound, SHORT * self.task.end)
        status = explicit.march(self.equations.compiled.plan, self.equations.ws, run, self.pair, control, steps, stop)
        if status != MARCHED:
            self.failure = str(NotFinite()) if status == NOT_FINITE else GIVEN_UP
        solver.t, solver.t_old, solver.h_abs, solver.h_previous = run.clock.tolist()
        solver.y, solver.y_old, solver.f = run.y.copy(), run.y_before.copy(), run.f.copy()
        self.t, self.y, self.size = solver.t, self._whole(run.y), solver.h_previous
        self.steps, self.evaluations, self.short = run.count.tolist()
