"""The gradient of an objective of a run in reduced coordinates.

The run is done once, by an implicit scheme or an explicit pair, and its stages are kept. The gradient goes back along
them, exactly (reduced/adjoint.py). The derivative by a number of the description is that of one scalar, by differences
of the description (reduced/residuals.py), as in maximal coordinates (gradient.py).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import by_name, choice, flag, function_of, sequence_of
from varint.base.errors import ArgumentError
from varint.derivatives.jumps import InputKinks, Jumps, MotionKinks
from varint.derivatives.kinks import WHOLE, RunGradient, of_one_side, perturbed_arguments
from varint.derivatives.meshes.numbers import share_of_steps
from varint.derivatives.numbers import (
    START,
    Differences,
    Number,
    by_differences,
    check_names,
    made_of,
    number_of,
    of_shape,
    start_of,
)
from varint.derivatives.objective import Gradient, StateGradient, bound, by_itself, by_states, nodes_at, stacked
from varint.derivatives.reduced.law_stages import LawStages
from varint.derivatives.reduced.records import ReducedSetting
from varint.derivatives.reduced.residuals import Described, ReducedAdjoint
from varint.derivatives.reduced.tape import ReducedTape
from varint.derivatives.stage_slopes import MATTERS, slopes_at_bound, slopes_of
from varint.mechanism.mechanism import Mechanism
from varint.methods.reduced.charts import EXPONENTIAL
from varint.methods.reduced.integrators import DEFAULT, INTEGRATORS
from varint.methods.reduced.integrators.explicit import Explicit
from varint.methods.reduced.integrators.fixed_steps import Implicit
from varint.methods.reduced.method import Reduced
from varint.methods.reduced.states import ReducedState
from varint.model.known_forces import USES, refuse
from varint.model.state import State
from varint.runs.parts import Arguments, posed, with_arguments
from varint.runs.problem import Problem
from varint.step.laws import SPRING

TAKEN = "mechanism", "objective", "times", "parameters"
START_Q, START_RATES = f"{START}.q", f"{START}.qdot"
SCHEMES = {name: kind for name, kind in INTEGRATORS.items() if issubclass(kind, Implicit | Explicit)}


@with_arguments
def gradient(
    arguments: Arguments,
    mechanism: Mechanism | Callable[..., Mechanism] | Problem,
    objective: Callable[..., Any],
    duration: float | Reduced,
    dt: float | None = None,
    *,
    with_respect_to: Sequence[str],
    scheme: str = "bdf2",
    rtol: float = 1e-8,
    times: ArrayLike | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    state: State | ReducedState | None = None,
    of_mechanism: bool = False,
    baumgarte: float = 5.0,
    force: Mapping[str, ArrayLike] | None = None,
    torque: Mapping[str, ArrayLike] | None = None,
    prescribed: Mapping[str, Callable] | None = None,
    chart: str = EXPONENTIAL,
) -> Gradient:
    """Differentiate an objective of a run by its start and by the numbers of its mechanism (docs/redmax.md).

    Derivatives of the steps are exact; for description and objective they are central differences of fourth order.

    Parameters
    ----------
    mechanism, objective, parameters, of_mechanism
        See `varint.gradient`.
    duration, dt, baumgarte, force, torque, prescribed, chart
        See `simulate` in reduced coordinates. Beside a Problem ``duration`` is a `Reduced` with one of the integrators
        below.
    with_respect_to : sequence of str
        See `varint.gradient`, and "start.q", "start.qdot": (nq,) by the coordinates at the start and their rates, in
        the columns of `coordinates`, free rotations as rotation vectors. The rates of prescribed joints are those of
        their motion, whatever the start says: there is nothing by them. The input of a force with one value a node has
        a derivative by each of them.
    scheme : str
        An implicit one: "bdf1", "bdf2", "sdirk2"; of trees also an explicit Runge-Kutta pair: "rk45", "dop853".
    rtol : float
        Of the steps of a pair, as in `simulate`; ``dt`` is then the spacing of what is given at nodes.
    times : (K,), optional
        s, rising; whole steps.
    state : State or ReducedState, optional
        Where the run starts; ``mechanism.state()`` where not given, which changes with the numbers. A State that is
        given stays, but for what closes the joints; a ReducedState stays.

    Raises
    ------
    ArgumentError
        An unknown name, a number that cannot change, as one that opens an overconstrained loop; and what has no
        derivative: hard stops, friction inside joints, inputs that are functions of the state.
    StateError
        A wrong state.
    ConvergenceError
        A step could not be solved; it carries no trajectory.
    """

    def rerun(number: Number, value: np.ndarray) -> RunGradient:
        return _of_run(perturbed_arguments(arguments, number, value))

    return of_one_side(_of_run(arguments), rerun)


def _of_run(arguments: Arguments) -> RunGradient:
    """Return the gradient for arguments of `gradient`."""
    values = arguments.values
    mechanism, objective, times, parameters = (values[name] for name in TAKEN)
    of_mechanism, scheme = values["of_mechanism"], values["scheme"]
    function_of(objective, "objective", ArgumentError)
    made, parameter_numbers = made_of(mechanism.mechanism if isinstance(mechanism, Problem) else mechanism, parameters)
    if not isinstance(mechanism, Problem):
        choice(scheme, SCHEMES, "scheme", ArgumentError)
        arguments = arguments.replaced(mechanism=made, integrator=scheme)
    problem, method = posed(arguments, Reduced, only=True, integrator=DEFAULT)
    asked = values["with_respect_to"]
    names = [asked] if isinstance(asked, str) else asked
    names = sequence_of(names, "with_respect_to", "names", ArgumentError)
    check_names(names)
    starts = START, START_Q, START_RATES
    sought = [name for name in names if name not in starts]
    numbers = {name: parameter_numbers[name] if name in parameter_numbers else number_of(made, name) for name in sought}
    kind = SCHEMES[choice(method.integrator, SCHEMES, "integrator", ArgumentError)]
    refuse(made, USES["reduced gradient"])
    refuse(made, method.use)
    steps, state = problem.steps(method.dt), problem.state
    prescribed = by_name(method.prescribed, made.joint_index, "prescribed", "joint", ArgumentError)
    loads = problem.force, problem.torque
    setting = ReducedSetting(steps, method.dt, *loads, method.baumgarte, prescribed, method.chart, method.rtol)
    at = [steps] if times is None else nodes_at(times, method.dt, steps)
    first = problem.start()
    run = ReducedTape(made, kind, first, setting, at)
    states = [node.state for node in run.nodes]
    alone = times is None
    of_states = bound(objective, made) if flag(of_mechanism, "of_mechanism", ArgumentError) else objective
    value, by_bodies, by_vertices = by_states(of_states, states, alone, made.compiled.length, problem.duration)
    adjoints = [ReducedAdjoint(run, *by) for by in zip(by_bodies, by_vertices, strict=True)]
    laws = LawStages(run)
    jumps, inputs = Jumps(len(adjoints), laws), InputKinks(len(adjoints), laws, numbers)
    motions = MotionKinks(len(adjoints), laws)
    laws.go_back(adjoints, [each for each in (jumps, inputs, motions) if each.watches])
    by: dict[str, Any] = {}
    kinked = {name: {WHOLE if numbers[name].value.ndim else 0} for name in inputs.names}
    for name in names:
        if name == START:
            slopes: list[Any] = [StateGradient(*np.split(each.by_first_state(), 4, axis=1)) for each in adjoints]
        elif name in (START_Q, START_RATES):
            slopes = [each.by_coordinates(first)[name == START_RATES] for each in adjoints]
        else:
            slopes, at_kink = _by_number(numbers[name], adjoints, state, motions.forces)
            if at_kink and name not in kinked:
                kinked[name] = at_kink
        if of_mechanism and name in numbers:
            itself = by_itself(objective, numbers[name], made, states, alone)
            slopes = [through + direct for through, direct in zip(slopes, itself, strict=True)]
        by[name] = stacked(slopes, not value.ndim)
    return RunGradient(Gradient(value if value.ndim else float(value), by, states), numbers, kinked, jumps, motions)


def _by_number(
    number: Number, adjoints: Sequence[ReducedAdjoint], state: State | ReducedState | None, at_kinks: set[int]
) -> tuple[list["float | np.ndarray"], set[int]]:
    """Return derivatives by a number of the description, of its shape, and its components at which the run kinks.

    ``state`` as in `gradient`; ``at_kinks``: forces whose laws are at kinks. At a bound differences do not show them.
    """
    run, mechanism = adjoints[0].run, adjoints[0].run.mechanism
    if _is_input(number, mechanism):
        pairs = [_by_input(number, adjoint, state) for adjoint in adjoints]
        return [slope for slope, _ in pairs], {WHOLE} if any(kinked for _, kinked in pairs) else set()

    def scalars(changed: Mechanism) -> list[tuple[float, np.ndarray]]:
        other = Described(run, changed, _start_of(changed, state))
        return [(adjoint.beside_stages(other), adjoint.by_stages(other)) for adjoint in adjoints]

    laws, share = mechanism.compiled.plan.laws, share_of_steps(number, mechanism)
    smooth = bool((laws.kind == SPRING).all()) and not mechanism.compiled.plan.loads.kind.size
    parts, by_objective, kinked = by_differences(number, mechanism, scalars, share), [], set()
    for k in range(len(adjoints)):
        slopes = []
        for n, part in enumerate(parts):
            if smooth:
                slopes.append(part.of(partial(_whole, k)))
                continue

            def values(share: float, stages: np.ndarray, k: int = k, part: Differences = part) -> np.ndarray:
                return part.at(share * part.step)[k][1][stages]

            count = len(part.at(0.0)[k][1])
            if (above := part.step in part.made) and -part.step in part.made:
                by_stage, kink = slopes_of(values, count, 1.0, rounded=True)
            else:
                by_stage, kink = slopes_at_bound(values, count, 1.0 if above else -1.0), np.inf if at_kinks else 0.0
            if kink > MATTERS * float(np.abs(by_stage).sum()):
                kinked.add(n)
            slopes.append(part.of(partial(_beside_stages, k)) + float(by_stage.sum()) / part.step)
        by_objective.append(of_shape(number, slopes))
    return by_objective, kinked


def _beside_stages(k: int, made: list[tuple[float, np.ndarray]]) -> float:
    return made[k][0]


def _whole(k: int, made: list[tuple[float, np.ndarray]]) -> float:
    return made[k][0] + float(made[k][1].sum())


def _start_of(mechanism: Mechanism, state: State | ReducedState | None) -> State | ReducedState:
    """State that the run of a changed mechanism starts from; ``state`` as in `gradient`."""
    if state is None:
        return mechanism.state()
    return start_of(mechanism, state) if isinstance(state, State) else state


def _is_input(number: Number, mechanism: Mechanism) -> bool:
    """Return whether ``number`` is the input of a law, with one value a node."""
    return number.value.ndim == 1 and number.series is not None and not mechanism.forces[number.series].constraint


def _by_input(number: Number, adjoint: ReducedAdjoint, state: State | ReducedState | None) -> tuple[np.ndarray, bool]:
    """Return the derivative (steps + 1,) by an input, and whether the run stands at a kink by it.

    Each stage has a derivative by its own input, which is linear between the nodes.
    """
    run, step, made = adjoint.run, float(number.steps.max()), dict[float, np.ndarray]()

    def values(share: float, stages: np.ndarray) -> np.ndarray:
        if share not in made:
            changed = number.replaced(number.value + share * step)
            made[share] = adjoint.by_stages(Described(run, changed, _start_of(changed, state)))
        return made[share][stages]

    slopes, kink = slopes_of(values, sum(len(each.stages) for each in run.steps), 1.0, rounded=True)
    by_nodes, inputs = np.zeros(number.value.shape), run.equations.inputs
    assert inputs is not None
    for stage, slope in zip((stage for each in run.steps for stage in each.stages), slopes / step, strict=True):
        left, share = inputs.place(stage.t)
        by_nodes[left] += (1.0 - share) * slope
        by_nodes[left + 1] += share * slope
    return by_nodes, kink > MATTERS * float(np.abs(slopes).sum())
