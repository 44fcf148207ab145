"""Means and slopes of correlated numbers, with their standard errors: the method of batches.

Neighbouring values are taken together into batches, until the means of neighbouring batches are independent as far as
can be judged (Flyvbjerg and Petersen). A standard error from the scatter of these means holds whatever the dependence
within a batch is. Where only few batches are left, the values may be a random walk, as the sum of round-off is. The
line through such a walk has a slope though it has no drift. The error of the slope then comes from the changes between
batches.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import stats

MOST = 512  # batches, as LEAST a power of two
LEAST = 8  # batches
FEW = 16  # batches; this number or fewer of a random walk may look independent
INDEPENDENT = 0.5  # means of n batches are independent if neighbours correlate by less than this over the root of n
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
        Mean time of each batch, and mean of its values less ``level``.
    """

    value: float
    error: float
    interval: np.ndarray
    level: float
    t: np.ndarray
    away: np.ndarray


def fitted(t: np.ndarray, values: np.ndarray, line: bool) -> Fit:
    """Return the line, or the constant, through ``values`` (T,) at rising ``t`` (T,), T at least `LEAST`."""
    levels = list(_levels(t, values, line))
    dependent = [_is_dependent(level) for level in levels]
    chosen = dependent.index(False) if False in dependent else len(levels) - 1
    fit, rest, share = levels[chosen]
    walks = line and len(share) <= FEW and (dependent[chosen] or len(levels[0].share) > FEW)
    return _of_a_walk(fit, rest) if walks else fit


def cautious_mean(t: np.ndarray, values: np.ndarray) -> Fit:
    """Return the mean of ``values`` (T,) that may be correlated over long times, as in chaotic motion; T >= `LEAST`.

    A motion stays in parts of its space for times that a short run does not show: neighbouring batches look
    independent, and later ones are not. The error is the largest that any size of batches gives, each with its own
    standard error added, of 1 / sqrt(2 (n - 1)) of it for n batches (Flyvbjerg and Petersen).
    """
    fits = [(level.fit, len(level.share)) for level in _levels(t, values, line=False)]
    errors = [fit.error * (1.0 + 1.0 / np.sqrt(2.0 * (count - 1))) for fit, count in fits]
    largest = int(np.argmax(errors))
    fit, count = fits[largest]
    return fit._replace(error=errors[largest], interval=_interval(fit.value, errors[largest], count - 1))


class _Level(NamedTuple):
    """The fit to batches, the residuals of their means (B,), and their sizes (B,)."""

    fit: Fit
    rest: np.ndarray
    share: np.ndarray


def _levels(t: np.ndarray, values: np.ndarray, line: bool) -> Iterator[_Level]:
    """Yield fits of a line, or of a constant, to batches of ``values`` (T,): to many, then to half as many.

    Repeated until there are `LEAST` batches or fewer.

    Repeated until there are `LEAST` batches or fewer.

    The last fit has `LEAST` batches at most.
    """
    count = min(MOST, 1 << (len(t).bit_length() - 1))
    edges = np.linspace(0, len(t), count + 1).astype(int)
    share = np.diff(edges).astype(float)
    start = float(values[0])  # taken off, so that means have more digits than the values
    times, mean = (np.add.reduceat(each, edges[:-1]) / share for each in (t, values - start))
    while True:
        yield _Level(*_least_squares(times, mean, share, line, start), share)
        if len(share) <= LEAST:
            return
        times, mean = (_in_pairs(share * each) / _in_pairs(share) for each in (times, mean))
        share = _in_pairs(share)


def _is_dependent(level: _Level) -> bool:
    """Return whether neighbouring batches look as if they depended on one another."""
    rest = level.rest
    return bool(abs(rest[1:] @ rest[:-1]) > INDEPENDENT / np.sqrt(len(rest)) * (rest @ rest))


def _least_squares(
    t: np.ndarray, mean: np.ndarray, share: np.ndarray, line: bool, start: float
) -> tuple[Fit, np.ndarray]:
    """Return the fit of a line, or of a constant, to means above ``start``, and its residuals (n,).

    t, mean, share : (n,), of each batch: mean time, mean of the values less ``start``, weight
    """
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
    """Return ``fit`` with the error of its line if the means are a random walk, if that is larger.

    ``rest`` (n,): residuals of the means. Durlauf and Phillips (1988).
    """
    count, changes = len(rest), np.diff(rest)
    variance = 1.5 * (changes @ changes) / (count - 2)  # of the walk over a batch; means change by 2/3 of it
    error = max(fit.error, float(np.sqrt(variance) / np.diff(fit.t).mean() * np.sqrt(1.2 / count)))
    return fit._replace(error=error, interval=_interval(fit.value, error, count - 2))


def _interval(value: float, error: float, free: int) -> np.ndarray:
    return value + stats.t.ppf(0.5 + CONFIDENCE / 2, free) * error * np.array([-1.0, 1.0])


def _in_pairs(values: np.ndarray) -> np.ndarray:
    return values.reshape(-1, 2).sum(axis=1)
