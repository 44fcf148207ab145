"""Times at which a coordinate, or a number that a state has, takes a value."""

from collections.abc import Callable

import numpy as np
from scipy.optimize.elementwise import find_root

from varint.base.checks import call, choice, finite, of_type
from varint.base.errors import ArgumentError
from varint.mathematics.products.stages import BALL, FIRST, NEXT, PERIOD
from varint.mechanism.driven_coordinate import named_coordinate
from varint.model.joints.base import Joint
from varint.model.product_table import joint_table
from varint.model.state import State
from varint.results.gaps import check_known_motion
from varint.runs.trajectory import Trajectory

FALLING, EITHER, RISING = DIRECTIONS = (-1, 0, 1)
Crossed = str | tuple[str, int] | Callable[[State], float]


def crossings(trajectory: Trajectory, of: Crossed, value: float = 0.0, direction: int = 0) -> np.ndarray:
    """Return the times (K,), s, at which ``of`` takes ``value``, solved for between the nodes.

    Parameters
    ----------
    trajectory : Trajectory
    of : str, (str, int) or function
        A joint with one coordinate; a joint and the number of its coordinate; or a function of a `State` that gives a
        number without jumps, which is called at each node.
    value : float
        m or rad. An angle takes it whenever the pose is that of ``value``, whatever turns it has made.
    direction : {0, 1, -1}
        Either; from below to above; from above to below.

    The motion between nodes is that of `Trajectory.at`: the times are as accurate as it is. Two crossings between
    neighbouring nodes are not seen.

    Raises ArgumentError for an unknown joint, for fewer than two nodes, and where those around a crossing are too far
    apart to know the motion between them: velocities there to 2 % of the largest, by an estimate.
    """
    before, goal = crossed_gaps(trajectory, of, value, direction)
    check_known_motion(trajectory, before, "crossings")
    return solve_crossings(trajectory, of, before, goal)


def crossed_gaps(trajectory: Trajectory, of: Crossed, value: float, direction: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the nodes (K,) after which ``of`` takes ``value``, and the values (K,) that it takes there, with turns.

    See `crossings`, which has these arguments. Raises ArgumentError for an unknown joint and for fewer than two nodes.
    """
    of_type(trajectory, Trajectory, "trajectory", ArgumentError)
    value = finite(value, "value", ArgumentError)
    direction = choice(direction, DIRECTIONS, "direction", ArgumentError)
    if len(trajectory) < 2:
        raise ArgumentError("crossings lie between nodes, the trajectory has one")
    period = 0.0 if callable(of) else period_of(*named_coordinate(trajectory.mechanism, of, "crossings"))
    above = observed(trajectory, of) - value
    level = np.floor(above / period) if period else (above >= 0).astype(float) - 1.0
    change = np.diff(level)
    before = np.flatnonzero(change * direction > 0 if direction else change != 0)
    return before, value + period * np.maximum(level[before], level[before + 1])


def solve_crossings(trajectory: Trajectory, of: Crossed, before: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """Return the times (K,), s, at which ``of`` takes the values ``goal`` (K,) after the nodes ``before`` (K,)."""
    if not before.size:
        return np.zeros(0)

    def off(times: np.ndarray, goal: np.ndarray) -> np.ndarray:
        chosen, where = np.unique(times, return_inverse=True)
        return observed(trajectory.at(chosen), of)[where.reshape(times.shape)] - goal

    t = trajectory.t
    root = find_root(off, (t[before], t[before + 1]), args=(goal,))
    (left, right), size = root.bracket, np.abs(root.f_bracket)
    at_node = np.where(size[0] < size[1], left, right)  # where round-off has put it beyond the node
    return np.unique(np.where(root.success, root.x, at_node))


def observed(trajectory: Trajectory, of: Crossed) -> np.ndarray:
    """Return a coordinate (T,), m or rad with its turns, or the values of a function of the state, at each node."""
    if not callable(of):
        joint, number = named_coordinate(trajectory.mechanism, of, "crossings")
        return trajectory.coordinates[joint.name].reshape(len(trajectory), -1)[:, number]
    whose = "of, a function that is called as of(state)"
    return np.array([finite(call(of, whose, state), f"what {whose}, gives", ArgumentError) for state in trajectory])


def period_of(joint: Joint, number: int) -> float:
    """Return the period of a coordinate after which the pose repeats: 2 pi for turns about an axis, 0 if never."""
    table, stage = joint_table(joint), 0
    while stage >= 0:
        row = table[stage]
        if int(row[FIRST]) == number and not row[BALL]:
            return float(row[PERIOD])
        stage = int(row[NEXT])
    return 0.0
