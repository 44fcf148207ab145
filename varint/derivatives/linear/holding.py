"""Efforts and inputs that hold a mechanism at rest in a pose."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from varint.base.checks import of_type
from varint.base.display import names_text
from varint.base.errors import ArgumentError, StateError
from varint.derivatives.linear.candidates import unit_of_coordinate
from varint.derivatives.linear.effort_places import acts_along, by_owner, places_of, unused_name
from varint.derivatives.linear.linearization import Linearization, linearize
from varint.kinematics.assembly import checked_state
from varint.mechanism.mechanism import Mechanism
from varint.model.forces.base import Force
from varint.model.forces.joint import Motor
from varint.model.state import State

ITERATIONS = 20  # of Newton's method; one is enough if the efforts are linear in the inputs
RANK = 1e-9  # of the largest singular value: combinations of inputs below it move nothing
HELD = 1e-9  # relative to the accelerations without the inputs, and by them: less is round-off
DEAD = 1e-9  # m/s^2 or rad/s^2: accelerations below it count as rest


def holding(
    mechanism: Mechanism, state: State | None = None, joints: Sequence[str] | None = None
) -> dict[str, float | np.ndarray]:
    """Return the efforts of drives that hold a mechanism at rest in the pose of ``state``.

    Drives are the commanded forces along joint coordinates: motors, servos, actuators, prescribed motions. Each is
    taken as a motor at its coordinate, whatever its input and its limits. All other forces act as at t = 0 and at rest.
    Where more than one set of efforts holds the pose, the result is the one with the least sum of squares.

    Parameters
    ----------
    mechanism : Mechanism
    state : State, optional
        ``mechanism.state()`` where not given. Its velocities are not used.
    joints : sequence of str, optional
        Joints with an effort at each of their coordinates, in place of the drives.

    Returns
    -------
    dict
        Name of a drive to its effort. With ``joints``: name of a joint to its effort, or its efforts (dof,) if it has
        several coordinates. N m or N, on body b of the joint, positive in the direction of the coordinate; the opposite
        acts on body a. As ``effort`` of a motor it holds the pose.

    Raises
    ------
    ArgumentError
        No drive, and no ``joints``; an unknown joint; a closed hard stop, and forces that `linearize` does not support.
    StateError
        A state that leaves joints open; a pose that these efforts cannot hold: the error names the coordinate that
        accelerates.
    """
    of_type(mechanism, Mechanism, "mechanism", ArgumentError)
    places = places_of(mechanism, joints)
    others = [force for force in mechanism.forces if not acts_along(force)]
    used = {force.name for force in others}
    motors: list[Force] = []
    for place in places:
        name = unused_name(place.name, used)
        used.add(name)
        motors.append(Motor(name, joint=place.joint, coordinate=place.coordinate, angles=place.angles, effort=0.0))
    bare = mechanism.replace(forces=[*others, *motors])
    efforts = held_inputs(bare, state, [motor.name for motor in motors])
    held = by_owner(places, np.array(list(efforts.values())))
    return {owner: each if each.ndim else float(each) for owner, each in held.items()}


def held_inputs(mechanism: Mechanism, state: State | None, names: Sequence[str]) -> dict[str, float]:
    """Return the inputs of the forces ``names`` that hold a mechanism at rest in the pose of ``state``, by their names.

    Those with the least sum of squares of changes from the present inputs, by Newton's method. Raises as
    `holding` does.
    """
    state = mechanism.state() if state is None else state
    x, quat, _, _ = checked_state(mechanism, state, "state")
    rest = state.of_bodies(x, quat, np.zeros_like(x), np.zeros_like(x))
    for _ in range(ITERATIONS):
        system = linearize(mechanism, rest)
        columns, n = [system.inputs.index(name) for name in names], len(system.names)
        left, B = system.offset[n:], system.B[n:, columns]
        inputs = system.input[columns]
        if np.abs(left).max(initial=0.0) <= max(DEAD, HELD * np.abs(B * inputs).max(initial=0.0)):
            return dict(zip(names, inputs.tolist(), strict=True))
        change = np.linalg.lstsq(B, -left, RANK)[0]
        if np.abs(left + B @ change).max() > max(DEAD, HELD * max(np.abs(left).max(), np.abs(B * change).max())):
            break
        mechanism = with_inputs(mechanism, dict(zip(names, (inputs + change).tolist(), strict=True)))
    else:
        raise StateError(
            f"the inputs of {names_text(names)} that hold '{mechanism.name}' were not found in {ITERATIONS} iterations:"
            " start from inputs that are nearer to them"
        )
    raise _not_held(mechanism, system, left + B @ np.linalg.lstsq(B, -left, RANK)[0], names)


def with_inputs(mechanism: Mechanism, inputs: dict[str, float]) -> Mechanism:
    """Return the mechanism with constant ``inputs`` of its forces, by their names."""
    return mechanism.replace(forces=[_with_input(force, inputs) for force in mechanism.forces])


def _with_input(force: Any, inputs: dict[str, float]) -> Force:
    return replace(force, **{force.command_name: inputs[force.name]}) if force.name in inputs else force


def _not_held(mechanism: Mechanism, system: Linearization, left: np.ndarray, names: Sequence[str]) -> StateError:
    """Return the error for accelerations ``left`` (n,) that no inputs take away."""
    k = int(np.abs(left).argmax())
    unit = unit_of_coordinate(mechanism, system.names[k])
    return StateError(
        f"{names_text(names)} cannot hold '{mechanism.name}' in this state: with the best inputs '{system.names[k]}'"
        f" accelerates at {left[k]:.3g} {unit}/s^2. Drive more joints, or take another pose"
    )
