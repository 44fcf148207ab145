"""Collocation that Python steps: the bits of `simulate`, checkpoints, readings, divided steps and steps that fail."""

import numpy as np
import pytest
from force_samples import with_forces
from test_live_view import Client
from test_stepper import DT, NODES, arm, assert_same, cart_pole, driven_four_bar, law, pushed, stepped

import varint as vi


def lobatto(order=8, dt=DT):
    return vi.Lobatto(dt, order, on_unresolved="ignore")


@pytest.mark.parametrize("order", [4, 8])
@pytest.mark.parametrize("follows", [False, True])
@pytest.mark.parametrize(("make", "function"), [(cart_pole, pushed), (driven_four_bar, law), (arm, law)])
def test_bits_of_simulate(make, function, follows, order):
    effort = vi.extrapolated(function) if follows else function
    run = vi.simulate(vi.Problem(make(effort), 60 * DT), lobatto(order))
    sim = vi.Stepper(make(), lobatto(order), every=1, extrapolate=follows)
    assert_same(stepped(sim, function, 60), run)
    assert sim.trajectory().settings["order"] == order


@pytest.mark.parametrize("make", [vi.mechanisms.bennett, vi.mechanisms.sarrus, vi.mechanisms.free_body, cart_pole])
def test_bits_of_simulate_many_steps_a_call(make):
    run = vi.simulate(vi.Problem(make(), 100 * DT), lobatto(6), vi.Recording(every=7))
    sim = vi.Stepper(make(), lobatto(6), every=7)
    for n in (1, 30, 2, 67):
        assert sim.step(n)
        assert np.isfinite(sim.state.quat_wxyz).all()  # a reading leaves the steps as they are
    assert_same(sim.trajectory(), run)
    assert sim.trajectory().newton_iterations == run.newton_iterations
    assert np.max(run.drift) < 1e-13


def test_save_and_restore():
    mechanism = arm()
    sims = [vi.Stepper(mechanism, lobatto(), every=3, extrapolate=True) for _ in range(2)]
    sims[0].set("motor", 1.0)
    assert sims[0].step(10)
    saved = sims[0].save()
    for sim in (*sims, sims[0]):
        sim.restore(saved)
        assert sim.time == pytest.approx(10 * DT)
        assert sim.inputs[0] == 1.0
        sim.set("motor", -2.0)
        for n in (1, 7):
            assert sim.step(n)
    assert_same(sims[0].state, sims[1].state, NODES[1:5])
    assert sims[0].coordinates.tolist() == sims[1].coordinates.tolist()


def test_reset():
    mechanism = arm()
    start = mechanism.state(coordinates={"hinge": 1.0, "ball": (1.0, 0.4, -0.3)})
    sim, new = vi.Stepper(mechanism, lobatto()), vi.Stepper(mechanism, lobatto(), state=start)
    sim.set("motor", 3.0)
    assert sim.step(20)
    sim.reset(start)
    assert (sim.time, sim.inputs[0]) == (0.0, 0.0)
    for each in (sim, new):
        assert each.step(20)
    assert_same(sim.state, new.state, NODES[1:5])
    assert np.array_equal(sim.coordinates, new.coordinates)


def test_readings_are_those_of_the_trajectory():
    sim = vi.Stepper(arm(), lobatto(), every=1)
    sim.set("motor", 2.0)
    assert sim.step(25)
    run = sim.trajectory()
    for joint in ("hinge", "ball"):
        assert sim.coordinates[sim.columns[joint]] == pytest.approx(run.coordinates[joint][-1], abs=1e-12)
        assert sim.rates[sim.columns[joint]] == pytest.approx(run.rates[joint][-1], abs=1e-10)
    assert sim.energy.total == pytest.approx(run.energy[-1], rel=1e-12)
    assert_same(sim.state, run.state(-1), NODES[1:5])


@pytest.mark.parametrize("effort", [40.0, lambda t: 40.0])
def test_turns_are_counted_and_restored(effort):
    """By compiled code alone, and not; a start that has turns goes on with them."""
    mechanism = with_forces(vi.mechanisms.n_pendulum(n=1), vi.Motor("motor", joint="joint 1", effort=effort))
    sim = vi.Stepper(mechanism, lobatto(), every=1)
    for _ in range(100):
        assert sim.step()
        assert len(sim.coordinates) == 1
    turned, saved = float(sim.coordinates[0]), sim.save()
    assert turned == pytest.approx(sim.trajectory().coordinates["joint 1"][-1], abs=1e-10)
    assert abs(turned) > 4 * np.pi
    assert sim.step(100)
    sim.restore(saved)
    assert sim.coordinates[0] == turned
    again = vi.Stepper(mechanism, lobatto(), state=sim.state)
    assert again.coordinates[0] == pytest.approx(turned, abs=1e-10)
    assert again.step(100)
    assert sim.step(100)
    assert again.coordinates[0] == pytest.approx(sim.coordinates[0], abs=1e-9)


def test_functions_act_beside_the_inputs():
    def made(first, second):
        forces = [vi.Motor("a", joint="joint 1", effort=first), vi.Motor("b", joint="joint 2", effort=second)]
        return with_forces(vi.mechanisms.double_pendulum(), *forces)

    for function in (np.sin, lambda t, state: -state.angular_velocity[1, 1]):
        sim = vi.Stepper(made(function, 1.0), lobatto(), every=1)
        assert sim.step(20)
        assert_same(sim.trajectory(), vi.simulate(vi.Problem(made(function, 1.0), 20 * DT), lobatto()))
        with pytest.raises(vi.ArgumentError, match="extrapolate=True needs"):
            vi.Stepper(made(function, 1.0), lobatto(), extrapolate=True)


def spun(effort):
    """Two links without gravity, the inner one driven: they get so fast that steps have to be divided."""
    chain = vi.mechanisms.n_pendulum(n=2, angle=1.0)
    motor = vi.Motor("motor", joint="joint 1", effort=effort)
    return vi.Mechanism("spun", chain.bodies, chain.joints, forces=[motor], gravity=(0, 0, 0), start=chain.start)


@pytest.mark.parametrize("every", [1, 5])
def test_steps_that_cannot_be_solved_are_divided_as_in_a_run(every):
    effort, dt = 40.0, 0.1
    run = vi.simulate(vi.Problem(spun(effort), 30 * dt), lobatto(6, dt), vi.Recording(every=every))
    assert run.substeps > 0
    sim = vi.Stepper(spun(effort), lobatto(6, dt), every=every)
    for n in (7, 1, 1, 21):
        assert sim.step(n)
    assert_same(sim.trajectory(), run)
    assert (sim.trajectory().substeps, sim.trajectory().newton_iterations) == (run.substeps, run.newton_iterations)


@pytest.mark.slow
def test_a_page_steps_it_and_pulls():
    mechanism = vi.mechanisms.four_bar(rate=20.0)
    with vi.live(mechanism, lobatto(8, 0.005), every=2, browser=False) as live:
        client = Client(live)
        assert client.step(until=0.2)["message"] == ""
        run = live.trajectory()
        whole = vi.simulate(vi.Problem(mechanism, 0.2), lobatto(8, 0.005), vi.Recording(every=2))
        assert run.position == pytest.approx(whole.position, abs=1e-12)
        pull = {"body": mechanism.bodies[1].name, "point": [0.0, 0.0, 0.0], "to": [0.0, 0.0, 5.0]}
        assert client.step(21, until=0.3, pull=pull)["message"] == ""
        assert live.trajectory().load.any()
        assert np.max(live.trajectory().drift) < 1e-13


def test_steps_of_another_method_are_not_those_of_its_checkpoint():
    mechanism = cart_pole()
    sim, other = vi.Stepper(mechanism, lobatto(8)), vi.Stepper(mechanism, lobatto(6))
    with pytest.raises(vi.ArgumentError, match="it has order = 8, not 6"):
        other.restore(sim.save())
