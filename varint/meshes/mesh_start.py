"""Start of free vertices: in equilibrium with the bodies that hold the others, and moving along."""

import numpy as np
from scipy.sparse import diags_array
from scipy.sparse.linalg import splu

from varint.errors import StateError
from varint.meshes.attached_meshes import AttachedMeshes

MOST_ITERATIONS = 200
HALVINGS = 40  # of an increment
AT_REST = 1e-11  # of the largest force at the first guess, or of those that hold the bodies
ROUND_OFF = 1e-14  # of the largest stiffness times the size of the meshes
SHIFT = 1e-12  # of the largest stiffness: that of a mesh held at a point or a line alone is singular


def equilibrium(meshes: AttachedMeshes, x: np.ndarray) -> None:
    """Bring the free vertices in ``x`` (n, 3) to rest, without gravity, by Newton's method; the others are in place.

    Each mesh begins with the rigid motion that is next to that of its attached vertices. Raises StateError.
    """
    tied = np.setdiff1d(np.arange(len(x)), meshes.free)
    if np.array_equal(x[tied], meshes.points[tied]):
        x[meshes.free] = meshes.points[meshes.free]
        return
    for first, last in zip(meshes.first, meshes.first[1:], strict=False):
        own = tied[(tied >= first) & (tied < last)]
        free = meshes.free[(meshes.free >= first) & (meshes.free < last)]
        R, a, b = _next_rotation(meshes.points[own], x[own]) if len(own) else (np.eye(3), np.zeros(3), np.zeros(3))
        x[free] = (meshes.points[free] - a) @ R.T + b
    responses = meshes.responses(x)
    energy = meshes.energy(responses)
    largest, size = float(np.abs(meshes.forces(x, responses)).max()), float(np.abs(x).max())
    for _ in range(MOST_ITERATIONS):
        force = meshes.forces(x, responses)
        K = meshes.stiffness(responses, 1.0, inertia=False, projected=True).free
        floor = max(AT_REST * max(largest, float(np.abs(force).max())), ROUND_OFF * K.diagonal().max() * size)
        if np.abs(force[meshes.free]).max() <= floor:
            return
        step = _solver(K).solve(force[meshes.free].ravel()).reshape(-1, 3)
        share, slope = 1.0, float(np.sum(step * force[meshes.free]))
        for _ in range(HALVINGS):
            tried = x.copy()
            tried[meshes.free] += share * step
            found = meshes.responses(tried)
            after = meshes.energy(found)
            if after <= energy - 1e-4 * share * slope + ROUND_OFF * abs(energy):
                break
            share *= 0.5
        else:
            break
        x[:], responses, energy = tried, found, after
    raise StateError(
        "no equilibrium of the deformable bodies was found with their bodies at the start: begin nearer to the pose in"
        " which they are undeformed"
    )


def velocities_along(meshes: AttachedMeshes, x: np.ndarray, v: np.ndarray) -> None:
    """Set the velocities of the free vertices in ``v`` (n, 3), m/s, to those at which they stay in equilibrium."""
    if not v[meshes.held].any():
        v[meshes.free] = 0.0
        return
    tied = np.setdiff1d(np.arange(len(x)), meshes.free)
    for first, last in zip(meshes.first, meshes.first[1:], strict=False):
        own = tied[(tied >= first) & (tied < last)]
        free = meshes.free[(meshes.free >= first) & (meshes.free < last)]
        v[free] = _rigid_velocity(x[own], v[own], x[free]) if len(own) else 0.0
    stiffness = meshes.stiffness(meshes.responses(x), 1.0, inertia=False)
    pulled = stiffness.free @ v[meshes.free].ravel() + stiffness.mixed @ v[meshes.held].ravel()
    v[meshes.free] -= _solver(stiffness.free).solve(pulled).reshape(-1, 3)


def _solver(K):  # type: ignore[no-untyped-def]
    return splu((K + diags_array(np.full(K.shape[0], SHIFT * K.diagonal().max()))).tocsc())


def _next_rotation(points: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """R and centres a, b of the rigid motion R (p - a) + b next to that of ``points`` (n, 3) to ``x`` (Kabsch)."""
    a, b = points.mean(axis=0), x.mean(axis=0)
    U, _, Vt = np.linalg.svd((x - b).T @ (points - a))
    U[:, 2] *= np.sign(np.linalg.det(U) * np.linalg.det(Vt))
    return U @ Vt, a, b


def _rigid_velocity(x: np.ndarray, v: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Velocities ``at`` (m, 3) of the rigid motion nearest to ``v`` (n, 3) of points at ``x``, in least squares."""
    centre, mean = x.mean(axis=0), v.mean(axis=0)
    arms = x - centre
    spin = np.linalg.lstsq(np.cross(np.eye(3)[:, None], arms[None]).reshape(3, -1).T, (v - mean).ravel(), rcond=1e-10)[
        0
    ]
    return mean + np.cross(spin, at - centre)
