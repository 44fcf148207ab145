"""Impacts of hard limits and contacts at one instant, with friction, in the order of the variational integrator.

Approaching limits and contacts without restitution close at once, together with the closed ones. Contacts of shapes
with restitution, and open limits with restitution that touch, pass impacts on one after the other, as the balls of a
cradle. In each round the fastest of the approaching ones with restitution rebound, equally fast ones together; rounds
follow until none approaches (docs/theory.md section 14). Rebounds are lowered, all in proportion, until they add no
energy.

K rows along normals come first, then those across, n in all, see `ContactLaw`.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from varint.methods.reduced.contacts import Blocked
from varint.methods.reduced.events.law import SLOW, ContactLaw
from varint.step.limits.impact_rows import most_rounds, rebounds_again

PARTING = 1e-10  # of `Stops.unit` a second: a rate up to this size is neither approach nor separation
ROUND_OFF = 1e-13  # rate that counts as zero, over the largest rate before the impacts
ALIKE = 1e-9  # relative difference of rates that count as equal
LOWERED = 40  # bisections of the factor by which rebounds are lowered
GAINED = 1e-15  # change of energy that counts as zero, over the sizes of its terms


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
    unit: np.ndarray | None = None,
    arm: np.ndarray | None = None,
) -> Impacts:
    """Return the result of all impacts at one instant.

    law : the rows of all limits and contacts that touch
    S : (n, n) mobilities of the rows: rates by unit impulses
    rates : (n,) m/s or rad/s, along the rows before the impacts
    restitution : (K,) coefficients; not used for closed normals, unless they pass impacts on
    closed : (K,) bool, closed before
    passing : (K,) bool, pass impacts on one after the other
    rests : function of the impulses z (n,) and the rates (n,) after them; returns (K,) whose rebound is so low that
        they close
    unit : (K,) what small gaps are measured in, m or rad, and small rates, a second; 1 if not given
    arm : (K,) m, factors of rates of angles, 1 for lengths: the fastest is that in m/s; 1 if not given

    Raises Blocked if no impulses obey the law, or impacts do not end.
    """
    K, u, closed = law.K, rates.copy(), closed.copy()
    z, energy = np.zeros(law.count), np.zeros(law.count)
    restitution = np.where(closed & ~passing, 0.0, restitution)
    hits = np.zeros(K, dtype=np.int64)
    unit, arm = (np.ones(K) if each is None else each for each in (unit, arm))
    units = np.concatenate([unit, np.repeat(unit[law.normal], 2)])
    least = ROUND_OFF * (np.abs(rates) / units).max(initial=0.0) * units
    for _ in range(most_rounds(K)):
        passes = passing & (restitution > 0.0)
        taken, rebound = _next_round(u[:K], restitution, closed, passes, PARTING * unit, arm)
        if not taken.any():
            return Impacts(z, u, energy, closed)
        impulses, after = _hit(law, S, u, taken, rebound)
        if rests is not None and rebound.any():
            low = (rebound > 0.0) & rests(z + impulses, after)
            if low.any():
                restitution = np.where(low, 0.0, restitution)
                continue
        hits += rebound > 0.0
        again = [rebounds_again(*each, K) for each in zip(restitution.tolist(), hits.tolist(), strict=True)]
        restitution = np.where(again, restitution, 0.0)
        energy += 0.5 * impulses * (u + after)
        z, u = z + impulses, np.where(np.abs(after) > least, after, 0.0)
        closed = (taken | closed) & (u[:K] <= SLOW * unit)
    raise Blocked(f"impacts follow one another without end at one instant, {most_rounds(K)} of them")


def _next_round(
    u: np.ndarray, restitution: np.ndarray, closed: np.ndarray, passing: np.ndarray, parting: np.ndarray,
    arm: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return which normals (K,) take part in the next impact at the rates ``u`` (K,), and their rebounds (K,), m/s.

    ``restitution``, ``closed``, ``passing``, ``arm``: see `solve_impacts`; ``parting`` (K,): `PARTING` in m/s or
    rad/s. No normal takes part if the impacts have ended.
    """
    closed = closed & ~passing
    elastic = ~closed & (restitution > 0.0) & (u < -parting)
    speed = -u * arm
    hits = elastic & (speed >= speed[elastic].max(initial=0.0) * (1.0 - ALIKE))
    touches = ~closed & ~elastic & ~passing & (u <= parting)
    if not (hits.any() or touches.any() or (closed & (u < -parting)).any()):
        return np.zeros_like(closed), np.zeros_like(u)
    return closed | hits | touches, np.where(hits, -restitution * u, 0.0)


def _hit(
    law: ContactLaw, S: np.ndarray, u: np.ndarray, taken: np.ndarray, rebound: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the impulses (n,) of one impact along the normals ``taken`` (K,), and the rates (n,) after it.

    ``u`` (n,): rates before; ``rebound`` (K,): desired rates after, m/s, lowered in proportion if they add energy.
    """
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
    """Return whether the impulses ``z`` (n,) add energy, with the rates ``u`` (n,) before them."""
    return bool(z @ u + 0.5 * z @ S @ z > GAINED * np.abs(z) @ np.abs(u))


def _impulses(law: ContactLaw, S: np.ndarray, u: np.ndarray, taken: np.ndarray, rebound: np.ndarray) -> np.ndarray:
    """Return the impulses z (n,) of the law with which the normals ``taken`` (K,) have at least the rates ``rebound``.

    ``u`` (n,): rates before. Raises Blocked if no impulses obey the law.
    """
    normals, z = np.flatnonzero(taken), np.zeros(law.count)
    points = np.flatnonzero(taken[law.normal])
    kept = np.concatenate([normals, law.tangents(points)])
    part = ContactLaw(normals.size, np.searchsorted(normals, law.normal[points]), law.friction[points])
    c = u[kept].copy()
    c[: normals.size] -= rebound[normals]
    slides = np.zeros(points.size, dtype=np.bool_)
    solution = part.solve(S[np.ix_(kept, kept)], c, slides, np.zeros((points.size, 2)))
    if solution is None:
        raise Blocked("no impulses obey the law of impacts")
    z[kept] = solution
    return z
