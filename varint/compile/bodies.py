"""The bodies of a plan."""

import numpy as np

from varint.measures import KINDS
from varint.model.body import WORLD
from varint.model.structure import Structure


def body_arrays(structure: Structure, order: np.ndarray) -> dict:
    """Arrays of the bodies, by slot."""
    mass = np.array([structure.bodies[i].mass for i in order])
    inertia = np.array([structure.bodies[i].inertia for i in order])
    gyration = np.sqrt(np.trace(inertia, axis1=1, axis2=2) / (2 * mass))
    return {
        "mass": mass,
        "inertia": inertia,
        "inverse_inertia": np.linalg.inv(inertia),
        "gravity": structure.gravity,
        "scale": np.column_stack([1 / mass, 1 / (mass * gyration)]),
    }


def longest_arm(structure: Structure) -> float:
    """Largest distance of a joint's anchor from the centre of mass of a body that it is on, m."""
    longest = 0.0
    for joint in structure.joints:
        if any(KINDS[row.kind].facts.anchored for row in joint.forbidden):
            for end, point in zip((joint.body_a, joint.body_b), structure.anchors(joint), strict=True):
                if end != WORLD:  # which has no size
                    longest = max(longest, float(np.linalg.norm(point - structure.body(end).position)))
    return longest
