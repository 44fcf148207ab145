"""Couplings and prescribed motions of a mechanism's forces, in reduced coordinates."""

import numpy as np

from varint.courses import Course, Span, course_of_coordinate, moved_coordinates
from varint.errors import ArgumentError
from varint.mechanism import Mechanism
from varint.model.forces.base import Force
from varint.model.forces.coupled import Coupled
from varint.redmax.charts import EXPONENTIAL
from varint.redmax.tree import Tree


def coupling_rows(mechanism: Mechanism, tree: Tree) -> np.ndarray:
    """C (m, nq): the couplings keep C q.

    In the coordinates of tree joints a coupling is linear, whatever the measures of the maximal form.
    """
    rows = []
    for force in mechanism.forces:
        if force.constraint and not force.commanded:
            assert isinstance(force, Coupled)
            for terms in force.terms_of(mechanism):
                row = np.zeros(tree.nq)
                for name, coordinate, factor in terms:
                    row[_column(mechanism, tree, force, name, coordinate)] = factor
                rows.append(row)
    return np.array(rows).reshape(len(rows), tree.nq)


def _column(mechanism: Mechanism, tree: Tree, force: Force, name: str, coordinate: int) -> int:
    if tree.charts.get(name, EXPONENTIAL) != EXPONENTIAL:
        raise ArgumentError(
            f"{force.label}: {mechanism.joint(name).label} is in Euler angles, a coupling is of rotation vectors:"
            f" use chart='{EXPONENTIAL}'"
        )
    if name not in tree.columns:
        raise ArgumentError(
            f"{force.label}: {mechanism.joint(name).label} closes a loop, and reduced coordinates have none of its own:"
            " couple another joint of the loop"
        )
    return tree.columns[name].start + coordinate


def prescribed_motions(mechanism: Mechanism, span: Span) -> dict[str, Course]:
    """Joint name to the course (3, 1) of its coordinate, of the forces that prescribe a joint's motion.

    One at a constant rate is a `Steady`.
    """
    motions = {}
    for _, force in moved_coordinates(mechanism.forces):
        joint = mechanism.joint(force.joint)
        if joint.dof != 1:
            raise ArgumentError(
                f"{force.label}: reduced coordinates prescribe joints with one coordinate, {joint.label} has"
                f" {joint.dof}"
            )
        motions[force.joint] = course_of_coordinate(force, span)
    return motions
