"""Turns of the joints at a node of a run, worked out when they are asked for."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from varint.results.recorded_motion import RecordedMotion


class NodeTurns(Mapping[str, np.ndarray]):
    """Joint name to its coordinates (dof,) at a node, with all turns; a copy, a pickled one too, is a dict."""

    def __init__(self, trajectory: "RecordedMotion", node: int) -> None:
        self._trajectory, self._node = trajectory, node

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._trajectory._turning:
            raise KeyError(name)
        counted = name in self._trajectory._counted_by_forces
        coordinates = self._trajectory.coordinates if counted else self._trajectory._turned
        return np.atleast_1d(coordinates[name][self._node]).copy()

    def __iter__(self) -> Iterator[str]:
        return iter(self._trajectory._turning)

    def __len__(self) -> int:
        return len(self._trajectory._turning)

    def __reduce__(self) -> tuple:
        return dict, (dict(self),)
