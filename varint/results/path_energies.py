"""Energy and momentum of mass along paths at the T nodes of a motion; see `PathInertia`.

Position and velocity are linear in the fraction along a straight segment, so that the values at the ends of each piece
give the integrals over it. Arcs around surfaces have particles at the points of Gauss's rule.
"""

from typing import NamedTuple

import numpy as np

from varint.mathematics.arcs import ARC_PARTS, ARC_WEIGHTS, place_on_arcs
from varint.model.body import WORLD
from varint.model.forces.path import PathInertia, PathWrap, path_inertias
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
        """Return the kinetic energy (T,), J."""
        a, b = self.near_velocity, self.far_velocity
        return np.sum(self.mass / 6.0 * np.sum(a * a + a * b + b * b, axis=2), axis=1)

    def potential_energy(self, gravity: np.ndarray) -> np.ndarray:
        """Return the potential energy (T,), J, of ``gravity`` (3,), m/s^2, zero at the origin."""
        return -np.sum(self.mass * np.sum(0.5 * (self.near + self.far) * gravity, axis=2), axis=1)

    def linear_momentum(self) -> np.ndarray:
        """Return the linear momentum (T, 3), N s, world."""
        return np.sum(0.5 * self.mass[..., None] * (self.near_velocity + self.far_velocity), axis=1)

    def angular_momentum(self) -> np.ndarray:
        """Return the angular momentum (T, 3), N m s, about the world's origin, world."""
        x, y, a, b = self[1:]
        moment = np.cross(2.0 * x + y, a) + np.cross(x + 2.0 * y, b)
        return np.sum(self.mass[..., None] / 6.0 * moment, axis=1)


def path_pieces(structure: Structure, nodes: Nodes) -> PathPieces | None:
    """Return the pieces of all masses along paths, or None without such masses.

    ``nodes``: position (T, nb, 3), m, quat_wxyz (T, nb, 4), velocity (T, nb, 3), m/s, world, and angular velocity
    (T, nb, 3), rad/s, body axes.
    """
    parts = [part for _, inertia in path_inertias(structure) for part in _pieces(structure, inertia, nodes)]
    return PathPieces(*(np.concatenate(arrays, axis=1) for arrays in zip(*parts, strict=True))) if parts else None


class _Carried(NamedTuple):
    """A place fixed to a body at T nodes: ``origin`` (T, 3) and its ``velocity``, ``spin`` (T, 3) of the body, world.

    ``turn`` (T, 3, 3) takes vectors of the reference configuration to their directions.
    """

    origin: np.ndarray
    velocity: np.ndarray
    turn: np.ndarray
    spin: np.ndarray

    def outward(self, vectors: np.ndarray) -> np.ndarray:
        return np.einsum("tij,t...j->t...i", self.turn, vectors)

    def seen(self, x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Place and rate (T, 3) of a point that moves in the world, from the origin, in axes of the reference."""
        r = x - self.origin
        apart = v - self.velocity - np.cross(self.spin, r)
        return np.einsum("tji,tj->ti", self.turn, r), np.einsum("tji,tj->ti", self.turn, apart)


def _carried(structure: Structure, name: str, point: np.ndarray, nodes: Nodes) -> _Carried:
    """Return the motion of the ``point`` (3,) of a body, m, world, reference configuration, and of its axes."""
    position, quat, velocity, spin = nodes
    count = len(position)
    if name == WORLD:
        still = np.zeros((count, 3))
        return _Carried(np.tile(point, (count, 1)), still, np.tile(np.eye(3), (count, 1, 1)), still)
    k = structure.body_index[name]
    body, R = structure.bodies[k], rotation_matrix(quat[:, k])
    A = rotation_matrix(body.quat_wxyz)
    r = A.T @ (point - body.position)
    origin = position[:, k] + np.sum(R * r, axis=2)
    moved = velocity[:, k] + np.sum(R * np.cross(spin[:, k], r)[:, None], axis=2)
    return _Carried(origin, moved, R @ A.T, np.sum(R * spin[:, k][:, None], axis=2))


class _Arc(NamedTuple):
    """A line around a surface at T nodes: its ends as the surface sees them, (T, 4, 3), see `place_on_arcs`."""

    wrap: PathWrap
    surface: _Carried
    ends: np.ndarray

    def at(self, parts: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return places, velocities and directions (T, B, 3), world, at ``parts`` (T, B).

        (T, 2) length and its rate.
        """
        out, grown = np.empty((*parts.shape, 9)), np.empty((len(parts), 2))
        size = np.array(self.wrap.size, dtype=float)
        place_on_arcs(self.ends, self.wrap.axis, size, self.wrap.side, np.ascontiguousarray(parts), out, grown)
        x, rate, t = (self.surface.outward(out[..., 3 * k : 3 * k + 3]) for k in range(3))
        moved = self.surface.velocity[:, None] + np.cross(self.surface.spin[:, None], x)
        return self.surface.origin[:, None] + x, moved + rate, t, grown


def _pieces(structure: Structure, inertia: PathInertia, nodes: Nodes) -> list[PathPieces]:
    """Return the straight pieces of one path, and the pieces of its arcs."""
    points = [_carried(structure, name, point, nodes) for name, point, w in inertia.stations() if w < 0]
    x, v = (np.stack([getattr(point, key) for point in points], axis=1) for key in ("origin", "velocity"))
    arcs: list[_Arc] = []
    whole = np.tile([0.0, 1.0], (len(x), 1))
    for wrap in inertia.wraps:
        surface, k = _carried(structure, wrap.body, wrap.centre, nodes), wrap.piece + 2 * len(arcs)
        ends = np.stack([*surface.seen(x[:, k], v[:, k]), *surface.seen(x[:, k + 1], v[:, k + 1])], axis=1)
        arcs.append(_Arc(wrap, surface, ends))
        place, rate, _, _ = arcs[-1].at(whole)
        x, v = np.insert(x, [k + 1], place, axis=1), np.insert(v, [k + 1], rate, axis=1)
    return _cut_pieces(inertia, x, v, arcs)


def _cut_pieces(inertia: PathInertia, x: np.ndarray, v: np.ndarray, arcs: list[_Arc]) -> list[PathPieces]:
    """Return the pieces of a path with points at ``x`` that move at ``v`` (T, n, 3), both ends of arcs among them."""
    apart = np.diff(x, axis=1)
    size = np.sqrt(np.sum(apart * apart, axis=2))
    turned = [arc.wrap.piece + 1 + 2 * k for k, arc in enumerate(arcs)]
    lines = np.delete(np.arange(size.shape[1]), turned)
    t = np.zeros_like(apart)
    t[:, lines] = apart[:, lines] / size[:, lines, None]
    growth = np.sum(t * np.diff(v, axis=1), axis=2)
    zero = np.zeros((len(x), 1))
    for k, arc in zip(turned, arcs, strict=True):
        size[:, k], growth[:, k] = arc.at(zero)[3].T
    c = np.concatenate([zero, np.cumsum(size, axis=1)], axis=1)
    rate = np.concatenate([zero, np.cumsum(growth, axis=1)], axis=1)
    s = c / c[:, -1:]
    slip = rate - s * rate[:, -1:]
    ends = x[:, :-1], x[:, 1:], v[:, :-1] - t * slip[:, :-1, None], v[:, 1:] - t * slip[:, 1:, None]
    low, high = inertia.belly
    if inertia.lumped is not None:
        at = np.tile(np.linspace(low, high, inertia.lumped), (len(x), 1))
        number = np.sum(s[:, None, 1:-1] < at[..., None], axis=2)
        return [_cut(np.full(at.shape, inertia.mass / inertia.lumped), ends, s, number, at, at)]
    near, far, density = np.clip(s[:, :-1], low, high), np.clip(s[:, 1:], low, high), inertia.mass / (high - low)
    pieces = [_cut(density * (far - near)[:, lines], ends, s, lines, near[:, lines], far[:, lines])]
    for k, arc in zip(turned, arcs, strict=True):
        span, within = (s[:, k + 1] - s[:, k])[:, None], (far - near)[:, k, None]
        first = np.divide(near[:, k, None] - s[:, k, None], span, out=np.zeros_like(span), where=span > 0.0)
        part = first + np.divide(within, span, out=np.zeros_like(span), where=span > 0.0) * ARC_PARTS
        place, moved, along, _ = arc.at(part)
        moved = moved - along * ((1.0 - part) * slip[:, k, None] + part * slip[:, k + 1, None])[..., None]
        pieces.append(PathPieces(density * within * ARC_WEIGHTS, place, place, moved, moved))
    return pieces


def _cut(
    mass: np.ndarray, ends: Nodes, s: np.ndarray, number: np.ndarray, near: np.ndarray, far: np.ndarray
) -> PathPieces:
    """Return pieces of segments ``number`` (P,) or (T, P) between the fractions ``near`` and ``far`` (T, P)."""
    number = np.broadcast_to(number, near.shape)
    first, last = (np.take_along_axis(s, number + k, axis=1) for k in (0, 1))
    a, b, va, vb = (np.take_along_axis(array, number[..., None], axis=1) for array in ends)
    low, high = (((fraction - first) / (last - first))[..., None] for fraction in (near, far))
    return PathPieces(mass, a + low * (b - a), a + high * (b - a), va + low * (vb - va), va + high * (vb - va))
