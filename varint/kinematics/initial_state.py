"""Checks of the state that a run or a study starts from."""

import numpy as np

from varint.base.checks import array_of, of_type
from varint.base.errors import ArgumentError, StateError
from varint.kinematics.assembly import unit_quaternions
from varint.kinematics.drift import joint_drift
from varint.kinematics.turns import with_turns
from varint.model.state import State
from varint.plan import CompiledStructure
from varint.step.plan import Workspace

LARGEST_GAP = 1e-8  # of a joint in a state to start from, in sizes of a part
ROUND_OFF = 1e-12  # of the coordinates of a state to start from


def checked_start(mechanism: CompiledStructure, state: State, ws: Workspace | None = None) -> State:
    """Return ``state`` with unit quaternions, checked as the initial state of a run: shapes, and closed joints.

    Its ``turns`` are those of its poses, see `with_turns`. ``ws``: see `joint_drift`. Raises ArgumentError, StateError.
    """
    state = checked_arrays(mechanism, state)
    left = joint_drift(mechanism.compiled, state.position[None], state.quat_wxyz[None], ws)[0]
    if not left <= largest_gap(mechanism, state.position):
        raise StateError(f"the state leaves a joint {left:.3g} m open: mechanism.assemble(state) closes it")
    return with_turns(mechanism, mechanism.compiled, state)


def largest_gap(mechanism: CompiledStructure, position: np.ndarray) -> float:
    """Return the largest opening of a joint in a state to start from, m, with its bodies at ``position`` (nb, 3)."""
    return float(LARGEST_GAP * mechanism.compiled.length + ROUND_OFF * np.abs(position).max())


def checked_arrays(mechanism: CompiledStructure, state: State) -> State:
    """Return ``state`` with checked arrays and unit quaternions; its joints may be open."""
    if not isinstance(state, State) and (converter := getattr(type(state), "_state_from", "")):
        raise ArgumentError(f"state is a {type(state).__name__}: {converter} gives the State to start from")
    of_type(state, State, "state", ArgumentError)
    nb = len(mechanism.bodies)
    position, quats, velocity, spin = (
        array_of(getattr(state, name), (nb, width), f"{name} of the state", ArgumentError)
        for name, width in (("position", 3), ("quat_wxyz", 4), ("velocity", 3), ("angular_velocity", 3))
    )
    return state.of_bodies(position, unit_quaternions(mechanism, quats, "state"), velocity, spin)
