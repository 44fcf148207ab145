"""Oscillations that are off in frequency because a step of order 2 is long for them.

A step of size h turns the phase of an oscillation of angular frequency w by 2 atan(w h / 2), so that springs swing
slow by (w h)^2 / 12 of themselves while their energy is right; a pendulum swings fast by half as much. The turn of a
step follows from the velocities at nodes, which obey v[n+1] - 2 v[n] + v[n-1] = -4 sin^2(turn / 2) v[n].
"""

import math
from typing import NamedTuple

import numpy as np

from varint.model.rotation_vectors import rotation_matrix
from varint.results.recorded_motion import RecordedMotion

LOOKED_AT = 10_000  # most nodes that are evaluated, the first of a run
LEAST_WAY = 1e-9  # of the size of a part in a step, root mean square: smaller motions are round-off


class SlowOscillation(NamedTuple):
    """Oscillation of the bodies that make up a component of a mechanism.

    body : number of the body with the largest part in it
    period : s, in the run
    lag : how much slower than it should a spring swings with this period, relative
    """

    body: int
    period: float
    lag: float


def slowest_oscillation(run: RecordedMotion, dt: float, least: float) -> SlowOscillation | None:
    """Return the oscillation of a run of order 2 in steps of ``dt``, s, that lags most, None if by less than ``least``.

    Each node of the run is recorded. Velocities that decay, or that turn with their body as those of a crank do, do not
    oscillate.
    """
    part = run[:LOOKED_AT]
    mass = np.array([body.mass for body in run.mechanism.bodies])
    inertia = np.array([body.inertia for body in run.mechanism.bodies])
    velocity, spin = part.velocity, part.angular_velocity
    momentum = np.einsum("nij,tnj->tni", inertia, spin)
    energy = mass * (velocity * velocity).sum(axis=-1) + (momentum * spin).sum(axis=-1)
    of_spin, in_world = _bent(momentum, spin), mass * _bent(velocity, velocity)
    oscillation = _largest_lag(run, dt, energy[1:-1], in_world + of_spin)
    if oscillation is None or oscillation.lag < least:
        return None
    turning = np.einsum("tnji,tnj->tni", rotation_matrix(part.quat_wxyz), velocity)  # in body axes
    least_bent = np.minimum(in_world, mass * _bent(turning, turning))
    oscillation = _largest_lag(run, dt, energy[1:-1], least_bent + of_spin)
    return None if oscillation is None or oscillation.lag < least else oscillation


def _bent(momentum: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """Return minus the second difference of a velocity (T, nb, 3) times a momentum, at the inner nodes (T - 2, nb)."""
    return -(momentum[1:-1] * np.diff(velocity, 2, axis=0)).sum(axis=-1)


def _largest_lag(run: RecordedMotion, dt: float, energy: np.ndarray, bent: np.ndarray) -> SlowOscillation | None:
    """Return the oscillation that lags most, from v . M v and -v . M (second difference) of each body, (T - 2, nb).

    Their ratio is that of a node in the middle, by energy, so that impacts and jumps of velocities do not count.
    """
    compiled = run.mechanism.compiled
    of_body = compiled.plan.components.of_body[compiled.slot]
    mass = np.array([body.mass for body in run.mechanism.bodies])
    worst = None
    for component in np.unique(of_body):
        bodies = np.flatnonzero(of_body == component)
        energies = energy[:, bodies].sum(axis=1)
        if dt * math.sqrt(energies.mean() / mass[bodies].sum()) <= LEAST_WAY * compiled.length:
            continue
        ratios = bent[:, bodies].sum(axis=1) / np.maximum(energies, np.finfo(float).tiny)
        in_turn = np.argsort(ratios)
        middle = np.searchsorted(np.cumsum(energies[in_turn]), 0.5 * energies.sum())
        ratio = min(ratios[in_turn[middle]], 4.0)
        if ratio <= 0.0:
            continue
        turn = 2.0 * math.asin(0.5 * math.sqrt(ratio))
        lag = 1.0 - 0.5 * turn / math.tan(0.5 * turn)
        if worst is None or lag > worst.lag:
            most = int(bodies[np.argmax(bent[:, bodies].sum(axis=0))])
            worst = SlowOscillation(most, 2.0 * math.pi * dt / turn, lag)
    return worst
