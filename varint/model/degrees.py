"""Angles in radians that look like degrees: coordinates of joints, and those that forces have as numbers."""

import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from varint.base.callers import level_of_user
from varint.base.errors import DegreesWarning
from varint.model.forces.along import AlongCoordinate
from varint.model.motion import coordinate_units

if TYPE_CHECKING:
    from varint.model.structure import Structure

RATES = "rate", "speed"  # fields of forces that are rates of a coordinate
ROUND, LEAST, MOST = 15.0, 30.0, 360.0  # rad: who means several turns seldom means these
MOST_RATE = 720.0  # rad/s


def warn_of_degrees(structure: "Structure", coordinates: Mapping[str, ArrayLike]) -> None:
    """Warn of ``coordinates`` by joint that look like degrees."""
    for name, values in coordinates.items():
        joint = structure.joint(name)
        for value, unit in zip(np.ravel(values).tolist(), coordinate_units(joint), strict=True):
            if unit == "rad" and _is_round(value):
                _warn(f"coordinates of {joint.label}", value)


def warn_of_forces_in_degrees(structure: "Structure") -> None:
    """Warn of forces along angles whose `AlongCoordinate.coordinate_fields` look like degrees."""
    for force in structure.forces:
        if not isinstance(force, AlongCoordinate) or not force.coordinate_fields:
            continue
        if coordinate_units(structure.joint(force.joint))[force.coordinate] == "rad":
            for which in force.coordinate_fields:
                value = getattr(force, which)
                if not callable(value) and not np.ndim(value) and _is_round(float(value)):
                    _warn(f"{which} of {force.label}", float(value))


def rates_in_degrees(structure: "Structure") -> Iterator[tuple[str, float]]:
    """Yield rates along angles that look like degrees a second, with their labels: of the start and of forces."""
    for label, value, unit in _rates(structure):
        if unit == "rad" and 0.0 < abs(value) <= MOST_RATE and (value % 60.0 == 0.0 or value % 90.0 == 0.0):
            yield label, value


def _rates(structure: "Structure") -> Iterator[tuple[str, float, str]]:
    """Yield constant rates with their labels, and the units of their coordinates."""
    for name, values in (structure.start.get("rates") or {}).items():
        joint = structure.joint(name)
        for value, unit in zip(np.ravel(values).tolist(), coordinate_units(joint), strict=True):
            yield f"rates of {joint.label} in start", value, unit
    for force in structure.forces:
        if not isinstance(force, AlongCoordinate):
            continue
        for which in RATES:
            rate = getattr(force, which, None)
            if isinstance(rate, float) or (isinstance(rate, np.ndarray) and not rate.ndim):
                unit = coordinate_units(structure.joint(force.joint))[force.coordinate]
                yield f"{which} of {force.label}", float(rate), unit


def _is_round(value: float) -> bool:
    return LEAST <= abs(value) <= MOST and value % ROUND == 0.0


def _warn(label: str, value: float) -> None:
    message = f"{label}: {value:g} rad, {value / (2 * np.pi):.3g} turns, looks like degrees: numpy.radians({value:g})?"
    warnings.warn(message, DegreesWarning, stacklevel=level_of_user())
