"""Parameters of mechanism files, and the values in which they occur as arithmetic."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from varint.base.checks import shown
from varint.base.errors import MechanismError
from varint.files.own.expressions import Refused, Value, evaluated
from varint.model.joints import NAMES

MOST_NUMBERS = 1_000_000  # that parameters put in the place of their names in a file


class FileParameter(NamedTuple):
    """A parameter of a file: its ``name``, ``default`` in the file, ``value``, and the ``comment`` behind it."""

    name: str
    default: Any
    value: Value
    comment: str


class Parameters:
    """Values of expressions.

    ``definitions``: names to numbers, lists and expressions; ``where``: of a name, the place of its definition.
    """

    def __init__(self, definitions: Mapping[str, Any], where: Callable[[str], str]) -> None:
        self.definitions, self.where = definitions, where
        self.values: dict[str, Value] = {}
        self.open: list[str] = []  # parameters that are being evaluated
        self.sizes: dict[str, int] = {}
        self.taken = 0  # numbers that stand in the place of names

    def all(self) -> dict[str, Value]:
        """Return the value of each parameter."""
        for name in self.definitions:
            self._value(name)
        return self.values

    def of(self, value: Any, kind: Any, error_of: Callable[[str], Exception]) -> Any:
        """Return ``value`` with its expressions evaluated unless its type ``kind`` is a text.

        ``error_of`` makes the errors.
        """
        if isinstance(value, str):
            return value if _is_text(kind) else self._evaluated(value, error_of)
        if isinstance(value, list):
            inside = _inside(kind, len(value))
            return [self.of(part, each, error_of) for part, each in zip(value, inside, strict=True)]
        if isinstance(value, dict):
            kind_of = _fields_of(kind) or kinds_of(NAMES if "type" in value else {}, value)
            return {key: self.of(part, kind_of(key), error_of) for key, part in value.items()}
        return value

    def _evaluated(self, text: str, error_of: Callable[[str], Exception]) -> Value:
        try:
            return evaluated(text, self._taken, self.definitions)
        except Refused as problem:
            raise error_of(str(problem)) from None

    def _taken(self, name: str) -> Value | None:
        """Return the value of a parameter. Raises Refused where lists of lists of parameters grow without end."""
        value = self._value(name)
        self.taken += self.sizes.get(name, 0)
        if self.taken > MOST_NUMBERS:
            raise Refused(f"parameters are repeated until there are more than {MOST_NUMBERS} numbers")
        return value

    def _value(self, name: str) -> Value | None:
        if name not in self.definitions or name in self.values:
            return self.values.get(name)

        def error_of(message: str) -> Exception:
            return MechanismError(f"{self.where(name)}parameter {name!r}: {message}")

        if name in self.open:
            raise error_of(f"it is needed for itself, by {' and '.join(self.open[self.open.index(name) :])}")
        self.open.append(name)
        try:
            value = self.of(self.definitions[name], float, error_of)
        finally:
            self.open.pop()
        if not _is_number(value):
            raise error_of(f"must be a number, or a list of numbers, got {shown(value)}")
        self.values[name], self.sizes[name] = value, _count(value)
        return value


def _count(value: Value) -> int:
    return sum(map(_count, value)) + 1 if isinstance(value, list) else 1


def _is_number(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_number, value))
    return isinstance(value, float | int) and not isinstance(value, bool)


def _is_text(kind: Any) -> bool:
    inside = () if get_origin(kind) is tuple else get_args(kind)
    return kind is str or any(one is str or get_origin(one) is Literal for one in inside)


def _inside(kind: Any, size: int) -> Sequence[Any]:
    """Return the types of the items of a list of ``size`` items."""
    if kind is str:  # also of a key that its class does not have
        return [str] * size
    for one in (kind, *get_args(kind)):
        items = get_args(one)
        if get_origin(one) is tuple and len(items) == size:
            return items
        if get_origin(one) is Sequence:
            return [items[0]] * size
    return [float] * size


def kinds_of(known: Mapping[str, type], entry: Mapping[str, Any]) -> Callable[[str], Any]:
    """Return a function from an entry's keys to the types of their values, None for numbers and lists of numbers.

    ``known``: classes by the "type" of entries; none where entries have no type. Keys that the class does not have are
    texts, which stay as they are until they are refused.
    """
    if not known:
        return {"name": str, "kind": str, "body": str}.get
    kind = entry.get("type")
    hints = _hints(known[kind]) if isinstance(kind, str) and kind in known else {}
    return lambda key: hints.get(key, str)


def _fields_of(kind: Any) -> Callable[[str], Any] | None:
    """Return the same if the type of the entry is itself a description, as a point of a path; else None."""
    if not (isinstance(kind, type) and is_dataclass(kind)):
        return None
    hints = _hints(kind)
    return lambda key: hints.get(key, str)


@functools.cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls)
