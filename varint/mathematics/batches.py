"""Means and slopes of correlated numbers, with their standard errors: the method of batches.

Neighbouring values are grouped into batches, ever larger, until the means of neighbouring batches appear independent
(Flyvbjerg and Petersen). The standard error from the scatter of these means is valid for any dependence within a batch.
If only few batches remain, the values may be a random walk, such as a sum of round-off. The line through a random walk
has a slope although there is no drift; the error of the slope is then derived from the changes between batches.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

MOST = 512  # largest number of batches, a power of two
LEAST = 8  # number of batches from which they are not halved again, a power of two
FEW = 16  # up to this number of batches of a random walk may look independent
INDEPENDENT = 0.5  # means of n batches are independent if neighbours correlate by less than this over the root of n
CONFIDENCE = 0.95  # probability with which an interval contains the true value


class Fit(NamedTuple):
    """A constant or a line through the means of batches.

    value : float
        The constant, or the slope of the line.
    error : float
        Its standard error.
    interval : (2,)
        Contains the true value with a probability of 95 %, by Student's distribution.
    level : float
        Value of the line at the mean of ``t``; the constant.
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
    """Return the fit of a line if ``line``, else a constant, to ``values`` (T,) at rising ``t`` (T,); T >= `LEAST`."""
    levels = list(_levels(t, values, line))
    dependent = [_is_dependent(level) for level in levels]
    chosen = dependent.index(False) if False in dependent else len(levels) - 1
    fit, rest, share = levels[chosen]
    walks = line and len(share) <= FEW and (dependent[chosen] or len(levels[0].share) > FEW)
    return _of_a_walk(fit, rest) if walks else fit


def cautious_mean(t: np.ndarray, values: np.ndarray) -> Fit:
    """Return the mean of ``values`` (T,) that may be correlated over long times, as in chaotic motion; T >= `LEAST`.

    ``t`` (T,): rising times. A chaotic motion may stay in one part of its state space for longer than a short run
    shows: neighbouring batches look independent although distant ones are not. Therefore the error is the largest over
    all sizes of batches. The error from n batches is increased by its own standard error, a share of
    1 / sqrt(2 (n - 1)) (Flyvbjerg and Petersen).
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
    """Yield fits to batches of ``values`` (T,) at ``t`` (T,), of a line if ``line``, else of a constant.

    Each fit has half as many batches as the one before; the last has at most `LEAST`.
    """
    count = min(MOST, 1 << (len(t).bit_length() - 1))
    edges = np.linspace(0, len(t), count + 1).astype(int)
    share = np.diff(edges).astype(float)
    start = float(values[0])  # subtracted, so that means have more digits than the values
    times, mean = (np.add.reduceat(each, edges[:-1]) / share for each in (t, values - start))
    while True:
        yield _Level(*_least_squares(times, mean, share, line, start), share)
        if len(share) <= LEAST:
            return
        times, mean = (_in_pairs(share * each) / _in_pairs(share) for each in (times, mean))
        share = _in_pairs(share)


def _is_dependent(level: _Level) -> bool:
    """Return whether the residuals of neighbouring batches of ``level`` are correlated."""
    rest = level.rest
    return bool(abs(rest[1:] @ rest[:-1]) > INDEPENDENT / np.sqrt(len(rest)) * (rest @ rest))


def _least_squares(
    t: np.ndarray, mean: np.ndarray, share: np.ndarray, line: bool, start: float
) -> tuple[Fit, np.ndarray]:
    """Return the fit of a line if ``line``, else of a constant, to the means of n batches, and the residuals (n,).

    t, mean, share : (n,) of each batch: mean time, mean of the values less ``start``, weight
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
    """Return ``fit``, of a line, with the error that holds if the means are a random walk, unless that is smaller.

    ``rest`` (n,): residuals of the means. Durlauf and Phillips (1988).
    """
    count, changes = len(rest), np.diff(rest)
    variance = 1.5 * (changes @ changes) / (count - 2)  # of the walk over a batch; means change by 2/3 of it
    error = max(fit.error, float(np.sqrt(variance) / np.diff(fit.t).mean() * np.sqrt(1.2 / count)))
    return fit._replace(error=error, interval=_interval(fit.value, error, count - 2))


def _interval(value: float, error: float, free: int) -> np.ndarray:
    """Return the ends (2,) of the interval about ``value`` with standard ``error`` of ``free`` degrees of freedom."""
    from scipy.special import stdtrit  # scipy.stats takes ten times as long to import

    return value + stdtrit(free, 0.5 + CONFIDENCE / 2) * error * np.array([-1.0, 1.0])


def _in_pairs(values: np.ndarray) -> np.ndarray:
    """Return the sums (n / 2,) of ``values`` (n,), n even, in pairs of neighbours."""
    return values.reshape(-1, 2).sum(axis=1)
