"""Motion of points of bodies, and of bodies as seen from others."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from varint.base import display
from varint.base.checks import array_of, known_name
from varint.base.display import Shown, value_text
from varint.base.errors import ArgumentError
from varint.kinematics.frames import in_body
from varint.model.body import WORLD
from varint.model.rotation_vectors import quat_product, rotation_matrix, turned

if TYPE_CHECKING:
    from varint.results.recorded_motion import RecordedMotion


@dataclass(frozen=True, eq=False)
class PointPath(Shown):
    """The path of a point of a body over T nodes.

    Attributes
    ----------
    body : str
    t : (T,) s
    position, velocity : (T, 3) m, m/s, world
    acceleration : (T, 3) m/s^2, world, by the equations of motion
    """

    trajectory: "RecordedMotion"
    body: str
    from_centre: np.ndarray  # (3,) m, body axes

    def _facts(self) -> Iterable[str]:
        place = f"{display.numbers_text(self.from_centre.round(12))} m from its centre of mass, in body axes"
        return f"the point of body {value_text(self.body)} at {place}", f"{len(self.t)} nodes"

    @property
    def t(self) -> np.ndarray:
        """Return the times (T,), s."""
        return self.trajectory.t

    @cached_property
    def position(self) -> np.ndarray:
        """Return the places (T, 3), m, world."""
        return self._of(self.trajectory.position) + self._arm

    @cached_property
    def velocity(self) -> np.ndarray:
        """Return the velocities (T, 3), m/s, world."""
        return self._of(self.trajectory.velocity) + np.cross(self._spin, self._arm)

    @cached_property
    def acceleration(self) -> np.ndarray:
        """Return the accelerations (T, 3), m/s^2, world, by the equations of motion at each node."""
        spin_rate = self._in_world(self._of(self.trajectory.angular_acceleration))
        turning = np.cross(spin_rate, self._arm) + np.cross(self._spin, np.cross(self._spin, self._arm))
        return self._of(self.trajectory.acceleration) + turning

    @cached_property
    def _rotation(self) -> np.ndarray:
        return rotation_matrix(self._of(self.trajectory.quat_wxyz))

    @cached_property
    def _arm(self) -> np.ndarray:
        return self._rotation @ self.from_centre

    @cached_property
    def _spin(self) -> np.ndarray:
        return self._in_world(self._of(self.trajectory.angular_velocity))

    def _of(self, bodies: np.ndarray) -> np.ndarray:
        return bodies[:, self.trajectory.mechanism.body_index[self.body]]

    def _in_world(self, vectors: np.ndarray) -> np.ndarray:
        return turned(self._rotation, vectors)


class Relative(NamedTuple):
    """The motion of a body b as seen from a body a, at T nodes.

    position : (T, 3) m, from the centre of mass of a to that of b, in axes of a
    quat_wxyz : (T, 4) from axes of b to axes of a
    velocity : (T, 3) m/s, time derivative of ``position`` in the frame of a, in axes of a
    angular_velocity : (T, 3) rad/s, of b less that of a, in axes of b
    """

    position: np.ndarray
    quat_wxyz: np.ndarray
    velocity: np.ndarray
    angular_velocity: np.ndarray

    def __repr__(self) -> str:
        return display.described(self, display.field_facts(self))


def point_path(trajectory: "RecordedMotion", body: str, point: ArrayLike | None) -> PointPath:
    """Return the path of a point of a body, see `Trajectory.path`.

    Raises MechanismError for a name that no body has, ArgumentError if ``point`` is not three finite numbers.
    """
    described = trajectory.mechanism.body(body)
    anchor = described.position if point is None else array_of(point, (3,), f"point of body '{body}'", ArgumentError)
    return PointPath(trajectory, body, in_body(trajectory.mechanism, trajectory.mechanism.body_index[body], anchor))


def relative(trajectory: "RecordedMotion", body_a: str, body_b: str) -> Relative:
    """Return a relative motion, see `Trajectory.relative`. Raises ArgumentError for a name that no body has."""
    (x_a, q_a, v_a, w_a), (x_b, q_b, v_b, w_b) = (_motion(trajectory, body) for body in (body_a, body_b))
    back = np.swapaxes(rotation_matrix(q_a), -1, -2)
    apart = turned(back, x_b - x_a)
    of_a_in_b = turned(np.swapaxes(rotation_matrix(q_b), -1, -2), turned(rotation_matrix(q_a), w_a))
    return Relative(
        position=apart,
        quat_wxyz=quat_product(q_a * [1.0, -1.0, -1.0, -1.0], q_b),
        velocity=turned(back, v_b - v_a) - np.cross(w_a, apart),
        angular_velocity=w_b - of_a_in_b,
    )


def _motion(trajectory: "RecordedMotion", body: str) -> list[np.ndarray]:
    arrays = trajectory.position, trajectory.quat_wxyz, trajectory.velocity, trajectory.angular_velocity
    index = trajectory.mechanism.body_index
    if known_name(body, (WORLD, *index), "no body", ArgumentError) != WORLD:
        return [array[:, index[body]] for array in arrays]
    T = len(trajectory.t)
    at_rest = np.zeros((T, 3))
    return [at_rest, np.tile([1.0, 0.0, 0.0, 0.0], (T, 1)), at_rest, at_rest]
