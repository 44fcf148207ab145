"""Cross-sections of beams: stiffnesses and masses per length of a uniform, slender, elastic bar."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import Frozen, array_of, checked_call, finite, flag, in_a_shape, positive
from varint.base.errors import MechanismError
from varint.model.arrays import Values

TORSION_TERMS = 20  # of the series of a rectangle: the terms fall as 1 / n^5


@checked_call
@dataclass(frozen=True, eq=False, kw_only=True)
class Section(Frozen):
    """Stiffnesses of a beam's cross-section; x is along the beam, y along its ``normal``, z at right angles to both.

    Parameters
    ----------
    EA : float
        Axial stiffness, N.
    GJ : float
        Torsional stiffness, N m^2.
    EI : (2,)
        Bending stiffness about y and about z, N m^2; one number for both.
    kGA : (2,)
        Shear stiffness along y and along z, N; one number for both.
    mass_per_length : float
        kg/m.
    inertia_per_length : (3,), optional
        Of rotation about x, y, z, kg m. Where not given, that of a homogeneous material: mass_per_length EI / EA about
        y and z, and their sum about x.
    size : (2,), optional
        Extent along y and z in pictures, m. Where not given, that of a rectangle with these EI and EA.
    round : bool
        Whether pictures show a cylinder.

    Raises MechanismError.
    """

    EA: float
    GJ: float
    EI: Values
    kGA: Values
    mass_per_length: float
    inertia_per_length: Values | None = None
    size: Values | None = None
    round: bool = False

    def __post_init__(self) -> None:
        set_ = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        for name in ("EA", "GJ", "mass_per_length"):
            set_(name, positive(getattr(self, name), f"{name} of a section"))
        for name in ("EI", "kGA"):
            both = in_a_shape(getattr(self, name), ((), (2,)), f"{name} of a section") * np.ones(2)
            set_(name, _positive(both, 2, name))
        inertia, size = self.inertia_per_length, self.size
        if inertia is None:
            y, z = self.mass_per_length * self.EI / self.EA
            inertia = np.array([y + z, y, z])
        set_("inertia_per_length", _positive(inertia, 3, "inertia_per_length"))
        size = np.sqrt(12.0 * self.EI[::-1] / self.EA) if size is None else size
        set_("size", _positive(size, 2, "size"))
        set_("round", flag(self.round, "round of a section"))

    @property
    def label(self) -> str:
        """Name in messages."""
        return "a section"

    @classmethod
    def rectangle(cls, width: float, height: float, *, E: float, nu: float, density: float) -> "Section":
        """Return a rectangle, ``width`` along z and ``height`` along y, m.

        ``E`` Young's modulus, Pa; ``nu`` Poisson's ratio; ``density``, kg/m^3. Shear by Cowper's coefficient, torsion
        by Saint-Venant's series.
        """
        label = "a rectangular section"
        b, h = positive(width, f"width of {label}"), positive(height, f"height of {label}")
        nu = _poisson(nu, label)
        A, large, small = b * h, max(b, h), min(b, h)
        odd = 2.0 * np.arange(TORSION_TERMS) + 1.0
        series = np.sum(np.tanh(0.5 * np.pi * odd * large / small) / odd**5)
        J = large * small * small * small * (1.0 / 3.0 - 64.0 / np.pi**5 * small / large * series)
        shear = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu)
        return cls._homogeneous((A, A * b * b / 12.0, A * h * h / 12.0, J), shear, (E, nu, density), (h, b), label)

    @classmethod
    def circle(cls, diameter: float, *, E: float, nu: float, density: float) -> "Section":
        """Return a full circle, m; ``E``, Pa, ``nu`` and ``density``, kg/m^3, as in `rectangle`."""
        label = "a circular section"
        d, nu = positive(diameter, f"diameter of {label}"), _poisson(nu, label)
        area = np.pi * d * d / 4.0
        second = area * d * d / 16.0
        shear = 6.0 * (1.0 + nu) / (7.0 + 6.0 * nu)
        return cls._homogeneous((area, second, second, 2.0 * second), shear, (E, nu, density), (d, d), label, True)

    @classmethod
    def tube(cls, diameter: float, wall: float, *, E: float, nu: float, density: float) -> "Section":
        """Return a round tube, outer ``diameter`` and ``wall`` thickness, m.

        ``E``, ``nu``, ``density`` as in `rectangle`.
        """
        label = "a tubular section"
        d, t, nu = positive(diameter, f"diameter of {label}"), positive(wall, f"wall of {label}"), _poisson(nu, label)
        if 2.0 * t > d:
            raise MechanismError(f"wall of {label} must be at most half its diameter, got {t:g} m of {d:g} m")
        inner = d - 2.0 * t
        area = np.pi * (d * d - inner * inner) / 4.0
        second = area * (d * d + inner * inner) / 16.0
        m = (inner / d) ** 2
        shear = 6.0 * (1.0 + nu) * (1.0 + m) ** 2 / ((7.0 + 6.0 * nu) * (1.0 + m) ** 2 + (20.0 + 12.0 * nu) * m)
        return cls._homogeneous((area, second, second, 2.0 * second), shear, (E, nu, density), (d, d), label, True)

    @classmethod
    def _homogeneous(
        cls, geometry: tuple, shear: float, material: tuple, size: tuple, label: str, round: bool = False
    ) -> "Section":
        """Return a section of area, second moments about y and z, and torsion constant ``geometry``."""
        (A, Iy, Iz, J), (E, nu, density) = geometry, material
        E, density = positive(E, f"E of {label}"), positive(density, f"density of {label}")
        G = E / (2.0 * (1.0 + nu))
        EI, kGA = E * np.array([Iy, Iz]), np.full(2, shear * G * A)
        inertia, extent = density * np.array([Iy + Iz, Iy, Iz]), np.array(size)
        return cls(
            EA=E * A, GJ=G * J, EI=EI, kGA=kGA, mass_per_length=density * A, inertia_per_length=inertia, size=extent,
            round=round,
        )  # fmt: skip

    def stiffness(self, length: float) -> np.ndarray:
        """Return the stiffness (6,) of an element along x, y, z (N/m) and about them (N m/rad), in its middle's frame.

        The shear terms make it the exact two-node element of Timoshenko's beam for loads at its ends.
        """
        l, (y, z) = length, self.EI
        across = 12.0 * np.array([z, y])
        return np.array(
            [self.EA / l, *(across / (l**3 * (1.0 + across / (self.kGA * l**2)))), self.GJ / l, y / l, z / l]
        )


def _positive(value: ArrayLike, count: int, name: str) -> np.ndarray:
    values = array_of(value, (count,), f"{name} of a section")
    if (values <= 0.0).any():
        raise MechanismError(f"{name} of a section must be positive, got {values.tolist()}")
    return values


def _poisson(nu: float, label: str) -> float:
    nu = finite(nu, f"nu of {label}")
    if not -1.0 < nu <= 0.5:
        raise MechanismError(f"nu of {label} must be above -1 and at most 0.5, got {nu:g}")
    return nu
