"""The inertia of muscles, tendons and ropes: mass along a path."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from varint.base.checks import not_negative
from varint.model.forces.base import Element, Force, register
from varint.model.forces.path import At, checked_belly, checked_lumped, checked_path, path_inertia

if TYPE_CHECKING:
    from varint.model.structure import Structure


@register
@dataclass(frozen=True, eq=False)
class PathMass(Force):
    """Mass, kg, spread evenly along a path over points of several bodies, that moves with it, equal strain everywhere.

    ``path``: points `vi.At`, m, world, reference configuration, straight in between. ``belly``: fractions of the length
    between which the mass is. The integrals over the path are exact, with the momentum of the mass that turns round a
    point; ``lumped=n`` takes n particles at fixed fractions instead, without it, ``lumped=True`` 20. No ``mass``, no
    force at all. It exerts no effort. For `vi.simulate` with steps of one size, and for reduced coordinates with
    explicit integrators, "matrix" and "euler".
    """

    path: Sequence[At] = field(kw_only=True)
    mass: float = field(kw_only=True)
    belly: Sequence[float] = field(default=(0.0, 1.0), kw_only=True)
    lumped: int | bool | None = field(default=None, kw_only=True)

    restricted: ClassVar[bool] = True
    look: ClassVar[str] = "line"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("path", checked_path(self.path, self.label))
        self._set("mass", not_negative(self.mass, f"mass of {self.label}"))
        self._set("belly", tuple(checked_belly(self.belly, self.label).tolist()))
        self._set("lumped", checked_lumped(self.lumped, self.label))

    def course(self) -> list[tuple[str, np.ndarray]]:
        return [(at.body, at.point) for at in self.path]

    def elements(self, structure: "Structure") -> list[Element]:
        for at in self.path:
            self._body(structure, at.body)
        return path_inertia(self.path, self.mass, np.array(self.belly), self.lumped)
