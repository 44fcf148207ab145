"""The motions of joints with compliant rows, as links of collocation: those that the rigid rows leave.

A row with a compliance is a spring, so the joint moves along it. A rigid row of a length locks the slide along an axis
of frame a; the other slides come before the turns. The rigid rows of angles, "axis p of a at right angles to axis q of
b", leave (others are not supported):

    none      ball
    (p, q)    turn about p, then about q
    two       turn about Z, with (X, Z) and (Y, Z)
    three     no turn
"""

import math

import numpy as np

from varint.model.joints.base import Joint, X, Y, Z
from varint.model.motion import Ball, Motion, Slide, Turn
from varint.model.rotation_vectors import vector_from_matrix


def motions_of(joint: Joint) -> tuple[Motion, ...] | None:
    """Return the motions that the rigid rows of a joint leave; None if not slides followed by turns or a ball."""
    if not joint.compliant:
        return joint.allowed
    rows: list[tuple[int, ...]] = [getattr(row, "kept_axes", ()) for row in joint.rigid]  # (): a distance, e.g.
    square = {axes for axes in rows if len(axes) == 2}
    if () in rows:
        return None
    slides = tuple(Slide(axis) for axis in (X, Y, Z) if (axis,) not in rows)
    if not square:
        return (*slides, Ball())
    if len(square) == 1:
        ((first, second),) = square
        return (*slides, Turn(first), Turn(second)) if first != second else None
    if square == {(X, Z), (Y, Z)}:
        return (*slides, Turn(Z))
    return slides if len(square) == 3 else None


def coordinates_of(motions: tuple[Motion, ...], R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the coordinates of motions by `motions_of`, in which frame b has pose ``R`` (3, 3), ``p`` (3,) in a."""
    if not motions:
        return np.zeros(0)
    slides = [p[motion.axis] for motion in motions if isinstance(motion, Slide)]
    turns = [motion.axis for motion in motions if isinstance(motion, Turn)]
    if isinstance(motions[-1], Ball):
        return np.array([*slides, *vector_from_matrix(R)])
    if len(turns) == 2:  # R = W_first(a) W_second(b): what is along the second axis turns with a alone
        first, second = turns
        third = 3 - first - second
        sign = 1.0 if (second - first) % 3 == 1 else -1.0
        # in a, axis `second` of b is cos(a) second + sin(a) first x second, with first x second = sign third;
        # in b, axis `first` of a is cos(b) first + sin(b) first x second
        a = math.atan2(sign * R[third, second], R[second, second])
        b = math.atan2(sign * R[first, third], R[first, first])
        return np.array([*slides, a, b])
    return np.array([*slides, *(math.atan2(R[1, 0], R[0, 0]) for _ in turns)])
