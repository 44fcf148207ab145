"""Clusters of loops, each as a mechanism of its own: rank of its rows, motions, redundancies, and where these end.

Only loops can make rows redundant. A cluster of loops is a mechanism of its own once the body that
joins it to the rest, its articulation, is held; so each is analysed alone, dense: singular values of
its scaled Jacobian G, lengths in m, angles times the size of its parts.

Motions are a null space of G (its right one), redundancies N^T G = 0 (its left one). Where the form
N^T dG(xi) eta does not vanish on the motions xi, eta, some of them end at second order: the pose is singular.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from varint.kinematics.closure import Closure
from varint.model.body import WORLD
from varint.model.rotation_vectors import matrix_from_vector, quat_from_matrix, rotation_matrix
from varint.model.state import State
from varint.model.structure import Structure
from varint.plan import Compiled, compile_structure
from varint.step.configuration import place_anew
from varint.step.measures import curve_rows
from varint.step.plan import Workspace
from varint.step.workspace import coupled_workspace

RANK_TOLERANCE = 1e-6  # a singular value below this share of the largest counts as zero
STEP = 0.05  # rad, or times the size of the parts: how far neighbouring poses are
TRIES = 4  # of neighbouring poses
DIRECTIONS = 6  # along which the second-order form is taken
SECOND_ORDER = 1e-5  # smallest size of the form that ends a motion, of unit motions
ITERATIONS = 100


class NumberedCluster(NamedTuple):
    """A cluster, the numbers of its joints in the description, and those of them that are cut."""

    loops: "LoopCluster"
    joints: list[int]
    cut: list[int]


def clusters_at(structure: Structure, compiled: Compiled, state: State) -> Iterator[NumberedCluster]:
    """Yield the clusters of loops of a structure, each at its pose of ``state``."""
    topology, members = compiled.topology, defaultdict(list)
    for body, c in topology.cluster_of.items():
        members[c].append(body)
    for c, (articulation, cut) in enumerate(topology.clusters):
        numbers = [topology.tree_joint[body] for body in members[c]] + cut
        alone = _alone(structure, state, articulation, members[c], numbers)
        yield NumberedCluster(LoopCluster(*alone), numbers, cut)


class LoopRank(NamedTuple):
    """The scaled Jacobian G (nr, 6 nb) of a pose: its rank, left (nr, :) and right (:, 6 nb) null space."""

    G: np.ndarray
    rank: int
    left: np.ndarray
    motions: np.ndarray
    margin: float
    gap: float


class LoopCluster:
    """A cluster of loops as a mechanism of its own, at the pose x (nb, 3), R (nb, 3, 3)."""

    def __init__(self, structure: Structure, x: np.ndarray, R: np.ndarray) -> None:
        self.compiled = compile_structure(structure)
        self.closure = Closure(structure, self.compiled)
        self.x, self.R = x, R
        first = self.compiled.plan.joints.rows
        # joint and number within it of each row
        self.rows = [(int(j), r) for k, j in enumerate(self.compiled.joints) for r in range(first[k + 1] - first[k])]

    def look(self, x: np.ndarray, R: np.ndarray) -> LoopRank:
        """Return the rank and the null spaces at a pose."""
        G = self._scaled(x, R)
        U, sizes, Vt = np.linalg.svd(G)
        sizes = sizes / sizes.max(initial=0.0)
        rank = int((sizes > RANK_TOLERANCE).sum())
        margin, gap = sizes[:rank].min(initial=1.0), sizes[rank:].max(initial=0.0)
        return LoopRank(G, rank, U[:, rank:], Vt[rank:], float(margin), float(gap))

    def generic_mobility(self, here: LoopRank) -> int:
        """Return the smallest second-order mobility of closed poses nearby, or of this pose if all stay open."""
        if here.left.shape[1] == 0 or len(here.motions) == 0:
            return len(here.motions)  # at full rank the poses form a smooth surface
        rng = np.random.default_rng(0)
        mobilities = []
        for _ in range(TRIES):
            motion = rng.standard_normal(len(here.motions)) @ here.motions
            longest = np.linalg.norm(motion.reshape(-1, 3), axis=1).max()
            closed = self.closed(*self._moved(self.x, self.R, STEP / longest * motion))
            if closed is not None:
                mobilities.append(self._second_order(rng, *closed))
        return min(mobilities) if mobilities else self._second_order(rng, self.x, self.R)

    def forms(self, rng: np.random.Generator, at: LoopRank, x: np.ndarray, R: np.ndarray) -> list[np.ndarray]:
        """Return the form (redundancies, motions) of the module's docstring along some of the motions at a pose."""
        forms = []
        for _ in range(DIRECTIONS):
            motion = rng.standard_normal(len(at.motions)) @ at.motions
            motion /= np.linalg.norm(motion)
            forms.append(at.left.T @ self._curved(x, R, motion) @ at.motions.T)
        return forms

    def _second_order(self, rng: np.random.Generator, x: np.ndarray, R: np.ndarray) -> int:
        """Return mobility at a pose less the motions that do not extend to second order, see the module's docstring."""
        at = self.look(x, R)
        if at.left.shape[1] == 0 or len(at.motions) == 0:
            return len(at.motions)
        forms = np.concatenate(self.forms(rng, at, x, R))
        return len(at.motions) - int(np.linalg.matrix_rank(forms, tol=SECOND_ORDER))

    def _scaled(self, x: np.ndarray, R: np.ndarray) -> np.ndarray:
        return self._in_sizes(bodies_jacobian(self.compiled, placed(self.compiled, x, R).jacobian[0]))

    def _curved(self, x: np.ndarray, R: np.ndarray, motion: np.ndarray) -> np.ndarray:
        """Change of the scaled Jacobian along a scaled motion (6 nb,)."""
        plan, ws = self.compiled.plan, placed(self.compiled, x, R)
        along = motion.reshape(-1, 6) * np.array([self.compiled.length] * 3 + [1.0] * 3)
        change = np.zeros_like(ws.jacobian[0])
        curve_rows(plan, ws, np.arange(len(change)), ws.position[0], ws.rotation[0], along[self.compiled.order], change)
        return self._in_sizes(bodies_jacobian(self.compiled, change))

    def _in_sizes(self, G: np.ndarray) -> np.ndarray:
        """Return the Jacobian ``G`` (nr, nb, 6) scaled to (nr, 6 nb): rows and motions in m, angles in part sizes."""
        plan, unit = self.compiled.plan, np.array([1.0] * 3 + [1.0 / self.compiled.length] * 3)
        return (plan.rows.scale[:, None, None] * G * unit).reshape(len(G), 6 * G.shape[1])

    def _moved(self, x: np.ndarray, R: np.ndarray, motion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the pose after a scaled motion (6 nb,), in parts' sizes and radians."""
        motion = motion.reshape(-1, 6)
        turn = np.array([matrix_from_vector(vector) for vector in motion[:, 3:]])
        return x + self.compiled.length * motion[:, :3], R @ turn

    def closed(self, x: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the pose with its joints closed, starting from ``pose``; None if that does not converge."""
        x, R = np.vstack([x, np.zeros(3)]), np.concatenate([R, np.eye(3)[None]])
        x, R, gap = self.closure.close(x, R, ITERATIONS)
        return (x[:-1], R[:-1]) if self.closure.is_closed(gap, x) else None


def _alone(
    structure: Structure, state: State, articulation: int, bodies: list[int], numbers: list[int]
) -> tuple[Structure, np.ndarray, np.ndarray]:
    """Return some bodies and joints of a structure, with the articulation as world, and the pose seen from it."""
    x, R = state.position[bodies], rotation_matrix(state.quat_wxyz[bodies])
    held = None
    if articulation >= 0:
        held = structure.bodies[articulation]
        turn = rotation_matrix(held.quat_wxyz) @ rotation_matrix(state.quat_wxyz[articulation]).T
        x, R = held.position + (x - state.position[articulation]) @ turn.T, turn @ R
    joints = []
    for joint in (structure.joints[j] for j in numbers):
        a, b = (WORLD if held and end == held.name else end for end in (joint.body_a, joint.body_b))
        point, point_b = structure.anchors(joint)
        joints.append(replace(joint, body_a=a, body_b=b, point=point, point_b=point_b))
    return Structure(structure.name, [structure.bodies[i] for i in bodies], joints), x, R


def placed(compiled: Compiled, x: np.ndarray, R: np.ndarray) -> Workspace:
    """Return a workspace with pose 0 at x (nb, 3), R (nb, 3, 3), in the order of the mechanism."""
    ws = coupled_workspace(compiled.plan, compiled.functions)
    ws.position[0, :-1], ws.quat[0, :-1] = x[compiled.order], quat_from_matrix(R[compiled.order])
    place_anew(compiled.plan, ws, 0)
    return ws


def bodies_jacobian(compiled: Compiled, rows: np.ndarray) -> np.ndarray:
    """Return the Jacobian (nr, nb, 6) of ``rows`` (nr, 2, 6) by side; bodies in the order of the mechanism."""
    plan = compiled.plan
    nr, nb = plan.rows.role.size, plan.bodies.mass.size
    G = np.zeros((nr, nb + 1, 6))
    sides = np.repeat(plan.joints.side, np.diff(plan.joints.rows), axis=0)
    for side in (0, 1):
        G[np.arange(nr), sides[:, side]] += rows[:, side]
    return G[:, compiled.slot]
