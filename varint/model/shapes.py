"""Mass distributions of uniform solids. Inertias are per kilogram, about the centre of mass, in body axes (m^2)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import array_of, positive
from varint.base.errors import MechanismError
from varint.model.bounds import bounded


def quat_from_z(direction: np.ndarray) -> np.ndarray:
    """Return the shortest rotation that takes z to ``direction`` (3,), as a quaternion (4,)."""
    x, y, z = direction / np.linalg.norm(direction)
    if z < -1 + 1e-12:
        return np.array([0.0, 1.0, 0.0, 0.0])
    quat = np.array([1 + z, -y, x, 0.0])
    return quat / np.linalg.norm(quat)


class Moments(NamedTuple):
    """Volume (m^3), centre (3,) and inertia per kilogram (3, 3) about the centre."""

    volume: float
    centre: np.ndarray
    inertia: np.ndarray


def box(size: ArrayLike, label: str) -> Moments:
    x, y, z = _lengths(size, f"size of {label}")
    return _centred(x * y * z, np.array([y * y + z * z, x * x + z * z, x * x + y * y]) / 12)


def cylinder(radius: float, length: float, label: str) -> Moments:
    r, h = _length(radius, f"radius of {label}"), _length(length, f"length of {label}")
    across = (3 * r * r + h * h) / 12
    return _centred(np.pi * r * r * h, np.array([across, across, r * r / 2]))


def capsule(radius: float, length: float, label: str) -> Moments:
    r, h = _length(radius, f"radius of {label}"), _length(length, f"length of {label}")
    tube, ball = h, 4 * r / 3  # volumes over pi r^2
    across = tube * (3 * r * r + h * h) / 12 + ball * (0.4 * r * r + h * h / 4 + 3 * h * r / 8)
    along = tube * r * r / 2 + ball * 0.4 * r * r
    return _centred(np.pi * r * r * (tube + ball), np.array([across, across, along]) / (tube + ball))


def sphere(radius: float, label: str) -> Moments:
    r = _length(radius, f"radius of {label}")
    return _centred(4 * np.pi * r**3 / 3, np.full(3, 0.4 * r * r))


def ellipsoid(semi_axes: ArrayLike, label: str) -> Moments:
    a, b, c = _lengths(semi_axes, f"semi_axes of {label}")
    return _centred(4 * np.pi * a * b * c / 3, np.array([b * b + c * c, a * a + c * c, a * a + b * b]) / 5)


def mesh(vertices: ArrayLike, triangles: ArrayLike, label: str) -> Moments:
    """Return the moments of the solid inside a closed triangle mesh, by the divergence theorem over its tetrahedra."""
    vertices = array_of(vertices, (None, 3), f"vertices of {label}")
    bounded(vertices, f"vertices of {label}")
    array_of(triangles, (None, 3), f"triangles of {label}")
    triangles = np.asarray(triangles)
    if triangles.dtype.kind not in "iu":
        raise MechanismError(f"triangles of {label} must be vertex numbers, got {triangles.dtype}")
    if triangles.size == 0 or triangles.min() < 0 or triangles.max() >= len(vertices):
        raise MechanismError(f"triangles of {label} must name vertices 0 to {len(vertices) - 1}")
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    forward, backward = set(map(tuple, edges.tolist())), set(map(tuple, edges[:, ::-1].tolist()))
    if len(forward) != len(edges) or forward != backward:
        raise MechanismError(
            f"mesh of {label} is not closed: each edge must be shared by two triangles, run through once each way"
        )
    offset = vertices.mean(axis=0)  # near the solid, so that nothing large cancels
    a, b, c = np.moveaxis((vertices - offset)[triangles], 1, 0)
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
    volume = volumes.sum()
    if volume <= 0:
        raise MechanismError(f"mesh of {label} encloses a volume of {volume:g}: turn its triangles outwards")
    total = a + b + c
    centre = volumes @ total / 4 / volume
    corners = sum(np.einsum("n,ni,nj->ij", volumes, p, p) for p in (a, b, c, total)) / 20
    second = corners / volume - np.outer(centre, centre)
    return Moments(volume, centre + offset, np.trace(second) * np.eye(3) - second)


def combine(masses: np.ndarray, centres: np.ndarray, inertias: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Return mass, centre and inertia of parts (n,), (n, 3), (n, 3, 3), by Steiner's theorem.

    All in one set of axes.
    """
    mass = masses.sum()
    centre = masses @ centres / mass
    arms = centres - centre
    squares = np.einsum("ni,ni->n", arms, arms)
    steiner = np.einsum("n,ij->ij", masses * squares, np.eye(3)) - np.einsum("n,ni,nj->ij", masses, arms, arms)
    return mass, centre, inertias.sum(axis=0) + steiner


def _centred(volume: float, principal: np.ndarray) -> Moments:
    return Moments(volume, np.zeros(3), np.diag(principal))


def _lengths(value: ArrayLike, label: str) -> np.ndarray:
    lengths = array_of(value, (3,), label)
    if (lengths <= 0).any():
        raise MechanismError(f"{label} must be positive, got {lengths.tolist()}")
    bounded(lengths, label)
    return lengths


def _length(value: float, label: str) -> float:
    length = positive(value, label)
    bounded(length, label)
    return length
