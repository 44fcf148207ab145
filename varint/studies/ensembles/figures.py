"""The figures of a member in the table of an ensemble."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from varint.base.checks import call, check_name, shown
from varint.base.errors import ArgumentError
from varint.kinematics.drift import joint_drift
from varint.results.derived import energy_gap
from varint.results.resolution import find_unresolved
from varint.runs.trajectory import Trajectory
from varint.studies.ensembles.short_members import ShortFigures

DONE, STOPPED, ERROR = "done", "stopped", "error"
FIGURES = {  # column to its unit and meaning
    "t_end": ("s", "time of the last node"),
    "energy_error": ("J", "largest energy that came or went without work"),
    "largest_kinetic": ("J", "largest kinetic energy"),
    "drift": ("m", "how far joints were open at most"),
    "unresolved": ("s", "first node where steps did not resolve the motion"),
    "steps": ("", "steps done"),
    "substeps": ("", "sub-steps beyond one a step"),
    "newton_iterations": ("", "Newton iterations"),
    "wall_time": ("s", "spent stepping"),
}
COUNTS = ("steps", "substeps", "newton_iterations")
NUMBER, STATUS, MESSAGE = "member", "status", "message"
FINGERPRINT, DIGEST = "member_fingerprint", "row_digest"  # of the file alone, last in its lines
RESERVED = (NUMBER, STATUS, *FIGURES, MESSAGE, FINGERPRINT, DIGEST)
Measure = Callable[[Trajectory], Mapping[str, float]]


def row_of(trajectory: Trajectory, measure: Measure | None, parameters: Collection[str]) -> dict[str, Any]:
    """Return the row of a member that ran: status, figures, results of ``measure``, message.

    ``parameters``: names that ``measure`` cannot give. Raises ArgumentError.
    """
    unresolved = find_unresolved(trajectory, trajectory.settings["dt"])
    energy_error, largest_kinetic = energy_gap(trajectory, np.inf)
    row = {
        STATUS: DONE if trajectory.success else STOPPED,
        "t_end": float(trajectory.t[-1]),
        "energy_error": energy_error,
        "largest_kinetic": largest_kinetic,
        "drift": max(map(_largest_drift, trajectory.parts())),
        "unresolved": None if unresolved is None else unresolved.time,
        **{name: getattr(trajectory, name) for name in COUNTS},
        "wall_time": trajectory.wall_time,
    }
    message = trajectory.message if not trajectory.success else "" if unresolved is None else unresolved.message
    return row | measured(trajectory, measure, parameters) | {MESSAGE: message}


def row_of_figures(figures: ShortFigures) -> dict[str, Any]:
    """Return the row of a short member: done and resolved, without a measure."""
    known = figures._asdict()
    return {STATUS: DONE, **{name: known.get(name) for name in FIGURES}, MESSAGE: ""}


def _largest_drift(trajectory: Trajectory) -> float:
    return float(joint_drift(trajectory.mechanism.compiled, trajectory.position, trajectory.quat_wxyz).max())


def measured(trajectory: Trajectory, measure: Measure | None, parameters: Collection[str]) -> dict[str, float]:
    """Return the numbers of the user's function, by name. Raises ArgumentError.

    ``parameters``: names that it may not give.
    """
    if measure is None:
        return {}
    figures = call(measure, "measure, a function of the trajectory", trajectory)
    if not isinstance(figures, Mapping):
        raise ArgumentError(f"measure must give a mapping of names to numbers, got {shown(figures)}")
    checked = {}
    for name, value in figures.items():
        check_name(name, "a number of measure", ArgumentError)
        if name in RESERVED or name in parameters:
            raise ArgumentError(f"measure gives {name!r}, which is another column of the table: rename it")
        try:
            number = np.asarray(value)
            if number.dtype.kind not in "iufb" or number.size != 1:
                raise TypeError("no number")
            checked[name] = float(number.item())
        except Exception as problem:  # whatever the value raises when it is asked for its number
            raise ArgumentError(f"{name!r} of measure must be a number, got {shown(value)}") from problem
    return checked


def error_row(problem: BaseException) -> dict[str, Any]:
    """Return the row of a member that could not be run."""
    notes = getattr(problem, "__notes__", [])
    text = "; ".join([str(problem) or type(problem).__name__, *notes])
    return {STATUS: ERROR, MESSAGE: " ".join(f"{type(problem).__name__}: {text}".split())}
