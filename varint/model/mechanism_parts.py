"""Bodies, joints and forces that are made together."""

from typing import NamedTuple

from varint.base.display import described, field_facts
from varint.model.body import Body
from varint.model.forces.base import Force
from varint.model.joints.base import Joint


class MechanismParts(NamedTuple):
    """Parts of a spring with mass, a beam, a cable or a muscle's mass, to be added to those of a mechanism."""

    bodies: list[Body]
    joints: list[Joint]
    forces: list[Force]

    def __repr__(self) -> str:
        return described(self, field_facts(self))
