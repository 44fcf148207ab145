"""Mobility of a mechanism at a pose, its redundant constraint rows, and whether both are the same nearby.

Clusters of loops are analysed one by one (loop_clusters.py); all other rows are independent.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from varint.base.display import Shown, count_text, described, html_table
from varint.base.errors import StateError
from varint.base.printable import printable
from varint.kinematics.assembly import with_checked_arrays
from varint.kinematics.closure import Closure
from varint.kinematics.frames import JointFrames, with_world
from varint.kinematics.loop_clusters import RANK_TOLERANCE, bodies_jacobian, clusters_at, placed
from varint.kinematics.misfits import Misfit, direction_words, misfits_in
from varint.kinematics.oddities import oddities
from varint.model.rotation_vectors import rotation_matrix
from varint.model.state import State
from varint.model.structure import Structure
from varint.plan import Compiled
from varint.step.plan import JOINT

NEAR_SINGULAR = 1e-3
MARGIN = "how far from a singular pose, 1 far to 0 singular"  # the rank margin
LARGEST_GAP = 1e-7  # of a state, relative to the size of the parts or of the coordinates
TAKES_PART = 1e-5  # smallest share of a redundancy


@dataclass(frozen=True, eq=False)
class Diagnosis(Shown):
    """Mobility and redundancy of the joints and couplings of a mechanism at a pose. ``str()`` of it is a report.

    Attributes
    ----------
    mobility : int
        Dimension of the space of velocities that the joints, and couplings of coordinates, allow at this pose.
    generic_mobility : int
        The smallest found at neighbouring poses that satisfy the joints; instantaneous motions that lead
        nowhere do not count.
    redundancy : int
        Number of the joints' rows less their rank.
    redundant : tuple of (joint name, direction)
        Rows that could be taken away together without a change of the motion, of cut joints; e.g.
        ("rocker pivot", "force along y"), world axes at this pose.
    joints : tuple of str
        Joints that take part in a redundancy.
    rank_margin : float
        How far from a singular pose the loops are, 1 far to 0 singular: the smallest singular value counted as
        non-zero, relative to the largest of its cluster of loops; 1 without loops.
    gap : float
        Largest singular value counted as zero, likewise; 0 where there is none.
    couplings : (nc, nb, 6)
        Jacobian of the couplings, m or rad.
    misfits : tuple of Misfit
        Loops whose constraints are redundant only up to rounding of the input, and that lock as they move: each with
        its ``joints``, the ``size`` of the misfit (rad, or lengths over part size), and the ``joint`` and its
        ``releases`` that let the loop move. ``str()`` of one says so in sentences.
    """

    structure: Structure
    compiled: Compiled
    state: State
    mobility: int
    generic_mobility: int
    redundancy: int
    redundant: tuple
    joints: tuple
    rank_margin: float
    gap: float
    couplings: np.ndarray
    misfits: tuple[Misfit, ...] = ()

    @cached_property
    def oddities(self) -> tuple[str, ...]:
        """Return sentences on parts of the description that look wrong: points, lengths, rates, hinges of loops."""
        return oddities(self.structure, self.compiled)

    @property
    def singular(self) -> bool:
        """Return whether this pose allows more motions than its neighbours."""
        return self.generic_mobility < self.mobility

    @property
    def unique_multipliers(self) -> bool:
        """Return whether reactions are unique; otherwise the smallest ones are reported."""
        return self.redundancy == 0

    @property
    def redundant_lines(self) -> list[str]:
        """Return `redundant` in words, a line a joint."""
        return [": ".join(row) for row in self._redundant_rows]

    @property
    def _redundant_rows(self) -> list[tuple[str, str]]:
        """Return joints, and their directions in words."""
        directions = defaultdict(list)
        for joint, direction in self.redundant:
            directions[joint].append(direction)
        return [(joint, ", ".join(parts)) for joint, parts in directions.items()]

    @property
    def _counted(self) -> str:
        """Return the mobility by the count of bodies and rows, redundant rows included."""
        n, rows = len(self.structure.bodies), sum(len(joint.rigid) for joint in self.structure.joints)
        coupled = f"; {count_text(len(self.couplings), 'coupling')} not counted" if len(self.couplings) else ""
        return f"{6 * n - rows} (6 x {count_text(n, 'body', 'bodies')} - {count_text(rows, 'row')}{coupled})"

    @cached_property
    def motions(self) -> np.ndarray:
        """Return instantaneous motions (mobility, nb, 6): velocities (m/s, world), angular velocities (rad/s, body).

        Orthonormal in the kinetic metric, sum of m v.v' + w.J w'; those in which the joints move least
        come first, rigid motions of a floating mechanism before all. Dense: the cost grows with nb^3.
        """
        compiled, nb = self.compiled, len(self.structure.bodies)
        x, R = self.state.position, rotation_matrix(self.state.quat_wxyz)
        G = np.concatenate([_joint_rows(compiled, x, R), self.couplings])
        motions = _null_motions(self.structure, G, self.mobility)
        relative = _relative_motions(self.structure, compiled.length, x, R, motions)
        motions = np.einsum("mk,mni->kni", np.linalg.eigh(relative @ relative.T)[1], motions)
        flat = motions.reshape(-1, 6 * nb)
        largest = np.take_along_axis(flat, np.abs(flat).argmax(axis=1, keepdims=True), axis=1)
        return motions * np.sign(largest)[:, :, None]

    def _facts(self) -> Iterable[str]:
        yield f"{count_text(self.mobility, 'degree')} of freedom"
        if self.singular:
            yield f"a singular pose with {self.generic_mobility} at neighbouring poses"
        yield count_text(self.redundancy, "redundant row")
        yield f"rank margin {self.rank_margin:.2g} ({MARGIN})"

    def __repr__(self) -> str:
        return described(self, self._facts(), self.structure.name)

    def _repr_html_(self) -> str:
        nearby = f"{self.generic_mobility}" + (": this pose is singular" if self.singular else "")
        unique = "unique" if self.unique_multipliers else "not unique: of those that fit, the smallest are reported"
        rows = [
            ("degrees of freedom at this pose", self.mobility),
            ("at neighbouring poses", nearby),
            ("6 n - rows", self._counted),
            ("redundant rows", self.redundancy),
            ("loops", sum(len(cuts) for _, cuts in self.compiled.topology.clusters)),
            ("reactions", unique),
            ("rank margin", f"{self.rank_margin:.2g} ({MARGIN})"),
            ("largest singular value counted as zero", f"{self.gap:.2g}"),
            *(("misfit", str(misfit)) for misfit in self.misfits),
            *(("looks wrong", sentence) for sentence in self.oddities),
        ]
        summary = html_table(("", ""), rows, f"Diagnosis of '{self.structure.name}'")
        redundant = self._redundant_rows
        return summary + (html_table(("joint", "redundant"), redundant) if redundant else "")

    def __str__(self) -> str:
        def number(count: int, noun: str) -> str:
            return f"{count} {noun}" + ("" if count == 1 else "s")

        lines = [f"{self.structure.name}: {number(self.mobility, 'degree')} of freedom at this pose"]
        if self.singular:
            lines.append(f"singular pose: {self.generic_mobility} at neighbouring poses")
        elif self.rank_margin < NEAR_SINGULAR:
            lines.append(f"close to a singular pose: rank margin {self.rank_margin:.1e} ({MARGIN})")
        if self.redundancy:
            lines.append(f"{number(self.redundancy, 'redundant row')}, which could be taken away:")
            lines += [f"  {line}" for line in self.redundant_lines]
            lines.append("joints that take part: " + ", ".join(self.joints))
            lines.append("reactions are not unique: of those that fit the motion, the smallest are reported")
            lines.append(f"rank margin {self.rank_margin:.1e} ({MARGIN})")
            lines.append(f"largest singular value counted as zero {self.gap:.1e}")
            lines += [str(misfit) for misfit in self.misfits]
        else:
            lines.append("no redundant rows: reactions are unique")
        lines += [f"looks wrong: {sentence}" for sentence in self.oddities]
        return printable("\n".join(lines))


def _null_motions(structure: Structure, G: np.ndarray, count: int) -> np.ndarray:
    """Return motions (count, nb, 6) that the rows G (nr, nb, 6) allow, orthonormal in the kinetic metric."""
    nb = len(structure.bodies)
    root = np.zeros((nb, 6, 6))  # of the inverse mass matrix
    for i, body in enumerate(structure.bodies):
        root[i, range(3), range(3)] = body.mass**-0.5
        root[i, 3:, 3:] = np.linalg.inv(np.linalg.cholesky(body.inertia)).T
    scaled = np.einsum("rni,nij->rnj", G, root).reshape(len(G), 6 * nb)
    null = np.linalg.svd(scaled)[2][6 * nb - count :].reshape(-1, nb, 6)
    return np.einsum("nij,mnj->mni", root, null)


def _joint_rows(compiled: Compiled, x: np.ndarray, R: np.ndarray) -> np.ndarray:
    """Return the Jacobian (nr, nb, 6) of the rows of the joints."""
    G = bodies_jacobian(compiled, placed(compiled, x, R).jacobian[0])
    return G[compiled.plan.rows.role == JOINT]


def _couplings(compiled: Compiled, x: np.ndarray, R: np.ndarray) -> np.ndarray:
    """Return the Jacobian (nc, nb, 6) of the couplings, each over its largest entry."""
    plan = compiled.plan
    couplings = np.flatnonzero(~plan.constraints.driven)
    if not couplings.size:
        return np.zeros((0, plan.bodies.mass.size, 6))
    G = bodies_jacobian(compiled, placed(compiled, x, R).jacobian[0])
    firsts = zip(plan.constraints.row[couplings], plan.constraints.size[couplings], strict=True)
    rows = np.array([G[r : r + size].sum(axis=0) for r, size in firsts])
    return rows / np.abs(rows).max(axis=(1, 2), keepdims=True)


def diagnose(structure: Structure, compiled: Compiled, state: State) -> Diagnosis:
    """Return the mobility of a pose, see `Mechanism.diagnose`."""
    state = with_checked_arrays(structure, state, "state")
    closure, pose = Closure(structure, compiled, couplings=False), with_world(state.position, state.quat_wxyz)
    left = closure.gap(closure.evaluate(*pose)[0])
    if not left <= LARGEST_GAP * max(compiled.length, np.abs(pose[0]).max()):
        raise StateError(f"the state leaves a joint {left:.3g} m open: mechanism.assemble(state) closes it")
    mobility = generic = _tree_mobility(compiled)
    margin, gap = 1.0, 0.0
    redundant: list[tuple] = []
    joints: set[int] = set()
    misfits: list[Misfit] = []
    for cluster in clusters_at(structure, compiled, state):
        loops, numbers, cuts = cluster
        here = loops.look(loops.x, loops.R)
        misfits += misfits_in(structure, cluster)
        mobility += len(here.motions)
        generic += loops.generic_mobility(here)
        margin, gap = min(margin, here.margin), max(gap, here.gap)
        rows = [(numbers[j], k) for j, k in loops.rows]
        parts = np.linalg.norm(here.left, axis=1) > TAKES_PART
        joints.update(j for (j, _), part in zip(rows, parts, strict=True) if part)
        redundant += [rows[r] for r in _removable(here.G, [j in cuts for j, _ in rows], here.rank)]
    couplings = _couplings(compiled, state.position, rotation_matrix(state.quat_wxyz))
    coupled = _coupled(structure, compiled, state, couplings, mobility)
    mobility, generic = mobility - coupled, generic - coupled
    return Diagnosis(
        structure=structure,
        compiled=compiled,
        state=state,
        mobility=mobility,
        generic_mobility=min(generic, mobility),
        redundancy=len(redundant),
        redundant=tuple((structure.joints[j].name, _direction(compiled, state, j, k)) for j, k in redundant),
        joints=tuple(structure.joints[j].name for j in sorted(joints)),
        rank_margin=margin,
        gap=gap,
        couplings=couplings,
        misfits=tuple(misfits),
    )


def mobility_at(structure: Structure, compiled: Compiled, state: State) -> int:
    """Return `Diagnosis.mobility` alone, at a state that closes the joints."""
    clusters = (loops for loops, _, _ in clusters_at(structure, compiled, state))
    mobility = _tree_mobility(compiled) + sum(len(loops.look(loops.x, loops.R).motions) for loops in clusters)
    couplings = _couplings(compiled, state.position, rotation_matrix(state.quat_wxyz))
    return mobility - _coupled(structure, compiled, state, couplings, mobility)


def _tree_mobility(compiled: Compiled) -> int:
    """Return the degrees of freedom of the bodies outside of loops, each against its parent."""
    in_loops = np.zeros(compiled.plan.bodies.mass.size, dtype=bool)
    in_loops[compiled.slot[list(compiled.topology.cluster_of)]] = True
    of_joints = np.concatenate([[0], np.cumsum(compiled.plan.rows.role == JOINT)])
    free = 6 - np.diff(of_joints[compiled.plan.joints.rows[: len(in_loops) + 1]])
    return int(free[~in_loops].sum())


def _coupled(structure: Structure, compiled: Compiled, state: State, couplings: np.ndarray, mobility: int) -> int:
    """Return the number of the ``mobility`` motions that the joints allow and the ``couplings`` (nc, nb, 6) forbid."""
    if not len(couplings):
        return 0
    allowed = _null_motions(
        structure, _joint_rows(compiled, state.position, rotation_matrix(state.quat_wxyz)), mobility
    )
    return int(np.linalg.matrix_rank(np.einsum("rni,mni->rm", couplings, allowed), rtol=RANK_TOLERANCE))


def _removable(G: np.ndarray, cut: Sequence[bool], rank: int) -> list[int]:
    """Return rows of cut joints without which G keeps its ``rank``: QR with pivots, after the tree's rows.

    ``cut`` (nr,): whether a row is of a cut joint.
    """
    of_cut = np.array(cut, dtype=bool)
    tree = np.linalg.qr(G[~of_cut].T)[0]
    left = G[of_cut] - G[of_cut] @ tree @ tree.T
    needed = []
    for _ in range(rank - tree.shape[1]):
        best = int(np.argmax(np.linalg.norm(left, axis=1)))
        needed.append(best)
        along = left[best] / np.linalg.norm(left[best])
        left = left - np.outer(left @ along, along)
        left[needed] = 0.0
    return np.delete(np.flatnonzero(of_cut), needed).tolist()


def _direction(compiled: Compiled, state: State, j: int, k: int) -> str:
    """Return the motion that row ``k`` of joint ``j`` forbids, in words; world axes."""
    plan, joint = compiled.plan, int(np.flatnonzero(compiled.joints == j)[0])
    r = plan.joints.rows[joint] + k
    if plan.joints.product[joint] >= 0:
        return "force or torque across its motions"
    x, R = state.position, rotation_matrix(state.quat_wxyz)
    side = 0 if plan.joints.side[joint, 0] < len(x) else 1
    row = placed(compiled, x, R).jacobian[0, r, side]
    if row[:3].any():
        return f"force along {direction_words(row[:3])}"
    return f"torque about {direction_words(R[compiled.order[plan.joints.side[joint, side]]] @ row[3:])}"


def _relative_motions(
    structure: Structure, length: float, x: np.ndarray, R: np.ndarray, motions: np.ndarray
) -> np.ndarray:
    """Return relative motions (m, 6 joints) of the frames of each joint with rows, m and ``length`` times rad."""
    pad = np.zeros((len(motions), 1, 3))
    v = np.concatenate([motions[..., :3], pad], axis=1)
    w = np.concatenate([np.einsum("nij,mnj->mni", R, motions[..., 3:]), pad], axis=1)
    x, R = np.vstack([x, np.zeros(3)]), np.concatenate([R, np.eye(3)[None]])
    parts = [np.zeros((len(motions), 0))]
    for joint in structure.joints:
        if joint.forbidden:
            frames = JointFrames(structure, joint)
            a, b = frames.a, frames.b
            lever = R[b] @ frames.origin_b
            parting = v[:, b] + np.cross(w[:, b], lever) - v[:, a] - np.cross(w[:, a], x[b] + lever - x[a])
            parts += [parting, length * (w[:, b] - w[:, a])]
    return np.concatenate(parts, axis=1)
