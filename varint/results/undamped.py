"""Warnings about strong dampers: a step leaves most of the momentum along them, or turns it round.

Dry friction, or a motor, at its bound is such a damper too where a step is long enough for it to turn the rate round.

A step multiplies the momentum along a damper by a rational function R of z = c dt / m. For symmetric methods R goes to
1 or -1 with growing z: what a damper, or dry friction, should end at once then goes on for many steps.
"""

from collections.abc import Callable

import numpy as np

from varint.results.dissipation import find_alternating, ranges_of
from varint.results.recorded_motion import RecordedMotion
from varint.results.resolution import Unresolved

STRONG = 2.0  # z from which on a step should leave no more than MOST of a momentum
MOST = 0.5
LARGEST, LOOKED_AT = 1e9, 1000  # z up to which a factor is looked at, and at how many
BY_ORDER_2 = "vi.Variational at order 2, which ends it"
LESS = 0.9  # times the step that leaves MOST: the one that is proposed

Factor = Callable[[np.ndarray], np.ndarray]


def diagonal_factor(nodes: int, z: np.ndarray) -> np.ndarray:
    """Return R of collocation at Gauss points, or in Lobatto pairs, of order 2 ``nodes``: the diagonal of Pade's table.

    N(-z) / N(z), N(z) = sum_k a_k z^k, with a_0 = 1 and a_k = a_{k-1} (n - k + 1) / (k (2 n - k + 1)).
    """
    above = below = term = np.ones_like(z)
    for k in range(1, nodes + 1):
        term = term * z * (nodes - k + 1) / (k * (2 * nodes - k + 1))
        above, below = above + (-1) ** k * term, below + term
    return above / below


def find_undamped(
    trajectory: RecordedMotion,
    dt: float,
    factor: Factor,
    method: str,
    remedy: str,
    beams: bool = False,
    forces: np.ndarray | None = None,
) -> Unresolved | None:
    """Return the `Unresolved` of a run whose steps of ``dt``, s, leave more than MOST of a momentum, of z above STRONG.

    By the inertias at its start; along ``beams`` alone, or all dampers, or those of ``forces`` (n,), their numbers.
    ``factor``: R (n,) by z (n,); ``method``, ``remedy``: parts of the message.
    """
    if not len(trajectory) or np.abs(factor(np.geomspace(STRONG, LARGEST, LOOKED_AT))).max() <= MOST:
        return None
    mechanism = trajectory.mechanism
    if beams and not any(force.mean_rates for force in mechanism.forces):
        return None
    ranges = ranges_of(mechanism, trajectory.state(0), dt, STRONG, at_start=True, beams=beams, forces=forces)
    if ranges is None:
        return None
    lasting = (ranges.most >= STRONG) & (np.abs(factor(ranges.most)) > MOST)
    if not lasting.any():
        return None
    k = int(np.flatnonzero(lasting)[-1])
    z, share = float(ranges.most[k]), abs(float(factor(ranges.most[k : k + 1])[0]))
    below = np.geomspace(STRONG, z, LOOKED_AT)
    most = below[np.argmax(np.abs(factor(below)) > MOST)]
    force = mechanism.forces[ranges.damping.force[ranges.effort]]
    remedy = "" if force.mean_rates else remedy
    body = mechanism.bodies[int(np.argmax(np.abs(ranges.damping.gradient[ranges.effort]).sum(axis=1)))].name
    message = (
        f"{ranges.described(mechanism, dt)}. A step of {method} leaves {share:.0%} of such a motion, which should end"
        f" at once, and may turn it round. Take {remedy}{', or ' * bool(remedy)}dt below {LESS * dt * most / z:.2g} s"
    )
    return Unresolved(message, float(trajectory.t[0]), body)


def find_turned(trajectory: RecordedMotion, method: str) -> Unresolved | None:
    """Return the `Unresolved` of a run in which friction, or a motor, turns a rate round in each of some steps.

    An effort at its bound has no slope, so that a step that is implicit by the slope does not see that the effort ends
    the motion. ``method``: part of the message.
    """
    turned = find_alternating(trajectory)
    if turned is None:
        return None
    number, node = turned
    time = float(trajectory.t[node])
    message = (
        f"{trajectory.mechanism.forces[number].label} turns its rate round in each step from t = {time:g} s on, with"
        f" its largest effort: steps of {method} are too long for it, and the motion is not what it should be. Take"
        f" {BY_ORDER_2}, or a smaller dt"
    )
    return Unresolved(message, time, None)
