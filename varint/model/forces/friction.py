"""Coulomb friction between the surfaces of a joint."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from varint.base.checks import array_of, freeze, unit_axis, whole_number
from varint.base.errors import MechanismError
from varint.measures.angle import Angle
from varint.model.arrays import Points
from varint.model.forces.base import BearingFriction, Element, Force, register
from varint.model.forces.measured import coordinate_measure
from varint.model.joints.base import Joint
from varint.model.motion import Ball, Slide, Turn
from varint.model.rotation_vectors import cross_matrix

if TYPE_CHECKING:
    from varint.model.structure import Structure


AROUND = 15  # contact points of a ring; odd, so that none faces another
MANY = 1000  # contact points of a ring, at most
STILL = 1e-9  # of the size of a joint, the rate along a normal that counts as none


class Surface(NamedTuple):
    """Contact points of a joint, in axes of its frame b, from its anchor there.

    points, normals : (n, 3) m; the joint neither opens nor closes along a normal
    free : (6, dof) the twists that it allows, angular first
    """

    points: np.ndarray
    normals: np.ndarray
    free: np.ndarray


class Discs(NamedTuple):
    """The friction inside a joint by the wrench that it transmits: a disc for all contact points that slide alike.

    free : (6, d) twists that the joint allows, in axes of its frame b, angular first
    pressure : (n, 6) pressures at the contact points by the wrench, times the coefficient of friction
    sliding : list of (r, d): |sliding y| is the relative sliding velocity of all points of a disc at the free motion y
    weights : (discs, n) sizes of these velocities
    """

    free: np.ndarray
    pressure: np.ndarray
    sliding: list[np.ndarray]
    weights: np.ndarray


@register
@dataclass(frozen=True, eq=False)
class JointCoulombFriction(Force):
    """Dry friction inside ``joint``: ``coefficient`` times the pressure between its surfaces, sticking included.

    The surfaces, carried by body b: of a revolute or cylindrical joint a pin of ``radius`` and ``length`` (m) that
    bears at its two ends, with collars of the same radius where it cannot slide; of a prismatic joint a square bar,
    ``radius`` half its width, that bears at the corners of its two ends; of a spherical joint a ball of ``radius``.
    ``length``: by default two radii. ``around``: contact points of each ring around a pin; 4 as the reference of DIFF
    has, 3 or a large odd number for a pin that is round. Or user-defined surfaces: ``points`` (P, 3) m, and ``normals``
    (P, 3) out of body b there, both in the world, reference configuration; the joint must not move along a normal, and
    all together must bear whatever it transmits. Pressures are the least that transmit what the joint transmits, on
    both sides: those of a worn-in bearing, 4 / pi times the load across a pin (DIFF section 2.11). In `varint.simulate`
    of order 1 and 2 for joints of one coordinate (docs/theory.md section 17); in `varint.redmax.simulate` with
    integrator="euler" for all. Where redundant joints of a loop leave loads undetermined, as those out of the plane of
    a planar one, friction has those of the rows that the solver keeps.
    """

    joint: str = field(kw_only=True)
    coefficient: float = field(kw_only=True)
    radius: float = field(kw_only=True)
    length: float | None = field(default=None, kw_only=True)
    around: int = field(default=AROUND, kw_only=True)
    points: Points | None = field(default=None, kw_only=True)
    normals: Points | None = field(default=None, kw_only=True)

    restricted: ClassVar[bool] = True
    solved_for: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(coefficient="zero", radius="positive")
        if self.length is None:
            self._set("length", 2.0 * self.radius)
        self._check(length="positive")
        self._set("around", whole_number(self.around, f"around of {self.label}", 3, most=MANY))
        if (self.points is None) != (self.normals is None):
            raise MechanismError(f"{self.label} needs points and normals, or neither")
        if self.points is not None and self.normals is not None:
            points = array_of(self.points, (None, 3), f"points of {self.label}")
            normals = array_of(self.normals, points.shape, f"normals of {self.label}")
            if not len(points):
                raise MechanismError(f"points of {self.label} must be at least one")
            self._set("points", points)
            units = [unit_axis(normal, f"normal {k} of {self.label}") for k, normal in enumerate(normals)]
            self._set("normals", freeze(np.array(units)))

    def elements(self, structure: "Structure") -> list[Element]:
        joint = self._joint(structure, self.joint)
        discs = self.discs(joint)
        if joint.dof > 1:
            return [BearingFriction((joint.body_a, joint.body_b))]
        if joint.compliant:
            raise MechanismError(
                f"{self.label}: {joint.label} has a compliance, whose springs transmit the load: remove one of the two"
            )
        measure = coordinate_measure(joint, 0, *structure.anchors(joint))
        if isinstance(measure, Angle):
            measure = replace(measure, coordinate=None)  # nobody counts its turns
        pressure = np.concatenate([w[:, None] * discs.pressure for w in discs.weights])
        return [BearingFriction((joint.body_a, joint.body_b), joint.name, measure, pressure[pressure.any(axis=1)])]

    def discs(self, joint: Joint) -> Discs:
        """Return the friction at the contact points of ``joint``, one disc for all points that slide alike."""
        points, normals, free = self.surface(joint)
        wrenches = np.hstack([np.cross(points, normals), normals])
        across = np.eye(3) - normals[:, :, None] * normals[:, None]
        twists = np.concatenate([-cross_matrix(points), np.broadcast_to(np.eye(3), across.shape)], axis=2)
        jacobians = np.linalg.qr(across @ twists @ free)[1]
        sizes = np.linalg.norm(jacobians, axis=(1, 2))
        left = sizes >= STILL * (1.0 if free[3:].any() else self.radius)
        units = jacobians / np.where(left, sizes, 1.0)[:, None, None]
        squares = np.swapaxes(units, 1, 2) @ units
        sliding: list[np.ndarray] = []
        weights: list[np.ndarray] = []
        while left.any():
            first = int(np.argmax(left))
            alike = left & np.isclose(squares, squares[first], atol=1e-9).all(axis=(1, 2))
            sliding.append(units[first])
            weights.append(np.where(alike, sizes, 0.0))
            left &= ~alike
        return Discs(free, self.coefficient * np.linalg.pinv(wrenches.T), sliding, np.array(weights))

    def surface(self, joint: Joint) -> Surface:
        """Return the contact points of ``joint``. Raises MechanismError if it has no such surfaces."""
        kinds = {type(motion) for motion in joint.allowed}
        axes = {motion.axis for motion in joint.allowed if isinstance(motion, Turn | Slide)}
        if kinds == {Ball}:
            free = np.eye(6)[:, :3]
        elif len(axes) == 1 and kinds <= {Turn, Slide}:
            axis = axes.pop()
            free = np.eye(6)[:, [axis] * (Turn in kinds) + [3 + axis] * (Slide in kinds)]
        else:
            raise MechanismError(
                f"{self.label}: friction is available for revolute, prismatic, cylindrical and spherical joints, not"
                f" for {joint.label}"
            )
        assert self.length is not None  # since it was made
        if self.points is not None and self.normals is not None:
            points, normals = self._own(joint, free, self.points, self.normals)
        elif kinds == {Ball}:
            points, normals = _ball(self.radius)
        elif kinds == {Slide}:
            points, normals = _bar(axis, self.radius, self.length)
        else:
            points, normals = _pin(axis, self.radius, self.length, self.around, collars=kinds == {Turn})
        return Surface(points, normals, free)

    def _own(self, joint: Joint, free: np.ndarray, points: np.ndarray, normals: np.ndarray) -> tuple:
        """Return ``points`` and ``normals`` (P, 3), world, in axes of frame b of the ``joint``, from its anchor."""
        assert joint.point_b is not None  # since it was made
        points, normals = (points - joint.point_b) @ joint.frame, normals @ joint.frame
        wrenches = np.hstack([np.cross(points, normals), normals])
        sizes = self.radius + np.linalg.norm(points, axis=1)
        moving = (np.abs(wrenches @ free) > STILL * np.where(free[:3].any(axis=0), sizes[:, None], 1.0)).any(axis=1)
        if moving.any():
            first = np.flatnonzero(moving)[0]
            raise MechanismError(f"{self.label}: {joint.label} moves along normal {first}, which must be across it")
        wrenches[:, :3] /= sizes.max()
        if np.linalg.matrix_rank(wrenches, STILL) < 6 - joint.dof:
            raise MechanismError(
                f"{self.label}: its contact points cannot bear the wrench of {joint.label}: add points, farther"
                " apart or with other normals"
            )
        return points, normals


def _ends(around: np.ndarray, axis: int, length: float) -> np.ndarray:
    """Return points (n, 3) across the axis, repeated at both ends."""
    along = 0.5 * length * np.eye(3)[axis]
    return np.concatenate([around + along, around - along])


def _pin(axis: int, radius: float, length: float, around: int, collars: bool) -> tuple[np.ndarray, np.ndarray]:
    angles = 2.0 * np.pi * np.arange(around) / around
    first, second = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3]
    normals = np.outer(np.cos(angles), first) + np.outer(np.sin(angles), second)
    points, normals = _ends(radius * normals, axis, length), np.tile(normals, (2, 1))
    if not collars:
        return points, normals
    return np.tile(points, (2, 1)), np.concatenate([normals, np.tile(np.eye(3)[axis], (2 * around, 1))])


def _bar(axis: int, radius: float, length: float) -> tuple[np.ndarray, np.ndarray]:
    first, second = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3]
    corners = _ends(radius * np.array([a * first + b * second for a in (1, -1) for b in (1, -1)]), axis, length)
    return np.tile(corners, (2, 1)), np.repeat([first, second], len(corners), axis=0)


def _ball(radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ten axes of a dodecahedron: within 5 % of pressures all around."""
    golden = 0.5 + np.sqrt(1.25)
    cube = [(1.0, a, b) for a in (1.0, -1.0) for b in (1.0, -1.0)]
    others = [np.roll([0.0, 1.0 / golden, s * golden], k) for k in range(3) for s in (1.0, -1.0)]
    axes = np.vstack([cube, others]) / np.sqrt(3.0)
    return radius * axes, axes
