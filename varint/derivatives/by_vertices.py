"""Gradients of objectives by the vertices of deformable bodies and nets in states at nodes, by differences."""

from collections.abc import Callable, Sequence

import numpy as np

from varint.base.checks import array_of, of_type
from varint.base.errors import ArgumentError, MechanismError
from varint.derivatives.numbers import differences
from varint.meshes.mesh_state import MeshState

PARTS = ("vertices", "velocities of vertices")


def by_vertices(
    value_at: Callable[[int, MeshState], np.ndarray], value: np.ndarray, states: Sequence[MeshState], steps: np.ndarray
) -> np.ndarray:
    """(m or 1, K, 2, n, 3) gradient by places and velocities of all vertices, of an objective ``value``, () or (m,).

    ``value_at(k, state)``: the objective with ``state`` as that of node k. ``steps`` (2,): of the differences, m, m/s.
    """
    motions = [state.all_vertices for state in states]
    found = np.zeros((value.size, len(states), *motions[0].shape))
    for k, part in np.ndindex(len(states), 2):

        def moved(changes: np.ndarray, k: int = k, part: int = part) -> np.ndarray:
            motion = motions[k].copy()
            motion[part] += changes
            return value_at(k, states[k].of_vertices(motion))

        for i in _vertices_seen(moved, value, motions[k].shape[1], float(steps[part])):
            for axis in range(3):
                unit = np.zeros_like(motions[k][part])
                unit[i, axis] = 1.0

                def of_changed(share: float, moved: Callable = moved, unit: np.ndarray = unit) -> np.ndarray:
                    return moved(share * unit)

                found[:, k, part, i, axis] = differences(of_changed, float(steps[part]))
    return found


def _vertices_seen(moved: Callable[[np.ndarray], np.ndarray], value: np.ndarray, count: int, step: float) -> list[int]:
    """The vertices, of ``count``, that the objective depends on, found by halves.

    ``moved(changes)``: the objective with all of them changed by (count, 3). ``value``: without.
    """
    # each by another vector: objectives of distances do not change by common motions
    changes = step * np.random.default_rng(0).uniform(-0.5, 0.5, (count, 3))

    def seen(first: int, last: int) -> list[int]:
        some = np.zeros_like(changes)
        some[first:last] = changes[first:last]
        try:
            if np.array_equal(moved(some), value):
                return []
        except MechanismError:  # at a bound: differences are taken from one side
            pass
        if last - first == 1:
            return [first]
        middle = (first + last) // 2
        return seen(first, middle) + seen(middle, last)

    return seen(0, count) if count else []


def own_by_vertices(parts: Sequence[object], state: MeshState, what: str) -> np.ndarray:
    """(2, n, 3) by places and velocities of all vertices: two dictionaries by name, as users give them.

    ``what`` they are, for errors. Meshes that are left out have no part in it.
    """
    found = np.zeros_like(state.all_vertices)
    for k, (part, given) in enumerate(zip(PARTS, parts, strict=True)):
        by_name = dict(of_type(given, dict, f"{what} by {part}", ArgumentError))
        first = 0
        for name, x in state.vertices.items():
            last = first + len(x)
            if name in by_name:
                found[k, first:last] = array_of(
                    by_name.pop(name), x.shape, f"{what} by {part} of '{name}'", ArgumentError
                )
            first = last
        if by_name:
            raise ArgumentError(f"{what} by {part} names no deformable body or net: {', '.join(map(repr, by_name))}")
    return found
