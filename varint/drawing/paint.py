"""Puts a scene on a matplotlib axes: what stands still once, what moves for each pose."""

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.patches import Polygon
from matplotlib.patheffects import withStroke
from scipy.spatial import ConvexHull

from varint.drawing.name_beside import NameBeside
from varint.drawing.picture import plain
from varint.drawing.scene import Guide, Mark, Outline, Scene, Strand, colours_of, hangs, is_retracted, placed
from varint.drawing.style import COLOURS, FAINT, INK, SMALL
from varint.drawing.surfaces import Surfaces
from varint.drawing.wrapped import wrapped_line

THIN = 0.01  # of the radius of a joint: how far a body is rounded that is drawn at its own size, so that it has an area
SYMBOL = 0.013  # radius of a joint, of the size of the picture
OF_LINK = 0.13  # at most, of the length of a typical link
CIRCLE, BALL = (
    np.stack([np.cos(turns), np.sin(turns)], axis=1)
    for turns in (np.linspace(0.0, 2.0 * np.pi, corners, endpoint=False) for corners in (32, 120))
)
BOX = np.array(list(product((-1, 1), repeat=3)))
FACES = [np.flatnonzero(BOX[:, k] == side)[[0, 1, 3, 2]] for k in range(3) for side in (-1, 1)]
SHADE = 0.25  # of the colour, between the faces of a box
FACE = 0.45  # part of white in the colour of a body
SHEER = 0.8  # opacity of a body of three corners or more
ON_A_LEVEL = 0.1  # of the radius of a joint
SEEN = 0.9  # cosine: an axis towards the eye
EDGEWISE = 1.0 - 1e-6  # of the normal of a plane, in the picture
ARM = 0.14  # of the size of the picture: an axis of the world in the corner
NARROWEST = 0.3  # of the longer side of the picture
TEETH = 7  # of a spring
FLAT = 1e-9  # m^2 of the square of a symbol: corners in one line
LINE = 0.7  # points
WIDTHS = {"rod": 1.8, "piston": 1.8, "beam": 2.4}  # of lines by their look, points; others 1
SKIN = "#c06a45"  # of a deformable body

TRACK_Z, BLOCK_Z, SKIN_Z, LINK_Z, GROUND_Z, STRAND_Z, MARK_Z, CENTRE_Z, TRACE_Z = (
    0.1,
    0.5,
    1.5,
    2.0,
    2.98,
    3.0,
    4.0,
    5.0,
    6.0,
)


class Painter:
    """Paints one scene over the given poses ``x`` (T, nb + 1, 3), ``R`` (T, nb + 1, 3, 3), the world last.

    ``traced``: points (n, 3), m, world, that have to fit in; ``surfaces``: of bodies that the scene has no outlines of.
    ``lower``, ``upper`` (2,): corners of all that is painted,
    m; ``size``: the radius of a joint, m.
    """

    axes: Axes
    _arms: tuple[float, np.ndarray]  # length of the world's axes in a corner, m, and their ends (3, 2)

    def __init__(
        self,
        scene: Scene,
        x: np.ndarray,
        R: np.ndarray,
        traced: Iterable[np.ndarray] = (),
        surfaces: Surfaces | None = None,
    ) -> None:
        self.scene, self.surfaces = scene, surfaces
        seen = [self._seen(x, R, outline.body, outline.points) for outline in scene.outlines]
        ends = [self._end(x, R, body, point) for s in scene.strands for body, point in zip(s.bodies, s.points)]  # noqa: B905
        ends += [self._end(x, R, mark.body, mark.point) for mark in scene.marks]
        ends += [scene.view.project(points) for points in (*scene.tracks, *traced)]
        ends += [scene.view.project(surfaces.extent(x, R))] if surfaces else []
        self._bodies = len(scene.structure.bodies)
        self._rotors = [scene.structure.body_index[name] for name in scene.structure.rotors]
        ends += [scene.view.project(x[:, self._bodies : -1])]  # vertices
        points = np.concatenate([part.reshape(-1, 2) for part in (*seen, *ends)])
        span = max(float(np.ptp(points, axis=0).max()), 1e-9)
        spans = [np.ptp(part[0], axis=0) for part in seen if part.shape[1] > 1]
        self.size = min(SYMBOL * span, OF_LINK * float(np.median([np.hypot(*s) for s in spans])) if spans else span)
        self.size = max(self.size, 1e-4 * span)
        self._colours = colours_of(scene.structure)
        self.rises = self._stands(x[0], R[0])
        middle, half = 0.5 * (points.max(axis=0) + points.min(axis=0)), 0.5 * np.ptp(points, axis=0)
        half = np.maximum(half, NARROWEST * half.max()) + 5 * self.size
        for foot in self._feet(middle, span):
            low, high = np.minimum(middle - half, foot), np.maximum(middle + half, foot)
            middle, half = 0.5 * (low + high), 0.5 * (high - low)
        self.lower, self.upper = middle - half, middle + half
        if not scene.view.flat:
            length = _round_length(ARM * span)
            self._arms = length, scene.view.project(length * np.eye(3))
            self.lower = self.lower - np.array([0.0, np.ptp(self._arms[1], axis=0)[1] + 3 * self.size])

    def grounds(self, x: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Return the places (n, 2), m, of the joints and lines on the ground, in the picture."""
        points = [self._end(x, R, mark.body, mark.point) for mark in self.scene.marks if mark.grounded]
        points += [self.scene.view.project(guide.point) for guide in self.scene.guides]
        return np.array(points).reshape(-1, 2)

    def scale_as(self, other: "Painter") -> None:
        """Draw symbols as large as ``other``, of the same scene at another pose, and grounds on the same side."""
        self.size, self.rises = other.size, other.rises
        if not self.scene.view.flat:
            self._arms = other._arms

    def _feet(self, middle: np.ndarray, span: float) -> list[np.ndarray]:
        """Return points (2,) below the middle of the picture, in nearby planes that are seen edgewise."""
        margin = 3.0 * self.size
        feet = [middle + ((self.scene.view.project(p) - middle) @ n - margin) * n for p, n in self._edgewise()]
        return [foot for foot in feet if np.linalg.norm(foot - middle) < span]

    def _edgewise(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return points (3,) and normals (2,), in the picture, of the planes that are seen edgewise."""
        view = self.scene.view
        planes = [(point, view.project(normal)) for point, normal in self.scene.planes]
        return [(point, n) for point, n in planes if view.flat and np.linalg.norm(n) > EDGEWISE]

    def _floors(self) -> list[np.ndarray]:
        """Return the lines of planes seen edgewise, from side to side of the picture, hatched below."""
        middle, reach = 0.5 * (self.lower + self.upper), 0.5 * float(np.hypot(*(self.upper - self.lower)))
        strokes = []
        for point, n in self._edgewise():
            foot = middle + (self.scene.view.project(point) - middle) @ n * n
            along = np.array([n[1], -n[0]])
            inside = [side * reach * along for side in (-1.0, 1.0)]
            strokes += self._hatched(foot + inside[0], foot + inside[1], -n)
        return strokes

    # ------------------------------------------------------------------------------------ once

    def attach(self, axes: Axes) -> None:
        """Paint on these axes from here on."""
        self.axes = axes
        axes.set(xlim=(self.lower[0], self.upper[0]), ylim=(self.lower[1], self.upper[1]), aspect="equal")
        axes.tick_params(labelsize=8, color=FAINT, width=0.6)
        axes.spines[:].set(visible=False)
        if self.scene.view.flat:
            axes.set(xlabel=f"{self.scene.view.labels[0]} (m)", ylabel=f"{self.scene.view.labels[1]} (m)")
            axes.spines[["bottom", "left"]].set(visible=True, color=FAINT, linewidth=0.6)
            width, height = self.upper - self.lower
            axes.locator_params(nbins=6, min_n_ticks=2)
            axes.locator_params("x", nbins=int(np.clip(8 * width / height, 2, 6)))  # numbers lie side by side
        else:
            axes.set(xticks=[], yticks=[])
            self._tripod()

    def _tripod(self) -> None:
        """Draw the axes of the world below the scene, with their length."""
        length, arms = self._arms
        corner = self.lower + 2.5 * self.size - np.minimum(1.2 * arms, 0.0).min(axis=0)
        self._lines([np.array([corner, corner + arm]) for arm in arms], GROUND_Z, FAINT, 1.1)
        look: dict[str, Any] = {"va": "center", "fontsize": 8, "color": FAINT}
        for letter, (right, up) in zip("xyz", corner + 1.25 * arms, strict=True):
            self.axes.text(right, up, letter, ha="center", **look)
        self.axes.text(corner[0] + 1.6 * arms[:, 0].max(), corner[1], f"{length:g} m", **look)

    def still(self, x: np.ndarray, R: np.ndarray, level: float = 0.0) -> None:
        """Draw the fixed parts: ground, guides over the path of the poses, tracks; on the ``level`` of a pose."""
        strokes = self._floors()
        for guide in self.scene.guides:
            strokes += self._guide(guide, x, R)
        places: list[np.ndarray] = []
        for mark in self.scene.marks:
            point = self.scene.view.project(mark.point)
            if mark.grounded and all(np.linalg.norm(point - other) > 0.1 * self.size for other in places):
                places.append(point)
                self._ground(mark, point, strokes, level + GROUND_Z)
        self._lines(strokes, level + GROUND_Z, INK)
        for track in self.scene.tracks:
            self._lines([self.scene.view.project(track)], TRACK_Z, INK)

    def _ground(self, mark: Mark, point: np.ndarray, strokes: list[np.ndarray], z: float) -> None:
        s, down = self.size, np.array([0.0, -1.0 if self.rises else 1.0])
        if mark.symbol == "weld":  # a wall, across the beam that is clamped
            along = self.scene.view.project(mark.axis)
            away = -along / np.linalg.norm(along) if np.linalg.norm(along) > 0.1 else down
            wall = 2.4 * s * np.array([-away[1], away[0]])
            strokes += self._hatched(point - wall, point + wall, away)
            return
        foot, along = point + 2.6 * s * down, np.array([1.0, 0.0])
        self.axes.add_patch(
            Polygon([point, foot - 1.5 * s * along, foot + 1.5 * s * along], facecolor="white", edgecolor=INK,
                    linewidth=LINE, joinstyle="round", zorder=z)
        )  # fmt: skip
        strokes += self._hatched(foot - 2.4 * s * along, foot + 2.4 * s * along, down)

    def _hatched(self, start: np.ndarray, end: np.ndarray, side: np.ndarray) -> list[np.ndarray]:
        """Return a line with strokes on one side of it."""
        length = np.linalg.norm(end - start)
        along = (end - start) / length
        count = max(4, round(length / (1.1 * self.size)))
        back = 0.9 * self.size * (side - along)
        return [np.array([start, end])] + [
            np.array([place, place + back]) for place in np.linspace(start + 0.9 * self.size * along, end, count)
        ]

    def _guide(self, guide: Guide, x: np.ndarray, R: np.ndarray) -> list[np.ndarray]:
        way = (placed(x, R, guide.body, guide.slid) - guide.point) @ guide.axis
        view = self.scene.view
        point, along = view.project(guide.point), view.project(guide.axis)
        if np.linalg.norm(along) < 0.05:
            return []
        blocks = [outline for outline in self.scene.outlines if outline.body == guide.body and outline.solid]
        direction = along / np.linalg.norm(along)
        side = np.array([direction[1], -direction[0]])
        side = -side if side[1] > 1e-9 or (abs(side[1]) <= 1e-9 and side[0] > 0) else side
        apart, margin = 1.3 * self.size, 3.0 * self.size
        for block in blocks:
            corners = self._seen(x[:1], R[:1], block.body, block.points)[0]
            centre = view.project(placed(x[0], R[0], guide.body, guide.slid))
            apart = float(((corners - centre) @ side).max()) if view.flat else 0.0
            margin += float(((corners - centre) @ direction).max())
        shift = (apart if view.flat else 0.0) * side
        start, end = (point + reach * along for reach in (way.min(), way.max()))
        return self._hatched(start - margin * direction + shift, end + margin * direction + shift, side)

    # ------------------------------------------------------------------------------------ each pose

    def pose(self, x: np.ndarray, R: np.ndarray, fade: float = 0.0, level: float = 0.0) -> list[Artist]:
        """Paint a pose (nb + 1, ...).

        ``fade``: from 0 to 1 paler, ``level``: of poses above each other; return its artists.
        """
        artists: list[Artist] = []
        depth = self._depth(x)
        for outline in self.scene.outlines:
            under = BLOCK_Z if outline.solid and self.scene.view.flat else LINK_Z
            paint = self._box if outline.solid and _is_box(outline.points) else self._outline
            artists += paint(outline, x, R, fade, level + under + depth[outline.body])
        if len(x) > self._bodies + 1:
            artists += [self._skin(skin.faces, x, fade, level + SKIN_Z) for skin in self.scene.skins]
        for strand in self.scene.strands:
            artists.append(self._strand(strand, x, R, fade, level + STRAND_Z))
        for mark in self.scene.marks:
            artists += self._mark(mark, x, R, fade, level + (LINK_Z + 0.95 if mark.symbol == "slider" else MARK_Z))
        if self.surfaces:
            artists.append(self._surfaces(self.surfaces, x, R, fade, level + LINK_Z))
        covered = [number for number in self.surfaces.numbers if number >= 0] if self.surfaces else []
        covered += self._rotors
        centres = self.scene.view.project(np.delete(x[: self._bodies], covered, axis=0))
        discs = [0.32 * self.size * CIRCLE + centre for centre in centres]
        artists += [self._patch(disc, _faded(INK, fade), None, level + CENTRE_Z) for disc in discs]
        return artists

    def trace(self, points: np.ndarray, colour: str, level: float = 0.0, style: Any = "-") -> Artist:
        """Draw the path (T, 3), m, world, of a point; return the artist."""
        return self._lines([self.scene.view.project(points)], level + TRACE_Z, colour, 1.3, style)

    def arrow(self, start: np.ndarray, end: np.ndarray, colour: str, level: float = 0.0) -> list[Artist]:
        """Draw an arrow between points (3,), m, world, with a dot where it starts; return its artists."""
        tail, tip = self.scene.view.project(np.array([start, end]))
        length = float(np.linalg.norm(tip - tail))
        along = (tip - tail) / (length or 1.0)
        head = min(2.5 * self.size, 0.6 * length)
        across, neck = 0.4 * head * np.array([-along[1], along[0]]), tip - head * along
        triangle = self._patch(np.array([tip, neck + across, neck - across]), colour, None, level + TRACE_Z)
        return [
            self._lines([np.array([tail, neck])], level + TRACE_Z, colour, 1.8),
            triangle,
            self.dot(start, colour, level),
        ]

    def dot(self, point: np.ndarray, colour: str, level: float = 0.0) -> Artist:
        """Draw a dot at a point (3,), m, world; return the artist."""
        return self._patch(0.5 * self.size * CIRCLE + self.scene.view.project(point), colour, None, level + TRACE_Z)

    def name(self, text: str, point: np.ndarray, colour: str, level: float = 0.0) -> Artist:
        """Write a name beside a point (3,), m, world; return the artist."""
        right, up = self.scene.view.project(point)
        note = NameBeside(
            text, (right, up), (4, 4), textcoords="offset points", fontsize=SMALL, color=colour,
            zorder=level + TRACE_Z + 0.1, path_effects=[withStroke(linewidth=2.0, foreground="white")],
        )  # fmt: skip
        return plain(self.axes.add_artist(note))

    def _depth(self, x: np.ndarray) -> np.ndarray:
        """Return the depth (nb,), from 0 to 0.9: nearer bodies are painted later; in a plane by number."""
        count, towards = self._bodies, self.scene.view.towards
        order = np.arange(count) if self.scene.view.flat else np.argsort(np.argsort(x[:count] @ towards))
        return 0.9 * order / max(1, count)

    def _outline(self, outline: Outline, x: np.ndarray, R: np.ndarray, fade: float, z: float) -> Iterator[Artist]:
        shown = outline.centres if outline.radius else outline.points
        points = self._seen(x[None], R[None], outline.body, shown)[0]
        radius = outline.radius or (THIN if outline.solid else 1.0) * self.size
        colour = COLOURS[self._colours[outline.body] % len(COLOURS)]
        face = (*_faded(colour, FACE + (1 - FACE) * fade), SHEER if len(points) > 2 and not outline.solid else 1.0)
        corners = rounded(points, radius, BALL if outline.radius else CIRCLE)
        yield self._patch(corners, face, _faded(colour, fade), z)

    def _box(self, outline: Outline, x: np.ndarray, R: np.ndarray, fade: float, z: float) -> Iterator[Artist]:
        """Yield the visible faces of a box, the upper ones lighter."""
        corners, view = placed(x, R, outline.body, outline.points), self.scene.view
        colour = COLOURS[self._colours[outline.body] % len(COLOURS)]
        for face in FACES:
            outward = corners[face].mean(axis=0) - corners.mean(axis=0)
            outward /= np.linalg.norm(outward)
            if outward @ view.towards > 0:
                white = FACE + SHADE * float(outward @ view.up)
                fill = _faded(colour, white + (1 - white) * fade)
                yield self._patch(view.project(corners[face]), fill, _faded(colour, fade), z)

    def _surfaces(self, surfaces: Surfaces, x: np.ndarray, R: np.ndarray, fade: float, z: float) -> Artist:
        triangles, colours = surfaces.seen(x, R, self.scene.view)
        colours = fade + (1.0 - fade) * colours
        drawn = PolyCollection(list(triangles), facecolors=colours, edgecolors=colours, linewidths=0.25, zorder=z)
        return self.axes.add_collection(drawn, autolim=False)

    def _skin(self, faces: np.ndarray, x: np.ndarray, fade: float, z: float) -> Artist:
        """Draw the visible triangles from the furthest to the nearest, the upper ones lighter; or lines."""
        view, corners = self.scene.view, x[faces]
        if faces.shape[1] == 2:
            return self._lines([*view.project(corners)], z, _faded(SKIN, fade), LINE)
        outward = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        outward /= np.maximum(np.linalg.norm(outward, axis=1, keepdims=True), np.finfo(float).tiny)
        seen = outward @ view.towards > 0
        seen = np.flatnonzero(seen)[np.argsort(corners[seen].mean(axis=1) @ view.towards)]
        white = np.clip(FACE + SHADE * (outward[seen] @ view.up), 0.0, 1.0)
        fill = [(*_faded(SKIN, each + (1 - each) * fade), SHEER) for each in white]
        look: dict[str, Any] = {"facecolors": fill, "edgecolors": [_faded(SKIN, 0.3 + 0.7 * fade)], "zorder": z}
        return self.axes.add_collection(PolyCollection([*view.project(corners[seen])], linewidths=0.25, **look), False)

    def _strand(self, strand: Strand, x: np.ndarray, R: np.ndarray, fade: float, z: float) -> Artist:
        if strand.surfaces:
            along = wrapped_line(strand.bodies, strand.points, strand.surfaces, x, R)
            return self._lines([self.scene.view.project(along)], z, _faded(INK, fade), 1.0)
        points = np.array([self._end(x, R, body, p) for body, p in zip(strand.bodies, strand.points, strict=True)])
        if strand.look == "piston" and is_retracted(strand, x, R):
            points = points[[0, 0]]
        if strand.look == "coil":
            points = np.concatenate([zigzag(points[0], points[1], 1.3 * self.size), points[2:]])
        return self._lines([points], z, _faded(INK, fade), WIDTHS.get(strand.look, 1.0))

    def _mark(self, mark: Mark, x: np.ndarray, R: np.ndarray, fade: float, z: float) -> Iterator[Artist]:
        s, view = self.size, self.scene.view
        centre = self._end(x, R, mark.body, mark.point)
        axis, ink = R[mark.body] @ mark.axis, _faded(INK, fade)
        along = view.project(axis)
        if mark.symbol == "slider":
            along = along / (np.linalg.norm(along) or 1.0)
            across = np.array([-along[1], along[0]])
            corners = centre + np.array([[i * 2.2, j * 1.3] for i in (-s, s) for j in (-s, s)]) @ [along, across]
            yield self._patch(rounded(corners, 0.2 * s), _faded("#ffffff", 0), ink, z)
        elif mark.symbol == "pin" and abs(axis @ view.towards) < SEEN:
            ends = centre + np.outer([-1.7 * s, 1.7 * s], along)
            yield self._patch(rounded(ends, 0.6 * s), "white", ink, z)
        elif mark.symbol == "weld":
            corners = centre + 0.6 * s * np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])
            yield self._patch(rounded(corners, 0.1 * s), ink, ink, z)
        else:
            yield self._patch(0.62 * s * CIRCLE + centre, ink if mark.symbol == "ball" else "white", ink, z)
        if mark.symbol == "cross":
            arm = 0.44 * s
            bars = [centre + np.array([[-arm, k * arm], [arm, -k * arm]]) for k in (-1, 1)]
            yield self._lines(bars, z + 0.1, ink)

    # ------------------------------------------------------------------------------------ helpers

    def _seen(self, x: np.ndarray, R: np.ndarray, body: int, points: np.ndarray) -> np.ndarray:
        """Return the points (k, 3) of a body in the picture, (T, k, 2)."""
        return self.scene.view.project(placed(x[:, None], R[:, None], body, points))

    def _end(self, x: np.ndarray, R: np.ndarray, body: int, point: np.ndarray) -> np.ndarray:
        """Return a point (3,) of a body in the picture, (..., 2)."""
        return self.scene.view.project(placed(x, R, body, point))

    def _stands(self, x: np.ndarray, R: np.ndarray) -> bool:
        """Return whether the mechanism stands on the ground rather than hangs from it."""
        feet = np.array([self._end(x, R, mark.body, mark.point)[1] for mark in self.scene.marks if mark.grounded])
        centres = self.scene.view.project(np.delete(x[: self._bodies], self._rotors, axis=0))[:, 1]
        return not hangs(centres, feet, ON_A_LEVEL * self.size)

    def _patch(self, points: np.ndarray, face: Any, edge: Any, z: float) -> Artist:
        look = {"edgecolor": edge, "linewidth": LINE} if edge is not None else {"linewidth": 0.0}
        return self.axes.add_patch(Polygon(points, facecolor=face, joinstyle="round", zorder=z, **look))

    def _lines(self, lines: list[np.ndarray], z: float, colour: Any, width: float = LINE, style: Any = "-") -> Artist:
        look: dict[str, Any] = {"colors": [colour], "linewidths": width, "zorder": z, "linestyles": [style]}
        look["capstyle"] = "round" if style == "-" else "butt"
        return self.axes.add_collection(LineCollection(lines, joinstyle="round", **look), autolim=False)


def rounded(points: np.ndarray, radius: float, circle: np.ndarray = CIRCLE) -> np.ndarray:
    """Return the corners (n, 2) of the convex hull of discs of ``radius`` around points (k, 2).

    ``circle`` (c, 2): the corners of the unit disc.
    """
    rims = (points[:, None] + radius * circle).reshape(-1, 2)
    return rims[ConvexHull(rims).vertices]


def _is_box(points: np.ndarray) -> bool:
    """Return whether points (k, 3) are corners of a box in the order of `BOX`."""
    ends = points[:4] + points[:3:-1] if len(points) == len(BOX) else np.arange(2.0)
    return bool(np.ptp(ends, axis=0).max() <= 1e-9 * np.abs(points).max())


def zigzag(start: np.ndarray, end: np.ndarray, width: float) -> np.ndarray:
    """Return a spring (n, 2) between two points, with straight ends."""
    length = np.linalg.norm(end - start)
    if length < FLAT:
        return np.array([start, end])
    along = (end - start) / length
    across = np.array([-along[1], along[0]])
    places = np.linspace(0.2, 0.8, 2 * TEETH + 1) * length
    swings = width * np.array([0.0, *[(-1.0) ** k for k in range(2 * TEETH - 1)], 0.0])
    return np.concatenate([[start], start + np.outer(places, along) + np.outer(swings, across), [end]])


def _round_length(length: float) -> float:
    """Return the largest of 1, 2, 5 times a power of ten that is not above ``length``."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(max(factor for factor in (1.0, 2.0, 5.0) if factor * power <= length * (1 + 1e-9)) * power)


def _faded(colour: Any, white: float) -> tuple[float, ...]:
    return tuple(white + (1.0 - white) * part for part in to_rgb(colour))
