"""The driven coordinate of a sweep and its values, checked."""

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import in_a_shape, known_name, shown, whole_number
from varint.base.errors import ArgumentError
from varint.model.joints.base import Joint
from varint.model.structure import Structure
from varint.step.nodes.driven_path import STEP

MOST_STEPS = 10_000  # between the values asked for


def named_coordinate(structure: Structure, joint: object, asked: str) -> tuple[Joint, int]:
    """Return the joint and the number of its coordinate, by a name or (name, number).

    ``asked``: the purpose, in errors.

    Raises ArgumentError.
    """
    name, number = joint if isinstance(joint, (tuple, list)) and len(joint) == 2 else (joint, None)
    if not isinstance(name, str):
        raise ArgumentError(f"{asked}: name a joint, or write (joint, number of its coordinate), got {shown(joint)}")
    driven = structure.joint(known_name(name, structure.joint_index, f"{asked}: no joint", ArgumentError))
    if number is None and driven.dof != 1:
        raise ArgumentError(
            f"{asked}: {driven.label} has {driven.dof} coordinates"
            + (
                f": write ('{name}', k), k from 0 to {driven.dof - 1}"
                if driven.dof
                else ", none of which is one number"
            )
        )
    number = whole_number(
        0 if number is None else number, f"{asked}: the coordinate of {driven.label}", error=ArgumentError
    )
    if number not in range(driven.dof):
        raise ArgumentError(f"{asked}: {driven.label} has no coordinate {number}, only 0 to {driven.dof - 1}")
    return driven, number


def check_way(start: float, values: np.ndarray, joint: Joint, unit: float) -> None:
    """Check that a path of reasonable length leads through all ``values``; ``unit``: m or rad that count as one."""
    way, most = float(np.abs(np.diff(values, prepend=start)).sum()) / unit, MOST_STEPS * STEP
    if not way <= most:
        raise ArgumentError(
            f"values of the sweep of {joint.label} lead {way:.3g} rad, or sizes of a part, far in all: at most {most:g}"
        )


def checked_values(values: ArrayLike, joint: Joint) -> np.ndarray:
    """Return the values (n,) of a sweep. Raises ArgumentError."""
    label = f"values of the sweep of {joint.label}"
    array = in_a_shape(values, ((None,),), label, ArgumentError, "one row of numbers")
    if not array.size:
        raise ArgumentError(f"{label} must be one row of numbers, got none")
    return array
