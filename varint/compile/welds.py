"""Bodies that rigid `Fixed` joints weld together, as one body in the kernel.

The welded bodies form groups. The first body of each carries the others, or the world where one of them is fixed to
the world. In the kernel the carrier has the mass, centre of mass and inertia of the group, and what acts on any of its
bodies acts on the carrier.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from varint.compile.pins import FLOATING, find_pins
from varint.display import Shown
from varint.kernels.weld_nodes import WeldTable
from varint.model.body import WORLD, Body
from varint.model.forces.base import BodyLoad, Constraint, Effort, Element, PlaneContact
from varint.model.joints import REGISTRY
from varint.model.joints.base import Joint
from varint.model.rotation_vectors import quat_from_matrix, rotation_matrix
from varint.model.structure import Structure, is_closed
from varint.topology import find_components

APPLIED = ("push", "follower", "sliding")  # loads on a point, whichever body carries it
Numbered = list[tuple[int, Element]]  # elements with the numbers of their forces


@dataclass(frozen=True, eq=False)
class Welds(Shown):
    """The mechanism after the welded bodies of each group have become one, and attachments to one body ball joints.

    Attributes
    ----------
    structure : Structure
        The bodies and joints that are left, without forces.
    elements : list of (int, Element)
        Those of all forces, on the bodies that are left.
    carrier : dict
        Name of each body to the name of the one that carries it; itself where none does.
    joints : (j,) int
        Number in the description of each joint that is left; -1 of one that was added, for a group that floats or an
        attachment.
    offset : (n, 3)
        Centre of mass of each body of the description from that of its carrier with all that it carries, m, in axes of
        the carrier; from the origin, in axes of the world, where the world carries it.
    axes : (n, 3, 3)
        Its axes in the same axes.
    """

    structure: Structure
    elements: Numbered
    carrier: dict[str, str]
    joints: np.ndarray
    offset: np.ndarray
    axes: np.ndarray

    def table(self, full: Structure, slot: np.ndarray) -> WeldTable:
        """The arrays that place all bodies; ``slot`` (nb + 1,): of each body that is left, the world's last."""
        number = {**self.structure.body_index, WORLD: -1}
        of_body = np.array([slot[number[self.carrier[body.name]]] for body in full.bodies], dtype=np.int64)
        merged = (np.bincount(of_body, minlength=len(slot)) > 1).astype(np.int64)
        turn = np.array([quat_from_matrix(R) for R in self.axes])
        return WeldTable(of_body, merged[of_body], self.offset, turn, self.axes)


def find_welds(structure: Structure, elements: Numbered) -> Welds | None:
    """The mechanism with its groups as one body each, and with pins (pins.py); None where there are neither.

    A group stays as it is where another joint, an effort or a constraint connects two of its bodies, where a measure of
    three bodies has one of them, and where something acts on one that depends on its own motion: resistances, friction
    of joints, contacts of shapes, masses along paths, meshes. Forces on points of bodies move with these: pushes and
    followers, contacts of points with planes and of balls, with friction.
    """
    carrier = _carriers(structure, elements)
    left = {name: [body for body in structure.bodies if carrier[body.name] == name] for name in set(carrier.values())}
    pins = find_pins(structure, elements, carrier)
    if len(left) == 1 or (len(left) == len(carrier) and not pins):
        return None  # nothing is left that moves, or nothing is carried or pinned
    whole = {name: own[0] if len(own) == 1 else _merged(own) for name, own in left.items() if name != WORLD}
    offset, axes = [], []
    for body in structure.bodies:
        by = whole.get(carrier[body.name])
        A, x = (np.eye(3), np.zeros(3)) if by is None else (rotation_matrix(by.quat_wxyz), by.position)
        offset.append(A.T @ (body.position - x))
        axes.append(A.T @ rotation_matrix(body.quat_wxyz))
    bodies = [whole[body.name] for body in structure.bodies if body.name in whole]
    pinned = {pin.body_b for pin in pins}
    numbers = [j for j, joint in enumerate(structure.joints) if _is_left(joint, carrier, pinned)]
    joints = [_moved_joint(structure.joints[j], structure, carrier) for j in numbers]
    joints += [pin.joint(structure) for pin in pins]
    numbers += [-1] * len(pins)
    held = {end for joint in joints for end in (joint.body_a, joint.body_b)}
    floating = next(kind for kind in REGISTRY.values() if kind.allowed == FLOATING)
    for name in whole.keys() - held:  # it floats, and no joint but welds said so
        joints.append(floating(f"{name} floats", WORLD, name))
        numbers.append(-1)
    kept = Structure(structure.name, bodies, joints, gravity=structure.gravity)
    replaced = {pin.force for pin in pins}
    moved = _moved_elements([item for item in elements if item[0] not in replaced], structure, carrier)
    return Welds(kept, moved, carrier, np.array(numbers, dtype=np.int64), np.array(offset), np.array(axes))


def _carriers(structure: Structure, elements: Numbered) -> dict[str, str]:
    """The body that carries each body, by names; the world carries itself."""
    names = [WORLD, *structure.body_index]
    number = {name: k for k, name in enumerate(names)}
    welds = {joint.name for joint in structure.joints if _is_weld(joint)}
    pairs = [(number[j.body_a], number[j.body_b]) for j in structure.joints if j.name in welds]
    groups = find_components(len(names), pairs)
    first = {int(group): name for group, name in zip(groups[::-1], names[::-1], strict=True)}
    carrier = {name: first[int(group)] for name, group in zip(names, groups, strict=True)}
    left: set[str] = set()  # carriers of the groups that stay as they are
    for joint in structure.joints:
        if joint.name not in welds and carrier[joint.body_a] == carrier[joint.body_b]:
            left.add(carrier[joint.body_a])
    for _, element in elements:
        left |= _own_motion(element, carrier)
    return {name: name if by in left else by for name, by in carrier.items()}


def _is_weld(joint: Joint) -> bool:
    """Whether it is rigid in all six rows, and closed in the reference configuration."""
    return joint.dof == 0 and len(joint.rigid) == 6 and joint.compliance is None and is_closed(joint)


def _own_motion(element: Element, carrier: dict[str, str]) -> set[str]:
    """Carriers of the groups that may not become one body because of ``element``.

    It acts between two of their bodies, or depends on the motion of one by itself.
    """
    if isinstance(element, Effort | Constraint):
        found = set()
        for measure in element.measures:
            third = [] if measure.at_third is None else [measure.at_third[0]]
            ends = [carrier[name] for name in (measure.body_a, measure.body_b, *third)]
            found |= {name for name in ends if ends.count(name) > 1 or third}
        return found
    ends = [carrier[name] for name in element.bodies if name != WORLD]
    if isinstance(element, PlaneContact) or (isinstance(element, BodyLoad) and element.kind in APPLIED):
        # a load on the world has no place in the kernel, nor have balls of one body that rub against each other
        return {name for name in ends if name == WORLD or ends.count(name) > 1}
    return set(ends)


def _merged(bodies: Sequence[Body]) -> Body:
    """One body with the axes of the first."""
    mass = sum(body.mass for body in bodies)
    centre = np.sum([body.mass * body.position for body in bodies], axis=0) / mass
    A = rotation_matrix(bodies[0].quat_wxyz)
    inertia = np.zeros((3, 3))
    for body in bodies:
        R, d = A.T @ rotation_matrix(body.quat_wxyz), A.T @ (body.position - centre)
        inertia += R @ body.inertia @ R.T + body.mass * (d @ d * np.eye(3) - np.outer(d, d))
    inertia = 0.5 * (inertia + inertia.T)
    return Body(bodies[0].name, mass=mass, inertia=inertia, position=centre, quat_wxyz=bodies[0].quat_wxyz)


def _is_left(joint: Joint, carrier: dict[str, str], pinned: set[str]) -> bool:
    """Whether it is between two bodies, and not the free joint of a body that a ball joint holds in its place."""
    ends = carrier[joint.body_a], carrier[joint.body_b]
    return ends[0] != ends[1] and (joint.allowed != FLOATING or pinned.isdisjoint(ends))


def _moved_joint(joint: Joint, structure: Structure, ends: dict[str, str]) -> Joint:
    """The joint between the carriers of its bodies, at the same anchors."""
    point, point_b = structure.anchors(joint)
    return replace(joint, body_a=ends[joint.body_a], body_b=ends[joint.body_b], point=point, point_b=point_b)


def _moved_elements(elements: Numbered, structure: Structure, ends: dict[str, str]) -> Numbered:
    """The elements on the carriers of their bodies."""
    efforts: dict[int, Effort] = {}  # by the identity of what they replace: friction names the effort that presses
    numbered = []
    for k, element in elements:
        moved = _moved_element(element, structure, ends)
        if isinstance(moved, BodyLoad) and moved.pressed_by is not None:
            moved = replace(moved, pressed_by=efforts[id(moved.pressed_by)])
        if isinstance(moved, Effort):
            efforts[id(element)] = moved
        numbered.append((k, moved))
    return numbered


def _moved_element(element: Element, structure: Structure, ends: dict[str, str]) -> Element:
    """The element on the carriers of its bodies; itself where that changes nothing."""
    if all(ends[name] == name for name in element.bodies):
        return element
    if isinstance(element, PlaneContact):
        return replace(element, body=ends[element.body])
    if isinstance(element, BodyLoad):
        point = structure.body(element.body).position if element.point is None else element.point
        other = None if element.other is None else ends[element.other]
        return replace(element, body=ends[element.body], point=point, other=other)
    assert isinstance(element, Effort | Constraint)  # no other acts on what is carried
    measures = (replace(m, body_a=ends[m.body_a], body_b=ends[m.body_b]) for m in element.measures)
    return replace(element, measures=tuple(measures))
