"""A linkage driven through the values of one joint coordinate: configurations without dynamics.

Continuation in the coordinate s. The predictor follows the velocity of least kinetic energy with
ds/dt = 1 and its change since the last step; the corrector closes the joints with the coordinate held.
The rows, the held coordinate included, lose rank in two cases. If those of the joints depend on each
other, two branches cross: the velocity is not unique, so along the directions in question it is carried
over from before and the sweep goes straight on. If the coordinate's row depends on those of the
joints, there is no velocity: the linkage locks, and steps shrink towards the limit. Ranks are those of a
metric in which all bodies are alike: a heavy body is nothing singular. Masses only choose among the velocities.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import array_of, choice, in_a_shape, known_name, shown, whole_number
from varint.base.display import Shown, count_text, described, html_table, numbers_text, value_text
from varint.base.errors import ArgumentError, LockedWarning
from varint.kinematics.assembly import assemble, checked_state, state_of
from varint.kinematics.closure import Closure, Coordinate, coordinate_units
from varint.kinematics.frames import JointFrames, in_body, joint_coordinates, moved, with_world
from varint.model.joints.base import Joint
from varint.model.motion import coordinate_units as units_of
from varint.model.rotation_vectors import quat_from_matrix, rotation_matrix
from varint.model.state import State
from varint.model.structure import Structure
from varint.plan import Compiled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ON_LOCKUP = ("warn", "ignore")
STEP = 0.1  # rad, or sizes of a part: largest motion of a body in one step
MOST_STEPS = 10_000  # between the values asked for
SMALLEST_STEP = 1e-7  # rad, or sizes of a part, of the coordinate: where it does not go further it is locked
ITERATIONS = 12  # of a corrector
LARGEST_CORRECTION = 0.3  # of the step predicted, or it is halved
UNCLEAR = 1e-2  # singular values, the largest being about 1, below: the velocity is carried over ...
OWN_SHARE = 0.1  # ... unless the coordinate's own row has more than this part in it: there it locks
SMALLEST_CORRECTION = 1e-6  # rad, or sizes of a part: as near to a branch point as matters
NO_RANK = 1e-7
ROUND_OFF = 1e-2  # of the smallest step: values nearer than this are one
CURVED = 0.25  # of its size: a least singular value further off a straight line through zero does not vanish


@dataclass(frozen=True, eq=False)
class Sweep(Shown):
    """Configurations along a sweep, bodies in the order of the mechanism.

    T is the number of values reached. It is that of the values given unless the linkage locks; then `values` and all
    other arrays end with the last one before ``lockup``.

    Attributes
    ----------
    mechanism : Structure
    values : (T,) m or rad
        The values reached.
    position : (T, nb, 3) m, world
    quat_wxyz : (T, nb, 4)
    coordinates : mapping
        Joint name to its coordinates (T, dof), or (T,) where it has one; angles without jumps.
    lockup : float or None
        The limit at which the linkage locked, to 1e-6 rad or of the size of the parts.
    branch_points : (k,) m or rad
        Values passed at which the configuration is singular: with the coordinate held the linkage
        can still move, and another branch leads on. To about as much, in the order of passing.
    joint : str
        The joint that is driven.
    number : int
        Of its coordinate.
    """

    mechanism: Structure
    values: np.ndarray
    position: np.ndarray
    quat_wxyz: np.ndarray
    coordinates: Mapping[str, np.ndarray]
    lockup: float | None
    branch_points: np.ndarray
    joint: str
    number: int

    @property
    def unit(self) -> str:
        """Return the unit of ``values``: "m", "rad", or "" for a pure number."""
        return units_of(self.mechanism.joint(self.joint))[self.number]

    @property
    def _driven(self) -> str:
        several = self.mechanism.joint(self.joint).dof > 1
        return value_text(self.joint) + (f" (coordinate {self.number})" if several else "")

    def _with_unit(self, text: str) -> str:
        return f"{text} {self.unit}".rstrip()

    def __len__(self) -> int:
        return len(self.values)

    def _facts(self) -> Iterable[str]:
        yield count_text(len(self), "configuration")
        yield f"joint {self._driven} driven"
        if len(self):
            yield self._with_unit(f"values from {self.values[0]:.6g} to {self.values[-1]:.6g}")
        yield "no lock-up" if self.lockup is None else self._with_unit(f"locked at {self.lockup:.6g}")
        if len(self.branch_points):
            count = count_text(len(self.branch_points), "branch point")
            yield self._with_unit(f"{count} {numbers_text(self.branch_points)}")

    def __repr__(self) -> str:
        return described(self, self._facts(), self.mechanism.name)

    def _repr_html_(self) -> str:
        title = f"Sweep of {value_text(self.mechanism.name)}: {count_text(len(self), 'configuration')}"
        rows = [(f"{self._driven}, driven", *self._ends(self.values), self.unit)]
        for joint in self.mechanism.joints:
            q = self.coordinates[joint.name].reshape(len(self), joint.dof)
            for k, unit in enumerate(units_of(joint)):
                if (joint.name, k) != (self.joint, self.number):
                    rows.append((f"{joint.name} {k}" if joint.dof > 1 else joint.name, *self._ends(q[:, k]), unit))
        locked = "no" if self.lockup is None else self._with_unit(f"at {self.lockup:.6g}")
        points = self._with_unit(numbers_text(self.branch_points)) if len(self.branch_points) else "none"
        table = html_table(("joint", ">from", ">to", "unit"), rows, title)
        return table + html_table(("", ""), [("locked", locked), ("branch points", points)])

    @staticmethod
    def _ends(values: np.ndarray) -> tuple[str, str]:
        return (f"{values[0]:.6g}", f"{values[-1]:.6g}") if len(values) else ("", "")

    def plot(self, path: str | Path | None = None, of: str | Iterable[str] | None = None) -> Figure:
        """Draw the coordinates of the joints along the sweep, a panel for each unit; return a matplotlib Figure.

        ``path``: where it is written, .png, .pdf or .svg; ``of``: the joints that are drawn, by default all but the
        driven one, up to eight coordinates a panel. Branch points and the lock-up are vertical lines. Raises
        ArgumentError, FileError.
        """
        from varint.mechanism.pictures import plot_sweep  # imports matplotlib, which a prompt need not wait for

        return plot_sweep(self, path, of)

    def path(self, body: str, point: ArrayLike | None = None) -> np.ndarray:
        """Return places (T, 3), m, world, of a point of ``body`` at the values of the sweep.

        ``point`` (3,): where it is in the reference configuration, m, world; the centre of mass where not given.
        Raises ArgumentError.
        """
        number = self.mechanism.body_index[
            known_name(body, self.mechanism.body_index, "path of a sweep: no body", ArgumentError)
        ]
        if point is None:
            return self.position[:, number].copy()
        arm = in_body(self.mechanism, number, array_of(point, (3,), f"point of body '{body}'", ArgumentError))
        return self.position[:, number] + rotation_matrix(self.quat_wxyz[:, number]) @ arm

    def point(self, body: str, point: ArrayLike | None = None) -> np.ndarray:
        """Return `path`, by the name that trajectories and mechanisms have for it."""
        return self.path(body, point)

    def state(self, i: int) -> State:
        """Return the configuration at ``values[i]``, at rest."""
        i = whole_number(i, "number of the configuration", -len(self), ArgumentError, len(self) - 1)
        x, R = with_world(self.position[i], self.quat_wxyz[i])
        return state_of(x, R, np.zeros((len(x), 6)), like=self.quat_wxyz[i])


@dataclass(frozen=True, eq=False)
class SweepNode:
    """A point of the path: coordinate, all of its joint, poses (nb + 1, ...), motions by it and by it twice."""

    s: float
    q: np.ndarray  # (dof,)
    x: np.ndarray
    R: np.ndarray
    velocity: np.ndarray  # (nb + 1, 6)
    acceleration: np.ndarray  # (nb + 1, 6)
    singular: np.ndarray
    clearance: float  # smallest singular value of a direction in which the velocity was carried over


def sweep(
    structure: Structure,
    compiled: Compiled,
    joint: str | tuple[str, int],
    values: ArrayLike,
    state: State,
    on_lockup: str,
) -> Sweep:
    """Drive a coordinate, see `Mechanism.sweep`, whose caller gets the warning."""
    choice(on_lockup, ON_LOCKUP, "on_lockup", ArgumentError)
    driven, number = named_coordinate(structure, joint, "sweep")
    goals = _checked(values, driven)
    checked_state(structure, state, "state of the sweep")
    state = assemble(structure, compiled, state, (), None, None)
    path = _Path(structure, compiled, JointFrames(structure, driven), number)
    path.start(*with_world(state.position, state.quat_wxyz))
    _check_way(path.nodes[0].s, goals, driven, coordinate_units(compiled.length, driven)[number])
    reached, lockup = [], None
    for value in goals:
        if not path.follow(value):
            lockup = path.nodes[-1].s
            break
        reached.append(len(path.nodes) - 1)
    position = np.array([node.x[:-1] for node in path.nodes])
    quat_wxyz = np.array([quat_from_matrix(node.R[:-1]) for node in path.nodes])
    coordinates = {j.name: joint_coordinates(structure, j, position, quat_wxyz)[reached] for j in structure.joints}
    swept = Sweep(
        mechanism=structure,
        values=goals[: len(reached)],
        position=position[reached],
        quat_wxyz=quat_wxyz[reached],
        coordinates=coordinates,
        lockup=lockup,
        branch_points=path.branch_points(),
        joint=driven.name,
        number=number,
    )
    if lockup is not None and on_lockup == "warn":
        _tell_lockup(swept, goals)
    return swept


def _tell_lockup(swept: Sweep, goals: np.ndarray) -> None:
    """Warn that the sweep ended before the last of the ``goals`` (n,)."""
    assert swept.lockup is not None
    last = f", the last {swept.values[-1]:.6g}" if len(swept) else ""
    at = swept._with_unit(f"{swept.lockup:.6g}")
    message = (
        f"the sweep of joint {swept._driven} of {value_text(swept.mechanism.name)} ended at {at}, where the linkage"
        f" locks: it reached {len(swept)} of the {len(goals)} values{last}, and its arrays have {len(swept)} rows."
        f" {swept._with_unit(f'{goals[len(swept)]:.6g}')} is out of reach. Give values within the limit, or"
        " on_lockup='ignore' where the limit is what is wanted"
    )
    warnings.warn(message, LockedWarning, stacklevel=4)


class _Path:
    """Points on the path, from the start on, one for each step."""

    def __init__(self, structure: Structure, compiled: Compiled, frames: JointFrames, number: int) -> None:
        self.drive = Coordinate(frames, number, 0.0)
        self.closure = Closure(structure, compiled, asked=[self.drive])
        self.alike = Closure(structure, compiled, asked=[self.drive], alike=True)
        self.smallest = SMALLEST_STEP * coordinate_units(compiled.length, frames.joint)[number]
        self.nodes: list[SweepNode] = []
        self.rank = 0  # largest so far
        self.between = 0  # steps that ended between values

    def start(self, x: np.ndarray, R: np.ndarray) -> None:
        """Begin at a closed configuration."""
        s = float(self.drive.measure(x, R)[self.drive.number])
        self.nodes.append(self._node(s, x, R, None))

    def follow(self, goal: float) -> bool:
        """Step to ``goal``; False where the linkage locks before it."""
        longest = np.inf
        while (left := goal - self.nodes[-1].s) != 0.0:
            here = self.nodes[-1]
            allowed = min(longest, STEP / self._speed(here))
            step = left if abs(left) <= allowed else np.copysign(allowed, left)
            node = self._step(here, here.s + step if step != left else goal)
            if node is None:
                longest = 0.5 * abs(step)
                if longest < self.smallest:
                    return False
            else:
                longest = 2.0 * abs(step)
                self.nodes.append(node)
                self.between += node.s != goal
                if self.between > MOST_STEPS:
                    raise ArgumentError(
                        f"sweep of {self.drive.frames.joint.label}: {MOST_STEPS} steps led no farther than to"
                        f" {node.s:.6g}, for a body moves far on a short path of this coordinate: sweep less of it"
                    )
        return True

    def branch_points(self) -> np.ndarray:
        """Return coordinates (k,) at which the least singular value vanishes, in the order of passing."""
        nodes, ends = self._with_probes(), [node.s for node in self.nodes]
        least = np.array([node.singular[self.rank - 1] if self.rank else 1.0 for node in nodes])
        points = []
        for i in range(1, len(least) - 1):
            low, middle, high = (node.s for node in nodes[i - 1 : i + 2])
            if least[i] <= least[i - 1] and least[i] < least[i + 1] and (low < middle) == (middle < high):
                points.append(self._zero(nodes[i - 1 : i + 2], least[i - 1 : i + 2]))
        tolerance = 10 * self.smallest
        return np.array([s for s in points if s is not None and min(ends) - tolerance < s < max(ends) + tolerance])

    def _with_probes(self) -> list[SweepNode]:
        """Return the nodes that are apart, with one more at an end near a branch point."""
        nodes = self.nodes[:1]
        for node in self.nodes[1:]:
            if abs(node.s - nodes[-1].s) > ROUND_OFF * self.smallest:
                nodes.append(node)
        if len(nodes) > 1:
            for end, beside, place in ((nodes[0], nodes[1], 0), (nodes[-1], nodes[-2], len(nodes) + 1)):
                if end.clearance < np.inf:
                    reached = self._reach(end, end.s + np.copysign(STEP / self._speed(end), end.s - beside.s))
                    if reached is not None:
                        nodes.insert(place, reached)
        return nodes

    def _speed(self, node: SweepNode) -> float:
        """Return the motion of the fastest body per unit of the coordinate, sizes of a part or rad."""
        shift, turn = np.abs(node.velocity[:, :3]).max(), np.linalg.norm(node.velocity[:, 3:], axis=1).max()
        return max(shift / self.closure.length, turn, 1e-9)

    def _step(self, here: SweepNode, s: float) -> SweepNode | None:
        """Return the node at ``s`` near ``here``, or None."""
        self.drive.value, self.drive.near = s, here.q
        step = s - here.s
        predicted = moved(here.x, here.R, step * here.velocity + 0.5 * step**2 * here.acceleration)
        x, R, gap = self.closure.close(*predicted, ITERATIONS)
        if not self.closure.is_closed(gap, x):
            return None
        correction = pose_distance(predicted, (x, R), self.closure.length)
        if correction > LARGEST_CORRECTION * max(pose_distance((here.x, here.R), predicted, self.closure.length), 1e-4):
            return None
        R = rotation_matrix(quat_from_matrix(R))
        node = self._node(s, x, R, here)
        return None if correction > max(0.1 * node.clearance, SMALLEST_CORRECTION) else node

    def _reach(self, here: SweepNode, s: float, halvings: int = 4) -> SweepNode | None:
        """Return `_step`, by halves if necessary."""
        node = self._step(here, s)
        if node is None and halvings:
            middle = self._reach(here, 0.5 * (here.s + s), halvings - 1)
            return None if middle is None else self._reach(middle, s, halvings - 1)
        return node

    def _node(self, s: float, x: np.ndarray, R: np.ndarray, before: SweepNode | None) -> SweepNode:
        _, G = self.closure.evaluate(x, R)
        size = self.alike.row_size(G)
        A = self.alike.matrix(G, size)
        U, singular, V = np.linalg.svd(A if isinstance(A, np.ndarray) else A.toarray(), full_matrices=False)
        self.rank = max(self.rank, int(np.sum(singular > NO_RANK)))
        known = np.arange(len(singular)) < self.rank
        unclear = known & (singular < UNCLEAR) & (np.abs(U[-1]) < OWN_SHARE)
        regular = known & ~unclear & (singular > NO_RANK)
        velocity = self._velocity(V[regular], U[-1, regular] / (size[-1] * singular[regular]), V[unclear], before)
        acceleration = np.zeros_like(velocity)
        if before is not None:
            step = s - before.s  # after a step of round-off a difference says nothing
            apart = abs(step) >= self.smallest
            acceleration = (velocity - before.velocity) / step if apart else before.acceleration
        clearance = singular[unclear].min() if unclear.any() else np.inf
        return SweepNode(s, self.drive.measure(x, R), x, R, velocity, acceleration, singular, clearance)

    def _velocity(
        self, known: np.ndarray, rates: np.ndarray, unclear: np.ndarray, before: SweepNode | None
    ) -> np.ndarray:
        """Return the motion (nb + 1, 6) of least energy with ``rates`` along ``known``, as before along ``unclear``.

        ``known``, ``unclear``: orthonormal directions (., 6 nb + 6) in the metric of `alike`.
        """
        inverse = np.repeat([1.0, self.closure.length], 3)  # from motions to that metric
        directions = np.concatenate([known, unclear]).reshape(len(known) + len(unclear), -1, 6) * inverse
        carried = np.zeros(len(unclear))
        if before is not None:
            carried = np.tensordot(directions[len(known) :], before.velocity, 2)
        kinetic = np.einsum("rnk,nkl->nlr", directions, self.closure.root).reshape(-1, len(directions))
        Q, triangle = np.linalg.qr(kinetic)
        return self.closure.motion(Q @ np.linalg.solve(triangle.T, np.concatenate([rates, carried])))

    def _zero(self, around: Sequence[SweepNode], least: np.ndarray) -> float | None:
        """Find the zero, between three nodes, of the ``least`` (3,) singular value, None if it does not pass zero.

        Given a sign that changes there the value is a smooth function of the coordinate.
        """
        low, middle, high = (node.s for node in around)
        s = (low * least[2] + high * least[0]) / (least[0] + least[2])
        (first, f_first), (last, f_last) = sorted([(low, -least[0]), (high, least[2])])
        straight = np.interp(middle, (first, last), (f_first, f_last))
        if abs(abs(straight) - least[1]) > CURVED * (least[0] + least[2]):
            return None
        for share in (0.1, 0.01, 0.001):
            points = s + share * (high - low) * np.array([-2.0, -1.0, 1.0, 2.0])
            reached = [self._reach(_nearest(around, point), point) for point in points]
            nodes = [node for node in reached if node is not None]
            if len(nodes) < len(reached):
                return None
            around = [*around, *nodes]
            f = np.array([-1.0, -1.0, 1.0, 1.0]) * [node.singular[self.rank - 1] for node in nodes]
            if not (f[0] < 1.5 * f[1] and f[3] > 1.5 * f[2]):
                return None
            s = sum(
                points[k] * np.prod([f[m] / (f[m] - f[k]) for m in range(4) if m != k])  # inverse interpolation
                for k in range(4)
            )
        return s


def _nearest(nodes: Iterable[SweepNode], s: float) -> SweepNode:
    return min(nodes, key=lambda node: abs(node.s - s))


def pose_distance(pose: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray], length: float) -> float:
    """Return the largest motion of a body from one pose to the other, rad or sizes of a part."""
    turn = np.linalg.norm(pose[1] - other[1], axis=(1, 2)).max() / np.sqrt(2)
    return max(np.abs(pose[0] - other[0]).max() / length, turn)


def named_coordinate(structure: Structure, joint: object, asked: str) -> tuple[Joint, int]:
    """Return the joint and the number of its coordinate, by a name or (name, number).

    ``asked``: the purpose, in errors.

    Raises ArgumentError.
    """
    name, number = joint if isinstance(joint, (tuple, list)) and len(joint) == 2 else (joint, None)
    if not isinstance(name, str):
        raise ArgumentError(f"{asked}: name a joint, or write (joint, number of its coordinate), got {shown(joint)}")
    driven = structure.joint(known_name(name, structure.joint_index, f"{asked}: no joint", ArgumentError))
    if number is None and driven.dof != 1:
        raise ArgumentError(
            f"{asked}: {driven.label} has {driven.dof} coordinates"
            + (
                f": write ('{name}', k), k from 0 to {driven.dof - 1}"
                if driven.dof
                else ", none of which is one number"
            )
        )
    number = whole_number(
        0 if number is None else number, f"{asked}: the coordinate of {driven.label}", error=ArgumentError
    )
    if number not in range(driven.dof):
        raise ArgumentError(f"{asked}: {driven.label} has no coordinate {number}, only 0 to {driven.dof - 1}")
    return driven, number


def _check_way(start: float, values: np.ndarray, joint: Joint, unit: float) -> None:
    """Check that a path of reasonable length leads through all ``values``; ``unit``: m or rad that count as one."""
    way, most = float(np.abs(np.diff(values, prepend=start)).sum()) / unit, MOST_STEPS * STEP
    if not way <= most:
        raise ArgumentError(
            f"values of the sweep of {joint.label} lead {way:.3g} rad, or sizes of a part, far in all: at most {most:g}"
        )


def _checked(values: ArrayLike, joint: Joint) -> np.ndarray:
    label = f"values of the sweep of {joint.label}"
    array = in_a_shape(values, ((None,),), label, ArgumentError, "one row of numbers")
    if not array.size:
        raise ArgumentError(f"{label} must be one row of numbers, got none")
    return array
