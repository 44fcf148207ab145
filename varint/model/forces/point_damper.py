"""A damper between two points that acts against their relative velocity, whatever its direction."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from varint.measures.point import Displacement
from varint.model.body import WORLD
from varint.model.forces.base import Effort, Element, register
from varint.model.forces.spring import SPRING, BetweenPoints

if TYPE_CHECKING:
    from varint.model.structure import Structure


@register
@dataclass(frozen=True, eq=False)
class PointDamper(BetweenPoints):
    """Isotropic damping between two points: -``damping`` times their relative velocity, N s/m (DIFF, equation 1.45).

    The velocity of ``point_b`` less that of ``point_a``, in the world. The forces on the two points are opposite; where
    these are apart the two have a moment together, and rotation of both bodies as one is damped. A `Spring` with
    damping acts along the line between its points alone. Its effort as one number has no meaning: it is a sum over the
    axes of the world.
    """

    damping: float = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(damping="zero")

    def acts_on(self, structure: "Structure") -> list[str]:
        return [self.body_a, self.body_b]

    def elements(self, structure: "Structure") -> list[Element]:
        ends = [(self._body(structure, self.body_a), self.point_a, -1.0)]
        ends.append((self._body(structure, self.body_b), self.point_b, 1.0))
        ends = [end for end in ends if end[0] != WORLD]
        parameters = {"stiffness": 0.0, "rest": 0.0, "damping": self.damping}
        return [
            Effort(
                tuple(Displacement(WORLD, body, axis, point, np.zeros(3)) for body, point, _ in ends),
                SPRING,
                parameters,
                weights=tuple(weight for *_, weight in ends),
            )
            for axis in np.eye(3)
        ]
