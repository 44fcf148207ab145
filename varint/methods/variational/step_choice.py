"""`choose_step`: the method and the step that keep the energy as well as wanted at the least cost, by trial runs."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from varint.base.checks import in_a_shape, positive, shown
from varint.base.display import Shown
from varint.base.errors import ArgumentError, ConvergenceError
from varint.base.printable import tell
from varint.methods.variational.composed_damping import AmplifiedError
from varint.methods.variational.schemes import SCHEMES
from varint.methods.variational.schemes import scheme as find_scheme
from varint.model.known_forces import USES, refuse
from varint.results.derived import energies
from varint.results.fast_spin import fastest_spin
from varint.results.resolution import find_unresolved
from varint.results.undamped import BY_ORDER_2, Factor, diagonal_factor, find_undamped
from varint.runs.method import Method, solve
from varint.runs.problem import Problem, Recording
from varint.runs.running import followed
from varint.runs.trajectory import Trajectory

ENERGY_ERROR = 1e-4  # where none is given
ROUND_OFF = 1e-13  # the least that can be asked for
SHORTEST = 1e-50  # s: of durations whose inverse can still be squared
MARGIN = 3.0  # times below the wanted error that the trial runs stay
AIM = 0.7  # share of the allowed error, for the next trial
RESOLVED = 0.02  # energy error from which on a run shows how the mechanism moves
TURN = 0.5  # rad, that a body turns in a step at most
FIRST_STEPS = 64  # of the run that finds the span
MOST_STEPS = 4096
PEAKS = 4  # maxima of the kinetic energy in it
FASTER = 1.02  # times the largest kinetic energy before, from which on the span was too short
MOST_HALVINGS = 40
MOST_TRIALS = 12  # of a scheme
LARGEST_CHANGE = 8.0  # of the step, from a trial to the next
LEAST_CHANGE = 1.15
COARSER = 4.0  # times the step that found the span is the first one
SLOWEST = 1e-5  # of the size of the parts in the first step: slower motions have no energy error
BODY_STAGES = 400_000  # of a trial run, at most: smaller steps are extrapolated to
MEMORY = 64e6  # bytes of the nodes of a trial run
NODE = 8 * 13  # bytes a body
COLLOCATION = "lobatto "  # begins the names of orders of `varint.Lobatto` among the methods to choose
SHORTER = 1.4  # times shorter steps of collocation
SHARPENED = 1.5  # times the cost of stages whose last increment is in double-double, from order 6 on
STUCK = 0.5  # observed order below which smaller steps lead nowhere
Make = Callable[[str, float], Method]


class Candidate(NamedTuple):
    """A method to choose: a scheme, or collocation of an order.

    ``step``, ``iteration``: cost of a step but for its Newton iterations, and of one of these; a unit is an evaluation
    of the equations of a stage of a scheme. ``margin``: times below the wanted error that the trial runs stay.
    """

    name: str
    order: int
    step: float
    iteration: float
    margin: float = MARGIN


class Trial(NamedTuple):
    """A trial run: its `Candidate`, step, s, largest energy error, relative, and cost, see `StepChoice`."""

    scheme: str
    dt: float
    error: float
    cost: float
    run: bool = True  # else extrapolated from the one before


@dataclass(frozen=True, eq=False)
class StepChoice(Shown):
    """Result of `choose_step`.

    Attributes
    ----------
    dt : float
        s; a whole number of steps makes the duration.
    order : int
    scheme : str
        Of `Variational`, or "lobatto ORDER" of `Lobatto`.
    method : Method
        Either with this step: ``vi.simulate(vi.Problem(mechanism, duration), choice.method)`` is the run.
    energy_error : float
        The largest that was asked for, of the largest kinetic energy; of bodies that spin, also of their turns.
    expected_error : float
        The largest in the trial run, of the largest kinetic energy there.
    cost : float
        Evaluations of the equations of a stage in a simulated second: one at its start, and one a Newton iteration;
        of schemes of order 6 and above these count one and a half times.
        Start and iterations of a step of collocation of order p count as p - 2 of them, or 2 p - 4 for mechanisms
        with loops or other joints than hinges.
    span : float
        s, of the trial runs, from the start on.
    reason : str
        The trial runs as a table, and why this one was taken.
    """

    dt: float
    order: int
    scheme: str
    method: Method
    energy_error: float
    expected_error: float
    cost: float
    span: float
    reason: str


def chosen_step(problem: Problem, wanted: float, schemes: Sequence[Candidate], tol: float, make: Make) -> StepChoice:
    """Return the cheapest of the ``schemes``, lowest order last, and its step, for an energy error up to ``wanted``.

    ``make(name, dt)``: the method of that name. Raises ArgumentError where no step of any scheme keeps the energy.
    """
    mechanism = problem.mechanism
    trials = _Trials(problem, make)
    cheapest = trials.cheapest(schemes, trials.find_span(schemes[-1]), wanted)
    if cheapest is None:
        raise ArgumentError(
            f"no step keeps the energy of '{mechanism.name}' to {wanted:g}: in trial runs over {trials.span:g} s the"
            f" least error was {min(trial.error for trial in trials.done):.2g}. Give a larger energy_error, or a"
            f" smaller tol than {tol:g} m/s"
        )
    steps = problem.duration / cheapest.dt * (1 - 1e-12)
    dt = problem.duration / math.ceil(steps) if math.isfinite(steps) else cheapest.dt
    reason = trials.table(wanted, cheapest, dt)
    order, method = next(each.order for each in schemes if each.name == cheapest.scheme), make(cheapest.scheme, dt)
    return StepChoice(dt, order, cheapest.scheme, method, wanted, cheapest.error, cheapest.cost, trials.span, reason)


def step_for(
    wanted: float, scheme: str | None, recording: Recording, make: Make, choose: Callable[[], StepChoice]
) -> tuple[Method, dict]:
    """Return the method with its step, and the settings that record their choice, for an energy error ``wanted``.

    A run that goes on keeps what was chosen for it; ``choose`` is called for others.
    """
    output = recording.output
    if recording.resume and output is not None and Path(output).is_file():
        from varint.files.runs.reader import load_settings  # h5py takes long

        settings = load_settings(output)
        if "chosen" not in settings:
            raise ArgumentError(f"the step of the run in '{output}' was given: go on with it by dt={settings['dt']}")
        chosen = settings["chosen"] | {"energy_error": wanted}
        name = settings["scheme"] if "scheme" in settings else named_collocation(settings["order"])
        return make(scheme or name, settings["dt"]), {"chosen": chosen}
    choice = choose()
    tell(told(choice))
    chosen = {name: getattr(choice, name) for name in ("energy_error", "expected_error", "cost", "span", "reason")}
    return choice.method, {"chosen": chosen}


def told(choice: StepChoice) -> str:
    """Return the choice in one line."""
    taken = f"order {choice.order} ({choice.scheme})"
    if choice.scheme not in SCHEMES:
        taken = f"varint.Lobatto of order {choice.order}"
    return (
        f"dt = {choice.dt:.4g} s and {taken} were chosen for an energy error of"
        f" {choice.energy_error:g}: {choice.expected_error:.1e} in a trial run over {choice.span:.3g} s"
    )


def checked_error(value: float) -> float:
    """Return ``value``, a relative energy error that can be reached. Raises ArgumentError."""
    wanted = positive(value, "energy_error", ArgumentError)
    if not ROUND_OFF <= wanted < 1.0:
        raise ArgumentError(f"energy_error must be from {ROUND_OFF:g}, near round-off, to below 1, got {wanted:g}")
    return wanted


def schemes_of(order: int | None, scheme: str | None) -> list[Candidate]:
    """Return schemes to choose from: all, the highest orders first, or the ones of an order, or one by its name."""
    if order is not None or scheme is not None:
        named = find_scheme(order, scheme)
        schemes = [named] if scheme is not None else [s for s in SCHEMES.values() if s.order == named.order]
    else:
        schemes = sorted((s for s in SCHEMES.values() if not s.staggered), key=lambda s: -s.order)
    cost = {each.name: SHARPENED if each.sharpened else 1.0 for each in schemes}
    return [Candidate(each.name, each.order, cost[each.name] * each.stages.size, cost[each.name]) for each in schemes]


def collocations(orders: Sequence[int], cost: float) -> list[Candidate]:
    """Return collocation of these orders, the highest first; ``cost`` over that of hinges in a tree.

    For these, start and iterations of a step take 1.7 to 2.2, 3.2 to 4.7, 4.3 to 8.6 and 5.9 to 12 times a stage of
    order 4, at orders 4 to 10, with 30 links to one. The margin makes steps shorter than the margin of the schemes
    would: errors of high order grow most where motions get faster later.
    """
    return [
        Candidate(named_collocation(order), order, cost * (order - 2), cost * (order - 2), MARGIN * SHORTER**order)
        for order in sorted(orders)[::-1]
    ]


def named_collocation(order: int) -> str:
    """Return the name of collocation of an order among the methods to choose."""
    return f"{COLLOCATION}{order}"


def _check_inputs(problem: Problem) -> None:
    """Raise ArgumentError for loads and inputs with one value per node."""
    mechanism = problem.mechanism
    for kind, loads in (("force", problem.force), ("torque", problem.torque)):
        for body, value in loads.items() if isinstance(loads, Mapping) else ():
            constant = "of shape (3,), as one value a node needs a number for dt"
            in_a_shape(value, ((3,),), f"{kind} on body {shown(body)}", ArgumentError, constant)
    if problem.duration < SHORTEST:
        raise ArgumentError(f"duration must be at least {SHORTEST:g} s for dt='auto', got {problem.duration:g}")
    refuse(mechanism, USES["step choice"])


def _leaves_damped_motions(run: Trajectory, scheme: Candidate, dt: float) -> bool:
    """Return whether steps of ``dt``, s, leave most of a motion along a strong damper, see `find_undamped`."""
    if scheme.name.startswith(COLLOCATION):
        factor: Factor = functools.partial(diagonal_factor, scheme.order // 2)
    elif len(SCHEMES[scheme.name].stages) > 1:
        factor = SCHEMES[scheme.name].factor
    else:
        return False
    return find_undamped(run, dt, factor, scheme.name, BY_ORDER_2) is not None


class _Trials:
    """Trial runs of a mechanism over its first ``span`` seconds."""

    def __init__(self, problem: Problem, make: Make) -> None:
        _check_inputs(problem)
        self.problem, self.make = problem, make
        self.mechanism, self.duration = problem.mechanism, problem.duration
        self.done: list[Trial] = []
        self.span, self.fastest = 0.0, 0.0  # s, rad/s
        self.least_energy = 0.0  # J, that errors are relative to
        self.memory = max(FIRST_STEPS, int(MEMORY / NODE / len(self.mechanism.bodies)))  # nodes

    def find_span(self, scheme: Candidate) -> float:
        """Set ``span`` so that the fastest motion was seen, by runs of a scheme; return the first step of trials, s."""
        dt = self._guess()
        mass = sum(body.mass for body in self.mechanism.bodies)
        self.least_energy = 0.5 * mass * (SLOWEST * self.mechanism.compiled.length / dt) ** 2
        steps, most = FIRST_STEPS, min(MOST_STEPS, self.memory)
        for _ in range(MOST_HALVINGS):
            steps = min(steps, most, max(1, math.ceil(min(self.duration / dt, most))))
            run, trial = self._run(scheme, dt, steps)
            if run is None or not trial.error <= RESOLVED:
                dt, steps = 0.5 * dt, 2 * steps
                continue
            self.span = steps * dt
            self.fastest = float(np.linalg.norm(run.angular_velocity, axis=2).max())
            if steps == most or self.span >= self.duration or _is_representative(energies(run)[1]):
                self.done.clear()
                return min(COARSER * dt, self.span / PEAKS, TURN / self.fastest if self.fastest else math.inf)
            steps *= 2
        raise ArgumentError(
            f"dt='auto' found no step that resolves the start of '{self.mechanism.name}', down to {dt:.1g} s: give dt"
        )

    def _guess(self) -> float:
        """Return a step, s, from the size of the parts, the velocities at the start, and gravity."""
        state, length = self.problem.state, self.mechanism.compiled.length
        speed = max(np.abs(state.velocity).max() / length, np.abs(state.angular_velocity).max())
        rate = max(speed, math.sqrt(np.linalg.norm(self.mechanism.gravity) / length))
        return min(self.duration / 8, 0.25 / rate if rate > 0 else math.inf)

    def _run(self, scheme: Candidate, dt: float, steps: int) -> tuple[Trajectory | None, Trial]:
        """Return a run and its `Trial`; the error is infinite where the steps did not resolve the motion."""
        run = None
        try:
            with followed(None):  # a trial is not the run that is looked at
                made: Any = self.make(scheme.name, dt)
                method: Method = replace(made, on_unresolved="ignore")
                run = solve(replace(self.problem, duration=steps * dt), method)
        except (ConvergenceError, AmplifiedError):
            pass
        if run is None or find_unresolved(run, dt) or _leaves_damped_motions(run, scheme, dt):
            trial = Trial(scheme.name, dt, math.inf, math.inf)
        else:
            gap, kinetic = energies(run)
            error = np.abs(gap).max() / max(kinetic.max(), self.least_energy)
            evaluations = scheme.iteration * run.newton_iterations + scheme.step * (steps + run.substeps)
            error = float(error) if np.isfinite(error) else math.inf
            if scheme.name in SCHEMES and (spin := fastest_spin(run, dt, SCHEMES[scheme.name].stages)) is not None:
                error = max(error, spin.excess)
            trial = Trial(scheme.name, dt, error, evaluations / (steps * dt))
        self.done.append(trial)
        return run, trial

    def cheapest(self, schemes: Sequence[Candidate], dt: float, wanted: float) -> Trial | None:
        """Return the cheapest trial with an allowed error, or None; ``dt``: the first step of each scheme, s.

        At any time the scheme goes on that would cost least if its error fell with its full order.
        """
        tried: dict[str, list[Trial]] = {scheme.name: [self._trial(scheme, dt, [])] for scheme in schemes}
        left = list(schemes)
        while left:
            scheme = min(left, key=lambda scheme: _hoped_cost(tried[scheme.name][-1], scheme, wanted / scheme.margin))
            known, allowed = tried[scheme.name], wanted / scheme.margin
            if known[-1].error <= allowed:
                return self._coarser(scheme, known, allowed)
            if len(known) == MOST_TRIALS or _is_stuck(known):
                left.remove(scheme)
                continue
            change = _change(known[-1], _observed_order(known, scheme.order), allowed)
            step = known[-1].dt * min(max(change, 1 / LARGEST_CHANGE), 1 / LEAST_CHANGE)
            known.append(self._trial(scheme, step, known))
        return None

    def _trial(self, scheme: Candidate, dt: float, tried: list[Trial]) -> Trial:
        """Return a trial by a run over the span, or an estimate where that would be too long."""
        steps = math.ceil(self.span / dt)
        known = [trial for trial in tried if trial.error < RESOLVED]
        too_long = steps > self.memory or steps * scheme.step * len(self.mechanism.bodies) > BODY_STAGES
        if not too_long or len(known) < 2:
            return self._run(scheme, dt, steps)[1]
        last, order = known[-1], _observed_order(known, scheme.order)
        finer = dt / last.dt
        trial = Trial(scheme.name, dt, last.error * finer**order, last.cost / finer, run=False)
        self.done.append(trial)
        return trial

    def _coarser(self, scheme: Candidate, tried: list[Trial], allowed: float) -> Trial:
        """Return the last trial, or one with a larger step where that has an allowed error too."""
        last = tried[-1]
        if len(tried) < 2 or last.error > 0.25 * allowed:
            return last
        dt = min(last.dt * _change(last, scheme.order, allowed), tried[-2].dt / LEAST_CHANGE)
        if dt < LEAST_CHANGE * last.dt:
            return last
        trial = self._trial(scheme, dt, tried)
        return trial if trial.error <= allowed else last

    def table(self, wanted: float, taken: Trial, dt: float) -> str:
        """Return the trials, and why one was taken, as text."""
        width = max(len(trial.scheme) for trial in self.done)
        lines = [
            f"Trial runs of '{self.mechanism.name}' over the first {self.span:.4g} s; wanted: an energy error of"
            f" {wanted:g} of the largest kinetic energy, allowed in the trials: {wanted / MARGIN:.3g}, of collocation"
            f" {SHORTER:g}^order times less.",
            f"{'scheme':{width}}  {'dt (s)':>10}  {'energy error':>12}  evaluations a second",
        ]
        for trial in self.done:
            error = f"{trial.error:.2e}" if math.isfinite(trial.error) else "not resolved"
            cost = f"{trial.cost:.4g}" if math.isfinite(trial.cost) else "-"
            note = "  chosen" if trial is taken else "" if trial.run else "  extrapolated"
            lines.append(f"{trial.scheme:{width}}  {trial.dt:10.4g}  {error:>12}  {cost}{note}")
        lines.append(f"The cheapest with an allowed error is {taken.scheme}; dt = {dt:.6g} s divides the duration.")
        return "\n".join(lines)


def _is_representative(kinetic: np.ndarray) -> bool:
    """Return whether the kinetic energy (T,), J, has some maxima, and no much larger one in the second half."""
    half = len(kinetic) // 2
    risen = np.diff(kinetic) > 0
    peaks = np.count_nonzero(risen[:-1] & ~risen[1:])
    return bool(peaks >= PEAKS and kinetic[half:].max() <= FASTER * kinetic[:half].max())


def _change(trial: Trial, order: float, allowed: float) -> float:
    """Factor by which the step has to change from a trial so that its error, of that order, is allowed."""
    return (AIM * allowed / trial.error) ** (1 / order) if 0.0 < trial.error < RESOLVED else 0.5


def _hoped_cost(trial: Trial, scheme: Candidate, allowed: float) -> float:
    """Return the cost of an allowed error at best, with one Newton iteration a stage, or a step of collocation."""
    if trial.error <= allowed:
        return trial.cost
    return 2 * scheme.step / trial.dt / _change(trial, scheme.order, allowed)


def _observed_order(tried: list[Trial], order: int) -> float:
    """Return the power of the step that the last two errors go by, from 1 to ``order``."""
    known = [trial for trial in tried if trial.error < RESOLVED][-2:]
    if len(known) < 2 or known[0].dt == known[1].dt or min(trial.error for trial in known) == 0.0:
        return order
    slope = math.log(known[0].error / known[1].error) / math.log(known[0].dt / known[1].dt)
    return min(max(slope, 1.0), order)


def _is_stuck(tried: list[Trial]) -> bool:
    """Return whether two smaller steps in a row left the error as it was, as at round-off or the tolerance of steps."""
    last = tried[-3:]
    if len(last) < 3 or not all(trial.error < RESOLVED for trial in last):
        return False
    coarse, _, fine = last
    return math.log(coarse.error / fine.error) < STUCK * math.log(coarse.dt / fine.dt)
