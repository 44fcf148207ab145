"""The loop closures of a mechanism: the rows of its cut joints, the same as those of the variational form."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from varint.compile import Compiled
from varint.kernels.plan import JOINT, Workspace
from varint.kernels.reactions import quadratic_terms
from varint.kernels.rows import evaluate_rows
from varint.products.coordinates import follow


class Rows(NamedTuple):
    """m rows at a pose and velocity; those of angles times the mechanism's part size.

    value : (m,) m
    rate : (m,) m/s
    bias : (m,) m/s^2, second time derivative at zero acceleration of the bodies
    jacobian : (m, 2, 6) by the motions of two bodies: m, world, and rad, body axes
    """

    value: np.ndarray
    rate: np.ndarray
    bias: np.ndarray
    jacobian: np.ndarray


class Closures:
    """Evaluates the rows of the cut joints, numbers ``rows`` (m,) of the plan; ``side`` (m, 2): slots of their bodies.

    ``ws``: workspace in which the coordinates of products of exponentials are followed.
    """

    def __init__(self, compiled: Compiled, ws: Workspace) -> None:
        plan, joints = compiled.plan, compiled.plan.joints
        nb, of_joint = plan.bodies.mass.size, np.diff(plan.joints.rows)
        cut = np.repeat(np.arange(of_joint.size), of_joint) >= nb
        self.rows = np.flatnonzero(cut & (plan.rows.role == JOINT))
        self.joint = np.repeat(compiled.joints, of_joint)[self.rows]  # of the description
        self.ws = ws
        cut_joints = replace(
            joints, side=joints.side[nb:], first_body=joints.first_body[nb:], rows=joints.rows[nb:],
            product=joints.product[nb:],
        )  # fmt: skip
        self.plan = replace(plan, joints=cut_joints)
        self.products = [int(n) for n in joints.product[nb:] if n >= 0]
        self.scale = plan.rows.scale[self.rows]
        self.side = plan.measures.body[self.rows]
        self._second, self._change = np.zeros(len(self)), np.zeros((len(self), 2, 6))

    def __len__(self) -> int:
        return self.rows.size

    def evaluate(self, position: np.ndarray, rotation: np.ndarray, velocity: np.ndarray) -> Rows:
        """Rows at poses (nb + 1, 3), (nb + 1, 3, 3), the world last, and velocities (nb, 6)."""
        plan, ws, rows, scale = self.plan, self.ws, self.rows, self.scale
        for n in self.products:
            follow(plan.products, ws.products, n, position, rotation)
        evaluate_rows(plan, ws, position, rotation, ws.residual_row, ws.jacobian[0])
        quadratic_terms(plan, ws, rows, position, rotation, velocity, self._change, self._second)
        jacobian = scale[:, None, None] * ws.jacobian[0, rows]
        motion = np.vstack([velocity, np.zeros(6)])[self.side]
        rate = np.einsum("rsk,rsk->r", jacobian, motion)
        return Rows(scale * ws.residual_row[rows], rate, scale * self._second, jacobian)
