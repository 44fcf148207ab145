"""Sizes that thresholds of gaps and rates stand for."""

from varint.base.numba import njit

SMALL, LARGE = 1e-2, 1e2  # m: parts between these have thresholds in m and m/s; others in proportion to their size


def unit_of_length(length: float) -> float:
    """Return the factor of thresholds in m and m/s for parts of the size ``length``, m."""
    return max(length / LARGE, 1.0) if length > SMALL else length / SMALL


length_unit = njit(unit_of_length)  # the same, for kernels
