"""Knife edges."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from varint.base.checks import array_of, unit_axis
from varint.base.errors import MechanismError
from varint.measures.edge import Edge
from varint.model.arrays import Vector
from varint.model.forces.base import Constraint, Element, register
from varint.model.forces.no_slip import PARALLEL, NoSlip

if TYPE_CHECKING:
    from varint.model.structure import Structure


@register
@dataclass(frozen=True, eq=False)
class KnifeEdge(NoSlip):
    """Keeps ``point`` (3,), m, of ``body`` from moving sideways: across its ``direction`` (3,) in a plane.

    The point moves along ``direction``, fixed to the body, and along the ``normal`` (3,) of the plane alone, seen from
    the body ``other``, by default the world, to which the plane is fixed. ``point`` is by default the centre of mass of
    the body. Points and directions in the world, reference configuration. The velocities at the start of a run are
    replaced by the nearest that obey. ``traj.force`` is the force on the body along normal x direction, N.
    """

    direction: Vector = field(kw_only=True)
    point: Vector | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("direction", unit_axis(self.direction, f"direction of {self.label}"))
        if np.linalg.norm(np.cross(self.direction, self.normal)) < PARALLEL:
            raise MechanismError(f"direction of {self.label} is along the normal of the plane: it has no side there")
        if self.point is not None:
            self._set("point", array_of(self.point, (3,), f"point of {self.label}"))

    def point_of(self, structure: "Structure") -> np.ndarray:
        """Return the point (3,), m, world, reference configuration."""
        return structure.body(self.body).position if self.point is None else self.point

    def elements(self, structure: "Structure") -> list[Element]:
        plane, body = self._ends(structure)
        return [Constraint((Edge(plane, body, self.point_of(structure), self.direction, self.normal),), (1.0,))]

    def effort(self, held: np.ndarray, turned: np.ndarray) -> np.ndarray:
        return held[:, 0]

    def outline(self, structure: "Structure") -> list[tuple[str, np.ndarray]]:
        point, body = self.point_of(structure), structure.body(self.body)
        half = np.sqrt(np.trace(body.inertia) / (2.0 * body.mass)) * self.direction  # radii of gyration
        return [(self.body, point - half), (self.body, point + half)]
