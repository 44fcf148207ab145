"""Points of paths over bodies."""

from dataclasses import dataclass

from varint.model.arrays import Vector
from varint.model.checks import Frozen, array_of, check_name


@dataclass(frozen=True, eq=False)
class At(Frozen):
    """A point (3,), m, world, reference configuration, that is fixed to ``body``, or to "world"."""

    body: str
    point: Vector

    def __post_init__(self) -> None:
        check_name(self.body, "the body of a path's point")
        object.__setattr__(self, "point", array_of(self.point, (3,), f"a point of a path on '{self.body}'"))
