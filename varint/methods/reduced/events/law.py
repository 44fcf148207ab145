"""The law of contact with dry friction at one instant: of the rates after an impact, or of accelerations.

With the impulses, or forces, z along n rows, their rates, or accelerations, are u = S z + c. Rows along normals come
first, those of hard limits among them, then two along the plane of each contact with friction. Wanted are

    z_n >= 0,  u_n >= 0,  z_n u_n = 0,
    z_t = -mu z_n d                                          where the contact slides along d already,
    |z_t| <= mu z_n, and z_t = -mu z_n u_t / |u_t| where u_t is not zero,   elsewhere.
"""

from typing import NamedTuple

import numpy as np

from varint.methods.reduced.recursions.cones import room, solve_cones

DEPENDENT = 1e-10  # singular value, relative to the largest, up to which rows of equations are redundant

SLOW = 1e-9  # m/s or rad/s: a rate of this size counts as zero
SLIGHT = 1e-6  # m/s or rad/s: a limit that is held goes on at a rate of this size, which the closures take away
TINY = 1e-12  # of the sizes of a complementarity problem: what counts as zero
PIVOTS = 50  # of each unknown of a complementarity problem, at most
SAME = 1e-7  # of the largest rate or acceleration: regimes that differ by less are one
MET, NEARLY_MET = 1e-11, 1e-9  # relative: what the law is to be missed by, and may be where no trial does better
SIZES = (1.0, 0.25, 4.0, 16.0)  # times the mobilities, which solutions do not depend on, but the iteration does


class HeldRows(NamedTuple):
    """Forces z (n,) that keep given rows at rest, and whether there are others that do: rows are redundant."""

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
        """Numbers (2 p,) of the rows along the planes of the contacts ``points`` (p,)."""
        return (self.K + 2 * points[:, None] + np.arange(2)).ravel()

    def _forces(self, free: np.ndarray, along: np.ndarray) -> np.ndarray:
        """(n, K + 2 f): z by the forces along the normals and along the planes of the contacts ``free`` (f,).

        The others have friction against ``along`` (P, 2), unit vectors or zero.
        """
        Q = np.zeros((self.count, self.K + 2 * free.size))
        Q[np.arange(self.K), np.arange(self.K)] = 1.0
        slides = np.ones(self.normal.size, dtype=np.bool_)
        slides[free] = False
        given = np.flatnonzero(slides)
        for a in range(2):
            Q[self.K + 2 * given + a, self.normal[given]] = -self.friction[given] * along[given, a]
        Q[self.tangents(free), np.arange(self.K, Q.shape[1])] = 1.0
        return Q

    def solve(self, S: np.ndarray, c: np.ndarray, slides: np.ndarray, along: np.ndarray) -> np.ndarray | None:
        """z (n,) by the law; ``slides`` (P,): contacts that slide ``along`` (P, 2). None where none was found."""
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
        """The least z with which the ``normals`` (K,) and, along the planes, the contacts that stick (P,) keep u = 0.

        The others slide ``along`` (P, 2); whether z obeys the bounds of the law is not looked at.
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
    """Return margins (2, p) of points whose forces are not unique, below zero where no lawful ones keep the regime."""
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
    """z (k,) with z >= 0, S z + c >= 0 and z (S z + c) = 0, S (k, k) symmetric and not negative; None where none is.

    Murty's principal pivots: of the unknowns that are wrong the first one changes sides.
    """
    size = np.sqrt(np.maximum(np.diag(S), np.finfo(float).tiny))
    A, b = S / np.outer(size, size), c / size
    least = TINY * np.abs(b).max(initial=0.0)
    acts = np.zeros(b.size, dtype=bool)
    for _ in range(PIVOTS * (b.size + 1)):
        z, own = np.zeros(b.size), np.ix_(acts, acts)
        z[acts] = np.linalg.solve(A[own] + TINY * np.eye(acts.sum()), -b[acts])  # of equal rows, each has its share
        wrong = np.where(acts, z < -least, A @ z + b < -10.0 * least)
        if not wrong.any():
            better = np.zeros(b.size)
            better[acts] = np.linalg.lstsq(A[own], -b[acts], rcond=None)[0]
            z = np.maximum(z if (better < -least).any() else better, 0.0)
            return z / size if (A @ z + b >= -10.0 * least - MET * np.abs(A) @ z).all() else None
        acts[np.argmax(wrong)] ^= True
    return None
