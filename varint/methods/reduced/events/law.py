"""The law of contact with dry friction at one instant: for rates after an impact, or for accelerations.

Along n rows, with impulses (or forces) z (n,), the rates after the impact (or the accelerations) are u = S z + c:
S (n, n) are the mobilities of the rows, c (n,) are u without z. The K rows along normals come first, hard limits
included, then two along the plane of each of P contacts. The law, with n: normal, t: along the plane:

    z_n >= 0,  u_n >= 0,  z_n u_n = 0,
    z_t = -mu z_n d                                          if the contact already slides along d,
    |z_t| <= mu z_n, and z_t = -mu z_n u_t / |u_t| if u_t is not zero,      otherwise.
"""

from typing import NamedTuple

import numpy as np

from varint.methods.reduced.recursions.cones import room, solve_cones

DEPENDENT = 1e-10  # singular value, relative to the largest, up to which rows of equations are redundant

# of `Stops.unit`, a second:
SLOW = 1e-9  # a rate of this size counts as zero
SLIGHT = 1e-6  # a held limit may keep a rate up to this size, which the closures then remove

TINY = 1e-12  # number that counts as zero in a complementarity problem, over its largest numbers
PIVOTS = 50  # most pivots of a complementarity problem, per unknown
SAME = 1e-7  # difference of accelerations, or rates, over the largest one, up to which two regimes are the same
MET, NEARLY_MET = 1e-11, 1e-9  # relative residuals of the law: required, and accepted if no trial does better
SIZES = (1.0, 0.25, 4.0, 16.0)  # factors of the iteration's scales, tried in turn; a solution does not depend on them


class HeldRows(NamedTuple):
    """Forces z (n,) that keep some rows at rest, and whether they are not unique: these rows are redundant."""

    z: np.ndarray
    redundant: bool


class ContactLaw:
    """The rows of K normals and of P contacts among them.

    ``normal`` (P,): number of the normal of each contact; ``friction`` (P,): coefficients.
    """

    def __init__(self, K: int, normal: np.ndarray, friction: np.ndarray) -> None:
        self.K, self.normal, self.friction = K, normal, friction
        self.count = K + 2 * normal.size

    def tangents(self, points: np.ndarray) -> np.ndarray:
        """Return the numbers (2 p,) of the rows along the planes of the contacts ``points`` (p,)."""
        return (self.K + 2 * points[:, None] + np.arange(2)).ravel()

    def _forces(self, free: np.ndarray, along: np.ndarray) -> np.ndarray:
        """Return Q (n, K + 2 f) of z = Q y; y: forces along all normals and along the planes of contacts ``free`` (f,).

        The friction of the other contacts is mu times their normal force, against ``along`` (P, 2), unit vectors or
        zero.
        """
        Q = np.zeros((self.count, self.K + 2 * free.size))
        Q[np.arange(self.K), np.arange(self.K)] = 1.0
        slides = np.ones(self.normal.size, dtype=np.bool_)
        slides[free] = False
        sliding = np.flatnonzero(slides)
        for a in range(2):
            Q[self.K + 2 * sliding + a, self.normal[sliding]] = -self.friction[sliding] * along[sliding, a]
        Q[self.tangents(free), np.arange(self.K, Q.shape[1])] = 1.0
        return Q

    def solve(self, S: np.ndarray, c: np.ndarray, slides: np.ndarray, along: np.ndarray) -> np.ndarray | None:
        """Return z (n,) by the law, or None if the iteration did not converge.

        ``S`` (n, n), ``c`` (n,): see the module. ``slides`` (P,): contacts that already slide ``along`` (P, 2), unit
        vectors.
        """
        if not self.normal.size:
            return complementary(S, c)
        free = np.flatnonzero(~slides & (self.friction > 0.0))
        Q = self._forces(free, along)
        kept, n, F = np.concatenate([np.arange(self.K), self.tangents(free)]), Q.shape[1], free.size
        p = room(n, F, F)
        p.S[:], p.free[:] = S[kept] @ Q, c[kept]
        sizes = np.diag(S)[kept].copy()
        blocks = sizes[self.K :].reshape(-1, 2)
        blocks[:] = (blocks.sum(axis=1) + np.abs(S[kept[self.K :: 2], kept[self.K + 1 :: 2]]))[:, None]
        sizes[sizes <= 0.0] = 1.0
        p.first[:] = self.K + 2 * np.arange(F + 1)
        p.F[np.arange(F), self.normal[free]] = 1.0
        p.f[:], p.weight[:], p.term[:] = 0.0, self.friction[free], np.arange(F + 1)
        scale = float((np.abs(p.free) / np.sqrt(sizes)).max(initial=0.0))
        least, best = np.inf, np.zeros(n)
        for factor in SIZES if scale > 0.0 else ():
            p.z[:], p.D[:] = 0.0, factor * sizes
            missed = solve_cones(p, scale)
            if missed <= MET:
                return Q @ p.z
            if missed < least:
                least, best = missed, p.z.copy()
        return Q @ best if scale <= 0.0 or least <= NEARLY_MET else None

    def hold(
        self, S: np.ndarray, c: np.ndarray, normals: np.ndarray, sticks: np.ndarray, along: np.ndarray
    ) -> HeldRows:
        """Return the least z with which u is zero along ``normals`` (K,) and along the planes of contacts that stick.

        ``sticks`` (P,): these contacts; the others slide ``along`` (P, 2). The bounds of the law are not enforced.
        """
        free = np.flatnonzero(sticks)
        kept = np.concatenate([np.flatnonzero(normals), self.tangents(free)])
        Q = self._forces(free, along)[:, np.concatenate([normals, np.ones(2 * free.size, dtype=np.bool_)])]
        size = np.sqrt(np.diag(S)[kept])
        size[size == 0.0] = 1.0
        x, _, rank, _ = np.linalg.lstsq(S[kept] @ Q / np.outer(size, size), -c[kept] / size, rcond=DEPENDENT)
        return HeldRows(Q @ (x / size), rank < kept.size)


def margins_of_any(
    law: ContactLaw, S: np.ndarray, c: np.ndarray, z: np.ndarray, slides: np.ndarray, along: np.ndarray
) -> np.ndarray:
    """Return margins (2, K) of contacts whose forces are not unique: -1 if no forces within the law keep the regime.

    z : (n,) forces that keep the regime and need not obey the bounds of the law
    slides, along : see `ContactLaw.solve`; all rows along normals are of contacts, P = K

    Rows of the result: of the normal force, and of friction; 1 if the regime is kept.
    """
    lawful = law.solve(S, c, slides, along)
    margins, size = np.ones((2, law.K)), SAME * (np.abs(c).max() or 1.0)
    kept = S @ z + c
    rates = kept if lawful is None else S @ lawful + c
    other = np.abs(rates - kept) > size
    if lawful is not None and not other.any():
        return margins
    tangential = z[law.K :].reshape(-1, 2)
    margins[0] = np.where(other[: law.K], -1.0, 1.0)
    margins[1] = np.where(other[law.K :].reshape(-1, 2).any(axis=1) & ~slides, -1.0, 1.0)
    if (margins > 0.0).all():
        margins[0] = np.where(z[: law.K] < 0.0, -1.0, 1.0)
        margins[1] = np.where(np.linalg.norm(tangential, axis=1) > law.friction * z[: law.K], -1.0, 1.0)
    return margins


def complementary(S: np.ndarray, c: np.ndarray) -> np.ndarray | None:
    """Return z (k,) with z >= 0, S z + c >= 0 and z (S z + c) = 0, or None if there is no solution.

    ``S`` (k, k) symmetric and positive semidefinite, ``c`` (k,). Murty's principal pivoting: the first of the unknowns
    with a wrong sign enters or leaves the set of those above zero.
    """
    size = np.sqrt(np.maximum(np.diag(S), np.finfo(float).tiny))
    A, b = S / np.outer(size, size), c / size
    least = TINY * np.abs(b).max(initial=0.0)
    acts = np.zeros(b.size, dtype=bool)
    for _ in range(PIVOTS * (b.size + 1)):
        z, acting = np.zeros(b.size), np.ix_(acts, acts)
        z[acts] = np.linalg.solve(A[acting] + TINY * np.eye(acts.sum()), -b[acts])  # equal rows have equal shares
        wrong = np.where(acts, z < -least, A @ z + b < -10.0 * least)
        if not wrong.any():
            better = np.zeros(b.size)
            better[acts] = np.linalg.lstsq(A[acting], -b[acts], rcond=None)[0]
            z = np.maximum(z if (better < -least).any() else better, 0.0)
            return z / size if (A @ z + b >= -10.0 * least - MET * np.abs(A) @ z).all() else None
        acts[np.argmax(wrong)] ^= True
    return None
