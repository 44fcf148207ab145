"""Mechanisms as plain data, which formats of files and runs hold as text."""

import dataclasses
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from varint.base.checks import UnknownKey, kind_of, made, shown
from varint.base.errors import MechanismError
from varint.files.own.body_data import body_from_data, label_of
from varint.files.own.file_format import FORMAT, MARK, is_marked, with_present_types
from varint.mechanism.mechanism import Mechanism
from varint.model.body import Body
from varint.model.collision_shapes import CollisionShape
from varint.model.forces import FORCES
from varint.model.forces.base import Force
from varint.model.forces.commanded import Commanded
from varint.model.forces.joint_compliance import JointCompliance
from varint.model.joints import NAMES
from varint.model.joints.base import Joint
from varint.model.solid import Solid

SOLIDS, COLLISION = "solids", "collision"  # of a body
GROUND = "ground"
AS_IT_IS = {"position": [0.0, 0.0, 0.0], "quat_wxyz": [1.0, 0.0, 0.0, 0.0]}  # defaults of a solid
COMPLIANT = ("compliance", "damping_time")  # fields of joints, where they are given
MOST_MISTAKES = 20  # that an error lists
SCHEMA = "$schema"  # for editors, of no meaning here
KINDS: dict[str, tuple[str, Mapping[str, Any] | None]] = {
    "bodies": ("body", None),
    "joints": ("joint", NAMES),
    "forces": ("force", FORCES),
}


def to_data(mechanism: Mechanism, solids: bool = True) -> dict:
    """Return the mechanism as JSON-ready data, from which `from_data` restores it to the same bits.

    ``solids``: whether with those of the bodies, on which no motion depends.
    """
    return {
        MARK: FORMAT,
        "name": mechanism.name,
        "gravity": mechanism.gravity.tolist(),
        "bodies": [_body(body, solids) for body in mechanism.bodies],
        "joints": [{"type": type(joint).__name__} | _fields(joint) for joint in mechanism.joints],
        "forces": [
            {"type": type(force).__name__} | _fields(force)
            for force in mechanism.forces
            if not isinstance(force, JointCompliance)  # the joint has it
        ],
        **({GROUND: [_shape(shape) for shape in mechanism.ground]} if mechanism.ground else {}),
        "start": {
            key: {name: np.asarray(value).tolist() for name, value in values.items()}
            for key, values in mechanism.start.items()
        },
    }


def from_data(
    data: object,
    source: str,
    line_of: Callable[[str, int, str], str] | None = None,
    mistakes: Sequence[str] = (),
) -> Mechanism:
    """Return the mechanism in ``data``; ``source`` names it in errors.

    ``line_of``: of a list's name, a place in it and an error's message, the words ", line N"; none where not given.
    The name is empty where the message is about no element. ``mistakes``: those known already, with their places.
    Types of joints have their older meaning in data without a format mark, with a FormatWarning.

    Raises MechanismError, naming the source and the body, joint or force, with its place: a line for each element that
    is wrong; if none is, for what is wrong with the mechanism.
    """
    if not isinstance(data, dict):
        raise MechanismError(f"{source} must hold one mechanism: an object with name, bodies and joints")
    fields = {key: value for key, value in data.items() if key not in (SCHEMA, MARK)}
    marked = is_marked(data, source)
    elements: dict[str, list] = {}
    wrong: list[str] = []
    try:
        if not marked and isinstance(fields.get("joints"), list):
            fields["joints"] = with_present_types(fields["joints"], source)
        for which in KINDS:
            if which in fields:
                elements[which] = _listed(fields[which], which, line_of, wrong)
    except RecursionError:
        raise MechanismError(f"{source}: parts of a body or a joint are nested too deep") from None
    if wrong or mistakes:
        raise MechanismError(mistakes_text([*mistakes, *(f"{source}{message}" for message in wrong)]))
    try:
        return made(Mechanism, fields | elements, "the mechanism")
    except MechanismError as problem:
        places = (place for place, label in _labels(elements).items() if str(problem).startswith(label))
        begins = next(places, None)
        where = line_of(*(begins or ("", 0)), str(problem)) if line_of else ""
        raise MechanismError(f"{source}{where}: {problem}") from None


def mistakes_text(mistakes: Sequence[str]) -> str:
    """Return the mistakes as text, each once, in the order of lines; the first `MOST_MISTAKES` of many."""
    listed = sorted(dict.fromkeys(mistakes), key=_line_number)
    more = [f"and {len(listed) - MOST_MISTAKES} more"] if len(listed) > MOST_MISTAKES else []
    return "\n".join([*listed[:MOST_MISTAKES], *more])


def _line_number(mistake: str) -> int:
    match = re.search(r", line (\d+)", mistake)
    return int(match[1]) if match else 0


def _labels(elements: Mapping[str, list]) -> dict[tuple[str, int], str]:
    """Return the names of the elements in errors, by (list, number)."""
    return {(which, number): item.label for which, items in elements.items() for number, item in enumerate(items)}


def _listed(
    entries: object, which: str, line_of: Callable[[str, int, str], str] | None, wrong: list[str]
) -> list[Body | Joint | Force]:
    """Return the bodies, joints or forces in ``entries``; the messages about faulty ones go to ``wrong``."""
    if not isinstance(entries, list):
        wrong.append(f": {which} must be a list, got {shown(entries)}")
        return []
    elements = []
    for number, entry in enumerate(entries):
        element, messages = _tried(entry, which, f"{which}[{number}]")
        if element is not None:
            elements.append(element)
        wrong += [f"{line_of(which, number, text) if line_of else ''}: {text}" for text in messages]
    return elements


def _tried(entry: object, which: str, place: str) -> tuple[Body | Joint | Force | None, list[str]]:
    """Return an element, or None and all messages about it.

    After an unknown key it is tried with the nearest known one in its place, about which no more is said.
    """
    messages: list[str] = []
    meant: dict[object, str | None] = {}
    while True:
        try:
            element = _element(entry, which, place)
            return (None if messages else element), messages
        except MechanismError as problem:
            text = str(problem)
            if not any(re.search(rf"\b{key}\b", text) for key in meant.values() if key):
                messages.append(text if place in text else f"{place}: {text}")
            if not (isinstance(problem, UnknownKey) and isinstance(entry, Mapping) and problem.key in entry):
                return None, messages
            meant[problem.key] = problem.meant
            entry = {meant.get(key, key): value for key, value in entry.items() if meant.get(key, key) is not None}


def _element(entry: object, which: str, place: str) -> Body | Joint | Force:
    one, kinds = KINDS[which]
    if not isinstance(entry, Mapping):
        raise MechanismError(f"{place} must be an object with the fields of a {one}, got {shown(entry)}")
    if kinds is None:
        return body_from_data(entry, place)
    label = label_of(entry, place, one)
    kind = kind_of(entry, kinds, label, one)
    return made(kind, {key: value for key, value in entry.items() if key != "type"}, label)


def _body(body: Body, solids: bool) -> dict:
    """Return the fields of a body, without fields of its solids at their defaults."""
    entries = {name: value for name, value in _fields(body).items() if name not in (SOLIDS, COLLISION)}
    if body.collision:
        entries[COLLISION] = [_shape(shape) for shape in body.collision]
    of_solids = [_fields(solid) for solid in body.solids]
    listed = [{name: v for name, v in fields.items() if v and v != AS_IT_IS.get(name)} for fields in of_solids]
    return entries | ({SOLIDS: listed} if listed and solids else {})


def _shape(shape: CollisionShape) -> dict:
    """Return the fields of a collision shape that are not at their defaults."""
    fields = {name: v for name, v in _fields(shape).items() if v is not None and v != AS_IT_IS.get(name)}
    return {"type": type(shape).__name__} | {name: v for name, v in fields.items() if v is not False}


def _fields(item: Body | Joint | Force | Solid | CollisionShape) -> dict:
    """Return the values of the fields without infinite ones, which are defaults that no file can hold."""
    values = {field.name: getattr(item, field.name) for field in dataclasses.fields(item)}
    if isinstance(item, Joint) and item.compliance is None:
        values = {name: value for name, value in values.items() if name not in COMPLIANT}
    for name, value in values.items():
        if callable(value):
            is_input = isinstance(item, Commanded) and name == item.command_name
            how = f", one a node of the run: {name}=[f(t) for t in ...]" if is_input else ""
            raise MechanismError(
                f"{name} of {item.label} is a function, which no file can hold: give it as numbers{how}"
            )
    plain = {name: _plain(value) for name, value in values.items()}
    return {name: value for name, value in plain.items() if not (isinstance(value, float) and math.isinf(value))}


def _plain(value: object) -> object:
    """Return the value of a field as data: arrays and tuples as lists, parts of a path as their fields."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {name: _plain(part) for name, part in parts.items() if part is not None}
    return value
