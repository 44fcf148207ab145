"""What the mechanisms made of links share."""

from itertools import pairwise

import numpy as np

import varint as vi

NORMAL = (0, -1, 0)  # of the x-z plane, so that angles count from x towards z
ACROSS = (0.5**0.5, -(0.5**0.5), 0.0, 0.0)  # quaternion that takes z to y: of cylinders across that plane


def link(name: str, start, end, width: float = 0.1) -> vi.Body:
    """A box of 1 kg/m and ``width`` x ``width`` from ``start`` to ``end`` (3,), m, world; its z axis points to ``end``.

    In the x-z plane its y axis is the world's.
    """
    start, end = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    length, quat = np.linalg.norm(end - start), pointing(end - start)
    return vi.Body.box(name, size=(width, width, length), mass=length, position=0.5 * (start + end), quat_wxyz=quat)


def pointing(direction) -> tuple:
    """A quaternion (4,) that takes z to ``direction`` (3,), and leaves y where that is in the x-z plane."""
    x, y, z = direction
    a, b = 0.5 * np.arctan2(-y, np.hypot(x, z)), 0.5 * np.arctan2(x, z)  # half angles: first about x, then about y
    return np.cos(b) * np.cos(a), np.cos(b) * np.sin(a), np.sin(b) * np.cos(a), -np.sin(b) * np.sin(a)


def welded(name: str, *points, width: float = 0.1) -> vi.Body:
    """Links from point to point (3,), welded into one body; a triangle names its first corner again at the end."""
    return vi.Body.composite(
        name, [link(f"{name} {i}", *ends, width) for i, ends in enumerate(pairwise(points), start=1)]
    )


def hinge(name: str, body_a: str, body_b: str, point) -> vi.Revolute:
    """A revolute joint at ``point`` (3,) about the normal of the x-z plane."""
    return vi.Revolute(name, body_a, body_b, point=point, axis=NORMAL)


def polar(length: float, angle: float) -> np.ndarray:
    """The point (3,) of the x-z plane at ``length`` from the origin and ``angle`` from x towards z."""
    return length * np.array([np.cos(angle), 0.0, np.sin(angle)])


def meet(a, b, from_a: float, from_b: float) -> np.ndarray:
    """The point (3,) of the x-z plane at the distances ``from_a``, ``from_b`` from ``a``, ``b``, left of a to b.

    Raises MechanismError where there is none.
    """
    apart = b - a
    distance = np.linalg.norm(apart)
    along = (distance**2 + from_a**2 - from_b**2) / (2 * distance)
    if abs(along) > from_a:
        raise vi.MechanismError(f"links of {from_a:g} m and {from_b:g} m cannot join points {distance:g} m apart")
    left = np.array([-apart[2], 0.0, apart[0]])
    return a + (along * apart + np.sqrt(from_a**2 - along**2) * left) / distance


def prism(outline, width: float) -> vi.ConvexMesh:
    """A shape that touches: a convex ``outline`` (n, 3) of the x-z plane from the centre of mass, ``width`` wide, m."""
    half = np.array([0.0, 0.5 * width, 0.0])
    return vi.ConvexMesh([corner + side for corner in np.asarray(outline, dtype=float) for side in (-half, half)])
