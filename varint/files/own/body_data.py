"""Bodies as plain data: by mass and inertia, or by a shape, one of the constructors of `Body`."""

from collections.abc import Mapping
from dataclasses import fields
from inspect import Parameter, signature
from typing import Any

from varint.base.checks import check_keys, made, shown
from varint.base.errors import MechanismError
from varint.model.body import Body

OF_BODIES = tuple(field.name for field in fields(Body))
DENSITY = "density"  # beside a shape, in place of its mass
SHAPES: dict[str, Mapping[str, Parameter]] = {  # constructor to its parameters
    name: signature(getattr(Body, name)).parameters
    for name, value in vars(Body).items()
    if isinstance(value, classmethod) and not name.startswith("_")
}


def own_parameters(shape: str) -> dict[str, Parameter]:
    """Return the parameters that define the shape: its sizes, points, parts."""
    return {name: parameter for name, parameter in SHAPES[shape].items() if name not in (*OF_BODIES, DENSITY)}


def holds_bodies(parameter: Parameter) -> bool:
    """Return whether a parameter of a shape is a list with bodies in it."""
    return Body.__name__ in str(parameter.annotation)


def body_from_data(entry: Mapping[str, Any], place: str, one: str = "body") -> Body:
    """Return the body of a mapping; errors name it by ``one`` and, if it has no name, by ``place``, as "bodies[0]".

    Raises MechanismError, naming the body and the key.
    """
    label = label_of(entry, place, one)
    check_keys(entry, (*OF_BODIES, DENSITY, *SHAPES), label)
    shapes = [key for key in entry if key in SHAPES]
    if not shapes:
        if DENSITY in entry:
            raise MechanismError(f"{label}: density needs a shape, one of {', '.join(SHAPES)}")
        return made(Body, entry, label)
    if len(shapes) > 1:
        raise MechanismError(f"{label}: a body has one shape, got {' and '.join(map(repr, shapes))}")
    (shape,) = shapes
    if "inertia" in entry:
        raise MechanismError(f"{label}: 'inertia' follows from the shape, {shape!r}: leave out one of them")
    parameters = own_parameters(shape)
    beside = {name: entry[name] for name in entry if name != shape}
    for name in beside:
        if name not in SHAPES[shape]:
            raise MechanismError(f"{label}: {name!r} follows from {shape!r}: leave it out")
    arguments = beside | _sizes(entry[shape], shape, parameters, label, place)
    left_out = [
        f"{name!r} of {shape!r}" if name in parameters else repr(name)
        for name, parameter in SHAPES[shape].items()
        if parameter.default is Parameter.empty and name not in arguments
    ]
    if left_out:
        raise MechanismError(f"{label}: {', '.join(left_out)} missing")
    return getattr(Body, shape)(**arguments)


def label_of(entry: Mapping[str, Any], place: str, one: str) -> str:
    """Return the name of an entry in errors: "body 'crank' (bodies[0])"."""
    return f"{one} {shown(entry['name'])} ({place})" if "name" in entry else place


def _sizes(value: object, shape: str, parameters: Mapping[str, Parameter], label: str, place: str) -> dict[str, Any]:
    """Return the arguments of the shape alone, from a mapping of them or the value of its only one."""
    if isinstance(value, Mapping):
        check_keys(value, parameters, f"{label}: {shape}")
        sizes = dict(value)
    elif len(parameters) == 1:
        sizes = dict.fromkeys(parameters, value)
    else:
        raise MechanismError(f"{label}: {shape} must be an object with {', '.join(parameters)}, got {shown(value)}")
    for name, parameter in parameters.items():
        if holds_bodies(parameter) and isinstance(sizes.get(name), list):
            sizes[name] = [
                body_from_data(part, f"{place}.{shape}[{number}]", "part") if isinstance(part, Mapping) else part
                for number, part in enumerate(sizes[name])
            ]
    return sizes
