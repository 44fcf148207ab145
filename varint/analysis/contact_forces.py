"""Contacts of bodies with planes along a motion."""

import numpy as np

from varint.errors import StateError
from varint.mechanism import Mechanism
from varint.model.forces.hard_contact import HardContact
from varint.model.rotation_vectors import rotation_matrix
from varint.model.state import State

DEEPEST = 1e-8  # of the size of the parts: so deep a contact may start


def points_in_body(mechanism: Mechanism, force: HardContact) -> np.ndarray:
    """(P, 3) points of a contact from the centre of mass, in body axes."""
    body = mechanism.bodies[mechanism.body_index[force.body]]
    return (force.points_of(mechanism) - body.position) @ rotation_matrix(body.quat_wxyz)


def check_depth(mechanism: Mechanism, state: State, length: float) -> None:
    """Raise StateError where a contact starts below its plane, by more than a small part of ``length``, m."""
    for name, depth in penetrations(mechanism, state.position[None], state.quat_wxyz[None]).items():
        if depth[0] > DEEPEST * length:
            raise StateError(f"{mechanism.force(name).label} starts {depth[0]:.3g} m below its plane")


def penetrations(mechanism: Mechanism, position: np.ndarray, quat_wxyz: np.ndarray) -> dict[str, np.ndarray]:
    """Name of each contact to how deep its deepest point is (T,), m; bodies at (T, nb, 3), (T, nb, 4)."""
    deepest = {}
    for force in mechanism.forces:
        if isinstance(force, HardContact):
            body = mechanism.body_index[force.body]
            R = rotation_matrix(quat_wxyz[:, body])
            points = position[:, body, None] + points_in_body(mechanism, force) @ np.swapaxes(R, 1, 2)
            deepest[force.name] = np.maximum(force.radius - ((points - force.ground) @ force.normal).min(axis=1), 0.0)
    return deepest
