"""Hard contact between two bodies."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from varint.base.errors import MechanismError
from varint.measures.point import Displacement
from varint.model.body import WORLD
from varint.model.collision_shapes import (
    BoxShape,
    CapsuleShape,
    CollisionShape,
    ConvexMesh,
    CylinderShape,
    HeightField,
    PlaneShape,
    SphereShape,
)
from varint.model.forces.base import BodyContact, Element, Force, register

if TYPE_CHECKING:
    from varint.model.structure import Structure

UP = np.eye(3)[2]
# shapes that do not touch all others: what they touch
LIMITED = (
    (
        HeightField,
        (SphereShape, CapsuleShape, BoxShape, CylinderShape, ConvexMesh),
        "no plane, no height field and nothing hollow",
    ),
    (
        CylinderShape,
        (SphereShape, CapsuleShape, BoxShape, CylinderShape, ConvexMesh, PlaneShape, HeightField),
        "nothing hollow: take a CapsuleShape, or a ConvexMesh of a prism",
    ),
)


@register
@dataclass(frozen=True, eq=False)
class Contact(Force):
    """The collision shapes of two bodies cannot pass each other; dry friction.

    ``body_b`` may be ``"world"``, whose shapes are the ``ground`` of the mechanism. Each impact turns the rate of
    approach to -``restitution`` times itself (0 to 1), and less where a rebound with friction would bring energy in.
    ``friction`` is Coulomb's coefficient, sticking included (docs/theory.md section 14). ``rolling`` is the coefficient
    of rolling resistance, m: each point that touches resists relative rotation across its normal by a torque of up to
    ``rolling`` times its normal force. For `varint.simulate` of order 1 or 2, and without ``rolling``, cylinders and
    height fields for `varint.Lobatto`, and for `varint.redmax.simulate` with "dop853", "rk45" or "radau".
    ``traj.force`` is the normal force, N, ``traj.contact_force`` the force on ``body_a``; see also
    ``traj.penetration``.

    Raises MechanismError where a body has no shapes.
    """

    body_a: str
    body_b: str
    friction: float = field(default=0.0, kw_only=True)
    restitution: float = field(default=0.0, kw_only=True)
    rolling: float = field(default=0.0, kw_only=True)

    solved_for: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check(friction="zero", restitution="zero", rolling="zero")
        if self.restitution > 1.0:
            raise MechanismError(f"restitution of {self.label} must be at most 1, got {self.restitution:g}")
        if self.body_a == self.body_b:
            raise MechanismError(f"{self.label} needs two bodies, got '{self.body_a}' twice")

    def elements(self, structure: "Structure") -> list[Element]:
        body, other = self._moving(structure, self.body_a), self._body(structure, self.body_b)
        shapes = self._shapes(structure, body), self._shapes(structure, other)
        for one, another in (shapes, shapes[::-1]):
            for kind, touches, advice in LIMITED:
                if any(isinstance(shape, kind) for shape in one) and not all(
                    type(shape) in touches for shape in another
                ):
                    raise MechanismError(f"{self.label} of '{body}' and '{other}': a {kind.__name__} touches {advice}")
        at = structure.body(body).position
        apart = Displacement(other, body, UP, at, at)
        return [BodyContact(body, other, *shapes, self.friction, self.restitution, self.rolling, apart)]

    def _shapes(self, structure: "Structure", name: str) -> tuple[CollisionShape, ...]:
        """Return the collision shapes of a body, or of the world. Raises MechanismError without any."""
        shapes = structure.ground if name == WORLD else structure.body(name).collision
        if not shapes:
            cure = "collision=True, for its own shape, or collision=[...] where the body is made"
            give = "vi.Mechanism(..., ground=[...])" if name == WORLD else cure
            label = "the world" if name == WORLD else f"body '{name}'"
            raise MechanismError(f"{self.label}: {label} has no collision shapes: give {give}")
        return tuple(shapes)
