"""A run in maximal coordinates with deformable bodies."""

from typing import TYPE_CHECKING

import numpy as np

from varint.base.errors import ArgumentError
from varint.mechanism.mechanism import Mechanism
from varint.meshes.vertex_record import OF_VERTICES
from varint.methods.variational.maximal_run import MaximalRun
from varint.methods.variational.node_block import NodeBlock
from varint.methods.variational.schemes import Scheme
from varint.model.forces.soft_mesh import soft_meshes
from varint.model.known_forces import is_impulsive
from varint.runs.problem import Recording
from varint.runs.run import Block

if TYPE_CHECKING:
    from varint.methods.variational.deformable_march import DeformableMarch


class DeformableRun(MaximalRun):
    """See `MaximalRun`; nodes hold the motion of the vertices of all deformable bodies, one after another."""

    march: "DeformableMarch"
    in_python = True

    def block(self, block: NodeBlock, seconds: float) -> Block:
        """See `MaximalRun`."""
        extended = super().block(block, seconds)
        extended.nodes.update({name: getattr(block, name) for name in OF_VERTICES})
        return extended

    def vertex_motion(self) -> np.ndarray:
        """See `MaximalRun`."""
        block = self.march.present()
        return np.array([getattr(block, name)[0] for name in OF_VERTICES])

    def _call(self, block: NodeBlock | None = None) -> None:
        """See `MaximalRun`; a block does not know the names of meshes."""
        super()._call(None)


def check_deformable(mechanism: Mechanism, scheme: Scheme, recording: Recording, redo: bool) -> None:
    """Raise ArgumentError for settings and forces that steps with deformable bodies do not support.

    A mechanism without such bodies is not checked.
    """
    bodies = soft_meshes(mechanism)
    if not bodies:
        return
    name = f"{bodies[0].label}: steps with deformable bodies"
    if scheme.staggered:
        raise ArgumentError(f"{name} need order 2 or above, got order 1")
    if recording.output_times is not None:
        raise ArgumentError(f"{name} are recorded at their nodes: give every= in place of output_times=")
    if recording.diagnostics_every is not None:
        raise ArgumentError(f"{name} have no diagnostics of their own: leave diagnostics_every= out")
    if redo:
        raise ArgumentError(f"{name} are not divided: leave on_unresolved='substep' out, and take a smaller dt")
    for force, traits in zip(mechanism.forces, mechanism.force_traits, strict=True):
        if is_impulsive(mechanism, force):
            raise ArgumentError(
                f"{name} know no impacts, as of {force.label}: give a stop a stiffness, and in place of a contact take"
                " a GroundContact or SphereContact"
            )
        if "path" in traits:
            raise ArgumentError(f"{name} know no mass that moves along a path: give {force.label} none")
