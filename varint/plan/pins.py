"""Attachments to a single body, which become ball joints in the merged mechanism (welds.py)."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from varint.base.display import Shown
from varint.model.forces.base import Constraint, Element
from varint.model.joints import REGISTRY
from varint.model.joints.base import Joint, X, Y, Z
from varint.model.motion import Ball, Slide
from varint.model.structure import Structure

BALL = (Ball(),)
FLOATING = (Slide(X), Slide(Y), Slide(Z), Ball())


@dataclass(frozen=True, eq=False)
class Pin(Shown):
    """Ball joint at ``point`` (3,), m, world, reference, in place of attachment ``force`` and of free joints.

    ``body_b``: carrier of the attached body, which these held; ``body_a``: that of the points it is attached to.
    """

    force: int
    body_a: str
    body_b: str
    point: np.ndarray

    def joint(self, structure: Structure) -> Joint:
        """Return the ball joint; its name says which attachment of ``structure`` it replaces."""
        kind = next(kind for kind in REGISTRY.values() if kind.allowed == BALL)
        return kind(f"{structure.forces[self.force].name} is a ball", self.body_a, self.body_b, point=self.point)


def find_pins(structure: Structure, elements: list[tuple[int, Element]], carrier: dict[str, str]) -> list[Pin]:
    """Return the attachments that can be ball joints, sorted by name; ``carrier``: of each body (plan/welds.py).

    The points of `Attachment.to` must be on one carrier, not that of the attached body. The attached body, with those
    welded to it, may have no joint but free ones, no second attachment and no other constraint.
    """
    attachments = {k: tie for k, force in enumerate(structure.forces) if (tie := force.tied(structure)) is not None}
    count = Counter(carrier[body] for body, *_ in attachments.values())
    ends = [(joint, {carrier[joint.body_a], carrier[joint.body_b]}) for joint in structure.joints]
    constrained = {body for joint, pair in ends if len(pair) == 2 and joint.allowed != FLOATING for body in pair}
    for k, element in elements:
        if isinstance(element, Constraint) and k not in attachments:
            constrained |= {carrier[name] for name in element.bodies}
    pins = []
    for k in sorted(attachments, key=lambda k: structure.forces[k].name):
        name, point, masters = attachments[k]
        body, (master, *others) = carrier[name], {carrier[each] for each in masters}
        if not others and body != master and body not in constrained and count[body] == 1:
            pins.append(Pin(k, master, body, point))
    return pins
