"""Gauss-Lobatto nodes of a step, with the coefficients of the polynomials through them for step/collocation.

Coefficients are rounded once, from decimals. The ones of the kinetic energy are multiples of `GRAIN`, so that they are
symmetric and their sums over a row zero to the last bit: the steps then follow exactly one discrete action. Where
rows are off by 1e-15, the energy has a trend of about as much a step.
"""

from decimal import Decimal, localcontext
from functools import cache

import numpy as np

from varint.step.collocation.records import NodeRule

DIGITS = 60
FURTHEST = {3: 1.1, 4: 2.4, 5: 3.0, 6: 3.0}  # rad: 0.3 % too far, and below pi, from where turns are not counted
GRAIN = 2.0**-48  # of the smallest steps at which sums of a row have no rounding


def _nodes(s: int) -> list[Decimal]:
    """Return the nodes (s,) in [0, 1], within the precision of decimals."""
    seven = Decimal(7)
    inner = {
        3: [Decimal(0)],
        4: [1 / Decimal(5).sqrt()],
        5: [(3 / seven).sqrt(), Decimal(0)],
        6: [((7 + 2 * seven.sqrt()) / 21).sqrt(), ((7 - 2 * seven.sqrt()) / 21).sqrt()],
    }[s]
    right = sorted({*inner, Decimal(1)} - {Decimal(0)})
    middle = [Decimal(0)] if s % 2 else []
    return [(1 + x) / 2 for x in [*(-x for x in reversed(right)), *middle, *right]]


def _derivatives(c: list[Decimal]) -> list[list[Decimal]]:
    """Return derivatives (s, s) of Lagrange's polynomials l_k at the nodes, entry (i, k)."""
    s = range(len(c))
    share = [Decimal(1)] * len(c)  # 1 / prod (c_k - c_m)
    for k in s:
        for m in s:
            if m != k:
                share[k] /= c[k] - c[m]
    D = [[share[k] / share[i] / (c[i] - c[k]) if i != k else Decimal(0) for k in s] for i in s]
    for i in s:
        D[i][i] = -sum(D[i], Decimal(0))
    return D


def _integral(c: list[Decimal], j: int, end: Decimal) -> Decimal:
    """Return the integral of Lagrange's polynomial l_j of nodes ``c`` from 0 to ``end``."""
    powers = [Decimal(1)]  # coefficients, lowest first
    for m, at in enumerate(c):
        if m != j:
            raised, fixed = [Decimal(0), *powers], [at * p for p in powers] + [Decimal(0)]
            powers = [(a - b) / (c[j] - at) for a, b in zip(raised, fixed, strict=True)]
    return sum((p * end ** (n + 1) / (n + 1) for n, p in enumerate(powers)), Decimal(0))


def _legendre(s: int, x: Decimal) -> Decimal:
    """Return the value of Legendre's polynomial of degree s - 1 at ``x``."""
    before, value = Decimal(1), x
    for n in range(1, s - 1):
        before, value = value, ((2 * n + 1) * x * value - n * before) / (n + 1)
    return value


@cache
def node_rule(s: int) -> NodeRule:
    """Return the rule of ``s`` nodes, 3 to 6, of order 2 s - 2."""
    with localcontext() as context:
        context.prec = DIGITS
        c = _nodes(s)
        weight = [1 / (s * (s - 1) * _legendre(s, 2 * x - 1) ** 2) for x in c]
        D, nodes = _derivatives(c), range(s)
        A = [[float(_integral(c, j, c[k])) for j in nodes] for k in nodes]
        S = [[float(sum(weight[i] * D[i][j] * D[i][k] for i in nodes)) for k in nodes] for j in nodes]
    stiffness = np.round(np.array(S) / GRAIN) * GRAIN
    stiffness[0, 1:] = stiffness[1:, 0] = -stiffness[1:, 1:].sum(axis=0)
    stiffness[0, 0] = -stiffness[0, 1:].sum()
    node, slope = np.array(c, dtype=float), np.array(D, dtype=float)
    weights, furthest = np.array(weight, dtype=float), np.array([FURTHEST[s]])
    ends = _ends(node, weights, slope)
    return NodeRule(
        node, weights, stiffness, slope, np.array(A), _combined(node, weights, slope), _ahead(node), furthest, *ends
    )


def _ends(node: np.ndarray, weight: np.ndarray, slope: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the factors (s,) of strong efforts: ``high``, ``low``, ``lead``, ``spread`` and ``top`` of `NodeRule`."""
    s = len(node)
    high, low = (np.polynomial.legendre.legvander(2.0 * node - 1.0, s - 1)[:, n] for n in (s - 1, s - 2))
    spread = (2 * s - 3) * weight * (low + high)  # with the part by P_s-1, which rates along turning directions have
    return high.copy(), low.copy(), -(s - 1) / (2 * s - 3) * high, spread, spread @ slope


def _combined(node: np.ndarray, weight: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Return the factors (s - 1, s) of conditions on rates: weights times polynomials of degree s - 2 at most."""
    powers = weight * np.polynomial.legendre.legvander(2.0 * node - 1.0, len(node) - 2).T
    return np.linalg.solve(powers @ slope[:, 1:], powers)


def _ahead(nodes: np.ndarray) -> np.ndarray:
    """Return the factors (s, s - 1, 2 s - 1) of `NodeRule` that extrapolate values to the next step."""
    s = len(nodes)
    past = np.concatenate([nodes[:-1] - 2.0, nodes[:-1] - 1.0, [0.0]])
    ahead = np.zeros((s, s - 1, 2 * s - 1))
    for d in range(s):
        last = past[s - 1 - d :]
        for n in range(len(last)):
            others = np.delete(last, n)
            ahead[d, :, s - 1 - d + n] = np.prod((nodes[1:, None] - others) / (last[n] - others), axis=1)
    return ahead
