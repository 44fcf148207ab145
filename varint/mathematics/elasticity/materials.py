"""Hyperelastic materials: energy density, stress and exact tangent of deformation gradients.

Each takes F (m, 3, 3) with the constants of Lame mu and lambda, Pa, and returns the energy density W (m,), J/m^3, the
first Piola-Kirchhoff stress P = dW/dF (m, 3, 3), Pa, and dP/dF (m, 3, 3, 3, 3), the last two indices for F.
All agree with linear elasticity for small strains.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from varint.mathematics.elasticity.element_loops import corotated_stress, corotated_tangent, polar_rotations

FLAT = 1e-6  # sum of two stretches: below it the rotation of a corotated element is not determined
FLAT_SHARE = 1e-3  # of the cube of the norm of F: elements of less volume are nearly flat
POLAR_ITERATIONS = 30
POLAR_LAST = 1e-9  # change after which the next, its square, is round-off


@dataclass(frozen=True, eq=False)
class Response:
    """Energy density (m,), J/m^3, and stress (m, 3, 3), Pa, of m elements; the tangent where it is asked for."""

    energy: np.ndarray
    stress: np.ndarray
    _tangent: Callable[[], np.ndarray]

    @cached_property
    def tangent(self) -> np.ndarray:
        """(m, 3, 3, 3, 3) Pa"""
        return self._tangent()


@dataclass(frozen=True, eq=False)
class Viscosity:
    """Viscous stress (m, 3, 3), Pa, of m elements, and its derivative by the rate of F where it is asked for."""

    stress: np.ndarray
    _tangent: Callable[[], np.ndarray]
    _bend: Callable[[], np.ndarray]

    @cached_property
    def tangent(self) -> np.ndarray:
        """(m, 3, 3, 3, 3) Pa s"""
        return self._tangent()

    @property
    def by_place(self) -> "Viscosity":
        """The same stress with its derivative by F, Pa, in place of that by the rate of F; it is not symmetric."""
        return replace(self, _tangent=self._bend)


def viscosity(F: np.ndarray, rate: np.ndarray, mu: float, lam: float) -> Viscosity:
    """Return the Kelvin-Voigt stress P = F (2 mu E' + lambda tr(E')), Pa, and its derivatives.

    E': the rate of Green's strain at the ``rate`` of F, 1/s. ``mu``, ``lam``: Pa s. Zero along rigid motions, at any
    strain.
    """
    half = F.swapaxes(1, 2) @ rate
    strain_rate = 0.5 * (half + half.swapaxes(1, 2))
    trace = np.trace(strain_rate, axis1=1, axis2=2)
    S = 2.0 * mu * strain_rate + lam * trace[:, None, None] * np.eye(3)

    def bend() -> np.ndarray:
        across, unit = F @ rate.swapaxes(1, 2), np.eye(3)
        derivative = np.einsum("ik,mlj->mijkl", unit, S) + lam * np.einsum("mij,mkl->mijkl", F, rate)
        return derivative + mu * (np.einsum("mil,mkj->mijkl", F, rate) + np.einsum("mik,jl->mijkl", across, unit))

    return Viscosity(F @ S, lambda: _tangent_of_strains(F, mu, lam), bend)


def _tangent_of_strains(F: np.ndarray, mu: float, lam: float) -> np.ndarray:
    """Return F C F^T: the derivative of F S by F if S = 2 mu E + lambda tr(E) alone changes."""
    B = F @ F.swapaxes(1, 2)
    tangent = mu * (np.einsum("mil,mkj->mijkl", F, F) + np.einsum("mik,jl->mijkl", B, np.eye(3)))
    return tangent + lam * np.einsum("mij,mkl->mijkl", F, F)


def lame_constants(E: float, nu: float) -> tuple[float, float]:
    """Return mu and lambda, Pa, of Young's modulus ``E``, Pa, and Poisson's ratio ``nu``, below 0.5."""
    return E / (2.0 * (1.0 + nu)), E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu))


def stvk(F: np.ndarray, mu: float, lam: float) -> Response:
    """Return the response of a Saint Venant-Kirchhoff material: W = mu E:E + lambda/2 tr(E)^2.

    E = (F^T F - 1) / 2: Green's strain. Large rotations, small strains: it softens in compression.
    """
    E = 0.5 * (F.swapaxes(1, 2) @ F - np.eye(3))
    trace = np.trace(E, axis1=1, axis2=2)
    S = 2.0 * mu * E + lam * trace[:, None, None] * np.eye(3)

    def tangent() -> np.ndarray:
        return np.einsum("ik,mlj->mijkl", np.eye(3), S) + _tangent_of_strains(F, mu, lam)

    return Response(mu * np.sum(E * E, axis=(1, 2)) + 0.5 * lam * trace**2, F @ S, tangent)


def neohookean(F: np.ndarray, mu: float, lam: float) -> Response:
    """Return the response of a compressible neo-Hookean material.

    W = mu/2 (tr(F^T F) - 3) - mu ln J + lambda/2 ln(J)^2, J = det F.
    Infinite energy, and NaN for the others, where an element is flat or inverted.
    """
    J = np.linalg.det(F)
    inverted = ~(J > 0.0)
    safe = np.where(inverted[:, None, None], np.eye(3), F)
    log = np.log(np.where(inverted, 1.0, J))
    T = np.linalg.inv(safe).swapaxes(1, 2)
    stress = mu * safe + ((lam * log) - mu)[:, None, None] * T

    def tangent() -> np.ndarray:
        by_F = mu * np.einsum("ik,jl->ijkl", np.eye(3), np.eye(3)) + lam * np.einsum("mij,mkl->mijkl", T, T)
        by_F = by_F + np.einsum("m,mil,mkj->mijkl", mu - lam * log, T, T)
        by_F[inverted] = np.nan
        return by_F

    energy = 0.5 * mu * (np.sum(safe * safe, axis=(1, 2)) - 3.0) - mu * log + 0.5 * lam * log**2
    stress[inverted] = np.nan
    return Response(np.where(inverted, np.inf, energy), stress, tangent)


def corotated(F: np.ndarray, mu: float, lam: float) -> Response:
    """Return the response of corotated linear elasticity: W = mu |F - R|^2 + lambda/2 tr(R^T F - 1)^2.

    R: the rotation nearest to F. Linear in the stretches. The tangent includes the turn of R (Kim and Eberle, Dynamic
    Deformables, SIGGRAPH courses 2022, section 5.5).
    """
    F = np.ascontiguousarray(F)
    R, energy, stress = next_rotations(F), np.empty(len(F)), np.empty_like(F)
    corotated_stress(F, R, mu, lam, energy, stress)

    def tangent() -> np.ndarray:
        by_F, regular = np.empty((len(F), 3, 3, 3, 3)), np.empty(len(F), dtype=bool)
        corotated_tangent(F, R, mu, lam, FLAT, np.empty((3, 3, 3)), by_F, regular)
        if not regular.all():
            by_F[~regular] = _tangent_by_stretches(F[~regular], R[~regular], mu, lam)
        return by_F

    return Response(energy, stress, tangent)


def _tangent_by_stretches(F: np.ndarray, R: np.ndarray, mu: float, lam: float) -> np.ndarray:
    """Return the tangent of corotated elements that are nearly flat or inverted."""
    excess = np.einsum("mij,mij->m", R, F) - 3.0
    size, V = np.linalg.eigh(R.swapaxes(1, 2) @ F)
    U = R @ V
    tangent = 2.0 * mu * np.einsum("ik,jl->ijkl", np.eye(3), np.eye(3)) + lam * np.einsum("mij,mkl->mijkl", R, R)
    for a, b in ((0, 1), (1, 2), (2, 0)):  # a turn in the plane of two principal directions
        turn = U[:, :, None, a] * V[:, None, :, b] - U[:, :, None, b] * V[:, None, :, a]
        rate = (lam * excess - 2.0 * mu) / np.maximum(size[:, a] + size[:, b], FLAT)
        tangent += np.einsum("m,mij,mkl->mijkl", rate, turn, turn)
    return tangent


def next_rotations(F: np.ndarray) -> np.ndarray:
    """Return the rotations R (m, 3, 3) nearest to F: Newton's method for the polar factor (Higham 1986).

    Elements that are nearly flat or inverted use singular values, because the iteration would leave the rotations.
    """
    R, whole = np.empty(F.shape), np.empty(len(F), dtype=bool)
    polar_rotations(np.ascontiguousarray(F), FLAT_SHARE, POLAR_LAST, POLAR_ITERATIONS, np.empty((3, 3)), R, whole)
    if not whole.all():
        R[~whole] = _rotations_by_singular_values(F[~whole])
    return R


def _rotations_by_singular_values(F: np.ndarray) -> np.ndarray:
    U, _, Vt = np.linalg.svd(F)
    U[:, :, 2] *= np.where(np.linalg.det(U) * np.linalg.det(Vt) < 0.0, -1.0, 1.0)[:, None]
    return U @ Vt


MATERIALS: dict[str, Callable[[np.ndarray, float, float], Response]] = {
    "corotated": corotated,
    "neohookean": neohookean,
    "stvk": stvk,
}
