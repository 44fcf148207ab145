"""Loads on bodies in steps of collocation: those of forces of the same size, linear between nodes, recorded."""

import numpy as np
import pytest
from force_samples import with_forces

import varint as vi
from varint.extras.live.pull import PulledStepper

DT, STEPS = 0.01, 30
DURATION = DT * STEPS
PUSH, TWIST = np.array([1.0, -2.0, 3.0]), np.array([0.1, 0.3, -0.2])


def moved(mechanism, order=8, every=1, **loads):
    return vi.simulate(vi.Problem(mechanism, DURATION, **loads), vi.Lobatto(DT, order), vi.Recording(every=every))


@pytest.mark.parametrize("name", ["free_body", "double_pendulum", "four_bar"])
def test_constant_loads_are_those_of_a_force_and_a_torque(name):
    mechanism = getattr(vi.mechanisms, name)()
    body = mechanism.bodies[-1].name
    forces = (
        vi.PointForce("push", body, direction=PUSH, magnitude=np.linalg.norm(PUSH), fixed_in="world"),
        vi.PointTorque("twist", body, direction=TWIST, magnitude=np.linalg.norm(TWIST), fixed_in="body"),
    )
    run = moved(mechanism, force={body: PUSH}, torque={body: TWIST})
    same = moved(with_forces(mechanism, *forces))
    free = moved(mechanism)
    assert np.abs(run.position - free.position).max() > 1e-3
    for part in ("position", "quat_wxyz", "velocity", "angular_velocity"):
        assert getattr(run, part) == pytest.approx(getattr(same, part), abs=1e-12)
    assert run.load[0, -1].tolist() == [*PUSH, *TWIST]


@pytest.mark.slow
@pytest.mark.parametrize(("order", "steps"), [(4, (40, 80)), (6, (30, 60)), (8, (30, 40))])
def test_the_order_holds_with_loads(order, steps):
    mechanism, body = vi.mechanisms.four_bar(), vi.mechanisms.four_bar().bodies[1].name
    loads = {"force": {body: 20.0 * PUSH}, "torque": {body: TWIST}}

    def end(n, order):
        return vi.simulate(vi.Problem(mechanism, 0.4, **loads), vi.Lobatto(0.4 / n, order)).position[-1]

    errors = [np.abs(end(n, order) - end(160, 10)).max() for n in steps]
    assert np.log(errors[0] / errors[1]) / np.log(steps[1] / steps[0]) > order - 0.5


def test_values_at_nodes_are_linear_in_between():
    """A free body with a force a + b t: its place is a cubic in time, which the steps have to round-off."""
    free = vi.mechanisms.free_body()
    still = vi.Mechanism("free", free.bodies, free.joints, gravity=(0, 0, 0))
    mass, t = free.bodies[0].mass, DT * np.arange(STEPS + 1)
    run = moved(still, force={free.bodies[0].name: PUSH * t[:, None]})
    assert run.position[:, 0] - run.position[0, 0] == pytest.approx(np.outer(t**3 / (6 * mass), PUSH), abs=1e-13)
    assert run.load[:, 0, :3] == pytest.approx(np.outer(t, PUSH), abs=1e-15)
    assert not run.load[0].any()
    sparse = moved(still, every=7, force={free.bodies[0].name: PUSH * t[:, None]})
    assert np.array_equal(sparse.position[:-1], run.position[::7])


def test_times_between_nodes_have_their_loads():
    mechanism = vi.mechanisms.double_pendulum()
    values = np.sin(3.0 * DT * np.arange(STEPS + 1))[:, None] * PUSH
    problem, times = vi.Problem(mechanism, DURATION, force={"link 2": values}), [0.005, 0.1234]
    run = vi.simulate(problem, vi.Lobatto(DT), vi.Recording(output_times=times))
    within = [np.interp(times, DT * np.arange(STEPS + 1), column) for column in values.T]
    assert run.load[1:-1, 1, :3] == pytest.approx(np.transpose(within), abs=1e-14)
    fine = np.sin(3.0 * DT * np.arange(STEPS + 1))
    table = np.interp(np.arange(10 * STEPS + 1) / 10, np.arange(STEPS + 1), fine)[:, None] * PUSH
    finer = vi.Problem(mechanism, DURATION, force={"link 2": table})
    exact = vi.simulate(finer, vi.Lobatto(DT / 10), vi.Recording(output_times=times))
    assert np.abs(run.position - exact.position).max() < 1e-9


def test_runs_with_loads_resume_to_the_same_bits(tmp_path):
    mechanism, path = vi.mechanisms.four_bar(), tmp_path / "run.h5"
    loads = {"force": {mechanism.bodies[0].name: PUSH}}
    for duration in (0.1, DURATION):
        recording = vi.Recording(output=path, resume=duration > 0.1)
        vi.simulate(vi.Problem(mechanism, duration, **loads), vi.Lobatto(DT), recording)
    whole, loaded = moved(mechanism, **loads), vi.load(path)
    for name in ("t", "position", "quat_wxyz", "velocity", "angular_velocity"):
        assert np.array_equal(getattr(loaded, name), getattr(whole, name))
    without, recording = vi.Problem(mechanism, 2 * DURATION), vi.Recording(output=path, resume=True)
    with pytest.raises(vi.FileError, match="holds another run"):
        vi.simulate(without, vi.Lobatto(DT), recording)


def test_steppers_take_them():
    mechanism = vi.mechanisms.four_bar()
    loads = {"force": {mechanism.bodies[0].name: PUSH}}
    sim = vi.Stepper(mechanism, vi.Lobatto(DT), every=1, **loads)
    assert sim.step(10)
    assert sim.step(STEPS - 10)
    run = moved(mechanism, **loads)
    for name in ("position", "velocity", "angular_velocity", "load"):
        assert np.array_equal(getattr(sim.trajectory(), name), getattr(run, name))


def test_the_pointer_of_a_page_pulls_bodies():
    """A load that is set between steps goes there linearly: a free body has the cubic, then the parabola."""
    free = vi.mechanisms.free_body()
    sim = PulledStepper(vi.Mechanism("free", free.bodies, free.joints, gravity=(0, 0, 0)), vi.Lobatto(DT), every=1)
    assert sim.step(5)
    start, mass = sim.state, free.bodies[0].mass
    sim.pull(np.concatenate([PUSH, np.zeros(3)])[None], 10)
    assert sim.step(10)
    t, ramp = 10 * DT, PUSH / (10 * DT)
    assert sim.state.position[0] - start.position[0] - t * start.velocity[0] == pytest.approx(
        ramp * t**3 / (6 * mass), abs=1e-13
    )
    before = sim.state.velocity[0]
    assert sim.step(10)
    assert sim.state.velocity[0] - before == pytest.approx(t * PUSH / mass, abs=1e-13)
