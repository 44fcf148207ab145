"""Rates of the start that prescribed motions replace by their own."""

import warnings
from collections.abc import Callable, Iterator

import numpy as np

from varint.base.callers import level_of_user
from varint.base.display import value_text
from varint.base.errors import ReplacedRateWarning
from varint.kinematics.assembly import with_rates
from varint.kinematics.frames import joint_coordinates, joint_rates
from varint.mechanism.mechanism import Mechanism
from varint.model.forces.driven import Driven
from varint.model.motion import coordinate_units
from varint.model.state import State
from varint.results.inputs.courses import ANY_TIME, course_of_coordinate, moved_coordinates

AT_REST = 1e-9  # m/s, rad/s: a start that gives no rate
ALIKE = 0.01  # of the larger rate


def warn_of_replaced_rates(mechanism: Mechanism, state: object, started: Callable[[], State]) -> None:
    """Give a ReplacedRateWarning if a run starts with other rates than its ``state`` has, by prescribed motions.

    ``state``: of the problem, None for that of the mechanism. ``started``: returns the state that the run starts with.
    A coordinate that is at rest in ``state`` is not reported.
    """
    if next(_drives(mechanism), None) is None:
        return
    state = mechanism.state() if state is None else state
    if isinstance(state, State):
        for sentence in replaced_rates(mechanism, state, started()):
            warnings.warn(sentence, ReplacedRateWarning, stacklevel=level_of_user())


def replaced_rates(mechanism: Mechanism, state: State, started: State) -> list[str]:
    """Return a sentence on each coordinate whose rate in ``state`` is neither zero nor that in ``started``."""
    sentences = []
    for force in _drives(mechanism):
        asked, prescribed = (float(_rates(mechanism, force, at)[force.coordinate]) for at in (state, started))
        if abs(asked) > AT_REST and abs(asked - prescribed) > ALIKE * max(abs(asked), abs(prescribed)):
            joint = mechanism.joint(force.joint)
            unit = f"{coordinate_units(joint)[force.coordinate] or '1'}/s"
            of = f"coordinate {force.coordinate} of " if joint.dof > 1 else ""
            sentences.append(
                f"the start gives {of}joint '{force.joint}' a rate of {value_text(asked)} {unit}, but {force.label}"
                f" prescribes {value_text(prescribed)} {unit} there: the run starts with the latter. Leave the rate out"
                " of the start, or prescribe the same"
            )
    return sentences


def with_prescribed_rates(mechanism: Mechanism, state: State) -> State:
    """Return ``state`` with the rates at t = 0 of prescribed motions of joints, as a run starts.

    Other motions change as little as possible. Motions given by one value a node are left out: their rates depend on
    the step of the run.
    """
    rates: dict[str, np.ndarray] = {}
    for force in _drives(mechanism):
        if isinstance(force.input, np.ndarray) and force.input.ndim:
            continue
        of_joint = rates.setdefault(force.joint, _rates(mechanism, force, state).copy())
        of_joint[force.coordinate] = course_of_coordinate(force, ANY_TIME)(0.0)[1, 0]
    return with_rates(mechanism, mechanism.compiled, state, rates) if rates else state


def _drives(mechanism: Mechanism) -> Iterator[Driven]:
    """Yield the prescribed motions of coordinates of joints, without motions along Euler angles."""
    return (force for _, force in moved_coordinates(mechanism.forces) if force.angles is None)


def _rates(mechanism: Mechanism, force: Driven, state: State) -> np.ndarray:
    """Return the rates (dof,) of the joint that ``force`` moves."""
    joint = mechanism.joint(force.joint)
    arrays = state.position, state.quat_wxyz, state.velocity, state.angular_velocity
    x, quat, v, w = (array[None] for array in arrays)
    q = joint_coordinates(mechanism, joint, x, quat, state.turns.get(force.joint))
    return np.atleast_1d(joint_rates(mechanism, joint, q, x, quat, v, w)[0])
