"""Derivatives by numbers that change a few places of the plan, without compiling the plan again."""

import dataclasses
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from varint.base.errors import MechanismError
from varint.derivatives.along_run import MotionSum
from varint.derivatives.backward import Adjoint
from varint.derivatives.numbers import (
    CENTRE,
    GRAVITY,
    OTHER_PARTS,
    PARTS,
    Number,
    check_derivative,
    differences,
    is_one_point,
    number_in,
    number_of,
    numbers_in,
    of_shape,
)
from varint.derivatives.stage_slopes import StageSlopes, arrays_of
from varint.derivatives.taped import MaximalTape
from varint.mechanism.mechanism import Mechanism
from varint.model.body import Body
from varint.model.forces.base import Constraint, Effort
from varint.model.joints.base import Joint
from varint.model.rotation_vectors import rotation_matrix
from varint.plan.joints import joint_frames
from varint.step.derivatives.by_numbers import acting_law
from varint.step.plan import ByNumbers, Plan, Tape, Workspace

Derivative = Callable[[int, Adjoint], "float | np.ndarray"]  # of index k of an objective and its adjoint
Place = tuple[str, int, str]  # of a number: "bodies", "joints" or "forces", index of the item, name of its field
AT_GRAVITY: Place = ("", 0, GRAVITY)
ROW_NUMBERS = 10  # u, v, w and c of a row
PICTURED = ("solids",)  # fields on which no motion depends


class Local:
    """The derivatives of objectives by single numbers that need no compilation of the changed plan.

    Parameters
    ----------
    run : MaximalTape
    from_reference : bool
        Whether the run starts from ``mechanism.state()``, which moves with the numbers, not from a specified state.
    objectives : int
        Number of the objectives.
    sums : list of MotionSum
        List to which the sums are added that the backward pass has to evaluate.

    Attributes
    ----------
    of_rows : bool
        Whether a derivative so far needs the gradient by the numbers of joints' rows.
    slopes : list of (str, int, StageSlopes)
        Names of numbers, their components, and the change of the stages by these.
    through : list of (str, int, str)
        Names of parameters of functions, their components, and the names of numbers that these change.
    """

    def __init__(self, run: MaximalTape, from_reference: bool, objectives: int, sums: list[MotionSum]) -> None:
        self.run, self.from_reference, self.objectives, self.sums = run, from_reference, objectives, sums
        self.mechanism: Mechanism = run.mechanism
        self.plan = run.compiled.plan
        self.of_rows = False
        self.slopes: list[tuple[str, int, StageSlopes]] = []
        self.through: list[tuple[str, int, str]] = []
        self._known: dict[Place, Derivative | None] = {}

    def by(self, number: Number) -> Derivative | None:
        """Return the derivative by ``number``, of its shape; None if it requires a compilation."""
        if number.name == GRAVITY:
            return lambda k, adjoint: adjoint.by.gravity.copy()
        if number.field is None:
            return self._by_parameter(number)
        check_derivative(number)
        if isinstance(number.field.item, Body):
            return self._by_body(number)
        return self._by_joint(number) if isinstance(number.field.item, Joint) else self._by_force(number)

    def _by_parameter(self, number: Number) -> Derivative | None:
        """Return the derivative by a parameter of a function that makes the mechanism, by the numbers it changes."""
        chains, parts = [], []
        for n, (step, direction) in enumerate(zip(number.steps, number.directions(), strict=True)):

            def made(share: float, direction: np.ndarray = direction) -> Mechanism:
                return number.replaced(number.value + share * direction)

            try:
                places = changed_places(self.mechanism, made(step))
                through = [by for place in places if (by := self._at(place)) is not None]
                if len(through) < len(places):
                    return None
                slopes = differences(partial(self._values, made, places), step)
            except MechanismError:  # at a bound, or another mechanism: reported where that is compiled
                return None
            ends = np.cumsum([np.size(value_at(self.mechanism, place)) for place in places]).astype(int)
            chains.append([*zip(through, np.split(slopes, ends)[:-1], strict=True)])
            parts += [(number.name, n, _name_at(self.mechanism, place)) for place in places]
        self.through += parts
        return lambda k, adjoint: of_shape(
            number, [sum((float(np.vdot(by(k, adjoint), slope)) for by, slope in chain), 0.0) for chain in chains]
        )

    def _values(self, made: Callable[[float], Mechanism], places: list[Place], share: float) -> np.ndarray:
        """Return the numbers at ``places`` of the mechanism ``made(share)``, in one array.

        Raises MechanismError if it differs from the mechanism elsewhere too.
        """
        after = made(share)
        if not set(changed_places(self.mechanism, after)) <= set(places):
            raise MechanismError(OTHER_PARTS)
        return np.concatenate([np.zeros(0), *(np.ravel(value_at(after, place)) for place in places)])

    def _at(self, place: Place) -> Derivative | None:
        """Return the derivative by the number at ``place``, determined once; None if it requires a compilation."""
        if place not in self._known:
            self._known[place] = self._determined_at(place)
        return self._known[place]

    def _determined_at(self, place: Place) -> Derivative | None:
        """Determine the result of `_at`."""
        if place == AT_GRAVITY:
            return self.by(number_of(self.mechanism, GRAVITY))
        part, k, attribute = place
        item = getattr(self.mechanism, part)[k]
        if attribute not in numbers_in(item):
            return None
        number = number_in(self.mechanism, part, item, attribute)
        return self.by(number) if number.series is None else None

    def _by_body(self, number: Number) -> Derivative | None:
        """Return the derivative by a mass, an inertia or the position of the centre of mass; None for other numbers."""
        assert number.field is not None
        body, attribute, _ = number.field
        if attribute == CENTRE:
            return self._by_position(number)
        if attribute not in ("mass", "inertia") or not self._forces_ignore_mass:
            return None
        if not self._start_ignores_mass:
            return None
        i, run = self.mechanism.body_index[body.name], self.run
        slot = run.compiled.slot[i]

        def by_mass(k: int, adjoint: Adjoint) -> float:
            return float(adjoint.by.mass[slot] + adjoint.by_start[slot, 6:9] @ run.first.velocity[i])

        def by_inertia(k: int, adjoint: Adjoint) -> np.ndarray:
            whole = adjoint.by.inertia[slot] + np.outer(adjoint.by_start[slot, 9:], run.first.angular_velocity[i])
            return 0.5 * (whole + whole.T)

        return by_mass if attribute == "mass" else by_inertia

    def _by_position(self, number: Number) -> Derivative | None:
        """Return the derivative by the position of a centre of mass, or None if it requires a compilation.

        Relative to the centre of mass the anchors move; the run starts at the new position.
        """
        assert number.field is not None
        body, _, changed = number.field
        if not (self._at_reference and self._at_rest and self._forces_ignore_points):
            return None
        mechanism, i = self.mechanism, self.mechanism.body_index[body.name]
        joints = [joint for joint in mechanism.joints if body.name in (joint.body_a, joint.body_b)]
        if self.run.compiled.welds is not None or any(self._has_other_rows(joint) for joint in joints):
            return None
        self.of_rows = True
        slot, moved_rows = self.run.compiled.slot[i], [row for joint in joints for row in self._rows_of(joint)]

        def moved(share: float, direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            bodies = [*mechanism.bodies]
            bodies[i] = changed(number.value + share * direction)
            other = dataclasses.replace(mechanism, bodies=bodies)
            numbers = [row for joint in joints for row in self._row_numbers(joint, other)]
            return np.reshape(numbers, (len(moved_rows), ROW_NUMBERS)), bodies[i].position

        slopes = []
        for step, direction in zip(number.steps, number.directions(), strict=True):
            ahead, behind = moved(step, direction), moved(-step, direction)  # linear in the position
            slopes.append([(far - near) / (2.0 * step) for far, near in zip(ahead, behind, strict=True)])

        def derivative(k: int, adjoint: Adjoint) -> float | np.ndarray:
            by_row, start = by_rows(adjoint, moved_rows), adjoint.by_start[slot, :3]
            return of_shape(number, [float(np.sum(by_row * rows) + start @ place) for rows, place in slopes])

        return derivative

    def _has_other_rows(self, joint: Joint) -> bool:
        """Return whether ``joint`` has rows that are compliant, or of products of exponentials."""
        k = int(np.flatnonzero(self.run.compiled.joints == self.mechanism.joints.index(joint))[0])
        return joint.compliance is not None or bool(self.plan.joints.product[k] >= 0)

    def _rows_of(self, joint: Joint) -> range:
        """Return the numbers of the rows of ``joint`` in the plan."""
        k = int(np.flatnonzero(self.run.compiled.joints == self.mechanism.joints.index(joint))[0])
        return range(self.plan.joints.rows[k], self.plan.joints.rows[k] + len(joint.forbidden))

    def _row_numbers(self, joint: Joint, mechanism: Mechanism) -> list[np.ndarray]:
        """Return the numbers u, v, w, c (10,) of each row of ``joint`` in ``mechanism``.

        ``mechanism`` may differ from that of the run in points of joints and centres of mass.
        """
        index = self.mechanism.body_index
        ends = index.get(joint.body_a, -1), index.get(joint.body_b, -1)
        frames = [part for frame in joint_frames(joint, mechanism, ends, self._rotation) for part in frame]
        rows = (row.numbers(*frames) for row in joint.forbidden)
        return [np.concatenate([row.u, row.v, row.w, [row.c]]) for row in rows]

    def _by_joint(self, number: Number) -> Derivative | None:
        """Return the derivative by the point of a joint, if it is one point of both of its bodies; else None."""
        assert number.field is not None
        joint, attribute, changed = number.field
        if attribute != "point" or not is_one_point(joint):
            return None
        if not (self._at_reference and self._at_rest and self._forces_ignore_points):
            return None
        if self._has_other_rows(joint):
            return None
        moved_rows, self.of_rows = self._rows_of(joint), True

        def rows(share: float, direction: np.ndarray) -> np.ndarray:
            return np.array(self._row_numbers(changed(number.value + share * direction), self.mechanism))

        pairs = zip(number.steps, number.directions(), strict=True)  # rows are of second order in the point, at most
        slopes = [(rows(step, each) - rows(-step, each)) / (2.0 * step) for step, each in pairs]

        def derivative(k: int, adjoint: Adjoint) -> float | np.ndarray:
            by_row = by_rows(adjoint, moved_rows)
            return of_shape(number, [float(np.sum(by_row * slope.reshape(by_row.shape))) for slope in slopes])

        return derivative

    def _by_force(self, number: Number) -> Derivative | None:
        """Return the derivative by a number of the laws of a force, or None if it requires a compilation.

        Its measures must not change, and its efforts must not be the normal force of a load.
        """
        assert number.field is not None
        run, (force, _, changed), law_table = self.run, number.field, self.plan.laws
        before = force.elements(self.mechanism)
        if not all(isinstance(each, Effort) and each.table is None and not each.terms for each in before):
            return None
        elements = np.flatnonzero(run.compiled.force == self.mechanism.forces.index(force))
        laws = [int(np.flatnonzero(law_table.element == e)[0]) for e in elements]
        if np.isin(laws, self.plan.loads.pressing).any():
            return None
        for step, direction in zip(number.steps, number.directions(), strict=True):
            try:
                near = changed(number.value + step * direction).elements(self.mechanism)
            except MechanismError:  # at a bound
                return None
            if [type(e) for e in near] != [type(e) for e in before]:
                return None
            if not alike(*([(e.law, e.measures, e.start) for e in each] for each in (before, near))):
                return None
        sums = np.searchsorted(law_table.sum_law, laws, side="right") - 1

        def parameters(share: float, direction: np.ndarray) -> np.ndarray:
            after, parameter = changed(number.value + share * direction), law_table.parameter.copy()
            for f, element in zip(laws, after.elements(self.mechanism), strict=True):
                values = element.law.values(element.parameters)
                parameter[law_table.first[f] : law_table.first[f] + len(values)] = values
            return np.where(np.isfinite(law_table.parameter), parameter, 0.0)

        def of_law(f: int, s: int, slopes: list[np.ndarray | None], n: int, step: float) -> StageSlopes:
            def kernel(
                plan: Plan, ws: Workspace, tape: Tape, stages: np.ndarray, by: ByNumbers, out: np.ndarray
            ) -> None:
                acting_law(plan, ws, tape, stages, f, s, by, out)

            made = StageSlopes(self.objectives, run, slopes, kernel, step)
            self.sums.append(made)
            self.slopes.append((number.name, n, made))
            return made

        arrays, by_direction = arrays_of(self.plan), []
        for n, (step, direction) in enumerate(zip(number.steps, number.directions(), strict=True)):
            slope = differences(partial(parameters, direction=direction), step)
            slopes = [slope if array is law_table.parameter else None for array in arrays]
            by_direction.append([of_law(f, int(s), slopes, n, step) for f, s in zip(laws, sums, strict=True)])
        return lambda k, adjoint: of_shape(number, [sum(float(law.totals[k]) for law in each) for each in by_direction])

    @cached_property
    def _rotation(self) -> np.ndarray:
        """Return the rotation matrices (nb, 3, 3) of the reference configuration."""
        return np.array(rotation_matrix([body.quat_wxyz for body in self.mechanism.bodies]))

    @cached_property
    def _at_reference(self) -> bool:
        """Return whether the run starts in the reference configuration, and moves with it."""
        first, bodies = self.run.first, self.mechanism.bodies
        positions, quats = np.array([body.position for body in bodies]), np.array([body.quat_wxyz for body in bodies])
        there = np.array_equal(first.position, positions) and np.array_equal(first.quat_wxyz, quats)
        return self.from_reference and there

    @cached_property
    def _at_rest(self) -> bool:
        """Return whether the run starts at rest."""
        first = self.run.first
        return not (first.velocity.any() or first.angular_velocity.any())

    @cached_property
    def _start_ignores_mass(self) -> bool:
        """Return whether the run's initial state is independent of masses.

        Masses decide how loops and couplings follow their joints, how bodies reach specified poses or velocities, and
        how open joints close.
        """
        if not self.from_reference or (self._at_reference and self._at_rest):
            return True
        follows = self.run.compiled.topology.cluster_of or self.plan.constraints.row.size
        return self.mechanism.is_closed and not follows and self.mechanism.start.keys() <= {"coordinates", "rates"}

    @cached_property
    def _forces_ignore_mass(self) -> bool:
        """Return whether no element of a force depends on masses."""
        bodies = [dataclasses.replace(body, mass=2.0 * body.mass) for body in self.mechanism.bodies]
        changed = dataclasses.replace(self.mechanism, bodies=bodies)
        return all(alike(force.elements(self.mechanism), force.elements(changed)) for force in self.mechanism.forces)

    @cached_property
    def _forces_ignore_points(self) -> bool:
        """Return whether no element of a force has an anchor on a body."""
        elements = [element for force in self.mechanism.forces for element in force.elements(self.mechanism)]
        return all(isinstance(e, Effort | Constraint) and not any(m.anchored for m in e.measures) for e in elements)


def by_rows(adjoint: Adjoint, rows: Sequence[int]) -> np.ndarray:
    """Return the gradient (n, 10) by the numbers of ``rows`` (n,), see `Local._row_numbers`."""
    by, numbers = adjoint.by, [*rows]
    return np.hstack([by.u[numbers], by.v[numbers], by.w[numbers], by.c[numbers, None]])


def changed_places(before: Mechanism, after: Mechanism) -> list[Place]:
    """Return the places at which two mechanisms have other values. Raises MechanismError if anything else differs."""
    places = [] if alike(before.gravity, after.gravity) else [AT_GRAVITY]
    pairs = [(part, getattr(before, part), getattr(after, part)) for part in PARTS]
    if not alike(dict(before.start), dict(after.start)) or any(len(old) != len(new) for _, old, new in pairs):
        raise MechanismError(OTHER_PARTS)
    for part, old, new in pairs:
        for k, (one, other) in enumerate(zip(old, new, strict=True)):
            if type(one) is not type(other) or one.name != other.name:
                raise MechanismError(OTHER_PARTS)
            if one is not other:
                names = (field.name for field in dataclasses.fields(one) if field.name not in PICTURED)
                changed = [name for name in names if not alike(getattr(one, name), getattr(other, name))]
                if isinstance(one, Joint) and "point" in changed and is_one_point(one) and is_one_point(other):
                    changed.remove("point_b")  # the same point
                places += [(part, k, name) for name in changed]
    return places


def _name_at(mechanism: Mechanism, place: Place) -> str:
    """Return the name of the number at ``place``."""
    part, k, attribute = place
    return f"{getattr(mechanism, part)[k].name}.{attribute}" if part else attribute


def value_at(mechanism: Mechanism, place: Place) -> Any:
    """Return the value of the field at ``place``."""
    part, k, name = place
    return getattr(getattr(mechanism, part)[k] if part else mechanism, name)


def alike(one: Any, other: Any) -> bool:
    """Return whether two descriptions, or values in them, are the same."""
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if dataclasses.is_dataclass(one):
        return type(one) is type(other) and alike(vars(one), vars(other))
    return bool(one is other or one == other)
