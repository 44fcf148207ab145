"""The springs in place of the rows of a joint that has a compliance."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from varint.measures import Measure
from varint.measures.base import Numbers
from varint.model.forces.base import Effort, Element, Force
from varint.model.forces.spring import SPRING
from varint.model.joints.base import Joint

if TYPE_CHECKING:
    from varint.model.structure import Structure


@dataclass(frozen=True, eq=False)
class JointRow(Measure):
    """The value of a ``row`` of a joint, m or rad: ``axes`` (3, 3) and anchors (3,), world, reference."""

    row: Any
    axes: np.ndarray
    point: np.ndarray
    point_b: np.ndarray

    @property
    def kind(self) -> str:  # type: ignore[override]
        """Name in the registry."""
        return str(self.row.kind)

    def numbers(self, A, x_a, B, x_b) -> Numbers:
        return self.row.numbers(A.T @ self.axes, A.T @ (self.point - x_a), B.T @ self.axes, B.T @ (self.point_b - x_b))


@dataclass(frozen=True, eq=False)
class JointCompliance(Force):
    """The compliant rows of ``joint``: efforts -(g + damping_time dg/dt) / compliance (NOTES 0.11).

    A mechanism has one for each joint with a compliance, before its other forces. Its effort as one number has no
    meaning; the joint's reaction is that of all rows.
    """

    joint: str

    @property
    def label(self) -> str:
        return f"compliance of joint '{self.joint}'"

    def elements(self, structure: "Structure") -> list[Element]:
        joint = self._joint(structure, self.joint)
        a, b = structure.anchors(joint)
        beta = joint.damping_time or 0.0
        return [
            Effort(
                (JointRow(joint.body_a, joint.body_b, row, joint.frame, a, b),),
                SPRING,
                {"stiffness": 1.0 / alpha, "rest": 0.0, "damping": beta / alpha},
                compliant=True,
            )
            for row, alpha in zip(joint.forbidden, joint.compliances.tolist(), strict=True)
            if alpha > 0.0
        ]


def with_compliances(forces: Sequence[Force], joints: Sequence[Joint]) -> tuple[Force, ...]:
    """Return the ``forces`` after one for each of the ``joints`` with compliant rows."""
    compliances = [JointCompliance(f"{joint.name} compliance", joint.name) for joint in joints if joint.compliant]
    return (*compliances, *(force for force in forces if not isinstance(force, JointCompliance)))
