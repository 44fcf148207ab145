"""Nodes that are too far apart to tell the motion between them."""

import warnings

import numpy as np

from varint.errors import SparseNodesWarning

LARGEST_TURN = np.pi  # rad, from node to node: further ones look like turns the other way


def warn_of_gaps(who: str, t: np.ndarray, speed: np.ndarray, harm: str, stacklevel: int) -> None:
    """A SparseNodesWarning where something turns too far from one node to the next.

    ``t``, ``speed``: (K, 2) s and rad/s, at the nodes before and after each of K gaps. ``harm``: what is wrong then.
    """
    if not len(t):
        return
    turn = speed.mean(axis=1) * np.diff(t, axis=1)[:, 0]
    k = int(turn.argmax())
    if turn[k] > LARGEST_TURN:
        warnings.warn(
            f"{who} turns by some {turn[k]:.3g} rad between the nodes at {t[k, 0]:g} and {t[k, 1]:g} s, and nodes tell"
            f" no more than half a turn: {harm}. Record nodes more often, by a smaller 'every'",
            SparseNodesWarning,
            stacklevel=stacklevel + 1,
        )


def gaps_of(values: np.ndarray) -> np.ndarray:
    """(T - 1, 2): each of the values (T,) but the last, with the one that follows."""
    return np.stack([values[:-1], values[1:]], axis=1)
