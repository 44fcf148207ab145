"""What the scenes of the reference implementation of REDMAX share: its units, cm, g, s, and its way to place things."""

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.spatial.transform import Rotation

import varint as vi

CM, DYN, ERG = 1e-2, 1e-5, 1e-7  # m, N, J
DENSITY = 1000.0  # kg/m^3, of all parts: 1 g/cm^3
ORIGIN = (0.0, 0.0, 0.0)
HINGE = partial(vi.Revolute, axis=(0, 1, 0))


def pose(shift=ORIGIN, turned=ORIGIN) -> np.ndarray:
    """A pose (4, 4), m, by a shift (3,), cm, and a rotation vector (3,), rad."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = Rotation.from_rotvec(turned).as_matrix(), CM * np.asarray(shift, dtype=float)
    return T


HERE = pose()


def cuboid(*sides) -> Callable[..., vi.Body]:
    """A box of these sides along its x, y, z, cm."""
    return partial(vi.Body.box, size=CM * np.array(sides), density=DENSITY)


def cylinder(radius: float, length: float) -> Callable[..., vi.Body]:
    """Along its z axis, cm."""
    return partial(vi.Body.cylinder, radius=CM * radius, length=CM * length, density=DENSITY)


def sphere(radius: float) -> Callable[..., vi.Body]:
    """cm."""
    return partial(vi.Body.sphere, radius=CM * radius, density=DENSITY)


class Scene:
    """Bodies "body 1", "body 2", ..., each behind a joint of its own, "joint 1", ..., and 0 is the world.

    Described at zero coordinates. ``start``: coordinates and rates of the start that are not zero, m and rad.
    """

    def __init__(self, name: str, gravity=(0.0, 0.0, -980.0)):
        """``gravity`` (3,), cm/s^2."""
        self.name, self.gravity = name, CM * np.array(gravity)
        self.bodies: list[vi.Body] = []
        self.joints: list[vi.Joint] = []
        self.forces: list[vi.Force] = []
        self.start: dict[str, dict] = {"coordinates": {}, "rates": {}}
        self._frames, self._poses = [np.eye(4)], [np.eye(4)]  # of joints and bodies, world

    def add(self, part, centre=HERE, joint=HINGE, parent=None, at=HERE, q=None, rate=None) -> int:
        """Add a body and the joint before it; returns their number.

        ``at`` (4, 4): the frame of the joint in that of joint ``parent``, by default the last one. ``part`` makes the
        body, whose ``centre`` (4, 4) is in the frame of the joint; ``joint`` makes the joint, with directions in the
        world. ``q`` and ``rate``: of the start.
        """
        number = len(self.bodies) + 1
        parent = number - 1 if parent is None else parent
        frame = self._frames[parent] @ at
        placed = frame @ centre
        turned = Rotation.from_matrix(placed[:3, :3]).as_quat(scalar_first=True)
        self.bodies.append(part(f"body {number}", position=placed[:3, 3], quat_wxyz=turned))
        self.joints.append(joint(f"joint {number}", self.named(parent), f"body {number}", point=frame[:3, 3]))
        self._frames.append(frame)
        self._poses.append(placed)
        for key, value in (("coordinates", q), ("rates", rate)):
            if value is not None:
                self.start[key][f"joint {number}"] = value
        return number

    def chain(self, count: int, q=(), joint=HINGE) -> None:
        """``count`` bars of 10 x 1 x 1 cm end to end along x; ``q``: the angles of their joints at the start, rad."""
        for number in range(count):
            angle = q[number] if number < len(q) else None
            self.add(cuboid(10, 1, 1), pose((5, 0, 0)), joint, at=pose((10, 0, 0) if number else ORIGIN), q=angle)

    def named(self, number: int) -> str:
        """The name of body ``number``."""
        return f"body {number}" if number else "world"

    def point(self, number: int, x) -> np.ndarray:
        """Where ``x`` (3,), cm, in the axes of body ``number`` is in the world, m."""
        return (self._poses[number] @ [*(CM * np.array(x, dtype=float)), 1.0])[:3]

    def between(self, a: int, x_a, b: int, x_b) -> dict:
        """The arguments of a spring between ``x_a`` of body ``a`` and ``x_b`` of body ``b``."""
        ends = {"body_a": self.named(a), "body_b": self.named(b)}
        return ends | {"point_a": self.point(a, x_a), "point_b": self.point(b, x_b)}

    def close(self, a: int, x_a, b: int, x_b) -> None:
        """Keep ``x_b`` of body ``b`` on the line of body ``a`` through ``x_a`` along y."""
        points = {"point": self.point(a, x_a), "point_b": self.point(b, x_b)}
        name = f"loop {len(self.joints) - len(self.bodies) + 1}"
        self.joints.append(vi.PointOnLine(name, self.named(a), self.named(b), axis=(0, 1, 0), **points))

    def mechanism(self) -> vi.Mechanism:
        """All of it."""
        return vi.Mechanism(
            self.name, self.bodies, self.joints, gravity=self.gravity, forces=self.forces, start=self.start
        )


def four_bar(scene: Scene, root, at=ORIGIN, q=None) -> None:
    """The open four-bar linkage of scenes 30, 32, 33: a base behind the joint ``root``, crank, coupler and rocker.

    Base and crank, 10 and 4 cm, lie along x, the crank ahead of the base's left end. Coupler and rocker, 14 and 12 cm,
    meet above; the rocker's end is on the base's right end.
    """
    x = 22 / 3  # of the upper corner from the crank's end
    z = np.sqrt(14**2 - x**2)
    coupler, rocker = (0, -np.arctan2(z, x), 0), (0, -np.arctan2(z, x - 6), 0)
    scene.add(cuboid(10, 0.5, 0.5), joint=root, at=pose(at), q=q)
    scene.add(cuboid(4, 0.5, 0.5), pose((2, 0, 0)), at=pose((-5, 0, 0)))
    scene.add(cuboid(14, 0.5, 0.5), pose((x / 2, 0, z / 2), coupler), at=pose((4, 0, 0)))
    scene.add(cuboid(12, 0.5, 0.5), pose((3 - x / 2, 0, -z / 2), rocker), at=pose((x, 0, z)))


def move_last(scene: Scene) -> None:
    """Turn and shift the last body of scenes 13 and 20 in the x-z plane, as prescribed: two of its points are moved."""
    number = len(scene.bodies)
    centre = scene.point(number, ORIGIN)
    for name, x in (("centre", 0.0), ("end", 5.0)):
        point = scene.point(number, (x, 0, 0))
        scene.forces.append(
            vi.PrescribedPoint(name, body=scene.named(number), point=point, position=partial(_place, centre, CM * x))
        )


def _place(centre, x, t):
    """Where the point ``x`` (m) ahead of the centre is at time ``t``; ``centre``: at the start."""
    shift = 0.0 if t < 4 else -((t - 4) ** 2) if t < 6 else (t - 8) ** 2 - 8 if t < 8 else -8.0  # along x, cm
    angle = (
        -(t**2) / 2 if t < 2 else (t - 4) ** 2 / 2 - 4 if t < 6 else -((t - 8) ** 2) / 2 if t < 8 else 0.0
    )  # about y
    return centre + np.array([CM * shift + x * np.cos(angle), 0.0, -x * np.sin(angle)])
