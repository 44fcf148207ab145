"""Masses along paths in a plan."""

import numpy as np

from varint.model.body import WORLD
from varint.model.forces.path import PathInertia
from varint.model.rotation_vectors import rotation_matrix
from varint.model.structure import Structure


def massive_path_arrays(structure: Structure, inertias: list[PathInertia], slot: np.ndarray) -> dict:
    """Arrays of `MassivePaths`; ``slot`` (nb + 1,) of each body, the world last."""
    number = {**structure.body_index, WORLD: -1}
    ends = [[int(slot[number[name]]) for name in inertia.ends] for inertia in inertias]
    world = int(slot[-1])
    bodies = sorted({i for own in ends for i in own} - {world})
    place = {i: k for k, i in enumerate(bodies)} | {world: -1}
    arms = [
        _arm(structure, name, point)
        for inertia in inertias
        for name, point in zip(inertia.ends, inertia.points, strict=True)
    ]
    return {
        "first": np.cumsum([0, *map(len, ends)]),
        "slot": np.array([i for own in ends for i in own], dtype=np.int64),
        "place": np.array([place[i] for own in ends for i in own], dtype=np.int64),
        "arm": np.reshape(arms, (-1, 3)).astype(float),
        "body": np.array(bodies, dtype=np.int64),
        "touches": np.array([[i in own for i in bodies] for own in ends], dtype=np.int64).reshape(
            len(ends), len(bodies)
        ),
        "mass": np.array([inertia.mass for inertia in inertias], dtype=float),
        "belly": np.reshape([inertia.belly for inertia in inertias], (-1, 2)).astype(float),
        "lumped": np.array([inertia.lumped or 0 for inertia in inertias], dtype=np.int64),
    }


def _arm(structure: Structure, name: str, point: np.ndarray) -> np.ndarray:
    """(3,) m, from the centre of mass in the axes of the body."""
    if name == WORLD:
        return point
    body = structure.body(name)
    return rotation_matrix(body.quat_wxyz).T @ (point - body.position)
