"""Whether the mechanism that a JSON text made is what the text says."""

import json
from typing import Any

import numpy as np

SCALED = ("axis", "axis_b", "normal", "direction")  # only where they point counts
MATRICES = ("stiffness", "damping")  # of a bushing: their diagonals will do


def read_by_itself(content: bytes) -> Any:
    """What the text says; raises ValueError where keys repeat, or it has numbers that are none."""

    def once(pairs):
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a key repeats")
        return dict(pairs)

    def no_number(text):
        raise ValueError(f"{text} is no number")

    text = content.decode(json.detect_encoding(content))
    return json.loads(text.removeprefix("\ufeff"), object_pairs_hook=once, parse_constant=no_number)


def difference(said: Any, got: Any, place: str = "") -> str | None:
    """Where what was made is not what the text says; None where all of it is in there."""
    key = place.rpartition(".")[2]
    if said is None or said is got:
        return None  # as if it was not given
    try:
        if isinstance(said, list) and isinstance(got, list) and not _same(said, got, key):
            if len(said) != len(got):
                return f"{place}: {len(said)} elements became {len(got)}"
            return next(
                (d for k, pair in enumerate(zip(said, got, strict=True)) if (d := difference(*pair, f"{place}[{k}]"))),
                None,
            )
    except (TypeError, ValueError, OverflowError):
        return f"{place}: {said!r} became {got!r}"
    if isinstance(said, list) and isinstance(got, list):
        return None
    if isinstance(said, dict) and isinstance(got, dict):
        for name, value in said.items():
            if name not in got and value != []:
                return f"{place}.{name} was dropped"
            if name in got and (found := difference(value, got[name], f"{place}.{name}")):
                return found
        return None
    said = float(said) if isinstance(got, float) and type(said) is int and abs(said) < 1e300 else said  # rounded
    if isinstance(said, bool) != isinstance(got, bool) or isinstance(said, str) != isinstance(got, str) or said != got:
        return f"{place}: {said!r} became {got!r}"
    return None


def _same(said: list, got: list, key: str) -> bool:
    """Whether arrays say the same that are brought to a form of their own."""
    if key not in (*SCALED, *MATRICES, "quat_wxyz", "inertia") or not said:
        return False
    if any(isinstance(x, bool | str) for row in said for x in (row if isinstance(row, list) else [row])):
        return False
    one, other = np.array(said, dtype=float), np.array(got, dtype=float)
    if key in SCALED:
        one = one / np.abs(one).max()
        one /= np.linalg.norm(one)
    if key == "quat_wxyz" and abs(np.linalg.norm(one) - 1) <= 1e-4:
        one = one / np.linalg.norm(one)
    if key in MATRICES and one.ndim == 1 and other.ndim == 2:
        one = np.diag(one)
    return one.shape == other.shape and np.abs(one - other).max() <= 1e-7 * np.abs(other).max()
