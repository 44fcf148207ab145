"""Initial values of a motion: coordinates and rates of joints, poses and velocities of bodies."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from varint.base.checks import by_name, is_alone, unit_quaternion
from varint.base.errors import VarintError
from varint.model.bounds import bounded_array

if TYPE_CHECKING:
    from varint.model.structure import Structure


OF_JOINTS = ("coordinates", "rates")
OF_BODIES = {"position": 3, "quat_wxyz": 4, "velocity": 3, "angular_velocity": 3}  # by their sizes
MOTION_KEYS = (*OF_JOINTS, *OF_BODIES)


def check_start(structure: "Structure", start: Mapping, label: str, error: type[VarintError]) -> None:
    """Raise ``error`` if a start names an unknown part, or has no numbers of its shape; ``label`` names it."""
    for key, values in start.items():
        if key in OF_JOINTS:
            of_joints(structure, values, key, error, f"{label}: ")
        else:
            of_bodies(structure, values, key, error, f"{label}: ")


def of_joints(
    structure: "Structure", values: object, key: str, error: type[VarintError], prefix: str = ""
) -> dict[str, np.ndarray]:
    """Return the coordinates or rates (dof,) of joints by name."""
    checked = {}
    for name, value in by_name(values, structure.joint_index, f"{prefix}{key}", "joint", error).items():
        joint = structure.joint(name)
        numbers = [value] if is_alone(value) else value
        checked[name] = bounded_array(numbers, (joint.dof,), f"{prefix}{key} of {joint.label}", error)
    return checked


def of_bodies(
    structure: "Structure", values: object, key: str, error: type[VarintError], prefix: str = ""
) -> dict[int, np.ndarray]:
    """Return the values of ``key`` by body number."""
    checked = {}
    for name, value in by_name(values, structure.body_index, f"{prefix}{key}", "body", error).items():
        label, size = f"{prefix}{key} of body '{name}'", OF_BODIES[key]
        array = unit_quaternion(value, label, error) if size == 4 else bounded_array(value, (size,), label, error)
        checked[structure.body_index[name]] = array
    return checked
