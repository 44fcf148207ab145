"""Charts of free rotations: rotation vectors and the twelve orders of Euler angles, and the change between them.

A rotation vector r is singular at |r| = 2 pi: beyond 1.5 pi it becomes (1 - 2 pi / |r|) r, the same rotation. Euler
angles R = R_i(q1) R_j(q2) R_k(q3) are singular where det S, the sine of q2 for k = i, else its cosine, is zero: near
there the order with the largest det S takes over (DIFF sections 2.4.5, 2.4.8). Either way the body's angular
velocity stays: S(new) dq_new = S(old) dq_old.
"""

import math
from itertools import product

import numpy as np

from varint.mathematics.rotation_vector import right_jacobian
from varint.model.rotation_vectors import matrix_from_vector

EXPONENTIAL = "exponential"
ORDERS = tuple("".join(axes) for axes in product("xyz", repeat=3) if axes[0] != axes[1] != axes[2])
CHARTS = (EXPONENTIAL, *ORDERS)  # by their numbers in records
LONGEST = 1.5 * np.pi  # rad
SMALLEST = 0.3  # of det S


def shorten(balls: np.ndarray, q: np.ndarray, rates: np.ndarray) -> bool:
    """Shorten rotation vectors in columns ``balls`` that are longer than 1.5 pi, in place; whether any was."""
    changed = False
    for k in balls:
        r = q[k : k + 3]
        size = math.hypot(*r)
        if size <= LONGEST:
            continue
        w = vector_subspace(r) @ rates[k : k + 3]
        r *= 1.0 - 2.0 * np.pi * np.ceil((size - LONGEST) / (2.0 * np.pi)) / size
        rates[k : k + 3] = np.linalg.solve(vector_subspace(r), w)
        changed = True
    return changed


def vector_subspace(r: np.ndarray) -> np.ndarray:
    """Return S (3, 3) of a rotation vector: body angular velocity by its rates."""
    S = np.empty((3, 3))
    right_jacobian(*r, S)
    return S


def axes_of(order: str) -> tuple[int, int, int]:
    """Return the numbers of the three axes of an order such as "zxz"."""
    i, j, k = ("xyz".index(axis) for axis in order)
    return i, j, k


def _axis_rotation(axis: int, angle: float) -> np.ndarray:
    return matrix_from_vector(angle * np.eye(3)[axis])


def euler_matrix(order: str, angles: np.ndarray) -> np.ndarray:
    """Return R (3, 3) of Euler angles (3,), rad."""
    first, second, third = (_axis_rotation(*pair) for pair in zip(axes_of(order), angles, strict=True))
    return first @ second @ third


def euler_subspace(order: str, angles: np.ndarray) -> np.ndarray:
    """Return S (3, 3): body angular velocity by the rates of the angles."""
    i, j, k = axes_of(order)
    second, third = _axis_rotation(j, angles[1]), _axis_rotation(k, angles[2])
    I = np.eye(3)
    return np.column_stack([third.T @ (second.T @ I[i]), third.T @ I[j], I[k]])


def euler_angles(order: str, R: np.ndarray) -> np.ndarray:
    """Return the angles (3,) of R (3, 3): the outer ones in (-pi, pi]."""
    i, j, k = axes_of(order)
    if i != k:
        e = 1.0 if (j - i) % 3 == 1 else -1.0
        outer = np.arctan2(-e * R[j, k], R[k, k]), np.arctan2(-e * R[i, j], R[i, i])
        middle = np.arctan2(e * R[i, k], np.hypot(R[i, i], R[i, j]))
    else:
        k = 3 - i - j
        e = 1.0 if (j - i) % 3 == 1 else -1.0
        outer = np.arctan2(R[j, i], -e * R[k, i]), np.arctan2(R[i, j], e * R[i, k])
        middle = np.arctan2(np.hypot(R[i, j], R[i, k]), R[i, i])
    return np.array([outer[0], middle, outer[1]])


def determinant(order: str, angles: np.ndarray) -> float:
    """Return abs(det S): of the sine or cosine of the middle angle."""
    return abs(np.sin(angles[1]) if order[0] == order[2] else np.cos(angles[1]))


def in_chart(order: str, R: np.ndarray, w: np.ndarray, least: float = SMALLEST) -> tuple[str, np.ndarray, np.ndarray]:
    """Order, angles and rates of the rotation R (3, 3) with body angular velocity w (3,).

    The order is ``order`` where det S is ``least`` or more, else the most regular one.
    """
    angles = euler_angles(order, R)
    if determinant(order, angles) < least:
        order = max(ORDERS, key=lambda other: determinant(other, euler_angles(other, R)))
        angles = euler_angles(order, R)
    return order, angles, np.linalg.solve(euler_subspace(order, angles), w)
