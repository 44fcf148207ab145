"""Contact with the ground by penalty."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from varint.measures.point import Displacement
from varint.model.arrays import Vector
from varint.model.body import WORLD
from varint.model.checks import array_of, unit_axis
from varint.model.forces.base import BodyLoad, Effort, Element, Force, register
from varint.model.forces.stop import STOP

if TYPE_CHECKING:
    from varint.model.structure import Structure


@register
@dataclass(frozen=True, eq=False)
class GroundContact(Force):
    """A point of a body that a plane of the world holds up: a one-sided spring with damping, and dry friction.

    ``point`` (3,) of the body and ``ground`` (3,) of the plane, m, world, reference; ``normal`` (3,) points out of it.
    ``stiffness`` N/m, ``damping`` N s/m. Friction is ``friction`` times the normal force, against the sliding
    velocity as tanh(v / ``smoothing``), m/s. ``traj.force`` is the sum of the normal force and the friction.
    """

    body: str
    point: Vector = field(kw_only=True)
    ground: Vector = field(default_factory=lambda: np.zeros(3), kw_only=True)
    normal: Vector = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]), kw_only=True)
    stiffness: float = field(kw_only=True)
    damping: float = field(default=0.0, kw_only=True)
    friction: float = field(default=0.0, kw_only=True)
    smoothing: float = field(default=1e-3, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("point", "ground"):
            self._set(name, array_of(getattr(self, name), (3,), f"{name} of {self.label}"))
        self._set("normal", unit_axis(self.normal, f"normal of {self.label}"))
        self._check(stiffness="positive", damping="zero", friction="zero", smoothing="positive")

    def elements(self, structure: "Structure") -> list[Element]:
        body = self._moving(structure, self.body)
        height = Displacement(WORLD, body, self.normal, self.point, self.ground)
        given = {"stiffness": self.stiffness, "damping": self.damping, "lower": 0.0, "upper": np.inf}
        pressure = Effort((height,), STOP, given)
        if not self.friction:
            return [pressure]
        sliding = BodyLoad(
            "sliding", body, normal=self.normal, point=self.point, friction=self.friction, smoothing=self.smoothing,
            pressed_by=pressure,
        )  # fmt: skip
        return [pressure, sliding]
