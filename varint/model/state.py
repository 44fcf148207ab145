"""Configuration and velocity of every body."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class State:
    """Pose and velocity of the nb bodies of a mechanism, in the order of its description.

    Made by ``Mechanism.state``, which makes it consistent with the joints.
    """

    position: np.ndarray  # (nb, 3) centre of mass, m, world
    quat_wxyz: np.ndarray  # (nb, 4) body to world, unit
    velocity: np.ndarray  # (nb, 3) m/s, world
    angular_velocity: np.ndarray  # (nb, 3) rad/s, body
