"""Mechanisms as TOML, for people: tables by name, parameters, arithmetic, other files included."""

import dataclasses
import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from varint.errors import MechanismError
from varint.io.formats.base import Format, register
from varint.io.mechanism_data import KINDS, from_data, to_data
from varint.io.parameters import Parameters, kinds_of
from varint.io.toml_files import OF_MECHANISM, PARAMETERS, START, SUFFIX, Source, merged, sources_of
from varint.mechanism import Mechanism
from varint.model.checks import shown

BARE = re.compile(r"[A-Za-z0-9_-]+")
INTRODUCTION = "# SI units: m, kg, s, rad, N. Points and axes: world axes, reference configuration."


@dataclasses.dataclass(frozen=True)
class _Entry:
    """A table of a body, joint or force."""

    which: str
    name: str
    table: Mapping[str, Any]
    source: Source

    def data(self, parameters: Parameters) -> dict[str, Any]:
        """Its fields, with expressions evaluated. Raises MechanismError."""
        if not isinstance(self.table, dict):
            where = self.source.at([self.which, self.name])
            raise MechanismError(f"{where}: {self.which}.{self.name} must be a table, got {shown(self.table)}")
        if "name" in self.table:
            where = self.source.at([self.which, self.name, "name"])
            raise MechanismError(f"{where}: leave out 'name': it stands in [{self.which}.{self.name}]")
        kind_of = kinds_of(KINDS[self.which][1] or {}, self.table)
        return {"name": self.name} | {
            key: parameters.of(value, kind_of(key), self.source.teller([self.which, self.name, key]))
            for key, value in self.table.items()
        }


def load(path: Path) -> Mechanism:
    """The mechanism in a TOML file, with the parameters as they stand there."""
    with opened(path) as build:
        return build()


@contextmanager
def opened(path: Path) -> Iterator[Callable[..., Mechanism]]:
    """A function of the file's parameters that gives the mechanism."""
    sources = sources_of(path)
    defaults = merged(sources, PARAMETERS, again=True)

    def build(**given: Any) -> Mechanism:
        def where(name: str) -> str:
            return "" if name in given else f"{defaults[name][1].at([PARAMETERS, name])}: "

        return _built(sources, Parameters({name: value for name, (value, _) in defaults.items()} | given, where))

    build.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value)
            for name, (value, _) in defaults.items()
            if name.isidentifier()
        ]
    )
    yield build


def _built(sources: list[Source], parameters: Parameters) -> Mechanism:
    """The mechanism of the files; the last of them is the one that includes the others."""
    main = sources[-1]
    entries = {
        which: [_Entry(which, name, table, source) for name, (table, source) in merged(sources, which).items()]
        for which in KINDS
    }
    data: dict[str, Any] = {which: [entry.data(parameters) for entry in listed] for which, listed in entries.items()}
    for source in sources:  # what the including file says comes last
        for key, value in source.tables.items():
            if key in OF_MECHANISM and key not in (*KINDS, START):
                data[key] = parameters.of(value, str if key == "name" else float, source.teller([key]))
    starts = {key: merged(sources, START, key) for source in sources for key in source.tables.get(START, {})}
    data[START] = {
        key: {
            name: parameters.of(value, float, source.teller([START, key, name])) for name, (value, source) in of.items()
        }
        for key, of in starts.items()
    }

    def line_of(which: str, number: int, message: str) -> str:
        if not which:
            return main.about([], main.tables, message).removeprefix(f"'{main.path}'")
        entry = entries[which][number]
        place = entry.source.about([which, entry.name], entry.table, message)
        return place.removeprefix(f"'{main.path}'") if entry.source is main else f": in {place}"

    return from_data(data, f"'{main.path}'", line_of)


def save(mechanism: Mechanism, path: Path) -> None:
    """Write the mechanism as TOML, to the same bits."""
    data = to_data(mechanism)
    blocks = [[INTRODUCTION], _lines({key: value for key, value in data.items() if key not in (*KINDS, START)})]
    for which in KINDS:
        for entry in data[which]:
            blocks.append([f"[{which}.{_key(entry.pop('name'))}]", *_lines(entry)])
    for key, values in data[START].items():
        blocks.append([f"[{START}.{key}]", *_lines(values)])
    path.write_text("\n\n".join("\n".join(block) for block in blocks) + "\n", encoding="utf-8")


def _lines(table: Mapping[str, Any]) -> list[str]:
    return [f"{_key(key)} = {_written(value)}" for key, value in table.items() if value is not None]


def _key(name: str) -> str:
    return name if BARE.fullmatch(name) else _written(name)


def _written(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(_lines(value)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_written, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


register(Format(SUFFIX, "the description as TOML, with parameters", load, save, opened))
