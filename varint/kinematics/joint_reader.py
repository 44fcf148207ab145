"""Joint coordinates and rates of states: compiled for joints that slide and then turn, by their frames for others."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from varint.base.numba import for_python, word_of
from varint.kinematics.assembly import checked_state
from varint.kinematics.frames import JointFrames, nearest_coordinates
from varint.kinematics.turns import reference_of
from varint.model.joints.base import Joint
from varint.model.motion import Ball, Motion, Slide, Turn
from varint.model.rotation_vectors import quat_from_matrix
from varint.model.state import State
from varint.model.structure import Structure
from varint.step.nodes.joint_readings import ABOUT_AXIS, ALONG_A, ALONG_B, FREELY, JointReadings, PoseReading, read_pose
from varint.step.nodes.welds import WeldTable

FLOAT = np.dtype(float)


class JointColumns(NamedTuple):
    """The frames of a joint, and the slice of the coordinates of the joint."""

    entries: slice
    frames: JointFrames


def split_joints(
    structure: Structure, joints: Iterable[Joint], columns: Mapping[str, slice]
) -> tuple[list[JointColumns], list[JointColumns]]:
    """Return `JointColumns` of the joints that compiled code reads, and of the others with coordinates."""
    readable: list[JointColumns] = []
    others: list[JointColumns] = []
    for joint in joints:
        each = JointColumns(columns[joint.name], JointFrames(structure, joint))
        if joint.dof:
            (readable if _is_readable(joint) else others).append(each)
    return readable, others


def _is_readable(joint: Joint) -> bool:
    """Return whether its motions are slides, then any turn, or one about an axis along which the slides are."""
    *first, last = joint.allowed
    about = [last.axis] * len(first) if isinstance(last, Turn) else None
    slides = [motion.axis for motion in first if isinstance(motion, Slide)]
    return len(slides) == len(first) and isinstance(last, Slide | Turn | Ball) and about in (None, slides)


def _kind(joint: Joint, motion: Motion) -> int:
    """Return the kind of reading of a motion: rates along axes are measured as in its motion subspace."""
    if isinstance(motion, Slide):
        return ALONG_A if isinstance(joint.allowed[-1], Ball) else ALONG_B
    return ABOUT_AXIS if isinstance(motion, Turn) else FREELY


def joint_readings(
    joints: Sequence[JointColumns], slot: np.ndarray, welds: WeldTable | None = None, world: int | None = None
) -> JointReadings:
    """Return the readings of joints that compiled code reads; ``slot`` (nb,) of the bodies, nb of the ``world``.

    ``welds``: where the bodies are on those that carry them, which are in the slots.
    """
    world = len(slot) if world is None else world
    kinds: list[int] = []
    columns: list[int] = []
    bodies, axes, origins, turns = [], [], [], []
    for entries, frames in joints:
        column = entries.start
        pair, starts = [frames.axes_a, frames.axes_b], [frames.origin_a, frames.origin_b]
        for side, k in enumerate((frames.a, frames.b)):
            if welds is not None and k >= 0:
                pair[side] = welds.axes[k] @ pair[side]
                starts[side] = welds.offset[k] + welds.axes[k] @ starts[side]
        for motion in frames.joint.allowed:
            first = 0 if isinstance(motion, Ball) else motion.axis  # type: ignore[attr-defined]
            order = [(first + k) % 3 for k in range(3)]
            kinds.append(_kind(frames.joint, motion))
            columns.append(column)
            bodies.append([slot[k] if k >= 0 else world for k in (frames.a, frames.b)])
            axes.append([each.T[order] for each in pair])
            origins.append(starts)
            turns.append([quat_from_matrix(each) for each in pair])
            column += motion.size
    n = len(kinds)
    of_bodies = np.ascontiguousarray(np.array(axes, dtype=float).reshape(n, 2, 3, 3).swapaxes(0, 1))
    return JointReadings(
        kind=np.array(kinds, dtype=np.int64),
        column=np.array(columns, dtype=np.int64),
        body=np.array(bodies, dtype=np.int64).reshape(n, 2),
        axes_a=of_bodies[0],
        axes_b=of_bodies[1],
        origin=np.array(origins, dtype=float).reshape(n, 2, 3),
        turn=np.array(turns, dtype=float).reshape(n, 2, 4),
    )


def read_others(joints: Iterable[JointColumns], pose: tuple[np.ndarray, ...], q: np.ndarray, rate: np.ndarray) -> None:
    """Fill the slices of ``joints`` in ``q`` and ``rate``; angles take the turns nearest to ``q``.

    ``pose``: position (nb + 1, 3), rotation (nb + 1, 3, 3) and motion (nb + 1, 6), the world last.
    """
    x, R, motion = pose
    for entries, frames in joints:
        q[entries] = nearest_coordinates(frames.joint, frames.measure(x, R)[None], q[entries][None])[0]
        rate[entries] = np.einsum("csk,sk->c", frames.rate_jacobian(x, R, q[entries]), motion[[frames.a, frames.b]])


class _Room(NamedTuple):
    """Arrays for one reading at a time."""

    reading: PoseReading
    word: object
    parts: tuple[np.ndarray, ...]  # of position, quaternions, velocities, angular velocities


class JointReader:
    """Reads all joint coordinates, and their rates, of states of a structure; any number of threads may use it."""

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        self._size, self._entries, columns = 0, [], {}
        for joint in structure.joints:
            entries = columns[joint.name] = slice(self._size, self._size + joint.dof)
            self._entries.append((joint.name, entries.start if joint.dof == 1 else entries))
            self._size = entries.stop
        self._slices, self._reference = columns, reference_of(structure).values
        nb = len(structure.bodies)
        readable, self._others = split_joints(structure, structure.joints, columns)
        self._readings = joint_readings(readable, np.arange(nb))
        self._shapes = (nb, 3), (nb, 4), (nb, 3), (nb, 3)
        self._read_pose = for_python(read_pose)
        self._free: list[_Room] = []  # rooms that no thread is reading in; pop and append are atomic

    def coordinates(self, state: State) -> dict[str, np.ndarray]:
        """Return coordinates of joints, see `Mechanism.coordinates`."""
        room = self._read(state)
        q = room.reading.q.copy()
        self._free.append(room)
        near = {**self._reference, **state.turns} if self._reference or state.turns else {}
        for name, values in near.items():
            if name in self._slices:
                columns = self._slices[name]
                near_row = np.nan_to_num(values)[None]
                q[columns] = nearest_coordinates(self.structure.joint(name), q[columns][None], near_row)[0]
        return {name: q[entries] for name, entries in self._entries}

    def rates(self, state: State) -> dict[str, np.ndarray]:
        """Return rates of joints, see `Mechanism.rates`."""
        room = self._read(state)
        rate = room.reading.rate.copy()
        self._free.append(room)
        return {name: rate[entries] for name, entries in self._entries}

    def _read(self, state: State) -> _Room:
        """Return a room with the readings of a state. Raises StateError for a state of other bodies."""
        try:
            room = self._free.pop()
        except IndexError:
            room = self._room()
        if not (type(state) is State and self._filled(room, state) and self._read_pose(room.word)):
            checked = checked_state(self.structure, state, "state")
            for part, array in zip(room.parts, checked, strict=True):
                part[:] = array
            self._read_pose(room.word)
        if self._others:
            reading = room.reading
            read_others(self._others, (reading.position, reading.rotation, reading.motion), reading.q, reading.rate)
        return room

    def _filled(self, room: _Room, state: State) -> bool:
        """Return whether the arrays of a state have the usual type and shapes; then they are copied to ``room``."""
        arrays = state.position, state.quat_wxyz, state.velocity, state.angular_velocity
        for part, array, shape in zip(room.parts, arrays, self._shapes, strict=True):
            if type(array) is not np.ndarray or array.shape != shape or array.dtype is not FLOAT:
                return False
            part[:] = array
        return True

    def _room(self) -> _Room:
        nb = len(self.structure.bodies)
        position, motion, (q, rate) = np.zeros((nb + 1, 3)), np.zeros((nb + 1, 6)), np.zeros((2, self._size))
        quat, rotation = np.tile([1.0, 0.0, 0.0, 0.0], (nb + 1, 1)), np.tile(np.eye(3), (nb + 1, 1, 1))
        reading = PoseReading(self._readings, position, quat, rotation, motion, q, rate)
        parts = position[:nb], quat[:nb], motion[:nb, :3], motion[:nb, 3:]
        return _Room(reading, word_of(reading), parts)
