"""Derivatives of steps: against differences, their transposes, and the two-form that steps keep."""

import force_samples
import numpy as np
import pytest
from holonomic import HOLONOMIC
from marched_steps import Marched, check_differences, check_transpose
from random_mechanisms import LOWER, random_closed, random_tree, random_velocity_state

import varint as vi
from varint.model.joints import REGISTRY

PRODUCTS = [kind for kind in REGISTRY if kind not in LOWER]
WITHOUT = {*force_samples.IN_THE_WORLD, "HardContact", "Contact", "ContactPairs", "PathMass"}
DIFFERENTIABLE = [name for name in force_samples.NAMES if name not in WITHOUT]
SLOW = pytest.mark.slow, pytest.mark.many
FAST = {"double_pendulum", "four_bar", "bennett", "governor", "wrapped_double_pendulum"}


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize(
    ("name", "order"),
    [
        pytest.param(name, order, marks=() if order == 2 and name in FAST else SLOW)
        for name in HOLONOMIC
        for order in (2, 4, 6, 8)
    ],
)
def test_catalogue(rng, name, order):
    mechanism = getattr(vi.mechanisms, name)()
    state = random_velocity_state(rng, mechanism, 0.3)
    dt = vi.mechanisms.module(name).EXPECTED["dt"]
    if (name, order) == ("governor", 8):  # its dampers, in stages that go back: momenta grow by 200, no differences
        dt *= 0.5
    marched = Marched(mechanism, state, dt, order)
    check_transpose(marched, rng, 3)
    # the squeezer's bodies are light and fast: differences have more round-off
    check_differences(marched, rng, 2, rtol=3e-7 if name == "andrews_squeezer" else 1e-7)


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("order", [2, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_forces_and_couplings(rng, name, order):
    mechanism = force_samples.sample_mechanism(np.random.default_rng(1), force_samples.SAMPLES[name])
    marched = Marched(mechanism, random_velocity_state(rng, mechanism, 0.3), 2e-3, order)
    check_transpose(marched, rng, 3)
    check_differences(marched, rng, 2)


@pytest.mark.slow
def test_couplings_that_are_not_linear(rng):
    mechanism = force_samples.sample_mechanism(np.random.default_rng(1), [force_samples.bent_map()])
    marched = Marched(mechanism, random_velocity_state(rng, mechanism, 0.3), 2e-3, 2)
    check_transpose(marched, rng, 3)
    check_differences(marched, rng, 2)


def marks_of(seed):
    return [pytest.mark.slow] if seed < 20 else [pytest.mark.slow, pytest.mark.long]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(k, marks=marks_of(k)) for k in range(2, 100))])
def test_random_loops(seed):
    rng = np.random.default_rng(seed)
    mechanism = random_closed(rng, int(rng.integers(4, 9)), int(rng.integers(1, 3)))
    marched = Marched(mechanism, random_velocity_state(rng, mechanism, 0.3), 1e-3, 2)
    check_transpose(marched, rng, 2)
    check_differences(marched, rng, 2)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 5))])
@pytest.mark.parametrize("kind", PRODUCTS)
def test_products_of_exponentials(kind, seed):
    rng = np.random.default_rng(seed)
    mechanism = random_tree(rng, int(rng.integers(1, 4)), kinds=(kind,))
    marched = Marched(mechanism, random_velocity_state(rng, mechanism, 0.3), 1e-3, 4)
    check_transpose(marched, rng, 3, rtol=4e-12)  # rows that are solved for have more round-off
    check_differences(marched, rng, 2)


def two_form(a, b, angular):
    """The canonical one of changes a, b (nb, 12), rotation vectors and angular momenta (nb, 3) in body axes."""
    (x, s, p, k), (y, t, q, l) = np.split(a, 4, axis=1), np.split(b, 4, axis=1)
    return np.sum(x * q - y * p) + np.sum(s * l - t * k) + np.sum(angular * np.cross(s, t))


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 4, *(pytest.param(order, marks=pytest.mark.slow) for order in (6, 8))])
@pytest.mark.parametrize("name", ["n_pendulum", "spinning_top", "four_bar", "jansen_leg", "bricard", "sarrus"])
def test_steps_keep_the_two_form(rng, name, order):
    """M^T J M = J, with J that of the momenta in body axes."""
    mechanism = getattr(vi.mechanisms, name)()
    marched = Marched(mechanism, random_velocity_state(rng, mechanism, 0.5), 1e-3, order)
    changes, before = marched.changes(rng, 6), marched.march.ws.momentum[:, 3:].copy()
    ends = marched.forward(changes, 3)
    after = marched.march.ws.momentum[:, 3:]
    start = np.array([[two_form(a, b, before) for a in changes] for b in changes])
    end = np.array([[two_form(a, b, after) for a in ends] for b in ends])
    assert np.abs(end - start).max() < 1e-12 * np.abs(start).max()


@pytest.mark.slow
def test_halved_steps_are_kept(rng):
    """A top that turns further than a step may: the derivatives are those of the sub-steps that were taken."""
    mechanism = vi.mechanisms.spinning_top()
    marched = Marched(mechanism, mechanism.state(rates={mechanism.joints[0].name: (3.0, 2.0, 60.0)}), 0.02, 4)
    check_differences(marched, rng, 2)
    assert marched.count > 2 * marched.march.scheme.stages.size
