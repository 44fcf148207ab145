"""The schemes, as compositions of the node-momentum step with scaled, partly negative sizes."""

from dataclasses import dataclass

import numpy as np

from varint.errors import ArgumentError


@dataclass(frozen=True)
class Scheme:
    """Sizes of the composition stages over one step, and whether the paper's start and outputs are used."""

    order: int
    stages: np.ndarray
    printed: bool = False


def _suzuki():
    a = 1 / (4 - 4 ** (1 / 3))
    return [a, a, 1 - 4 * a, a, a]


def _kahan_li():
    half = [
        0.39216144400731413927925056,
        0.33259913678935943859974864,
        -0.70624617255763935980996482,
        0.08221359629355080023149045,
    ]
    return [*half, 1 - 2 * sum(half), *half[::-1]]


SCHEMES = {
    # VI as printed: first step from v_1 = v(0), velocities of the intervals reported (docs/theory.md)
    1: Scheme(1, np.array([1.0]), printed=True),
    # the same recursion from node momenta, velocities projected at the nodes (RATTLE)
    2: Scheme(2, np.array([1.0])),
    # Suzuki, Phys. Lett. A 146 (1990) 319
    4: Scheme(4, np.array(_suzuki())),
    # Kahan & Li, Math. Comp. 66 (1997) 1089, nine stages of order six
    6: Scheme(6, np.array(_kahan_li())),
}


def scheme(order: int) -> Scheme:
    """The scheme of that order.

    Raises ArgumentError for an order that there is none of.
    """
    if not isinstance(order, (int, np.integer)) or order not in SCHEMES:
        raise ArgumentError(f"order must be one of {', '.join(map(str, SCHEMES))}, got {order!r}")
    return SCHEMES[order]
