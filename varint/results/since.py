"""Sums carried over from earlier nodes, so that a part of a run has the bits of the whole run."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from varint.kinematics.turns import near_values
from varint.mechanism.mechanism import Mechanism
from varint.results.node_turns import start_turns
from varint.results.record import HeldNodes
from varint.step.plan import Workspace
from varint.step.workspace import joint_workspace

if TYPE_CHECKING:
    from varint.results.recorded_motion import RecordedMotion


class First(NamedTuple):
    """Values at the first node of a run, where sums over its nodes begin.

    energy : J
    potential, work : (forces,) J
    """

    energy: float
    potential: np.ndarray
    work: np.ndarray


class Since(NamedTuple):
    """Sums that the nodes before a part left.

    first : First
    outside : float
        J, see `Trajectory.work_from_outside`.
    turns : see `Forces`
    coordinates, order : (n, 6) of products of exponentials, as the drift follows them
    last : name to (1, ...) the node before
    """

    first: First
    outside: float
    turns: np.ndarray
    coordinates: np.ndarray
    order: np.ndarray
    last: HeldNodes


def packed(since: Since) -> np.ndarray:
    """Return all its numbers in one row."""
    return np.concatenate([np.ravel(array).astype(float) for array in _arrays(since)])


def unpacked(numbers: np.ndarray, like: Since) -> Since:
    """Return the inverse of `packed`, for the run that left ``like``."""
    arrays, begin = [], 0
    for array in _arrays(like):
        arrays.append(numbers[begin : begin + array.size].reshape(array.shape).astype(array.dtype))
        begin += array.size
    energy, potential, work, outside, turns, coordinates, order, *last = arrays
    first = First(float(energy), potential, work)
    return Since(first, float(outside), turns, coordinates, order, HeldNodes(zip(like.last, last, strict=True)))


def _arrays(since: Since) -> list[np.ndarray]:
    numbers = *since.first, since.outside, since.turns, since.coordinates, since.order
    return [np.asarray(array) for array in (*numbers, *since.last.values())]


def summed_work(trajectory: "RecordedMotion") -> np.ndarray:
    """Return the sums (T,), J, of `Trajectory._work_between` up to each node."""
    since, before = trajectory._since, 0.0
    if since is None:
        return np.cumsum(np.concatenate([[before], trajectory._work_between]))
    nodes = {name: np.concatenate([since.last[name], trajectory.nodes[name]]) for name in trajectory.nodes}
    work = type(trajectory)(trajectory.record.part(HeldNodes(nodes)))._work_between
    return np.cumsum(np.concatenate([[since.outside], work]))[1:]


def turns_before(trajectory: "RecordedMotion") -> np.ndarray | None:
    """Return the values (nm,) of measures from which angles of laws continue counting; None where these are zero."""
    if trajectory._since is not None:
        return trajectory._since.turns
    return turns_of_laws(trajectory, trajectory.mechanism)


def turns_of_laws(trajectory: "RecordedMotion", mechanism: Mechanism) -> np.ndarray | None:
    """Return the values (nm,) of measures of a mechanism at the first node of a run of its joints; None: zero."""
    first, started = {}, start_turns(trajectory.settings)
    for name in dict.fromkeys(angle.joint for angle in mechanism.compiled.counted):
        if trajectory._counted is not None:
            first[name] = np.atleast_1d(trajectory._counted[name][0])
        elif name in started:
            first[name] = started[name]
    is_following = mechanism.compiled.followed or mechanism.compiled.euler_angles
    memory = {force: q[0] for force, q in trajectory._followed.items()} if is_following else None
    return near_values(mechanism.compiled, first, memory) if first or memory else None


def followed(trajectory: "RecordedMotion") -> Workspace:
    """Return a `joint_workspace` with the coordinates of products of exponentials of the node before."""
    ws = joint_workspace(trajectory.mechanism.compiled.plan)
    if trajectory._since is not None:
        ws.products.q[:], ws.products.order[:] = trajectory._since.coordinates, trajectory._since.order
    return ws


def row_of(trajectory: "RecordedMotion", chosen: slice) -> HeldNodes:
    """Return the chosen nodes, copied."""
    return HeldNodes({name: trajectory.nodes[name][chosen].copy() for name in trajectory.nodes})
