"""Turns and internal variables at the nodes of a run; turns are worked out when they are asked for."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from varint.kinematics.drift import joint_drift
from varint.kinematics.followed_angles import euler_angles_at_nodes
from varint.kinematics.frames import followed_vectors
from varint.kinematics.restarts import method_name
from varint.kinematics.turns import followed_size, kept_sums, memory_of, memory_size, turning
from varint.mechanism.mechanism import Mechanism
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
    followed = {force: q[node] for force, q in trajectory._followed.items()}
    memory = memory_of(trajectory.mechanism.compiled, trajectory.law_states[node], followed)
    beyond_stops = trajectory.settings.get("beyond_stops", REFUSE)
    for name, values in (trajectory.settings.get("memory") or {}).items():
        if kept_sums(trajectory.mechanism, name) == len(values):
            memory[name] = np.array(values, dtype=float)
    carried = {"memory": memory, "beyond_stops": beyond_stops, "made_by": "", "open_by": 0.0}
    if trajectory.t[node] > 0.0:
        carried["made_by"] = method_name(trajectory.settings)
        if "integrator" in trajectory.settings and trajectory.mechanism.compiled.topology.clusters:
            poses = state.position[None], state.quat_wxyz[None]
            carried["open_by"] = float(joint_drift(trajectory.mechanism.compiled, *poses)[0])
    return replace(state, turns=NodeTurns(trajectory, node), **carried)


def start_turns(settings: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return coordinates (dof,) by joint, with all turns, at the start of a run with these settings.

    Poses alone do not say them, see `State`; none in a run file of an earlier version.
    """
    return {name: np.array(values, dtype=float) for name, values in (settings.get("turns") or {}).items()}


def followed_at_nodes(trajectory: "RecordedMotion") -> dict[str, np.ndarray]:
    """Return rotation vectors (T, 3) and Euler angles (T, 1), rad, that forces follow, by force, at the nodes."""
    compiled, near = trajectory.mechanism.compiled, {}
    for force, values in (trajectory.settings.get("memory") or {}).items():
        if len(values) == memory_size(compiled, force):  # else a run file of an earlier version
            near[force] = np.array(values[len(values) - followed_size(compiled, force) :], dtype=float)
    return followed_from(trajectory.mechanism, trajectory.position, trajectory.quat_wxyz, near)


def followed_from(
    mechanism: Mechanism, position: np.ndarray, quat_wxyz: np.ndarray, near: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return `followed_at_nodes` of poses (T, nb, 3), (T, nb, 4).

    Those of the first pose are the nearest to ``near``, by force, or to zero, others to those of the pose before.
    """
    compiled, none = mechanism.compiled, np.zeros(3)
    followed = {
        each.force: followed_vectors(mechanism, each.bodies, quat_wxyz, near.get(each.force, none))
        for each in compiled.followed
    }
    for each in compiled.euler_angles:
        if each.measures:
            start = float(near.get(each.force, none)[0])
            followed[each.force] = euler_angles_at_nodes(mechanism, each, position, quat_wxyz, start)
    return followed
