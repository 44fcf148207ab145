"""Second derivatives of one step, by differences of its exact adjoint along the chart of minimal coordinates.

The gradient g(x, u) of z . x'(x, u) is one sweep back over the step: exact, at the cost of a step. Along a direction d
the product H d is the derivative of g(t d) at t = 0: central differences with t, t / 2 and t / 4 are extrapolated to
sixth order, and go on with halves until that changes nothing. A part that is even in t shows that the step is not
smooth, or changes within a shorter reach. An exact tangent over the adjoint would need third derivatives of measures.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from varint.base.display import Shown, count_text
from varint.base.errors import ArgumentError, StateError
from varint.derivatives.linear.chart import Chart, flat
from varint.derivatives.linear.minimal_coordinates import Coordinates
from varint.derivatives.linear.step_tangents import TangentRun
from varint.mechanism.mechanism import Mechanism
from varint.methods.variational.maximal_run import MaximalRun
from varint.methods.variational.schemes import Scheme
from varint.model.state import State
from varint.results.inputs.at_nodes import Commands
from varint.step.derivatives.adjoint import carry_back, velocities_back
from varint.step.workspace import by_numbers

REACH = 4e-2  # rad, or sizes of a part, of coordinates and turns of bodies, in the pose or within the step: at first
SPANS = 1e3  # of an input, see `elements_of`, that count as one at the most
LEVELS = 19  # of differences, each with half of the reach before
GOOD = 1e-8  # of the second derivatives: what the last extrapolation may change; what is left is far less
ENOUGH = 1e-6  # of them: the same where smaller differences do not help
UNEVEN = 1e-4  # of them: the part of g(t d) - g(0) that is even, but not of second order in t
NOISE = 1e-12  # of a gradient: round-off that is tolerated ...
ROUND_OFF = 1e-15  # ... and the least that there is


@dataclass(frozen=True, eq=False)
class SecondDerivatives(Shown):
    """Second derivatives of costate . x' of a step by n minimal coordinates and their rates, x, and m inputs, u.

    xx : (2 n, 2 n) symmetric
    xu : (2 n, m)
    uu : (m, m) symmetric
    """

    xx: np.ndarray
    xu: np.ndarray
    uu: np.ndarray

    def _facts(self) -> Iterable[str]:
        n2, m = self.xu.shape
        yield f"{count_text(n2 // 2, 'coordinate')}, {count_text(m, 'input')}"
        yield "largest " + ", ".join(
            f"{name} {np.abs(part).max(initial=0.0):.3g}" for name, part in self.__dict__.items()
        )


class SecondOrder:
    """Products of the second derivatives of a linearised step with changes of x and u.

    Parameters
    ----------
    mechanism : Mechanism
    method : Scheme
    dt : float
        s
    coordinates : Coordinates
        About the state that the step starts from.
    inputs : (m,), (m,)
        Their elements, and spans, see `carry_with_inputs`.
    B : (2 n, m)
        Of the linear system.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        method: Scheme,
        dt: float,
        coordinates: Coordinates,
        inputs: tuple[np.ndarray, np.ndarray],
        B: np.ndarray,
    ) -> None:
        self.coordinates, self.inputs = coordinates, inputs
        self.chart = Chart(mechanism, coordinates)
        self.run = TangentRun(mechanism, method, coordinates.state, dt, 1)
        self.run.run.commands = self.held = _Held(self.run.run)
        self.run.run.controllers, self.run.run.stepwise = [], False
        self.begin = self.run.run.checkpoint()
        self.by = by_numbers(mechanism.compiled.plan, 0)
        unit, turns = self.chart.units, flat(coordinates.motions[..., 3:])
        self.turns = np.vstack([turns, dt * turns])  # (2 n, 3 nb) of the bodies, in the pose or within the step
        by_rate = np.abs(B[len(unit) :]) * dt / unit[:, None]  # what an input moves within the step
        of_input = 1.0 / np.maximum(by_rate.max(axis=0, initial=0.0), np.finfo(float).tiny)
        of_input = np.minimum(of_input, SPANS * inputs[1])
        self.sizes = np.concatenate([unit, unit / dt, of_input])  # changes of x and u that move by one in a step
        self.weights = np.concatenate([unit, unit, dt * dt * of_input])  # that move by one in a second: of errors

    def gradient(self, costate: np.ndarray, change: np.ndarray) -> np.ndarray:
        """Return the gradient (2 n + m,) of costate . x' by x and u, at ``change`` (2 n + m,) of x and u."""
        run, plan, n2 = self.run, self.run.compiled.plan, len(self.coordinates.names) * 2
        self._march(self.chart.state(change[:n2]), change[n2:])
        if run.march.ws.tape.events.count[0]:
            raise ArgumentError(
                f"a step of '{run.mechanism.name}' meets a hard stop, where there are no second derivatives: take a"
                " shorter one, or another state"
            )
        end, by_end = run.state(), np.zeros((len(self.coordinates.state.position), 12))
        by_pose, by_rate = np.split(costate, 2)
        by_end[:, :6] = np.tensordot(by_pose, self.coordinates.rows_at(end), 1)
        by_end[:, :6] += np.tensordot(by_rate, self.coordinates.rates_by_pose(end), 1)
        by_end[:, 6:] = np.tensordot(by_rate, self.coordinates.rate_rows_at(end), 1)
        by_input = np.tensordot(run.carried(np.zeros((0, *by_end.shape)), self.inputs), by_end, 2)
        back, stages = by_end[run.compiled.order], int(run.march.ws.tape.count[0])
        if len(self.by.h) < stages:
            self.by = by_numbers(plan, stages)
        velocities_back(plan, run.place(), 0, back, self.by)
        carry_back(plan, run.aside, run.march.ws.tape, run.work, (0, stages), back, np.zeros(0), self.by)
        back[:, 6:9] *= plan.bodies.mass[:, None]  # from momenta to velocities
        back[:, 9:] = np.einsum("nab,na->nb", plan.bodies.inertia, back[:, 9:])
        return np.concatenate([self.chart.gradient(back[run.compiled.slot]), by_input])

    def _march(self, state: State, change: np.ndarray) -> None:
        """Take the step from a state, with the inputs changed by (m,)."""
        run, march = self.run.run, self.run.march
        self.held.change[:] = 0.0
        self.held.change[self.inputs[0]] = change
        run.failure = march.failure = None
        run.restore(self.begin)
        march.start(state)
        self.run.march_on(1)

    def product(self, costate: np.ndarray, direction: np.ndarray, first: np.ndarray | None = None) -> np.ndarray:
        """Return the second derivatives of costate . x' times a direction (2 n + m,).

        ``first``: the gradient at no change, where it is known. Raises StateError where the step is not smooth.
        """
        turns = direction[: len(self.turns)] @ self.turns
        length = max(np.abs(direction / self.sizes).max(initial=0.0), np.abs(turns).max(initial=0.0))
        if length == 0.0:
            return np.zeros_like(direction)
        first = self.gradient(costate, np.zeros_like(direction)) if first is None else first
        slopes = _Slopes(self.weights, first)
        for t in REACH * 0.5 ** np.arange(LEVELS):
            slopes.add(t, *(self.gradient(costate, sign * t / length * direction) for sign in (1.0, -1.0)))
            if slopes.settled:
                break
        if not np.isfinite(slopes.least):
            raise StateError(
                f"a step of '{self.run.mechanism.name}' has no second derivatives at this state: it is not smooth"
                " there, as where a force sets in"
            )
        return length * slopes.best

    def matrix(self, costate: np.ndarray) -> np.ndarray:
        """Return the second derivatives (2 n + m, 2 n + m) of costate . x' by x and u."""
        units = np.eye(len(self.sizes))
        first, products = self.gradient(costate, np.zeros(len(units))), np.zeros_like(units)
        for k, unit in enumerate(units):
            products[k] = self.product(costate, unit, first)
        return 0.5 * (products + products.T)


class _Slopes:
    """The derivative of a gradient along a direction at t = 0, of its values at t and - t, each t half of that before.

    best : (2 n + m,)
    least : float
        What the last extrapolation has changed of it, inf without extrapolation.
    settled : bool
        Whether smaller differences are of no use.
    """

    def __init__(self, weights: np.ndarray, first: np.ndarray) -> None:
        self.weights, self.first = weights, first
        self.best, self.least, self.settled = np.zeros_like(first), np.inf, False
        self.odd: list[np.ndarray] = []
        self.even: list[np.ndarray] = []
        self.fourth: list[np.ndarray] = []

    def add(self, t: float, ahead: np.ndarray, behind: np.ndarray) -> None:
        """Take the values at t and - t."""
        self.odd.append((ahead - behind) / (2.0 * t))
        self.even.append(0.5 * (ahead + behind) - self.first)
        if len(self.odd) > 1:
            self.fourth.append((4.0 * self.odd[-1] - self.odd[-2]) / 3.0)
        if len(self.fourth) < 2:
            return
        gain = (self.fourth[-1] - self.fourth[-2]) / 15.0
        slope, change, round_off = self.fourth[-1] + gain, self._size(gain), self._size(self.first) / t
        scale, uneven = self._size(slope), self._size(self.even[-2] - 4.0 * self.even[-1]) / (2.0 * t)
        tolerated = NOISE * round_off
        if change <= ENOUGH * scale + tolerated and uneven <= UNEVEN * scale + tolerated and change < self.least:
            self.best, self.least = slope, change
        self.settled = self.least <= GOOD * scale + ROUND_OFF * round_off or change > 2.0 * self.least

    def _size(self, gradient: np.ndarray) -> float:
        return float(np.abs(self.weights * gradient).max(initial=0.0))


class _Held(Commands):
    """The inputs of a run over its first step plus a ``change`` (ne,); those of functions of the state stay."""

    def __init__(self, run: MaximalRun) -> None:
        self.values, self.rates = run.commands.at(np.arange(2))
        self.values[:, [element for element, _ in run.controllers]] = run.march.inputs
        self.change = np.zeros(self.values.shape[1])
        self.run, self.of_time = run.commands, run.commands.of_time
        self.moved, self._moving = run.commands.moved, run.commands._moving

    def at(self, nodes: np.ndarray) -> np.ndarray:
        """Return values and rates (2, 2, ne) at both ends of the first step, whatever the nodes."""
        return np.array([self.values + self.change, self.rates])

    def within(self, times: np.ndarray) -> np.ndarray:
        """Return values (..., m) of the inputs that are functions of time."""
        return self.run.within(times) + self.change[[element for element, _ in self.of_time]]
