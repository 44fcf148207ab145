"""Constraints on velocities that no constraint on poses implies."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from varint.base.checks import unit_axis
from varint.base.errors import MechanismError
from varint.model.arrays import Vector
from varint.model.body import WORLD
from varint.model.forces.velocity_rows import VelocityRows
from varint.model.rotation_vectors import rotation_matrix

if TYPE_CHECKING:
    from varint.model.structure import Structure

PARALLEL = 1e-6  # sine of the angle between directions that count as parallel


@dataclass(frozen=True, eq=False)
class NoSlip(VelocityRows):
    """Keeps components of the velocity of ``body``, seen from a plane with ``normal`` (3,), at zero.

    The plane is fixed to the body ``other``, by default the world; (3,), world, reference configuration.
    """

    body: str
    normal: Vector = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]), kw_only=True)
    other: str = field(default=WORLD, kw_only=True)

    look = "line"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("normal", unit_axis(self.normal, f"normal of {self.label}"))
        if self.body == self.other:
            raise MechanismError(f"{self.label}: the plane is fixed to body '{self.body}' itself: give another body")

    def _ends(self, structure: "Structure") -> tuple[str, str]:
        """Return the body of the plane, and the one that moves on it."""
        return self._body(structure, self.other), self._moving(structure, self.body)

    def effort(self, held: np.ndarray, turned: np.ndarray) -> np.ndarray:
        """Return the entry of ``traj.force`` (T, ...), from the efforts ``held`` (T, n) of its elements.

        ``turned`` (T, 3, 3): rotation of the plane since the reference configuration.
        """
        raise NotImplementedError

    def plane_turned(self, structure: "Structure", quat_wxyz: np.ndarray) -> np.ndarray:
        """Return rotations (T, 3, 3) of the plane since the reference, from orientations (T, nb, 4) of all bodies."""
        if self.other == WORLD:
            return np.broadcast_to(np.eye(3), (len(quat_wxyz), 3, 3))
        start = rotation_matrix(structure.body(self.other).quat_wxyz)
        return rotation_matrix(quat_wxyz[:, structure.body_index[self.other]]) @ start.T

    def starts_open(self, height: float) -> str:
        """Return the message if a wheel does not touch its plane at the start of a run.

        ``height``: of its lowest point, m.
        """
        return (
            f"{self.label} does not touch its plane at the start: its lowest point is {abs(height):.3g} m"
            f" {'above' if height > 0 else 'below'} it; mechanism.assemble(state) puts it there"
        )
