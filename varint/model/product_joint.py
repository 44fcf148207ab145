"""Products of exponentials of constant screws: the motion of helical, composite and spline joints.

    Q(q) = C exp(s_1 f_1(q)) ... exp(s_m f_m(q))

C a pose, s_i screws (angular, linear), f_i cubic in one coordinate or bicubic in two, given piece by piece on
intervals of length one (DIFF sections 2.4.12, 2.4.13). A helical joint is one screw with f = q, a spline curve
three screws an interval, a spline surface six. Products with constant poses on either side, and inverses,
are products again.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from varint.base.checks import freeze
from varint.model.motion import Motion
from varint.model.rotation_vectors import cross_matrix, left_jacobian, matrix_from_vector, vector_from_matrix


@dataclass(frozen=True, eq=False)
class Product(Motion):
    """Pieces (n1, n2) along the coordinates; n2 = 1 and powers of the second one zero where there is one only.

    base : (n1, n2, 4, 4) C of each piece
    screw : (n1, n2, m, 6) s_i
    power : (n1, n2, m, 4, 4) f_i = sum_jk power[j, k] x^j y^k, x and y the coordinates from the start of their piece
    size : number of coordinates, 1 or 2
    closed : bool
        Whether the first coordinate has the period n1. Else, and along the second, end pieces are extrapolated.
    unit : str
        Unit of the coordinates; empty for splines, whose coordinates count pieces.
    """

    base: np.ndarray
    screw: np.ndarray
    power: np.ndarray
    size: int = 1  # type: ignore[misc]
    closed: bool = False
    unit: str = ""  # type: ignore[misc]

    @property
    def period(self) -> float:  # type: ignore[override]
        """Return the period of the first coordinate: n1 of a closed curve, 2 pi of a turn about an axis, else 0."""
        n1, n2, m = self.screw.shape[:3]
        if self.closed:
            return float(n1)
        w, v = self.screw[0, 0, 0, :3], self.screw[0, 0, 0, 3:]
        turning = n1 * n2 * m == 1 and w.any() and abs(w @ v) <= 1e-12 * np.abs(v).max()
        return 2 * np.pi if turning else 0.0

    @property
    def is_curved(self) -> bool:
        linear = np.zeros((4, 4))
        linear[1, 0] = 1.0
        one = self.size == 1 and self.screw.shape[:3] == (1, 1, 1)
        return not (one and np.array_equal(self.power[0, 0, 0], linear) and np.array_equal(self.base[0, 0], np.eye(4)))

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if q.ndim > 1:
            R, p = zip(*(self.pose(row) for row in q.reshape(-1, self.size)), strict=True)
            return np.reshape(R, (*q.shape[:-1], 3, 3)), np.reshape(p, (*q.shape[:-1], 3))
        piece, where = self._piece(q)
        T = self.base[piece]
        for screw, power in zip(self.screw[piece], self.power[piece], strict=True):
            T = T @ exponential(screw * _polynomial(power, *where))
        return T[:3, :3], T[:3, 3]

    def screws(self, q: np.ndarray) -> np.ndarray:
        if q.ndim > 1:
            return np.reshape([self.screws(row) for row in q.reshape(-1, self.size)], (*q.shape, 6))
        piece, where = self._piece(q)
        S = np.zeros((self.size, 6))
        for screw, power in zip(self.screw[piece], self.power[piece], strict=True):
            slopes = [_polynomial(power, *where, along=k) for k in range(self.size)]
            S = S @ adjoint(exponential(-screw * _polynomial(power, *where))).T + np.outer(slopes, screw)
        return S

    def _piece(self, q: np.ndarray) -> tuple[tuple[int, int], tuple[float, float]]:
        """Return indices of the piece at ``q`` (size,), and coordinates from its start; 0 for a missing second one."""
        n1, n2 = self.base.shape[:2]
        x, y = (*q, 0.0)[:2]
        i, j = (int(np.clip(np.floor(value), 0, n - 1)) for value, n in ((x, n1), (y, n2)))
        if self.closed:
            i, x = int(np.floor(x)) % n1, x - np.floor(x) + int(np.floor(x)) % n1
        return (i, j), (x - i, y - j)

    def after(self, T: np.ndarray) -> "Product":
        """Return T Q for a constant pose ``T`` (4, 4)."""
        return replace(self, base=freeze(T @ self.base))

    def before(self, T: np.ndarray) -> "Product":
        """Return Q T for a constant pose ``T`` (4, 4)."""
        return replace(self, base=freeze(self.base @ T), screw=freeze(self.screw @ adjoint(inverse(T)).T))

    def inverse(self) -> "Product":
        """Return Q^-1, of the same coordinates."""
        base = np.linalg.inv(self.base)
        ad = np.array([adjoint(C) for C in self.base.reshape(-1, 4, 4)]).reshape(*self.base.shape[:2], 6, 6)
        screw = -np.einsum("abij,abmj->abmi", ad, self.screw)[:, :, ::-1]
        return replace(self, base=freeze(base), screw=freeze(screw), power=freeze(self.power[:, :, ::-1].copy()))


def along_screw(screw: ArrayLike, unit: str) -> Product:
    """Return exp(screw q), ``screw`` (6,), q in ``unit``."""
    power = np.zeros((1, 1, 1, 4, 4))
    power[..., 1, 0] = 1.0
    return Product(np.eye(4)[None, None], np.reshape(screw, (1, 1, 1, 6)), power, unit=unit)


def _polynomial(power: np.ndarray, x: float, y: float, along: int | None = None) -> float:
    """Return the value of a bicubic (4, 4), or its slope along a coordinate."""
    monomials = [np.array([1.0, z, z * z, z**3]) for z in (x, y)]
    if along is not None:
        z = (x, y)[along]
        monomials[along] = np.array([0.0, 1.0, 2.0 * z, 3.0 * z * z])
    return monomials[0] @ power @ monomials[1]


def pose_matrix(R: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the pose of rotation ``R`` (3, 3) and origin ``p`` (3,) as a matrix (4, 4)."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


def inverse(T: np.ndarray) -> np.ndarray:
    """Return the inverse of a pose (4, 4)."""
    return pose_matrix(T[:3, :3].T, -T[:3, :3].T @ T[:3, 3])


def adjoint(T: np.ndarray) -> np.ndarray:
    """Return Ad(T) (6, 6), angular part first: twists from a frame's axes and origin to its surroundings'."""
    R, p = T[:3, :3], T[:3, 3]
    out = np.zeros((6, 6))
    out[:3, :3] = out[3:, 3:] = R
    out[3:, :3] = cross_matrix(p) @ R
    return out


def exponential(screw: np.ndarray) -> np.ndarray:
    """Return exp of a twist (6,), as a pose (4, 4)."""
    w, v = np.asarray(screw[:3]), np.asarray(screw[3:])
    return pose_matrix(matrix_from_vector(w), left_jacobian(w) @ v)


def logarithm(T: np.ndarray) -> np.ndarray:
    """Return the twist (6,) whose exponential is the pose ``T`` (4, 4), its angle no larger than pi."""
    w = vector_from_matrix(T[:3, :3])
    return np.concatenate([w, np.linalg.solve(left_jacobian(w), T[:3, 3])])
