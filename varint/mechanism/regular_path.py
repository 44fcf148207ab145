"""The regular parts of a path along a driven coordinate, in compiled code: its records, and the nodes it leaves."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from varint.base.numba import allocate
from varint.kinematics.closure import DENSE_ROWS, Closure
from varint.kinematics.frames import JointFrames
from varint.kinematics.joint_reader import JointColumns, joint_readings, split_joints
from varint.model.rotation_vectors import quat_from_matrix
from varint.model.structure import Structure
from varint.plan import Compiled
from varint.step.nodes.driven_path import PathMetric, PathRows, PathWork, follow_regular

if TYPE_CHECKING:
    from varint.mechanism.sweep import SweepNode

SPARE_NODES = 64  # beside one for each goal


class PathPose(NamedTuple):
    """Poses (nb + 1, ...) of the bodies, the world last."""

    x: np.ndarray
    R: np.ndarray


@dataclass(frozen=True)
class PathPart:
    """Nodes of a regular part, the first the end of the part before: `PathWork` in the order of the bodies."""

    s: np.ndarray
    q: np.ndarray
    x: np.ndarray
    R: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    least: np.ndarray
    coordinates: np.ndarray
    reached: np.ndarray  # nodes at the goals
    longest: float  # next step

    def pose(self, number: int) -> PathPose:
        """Return the pose of a node."""
        return PathPose(self.x[number], self.R[number])


class RegularPath:
    """The steps of a path that compiled code makes, see `varint.step.nodes.driven_path`."""

    def __init__(
        self, structure: Structure, compiled: Compiled, frames: JointFrames, closure: Closure, alike: Closure
    ) -> None:
        nb, numbers = len(structure.bodies), frames.steady_numbers
        assert numbers is not None
        self._closure, slots = closure, np.append(compiled.slot[:nb], nb)
        columns, first = {}, 0
        for joint in structure.joints:
            columns[joint.name] = slice(first, first + joint.dof)
            first += joint.dof
        readable, _ = split_joints(structure, structure.joints, columns)
        self.entries = {each.frames.joint.name: each.entries for each in readable}  # of joints that are read
        self._slots, self._ends = slots, slots[[frames.a, frames.b]][None]
        self._rows: dict[str, Any] = {
            "number": closure.rows,
            "side": np.ascontiguousarray(slots[closure.side]),
            "scale": closure.scale,
            "rate": closure.rates,
            "chain": np.array(closure.chains, dtype=np.int64).reshape(-1, 2),
            "kinetic": _metric(closure),
            "alike": _metric(alike),
            "driven": joint_readings([JointColumns(slice(0, 1), frames)], slots[:nb]),
            "numbers": numbers[None],
            "first": np.zeros(1, dtype=np.int64),
            "readings": joint_readings(readable, slots[:nb]),
            "length": np.array([compiled.length]),
        }
        self._sizes = {"bodies": nb + 1, "motions": 6 * nb, "m": len(closure.side), "nq": first, "rates": max(1, first)}

    @staticmethod
    def supports(closure: Closure, frames: JointFrames) -> bool:
        """Return whether compiled code makes the steps of a mechanism with a driven joint."""
        is_small = len(closure.side) <= DENSE_ROWS
        return is_small and frames.steady_numbers is not None and not closure.plan.products.start.size

    def follow(self, goals: np.ndarray, start: "SweepNode", rank: int, smallest: float) -> PathPart:
        """Return the regular part from ``start`` on towards the ``goals`` (n,), where rows have a ``rank``."""
        rows = PathRows(**self._rows, smallest=np.array([smallest]), rank=np.array([rank], dtype=np.int64))
        work = allocate(PathWork, self._sizes | {"n": len(goals), "k": len(goals) + SPARE_NODES})
        order = self._closure.order
        work.goals[:], work.span[0], work.ends[:] = goals, np.inf, self._ends
        work.s[0], work.q[0] = start.s, start.q
        work.x[0], work.R[0], work.quat[0] = start.x[order], start.R[order], quat_from_matrix(start.R)[order]
        work.velocity[0], work.acceleration[0] = start.velocity[order], start.acceleration[order]
        follow_regular(self._closure.plan, self._closure.ws, rows, work)
        (done, last), slots = work.counts, self._slots
        x, R, velocity, acceleration = (
            array[: last + 1, slots] for array in (work.x, work.R, work.velocity, work.acceleration)
        )
        s, q, least, coordinates = (array[: last + 1] for array in (work.s, work.q, work.least, work.coordinates))
        reached, longest = work.reached[:done], float(work.span[0])
        return PathPart(s, q, x, R, velocity, acceleration, least, coordinates, reached, longest)


def _metric(closure: Closure) -> PathMetric:
    """Return the metric of a closure with the bodies in slots."""
    root = closure.root[closure.order]
    return PathMetric(root[:, 0, 0].copy(), root[:, 3:, 3:].copy(), closure.least_squares)
