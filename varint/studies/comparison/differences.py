"""Differences between two motions of a mechanism."""

from typing import Any, NamedTuple

import numpy as np

from varint.base.display import described, field_facts
from varint.runs.trajectory import Trajectory

SAME_TIME = 1e-9  # of the end of the run
APART = 0.1  # of the whole motion


class Quantities(NamedTuple):
    """Something of each of the four kinds of numbers that a motion is made of.

    position : m
    orientation : rad, the angle of a rotation
    velocity : m/s
    angular_velocity : rad/s, body axes
    """

    position: Any
    orientation: Any
    velocity: Any
    angular_velocity: Any

    def __repr__(self) -> str:
        return described(self, field_facts(self))


UNITS = Quantities("m", "rad", "m/s", "rad/s")


def differences(one: Trajectory, other: Trajectory) -> Quantities:
    """Return the largest differences over the bodies, arrays (T,), at each node of trajectory ``other``.

    In m, rad, m/s, rad/s; NaN at nodes that ``one`` does not reach.
    """
    apart = Quantities(*np.full((4, len(other.t)), np.nan))
    nodes = slice(common_nodes(one, other))
    for name in ("position", "velocity", "angular_velocity"):
        difference = getattr(one, name)[nodes] - getattr(other, name)[nodes]
        getattr(apart, name)[nodes] = np.linalg.norm(difference, axis=2).max(axis=1)
    apart.orientation[nodes] = turn(one.quat_wxyz[nodes], other.quat_wxyz[nodes]).max(axis=1)
    return apart


def common_nodes(one: Trajectory, other: Trajectory) -> int:
    """Number of nodes common to ``one`` and ``other``: all but the last one of a run that stopped between them."""
    count = min(len(one.t), len(other.t))
    return int(np.count_nonzero(np.abs(one.t[:count] - other.t[:count]) <= SAME_TIME * other.t[-1]))


def largest(difference: Quantities) -> Quantities:
    """Return the largest values over time of arrays (..., T)."""
    return Quantities(*(each.max(axis=-1) for each in difference))


def turn(quat: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the angles (...,), rad, of the rotations between unit quaternions (..., 4)."""
    chord = np.minimum(np.linalg.norm(quat - other, axis=-1), np.linalg.norm(quat + other, axis=-1))
    return 4.0 * np.arcsin(0.5 * chord)


def time_apart(difference: Quantities, reference: Trajectory) -> float:
    """Return the time, s, from which poses differ by a tenth of the path of the reference; NaN if never.

    The path from its start; angles count times the mechanism's part size. From there on differences do not grow as
    errors do: they saturate.
    """
    length = reference.mechanism.compiled.length
    way = np.linalg.norm(reference.position - reference.position[0], axis=2).max()
    turned = turn(reference.quat_wxyz, reference.quat_wxyz[0]).max()
    apart = np.fmax(difference.position, length * difference.orientation) > APART * max(way, length * turned)
    return float(reference.t[np.argmax(apart)]) if apart.any() else np.nan
