"""Start of free vertices: in equilibrium with the bodies that hold the attached ones, and moving with them.

A slack net of springs has no unique equilibrium: its free vertices are placed by the motion of the attached ones.
Arrays of n vertices have all meshes one after another, see `AttachedMeshes`; places are in m and velocities in m/s,
world.
"""

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csc_array, diags_array
from scipy.sparse.linalg import splu

from varint.base.errors import StateError
from varint.kinematics.frames import with_world
from varint.mathematics.elasticity.elastic_mesh import ElasticMesh
from varint.mathematics.elasticity.spring_net import SpringNet
from varint.meshes.attached_meshes import AttachedMeshes
from varint.meshes.mesh_state import MeshState, with_vertices
from varint.model.forces.soft_mesh import soft_meshes
from varint.model.state import State
from varint.model.structure import Structure
from varint.plan import Compiled

MOST_ITERATIONS = 200
HALVINGS = 40  # most halvings of an increment
AT_REST = 1e-11  # residual force of an equilibrium over the largest force, that on attached vertices included
ROUND_OFF = 1e-14  # residual force that is round-off, over the largest stiffness times the size of the meshes
NO_TURN = 1e-14  # largest entry of R - 1 for a rotation R that is none
NARROW = 1e-3  # width over length below which points count as on a line, and leave a rotation about it undetermined
COINCIDE = 1e-24  # moments of points over the square of their distance from the origin, below which they are one point
SHIFT = 1e-12  # added to the diagonal, over its largest entry: a mesh held only at a point or a line is singular


def state_with_meshes(structure: Structure, compiled: Compiled, state: State) -> State:
    """Return ``state`` with the places and velocities of all vertices at the start of a run.

    Returns ``state`` itself if it has vertices, or if ``structure`` has no meshes. Raises StateError if a mesh has no
    equilibrium.
    """
    if isinstance(state, MeshState) or not soft_meshes(structure):
        return state
    x, R = with_world(state.position, state.quat_wxyz)
    position, rotation, motion = x.copy(), R.copy(), np.zeros((len(structure.bodies), 6))
    position[compiled.slot], rotation[compiled.slot] = x[:-1], R[:-1]
    motion[compiled.slot] = np.hstack([state.velocity, state.angular_velocity])
    vertices = start_along(AttachedMeshes(structure, compiled), position, rotation, motion)
    return with_vertices(structure, state, np.array(vertices))


def vertices_at(structure: Structure, compiled: Compiled, state: State) -> list[np.ndarray]:
    """Return the places (n, 3), m, world, of the vertices of each mesh at a state, see `state_with_meshes`."""
    with_vertices = state_with_meshes(structure, compiled, state)
    return list(with_vertices.vertices.values()) if isinstance(with_vertices, MeshState) else []


def start_along(
    meshes: AttachedMeshes, position: np.ndarray, rotation: np.ndarray, motion: np.ndarray,
    velocities: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return places and velocities (n, 3) of all vertices at the start.

    position, rotation : (nb + 1, 3), m, and (nb + 1, 3, 3), poses of the bodies, by slot
    motion : (nb, 6) their velocities, m/s, world, and angular velocities, rad/s, body axes
    velocities : (2, n, 3) places and velocities of the free vertices; None: in equilibrium, and moving with the bodies

    Raises StateError if there is no equilibrium.
    """
    if velocities is not None:
        x, v = velocities[0].copy(), np.zeros_like(meshes.points)
        meshes.place(position, rotation, x)
        v[meshes.free], v[meshes.held] = velocities[1, meshes.free], meshes.velocities(motion, rotation)
        return x, v
    x, v = meshes.points.copy(), np.zeros_like(meshes.points)
    meshes.place(position, rotation, x)
    equilibrium(meshes, x, meshes.turns(rotation))
    v[meshes.held] = meshes.velocities(motion, rotation)
    velocities_along(meshes, x, v, meshes.spins(motion, rotation))
    return x, v


def equilibrium(meshes: AttachedMeshes, x: np.ndarray, turns: np.ndarray) -> None:
    """Move the free vertices in ``x`` (n, 3) to equilibrium without gravity, by Newton's method.

    The attached vertices in ``x`` must be in place; ``turns`` (n, 3, 3): rotations of their bodies from the reference
    configuration. The first guess of each mesh is the rigid motion closest to that of its attached vertices; vertices
    of a net also move by the mean of their neighbours. Raises StateError if there is no equilibrium.
    """
    tied = np.setdiff1d(np.arange(len(x)), meshes.free)
    if np.array_equal(x[tied], meshes.points[tied]) and np.abs(turns[tied] - np.eye(3)).max(initial=0.0) < NO_TURN:
        x[meshes.free] = meshes.points[meshes.free]
        return
    for mesh, first, vertices, free in _parts(meshes):
        R, a, b = np.eye(3), np.zeros(3), np.zeros(3)
        if len(vertices):
            R, a, b = _closest_rotation(meshes.points[vertices], x[vertices], turns[vertices])
        x[free] = (meshes.points[free] - a) @ R.T + b
        if isinstance(mesh, SpringNet):
            x[free] += _spread(
                mesh, vertices - first, x[vertices] - ((meshes.points[vertices] - a) @ R.T + b), free - first
            )
    settling = meshes.settling
    if settling.any():
        _settle(meshes, x, settling)


def _settle(meshes: AttachedMeshes, x: np.ndarray, settling: np.ndarray) -> None:
    """Move the free vertices in ``x`` (n, 3) for which ``settling`` (free,) is true to equilibrium.

    Newton's method with line search on the energy. Raises StateError if it does not converge.
    """
    free = meshes.free[settling]
    responses = meshes.responses(x)
    energy = meshes.energy(responses)
    largest, size = float(np.abs(meshes.forces(x, responses)).max()), float(np.abs(x).max())
    for _ in range(MOST_ITERATIONS):
        force = meshes.forces(x, responses)
        K = _among(meshes.stiffness(responses, 1.0, inertia=False, projected=True).free, settling)
        firmest = K.diagonal().max()
        floor = max(AT_REST * max(largest, float(np.abs(force).max())), ROUND_OFF * firmest * size)
        if np.abs(force[free]).max() <= floor:
            return
        step = _solver(K).solve(force[free].ravel()).reshape(-1, 3)
        share, slope = 1.0, float(np.sum(step * force[free]))
        # round-off of the energy, J: of its value, of the places, and of large terms that nearly cancel
        slack = ROUND_OFF * (abs(energy) + float(np.abs(force).max()) * size + firmest * size * size)
        for _ in range(HALVINGS):
            tried = x.copy()
            tried[free] += share * step
            reaction = meshes.responses(tried)
            after = meshes.energy(reaction)
            if after <= energy - 1e-4 * share * slope + slack:
                break
            share *= 0.5
        else:
            break
        x[:], responses, energy = tried, reaction, after
    raise StateError(
        "no equilibrium of the deformable bodies was found with their bodies at the start: begin nearer to the pose in"
        " which they are undeformed"
    )


def velocities_along(meshes: AttachedMeshes, x: np.ndarray, v: np.ndarray, spins: np.ndarray) -> None:
    """Set the velocities of the free vertices in ``v`` (n, 3) so that they stay in equilibrium.

    x : (n, 3) places of all vertices
    spins : (n, 3) angular velocities of the bodies of attached vertices, rad/s, world

    Vertices of a net have the velocities that its description sets, else the mean of those of their neighbours.
    """
    if v[meshes.held].any() or spins.any():
        _move_along(meshes, x, v, spins)
    else:
        v[meshes.free] = 0.0
    for (_, first, _, free), velocity in zip(_parts(meshes), meshes.given_velocities, strict=True):
        if velocity is not None:
            v[free] = velocity[free - first]


def _move_along(meshes: AttachedMeshes, x: np.ndarray, v: np.ndarray, spins: np.ndarray) -> None:
    """Set the velocities of the free vertices in ``v`` by the velocities of attached ones; see `velocities_along`."""
    for mesh, first, vertices, free in _parts(meshes):
        v[free] = 0.0
        if len(vertices):
            places = np.concatenate([free, vertices])
            rigid = _rigid_velocity(x[vertices], v[vertices], spins[vertices], x[places])
            v[free] = rigid[: len(free)]
            if isinstance(mesh, SpringNet):
                v[free] += _spread(mesh, vertices - first, v[vertices] - rigid[len(free) :], free - first)
    settling = meshes.settling
    if settling.any():
        stiffness = meshes.stiffness(meshes.responses(x), 1.0, inertia=False)
        pulled = stiffness.free @ v[meshes.free].ravel() + stiffness.mixed @ v[meshes.held].ravel()
        K = _among(stiffness.free, settling)
        pulled = pulled[np.repeat(settling, 3)]
        if np.abs(pulled).max() <= ROUND_OFF * K.diagonal().max() * np.abs(v).max():
            return  # a rigid motion, for which K may be singular
        v[meshes.free[settling]] -= _solver(K).solve(pulled).reshape(-1, 3)


def _parts(meshes: AttachedMeshes) -> Iterator[tuple[ElasticMesh, int, np.ndarray, np.ndarray]]:
    """Yield each mesh, and the numbers among all vertices of its first, its attached and its free vertices."""
    is_free = np.zeros(len(meshes.points), dtype=bool)
    is_free[meshes.free] = True
    for mesh, first in zip(meshes.meshes, meshes.first, strict=False):
        vertices = first + np.arange(len(mesh.points))
        yield mesh, int(first), vertices[~is_free[vertices]], vertices[is_free[vertices]]


def _spread(net: SpringNet, known: np.ndarray, values: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return values (w, 3) at the vertices ``wanted`` (w,) of ``net`` from ``values`` (k, 3) at its ``known`` (k,).

    Vertices are numbered within the net. See `SpringNet.spread`.
    """
    every, mask = np.zeros_like(net.points), np.zeros(len(net.points), dtype=bool)
    every[known], mask[known] = values, True
    return net.spread(every, mask)[wanted]


def _among(K: csc_array, chosen: np.ndarray) -> csc_array:
    """Return the rows and columns of ``K`` (3 free, 3 free) of vertices for which ``chosen`` (free,) is true."""
    if chosen.all():
        return K
    columns = np.repeat(chosen, 3)
    return K[columns][:, columns]


def _solver(K):  # type: ignore[no-untyped-def]
    """Return the sparse LU of a stiffness K, N/m, shifted by `SHIFT` so that it is regular."""
    return splu((K + diags_array(np.full(K.shape[0], SHIFT * K.diagonal().max()))).tocsc())


def _closest_rotation(
    points: np.ndarray, x: np.ndarray, turns: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return R (3, 3), a (3,), b (3,) of the rigid motion R (p - a) + b that moves ``points`` (n, 3) closest to ``x``.

    ``turns`` (n, 3, 3): rotations of the bodies that hold the points. If the points lie on a line, the rotation about
    it is the one closest to their mean.
    """
    a, b = points.mean(axis=0), x.mean(axis=0)
    moments = (x - b).T @ (points - a)
    U, sizes, Vt = np.linalg.svd(moments)
    if sizes[0] <= COINCIDE * np.abs(x).max() ** 2:
        return _rotation_in(turns.mean(axis=0)), a, b
    if sizes[1] <= NARROW**2 * sizes[0]:  # on a line: its direction from the points, the turn about it from the bodies
        mean = _rotation_in(turns.mean(axis=0))
        across = mean @ Vt[1] - ((mean @ Vt[1]) @ U[:, 0]) * U[:, 0]
        size = float(np.linalg.norm(across))
        U[:, 1] = across / size if size > NARROW else U[:, 1]
        U[:, 2] = np.cross(U[:, 0], U[:, 1]) * np.linalg.det(Vt)
        return U @ Vt, a, b
    return _rotation_in(moments), a, b


def _rotation_in(matrix: np.ndarray) -> np.ndarray:
    """Return the rotation (3, 3) closest to ``matrix`` (3, 3)."""
    U, _, Vt = np.linalg.svd(matrix)
    U[:, 2] *= np.sign(np.linalg.det(U) * np.linalg.det(Vt))
    return U @ Vt


def _rigid_velocity(x: np.ndarray, v: np.ndarray, spins: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return velocities (m, 3) at the places ``at`` (m, 3) of a rigid motion fitted to ``v`` (n, 3) at ``x`` (n, 3).

    Fitted by least squares. If the points ``x`` lie on a line, the spin about it is that of the mean of ``spins``
    (n, 3), rad/s, world.
    """
    centre, mean = x.mean(axis=0), v.mean(axis=0)
    arms = x - centre
    across = np.cross(np.eye(3)[:, None], arms[None]).reshape(3, -1).T
    spin, _, rank, _ = np.linalg.lstsq(across, (v - mean).ravel(), rcond=NARROW)
    if rank < 3:
        free = spins.mean(axis=0)
        spin += free - np.linalg.lstsq(across, across @ free, rcond=NARROW)[0]
    return mean + np.cross(spin, at - centre)
