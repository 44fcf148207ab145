"""Screw."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from varint.base.checks import finite
from varint.base.errors import MechanismError
from varint.model.bounds import divisor
from varint.model.joints.base import AxisJoint, ProductJoint, Z, angle_about_z, register
from varint.model.motion import Motion, Turn
from varint.model.product_joint import along_screw


@register
@dataclass(frozen=True, eq=False)
class Helical(AxisJoint, ProductJoint):
    """Rotation about ``axis`` through ``point`` with a displacement of ``lead`` (m) a turn; coordinate: the angle, rad.

    A left-hand thread has a negative lead.
    """

    lead: float = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("lead", finite(self.lead, f"lead of {self.label}"))
        if self.lead == 0.0:
            raise MechanismError(f"{self.label} needs a lead: use a revolute joint for none")
        divisor(self.lead, f"lead of {self.label}")

    @cached_property
    def allowed(self) -> tuple[Motion, ...]:
        return (along_screw([0.0, 0.0, 1.0, 0.0, 0.0, self.lead / (2 * np.pi)], "rad"),)

    @property
    def shown(self) -> tuple[Motion, ...]:
        return (Turn(Z),)

    def measure(self, R: np.ndarray, p: np.ndarray) -> np.ndarray:
        angle, advanced = angle_about_z(R), 2 * np.pi / self.lead * p[..., Z, None]
        return angle + 2 * np.pi * np.round((advanced - angle) / (2 * np.pi))
