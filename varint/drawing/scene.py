"""Drawing of a mechanism: outlines of its bodies, marks of its joints, lines of its forces.

Bodies are described by mass and inertia, not by a shape. So a body is drawn from where its joints and forces meet it
and from the box of the same inertia, which shows how far it reaches; one that has shapes which touch is drawn as these,
and a ball as a ball.
"""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from varint.drawing.shape_outlines import ShapeOutline, planes_of, shape_outlines
from varint.drawing.viewpoint import View
from varint.drawing.wrapped import WrapShape, shape_of
from varint.kinematics.frames import JointFrames, in_body
from varint.kinematics.stand_ins import stand_ins
from varint.model.body import Body
from varint.model.forces.soft_mesh import soft_meshes
from varint.model.joints.base import Joint
from varint.model.motion import Ball, Shift, Slide, Turn, joint_pose
from varint.model.product_joint import Product
from varint.model.rotation_vectors import rotation_matrix
from varint.model.structure import Structure

WORLD = -1  # number of a body
LONG = 2.5  # times as long as wide: a link
MET = 0.3  # of half its length: a joint as near as that is at the end of a link
ALONG = 0.95  # cosine: a slide along a link
ROUND = 0.97  # share of the larger half: a wheel
CENTRED = 0.1  # of its half: a joint on the axis of a wheel
RADIUS = 2.0 / np.sqrt(3.0)  # of a wheel, in halves of the square of the same inertia
RIM = 1.1 * RADIUS  # in halves: a joint is on the wheel
CORNER = 0.25  # of the distance of two joints: the third corner of a body is as far from their line
INNER = 0.5  # of half its length: a traced point further out is a corner of the body
INSIDE = 1.05  # halves of the box: a joint is in the body
PIECES = 24  # of a track between two control frames
SAME = 1e-6  # of the size of a mechanism: points that are drawn once


class Outline(NamedTuple):
    """A convex shape around ``points`` (k, 3), m, in axes of ``body``; ``solid``: its own size, not that of a link.

    A sphere or a capsule is the hull of balls of ``radius`` about ``centres`` (n, 3), seen from any side.
    """

    body: int
    points: np.ndarray
    solid: bool
    centres: np.ndarray = np.zeros((0, 3))
    radius: float = 0.0


class Mark(NamedTuple):
    """A joint at ``point`` (3,), m, with ``axis`` (3,) or zero, in axes of ``body``; ``symbol``: "pin", "ball", ..."""

    symbol: str
    body: int
    point: np.ndarray
    axis: np.ndarray
    grounded: bool


class Guide(NamedTuple):
    """The line through ``point`` (3,), m, along ``axis`` (3,), world, on which ``slid`` (3,) of ``body`` moves."""

    point: np.ndarray
    axis: np.ndarray
    body: int
    slid: np.ndarray


class Strand(NamedTuple):
    """A line over ``points`` (n, 3), m, in axes of ``bodies`` (n,), with a look.

    ``look``: "coil", "line", "beam", "rod" or "piston" (`is_retracted`).
    ``surfaces``: between neighbouring points the one that it wraps around, or None; empty where there is none at all.
    ``force``: number of the force that it shows, -1 for none.
    """

    look: str
    bodies: tuple[int, ...]
    points: np.ndarray
    surfaces: tuple[WrapShape | None, ...] = ()
    force: int = -1


class Skin(NamedTuple):
    """A mesh that is deformed, by numbers of its vertices: triangles (f, 3), counter-clockwise, or lines (f, 2).

    Vertices are placed as bodies are, behind all of these and before the world.
    """

    faces: np.ndarray


class Scene(NamedTuple):
    """All that is drawn of a mechanism seen from ``view``."""

    structure: Structure
    view: View
    outlines: list[Outline]
    marks: list[Mark]
    guides: list[Guide]
    strands: list[Strand]
    tracks: list[np.ndarray]  # (n, 3) m, world
    planes: list[tuple[np.ndarray, np.ndarray]]  # point (3,), m, and normal (3,), world, of those that are touched
    skins: tuple[Skin, ...] = ()


def placed(x: np.ndarray, R: np.ndarray, body: int, points: np.ndarray) -> np.ndarray:
    """Return points (..., 3), m, of a body in the world.

    Bodies at ``x`` (..., nb + 1, 3), ``R`` (..., nb + 1, 3, 3).
    """
    return x[..., body, :] + (R[..., body, :, :] @ points[..., None])[..., 0]


def attached(structure: Structure, body: int, point: np.ndarray) -> np.ndarray:
    """Return a point (3,) of the reference configuration, m, in axes of the body or the world."""
    return np.asarray(point, dtype=float) if body == WORLD else in_body(structure, body, point)


def is_retracted(strand: Strand, x: np.ndarray, R: np.ndarray) -> bool:
    """Return whether the rod of a piston, from its cylinder to its own inner end, lies within both."""
    begin, end = (placed(x, R, body, point) for body, point in zip(strand.bodies, strand.points, strict=True))
    return bool((end - begin) @ (begin - x[strand.bodies[0]]) <= 0.0)


def make_scene(structure: Structure, view: View, traced: Iterable[tuple[int, np.ndarray]] = ()) -> Scene:
    """Return the scene of a mechanism; bodies also reach to the points ``traced``, (body, (3,) in its axes).

    Bodies without shape that stand for armature are left out with their hinges.
    """
    touched: list[list[np.ndarray]] = [[] for _ in structure.bodies]
    slides: dict[int, list[np.ndarray]] = {}  # by body, in its axes
    boxes = [_box(body, view) for body in structure.bodies]
    scene = Scene(structure, view, [], [], [], [], [], planes_of(structure), skins_of(structure))
    for joint in structure.joints:
        if joint.forbidden and joint.name not in structure.rotors:
            _add_joint(scene, joint, boxes, touched, slides)
    for strand in strands_of(structure):
        scene.strands.append(strand)
        ends = [point for body, point in zip(strand.bodies, strand.points, strict=True) if body == WORLD]
        if strand.look == "beam":
            scene.marks.extend(_clamps(structure, strand))
        else:
            scene.marks.extend(Mark("ball", WORLD, point, np.zeros(3), True) for point in ends)
        _touch(touched, strand.bodies, strand.points)
    for body, point in traced:
        if np.linalg.norm(boxes[body].ways.T @ point) > INNER * boxes[body].halves[0]:
            touched[body].append(point)
    nodes = _nodes(scene) | stand_ins(structure, [float(box.halves[0]) for box in boxes])
    for number, (points, box) in enumerate(zip(touched, boxes, strict=True)):
        described = structure.bodies[number]
        if number in nodes or described.name in structure.rotors:
            continue
        shapes = shape_outlines(described)
        if shapes:
            scene.outlines.extend(_shaped(number, _unlike(points, box), shapes))
        else:
            scene.outlines.extend(_outlines(number, _unlike(points, box), box, number in slides))
    solid = {outline.body for outline in scene.outlines if outline.solid}
    scene.marks[:] = [mark for mark in scene.marks if mark.symbol != "slider" or mark.body not in solid]
    return scene


def _clamps(structure: Structure, strand: Strand) -> Iterable[Mark]:
    """Yield the clamps of a beam in the world; their axes point along it, in the reference configuration."""
    bodies = structure.bodies
    places = [
        point if body == WORLD else bodies[body].position + rotation_matrix(bodies[body].quat_wxyz) @ point
        for body, point in zip(strand.bodies, strand.points, strict=True)
    ]
    for body, (here, there) in zip(strand.bodies, (places, places[::-1]), strict=True):
        if body == WORLD:
            yield Mark("weld", WORLD, here, (there - here) / np.linalg.norm(there - here), True)


def _nodes(scene: Scene) -> set[int]:
    """Return the bodies with beams through their centres, which the lines of the beams show."""
    beams = [strand for strand in scene.strands if strand.look == "beam"]
    ends = [end for beam in beams for end in zip(beam.bodies, beam.points, strict=True)]
    bodies = scene.structure.bodies
    return {body for body, point in ends if body != WORLD and not point.any() and not bodies[body].collision}


def strands_of(structure: Structure) -> list[Strand]:
    """Return the lines of all forces, in their order: the first of a `Scene`'s strands."""
    strands: list[Strand] = []
    for number, force in enumerate(structure.forces):
        for course, surfaces in force.branches(structure):
            bodies = tuple(structure.body_index.get(name, WORLD) for name, _ in course)
            points = [attached(structure, body, point) for body, (_, point) in zip(bodies, course, strict=True)]
            shapes = tuple(each and shape_of(structure, *each) for each in surfaces) if any(surfaces) else ()
            strands.append(Strand(force.look, bodies, np.array(points), shapes, number))
    return strands


def colours_of(structure: Structure) -> list[int]:
    """Return the number of the colour of each body: its own number, that of the first node for all nodes of a beam."""
    colour = list(range(len(structure.bodies)))
    for force in structure.forces:
        ends = [(structure.body_index.get(name, WORLD), point) for name, point in force.course() or ()]
        if force.look != "beam" or any(body == WORLD for body, _ in ends):
            continue
        if any(attached(structure, body, point).any() for body, point in ends):
            continue  # on a body that is more than a node
        first, second = sorted(colour[body] for body, _ in ends)
        colour = [first if number == second else number for number in colour]
    return colour


def hangs(centres: np.ndarray, feet: np.ndarray, margin: float) -> bool:
    """Return whether no body has its centre above the places on the ground; heights (n,) and (m,), m."""
    return bool(feet.size and centres.max(initial=-np.inf) <= feet.max() + margin)


def skins_of(structure: Structure) -> tuple[Skin, ...]:
    """Return the surfaces and lines of all deformable meshes."""
    skins, first = [], len(structure.bodies)
    for soft in soft_meshes(structure):
        skins.append(Skin(first + soft.mesh.skin))
        first += soft.count
    return tuple(skins)


def _touch(touched: list[list[np.ndarray]], bodies: Iterable[int], points: Iterable[np.ndarray]) -> None:
    for body, point in zip(bodies, points, strict=True):
        if body != WORLD:
            touched[body].append(point)


# ---------------------------------------------------------------------------------------- joints


class _Box(NamedTuple):
    """The uniform box of a body's inertia: ``halves`` (d,) of its edges, m, falling, and their ``ways`` (3, d)."""

    halves: np.ndarray
    ways: np.ndarray

    @property
    def is_long(self) -> bool:
        return bool(self.halves[0] > LONG * self.halves[1])


def _box(body: Body, view: View) -> _Box:
    """Return a box in the plane of the picture if the mechanism moves in it, else in space; body axes."""
    seen = np.stack([view.right, view.up], axis=1) if view.flat else np.eye(3)
    axes = rotation_matrix(body.quat_wxyz).T @ seen if view.flat else seen
    spread = axes.T @ (0.5 * np.trace(body.inertia) * np.eye(3) - body.inertia) @ axes / body.mass
    squares, vectors = np.linalg.eigh(spread)
    return _Box(np.sqrt(3.0 * np.maximum(squares[::-1], 0.0)), axes @ vectors[:, ::-1])


def _add_joint(
    scene: Scene, joint: Joint, boxes: Sequence[_Box], touched: list[list[np.ndarray]], slides: dict
) -> None:
    frames = JointFrames(scene.structure, joint)
    sides = [(frames.a, frames.origin_a, frames.axes_a), (frames.b, frames.origin_b, frames.axes_b)]
    sliding = [motion for motion in joint.shown if isinstance(motion, Slide)]
    path = next((motion for motion in joint.allowed if isinstance(motion, Product)), None)
    tracked = path is not None and path.size == 1 and len(path.base) > 1
    if tracked or len(sliding) > 1:
        _touch(touched, [frames.b], [frames.origin_b if joint.needs_point and not tracked else np.zeros(3)])
        if path is not None and tracked and frames.a == WORLD:
            scene.tracks.append(_track(joint, frames, path))
        return
    for body, origin, axes in sides:
        if body == WORLD:
            continue
        if sliding:
            axis = axes[:, sliding[0].axis]
            slides.setdefault(body, []).append(axis)
            if boxes[body].is_long and abs(axis @ boxes[body].ways[:, 0]) > ALONG:
                continue  # it slides along itself: its ends say more
        touched[body].append(origin)
    if sliding:
        _add_slide(scene, sides, sliding[0].axis, boxes)
    else:
        _add_marks(scene, joint, sides)


def _add_slide(scene: Scene, sides: list, axis: int, boxes: Sequence[_Box]) -> None:
    (a, origin_a, axes_a), (b, origin_b, axes_b) = sides
    if b == WORLD:
        (a, origin_a, axes_a), (b, origin_b, axes_b) = sides[::-1]
    along = axes_b[:, axis]
    if a == WORLD:
        scene.guides.append(Guide(origin_a, axes_a[:, axis], b, origin_b))
    else:
        _add_rod(scene, (a, b), (axes_a[:, axis], along), boxes)
    if not (boxes[b].is_long and abs(along @ boxes[b].ways[:, 0]) > ALONG):
        scene.marks.append(Mark("slider", b, origin_b, along, False))


def _add_rod(scene: Scene, bodies: tuple[int, int], axes: tuple[np.ndarray, np.ndarray], boxes: Sequence[_Box]) -> None:
    """Add the rod of a piston, from its own inner end to the open end of its cylinder, visible outside of it.

    ``axes`` (3,) of the slide in axes of each body; only links that both lie along it have a rod.
    """
    described = [scene.structure.bodies[body] for body in bodies]
    ways = [np.abs(boxes[body].ways[:, 0] @ axis) for body, axis in zip(bodies, axes, strict=True)]
    if not all(boxes[body].is_long and way > ALONG for body, way in zip(bodies, ways, strict=True)):
        return
    apart = described[1].position - described[0].position
    along = rotation_matrix(described[0].quat_wxyz) @ axes[0]
    way = apart @ along
    if np.linalg.norm(apart - way * along) > min(boxes[body].halves[1] for body in bodies):
        return  # they lie beside each other
    ends = [
        side * np.sign(way) * boxes[body].halves[0] * axis
        for side, body, axis in zip((1, -1), bodies, axes, strict=True)
    ]
    scene.strands.append(Strand("piston", bodies, np.array(ends)))


def _add_marks(scene: Scene, joint: Joint, sides: list) -> None:
    turns = [motion for motion in joint.shown if isinstance(motion, Turn)]
    grounded = any(body == WORLD for body, *_ in sides)
    if any(isinstance(motion, Shift) for motion in joint.allowed):
        scene.strands.append(Strand("rod", tuple(side[0] for side in sides), np.array([side[1] for side in sides])))
        for body, origin, _ in sides:
            scene.marks.append(Mark("ball", body, origin, np.zeros(3), body == WORLD))
        return
    body, origin, axes = next((side for side in sides if side[0] == WORLD), sides[1])
    if any(isinstance(motion, Ball) for motion in joint.shown):
        symbol, axis = "ball", np.zeros(3)
    elif len(turns) == 1:
        symbol, axis = "pin", axes[:, turns[0].axis]
    else:
        symbol, axis = "cross" if joint.dof else "weld", np.zeros(3)
    scene.marks.append(Mark(symbol, body, origin, axis, grounded))


def _track(joint: Joint, frames: JointFrames, path: Product) -> np.ndarray:
    """Return the path (n, 3), m, of the centre of mass along which a joint to the world lets body b move."""
    centre = -frames.axes_b.T @ frames.origin_b  # in frame b
    poses = (joint_pose(joint, np.array([q])) for q in np.linspace(0.0, len(path.base), PIECES * len(path.base) + 1))
    return np.array([frames.origin_a + frames.axes_a @ (shift + turn @ centre) for turn, shift in poses])


# ---------------------------------------------------------------------------------------- bodies


def _unlike(points: Iterable[np.ndarray], box: _Box) -> list[np.ndarray]:
    """Return the points that differ in the directions of the box."""
    distinct: list[np.ndarray] = []
    for point in points:
        seen = box.ways @ (box.ways.T @ point)
        if all(np.linalg.norm(seen - other) > SAME * (box.halves[0] + np.linalg.norm(seen)) for other in distinct):
            distinct.append(seen)
    return distinct


def _shaped(body: int, points: list[np.ndarray], shapes: list[ShapeOutline]) -> list[Outline]:
    """Return the outlines of a body by its ``shapes``, and a link to each of its points outside of the box around them.

    Links meet at the centre of mass; where that is outside as well, one goes on to the shapes.
    """
    corners = np.concatenate([shape.points for shape in shapes])
    low, high = corners.min(axis=0), corners.max(axis=0)
    margin = (INSIDE - 1.0) * float(np.linalg.norm(corners, axis=1).max())
    far = [point for point in points if (point < low - margin).any() or (point > high + margin).any()]
    if far and ((low > margin).any() or (high < -margin).any()):
        far.append(0.5 * (low + high))
    links = [Outline(body, np.array([point, np.zeros(3)]), False) for point in far]
    return links + [Outline(body, shape.points, True, shape.centres, shape.radius) for shape in shapes]


def _outlines(body: int, points: list[np.ndarray], box: _Box, slides: bool) -> list[Outline]:
    """Return the outlines of a body with joints and forces at ``points``, from its centre of mass."""
    half, first = box.halves, box.ways[:, 0]
    if box.is_long:
        tips = [
            tip for tip in (half[0] * first, -half[0] * first)
            if all(np.linalg.norm(tip - point) > MET * half[0] for point in points)
        ]  # fmt: skip
        return [Outline(body, np.array([*points, *tips]), False)]
    far = [point for point in points if (np.abs(box.ways.T @ point) > INSIDE * half).any()]
    third = half[2] if len(half) > 2 else 0.0
    off = [np.linalg.norm(box.ways[:, :2].T @ point) / half[0] for point in points]
    is_round = half[1] > ROUND * half[0] and third < half[1] / 2 and not slides
    if is_round and off and min(off) < CENTRED and max(off) < RIM:
        turns = np.linspace(0.0, 2 * np.pi, 48, endpoint=False)
        rim = RADIUS * half[0] * np.stack([np.cos(turns), np.sin(turns)], axis=1)
        axle = [Outline(body, np.array([point, np.zeros(3)]), False) for point in far]
        return [*axle, Outline(body, rim @ box.ways[:, :2].T, True)]
    if len(points) == 2 and far:
        one, other = points
        corner = -one - other  # of the triangle whose centroid is the centre of mass
        share = np.clip((corner - one) @ (other - one) / ((other - one) @ (other - one)), 0.0, 1.0)
        aside = np.linalg.norm(corner - one - share * (other - one))
        wide = aside > CORNER * np.linalg.norm(other - one)
        return [Outline(body, np.array([*points, corner] if wide else points), False)]
    if len(points) > 2:
        return [Outline(body, np.array(points), False)]
    corners = half * np.array(list(product((-1.0, 1.0), repeat=len(half))))
    block = Outline(body, corners @ box.ways.T, True)
    return [*(Outline(body, np.array([point, np.zeros(3)]), False) for point in far), block]
