"""The arrays of joints with friction from their load, bearings: in a plan, and in a run."""

from dataclasses import dataclass
from typing import Annotated

from varint.base.numba import STEP_STATE, Bool1, CompiledRecord, Float1, Float2, Float3, Float4, Int1

ROWS = 5  # of a joint of one coordinate


@dataclass(frozen=True, eq=False)
class Bearings(CompiledRecord):
    """Bearings, n in all: joints of one coordinate, each with a row along it."""

    joint: Int1  # (n,)
    row: Int1  # (n,)
    element: Int1  # (n,)
    side: Int1  # (n,) of the joint, where body b of the description is
    point: Annotated[Float2, "n 3"]  # the anchor, from the centre of mass of body b, its axes, m
    axes: Annotated[Float3, "n 3 3"]  # of frame b of the joint, in axes of body b, a column each
    first: Int1  # (n + 1,) contact points of bearing n are first[n] : first[n + 1]
    pressure: Annotated[Float2, "points 6"]  # friction by the wrench: torque, force, frame b
    rival_first: Int1  # (n + 1,) rows of constraints and limits along the same coordinate
    rival: Int1


@dataclass(frozen=True, eq=False)
class BearingWork(CompiledRecord, writable=True):
    """The bearings in a run."""

    slip: Annotated[Float1, "bearings", STEP_STATE]  # m/s or rad/s, over the last step; zero where it stuck
    held: Annotated[Float1, "bearings", STEP_STATE]  # coordinate at which it sticks, m or rad ...
    is_held: Annotated[Float1, "bearings", STEP_STATE]  # ... where this is 1, else it does not
    acting: Bool1  # whether accelerations have their friction
    # of a step, or a node
    pose: Int1  # where it starts
    value: Annotated[Float1, "bearings"]  # coordinate at the start
    anchor: Annotated[Float1, "bearings"]  # that it is held at where it sticks
    rate: Annotated[Float1, "bearings"]  # over the step, or at the node
    low: Annotated[Float1, "bearings"]  # bounds of the friction, over the most that the load allows
    high: Annotated[Float1, "bearings"]
    mode: Annotated[Int1, "bearings"]  # LOW, STUCK, HIGH: see rows.py
    most: Annotated[Float1, "bearings"]  # friction that the load allows, N s or N m s
    by_multiplier: Annotated[Float2, "bearings 5"]  # its derivatives by the multipliers of the joint
    share: Annotated[Float2, "bearing_points 5"]  # friction of each contact point by these
    gradient: Annotated[Float4, "bearings poses 2 6"]  # of the coordinate, by pose and side
    border: Annotated[Int1, "bearings"]  # row in the border, -1 for none
    body: Annotated[Float2, "bearing_bodies 6"]  # right sides at a node
    right: Annotated[Float1, "bearing_rows"]
    # in the step at hand, while a node is solved
    kept_released: Annotated[Float1, "bearings"]  # of its row
    kept_mode: Annotated[Int1, "bearings"]
