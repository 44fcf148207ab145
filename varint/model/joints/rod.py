"""Massless rod."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

import numpy as np

from varint.base.checks import positive
from varint.base.errors import MechanismError
from varint.measures.distance import Distance
from varint.model.bounds import divisor
from varint.model.joints.base import Joint, X, Y, Z, frame_about, register
from varint.model.motion import Ball, Motion, Shift, Turn
from varint.model.rotation_vectors import vector_from_matrix


@register
@dataclass(frozen=True, eq=False)
class Rod(Joint):
    """Keeps ``point`` of body a and ``point_b`` of body b at a distance, as a massless rod with ball ends does.

    ``length``: m, that of the reference configuration where not given. Frame Z runs from
    ``point`` to ``point_b``. Coordinates: the rod's two angles about frame X and then Y, the
    rotation vector of b from there (rad).
    """

    length: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        distance = float(np.linalg.norm(self._apart))
        if distance == 0.0:
            raise MechanismError(f"{self.label} needs point and point_b apart: use a spherical joint for no length")
        length = distance if self.length is None else positive(self.length, f"length of {self.label}")
        divisor(length, f"length of {self.label}")
        self._set("length", length)

    @property
    def _apart(self) -> np.ndarray:
        assert self.point is not None  # since it was made
        assert self.point_b is not None
        return self.point_b - self.point

    @cached_property
    def frame(self) -> np.ndarray:
        return frame_about(self._apart / np.linalg.norm(self._apart))

    @property
    def forbidden(self) -> tuple:
        return (Distance(cast(float, self.length)),)

    @property
    def allowed(self) -> tuple[Motion, ...]:
        assert self.length is not None
        return (Turn(X), Turn(Y), Shift(Z, self.length), Ball())

    def measure(self, R: np.ndarray, p: np.ndarray) -> np.ndarray:
        a, b = np.arctan2(-p[..., Y], p[..., Z]), np.arctan2(p[..., X], np.hypot(p[..., Y], p[..., Z]))
        y = np.stack([np.zeros_like(a), np.cos(a), np.sin(a)], axis=-1)
        z = np.stack([np.sin(b), -np.sin(a) * np.cos(b), np.cos(a) * np.cos(b)], axis=-1)
        turned_back = np.stack([np.cross(y, z), y, z], axis=-2)  # the transpose of a turn about X, then Y
        return np.concatenate([np.stack([a, b], axis=-1), vector_from_matrix(turned_back @ R)], axis=-1)
