"""Strong dampers beside impacts: momenta along them relax after an impact, and bodies rebound meanwhile."""

import numpy as np
import pytest
from scipy.optimize import brentq

import varint as vi

ORIGIN = (0, 0, 0)
DT, SPEED, GAP = 1e-3, 1.0, 2.37e-3  # s, m/s, m


def blocks(first, second, damping, restitution, **start):
    """Two blocks in a row on the x axis with a damper between, the first before a stop at ``GAP``; and a state."""
    bodies = [vi.Body.sphere("a", 0.1, first), vi.Body.sphere("b", 0.1, second, position=(-1, 0, 0))]
    joints = [
        vi.Prismatic("pa", "world", "a", point=ORIGIN, axis=(1, 0, 0)),
        vi.Prismatic("pb", "a", "b", point=ORIGIN, axis=(1, 0, 0)),
    ]
    stop = vi.JointStop("s", joint="pa", lower=-1.0, upper=GAP, restitution=restitution)
    damper = vi.JointDamper("d", joint="pb", damping=damping)
    mechanism = vi.Mechanism("blocks", bodies, joints, gravity=ORIGIN, forces=[stop, damper])
    return mechanism, mechanism.state(**start)


def bounces(first, second, damping, restitution, duration, gap=GAP, speeds=(SPEED, SPEED)):
    """Places and speeds of both blocks after ``duration``, of the exact motion from one impact to the next one."""
    total, mean = first + second, first * second / (first + second)
    decay = damping / mean
    x, v, t = np.zeros(2), np.array(speeds, dtype=float), 0.0
    scale = abs(v).max()

    def after(time):
        """Places and speeds (2,) at a time, (2, n) at times (n,)."""
        gone = (v[1] - v[0]) * -np.expm1(-decay * time)  # of the relative speed
        common, apart = (first * v[0] + second * v[1]) / total, (-second / total, first / total)
        place = [x[k] + common * time + apart[k] * gone / decay for k in range(2)]
        return np.array(place), np.array([v[k] - apart[k] * gone for k in range(2)])

    while True:
        times = np.append(np.geomspace(1e-6, 40.0, 4000) / decay, np.linspace(40.0 / decay, duration - t, 200)[1:])
        times = np.unique(times[times <= duration - t])
        gaps = gap - after(times)[0][0]
        met = np.flatnonzero(gaps < 0.0)
        if not met.size:
            return after(duration - t)
        low = times[met[0] - 1] if met[0] else 0.0
        time = brentq(lambda each: gap - after(each)[0][0], low, times[met[0]], xtol=1e-30, rtol=1e-14)
        x, v = after(time)
        x[0], t = gap, t + time
        if v[0] < 1e-5 * scale:  # it stays
            share = -np.expm1(-damping / second * (duration - t))
            return np.array([gap, x[1] + v[1] * second / damping * share]), np.array([0.0, v[1] * (1.0 - share)])
        v[0] *= -restitution


@pytest.mark.many
@pytest.mark.parametrize("z", [3.0, 30.0, 1e3, 1e5, 1e7])
@pytest.mark.parametrize("masses", [(1.0, 0.4), (1.0, 2.5), (1.0, 0.8)])
@pytest.mark.parametrize("restitution", [0.0, 0.5, 0.9])
def test_an_impact_beside_a_damper(z, masses, restitution):
    damping = z / DT
    mechanism, state = blocks(*masses, damping, restitution, rates={"pa": SPEED})
    place, speed = bounces(*masses, damping, restitution, 10 * DT)
    run = vi.simulate(mechanism, 10 * DT, DT, state=state)
    right = vi.redmax.simulate(mechanism, 10 * DT, DT, state=state, integrator="radau", rtol=1e-8)
    for each in (run, right):
        x = each.position[-1, :, 0] - each.position[0, :, 0]
        np.testing.assert_allclose(each.velocity[-1, :, 0], speed, rtol=0, atol=1e-4 * SPEED)
        np.testing.assert_allclose(x, place, rtol=0, atol=1e-4 * GAP)
