"""The table of an ensemble: a row a member, in memory and as a CSV file that grows as members end."""

import csv
import hashlib
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from varint.base.atomic_writes import write_bytes
from varint.base.errors import FileError
from varint.base.printable import printable
from varint.studies.ensembles.figures import COUNTS, DIGEST, FIGURES, FINGERPRINT, MESSAGE, NUMBER, STATUS

Row = dict[str, Any]


class MemberTable:
    """Rows of the members that ended so far, by their numbers.

    members : list of dict
        Parameters of all members.
    rows : dict
        Number of a member to its row, see `varint.studies.ensembles.figures`, without its parameters.
    path : Path or None
        Of the file.
    mark_of : function or None
        Of the parameters of a member; gives its fingerprint, which its line in the file then has, with a digest.
    marks : dict
        Number of a member to the fingerprint that the file had for it, where it had one.
    changed : set
        Numbers of the members whose lines in the file are not as they were written.
    """

    def __init__(
        self,
        members: Sequence[Mapping[str, Any]],
        path: Path | None = None,
        mark_of: Callable[[Mapping[str, Any]], str] | None = None,
    ) -> None:
        self.members, self.path, self.mark_of = members, path, mark_of
        self.rows: dict[int, Row] = {}
        self.marks: dict[int, str] = {}
        self.changed: set[int] = set()
        self.parameters = list(dict.fromkeys(name for member in members for name in member))
        self._measured: dict[str, None] = {}

    @property
    def columns(self) -> list[str]:
        """Number, parameters, status, figures, columns of ``measure``, message."""
        return [NUMBER, *self.parameters, STATUS, *FIGURES, *self._measured, MESSAGE]

    def values(self, number: int) -> dict[str, Any]:
        """Return the values of a member by column, None where missing."""
        row: Row = {NUMBER: number, **self.members[number], **self.rows[number]}
        return {column: row.get(column) for column in self.columns}

    def add(self, number: int, row: Row) -> None:
        """Add a member that ended; its line is in the file when this returns. Raises FileError."""
        known = len(self._measured)
        self.put(number, row)
        if self.path is None:
            return
        if len(self._measured) > known:
            self.write()
            return
        try:
            with open(self.path, "ab") as file:
                file.write(self._lines([number]))
        except OSError as problem:
            raise FileError(f"cannot write '{self.path}': {problem.strerror or problem}") from None

    def write(self) -> None:
        """Write the file anew, in the order of the members."""
        assert self.path is not None
        columns = self.columns if self.mark_of is None else [*self.columns, FINGERPRINT, DIGEST]
        write_bytes(self.path, _line(columns) + self._lines(sorted(self.rows)))

    def read(self) -> None:
        """Take the rows that are in the file; a line that a kill has cut short does not count. Raises FileError."""
        assert self.path is not None
        try:
            text = self.path.read_bytes().decode()  # with line ends in cells as they are
        except FileNotFoundError:
            return
        except (OSError, ValueError) as problem:
            raise FileError(f"cannot read '{self.path}': {getattr(problem, 'strerror', None) or problem}") from None
        whole = text[: text.rfind("\n") + 1]
        lines = csv.reader(io.StringIO(whole, newline=""))
        try:
            self._take_lines(lines)
        except csv.Error as problem:
            where = f"'{self.path}' is damaged at the line {lines.line_num}"
            raise FileError(f"{where}: {problem}: overwrite=True") from None

    def _take_lines(self, lines: Any) -> None:
        """Take the rows of a reader of `csv`, whose first line has the columns."""
        headings = next(lines, None)
        if headings is None:
            return
        names = {_in_file(name): name for name in self.columns}
        columns = [names.get(heading, heading) for heading in headings]
        if [column for column in columns if column in self.columns] != self.columns:
            raise FileError(f"'{self.path}' is not a table of this ensemble: overwrite=True begins anew")
        for cells in lines:
            self._take(columns, cells, lines.line_num)

    def _take(self, columns: list[str], cells: list[str], line: int) -> None:
        try:
            entries = dict(zip(columns, cells, strict=True))
            number = int(entries[NUMBER])
            measured = [name for name in columns if name not in (NUMBER, *self.parameters, FINGERPRINT, DIGEST)]
            row = {name: _value(name, entries[name]) for name in measured if entries[name] or name in (STATUS, MESSAGE)}
            if not 0 <= number < len(self.members):
                raise ValueError("no such member")
        except (ValueError, KeyError):
            text = ",".join(cells)[:80]
            raise FileError(f"'{self.path}' is damaged at the line {line}, {text!r}: overwrite=True") from None
        self.put(number, row)
        if FINGERPRINT in entries:
            self.marks[number] = entries[FINGERPRINT]
        digested = slice(columns.index(DIGEST)) if DIGEST in entries else slice(0)
        unchanged = (_digest(cells[digested], columns[digested]), _digest(cells[digested]))  # the second in older files
        of_member = all(_is_of(self.members[number].get(name), entries[name]) for name in self.parameters)
        if (DIGEST in entries and entries[DIGEST] not in unchanged) or not of_member:
            self.changed.add(number)

    def put(self, number: int, row: Row) -> None:
        """Keep the row of a member that ended, in memory only."""
        self.rows[number] = row
        fixed = {STATUS, MESSAGE, *FIGURES}
        self._measured |= {name: None for name in row if name not in fixed}

    def take_out(self, numbers: Sequence[int]) -> None:
        """Remove the rows of these members, and the measured columns that no other row has."""
        for number in numbers:
            del self.rows[number]
        self._measured = {name: None for name in self._measured if any(name in row for row in self.rows.values())}

    def _lines(self, numbers: Sequence[int]) -> bytes:
        return b"".join(_line(self._cells(number)) for number in numbers)

    def _cells(self, number: int) -> list[str]:
        cells = [_cell(value) for value in self.values(number).values()]
        if self.mark_of is None:
            return cells
        cells.append(self.mark_of(self.members[number]))
        return [*cells, _digest(cells, [*self.columns, FINGERPRINT])]


def _digest(cells: Sequence[str], columns: Sequence[str] = ()) -> str:
    """Return the digest of a line of the table with its headings, so that no number passes to another column."""
    text = json.dumps([_in_file(cell) for cell in [*columns, *cells]])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _in_file(cell: str) -> str:
    """Return ``cell`` as the file holds it: printable, and with surrogates, which UTF-8 lacks, replaced."""
    return printable(cell).encode("utf-8", errors="replace").decode()


def _is_of(value: Any, cell: str) -> bool:
    """Return whether a cell of the file holds the value of a parameter; 1 and 1.0 are the same."""
    if cell == _in_file(_cell(value)):
        return True
    try:
        return not isinstance(value, bool | str) and json.loads(cell) == value
    except (ValueError, RecursionError):
        return False


def _line(cells: Sequence[str]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerow(map(_in_file, cells))
    return text.getvalue().encode()


def _cell(value: Any) -> str:
    """Return a value as text of a cell: numbers in full, texts as they are, anything else as JSON."""
    if value is None or isinstance(value, str):
        return value or ""
    return repr(value) if isinstance(value, int | float) else json.dumps(value)


def _value(name: str, cell: str) -> Any:
    if name in (STATUS, MESSAGE):
        return cell
    return int(cell) if name in COUNTS else float(cell)
