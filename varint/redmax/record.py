"""What is recorded of a reduced run, and the trajectory that is made of it.

Beside what both formulations record, nodes hold ``q``, ``qdot`` and ``chart`` (numbers of charts in
`CHARTS`), and the efforts ``driving`` of prescribed joints; with hard stops or joint friction in place of these the
sums of the impulses, ``stopping_impulse``, ``friction_impulse`` and ``driving_impulse``. The layout names the columns.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from varint.io.record import Record
from varint.redmax.charts import EXPONENTIAL, ORDERS
from varint.redmax.contacts import Contacts
from varint.redmax.equations import Equations
from varint.redmax.trajectory import ReducedTrajectory, mean_rates

CHARTS = (EXPONENTIAL, *ORDERS)


def layout_of(equations: Equations, contacts: Contacts | None) -> dict:
    """See `Record`; ``contacts``: `Contacts` or None."""
    widths = {} if contacts is None else {b.name: b.free.shape[1] for b in contacts.frictions.bearings}
    return {
        "columns": {name: [own.start, own.stop] for name, own in equations.tree.columns.items()},
        "charts": list(equations.tree.charts),
        "driving": _ranges({drive.name: drive.columns.stop - drive.columns.start for drive in equations.drives}),
        "friction": _ranges(widths),
        "contacts": contacts is not None,
    }


def trajectory(record: Record) -> ReducedTrajectory:
    """The trajectory of a reduced run."""
    layout, nodes, t = record.layout, record.nodes, record.nodes["t"]
    if layout["contacts"]:
        stopping, friction, driving = (
            mean_rates(nodes[f"{name}_impulse"], t) for name in ("stopping", "friction", "driving")
        )
    else:
        stopping, friction, driving = np.zeros_like(nodes["work"]), np.zeros((len(t), 0)), nodes["driving"]
    charts = np.array(CHARTS)[nodes["chart"]]
    return ReducedTrajectory(
        **record.common(),
        q=nodes["q"],
        qdot=nodes["qdot"],
        columns={name: slice(*ends) for name, ends in layout["columns"].items()},
        evaluations=record.counts.evaluations,
        driving=_parts(driving, layout["driving"]),
        charts={name: charts[:, k] for k, name in enumerate(layout["charts"])},
        stopping=stopping,
        friction=_parts(friction, layout["friction"]),
    )


def _ranges(widths: Mapping[str, int]) -> dict[str, list[int]]:
    """Name to [first, last + 1] of columns that follow each other."""
    ends = np.cumsum([0, *widths.values()]).tolist()
    return {name: [first, last] for name, first, last in zip(widths, ends, ends[1:], strict=False)}


def _parts(columns: np.ndarray, ranges: Mapping[str, Sequence[int]]) -> dict[str, np.ndarray]:
    return {name: columns[:, first:last] for name, (first, last) in ranges.items()}
