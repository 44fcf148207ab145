"""Turns and internal variables at the nodes of a run; turns are worked out when they are asked for."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from varint.kinematics.frames import followed_vectors
from varint.kinematics.turns import memory_of, turning
from varint.model.state import REFUSE, State

if TYPE_CHECKING:
    from varint.results.recorded_motion import RecordedMotion


class NodeTurns(Mapping[str, np.ndarray]):
    """Joint name to its coordinates (dof,) at a node, with all turns; a copy, a pickled one too, is a dict."""

    def __init__(self, trajectory: "RecordedMotion", node: int) -> None:
        self._trajectory, self._node = trajectory, node

    @cached_property
    def _names(self) -> dict[str, bool]:
        """Return the joints whose turns poses do not say, and whether forces count them."""
        mechanism = self._trajectory.mechanism
        counted = {angle.joint for angle in mechanism.compiled.counted}
        return {joint.name: joint.name in counted for joint in mechanism.joints if turning(joint)}

    def __getitem__(self, name: str) -> np.ndarray:
        run = self._trajectory
        coordinates = run.coordinates if self._names[name] else run._turned  # which does not warn
        return np.atleast_1d(coordinates[name][self._node]).copy()

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __reduce__(self) -> tuple:
        return dict, (dict(self),)


def carrying_node(trajectory: "RecordedMotion", state: State, node: int) -> State:
    """Return the ``state`` of a node with the turns and internal variables there, and its rule for stops."""
    rotations = {force: q[node] for force, q in trajectory._rotations.items()}
    memory = memory_of(trajectory.mechanism.compiled, trajectory.law_states[node], rotations)
    beyond_stops = trajectory.settings.get("beyond_stops", REFUSE)
    return replace(state, turns=NodeTurns(trajectory, node), memory=memory, beyond_stops=beyond_stops)


def start_turns(settings: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return coordinates (dof,) by joint, with all turns, at the start of a run with these settings.

    Poses alone do not say them, see `State`; none in a run file of an earlier version.
    """
    return {name: np.array(values, dtype=float) for name, values in (settings.get("turns") or {}).items()}


def rotations_at_nodes(trajectory: "RecordedMotion") -> dict[str, np.ndarray]:
    """Return the rotation vectors (T, 3), rad, that forces follow, by force, axes of body a in the reference."""
    started, mechanism = trajectory.settings.get("memory") or {}, trajectory.mechanism
    none = [0.0, 0.0, 0.0]
    return {
        rotation.force: followed_vectors(
            mechanism, rotation.bodies, trajectory.quat_wxyz, started.get(rotation.force, none)[-3:]
        )
        for rotation in mechanism.compiled.followed
    }
