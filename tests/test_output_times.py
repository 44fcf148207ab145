"""Runs that are recorded at given times: between the nodes as well as at them, and the run itself stays as it is."""

import numpy as np
import pytest
from force_samples import with_forces
from test_stops import GRAVITY, ball

import varint as vi
from varint.cli import main
from varint.files.runs import reader as run_reader
from varint.runs import running

DT = 0.01
TIMES = np.array([0.0, 0.005, 0.0123, 0.0177, 0.02, 0.1234567, 0.3, 0.3999, 0.4])
MECHANISMS = {
    "double_pendulum": vi.mechanisms.double_pendulum,
    "four_bar": vi.mechanisms.four_bar,
    "roller_coaster": vi.mechanisms.roller_coaster,
    "free_body": vi.mechanisms.free_body,
}


PAIRS = {  # steps, s, by order, with those of the exact run in one of them
    2: [(0.005, 16), (0.0025, 8)],
    4: [(0.02, 64), (0.01, 32)],
    6: [(0.04, 128), (0.02, 64)],
}


def apart(one, other):
    """Largest difference of positions, m, and of velocities, m/s."""
    return [np.abs(getattr(one, name) - getattr(other, name)).max() for name in ("position", "velocity")]


@pytest.mark.parametrize("order", [2, 4, 6])
@pytest.mark.parametrize(
    "name",
    ["double_pendulum", *(pytest.param(n, marks=pytest.mark.slow) for n in MECHANISMS if n != "double_pendulum")],
)
def test_they_have_the_order_of_the_scheme(name, order):
    """Against a run of far smaller steps: errors fall as the order says, and are no larger than those at the nodes."""
    mechanism = MECHANISMS[name]()
    exact = vi.simulate(mechanism, 0.4, 0.0003125, order=6, tol=1e-13)
    chosen = [130, 370, 770, 1250]  # nodes of it, and of none of the steps below
    errors = []
    for dt, stride in PAIRS[order]:
        run = vi.simulate(mechanism, 0.4, dt, order=order, tol=1e-13, output_times=exact.t[chosen])
        nodes = vi.simulate(mechanism, 0.4, dt, order=order, tol=1e-13)
        assert run.t.tolist() == [0.0, *exact.t[chosen], 0.4]
        assert run.drift.max() < 1e-11
        errors.append(np.abs(run.quat_wxyz[1:-1] - exact.quat_wxyz[chosen]).max())
        assert errors[-1] < 2 * np.abs(nodes.quat_wxyz - exact.quat_wxyz[::stride]).max()
    assert errors[0] > 1e-12  # else this would test nothing
    assert errors[1] < errors[0] / 2 ** (order - 1.5)


def test_the_run_itself_is_not_changed(tmp_path):
    mechanism = vi.mechanisms.four_bar()
    whole = vi.simulate(mechanism, 0.4, DT)
    run = vi.simulate(mechanism, 0.4, DT, output_times=TIMES)
    assert run.t.tolist() == TIMES.tolist()
    for name in ("position", "quat_wxyz", "velocity", "angular_velocity"):
        for row, node in ((0, 0), (4, 2), (6, 30), (8, 40)):  # times that are nodes
            assert getattr(run, name)[row].tobytes() == getattr(whole, name)[node].tobytes()
    assert (run.steps, run.newton_iterations) == (whole.steps, whole.newton_iterations)
    assert run.settings["output_times"] == len(TIMES)
    assert "9 nodes, at output_times" in run._repr_html_()


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize(
    "kind", ["maximal", *(pytest.param(k, marks=pytest.mark.slow) for k in ("dop853", "radau", "radau with dt"))]
)
def test_files_and_going_on(tmp_path, kind, monkeypatch):
    def simulate(duration, **options):
        given = vi.mechanisms.double_pendulum(), duration
        if kind == "maximal":
            return vi.simulate(*given, DT, **options)
        name, *with_dt = kind.split()
        return vi.redmax.simulate(*given, DT if with_dt else None, integrator=name, **options)

    times = TIMES[:6]
    whole = simulate(0.4, output_times=times)
    assert whole.t.tolist() == pytest.approx([*times, 0.4], abs=1e-15)
    path = tmp_path / "run.h5"
    for block in (running.LARGEST_BLOCK, 0):
        monkeypatch.setattr(running, "LARGEST_BLOCK", block)
        monkeypatch.setattr(run_reader, "HELD", 0)
        simulate(0.15, output_times=times, output=path, overwrite=True)
        longer = simulate(0.4, output_times=times, output=path, resume=True)
        for name in whole.nodes:
            assert longer.nodes[name].tobytes() == whole.nodes[name].tobytes(), name
    with pytest.raises(vi.FileError, match="holds another run"):
        simulate(0.5, output_times=times[:4], output=path, resume=True)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["dop853", "radau", "rk45"])
def test_reduced_coordinates_agree(integrator):
    mechanism = vi.mechanisms.double_pendulum()
    fine = vi.simulate(mechanism, 0.4, DT, order=6, output_times=TIMES, tol=1e-13)
    for dt in (None, DT):
        run = vi.redmax.simulate(mechanism, 0.4, dt, integrator=integrator, rtol=1e-10, output_times=TIMES)
        assert run.t.tolist() == TIMES.tolist()
        assert max(apart(run, fine)) < 1e-6


@pytest.mark.slow
def test_a_ball_that_bounces_between_two_steps():
    """With an elastic floor at -1 m, closed form: the impact lies within a step, and the side steps go through it."""
    fall = np.sqrt(2 / GRAVITY)
    times = fall + np.array([-0.004, -0.001, 0.001, 0.004])
    dt = 0.02
    run = vi.simulate(ball(1.0), 0.6, dt, output_times=times)
    past = times - fall
    height = np.where(past < 0, -0.5 * GRAVITY * times**2, -1.0 + GRAVITY * fall * past - 0.5 * GRAVITY * past**2)
    assert run.coordinates["slide"][1:-1] == pytest.approx(height, abs=1e-6)
    assert np.sign(run.velocity[1:-1, 0, 2]).tolist() == [-1, -1, 1, 1]
    whole = vi.simulate(ball(1.0), 0.6, dt)
    assert run.position[-1].tobytes() == whole.position[-1].tobytes()


def test_inputs_loads_and_motions_are_those_that_act():
    pendulum, steps = vi.mechanisms.double_pendulum(), 40
    t = DT * np.arange(steps + 1)
    effort, asked = np.cos(0.2 * np.arange(steps + 1)), []

    def push(now, state):
        asked.append(now)
        return 0.5 * now

    force = np.sin(3 * t)[:, None] * [1.0, 0.0, 0.0]
    mechanism = with_forces(
        pendulum, vi.Motor("table", joint="joint 1", effort=effort), vi.Motor("law", joint="joint 2", effort=push)
    )
    run = vi.simulate(mechanism, 0.4, DT, force={"link 2": force}, output_times=TIMES)
    assert run.command[:, 0] == pytest.approx(np.interp(TIMES, t, effort), abs=1e-14)
    assert run.load[:, 1, 0] == pytest.approx(np.interp(TIMES, t, force[:, 0]), abs=1e-14)
    assert run.command[:-1, 1] == pytest.approx(0.5 * DT * np.floor(TIMES[:-1] / DT + 1e-9))  # held over the step
    assert len(asked) == steps + 1
    whole = vi.simulate(mechanism, 0.4, DT, force={"link 2": force})
    assert run.position[-1].tobytes() == whole.position[-1].tobytes()


def test_a_prescribed_motion_is_where_it_should_be():
    pendulum = vi.mechanisms.double_pendulum()
    start = pendulum.state()
    first = float(vi.simulate(pendulum, DT, DT, state=start).coordinates["joint 1"][0])
    for position in (lambda t: first + t * t, first + (DT * np.arange(41)) ** 2):
        driven = with_forces(pendulum, vi.PrescribedMotion("drive", joint="joint 1", position=position))
        run = vi.simulate(driven, 0.4, DT, state=start, output_times=TIMES)
        assert run.coordinates["joint 1"] == pytest.approx(first + TIMES**2, abs=1e-7)
        assert run.command[:, 0] == pytest.approx(run.coordinates["joint 1"], abs=1e-9)


def test_a_run_that_fails_keeps_times_that_rise():
    force = np.zeros((41, 3))
    force[28:] = 1e15, 0, 0
    with pytest.raises(vi.ConvergenceError) as caught:
        vi.simulate(vi.mechanisms.double_pendulum(), 0.4, DT, force={"link 2": force}, output_times=[0.1, 0.2855, 0.39])
    reached = caught.value.trajectory
    assert (np.diff(reached.t) > 0).all()
    assert reached.t[1] == 0.1
    assert not reached.success
    assert np.isfinite(reached.position).all()


def test_wrong_times_are_refused():
    mechanism = vi.mechanisms.double_pendulum()
    for wrong in ([], [0.1, 0.1], [0.2, 0.1], [-0.1, 0.2], [0.1, 0.5], [np.nan], "now", [[0.1]], 0.1):
        for simulate in (vi.simulate, vi.redmax.simulate):
            with pytest.raises(vi.ArgumentError, match="output_times"):
                simulate(mechanism, 0.4, DT, output_times=wrong)
    with pytest.raises(vi.ArgumentError, match="so does every: give one of them"):
        vi.simulate(mechanism, 0.4, DT, output_times=[0.1], every=2)
    with pytest.raises(vi.ArgumentError, match="so does diagnostics_every"):
        vi.simulate(mechanism, 0.4, DT, output_times=[0.1], diagnostics_every=1)
    with pytest.raises(vi.ArgumentError, match=r"need an integrator with error control, .*'dop853'.*, got 'bdf2'"):
        vi.redmax.simulate(mechanism, 0.4, DT, integrator="bdf2", output_times=[0.1])


@pytest.mark.slow
def test_the_command_takes_them(tmp_path, capsys):
    path = tmp_path / "run.h5"
    given = ["run", "double_pendulum", "--duration", "0.4", "-o", str(path), "--output-times"]
    assert main([*given, "0.1,0.155"]) == 0
    assert "at the times asked for" in capsys.readouterr().out
    assert vi.load(path).t.tolist() == pytest.approx([0.0, 0.1, 0.155, 0.4])
    assert main([*given, "soon", "--force"]) == 2
    assert "--output-times takes times in s, such as 0.5,1,1.5, got 'soon'" in capsys.readouterr().err
