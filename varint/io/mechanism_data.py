"""Mechanisms as plain data, which formats of files and runs hold as text."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from varint.errors import MechanismError
from varint.mechanism import Mechanism
from varint.model.body import Body
from varint.model.checks import known_name, made, shown
from varint.model.forces import FORCES
from varint.model.forces.base import Force
from varint.model.joints import REGISTRY
from varint.model.joints.base import Joint

KINDS: dict[str, tuple[str, Mapping[str, Any] | None]] = {
    "bodies": ("body", None),
    "joints": ("joint", REGISTRY),
    "forces": ("force", FORCES),
}


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


def from_data(data: object, what: str) -> Mechanism:
    """The mechanism in ``data``; ``what`` names its source in errors.

    Raises MechanismError, naming the source and the body, joint or force, with its place.
    """
    if not isinstance(data, dict):
        raise MechanismError(f"{what} must hold one mechanism: an object with name, bodies and joints")
    for key, wanted in (("bodies", True), ("joints", True), ("forces", False)):
        if key not in data and wanted:
            raise MechanismError(f"{what}: {key!r} missing")
    try:
        given = data | {key: _listed(data[key], key) for key in KINDS if key in data}
        return made(Mechanism, given, "the mechanism")
    except MechanismError as problem:
        raise MechanismError(f"{what}: {problem}") from None


def _listed(entries: object, which: str) -> list:
    """The bodies, joints or forces in ``entries``."""
    one, kinds = KINDS[which]
    if not isinstance(entries, list):
        raise MechanismError(f"{which} must be a list, got {shown(entries)}")
    found = []
    for number, entry in enumerate(entries):
        place = f"{which}[{number}]"
        if not isinstance(entry, Mapping):
            raise MechanismError(f"{place} must be an object with the fields of a {one}, got {shown(entry)}")
        label = f"{one} {shown(entry['name'])} ({place})" if "name" in entry else place
        if kinds is None:
            kind, fields = Body, entry
        elif "type" not in entry:
            raise MechanismError(f"{label}: 'type' missing")
        else:
            kind = kinds[known_name(entry["type"], kinds, f"{label}: no {one} type")]
            fields = {key: value for key, value in entry.items() if key != "type"}
        try:
            found.append(made(kind, fields, label))
        except MechanismError as problem:
            raise MechanismError(str(problem) if label in str(problem) else f"{place}: {problem}") from None
    return found


def _fields(item: Body | Joint | Force) -> dict:
    """The values of the fields; not those that are infinite, which no file can hold: they are defaults."""
    values = {field.name: getattr(item, field.name) for field in dataclasses.fields(item)}
    for name, value in values.items():
        if callable(value):
            raise MechanismError(f"{name} of {item.label} is a function, which no file can hold: give it as numbers")
    plain = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}
    return {name: value for name, value in plain.items() if not (isinstance(value, float) and math.isinf(value))}
