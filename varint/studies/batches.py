"""Means and slopes of numbers that depend on those before them, with their standard errors: the method of batches.

Neighbouring values are taken together into batches, until the means of neighbouring batches are independent as far as
can be told (Flyvbjerg and Petersen). A standard error from the scatter of these means holds whatever the dependence
within a batch is.
"""

from typing import NamedTuple

import numpy as np
from scipy import stats

MOST = 512  # batches; a power of two, as is
LEAST = 8
INDEPENDENT = 0.5  # over the root of the number of batches: correlation of neighbouring means that is none
CONFIDENCE = 0.95


class Fit(NamedTuple):
    """A constant or a line through the means of batches.

    value : float
        The constant, or the slope of the line.
    error : float
        Its standard error.
    interval : (2,)
        Where the true value lies with a probability of 95 %, by Student's distribution.
    level : float
        Of the line at the mean of ``t``; the constant.
    t, mean : (B,)
        Means of times and values of each batch.
    """

    value: float
    error: float
    interval: np.ndarray
    level: float
    t: np.ndarray
    mean: np.ndarray


def fitted(t: np.ndarray, values: np.ndarray, line: bool) -> Fit:
    """The line, or the constant, through ``values`` (T,) at rising ``t`` (T,), T from 8 on."""
    count = min(MOST, 1 << (len(t).bit_length() - 1))
    edges = np.linspace(0, len(t), count + 1).astype(int)
    share = np.diff(edges).astype(float)
    found, mean = (np.add.reduceat(each, edges[:-1]) / share for each in (t, values))
    while True:
        fit, rest = _least_squares(found, mean, share, line)
        size = rest @ rest
        if len(share) <= LEAST or abs(rest[1:] @ rest[:-1]) <= INDEPENDENT / np.sqrt(len(share)) * size:
            return fit
        found, mean = (_in_pairs(share * each) / _in_pairs(share) for each in (found, mean))
        share = _in_pairs(share)


def _least_squares(t: np.ndarray, mean: np.ndarray, share: np.ndarray, line: bool) -> tuple[Fit, np.ndarray]:
    """The fit to means with weights ``share``, and what it leaves of them."""
    level, away = share @ mean / share.sum(), t - share @ t / share.sum()
    spread = share @ away**2 if line else share.sum()
    slope = share @ (away * mean) / spread if line else 0.0
    rest = mean - level - slope * away
    free = len(t) - (2 if line else 1)
    error = float(np.sqrt(share @ rest**2 / free / spread))
    value = float(slope if line else level)
    reach = stats.t.ppf(0.5 + CONFIDENCE / 2, free) * error
    return Fit(value, error, value + reach * np.array([-1.0, 1.0]), float(level), t, mean), rest


def _in_pairs(values: np.ndarray) -> np.ndarray:
    return values.reshape(-1, 2).sum(axis=1)
