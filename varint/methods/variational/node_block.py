"""Recorded nodes of a march, in the order of the description."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from varint.model.state import State

RECORDED = (
    "node",
    "t",
    "position",
    "quat_wxyz",
    "velocity",
    "angular_velocity",
    "work",
    "command",
    "law_state",
    "unresolved_body",
)


@dataclass(frozen=True, eq=False)
class NodeBlock:
    """Recorded nodes in the order of the description; T nodes, nb bodies."""

    node: np.ndarray  # (T,) number of the node
    t: np.ndarray  # (T,) s
    position: np.ndarray  # (T, nb, 3)
    quat_wxyz: np.ndarray  # (T, nb, 4)
    velocity: np.ndarray  # (T, nb, 3)
    angular_velocity: np.ndarray  # (T, nb, 3)
    work: np.ndarray  # (T, forces) J
    command: np.ndarray  # (T, forces)
    law_state: np.ndarray  # (T, n) of the laws that have one
    unresolved_body: np.ndarray  # (T,) a body that a step since the last recorded node did not resolve, -1 for none
    newton_iterations: int
    substeps: int

    def last_state(self) -> State:
        """Return the last node."""
        arrays = self.position, self.quat_wxyz, self.velocity, self.angular_velocity
        return State(*(array[-1].copy() for array in arrays))


def join_node_blocks(blocks: Sequence[NodeBlock]) -> NodeBlock:
    """Return one block of several, one after the other."""
    joined: dict = {}
    for name, value in vars(blocks[0]).items():
        values = [getattr(block, name) for block in blocks]
        joined[name] = np.concatenate(values) if isinstance(value, np.ndarray) else sum(values)
    return replace(blocks[0], **joined)
