"""Motions of all bodies from the motions of the bodies that carry them, and back (plan/welds.py)."""

import numpy as np

from varint.model.rotation_vectors import rotation_matrix, turned
from varint.model.state import State
from varint.step.nodes.welds import WeldTable, spread_nodes

Motion = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def gathered(welds: WeldTable, carriers: np.ndarray, state: State) -> State:
    """Return ``state`` with the motion of each of the ``carriers`` at the centre of mass of all that it carries."""
    x, v, w = state.position.copy(), state.velocity.copy(), state.angular_velocity
    R, offset = rotation_matrix(state.quat_wxyz[carriers]), welds.offset[carriers]
    x[carriers] -= turned(R, offset)
    v[carriers] -= turned(R, np.cross(w[carriers], offset))
    return state.of_bodies(x, state.quat_wxyz, v, w)


def spread(welds: WeldTable, nodes: tuple[np.ndarray, np.ndarray, np.ndarray]) -> Motion:
    """Return position (T, n, 3), quat_wxyz (T, n, 4), velocity and angular velocity (T, n, 3) of the bodies.

    ``nodes``: position (T, nb, 3), quat (T, nb, 4) and velocity (T, nb, 6) of the kernel.
    """
    count, n = len(nodes[0]), len(welds.slot)
    position, velocity, spin = np.empty((count, n, 3)), np.empty((count, n, 3)), np.empty((count, n, 3))
    quat = np.empty((count, n, 4))
    spread_nodes(welds, nodes, np.empty((3, 3)), position, quat, velocity, spin)
    return position, quat, velocity, spin
