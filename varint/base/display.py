"""Displays of objects: a few lines at a prompt, small tables in a notebook."""

import html
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import numpy as np

from varint.base.printable import printable

LONGEST = 400  # characters of a repr
LONGEST_TEXT = 60  # of a name or a text in it
DEEPEST = 20  # lists in one another that are written out
FEW = 6  # numbers or names that are written out
ROWS = 12  # of a table in a notebook


class Shown:
    """Base of classes whose repr is their name and a few facts, however much they hold; see `described`."""

    def __init_subclass__(cls, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        cls.__repr__ = cls.__repr__  # type: ignore[method-assign]  # of its own: a dataclass would write all fields

    def __repr__(self) -> str:
        return described(self, self._facts())

    def _facts(self) -> Iterable[str]:
        return field_facts(self)


def described(thing: object, facts: Iterable[str], of: str | None = None) -> str:
    """Return class, name and ``facts`` in one text of up to 400 characters; the name of ``of`` if that is not None."""
    name = getattr(thing, "name", None) if of is None else of
    head = type(thing).__name__ + (" of" if of is not None else "")
    head += f" {value_text(name)}" if isinstance(name, str) else ""
    text = printable(", ".join(facts))
    return shortened(f"{head}: {text}" if text else head, LONGEST)


def field_facts(thing: Any, known: Collection[str] = ("name",)) -> Iterable[str]:
    """Yield ``field=value`` for each field of a dataclass or named tuple.

    Without the names in ``known``, which the text has already, and fields at their default.
    """
    if not is_dataclass(thing):
        yield from (f"{name}={value_text(getattr(thing, name))}" for name in thing._fields)
        return
    for field in fields(thing):
        value = getattr(thing, field.name)
        if field.name in known or not field.repr or value is field.default:
            continue
        if field.default is not MISSING and type(value) is type(field.default) and value == field.default:
            continue
        yield f"{field.name}={value_text(value)}"


def value_text(value: object, depth: int = 0) -> str:
    """Return ``value`` in few characters: numbers to six digits, the size of large things, a function's name.

    ``depth``: number of lists that ``value`` stands in; from `DEEPEST` on a list is "...".
    """
    if isinstance(value, str):
        return repr(shortened(value, LONGEST_TEXT))
    if value is None or isinstance(value, bool | np.bool_):
        return str(value)
    if isinstance(value, int | float | np.integer | np.floating):
        return f"{value:.6g}" if isinstance(value, float | np.floating) else str(value)
    if isinstance(value, np.ndarray):
        return numbers_text(value) if value.ndim < 2 and value.size <= FEW else f"array {value.shape}"
    if isinstance(value, Mapping):
        return f"{{{names_text(value)}}}"
    if isinstance(value, tuple | list):
        if depth == DEEPEST:
            return "..."
        inside = [value_text(item, depth + 1) for item in value[:FEW]]
        return f"({', '.join(inside)})" if len(value) <= FEW else f"{len(value)} of them"
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    return type(value).__name__


def numbers_text(values: np.ndarray) -> str:
    """Return the first six of the numbers (n,), to six digits, with "..." for the others."""
    if values.dtype.kind not in "iuf" or not values.ndim:
        return str(values)
    words = [f"{value + 0.0:.6g}" for value in values[:FEW]] + ["..."] * (len(values) > FEW)
    return f"({', '.join(words)})"


def names_text(names: Iterable[object]) -> str:
    """Return the first names, and how many there are where that is not all."""
    names = list(names)
    text = ", ".join(value_text(name) for name in names[:FEW])
    return f"{text}, ... {len(names)} in all" if len(names) > FEW else text


def count_text(count: int, one: str, several: str = "") -> str:
    """Return "1 body", "2 bodies", or "no bodies"."""
    return f"{count or 'no'} {one if count == 1 else several or f'{one}s'}"


def shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 4]} ..."


def html_table(columns: Sequence[str], rows: Sequence[Sequence[object]], title: str = "", most: int = ROWS) -> str:
    """Return a table in HTML, without colours; texts are escaped and cut, rows beyond ``most`` counted.

    ``columns`` that start with ``>`` hold numbers, and stand to the right.
    """
    sides = ["right" if column.startswith(">") else "left" for column in columns]

    def line(cells: Sequence[object], tag: str) -> str:
        parts = (
            f'<{tag} style="text-align:{side}">{html.escape(printable(shortened(str(cell), LONGEST)))}</{tag}>'
            for cell, side in zip(cells, sides, strict=True)
        )
        return f"<tr>{''.join(parts)}</tr>"

    lines = [line([column.lstrip(">") for column in columns], "th")] if any(columns) else []
    lines += [line(row, "td") for row in rows[:most]]
    if len(rows) > most:
        lines.append(f'<tr><td colspan="{len(columns)}">... {len(rows) - most} more</td></tr>')
    caption = f"<caption>{html.escape(printable(shortened(title, LONGEST)))}</caption>" if title else ""
    return f"<table>{caption}{''.join(lines)}</table>"
