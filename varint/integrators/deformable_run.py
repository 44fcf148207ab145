"""A run in maximal coordinates with deformable bodies."""

from varint.integrators.deformable_march import DeformableBlock
from varint.integrators.march import NodeBlock, join_blocks
from varint.integrators.maximal_run import MaximalRun
from varint.running import Block

OF_VERTICES = ("vertices", "vertex_velocities")  # arrays of nodes


class DeformableRun(MaximalRun):
    """See `MaximalRun`; nodes hold the motion of the vertices of all deformable bodies, one after another."""

    def block(self, block: NodeBlock, seconds: float) -> Block:
        """See `MaximalRun`."""
        found = super().block(block, seconds)
        found.nodes.update({name: getattr(block, name) for name in OF_VERTICES})
        return found

    def _controlled(self, steps: int) -> NodeBlock:
        """March ``steps`` steps; the functions that command forces are called at each node, for the step to come."""
        blocks = []
        for _ in range(max(steps, 1)):
            self._give(1)
            blocks.append(self._commanded() if steps else self.march.advance(0))
            if self.march.failure is not None:
                break
        return join_blocks(blocks)
