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

WINDOWS, WINDOW = 10, 1000  # of consecutive nodes, spread evenly over a longer run, that are evaluated
LEAST_PERIODS = 3  # that the energy lasts in a longer run, in steps (sum of it)^2 / (sum of its squares)
LEAST_NODES = 2  # or half of the nodes, in a shorter run
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

    Each node of the run, at least three, is recorded. Velocities that decay within some periods do not count, nor do
    those that turn with their body, as of a crank.
    """
    whole = len(run) <= WINDOWS * WINDOW
    firsts = [0] if whole else np.linspace(0, len(run) - WINDOW, WINDOWS).astype(int)
    parts = [run] if whole else [run[first : first + WINDOW] for first in firsts]
    measured = [_second_differences(part, False) for part in parts]
    oscillation = _largest_lag(run, dt, *map(np.concatenate, zip(*measured, strict=True)))
    if oscillation is None or oscillation.lag < least:
        return None
    measured = [_second_differences(part, True) for part in parts]
    oscillation = _largest_lag(run, dt, *map(np.concatenate, zip(*measured, strict=True)))
    return None if oscillation is None or oscillation.lag < least else oscillation


def _second_differences(run: RecordedMotion, in_body: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return v . M v and -v . M (second difference of v) of each body at the inner nodes, (T - 2, nb) each.

    ``in_body``: the second difference of the velocity of a centre of mass is that in the axes of its body, if smaller.
    """
    mass = np.array([body.mass for body in run.mechanism.bodies])
    inertia = np.array([body.inertia for body in run.mechanism.bodies])
    velocity, spin = run.velocity, run.angular_velocity
    momentum = np.einsum("nij,tnj->tni", inertia, spin)
    energy = mass * (velocity * velocity).sum(axis=-1) + (momentum * spin).sum(axis=-1)
    linear = _times_second_difference(velocity, velocity)
    if in_body:
        turning = np.einsum("tnji,tnj->tni", rotation_matrix(run.quat_wxyz), velocity)
        linear = np.minimum(linear, _times_second_difference(turning, turning))
    return energy[1:-1], mass * linear + _times_second_difference(momentum, spin)


def _times_second_difference(momentum: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """Return minus the second difference of a velocity (T, nb, 3) times a momentum, at the inner nodes (T - 2, nb)."""
    return -(momentum[1:-1] * np.diff(velocity, 2, axis=0)).sum(axis=-1)


def _largest_lag(run: RecordedMotion, dt: float, energy: np.ndarray, bends: np.ndarray) -> SlowOscillation | None:
    """Return the oscillation that lags most, from the numbers of `_second_differences`; None where nothing oscillates.

    Their ratio is that of a node in the middle, by energy, so that jumps of velocities do not count, and impacts where
    they are more than four nodes apart.
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
        ratios = bends[:, bodies].sum(axis=1) / np.maximum(energies, np.finfo(float).tiny)
        in_turn = np.argsort(ratios)
        middle = np.searchsorted(np.cumsum(energies[in_turn]), 0.5 * energies.sum())
        ratio = min(ratios[in_turn[middle]], 4.0)
        if ratio <= 0.0:
            continue
        turn = 2.0 * math.asin(0.5 * math.sqrt(ratio))
        lag, lasts = 1.0 - 0.5 * turn / math.tan(0.5 * turn), energies.sum() ** 2 / (energies * energies).sum()
        if lasts < min(LEAST_PERIODS * 2.0 * math.pi / turn, max(LEAST_NODES, 0.5 * len(energies))):
            continue
        if worst is None or lag > worst.lag:
            most = int(bodies[np.argmax(bends[:, bodies].sum(axis=0))])
            worst = SlowOscillation(most, 2.0 * math.pi * dt / turn, lag)
    return worst
