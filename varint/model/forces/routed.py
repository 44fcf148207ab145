"""Springs and cables led over several points."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from varint.base.checks import array_of, check_name, sequence_of
from varint.base.errors import MechanismError
from varint.measures.length import Length
from varint.model.arrays import Points
from varint.model.forces.base import Effort, Element, Force, register
from varint.model.forces.law import Law
from varint.model.forces.spring import CABLE, SPRING

if TYPE_CHECKING:
    from varint.model.structure import Structure


@register
@dataclass(frozen=True, eq=False)
class MultiPointSpring(Force):
    """A spring that runs without friction over points of several bodies: one tension, by its whole length.

    ``bodies`` (n,): names, one a point, "world" among them; ``points`` (n, 3), m, world, reference. ``stiffness`` N/m,
    ``damping`` N s/m; ``rest_length`` m, by default its length in the reference configuration.
    """

    bodies: Sequence[str]
    points: Points = field(kw_only=True)
    stiffness: float = field(kw_only=True)
    damping: float = field(default=0.0, kw_only=True)
    rest_length: float | None = field(default=None, kw_only=True)

    law: ClassVar[Law] = SPRING

    def __post_init__(self) -> None:
        super().__post_init__()
        bodies = sequence_of(self.bodies, f"bodies of {self.label}", "names")
        self._set("bodies", [check_name(body, f"a body of {self.label}") for body in bodies])
        self._set("points", array_of(self.points, (len(self.bodies), 3), f"points of {self.label}"))
        if self.rest_length is None:
            self._set("rest_length", float(np.linalg.norm(np.diff(self.points, axis=0), axis=1).sum()))
        self._check(stiffness="zero", damping="zero", rest_length="zero")

    def course(self) -> list[tuple[str, np.ndarray]]:
        return list(zip(self.bodies, self.points, strict=True))

    def elements(self, structure: "Structure") -> list[Element]:
        ends = list(zip((self._body(structure, name) for name in self.bodies), self.points, strict=True))
        lengths = [Length(a, b, u, w) for (a, u), (b, w) in pairwise(ends) if a != b]
        if not lengths:
            raise MechanismError(f"{self.label} must lead from one body to another")
        inside = sum(float(np.linalg.norm(w - u)) for (a, u), (b, w) in pairwise(ends) if a == b)
        assert self.rest_length is not None  # since it was made
        parameters = {"stiffness": self.stiffness, "rest": self.rest_length - inside, "damping": self.damping}
        return [Effort(tuple(lengths), self.law, parameters)]


@register
@dataclass(frozen=True, eq=False)
class MultiPointCable(MultiPointSpring):
    __doc__ = f"""It only pulls: slack below ``rest_length``. {MultiPointSpring.__doc__}"""

    law = CABLE
    look = "line"
