"""Couplings and prescribed motions of a mechanism's forces, in reduced coordinates."""

from collections.abc import Callable, Mapping

import numpy as np

from varint.base.errors import ArgumentError
from varint.base.numba import compiled_law
from varint.mechanism.mechanism import Mechanism
from varint.methods.reduced.charts import EXPONENTIAL
from varint.methods.reduced.tree import IS_FREE, Tree
from varint.model.forces.base import Force
from varint.model.forces.coupled import Coupled
from varint.results.inputs.courses import Course, Span, course_of_coordinate, moved_coordinates

DRIFTED = 1e-3  # m or rad: most that a sum may have drifted from its target where a run goes on


class Couplings:
    """Sums that couplings keep: c(q) (m,) of factor times coordinate of a tree joint, or times a function of it."""

    def __init__(self, mechanism: Mechanism, tree: Tree) -> None:
        rows: list[np.ndarray] = []
        self._mapped: list[tuple[int, int, float, Callable]] = []
        self._forces: list[Coupled] = []
        self._columns, self._mechanism = tree.columns, mechanism
        for force in mechanism.forces:
            if isinstance(force, Coupled):
                self._forces.append(force)
                for terms in force.terms_of(mechanism):
                    row = np.zeros(tree.nq)
                    for name, coordinate, factor, function in terms:
                        column = _column(mechanism, tree, force, name, coordinate)
                        if function is None:
                            row[column] = factor
                        else:
                            self._mapped.append((len(rows), column, factor, compiled_law(function, 1)))
                    rows.append(row)
        self._linear = np.array(rows).reshape(len(rows), tree.nq)

    def check(self, q: np.ndarray) -> None:
        """Raise MechanismError where a function that the user wrote is wrong at ``q``."""
        for force in self._forces:
            force.check_functions(lambda joint, number: float(q[self._columns[joint].start + number]))

    def __len__(self) -> int:
        return len(self._linear)

    def values(self, q: np.ndarray) -> np.ndarray:
        """Return the values c (m,) of the couplings at ``q`` (nq,)."""
        c = self._linear @ q
        for row, column, factor, function in self._mapped:
            c[row] += factor * function(q[column])[0]
        return c

    def targets(self, q: np.ndarray, memory: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the values (m,) to keep from a start at ``q`` (nq,).

        Those there, or in ``memory``, by force, of a run that goes on, whose sums have drifted from them.
        """
        there = self.values(q)
        targets = np.array([x for name, n in self._sizes() for x in memory.get(name, [np.nan] * n)], dtype=float)
        return np.where(np.abs(targets - there) <= DRIFTED, targets, there)

    def force_of(self, row: int) -> str:
        """Return the name of the force that has a row."""
        return [name for name, size in self._sizes() for _ in range(size)][row]

    def memory(self, targets: np.ndarray) -> dict[str, np.ndarray]:
        """Return the ``targets`` (m,) by force."""
        parts = np.split(targets, np.cumsum([n for _, n in self._sizes()])[:-1])
        return {name: part for (name, _), part in zip(self._sizes(), parts, strict=False)}

    def _sizes(self) -> list[tuple[str, int]]:
        """Return the name of each force, and how many sums it keeps."""
        return [(force.name, len(force.terms_of(self._mechanism))) for force in self._forces]

    def rows(self, q: np.ndarray) -> np.ndarray:
        """Return the derivatives (m, nq) of c by q."""
        return self._and_of_functions(self._linear, q, 1)

    def bends(self, q: np.ndarray) -> np.ndarray:
        """Return the second derivatives (m, nq) of c by each coordinate; there are no mixed ones."""
        return self._and_of_functions(np.zeros_like(self._linear), q, 2)

    def _and_of_functions(self, linear: np.ndarray, q: np.ndarray, order: int) -> np.ndarray:
        """Return ``linear`` (m, nq) plus the derivatives of the functions of this ``order``."""
        if not self._mapped:
            return linear
        linear = linear.copy()
        for row, column, factor, function in self._mapped:
            linear[row, column] += factor * function(q[column])[order]
        return linear


def _column(mechanism: Mechanism, tree: Tree, force: Force, name: str, coordinate: int) -> int:
    if mechanism.joint(name).compliant:
        raise ArgumentError(f"{force.label}: {mechanism.joint(name).label} {IS_FREE}")
    if tree.charts.get(name, EXPONENTIAL) != EXPONENTIAL:
        raise ArgumentError(
            f"{force.label}: {mechanism.joint(name).label} is in Euler angles, a coupling is of rotation vectors:"
            f" use chart='{EXPONENTIAL}'"
        )
    if name not in tree.columns:
        raise ArgumentError(
            f"{force.label}: {mechanism.joint(name).label} closes a loop, and the joints of that loop that couplings"
            " and prescribed motions hold are all of them: reduced coordinates need one that is free"
        )
    return tree.columns[name].start + coordinate


def prescribed_motions(mechanism: Mechanism, span: Span) -> dict[str, Course]:
    """Return the course (3, 1) of the only coordinate of each joint whose motion a force prescribes, by joint.

    Motions at a constant rate are `Steady`.
    """
    driven = (force for _, force in moved_coordinates(mechanism.forces))
    return {force.joint: course_of_coordinate(force, span) for force in driven if mechanism.joint(force.joint).dof == 1}
