"""Springs and dampers between two points."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from varint.base.checks import array_of
from varint.base.errors import MechanismError
from varint.measures import Measure
from varint.measures.length import Length
from varint.model.arrays import Vector
from varint.model.forces.along import AlongMeasure
from varint.model.forces.base import Effort, Element, register
from varint.model.forces.law import Law

if TYPE_CHECKING:
    from varint.model.structure import Structure


@dataclass(frozen=True, eq=False)
class BetweenPoints(AlongMeasure):
    """A force along the line between ``point_a`` of body a and ``point_b`` of body b (3,), m, world, reference."""

    body_a: str
    body_b: str
    point_a: Vector = field(kw_only=True)
    point_b: Vector = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.body_a == self.body_b:
            raise MechanismError(f"{self.label} connects '{self.body_a}' to itself")
        for which in ("point_a", "point_b"):
            self._set(which, array_of(getattr(self, which), (3,), f"{which} of {self.label}"))

    def course(self) -> list[tuple[str, np.ndarray]]:
        return [(self.body_a, self.point_a), (self.body_b, self.point_b)]

    def _measure(self, structure: "Structure") -> Measure:
        a, b = (self._body(structure, name) for name in (self.body_a, self.body_b))
        return Length(a, b, self.point_a, self.point_b)


def _linear(value: float, rate: float, stiffness: float, rest: float, damping: float) -> tuple[float, float, float]:
    return -stiffness * (value - rest) - damping * rate, -stiffness, -damping


def _linear_potential(value: float, stiffness: float, rest: float, damping: float) -> float:
    return 0.5 * stiffness * (value - rest) ** 2


def _one_sided(value: float, rate: float, stiffness: float, rest: float, damping: float) -> tuple[float, float, float]:
    effort = -stiffness * (value - rest) - damping * rate
    if value <= rest or effort >= 0.0:
        return 0.0, 0.0, 0.0
    return effort, -stiffness, -damping


def _one_sided_potential(value: float, stiffness: float, rest: float, damping: float) -> float:
    return 0.5 * stiffness * max(value - rest, 0.0) ** 2


SPRING = Law("spring", _linear, _linear_potential)
CABLE = Law("cable", _one_sided, _one_sided_potential, one_sided=True)


@register
@dataclass(frozen=True, eq=False)
class Spring(BetweenPoints):
    """A linear spring, N/m, of ``rest_length`` (m), by default its length in the reference; ``damping`` N s/m."""

    stiffness: float = field(kw_only=True)
    damping: float = field(default=0.0, kw_only=True)
    rest_length: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rest_length is None:
            self._set("rest_length", float(np.linalg.norm(self.point_b - self.point_a)))
        self._check(stiffness="zero", damping="zero", rest_length="zero")

    law: ClassVar[Law] = SPRING

    def elements(self, structure: "Structure") -> list[Element]:
        assert self.rest_length is not None  # since it was made
        parameters = {"stiffness": self.stiffness, "rest": self.rest_length, "damping": self.damping}
        return [Effort((self._measure(structure),), self.law, parameters)]


@register
@dataclass(frozen=True, eq=False)
class Cable(Spring):
    """A spring that only pulls: slack below ``rest_length``."""

    law = CABLE
    look = "line"
