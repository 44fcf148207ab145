"""A mechanism that Python steps: the bits of `simulate`, checkpoints, readings, steps that fail."""

import copy
import pickle
import threading
import warnings
from dataclasses import fields, replace

import numpy as np
import pytest

import varint as vi
from varint.methods import held

DT = 0.005
NODES = ("t", "position", "quat_wxyz", "velocity", "angular_velocity", "work", "command")


def pushed(t, state):
    """N, on the cart."""
    return 4.0 * np.cos(3 * t) - 2.0 * state.velocity[0, 0] - state.angular_velocity[1, 1]


def cart_pole(effort=0.0):
    return vi.mechanisms.cart_pole(effort=effort)


def driven_four_bar(effort=0.0):
    motor = vi.Motor("motor", joint="crank pivot", effort=effort)
    return replace(vi.mechanisms.four_bar(), forces=[motor])


def arm(effort=0.0):
    """A ball joint and a spring beside the motor: its slot is not its element."""
    rods = [vi.Body.box(f"rod {k}", (0.1, 0.2, 1.0), 1.0, position=(0, 0, -0.5 - k)) for k in range(2)]
    joints = [
        vi.Spherical("ball", "world", "rod 0", point=(0, 0, 0)),
        vi.Revolute("hinge", "rod 0", "rod 1", point=(0, 0, -1), axis=(0, 1, 0)),
    ]
    spring = vi.Spring(
        "strut", "rod 0", "world", stiffness=10.0, rest_length=0.5, point_a=(0, 0.3, -0.5), point_b=(1, 0, -0.5)
    )
    forces = [spring, vi.Motor("motor", joint="hinge", effort=effort)]
    start = {"coordinates": {"hinge": 0.4, "ball": (0.1, 0.3, 0.2)}}
    return vi.Mechanism("arm", rods, joints, forces=forces, start=start)


def law(t, state):
    return 3.0 * np.sin(4 * t) - 0.2 * state.angular_velocity[-1, 1]


def assert_same(run, other, names=NODES):
    for name in names:
        assert np.array_equal(getattr(run, name), getattr(other, name)), name


def stepped(sim, function, steps):
    for _ in range(steps):
        sim.inputs[0] = function(sim.time, sim.state)
        assert sim.step()
    sim.inputs[0] = function(sim.time, sim.state)
    return sim.trajectory()


@pytest.mark.parametrize("order", [1, 2, 4])
@pytest.mark.parametrize(("make", "function"), [(cart_pole, pushed), (driven_four_bar, law), (arm, law)])
def test_bits_of_simulate_with_inputs_held(make, function, order):
    method = vi.Variational(dt=DT, order=order, on_unresolved="ignore")
    run = vi.simulate(vi.Problem(make(function), 60 * DT), method)
    assert_same(stepped(vi.Stepper(make(), method, every=1), function, 60), run)


@pytest.mark.parametrize("order", [2, 4])
def test_bits_of_simulate_with_inputs_extrapolated(order):
    run = vi.simulate(cart_pole(vi.extrapolated(pushed)), 60 * DT, DT, order=order)
    sim = vi.Stepper(cart_pole(), DT, order=order, every=1, extrapolate=True)
    assert_same(stepped(sim, pushed, 60), run)


@pytest.mark.parametrize("every", [1, 7])
def test_bits_of_simulate_many_steps_a_call(every):
    run = vi.simulate(arm(1.5), 100 * DT, DT, order=4, every=every)
    sim = vi.Stepper(arm(1.5), DT, order=4, every=every)
    for n in (1, 30, 2, 67):
        assert sim.step(n)
    assert_same(sim.trajectory(), run)
    assert sim.trajectory().newton_iterations == run.newton_iterations
    assert sim.trajectory().steps == run.steps


def test_more_nodes_than_there_is_room_for_at_once():
    run = vi.simulate(cart_pole(1.0), 2500 * DT, DT)
    sim = vi.Stepper(cart_pole(1.0), DT, every=1)
    assert sim.step(700)
    for _ in range(300):
        assert sim.step()
    assert sim.step(1500)
    assert_same(sim.trajectory(), run)


@pytest.mark.slow
@pytest.mark.parametrize("method", [vi.Reduced("euler", dt=DT), vi.Reduced("bdf2", dt=DT), vi.Reduced("sdirk2", dt=DT)])
def test_bits_of_reduced_runs(method):
    run = vi.simulate(vi.Problem(driven_four_bar(0.5), 30 * DT), method)
    sim = vi.Stepper(driven_four_bar(0.5), method, every=1)
    assert sim.step(10)
    for _ in range(20):
        assert sim.step()
    assert_same(sim.trajectory(), run, (*NODES, "q", "qdot"))


def test_reduced_runs_with_error_control_take_inputs_at_their_nodes():
    exact = vi.Stepper(cart_pole(), vi.Reduced("dop853", dt=0.02, rtol=1e-12))
    sim = vi.Stepper(cart_pole(), vi.Reduced("rk45", dt=0.02, rtol=1e-9))
    fine = vi.Stepper(cart_pole(), 0.02 / 64, order=4)
    for k in range(25):
        for each, n in ((exact, 1), (sim, 1), (fine, 64)):
            each.set("motor", 5.0 * (-1) ** k)
            assert each.step(n)
    assert exact.time == sim.time == pytest.approx(0.5)
    assert sim.coordinates == pytest.approx(exact.coordinates, abs=1e-7)
    assert fine.coordinates == pytest.approx(exact.coordinates, abs=1e-7)
    assert fine.rates == pytest.approx(exact.rates, abs=1e-6)


def test_functions_act_beside_the_inputs():
    def made(first, second):
        forces = [vi.Motor("a", joint="joint 1", effort=first), vi.Motor("b", joint="joint 2", effort=second)]
        return replace(vi.mechanisms.double_pendulum(), forces=forces)

    for function in (np.sin, lambda t, state: -state.angular_velocity[1, 1]):
        sim = vi.Stepper(made(function, 1.0), DT, every=1)
        assert sim.input_names == ("b",)
        assert sim.step(20)
        assert_same(sim.trajectory(), vi.simulate(made(function, 1.0), 20 * DT, DT))
        with pytest.raises(vi.ArgumentError, match=r"has a function as its effort: .*inputs are b"):
            sim.set("a", 1.0)


@pytest.mark.parametrize(
    "make",
    [lambda: vi.Stepper(arm(), DT, order=4, every=3), lambda: vi.Stepper(arm(), vi.Reduced("rk45", dt=DT), every=3)],
)
def test_save_and_restore(make):
    sim = make()
    sim.set("motor", 1.0)
    assert sim.step(10)
    saved = sim.save()
    sim.set("motor", -2.0)
    assert sim.step(8)
    before, later = sim.state, sim.trajectory()
    sim.restore(saved)
    assert sim.time == pytest.approx(10 * DT)
    assert sim.inputs[0] == 1.0
    sim.set("motor", -2.0)
    for _ in range(8):
        assert sim.step()
    assert_same(sim.state, before, NODES[1:5])
    assert_same(sim.trajectory(), later)
    other = make() if isinstance(sim.method, vi.Variational) else sim
    with pytest.raises(vi.ArgumentError, match="the same mechanism with the same method"):
        other.restore(replace(saved, mechanism=cart_pole()))
    with pytest.raises(vi.ArgumentError, match=r"same method: it has dt = 0.0123, not "):
        other.restore(replace(other.save(), method=replace(other.method, dt=0.0123)))


def test_turns_are_counted_and_restored():
    def made(effort):
        motor = vi.Motor("motor", joint="joint 1", effort=effort)
        return replace(vi.mechanisms.n_pendulum(n=1), forces=[motor])

    for mechanism in (made(40.0), made(lambda t: 40.0)):  # by compiled code alone, and not
        sim = vi.Stepper(mechanism, DT, every=1)
        for _ in range(100):
            assert sim.step()
            before = sim.coordinates.copy()
        assert before[0] == pytest.approx(sim.trajectory().coordinates["joint 1"][-1], abs=1e-10)
        assert abs(before[0]) > 4 * np.pi
        saved = sim.save()
        for _ in range(100):
            assert sim.step()
            assert len(sim.coordinates) == 1
        sim.restore(saved)
        assert np.array_equal(sim.coordinates, before)
        sim.reset()
        assert abs(sim.coordinates[0]) < np.pi


def test_a_checkpoint_goes_on_in_another_stepper():
    mechanism = arm()
    sims = [vi.Stepper(mechanism, DT, extrapolate=True) for _ in range(2)]
    for effort in (1.0, 2.0, 0.5):
        sims[0].set("motor", effort)
        assert sims[0].step()
    sims[1].restore(sims[0].save())
    for sim in sims:
        sim.set("motor", -1.0)
        assert sim.step(5)
    assert_same(sims[0].state, sims[1].state, NODES[1:5])
    assert sims[0].time == sims[1].time


@pytest.mark.parametrize("method", [vi.Variational(dt=DT, order=4), vi.Reduced("euler", dt=DT)])
def test_reset(method):
    mechanism = arm()
    start = mechanism.state(coordinates={"hinge": 1.0})
    sim, new = vi.Stepper(mechanism, method), vi.Stepper(mechanism, method, state=start)
    inputs = sim.inputs
    sim.set("motor", 3.0)
    assert sim.step(20)
    sim.reset(start)
    assert sim.time == 0.0
    assert inputs is sim.inputs
    assert inputs[0] == 0.0
    for each in (sim, new):
        assert each.step(20)
    assert_same(sim.state, new.state, NODES[1:5])
    assert np.array_equal(sim.coordinates, new.coordinates)
    sim.reset()
    assert_same(sim.state, mechanism.state(), NODES[1:5] if isinstance(method, vi.Variational) else ("velocity",))


@pytest.mark.parametrize("method", [vi.Variational(dt=DT), vi.Reduced("euler", dt=DT)])
def test_readings_are_those_of_the_trajectory(method):
    mechanism = arm()
    sim = vi.Stepper(mechanism, method, every=1)
    coordinates, rates, inputs = sim.coordinates, sim.rates, sim.inputs
    sim.set("motor", 2.0)
    assert inputs[0] == 2.0
    assert sim.step(25)
    assert sim.coordinates is coordinates
    assert sim.rates is rates
    run, at_node = sim.trajectory(), sim.save()
    for joint in ("hinge", "ball"):
        assert coordinates[sim.columns[joint]] == pytest.approx(run.coordinates[joint][-1], abs=1e-12)
        assert rates[sim.columns[joint]] == pytest.approx(run.rates[joint][-1], abs=1e-10)
    both = sim.coordinates_and_rates
    np.testing.assert_array_equal(both, [*coordinates, *rates])
    sim.step()
    assert not np.array_equal(both, sim.coordinates_and_rates)
    sim.restore(at_node)
    assert list(sim.columns) == list(vi.redmax.coordinates(mechanism))
    assert sim.energy.total == pytest.approx(run.energy[-1], rel=1e-12)
    assert_same(sim.state, run.state(-1), NODES[1:5])
    with pytest.raises(ValueError, match="read-only"):
        coordinates[0] = 1.0


def test_slides_and_turns_are_read():
    bodies = [vi.Body.box("a", (0.1, 0.2, 0.3), 1.0), vi.Body.box("b", (0.3, 0.2, 0.1), 0.5, position=(0.3, 0, 0.1))]
    joints = [
        vi.PlanarTranslation("table", "a", "world", point=(0.1, 0, 0.2), axis=(0, 0, 1)),
        vi.Cylindrical("rod", "a", "b", point=(0.2, 0.1, 0), axis=(1, 2, 0)),
    ]
    rates = {"rod": (0.5, 9.0), "table": (0.3, -0.2)}
    mechanism = vi.Mechanism("slides", bodies, joints, start={"rates": rates, "coordinates": {"rod": (0.1, 0.5)}})
    sim = vi.Stepper(mechanism, DT, every=1)
    for _ in range(200):
        assert sim.step()
        assert len(sim.coordinates) == 4  # which counts turns
    run = sim.trajectory()
    for joint in ("table", "rod"):
        assert sim.coordinates[sim.columns[joint]] == pytest.approx(run.coordinates[joint][-1], abs=1e-11)
        assert sim.rates[sim.columns[joint]] == pytest.approx(run.rates[joint][-1], abs=1e-9)
    assert abs(run.coordinates["rod"][-1, 1]) > 2 * np.pi


@pytest.mark.parametrize("every", [None, 1])
@pytest.mark.parametrize(
    ("method", "message"),
    [
        (DT, "could not be solved"),
        pytest.param(vi.Lobatto(DT, 8), "nor divided into 64", marks=pytest.mark.slow),
    ],
)
def test_a_step_that_fails_leaves_the_last_state(method, message, every):
    sim, same = (vi.Stepper(cart_pole(), method, every=every) for _ in range(2))
    for each in (sim, same):
        each.set("motor", 1.0)
        assert each.step(10)
    sim.set("motor", 1e49)
    assert not sim.step(5)
    assert sim.time == sim.failure.time == same.time
    assert message in sim.failure.message
    sim.set("motor", 1.0)
    assert sim.step(5)
    assert sim.failure is None
    assert same.step(5)
    assert_same(sim.state, same.state, NODES[1:5])
    if every:
        assert_same(sim.trajectory(), same.trajectory())


def test_a_failure_within_a_call_keeps_the_steps_before_it():
    motor = vi.Motor("motor", joint="track", effort=lambda t: 1e200 if t > 0.052 else 1.0)
    sim = vi.Stepper(replace(cart_pole(), forces=[motor]), DT, every=1)
    assert not sim.step(100)
    assert sim.time == pytest.approx(10 * DT)
    with pytest.raises(vi.ConvergenceError) as caught:
        vi.simulate(sim.mechanism, 1.0, DT)
    assert_same(sim.trajectory(), caught.value.trajectory)
    assert sim.failure.message == str(caught.value)


def test_unresolved_steps_warn_once():
    mechanism = vi.mechanisms.double_pendulum()
    fast = mechanism.state(rates={"joint 1": 60.0, "joint 2": -90.0})
    sim = vi.Stepper(mechanism, 0.05, state=fast)
    with pytest.warns(vi.UnresolvedWarning, match=r"did not resolve its motion.*Try dt"):
        sim.step(200)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.step(200)
        vi.Stepper(mechanism, vi.Variational(dt=0.05, on_unresolved="ignore"), state=fast).step(200)
    with pytest.raises(vi.UnresolvedError):
        vi.Stepper(mechanism, vi.Variational(dt=0.05, on_unresolved="raise"), state=fast, every=1).step(200)


def test_a_state_is_a_copy_whose_parts_are_arrays_of_their_own():
    """Its arrays are taken out when they are read, also after later steps; copies and pickles have all of them."""
    mechanism = vi.mechanisms.cart_pole()
    sim = vi.Stepper(mechanism, DT, every=1)
    states = [sim.state for _ in range(3) if sim.step()]
    run = sim.trajectory()
    for node, state in enumerate(states, 1):
        for each in (state, copy.deepcopy(state), pickle.loads(pickle.dumps(state)), replace(state)):
            np.testing.assert_array_equal(each.angular_velocity, run.angular_velocity[node])
            np.testing.assert_array_equal(each.position, run.position[node])
            np.testing.assert_array_equal(each.quat_wxyz, run.quat_wxyz[node])
            np.testing.assert_array_equal(each.velocity, run.velocity[node])
            assert all(getattr(each, field.name) is getattr(each, field.name) for field in fields(each))
            assert each.quat_wxyz.flags.c_contiguous
            assert each.turns.keys() == {"pivot"}
            assert each.memory == {}
    states[0].position[:] = 7.0
    states[0].turns["pivot"] = None
    assert states[0].position[0, 0] == 7.0
    assert sim.state.position[0, 0] == run.position[-1, 0, 0]
    assert sim.state.turns["pivot"] == 1.0


def test_a_state_that_is_not_made_yet_has_no_parts():
    for name in ("position", "quat_wxyz", "velocity", "angular_velocity", "turns", "memory"):
        assert not hasattr(vi.State, name)
        assert not hasattr(object.__new__(vi.State), name)


def test_threads_have_steppers_of_their_own():
    mechanism = arm()
    sims = [vi.Stepper(mechanism, DT, order=4) for _ in range(4)]

    def march(sim, effort):
        sim.set("motor", effort)
        for _ in range(100):
            sim.step(3)

    threads = [threading.Thread(target=march, args=(sim, k + 1.0)) for k, sim in enumerate(sims)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, sim in enumerate(sims):
        alone = vi.Stepper(mechanism, DT, order=4)
        march(alone, k + 1.0)
        assert_same(sim.state, alone.state, NODES[1:5])


@pytest.mark.slow
def test_other_threads_run_during_a_step():
    sim, turns = vi.Stepper(cart_pole(), 1e-4), 0
    thread = threading.Thread(target=sim.step, args=(200_000,))  # one call of compiled code
    thread.start()
    while thread.is_alive():
        turns += 1
    assert turns > 1000
    assert sim.time == pytest.approx(20.0)


@pytest.mark.slow
def test_linearize_is_that_of_the_mechanism_with_the_inputs():
    sim = vi.Stepper(driven_four_bar(), DT)
    sim.set("motor", 1.5)
    assert sim.step(10)
    for dt in (None, 0.01):
        system, other = sim.linearize(dt), vi.linearize(driven_four_bar(1.5), sim.state, dt)
        assert np.array_equal(system.A, other.A)
        assert np.array_equal(system.B, other.B)


def test_loads_are_constant():
    load = {"pole": (0.0, 0.0, 3.0)}
    sim = vi.Stepper(cart_pole(), DT, force=load, every=1)
    assert sim.step(10)
    assert_same(sim.trajectory(), vi.simulate(cart_pole(), 10 * DT, DT, force=load))
    with pytest.raises(vi.ArgumentError, match="force on body 'pole' must be constant"):
        vi.Stepper(cart_pole(), DT, force={"pole": np.zeros((11, 3))})


def test_a_repr_names_inputs():
    assert repr(vi.Stepper(cart_pole(), DT)) == "Stepper: 'cart-pole', VI order 2, t = 0 s, inputs 'motor'"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dt": "auto"}, "needs a number for dt"),
        ({"dt": vi.Reduced()}, "needs a number for dt"),
        ({"dt": vi.Variational(dt=0.1, adaptive=True)}, "leave 'adaptive' out"),
        ({"dt": vi.Variational(dt=0.1), "order": 4}, "give 'order' to the method"),
        ({"dt": 0.1, "every": 0}, "every must be a whole number from 1"),
        ({"dt": vi.Reduced("euler", dt=0.1), "extrapolate": True}, "extrapolate=True needs"),
        ({"dt": -1.0}, "dt must be positive"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(vi.ArgumentError, match=message):
        vi.Stepper(cart_pole(), **arguments)


@pytest.mark.parametrize("method", [DT, vi.Reduced(dt=DT)], ids=["maximal", "reduced"])
def test_blocks_of_nodes_hold_the_inputs_of_each(method, monkeypatch, tmp_path):
    """Inputs change at each step, while recorded nodes are put together seven at a time."""
    monkeypatch.setattr(held, "ROOM", 7)

    def stepped(sim, first, last):
        for k in range(first, last):
            sim.inputs[0] = k
            assert sim.step()

    sim = vi.Stepper(cart_pole(), method, every=1)
    stepped(sim, 0, 12)
    saved = sim.save()
    before = sim.trajectory()
    stepped(sim, 12, 40)
    whole = sim.trajectory()
    assert whole.command[:, 0].tolist() == [*range(40), 39]
    for first in (1, 6, 7, 8, 22, 39, 40):
        for name in NODES:
            np.testing.assert_array_equal(sim.trajectory(first).nodes[name], whole.nodes[name][first:])
    whole.save(tmp_path / "run.h5")
    assert vi.load(tmp_path / "run.h5").command.tobytes() == whole.command.tobytes()
    sim.restore(saved)
    assert sim.trajectory().position.tobytes() == before.position.tobytes() == whole.position[:13].tobytes()
    stepped(sim, 12, 40)
    for name in NODES:
        assert sim.trajectory().nodes[name].tobytes() == whole.nodes[name].tobytes()


def test_wrong_calls():
    drive = vi.PrescribedMotion("drive", joint="track", position=0.0)
    mechanism = replace(arm(), forces=[*arm().forces, vi.Drag("drag", "rod 1", linear=0.1)])
    sim = vi.Stepper(mechanism, DT)
    for n in (0, -1, 1.5, "2"):
        with pytest.raises(vi.ArgumentError, match="n must be a whole number from 1"):
            sim.step(n)
    for name, message in (("moter", "there is no force 'moter'.*motor"), ("drag", "has no input; inputs are motor")):
        with pytest.raises(vi.ArgumentError, match=message):
            sim.set(name, 1.0)
    for value in (np.nan, "x", (1.0, 2.0)):
        with pytest.raises(vi.ArgumentError, match="input of force 'motor' must be"):
            sim.set("motor", value)
    sim.inputs[0] = np.inf
    with pytest.raises(vi.ArgumentError, match="effort of motor 'motor' at t = 0 s must be finite, got inf"):
        sim.step()
    assert sim.time == 0.0
    with pytest.raises(vi.ArgumentError, match="no nodes were recorded: give the Stepper every=1"):
        sim.trajectory()
    held = vi.Stepper(replace(cart_pole(), forces=[drive]), DT)
    assert held.step(3)
    with pytest.raises(vi.ArgumentError, match="prescribes a motion, which cannot jump"):
        held.set("drive", 1.0)
    series = vi.Motor("motor", joint="track", effort=np.zeros(11))
    with pytest.raises(vi.ArgumentError, match="one value a node, and a Stepper no last node"):
        vi.Stepper(replace(cart_pole(), forces=[series]), DT)
