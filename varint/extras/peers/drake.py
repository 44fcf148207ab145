"""Drake: joint coordinates, a discrete plant with constraints of closed loops, or a continuous one without."""

from typing import Any

import numpy as np

from varint.base.errors import PeerError
from varint.extras.peers.base import BodyMotion, Simulator, register
from varint.extras.peers.joint_efforts import LinearEffort, linear_efforts
from varint.files.robots.kinds import Fixed, Spring
from varint.files.robots.motion_tree import MotionTree
from varint.files.robots.robot import Pose
from varint.model.body import WORLD
from varint.model.rotation_vectors import rotation_matrix
from varint.model.state import State

CONTINUOUS = {"rk3": "runge_kutta3", "rk2": "runge_kutta2"}  # names of integrators in Drake


@register
class Drake(Simulator):
    """Drake's simulator in C++ over a MultibodyPlant, discrete by default.

    Closed loops are ball and weld constraints of the discrete plant's SAP solver; continuous plants support no loops.
    """

    name = "drake"
    package = "pydrake"
    distribution = "drake"
    integrators = {
        "discrete": "semi-implicit Euler of the discrete plant, with the SAP solver",
        "rk3": "Runge-Kutta of order 3 in fixed steps, without loops",
        "rk2": "Runge-Kutta of order 2 in fixed steps, without loops",
    }
    loops = "ball and weld constraints of the SAP solver, between bodies"

    def build(self) -> None:
        """See `Simulator`."""
        # its constraints crash where a body is the world
        self.tree = tree = MotionTree(self.mechanism, grounded=True)
        efforts = linear_efforts(self, tree, besides=(Spring,))
        closing = [joint for joint in tree.closing if tree.closes(joint)]
        if self.integrator in CONTINUOUS:
            self.refused += [f"joint '{joint.name}' that closes a loop in a continuous plant" for joint in closing]
        to_world = [joint for joint in closing if WORLD in (joint.body_a, joint.body_b)]
        self.refused += [f"joint '{joint.name}' that closes a loop at the world" for joint in to_world]
        self.refused += tree.refused
        for force in self.mechanism.forces:
            if type(force) is Spring and not force.rest_length:
                self.refused.append(f"force '{force.name}', a Spring of no rest length")
        if self.refused:
            return
        try:
            self._build(closing, efforts)
        except RuntimeError as problem:
            first = str(problem).splitlines()[0]
            raise PeerError(f"drake does not take '{self.mechanism.name}': {first}") from None

    def _build(self, closing: list, efforts: Any) -> None:
        from pydrake.multibody.plant import DiscreteContactApproximation, MultibodyPlant
        from pydrake.systems.analysis import Simulator as Stepping
        from pydrake.systems.framework import DiagramBuilder
        from pydrake.systems.primitives import LogVectorOutput

        builder = DiagramBuilder()
        self.plant = plant = builder.AddSystem(MultibodyPlant(0.0 if self.integrator in CONTINUOUS else self.dt))
        if self.integrator not in CONTINUOUS:
            plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
        plant.mutable_gravity_field().set_gravity_vector(np.array(self.mechanism.gravity))
        self.joints: dict[str, Any] = {}  # by the names of parts
        self.bodies = {WORLD: plant.world_body()}
        for branch in self.tree.depth_first():
            self._add_branch(branch, efforts)
        self._close(closing)
        for force in self.mechanism.forces:
            if type(force) is Spring:
                self._add_spring_of_points(force)
        plant.Finalize()
        self.log = LogVectorOutput(plant.get_state_output_port(), builder, self.dt)
        diagram = builder.Build()
        self.simulator = Stepping(diagram)
        self.context = plant.GetMyMutableContextFromRoot(self.simulator.get_mutable_context())
        self._fix_efforts(efforts)
        self._choose_integrator()

    def start(self, state: State) -> None:
        """See `Simulator`."""
        from pydrake.math import RigidTransform, RollPitchYaw, RotationMatrix
        from pydrake.multibody.math import SpatialVelocity

        for branch, parts in self.tree.states(state):
            for part, q, rate in parts:
                if part is None:
                    R, body = rotation_matrix(q[3:]), self.bodies[branch.body]
                    self.plant.SetFreeBodyPose(self.context, body, RigidTransform(RotationMatrix(R), q[:3]))
                    moving = SpatialVelocity(R @ rate[3:], rate[:3])
                    self.plant.SetFreeBodySpatialVelocity(self.context, body, moving)
                    continue
                joint = self.joints[part.name]
                if part.kind == "ball":
                    R = rotation_matrix(q)
                    joint.set_angles(self.context, RollPitchYaw(RotationMatrix(R)).vector())
                    joint.set_angular_velocity(self.context, R @ rate)
                elif part.kind == "hinge":
                    joint.set_angle(self.context, q[0])
                    joint.set_angular_rate(self.context, rate[0])
                else:
                    joint.set_translation(self.context, q[0] - part.reference)
                    joint.set_translation_rate(self.context, rate[0])
        self.simulator.get_mutable_context().SetTime(0.0)
        self.simulator.Initialize()
        self.done = 0
        self._cleared_log()

    def advance(self, steps: int) -> np.ndarray:
        """See `Simulator`; (steps, nq + nv)."""
        try:
            self.simulator.AdvanceTo((self.done + steps) * self.dt)
        except RuntimeError as problem:  # its solvers raise where they do not converge
            self.stopped = f"stopped in drake: {str(problem).splitlines()[0]}"
        states = self._cleared_log()
        finite = np.isfinite(states).all(axis=1)
        if not finite.all():  # Drake ends the process where a plant is set to such numbers
            self.stopped, states = "gave numbers that are not finite", states[: np.argmin(finite)]
        self.done += len(states)
        return states

    def motion(self, states: Any) -> BodyMotion:
        """See `Simulator`."""
        plant = self.plant
        context = plant.CreateDefaultContext()
        n, bodies = len(states), [self.bodies[body.name] for body in self.mechanism.bodies]
        position, velocity, spin = np.empty((3, n, len(bodies), 3))
        rotation = np.empty((n, len(bodies), 3, 3))
        for k, row in enumerate(states):
            plant.SetPositionsAndVelocities(context, row)
            for number, body in enumerate(bodies):
                pose, moving = body.EvalPoseInWorld(context), body.EvalSpatialVelocityInWorld(context)
                R = pose.rotation().matrix()
                position[k, number], rotation[k, number] = pose.translation(), R
                velocity[k, number], spin[k, number] = moving.translational(), R.T @ moving.rotational()
        return BodyMotion(position, rotation, velocity, spin)

    # ------------------------------------------------------------------------------------------------- the model

    def _add_branch(self, branch: Any, efforts: Any) -> None:
        """Add the body of a branch, with a massless link between two parts of its joint."""
        from pydrake.multibody.tree import (
            BallRpyJoint,
            PrismaticJoint,
            RevoluteJoint,
            RotationalInertia,
            SpatialInertia,
            WeldJoint,
        )

        plant, body, pose = self.plant, self.mechanism.body(branch.body), self.tree.pose[branch.body]
        I = np.array(body.inertia)
        inertia = RotationalInertia(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
        spatial = SpatialInertia.MakeFromCentralInertia(body.mass, np.zeros(3), inertia)
        body_of_plant = self.bodies[body.name] = plant.AddRigidBody(body.name, spatial)
        parts = self.tree.parts_of(branch)
        above, frame = self.bodies[branch.above], self.tree.pose[branch.above]
        if branch.joint is not None and not parts:
            ends = self._frame(above, frame, pose, f"{body.name}: weld"), body_of_plant.body_frame()
            plant.AddJoint(WeldJoint(branch.joint.name, *ends, _transform(Pose(np.eye(3), np.zeros(3)))))
        for number, part in enumerate(parts):
            last = number == len(parts) - 1
            child = body_of_plant if last else plant.AddRigidBody(f"{part.name}: link", SpatialInertia.Zero())
            at = Pose(pose.R, part.point)
            child_frame = pose if last else at
            ends = (
                self._frame(above, frame, at, f"{part.name}: a"),
                self._frame(child, child_frame, at, f"{part.name}: b"),
            )
            if part.kind == "ball":
                joint = BallRpyJoint(part.name, *ends)
            else:
                kind = RevoluteJoint if part.kind == "hinge" else PrismaticJoint
                damping = efforts[part.name].damping if part.name in efforts else 0.0
                joint = kind(part.name, *ends, pose.R.T @ part.axes[:, 0], damping=damping)
            self.joints[part.name] = plant.AddJoint(joint)
            self._add_spring(part, efforts)
            above, frame = child, child_frame

    def _add_spring(self, part: Any, efforts: Any) -> None:
        from pydrake.multibody.tree import PrismaticSpring, RevoluteSpring

        if part.name in efforts and efforts[part.name].stiffness:
            kind = RevoluteSpring if part.kind == "hinge" else PrismaticSpring
            self.plant.AddForceElement(kind(self.joints[part.name], -part.reference, efforts[part.name].stiffness))

    def _add_spring_of_points(self, force: Spring) -> None:
        from pydrake.multibody.tree import LinearSpringDamper

        ends: list = []
        for body, point in force.course():
            ends += [self.bodies[body], (self.tree.pose[body].inverse() @ Pose(np.eye(3), np.asarray(point))).p]
        assert force.rest_length is not None  # since it was made
        self.plant.AddForceElement(LinearSpringDamper(*ends, force.rest_length, force.stiffness, force.damping))

    def _frame(self, body: Any, frame: Pose, at: Pose, name: str) -> Any:
        """Return a frame of a body whose own is ``frame``, where ``at`` is in the reference configuration."""
        from pydrake.multibody.tree import FixedOffsetFrame

        return self.plant.AddFrame(FixedOffsetFrame(name, body.body_frame(), _transform(frame.inverse() @ at)))

    def _close(self, closing: list) -> None:
        for joint in closing:
            for _, *points in self.tree.held(joint):
                ends: list = []
                for name, point in zip((joint.body_a, joint.body_b), points, strict=True):
                    local = self.tree.pose[name].inverse() @ Pose(np.eye(3), point)
                    ends += [self.bodies[name], _transform(local) if isinstance(joint, Fixed) else local.p]
                add = self.plant.AddWeldConstraint if isinstance(joint, Fixed) else self.plant.AddBallConstraint
                add(*ends)

    def _fix_efforts(self, efforts: Any) -> None:
        constant = np.zeros(self.plant.num_velocities())
        effort: LinearEffort
        for name, effort in efforts.items():
            constant[self.joints[name].velocity_start()] = effort.constant
        self.plant.get_applied_generalized_force_input_port().FixValue(self.context, constant)

    def _choose_integrator(self) -> None:
        from pydrake.systems.analysis import ResetIntegratorFromFlags

        if self.integrator in CONTINUOUS:
            integrator = ResetIntegratorFromFlags(self.simulator, CONTINUOUS[self.integrator], self.dt)
            integrator.set_fixed_step_mode(True)

    def _cleared_log(self) -> np.ndarray:
        """Return the states logged since the last call (n, nq + nv)."""
        log = self.log.FindMutableLog(self.simulator.get_mutable_context())
        states = log.data().T.copy()
        log.Clear()
        return states


def _transform(pose: Pose) -> Any:
    from pydrake.math import RigidTransform, RotationMatrix

    return RigidTransform(RotationMatrix(pose.R), pose.p)
