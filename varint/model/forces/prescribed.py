"""Prescribed motion of a joint coordinate."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from varint.errors import MechanismError
from varint.model.arrays import Values
from varint.model.forces.along import AlongCoordinate
from varint.model.forces.base import Constraint, Element, register
from varint.model.forces.commanded import Commanded

if TYPE_CHECKING:
    from varint.model.structure import Structure


@register
@dataclass(frozen=True, eq=False)
class PrescribedMotion(Commanded, AlongCoordinate):
    """Moves a joint coordinate along ``position``, m or rad, or at the constant ``rate``, m/s or rad/s.

    ``position``: a number, one a node (steps + 1,), with a cubic spline in between, or a function ``f(t)`` of the time
    (s) alone, called within the run. A run must start there; angles may go on past pi. ``rate``: a number, in place of
    a position; the coordinate goes on from where the start of each run has it. The speed at the start is the motion's
    own: velocities of the start give way to it. Its effort (N or N m, on body b) is what the motion takes.
    """

    position: float | Values | Callable | None = field(default=None, kw_only=True)
    rate: float | None = field(default=None, kw_only=True)

    constraint = True
    of_time = True
    command_name = "position"

    def __post_init__(self) -> None:
        if self.rate is None and self.position is not None:
            super().__post_init__()
            return
        super(Commanded, self).__post_init__()  # there is no command
        if self.position is not None or self.rate is None:
            given = "both" if self.rate is not None else "neither"
            raise MechanismError(f"{self.label} needs position= or rate=, one of the two, got {given}")
        self._check(rate="any")

    @property
    def constant_rate(self) -> float | None:
        """``rate``"""
        return self.rate

    def elements(self, structure: "Structure") -> list[Element]:
        return [Constraint((self._measure(structure),), (1.0,), driven=True)]
