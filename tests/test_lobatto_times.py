"""Collocation that is recorded at given times: by a step of its own from the node before, of the order of the run."""

import numpy as np
import pytest
from force_samples import with_forces

import varint as vi
from varint.files.runs import reader as run_reader
from varint.runs import running

DURATION = 0.4
TIMES = np.array([0.0, 0.005, 0.0123, 0.0177, 0.02, 0.1234567, 0.3, 0.3999, 0.4])


def at_times(mechanism, dt, order, times=TIMES, duration=DURATION):
    return vi.simulate(vi.Problem(mechanism, duration), vi.Lobatto(dt, order), vi.Recording(output_times=times))


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize(("order", "steps"), [(4, (40, 80)), (6, (20, 40)), (8, (20, 30)), (10, (20, 30))])
@pytest.mark.parametrize("name", ["double_pendulum", "four_bar", "bennett", "stewart_platform"])
def test_they_have_the_order_of_the_steps(name, order, steps):
    """Errors fall as the order says, in poses and in velocities, and joints are closed as at the nodes."""
    mechanism = getattr(vi.mechanisms, name)()
    times = np.linspace(0.0, DURATION, 30)[1:-1]
    exact = at_times(mechanism, DURATION / 160, 10, times)
    errors = []
    for n in steps:
        run = at_times(mechanism, DURATION / n, order, times)
        assert run.drift.max() < 1e-13
        errors.append([np.abs(getattr(run, part) - getattr(exact, part)).max() for part in ("position", "velocity")])
    assert errors[1][0] < 1e-5
    slopes = np.log(np.divide(*errors)) / np.log(steps[1] / steps[0])
    assert min(slopes) > order - 1.0 or max(errors[1]) < 1e-12


def test_the_run_itself_is_not_changed():
    mechanism = vi.mechanisms.four_bar()
    method = vi.Lobatto(0.01)
    whole = vi.simulate(vi.Problem(mechanism, DURATION), method)
    run = vi.simulate(vi.Problem(mechanism, DURATION), method, vi.Recording(output_times=TIMES))
    assert run.t.tolist() == TIMES.tolist()
    for name in ("position", "quat_wxyz", "velocity", "angular_velocity"):
        for row, node in ((0, 0), (4, 2), (6, 30), (8, 40)):  # times that are nodes
            assert getattr(run, name)[row].tobytes() == getattr(whole, name)[node].tobytes()
    assert (run.steps, run.newton_iterations, run.settings["output_times"]) == (40, whole.newton_iterations, 9)


def test_one_step_and_steps_that_do_not_divide_the_duration():
    mechanism = vi.mechanisms.double_pendulum()
    run = at_times(mechanism, 0.02, 8, [0.001, 0.02], 0.03)
    fine = at_times(mechanism, 0.001, 8, [0.001, 0.02], 0.02)
    assert run.t.tolist() == [0.0, 0.001, 0.02]
    assert np.abs(run.position - fine.position).max() < 1e-11
    with pytest.raises(vi.ArgumentError, match=r"lie from 0 to the last step at 0.02 s"):
        at_times(mechanism, 0.02, 8, [0.025], 0.03)


def test_long_steps_that_are_divided_are_recorded_too():
    """A link without gravity turns at a constant rate, by more than a step may turn it."""
    chain = vi.mechanisms.n_pendulum(n=1)
    spun = vi.Mechanism("spun", chain.bodies, chain.joints, gravity=(0, 0, 0), start={"rates": {"joint 1": 9.0}})
    times = np.array([0.1, 0.3, 0.75, 1.2, 1.9])
    run = at_times(spun, 0.5, 8, times, 2.0)
    assert run.substeps > 0
    placed = at_times(spun, 0.01, 8, times, 2.0)
    assert np.abs(run.position - placed.position).max() < 1e-7
    assert np.linalg.norm(run.angular_velocity, axis=2) == pytest.approx(9.0, abs=1e-8)


@pytest.mark.parametrize("block", [running.LARGEST_BLOCK, 0])
def test_files_and_going_on(tmp_path, monkeypatch, block):
    monkeypatch.setattr(running, "LARGEST_BLOCK", block)
    monkeypatch.setattr(run_reader, "HELD", 0)

    def simulate(duration, **options):
        recording = vi.Recording(output_times=TIMES[:6], **options)
        return vi.simulate(vi.Problem(vi.mechanisms.four_bar(), duration), vi.Lobatto(0.01), recording)

    whole, path = simulate(DURATION), tmp_path / "run.h5"
    simulate(0.15, output=path)
    longer = simulate(DURATION, output=path, resume=True)
    for name in whole.nodes:
        assert longer.nodes[name].tobytes() == whole.nodes[name].tobytes(), name


def test_inputs_and_motions_are_those_that_act():
    pendulum, dt, steps = vi.mechanisms.double_pendulum(), 0.01, 40
    t, asked = dt * np.arange(steps + 1), []
    effort = np.cos(0.2 * np.arange(steps + 1))

    def push(now, state):
        asked.append(now)
        return 0.5 * now

    motors = vi.Motor("table", joint="joint 1", effort=effort), vi.Motor("law", joint="joint 2", effort=push)
    run = at_times(with_forces(pendulum, *motors), dt, 8)
    assert run.command[:, 0] == pytest.approx(np.interp(TIMES, t, effort), abs=1e-14)
    assert run.command[:-1, 1] == pytest.approx(0.5 * dt * np.floor(TIMES[:-1] / dt + 1e-9))  # held over the step
    assert len(asked) == steps + 1
    first = float(pendulum.coordinates(pendulum.state())["joint 1"])
    drive = vi.PrescribedMotion("drive", joint="joint 1", position=lambda t: first + t * t)
    run = at_times(with_forces(pendulum, drive), dt, 8)
    assert run.coordinates["joint 1"] == pytest.approx(first + TIMES**2, abs=1e-13)
    assert run.rates["joint 1"] == pytest.approx(2.0 * TIMES, abs=1e-12)
    assert run.command[:, 0] == pytest.approx(first + TIMES**2, abs=1e-14)


def test_works_are_those_of_the_energy():
    motor = vi.Motor("motor", joint="joint 1", effort=lambda t: 5.0 * np.sin(9.0 * t))
    run = at_times(with_forces(vi.mechanisms.double_pendulum(), motor), 0.01, 8)
    assert run.energy - run.energy[0] == pytest.approx(run.work[:, 0], abs=1e-9)
