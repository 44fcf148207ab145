"""Mechanisms as plain data, which formats of files and runs hold as text."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from varint.errors import MechanismError
from varint.mechanism import Mechanism
from varint.model.body import Body
from varint.model.checks import suggestion
from varint.model.forces import FORCES
from varint.model.forces.base import Force
from varint.model.joints import REGISTRY
from varint.model.joints.base import Joint


def to_data(mechanism: Mechanism) -> dict:
    """The mechanism as JSON-ready data; `from_data` gives it back to the same bits."""
    return {
        "name": mechanism.name,
        "gravity": mechanism.gravity.tolist(),
        "bodies": [_fields(body) for body in mechanism.bodies],
        "joints": [{"type": type(joint).__name__} | _fields(joint) for joint in mechanism.joints],
        "forces": [{"type": type(force).__name__} | _fields(force) for force in mechanism.forces],
        "start": {
            key: {name: np.asarray(value).tolist() for name, value in values.items()}
            for key, values in mechanism.start.items()
        },
    }


def from_data(data: dict, what: str) -> Mechanism:
    """The mechanism in ``data``; ``what`` names its source in errors.

    Raises MechanismError, naming the source and the body or joint.
    """
    try:
        bodies = [Body(**entry) for entry in data["bodies"]]
        joints = [_typed(entry, "joint", REGISTRY) for entry in data["joints"]]
        forces = [_typed(entry, "force", FORCES) for entry in data.get("forces", ())]
        rest = {key: data[key] for key in ("gravity", "start") if key in data}
        return Mechanism(data["name"], bodies, joints, forces=forces, **rest)
    except KeyError as problem:
        raise MechanismError(f"{what}: {problem.args[0]!r} is missing") from None
    except (TypeError, AttributeError, ValueError) as problem:  # MechanismError is a ValueError
        raise MechanismError(f"{what}: {problem}") from None


def _typed(entry: Mapping, what: str, registry: Mapping[str, type]) -> Any:
    entry = dict(entry)
    kind = entry.pop("type")
    if kind not in registry:
        raise MechanismError(f"{what} '{entry.get('name')}': no {what} type '{kind}'{suggestion(kind, registry)}")
    return registry[kind](**entry)


def _fields(item: Body | Joint | Force) -> dict:
    values = {field.name: getattr(item, field.name) for field in dataclasses.fields(item)}
    for name, value in values.items():
        if callable(value):
            raise MechanismError(f"{name} of {item.label} is a function, which no file can hold: give it as numbers")
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}
