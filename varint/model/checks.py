"""Checks that descriptions share. Each returns the value as a read-only float array."""

import difflib
import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from varint.errors import MechanismError, VarintError

UNIT_TOLERANCE = 1e-8
ROUND_OFF = (
    4 * np.finfo(float).eps
)  # of a norm: what is nearer to one stays as it is, so that copies have the same bits


def freeze(array: np.ndarray) -> np.ndarray:
    """The same array, read-only."""
    array.setflags(write=False)
    return array


class Frozen:
    """Base of descriptions: their arrays are read-only in copies too, pickled ones included."""

    def __setstate__(self, state: dict[str, object]) -> None:
        for value in state.values():
            for part in value if isinstance(value, tuple) else (value,):
                if isinstance(part, np.ndarray):
                    freeze(part)
        self.__dict__.update(state)


def array_of(value: ArrayLike, shape: tuple, what: str, error: type[VarintError] = MechanismError) -> np.ndarray:
    """``value`` as a finite float array of ``shape``; ``what`` names it in the error."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError) as problem:
        raise error(f"{what} must be {_words(shape)}, got {value!r}") from problem
    if array.shape != shape:
        raise error(f"{what} must be {_words(shape)}, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise error(f"{what} must be finite, got {array.tolist()}")
    return freeze(array)


def positive(value: ArrayLike, what: str, error: type[VarintError] = MechanismError) -> float:
    """``value`` as a finite float above zero."""
    number = float(array_of(value, (), what, error))
    if number <= 0.0:
        raise error(f"{what} must be positive, got {number:g}")
    return number


def unit_quaternion(value: ArrayLike, what: str, error: type[VarintError] = MechanismError) -> np.ndarray:
    """``value`` (w, x, y, z), of norm one to 1e-8, normalised to round-off."""
    if hasattr(value, "components"):  # a numpy-quaternion scalar
        value = value.components
    quat = array_of(value, (4,), what, error)
    scaled, exponent = _scaled(quat)
    norm = float(np.linalg.norm(scaled)) * 2.0**exponent if -1 <= exponent <= 1 else math.hypot(*quat)
    if abs(norm - 1.0) > UNIT_TOLERANCE:
        raise error(f"{what} must have norm 1, got norm {norm:.9g}: divide it by its norm")
    return quat if abs(norm - 1.0) <= ROUND_OFF else freeze(quat / norm)


def unit_axis(value: ArrayLike, what: str, error: type[VarintError] = MechanismError) -> np.ndarray:
    """``value`` (3,), not zero, normalised."""
    axis = array_of(value, (3,), what, error)
    if not axis.any():
        raise error(f"{what} must not be zero")
    scaled, exponent = _scaled(axis)
    norm = np.linalg.norm(scaled)
    if -1 <= exponent <= 1 and abs(norm * 2.0**exponent - 1.0) <= ROUND_OFF:
        return axis
    return freeze(scaled / norm)


def _scaled(vector: np.ndarray) -> tuple[np.ndarray, int]:
    """The vector times a power of two, with entries up to one, and the exponent that takes it back: exact."""
    exponent = int(np.frexp(np.abs(vector).max())[1])
    return np.ldexp(vector, -exponent), exponent


def check_name(name: object, what: str, error: type[VarintError] = MechanismError) -> str:
    """``name`` as a non-empty string."""
    if not isinstance(name, str) or not name.strip():
        raise error(f"{what} needs a name, got {name!r}")
    return name


def suggestion(name: str, known: Iterable[str]) -> str:
    """``", did you mean 'x'?"`` where a known name is close."""
    close = difflib.get_close_matches(str(name), list(known), n=1)
    return f", did you mean '{close[0]}'?" if close else ""


def _words(shape: tuple) -> str:
    return "a number" if shape == () else f"an array of shape {shape}"
