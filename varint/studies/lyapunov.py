"""The largest Lyapunov exponent of a mechanism: how fast neighbouring motions part."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from varint.base.checks import positive
from varint.base.errors import ArgumentError
from varint.kinematics.frames import JointFrames, with_world
from varint.kinematics.initial_state import checked_start
from varint.mathematics.batches import LEAST, cautious_mean
from varint.mechanism.mechanism import Mechanism
from varint.methods.variational.method import Variational
from varint.model.forces.along import AlongCoordinate
from varint.model.forces.commanded import Commanded
from varint.model.rotation_vectors import quat_from_vector, quat_product, vector_from_quat
from varint.model.state import State
from varint.runs.method import Method, solve
from varint.runs.parts import Arguments, posed, with_arguments
from varint.runs.problem import Problem, Recording
from varint.runs.trajectory import Trajectory
from varint.studies.clock import Clock, by_clock
from varint.studies.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INTERVALS = 400  # of a run, by default
FEWEST = 2 * LEAST
SETTLING = 0.1  # of the run: until the separation lies along the direction that grows fastest
SEPARATION = 1e-6  # sizes of a part, rad
LARGEST = 1e-2  # at the end of an interval: above, growth is not that of neighbours
TOL = 1e-12  # of a step, m/s
SEED = 1


@dataclass(frozen=True, eq=False)
class LyapunovExponent(Study):
    """The rate at which the distance of neighbouring motions grows in the mean, the largest there is.

    Attributes
    ----------
    mechanism : str
    exponent : float
        1/s
    error : float
        Its standard error, 1/s, by batch means of the K rates: the largest of all sizes of batches, as chaotic motions
        keep to parts of their space for long. It is of the part of the space that the run has seen.
    interval : (2,) 1/s
        Where the true value lies with a probability of 95 %.
    spacing : float
        s: after which the separation is set back.
    t : (K,) s
        Ends of the intervals that count.
    rates : (K,) 1/s
        Of growth in each of them.

    Motions that are not chaotic part in proportion to time: their exponent is of the size of log(duration) / duration,
    above its standard error, and falls as the run gets longer.
    """

    mechanism: str
    exponent: float
    error: float
    interval: np.ndarray
    spacing: float
    t: np.ndarray
    rates: np.ndarray

    @property
    def convergence(self) -> np.ndarray:
        """(K,) 1/s: the exponent by the intervals up to each."""
        return np.cumsum(self.rates) / np.arange(1, len(self.rates) + 1)

    @property
    def _title(self) -> str:
        return f"{self.mechanism}: {self.exponent:.3g} ± {self.error:.2g} 1/s"

    def _facts(self) -> Iterable[str]:
        yield f"{self.exponent:.4g} +- {self.error:.2g} 1/s"
        yield f"{len(self.rates)} intervals of {self.spacing:g} s"

    def _draw(self, axes: "Axes") -> None:
        from varint.drawing.axes import legend
        from varint.drawing.style import COLOURS, INK, MEAN, PALE
        from varint.views.curves import over_time, time_unit

        unit, symbol = time_unit(self.t)
        axes.axhline(0.0, color=INK, linewidth=0.6)
        band = axes.axhspan(*self.interval, color=COLOURS[0], alpha=PALE, linewidth=0.0)
        (curve,) = axes.plot(self.t / unit, self.convergence, color=MEAN, linewidth=1.2)
        axes.set_ylabel("Lyapunov exponent (1/s)")
        legend(axes, [curve, band], ["mean up to then", "95 %"])
        over_time(axes, self.t, unit, symbol)


@with_arguments
def lyapunov_exponent(
    arguments: Arguments,
    mechanism: Mechanism | Problem,
    duration: float | Method | None = None,
    dt: float | None = None,
    *,
    state: State | None = None,
    order: int | None = None,
    scheme: str | None = None,
    interval: float | None = None,
    separation: float = SEPARATION,
) -> LyapunovExponent:
    """Return the largest Lyapunov exponent along a motion, by a neighbour that is repeatedly rescaled (Benettin).

    A neighbour starts at a small distance, in a random direction, the same in each call. After each interval its
    separation is scaled back, in positions, rotations and velocities, and projected onto the motions that joints and
    loops allow. The mean rate of growth is the exponent; the first tenth of the run does not count.

    Parameters
    ----------
    mechanism : Mechanism, or Problem
        Inputs may be functions of time; laws with an internal variable are refused.
    duration : float, or Method
        s; of the run. The error falls with the root of the duration. Beside a Problem any method with equal steps,
        whose tolerance is 1e-12 by default.
    dt : float
        s
    state, order, scheme
        See `simulate`.
    interval : float, optional
        s, rounded to whole steps: after which the separation is set back; 1/400 of the duration where not given.
    separation : float
        Sizes of a part, and rad; velocities count times the interval.

    Raises
    ------
    ArgumentError
        Fewer than 16 intervals, an interval in which the separation grows above 0.01, a mechanism that cannot move.
    ConvergenceError
        A step could not be solved.
    """
    problem, method = posed(arguments, Variational, tol=TOL, rtol=TOL)
    mechanism, duration, dt = problem.mechanism, problem.duration, method.dt
    steps = problem.steps(dt)
    separation = positive(separation, "separation", ArgumentError)
    asked = duration / INTERVALS if interval is None else positive(interval, "interval", ArgumentError)
    every = max(1, round(min(asked, duration) / dt))
    if (count := steps // every) < FEWEST:
        raise ArgumentError(
            f"an exponent needs {FEWEST} intervals, {duration:g} s are {count} of {every * dt:g} s: give a longer"
            " duration or a shorter interval"
        )
    clock = Clock()
    clocked = by_clock(mechanism, clock)
    spacing, recording = every * dt, Recording(every)
    start = checked_start(mechanism, problem.start())
    base = solve(Problem(mechanism, count * spacing, start), method, recording)
    method.report(base, stacklevel=4)
    neighbours = _Neighbours(clocked, spacing, separation)
    away = neighbours.first(base[0])
    rates = np.empty(count)
    for k in range(count):
        clock.start = float(base.t[k])
        start = neighbours.near(base[k], away)
        end = solve(Problem(clocked, spacing, start), method, recording)[-1]
        before, away = (neighbours.apart(base[i], near) for i, near in ((k, start), (k + 1, end)))
        rates[k] = np.log(np.linalg.norm(away) / np.linalg.norm(before)) / spacing
        _check_growth(float(np.linalg.norm(away)), base, k, spacing)
    settled = int(SETTLING * count)
    fit = cautious_mean(base.t[settled + 1 : count + 1], rates[settled:])
    return LyapunovExponent(
        mechanism=mechanism.name,
        exponent=fit.value,
        error=fit.error,
        interval=fit.interval,
        spacing=spacing,
        t=base.t[settled + 1 : count + 1],
        rates=rates[settled:],
    )


def _check_growth(size: float, base: Trajectory, k: int, spacing: float) -> None:
    if not size <= LARGEST:
        raise ArgumentError(
            f"the neighbouring motion is {size:.2g} away at t = {base.t[k + 1]:g} s, too far for a neighbour: give an"
            f" interval shorter than {spacing:g} s"
        )


class _Neighbours:
    """States near others: differences are (nb, 12), positions, rotations (body axes) and their rates, without unit."""

    def __init__(self, mechanism: Mechanism, time: float, separation: float) -> None:
        self.mechanism, self.separation = mechanism, separation
        length = mechanism.compiled.length
        self.unit = np.repeat([length, 1.0, length / time, 1.0 / time], 3)
        self.driven = [
            force
            for force in mechanism.forces
            if isinstance(force, Commanded) and isinstance(force, AlongCoordinate) and force.constraint
        ]
        for force in self.driven:
            if mechanism.joint(force.joint).dof > 1:
                raise ArgumentError(f"{force.label} moves one coordinate of several of a joint: no neighbour is found")

    def first(self, state: State) -> np.ndarray:
        """Return a separation (nb, 12) in a direction in which the mechanism can move, in units of `apart`."""
        away = np.random.default_rng(SEED).standard_normal((len(state.position), 12))
        for _ in range(2):
            direction = self.apart(state, self.near(state, away))
            if not np.linalg.norm(direction) > 1e-3 * self.separation:
                raise ArgumentError(f"mechanism '{self.mechanism.name}' cannot move from its state: nothing parts")
            away = direction
        return away

    def near(self, state: State, away: np.ndarray) -> State:
        """Return the state in the direction ``away`` (nb, 12), as far as ``separation``, projected onto the joints."""
        step = self.separation / np.linalg.norm(away) * away * self.unit
        moved, turned, faster, spun = np.split(step, 4, axis=1)
        guess = state.of_bodies(
            state.position + moved,
            quat_product(state.quat_wxyz, quat_from_vector(turned)),
            state.velocity + faster,
            state.angular_velocity + spun,
        )
        return self.mechanism.assemble(guess, **self._held(state))

    def apart(self, state: State, other: State) -> np.ndarray:
        """Return the separation (nb, 12) from ``state`` to ``other``, in units ``unit``.

        Position, rotation vector, velocity, angular velocity.
        """
        turn = quat_product(state.quat_wxyz * [1.0, -1.0, -1.0, -1.0], other.quat_wxyz)
        parts = (
            other.position - state.position,
            vector_from_quat(np.where(turn[:, :1] < 0, -turn, turn)),
            other.velocity - state.velocity,
            other.angular_velocity - state.angular_velocity,
        )
        return np.hstack(parts) / self.unit

    def _held(self, state: State) -> dict[str, dict[str, np.ndarray]]:
        """Return coordinates and rates, by name, of the joints whose motion is prescribed."""
        x, R = with_world(state.position, state.quat_wxyz)
        motion = np.vstack([np.hstack([state.velocity, state.angular_velocity]), np.zeros(6)])
        frames = [JointFrames(self.mechanism, self.mechanism.joint(force.joint)) for force in self.driven]
        rates = {f.joint.name: np.einsum("csk,sk->c", f.rate_jacobian(x, R), motion[[f.a, f.b]]) for f in frames}
        return {"coordinates": {f.joint.name: f.measure(x, R) for f in frames}, "rates": rates}
