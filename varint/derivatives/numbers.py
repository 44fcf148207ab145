"""The numbers of a description by name: "gravity", "coupler.mass", "crank pin.point", "crank pin.point[0]"."""

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import arguments_of, call, function_of, in_a_shape, known_name, of_type, shown, suggestion
from varint.base.errors import ArgumentError, MechanismError, StateError
from varint.mechanism.mechanism import Mechanism
from varint.model.forces.base import Force
from varint.model.forces.commanded import Commanded
from varint.model.joints.base import AxisJoint, Joint
from varint.model.state import State

START, GRAVITY, STEP_SIZE = "start", "gravity", "dt"
SHARE = 1e-3  # longest step of the differences of a number, over its size
OTHER_PARTS = "bodies, joints or laws are other ones then (a gain that is zero has no law: give one that is not)"
NOTHING = 1e-6  # parameter that counts as round-off, as of cos(pi / 2), over the largest of its array
COMPONENT = re.compile(r"(.+)\[(\d+)\]")
SYMMETRIC = ("inertia", "stiffness", "damping")  # fields that are symmetric where they are matrices
ROTATIONS = ("quat_wxyz", "axes")  # fields whose numbers cannot change alone
JUMP = 0.1  # change of a unit vector along an axis, above which the axis was chosen anew, not changed by a number
PARTS = ("bodies", "joints", "forces")  # attributes of a mechanism whose items have numbers
CENTRE = "position"  # field of a body: its centre of mass in the reference configuration
Made = TypeVar("Made")


class Field(NamedTuple):
    """A field of a body, joint or force.

    item : Body, Joint or Force
    attribute : str
        Name of the field.
    changed : function of an array
        Returns the item with another value of the field.
    """

    item: Any
    attribute: str
    changed: Callable[[np.ndarray], Any]


@dataclasses.dataclass(frozen=True)
class Number:
    """A number, or an array of numbers, of a mechanism.

    name : str
    value : array
        Value at which derivatives are taken, SI units.
    replaced : function of such an array
        Returns the mechanism with another value.
    size : array
        Of the same shape: scale of the value, against which steps of differences are small.
    symmetric : bool
        Whether it is a matrix that must remain symmetric.
    series : int, optional
        Index of the force whose input it is, one number or one a node.
    field : Field, optional
        The field of a body, joint or force that holds it.
    """

    name: str
    value: np.ndarray
    replaced: Callable[[np.ndarray], Mechanism]
    size: np.ndarray
    symmetric: bool = False
    series: int | None = None
    field: Field | None = None

    def part(self, k: int) -> "Number":
        """Return component k of the array as a number of its own."""

        def with_it(value: np.ndarray) -> np.ndarray:
            """Return the array with ``value`` as component k."""
            whole = self.value.copy()
            whole[k] = value
            return whole

        def replaced(value: np.ndarray) -> Mechanism:
            return self.replaced(with_it(value))

        field = self.field
        if field is not None:
            change = field.changed
            field = field._replace(changed=lambda value: change(with_it(value))) if self.series is None else None
        return Number(f"{self.name}[{k}]", np.array(self.value[k]), replaced, np.array(self.size[k]), field=field)

    def directions(self) -> np.ndarray:
        """Return the n changes (n, ...) of the value along which derivatives are taken; symmetric ones if it is."""
        units = np.eye(self.value.size).reshape(-1, *self.value.shape)
        return 0.5 * (units + units.swapaxes(1, 2)) if self.symmetric else units

    @property
    def steps(self) -> np.ndarray:
        """Return the steps (n,) of differences along the directions."""
        return SHARE * self.size.reshape(-1)


def check_names(names: Sequence) -> None:
    """Raise ArgumentError if one of ``names`` is not a text."""
    for name in names:
        if not isinstance(name, str):
            raise ArgumentError(f"with_respect_to= takes names as 'coupler.mass', got {shown(name)}")


def number_of(mechanism: Mechanism, name: str) -> Number:
    """Return the number of ``mechanism`` with the name ``name``; raises ArgumentError if it is unknown."""
    if component := COMPONENT.fullmatch(name):
        whole, k = number_of(mechanism, component[1]), int(component[2])
        if whole.value.ndim != 1 or k >= len(whole.value):
            raise ArgumentError(f"there is no {name!r}: {whole.name!r} has the shape {whole.value.shape}")
        return whole.part(k)
    if name == GRAVITY:
        g = np.array(mechanism.gravity)
        size = np.full(3, np.abs(g).max() or 1.0)
        return Number(name, g, lambda changed: dataclasses.replace(mechanism, gravity=changed), size)
    if name.startswith(f"{START}."):
        raise ArgumentError(f"{name!r} exists in vi.redmax.gradient only; use {START!r} here")
    owner, _, attribute = name.rpartition(".") if "." in name else (name, "", "")
    items = [(part, item) for part in PARTS for item in getattr(mechanism, part) if item.name == owner]
    if not items:
        known = [START, GRAVITY, STEP_SIZE, *(item.name for part in PARTS for item in getattr(mechanism, part))]
        label = f"there is no {name!r}: no body, joint, force or parameter is called"
        known_name(owner, known, label, ArgumentError)
        if name == owner:
            raise ArgumentError(f"{name!r} is no number of a mechanism: vi.gradient alone has the derivative by it")
        raise ArgumentError(f"there is no {name!r}: {owner!r} is given as a whole")
    fitting = [(part, item) for part, item in items if attribute in numbers_in(item)]
    if len(fitting) != 1:
        has = sorted({key for _, item in items for key in numbers_in(item)})
        if fitting:
            raise ArgumentError(f"{name!r} is of {' and of '.join(item.label for _, item in fitting)}: rename one")
        numbers = f"has the numbers {', '.join(has)}" if has else "has no numbers"
        raise ArgumentError(f"{name!r} is no number: {items[0][1].label} {numbers}{suggestion(attribute, has)}")
    return number_in(mechanism, *fitting[0], attribute)


def number_in(mechanism: Mechanism, part: str, item: Any, attribute: str) -> Number:
    """Return the number in the field ``attribute`` of ``item``, which is in ``part`` (of `PARTS`) of the mechanism."""

    def changed(value: np.ndarray) -> Any:
        return _changed(item, attribute, value)

    def replaced(value: np.ndarray) -> Mechanism:
        new = changed(value)
        parts: dict[str, Any] = {part: [new if one is item else one for one in getattr(mechanism, part)]}
        return dataclasses.replace(mechanism, **parts)

    value = np.array(getattr(item, attribute), dtype=float)
    size = np.full(value.shape, np.abs(value).max(initial=0.0) or mechanism.compiled.length)
    is_input = isinstance(item, Commanded) and attribute == item.command_name and (value.ndim or not item.constraint)
    series = mechanism.forces.index(item) if is_input else None
    symmetric = value.ndim == 2 and attribute in SYMMETRIC
    name, place = f"{item.name}.{attribute}", Field(item, attribute, changed)
    return Number(name, value, replaced, size, symmetric, series, place)


def check_derivative(number: Number) -> Number:
    """Return ``number``; raises ArgumentError if the elements of its force do not change smoothly with it."""
    if number.field is not None and isinstance(number.field.item, Force):
        try:
            number.field.item.check_derivative(number.field.attribute)
        except MechanismError as problem:
            raise ArgumentError(str(problem)) from problem
    return number


def with_numbers(mechanism: Mechanism, values: Mapping[str, np.ndarray]) -> Mechanism:
    """Return the mechanism with other ``values`` of numbers by name, checked once as a whole. Raises as `number_of`."""
    items: dict[str, Any] = {part: {item.name: item for item in getattr(mechanism, part)} for part in PARTS}
    others: dict[str, np.ndarray] = {}
    for name, value in values.items():
        field = None if COMPONENT.fullmatch(name) else number_of(mechanism, name).field
        if field is None:
            others[name] = value
            continue
        (part,) = (part for part in PARTS if any(one is field.item for one in getattr(mechanism, part)))
        items[part][field.item.name] = _changed(items[part][field.item.name], field.attribute, value)
    parts: dict[str, Any] = {part: [*named.values()] for part, named in items.items()}
    changed = dataclasses.replace(mechanism, **parts)
    for name, value in others.items():
        changed = number_of(changed, name).replaced(value)
    return changed


def _changed(item: Any, attribute: str, value: np.ndarray) -> Any:
    """Return the body, joint or force ``item`` with another ``value`` of the field ``attribute``."""
    fields = {attribute: float(value) if value.ndim == 0 else value}
    if attribute == "point" and isinstance(item, Joint) and is_one_point(item):
        fields["point_b"] = value  # one point, fixed to both bodies
    return dataclasses.replace(item, **fields)


def in_the_same_axes(changed: Mechanism, mechanism: Mechanism) -> Mechanism:
    """Return ``changed`` with joint axes X and Y chosen as in ``mechanism``, for joints where this choice jumped."""
    joints = [
        new.with_axes_near(old.frame)
        if isinstance(new, AxisJoint) and new is not old and np.abs(new.frame - old.frame).max() > JUMP
        else new
        for new, old in zip(changed.joints, mechanism.joints, strict=False)
    ]
    same = all(one is other for one, other in zip(joints, changed.joints, strict=False))
    return changed if same else dataclasses.replace(changed, joints=[*joints, *changed.joints[len(joints) :]])


def parameter(build: Callable[..., Mechanism], values: Mapping[str, np.ndarray], name: str) -> Number:
    """Return the parameter ``name`` of the function ``build`` that makes a mechanism from ``values``."""

    def replaced(value: np.ndarray) -> Mechanism:
        changed = dict(values) | {name: value}
        plain = {key: float(each) if np.ndim(each) == 0 else each for key, each in changed.items()}
        return call(partial(build, **plain), "the function that makes the mechanism")

    sizes = np.abs(values[name])
    largest = sizes.max(initial=0.0) or 1.0
    return Number(name, values[name], replaced, np.where(sizes > NOTHING * largest, sizes, min(largest, 1.0)))


def is_one_point(joint: Joint) -> bool:
    """Return whether the anchors of a joint on its two bodies are the same point."""
    assert joint.point is not None  # since it was made
    assert joint.point_b is not None
    return bool(np.array_equal(joint.point, joint.point_b))


def made_of(source: object, parameters: Mapping[str, ArrayLike] | None) -> tuple[Mechanism, dict[str, Number]]:
    """Return the mechanism, and the parameters by name of the function that made it.

    ``source``: a mechanism, or a function that makes one from ``parameters``. Raises ArgumentError.
    """
    if isinstance(source, Mechanism):
        if parameters is not None:
            raise ArgumentError("parameters= are those of a function that makes the mechanism, got a Mechanism")
        return source, {}
    build = function_of(source, "mechanism, if it is no Mechanism,", ArgumentError)
    given_values = of_type({} if parameters is None else parameters, Mapping, "parameters", ArgumentError)
    shapes, wanted = ((), (None,), (None, None)), "a number or an array"
    values = {
        name: in_a_shape(value, shapes, f"parameter {name!r}", ArgumentError, wanted=wanted)
        for name, value in given_values.items()
    }
    check_parameters_of(build, values)
    numbers = {name: parameter(build, values, name) for name in values}
    plain = {name: float(value) if value.ndim == 0 else value for name, value in values.items()}
    built = call(partial(build, **plain), "the function that makes the mechanism")
    return of_type(built, Mechanism, "what the function makes", ArgumentError), numbers


def check_parameters_of(build: Callable[..., Mechanism], names: Iterable[str]) -> None:
    """Raise ArgumentError if the function ``build`` has no parameter with one of ``names``."""
    if (takes := arguments_of(build)) is not None:
        for name in names:
            known_name(name, takes, "the function that makes the mechanism has no parameter", ArgumentError)


class Differences(Generic[Made]):
    """Finite differences in two phases: perturbed mechanisms are built now, their values compared later.

    ``make(change)`` builds one and raises MechanismError if the change is not allowed. ``step``: longest change.
    """

    def __init__(self, make: Callable[[float], Made], step: float) -> None:
        self.made: dict[float, Made] = {}
        self.step, self.make = step, make

        def kept(share: float) -> float:
            self.at(share)
            return 0.0

        differences(kept, step)

    def at(self, change: float) -> Made:
        """Return the result of ``make`` at ``change``, computed once."""
        if change not in self.made:
            self.made[change] = self.make(change)
        return self.made[change]

    def of(self, value: Callable[[Made], float]) -> float:
        """Return the derivative of ``value``, a function of the results of ``make``, by the change at zero."""

        def value_at(change: float) -> float:
            if change not in self.made:
                raise MechanismError(OTHER_PARTS)  # as when it was made; `differences` takes the other side
            return value(self.made[change])

        return float(differences(value_at, self.step))


def by_differences(
    number: Number, mechanism: Mechanism, make: Callable[[Mechanism], Made], share: float = 1.0
) -> list[Differences[Made]]:
    """Return the differences of ``make(mechanism)`` by ``number``, one for each of its directions.

    ``share``: factor of the number's steps. Raises ArgumentError if a component cannot change.
    """
    by_direction = []
    for k, direction in enumerate(number.directions()):

        def changed(share: float, direction: np.ndarray = direction) -> Made:
            return make(in_the_same_axes(number.replaced(number.value + share * direction), mechanism))

        try:
            by_direction.append(Differences(changed, share * number.steps[k]))
        except (StateError, MechanismError) as problem:
            label = f"component {k} of '{number.name}'" if number.value.ndim else f"'{number.name}'"
            advice = f"; ask for others by '{number.name}[0]' ..." if number.value.ndim == 1 else ""
            raise ArgumentError(f"{label} cannot change by {number.steps[k]:g}: {problem}{advice}") from problem
    return by_direction


def of_shape(number: Number, derivatives: Sequence[float]) -> "float | np.ndarray":
    """Return the ``derivatives`` along all directions of ``number`` in its shape; a float for a scalar."""
    return float(derivatives[0]) if number.value.ndim == 0 else np.reshape(derivatives, number.value.shape)


def by_scalars(
    number: Number, mechanism: Mechanism, scalars: Callable[[Mechanism], Sequence[float]], count: int,
    share: float = 1.0,
) -> list["float | np.ndarray"]:  # fmt: skip
    """Return the derivatives by ``number``, each of its shape, of the ``count`` values that ``scalars`` returns.

    ``scalars``: function of a mechanism. ``share``, errors: see `by_differences`.
    """
    parts = by_differences(number, mechanism, scalars, share)
    return [of_shape(number, [part.of(itemgetter(k)) for part in parts]) for k in range(count)]


def numbers_in(item: Any) -> list[str]:
    """Return the names of the fields of a body, joint or force that hold finite numbers, except for rotations."""
    names = []
    for field in dataclasses.fields(item):
        value = getattr(item, field.name)
        is_number = isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype.kind == "f")
        if is_number and field.name not in ROTATIONS and np.isfinite(value).all():
            names.append(field.name)
    return names


def differences(function: Callable[[float], Any], step: float) -> Any:
    """Return the derivative of a smooth function, of numbers or arrays, at 0: central differences of fourth order.

    ``step``: largest argument. ``function`` raises MechanismError at arguments beyond a bound; then differences are
    taken from the other side, and MechanismError is raised if that fails too.
    """
    try:
        far, near = (function(s) - function(-s) for s in (step, 0.5 * step))
        return (8.0 * near - far) / (6.0 * step)
    except MechanismError:
        problems = []
        for sign in (1.0, -1.0):
            try:
                weights = np.array([-25.0, 48.0, -36.0, 16.0, -3.0]) / 12.0
                values = [function(sign * k * 0.25 * step) for k in range(5)]
                return weights @ np.array(values) / (sign * 0.25 * step)
            except MechanismError as problem:
                problems.append(problem)
        raise problems[0] from None


def start_of(mechanism: Mechanism, state: State | None) -> State:
    """Return the state that a run starts from: ``state`` with joints closed, couplings unchanged; see `gradient`."""
    return mechanism.state() if state is None else dataclasses.replace(mechanism, forces=[]).assemble(state)
