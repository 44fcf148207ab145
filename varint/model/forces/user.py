"""Forces by a law that the user writes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from varint.base.checks import function_of
from varint.base.errors import MechanismError
from varint.base.numba import call_back, compiled_law
from varint.model.forces.along import AlongCoordinate, AlongMeasure
from varint.model.forces.base import Effort, Element, register
from varint.model.forces.law import Law
from varint.model.forces.spring import BetweenPoints

if TYPE_CHECKING:
    from varint.model.structure import Structure


DIFFERENCE = 1e-6  # of value and rate, relative to one or more
TOLERANCE = 1e-4  # of a derivative, relative


def _called(value: float, rate: float, function: Callable) -> tuple[float, float, float]:
    return call_back(function, value, rate)


USER = Law("user", _called)


@dataclass(frozen=True, eq=False)
class UserLaw(AlongMeasure):
    """A force by ``law(value, rate) -> (effort, d effort / d value, d effort / d rate)``, SI units.

    ``law`` is compiled by numba; stepped implicitly by the derivatives it gives, which are compared with differences
    where a run starts. Efforts are along the value: negative where they pull it back. ``potential(value)``, J, is
    the stored part of its work; without it all counts as dissipated. Functions go into no file.
    """

    law: Callable = field(kw_only=True)
    potential: Callable | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("law", "potential"):
            function = getattr(self, name)
            if name == "law" or function is not None:
                function_of(function, f"{name} of {self.label}")
        try:
            compiled_law(self.law)
        except TypeError as problem:
            raise MechanismError(
                f"law of {self.label} must compile to (effort, by value, by rate): {problem}"
            ) from problem

    def elements(self, structure: "Structure") -> list[Element]:
        return [Effort((self._measure(structure),), USER, function=self.law)]

    def check_law(self, value: float, rate: float) -> None:
        """Raise MechanismError unless the law is finite there, with derivatives that match the effort around."""
        try:
            result = np.asarray(compiled_law(self.law)(value, rate), dtype=float)
        except Exception as problem:  # whatever the user's law raises
            at = f"value {value:g}, rate {rate:g}"
            raise MechanismError(f"law of {self.label} raised {problem!r} at {at}, where the run starts") from problem
        if result.shape != (3,):
            raise MechanismError(f"law of {self.label} must give (effort, by value, by rate), got {result.tolist()}")
        if not np.isfinite(result).all():
            raise MechanismError(
                f"law of {self.label} must be finite, got {result.tolist()} at value {value:g}, rate {rate:g}"
            )
        for x in value + 0.1 * (abs(value) or 1.0) * np.array([0.0, -1.0, 1.0]):
            for v in rate + 0.1 * (1.0 + abs(rate)) * np.array([0.0, -1.0, 1.0]):
                self._compare(float(x), float(v))

    def _found(self, value: float, rate: float) -> tuple[float, float, float]:
        """Return the values of the law in a step: nan if it raises an error, as at the end of its domain."""
        try:
            return compiled_law(self.law)(value, rate)
        except Exception:  # whatever the user's law raises: beside the start of the run it may
            return np.nan, np.nan, np.nan

    def _compare(self, value: float, rate: float) -> None:
        """Compare the derivatives at one place; at a kink, anything between both sides is accepted."""
        effort, *slopes = self._found(value, rate)
        for number, (name, at) in enumerate((("value", value), ("rate", rate))):
            step = DIFFERENCE * max(1.0, abs(at))
            shift = (step, 0.0) if name == "value" else (0.0, step)
            ahead, behind = (self._found(value + sign * shift[0], rate + sign * shift[1])[0] for sign in (1, -1))
            sides = np.array([ahead - effort, effort - behind]) / step
            slack = TOLERANCE * (np.abs(sides).max() + abs(slopes[number])) + 1e-9 * (1.0 + abs(effort))
            if np.isfinite(sides).all() and not sides.min() - slack <= slopes[number] <= sides.max() + slack:
                raise MechanismError(
                    f"derivative of law of {self.label} by {name} is {slopes[number]:g}, differences give"
                    f" {sides.mean():g}, at value {value:g}, rate {rate:g}"
                )


@register
@dataclass(frozen=True, eq=False)
class UserSpring(UserLaw, BetweenPoints):
    __doc__ = f"""Along the line between two points, of length ``value`` (m). {UserLaw.__doc__}"""


@register
@dataclass(frozen=True, eq=False)
class UserJointForce(UserLaw, AlongCoordinate):
    __doc__ = f"""Along a joint coordinate (m or rad). {UserLaw.__doc__}"""
