"""`Stepper`: step a mechanism from Python; set inputs before a step and read the state after it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import checked_call, finite, flag, known_name, of_type, whole_number
from varint.base.display import Shown, names_text
from varint.base.errors import ArgumentError, UnresolvedError, UnresolvedWarning
from varint.derivatives.linear import Linearization, linearize
from varint.extras.stepper_arguments import constant_loads, held_inputs, method_of
from varint.files.runs.made_with import MADE_WITH, made_with
from varint.kinematics.frames import nearest_coordinates
from varint.kinematics.initial_state import checked_start
from varint.kinematics.turns import followed_size
from varint.mechanism.mechanism import Mechanism
from varint.meshes.mesh_state import by_mesh
from varint.methods.held import HeldMarch, HeldRun
from varint.methods.reduced.method import Reduced
from varint.methods.reduced.states import ReducedState
from varint.methods.reduced.tree import find_tree
from varint.methods.variational.maximal_run import MaximalRun
from varint.model.bounds import bounded
from varint.model.forces.commanded import Commanded
from varint.model.known_forces import USES, refuse
from varint.model.state import State
from varint.results.dynamics import Energy, energy_at, energy_read
from varint.results.energy_reader import EnergyReader
from varint.results.forces import check_laws
from varint.results.half_turns import HalfTurns
from varint.results.held_damping import explain_controllers, explain_inputs
from varint.results.inputs.at_nodes import inputs_at
from varint.results.inputs.replaced_rates import warn_of_replaced_rates
from varint.results.node_turns import followed_from
from varint.results.record import Record
from varint.results.resolution import finer_step
from varint.runs.method import Method
from varint.runs.problem import MOST_STEPS, Problem, Recording
from varint.runs.run import Failure, SteeredRun
from varint.runs.running import Job
from varint.runs.trajectory import Trajectory
from varint.step.march.steps import FAILED, NOT_FINITE

LONGEST = 2.0**50  # steps in the run of a Stepper, which has no end


@dataclass(frozen=True, eq=False)
class StepperState(Shown):
    """Checkpoint of a `Stepper`, returned by `Stepper.save`; `Stepper.restore` continues from it to the same bits.

    Attributes
    ----------
    mechanism, method : of the Stepper
    time : float
        Time of the node, s.
    parts : tuple
        Internal.
    """

    mechanism: Mechanism
    method: Method
    time: float
    parts: tuple

    def _facts(self) -> tuple[str, ...]:
        return (f"of '{self.mechanism.name}' at t = {self.time:g} s",)


@checked_call
class Stepper(Shown):
    """A mechanism stepped from Python: set inputs, call `step`, read the state.

    ``Stepper(mechanism, 1e-3, order=4)`` is short for ``Stepper(mechanism, Variational(dt=1e-3, order=4))``. Steps of
    fixed size agree with `simulate` to the bit; docs/stepper.md has one exception. Inputs are constant over a step,
    which is accurate to first order in dt if they depend on the state, or extrapolated, to second order. Only one
    thread at a time may use a Stepper; Steppers in several threads run in parallel.

    Parameters
    ----------
    mechanism : Mechanism
        Each force whose input is a number is an input of the Stepper, and this number its initial value; a
        `PrescribedMotion` is not. Inputs that are functions act as in `simulate`.
    dt : float, Variational, Lobatto or Reduced
        Step, s; or a method whose ``dt`` is a number and not adaptive. An integrator with error control integrates
        from node to node, ``dt`` apart, and starts anew at each.
    state : State or ReducedState, optional
        The initial state; by default ``mechanism.state()``.
    order, scheme, tol
        See `Variational`; only if ``dt`` is a number.
    force, torque : dict, optional
        Body name to a constant load (3,), see `Problem`.
    every : int, optional
        Record each ``every``-th node for `trajectory`. By default nothing is recorded.
    extrapolate : bool
        Whether inputs are extrapolated over a step, linearly from their values at the last two nodes, as with
        `extrapolated`. Needs the variational integrator, no input that is a function, no force along a rotation vector.

    Attributes
    ----------
    mechanism : Mechanism
    method : Variational, Lobatto or Reduced
    inputs : (m,) array
        Inputs for the next step, in the unit of each force, such as N or N m. Write to it; it stays the same array.
    input_names : tuple of str
        Name of the force of each entry of ``inputs``.
    columns : dict
        Joint name to its slice of `coordinates` and `rates`, as `varint.redmax.coordinates` returns it, but for joints
        with a compliance, which keep their coordinates in maximal coordinates.
    failure : Failure or None
        Message, time, body and joint, if the last call of `step` met a step that could not be solved; else None.

    Raises
    ------
    ArgumentError, StateError
    """

    def __init__(
        self,
        mechanism: Mechanism,
        dt: float | Method,
        *,
        state: State | ReducedState | None = None,
        order: int | None = None,
        scheme: str | None = None,
        tol: float = 1e-10,
        force: Mapping[str, ArrayLike] | None = None,
        torque: Mapping[str, ArrayLike] | None = None,
        every: int | None = None,
        extrapolate: bool = False,
    ) -> None:
        self.mechanism = of_type(mechanism, Mechanism, "mechanism", ArgumentError)
        self.method = method_of(dt, {"order": order, "scheme": scheme, "tol": tol})
        self._every = None if every is None else whole_number(every, "every", 1, ArgumentError, MOST_STEPS)
        self._extrapolates = flag(extrapolate, "extrapolate", ArgumentError)
        self._loads = {"force": constant_loads(force, "force"), "torque": constant_loads(torque, "torque")}
        self._held = held_inputs(mechanism)
        self.input_names = tuple(mechanism.forces[k].name for k in self._held.forces)
        self._slots = {name: slot for slot, name in enumerate(self.input_names)}
        self._tree = find_tree(mechanism, as_described=not isinstance(self.method, Reduced))
        self.columns = dict(self._tree.columns)
        self.inputs, self._place = np.zeros(len(self.input_names)), np.zeros((2, self._tree.nq))
        self.failure: Failure | None = None
        self._warned = self._is_read = False
        self._energies: EnergyReader | None = None
        self._begin(state)

    def _begin(self, state: State | ReducedState | None) -> None:
        """Create the run at t = 0; raise ArgumentError if it cannot extrapolate inputs but has to."""
        dt, watched = vars(self.method)["dt"], bool(HalfTurns(self.mechanism).watched)
        problem = Problem(self.mechanism, LONGEST * dt, state, self._loads["force"], self._loads["torque"])
        stride = self._every or (1 if watched else MOST_STEPS)
        run, self._job = self._prepared(problem, Recording(every=stride))
        self._run: HeldMarch | HeldRun
        varies = isinstance(run, MaximalRun) and (run.commands.varies or run.loads.varies)
        if isinstance(run, MaximalRun) and not (run.stepwise or varies or watched or run.in_python):
            self._run = HeldMarch(run, self._held, self._extrapolates, self._tree, self._every)
            self.inputs = self._run.input
        elif self._extrapolates:
            raise ArgumentError(
                "extrapolate=True needs varint.Variational or varint.Lobatto, and a mechanism without inputs that are"
                " functions, forces along rotation vectors or deformable bodies"
            )
        else:
            self._run = HeldRun(run, self._held, self._tree, self._every, self.inputs, self._place)
        self._layout = run.layout
        self._q, self._rate, self._both = self._run.q.view(), self._run.rate.view(), self._run.both
        for array in (self._q, self._rate):
            array.setflags(write=False)
        self._bind()
        warn_of_replaced_rates(self.mechanism, state, lambda: self.state)

    def _prepared(self, problem: Problem, recording: Recording) -> tuple[SteeredRun, Job]:
        """Return the run and its job."""
        run, job = self.method.prepare(problem, recording)
        assert isinstance(run, SteeredRun)
        return run, job

    def _bind(self) -> None:
        """Bind the attributes of the run that `step` uses, and mark coordinates and rates as outdated."""
        run = self._run
        self._take, self._word, self._seconds, self._is_read = run.take, run.word, run.seconds, False
        self._state = run.state

    # ------------------------------------------------------------------------------------- steps

    def step(self, n: int = 1) -> bool:
        """Take ``n`` steps with the present `inputs`; return whether all were solved.

        If a step cannot be solved the Stepper stops at the node before it, and `failure` describes it; other inputs may
        be tried from there. If the rotation vector of a force passes half a turn, it goes back to where the call began.

        Warns once with UnresolvedWarning, or raises UnresolvedError once, if steps do not resolve the motion, see
        ``on_unresolved`` of `Variational`. Raises ArgumentError for a wrong ``n`` and for inputs that are not finite.
        """
        if type(n) is not int or not 0 < n <= MOST_STEPS:
            n = whole_number(n, "n", 1, ArgumentError, MOST_STEPS)
        self._is_read = False
        if status := self._take(self._word, n):
            return self._ended(status, n)
        if self.failure is not None:
            self.failure = None
        return True

    def _ended(self, status: int, n: int) -> bool:
        """Handle the status of ``n`` steps that failed or did not resolve the motion; return whether all were solved.

        Sets `failure`, warns, or raises as `step` documents.
        """
        self._bind()
        if status == NOT_FINITE:
            slot = int(np.flatnonzero(~np.isfinite(self.inputs))[0])
            force = self.mechanism.forces[self._held.forces[slot]]
            assert isinstance(force, Commanded)
            label = f"{force.command_name} of {force.label} at t = {self.time:g} s"
            raise ArgumentError(f"{label} must be finite, got {self.inputs[slot]:g}")
        self.failure = self._run.failed() if status == FAILED else None
        if status == FAILED:
            return False
        how = vars(self.method).get("on_unresolved", "ignore")
        if self._warned or how == "ignore":
            return True
        self._warned = True
        body, t = self.mechanism.bodies[self._run.unresolved()].name, self.time
        advice = self._unstable_inputs(n) or f"Try dt = {finer_step(self.mechanism, vars(self.method)['dt']):g} s"
        message = (
            f"the steps of '{self.mechanism.name}' up to t = {t:g} s did not resolve its motion: energy changed without"
            f" work. The velocity of body '{body}' changed most. {advice}"
        )
        if how == "raise":
            raise UnresolvedError(message, time=t, body=body, joint=None, trajectory=None)
        warnings.warn(message, UnresolvedWarning, stacklevel=3)
        return True

    def _unstable_inputs(self, n: int) -> str | None:
        """Return an explanation if efforts that were held over ``n`` steps damp with too large a gain; else None."""
        state, dt = self.state, vars(self.method)["dt"]
        held = {} if self._extrapolates else dict(zip(self._held.forces, self.inputs.tolist(), strict=True))
        return explain_inputs(self.mechanism, held, state, n * dt) or explain_controllers(
            self.mechanism, self.time, state, dt
        )

    def set(self, name: str, value: float) -> None:
        """Set the input of the force ``name`` for the next and later steps.

        Raises ArgumentError for a name that is not in `input_names`, and for a value that is not finite, or
        beyond 1e50.
        """
        slot = self._slots.get(name)
        if slot is None:
            raise ArgumentError(self._why_not(name))
        number = finite(value, f"input of force '{name}'", ArgumentError)
        bounded(number, f"input of force '{name}'", error=ArgumentError)
        self.inputs[slot] = number

    def _why_not(self, name: str) -> str:
        """Return why the input of the force ``name`` cannot be set; raise ArgumentError for an unknown force."""
        known_name(name, self.mechanism.force_index, "there is no force", ArgumentError)
        force = self.mechanism.forces[self.mechanism.force_index[name]]
        if not isinstance(force, Commanded):
            why = "has no input"
        elif force.constraint:
            why = "prescribes a motion, which cannot jump: give it a function of time"
        else:
            why = f"has a function as its {force.command_name}: give the force a number to set it here"
        others = f"; inputs are {', '.join(self.input_names)}" if self.input_names else ""
        return f"{force.label} {why}{others}"

    # ------------------------------------------------------------------------------------- readings

    @property
    def time(self) -> float:
        """Time of the present node, s."""
        return float(self._seconds[0])

    @property
    def state(self) -> State:
        """A copy of the state at the present node, a `MeshState` where there are deformable bodies or nets."""
        return self._state()

    @property
    def vertices(self) -> dict[str, np.ndarray]:
        """Name of a deformable body to the places (n, 3) of its vertices at the present node, m, world."""
        return by_mesh(self.mechanism, self._run.vertex_motion()[0])

    @property
    def vertex_velocities(self) -> dict[str, np.ndarray]:
        """The same to the velocities (n, 3) of its vertices, m/s, world."""
        return by_mesh(self.mechanism, self._run.vertex_motion()[1])

    @property
    def coordinates(self) -> np.ndarray:
        """Joint coordinates (nq,) of the spanning tree at the present node, m, rad, in the slices of `columns`.

        Read-only, and the same array at each reading. Angles that no force acts along are unwrapped from one reading to
        the next: turns are miscounted if a joint turns by more than half a turn in between.
        """
        if not self._is_read:
            self._read()
        return self._q

    @property
    def rates(self) -> np.ndarray:
        """Rates (nq,) of the `coordinates`, m/s, rad/s; read-only, and the same array at each reading."""
        if not self._is_read:
            self._read()
        return self._rate

    @property
    def coordinates_and_rates(self) -> np.ndarray:
        """The `coordinates` and behind them the `rates`, (2 nq,), a copy."""
        if not self._is_read:
            self._read()
        return self._both.copy()

    def _read(self) -> None:
        self._run.read()
        self._is_read = True

    @property
    def energy(self) -> Energy:
        """Kinetic and potential energy, J, at the present node with the present `inputs`; see `varint.energy`."""
        if self._energies is None:
            refuse(self.mechanism, USES["states"])
            self._energies = EnergyReader(self.mechanism)
        state = self.state
        reading = energy_read(self.mechanism, self._energies, state)
        return energy_at(self.mechanism, state, self._command) if reading is None else reading

    def _command(self) -> np.ndarray:
        """Return the inputs of all forces of the mechanism at the present node, in its order."""
        command = inputs_at(self.mechanism, self.time, self.state)
        command[self._held.forces] = self.inputs
        return command

    def linearize(
        self, dt: float | None = None, *, order: int | None = None, scheme: str | None = None
    ) -> Linearization:
        """Return the linearisation of the mechanism about the present state and `inputs`, see `varint.linearize`.

        Raises ArgumentError, StateError and ConvergenceError as `varint.linearize` does; ArgumentError if t > 0 and an
        input is a function of time.
        """
        forces = list(self.mechanism.forces)
        if self.time and any(isinstance(force, Commanded) and force.of_time for force in forces):
            raise ArgumentError("linearize evaluates functions of time at t = 0: call it before the first step")
        same = True
        for k, value in zip(self._held.forces, self.inputs.tolist(), strict=True):
            force = forces[k]
            assert isinstance(force, Commanded)
            if force.input != value:
                forces[k], same = replace(force, **{force.command_name: value}), False  # type: ignore[arg-type]
        mechanism = self.mechanism if same else replace(self.mechanism, forces=forces)
        return linearize(mechanism, self.state, dt, order=order, scheme=scheme)

    # ------------------------------------------------------------------------------------- start and checkpoints

    def reset(self, state: State | ReducedState | None = None) -> None:
        """Restart at t = 0 from ``state``, by default ``mechanism.state()``, with the inputs of the mechanism.

        Deletes the recorded nodes. Raises StateError and ArgumentError as a new Stepper does.
        """
        self.failure = None
        if isinstance(self._run, HeldMarch):
            start = self._own_start if state is None else self._checked(state)
            self._run.restart(start)
            self._bind()
            warn_of_replaced_rates(self.mechanism, start, lambda: self.state)
        else:
            self._begin(state)

    @cached_property
    def _own_start(self) -> State:
        """Return the state of the mechanism, checked: it is that of each episode of a learner."""
        return self._checked(self.mechanism.state())

    def _checked(self, state: Any) -> State:
        """Return ``state`` as a run begins from it. Raises StateError and ArgumentError."""
        start = checked_start(self.mechanism, state)
        check_laws(self.mechanism, start)
        return start

    def save(self) -> StepperState:
        """Return a checkpoint in memory: state, inputs, and everything else that later steps depend on.

        Raises ArgumentError if the mechanism has inputs that are `extrapolated`.
        """
        return StepperState(self.mechanism, self.method, self.time, self._run.save())

    def restore(self, saved: StepperState) -> None:
        """Return to a checkpoint of this Stepper, or of another with the same Mechanism object and an equal method.

        Later steps have the same bits as the steps after `save`. Deletes the nodes recorded since. Raises ArgumentError
        for a checkpoint of another mechanism or method.
        """
        of_type(saved, StepperState, "saved", ArgumentError)
        if differs := self._differs(saved):
            raise ArgumentError(
                "restore the checkpoint in a Stepper of the same mechanism with the same method: " + differs
            )
        self._run.recall(saved.parts)
        self.failure = None
        self._bind()

    def _differs(self, saved: StepperState) -> str:
        """Return how a checkpoint differs from this stepper, as text; empty if it does not."""
        if saved.mechanism is not self.mechanism:
            same = saved.mechanism.name == self.mechanism.name
            return f"its '{saved.mechanism.name}' is another Mechanism {'object' if same else ''}".rstrip()
        theirs, ours = vars(saved.method), vars(self.method)
        if type(saved.method) is not type(self.method):
            return f"its method is {type(saved.method).__name__}, not {type(self.method).__name__}"
        names = [name for name in ours if ours[name] != theirs[name]]
        return ", ".join(f"it has {name} = {theirs[name]!r}, not {ours[name]!r}" for name in names)

    def trajectory(self, first: int = 0) -> Trajectory:
        """Return the `Trajectory` of the nodes recorded so far, from number ``first`` on, and of the present one.

        Its cost grows with these nodes alone. Angles that forces count have their turns; others count them from node
        ``first``.

        Raises ArgumentError if the Stepper has no ``every``, and for a node that is not recorded.
        """
        if self._every is None:
            raise ArgumentError("no nodes were recorded: give the Stepper every=1 for all, or every=10 for each tenth")
        number, job = whole_number(first, "first", 0, ArgumentError, MOST_STEPS), self._job
        dt = vars(self.method)["dt"]
        if number * self._every > round(self.time / dt):
            raise ArgumentError(
                f"node {number} is not recorded yet: {round(self.time / dt) // self._every} is the last"
            )
        nodes, counts = self._run.nodes(number), self._run.run.reached.counts
        self._bind()
        steps = round(self.time / dt)
        changes = {"duration": steps * dt, "steps": steps, "every": self._every}
        settings = job.settings | changes | {MADE_WITH: made_with(job.coefficients)}
        made_of = self.mechanism, settings, self._layout, nodes, job.load
        record = Record(*made_of, counts, 0, "up to the present node of a Stepper", 0.0)
        return self.method.trajectory(record) if not number else self._counted_back(record)

    def _counted_back(self, record: Record) -> Trajectory:
        """Return the trajectory of later nodes, with turns counted back from the present node."""
        last = self.state
        motion = self.method.trajectory(replace(record, settings=record.settings | {"turns": {}, "memory": {}}))
        counted = dict(motion._turned)
        for name, near in last.turns.items():
            q, joint = counted[name].reshape(len(motion), -1), self.mechanism.joint(name)
            known = np.where(np.isnan(near), q[-1], near)
            shift = nearest_coordinates(joint, q[-1:], known[None])[0] - q[-1]
            counted[name] = nearest_coordinates(joint, q, q + shift).reshape(counted[name].shape)
        motion = type(motion)(motion.record, counted)
        compiled = self.mechanism.compiled
        angles = {force: q[len(q) - followed_size(compiled, force) :] for force, q in last.memory.items()}
        followed = followed_from(self.mechanism, motion.position[::-1], motion.quat_wxyz[::-1], angles)
        motion.__dict__["_followed"] = {force: q[::-1] for force, q in followed.items()}
        return motion

    def _facts(self) -> tuple[str, ...]:
        inputs = f"inputs {names_text(self.input_names)}" if self.input_names else "no inputs"
        return f"'{self.mechanism.name}'", self.method.title, f"t = {self.time:g} s", inputs
