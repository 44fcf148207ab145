"""The rows that close a mechanism in reduced coordinates, the same as in the variational form.

They belong to cut joints, to the rigid rows of joints with a compliance, to attachments, to points and bodies whose
motion is prescribed, which have targets that change with time, and to one-sided rows in contact. Each is a sum of
parts, which are about two bodies: one part for each body of an attachment, one in all other cases.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from varint.mathematics.products.coordinates import follow
from varint.plan import Compiled
from varint.results.inputs.courses import Course
from varint.step.constraints import follow_constraints
from varint.step.limits.gaps import evaluate_gaps
from varint.step.limits.parts import one_sided
from varint.step.nodes.reactions import quadratic_terms
from varint.step.plan import JOINT, Workspace
from varint.step.rows import evaluate_rows

NONE = np.zeros(0, dtype=np.int64)


class ClosureRows(NamedTuple):
    """m rows of p parts at a pose and velocity; rows of angles are multiplied by the mechanism's part size.

    value : (m,) m
    rate : (m,) m/s
    bias : (m,) m/s^2, second time derivative at zero acceleration of the bodies
    jacobian : (p, 2, 6) by the motions of two bodies: m, world, and rad, body axes
    """

    value: np.ndarray
    rate: np.ndarray
    bias: np.ndarray
    jacobian: np.ndarray


class Closures:
    """Evaluates the rows of cut joints, of attachments, of prescribed motions, less their targets, and one-sided ones.

    ``rows`` (p,): numbers of their parts in the plan; ``side`` (p, 2): slots of their bodies; ``jacobian`` (p, 2, 6):
    that of the last `evaluate`; ``first`` (m,): the first part of each row; ``with_value`` (m,): False for rows of
    rates, whose value is always zero. For one-sided rows see `hold`.

    Parameters
    ----------
    compiled : Compiled
    ws : Workspace
        In which the coordinates of products of exponentials are followed.
    moved : sequence of (elements, course)
        Prescribed motions, with the numbers of their elements.
    freed : sequence of int
        Joints of the description with compliant rows, `Free` in the tree.
    attached : (n,) int
        Elements of attachments.
    """

    def __init__(
        self,
        compiled: Compiled,
        ws: Workspace,
        moved: Sequence[tuple[np.ndarray, Course]] = (),
        freed: Sequence[int] = (),
        attached: np.ndarray = NONE,
    ) -> None:
        plan, joints = compiled.plan, compiled.plan.joints
        nb, of_joint = plan.bodies.mass.size, np.diff(plan.joints.rows)
        number, of_joints = np.repeat(np.arange(of_joint.size), of_joint), plan.rows.role == JOINT
        loose = np.isin(np.repeat(compiled.joints, of_joint), freed) & of_joints
        closing = np.flatnonzero(((number >= nb) & of_joints) | loose)
        self.courses = [course for _, course in moved]
        elements = np.concatenate([NONE, *(numbers for numbers, _ in moved)])
        of = dict(zip(plan.constraints.element.tolist(), range(plan.constraints.row.size), strict=True))
        kept = np.flatnonzero(np.isin(plan.constraints.element, attached))  # by name, whatever their order
        kept = np.concatenate([kept, np.array([of[e] for e in elements.tolist()], dtype=np.int64)])
        row, size = plan.constraints.row[kept], plan.constraints.size[kept]
        self.kept_rows = np.concatenate([NONE, *(np.arange(r, r + n) for r, n in zip(row, size, strict=True))])
        self.moved_rows = row[kept.size - elements.size :]
        start = closing.size + kept.size - elements.size
        self.moved = slice(start, start + elements.size)  # of all rows
        self.rows = np.concatenate([closing, self.kept_rows])
        self.first = np.concatenate([np.arange(closing.size), closing.size + np.cumsum(size) - size])
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
        self._lasting = self.rows.size  # parts before the held ones
        self.targets, self.time = np.zeros((3, len(self))), np.nan
        count = one_sided(plan).measure.size
        self._gap, self._gradient = np.zeros(count), np.zeros((count, 2, 6))
        self.held_rows = np.zeros(0, dtype=np.int64)
        self.hold(self.held_rows)

    def __len__(self) -> int:
        return self.first.size

    @property
    def held_parts(self) -> slice:
        """Numbers of the parts of one-sided rows."""
        return slice(self._lasting, self.rows.size)

    def summed(self, parts: np.ndarray) -> np.ndarray:
        """Return the rows (m + k, ...): sums of ``parts`` (p + k, ...), the last k as they are."""
        if self.rows.size == self.first.size:
            return parts
        return np.add.reduceat(parts, np.append(self.first, np.arange(self.rows.size, len(parts))))

    def of_parts(self, rows: np.ndarray) -> np.ndarray:
        """Return the entries (p, ...) of ``rows`` (m, ...) for each of their parts."""
        if self.rows.size == self.first.size:
            return rows
        return np.repeat(rows, np.diff(self.first, append=self.rows.size), axis=0)

    def hold(self, numbers: np.ndarray) -> None:
        """Make the last rows the one-sided ones with the ``numbers`` (n,), which stay at their values."""
        plan = self.whole
        self.ws.released[self.held_rows] = 1.0  # rows of efforts, which have no curvature
        self.held, self.held_rows = numbers, plan.measures.row[one_sided(plan).measure[numbers]]
        self.ws.released[self.held_rows] = 0.0
        self.rows = np.concatenate([self.rows[: self._lasting], self.held_rows])
        held = np.arange(self._lasting, self.rows.size)
        self.first = np.concatenate([self.first[: self.moved.stop], held])
        measured = self._cut_products.union(plan.measures.product[[*self.kept_rows, *self.held_rows]].tolist())
        self.products = sorted(n for n in measured if n >= 0)  # to be followed
        self.scale, self.side = plan.rows.scale[self.rows], plan.measures.body[self.rows]
        self.with_value = ~np.isin(self.rows[self.first], plan.constraints.rate)
        self.jacobian, self._change = np.zeros((2, self.rows.size, 2, 6))
        self._second = np.zeros(self.rows.size)
        self.targets = np.hstack([self.targets[:, : self.moved.stop], np.zeros((3, numbers.size))])

    def at(self, t: float) -> None:
        """Set the targets, their rates and second rates to time ``t``, s."""
        if self.courses and t != self.time:
            targets = np.concatenate([course(t) for course in self.courses], axis=1)
            if np.isnan(self.time):  # angles count their turns from here
                self.ws.efforts.value_near[self.moved_rows] = targets[0]
            self.targets[:, self.moved] = self.scale[self.first[self.moved]] * targets
            self.time = t

    def evaluate(self, position: np.ndarray, rotation: np.ndarray, velocity: np.ndarray) -> ClosureRows:
        """Return the rows at poses (nb + 1, 3), (nb + 1, 3, 3), the world last, and velocities (nb, 6)."""
        plan, ws, rows, scale = self.plan, self.ws, self.rows, self.scale
        for n in self.products:
            follow(plan.products, ws.products, n, position, rotation, True)
        evaluate_rows(plan, ws, position, rotation, ws.residual_row, ws.jacobian[0])
        if self.kept_rows.size:
            follow_constraints(self.whole, ws, position, rotation)
            kept, weight = self.kept_rows, plan.measures.weight[self.kept_rows]
            ws.residual_row[kept] = weight * ws.efforts.value_near[kept]
            ws.jacobian[0, kept] = weight[:, None, None] * ws.efforts.gradient[kept]
        if self.held.size:
            evaluate_gaps(self.whole, ws, position, rotation, self._gap, self._gradient)
            ws.residual_row[self.held_rows] = -(one_sided(plan).sign * self._gap)[self.held]
            ws.jacobian[0, self.held_rows] = self._gradient[self.held]
        quadratic_terms(plan, ws, rows, position, rotation, velocity, self._change, self._second)
        jacobian = scale[:, None, None] * ws.jacobian[0, rows]
        motion = np.vstack([velocity, np.zeros(6)])[self.side]
        rate = np.einsum("rsk,rsk->r", jacobian, motion)
        self.jacobian = jacobian
        sums = self.summed(np.array([scale * ws.residual_row[rows], rate, scale * self._second]).T).T
        value, rate, second = sums - self.targets
        return ClosureRows(value, rate, second, jacobian)
