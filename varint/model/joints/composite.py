"""Several joints in a row, without bodies in between."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from varint.errors import MechanismError
from varint.model.checks import suggestion
from varint.model.joints.base import REGISTRY, ProductJoint, register
from varint.model.motion import Ball, Motion, Shift, Slide, Turn
from varint.model.product import Product, adjoint, along_screw, inverse, pose_matrix


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
        if not isinstance(self.parts, list | tuple) or not self.parts:
            raise MechanismError(f"parts of {self.label} must be a list of joints, got {self.parts!r}")
        self._set("parts", tuple(_plain(part) for part in self.parts))
        if self.dof > 6:
            raise MechanismError(f"{self.label} has {self.dof} coordinates: a body has six")

    @cached_property
    def allowed(self) -> tuple[Motion, ...]:
        return tuple(motion for number, part in enumerate(self.parts) for motion in self._motions(number, part))

    def _motions(self, number: int, part: Mapping) -> Iterator[Motion]:
        what = f"part {number} of {self.label}"
        if not isinstance(part, Mapping) or "type" not in part:
            raise MechanismError(f"{what} must be a dict with a joint's type and arguments, got {part!r}")
        if part["type"] not in REGISTRY:
            raise MechanismError(f"{what}: no joint type {part['type']!r}{suggestion(part['type'], REGISTRY)}")
        given = {"point": self.point} | {key: value for key, value in part.items() if key != "type"}
        try:
            joint = REGISTRY[part["type"]](f"{self.name}: part {number}", self.body_a, self.body_b, **given)
        except TypeError as problem:
            raise MechanismError(f"{what}: {problem}") from None
        assert self.point is not None  # since it was made
        if joint.point is None:
            raise MechanismError(f"{what} needs point=, its anchor in the reference configuration")
        offset = joint.point - self.point
        T = pose_matrix(joint.frame, offset)
        for motion in joint.allowed:
            if isinstance(motion, Ball):
                if np.abs(joint.frame - np.eye(3)).max() > 0.0:
                    raise MechanismError(f"{what}: a {part['type']} cannot be one: give its slides and a Spherical")
                there = [Shift(axis, length) for axis, length in enumerate(offset.tolist()) if length]
                back = [Shift(shift.axis, -shift.length) for shift in there]
                yield from (*there, motion, *back)
            elif isinstance(motion, Product):
                yield motion.after(T).before(inverse(T))
            elif isinstance(motion, Shift):
                raise MechanismError(f"{what}: a {part['type']} cannot be one")
            else:
                assert isinstance(motion, Turn | Slide)
                yield along_screw(adjoint(T) @ np.eye(6)[motion.axis + 3 * isinstance(motion, Slide)])


def _plain(part: object) -> object:
    """The part without arrays, as files hold it."""
    if not isinstance(part, Mapping):
        return part
    return {key: value if isinstance(value, str) else np.asarray(value).tolist() for key, value in part.items()}
