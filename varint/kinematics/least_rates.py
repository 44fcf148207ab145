"""Velocities that have prescribed joint rates and move the other joints least, in their own coordinates.

Unknowns are the rates of the tree joints that may follow and the velocities of bases that may. Of all that the joints,
the couplings and the prescribed rates allow, first the angular rates of the joints not named are the least, then the
rates of their displacements, each by the sum of squares: a base on driven wheels moves with them and does not pitch.
"""

from collections.abc import Mapping

import numpy as np

from varint.kinematics.closure import Closure, Weld, motion_of
from varint.kinematics.followers import Followers
from varint.kinematics.frames import JointFrames, forward_velocity
from varint.model.motion import Slide
from varint.model.structure import Structure
from varint.plan import Compiled
from varint.step.march.spare_workspaces import borrowed_coupled_workspace

MOST_UNKNOWNS = 600  # dense matrices of more take more than a second
NO_RANK = 1e-9  # of the norm of a matrix: smaller singular values are round-off
CORRECTIONS = 2


def least_rates(
    structure: Structure,
    compiled: Compiled,
    rates: Mapping[str, np.ndarray],
    following: Followers,
    x: np.ndarray,
    R: np.ndarray,
) -> np.ndarray:
    """Return the motion (nb + 1, 6) at a pose with the ``rates`` (dof,) of joints by name, the other rates the least.

    m/s, world, and rad/s, body axes. Rates that contradict each other are met in the least squares; joints that have
    to follow and more than `MOST_UNKNOWNS` rates are at rest.
    """
    v, w = forward_velocity(structure, compiled.topology, rates, x, R)
    motion = np.hstack([v, np.einsum("nji,nj->ni", R, w)])
    columns = _columns(structure, compiled, rates, following, x, R)
    unknowns = columns.shape[2]
    if not 0 < unknowns <= MOST_UNKNOWNS:
        return motion
    named = [JointFrames(structure, structure.joint(name)) for name in rates]
    with borrowed_coupled_workspace(compiled.plan, compiled.functions) as ws:
        welds = [Weld(frames, *frames.relative_pose(x, R)) for frames in named]
        closure = Closure(structure, compiled, asked=welds, by_arms=True, ws=ws)
        _, G = closure.evaluate(x, R, rates=True)
    size = closure.row_size(G)
    target = np.zeros(len(G))
    target[len(G) - 6 * len(named) :] = np.concatenate(
        [frames.twist(x, R, rates[frames.joint.name]) for frames in named]
    )
    left = (target - closure.along(G, motion[..., None])[:, 0]) / size
    aims = [
        (closure.along(G, columns) / size[:, None], left),
        *_rates_of_others(structure, rates, following, x, R, motion, columns),
    ]
    u, free = np.zeros(unknowns), np.eye(unknowns)
    for matrix, aim in aims:
        moving = np.any(matrix, axis=1)
        matrix, aim = matrix[moving], aim[moving]
        reduced = matrix @ free
        left_vectors, values, right_vectors = np.linalg.svd(reduced, full_matrices=len(reduced) < reduced.shape[1])
        rank = np.count_nonzero(values > NO_RANK * max(1e-300, float(np.linalg.norm(matrix))))
        for _ in range(CORRECTIONS):
            along = left_vectors[:, :rank].T @ (aim - matrix @ u) / values[:rank]
            u = u + free @ (right_vectors[:rank].T @ along)
        free = free @ right_vectors[rank:].T
    return motion + columns @ u


def _rates_of_others(
    structure: Structure,
    rates: Mapping[str, np.ndarray],
    following: Followers,
    x: np.ndarray,
    R: np.ndarray,
    motion: np.ndarray,
    columns: np.ndarray,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return (matrix, target) of the angular rates and of the rates of displacements of joints not named, to be zero.

    The velocities of bases that follow are among them.
    """
    jacobians, angular, at_rest = [np.zeros((0, columns.shape[2]))], [np.zeros(0, bool)], [np.zeros(0)]
    for number in sorted(following.joints):
        joint = structure.joints[number]
        if joint.dof and joint.name not in rates:
            frames = JointFrames(structure, joint)
            jacobian, ends = frames.rate_jacobian(x, R), [frames.a, frames.b]
            jacobians.append(np.einsum("csk,skn->cn", jacobian, columns[ends]))
            at_rest.append(-np.einsum("csk,sk->c", jacobian, motion[ends]))
            angular.append(np.array([not isinstance(motion_of(joint, k), Slide) for k in range(joint.dof)]))
    for body in sorted(following.bases):
        jacobians.append(columns[body])
        at_rest.append(-motion[body])
        angular.append(np.arange(6) >= 3)
    matrix, aim, turns = (np.concatenate(parts) for parts in (jacobians, at_rest, angular))
    return [(matrix[turns], aim[turns]), (matrix[~turns], aim[~turns])]


def _columns(
    structure: Structure,
    compiled: Compiled,
    rates: Mapping[str, np.ndarray],
    following: Followers,
    x: np.ndarray,
    R: np.ndarray,
) -> np.ndarray:
    """Return the motions (nb + 1, 6, n), m/s, world, and rad/s, body axes, by each of the n unknown rates."""
    topology, place, count = compiled.topology, {}, 0
    for body in topology.bodies:
        number = topology.tree_joint[body]
        if number is None and body in following.bases:
            place[body], count = count, count + 6
        elif number in following.joints and structure.joints[number].name not in rates:
            place[body], count = count, count + structure.joints[number].dof
    v, w = np.zeros((len(x), 3, count)), np.zeros((len(x), 3, count))
    for body in topology.bodies:
        number = topology.tree_joint[body]
        if number is None:
            if body in place:
                v[body, :, place[body] : place[body] + 3] = np.eye(3)
                w[body, :, place[body] + 3 : place[body] + 6] = np.eye(3)
            continue
        frames = JointFrames(structure, structure.joints[number])
        dv, dw = np.zeros((3, count)), np.zeros((3, count))
        if body in place:
            for k, rate in enumerate(np.eye(frames.joint.dof)):
                dv[:, place[body] + k], dw[:, place[body] + k] = frames.relative_velocity(x, R, rate)
        if body == frames.b:
            w[body] = w[frames.a] + dw
            v[body] = v[frames.a] + np.cross(w[frames.a], (x[body] - x[frames.a])[:, None], axis=0) + dv
        else:
            w[body] = w[frames.b] - dw
            v[body] = v[frames.b] - dv - np.cross(w[body], (x[frames.b] - x[body])[:, None], axis=0)
    return np.concatenate([v, np.einsum("nji,njk->nik", R, w)], axis=1)
