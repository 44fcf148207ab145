"""Runs in reduced coordinates in files: written as they go, stopped, resumed to the same bits, read by the command."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from force_samples import with_forces
from holonomic import FLEXIBLE, TOUCHING
from random_mechanisms import random_closed, random_tree, random_velocity_state
from test_products import loop

import varint as vi
from varint.cli import main
from varint.files.runs.reader import load_settings
from varint.methods.reduced.integrators import INTEGRATORS
from varint.runs import running

ARRAYS = (
    "t", "position", "quat_wxyz", "velocity", "angular_velocity", "work", "command", "load", "q", "qdot", "law_states",
    "stopping",
)  # fmt: skip
NAMED = ("driving", "friction", "charts")
STIFF = ("andrews_squeezer", "governor")  # or fast, for explicit steps of 2 ms
EXPLICIT = [name for name, kind in INTEGRATORS.items() if kind.fixed and not kind.stiff]
EVERYWHERE = [name for name, kind in INTEGRATORS.items() if not kind.trees_only]
COUNTED = ("steps", "evaluations", "newton_iterations", "status", "message")


def differing(one, other):
    """Names of what is not the same, to the bit."""
    found = [name for name in ARRAYS if getattr(one, name).tobytes() != getattr(other, name).tobytes()]
    for name in NAMED:
        first, second = getattr(one, name), getattr(other, name)
        if list(first) != list(second) or any(np.any(first[key] != second[key]) for key in first):
            found.append(name)
    return found + [name for name in COUNTED if getattr(one, name) != getattr(other, name)]


class Stop(Exception):
    """Raised by a progress."""


def stopped(mechanism, duration, path, looks, **options):
    """Run into the file, but for an end at the ``looks``-th look at the progress."""
    seen = []

    def progress(done, total):
        seen.append(done)
        if len(seen) == looks:
            raise Stop

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "LARGEST_BLOCK", 0)  # blocks of one step
        with pytest.raises(Stop):
            vi.redmax.simulate(mechanism, duration, output=path, progress=progress, **options)


def check(mechanism, duration, path, looks=2, longer=True, **options):
    """Stopped and resumed, and finished and made longer: the same bits as in one go."""
    whole = vi.redmax.simulate(mechanism, duration, **options)
    stopped(mechanism, duration, path, looks, **options)
    left = vi.load(path)
    assert (left.status, left.success) == (-1, False)
    assert 0 < len(left.t) < len(whole.t)
    resumed = vi.redmax.simulate(mechanism, duration, output=path, resume=True, **options)
    assert not differing(resumed, whole)
    assert not differing(vi.load(path), whole)
    if longer:
        vi.redmax.simulate(mechanism, 0.6 * duration, output=path, overwrite=True, **options)
        assert not differing(vi.redmax.simulate(mechanism, duration, output=path, resume=True, **options), whole)
    return whole


def catalogue():
    """Each mechanism by one integrator in the slow tests, by all of them in the longest.

    Not those that bend, whose stiff modes the integrators with error control follow for minutes.
    """
    for number, mechanism in enumerate(name for name in vi.mechanisms.NAMES if name not in FLEXIBLE):
        if mechanism in TOUCHING:  # see test_located_contacts.py
            continue
        names = [name for name in EVERYWHERE if not (mechanism in STIFF and name in EXPLICIT)]
        for k, name in enumerate(names):
            one = k == number % len(names)
            yield pytest.param(mechanism, name, marks=[] if one else pytest.mark.long, id=f"{mechanism}-{name}")


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize(("mechanism", "integrator"), [*catalogue()])
def test_catalogue_stops_and_goes_on(mechanism, integrator, tmp_path):
    mechanism = getattr(vi.mechanisms, mechanism)()
    duration = 0.2 if len(mechanism.bodies) < 20 else 0.04
    if mechanism.name.startswith("Andrews"):  # fast
        duration = 0.03
    check(mechanism, duration, tmp_path / "run.h5", dt=0.002, integrator=integrator)


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("integrator", [name for name, kind in INTEGRATORS.items() if not kind.fixed])
@pytest.mark.parametrize("every", [1, 3])
def test_nodes_of_the_integrator_itself(integrator, every, tmp_path):
    whole = check(vi.mechanisms.governor(), 0.1, tmp_path / "run.h5", integrator=integrator, every=every)
    assert whole.t[-1] == 0.1
    assert load_settings(tmp_path / "run.h5")["dt"] is None


def turning():
    """A body that leaves its charts often."""
    return vi.mechanisms.free_body(spin=20.0), {}


def driven_crank():
    mechanism = vi.mechanisms.slider_crank()
    reduced = vi.redmax.reduced_state(mechanism, mechanism.state())
    name = next(name for name in vi.redmax.coordinates(mechanism) if "world" in vars(mechanism.joint(name)).values())
    angle = reduced.q[vi.redmax.coordinates(mechanism)[name]][0]
    return mechanism, {"prescribed": {name: lambda t: (angle + 3.0 * t + np.sin(t), 3.0 + np.cos(t), -np.sin(t))}}


def tabulated_drive():
    mechanism = vi.mechanisms.double_pendulum(angle=0.0)
    motion = vi.PrescribedMotion("m", joint="joint 1", position=0.3 * np.sin(0.01 * np.arange(101)) ** 2)
    return with_forces(mechanism, motion), {"dt": 0.004, "duration": 0.4, "longer": False}


def servo():
    mechanism = vi.mechanisms.double_pendulum()
    servo = vi.JointServo("servo", joint="joint 1", target=0.5, stiffness=50.0, damping=2.0, integral=30.0)
    spring = vi.TorsionSpring("spring", joint="joint 2", stiffness=3.0, rest_angle=7.0)
    return with_forces(mechanism, servo, spring), {}


def stops_and_friction():
    pytest.importorskip("clarabel", reason="needs varint-dynamics[contact]")
    mechanism = vi.mechanisms.n_pendulum(n=3, angle=1.5)
    names = [joint.name for joint in mechanism.joints]
    stop = vi.JointStop("stop", joint=names[1], lower=-0.2, upper=0.2, restitution=0.5)
    friction = vi.JointCoulombFriction("friction", joint=names[0], coefficient=0.3, radius=0.05)
    floor = vi.HardContact("floor", mechanism.bodies[2].name, radius=0.1, ground=(0, 0, -2.2), friction=0.3)
    return with_forces(mechanism, stop, friction, floor), {"dt": 0.01, "duration": 1.0, "looks": 3}


def hard_stops():
    """Impacts, contact and release, of a coordinate and of a length."""
    mechanism = vi.mechanisms.n_pendulum(n=3, angle=1.5)
    names = [joint.name for joint in mechanism.joints]
    stop = vi.JointStop("stop", joint=names[1], lower=-0.2, upper=0.2, restitution=0.5)
    last = mechanism.bodies[2]
    rope = vi.LengthStop("rope", "world", last.name, point_a=(0.0, 0.0, 1.0), point_b=last.position, upper=3.3)
    return with_forces(mechanism, stop, rope), {"dt": 0.01, "duration": 1.0, "looks": 3}


def product_in_a_loop():
    rng = np.random.default_rng(3)
    mechanism = loop(rng, "Composite")
    return mechanism, {"state": random_velocity_state(rng, mechanism, 0.3)}


def random_loops():
    rng = np.random.default_rng(4)
    mechanism = random_closed(rng, 8, 2)
    return mechanism, {"state": random_velocity_state(rng, mechanism)}


def pushed():
    mechanism = vi.mechanisms.four_bar()
    push = {mechanism.bodies[0].name: np.linspace(0.0, 1.0, 3 * 151).reshape(151, 3)}
    return mechanism, {"force": push, "torque": {mechanism.bodies[1].name: (0.0, 0.1, 0.0)}, "longer": False}


HARD = {
    "euler angles": (lambda: (turning()[0], {"chart": "zxz"}), list(INTEGRATORS)),
    "rotation vectors": (turning, list(INTEGRATORS)),
    "prescribed": (driven_crank, EVERYWHERE),
    "tabulated motion": (tabulated_drive, EVERYWHERE),
    "servo": (servo, list(INTEGRATORS)),
    "loads": (pushed, EVERYWHERE),
    "loops": (random_loops, EVERYWHERE),
    "product in a loop": (product_in_a_loop, [n for n, kind in INTEGRATORS.items() if not kind.fixed or kind.contacts]),
    "hard stops": (hard_stops, [name for name in EVERYWHERE if not INTEGRATORS[name].contacts]),
    "contacts": (stops_and_friction, [name for name, kind in INTEGRATORS.items() if kind.contacts]),
}


def hard():
    for number, (what, (_, names)) in enumerate(HARD.items()):
        for k, name in enumerate(names):
            fast = k == number % len(names)
            yield pytest.param(what, name, marks=[] if fast else pytest.mark.slow, id=f"{what}-{name}")


@pytest.mark.long
@pytest.mark.parametrize(("what", "integrator"), [*hard()])
@pytest.mark.slow
def test_all_that_a_run_remembers(what, integrator, tmp_path):
    mechanism, options = HARD[what][0]()
    options = {"duration": 0.6, "dt": 0.004} | options
    duration = options.pop("duration")
    run = check(mechanism, duration, tmp_path / "run.h5", integrator=integrator, **options)
    if what == "euler angles":
        assert len(set(run.charts["free"])) > 1
    if what == "contacts":
        assert np.abs(run.stopping).max() > 0
        assert run.friction["friction"].any()
        assert run.contact_force["floor"].any()


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_blocks_do_not_change_a_bit(integrator, monkeypatch):
    mechanism, options = turning()
    options |= {"dt": 0.004, "every": 2, "integrator": integrator, "chart": "xyz"}
    whole = vi.redmax.simulate(mechanism, 0.5, **options)
    monkeypatch.setattr(running, "LARGEST_BLOCK", 0)  # one step a block
    seen = []
    other = vi.redmax.simulate(mechanism, 0.5, progress=lambda *now: seen.append(now), **options)
    assert not differing(whole, other)
    assert len(seen) >= whole.steps // 2
    assert seen[-1] == (125, 125)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_a_trajectory_prints_as_one_line():
    mechanism = vi.mechanisms.double_pendulum()
    runs = vi.simulate(mechanism, 0.1, 0.01), vi.redmax.simulate(mechanism, 0.1, dt=0.01, integrator="bdf2")
    for run, name in zip(runs, ("Trajectory", "ReducedTrajectory"), strict=True):
        assert repr(run) == f"{name} of '{mechanism.name}': 11 nodes, t = 0 to 0.1 s; {run.message}"


def test_negative_rate_of_stabilisation():
    with pytest.raises(vi.ArgumentError, match="baumgarte must be zero or positive, got -1"):
        vi.redmax.simulate(vi.mechanisms.four_bar(), 0.1, baumgarte=-1)


def test_progress_in_seconds_where_there_is_no_step():
    seen = []
    vi.redmax.simulate(vi.mechanisms.governor(), 0.2, progress=lambda *now: seen.append(now))
    assert seen[-1] == (0.2, 0.2)


ENDLESS = """
import sys, varint as vi
vi.redmax.simulate(vi.mechanisms.{name}(), {duration}, dt=0.01, every=2, integrator="{integrator}", output=sys.argv[1])
"""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "integrator"), [("double_pendulum", "dop853"), ("four_bar", "bdf2")])
def test_killed_run_is_readable_and_goes_on_to_the_same_bits(name, integrator, tmp_path):
    path = tmp_path / "run.h5"
    code = ENDLESS.format(name=name, duration=1e5, integrator=integrator)
    process = subprocess.Popen([sys.executable, "-c", code, str(path)])
    try:
        deadline, seen = time.monotonic() + 300, []
        while len(seen) < 3:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
            try:
                nodes = len(vi.load(path).t)
            except vi.FileError:  # not begun
                continue
            if nodes not in seen:
                seen.append(nodes)
    finally:
        process.kill()
    assert process.wait() == -signal.SIGKILL
    assert seen == sorted(seen)
    left = vi.load(path)
    assert left.status == -1
    duration = left.t[-1] + 0.5
    options = {"dt": 0.01, "every": 2, "integrator": integrator}
    mechanism = getattr(vi.mechanisms, name)()
    resumed = vi.redmax.simulate(mechanism, duration, output=path, resume=True, **options)
    assert not differing(resumed, vi.redmax.simulate(mechanism, duration, **options))
    assert not differing(resumed, vi.load(path))
    assert sorted(tmp_path.iterdir()) == [path]


def test_file_gives_the_same_answers(tmp_path):
    mechanism, options = servo()
    run = vi.redmax.simulate(mechanism, 0.2, dt=0.01, output=tmp_path / "run.h5", **options)
    read = vi.load(tmp_path / "run.h5")
    assert isinstance(read, vi.redmax.ReducedTrajectory)
    for name in ("energy", "energy_balance", "drift"):
        assert np.array_equal(getattr(read, name), getattr(run, name))
    for name in run.force:
        assert np.array_equal(read.force[name], run.force[name])
    for name in run.coordinates:
        assert np.array_equal(read.coordinates[name], run.coordinates[name])
        assert np.array_equal(read.rates[name], run.rates[name])


@pytest.mark.slow
def test_resume_refuses_another_run(tmp_path):
    path, mechanism = tmp_path / "run.h5", vi.mechanisms.four_bar()
    options = {"dt": 0.01, "integrator": "rk45"}
    vi.redmax.simulate(mechanism, 0.1, output=path, **options)
    before = path.read_bytes()
    for other in (
        {"dt": 0.02},
        {"dt": None},
        {"integrator": "dop853"},
        {"rtol": 1e-7},
        {"atol": 1e-7},
        {"baumgarte": 4.0},
        {"every": 2},
        {"force": {mechanism.bodies[0].name: (1.0, 0.0, 0.0)}},
        {"chart": "xyz"},
    ):
        with pytest.raises(vi.FileError, match="holds another run"):
            vi.redmax.simulate(mechanism, 0.1, output=path, resume=True, **(options | other))
    with pytest.raises(vi.FileError, match="holds another run"):
        vi.redmax.simulate(vi.mechanisms.slider_crank(), 0.1, output=path, resume=True, **options)
    with pytest.raises(vi.FileError, match="holds another run"):
        vi.simulate(mechanism, 0.1, 0.01, output=path, resume=True)
    with pytest.raises(vi.ArgumentError, match=r"past 0\.05 s already, at 0\.1 s"):
        vi.redmax.simulate(mechanism, 0.05, output=path, resume=True, **options)
    with pytest.raises(vi.ArgumentError, match="resume needs output="):
        vi.redmax.simulate(mechanism, 0.1, resume=True, **options)
    assert path.read_bytes() == before


@pytest.mark.slow
def test_resume_refuses_another_prescribed_motion(tmp_path):
    path = tmp_path / "run.h5"
    mechanism, options = driven_crank()
    (name, motion), *_ = options["prescribed"].items()
    with pytest.warns(vi.UnresolvedWarning, match="are open"):  # the rates at the start are not those of the motion
        vi.redmax.simulate(mechanism, 0.1, dt=0.01, output=path, **options)

    def other(t):
        q, rate, second = motion(t)
        return q + t * t, rate + 2 * t, second + 2

    with pytest.raises(vi.FileError, match="motion prescribed"):
        vi.redmax.simulate(mechanism, 0.2, dt=0.01, output=path, resume=True, prescribed={name: other})


@pytest.mark.slow
def test_failed_run_is_in_its_file_and_cannot_go_on(tmp_path, monkeypatch):
    mechanism = vi.mechanisms.double_pendulum()
    options = {"dt": 0.01, "integrator": "bdf1", "output": tmp_path / "run.h5"}

    def spoil(done, total):
        monkeypatch.setattr("varint.methods.reduced.implicit.ITERATIONS", 1)

    with pytest.raises(vi.ConvergenceError) as caught:
        vi.redmax.simulate(mechanism, 2.0, progress=spoil, **options)
    read = vi.load(tmp_path / "run.h5")
    assert read.status == 1
    assert 1 < len(read.t) == read.steps + 1 < 201
    assert read.message == str(caught.value)
    assert not differing(read, caught.value.trajectory)
    with pytest.raises(vi.FileError, match="cannot go on"):
        vi.redmax.simulate(mechanism, 2.0, resume=True, **options)


@pytest.mark.slow
def test_functions_of_the_state_command_forces_as_they_do_in_maximal_coordinates():
    """A damper, once as a force and once as a function of the state."""
    body = vi.Body.box("b", (0.1, 0.1, 1.0), 1.0, position=(0, 0, -0.5))
    hinge = vi.Revolute("hinge", "world", "b", point=(0, 0, 0), axis=(0, 1, 0))
    damper = vi.JointDamper("d", joint="hinge", damping=0.2)
    motor = vi.Motor("d", joint="hinge", effort=lambda t, state: -0.2 * state.angular_velocity[0, 1])
    plain, commanded = (vi.Mechanism("m", [body], [hinge], forces=[force]) for force in (damper, motor))
    start = plain.state(coordinates={"hinge": 1.0})
    exact = vi.redmax.simulate(plain, 1.0, dt=0.01, state=start)
    run = vi.redmax.simulate(commanded, 1.0, dt=0.01, state=start)
    assert np.abs(run.position - exact.position).max() < 1e-7
    assert np.abs(run.command - run.force["d"][:, None]).max() == 0.0
    held = vi.simulate(commanded, 1.0, 0.001, every=10, state=start)
    assert np.abs(held.position - exact.position).max() < 1e-3


# the command


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("integrator", EVERYWHERE)
@pytest.mark.slow
@pytest.mark.many
def test_command_runs_describes_and_draws(integrator, folder, capsys):
    argv = ["run", "four_bar", "--integrator", integrator, "--duration", "0.1", "-o", "run.h5"]
    argv += [] if INTEGRATORS[integrator].fixed else ["--rtol", "1e-6"]
    assert main(argv) == 0
    exact = vi.redmax.simulate(vi.mechanisms.four_bar(), 0.1, dt=0.01, integrator=integrator, rtol=1e-6)
    assert not differing(vi.load("run.h5"), exact)
    out = capsys.readouterr().out
    assert f"{integrator}, reduced coordinates" in out
    assert main(["info", "run.h5"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    for words in (integrator, "recorded nodes 11, every 1", "0.1 s, 10 steps", "the run reached its end"):
        assert words in out
    assert main(["plot", "run.h5", "-o", "p.png"]) == 0
    assert Path("p.png").read_bytes() == Path("run.png").read_bytes()
    assert main([*argv, "--resume"]) == 0
    assert not differing(vi.load("run.h5"), exact)
    assert not list(folder.glob("*.resume"))


@pytest.mark.slow
def test_run_that_knows_no_step_is_described_and_drawn(folder, capsys):
    vi.redmax.simulate(vi.mechanisms.four_bar(), 0.1, output="run.h5")
    assert main(["info", "run.h5"]) == 0
    assert main(["plot", "run.h5"]) == 0
    assert "asked for" in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.slow
def test_random_trees_with_every_integrator(tmp_path):
    rng = np.random.default_rng(8)
    mechanism = random_tree(rng, 4, floating=True)
    state = random_velocity_state(rng, mechanism)
    for integrator in INTEGRATORS:
        check(mechanism, 0.1, tmp_path / f"{integrator}.h5", dt=0.005, integrator=integrator, state=state)
