"""`Stepped`: methods that are a function from state to state, such as a rival or an integrator of the user's own."""

import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from varint.base.checks import call, in_a_shape, of_type, positive, shown, unit_quaternion
from varint.base.clock import clock
from varint.base.errors import ArgumentError, UnresolvedWarning
from varint.files.runs.contents import RESUMABLE
from varint.kinematics.initial_state import checked_start
from varint.kinematics.turns import near_values
from varint.mechanism.mechanism import Mechanism
from varint.methods.settings import shared_settings
from varint.methods.variational.method import Variational
from varint.model.known_forces import USES, Use, refuse
from varint.model.state import State
from varint.results.forces import forces_at
from varint.results.inputs.at_nodes import inputs_at
from varint.results.record import Counts
from varint.results.resolution import find_unresolved
from varint.runs.method import Method
from varint.runs.problem import Problem, Recording
from varint.runs.run import Block, Failure, Reached, Run
from varint.runs.running import Job
from varint.runs.trajectory import Trajectory

PARTS = {"position": 3, "quat_wxyz": 4, "velocity": 3, "angular_velocity": 3}

Step = Callable[[State, float], State]
Grid = tuple[str, float, int]  # name of the method, step in s, steps in all


@dataclass(frozen=True, eq=False)
class Marched(Method):
    """Base class of methods that step from state to state; a subclass makes its run.

    Runs are recorded and written to files like all others; they cannot be resumed unless ``resumable`` says so, since
    steps may know more than a State holds. Loads on bodies (``Problem(force=, torque=)``) are refused.

    Parameters
    ----------
    dt : float
        Step, s.
    """

    dt: float

    resumable: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "dt", positive(self.dt, "dt", ArgumentError))

    @abstractmethod
    def stepped_run(self, problem: Problem, grid: Grid, every: int, state: State) -> "SteppedRun":
        """Return the run from a checked ``state`` that records each ``every``-th node."""

    def check(self, mechanism: Mechanism) -> None:
        """Raise ArgumentError for a force, or another part of a mechanism, that the method does not support."""
        refuse(mechanism, self.use)

    def described(self) -> dict[str, Any]:
        """Return more entries of the settings of its runs."""
        return {}

    def prepare(self, problem: Problem, recording: Recording) -> tuple[Run, Job]:
        """See `Method`."""
        mechanism, steps = problem.mechanism, problem.steps(self.dt)
        if problem.force or problem.torque:
            raise ArgumentError(f"method '{self.formulation}' takes no loads on bodies: use PointForce and PointTorque")
        if recording.times(steps * self.dt) is not None:
            raise ArgumentError(f"method '{self.formulation}' records its nodes only: use every= for output_times=")
        self.check(mechanism)
        state = checked_start(mechanism, problem.start())
        if any(
            force.constraint and force.commanded for force in mechanism.forces
        ):  # the start of a variational run has the rates of the prescribed motions
            first, _ = Variational(dt=self.dt).prepare(replace(problem, state=state), Recording())
            first.start()
            state = first.state()
        run = self.stepped_run(problem, (self.title, self.dt, steps), recording.stride, state)
        settings = {
            "formulation": self.formulation,
            "integrator": self.title,
            "dt": self.dt,
            **shared_settings(problem, recording, steps, None, state),
            **({} if self.resumable else {RESUMABLE: False}),
            **self.described(),
        }
        start = tuple(getattr(state, part) for part in PARTS)
        return run, Job(mechanism, settings, start, np.zeros((1, len(mechanism.bodies), 6)), recording)


@dataclass(frozen=True, eq=False)
class Stepped(Marched):
    """Base class of one-step methods: map a `State` to the `State` ``dt`` seconds later.

    A subclass has its name in ``formulation`` and implements `stepper`. Runs of it are recorded and written to files
    like all others; they cannot be resumed, since steps may know more than a State holds. The work of forces without a
    potential is summed by the trapezoidal rule over the steps. Loads on bodies (``Problem(force=, torque=)``) and
    forces whose effort a state does not determine are refused.

    Parameters
    ----------
    dt : float
        Step, s.
    """

    @abstractmethod
    def stepper(self, problem: Problem) -> Step:
        """Return the function ``step(state, dt)`` that returns the `State` after a step from a `State`."""

    def stepped_run(self, problem: Problem, grid: Grid, every: int, state: State) -> "SteppedRun":
        """See `Marched`."""
        return SteppedRun(problem.mechanism, self.stepper(problem), grid, every, state)

    def report(self, trajectory: Trajectory, stacklevel: int) -> None:
        """Warn where joints are open at recorded nodes; `Trajectory.unresolved` has all of these."""
        if (unresolved := find_unresolved(trajectory, self.dt)) is not None:
            warnings.warn(unresolved.message, UnresolvedWarning, stacklevel=stacklevel)

    @property
    def use(self) -> Use:
        """See `Method`."""
        return USES["rivals"]


class SteppedRun(Run):
    """See `varint.runs.run.Run`.

    Parameters
    ----------
    mechanism : Mechanism
    step : function, see `Stepped.stepper`; None where `advance` is another's
    grid : (name of the method, step in s, steps in all)
    every : int
        Record each ``every``-th node.
    state : State
        The initial one.
    """

    def __init__(self, mechanism: Mechanism, step: Step | None, grid: Grid, every: int, state: State) -> None:
        self.mechanism, self.step, self.every = mechanism, step, every
        self.name, self.dt, self.total = grid
        self.end = self.dt * self.total
        self.done = self.iterations = 0  # steps, and the iterations of Newton's method in them
        self.memory: dict[str, np.ndarray] = {}  # arrays of the present node, and the running sums for the works
        self.present = state  # this very object: `EquationsOfMotion` looks up the turns of angles by it

    @property
    def time(self) -> float:
        """s"""
        return self.dt * self.done

    @property
    def reached(self) -> Reached:
        """Progress of the run, in steps."""
        return Reached(self.time, self.end, self.done, self.total, Counts(self.done, self.iterations))

    def start(self) -> Block:
        """Record the start."""
        zero, truth = np.zeros(len(self.mechanism.forces)), np.ones(len(self.mechanism.forces), dtype=bool)
        turns = near_values(self.mechanism.compiled, self.present.turns, self.present.memory)
        self.memory = {"summed": zero, "has_potential": ~truth, "at_rest": truth, "turns": turns}
        return Block(self._nodes([self.present], 0))

    def advance(self, steps: int) -> Block:
        """March ``steps`` steps, or up to the end or to the one that fails."""
        assert self.step is not None
        states, first, seconds = [self.present], self.done, 0.0
        for _ in range(min(steps, self.total - self.done)):
            whose = f"integrator '{self.name}', a function that is called as {self.name}(state, dt)"
            began = clock()
            state = call(self.step, whose, states[-1], self.dt)
            seconds += clock() - began
            if not _is_finite(self.mechanism, state, f"what integrator '{self.name}' gives at t = {self.time:g} s"):
                self.failure = Failure(f"the step at t = {self.time:g} s gave numbers that are not finite", self.time)
                break
            states.append(state)
            self.present, self.done = state, self.done + 1
        return Block(self._nodes(states, first), seconds)

    def tail(self) -> Block:
        """Return the present node, where it is not recorded."""
        chosen = slice(0, 1 if self.done % self.every else 0)
        node = {name: self.memory[name][None][chosen] for name in (*PARTS, "command", "work")}
        return Block(node | {"t": np.array([self.time])[chosen], "law_state": np.zeros((1, 0))[chosen]})

    def state(self) -> State:
        """Return the present one."""
        return self.present

    def checkpoint(self) -> dict[str, np.ndarray]:
        """Return all that the steps to come depend on."""
        numbers = {"recorded": np.array([self.done // self.every + 1]), "done": np.array([self.done])}
        return {name: array.copy() for name, array in self.memory.items()} | numbers

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Go back to a `checkpoint`."""
        self.done = int(saved["done"][0])
        self.memory = {name: saved[name].copy() for name in self.memory}
        self.present = State(*(self.memory[part] for part in PARTS))

    def _nodes(self, states: list[State], first: int) -> dict[str, np.ndarray]:
        """Return the recorded nodes among ``states``, of which the first is node ``first``.

        The work of a force is the loss of its potential, where it has one and no damping, else the sum of its power.
        """
        t, memory = self.dt * np.arange(first, first + len(states)), self.memory
        nodes = {part: np.array([getattr(state, part) for state in states], dtype=float) for part in PARTS}
        command = np.array([inputs_at(self.mechanism, *node) for node in zip(t.tolist(), states, strict=True)])
        poses, still = (nodes["position"], nodes["quat_wxyz"]), np.zeros_like(nodes["velocity"])
        forces = forces_at(
            self.mechanism, *poses, nodes["velocity"], nodes["angular_velocity"], command, turns=memory["turns"]
        )
        at_rest = forces_at(self.mechanism, *poses, still, still, command, turns=memory["turns"]).effort
        power, potential = forces.power, forces.potential
        pieces = 0.5 * (power[1:] + power[:-1]) * np.diff(t)[:, None]
        summed = np.cumsum(np.concatenate([memory["summed"][None], pieces]), axis=0)
        has_potential = np.logical_or.accumulate(np.concatenate([memory["has_potential"][None], potential != 0]))[1:]
        conserved = np.logical_and.accumulate(np.concatenate([memory["at_rest"][None], forces.effort == at_rest]))[1:]
        is_start = "potential" not in memory
        initial = potential[0] if is_start else memory["potential"]
        nodes |= {"command": command, "work": np.where(has_potential & conserved, initial - potential, summed)}
        last = {"summed": summed, "has_potential": has_potential, "at_rest": conserved} | nodes
        self.memory = {name: array[-1].copy() for name, array in last.items()}
        self.memory |= {"turns": forces.turns, "potential": initial.copy()}
        nodes |= {"t": t, "law_state": np.zeros((len(t), 0))}
        chosen = np.arange(first, first + len(t)) % self.every == 0
        chosen[0] = is_start  # in later blocks the first node is the last of the block before
        return {name: array[chosen] for name, array in nodes.items()}


def _is_finite(mechanism: Mechanism, state: object, label: str) -> bool:
    """Return whether the numbers of a state are finite. Raises ArgumentError if it is no state of the mechanism."""
    state, nb = of_type(state, State, label, ArgumentError), len(mechanism.bodies)
    arrays = {name: getattr(state, name) for name in PARTS}
    for name, array in arrays.items():
        if isinstance(array, np.ndarray) and array.dtype == float and not np.isfinite(array).all():
            return False
        in_a_shape(array, ((nb, PARTS[name]),), f"{name} of {label}", ArgumentError)
    for body, quat in zip(mechanism.bodies, state.quat_wxyz, strict=True):
        unit_quaternion(quat, f"quat_wxyz of body '{body.name}' in {label}", ArgumentError)
    return True


def name_of(step: Step) -> str:
    """Return the ``__name__`` of an integrator of the user's own; raises ArgumentError where it has no name."""
    name = getattr(step, "__name__", None)
    if not isinstance(name, str) or not name.strip():
        raise ArgumentError(
            f"integrators: {shown(step)} has no name to be called by: make it a function by def, or set its __name__"
        )
    return name


@dataclass(frozen=True, eq=False)
class Own(Stepped):
    """An integrator of the user's own.

    Parameters
    ----------
    step : function
        ``step(state, dt)`` returns the `State` after a step of ``dt`` seconds; called by its ``__name__``.
    """

    step: Step

    formulation: ClassVar[str] = "own"
    called: ClassVar[str] = "varint.compare(integrators=)"

    @property
    def title(self) -> str:
        """The name of the function."""
        return name_of(self.step)

    def stepper(self, problem: Problem) -> Step:
        """See `Stepped`."""
        return self.step
