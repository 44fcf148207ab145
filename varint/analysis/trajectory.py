"""A recorded motion."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from varint.analysis import quantities
from varint.mechanism import Mechanism


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
