"""Energy and momentum of mass along paths at the T nodes of a motion; see `PathInertia`.

Position and velocity are linear in the fraction along a segment, so that the values at the ends of each piece give the
integrals over it.
"""

from typing import NamedTuple

import numpy as np

from varint.model.body import WORLD
from varint.model.forces.path import PathInertia, path_inertias
from varint.model.rotation_vectors import rotation_matrix
from varint.model.structure import Structure

Nodes = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class PathPieces(NamedTuple):
    """Straight pieces of material at T nodes, P of them; particles are pieces whose ends agree.

    mass : (T, P) kg
    near, far : (T, P, 3) ends, m, world
    near_velocity, far_velocity : (T, P, 3) of the material there, m/s, world
    """

    mass: np.ndarray
    near: np.ndarray
    far: np.ndarray
    near_velocity: np.ndarray
    far_velocity: np.ndarray

    def kinetic_energy(self) -> np.ndarray:
        """(T,) J."""
        a, b = self.near_velocity, self.far_velocity
        return np.sum(self.mass / 6.0 * np.sum(a * a + a * b + b * b, axis=2), axis=1)

    def potential_energy(self, gravity: np.ndarray) -> np.ndarray:
        """(T,) J of ``gravity`` (3,), m/s^2, zero at the origin."""
        return -np.sum(self.mass * np.sum(0.5 * (self.near + self.far) * gravity, axis=2), axis=1)

    def linear_momentum(self) -> np.ndarray:
        """(T, 3) N s, world."""
        return np.sum(0.5 * self.mass[..., None] * (self.near_velocity + self.far_velocity), axis=1)

    def angular_momentum(self) -> np.ndarray:
        """(T, 3) N m s about the world's origin, world."""
        x, y, a, b = self[1:]
        moment = np.cross(2.0 * x + y, a) + np.cross(x + 2.0 * y, b)
        return np.sum(self.mass[..., None] / 6.0 * moment, axis=1)


def path_pieces(structure: Structure, nodes: Nodes) -> PathPieces | None:
    """The pieces of all masses along paths, or None where there are no such masses.

    ``nodes``: position (T, nb, 3), m, quat_wxyz (T, nb, 4), velocity (T, nb, 3), m/s, world, and angular velocity
    (T, nb, 3), rad/s, body axes.
    """
    parts = [_pieces(inertia, *_motion(structure, inertia, nodes)) for _, inertia in path_inertias(structure)]
    return PathPieces(*(np.concatenate(arrays, axis=1) for arrays in zip(*parts, strict=True))) if parts else None


def _motion(structure: Structure, inertia: PathInertia, nodes: Nodes) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities (T, n, 3) of the points of a path, world."""
    position, quat, velocity, spin = nodes
    x = np.tile(inertia.points, (len(position), 1, 1))
    v = np.zeros_like(x)
    for j, name in enumerate(inertia.ends):
        if name == WORLD:
            continue
        k = structure.body_index[name]
        body, R = structure.bodies[k], rotation_matrix(quat[:, k])
        r = rotation_matrix(body.quat_wxyz).T @ (inertia.points[j] - body.position)
        x[:, j] = position[:, k] + np.sum(R * r, axis=2)
        v[:, j] = velocity[:, k] + np.sum(R * np.cross(spin[:, k], r)[:, None], axis=2)
    return x, v


def _pieces(inertia: PathInertia, x: np.ndarray, v: np.ndarray) -> PathPieces:
    """The pieces of one path with points at ``x`` that move at ``v`` (T, n, 3)."""
    apart = np.diff(x, axis=1)
    size = np.sqrt(np.sum(apart * apart, axis=2))
    t = apart / size[..., None]
    zero = np.zeros((len(x), 1))
    c = np.concatenate([zero, np.cumsum(size, axis=1)], axis=1)
    rate = np.concatenate([zero, np.cumsum(np.sum(t * np.diff(v, axis=1), axis=2), axis=1)], axis=1)
    s = c / c[:, -1:]
    slip = (rate - s * rate[:, -1:])[..., None]
    ends = x[:, :-1], x[:, 1:], v[:, :-1] - t * slip[:, :-1], v[:, 1:] - t * slip[:, 1:]
    low, high = inertia.belly
    if inertia.lumped is None:
        near, far = np.clip(s[:, :-1], low, high), np.clip(s[:, 1:], low, high)
        return _cut(inertia.mass / (high - low) * (far - near), ends, s, np.arange(t.shape[1]), near, far)
    at = np.tile(np.linspace(low, high, inertia.lumped), (len(x), 1))
    number = np.sum(s[:, None, 1:-1] < at[..., None], axis=2)
    return _cut(np.full(at.shape, inertia.mass / inertia.lumped), ends, s, number, at, at)


def _cut(
    mass: np.ndarray, ends: Nodes, s: np.ndarray, number: np.ndarray, near: np.ndarray, far: np.ndarray
) -> PathPieces:
    """Pieces of segments ``number`` (P,) or (T, P) between the fractions ``near`` and ``far`` (T, P)."""
    number = np.broadcast_to(number, near.shape)
    first, last = (np.take_along_axis(s, number + k, axis=1) for k in (0, 1))
    a, b, va, vb = (np.take_along_axis(array, number[..., None], axis=1) for array in ends)
    low, high = (((fraction - first) / (last - first))[..., None] for fraction in (near, far))
    return PathPieces(mass, a + low * (b - a), a + high * (b - a), va + low * (vb - va), va + high * (vb - va))
