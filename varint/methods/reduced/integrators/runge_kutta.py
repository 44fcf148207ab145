"""Explicit Runge-Kutta methods in steps of one size.

    k_i = y'(t + c_i h, y + h sum_j a_ij k_j),    y(t + h) = y + h sum_i b_i k_i

y: coordinates, rates, and the states of laws. Accelerations close loops with Baumgarte's stabilisation.
"""

from typing import ClassVar

import numpy as np

from varint.base.errors import ArgumentError
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.integrators.base import Task
from varint.methods.reduced.integrators.fixed_steps import FixedSteps


class FixedRungeKutta(FixedSteps):
    """Steps of ``dt`` by a tableau with row sums c.

    Facts, of the class: ``A``, ``b``, the tableau; ``stable``, also the largest b h, b Baumgarte's rate, for which gaps
    of loops do not grow from step to step.
    """

    A: ClassVar[tuple[tuple[float, ...], ...]]
    b: ClassVar[tuple[float, ...]]

    @classmethod
    def check(cls, equations: Equations, task: Task) -> None:
        assert task.dt is not None  # see `fixed`
        if equations.row_count and not equations.baumgarte * task.dt < cls.stable:
            raise ArgumentError(
                f"baumgarte {equations.baumgarte:g} 1/s times dt {task.dt:g} s must be less than {cls.stable:g} with"
                f" integrator {cls.name!r}, or gaps of loops grow from step to step: take a smaller one of the two"
            )

    @property
    def evaluations(self) -> int:
        return len(self.b) * self.steps

    def solve(
        self, t: float, h: float, q: np.ndarray, v: np.ndarray, integral: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        e, y, n = self.equations, np.concatenate([q, v, integral]), q.size
        slopes: list[np.ndarray] = []
        powers: list[np.ndarray] = []
        for weights in self.A:
            now = t + sum(weights) * h
            stage = y + h * sum_of(weights, slopes, y)
            e.integrate_from(stage[2 * n :], 0.0)
            place, rates, _ = e.imposed(now, stage[:n], stage[n : 2 * n])
            second = e.acceleration(now, place, rates)
            slopes.append(np.concatenate([rates, second, e.flow]))
            powers.append(e.power.copy())
            if self.events and self.events.acts:
                powers[-1] += self.events.efforts(now, place, rates, second)[1]
        self._mean_power = sum_of(self.b, powers, e.power)
        end = y + h * sum_of(self.b, slopes, y)
        e.integrate_from(end[2 * n :], 0.0)
        place, rates, _ = e.imposed(t + h, end[:n], end[n : 2 * n])
        return place, rates

    def _work(self, size: float, power: np.ndarray) -> np.ndarray:
        return size * self._mean_power

    def _place(self) -> np.ndarray:
        """Count also the rank of the loops, and close them near singular poses; return the powers (ne,), W."""
        e = self.equations
        if e.row_count:
            q, rates = self._split()[:2]
            with np.errstate(over="ignore", invalid="ignore"):  # numbers that are not finite raise NotFinite
                if not e.reach(self.t, q, rates):
                    e.close(q, rates)
        return super()._place()


def sum_of(weights: tuple[float, ...], slopes: list[np.ndarray], like: np.ndarray) -> np.ndarray:
    """Return the weighted sum of ``slopes``; an array ``like`` this one of zeros if there are no slopes yet."""
    return sum((w * slope for w, slope in zip(weights, slopes, strict=False) if w), np.zeros_like(like))
