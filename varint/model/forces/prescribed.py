"""Prescribed motion of a joint coordinate."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from varint.model.arrays import Values
from varint.model.forces.along import AlongCoordinate
from varint.model.forces.base import Constraint, Element, register
from varint.model.forces.commanded import Commanded

if TYPE_CHECKING:
    from varint.model.structure import Structure


@register
@dataclass(frozen=True, eq=False)
class PrescribedMotion(Commanded, AlongCoordinate):
    """Moves a joint coordinate along ``position``, m or rad; its effort (N or N m, on body b) is what that takes.

    ``position``: a number, one a node (steps + 1,), with a cubic spline in between, or a function ``f(t)`` of the time
    (s) alone. A run must start there; angles may go on past pi. The speed at the start is the position's own.
    """

    position: float | Values | Callable = field(kw_only=True)

    constraint = True
    of_time = True
    command_name = "position"

    def elements(self, structure: "Structure") -> list[Element]:
        return [Constraint((self._measure(structure),), (1.0,), driven=True)]
