"""The nearest inertia that a body can have, for those of files that no body has."""

from itertools import pairwise

import numpy as np

from varint.base.display import numbers_text

SLENDER = 1e-4  # least moment over the largest: of a rod with a radius of 0.4 % of its length
SMALL_BALL = 0.4e-6  # m^2: moment over mass of a ball with a radius of 1 mm
POINT = 0.4e-12  # m^2: the same of 1 um, below which a body of a file is a point mass


def nearest_inertia(inertia: np.ndarray, mass: float) -> np.ndarray | None:
    """Return the nearest inertia (3, 3), kg m^2, in the Frobenius norm, that a body of this mass, kg, can have.

    Principal moments are in reach if none exceeds the sum of the other two, and none is below `SLENDER` of the largest
    one of the given inertia. This set is convex and treats the axes alike: the nearest matrix has the same principal
    axes, and the nearest moments. A point mass, with moments of zero, negative, or below those of a ball with a radius
    of 1 um, gets the moments of a ball with a radius of 1 mm. None if the inertia is not finite, or in reach already.
    """
    if not np.isfinite(inertia).all():
        return None
    moments, axes = np.linalg.eigh(0.5 * (inertia + inertia.T))
    if moments[2] <= POINT * mass:
        return SMALL_BALL * mass * np.eye(3)
    repaired = _nearest_moments(moments, SLENDER * moments[2])
    if np.array_equal(repaired, moments):
        return None
    result = (axes * repaired) @ axes.T
    return 0.5 * (result + result.T)


def repair_text(label: str, inertia: np.ndarray, nearest: np.ndarray, mass: float) -> str:
    """Return the change of an inertia, for the report; ``label`` names its body."""
    before, after = (np.linalg.eigvalsh(one) for one in (inertia, nearest))
    if before[2] <= POINT * mass:
        change = ", those of a ball with a radius of 1 mm"
    else:
        share = np.linalg.norm(nearest - inertia) / np.linalg.norm(inertia)
        change = f", by {100.0 * share:.2g} % of their norm"
    return (
        f"{label}: no body has the principal moments of inertia {numbers_text(before)} kg m^2: changed to"
        f" {numbers_text(after)}{change}"
    )


def _nearest_moments(moments: np.ndarray, least: float) -> np.ndarray:
    """Return the nearest (3,) to ascending moments, each at least ``least``, the last at most the sum of the others.

    The nearest point is the nearest one in reach of those where a choice of these bounds holds with equality.
    """
    a, b, c = moments
    third = (c - a - b) / 3.0
    middle = max(0.5 * (b + c - least), least)
    candidates = [
        np.array(one)
        for one in (
            (a, b, c),
            (a + third, b + third, c - third),
            (least, b, c),
            (least, middle, middle + least),
            (least, least, c),
            (least, least, 2.0 * least),
        )
    ]
    size = max(abs(c), least)
    in_reach = [
        one
        for one in candidates
        if one[0] >= least - 1e-15 * size
        and one[2] <= one[0] + one[1] + 1e-15 * size
        and all(low <= high + 1e-15 * size for low, high in pairwise(one))
    ]
    return min(in_reach, key=lambda one: float(np.sum((one - moments) ** 2)))
