"""Integrators in steps of one size."""

import numpy as np

from varint.redmax.charts import SMALLEST
from varint.redmax.contacts import Blocked, Contacts, is_contact
from varint.redmax.equations import Equations
from varint.redmax.implicit import NotConverged, Stages
from varint.redmax.integrators.base import Integrator, Task

REGULAR = 0.95  # of det S: a step that fails is tried again in charts that are as regular as there are


class Fixed(Integrator):
    """Steps of ``dt``.

    Charts are changed where a step starts, and where it fails. The work of the laws is summed by the trapezoidal rule.
    Prescribed joints are where their motion has them from the start on.
    """

    fixed = True

    def __init__(self, equations: Equations, q: np.ndarray, qdot: np.ndarray, task: Task) -> None:
        super().__init__(equations, q, qdot, task)
        mechanism = equations.mechanism
        touching = self.contacts and any(is_contact(mechanism, force) for force in mechanism.forces)
        self.touching = Contacts(equations) if touching else None
        q, qdot, _ = equations.imposed(0.0, q, qdot)
        impulses = self.touching.impulse.size if self.touching else 0
        assert task.dt is not None  # see `fixed`
        self.h = task.dt
        self.t, self.y = 0.0, np.concatenate([q, qdot, np.zeros(equations.ne + equations.law_state.size + impulses)])
        self.stages = Stages(equations)
        self.power = self._place()

    @property
    def newton_iterations(self) -> int:
        return self.stages.iterations

    @property
    def evaluations(self) -> int:
        return self.stages.iterations

    def solve(
        self, t: float, h: float, q: np.ndarray, v: np.ndarray, integral: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """q (nq,) and rates at t + h; ``integral`` (ns,) of deviations at t."""
        raise NotImplementedError

    def forget(self) -> None:
        """Charts have changed."""

    def _split(self) -> list[np.ndarray]:
        """q, qdot, the work of the laws, the integrals and the impulses: views of y."""
        e = self.equations
        return np.split(self.y, np.cumsum([e.nq, e.nq, e.ne, e.law_state.size]))

    def _place(self) -> np.ndarray:
        """Powers (nf,) at the node; angles of forces count their turns from here, integrals end there."""
        equations = self.equations
        q, qdot, _, integral, _ = self._split()
        equations.place(q)
        equations.move(q, qdot)
        equations.load(self.t)
        integral[:] = equations.law_state
        equations.keep_turns()
        return equations.power.copy()

    def step(self) -> None:
        h = self.h
        try:
            try:
                after = self._after(SMALLEST)
            except (NotConverged, np.linalg.LinAlgError):
                self.stages.multiplier = np.zeros_like(self.stages.multiplier)
                after = self._after(REGULAR)
        except Blocked as problem:
            self.failure = str(problem)
            return
        except (NotConverged, np.linalg.LinAlgError):
            self.failure = "Newton's iteration did not converge. A smaller dt may help"
            return
        if not all(np.isfinite(part).all() for part in after):
            self.failure = "the motion is not finite any more. A smaller dt may help"
            return
        self.steps += 1
        self.t = h * self.steps
        self.y = np.concatenate([*after, self.y[2 * self.equations.nq :]])
        power = self._place()
        _, _, work, _, impulse = self._split()
        work += 0.5 * h * (self.power + power)
        if self.touching:
            work += self.touching.work
            impulse += self.touching.impulse
        self.power = power

    def _after(self, least: float) -> tuple[np.ndarray, np.ndarray]:
        """q (nq,) and rates after the step, in charts that are regular by ``least``."""
        present = self._split()
        changed = self.equations.change_charts(present[0], present[1], least)
        q, v, _, integral, _ = (part.copy() for part in present)
        if changed:
            self.forget()
            q, v, _ = self.equations.imposed(self.t, q, v)
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is found by the caller
            return self.solve(self.t, self.h, q, v, integral)

    def states(self, times: np.ndarray) -> np.ndarray:
        return self.y[None]

    def memory(self) -> dict[str, np.ndarray]:
        kept = {
            "y": self.y,
            "power": self.power,
            "multiplier": self.stages.multiplier,
            "touching": self.touching.z if self.touching else np.zeros(0),
        }
        counts = np.array([self.steps, self.stages.iterations])
        return {name: array.copy() for name, array in kept.items()} | {"counts": counts}

    def recall(self, saved: dict[str, np.ndarray]) -> None:
        self.y, self.power = saved["y"].copy(), saved["power"].copy()
        self.stages.multiplier = saved["multiplier"].copy()
        self.steps, self.stages.iterations = (int(number) for number in saved["counts"])
        self.t = self.h * self.steps
        if self.touching:
            self.touching.z = saved["touching"].copy()


class Implicit(Fixed):
    """Stages solved by Newton's iteration."""

    stiff = True
