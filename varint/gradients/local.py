"""Derivatives by numbers that change a few places of the plan, which are known without compiling it anew."""

import dataclasses
from functools import cached_property, partial
from typing import Any

import numpy as np

from varint.compile.joints import joint_frames
from varint.gradients.adjoint import Adjoint
from varint.gradients.numbers import GRAVITY, Number, differences, is_one_point
from varint.kernels.by_numbers import acting_law
from varint.kernels.plan import Workspace
from varint.kernels.workspace import workspace
from varint.mechanism import Mechanism
from varint.model.body import Body
from varint.model.forces.base import Constraint, Effort
from varint.model.joints.base import Joint
from varint.model.rotation import rotation_matrix


class Local:
    """The derivatives of an objective by single numbers, where that takes no compilation.

    Parameters
    ----------
    adjoint : Adjoint
        Of the objective.
    from_reference : bool
        Whether the run starts from ``mechanism.state()``, which moves with the numbers, not from a state that is given.
    """

    def __init__(self, adjoint: Adjoint, from_reference: bool) -> None:
        self.adjoint, self.from_reference = adjoint, from_reference
        self.mechanism: Mechanism = adjoint.run.mechanism
        self.plan = adjoint.run.compiled.plan

    def by(self, number: Number) -> np.ndarray | None:
        """The derivative, of the number's shape; None where it takes a compilation."""
        if number.name == GRAVITY:
            return self.adjoint.by.gravity.copy()
        if number.field is None:
            return None
        if isinstance(number.field.item, Body):
            return self._by_body(number)
        return self._by_joint(number) if isinstance(number.field.item, Joint) else self._by_force(number)

    def _by_body(self, number: Number) -> np.ndarray | None:
        """By a mass or an inertia."""
        assert number.field is not None
        body, attribute, _ = number.field
        if attribute not in ("mass", "inertia") or not self._forces_ignore_mass:
            return None
        if self.from_reference and not (self._at_reference and self._at_rest):  # how a loop follows depends on masses
            return None
        i, run, adjoint = self.mechanism.body_index[body.name], self.adjoint.run, self.adjoint
        slot = run.compiled.slot[i]
        if attribute == "mass":
            return adjoint.by.mass[slot] + adjoint.by_start[slot, 6:9] @ run.first.velocity[i]
        whole = adjoint.by.inertia[slot] + np.outer(adjoint.by_start[slot, 9:], run.first.angular_velocity[i])
        return 0.5 * (whole + whole.T)

    def _by_joint(self, number: Number) -> np.ndarray | None:
        """By the point of a joint, where it is one point of both of its bodies."""
        assert number.field is not None
        joint, attribute, changed = number.field
        if attribute != "point" or not is_one_point(joint):
            return None
        if not (self._at_reference and self._at_rest and self._forces_ignore_points):
            return None
        compiled, mechanism = self.adjoint.run.compiled, self.mechanism
        k = int(np.flatnonzero(compiled.joints == mechanism.joints.index(joint))[0])
        if self.plan.joints.product[k] >= 0:
            return None
        first = self.plan.joints.rows[k]
        ends = mechanism.body_index.get(joint.body_a, -1), mechanism.body_index.get(joint.body_b, -1)

        def rows(share: float, direction: np.ndarray) -> float:
            moved, total = changed(number.value + share * direction), 0.0
            frames = [part for frame in joint_frames(moved, mechanism, ends, self._rotation) for part in frame]
            for r, row in enumerate(moved.forbidden, first):
                new = row.numbers(*frames)
                total += self._by_row[r] @ np.concatenate([new.u, new.v, new.w, [new.c]])
            return total

        pairs = zip(number.steps, number.directions(), strict=True)  # rows are of second order in the point, at most
        return np.array([(rows(step, each) - rows(-step, each)) / (2.0 * step) for step, each in pairs])

    def _by_force(self, number: Number) -> np.ndarray | None:
        """By a number of laws that keep their measures, and whose efforts are no normal force of a sliding load."""
        assert number.field is not None
        run, (force, _, changed), given = self.adjoint.run, number.field, self.plan.laws
        before = force.elements(self.mechanism)
        if not all(isinstance(each, Effort) and each.table is None and not each.limits for each in before):
            return None
        elements = np.flatnonzero(run.compiled.force == self.mechanism.forces.index(force))
        laws = [int(np.flatnonzero(given.element == e)[0]) for e in elements]
        if np.isin(laws, self.plan.loads.pressing).any():
            return None
        for step, direction in zip(number.steps, number.directions(), strict=True):
            near = changed(number.value + step * direction).elements(self.mechanism)
            if not alike([(e.law, e.measures) for e in before], [(e.law, e.measures) for e in near]):
                return None
        sums = np.searchsorted(given.sum_law, laws, side="right") - 1

        def efforts(share: float, direction: np.ndarray) -> float:
            after, parameter = changed(number.value + share * direction), given.parameter.copy()
            for f, element in zip(laws, after.elements(self.mechanism), strict=True):
                values = element.law.values(element.parameters)
                parameter[given.first[f] : given.first[f] + len(values)] = values
            plan, total = dataclasses.replace(self.plan, laws=dataclasses.replace(given, parameter=parameter)), 0.0
            for f, s in zip(laws, sums, strict=True):
                total += acting_law(plan, self._ws, run.tape, run.count, f, s, self.adjoint.by)
            return total

        pairs = zip(number.steps, number.directions(), strict=True)
        found = [differences(partial(efforts, direction=each), step) for step, each in pairs]
        return np.reshape(found, number.value.shape)

    @cached_property
    def _ws(self) -> Workspace:
        return workspace(self.plan, 1, self.adjoint.run.compiled.functions)

    @cached_property
    def _rotation(self) -> np.ndarray:
        return np.array(rotation_matrix([body.quat_wxyz for body in self.mechanism.bodies]))

    @cached_property
    def _by_row(self) -> np.ndarray:
        """(nm, 10) by u, v, w and c of each measure."""
        by = self.adjoint.by
        return np.hstack([by.u, by.v, by.w, by.c[:, None]])

    @cached_property
    def _at_reference(self) -> bool:
        """Whether the run starts in the reference configuration."""
        first, bodies = self.adjoint.run.first, self.mechanism.bodies
        positions, quats = np.array([body.position for body in bodies]), np.array([body.quat_wxyz for body in bodies])
        there = np.array_equal(first.position, positions) and np.array_equal(first.quat_wxyz, quats)
        return self.from_reference and there

    @cached_property
    def _at_rest(self) -> bool:
        first = self.adjoint.run.first
        return not (first.velocity.any() or first.angular_velocity.any())

    @cached_property
    def _forces_ignore_mass(self) -> bool:
        bodies = [dataclasses.replace(body, mass=2.0 * body.mass) for body in self.mechanism.bodies]
        changed = dataclasses.replace(self.mechanism, bodies=bodies)
        return all(alike(force.elements(self.mechanism), force.elements(changed)) for force in self.mechanism.forces)

    @cached_property
    def _forces_ignore_points(self) -> bool:
        elements = [element for force in self.mechanism.forces for element in force.elements(self.mechanism)]
        return all(isinstance(e, Effort | Constraint) and not any(m.anchored for m in e.measures) for e in elements)


def alike(one: Any, other: Any) -> bool:
    """Whether two descriptions have the same values."""
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if dataclasses.is_dataclass(one):
        return type(one) is type(other) and alike(vars(one), vars(other))
    return bool(one is other or one == other)
