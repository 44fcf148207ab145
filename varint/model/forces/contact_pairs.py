"""Hard contact between the bodies of groups."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from varint.base.checks import check_name, sequence_of
from varint.base.errors import MechanismError
from varint.model.body import WORLD
from varint.model.forces.base import Element, Force, register
from varint.model.forces.body_contact import Contact

if TYPE_CHECKING:
    from varint.model.structure import Structure


@register
@dataclass(frozen=True, eq=False)
class ContactPairs(Force):
    """`Contact` of all ``bodies`` with each other, or with all of ``others``, but of those that a joint connects.

    ``others`` may have ``"world"`` among them. The law is that of `Contact`. ``traj.force`` and ``traj.contact_force``
    are sums over all pairs, ``traj.penetration`` is the largest; ``traj.contacts`` has each point with its bodies.
    """

    bodies: Sequence[str] = field(kw_only=True)
    others: Sequence[str] = field(default=(), kw_only=True)
    friction: float = field(default=0.0, kw_only=True)
    restitution: float = field(default=0.0, kw_only=True)
    rolling: float = field(default=0.0, kw_only=True)

    solved_for: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("bodies", "others"):
            names = sequence_of(getattr(self, name), f"{name} of {self.label}", "names of bodies")
            self._set(name, tuple(check_name(body, f"a body of {self.label}") for body in names))
        law = {"friction": self.friction, "restitution": self.restitution, "rolling": self.rolling}
        Contact(self.name, "a", "b", **law)  # raises
        self._check(friction="zero", restitution="zero", rolling="zero")

    def elements(self, structure: "Structure") -> list[Element]:
        joined = {frozenset((joint.body_a, joint.body_b)) for joint in structure.joints if joint.forbidden}
        pairs = itertools.product(self.bodies, self.others) if self.others else itertools.combinations(self.bodies, 2)
        chosen = {frozenset(pair): pair for pair in pairs if pair[0] != pair[1] and frozenset(pair) not in joined}
        if not chosen:
            raise MechanismError(f"{self.label} has no pair of bodies that no joint connects")
        contacts = [
            Contact(self.name, *(pair[::-1] if pair[0] == WORLD else pair), friction=self.friction,
                    restitution=self.restitution, rolling=self.rolling)
            for pair in chosen.values()
        ]  # fmt: skip
        return [element for contact in contacts for element in contact.elements(structure)]
