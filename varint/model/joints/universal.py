"""Hooke joint."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from varint.base.checks import unit_axis
from varint.base.errors import MechanismError
from varint.model.arrays import Vector
from varint.model.joints.base import ALONG_ALL, AxisJoint, Square, X, Y, register
from varint.model.motion import Turn


@register
@dataclass(frozen=True, eq=False)
class Universal(AxisJoint):
    """Two rotations at ``point``: about ``axis``, fixed to a, then ``axis_b``, fixed to b, at right angles.

    Coordinates: the two angles, rad.
    """

    axis_b: Vector = field(kw_only=True)

    forbidden = ALONG_ALL + (Square(X, Y),)
    allowed = (Turn(X), Turn(Y))

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("axis_b", unit_axis(self.axis_b, f"axis_b of {self.label}"))
        if abs(self.axis @ self.axis_b) > 1e-9:
            raise MechanismError(
                f"axis and axis_b of {self.label} must be at right angles, their cosine is {self.axis @ self.axis_b:g}"
            )

    @cached_property
    def frame(self) -> np.ndarray:
        return np.column_stack([self.axis, self.axis_b, np.cross(self.axis, self.axis_b)])

    def measure(self, R: np.ndarray, p: np.ndarray) -> np.ndarray:
        return np.stack([np.arctan2(R[..., 2, 1], R[..., 1, 1]), np.arctan2(R[..., 0, 2], R[..., 0, 0])], axis=-1)
