"""Folders of ensembles that were changed: the description, the table, the runs and their names.

`load_ensemble` gives the rows as they were written, or names the members whose rows or runs are others, or raises an
error. A resumed ensemble equals one that was never changed, or is refused and leaves the folder as it is.
"""

import contextlib
import io
import json
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np
from ensemble_members import figures, pendulum, quiet
from fuzz import json_files
from fuzz.json_files import Pairs, Raw, misspelt, pick
from fuzz.kinds import Kind, register
from in_process import Here

import varint as vi
from varint.studies.ensembles.ensemble_result import Ensemble, Member

GRIDS = {"e": {"angle": [0.5, 1.0, 1.5]}, "other": {"angle": [0.5, 1.25, 2.0]}}
DESCRIPTION, TABLE, RUNS = "ensemble.json", "results.csv", "runs/000"
CELLS = ("", "0", "1", "2", "-1", "3", "nan", "inf", "1e999", "done", "stopped", "error", "x", "9" * 5000, '"')
Folder = dict[str, bytes]
Change = Callable[[np.random.Generator, Folder], None]
CHANGES: dict[str, Change] = {}


class Case(NamedTuple):
    """``names``: of the changes."""

    names: tuple[str, ...]
    folder: Folder


def two(trajectory: vi.Trajectory) -> dict[str, float]:
    """Two measured numbers, which a table must not mix up."""
    return {"top": trajectory.position[:, -1, 2].max(), "low": trajectory.position[:, -1, 2].min()}


def _run(folder: Path, name: str = "e", **options) -> Ensemble:
    with mock.patch("varint.studies.ensembles.ensemble_run.Processes", Here), contextlib.redirect_stderr(io.StringIO()):
        return quiet(pendulum, GRIDS[name], output=folder, measure=two, **options)


class Original(NamedTuple):
    """An ensemble as it was written. ``rows``: text of each row; ``runs``: bits of the positions of each member."""

    folder: Folder
    table: dict[str, list[str]]
    rows: dict[int, str]
    runs: list[bytes]


@cache
def originals() -> dict[str, Original]:
    with tempfile.TemporaryDirectory() as parent:
        made = {}
        for name in GRIDS:
            folder = Path(parent) / name
            _run(folder, name)
            ensemble = vi.load_ensemble(folder)
            rows = {member.number: _row(member) for member in ensemble}
            runs = [member.trajectory.position.tobytes() for member in ensemble]
            made[name] = Original(_contents(folder), figures(ensemble), rows, runs)
        return made


def _row(member: Member) -> str:
    """Text of the row of a member; the text '1.0' and the numbers 1 and 1.0 are the same in a table."""
    parameters = {name: _as_number(str(value)) for name, value in member.parameters.items()}
    return repr((parameters, member.status, member.figures))


def _as_number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _contents(folder: Path) -> Folder:
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".lock"]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def change(function: Change) -> Change:
    """Decorator: add a change to the registry."""
    CHANGES[function.__name__] = function
    return function


# ---------------------------------------------------------------------------------------------- the table


def _cells(folder: Folder) -> list[list[str]]:
    return [line.split(",") for line in folder.get(TABLE, b"").decode(errors="replace").splitlines()]


def _put_cells(folder: Folder, cells: list[list[str]]) -> None:
    folder[TABLE] = "".join(",".join(line) + "\n" for line in cells).encode(errors="replace")


@change
def cell_changed(rng, folder):
    cells = _cells(folder)
    line = pick(rng, cells) if cells else []
    if line:
        place = int(rng.integers(len(line)))
        other = pick(rng, pick(rng, cells))
        line[place] = pick(rng, [pick(rng, CELLS), misspelt(rng, line[place] or "x"), other, f"{line[place]}1"])
        _put_cells(folder, cells)


@change
def columns_swapped(rng, folder):
    """In the heading alone, or in all lines."""
    cells = _cells(folder)
    if cells and len(cells[0]) > 1:
        one, other = rng.choice(len(cells[0]), 2, replace=False)
        for line in cells[: pick(rng, [1, len(cells)])]:
            if len(line) > max(one, other):
                line[one], line[other] = line[other], line[one]
        _put_cells(folder, cells)


@change
def lines_changed(rng, folder):
    """One left out, two swapped, one repeated, one from the table of another ensemble, one with the next number."""
    cells = _cells(folder)
    if len(cells) < 2:
        return
    i, j = (int(k) for k in rng.integers(len(cells), size=2))
    what = pick(rng, ["leave out", "swap", "repeat", "of another", "renumber"])
    if what == "leave out":
        del cells[i]
    elif what == "swap":
        cells[i], cells[j] = cells[j], cells[i]
    elif what == "repeat":
        cells.insert(i, list(cells[j]))
    elif what == "of another":
        cells[i] = pick(rng, _cells(originals()["other"].folder))
    else:
        cells[i][0], cells[j][0] = cells[j][0], cells[i][0]
    _put_cells(folder, cells)


# --------------------------------------------------------------------------------------------- the description


@change
def description_changed(rng, folder):
    try:
        data = json.loads(folder.get(DESCRIPTION, b""))
        if isinstance(data, dict) and data:
            data = pick(rng, json_files.OF_DATA.values())(rng, data)
    except (ValueError, RecursionError):
        return
    if isinstance(data, dict | list | Pairs | Raw):
        folder[DESCRIPTION] = json_files.written(data).encode(errors="surrogatepass")


@change
def member_changed(rng, folder):
    """The parameters of a member, one more or one less, or two swapped."""
    try:
        members = json.loads(folder[DESCRIPTION])["members"]
        i, j = (int(k) for k in rng.integers(len(members), size=2))
        what = pick(rng, ["value", "swap", "more", "less", "name"])
        if what == "value":
            members[i]["angle"] = pick(rng, [1.75, 1, "1.0", None, True, members[j]["angle"]])
        elif what == "swap":
            members[i], members[j] = members[j], members[i]
        elif what == "more":
            members.insert(i, {"angle": 0.25})
        elif what == "less":
            del members[i]
        else:
            members[i] = {misspelt(rng, "angle"): 1.0}
        data = json.loads(folder[DESCRIPTION]) | {"members": members}
    except (
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        RecursionError,
    ):  # changed before so that it has no such members
        return
    folder[DESCRIPTION] = json.dumps(data).encode()


@change
def file_of_another(rng, folder):
    name = pick(rng, sorted(originals()["other"].folder))
    folder[name] = originals()["other"].folder[name]


# ----------------------------------------------------------------------------------------------------- runs


def _runs(folder: Folder) -> list[str]:
    return [name for name in folder if name.startswith(RUNS)]


@change
def runs_swapped(rng, folder):
    names = _runs(folder)
    if len(names) > 1:
        one, other = rng.choice(names, 2, replace=False)
        folder[one], folder[other] = folder[other], folder[one]


@change
def run_copied(rng, folder):
    """The run of a member in place of that of another one, or of one that there is not."""
    if names := _runs(folder):
        folder[f"{RUNS}/{pick(rng, ['000000', '000001', '000002', '000003', '0'])}.h5"] = folder[pick(rng, names)]


@change
def bytes_changed(rng, folder):
    """Of any file."""
    name = pick(rng, sorted(folder))
    if folder[name]:
        folder[name] = pick(rng, json_files.OF_BYTES.values())(rng, folder[name])


@change
def file_left_out(rng, folder):
    del folder[pick(rng, sorted(folder))]
    folder.setdefault(DESCRIPTION, originals()["e"].folder[DESCRIPTION])


@change
def file_in_another(rng, folder):
    """The content of a file in place of another one."""
    names = sorted(folder)
    folder[pick(rng, names)] = folder[pick(rng, names)]


# ---------------------------------------------------------------------------------------------------- the kind


@register
class EnsembleFolders(Kind):
    """Folders of ensembles."""

    name = "ensemble"
    count = 3_000
    few = 20

    def prepare(self):
        originals()

    def case(self, rng, number, seed):
        folder, names = dict(originals()["e"].folder), []
        for _ in range(int(rng.integers(1, 4))):
            names.append(pick(rng, sorted(CHANGES)))
            CHANGES[names[-1]](rng, folder)
        return Case(tuple(names), folder)

    def check(self, case, folder):
        place = folder / "ensemble"
        try:
            for name, content in case.folder.items():
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                (place / name).write_bytes(content)
            return _loaded(place) or _resumed(place)
        finally:
            shutil.rmtree(place)

    def describe(self, case):
        return ", ".join(case.names)

    def save(self, case, path):
        path.write_text(self.describe(case) + "\n\n" + case.folder.get(TABLE, b"").decode(errors="replace"))


def _loaded(place: Path) -> str | None:
    """What `load_ensemble` gives in silence that this ensemble did not write."""
    before = _contents(place)
    try:
        ensemble = vi.load_ensemble(place)
    except vi.VarintError:
        return None
    finally:
        if _contents(place) != before:
            raise AssertionError("loading changed files")
    for member in ensemble:
        if member.number in ensemble.remarks:
            continue
        row = _row(member)
        known = [original for original in originals().values() if original.rows.get(member.number) == row]
        if not known:  # a description and a table that are both of the other ensemble agree
            return f"row {member.number} was loaded as {row}"
        with contextlib.suppress(vi.VarintError):
            if member.trajectory.position.tobytes() not in [original.runs[member.number] for original in known]:
                return f"the run of member {member.number} was loaded from another one"
    return None


def _resumed(place: Path) -> str | None:
    before, true = _contents(place), originals()["e"]
    try:
        ensemble = _run(place, resume=True)
    except vi.VarintError:
        return None if _contents(place) == before else "an ensemble that was refused changed files"
    if figures(ensemble) != true.table:
        return "the table of the resumed ensemble is another"
    if [member.trajectory.position.tobytes() for member in ensemble] != true.runs:
        return "a run of the resumed ensemble is another"
    if vi.load_ensemble(place).remarks:
        return "the resumed ensemble has remarks"
    return None
