"""Parameters of members that are drawn at random."""

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from varint.base.checks import LARGEST_SEED, choice, finite, positive, shown, whole_number
from varint.base.errors import ArgumentError
from varint.studies.ensembles.member_parameters import MOST_MEMBERS, name_of

KINDS = {"uniform": ("least", "largest"), "loguniform": ("least", "largest"), "normal": ("mean", "standard deviation")}


def random_draws(n: int, distributions: Mapping[str, Any], *, seed: int = 0) -> list[dict[str, float]]:
    """Return the parameters of ``n`` members drawn at random, as `varint.ensemble` takes them.

    Parameters
    ----------
    n : int
        How many.
    distributions : dict
        Name of a parameter to its distribution: ``("uniform", least, largest)``, ``("loguniform", least, largest)``,
        ``("normal", mean, standard deviation)``, or a distribution of ``scipy.stats`` with its parameters, as
        ``scipy.stats.weibull_min(2.0, scale=3.0)``.
    seed : int
        The same seed gives the same draws. Draws of a parameter do not change with the others, nor the first ones with
        ``n``.

    Raises ArgumentError.
    """
    n = whole_number(n, "n", 1, ArgumentError, MOST_MEMBERS)
    seed = whole_number(seed, "seed", 0, ArgumentError, LARGEST_SEED)
    if not isinstance(distributions, Mapping) or not distributions:
        raise ArgumentError(f"distributions must be a mapping of names to distributions, got {shown(distributions)}")
    drawn = {}
    for name, distribution in distributions.items():
        generator = np.random.default_rng([seed, zlib.crc32(name_of(name).encode(errors="replace"))])
        drawn[name] = _quantiles(distribution, generator.random(n), f"the distribution of {name!r}")
    return [dict(zip(drawn, values, strict=True)) for values in zip(*drawn.values(), strict=True)]


def _quantiles(distribution: Any, q: np.ndarray, label: str) -> list:
    """Return the values of a distribution at its quantiles ``q`` (n,).

    Raises ArgumentError, which names the distribution by ``label``.
    """
    if isinstance(distribution, tuple | list):
        return _named(distribution, label).ppf(q).tolist()
    quantile = getattr(distribution, "ppf", None) or getattr(distribution, "icdf", None)
    if not callable(quantile):
        raise ArgumentError(
            f"{label} must be ('uniform', least, largest) or its like, or one of scipy.stats, got {shown(distribution)}"
        )
    try:
        values = np.asarray(quantile(q))
    except Exception as problem:  # whatever it raises when it is asked, as a distribution without parameters does
        raise ArgumentError(f"{label} gives no values: {problem}") from problem
    if values.shape != q.shape or values.dtype.kind not in "iuf" or not np.isfinite(values).all():
        raise ArgumentError(f"{label} gives values that are not finite numbers")
    return values.astype(int).tolist() if _is_discrete(distribution) else values.tolist()


def _is_discrete(distribution: Any) -> bool:
    from scipy import stats  # slow to import, so only when needed

    return isinstance(getattr(distribution, "dist", None), stats.rv_discrete)


def _named(distribution: tuple | list, label: str) -> Any:
    from scipy import stats

    kind = choice(distribution[0] if distribution else "", KINDS, label, ArgumentError)
    if len(distribution) != 3:
        raise ArgumentError(f"{label} is ('{kind}', {', '.join(KINDS[kind])}), got {shown(distribution)}")
    first, second = (
        finite(value, f"{name} of {label}", ArgumentError)
        for name, value in zip(KINDS[kind], distribution[1:], strict=True)
    )
    if kind == "normal":
        return stats.norm(first, positive(second, f"standard deviation of {label}", ArgumentError))
    if not first < second:
        raise ArgumentError(f"{label} must rise from least to largest, got {first:g} and {second:g}")
    if kind == "uniform":
        return stats.uniform(first, second - first)
    return stats.loguniform(positive(first, f"least of {label}", ArgumentError), second)
