"""Random mechanisms of hinges, slides and balls with limits, contacts and strong dampers: both formulations agree."""

import warnings

import numpy as np
import pytest
from random_limits import random_limited

import varint as vi

DT, DURATION = 0.002, 0.1  # s
FAR, LEAST, SHARE = 50.0, 1e-6, 0.75  # times the error; of the size; of the error that half the step removes


def check(seed):
    mechanism, start = random_limited(np.random.default_rng([seed, 11]), DT)
    state = mechanism.state(**start)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            coarse, fine = (vi.simulate(mechanism, DURATION, h, state=state) for h in (DT, DT / 2))
            right = vi.redmax.simulate(mechanism, DURATION, DT, state=state, integrator="radau", rtol=1e-8)
        except vi.ConvergenceError:  # which is a word
            return
    if told or coarse.unresolved.size:
        return
    size = mechanism.compiled.length
    error = np.abs(coarse.position - fine.position[::2]).max() / SHARE
    assert np.abs(coarse.position - right.position).max() <= FAR * max(error, LEAST * size), seed


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 4, 57, 96, 153, 156, 183, 427, 1229, 2269, 5526])
def test_limits_beside_each_other(seed):
    check(seed)


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
