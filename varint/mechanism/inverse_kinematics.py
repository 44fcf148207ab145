"""Inverse kinematics: poses in which points of bodies are at targets, the joints closed and within their stops.

Each step is the damped least-squares step of the distances along the motions that the joints allow, under linear bounds
on the coordinates with stops: a problem of least distance, solved by non-negative least squares (Lawson and Hanson
1974, chapter 23). The joints are closed after each step.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import array_of, known_name, of_type, shown
from varint.base.display import names_text, numbers_text
from varint.base.errors import ArgumentError, StateError
from varint.kinematics.assembly import assemble, checked_state, split_held, state_of
from varint.kinematics.closure import LONGEST_TURN, TOLERANCE, Closure, Weld
from varint.kinematics.frames import JointFrames, in_body, moved, nearest_coordinates, with_world
from varint.kinematics.turns import refollowed
from varint.model.rotation_vectors import cross_matrix
from varint.model.state import State
from varint.model.structure import Structure
from varint.plan import Compiled

ITERATIONS = 300
CLOSING = 30  # corrections that close the joints after a step
REACHED = 1e-9  # sizes of a part: points that near are at their targets
NO_RANK = 1e-9  # of the largest singular value of the rows of joints: redundant rows
LEAST_DAMPING = 1e-12
MOST_DAMPING = 1e6
NUDGES, NUDGE = 6, 0.1  # starts beside one that gains nothing, such as a stretched arm; rad, or sizes of a part
GAIN = 1e-4  # of the distance: less, over PATIENCE steps, is no progress
PATIENCE = 12
AT_STOP = 1e-6  # m or rad

Target = str | tuple[str, ArrayLike]  # a body, of which the centre of mass is meant, or a body and one of its points


@dataclass(frozen=True)
class _PointTarget:
    """A point of a body and its target.

    body : number of the body
    arm : (3,) m, from the centre of mass, body axes
    goal : (3,) m, world
    """

    body: int
    arm: np.ndarray
    goal: np.ndarray

    def rows(self, x: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the way (3,), m, from the goal to the point, and its change (3, 6) by the motion of the body."""
        turn = -R[self.body] @ cross_matrix(self.arm)
        return x[self.body] + R[self.body] @ self.arm - self.goal, np.hstack([np.eye(3), turn])


class _Bound(NamedTuple):
    """The range of a joint coordinate that stops leave: number of the joint, of its coordinate, m or rad."""

    joint: int
    coordinate: int
    lower: float
    upper: float


class _Pose(NamedTuple):
    """A closed pose: bodies (nb + 1, ...), coordinates (dof,) of each joint, and ways (3 k,) from the goals, m."""

    x: np.ndarray
    R: np.ndarray
    q: list[np.ndarray]
    ways: np.ndarray

    @property
    def distance(self) -> float:
        return float(np.linalg.norm(self.ways))


def pose(
    structure: Structure,
    compiled: Compiled,
    targets: Mapping[Target, ArrayLike],
    hold: str | Iterable[str],
    start: State,
) -> State:
    """Return the state at rest with points at their targets, see `Mechanism.pose`."""
    points = _checked(structure, targets)
    checked_state(structure, start, "state of the pose")
    bodies, joints = split_held(structure, hold)
    start = assemble(structure, compiled, start, (), None, None)
    search = _Search(structure, compiled, points, bodies, joints, start)
    best = search.run()
    if best.distance > REACHED * compiled.length:
        raise _unreached(search, list(targets), best)
    turns = {joint.name: q for joint, q in zip(structure.joints, best.q, strict=True) if joint.name in start.turns}
    at_rest = state_of(best.x, best.R, np.zeros((len(best.x), 6)), like=start.quat_wxyz)
    state = replace(at_rest, turns=turns, memory=start.memory, beyond_stops=start.beyond_stops)
    return refollowed(structure, compiled, state)


def _checked(structure: Structure, targets: Mapping[Target, ArrayLike]) -> list[_PointTarget]:
    """Return the targets. Raises ArgumentError."""
    points = []
    for key, goal in of_type(targets, Mapping, "targets", ArgumentError).items():
        name, place = key if isinstance(key, tuple) and len(key) == 2 else (key, None)
        if not isinstance(name, str):
            raise ArgumentError(f"targets: name a body, or write (body, (x, y, z) of its point), got {shown(key)}")
        number = structure.body_index[known_name(name, structure.body_index, "targets: no body", ArgumentError)]
        arm = np.zeros(3)
        if place is not None:
            arm = in_body(structure, number, array_of(place, (3,), f"targets: the point of '{name}'", ArgumentError))
        points.append(_PointTarget(number, arm, array_of(goal, (3,), f"target of '{name}'", ArgumentError)))
    if not points:
        raise ArgumentError("targets: give at least one, {(body, point): (x, y, z)}")
    return points


class _Search:
    """The search for a pose from ``start``, with the ``bodies`` and ``joints`` that hold."""

    def __init__(
        self,
        structure: Structure,
        compiled: Compiled,
        points: list[_PointTarget],
        bodies: list[int],
        joints: list[str],
        start: State,
    ) -> None:
        self.structure, self.points, self.length = structure, points, compiled.length
        self.frames = [JointFrames(structure, joint) for joint in structure.joints]
        x, R = with_world(start.position, start.quat_wxyz)
        held = [self.frames[structure.joint_index[name]] for name in joints]
        welds = [Weld(frames, *frames.relative_pose(x, R)) for frames in held]
        self.closure = Closure(structure, compiled, asked=welds, still=bodies, alike=True)
        measured = [frames.measure(x, R) for frames in self.frames]
        self.start = self._at(
            x, R, [start.turns.get(j.name, q) for j, q in zip(structure.joints, measured, strict=True)]
        )
        self.bounds = [*self._bounds()]

    def run(self) -> _Pose:
        """Return the nearest pose that was found: from the start, then from poses beside the nearest one."""
        best, random = self._descend(self.start), np.random.default_rng(0)
        for _ in range(NUDGES):
            if best.distance <= REACHED * self.length:
                break
            nudge = NUDGE * random.standard_normal((self._motions(best)[0].shape[1],))
            beside = self._step(best, nudge, 0.0)
            reached = best if beside is None else self._descend(beside)
            best = min(best, reached, key=lambda pose: pose.distance)
        return best

    def _descend(self, here: _Pose) -> _Pose:
        """Return the pose at which steps from ``here`` gain nothing any more."""
        factor, before = 1.0, [here.distance]
        for _ in range(ITERATIONS):
            if here.distance <= TOLERANCE * self.length or factor > MOST_DAMPING:
                break
            if len(before) > PATIENCE and before[-1] > (1.0 - GAIN) * before[-1 - PATIENCE]:
                break
            damping = max(LEAST_DAMPING, factor * min(1.0, here.distance / self.length))
            ahead = self._step(here, None, damping)
            if ahead is None or not ahead.distance < here.distance:
                factor *= 8.0
                continue
            factor, here = max(0.25 * factor, LEAST_DAMPING), ahead
            before.append(here.distance)
        return here

    def _step(self, here: _Pose, wanted: np.ndarray | None, damping: float) -> _Pose | None:
        """Return the pose after a damped step to the goals, or after ``wanted`` (n,); None if it cannot be closed.

        ``damping``: of the square of the largest change of the ways by a motion.
        """
        motions, changes = self._motions(here)
        n = motions.shape[1]
        if not n:
            return None
        scale = max(float(np.linalg.norm(changes)), 1e-300)
        matrix = np.vstack([changes, np.sqrt(damping) * scale * np.eye(n)]) if wanted is None else np.eye(n)
        right = np.concatenate([-here.ways, np.zeros(n)]) if wanted is None else wanted
        step = motions @ _bounded(matrix, right, *self._inequalities(here, motions))
        d = self.closure.motion(step)
        longest = max(np.abs(d[:, :3]).max() / self.length, np.linalg.norm(d[:, 3:], axis=1).max())
        x, R = moved(here.x, here.R, d * min(1.0, LONGEST_TURN / max(longest, 1e-300)))
        x, R, gap = self.closure.close(x, R, CLOSING)
        return self._at(x, R, here.q) if self.closure.is_closed(gap, x) else None

    def _motions(self, here: _Pose) -> tuple[np.ndarray, np.ndarray]:
        """Return an orthonormal basis (6 nb + 6, n) of the motions that the joints allow, and the ways' changes."""
        _, G = self.closure.evaluate(here.x, here.R)
        A = self.closure.matrix(G, self.closure.row_size(G))
        rows = A if isinstance(A, np.ndarray) else A.toarray()
        _, sizes, V = np.linalg.svd(rows)
        rank = int((sizes > NO_RANK * sizes.max(initial=0.0)).sum())
        moving = np.abs(self.closure.root).sum(axis=1).ravel() > 0.0  # not the world, nor bodies that hold
        basis = V[rank:].T[:, np.abs(V[rank:][:, moving]).max(axis=1, initial=0.0) > NO_RANK]
        changes = np.zeros((3 * len(self.points), len(V)))
        for k, point in enumerate(self.points):
            entries = slice(6 * point.body, 6 * point.body + 6)
            changes[3 * k : 3 * k + 3, entries] = point.rows(here.x, here.R)[1] @ self.closure.root[point.body]
        return basis, changes @ basis

    def _inequalities(self, here: _Pose, motions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return C (m, n) and b (m,) of the bounds, C z >= b for a step z along the ``motions``."""
        C, b = [], []
        for bound in self.bounds:
            frames = self.frames[bound.joint]
            row = frames.rate_jacobian(here.x, here.R, here.q[bound.joint])[bound.coordinate]
            along = np.zeros(len(motions))
            for side, body in zip(row, (frames.a, frames.b), strict=True):
                entries = slice(6 * (body % len(here.x)), 6 * (body % len(here.x)) + 6)
                along[entries] += side @ self.closure.root[body]
            q = here.q[bound.joint][bound.coordinate]
            for sign, room in ((1.0, q - bound.lower), (-1.0, bound.upper - q)):
                if np.isfinite(room):
                    C.append(sign * along @ motions)
                    b.append(-room)
        return np.reshape(C, (-1, motions.shape[1])), np.array(b)

    def _at(self, x: np.ndarray, R: np.ndarray, near: list[np.ndarray]) -> _Pose:
        """Return the pose with the coordinates nearest to ``near``."""
        q = [
            nearest_coordinates(frames.joint, frames.measure(x, R)[None], np.nan_to_num(before)[None])[0]
            for frames, before in zip(self.frames, near, strict=True)
        ]
        return _Pose(x, R, q, np.concatenate([point.rows(x, R)[0] for point in self.points]))

    def _bounds(self) -> Iterable[_Bound]:
        """Yield the ranges of coordinates; a start beyond a stop may stay as far beyond."""
        for force in self.structure.forces:
            if (bounds := force.joint_range()) is not None:
                name, number, lower, upper = bounds
                joint = self.structure.joint_index[name]
                q = float(self.start.q[joint][number])
                yield _Bound(joint, number, min(lower, q), max(upper, q))

    def stops_at(self, pose: _Pose) -> list[str]:
        """Return the names of the joints that are at an end of their range."""
        rooms: dict[int, list[float]] = {}
        for joint, coordinate, lower, upper in self.bounds:
            q = pose.q[joint][coordinate]
            rooms.setdefault(joint, []).append(min(q - lower, upper - q))
        return [self.structure.joints[joint].name for joint, room in rooms.items() if min(room) < AT_STOP]


def _bounded(matrix: np.ndarray, right: np.ndarray, C: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return z (n,) with the least |``matrix`` z - ``right``| and C z >= b; zero holds the bounds."""
    Q, T = np.linalg.qr(matrix)
    aim = Q.T @ right
    z = np.linalg.solve(T, aim)
    if (C @ z >= b).all():
        return z
    from scipy.optimize import nnls  # a third of a second to import

    # least distance |w| with w = T z - aim
    rows = np.linalg.solve(T.T, C.T).T
    least = b - rows @ aim
    size = max(float(np.abs(least).max()), 1e-300)  # of w
    multipliers, _ = nnls(np.vstack([rows.T, least / size]), np.append(np.zeros(len(z)), 1.0))
    residual = np.vstack([rows.T, least / size]) @ multipliers - np.append(np.zeros(len(z)), 1.0)
    if not abs(residual[-1]) > NO_RANK:  # no step holds the bounds
        return np.zeros(len(z))
    return np.linalg.solve(T, aim - size * residual[:-1] / residual[-1])


def _unreached(search: _Search, keys: list[Target], best: _Pose) -> StateError:
    """Return the error for targets that no pose was found for; ``best``: the nearest one."""
    by_point = np.linalg.norm(best.ways.reshape(-1, 3), axis=1)
    far = int(by_point.argmax())
    point, key = search.points[far], keys[far]
    name = key if isinstance(key, str) else key[0]
    stops = search.stops_at(best)
    at_stops = f", with {names_text(stops)} at {'its stop' if len(stops) == 1 else 'their stops'}" if stops else ""
    return StateError(
        f"pose: '{search.structure.name}' does not reach its targets from this state: the point of '{name}' stays"
        f" {by_point[far]:.3g} m from {numbers_text(point.goal)}{at_stops}. Give nearer targets, hold less, or begin"
        " from another state=, on whose branch they are"
    )
