"""Forces and torques applied to one body, in a direction fixed in the world or in the body."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from varint.base.checks import array_of, choice, unit_axis
from varint.model.arrays import Values, Vector
from varint.model.forces.base import BodyLoad, Element, register
from varint.model.forces.commanded import Commanded

if TYPE_CHECKING:
    from varint.model.structure import Structure


KINDS = {"world": "push", "body": "follower"}


@dataclass(frozen=True, eq=False)
class Applied(Commanded):
    """``magnitude`` along ``direction`` (3,), world axes in the reference, that is ``fixed_in`` "world" or "body"."""

    body: str
    direction: Vector = field(kw_only=True)
    magnitude: float | Values | Callable = field(kw_only=True)
    fixed_in: str = field(default="world", kw_only=True)

    command_name = "magnitude"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("direction", unit_axis(self.direction, f"direction of {self.label}"))
        choice(self.fixed_in, KINDS, f"fixed_in of {self.label}")

    def _push(self, structure: "Structure", force: np.ndarray, torque: np.ndarray, point: np.ndarray) -> list[Element]:
        body = self._moving(structure, self.body)
        return [BodyLoad(KINDS[self.fixed_in], body, force=force, torque=torque, point=point)]


@register
@dataclass(frozen=True, eq=False)
class PointForce(Applied):
    """A force, N, at ``point`` (3,) of a body, m, world, reference; by default its centre of mass."""

    point: Vector | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.point is not None:
            self._set("point", array_of(self.point, (3,), f"point of {self.label}"))

    def elements(self, structure: "Structure") -> list[Element]:
        body = structure.body(self._moving(structure, self.body))
        return self._push(structure, self.direction, np.zeros(3), body.position if self.point is None else self.point)


@register
@dataclass(frozen=True, eq=False)
class PointTorque(Applied):
    """A torque, N m, on a body."""

    def elements(self, structure: "Structure") -> list[Element]:
        return self._push(structure, np.zeros(3), self.direction, np.zeros(3))
