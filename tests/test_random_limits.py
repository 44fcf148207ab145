"""Random mechanisms of hinges, slides and balls with limits, contacts and strong dampers: both formulations agree."""

import warnings

import numpy as np
import pytest
from limit_rules import GAIN, energy_gain, frozen_joints
from random_limits import random_limited, random_touching

import varint as vi

DT, DURATION = 0.002, 0.1  # s
FAR, LEAST, SHARE = 50.0, 1e-6, 0.75  # times the error; of the size; of the error that half the step removes
LIMITED = [0, 4, 57, 96, 153, 156, 183, 427, 1229, 2269, 5526]
DAMPED = [930, 985, 1129, 1212, 2139, 2881, 4655, 5091, 5304, 7431, 9509]  # strong dampers beside impacts
HALVINGS = 3  # of the step: runs that are cut at the same impacts differ by less than they are wrong


def largest_error(mechanism, state, run, enough=np.inf, method=vi.Variational):
    """Largest error, m, of a ``run`` and of those with a half and a quarter of its step, each by half the step.

    Up to the first that is at least ``enough``, or that does not end. ``method``: that of a step, s.
    """
    largest, dt = 0.0, run.t[1]
    for k in range(HALVINGS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                finer = vi.simulate(vi.Problem(mechanism, DURATION, state), method(dt / 2 ** (k + 1)))
            except vi.ConvergenceError:
                break
        largest = max(largest, float(np.abs(run.position - finer.position[::2]).max()) / SHARE)
        if largest >= enough:
            break
        run = finer
    return largest


def check(seed, make=random_limited, stream=11):
    mechanism, start = make(np.random.default_rng([seed, stream]), DT)
    state = mechanism.state(**start)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            coarse = vi.simulate(mechanism, DURATION, DT, state=state)
            right = vi.redmax.simulate(mechanism, DURATION, DT, state=state, integrator="radau", rtol=1e-8)
        except vi.ConvergenceError:  # which is a word
            return
    if told or coarse.unresolved.size:
        return
    for run in (coarse, right):
        assert energy_gain(run) <= GAIN
        assert frozen_joints(run) == []
    off, least = np.abs(coarse.position - right.position).max(), LEAST * mechanism.compiled.length
    assert off <= FAR * least or off <= FAR * largest_error(mechanism, state, coarse, off / FAR), seed


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("seed", LIMITED)
def test_limits_beside_each_other(seed):
    check(seed)


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("seed", DAMPED)
def test_strong_dampers_beside_impacts(seed):
    check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_boxes_capsules_and_tethers_beside_taut_ones(seed):
    check(seed, random_touching, 12)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "order"), [(150, 4), (234, 4), (200, 8)])
def test_limits_in_collocation(seed, order):
    """A rebound before an impact elsewhere; one beside a strong damper; a stop and a contact of which one holds."""
    mechanism, start = random_limited(np.random.default_rng([seed, 11]), DT)
    state = mechanism.state(**start)
    right = vi.redmax.simulate(mechanism, DURATION, 2 * DT, state=state, integrator="radau", rtol=1e-9)
    run = vi.simulate(vi.Problem(mechanism, DURATION, state), vi.Lobatto(2 * DT, order))
    assert np.abs(run.position - right.position).max() < 1e-7


@pytest.mark.slow
@pytest.mark.parametrize("seed", [126, 2113])
def test_radau_beside_strong_dampers_and_coordinates_on_which_nothing_depends(seed):
    mechanism, start = random_limited(np.random.default_rng([seed, 11]), DT)
    state, before = mechanism.state(**start), None
    for rtol in (1e-6, 1e-8):
        run = vi.redmax.simulate(mechanism, DURATION, DT, state=state, integrator="radau", rtol=rtol)
        assert before is None or np.abs(run.position - before).max() < 1e-5 * mechanism.compiled.length
        before = run.position


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("first", range(100, 200, 10))
def test_many_limits_beside_each_other(first):
    for seed in range(first, first + 10):
        check(seed)
