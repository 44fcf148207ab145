"""Conversion of reduced states to maximal ones, and back."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from varint.base.checks import freeze, of_type
from varint.base.display import Shown, value_text
from varint.base.errors import ArgumentError, StateError
from varint.kinematics.assembly import checked_state
from varint.kinematics.frames import JointFrames, nearest_coordinates, with_world
from varint.kinematics.turns import followed_size, reference_of, turning, with_followed
from varint.mechanism.mechanism import Mechanism
from varint.methods.reduced.kinematics import TreeKinematics
from varint.methods.reduced.tree import Tree, find_tree
from varint.model.bounds import bounded_array
from varint.model.joints.base import Joint
from varint.model.motion import Ball
from varint.model.state import State

ROUND_OFF = 1e-6  # of the turns of an angle


@dataclass(frozen=True, eq=False)
class ReducedState(Shown):
    """Coordinates of the tree joints and their rates, in the columns of `coordinates`.

    q : (nq,) m, rad; angles count their turns
    qdot : (nq,) m/s, rad/s
    """

    _state_from = "varint.redmax.maximal_state(mechanism, state)"  # see `checked_start`

    q: np.ndarray
    qdot: np.ndarray

    def _facts(self) -> Iterable[str]:
        yield from (f"{name} {value_text(value)}" for name, value in vars(self).items())


def coordinates(mechanism: Mechanism) -> dict[str, slice]:
    """Return the columns of q and qdot by the names of the tree joints, in order.

    "base of BODY" for a floating base.
    """
    return dict(find_tree(of_type(mechanism, Mechanism, "mechanism", ArgumentError)).columns)


def reduced_state(mechanism: Mechanism, state: State) -> ReducedState:
    """Return the reduced form of ``state``; angles have its ``turns``, else they are the shortest, see `State`.

    Rotation vectors are the shortest. Raises StateError where a force follows turns that are lost with that.
    """
    return reduce_turned(find_tree(of_type(mechanism, Mechanism, "mechanism", ArgumentError)), mechanism, state)


def maximal_state(mechanism: Mechanism, reduced: ReducedState) -> State:
    """Return the maximal form of ``reduced``; only the joints of the spanning tree are sure to be closed."""
    kinematics = TreeKinematics(of_type(mechanism, Mechanism, "mechanism", ArgumentError))
    reduced = checked(kinematics, reduced)
    kinematics.place_and_move(reduced.q, reduced.qdot)
    state = kinematics.state()
    arrays = state.position, state.quat_wxyz, state.velocity, state.angular_velocity
    columns, index = kinematics.tree.columns, mechanism.joint_index
    turns = {name: reduced.q[columns[name]] for name in columns if name in index and turning(mechanism.joint(name))}
    return State(*(freeze(np.ascontiguousarray(array)) for array in arrays), turns=turns)


def reduce_turned(tree: Tree, mechanism: Mechanism, state: State) -> ReducedState:
    """Return `reduced_state` for a known tree. Raises StateError."""
    reduced, compiled = reduce(tree, mechanism, state), mechanism.compiled
    if not (compiled.euler_angles or compiled.followed):
        return reduced
    before = with_followed(mechanism, compiled, state, state.memory)
    after = with_followed(mechanism, compiled, maximal_state(mechanism, reduced), {})
    for name in after.keys() & before.keys():
        size = followed_size(compiled, name)
        turned, lost = before[name][-size:], after[name][-size:]
        if np.abs(turned - lost).max() > ROUND_OFF * max(1.0, np.abs(turned).max()):
            raise StateError(
                f"{mechanism.force(name).label} is turned by {np.round(turned, 6).tolist()} rad, and reduced"
                f" coordinates would make that {np.round(lost, 6).tolist()}: rotation vectors are the shortest there."
                " Start runs from the state itself, or put joints that turn about axes in place of a ball"
            )
    return reduced


def reduce(tree: Tree, mechanism: Mechanism, state: State) -> ReducedState:
    """Return the reduced form of ``state``, also where forces lose turns. Raises StateError."""
    position, quat_wxyz, velocity, angular_velocity = checked_state(mechanism, state, "state")
    x, R = with_world(position, quat_wxyz)
    motion = np.vstack([np.hstack([velocity, angular_velocity]), np.zeros(6)])
    q, qdot = np.empty(tree.nq), np.empty(tree.nq)
    near = {**reference_of(mechanism).values, **state.turns}
    for joint in tree.joints:
        frames, columns = JointFrames(mechanism, joint), tree.columns[joint.name]
        q[columns] = frames.measure(x, R)
        if joint.name in near and joint.name in mechanism.joint_index and joint.dof == len(near[joint.name]):
            with_axes = counted_about_axes(joint, near[joint.name], q[columns])
            q[columns] = nearest_coordinates(joint, q[columns][None], with_axes[None])[0]
        rows = frames.rate_jacobian(x, R, q[columns])
        qdot[columns] = np.einsum("csk,sk->c", rows, motion[[frames.a, frames.b]])
    return ReducedState(freeze(q), freeze(qdot))


def counted_about_axes(joint: Joint, near: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return ``near`` (dof,) with the rotation vectors of ``q`` (dof,), the shortest: a chart ends at 2 pi."""
    balls = [isinstance(motion, Ball) for motion in joint.allowed for _ in range(motion.size)]
    return np.where(balls, q, np.nan_to_num(near))


def checked(kinematics: TreeKinematics, reduced: ReducedState) -> ReducedState:
    """Return ``reduced`` with its arrays checked. Raises StateError."""
    of_type(reduced, ReducedState, "the reduced state", StateError)
    arrays = (
        bounded_array(getattr(reduced, name), (kinematics.nq,), f"{name} of the reduced state", StateError)
        for name in ("q", "qdot")
    )
    return ReducedState(*arrays)


def without_jumps(quat_wxyz: np.ndarray, before: np.ndarray | None = None) -> np.ndarray:
    """Return the quaternions (T, nb, 4) with signs that do not jump, from ``before`` (nb, 4) on where given."""
    first = quat_wxyz[0] if before is None else before
    others = np.concatenate([first[None], quat_wxyz[:-1]])
    signs = np.cumprod(np.where(np.sum(quat_wxyz * others, axis=2) < 0, -1.0, 1.0), axis=0)
    return quat_wxyz * signs[..., None]
