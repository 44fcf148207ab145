"""The initial state of a run, checked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from varint.analysis.quantities import joint_drift
from varint.errors import ArgumentError, StateError
from varint.integrators.run import LARGEST_GAP
from varint.kernels.plan import Workspace
from varint.kinematics.assembly import unit_quaternions
from varint.mechanism import Mechanism
from varint.model.checks import array_of, of_type
from varint.model.state import State

ROUND_OFF = 1e-12  # of the coordinates of a state to start from


def checked_start(mechanism: Mechanism, state: Any = None, ws: Workspace | None = None) -> State:
    """``state``, ``mechanism.state()`` where it is None, if the mechanism can start from it; ArgumentError, StateError.

    ``ws``: see `joint_drift`.
    """
    state = mechanism.state() if state is None else state
    if not isinstance(state, State):
        from varint.redmax.states import ReducedState  # slow to import, so only when needed

        if isinstance(state, ReducedState):
            raise ArgumentError(
                "state is a ReducedState: varint.redmax.maximal_state(mechanism, state) gives the State to start from"
            )
    of_type(state, State, "state", ArgumentError)
    nb = len(mechanism.bodies)
    for name, width in (("position", 3), ("quat_wxyz", 4), ("velocity", 3), ("angular_velocity", 3)):
        array_of(getattr(state, name), (nb, width), f"{name} of the state", ArgumentError)
    state = replace(state, quat_wxyz=unit_quaternions(mechanism, state.quat_wxyz, "state"))
    left = joint_drift(mechanism.compiled, state.position[None], state.quat_wxyz[None], ws)[0]
    if not left <= LARGEST_GAP * mechanism.compiled.length + ROUND_OFF * np.abs(state.position).max():
        raise StateError(f"the state leaves a joint {left:.3g} m open: mechanism.assemble(state) closes it")
    return state
