"""Hard stops that take no part where they are open, and are refused where they are closed."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from varint.base.errors import ArgumentError
from varint.kinematics.initial_state import largest_gap
from varint.kinematics.start_at_stops import is_angle
from varint.kinematics.turns import count_from, near_of
from varint.model.known_forces import Use
from varint.model.rotation_vectors import rotation_matrix
from varint.model.state import State
from varint.plan import CompiledStructure
from varint.step.limits.gaps import evaluate_gaps
from varint.step.limits.rows import NEAR
from varint.step.sizes import unit_of_length
from varint.step.workspace import workspace


class PoseWithTurns(NamedTuple):
    """A pose at which stops have to be open.

    position : (nb, 3) m, world
    quat_wxyz : (nb, 4)
    near : (nm,) values from which measures count on, see `near_of`; None: from those at the pose before
    when : how an error says when it is, such as " at t = 1 s", or nothing
    """

    position: np.ndarray
    quat_wxyz: np.ndarray
    near: np.ndarray | None
    when: str


def check_open(mechanism: CompiledStructure, state: State, use: Use) -> None:
    """Raise ArgumentError if a hard stop is closed at ``state``, see `check_open_along`."""
    if mechanism.compiled.plan.limits.measure.size:
        pose = PoseWithTurns(state.position, state.quat_wxyz, near_of(mechanism, state), "")
        check_open_along(mechanism, [pose], use.plural, "take a state within its limits")


def check_open_along(mechanism: CompiledStructure, poses: Iterable[PoseWithTurns], plural: str, remedy: str) -> None:
    """Raise ArgumentError if a hard stop is closed at one of the poses; names stop, value, limit and remedies.

    Closed is a stop whose gap is at most as large as joints may be open in a state to start from, or below zero.
    ``plural``: what is computed; ``remedy``: what to do, beside changing the stop.
    """
    compiled, limits = mechanism.compiled, mechanism.compiled.plan.limits
    count = limits.measure.size
    if not count:
        return
    ws = workspace(compiled.plan, functions=compiled.functions)
    gaps, gradient = np.zeros(count), np.zeros((count, 2, 6))
    angular = np.array([is_angle(mechanism, compiled.force[e]) for e in limits.element], dtype=bool)
    for pose in poses:
        if pose.near is not None:
            count_from(compiled.plan, ws, pose.near)
        ws.position[0, :-1], ws.rotation[0, :-1] = (
            pose.position[compiled.order],
            rotation_matrix(pose.quat_wxyz[compiled.order]),
        )
        evaluate_gaps(compiled.plan, ws, ws.position[0], ws.rotation[0], gaps, gradient)
        values = limits.value - limits.sign * gaps
        ws.efforts.value_near[limits.measure] = values
        tolerance = largest_gap(mechanism, pose.position) / np.where(angular, compiled.length, 1.0)
        near = NEAR * np.where(angular, 1.0, unit_of_length(compiled.length))
        closed = np.flatnonzero(~(gaps > np.maximum(tolerance, near)))
        if closed.size:
            n = int(closed[0])
            stop = mechanism.forces[compiled.force[limits.element[n]]]
            unit, side = "rad" if angular[n] else "m", "upper" if limits.sign[n] > 0 else "lower"
            joint = f" on joint '{stop.joint}'" if hasattr(stop, "joint") else ""
            raise ArgumentError(
                f"{stop.label}{joint} is closed{pose.when}: it is at {values[n]:.9g} {unit}, its {side} limit is"
                f" {limits.value[n]:.9g} {unit}, and {plural} support open hard stops alone: {remedy}, give it a"
                " stiffness, or remove it"
            )
