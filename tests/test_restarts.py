"""Runs that go on from a node of another: equal to it over 100 steps, by methods of one step and a fixed size."""

import warnings

import numpy as np
import pytest
from force_samples import IN_STEPS, SAMPLES, sample_mechanism

import varint as vi

DT, FIRST, STEPS = 1e-3, 30, 100
FEW = ("double_pendulum", "four_bar", "slider_crank")
# runs in which a rounding error grows: impacts that DT does not resolve; flexures, whose rates show the stiffness times
# the round-off of a pose
OF_TIME = ("PrescribedMotion", "PrescribedPoint", "PrescribedBody")  # start at t = 0, and are refused elsewhere
UNRESOLVED = ("slider_crank_clearance", "andrews_squeezer")  # the second turns by 0.1 rad in a step
GROWING = {"woodpecker": 1e-11, "parallelogram_flexure": 1e-9}


def run_of(method):
    """A function of mechanism, duration and state that simulates by ``method``, an order or an integrator."""

    def run(mechanism, duration, state):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if isinstance(method, int):
                return vi.simulate(mechanism, duration, DT, order=method, state=state)
            return vi.redmax.simulate(mechanism, duration, DT, state=state, integrator=method)

    return run


def assert_goes_on(mechanism, run, bound=1e-12, state=None):
    """Poses, coordinates, and motions over a step, as in the uninterrupted run."""
    whole = run(mechanism, (FIRST + STEPS) * DT, mechanism.state() if state is None else state)
    part = run(mechanism, STEPS * DT, whole[FIRST])
    speed = max(1.0, *(np.abs(each).max(initial=0.0) for each in (whole.velocity, whole.angular_velocity)))
    bounds = {"position": bound, "quat_wxyz": bound, "velocity": bound / DT, "angular_velocity": bound / DT}
    for name, each in bounds.items():
        now, before = getattr(part, name), getattr(whole, name)[FIRST:]
        np.testing.assert_allclose(now, before, rtol=0, atol=each * speed, err_msg=name)
    for joint in mechanism.joints:
        now, before = part.coordinates[joint.name], whole.coordinates[joint.name][FIRST:]
        np.testing.assert_allclose(now, before, rtol=0, atol=bound * speed, err_msg=joint.name)
    np.testing.assert_allclose(part.law_states, whole.law_states[FIRST:], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", FEW)
def test_runs_of_the_catalogue_go_on_from_a_node(name):
    assert_goes_on(getattr(vi.mechanisms, name)(), run_of(2))


@pytest.mark.slow
@pytest.mark.parametrize("method", [2, 4])
@pytest.mark.parametrize("name", [name for name in vi.mechanisms.NAMES if name not in UNRESOLVED])
def test_every_run_of_the_catalogue_goes_on_from_a_node(name, method):
    mechanism = getattr(vi.mechanisms, name)()
    try:
        run_of(method)(mechanism, DT, mechanism.state())
    except vi.ArgumentError:
        pytest.skip("not of this order")
    assert_goes_on(mechanism, run_of(method), GROWING.get(name, 1e-12))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in IN_STEPS if name not in OF_TIME])
def test_every_force_goes_on_from_a_node(name):
    rng = np.random.default_rng(3)
    mechanism = sample_mechanism(rng, SAMPLES[name])
    assert_goes_on(mechanism, run_of(2))
