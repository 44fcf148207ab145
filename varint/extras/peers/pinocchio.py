"""`Pinocchio`: run a mechanism with the dynamics algorithms of Pinocchio, in joint coordinates.

Accelerations come from its articulated-body algorithm (trees) or its constrained dynamics (closed loops). Its state is
q (nq,), the configuration, with unit quaternions for ball joints and floating bodies, and v (nv,), the velocities;
nq > nv if there are quaternions.

A joint of a mechanism becomes one joint of the model for each of its parts (`TreePart`: a hinge, slide or ball), none
if it is fixed. A floating body becomes a free-flyer of the model, and has no part.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from varint.extras.peers.base import BodyMotion, Simulator, register
from varint.extras.peers.joint_efforts import LinearEffort, linear_efforts
from varint.files.robots.kinds import Fixed
from varint.files.robots.motion_tree import MotionTree, TreePart
from varint.files.robots.robot import Pose
from varint.model.body import WORLD
from varint.model.joints.base import Joint
from varint.model.rotation_vectors import rotation_matrix
from varint.model.state import State

RATE = 0.1  # Baumgarte's rate times dt: gaps g of loops follow g'' + 2 b g' + b^2 g = 0 with b = RATE / dt, 1/s
# Settings of the proximal solver of the loop constraints: residual at which it stops, mu (mu times the identity is
# added to J M^-1 J^T), maximum number of iterations. Round-off along redundant constraints grows like 1 / mu.
ACCURACY, REGULARISATION, ITERATIONS = 1e-12, 1e-4, 20


@register
class Pinocchio(Simulator):
    """Simulate a mechanism with accelerations from Pinocchio; the time integration is done here, in Python.

    A loop is closed by rigid constraints: one point for a spherical joint, two points on the axis for a hinge, the pose
    for a fixed joint. Pinocchio's proximal algorithm solves them at acceleration level, with Baumgarte's stabilisation
    at the rate 0.1 / dt.
    """

    name = package = "pinocchio"
    distribution = "pin"
    integrators = {
        "euler": "semi-implicit Euler with Pinocchio's accelerations, stepped in Python",
        "rk4": "classical Runge-Kutta with Pinocchio's accelerations, stepped in Python: order 4 with hinges and"
        " slides, order 2 with ball joints or floating bodies",
    }
    loops = "rigid constraints at acceleration level, Baumgarte's rate 0.1 / dt"

    def build(self) -> None:
        """Build ``model``, ``data``, the loop constraints and the joint efforts; see `Simulator`.

        Joints and forces without a counterpart are appended to ``refused``; then there is no model.
        """
        import pinocchio as pin

        self.tree = tree = MotionTree(self.mechanism)
        closing = [joint for joint in tree.closing if tree.closes(joint)]
        efforts = linear_efforts(self, tree)
        self.refused += tree.refused
        if self.refused:
            return
        self.model = model = pin.Model()
        model.gravity.linear = np.array(self.mechanism.gravity)
        # Dict by body name: index of the joint in the model that carries it (0: the world), and the world pose of that
        # joint's moving frame in the reference configuration.
        self.frames = {WORLD: (0, Pose(np.eye(3), np.zeros(3)))}
        self.numbers: dict[str, int] = {}  # index of the joint in the model, by name of the part
        for branch in tree.depth_first():
            body, pose = self.mechanism.body(branch.body), tree.pose[branch.body]
            number, frame = self.frames[branch.above]
            if branch.joint is None:  # a floating body: a free-flyer attached to the world; its frame is the body's
                number, frame = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), body.name), pose
            for part in tree.parts_of(branch):  # none for a fixed joint: the body belongs to the joint above
                placement = Pose(pose.R, part.point)  # world pose of the joint's frame, whose axes are the body's
                number = model.addJoint(number, _joint(part, pose.R), _se3(frame.inverse() @ placement), part.name)
                self.numbers[part.name], frame = number, placement
            self.frames[body.name] = number, frame
            inertia = pin.Inertia(body.mass, np.zeros(3), np.array(body.inertia))  # kg, m, kg m^2, axes of the body
            model.appendBodyToJoint(number, inertia, _se3(frame.inverse() @ pose))
        self.data = model.createData()
        self._take_efforts(efforts)
        self._close(closing)
        # for each body the index of the joint that carries it, and the body's pose relative to the frame of that joint
        self.places = [self._place(body.name, tree.pose[body.name]) for body in self.mechanism.bodies]

    def start(self, state: State) -> None:
        """Set ``q`` (nq,) and ``v`` (nv,) to ``state``; see `Simulator`.

        Quaternions are (w, x, y, z) in varint and (x, y, z, w) in Pinocchio. Angular velocities of
        ball joints and floating bodies are in axes of the moved body in both. The linear velocity of a floating body is
        in world axes in varint and in body axes in Pinocchio: it is rotated here.
        """
        q, v = [np.zeros(0)], [np.zeros(0)]
        for _, parts in self.tree.states(state):
            for part, value, rate in parts:
                if part is None:  # a floating body: pose (7,); velocity, world, and angular velocity, body axes (6,)
                    R = rotation_matrix(value[3:])
                    q.append(np.r_[value[:3], value[4:], value[3]])
                    v.append(np.r_[R.T @ rate[:3], rate[3:]])  # linear velocity from world to body axes
                elif part.kind == "ball":
                    q.append(np.r_[value[1:], value[0]])
                    v.append(rate)
                else:
                    # hinge or slide: Pinocchio's q is zero in the reference configuration, where the coordinate in
                    # varint is `part.reference`: zero for a hinge, other than zero for a slide whose anchors are apart
                    q.append(value - part.reference)
                    v.append(rate)
        self.q, self.v = np.concatenate(q), np.concatenate(v)

    def advance(self, steps: int) -> np.ndarray:
        """Take ``steps`` steps and return (steps, nq + nv), q and v after each; see `Simulator`."""
        states = np.empty((steps, self.model.nq + self.model.nv))
        step = self._runge_kutta if self.integrator == "rk4" else self._euler
        q, v = self.q, self.v
        for row in states:
            q, v = step(q, v)
            row[: len(q)], row[len(q) :] = q, v
        self.q, self.v = q, v
        return states

    def motion(self, states: Any) -> BodyMotion:
        """Return the motion of the bodies in ``states`` (n, nq + nv) from `advance`; see `Simulator`."""
        import pinocchio as pin

        n, nb, model, data = len(states), len(self.places), self.model, self.data
        position, velocity, spin = np.empty((3, n, nb, 3))
        rotation = np.empty((n, nb, 3, 3))
        for k, row in enumerate(states):
            pin.forwardKinematics(model, data, row[: model.nq], row[model.nq :])
            for number, (joint, place) in enumerate(self.places):
                # world pose of the body; its linear and angular velocity at the centre of mass, in body axes
                pose, twist = data.oMi[joint] * place, place.actInv(data.v[joint])
                position[k, number], rotation[k, number] = pose.translation, pose.rotation
                velocity[k, number], spin[k, number] = pose.rotation @ twist.linear, twist.angular
        return BodyMotion(position, rotation, velocity, spin)

    # ------------------------------------------------------------------------------------------------- the model

    def _place(self, body: str, pose: Pose) -> tuple[int, Any]:
        """Return the index of the joint that carries ``body``, and ``pose`` relative to that joint's frame, a pin.SE3.

        ``pose``: world pose, in the reference configuration, of a frame fixed to ``body``.
        """
        number, frame = self.frames[body]
        return number, _se3(frame.inverse() @ pose)

    def _take_efforts(self, efforts: Mapping[str, LinearEffort]) -> None:
        """Set ``constant``, ``stiffness``, ``damping`` and ``q_index``, each (nv,), from ``efforts`` by name of part.

        The effort along v[i] is ``constant[i] - stiffness[i] q[q_index[i]] - damping[i] v[i]``, N or N m; all
        coefficients are zero if no effort acts along v[i]. ``q_index[i]``: index in q of the coordinate whose rate is
        v[i]; 0, unused, if no effort acts.
        """
        model = self.model
        self.constant, self.stiffness, self.damping = np.zeros((3, model.nv))
        self.q_index = np.zeros(model.nv, dtype=int)
        references = {part.name: part.reference for parts in self.tree.parts.values() for part in parts}
        for name, effort in efforts.items():
            column = model.idx_vs[self.numbers[name]]
            self.q_index[column] = model.idx_qs[self.numbers[name]]
            # from varint's coordinate to Pinocchio's, which is zero in the reference configuration
            of_q = effort.from_reference(references[name])
            self.constant[column], self.stiffness[column], self.damping[column] = of_q
        self.has_efforts = bool(efforts)

    def _close(self, closing: list[Joint]) -> None:
        """Set ``constraints``, ``constraint_data`` and ``proximal`` for the joints in ``closing``, which close loops.

        Each constraint makes a frame on body a coincide with one on body b: origins only, or poses for a fixed joint.
        The axes of both frames are those of the world in the reference configuration.
        """
        import pinocchio as pin

        self.constraints = pin.StdVec_RigidConstraintModel()
        rate = RATE / self.dt
        for joint in closing:
            kind = pin.ContactType.CONTACT_6D if isinstance(joint, Fixed) else pin.ContactType.CONTACT_3D
            for name, *points in self.tree.held(joint):
                # for body a, then b: index of the joint that carries it, and pose of the frame relative to that joint
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
        """Return dv/dt (nv,) at ``q`` (nq,) and ``v`` (nv,), under gravity, joint efforts and loop constraints."""
        import pinocchio as pin

        effort = self.constant
        if self.has_efforts:
            effort = effort - self.stiffness * q[self.q_index] - self.damping * v
        # Pinocchio returns a view of data.ddq, which its next call overwrites; `_runge_kutta` keeps four results.
        if len(self.constraints):
            constraints = self.constraints, self.constraint_data, self.proximal
            return pin.constraintDynamics(self.model, self.data, q, v, effort, *constraints).copy()
        return pin.aba(self.model, self.data, q, v, effort).copy()

    def _euler(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return q (nq,) and v (nv,) after a step of semi-implicit Euler.

        v changes with the acceleration at the start of the step, then q with the new v.
        """
        import pinocchio as pin

        v = v + self.dt * self._acceleration(q, v)
        return pin.integrate(self.model, q, self.dt * v), v

    def _runge_kutta(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return q (nq,) and v (nv,) after a step of the classical Runge-Kutta method.

        The order is 4 if all joints are hinges or slides, 2 with ball joints or floating bodies: stage velocities are
        averaged although their body axes differ, without the commutators of a Runge-Kutta-Munthe-Kaas method. Order 4
        remains for a ball joint that turns about a fixed axis.
        """
        import pinocchio as pin

        rates, changes = [v], [self._acceleration(q, v)]
        for share in (0.5, 0.5, 1.0):  # time of the stage within the step, over dt
            q_stage = pin.integrate(self.model, q, share * self.dt * rates[-1])
            rates.append(v + share * self.dt * changes[-1])
            changes.append(self._acceleration(q_stage, rates[-1]))
        weights = self.dt * np.array([1.0, 2.0, 2.0, 1.0]) / 6.0
        return pin.integrate(self.model, q, weights @ np.array(rates)), v + weights @ np.array(changes)


def _joint(part: TreePart, R: np.ndarray) -> Any:
    """Return the pin.JointModel of ``part``: spherical for a ball, revolute for a hinge, prismatic for a slide.

    ``R`` (3, 3): axes of the joint's frame, joint to world, in the reference configuration.
    """
    import pinocchio as pin

    if part.kind == "ball":
        return pin.JointModelSpherical()
    kind = pin.JointModelRevoluteUnaligned if part.kind == "hinge" else pin.JointModelPrismaticUnaligned
    return kind(R.T @ part.axes[:, 0])


def _se3(pose: Pose) -> Any:
    """Return ``pose`` as a pin.SE3."""
    import pinocchio as pin

    return pin.SE3(np.ascontiguousarray(pose.R), np.ascontiguousarray(pose.p))
