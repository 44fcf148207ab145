"""View of a mechanism: the plane in which it moves, or isometric."""

from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import array_of, choice
from varint.base.errors import ArgumentError
from varint.model.joints.base import Joint
from varint.model.motion import Motion, Slide, Turn
from varint.model.structure import Structure

AXES = "xyz"
ISOMETRIC = "isometric"
PLANES = (*map("".join, permutations(AXES, 2)), ISOMETRIC)
PARALLEL = 1e-6  # sine of the angle of two axes that count as parallel
SLANTED = 1e-6  # of an axis of the picture that is none of the world's


class View(NamedTuple):
    """A picture's axes ``right`` and ``up`` (3,), unit vectors of the world; ``flat``: whether they are the plane."""

    right: np.ndarray
    up: np.ndarray
    flat: bool

    @property
    def towards(self) -> np.ndarray:
        """Return the direction (3,) from the mechanism to the viewer."""
        return np.cross(self.right, self.up)

    def project(self, points: np.ndarray) -> np.ndarray:
        """Return the places (..., 2), m, in the picture, of points (..., 3), m, world."""
        return points @ np.stack([self.right, self.up], axis=1)

    @property
    def labels(self) -> tuple[str, str]:
        """Return the labels of the picture's axes."""
        return _label(self.right), _label(self.up)


def choose_view(structure: Structure, plane: str | None, camera: ArrayLike | None = None) -> View:
    """Return the view for one of `PLANES`; for None the plane in which all joints move, else isometric.

    ``camera``, in its place: azimuth and elevation in degrees, see `Trajectory.animate`. Raises ArgumentError.
    """
    if camera is not None:
        if plane is not None:
            raise ArgumentError("plane and camera both define the view: give one of them")
        return _from_angles(up_of(structure), *np.radians(array_of(camera, (2,), "camera", ArgumentError)))
    if plane is None:
        return _found(structure)
    if choice(plane, PLANES, "plane", ArgumentError) == ISOMETRIC:
        return _isometric(up_of(structure))
    right, up = (np.eye(3)[AXES.index(letter)] for letter in plane)
    return View(right, up, True)


def _found(structure: Structure) -> View:
    turning: list[np.ndarray] = []
    sliding: list[np.ndarray] = []
    for joint in structure.joints:
        for motion in joint.shown if joint.forbidden and joint.name not in structure.rotors else ():
            if not isinstance(motion, Turn | Slide):
                return _isometric(up_of(structure))
            (turning if isinstance(motion, Turn) else sliding).append(_axis(joint, motion))
    normal = turning[0] if turning else _across(sliding, up_of(structure))
    flat = all(np.linalg.norm(np.cross(normal, axis)) < PARALLEL for axis in turning)
    flat &= all(abs(normal @ axis) < PARALLEL for axis in sliding)
    if normal @ normal < 0.5 or not flat:
        return _isometric(up_of(structure))
    for up in (up_of(structure), *np.eye(3)[::-1]):
        across = up - (up @ normal) * normal
        if np.linalg.norm(across) > 0.1:
            break
    up = across / np.linalg.norm(across)
    right = np.cross(up, normal)
    leading = right[np.abs(right) > SLANTED][0]
    return View(right if leading > 0 else -right, up, True)


def _axis(joint: Joint, motion: Motion) -> np.ndarray:
    assert isinstance(motion, Turn | Slide)
    return joint.frame[:, motion.axis]


def _across(sliding: list[np.ndarray], up: np.ndarray) -> np.ndarray:
    """Return a normal (3,) of the plane of two slides, or of one and the upward direction; zero by default."""
    for other in (*sliding[1:], up, np.eye(3)[0]):
        normal = np.cross(sliding[0], other) if sliding else np.zeros(3)
        if np.linalg.norm(normal) > 0.1:
            return normal / np.linalg.norm(normal)
    return np.zeros(3)


def up_of(structure: Structure) -> np.ndarray:
    """Return the direction (3,) against gravity; z by default."""
    size = np.linalg.norm(structure.gravity)
    return -structure.gravity / size if size > 0 else np.array([0.0, 0.0, 1.0])


def _level(up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two axes square to ``up``, right-handed before it: x and y if ``up`` is z."""
    first = np.eye(3)[(int(np.argmax(np.abs(up))) + 1) % 3]
    first = first - (first @ up) * up
    first /= np.linalg.norm(first)
    return first, np.cross(up, first)


def _from_angles(up: np.ndarray, azimuth: float, elevation: float) -> View:
    """Return the view from the front, turned to the right about ``up`` and raised; rad."""
    first, second = _level(up)
    right = np.cos(azimuth) * first + np.sin(azimuth) * second
    level = np.cross(right, up)
    towards = np.cos(elevation) * level + np.sin(elevation) * up
    return View(right, np.cross(towards, right), False)


def _isometric(up: np.ndarray) -> View:
    """Return the view that shows all axes of the world equally short, if ``up`` is one of them."""
    first, second = _level(up)
    towards = (first - second + up) / np.sqrt(3.0)
    right = np.cross(up, towards)
    right /= np.linalg.norm(right)
    return View(right, np.cross(towards, right), False)


def _label(direction: np.ndarray) -> str:
    for letter, axis in zip(AXES, np.eye(3), strict=True):
        if np.abs(direction - axis).max() < SLANTED:
            return letter
        if np.abs(direction + axis).max() < SLANTED:
            return f"-{letter}"
    return f"along ({', '.join(f'{part:.2g}' for part in direction + 0.0)})"
