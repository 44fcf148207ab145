"""Resistance of a medium to the motion of one body."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from varint.model.forces.base import BodyLoad, Element, Force, register

if TYPE_CHECKING:
    from varint.model.structure import Structure


@dataclass(frozen=True, eq=False)
class Resistance(Force):
    """A force against the velocity of the centre of mass of ``body`` and a torque against its angular velocity."""

    body: str
    linear: float = field(default=0.0, kw_only=True)
    angular: float = field(default=0.0, kw_only=True)

    power: ClassVar[int]  # of the speed

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(linear="zero", angular="zero")

    def elements(self, structure: "Structure") -> list[Element]:
        body = self._moving(structure, self.body)
        parts = [{name: getattr(self, name)} for name in ("linear", "angular") if getattr(self, name)]
        return [BodyLoad("resistance", body, power=self.power, **part) for part in parts]


@register
@dataclass(frozen=True, eq=False)
class BodyDamper(Resistance):
    """Viscous: -``linear`` v, N s/m, and -``angular`` w, N m s/rad."""

    power = 1


@register
@dataclass(frozen=True, eq=False)
class Drag(Resistance):
    """Quadratic: -``linear`` |v| v, N s^2/m^2, and -``angular`` |w| w, N m s^2/rad^2."""

    power = 2
