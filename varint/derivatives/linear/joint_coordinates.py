"""Minimal coordinates that are the joints' own, wherever their bodies are: about a state they bend the chart.

The chart of `Coordinates` measures a nearby state with the rows of the joints at the linearisation state; a coordinate
of a joint, y, and its rate dy/dt = r(q) v have rows r(q) that change with the pose. To first order the two agree in
poses, and differ in rates by v . dr and in accelerations by its derivative. These changes of rows are taken by central
differences of sixth order of the relative twist of two bodies, right to about 1e-12 of it, second ones to 1e-10.
"""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field

import numpy as np

from varint.derivatives.linear.candidates import Candidates
from varint.derivatives.linear.minimal_coordinates import Coordinates
from varint.kinematics.frames import JointFrames, nearest_coordinates, with_world
from varint.model.motion import Turn
from varint.model.rotation_vectors import quat_from_vector, rotation_matrix, turned
from varint.model.state import State

REACH = 2e-3  # rad, or m: of differences, short against the knots of a curve
NODES = np.array([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0])
WEIGHTS = np.array([-1.0, 9.0, -45.0, 45.0, -9.0, 1.0]) / 60.0  # of a first derivative, sixth order


@dataclass(frozen=True)
class JointAmong:
    """A joint of which some coordinates are among the minimal ones.

    frames : its frames on the bodies of the mechanism
    pair : the same frames where its bodies are numbers 0 and 1 of two
    columns : those of its coordinates, and ``numbers``, theirs among the minimal ones
    """

    frames: JointFrames
    pair: JointFrames
    columns: np.ndarray
    numbers: np.ndarray

    @property
    def bends(self) -> bool:
        """Whether the rows change along motions of the closed joint; the rows of a hinge stay in axes of its bodies."""
        allowed = self.frames.joint.allowed
        return not (len(allowed) == 1 and isinstance(allowed[0], Turn))


@dataclass(frozen=True, eq=False)
class JointCoordinates(Coordinates):
    """`Coordinates` of which those of joints are measured as `Mechanism.coordinates` and `rates` measure them.

    Those of floating bodies and of compliant rows stay those of the chart. ``joints``: all that have coordinates here.
    """

    joints: tuple[JointAmong, ...] = field(default=())

    @classmethod
    def of(cls, coordinates: Coordinates, candidates: Candidates) -> Coordinates:
        """Return the same coordinates, about the same state, measured along the joints in place of the chart.

        ``coordinates`` themselves where floating bodies or compliant rows are among them, which have the chart alone.
        """
        of_joints = {name for _, names in candidates.joints for name in names}
        if not of_joints.issuperset(coordinates.names):
            return coordinates
        number = {name: k for k, name in enumerate(coordinates.names)}
        joints = []
        for frames, names in candidates.joints:
            columns = np.array([k for k, name in enumerate(names) if name in number], dtype=np.int64)
            if columns.size:
                pair = copy(frames)
                pair.a, pair.b = 0, 1
                joints.append(JointAmong(frames, pair, columns, np.array([number[names[k]] for k in columns])))
        return cls(coordinates.state, coordinates.names, coordinates.rows, coordinates.motions, tuple(joints))

    def read(self, state: State) -> np.ndarray:
        """Return the coordinates and rates (2 n,) of a nearby state, less the values of the state here."""
        x, n = super().read(state), len(self.names)
        here, there = _pose(self.state), _pose(state)
        before, after = _velocity(self.state), _velocity(state)
        for each in self.joints:
            frames, columns = each.frames, each.columns
            q, near = (frames.measure(*pose)[None] for pose in (there, here))
            x[each.numbers] = (nearest_coordinates(frames.joint, q, near) - near)[0, columns]
            x[n + each.numbers] = (_rates(frames, *there, after) - _rates(frames, *here, before))[columns]
        return x

    def rows_at(self, state: State) -> np.ndarray:
        """Return the changes (n, nb, 6) of the coordinates by motions of the bodies at a state."""
        return self._at(state, super().rows_at(state))

    def rate_rows_at(self, state: State) -> np.ndarray:
        """Return the changes (n, nb, 6) of the rates by velocities of the bodies at a state."""
        return self._at(state, self.rows)

    def _at(self, state: State, rows: np.ndarray) -> np.ndarray:
        rows, pose = rows.copy(), _pose(state)
        for each in self.joints:
            by_ends = each.frames.rate_jacobian(*pose)[each.columns]
            rows[each.numbers] = 0.0
            for side, body in enumerate((each.frames.a, each.frames.b)):
                if body >= 0:
                    rows[each.numbers, body] = by_ends[:, side]
        return rows

    def read_changes(self, state: State, changes: np.ndarray) -> np.ndarray:
        """Return the changes (2 n, c) of `read` at a state by changes (c, nb, 12) of its pose and velocity."""
        of_pose, of_rates = self.rows_at(state), self.rate_rows_at(state)
        rates = np.tensordot(of_rates, changes[..., 6:], ((1, 2), (1, 2))) + self.bends(state, changes[..., :6])
        return np.concatenate([np.tensordot(of_pose, changes[..., :6], ((1, 2), (1, 2))), rates])

    def bends(self, state: State, motions: np.ndarray, velocity: np.ndarray | None = None) -> np.ndarray:
        """Return the changes (n, c) of the rates by motions (c, nb, 6) of the bodies, whose velocities stay.

        Motions that keep joints closed. ``velocity`` (nb, 6): in place of that of ``state``, m/s, world, and rad/s,
        body axes.
        """
        bends, pose = np.zeros((len(self.names), len(motions))), _pose(state)
        moving = _velocity(state) if velocity is None else np.vstack([velocity, np.zeros(6)])
        for each, ends in self._bending(moving):
            near = _Near(each.pair, *(part[ends] for part in pose))
            bends[each.numbers] = near.bends(_of_ends(motions, ends), moving[ends])[:, each.columns].T
        return bends

    def flow_changes(
        self, changes: np.ndarray, accelerations: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray
    ) -> np.ndarray:
        """Return the changes (2 n, c) of the time derivative, see `Coordinates.flow_changes`."""
        flow, n = super().flow_changes(changes, accelerations, velocity, acceleration), len(self.names)
        rates = self.along(changes[..., 6:]) + self.bends(self.state, changes[..., :6], velocity)
        for each in self.joints:
            flow[each.numbers] = rates[each.numbers]
        if velocity.any():
            flow[n:] += self._second_bends(changes, velocity, acceleration)
        else:
            flow[n:] += self.bends(self.state, changes[..., :6], acceleration)
        return flow

    def _second_bends(self, changes: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
        """Return the changes (n, c) of second rates by changes (c, nb, 12) of pose and velocity, accelerations held.

        The derivative along each change, over s, of the rates after a motion ``s`` times the velocity.
        """
        bends, pose = np.zeros((len(self.names), len(changes))), _pose(self.state)
        v, a = (np.vstack([part, np.zeros(6)]) for part in (velocity, acceleration))
        for each, ends in self._bending(v, a):
            near = _Near(each.pair, *(part[ends] for part in pose))
            second = near.second_bends(_of_ends(changes, ends), v[ends], a[ends])
            bends[each.numbers] = second[:, each.columns].T
        return bends

    def _bending(self, *moving: np.ndarray) -> Iterator[tuple[JointAmong, list[int]]]:
        """Yield the joints whose rows bend, with their bodies, where one of these is among ``moving`` (nb + 1, 6)."""
        for each in self.joints:
            ends = [each.frames.a, each.frames.b]
            if each.bends and any(part[ends].any() for part in moving):
                yield each, ends


def _pose(state: State) -> tuple[np.ndarray, np.ndarray]:
    return with_world(state.position, state.quat_wxyz)


def _velocity(state: State) -> np.ndarray:
    """Return velocities (nb + 1, 6) of bodies and world, m/s, world, and rad/s, body axes."""
    return np.vstack([np.hstack([state.velocity, state.angular_velocity]), np.zeros(6)])


def _of_ends(changes: np.ndarray, ends: list[int]) -> np.ndarray:
    """Return the rows (c, 2, k) of two bodies from changes (c, nb, k) of all; rows of the world are zero."""
    picked = changes[:, ends].copy()
    picked[:, [body < 0 for body in ends]] = 0.0
    return picked


def _reach(changes: np.ndarray) -> np.ndarray:
    """Return the factors (c,) by which changes (c, 2, k) get the size `REACH`."""
    size = np.abs(changes).max(axis=(1, 2), initial=0.0)
    return REACH / np.where(size > 0.0, size, 1.0)


class _Near:
    """Rates of a joint of two bodies at poses near that of ``x`` (2, 3), ``R`` (2, 3, 3), where it is closed.

    Motions keep the joint closed to first order only, and its coordinates are followed to the same order: they need
    not be searched at an open joint.
    """

    def __init__(self, frames: JointFrames, x: np.ndarray, R: np.ndarray) -> None:
        self.frames, self.x, self.R = frames, x, R
        self.q = frames.measure(x, R)  # (dof,)
        self.rows = frames.rate_jacobian(x, R, self.q).reshape(len(self.q), 12)

    def along(self, motions: np.ndarray) -> np.ndarray:
        """Return the changes (..., dof) of the coordinates by motions (..., 2, 6)."""
        return motions.reshape(*motions.shape[:-2], 12) @ self.rows.T

    def rates(self, x: np.ndarray, R: np.ndarray, q: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        """Return the rates (..., dof) at poses with coordinates ``q`` (..., dof) and velocities (..., 2, 6)."""
        v, w = (np.broadcast_to(part, x.shape) for part in (velocity[..., :3], velocity[..., 3:]))
        return turned(self.frames.inverse_subspace(x, R, q), self.frames.relative_twist(x, R, v, w))

    def bends(self, motions: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        """Return the changes (c, dof) of the rates at ``velocity`` (2, 6) by motions (c, 2, 6)."""
        h = _reach(motions)
        shift = (NODES[:, None] * h)[..., None, None] * motions
        rates = self.rates(*_moved(self.x, self.R, shift), self.q + self.along(shift), velocity)
        return np.tensordot(WEIGHTS, rates, 1) / h[:, None]

    def second_bends(self, changes: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
        """Return the changes (c, dof) of the second rates by changes (c, 2, 12), at ``acceleration`` (2, 6).

        The derivative, over the step h of a change and the time s after it, of the rates.
        """
        h, s = _reach(changes), _reach(velocity[None])[0]
        shift = (NODES[:, None] * h)[..., None, None] * changes
        moving, times = velocity + shift[..., 6:], s * NODES[:, None, None, None]
        by_change = self.along(changes[..., 6:]) + self.bends(changes[..., :6], velocity)  # of the rates
        rate = self.along(velocity) + (NODES[:, None] * h)[..., None] * by_change
        q = self.q + self.along(shift[..., :6]) + times * rate
        times = times[..., None]
        places = _moved(*_moved(self.x, self.R, shift[..., :6]), times * moving)
        rates = self.rates(*places, q, moving + times * acceleration)
        return np.tensordot(WEIGHTS, np.tensordot(WEIGHTS, rates, 1), 1) / (s * h[:, None])


def _moved(x: np.ndarray, R: np.ndarray, motion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the poses after motions (..., 2, 6): m, world, and a rotation vector, rad, body axes."""
    return x + motion[..., :3], R @ rotation_matrix(quat_from_vector(motion[..., 3:]))


def _rates(frames: JointFrames, x: np.ndarray, R: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """Return the rates (..., dof) of a joint at velocities (..., nb, 6) of the bodies of poses ``x``, ``R``."""
    v, w = (np.broadcast_to(part, x.shape) for part in (velocity[..., :3], velocity[..., 3:]))
    return turned(frames.inverse_subspace(x, R), frames.relative_twist(x, R, v, w))
