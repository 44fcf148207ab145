"""Forces at the points of hard contacts, from the force and torque of each that runs in reduced coordinates record."""

import numpy as np
from scipy.optimize import nnls

from varint.mechanism.mechanism import Mechanism
from varint.methods.reduced.ground import contact_named
from varint.model.rotation_vectors import rotation_matrix
from varint.results.contact_forces import points_in_body

NEAR = 1e-3  # of the size of a contact: how much farther from the plane than its lowest point others bear
LEAST = 1e-6  # weight of the size of the forces beside that of their sums


def forces_at_points(
    mechanism: Mechanism, position: np.ndarray, quat_wxyz: np.ndarray, wrench: dict[str, np.ndarray]
) -> np.ndarray:
    """Return forces (T, nk, 10) at each contact of the plan: force, normal force, place, normal; see `ContactForces`.

    ``wrench``: name of each contact to its force and its torque about the centre of mass (T, 6), world. At the lowest
    points the least forces that do not pull and make up the force, and the torque as far as they can.
    """
    compiled = mechanism.compiled
    rows = np.zeros((len(position), compiled.plan.contacts.body.size, 10))
    of = compiled.force[compiled.plan.contacts.element]
    for name, exerted in wrench.items():
        force = contact_named(mechanism, name)
        points = np.flatnonzero(of == mechanism.force_index[name])
        body, local = mechanism.body_index[force.body], points_in_body(mechanism, force)
        for node in np.flatnonzero(exerted[:, :3].any(axis=1)):
            arm = local @ rotation_matrix(quat_wxyz[node, body]).T
            gap = (position[node, body] + arm - force.ground) @ force.normal - force.radius
            arm = arm - force.radius * force.normal
            size = np.linalg.norm(arm, axis=1).max()
            bearing = np.flatnonzero(gap <= gap.min() + NEAR * size)
            forces = _distributed(exerted[node], arm[bearing], force.normal, size)
            at = points[bearing]
            rows[node, at, :3], rows[node, at, 3] = forces, forces @ force.normal
            rows[node, at, 4:7], rows[node, at, 7:] = position[node, body] + arm[bearing], force.normal
    borne = rows[..., :3].any(axis=2)
    rows[~borne] = 0.0
    return rows


def _distributed(wrench: np.ndarray, arm: np.ndarray, normal: np.ndarray, size: float) -> np.ndarray:
    """Return forces (P, 3) at the points ``arm`` (P, 3) from the centre of mass that make up ``wrench`` (6,), world.

    ``size``, m: by which torques count.
    """
    count = len(arm)
    if count == 1:
        return wrench[None, :3].copy()
    first = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
    first /= np.linalg.norm(first)
    second = np.cross(normal, first)
    directions = np.array([normal, first, -first, second, -second])
    columns = np.concatenate(
        [np.tile(directions, (count, 1)), np.cross(arm[:, None] / size, directions).reshape(-1, 3)], axis=1
    )
    matrix = np.vstack([columns.T, LEAST * np.eye(5 * count)])
    right = np.concatenate([wrench[:3], wrench[3:] / size, np.zeros(5 * count)])
    shares = nnls(matrix, right)[0].reshape(count, 5)
    forces = shares @ directions
    bears = shares.any(axis=1)
    if not bears.any():
        bears[:] = True
    forces[bears] += (wrench[:3] - forces.sum(axis=0)) / np.count_nonzero(bears)
    return forces
