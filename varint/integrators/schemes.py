"""The schemes, as compositions of the node-momentum step with scaled, partly negative sizes: one entry each."""

from dataclasses import dataclass

import numpy as np

from varint.display import Shown
from varint.errors import ArgumentError
from varint.model.checks import array_of, choice, shown

ROUND_OFF = 1e-12  # of the sizes of stages


@dataclass(frozen=True, eq=False)
class Scheme(Shown):
    """A scheme of the variational integrator.

    name : str
    order : int
    what : str
        In a few words.
    stages : (n,) sizes of the composition's stages, over the step; symmetric, their sum is one
    staggered : bool
        Whether velocities are those of the intervals, from the start on.

    Raises ArgumentError for other stages.
    """

    name: str
    order: int
    what: str
    stages: np.ndarray
    staggered: bool = False

    def __post_init__(self) -> None:
        stages = array_of(self.stages, (None,), f"stages of scheme '{self.name}'", ArgumentError)
        if not stages.size or abs(stages.sum() - 1.0) > ROUND_OFF or np.abs(stages - stages[::-1]).max() > ROUND_OFF:
            raise ArgumentError(
                f"stages of scheme '{self.name}' must be symmetric with the sum one, got {shown(stages)}"
            )
        object.__setattr__(self, "stages", stages)

    @property
    def single(self) -> bool:
        """Whether a step is one stage, as hard stops need it."""
        return self.stages.size == 1


def _suzuki() -> list[float]:
    a = 1 / (4 - 4 ** (1 / 3))
    return [a, a, 1 - 4 * a, a, a]


def _kahan_li() -> list[float]:
    half = [
        0.39216144400731413927925056,
        0.33259913678935943859974864,
        -0.70624617255763935980996482,
        0.08221359629355080023149045,
    ]
    return [*half, 1 - 2 * sum(half), *half[::-1]]


# the first of an order is the one that `order=` takes
SCHEMES = {
    scheme.name: scheme
    for scheme in (
        # first step from v_1 = v(0), velocities of the intervals reported (docs/theory.md)
        Scheme("printed", 1, "start and outputs of VI as printed", np.array([1.0]), staggered=True),
        # the same recursion from node momenta, velocities projected at the nodes: RATTLE
        Scheme("rattle", 2, "node-momentum form, velocities at the nodes", np.array([1.0])),
        # Suzuki, Phys. Lett. A 146 (1990) 319
        Scheme("suzuki", 4, "composition of 5 stages", np.array(_suzuki())),
        # Kahan & Li, Math. Comp. 66 (1997) 1089
        Scheme("kahan-li", 6, "composition of 9 stages", np.array(_kahan_li())),
    )
}
DEFAULT_ORDER = 2
ORDERS = tuple(dict.fromkeys(scheme.order for scheme in SCHEMES.values()))


def scheme(order: int | None = None, name: str | None = None) -> Scheme:
    """The scheme called ``name``, or where none is given the default one of ``order``, which is 2 where not given.

    Raises ArgumentError where there is none, or it is of another order than given.
    """
    if order is not None:
        choice(order, ORDERS, "order", ArgumentError)
    if name is None:
        wanted = DEFAULT_ORDER if order is None else order
        return next(found for found in SCHEMES.values() if found.order == wanted)
    found = SCHEMES[choice(name, SCHEMES, "scheme", ArgumentError)]
    if order not in (None, found.order):
        raise ArgumentError(
            f"scheme '{name}' is of order {found.order}, got order = {order} as well: leave out one of them"
        )
    return found
