"""Forces along a measure, and along a joint coordinate."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from varint.measures import Measure
from varint.model.forces.base import Effort, Element, Force
from varint.model.forces.law import Law

if TYPE_CHECKING:
    from varint.model.structure import Structure


@dataclass(frozen=True, eq=False)
class AlongMeasure(Force):
    """A force along one measure."""

    def _measure(self, structure: "Structure") -> Measure:
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class AlongCoordinate(AlongMeasure):
    """A force along coordinate number ``coordinate`` of ``joint`` (m or rad): an effort in N or N m.

    Angles count their turns from the start of a run, where they are in (-pi, pi]. Motions that share a rotation
    vector, or come after one, take no effort.
    """

    joint: str = field(kw_only=True)
    coordinate: int = field(default=0, kw_only=True)

    law: ClassVar[Law]

    def elements(self, structure: "Structure") -> list[Element]:
        return [Effort((self._measure(structure),), self._law(), self._parameters())]

    def _measure(self, structure: "Structure") -> Measure:
        return self._coordinate(structure, self.joint, self.coordinate)

    def _law(self) -> Law:
        return self.law

    def _parameters(self) -> dict[str, float]:
        """Those of the law by their names; where the force has fields of these names, these."""
        return {name: getattr(self, name) for name in self._law().parameters}
