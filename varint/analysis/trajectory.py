"""A recorded motion."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from varint.analysis import trajectory_display
from varint.analysis.by_name import ByName
from varint.analysis.derived import QUANTITIES, evaluated
from varint.analysis.forces import Forces, forces_at
from varint.analysis.nodes import Nodes
from varint.analysis.reactions import Reaction, accelerations_and_reactions, second_derivative
from varint.kinematics.frames import joint_coordinates
from varint.mechanism import Mechanism
from varint.model.forces.base import Force
from varint.model.joints.base import Joint

Value = TypeVar("Value")


def _recorded(name: str) -> Any:
    """The attribute that is the array ``name`` of the nodes."""
    return property(lambda trajectory: trajectory.nodes[name])


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """Poses and velocities at T recorded nodes, and what follows from them.

    Quantities such as ``energy`` and ``drift`` are attributes too, see `varint.analysis.derived`. What was worked out
    is left behind when a trajectory is pickled or copied.

    Attributes
    ----------
    mechanism : Mechanism
    nodes : Nodes
        The arrays up to ``law_states`` by name, of a large run in a file read when first asked for.
    t : (T,) s
    position : (T, nb, 3) m, world; bodies in the order of the mechanism
    quat_wxyz : (T, nb, 4)
    velocity : (T, nb, 3) m/s, world
    angular_velocity : (T, nb, 3) rad/s, body
    load : (T or 1, nb, 6) external force, N, world, and torque, N m, body, without gravity; one for all if constant
    work : (T, forces) J, done by each force since the start
    command : (T, forces) input of each force, zero where it has none
    law_states : (T, n) states of the laws that have one, in the order of the forces
    newton_iterations, substeps : int
        Newton iterations, and sub-steps beyond one a step, of the whole run.
    steps : int
        Steps done.
    success : bool
    status : int
        0 done, 1 a step did not converge.
    message : str
    wall_time : float
        Seconds spent stepping.
    """

    mechanism: Mechanism
    nodes: Nodes
    steady_load: np.ndarray | None
    newton_iterations: int
    substeps: int
    steps: int
    success: bool
    status: int
    message: str
    wall_time: float

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> np.ndarray: ...  # the quantities

    def __repr__(self) -> str:
        return trajectory_display.text(self)

    def _repr_html_(self) -> str:
        return trajectory_display.in_html(self)

    def __getstate__(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)

    t = _recorded("t")
    position = _recorded("position")
    quat_wxyz = _recorded("quat_wxyz")
    velocity = _recorded("velocity")
    angular_velocity = _recorded("angular_velocity")
    work = _recorded("work")
    command = _recorded("command")
    law_states = _recorded("law_state")

    @property
    def unresolved_body(self) -> np.ndarray:
        """(T,) number of a body whose motion a step did not resolve, -1 for none, see `unresolved`."""
        known = "unresolved_body" in self.nodes  # not of runs in reduced coordinates
        return self.nodes["unresolved_body"] if known else np.full(len(self.t), -1)

    @property
    def load(self) -> np.ndarray:
        """(T or 1, nb, 6) external force, N, world, and torque, N m, body, without gravity."""
        return self.nodes["load"] if self.steady_load is None else self.steady_load

    def parts(self) -> Iterator["Trajectory"]:
        """The same nodes in order, as trajectories that fit in memory."""
        for nodes in self.nodes.parts():
            yield replace(self, nodes=nodes)

    @cached_property
    def orientation(self) -> np.ndarray:
        """(T, nb) numpy-quaternion array, a view of ``quat_wxyz``."""
        import quaternion  # slow to import, so only when asked for

        return quaternion.as_quat_array(self.quat_wxyz)

    @property
    def unresolved(self) -> np.ndarray:
        """(T_u,) s: recorded nodes before which a step did not resolve the motion, empty for reduced coordinates.

        Energy came or went without work: in one step more than 2.5 % of the largest kinetic energy or work so far, or
        in all steps since the start, or since the last such one, more than 5 % (docs/theory.md section 6). A step is
        judged with the next one, so the node is one step later where each is recorded.
        """
        return self.t[self.unresolved_body >= 0]

    @cached_property
    def force(self) -> Mapping[str, np.ndarray]:
        """Force name to its effort (T,) along its length or coordinate, N or N m.

        Of a prescribed motion or coupling: what the equations of motion at each node ask for; its target's second
        derivative comes from the recorded nodes.
        """
        return self._by_force(self._efforts)

    @cached_property
    def power(self) -> Mapping[str, np.ndarray]:
        """Force name to its power (T,), W."""
        return self._by_force(self._powers)

    @cached_property
    def law_state(self) -> Mapping[str, np.ndarray]:
        """Force name to the state (T,) of its law: an integral of a deviation, an activation; (T, 0) without one."""
        plan, index = self.mechanism.compiled.plan, self.mechanism.force_index
        owners = self.mechanism.compiled.force[plan.laws.element[plan.laws.state >= 0]]

        def states(force: Force) -> np.ndarray:
            own = self.law_states[:, owners == index[force.name]]
            return own[:, 0] if own.shape[1] == 1 else own

        return ByName(index, self.mechanism.force, states)

    @cached_property
    def force_potential(self) -> Mapping[str, np.ndarray]:
        """Force name to its potential energy (T,), J; zero for those without one."""
        return self._by_force(self.forces_along.potential)

    @cached_property
    def dissipated(self) -> Mapping[str, np.ndarray]:
        """Force name to the energy (T,), J, that it took out since the start, its potential not counted."""
        potential = self.forces_along.potential
        return self._by_force(potential[0] - potential - self.work)

    @cached_property
    def coordinates(self) -> Mapping[str, np.ndarray]:
        """Joint name to its coordinates (T, dof), or (T,) where it has one; m, rad.

        Angles go on past pi, rotation vectors as well: no jumps as long as no body turns by more than pi
        from one recorded node to the next.
        """
        poses = self.position, self.quat_wxyz
        return self._by_joint(lambda joint: joint_coordinates(self.mechanism, joint, *poses))

    @cached_property
    def reactions(self) -> Mapping[str, Reaction]:
        """Joint name to the force (T, 3), N, and torque (T, 3), N m, world, that it exerts on its ``body_b``.

        The torque is about the joint's anchor on ``body_b``; ``body_a`` gets the opposite. They balance
        `load`, gravity and the inertia of every body at the pose and velocity of each node. Where joints are
        redundant, the smallest multipliers that do so, see `Mechanism.diagnose`.
        """
        reaction, index = self._dynamics[1], self.mechanism.joint_index
        return self._by_joint(lambda joint: Reaction(*np.split(reaction[:, index[joint.name]], 2, axis=1)))

    @property
    def acceleration(self) -> np.ndarray:
        """(T, nb, 3) of the centres of mass by the equations of motion at each node, m/s^2, world."""
        return self._dynamics[0][..., :3]

    @property
    def angular_acceleration(self) -> np.ndarray:
        """(T, nb, 3) rad/s^2, body."""
        return self._dynamics[0][..., 3:]

    @property
    def is_driven(self) -> bool:
        """Whether the motion of a joint is prescribed."""
        return any(force.constraint and force.commanded for force in self.mechanism.forces)

    @cached_property
    def is_conservative(self) -> bool:
        """Whether the energy stays but for the step: no load, and no force without a potential does work."""
        mechanism = self.mechanism
        for force in mechanism.forces:
            if force.reduced_only or any(getattr(element, "limits", ()) for element in force.elements(mechanism)):
                return False
        if self.is_driven or any(part.load.any() for part in self.parts()):
            return False
        return all(part._forces_keep_energy for part in self.parts()) if mechanism.forces else True

    @property
    def _forces_keep_energy(self) -> bool:
        still, found = np.zeros_like(self.velocity), self.forces_along
        arrays = self.position, self.quat_wxyz, still, still, self.command, self.law_states
        without_potential = found.effort[:, ~found.potential.any(axis=0)]
        return not without_potential.any() and np.array_equal(found.effort, forces_at(self.mechanism, *arrays).effort)

    @cached_property
    def work_from_outside(self) -> np.ndarray:
        """(T,) J, of the loads since the start, summed over the recorded nodes."""
        velocity = np.concatenate([self.velocity, self.angular_velocity], axis=2)
        power = np.einsum("tni,tni->t", np.broadcast_to(self.load, velocity.shape), velocity)
        return np.concatenate([[0.0], np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(self.t))])

    @cached_property
    def _dynamics(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        arrays = self.position, self.quat_wxyz, self.velocity, self.angular_velocity
        load = self.load + self.forces_along.load
        return accelerations_and_reactions(self.mechanism, load, *arrays, second_derivative(self.command, self.t))

    @cached_property
    def forces_along(self) -> Forces:
        """Efforts, powers and potentials of all forces, see `Forces`."""
        arrays = self.position, self.quat_wxyz, self.velocity, self.angular_velocity
        return forces_at(self.mechanism, *arrays, self.command, self.law_states)

    @property
    def _efforts(self) -> np.ndarray:
        if not any(force.constraint for force in self.mechanism.forces):
            return self.forces_along.effort
        return self.forces_along.effort + self._dynamics[2]

    @property
    def _powers(self) -> np.ndarray:
        powers = self.forces_along.power.copy()
        for k, force in enumerate(self.mechanism.forces):
            if force.constraint and force.commanded and len(self.t) > 1:
                rate = np.gradient(self.command[:, k], self.t, edge_order=2 if len(self.t) > 2 else 1)
                powers[:, k] = self._dynamics[2][:, k] * rate
        return powers

    def _by_joint(self, evaluate: Callable[[Joint], Value]) -> Mapping[str, Value]:
        return ByName(self.mechanism.joint_index, self.mechanism.joint, evaluate)

    def _by_force(self, columns: np.ndarray) -> Mapping[str, np.ndarray]:
        index = self.mechanism.force_index
        return ByName(index, self.mechanism.force, lambda force: columns[:, index[force.name]])


for _quantity in QUANTITIES.values():
    _attribute = cached_property(evaluated(_quantity))
    setattr(Trajectory, _quantity.name, _attribute)
    _attribute.__set_name__(Trajectory, _quantity.name)
