"""A rigid body: mass, inertia and pose in the reference configuration."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import (
    Frozen,
    array_of,
    check_name,
    checked_call,
    freeze,
    in_a_shape,
    positive,
    sequence_of,
    shown,
    unit_quaternion,
)
from varint.base.display import numbers_text
from varint.base.errors import MechanismError
from varint.model import shapes
from varint.model.arrays import Matrix, Quaternion, Vector
from varint.model.bounds import bounded, divisor
from varint.model.collision_shapes import CollisionShape, checked_collision, shape_of_solid
from varint.model.rotation_vectors import rotation_matrix
from varint.model.solid import Solid, checked_solids

WORLD = "world"
Touching = bool | Sequence[CollisionShape]  # see `Body.collision`
ORIGIN, UNTURNED = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)


@checked_call
@dataclass(frozen=True, eq=False)
class Body(Frozen):
    """A rigid body.

    Parameters
    ----------
    name : str
        Unique in its mechanism; ``"world"`` is taken.
    mass : float
        kg, positive.
    inertia : array_like (3, 3)
        About the centre of mass in body axes, kg m^2. Symmetric, positive definite, and no
        principal moment above the sum of the other two.
    position : array_like (3,)
        Centre of mass in the world, reference configuration, m.
    quat_wxyz : array_like (4,)
        Body to world, unit quaternion, scalar first.
    solids : sequence of Solid
        What pictures show of it; no motion depends on them. The constructors below fill them in. A mapping of the
        fields of a `Solid` will do.
    collision : sequence of shapes, or True
        Shapes that touch other bodies, from the centre of mass, m, body axes; True for those of its ``solids``. They do
        nothing without a contact. A mapping of the fields of a shape, with the name of its class as "type", will do.

    Raises
    ------
    MechanismError
        Names the body and what is wrong with it.
    """

    name: str
    mass: float = field(kw_only=True)
    inertia: Matrix = field(kw_only=True)
    position: Vector = field(default_factory=lambda: np.zeros(3), kw_only=True)
    quat_wxyz: Quaternion = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]), kw_only=True)
    solids: Sequence[Solid] = field(default=(), kw_only=True, repr=False)
    collision: Sequence[CollisionShape] = field(default=(), kw_only=True, repr=False)

    def __post_init__(self) -> None:
        check_name(self.name, "a body")
        label = self.label
        if self.name == WORLD:
            raise MechanismError("'world' names the ground: give the body another name")
        set_ = lambda field, value: object.__setattr__(self, field, value)  # noqa: E731
        set_("mass", positive(self.mass, f"mass of {label}"))
        divisor(self.mass, f"mass of {label}")
        set_("inertia", checked_inertia(self.inertia, label))
        set_("position", array_of(self.position, (3,), f"position of {label}"))
        bounded(self.position, f"position of {label}")
        set_("quat_wxyz", unit_quaternion(self.quat_wxyz, f"quat_wxyz of {label}"))
        set_("solids", checked_solids(self.solids, f"solids of {label}"))
        set_("collision", self._collision(f"collision of {label}"))

    @property
    def label(self) -> str:
        """Name of the body in errors."""
        return f"body '{self.name}'"

    def _collision(self, label: str) -> tuple[CollisionShape, ...]:
        if not isinstance(self.collision, bool | np.bool_):
            return checked_collision(self.collision, label)
        if self.collision and not self.solids:
            raise MechanismError(f"{label}: it has no solid whose shape could touch: give the shapes")
        return tuple(shape_of_solid(solid, label) for solid in self.solids) if self.collision else ()

    def _facts(self) -> Iterable[str]:
        yield f"mass {self.mass:.6g} kg"
        yield f"position {numbers_text(self.position)} m"
        yield f"principal moments {numbers_text(np.linalg.eigvalsh(self.inertia))} kg m^2"

    @classmethod
    def box(
        cls,
        name: str,
        size: Annotated[ArrayLike, (3,)],
        mass: float | None = None,
        *,
        density: float | None = None,
        position: ArrayLike = ORIGIN,
        quat_wxyz: ArrayLike = UNTURNED,
        collision: Touching = (),
    ) -> "Body":
        """Return a uniform box of a ``mass``, kg, or a ``density``, kg/m^3.

        ``size`` (3,): edges along body x, y, z, m.
        """
        return cls._uniform(name, shapes.box, (mass, density), (position, quat_wxyz, collision), size=size)

    @classmethod
    def cylinder(
        cls,
        name: str,
        radius: float,
        length: float,
        mass: float | None = None,
        *,
        density: float | None = None,
        position: ArrayLike = ORIGIN,
        quat_wxyz: ArrayLike = UNTURNED,
        collision: Touching = (),
    ) -> "Body":
        """Return a uniform cylinder along body z, m."""
        return cls._uniform(
            name, shapes.cylinder, (mass, density), (position, quat_wxyz, collision), radius=radius, length=length
        )

    @classmethod
    def capsule(
        cls,
        name: str,
        radius: float,
        length: float,
        mass: float | None = None,
        *,
        density: float | None = None,
        position: ArrayLike = ORIGIN,
        quat_wxyz: ArrayLike = UNTURNED,
        collision: Touching = (),
    ) -> "Body":
        """Return a uniform cylinder of ``length`` along body z with a half sphere on each end, m."""
        return cls._uniform(
            name, shapes.capsule, (mass, density), (position, quat_wxyz, collision), radius=radius, length=length
        )

    @classmethod
    def sphere(
        cls,
        name: str,
        radius: float,
        mass: float | None = None,
        *,
        density: float | None = None,
        position: ArrayLike = ORIGIN,
        quat_wxyz: ArrayLike = UNTURNED,
        collision: Touching = (),
    ) -> "Body":
        """Return a uniform ball, m."""
        return cls._uniform(name, shapes.sphere, (mass, density), (position, quat_wxyz, collision), radius=radius)

    @classmethod
    def ellipsoid(
        cls,
        name: str,
        semi_axes: Annotated[ArrayLike, (3,)],
        mass: float | None = None,
        *,
        density: float | None = None,
        position: ArrayLike = ORIGIN,
        quat_wxyz: ArrayLike = UNTURNED,
        collision: Touching = (),
    ) -> "Body":
        """Return a uniform ellipsoid; ``semi_axes`` (3,) along body x, y, z, m."""
        return cls._uniform(
            name, shapes.ellipsoid, (mass, density), (position, quat_wxyz, collision), semi_axes=semi_axes
        )

    @classmethod
    def rod(
        cls,
        name: str,
        start: Annotated[ArrayLike, (3,)],
        end: Annotated[ArrayLike, (3,)],
        mass: float | None = None,
        radius: float | None = None,
        *,
        density: float | None = None,
        collision: Touching = (),
    ) -> "Body":
        """Return a uniform rod between two points (3,) of the world, body z from ``start`` to ``end``.

        ``radius``: of its circular section, m; a hundredth of the length where not given (a rod
        without thickness has no inertia about its axis, and its spin could not be solved for).
        """
        label = f"body '{check_name(name, 'a body')}'"
        start, end = array_of(start, (3,), f"start of {label}"), array_of(end, (3,), f"end of {label}")
        bounded([start, end], f"ends of {label}")
        length = positive(np.linalg.norm(end - start), f"length of {label}")
        radius = 0.01 * length if radius is None else radius
        quat = shapes.quat_from_z(end - start)
        pose = {"position": 0.5 * start + 0.5 * end, "quat_wxyz": quat}
        return cls.cylinder(name, radius, length, mass, density=density, collision=collision, **pose)

    @classmethod
    def mesh(
        cls,
        name: str,
        vertices: Annotated[ArrayLike, (None, 3)],
        triangles: Annotated[ArrayLike, (None, 3)],
        mass: float | None = None,
        *,
        density: float | None = None,
        position: ArrayLike = ORIGIN,
        quat_wxyz: ArrayLike = UNTURNED,
        collision: Touching = (),
    ) -> "Body":
        """Return a uniform solid inside a closed triangle mesh.

        ``vertices`` (n, 3), m, in axes parallel to the body's; ``triangles`` (k, 3) vertex numbers,
        counter-clockwise from outside. ``position`` is that of the mesh's origin: the body's own
        position, its centre of mass, follows.
        """
        label = f"body '{check_name(name, 'a body')}'"
        moments = shapes.mesh(vertices, triangles, label)
        quat = unit_quaternion(quat_wxyz, f"quat_wxyz of {label}")
        origin = array_of(position, (3,), f"position of {label}")
        mass = _mass(mass, density, moments.volume, label)
        bounded(origin, f"position of {label}")
        centre = origin + rotation_matrix(quat) @ moments.centre
        corners = np.asarray(vertices, dtype=float) - moments.centre
        solid = Solid("mesh", vertices=corners, triangles=np.asarray(triangles))
        inertia = mass * moments.inertia
        pose = {"position": centre, "quat_wxyz": quat}
        return cls(name, mass=mass, inertia=inertia, **pose, solids=[solid], collision=collision)  # type: ignore[arg-type]

    @classmethod
    def composite(cls, name: str, parts: "Sequence[Body | tuple[float, ArrayLike]]") -> "Body":
        """Return bodies and point masses welded into one.

        ``parts``: bodies, each where it is in the reference configuration, and point masses
        ``(mass, position)``, kg and m in the world. Body axes are those of the first body among
        them, else the world's.
        """
        check_name(name, "a body")
        parts = sequence_of(parts, f"parts of body '{name}'", "bodies and point masses")
        masses, centres, inertias = [], [], []
        quat = next((part.quat_wxyz for part in parts if isinstance(part, Body)), np.array([1.0, 0, 0, 0]))
        for number, part in enumerate(parts):
            if isinstance(part, Body):
                R = rotation_matrix(part.quat_wxyz)
                masses.append(part.mass)
                centres.append(part.position)
                inertias.append(R @ part.inertia @ R.T)
            else:
                label = f"part {number} of body '{name}'"
                pair = sequence_of(part, label, "a mass and a position, or a Body")
                if len(pair) != 2:
                    raise MechanismError(f"{label} must be a Body or (mass, position), got {shown(part)}")
                mass, position = pair
                masses.append(positive(mass, f"mass of {label}"))
                centres.append(array_of(position, (3,), f"position of {label}"))
                bounded([masses[-1], *centres[-1]], f"mass and position of {label}")
                inertias.append(np.zeros((3, 3)))
        if not masses:
            raise MechanismError(f"body '{name}' has no parts")
        mass, centre, inertia = shapes.combine(np.array(masses), np.array(centres), np.array(inertias))
        R = rotation_matrix(quat)
        solids = [
            solid.seen_from(part.position, part.quat_wxyz, centre, quat)
            for part in parts
            if isinstance(part, Body)
            for solid in part.solids
        ]
        touching = [
            shape.moved(R.T @ (part.position - centre), R.T @ rotation_matrix(part.quat_wxyz))
            for part in parts
            if isinstance(part, Body)
            for shape in part.collision
        ]
        pose = {"position": centre, "quat_wxyz": quat}
        return cls(name, mass=mass, inertia=R.T @ inertia @ R, **pose, solids=solids, collision=touching)

    @classmethod
    def _uniform(
        cls,
        name: str,
        shape: Callable[..., shapes.Moments],
        amount: tuple[float | None, float | None],
        rest: tuple[ArrayLike, ArrayLike, Touching],
        **sizes: ArrayLike,
    ) -> "Body":
        """Return a uniform body; ``amount``: mass or density; ``rest``: position, orientation, and collision shapes."""
        label = f"body '{check_name(name, 'a body')}'"
        moments, (position, quat, collision) = shape(**sizes, label=label), rest
        mass = _mass(*amount, moments.volume, label)
        solid = Solid(shape.__name__, np.hstack([np.ravel(size) for size in sizes.values()]))
        inertia = mass * moments.inertia
        pose = {"position": position, "quat_wxyz": quat}
        return cls(name, mass=mass, inertia=inertia, **pose, solids=[solid], collision=collision)  # type: ignore[arg-type]


def _mass(mass: float | None, density: float | None, volume: float, label: str) -> float:
    """Return the mass, kg, from a mass or a density, kg/m^3."""
    if (mass is None) == (density is None):
        which = "neither" if mass is None else "both"
        raise MechanismError(f"{label} needs mass or density, one of the two, got {which}")
    if density is not None:
        mass = positive(density, f"density of {label}") * volume
    mass = positive(mass, f"mass of {label}")  # type: ignore[arg-type]
    bounded(mass, f"mass of {label}")
    return mass


def checked_inertia(value: ArrayLike, label: str) -> np.ndarray:
    """Return the symmetric inertia (3, 3), kg m^2, of a body that ``label`` names. Raises MechanismError."""
    matrix = "an array of numbers of shape (3, 3)"
    inertia = in_a_shape(value, ((3, 3), (3,)), f"inertia of {label}", wanted=matrix)
    if inertia.shape == (3,):
        raise MechanismError(
            f"inertia of {label} must be {matrix}, got 3 values: with principal moments a, b, c it is"
            " [[a, 0, 0], [0, b, 0], [0, 0, c]]"
        )
    bounded(inertia, f"inertia of {label}")
    size = np.abs(inertia).max() or 1.0
    if np.abs(inertia / size - inertia.T / size).max() > 1e-9:
        raise MechanismError(f"inertia of {label} must be symmetric, got {inertia.tolist()}")
    inertia = 0.5 * inertia + 0.5 * inertia.T
    moments = np.linalg.eigvalsh(inertia / size) * size
    if moments[0] <= 1e-14 * moments[2]:
        raise MechanismError(
            f"inertia of {label} must be positive definite, got principal moments {moments.tolist()}: "
            "a thin rod or a point mass needs a small extent to spin about every axis"
        )
    if moments[2] > (moments[0] + moments[1]) * (1 + 1e-9):
        raise MechanismError(
            f"inertia of {label} breaks the triangle inequality: principal moment {moments[2]:g} "
            f"exceeds the sum of the other two, {moments[0]:g} + {moments[1]:g}"
        )
    return freeze(inertia)
