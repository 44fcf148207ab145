"""Parts of a mechanism's forces: the elements in order, their measures, and the sums of these.

A sum is the coordinate g = g_1 + ... + g_n that an effort acts along, with a weight for each measure; mostly n = 1.
All laws along the same measures share one sum. Sums with laws come first, then those of constraints.
"""

from dataclasses import dataclass

import numpy as np

from varint.measures import Measure
from varint.measures.middle import MiddleDisplacement
from varint.measures.rotation import RotationComponent
from varint.model.body import WORLD
from varint.model.forces.base import BearingFriction, BodyContact, BodyLoad, Constraint, Effort, Element, PlaneContact
from varint.model.forces.path import PathInertia
from varint.model.structure import Structure
from varint.plan.shape_table import slots_between

ELEMENT = (*3 * (MiddleDisplacement.kind,), *3 * (RotationComponent.kind,))  # measures of an element of a beam
FRICTION_ROWS = 2  # of two bodies that slide on each other: along the surface
MOST_PLACES = 12  # contacts of two bodies that have rows at once; others that touch then are redundant, or not solved


@dataclass(frozen=True, eq=False)
class Roles:
    """The elements of a mechanism's forces.

    Attributes
    ----------
    force : (ne,) int
        Number of the force that each element is part of; all pairs of bodies of a force are one element.
    measures : list of Measure
        Those of all sums, one sum after another.
    sums : list of list of int
        Numbers of the measures of each sum.
    weights : list of tuple of float
        Weights of the measures of each sum of laws.
    laws, constraints, loads, contacts, pairs : list of (int, element)
        Element number and element; laws in the order of their sums.
    law_sum : list of int
        Sum of each law.
    ends : list of (int, int)
        Numbers of the two bodies of each measure, in the order of the description; -1 for the world.
    load_rows : list of list of int
        Measures in no sum that stand for the rows of each load: those of friction between two bodies.
    contact_rows : list of list of int
        Measures in no sum for the rows of each contact with a plane: along its normal and, with friction, along two
        directions across it. None but in steps where contacts have rows (`CompiledStructure.apart`).
    bearings : list of (int, element)
        Friction of joints of one coordinate from their load.
    bearing_rows : list of int
        Measure in no sum that stands for the row of each: the coordinate of its joint.
    pair_rows : list of list of list of int
        Measures in no sum for the rows of contacts of shapes, of each pair of bodies: of each place for a contact.
    with_row : list of int
        Measures with a row in Newton's system: those between two bodies, in sums of several, of constraints, of limits.
    plain : list of int
        Measures of laws that are alone in their sums and have no terms, no compliance and no path.
    following : set of int
        Measures that are not the first of their sum.
    beams : list of int
        First of the six sums of each element of a beam.
    compliant : list of int
        Sums of joints' rows with a compliance.
    paths : dict
        Of each sum of measures along the path of a muscle: the measure that has one row for all of them, -1 where the
        only body that they move takes them, or None where each has its own (step/paths/measures.py).
    inertias : list of PathInertia
        Masses along paths, which are no elements of a plan: they have no effort and do no work.
    """

    force: np.ndarray
    measures: list[Measure]
    sums: list[list[int]]
    weights: list[tuple[float, ...]]
    laws: list[tuple[int, Effort]]
    law_sum: list[int]
    constraints: list[tuple[int, Constraint]]
    loads: list[tuple[int, BodyLoad]]
    contacts: list[tuple[int, PlaneContact]]
    pairs: list[tuple[int, BodyContact]]
    load_rows: list[list[int]]
    bearings: list[tuple[int, BearingFriction]]
    bearing_rows: list[int]
    contact_rows: list[list[int]]
    pair_rows: list[list[list[int]]]
    ends: list[tuple[int, int]]
    with_row: list[int]
    plain: list[int]
    following: set[int]
    beams: list[int]
    compliant: list[int]
    paths: dict[int, int | None]
    inertias: list[PathInertia]

    @property
    def limited(self) -> set[int]:
        """Return the measures of laws with hard limits."""
        return {self.sums[s][0] for s, (_, law) in zip(self.law_sum, self.laws, strict=True) if law.terms}

    @property
    def beam_sums(self) -> list[int]:
        """Return the sums of the elements of beams."""
        return [s for first in self.beams for s in range(first, first + len(ELEMENT))]


def elements_of(structure: Structure) -> list[tuple[int, Element]]:
    """Return the elements of all forces of ``structure``, with the numbers of these forces."""
    return [(k, element) for k, force in enumerate(structure.forces) for element in force.elements(structure)]


def find_roles(structure: Structure, parts: list[tuple[int, Element]], touching: bool = False) -> Roles:
    """Return the roles of ``parts``, the numbered elements of all forces, on the bodies of ``structure``.

    ``touching``: whether contacts have rows.
    """
    forces, numbered = _numbered([(k, element) for k, element in parts if not isinstance(element, PathInertia)])
    groups: dict[tuple, list] = {}
    for e, element in numbered:
        if isinstance(element, Effort):
            key = (*(measure.key for measure in element.measures), element.weights)
            groups.setdefault(key, []).append((e, element))
    constraints = [(e, element) for e, element in numbered if isinstance(element, Constraint)]
    constraints.sort(key=lambda item: item[1].rank)
    measures: list[Measure] = []
    sums: list[list[int]] = []
    for group in [*groups.values(), *([item] for item in constraints)]:
        group_measures = group[0][1].measures
        sums.append(list(range(len(measures), len(measures) + len(group_measures))))
        measures.extend(group_measures)
    loads = [(e, element) for e, element in numbered if isinstance(element, BodyLoad)]
    load_rows: list[list[int]] = []
    for _, element in loads:
        pressing = [] if element.other is None or element.pressed_by is None else element.pressed_by.measures
        load_rows.append([len(measures) + k for k in range(FRICTION_ROWS * len(pressing))])
        measures.extend(FRICTION_ROWS * [*pressing])
    bearings = _bearings(numbered)
    bearing_rows = list(range(len(measures), len(measures) + len(bearings)))
    measures += [element.measure for _, element in bearings if element.measure is not None]
    contacts = [(e, element) for e, element in numbered if isinstance(element, PlaneContact)]
    pairs = [(e, element) for e, element in numbered if isinstance(element, BodyContact)]
    contact_rows, pair_rows = _contact_rows(measures, contacts, pairs) if touching else ([], [])
    number = {**structure.body_index, WORLD: -1}
    ends = [(number[measure.body_a], number[measure.body_b]) for measure in measures]
    needed = {m for group_measures in sums if len(group_measures) > 1 for m in group_measures}
    needed |= {m for group_measures in sums[len(groups) :] for m in group_measures}
    for s, group in enumerate(groups.values()):
        if any(element.terms for _, element in group):
            needed.add(sums[s][0])
    of_pairs = (place for places in pair_rows for place in places)
    needed |= {m for rows in (*contact_rows, *of_pairs) for m in rows} | set(bearing_rows)
    beams = _beams(measures, sums[: len(groups)])
    needed |= {sums[s][0] for first in beams for s in range(first, first + len(ELEMENT))}
    compliant = [s for s, group in enumerate(groups.values()) if any(element.compliant for _, element in group)]
    needed |= {sums[s][0] for s in compliant}
    along = [all(element.law.along_path for _, element in group) for group in groups.values()]
    paths = {s: _carrier(sums[s], ends) for s, path in enumerate(along) if path}
    carriers = {m for m in paths.values() if m is not None}
    joined = {m for s, carrier in paths.items() if carrier is not None for m in sums[s]} - carriers
    return Roles(
        force=np.array(forces, dtype=np.int64),
        measures=measures,
        sums=sums,
        weights=[group[0][1].weights or (1.0,) * len(group[0][1].measures) for group in groups.values()],
        laws=[item for group in groups.values() for item in group],
        law_sum=[s for s, group in enumerate(groups.values()) for _ in group],
        constraints=constraints,
        loads=loads,
        contacts=contacts,
        pairs=pairs,
        load_rows=load_rows,
        bearings=bearings,
        bearing_rows=bearing_rows,
        contact_rows=contact_rows,
        pair_rows=pair_rows,
        ends=ends,
        with_row=[m for m, pair in enumerate(ends) if m not in joined and (-1 not in pair or m in needed)],
        plain=[
            group_measures[0]
            for s, group_measures in enumerate(sums[: len(groups)])
            if group_measures[0] not in needed and s not in paths
        ],
        following={m for group_measures in sums for m in group_measures[1:]} - carriers,
        beams=beams,
        compliant=compliant,
        paths=paths,
        inertias=[element for _, element in parts if isinstance(element, PathInertia)],
    )


def _bearings(elements: list[tuple[int, Element]]) -> list[tuple[int, BearingFriction]]:
    """Return the friction of joints of one coordinate from their load, with the numbers of its elements."""
    frictions = [(e, element) for e, element in elements if isinstance(element, BearingFriction)]
    return [(e, friction) for e, friction in frictions if friction.measure is not None]


def _contact_rows(
    measures: list[Measure],
    contacts: list[tuple[int, PlaneContact]],
    pairs: list[tuple[int, BodyContact]],
) -> tuple[list[list[int]], list[list[list[int]]]]:
    """Return `contact_rows` and `pair_rows` of `Roles`; append their measures to ``measures``.

    Gradients of these rows follow from the contacts.
    """
    contact_rows: list[list[int]] = []
    for _, contact in contacts:
        count = 1 + FRICTION_ROWS * (contact.friction > 0.0)
        for height in contact.heights:
            contact_rows.append([len(measures) + k for k in range(count)])
            measures.extend(count * [height])
    pair_rows: list[list[list[int]]] = []
    for _, pair in pairs:
        count = 1 + FRICTION_ROWS * (pair.friction > 0.0)
        places, first = slots_between(pair.shapes, pair.other_shapes, MOST_PLACES), len(measures)
        pair_rows.append([list(range(first + k * count, first + (k + 1) * count)) for k in range(places)])
        measures.extend(places * count * [pair.apart])
    return contact_rows, pair_rows


def _numbered(elements: list[tuple[int, Element]]) -> tuple[list[int], list[tuple[int, Element]]]:
    """Return the force of each number of an element, and the elements with their numbers.

    All pairs of bodies of one force have one number, as there may be many.
    """
    forces: list[int] = []
    numbered: list[tuple[int, Element]] = []
    for k, element in elements:
        if not (isinstance(element, BodyContact) and forces and forces[-1] == k):
            forces.append(k)
        numbered.append((len(forces) - 1, element))
    return forces, numbered


def _carrier(measures: list[int], ends: list[tuple[int, int]]) -> int | None:
    """Return the carrier of a path, see `Roles.paths`; ``measures``: of a sum, ``ends``: of all."""
    moving = {end for m in measures for end in ends[m]} - {-1}
    if len(moving) == 1:
        return -1
    return next((m for m in measures if set(ends[m]) == moving), None)


def _beams(measures: list[Measure], sums: list[list[int]]) -> list[int]:
    """Return the first of each six sums, of one measure each, of an element of a beam: between the same points."""
    kinds = [measures[sum_measures[0]].kind if len(sum_measures) == 1 else "" for sum_measures in sums]
    beams: list[int] = []
    for s in range(len(sums) - len(ELEMENT) + 1):
        if kinds[s] != ELEMENT[0] or tuple(kinds[s : s + len(ELEMENT)]) != ELEMENT:
            continue
        sum_measures = [measures[sums[s + k][0]] for k in range(len(ELEMENT))]
        points = {(*m.point_a, *m.point_b) for m in sum_measures if isinstance(m, MiddleDisplacement)}
        if len(points) == 1 and len({(m.body_a, m.body_b) for m in sum_measures}) == 1:
            beams.append(s)
    return beams
