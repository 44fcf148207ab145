"""The loop closures of a mechanism: the rows of its cut joints, the same as those of the variational form."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from varint.compile import Compiled
from varint.kernels.configuration import follow_products
from varint.kernels.reactions import quadratic_terms
from varint.kernels.rows import evaluate_rows
from varint.kernels.workspace import near_of


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
    """Evaluates the rows of the cut joints; ``side`` (m, 2): slots of their bodies."""

    def __init__(self, compiled: Compiled) -> None:
        plan = compiled.plan
        nb, total = plan.mass.size, plan.row_c.size
        self.plan = replace(
            plan, side=plan.side[nb:], first_body=plan.first_body[nb:], joint_rows=plan.joint_rows[nb:],
            joint_product=plan.joint_product[nb:], joint_known=plan.joint_known[nb:],
            product_joint=plan.product_joint[plan.product_joint >= nb] - nb,
        )  # fmt: skip
        self._near = near_of(plan)
        self.first = int(plan.joint_rows[nb])
        self.scale = plan.row_scale[self.first :]
        self.side = np.repeat(plan.side[nb:], np.diff(plan.joint_rows[nb:]), axis=0)
        self.flip = np.repeat(plan.first_body[nb:], np.diff(plan.joint_rows[nb:]))
        self.kind, self.u = plan.row_kind[self.first :], plan.row_u[self.first :]
        self.w, self.c = plan.row_w[self.first :], plan.row_c[self.first :]
        self._g, self._second, self._aim = np.zeros((3, total))
        self._jacobian = np.zeros((total, 2, 6))

    def __len__(self) -> int:
        return self.scale.size

    def evaluate(self, position: np.ndarray, rotation: np.ndarray, velocity: np.ndarray) -> Rows:
        """Rows at poses (nb + 1, 3), (nb + 1, 3, 3), the world last, and velocities (nb, 6)."""
        if self.plan.product_joint.size:
            follow_products(self.plan, position, rotation, self._near)
        evaluate_rows(self.plan, position, rotation, self._near, self._aim, self._g, self._jacobian)
        quadratic_terms(self.plan, position, rotation, velocity, self._near, self._second)
        scale = self.scale
        jacobian = scale[:, None, None] * self._jacobian[self.first :]
        motion = np.vstack([velocity, np.zeros(6)])[self.side]
        rate = np.einsum("rsk,rsk->r", jacobian, motion)
        return Rows(scale * self._g[self.first :], rate, scale * self._second[self.first :], jacobian)
