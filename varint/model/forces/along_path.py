"""Base of forces along paths that wrap around surfaces."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from varint.base.checks import not_negative
from varint.base.errors import MechanismError
from varint.model.forces.base import Force
from varint.model.forces.path import At
from varint.model.forces.wrapped_path import (
    Around,
    Pulley,
    Summed,
    check_surfaces,
    path_of,
    pieces,
    summed,
    whole_length,
)

if TYPE_CHECKING:
    from varint.model.structure import Structure


@dataclass(frozen=True, eq=False)
class AlongPath(Force):
    """A force along a path without friction: one tension, by its whole length.

    ``path``: a list of `At`, `Around` and `Pulley`. ``smoothing``, m: rounds off where the path meets a surface, about
    a fortieth of the radius; 0 for the sharp path, whose moment arm has kinks there.
    """

    path: Sequence[At | Around | Pulley] = field(kw_only=True)
    smoothing: float = field(default=0.0, kw_only=True)

    look = "line"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("path", path_of(self.path, self.label))
        self._set("smoothing", not_negative(0.0 if self.smoothing is None else self.smoothing, "smoothing"))
        check_surfaces(self.path, self.smoothing, self.label)

    @property
    def reference_length(self) -> float:
        """Return the length of the path in the reference configuration, m."""
        return whole_length(self.path, self.smoothing)

    def course(self) -> list[tuple[str, np.ndarray]]:
        return [(entry.body, entry.point) for entry in self.path if isinstance(entry, At)]

    def branches(self, structure: "Structure") -> list[tuple[list[tuple[str, np.ndarray]], list]]:
        branches: list[tuple[list[tuple[str, np.ndarray]], list]] = []
        end: At | None = None
        for piece in pieces(self.path):
            if not branches or piece.begin is not end:
                branches.append(([(piece.begin.body, piece.begin.point)], []))
            course, surfaces = branches[-1]
            course.append((piece.end.body, piece.end.point))
            surfaces.append(piece.around and (piece.around.body, piece.around.surface, self.smoothing))
            end = piece.end
        return branches

    def summed(self, structure: "Structure") -> Summed:
        """Return the path as measures. Raises MechanismError if no part of it moves."""
        path = summed(self.path, self.smoothing, lambda name: self._body(structure, name))
        if not path.measures:
            raise MechanismError(f"{self.label} must lead from one body to another")
        return path
