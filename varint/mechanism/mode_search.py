"""The search for assembly modes.

Starts are drawn at random with a fixed seed: coordinates of the joints of the spanning tree, alternately all of them
and one or two of a mode that is known, whose other loops then stay closed. The first kind is independent, so that its
hits allow an estimate of what was not reached; the second finds combinations of branches sooner. Each is closed by
the iteration of closure.py, in the metric in which all bodies are alike. Solutions at the same pose are one mode.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import LARGEST_SEED, known_name, sequence_of, whole_number
from varint.base.display import count_text
from varint.base.errors import ArgumentError
from varint.kinematics.assembly import flipped_joint, joints_outside_loops, state_of
from varint.kinematics.closure import Closure, Weld, coordinate_units, motion_of
from varint.kinematics.diagnosis import diagnose
from varint.kinematics.frames import JointFrames, moved, with_world
from varint.mechanism.assembly_modes import AssemblyMode, AssemblyModes
from varint.mechanism.dyads import find_dyads
from varint.mechanism.sweep import pose_distance
from varint.model.joints.base import Joint
from varint.model.motion import Ball, Turn, joint_pose
from varint.model.rotation_vectors import vector_from_quat
from varint.model.start_arguments import of_joints
from varint.model.state import State
from varint.model.structure import Structure
from varint.plan import Compiled
from varint.step.workspace import coupled_workspace

Pose = tuple[np.ndarray, np.ndarray]  # x (nb + 1, 3), m, R (nb + 1, 3, 3), the world last

ITERATIONS = 100  # of a start
MOST_STARTS = 1_000_000
SAME = 1e-5  # rad, or sizes of a part: poses no further apart are one mode ...
SAME_SINGULAR = 1e-3  # ... and these where closing leaves the pose uncertain, by the root of its tolerance
NULL = 1e-5  # singular values, the largest being about 1, below: a motion that the rows may leave free
PROBE = 0.05  # rad, or sizes of a part: how far such a motion is followed ...
LED_ON = 0.02  # ... and how far it has to lead
REACH = 2.0  # of the size of the mechanism: displacements are drawn up to there
DIGITS = 6  # of coordinates that modes are sorted by


def assembly_modes(
    structure: Structure,
    compiled: Compiled,
    state: State,
    hold: Mapping[str, ArrayLike],
    *,
    starts: int,
    seed: int,
    bodies: Iterable[str] | None,
) -> AssemblyModes:
    """Search modes, see `Mechanism.assembly_modes`; ``state``: coordinates of joints in no loop and not held."""
    held = of_joints(structure, hold, "hold", ArgumentError)
    starts = whole_number(starts, "starts", 1, ArgumentError, MOST_STARTS)
    rng = np.random.default_rng(whole_number(seed, "seed", 0, ArgumentError, LARGEST_SEED))
    search = _Search(structure, compiled, state, held, _compared(structure, bodies))
    if bodies is None:
        _check_mobility(structure, compiled, state, search.fixed, len(search.bases))
    for number in range(1, starts + 1):
        search.draw(rng, number)
    if search.solutions and all(solution.mobility for solution in search.solutions):
        least = min(solution.mobility for solution in search.solutions)
        raise ArgumentError(_too_few(structure, f"hold leaves {count_text(least, 'degree')} of freedom", least))
    return AssemblyModes(structure, held, search.modes(), starts, search.closed, search.last_new)


def _compared(structure: Structure, bodies: Iterable[str] | None) -> list[int]:
    """Return the numbers of the bodies whose poses distinguish modes."""
    if bodies is None:
        return list(range(len(structure.bodies)))
    names = [bodies] if isinstance(bodies, str) else sequence_of(bodies, "bodies", "names", ArgumentError)
    if not names:
        raise ArgumentError("bodies must name one body at least")
    return [structure.body_index[known_name(name, structure.body_index, "no body", ArgumentError)] for name in names]


def _check_mobility(structure: Structure, compiled: Compiled, state: State, fixed: Collection[str], bases: int) -> None:
    """Check that as many coordinates are fixed as there are degrees of freedom at poses near ``state``.

    ``bases``: number of bodies that are held as well.
    """
    mobility = diagnose(structure, compiled, state).generic_mobility - 6 * bases
    count = sum(structure.joint(name).dof for name in fixed)
    if count < mobility:
        subject = f"hold fixes {count} of {count_text(mobility, 'degree')} of freedom"
        raise ArgumentError(_too_few(structure, subject, mobility - count))


def _too_few(structure: Structure, subject: str, missing: int) -> str:
    return (
        f"{subject} of mechanism '{structure.name}': hold {count_text(missing, 'coordinate')} more, or name in bodies="
        " those whose poses distinguish its modes"
    )


@dataclass
class _Solution:
    """A mode as it is searched for: its pose x, R, and whether the rows leave any motion of the compared bodies."""

    x: np.ndarray
    R: np.ndarray
    hits: int
    mobility: int
    singular: bool


class _Search:
    """Modes of ``structure`` with joints ``held`` at coordinates (dof,), distinguished by bodies ``compared``."""

    def __init__(
        self,
        structure: Structure,
        compiled: Compiled,
        state: State,
        held: Mapping[str, np.ndarray],
        compared: list[int],
    ) -> None:
        self.structure, self.compiled, self.state, self.compared = structure, compiled, state, compared
        self.frames = [JointFrames(structure, joint) for joint in structure.joints]
        self.x, self.R = with_world(state.position, state.quat_wxyz)
        self.reach = REACH * max(compiled.length, float(np.ptp(self.x, axis=0).max()))
        self.reference = [frames.measure(self.x, self.R) for frames in self.frames]
        outside = joints_outside_loops(structure, compiled, structure.joint_index)
        self.fixed = dict(held)  # joints to their coordinates
        for joint, q in zip(structure.joints, self.reference, strict=True):
            if joint.name in outside:
                self.fixed.setdefault(joint.name, q)
        asked = []
        for name, q in self.fixed.items():
            frames = self.frames[structure.joint_index[name]]
            asked.append(Weld(frames, *joint_pose(frames.joint, q)))
        tree = [(body, compiled.topology.tree_joint[body]) for body in compiled.topology.bodies]
        self.tree = [(body, number) for body, number in tree if number is not None]
        self.bases = [body for body, number in tree if number is None]  # of groups that float without a joint
        self.closure = Closure(structure, compiled, asked=asked, still=self.bases, alike=True)
        self.free = [number for _, number in self.tree if structure.joints[number].name not in self.fixed]
        self.dyads = find_dyads(structure, self.fixed)
        self.solutions: list[_Solution] = []
        self.closed = self.last_new = 0

    def draw(self, rng: np.random.Generator, number: int) -> None:
        """Close start ``number``, from 1; every second one starts from a known mode and does not count as a hit."""
        known = number % 2 == 0
        pose = self._closed(*self._start(rng, known))
        if pose is None:
            return
        self.closed += not known
        mode = next((each for each in self.solutions if self._apart(each, pose) < SAME), None)
        if mode is None:
            reached = _Solution(*pose, 0, *self._mobility(*pose))
            mode = next((each for each in self.solutions if self._is_alike(each, reached)), reached)
            if mode is reached:
                self.solutions.append(mode)
                self.last_new = number
        mode.hits += not known

    def modes(self) -> tuple[AssemblyMode, ...]:
        """Return the modes that were reached, sorted and named."""
        signs = self._signs()
        order = sorted(
            range(len(self.solutions)), key=lambda k: signs[k] if signs else self._sorting(self.solutions[k])
        )
        modes = []
        for place, k in enumerate(order, start=1):
            each = self.solutions[k]
            state = state_of(each.x, each.R, np.zeros((len(each.x), 6)), like=self.state.quat_wxyz)
            name = signs[k] if signs else str(place)
            modes.append(AssemblyMode(**vars(state), name=name, hits=each.hits, mobility=each.mobility))
        return tuple(modes)

    def _signs(self) -> list[str]:
        """Return the signs of the solutions, empty if they do not distinguish them."""
        if self.dyads is None or not self.dyads.triangles:
            return []
        signs = [self.dyads.signs(each.x, each.R, self.compiled.length) for each in self.solutions]
        return signs if len(set(signs)) == len(signs) else []

    def _sorting(self, solution: _Solution) -> list[float]:
        """Return coordinates of all joints, rounded, half a turn positive."""
        q = np.concatenate([frames.measure(solution.x, solution.R) for frames in self.frames])
        q = np.round(q, DIGITS)
        half = round(np.pi, DIGITS)
        return np.where(q == -half, half, q).tolist()

    def _start(self, rng: np.random.Generator, known: bool) -> Pose:
        """Return the poses along the tree at random coordinates: all random, or a few of a mode if ``known``."""
        drawn = self.free
        x, R, q = self.x, self.R, list(self.reference)
        if known and self.solutions and self.free:
            mode = self.solutions[rng.integers(len(self.solutions))]
            x, R = mode.x, mode.R
            q = [frames.measure(x, R) for frames in self.frames]
            drawn = rng.choice(self.free, rng.integers(1, 3)).tolist()
        for number in drawn:
            q[number] = _drawn(rng, self.structure.joints[number], self.reference[number], self.reach)
        x, R = x.copy(), R.copy()
        for body, number in self.tree:
            joint = self.structure.joints[number]
            self.frames[number].place(body, x, R, self.fixed.get(joint.name, q[number]))
        return x, R

    def _closed(self, x: np.ndarray, R: np.ndarray) -> Pose | None:
        """Return the closed pose that a start leads to; None if joints stay open or one closes flipped."""
        plan = self.compiled.plan
        if self.structure.forces or plan.products.start.size:  # what they remember is of the reference again
            self.closure.ws = coupled_workspace(plan, self.compiled.functions)
        x, R, gap = self.closure.close(x, R, ITERATIONS)
        if not self.closure.is_closed(gap, x) or flipped_joint(self.structure, x, R) is not None:
            return None
        return x, R

    def _is_alike(self, solution: _Solution, other: _Solution) -> bool:
        """Return whether two different poses count as one mode: both can move, or singular ones are near."""
        if solution.mobility and other.mobility:
            return True
        return solution.singular and other.singular and self._apart(solution, (other.x, other.R)) < SAME_SINGULAR

    def _apart(self, solution: _Solution, pose: Pose) -> float:
        """Return the largest motion of a compared body between a solution and a pose, rad or sizes of a part."""
        poses, other = ((x[self.compared], R[self.compared]) for x, R in ((solution.x, solution.R), pose))
        return pose_distance(poses, other, self.compiled.length)

    def _mobility(self, x: np.ndarray, R: np.ndarray) -> tuple[int, bool]:
        """Return degrees of freedom of the compared bodies at a solution, and whether its rows let any of them move."""
        _, G = self.closure.evaluate(x, R)
        A: Any = self.closure.matrix(G, self.closure.row_size(G))
        A = A if isinstance(A, np.ndarray) else A.toarray()
        _, sizes, V = np.linalg.svd(A)
        motions = np.array([self.closure.motion(y) for y in V[int(np.sum(sizes > NULL)) :]])
        if not len(motions):
            return 0, False
        unit = np.repeat([1.0 / self.compiled.length, 1.0], 3)
        seen = (motions[:, self.compared] * unit).reshape(len(motions), -1)
        shares, sizes, _ = np.linalg.svd(seen, full_matrices=False)
        visible = shares.T[sizes > NULL]
        return sum(self._leads_on(x, R, np.tensordot(share, motions, 1)) for share in visible), len(visible) > 0

    def _leads_on(self, x: np.ndarray, R: np.ndarray, motion: np.ndarray) -> bool:
        """Return whether the joints stay closed along a motion (nb + 1, 6): some motions end at second order."""
        unit = np.repeat([1.0 / self.compiled.length, 1.0], 3)
        step = PROBE / np.linalg.norm((motion * unit)[self.compared].reshape(-1, 3), axis=1).max()
        here = _Solution(x, R, 0, 0, singular=True)
        for side in (step, -step):
            pose = self._closed(*moved(x, R, side * motion))
            if pose is not None and self._apart(here, pose) > LED_ON:
                return True
        return False


def _drawn(rng: np.random.Generator, joint: Joint, reference: np.ndarray, reach: float) -> np.ndarray:
    """Return random coordinates (dof,): rotations uniform, displacements within ``reach``, m, of the reference.

    Coordinates of other motions are within one of it.
    """
    q = reference + rng.uniform(-1.0, 1.0, joint.dof) * coordinate_units(reach, joint)
    k = 0
    while k < joint.dof:
        motion = motion_of(joint, k)
        if isinstance(motion, Turn):
            q[k] = rng.uniform(-np.pi, np.pi)
        elif isinstance(motion, Ball):
            quat = rng.standard_normal(4)
            q[k : k + 3] = vector_from_quat(quat / np.linalg.norm(quat))
        k += motion.size
    return q
