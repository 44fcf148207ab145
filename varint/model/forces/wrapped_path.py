"""Paths of tendons: points on bodies, surfaces that they wrap around, pulleys that divide them."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from varint.base.checks import Frozen, array_of, check_name, made, positive, sequence_of, shown, unit_axis
from varint.base.errors import MechanismError
from varint.mathematics.wrapping import FREE, INSIDE, OUTSIDE, wrapped_length
from varint.measures import Measure
from varint.measures.length import Length
from varint.measures.wrap import CLOSES, FOLLOWS, LEADS, Wrap
from varint.model.arrays import Vector
from varint.model.forces.path import At, PathWrap

CLEAR = 10.0  # times the smoothing: least distance of an attachment from the surface
ON_AXIS = 1e-12  # of the distance to the centre: a side that is in line with it
ENTRIES = "vi.At, vi.Around and vi.Pulley"


class _Surface(Frozen):
    """Common part of the surfaces; an ``axis`` of zero is that of a sphere."""

    centre: Vector
    radius: float
    side: Vector | None
    axis: Vector

    def __post_init__(self) -> None:
        label = f"a {type(self).__name__}"
        self._set("centre", array_of(self.centre, (3,), f"centre of {label}"))
        self._set("radius", positive(self.radius, f"radius of {label}"))
        if self.side is not None:
            self._set("side", array_of(self.side, (3,), f"side of {label}"))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @property
    def sideways(self) -> np.ndarray:
        """Return the vector (3,) from the axis to the side, m; zero without a side."""
        return np.zeros(3) if self.side is None else self.across(self.side)

    @property
    def mode(self) -> float:
        """Return the kind of side, see `mathematics.wrapping`."""
        if self.side is None:
            return FREE
        return INSIDE if np.linalg.norm(self.sideways) < self.radius else OUTSIDE

    def across(self, point: np.ndarray) -> np.ndarray:
        """Return a point (3,), world, relative to the centre and square to the axis."""
        shift = point - self.centre
        return shift - (self.axis @ shift) * self.axis


@dataclass(frozen=True, eq=False)
class SphereSurface(_Surface):
    """A sphere that a path wraps around; ``centre``, ``side`` (3,), m, world, reference; ``radius``, m.

    ``side``: a point on the side where the path passes. One within the radius makes the sphere a ring that the path
    runs through. Without it the path takes the shorter side.
    """

    centre: Vector
    radius: float
    side: Vector | None = None

    @property
    def axis(self) -> np.ndarray:  # type: ignore[override]
        """Zero."""
        return np.zeros(3)


@dataclass(frozen=True, eq=False)
class CylinderSurface(_Surface):
    """A cylinder without ends that a path wraps around; ``centre``, ``side`` (3,), m, world, reference; ``radius``, m.

    ``axis`` (3,): its direction; ``side``: see `SphereSurface`.
    """

    centre: Vector
    axis: Vector
    radius: float
    side: Vector | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("axis", unit_axis(self.axis, "axis of a CylinderSurface"))
        if self.side is None:
            return
        off, beside = np.linalg.norm(self.side - self.centre), np.linalg.norm(self.sideways)
        if off >= self.radius and beside <= ON_AXIS * off:
            raise MechanismError(
                f"side of a CylinderSurface lies on its axis, {off:.3g} m from the centre, on no side: move it off the"
                " axis, or to the centre for a ring that the path runs through"
            )


@dataclass(frozen=True, eq=False)
class Around(Frozen):
    """A ``surface`` fixed to ``body``, or to "world", that a path wraps around between two points."""

    body: str
    surface: SphereSurface | CylinderSurface

    def __post_init__(self) -> None:
        check_name(self.body, "the body of a surface")
        surface: Any = self.surface
        if isinstance(surface, Mapping):
            kind = CylinderSurface if "axis" in surface else SphereSurface
            surface = made(kind, surface, f"the surface on '{self.body}'")
        if not isinstance(surface, _Surface):
            raise MechanismError(f"the surface on '{self.body}' must be a surface, got {shown(surface)}")
        object.__setattr__(self, "surface", surface)


@dataclass(frozen=True, eq=False)
class Pulley(Frozen):
    """Ends a branch of a path and begins another, whose length counts by 1 / ``divisor``."""

    divisor: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "divisor", positive(self.divisor, "divisor of a Pulley"))


class Piece(NamedTuple):
    """Part of a path from one point to the next, around a surface or straight, with its weight in the length."""

    begin: At
    around: Around | None
    end: At
    weight: float


class Summed(NamedTuple):
    """A path as weighted measures, and the length, m, of what stays on one body."""

    measures: tuple[Measure, ...]
    weights: tuple[float, ...]
    fixed: float


def path_of(entries: object, label: str) -> tuple[At | Around | Pulley, ...]:
    """Return the entries of a path, from mappings of files too. Raises MechanismError if they make no path."""
    path = tuple(_entry(entry, label) for entry in sequence_of(entries, f"path of {label}", ENTRIES))
    before: At | Around | Pulley | None = None
    for entry in [*path, None]:
        if not isinstance(entry, At) and not isinstance(before, At) and not (before is None and entry in path):
            place = "an end" if entry is None or before is None else type(entry).__name__
            raise MechanismError(f"path of {label}: {place} must follow a vi.At")
        if isinstance(entry, Around) and before is None:
            raise MechanismError(f"path of {label} must begin with a vi.At")
        before = entry
    if not any(True for _ in pieces(path)):
        raise MechanismError(f"path of {label} needs two points or more")
    if not any(piece.around or (piece.begin.point != piece.end.point).any() for piece in pieces(path)):
        raise MechanismError(f"path of {label} has no length: its points are equal, move them apart")
    return path


def _entry(entry: object, label: str) -> At | Around | Pulley:
    if isinstance(entry, Mapping):
        kind: Any = Pulley if "divisor" in entry else Around if "surface" in entry else At
        return made(kind, entry, f"path of {label}")
    if not isinstance(entry, At | Around | Pulley):
        raise MechanismError(f"path of {label} must be a list of {ENTRIES}, got {shown(entry)}")
    return entry


def pieces(path: Sequence[At | Around | Pulley]) -> Iterator[Piece]:
    """Yield the pieces of a path."""
    begin: At | None = None
    around: Around | None = None
    weight = 1.0
    for entry in path:
        if isinstance(entry, Pulley):
            begin, around, weight = None, None, 1.0 / entry.divisor
        elif isinstance(entry, Around):
            around = entry
        else:
            if begin is not None:
                yield Piece(begin, around, entry, weight)
            begin, around = entry, None


def check_surfaces(path: Sequence[At | Around | Pulley], smoothing: float, label: str) -> None:
    """Raise MechanismError where a point lies in the surface that it leads to, or too near to it."""
    for piece in pieces(path):
        if piece.around is None:
            continue
        surface = piece.around.surface
        if smoothing and surface.mode == INSIDE:
            raise MechanismError(
                f"{label}: smoothing is for surfaces that the path passes outside: the side on"
                f" '{piece.around.body}' lies within its radius"
            )
        for end in (piece.begin, piece.end):
            off = np.linalg.norm(surface.across(end.point)) - surface.radius
            if off <= CLEAR * smoothing:
                off_surface = f"is {off:.3g} m from" if off > 0.0 else "lies within"
                raise MechanismError(
                    f"{label}: the point on '{end.body}' {off_surface} the surface on '{piece.around.body}': move it"
                    f" out{f', by {CLEAR:g} times the smoothing or more' * bool(smoothing)}"
                )


def summed(path: Sequence[At | Around | Pulley], smoothing: float, body: Callable[[str], str]) -> Summed:
    """Return the measures of a path; ``body``: checks the name of a body and returns it."""
    measures: list[Measure] = []
    weights: list[float] = []
    fixed = 0.0
    for begin, around, end, weight in pieces(path):
        a, c = body(begin.body), body(end.body)
        if around is None:
            if a == c:
                fixed += weight * float(np.linalg.norm(end.point - begin.point))
                continue
            piece_measures: list[Measure] = [Length(a, c, begin.point, end.point)]
        else:
            piece_measures = _around(begin, around.surface, end, body(around.body), smoothing)
            fixed += 0.0 if piece_measures else weight * reference_length(begin, around.surface, end, smoothing)
        measures += piece_measures
        weights += [weight] * len(piece_measures)
    return Summed(tuple(measures), tuple(weights), fixed)


def _around(begin: At, surface: SphereSurface | CylinderSurface, end: At, body: str, smoothing: float) -> list[Measure]:
    """Return the measures of a piece around a surface of ``body``, [] if all of it is on that body."""
    shape = (surface.centre, surface.axis, surface.sideways, surface.radius, smoothing, surface.mode)
    measures: list[Measure] = []
    if begin.body != body:
        measures.append(Wrap(begin.body, body, begin.point, end.body, end.point, *shape, LEADS))
    if end.body != body:
        part = FOLLOWS if measures else CLOSES
        measures.append(Wrap(end.body, body, end.point, begin.body, begin.point, *shape, part))
    return measures


def reference_length(begin: At, surface: SphereSurface | CylinderSurface, end: At, smoothing: float) -> float:
    """Return the length, m, of a piece around a surface in the reference configuration."""
    p, q = (tuple(map(float, each.point - surface.centre)) for each in (begin, end))
    axis, side = (tuple(map(float, each)) for each in (surface.axis, surface.sideways))
    return float(wrapped_length(p, q, axis, (surface.radius, surface.mode, smoothing, side))[0])


def whole_length(path: Sequence[At | Around | Pulley], smoothing: float) -> float:
    """Return the length of a path in the reference configuration, m."""
    return sum(
        weight
        * (
            math.dist(begin.point, end.point)
            if around is None
            else reference_length(begin, around.surface, end, smoothing)
        )
        for begin, around, end, weight in pieces(path)
    )


def path_wraps(path: Sequence[At | Around | Pulley], smoothing: float) -> list[PathWrap]:
    """Return the surfaces of a path without pulleys, for its mass."""
    return [
        PathWrap(k, around.body, s.centre, s.axis, s.sideways, s.radius, s.mode, smoothing)
        for k, (_, around, _, _) in enumerate(pieces(path))
        if around is not None and (s := around.surface)
    ]
