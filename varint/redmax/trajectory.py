"""A recorded motion with its reduced coordinates."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from varint.analysis.trajectory import Trajectory
from varint.kinematics.frames import continued_coordinates, joint_coordinates
from varint.redmax.charts import EXPONENTIAL


@dataclass(frozen=True, eq=False)
class ReducedTrajectory(Trajectory):
    """A `Trajectory` found in reduced coordinates; its poses and velocities follow from them.

    Attributes
    ----------
    q : (T, nq) coordinates of the tree joints, m, rad; those of free rotations jump where their chart is left
    qdot : (T, nq) their rates, m/s, rad/s
    columns : dict of joint name to slice: the columns of a joint; a cut joint has none, a floating base "base of BODY"
    evaluations : int
        How often the accelerations, or the residual of a step, were evaluated.
    charts : dict of joint name to (T,) names: the chart of its free rotation, its last three columns
    driving : dict of joint name to efforts (T, dof), N, N m, that the motion of prescribed joints takes
    """

    q: np.ndarray
    qdot: np.ndarray
    columns: Mapping[str, slice]
    evaluations: int
    driving: Mapping[str, np.ndarray]
    charts: Mapping[str, np.ndarray]

    @cached_property
    def coordinates(self) -> Mapping[str, np.ndarray]:
        """Joint name to its coordinates (T, dof), or (T,) where it has one; m, rad, without jumps.

        Those of the tree joints are columns of ``q``; those of cut joints, and rotation vectors where there are Euler
        angles, are measured.
        """
        return self._by_joint(self._coordinates)

    @cached_property
    def rates(self) -> Mapping[str, np.ndarray]:
        """Tree joint name to the columns of ``qdot`` (T, dof), or (T,) where it has one."""
        return {name: _single(self.qdot[:, columns]) for name, columns in self.columns.items()}

    @cached_property
    def energy_balance(self) -> np.ndarray:
        """(T,) as of `Trajectory`, less the work of prescribed joints, J, summed over the recorded nodes."""
        power = sum(
            (np.sum(e * self.qdot[:, self.columns[name]], axis=1) for name, e in self.driving.items()), 0 * self.t
        )
        work = np.concatenate([[0.0], np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(self.t))])
        return super().energy_balance - work

    def _coordinates(self, joint):
        if joint.name not in self.columns or np.any(self.charts.get(joint.name, EXPONENTIAL) != EXPONENTIAL):
            return joint_coordinates(self.mechanism, joint, self.position, self.quat_wxyz)
        return _single(continued_coordinates(joint, self.q[:, self.columns[joint.name]].copy()))


def _single(columns):
    return columns[:, 0] if columns.shape[1] == 1 else columns
