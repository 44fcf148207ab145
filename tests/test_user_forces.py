"""Forces by laws that the user writes: the same motion as built-in laws, and errors that name the force."""

import os
import subprocess
import sys

import numpy as np
import pytest

import varint as vi

POINTS = {"point_a": (0, 0, 0), "point_b": (1, 0, 0.1)}
MOVING = {"velocity": {"m": (1, 0.5, -0.2)}, "angular_velocity": {"m": (1, -2, 3)}}


def linear(length, rate):
    return -50.0 * (length - 0.9) - 0.4 * rate, -50.0, -0.4


def stored(length):
    return 25.0 * (length - 0.9) ** 2


def hardening(angle, rate):
    return -3.0 * angle - 2.0 * angle**3, -3.0 - 6.0 * angle**2, 0.0


def on_a_spring(force):
    body = vi.Body.box("m", (0.1, 0.2, 0.3), 2.0, position=(1, 0, 0))
    return vi.Mechanism("m", [body], [vi.Free("free", "world", "m")], forces=[force], gravity=(0, 0, 0))


def user(law, **more):
    return on_a_spring(vi.UserSpring("s", "world", "m", **POINTS, law=law, **more))


def test_linear_law_is_the_spring():
    spring = vi.Spring("s", "world", "m", **POINTS, stiffness=50.0, rest_length=0.9, damping=0.4)
    runs = [
        vi.simulate(m, 3.0, 0.01, state=m.state(**MOVING))
        for m in (user(linear, potential=stored), on_a_spring(spring))
    ]
    own, built = runs
    assert np.abs(own.position - built.position).max() < 1e-12
    assert np.abs(own.force["s"] - built.force["s"]).max() < 1e-11
    assert np.abs(own.potential - built.potential).max() < 1e-12
    assert np.abs(own.dissipated["s"] - built.dissipated["s"]).max() < 1e-5  # steps do not know the potential of one
    assert own.newton_iterations == built.newton_iterations


def test_without_a_potential_all_work_counts_as_dissipated():
    mechanism = user(linear)
    run = vi.simulate(mechanism, 1.0, 0.01, state=mechanism.state(**MOVING))
    assert np.array_equal(run.dissipated["s"], -run.work[:, 0])
    assert np.abs(run.energy_balance).max() < 1e-2 * run.energy.max()


def hinged(bodies=1):
    chain = vi.mechanisms.n_pendulum(n=bodies, angle=0.5)
    springs = [
        vi.UserJointForce(joint.name, joint=joint.name, law=hardening, potential=lambda q: 1.5 * q**2 + 0.5 * q**4)
        for joint in chain.joints
    ]
    return vi.Mechanism("hinged", chain.bodies, chain.joints, forces=springs, start=chain.start)


@pytest.mark.slow
def test_law_along_joints_keeps_the_energy_at_second_order():
    """In every joint of a chain: one law, compiled once, with its row in Newton's matrix."""
    runs = [vi.simulate(hinged(5), 2.0, dt) for dt in (0.01, 0.005)]
    errors = [np.abs(run.energy_balance).max() for run in runs]
    assert 3.5 < errors[0] / errors[1] < 4.5
    assert runs[0].newton_iterations < 3 * runs[0].steps
    q = runs[0].coordinates["joint 2"]
    np.testing.assert_allclose(runs[0].force["joint 2"], -3.0 * q - 2.0 * q**3, atol=1e-12)


@pytest.mark.slow
def test_kinks_and_places_without_numbers_are_no_wrong_derivatives():
    def cable(length, rate):
        return (-50.0 * (length - 1.1), -50.0, 0.0) if length > 1.1 else (0.0, 0.0, 0.0)

    def root(length, rate):
        return 1.0 - np.sqrt(length - 0.95), -0.5 / np.sqrt(length - 0.95), 0.0

    for law in (cable, root):
        vi.simulate(user(law), 0.01, 0.01)


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (3, "law of userspring 's' must be a function"),
        (lambda length, rate: unknown(length), "law of userspring 's' must compile .*'unknown' is not defined"),  # noqa: F821
        (lambda length: length, "law of userspring 's' must compile .*argument"),
        (lambda length, rate: (length, rate), "must compile .*not a tuple of three numbers"),
        (lambda length, rate: ("a", 1.0, 2.0), "must compile .*not a tuple of three numbers"),
        (lambda length, rate: (1.0 / rate, 0.0, 0.0), "law of userspring 's' must be finite, got .inf.* rate 0"),
        (
            lambda length, rate: (-length * length, -length, 0.0),
            "derivative of law of userspring 's' by value is -1.00499, differences give -2.00998",
        ),
        (
            lambda length, rate: (-length - rate**3, -1.0, 0.0),
            "derivative of law of userspring 's' by rate is 0, differences give -0.03",
        ),
    ],
)
def test_wrong_laws_are_named(law, message):
    with pytest.raises(vi.MechanismError, match=message):
        vi.simulate(user(law), 0.1, 0.01)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_law_that_raises_where_the_run_starts():
    """The error says what the law raised."""

    def long(length, rate):
        if length > 0.0:
            raise ValueError("too long")
        return 0.0, 0.0, 0.0

    with pytest.raises(vi.MechanismError, match=r"law of userspring '.*' raised ValueError\('too long'\) at value"):
        vi.simulate(user(long), 0.1, 0.01)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_law_that_raises_on_the_way_ends_the_run():
    def short(length, rate):
        if length < 0.9:
            raise ValueError("too short")
        return 0.0, 0.0, 0.0

    mechanism = user(short)
    with pytest.raises(vi.ConvergenceError) as caught:
        vi.simulate(mechanism, 1.0, 0.01, state=mechanism.state(velocity={"m": (-1, 0, 0)}))
    assert 0.09 < caught.value.time < 0.12


def test_laws_go_into_no_file(tmp_path):
    with pytest.raises(vi.MechanismError, match="law of userspring 's' is a function, which no file can hold"):
        vi.save_mechanism(user(linear), tmp_path / "m.json")


@pytest.mark.slow
def test_laws_work_without_compilation():
    script = """
import varint as vi
body = vi.Body.sphere("m", 0.1, 1.0, position=(1, 0, 0))
spring = vi.UserSpring("s", "world", "m", point_a=(0, 0, 0), point_b=(1, 0, 0), law=lambda l, r: (2 - 2 * l, -2.0, 0))
mechanism = vi.Mechanism("m", [body], [vi.Free("free", "world", "m")], forces=[spring], gravity=(0, 0, 0))
run = vi.simulate(mechanism, 0.05, 0.01, state=mechanism.state(velocity={"m": (1, 0, 0)}))
print(run.force["s"][-1])
"""
    runs = [
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=os.environ | more
        )
        for more in ({}, {"NUMBA_DISABLE_JIT": "1"})
    ]
    compiled, plain = (float(run.stdout) for run in runs)
    assert compiled == pytest.approx(plain, abs=1e-12)
    assert compiled == pytest.approx(-0.1, abs=1e-3)
