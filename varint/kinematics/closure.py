"""The joints as equations of all poses, solved from a configuration that is not closed.

Let g be the rows of the joints and of what else is asked for, G their Jacobian, M the kinetic
metric. A correction d solves

    minimise  |g + G d|^2 + mu d.M d,      d = -M^-1 G^T (G M^-1 G^T + mu)^-1 g,

each row measured by the distance (in the metric M) that it would take to satisfy it alone. The
damping mu is what redundant rows need: away from closure they look independent, their part of
G M^-1 G^T is of the square of the gap, and an undamped step along them is huge. Levenberg's mu in
proportion to the gap leaves them aside and still converges quadratically where the rank of G at
closure is that of its neighbourhood (Fan and Yuan, Computing 74, 2005).
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from varint.kinematics.frames import JointFrames, continued_coordinates, moved
from varint.model.joints.base import Joint
from varint.model.motion import Motion, Slide, Turn
from varint.model.rotation_vectors import vector_from_matrix
from varint.model.structure import Structure
from varint.plan import Compiled
from varint.plan.bodies import longest_arms
from varint.step.configuration import follow_products
from varint.step.constraints import follow_constraints
from varint.step.measures import ANGULAR
from varint.step.nodes.driven_path import LEAST_DAMPING, LONGEST_TURN, TOLERANCE
from varint.step.plan import CONSTRAINT, JOINT, Workspace
from varint.step.rows import evaluate_rows
from varint.step.workspace import coupled_workspace

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from varint.kinematics.beam_strains import Strain


VELOCITY_DAMPING = 1e-12
YIELDS = 1e-10  # compliance of the softest strain of a beam where beams have to strain, in parts of its mobility
MOST_DAMPING = 1e6  # times the gap: no correction helps
PATIENCE = 8  # corrections that gain less than a hundredth
HEAVY = 1e4  # times the whole mass, for what is given of a body; more would cost digits, passes make up for it
DENSE_ROWS = 60  # above, sparse matrices are faster


@dataclass(frozen=True)
class Weld:
    """Asks for a relative pose of a joint's frames: rotation (3, 3), origin (3,)."""

    frames: JointFrames
    turn: np.ndarray
    shift: np.ndarray

    def rows(self, x: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return value (6,) and Jacobian (6, 2, 6).

        That of a turn is exact if the value is along the motion or small.
        """
        turn, shift = self.frames.relative_pose(x, R)
        value = np.concatenate([vector_from_matrix(self.turn.T @ turn), turn.T @ (shift - self.shift)])
        return value, self.frames.twist_jacobian(x, R)

    @property
    def angular(self) -> np.ndarray:
        """Return which rows (6,) are angles."""
        return np.arange(6) < 3


@dataclass
class Coordinate:
    """Asks for one coordinate of a joint; ``value``, and the coordinates (dof,) it goes on from, may be changed."""

    frames: JointFrames
    number: int
    value: float
    near: np.ndarray | None = None

    def measure(self, x: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Return the coordinates (dof,) of the joint, angles and rotation vectors the nearest to ``near``."""
        q = self.frames.measure(x, R)
        return q if self.near is None else continued_coordinates(self.frames.joint, np.array([self.near, q]))[1]

    def rows(self, x: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the value (1,), an angle in [-pi, pi), and the Jacobian (1, 2, 6)."""
        q = self.measure(x, R)
        value = q[self.number] - self.value
        if isinstance(motion_of(self.frames.joint, self.number), Turn):
            value = (value + np.pi) % (2 * np.pi) - np.pi
        return np.array([value]), self.frames.rate_jacobian(x, R, q)[self.number, None]

    @property
    def angular(self) -> np.ndarray:
        """Return whether (1,) it is an angle."""
        return np.array([not isinstance(motion_of(self.frames.joint, self.number), Slide)])


def coordinate_units(length: float, joint: Joint) -> np.ndarray:
    """Return the sizes (dof,) that count as one: a radian, or for displacements the size of the parts, m."""
    motions = [motion_of(joint, number) for number in range(joint.dof)]
    return np.array([length if isinstance(motion, Slide) else 1.0 for motion in motions])


def motion_of(joint: Joint, number: int) -> Motion:
    """Return the motion that a coordinate of ``joint`` belongs to."""
    return [motion for motion in joint.allowed for _ in range(motion.size)][number]


class Closure:
    """The rows of a mechanism's joints, those of ``asked``, and the metric of the correction.

    Parameters
    ----------
    asked : sequence of Weld, Coordinate or Strain
    still : iterable of int
        Bodies that do not move.
    heavy_x, heavy_R : iterable of int
        Bodies that are hard to shift, to turn.
    alike, by_arms : bool
        Whether all bodies weigh alike, a turn counting times the size of the parts, or times the longest arm of the
        body to one of its joints; else the metric is the kinetic one.
    couplings : bool
        Whether the couplings of coordinates take part.
    ws : Workspace, optional
        A `coupled_workspace`, in which couplings go on counting turns; a fresh one where not given.
    """

    def __init__(
        self,
        structure: Structure,
        compiled: Compiled,
        *,
        asked: "Iterable[Weld | Coordinate | Strain]" = (),
        still: Collection[int] = (),
        heavy_x: Collection[int] = (),
        heavy_R: Collection[int] = (),
        alike: bool = False,
        by_arms: bool = False,
        couplings: bool = True,
        ws: Workspace | None = None,
    ) -> None:
        plan, nb = compiled.plan, len(structure.bodies)
        self.plan, self.asked, self.length = plan, tuple(asked), compiled.length
        self.ws = coupled_workspace(plan, compiled.functions) if ws is None else ws
        self.order = np.append(compiled.order, nb)
        coupled = (plan.rows.role == CONSTRAINT) & (self.ws.released == 0.0) & couplings
        self.rows = np.flatnonzero((plan.rows.role == JOINT) | coupled)  # of the plan, that take part
        coupled = coupled[self.rows]
        self.rates = np.flatnonzero(np.isin(self.rows, plan.constraints.rate))  # no part of a pose
        counts = np.diff(plan.joints.rows)
        extra = [item.frames for item in self.asked for _ in item.angular]
        numbers = [structure.joint_index.get(frames.joint.name, -1) for frames in extra]
        of_plan = np.where(coupled, -1, np.repeat(compiled.joints, counts)[self.rows])
        self.joint = np.concatenate([of_plan, numbers]).astype(int)  # of each row, -1 for a coupling
        self.constraints = np.flatnonzero(np.isin(plan.constraints.row, self.rows))
        firsts = np.searchsorted(self.rows, plan.constraints.row[self.constraints])
        sizes = plan.constraints.size[self.constraints]
        self.chains = [(first, first + size) for first, size in zip(firsts, sizes, strict=True) if size > 1]
        ends = [(frames.a % (nb + 1), frames.b % (nb + 1)) for frames in extra]
        side = np.repeat(self.order[plan.joints.side], counts, axis=0)[self.rows]
        self.side = np.concatenate([side, np.reshape(ends, (-1, 2))]).astype(int)
        angular = np.concatenate([[], *(item.angular for item in self.asked)]).astype(bool)
        self.angular = np.concatenate([ANGULAR[plan.measures.kind[self.rows]] & ~coupled, angular])
        scale = np.where(angular, self.length, 1.0)
        self.scale = np.concatenate([plan.rows.scale[self.rows], scale])  # turns rows into m
        if alike or by_arms:
            self.own_root = _root_alike(_arms(structure) if by_arms else np.full(nb, self.length))
        else:
            self.own_root = _root_of_inverse_mass(structure)
        self.root = self.own_root.copy()
        if min(len(heavy_x), len(heavy_R)) < nb:  # if all are given, none gives way: their own masses weigh best
            root_mass = np.sqrt(HEAVY * (nb if alike or by_arms else plan.bodies.mass.sum()))
            self.root[list(heavy_x), :3, :3] = np.eye(3) / root_mass
            self.root[list(heavy_R), 3:, 3:] = np.eye(3) / (root_mass * self.length)
        self.root[list(still)] = 0.0

    @property
    def has_memory(self) -> bool:
        """Return whether the rows depend on the poses before, as they do where turns are counted."""
        return bool(self.plan.constraints.row.size or self.plan.products.start.size)

    def evaluate(
        self, x: np.ndarray, R: np.ndarray, trial: bool = False, rates: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return rows (nr,) and their Jacobian (nr, 2, 6) by side; the first row of a chain has its value.

        ``trial``: rows of products of exponentials are the same as those of the last pose that was none. ``rates``:
        with the Jacobian of the rows of rates, which bind velocities and no motion from pose to pose.
        """
        n, ws = self.rows.size, self.ws
        g, G = np.empty(len(self.side)), np.zeros((len(self.side), 2, 6))
        pose = x[self.order], R[self.order]
        if self.plan.products.start.size and not trial:
            follow_products(self.plan, ws, *pose)
        evaluate_rows(self.plan, ws, *pose, ws.residual_row, ws.jacobian[0])
        g[:n], G[:n] = ws.residual_row[self.rows], ws.jacobian[0, self.rows]
        if not rates:
            G[self.rates] = 0.0
        for item in self.asked:
            value, jacobian = item.rows(x, R)
            g[n : n + len(value)], G[n : n + len(value)] = value, jacobian
            n += len(value)
        return g, G

    def is_closed(self, gap: float, x: np.ndarray) -> bool:
        """Return whether ``gap``, m, is that of closed joints, for bodies at ``x`` (nb + 1, 3)."""
        return gap <= 10 * self._tolerance(x)

    def gap(self, g: np.ndarray) -> float:
        """Return the largest row, m."""
        return float(np.abs(self.scale * g).max(initial=0.0))

    def coupling_gaps(self, g: np.ndarray) -> list[tuple[int, float]]:
        """Return (number of the force, gap in m) of each coupling."""
        plan = self.plan
        places = np.searchsorted(self.rows, plan.constraints.row[self.constraints])
        forces = plan.elements.force[plan.constraints.element[self.constraints]]
        return list(zip(forces.tolist(), np.abs(self.scale * g)[places].tolist(), strict=True))

    def force_of(self, row: int) -> int:
        """Return the number of the force that a row of a coupling belongs to."""
        constraints, number = self.plan.constraints, self.rows[row]
        ahead = number - constraints.row
        place = np.flatnonzero((ahead >= 0) & (ahead < constraints.size))[0]
        return int(self.plan.elements.force[constraints.element[place]])

    def speed(self, motion: np.ndarray) -> float:
        """Return speed of the fastest body of motions (nb + 1, 6), m/s."""
        return max(np.abs(motion[:, :3]).max(), self.length * np.abs(motion[:, 3:]).max())

    def row_size(self, G: np.ndarray) -> np.ndarray:
        """Return the sizes (nr,) of the rows: a row over its size is its distance from zero in the metric."""
        square = np.einsum("rsk,rskl->rsl", G, self.own_root[self.side])
        size = np.maximum((square**2).sum((1, 2)), self.least_squares)
        for first, last in self.chains:
            size[first:last] = size[first:last].sum()
        return np.sqrt(size)

    @cached_property
    def least_squares(self) -> np.ndarray:
        """Return the least squares (nr,) of the sizes of the rows."""
        trace = np.einsum("nkl,nkl->nk", self.own_root, self.own_root)
        return np.where(self.angular, trace[:, 3:].sum(1)[self.side].T / 3, trace[:, 0][self.side].T).sum(0)

    def matrix(self, G: np.ndarray, size: np.ndarray) -> "np.ndarray | csr_matrix":
        """Return the rows over their sizes, by motions y with y.y = d.M d: (nr, 6 nb + 6), dense or sparse."""
        blocks = np.einsum("rsk,rskl->rsl", G, self.root[self.side]) / size[:, None, None]
        columns = (6 * self.side[..., None] + np.arange(6)).reshape(len(G), 12)
        shape = len(G), self.root.shape[0] * 6
        if len(G) <= DENSE_ROWS:
            matrix = np.zeros(shape)
            np.put_along_axis(matrix, columns, blocks.reshape(len(G), 12), axis=1)
            return self._joined(matrix)
        from scipy.sparse import csr_matrix  # a quarter of a second to import, so only where it pays

        matrix = csr_matrix((blocks.ravel(), columns.ravel(), 12 * np.arange(len(G) + 1)), shape=shape)
        if not self.chains:
            return matrix
        first = np.arange(len(G))
        for start, end in self.chains:
            first[start:end] = start
        return csr_matrix((np.ones(len(G)), (first, np.arange(len(G)))), shape=2 * (len(G),)) @ matrix

    def _joined(self, rows: np.ndarray) -> np.ndarray:
        """Return the rows of each chain summed in its first."""
        for first, last in self.chains:
            rows[first] = rows[first:last].sum(axis=0)
            rows[first + 1 : last] = 0.0
        return rows

    def motion(self, y: np.ndarray) -> np.ndarray:
        """Return motions (nb + 1, 6), m or m/s, world, and rad or rad/s, body axes, of ``y`` (6 nb + 6,)."""
        return np.einsum("nkl,nl->nk", self.root, y.reshape(-1, 6))

    def along(self, G: np.ndarray, motions: np.ndarray) -> np.ndarray:
        """Return the change (nr, n) of the rows of Jacobian ``G`` along each of the ``motions`` (nb + 1, 6, n)."""
        changes = np.einsum("rk,rkn->rn", G[:, 0], motions[self.side[:, 0]])
        return self._joined(changes + np.einsum("rk,rkn->rn", G[:, 1], motions[self.side[:, 1]]))

    def close(self, x: np.ndarray, R: np.ndarray, iterations: int) -> tuple[np.ndarray, np.ndarray, float]:
        """Move the poses (nb + 1, 3), (nb + 1, 3, 3) onto the rows; return the new ones and the largest row left, m.

        Poses that are off the rows get one correction more once they are within the tolerance, to the round-off.
        """
        tol = self._tolerance(x)
        g, G = self.evaluate(x, R)
        size = self.row_size(G)
        factor, idle = 1.0, 0
        near = not self.gap(g) > tol
        for _ in range(iterations):
            gap, square = self.gap(g), np.sum((g / size) ** 2)
            if near or idle > PATIENCE or factor > MOST_DAMPING:
                break
            near = not gap > tol
            A = self.matrix(G, size)
            damping = max(LEAST_DAMPING, factor * min(1.0, gap / self.length))
            y = -damped_solution(A, damping, g / size)
            d = self.motion(y)
            longest = max(np.abs(d[:, :3]).max() / self.length, np.linalg.norm(d[:, 3:], axis=1).max())
            share = min(1.0, LONGEST_TURN / longest) if longest > 0 else 1.0
            pose = moved(x, R, share * d)
            g_new, G_new = self.evaluate(*pose, trial=True)
            square_new = np.sum((g_new / size) ** 2)
            promised = square - np.sum((g / size + share * (A @ y)) ** 2)
            gain = (square - square_new) / promised if promised > 0 else 0.0
            factor *= 4.0 if gain < 0.25 else 0.25 if gain > 0.75 else 1.0
            if square_new < square:
                idle = idle + 1 if square_new > 0.99 * square else 0
                (x, R), g, G = pose, g_new, G_new
                if self.constraints.size:
                    follow_constraints(self.plan, self.ws, x[self.order], R[self.order])
                if self.plan.products.start.size:
                    g, G = self.evaluate(x, R)
                    size = self.row_size(G)
        return x, R, self.gap(g)

    def _tolerance(self, x: np.ndarray) -> float:
        return closed_to(self.length, x)

    def velocity(
        self, x: np.ndarray, R: np.ndarray, motion: np.ndarray, rates: np.ndarray, stiffness: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the velocity nearest to ``motion`` (nb + 1, 6) in the metric, with ``rates`` of ``asked``.

        ``stiffness`` (nr - rows of the joints,): of rows that yield, next to nothing where they need not and else by
        the least work; infinite for others. Returns the motion and the mismatch (nr,) that is left, m/s.
        """
        _, G = self.evaluate(x, R, rates=True)
        size = self.row_size(G)
        A = self.matrix(G, size)
        target = np.zeros(len(G))
        target[len(G) - len(rates) :] = rates
        soft = None if stiffness is None else _compliances(size, stiffness)
        multiplier = np.zeros(len(G))

        def mismatch(motion: np.ndarray) -> np.ndarray:
            return target - self.along(G, motion[..., None])[:, 0]

        left = mismatch(motion)
        residual = left / size
        for _ in range(PATIENCE):
            change = damped_multipliers(A, VELOCITY_DAMPING if soft is None else VELOCITY_DAMPING + soft, residual)
            trial = motion + self.motion(A.T @ change)
            left_new = mismatch(trial)
            residual_new = left_new / size
            if soft is not None:
                residual_new -= soft * (multiplier + change)
            if not np.sum(residual_new**2) < 0.25 * np.sum(residual**2):
                break
            motion, left, residual, multiplier = trial, left_new, residual_new, multiplier + change
        return motion, self.scale * left


def closed_to(length: float, x: np.ndarray) -> float:
    """Return the allowed gap, m, of closed joints: parts of a size ``length``, m, bodies at ``x`` (nb + 1, 3)."""
    return TOLERANCE * max(length, np.abs(x).max())


def damped_solution(A: "np.ndarray | csr_matrix", damping: float, b: np.ndarray) -> np.ndarray:
    """Return the y that minimises ``|A y - b|^2 + damping |y|^2``."""
    return A.T @ damped_multipliers(A, damping, b)


def damped_multipliers(A: "np.ndarray | csr_matrix", damping: "float | np.ndarray", b: np.ndarray) -> np.ndarray:
    """Return the solution of ``(A A^T + damping) z = b``; ``damping``: one number, or one of each row."""
    if isinstance(A, np.ndarray):
        K = A @ A.T
        K[np.diag_indices_from(K)] += damping
        return np.linalg.solve(K, b)
    from scipy.sparse import diags
    from scipy.sparse.linalg import splu

    K = (A @ A.T + diags(np.broadcast_to(damping, A.shape[0]))).tocsc()
    return splu(K, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}).solve(b)


def _compliances(size: np.ndarray, stiffness: np.ndarray) -> np.ndarray:
    """Return compliances (nr,) of rows over their sizes: by the stiffness of the last ones, one without; else zero."""
    work = stiffness * size[len(size) - len(stiffness) :] ** 2
    least = work[(work > 0.0) & np.isfinite(work)].min(initial=np.inf)
    soft = np.zeros(len(size))
    soft[len(size) - len(stiffness) :] = np.minimum(1.0, YIELDS * least / np.maximum(work, 1e-300))
    return soft


def _root_alike(gyration: np.ndarray) -> np.ndarray:
    """Return `_root_of_inverse_mass` for masses of one and radii of ``gyration`` (nb,), m."""
    root = np.zeros((len(gyration) + 1, 6, 6))
    root[:-1, :3, :3] = np.eye(3)
    root[:-1, 3:, 3:] = np.eye(3) / gyration[:, None, None]
    return root


def _arms(structure: Structure) -> np.ndarray:
    """Return the longest arm (nb,), m, of each body to one of its joints; no less than its radius of gyration."""
    gyration = [np.sqrt(0.5 * np.trace(body.inertia) / body.mass) for body in structure.bodies]
    return np.maximum(gyration, longest_arms(structure))


def _root_of_inverse_mass(structure: Structure) -> np.ndarray:
    """Return T (nb + 1, 6, 6) with T T^T = M^-1 of each body; zero for the world."""
    root = np.zeros((len(structure.bodies) + 1, 6, 6))
    masses = np.array([body.mass for body in structure.bodies])
    root[:-1, :3, :3] = np.eye(3) / np.sqrt(masses)[:, None, None]
    factors = np.linalg.cholesky([body.inertia for body in structure.bodies])
    root[:-1, 3:, 3:] = np.swapaxes(np.linalg.inv(factors), 1, 2)
    return root
