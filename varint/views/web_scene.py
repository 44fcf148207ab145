"""Data of a mechanism for the page in the browser, ready for JSON: the drawing of `varint.drawing.scene`, in space."""

from base64 import b64encode
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull

from varint.drawing.following import floating_base, floor_height
from varint.drawing.scene import WORLD, Mark, Outline, Scene, Skin, colours_of, hangs, make_scene, placed
from varint.drawing.shape_outlines import planes_of
from varint.drawing.style import COLOURS
from varint.drawing.viewpoint import choose_view, up_of
from varint.kinematics.frames import JointFrames
from varint.mechanism.mechanism import Mechanism
from varint.model.collision_shapes import CollisionShape
from varint.model.motion import Slide, Turn
from varint.model.rotation_vectors import rotation_matrix
from varint.model.shapes import quat_from_z
from varint.model.solid import Solid
from varint.views.mesh_files import imported_solids

Tint = tuple[float, ...]  # red, green, blue, opacity, from 0 to 1

SYMBOL = 0.011  # radius of a joint, of the size of the mechanism
OF_LINK = 0.13  # at most, of the length of a typical link
LINK = 0.55  # radius of a body that is drawn as a link, in radii of a joint
THINNEST = 1e-4  # radius of a joint, of the size of the mechanism
REACH = 1.2  # a joint is on a solid up to so many times its half edges from its centre
MOST_COVERED = 6.0  # radii of a joint: a wider solid hides its joints
SURROUNDINGS = 5.0  # sizes of the mechanism: larger solids of the world need not fit into the picture
SLAB = 3.0  # edges of the slab that shows a plane, of the size of the mechanism
DIGITS = 7
BALL = np.array([p for p in product((-1.0, 0.0, 1.0), repeat=3) if any(p)])
BALL /= np.linalg.norm(BALL, axis=1, keepdims=True)


def scene_data(mechanism: Mechanism, x: np.ndarray, R: np.ndarray, plane: str | None) -> dict[str, Any]:
    """Return the bodies with their parts, joints, lines of forces, and the view.

    ``x`` (n, 3), ``R`` (n, 3, 3): poses of the bodies at the start, then vertices, the world last, see `poses_of`.
    Lengths in m, points and quaternions in axes of the bodies, numbered as in the mechanism, -1 the world.
    """
    view = choose_view(mechanism, plane)
    scene = make_scene(mechanism, view)
    shapes = imported_solids(mechanism)
    visible = [list(body.solids) or shapes.of(body.name) for body in mechanism.bodies]
    touching = [_touching(body.collision) for body in mechanism.bodies]
    solids = [seen or touched for seen, touched in zip(visible, touching, strict=True)]
    hidden = [_unlike(touched, seen) if seen else [] for seen, touched in zip(visible, touching, strict=True)]
    low, high = _with_surroundings(*_corners(scene, solids, x, R), shapes.of("world"))
    span = max(float(np.max(high - low)), 1e-9)
    size = _joint_size(scene, span)
    joints = [JointFrames(mechanism, joint) for joint in mechanism.joints]
    floor, base = floor_height(mechanism), floating_base(mechanism)
    outlines: list[list[Outline]] = [[] for _ in mechanism.bodies]
    for outline in scene.outlines:
        outlines[outline.body].append(outline)
    met = _met(scene, joints, [number for number, body in enumerate(mechanism.bodies) if body.solids])
    colours = colours_of(mechanism)
    tints = [[] if body.solids else shapes.colours.get(body.name, []) for body in mechanism.bodies]
    return {
        "bodies": [
            {
                "name": body.name,
                "parts": _parts(solids[number], outlines[number], met[number], size, tints[number]),
                "touching": [_solid(solid) for solid in hidden[number]],
                "rotor": body.name in mechanism.rotors,
                "colour": colours[number],
            }
            for number, body in enumerate(mechanism.bodies)
        ],
        "world": _coloured(shapes.of("world"), shapes.colours.get("world", []))
        or [_solid(solid) for solid in _grounds(mechanism, low, high)],
        "joints": [_joint(frames, frames.joint.name in mechanism.rotors) for frames in joints],
        "marks": [_mark(mark, solids, size) for mark in scene.marks],
        "guides": [
            {"point": _plain(g.point), "axis": _plain(g.axis), "body": g.body, "slid": _plain(g.slid)}
            for g in scene.guides
        ],
        "strands": [
            {
                "look": s.look,
                "bodies": list(s.bodies),
                "points": _plain(s.points),
                "wraps": [-2 if shape is None else shape.body for shape in s.surfaces],
                "activated": s.force >= 0 and mechanism.forces[s.force].activated,
            }
            for s in scene.strands
        ],
        "skins": [
            {"faces": encoded(faces, "<u4"), "corners": faces.shape[1], "count": len(vertices)}
            for vertices, faces in numbered(scene.skins)
        ],
        "touches": bool(mechanism.compiled.plan.contacts.body.size),
        "tracks": [_plain(track) for track in scene.tracks],
        "camera": {
            "right": _plain(view.right),
            "up": _plain(view.up if view.flat else up_of(mechanism)),
            "flat": view.flat,
        },
        "up": _plain(up_of(mechanism)),
        "floor": floor,
        "stands": not hangs(*_heights(scene, x), 0.1 * size),
        "shapes": not shapes.solids,
        "follow": -1 if base is None else base,
        "low": _plain(low),
        "high": _plain(high),
        "size": _plain(size),
        "colours": COLOURS,
        "notes": shapes.notes,
    }  # fmt: skip


def numbered(skins: Iterable[Skin]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the vertices on each skin, and its triangles (f, 3) or lines (f, 2) as numbers of these."""
    skins_and_faces = ((*np.unique(skin.faces, return_inverse=True), skin.faces.shape) for skin in skins)
    return [(vertices, faces.reshape(shape)) for vertices, faces, shape in skins_and_faces]


def _plain(values: Any) -> Any:
    """Return numbers with seven digits."""
    array = np.asarray(values, dtype=float)
    if array.ndim:
        return [_plain(part) for part in array]
    return float(f"{float(array):.{DIGITS}g}")


def encoded(array: np.ndarray, kind: str) -> str:
    """Return the bytes of an array as base64; ``kind``: of numpy, little-endian."""
    return b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode()


# ---------------------------------------------------------------------------------------- sizes


def _corners(
    scene: Scene, solids: Sequence[Sequence[Solid]], x: np.ndarray, R: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners (3,), m, of the box along the world's axes around all that is drawn at the start."""
    points = [placed(x, R, outline.body, outline.points) for outline in scene.outlines]
    points += [placed(x, R, mark.body, mark.point)[None] for mark in scene.marks]
    points += scene.tracks
    for strand in scene.strands:
        points += [placed(x, R, body, p)[None] for body, p in zip(strand.bodies, strand.points, strict=True)]
    for number, of_body in enumerate(solids):
        points += [placed(x, R, number, _box_corners(solid)) for solid in of_body]
    hidden = [number for name, number in scene.structure.body_index.items() if name in scene.structure.rotors]
    every = np.concatenate([np.delete(x[:-1], hidden, axis=0), *points])  # of vertices too
    return every.min(axis=0), every.max(axis=0)


def _with_surroundings(low: np.ndarray, high: np.ndarray, world: Sequence[Solid]) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of the box that also has the solids of the world which are not much larger than it."""
    boxes = [_box_corners(solid) for solid in world]
    most = SURROUNDINGS * float(np.max(high - low))
    points = [low[None], high[None], *(box for box in boxes if np.ptp(box, axis=0).max() <= most)]
    every = np.concatenate(points)
    return every.min(axis=0), every.max(axis=0)


def _heights(scene: Scene, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return heights, m, of the centres of all bodies but rotors, and of the places on the ground."""
    structure, up = scene.structure, up_of(scene.structure)
    bodies = [number for name, number in structure.body_index.items() if name not in structure.rotors]
    feet = [mark.point @ up for mark in scene.marks if mark.grounded and mark.body == WORLD]
    return x[bodies] @ up, np.array(feet)


def _joint_size(scene: Scene, span: float) -> float:
    """Return the radius of a joint, m."""
    lengths = [np.linalg.norm(np.ptp(outline.points, axis=0)) for outline in scene.outlines if len(outline.points) > 1]
    size = min(SYMBOL * span, OF_LINK * float(np.median(lengths))) if lengths else SYMBOL * span
    return max(size, THINNEST * span)


def _box(solid: Solid) -> tuple[np.ndarray, np.ndarray]:
    """Return middle (3,) and half edges (3,), m, of the box around a solid, in its axes."""
    if solid.kind == "mesh":
        low, high = solid.vertices.min(axis=0), solid.vertices.max(axis=0)
        return 0.5 * (low + high), 0.5 * (high - low)
    return np.zeros(3), _half_edges(solid)


def _half_edges(solid: Solid) -> np.ndarray:
    """Return the half edges (3,), m, of the box around a solid that is no mesh."""
    sizes = solid.sizes
    if solid.kind == "box":
        return 0.5 * sizes
    if solid.kind == "ellipsoid":
        return sizes
    ends = {"sphere": sizes[0], "cylinder": 0.5 * sizes[-1], "capsule": 0.5 * sizes[-1] + sizes[0]}
    return np.array([sizes[0], sizes[0], ends[solid.kind]])


def _box_corners(solid: Solid) -> np.ndarray:
    """Return the corners (8, 3), m, of the box around a solid, body axes."""
    middle, half = _box(solid)
    corners = middle + np.array(list(product((-1.0, 1.0), repeat=3))) * half
    return solid.position + corners @ rotation_matrix(solid.quat_wxyz).T


def _is_on(solid: Solid, point: np.ndarray, margin: float) -> bool:
    """Return whether a point (3,) of the body lies in the solid, or next to it."""
    inside = rotation_matrix(solid.quat_wxyz).T @ (point - solid.position)
    middle, half = _box(solid)
    return bool((np.abs(inside - middle) <= REACH * half + margin).all())


# ---------------------------------------------------------------------------------------- bodies


def _met(scene: Scene, joints: Iterable[JointFrames], described: Iterable[int]) -> list[list[np.ndarray]]:
    """Return points (3,), body axes, by body, where joints and forces act on it; only on described bodies.

    Solids that were imported are whole.
    """
    points: list[tuple[int, np.ndarray]] = [(mark.body, mark.point) for mark in scene.marks]
    for frames in joints:
        if not any(isinstance(motion, Slide) for motion in frames.joint.shown):
            points += [(frames.a, frames.origin_a), (frames.b, frames.origin_b)]
    for strand in scene.strands:
        points += zip(strand.bodies, strand.points, strict=True)
    points_by_body: list[list[np.ndarray]] = [[] for _ in scene.structure.bodies]
    wanted = set(described)
    for body, point in points:
        if body in wanted:
            points_by_body[body].append(point)
    return points_by_body


def _parts(
    solids: Sequence[Solid],
    outlines: Iterable[Outline],
    met: Iterable[np.ndarray],
    size: float,
    tints: Sequence[Tint | None],
) -> list[dict]:
    """Return the solids of a body, with links to joints beside them; without solids, links through its joints.

    ``tints``: of the solids, by their file; none at all where no file has any.
    """
    radius = LINK * size
    if not solids:
        return [part for outline in outlines for part in _outline(outline, radius)]
    far = {tuple(point) for point in met if not any(_is_on(solid, point, 2 * size) for solid in solids)}
    middle = np.mean([_box_corners(solid).mean(axis=0) for solid in solids], axis=0)
    return _coloured(solids, tints) + [_link(middle, np.array(point), radius) for point in sorted(far)]


def _touching(shapes: Iterable[CollisionShape]) -> list[Solid]:
    """Return the bounded collision shapes."""
    return [solid for solid in (shape.solid() for shape in shapes) if solid is not None]


def _unlike(solids: Sequence[Solid], others: Sequence[Solid]) -> list[Solid]:
    """Return the solids that differ from all the others."""
    return [solid for solid in solids if not any(_is_same(solid, other) for other in others)]


def _is_same(solid: Solid, other: Solid) -> bool:
    if solid.kind != other.kind or solid.kind == "mesh":
        return False
    pairs = [(each.sizes, each.position, rotation_matrix(each.quat_wxyz)) for each in (solid, other)]
    return all(np.allclose(a, b, atol=1e-9) for a, b in zip(*pairs, strict=True))


def _grounds(mechanism: Mechanism, low: np.ndarray, high: np.ndarray) -> list[Solid]:
    """Return the shapes of the ground; planes as slabs below the space between two corners."""
    solids = _touching(mechanism.ground)
    span, middle = SLAB * float(np.max(high - low)), 0.5 * (low + high)
    for point, normal in planes_of(mechanism):
        thin = 0.01 * span
        below = middle - (normal @ (middle - point) + 0.5 * thin) * normal
        solids.append(Solid("box", np.array([span, span, thin]), below, quat_from_z(normal)))
    return solids


def _solid(solid: Solid) -> dict:
    data = {
        "kind": solid.kind,
        "sizes": _plain(solid.sizes),
        "position": _plain(solid.position),
        "quat": _plain(solid.quat_wxyz),
    }
    return data | (_mesh(solid.vertices, solid.triangles) if solid.kind == "mesh" else {})


def _coloured(solids: Sequence[Solid], tints: Sequence[Tint | None]) -> list[dict]:
    """Return solids in the colours of their file where that has some."""
    of_each = tints or [None] * len(solids)
    return [
        _solid(solid) | ({} if tint is None else {"colour": _plain(tint)})
        for solid, tint in zip(solids, of_each, strict=True)
    ]


def _mesh(vertices: np.ndarray, triangles: np.ndarray) -> dict:
    return {"vertices": encoded(vertices, "<f4"), "triangles": encoded(triangles, "<u4")}


def _outline(outline: Outline, radius: float) -> Iterable[dict]:
    """Yield a link, or the hull of balls around the corners of a body; the default box has sharp edges."""
    points = outline.points
    if len(points) == 1:
        yield {"kind": "sphere", "sizes": _plain([1.6 * radius]), "position": _plain(points[0]), "quat": [1, 0, 0, 0]}
    elif len(points) == 2:
        yield _link(points[0], points[1], radius)
    else:
        sharp = outline.solid and np.linalg.matrix_rank(points - points[0], tol=1e-9 * np.ptp(points)) == 3
        yield _hull(points if sharp else (points[:, None] + radius * BALL).reshape(-1, 3))


def _link(start: np.ndarray, end: np.ndarray, radius: float) -> dict:
    length = float(np.linalg.norm(end - start))
    quat = quat_from_z(end - start) if length > 0 else np.array([1.0, 0.0, 0.0, 0.0])
    return {
        "kind": "capsule",
        "sizes": _plain([radius, length]),
        "position": _plain(0.5 * (start + end)),
        "quat": _plain(quat),
    }


def _hull(points: np.ndarray) -> dict:
    """Return the convex hull of points (n, 3), its triangles counter-clockwise from outside."""
    hull = ConvexHull(points)
    corners = points[hull.simplices]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inwards = (normals * hull.equations[:, :3]).sum(axis=1) < 0
    triangles = np.where(inwards[:, None], hull.simplices[:, ::-1], hull.simplices)
    used, numbers = np.unique(triangles, return_inverse=True)
    mesh = _mesh(points[used], numbers.reshape(triangles.shape))
    return {"kind": "mesh", "sizes": [], "position": [0, 0, 0], "quat": [1, 0, 0, 0], **mesh}


# ---------------------------------------------------------------------------------------- joints


def _joint(frames: JointFrames, hidden: bool = False) -> dict:
    """Place of a joint on body b, or on a where b is the world, and the axes of its motions there.

    A ``hidden`` one is at the world, without axes.
    """
    joint = frames.joint
    moves = [motion for motion in joint.shown if isinstance(motion, Turn | Slide) and not hidden]
    sides = [(frames.a, frames.axes_a), (frames.b, frames.axes_b)]
    axes = []
    for place, motion in enumerate(moves):
        body, frame = sides[0 if place == 0 and len(moves) > 1 else 1]
        axes.append({"body": body, "axis": _plain(frame[:, motion.axis]), "slides": isinstance(motion, Slide)})
    body, point = (frames.b, frames.origin_b) if frames.b != WORLD and not hidden else (frames.a, frames.origin_a)
    return {
        "name": joint.name,
        "type": type(joint).__name__,
        "body_a": joint.body_a,
        "body_b": joint.body_b,
        "body": body,
        "point": _plain(point),
        "axes": axes,
    }


def _mark(mark: Mark, solids: Sequence[Sequence[Solid]], size: float) -> dict:
    """Return a symbol, wide enough to be seen beside the solid that it lies in."""
    around = solids[mark.body] if mark.body != WORLD else ()
    halves = [_box(solid)[1].min() for solid in around if _is_on(solid, mark.point, 0.0)]
    wide = min(max(halves, default=0.0), MOST_COVERED * size)
    turn = quat_from_z(mark.axis) if np.any(mark.axis) else np.array([1.0, 0.0, 0.0, 0.0])
    return {
        "symbol": mark.symbol,
        "body": mark.body,
        "point": _plain(mark.point),
        "quat": _plain(turn),
        "grounded": mark.grounded,
        "radius": _plain(max(size, 0.55 * wide)),
        "half": _plain(max(1.6 * size, 1.12 * wide)),
    }
