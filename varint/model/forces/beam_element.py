"""An elastic element of a beam between two of its nodes."""

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from varint.base.checks import array_of, check_name
from varint.base.errors import ArgumentError, MechanismError
from varint.measures import Measure
from varint.measures.middle import MiddleDisplacement
from varint.measures.rotation import RotationComponent
from varint.model.arrays import Matrix, Values, Vector
from varint.model.forces.base import Effort, Element, Force, register
from varint.model.forces.spring import SPRING

if TYPE_CHECKING:
    from varint.model.structure import Structure


@register
@dataclass(frozen=True, eq=False)
class BeamElement(Force):
    """Six springs and dampers between ``point_a`` of body a and ``point_b`` of body b (3,), m, world, reference.

    They act in the frame halfway between the two bodies, so the element is the same seen from either: along the three
    ``axes`` (3, 3), columns, world, reference, on the displacement of the points (m), then on the rotation vector of b
    from a (rad, below pi). ``stiffness``, ``damping`` (6,): N/m, N m/rad, N s/m, N m s/rad. No effort in the reference.

    Its effort as one number has no meaning: `section_forces` has all six.
    """

    body_a: str
    body_b: str
    point_a: Vector = field(kw_only=True)
    point_b: Vector = field(kw_only=True)
    axes: Matrix = field(default_factory=lambda: np.eye(3), kw_only=True)
    stiffness: Values = field(kw_only=True)
    damping: Values = field(default_factory=lambda: np.zeros(6), kw_only=True)

    look: ClassVar[str] = "beam"
    mean_rates: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.body_a == self.body_b:
            raise MechanismError(f"{self.label} needs two bodies, got '{self.body_a}' twice")
        for name, shape in (
            ("point_a", (3,)),
            ("point_b", (3,)),
            ("axes", (3, 3)),
            ("stiffness", (6,)),
            ("damping", (6,)),
        ):
            self._set(name, array_of(getattr(self, name), shape, f"{name} of {self.label}"))
        if not np.allclose(self.axes.T @ self.axes, np.eye(3), atol=1e-8) or np.linalg.det(self.axes) < 0:
            raise MechanismError(f"axes of {self.label} must be the columns of a rotation matrix")
        for name in ("stiffness", "damping"):
            if (getattr(self, name) < 0.0).any():
                raise MechanismError(f"{name} of {self.label} must not be negative, got {getattr(self, name).tolist()}")

    def course(self) -> list[tuple[str, np.ndarray]]:
        return [(self.body_a, self.point_a), (self.body_b, self.point_b)]

    def elements(self, structure: "Structure") -> list[Element]:
        a, b = (self._body(structure, name) for name in (self.body_a, self.body_b))
        shifts: list[Measure] = [MiddleDisplacement(a, b, axis, self.point_b, self.point_a) for axis in self.axes.T]
        turns: list[Measure] = [RotationComponent(a, b, axis) for axis in self.axes.T]
        return [
            Effort((measure,), SPRING, {"stiffness": float(k), "rest": 0.0, "damping": float(d)})
            for measure, k, d in zip([*shifts, *turns], self.stiffness, self.damping, strict=True)
        ]


def elements_of_beam(structure: "Structure", name: str) -> dict[int, BeamElement]:
    """Return the elements of a beam, "NAME 0", "NAME 1" ..., by their numbers among the forces of a mechanism.

    ``name``: that `beam` was called with. Raises ArgumentError.
    """
    name = check_name(name, "a beam", ArgumentError)
    elements = {}
    for k, force in enumerate(structure.forces):
        number = re.fullmatch(re.escape(name) + r" (\d+)", force.name)
        if number and isinstance(force, BeamElement):
            elements[int(number[1])] = k, force
    if not elements:
        alike = [force for force in structure.forces if force.name == f"{name} 0"]
        hint = (
            f": '{name} 0' is a {type(alike[0]).__name__}, of which run.force['{name} 0'] has the force"
            if alike
            else ""
        )
        raise ArgumentError(f"mechanism '{structure.name}' has no beam '{name}'{hint}")
    return dict(elements[number] for number in sorted(elements))
