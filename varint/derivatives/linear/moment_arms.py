"""Moment arms of forces along paths: the derivative of their length by each joint coordinate."""

import numpy as np

from varint.base.checks import of_type
from varint.base.errors import ArgumentError
from varint.derivatives.linear.path_arms import path_arms
from varint.mechanism.mechanism import Mechanism
from varint.methods.reduced.kinematics import TreeKinematics
from varint.methods.reduced.states import reduce
from varint.model.state import State
from varint.results.recorded_motion import RecordedMotion


def moment_arms(
    motion: RecordedMotion | Mechanism, force: str, *, state: State | None = None
) -> dict[str, np.ndarray | float]:
    """Return the derivatives of the length of a `Tendon` or `Musculotendon` by joint coordinates, m/rad or 1.

    A tension F of the path acts on a coordinate with the generalised force -F times it; so a flexor of a coordinate
    that grows with flexion has a negative one. Each coordinate is varied by itself, with all bodies that the joint
    carries: where joints close a loop, those of the spanning tree.

    Parameters
    ----------
    motion : Trajectory or Mechanism
    force : str
        Name of the force.
    state : State, optional
        Of a mechanism; ``mechanism.state()`` where not given.

    Returns
    -------
    dict
        Name of each joint of the spanning tree to (T,), or (T, dof) where it has several coordinates; of a mechanism a
        number, or (dof,).

    Raises
    ------
    ArgumentError
        A force that is not along a path, or a state beside a trajectory. MechanismError: there is no such force.
    """
    of_type(motion, (RecordedMotion, Mechanism), "motion", ArgumentError)
    if isinstance(motion, RecordedMotion):
        if state is not None:
            raise ArgumentError("state is for a mechanism: leave it out, a trajectory has its own")
        mechanism, states = motion.mechanism, [motion.state(i) for i in range(motion.t.size)]
    else:
        mechanism, states = motion, [motion.state() if state is None else state]
    kinematics = TreeKinematics(mechanism.rigid_twin)
    arms = path_arms(kinematics, [force], (_coordinates(kinematics, each) for each in states))[:, 0]
    if isinstance(motion, RecordedMotion):
        return {name: _of_one(arms[:, columns]) for name, columns in kinematics.tree.columns.items() if _any(columns)}
    return {
        name: float(arms[0, columns][0]) if columns.stop - columns.start == 1 else arms[0, columns]
        for name, columns in kinematics.tree.columns.items()
        if _any(columns)
    }


def moment_arm(trajectory: RecordedMotion, force: str, joint: str) -> np.ndarray:
    """Return one entry of `moment_arms`, see `Trajectory.moment_arm`."""
    name = trajectory.mechanism.joint(joint).name
    arms = moment_arms(trajectory, force)
    if name not in arms:
        raise ArgumentError(
            f"joint '{name}' has no coordinate in the spanning tree, along which moment arms are defined: those of"
            f" {', '.join(map(repr, arms))} are"
        )
    return np.asarray(arms[name])


def _coordinates(kinematics: TreeKinematics, state: State) -> tuple[np.ndarray, np.ndarray]:
    reduced = reduce(kinematics.tree, kinematics.mechanism, state)
    return reduced.q, reduced.qdot


def _any(columns: slice) -> bool:
    return bool(columns.stop > columns.start)


def _of_one(arms: np.ndarray) -> np.ndarray:
    return arms[:, 0] if arms.shape[1] == 1 else arms
