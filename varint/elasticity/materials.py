"""Hyperelastic materials: energy density, stress and exact tangent of deformation gradients.

Each takes F (m, 3, 3) with the constants of Lame mu and lambda, Pa, and returns the energy density W (m,), J/m^3, the
first Piola-Kirchhoff stress P = dW/dF (m, 3, 3), Pa, and dP/dF (m, 3, 3, 3, 3), the last two indices those of F.
All agree with linear elasticity for small strains.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

FLAT = 1e-6  # sum of two stretches: below it the rotation of a corotated element is not determined


class Response(NamedTuple):
    """Energy density (m,), J/m^3, stress (m, 3, 3), Pa, and tangent (m, 3, 3, 3, 3), Pa, of m elements."""

    energy: np.ndarray
    stress: np.ndarray
    tangent: np.ndarray


def lame_constants(E: float, nu: float) -> tuple[float, float]:
    """mu and lambda, Pa, of Young's modulus ``E``, Pa, and Poisson's ratio ``nu``, below 0.5."""
    return E / (2.0 * (1.0 + nu)), E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu))


def stvk(F: np.ndarray, mu: float, lam: float) -> Response:
    """Saint Venant-Kirchhoff: W = mu E:E + lambda/2 tr(E)^2, with Green's strain E = (F^T F - 1) / 2.

    Large rotations, small strains: it softens in compression.
    """
    E = 0.5 * (F.swapaxes(1, 2) @ F - np.eye(3))
    trace = np.trace(E, axis1=1, axis2=2)
    S = 2.0 * mu * E + lam * trace[:, None, None] * np.eye(3)
    B = F @ F.swapaxes(1, 2)
    tangent = np.einsum("ik,mlj->mijkl", np.eye(3), S) + lam * np.einsum("mij,mkl->mijkl", F, F)
    tangent += mu * (np.einsum("mil,mkj->mijkl", F, F) + np.einsum("mik,jl->mijkl", B, np.eye(3)))
    return Response(mu * np.sum(E * E, axis=(1, 2)) + 0.5 * lam * trace**2, F @ S, tangent)


def neohookean(F: np.ndarray, mu: float, lam: float) -> Response:
    """Compressible neo-Hookean: W = mu/2 (tr(F^T F) - 3) - mu ln J + lambda/2 ln(J)^2, J = det F.

    Infinite energy, and NaN for the others, where an element is flat or inverted.
    """
    J = np.linalg.det(F)
    inverted = ~(J > 0.0)
    safe = np.where(inverted[:, None, None], np.eye(3), F)
    log = np.log(np.where(inverted, 1.0, J))
    T = np.linalg.inv(safe).swapaxes(1, 2)
    stress = mu * safe + ((lam * log) - mu)[:, None, None] * T
    tangent = mu * np.einsum("ik,jl->ijkl", np.eye(3), np.eye(3)) + lam * np.einsum("mij,mkl->mijkl", T, T)
    tangent = tangent + np.einsum("m,mil,mkj->mijkl", mu - lam * log, T, T)
    energy = 0.5 * mu * (np.sum(safe * safe, axis=(1, 2)) - 3.0) - mu * log + 0.5 * lam * log**2
    stress[inverted], tangent[inverted] = np.nan, np.nan
    return Response(np.where(inverted, np.inf, energy), stress, tangent)


def corotated(F: np.ndarray, mu: float, lam: float) -> Response:
    """Corotated linear elasticity: W = mu |F - R|^2 + lambda/2 tr(R^T F - 1)^2, R the rotation next to F.

    Linear in the stretches. The tangent includes the turn of R (Kim and Eberle, Dynamic Deformables, SIGGRAPH courses
    2022, section 5.5).
    """
    U, size, Vt = np.linalg.svd(F)
    sign = np.where(np.linalg.det(U) * np.linalg.det(Vt) < 0.0, -1.0, 1.0)
    U, size = U.copy(), size.copy()
    U[:, :, 2] *= sign[:, None]  # R is no reflection
    size[:, 2] *= sign
    R = U @ Vt
    change, excess = F - R, size.sum(axis=1) - 3.0
    stress = 2.0 * mu * change + lam * excess[:, None, None] * R
    tangent = 2.0 * mu * np.einsum("ik,jl->ijkl", np.eye(3), np.eye(3)) + lam * np.einsum("mij,mkl->mijkl", R, R)
    for a, b in ((0, 1), (1, 2), (2, 0)):  # a turn in the plane of two principal directions
        turn = np.einsum("mi,mj->mij", U[:, :, a], Vt[:, b]) - np.einsum("mi,mj->mij", U[:, :, b], Vt[:, a])
        rate = (lam * excess - 2.0 * mu) / np.maximum(size[:, a] + size[:, b], FLAT)
        tangent = tangent + np.einsum("m,mij,mkl->mijkl", rate, turn, turn)
    energy = mu * np.sum(change * change, axis=(1, 2)) + 0.5 * lam * excess**2
    return Response(energy, stress, tangent)


MATERIALS: dict[str, Callable[[np.ndarray, float, float], Response]] = {
    "corotated": corotated,
    "neohookean": neohookean,
    "stvk": stvk,
}
