"""Bodies that spin so fast that steps turn them further than their angular velocity times the step.

A stage of size g h turns a body that spins about an axis at w by asin(g w h), because its momentum at a node is
proportional to the sine of the turn (docs/theory.md, section 3). The sum over the stages of a scheme is w h plus an
excess: (w h)^3 / 6 at order 2, and of higher order in schemes of higher order.
"""

from typing import NamedTuple

import numpy as np

from varint.results.recorded_motion import RecordedMotion

STEADY = 0.9  # a body spins if the mean of its angular velocity exceeds this share of its mean speed
LEAST_TURN = 2.0 * np.pi  # rad in a run: bodies that turn less do not count
LOOKED_AT = 10_000  # most nodes that are evaluated
MOST_OF_STAGE = 0.48  # rad: stages that turn a body further are halved
STAGGERED = 0.5  # at order 1 velocities are those of the intervals, and a step turns a body by 2 asin(w h / 2)


class FastSpin(NamedTuple):
    """The ``body`` of a run, by its number, that steps turn too far.

    speed : its largest angular speed, rad/s
    turn : turn in a step at this speed, rad
    excess : excess of the turn over the run, relative
    """

    body: int
    speed: float
    turn: float
    excess: float


def excess_of(turn: np.ndarray, stages: np.ndarray) -> np.ndarray:
    """Return the excess (...), rad, of the turn of a body in a step beyond ``turn`` (...) = w h, rad.

    ``stages`` (s,): sizes of the stages over the step.
    """
    largest = np.abs(stages).max() * turn
    halves = 2.0 ** np.ceil(np.log2(np.maximum(largest / MOST_OF_STAGE, 1.0)))
    each = turn / halves
    return halves * (np.arcsin(each[..., None] * stages).sum(axis=-1) - each)


def relative_excess(turn: np.ndarray, stages: np.ndarray) -> np.ndarray:
    """Return the sum of the excess (nb,) of bodies over a run, relative to the sum of ``turn`` (T, nb), rad.

    ``turn``: w h in each step. ``stages``: see `excess_of`.
    """
    excess, whole = np.abs(excess_of(turn, stages)).sum(axis=0), turn.sum(axis=0)
    return np.divide(excess, whole, out=np.zeros_like(excess), where=whole > 0.0)


def fastest_spin(run: RecordedMotion, dt: float, stages: np.ndarray) -> FastSpin | None:
    """Return the body of ``run`` with the largest excess in steps of ``dt``, s, of a scheme with ``stages``.

    Of the bodies that spin about an axis fixed in them by more than LEAST_TURN; None if no body does. ``stages``: see
    `excess_of`.
    """
    run = run[:: 1 + (len(run) - 1) // LOOKED_AT] if len(run) > LOOKED_AT else run
    span = float(run.t[-1] - run.t[0])
    if not span > 0.0:
        return None
    mean = np.linalg.norm(run.angular_velocity.mean(axis=0), axis=-1)
    speed = np.linalg.norm(run.angular_velocity, axis=-1)
    path = speed.mean(axis=0)
    spins = (mean > STEADY * path) & (mean * span > LEAST_TURN)
    if not spins.any():
        return None
    turn = np.where(spins, speed, 0.0) * dt
    if (widest := run.settings.get("turn")) is not None:  # rad in a step, limited by adaptive steps
        turn = np.minimum(turn, widest)
    share = STAGGERED if run.order == 1 else 1.0
    relative = np.where(spins, relative_excess(share * turn, stages), 0.0)
    body = int(np.argmax(relative))
    return FastSpin(body, float(speed[:, body].max()), float(turn[:, body].max()), float(relative[body]))
