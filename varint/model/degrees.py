"""Angles in radians that look like degrees: coordinates of joints, and those that forces have as numbers."""

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from varint.base.callers import level_of_user
from varint.base.errors import DegreesWarning
from varint.model.forces.along import AlongCoordinate
from varint.model.motion import coordinate_units

if TYPE_CHECKING:
    from varint.model.structure import Structure

ROUND, LEAST, MOST = 15.0, 30.0, 360.0  # rad: who means several turns seldom means these


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
                if _is_round(getattr(force, which)):
                    _warn(f"{which} of {force.label}", getattr(force, which))


def _is_round(value: float) -> bool:
    return LEAST <= abs(value) <= MOST and value % ROUND == 0.0


def _warn(label: str, value: float) -> None:
    message = f"{label}: {value:g} rad, {value / (2 * np.pi):.3g} turns, looks like degrees: numpy.radians({value:g})?"
    warnings.warn(message, DegreesWarning, stacklevel=level_of_user())
