"""Forces along a measure, and along a joint coordinate."""

from dataclasses import dataclass, field
from itertools import permutations
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from varint.base.checks import shown
from varint.base.errors import MechanismError
from varint.measures import Measure
from varint.model.forces.base import Effort, Element, Force
from varint.model.forces.law import Law

if TYPE_CHECKING:
    from varint.model.structure import Structure

ORDERS = tuple("".join(axes) for letters in ("xyz", "XYZ") for axes in permutations(letters))


@dataclass(frozen=True, eq=False)
class AlongMeasure(Force):
    """A force along one measure."""

    def _measure(self, structure: "Structure") -> Measure:
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class AlongCoordinate(AlongMeasure):
    """A force along coordinate number ``coordinate`` of ``joint`` (m, rad, or pieces of a spline), in N or N m, or J.

    The effort times the coordinate's rate is its power. Angles count their turns, from those of the `State` that a run
    starts from; splines go on past their ends. A rotation vector is that of the shortest rotation, at most half a turn:
    ``angles`` names Euler angles in place of it, in the order of their letters, as scipy's Rotation does. "xyz": roll,
    pitch and yaw about the joint's axes on body a, one after another; "XYZ": about those that turn with body b. The
    angle of the second turn is in (-pi/2, pi/2); at its ends the other two are not defined, and no effort is. The
    others count their turns: those of a `State` with coordinates of the joint are at the end of the straight path of
    the rotation vector from zero, and a state is refused on whose path the second angle reaches an end of its range.
    """

    joint: str = field(kw_only=True)
    coordinate: int = field(default=0, kw_only=True)
    angles: str | None = field(default=None, kw_only=True)

    law: ClassVar[Law]
    coordinate_fields: ClassVar[tuple[str, ...]] = ()  # numbers that are values of the coordinate

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.coordinate, int | np.integer | None):
            raise MechanismError(
                f"coordinate of {self.label} must be the number of one of the joint's, from 0 on, got"
                f" {shown(self.coordinate)}"
            )
        if self.angles is not None and not (isinstance(self.angles, str) and self.angles in ORDERS):
            raise MechanismError(
                f"angles of {self.label} must be three different letters, such as 'xyz' (about axes that stay) or"
                f" 'XYZ' (about axes that turn along), got {shown(self.angles)}"
            )

    def elements(self, structure: "Structure") -> list[Element]:
        return [Effort((self._measure(structure),), self._law(), self._parameters())]

    def _measure(self, structure: "Structure") -> Measure:
        return self._coordinate(structure, self.joint, self.coordinate or 0, self.angles)

    def _law(self) -> Law:
        return self.law

    def _parameters(self) -> dict[str, float]:
        """Return the parameters of the law by name; fields of the force of these names replace its defaults."""
        return {name: getattr(self, name) for name in self._law().parameters}
