"""Record of a reduced run, and the trajectory that is made of it.

Beside the arrays of both formulations, nodes hold ``q``, ``qdot`` and ``chart`` (numbers of charts in `CHARTS`), and
the efforts ``driving`` of prescribed joints; with hard stops or joint friction in place of these the sums of the
impulses, ``stopping_impulse``, ``friction_impulse`` and ``driving_impulse``, and where there are contacts with planes
``ground_impulse``. The layout names the columns.
"""

from collections.abc import Mapping

import numpy as np

from varint.meshes.vertex_record import check_vertices
from varint.methods.reduced.charts import CHARTS
from varint.methods.reduced.contacts import Contacts
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.trajectory import ReducedTrajectory
from varint.results.record import Record

IMPULSES = ("stopping_impulse", "friction_impulse", "driving_impulse")


def layout_of(equations: Equations, contacts: Contacts | None) -> dict:
    """Return the layout of the recorded arrays, see `Record`; ``contacts``: `Contacts` or None."""
    widths = {} if contacts is None else {b.name: b.free.shape[1] for b in contacts.frictions.bearings}
    return {
        "columns": {name: [at.start, at.stop] for name, at in equations.tree.columns.items()},
        "charts": list(equations.tree.charts),
        "moved": {part.force.name: part.drive.name for part in equations.moved if part.drive},
        "driving": _ranges({drive.name: drive.columns.stop - drive.columns.start for drive in equations.drives}),
        "friction": _ranges(widths),
        "ground": _ranges({} if contacts is None else dict.fromkeys(contacts.ground.names, 6)),
        "contacts": contacts is not None,
    }


def trajectory(record: Record) -> ReducedTrajectory:
    """Return the trajectory of a reduced run; raises ValueError if its nodes and layout do not belong together."""
    _check(record)
    check_vertices(record.mechanism, record.nodes)
    return ReducedTrajectory(record)


def _check(record: Record) -> None:
    layout, nodes = record.layout, record.nodes
    arrays = ["q", "qdot", "chart", *(IMPULSES if layout.get("contacts") else ["driving"])]
    if any(name not in nodes or nodes[name].ndim != 2 for name in arrays) or nodes["chart"].dtype != np.int8:
        raise ValueError("its reduced coordinates are missing")
    charts, width = nodes["chart"], nodes["q"].shape[1]
    if charts.size and not (charts.min() >= 0 and charts.max() < len(CHARTS)):
        raise ValueError("it names unknown charts")
    if not _are_names(layout.get("charts")) or len(layout["charts"]) != charts.shape[1]:
        raise ValueError("its layout names other charts")
    driving = nodes["driving_impulse" if layout["contacts"] else "driving"].shape[1]
    friction = nodes["friction_impulse"].shape[1] if layout["contacts"] else 0
    ground = nodes["ground_impulse"].shape[1] if "ground_impulse" in nodes else 0
    wanted = ("columns", width), ("driving", driving), ("friction", friction), ("ground", ground)
    for name, columns in wanted:
        ranges = layout.get(name, {} if name == "ground" else None)  # older files know no such contacts
        if not isinstance(ranges, dict) or not all(_is_range(ends, columns) for ends in ranges.values()):
            raise ValueError(f"its layout has no '{name}'")
    moved = layout.get("moved", {})  # names of forces to names of the joints that they move
    if not isinstance(moved, dict) or not all(name in layout["driving"] for name in moved.values()):
        raise ValueError("its layout has no 'moved'")


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_range(ends: object, width: int) -> bool:
    """Return whether ``ends`` are [first, last + 1] of columns out of ``width``."""
    numbers = isinstance(ends, list) and len(ends) == 2 and all(type(end) is int for end in ends)
    return numbers and 0 <= ends[0] <= ends[1] <= width  # type: ignore[index]


def _ranges(widths: Mapping[str, int]) -> dict[str, list[int]]:
    """Name to [first, last + 1] of columns that follow each other."""
    ends = np.cumsum([0, *widths.values()]).tolist()
    return {name: [first, last] for name, first, last in zip(widths, ends, ends[1:], strict=False)}
