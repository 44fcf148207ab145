"""Turns of the angles that forces and stops count: those that a state carries, else the nearest to a reference."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from varint.base.callers import level_of_user
from varint.base.checks import array_of, by_name, shown
from varint.base.errors import StateError, TurnsWarning
from varint.kinematics.followed_angles import followed_at
from varint.kinematics.frames import JointFrames, nearest_coordinates, with_world
from varint.measures.base import EulerCoordinate
from varint.model.forces.along import AlongCoordinate
from varint.model.forces.base import Constraint, Effort
from varint.model.forces.coupled import Coupled
from varint.model.forces.measured import euler_place, vector_entries
from varint.model.joints.base import Joint
from varint.model.motion import Ball, Turn
from varint.model.state import State
from varint.model.structure import Structure
from varint.plan import Compiled, CompiledStructure
from varint.step.plan import Plan, Workspace
from varint.step.workspace import values_of

TURN = 2 * np.pi  # rad
ROUND_OFF = 1e-9  # rad


class Reference:
    """Coordinates of the joints of ``structure`` that poses alone are read nearest to.

    Zero; along an angle with stops that leave up to one turn free the middle of their range. Where they leave more,
    zero, or the middle if zero is outside.

    Attributes
    ----------
    values : dict
        Joint name to coordinates (dof,), rad; of joints where one differs from zero.
    wide : dict
        Name of a joint whose stops leave more than one turn free to the label of a stop.
    angles : dict
        Joint, number of a coordinate and Euler angles to the reference of the angle, rad, likewise.
    vectors : dict
        Name of a joint along whose rotation vector a force acts to the label of the force and the vector's entries.
    """

    def __init__(self, structure: Structure) -> None:
        self.values: dict[str, np.ndarray] = {}
        self.wide: dict[str, str] = {}
        self.angles: dict[EulerCoordinate, float] = {}
        self.vectors: dict[str, tuple[str, slice]] = {}
        ranges: dict[EulerCoordinate, tuple[float, float]] = {}
        labels: dict[EulerCoordinate, str] = {}
        for force in structure.forces:
            bounds, angles = force.joint_range(), ""
            if isinstance(force, AlongCoordinate):
                angles = force.angles or ""
                self._note_vector(structure, force)
            if bounds is None or not _folds(structure.joint(bounds[0]), bounds[1], angles):
                continue
            angle = EulerCoordinate(*bounds[:2], angles)
            lower, upper = ranges.get(angle, (-np.inf, np.inf))
            ranges[angle], labels[angle] = (max(lower, bounds[2]), min(upper, bounds[3])), force.label
        for angle, (lower, upper) in ranges.items():
            if upper - lower > TURN + ROUND_OFF:
                self.wide[angle.joint] = labels[angle]
            middle = _middle(lower, upper)
            if middle and angle.angles:
                self.angles[angle] = middle
            elif middle:
                dof = structure.joint(angle.joint).dof
                self.values.setdefault(angle.joint, np.zeros(dof))[angle.number] = middle

    def _note_vector(self, structure: Structure, force: AlongCoordinate) -> None:
        """Keep the joint of a force whose measure jumps at half a turn."""
        elements = [e for e in force.elements(structure) if isinstance(e, Effort | Constraint)]
        if any(measure.jumps for element in elements for measure in element.measures):
            joint = structure.joint(force.joint)
            self.vectors.setdefault(joint.name, (force.label, vector_entries(joint, force.coordinate or 0)))


_references: WeakKeyDictionary[Structure, Reference] = WeakKeyDictionary()


def reference_of(structure: Structure) -> Reference:
    """Return the `Reference` of a structure, which is made once."""
    if structure not in _references:
        _references[structure] = Reference(structure)
    return _references[structure]


def _middle(lower: float, upper: float) -> float:
    """Return the reference of an angle between two stops, rad."""
    if upper - lower > TURN + ROUND_OFF and lower <= 0.0 <= upper:
        return 0.0
    if np.isfinite(lower) and np.isfinite(upper):
        return 0.5 * (lower + upper)
    return lower if np.isfinite(lower) else upper


def _folds(joint: Joint, number: int, angles: str) -> bool:
    """Return whether a coordinate, or its Euler angle, is one of which a pose does not say how many turns it has."""
    if angles:
        return euler_place(joint, number, angles) != 1
    motions = [motion for motion in joint.allowed for _ in range(motion.size)]
    return motions[number].period > 0.0


def turning(joint: Joint) -> bool:
    """Return whether a joint has an angle, or a rotation vector, of which a pose does not say the turns."""
    return any(motion.period or isinstance(motion, Ball) for motion in joint.allowed)


def absolute(joint: Joint) -> bool:
    """Return whether the poses of a joint say how many turns it has, as of a screw."""
    return any(isinstance(motion, Turn) for motion in joint.shown) and not turning(joint)


def coordinates_near(
    structure: Structure, x: np.ndarray, R: np.ndarray, near: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return the coordinates (dof,) of the joints in ``near`` at a pose, with the turns nearest to ``near``.

    ``x`` (nb + 1, 3), ``R`` (nb + 1, 3, 3), the world last. NaN in ``near`` counts as zero.
    """
    coordinates = {}
    for name, values in near.items():
        joint = structure.joint(name)
        q = JointFrames(structure, joint).measure(x, R)
        coordinates[name] = nearest_coordinates(joint, q[None], np.nan_to_num(values)[None])[0]
    return coordinates


def checked_turns(structure: Structure, state: State, label: str) -> dict[str, np.ndarray]:
    """Return the ``turns`` of a state, (dof,) by joint. Raises StateError; ``label`` names the state."""
    checked = {}
    for name, values in by_name(
        state.turns, structure.joint_index, f"turns of the {label}", "joint", StateError
    ).items():
        joint = structure.joint(name)
        where = f"turns of {joint.label} in the {label}"
        try:
            unknown = np.isnan(numbers := np.atleast_1d(values))
        except (TypeError, ValueError):  # no numbers, or rows of several lengths
            raise StateError(f"{where} must be numbers, one for each of its coordinates, got {shown(values)}") from None
        known = array_of(np.where(unknown, 0.0, numbers), (joint.dof,), where, StateError)
        checked[name] = np.where(unknown, np.nan, known)
    return checked


def checked_memory(structure: Structure, compiled: Compiled, state: State, label: str) -> dict[str, np.ndarray]:
    """Return the ``memory`` of a state, numbers by force. Raises StateError; ``label`` names the state."""
    checked, names = {}, f"memory of the {label}"
    for name, values in by_name(state.memory, structure.force_index, names, "force", StateError).items():
        where = f"memory of {structure.force(name).label} in the {label}"
        size = memory_size(compiled, name) or kept_sums(structure, name)
        checked[name] = array_of(np.atleast_1d(values), (size,), where, StateError)
    return checked


def has_counted_angles(structure: Structure) -> bool:
    """Return whether forces count the turns of angles of joints, or of rotation vectors."""
    efforts = [e for elements in structure.elements for e in elements if isinstance(e, Effort | Constraint)]
    measures = [measure for effort in efforts for measure in effort.measures]
    return any(measure.angle_of or measure.followed or measure.euler_angle_of for measure in measures)


def with_turns(structure: Structure, compiled: Compiled, state: State) -> State:
    """Return a checked state whose ``turns`` are the coordinates at its poses, for a run to start from.

    Those that it carries have their turns, others are nearest to the `Reference`. Gives a TurnsWarning where that is a
    guess: stops leave more than a turn free. Raises StateError, also for a rotation vector beyond half a turn that a
    force acts along, and for Euler angles that are not defined on their path.
    """
    if not (state.turns or state.memory or compiled.counted or compiled.euler_angles):
        return state
    carried, reference = checked_turns(structure, state, "state"), reference_of(structure)
    near = {name: value for name, value in reference.values.items() if name not in carried}
    for name, values in carried.items():
        near[name] = np.where(np.isnan(values), reference.values.get(name, np.zeros(len(values))), values)
    for angle in compiled.counted:
        joint = structure.joint(angle.joint)
        if absolute(joint):
            near.setdefault(angle.joint, np.zeros(joint.dof))
    for name in reference.wide.keys() - carried.keys():
        near.setdefault(name, np.zeros(structure.joint(name).dof))
    memory = checked_memory(structure, compiled, state, "state")
    memory = with_followed(structure, compiled, state, memory)
    turns = coordinates_near(structure, *with_world(state.position, state.quat_wxyz), near) if near else {}
    for name in reference.wide.keys() - carried.keys():
        if set(memory) & {angle.force for angle in compiled.euler_angles if angle.joint == name} & set(state.memory):
            continue
        at = f"{np.round(turns[name], 4).tolist()} rad"
        warnings.warn(
            f"{reference.wide[name]} leaves joint '{name}' more than one turn, and poses do not say which of them it is"
            f" in: {at} is taken. Give the state by mechanism.state(coordinates={{'{name}': ...}}), or the turns of"
            " another state to it",
            TurnsWarning,
            stacklevel=level_of_user(),
        )
    return replace(state, turns=turns, memory=memory)


def with_followed(
    structure: Structure, compiled: Compiled, state: State, memory: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return ``memory`` with the angles and rotation vectors that forces without an entry follow, see `followed_at`.

    Raises StateError, see `with_turns`.
    """
    reference = reference_of(structure)
    for name in reference.vectors.keys() & state.turns.keys():
        (label, entries), joint = reference.vectors[name], structure.joint(name)
        near = {name: state.turns[name]}
        x, R = with_world(state.position, state.quat_wxyz)
        turned = float(np.linalg.norm(coordinates_near(structure, x, R, near)[name][entries]))
        if turned > np.pi + ROUND_OFF:
            raise StateError(
                f"{label}: the state turns {joint.label} by {turned:.6g} rad, beyond half a turn, where the rotation"
                " vector jumps and no effort along it is defined: give angles=, or put joints that turn in its place"
            )
    if not (compiled.euler_angles or compiled.followed):
        return dict(memory)
    names = np.array(compiled.law_names)
    followed = followed_at(structure, compiled, state, memory, reference.angles)
    return {**memory, **{name: np.append(compiled.law_start[names == name], q) for name, q in followed.items()}}


def refollowed(structure: Structure, compiled: Compiled, state: State) -> State:
    """Return a state with the same internal variables; angles that forces follow are found along paths anew."""
    anew = with_followed(structure, compiled, state, {})
    memory = dict(state.memory)
    for force in memory.keys() & anew.keys():
        size = followed_size(compiled, force)
        memory[force] = np.append(memory[force][:-size], anew[force][-size:])
    return replace(state, memory=memory)


def kept_sums(structure: Structure, force: str) -> int:
    """Return how many sums of coordinates the force of that name keeps, whose targets a ``memory`` may have."""
    coupled = structure.force(force)
    return len(coupled.terms_of(structure)) if isinstance(coupled, Coupled) else 0


def memory_size(compiled: Compiled, force: str) -> int:
    """Return how many numbers the force of that name has in the ``memory`` of a state."""
    return compiled.law_names.count(force) + followed_size(compiled, force)


def followed_size(compiled: Compiled, force: str) -> int:
    """Return how many of these are a rotation vector or an Euler angle that the force follows, the last ones."""
    if any(angle.force == force and angle.measures for angle in compiled.euler_angles):
        return 1
    return 3 * any(rotation.force == force for rotation in compiled.followed)


def start_turns(
    compiled: Compiled, ws: Workspace, turns: Mapping[str, np.ndarray], memory: Mapping[str, np.ndarray]
) -> None:
    """Let the angles of forces in a fresh workspace count on from ``turns``, coordinates (dof,) by joint.

    And rotation vectors from ``memory``, by force.
    """
    _write_near(compiled, turns, memory, ws.efforts.value_near)
    for angle in compiled.counted:
        values = turns.get(angle.joint)
        if values is not None and not np.isnan(values[angle.number]) and angle.product >= 0:
            ws.products.q[angle.product, : len(values)] = np.nan_to_num(values)


def _write_near(
    compiled: Compiled, turns: Mapping[str, np.ndarray], memory: Mapping[str, np.ndarray], near: np.ndarray
) -> None:
    """Write to ``near`` (n,) the values of measures that ``turns`` and ``memory`` give; other entries stay."""
    for rotation in compiled.followed:
        if rotation.force in memory:
            near[rotation.first : rotation.first + 3] = memory[rotation.force][-3:] @ rotation.axes
    for euler in compiled.euler_angles:
        if euler.measures and euler.force in memory:
            near[list(euler.measures)] = memory[euler.force][-1]
    for angle in compiled.counted:
        values = turns.get(angle.joint)
        if values is not None and not np.isnan(values[angle.number]):
            near[list(angle.measures)] = values[angle.number]


def start_memory(compiled: Compiled, memory: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the internal variables (n,) of the laws at the start of a run: of ``memory`` by force, else their own."""
    states = compiled.law_start.copy()
    for name, values in memory.items():
        owned = np.array([each == name for each in compiled.law_names], dtype=bool)
        states[owned] = values[: np.count_nonzero(owned)]
    return states


def memory_of(
    compiled: Compiled, states: np.ndarray, followed: Mapping[str, np.ndarray] | None = None
) -> dict[str, np.ndarray]:
    """Return the ``memory`` of a state: internal variables (n,) of all laws and ``followed`` angles, by force."""
    names = np.array(compiled.law_names)
    memory = {name: states[names == name].copy() for name in dict.fromkeys(compiled.law_names)}
    for force, values in (followed or {}).items():
        memory[force] = np.append(memory.get(force, []), values)
    return memory


def counted_turns(compiled: Compiled, value_near: np.ndarray) -> dict[str, np.ndarray]:
    """Return the coordinates (dof,) by joint that forces count, of values (nm,) of measures; NaN for other ones."""
    turns: dict[str, np.ndarray] = {}
    for angle in compiled.counted:
        if angle.joint not in turns:
            turns[angle.joint] = np.full(angle.size, np.nan)
        turns[angle.joint][angle.number] = value_near[angle.measures[0]]
    return turns


def changes_what_states_carry(compiled: Compiled) -> bool:
    """Return whether turns and internal variables of states change during a run."""
    return bool(compiled.counted or compiled.law_names or compiled.followed or compiled.euler_angles)


def carrying(compiled: Compiled, state: State, turns: Mapping[str, np.ndarray], ws: Workspace) -> State:
    """Return a new state of a run with the turns and internal variables in its workspace, which it is given.

    ``turns``: at the start of the run, of angles that no force counts.
    """
    if not changes_what_states_carry(compiled):
        if turns:
            object.__setattr__(state, "turns", dict(turns))
        return state
    near = ws.efforts.value_near.copy()
    object.__setattr__(state, "turns", MadeLater(_carried_turns, compiled, turns, near))
    object.__setattr__(state, "memory", MadeLater(_carried_memory, compiled, ws.efforts.state.copy(), near))
    return state


class MadeLater(Mapping[str, np.ndarray]):
    """The dict that a function returns for some arguments, once it is asked for; a pickled copy is a dict."""

    def __init__(self, make: Callable[..., dict[str, np.ndarray]], *arguments: object) -> None:
        self._make, self._arguments = make, arguments

    @cached_property
    def _made(self) -> dict[str, np.ndarray]:
        return self._make(*self._arguments)

    def __getitem__(self, name: str) -> np.ndarray:
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    def __repr__(self) -> str:
        return repr(self._made)

    def __reduce__(self) -> tuple:
        return dict, (self._made,)


def _carried_turns(compiled: Compiled, turns: Mapping[str, np.ndarray], near: np.ndarray) -> dict[str, np.ndarray]:
    return {**turns, **counted_turns(compiled, near)}


def _carried_memory(compiled: Compiled, states: np.ndarray, near: np.ndarray) -> dict[str, np.ndarray]:
    return memory_of(compiled, states, followed_near(compiled, near))


def followed_near(compiled: Compiled, near: np.ndarray) -> dict[str, np.ndarray]:
    """Return Euler angles (1,) and rotation vectors (3,), rad, that forces follow, by force.

    The latter are in axes of body a in the reference. ``near`` (nm,): values of the measures.
    """
    rotations = {each.force: each.axes @ near[each.first : each.first + 3] for each in compiled.followed}
    return rotations | {each.force: near[list(each.measures[:1])] for each in compiled.euler_angles if each.measures}


def followed_ends(compiled: Compiled, others: np.ndarray) -> np.ndarray:
    """Return the two bodies (n, 2), by slot, of measures that count turns, without measures ``others`` (k,)."""
    measures = compiled.plan.measures
    numbers = {m for angle in compiled.counted for m in angle.measures}
    numbers |= {m for angle in compiled.euler_angles for m in angle.measures}
    numbers |= set(np.flatnonzero(measures.rotation >= 0).tolist())
    return measures.body[sorted(numbers - set(others.tolist()))]


def turns_settings(
    turns: Mapping[str, np.ndarray], memory: Mapping[str, np.ndarray]
) -> dict[str, dict[str, list[float]]]:
    """Return the entry of the settings of a run that starts with these ``turns`` and ``memory``, JSON-ready."""
    parts = {"turns": turns, "memory": memory}
    return {key: {name: np.asarray(values).tolist() for name, values in part.items()} for key, part in parts.items()}


def count_from(plan: Plan, ws: Workspace, values: np.ndarray) -> None:
    """Let angles in a fresh workspace count on from ``values`` (nm,) of measures, see `near_values`."""
    ws.efforts.value_near[:] = values
    for m in np.flatnonzero(plan.measures.product >= 0):
        if m >= plan.rows.role.size:  # coordinates of products of exponentials go on from there
            ws.products.q[plan.measures.product[m], int(plan.measures.c[m])] = values[m]


def near_values(
    compiled: Compiled, turns: Mapping[str, np.ndarray], memory: Mapping[str, np.ndarray] | None = None
) -> np.ndarray:
    """Return the values that measures count on from, as ``value_near`` of a workspace has them.

    ``turns``: coordinates (dof,) by joint; ``memory``: of forces, see `State`.
    """
    near = np.zeros(values_of(compiled.plan))
    _write_near(compiled, turns, memory or {}, near)
    return near


def near_of(structure: CompiledStructure, state: State) -> np.ndarray:
    """Return the values (nm,) from which measures count on at a state, as in a run that starts there, unchecked.

    Raises StateError, see `with_followed`.
    """
    near = {**reference_of(structure).values, **state.turns}
    for angle in structure.compiled.counted:
        joint = structure.joint(angle.joint)
        if absolute(joint):
            x, R = with_world(state.position, state.quat_wxyz)
            near[angle.joint] = JointFrames(structure, joint).measure(x, R)
    memory = with_followed(structure, structure.compiled, state, state.memory)
    return near_values(structure.compiled, near, memory)


class TurnCounter:
    """Counts the turns of joints along a path of poses from the reference to ``goals``, coordinates (dof,) by joint."""

    def __init__(self, structure: Structure, goals: Mapping[str, np.ndarray]) -> None:
        self.structure, self.goals = structure, goals
        self._followed: dict[str, np.ndarray] = {}

    def restart(self) -> None:
        """Go back to the reference."""
        self._followed = {}

    def follow(self, x: np.ndarray, R: np.ndarray) -> None:
        """Go on to a pose (nb + 1, 3), (nb + 1, 3, 3)."""
        if not self._followed:
            for joint in self.structure.joints:
                if turning(joint) and joint.name not in self.goals:
                    self._followed[joint.name] = np.zeros(joint.dof)
        self._followed = coordinates_near(self.structure, x, R, self._followed)

    def at(self, x: np.ndarray, R: np.ndarray, by_path: bool = True) -> dict[str, np.ndarray]:
        """Return the coordinates (dof,) by joint at the end of the path that poses alone do not say.

        ``by_path``: whether the path led there, so that the turns of joints without goals are known.
        """
        near = {name: values for name, values in self.goals.items() if turning(self.structure.joint(name))}
        if by_path:
            reference = reference_of(self.structure)
            for name in (*reference.values, *reference.wide):
                near.setdefault(name, np.zeros(self.structure.joint(name).dof))
            far = {name: q for name, q in self._followed.items() if np.abs(q).max() > np.pi}
            near |= {name: self._followed[name] for name in near if name in self._followed} | far
        return coordinates_near(self.structure, x, R, near)
