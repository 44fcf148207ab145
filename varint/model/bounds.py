"""Numbers that are finite and yet too large to calculate with: their squares and products overflow."""

import numpy as np
from numpy.typing import ArrayLike

from varint.errors import MechanismError, VarintError

LARGEST = 1e50  # of a description, in any unit


def bounded(values: ArrayLike, what: str, largest: float = LARGEST, error: type[VarintError] = MechanismError) -> None:
    """Raise ``error`` where one of the ``values`` is larger than ``largest``; ``what`` names them."""
    size = float(np.abs(np.asarray(values, dtype=float)).max(initial=0.0))
    if size > largest:
        raise error(f"{what} must be at most {largest:g} in size, got {size:g}")
