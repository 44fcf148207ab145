"""Pinocchio: joint coordinates, its articulated-body algorithm on trees, its constrained dynamics on closed loops."""

from typing import Any

import numpy as np

from varint.extras.peers.base import BodyMotion, Simulator, register
from varint.extras.peers.joint_efforts import LinearEffort, linear_efforts
from varint.files.robots.kinds import Fixed
from varint.files.robots.motion_tree import MotionTree, TreePart
from varint.files.robots.robot import Pose
from varint.model.body import WORLD
from varint.model.rotation_vectors import rotation_matrix
from varint.model.state import State

RATE = 0.1  # times 1/dt: at which gaps of loops are closed, critically damped
ACCURACY, REGULARISATION, ITERATIONS = 1e-12, 1e-4, 20  # of the proximal solver; less amplifies redundant constraints


@register
class Pinocchio(Simulator):
    """Pinocchio's algorithms in a loop in Python: it has no integrators of its own.

    Closed loops are rigid constraints of points, two of a hinge, and of poses, solved by its proximal algorithm with
    Baumgarte's stabilisation at the rate 0.1 / dt.
    """

    name = package = "pinocchio"
    distribution = "pin"
    integrators = {
        "euler": "semi-implicit Euler, in Python around its accelerations",
        "rk4": "Runge-Kutta of order 4, in Python around its accelerations",
    }
    loops = "rigid constraints of accelerations, Baumgarte's rate 0.1 / dt"

    def build(self) -> None:
        """See `Simulator`."""
        import pinocchio as pin

        self.tree = tree = MotionTree(self.mechanism)
        closing = [joint for joint in tree.closing if tree.closes(joint)]
        efforts = linear_efforts(self, tree)
        self.refused += tree.refused
        if self.refused:
            return
        self.model = model = pin.Model()
        model.gravity.linear = np.array(self.mechanism.gravity)
        self.frames = {WORLD: (0, Pose(np.eye(3), np.zeros(3)))}  # joint of a body, with its frame at the reference
        self.numbers: dict[str, int] = {}  # joints of the model by the names of parts
        for branch in tree.depth_first():
            body, pose = self.mechanism.body(branch.body), tree.pose[branch.body]
            number, frame = self.frames[branch.above]
            if branch.joint is None:
                number, frame = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), body.name), pose
            for part in tree.parts_of(branch):
                placement = Pose(pose.R, part.point)
                number = model.addJoint(number, _joint(part, pose.R), _se3(frame.inverse() @ placement), part.name)
                self.numbers[part.name], frame = number, placement
            self.frames[body.name] = number, frame
            inertia = pin.Inertia(body.mass, np.zeros(3), np.array(body.inertia))
            model.appendBodyToJoint(number, inertia, _se3(frame.inverse() @ pose))
        self.data = model.createData()
        self._take_efforts(efforts)
        self._close(closing)
        self.places = [self._place(body.name, tree.pose[body.name]) for body in self.mechanism.bodies]

    def start(self, state: State) -> None:
        """See `Simulator`."""
        q, v = [np.zeros(0)], [np.zeros(0)]
        for _, parts in self.tree.states(state):
            for part, value, rate in parts:
                if part is None:
                    R = rotation_matrix(value[3:])
                    q.append(np.r_[value[:3], value[4:], value[3]])
                    v.append(np.r_[R.T @ rate[:3], rate[3:]])
                else:
                    q.append(np.r_[value[1:], value[0]] if part.kind == "ball" else value - part.reference)
                    v.append(rate)
        self.q, self.v = np.concatenate(q), np.concatenate(v)

    def advance(self, steps: int) -> np.ndarray:
        """See `Simulator`; (steps, nq + nv)."""
        states = np.empty((steps, self.model.nq + self.model.nv))
        step = self._runge_kutta if self.integrator == "rk4" else self._euler
        q, v = self.q, self.v
        for row in states:
            q, v = step(q, v)
            row[: len(q)], row[len(q) :] = q, v
        self.q, self.v = q, v
        return states

    def motion(self, states: Any) -> BodyMotion:
        """See `Simulator`."""
        import pinocchio as pin

        n, nb, model, data = len(states), len(self.places), self.model, self.data
        position, velocity, spin = np.empty((3, n, nb, 3))
        rotation = np.empty((n, nb, 3, 3))
        for k, row in enumerate(states):
            pin.forwardKinematics(model, data, row[: model.nq], row[model.nq :])
            for number, (joint, place) in enumerate(self.places):
                pose, twist = data.oMi[joint] * place, place.actInv(data.v[joint])
                position[k, number], rotation[k, number] = pose.translation, pose.rotation
                velocity[k, number], spin[k, number] = pose.rotation @ twist.linear, twist.angular
        return BodyMotion(position, rotation, velocity, spin)

    # ------------------------------------------------------------------------------------------------- the model

    def _place(self, body: str, pose: Pose) -> tuple[int, Any]:
        """Return the joint that carries a body, and the ``pose`` of the reference configuration in its frame."""
        number, frame = self.frames[body]
        return number, _se3(frame.inverse() @ pose)

    def _take_efforts(self, efforts: Any) -> None:
        """Keep ``efforts`` as arrays over the rates: constant, stiffness, damping, and ``at``: the number in q."""
        model = self.model
        self.constant, self.stiffness, self.damping = np.zeros((3, model.nv))
        self.at = np.zeros(model.nv, dtype=int)
        references = {part.name: part.reference for parts in self.tree.parts.values() for part in parts}
        for name, effort in efforts.items():
            column = model.idx_vs[self.numbers[name]]
            self.at[column] = model.idx_qs[self.numbers[name]]
            referred: LinearEffort = effort.from_reference(references[name])
            self.constant[column], self.stiffness[column], self.damping[column] = referred
        self.has_efforts = bool(efforts)

    def _close(self, closing: list) -> None:
        import pinocchio as pin

        self.constraints = pin.StdVec_RigidConstraintModel()
        rate = RATE / self.dt
        for joint in closing:
            kind = pin.ContactType.CONTACT_6D if isinstance(joint, Fixed) else pin.ContactType.CONTACT_3D
            for name, *points in self.tree.held(joint):
                ends: list = []
                for body, point in zip((joint.body_a, joint.body_b), points, strict=True):
                    ends += self._place(body, Pose(np.eye(3), point))
                constraint = pin.RigidConstraintModel(kind, self.model, *ends, pin.ReferenceFrame.LOCAL)
                constraint.name = name
                constraint.m_baumgarte_parameters = pin.BaumgarteCorrectorParameters(rate**2, 2 * rate)
                self.constraints.append(constraint)
        self.constraint_data = pin.StdVec_RigidConstraintData()
        for constraint in self.constraints:
            self.constraint_data.append(constraint.createData())
        self.proximal = pin.ProximalSettings(ACCURACY, REGULARISATION, ITERATIONS)
        if len(self.constraints):
            pin.initConstraintDynamics(self.model, self.data, self.constraints, self.constraint_data)

    # ------------------------------------------------------------------------------------------------- the steps

    def _acceleration(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        import pinocchio as pin

        effort = self.constant
        if self.has_efforts:
            effort = effort - self.stiffness * q[self.at] - self.damping * v
        if len(self.constraints):
            held = self.constraints, self.constraint_data, self.proximal
            return pin.constraintDynamics(self.model, self.data, q, v, effort, *held).copy()
        return pin.aba(self.model, self.data, q, v, effort).copy()

    def _euler(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        import pinocchio as pin

        v = v + self.dt * self._acceleration(q, v)
        return pin.integrate(self.model, q, self.dt * v), v

    def _runge_kutta(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        import pinocchio as pin

        rates, changes = [v], [self._acceleration(q, v)]
        for part in (0.5, 0.5, 1.0):
            place = pin.integrate(self.model, q, part * self.dt * rates[-1])
            rates.append(v + part * self.dt * changes[-1])
            changes.append(self._acceleration(place, rates[-1]))
        weights = self.dt * np.array([1.0, 2.0, 2.0, 1.0]) / 6.0
        return pin.integrate(self.model, q, weights @ np.array(rates)), v + weights @ np.array(changes)


def _joint(part: TreePart, R: np.ndarray) -> Any:
    """Return the joint of a part, in a frame with axes ``R`` (3, 3)."""
    import pinocchio as pin

    if part.kind == "ball":
        return pin.JointModelSpherical()
    kind = pin.JointModelRevoluteUnaligned if part.kind == "hinge" else pin.JointModelPrismaticUnaligned
    return kind(R.T @ part.axes[:, 0])


def _se3(pose: Pose) -> Any:
    import pinocchio as pin

    return pin.SE3(np.ascontiguousarray(pose.R), np.ascontiguousarray(pose.p))
