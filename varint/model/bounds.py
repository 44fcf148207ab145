"""Numbers that are finite and yet too large to calculate with: their squares, products or inverses overflow."""

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import FLOAT, array_of
from varint.base.errors import MechanismError, VarintError

LARGEST = 1e50  # of a description, in any unit
LARGEST_MOTION = 1e15  # m, rad, m/s, rad/s: no digits are left for anything else
FARTHEST = 1e9  # pieces along a spline, of the third power of which its pose is


def bounded(values: ArrayLike, label: str, largest: float = LARGEST, error: type[VarintError] = MechanismError) -> None:
    """Raise ``error`` where one of the ``values`` is larger than ``largest``; ``label`` names them."""
    if type(values) is np.ndarray and values.dtype is FLOAT and np.vdot(values, values) < 0.5 * largest * largest:
        return  # the usual case, at once
    size = abs(values) if type(values) is float else float(np.abs(np.asarray(values, dtype=float)).max(initial=0.0))
    if size > largest:
        raise error(f"{label} must be at most {largest:g} in size, got {size:g}")


def divisor(value: float, label: str, error: type[VarintError] = MechanismError) -> float:
    """Return ``value``; raises ``error`` where it or its inverse is too large."""
    bounded(value, label, error=error)
    if abs(value) < 1.0 / LARGEST:
        raise error(f"{label} must be at least {1.0 / LARGEST:g} in size, got {value:g}")
    return value


def bounded_array(value: ArrayLike, shape: tuple, label: str, error: type[VarintError]) -> np.ndarray:
    """Return ``value`` as a float array of ``shape``, of coordinates or velocities within bounds."""
    array = array_of(value, shape, label, error)
    bounded(array, label, LARGEST_MOTION, error)
    return array
