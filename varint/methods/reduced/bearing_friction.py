"""Friction inside joints (DIFF section 2.11, Algorithm 8).

The transmitted wrench W of a joint follows from the change of the momenta in a step, from the leaves to the root (DIFF
eq. 2.124, with the term h Jdot dq that is missing there), and of a cut joint from its multipliers. The pressures at its
contact points are the least that make it up, N^T alpha = W (eq. 2.125). Each point then resists sliding by up to mu
|alpha|: a cone. DIFF eq. 2.121 sets the friction by the masses of the bodies as if they were free and iterates. Here
the cones are part of the reduced step, so that a joint that sticks does so exactly; and W, which depends on the
impulses of a step in proportion, is found for each of them once, so that pressures and friction are solved together
(recursions/cones.py).
"""

from typing import NamedTuple

import numpy as np

from varint.kinematics.frames import JointFrames
from varint.mechanism.mechanism import Mechanism
from varint.methods.reduced.equations import Equations
from varint.model.forces.friction import JointCoulombFriction
from varint.model.rotation_vectors import cross_matrix


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
    across : (rows of all kinds, 6) the sliding velocity by the twist of the joint
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
    across: np.ndarray


class JointFrictions:
    """The joint friction of ``equations``: one disc for all points of a joint that slide alike.

    ``owner`` (K,): the bearing of each disc; ``sizes`` (K,): its rows; ``pressing`` (K,): how many points press on it,
    disc after disc, with their ``weights`` (T,).
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
        bearings = self.bearings
        self.owner = np.repeat(np.arange(len(bearings)), [len(bearing.sliding) for bearing in bearings])
        self.sizes = np.array([len(part) for bearing in bearings for part in bearing.sliding], dtype=np.int64)
        self._bearing_of = np.repeat(self.owner, self.sizes)  # of each row
        self.element = np.array([bearing.element for bearing in bearings], dtype=np.int64)[self._bearing_of]
        described = np.append(compiled.slot, equations.nb)
        self._ends = described[[(b.frames.a, b.frames.b) for b in bearings]].reshape(-1, 2)
        self._origin = np.array([b.frames.origin_b for b in bearings]).reshape(-1, 3)
        self._axes = np.array([b.frames.axes_b for b in bearings]).reshape(-1, 3, 3)
        weights = [weight for bearing in bearings for weight in bearing.weights]
        at = [weight > 0.0 for weight in weights]
        self._pressure = [bearings[i].pressure[where] for i, where in zip(self.owner, at, strict=True)]
        self.weights = np.concatenate([np.zeros(0), *(w[where] for w, where in zip(weights, at, strict=True))])
        self.pressing = np.array([where.sum() for where in at], dtype=np.int64)
        self._across = np.concatenate([np.zeros((0, 6)), *(b.across for b in bearings)])
        number = {int(j): i for i, j in enumerate(compiled.joints) if j >= 0}
        self._number = [number[bearing.joint] for bearing in bearings]
        self._cut = [self._closing(bearing.joint, *ends) for bearing, ends in zip(bearings, self._ends, strict=True)]

    def _closing(self, joint: int, a: int, b: int) -> tuple[int, float, tuple]:
        """Return one body of a cut ``joint``, the sign of body b there, and rows and sides of the closures on it."""
        c, nb = self.equations.closures, self.equations.nb
        # against the world the rows are of one body only
        body, sign = (b, 1.0) if b < nb else (a, -1.0)
        return body, sign, np.nonzero((c.joint == joint)[:, None] & (c.side == body))

    def __len__(self) -> int:
        return len(self.bearings)

    @property
    def labels(self) -> list[str]:
        return [bearing.label for bearing in self.bearings]

    @property
    def names(self) -> list[str]:
        return [bearing.name for bearing in self.bearings]

    def joint_impulses(self, beta: np.ndarray) -> list[np.ndarray]:
        """Return the impulses (d,) of each bearing along its free motions, from ``beta`` (r,) of its discs."""
        impulses = []
        for i, bearing in enumerate(self.bearings):
            impulses.append(np.concatenate(bearing.sliding).T @ beta[self._bearing_of == i])
        return impulses

    def loads(self) -> np.ndarray:
        """Return the loads (r, nb + 1, 6) of unit impulses along the rows of the discs at the pose.

        N, world, and N m, body axes.
        """
        e, ends, of = self.equations, self._ends, self._bearing_of
        x, R = e.position, e.rotation
        load = np.zeros((len(of), e.nb + 1, 6))
        if not len(of):
            return load
        self._frame = R[ends[:, 1]] @ self._axes
        self._anchor = x[ends[:, 1]] + (R[ends[:, 1]] @ self._origin[:, :, None])[:, :, 0]
        torque, force = (self._frame[of] @ self._across.reshape(-1, 2, 3, 1).swapaxes(0, 1))[..., 0]
        rows = np.arange(len(of))
        for side, sign in ((0, -1.0), (1, 1.0)):
            body = ends[of, side]
            about = torque + cross(self._anchor[of] - x[body], force)
            load[rows, body, :3] = sign * force
            load[rows, body, 3:] = sign * (about[:, None, :] @ R[body])[:, 0]
        return load

    def pressures(
        self,
        h: float,
        J: np.ndarray,
        before: np.ndarray,
        after: np.ndarray,
        multiplier: np.ndarray,
        load: np.ndarray,
    ) -> np.ndarray:
        """Return the pressure impulses (T, 1 + k) at the points of each disc, times the coefficient of friction.

        After `loads`. They are linear in k impulses: the first column is without these, in a step ``h`` from the rates
        ``before`` (nq,), the others are the changes by each. So are the rates ``after`` (nq, 1 + k), the impulses
        of the closures, ``multiplier`` (m, 1 + k), and the impulses on the bodies, ``load`` (k, nb + 1, 6).
        ``J`` (6 nb, nq): the Jacobian.
        """
        wrenches = self._wrenches(h, J, before, after, multiplier, load)
        return np.concatenate([part @ wrenches[i] for i, part in zip(self.owner, self._pressure, strict=True)])

    def _wrenches(
        self,
        h: float,
        J: np.ndarray,
        before: np.ndarray,
        after: np.ndarray,
        multiplier: np.ndarray,
        load: np.ndarray,
    ) -> np.ndarray:
        """Return the impulses (bearings, 6, 1 + k) of each joint on its body b, in axes of its frame b.

        About its anchor; arguments as in `pressures`.
        """
        e = self.equations
        plan, nb = e.compiled.plan, e.nb
        gained = after.copy()
        gained[:, 0] -= before
        motion = (J @ gained).reshape(nb, 6, -1)
        applied = self._load_changes(h, J, after, gained)
        applied[:, :, 1:] += load.transpose(1, 2, 0)
        applied[:nb, :, 0] += h * e.loaded
        sides, parts = self._closure_loads(multiplier)
        np.add.at(applied, sides, parts)
        w, x, R = e.velocity[:, 3:], e.position, e.rotation
        inertia = plan.bodies.inertia
        motion[:, :, 0] += h * (e.jacobian_rate() @ before).reshape(nb, 6)
        motion[:, :3, 0] -= h * plan.bodies.gravity
        needed = np.empty((nb, 6, after.shape[1]))
        needed[:, 3:] = plan.bodies.mass[:, None, None] * motion[:, :3] - applied[:nb, :3]
        needed[:, :3] = inertia @ motion[:, 3:] - applied[:nb, 3:]
        needed[:, :3, 0] += h * cross(w, (inertia @ w[:, :, None])[:, :, 0])
        nodes, total = e.nodes, np.zeros((e.nodes.parent.size + 1, 6, after.shape[1]))
        total[nodes.body_node] = about_origin(x[:nb], R[:nb], needed)
        for i in range(nodes.parent.size - 1, -1, -1):
            total[nodes.parent[i]] += total[i]
        total = total[nodes.body_node]
        wrenches = np.array([self._transmitted(i, total, parts) for i in range(len(self))])
        back = np.swapaxes(self._frame, 1, 2)
        wrenches[:, :3] -= cross_matrix(self._anchor) @ wrenches[:, 3:]
        return (back[:, None] @ wrenches.reshape(len(self), 2, 3, -1)).reshape(wrenches.shape)

    def _load_changes(self, h: float, J: np.ndarray, after: np.ndarray, gained: np.ndarray) -> np.ndarray:
        """Return the impulses (nb + 1, 6, 1 + k) that laws add, along their measures, to the loads at the start."""
        e = self.equations
        plan, work = e.compiled.plan, e.ws.efforts
        change = np.zeros((e.nb + 1, 6, after.shape[1]))
        if not e.ne:
            return change
        jacobian = np.concatenate([J.reshape(e.nb, 6, e.nq), np.zeros((1, 6, e.nq))])
        for s in range(work.sum_effort.size):
            by_value, by_rate = h * h * work.sum_by_value[s], h * work.sum_by_rate[s]
            if by_value == 0.0 and by_rate == 0.0:
                continue
            members = slice(plan.laws.sum_first[s], plan.laws.sum_first[s + 1])
            parts, bodies = work.gradient[members], plan.measures.body[members]
            row = np.einsum("mik,mikq->q", parts, jacobian[bodies])
            np.add.at(change, bodies, parts[..., None] * (by_value * (row @ after) + by_rate * (row @ gained)))
        if plan.loads.kind.size:
            motion = (J @ gained).reshape(e.nb, 6, -1)
            for i, other, by_velocity in zip(plan.loads.body, plan.loads.other, work.wrench_by_velocity, strict=True):
                change[i] += h * (by_velocity[0] @ motion[i])
                if other >= 0:
                    change[i] += h * (by_velocity[1] @ motion[plan.loads.body[other]])
        return change

    def _closure_loads(self, multiplier: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the sides (p, 2) of the parts of closures, and the loads (p, 2, 6, 1 + k) on them."""
        c = self.equations.closures
        if not len(c):
            return np.zeros((0, 2), dtype=np.int64), np.zeros((0, 2, 6, multiplier.shape[1]))
        return c.side, c.jacobian[..., None] * c.of_parts(multiplier[: len(c)])[:, None, None, :]

    def _transmitted(self, i: int, total: np.ndarray, parts: np.ndarray) -> np.ndarray:
        """Return the impulse (6, 1 + k) of bearing i on its body b, about the origin of the world, torque first.

        ``total`` (nb, 6, 1 + k): of all bodies beyond each joint of the tree; ``parts``: of the closures, for cut
        joints.
        """
        e, b, number = self.equations, self._ends[i, 1], self._number[i]
        if number < e.nb:
            return total[number] if number == b else -total[number]
        body, sign, at = self._cut[i]
        load = sign * parts[at].sum(axis=0)
        return about_origin(e.position[body], e.rotation[body], np.concatenate([load[3:], load[:3]]))


def about_origin(x: np.ndarray, R: np.ndarray, wrench: np.ndarray) -> np.ndarray:
    """Return wrenches (..., 6, k), torque about the origin of the world and force, world axes.

    ``wrench`` (..., 6, k): torque about ``x`` (..., 3) in axes ``R`` (..., 3, 3), and force in world axes.
    """
    force = wrench[..., 3:, :]
    return np.concatenate([R @ wrench[..., :3, :] + cross_matrix(x) @ force, force], axis=-2)


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a x b, (..., 3); for few vectors in a fifth of the time of numpy's."""
    return a[..., [1, 2, 0]] * b[..., [2, 0, 1]] - a[..., [2, 0, 1]] * b[..., [1, 2, 0]]


def friction_named(mechanism: Mechanism, name: str) -> JointCoulombFriction:
    """Return the friction of that name among the forces of the mechanism."""
    force = mechanism.force(name)
    assert isinstance(force, JointCoulombFriction)
    return force


def _bearing(mechanism: Mechanism, force: JointCoulombFriction, element: int) -> Bearing:
    joint = mechanism.joint(force.joint)
    free, pressure, sliding, weights = force.discs(joint)
    frames = JointFrames(mechanism, joint)
    number = mechanism.joint_index[force.joint]
    across = np.concatenate([np.zeros((0, 6)), *(part @ free.T for part in sliding)])
    return Bearing(force.name, force.label, element, frames, number, free, pressure, sliding, weights, across)
