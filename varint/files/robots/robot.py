"""Links and joints as files of robots give them, placed in the world: what readers of URDF and SDF have in common."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from varint.files.robots.xml_files import XMLElement
from varint.model.joints.base import Joint
from varint.model.rotation_vectors import matrix_from_vector

INFINITE = 1e15  # limits from here on are none
NEAR = 1e-6  # m and rad: frames that are to coincide, in files of few digits


class Pose(NamedTuple):
    """A frame: ``R`` (3, 3) takes its axes to those of the frame that it stands in, ``p`` (3,) is its origin there."""

    R: np.ndarray
    p: np.ndarray

    def __matmul__(self, other: "Pose") -> "Pose":  # type: ignore[override]
        """Return the pose of a frame that is ``other`` in this one."""
        return Pose(self.R @ other.R, self.R @ other.p + self.p)

    def inverse(self) -> "Pose":
        """Return the pose of the outer frame in this one."""
        return Pose(self.R.T, -self.R.T @ self.p)


def still() -> Pose:
    """Return the identity pose."""
    return Pose(np.eye(3), np.zeros(3))


def pose_of(xyz: Sequence[float], rpy: Sequence[float]) -> Pose:
    """Return the pose of a translation and successive turns about the fixed axes x, y and z."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    R = [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
    return Pose(np.array(R), np.array(xyz, dtype=float))


def turned_by(axis: np.ndarray, angle: float) -> Pose:
    """Return the pose of a turn about an axis through the origin."""
    return Pose(matrix_from_vector(angle * axis), np.zeros(3))


class RobotShape(NamedTuple):
    """See `ImportedShape`; ``mesh`` is a path where the file was found, ``pose`` in the link.

    points : (n, 3) m, of a mesh that is read already
    friction, restitution : coefficients of its surface, where the file has them
    shown : whether the format's own viewer shows it unless asked otherwise; None: where it is a visual shape
    """

    role: str
    kind: str
    sizes: tuple[float, ...]
    mesh: Path | str
    pose: Pose
    points: np.ndarray | None = None
    friction: float | None = None
    restitution: float | None = None
    rgba: tuple[float, ...] | None = None
    shown: bool | None = None


@dataclass(eq=False)
class Link:
    """A link: ``pose`` in the world; ``com`` (3,) and ``inertia`` (3, 3) about it in its own axes; ``at``: where."""

    name: str
    at: XMLElement
    pose: Pose
    mass: float = 0.0
    com: np.ndarray = field(default_factory=lambda: np.zeros(3))
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))
    shapes: list[RobotShape] = field(default_factory=list)


class Acting(NamedTuple):
    """Effort along coordinate ``number`` of a tie; N m, N m/rad and N m s/rad, or N, N/m and N s/m.

    ``of_ball``: in place of a coordinate against all of the motion of a ball joint.
    """

    number: int = 0
    lower: float = -np.inf
    upper: float = np.inf
    damping: float = 0.0
    friction: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    of_ball: bool = False


@dataclass(eq=False)
class Tie:
    """A joint of the file between links ``a`` and ``b``, or the world.

    type_name : its type in the file
    kind : the joint that it becomes, with its ``fields``; None where it is rigid
    parts : the ties that it is made of, one after another with massless links in between; empty where it is one
    """

    name: str
    type_name: str
    at: XMLElement
    a: str
    b: str
    kind: type[Joint] | None = None
    fields: dict = field(default_factory=dict)
    along: list[Acting] = field(default_factory=list)
    parts: list["Tie"] = field(default_factory=list)


class Ratio(NamedTuple):
    """A coupling: the sum of factor times coordinate of the ``terms`` (tie, number, factor) stays as it is."""

    name: str
    at: XMLElement
    terms: list[tuple[str, int, float]]
    polynomial: tuple[float, ...] = ()  # in place of the factors: the first term is that of the second


class Rotor(NamedTuple):
    """The rotor of a motor: its ``inertia`` is added to that of coordinate ``number`` of a tie, kg m^2 or kg."""

    tie: str
    number: int
    inertia: float
    at: XMLElement


@dataclass(eq=False)
class Robot:
    """All of it.

    links : one that moves another comes before it
    at : where the description begins
    weightless : names of links that gravity does not act on
    ground : shapes of the world itself
    rotors : of motors
    """

    name: str
    at: XMLElement
    links: list[Link]
    ties: list[Tie]
    ratios: list[Ratio] = field(default_factory=list)
    gravity: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))
    weightless: list[str] = field(default_factory=list)
    ground: list[RobotShape] = field(default_factory=list)
    rotors: list[Rotor] = field(default_factory=list)
