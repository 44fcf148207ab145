"""Contract of a kind of measure, and the registry of the kinds.

A measure is a scalar g of the poses of two bodies a and b, one of which may be the world; its unit is m or rad. Each
kind gives three compiled functions:

    evaluate(plan, ws, m, x_a, A, x_b, B, G_a, G_b) -> g
        returns the value; one with a period lies within half of it about zero. Writes the gradient to G_a, G_b (6,):
        the derivatives by the motions of the two bodies.
    curve(plan, ws, m, x_a, A, x_b, B, motions, out_a, out_b)
        writes to out_a, out_b (6,) the change of G_a, G_b along the ``motions`` of both bodies, a pair of (6,): the
        exact curvature applied to them.
    by_numbers(plan, ws, m, x_a, A, x_b, B, motions, factor, weight, by) -> the derivative of g along the ``motions``
        adds to the rows m of ``by`` the derivatives of ``weight`` times (that, plus ``factor`` g) by its numbers: a
        `kernels.plan.ByNumbers`.

A kind of rates has no value. Its gradient times the velocities is s . c' + m . omega, with the velocity c' of its point
w of b and the angular velocity omega of b seen from a, and the directions s and m by the rotations alone. In place of
``by_numbers`` it gives two functions for the steps of rows of rates (step/rates.py):

    directions(plan, m, A, B) -> (s, m, e)
        returns these and the direction e of b that they depend on, all (3,) in axes of a.
    pulled(plan, m, e, moved, turned) -> (3,)
        returns the gradient of s . ``moved`` + m . ``turned`` by rotations of b, axes of a.

A kind of rates that laws act along has the transpose of ``curve`` written out, as its K is no curvature of a scalar:

    transposed(plan, m, A, B, pull, out_a, out_b)
        writes K^T times ``pull``, a pair of (6,), to out_a, out_b (6,).

m: number of the measure in the plan; x (3,), A, B (3, 3): positions of the centres of mass, m, world, and rotation
matrices body to world; a motion: translation, m, world, then a rotation vector, rad, in the body's axes. With a
rotation vector in the body's axes the curvature K of a scalar is not symmetric: K - K^T = [G_theta] in the block of
each body's rotations, as rotations do not commute; otherwise it is (docs/theory.md section 10).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from varint.base.display import Shown

NONE3 = np.zeros(3)


@dataclass(frozen=True)
class Numbers(Shown):
    """The constants of a measure in a plan. The file of a kind lists the ones it has, with their meaning.

    u, v :  (3,) in axes of body a, v of a third body where there is one: directions, or a point from the centre of
        mass, m
    w : (3,) in axes of body b
    c : m or rad
    rest : (3, 3) rotation matrix from axes of body b to axes of body a, in the reference configuration
    """

    u: np.ndarray = field(default_factory=lambda: NONE3)
    v: np.ndarray = field(default_factory=lambda: NONE3)
    w: np.ndarray = field(default_factory=lambda: NONE3)
    c: float = 0.0
    rest: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))


class EulerCoordinate(NamedTuple):
    """An Euler angle of a joint: it stands for coordinate ``number``, with ``angles`` such as "xyz"."""

    joint: str
    number: int
    angles: str


@dataclass(frozen=True, eq=False)
class Measure(Shown):
    """A measure between two bodies, as forces describe it: points and directions in the world, reference configuration.

    Attributes
    ----------
    kind : str
        Name in the registry.
    angular : bool
        Whether its unit is rad, else m.
    period : float
        After which its values repeat, 0 for never.
    radial : bool
        True if the gradient is undefined at value zero. There `curve` returns the change of the separation vector, to
        be multiplied by d effort/d value instead of the effort.
    pointing : bool
        Whether its gradient points from one of its points to the other, so that it turns where they move.
    bends : bool
        Whether its gradient by translations changes with translations.
    anchored : bool
        Whether the places of its points count, not directions alone.
    stiffening : bool
        Whether Newton's matrix of a step takes its curvature at the two bodies themselves.
    jumps : bool
        Whether its value jumps at half a turn of b seen from a since the reference.
    followed : bool
        Whether laws along it count the turns of the rotation vector of b seen from a.
    of_rates : bool
        Whether it has a rate alone, its gradient times the velocities, and no value belongs to it: a constraint keeps
        the rate at zero.
    of_three : bool
        Whether it depends on a third body, or on more. Its functions then get the poses of all bodies, ``position``
        (nb + 1, 3) and ``rotation`` (nb + 1, 3, 3), in place of two poses, and find its bodies in the plan.
    rare : bool
        Whether its functions are called through pointers, which takes longer, and compiled only for plans that have it.
    """

    body_a: str
    body_b: str

    kind: ClassVar[str]
    angular: ClassVar[bool] = False
    period: ClassVar[float] = 0.0
    radial: ClassVar[bool] = False
    pointing: ClassVar[bool] = False
    bends: ClassVar[bool] = False
    anchored: ClassVar[bool] = True
    stiffening: ClassVar[bool] = True
    jumps: ClassVar[bool] = False
    followed: ClassVar[bool] = False
    of_rates: ClassVar[bool] = False
    of_three: ClassVar[bool] = False
    rare: ClassVar[bool] = False

    @property
    def angle_of(self) -> tuple[str, int] | None:
        """The joint and the number of its coordinate, if it is one whose turns a pose does not say."""
        return None

    @property
    def key(self) -> tuple:
        """A key that equal measures share."""
        values = (type(self), *vars(self).values())
        return tuple(tuple(np.ravel(value)) if isinstance(value, np.ndarray) else value for value in values)

    @property
    def euler_angle_of(self) -> EulerCoordinate | None:
        """The Euler angle of a joint that it is, if that has turns."""
        return None

    @property
    def of_product(self) -> str:
        """The joint, a product of exponentials, that it is a coordinate of; "" for other measures."""
        return ""

    @property
    def follows(self) -> bool:
        """Whether it has the rest of the gradient of the measure before it, whose value is that of both."""
        return False

    @property
    def at_third(self) -> tuple[str, np.ndarray] | None:
        """The third body, and a point (3,) of it, world, reference, that the plan has as ``v``."""
        return None

    def numbers(self, A, x_a, B, x_b) -> Numbers:
        """Return its numbers by the rotation matrices A, B (3, 3) and centres x_a, x_b (3,), m, in the reference."""
        raise NotImplementedError


@dataclass(frozen=True)
class Kind:
    """A registered kind of measure: its facts and compiled functions."""

    name: str
    facts: type[Measure]
    evaluate: Callable
    curve: Callable
    by_numbers: Callable | None
    rates: tuple[Callable, Callable] | None
    transposed: Callable | None


KINDS: dict[str, Kind] = {}


def register(
    name: str,
    evaluate: Callable,
    curve: Callable,
    by_numbers: Callable | None,
    facts: type[Measure] = Measure,
    rates: tuple[Callable, Callable] | None = None,
    transposed: Callable | None = None,
) -> None:
    """Add a kind of measure to the registry; without ``by_numbers`` there is no gradient by its numbers.

    ``rates``: directions and pulled of a kind of rates; ``transposed``: of a kind of rates that laws act along.
    """
    if name in KINDS:
        raise ValueError(f"there is a measure '{name}' already")
    KINDS[name] = Kind(name, facts, evaluate, curve, by_numbers, rates, transposed)


def number_of(name: str) -> int:
    """Return the number of a kind in plans: its place among the names in alphabetical order."""
    return sorted(KINDS).index(name)
