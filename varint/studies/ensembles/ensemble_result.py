"""`Ensemble`, the result of `ensemble`."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from varint.base.atomic_writes import written_whole
from varint.base.checks import is_whole, shown
from varint.base.display import Shown, count_text, html_table, value_text
from varint.base.errors import ArgumentError
from varint.base.paths import path_of
from varint.files.runs.tables import optional
from varint.methods.simulation import load
from varint.runs.trajectory import Trajectory
from varint.studies.ensembles.figures import COUNTS, DONE, FIGURES, MESSAGE, NUMBER, STATUS
from varint.studies.ensembles.marks import check_run, run_path
from varint.studies.ensembles.table import MemberTable

if TYPE_CHECKING:
    import pandas


class Member(Shown):
    """One run of an ensemble.

    Attributes
    ----------
    number : int
    parameters : dict
    status : str
        "done", "stopped" (a step could not be solved) or "error" (it could not be run).
    message : str
        Error of the member, or a remark.
    figures : dict
        Column, also of ``measure``, to number, or None.
    """

    def __init__(self, table: MemberTable, number: int, folder: Path | None, described: Mapping[str, Any]) -> None:
        values = table.values(number)
        self.number, self.parameters = number, dict(table.members[number])
        self.status, self.message = values.pop(STATUS), values.pop(MESSAGE)
        self.figures = {name: value for name, value in values.items() if name not in (NUMBER, *table.parameters)}
        self._folder, self._described = folder, described

    @property
    def path(self) -> Path | None:
        """Path of the file of its run, or None."""
        path = None if self._folder is None else run_path(self._folder, self.number)
        return path if path is not None and path.exists() else None

    @property
    def trajectory(self) -> Trajectory:
        """Read from its file when asked for. Raises ArgumentError where it was not kept, FileError.

        Raises a FileError also if the run in the file has other arguments than this member.
        """
        if self._folder is None:
            raise ArgumentError("the runs of this ensemble were not kept: give output=, a folder for them")
        if self.path is None:
            raise ArgumentError(f"member {self.number} has no run: {self.message}")
        trajectory = load(self.path)
        check_run(self.path, trajectory.settings, self._described, self.parameters)
        return trajectory

    def _facts(self) -> Iterable[str]:
        yield str(self.number)
        yield from (f"{name}={value_text(value)}" for name, value in self.parameters.items())
        yield f"{self.status}: {self.message}" if self.message else self.status


class Ensemble(Shown):
    """The members of an ensemble; ``len(e)``, ``e[i]`` and a loop give them, each a `Member`.

    Attributes
    ----------
    folder : Path or None
        Where table and runs are.
    remarks : dict
        Number of a member to the reason why its run or its row was not its own: on resuming it was done anew, in an
        ensemble that was loaded the line of the table is not as it was written.
    """

    def __init__(
        self, table: MemberTable, folder: Path | None, remarks: Mapping[int, str], described: Mapping[str, Any]
    ) -> None:
        self._table, self.folder, self.remarks, self._described = table, folder, dict(remarks), described

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, i: int) -> Member:
        if not is_whole(i):
            raise ArgumentError(f"a member of an ensemble is a whole number, got {shown(i)}")
        if not -len(self) <= i < len(self):
            raise IndexError(f"there is no member {i}: the ensemble has {len(self)}")
        return Member(self._table, self._numbers[i], self.folder, self._described)

    def __iter__(self) -> Iterator[Member]:
        return (self[i] for i in range(len(self)))

    @cached_property
    def _numbers(self) -> list[int]:
        """Numbers of the members that ended: all, but where the ensemble was stopped."""
        return sorted(self._table.rows)

    @property
    def failures(self) -> list[Member]:
        """Members that did not reach the end of their run."""
        return [self[i] for i, number in enumerate(self._numbers) if self._table.rows[number][STATUS] != DONE]

    @cached_property
    def table(self) -> Mapping[str, Any]:
        """Column to its values, one a member: arrays if all are numbers, with NaN where missing; else lists.

        "member", the parameters, "status", "t_end" (s), "energy_error" (J), "largest_kinetic" (J), "drift" (m),
        "unresolved" (s), "steps", "substeps", "newton_iterations", "wall_time" (s), columns of ``measure``, "message".
        """
        rows = [self._table.values(number) for number in self._numbers]
        return {column: _column(column, [row[column] for row in rows]) for column in self._table.columns}

    def to_dataframe(self) -> "pandas.DataFrame":
        """Return the table as a DataFrame, one row a member. Raises ArgumentError without the extra ``tables``."""
        return optional("pandas", "tables").DataFrame(dict(self.table)).set_index(NUMBER)

    def save(self, path: str | Path) -> None:
        """Write the table, .csv or .parquet; a file of that name is replaced.

        Raises ArgumentError for another suffix, or where pandas and pyarrow, which write Parquet, are missing
        (the extra ``parquet``); FileError.
        """
        path = Path(path_of(path))
        if path.suffix.lower() == ".csv":
            copy = MemberTable(self._table.members, path)
            for number in self._numbers:
                copy.put(number, self._table.rows[number])
            copy.write()
        elif path.suffix.lower() == ".parquet":
            optional("pyarrow", "parquet")
            frame = self.to_dataframe()
            with written_whole(path) as fresh:
                frame.to_parquet(fresh)
        else:
            raise ArgumentError(f"tables are CSV or Parquet files: '{path}' must end in .csv or .parquet")

    def _facts(self) -> Iterable[str]:
        yield count_text(len(self), "member")
        if missing := len(self._table.members) - len(self):
            yield f"{missing} not run yet"
        yield count_text(len(self.failures), "failure")
        if self.remarks:
            yield count_text(len(self.remarks), "remark")
        if self.folder is not None:
            yield f"in '{self.folder}'"

    def _repr_html_(self) -> str:
        shown_columns = [column for column in self._table.columns if column not in ("substeps", "newton_iterations")]
        rows = [[_text(self._table.values(number)[column]) for column in shown_columns] for number in self._numbers]
        headings = [
            f"{column} ({FIGURES[column][0]})" if FIGURES.get(column, ("",))[0] else column for column in shown_columns
        ]
        return html_table(headings, rows, repr(self))


def _text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else value_text(value)


def _column(name: str, values: list) -> Any:
    if name in (NUMBER, *COUNTS) and None not in values:
        return np.array(values, dtype=np.int64)
    if values and all(value is None or _is_number(value) for value in values) and name not in (STATUS, MESSAGE):
        whole = all(isinstance(value, int) for value in values)
        return np.array([np.nan if value is None else value for value in values], dtype=None if whole else float)
    return values


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
