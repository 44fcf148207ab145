"""Paths over points of several bodies, and mass that moves with them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from varint.base.checks import Frozen, array_of, check_keys, check_name, of_type, sequence_of, whole_number
from varint.base.errors import MechanismError
from varint.model.arrays import Points, Vector
from varint.model.forces.base import Element

if TYPE_CHECKING:
    from varint.model.structure import Structure

FEWEST_POINTS, MOST_POINTS = 2, 100_000  # of a mass that is lumped
PARTICLES = 20  # of ``lumped=True``, as in the dissertation on inertial musculotendons


@dataclass(frozen=True, eq=False)
class At(Frozen):
    """A point of a path: ``point`` (3,) of ``body``, m, world, reference configuration; "world" among the bodies."""

    body: str
    point: Vector

    def __post_init__(self) -> None:
        body = check_name(self.body, "the body of a point of a path")
        object.__setattr__(self, "body", body)
        object.__setattr__(self, "point", array_of(self.point, (3,), f"the point of '{body}' in a path"))


class PathWrap(NamedTuple):
    """A surface that a path with mass leads around from point ``piece`` to the next, see mathematics/wrapping.py.

    ``centre`` (3,), m, world, reference; ``axis`` (3,), zero for a sphere; ``side`` (3,) from the axis, m.
    """

    piece: int
    body: str
    centre: Vector
    axis: Vector
    side: Vector
    radius: float
    mode: float
    smoothing: float

    @property
    def size(self) -> tuple[float, float, float]:
        return self.radius, self.mode, self.smoothing


@dataclass(frozen=True, eq=False)
class PathInertia(Element):
    """Mass spread evenly along a path of points of several bodies, that moves with the path.

    The strain is equal everywhere: a particle stays at its fraction of the length. An element without an effort, which
    any force may return beside others.

    ends : (n,) names of bodies, one a point
    points : (n, 3) m, world, reference configuration
    mass : float, kg, above zero
    belly : (2,) fractions of the length between which the mass is
    lumped : number of particles at fixed fractions, ends of the belly included, in place of the exact integral; or None
    wraps : surfaces that it leads around, in their order
    """

    ends: tuple[str, ...]
    points: Points
    mass: float
    belly: np.ndarray = field(default_factory=lambda: np.array([0.0, 1.0]))
    lumped: int | None = None
    wraps: tuple[PathWrap, ...] = ()

    @property
    def bodies(self) -> tuple[str, ...]:
        return (*self.ends, *(wrap.body for wrap in self.wraps))

    def stations(self) -> list[tuple[str, np.ndarray, int]]:
        """Return body, place in the reference configuration, and -1 or a wrap's number, of each point of the path.

        Both ends of each arc are among them, with the body and the centre of the surface.
        """
        around = {wrap.piece: (wrap.body, wrap.centre, w) for w, wrap in enumerate(self.wraps)}
        points: list[tuple[str, np.ndarray, int]] = []
        for k, (name, point) in enumerate(zip(self.ends, self.points, strict=True)):
            points += [(name, point, -1), *([around[k]] * 2 if k in around else [])]
        return points


def checked_path(path: object, label: str) -> tuple[At, ...]:
    """Return the points of the path of the force ``label``, at least two, from points or mappings of a file.

    Raises MechanismError, also where two that follow one another are equal, or all are of one body.
    """
    subject = f"path of {label}"
    points = tuple(_point(part, subject) for part in sequence_of(path, subject, "points At(body, point)"))
    if len(points) < 2:
        raise MechanismError(f"{subject} needs at least two points, got {len(points)}")
    for number, (here, there) in enumerate(pairwise(points)):
        if np.array_equal(here.point, there.point):
            raise MechanismError(f"{subject}: points {number} and {number + 1} are equal, they must be apart")
    if len({point.body for point in points}) == 1:
        raise MechanismError(f"{subject} must lead from one body to another, all its points are of '{points[0].body}'")
    return points


def checked_belly(belly: object, label: str) -> np.ndarray:
    """Return fractions (2,) a1 < a2 in [0, 1] of the force ``label``. Raises MechanismError."""
    subject = f"belly of {label}"
    fractions = array_of(cast(np.ndarray, belly), (2,), subject)
    if not 0.0 <= fractions[0] < fractions[1] <= 1.0:
        raise MechanismError(f"{subject} must be two fractions a1 < a2 from 0 to 1, got {fractions.tolist()}")
    return fractions


def checked_lumped(lumped: object, label: str) -> int | None:
    """Return the number of particles, or None. Raises MechanismError."""
    if lumped is None or lumped is False:
        return None
    if lumped is True:
        return PARTICLES
    return whole_number(cast(int, lumped), f"lumped of {label}", FEWEST_POINTS, most=MOST_POINTS)


def path_inertia(
    path: Sequence[At],
    mass: float,
    belly: np.ndarray,
    lumped: int | None = None,
    wraps: Sequence[PathWrap] = (),
) -> list[Element]:
    """Return the element of a checked path with ``mass``, kg; [] if the mass is zero."""
    if mass == 0.0:
        return []
    ends, points = tuple(at.body for at in path), np.array([at.point for at in path])
    return [PathInertia(ends, points, mass, belly, lumped, tuple(wraps))]


def path_inertias(structure: "Structure") -> list[tuple[int, PathInertia]]:
    """Return the masses along paths in a structure, each with the number of its force."""
    numbered = [(k, element) for k, force in enumerate(structure.forces) for element in force.elements(structure)]
    return [(k, element) for k, element in numbered if isinstance(element, PathInertia)]


def _point(part: object, label: str) -> At:
    if isinstance(part, Mapping):
        check_keys(part, ("body", "point"), f"a point of the {label}")
        if len(part) < 2:
            raise MechanismError(f"a point of the {label} needs 'body' and 'point'")
        return At(**part)
    return of_type(part, At, f"a point of the {label}", MechanismError)
