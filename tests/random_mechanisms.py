"""Random bodies, joints and mechanisms for property tests."""

import numpy as np
from scipy.spatial.transform import Rotation

import varint as vi
from varint.model.joints import REGISTRY
from varint.model.joints.base import AxisJoint, ProductJoint

LOWER = tuple(kind for kind in REGISTRY if not issubclass(REGISTRY[kind], ProductJoint))  # with rows of their own


def unit(rng, size=3):
    vector = rng.standard_normal(size)
    return vector / np.linalg.norm(vector)


def random_body(rng, name, spread=1.0):
    moments = rng.uniform(0.05, 0.1, 3)  # no moment above the sum of the other two
    axes = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    return vi.Body(
        name,
        mass=rng.uniform(0.5, 2.0),
        inertia=axes @ np.diag(moments) @ axes.T,
        position=spread * rng.standard_normal(3),
        quat_wxyz=unit(rng, 4),
    )


def random_joint(rng, kind, name, body_a, body_b, point):
    """A joint of type ``kind`` at ``point`` (3,), with random axes."""
    arguments = {"point": point}
    if issubclass(REGISTRY[kind], AxisJoint):
        arguments["axis"] = unit(rng)
    if kind == "Universal":
        arguments["axis_b"] = np.cross(arguments["axis"], unit(rng))
        arguments["axis_b"] /= np.linalg.norm(arguments["axis_b"])
    if kind == "Rod":
        arguments["point_b"] = point + rng.uniform(0.3, 0.6) * unit(rng)
    if kind == "Helical":
        arguments["lead"] = rng.uniform(0.3, 0.8)
    if kind == "SplineCurve":
        arguments |= {"frames": random_track(rng), "at": rng.uniform(0, 6)}
    if kind == "SplineSurface":
        i, j = np.mgrid[:5, :6]
        flat = np.moveaxis([0.4 * i, 0.4 * j, 0 * i, 0 * i, 0 * i, 0 * i], 0, 2)
        arguments |= {"controls": flat + rng.uniform(-0.1, 0.1, (5, 6, 6)), "at": rng.uniform(0, 2, 2)}
    if kind == "Composite":
        there = point + 0.3 * unit(rng)
        arguments["parts"] = [
            {"type": "Revolute", "axis": unit(rng)},
            {"type": "Prismatic", "axis": unit(rng)},
            {"type": "Revolute", "axis": unit(rng), "point": there},
        ]
    return REGISTRY[kind](name, body_a, body_b, **arguments)


def random_track(rng, n=6):
    """Control frames (n, 4, 4) round a bent ring, that bank."""
    frames = np.tile(np.eye(4), (n, 1, 1))
    for k, T in enumerate(frames):
        a = 2 * np.pi * k / n
        T[:3, :3] = Rotation.from_rotvec([0, 0, a]).as_matrix()
        T[:3, :3] @= Rotation.from_rotvec(0.3 * rng.standard_normal(3)).as_matrix()
        T[:3, 3] = np.array([np.cos(a), np.sin(a), 0.0]) + 0.1 * rng.standard_normal(3)
    return frames


def random_tree(rng, n, kinds=tuple(REGISTRY), floating=False, gravity=(0, 0, -9.81)):
    """``n`` bodies, each on a joint of random type to the world or to an earlier body."""
    bodies = [random_body(rng, f"b{i}") for i in range(n)]
    joints = []
    for i in range(1 if floating else 0, n):
        parent = int(rng.integers(0 if floating else -1, i)) if i else -1
        ends = ["world" if parent < 0 else f"b{parent}", f"b{i}"]
        if rng.random() < 0.5:
            ends.reverse()
        kind = str(rng.choice(kinds))
        joints.append(random_joint(rng, kind, f"j{i}", *ends, bodies[i].position + 0.4 * rng.standard_normal(3)))
    return vi.Mechanism("random tree", bodies, joints, gravity=gravity)


def random_closed(
    rng, n, loops, kinds=("Spherical", "Universal", "Revolute", "Cylindrical"), cuts=("Rod", "PointOnPlane")
):
    """A random tree with ``loops`` more joints between bodies that are far enough apart to move."""
    tree = random_tree(rng, n, kinds)
    joints = list(tree.joints)
    for k in range(loops):
        a, b = (int(i) for i in rng.choice(n, 2, replace=False))
        point = 0.5 * (tree.bodies[a].position + tree.bodies[b].position)
        joints.append(random_joint(rng, str(rng.choice(cuts)), f"cut{k}", f"b{a}", f"b{b}", point))
    return vi.Mechanism("random closed", tree.bodies, joints)


def random_velocity_state(rng, mechanism, size=1.0):
    """The reference configuration with a random velocity that the joints allow."""
    names = [body.name for body in mechanism.bodies]
    return mechanism.state(
        velocity={name: size * rng.standard_normal(3) for name in names},
        angular_velocity={name: size * rng.standard_normal(3) for name in names},
    )
