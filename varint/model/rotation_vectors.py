"""Rotations of descriptions: matrices, unit quaternions (scalar first) and rotation vectors, in numpy.

scipy has them too, at a quarter of a second of every start of the command and 50 us a call.
"""

import numpy as np
from numpy.typing import ArrayLike


def rotation_matrix(quat_wxyz: ArrayLike) -> np.ndarray:
    """Return rotation matrices (..., 3, 3) of unit quaternions (..., 4), body to world (VI eq. 15)."""
    quat = np.asarray(quat_wxyz, dtype=float)
    axes = range(quat.ndim - 1)  # np.moveaxis takes ten times as long as a transposition
    w, x, y, z = quat.transpose(-1, *axes) if axes else quat.tolist()  # numbers are quicker than arrays
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.array(rows).transpose(*range(2, quat.ndim + 1), 0, 1)


def turned(matrix: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return products (..., n) of matrices (..., n, m) and vectors (..., m)."""
    return (matrix @ vectors[..., None])[..., 0]


def quat_from_matrix(R: ArrayLike) -> np.ndarray:
    """Return the unit quaternions (..., 4), scalar part not negative, of rotation matrices (..., 3, 3).

    Of the four formulas to read them off, the one that divides by the largest component is taken.
    """
    R = np.asarray(R)
    a, b, c = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    wx, wy, wz = R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]
    xy, xz, yz = R[..., 0, 1] + R[..., 1, 0], R[..., 0, 2] + R[..., 2, 0], R[..., 1, 2] + R[..., 2, 1]
    squares = [1 + a + b + c, 1 + a - b - c, 1 - a + b - c, 1 - a - b + c]
    ways = np.array(
        [[squares[0], wx, wy, wz], [wx, squares[1], xy, xz], [wy, xy, squares[2], yz], [wz, xz, yz, squares[3]]]
    )
    best = np.argmax(squares, axis=0)[None, None]
    quat = np.moveaxis(np.take_along_axis(ways, best, axis=0)[0], 0, -1)
    quat = quat / np.linalg.norm(quat, axis=-1, keepdims=True)
    return np.where(quat[..., :1] < 0, -quat, quat)


def matrix_from_vector(vector: ArrayLike) -> np.ndarray:
    """Return rotation matrices (..., 3, 3) of rotation vectors (..., 3), rad."""
    return rotation_matrix(quat_from_vector(vector))


def quat_from_vector(vector: ArrayLike) -> np.ndarray:
    """Return the unit quaternions (..., 4) of rotation vectors (..., 3), rad."""
    r = np.asarray(vector)
    angle = np.linalg.norm(r, axis=-1, keepdims=True)
    share = np.where(angle > 0, np.sin(0.5 * angle) / np.where(angle > 0, angle, 1.0), 0.5)
    return np.concatenate([np.cos(0.5 * angle), share * r], axis=-1)


def vector_from_matrix(R: np.ndarray) -> np.ndarray:
    """Return rotation vectors (..., 3) of rotation matrices (..., 3, 3), rad, no longer than pi."""
    return vector_from_quat(quat_from_matrix(R))


def vector_from_quat(quat_wxyz: np.ndarray) -> np.ndarray:
    """Return rotation vectors (..., 3) of unit quaternions (..., 4), rad; up to pi for scalar parts from zero."""
    sine = np.linalg.norm(quat_wxyz[..., 1:], axis=-1, keepdims=True)
    angle = 2 * np.arctan2(sine, quat_wxyz[..., :1])
    return quat_wxyz[..., 1:] * np.divide(angle, sine, out=np.full_like(sine, 2.0), where=sine > 0)


def quat_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return products (..., 4) of quaternions (..., 4), scalar first."""
    (aw, av), (bw, bv) = ((q[..., :1], q[..., 1:]) for q in (a, b))
    scalar = aw * bw - np.sum(av * bv, axis=-1, keepdims=True)
    return np.concatenate([scalar, aw * bv + bw * av + np.cross(av, bv)], axis=-1)


def cross_matrix(a: np.ndarray) -> np.ndarray:
    """Return [a] (..., 3, 3) with [a] b = a x b, of vectors (..., 3)."""
    matrix = np.zeros((*a.shape, 3))
    matrix[..., 2, 1], matrix[..., 0, 2], matrix[..., 1, 0] = a[..., 0], a[..., 1], a[..., 2]
    matrix[..., 1, 2], matrix[..., 2, 0], matrix[..., 0, 1] = -a[..., 0], -a[..., 1], -a[..., 2]
    return matrix


def left_jacobian(vector: ArrayLike) -> np.ndarray:
    """Return I + a [r] + b [r]^2 (..., 3, 3) of rotation vectors r (..., 3), with angle t (docs/redmax.md).

    a = (1 - cos t) / t^2, b = (t - sin t) / t^3.
    """
    r = np.asarray(vector)
    x = np.sum(r * r, axis=-1)[..., None, None]
    near = x < 1e-4
    t = np.sqrt(np.where(near, 1.0, x))
    a = np.where(near, 0.5 - x / 24 + x * x / 720, (1 - np.cos(t)) / (t * t))
    b = np.where(near, 1 / 6 - x / 120 + x * x / 5040, (t - np.sin(t)) / (t * t * t))
    R = cross_matrix(r)
    return np.eye(3) + a * R + b * (R @ R)
