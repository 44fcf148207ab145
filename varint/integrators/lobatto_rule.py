"""Gauss-Lobatto nodes of a step, with what collocation takes of the polynomials through them (kernels/collocation.py)."""

from functools import cache

import numpy as np
from numpy.polynomial import Polynomial
from numpy.polynomial.legendre import Legendre

from varint.kernels.collocation_records import NodeRule


@cache
def node_rule(s: int) -> NodeRule:
    """The rule of ``s`` nodes, of order 2 s - 2."""
    legendre = Legendre.basis(s - 1)
    inner = np.sort(legendre.deriv().roots().real)
    x = np.concatenate([[-1.0], 0.5 * (inner - inner[::-1]), [1.0]])
    nodes, weight = 0.5 * (x + 1.0), 1.0 / (s * (s - 1) * legendre(x) ** 2)
    derivative = np.array([_lagrange(nodes, k).deriv()(nodes) for k in range(s)])  # (k, i): l_k'(c_i)
    past = np.concatenate([nodes[:-1] - 2.0, nodes[:-1] - 1.0, [0.0]])
    ahead = np.zeros((s, s - 1, 2 * s - 1))
    for d in range(s):
        last = past[s - 1 - d :]
        for n in range(len(last)):
            others = np.delete(last, n)
            ahead[d, :, s - 1 - d + n] = np.prod((nodes[1:, None] - others) / (last[n] - others), axis=1)
    return NodeRule(weight, np.ascontiguousarray((derivative * weight) @ derivative.T), ahead)


def _lagrange(nodes: np.ndarray, k: int) -> Polynomial:
    others = np.delete(nodes, k)
    return Polynomial.fromroots(others) / np.prod(nodes[k] - others)
