"""Deflections of beams."""

import numpy as np

from varint.base.checks import choice, of_type
from varint.base.errors import ArgumentError
from varint.kinematics.frames import reference_pose, with_world
from varint.model.forces.beam_element import elements_of_beam
from varint.results.recorded_motion import RecordedMotion

FRAMES = ("end", "chord")


def beam_deflection(run: RecordedMotion, beam: str, frame: str = "end") -> np.ndarray:
    """Return displacements of the nodes of a beam from their places on the rigid beam, m.

    Parameters
    ----------
    run : Trajectory
    beam : str
        Name that `beam` was called with.
    frame : {"end", "chord"}
        What the rigid beam moves with: the body at point_a, which may be the world, or the line from end to end.

    Returns (T, n + 1, 3) of the nodes from point_a on at the T recorded nodes, in axes that move with the rigid beam: x
    from end to end of the reference configuration, y along the ``normal``, z. In the frame of the chord, x along it, y
    is as near to that of the body at point_a as it can be. Raises ArgumentError.
    """
    run = of_type(run, RecordedMotion, "run", ArgumentError)
    mechanism = run.mechanism
    elements = list(elements_of_beam(mechanism, beam).values())
    choice(frame, FRAMES, "frame of a deflection", ArgumentError)
    ends = [(elements[0].body_a, elements[0].point_a), *((each.body_b, each.point_b) for each in elements)]
    bodies = np.array([mechanism.body_index.get(body, -1) for body, _ in ends])
    points = np.array([point for _, point in ends])
    x0, R0 = reference_pose(mechanism)
    x, R = with_world(run.position, run.quat_wxyz)
    arms = np.einsum("kji,kj->ki", R0[bodies], points - x0[bodies])
    places = x[:, bodies] + np.einsum("tkij,kj->tki", R[:, bodies], arms)
    axes = _frame(points[-1] - points[0], elements[0].axes[:, 1])
    turned = R[:, bodies[0]] @ R0[bodies[0]].T @ axes
    if frame == "chord":
        turned = _frame(places[:, -1] - places[:, 0], turned[..., 1])
    seen = np.einsum("tji,tkj->tki", turned, places - places[:, :1])
    return seen - (points - points[0]) @ axes


def _frame(along: np.ndarray, across: np.ndarray) -> np.ndarray:
    """Return axes (..., 3, 3), columns: x ``along`` (..., 3), y the part of ``across`` (..., 3) square to it, z."""
    x = along / np.linalg.norm(along, axis=-1, keepdims=True)
    y = across - (across * x).sum(axis=-1, keepdims=True) * x
    y = y / np.linalg.norm(y, axis=-1, keepdims=True)
    return np.stack([x, y, np.cross(x, y)], axis=-1)
