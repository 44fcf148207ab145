"""Joints that are driven: at a constant rate, by functions of time within the run."""

import dataclasses
import json
import pickle

import numpy as np
import pytest

import varint as vi

RATE = 6.28
CRANK = "crank pivot"


def driven(mechanism=None, **start):
    """A four-bar, or another mechanism, with its first joint at a constant rate."""
    mechanism = mechanism or vi.mechanisms.four_bar()
    drive = vi.PrescribedMotion("drive", joint=mechanism.joints[0].name, rate=RATE)
    return dataclasses.replace(mechanism, start=start, forces=[drive])


def by_function(mechanism, function):
    """The same, with the first joint along ``function``."""
    drive = vi.PrescribedMotion("drive", joint=mechanism.joints[0].name, position=function)
    return dataclasses.replace(mechanism, start={}, forces=[drive])


FORMULATIONS = {"maximal": vi.simulate, "reduced": vi.redmax.simulate}


@pytest.mark.slow
@pytest.mark.parametrize("simulate", FORMULATIONS.values(), ids=FORMULATIONS)
@pytest.mark.parametrize("angle", [None, 0.9, 3.1, -3.1])
def test_a_start_at_rest_is_driven_at_once(simulate, angle):
    """Without a state, from the reference configuration or from another: the loop moves as one from the first node."""
    mechanism = driven()
    state = None if angle is None else mechanism.state(coordinates={CRANK: angle})
    run = simulate(mechanism, 1.0, 0.005, state=state)
    q0 = angle or 0.0
    np.testing.assert_allclose(run.coordinates[CRANK], q0 + RATE * run.t, atol=1e-11)
    np.testing.assert_allclose(run.command[:, 0], q0 + RATE * run.t, atol=1e-11)
    assert run.drift.max() < 1e-6
    assert abs(run.energy_balance).max() < 2e-3 * run.kinetic.max()
    crank = mechanism.bodies[0].name
    spin = run.angular_velocity[:, mechanism.body_index[crank]]
    assert np.linalg.norm(spin, axis=1) == pytest.approx(RATE, abs=1e-9)
    same = mechanism.state(coordinates={CRANK: q0}, rates={CRANK: RATE})  # the whole linkage by its crank
    assert run.velocity[0] == pytest.approx(same.velocity, abs=1e-11)
    assert run.angular_velocity[0] == pytest.approx(same.angular_velocity, abs=1e-11)


@pytest.mark.slow
def test_both_formulations_agree():
    run = vi.simulate(driven(), 1.0, 0.002)
    red = vi.redmax.simulate(driven(), 1.0, dt=0.002, rtol=1e-10)
    assert abs(run.position - red.position).max() < 1e-6
    assert abs(run.velocity - red.velocity).max() < 1e-5
    assert abs(run.force["drive"] - red.force["drive"]).max() < 1e-5 * abs(red.force["drive"]).max()
    assert abs(run.power["drive"] - red.power["drive"]).max() < 1e-5 * abs(red.power["drive"]).max()


def test_what_hangs_on_a_drive_starts_as_after_an_impact():
    """A pendulum on a driven one: its joint is free, and no impulse but that of the pin acts on it."""
    mechanism = driven(vi.mechanisms.double_pendulum())
    state = mechanism.state(rates={"joint 2": 2.0})
    run = vi.simulate(mechanism, 0.1, 0.001, state=state)
    red = vi.redmax.simulate(mechanism, 0.1, dt=0.001, state=state)
    turned = vi.redmax.simulate(mechanism, 0.1, dt=0.001, state=vi.redmax.reduced_state(mechanism, state))
    assert red.velocity[0] == pytest.approx(run.velocity[0], abs=1e-10)
    assert red.angular_velocity[0] == pytest.approx(run.angular_velocity[0], abs=1e-10)
    assert abs(run.position - red.position).max() < 1e-4
    assert turned.position == pytest.approx(red.position, abs=1e-9)
    # of the outer body the angular momentum about the pin is that of before
    body, pin = mechanism.bodies[1], mechanism.joint("joint 2").point
    before, after = (
        np.cross(body.position - pin, body.mass * v) + body.inertia @ w
        for v, w in (
            (state.velocity[1], state.angular_velocity[1]),
            (run.velocity[0, 1], run.angular_velocity[0, 1]),
        )
    )
    assert after == pytest.approx(before, abs=1e-10)
    assert abs(run.velocity[0, 1] - state.velocity[1]).max() > 0.1


def test_turns_of_a_reduced_start_are_kept():
    mechanism = driven(vi.mechanisms.double_pendulum())
    start = vi.redmax.ReducedState(q=np.array([7.0, 0.3]), qdot=np.zeros(2))
    run = vi.redmax.simulate(mechanism, 0.2, dt=0.01, state=start)
    assert run.coordinates["joint 1"] == pytest.approx(7.0 + RATE * run.t, abs=1e-12)


def test_a_slide_is_driven_in_metres_a_second():
    body = vi.Body("slider", mass=2.0, inertia=np.eye(3))
    joint = vi.Prismatic("rail", "world", "slider", axis=(0, 0, 1))
    mechanism = vi.Mechanism("lift", [body], [joint], forces=[vi.PrescribedMotion("d", joint="rail", rate=-0.5)])
    for simulate in FORMULATIONS.values():
        run = simulate(mechanism, 1.0, 0.01, state=mechanism.state(coordinates={"rail": 0.2}))
        assert run.position[:, 0, 2] == pytest.approx(0.2 - 0.5 * run.t, abs=1e-12)
        assert run.force["d"] == pytest.approx(2.0 * 9.81, abs=1e-7)  # holds the weight
        assert abs(run.energy_balance).max() < 1e-9


def test_it_travels_in_files_and_pickles(tmp_path):
    mechanism = driven()
    vi.save_mechanism(mechanism, tmp_path / "m.json")
    entry = {"type": "PrescribedMotion", "name": "drive", "joint": CRANK, "rate": RATE}
    data = json.loads((tmp_path / "m.json").read_text()) | {"forces": [entry]}
    (tmp_path / "short.json").write_text(json.dumps(data))
    whole = vi.simulate(mechanism, 0.5, 0.01)
    for other in (
        vi.load_mechanism(tmp_path / "m.json"),
        vi.load_mechanism(tmp_path / "short.json"),
        pickle.loads(pickle.dumps(mechanism)),
    ):
        assert other.forces[0].rate == RATE
        assert vi.simulate(other, 0.5, 0.01).position.tobytes() == whole.position.tobytes()
    some = vi.simulate(mechanism, 0.5, 0.01, every=5)
    assert some.command.tobytes() == whole.command[::5].tobytes()
    assert some.position.tobytes() == whole.position[::5].tobytes()


class Stopped(Exception):
    pass


@pytest.mark.slow
@pytest.mark.parametrize("simulate", FORMULATIONS.values(), ids=FORMULATIONS)
def test_a_run_that_stopped_goes_on_to_the_same_bits(tmp_path, simulate):
    """From where it started, not from where it stopped; and beyond its end."""
    mechanism, file = driven(), tmp_path / "run.h5"
    state = mechanism.state(coordinates={CRANK: 0.7})
    kinds = {} if simulate is vi.simulate else {"integrator": "sdirk2"}
    whole = simulate(mechanism, 0.6, dt=0.01, state=state, **kinds)

    def stop(done, total):
        if done > 5:
            raise Stopped

    with pytest.raises(Stopped):
        simulate(mechanism, 0.3, dt=0.01, state=state, output=file, progress=stop, **kinds)
    for duration in (0.3, 0.6):
        run = simulate(mechanism, duration, dt=0.01, state=state, output=file, resume=True, **kinds)
    for name in ("t", "position", "quat_wxyz", "velocity", "angular_velocity", "work", "command"):
        assert getattr(run, name).tobytes() == getattr(whole, name).tobytes(), name
    other = mechanism.state(coordinates={CRANK: 0.8})
    with pytest.raises(vi.FileError, match="another run"):
        simulate(mechanism, 0.6, dt=0.01, state=other, output=file, resume=True, **kinds)


@pytest.mark.slow
def test_it_is_compared():
    result = vi.compare(driven(vi.mechanisms.double_pendulum()), 0.4, [0.02, 0.01, 0.005], order=[2, 4])
    assert result.vi.order.position == pytest.approx(2.0, abs=0.1)
    assert result.series[1].order.position == pytest.approx(4.0, abs=0.2)
    assert "functions" not in str(result)


def test_one_of_position_and_rate_is_given():
    for given, what in (({}, "neither"), ({"rate": 1.0, "position": 0.0}, "both")):
        with pytest.raises(vi.MechanismError, match=f"prescribedmotion 'p' needs position= or rate=.*got {what}"):
            vi.PrescribedMotion("p", joint="j", **given)
    for wrong in ([1.0, 2.0], "fast", np.nan, lambda t: t, True):
        with pytest.raises(vi.MechanismError, match="rate of prescribedmotion 'p' must be"):
            vi.PrescribedMotion("p", joint="j", rate=wrong)
    for position, acceleration in ((0.0, np.cos), (np.sin, 1.0), (None, np.cos)):
        with pytest.raises(vi.MechanismError, match="acceleration of prescribedmotion 'p' must be a function, beside"):
            vi.PrescribedMotion("p", joint="j", position=position, acceleration=acceleration)


@pytest.mark.slow
@pytest.mark.parametrize("simulate", FORMULATIONS.values(), ids=FORMULATIONS)
@pytest.mark.parametrize("given", [(), ("rate",), ("acceleration",), ("rate", "acceleration")])
def test_derivatives_of_functions(simulate, given):
    """Those that are given are taken; differences of the others are as good, at any step: torques to 1e-8."""
    body = vi.Body("b", mass=2.0, inertia=np.diag([0.3, 0.2, 0.1]), position=(0, 0, -0.7))
    hinge = vi.Revolute("hinge", "world", "b", point=(0, 0, 0), axis=(0, 1, 0))
    called = set()

    def noted(name, function):
        return lambda t: called.add(name) or function(t)

    derivatives = {"rate": lambda t: 3 * np.cos(3 * t), "acceleration": lambda t: -9 * np.sin(3 * t)}
    own = {name: noted(name, derivatives[name]) for name in given}
    drive = vi.PrescribedMotion("drive", joint="hinge", position=lambda t: np.sin(3 * t), **own)
    mechanism = vi.Mechanism("driven", [body], [hinge], forces=[drive])
    run = simulate(mechanism, 0.05, dt=1e-4)
    q, bend = np.sin(3 * run.t), -9 * np.sin(3 * run.t)
    torque = (0.2 + 2 * 0.49) * bend + 2 * 9.81 * 0.7 * np.sin(q)
    assert run.angular_acceleration[:, 0, 1] == pytest.approx(bend, abs=1e-8)
    assert run.force["drive"] == pytest.approx(torque, abs=1e-8)
    assert run.power["drive"] == pytest.approx(torque * 3 * np.cos(3 * run.t), abs=1e-7)
    assert called == set(given)


@pytest.mark.parametrize("simulate", FORMULATIONS.values(), ids=FORMULATIONS)
def test_functions_are_called_within_the_run(simulate):
    """And their rates are as exact at its ends as between them."""
    duration, dt = 0.5, 0.01
    times = []

    def position(t):
        times.append(t)
        return 0.3 * np.sin(3.0 * t)

    mechanism = by_function(vi.mechanisms.double_pendulum(angle=0.0), position)
    run = simulate(mechanism, duration, dt=dt)
    assert min(times) >= 0.0
    assert max(times) <= duration
    rate = np.linalg.norm(run.angular_velocity[:, 0], axis=1)
    assert rate == pytest.approx(abs(0.9 * np.cos(3.0 * run.t)), abs=2e-8)


def test_functions_are_called_within_a_run_without_nodes():
    def position(t):
        assert 0.0 <= t <= 0.5
        return 0.3 * np.sin(3.0 * t)

    run = vi.redmax.simulate(by_function(vi.mechanisms.double_pendulum(angle=0.0), position), 0.5)
    assert run.rates["joint 1"] == pytest.approx(0.9 * np.cos(3.0 * run.t), abs=1e-7)
