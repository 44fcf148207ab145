"""A recorded motion."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from varint.analysis import quantities
from varint.analysis.reactions import Reaction, accelerations_and_reactions
from varint.kinematics.frames import joint_coordinates
from varint.mechanism import Mechanism


class ByJoint(Mapping):
    """Values by joint name, each worked out when first asked for.

    Raises MechanismError for a name that no joint has.
    """

    def __init__(self, mechanism, evaluate):
        self._mechanism, self._evaluate, self._known = mechanism, evaluate, {}

    def __getitem__(self, name):
        joint = self._mechanism.joint(name)
        if name not in self._known:
            self._known[name] = self._evaluate(joint)
        return self._known[name]

    def __contains__(self, name):
        return name in self._mechanism.joint_index

    def get(self, name, default=None):
        known = name in self
        return self[name] if known else default

    def __iter__(self):
        return iter(self._mechanism.joint_index)

    def __len__(self):
        return len(self._mechanism.joints)


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Poses and velocities at T recorded nodes, and what follows from them.

    Attributes
    ----------
    mechanism : Mechanism
    t : (T,) s
    position : (T, nb, 3) m, world; bodies in the order of the mechanism
    quat_wxyz : (T, nb, 4)
    velocity : (T, nb, 3) m/s, world
    angular_velocity : (T, nb, 3) rad/s, body
    load : (T or 1, nb, 6) external force, N, world, and torque, N m, body, without gravity; one for all if constant
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
    t: np.ndarray
    position: np.ndarray
    quat_wxyz: np.ndarray
    velocity: np.ndarray
    angular_velocity: np.ndarray
    load: np.ndarray
    newton_iterations: int
    substeps: int
    steps: int
    success: bool
    status: int
    message: str
    wall_time: float

    @cached_property
    def orientation(self) -> np.ndarray:
        """(T, nb) numpy-quaternion array, a view of ``quat_wxyz``."""
        import quaternion  # slow to import, so only when asked for

        return quaternion.as_quat_array(self.quat_wxyz)

    @cached_property
    def kinetic(self) -> np.ndarray:
        """(T,) kinetic energy, J."""
        return quantities.kinetic_energy(self.mechanism, self.velocity, self.angular_velocity)

    @cached_property
    def potential(self) -> np.ndarray:
        """(T,) potential energy of gravity, J, zero at the origin."""
        return quantities.potential_energy(self.mechanism, self.position)

    @cached_property
    def energy(self) -> np.ndarray:
        """(T,) kinetic + potential energy, J."""
        return self.kinetic + self.potential

    @cached_property
    def linear_momentum(self) -> np.ndarray:
        """(T, 3) N s, world."""
        return quantities.linear_momentum(self.mechanism, self.velocity)

    @cached_property
    def angular_momentum(self) -> np.ndarray:
        """(T, 3) about the world's origin, N m s, world."""
        arrays = (self.position, self.quat_wxyz, self.velocity, self.angular_velocity)
        return quantities.angular_momentum(self.mechanism, *arrays)

    @cached_property
    def drift(self) -> np.ndarray:
        """(T,) largest violation of a joint at each node, m; an angle counts times the mechanism's part size."""
        return quantities.joint_drift(self.mechanism.compiled, self.position, self.quat_wxyz)

    @cached_property
    def rank_margin(self) -> np.ndarray:
        """(T,) how far from a singular pose the loops are, from 1 to 0, see `quantities.rank_margin`."""
        return quantities.rank_margin(self.mechanism.compiled, self.position, self.quat_wxyz)

    @cached_property
    def coordinates(self) -> Mapping[str, np.ndarray]:
        """Joint name to its coordinates (T, dof), or (T,) where it has one; m, rad.

        Angles go on past pi, rotation vectors as well: no jumps as long as no body turns by more than pi
        from one recorded node to the next.
        """
        poses = self.position, self.quat_wxyz
        return ByJoint(self.mechanism, lambda joint: joint_coordinates(self.mechanism, joint, *poses))

    @cached_property
    def reactions(self) -> Mapping[str, Reaction]:
        """Joint name to the force (T, 3), N, and torque (T, 3), N m, world, that it exerts on its ``body_b``.

        The torque is about the joint's anchor on ``body_b``; ``body_a`` gets the opposite. They balance
        `load`, gravity and the inertia of every body at the pose and velocity of each node. Where joints are
        redundant, the smallest multipliers that do so, see `Mechanism.diagnose`.
        """
        reaction, index = self._dynamics[1], self.mechanism.joint_index
        return ByJoint(self.mechanism, lambda joint: Reaction(*np.split(reaction[:, index[joint.name]], 2, axis=1)))

    @property
    def acceleration(self) -> np.ndarray:
        """(T, nb, 3) of the centres of mass by the equations of motion at each node, m/s^2, world."""
        return self._dynamics[0][..., :3]

    @property
    def angular_acceleration(self) -> np.ndarray:
        """(T, nb, 3) rad/s^2, body."""
        return self._dynamics[0][..., 3:]

    @cached_property
    def _dynamics(self):
        arrays = self.position, self.quat_wxyz, self.velocity, self.angular_velocity
        return accelerations_and_reactions(self.mechanism, self.load, *arrays)
