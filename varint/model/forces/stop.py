"""Limits, soft or hard."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from varint.base.errors import MechanismError
from varint.model.forces.along import AlongCoordinate, AlongMeasure
from varint.model.forces.base import Effort, Element, register
from varint.model.forces.joint import INPUT
from varint.model.forces.law import Law
from varint.model.forces.spring import BetweenPoints

if TYPE_CHECKING:
    from varint.model.structure import Structure


@dataclass(frozen=True)
class Limit:
    """A hard limit of a measure: forbidden above (``sign`` 1) or below (-1), with a coefficient of restitution."""

    value: float
    sign: int
    restitution: float


@dataclass(frozen=True, eq=False)
class Stop(AlongMeasure):
    """A limit that is not given is not there.

    With a ``stiffness``, N m/rad or N/m: one-sided springs with ``damping``, N m s/rad or N s/m, which only push back.
    Without: hard, each impact turning the rate to -``restitution`` times itself (0 to 1).
    """

    lower: float = field(default=-np.inf, kw_only=True)
    upper: float = field(default=np.inf, kw_only=True)
    restitution: float = field(default=0.0, kw_only=True)
    stiffness: float | None = field(default=None, kw_only=True)
    damping: float = field(default=0.0, kw_only=True)

    least: ClassVar[float] = -np.inf  # that lower may be

    def __post_init__(self) -> None:
        super().__post_init__()
        bounded = [which for which in ("lower", "upper") if not _is_infinite(getattr(self, which))]
        self._check(damping="zero", restitution="zero", **dict.fromkeys(bounded, "any"))
        if self.stiffness is not None:
            self._check(stiffness="positive")
        if not self.least <= self.lower < self.upper:
            above = "from 0 to " if self.least == 0.0 else ""
            raise MechanismError(
                f"lower of {self.label} must be {above}below upper, got {self.lower!r} and {self.upper!r}"
            )
        if self.restitution > 1.0:
            raise MechanismError(f"restitution of {self.label} must be at most 1, got {self.restitution:g}")
        if (self.stiffness is None and self.damping) or (self.stiffness is not None and self.restitution):
            raise MechanismError(
                f"{self.label} is hard, with a restitution, or has a stiffness and a damping: not both"
            )

    def elements(self, structure: "Structure") -> list[Element]:
        measures = (self._measure(structure),)
        lower = self.lower if self.lower > self.least else -np.inf
        if self.stiffness is not None:
            parameters = {"stiffness": self.stiffness, "damping": self.damping, "lower": lower, "upper": self.upper}
            return [Effort(measures, STOP, parameters)]
        sides = ((self.upper, 1), (lower, -1))
        terms = tuple(Limit(value, sign, self.restitution) for value, sign in sides if np.isfinite(value))
        return [Effort(measures, INPUT, terms=terms)]


def _push_back(
    value: float, rate: float, stiffness: float, damping: float, lower: float, upper: float
) -> tuple[float, float, float]:
    low = value < lower
    if not low and value <= upper:
        return 0.0, 0.0, 0.0
    effort = -stiffness * (value - (lower if low else upper)) - damping * rate
    if (effort < 0.0) == low:  # a damper would hold back
        return 0.0, 0.0, 0.0
    return effort, -stiffness, -damping


def _push_back_potential(value: float, stiffness: float, damping: float, lower: float, upper: float) -> float:
    return 0.5 * stiffness * (max(value - upper, 0.0) ** 2 + min(value - lower, 0.0) ** 2)


STOP = Law("stop", _push_back, _push_back_potential, one_sided=True)


def _is_infinite(value: object) -> bool:
    return isinstance(value, float) and np.isinf(value)


@register
@dataclass(frozen=True, eq=False)
class JointStop(Stop, AlongCoordinate):
    __doc__ = f"""Limits of a joint coordinate (m or rad). {Stop.__doc__}"""

    coordinate_fields = ("lower", "upper")

    def joint_range(self) -> tuple[str, int, float, float] | None:
        return self.joint, self.coordinate, self.lower, self.upper


@register
@dataclass(frozen=True, eq=False)
class LengthStop(Stop, BetweenPoints):
    __doc__ = f"""Limits of the distance between two points, m: a tether, a rope that goes taut. {Stop.__doc__}"""

    lower: float = field(default=0.0, kw_only=True)

    least = 0.0
    look = "line"
