"""Contacts along a motion: depths."""

import numpy as np

from varint.errors import StateError
from varint.kernels.workspace import workspace
from varint.mechanism import Mechanism
from varint.model.body import WORLD
from varint.model.forces.body_contact import Contact
from varint.model.forces.hard_contact import HardContact
from varint.model.rotation_vectors import rotation_matrix
from varint.model.state import State
from varint.terms.kernels.term_rows import depths_of_pairs

DEEPEST = 1e-8  # of the size of the parts: so deep a contact may start


def points_in_body(mechanism: Mechanism, force: HardContact) -> np.ndarray:
    """(P, 3) points of a contact from the centre of mass, in body axes."""
    body = mechanism.bodies[mechanism.body_index[force.body]]
    return (force.points_of(mechanism) - body.position) @ rotation_matrix(body.quat_wxyz)


def check_depth(mechanism: Mechanism, state: State, length: float) -> None:
    """Raise StateError where a contact starts with an overlap of more than a small part of ``length``, m."""
    for name, depth in penetrations(mechanism, state.position[None], state.quat_wxyz[None]).items():
        force = mechanism.force(name)
        if depth[0] <= DEEPEST * length:
            continue
        if isinstance(force, HardContact):
            raise StateError(f"{force.label} starts {depth[0]:.3g} m below its plane")
        assert isinstance(force, Contact)
        other = "the ground" if force.body_b == WORLD else f"body '{force.body_b}'"
        raise StateError(
            f"{force.label} starts with an overlap of {depth[0]:.3g} m of body '{force.body_a}' and {other}: move them"
            " apart"
        )


def penetrations(mechanism: Mechanism, position: np.ndarray, quat_wxyz: np.ndarray) -> dict[str, np.ndarray]:
    """Name of each contact to how deep it is (T,), m; bodies at (T, nb, 3), (T, nb, 4).

    That of a `HardContact` is the depth of its deepest point below the plane, that of a `Contact` the least translation
    that parts two shapes of the bodies; zero where there is none.
    """
    deepest = {}
    for force in mechanism.forces:
        if isinstance(force, HardContact):
            body = mechanism.body_index[force.body]
            R = rotation_matrix(quat_wxyz[:, body])
            points = position[:, body, None] + points_in_body(mechanism, force) @ np.swapaxes(R, 1, 2)
            deepest[force.name] = np.maximum(force.radius - ((points - force.ground) @ force.normal).min(axis=1), 0.0)
    return deepest | _overlaps(mechanism, position, quat_wxyz)


def _overlaps(mechanism: Mechanism, position: np.ndarray, quat_wxyz: np.ndarray) -> dict[str, np.ndarray]:
    """`penetrations` of the contacts between shapes."""
    compiled = mechanism.compiled
    contacts, order = compiled.plan.contacts, compiled.order
    if not contacts.pair_shape.size:
        return {}
    depth = np.zeros((len(position), len(contacts.pair_shape)))
    ws = workspace(compiled.plan, functions=compiled.functions)
    nodes = np.ascontiguousarray(position[:, order]), np.ascontiguousarray(quat_wxyz[:, order])
    depths_of_pairs(compiled.plan, ws, *nodes, depth)
    element = contacts.element[len(contacts.height) + contacts.pair_first[:-1]]
    deepest: dict[str, np.ndarray] = {}
    for p, e in enumerate(element.tolist()):
        name = mechanism.forces[compiled.force[e]].name
        deepest[name] = np.maximum(deepest.get(name, 0.0), depth[:, p])
    return deepest
