"""Friction inside joints, by bilateral staggered projections (DIFF section 2.11, Algorithm 8).

What a joint transmits, the wrench W, follows from the accelerations of a step from the leaves to the root (DIFF eq.
2.124, with the term h Jdot dq that is missing there), and of a cut joint from its multipliers. The pressures at its
contact points are the least that make it up, N^T alpha = W (eq. 2.125). Each point then resists sliding by up to
mu |alpha|: a cone. DIFF eq. 2.121 sets the friction by the masses of the bodies as if they were free and iterates; here
the cones are part of the reduced step (program.py), so that a joint that sticks does so exactly, and the pressures
alone are iterated.
"""

from typing import NamedTuple

import numpy as np

from varint.kinematics.frames import JointFrames, cross_matrix
from varint.mechanism import Mechanism
from varint.model.forces.friction import JointCoulombFriction
from varint.redmax.equations import Equations

Impulses = list[np.ndarray]  # one (r,) for each cone, along its rows, N s


class Bearing(NamedTuple):
    """One joint with friction.

    name, label : str, of the force
    element : int, whose work is that of the friction
    frames : JointFrames
    joint : int, number in the description
    free : (6, d) twists it allows
    pressure : (n, 6) pressures at the contact points by the wrench, times the coefficient of friction
    sliding : list of (r, d): |sliding y| is the relative sliding velocity of all points of a kind at the free motion y
    weights : (kinds, n) sizes of these velocities
    """

    name: str
    label: str
    element: int
    frames: JointFrames
    joint: int
    free: np.ndarray
    pressure: np.ndarray
    sliding: list[np.ndarray]
    weights: np.ndarray


class JointFrictions:
    """The joint friction of ``equations``: one cone for all points of a joint that slide alike.

    ``limits`` (k,) N or N m: of the cones, from one step to the next; ``rows``: their B (r, nq), after `place`.
    """

    def __init__(self, equations: Equations) -> None:
        self.equations = equations
        mechanism, compiled = equations.mechanism, equations.compiled
        element_of = {int(k): e for e, k in enumerate(compiled.force)}
        self.bearings = [
            _bearing(mechanism, force, element_of[k])
            for k, force in enumerate(mechanism.forces)
            if isinstance(force, JointCoulombFriction)
        ]
        self.owner = np.repeat(np.arange(len(self.bearings)), [len(bearing.sliding) for bearing in self.bearings])
        self.limits = np.zeros(self.owner.size)
        self.rows: list[np.ndarray] = []
        self._of_joint = {int(j): i for i, j in enumerate(compiled.joints) if j >= 0}
        self._described = np.append(compiled.slot, equations.nb)

    def __len__(self) -> int:
        return len(self.bearings)

    @property
    def labels(self) -> list[str]:
        return [bearing.label for bearing in self.bearings]

    @property
    def names(self) -> list[str]:
        return [bearing.name for bearing in self.bearings]

    def joint_impulses(self, beta: Impulses) -> list[np.ndarray]:
        """(d,) of each bearing: the impulses ``beta`` of its cones along its free motions."""
        parts = [np.zeros(bearing.free.shape[1]) for bearing in self.bearings]
        jacobians = [jacobian for bearing in self.bearings for jacobian in bearing.sliding]
        for owner, jacobian, part in zip(self.owner, jacobians, beta, strict=True):
            parts[owner] += jacobian.T @ part
        return parts

    def place(self) -> None:
        """``rows`` of the cones at the pose of the equations."""
        e, described = self.equations, self._described
        self._J = np.concatenate([e.jacobian().reshape(e.nb, 6, e.nq), np.zeros((1, 6, e.nq))])
        self._bias = (e.jacobian_rate(), self._J[:-1].reshape(-1, e.nq))
        self.rows, self._twists = [], []
        for bearing in self.bearings:
            jacobian = bearing.frames.twist_jacobian(e.position[described], e.rotation[described])
            ends = described[[bearing.frames.a, bearing.frames.b]]
            self._twists.append(np.tensordot(bearing.free, jacobian, (0, 0)))
            by_rates = np.tensordot(self._twists[-1], self._J[ends], 2)
            self.rows += [sliding @ by_rates for sliding in bearing.sliding]

    def reduced(self, beta: Impulses) -> np.ndarray:
        """(nq,) impulses along the coordinates of those of the cones, ``beta``."""
        return np.sum([B.T @ part for B, part in zip(self.rows, beta, strict=True)], axis=0)

    def add_work(self, beta: Impulses, rates: np.ndarray, work: np.ndarray) -> None:
        """Add the work of the impulses ``beta`` at ``rates`` (nq,), J, to ``work`` (ne,) of the elements."""
        for owner, B, part in zip(self.owner, self.rows, beta, strict=True):
            work[self.bearings[owner].element] += part @ (B @ rates)

    def update_limits(
        self, h: float, before: np.ndarray, after: np.ndarray, multiplier: np.ndarray, beta: Impulses, stops: np.ndarray
    ) -> None:
        """New ``limits`` by what the joints transmit as the rates go from ``before`` to ``after`` in a step ``h``.

        ``multiplier`` (m,) of the closures, N; ``beta`` impulses of the cones; ``stops`` (nb, 6) load of hard stops.
        """
        wrenches = self._wrenches(h, before, after, multiplier, beta, stops)
        limits = []
        for bearing, wrench in zip(self.bearings, wrenches, strict=True):
            limits.append(bearing.weights @ np.abs(bearing.pressure @ wrench))
        self.limits = np.concatenate(limits)

    def _wrenches(
        self, h: float, before: np.ndarray, after: np.ndarray, multiplier: np.ndarray, beta: Impulses, stops: np.ndarray
    ) -> list[np.ndarray]:
        """What each bearing's joint does to its body b: (torque, force) about its anchor, in axes of its frame b."""
        e = self.equations
        plan, nb = e.compiled.plan, e.nb
        Jdot, J = self._bias
        acceleration = (J @ (after - before) / h + Jdot @ before).reshape(nb, 6)
        load = np.concatenate([e.loaded + self._load_change(h, before, after) + stops, np.zeros((1, 6))])
        closing, cut = self._closure_loads(multiplier)
        load += closing
        for bearing, own, twists in zip(self.bearings, self.joint_impulses(beta), self._twists, strict=True):
            if self._of_joint[bearing.joint] >= nb:
                ends = self._described[[bearing.frames.a, bearing.frames.b]]
                np.add.at(load, ends, np.tensordot(own / h, twists, 1))
        w, x, R = e.velocity[:, 3:], e.position, e.rotation
        spin = np.einsum("nij,nj->ni", plan.bodies.inertia, w)
        force = plan.bodies.mass[:, None] * (acceleration[:, :3] - plan.bodies.gravity) - load[:nb, :3]
        torque = np.einsum("nij,nj->ni", plan.bodies.inertia, acceleration[:, 3:]) + np.cross(w, spin) - load[:nb, 3:]
        total = np.zeros((nb + 1, 6))  # about the origin of the world
        total[:nb, 3:] = force
        total[:nb, :3] = np.einsum("nij,nj->ni", R[:nb], torque) + np.cross(x[:nb], force)
        for i in range(nb - 1, -1, -1):
            total[plan.joints.parent[i]] += total[i]
        return [self._joint_wrench(bearing, total, cut) for bearing in self.bearings]

    def _load_change(self, h: float, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """(nb, 6) change of the loads of the laws over the step, along their measures."""
        e = self.equations
        plan, work, change = e.compiled.plan, e.ws.efforts, np.zeros((e.nb + 1, 6))
        motion = [self._J @ rates for rates in (before, after)]
        for s in range(work.sum_effort.size):
            members = slice(plan.laws.sum_first[s], plan.laws.sum_first[s + 1])
            parts, bodies = work.gradient[members], plan.measures.body[members]
            rate = [np.sum(parts * there[bodies]) for there in motion]
            effort = h * work.sum_by_value[s] * rate[1] + work.sum_by_rate[s] * (rate[1] - rate[0])
            np.add.at(change, bodies, effort * parts)
        for i, by_velocity in zip(plan.loads.body, work.wrench_by_velocity, strict=True):
            change[i] += by_velocity @ (motion[1][i] - motion[0][i])
        return change[:-1]

    def _closure_loads(self, multiplier: np.ndarray) -> tuple[np.ndarray, dict]:
        """(nb + 1, 6) load of the closures, and by number of a cut joint its parts (rows, 2, 6)."""
        e, load, cut = self.equations, np.zeros((self.equations.nb + 1, 6)), {}
        if len(e.closures):
            c = e.closures
            parts = multiplier[:, None, None] * c.evaluate(e.position, e.rotation, e.velocity).jacobian
            np.add.at(load, c.side, parts)
            cut = {int(j): (c.side[c.joint == j], parts[c.joint == j]) for j in np.unique(c.joint)}
        return load, cut

    def _joint_wrench(self, bearing: Bearing, total: np.ndarray, cut: dict) -> np.ndarray:
        """(6,) as in `_wrenches`, from ``total`` (nb + 1, 6) of all bodies beyond a joint, or ``cut`` of a cut one."""
        e, frames, number = self.equations, bearing.frames, self._of_joint[bearing.joint]
        a, b = self._described[[frames.a, frames.b]]
        x, R = e.position, e.rotation
        if number < e.nb:
            wrench = total[number] if number == b else -total[number]
        else:
            side, parts = cut[bearing.joint]
            # against the world the rows are those of the one body there is
            body, sign = (b, 1.0) if b < e.nb else (a, -1.0)
            load = sign * parts[side == body].sum(axis=0)
            wrench = np.concatenate([R[body] @ load[3:] + np.cross(x[body], load[:3]), load[:3]])
        anchor, axes = x[b] + R[b] @ frames.origin_b, R[b] @ frames.axes_b
        return np.concatenate([axes.T @ (wrench[:3] - np.cross(anchor, wrench[3:])), axes.T @ wrench[3:]])


def friction_named(mechanism: Mechanism, name: str) -> JointCoulombFriction:
    """The friction of that name among the forces of the mechanism."""
    force = mechanism.force(name)
    assert isinstance(force, JointCoulombFriction)
    return force


def _bearing(mechanism: Mechanism, force: JointCoulombFriction, element: int) -> Bearing:
    joint = mechanism.joint(force.joint)
    points, normals, free = force.surface(joint)
    wrenches = np.hstack([np.cross(points, normals), normals])
    sliding: list[np.ndarray] = []
    weights: list[np.ndarray] = []
    for k, (point, normal) in enumerate(zip(points, normals, strict=True)):
        across = np.eye(3) - np.outer(normal, normal)
        jacobian = np.linalg.qr(across @ np.hstack([-cross_matrix(point), np.eye(3)]) @ free)[1]
        size = np.linalg.norm(jacobian)
        if size < 1e-9 * (1.0 + force.radius):
            continue
        square = jacobian.T @ jacobian / size**2
        alike = (i for i, other in enumerate(sliding) if np.allclose(other.T @ other, square, atol=1e-9))
        i = next(alike, len(sliding))
        if i == len(sliding):
            sliding.append(jacobian / size)
            weights.append(np.zeros(len(points)))
        weights[i][k] = size
    pressure = force.coefficient * np.linalg.pinv(wrenches.T)
    frames = JointFrames(mechanism, joint)
    number = mechanism.joint_index[force.joint]
    return Bearing(force.name, force.label, element, frames, number, free, pressure, sliding, np.array(weights))
