"""Periodic motions by shooting, and their Floquet multipliers."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from varint.base.checks import flag, positive
from varint.base.display import Shown
from varint.base.errors import ArgumentError, ConvergenceError
from varint.derivatives.linear.collocation_tangents import kind_of, steps_of, tangents_of
from varint.derivatives.linear.minimal_coordinates import check_moves, moved
from varint.kinematics.initial_state import checked_start
from varint.mechanism.mechanism import Mechanism
from varint.methods.variational.lobatto import Lobatto
from varint.methods.variational.schemes import Scheme
from varint.model.forces.commanded import Commanded
from varint.model.known_forces import USES, refuse
from varint.model.state import State
from varint.runs.method import Method
from varint.runs.parts import Arguments, posed, with_arguments
from varint.runs.problem import MOST_STEPS, Problem

ITERATIONS = 50
HALVINGS = 10
CLOSED = 1e-10  # m or rad, and the same over the period: how far a motion may be from where it began
ROUND_OFF = 1e-13  # of the same: nothing is left to do
RANK = 1e-7  # of the largest singular value: along smaller ones are other periodic motions
LONGEST = 0.2  # m or rad, of an iteration
NUDGE = 1e-5  # of the step, of its differences
NEUTRAL = 1e-4  # of a multiplier from one in size


@dataclass(frozen=True, eq=False)
class PeriodicOrbit(Shown):
    """A motion that comes back to its start after ``steps`` steps of ``dt``.

    mechanism : str
    state : State
        On it.
    period, dt : float
        s
    steps : int
    gap : float
        m or rad, and the same over the period: how far it ends from its start.
    names : (n,) of the minimal coordinates, as in `Linearization`
    monodromy : (2 n, 2 n) changes of these and their rates at the end, by those at the start
    multipliers : (2 n,) complex
        Its eigenvalues, by size from the largest on. Along the motion one is one; without damping, another as well, and
        they come in pairs with the product one.
    """

    mechanism: str
    state: State
    period: float
    dt: float
    steps: int
    gap: float
    names: tuple[str, ...]
    monodromy: np.ndarray
    multipliers: np.ndarray

    @property
    def stable(self) -> bool:
        """Whether no multiplier exceeds one in size; slow growth along a double multiplier of one is not seen."""
        return bool((np.abs(self.multipliers) < 1.0 + NEUTRAL).all())

    def _facts(self) -> Iterable[str]:
        yield f"'{self.mechanism}'"
        yield f"{self.period:.10g} s, {self.steps} steps"
        yield f"largest multiplier {np.abs(self.multipliers).max(initial=0.0):.6g}"


@with_arguments
def periodic_orbit(
    arguments: Arguments,
    mechanism: Mechanism | Problem,
    state: State | Method | None = None,
    period: float | None = None,
    dt: float | None = None,
    *,
    fixed_period: bool = False,
    order: int | None = None,
    scheme: str | None = None,
) -> PeriodicOrbit:
    """Find the periodic motion next to a guess, by Newton's method on the minimal coordinates of its start.

    It is periodic in the steps of the integrator, exactly: their derivative is, too. Of a family of such motions, as
    those of a mechanism without damping by their energy, it is one that is near the guess.

    Parameters
    ----------
    mechanism : Mechanism, or Problem
        The duration of a Problem is the guess of the period.
    state : State, or Method
        A guess of a state on it; beside a Problem a `Variational` or a `Lobatto`.
    period, dt : float
        s: a guess of its period, and of the step; the number of steps is that of whole steps in a period.
    fixed_period : bool
        Whether the period is ``period`` itself; else it is found as well, by the size of the step. Where something
        changes with time the period is that of the change, and has to be fixed.
    order, scheme
        See `simulate`; no order 1.

    Raises
    ------
    ArgumentError
        A period that is free where something changes with time, inputs that are functions of the state, and what has no
        derivative, see `linearize`.
    StateError
        See `linearize`.
    ConvergenceError
        No periodic motion was found, or a step could not be solved.
    """
    if not isinstance(mechanism, Problem):
        arguments = arguments.replaced(duration=positive(period, "period", ArgumentError))  # type: ignore[arg-type]
    problem, chosen = posed(arguments, kind_of(state), only=True)
    mechanism, period, dt, method = problem.mechanism, problem.duration, chosen.dt, steps_of(chosen)
    refuse(mechanism, USES["tangents"])
    if not 0.5 < period / dt <= MOST_STEPS:
        raise ArgumentError(f"a period of {period:g} s must have one to 2^53 steps, got dt = {dt:g} s")
    fixed = flag(fixed_period, "fixed_period", ArgumentError)
    driven = next((force for force in mechanism.forces if _changes(force)), None)
    if driven is not None and not fixed:
        raise ArgumentError(
            f"{driven.label} changes with time: its period is that of the motion, give fixed_period=True"
        )
    steps = round(period / dt)
    shot = _Shot(mechanism, method, checked_start(mechanism, problem.start()), period / steps, steps)
    for _ in range(ITERATIONS):
        if shot.size <= ROUND_OFF:
            break
        better = _improved(shot, fixed)
        if better is None:
            break
        shot = better
    if shot.size > CLOSED:
        raise ConvergenceError(
            f"no periodic motion of '{mechanism.name}' was found next to the guess: after {shot.dt * steps:.6g} s the"
            f" nearest ends {shot.size:.3g} m or rad from its start. Give a state or a period that is nearer to one",
            time=0.0, body=None, joint=None, trajectory=None,
        )  # fmt: skip
    multipliers = np.linalg.eigvals(shot.monodromy()).astype(complex)
    multipliers = multipliers[np.lexsort((multipliers.imag, -np.abs(multipliers)))]
    return PeriodicOrbit(
        mechanism.name, shot.state, shot.dt * steps, shot.dt, steps, shot.size, shot.coordinates.names,
        shot.monodromy(), multipliers,
    )  # fmt: skip


def _changes(force) -> bool:
    """Return whether the input of a force changes with time: a constant rate, a function or a table."""
    if not isinstance(force, Commanded):
        return False
    input = force.input
    return force.constant_rate is not None or not isinstance(input, np.ndarray) or input.ndim > 0


class _Shot:
    """A run over a period from ``state``, and how it ends."""

    def __init__(self, mechanism: Mechanism, method: Scheme | Lobatto, state: State, dt: float, steps: int) -> None:
        self.made, self.state, self.dt, self.steps = (mechanism, method), state, dt, steps
        run = tangents_of(mechanism, method, state, dt, steps)
        self.coordinates = run.coordinates()
        check_moves(mechanism, self.coordinates)
        self.basis = run.along(self.coordinates)
        self.ends = run.advance(steps, self.basis)
        self.end = run.state()
        self.gap = self.coordinates.read(self.end)
        n = len(self.gap) // 2
        self.scale = np.repeat([1.0, 2 * np.pi / (dt * steps)], n)  # of coordinates and rates
        self.size = float(np.abs(self.gap / self.scale).max(initial=0.0))

    def monodromy(self) -> np.ndarray:
        """Return the changes (2 n, 2 n) of the coordinates about the start at the end, by changes at the start."""
        return self.coordinates.read_changes(self.end, self.ends)

    def by_step(self) -> np.ndarray:
        """Return the derivative (2 n,) of the end by the size of the step: a central difference."""
        ends = []
        for sign in (1.0, -1.0):
            run = tangents_of(*self.made, self.state, self.dt * (1.0 + sign * NUDGE), self.steps)
            run.carry(self.steps, np.zeros((0, len(self.state.position), 12)))
            ends.append(self.coordinates.read(run.state()))
        return (ends[0] - ends[1]) / (2 * NUDGE * self.dt)

    def changed(self, change: np.ndarray, dt: float) -> "_Shot":
        """Run from a start that is changed by (2 n,), with another step."""
        mechanism, method = self.made
        state = moved(mechanism, self.state, np.tensordot(change, self.basis, 1))
        return _Shot(mechanism, method, state, dt, self.steps)


def _improved(shot: _Shot, fixed: bool) -> _Shot | None:
    """Return the next iterate, or None if the gap does not get smaller."""
    scale, n2 = shot.scale, len(shot.gap)
    matrix = (shot.monodromy() - np.eye(n2)) / scale[:, None] * scale
    if not fixed:
        matrix = np.hstack([matrix, (shot.by_step() * shot.dt / scale)[:, None]])
    change = -np.linalg.pinv(matrix, rcond=RANK) @ (shot.gap / scale)
    share = min(1.0, LONGEST / np.abs(change).max(initial=1e-300))
    for _ in range(HALVINGS):
        step = share * change
        dt = shot.dt if fixed else shot.dt * (1.0 + step[-1])
        after = shot.changed(step[:n2] * scale, dt)
        if after.size < shot.size:
            return after
        share *= 0.5
    return None
