"""Impacts of hard limits and contacts at one instant, with friction, in the order of the variational integrator.

What approaches and has no restitution closes at once, with what is closed already, but shapes with restitution: these
pass impacts on one by one, as the balls of a cradle. So do open limits with restitution that touch. Of those that
rebound the ones that approach fastest do first, and those that approach equally fast together, until nothing approaches
any more (docs/theory.md section 14). Rebounds are lowered, all in proportion, until they add no energy.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from varint.methods.reduced.contacts import Blocked
from varint.methods.reduced.events.law import SLOW, ContactLaw
from varint.step.limits.impact_rows import rebounds_again

PARTING = 1e-10  # m/s: a rate of this size neither approaches nor parts
ROUND_OFF = 1e-13  # of the largest rate before: rates of this size are none
ALIKE = 1e-9  # share by which rates may differ that count as one
MOST_ROUNDS = 200  # of impacts at one instant
LOWERED = 40  # bisections of the rebounds
GAINED = 1e-15  # of the sizes of the terms of a change of energy: what counts as none


class Impacts(NamedTuple):
    """Result of impacts along n rows, K of them normals: impulses z (n,), N s, rates (n,), energies (n,) gained, J.

    ``closed`` (K,): which are at rest along the normal afterwards.
    """

    z: np.ndarray
    rates: np.ndarray
    energy: np.ndarray
    closed: np.ndarray


def solve_impacts(
    law: ContactLaw,
    S: np.ndarray,
    rates: np.ndarray,
    restitution: np.ndarray,
    closed: np.ndarray,
    passing: np.ndarray,
    rests: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
) -> Impacts:
    """Impacts of all that touches, with the mobilities ``S`` (n, n) of the rows and their ``rates`` (n,).

    ``restitution``, ``closed`` (K,): of the normals, and which are closed before, that have no restitution but for
    those ``passing`` (K,) impacts on.
    ``rests``: function of z and the rates after it; (K,) whose rebound is so low that they close.
    Raises Blocked where no impulses obey the law, or impacts follow without end.
    """
    K, u, closed = law.K, rates.copy(), closed.copy()
    z, energy = np.zeros(law.count), np.zeros(law.count)
    restitution = np.where(closed & ~passing, 0.0, restitution)
    hits = np.zeros(K, dtype=np.int64)
    for _ in range(MOST_ROUNDS):
        taken, rebound = _next_round(u[:K], restitution, closed, passing & (restitution > 0.0))
        if not taken.any():
            return Impacts(z, u, energy, closed)
        own, after = _hit(law, S, u, taken, rebound)
        if rests is not None and rebound.any():
            low = (rebound > 0.0) & rests(z + own, after)
            if low.any():
                restitution = np.where(low, 0.0, restitution)
                continue
        hits += rebound > 0.0
        again = [rebounds_again(*each) for each in zip(restitution.tolist(), hits.tolist(), strict=True)]
        restitution = np.where(again, restitution, 0.0)
        energy += 0.5 * own * (u + after)
        z, u = z + own, np.where(np.abs(after) > ROUND_OFF * np.abs(rates).max(), after, 0.0)
        closed = (taken | closed) & (u[:K] <= SLOW)
    raise Blocked(f"impacts follow one another without end at one instant, {MOST_ROUNDS} of them")


def _next_round(
    u: np.ndarray, restitution: np.ndarray, closed: np.ndarray, passing: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Which normals (K,) take part in the next impact at the rates ``u`` (K,), none at the end; their rebounds, m/s."""
    closed = closed & ~passing
    elastic = ~closed & (restitution > 0.0) & (u < -PARTING)
    fastest = -u[elastic].min(initial=0.0)
    hits = elastic & (-u >= fastest * (1.0 - ALIKE))
    touches = ~closed & ~elastic & ~passing & (u <= PARTING)
    if not (hits.any() or touches.any() or (closed & (u < -PARTING)).any()):
        return np.zeros_like(closed), np.zeros_like(u)
    return closed | hits | touches, np.where(hits, -restitution * u, 0.0)


def _hit(
    law: ContactLaw, S: np.ndarray, u: np.ndarray, taken: np.ndarray, rebound: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Impulses (n,) of the impact of those ``taken`` (K,), at the rates ``u`` (n,), and the rates after it."""
    low, share = 0.0, 1.0
    z = _impulses(law, S, u, taken, rebound)
    if not rebound.any() or not _gains(S, u, z):
        return z, u + S @ z
    high = 1.0
    for _ in range(LOWERED):
        share = 0.5 * (low + high)
        if _gains(S, u, _impulses(law, S, u, taken, share * rebound)):
            high = share
        else:
            low = share
    z = _impulses(law, S, u, taken, low * rebound)
    return z, u + S @ z


def _gains(S: np.ndarray, u: np.ndarray, z: np.ndarray) -> bool:
    """Whether the impulses ``z`` bring energy in, at the rates ``u`` (n,) before."""
    return bool(z @ u + 0.5 * z @ S @ z > GAINED * np.abs(z) @ np.abs(u))


def _impulses(law: ContactLaw, S: np.ndarray, u: np.ndarray, taken: np.ndarray, rebound: np.ndarray) -> np.ndarray:
    """z (n,) by the law, with the rates after it of those ``taken`` (K,) at least their ``rebound``."""
    own, z = np.flatnonzero(taken), np.zeros(law.count)
    points = np.flatnonzero(taken[law.normal])
    kept = np.concatenate([own, law.tangents(points)])
    part = ContactLaw(own.size, np.searchsorted(own, law.normal[points]), law.friction[points])
    c = u[kept].copy()
    c[: own.size] -= rebound[own]
    none = np.zeros(points.size, dtype=np.bool_)
    found = part.solve(S[np.ix_(kept, kept)], c, none, np.zeros((points.size, 2)))
    if found is None:
        raise Blocked("no impulses obey the law of impacts")
    z[kept] = found
    return z
