"""Loads of the catalogue's forces on the bodies at one pose and velocity (docs/theory.md section 10)."""

import math

from varint._numba import njit
from varint.kernels.forces import law
from varint.kernels.gauges import gauge
from varint.kernels.plan import COULOMB, TURN


@njit
def measure_gauges(gauge_body, gauge_kind, gauge_vector, turns, position, rotation, velocity, value, rate, gradient):
    """Values and rates (ng,) and gradients (ng, 2, 6) of all gauges; TURNs are taken near ``turns`` (ng,)."""
    nb = velocity.shape[0]
    for e in range(gauge_kind.size):
        a, b = gauge_body[e, 0], gauge_body[e, 1]
        moving = b if b < nb else 0  # of the world no velocity is asked for
        value[e] = gauge(
            gauge_kind[e], gauge_vector[e], position[a], rotation[a], position[b], rotation[b], velocity[moving],
            gradient[e],
        )  # fmt: skip
        if gauge_kind[e] == TURN:
            value[e] += 2.0 * math.pi * round((turns[e] - value[e]) / (2.0 * math.pi))
        rate[e] = 0.0
        for s in range(2):
            i = gauge_body[e, s]
            if i < nb:
                for k in range(6):
                    rate[e] += gradient[e, s, k] * velocity[i, k]


@njit
def apply_laws(gauge_law, law_kind, law_parameter, table, value, rate, command, effort, power, slopes, law_slopes):
    """Efforts and powers (nf,) of the laws, and derivatives of the efforts by value and rate.

    ``law_slopes`` (nf, 2): of each law; ``slopes`` (ng, 3): of each gauge, its effort first. A gauge without laws is
    added to the last one that has, and has its effort.
    """
    ng = gauge_law.size - 1
    for e in range(ng):
        first, last = gauge_law[e], gauge_law[e + 1]
        if first == last:
            for k in range(3):
                slopes[e, k] = slopes[e - 1, k]
            continue
        seen, seen_rate, part = value[e], rate[e], e + 1
        while part < ng and gauge_law[part] == gauge_law[part + 1]:
            seen, seen_rate, part = seen + value[part], seen_rate + rate[part], part + 1
        slopes[e] = 0.0
        for f in range(first, last):
            p = law_parameter[f]
            given = effort[int(p[2])] if law_kind[f] == COULOMB else command[f]
            own, by_value, by_rate = law(law_kind[f], p, seen, seen_rate, given, table)
            effort[f], power[f] = own, own * seen_rate
            law_slopes[f, 0], law_slopes[f, 1] = by_value, by_rate
            slopes[e, 0] += own
            slopes[e, 1] += by_value
            slopes[e, 2] += by_rate


@njit
def sum_loads(gauge_body, slopes, gradient, load):
    """Add the efforts along the gauges to ``load`` (nb, 6): force, N, world, and torque, N m, body axes."""
    for e in range(gauge_body.shape[0]):
        for s in range(2):
            i = gauge_body[e, s]
            if i < load.shape[0]:
                for k in range(6):
                    load[i, k] += slopes[e, 0] * gradient[e, s, k]
