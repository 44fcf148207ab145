"""`show`: several runs in one page, on one time axis."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from varint.base.checks import of_type, sequence_of
from varint.base.errors import ArgumentError
from varint.results.recorded_motion import RecordedMotion
from varint.results.stiff_damping import OF_WHOLE, has_means
from varint.views.page import FRAMES, Page, check_page, checked_frames, page_data, page_text, stride
from varint.views.web_frames import frames_data

OF_OTHERS = ("bodies", "strands", "skins", "curves", "joints")  # parts of the page's data that other runs have too


def show(
    *runs: RecordedMotion,
    names: Sequence[str] | None = None,
    path: str | Path | None = None,
    frames: int = FRAMES,
    trace: object = None,
    plane: str | None = None,
) -> Page:
    """Return a page that overlays several runs on one time axis; a notebook shows it inline.

    The first run is drawn as by `Trajectory.view`, with all that the page can show. The others are translucent, each in
    a colour of its own, and their curves dashed, beside those of the same names. A run that ends earlier stays at its
    end. ``names``: of the runs, for the legend; by default those of the mechanisms, numbered if they are the same.
    ``path``, ``frames`` of each run, ``trace`` and ``plane``: see `Trajectory.view`. Raises ArgumentError, FileError.
    """
    if not runs:
        raise ArgumentError("show() needs a trajectory, or several")
    for run in runs:
        of_type(run, RecordedMotion, "a run of show()", ArgumentError)
    most, legend = checked_frames(frames), _names(runs, names)
    if path is not None:
        check_page(path)
    chosen = [_thinned(run, stride(len(run), most)) for run in runs]
    first, *others = chosen
    data = page_data(first.mechanism, first, trace, plane) | {"frames": frames_data(first), "name": legend[0]}
    data["others"] = [_other(run, name) for run, name in zip(others, legend[1:], strict=True)]
    for name, run, options in zip(legend, runs, chosen, strict=True):
        whose = f"{name}: " if others else ""
        if len(options) < len(run):
            data["notes"] += [f"{whose}{len(options)} of {len(run)} recorded nodes, taken evenly"]
        if not run.success:
            data["notes"] += [f"{whose}{run.message}"]
    page = Page(first.mechanism.name, page_text(data), len(first), len(runs[0]))
    if path is not None:
        page.save(path)
    return page


def _thinned(run: RecordedMotion, every: int) -> RecordedMotion:
    """Return each ``every``-th node of a run, with the forces of the whole run where they are means over steps."""
    part = run[::every]
    if every > 1 and has_means(run):
        whole = run.forces_along
        at_nodes = {name: values[::every] for name, values in whole._asdict().items() if name != "turns"}
        vars(part).update({"forces_along": whole._replace(**at_nodes), OF_WHOLE: True})
    return part


def _other(run: RecordedMotion, name: str) -> dict[str, Any]:
    data = page_data(run.mechanism, run, None, None)
    return {"name": name, "frames": frames_data(run)} | {part: data[part] for part in OF_OTHERS}


def _names(runs: Sequence[RecordedMotion], names: Sequence[str] | None) -> list[str]:
    if names is None:
        default_names = [run.mechanism.name for run in runs]
        return (
            default_names
            if len(set(default_names)) == len(default_names)
            else [f"{name}, run {k + 1}" for k, name in enumerate(default_names)]
        )
    listed = list(sequence_of(names, "names", "texts", ArgumentError))
    for name in listed:
        of_type(name, str, "a name of a run", ArgumentError)
    if len(listed) != len(runs):
        raise ArgumentError(f"give a name for each of the {len(runs)} runs, not {len(listed)}")
    return listed
