"""A taped run with deformable bodies, for the backward pass: the tape has the positions of all vertices too."""

from functools import cached_property

import numpy as np

from varint.derivatives.backward import momentum_of
from varint.derivatives.meshes.start_changes import MovedStart, moved_starts
from varint.derivatives.schedule import Layout
from varint.derivatives.taped import MaximalTape
from varint.meshes.attached_meshes import AttachedMeshes
from varint.methods.variational.deformable_march import DeformableMarch
from varint.methods.variational.deformable_run import DeformableRun
from varint.methods.variational.maximal_run import MaximalRun
from varint.model.rotation_vectors import rotation_matrix
from varint.runs.problem import MOST_STEPS

NUMBER = np.dtype(float).itemsize  # bytes


class MeshTape(MaximalTape):
    """See `MaximalTape`."""

    @property
    def march(self) -> DeformableMarch:
        """The march of the run."""
        march = self.run.march
        assert isinstance(march, DeformableMarch)
        return march

    @cached_property
    def bodies_at_start(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions, rotations and velocities of the bodies, as a `MeshStart` takes them."""
        return self.begin.position, rotation_matrix(self.begin.quat), self.march.started

    @cached_property
    def starts(self) -> list[MovedStart]:
        """See `moved_starts`."""
        return moved_starts(self.march.meshes, self.bodies_at_start, self.compiled.length, self.march.given)

    def _sizes(self) -> tuple[int, int]:
        checkpoint, stage = super()._sizes()
        meshes = AttachedMeshes(self.mechanism, self.compiled)
        n, free, nb = len(meshes.points), len(meshes.free), len(self.mechanism.bodies)
        speeds = 2 * self.setting.method.stages.size * free
        duals = 2 * n + 2 * free + 2 * 4 * (nb + 1) + 4 * nb  # of one objective
        by_numbers = stage  # no more than that, of the scratch of `MeshAdjoint`
        return checkpoint + 3 * NUMBER * (n + free + speeds), stage + by_numbers + 3 * NUMBER * (2 * n + duals)

    def _new_run(self, room: int) -> MaximalRun:
        setting = self.setting
        march = DeformableMarch(
            self.mechanism, self.compiled, setting.method, setting.dt, setting.tol, MOST_STEPS, room
        )
        return DeformableRun(self.mechanism, march, self.first, self.steps, self.loads, self.commands)

    def _go(self, layout: Layout) -> int:
        largest = super()._go(layout)
        # of the bodies alone: `MeshAdjoint.finish` adds the derivatives of what the vertices add
        momentum = momentum_of(self.compiled.plan.bodies, self.march.started)
        self.begin = self.begin._replace(momentum=momentum)
        return largest
