"""Runs that go on from a node of another: equal to it over 100 steps, by methods of one step and a fixed size."""

import warnings

import numpy as np
import pytest
from force_samples import IN_STEPS, SAMPLES, sample_mechanism

import varint as vi

DT, STEPS = 1e-3, 100
NODES = (1, 30)
FEW = ("double_pendulum", "four_bar", "slider_crank")
OF_TIME = ("PrescribedMotion", "PrescribedPoint", "PrescribedBody")  # start at t = 0, and are refused elsewhere
UNRESOLVED = ("andrews_squeezer",)  # turns by 0.1 rad in a step
ITS_OWN = ("slider_crank_clearance",)  # whose impacts DT does not resolve, so that an ulp grows to 1e-3 m in 40 steps
# flexures: rates have the stiffness times the round-off of a pose, and poses agree to 1e-14
STIFF = {  # gauss does not damp the ringing of the flexure; explicit stages let rows of rates drift
    "parallelogram_flexure": 1e-9,
    ("parallelogram_flexure", "gauss"): 1e-7,
    ("rolling_disc", "heun"): 1e-9,
}
ONE_STEP = ("euler", "heun", "rk4", "bdf1", "sdirk2", "gauss")
OF_RATES = ("RollingWheel", "KnifeEdge")  # implicit integrators let rows of rates drift, and a start closes them


def run_of(method, dt=DT):
    """A function of mechanism, duration and state that simulates by ``method``, an order or an integrator.

    Steps are solved within ``tol``, from what the steps before foresee: with the default one that is all of 1e-11.
    """

    def run(mechanism, steps, state):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if method == "lobatto":
                return vi.simulate(vi.Problem(mechanism, steps * dt, state=state), vi.Lobatto(dt=dt))
            if isinstance(method, int):
                return vi.simulate(mechanism, steps * dt, dt, order=method, state=state, tol=1e-13)
            return vi.redmax.simulate(mechanism, steps * dt, dt, state=state, integrator=method)

    return run


def assert_same_motion(mechanism, part, whole, node, bound=1e-12, dt=DT):
    """Poses, coordinates, motions over a step, and internal variables."""
    speed = max(1.0, *(np.abs(each).max(initial=0.0) for each in (whole.velocity, whole.angular_velocity)))
    bounds = {"position": bound, "quat_wxyz": bound, "velocity": bound / dt, "angular_velocity": bound / dt}
    for name, each in bounds.items():
        now, before = getattr(part, name), getattr(whole, name)[node:]
        np.testing.assert_allclose(now, before, rtol=0, atol=each * speed, err_msg=name)
    for joint in mechanism.joints:
        now, before = part.coordinates[joint.name], whole.coordinates[joint.name][node:]
        np.testing.assert_allclose(now, before, rtol=0, atol=bound * speed, err_msg=joint.name)
    np.testing.assert_allclose(part.law_states, whole.law_states[node:], rtol=1e-10, atol=1e-12)


def assert_goes_on(mechanism, run, bound=1e-12, dt=DT, nodes=NODES):
    whole = run(mechanism, nodes[-1] + STEPS, mechanism.state())
    for node in nodes:
        part = run(mechanism, nodes[-1] + STEPS - node, whole[node])
        assert_same_motion(mechanism, part, whole, node, bound, dt)


@pytest.mark.parametrize("name", FEW)
def test_runs_of_the_catalogue_go_on_from_a_node(name):
    assert_goes_on(getattr(vi.mechanisms, name)(), run_of(2))


@pytest.mark.parametrize("method", ["lobatto", "euler", "rk4", "sdirk2"])
def test_runs_by_methods_of_one_step_go_on_from_a_node(method):
    assert_goes_on(vi.mechanisms.double_pendulum(), run_of(method), nodes=(7,))


def test_steppers_and_files_go_on_from_a_node(tmp_path):
    servo = vi.JointServo("servo", joint="joint 1", target=5.0, stiffness=3.0, damping=0.1, integral=2.0)
    plain = vi.mechanisms.double_pendulum()
    mechanism = vi.Mechanism("servo", plain.bodies, plain.joints, forces=[servo])
    start = mechanism.state(coordinates={"joint 1": 4.0})
    path = tmp_path / "run.h5"
    whole = vi.simulate(mechanism, 0.06, DT, state=start, output=path)
    read = vi.load(path)
    part = vi.simulate(mechanism, 0.04, DT, state=read[20])
    assert_same_motion(mechanism, part, whole, 20)
    stepper = vi.Stepper(mechanism, DT, state=start)
    stepper.reset(read[20])
    stepper.step(40)
    last = stepper.state
    np.testing.assert_allclose(last.position, whole.position[60], rtol=0, atol=1e-12)
    np.testing.assert_allclose(last.angular_velocity, whole.angular_velocity[60], rtol=0, atol=1e-9)
    now, before = mechanism.coordinates(last)["joint 1"], whole.coordinates["joint 1"][60]
    np.testing.assert_allclose(now, before, rtol=0, atol=1e-12)


def goes_on_where_it_runs(mechanism, method, bound, dt=DT):
    """As `assert_goes_on`; skips what the method does not know, or cannot step, and open joints, which are named."""
    run = run_of(method, dt)
    try:
        assert_goes_on(mechanism, run, bound, dt)
    except (vi.ArgumentError, vi.ConvergenceError) as problem:
        pytest.skip(str(problem))
    except vi.StateError as problem:
        if "open: mechanism.assemble(state) closes it" not in str(problem):
            raise
        pytest.skip(str(problem))


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("method", [2, 4, 6, 8, "lobatto", *ONE_STEP])
@pytest.mark.parametrize("name", [name for name in vi.mechanisms.NAMES if name not in UNRESOLVED])
def test_every_run_of_the_catalogue_goes_on_from_a_node(name, method):
    mechanism = getattr(vi.mechanisms, name)()
    dt = vi.mechanisms.module(name).EXPECTED["dt"] if name in ITS_OWN else DT
    bound = 1e-12 if isinstance(method, int) else 1e-10
    goes_on_where_it_runs(mechanism, method, STIFF.get((name, method), STIFF.get(name, bound)), dt)


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("method", [2, 4, 6, 8, *ONE_STEP])
@pytest.mark.parametrize("name", [name for name in IN_STEPS if name not in OF_TIME])
def test_every_force_goes_on_from_a_node(name, method):
    if name in OF_RATES and not isinstance(method, int):
        pytest.skip("rows of rates drift")
    mechanism = sample_mechanism(np.random.default_rng(3), SAMPLES[name])
    goes_on_where_it_runs(mechanism, method, 1e-12)
