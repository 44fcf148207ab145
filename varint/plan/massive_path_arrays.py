"""Masses along paths in a plan."""

import numpy as np

from varint.model.body import WORLD
from varint.model.forces.path import PathInertia
from varint.model.rotation_vectors import rotation_matrix
from varint.model.structure import Structure


def massive_path_arrays(structure: Structure, inertias: list[PathInertia], slot: np.ndarray) -> dict:
    """Return arrays of `MassivePaths`; ``slot`` (nb + 1,) of each body, the world last."""
    number = {**structure.body_index, WORLD: -1}
    stations = [inertia.stations() for inertia in inertias]
    ends = [[int(slot[number[name]]) for name, _, _ in path_stations] for path_stations in stations]
    world = int(slot[-1])
    moved = [set(path_stations) - {world} for path_stations in ends]
    coupled = {i for path_stations in moved if len(path_stations) > 1 for i in path_stations}
    bodies = sorted({i for path_stations in moved for i in path_stations}, key=lambda i: (i not in coupled, i))
    place = {i: k for k, i in enumerate(bodies)} | {world: -1}
    arms = [_arm(structure, name, point) for path_stations in stations for name, point, _ in path_stations]
    before = np.cumsum([0, *(len(inertia.wraps) for inertia in inertias)])
    wrap = [w if w < 0 else int(before[k]) + w for k, path_stations in enumerate(stations) for _, _, w in path_stations]
    places = np.array([place[i] for path_stations in ends for i in path_stations], dtype=np.int64)
    on_arc = np.array(wrap, dtype=np.int64) >= 0
    wraps = [each for inertia in inertias for each in inertia.wraps]
    return {
        "first": np.cumsum([0, *map(len, ends)]),
        "slot": np.array([i for path_stations in ends for i in path_stations], dtype=np.int64),
        "place": np.where(on_arc, -1, places),
        "carrier": np.where(on_arc, places, -1),
        "wrap": np.array(wrap, dtype=np.int64),
        "axis": np.reshape([_turned(structure, each.body, each.axis) for each in wraps], (-1, 3)).astype(float),
        "side": np.reshape([_turned(structure, each.body, each.side) for each in wraps], (-1, 3)).astype(float),
        "size": np.reshape([each.size for each in wraps], (-1, 3)).astype(float),
        "arm": np.reshape(arms, (-1, 3)).astype(float),
        "body": np.array(bodies, dtype=np.int64),
        "coupled": np.array([len(coupled)], dtype=np.int64),
        "touches": np.array([[i in path_stations for i in bodies] for path_stations in ends], dtype=np.int64).reshape(
            len(ends), len(bodies)
        ),
        "mass": np.array([inertia.mass for inertia in inertias], dtype=float),
        "belly": np.reshape([inertia.belly for inertia in inertias], (-1, 2)).astype(float),
        "lumped": np.array([inertia.lumped or 0 for inertia in inertias], dtype=np.int64),
        "moments": np.reshape([_moments(inertia) for inertia in inertias], (-1, 5)).astype(float),
    }


def _moments(inertia: PathInertia) -> np.ndarray:
    """Return integrals (5,), kg, of (1 - a)^2, (1 - a) a, a^2, 1 - a and a over the mass.

    Zero except for two points.
    """
    if len(inertia.stations()) != 2:
        return np.zeros(5)
    start, end = inertia.belly
    if inertia.lumped:
        a, weight = np.linspace(start, end, inertia.lumped), np.full(inertia.lumped, inertia.mass / inertia.lumped)
    else:  # exact for quadratic functions
        a, weight = np.array([start, 0.5 * (start + end), end]), inertia.mass * np.array([1.0, 4.0, 1.0]) / 6.0
    return np.array([(1.0 - a) ** 2, (1.0 - a) * a, a**2, 1.0 - a, a]) @ weight


def _arm(structure: Structure, name: str, point: np.ndarray) -> np.ndarray:
    """Return the vector (3,), m, from the centre of mass in the axes of the body."""
    return _turned(structure, name, point if name == WORLD else point - structure.body(name).position)


def _turned(structure: Structure, name: str, vector: np.ndarray) -> np.ndarray:
    """Return a vector (3,) in axes of the body."""
    return vector if name == WORLD else rotation_matrix(structure.body(name).quat_wxyz).T @ vector
