"""Forces along a coordinate of a joint: springs, dampers, friction, stops, servos, motors."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from varint.errors import MechanismError
from varint.model.forces.base import Element, Force, HardStop, register
from varint.model.forces.commanded import Commanded


@dataclass(frozen=True, eq=False)
class AlongCoordinate(Force):
    """A force along coordinate number ``coordinate`` of ``joint`` (m or rad): an effort in N or N m.

    Angles count their turns from the start of a run, where they are in (-pi, pi]. Motions that share a rotation
    vector, or come after one, take no effort.
    """

    joint: str = field(kw_only=True)
    coordinate: int = field(default=0, kw_only=True)

    law = ""

    def __post_init__(self):
        super().__post_init__()
        if isinstance(self.coordinate, np.integer):
            self._set("coordinate", int(self.coordinate))

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
    """Limits of a joint coordinate (m or rad). A limit that is not given is not there.

    With a ``stiffness``, N m/rad or N/m: one-sided springs with ``damping``, N m s/rad or N s/m, which only push back.
    Without: hard, each impact turning the rate to -``restitution`` times itself (0 to 1); for orders 1 and 2, and in
    reduced coordinates for integrator="euler".
    """

    lower: float = field(default=-np.inf, kw_only=True)
    upper: float = field(default=np.inf, kw_only=True)
    restitution: float = field(default=0.0, kw_only=True)
    stiffness: float | None = field(default=None, kw_only=True)
    damping: float = field(default=0.0, kw_only=True)

    def __post_init__(self):
        super().__post_init__()
        bounded = [which for which in ("lower", "upper") if not _is_infinite(getattr(self, which))]
        self._check(damping="zero", restitution="zero", **dict.fromkeys(bounded, "any"))
        if self.stiffness is not None:
            self._check(stiffness="positive")
        if not self.lower < self.upper:
            raise MechanismError(f"lower of {self.label} must be below upper, got {self.lower!r} and {self.upper!r}")
        if self.restitution > 1.0:
            raise MechanismError(f"restitution of {self.label} must be at most 1, got {self.restitution:g}")
        if (self.stiffness is None and self.damping) or (self.stiffness is not None and self.restitution):
            raise MechanismError(
                f"{self.label} is hard, with a restitution, or has a stiffness and a damping: not both"
            )

    def elements(self, structure):
        gauge = self._joint(structure, self.joint, self.coordinate)
        if self.stiffness is not None:
            return [Element(gauge, "STOP", (self.stiffness, self.upper, self.damping, self.lower))]
        limits = ((self.upper, 1), (self.lower, -1))
        stops = tuple(HardStop(limit, sign, self.restitution) for limit, sign in limits if np.isfinite(limit))
        return [Element(gauge, "INPUT", stops=stops)]


def _is_infinite(value):
    return isinstance(value, float) and np.isinf(value)


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
    """PD control of a joint coordinate q, taken implicitly: the effort -stiffness (q - target) - damping dq/dt.

    ``target``: m or rad; ``stiffness``: N m/rad or N/m; ``damping``: N m s/rad or N s/m. It has no potential.
    """

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
