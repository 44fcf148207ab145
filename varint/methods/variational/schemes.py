"""The schemes, as compositions of the node-momentum step with scaled, partly negative sizes: one entry each."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from varint.base.checks import array_of, choice, shown
from varint.base.display import Shown
from varint.base.errors import ArgumentError
from varint.step.stage_starts import NEAREST

SHARPENED_FROM = 6  # the order from which on round-off shows beside the error of the scheme
ROUND_OFF = 1e-12  # of the sizes of stages
AROUND_POLES, FINE = (0.75, 1.25), 2e-5  # times the poles of dampers: where bands are looked for, and how finely
SAME_MIDDLE = 0.05  # of a step: middles of stages that are nearer are one to polynomials through them


@dataclass(frozen=True, eq=False)
class Scheme(Shown):
    """A scheme of the variational integrator.

    name : str
    order : int
    what : str
        In a few words.
    stages : (n,) sizes of the composition's stages, over the step; symmetric, their sum is one
    staggered : bool
        Whether velocities are velocities of the intervals, from the start on.

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

    @cached_property
    def points(self) -> np.ndarray:
        """(P,) shares of a step at which functions of time are evaluated: its ends, and the middles of its stages."""
        return np.unique(np.concatenate([[0.0], np.cumsum(self.stages) - 0.5 * self.stages, [1.0]]))

    @cached_property
    def starts(self) -> tuple[np.ndarray, np.ndarray]:
        """(n, NEAREST) stages whose errors the start values of a stage take, and the shares (step/stage_starts.py).

        They are nearest in time and size, among the earlier stages of this step and the stages of the step before from
        the same one on. Shares are the values at its middle of Lagrange's polynomials over their middles, of which
        adjacent ones count once.
        """
        near, share = np.zeros((len(self.stages), NEAREST), dtype=np.int64), np.zeros((len(self.stages), NEAREST))
        middle = np.cumsum(self.stages) - 0.5 * self.stages
        for s, at in enumerate(middle):
            time = np.where(np.arange(len(middle)) < s, middle, middle - 1.0) - at
            chosen: list[int] = []
            for j in np.argsort(abs(time) + abs(self.stages - self.stages[s]), kind="stable").tolist():
                if len(chosen) < NEAREST and np.all(abs(time[chosen] - time[j]) > SAME_MIDDLE):
                    chosen.append(j)
            near[s, : len(chosen)] = chosen
            for n, j in enumerate(chosen):
                others = time[[k for k in chosen if k != j]]
                share[s, n] = np.prod(others / (others - time[j]))
        return near, share

    @cached_property
    def amplified(self) -> np.ndarray:
        """(n, 2) bands of z = c dt / m in which a step with a damper c multiplies a momentum by more than one.

        They lie about the poles of the factors (1 - g z / 2) / (1 + g z / 2) of its stages g.
        """
        poles = -2.0 / self.stages[self.stages < 0.0]
        if not poles.size:
            return np.zeros((0, 2))
        z = np.arange(AROUND_POLES[0] * poles.min(), AROUND_POLES[1] * poles.max(), FINE * poles.min())
        edges = np.flatnonzero(np.diff(np.abs(self.factor(z)) > 1.0))
        return z[edges + np.array([0, 1] * (len(edges) // 2))].reshape(-1, 2)

    def factor(self, z: np.ndarray) -> np.ndarray:
        """Return the factors (n,) of momenta along a damper c in a step, for ``z`` (n,) = c dt / m."""
        of_stages = 0.5 * self.stages[:, None] * z
        return np.prod((1.0 - of_stages) / (1.0 + of_stages), axis=0)

    @property
    def sharpened(self) -> bool:
        """Whether stages end with an increment from double-double residuals: where round-off is the larger error."""
        return self.order >= SHARPENED_FROM


SUZUKI = 1 / (4 - 4 ** (1 / 3))


def _whole(*half: float) -> np.ndarray:
    """Return all stages of a symmetric composition, by the stages of its first half."""
    return np.array([*half, 1 - 2 * sum(half), *half[::-1]])


# fmt: off
# the first of an order is the one that `order=` takes
SCHEMES = {
    scheme.name: scheme
    for scheme in (
        # first step from v_1 = v(0), velocities of the intervals reported (docs/theory.md)
        Scheme("printed", 1, "start and outputs of VI as printed", np.array([1.0]), staggered=True),
        # the same recursion from node momenta, velocities projected at the nodes: RATTLE
        Scheme("rattle", 2, "node-momentum form, velocities at the nodes", np.array([1.0])),
        # Suzuki, Phys. Lett. A 146 (1990) 319
        Scheme("suzuki", 4, "composition of 5 stages", _whole(SUZUKI, SUZUKI)),
        # Sofroniou & Spaletta, Optim. Methods Softw. 20 (2005) 597
        Scheme("sofroniou-spaletta-13", 6, "composition of 13 stages", _whole(
            0.13861930854051696116, 0.13346562851074761369, 0.13070531011449224024, 0.12961893756907033604,
            -0.3500032489392089774, 0.11805530653002387076,
        )),
        Scheme("sofroniou-spaletta-11", 6, "composition of 11 stages", _whole(
            0.21375583945878254277, 0.18329381407425712758, 0.17692819473098944649, -0.44329082681170217661,
            0.11728560432865935137,
        )),
        # Kahan & Li, Math. Comp. 66 (1997) 1089
        Scheme("kahan-li", 6, "composition of 9 stages", _whole(
            0.39216144400731413927925056, 0.33259913678935943859974864, -0.70624617255763935980996482,
            0.08221359629355080023149045,
        )),
        Scheme("sofroniou-spaletta-21", 8, "composition of 21 stages", _whole(
            0.10647728984550031139, 0.10837408645835726329, 0.35337821052654344589, -0.23341414023165082958,
            -0.24445266791528841299, 0.11317848435755632763, 0.11892905625000349534, 0.1260391232182598853,
            0.12581718736176042417, 0.11699135019217642151,
        )),
    )
}
# fmt: on
DEFAULT_ORDER = 2
ORDERS = tuple(dict.fromkeys(scheme.order for scheme in SCHEMES.values()))


def scheme(order: int | None = None, name: str | None = None) -> Scheme:
    """Return the scheme called ``name``; if that is None, the default one of ``order``, 2 if that is None.

    Raises ArgumentError for an unknown name or order, or a scheme of another order.
    """
    if order is not None:
        choice(order, ORDERS, "order", ArgumentError)
    if name is None:
        wanted = DEFAULT_ORDER if order is None else order
        return next(each for each in SCHEMES.values() if each.order == wanted)
    each = SCHEMES[choice(name, SCHEMES, "scheme", ArgumentError)]
    if order not in (None, each.order):
        raise ArgumentError(
            f"scheme '{name}' is of order {each.order}, got order = {order} as well: leave out one of them"
        )
    return each
