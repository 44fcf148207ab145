"""Exudyn as a peer: maximal coordinates, all joints as algebraic constraints, implicit solvers."""

from typing import Any

import numpy as np

from varint.extras.peers.base import BodyMotion, Simulator, register
from varint.extras.peers.joint_efforts import constant_effort
from varint.files.robots.kinds import Composite, Free, JointDamper, JointServo, Motor, Spring, TorsionSpring
from varint.files.robots.robot import Pose
from varint.model.body import WORLD
from varint.model.forces.base import Force
from varint.model.joints.base import Joint
from varint.model.motion import Ball, Slide, Turn
from varint.model.rotation_vectors import rotation_matrix
from varint.model.state import State

TOLERANCE = 1e-10  # of Exudyn's Newton iterations, below the default 1e-8
MOST_STEPS = 10**7  # with which Exudyn's solver is set up; steps are requested one by one, and may be more
TO_Z = np.array([[[0, 0, 1], [1, 0, 0], [0, 1, 0]], [[0, 1, 0], [0, 0, 1], [1, 0, 0]], np.eye(3)])  # axis k comes last


@register
class Exudyn(Simulator):
    """Simulate with Exudyn's implicit solvers: rigid bodies with Euler parameters, a constraint for each joint.

    Exudyn's C++ loop cannot be interrupted before the end of a simulation, so a loop in Python calls its steps.
    """

    name = package = distribution = "exudyn"
    integrators = {
        "alpha": "generalized alpha, constraints of positions, spectral radius 0.9",
        "trapezoidal": "trapezoidal rule, constraints of velocities",
    }
    loops = "algebraic constraints, as all joints"

    def build(self) -> None:
        """See `Simulator`."""
        for joint in self.mechanism.joints:
            if not isinstance(joint, Free) and _free_axes(joint) is None:
                self.refused.append(f"joint '{joint.name}', a {type(joint).__name__}")
        self.refuse_forces(self._unsupported)
        poses = {body.name: Pose(rotation_matrix(body.quat_wxyz), body.position) for body in self.mechanism.bodies}
        self.pose = {WORLD: Pose(np.eye(3), np.zeros(3)), **poses}

    def start(self, state: State) -> None:
        """See `Simulator`: bodies are made where they start, so that their displacements begin at zero."""
        import exudyn
        from exudyn.utilities import RigidBodyInertia

        self.system = mbs = exudyn.SystemContainer().AddSystem()
        self.numbers = {WORLD: mbs.CreateGround()}
        for number, body in enumerate(self.mechanism.bodies):
            R = rotation_matrix(state.quat_wxyz[number])
            inertia = RigidBodyInertia(body.mass, np.array(body.inertia), np.zeros(3))
            self.numbers[body.name] = mbs.CreateRigidBody(
                inertia=inertia,
                referencePosition=state.position[number].tolist(),
                referenceRotationMatrix=R,
                initialVelocity=state.velocity[number].tolist(),
                initialAngularVelocity=(R @ state.angular_velocity[number]).tolist(),
                gravity=list(self.mechanism.gravity),
            )
        for joint in self.mechanism.joints:
            if not isinstance(joint, Free):
                self._add_joint(joint)
        for force in self.mechanism.forces:
            if force not in self.stops:
                self._add_force(force)
        self._add_sensors()
        mbs.Assemble()
        self._add_solver()

    def advance(self, steps: int) -> list[np.ndarray]:
        """See `Simulator`: returns an array (steps, nb, components) for each quantity of `BodyMotion`."""
        before, solver, of = self.recorded(), self.solver, (self.system, self.settings)
        try:
            for _ in range(steps):
                solver.it.currentStepSize = self.dt
                solver.UpdateCurrentTime(*of)
                solver.InitializeStep(*of)
                if not solver.DiscontinuousIteration(*of):
                    self.stopped = "was not solved by exudyn"
                    break
                solver.FinishStep(*of)
        except Exception as problem:  # its own kinds derive from this only
            self.stopped = f"stopped in exudyn: {str(problem).splitlines()[0]}"
        rows = [[self.system.GetSensorStoredData(sensor)[before:, 1:] for sensor in each] for each in self.sensors]
        return [np.stack(each, axis=1) for each in rows]

    def motion(self, states: Any) -> BodyMotion:
        """See `Simulator`."""
        position, rotation, velocity, spin = states
        return BodyMotion(position, rotation.reshape(*rotation.shape[:2], 3, 3), velocity, spin)

    def recorded(self) -> int:
        """Return the number of recorded nodes."""
        return len(self.system.GetSensorStoredData(self.sensors[0][0]))

    # ------------------------------------------------------------------------------------------------- the model

    def _unsupported(self, force: Force) -> str | None:
        """Return why ``force`` is refused, "" if its kind is not supported, or None if it is supported."""
        if type(force) is Spring:
            return None
        if not isinstance(force, TorsionSpring | JointDamper | Motor | JointServo):
            return ""
        joint = self.mechanism.joint(force.joint)
        if (
            isinstance(joint, Composite)
            or len(joint.allowed) <= (force.coordinate or 0)
            or _along(joint, force) is None
        ):
            return " on a joint that has no such hinge or slide"
        return constant_effort(force)[1]

    def _markers(self, joint: Joint, turn: np.ndarray) -> list:
        """Return markers at the anchors of a joint on both bodies, in its axes times ``turn`` (3, 3)."""
        points = zip((joint.body_a, joint.body_b), self.mechanism.anchors(joint), strict=True)
        return [self._marker(body, point, joint.frame @ turn) for body, point in points]

    def _marker(self, name: str, point: np.ndarray, axes: np.ndarray) -> Any:
        """Return a marker of a body: a point and axes, world, in the reference configuration of the mechanism."""
        import exudyn
        from exudyn.utilities import MarkerBodyRigid

        local = self.pose[name].inverse() @ Pose(axes, point)
        place = exudyn.HT(rotation=local.R, translation=local.p)
        return self.system.AddMarker(MarkerBodyRigid(bodyNumber=self.numbers[name], localHT=place))

    def _add_joint(self, joint: Joint) -> None:
        """Add the constraint of ``joint`` to the system."""
        from exudyn.utilities import ObjectJointGeneric

        held = [0 if free else 1 for free in _free_axes(joint) or ()]
        self.system.AddObject(ObjectJointGeneric(markerNumbers=self._markers(joint, np.eye(3)), constrainedAxes=held))

    def _add_force(self, force: Any) -> None:
        """Add ``force``, one that `_unsupported` does not refuse, to the system as a spring-damper."""
        from exudyn.utilities import LinearSpringDamper, SpringDamper, TorsionalSpringDamper

        laws = {"stiffness": getattr(force, "stiffness", 0.0), "damping": getattr(force, "damping", 0.0)}
        if isinstance(force, Spring):
            markers = [self._marker(body, np.asarray(point), np.eye(3)) for body, point in force.course()]
            self.system.AddObject(SpringDamper(markerNumbers=markers, referenceLength=force.rest_length, **laws))
            return
        joint = self.mechanism.joint(force.joint)
        motion: Any = _along(joint, force)
        laws["markerNumbers"] = self._markers(joint, TO_Z[motion.axis].T)
        effort = constant_effort(force)[0]
        if isinstance(motion, Slide):
            self.system.AddObject(LinearSpringDamper(axisMarker0=[0.0, 0.0, 1.0], force=-effort, **laws))
        else:
            self.system.AddObject(TorsionalSpringDamper(torque=-effort, **laws))

    def _add_sensors(self) -> None:
        """Add a sensor for each quantity of `BodyMotion` and each body: ``sensors[quantity][body]``."""
        import exudyn
        from exudyn.utilities import SensorBody

        kind = exudyn.OutputVariableType
        wanted = kind.Position, kind.RotationMatrix, kind.Velocity, kind.AngularVelocityLocal
        bodies = [self.numbers[body.name] for body in self.mechanism.bodies]
        self.sensors = [
            [
                self.system.AddSensor(
                    SensorBody(bodyNumber=body, storeInternal=True, writeToFile=False, outputVariableType=quantity)
                )
                for body in bodies
            ]
            for quantity in wanted
        ]

    def _add_solver(self) -> None:
        """Make and initialise the solver of ``integrator``, and its ``settings``."""
        import exudyn

        self.settings = settings = exudyn.SimulationSettings()
        integration, alpha = settings.timeIntegration, settings.timeIntegration.generalizedAlpha
        integration.numberOfSteps, integration.endTime = MOST_STEPS, MOST_STEPS * self.dt
        integration.newton.relativeTolerance = TOLERANCE
        integration.verboseMode = 0
        settings.solution.file.write = False
        settings.solution.sensors.writePeriod = 0.5 * self.dt  # each step, whatever its round-off
        settings.linearSolver.solverType = exudyn.LinearSolverType.EigenDense
        settings.linearSolver.ignoreSingularJacobian = True  # redundant constraints of loops
        alpha.useNewmark = alpha.useIndex2Constraints = self.integrator == "trapezoidal"
        alpha.spectralRadius = 0.9
        self.solver = exudyn.MainSolverImplicitSecondOrder()
        self.solver.InitializeSolver(self.system, settings)


def _free_axes(joint: Joint) -> list[bool] | None:
    """Return which of 3 displacements along and 3 rotations about the axes of ``joint`` are free.

    None if Exudyn's generic joint cannot represent it: its displacements are along axes fixed to body a, so that no
    slide may follow a rotation about another axis.
    """
    if isinstance(joint, Composite):
        return None
    free, turned = [False] * 6, None
    for motion in joint.allowed:
        if isinstance(motion, Slide) and turned in (None, motion.axis):
            free[motion.axis] = True
        elif isinstance(motion, Turn) and turned is None:
            free[3 + motion.axis], turned = True, motion.axis
        elif isinstance(motion, Ball) and turned is None:
            free[3:], turned = [True] * 3, -1
        else:
            return None
    return free


def _along(joint: Joint, force: Any) -> Turn | Slide | None:
    """Return the motion of ``joint`` along whose coordinate ``force`` acts; None for a coordinate of a ball."""
    first = 0
    for motion in joint.allowed:
        if first == (force.coordinate or 0):
            return motion if isinstance(motion, Turn | Slide) else None
        first += 3 if isinstance(motion, Ball) else 1
    return None
