"""Trajectories as tables: CSV files, DataFrames of pandas, Datasets of xarray."""

import csv
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from varint.base.atomic_writes import written_whole
from varint.base.checks import array_of, known_name
from varint.base.distribution import install_command
from varint.base.errors import ArgumentError
from varint.base.paths import path_of
from varint.base.printable import printable
from varint.mechanism.mechanism import Mechanism
from varint.results.table_columns import GROUPS, MAGNITUDES, QUATERNION, XYZ, Column, columns

if TYPE_CHECKING:
    import pandas
    import xarray

    from varint.results.recorded_motion import RecordedMotion

DEFAULT = ("coordinates", "rates", "position", "quat_wxyz", "velocity", "angular_velocity", "energy")
TIME = "t"
Chosen = str | tuple[str, Any]  # a group of columns, or a body and a point of it
ROWS = 1000  # written at once
OF_SOME = (
    "contact_force",
    "penetration",
    "length",
    "length_rate",
    "law_state",
)  # groups that some forces have no columns of, some several


def chosen_columns(trajectory: "RecordedMotion", groups: Sequence[Chosen]) -> list[Column]:
    """Return the time, then the columns of the ``groups``, by default of `DEFAULT`, or of points of bodies."""
    chosen = [Column(TIME, "s", trajectory.t)]
    for group in groups or DEFAULT:
        pair = isinstance(group, tuple) and len(group) == 2
        chosen += _point_columns(trajectory, *group) if pair else columns(trajectory, group)  # type: ignore[arg-type]
    return chosen


def _point_columns(trajectory: "RecordedMotion", body: str, place: Any) -> Iterator[Column]:
    """Yield the position and velocity of a point of ``body``: a joint by its name, or (3,), m, in the reference.

    Raises ArgumentError for unknown names, and for a joint that is not on the body.
    """
    mechanism = trajectory.mechanism
    known_name(body, mechanism.body_index, "points: no body", ArgumentError)
    if isinstance(place, str):
        joint = mechanism.joints[mechanism.joint_index[_joint_on(mechanism, body, place)]]
        point, label = mechanism.anchors(joint)[0 if joint.body_a == body else 1], place
    else:
        point = array_of(place, (3,), f"the point of body '{body}'", ArgumentError)
        label = f"({' '.join(f'{value:g}' for value in point)})"
    path = trajectory.path(body, point)
    for letter, unit, values in (("", "m", path.position), ("v", "m/s", path.velocity)):
        yield from (Column(f"{body} at {label} {letter}{axis}", unit, values[:, k]) for k, axis in enumerate(XYZ))


def _joint_on(mechanism: Mechanism, body: str, name: str) -> str:
    """Return the name of a joint of ``body``. Raises ArgumentError."""
    names = [joint.name for joint in mechanism.joints if body in (joint.body_a, joint.body_b)]
    return known_name(name, names, f"points: no joint of body '{body}'", ArgumentError)


def to_csv(trajectory: "RecordedMotion", path: str | Path, groups: Sequence[Chosen]) -> None:
    """Write a table, see `Trajectory.to_csv`."""
    path = Path(path_of(path))
    if path.suffix.lower() != ".csv":
        raise ArgumentError(f"tables are CSV files: '{path}' must end in .csv")
    chosen = chosen_columns(trajectory, groups)
    with written_whole(path) as fresh, open(fresh, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([printable(column.heading) for column in chosen])
        for first in range(0, len(trajectory), ROWS):
            writer.writerows(np.column_stack([column.values[first : first + ROWS] for column in chosen]).tolist())


def to_dataframe(trajectory: "RecordedMotion", groups: Sequence[Chosen]) -> "pandas.DataFrame":
    """Return a DataFrame, see `Trajectory.to_dataframe`."""
    pandas = optional("pandas")
    time, *others = chosen_columns(trajectory, groups)
    table = pandas.DataFrame(
        np.column_stack([column.values for column in others]) if others else None,
        index=pandas.Index(time.values, name=time.heading),
        columns=[column.name for column in others],
    )
    table.attrs["units"] = {column.name: column.unit for column in others}
    return table


def to_xarray(trajectory: "RecordedMotion", groups: Sequence[str]) -> "xarray.Dataset":
    """Return a Dataset, see `Trajectory.to_xarray`."""
    xarray = optional("xarray")
    variables = {group: _variable(trajectory, group) for group in groups or DEFAULT}
    labels = {"time": ("time", trajectory.t, {"units": "s"})}
    return xarray.Dataset(variables, labels, {"mechanism": trajectory.mechanism.name}).assign_coords(
        {name: label for group in variables for name, label in _labels(trajectory, group).items()}
    )


def _variable(trajectory: "RecordedMotion", group: str) -> tuple[tuple[str, ...], np.ndarray, dict[str, str]]:
    """Return dimensions, values and attributes of a variable of a Dataset."""
    listed = columns(trajectory, group)
    sizes = [len(label) for label in _labels(trajectory, group).values()]
    values = np.column_stack([column.values for column in listed]) if listed else np.zeros((len(trajectory), 0))
    units = "; ".join(dict.fromkeys(column.unit for column in listed))
    about = {"units": units, "long_name": GROUPS[group].what}
    return ("time", *_labels(trajectory, group)), values.reshape(len(trajectory), *sizes), about


def _labels(trajectory: "RecordedMotion", name: str) -> dict[str, list[str]]:
    """Return the dimensions of a group beside the time, by name to labels."""
    group = GROUPS[name]
    if group.parts:
        parts = {XYZ: "axis", QUATERNION: "quaternion", MAGNITUDES: "magnitude"}.get(group.parts, "wrench")
        return {group.of: group.names(trajectory), parts: list(group.parts)}
    listed = columns(trajectory, name)
    if name in OF_SOME:
        return {f"{name}_of": [column.name for column in listed]}
    if group.of == "forces":
        return {group.of: group.names(trajectory)}
    if group.of == "joints":
        return {"coordinate": [column.name for column in columns(trajectory, "coordinates")]}
    return {"axis": list(XYZ)} if len(listed) > 1 else {}


def optional(name: str, extra: str = "tables") -> ModuleType:
    """Import an optional package. Raises ArgumentError with the ``extra`` of varint that installs it."""
    try:
        return import_module(name)
    except ImportError:
        raise ArgumentError(f"this needs the package {name}: {install_command(extra)}") from None
