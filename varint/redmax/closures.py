"""The rows that close a mechanism in reduced coordinates, the same as those of the variational form.

Of its cut joints, the rigid ones of joints with a compliance, of points and bodies whose motion is prescribed, which
have targets that change with time, and of one-sided rows in contact.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from varint.compile import Compiled
from varint.inputs.courses import Course
from varint.kernels.constraints import follow_constraints
from varint.kernels.node_reactions import quadratic_terms
from varint.kernels.plan import JOINT, Workspace
from varint.kernels.rows import evaluate_rows
from varint.products.product_coordinates import follow
from varint.terms.kernels.term_rows import evaluate_gaps, one_sided


class ClosureRows(NamedTuple):
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
    """Evaluates the rows of the cut joints, of prescribed motions, less their targets, and one-sided ones, see `hold`.

    ``rows`` (m,): their numbers in the plan; ``side`` (m, 2): slots of their bodies; ``jacobian`` (m, 2, 6): that of
    the last `evaluate`; ``with_value`` (m,): False for rows of rates, whose value is always zero.

    Parameters
    ----------
    compiled : Compiled
    ws : Workspace
        In which the coordinates of products of exponentials are followed.
    moved : sequence of (elements, course)
        Prescribed motions, with the numbers of their elements.
    freed : sequence of int
        Joints of the description with compliant rows, `Free` in the tree.
    """

    def __init__(
        self,
        compiled: Compiled,
        ws: Workspace,
        moved: Sequence[tuple[np.ndarray, Course]] = (),
        freed: Sequence[int] = (),
    ) -> None:
        plan, joints = compiled.plan, compiled.plan.joints
        nb, of_joint = plan.bodies.mass.size, np.diff(plan.joints.rows)
        number, of_joints = np.repeat(np.arange(of_joint.size), of_joint), plan.rows.role == JOINT
        loose = np.isin(np.repeat(compiled.joints, of_joint), freed) & of_joints
        closing = np.flatnonzero(((number >= nb) & of_joints) | loose)
        self.courses = [course for _, course in moved]
        elements = np.concatenate([np.zeros(0, dtype=np.int64), *(own for own, _ in moved)])
        row_of = dict(zip(plan.constraints.element.tolist(), plan.constraints.row.tolist(), strict=True))
        self.moved_rows = np.array([row_of[e] for e in elements.tolist()], dtype=np.int64)
        self.moved = slice(closing.size, closing.size + self.moved_rows.size)  # of all rows
        self.rows = np.concatenate([closing, self.moved_rows])
        self.whole = plan
        self.joint = np.repeat(compiled.joints, of_joint)[self.rows]  # of the description
        self.ws = ws
        first = 0 if loose.any() else nb
        cut_joints = replace(
            joints, side=joints.side[first:], first_body=joints.first_body[first:], rows=joints.rows[first:],
            product=joints.product[first:], pair=np.zeros_like(joints.pair),
        )  # fmt: skip
        self.plan = replace(plan, joints=cut_joints)
        self._cut_products = set(joints.product[nb:].tolist())
        self.targets, self.time = np.zeros((3, len(self))), np.nan
        count = one_sided(plan).measure.size
        self._gap, self._gradient = np.zeros(count), np.zeros((count, 2, 6))
        self.held_rows = np.zeros(0, dtype=np.int64)
        self.hold(self.held_rows)

    def __len__(self) -> int:
        return self.rows.size

    def hold(self, numbers: np.ndarray) -> None:
        """Make the last rows the one-sided ones with the ``numbers`` (n,), which stay at their values."""
        plan, first = self.whole, self.moved.stop
        self.ws.compliance[self.held_rows] = 1.0  # rows of efforts, which have no curvature
        self.held, self.held_rows = numbers, plan.measures.row[one_sided(plan).measure[numbers]]
        self.ws.compliance[self.held_rows] = 0.0
        self.rows = np.concatenate([self.rows[:first], self.held_rows])
        measured = self._cut_products.union(plan.measures.product[self.rows[self.moved.start :]].tolist())
        self.products = sorted(n for n in measured if n >= 0)  # those to follow
        self.scale, self.side = plan.rows.scale[self.rows], plan.measures.body[self.rows]
        self.with_value = ~np.isin(self.rows, plan.constraints.rate)
        self.jacobian = np.zeros((len(self), 2, 6))
        self._second, self._change = np.zeros(len(self)), np.zeros((len(self), 2, 6))
        self.targets = np.hstack([self.targets[:, :first], np.zeros((3, numbers.size))])

    def at(self, t: float) -> None:
        """Targets, their rates and the rates of these are those of time ``t``, s, from now on."""
        if self.courses and t != self.time:
            found = np.concatenate([course(t) for course in self.courses], axis=1)
            if np.isnan(self.time):  # angles count their turns from here
                self.ws.efforts.value_near[self.moved_rows] = found[0]
            self.targets[:, self.moved] = self.scale[self.moved] * found
            self.time = t

    def evaluate(self, position: np.ndarray, rotation: np.ndarray, velocity: np.ndarray) -> ClosureRows:
        """Rows at poses (nb + 1, 3), (nb + 1, 3, 3), the world last, and velocities (nb, 6)."""
        plan, ws, rows, scale = self.plan, self.ws, self.rows, self.scale
        for n in self.products:
            follow(plan.products, ws.products, n, position, rotation, True)
        evaluate_rows(plan, ws, position, rotation, ws.residual_row, ws.jacobian[0])
        if self.courses:
            follow_constraints(self.whole, ws, position, rotation)
            ws.residual_row[self.moved_rows] = ws.efforts.value_near[self.moved_rows]
            ws.jacobian[0, self.moved_rows] = ws.efforts.gradient[self.moved_rows]
        if self.held.size:
            evaluate_gaps(self.whole, ws, position, rotation, self._gap, self._gradient)
            ws.residual_row[self.held_rows] = -(one_sided(plan).sign * self._gap)[self.held]
            ws.jacobian[0, self.held_rows] = self._gradient[self.held]
        quadratic_terms(plan, ws, rows, position, rotation, velocity, self._change, self._second)
        jacobian = scale[:, None, None] * ws.jacobian[0, rows]
        motion = np.vstack([velocity, np.zeros(6)])[self.side]
        rate = np.einsum("rsk,rsk->r", jacobian, motion)
        self.jacobian = jacobian
        value, rate, second = np.array([scale * ws.residual_row[rows], rate, scale * self._second]) - self.targets
        return ClosureRows(value, rate, second, jacobian)
