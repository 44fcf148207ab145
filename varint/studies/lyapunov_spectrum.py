"""All Lyapunov exponents of a mechanism, by the exact derivatives of its steps (Benettin et al. 1980)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from varint.base.checks import positive, whole_number
from varint.base.display import count_text, numbers_text
from varint.base.errors import ArgumentError
from varint.derivatives.linear.collocation_tangents import CollocationTangents, kind_of, steps_of, tangents_of
from varint.derivatives.linear.minimal_coordinates import check_moves
from varint.derivatives.linear.step_tangents import TangentRun
from varint.kinematics.initial_state import checked_start
from varint.mathematics.batches import LEAST, cautious_mean
from varint.mechanism.mechanism import Mechanism
from varint.methods.variational.lobatto import Lobatto
from varint.methods.variational.method import Variational
from varint.model.known_forces import USES, refuse
from varint.model.state import State
from varint.runs.method import Method
from varint.runs.parts import Arguments, posed, with_arguments
from varint.runs.problem import Problem
from varint.studies.clock import Clock, by_clock
from varint.studies.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INTERVALS = 400  # default number of intervals of a run
FEWEST = 2 * LEAST  # least number of intervals
SETTLING = 0.1  # share of the run that is left out, until changes lie along the directions that grow
SEED = 1  # of the first changes


@dataclass(frozen=True, eq=False)
class LyapunovSpectrum(Study):
    """The rates at which small changes of the initial state grow, the fastest first.

    Attributes
    ----------
    mechanism : str
    exponents : (k,) 1/s
    errors : (k,) 1/s
        Their standard errors by batch means of the K rates: the largest over all sizes of batches, because a chaotic
        motion may stay in one part of its state space for long.
    spacing : float
        Length of an interval, s, after which the changes are made orthogonal again.
    t : (K,) s
        Ends of the intervals, without those at the start of the run.
    rates : (K, k) 1/s
        Growth rates in each interval.

    Changes are orthogonal in canonical coordinates, so that without damping all exponents add up to zero and come in
    pairs, to round-off, over every part of a run.
    """

    mechanism: str
    exponents: np.ndarray
    errors: np.ndarray
    spacing: float
    t: np.ndarray
    rates: np.ndarray

    def __len__(self) -> int:
        return len(self.exponents)

    @property
    def convergence(self) -> np.ndarray:
        """Return the exponents (K, k), 1/s, by the intervals up to each."""
        return np.cumsum(self.rates, axis=0) / np.arange(1, len(self.rates) + 1)[:, None]

    def _facts(self) -> Iterable[str]:
        yield f"'{self.mechanism}'"
        yield count_text(len(self), "exponent")
        yield f"{numbers_text(self.exponents)} 1/s, +- {numbers_text(self.errors)}"

    @property
    def _title(self) -> str:
        return f"{self.mechanism}: exponents from {self.exponents[0]:.3g} to {self.exponents[-1]:.3g} 1/s"

    def _draw(self, axes: "Axes") -> None:
        from varint.drawing.style import INK, line
        from varint.views.curves import over_time, time_unit

        unit, symbol = time_unit(self.t)
        axes.axhline(0.0, color=INK, linewidth=0.6)
        for k, curve in enumerate(self.convergence.T):
            axes.plot(self.t / unit, curve, linewidth=1.2, **line(k))
        axes.set_ylabel("Lyapunov exponents, means up to then (1/s)")
        over_time(axes, self.t, unit, symbol)


@with_arguments
def lyapunov_spectrum(
    arguments: Arguments,
    mechanism: Mechanism | Problem,
    duration: float | Method | None = None,
    dt: float | None = None,
    *,
    state: State | None = None,
    count: int | None = None,
    interval: float | None = None,
    order: int | None = None,
    scheme: str | None = None,
) -> LyapunovSpectrum:
    """Return the Lyapunov exponents of a run, by changes of its initial state that are carried exactly by its steps.

    Parameters
    ----------
    mechanism : Mechanism, or Problem
    duration : float, or Method
        s; with a Problem a `Variational` or a `Lobatto`.
    dt : float
        s
    state : State, optional
        Start of the run; default: ``mechanism.state()``.
    count : int, optional
        Number of exponents, the largest first; default: all, two for each degree of freedom.
    interval : float, optional
        s, after which the changes are made orthogonal again; default: 1/400 of the duration.
    order, scheme
        See `simulate`; no order 1.

    Raises
    ------
    ArgumentError
        Too few intervals, inputs that are functions of the state, a hard stop that closes, and forces without
        derivatives, see `linearize`.
    StateError, ConvergenceError
        See `linearize`.
    """
    problem, method = posed(arguments, kind_of(duration), only=True)
    mechanism, duration, dt = problem.mechanism, problem.duration, method.dt
    steps = problem.steps(dt)
    asked = duration / INTERVALS if interval is None else positive(interval, "interval", ArgumentError)
    every = max(1, round(min(asked, duration) / dt))
    intervals = steps // every
    if intervals < FEWEST:
        raise ArgumentError(
            f"exponents need {FEWEST} intervals, {duration:g} s are {intervals} of {every * dt:g} s: give a longer"
            " duration or a shorter interval"
        )
    clock = Clock()
    run = _tangents(problem, method, intervals * every, clock)
    frame = _Canonical(run, every * dt)
    most = 2 * len(frame.motions)
    count = most if count is None else whole_number(count, "count", 1, ArgumentError, most)
    spread = _paired_frame(most // 2)[:, :count]
    rates = np.empty((intervals, count))
    for k in range(intervals):
        changes = frame.changes(spread)
        run.carry(every, changes)
        clock.start = (k + 1) * every * dt
        if run.rests is not None:
            raise ArgumentError(
                f"{run.rests} closes: it has no restitution, or is hit again and again in one step. Changes against it"
                " end there, and their exponent is minus infinity"
            )
        frame = _Canonical(run, every * dt)
        spread, growth = np.linalg.qr(frame.read(changes))
        rates[k] = np.log(np.abs(np.diag(growth))) / (every * dt)
    t, settled = every * dt * np.arange(1, intervals + 1), int(SETTLING * intervals)
    fits = [cautious_mean(t[settled:], column) for column in rates[settled:].T]
    return LyapunovSpectrum(
        mechanism.name,
        rates[settled:].mean(axis=0),
        np.array([fit.error for fit in fits]),
        every * dt,
        t[settled:],
        rates[settled:],
    )


def _tangents(
    problem: Problem, method: Variational | Lobatto, steps: int, clock: Clock
) -> TangentRun | CollocationTangents:
    """Return the derivatives of ``steps`` steps, which `Lobatto` begins at the time of the ``clock`` in each interval.

    Raises ArgumentError, StateError, see `lyapunov_spectrum`.
    """
    mechanism = problem.mechanism
    refuse(mechanism, USES["tangents"])
    start = checked_start(mechanism, problem.start())
    if isinstance(method, Lobatto):
        mechanism = by_clock(mechanism, clock)
    return tangents_of(mechanism, steps_of(method), start, method.dt, steps)  # type: ignore[arg-type]


def _paired_frame(n: int) -> np.ndarray:
    """Return an orthogonal matrix (2 n, 2 n): n columns v, no two of them conjugate, then J v of each in reverse order.

    J is the symplectic matrix. A symplectic flow changes the volume of the first 2 n - k columns as that of the first
    k, so that exponents come in pairs.
    """
    rng = np.random.default_rng(SEED)
    unitary, _ = np.linalg.qr(rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n)))
    first, second = np.vstack([unitary.real, unitary.imag]), np.vstack([unitary.imag, -unitary.real])
    return np.hstack([first, second[:, ::-1]])


class _Canonical:
    """Canonical coordinates (q, p) of changes at the present node of ``run``.

    q along ``motions`` (n, nb, 6), orthonormal in the mass matrix, p of the momenta along them. Rotations of bodies do
    not commute: half of the resulting term of the angular momenta is added to p, so that (q, p) are canonical.
    ``time``, s: scale by which q and p have the same unit.
    """

    def __init__(self, run: TangentRun | CollocationTangents, time: float) -> None:
        coordinates, bodies = run.coordinates(), run.compiled.plan.bodies
        check_moves(run.mechanism, coordinates)
        motions = coordinates.motions[:, run.compiled.order]
        self.momenta = np.concatenate(
            [bodies.mass[:, None] * motions[..., :3], np.einsum("nab,cnb->cna", bodies.inertia, motions[..., 3:])],
            axis=2,
        )
        factor = np.linalg.inv(np.linalg.cholesky(np.tensordot(motions, self.momenta, ((1, 2), (1, 2)))))
        self.motions, self.momenta = (np.tensordot(factor, each, 1) for each in (motions, self.momenta))
        angular, turns = run.momentum[:, 3:], self.motions[..., 3:]
        self.turning = 0.5 * np.einsum("na,jkna->jk", angular, np.cross(turns[:, None], turns[None]))
        self.size = np.sqrt(time)

    def read(self, changes: np.ndarray) -> np.ndarray:
        """Return canonical coordinates (2 n, c) of changes (c, nb, 12) of pose and momenta, in kernel order."""
        q = np.tensordot(self.momenta, changes[..., :6], ((1, 2), (1, 2)))
        p = np.tensordot(self.motions, changes[..., 6:], ((1, 2), (1, 2))) + self.turning @ q
        return np.concatenate([q / self.size, p * self.size])

    def changes(self, spread: np.ndarray) -> np.ndarray:
        """Return the changes (c, nb, 12) of pose and momenta, in kernel order, of canonical coordinates (2 n, c)."""
        q, p = np.split(spread, 2)
        q, p = q * self.size, p / self.size
        p = p - self.turning @ q
        parts = np.tensordot(q.T, self.motions, 1), np.tensordot(p.T, self.momenta, 1)
        return np.ascontiguousarray(np.concatenate(parts, axis=2))
