"""Couplings and prescribed motions of a mechanism's forces, in reduced coordinates."""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from varint.errors import ArgumentError
from varint.loads import NEAR, derivatives, motion_through, value_at
from varint.mechanism import Mechanism
from varint.model.forces.along import AlongCoordinate
from varint.model.forces.base import Force
from varint.model.forces.commanded import Commanded
from varint.model.forces.coupled import Coupled
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
                    row[_column(mechanism, tree.columns, force, name, coordinate)] = factor
                rows.append(row)
    return np.array(rows).reshape(len(rows), tree.nq)


def _column(mechanism: Mechanism, columns: Mapping[str, slice], force: Force, name: str, coordinate: int) -> int:
    if name not in columns:
        raise ArgumentError(
            f"{force.label}: {mechanism.joint(name).label} closes a loop, and reduced coordinates have none of its own:"
            " couple another joint of the loop"
        )
    return columns[name].start + coordinate


class Steady:
    """A motion at a constant ``rate``, m/s or rad/s, from ``start``, m or rad, which the start of a run sets."""

    def __init__(self, rate: float) -> None:
        self.rate, self.start = rate, 0.0

    def __call__(self, t: float) -> tuple[float, float, float]:
        return self.start + self.rate * t, self.rate, 0.0


def prescribed_motions(
    mechanism: Mechanism, steps: int, dt: float | None, end: float
) -> dict[str, Callable[[float], tuple[float, float, float]]]:
    """Joint name to function of time (q, qdot, qddot), of the forces that prescribe a joint's motion.

    One at a constant rate is a `Steady`. Functions of time are called within the run, from 0 to ``end``, s.
    """
    motions = {}
    for force in mechanism.forces:
        if force.constraint and force.commanded:
            assert isinstance(force, AlongCoordinate)
            assert isinstance(force, Commanded)
            joint = mechanism.joint(force.joint)
            if joint.dof != 1:
                raise ArgumentError(
                    f"{force.label}: reduced coordinates prescribe joints with one coordinate, {joint.label} has"
                    f" {joint.dof}"
                )
            motions[force.joint] = _motion(force, steps, dt, end)
    return motions


def _motion(
    force: Commanded, steps: int, dt: float | None, end: float
) -> Callable[[float], tuple[float, float, float]]:
    position = force.input
    if position is None:
        assert force.constant_rate is not None  # one of the two is given
        return Steady(force.constant_rate)
    if callable(position):
        h = NEAR * (dt or 0.01 * end)
        return lambda t: derivatives(partial(value_at, force), t, h, end)
    if not position.shape:
        return lambda t: (float(position), 0.0, 0.0)
    if dt is None or position.shape != (steps + 1,):
        wanted = "needs dt=, the spacing of its values" if dt is None else f"must have {steps + 1} values, one a node"
        raise ArgumentError(f"{force.command_name} of {force.label} {wanted}")
    spline = motion_through(position, dt)
    return lambda t: (spline(t), spline(t, 1), spline(t, 2))
