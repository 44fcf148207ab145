"""Runs that go on from a node of another: equal to it over 100 steps, by methods of one step and a fixed size."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from force_samples import IN_STEPS, SAMPLES, sample_mechanism

import varint as vi

DT, STEPS = 1e-3, 100
NODES = (1, 30)
FEW = ("double_pendulum", "four_bar", "slider_crank")
OF_TIME = ("PrescribedMotion", "PrescribedPoint", "PrescribedBody")  # start at t = 0, and are refused elsewhere
ITS_OWN = ("andrews_squeezer", "slider_crank_clearance")  # whose motions DT does not resolve
# Flexures and beams, whose ringing some steps do not damp: what is left is the round-off of the pose of a node
UNDAMPED = ("flexible_slider_crank", "gauss"), ("flexible_four_bar", 8), ("flexible_four_bar", "lobatto 4")
# Redundant rows drift until they count as independent: round-off is divided by the rank's bound
DRIFTING = ("bennett", "euler"), ("delta_robot", "euler")
STIFF = ("parallelogram_flexure", *UNDAMPED, *DRIFTING)
ROUND_OFF = 20.0  # times what one unit in the last place of the poses of the node changes
COLLOCATION = ("lobatto 4", "lobatto 6", "lobatto 8")
ONE_STEP = ("euler", "heun", "rk4", "bdf1", "sdirk2", "gauss")


def run_of(method, dt=DT):
    """A function of mechanism, duration and state that simulates by ``method``, an order or an integrator.

    Steps are solved within ``tol``, from what the steps before foresee: with the default one that is all of 1e-11.
    """

    def run(mechanism, steps, state):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if method in COLLOCATION:
                order = int(method.split()[1])
                return vi.simulate(vi.Problem(mechanism, steps * dt, state=state), vi.Lobatto(dt=dt, order=order))
            if isinstance(method, int):
                return vi.simulate(mechanism, steps * dt, dt, order=method, state=state, tol=1e-13)
            return vi.redmax.simulate(mechanism, steps * dt, dt, state=state, integrator=method)

    return run


def differences(mechanism, part, whole, node, dt=DT):
    """Of poses, coordinates and motions over a step, the largest of each over the largest speed."""
    speed = max(1.0, *(np.abs(each).max(initial=0.0) for each in (whole.velocity, whole.angular_velocity)))
    scales = {"position": 1.0, "quat_wxyz": 1.0, "velocity": dt, "angular_velocity": dt}
    pairs = {name: (scale * getattr(part, name), scale * getattr(whole, name)) for name, scale in scales.items()}
    pairs |= {joint.name: (part.coordinates[joint.name], whole.coordinates[joint.name]) for joint in mechanism.joints}
    return {name: np.abs(now - before[node:]).max(initial=0.0) / speed for name, (now, before) in pairs.items()}


def assert_same_motion(mechanism, part, whole, node, bound=1e-12, dt=DT):
    """Poses, coordinates, motions over a step, and internal variables."""
    apart = differences(mechanism, part, whole, node, dt)
    assert {name: far for name, far in apart.items() if not far <= bound} == {}
    np.testing.assert_allclose(part.law_states, whole.law_states[node:], rtol=1e-10, atol=1e-12)


def assert_goes_on(mechanism, run, bound=1e-12, dt=DT, nodes=NODES, stiff=False):
    """``stiff``: or within `ROUND_OFF` times what the last bits of the poses of the node do."""
    whole = run(mechanism, nodes[-1] + STEPS, mechanism.state())
    for node in nodes:
        start, steps = whole[node], nodes[-1] + STEPS - node
        part, largest = run(mechanism, steps, start), bound
        if stiff:
            poses = {name: np.nextafter(getattr(start, name), np.inf) for name in ("position", "quat_wxyz")}
            nudged = run(mechanism, steps, replace(start, **poses))
            largest = max(bound, ROUND_OFF * max(differences(mechanism, nudged, part, 0, dt).values()))
        assert_same_motion(mechanism, part, whole, node, largest, dt)


@pytest.mark.parametrize("name", FEW)
def test_runs_of_the_catalogue_go_on_from_a_node(name):
    assert_goes_on(getattr(vi.mechanisms, name)(), run_of(2))


@pytest.mark.parametrize("method", ["lobatto 4", "lobatto 8", "euler", "rk4", "sdirk2"])
def test_runs_by_methods_of_one_step_go_on_from_a_node(method):
    assert_goes_on(vi.mechanisms.double_pendulum(), run_of(method), nodes=(7,))


@pytest.mark.parametrize(
    "method", [*(pytest.param(name, marks=pytest.mark.slow) for name in ("euler", "heun")), "bdf1"]
)
@pytest.mark.parametrize("name", [pytest.param("rolling_disc", marks=pytest.mark.slow), "spline_knee"])
def test_rows_that_drift_go_on_from_a_node(name, method):
    """Rates of a wheel that the integrator does not keep, and a coupling's sum, which comes back to its target."""
    assert_goes_on(getattr(vi.mechanisms, name)(), run_of(method), nodes=(30,))


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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "run"),
    {
        "'bdf2'": lambda m, T, s: vi.redmax.simulate(m, T, DT, state=s, integrator="bdf2"),
        "adaptive steps": lambda m, T, s: vi.simulate(m, T, DT, state=s, adaptive=True, on_unresolved="ignore"),
        "'printed'": lambda m, T, s: vi.simulate(m, T, DT, state=s, order=1, on_unresolved="ignore"),
    }.items(),
)
def test_methods_with_a_memory_say_that_a_node_is_not_all(name, run, tmp_path):
    """From nodes after the first, of files as well, by the same method; the run goes on near the whole one."""
    mechanism = vi.mechanisms.double_pendulum()
    whole = run(mechanism, 0.05, mechanism.state())
    whole.save(tmp_path / "run.h5")
    for node in (whole[20], vi.load(tmp_path / "run.h5")[20], whole[10:][10], whole.at(0.0195)):
        with pytest.warns(vi.RestartWarning, match=f"a node of a run by {name}.* the node does not store them"):
            run(mechanism, 0.01, node)
    run(mechanism, 0.01, whole[0])
    vi.redmax.simulate(mechanism, 0.01, DT, state=whole[20])
    vi.simulate(mechanism, 0.01, DT, state=whole[20])
    with pytest.warns(vi.RestartWarning):
        part = run(mechanism, float(whole.t[-1] - whole.t[20]), whole[20])
    np.testing.assert_allclose(part.position[-1], whole.position[-1], rtol=0, atol=1e-4)


def test_steppers_that_reset_to_a_node_say_that_it_is_not_all():
    """By "bdf2"; a checkpoint is all."""
    mechanism = vi.mechanisms.double_pendulum()
    stepper = vi.Stepper(mechanism, vi.Reduced("bdf2", dt=DT))
    stepper.step(10)
    saved = stepper.save()
    stepper.step(10)
    end = stepper.coordinates.copy()
    stepper.restore(saved)
    stepper.step(10)
    np.testing.assert_array_equal(stepper.coordinates, end)
    node = vi.redmax.simulate(mechanism, 0.01, DT, integrator="bdf2")[-1]
    with pytest.warns(vi.RestartWarning, match="'bdf2'"):
        stepper.reset(node)


def goes_on_where_it_runs(mechanism, method, dt=DT, stiff=False):
    """As `assert_goes_on`; skips what the method does not know, or cannot step."""
    try:
        assert_goes_on(mechanism, run_of(method, dt), dt=dt, stiff=stiff)
    except (vi.ArgumentError, vi.ConvergenceError) as problem:
        pytest.skip(str(problem))


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("method", [2, 4, 6, 8, *COLLOCATION, *ONE_STEP])
@pytest.mark.parametrize("name", vi.mechanisms.NAMES)
def test_every_run_of_the_catalogue_goes_on_from_a_node(name, method):
    mechanism = getattr(vi.mechanisms, name)()
    dt = vi.mechanisms.module(name).EXPECTED["dt"] if name in ITS_OWN else DT
    goes_on_where_it_runs(mechanism, method, dt, stiff=name in STIFF or (name, method) in STIFF)


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("method", [2, 4, 6, 8, *COLLOCATION, *ONE_STEP])
@pytest.mark.parametrize("name", [name for name in IN_STEPS if name not in OF_TIME])
def test_every_force_goes_on_from_a_node(name, method):
    goes_on_where_it_runs(sample_mechanism(np.random.default_rng(3), SAMPLES[name]), method)


@pytest.mark.parametrize("method", ["bdf1", pytest.param("sdirk2", marks=pytest.mark.slow)])
def test_redundant_loops_go_on_from_a_node(method):
    """Their multipliers along redundant rows are no state, and loops stay as open as the steps have left them."""
    assert_goes_on(vi.mechanisms.bennett(), run_of(method), nodes=(30,))


@pytest.mark.parametrize("integrator", ["dop853", "bdf1"])
def test_a_node_of_another_linkage_is_refused(integrator):
    linkage = vi.mechanisms.four_bar()
    pin = linkage.joints[-1]
    other = linkage.replace(joints=[*linkage.joints[:-1], replace(pin, point=pin.point + [1e-3, 0, 0])])
    node = vi.redmax.simulate(linkage, 0.02, 0.005, integrator=integrator).state(2)
    with pytest.raises(vi.StateError, match="m open"):
        vi.redmax.simulate(other, 0.02, 0.005, integrator=integrator, state=node)


def test_loops_that_are_opened_at_a_node_are_refused():
    mechanism, run = vi.mechanisms.bennett(), run_of("bdf1")
    node = run(mechanism, 2, mechanism.state())[1]
    moved = replace(node, position=node.position + [[0.01, 0, 0], [0, 0, 0], [0, 0, 0]])
    with pytest.raises(vi.StateError, match=r"0\.0\d* m open"):
        run(mechanism, 2, moved)
