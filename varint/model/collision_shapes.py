"""Shapes that touch: of bodies, from the centre of mass in body axes, and of the ground, in the world."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, NamedTuple, Self

import numpy as np

from varint.base.checks import (
    Frozen,
    array_of,
    flag,
    freeze,
    kind_of,
    made,
    not_negative,
    positive,
    sequence_of,
    shown,
    unit_axis,
    unit_quaternion,
)
from varint.base.display import count_text, numbers_text
from varint.base.errors import MechanismError
from varint.geometry.convex_hull import INSIDE, hull_of
from varint.model.arrays import Grid, Points, Quaternion, Vector
from varint.model.bounds import bounded
from varint.model.mesh_file import read_mesh
from varint.model.rotation_vectors import quat_from_matrix, rotation_matrix
from varint.model.shapes import quat_from_z
from varint.model.solid import Solid

BOX_FACES = ((2, 6, 4, 0), (5, 7, 3, 1), (4, 5, 1, 0), (3, 7, 6, 2), (1, 3, 2, 0), (6, 7, 5, 4))
MOST_CORNERS = 4000  # of a convex mesh: contacts look at all of its edges
MOST_TRIANGLES = 20_000  # of a height field: each is a shape, with a pair for each shape that may touch it
PRISM_FACES = ((0, 1, 2), (5, 4, 3), (0, 3, 4, 1), (1, 4, 5, 2), (2, 5, 3, 0))  # below a triangle


class Core(NamedTuple):
    """Points and faces of a shape: ``vertices`` (n, 3), ``faces`` with their numbers, and a ``radius`` about it.

    Without faces its vertices are a point, the ends of a line, or for a plane a point of it, with its ``normal``.
    """

    vertices: np.ndarray
    faces: tuple[np.ndarray, ...] = ()
    radius: float = 0.0
    normal: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class CollisionShape(Frozen):
    """Base of the shapes that touch.

    friction, restitution : float, optional
        Coefficients of the surface as a file gives them, else None. A contact states its own.
    """

    hollow: ClassVar[bool] = False  # whether others are inside of it

    friction: float | None = field(default=None, kw_only=True)
    restitution: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for name in ("friction", "restitution"):
            if getattr(self, name) is not None:
                self._set(name, not_negative(getattr(self, name), f"{name} of {self.label}"))
        if self.restitution is not None and self.restitution > 1.0:
            raise MechanismError(f"restitution of {self.label} must be from 0 to 1, got {self.restitution:g}")

    @property
    def label(self) -> str:
        """Name in messages."""
        return f"a {type(self).__name__}"

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _vector(self, name: str) -> None:
        value = array_of(getattr(self, name), (3,), f"{name} of {self.label}")
        bounded(value, f"{name} of {self.label}")
        self._set(name, value)

    def _radius(self) -> None:
        self._set("radius", positive(self.radius, f"radius of {self.label}"))  # type: ignore[attr-defined]
        bounded(self.radius, f"radius of {self.label}")  # type: ignore[attr-defined]

    def _place(self) -> None:
        self._vector("position")
        self._set("quat_wxyz", unit_quaternion(self.quat_wxyz, f"quat_wxyz of {self.label}"))  # type: ignore[attr-defined]

    def _line(self) -> None:
        self._vector("a")
        self._vector("b")
        if not np.linalg.norm(self.b - self.a) > 0.0:  # type: ignore[attr-defined]
            raise MechanismError(f"a and b of {self.label} must be apart, both are {numbers_text(self.a)}")  # type: ignore[attr-defined]

    def core(self) -> Core:
        """Return the core: points, faces and radius."""
        raise NotImplementedError

    def cores(self) -> list[Core]:
        """Return the convex parts."""
        return [self.core()]

    def solid(self) -> Solid | None:
        """Return the solid for pictures, or None if the shape is unbounded."""
        raise NotImplementedError

    def moved(self, position: np.ndarray, R: np.ndarray) -> "CollisionShape":
        """Return the shape with its points p at ``position`` + ``R`` p."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class SphereShape(CollisionShape):
    """A ball of a ``radius`` about ``center`` (3,), m. Raises MechanismError."""

    radius: float
    center: Vector = field(default_factory=lambda: np.zeros(3))

    def __post_init__(self) -> None:
        super().__post_init__()
        self._radius()
        self._vector("center")

    def _facts(self) -> Iterable[str]:
        yield f"radius {self.radius:.6g} m"

    def core(self) -> Core:
        return Core(self.center[None], radius=self.radius)

    def solid(self) -> Solid | None:
        return Solid("sphere", np.array([self.radius]), self.center)

    def moved(self, position: np.ndarray, R: np.ndarray) -> "SphereShape":
        return replace(self, center=position + R @ self.center)


@dataclass(frozen=True, eq=False)
class _AboutLine(CollisionShape):
    """A ``radius`` about the line from ``a`` (3,) to ``b`` (3,), m: capsules and cylinders."""

    a: Vector
    b: Vector
    radius: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self._radius()
        self._line()

    def _facts(self) -> Iterable[str]:
        yield f"from {numbers_text(self.a)} to {numbers_text(self.b)} m, radius {self.radius:.6g} m"

    def core(self) -> Core:
        return Core(np.array([self.a, self.b]), radius=self.radius)

    def moved(self, position: np.ndarray, R: np.ndarray) -> Self:
        return replace(self, a=position + R @ self.a, b=position + R @ self.b)


@dataclass(frozen=True, eq=False)
class CapsuleShape(_AboutLine):
    """All points within ``radius`` of the line from ``a`` (3,) to ``b`` (3,), m. Raises MechanismError."""

    def solid(self) -> Solid | None:
        return _along("capsule", self.a, self.b, self.radius)


@dataclass(frozen=True, eq=False)
class CylinderShape(_AboutLine):
    """A cylinder of a ``radius`` about the line from ``a`` (3,) to ``b`` (3,), flat at its ends, m.

    It touches all but what is hollow; there take a `CapsuleShape`, or a `ConvexMesh` of a prism. Raises MechanismError.
    """

    def solid(self) -> Solid:
        return _along("cylinder", self.a, self.b, self.radius)


@dataclass(frozen=True, eq=False)
class BoxShape(CollisionShape):
    """A box: ``size`` (3,), its edges along its x, y and z, m, about ``position`` (3,), turned by ``quat_wxyz`` (4,).

    Raises MechanismError.
    """

    size: Vector
    position: Vector = field(default_factory=lambda: np.zeros(3))
    quat_wxyz: Quaternion = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))

    def __post_init__(self) -> None:
        super().__post_init__()
        self._vector("size")
        if (self.size <= 0.0).any():
            raise MechanismError(f"size of {self.label} must be positive, got {self.size.tolist()}")
        self._place()

    def _facts(self) -> Iterable[str]:
        yield f"{numbers_text(self.size)} m"

    def core(self) -> Core:
        corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * self.size
        vertices = self.position + corners @ rotation_matrix(self.quat_wxyz).T
        return Core(vertices, tuple(np.array(loop) for loop in BOX_FACES))

    def solid(self) -> Solid:
        return Solid("box", self.size, self.position, self.quat_wxyz)

    def moved(self, position: np.ndarray, R: np.ndarray) -> "BoxShape":
        turn = quat_from_matrix(R @ rotation_matrix(self.quat_wxyz))
        return replace(self, position=position + R @ self.position, quat_wxyz=turn)


@dataclass(frozen=True, eq=False)
class ConvexMesh(CollisionShape):
    """A convex polyhedron.

    Parameters
    ----------
    vertices : array_like (n, 3), or the path of a mesh file
        m; of a file (STL, OBJ, PLY, OFF, DAE, GLB) those of its triangles, which the extra ``view`` reads.
    position, quat_wxyz : array_like (3,), (4,)
        Place and axes of the mesh.
    hull : bool
        Whether a mesh that is not convex is replaced by its convex hull. It is then kept as the hull.

    Raises
    ------
    MechanismError
        The vertices enclose no volume, some are inside of the hull of the others or of one of its faces, as those of a
        prism with a notch are, or the mesh of a file has a smaller volume than its hull.
    FileError
        The file cannot be read.
    """

    vertices: Points
    position: Vector = field(default_factory=lambda: np.zeros(3))
    quat_wxyz: Quaternion = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))
    hull: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("hull", flag(self.hull, f"hull of {self.label}"))
        volume, label = None, self.label
        if isinstance(self.vertices, str | Path):
            label = f"{label} ('{self.vertices}')"
            mesh = read_mesh(self.vertices)
            self._set("vertices", mesh.vertices)
            triangles = np.asarray(mesh.vertices, dtype=float)[np.asarray(mesh.faces, dtype=int)]
            volume = float(np.linalg.det(triangles).sum()) / 6.0
        vertices = array_of(self.vertices, (None, 3), f"vertices of {label}")
        bounded(vertices, f"vertices of {label}")
        shell = hull_of(vertices, label)
        if not self.hull:
            if shell.deepest > INSIDE * shell.size:
                raise MechanismError(
                    f"{label} is not convex: some vertices are up to {shell.deepest:.3g} m inside of the hull of the"
                    " others. Give hull=True to take the hull, or several convex meshes"
                )
            if volume is None and shell.in_faces:
                raise MechanismError(
                    f"{label}: {shell.in_faces} of {len(vertices)} vertices lie in faces of the hull of the others, as"
                    " those of a notch do. Give hull=True to take the hull, or several convex meshes"
                )
            if volume is not None and volume < (1.0 - 1e-3) * shell.volume:
                raise MechanismError(
                    f"{label} is not convex: its volume, {volume:.6g} m^3, is less than that of its hull,"
                    f" {shell.volume:.6g} m^3. Give hull=True to take the hull, or several convex meshes"
                )
        if len(shell.corners) > MOST_CORNERS:
            raise MechanismError(f"{label} has {len(shell.corners)} vertices, more than {MOST_CORNERS}: simplify it")
        self._set("vertices", freeze(vertices[shell.corners]))
        self._set("hull", False)
        self._set("_faces", shell.faces)
        self._place()

    def _facts(self) -> Iterable[str]:
        yield count_text(len(self.vertices), "vertex", "vertices")

    def core(self) -> Core:
        faces = self._faces  # type: ignore[attr-defined]
        return Core(self.position + self.vertices @ rotation_matrix(self.quat_wxyz).T, faces)

    def solid(self) -> Solid:
        fans = [(loop[0], loop[k], loop[k + 1]) for loop in self._faces for k in range(1, len(loop) - 1)]  # type: ignore[attr-defined]
        return Solid(
            "mesh",
            position=self.position,
            quat_wxyz=self.quat_wxyz,
            vertices=self.vertices,
            triangles=np.array(fans, dtype=float),
        )

    def moved(self, position: np.ndarray, R: np.ndarray) -> "ConvexMesh":
        turn = quat_from_matrix(R @ rotation_matrix(self.quat_wxyz))
        return replace(self, position=position + R @ self.position, quat_wxyz=turn)


@dataclass(frozen=True, eq=False)
class PlaneShape(CollisionShape):
    """All below a plane through ``point`` (3,), m, of outward ``normal`` (3,). Raises MechanismError."""

    point: Vector = field(default_factory=lambda: np.zeros(3))
    normal: Vector = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))

    def __post_init__(self) -> None:
        super().__post_init__()
        self._vector("point")
        self._set("normal", unit_axis(self.normal, f"normal of {self.label}"))

    def _facts(self) -> Iterable[str]:
        yield f"normal {numbers_text(self.normal)} at {numbers_text(self.point)} m"

    def core(self) -> Core:
        return Core(self.point[None], normal=self.normal)

    def solid(self) -> None:
        return None

    def moved(self, position: np.ndarray, R: np.ndarray) -> "PlaneShape":
        return replace(self, point=position + R @ self.point, normal=R @ self.normal)


@dataclass(frozen=True, eq=False)
class HeightField(CollisionShape):
    """Uneven ground: all below the triangles between points of given heights on a grid.

    Parameters
    ----------
    heights : array_like (m, n), m
        Of the points at x = ``spacing`` i, y = ``spacing`` j, along z. Each cell of the grid is divided from its corner
        (i, j) to (i + 1, j + 1).
    spacing : float
        m, of the grid along both its axes.
    position, quat_wxyz : array_like (3,), (4,)
        Place of the point (0, 0) at height zero, and axes of the grid.

    It touches spheres, capsules, boxes, convex meshes and cylinders, which come from above: it has no sides for boxes,
    meshes and cylinders. Triangles meet in edges that are taken as they are: a ball rolls from one to the
    next without a jump of its path, and gets an impulse at edges where the ground bends upwards.

    Raises
    ------
    MechanismError
        There are less than two points along an axis, or more than 20 000 triangles.
    """

    heights: Grid
    spacing: float
    position: Vector = field(default_factory=lambda: np.zeros(3))
    quat_wxyz: Quaternion = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))

    def __post_init__(self) -> None:
        super().__post_init__()
        label = f"heights of {self.label}"
        self._set("heights", array_of(self.heights, (None, None), label))
        bounded(self.heights, label)
        if min(self.heights.shape) < 2:
            raise MechanismError(f"{label} need two points or more along each axis, got {self.heights.shape}")
        self._set("spacing", positive(self.spacing, f"spacing of {self.label}"))
        bounded(self.spacing, f"spacing of {self.label}")
        if len(self._triangles()) > MOST_TRIANGLES:
            raise MechanismError(
                f"{self.label} has {len(self._triangles())} triangles, more than {MOST_TRIANGLES}: use a wider spacing"
            )
        self._place()

    def _facts(self) -> Iterable[str]:
        yield f"{self.heights.shape[0]} x {self.heights.shape[1]} points"
        yield f"spacing {self.spacing:.6g} m"

    def _triangles(self) -> np.ndarray:
        """Return triangles (k, 3) as numbers of points, anticlockwise from above."""
        m, n = self.heights.shape
        corner = (n * np.arange(m - 1)[:, None] + np.arange(n - 1)).ravel()
        halves = [np.stack([corner, corner + n, corner + n + 1]), np.stack([corner, corner + n + 1, corner + 1])]
        return np.concatenate(halves, axis=1).T

    def _points(self, lowered: float = 0.0) -> np.ndarray:
        """Return the points (m n, 3) of the grid, or with ``lowered`` on a level that far below the lowest point."""
        m, n = self.heights.shape
        x, y = np.meshgrid(self.spacing * np.arange(m), self.spacing * np.arange(n), indexing="ij")
        z = np.full((m, n), self.heights.min() - lowered) if lowered else self.heights
        return self.position + np.stack([x, y, z], axis=2).reshape(-1, 3) @ rotation_matrix(self.quat_wxyz).T

    def core(self) -> Core:
        """Return the points of the grid, the numbers of the points at x = 0, and the direction up."""
        first_row = np.arange(self.heights.shape[1])
        return Core(self._points(), (first_row,), normal=rotation_matrix(self.quat_wxyz)[:, 2])

    def cores(self) -> list[Core]:
        """Return the prisms below the triangles."""
        triangles = self._triangles()
        deep = float(np.ptp(self.heights)) + self.spacing
        corners = np.concatenate([self._points()[triangles], self._points(deep)[triangles]], axis=1)
        faces = tuple(np.array(loop) for loop in PRISM_FACES)
        return [Core(vertices, faces) for vertices in corners]

    def solid(self) -> Solid:
        return Solid("mesh", vertices=self._points(), triangles=self._triangles().astype(float))

    def moved(self, position: np.ndarray, R: np.ndarray) -> "HeightField":
        turn = quat_from_matrix(R @ rotation_matrix(self.quat_wxyz))
        return replace(self, position=position + R @ self.position, quat_wxyz=turn)


@dataclass(frozen=True, eq=False)
class HollowSphereShape(SphereShape):
    """The inside of a hollow ball of a ``radius`` about ``center`` (3,), m: a bowl, a socket. Raises MechanismError.

    It touches the spheres, capsules, boxes and convex meshes that are inside of it.
    """

    hollow: ClassVar[bool] = True

    def solid(self) -> None:
        return None


@dataclass(frozen=True, eq=False)
class HollowCylinderShape(CapsuleShape):
    """The inside of a tube of a ``radius`` about the line through ``a`` (3,) and ``b`` (3,), without ends, m.

    A hole for a pin with clearance. It touches the spheres, capsules, boxes and convex meshes that are inside of it.
    Raises MechanismError.
    """

    hollow: ClassVar[bool] = True

    def solid(self) -> None:
        return None


KINDS_OF_SHAPES = (
    SphereShape,
    CapsuleShape,
    BoxShape,
    CylinderShape,
    ConvexMesh,
    PlaneShape,
    HeightField,
    HollowSphereShape,
    HollowCylinderShape,
)
SHAPES: dict[str, type[CollisionShape]] = {kind.__name__: kind for kind in KINDS_OF_SHAPES}


def _along(kind: str, a: np.ndarray, b: np.ndarray, radius: float) -> Solid:
    """Return a solid for pictures with its z from a to b."""
    sizes = np.array([radius, np.linalg.norm(b - a)])
    return Solid(kind, sizes, 0.5 * (a + b), quat_from_z(b - a))


def checked_collision(shapes: object, label: str) -> tuple[CollisionShape, ...]:
    """Return shapes from shapes, or mappings of their fields with the class name as "type". Raises MechanismError."""
    checked = []
    for number, shape in enumerate(sequence_of(shapes, label, "shapes")):
        place = f"shape {number}"
        try:
            if isinstance(shape, Mapping):
                kind = kind_of(shape, SHAPES, place, "shape")
                if isinstance(shape.get("vertices"), str | Path):  # descriptions in files open no others
                    raise MechanismError(
                        f"{place}: vertices must be points; a mesh file is read by vi.ConvexMesh(path)"
                    )
                shape = made(kind, {key: value for key, value in shape.items() if key != "type"}, place)
            elif not isinstance(shape, CollisionShape):
                raise MechanismError(f"{place} must be one of {', '.join(SHAPES)}, got {shown(shape)}")
        except MechanismError as problem:
            raise MechanismError(f"{label}: {problem}") from None
        checked.append(shape)
    return tuple(checked)


def shape_of_solid(solid: Solid, label: str) -> CollisionShape:
    """Return the shape of a solid. Raises MechanismError for an ellipsoid, and for a mesh that is not convex."""
    at, R = solid.position, rotation_matrix(solid.quat_wxyz)
    if solid.kind == "sphere":
        return SphereShape(float(solid.sizes[0]), at)
    if solid.kind == "box":
        return BoxShape(solid.sizes, at, solid.quat_wxyz)
    if solid.kind in ("capsule", "cylinder"):
        radius, length = (float(size) for size in solid.sizes)
        half = 0.5 * length * R[:, 2]
        return (CapsuleShape if solid.kind == "capsule" else CylinderShape)(at - half, at + half, radius)
    if solid.kind == "mesh":
        return ConvexMesh(solid.vertices, at, solid.quat_wxyz)
    raise MechanismError(f"{label}: an ellipsoid has no shape that touches: give collision=[...] with another")
