"""Gradients in a given memory, of steps that are cut, and of steps that follow the motion."""

import dataclasses
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from force_samples import sample_mechanism, with_forces
from marched_steps import slope_of
from run_gradients import SIZE

import varint as vi
from varint.derivatives.along_run import go_back
from varint.derivatives.backward import adjoints_of
from varint.derivatives.numbers import differences, number_of, start_of
from varint.derivatives.schedule import Layout, ahead, layout_of, reach, replays_of
from varint.derivatives.taped import MaximalTape, TapeSetting, sizes
from varint.methods.variational.adaptive_run import AdaptiveRun
from varint.methods.variational.march import March
from varint.methods.variational.schemes import scheme
from varint.results.inputs.at_nodes import Commands, Loads, starts_of_motions


def objective_of(mechanism, seed=0):
    """A sum of positions, squared, and velocities with random weights."""
    a, b, c = np.random.default_rng(seed).standard_normal((3, len(mechanism.bodies), 3))
    return lambda state: float(np.sum(a * state.position**2 + b * state.velocity + c * state.angular_velocity))


def sum_of(objective):
    return lambda states: sum((k + 1) * objective(state) for k, state in enumerate(states))


def arrays_of(found, names):
    parts = [found[name] for name in names]
    return [np.asarray(each) for part in parts for each in (part if isinstance(part, tuple) else [part])]


# ------------------------------------------------------------------------------------------------- the schedule


def test_ten_checkpoints_and_four_replays_cover_1001_parts():
    assert reach(10, 4) == 1001
    assert (replays_of(1001, 10), replays_of(1002, 10)) == (4, 5)


@pytest.mark.parametrize("checkpoints", [1, 2, 3, 10])
def test_no_schedule_takes_fewer_replays(checkpoints):
    """Marched parts in all by the recursion of the schedule, and the least by trying all places."""
    least = {(1, s): 0 for s in range(1, checkpoints + 1)}
    for parts in range(2, 60):
        least[parts, 1] = parts * (parts - 1) // 2
        for s in range(2, checkpoints + 1):
            costs = [m + least[m, s] + least[parts - m, s - 1] for m in range(1, parts)]
            least[parts, s] = min(costs)
            assert costs[ahead(parts, s) - 1] == least[parts, s]
            r = replays_of(parts, s)
            assert least[parts, s] == r * parts - reach(s + 1, r - 1)


def test_the_layout_uses_the_memory():
    assert layout_of(100, 1.0, 1e6, 50, 10) == Layout(1, 100, 100)
    for memory in (60, 90, 200, 500, 1000):
        layout = layout_of(100, 1.0, memory, 50, 10)
        assert 50 * layout.checkpoints + 10 * layout.room <= memory
        assert layout.part <= layout.room
    assert layout_of(100, 1.0, 59, 50, 10) is None


# ------------------------------------------------------------------------------------------------- the same bits


def stopped():
    stop = vi.JointStop("stop", joint="joint 1", lower=-0.05, upper=3.0, restitution=0.6)
    floor = vi.JointStop("catch", joint="joint 2", lower=-3.0, upper=0.3, restitution=0.0)
    mechanism = with_forces(vi.mechanisms.double_pendulum(), stop, floor)
    return mechanism, mechanism.state(coordinates={"joint 1": 0.02}, rates={"joint 1": -2.5, "joint 2": 2.5})


SPRING = vi.Spring(
    "spring", "world", "coupler", stiffness=20.0, point_a=(0.0, 0.0, 2.0), point_b=(0.1, 0.0, 0.2), rest_length=0.5
)


def driven(steps):
    """A four-bar whose crank is driven through given places, with a motor, a servo that has a state, and a spring."""
    place = 0.3 * (np.arange(steps + 1) / steps) ** 2
    forces = [
        vi.PrescribedMotion("drive", joint="crank pivot", position=place),
        vi.Motor("motor", joint="rocker pivot", effort=np.sin(np.arange(steps + 1))),
        vi.JointServo("servo", joint="crank pin", target=0.2, stiffness=3.0, damping=0.1, integral=2.0),
        SPRING,
    ]
    return with_forces(vi.mechanisms.four_bar(), *forces)


def case_of(what):
    steps, dt = 24, 0.005
    if what == "stops":
        mechanism, state = stopped()
        names = [
            "start",
            "dt",
            "gravity",
            "link 1.mass",
            "joint 2.point",
            "stop.lower",
            "stop.restitution",
            "link 2.force",
        ]
        return mechanism, names, {"state": state, "dt": dt, "force": {"link 2": (0.1, 0.2, 0.3)}}
    if what == "couplings":
        forces = [
            vi.Gear("gear", joint_a="hinge", joint_b="hooke", radius_a=0.3, radius_b=0.7),
            vi.FirstOrderActuator("motor", joint="slider", gain=2.0, time_constant=0.05, command=1.0),
            vi.Drag("drag", "b2", linear=2.0, angular=0.5),
        ]
        mechanism = sample_mechanism(np.random.default_rng(3), forces)
        names = [
            "start",
            "dt",
            "gravity",
            "b1.mass",
            "slider.point[0]",
            "motor.gain",
            "motor.time_constant",
            "drag.linear",
        ]
        return mechanism, [*names, "gear.radius_a"], {"dt": dt}
    mechanism = driven(steps)
    names = ["start", "dt", "gravity", "coupler.mass", "coupler.inertia", "crank pin.point[0]", "drive.position"]
    names += [
        "motor.effort",
        "servo.stiffness",
        "servo.integral",
        "spring.stiffness",
        "spring.point_a[0]",
        "coupler.force",
    ]
    force = {"coupler": np.random.default_rng(0).standard_normal((steps + 1, 3))}
    return mechanism, names, {"dt": dt, "force": force, "order": 4 if what == "order 4" else 2}


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("what", ["driven", pytest.param("order 4", marks=pytest.mark.slow), "stops", "couplings"])
def test_the_same_bits_in_any_memory(what):
    mechanism, names, given = case_of(what)
    dt = given.pop("dt")
    times = np.array([0, 3, 11, 12, 24]) * dt
    objective = sum_of(objective_of(mechanism))
    method = scheme(given.get("order"))
    checkpoint, stage = sizes(mechanism.compiled, TapeSetting(method, dt, 1e-12, 24))
    step = stage * 2 * method.stages.size
    whole = vi.gradient(mechanism, objective, 24 * dt, dt, with_respect_to=names, times=times, **given)
    assert all(any(np.any(part) for part in arrays_of(whole, [name])) for name in names)
    for memory in (checkpoint + step, 2 * checkpoint + 2 * step, 5 * checkpoint + 3 * step):
        parts = vi.gradient(
            mechanism, objective, 24 * dt, dt, with_respect_to=names, times=times, memory=memory, **given
        )
        assert parts.value == whole.value
        for a, b in zip(arrays_of(whole, names), arrays_of(parts, names), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.slow
def test_several_objectives_in_a_small_memory():
    mechanism = vi.mechanisms.double_pendulum()
    names = ["link 1.mass", "joint 2.point", "link 2.position", "start"]
    given = {"with_respect_to": names, "order": 4}
    whole = vi.gradient(mechanism, lambda s: s.position[1, [0, 2]], 0.2, 0.01, **given)
    parts = vi.gradient(mechanism, lambda s: s.position[1, [0, 2]], 0.2, 0.01, memory=30000, **given)
    for a, b in zip(arrays_of(whole, names), arrays_of(parts, names), strict=True):
        np.testing.assert_array_equal(a, b)


def whipping():
    """A chain whose steps of 20 ms do not resolve the motion, and its start."""
    mechanism = vi.mechanisms.n_pendulum(3)
    return mechanism, mechanism.state(coordinates={"joint 1": 2.5}, rates={"joint 2": 8.0, "joint 3": -22.0})


@pytest.mark.slow
def test_a_memory_is_kept_to():
    """Marched parts as the schedule says; the arrays of tape and checkpoints are no larger than allowed."""
    mechanism = vi.mechanisms.n_pendulum(20)
    setting = TapeSetting(scheme(None), 1e-3, 1e-12, 400)
    checkpoint, stage = sizes(mechanism.compiled, setting)
    state, by = mechanism.state(), np.ones((1, 1, 20, 12))
    memory, used = 12 * checkpoint + 12 * stage, {}
    for steps in (1, 400):
        tracemalloc.start()
        run = MaximalTape(mechanism, state, setting._replace(steps=steps, memory=memory), [steps])
        go_back(run, adjoints_of(run, by, {}), [])
        used[steps] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    parts, checkpoints = len(run.passes), run.layout.checkpoints
    r = replays_of(parts, checkpoints)
    assert parts > reach(checkpoints, 1)
    assert run.passes.sum() == parts + r * parts - reach(checkpoints + 1, r - 1)  # and once each with its tape
    assert run.passes.max() <= r + 1
    assert used[400] - used[1] < memory + 5 * checkpoint  # one is copied, packed and joined at a time
    assert memory < 0.1 * 400 * stage


def test_a_memory_in_which_no_step_fits():
    mechanism = vi.mechanisms.double_pendulum()
    with pytest.raises(vi.ArgumentError, match=r"memory= must be \d+ bytes or more, and there are 1 kB"):
        vi.gradient(mechanism, lambda s: 0.0, 0.1, 0.01, with_respect_to=["gravity"], memory=1e3)
    with pytest.raises(vi.ArgumentError, match="memory"):
        vi.gradient(mechanism, lambda s: 0.0, 0.1, 0.01, with_respect_to=["gravity"], memory=-1.0)


# -------------------------------------------------------------------------------------- steps that are cut


def test_steps_that_are_cut():
    """The gradient of the run as it was taken, against differences of such runs, in any memory."""
    mechanism, state = whipping()
    objective, names = objective_of(mechanism), ["link 3.mass", "gravity"]
    given = {"on_unresolved": "substep", "order": 2, "state": state}
    duration, dt = 0.4, 0.02
    plain = vi.simulate(mechanism, duration, dt, **given, tol=1e-12)
    assert plain.substeps == 2
    found = vi.gradient(mechanism, objective, duration, dt, with_respect_to=names, **given)
    assert found.value == objective(plain.state(len(plain) - 1))
    checkpoint, stage = sizes(mechanism.compiled, TapeSetting(scheme(2), dt, 1e-12, 20))
    small = vi.gradient(
        mechanism, objective, duration, dt, with_respect_to=names, memory=3 * checkpoint + 20 * stage, **given
    )
    for a, b in zip(arrays_of(found, names), arrays_of(small, names), strict=True):
        np.testing.assert_array_equal(a, b)

    def value(share):
        bodies = [*mechanism.bodies[:2], dataclasses.replace(mechanism.bodies[2], mass=1.0 + share)]
        changed = dataclasses.replace(mechanism, bodies=bodies)
        run = vi.simulate(changed, duration, dt, tol=1e-13, **given)
        assert run.substeps == plain.substeps
        return objective(run.state(len(run) - 1))

    assert mechanism.bodies[2].mass == 1.0
    assert found["link 3.mass"] == pytest.approx(slope_of(value, 1e-4), rel=1e-7)


def test_what_is_said_of_unresolved_motion():
    mechanism, state = whipping()
    given = {"with_respect_to": ["gravity"], "state": state}
    with pytest.warns(vi.UnresolvedWarning, match=r"first between t = 0 and 0.4 s, where .* of body 'link"):
        told = vi.gradient(mechanism, objective_of(mechanism), 0.4, 0.02, **given)
    silent = vi.gradient(mechanism, objective_of(mechanism), 0.4, 0.02, on_unresolved="ignore", **given)
    np.testing.assert_array_equal(told["gravity"], silent["gravity"])
    with pytest.raises(vi.UnresolvedError, match="did not resolve its motion") as problem:
        vi.gradient(mechanism, objective_of(mechanism), 0.4, 0.02, on_unresolved="raise", **given)
    assert problem.value.trajectory is None
    with pytest.raises(vi.ArgumentError, match="on_unresolved"):
        vi.gradient(mechanism, objective_of(mechanism), 0.4, 0.02, on_unresolved="cut", **given)


# ------------------------------------------------------------------------------- steps that follow the motion


def march_of(mechanism, state, dt, turn, end, order):
    """An adaptive run."""
    steps = int(end / dt)
    commands = Commands(mechanism, mechanism.compiled, steps, dt, starts_of_motions(mechanism, state), end)
    march = March(mechanism.compiled, scheme(order), dt, 1e-13, 2**53, turn, end)
    return AdaptiveRun(mechanism, march, state, steps, Loads(mechanism, mechanism.compiled, steps), commands)


def states_of(mechanism, state, dt, turn, times, order, taken=None):
    """States at times, and the densities of the steps of the run: those that were ``taken``, where they are given."""
    run, densities, states, left = march_of(mechanism, state, dt, turn, times[-1], order), [], [], list(times)
    run.start()
    while True:
        if taken is not None:
            run.march.ws.pace.density[0] = taken[len(densities)]
        densities.append(float(run.march.ws.pace.density[0]))
        while left and run.march.passes(left[0]):
            share = (left[0] - run.time) / dt
            if share > 1e-9:
                block = run.instant(share, left[0]).nodes
                arrays = ("position", "quat_wxyz", "velocity", "angular_velocity")
                states.append(vi.State(*(block[name][0] for name in arrays)))
            else:
                states.append(run.state())
            left.pop(0)
        if not left:
            return states, densities
        run.advance(1)
        assert run.failure is None


def moving(t):
    return 0.4 * np.sin(3.0 * t)


def adaptive_case(what):
    if what == "a chain":
        mechanism = vi.mechanisms.n_pendulum(2)
        state = mechanism.state(coordinates={"joint 1": 2.0}, rates={"joint 1": 1.0, "joint 2": -3.0})
        return mechanism, state, ["link 1.mass", "link 2.inertia", "joint 2.point[0]", "gravity"]
    drive = vi.PrescribedMotion("drive", joint="crank pivot", position=moving)
    motor = vi.Motor("motor", joint="rocker pivot", effort=0.4)
    mechanism = with_forces(vi.mechanisms.four_bar(), drive, motor, SPRING)
    names = ["coupler.mass", "spring.stiffness", "spring.point_a[2]", "motor.effort", "gravity"]
    return mechanism, mechanism.state(), names


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("what", ["a chain", "a driven loop"])
@pytest.mark.filterwarnings("ignore::varint.ReplacedRateWarning")  # the start has another rate
def test_adaptive_steps_as_taken(what, order):
    """Against differences of runs that take the same steps; at the end, at times between nodes, in any memory."""
    mechanism, state, names = adaptive_case(what)
    objective = sum_of(objective_of(mechanism))
    dt, turn, times = 0.02, 0.1, [0.0, 0.1234, 0.13, 0.3]
    given = {"order": order, "adaptive": turn, "state": state, "times": times, "with_respect_to": [*names, "start"]}
    found = vi.gradient(mechanism, objective, times[-1], dt, **given)
    plain, taken = states_of(mechanism, state, dt, turn, times, order)
    assert found.value == pytest.approx(objective(plain), rel=1e-9)
    assert len(taken) > 10
    assert max(b / a for a, b in pairwise(taken)) > 1.001
    run = vi.simulate(mechanism, times[-1], dt, order=order, adaptive=turn, state=state, tol=1e-12, output_times=times)
    np.testing.assert_allclose(found.states[1].position, run.position[1], rtol=0, atol=1e-13)
    checkpoint, stage = sizes(mechanism.compiled, TapeSetting(scheme(order), dt, 1e-12, 15))
    small = vi.gradient(
        mechanism, objective, times[-1], dt, memory=3 * checkpoint + 4 * stage * scheme(order).stages.size, **given
    )
    for a, b in zip(
        arrays_of(found, given["with_respect_to"]), arrays_of(small, given["with_respect_to"]), strict=True
    ):
        np.testing.assert_array_equal(a, b)
    for name in names:
        number, slopes = number_of(mechanism, name), []
        for step, direction in zip(number.steps, number.directions(), strict=True):

            def value(share, direction=direction, number=number):
                changed = number.replaced(number.value + share * direction)
                return objective(states_of(changed, start_of(changed, state), dt, turn, times, order, taken)[0])

            slopes.append(slope_of(value, SIZE * step, 1e-3 * abs(found.value)))
        scale = max(np.abs(slopes).max(), 1e-3 * abs(found.value))
        exact = np.reshape(slopes, number.value.shape)
        np.testing.assert_allclose(found[name], exact, rtol=0, atol=1e-7 * scale, err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_a_motion_that_adaptive_steps_follow(order):
    """Its rate between the nodes moves the velocities there too."""

    def build(swing, rate):
        drive = vi.PrescribedMotion("drive", joint="crank pivot", position=lambda t: swing * np.sin(rate * t))
        return with_forces(vi.mechanisms.four_bar(), drive)

    values, (dt, turn, times) = {"swing": 0.4, "rate": 3.0}, (0.02, 0.1, [0.0, 0.1234, 0.25, 0.3])
    objective = sum_of(objective_of(build(**values)))
    found = vi.gradient(
        build, objective, times[-1], dt, order=order, adaptive=turn, times=times, parameters=values,
        with_respect_to=list(values),
    )  # fmt: skip
    mechanism = build(**values)
    _, taken = states_of(mechanism, mechanism.state(), dt, turn, times, order)
    for name, size in values.items():

        def value(share, name=name):
            changed = build(**values | {name: values[name] + share})
            return objective(states_of(changed, changed.state(), dt, turn, times, order, taken)[0])

        assert found[name] == pytest.approx(differences(value, 1e-3 * size), rel=1e-7)


@pytest.mark.slow
def test_adaptive_steps_end_at_the_duration():
    mechanism, state, names = adaptive_case("a chain")
    given = {"adaptive": True, "state": state}
    found = vi.gradient(mechanism, objective_of(mechanism), 0.3, 0.02, with_respect_to=names, **given)
    run = vi.simulate(mechanism, 0.3, 0.02, tol=1e-12, **given)
    assert run.t[-1] == 0.3
    np.testing.assert_array_equal(found.states[0].position, run.position[-1])
    np.testing.assert_array_equal(found.states[0].velocity, run.velocity[-1])


def test_what_adaptive_steps_have_not():
    mechanism, state, _ = adaptive_case("a chain")
    objective, given = objective_of(mechanism), {"adaptive": True, "state": state}
    with pytest.raises(vi.ArgumentError, match="no derivative by 'dt'"):
        vi.gradient(mechanism, objective, 0.1, 0.01, with_respect_to=["dt"], **given)
    with pytest.raises(vi.ArgumentError, match=r"times must rise, from 0 to 0\.1 s"):
        vi.gradient(mechanism, objective, 0.1, 0.01, with_respect_to=["gravity"], times=[0.05, 0.2], **given)
    with pytest.raises(vi.ArgumentError, match="adaptive"):
        vi.gradient(mechanism, objective, 0.1, 0.01, with_respect_to=["gravity"], adaptive=-0.1)
