"""The course of lines that wrap around surfaces, as points."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from varint.mathematics.wrapping import AROUND, STRAIGHT, wrapped_arc
from varint.model.forces.wrapped_path import CylinderSurface, SphereSurface
from varint.model.rotation_vectors import rotation_matrix
from varint.model.structure import Structure

ARC = 0.15  # rad from one point of an arc to the next


class WrapShape(NamedTuple):
    """A surface in axes of ``body`` (number, -1 for the world): ``centre``, ``axis``, ``side`` (3,) of `wrapping`."""

    body: int
    centre: np.ndarray
    axis: np.ndarray
    side: np.ndarray
    radius: float
    mode: float
    smoothing: float


def shape_of(structure: Structure, body: str, surface: SphereSurface | CylinderSurface, smoothing: float) -> WrapShape:
    """Return the surface of a body, by the body's name."""
    number = structure.body_index.get(body, -1)
    R, x = np.eye(3), np.zeros(3)
    if number >= 0:
        R, x = rotation_matrix(structure.bodies[number].quat_wxyz), structure.bodies[number].position
    vectors = R.T @ (surface.centre - x), R.T @ surface.axis, R.T @ surface.sideways
    return WrapShape(number, *vectors, surface.radius, surface.mode, smoothing)


def wrapped_line(
    bodies: Sequence[int], points: np.ndarray, surfaces: Sequence[WrapShape | None], x: np.ndarray, R: np.ndarray
) -> np.ndarray:
    """Return points (n, 3), m, world, along a line over ``points`` of ``bodies``.

    Bodies at ``x`` (nb + 1, 3), ``R``.
    """
    ends = [x[body] + R[body] @ point for body, point in zip(bodies, points, strict=True)]
    line = [ends[0][None]]
    for begin, end, shape in zip(ends[:-1], ends[1:], surfaces, strict=True):
        if shape is not None:
            rotation, centre = R[shape.body], x[shape.body] + R[shape.body] @ shape.centre
            arc = arc_points(shape, rotation.T @ (begin - centre), rotation.T @ (end - centre))
            line.append(centre + arc @ rotation.T)
        line.append(end[None])
    return np.concatenate(line)


def arc_points(shape: WrapShape, p: np.ndarray, q: np.ndarray, count: int | None = None) -> np.ndarray:
    """Return points (n, 3) on the surface between p and q (3,), all from its centre and in its axes.

    N = 0 where straight.

    ``count``: that many in any case, on the line from p to q where it is straight.
    """
    vectors = [tuple(map(float, vector)) for vector in (p, q, shape.axis, shape.side)]
    surface = (shape.radius, shape.mode, shape.smoothing, vectors[3])
    course, n, *ends = wrapped_arc(*vectors[:3], surface)
    if course == STRAIGHT:
        return np.zeros((0, 3)) if count is None else p + np.linspace(0.0, 1.0, count + 2)[1:-1, None] * (q - p)
    one, other = np.array(ends)
    if course != AROUND:
        return np.tile(one, (count or 1, 1))
    flat = one - (shape.axis @ one) * shape.axis
    last = other - (shape.axis @ other) * shape.axis
    angle = math.atan2(np.cross(flat, last) @ n, flat @ last) % (2.0 * math.pi)
    t = np.linspace(0.0, 1.0, count or 2 + int(angle / ARC))[:, None]
    turned = np.cos(angle * t) * flat + np.sin(angle * t) * np.cross(n, flat)
    return turned + ((1.0 - t) * (shape.axis @ one) + t * (shape.axis @ other)) * shape.axis
