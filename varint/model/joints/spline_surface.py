"""Motion over a spline surface."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import array_of, freeze
from varint.base.errors import MechanismError
from varint.model.bounds import FARTHEST, bounded
from varint.model.joints.base import ProductJoint, register
from varint.model.motion import Motion
from varint.model.product_joint import Product, inverse, pose_matrix

# cubic B-spline, rows of the four control values, by powers of the coordinate (DIFF eq. 2.68)
BASIS = np.array([[1.0, -3.0, 3.0, -1.0], [4.0, 0.0, -6.0, 3.0], [1.0, 3.0, 3.0, -3.0], [0.0, 0.0, 0.0, 1.0]]) / 6.0
ORDER = [3, 4, 5, 0, 1, 2]  # translations along x, y, z, then turns about x, y, z


@register
@dataclass(frozen=True, eq=False)
class SplineSurface(ProductJoint):
    """Body b moves with two coordinates, its pose a bicubic B-spline of both (DIFF section 2.4.13).

    ``controls`` (n1, n2, 6): control values, n1 and n2 at least 4, of the shift along x, y, z of frame a (m), then of
    the angles about x, y, z of frame b (rad; turned in that order). Frame a has its origin at ``point`` and the
    axes of the world in the reference configuration. ``at`` (2,): the coordinates in the reference configuration.
    Coordinates: numbers of control values passed, from 0 to n1 - 3 and n2 - 3; the pieces at the ends go on.
    """

    controls: Annotated[np.ndarray, (None, None, 6)] = field(kw_only=True)
    at: Annotated[np.ndarray, (2,)] = field(default=(0.0, 0.0), kw_only=True)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("controls", _checked(self.controls, f"controls of {self.label}"))
        self._set("at", array_of(self.at, (2,), f"at of {self.label}"))
        bounded(self.controls, f"controls of {self.label}")
        bounded(self.at, f"at of {self.label}", FARTHEST)

    @staticmethod
    def pose(controls: "ArrayLike", q: "ArrayLike") -> np.ndarray:
        """Return the pose (4, 4) at coordinates ``q`` (2,) of the spline of ``controls`` (n1, n2, 6)."""
        return pose_matrix(*_spline(_checked(controls, "controls")).pose(array_of(q, (2,), "q")))

    @cached_property
    def allowed(self) -> tuple[Motion, ...]:
        return (_spline(self.controls).before(inverse(self.pose(self.controls, self.at))),)


def _checked(controls: ArrayLike, label: str) -> np.ndarray:
    controls = array_of(controls, (None, None, 6), label)
    if min(controls.shape[:2]) < 4:
        raise MechanismError(f"{label} must be (n1, n2, 6) with n1, n2 from 4, got shape {controls.shape}")
    return controls


def _spline(controls: np.ndarray) -> Product:
    n1, n2 = controls.shape[0] - 3, controls.shape[1] - 3
    power = np.empty((n1, n2, 6, 4, 4))
    for i, j in np.ndindex(n1, n2):
        power[i, j] = BASIS.T @ np.moveaxis(controls[i : i + 4, j : j + 4], 2, 0) @ BASIS
    base = np.broadcast_to(np.eye(4), (n1, n2, 4, 4)).copy()
    screw = np.broadcast_to(np.eye(6)[ORDER], (n1, n2, 6, 6)).copy()
    return Product(freeze(base), freeze(screw), freeze(power), size=2)
