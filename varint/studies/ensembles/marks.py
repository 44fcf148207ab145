"""Which run and which row of a folder are a member's: by digests of its source and arguments, and by the versions."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from varint.base.errors import FileError
from varint.files.runs.contents import UNFINISHED
from varint.files.runs.made_with import MADE_WITH, MEMBER, last_made_with, made_with, other
from varint.files.runs.reader import open_head
from varint.studies.ensembles.figures import ERROR, STATUS
from varint.studies.ensembles.origin import digest_of
from varint.studies.ensembles.table import MemberTable

if TYPE_CHECKING:
    from varint.studies.ensembles.work import MemberTask

RUNS_IN_A_FOLDER = 1000
MOST_NAMED = 5  # members in a message
UNKNOWN = "its run does not record which version and which sources made it"
FOREIGN = "its file holds a run that this ensemble did not write"
CHANGED = "its row in the table was changed since it was written"
NOT_FINISHED = "its run is not finished, although it has a row in the table"
OTHER_ARGUMENTS = "its file holds a run with other arguments"


def run_path(folder: Path, number: int) -> Path:
    """Return the path of the run of a member."""
    return folder / "runs" / f"{number // RUNS_IN_A_FOLDER:03d}" / f"{number:06d}.h5"


def entry_of(task: "MemberTask", parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return the entry of a member in its run: digests of its arguments, and of the source of its mechanism."""
    return {"arguments": _arguments_digest(task.described(), parameters), "source": task.origin}


def _arguments_digest(described: Mapping[str, Any], parameters: Mapping[str, Any]) -> str:
    return digest_of([{name: value for name, value in described.items() if name != "measure"}, parameters])


def check_run(
    path: Path, settings: Mapping[str, Any], described: Mapping[str, Any], parameters: Mapping[str, Any]
) -> None:
    """Raise FileError where the run at ``path``, with ``settings``, records that it is not the run of this member.

    ``described``: the description of the ensemble. Runs of older versions record nothing, and pass.
    """
    entry = settings.get(MEMBER)
    if not isinstance(entry, dict):
        reason = FOREIGN if MADE_WITH in settings else ""
    else:
        reason = "" if entry.get("arguments") == _arguments_digest(described, parameters) else OTHER_ARGUMENTS
    if reason:
        raise FileError(f"'{path}' is not the run of this member: {reason}. resume=True runs the member again")


def row_mark(task: "MemberTask", parameters: Mapping[str, Any]) -> str:
    """Return the fingerprint of a member in the table: of the entry of its run, ``measure`` and the version."""
    return digest_of([entry_of(task, parameters), task.measured, made_with(None)["varint"]])


def run_misfit(task: "MemberTask", parameters: Mapping[str, Any], path: Path) -> str:
    """Return in words why the run at ``path`` is not one to keep or to go on with; empty where it is."""
    return _judged(task, parameters, path)[0]


def _judged(task: "MemberTask", parameters: Mapping[str, Any], path: Path) -> tuple[str, bool]:
    """See `run_misfit`; and whether the run has ended."""
    try:
        with open_head(path) as run:
            settings, ended = run.settings, run.status != UNFINISHED
    except FileError as problem:
        return str(problem), False
    return _settings_misfit(task, parameters, settings, ended), ended


def _settings_misfit(task: "MemberTask", parameters: Mapping[str, Any], settings: dict, ended: bool) -> str:
    here, there, entry = made_with(None), last_made_with(settings), settings.get(MEMBER)
    if not isinstance(entry, dict):
        unknown = MADE_WITH not in settings
        return ("" if task.lenient else UNKNOWN) if unknown else FOREIGN
    expected = entry_of(task, parameters)
    if entry.get("arguments") != expected["arguments"]:
        return OTHER_ARGUMENTS
    if there is None or there.get("varint") != here["varint"]:
        made = "another version" if there is None else f"varint {there.get('varint')}"
        return "" if task.lenient else f"{made} made its run, here is {here['varint']}"
    if entry.get("source") != expected["source"]:
        versions = [str(source).rpartition(" ")[0] for source in (entry.get("source"), expected["source"])]
        if versions[0] == versions[1]:
            return "build, or a value or function that it reads, was changed since its run was made"
        if not task.lenient:
            return (
                f"{versions[0]} compiled the build of its run, here is {versions[1]}: whether they agree is not known"
            )
    if ended or task.lenient:
        return ""
    return other({MADE_WITH: {name: there.get(name) for name in here}}, here)


def take_out_misfits(task: "MemberTask", members: Sequence[Mapping[str, Any]], table: MemberTable) -> dict[int, str]:
    """Take the rows out of ``table`` whose members are done anew; return the reasons by number, where there was a run.

    Raises FileError if runs have no record of their origin, unless such runs are accepted.
    """
    assert task.folder is not None
    misfits: dict[int, str] = {}
    taken_out: list[int] = []
    for number, parameters in enumerate(members):
        path, row = run_path(task.folder, number), table.rows.get(number)
        reason = ""
        if path.exists():
            reason, ended = _judged(task, parameters, path)
            if not reason and row is not None and row[STATUS] != ERROR:
                reason = _row_misfit(task, parameters, table, number) if ended else NOT_FINISHED
        elif row is not None and row[STATUS] != ERROR:
            reason = "its run is missing"
        if reason:
            misfits[number] = reason
        if row is not None and (reason or row[STATUS] == ERROR or _is_stale(task, parameters, table, number)):
            taken_out.append(number)
    table.take_out(taken_out)
    _refuse_unknown(task.folder, misfits)
    numbers = {entry_of(task, parameters)["arguments"]: number for number, parameters in enumerate(members) if misfits}
    for number, reason in misfits.items():
        if reason == OTHER_ARGUMENTS and (owner := _owner(run_path(task.folder, number), numbers)) is not None:
            misfits[number] = f"its file holds the run of member {owner}"
    return misfits


def _row_misfit(task: "MemberTask", parameters: Mapping[str, Any], table: MemberTable, number: int) -> str:
    if number in table.changed:
        return CHANGED
    if _is_stale(task, parameters, table, number) and not task.lenient:
        return "measure, or a value or function that it reads, was changed since its row was written"
    return ""


def _is_stale(task: "MemberTask", parameters: Mapping[str, Any], table: MemberTable, number: int) -> bool:
    """Return whether a row is to be worked out anew from its run."""
    return table.marks.get(number) != row_mark(task, parameters)


def _refuse_unknown(folder: Path, misfits: Mapping[int, str]) -> None:
    unknown = [number for number, reason in misfits.items() if reason == UNKNOWN]
    if unknown:
        raise FileError(
            f"'{folder}' was written by a version that did not record what made its runs: of {len(unknown)} members,"
            f" {unknown[0]} the first, version and sources are not known. resume='any' takes them as they are;"
            " overwrite=True begins anew"
        )


def _owner(path: Path, numbers: Mapping[str, int]) -> int | None:
    with open_head(path) as run:
        return numbers.get(run.settings[MEMBER].get("arguments"))


def text_of(folder: Path, misfits: Mapping[int, str], members: int) -> str:
    """Return a line that names the members that are done anew, with the reasons."""
    named = [f"member {number}: {reason}" for number, reason in list(misfits.items())[:MOST_NAMED]]
    more = [f"... {len(misfits) - MOST_NAMED} more"] if len(misfits) > MOST_NAMED else []
    return f"{len(misfits)} of {members} members of '{folder}' are done anew: {'; '.join([*named, *more])}"
