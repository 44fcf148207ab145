"""Gravity between bodies."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from varint.base.checks import array_of
from varint.base.errors import MechanismError
from varint.measures.length import Length
from varint.model.arrays import Vector
from varint.model.forces.base import Effort, Element, Force, register
from varint.model.forces.law import Law

if TYPE_CHECKING:
    from varint.model.structure import Structure


def _attraction(value: float, strength: float) -> tuple[float, float, float]:
    pull = strength / (value * value)
    return -pull, 2.0 * pull / value, 0.0


def _attraction_potential(value: float, strength: float) -> float:
    return -strength / value


INVERSE_SQUARE = Law("inverse square", _attraction, _attraction_potential)


@register
@dataclass(frozen=True, eq=False)
class CentralGravity(Force):
    """Inverse-square attraction of ``body_b``, at its centre of mass, to ``body_a``, on which the opposite acts.

    ``mu``, m^3/s^2: the constant of gravitation times the mass of body a. ``point_a`` (3,), m, world, reference: where
    it pulls to; by default the centre of mass of body a, the origin of the world.
    """

    body_a: str
    body_b: str
    mu: float = field(kw_only=True)
    point_a: Vector | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(mu="zero")
        if self.body_a == self.body_b:
            raise MechanismError(f"{self.label} needs two bodies, got '{self.body_a}' twice")
        if self.point_a is not None:
            self._set("point_a", array_of(self.point_a, (3,), f"point_a of {self.label}"))

    def elements(self, structure: "Structure") -> list[Element]:
        a = self._body(structure, self.body_a)
        b = structure.body(self._moving(structure, self.body_b))
        point = self.point_a
        if point is None:
            point = np.zeros(3) if a == "world" else structure.body(a).position
        return [Effort((Length(a, b.name, point, b.position),), INVERSE_SQUARE, {"strength": self.mu * b.mass})]
