"""Inverse dynamics: efforts at joint coordinates that produce the motion of a run.

In maximal coordinates each such joint coordinate becomes a constraint, and its multiplier is the effort. In reduced
coordinates the equations of motion are solved for the efforts and the multipliers of loops, by least squares.

Bodies have two orders: that of the mechanism, and that of the compiled plan, in which body k is number ``order[k]`` of
the mechanism. Arrays of the plan, and arrays indexed by ``order``, are in the plan's order, all others in the
mechanism's.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from varint.base.checks import of_type
from varint.base.display import names_text
from varint.base.errors import ArgumentError
from varint.derivatives.linear.effort_places import EffortPlace, acts_along, by_owner, places_of, unused_name
from varint.derivatives.linear.minimal_coordinates import mobility
from varint.kinematics.frames import JointFrames, with_world
from varint.kinematics.open_stops import PoseWithTurns, check_open_along
from varint.mechanism.mechanism import Mechanism
from varint.model.forces.along import AlongCoordinate
from varint.model.forces.base import Constraint, Element, Force
from varint.model.forces.moved import Moved
from varint.model.known_forces import USES, refuse
from varint.model.state import State
from varint.results.forces import forces_at
from varint.results.reactions import accelerations_and_reactions
from varint.results.since import turns_before, turns_of_laws
from varint.runs.trajectory import Trajectory
from varint.step.derivatives.accelerations import second_rates
from varint.step.workspace import workspace

if TYPE_CHECKING:
    from varint.methods.reduced.equations import Equations
    from varint.model.structure import Structure

# Reduced coordinates: efforts are determined if their columns C raise the rank of the rows G of loops and couplings by
# one each, rank [C, G^T] - rank G = number of efforts. Singular values up to this tolerance count as zero: relative to
# the largest one for [C, G^T], absolute for G, whose rows are of order one and may all be round-off.
RANK_TOLERANCE = 1e-10
# Largest residual that counts as round-off, relative to the largest acceleration of the run (maximal coordinates) or
# the largest generalised force that its motion requires (reduced coordinates). TINY is the lower limit of that largest
# value: a mechanism at rest has round-off only.
RESIDUAL_TOLERANCE = 1e-6
TINY = 1e-9  # m/s^2 (maximal), N or N m (reduced)


def inverse_dynamics(trajectory: Trajectory, joints: Sequence[str] | None = None) -> dict[str, np.ndarray]:
    """Return the efforts at joint coordinates that produce the motion of a run, at each of its T recorded nodes.

    All commanded forces along joint coordinates (motors, servos, prescribed motions of joints) are removed, whatever
    ``joints`` names; by default the efforts act at their coordinates. Prescribed motions of bodies are removed too, but
    no effort takes their place. All other forces and loads act as recorded; accelerations are those of the run. A run
    in maximal coordinates is evaluated by constraints: the cost per node is linear in the number of bodies of a tree. A
    run in reduced coordinates is evaluated by a dense least-squares problem per node, one equation per reduced
    coordinate.

    Parameters
    ----------
    trajectory : Trajectory
        Run in maximal or reduced coordinates, simulated or loaded from a file; its states, accelerations, loads and
        inputs are used.
    joints : sequence of str, optional
        Joints with an effort at each of their coordinates; default: efforts at the coordinates of the commanded forces.

    Returns
    -------
    dict
        Without ``joints``: name of a commanded force to its efforts (T,). With ``joints``: name of a joint to efforts
        (T,), or (T, dof) if it has several coordinates. N or N m, on body b of the joint, positive in the direction of
        the coordinate; the opposite acts on body a.

    Raises
    ------
    ArgumentError
        No coordinate to act at: no commanded force, and no ``joints``. A commanded force along Euler angles, without
        ``joints``. An unknown joint. Efforts that are not unique: their coordinates depend on each other, or loops or
        couplings fix one of them. A motion that requires efforts elsewhere.
        A hard stop that is closed at a recorded node. Forces that are not supported: hard contacts, joint friction that
        depends on the normal load, deformable bodies, masses along paths, and rolling constraints
        (docs/known_forces.md).
    MechanismError
        In maximal coordinates, an effort at a coordinate of a massless intermediate link, as in a `Rod`.
    """
    of_type(trajectory, Trajectory, "trajectory", ArgumentError)
    motion = _motion(trajectory, joints)
    efforts = _reduced(motion) if "q" in trajectory.record.nodes else _maximal(motion)
    return by_owner(motion.places, efforts)


class _Motion(NamedTuple):
    """Motion of a run and the loads that act in it, without the efforts to be determined; bodies in mechanism order.

    mechanism : that of the run, without the forces that are left out
    places : the c joint coordinates with an effort
    arrays : position (T, nb, 3), m, world; quaternion (T, nb, 4), body to world; velocity (T, nb, 3), m/s, world;
        angular velocity (T, nb, 3), rad/s, body axes
    acceleration : (T, nb, 6) m/s^2, world, and rad/s^2, body axes
    load : (T, nb, 6) N, world, and N m about the centre of mass, body axes: the forces of ``mechanism`` and recorded
        loads, without gravity and reactions
    """

    mechanism: Mechanism
    places: list[EffortPlace]
    arrays: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
    acceleration: np.ndarray
    load: np.ndarray


@dataclass(frozen=True, eq=False)
class _PrescribedAcceleration(AlongCoordinate):
    """Constraint that prescribes the second time derivative of a joint coordinate; its multiplier is the effort.

    The prescribed values are passed to `accelerations_and_reactions`.
    """

    constraint = True

    def elements(self, structure: "Structure") -> list[Element]:
        """Return one driven constraint of the coordinate; see `Force`."""
        return [Constraint((self._measure(structure),), (1.0,), driven=True)]


def _motion(trajectory: Trajectory, joints: Sequence[str] | None) -> _Motion:
    """Return the motion of ``trajectory``, its loads without commanded forces, and the coordinates with an effort.

    The coordinates are those of ``joints``; if None, those of the commanded forces.

    Raises ArgumentError for unsupported forces, unknown joints, forces along Euler angles unless there are ``joints``,
    and if there is no coordinate to act at.
    """
    mechanism = trajectory.mechanism
    plan = mechanism.compiled.plan
    refuse(mechanism, USES["inverse dynamics"])
    places = places_of(mechanism, joints)
    for place in places:
        if place.angles is not None:
            raise ArgumentError(
                f"{mechanism.force(place.name).label} acts along Euler angles, which inverse dynamics do not support:"
                " use joints= to name the joints with an effort"
            )
    _check_stops(trajectory)
    others = [k for k, force in enumerate(mechanism.forces) if not _is_replaced(force)]
    stripped = replace(mechanism, forces=[mechanism.forces[k] for k in others])
    arrays = trajectory.position, trajectory.quat_wxyz, trajectory.velocity, trajectory.angular_velocity
    # columns of the law states, (T, laws with an internal variable), that belong to the remaining forces
    owners = mechanism.compiled.force[plan.laws.element[plan.laws.state >= 0]]
    states = trajectory.law_states[:, np.isin(owners, others)]
    turns = turns_of_laws(trajectory, stripped)
    load = trajectory.load + forces_at(stripped, *arrays, trajectory.command[:, others], states, turns).load
    acceleration = np.concatenate([trajectory.acceleration, trajectory.angular_acceleration], axis=2)
    return _Motion(stripped, places, arrays, acceleration, load)


def _check_stops(trajectory: Trajectory) -> None:
    """Raise ArgumentError if a hard stop is closed at a recorded node."""
    if not trajectory.mechanism.compiled.plan.limits.measure.size:
        return
    near = turns_before(trajectory)
    nodes = zip(trajectory.t, trajectory.position, trajectory.quat_wxyz, strict=True)
    poses = (
        PoseWithTurns(position, quat, near if node == 0 else None, f" at recorded node {node}, t = {t:.9g} s")
        for node, (t, position, quat) in enumerate(nodes)
    )
    remedy = "take a part of the run in which it is open, run[i:j]"
    check_open_along(trajectory.mechanism, poses, USES["inverse dynamics"].plural, remedy)


def _is_replaced(force: Force) -> bool:
    """Return whether ``force`` is left out: one along a joint coordinate with an input, or a prescribed body motion."""
    return acts_along(force) or isinstance(force, Moved)


def _maximal(motion: _Motion) -> np.ndarray:
    """Return the efforts (T, c), N or N m: multipliers of constraints that prescribe the coordinates' motions.

    Raises ArgumentError if the efforts are not determined or cannot produce the motion, MechanismError for coordinates
    that no constraint can prescribe.
    """
    bare = motion.mechanism
    used = {force.name for force in bare.forces}
    names = (unused_name(f"effort {k}", used) for k in range(len(motion.places)))
    prescribed = [
        _PrescribedAcceleration(name, joint=place.joint, coordinate=place.coordinate)
        for name, place in zip(names, motion.places, strict=True)
    ]
    driven = replace(bare, forces=[*bare.forces, *prescribed])
    pose = motion.arrays[0][0], motion.arrays[1][0]
    # each prescribed coordinate must remove one degree of freedom; checked at the first node only
    if mobility(bare, *pose) - mobility(driven, *pose) < len(prescribed):
        _refuse_dependent(motion)
    compiled = driven.compiled
    plan, order, T = compiled.plan, compiled.order, len(motion.acceleration)
    # `second_rates` takes bodies in plan order, `accelerations_and_reactions` in mechanism order
    position, quat, velocity, angular = (np.ascontiguousarray(array[:, order]) for array in motion.arrays)
    nodes = position, quat, np.concatenate([velocity, angular], axis=2)
    # second time derivatives of the prescribed coordinates along the run: ``of_constraints`` has one column per
    # constraint of the plan; ``of_elements`` the same values, one column per element, zero for other elements
    of_constraints = np.zeros((T, plan.constraints.row.size))
    accelerations = np.ascontiguousarray(motion.acceleration[:, order])
    second_rates(plan, workspace(plan, functions=compiled.functions), nodes, accelerations, of_constraints)
    of_elements = np.zeros((T, len(compiled.force)))
    of_elements[:, plan.constraints.element] = of_constraints
    produced, _, efforts = accelerations_and_reactions(driven, motion.load, *motion.arrays, of_elements)
    scale = np.repeat([1.0, compiled.length], 3)  # angular accelerations to m/s^2, by the mechanism's length
    _check(motion, (produced - motion.acceleration) * scale, motion.acceleration * scale)
    return compiled.by_force(efforts)[:, len(bare.forces) :]


def _refuse_dependent(motion: _Motion) -> None:
    """Raise ArgumentError: the coordinates of the efforts depend on each other."""
    raise ArgumentError(
        f"efforts at {names_text(place.name for place in motion.places)} are not determined: their coordinates"
        f" depend on each other in '{motion.mechanism.name}'. Use joints= to name joints with independent coordinates"
    )


def _check(motion: _Motion, residual: np.ndarray, required: np.ndarray) -> None:
    """Raise ArgumentError if ``residual`` (T, ...) exceeds round-off of ``required`` (T, ...), in the same units.

    ``required``: accelerations, or generalised forces, of the motion; ``residual``: the part that efforts cannot
    produce.
    """
    by_node = np.abs(residual).reshape(len(residual), -1).max(axis=1, initial=0.0)
    if by_node.max(initial=0.0) > RESIDUAL_TOLERANCE * max(np.abs(required).max(initial=0.0), TINY):
        raise ArgumentError(
            f"efforts at {names_text(place.name for place in motion.places)} cannot produce the motion of"
            f" '{motion.mechanism.name}': the residual is largest at recorded node {int(np.argmax(by_node))}. Use"
            " joints= to name more joints"
        )


def _reduced(motion: _Motion) -> np.ndarray:
    """Return the efforts (T, c), N or N m, by the equations of motion in reduced coordinates q (nq,) at each node.

    With the generalised force Q (nq,) that the motion requires, the columns C (nq, c) of unit efforts and the rows
    G (m, nq) of loops and couplings, Q = C efforts + G^T multipliers in the sense of least squares.

    Raises ArgumentError if the efforts are not determined, or leave a residual above round-off.
    """
    from varint.methods.reduced.equations import Equations
    from varint.methods.reduced.states import reduce

    mechanism = motion.mechanism
    equations, order = Equations(mechanism), mechanism.compiled.order
    bodies = equations.compiled.plan.bodies
    frames = [JointFrames(mechanism, mechanism.joint(place.joint)) for place in motion.places]
    numbers = [place.coordinate for place in motion.places]
    efforts = np.zeros((len(motion.acceleration), len(frames)))
    residuals, required = [], []  # one (nq,) array per node
    # acceleration and load are in plan order; x, quat, v and w in mechanism order
    for node, (acceleration, load) in enumerate(zip(motion.acceleration[:, order], motion.load[:, order], strict=True)):
        x, quat, v, w = (array[node] for array in motion.arrays)
        reduced = reduce(equations.tree, mechanism, State(x, quat, v, w))
        equations.place_and_move(reduced.q, reduced.qdot)
        # Newton and Euler: m (a - g), world; I dw/dt + w x I w, body axes
        angular_momentum = np.einsum("nab,nb->na", bodies.inertia, w[order])
        force = bodies.mass[:, None] * (acceleration[:, :3] - bodies.gravity)
        torque = np.einsum("nab,nb->na", bodies.inertia, acceleration[:, 3:]) + np.cross(w[order], angular_momentum)
        Q = equations.generalised(np.hstack([force, torque]) - load)
        columns = [_column(equations, *each, x, quat) for each in zip(frames, numbers, strict=True)]
        rows = equations.violations(reduced.q, reduced.qdot)[2]  # G
        matrix = np.vstack([columns, rows]).T
        solution, _, rank, _ = np.linalg.lstsq(matrix, Q, rcond=RANK_TOLERANCE)
        if rank - np.linalg.matrix_rank(rows, RANK_TOLERANCE) < len(frames):
            _refuse_dependent(motion)
        efforts[node] = solution[: len(frames)]
        residuals.append(Q - matrix @ solution)
        required.append(Q)
    _check(motion, np.array(residuals), np.array(required))
    return efforts


def _column(
    equations: "Equations", frames: JointFrames, coordinate: int, x: np.ndarray, quat: np.ndarray
) -> np.ndarray:
    """Return the generalised force (nq,) of a unit effort along ``coordinate`` of the joint with ``frames``.

    The ``equations`` must be at this pose (`place_and_move`): ``x`` (nb, 3), m, world; ``quat`` (nb, 4), body to
    world, bodies in mechanism order.
    """
    row = frames.rate_jacobian(*with_world(x, quat))[coordinate]
    load = np.zeros((len(x) + 1, 6))  # mechanism order; last row: the world, dropped below
    np.add.at(load, [frames.a, frames.b], row)
    return equations.generalised(load[:-1][equations.compiled.order])  # plan order
