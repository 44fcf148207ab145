"""Arguments of a `Stepper`: its method, its loads, and the forces whose inputs it sets."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from varint.base.checks import in_a_shape
from varint.base.errors import ArgumentError
from varint.mechanism.mechanism import Mechanism
from varint.methods.held import Held
from varint.methods.reduced.method import Reduced
from varint.methods.variational.lobatto import Lobatto
from varint.methods.variational.method import Variational
from varint.model.forces.commanded import Commanded
from varint.runs.method import Method


def method_of(dt: float | Method, arguments: dict[str, Any]) -> Method:
    """Return ``dt`` if it is a method, else `Variational` with it and ``arguments``.

    Raises ArgumentError for a method that a Stepper does not support, and for arguments beside a method.
    """
    if not isinstance(dt, Method):
        method: Method = Variational(dt=dt, **arguments)
    else:
        defaults = {"order": None, "scheme": None, "tol": 1e-10}
        if beside := [name for name, value in arguments.items() if value != defaults[name]]:
            raise ArgumentError(f"give {beside[0]!r} to the method, not to Stepper()")
        method = dt
    if not isinstance(method, Variational | Lobatto | Reduced):
        raise ArgumentError(f"Stepper supports Variational, Lobatto and Reduced, not '{method.title}'")
    if not isinstance(method.dt, float):
        raise ArgumentError(f"Stepper needs a number for dt, the step in s, got {method.dt!r}")
    if isinstance(method, Variational) and method.adaptive is not False:
        raise ArgumentError("a Stepper needs steps of fixed size dt: leave 'adaptive' out")
    return method


def constant_loads(loads: Mapping[str, ArrayLike] | None, label: str) -> Mapping[str, ArrayLike] | None:
    """Return the ``loads`` on bodies; raise ArgumentError for one that is not constant."""
    for name, value in loads.items() if isinstance(loads, Mapping) else ():
        array = in_a_shape(value, ((3,), (None, 3)), f"{label} on body '{name}'", ArgumentError, wanted="3 numbers")
        if array.ndim > 1:
            raise ArgumentError(f"{label} on body '{name}' must be constant, (3,): a Stepper takes no value per node")
    return loads


def held_inputs(mechanism: Mechanism) -> Held:
    """Return the forces whose inputs can be set: numbers, but for prescribed motions.

    Raises ArgumentError for an input with one value per node.
    """
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
