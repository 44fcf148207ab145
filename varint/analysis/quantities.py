"""Energy, momentum and drift of bodies at nodes. T nodes, nb bodies in the order of the description."""

from collections.abc import Iterator

import numpy as np

from varint.compile import Compiled
from varint.kernels.configuration import drift, margins
from varint.kernels.workspace import joint_workspace
from varint.model.rotation import rotation_matrix
from varint.model.structure import Structure


def kinetic_energy(structure: Structure, velocity: np.ndarray, angular_velocity: np.ndarray) -> np.ndarray:
    """(T,) J: sum of m v.v / 2 + w.J w / 2 (VI eqs. 19, 21); velocities (T, nb, 3) in the world and in the body."""
    mass, inertia = _masses(structure)
    linear = np.einsum("n,tni,tni->t", mass, velocity, velocity)
    angular = np.einsum("tni,nij,tnj->t", angular_velocity, inertia, angular_velocity, optimize=True)
    return 0.5 * (linear + angular)


def potential_energy(structure: Structure, position: np.ndarray) -> np.ndarray:
    """(T,) J of gravity, zero at the origin: sum of -m g.x (VI eq. 20)."""
    return -np.einsum("n,i,tni->t", _masses(structure)[0], structure.gravity, position, optimize=True)


def linear_momentum(structure: Structure, velocity: np.ndarray) -> np.ndarray:
    """(T, 3) N s, world."""
    return np.einsum("n,tni->ti", _masses(structure)[0], velocity)


def angular_momentum(
    structure: Structure,
    position: np.ndarray,
    quat_wxyz: np.ndarray,
    velocity: np.ndarray,
    angular_velocity: np.ndarray,
) -> np.ndarray:
    """(T, 3) N m s about the world's origin, world: sum of m x times v + R J w."""
    mass, inertia = _masses(structure)
    orbital = np.einsum("n,tni->ti", mass, np.cross(position, velocity))
    own = np.einsum("nij,tnj->tni", inertia, angular_velocity)
    return orbital + np.einsum("tnij,tnj->ti", rotation_matrix(quat_wxyz), own)


def joint_drift(compiled: Compiled, position: np.ndarray, quat_wxyz: np.ndarray) -> np.ndarray:
    """(T,) m: largest violation of a constraint row at each node; angles count times the mechanism's part size."""
    out = np.empty(len(position))
    drift(compiled.plan, joint_workspace(compiled.plan), *_poses(compiled, position, quat_wxyz), out)
    return out


def rank_margin(compiled: Compiled, position: np.ndarray, quat_wxyz: np.ndarray) -> np.ndarray:
    """(T,) how far from singular the loops are at each node: 1 at most, and where there is no loop; 0 singular.

    Near a pose where links get in line it falls like the sine of the angle between them. The root of a pivot: its
    size elsewhere depends on which joints are cut.
    """
    margin, rank = np.ones(len(position)), np.zeros(len(position), dtype=np.int64)
    if compiled.topology.clusters:
        margins(compiled.plan, joint_workspace(compiled.plan), *_poses(compiled, position, quat_wxyz), margin, rank)
    return np.where(rank < rank.max(initial=0), 0.0, margin)


def _poses(compiled: Compiled, position: np.ndarray, quat_wxyz: np.ndarray) -> Iterator[np.ndarray]:
    """The same in kernel order, contiguous."""
    return (np.ascontiguousarray(array[:, compiled.order]) for array in (position, quat_wxyz))


def _masses(structure: Structure) -> tuple[np.ndarray, np.ndarray]:
    return np.array([body.mass for body in structure.bodies]), np.array([body.inertia for body in structure.bodies])
