"""Hard stops that are open take no part in analyses of a state, a run or a table; closed ones are refused by name."""

import numpy as np
import pytest
from force_samples import with_forces

import varint as vi

G = 9.81
T = np.linspace(0.0, 0.3, 13)


def stopped(mechanism, **limits):
    """The mechanism with a hard stop "stop" on its first joint."""
    stop = vi.JointStop("stop", joint=mechanism.joints[0].name, **limits)
    return with_forces(mechanism, *mechanism.forces, stop)


def bob(*forces):
    """A rod of 2 kg and 1 m that hangs from a hinge about -y, turned by an angle from x to z."""
    rod = vi.Body.rod("rod", (0, 0, 0), (0, 0, -1), mass=2.0)
    hinge = vi.Revolute("hinge", "world", "rod", point=(0, 0, 0), axis=(0, -1, 0))
    return vi.Mechanism("bob", [rod], [hinge], forces=[vi.Motor("motor", joint="hinge", effort=0.0), *forces])


def test_modes_and_equilibrium_within_a_stop():
    """The frequency of a rod that hangs, in closed form."""
    mechanism = stopped(bob(), lower=-0.5, upper=1.0)
    rest = vi.equilibrium(mechanism, mechanism.state(coordinates={"hinge": 0.3}))
    assert mechanism.coordinates(rest)["hinge"] == pytest.approx(0.0, abs=1e-9)
    inertia = vi.accelerations(mechanism, mechanism.state(coordinates={"hinge": 0.1})).angular[0, 1]
    omega = vi.modes(mechanism).omega
    assert omega == pytest.approx(np.sqrt(abs(inertia) / np.sin(0.1)), rel=1e-9)
    assert omega == pytest.approx(vi.modes(bob()).omega, rel=1e-12)


def test_linearize_and_lqr_within_a_stop():
    free, mechanism = bob(), stopped(bob(), lower=-0.5, upper=1.0)
    moving = {"coordinates": {"hinge": 0.3}, "rates": {"hinge": -0.7}}
    with_stop, without = (vi.linearize(each, each.state(**moving)) for each in (mechanism, free))
    np.testing.assert_allclose(with_stop.A, without.A, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(with_stop.B, without.B, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(vi.lqr(mechanism).K, vi.lqr(free).K, rtol=1e-9)


def test_stops_of_loops_and_lengths_are_open():
    """Modes of a loop with a stop and a tether that is slack."""
    plain = vi.mechanisms.four_bar()
    rest = vi.equilibrium(plain)
    body, angle = plain.bodies[1], float(plain.coordinates(rest)[plain.joints[0].name])
    point = tuple(body.position)
    tether = vi.LengthStop("rope", "world", body.name, point_a=(0, 0, 9.0), point_b=point, upper=20.0)
    stop = vi.JointStop("stop", joint=plain.joints[0].name, lower=angle - 0.1)
    mechanism = with_forces(plain, *plain.forces, stop, tether)
    np.testing.assert_allclose(vi.modes(mechanism, rest).omega, vi.modes(plain, rest).omega, rtol=1e-9)


@pytest.mark.parametrize("turns", [0, 1])
def test_a_closed_stop_is_named(turns):
    """On its limit as beyond it, with the turns that the state carries."""
    limit = 0.3 + 2 * np.pi * turns
    mechanism = stopped(bob(), lower=limit - 9.0, upper=limit)
    for angle in (limit, limit + 0.1):
        state = mechanism.state(coordinates={"hinge": angle})
        with pytest.raises(
            vi.ArgumentError,
            match=rf"'stop' on joint 'hinge' is closed: it is at {angle:.9g} rad, its upper limit is {limit:.9g} rad",
        ):
            vi.linearize(mechanism, state)
    vi.linearize(mechanism, mechanism.state(coordinates={"hinge": limit - 0.01}))


def test_a_mechanism_that_would_rest_beyond_a_stop():
    mechanism = stopped(bob(), lower=0.2, upper=1.0)
    with pytest.raises(vi.ArgumentError, match=r"closed: it is at .* its lower limit is 0\.2 rad.*give it a stiffness"):
        vi.modes(mechanism, mechanism.state(coordinates={"hinge": 0.2}))
    with pytest.raises(vi.ArgumentError, match=r"'stop' on joint 'hinge' is closed"):
        vi.equilibrium(mechanism, mechanism.state(coordinates={"hinge": 0.5}))


@pytest.mark.slow  # as all of inverse dynamics: it compiles what no other fast test needs
@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_inverse_dynamics_within_stops(formulation):
    """The torque of a motor comes back; at nodes at which a stop bears load it is refused."""
    effort = np.linspace(0.5, 1.5, 41)
    driven = stopped(with_forces(bob(), vi.Motor("motor", joint="hinge", effort=effort)), lower=-0.5, upper=1.0)
    simulate = vi.simulate if formulation == "maximal" else vi.redmax.simulate
    run = simulate(driven, 0.2, 0.005)
    assert vi.inverse_dynamics(run)["motor"] == pytest.approx(effort, abs=1e-9)
    resting = stopped(bob(), lower=0.0, upper=1.0)
    pressed = with_forces(resting, *resting.forces, vi.PointForce("push", "rod", direction=(-1, 0, 0), magnitude=2.0))
    with pytest.raises(vi.ArgumentError, match=r"'stop' on joint 'hinge' is closed at recorded node 0, t = 0 s.*run\["):
        vi.inverse_dynamics(simulate(pressed, 0.02, 0.005))


@pytest.mark.slow
def test_inverse_dynamics_of_the_part_of_a_run_before_a_stop():
    """A rod falls onto its stop and stays there."""
    mechanism = stopped(bob(), lower=0.2, upper=1.0)
    run = vi.simulate(mechanism, 1.0, 0.005, state=mechanism.state(coordinates={"hinge": 0.5}))
    angle = run.coordinates["hinge"]
    first = int(np.argmax(angle < 0.2 + 1e-6))
    assert 0 < first < len(run) - 1
    with pytest.raises(vi.ArgumentError, match=rf"is closed at recorded node {first}, "):
        vi.inverse_dynamics(run)
    assert vi.inverse_dynamics(run[:first])["motor"] == pytest.approx(0.0, abs=1e-9)


def test_efforts_of_a_table_within_a_stop():
    """As without the stop; where the table reaches it, also after a turn, it is refused with the time."""
    angle = 0.3 * np.sin(4.0 * T)
    for turns in (0.0, 2 * np.pi):
        table = {"hinge": angle + turns}
        mechanism = stopped(bob(), lower=turns - 0.5, upper=turns + 0.5)
        found = vi.efforts_of_motion(mechanism, T, table)["hinge"]
        np.testing.assert_allclose(found, vi.efforts_of_motion(bob(), T, table)["hinge"], rtol=1e-9, atol=1e-9)
        reached = stopped(bob(), lower=turns - 0.5, upper=turns + 0.25)
        first = T[np.argmax(angle > 0.25)]
        with pytest.raises(vi.ArgumentError, match=rf"'stop' on joint 'hinge' is closed at t = {first:.9g} s"):
            vi.efforts_of_motion(reached, T, table)
    with pytest.raises(vi.ArgumentError, match=r"is closed at t = 0 s: it is at 6\.28"):
        vi.efforts_of_motion(stopped(bob(), lower=-0.5, upper=0.5), T, {"hinge": angle + 2 * np.pi})


def test_muscles_of_a_motion_within_a_stop():
    muscle = vi.Musculotendon(
        "flexor",
        path=[vi.At("world", (0.2, 0, -0.1)), vi.At("rod", (0.0, 0, -0.3))],
        max_force=500.0,
        optimal_length=0.12,
        slack_length=0.15,
    )
    table = {"hinge": 0.3 + 0.1 * np.sin(4.0 * T)}
    plain = with_forces(bob(), muscle)
    found = vi.static_optimization(stopped(plain, lower=0.0, upper=0.5), T, table)
    np.testing.assert_allclose(
        found.activation["flexor"], vi.static_optimization(plain, T, table).activation["flexor"], rtol=1e-9, atol=1e-12
    )
    assert found.activation["flexor"].max() > 0.01
    with pytest.raises(vi.ArgumentError, match=r"'stop' on joint 'hinge' is closed at t = "):
        vi.static_optimization(stopped(plain, lower=0.0, upper=0.35), T, table)
