"""Prescribed motion in the world: of a point of a body, and of a body with its orientation."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from varint.base.checks import array_of, in_a_shape, unit_quaternion
from varint.measures import Measure
from varint.measures.frame import FrameCoordinate
from varint.model.arrays import Quaternion, Quaternions, Vector
from varint.model.body import WORLD
from varint.model.forces.base import register
from varint.model.forces.moved import AXES, ORIGIN, Moved

if TYPE_CHECKING:
    from varint.model.structure import Structure


@register
@dataclass(frozen=True, eq=False)
class PrescribedPoint(Moved):
    """Moves ``point`` (3,), m, world, reference configuration, of ``body`` along ``position``, m, world.

    ``position``: (3,), one row a node (steps + 1, 3), with cubic splines in between, or a function ``f(t)`` of the time
    (s) alone that gives three numbers, called within the run. A run must start there. The velocity at the start is the
    motion's own. Its effort is the force on the body (T, 3), N, world (DIFF section 2.9).
    """

    point: Vector = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("point", array_of(self.point, (3,), f"point of {self.label}"))

    def moved_point(self, structure: "Structure") -> np.ndarray:
        return self.point


@register
@dataclass(frozen=True, eq=False)
class PrescribedBody(Moved):
    """Moves the centre of mass of ``body`` along ``position``, m, world, and turns the body by ``quat_wxyz``.

    Both are constant, (3,) and (4,), have one row a node (steps + 1, 3) and (steps + 1, 4), with cubic splines in
    between, or are functions ``f(t)`` of the time (s) alone, called within the run. Where no ``quat_wxyz`` is given the
    body keeps the orientation of the start; else it is up to 3 rad from that of the reference configuration. A run must
    start there. The velocity at the start is the motion's own. Its effort (T, 6) is the force, N, and the torque about
    the centre of mass, N m, on the body, both world (DIFF section 2.9).
    """

    quat_wxyz: Quaternion | Quaternions | Callable | None = field(default=None, kw_only=True)

    turned = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.quat_wxyz is None or callable(self.quat_wxyz):
            return
        label, wanted = f"quat_wxyz of {self.label}", "four numbers, one row of them a node, or a function of time"
        quaternions = in_a_shape(self.quat_wxyz, ((4,), (None, 4)), label, wanted=wanted)
        rows = [unit_quaternion(row, label) for row in np.atleast_2d(quaternions)]
        self._set("quat_wxyz", np.reshape(rows, quaternions.shape))

    @property
    def orientation(self) -> np.ndarray | Callable | None:
        return self.quat_wxyz

    def moved_point(self, structure: "Structure") -> np.ndarray:
        return structure.body(self.body).position

    def _measures(self, structure: "Structure") -> list[Measure]:
        shifts, point = super()._measures(structure), self.moved_point(structure)
        return [*shifts, *(FrameCoordinate(WORLD, self.body, ORIGIN, axis, point, ORIGIN) for axis in AXES)]

    def effort(self, structure: "Structure", held: np.ndarray, quat: np.ndarray) -> np.ndarray:
        """Return the effort, see `Moved`: d rho/dt of the rotation vector is its inverse left Jacobian by the spin."""
        rho = self.turn(structure, quat)
        angle = np.linalg.norm(rho, axis=-1, keepdims=True)
        near = angle < 1e-3
        t = np.where(near, 1.0, angle)
        f = np.where(near, 1.0 / 12.0 + angle**2 / 720.0, (1.0 - 0.5 * t / np.tan(0.5 * t)) / (t * t))
        along = held[..., 3:]
        once = np.cross(rho, along)
        return np.concatenate([held[..., :3], along + 0.5 * once + f * np.cross(rho, once)], axis=-1)
