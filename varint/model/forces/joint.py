"""Forces along a coordinate of a joint: springs, dampers, friction, stops, servos, motors."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from varint.errors import MechanismError
from varint.model.forces.base import Element, Force, register
from varint.model.forces.commanded import Commanded


@dataclass(frozen=True, eq=False)
class AlongCoordinate(Force):
    """A force along coordinate number ``coordinate`` of ``joint`` (m or rad): an effort in N or N m."""

    joint: str = field(kw_only=True)
    coordinate: int = field(default=0, kw_only=True)

    law = ""

    def elements(self, structure):
        return [Element(self._joint(structure, self.joint, self.coordinate), self.law, self._parameters())]

    def _parameters(self):
        return ()


@register
@dataclass(frozen=True, eq=False)
class TorsionSpring(AlongCoordinate):
    """A linear spring at a joint coordinate, N m/rad or N/m, at rest at ``rest_angle``, with ``damping``."""

    stiffness: float = field(kw_only=True)
    rest_angle: float = field(default=0.0, kw_only=True)
    damping: float = field(default=0.0, kw_only=True)

    law = "SPRING"

    def __post_init__(self):
        super().__post_init__()
        self._check(stiffness="zero", damping="zero", rest_angle="any")

    def _parameters(self):
        return self.stiffness, self.rest_angle, self.damping


@register
@dataclass(frozen=True, eq=False)
class JointDamper(AlongCoordinate):
    """Viscous damping of a joint coordinate, N m s/rad or N s/m."""

    damping: float = field(kw_only=True)

    law = "SPRING"

    def __post_init__(self):
        super().__post_init__()
        self._check(damping="zero")

    def _parameters(self):
        return 0.0, 0.0, self.damping


@register
@dataclass(frozen=True, eq=False)
class JointFriction(AlongCoordinate):
    """Dry friction of a joint coordinate: ``effort`` (N m or N) against the motion, as tanh(rate / ``smoothing``)."""

    effort: float = field(kw_only=True)
    smoothing: float = field(default=1e-2, kw_only=True)

    law = "FRICTION"

    def __post_init__(self):
        super().__post_init__()
        self._check(effort="zero", smoothing="positive")

    def _parameters(self):
        return self.effort, self.smoothing


@register
@dataclass(frozen=True, eq=False)
class JointStop(AlongCoordinate):
    """Limits of a joint coordinate, as one-sided springs with damping that only push back."""

    lower: float = field(default=-np.inf, kw_only=True)
    upper: float = field(default=np.inf, kw_only=True)
    stiffness: float = field(kw_only=True)
    damping: float = field(default=0.0, kw_only=True)

    law = "STOP"

    def __post_init__(self):
        super().__post_init__()
        self._check(stiffness="positive", damping="zero")
        if not self.lower < self.upper:
            raise MechanismError(f"lower of {self.label} must be below upper, got {self.lower!r} and {self.upper!r}")

    def _parameters(self):
        return self.stiffness, float(self.upper), self.damping, float(self.lower)


@register
@dataclass(frozen=True, eq=False)
class Motor(Commanded, AlongCoordinate):
    """An effort at a joint coordinate, N m or N, on its body b."""

    effort: float | np.ndarray | Callable = field(kw_only=True)

    law = "INPUT"
    command_name = "effort"


@register
@dataclass(frozen=True, eq=False)
class JointServo(Commanded, AlongCoordinate):
    """PD control of a joint coordinate, taken implicitly: -stiffness (q - target) - damping dq/dt."""

    target: float | np.ndarray | Callable = field(kw_only=True)
    stiffness: float = field(kw_only=True)
    damping: float = field(default=0.0, kw_only=True)

    law = "SERVO"
    command_name = "target"

    def __post_init__(self):
        super().__post_init__()
        self._check(stiffness="zero", damping="zero")

    def _parameters(self):
        return self.stiffness, 0.0, self.damping
