"""States that satisfy the joints: from joint coordinates and whatever is known of single bodies, or from a guess.

Joints that are not named hold, unless loops, couplings or constraints of forces move them (followers.py). Where joints
alone are named, these move as little as their own coordinates allow (least_motions.py). Else, and from a guess, all
moves as little as the kinetic metric allows, or the lengths of the bodies where they are compact (closure.py).
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import ROUND_OFF, freeze, known_name, of_type, sequence_of, shown, unit_quaternion
from varint.base.errors import AssemblyError, StateError
from varint.kinematics.beam_strains import Strain, strains_of
from varint.kinematics.closure import Closure, Weld, coordinate_units
from varint.kinematics.followers import Followers, driven_joints, followers, held_joints
from varint.kinematics.frames import JointFrames, forward_pose, reference_pose, with_world, without_turns
from varint.kinematics.least_motions import LeastMotions
from varint.kinematics.oddities import locked_by
from varint.kinematics.open_loops import conflict, freed
from varint.kinematics.tree_poses import are_at, are_closed, poses_along_tree
from varint.kinematics.turns import TurnCounter, checked_turns, coordinates_near, kept_sums, refollowed
from varint.model.bounds import bounded_array
from varint.model.forces.coupled import Coupled
from varint.model.joints.base import Joint
from varint.model.motion import joint_pose
from varint.model.rotation_vectors import quat_from_matrix, rotation_matrix
from varint.model.start_arguments import MOTION_KEYS, OF_BODIES, of_bodies, of_joints
from varint.model.state import State
from varint.model.structure import Structure
from varint.plan import Compiled
from varint.step.march.spare_workspaces import borrowed_coupled_workspace
from varint.step.whole_state import is_whole_state

ITERATIONS = 1000
HEAVY_PASSES = 4  # what is heavy gives way a little, each time less
LONGEST_MOVE = 0.2  # rad, or sizes of a part: a loop is driven to its coordinates in pieces no longer than this ...
MOST_PIECES = 1000  # ... and no more than so many
LONGEST_FOLLOWED = 0.4  # the same of joints that couplings drive
LARGEST_TWIST = 1e-6  # between the pose of a joint and that of its coordinates
LARGEST_GIVE = 1.0  # the same of a joint with compliant rows, which are not closed; half a turn is 2
LARGEST_PARTING = 1e-9  # of the fastest motion: how fast joints may part


def make_state(
    structure: Structure,
    made: Callable[[], Compiled],
    *,
    coordinates: Mapping[str, ArrayLike] | None,
    rates: Mapping[str, ArrayLike] | None,
    position: Mapping[str, ArrayLike] | None,
    quat_wxyz: Mapping[str, ArrayLike] | None,
    velocity: Mapping[str, ArrayLike] | None,
    angular_velocity: Mapping[str, ArrayLike] | None,
) -> State:
    """Return a state, see `Mechanism.state`; ``made`` compiles, and is called if the equations are needed."""
    coordinates = of_joints(structure, coordinates, "coordinates", StateError)
    rates = of_joints(structure, rates, "rates", StateError)
    positions, quats, velocities, spins = (
        of_bodies(structure, values, key, StateError)
        for key, values in zip(OF_BODIES, (position, quat_wxyz, velocity, angular_velocity), strict=True)
    )

    guesses = coordinates or rates or positions or quats or velocities or spins
    if structure.is_closed and not guesses:
        rest = np.zeros((len(structure.bodies), 3))
        pose = (np.array([getattr(body, name) for body in structure.bodies]) for name in ("position", "quat_wxyz"))
        turns = TurnCounter(structure, {}).at(*reference_pose(structure))
        return State(*(freeze(array) for array in (*pose, rest, rest)), turns=turns)
    if not guesses and (driven := driven_joints(structure)):
        with suppress(AssemblyError):  # the loops do not close with all of them there
            return make_state(structure, made, **dict.fromkeys(MOTION_KEYS) | {"coordinates": driven})
    x, R = reference_pose(structure)
    compiled, counter = made(), TurnCounter(structure, coordinates)
    is_closed = _rows_are_closed(structure, compiled, x, R)
    following = followers(structure, compiled, coordinates if is_closed else None, [*positions, *quats])
    placed = _independent(structure, following, coordinates)
    if placed or not structure.is_closed:  # joints of the tree with anchors apart close at their coordinates
        forward_pose(structure, compiled.topology, {name: coordinates[name] for name in placed}, x, R)
    holding = _Holding.at(structure, following, coordinates, x, R)
    if len(placed) < len(coordinates) and not (positions or quats):
        along = poses_along_tree(structure, compiled, coordinates)
        if are_at(structure, compiled, coordinates, *along) and are_closed(structure, compiled, *along):
            x, R = along
            holding = replace(holding, placed=[*coordinates])
    for _ in range(HEAVY_PASSES if positions or quats else 1):
        for body, value in positions.items():
            x[body] = value
        for body, value in quats.items():
            R[body] = rotation_matrix(value)
        x, R = _with_beams(structure, compiled, coordinates, x, R, holding, positions, quats, counter)

    motion = np.zeros((len(x), 6))
    following = followers(structure, compiled, rates, [*velocities, *spins])
    holding = _Holding.at(structure, following, rates, x, R)
    if rates:
        motion, _ = LeastMotions(structure, compiled, rates, following).rates(rates, x, R)
    for _ in range(HEAVY_PASSES if velocities or spins else 1 if rates else 0):
        for body, value in velocities.items():
            motion[body, :3] = value
        for body, value in spins.items():
            motion[body, 3:] = value
        strains = [] if velocities or spins else strains_of(structure, rates)
        motion = _matched(
            structure, compiled, rates, x, R, motion, strains, holding=holding, heavy_x=velocities, heavy_R=spins
        )
    return replace(state_of(x, R, motion), turns=counter.at(x, R, by_path=not (positions or quats)))


def assemble(
    structure: Structure,
    compiled: Compiled,
    guess: State,
    hold: str | Iterable[str],
    coordinates: Mapping[str, ArrayLike] | None,
    rates: Mapping[str, ArrayLike] | None,
) -> State:
    """Return an assembled state, see `Mechanism.assemble`."""
    position, quat_wxyz, velocity, angular_velocity = checked_state(structure, guess, "guess")
    coordinates = of_joints(structure, coordinates, "coordinates", StateError)
    rates = of_joints(structure, rates, "rates", StateError)
    bodies, joints = split_held(structure, hold)
    targets = {*coordinates}
    x, R = with_world(position, quat_wxyz)
    motion = np.vstack([np.hstack([velocity, angular_velocity]), np.zeros(6)])
    for name in joints:
        if name in coordinates:
            raise StateError(f"{structure.joint(name).label} is both held and given coordinates: leave out one")
        frames = JointFrames(structure, structure.joint(name))
        coordinates[name] = frames.measure(x, R)
        measured = np.einsum("csk,sk->c", frames.rate_jacobian(x, R), motion[[frames.a, frames.b]])
        rates.setdefault(name, measured)
    x, R = _closed(structure, compiled, coordinates, x, R, still=bodies)
    motion = _matched(structure, compiled, rates, x, R, motion, still=bodies)
    near = {**checked_turns(structure, guess, "guess"), **{name: coordinates[name] for name in targets}}
    turns = coordinates_near(structure, x, R, near)
    held = of_type(guess.memory, Mapping, "memory of the guess", StateError)
    memory = {name: values for name, values in held.items() if not kept_sums(structure, name)}
    state = replace(state_of(x, R, motion, like=quat_wxyz), turns=turns, memory=memory, beyond_stops=guess.beyond_stops)
    return refollowed(structure, compiled, state) if targets else state


def closed_poses(
    structure: Structure, compiled: Compiled, x: np.ndarray, R: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the poses (nb + 1, ...) on all joints nearest to x, R. Raises AssemblyError."""
    return _closed(structure, compiled, {}, x, R)


def with_rates(structure: Structure, compiled: Compiled, state: State, rates: Mapping[str, np.ndarray]) -> State:
    """Return ``state`` with the ``rates`` (dof,) of joints by name; other motions change as little as possible."""
    x, R = with_world(state.position, state.quat_wxyz)
    motion = np.vstack([np.hstack([state.velocity, state.angular_velocity]), np.zeros(6)])
    motion = _matched(structure, compiled, rates, x, R, motion)
    return state.of_bodies(state.position, state.quat_wxyz, motion[:-1, :3], motion[:-1, 3:])


def joints_outside_loops(structure: Structure, compiled: Compiled, names: Iterable[str]) -> set[str]:
    """Return the joints of ``names`` that are independent of loops, couplings and constraints of forces."""
    return set(_independent(structure, followers(structure, compiled), names))


def _independent(structure: Structure, following: Followers, names: Iterable[str]) -> list[str]:
    return [name for name in names if structure.joint_index[name] not in following.joints]


@dataclass(frozen=True)
class _Holding:
    """Parts that no loop, coupling or constraint of a force moves.

    ``placed``: named joints, at their coordinates or rates; ``welds``: other joints, which keep theirs; ``still``:
    bodies whose poses follow from the joints between the world and them.
    """

    following: Followers
    placed: Sequence[str] = ()
    welds: Sequence[Weld] = ()
    still: Sequence[int] = ()

    @classmethod
    def at(
        cls, structure: Structure, following: Followers, named: Collection[str], x: np.ndarray, R: np.ndarray
    ) -> "_Holding":
        """Return the parts that hold at a pose (nb + 1, ...) with the joints ``named`` in place."""
        placed = _independent(structure, following, named)
        return cls(following, placed, held_joints(structure, following, named, x, R), following.still)


_NOTHING_HELD = _Holding(Followers(set(), set(), []))


def _couplings(structure: Structure) -> list[Coupled]:
    return [force for force in structure.forces if isinstance(force, Coupled)]


def _with_beams(
    structure: Structure,
    compiled: Compiled,
    coordinates: Mapping[str, np.ndarray],
    x: np.ndarray,
    R: np.ndarray,
    holding: _Holding,
    heavy_x: Collection[int],
    heavy_R: Collection[int],
    counter: TurnCounter,
) -> tuple[np.ndarray, np.ndarray]:
    """Return `_closed` with rigid beams if only ``coordinates`` are prescribed and such poses exist."""
    strains = strains_of(structure, coordinates) if coordinates and not (heavy_x or heavy_R) else []
    if strains:
        try:
            return _closed(structure, compiled, coordinates, x, R, holding=holding, strains=strains, counter=counter)
        except AssemblyError:  # beams have to strain, as in flexures
            counter.restart()
    return _closed(
        structure, compiled, coordinates, x, R, holding=holding, counter=counter, heavy_x=heavy_x, heavy_R=heavy_R
    )


def _closed(
    structure: Structure,
    compiled: Compiled,
    coordinates: Mapping[str, np.ndarray],
    x: np.ndarray,
    R: np.ndarray,
    *,
    holding: _Holding = _NOTHING_HELD,
    strains: Sequence[Strain] = (),
    still: Collection[int] = (),
    heavy_x: Collection[int] = (),
    heavy_R: Collection[int] = (),
    counter: TurnCounter | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the poses on all joints nearest to x, R, with the ``coordinates`` of joints by name.

    The path leaves out whole turns that lead back to the same pose, except for those that couplings count.
    ``holding``: parts that are at their coordinates; ``strains``: of beams that are rigid; ``counter``: counts turns
    along the path.
    """
    placed = set(holding.placed)
    at_coordinates = placed == coordinates.keys() and not (strains or still or heavy_x or heavy_R)
    if at_coordinates and are_closed(structure, compiled, x, R):
        check_sense(structure, x, R)
        return x, R
    frames = {name: JointFrames(structure, structure.joint(name)) for name in coordinates}
    here = _starts(compiled, frames, coordinates, placed, x, R)
    goals = dict(coordinates)
    least = None
    if coordinates and holding is not _NOTHING_HELD and not (strains or heavy_x or heavy_R):
        least = LeastMotions(structure, compiled, coordinates, holding.following)
    if not _couplings(structure):
        goals |= {n: without_turns(f.joint, goals[n], here[n]) for n, f in frames.items() if here[n] is not goals[n]}
    pieces = _pieces(compiled, frames, here, goals)
    if least and _couplings(structure):
        longest = least.rates({n: goals[n] - here[n] for n in frames}, x, R)[1]
        pieces = max(pieces, min(MOST_PIECES, int(np.ceil(longest / LONGEST_FOLLOWED))))
    shares = [piece / pieces for piece in range(0 if pieces > 1 else 1, pieces + 1)]
    bent = set().union(*(force.bent(structure) for force in _couplings(structure)))  # on no straight way
    with borrowed_coupled_workspace(compiled.plan, compiled.functions) as ws:
        for share in shares:
            way = {n: (1 - share) * here[n] + share * goals[n] for n in frames}
            way |= {n: coordinates[n] for n in frames if share == 1 or n in placed}
            poses = {n: joint_pose(f.joint, way[n]) for n, f in frames.items()}
            names = holding.placed if share == 0 else [n for n in frames if share == 1 or n not in bent]
            asked: list[Weld | Strain] = [Weld(frames[name], *poses[name]) for name in names]
            asked += [*holding.welds, *strains]
            fixed = {*still, *holding.still}
            start = x, R
            for by_arms in (True,) if least else (False, True):  # compact bodies have next to no inertia
                closure = Closure(
                    structure,
                    compiled,
                    asked=asked,
                    still=fixed,
                    heavy_x=heavy_x,
                    heavy_R=heavy_R,
                    by_arms=by_arms,
                    ws=ws,
                )
                if least and share > 0 and (pieces > 1 or _rows_are_closed(structure, compiled, *start)):
                    start = least.poses(closure, {n: way[n] for n in names}, x, R)
                x, R, gap = closure.close(*start, ITERATIONS)
                if closure.is_closed(gap, x):
                    break
            if not closure.is_closed(gap, x):
                at = ", ".join(f"'{n}' at {np.round(f.coordinates(*poses[n]), 4).tolist()}" for n, f in frames.items())
                on_the_way = f" on the path to the coordinates asked for, with {at}" if share < 1 else ""
                why = conflict(structure, closure, x, R, still, coordinates, placed, on_the_way)
                raise AssemblyError(f"{why}. {locked_by(structure, compiled)}".removesuffix(". "))
            if counter is not None:
                counter.follow(x, R)
            if share == 0:
                here = _starts(compiled, frames, coordinates, placed, x, R)
    check_sense(structure, x, R)
    return x, R


def _rows_are_closed(structure: Structure, compiled: Compiled, x: np.ndarray, R: np.ndarray) -> bool:
    """Return whether joints and constraints of forces are closed, at the reference pose or one reached from it."""
    if structure.is_closed and not compiled.plan.constraints.row.size:
        return True
    with borrowed_coupled_workspace(compiled.plan, compiled.functions) as ws:
        closure = Closure(structure, compiled, ws=ws)
        return closure.is_closed(closure.gap(closure.evaluate(x, R)[0]), x)


def _starts(
    compiled: Compiled,
    frames: Mapping[str, JointFrames],
    coordinates: Mapping[str, np.ndarray],
    placed: Collection[str],
    x: np.ndarray,
    R: np.ndarray,
) -> dict[str, np.ndarray]:
    """Start of the path to the ``coordinates``: the target itself for joints ``placed`` that nothing moved since."""
    here = {}
    for name, frame in frames.items():
        turn, shift = frame.relative_pose(x, R)
        goal = joint_pose(frame.joint, coordinates[name])
        apart = max(np.abs(turn - goal[0]).max(), np.abs(shift - goal[1]).max() / compiled.length)
        there = name in placed and apart < LONGEST_MOVE
        here[name] = coordinates[name] if there else frame.coordinates(turn, shift)
    return here


def _pieces(
    compiled: Compiled,
    frames: Mapping[str, JointFrames],
    here: Mapping[str, np.ndarray],
    goals: Mapping[str, np.ndarray],
) -> int:
    """Return the number of pieces of the path."""
    most = 1
    for name, frame in frames.items():
        moves = np.abs(goals[name] - here[name]) / coordinate_units(compiled.length, frame.joint)
        longest = float(moves.max(initial=0.0))
        if not longest <= MOST_PIECES * LONGEST_MOVE:
            raise StateError(
                f"coordinates of {frame.joint.label} are {longest:.3g} rad, or sizes of a part, away: a loop or a"
                f" coupling is driven no farther than {MOST_PIECES * LONGEST_MOVE:g}. Give it coordinates nearer to the"
                " reference configuration"
            )
        most = max(most, int(np.ceil(longest / LONGEST_MOVE)))
    return most


def _matched(
    structure: Structure,
    compiled: Compiled,
    rates: Mapping[str, np.ndarray],
    x: np.ndarray,
    R: np.ndarray,
    motion: np.ndarray,
    strains: Sequence[Strain] = (),
    *,
    holding: _Holding = _NOTHING_HELD,
    still: Collection[int] = (),
    heavy_x: Collection[int] = (),
    heavy_R: Collection[int] = (),
) -> np.ndarray:
    """Return the motion (nb + 1, 6) nearest to another that the joints allow, with the ``rates`` of joints by name.

    ``strains``: zero if the joints and rates allow it, else as small as they allow, by the stiffness of the beams.
    """
    asked, targets = [], []
    for name, values in rates.items():
        frames = JointFrames(structure, structure.joint(name))
        asked.append(Weld(frames, *frames.relative_pose(x, R)))
        targets.append(frames.twist(x, R, values))
    asked += holding.welds
    targets += [np.zeros(6)] * len(holding.welds)
    hard = np.full(6 * len(targets), np.inf)
    target = np.concatenate([[], *targets, np.zeros(6 * len(strains))])
    fixed = {*still, *holding.still}
    with borrowed_coupled_workspace(compiled.plan, compiled.functions) as ws:

        def closure_of(asked: Sequence[Weld | Strain], by_arms: bool) -> Closure:
            return Closure(
                structure, compiled, asked=asked, still=fixed, heavy_x=heavy_x, heavy_R=heavy_R, by_arms=by_arms, ws=ws
            )

        closure = closure_of([*asked, *strains], False)
        wanted = np.abs(closure.scale[len(closure.scale) - len(target) :] * target).max(initial=0.0)
        before = closure.speed(motion)
        start, (motion, left) = motion, closure.velocity(x, R, motion, target)
        allowed = LARGEST_PARTING * max(wanted, before, closure.speed(motion))
        if strains and not np.abs(left).max() <= allowed:
            stiffness = np.concatenate([hard, *(strain.stiffness for strain in strains)])
            motion, _ = closure.velocity(x, R, start, target, stiffness)
        elif not np.abs(left).max(initial=0.0) <= allowed:  # of compact bodies the inertia is next to nothing
            closure = closure_of(asked, True)
            motion, left = closure.velocity(x, R, motion, target)
    if strains and not np.abs(left).max() <= allowed:
        # what round-off leaves of the rates beside the large multipliers of the strains
        return _matched(structure, compiled, rates, x, R, motion, holding=holding)
    worst = int(np.argmax(np.abs(left))) if left.size else 0
    if left.size and not abs(left[worst]) <= allowed:
        number = closure.joint[worst]
        part = structure.joints[number].label if number >= 0 else ""
        part = part or f"the coupling by {structure.forces[closure.force_of(worst)].label}"
        advice = freed([name for name in rates if name not in holding.placed], "rates")
        locks = locked_by(structure, compiled)
        raise StateError(
            f"no velocity of mechanism '{structure.name}' has the rates asked for: {part} would part at"
            f" {abs(left[worst]):.3g} m/s. {locks or advice + 'Leave out the rates that follow from the others'}"
        )
    return motion


def check_sense(structure: Structure, x: np.ndarray, R: np.ndarray) -> None:
    """Raise AssemblyError if a joint is flipped."""
    joint = flipped_joint(structure, x, R)
    if joint is not None:
        raise AssemblyError(
            f"cannot assemble mechanism '{structure.name}': {joint.label} would close on its flipped branch."
            " Change the coordinates or poses asked for"
        )


def flipped_joint(structure: Structure, x: np.ndarray, R: np.ndarray) -> Joint | None:
    """Return the first flipped joint, which its coordinates do not lead to: half a turn keeps axes square."""
    for joint in structure.joints:
        frames = JointFrames(structure, joint)
        turn, shift = frames.relative_pose(x, R)
        largest = LARGEST_GIVE if joint.compliant else LARGEST_TWIST
        if np.abs(turn - joint_pose(joint, frames.coordinates(turn, shift))[0]).max() > largest:
            return joint
    return None


def state_of(x: np.ndarray, R: np.ndarray, motion: np.ndarray, like: np.ndarray | None = None) -> State:
    """Return the state at poses (nb + 1, ...) with motions (nb + 1, 6).

    Quaternions have the sign nearer to ``like``.
    """
    quat = quat_from_matrix(R[:-1])
    if like is not None:
        quat = np.where(np.sum(quat * like, axis=1, keepdims=True) < 0, -quat, quat)
    arrays = x[:-1], quat, motion[:-1, :3], motion[:-1, 3:]
    return State(*(freeze(np.ascontiguousarray(array)) for array in arrays))


def checked_state(
    structure: Structure, state: State, label: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the arrays of a state, each checked, quaternions normalised; ``label`` names it in errors."""
    of_type(state, State, label, StateError)
    nb = len(structure.bodies)
    values = state.position, state.quat_wxyz, state.velocity, state.angular_velocity
    shapes = (nb, 3), (nb, 4), (nb, 3), (nb, 3)
    if all(type(a) is np.ndarray and a.shape == s and a.dtype == float for a, s in zip(values, shapes, strict=True)):
        copies = [np.array(array, dtype=float, order="C") for array in values]
        if is_whole_state(*copies):  # the usual case, at once
            return freeze(copies[0]), freeze(copies[1]), freeze(copies[2]), freeze(copies[3])
    arrays = []
    for name, width in (("position", 3), ("quat_wxyz", 4), ("velocity", 3), ("angular_velocity", 3)):
        arrays.append(bounded_array(getattr(state, name), (nb, width), f"{name} of the {label}", StateError))
    return arrays[0], unit_quaternions(structure, arrays[1], label), arrays[2], arrays[3]


def with_checked_arrays(structure: Structure, state: State, label: str) -> State:
    """Return a state with the arrays of `checked_state`, and its own turns and memory; ``label`` names it in errors."""
    arrays = checked_state(structure, state, label)
    return state.of_bodies(*arrays)


def unit_quaternions(structure: Structure, quats: np.ndarray, label: str) -> np.ndarray:
    """Return the orientations (nb, 4) of a state, normalised; orientations of norm one keep their bits."""
    whole = isinstance(quats, np.ndarray) and quats.dtype == float
    if whole and (abs(np.einsum("ij,ij->i", quats, quats) - 1.0) <= ROUND_OFF).all():
        return freeze(quats.copy())  # the usual case, at once
    checked = [
        unit_quaternion(quat, f"quat_wxyz of body '{body.name}' in the {label}", StateError)
        for quat, body in zip(quats, structure.bodies, strict=True)
    ]
    return freeze(np.array(checked))


def split_held(structure: Structure, hold: str | Iterable[str]) -> tuple[list[int], list[str]]:
    """Return the numbers of the bodies and the names of the joints in ``hold``."""
    bodies, joints = [], []
    known = {**structure.body_index, **structure.joint_index}
    for name in [hold] if isinstance(hold, str) else sequence_of(hold, "hold", "names", StateError):
        if not isinstance(name, str):
            raise StateError(f"hold must be a list of names, one of them is {shown(name)}")
        known_name(name, known, "hold: no body or joint", StateError)
        is_body, is_joint = name in structure.body_index, name in structure.joint_index
        if is_body and is_joint:
            raise StateError(f"hold: '{name}' is the name of a body and of a joint. Rename one of them")
        if is_body:
            bodies.append(structure.body_index[name])
        else:
            joints.append(name)
    return list(dict.fromkeys(bodies)), list(dict.fromkeys(joints))
