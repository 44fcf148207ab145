"""Couplings of joint coordinates: their weighted sum stays what it is at the start of a run."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from varint.base.checks import check_name, finite, sequence_of, shown, whole_number
from varint.base.errors import MechanismError
from varint.model.forces.base import register
from varint.model.forces.coupled import Coupled, unit_of

if TYPE_CHECKING:
    from varint.model.structure import Structure


@register
@dataclass(frozen=True, eq=False)
class Coupling(Coupled):
    """Keeps the sum of factor times coordinate; ``terms``: two or more of (joint, coordinate, factor)."""

    terms: Sequence[tuple[str, int, float]] = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        terms = tuple(self._term(term) for term in sequence_of(self.terms, f"terms of {self.label}", "terms"))
        if len(terms) < 2:
            raise MechanismError(f"{self.label} needs two terms or more")
        self._set("terms", terms)

    def _term(self, term: object) -> tuple[str, int, float]:
        label, form = f"a term of {self.label}", "(joint, coordinate, factor)"
        parts = sequence_of(term, label, form)
        if len(parts) != 3:
            raise MechanismError(f"terms of {self.label} must be {form}, got {shown(term)}")
        joint, coordinate, factor = parts
        return (
            check_name(joint, f"the joint of {label}"),
            whole_number(coordinate, f"the coordinate of {label}"),
            finite(factor, f"the factor of {label}"),
        )

    def sums(self, structure: "Structure") -> list:
        return [[(*term, None) for term in self.terms]]


@dataclass(frozen=True, eq=False)
class OfTwo(Coupled):
    """A coupling of ``coordinate_a`` of ``joint_a`` with ``coordinate_b`` of ``joint_b``."""

    joint_a: str = field(kw_only=True)
    joint_b: str = field(kw_only=True)
    coordinate_a: int = field(default=0, kw_only=True)
    coordinate_b: int = field(default=0, kw_only=True)

    def _pair(self, factors: tuple[float, float], units: tuple[str | None, str | None]) -> list:
        places = (self.joint_a, self.coordinate_a), (self.joint_b, self.coordinate_b)
        return [[(*p, f, u) for p, f, u in zip(places, factors, units, strict=True)]]


@register
@dataclass(frozen=True, eq=False)
class Equality(OfTwo):
    """Keeps coordinate b - ``factor`` times coordinate a."""

    factor: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(factor="any")

    def sums(self, structure: "Structure") -> list:
        return self._pair((-self.factor, 1.0), (None, None))


@register
@dataclass(frozen=True, eq=False)
class Gear(OfTwo):
    """Two wheels that roll on each other, of ``radius_a`` and ``radius_b`` (m, or numbers of teeth).

    External ones turn in opposite senses about parallel axes, ``internal`` ones in the same. The angles of both are
    against the carrier. The effort is the force between the teeth, N, where the radii are in m.
    """

    radius_a: float = field(kw_only=True)
    radius_b: float = field(kw_only=True)
    internal: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(radius_a="positive", radius_b="positive")

    def sums(self, structure: "Structure") -> list:
        sense = -1.0 if self.internal else 1.0
        return self._pair((self.radius_a, sense * self.radius_b), ("rad", "rad"))


@register
@dataclass(frozen=True, eq=False)
class RackAndPinion(OfTwo):
    """A pinion, an angle of ``joint_a``, of ``radius`` (m) moves a rack, a displacement of ``joint_b``.

    By ``radius`` times the angle; a negative radius turns the sense. The effort is the force on the rack, N.
    """

    radius: float = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(radius="any")

    def sums(self, structure: "Structure") -> list:
        return self._pair((-self.radius, 1.0), ("rad", "m"))


@register
@dataclass(frozen=True, eq=False)
class Screw(Coupled):
    """A thread in a cylindrical ``joint``: ``pitch`` (m) of displacement for each turn; the effort is axial, N."""

    joint: str = field(kw_only=True)
    pitch: float = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(pitch="any")

    def sums(self, structure: "Structure") -> list:
        units = [unit_of(self._coordinate(structure, self.joint, k)) for k in range(2)]
        if sorted(units) != ["m", "rad"]:
            raise MechanismError(f"{self.label} needs a joint that turns and slides along one axis: a Cylindrical")
        turn, slide = units.index("rad"), units.index("m")
        per_radian = self.pitch / (2.0 * np.pi)
        return [[(self.joint, slide, 1.0, "m"), (self.joint, turn, -per_radian, "rad")]]


@register
@dataclass(frozen=True, eq=False)
class Belt(Coupled):
    """A belt that does not slip over wheels on ``joints`` of ``radii`` (m): all rims move alike.

    A negative radius is for a wheel on the belt's other side. The effort is the sum of those between the first wheel
    and each other, N.
    """

    joints: Sequence[str] = field(kw_only=True)
    radii: Sequence[float] = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        joints = sequence_of(self.joints, f"joints of {self.label}", "names")
        joints = tuple(check_name(joint, f"a joint of {self.label}") for joint in joints)
        radii = sequence_of(self.radii, f"radii of {self.label}", "numbers")
        radii = tuple(finite(radius, f"a radius of {self.label}") for radius in radii)
        if len(joints) < 2 or len(joints) != len(radii):
            raise MechanismError(f"{self.label} needs two joints or more, and as many radii")
        self._set("joints", joints)
        self._set("radii", radii)

    def sums(self, structure: "Structure") -> list:
        first = (self.joints[0], 0, self.radii[0], "rad")
        others = zip(self.joints[1:], self.radii[1:], strict=True)
        return [[first, (joint, 0, -radius, "rad")] for joint, radius in others]
