"""Bodies that rigid `Fixed` joints weld together, as one body in the kernel.

The welded bodies form groups. The carrier of a group is its first body, or the world if one of them is fixed to the
world. In the kernel a carrier other than the world has the mass, centre of mass and inertia of the whole group; all
forces and joints of its bodies act on the carrier. The description is the structure before merging.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from varint.base.display import Shown
from varint.model.body import WORLD, Body
from varint.model.forces.base import BodyLoad, Constraint, Effort, Element, PlaneContact
from varint.model.joints import REGISTRY
from varint.model.joints.base import Joint
from varint.model.rotation_vectors import quat_from_matrix, rotation_matrix
from varint.model.structure import Structure, is_closed
from varint.plan.pins import FLOATING, find_pins
from varint.plan.topology import find_components
from varint.step.nodes.welds import WeldTable

APPLIED = ("push", "follower", "sliding")  # kinds of `BodyLoad` that can be moved to the carrier of their body
Numbered = list[tuple[int, Element]]  # (number of its force, element)


@dataclass(frozen=True, eq=False)
class Welds(Shown):
    """The mechanism in which each group of welded bodies is one body, and each pinned attachment a ball joint.

    Attributes
    ----------
    structure : Structure
        The remaining bodies and joints, without forces.
    elements : list of (int, Element)
        Those of all forces except the pinned attachments, on the remaining bodies.
    carrier : dict
        Name of the carrier of each body, by the body's name; its own if the body is not merged.
    joints : (j,) int
        Number in the description of each joint of ``structure``; -1 for added ones: the free joint of a body or group
        that floats, the ball joint of a pinned attachment.
    offset : (n, 3)
        Centre of mass of each body of the description relative to that of its whole group, m, axes of the carrier; if
        the world carries it, relative to the origin, world axes.
    axes : (n, 3, 3)
        Rotation matrix of each body, from its axes to those of its carrier.
    """

    structure: Structure
    elements: Numbered
    carrier: dict[str, str]
    joints: np.ndarray
    offset: np.ndarray
    axes: np.ndarray

    def table(self, full: Structure, slot: np.ndarray) -> WeldTable:
        """Return the arrays that place all bodies of ``full``, the description.

        ``slot`` (nb + 1,): kernel slot of each remaining body; the last entry, nb, is for the world.
        """
        number = {**self.structure.body_index, WORLD: -1}
        of_body = np.array([slot[number[self.carrier[body.name]]] for body in full.bodies], dtype=np.int64)
        merged = (np.bincount(of_body, minlength=len(slot)) > 1).astype(np.int64)
        turn = np.array([quat_from_matrix(R) for R in self.axes])
        return WeldTable(of_body, merged[of_body], self.offset, turn, self.axes)


def find_welds(structure: Structure, elements: Numbered) -> Welds | None:
    """Return the mechanism with groups merged and pins (pins.py), or None if there are neither or nothing can move.

    A group is not merged if another joint, a single measure of an effort or constraint, or sliding friction connects
    two of its bodies, if a measure that depends on other bodies includes one of them, or if an element depends on the
    motion of a single one: resistance, Coulomb friction in joints, contact of shapes, mass along a path, mesh. Bodies
    welded to the world are not merged if a load or a plane contact acts on one. All other elements are moved to the
    carriers.
    """
    carrier = _carriers(structure, elements)
    groups = {name: [body for body in structure.bodies if carrier[body.name] == name] for name in set(carrier.values())}
    pins = find_pins(structure, elements, carrier)
    if len(groups) == 1 or (len(groups) == len(carrier) and not pins):
        return None  # all bodies are welded to the world, or none is merged or pinned
    whole = {name: group[0] if len(group) == 1 else _merged(group) for name, group in groups.items() if name != WORLD}
    offset, axes = [], []
    for body in structure.bodies:
        group_body = whole.get(carrier[body.name])  # None: the world carries it
        A, x = np.eye(3), np.zeros(3)
        if group_body is not None:
            A, x = rotation_matrix(group_body.quat_wxyz), group_body.position
        offset.append(A.T @ (body.position - x))
        axes.append(A.T @ rotation_matrix(body.quat_wxyz))
    bodies = [whole[body.name] for body in structure.bodies if body.name in whole]
    pinned = {pin.body_b for pin in pins}
    numbers = [j for j, joint in enumerate(structure.joints) if _remains(joint, carrier, pinned)]
    joints = [_moved_joint(structure.joints[j], structure, carrier) for j in numbers]
    joints += [pin.joint(structure) for pin in pins]
    numbers += [-1] * len(pins)
    jointed = {end for joint in joints for end in (joint.body_a, joint.body_b)}
    floating = next(kind for kind in REGISTRY.values() if kind.allowed == FLOATING)
    for name in whole.keys() - jointed:  # it floats: all its joints were welds, or free joints to a pinned body
        joints.append(floating(f"{name} floats", WORLD, name))
        numbers.append(-1)
    remaining = Structure(structure.name, bodies, joints, gravity=structure.gravity)
    replaced = {pin.force for pin in pins}
    moved = _moved_elements([item for item in elements if item[0] not in replaced], structure, carrier)
    return Welds(remaining, moved, carrier, np.array(numbers, dtype=np.int64), np.array(offset), np.array(axes))


def _carriers(structure: Structure, elements: Numbered) -> dict[str, str]:
    """Return the name of the carrier of each body, by the body's name; the world carries itself."""
    names = [WORLD, *structure.body_index]
    number = {name: k for k, name in enumerate(names)}
    welds = {joint.name for joint in structure.joints if _is_weld(joint)}
    pairs = [(number[j.body_a], number[j.body_b]) for j in structure.joints if j.name in welds]
    groups = find_components(len(names), pairs)
    first = {int(group): name for group, name in zip(groups[::-1], names[::-1], strict=True)}
    carrier = {name: first[int(group)] for name, group in zip(names, groups, strict=True)}
    unmerged: set[str] = set()  # carriers of the groups that are not merged
    for joint in structure.joints:
        if joint.name not in welds and carrier[joint.body_a] == carrier[joint.body_b]:
            unmerged.add(carrier[joint.body_a])
    for _, element in elements:
        unmerged |= _not_mergeable(element, carrier)
    return {body: body if name in unmerged else name for body, name in carrier.items()}


def _is_weld(joint: Joint) -> bool:
    """Return whether all six rows of ``joint`` are rigid, and it is closed in the reference configuration."""
    return joint.dof == 0 and len(joint.rigid) == 6 and joint.compliance is None and is_closed(joint)


def _not_mergeable(element: Element, carrier: dict[str, str]) -> set[str]:
    """Return the carriers of the groups that must not be merged because of ``element``.

    One of its measures, or its sliding, connects two of their bodies; one of its measures includes other bodies; it
    depends on the motion of a single body; or it loads a body welded to the world.
    """
    if isinstance(element, Effort | Constraint):
        carriers = set()
        for measure in element.measures:
            third = [] if measure.at_third is None else [measure.at_third[0]]
            ends = [carrier[name] for name in (measure.body_a, measure.body_b, *third)]
            carriers |= {name for name in ends if ends.count(name) > 1 or measure.of_three}
        return carriers
    ends = [carrier[name] for name in element.bodies if name != WORLD]
    if isinstance(element, PlaneContact) or (isinstance(element, BodyLoad) and element.kind in APPLIED):
        # no load or plane contact can act on the world as a body, and no ball can slide on another of the same body
        return {name for name in ends if name == WORLD or ends.count(name) > 1}
    return set(ends)


def _merged(bodies: Sequence[Body]) -> Body:
    """Return one body with the mass, centre of mass and inertia of all ``bodies``, and the axes of the first."""
    mass = sum(body.mass for body in bodies)
    centre = np.sum([body.mass * body.position for body in bodies], axis=0) / mass
    A = rotation_matrix(bodies[0].quat_wxyz)
    inertia = np.zeros((3, 3))
    for body in bodies:
        R, d = A.T @ rotation_matrix(body.quat_wxyz), A.T @ (body.position - centre)
        inertia += R @ body.inertia @ R.T + body.mass * (d @ d * np.eye(3) - np.outer(d, d))
    inertia = 0.5 * (inertia + inertia.T)
    return Body(bodies[0].name, mass=mass, inertia=inertia, position=centre, quat_wxyz=bodies[0].quat_wxyz)


def _remains(joint: Joint, carrier: dict[str, str], pinned: set[str]) -> bool:
    """Return whether the joint connects two carriers and is not a free joint of a pinned body."""
    ends = carrier[joint.body_a], carrier[joint.body_b]
    return ends[0] != ends[1] and (joint.allowed != FLOATING or pinned.isdisjoint(ends))


def _moved_joint(joint: Joint, structure: Structure, carrier: dict[str, str]) -> Joint:
    """Return the joint between the carriers of its bodies, at the same anchors."""
    point, point_b = structure.anchors(joint)
    body_a, body_b = carrier[joint.body_a], carrier[joint.body_b]
    return replace(joint, body_a=body_a, body_b=body_b, point=point, point_b=point_b)


def _moved_elements(elements: Numbered, structure: Structure, carrier: dict[str, str]) -> Numbered:
    """Return ``elements`` with each moved to the carriers of its bodies, see `_moved_element`."""
    efforts: dict[int, Effort] = {}  # by id() of the original, which sliding friction names as its normal force
    numbered = []
    for k, element in elements:
        moved = _moved_element(element, structure, carrier)
        if isinstance(moved, BodyLoad) and moved.pressed_by is not None:
            moved = replace(moved, pressed_by=efforts[id(moved.pressed_by)])
        if isinstance(moved, Effort):
            efforts[id(element)] = moved
        numbered.append((k, moved))
    return numbered


def _moved_element(element: Element, structure: Structure, carrier: dict[str, str]) -> Element:
    """Return the element on the carriers of its bodies; the same object if each body is its own carrier."""
    if all(carrier[name] == name for name in element.bodies):
        return element
    if isinstance(element, PlaneContact):
        return replace(element, body=carrier[element.body])
    if isinstance(element, BodyLoad):
        point = structure.body(element.body).position if element.point is None else element.point
        other = None if element.other is None else carrier[element.other]
        return replace(element, body=carrier[element.body], point=point, other=other)
    assert isinstance(element, Effort | Constraint)  # `_not_mergeable` keeps the bodies of all others unmerged
    measures = (replace(m, body_a=carrier[m.body_a], body_b=carrier[m.body_b]) for m in element.measures)
    return replace(element, measures=tuple(measures))
