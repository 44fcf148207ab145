"""A taped run with deformable bodies, for the backward pass: the tape has the positions of all vertices too."""

from functools import cached_property, partial

import numpy as np

from varint.gradients.backward import momentum_of
from varint.gradients.numbers import Differences
from varint.gradients.schedule import Layout
from varint.gradients.taped import MaximalTape
from varint.integrators.deformable_march import DeformableMarch
from varint.integrators.deformable_run import DeformableRun
from varint.integrators.maximal_run import MaximalRun
from varint.meshes.attached_meshes import AttachedMeshes
from varint.meshes.mesh_start import start_along
from varint.model.rotation_vectors import matrix_from_vector, rotation_matrix
from varint.problem import MOST_STEPS

NUMBER = np.dtype(float).itemsize  # bytes
TURN = 1e-3  # rad, share of the size of a part and of the largest velocity: steps of differences of the start


class MeshStart:
    """The start of all vertices, with bodies at ``position`` (nb + 1, 3), ``rotation``, of velocities ``motion``.

    x, v : (n, 3) m, m/s
    """

    def __init__(self, meshes: AttachedMeshes, position: np.ndarray, rotation: np.ndarray, motion: np.ndarray) -> None:
        self.meshes, self.rotation = meshes, rotation
        self.x, self.v = start_along(meshes, position, rotation, motion)


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
    def starts(self) -> list[tuple[int, int, Differences[MeshStart]]]:
        """Slot of a body that holds vertices, number 0 to 11 of an entry of its state, starts changed along that."""
        position, rotation, motion = self.bodies_at_start
        length, fastest = self.compiled.length, max(1.0, float(np.abs(motion).max(initial=0.0)))
        steps = np.repeat([length, 1.0, fastest, fastest], 3) * TURN

        def moved(i: int, c: int, share: float) -> MeshStart:
            places, turns, speeds = position.copy(), rotation.copy(), motion.copy()
            if c < 3:
                places[i, c] += share
            elif c < 6:
                turns[i] = turns[i] @ matrix_from_vector(share * np.eye(3)[c - 3])
            else:
                speeds[i, c - 6] += share
            return MeshStart(self.march.meshes, places, turns, speeds)

        return [
            (i, c, Differences(partial(moved, i, c), steps[c]))
            for i in self.march.meshes.slots.tolist()
            for c in range(12)
        ]

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
        own = momentum_of(self.compiled.plan.bodies, self.march.started)
        self.begin = self.begin._replace(momentum=own)
        return largest
