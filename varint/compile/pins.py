"""Attachments to one body, which are ball joints in the steps of a run."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from varint.display import Shown
from varint.model.forces.base import Constraint, Element
from varint.model.joints import REGISTRY
from varint.model.joints.base import Joint, X, Y, Z
from varint.model.motion import Ball, Slide
from varint.model.structure import Structure

BALL = (Ball(),)
FLOATING = (Slide(X), Slide(Y), Slide(Z), Ball())


@dataclass(frozen=True, eq=False)
class Pin(Shown):
    """A ball joint at ``point`` (3,), m, world, reference, in place of the attachment ``force`` and a free joint."""

    force: int
    body_a: str
    body_b: str
    point: np.ndarray

    def joint(self, structure: Structure) -> Joint:
        """The joint between both bodies."""
        kind = next(kind for kind in REGISTRY.values() if kind.allowed == BALL)
        return kind(f"{structure.forces[self.force].name} is a ball", self.body_a, self.body_b, point=self.point)


def find_pins(structure: Structure, elements: list[tuple[int, Element]], carrier: dict[str, str]) -> list[Pin]:
    """The attachments that are ball joints, by their names; ``carrier`` of each body (compile/welds.py).

    All that an attachment leads to is on one body, or on bodies that are welded to one. The attached body is on free
    joints alone, and no other attachment or constraint holds it.
    """
    tied = {k: ties for k, force in enumerate(structure.forces) if (ties := force.tied(structure)) is not None}
    count = Counter(carrier[body] for body, *_ in tied.values())
    ends = [(joint, {carrier[joint.body_a], carrier[joint.body_b]}) for joint in structure.joints]
    held = {body for joint, pair in ends if len(pair) == 2 and joint.allowed != FLOATING for body in pair}
    for k, element in elements:
        if isinstance(element, Constraint) and k not in tied:
            held |= {carrier[name] for name in element.bodies}
    pins = []
    for k in sorted(tied, key=lambda k: structure.forces[k].name):
        name, point, masters = tied[k]
        body, (master, *others) = carrier[name], {carrier[each] for each in masters}
        if not others and body != master and body not in held and count[body] == 1:
            pins.append(Pin(k, master, body, point))
    return pins
