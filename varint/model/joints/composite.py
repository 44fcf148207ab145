"""Several joints in a row, without bodies in between."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from varint.base.checks import kind_of, made, sequence_of, shown
from varint.base.errors import MechanismError
from varint.model.joints.base import NAMES, ProductJoint, register
from varint.model.motion import Ball, Motion, Shift, Slide, Turn
from varint.model.product_joint import Product, adjoint, along_screw, inverse, pose_matrix

OWN = ("name", "body_a", "body_b", "compliance", "damping_time")  # of the composite, not of its parts


@register
@dataclass(frozen=True, eq=False)
class Composite(ProductJoint):
    """Joints one after another, as if massless bodies were between them (DIFF section 2.4.10).

    ``parts``: sequence of dicts, ``{"type": "Revolute", "axis": (0, 0, 1)}``, with the arguments of a joint of that
    type but its name and bodies; ``point`` is that of the composite where not given. Coordinates: those of the
    parts, in order; rotation vectors in axes of the world in the reference configuration.
    """

    parts: tuple = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        parts = sequence_of(self.parts, f"parts of {self.label}", "joints")
        if not parts:
            raise MechanismError(f"parts of {self.label} must be a list of joints, got {shown(self.parts)}")
        try:
            self._set("parts", tuple(_plain(part) for part in parts))
            dof = self.dof
        except RecursionError:
            raise MechanismError(f"parts of {self.label} are nested too deep") from None
        if dof > 6:
            raise MechanismError(f"{self.label} has {self.dof} coordinates: a body has six")

    @cached_property
    def allowed(self) -> tuple[Motion, ...]:
        return tuple(motion for number, part in enumerate(self.parts) for motion in self._motions(number, part))

    def _motions(self, number: int, part: Mapping) -> Iterator[Motion]:
        label = f"part {number} of {self.label}"
        if not isinstance(part, Mapping):
            raise MechanismError(f"{label} must be a dict with a joint's type and arguments, got {shown(part)}")
        kind = kind_of(part, NAMES, label, "joint")
        for key in OWN:
            if key in part:
                raise MechanismError(f"{label}: no {key!r}, it is that of the composite")
        common = {
            "name": f"{self.name}: part {number}",
            "body_a": self.body_a,
            "body_b": self.body_b,
            "point": self.point,
        }
        joint = made(kind, common | {key: value for key, value in part.items() if key != "type"}, label)
        assert self.point is not None  # since it was made
        if joint.point is None:
            raise MechanismError(f"{label} needs point=, its anchor in the reference configuration")
        offset = joint.point - self.point
        T = pose_matrix(joint.frame, offset)
        for motion in joint.allowed:
            if isinstance(motion, Ball):
                if np.abs(joint.frame - np.eye(3)).max() > 0.0:
                    raise MechanismError(f"{label}: a {part['type']} cannot be one: give its slides and a Spherical")
                there = [Shift(axis, length) for axis, length in enumerate(offset.tolist()) if length]
                back = [Shift(shift.axis, -shift.length) for shift in there]
                yield from (*there, motion, *back)
            elif isinstance(motion, Product):
                yield motion.after(T).before(inverse(T))
            elif isinstance(motion, Shift):
                raise MechanismError(f"{label}: a {part['type']} cannot be one")
            else:
                assert isinstance(motion, Turn | Slide)
                yield along_screw(adjoint(T) @ np.eye(6)[motion.axis + 3 * isinstance(motion, Slide)], motion.unit)


def _plain(part: object) -> object:
    """Return the part without arrays, for files."""
    if not isinstance(part, Mapping):
        return part
    return {key: _listed(value) for key, value in part.items()}


def _listed(value: object) -> object:
    """Return a value with lists in place of arrays and tuples."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [_listed(part) for part in value] if isinstance(value, list | tuple) else value
