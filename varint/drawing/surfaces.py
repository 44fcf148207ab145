"""Solids of bodies as triangles, shaded and sorted by depth, for pictures that have no depth of their own."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from varint.drawing.style import COLOURS
from varint.drawing.viewpoint import View
from varint.model.rotation_vectors import rotation_matrix
from varint.model.solid import Solid

AROUND = 24  # corners of a circle
RINGS = 10  # of a sphere, from pole to pole
DARK, LIGHT = 0.62, 0.30  # part of the colour of a face seen edgewise, part of white of one towards the light
WORLD_COLOUR = "#b8b8b2"
PALER = 0.12  # part of white
SHARE = 0.1  # longest edge, of the extent of the largest body


class Surfaces(NamedTuple):
    """Triangles of some bodies.

    numbers : bodies, -1 the world
    corners : (k, 3, 3) m, of the triangles of each, in its axes
    colours : (k, 3) red, green, blue of these, from 0 to 1
    """

    numbers: list[int]
    corners: list[np.ndarray]
    colours: list[np.ndarray]

    def extent(self, x: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Return corners (T, n, 3), m, world, of the boxes around the bodies at ``x`` (T, nb + 1, 3), ``R``."""
        points = []
        for number, corners in zip(self.numbers, self.corners, strict=True):
            ends = np.stack([corners.min(axis=(0, 1)), corners.max(axis=(0, 1))])
            box = np.stack(np.meshgrid(*ends.T), axis=-1).reshape(-1, 3)
            points.append(x[:, None, number] + box @ R[:, number].swapaxes(1, 2))
        return np.concatenate(points, axis=1)

    def seen(self, x: np.ndarray, R: np.ndarray, view: View) -> tuple[np.ndarray, np.ndarray]:
        """Return triangles (k, 3, 2), m, of the picture from the farthest to the nearest, and their colours (k, 3)."""
        light = view.towards + 0.8 * view.up - 0.4 * view.right
        light /= np.linalg.norm(light)
        flat, depth, colours = [], [], []
        for number, corners, plain in zip(self.numbers, self.corners, self.colours, strict=True):
            place = x[number] + corners @ R[number].T
            normal = np.cross(place[:, 1] - place[:, 0], place[:, 2] - place[:, 0])
            size = np.linalg.norm(normal, axis=1)
            normal /= np.where(size > 0, size, 1.0)[:, None]
            normal *= np.where(normal @ view.towards < 0, -1.0, 1.0)[:, None]  # a mesh may be wound either way
            flat.append(view.project(place))
            depth.append(place.mean(axis=1) @ view.towards)
            colours.append(_shaded(plain, np.clip(normal @ light, 0.0, 1.0)))
        order = np.argsort(np.concatenate(depth), kind="stable")
        return np.concatenate(flat)[order], np.concatenate(colours)[order]


def surfaces_of(
    solids: Mapping[int, Iterable[Solid]], colours: Mapping[int, Sequence[Sequence[float] | None]] | None = None
) -> Surfaces | None:
    """Return the surfaces of the solids by number of their body, -1 the world; None without any.

    ``colours``: of each solid of a body, red, green and blue from 0 to 1, and what follows them is not used; None for
    that of the body.
    """
    triangles = {number: [_triangles(solid) for solid in body_solids] for number, body_solids in solids.items()}
    filled = {number: np.concatenate(parts) for number, parts in triangles.items() if parts}
    extents = [float(np.ptp(corners, axis=(0, 1)).max()) for corners in filled.values()]
    longest = SHARE * max(extents, default=0.0)
    if not filled:
        return None
    split, painted = [], []
    for number, corners in filled.items():
        tints = (colours or {}).get(number) or [None] * len(triangles[number])
        of_each = [_body_colour(number) if tint is None else np.array(tint[:3]) for tint in tints]
        of_triangles = np.repeat(of_each, [len(part) for part in triangles[number]], axis=0)
        corners, origin = _split(corners, longest)
        split.append(corners)
        painted.append(of_triangles[origin])
    return Surfaces(list(filled), split, painted)


def _split(corners: np.ndarray, longest: float) -> tuple[np.ndarray, np.ndarray]:
    """Return triangles (k, 3, 3) with edges up to ``longest``, m: centres do not sort large ones beside small ones.

    And the numbers (k,) of the triangles that they are parts of.
    """
    small, numbers, number = [], [], np.arange(len(corners))
    while len(corners):
        middles = 0.5 * (corners + np.roll(corners, -1, axis=1))  # of edges 01, 12, 20
        is_long = np.linalg.norm(corners - np.roll(corners, -1, axis=1), axis=2).max(axis=1) > longest
        small.append(corners[~is_long])
        numbers.append(number[~is_long])
        number = np.tile(number[is_long], 4)
        (a, b, c), (ab, bc, ca) = corners[is_long].swapaxes(0, 1), middles[is_long].swapaxes(0, 1)
        parts = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        corners = np.concatenate([np.stack(part, axis=1) for part in parts])
    return np.concatenate(small), np.concatenate(numbers)


def _body_colour(number: int) -> np.ndarray:
    """Return red, green, blue (3,) of a body, -1 the world."""
    name = WORLD_COLOUR if number < 0 else COLOURS[number % len(COLOURS)]
    colour = np.array([int(name[k : k + 2], 16) / 255.0 for k in (1, 3, 5)])
    return PALER + (1.0 - PALER) * colour


def _shaded(colour: np.ndarray, brightness: np.ndarray) -> np.ndarray:
    """Return the colours (k, 3), red, green, blue, of faces that have a ``colour`` (k, 3) of their own."""
    lit = (DARK + (1.0 - DARK) * brightness)[:, None] * colour
    return lit + LIGHT * (brightness[:, None] ** 2) * (1.0 - lit)


def _triangles(solid: Solid) -> np.ndarray:
    """Return triangles (k, 3, 3), m, body axes."""
    if solid.kind == "mesh":
        points, faces = solid.vertices, solid.triangles.astype(int)
    elif solid.kind == "box":
        points, faces = _box(0.5 * solid.sizes)
    else:
        points, faces = _round(solid)
    return (solid.position + points @ rotation_matrix(solid.quat_wxyz).T)[faces]


def _box(half: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    points = half * (2.0 * np.array(list(np.ndindex(2, 2, 2))) - 1.0)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return points, np.array([part for a, b, c, d in quads for part in ((a, b, c), (a, c, d))])


def _round(solid: Solid) -> tuple[np.ndarray, np.ndarray]:
    """Return a surface of rings about z."""
    heights, radii, scale = _profile(solid)
    turns = np.linspace(0.0, 2.0 * np.pi, AROUND, endpoint=False)
    rim = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    rings = [np.column_stack([r * rim, np.full(AROUND, z)]) for z, r in zip(heights, radii, strict=True)]
    first = np.arange(AROUND)
    following = np.roll(first, -1)
    faces = []
    for k in range(len(rings) - 1):
        a, b, c, d = first + k * AROUND, following + k * AROUND, following + (k + 1) * AROUND, first + (k + 1) * AROUND
        faces += [np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)]
    return np.concatenate(rings) * scale, np.concatenate(faces)


def _profile(solid: Solid) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return heights and radii of the rings, m, and factors (3,) of the axes."""
    sizes, one = solid.sizes, np.ones(3)
    if solid.kind == "cylinder":
        radius, half = sizes[0], 0.5 * sizes[1]
        return np.array([-half, -half, half, half]), np.array([0.0, radius, radius, 0.0]), one
    latitudes = np.linspace(-0.5 * np.pi, 0.5 * np.pi, RINGS + 1)
    heights, radii = np.sin(latitudes), np.cos(latitudes)
    if solid.kind == "capsule":
        middle = RINGS // 2
        heights = np.concatenate([heights[: middle + 1], heights[middle:]])
        radii = np.concatenate([radii[: middle + 1], radii[middle:]])
        shift = 0.5 * sizes[1] * np.repeat([-1.0, 1.0], [middle + 1, RINGS + 1 - middle])
        return sizes[0] * heights + shift, sizes[0] * radii, one
    return heights, radii, sizes if solid.kind == "ellipsoid" else np.full(3, sizes[0])
