"""The JSON Schema of mechanism files, from the fields of bodies, joints and forces; docs/generate.py writes it."""

import dataclasses
import types
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import varint as vi
from varint.files.own.body_data import DENSITY, OF_BODIES, SHAPES, holds_bodies, own_parameters
from varint.files.own.file_format import FORMAT, MARK
from varint.files.own.mechanism_data import SCHEMA
from varint.model.body import Touching
from varint.model.collision_shapes import SHAPES as COLLISION_SHAPES
from varint.model.collision_shapes import CollisionShape
from varint.model.forces import FORCES, Force
from varint.model.joints import NAMES, Joint
from varint.model.joints.composite import OWN, Composite
from varint.model.solid import SIZES, Solid
from varint.model.start_arguments import OF_BODIES as OF_BODIES_AT_START
from varint.model.start_arguments import OF_JOINTS

SCALARS: dict[Any, dict] = {
    float: {"type": "number"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    str: {"type": "string", "minLength": 1},
    types.NoneType: {"type": "null"},
    vi.Body: {"$ref": "#/$defs/body"},
    Joint: {"$ref": "#/$defs/joint"},
    Force: {"$ref": "#/$defs/force"},
    Solid: {"$ref": "#/$defs/solid"},
    CollisionShape: {"$ref": "#/$defs/shape"},
    Mapping: {"$ref": "#/$defs/start"},
}
NUMBER = SCALARS[float]
ARRAYS: dict[str, dict] = {}  # by their shapes, filled as they are asked for


def schema() -> dict:
    """All of it."""
    top = of_fields({field.name: field for field in dataclasses.fields(vi.Mechanism) if not field.kw_only})
    marks = {SCHEMA: {"type": "string", "description": "of this schema, for editors"}, MARK: {"const": FORMAT}}
    top["properties"] = marks | top["properties"]
    body, start = _body(), _start()
    joints = {name: _entry(cls, name, needed=["point"] * cls.needs_point) for name, cls in NAMES.items()}
    parts = {name: _entry(cls, name, hidden=OWN) for name, cls in NAMES.items()}
    forces = {name: _entry(cls, name) for name, cls in FORCES.items() if not _needs_a_function(cls)}
    shapes = {name: _entry(cls, name) for name, cls in COLLISION_SHAPES.items()}
    return {
        SCHEMA: "https://json-schema.org/draft/2020-12/schema",
        "title": "A mechanism of varint",
        "description": "SI units, radians; docs/mechanism_files.md. Made by `make docs`; do not edit.",
        **top,
        "$defs": {
            "body": body,
            "joint": _one_of("joint", joints),
            "part": _one_of("part", parts),
            "force": _one_of("force", forces),
            "solid": _solid(),
            "shape": _one_of("shape", shapes),
            "start": start,
            **{f"joint-{name}": entry for name, entry in joints.items()},
            **{f"part-{name}": entry for name, entry in parts.items()},
            **{f"force-{name}": entry for name, entry in forces.items()},
            **{f"shape-{name}": entry for name, entry in shapes.items()},
            **dict(sorted(ARRAYS.items())),
        },
    }


def of_fields(fields: Mapping[str, Any]) -> dict:
    """An object with exactly these: fields of a dataclass, or parameters of a function."""
    return {
        "type": "object",
        "properties": {name: of_type(_annotation(field)) for name, field in fields.items()},
        "required": [name for name, field in fields.items() if _is_needed(field)],
        "additionalProperties": False,
    }


def of_type(annotation: Any) -> dict:
    """What a file may hold where a description has this type: no function."""
    if annotation in SCALARS:
        return SCALARS[annotation]
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _any_of([_array(shape) for shape in inside[1:]])
    if origin in (Union, types.UnionType):
        return _any_of([of_type(each) for each in inside if not _is_function(each)])
    if origin is Literal:
        return {"enum": list(inside)}
    if origin is Sequence:
        return {"type": "array", "items": of_type(inside[0])}
    if isinstance(annotation, type) and dataclasses.is_dataclass(annotation):
        return of_fields({field.name: field for field in dataclasses.fields(annotation)})
    if origin is tuple:
        return {"type": "array", "prefixItems": [of_type(each) for each in inside], **_sizes(len(inside))}
    if dataclasses.is_dataclass(annotation):
        return of_fields({field.name: field for field in dataclasses.fields(annotation)})
    raise TypeError(f"no JSON Schema of {annotation}: give the array its shape, as varint/model/arrays.py does")


def _body() -> dict:
    """By mass and inertia, or by one shape; each allows some of the other keys."""
    plain = of_fields({field.name: field for field in dataclasses.fields(vi.Body)})
    plain["properties"]["collision"] = of_type(Touching)
    ways = [{"required": plain["required"], "propertyNames": {"enum": list(OF_BODIES)}}]
    for shape, parameters in SHAPES.items():
        beside = {name: parameter for name, parameter in parameters.items() if name in OF_BODIES}
        needed = [name for name, parameter in beside.items() if _is_needed(parameter)]
        for amount in ("mass", DENSITY) if DENSITY in parameters else ():
            keys = [*(name for name in beside if name != "mass"), amount, shape]
            ways.append({"required": [*needed, amount, shape], "propertyNames": {"enum": keys}})
        if DENSITY not in parameters:
            ways.append({"required": [*needed, shape], "propertyNames": {"enum": [*beside, shape]}})
    shapes = {shape: _shape(shape) for shape in SHAPES}
    return {
        "description": _sentence(vi.Body),
        **plain,
        "properties": {**plain["properties"], DENSITY: NUMBER, **shapes},
        "required": ["name"],
        "oneOf": ways,
    }


def _solid() -> dict:
    """A solid for pictures."""
    found = of_fields({field.name: field for field in dataclasses.fields(Solid)})
    return found | {"properties": {**found["properties"], "kind": {"enum": list(SIZES)}}}


def _shape(shape: str) -> dict:
    """An object with the arguments of the shape's own; where there is one, its value by itself will do."""
    own = own_parameters(shape)
    whole = of_fields({name: each for name, each in own.items() if not holds_bodies(each)})
    for name, parameter in own.items():
        if holds_bodies(parameter):
            point_mass = {"type": "array", "prefixItems": [NUMBER, _array((3,))], **_sizes(2)}
            whole["properties"][name] = {
                "type": "array",
                "minItems": 1,
                "items": _any_of([SCALARS[vi.Body], point_mass]),
            }
            whole["required"] = [*whole["required"], name]
    alone = list(whole["properties"].values()) if len(own) == 1 else []
    return {"description": _sentence(getattr(vi.Body, shape)), **_any_of([*alone, whole])}


def _entry(cls: type, name: str, hidden: Sequence[str] = (), needed: Sequence[str] = ()) -> dict:
    """An element of a list with its "type" and fields."""
    listed = {field.name: field for field in dataclasses.fields(cls) if field.init and field.name not in hidden}
    parts = listed.pop("parts") if cls is Composite else None
    entry = of_fields(listed)
    if parts:
        entry["properties"]["parts"] = {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/part"}}
        entry["required"] = [*entry["required"], "parts"]
    entry["properties"] = {"type": {"const": name}, **entry["properties"]}
    entry["required"] = ["type", *entry["required"], *needed]
    return {"description": _sentence(cls), **entry}


def _one_of(one: str, kinds: Mapping[str, dict]) -> dict:
    """An element that its "type" says the fields of."""
    return {
        "type": "object",
        "properties": {"type": {"enum": list(kinds)}},
        "required": ["type"],
        "allOf": [
            {
                "if": {"properties": {"type": {"const": name}}, "required": ["type"]},
                "then": {"$ref": f"#/$defs/{one}-{name}"},
            }
            for name in kinds
        ],
    }


def _start() -> dict:
    by_joint = _any_of([NUMBER, _array((None,))])
    by_key = dict.fromkeys(OF_JOINTS, by_joint) | {key: _array((n,)) for key, n in OF_BODIES_AT_START.items()}
    return {
        "description": "What the motion starts from: joint or body name to values.",
        "type": "object",
        "properties": {key: {"type": "object", "additionalProperties": value} for key, value in by_key.items()},
        "additionalProperties": False,
    }


def _array(shape: tuple[int | None, ...]) -> dict:
    """Numbers in lists of lists of this shape, None for any number of them."""
    name = f"array-{'x'.join('n' if size is None else str(size) for size in shape)}"
    inside = _array(shape[1:]) if shape[1:] else NUMBER
    ARRAYS[name] = {"type": "array", "items": inside, **({} if shape[0] is None else _sizes(shape[0]))}
    return {"$ref": f"#/$defs/{name}"}


def _sizes(size: int) -> dict:
    return {"minItems": size, "maxItems": size}


def _any_of(ways: list[dict]) -> dict:
    return ways[0] if len(ways) == 1 else {"anyOf": ways}


def _annotation(field: Any) -> Any:
    return field.annotation if isinstance(field, Parameter) else field.type


def _is_needed(field: Any) -> bool:
    if isinstance(field, Parameter):
        return field.default is Parameter.empty
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _is_function(annotation: Any) -> bool:
    if get_origin(annotation) is Sequence:
        return _is_function(get_args(annotation)[0])
    return annotation is Callable or get_origin(annotation) is Callable


def _needs_a_function(cls: type) -> bool:
    """Whether it can be in no file."""
    return any(_is_needed(field) and _is_function(field.type) for field in dataclasses.fields(cls))


def _sentence(thing: Any) -> str:
    return " ".join(thing.__doc__.split("\n\n")[0].split()).replace("``", "`")
