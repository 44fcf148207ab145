"""All coordinates that minimal ones are chosen from: of joints, their compliant rows, and bodies that float."""

import numpy as np

from varint.kinematics.frames import JointFrames, with_world
from varint.measures import KINDS
from varint.mechanism.mechanism import Mechanism
from varint.model.joints.base import Joint
from varint.model.motion import Motion, Slide, Turn, coordinate_units, motion_subspace
from varint.model.state import State
from varint.step.coordinates import compliant_rows, steady_rows
from varint.step.plan import Workspace

Row = tuple[str, tuple[int, int], str]  # name, bodies (-1: the world), unit


class Candidates:
    """The coordinates of a mechanism, n of them.

    names : (n,) of joints, "NAME[k]" where one has several; of bodies that float "NAME.position[k]", "NAME.rotation[k]"
        Of compliant rows of joints "NAME.row[k]", k the number of the row.
    units : (n,) "m", "rad"
    ends : (n, 2) slots of their two bodies
    scale : (n,) 1, or the length of the mechanism where the unit is rad
    joints : of each joint that moves, its frames and the names of its coordinates
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism, self.compiled = mechanism, mechanism.compiled
        rows: list[Row] = []
        self.joints: list[tuple[JointFrames, tuple[str, ...]]] = []
        self._moving: list[tuple[slice, JointFrames]] = []  # whose rows depend on the coordinates
        self._floating: list[int] = []  # first of six
        steady: list[tuple[int, np.ndarray]] = []
        for joint in mechanism.joints:
            if joint.dof == 0:
                continue
            frames, units, first = JointFrames(mechanism, joint), coordinate_units(joint), len(rows)
            for k, unit in enumerate(units):
                name = joint.name if joint.dof == 1 else f"{joint.name}[{k}]"
                rows.append((name, (frames.a, frames.b), unit))
            self.joints.append((frames, tuple(name for name, *_ in rows[first:])))
            if joint.dof == 1 and isinstance(_motion_of(joint.allowed), (Turn, Slide)):
                steady.append((first, _numbers(frames)))
            else:
                self._moving.append((slice(first, len(rows)), frames))
        for body, number in self.compiled.topology.tree_joint.items():
            if number is None:
                self._floating.append(len(rows))
                for k in range(6):
                    part, unit = ("position", "m") if k < 3 else ("rotation", "rad")
                    rows.append((f"{mechanism.bodies[body].name}.{part}[{k % 3}]", (-1, body), unit))
        self._soft = slice(len(rows), len(rows) + self.compiled.plan.compliant.joint_row.size)
        rows += [row for joint in mechanism.joints for row in _compliant(mechanism, joint)]
        self.names = tuple(name for name, *_ in rows)
        self.units = tuple(unit for *_, unit in rows)
        bodies = np.array([ends for _, ends, _ in rows], dtype=np.int64).reshape(-1, 2)
        self.ends = np.append(self.compiled.slot, len(mechanism.bodies))[bodies]
        self.ends[self._soft] = self.compiled.plan.measures.body[self.compiled.plan.compliant.joint_row]
        self.scale = np.array([self.compiled.length if unit == "rad" else 1.0 for *_, unit in rows])
        self._steady = np.array([n for n, _ in steady], dtype=np.int64)
        self._numbers = np.array([numbers for _, numbers in steady]).reshape(-1, 3, 3)

    def pushes(self, ws: Workspace, state: State) -> np.ndarray:
        """Return changes (n, 2, 6) of the coordinates by motions of their bodies, at ``state``, pose 0 of ``ws``."""
        rows = np.zeros((len(self.names), 2, 6))
        steady_rows(ws.position[0], ws.rotation[0], self._steady, self.ends, self._numbers, rows)
        if self._moving:
            x, R = with_world(state.position, state.quat_wxyz)
            for columns, frames in self._moving:
                rows[columns] = frames.rate_jacobian(x, R)
        compliant_rows(self.compiled.plan, ws, rows[self._soft])
        for first in self._floating:
            rows[first : first + 6, 1] = np.eye(6)
        return rows


def unit_of_coordinate(mechanism: Mechanism, name: str) -> str:
    """Return the unit, "m" or "rad", of the coordinate ``name`` of a linearisation; empty if it is unknown."""
    candidates = Candidates(mechanism)
    return dict(zip(candidates.names, candidates.units, strict=True)).get(name, "")


def _compliant(mechanism: Mechanism, joint: Joint) -> list[Row]:
    """Return names, bodies and units of the rows of a joint that have a compliance."""
    index = mechanism.body_index
    ends = index.get(joint.body_a, -1), index.get(joint.body_b, -1)
    return [
        (f"{joint.name}.row[{k}]", ends, "rad" if KINDS[str(row.kind)].facts.angular else "m")
        for k, (row, alpha) in enumerate(zip(joint.forbidden, joint.compliances, strict=True))
        if alpha > 0.0
    ]


def _motion_of(allowed: tuple[Motion, ...]) -> Motion:
    """Return the motion that has the coordinate, of a joint with one coordinate."""
    return next(motion for motion in allowed if motion.size)


def _numbers(frames: JointFrames) -> np.ndarray:
    """Return (3, 3) for `steady_rows`: how the twist gives the coordinate's rate, and the origin, in axes of body b.

    For joints whose twist by the coordinate is the same everywhere: the pseudo-inverse of that twist is a constant.
    """
    inverse = np.linalg.pinv(motion_subspace(frames.joint, np.zeros(1)))[0]
    return np.array([frames.axes_b @ inverse[:3], frames.axes_b @ inverse[3:], frames.origin_b])
