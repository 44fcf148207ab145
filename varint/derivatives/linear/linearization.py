"""The linear system of a mechanism about a state: in continuous time, or of one step of the integrator."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import array_of, flag, of_type, positive
from varint.base.display import Shown, count_text, names_text
from varint.base.errors import ArgumentError
from varint.derivatives.linear.chart import Chart
from varint.derivatives.linear.collocation_tangents import CollocationTangents, kind_of, steps_of, tangents_of
from varint.derivatives.linear.joint_coordinates import JointCoordinates
from varint.derivatives.linear.minimal_coordinates import Coordinates
from varint.derivatives.linear.placed_state import PlacedState
from varint.derivatives.linear.second import SecondDerivatives, SecondOrder
from varint.derivatives.linear.step_tangents import TangentRun
from varint.kinematics.assembly import checked_state
from varint.kinematics.initial_state import checked_start
from varint.kinematics.open_stops import check_open
from varint.mechanism.mechanism import Mechanism
from varint.methods.variational.lobatto import Lobatto
from varint.methods.variational.schemes import Scheme
from varint.methods.variational.schemes import scheme as find_scheme
from varint.model.bounds import divisor
from varint.model.forces.commanded import Commanded
from varint.model.known_forces import USES, refuse
from varint.model.state import State
from varint.results.forces import check_laws
from varint.results.inputs.at_nodes import inputs_at, motions_at
from varint.runs.method import Method
from varint.runs.parts import Arguments, bound_arguments, posed, with_arguments
from varint.runs.problem import Problem
from varint.step.configuration import place_anew
from varint.step.derivatives.accelerations import acceleration_changes
from varint.step.workspace import joint_workspace


@dataclass(frozen=True, eq=False)
class Linearization(Shown):
    """x' = offset + A x + B u near a ``state``, of n minimal coordinates and m inputs.

    x (2 n,): joint coordinates less those of the state, m or rad, and their rates less those of the state, as
    `Mechanism.coordinates` and `rates` give them. In the ``chart``, coordinates and rates of a nearby state are taken
    with the joints' rows at the state itself, as they always are where bodies float or rows are compliant: to first
    order of a pose the two agree, off equilibrium A differs. x': the time derivative of x, or where there is a step
    ``dt`` the x that it leads to. u (m,): the inputs less those at the state, constant over a step.

    mechanism : str
    state : State
    dt : float or None
        s
    A : (2 n, 2 n)
    B : (2 n, m)
    offset : (2 n,) zero at an equilibrium
    names : (n,) of the coordinates: joints, "NAME[k]" where one has several, and of bodies that float
        "NAME.position[k]" and "NAME.rotation[k]"; of compliant rows of joints "NAME.row[k]"
    inputs : (m,) names of the forces that are commanded
    input : (m,) what they are at the state
    basis : (2 n, nb, 12) changes of the bodies by those of x
        Position, m, world, and rotation vector, rad, body axes; velocity, m/s, world, and angular velocity, rad/s, body
        axes. They keep to the joints.
    rows : (2 n, nb, 12) changes of x by those of the bodies
    chart : bool
        Whether the coordinates are those of the chart.
    """

    mechanism: str
    state: State
    dt: float | None
    A: np.ndarray
    B: np.ndarray
    offset: np.ndarray
    names: tuple[str, ...]
    inputs: tuple[str, ...]
    input: np.ndarray
    basis: np.ndarray
    rows: np.ndarray
    chart: bool
    _about: Coordinates = field(repr=False)
    _linearizer: "Linearizer" = field(repr=False)

    def coordinates(self, state: State) -> np.ndarray:
        """Return x (2 n,) of a nearby state, the part of its difference along the coordinates; raises StateError."""
        arrays = checked_state(self._linearizer.mechanism, state, "state")
        return self._about.read(State(*arrays))

    def state_at(self, x: ArrayLike) -> State:
        """Return the state with coordinates and rates x (2 n,): `coordinates` of it are x, and its joints are closed.

        Prescribed motions and the sums of couplings stay as they are in ``state``. Raises StateError where the joints
        have no such state on the path from there, or a body is half a turn away; ArgumentError for another shape.
        """
        return self._chart.state(array_of(x, (2 * len(self.names),), "x", ArgumentError))

    def second_derivatives(self, costate: ArrayLike) -> SecondDerivatives:
        """Return second derivatives of costate . x' of a step by x and u, in the coordinates of `state_at`.

        By differences of sixth order of the exact adjoint of the step, to about 1e-9 of the largest: 6 (2 n + m) steps
        and adjoints where the step is as smooth as joints and springs are.

        Parameters
        ----------
        costate : (2 n,)

        Raises
        ------
        ArgumentError
            A linearisation in continuous time. StateError: next to the state the joints cannot be closed, or the step
            is not smooth, as where a force sets in.
        """
        second, n2 = self._second, len(self.A)
        hessian = second.matrix(array_of(costate, (n2,), "costate", ArgumentError))
        return SecondDerivatives(hessian[:n2, :n2], hessian[:n2, n2:], hessian[n2:, n2:])

    def hessian_product(
        self, costate: ArrayLike, dx: ArrayLike, du: ArrayLike | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the derivatives (2 n,), (m,) of A^T costate and B^T costate along changes dx (2 n,) and du (m,).

        Of these, xx dx + xu du and xu^T dx + uu du of `second_derivatives`, at the cost of 7 steps and adjoints or
        some more. Raises as that does.
        """
        second, (n2, m) = self._second, self.B.shape
        costate, dx = (
            array_of(vector, (n2,), name, ArgumentError) for vector, name in ((costate, "costate"), (dx, "dx"))
        )
        du = np.zeros(m) if du is None else array_of(du, (m,), "du", ArgumentError)
        product = second.product(costate, np.concatenate([dx, du]))
        return product[:n2], product[n2:]

    @cached_property
    def _chart(self) -> Chart:
        return Chart(self._linearizer.mechanism, self._about)

    @cached_property
    def _second(self) -> SecondOrder:
        return self._linearizer._second(self._about, self.B)

    @cached_property
    def fdx(self) -> np.ndarray:
        """(nb, 12, nb, 12) derivative of the next state by the state, as in ``basis``.

        Without ``dt`` (nb, 6, nb, 12), of the accelerations, m/s^2, world, and rad/s^2, body axes.
        """
        return self._full[0]

    @cached_property
    def fdu(self) -> np.ndarray:
        """(nb, 12, m) of the next state by the inputs; without ``dt`` (nb, 6, m), of the accelerations."""
        return self._full[1]

    @cached_property
    def _full(self) -> tuple[np.ndarray, np.ndarray]:
        nb = len(self.state.position)
        units = np.eye(12 * nb).reshape(-1, nb, 12)
        changes = np.moveaxis(self._linearizer._changes(self.state, units), 0, 2)
        return changes[..., : 12 * nb].reshape(nb, -1, nb, 12), changes[..., 12 * nb :]

    @property
    def eigenvalues(self) -> np.ndarray:
        """(2 n,) complex, of A."""
        return np.linalg.eigvals(self.A).astype(complex)

    def _facts(self) -> Iterable[str]:
        yield f"'{self.mechanism}'"
        yield steps_text(self.dt)
        yield f"{count_text(len(self.names), 'coordinate')} {names_text(self.names)}".strip()
        yield "coordinates of the chart" if self.chart else "coordinates of joints"
        yield f"{count_text(len(self.inputs), 'input')} {names_text(self.inputs)}".strip()


def steps_text(dt: float | None) -> str:
    """Describe the steps for a display."""
    return "continuous" if dt is None else f"steps of {dt:g} s"


@with_arguments
def linearize(
    arguments: Arguments,
    mechanism: Mechanism | Problem,
    state: State | Method | None = None,
    dt: float | None = None,
    *,
    order: int | None = None,
    scheme: str | None = None,
    chart: bool = False,
) -> Linearization:
    """Linearise a mechanism about a state of rest or of motion, in minimal coordinates.

    Closed loops, redundant rows and couplings are in; prescribed motions hold their coordinates. Inputs are those of
    the forces that are commanded. Those that are functions of the state are held: the feedback is not in A.

    Parameters
    ----------
    mechanism : Mechanism, or Problem
    state : State or Method, optional
        ``mechanism.state()`` where not given; t = 0. Beside a Problem, whose state it then is, a `Variational` or a
        `Lobatto`; along the latter there are no derivatives by states off the joints, and no second ones.
    dt : float, optional
        s: the exact derivative of one step of the integrator. Else the equations of motion, in continuous time.
    order, scheme
        Of the step, as in `simulate`; no order 1.
    chart : bool
        Coordinates of the chart, see `Linearization`, in place of those of the joints.

    Raises
    ------
    ArgumentError
        What has no derivative: laws with internal variables; hard stops that are closed in the state, without
        ``dt``, and with it one that is reached with zero speed, or at the instant of a node or of another impact.
    StateError
        A state that leaves joints open; one in which the joint coordinates do not determine the motion.
    ConvergenceError
        The step could not be solved.
    """
    if isinstance(mechanism, Problem):
        posed(arguments, kind_of(state), only=True)  # raises errors that name this function
        return Linearizer(mechanism, state, chart=chart).at(mechanism.start())  # type: ignore[arg-type]
    return Linearizer(mechanism, dt, order=order, scheme=scheme, chart=chart).at(state)  # type: ignore[arg-type]  # which is checked there


class Linearizer(Shown):
    """`linearize` of one mechanism about many states, as along a trajectory: what they share is made once.

    Each `Linearization` is whole by itself. One thread at a time may use a Linearizer.

    Parameters
    ----------
    mechanism, dt, order, scheme, chart
        See `linearize`, and with the same errors; or a Problem and a `Variational` or `Lobatto`.
    """

    def __init__(
        self,
        mechanism: Mechanism | Problem,
        dt: float | Method | None = None,
        *,
        order: int | None = None,
        scheme: str | None = None,
        chart: bool = False,
    ) -> None:
        method: Scheme | Lobatto | None = None
        if isinstance(mechanism, Problem):
            arguments = bound_arguments(Linearizer, mechanism, dt, order=order, scheme=scheme, chart=chart)
            problem, chosen = posed(arguments, kind_of(dt), only=True)
            mechanism, dt, method = problem.mechanism, chosen.dt, steps_of(chosen)
        of_type(mechanism, Mechanism, "mechanism", ArgumentError)
        if dt is None and (order is not None or scheme is not None):
            raise ArgumentError("order= and scheme= are those of a step: give dt= as well")
        if dt is not None:
            dt = divisor(positive(dt, "dt", ArgumentError), "dt", ArgumentError)  # type: ignore[arg-type]
        self.mechanism, self.dt, self.chart = mechanism, dt, flag(chart, "chart", ArgumentError)
        if method is None and dt is not None:
            method = find_scheme(order, scheme)
        refuse(mechanism, USES["linearize" if method is None else "linearize step"])
        self._joints, self._forces = joint_workspace(mechanism.compiled.plan), commanded(mechanism)
        self._inputs = tuple(mechanism.forces[k].name for k in self._forces)
        self._system: _System
        if self.dt is None or method is None:
            self._system = _Continuous(mechanism, chart)
        elif isinstance(method, Lobatto):
            self._system = _Collocation(mechanism, method, self.dt, chart)
        else:
            self._system = _Step(mechanism, method, self.dt, chart)

    def _facts(self) -> Iterable[str]:
        yield f"'{self.mechanism.name}'"
        yield steps_text(self.dt)

    def at(self, state: State | None = None) -> Linearization:
        """Return the linear system about ``state``; ``mechanism.state()`` where not given.

        Raises StateError and ConvergenceError as `linearize` does.
        """
        mechanism, system = self.mechanism, self._system
        state = checked_start(mechanism, mechanism.state() if state is None else state, self._joints)
        if self.dt is None:
            check_open(mechanism, state, USES["linearize"])
        system.place(state)
        changes = system.read(system.changes(system.basis))
        about, n2 = system.coordinates, len(system.basis)
        rows = np.zeros_like(system.basis)
        rows[: n2 // 2, :, :6] = rows[n2 // 2 :, :, 6:] = about.rows
        rows[n2 // 2 :, :, :6] = about.rates_by_pose(about.state)
        inputs = inputs_at(mechanism, 0.0, state)[self._forces]
        return Linearization(
            mechanism.name, about.state, self.dt, changes[:, :n2], changes[:, n2:], system.offset(), about.names,
            self._inputs, inputs, system.basis, rows, not isinstance(about, JointCoordinates), about, self,
        )  # fmt: skip

    def _second(self, about: Coordinates, B: np.ndarray) -> SecondOrder:
        """Return the second derivatives of the step about a linearised state.

        Raises ArgumentError in continuous time and along collocation.
        """
        if not isinstance(self._system, _Step):
            raise ArgumentError(
                "second derivatives are those of a step of varint.Variational: give linearize dt=, or this method"
            )
        return SecondOrder(*self._system.made, about, self._system.inputs, B)

    def _changes(self, state: State, changes: np.ndarray) -> np.ndarray:
        """Return the changes that changes (c, nb, 12) of the linearised ``state``, and then each input, lead to."""
        if isinstance(self._system, _Collocation):
            raise ArgumentError(
                "steps of varint.Lobatto have derivatives by changes that keep to the joints alone: use A, B, basis and"
                " rows, or varint.Variational"
            )
        self._system.place(state)
        return self._system.changes(changes)


def commanded(mechanism: Mechanism) -> list[int]:
    """Return the numbers of the forces that have an input, except forces that prescribe a coordinate."""
    forces = enumerate(mechanism.forces)
    return [k for k, force in forces if isinstance(force, Commanded) and not force.constraint]


def elements_of(mechanism: Mechanism) -> tuple[np.ndarray, np.ndarray]:
    """Return the elements (m,) of the inputs, and the spans (m,) over which their efforts are close to linear."""
    of_force = mechanism.compiled.force.tolist()
    forces = commanded(mechanism)
    spans = [mechanism.forces[k].input_span for k in forces]  # type: ignore[attr-defined]
    return np.array([of_force.index(k) for k in forces], dtype=np.int64), np.array(spans, dtype=float)


class _System:
    """System to linearise: ``coordinates`` about the state of `place`, and their ``basis`` (2 n, nb, 12)."""

    coordinates: Coordinates
    basis: np.ndarray

    def place(self, state: State) -> None:
        """Take this state."""
        raise NotImplementedError

    def changes(self, changes: np.ndarray) -> np.ndarray:
        """Return the changes (c + m, nb, ...) caused by changes (c, nb, 12) of the state and by each of m inputs."""
        raise NotImplementedError

    def read(self, changes: np.ndarray) -> np.ndarray:
        """Return the changes (2 n, c + m) of x' from the result of `changes`."""
        raise NotImplementedError

    def offset(self) -> np.ndarray:
        """Return x' (2 n,) of the state itself."""
        raise NotImplementedError


class _OneStep(_System):
    """One step of a method."""

    made: tuple[Mechanism, Scheme | Lobatto, float]
    run: TangentRun | CollocationTangents | None = None

    def __init__(self, mechanism: Mechanism, chart: bool) -> None:
        self.inputs, self.chart = elements_of(mechanism), chart

    def place(self, state: State) -> None:
        mechanism, method, dt = self.made
        if self.run is None:
            self.run = tangents_of(mechanism, method, state, dt, 1)
        else:
            self.run.restart(state)
        self.coordinates = self.run.coordinates()
        if not self.chart:
            assert self.run.candidates is not None
            self.coordinates = JointCoordinates.of(self.coordinates, self.run.candidates)
        self.basis = self.run.along(self.coordinates)
        self.run.march_on(1)
        self.end = self.run.state()

    def changes(self, changes: np.ndarray) -> np.ndarray:
        assert self.run is not None
        return self.run.carried(changes, self.inputs)

    def read(self, changes: np.ndarray) -> np.ndarray:
        return self.coordinates.read_changes(self.end, changes)

    def offset(self) -> np.ndarray:
        return self.coordinates.read(self.end)


class _Step(_OneStep):
    """A step of `Variational`."""

    made: tuple[Mechanism, Scheme, float]

    def __init__(self, mechanism: Mechanism, method: Scheme, dt: float, chart: bool) -> None:
        super().__init__(mechanism, chart)
        self.made = mechanism, method, dt


class _Collocation(_OneStep):
    """A step of `Lobatto`."""

    def __init__(self, mechanism: Mechanism, method: Lobatto, dt: float, chart: bool) -> None:
        super().__init__(mechanism, chart)
        self.made = mechanism, method, dt


class _Continuous(_System):
    """The equations of motion, at t = 0."""

    def __init__(self, mechanism: Mechanism, chart: bool) -> None:
        self.mechanism, self.compiled, self.inputs = mechanism, mechanism.compiled, elements_of(mechanism)
        self.chart = chart
        self.node = PlacedState(mechanism)
        self.work, self.ws = self.node.work, self.node.ws

    def place(self, state: State) -> None:
        check_laws(self.mechanism, state)
        compiled, ws = self.compiled, self.ws
        self.node.place(state)
        self.coordinates = self.node.coordinates()
        if not self.chart:
            self.coordinates = JointCoordinates.of(self.coordinates, self.node.candidates)
        self.basis = self.node.along(self.coordinates)
        command = inputs_at(self.mechanism, 0.0, state)
        self.bend = motions_at(self.mechanism, compiled, np.zeros(1))[1, 0, self.node.kept_elements]
        ws.efforts.input[:] = command[compiled.force]
        ws.efforts.position[:], ws.efforts.rotation[:] = ws.position[0], ws.rotation[0]
        self.velocity = ws.velocity[compiled.slot].copy()

    def changes(self, changes: np.ndarray) -> np.ndarray:
        compiled, ws = self.compiled, self.ws
        accelerations = np.zeros((len(changes) + len(self.inputs[0]), len(compiled.order), 6))
        in_kernel_order = np.ascontiguousarray(changes[:, compiled.order])
        place_anew(compiled.plan, ws, 0)
        acceleration_changes(compiled.plan, ws, self.work, self.bend, self.inputs, in_kernel_order, accelerations)
        self.acceleration = ws.increment_body[compiled.slot].copy()
        self.along = np.concatenate([changes, np.zeros((len(self.inputs[0]), *changes.shape[1:]))])
        return accelerations[:, compiled.slot]

    def read(self, changes: np.ndarray) -> np.ndarray:
        return self.coordinates.flow_changes(self.along, changes, self.velocity, self.acceleration)

    def offset(self) -> np.ndarray:
        return self.coordinates.flow(self.velocity, self.acceleration)
