"""Springs that are not linear."""

from dataclasses import dataclass, field

import numpy as np

from varint.errors import MechanismError
from varint.model.checks import array_of
from varint.model.forces.base import Element, Force, register
from varint.model.forces.joint import AlongCoordinate
from varint.model.forces.spring import BetweenPoints, Spring


@register
@dataclass(frozen=True, eq=False)
class StrainSpring(Spring):
    """A spring quadratic in Green's strain e = (l^2 - l0^2) / (2 l0^2): energy k l0^2 e^2 / 2, stiffness k at rest."""

    def __post_init__(self):
        super().__post_init__()
        self._check(rest_length="positive")

    def elements(self, structure):
        return [Element(self._gauge(structure), "STRAIN", (self.stiffness, self.rest_length, self.damping))]


@dataclass(frozen=True, eq=False)
class Tabulated(Force):
    """An effort given at ``values`` (n,), rising, by ``efforts`` (n,), or by a function of one value that is sampled.

    In between monotone cubics, continuous with their slope; beyond the ends straight on. Efforts are along the
    value: negative where they pull it back. The potential is zero at the first value. ``damping`` N s/m or N m s/rad.
    """

    values: np.ndarray = field(kw_only=True)
    efforts: np.ndarray = field(kw_only=True)
    damping: float = field(default=0.0, kw_only=True)

    def __post_init__(self):
        super().__post_init__()
        self._check(damping="zero")
        count = np.shape(self.values)[:1] or (2,)
        self._set("values", array_of(self.values, count, f"values of {self.label}"))
        if count[0] < 2 or not (np.diff(self.values) > 0).all():
            raise MechanismError(f"values of {self.label} must be two or more, each above the one before")
        efforts = [self.efforts(x) for x in self.values.tolist()] if callable(self.efforts) else self.efforts
        self._set("efforts", array_of(efforts, count, f"efforts of {self.label}"))

    def _along(self, gauge):
        return [Element(gauge, "TABLE", (self.damping,), table=(self.values, self.efforts))]


@register
@dataclass(frozen=True, eq=False)
class TabulatedSpring(Tabulated, BetweenPoints):
    __doc__ = f"""Between two points. {Tabulated.__doc__}"""

    def elements(self, structure):
        return self._along(self._gauge(structure))


@register
@dataclass(frozen=True, eq=False)
class TabulatedTorsionSpring(Tabulated, AlongCoordinate):
    __doc__ = f"""Along a joint coordinate. {Tabulated.__doc__}"""

    def elements(self, structure):
        return self._along(self._joint(structure, self.joint, self.coordinate))
