"""Tendons: springs along paths that wrap around surfaces."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from varint.model.forces.along_path import AlongPath
from varint.model.forces.base import Effort, Element, register
from varint.model.forces.spring import CABLE, SPRING

if TYPE_CHECKING:
    from varint.model.structure import Structure


@register
@dataclass(frozen=True, eq=False)
class Tendon(AlongPath):
    """A spring along a path over points, around surfaces and by pulleys; slack below ``rest_length``.

    ``path``: a list of `At`, `Around` and `Pulley`; ``smoothing``, m, about a fortieth of a radius: rounds off where
    the path meets a surface, 0 for the sharp path. ``stiffness`` N/m, ``damping`` N s/m, ``rest_length`` m, by default
    its length in the reference configuration. ``one_sided=False``: it pushes below that length.
    """

    stiffness: float = field(kw_only=True)
    damping: float = field(default=0.0, kw_only=True)
    rest_length: float | None = field(default=None, kw_only=True)
    one_sided: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rest_length is None:
            self._set("rest_length", self.reference_length)
        self._check(stiffness="zero", damping="zero", rest_length="zero")

    def elements(self, structure: "Structure") -> list[Element]:
        assert self.rest_length is not None  # since it was made
        path = self.summed(structure)
        rest = self.rest_length - path.fixed
        parameters = {"stiffness": self.stiffness, "rest": rest, "damping": self.damping}
        law = CABLE if self.one_sided else SPRING
        return [Effort(path.measures, law, parameters, weights=path.weights)]
