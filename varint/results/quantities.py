"""Energy and momentum of bodies, and the margin of loops, at nodes. T nodes, nb bodies in the order of the description.

A node has the same bits whatever other nodes are beside it: sums go over contiguous rows, and no BLAS is called.
"""

from collections.abc import Iterator

import numpy as np

from varint.model.structure import Structure
from varint.plan import Compiled
from varint.step.configuration import margins
from varint.step.energy.bodies import angular_momenta, kinetic_energies
from varint.step.workspace import joint_workspace


def kinetic_energy(structure: Structure, velocity: np.ndarray, angular_velocity: np.ndarray) -> np.ndarray:
    """Return the kinetic energy (T,), J: sum of m v.v / 2 + w.J w / 2 (VI eqs. 19, 21)."""
    out = np.empty(len(velocity))
    kinetic_energies(*_masses(structure), *map(np.ascontiguousarray, (velocity, angular_velocity)), out)
    return out


def potential_energy(structure: Structure, position: np.ndarray) -> np.ndarray:
    """Return the potential energy (T,), J, of gravity, zero at the origin: sum of -m g.x (VI eq. 20)."""
    return -row_sums(_masses(structure)[0][:, None] * structure.gravity * position)


def linear_momentum(structure: Structure, velocity: np.ndarray) -> np.ndarray:
    """Return the linear momentum (T, 3), N s, world."""
    return np.sum(_masses(structure)[0][:, None] * velocity, axis=1)


def angular_momentum(
    structure: Structure,
    position: np.ndarray,
    quat_wxyz: np.ndarray,
    velocity: np.ndarray,
    angular_velocity: np.ndarray,
) -> np.ndarray:
    """Return the angular momentum (T, 3), N m s, about the world's origin, world: sum of m x times v + R J w."""
    out = np.empty((len(position), 3))
    nodes = tuple(map(np.ascontiguousarray, (position, quat_wxyz, velocity, angular_velocity)))
    angular_momenta(*_masses(structure), nodes, np.empty((3, 3)), out)
    return out


def rank_margin(compiled: Compiled, position: np.ndarray, quat_wxyz: np.ndarray) -> np.ndarray:
    """Return the distance (T,) of the loops from singular at each node: at most 1, also without loops; 0 singular.

    Near a pose where links get in line it falls like the sine of the angle between them. The root of a pivot: its
    size elsewhere depends on which joints are cut.
    """
    margin, rank = np.ones(len(position)), np.zeros(len(position), dtype=np.int64)
    if compiled.topology.clusters:
        margins(compiled.plan, joint_workspace(compiled.plan), *_poses(compiled, position, quat_wxyz), margin, rank)
    return np.where(rank < rank.max(initial=0), 0.0, margin)


def _poses(compiled: Compiled, position: np.ndarray, quat_wxyz: np.ndarray) -> Iterator[np.ndarray]:
    """Return the arrays in kernel order, contiguous."""
    return (np.ascontiguousarray(array[:, compiled.order]) for array in (position, quat_wxyz))


def _masses(structure: Structure) -> tuple[np.ndarray, np.ndarray]:
    return np.array([body.mass for body in structure.bodies]), np.array([body.inertia for body in structure.bodies])


def row_sums(values: np.ndarray) -> np.ndarray:
    """Return the sums (T,) of the numbers (T, ...) of each node."""
    return np.ascontiguousarray(values).reshape(len(values), -1).sum(axis=1)
