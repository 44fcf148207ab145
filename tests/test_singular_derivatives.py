"""Derivatives of runs at and near poses in which links are aligned, against differences of runs from closed forms."""

import numpy as np
import pytest
from marched_steps import Marched, check_transpose, slope_of
from planar_links import changes_of_state, four_bar, parallelogram, slider_crank, state_of

import varint as vi

RATE, DT, STEPS = 2 * np.pi, 0.005, 4
STRETCHED = np.arccos((1.4**2 + 1.0 - 0.8**2) / 2.8)  # crank and coupler of 0.4 and 1 m in line: law of cosines

# The mechanism, its closed form, the angle of its crank in the pose, and how near derivatives by the angle are held. In
# a flat pose to the last bit the rows depend on each other: an impulse along them has no effect and is not known, so
# the effect that it has at the pose beside is no part of the derivative there.
CASES = {
    "flat parallelogram": (vi.mechanisms.four_bar(case="change-point"), parallelogram(0.4, 1.0), 0.0, 1e-6),
    "folded parallelogram": (vi.mechanisms.four_bar(case="change-point"), parallelogram(0.4, 1.0), np.pi, 1e-6),
    "four-bar in line": (vi.mechanisms.four_bar(), four_bar(0.4, 1.0, 0.8, 1.0), STRETCHED, 0.0),
    "dead point": (vi.mechanisms.slider_crank(), slider_crank(0.3, 1.0), 0.0, 0.0),
    "inner dead point": (vi.mechanisms.slider_crank(), slider_crank(0.3, 1.0), np.pi, 0.0),
    "slider at the crank's pivot": (vi.mechanisms.slider_crank(0.5, 0.5), slider_crank(0.5, 0.5), np.pi / 2, 1e-6),
}
OFF = 0.0, 1e-6, RATE * DT  # rad, before the pose; from the last of them a step ends in it
MORE = tuple(pytest.param(off, marks=pytest.mark.slow) for off in (1e-4, 1e-3, 1e-2))


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("order", [2, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("off", OFF + MORE)
@pytest.mark.parametrize("case", CASES)
def test_along_the_motion(rng, case, off, order):
    """By angle and rate of the crank; the runs of the differences start on both sides of the pose."""
    mechanism, linkage, angle, nearest = CASES[case]
    weights = rng.standard_normal((3, 3, 3))

    def objective(state):
        parts = state.position**2, state.velocity, state.angular_velocity
        return float(sum(np.sum(a * part) for a, part in zip(weights, parts, strict=True)))

    def after(more_angle, more_rate):
        start = state_of(linkage, angle - off + more_angle, RATE + more_rate)
        return objective(vi.simulate(mechanism, STEPS * DT, DT, state=start, order=order, tol=1e-13)[-1])

    given = {"state": state_of(linkage, angle - off, RATE), "order": order}
    by = vi.gradient(mechanism, objective, STEPS * DT, DT, with_respect_to=["start"], **given)["start"]
    by_state = np.hstack([by.position, by.rotation, by.velocity, by.angular_velocity])
    by_angle, by_rate = np.tensordot(changes_of_state(linkage, angle - off, RATE), by_state, 2)
    assert by_rate == pytest.approx(slope_of(lambda share: after(0.0, share), 0.1), rel=1e-7)
    if off >= nearest:
        assert by_angle == pytest.approx(slope_of(lambda share: after(share, 0.0), 0.01), rel=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("off", [1e-7, *OFF, *MORE])
@pytest.mark.parametrize("case", CASES)
def test_ahead_and_back(rng, case, off, order):
    """Along the motion to 1e-12; momenta across it lead to impulses of the size of 1 / off, with their round-off."""
    mechanism, linkage, angle, nearest = CASES[case]
    marched = Marched(mechanism, state_of(linkage, angle - off, RATE), DT, order, after=0)
    along = marched.of_velocities(changes_of_state(linkage, angle - off, RATE))
    check_transpose(marched, rng, STEPS, along)
    round_off = 1e-3 / off if nearest and off >= nearest else 1.0
    if off >= nearest or not off:
        check_transpose(marched, rng, STEPS, rtol=1e-12 * max(1.0, round_off))
