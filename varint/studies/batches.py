"""Means and slopes of numbers that depend on those before them, with their standard errors: the method of batches.

Neighbouring values are taken together into batches, until the means of neighbouring batches are independent as far as
can be told (Flyvbjerg and Petersen). A standard error from the scatter of these means holds whatever the dependence
within a batch is. Where even the last few depend on each other, the values may walk, as what round-off adds up to
does: the slope of a walk that goes nowhere is seldom near zero. Its error comes from the changes between batches.
"""

from typing import NamedTuple

import numpy as np
from scipy import stats

MOST = 512  # batches; a power of two, as is
LEAST = 8
FEW = 16  # batches, in which a walk may look independent
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
    t, away : (B,)
        Mean time of each batch, and how far the mean of its values is from ``level``. These are small numbers, so they
        and the slope are known better than to the last digit of the values.
    """

    value: float
    error: float
    interval: np.ndarray
    level: float
    t: np.ndarray
    away: np.ndarray


def fitted(t: np.ndarray, values: np.ndarray, line: bool) -> Fit:
    """The line, or the constant, through ``values`` (T,) at rising ``t`` (T,), T from 8 on."""
    count = min(MOST, 1 << (len(t).bit_length() - 1))
    edges = np.linspace(0, len(t), count + 1).astype(int)
    share = np.diff(edges).astype(float)
    start = float(values[0])
    found, mean = (np.add.reduceat(each, edges[:-1]) / share for each in (t, values - start))
    while True:
        fit, rest = _least_squares(found, mean, share, line, start)
        dependent = abs(rest[1:] @ rest[:-1]) > INDEPENDENT / np.sqrt(len(share)) * (rest @ rest)
        if len(share) <= LEAST or not dependent:
            walks = line and len(share) <= FEW and (dependent or count > FEW)
            return _of_a_walk(fit, rest) if walks else fit
        found, mean = (_in_pairs(share * each) / _in_pairs(share) for each in (found, mean))
        share = _in_pairs(share)


def _least_squares(
    t: np.ndarray, mean: np.ndarray, share: np.ndarray, line: bool, start: float
) -> tuple[Fit, np.ndarray]:
    """The fit to means above ``start`` with weights ``share``, and what it leaves of them."""
    middle = share @ mean / share.sum()
    level, away, time = start + middle, mean - middle, t - share @ t / share.sum()
    spread = share @ time**2 if line else share.sum()
    slope = share @ (time * away) / spread if line else 0.0
    rest = away - slope * time
    free = len(t) - (2 if line else 1)
    error = float(np.sqrt(share @ rest**2 / free / spread))
    value = float(slope if line else level)
    return Fit(value, error, _interval(value, error, free), float(level), t, away), rest


def _of_a_walk(fit: Fit, rest: np.ndarray) -> Fit:
    """The line with the error that it has if the means are a random walk (Durlauf and Phillips 1988), if larger."""
    count, changes = len(rest), np.diff(rest)
    step = (
        np.sqrt(1.5 * (changes @ changes) / (count - 2)) / np.diff(fit.t).mean()
    )  # means change by 2/3 of the variance
    error = max(fit.error, float(step * np.sqrt(1.2 / count)))
    return fit._replace(error=error, interval=_interval(fit.value, error, count - 2))


def _interval(value: float, error: float, free: int) -> np.ndarray:
    return value + stats.t.ppf(0.5 + CONFIDENCE / 2, free) * error * np.array([-1.0, 1.0])


def _in_pairs(values: np.ndarray) -> np.ndarray:
    return values.reshape(-1, 2).sum(axis=1)
