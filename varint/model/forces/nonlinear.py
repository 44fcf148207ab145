"""Springs that are not linear."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import array_of, call, finite
from varint.base.errors import MechanismError
from varint.base.numba import njit
from varint.model.arrays import Values
from varint.model.forces.along import AlongCoordinate, AlongMeasure
from varint.model.forces.base import Effort, Element, register
from varint.model.forces.law import Law
from varint.model.forces.spring import BetweenPoints, Spring

if TYPE_CHECKING:
    from varint.model.structure import Structure


def _by_strain(value: float, rate: float, stiffness: float, rest: float, damping: float) -> tuple[float, float, float]:
    square = rest * rest
    k = 0.5 * stiffness / square
    effort = -k * (value * value - square) * value - damping * rate
    return effort, -k * (3.0 * value * value - square), -damping


def _strain_potential(value: float, stiffness: float, rest: float, damping: float) -> float:
    return stiffness * ((value**2 - rest**2) / rest) ** 2 / 8.0


def _piece(value: float, table: np.ndarray) -> int:
    """Return the row of a piecewise cubic for a value."""
    low, high = 0, table.shape[0]
    while high - low > 1:
        middle = (low + high) // 2
        if table[middle, 0] <= value:
            low = middle
        else:
            high = middle
    return low


_piece = njit(_piece)


def _tabulated(value: float, rate: float, table: np.ndarray, damping: float) -> tuple[float, float, float]:
    start, a, b, c, d, _ = table[_piece(value, table)]
    x = value - start
    return a + x * (b + x * (c + x * d)) - damping * rate, b + x * (2.0 * c + 3.0 * x * d), -damping


def _tabulated_potential(value: float, table: np.ndarray, damping: float) -> float:
    start, a, b, c, d, potential = table[_piece(value, table)]
    x = value - start
    return potential - x * (a + x * (b / 2.0 + x * (c / 3.0 + x * d / 4.0)))


STRAIN = Law("strain", _by_strain, _strain_potential)
TABLE = Law("table", _tabulated, _tabulated_potential)


@register
@dataclass(frozen=True, eq=False)
class StrainSpring(Spring):
    """A spring quadratic in Green's strain e = (l^2 - l0^2) / (2 l0^2): energy k l0^2 e^2 / 2, stiffness k at rest."""

    law = STRAIN

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(rest_length="positive")


@dataclass(frozen=True, eq=False)
class Tabulated(AlongMeasure):
    """An effort given at ``values`` (n,), rising, by ``efforts`` (n,), or by a function of one value that is sampled.

    In between monotone cubics, continuous with their slope; beyond the ends straight on. Efforts are along the
    value: negative where they pull it back. The potential is zero at the first value. ``damping`` N s/m or N m s/rad.
    """

    values: Values = field(kw_only=True)
    efforts: Values = field(kw_only=True)
    damping: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(damping="zero")
        self._set("values", array_of(self.values, (None,), f"values of {self.label}"))
        if len(self.values) < 2 or not (np.diff(self.values) > 0).all():
            raise MechanismError(f"values of {self.label} must be two or more, each above the one before")
        efforts: ArrayLike = self.efforts
        label = f"efforts of {self.label}"
        if callable(self.efforts):
            whose = f"{label}, a function that is called as f(value)"
            efforts = [finite(call(self.efforts, whose, x), f"{label} at {x:g}") for x in self.values.tolist()]
        self._set("efforts", array_of(efforts, (len(self.values),), label))

    def elements(self, structure: "Structure") -> list[Element]:
        table = self.values, self.efforts
        return [Effort((self._measure(structure),), TABLE, {"damping": self.damping}, table=table)]


@register
@dataclass(frozen=True, eq=False)
class TabulatedSpring(Tabulated, BetweenPoints):
    __doc__ = f"""Between two points. {Tabulated.__doc__}"""


@register
@dataclass(frozen=True, eq=False)
class TabulatedTorsionSpring(Tabulated, AlongCoordinate):
    __doc__ = f"""Along a joint coordinate. {Tabulated.__doc__}"""
