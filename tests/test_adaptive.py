"""Steps that follow the motion, and steps that are done again where energy comes from nowhere."""

import numpy as np
import pytest

import varint as vi
from varint.integrators.march import March
from varint.integrators.schemes import scheme
from varint.kernels.pace import keep_pace


def whip():
    return vi.mechanisms.n_pendulum(10, angle=np.pi / 2)


def energy_error(run):
    return np.abs(run.energy - run.energy[0]).max() / run.kinetic.max()


def test_a_whip_keeps_its_energy():
    run = vi.simulate(whip(), 20.0, 0.02, order=4, adaptive=True)
    assert energy_error(run) < 1e-3
    assert run.steps < 5000
    equal = vi.simulate(whip(), 20.0, 0.005, order=4, on_unresolved="ignore")
    assert energy_error(equal) > 0.01  # of about as many steps


@pytest.mark.parametrize("order", [2, 4, 6])
def test_motion_comes_back_with_the_velocities_turned_round(order):
    mechanism = vi.mechanisms.double_pendulum(angle=0.4)
    march = March(mechanism.compiled, scheme(order), 0.02, 1e-13, 2000, turn=0.015)
    start = mechanism.state()
    march.start(start)
    march.advance(2000)
    ws, reached = march.ws, march.time
    assert 2000 * 0.01 < reached < 2000 * 0.019  # steps did change
    for array in (ws.momentum, ws.momentum_rest, ws.velocity, ws.history):
        array *= -1
    keep_pace(mechanism.compiled.plan, ws, march.pose, 0.02)  # from the step behind the last node to the one before
    ws.pace.time[:] = 0.0
    march.advance(2000)
    back = march.state()
    assert march.time == pytest.approx(reached, rel=1e-9)
    assert np.abs(back.position - start.position).max() < 1e-9
    assert np.abs(back.velocity + start.velocity).max() < 1e-9


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar"])
@pytest.mark.parametrize("order", [2, 4])
def test_order_of_steps_that_follow_the_motion(name, order):
    mechanism = getattr(vi.mechanisms, name)()
    exact = vi.simulate(mechanism, 0.5, 0.5 / 256, order=8, tol=1e-13, every=256).position[-1]
    errors = []
    for n in (1, 2):
        run = vi.simulate(mechanism, 0.5, 0.02 / n, order=order, adaptive=0.05 / n, tol=1e-13)
        assert np.ptp(np.diff(run.t)[:-1]) > 0.01 * run.t[1]
        errors.append(np.abs(run.position[-1] - exact).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.35)


def test_ends_at_the_end_and_not_beyond():
    run = vi.simulate(vi.mechanisms.double_pendulum(), 1.0, 0.02, adaptive=0.05)
    assert run.t[0] == 0.0
    assert run.t[-1] == 1.0
    assert (np.diff(run.t) > 0).all()
    assert np.diff(run.t).max() < 0.021
    assert run.steps == len(run) - 2  # the last one is aside
    assert run.drift.max() < 1e-12


def test_steps_that_fit_end_with_the_last_of_them():
    """A slider does not turn: its steps stay those of dt, and none is left out for round-off."""
    slider = vi.Mechanism(
        "slider",
        [vi.Body.sphere("ball", 0.1, 1.0, position=(0, 0, 0))],
        [vi.Prismatic("rail", "world", "ball", point=(0, 0, 0), axis=(1, 0, 0))],
        gravity=(1, 0, 0),
    )
    run = vi.simulate(slider, 0.3, 0.1, adaptive=True)
    assert run.t == pytest.approx([0.0, 0.1, 0.2, 0.3], abs=1e-15)
    assert run.steps == 3


def test_a_hard_brake_at_the_start_is_no_step_backward():
    flywheel = vi.Mechanism(
        "flywheel",
        [vi.Body.box("wheel", (0.4, 0.1, 0.4), 3.0, position=(0, 0, 0))],
        [vi.Revolute("axle", "world", "wheel", point=(0, 0, 0), axis=(0, 1, 0))],
        forces=[vi.JointDamper("brake", joint="axle", damping=50.0)],
    )
    run = vi.simulate(flywheel, 1.0, 0.02, state=flywheel.state(rates={"axle": 30.0}), adaptive=True)
    assert (np.diff(run.t) > 0).all()
    assert abs(run.rates["axle"][-1]) < 1.0


def test_forces_loops_and_couplings():
    mechanism = vi.mechanisms.governor()
    run = vi.simulate(mechanism, 0.5, 0.002, order=4, adaptive=0.05)
    assert np.abs(run.energy_balance).max() < 1e-6 * run.kinetic.max()


def test_goes_on_after_a_stop_to_the_same_bits(tmp_path):
    mechanism, made = vi.mechanisms.double_pendulum(), {"order": 4, "adaptive": True}
    whole = vi.simulate(mechanism, 3.0, 0.02, **made)
    path = tmp_path / "run.h5"
    vi.simulate(mechanism, 1.3, 0.02, output=path, **made)
    longer = vi.simulate(mechanism, 3.0, 0.02, output=path, resume=True, **made)
    for name in ("t", "position", "quat_wxyz", "velocity"):
        assert np.array_equal(getattr(longer, name), getattr(whole, name)), name


def motor():
    four = vi.mechanisms.four_bar()
    return vi.Mechanism(
        "driven", four.bodies, four.joints, forces=[vi.Motor("m", joint="crank pivot", effort=lambda t, state: t)]
    )


def stopped():
    chain = vi.mechanisms.double_pendulum()
    stop = vi.JointStop("stop", joint="joint 1", upper=0.1, restitution=0.5)
    return vi.Mechanism("stopped", chain.bodies, chain.joints, forces=[stop])


@pytest.mark.parametrize(
    ("build", "given", "message"),
    [
        (motor, {"adaptive": True}, "loads and inputs of forces that are constant"),
        (stopped, {"adaptive": True}, "cannot meet hard stops"),
        (stopped, {"on_unresolved": "substep"}, "does not take hard stops"),
        (vi.mechanisms.double_pendulum, {"adaptive": True, "order": 1}, "order 2 or above"),
        (vi.mechanisms.double_pendulum, {"adaptive": True, "output_times": [0.5]}, r"trajectory.at\(times\)"),
        (vi.mechanisms.double_pendulum, {"adaptive": -1.0}, "must be positive"),
        (vi.mechanisms.double_pendulum, {"adaptive": "yes"}, "must be a number"),
        (vi.mechanisms.double_pendulum, {"adaptive": True, "dt": "auto"}, "dt = 'auto'"),
    ],
)
def test_what_cannot_be_is_refused(build, given, message):
    with pytest.raises(vi.ArgumentError, match=message):
        vi.simulate(build(), **({"duration": 1.0, "dt": 0.01} | given))


def test_steps_are_done_again_where_energy_comes_from_nowhere():
    told = vi.simulate(whip(), 20.0, 0.005, order=4, on_unresolved="ignore")
    assert energy_error(told) > 0.1
    assert len(told.unresolved)
    run = vi.simulate(whip(), 20.0, 0.005, order=4, on_unresolved="substep")
    assert energy_error(run) < 0.01
    assert not len(run.unresolved)
    assert run.substeps > 0
