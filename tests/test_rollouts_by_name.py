"""Rollouts of a mechanism with a closed loop, by its numbers by name, in JAX and PyTorch."""

import numpy as np
import pytest
from fed_back_four_bar import NAMED, fed_back
from test_bridges import DT, DURATION

import varint as vi
from varint.derivatives.numbers import differences
from varint.extras.bridges.rollout import Rollout


def named_by_runs():
    """Derivatives of the loss by differences of runs; of the efforts those of three nodes."""
    rollout = Rollout(fed_back(), DURATION, DT, [0.1, 0.2], {"order": 2, "tol": 1e-14})

    def by(name, place):
        def value(share):
            changed = {key: np.array(array, dtype=float) for key, array in NAMED.items()}
            changed[name][place] += share
            return float(named_loss(rollout.states(changed)))

        return differences(value, 1e-3)

    return {name: [by(name, k) for k in (0, 7, 19)] if np.ndim(NAMED[name]) else by(name, ()) for name in NAMED}


def named_loss(states):
    weights = np.random.default_rng(8).standard_normal((2, 3, 3))
    return (weights * np.asarray(states.position)).sum() + (weights * np.asarray(states.velocity)).sum()


def check_named(found):
    for name, by in named_by_runs().items():
        got = np.asarray(found[name])[[0, 7, 19]] if np.ndim(by) else float(found[name])
        np.testing.assert_allclose(got, by, rtol=1e-7, atol=1e-7 * np.max(np.abs(by)), err_msg=name)


@pytest.mark.slow
def test_numbers_by_name_have_the_gradients_of_runs():
    rollout = Rollout(fed_back(), DURATION, DT, [0.1, 0.2], {"order": 2, "tol": 1e-14})
    weights = np.random.default_rng(8).standard_normal((2, 3, 3))
    none = np.zeros((2, 3, 4)), np.zeros((2, 3, 3))
    given = {name: np.array(value, dtype=float) for name, value in NAMED.items()}
    check_named(dict(zip(NAMED, rollout.back(given, list(given), (weights, none[0], weights, none[1])), strict=True)))


def test_numbers_by_name_through_torch(torch):
    rollout = vi.bridges.torch_rollout(fed_back(), DURATION, DT, order=2, times=[0.1, 0.2], tol=1e-14)
    given = {name: torch.tensor(np.array(value), requires_grad=True) for name, value in NAMED.items()}
    weights = torch.tensor(np.random.default_rng(8).standard_normal((2, 3, 3)))
    states = rollout(given)
    ((weights * states.position).sum() + (weights * states.velocity).sum()).backward()
    check_named({name: value.grad.numpy() for name, value in given.items()})


def test_numbers_by_name_through_jax(jax):
    rollout = vi.bridges.jax_rollout(fed_back(), DURATION, DT, order=2, times=[0.1, 0.2], tol=1e-14)
    weights = jax.numpy.asarray(np.random.default_rng(8).standard_normal((2, 3, 3)))

    def value(parameters):
        states = rollout(parameters)
        return (weights * states.position).sum() + (weights * states.velocity).sum()

    check_named(jax.grad(value)({name: jax.numpy.asarray(array) for name, array in NAMED.items()}))
