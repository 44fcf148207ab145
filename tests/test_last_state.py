"""The last state of a run is recorded whatever ``every`` is, and leaves no trace in a run that goes on."""

from itertools import product

import numpy as np
import pytest
from force_samples import with_forces

import varint as vi
from varint.files.runs import reader as run_reader
from varint.files.runs.writer import RunWriter
from varint.methods.reduced.integrators import INTEGRATORS
from varint.results.reactions import second_derivative
from varint.runs import running
from varint.studies.comparison.differences import common_nodes, differences
from varint.views.curves import running_mean

DT, STEPS = 0.01, 20
SIMULATE = {"maximal": lambda *given, **options: vi.simulate(*given, **options)} | {
    name: lambda *given, name=name, **options: vi.redmax.simulate(*given, integrator=name, **options)
    for name in INTEGRATORS
}
FAST = ("maximal", "dop853", "bdf2")


def some(cases, fast):
    """The cases, all but the ``fast`` ones marked as slow."""
    return [pytest.param(*case, marks=[] if case in fast else pytest.mark.slow) for case in cases]


@pytest.fixture(
    params=[pytest.param(name, marks=[] if name in FAST else [pytest.mark.slow, pytest.mark.long]) for name in SIMULATE]
)
def simulate(request):
    return SIMULATE[request.param]


def damped(steps=None):
    """A double pendulum with a force that does work, a law with a state, and with ``steps`` one input a node."""
    pendulum = vi.mechanisms.double_pendulum()
    effort = 0.3 if steps is None else np.cos(0.2 * np.arange(steps + 1))
    servo = vi.JointServo("servo", joint="joint 2", target=0.1, stiffness=3.0, damping=0.1, integral=2.0)
    forces = vi.JointDamper("damper", joint="joint 1", damping=0.2), vi.Motor("motor", joint="joint 1", effort=effort)
    return with_forces(pendulum, *forces, servo)


def chosen(steps, every):
    """Numbers of the recorded nodes."""
    return sorted({*range(0, steps + 1, every), steps})


def check_nodes(run, whole, nodes, but=("unresolved_body", "driving_impulse")):
    """That a run holds those nodes of one with all of them, to the bit."""
    assert list(run.nodes) == list(whole.nodes)
    for name in set(run.nodes) - set(but):
        assert run.nodes[name].tobytes() == np.ascontiguousarray(whole.nodes[name][nodes]).tobytes(), name


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("every", some([(1,), (3,), (7,), (20,), (21,), (1000,)], [(7,)]))
def test_any_every_has_the_last_state(simulate, every, tmp_path):
    path = tmp_path / "run.h5"
    whole = simulate(damped(), STEPS * DT, DT)
    for output in ({}, {"output": path}):
        run = simulate(damped(), STEPS * DT, DT, every=every, **output)
        check_nodes(run, whole, chosen(STEPS, every))
        assert run.t[-1] == whole.t[-1]
    check_nodes(vi.load(path), whole, chosen(STEPS, every))
    assert not np.array_equal(whole.work[-1], whole.work[-2])
    again = simulate(damped(), STEPS * DT, DT, every=every, output=path, resume=True)
    check_nodes(again, whole, chosen(STEPS, every))
    check_nodes(vi.load(path), whole, chosen(STEPS, every))


@pytest.mark.long
@pytest.mark.parametrize(("every", "first"), some([(7, 10), (7, 14), (3, 17), (50, 5)], [(7, 10)]))
@pytest.mark.slow
def test_a_longer_run_has_no_trace_of_it(simulate, every, first, tmp_path, monkeypatch):
    path = tmp_path / "run.h5"
    whole = simulate(damped(), STEPS * DT, DT, every=every)
    simulate(damped(), first * DT, DT, every=every, output=path)
    for blocks in (running.LARGEST_BLOCK, 0):
        resumed = simulate(damped(), STEPS * DT, DT, every=every, output=path, resume=True)
        for run in (resumed, vi.load(path)):
            check_nodes(run, whole, slice(None), but=())
            assert run.steps == whole.steps
            assert run.newton_iterations == whole.newton_iterations
        monkeypatch.setattr(running, "LARGEST_BLOCK", blocks)
        monkeypatch.setattr(run_reader, "HELD", 0)


@pytest.mark.slow
def test_a_kill_just_before_the_end(simulate, tmp_path, monkeypatch):
    """The last state is in the file, which does not say yet that the run has ended."""
    path = tmp_path / "run.h5"

    def killed(writer, status, message):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(RunWriter, "finish", killed)
        with pytest.raises(KeyboardInterrupt):
            simulate(damped(), 10 * DT, DT, every=7, output=path)
    left = vi.load(path)
    assert left.status == -1
    assert len(left.t) == 3
    whole = simulate(damped(), STEPS * DT, DT, every=7)
    check_nodes(simulate(damped(), STEPS * DT, DT, every=7, output=path, resume=True), whole, slice(None), but=())


@pytest.mark.slow
def test_nodes_that_were_not_read_before_the_run_went_on(tmp_path, monkeypatch):
    path = tmp_path / "run.h5"
    monkeypatch.setattr(run_reader, "HELD", 0)
    early = vi.simulate(damped(), 10 * DT, DT, every=7, output=path)
    late = vi.load(path)
    assert early.position.shape == (3, 2, 3)
    for _ in range(2):
        vi.simulate(damped(), STEPS * DT, DT, every=7, output=path, resume=True)
        with pytest.raises(vi.FileError, match=r"went on, and has no node at t = 0\.1 s any more: load it again"):
            late.position  # noqa: B018
    assert early.position.shape == (3, 2, 3)
    assert len(vi.load(path).position) == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "integrator", some([(name,) for name, kind in INTEGRATORS.items() if not kind.fixed], [("dop853",)])
)
def test_steps_of_the_integrators_own(integrator, tmp_path):
    path, options = tmp_path / "run.h5", {"integrator": integrator, "every": 7}
    whole = vi.redmax.simulate(damped(), 0.2, **options)
    assert whole.t[-1] == 0.2
    vi.redmax.simulate(damped(), 0.1, output=path, **options)
    assert vi.load(path).t[-1] == 0.1
    check_nodes(vi.redmax.simulate(damped(), 0.2, output=path, resume=True, **options), whole, slice(None), but=())


@pytest.mark.slow
def test_inputs_and_loads_at_the_last_state(simulate, tmp_path):
    force = 0.5 * np.sin(0.1 * np.arange(STEPS + 1)[:, None] * [1, 2, 3])
    given = {"force": {"link 2": force}, "torque": {"link 1": (0.1, 0.2, 0.3)}}
    for output in ({}, {"output": tmp_path / "run.h5"}):
        run = simulate(damped(STEPS), STEPS * DT, DT, every=7, **given, **output)
        nodes = chosen(STEPS, 7)
        assert run.load[:, 1, :3] == pytest.approx(force[nodes], abs=1e-12)
        assert (run.load[:, 0, 3:] == (0.1, 0.2, 0.3)).all()
        assert run.command[:, 1] == pytest.approx(np.cos(0.2 * np.arange(STEPS + 1))[nodes], abs=1e-12)
        check_nodes(run, simulate(damped(STEPS), STEPS * DT, DT, **given), nodes)


def test_functions_of_the_state_at_the_last_state():
    pendulum = vi.mechanisms.double_pendulum()
    motor = vi.Motor("motor", joint="joint 1", effort=lambda t, state: t + state.position[1, 0])
    driven = with_forces(pendulum, motor)
    for run in (vi.simulate(driven, 0.1, DT, every=7), vi.redmax.simulate(driven, 0.1, DT, every=7)):
        assert run.command[:, 0] == pytest.approx(run.t + run.position[:, 1, 0], abs=1e-12)
        assert len(run.t) == 3


# ------------------------------------------------------------------------------------------ runs that fail


def broken(at):
    force = np.zeros((STEPS + 1, 3))
    force[at:] = 1e15, 0, 0
    return {"force": {"link 2": force}}


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize(("order", "every"), some([*product([1, 2, 4, 6], [3, 7, 100])], [(2, 7), (4, 100)]))
@pytest.mark.filterwarnings("ignore::varint.UnresolvedWarning")
def test_a_run_that_fails_has_its_last_good_node(order, every, tmp_path):
    mechanism, path = vi.mechanisms.double_pendulum(), tmp_path / "run.h5"
    with pytest.raises(vi.ConvergenceError) as caught:
        vi.simulate(mechanism, STEPS * DT, DT, order=order, **broken(11))
    whole = caught.value.trajectory
    for output in ({}, {"output": path}):
        with pytest.raises(vi.ConvergenceError) as caught:
            vi.simulate(mechanism, STEPS * DT, DT, order=order, every=every, **broken(11), **output)
        run = caught.value.trajectory
        assert run.t[-1] == caught.value.time == whole.t[-1]
        check_nodes(run, whole, chosen(len(whole.t) - 1, every))
        assert run.steps == whole.steps
    check_nodes(vi.load(path), whole, chosen(len(whole.t) - 1, every))


def test_a_controlled_run_that_fails_has_its_last_good_node():
    pendulum = vi.mechanisms.double_pendulum()
    motor = vi.Motor("motor", joint="joint 1", effort=lambda t, state: 1e300 if t > 0.095 else 0.1)
    runs = []
    for every in (1, 7):
        with pytest.raises(vi.ConvergenceError) as caught:
            vi.simulate(with_forces(pendulum, motor), 0.2, DT, every=every)
        runs.append(caught.value.trajectory)
        assert runs[-1].t[-1] == caught.value.time
    check_nodes(runs[1], runs[0], chosen(len(runs[0].t) - 1, 7))


@pytest.mark.parametrize(
    ("integrator", "every"), some([*product(INTEGRATORS, [1, 7, 100])], [("dop853", 7), ("bdf2", 7)])
)
def test_a_reduced_run_that_fails_has_its_last_state(integrator, every):
    pendulum = vi.mechanisms.double_pendulum()
    motor = vi.Motor("motor", joint="joint 1", effort=lambda t, state: np.inf if t > 2 else 1e300 * (t > 0.095))
    with pytest.raises(vi.ConvergenceError) as caught:
        vi.redmax.simulate(with_forces(pendulum, motor), 0.2, DT, integrator=integrator, every=every)
    run = caught.value.trajectory
    assert run.t[-1] == caught.value.time > 0.05
    assert (np.diff(run.t) > 0).all()
    assert np.isfinite(run.position).all()
    assert run.drift.max() < 1e-6


def test_a_step_that_fails_where_its_chart_is_left():
    """The state that it began with stays what it was, in the new chart."""
    body = vi.mechanisms.free_body(spin=20.0)
    options = {"integrator": "bdf2", "chart": "xyz"}
    whole = vi.redmax.simulate(body, 0.5, DT, **options)
    (chart,) = whole.charts.values()
    change = int(np.flatnonzero(chart[1:] != chart[:-1])[0])  # the step from that node begins in another one
    force = np.zeros((51, 3))
    force[change + 1 :] = 1e300
    with pytest.raises(vi.ConvergenceError) as caught:
        vi.redmax.simulate(body, 0.5, DT, every=1000, force={body.bodies[0].name: force}, **options)
    run = caught.value.trajectory
    assert run.t[-1] == whole.t[change]
    assert run.charts[next(iter(run.charts))][-1] == chart[change + 1]
    assert np.abs(run.quat_wxyz[-1] - whole.quat_wxyz[change]).max() < 1e-12
    assert np.abs(run.angular_velocity[-1] - whole.angular_velocity[change]).max() < 1e-10


# ------------------------------------------------------------------------------------------ a shorter last interval


def test_second_derivatives_of_cubics_are_exact():
    for t in (0.1 * np.arange(9), np.array([0.0, 0.3, 0.6, 0.9, 1.0]), np.array([0.0, 0.3, 0.6, 0.65])):
        for values, bend in (
            (t**3 - 2 * t**2, 6 * t - 4),
            (np.array([t**2, 4 * t**3]).T, np.array([2 + 0 * t, 24 * t]).T),
        ):
            assert second_derivative(values, t) == pytest.approx(bend, abs=1e-10)
    assert not second_derivative(np.arange(3.0), np.arange(3.0)).any()


def test_efforts_of_a_prescribed_motion_at_the_last_state():
    """The same as in a run that records each node, but for the differences over longer intervals."""
    t = DT * np.arange(102)
    arm = vi.mechanisms.double_pendulum(angle=0.0)
    driven = with_forces(arm, vi.PrescribedMotion("m", joint="joint 1", position=0.3 * (1 - np.cos(2 * t))))
    whole, run = (vi.simulate(driven, 1.01, DT, every=every) for every in (1, 4))
    nodes = chosen(101, 4)
    scale = np.abs(whole.force["m"]).max()
    assert np.abs(run.force["m"] - whole.force["m"][nodes]).max() < 0.01 * scale
    assert np.abs(run.power["m"] - whole.power["m"][nodes]).max() < 0.01 * np.abs(whole.power["m"]).max()


def test_sums_over_nodes_close_the_balance():
    run = vi.simulate(vi.mechanisms.double_pendulum(), 1.01, 0.001, every=4, force={"link 2": (1.0, 0.0, 2.0)})
    even = vi.simulate(vi.mechanisms.double_pendulum(), 1.008, 0.001, every=4, force={"link 2": (1.0, 0.0, 2.0)})
    assert np.abs(run.energy_balance).max() == pytest.approx(np.abs(even.energy_balance).max(), rel=0.05)


def test_a_mean_weighs_nodes_by_their_time():
    t = np.append(np.arange(40.0), 39.001)
    values = np.append(np.zeros(39), [1.0, 1.0])
    mean = running_mean(t, values, 4.0)[1]
    assert mean[-1] < 0.4  # by the number of nodes it would be a half


def test_a_run_that_stopped_between_nodes_is_compared_where_it_has_them():
    pendulum = vi.mechanisms.double_pendulum()
    reference = vi.redmax.simulate(pendulum, STEPS * DT, 5 * DT)
    with pytest.raises(vi.ConvergenceError) as caught:
        vi.simulate(pendulum, STEPS * DT, DT, every=5, **broken(13))
    stopped = caught.value.trajectory
    assert len(stopped.t) == 4
    assert stopped.t[-1] == pytest.approx(0.12, abs=0.011)
    assert common_nodes(stopped, reference) == 3
    found = differences(stopped, reference)
    assert np.isnan(found.position).tolist() == [False, False, False, True, True]
    assert found.position[2] < 1e-4
