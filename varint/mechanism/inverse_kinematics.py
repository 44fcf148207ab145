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
from varint.base.errors import ArgumentError, AssemblyError, StateError
from varint.kinematics.assembly import check_sense, checked_state, split_held, state_of
from varint.kinematics.closure import LONGEST_TURN, TOLERANCE, Closure, Coordinate, Weld
from varint.kinematics.frames import JointFrames, in_body, moved, nearest_coordinates, with_world
from varint.kinematics.open_loops import conflict
from varint.kinematics.turns import checked_turns, count_from, kept_sums, near_values, reference_of, refollowed
from varint.model.forces.along import AlongCoordinate
from varint.model.rotation_vectors import cross_matrix
from varint.model.state import State
from varint.model.structure import Structure
from varint.plan import Compiled

ITERATIONS = 300  # steps of a descent
STARTING = 1000  # corrections that close the joints of the start
CLOSING = 30  # the same after a step
REACHED = 1e-9  # sizes of a part: points that near are at their targets
NO_RANK = 1e-9  # of the largest singular value of the rows of joints: redundant rows
LEAST_DAMPING = 1e-12
MOST_DAMPING = 1e6
NUDGES, NUDGE = 6, 0.5  # starts beside one that gains nothing, such as a stretched arm; rad, or sizes of a part
GAIN = 1e-4  # of the distance: less, over PATIENCE steps, is no progress
PATIENCE = 12
AT_STOP = 1e-6  # m or rad
BEYOND = 1e-9  # m or rad, past a stop: round-off

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
    """The range of a joint coordinate between its stops: number of the joint, of its coordinate, m or rad."""

    joint: int
    coordinate: int
    lower: float
    upper: float


class _Pose(NamedTuple):
    """A closed pose: bodies (nb + 1, ...), coordinates (dof,) of each joint, and ways (3 k,), points less goals, m."""

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
    position, quats, _, _ = checked_state(structure, start, "state of the pose")
    near = reference_of(structure).values | checked_turns(structure, start, "state of the pose")
    search = _Search(structure, compiled, points, *split_held(structure, hold), position, quats, near)
    best = search.run()
    if best.distance > REACHED * compiled.length:
        raise _unreached(search, list(targets), best)
    turns = {joint.name: q for joint, q in zip(structure.joints, best.q, strict=True) if joint.name in start.turns}
    at_rest = state_of(best.x, best.R, np.zeros((len(best.x), 6)), like=quats)
    memory = {name: values for name, values in start.memory.items() if not kept_sums(structure, name)}
    state = replace(at_rest, turns=turns, memory=memory, beyond_stops=start.beyond_stops)
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
    """The search for a pose from bodies at ``position``, ``quats``, with the ``bodies`` and ``joints`` that hold.

    ``near``: coordinates (dof,) of joints, by name, that have their turns there.
    """

    def __init__(
        self,
        structure: Structure,
        compiled: Compiled,
        points: list[_PointTarget],
        bodies: list[int],
        joints: list[str],
        position: np.ndarray,
        quats: np.ndarray,
        near: Mapping[str, np.ndarray],
    ) -> None:
        self.structure, self.points, self.length = structure, points, compiled.length
        self.frames = [JointFrames(structure, joint) for joint in structure.joints]
        self.compiled, self.cut = compiled, False  # whether the last descent ended while it gained
        x, R = with_world(position, quats)
        held = [self.frames[structure.joint_index[name]] for name in joints]
        self.welds = [Weld(frames, *frames.relative_pose(x, R)) for frames in held]
        self.bodies, self.closure = bodies, Closure(structure, compiled, asked=self.welds, still=bodies, alike=True)
        measured = [frames.measure(x, R) for frames in self.frames]
        guess = self._at(x, R, [near.get(j.name, q) for j, q in zip(structure.joints, measured, strict=True)])
        self._count(guess)
        x, R, gap = self.closure.close(x, R, STARTING)
        if not self.closure.is_closed(gap, x):
            raise AssemblyError(f"state of the pose: {conflict(structure, self.closure, x, R, bodies, joints, (), '')}")
        check_sense(structure, x, R)
        self.start = self._at(x, R, guess.q)
        self.bounds = [*self._bounds(joints)]

    def run(self) -> _Pose:
        """Return the nearest pose that was found: from the start, then from poses beside the nearest one."""
        best, random = self._descend(self.start), np.random.default_rng(0)
        for _ in range(NUDGES):
            if best.distance <= REACHED * self.length:
                break
            beside: _Pose | None = best
            if not self.cut:
                nudge = NUDGE * self.length * random.standard_normal((self._motions(best)[0].shape[1],))
                beside = self._step(best, nudge, 0.0)
            reached = best if beside is None else self._descend(beside)
            best = min(best, reached, key=lambda pose: pose.distance)
        return best

    def _descend(self, here: _Pose) -> _Pose:
        """Return the pose at which steps from ``here`` gain nothing any more."""
        factor, before, self.cut = 1.0, [here.distance], False
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
        else:
            self.cut = True
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
        allowed = LONGEST_TURN if wanted is None else NUDGE
        x, R = moved(here.x, here.R, d * min(1.0, allowed / max(longest, 1e-300)))
        x, R, gap = self.closure.close(x, R, CLOSING)
        ahead = self._at(x, R, here.q)
        if beyond := self._beyond(ahead):  # bounds hold to first order: those coordinates end at their stops
            at_stops = [
                Coordinate(
                    self.frames[bound.joint],
                    bound.coordinate,
                    float(np.clip(ahead.q[bound.joint][bound.coordinate], bound.lower, bound.upper)),
                    ahead.q[bound.joint],
                )
                for bound in beyond
            ]
            closure = Closure(
                self.structure,
                self.compiled,
                asked=[*self.welds, *at_stops],
                still=self.bodies,
                alike=True,
                ws=self.closure.ws,
            )
            x, R, gap = closure.close(x, R, CLOSING)
            ahead = self._at(x, R, ahead.q)
        return ahead if self.closure.is_closed(gap, x) and not self._beyond(ahead) else None

    def _motions(self, here: _Pose) -> tuple[np.ndarray, np.ndarray]:
        """Return an orthonormal basis (6 nb + 6, n) of the motions that the joints allow, and the ways' changes."""
        self._count(here)
        _, G = self.closure.evaluate(here.x, here.R)
        A = self.closure.matrix(G, self.closure.row_size(G))
        rows = A if isinstance(A, np.ndarray) else A.toarray()
        if len(rows) > rows.shape[1]:
            rows = np.linalg.qr(rows, mode="r")
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

    def _count(self, here: _Pose) -> None:
        """Let couplings count turns from the coordinates of a pose."""
        q = {joint.name: q for joint, q in zip(self.structure.joints, here.q, strict=True)}
        count_from(self.compiled.plan, self.closure.ws, near_values(self.compiled, q))

    def _beyond(self, pose: _Pose) -> list[_Bound]:
        """Return the bounds that a pose is beyond."""
        q = [pose.q[bound.joint][bound.coordinate] for bound in self.bounds]
        ranges = zip(self.bounds, q, strict=True)
        return [bound for bound, at in ranges if not bound.lower - BEYOND <= at <= bound.upper + BEYOND]

    def _bounds(self, held: list[str]) -> Iterable[_Bound]:
        """Yield the ranges of coordinates, but of joints that hold; a start beyond a stop may stay as far beyond."""
        for force in self.structure.forces:
            bounds = force.joint_range()
            if bounds is not None and bounds[0] not in held:
                name, number, lower, upper = bounds
                if isinstance(force, AlongCoordinate) and force.angles:
                    raise ArgumentError(
                        f"pose: {force.label} bounds an Euler angle ('{force.angles}'), which a pose cannot keep within"
                        f" its stops. Hold joint '{name}', or give it stops without angles="
                    )
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
    try:
        multipliers, _ = nnls(np.vstack([rows.T, least / size]), np.append(np.zeros(len(z)), 1.0))
    except RuntimeError:  # too many iterations
        return np.zeros(len(z))
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
    advice = "Give nearer targets, hold less, or begin from another state=, on the branch of the targets"
    if search.cut:
        advice = (
            f"The search ended after {(NUDGES + 1) * ITERATIONS} steps while it still came nearer, as behind a large"
            f" gear ratio, where a step turns no body by more than {LONGEST_TURN:g} rad: begin from a state= nearer to"
            " the targets"
        )
    return StateError(
        f"pose: '{search.structure.name}' does not reach its targets from this state: the point of '{name}' stays"
        f" {by_point[far]:.3g} m from {numbers_text(point.goal)}{at_stops}. {advice}"
    )
