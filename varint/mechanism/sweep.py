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

from varint.base.checks import array_of, choice, known_name, whole_number
from varint.base.display import Shown, count_text, described, html_table, numbers_text, value_text
from varint.base.errors import ArgumentError, LockedWarning
from varint.kinematics.assembly import state_of
from varint.kinematics.closure import coordinate_units
from varint.kinematics.frames import in_body, joint_coordinates, moved, with_world
from varint.mechanism.driven_coordinate import MOST_STEPS, check_way, checked_values, named_coordinate
from varint.mechanism.regular_path import PathPart
from varint.mechanism.sweep_pool import DrivenEquations, FirstNode, SweepPool
from varint.model.joints.base import Joint
from varint.model.motion import coordinate_units as units_of
from varint.model.rotation_vectors import quat_from_matrix, rotation_matrix
from varint.model.state import State
from varint.model.structure import Structure
from varint.step.nodes.driven_path import ITERATIONS, LARGEST_CORRECTION, STEP, UNCLEAR

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ON_LOCKUP = ("warn", "ignore")
OWN_SHARE = 0.1  # of the coordinate's own row in a direction that is unclear: where it has more, it locks
SMALLEST_CORRECTION = 1e-6  # rad, or sizes of a part: as near to a branch point as matters
NO_RANK = 1e-7
ROUND_OFF = 1e-2  # of the smallest step: values nearer than this are one
CURVED = 0.25  # of its size: a least singular value further off a straight line through zero does not vanish ...
CURVED_BOUND = 0.45  # ... and of the lower bound of it


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
    pool: SweepPool, joint: str | tuple[str, int], values: ArrayLike, state: State | None, on_lockup: str
) -> Sweep:
    """Drive a coordinate, see `Mechanism.sweep`, whose caller gets the warning."""
    structure = pool.structure
    choice(on_lockup, ON_LOCKUP, "on_lockup", ArgumentError)
    driven, number = named_coordinate(structure, joint, "sweep")
    goals = checked_values(values, driven)
    poses = pool.own_poses if state is None else pool.poses(state)
    with pool.borrowed(driven, number) as equations:
        path = _Path(equations)
        path.start(*poses, is_own=state is None)
        check_way(path.s[0], goals, driven, coordinate_units(pool.compiled.length, driven)[number])
        reached = path.reached(goals)
        lockup = path.s[-1] if len(reached) < len(goals) else None
        position, quat_wxyz = path.poses()
        swept = Sweep(
            mechanism=structure,
            values=goals[: len(reached)],
            position=position[reached],
            quat_wxyz=quat_wxyz[reached],
            coordinates={j.name: path.coordinates(j, position, quat_wxyz)[reached] for j in structure.joints},
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

    def __init__(self, equations: DrivenEquations) -> None:
        self.equations, self.structure, self.drive = equations, equations.structure, equations.coordinate
        self.closure, self.alike = equations.closure, equations.alike
        self.smallest, self.regular = equations.smallest, equations.regular
        self.s: list[float] = []  # of all nodes
        self.nodes: list[SweepNode | tuple[PathPart, int]] = []  # or where to find them
        self.whole: PathPart | None = None  # the part that has all nodes, if there is one
        self.rank = 0  # largest so far
        self.between = 0  # steps that ended between values

    def start(self, x: np.ndarray, R: np.ndarray, is_own: bool) -> None:
        """Begin at a closed configuration; ``is_own``: it is that of the mechanism, whose node is kept."""
        first = self.equations.first if is_own else None
        if first is None:
            node = self._node(float(self.drive.measure(x, R)[self.drive.number]), x, R, None)
            first = FirstNode(node, self.rank)
            if is_own:
                self.equations.first = first
        self.rank = first.rank
        self._add(first.node)

    def reached(self, goals: np.ndarray) -> list[int]:
        """Step from goal to goal; return the numbers of the nodes there, fewer where the linkage locks."""
        reached: list[int] = []
        while len(reached) < len(goals):
            longest = np.inf
            if self.regular is not None:
                first, start = len(self.nodes) - 1, self.node(-1)
                part = self.regular.follow(goals[len(reached) :], start, self.rank)
                self.whole = part if len(self.nodes) == 1 else None
                longest = part.longest
                self.s += part.s[1:].tolist()
                self.nodes += [(part, k) for k in range(1, len(part.s))]
                reached += (first + part.reached).tolist()
                self._check_steps(len(self.nodes) - len(reached))
                if len(reached) == len(goals):
                    break
            self.whole = None
            if not self._follow(goals[len(reached)], longest):
                break
            reached.append(len(self.nodes) - 1)
        return reached

    def _follow(self, goal: float, longest: float) -> bool:
        """Step to ``goal``, the first step not above ``longest``; False where the linkage locks before it."""
        while (left := goal - self.s[-1]) != 0.0:
            here = self.node(-1)
            allowed = min(longest, STEP / self._speed(here))
            step = left if abs(left) <= allowed else np.copysign(allowed, left)
            node = self._step(here, here.s + step if step != left else goal)
            if node is None:
                longest = 0.5 * abs(step)
                if longest < self.smallest:
                    return False
            else:
                longest = 2.0 * abs(step)
                self._add(node)
                self.between += node.s != goal
                self._check_steps(self.between)
        return True

    def _check_steps(self, between: int) -> None:
        if between > MOST_STEPS:
            raise ArgumentError(
                f"sweep of {self.drive.frames.joint.label}: {MOST_STEPS} steps led no farther than to"
                f" {self.s[-1]:.6g}, for a body moves far on a short path of this coordinate: sweep less of it"
            )

    def _add(self, node: SweepNode) -> None:
        self.nodes.append(node)
        self.s.append(node.s)

    def node(self, number: int) -> SweepNode:
        """Return a node by its number."""
        node = self.nodes[number]
        if not isinstance(node, SweepNode):
            part, k = node
            x, R = part.x[k], part.R[k]
            singular = self._decomposed(x, R)[2]
            node = self.nodes[number] = SweepNode(self.s[number], part.q[k], x, R, *part.motion(k), singular, np.inf)
        return node

    def poses(self) -> tuple[np.ndarray, np.ndarray]:
        """Return position (n, nb, 3), m, world, and orientation (n, nb, 4) of the nodes."""
        if self.whole is not None:
            return self.whole.x[:, :-1], self.whole.quat_wxyz
        places = [(n.x, n.R) if isinstance(n, SweepNode) else (n[0].x[n[1]], n[0].R[n[1]]) for n in self.nodes]
        x, R = np.array([x for x, _ in places]), np.array([R for _, R in places])
        return x[:, :-1], quat_from_matrix(R[:, :-1])

    def coordinates(self, joint: Joint, position: np.ndarray, quat_wxyz: np.ndarray) -> np.ndarray:
        """Return the coordinates (n, dof), or (n,), of a joint at the nodes, whose `poses` these are."""
        if self.regular is None or self.whole is None or joint.name not in self.regular.entries:
            return joint_coordinates(self.structure, joint, position, quat_wxyz)
        q = self.whole.coordinates[:, self.regular.entries[joint.name]]
        return q[:, 0] if joint.dof == 1 else q

    def branch_points(self) -> np.ndarray:
        """Return coordinates (k,) at which the least singular value vanishes, in the order of passing."""
        if self.whole is not None and self._is_clear(self.whole):
            return np.zeros(0)
        nodes = self._with_probes()
        s = np.array([self.s[node] if isinstance(node, int) else node.s for node in nodes])
        bound = np.array([self._bound(node) for node in nodes])
        near = {k for i in _zeros(s, bound, CURVED_BOUND) for k in (i - 1, i, i + 1) if 0 < k < len(s) - 1}
        points = []
        for i in sorted(near):
            around = [self.node(node) if isinstance(node, int) else node for node in nodes[i - 1 : i + 2]]
            least = np.array([node.singular[self.rank - 1] for node in around])
            if len(_zeros(s[i - 1 : i + 2], least, CURVED)):
                points.append(self._zero(around, least))
        tolerance = 10 * self.smallest
        return np.array([s for s in points if s is not None and min(self.s) - tolerance < s < max(self.s) + tolerance])

    def _is_clear(self, part: PathPart) -> bool:
        """Return whether a part that has all nodes, each apart from the one before, has no place for a branch point."""
        s, bound = part.s, part.least.copy()
        bound[0] = self._bound(0)
        if len(s) > 1 and abs(s[1] - s[0]) <= ROUND_OFF * self.smallest:  # the first value is that of the start
            s, bound = s[1:], bound[1:]
        is_apart = bool(np.all(np.abs(np.diff(s)) > ROUND_OFF * self.smallest))
        return is_apart and self.node(0).clearance == np.inf and not len(_zeros(s, bound, CURVED_BOUND))

    def _bound(self, node: int | SweepNode) -> float:
        """Return a lower bound of the least singular value of a node, zero where that is zero; see `PathPart`."""
        kept = self.nodes[node] if isinstance(node, int) else node
        if not isinstance(kept, SweepNode):
            return float(kept[0].least[kept[1]])
        singular = kept.singular[: self.rank]
        return float(1.0 / np.linalg.norm(1.0 / singular)) if singular.all() else 0.0

    def _with_probes(self) -> list[int | SweepNode]:
        """Return the numbers of nodes that are apart, with one more node at an end near a branch point."""
        last, nodes = 0, [0]
        for k in range(1, len(self.s)):
            if abs(self.s[k] - self.s[last]) > ROUND_OFF * self.smallest:
                nodes.append(k)
                last = k
        probed: list[int | SweepNode] = [*nodes]
        if len(nodes) > 1:
            for k, beside, place in ((nodes[0], nodes[1], 0), (nodes[-1], nodes[-2], len(nodes) + 1)):
                if isinstance(self.nodes[k], SweepNode) and self.node(k).clearance < np.inf:
                    end = self.node(k)
                    reached = self._reach(end, end.s + np.copysign(STEP / self._speed(end), end.s - self.s[beside]))
                    if reached is not None:
                        probed.insert(place, reached)
        return probed

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

    def _decomposed(self, x: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the sizes of the rows, and the singular vectors and values of the rows over these: U, singular, V."""
        _, G = self.closure.evaluate(x, R)
        size = self.alike.row_size(G)
        A = self.alike.matrix(G, size)
        return size, *np.linalg.svd(A if isinstance(A, np.ndarray) else A.toarray(), full_matrices=False)

    def _node(self, s: float, x: np.ndarray, R: np.ndarray, before: SweepNode | None) -> SweepNode:
        size, U, singular, V = self._decomposed(x, R)
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
        low, high = around[0].s, around[-1].s
        s = (low * least[2] + high * least[0]) / (least[0] + least[2])
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


def _zeros(s: np.ndarray, least: np.ndarray, curved: float) -> np.ndarray:
    """Return the numbers of minima of ``least`` (n,) over ``s`` (n,) that may be zeros with a change of sign.

    At these a straight line through the neighbours, with opposite signs, is off by less than ``curved`` of their size.
    """
    low, middle, high = s[:-2], s[1:-1], s[2:]
    before, here, after = least[:-2], least[1:-1], least[2:]
    straight = -before + (before + after) * (middle - low) / np.where(high == low, 1.0, high - low)
    is_minimum = (here <= before) & (here < after) & ((low < middle) == (middle < high))
    return 1 + np.flatnonzero(is_minimum & (abs(abs(straight) - here) <= curved * (before + after)))


def _nearest(nodes: Iterable[SweepNode], s: float) -> SweepNode:
    return min(nodes, key=lambda node: abs(node.s - s))


def pose_distance(pose: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray], length: float) -> float:
    """Return the largest motion of a body from one pose to the other, rad or sizes of a part."""
    turn = np.linalg.norm(pose[1] - other[1], axis=(1, 2)).max() / np.sqrt(2)
    return max(np.abs(pose[0] - other[0]).max() / length, turn)
