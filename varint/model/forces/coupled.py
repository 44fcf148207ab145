"""Forces of constraint: weighted sums of joint coordinates that stay what they are at the start of a run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from varint.base.errors import MechanismError
from varint.measures import Measure
from varint.model.forces.base import Constraint, Element, Force

if TYPE_CHECKING:
    from varint.model.structure import Structure


@dataclass(frozen=True, eq=False)
class Coupled(Force):
    """A force of constraint; its effort times a factor acts along each coordinate, and does no work together."""

    constraint = True

    def sums(self, structure: "Structure") -> list:
        """Return the terms of each constraint (joint, coordinate, factor, unit); unit "rad", "m", or None for either.

        A fifth part is a function of the coordinate in place of itself, value -> (value, slope, curvature).
        """
        raise NotImplementedError

    def terms_of(self, structure: "Structure") -> list:
        """Return the terms of each constraint (joint, coordinate, factor, function).

        Their sum of factor times coordinate, or times the function of it that is not None, stays.
        """
        return [[(*term[:3], *(term[4:] or (None,))) for term in terms] for terms in self.sums(structure)]

    def bent(self, structure: "Structure") -> set[str]:
        """Return the joints with coordinates that follow others by functions, not in proportion."""
        return {t[0] for terms in self.terms_of(structure) if any(term[3] for term in terms) for t in terms if not t[3]}

    def check_functions(self, coordinate: Callable[[str, int], float]) -> None:
        """Raise MechanismError where functions of coordinates are wrong at the start of a run.

        ``coordinate``: of a joint and the number of one of its coordinates, there.
        """

    def elements(self, structure: "Structure") -> list[Element]:
        return [self._constraint(structure, terms) for terms in self.sums(structure)]

    def held_joints(self, structure: "Structure") -> list[str]:
        return [joint for terms in self.sums(structure) for joint, *_ in terms]

    def _constraint(self, structure: "Structure", terms: Sequence[tuple]) -> Constraint:
        measures = []
        for joint, coordinate, factor, unit, *_ in terms:
            measure = self._coordinate(structure, joint, coordinate)
            if unit not in (None, unit_of(measure)):
                is_, wanted = ("an angle", "a displacement") if measure.angular else ("a displacement", "an angle")
                raise MechanismError(
                    f"{self.label}: coordinate {coordinate} of joint '{joint}' is {is_}, it must be {wanted}"
                )
            if not np.isfinite(factor) or factor == 0.0:
                raise MechanismError(f"{self.label}: the factor of joint '{joint}' must be finite and not zero")
            measures.append(measure)
        if len({(joint, coordinate) for joint, coordinate, *_ in terms}) < len(terms):
            raise MechanismError(f"{self.label} names the same coordinate twice")
        functions = tuple((*term[4:], None)[0] for term in terms)
        return Constraint(tuple(measures), tuple(float(factor) for _, _, factor, *_ in terms), functions=functions)


def unit_of(measure: Measure) -> str:
    """Return the unit of a coordinate: "rad" or "m"."""
    return "rad" if measure.angular else "m"
