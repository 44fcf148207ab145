"""Steps are judged by what the motion exchanges in them: beside motors and brakes, in the last step, at nodes alone."""

import re

import numpy as np
import pytest

import varint as vi
from varint.results.component_energies import component_energies, largest_jump
from varint.results.node_watch import open_bound
from varint.results.resolution import find_unresolved

RATE = 10.0  # rad/s, of the wheel
WHIP = 7.07  # s, where steps of 10 ms and order 4 first fail to resolve ten links that start level; told one later


def ten_links():
    return vi.mechanisms.n_pendulum(n=10, angle=np.pi / 2)


def chain_and_wheel(power):
    """Ten links that start level, and a wheel of its own with a motor and a brake that exchange ``power``, W."""
    chain = ten_links()
    wheel = vi.Body("wheel", mass=1.0, inertia=0.1 * np.eye(3), position=(5.0, 5.0, 0.0))
    axle = vi.Revolute("axle", "world", "wheel", point=(5.0, 5.0, 0.0), axis=(0, 0, 1))
    forces = [
        vi.Motor("motor", joint="axle", effort=power / RATE),
        vi.JointDamper("brake", joint="axle", damping=power / RATE**2),
    ]
    bodies, joints = [*chain.bodies, wheel], [*chain.joints, axle]
    return vi.Mechanism("chain and wheel", bodies, joints, forces=forces, gravity=chain.gravity)


@pytest.mark.slow
@pytest.mark.parametrize("power", [1e4, 1e6])
@pytest.mark.parametrize("order", [2, 4])
def test_a_chain_that_whips_is_reported_at_any_throughput(order, power):
    mechanism = chain_and_wheel(power)
    with pytest.warns(vi.UnresolvedWarning, match="'chain and wheel' did not resolve its motion"):
        run = vi.simulate(mechanism, 8.0, 0.01, order=order, state=mechanism.state(rates={"axle": RATE}))
    alone = vi.simulate(ten_links(), 8.0, 0.01, order=order, on_unresolved="ignore")
    assert np.array_equal(run.unresolved, alone.unresolved)
    assert "wheel" not in {run.mechanism.bodies[i].name for i in run.unresolved_body if i >= 0}


def test_a_wheel_between_motor_and_brake_is_resolved():
    """The wheel alone speeds up from rest and exchanges 200 kW for 20 s: no step is reported."""
    rig = chain_and_wheel(1e4)
    forces = [vi.Motor("motor", joint="axle", effort=1e3), vi.JointDamper("brake", joint="axle", damping=5.0)]
    wheel = vi.Mechanism("wheel", rig.bodies[-1:], rig.joints[-1:], forces=forces)
    run = vi.simulate(wheel, 20.0, 0.01, on_unresolved="ignore")  # its spin of 2 rad a step would be told
    assert not run.unresolved.size
    assert run.work[-1, 0] > 1e6


def test_components_are_what_the_world_alone_connects():
    parts = chain_and_wheel(1.0).compiled.plan.components
    assert np.bincount(parts.of_body).tolist() == [10, 1]
    assert set(parts.of_element) == {parts.of_body[-1]}
    spring = vi.Spring("tie", "link 10", "wheel", point_a=(0, 0, 0), point_b=(5, 5, 0), stiffness=1.0, rest_length=1.0)
    rig = chain_and_wheel(1.0)
    tied = vi.Mechanism("tied", rig.bodies, rig.joints, forces=[*rig.forces, spring], gravity=rig.gravity)
    assert tied.compiled.plan.components.first_body.tolist() == [0, 11]


def test_energies_of_components_add_up_to_the_balance():
    mechanism = chain_and_wheel(1e3)
    run = vi.simulate(mechanism, 1.0, 0.01, state=mechanism.state(rates={"axle": RATE}))
    chain, wheel = component_energies(run)
    assert chain.error + wheel.error == pytest.approx(run.energy_balance, abs=1e-9)
    assert wheel.scale[-1] > 1e3 > 200 > wheel.energy[-1]  # all work; that of the last steps and the motion
    assert largest_jump(run.t, chain.error, chain.energy) < 0.01


@pytest.mark.parametrize("steps", [1, 2, 3, 10])
def test_the_last_step_is_judged(steps):
    """The run ends with the step that jumps, or so many later."""
    with pytest.warns(vi.UnresolvedWarning):
        run = vi.simulate(ten_links(), WHIP + 0.01 * steps, 0.01, order=4)
    assert run.unresolved.tolist() == [pytest.approx(WHIP + 0.01 * min(steps, 2))]
    vi.simulate(ten_links(), WHIP, 0.01, order=4, on_unresolved="raise")


@pytest.mark.slow
def test_the_verdict_on_the_last_step_goes_when_the_run_goes_on(tmp_path):
    given = {"order": 4, "output": tmp_path / "run.h5", "on_unresolved": "ignore"}
    ended = vi.simulate(ten_links(), WHIP + 0.01, 0.01, **given)
    assert ended.unresolved.tolist() == vi.load(given["output"]).unresolved.tolist() == [ended.t[-1]]
    longer = vi.simulate(ten_links(), 7.5, 0.01, **given, resume=True)
    whole = vi.simulate(ten_links(), 7.5, 0.01, order=4, on_unresolved="ignore")
    assert np.array_equal(longer.unresolved_body, whole.unresolved_body)
    assert longer.unresolved.tolist() == [pytest.approx(WHIP + 0.02)]


def test_quiet_runs_end_without_a_word_wherever_they_end():
    chain = vi.mechanisms.n_pendulum(n=3, angle=1.0)
    for steps in range(1, 60):
        vi.simulate(chain, 0.01 * steps, 0.01, on_unresolved="raise")


@pytest.mark.parametrize(
    ("integrator", "dt", "reported"), [("dop853", 0.01, False), ("rk4", 0.01, False), ("heun", 0.05, True)]
)
def test_reduced_runs_are_judged_by_their_nodes(integrator, dt, reported):
    run = vi.redmax.simulate(vi.mechanisms.n_pendulum(n=3, angle=np.pi / 2), 2.0, dt, integrator=integrator)
    own = next(component_energies(run))
    assert (largest_jump(run.t, own.error, own.energy) > 0.01) == bool(run.unresolved.size) == reported
    if reported:
        message = find_unresolved(run, dt).message
        assert "energy came or went without work" in message
        assert re.search(
            r"Try dt = [0-9.]+ s: in a step velocities changed by up to \d+% of the largest, then by", message
        )


def test_open_joints_of_reduced_runs_are_reported():
    """At every node that is open by more than the bound, with the tolerance or the step to try."""
    four_bar = vi.mechanisms.four_bar()
    run = vi.redmax.simulate(four_bar, 0.5, 0.05, integrator="heun")
    assert np.array_equal(run.unresolved_body >= 0, run.drift > open_bound(run))
    assert run.unresolved.size > 5
    assert find_unresolved(run, 0.05).message.startswith("joints of 'four-bar' are open at ")
    quiet = vi.redmax.simulate(four_bar, 0.5, 0.02)
    assert quiet.drift.max() < open_bound(quiet) == pytest.approx(1e-10 * four_bar.compiled.length)


def test_reduced_runs_with_error_control_warn():
    """Of the energy that the whole run lost by its tolerance."""
    chain = vi.mechanisms.n_pendulum(n=5, angle=np.pi / 2)
    with pytest.warns(vi.UnresolvedWarning, match=r"energy came or went.* Try rtol = 0.001$"):
        run = vi.redmax.simulate(chain, 3.0, 0.02, integrator="rk45", rtol=0.1)
    assert np.abs(run.energy_balance).max() > 0.05 * run.kinetic.max()
