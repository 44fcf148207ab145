"""A recorded motion as data, and what follows from it: all of a `Trajectory` but what shows and writes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import Self, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import in_a_shape, is_whole, shown
from varint.base.errors import ArgumentError
from varint.kinematics.frames import joint_coordinates, joint_rates, nearest_coordinates
from varint.model.joints.base import Joint
from varint.model.known_forces import USES, refuse
from varint.model.state import State
from varint.results import trajectory_display
from varint.results.by_name import ByName, by_contact
from varint.results.contact_forces import penetrations
from varint.results.derived import QUANTITIES, evaluated, keeps_energy, left_by
from varint.results.diagnostics import RecordedDiagnostics
from varint.results.forces import Forces, forces_at, path_lengths, path_rates, states_of
from varint.results.friction_powers import powers_of_friction
from varint.results.gaps import largest_speeds, warn_of_lost_turns, warn_of_unknown_motion
from varint.results.interpolation import interpolated, linear
from varint.results.mesh_energies import by_body, node_state
from varint.results.node_turns import carrying_node, followed_at_nodes, start_turns
from varint.results.points import PointPath, Relative, point_path, relative
from varint.results.prescribed_motions import efforts_by_name, powers_of_motions, rates_of_motions
from varint.results.quantities import row_sums
from varint.results.reactions import Reaction, accelerations_and_reactions, return_rate
from varint.results.record import ChosenNodes, Record, checked_slice
from varint.results.recorded_arrays import RecordedArrays
from varint.results.since import followed, summed_work, turns_before
from varint.results.stiff_damping import rates_of_steps, warn_of_shaking
from varint.results.touching import ContactForces, TouchingPoints, touching_points
from varint.step.limits.parts import one_sided
from varint.step.plan import Workspace

Value = TypeVar("Value")


class RecordedMotion(RecordedArrays):
    """Poses and velocities at T recorded nodes, and what follows from them.

    ``len(trajectory)`` is T, ``trajectory[i]`` the `State` at node i, ``trajectory[a:b:c]`` the trajectory of these
    nodes; a loop goes over the states. Quantities such as ``energy`` and ``drift`` are attributes too, see
    `varint.results.derived`. What was worked out is left behind when a trajectory is pickled or copied.

    Attributes
    ----------
    record : Record
        What the run left.
    mechanism : Mechanism
    nodes : Nodes
        The arrays up to ``law_states`` by name, of a large run in a file read when first asked for.
    settings : dict
        Arguments of the run.
    t : (T,) s
    position : (T, nb, 3) m, world; bodies in the order of the mechanism
    quat_wxyz : (T, nb, 4)
    velocity : (T, nb, 3) m/s, world
    angular_velocity : (T, nb, 3) rad/s, body
    load : (T or 1, nb, 6) external force, N, world, and torque, N m, body, without gravity; one for all if constant
    work : (T, forces) J, done by each force since the start of the run; ``work["name"]`` (T,) of one
    command : (T, forces) input of each force, zero where it has none
    law_states : (T, n) states of the laws that have one, in the order of the forces
    newton_iterations, substeps : int
        Newton iterations, and sub-steps beyond one a step, of the whole run.
    steps : int
        Steps done.
    success : bool
    status : int
        0 done, 1 a step did not converge, -1 the run was not finished.
    message : str
    wall_time : float
        Seconds spent stepping.
    """

    _name_in_messages = "Trajectory"
    _from_text = ": vi.load reads a file"

    def __getattr__(self, name: str) -> np.ndarray:
        """Raise AttributeError with the nearest name; called for unknown names, and by types for quantities."""
        if hasattr(type(self), name):
            return object.__getattribute__(self, name)  # a property whose own AttributeError says more
        raise AttributeError(trajectory_display.without_attribute(self, name))

    def __repr__(self) -> str:
        return trajectory_display.text(self)

    def _repr_html_(self) -> str:
        return trajectory_display.in_html(self)

    @cached_property
    def diagnostics(self) -> RecordedDiagnostics | None:
        """Return energy, momenta and drift at their own stride, if ``diagnostics_every`` recorded them."""
        recorded = self.record.diagnostics
        return None if recorded is None else RecordedDiagnostics(self.mechanism, recorded)

    @overload
    def __getitem__(self, index: int) -> State: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> State | Self:
        if not isinstance(index, slice):
            return self.state(index)
        nodes = checked_slice(index, len(self))
        counted = self._by_joint(lambda joint: self._turned[joint.name][nodes])
        part = type(self)(self.record.part(ChosenNodes(self.nodes, nodes)), counted)
        part.__dict__["_followed"] = {force: q[nodes] for force, q in self._followed.items()}
        return part

    def __iter__(self) -> Iterator[State]:
        return (self.state(i) for i in range(len(self)))

    def state(self, i: int) -> State:
        """Return the `State` (`MeshState` with meshes) at node ``i``, -T to T - 1. Raises ArgumentError, IndexError.

        It carries turns and internal variables: methods of one step and fixed size go on from there as this run. To
        'bdf2', to error control and to adaptive steps a node is not all: these go on to within their errors.
        """
        if not is_whole(i):
            raise ArgumentError(f"a node of a trajectory is a whole number, or a slice of them, got {shown(i)}")
        node = int(i)
        if not -len(self) <= node < len(self):
            raise IndexError(f"there is no node {node}: the trajectory has {len(self)}")
        return carrying_node(self, node_state(self.mechanism, self.nodes, node), node % len(self))

    _followed = cached_property(followed_at_nodes)
    _largest_speeds = cached_property(largest_speeds)

    @overload
    def at(self, t: float) -> State: ...
    @overload
    def at(self, t: np.ndarray) -> RecordedMotion: ...
    def at(self, t: ArrayLike) -> State | RecordedMotion:
        """Return the motion between nodes: the `State` at a time ``t``, s, or a `Trajectory` with nodes at times (K,).

        Positions and rotation vectors are Hermite polynomials through the nearest 2 nodes, 4 for schemes above order
        2, 6 above order 6 (2 where a body turns far among them, or where they are spaced very unevenly); velocities are
        their derivatives. So the error is of the order of the scheme, or higher, in the spacing of the nodes; it opens
        joints by as much. Across the jump of an impact it is of order one. Inputs and external loads, work and states
        of laws are linear in between. A SparseNodesWarning reports nodes that are too far apart: a body turns by more
        than pi from one to the next, or the estimated error of its velocity exceeds 2 % of its largest speed (not of
        single steps of a mechanism with hard stops or contacts).

        Raises ArgumentError for times that do not rise, or lie outside those of the nodes.
        """
        times = in_a_shape(t, ((), (None,)), "t", ArgumentError, "a time or a list of times, s")
        chosen, first, last = np.atleast_1d(times), self.t[0], self.t[-1]
        if not chosen.size or chosen[0] < first or chosen[-1] > last or (np.diff(chosen) <= 0).any():
            raise ArgumentError(f"t must be a time, or times that rise, from {first:g} to {last:g} s, got {shown(t)}")
        warn_of_unknown_motion(self, chosen)
        between = self._interpolated(chosen)
        return between if times.ndim else between.state(0)

    def _poses_at(self, times: np.ndarray) -> RecordedMotion:
        """Return `at` rising ``times`` (K,), s, of the nodes for pictures: nothing is said of inaccurate velocities."""
        warn_of_unknown_motion(self, times, velocities=False)
        return self._interpolated(times)

    def _interpolated(self, times: np.ndarray) -> RecordedMotion:
        """Return the motion at rising ``times`` (K,), s, from the first node to the last."""
        nodes = interpolated(self.nodes, times, self.order)
        counted = self._by_joint(lambda joint: linear(self.t, self._turned[joint.name], times))
        between = self._between(self.record.part(nodes), counted)
        between.__dict__["_followed"] = {force: linear(self.t, q, times) for force, q in self._followed.items()}
        return between

    def _between(self, record: Record, counted: Mapping[str, np.ndarray]) -> RecordedMotion:
        """Return the motion of ``record``, whose nodes lie between the nodes of this one."""
        return type(self)(record, counted)

    @property
    def order(self) -> int:
        """Order of the method that made the run; 2 for a user-defined integrator, whose order is unknown."""
        return self.settings.get("order", 2)

    @property
    def _step_tolerance(self) -> float | None:
        """Return the relative tolerance by which the method chose its steps; None for steps without error control."""
        return None

    @property
    def unresolved_body(self) -> np.ndarray:
        """Return the number (T,) of a body whose motion a step did not resolve, else -1, see `unresolved`.

        What the last steps did not resolve belongs to the whole run: a part of it does not have it.
        """
        known = "unresolved_body" in self.nodes  # not of runs by other methods
        bodies = self.nodes["unresolved_body"] if known else np.full(len(self.t), -1)
        ending = int((self.record.checkpoint or {}).get("ending", [-1])[0])  # of the last steps of a run
        return bodies if ending < 0 or bodies[-1] >= 0 else np.append(bodies[:-1], ending)

    @property
    def load(self) -> np.ndarray:
        """Return the external force, N, world, and torque, N m, body, without gravity, (T or 1, nb, 6)."""
        return self.nodes["load"] if self.record.load is None else self.record.load

    def parts(self) -> Iterator[Self]:
        """Yield the same nodes in order, as trajectories that fit in memory, with the quantities of the whole."""
        part = None
        for nodes in self.nodes.parts():
            if nodes is self.nodes:
                yield self
                return
            part = type(self)(self.record.part(nodes), since=self._since if part is None else left_by(part))
            yield part

    @cached_property
    def orientation(self) -> np.ndarray:
        """Return orientations (T, nb), a numpy-quaternion array, a view of ``quat_wxyz``."""
        import quaternion  # slow to import, so only when asked for

        return quaternion.as_quat_array(self.quat_wxyz)

    @property
    def unresolved(self) -> np.ndarray:
        """Return the times (T_u,), s, of recorded nodes before which a step did not resolve the motion.

        In a component of the mechanism (bodies that joints or forces connect) energy came or went without work and did
        not come back: within six steps more than 0.6 % of the largest kinetic energy so far and the work in these
        steps, or more than 5 % in all since the start, or since the last such step, of the largest kinetic energy or
        work so far (docs/theory.md section 6). A step is judged two or three steps later, the last ones at the end of
        the run. Runs in reduced coordinates are judged by their recorded nodes, joints that are open included, and runs
        by methods of the user by open joints alone (`varint.results.node_watch.judge_nodes`).
        """
        return self.t[self.unresolved_body >= 0]

    @cached_property
    def force(self) -> Mapping[str, np.ndarray]:
        """Return the effort (T,) of each force by name, along its length or coordinate, N or N m.

        Of a prescribed motion or coupling: what the equations of motion at each node ask for. Of a prescribed point the
        force (T, 3), of a prescribed body force and torque (T, 6), world.
        """
        return efforts_by_name(self, self._efforts)

    @cached_property
    def power(self) -> Mapping[str, np.ndarray]:
        """Return the power (T,), W, of each force by name."""
        return self._by_force(self._powers)

    @cached_property
    def work_by_force(self) -> Mapping[str, np.ndarray]:
        """Return the work (T,), J, that each force has done since the start of the run, by name: columns of `work`."""
        return self._by_force(self.work)

    @cached_property
    def law_state(self) -> Mapping[str, np.ndarray]:
        """Return the state of each force's law by name, (T,), as an integral or an activation; (T, 0) without one."""
        states = partial(states_of, self.mechanism, self.law_states)
        return ByName(self.mechanism.force_index, self.mechanism.force, states, "force")

    @property
    def contact_force(self) -> Mapping[str, np.ndarray]:
        """Return the force (T, 3), N, world, of each hard contact by name, on its body, of a `Contact` on ``body_a``.

        Of `ContactPairs` that of each pair on its first body, "NAME: first, second".

        What the equations of motion at each node ask for; that of impacts between nodes is not in it.
        """
        return by_contact(self._contact_forces.by_name if self._touches and self._dynamics else {})

    @cached_property
    def contacts(self) -> TouchingPoints:
        """Return the points where hard contacts touch at the nodes, with the forces there, as in `contact_force`."""
        rows = self._contact_forces.rows if self._touches and self._dynamics else np.zeros((0, 0, 10))
        return touching_points(self.mechanism, self.t, rows)

    @cached_property
    def penetration(self) -> Mapping[str, np.ndarray]:
        """Return the depth (T,), m, of each hard contact by name, zero without contact: that of the deepest point of
        a `HardContact`, of the overlap of the shapes of a `Contact`."""
        return by_contact(penetrations(self.mechanism, self.position, self.quat_wxyz))

    @cached_property
    def largest_penetration(self) -> np.ndarray:
        """Return the largest depth (T,), m, of all hard contacts at each node, see `penetration`; zero without any."""
        return np.max([np.zeros(len(self.t)), *self.penetration.values()], axis=0)

    @cached_property
    def length(self) -> Mapping[str, np.ndarray]:
        """Return the length (T,), m, of each force's path by name; (T, 0) without one, see `Tendon`."""
        lengths = partial(path_lengths, self.mechanism, self.forces_along.value)
        return ByName(self.mechanism.force_index, self.mechanism.force, lengths, "force")

    @cached_property
    def length_rate(self) -> Mapping[str, np.ndarray]:
        """Return the rate (T,), m/s, of the length of each force's path by name; (T, 0) without one."""
        rates = partial(path_rates, self.mechanism, self.forces_along.rate)
        return ByName(self.mechanism.force_index, self.mechanism.force, rates, "force")

    @cached_property
    def force_potential(self) -> Mapping[str, np.ndarray]:
        """Return the potential energy (T,), J, of each force by name; zero without one."""
        return self._by_force(self.forces_along.potential)

    @cached_property
    def dissipated(self) -> Mapping[str, np.ndarray]:
        """Return the energy (T,), J, dissipated by each force since the first node, without its potential, by name."""
        potential = self.forces_along.potential
        return self._by_force(potential[0] - potential - (self.work - self.work[0]))

    @cached_property
    def coordinates(self) -> Mapping[str, np.ndarray]:
        """Return the coordinates (T, dof) of each joint by name, (T,) of one coordinate; m, rad.

        Angles go on past pi, rotation vectors as well: no jumps as long as no joint turns by more than pi
        from one recorded node to the next, else a SparseNodesWarning. At the first node they are those of the state
        that the run started from. Those of some of the nodes, and between nodes, have the turns of the whole.
        """

        def checked(joint: Joint) -> np.ndarray:
            if self._counted is None:
                warn_of_lost_turns(self, joint)
            return self._turned[joint.name]

        return self._by_joint(checked)

    @cached_property
    def _turned(self) -> Mapping[str, np.ndarray]:
        """Return ``coordinates`` without a warning about nodes that are far apart."""
        return self._by_joint(self._with_turns)

    def _with_turns(self, joint: Joint) -> np.ndarray:
        if self._counted is not None:
            return nearest_coordinates(joint, self._coordinates(joint), self._counted[joint.name])
        return self._coordinates(joint, start_turns(self.settings).get(joint.name))

    def _coordinates(self, joint: Joint, near: np.ndarray | None = None) -> np.ndarray:
        return joint_coordinates(self.mechanism, joint, self.position, self.quat_wxyz, near)

    @cached_property
    def rates(self) -> Mapping[str, np.ndarray]:
        """Return the rates of coordinates (T, dof) of each joint by name, (T,) of one coordinate; m/s, rad/s."""
        motion = self.position, self.quat_wxyz, self.velocity, self.angular_velocity
        return self._by_joint(lambda joint: joint_rates(self.mechanism, joint, self._turned[joint.name], *motion))

    def path(self, body: str, point: ArrayLike | None = None) -> PointPath:
        """Return the path of a point of ``body``: ``position``, ``velocity`` and ``acceleration`` (T, 3), world.

        ``point`` (3,): where it is in the reference configuration, m, world; the centre of mass where not given.
        """
        return point_path(self, body, point)

    def relative(self, body_a: str, body_b: str) -> Relative:
        """Return the motion of ``body_b`` as seen from ``body_a``, which turns and moves; either may be ``"world"``."""
        return relative(self, body_a, body_b)

    @property
    def vertices(self) -> Mapping[str, np.ndarray]:
        """Name of a deformable body to the places (T, n, 3) of its vertices, m, world."""
        return by_body(self.mechanism, self.nodes, "vertices")

    @property
    def vertex_velocities(self) -> Mapping[str, np.ndarray]:
        """Name of a deformable body to the velocities (T, n, 3) of its vertices, m/s, world."""
        return by_body(self.mechanism, self.nodes, "vertex_velocities")

    @cached_property
    def reactions(self) -> Mapping[str, Reaction]:
        """Return the force (T, 3), N, and torque (T, 3), N m, world, of each joint on its ``body_b``, by name.

        The torque is about the joint's anchor on ``body_b``; ``body_a`` gets the opposite. They balance
        `load`, gravity and the inertia of every body at the pose and velocity of each node. Where joints are
        redundant, the smallest multipliers that do so, see `Mechanism.diagnose`.
        """
        reaction, index = self._dynamics[1], self.mechanism.joint_index
        return self._by_joint(lambda joint: Reaction(*np.split(reaction[:, index[joint.name]], 2, axis=1)))

    @property
    def acceleration(self) -> np.ndarray:
        """Return accelerations (T, nb, 3) of the centres of mass, by the equations of motion, m/s^2, world."""
        return self._dynamics[0][..., :3]

    @property
    def angular_acceleration(self) -> np.ndarray:
        """Return angular accelerations (T, nb, 3), rad/s^2, body."""
        return self._dynamics[0][..., 3:]

    @property
    def is_driven(self) -> bool:
        """Return whether a motion is prescribed."""
        return any(force.constraint and force.commanded for force in self.mechanism.forces)

    @cached_property
    def is_conservative(self) -> bool:
        """Return whether the energy is constant except for the error of steps: only forces with a potential do work."""
        return keeps_energy(self)

    @cached_property
    def work_from_outside(self) -> np.ndarray:
        """Return the work (T,), J, of loads and prescribed joints since the start, summed over the recorded nodes.

        Of prescribed joints in reduced coordinates; in maximal ones ``work`` has theirs.
        """
        return summed_work(self)

    @property
    def _work_between(self) -> np.ndarray:
        """Return the work (T - 1,), J, of `work_from_outside` from node to node, by the trapezoidal rule."""
        velocity = np.concatenate([self.velocity, self.angular_velocity], axis=2)
        power = row_sums(self.load * velocity) if self.load.any() else np.zeros(len(velocity))
        return 0.5 * (power[1:] + power[:-1]) * np.diff(self.t)

    @cached_property
    def _joints(self) -> Workspace:
        """Return joints whose drift follows the coordinates of products of exponentials."""
        return followed(self)

    @cached_property
    def _dynamics(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        refuse(self.mechanism, USES["reactions"])
        warn_of_shaking(self)
        load = self.load + self.forces_along.load
        inputs = self.position, self.quat_wxyz, self.velocity, self.angular_velocity, rates_of_motions(self)[1]
        before = self._contact_forces, turns_before(self), return_rate(self.settings)
        return accelerations_and_reactions(self.mechanism, load, *inputs, True, *before)

    @property
    def _touches(self) -> bool:
        """Return whether there are hard contacts."""
        return bool(self.mechanism.compiled.plan.contacts.body.size)

    @property
    def _jumps(self) -> bool:
        """Return whether velocities may jump, at hard stops and contacts."""
        return self._touches or bool(one_sided(self.mechanism.compiled.plan).measure.size)

    @cached_property
    def _contact_forces(self) -> ContactForces:
        """Return the contact forces, which `_dynamics` fills, see `contact_force`."""
        return ContactForces()

    @cached_property
    def forces_along(self) -> Forces:
        """Return efforts, powers and potentials of all forces, see `Forces`."""
        turns, rates = turns_before(self), rates_of_steps(self)
        motion = self.position, self.quat_wxyz, self.velocity, self.angular_velocity
        return forces_at(self.mechanism, *motion, self.command, self.law_states, turns, rates)

    @property
    def _efforts(self) -> np.ndarray:
        rubs = self.mechanism.compiled.plan.bearings.row.size > 0
        if not (self._jumps or rubs or any(force.constraint for force in self.mechanism.forces)):
            return self.forces_along.effort
        return self.forces_along.effort + self.mechanism.compiled.by_force(self._dynamics[2])

    @property
    def _powers(self) -> np.ndarray:
        powers = self.forces_along.power + powers_of_friction(self)
        return powers + powers_of_motions(self, self._dynamics[2]) if self.is_driven else powers

    def _by_joint(self, evaluate: Callable[[Joint], Value]) -> Mapping[str, Value]:
        return ByName(self.mechanism.joint_index, self.mechanism.joint, evaluate)

    def _by_force(self, columns: np.ndarray) -> Mapping[str, np.ndarray]:
        index = self.mechanism.force_index
        return ByName(index, self.mechanism.force, lambda force: columns[:, index[force.name]], "force")


for _quantity in QUANTITIES.values():
    _attribute = cached_property(evaluated(_quantity))
    setattr(RecordedMotion, _quantity.name, _attribute)
    _attribute.__set_name__(RecordedMotion, _quantity.name)
