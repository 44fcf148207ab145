"""Contact with a rigid plane."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from varint.base.checks import array_of, unit_axis
from varint.base.errors import MechanismError
from varint.measures.point import Displacement
from varint.model.arrays import Points, Vector
from varint.model.body import WORLD
from varint.model.forces.base import Element, Force, PlaneContact, register

if TYPE_CHECKING:
    from varint.model.structure import Structure


@register
@dataclass(frozen=True, eq=False)
class HardContact(Force):
    """Points of a body, or balls of ``radius`` (m) about them, that cannot pass a plane of the world; dry friction.

    ``points`` (P, 3) of the body, by default its centre of mass, and ``ground`` (3,) of the plane, m, world,
    reference; ``normal`` (3,) points out of it. So a sphere is its centre and its radius, a capsule the centres of its
    two ends and its radius, a box its eight corners; with neither points nor radius the centre of mass alone touches,
    which slides and turns no body. Each impact turns the rate of approach to -``restitution`` times
    itself (0 to 1), and less where a rebound with friction would bring energy in. ``friction`` is Coulomb's
    coefficient, sticking included (docs/theory.md section 14). For `varint.simulate` of order 1 or 2,
    `varint.Lobatto`, and `varint.redmax.simulate` with "dop853", "rk45" or "radau", all of which but the first locate
    all its events, or "euler" (DIFF sections 1.11 to 1.13). ``traj.force`` is the normal force, N; see also
    ``traj.contact_force`` and ``traj.penetration``.
    """

    body: str
    points: Points | None = field(default=None, kw_only=True)
    radius: float = field(default=0.0, kw_only=True)
    ground: Vector = field(default_factory=lambda: np.zeros(3), kw_only=True)
    normal: Vector = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]), kw_only=True)
    friction: float = field(default=0.0, kw_only=True)
    restitution: float = field(default=0.0, kw_only=True)

    solved_for: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.points is not None:
            self._set("points", array_of(self.points, (None, 3), f"points of {self.label}"))
            if not self.points.size:
                raise MechanismError(f"points of {self.label} must be at least one")
        self._set("ground", array_of(self.ground, (3,), f"ground of {self.label}"))
        self._set("normal", unit_axis(self.normal, f"normal of {self.label}"))
        self._check(radius="zero", friction="zero", restitution="zero")
        if self.restitution > 1.0:
            raise MechanismError(f"restitution of {self.label} must be at most 1, got {self.restitution:g}")

    def elements(self, structure: "Structure") -> list[Element]:
        body, points = self._moving(structure, self.body), self.points_of(structure)
        heights = tuple(Displacement(WORLD, body, self.normal, point, self.ground) for point in points)
        numbers = self.friction, self.restitution
        return [PlaneContact(body, points, self.radius, self.ground, self.normal, *numbers, heights)]

    def points_of(self, structure: "Structure") -> np.ndarray:
        """Return ``points`` (P, 3), or the centre of mass."""
        return structure.body(self.body).position[None] if self.points is None else self.points
