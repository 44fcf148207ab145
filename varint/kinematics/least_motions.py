"""Motions to prescribed joint coordinates or rates that move the other joints least, in their own coordinates.

Unknowns are the rates of the tree joints that may follow and the velocities of bases that may. Of all that the joints,
the couplings and the prescribed rates allow, first the angular rates of the joints not named are the least, then the
rates of their displacements, each by the sum of squares: a base on driven wheels moves with them and does not pitch.
"""

from collections.abc import Collection, Mapping

import numpy as np

from varint.kinematics.closure import Closure, Weld, coordinate_units, motion_of
from varint.kinematics.followers import Followers
from varint.kinematics.frames import JointFrames, moved, nearest_coordinates
from varint.model.motion import Slide, motion_subspace
from varint.model.rotation_vectors import cross_matrix
from varint.model.structure import Structure
from varint.plan import Compiled
from varint.step.constraints import follow_constraints
from varint.step.march.spare_workspaces import borrowed_coupled_workspace

MOST_UNKNOWNS = 600  # dense matrices of more take more than a second
NO_RANK = 1e-9  # of the norm of a matrix: smaller singular values are round-off
CORRECTIONS = 2
ITERATIONS = 12  # of Newton's method, from one piece of a path to the next
FARTHEST = 0.5  # rad, or sizes of a part: the path has turned back or jumps


class LeastMotions:
    """Motions of a structure in which the joints ``named``, by name, move, and what is ``following`` them."""

    def __init__(self, structure: Structure, compiled: Compiled, named: Collection[str], following: Followers) -> None:
        self.structure, self.compiled, self.following = structure, compiled, following
        self.frames = [JointFrames(structure, joint) for joint in structure.joints]
        self.named = {name: self.frames[structure.joint_index[name]] for name in named}
        self.columns_of: dict[int, slice] = {}  # bodies that move against their parents to rates, known or not
        self.known: dict[str, slice] = {}  # named joints of the tree to their rates
        units = [np.zeros(0)]
        for body in compiled.topology.bodies:
            number, first = compiled.topology.tree_joint[body], sum(map(len, units))
            if number is None:
                unit = np.repeat([compiled.length, 1.0], 3 if body in following.bases else 0)
            elif structure.joints[number].name in self.named or number in following.joints:
                unit = coordinate_units(compiled.length, structure.joints[number])
            else:
                continue
            units.append(unit)
            self.columns_of[body] = slice(first, first + len(unit))
            if number is not None and structure.joints[number].name in self.named:
                self.known[structure.joints[number].name] = self.columns_of[body]
        self.units = np.concatenate(units)  # sizes (n,) of the rates that count as one

    def rates(self, rates: Mapping[str, np.ndarray], x: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the motion (nb + 1, 6) at a pose with the ``rates`` (dof,) of the joints named, the others the least.

        m/s, world, and rad/s, body axes; and the largest of the others, rad/s or sizes of a part per second. Rates that
        contradict each other are met in the least squares; joints that have to follow and more than `MOST_UNKNOWNS`
        rates are at rest.
        """
        if self.known.keys() == rates.keys() and len(self.units) == sum(len(rates[name]) for name in self.known):
            columns = self._columns(x, R)
            return columns @ np.concatenate([rates[name] for name in self.known]), 0.0
        compiled = self.compiled
        with borrowed_coupled_workspace(compiled.plan, compiled.functions) as ws:
            welds = [Weld(frames, *frames.relative_pose(x, R)) for frames in self.named.values()]
            closure = Closure(self.structure, compiled, asked=welds, by_arms=True, ws=ws)
            _, G = closure.evaluate(x, R, rates=True)
        target = np.zeros(len(G))
        twists = [frames.twist(x, R, rates[name]) for name, frames in self.named.items()]
        target[len(G) - 6 * len(twists) :] = np.reshape(twists, -1)
        return self._motion(closure, rates, x, R, G, target)

    def poses(
        self, closure: Closure, coordinates: Mapping[str, np.ndarray], x: np.ndarray, R: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return closed poses (nb + 1, ...) near closed ones, with ``coordinates`` (dof,) of joints that are named.

        ``closure`` asks for the same coordinates. Others change the least. The poses x, R themselves where Newton's
        method does not converge.
        """
        placed = {name: coordinates[name] for name in self.known if name in coordinates}
        pose = x, R
        places = {self.structure.joint_index[name]: q for name, q in placed.items()}
        for body, number in self.compiled.topology.tree_joint.items():
            if number is not None and body not in self.columns_of:
                places[number] = self.frames[number].measure(x, R)  # joints that hold
        for _ in range(ITERATIONS):
            g, G = closure.evaluate(*pose)
            if closure.is_closed(closure.gap(g), pose[0]):
                if closure.constraints.size:
                    follow_constraints(closure.plan, closure.ws, pose[0][closure.order], pose[1][closure.order])
                return pose
            ahead = {}
            for name, q in placed.items():
                here = self.named[name].measure(*pose)[None]
                ahead[name] = q - nearest_coordinates(self.named[name].joint, here, q[None])[0]
            motion, longest = self._motion(closure, ahead, *pose, G, -g)
            if not longest <= FARTHEST:
                break
            pose = self._on_tree(places, *moved(*pose, motion))
        return x, R

    def _motion(
        self,
        closure: Closure,
        rates: Mapping[str, np.ndarray],
        x: np.ndarray,
        R: np.ndarray,
        G: np.ndarray,
        target: np.ndarray,
    ) -> tuple[np.ndarray, float]:
        """Return the least motion (nb + 1, 6) with ``rates`` that changes rows of Jacobian ``G`` by ``target`` (nr,).

        And the largest rate of a joint that is not in ``rates``.
        """
        columns = self._columns(x, R)
        values = np.zeros(len(self.units))
        unknown = np.ones(len(self.units), bool)
        for name in self.known.keys() & rates.keys():
            values[self.known[name]], unknown[self.known[name]] = rates[name], False
        motion, columns = columns @ values, columns[..., unknown]
        if not 0 < columns.shape[2] <= MOST_UNKNOWNS:
            return motion, 0.0
        size = closure.row_size(G)
        left = (target - closure.along(G, motion[..., None])[:, 0]) / size
        aims = [
            (closure.along(G, columns) / size[:, None], left),
            *self._rates_of_others(rates, x, R, motion, columns),
        ]
        u, free = np.zeros(columns.shape[2]), np.eye(columns.shape[2])
        for matrix, aim in aims:
            moving = np.any(matrix, axis=1)
            matrix, aim = matrix[moving], aim[moving]
            reduced = matrix @ free
            left_vectors, sizes, right_vectors = np.linalg.svd(reduced, full_matrices=len(reduced) < reduced.shape[1])
            rank = np.count_nonzero(sizes > NO_RANK * max(1e-300, float(np.linalg.norm(matrix))))
            for _ in range(CORRECTIONS):
                along = left_vectors[:, :rank].T @ (aim - matrix @ u) / sizes[:rank]
                u = u + free @ (right_vectors[:rank].T @ along)
            free = free @ right_vectors[rank:].T
        return motion + columns @ u, float(np.abs(u / self.units[unknown]).max())

    def _rates_of_others(
        self, rates: Mapping[str, np.ndarray], x: np.ndarray, R: np.ndarray, motion: np.ndarray, columns: np.ndarray
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return (matrix, target) of the angular rates, and of the rates of displacements, of joints not in ``rates``.

        The targets bring them to zero. The velocities of bases that follow are among them.
        """
        jacobians, angular, at_rest = [np.zeros((0, columns.shape[2]))], [np.zeros(0, bool)], [np.zeros(0)]
        for number in sorted(self.following.joints):
            frames = self.frames[number]
            joint, ends = frames.joint, [frames.a, frames.b]
            if joint.dof and joint.name not in rates:
                jacobian = frames.rate_jacobian(x, R)
                jacobians.append(np.einsum("csk,skn->cn", jacobian, columns[ends]))
                at_rest.append(-np.einsum("csk,sk->c", jacobian, motion[ends]))
                angular.append(np.array([not isinstance(motion_of(joint, k), Slide) for k in range(joint.dof)]))
        for body in sorted(self.following.bases):
            jacobians.append(columns[body])
            at_rest.append(-motion[body])
            angular.append(np.arange(6) >= 3)
        matrix, aim, turns = (np.concatenate(parts) for parts in (jacobians, at_rest, angular))
        return [(matrix[turns], aim[turns]), (matrix[~turns], aim[~turns])]

    def _columns(self, x: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Return the motions (nb + 1, 6, n), m/s, world, and rad/s, body axes, by each of the n rates."""
        count = len(self.units)
        v, w = np.zeros((len(x), 3, count)), np.zeros((len(x), 3, count))
        for body in self.compiled.topology.bodies:
            number, columns = self.compiled.topology.tree_joint[body], self.columns_of.get(body, slice(0))
            if number is None:
                if body in self.following.bases:
                    v[body, :, columns], w[body, :, columns] = np.eye(6)[:3], np.eye(6)[3:]
                continue
            frames = self.frames[number]
            above, sign = (frames.a, 1.0) if body == frames.b else (frames.b, -1.0)
            w[body] = w[above]
            v[body] = v[above] + cross_matrix(x[above] - x[body]) @ w[above]
            if body in self.columns_of:
                B = R[frames.b] @ frames.axes_b
                subspace = motion_subspace(frames.joint, frames.measure(x, R))
                turning = B @ subspace[:3]
                at_anchor = x[frames.b] + R[frames.b] @ frames.origin_b
                w[body, :, columns] += sign * turning
                v[body, :, columns] += sign * (B @ subspace[3:] + cross_matrix(at_anchor - x[body]) @ turning)
        return np.concatenate([v, np.einsum("nji,njk->nik", R, w)], axis=1)

    def _on_tree(self, places: Mapping[int, np.ndarray], x: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return poses that close the joints of the tree: number to coordinates (dof,), others as x, R have them."""
        topology, on_x, on_R = self.compiled.topology, x.copy(), R.copy()
        still = set(self.following.still)
        for body in topology.bodies:
            number = topology.tree_joint[body]
            if number is not None and body not in still:
                frames = self.frames[number]
                frames.place(body, on_x, on_R, places[number] if number in places else frames.measure(x, R))
        return on_x, on_R
