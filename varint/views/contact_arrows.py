"""Forces at points where bodies touch, as arrows in pictures and films."""

import numpy as np

from varint.results.recorded_motion import RecordedMotion

COLOUR = "#b3007d"  # as the page draws them
TYPICAL = 0.8  # share of the nodes whose largest force is at most as long as a typical one
LENGTH = 14.0  # of a typical one, in radii of a joint
LONGEST = 3.0  # typical lengths
SHORTEST = 0.02


class ContactArrows:
    """Arrows of a run: points where they start and end, by node; none if nothing touches."""

    def __init__(self, trajectory: RecordedMotion) -> None:
        self._t, self._touching = trajectory.t, trajectory.contacts
        self._forces = np.nan_to_num(self._touching.force)
        sizes = np.linalg.norm(self._forces, axis=1)
        largest = np.zeros(len(self._t))
        np.maximum.at(largest, self._touching.node, sizes)
        self._typical = float(np.quantile(largest, TYPICAL)) or float(largest.max(initial=0.0))

    def at(self, t: float, radius: float) -> list[tuple[np.ndarray, np.ndarray]]:
        """Start and end (3,), m, world, of each arrow at the node nearest to ``t``, s; ``radius`` of a joint, m."""
        if not self._typical:
            return []
        rows = np.flatnonzero(self._touching.node == int(np.abs(self._t - t).argmin()))
        arrows = []
        for point, force in zip(self._touching.point[rows], self._forces[rows], strict=True):
            share = float(np.linalg.norm(force)) / self._typical
            if share > SHORTEST:
                arrows.append((point, point + min(1.0, LONGEST / share) * LENGTH * radius / self._typical * force))
        return arrows
