"""Inverse dynamics: the efforts at joint coordinates that make a given motion."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from varint.base.checks import of_type, sequence_of, shown
from varint.base.display import names_text
from varint.base.errors import ArgumentError
from varint.derivatives.linear.minimal_coordinates import mobility
from varint.kinematics.frames import JointFrames, with_world
from varint.mechanism.mechanism import Mechanism
from varint.model.forces.along import AlongCoordinate
from varint.model.forces.base import Constraint, Element
from varint.model.forces.commanded import Commanded
from varint.model.forces.moved import Moved
from varint.model.known_forces import USES, refuse
from varint.model.state import State
from varint.results.forces import forces_at
from varint.results.reactions import accelerations_and_reactions
from varint.results.since import turns_of_laws
from varint.runs.trajectory import Trajectory
from varint.step.derivatives.accelerations import second_rates
from varint.step.workspace import workspace

if TYPE_CHECKING:
    from varint.model.structure import Structure

RANK = 1e-10  # of the largest singular value: below, efforts and reactions depend on each other
TINY = 1e-9  # m/s^2, or N: no motion
MISSED = 1e-6  # of the largest acceleration, or force: what efforts may leave of a motion


def inverse_dynamics(trajectory: Trajectory, joints: Sequence[str] | None = None) -> dict[str, np.ndarray]:
    """The efforts that make the motion of a run, at each of its T nodes.

    They take the place of what the commanded forces along joint coordinates, and all prescribed motions, did in the
    run. All other forces and loads act as recorded. Accelerations are those of the run. In a tree the cost is linear in
    the number of bodies; a run in reduced coordinates is worked out in these, by equations of their own.

    Parameters
    ----------
    trajectory : Trajectory
    joints : sequence of str, optional
        Joints with an effort at each coordinate. Where not given, the coordinates are those of the commanded forces.

    Returns
    -------
    dict
        Name of a force to its efforts (T,), N or N m, on the body b of its joint; with ``joints`` name of a joint to
        (T,), or (T, dof) where it has several coordinates.

    Raises
    ------
    ArgumentError
        No coordinate to act at, more efforts than degrees of freedom, a motion that requires efforts elsewhere; hard
        stops and friction that only act in steps. MechanismError: coordinates of rotation vectors in maximal
        coordinates.
    """
    of_type(trajectory, Trajectory, "trajectory", ArgumentError)
    motion = _motion(trajectory, joints)
    found = _reduced(motion) if "q" in trajectory.record.nodes else _maximal(motion)
    if joints is None:
        return dict(zip((place.name for place in motion.places), found.T, strict=True))
    by_joint: dict[str, np.ndarray] = {}
    for name in dict.fromkeys(place.joint for place in motion.places):
        own = found[:, [place.joint == name for place in motion.places]]
        by_joint[name] = own[:, 0] if own.shape[1] == 1 else own
    return by_joint


class _Place(NamedTuple):
    """A joint coordinate with an effort, and what that is called."""

    name: str
    joint: str
    coordinate: int


class _Motion(NamedTuple):
    """Motion whose efforts at ``places`` of a ``mechanism`` are wanted, without the efforts of the run.

    arrays : position (T, nb, 3), quat (T, nb, 4), velocity and angular velocity (T, nb, 3)
    acceleration : (T, nb, 6) m/s^2, world, and rad/s^2, body axes
    load : (T, nb, 6) N, world, and N m, body axes, of all that acts but for gravity and the rows
    """

    mechanism: Mechanism
    places: list[_Place]
    arrays: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
    acceleration: np.ndarray
    load: np.ndarray


@dataclass(frozen=True, eq=False)
class _Held(AlongCoordinate):
    """Keeps a coordinate to a motion that is given by its second time derivative."""

    constraint = True

    def elements(self, structure: "Structure") -> list[Element]:
        return [Constraint((self._measure(structure),), (1.0,), driven=True)]


def _motion(trajectory: Trajectory, joints: Sequence[str] | None) -> _Motion:
    mechanism = trajectory.mechanism
    plan = mechanism.compiled.plan
    refuse(mechanism, USES["inverse dynamics"])
    acting = [k for k, force in enumerate(mechanism.forces) if _is_replaced(force)]
    places = [_of(mechanism.forces[k]) for k in acting if _acts_along(mechanism.forces[k])]
    if joints is not None:
        names = sequence_of(joints, "joints", "names", ArgumentError)
        places = [_Place(f"{n} {k}", n, k) for n in names for k in range(_known(mechanism, n))]
    if not places:
        raise ArgumentError(
            f"'{mechanism.name}' has no commanded force along a joint coordinate: give joints=, those with an effort"
        )
    others = [k for k in range(len(mechanism.forces)) if k not in acting]
    stripped = replace(mechanism, forces=[mechanism.forces[k] for k in others])
    arrays = trajectory.position, trajectory.quat_wxyz, trajectory.velocity, trajectory.angular_velocity
    owners = mechanism.compiled.force[plan.laws.element[plan.laws.state >= 0]]
    states = trajectory.law_states[:, np.isin(owners, others)]
    turns = turns_of_laws(trajectory, stripped)
    load = trajectory.load + forces_at(stripped, *arrays, trajectory.command[:, others], states, turns).load
    acceleration = np.concatenate([trajectory.acceleration, trajectory.angular_acceleration], axis=2)
    return _Motion(stripped, places, arrays, acceleration, load)


def _acts_along(force) -> bool:
    return isinstance(force, Commanded) and isinstance(force, AlongCoordinate)


def _is_replaced(force) -> bool:
    return _acts_along(force) or isinstance(force, Moved)


def _of(force) -> _Place:
    if force.angles is not None:
        raise ArgumentError(
            f"inverse dynamics know no efforts along Euler angles, as those of {force.label}: give joints="
        )
    return _Place(force.name, force.joint, force.coordinate)


def _known(mechanism: Mechanism, name: str) -> int:
    """Number of coordinates of the joint."""
    if not isinstance(name, str) or name not in mechanism.joint_index:
        raise ArgumentError(f"joints: '{mechanism.name}' has no joint {shown(name)}")
    return mechanism.joint(name).dof


def _maximal(motion: _Motion) -> np.ndarray:
    """(T, c) multipliers of the coordinates, kept to their motion as constraints."""
    bare = motion.mechanism
    taken = {force.name for force in bare.forces}
    names = (_free(f"effort {k}", taken) for k in range(len(motion.places)))
    held = [_Held(name, joint=p.joint, coordinate=p.coordinate) for name, p in zip(names, motion.places, strict=True)]
    driven = replace(bare, forces=[*bare.forces, *held])
    pose = motion.arrays[0][0], motion.arrays[1][0]
    if mobility(bare, *pose) - mobility(driven, *pose) < len(held):
        _refuse_many(motion)
    compiled = driven.compiled
    plan, order, T = compiled.plan, compiled.order, len(motion.acceleration)
    position, quat, velocity, angular = (np.ascontiguousarray(array[:, order]) for array in motion.arrays)
    nodes = position, quat, np.concatenate([velocity, angular], axis=2)
    rates = np.zeros((T, plan.constraints.row.size))
    moved = np.ascontiguousarray(motion.acceleration[:, order])
    second_rates(plan, workspace(plan, functions=compiled.functions), nodes, moved, rates)
    bend = np.zeros((T, len(compiled.force)))
    bend[:, plan.constraints.element] = rates
    made, _, efforts = accelerations_and_reactions(driven, motion.load, *motion.arrays, bend)
    scale = np.repeat([1.0, compiled.length], 3)
    _check(motion, (made - motion.acceleration) * scale, motion.acceleration * scale)
    return compiled.by_force(efforts)[:, len(bare.forces) :]


def _refuse_many(motion: _Motion) -> None:
    raise ArgumentError(
        f"efforts at {names_text(place.name for place in motion.places)} are not determined: '{motion.mechanism.name}'"
        " has fewer degrees of freedom, give joints= with as many coordinates, or less"
    )


def _check(motion: _Motion, missed: np.ndarray, given: np.ndarray) -> None:
    """Raise ArgumentError where what is ``missed`` (T, ...) is no round-off of what is ``given``."""
    left = np.abs(missed).reshape(len(missed), -1).max(axis=1, initial=0.0)
    if left.max(initial=0.0) > MISSED * max(np.abs(given).max(initial=0.0), TINY):
        raise ArgumentError(
            f"efforts at {names_text(place.name for place in motion.places)} do not make this motion of"
            f" '{motion.mechanism.name}': it takes others at node {int(np.argmax(left))}. Give joints= with more"
            " coordinates"
        )


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "'"
    return name


def _reduced(motion: _Motion) -> np.ndarray:
    """(T, c) by the forces that the motion takes along the coordinates of the tree."""
    from varint.methods.reduced.equations import Equations
    from varint.methods.reduced.states import reduce

    mechanism = motion.mechanism
    equations, order = Equations(mechanism), mechanism.compiled.order
    bodies = equations.compiled.plan.bodies
    frames = [JointFrames(mechanism, mechanism.joint(place.joint)) for place in motion.places]
    found, missed, taken = np.zeros((len(motion.acceleration), len(frames))), [], []
    for node, (acceleration, load) in enumerate(zip(motion.acceleration[:, order], motion.load[:, order], strict=True)):
        x, quat, v, w = (array[node] for array in motion.arrays)
        reduced = reduce(equations.tree, mechanism, State(x, quat, v, w))
        equations.place_and_move(reduced.q, reduced.qdot)
        spin = np.einsum("nab,nb->na", bodies.inertia, w[order])
        force = bodies.mass[:, None] * (acceleration[:, :3] - bodies.gravity)
        torque = np.einsum("nab,nb->na", bodies.inertia, acceleration[:, 3:]) + np.cross(w[order], spin)
        along = equations.generalised(np.hstack([force, torque]) - load)
        numbers = [place.coordinate for place in motion.places]
        efforts = [_column(equations, *each, x, quat) for each in zip(frames, numbers, strict=True)]
        rows = equations.violations(reduced.q, reduced.qdot)[2]
        matrix = np.vstack([efforts, rows]).T
        solution, _, rank, _ = np.linalg.lstsq(matrix, along, rcond=RANK)
        if rank - np.linalg.matrix_rank(rows, RANK) < len(frames):
            _refuse_many(motion)
        found[node] = solution[: len(frames)]
        missed.append(along - matrix @ solution)
        taken.append(along)
    _check(motion, np.array(missed), np.array(taken))
    return found


def _column(equations, frames: JointFrames, coordinate: int, x: np.ndarray, quat: np.ndarray) -> np.ndarray:
    """(nq,) what a unit effort along a joint coordinate does along those of the tree."""
    row = frames.rate_jacobian(*with_world(x, quat))[coordinate]
    load = np.zeros((len(x) + 1, 6))
    np.add.at(load, [frames.a, frames.b], row)
    return equations.generalised(load[:-1][equations.compiled.order])
