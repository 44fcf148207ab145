"""Wheels that roll without slip."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from varint.base.checks import array_of, unit_axis
from varint.base.errors import MechanismError
from varint.measures.rim import Rim
from varint.measures.rolling import Rolling
from varint.model.arrays import Vector
from varint.model.forces.base import Constraint, Element, register
from varint.model.forces.no_slip import PARALLEL, NoSlip

if TYPE_CHECKING:
    from varint.model.structure import Structure

LARGEST_GAP = 1e-8  # m, or radii: how far from its plane a wheel may be in the reference configuration
RIM_POINTS = 24  # of the circle in pictures


@register
@dataclass(frozen=True, eq=False)
class RollingWheel(NoSlip):
    """A disc or a sphere of ``radius``, m, part of ``body``, that rolls without slip on a plane and stays on it.

    With an ``axis`` (3,) it is a thin disc about it, which touches the plane with the lowest point of its rim;
    without one a sphere. ``centre`` (3,), m, by default the centre of mass of the body. The plane goes through
    ``ground`` (3,), m, and is fixed to the body ``other``, by default the world; ``normal`` (3,) points to the wheel's
    side. All are world, reference configuration, where the wheel touches the plane; a run must start there, and its
    velocities are replaced by the nearest that do not slip. ``traj.force`` is the force on the body at the contact
    (T, 3), N, world; that along the normal may pull. The plane holds it by whatever friction this takes. A disc that
    falls flat ends the run with a ConvergenceError. `diagnose` counts freedoms of velocities: a disc has three.
    """

    radius: float = field(kw_only=True)
    axis: Vector | None = field(default=None, kw_only=True)
    centre: Vector | None = field(default=None, kw_only=True)
    ground: Vector = field(default_factory=lambda: np.zeros(3), kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(radius="positive")
        if self.axis is not None:
            self._set("axis", unit_axis(self.axis, f"axis of {self.label}"))
            if np.linalg.norm(np.cross(self.axis, self.normal)) < PARALLEL:
                raise MechanismError(
                    f"axis of {self.label} is along the normal of the plane: a disc that lies flat has no lowest point"
                )
        if self.centre is not None:
            self._set("centre", array_of(self.centre, (3,), f"centre of {self.label}"))
        self._set("ground", array_of(self.ground, (3,), f"ground of {self.label}"))

    def centre_of(self, structure: "Structure") -> np.ndarray:
        """Return the centre (3,), m, world, reference configuration."""
        return structure.body(self.body).position if self.centre is None else self.centre

    def directions(self) -> np.ndarray:
        """Return rows (3, 3): the normal, and two directions of the plane; world, reference configuration."""
        seed = np.eye(3)[np.argmin(np.abs(self.normal))]
        first = np.cross(self.normal, seed)
        first /= np.linalg.norm(first)
        return np.array([self.normal, first, np.cross(self.normal, first)])

    def elements(self, structure: "Structure") -> list[Element]:
        plane, body = self._ends(structure)
        centre, axis = self.centre_of(structure), np.zeros(3) if self.axis is None else self.axis
        up = self.normal - (self.normal @ axis) * axis
        height = float(self.normal @ (centre - self.radius * up / np.linalg.norm(up) - self.ground))
        if not abs(height) <= LARGEST_GAP * max(1.0, self.radius):
            raise MechanismError(
                f"{self.label} does not touch its plane in the reference configuration: its lowest point is"
                f" {abs(height):.3g} m {'above' if height > 0 else 'below'} it; move body '{self.body}', or ground="
            )
        facts = self.normal, self.ground, centre, axis, self.radius
        rows = self.directions()
        measures = [Rim(plane, body, rows[0], *facts), *(Rolling(plane, body, row, *facts) for row in rows[1:])]
        return [Constraint((measure,), (1.0,)) for measure in measures]

    def effort(self, held: np.ndarray, turned: np.ndarray) -> np.ndarray:
        """Return the force (T, 3), N, world, on the body, see `NoSlip`."""
        return np.einsum("tij,tj->ti", turned, held @ self.directions())

    def outline(self, structure: "Structure") -> list[tuple[str, np.ndarray]]:
        across = self.directions()[1] if self.axis is None else self.axis
        first = np.cross(across, np.eye(3)[np.argmin(np.abs(across))])
        first /= np.linalg.norm(first)
        angles = np.linspace(0.0, 2.0 * np.pi, RIM_POINTS + 1)[:, None]
        rim = np.cos(angles) * first + np.sin(angles) * np.cross(across, first)
        centre = self.centre_of(structure)
        return [(self.body, centre), *((self.body, point) for point in centre + self.radius * rim)]
