"""Forces that move a body, or a point of one, along a prescribed motion in the world."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from varint.base.checks import in_a_shape
from varint.measures import Measure
from varint.measures.point import Displacement
from varint.model.arrays import Points, Vector
from varint.model.body import WORLD
from varint.model.forces.base import Constraint, Element, Force
from varint.model.rotation_vectors import quat_product, vector_from_quat

if TYPE_CHECKING:
    from varint.model.structure import Structure

AXES = np.eye(3)
ORIGIN = np.zeros(3)


@dataclass(frozen=True, eq=False)
class Moved(Force):
    """Moves ``body`` along ``position``, m, world: (3,), one row a node (steps + 1, 3), or a function of time."""

    body: str
    position: Vector | Points | Callable = field(kw_only=True)

    constraint = True
    commanded = True
    turned: ClassVar[bool] = False  # whether it turns the body, too

    @property
    def orientation(self) -> np.ndarray | Callable | None:
        """Return (4,), (steps + 1, 4), or a function of time.

        None if the initial one is kept, or none is prescribed.
        """
        return None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.position):
            wanted = "three numbers, one row of them a node, or a function of time"
            array = in_a_shape(self.position, ((3,), (None, 3)), f"position of {self.label}", wanted=wanted)
            self._set("position", array)

    def moved_point(self, structure: "Structure") -> np.ndarray:
        """Return the point (3,), m, world, reference configuration, that ``position`` prescribes."""
        raise NotImplementedError

    def elements(self, structure: "Structure") -> list[Element]:
        return [Constraint((measure,), (1.0,), driven=True) for measure in self._measures(structure)]

    def _measures(self, structure: "Structure") -> list[Measure]:
        body, point = self._moving(structure, self.body), self.moved_point(structure)
        return [Displacement(WORLD, body, axis, point, ORIGIN) for axis in AXES]

    def turn(self, structure: "Structure", quat: np.ndarray) -> np.ndarray:
        """Return rotation vectors (..., 3), rad, world, from the reference to orientations (..., 4), up to pi."""
        turned = quat_product(quat, structure.body(self.body).quat_wxyz * [1.0, -1.0, -1.0, -1.0])
        return vector_from_quat(np.where(turned[..., :1] < 0, -turned, turned))

    def effort(self, structure: "Structure", held: np.ndarray, quat: np.ndarray) -> np.ndarray:
        """Return the force (T, 3), N, world, or with the torque, N m, (T, 6), of the efforts ``held`` (T, elements).

        ``quat`` (T, 4): the orientation of the body.
        """
        return held
