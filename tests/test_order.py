"""Order of accuracy of every scheme over the catalogue, against the independent reference at 1e-12."""

import numpy as np
import pytest
import reference
from holonomic import ALONG_PATHS, HOLONOMIC
from random_mechanisms import random_velocity_state

import varint as vi
from varint.methods.variational.schemes import SCHEMES
from varint.model.rotation_vectors import rotation_matrix

STEPS = {1: 512, 2: 64, 4: 16}  # by the order of the scheme
LOW = [name for name, scheme in SCHEMES.items() if scheme.order in STEPS]
SIXTH = [name for name, scheme in SCHEMES.items() if scheme.order == 6]
REFERENCE = {
    "governor": 1e-10,
    "andrews_squeezer": 5e-11,
}  # how far the reference is off, where round-off is large: a light body
ROUND_OFF = {"governor": 2e-10, "klann_leg": 5e-12}

# Cases stand in the files of the mechanisms, under "order": small members of each family. ``duration`` in s, ``speed``:
# size of the random start velocity, m/s and rad/s. ``exact_first_order_start``: planar, and without load along the
# motion at the start, so that the positions of the start as the paper prints it are those of order 2
DEFAULT = {"parameters": {}, "duration": 0.25, "speed": 0.7, "slow": False, "exact_first_order_start": False}


QUICK = ("rattle", "sofroniou-spaletta-13")  # in the fast tests
FEW = ("double_pendulum", "four_bar", "bricard")  # the same
CASES = [
    (name, DEFAULT | case)
    for name in HOLONOMIC
    if name not in ALONG_PATHS  # the reference knows lower pairs and no surfaces: test_products.py, test_wraps.py
    for case in vi.mechanisms.module(name).EXPECTED.get("order", [{}])
]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(case, marks=(pytest.mark.slow, pytest.mark.many) if case[0] not in FEW or case[1]["slow"] else ())
        for case in CASES
    ],
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
    assert covered == set(HOLONOMIC) - set(ALONG_PATHS)
    assert len(covered) > 0.9 * len(HOLONOMIC)


def end_of(mechanism, state, duration, steps, scheme):
    """Positions and rotations, and velocities, at the end of a run."""
    run = vi.simulate(mechanism, duration, duration / steps, state=state, scheme=scheme, tol=1e-13, every=steps)
    return run.position[-1], rotation_matrix(run.quat_wxyz[-1]), run.velocity[-1], run.angular_velocity[-1]


def error_of(reached, exact):
    """Largest errors of poses and of velocities."""
    differences = [np.abs(a - b).max() for a, b in zip(reached, exact, strict=True)]
    return max(differences[:2]), max(differences[2:])


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize(
    "scheme", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in LOW]
)
def test_order_of_positions_and_velocities(case, scheme):
    name, mechanism, state, duration, exact, exact_start = case
    order, staggered = SCHEMES[scheme].order, SCHEMES[scheme].staggered
    counts = STEPS[order], 2 * STEPS[order]
    errors = [error_of(end_of(mechanism, state, duration, steps, scheme), exact) for steps in counts]
    assert np.min(errors) > 1e-13  # below that there is only round-off to see
    position, velocity = np.log2(np.divide(*errors))
    gained = staggered and exact_start
    assert position == pytest.approx(order + gained, abs=0.15)
    if name == "free_body" and staggered:
        # without loads the paper's start shifts the velocities by half a step at both ends: second order
        order = 2
    assert velocity == pytest.approx(order, abs=0.15)


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize(
    "scheme", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in SIXTH]
)
def test_order_six(case, scheme):
    """Against runs of order 8, which keep closer than the reference does; it is as far from them as it is exact."""
    name, mechanism, state, duration, exact, _ = case
    fine = end_of(mechanism, state, duration, 96, "sofroniou-spaletta-21")
    assert max(error_of(fine, exact)) < REFERENCE.get(name, 5e-12)
    errors = {
        n: max(error_of(end_of(mechanism, state, duration, n, scheme), fine)) for n in (2, 3, 4, 6, 8, 12, 16, 24)
    }
    resolved = [n for n in (2, 3, 4, 6, 8, 12) if errors[2 * n] > ROUND_OFF.get(name, 1e-12)]
    slope = np.log2(errors[resolved[-1]] / errors[2 * resolved[-1]])
    assert slope == pytest.approx(6.0, abs=0.15)


@pytest.mark.slow
def test_order_eight_is_above_seven_and_a_half(case):
    """From the start of the other orders, where round-off shows before the errors reach eight."""
    name, mechanism, state, duration, _, _ = case
    fine = end_of(mechanism, state, duration, 96, "sofroniou-spaletta-21")
    counts = np.array([2, 3, 4, 6, 8, 12])
    errors = np.array([error_of(end_of(mechanism, state, duration, n, "sofroniou-spaletta-21"), fine) for n in counts])
    slopes = np.log(errors[:-1] / errors[1:]) / np.log(counts[1:] / counts[:-1])[:, None]
    round_off = 5e-13, ROUND_OFF.get(name, 5e-13)  # of poses, of velocities
    assert slopes[errors[1:] > round_off].max() > 7.5


EIGHTH = {  # start velocity, duration by that of the case, steps above round-off, and seed of the start where not 3
    "andrews_squeezer": (1.5, 2, 13, 5),
    "bennett": (0.7, 4, 16),
    "bricard": (0.7, 4, 8),
    "cart_pole": (0.7, 8, 24),
    "delta_robot": (0.3, 2, 16),
    "double_pendulum": (0.7, 1, 6),
    "ring": (0.7, 1, 12),
    "escapement": (0.7, 4, 24),
    "four_bar": (1.5, 1, 10),
    "free_body": (3.0, 4, 24),
    "governor": (1.0, 2, 4, 4),
    "jansen_leg": (0.7, 4, 12),
    "klann_leg": (0.1, 2, 4),
    "ladder": (0.3, 4, 24),
    "minitaur": (0.7, 6, 12),
    "minitaur_leg": (0.1, 1, 6),
    "n_four_bar": (0.7, 4, 16),
    "n_pendulum": (0.7, 2, 12),
    "peaucellier": (0.7, 4, 16),
    "rhombus_chain": (1.5, 1, 8, 0),
    "sarrus": (0.7, 1, 7),
    "scissor_lift": (0.7, 1, 4),
    "slider_crank": (0.4, 3, 14),
    "snake": (0.6, 4, 12, 2),
    "spatial_slider_crank": (0.3, 1, 14),
    "spinning_top": (0.7, 4, 24),
    "stewart_platform": (1.2, 4, 8),
    "three_link_loop": (0.7, 4, 16),
    "tree": (0.7, 1, 4),
    "two_bones_one_muscle": (0.7, 2, 24),
}


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("name", EIGHTH)
def test_order_eight(name):
    case = next(given for found, given in CASES if found == name)
    speed, longer, steps, seed = (*EIGHTH[name], 3)[:4]
    mechanism, duration = getattr(vi.mechanisms, name)(**case["parameters"]), longer * case["duration"]
    state = random_velocity_state(np.random.default_rng(seed), mechanism, speed)
    counts = (192, 144, steps, 2 * steps)
    fine, near, *others = (end_of(mechanism, state, duration, n, "sofroniou-spaletta-21") for n in counts)
    coarse, half = (np.array(error_of(end, fine)) for end in others)
    assert (half > 4 * np.array(error_of(near, fine))).all()
    assert np.log2(coarse / half) == pytest.approx([8.0, 8.0], abs=0.15)


def test_order_eight_leaves_none_out():
    assert set(EIGHTH) == {name for name, _ in CASES}


@pytest.mark.slow
def test_forced_halvings_keep_the_order():
    """A top that turns further than a step can: whole steps are halved, and errors stay those of the scheme."""
    top = vi.mechanisms.spinning_top()
    exact = end_of(top, None, 1.0, 2000, "sofroniou-spaletta-21")
    for scheme, steps, most in (("suzuki", 24, 5e-5), ("sofroniou-spaletta-11", 11, 5e-7), ("kahan-li", 13, 5e-6)):
        run = vi.simulate(top, 1.0, 1.0 / steps, scheme=scheme, tol=1e-13, every=steps)
        assert run.substeps > steps // 2
        assert np.abs(run.position[-1] - exact[0]).max() < most
        assert np.abs(run.velocity[-1] - exact[2]).max() < most
