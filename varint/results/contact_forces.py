"""Contacts along a motion: depths."""

import numpy as np

from varint.base.errors import StateError
from varint.mechanism.mechanism import Mechanism
from varint.model.body import WORLD
from varint.model.forces.base import Force
from varint.model.forces.hard_contact import HardContact
from varint.model.rotation_vectors import rotation_matrix
from varint.model.state import State
from varint.step.contacts.depths import depths_of_pairs
from varint.step.contacts.finding import find_between
from varint.step.workspace import workspace

DEEPEST = 1e-8  # of the size of the parts: so deep a contact may start


def points_in_body(mechanism: Mechanism, force: HardContact) -> np.ndarray:
    """Return the points (P, 3), m, of a contact from the centre of mass, in body axes."""
    body = mechanism.bodies[mechanism.body_index[force.body]]
    return (force.points_of(mechanism) - body.position) @ rotation_matrix(body.quat_wxyz)


def check_depth(mechanism: Mechanism, state: State, length: float) -> None:
    """Raise StateError where a contact starts with an overlap of more than a small part of ``length``, m."""
    at = state.position[None], state.quat_wxyz[None]
    for name, depth in _below_planes(mechanism, *at).items():
        if depth[0] > DEEPEST * length:
            label = mechanism.force(name).label
            raise StateError(f"{label} starts {depth[0]:.3g} m below its plane, or is its normal the wrong way round?")
    for force, ends, depth in _overlaps(mechanism, *at):
        if depth[0] > DEEPEST * length:
            first, second = ("the ground" if end == WORLD else f"body '{end}'" for end in ends)
            raise StateError(
                f"{force.label} starts with an overlap of {depth[0]:.3g} m of {first} and {second}: move them apart"
            )


def penetrations(mechanism: Mechanism, position: np.ndarray, quat_wxyz: np.ndarray) -> dict[str, np.ndarray]:
    """Name of each contact to its depth (T,), m; bodies at (T, nb, 3), (T, nb, 4).

    That of a `HardContact` is the depth of its deepest point below the plane, that of a `Contact` the least translation
    that parts two shapes of the bodies; zero where there is none.
    """
    deepest = _below_planes(mechanism, position, quat_wxyz)
    for force, _, depth in _overlaps(mechanism, position, quat_wxyz):
        deepest[force.name] = np.maximum(deepest.get(force.name, 0.0), depth)
    return deepest


def _below_planes(mechanism: Mechanism, position: np.ndarray, quat_wxyz: np.ndarray) -> dict[str, np.ndarray]:
    """Return `penetrations` of each `HardContact`."""
    deepest = {}
    for force in mechanism.forces:
        if isinstance(force, HardContact):
            body = mechanism.body_index[force.body]
            R = rotation_matrix(quat_wxyz[:, body])
            points = position[:, body, None] + points_in_body(mechanism, force) @ np.swapaxes(R, 1, 2)
            deepest[force.name] = np.maximum(force.radius - ((points - force.ground) @ force.normal).min(axis=1), 0.0)
    return deepest


def _overlaps(
    mechanism: Mechanism, position: np.ndarray, quat_wxyz: np.ndarray
) -> list[tuple[Force, tuple[str, str], np.ndarray]]:
    """Return the force, names of both bodies, and depths (T,), m, of each pair of shapes that touch."""
    compiled = mechanism.compiled
    contacts, order = compiled.plan.contacts, compiled.order
    if not contacts.pair_shape.size:
        return []
    depth = np.zeros((len(position), len(contacts.pair_shape)))
    ws = workspace(compiled.plan, functions=compiled.functions, prepared=False)  # depths take no step
    nodes = np.ascontiguousarray(position[:, order]), np.ascontiguousarray(quat_wxyz[:, order])
    find_between.prepare()
    depths_of_pairs(compiled.plan, ws, *nodes, depth)
    names = [*(mechanism.bodies[i].name for i in order), WORLD]
    overlaps = []
    for p, first in enumerate((len(contacts.height) + contacts.pair_first[:-1]).tolist()):
        force = mechanism.forces[compiled.force[contacts.element[first]]]
        overlaps.append((force, (names[contacts.body[first]], names[contacts.other[first]]), depth[:, p]))
    return overlaps
