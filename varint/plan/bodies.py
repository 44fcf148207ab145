"""The bodies of a plan."""

from collections.abc import Iterable, Sequence

import numpy as np

from varint.measures import KINDS
from varint.model.body import WORLD
from varint.model.structure import Structure
from varint.plan.topology import find_components


def body_arrays(structure: Structure, order: np.ndarray) -> dict:
    """Return the arrays of the bodies, by slot."""
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


def component_arrays(
    structure: Structure, order: np.ndarray, force: np.ndarray, acts_on: Iterable[Sequence[str]]
) -> dict:
    """Return the arrays of `Components`; ``force`` (ne,): of each element, ``acts_on``: bodies of each force."""
    number = {**structure.body_index, WORLD: -1}
    joined = [(number[joint.body_a], number[joint.body_b]) for joint in structure.joints if joint.forbidden]
    acted = [[number[name] for name in names] for names in acts_on]
    component = find_components(len(structure.bodies), [*joined, *acted])
    of_force = np.array([component[max(bodies, default=-1)] for bodies in acted], dtype=np.int64)  # any, of no body
    of_body, of_element = component[order], of_force[force]
    starts = np.arange(component.max(initial=-1) + 2)
    body, element = np.argsort(of_body, kind="stable"), np.argsort(of_element, kind="stable")
    return {
        "of_body": of_body,
        "of_element": of_element,
        "body": body,
        "first_body": np.searchsorted(of_body[body], starts),
        "element": element,
        "first_element": np.searchsorted(of_element[element], starts),
    }


def longest_arms(structure: Structure) -> np.ndarray:
    """Return the largest distance (nb,), m, of a joint's anchor from the centre of mass of each body."""
    longest = np.zeros(len(structure.bodies))
    for joint in structure.joints:
        if any(KINDS[row.kind].facts.anchored for row in joint.forbidden):
            for end, point in zip((joint.body_a, joint.body_b), structure.anchors(joint), strict=True):
                if end != WORLD:  # which has no size
                    i = structure.body_index[end]
                    longest[i] = max(longest[i], float(np.linalg.norm(point - structure.bodies[i].position)))
    return longest
