"""S of a whole joint, its time derivative and its derivatives by the coordinates, for every joint of the registry.

Column j of S belongs to a motion; those after it move frame b on: S_j = Ad(Q_after^-1) s_j. Hence, for a coordinate k
of a later motion, dS_j/dq_k = [S_j, S_k] (the bracket of twists), for one of the same motion what its own
chart gives, and zero for an earlier one.
"""

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from varint.kernels.products import ZERO3, ZERO6, stage_twists, three
from varint.kernels.rotation import right_jacobian_along
from varint.model.motion import Ball, joint_pose, motion_subspace
from varint.model.product import Product
from varint.products import table_of


class JointMotion(NamedTuple):
    """Frame b seen from frame a; twists of b at b's origin in b's axes, angular first.

    R : (3, 3), p : (3,) pose, m
    S : (6, dof) twist by the rates
    Sdot : (6, dof) its time derivative
    dS : (6, dof, dof) derivatives of S, the last index that of the coordinate
    """

    R: np.ndarray
    p: np.ndarray
    S: np.ndarray
    Sdot: np.ndarray
    dS: np.ndarray


def joint_motion(joint, q, qdot) -> JointMotion:
    """Pose and motion subspace of ``joint`` at coordinates ``q`` (dof,) and rates ``qdot`` (dof,)."""
    q, qdot = np.asarray(q, dtype=float), np.asarray(qdot, dtype=float)
    S, dS = motion_subspace(joint, q), np.zeros((6, joint.dof, joint.dof))
    first = 0
    for n, motion in enumerate(joint.allowed):
        last = first + motion.size
        for j in range(first, last):
            for k in range(last, joint.dof):
                dS[:, j, k] = bracket(S[:, j], S[:, k])
        if isinstance(motion, Ball | Product):
            turn, shift = joint_pose(SimpleNamespace(allowed=joint.allowed[n + 1 :]), q[last:])
            for j, k in np.ndindex(last - first, last - first):
                w, v = _own_derivative(motion, q[first:last], *np.eye(last - first)[[j, k]])
                dS[:, first + j, first + k] = np.concatenate([turn.T @ w, turn.T @ (v + np.cross(w, shift))])
        first = last
    R, p = joint_pose(joint, q)
    return JointMotion(R, p, S, dS @ qdot, dS)


def _own_derivative(motion, q, z, u):
    """dS u z of a motion alone, (w, v)."""
    if isinstance(motion, Ball):
        return np.array(right_jacobian_along(q, u, z)), np.zeros(3)
    q, z, u = (three(part, 0, motion.size) for part in (q, z, u))
    return np.array(stage_twists(table_of([motion]), 0, q, z, u, ZERO3, ZERO6, ZERO6, ZERO6, ZERO6)[1])


def bracket(a, b):
    """The bracket of twists (6,), angular first: ad(a) b."""
    return np.concatenate([np.cross(a[:3], b[:3]), np.cross(a[:3], b[3:]) + np.cross(a[3:], b[:3])])
