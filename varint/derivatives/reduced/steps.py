"""The steps of integrators, done and kept: those of implicit schemes, and those of explicit Runge-Kutta pairs."""

import copy
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from varint.derivatives.reduced.records import SLOTS, ReducedSetting, Stage, StageShape, Step
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.implicit import Motion, Stages
from varint.methods.reduced.integrators import Integrator, Task
from varint.methods.reduced.integrators.explicit import Explicit
from varint.methods.reduced.integrators.fixed_steps import Implicit
from varint.methods.reduced.method import started


class Recorder(Protocol):
    """Does the steps of a run, and keeps them."""

    @property
    def integrator(self) -> Integrator:
        """Integrator of the steps."""

    def vertices(self) -> np.ndarray:
        """Return places and velocities (2, 3 nf) of free vertices at the present node."""

    def up_to(self, number: int) -> Iterator[Step]:
        """Yield the steps up to the node ``number``, or to the one that fails."""


class _Kept(Stages):
    """Stages that keep what they solved in ``kept``: mixed into `Stages` or `MeshStages`."""

    def __init__(self, equations: Equations) -> None:
        super().__init__(equations)
        self.kept: list[Stage] = []

    def solve(
        self, t: float, s: float, d: np.ndarray, c: np.ndarray, guess: np.ndarray, integral: np.ndarray,
        along: Motion | None = None,
    ) -> Motion:  # fmt: skip
        x, rates = super().solve(t, s, d, c, guess, integral, along)
        e, second = self.equations, (x - c) / s**2
        nq = e.nq
        second[:nq] = np.where(e.driven_columns, e.imposed(t, x[:nq], rates[:nq])[2], second[:nq])
        self.kept.append(Stage(t, s, x.copy(), rates.copy(), second, self.multiplier.copy(), integral.copy()))
        return x, rates


class _Probe(Stages):
    """Stages whose ends are unit vectors: a scheme's step then writes down its own factors."""

    def __init__(self, units: np.ndarray) -> None:
        self.units = units
        self.found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self.equations = self  # type: ignore[assignment]  # of which a step takes the flow alone

    def solve(
        self, t: float, s: float, d: np.ndarray, c: np.ndarray, guess: np.ndarray, integral: np.ndarray,
        along: Motion | None = None,
    ) -> Motion:  # fmt: skip
        first = SLOTS * (2 + len(self.found))
        self.found.append((d, c, integral))
        self.flow = (self.units[first + 2] - integral) / s
        return self.units[first], self.units[first + 1]


class _Taping(Implicit):
    """An integrator that keeps its steps in ``tape``: mixed into one that has a scheme."""

    def __init__(self, equations: Equations, q: np.ndarray, qdot: np.ndarray, task: Task) -> None:
        super().__init__(equations, q, qdot, task)
        kept: type[_Kept] = type("Kept", (_Kept, type(self.stages)), {})
        self.stages: _Kept = kept(equations)
        self.tape: list[Step] = []
        self._shapes: dict[bool, StageShape] = {}

    def solve(self, t: float, h: float, q: np.ndarray, v: np.ndarray, integral: np.ndarray) -> Motion:
        goes_on = getattr(self, "before", None) is not None
        if goes_on not in self._shapes:
            self._shapes[goes_on] = self._shape(h)
        memory, self.stages.kept = self.equations.memory(), []
        end = super().solve(t, h, q, v, integral)
        self.tape.append(Step(self.equations.tree, memory, (q, v), self._shapes[goes_on], self.stages.kept, end))
        return end

    def _shape(self, h: float) -> StageShape:
        """Return the factors of the next step, of size ``h``, from a step with unit vectors."""
        units = np.eye(SLOTS * 4)
        probe, stages = copy.copy(self), _Probe(units)
        probe.stages = stages  # type: ignore[assignment]
        if getattr(probe, "before", None) is not None:
            probe.before = tuple(units[:3])  # type: ignore[attr-defined]
        end = super(_Taping, probe).solve(0.0, h, *units[3:6])
        width = SLOTS * (2 + len(stages.found))
        d, c, integral = (np.array(rows)[:, :width] for rows in zip(*stages.found, strict=True))
        return StageShape(d, c - d, integral, np.array([*end, units[width - 1]])[:, :width])


class ImplicitSteps:
    """See `Recorder`."""

    def __init__(
        self, kind: type[Implicit], e: Equations, start: Motion, setting: ReducedSetting, vertices: np.ndarray | None
    ) -> None:
        task = Task(setting.steps * setting.dt, setting.dt, setting.rtol, setting.rtol, vertices=vertices)
        taping: type[_Taping] = type(f"Taping{kind.__name__}", (_Taping, kind), {})
        self.integrator = started(taping, e, *start, task)

    def vertices(self) -> np.ndarray:
        """See `Recorder`."""
        return self.integrator.free

    def up_to(self, number: int) -> Iterator[Step]:
        i = self.integrator
        while i.steps < number:
            i.step()
            if i.failure:
                return
            i.settle()
            yield i.tape.pop()


class ExplicitSteps:
    """See `Recorder`: steps end at the nodes that are asked for. Of trees."""

    def __init__(self, kind: type[Explicit], e: Equations, start: Motion, setting: ReducedSetting) -> None:
        task = Task(setting.steps * setting.dt, None, setting.rtol, 0.01 * setting.rtol)
        self.integrator = started(kind, e, *start, task)
        self.dt = setting.dt

    def vertices(self) -> np.ndarray:
        """See `Recorder`: trees have no vertices, (2, 0)."""
        return np.zeros((2, 0))

    def up_to(self, number: int) -> Iterator[Step]:
        i, end = self.integrator, self.dt * number
        i.task = i.task._replace(end=end)
        i.settle()
        i.recall(i.memory())  # towards this end
        while i.t < end and not i.failure:
            e, t, y = i.equations, i.t, i.y.copy()
            memory = e.memory()
            i.step()
            if not i.failure:
                yield self._step(memory, t, y)
                i.settle()

    def _step(self, memory: dict[str, np.ndarray], t: float, y: np.ndarray) -> Step:
        """Return the step, just done, from ``y`` at ``t``."""
        i, e = self.integrator, self.integrator.equations
        solver, nq, h = i.solver, e.nq, i.t - t
        count = len(solver.B)
        A, K, width = np.zeros((count, count)), solver.K[:count], SLOTS * (2 + count)
        A[:, : solver.A.shape[1]] = solver.A
        units = np.eye(width)
        now, ends = units[SLOTS : 2 * SLOTS], units[2 * SLOTS :].reshape(count, SLOTS, width)
        stages: list[Stage] = []
        for share, at in zip(solver.C, y + h * A @ K, strict=True):
            q, rates, second = e.imposed(t + share * h, at[:nq], at[nq : 2 * nq])
            second = np.where(e.driven_columns, second, K[len(stages), nq : 2 * nq])
            stages.append(Stage(t + share * h, 0.0, q, rates, second, np.zeros(0), at[2 * nq + e.ne :]))
        d, velocity, integral = now[:, None] + h * np.einsum("nm,mkp->knp", A, ends)
        shape = StageShape(d, velocity, integral, now + h * np.einsum("m,mkp->kp", solver.B, ends))
        before, after = ((part[:nq].copy(), part[nq : 2 * nq].copy()) for part in (y, i.y))
        return Step(e.tree, memory, before, shape, stages, after)
