"""Compilation of a description to a plan, and names of its indices."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from varint.base.display import Shown
from varint.base.numba import CompiledRecord
from varint.mathematics.formulas.records import Formulas
from varint.mathematics.products.records import Products
from varint.measures.base import EulerCoordinate
from varint.model.body import WORLD
from varint.model.forces.along import AlongCoordinate
from varint.model.forces.base import Effort, Element
from varint.model.joints.base import Joint
from varint.model.rotation_vectors import rotation_matrix
from varint.model.structure import Structure
from varint.plan import elements as efforts
from varint.plan import joints, loops
from varint.plan.bearing_arrays import bearing_arrays
from varint.plan.bodies import body_arrays, component_arrays, longest_arms
from varint.plan.contact_points import contact_arrays
from varint.plan.formula_arrays import formula_arrays
from varint.plan.massive_path_arrays import massive_path_arrays
from varint.plan.path_arrays import path_arrays
from varint.plan.roles import Roles, elements_of, find_roles
from varint.plan.topology import Topology, find_topology
from varint.plan.welds import Welds, find_welds
from varint.step.bearings.records import Bearings
from varint.step.compliant.records import Beams, CompliantRows
from varint.step.contacts.records import ContactTable
from varint.step.energy.records import Components
from varint.step.ldu import solver_of
from varint.step.limits.parts import plan_parts
from varint.step.measures import ANGULAR
from varint.step.nodes.welds import WeldTable
from varint.step.paths.mass_records import MassivePaths
from varint.step.paths.records import Paths
from varint.step.plan import (
    CONSTRAINT,
    EFFORT,
    Bodies,
    Constraints,
    Elements,
    Joints,
    Laws,
    LoadTable,
    Loops,
    Measures,
    Plan,
    Rows,
)

KindOfRecord = TypeVar("KindOfRecord")


class CountedAngle(NamedTuple):
    """A coordinate of a joint that forces act along: the joint's name, its size, and the number of the coordinate.

    ``measures``: numbers of its measures in the plan; ``product``: that of the joint, -1 unless the measures are
    coordinates of a product of exponentials.
    """

    joint: str
    size: int
    number: int
    measures: tuple[int, ...]
    product: int


class FollowedRotation(NamedTuple):
    """The rotation vector of body b since the reference, seen from body a, that a force counts the turns of.

    ``force``: its name; ``first``: of three numbers after the values of measures; ``axes`` (3, 3): reference
    orientation of body a, from its axes to those of the world; ``bodies``: the names of a and b in the description.
    """

    force: str
    first: int
    axes: np.ndarray
    bodies: tuple[str, str]


class EulerAngle(NamedTuple):
    """One of the Euler angles of a joint, ``angles``, that stands for its coordinate ``number`` in a force.

    ``force``: its name; ``measures``: numbers in the plan of those that count its turns, none for the second angle.
    """

    force: str
    joint: str
    number: int
    angles: str
    measures: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Compiled(Shown):
    """A plan and the names of its indices.

    Attributes
    ----------
    plan : Plan
    topology : Topology
    order : (nb,) int
        Body of the description in each slot of the kernel.
    slot : (nb,) int
        The inverse.
    joints : (nj,) int
        Joint of the description for each joint of the kernel, -1 for the base of a floating group and for what couples
        bodies without a joint.
    length : float
        Size of the mechanism's parts, m.
    functions : tuple
        Of users' laws, by law; None for others.
    law_start : (n,)
        Internal variables of the laws that have one, at the start of a run.
    law_names : tuple of str
        Names of the forces of these variables.
    counted : tuple of CountedAngle
        Coordinates of joints that forces act along, and whose turns they count.
    followed : tuple of FollowedRotation
        Rotation vectors between two bodies whose turns forces count.
    euler_angles : tuple of EulerAngle
        Euler angles of joints that forces act along.
    forces : int
        How many forces the description has, those without an element among them.
    contact_rows : (nk, 3) int
        Rows of each contact with a plane, along its normal and across it; -1 for none, as in all plans but `apart`.
    pair_rows : (places, 3) int
        The same of the places for contacts of shapes, which have them while they are closed; empty but in `apart`.
    place_of : (places, 3) int
        Element, and slots of ``body`` and ``other``, of the contacts of each place.
    welds : WeldTable, optional
        Where all bodies of the description are on those of the kernel. ``slot`` is then of these as well, nb where the
        world carries a body, and ``order`` has the bodies that carry.
    """

    plan: Plan
    topology: Topology
    order: np.ndarray
    slot: np.ndarray
    joints: np.ndarray
    length: float
    functions: tuple
    law_start: np.ndarray
    law_names: tuple[str, ...]
    counted: tuple[CountedAngle, ...]
    followed: tuple[FollowedRotation, ...]
    euler_angles: tuple[EulerAngle, ...]
    forces: int
    contact_rows: np.ndarray
    pair_rows: np.ndarray
    place_of: np.ndarray
    welds: WeldTable | None = None

    @property
    def force(self) -> np.ndarray:
        """Return the force (ne,) of the mechanism of each element."""
        return self.plan.elements.force

    def welded(self, structure: Structure) -> set[str]:
        """Return the names of the bodies of ``structure``, the description, welded to other bodies or to the world."""
        if self.welds is None:
            return set()
        one = (self.welds.merged != 0) | (self.welds.slot == len(self.order))
        return {body.name for body, welded in zip(structure.bodies, one.tolist(), strict=True) if welded}

    def by_force(self, values: np.ndarray) -> np.ndarray:
        """Return sums (T, forces) of values (T, ne) over the elements of each force."""
        if self._one_each:
            return values + 0.0
        total = np.zeros((self.forces, len(values)))
        np.add.at(total, self.force, values.T)
        return np.ascontiguousarray(total.T)  # sums over the forces then have the same bits whatever T is

    def inputs_by_force(self, values: np.ndarray) -> np.ndarray:
        """Return inputs (T, forces) from inputs (T, ne) of elements; zero of forces with several elements."""
        return self.by_force(values if self._one_each else np.where(self._alone, values, 0.0))

    @cached_property
    def in_order(self) -> bool:
        """Return whether the kernel has the bodies in the order of the mechanism."""
        return bool(np.array_equal(self.slot, np.arange(len(self.order))))

    @cached_property
    def order_with_none(self) -> np.ndarray:
        """Return ``order`` with -1 appended, (nb + 1,)."""
        return np.append(self.order, -1)

    @cached_property
    def _alone(self) -> np.ndarray:
        """Return whether (ne,) an element is the only one of its force."""
        return np.bincount(self.force)[self.force] == 1

    @cached_property
    def _one_each(self) -> bool:
        """Return whether the elements are the forces, in their order."""
        return bool(np.array_equal(self.force, np.arange(self.forces)))


@dataclass(frozen=True, eq=False)
class CompiledStructure(Structure):
    """A `Structure` with its plan."""

    @cached_property
    def compiled(self) -> Compiled:
        """Return the arrays for the kernels and the spanning tree behind them, made at first use."""
        return compile_structure(self)

    @cached_property
    def apart(self) -> Compiled:
        """Return `compiled` for steps whose unknowns are the coordinates of the joints of the tree.

        No joint takes rows of constraints of forces and of hard limits, and one of a single coordinate alone those of
        other efforts: the others close loops. So do joints along curves and surfaces. Hard contacts with planes have
        rows.
        """
        if any("contacts" in traits for traits in self.force_traits) or any(map(_is_curved, self.joints)):
            return _compile(self, elements_of(self), True, apart=True)
        compiled, plan = self.compiled, self.compiled.plan
        limited = any("hard" in traits for traits in self.force_traits)
        for body, joint in compiled.topology.tree_joint.items():
            slot = compiled.slot[body]
            taken = plan.rows.role[plan.joints.rows[slot] : plan.joints.rows[slot + 1]]
            single = joint is not None and _is_single(self.joints[joint])
            if (taken == CONSTRAINT).any() or ((taken == EFFORT).any() and (limited or not single)):
                return _compile(self, elements_of(self), True, apart=True)
        return compiled

    @cached_property
    def merged(self) -> Compiled:
        """Return `compiled` without the bodies that rigid `Fixed` joints weld to others."""
        elements = elements_of(self)
        welds = find_welds(self, elements)
        return self.compiled if welds is None else _compile(self, welds.elements, True, welds)


def compile_structure(structure: Structure, clustered: bool = True) -> Compiled:
    """Compile ``structure``.

    ``clustered``: one dense node for each cluster of loops; if False, one for all loops (VI section 4.3).
    """
    return _compile(structure, elements_of(structure), clustered)


def recompile(structure: Structure, like: Compiled, placed_alike: bool = False) -> Compiled:
    """Compile a ``structure`` that differs from the one of ``like`` in the numbers of its bodies and joints alone.

    It has no forces and no joints that are products of exponentials, and ``like`` is no plan without welded bodies.
    ``placed_alike``: whether joints and poses of bodies agree, so that those of masses and inertias alone differ.
    """
    plan = like.plan
    bodies, length = _bodies_and_length(structure, like.order)
    angular = ANGULAR[plan.measures.kind[: plan.rows.role.size]]
    push = joints.push_scales(plan.joints.side, plan.joints.rows, bodies["scale"], angular)
    of_numbers: dict[str, Any] = {
        "bodies": replace(plan.bodies, **bodies, length=np.array([length])),
        "rows": replace(plan.rows, scale=np.where(angular, length, 1.0), push=push),
    }
    if length != like.length:
        of_numbers["products"] = replace(plan.products, length=np.array([length]))
    if not placed_alike:
        numbers = joints.rigid_numbers(structure, like.joints.tolist())
        of_numbers["measures"] = replace(plan.measures, **efforts.number_arrays(numbers))
    return replace(like, plan=replace(plan, **of_numbers), length=length)


def _compile(
    full: Structure,
    elements: list[tuple[int, Element]],
    clustered: bool,
    welds: Welds | None = None,
    apart: bool = False,
) -> Compiled:
    """Compile ``full``, the description, or the rest of it after its ``welds``.

    ``apart``: see `CompiledStructure.apart`.
    """
    structure = full if welds is None else welds.structure
    nb = len(structure.bodies)
    roles = find_roles(structure, elements, apart)
    held = {name for force in full.forces for name in force.held_joints(full)}
    topology = _find_topology(structure, roles, clustered, held, apart)
    order, slot = np.array(topology.bodies), np.empty(nb + 1, dtype=np.int64)
    slot[order], slot[-1] = np.arange(nb), nb
    frame = joints.joint_frame(structure, topology, roles, slot)
    bodies, length = _bodies_and_length(structure, order)
    places = efforts.measure_places(roles, frame)
    rows, measures = efforts.row_and_measure_arrays(structure, roles, frame, places, slot, length)
    pairs = joints.pair_arrays(frame, nb)
    rows["eliminated"] = joints.rows_eliminated(frame, pairs["pair"]).astype(np.int64)
    rows["push"] = joints.push_scales(frame.side, frame.joint_rows, bodies["scale"], rows.pop("angular"))
    parents = {"parent": [slot[topology.parent[i]] for i in order]}
    closing = loops.loop_arrays(topology, slot, frame.joint_rows, frame.side, nb)
    solver = {"solver": [solver_of(**pairs, rows=np.diff(frame.joint_rows)[:nb], closures=closing["row_start"][-1])]}
    left_out = {"loaded": (), "coupled": frame.hinge_of}
    bodies |= {name: efforts.loaded(structure, roles, slot, without) for name, without in left_out.items()}
    acts_on = [force.acts_on(full) for force in full.forces]
    if welds is not None:
        acts_on = [[welds.carrier[name] for name in names] for names in acts_on]
    plan = Plan(
        bodies=_record(Bodies, bodies | {"length": np.array([length])}),
        joints=_record(Joints, joints.joint_arrays(frame) | parents | pairs | solver),
        rows=_record(Rows, rows),
        measures=_record(Measures, measures),
        elements=_record(Elements, {"force": roles.force}),
        components=_record(Components, component_arrays(structure, order, roles.force, acts_on)),
        laws=_record(Laws, efforts.law_arrays(roles, len(frame.rows))),
        beams=_record(Beams, efforts.beam_arrays(roles, places)),
        paths=_record(Paths, path_arrays(roles, frame, places)),
        compliant=_record(CompliantRows, efforts.compliant_arrays(roles, frame)),
        constraints=_record(Constraints, efforts.constraint_arrays(roles, places)),
        **plan_parts(roles, places),
        contacts=_record(ContactTable, contact_arrays(structure, slot, roles)),
        massive_paths=_record(MassivePaths, massive_path_arrays(structure, roles.inertias, slot)),
        bearings=_record(Bearings, bearing_arrays(structure, roles, frame, slot)),
        loads=_record(LoadTable, efforts.load_arrays(structure, roles, places, slot)),
        products=_record(Products, joints.product_arrays(structure, frame) | {"length": [length]}),
        formulas=_record(Formulas, formula_arrays(structure, roles, places, slot, len(measures["kind"]))),
        loops=_record(Loops, closing),
    )
    numbers = np.array([j if j < len(structure.joints) else -1 for j in frame.joints])
    functions = efforts.users_functions(roles, places, len(plan.measures.kind))
    owners = roles.force[plan.laws.element[plan.laws.state >= 0]].tolist()
    law_names, forces = tuple(full.forces[k].name for k in owners), len(full.forces)
    counted = _counted(full, roles, places, plan.measures)
    followed = _followed(full, structure, elements, roles, places, plan)
    of_start = efforts.law_starts(roles), law_names, counted, followed, _euler_angles(full, roles, places)
    contact_rows = np.full((len(roles.contact_rows), 3), -1)
    for k, rows_of_contact in enumerate(roles.contact_rows):
        contact_rows[k, : len(rows_of_contact)] = [frame.row_of[m] for m in rows_of_contact]
    numbered = zip(roles.pairs, roles.pair_rows, strict=False)  # no rows but in `apart`
    of_places = [(e, each, rows) for (e, each), places in numbered for rows in places]
    pair_rows, number = np.full((len(of_places), 3), -1), {**structure.body_index, WORLD: -1}
    for k, (_, _, rows_of_place) in enumerate(of_places):
        pair_rows[k, : len(rows_of_place)] = [frame.row_of[m] for m in rows_of_place]
    place_of = [(e, slot[number[each.body]], slot[number[each.other]]) for e, each, _ in of_places]
    of_contacts = contact_rows, pair_rows, np.reshape(place_of, (-1, 3)).astype(np.int64)
    if welds is None:
        counts = forces, *of_contacts
        return Compiled(plan, topology, order, slot[:nb], numbers, length, functions, *of_start, *counts)
    table = welds.table(full, slot)
    order = np.array([full.body_index[structure.bodies[i].name] for i in order])
    numbers = np.append(welds.joints, -1)[numbers]
    return Compiled(
        plan, topology, order, table.slot, numbers, length, functions, *of_start, forces, *of_contacts, table
    )


def _counted(structure: Structure, roles: Roles, places: Sequence[int], measures: Measures) -> tuple[CountedAngle, ...]:
    """Return the coordinates of joints whose turns forces count; ``places``: of the measures in the plan."""
    angles: dict[tuple[str, int], list[int]] = {}
    for measure, m in zip(roles.measures, places, strict=True):
        if measure.angle_of is not None:
            angles.setdefault(measure.angle_of, []).append(m)
    return tuple(
        CountedAngle(joint, structure.joint(joint).dof, number, tuple(dict.fromkeys(at)), int(measures.product[at[0]]))
        for (joint, number), at in angles.items()
    )


def _euler_angles(structure: Structure, roles: Roles, places: Sequence[int]) -> tuple[EulerAngle, ...]:
    """Return the Euler angles that forces act along; ``places``: of the measures in the plan."""
    numbers: dict[EulerCoordinate, list[int]] = {}
    for measure, m in zip(roles.measures, places, strict=True):
        if measure.euler_angle_of is not None:
            numbers.setdefault(measure.euler_angle_of, []).append(m)
    return tuple(
        EulerAngle(force.name, *angle, tuple(dict.fromkeys(numbers.get(angle, []))))
        for force in structure.forces
        if isinstance(force, AlongCoordinate) and force.angles is not None
        for angle in [EulerCoordinate(force.joint, force.coordinate or 0, force.angles)]
    )


def _followed(
    full: Structure,
    structure: Structure,
    elements: list[tuple[int, Element]],
    roles: Roles,
    places: Sequence[int],
    plan: Plan,
) -> tuple[FollowedRotation, ...]:
    """Return the rotation vectors that forces follow; ``places``: of the measures in the plan."""
    first = {
        roles.ends[number]: int(plan.measures.rotation[m])
        for number, m in enumerate(places)
        if plan.measures.rotation[m] >= 0
    }
    rotations: dict[str, FollowedRotation] = {}
    number = {**structure.body_index, WORLD: -1}
    for k, element in elements if first else ():
        force = full.forces[k]
        for measure in element.measures if isinstance(element, Effort) else ():
            ends = number[measure.body_a], number[measure.body_b]
            if measure.followed and ends in first:
                axes = rotation_matrix(structure.bodies[ends[0]].quat_wxyz) if ends[0] >= 0 else np.eye(3)
                efforts_of = [e for e in full.elements[k] if isinstance(e, Effort)]
                bodies = next((m.body_a, m.body_b) for e in efforts_of for m in e.measures if m.followed)
                rotations[force.name] = FollowedRotation(force.name, first[ends], axes, bodies)
    return tuple(rotations.values())


def _bodies_and_length(structure: Structure, order: np.ndarray) -> tuple[dict[str, np.ndarray], float]:
    """Return arrays of the bodies, by slot, and the size of the parts, m."""
    bodies = body_arrays(structure, order)
    gyration = np.sqrt(np.trace(bodies["inertia"], axis1=1, axis2=2) / (2 * bodies["mass"]))
    return bodies, float(max(longest_arms(structure).max(), gyration.max()))


def _record(kind: type[KindOfRecord], arrays: Mapping[str, ArrayLike]) -> KindOfRecord:
    """Return a record of arrays of the types that its class names."""
    return kind(
        **{
            name: array if isinstance(array, CompiledRecord) else np.ascontiguousarray(array)
            for name, array in arrays.items()
        }
    )


def _is_single(joint: Joint) -> bool:
    """Return whether a joint moves along one coordinate alone, and along no compliant rows."""
    return joint.dof == 1 and not joint.compliant


def _is_curved(joint: Joint) -> bool:
    """Return whether a rigid joint moves along a curve or surface: its coordinates are no turns, slides and screws."""
    return not joint.compliant and any(motion.is_curved for motion in joint.allowed)


def _find_topology(structure: Structure, roles: Roles, clustered: bool, held: Collection[str], apart: bool) -> Topology:
    """Return the topology; ``held``: names of joints whose coordinates constraints keep."""
    number = {**structure.body_index, WORLD: -1}
    ends = [(number[joint.body_a], number[joint.body_b]) for joint in structure.joints]
    rows = [len(joint.rigid) for joint in structure.joints]
    pairs = [roles.ends[m] for m in roles.with_row]
    follows = {k for k, m in enumerate(roles.with_row) if m in roles.following}
    kept_joints = {structure.joint_index[name] for name in held}
    of_laws = {m for sum_measures in roles.sums[: len(set(roles.law_sum))] for m in sum_measures} - roles.limited

    def takes(spring: int, joint: int | None) -> bool:
        single = joint is not None and _is_single(structure.joints[joint])
        return not apart or (roles.with_row[spring] in of_laws and single)

    curved = {j for j, joint in enumerate(structure.joints) if apart and _is_curved(joint)}
    return find_topology(ends, rows, len(structure.bodies), clustered, pairs, follows, kept_joints, takes, curved)
