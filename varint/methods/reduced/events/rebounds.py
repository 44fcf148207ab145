"""Rebounds that are too low to be followed: which limits and contacts stay closed after an impact.

A rebound with the rate u, at an acceleration -a of the gap, rises by u^2 / 2a. One that rises by less than ``rest``
closes. Next to a damper c on a mass m, however, a = (c / m) (u + w), where w is the rate of what the damper drags
towards the limit. Within m / c the rate of the gap becomes one in between, and the limit may open for good although a
is large: such a rebound closes only if u is small against u + w, where the next ones take nothing that counts off w.
"""

from typing import NamedTuple

import numpy as np

SMALL = 0.05  # of u + w
UNSEEN = 0.1  # of the gap that counts as none: what rises by less closes in any case


class GapMotion(NamedTuple):
    """Rates (k,), m/s or rad/s, of gaps, and their accelerations (k,), m/s^2 or rad/s^2."""

    rate: np.ndarray
    acceleration: np.ndarray


def are_low(before: GapMotion, after: GapMotion, rest: np.ndarray, touching: np.ndarray) -> np.ndarray:
    """Return which rebounds (k,) of impacts rise so little that they close.

    ``before``, ``after``: the impacts, without forces of the limits. ``rest`` (k,), m or rad: rises below it close, see
    the module; ``touching`` (k,), m or rad: the gap that counts as none.
    """
    change = after.rate - before.rate
    loss = np.where(change > 0.0, before.acceleration - after.acceleration, 0.0)  # by dampers; c / m times the change
    slope = loss / np.where(change > 0.0, change, 1.0)
    drawn = -after.acceleration
    rises = after.rate**2
    settles = (after.rate * slope <= SMALL * drawn) | (rises <= 2.0 * drawn * UNSEEN * touching)
    return (rises <= 2.0 * drawn * rest) & settles
