"""Forces of constraint: weighted sums of joint coordinates that stay what they are at the start of a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from varint.errors import MechanismError
from varint.measures import Measure
from varint.model.forces.base import Constraint, Element, Force

if TYPE_CHECKING:
    from varint.model.structure import Structure


@dataclass(frozen=True, eq=False)
class Coupled(Force):
    """A force of constraint; its effort times a factor acts along each coordinate, and does no work together."""

    constraint = True

    def sums(self, structure: "Structure") -> list:
        """Of each constraint the terms (joint, coordinate, factor, unit); unit "rad", "m", or None for either."""
        raise NotImplementedError

    def terms_of(self, structure: "Structure") -> list:
        """Of each constraint the terms (joint, coordinate, factor), whose sum of factor times coordinate stays."""
        return [[term[:3] for term in terms] for terms in self.sums(structure)]

    def elements(self, structure: "Structure") -> list[Element]:
        return [self._constraint(structure, terms) for terms in self.sums(structure)]

    def _constraint(self, structure: "Structure", terms: Sequence[tuple]) -> Constraint:
        measures = []
        for joint, coordinate, factor, unit in terms:
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
        return Constraint(tuple(measures), tuple(float(factor) for _, _, factor, _ in terms))


def unit_of(measure: Measure) -> str:
    """Of a coordinate: "rad" or "m"."""
    return "rad" if measure.angular else "m"
