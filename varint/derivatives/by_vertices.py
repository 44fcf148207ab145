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
    """Return the gradient (m or 1, K, 2, n, 3) of an objective by places and velocities of all vertices.

    value_at : function (k, state) that returns the objective with ``state`` at node k, () or (m,)
    value : the objective with the K ``states``
    steps : (2,) of the differences, m, m/s
    """
    motions = [state.all_vertices for state in states]
    gradient = np.zeros((value.size, len(states), *motions[0].shape))
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

                gradient[:, k, part, i, axis] = differences(of_changed, float(steps[part]))
    return gradient


def _vertices_seen(moved: Callable[[np.ndarray], np.ndarray], value: np.ndarray, count: int, step: float) -> list[int]:
    """Return the vertices, among ``count``, that the objective depends on, by bisection.

    ``moved(changes)``: the objective with all vertices changed by (count, 3). ``value``: without a change. ``step``: of
    the changes, m or m/s.
    """
    # different vectors for all: objectives of distances do not change by common motions
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


def gradient_of_user_by_vertices(parts: Sequence[object], state: MeshState, label: str) -> np.ndarray:
    """Return the gradient (2, n, 3) by places and velocities of all vertices from two dictionaries of a user.

    ``parts``: name of a deformable body or net to its gradient (n, 3) by places, and the same by velocities; meshes
    that are left out have a gradient of zero. ``label``: name of the gradient in errors. Raises ArgumentError.
    """
    gradient = np.zeros_like(state.all_vertices)
    for k, (part, by_mesh) in enumerate(zip(PARTS, parts, strict=True)):
        by_name = dict(of_type(by_mesh, dict, f"{label} by {part}", ArgumentError))
        first = 0
        for name, x in state.vertices.items():
            last = first + len(x)
            if name in by_name:
                gradient[k, first:last] = array_of(
                    by_name.pop(name), x.shape, f"{label} by {part} of '{name}'", ArgumentError
                )
            first = last
        if by_name:
            raise ArgumentError(f"{label} by {part} names no deformable body or net: {', '.join(map(repr, by_name))}")
    return gradient
