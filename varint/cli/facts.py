"""Report of a subcommand, built once: shown as tables, or written as one JSON object.

A `Report` is a list of parts. Each part says what it adds to the object, and how it is shown.
"""

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from varint.base.printable import printable
from varint.cli.shown_tables import show_rows

if TYPE_CHECKING:
    from rich.console import Console


LISTED = 40  # rows of a listing that are shown; the object has all


class Fact(NamedTuple):
    """One value under its ``key`` in the object, and under its ``label`` in a table.

    Facts of one label, one after another, share a row. Without a key it is not in the object, without a label not in
    the table. ``text`` is what the table shows, where ``value`` with its ``unit`` does not say it.
    """

    key: str
    label: str
    value: Any
    unit: str = ""
    text: str | None = None

    @property
    def shown(self) -> str:
        """Return the value as text of the table."""
        return cell(self.value, self.unit) if self.text is None else self.text


class FactColumn(NamedTuple):
    """Column of a listing: the ``key`` in its objects, the ``label`` above its cells, the ``unit`` of its values."""

    key: str
    label: str
    unit: str = ""
    number: bool = False

    @property
    def heading(self) -> str:
        """Return the label with the unit; ``>`` comes before labels of numbers, see `show_rows`."""
        return f"{'>' * self.number}{self.label}{f' ({self.unit})' * bool(self.unit)}"


class ReportPart(Protocol):
    """Part of a report."""

    def data(self) -> dict[str, Any]:
        """Return the entries that the part adds to the JSON object."""

    def show(self, console: "Console") -> None:
        """Print it for people."""


@dataclass(frozen=True)
class Facts:
    """Facts, as rows of a table under a title."""

    facts: Sequence[Fact]
    title: str = ""

    def data(self) -> dict[str, Any]:
        return {fact.key: fact.value for fact in self.facts if fact.key}

    def show(self, console: "Console") -> None:
        rows: list[tuple[str, str]] = []
        for fact in self.facts:
            if rows and rows[-1][0] == fact.label:
                rows[-1] = (fact.label, f"{rows[-1][1]}, {fact.shown}")
            elif fact.label:
                rows.append((fact.label, fact.shown))
        show_rows(console, ("", ""), rows, self.title)


@dataclass(frozen=True)
class Listing:
    """Things of one kind with values in the same columns: a list of objects, or a table of ``most`` of them.

    ``hidden``: first cells of rows that are in the list alone.
    """

    key: str
    columns: Sequence[FactColumn]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    most: int = LISTED
    hidden: Collection[str] = ()

    def data(self) -> dict[str, Any]:
        keys = [column.key for column in self.columns]
        return {self.key: [dict(zip(keys, row, strict=True)) for row in self.rows]}

    def show(self, console: "Console") -> None:
        listed = [row for row in self.rows if row[0] not in self.hidden]
        if listed:
            rows = [tuple(map(cell, row)) for row in listed[: self.most]]
            show_rows(console, [column.heading for column in self.columns], rows, self.title)
        if len(listed) > self.most:
            console.print(f"... {len(listed) - self.most} more\n")


@dataclass(frozen=True)
class Data:
    """Parts of the object alone."""

    values: Mapping[str, Any]

    def data(self) -> dict[str, Any]:
        return dict(self.values)

    def show(self, console: "Console") -> None:
        """Do nothing."""


@dataclass(frozen=True)
class FactTable:
    """A table of texts alone, with sentences below it; columns as in `show_rows`."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    notes: Sequence[str] = ()

    def data(self) -> dict[str, Any]:
        return {}

    def show(self, console: "Console") -> None:
        show_rows(console, self.columns, self.rows, self.title)
        for note in self.notes:
            console.print(printable(note))
        if self.notes:
            console.print()


@dataclass(frozen=True)
class Files:
    """Paths of the files that were written."""

    key: str
    paths: Sequence[Path]

    def data(self) -> dict[str, Any]:
        return {self.key: self.paths}

    def show(self, console: "Console") -> None:
        for path in self.paths:
            console.print(printable(str(path)), soft_wrap=True)


@dataclass(frozen=True)
class Report:
    """Report of a subcommand.

    parts : of the object and of what is shown, in their order
    warning : for stderr, where the parts are not shown
    failure : the error with which the subcommand ended, all the same with something to say
    """

    parts: Sequence[ReportPart] = ()
    warning: str = ""
    failure: Exception | None = field(default=None, kw_only=True)

    def data(self) -> dict[str, Any]:
        """Return the object of all parts."""
        return {key: value for part in self.parts for key, value in part.data().items()}

    def show(self, console: "Console") -> None:
        """Print it for people."""
        for part in self.parts:
            part.show(console)


def json_line(values: Mapping[str, Any]) -> str:
    """Return one object in one line of strict JSON: null for numbers that are not finite."""
    return json.dumps(strict(values), allow_nan=False)


def strict(value: Any) -> Any:
    """Return ``value`` as strict JSON takes it."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): strict(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [strict(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value


def cell(value: Any, unit: str = "") -> str:
    """Return ``value`` with its unit, as a table has it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, list | tuple):
        return ", ".join(cell(one, unit) for one in value)
    text = f"{value + 0.0:.6g}" if isinstance(value, float) else str(value)
    return f"{text} {unit}" if unit else text
