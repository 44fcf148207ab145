"""The parameters of a rollout as users pass them: a dict from name to a number or an array (numpy, PyTorch or JAX)."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from varint.base.checks import in_a_shape, shown
from varint.base.errors import ArgumentError
from varint.derivatives.numbers import COMPONENT, START, STEP_SIZE, is_one_point
from varint.mechanism.mechanism import Mechanism
from varint.model.forces.commanded import Commanded
from varint.results.inputs.at_nodes import check_series

LOADS = ("force", "torque")
SHAPES, WANTED = ((), (None,), (None, None)), "a number or an array"


def numbers_by_name(parameters: object, array: str, taken: Callable[[str, Any], Any]) -> dict[str, Any]:
    """Return ``parameters`` with each value as ``taken(label, value)``, or as an array of numpy where that is None.

    ``array``: the library's word for its arrays, such as "tensor", for the message. Raises ArgumentError unless
    ``parameters`` is a dict of texts to numbers or arrays.
    """
    if not isinstance(parameters, Mapping):
        raise ArgumentError(f"parameters must be a dict of name to {array}, got a {type(parameters).__name__}")
    numbers = {}
    for name, value in parameters.items():
        if not isinstance(name, str):
            raise ArgumentError(f"names of parameters must be texts, such as 'rod.mass', got {shown(name)}")
        label = f"parameter {name!r}"
        library_value = taken(label, value)
        numbers[name] = (
            in_a_shape(value, SHAPES, label, ArgumentError, wanted=WANTED) if library_value is None else library_value
        )
    return numbers


def refuse_complex(label: str) -> None:
    """Raise the ArgumentError of a complex parameter, which ``label`` names."""
    raise ArgumentError(f"{label} is complex: give real numbers")


def check_parameters(mechanism: Mechanism, shapes: Mapping[str, tuple[int, ...]], steps: int) -> None:
    """Raise ArgumentError for start, dt and loads, for two names of the same number, and for inputs of a wrong shape.

    ``shapes``: name to shape of the value. Whether the mechanism has numbers of these names is left to `number_of`.
    """
    for name in shapes:
        _check_own(mechanism, name)
    _check_apart(mechanism, shapes)
    for force in mechanism.forces:
        if isinstance(force, Commanded) and (shape := shapes.get(f"{force.name}.{force.command_name}")) is not None:
            check_series(force, shape, steps)


def _check_own(mechanism: Mechanism, name: str) -> None:
    """Raise ArgumentError for parameters of `vi.gradient` that a rollout does not have: start, dt and loads."""
    if name == START or name.startswith(f"{START}."):
        raise ArgumentError(
            f"{name!r} is no parameter of a rollout, which starts from its state=, or else from mechanism.state():"
            " vi.gradient has the derivative by the start"
        )
    if name == STEP_SIZE:
        raise ArgumentError(f"{name!r} is no parameter of a rollout but its argument: vi.gradient has the derivative")
    owner, _, attribute = (match[1] if (match := COMPONENT.fullmatch(name)) else name).rpartition(".")
    if attribute in LOADS and owner in mechanism.body_index:
        raise ArgumentError(
            f"{name!r}: loads are no parameters of a rollout. Pass {attribute}= to the rollout, which has no"
            f" derivative by it, or add a Point{attribute.title()} to the mechanism: 'NAME.magnitude' is a parameter"
            " (docs/bridges.md)"
        )


def _check_apart(mechanism: Mechanism, names: Collection[str]) -> None:
    """Raise ArgumentError where a number is given twice."""
    components: dict[tuple[str, int], str] = {}
    fields = set(names)
    for name in names:
        if match := COMPONENT.fullmatch(name):
            if match[1] in names:
                raise ArgumentError(f"{name!r} is part of {match[1]!r}: give one of them")
            if (other := components.setdefault((match[1], int(match[2])), name)) != name:
                raise ArgumentError(f"{other!r} and {name!r} are one number: give one of them")
            fields.add(match[1])
    for field in fields:
        owner, _, attribute = field.rpartition(".")
        if attribute == "point" and f"{field}_b" in fields and owner in mechanism.joint_index:
            joint = mechanism.joint(owner)
            if is_one_point(joint):
                raise ArgumentError(
                    f"'{field}' moves the anchors of {joint.label} on both bodies, '{field}_b' that on the second: give"
                    " one of them, or make the joint with a point_b= that differs from its point="
                )
