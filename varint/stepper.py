"""`Stepper`: a mechanism that Python steps; inputs are set before a step, and the state is read after it."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from varint.analysis.dynamics import Energy, energy_at
from varint.analysis.forces import check_laws
from varint.analysis.half_turns import HalfTurns
from varint.analysis.resolution import finer_step
from varint.display import Shown, names_text
from varint.errors import ArgumentError, UnresolvedError, UnresolvedWarning
from varint.formulations.base import Method
from varint.formulations.held import Held, HeldMarch, HeldRun
from varint.formulations.maximal import Variational
from varint.formulations.reduced import Reduced
from varint.inputs.at_nodes import inputs_at
from varint.integrators.maximal_run import MaximalRun
from varint.io.made_with import MADE_WITH, made_with
from varint.kernels.march_steps import FAILED, NOT_FINITE
from varint.kinematics.initial_state import checked_start
from varint.linear import Linearization, linearize
from varint.mechanism import Mechanism
from varint.model.checks import finite, flag, known_name, of_type, whole_number
from varint.model.forces.commanded import Commanded
from varint.model.state import State
from varint.problem import MOST_STEPS, Problem, Recording
from varint.record import HeldNodes, Record
from varint.redmax.reduced_run import ReducedRun
from varint.redmax.states import ReducedState
from varint.redmax.tree import find_tree
from varint.running import Failure, Job
from varint.trajectory import Trajectory

LONGEST = 2.0**50  # steps: without an end


@dataclass(frozen=True, eq=False)
class StepperState(Shown):
    """State of a `Stepper` as `Stepper.save` returns it; `Stepper.restore` continues from it to the same bits.

    Attributes
    ----------
    time : float, s
    """

    mechanism: Mechanism
    method: Method
    time: float
    parts: tuple

    def _facts(self) -> tuple[str, ...]:
        return (f"of '{self.mechanism.name}' at t = {self.time:g} s",)


class Stepper(Shown):
    """A mechanism that Python steps: set inputs, call `step`, read the state.

    ``Stepper(mechanism, 1e-3, order=4)`` is short for ``Stepper(mechanism, Variational(dt=1e-3, order=4))``. The steps
    are those of `simulate`, to the bit. Inputs are held over a step, which is of first order in dt for inputs that
    follow the state, or extrapolated, which is of second order. One thread at a time may use a Stepper; Steppers in
    several threads run in parallel.

    Parameters
    ----------
    mechanism : Mechanism
        Each force whose input is a number is an input of the Stepper and starts at this number. Inputs that are
        functions act as in `simulate`.
    dt : float, Variational or Reduced
        Step, s; or a method, with a number for its ``dt``. With error control each step ends at its node.
    state : State or ReducedState, optional
        The initial state; ``mechanism.state()`` where not given.
    order, scheme, tol
        See `Variational`.
    force, torque : dict, optional
        Body name to a constant load (3,), see `Problem`.
    every : int, optional
        Record each ``every``-th node for `trajectory`. Nothing is recorded where not given.
    extrapolate : bool
        Whether inputs follow the line through their values at the last two nodes over a step, as with `extrapolated`.

    Attributes
    ----------
    mechanism, method : as given
    inputs : (m,) array, N, N m or as the force says
        Inputs over the next step, by slot; write to it. The same array throughout.
    input_names : tuple of str
        Force of each slot.
    columns : dict
        Joint name to its slice of `coordinates` and `rates`, as `varint.redmax.coordinates` returns it.
    failure : Failure or None
        Message, time and place of the last step that could not be solved; None after a step that was.

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
        self.method = _method(dt, {"order": order, "scheme": scheme, "tol": tol})
        self._every = None if every is None else whole_number(every, "every", 1, ArgumentError, MOST_STEPS)
        self._extrapolates = flag(extrapolate, "extrapolate", ArgumentError)
        self._loads = {"force": _constant(force, "force"), "torque": _constant(torque, "torque")}
        self._held = _held(mechanism)
        self.input_names = tuple(mechanism.forces[k].name for k in self._held.forces)
        self._slots = {name: slot for slot, name in enumerate(self.input_names)}
        self._tree = find_tree(mechanism)
        self.columns = dict(self._tree.columns)
        self.inputs, self._place = np.zeros(len(self.input_names)), np.zeros((2, self._tree.nq))
        self.failure: Failure | None = None
        self._warned = self._is_read = False
        self._begin(state)

    def _begin(self, state: State | ReducedState | None) -> None:
        """Make the run at its start."""
        dt, watched = vars(self.method)["dt"], bool(HalfTurns(self.mechanism).watched)
        problem = Problem(self.mechanism, LONGEST * dt, state, self._loads["force"], self._loads["torque"])
        stride = self._every or (1 if watched else MOST_STEPS)
        run, self._job = self.method.prepare(problem, Recording(every=stride))
        assert isinstance(run, MaximalRun | ReducedRun)
        self._run: HeldMarch | HeldRun
        if isinstance(run, MaximalRun) and not (run.stepwise or run.commands.varies or watched):
            self._run = HeldMarch(run, self._held, self._extrapolates, self._tree, self._every)
            self.inputs = self._run.input
        elif self._extrapolates:
            raise ArgumentError(
                "extrapolate=True needs the variational integrator, and a mechanism without inputs that are functions"
            )
        else:
            self._run = HeldRun(run, self._held, self._tree, self._every, (self.inputs, *self._place))
        self._layout = run.layout
        self._q, self._rate = self._run.q.view(), self._run.rate.view()
        for array in (self._q, self._rate):
            array.setflags(write=False)
        self._bind()

    def _bind(self) -> None:
        """Look up what each step needs."""
        run = self._run
        self._take, self._word, self._seconds, self._is_read = run.take, run.word, run.seconds, False

    # ------------------------------------------------------------------------------------- steps

    def step(self, n: int = 1) -> bool:
        """Take ``n`` steps with the present `inputs`; return whether all were solved.

        At a step that could not be solved the Stepper stays at the node before it, and `failure` describes it. Other
        inputs may be tried from there.

        Warns with UnresolvedWarning, once, where steps do not resolve the motion, see ``on_unresolved`` of
        `Variational`. Raises ArgumentError for a wrong ``n`` and for inputs that are not finite.
        """
        if type(n) is not int or not 0 < n <= MOST_STEPS:
            n = whole_number(n, "n", 1, ArgumentError, MOST_STEPS)
        self._is_read = False
        if status := self._take(self._word, n):
            return self._ended(status)
        if self.failure is not None:
            self.failure = None
        return True

    def _ended(self, status: int) -> bool:
        """Report a step that ended otherwise than most."""
        self._bind()
        if status == NOT_FINITE:
            slot = int(np.flatnonzero(~np.isfinite(self.inputs))[0])
            force = self.mechanism.forces[self._held.forces[slot]]
            assert isinstance(force, Commanded)
            what = f"{force.command_name} of {force.label} at t = {self.time:g} s"
            raise ArgumentError(f"{what} must be finite, got {self.inputs[slot]:g}")
        self.failure = self._run.failed() if status == FAILED else None
        if status == FAILED:
            return False
        how = vars(self.method).get("on_unresolved", "ignore")
        if self._warned or how == "ignore":
            return True
        self._warned = True
        body, t = self.mechanism.bodies[self._run.unresolved()].name, self.time
        finer = finer_step(self.mechanism, vars(self.method)["dt"])
        message = (
            f"the steps of '{self.mechanism.name}' up to t = {t:g} s did not resolve its motion, where the velocity of"
            f" body '{body}' changed most: energy came or went without work. Try dt = {finer:g} s"
        )
        if how == "raise":
            raise UnresolvedError(message, time=t, body=body, joint=None, trajectory=None)
        warnings.warn(message, UnresolvedWarning, stacklevel=3)
        return True

    def set(self, name: str, value: float) -> None:
        """Set the input of the force ``name`` from the next step on.

        Raises ArgumentError for a force without an input that is a number, and for a value that is not finite.
        """
        slot = self._slots.get(name)
        if slot is None:
            raise ArgumentError(self._why_not(name))
        self.inputs[slot] = finite(value, f"input of force '{name}'", ArgumentError)

    def _why_not(self, name: str) -> str:
        known_name(name, self.mechanism.force_index, "there is no force", ArgumentError)
        force = self.mechanism.forces[self.mechanism.force_index[name]]
        if not isinstance(force, Commanded):
            why = "has no input"
        elif force.constraint:
            why = "prescribes a motion, which cannot jump: give it a function of time"
        else:
            why = f"has a function as its {force.command_name}: give a number there, to set it"
        others = f"; inputs are {', '.join(self.input_names)}" if self.input_names else ""
        return f"{force.label} {why}{others}"

    # ------------------------------------------------------------------------------------- readings

    @property
    def time(self) -> float:
        """s, of the present node."""
        return float(self._seconds[0])

    @property
    def state(self) -> State:
        """The present state, a copy."""
        return self._run.state()

    @property
    def coordinates(self) -> np.ndarray:
        """(nq,) m, rad, joint coordinates of the spanning tree by `columns`; read-only.

        The same array at each call, with the values of the present node. Angles take the turns nearest to those at
        the last call: a mechanism that turns by more than half a turn between two calls loses count.
        """
        if not self._is_read:
            self._read()
        return self._q

    @property
    def rates(self) -> np.ndarray:
        """(nq,) m/s, rad/s, of the `coordinates`; read-only and the same array at each call."""
        if not self._is_read:
            self._read()
        return self._rate

    def _read(self) -> None:
        self._run.read()
        self._is_read = True

    @property
    def energy(self) -> Energy:
        """The kinetic and potential energy, J, see `varint.energy`, with the present `inputs`."""
        return energy_at(self.mechanism, self.state, self._command)

    def _command(self) -> np.ndarray:
        """(forces,) present inputs of all forces."""
        command = inputs_at(self.mechanism, self.time, self.state)
        command[self._held.forces] = self.inputs
        return command

    def linearize(
        self, dt: float | None = None, *, order: int | None = None, scheme: str | None = None
    ) -> Linearization:
        """The linear system about the present state and `inputs`: `varint.linearize` of the mechanism with these.

        Raises ArgumentError, StateError and ConvergenceError as `varint.linearize` does; ArgumentError for inputs that
        are functions of time.
        """
        forces = list(self.mechanism.forces)
        if self.time and any(isinstance(force, Commanded) and force.of_time for force in forces):
            raise ArgumentError("linearize takes inputs that are functions of time at t = 0: not those of a later step")
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
        """Go back to t = 0 at ``state``, ``mechanism.state()`` where not given; inputs are those of the mechanism.

        The recorded nodes are dropped. Raises StateError and ArgumentError as a new Stepper does.
        """
        self.failure = None
        if isinstance(self._run, HeldMarch):
            start = checked_start(self.mechanism, self.mechanism.state() if state is None else state)  # type: ignore[arg-type]
            check_laws(self.mechanism, start)
            self._run.restart(start)
            self._bind()
        else:
            self._begin(state)

    def save(self) -> StepperState:
        """Return a checkpoint in memory: state, inputs, and all that the steps to come depend on."""
        return StepperState(self.mechanism, self.method, self.time, self._run.save())

    def restore(self, saved: StepperState) -> None:
        """Go back to a checkpoint of this Stepper, or go on from that of another with the same mechanism and method.

        The steps to come have the same bits as those after `save`. Nodes that were recorded after it are dropped.
        Raises ArgumentError for a checkpoint of another mechanism or method.
        """
        of_type(saved, StepperState, "saved", ArgumentError)
        if saved.mechanism is not self.mechanism or not _same(saved.method, self.method):
            raise ArgumentError("a checkpoint is restored in a Stepper of the same mechanism with the same method")
        self._run.recall(saved.parts)
        self.failure = None
        self._bind()

    def trajectory(self) -> Trajectory:
        """Return the `Trajectory` of the nodes that were recorded so far, and of the present one.

        Raises ArgumentError where ``every`` was not given.
        """
        if self._every is None:
            raise ArgumentError("no nodes were recorded: give the Stepper every=1 for all, or every=10 for each tenth")
        job: Job = self._job
        dt, nodes, counts = vars(self.method)["dt"], self._run.nodes(), self._run.run.counts
        self._bind()
        steps = round(self.time / dt)
        changes = {"duration": steps * dt, "steps": steps, "every": self._every}
        settings = job.settings | changes | {MADE_WITH: made_with(job.coefficients)}
        made_of = self.mechanism, settings, self._layout, HeldNodes(nodes), job.load
        return self.method.trajectory(Record(*made_of, counts, 0, "the Stepper came so far", 0.0))

    def _facts(self) -> tuple[str, ...]:
        inputs = f"inputs {names_text(self.input_names)}" if self.input_names else "no inputs"
        return f"'{self.mechanism.name}'", self.method.title, f"t = {self.time:g} s", inputs


def _method(dt: float | Method, arguments: dict[str, Any]) -> Method:
    """The method of a Stepper; raises ArgumentError for one that it does not support."""
    if not isinstance(dt, Method):
        method: Method = Variational(dt=dt, **arguments)
    else:
        defaults = {"order": None, "scheme": None, "tol": 1e-10}
        if beside := [name for name, value in arguments.items() if value != defaults[name]]:
            raise ArgumentError(f"give {beside[0]!r} to the method, not to Stepper()")
        method = dt
    if not isinstance(method, Variational | Reduced):
        raise ArgumentError(f"Stepper supports Variational and Reduced, not '{method.title}'")
    if not isinstance(method.dt, float):
        raise ArgumentError(f"Stepper needs a number for dt, the step in s, got {method.dt!r}")
    if isinstance(method, Variational) and method.adaptive is not False:
        raise ArgumentError("the steps of a Stepper are all of dt: leave 'adaptive' out")
    return method


def _same(method: Method, other: Method) -> bool:
    return type(method) is type(other) and vars(method) == vars(other)


def _constant(loads: Mapping[str, ArrayLike] | None, what: str) -> Mapping[str, ArrayLike] | None:
    """Loads on bodies; raises ArgumentError where they have one value a node."""
    for name, value in loads.items() if isinstance(loads, Mapping) else ():
        if np.ndim(value) > 1:
            raise ArgumentError(f"{what} on body '{name}' must be constant, (3,): a Stepper has no last node")
    return loads


def _held(mechanism: Mechanism) -> Held:
    """The forces whose inputs are numbers; raises ArgumentError where one is given node by node."""
    held = Held([], [])
    for element, number in enumerate(mechanism.compiled.force.tolist()):
        force = mechanism.forces[number]
        if not isinstance(force, Commanded) or force.input is None or callable(force.input):
            continue
        if force.input.ndim:
            raise ArgumentError(
                f"{force.command_name} of {force.label} has one value a node, and a Stepper no last node: give a number"
            )
        if not force.constraint:
            held.forces.append(number)
            held.elements.append(element)
    return held
