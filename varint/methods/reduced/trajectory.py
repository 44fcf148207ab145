"""A recorded motion with its reduced coordinates."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from varint.kinematics.frames import JointFrames, continued_coordinates, joint_coordinates, start_near, with_world
from varint.methods.reduced.bearing_friction import friction_named
from varint.methods.reduced.charts import CHARTS, EXPONENTIAL
from varint.methods.reduced.ground import contact_named
from varint.methods.reduced.ground_points import forces_at_points
from varint.methods.reduced.integrators import integrator_named
from varint.model.forces.driven import Driven
from varint.model.forces.joint_compliance import JointCompliance
from varint.model.joints.base import Joint
from varint.model.known_forces import USES, is_body_contact, is_impulsive, refuse
from varint.model.motion import motion_subspace
from varint.results.by_name import ByName, by_contact
from varint.results.forces import Forces, forces_at
from varint.results.inputs.courses import moved_by_rows, moved_coordinates
from varint.results.node_watch import judge_nodes
from varint.results.prescribed_motions import efforts_by_name, rates_of_motions
from varint.results.reactions import accelerations_and_reactions
from varint.results.record import Record
from varint.results.since import turns_before, turns_of_laws
from varint.results.touching import ContactForces, TouchingPoints, touching_points
from varint.runs.trajectory import Trajectory


class ReducedTrajectory(Trajectory):
    """A `Trajectory` found in reduced coordinates; its poses and velocities follow from them.

    Attributes
    ----------
    q : (T, nq) coordinates of the tree joints, m, rad; free rotations jump where their chart is left
    qdot : (T, nq) their rates, m/s, rad/s
    columns : dict of joint name, or "base of BODY" for a floating base, to slice: its columns; without cut joints
    evaluations : int
        How often the accelerations, or the residual of a step, were evaluated.
    charts : dict of joint name to (T,) names: the chart of its free rotation, its last three columns
    driving : dict of joint name to efforts (T, dof), N, N m, that the motion of prescribed joints takes; of floating
        bases that forces move by "base of BODY"
    stopping : (T, forces) efforts of hard stops, N, N m
    friction : dict of the name of a `JointCoulombFriction` to its efforts (T, d), N m, N, on body b along the free
        motions of its joint, turns first
    contact_force : dict of the name of a hard contact to the force (T, 3), N, world, on its body, of a `Contact` on
        ``body_a``
    penetration : dict of the name of a hard contact to its depth (T,), m
    largest_penetration : (T,) m, the largest of these

    With hard stops, joint friction or hard contacts, efforts of these, but for contacts between shapes, and of
    prescribed joints are the impulses since the last recorded node over the time: the holding effort at rest, a peak at
    an impact. The first node repeats the second. Accelerations and reactions are with these efforts.
    """

    def _between(self, record: Record, counted: Mapping[str, np.ndarray]) -> Trajectory:
        return Trajectory(record, counted)  # q and qdot are known at the nodes only

    @property
    def evaluations(self) -> int:
        """Number of evaluations of the accelerations, or of the residual of a step."""
        return self.record.counts.evaluations

    @property
    def q(self) -> np.ndarray:
        """(T, nq) coordinates of the tree joints, m, rad."""
        return self.nodes["q"]

    @property
    def qdot(self) -> np.ndarray:
        """(T, nq) their rates, m/s, rad/s."""
        return self.nodes["qdot"]

    @cached_property
    def columns(self) -> dict[str, slice]:
        """Joint name to its columns of ``q``."""
        return {name: slice(*ends) for name, ends in self.record.layout["columns"].items()}

    @cached_property
    def charts(self) -> dict[str, np.ndarray]:
        """Joint name to (T,) names of the charts of its free rotation."""
        names = np.array(CHARTS)[self.nodes["chart"]]
        return {name: names[:, k] for k, name in enumerate(self.record.layout["charts"])}

    @cached_property
    def driving(self) -> dict[str, np.ndarray]:
        """Joint name to the efforts (T, dof), N, N m, that the motion of prescribed joints takes."""
        impulsive = self.record.layout["contacts"]
        efforts = mean_rates(self.nodes["driving_impulse"], self.t) if impulsive else self.nodes["driving"]
        return _parts(efforts, self.record.layout["driving"])

    @cached_property
    def stopping(self) -> np.ndarray:
        """(T, forces) efforts of hard stops, N, N m."""
        impulsive = self.record.layout["contacts"]
        return mean_rates(self.nodes["stopping_impulse"], self.t) if impulsive else np.zeros_like(self.work)

    @cached_property
    def friction(self) -> dict[str, np.ndarray]:
        """Name of a `JointCoulombFriction` to its efforts (T, d), N m, N."""
        impulsive = self.record.layout["contacts"]
        efforts = mean_rates(self.nodes["friction_impulse"], self.t) if impulsive else np.zeros((len(self), 0))
        return _parts(efforts, self.record.layout["friction"])

    @cached_property
    def contact_force(self) -> Mapping[str, np.ndarray]:
        """Name of a `HardContact` to the force (T, 3), N, world, of the plane on its body.

        And of a `Contact` to that on ``body_a`` at the nodes, as in `Trajectory`.
        """
        on_planes = {name: wrench[:, :3] for name, wrench in self._contact_wrench.items()}
        return by_contact(on_planes | self._of_shapes().by_name)

    @cached_property
    def contacts(self) -> TouchingPoints:
        """Points where hard contacts touch, as in `Trajectory`; of a `HardContact` its force and torque is recorded.

        At more points than determine them, the least forces there that make up the force, and the torque as far as they
        can: means since the last recorded node, at the lowest points of the node.
        """
        rows = forces_at_points(self.mechanism, self.position, self.quat_wxyz, self._contact_wrench)
        shapes = self._of_shapes().rows
        if shapes.size:
            rows[:, rows.shape[1] - shapes.shape[1] :] = shapes[: len(rows)]
        return touching_points(self.mechanism, self.t, rows)

    def _of_shapes(self) -> ContactForces:
        """Return the forces of contacts between shapes at the nodes."""
        touches = any(is_body_contact(self.mechanism, force) for force in self.mechanism.forces)
        return self._contact_forces if touches and self._dynamics else ContactForces()

    @cached_property
    def _contact_wrench(self) -> dict[str, np.ndarray]:
        """Name of a `HardContact` to force and torque (T, 6) about the centre of mass, world."""
        ranges = self.record.layout.get("ground", {})
        return _parts(mean_rates(self.nodes["ground_impulse"], self.t), ranges) if ranges else {}

    @cached_property
    def rates(self) -> Mapping[str, np.ndarray]:
        """Rates as in `Trajectory`; columns of ``qdot`` (T, 6) of floating bases are named "base of BODY"."""
        joints = super().rates
        bases = {name: self.qdot[:, base] for name, base in self.columns.items() if name not in joints}

        def find(name: str) -> str:
            return name if name in bases else self.mechanism.joint(name).name

        def rates(name: str) -> np.ndarray:
            return bases[name] if name in bases else joints[name]

        return ByName({**self.mechanism.joint_index, **dict.fromkeys(bases, -1)}, find, rates)

    @property
    def _moved(self) -> dict[str, str]:
        """Name of each force that moves a floating body to that of its joint."""
        return self.record.layout.get("moved", {})

    @property
    def _step_tolerance(self) -> float | None:
        """Relative tolerance by which the integrator chose its steps; None for steps without error control."""
        return None if integrator_named(self.settings["integrator"]).fixed else self.settings["rtol"]

    @cached_property
    def unresolved_body(self) -> np.ndarray:
        """(T,) number of a body at nodes where energy jumped or joints are open, -1 elsewhere, see `unresolved`.

        Of integrators for stiff forces in steps of one size, which dissipate, joints alone are judged.
        """
        kind = integrator_named(self.settings["integrator"])
        return judge_nodes(self, by_energy=not (kind.fixed and kind.stiff))

    @property
    def is_driven(self) -> bool:
        """Whether a motion is prescribed."""
        return bool(self.driving) or super().is_driven

    @property
    def _work_between(self) -> np.ndarray:
        """(T - 1,) J, of loads and prescribed joints."""
        impulsive = any(is_impulsive(self.mechanism, force) for force in self.mechanism.forces)
        work = np.zeros(len(self.t) - 1)
        for name, effort in self.driving.items():
            rates = self.qdot[:, self.columns[name]]
            mean = effort[1:] if impulsive else 0.5 * (effort[1:] + effort[:-1])
            work += np.sum(mean * 0.5 * (rates[1:] + rates[:-1]), axis=1) * np.diff(self.t)
        for k, force in moved_by_rows(self.mechanism):
            if force.name not in self._moved:
                power = self._powers[:, k]
                work += 0.5 * (power[1:] + power[:-1]) * np.diff(self.t)
        return super()._work_between + work

    @cached_property
    def force(self) -> Mapping[str, np.ndarray]:
        """Force name to its effort (T,), N or N m, as in `Trajectory`, that of a prescribed motion from `driving`.

        That of a `HardContact` is its normal force, that of a `JointCoulombFriction` along the coordinate of its joint,
        on body b. Where there are more, it has no sign: of a ball the torque, of a pin that turns and slides the force
        between the surfaces.
        """
        return efforts_by_name(self, self._efforts)

    @cached_property
    def forces_along(self) -> Forces:
        """Efforts, powers and potentials of all forces, see `Forces`."""
        arrays = self.position, self.quat_wxyz, self.velocity, self.angular_velocity
        inputs = self.command + self.stopping, self.law_states, turns_before(self)  # a stop's input
        return forces_at(self.mechanism, *arrays, *inputs)

    @cached_property
    def _dynamics(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Accelerations, reactions and efforts of constraints at the nodes.

        The efforts of drives, joint friction and contacts with planes are loads; other constraints, and contacts
        between shapes, are solved for.
        """
        refuse(self.mechanism, USES["reactions"])
        forces, of_element = self.mechanism.forces, self.mechanism.compiled.force
        by_rows = {k for k, _ in moved_by_rows(self.mechanism)}
        with_rows = {k for k, f in enumerate(forces) if f.constraint and not isinstance(f, Driven)}
        soft = {k for k, f in enumerate(forces) if isinstance(f, JointCompliance)}  # of the joints, in any copy
        shapes = {k for k, f in enumerate(forces) if is_body_contact(self.mechanism, f)}
        held = sorted(by_rows | with_rows | soft | shapes)
        mechanism = replace(self.mechanism, forces=[forces[k] for k in held])
        arrays = self.position, self.quat_wxyz, self.velocity, self.angular_velocity
        load = self.load + self.forces_along.load + self._exerted
        bend = rates_of_motions(self, mechanism)[1]
        acceleration, reaction, held_efforts = accelerations_and_reactions(
            mechanism,
            load,
            *arrays,
            bend,
            with_terms=bool(shapes),
            contact_forces=self._contact_forces,
            turns=turns_of_laws(self, mechanism),
        )
        efforts = np.zeros((len(self.t), len(of_element)))
        efforts[:, np.isin(of_element, held)] = held_efforts
        for k, force in moved_coordinates(forces):
            if k not in by_rows:
                efforts[:, of_element == k] = self.driving[force.joint]
        return acceleration, reaction, efforts

    @property
    def _exerted(self) -> np.ndarray:
        """(T, nb, 6) load of drives, joint friction and contacts: force, N, world, and torque, N m, body axes."""
        x, R = with_world(self.position, self.quat_wxyz)
        load = np.zeros((*x.shape[:2], 6))
        for name, wrench_at in self._contact_wrench.items():
            body = self.mechanism.body_index[contact_named(self.mechanism, name).body]
            load[:, body, :3] += wrench_at[:, :3]
            load[:, body, 3:] += (wrench_at[:, None, 3:] @ R[:, body])[:, 0]
        wrenches = []  # on body b, in axes of the joint's frame there
        moved = set(self._moved.values())  # by forces that are constraints
        for name, effort in self.driving.items():
            if name in moved:
                continue
            joint, q = self.mechanism.joint(name), self.q[:, self.columns[name]]
            subspaces = [motion_subspace(joint, coordinates) for coordinates in q]
            wrenches.append(
                (joint, [np.linalg.pinv(S).T @ wrench_at for S, wrench_at in zip(subspaces, effort, strict=True)])
            )
        for name, effort in self.friction.items():
            force = friction_named(self.mechanism, name)
            joint = self.mechanism.joint(force.joint)
            wrenches.append((joint, effort @ force.surface(joint).free.T))
        for joint, wrench in wrenches:
            frames = JointFrames(self.mechanism, joint)
            for k in range(len(load)):
                load[k, [frames.a, frames.b]] += np.tensordot(wrench[k], frames.twist_jacobian(x[k], R[k]), 1)
        return load[:, :-1]

    @property
    def _efforts(self) -> np.ndarray:
        efforts = self.forces_along.effort.copy()
        shapes = (is_body_contact(self.mechanism, force) for force in self.mechanism.forces)
        if any(force.constraint for force in self.mechanism.forces) or any(shapes):
            efforts += self.mechanism.compiled.by_force(self._dynamics[2])
        for name, effort in self.friction.items():
            radius = friction_named(self.mechanism, name).radius
            efforts[:, self.mechanism.force_index[name]] = _size(effort, radius)
        for name, wrench in self._contact_wrench.items():
            along = wrench[:, :3] @ contact_named(self.mechanism, name).normal
            efforts[:, self.mechanism.force_index[name]] = along
        return efforts

    @property
    def _powers(self) -> np.ndarray:
        powers = super()._powers.copy()
        for k, force in enumerate(self.mechanism.forces):
            if is_impulsive(self.mechanism, force):
                powers[:, k] = mean_rates(self.work[:, k], self.t)
        return powers

    def _coordinates(self, joint: Joint, near: np.ndarray | None = None) -> np.ndarray:
        """Return columns of ``q``; measured for cut and compliant joints; rotation vectors for Euler angles."""
        measured = joint.compliant or joint.name not in self.columns
        if measured or np.any(self.charts.get(joint.name, EXPONENTIAL) != EXPONENTIAL):
            return joint_coordinates(self.mechanism, joint, self.position, self.quat_wxyz, near)
        q = continued_coordinates(joint, self.q[:, self.columns[joint.name]].copy())
        if near is not None and len(q):
            start_near(joint, q, near)
        return _single(q)


def _single(columns: np.ndarray) -> np.ndarray:
    return columns[:, 0] if columns.shape[1] == 1 else columns


def _size(effort: np.ndarray, radius: float) -> np.ndarray:
    """Return the sizes (T,) of the efforts (T, d) of joint friction: one coordinate, a turn and a slide, or a ball."""
    if effort.shape[1] == 1:
        return effort[:, 0]
    units = [radius, 1.0] if effort.shape[1] == 2 else np.ones(3)
    return np.linalg.norm(effort / units, axis=1)


def _parts(columns: np.ndarray, ranges: Mapping[str, Sequence[int]]) -> dict[str, np.ndarray]:
    return {name: columns[:, first:last] for name, (first, last) in ranges.items()}


def mean_rates(sums: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return the change (T, ...) of ``sums`` (T, ...) since the last node over the time; first as second."""
    if len(t) < 2:
        return np.zeros_like(sums)
    rates = np.diff(sums, axis=0) / np.diff(t).reshape(-1, *[1] * (sums.ndim - 1))
    return np.concatenate([rates[:1], rates])
