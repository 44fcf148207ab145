"""Strains of beams as rows of a closure: beams start as rigid bodies, or strain as little as the joints allow."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from varint.kinematics.closure import Weld
from varint.kinematics.frames import JointFrames
from varint.model.forces.beam_element import BeamElement
from varint.model.joints import REGISTRY
from varint.model.structure import Structure


@dataclass(frozen=True)
class Strain:
    """Rows that are zero if an element of a beam has its unloaded shape: the strains of its bodies at its middle.

    frames : frames of a weld of both bodies at the middle of the element, in the reference configuration
    axes : (3, 3) columns are the axes of the element in those of the weld
    stiffness : (6,) of the strains, N m/rad for the three rotations, then N/m
    """

    frames: JointFrames
    axes: np.ndarray
    stiffness: np.ndarray

    def rows(self, x: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the strains (6,), rad and m, and their Jacobian (6, 2, 6) by the motions of both bodies.

        ``x`` (nb + 1, 3), m, and ``R`` (nb + 1, 3, 3): poses of the bodies, the world last. The Jacobian of the
        rotations is exact if the strain is small or along the motion.
        """
        value, jacobian = Weld(self.frames, np.eye(3), np.zeros(3)).rows(x, R)
        turned = np.einsum("ji,pjsk->pisk", self.axes, jacobian.reshape(2, 3, 2, 6))
        return (value.reshape(2, 3) @ self.axes).ravel(), turned.reshape(6, 2, 6)

    @property
    def angular(self) -> np.ndarray:
        """Return which rows (6,) are angles."""
        return np.arange(6) < 3


def strains_of(structure: Structure, moved: Collection[str]) -> list[Strain]:
    """Return the strains of all elements of beams except between bodies of the prescribed joints ``moved``."""
    pairs = [{structure.joint(name).body_a, structure.joint(name).body_b} for name in moved]
    return [
        _strain(structure, force)
        for force in structure.forces
        if isinstance(force, BeamElement) and {force.body_a, force.body_b} not in pairs
    ]


def beam_pairs(structure: Structure) -> set[tuple[int, int]]:
    """Return the pairs of bodies, -1 for the world, that an element of a beam connects."""
    number = structure.body_index
    beams = [force for force in structure.forces if isinstance(force, BeamElement)]
    return {(number.get(beam.body_a, -1), number.get(beam.body_b, -1)) for beam in beams}


def _strain(structure: Structure, element: BeamElement) -> Strain:
    """Return the strains of one ``element``."""
    middle = 0.5 * (element.point_a + element.point_b)
    weld = REGISTRY["Fixed"](element.name, element.body_a, element.body_b, point=middle)
    return Strain(JointFrames(structure, weld), element.axes, np.roll(element.stiffness, 3))
