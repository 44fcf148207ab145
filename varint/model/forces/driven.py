"""Forces that move a joint coordinate along a prescribed motion."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from varint.model.forces.along import AlongCoordinate
from varint.model.forces.base import Constraint, Element
from varint.model.forces.commanded import Commanded

if TYPE_CHECKING:
    from varint.model.structure import Structure


@dataclass(frozen=True, eq=False)
class Driven(Commanded, AlongCoordinate):
    """Moves a joint coordinate along its input; without an input, at its constant rate."""

    constraint = True
    of_time = True

    @property
    def derivatives(self) -> Mapping[str, Callable]:
        """Return the known derivatives of the input, "rate" and "acceleration", as functions of time."""
        return {}

    def elements(self, structure: "Structure") -> list[Element]:
        return [Constraint((self._measure(structure),), (1.0,), driven=True)]

    def held_joints(self, structure: "Structure") -> list[str]:
        return [self.joint]
