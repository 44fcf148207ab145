"""Motion along a spline."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import array_of, finite, flag, freeze
from varint.base.errors import MechanismError
from varint.model.bounds import FARTHEST, bounded
from varint.model.joints.base import ProductJoint, register
from varint.model.motion import Motion
from varint.model.product_joint import Product, inverse, logarithm, pose_matrix

# cumulative cubic B-spline, by powers of the coordinate (DIFF eqs. 2.68, 2.72)
CUMULATIVE = np.array([[5.0, 3.0, -3.0, 1.0], [1.0, 3.0, 3.0, -2.0], [0.0, 0.0, 0.0, 1.0]]) / 6.0


@register
@dataclass(frozen=True, eq=False)
class SplineCurve(ProductJoint):
    """Body b runs along a cubic B-spline of frames, of continuous curvature (DIFF section 2.4.12).

    ``frames`` (n, 4, 4): control frames, poses of frame b in frame a, which has its origin at ``point`` and the axes of
    the world in the reference configuration. ``closed``: whether the last is followed by the first again. ``at``: the
    coordinate in the reference configuration. Coordinate: number of control frames passed, from 0 to n, and round
    again; if not closed to n - 3, with the pieces at the ends going on.
    """

    frames: Annotated[np.ndarray, (None, 4, 4)] = field(kw_only=True)
    closed: bool = field(default=True, kw_only=True)
    at: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        frames = _checked(self.frames, f"frames of {self.label}")
        for k, T in enumerate(frames):
            off = max(np.abs(T[:3, :3].T @ T[:3, :3] - np.eye(3)).max(), np.abs(T[3] - [0, 0, 0, 1]).max())
            if off > 1e-8 or np.linalg.det(T[:3, :3]) < 0:
                raise MechanismError(
                    f"frame {k} of {self.label} is not a pose [[R, p], [0, 1]]: it is off by {off:.3g}"
                )
        bounded(frames, f"frames of {self.label}")
        self._set("frames", frames)
        self._set("at", finite(self.at, f"at of {self.label}"))
        bounded(self.at, f"at of {self.label}", FARTHEST)

    @staticmethod
    def pose(frames: "ArrayLike", q: float, closed: bool = True) -> np.ndarray:
        """Return the pose (4, 4) at coordinate ``q`` of the spline of control ``frames`` (n, 4, 4)."""
        spline = _spline(_checked(frames, "frames"), flag(closed, "closed"))
        return pose_matrix(*spline.pose(np.array([finite(q, "q")])))

    @cached_property
    def allowed(self) -> tuple[Motion, ...]:
        return (_spline(self.frames, self.closed).before(inverse(self.pose(self.frames, self.at, self.closed))),)


def _checked(frames: ArrayLike, label: str) -> np.ndarray:
    frames = array_of(frames, (None, 4, 4), label)
    if len(frames) < 4:
        raise MechanismError(f"{label} must be at least 4 poses (n, 4, 4)")
    return frames


def _spline(frames: np.ndarray, closed: bool) -> Product:
    n = len(frames)
    step = np.array([logarithm(inverse(frames[k - 1]) @ frames[k]) for k in range(n)])
    pieces = n if closed else n - 3
    power = np.zeros((pieces, 1, 3, 4, 4))
    power[..., 0] = CUMULATIVE
    screw = np.array([[step[(k + i) % n] for i in (1, 2, 3)] for k in range(pieces)])[:, None]
    return Product(frames[:pieces, None], freeze(screw), freeze(power), closed=closed)
