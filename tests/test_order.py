"""Order of accuracy of every scheme over the catalogue, against the independent reference at 1e-12."""

import numpy as np
import pytest
import reference
from random_mechanisms import random_velocity_state

import varint as vi
from varint.integrators.schemes import SCHEMES
from varint.model.joints.base import ProductJoint
from varint.model.rotation import rotation_matrix

STEPS = {1: 512, 2: 64, 4: 16, 6: 8, 8: 4}  # by the order of the scheme

# Cases stand in the files of the mechanisms, under "order": small members of each family. ``duration`` in s, ``speed``:
# size of the random start velocity, m/s and rad/s. ``exact_first_order_start``: planar, and without load along the
# motion at the start, so that the positions of the start as the paper prints it are those of order 2
DEFAULT = {"parameters": {}, "duration": 0.25, "speed": 0.7, "slow": False, "exact_first_order_start": False}


def lower_pairs_only(name):
    """The reference knows lower pairs; runs with products of exponentials: test_products.py."""
    return not any(isinstance(joint, ProductJoint) for joint in getattr(vi.mechanisms, name)().joints)


QUICK = ("rattle", "sofroniou-spaletta-11")  # in the fast tests
CASES = [
    (name, DEFAULT | case)
    for name in filter(lower_pairs_only, vi.mechanisms.NAMES)
    for case in vi.mechanisms.module(name).EXPECTED.get("order", [{}])
]


@pytest.fixture(
    scope="module",
    params=[pytest.param(case, marks=pytest.mark.slow if case[1]["slow"] else ()) for case in CASES],
    ids=lambda case: "-".join([case[0], *(f"{key}={value}" for key, value in case[1]["parameters"].items())]),
)
def case(request):
    name, given = request.param
    assert set(given) == set(DEFAULT)
    mechanism = getattr(vi.mechanisms, name)(**given["parameters"])
    state = random_velocity_state(np.random.default_rng(3), mechanism, given["speed"])
    duration = given["duration"]
    exact = reference.integrate(mechanism, state, duration)
    return name, mechanism, state, duration, exact, given["exact_first_order_start"]


def test_covers_the_catalogue():
    """No mechanism leaves itself out by an empty list; few are no lower pairs."""
    covered = {name for name, _ in CASES}
    assert covered == set(filter(lower_pairs_only, vi.mechanisms.NAMES))
    assert len(covered) > 0.9 * len(vi.mechanisms.NAMES)


@pytest.mark.parametrize(
    "scheme",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in SCHEMES],
)
def test_order_of_positions_and_velocities(case, scheme):
    name, mechanism, state, duration, exact, exact_start = case
    order, staggered, errors = SCHEMES[scheme].order, SCHEMES[scheme].staggered, []
    for steps in (STEPS[order], 2 * STEPS[order]):
        run = vi.simulate(mechanism, duration, duration / steps, state=state, scheme=scheme, tol=1e-13, every=steps)
        assert run.substeps == 0
        reached = run.position[-1], rotation_matrix(run.quat_wxyz[-1]), run.velocity[-1], run.angular_velocity[-1]
        differences = [np.abs(a - b).max() for a, b in zip(reached, exact, strict=True)]
        errors.append((max(differences[:2]), max(differences[2:])))
    assert np.min(errors) > 1e-13  # below that there is only round-off to see
    position, velocity = np.log2(np.divide(*errors))
    gained = staggered and exact_start
    assert position == pytest.approx(order + gained, abs=0.15)
    if name == "free_body" and staggered:
        # without loads the paper's start shifts the velocities by half a step at both ends: second order
        order = 2
    assert velocity == pytest.approx(order, abs=0.15)
