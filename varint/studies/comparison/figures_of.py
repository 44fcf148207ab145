"""The numbers of a comparison, for other programs to read."""

import importlib.metadata
import math
import platform
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

import varint
from varint.base.errors import MechanismError
from varint.files.own.mechanism_data import to_data
from varint.mechanism.mechanism import Mechanism

if TYPE_CHECKING:
    from varint.studies.comparison.comparison_result import Comparison
    from varint.studies.comparison.series import Series


PACKAGES = ("numpy", "scipy", "numba")
STATE = ("position", "quat_wxyz", "velocity", "angular_velocity")


def versions() -> dict[str, str]:
    """Return the versions of varint, of the packages that take part and of Python, and the kind of machine."""
    packages = {name: importlib.metadata.version(name) for name in PACKAGES}
    return {
        "varint": varint.__version__,
        **packages,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
    }


def numbers(comparison: "Comparison") -> dict:
    """Return the numbers of the tables, in full precision, in types of JSON; None for missing ones."""
    reference = comparison.reference
    return {
        "mechanism": _description(comparison.mechanism),
        "start": {name: getattr(reference, name)[0].tolist() for name in STATE},
        "settings": asdict(comparison.settings),
        "versions": versions(),
        "units": {"length": "m", "angle": "rad", "time": "s", "energy": "J"},
        "reference": {
            "error": {name: float(value) for name, value in comparison.reference_error._asdict().items()},
            "energy_error": _largest(reference.energy_balance),
            "drift": _largest(reference.drift),
            "largest_kinetic_energy": _largest(reference.kinetic),
            "evaluations": reference.evaluations,
            "wall_time": reference.wall_time,
        },
        "series": [_series(series) for series in comparison.series],
        "peers": [line._asdict() for line in comparison.peer_lines],
    }


def _description(mechanism: Mechanism) -> dict:
    try:
        return to_data(mechanism)
    except MechanismError:  # commands that are functions
        return {"name": mechanism.name}


def _series(series: "Series") -> dict:
    error, runs = series.error, []
    for k, run in enumerate(series.runs):
        runs.append(
            {
                series.parameter: float(series.values[k]),
                "error": {name: number_or_none(values[k]) for name, values in error._asdict().items()},
                "fitted": {name: bool(use[k]) for name, use in series.fitted._asdict().items()},
                "energy_error": _largest(run.energy_balance),
                "drift": _largest(run.drift),
                "apart_from": number_or_none(series.apart[k]),
                "steps": run.steps,
                "substeps": run.substeps,
                "evaluations": int(series.evaluations[k]),
                "wall_time": float(series.wall_time[k]),
                "message": run.message,
            }
        )
    order = {name: number_or_none(value) for name, value in series.order._asdict().items()}
    return {"name": series.name, "order": order, "runs": runs}


def _largest(values: np.ndarray) -> float:
    return float(abs(values).max())


def number_or_none(value: float) -> float | None:
    """Return the number, or None for NaN."""
    return None if math.isnan(value) else float(value)
