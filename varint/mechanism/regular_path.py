"""The regular parts of a path along a driven coordinate, in compiled code: its records, and the nodes it leaves."""

from typing import TYPE_CHECKING

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


class PathPart:
    """The first ``count`` nodes of a `PathWork`, the first of which is the end of the part before.

    Attributes
    ----------
    s : (n,) driven coordinate; ``q`` (n, 1): the same with the turns of its joint
    x, R : (n, nb + 1, 3), (n, nb + 1, 3, 3), in the order of the bodies, the world last
    quat_wxyz : (n, nb, 4) the scalar part not negative
    least : (n,) lower bounds of the least singular values, zero where these are
    coordinates : (n, nq) of all joints
    reached : (m,) nodes at the goals
    longest : float
        Next step.
    """

    def __init__(self, work: PathWork, slots: np.ndarray, count: int, reached: np.ndarray, longest: float) -> None:
        self._work, self._slots, self._count = work, slots, count
        self.reached, self.longest = reached, longest
        self.s, self.q, self.least = work.s[:count], work.q[:count], work.least[:count]
        self.coordinates = work.coordinates[:count]
        self.x, self.R = work.x[:count, slots], work.R[:count, slots]

    @property
    def quat_wxyz(self) -> np.ndarray:
        quat = self._work.quat[: self._count, self._slots[:-1]]
        return np.where(quat[..., :1] < 0, -quat, quat)

    def motion(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the motions (nb + 1, 6) of a node, by the coordinate and by it twice."""
        return self._work.velocity[number, self._slots], self._work.acceleration[number, self._slots]


class RegularPath:
    """The steps of a path that compiled code makes, see `varint.step.nodes.driven_path`."""

    def __init__(
        self,
        structure: Structure,
        compiled: Compiled,
        frames: JointFrames,
        closure: Closure,
        alike: Closure,
        smallest: float,
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
        self._rows = PathRows(
            number=closure.rows,
            side=np.ascontiguousarray(slots[closure.side]),
            scale=closure.scale,
            rate=closure.rates,
            chain=np.array(closure.chains, dtype=np.int64).reshape(-1, 2),
            kinetic=_metric(closure),
            alike=_metric(alike),
            driven=joint_readings([JointColumns(slice(0, 1), frames)], slots[:nb]),
            numbers=numbers[None],
            first=np.zeros(1, dtype=np.int64),
            readings=joint_readings(readable, slots[:nb]),
            length=np.array([compiled.length]),
            smallest=np.array([smallest]),
        )
        self._sizes = {"bodies": nb + 1, "motions": 6 * nb, "m": len(closure.side), "nq": first, "rates": max(1, first)}

    @staticmethod
    def supports(closure: Closure, frames: JointFrames) -> bool:
        """Return whether compiled code makes the steps of a mechanism with a driven joint."""
        is_small = len(closure.side) <= DENSE_ROWS
        return is_small and frames.steady_numbers is not None and not closure.plan.products.start.size

    def follow(self, goals: np.ndarray, start: "SweepNode", rank: int) -> PathPart:
        """Return the regular part from ``start`` on towards the ``goals`` (n,), where rows have a ``rank``."""
        work = allocate(PathWork, self._sizes | {"n": len(goals), "k": len(goals) + SPARE_NODES})
        order = self._closure.order
        work.goals[:], work.span[0], work.rank[0], work.ends[:] = goals, np.inf, rank, self._ends
        work.s[0], work.q[0] = start.s, start.q
        work.x[0], work.R[0], work.quat[0] = start.x[order], start.R[order], quat_from_matrix(start.R)[order]
        work.velocity[0], work.acceleration[0] = start.velocity[order], start.acceleration[order]
        follow_regular(self._closure.plan, self._closure.ws, self._rows, work)
        done, last = work.counts.tolist()
        return PathPart(work, self._slots, last + 1, work.reached[:done], float(work.span[0]))


def _metric(closure: Closure) -> PathMetric:
    """Return the metric of a closure with the bodies in slots."""
    root = closure.root[closure.order]
    return PathMetric(root[:, 0, 0].copy(), root[:, 3:, 3:].copy(), closure.least_squares)
