"""Joint coordinates at which efforts are sought: those of commanded forces, or of joints that are named."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from varint.base.checks import known_name, sequence_of
from varint.base.errors import ArgumentError
from varint.mechanism.mechanism import Mechanism
from varint.model.forces.along import AlongCoordinate
from varint.model.forces.base import Force
from varint.model.forces.commanded import Commanded


class EffortPlace(NamedTuple):
    """A joint coordinate at which an effort acts.

    name : name of the effort: that of the force, or joint and index of the coordinate
    owner : what the effort is reported for: the name of the force, or of the joint
    joint : name of the joint
    coordinate : index of its coordinate, from 0
    angles : sequence of Euler angles, if the coordinate is one of them
    """

    name: str
    owner: str
    joint: str
    coordinate: int
    angles: str | None = None


def acts_along(force: Force) -> bool:
    """Return whether ``force`` has an input and acts along a joint coordinate: motors, servos, prescribed motions."""
    return isinstance(force, Commanded) and isinstance(force, AlongCoordinate)


def places_of(mechanism: Mechanism, joints: Sequence[str] | None) -> list[EffortPlace]:
    """Return all coordinates of ``joints``; if None, the coordinates along which commanded forces act.

    Raises ArgumentError.
    """
    if joints is None:
        along: list[Any] = [force for force in mechanism.forces if acts_along(force)]
        if not along:
            raise ArgumentError(
                f"'{mechanism.name}' has no commanded force along a joint coordinate, such as a motor: use joints= to"
                " name the joints with an effort"
            )
        return [EffortPlace(force.name, force.name, force.joint, force.coordinate, force.angles) for force in along]
    places: list[EffortPlace] = []
    names = list(sequence_of(joints, "joints", "names", ArgumentError))
    for name in names:
        known_name(name, mechanism.joint_index, f"joints: '{mechanism.name}' has no joint", ArgumentError)
        if names.count(name) > 1:
            raise ArgumentError(f"joints: '{name}' is named twice")
        places += [EffortPlace(f"{name} {k}", name, name, k) for k in range(mechanism.joint(name).dof)]
    if not places:
        raise ArgumentError(f"joints= names no joint of '{mechanism.name}' with a coordinate: name one that can move")
    return places


def by_owner(places: Sequence[EffortPlace], efforts: np.ndarray) -> dict[str, np.ndarray]:
    """Return ``efforts`` (..., c) at c places by owner: (...), or (..., dof) for a joint with several coordinates."""
    columns = {
        owner: efforts[..., [place.owner == owner for place in places]]
        for owner in dict.fromkeys(place.owner for place in places)
    }
    return {owner: each[..., 0] if each.shape[-1] == 1 else each for owner, each in columns.items()}


def unused_name(name: str, used: set[str]) -> str:
    """Return ``name``, with primes appended until it is not in ``used``."""
    while name in used:
        name += "'"
    return name
