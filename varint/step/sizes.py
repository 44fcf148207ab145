"""Scaling of thresholds of gaps and rates, in m and m/s, with the size of the parts."""

from varint.base.numba import njit

SMALL, LARGE = 1e-2, 1e2  # m: parts between these have thresholds in m and m/s; others in proportion to their size


def unit_of_length(length: float) -> float:
    """Return the factor of thresholds in m and m/s for parts of the size ``length``, m: 1 from SMALL to LARGE."""
    return max(length / LARGE, 1.0) if length > SMALL else length / SMALL


_unit_of_length = njit(unit_of_length)


@njit
def length_unit(plan):
    """Return `unit_of_length` of the parts of a plan."""
    return _unit_of_length(plan.bodies.length[0])
