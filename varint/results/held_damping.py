"""Efforts of motors that damp a joint, but are held over steps too long for that.

An effort -k v, computed from the rate v at a node and held over the next step, changes the rate to (1 - k dt/I) v. The
rate alternates for a gain k above I/dt and grows above 2 I/dt, with the inertia I that the effort accelerates.
"""

import dataclasses
from collections.abc import Mapping
from typing import NamedTuple, TypeGuard

import numpy as np

from varint.base.errors import ArgumentError
from varint.kinematics.frames import JointFrames, with_world
from varint.mechanism.mechanism import Mechanism
from varint.model.forces.along import AlongCoordinate
from varint.model.forces.commanded import Commanded, Extrapolated
from varint.model.state import State
from varint.results.inputs.at_nodes import called, is_controlled
from varint.results.reactions import accelerations_and_reactions

SHARE = 1e-3  # of the rate, by which it is varied
LARGE = 0.5  # of the rate: smaller changes in a step do not make the motion unstable


class EffortResponse(NamedTuple):
    """Accelerations by a unit effort along a joint coordinate.

    jacobian : (nb + 1, 6) from the motion of the bodies to the rate
    acceleration : (nb + 1, 6) m/s^2, world, and rad/s^2, body axes; the world last
    """

    jacobian: np.ndarray
    acceleration: np.ndarray

    @property
    def inertia(self) -> float:
        """Return the inertia, kg m^2 or kg, that the effort accelerates, by its coordinate."""
        return float(1.0 / np.sum(self.jacobian * self.acceleration))

    def rate(self, state: State) -> float:
        """Return the rate of the coordinate, rad/s or m/s."""
        return float(np.sum(self.jacobian[:-1] * np.hstack([state.velocity, state.angular_velocity])))

    def with_impulse(self, state: State, impulse: float) -> State:
        """Return the state after an ``impulse``, N m s or N s, of the effort."""
        velocity, angular_velocity = np.split(impulse * self.acceleration[:-1], 2, axis=1)
        return dataclasses.replace(
            state, velocity=state.velocity + velocity, angular_velocity=state.angular_velocity + angular_velocity
        )


def response_along(mechanism: Mechanism, force: AlongCoordinate, state: State) -> EffortResponse:
    """Return the `EffortResponse` to an effort of ``force`` at ``state``."""
    frames = JointFrames(mechanism, mechanism.joint(force.joint))
    x, R = with_world(state.position, state.quat_wxyz)
    jacobian = np.zeros((len(x), 6))
    jacobian[[frames.a, frames.b]] += frames.rate_jacobian(x, R)[force.coordinate]
    load = np.stack([np.zeros_like(jacobian), jacobian])
    still = np.zeros((2, len(mechanism.bodies), 3))
    position, quat = (np.repeat(array[None], 2, axis=0) for array in (state.position, state.quat_wxyz))
    solution = accelerations_and_reactions(mechanism, load[:, :-1], position, quat, still, still)[0]
    return EffortResponse(jacobian, np.vstack([solution[1] - solution[0], np.zeros(6)]))


def is_held_motor(force: object) -> TypeGuard[AlongCoordinate]:
    """Return whether a force is a motor along one coordinate with a function of the state that is held over a step."""
    held = isinstance(force, Commanded) and is_controlled(force) and not isinstance(force.input, Extrapolated)
    return held and _is_motor(force)


def explain_controllers(mechanism: Mechanism, time: float, state: State, dt: float) -> str | None:
    """Return an explanation if a motor's function f(t, state) damps with a gain above 2 I/dt; else None.

    ``state``: at a node, at ``time``, s; ``dt``: the step, s. The gain is the derivative of the function by the rate,
    at the state and where the rate is zero, as functions are often limited.
    """
    for force in mechanism.forces:
        if not is_held_motor(force):
            continue
        response = response_along(mechanism, force, state)
        inertia, rate = response.inertia, response.rate(state)
        change = SHARE * (abs(rate) or 1.0) * inertia
        try:
            gain = max(
                (called(force, time, slower) - called(force, time, faster)) * inertia / (2.0 * change)
                for at in (state, response.with_impulse(state, -rate * inertia))
                for slower, faster in [(response.with_impulse(at, -change), response.with_impulse(at, change))]
            )
        except ArgumentError:  # outside the states for which the function was written
            continue
        if gain * dt > 2.0 * inertia:
            return (
                f"The effort of {force.label} damps joint '{force.joint}' with a gain of about {gain:.3g}, and is held"
                f" for {dt:g} s. {_limit(inertia, dt, 'a')}, or dt below {2.0 * inertia / gain:.2g} s"
            )
    return None


def explain_inputs(mechanism: Mechanism, efforts: Mapping[int, float], state: State, held: float) -> str | None:
    """Return an explanation if the effort of a motor changes its rate by LARGE times that rate or more; else None.

    ``efforts``: those held before the node at ``state``, by the number of the force; ``held``: how long, s. Of several
    motors the explanation is about that with the largest change.
    """
    largest, explanation = LARGE, None
    for number, effort in efforts.items():
        force = mechanism.forces[number]
        if not _is_motor(force):
            continue
        response = response_along(mechanism, force, state)
        inertia, rate = response.inertia, response.rate(state)
        change = effort * held / inertia
        if rate and abs(change / rate) > largest:
            largest = abs(change / rate)
            explanation = (
                f"The effort of {force.label}, held for {held:g} s, changes the rate of joint '{force.joint}' by"
                f" {change:.3g}, to {rate:.3g}. {_limit(inertia, held, 'if it damps the joint, a')}, or a shorter step"
            )
    return explanation


def _is_motor(force: object) -> TypeGuard[AlongCoordinate]:
    """Return whether a force is a motor along one coordinate."""
    gives_efforts = isinstance(force, Commanded) and force.command_name == "effort"
    return gives_efforts and isinstance(force, AlongCoordinate) and force.angles is None


def _limit(inertia: float, held: float, begin: str) -> str:
    """Return the sentence about the largest gain."""
    sentence = (
        f"{begin} held gain above 2 I/dt = {2.0 * inertia / held:.3g} is unstable (I = {inertia:.3g}). Use a JointServo"
        " or JointDamper, which damp within the step"
    )
    return sentence[0].upper() + sentence[1:]
