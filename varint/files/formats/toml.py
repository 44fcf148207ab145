"""Mechanisms as TOML, for people: tables by name, parameters, arithmetic, other files included."""

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from varint.base.atomic_writes import write_text
from varint.base.checks import shown
from varint.base.errors import MechanismError
from varint.files.formats.base import Format, register
from varint.files.own.file_format import FORMAT, MARK, with_present_types
from varint.files.own.mechanism_data import KINDS, from_data, to_data
from varint.files.own.parameters import FileParameter, Parameters, kinds_of
from varint.files.own.toml_files import (
    CLOSURES,
    OF_MECHANISM,
    PARAMETERS,
    START,
    SUFFIX,
    TomlSource,
    merged,
    sources_of,
)
from varint.files.own.toml_places import comments_of
from varint.files.own.toml_text import text_of
from varint.files.robots.packages import ImportOptions
from varint.mechanism.mechanism import Mechanism
from varint.model.import_report import ImportNotes

UNDER = {"joints": (CLOSURES,)}  # other tables with entries of a kind
OF_LINKS = {"body", "body_a", "body_b", "bodies", "fixed_in"}  # keys with names of bodies


@dataclasses.dataclass(frozen=True)
class _Entry:
    """A table of a body, joint or force, ``which`` of KINDS it is; ``under``: the table that it stands in."""

    which: str
    under: str
    name: str
    table: Mapping[str, Any]
    source: TomlSource

    def data(self, parameters: Parameters, mistakes: list[str]) -> dict[str, Any] | None:
        """Return the fields with expressions evaluated; None if some are wrong, whose messages go to ``mistakes``."""
        fields: dict[str, Any] = {"name": self.name}
        before = len(mistakes)
        with _noted(mistakes):
            self._check_table()
            kind_of = kinds_of(KINDS[self.which][1] or {}, self.table)
            for key, value in self.table.items():
                with _noted(mistakes):
                    error_of = self.source.teller([self.under, self.name, key])
                    fields[key] = parameters.of(value, kind_of(key), error_of)
        return fields if len(mistakes) == before else None

    def _check_table(self) -> None:
        if not isinstance(self.table, dict):
            where = self.source.at([self.under, self.name])
            raise MechanismError(f"{where}: {self.under}.{self.name} must be a table, got {shown(self.table)}")
        if "name" in self.table:
            where = self.source.at([self.under, self.name, "name"])
            raise MechanismError(f"{where}: leave out 'name': it stands in [{self.under}.{self.name}]")


@contextmanager
def _noted(mistakes: list[str]) -> Iterator[None]:
    """Append the messages of errors raised inside to ``mistakes``."""
    try:
        yield
    except MechanismError as problem:
        mistakes.append(str(problem))


def load(path: Path, options: ImportOptions) -> Mechanism:
    """Return the mechanism in a TOML file, with the parameters as in the file."""
    with opened(path, options) as build:
        return build()


@contextmanager
def opened(path: Path, options: ImportOptions) -> Iterator[Callable[..., Mechanism]]:
    """Yield a function of the file's parameters that gives the mechanism."""
    sources = sources_of(path, options)
    defaults = merged(sources, PARAMETERS, again=True)

    def build(**replaced: Any) -> Mechanism:
        return _built(sources, _parameters(defaults, replaced))

    build.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value)
            for name, (value, _) in defaults.items()
            if name.isidentifier()
        ]
    )
    yield build


def file_parameters(
    path: Path, options: ImportOptions, replaced: Mapping[str, Any] = MappingProxyType({})
) -> list[FileParameter]:
    """Return the parameters of a TOML file and of its included files; ``replaced``: values in place of theirs."""
    defaults = merged(sources_of(path, options), PARAMETERS, again=True)
    values = _parameters(defaults, replaced).all()
    comments = {source.path: comments_of(source.text) for _, source in defaults.values()}
    return [
        FileParameter(name, value, values[name], comments[source.path].get((PARAMETERS, name), ""))
        for name, (value, source) in defaults.items()
    ]


def _parameters(defaults: Mapping[str, tuple[Any, TomlSource]], replaced: Mapping[str, Any]) -> Parameters:
    """Return the parameters of the files, with the values in ``replaced`` in place of theirs."""

    def where(name: str) -> str:
        return "" if name in replaced else f"{defaults[name][1].at([PARAMETERS, name])}: "

    return Parameters({name: value for name, (value, _) in defaults.items()} | dict(replaced), where)


def _built(sources: list[TomlSource], parameters: Parameters) -> Mechanism:
    """Return the mechanism of the files, of which the last includes the others."""
    main = sources[-1]
    entries = {
        which: [
            _Entry(which, under, name, table, source)
            for under in (which, *UNDER.get(which, ()))
            for name, (table, source) in merged(sources, under).items()
        ]
        for which in KINDS
    }
    mistakes = [mistake for source in sources for mistake in source.mistakes]
    data: dict[str, Any] = {MARK: FORMAT}
    elements: dict[str, list[dict[str, Any]]] = {}
    for which, listed in entries.items():
        pairs = [(entry, entry.data(parameters, mistakes)) for entry in listed]
        entries[which] = [entry for entry, fields in pairs if fields is not None]
        elements[which] = [fields for _, fields in pairs if fields is not None]
    for source in sources:
        if not source.marked:
            places = [place for place, entry in enumerate(entries["joints"]) if entry.source is source]
            present = with_present_types([elements["joints"][place] for place in places], f"'{source.path}'")
            for place, fields in zip(places, present, strict=True):
                elements["joints"][place] = fields
    data |= elements
    notes = ImportNotes(main.path)
    for source in sources:
        notes.take(source.report)
    for entry in (entry for listed in elements.values() for entry in listed):
        _with_bodies(entry, notes.body_of)
    for source in sources:  # what the including file says comes last
        for key, value in source.tables.items():
            if key in OF_MECHANISM and key not in (*KINDS, START):
                with _noted(mistakes):
                    data[key] = parameters.of(value, str if key == "name" else float, source.teller([key]))
    starts = {key: merged(sources, START, key) for source in sources for key in source.tables.get(START, {})}
    data[START] = {key: {} for key in starts}
    for key, of in starts.items():
        for name, (value, source) in of.items():
            with _noted(mistakes):
                data[START][key][name] = parameters.of(value, float, source.teller([START, key, name]))

    def line_of(which: str, number: int, message: str) -> str:
        if not which:
            return main.about([], main.tables, message).removeprefix(f"'{main.path}'")
        entry = entries[which][number]
        place = entry.source.about([entry.under, entry.name], entry.table, message)
        return place.removeprefix(f"'{main.path}'") if entry.source is main else f": in {place}"

    return notes.attached(from_data(data, f"'{main.path}'", line_of, mistakes))


def _with_bodies(entry: dict[str, Any], body_of: Mapping[str, str]) -> None:
    """Put the body in place of the name of a link that is part of it, or of the world."""
    for key in OF_LINKS & entry.keys():
        value = entry[key]
        if isinstance(value, str):
            entry[key] = body_of.get(value, value)
        elif isinstance(value, list):
            entry[key] = [body_of.get(one, one) if isinstance(one, str) else one for one in value]
    path = entry.get("path")
    for point in path if isinstance(path, list) else ():
        if isinstance(point, dict):
            _with_bodies(point, body_of)


def save(mechanism: Mechanism, path: Path) -> None:
    """Write the mechanism as TOML, to the same bits."""
    write_text(path, text_of(to_data(mechanism), {which: which for which in KINDS}))


register(Format(SUFFIX, "the description as TOML, with parameters", load, save, opened, file_parameters, imports=True))
