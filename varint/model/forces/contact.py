"""Contact by penalty: with planes of the world, and of balls with each other."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from varint.base.checks import array_of, choice, unit_axis
from varint.base.errors import MechanismError
from varint.measures.length import Length
from varint.measures.point import Displacement
from varint.model.arrays import Points, Vector
from varint.model.body import WORLD
from varint.model.forces.along import AlongMeasure
from varint.model.forces.base import BodyLoad, Effort, Element, Force, register
from varint.model.forces.law import Law
from varint.model.forces.stop import STOP
from varint.model.forces.user import USER, UserLaw

if TYPE_CHECKING:
    from varint.model.structure import Structure


def _hunt_crossley(
    value: float, rate: float, stiffness: float, damping: float, exponent: float, lower: float
) -> tuple[float, float, float]:
    depth = lower - value
    if depth <= 0.0:
        return 0.0, 0.0, 0.0
    spring, damper = stiffness * depth**exponent, 1.0 - damping * rate
    if damper <= 0.0:  # it would hold back
        return 0.0, 0.0, 0.0
    return spring * damper, -exponent * spring / depth * damper, -spring * damping


def _hunt_crossley_potential(value: float, stiffness: float, damping: float, exponent: float, lower: float) -> float:
    return stiffness * max(lower - value, 0.0) ** (exponent + 1.0) / (exponent + 1.0)


# the slope grows with the depth without bound: unknown
HUNT_CROSSLEY = Law("hunt-crossley", _hunt_crossley, _hunt_crossley_potential, steepest=lambda: 0.0, deepening=True)


@dataclass(frozen=True, eq=False)
class Pressure(Force):
    """``law`` of the pressure N by the depth d of the contact, m, never below zero.

    "linear": N = k d + c d', ``stiffness`` k, N/m, ``damping`` c, N s/m.
    "hunt-crossley": N = k d^p (1 + c d'), ``exponent`` p (1.5: Hertz), k, N/m^p, c, s/m (Hunt and Crossley 1975).
    """

    law: str = field(default="linear", kw_only=True)
    stiffness: float = field(kw_only=True)
    damping: float = field(default=0.0, kw_only=True)
    exponent: float = field(default=1.5, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        choice(self.law, ("linear", HUNT_CROSSLEY.name), f"law of {self.label}")
        self._check(stiffness="positive", damping="zero", exponent="positive")
        if self.exponent < 1.0:
            raise MechanismError(f"exponent of {self.label} must be at least 1, got {self.exponent:g}")

    def _pressed(self, measure: Displacement | Length, lower: float) -> Effort:
        """Return the effort between surfaces at the distance ``measure``, less ``lower``."""
        parameters = {"stiffness": self.stiffness, "damping": self.damping, "lower": lower}
        if self.law == "linear":
            return Effort((measure,), STOP, parameters | {"upper": np.inf})
        return Effort((measure,), HUNT_CROSSLEY, parameters | {"exponent": self.exponent})


@dataclass(frozen=True, eq=False)
class Rubbing(Force):
    """Coulomb friction with the coefficient ``friction``, mu, against the sliding velocity v of the touching points.

    Its size is mu N tanh(|v| / ``smoothing``), ``smoothing`` in m/s, or with ``creep``, N s/m, min(mu N, creep |v|).
    ``traj.force`` is the sum of the normal forces and of the friction, which counts as negative.
    """

    friction: float = field(default=0.0, kw_only=True)
    smoothing: float = field(default=1e-3, kw_only=True)
    creep: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(friction="zero", smoothing="positive")
        if self.creep is not None:
            self._check(creep="positive")

    def _rubbed(self, pressure: Effort, body: str, point: np.ndarray, radius: float, **other: Any) -> list[Element]:
        """Return the ``pressure`` and its friction on a ball about a point of ``body``; ``other``: see `BodyLoad`."""
        if not self.friction:
            return [pressure]
        sliding = BodyLoad(
            "sliding", body, point=point, radius=radius, friction=self.friction, smoothing=self.smoothing,
            creep=self.creep or 0.0, pressed_by=pressure, **other,
        )  # fmt: skip
        return [pressure, sliding]


@dataclass(frozen=True, eq=False)
class OnPlane(Rubbing):
    __doc__ = f"""Points of a body, or balls of ``radius`` (m) about them, that a plane of the world holds up.

    ``point`` (3,) or ``points`` (P, 3) of the body, its centre of mass where neither is given, and ``ground`` (3,) of
    the plane, m, world, reference; ``normal`` (3,) points out of it. So a sphere is its centre and its radius, a
    capsule the centres of its two ends and its radius, a box its eight corners.
    {Rubbing.__doc__}"""

    body: str
    point: Vector | None = field(default=None, kw_only=True)
    points: Points | None = field(default=None, kw_only=True)
    radius: float = field(default=0.0, kw_only=True)
    ground: Vector = field(default_factory=lambda: np.zeros(3), kw_only=True)
    normal: Vector = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]), kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.point is not None:
            self._set("point", array_of(self.point, (3,), f"point of {self.label}"))
        if self.points is not None:
            self._set("points", array_of(self.points, (None, 3), f"points of {self.label}"))
            if not self.points.size:
                raise MechanismError(f"points of {self.label} must be at least one")
            if self.point is not None:
                raise MechanismError(f"{self.label} has a point and points: give one of the two")
        self._set("ground", array_of(self.ground, (3,), f"ground of {self.label}"))
        self._set("normal", unit_axis(self.normal, f"normal of {self.label}"))
        self._check(radius="zero")

    def elements(self, structure: "Structure") -> list[Element]:
        body = self._moving(structure, self.body)
        contacts: list[Element] = []
        for point in self._points_of(structure):
            height = Displacement(WORLD, body, self.normal, point, self.ground + self.radius * self.normal)
            contacts += self._rubbed(self._pressure(height), body, point, self.radius)
        return contacts

    def _points_of(self, structure: "Structure") -> np.ndarray:
        """Return the points (P, 3), m."""
        if self.points is not None:
            return self.points
        return (structure.body(self.body).position if self.point is None else self.point)[None]

    def _pressure(self, height: Displacement) -> Effort:
        """Return the normal force, by the distance of the surface from the plane."""
        raise NotImplementedError


@register
@dataclass(frozen=True, eq=False)
class GroundContact(Pressure, OnPlane):
    __doc__ = f"""{OnPlane.__doc__}
    {Pressure.__doc__}"""

    def _pressure(self, height: Displacement) -> Effort:
        return self._pressed(height, 0.0)


@register
@dataclass(frozen=True, eq=False)
class UserContact(UserLaw, OnPlane):
    __doc__ = f"""{OnPlane.__doc__}
    The pressure is ``law(value, rate) -> (effort, d effort / d value, d effort / d rate)``, SI units, by the distance
    ``value`` of the surface from the plane, negative inside, and its rate; 0 outside, else positive. ``law`` is
    compiled by numba, and its derivatives compared with differences where a run starts. ``potential(value)``, J, is
    the stored part of its work; without it all counts as dissipated. Functions go into no file.
    """

    def elements(self, structure: "Structure") -> list[Element]:
        return OnPlane.elements(self, structure)

    def _pressure(self, height: Displacement) -> Effort:
        return Effort((height,), USER, function=self.law)


@register
@dataclass(frozen=True, eq=False)
class SphereContact(Pressure, Rubbing, AlongMeasure):
    __doc__ = f"""Balls of two bodies that push each other apart.

    ``radius_a`` and ``radius_b``, m; ``center_a`` and ``center_b`` (3,), m, world, reference: the centres of mass where
    not given. Centres must never meet. Friction acts where the distance of the centres is divided as the radii do.
    {Rubbing.__doc__}
    {Pressure.__doc__}"""

    body_a: str
    body_b: str
    radius_a: float = field(kw_only=True)
    radius_b: float = field(kw_only=True)
    center_a: Vector | None = field(default=None, kw_only=True)
    center_b: Vector | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.body_a == self.body_b:
            raise MechanismError(f"{self.label} connects '{self.body_a}' to itself")
        for which in ("center_a", "center_b"):
            if getattr(self, which) is not None:
                self._set(which, array_of(getattr(self, which), (3,), f"{which} of {self.label}"))
        self._check(radius_a="positive", radius_b="positive")

    def elements(self, structure: "Structure") -> list[Element]:
        distance, radii = self._measure(structure), self.radius_a + self.radius_b
        other = {"other": distance.body_b, "other_point": distance.point_b, "other_radius": self.radius_b}
        return self._rubbed(self._pressed(distance, radii), distance.body_a, distance.point_a, self.radius_a, **other)

    def _measure(self, structure: "Structure") -> Length:
        a, b = (self._moving(structure, name) for name in (self.body_a, self.body_b))
        centers = ((self.center_a, a), (self.center_b, b))
        return Length(a, b, *(structure.body(body).position if at is None else at for at, body in centers))
