"""A car on a closed track in space, with a gondola that swings below it."""

import numpy as np
from scipy.spatial.transform import Rotation

import varint as vi
from varint.mechanisms._sizes import Positive


def build(radius: Positive = 20.0, height: float = 6.0, frames: int = 16, speed: float = 16.0) -> vi.Mechanism:
    """Track around a circle with two hills, as control frames, a car of 600 kg and a gondola of 200 kg.

    The car starts near the bottom of a valley; the gondola hangs on a hinge along the track.

    Zero of the coordinates: the pose at the start, near the second control frame: "track" counts control frames
    passed since then, "swing" counts from the gondola's place below the car, rad.

    Parameters
    ----------
    radius : float, m
        Of the circle.
    height : float, m
        Of the hills.
    frames : int
        Number of control frames.
    speed : float, m/s
        Of the car at the start.
    """
    track = control_frames(radius, height, frames)
    T, ahead = vi.SplineCurve.pose(track, 0.0), vi.SplineCurve.pose(track, 1e-4)
    pace = speed * 1e-4 / np.linalg.norm(ahead[:3, 3] - T[:3, 3])
    turned = Rotation.from_matrix(T[:3, :3]).as_quat(scalar_first=True)
    along, _, up = T[:3, :3].T
    pivot = T[:3, 3] - 0.6 * up
    bodies = [
        vi.Body.box("car", (3.0, 1.2, 0.8), 600.0, position=T[:3, 3], quat_wxyz=turned),
        vi.Body.box("gondola", (1.5, 1.0, 1.0), 200.0, position=pivot - up, quat_wxyz=turned),
    ]
    joints = [
        vi.SplineCurve("track", "world", "car", point=(0, 0, 0), frames=track),
        vi.Revolute("swing", "car", "gondola", point=pivot, axis=along),
    ]
    return vi.Mechanism("roller coaster", bodies, joints, start={"rates": {"track": [pace]}})


def control_frames(radius, height, count):
    """Poses (count, 4, 4) with x along the track, z up but for 0.3 rad of bank into the turn."""
    frames = np.tile(np.eye(4), (count, 1, 1))
    for T, a in zip(frames, 2 * np.pi * np.arange(count) / count, strict=True):
        T[:3, 3] = radius * np.cos(a), radius * np.sin(a), height * np.sin(a) ** 2
        along = np.array([-radius * np.sin(a), radius * np.cos(a), height * np.sin(2 * a)])
        along /= np.linalg.norm(along)
        across = np.cross((0, 0, 1), along)
        across /= np.linalg.norm(across)
        level = np.column_stack([along, across, np.cross(along, across)])
        T[:3, :3] = level @ Rotation.from_rotvec([-0.3, 0, 0]).as_matrix()
    return frames


EXPECTED = {"bodies": 2, "rows": 10, "mobility": 2, "redundant": 0, "loops": 0, "dt": 0.005}
