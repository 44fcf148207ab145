"""Other simulators on the same mechanisms: their orders on trees, what they do on loops, what they refuse.

Each is skipped where it is not installed; the extras mjcf and test-peers install them.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import varint as vi
from varint.cli import main
from varint.extras.peers import base, simulator_class, simulators
from varint.extras.peers.base import Simulator
from varint.model.rotation_vectors import matrix_from_vector, rotation_matrix

ROBOTS = Path(__file__).parent.parent / "examples" / "robots"
ORDER = {"euler": 1, "rk4": 4, "implicitfast": 1, "implicit": 1, "discrete": 1, "rk3": 3, "rk2": 2, "alpha": 2}
ORDER["trapezoidal"] = 2
KINDS = [f"{name}:{integrator}" for name in simulators() for integrator in simulator_class(name).integrators]
LOOPED = ["mujoco", "mujoco:rk4", "pinocchio", "pinocchio:rk4", "drake", "exudyn:trapezoidal"]
SMALL = np.diag([0.02, 0.03, 0.04])
TOML = """
name = "my scales"
gravity = [0.0, 0.0, -9.81]

[bodies.beam]
mass = 2.0
inertia = [[0.01, 0.0, 0.0], [0.0, 0.05, 0.0], [0.0, 0.0, 0.05]]
position = [0.1, 0.0, 0.0]

[bodies.pan]
mass = 0.5
inertia = [[0.002, 0.0, 0.0], [0.0, 0.002, 0.0], [0.0, 0.0, 0.003]]
position = [0.4, 0.0, -0.3]

[joints.knife]
type = "Revolute"
body_a = "world"
body_b = "beam"
axis = [0.0, 1.0, 0.0]
point = [0.0, 0.0, 0.0]

[joints.hook]
type = "Revolute"
body_a = "beam"
body_b = "pan"
axis = [0.0, 1.0, 0.0]
point = [0.4, 0.0, 0.0]

[forces.coil]
type = "TorsionSpring"
joint = "knife"
stiffness = 12.0
rest_angle = -0.2
damping = 0.05
"""


@pytest.fixture(params=KINDS)
def peer(request):
    """The name of a simulator that is installed, and of one of its integrators."""
    return _installed(request.param)


@pytest.fixture(params=LOOPED)
def looped(request):
    return _installed(request.param)


def _installed(text):
    kind = simulator_class(text.partition(":")[0])
    if not kind.is_installed():
        pytest.skip(f"needs {kind.package}, of the extra {kind.name}")
    if kind.name != "mujoco":
        __import__(kind.package)  # here, where warnings that it gives when imported are nobody's error
    return text


def user_file(folder):
    path = folder / "scales.toml"
    path.write_text(TOML)
    return vi.load_mechanism(path)


def arm():
    """The arm, whose stops are not reached within 0.4 s."""
    return vi.load_mechanism(ROBOTS / "arm.urdf")


def of_all_parts(forces=()):
    """A slide, a hinge whose child is body a, and a ball."""
    return vi.Mechanism(
        "all parts",
        bodies=[
            vi.Body("slider", mass=1.0, inertia=SMALL, position=[0.3, 0.0, 0.0]),
            vi.Body(
                "arm", mass=0.7, inertia=SMALL, position=[0.3, 0, -0.5], quat_wxyz=[np.cos(0.3), np.sin(0.3), 0, 0]
            ),
            vi.Body("bob", mass=0.5, inertia=SMALL, position=[0.4, 0.2, -1.2]),
        ],
        joints=[
            vi.Prismatic("rail", body_a="world", body_b="slider", point=[0, 0, 0], axis=[1, 0, 0.2]),
            vi.Revolute("hinge", body_a="arm", body_b="slider", point=[0.3, 0, 0], axis=[0, 1, 0]),
            vi.Spherical("ball", body_a="bob", body_b="arm", point=[0.3, 0, -1.0]),
        ],
        forces=forces,
    )


def errors(mechanism, peer, duration, dt, state=None):
    """Largest differences at the end, m or rad/s, for each step."""
    state = mechanism.state() if state is None else state
    exact = vi.simulate(vi.Problem(mechanism, duration, state), vi.Variational(dt=dt[-1], order=6, tol=1e-12))
    found = []
    for step in dt:
        run = vi.simulate(vi.Problem(mechanism, duration, state), vi.Peer(peer, dt=step))
        apart = [getattr(run, name)[-1] - getattr(exact, name)[-1] for name in ("position", "angular_velocity")]
        found.append(max(np.abs(each).max() for each in apart))
    return np.array(found)


def slope(errors, dt):
    return np.polyfit(np.log(dt), np.log(errors), 1)[0]


# trees


@pytest.mark.slow
@pytest.mark.parametrize("case", ["double_pendulum", "n_pendulum", "arm", "file"])
def test_trajectories_converge_on_trees_at_the_order_of_the_simulator(peer, case, tmp_path):
    made = {"arm": arm, "file": lambda: user_file(tmp_path)}
    mechanism = made.get(case) or getattr(vi.mechanisms, case)
    dt = np.array([0.004, 0.002, 0.001])
    found = slope(errors(mechanism(), peer, 0.2, dt), dt)
    wanted = ORDER[peer.partition(":")[2]]
    assert found == pytest.approx(wanted, abs=0.2) if wanted < 4 else found > 3.5


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize(
    "forces",
    [
        [],
        [vi.TorsionSpring("coil", joint="hinge", stiffness=3.0, rest_angle=0.4, damping=0.1)],
        [vi.TorsionSpring("buffer", joint="rail", stiffness=30.0, rest_angle=0.1, damping=1.0)],
        [vi.Motor("push", joint="rail", effort=2.0), vi.Motor("turn", joint="hinge", effort=-1.0)],
        [vi.JointServo("hold", joint="hinge", target=0.3, stiffness=5.0, damping=0.2)],
        [vi.JointDamper("brake", joint="hinge", damping=0.3)],
    ],
    ids=["none", "coil", "buffer", "motors", "servo", "damper"],
)
def test_slides_reversed_hinges_balls_and_their_forces(peer, forces):
    """Runge-Kutta steps are of order 2 with a ball, whose rates they add up as vectors."""
    mechanism = of_all_parts(forces)
    coordinates, rates = {"rail": 0.1, "hinge": 0.5, "ball": [0.1, 0.2, 0.3]}, {"rail": 0.3, "ball": [1.0, 2.0, -1.0]}
    state, dt = mechanism.state(coordinates=coordinates, rates=rates), np.array([0.004, 0.002, 0.001])
    found = slope(errors(mechanism, peer, 0.2, dt, state), dt)
    assert found > min(2, ORDER[peer.partition(":")[2]]) - 0.2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mujoco", "drake", "exudyn"])
def test_springs_between_points(name):
    ends = {"body_a": "world", "point_a": [0, 0, 0], "body_b": "bob", "point_b": [0.4, 0.2, -1.2]}
    mechanism = of_all_parts([vi.Spring("spring", **ends, stiffness=20.0, rest_length=0.5, damping=0.3)])
    dt = np.array([0.004, 0.002, 0.001])
    assert slope(errors(mechanism, _installed(name), 0.2, dt), dt) > 0.8


def test_a_body_that_floats(peer):
    body = vi.Body("stone", mass=1.0, inertia=SMALL, position=[1.0, 2.0, 3.0])
    mechanism = vi.Mechanism("stone", [body], [vi.Free("flight", body_a="world", body_b="stone")])
    turned = {"stone": [np.cos(0.4), 0.0, np.sin(0.4), 0.0]}
    moving = {"velocity": {"stone": [1.0, -2.0, 0.5]}, "angular_velocity": {"stone": [3.0, 1.0, -2.0]}}
    state = mechanism.state(quat_wxyz=turned, **moving)
    assert (errors(mechanism, peer, 0.1, [0.001], state) < 0.02).all()


# loops


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "stewart_platform"])
def test_differences_fall_with_the_step_on_loops(looped, name):
    mechanism = getattr(vi.mechanisms, name)()
    if "exudyn" in looped and name == "stewart_platform":
        with pytest.raises(vi.PeerError, match="joint 'foot 1', a Universal"):
            vi.simulate(vi.Problem(mechanism, 0.1), vi.Peer(looped, dt=0.01))
        return
    found = errors(mechanism, looped, 0.1, [0.002, 0.001, 0.0005])
    assert found[1] < 0.7 * found[0]
    assert found[2] < 0.7 * found[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", simulators())
def test_every_mechanism_of_the_catalogue_runs_or_is_refused_in_words(name):
    """Runs of ten steps; some loops stop in Exudyn, where constraints are redundant."""
    _installed(name)
    ran, words = 0, []
    for each in vi.mechanisms.ALL:
        mechanism, dt = getattr(vi.mechanisms, each)(), vi.mechanisms.module(each).EXPECTED["dt"] / 10
        try:
            run = vi.simulate(vi.Problem(mechanism, 10 * dt), vi.Peer(name, dt=dt))
            assert np.isfinite(run.position).all()
            ran += 1
        except (vi.PeerError, vi.ConvergenceError) as problem:
            words.append(str(problem))
    assert ran > 30
    assert [each for each in words if "no counterpart of" not in each and f"not solved by {name}" not in each] == []


def test_loops_of_mujoco_open_less_with_a_smaller_step():
    _installed("mujoco")
    mechanism = vi.mechanisms.four_bar()
    drifts = [vi.simulate(vi.Problem(mechanism, 0.3), vi.Peer("mujoco", dt=dt)).drift.max() for dt in (0.004, 0.002)]
    assert 1e-6 < drifts[1] < 0.4 * drifts[0]


# what is refused, and how it is said


def test_what_has_no_counterpart_is_refused_by_name(peer):
    joint = vi.Helical("thread", body_a="world", body_b="nut", point=[0, 0, 0], axis=[0, 0, 1], lead=0.1)
    body = vi.Body("nut", mass=1.0, inertia=SMALL, position=[0, 0, 0])
    mechanism = vi.Mechanism("screw", [body], [joint])
    with pytest.raises(vi.PeerError, match=f"{peer.partition(':')[0]} has no counterpart of joint 'thread', a Helical"):
        vi.simulate(vi.Problem(mechanism, 0.1), vi.Peer(peer, dt=0.01))
    pushed = of_all_parts([vi.Motor("push", joint="rail", effort=lambda t: t)])
    with pytest.raises(vi.PeerError, match="force 'push', a Motor whose input is no number"):
        vi.simulate(vi.Problem(pushed, 0.1), vi.Peer(peer, dt=0.01))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pinocchio", "drake", "exudyn"])
def test_runs_end_at_a_stop_that_a_simulator_does_not_have(name):
    with pytest.raises(
        vi.ConvergenceError, match=f"reached 'limits of shoulder', a stop that {name} does not"
    ) as caught:
        vi.simulate(vi.Problem(arm(), 1.0), vi.Peer(_installed(name), dt=0.001))
    (stop,) = (force for force in arm().forces if force.name == "limits of shoulder")
    run = caught.value.trajectory
    assert stop.upper - 0.05 < run.coordinates["shoulder"][-1] <= stop.upper + 1e-9


def test_a_simulator_that_is_not_installed_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr(simulator_class("exudyn"), "package", "not_installed_here")
    with pytest.raises(vi.PeerError, match=r'exudyn is not installed: pip install "varint-dynamics\[exudyn\]"'):
        vi.simulate(vi.Problem(vi.mechanisms.double_pendulum(), 0.1), vi.Peer("exudyn", dt=0.01))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mujocco",), "there is no simulator 'mujocco', did you mean 'mujoco'"),
        (("mujoco:rk5",), "integrator of mujoco must be one of euler, rk4"),
        (("mujoco:rk4", "euler"), "give one of them"),
        ((), "there is no simulator ''"),
        ((3,), "simulator"),
    ],
)
def test_wrong_names(arguments, message):
    with pytest.raises(vi.ArgumentError, match=message):
        vi.Peer(*arguments)


def test_a_run_whose_numbers_are_not_finite_stops_there():
    _installed("mujoco")
    mechanism = of_all_parts([vi.TorsionSpring("coil", joint="hinge", stiffness=1e9)])
    state = mechanism.state(coordinates={"hinge": 1.0})
    with pytest.raises(vi.ConvergenceError, match="not finite") as caught:
        vi.simulate(vi.Problem(mechanism, 1.0, state), vi.Peer("mujoco:rk4", dt=0.01))
    assert np.isfinite(caught.value.trajectory.position).all()
    assert not caught.value.trajectory.success


def test_the_page_lists_all_simulators_and_their_integrators():
    page = (Path(__file__).parent.parent / "docs" / "compare.md").read_text()
    rows = {line.split("`")[1]: line for line in page.splitlines() if line.startswith("| `")}
    for name in base.HERE:
        assert all(f"`{integrator}`" in rows[name] for integrator in simulator_class(name).integrators)


# through every entrance


class Coasting(Simulator):
    """Bodies stay where they start and go on turning."""

    name, package, distribution, loops = "coasting", "numpy", "numpy", "any"
    integrators = {"even": "turns at the rate of the start"}

    def build(self):
        self.refuse_forces(lambda force: None)

    def start(self, state):
        self.state, self.done = state, 0

    def advance(self, steps):
        self.done += steps
        return self.dt * np.arange(self.done - steps + 1, self.done + 1)

    def motion(self, states):
        spin = self.state.angular_velocity
        turned = rotation_matrix(self.state.quat_wxyz) @ matrix_from_vector(states[:, None, None] * spin)
        still = self.state.position, np.zeros_like(spin), spin
        position, velocity, angular = (np.repeat(each[None], len(states), axis=0) for each in still)
        return base.BodyMotion(position, turned, velocity, angular)


@pytest.fixture
def coasting(monkeypatch):
    monkeypatch.setitem(base.REGISTERED, "coasting", Coasting)


def test_stops_count_turns(coasting):
    """Beyond half a turn, from block to block, and for both stops of a joint."""
    wheel = vi.Body("wheel", mass=1.0, inertia=SMALL, position=[0, 0, 0])
    hinge = vi.Revolute("hinge", body_a="world", body_b="wheel", point=[0, 0, 0], axis=[0, 0, 1])
    stops = [vi.JointStop("far", joint="hinge", upper=9.5), vi.JointStop("near", joint="hinge", upper=8.0)]
    mechanism = vi.Mechanism("wheel", [wheel], [hinge], forces=stops)
    state = mechanism.state(rates={"hinge": 1.0})
    with pytest.raises(vi.ConvergenceError, match="reached 'near', a stop that coasting does not have") as caught:
        vi.simulate(vi.Problem(mechanism, 20.0, state), vi.Peer("coasting", dt=0.1))
    assert caught.value.time == pytest.approx(8.0)
    assert caught.value.trajectory.coordinates["hinge"][-1] == pytest.approx(8.0)


def test_a_simulator_from_outside_the_package(coasting):
    mechanism = vi.mechanisms.double_pendulum()
    run = vi.simulate(vi.Problem(mechanism, 0.2), vi.Peer("coasting", dt=0.01), vi.Recording(every=4))
    assert len(run.t) == 6
    assert (run.position == run.position[0]).all()
    assert run.settings["integrator"] == "coasting even"


@pytest.fixture(scope="module")
def comparison():
    _installed("mujoco")
    mechanism = vi.mechanisms.double_pendulum()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulator_class("exudyn"), "package", "not_installed_here")
        return vi.compare(mechanism, 0.1, (0.01, 0.005), peers=["mujoco", vi.Peer("mujoco", "rk4"), "exudyn"])


@pytest.mark.slow
def test_they_stand_in_a_comparison(comparison):
    assert [series.name for series in comparison.series] == [
        "VI order 2", "REDMAX dop853", "mujoco euler", "mujoco rk4",
    ]  # fmt: skip
    euler, rk4 = comparison.peers
    assert euler.order.position == pytest.approx(1.0, abs=0.2)
    assert rk4.order.position > 3.5
    assert comparison.own == ()
    assert comparison.unstabilised is None
    page = str(comparison)
    assert "## Other simulators" in page
    assert 'exudyn is not installed: pip install "varint-dynamics[exudyn]"' in page
    assert "Other simulators" in comparison._repr_html_()


@pytest.mark.slow
def test_they_stand_in_the_files(comparison, tmp_path):
    comparison.save(tmp_path / "c.json")
    peers = json.loads((tmp_path / "c.json").read_text())["peers"]
    assert [line["title"] for line in peers] == ["mujoco euler", "mujoco rk4", "exudyn alpha"]
    assert [bool(line["refusal"]) for line in peers] == [False, False, True]
    comparison.save(tmp_path / "c.png")


@pytest.mark.slow
def test_loops_have_a_series_of_their_own_beside_peers():
    _installed("mujoco")
    result = vi.compare(vi.mechanisms.four_bar(), 0.05, (0.01, 0.005), peers="mujoco")
    assert [series.name for series in result.peers] == ["mujoco euler"]
    assert result.unstabilised.name == "REDMAX dop853 b=0"


def test_wrong_peers_of_a_comparison(coasting):
    mechanism = vi.mechanisms.double_pendulum()
    with pytest.raises(vi.ArgumentError, match="'coasting even' is named twice"):
        vi.compare(mechanism, 0.1, peers=["coasting", "coasting:even"])
    with pytest.raises(vi.ArgumentError, match="there is no simulator 'nobody'"):
        vi.compare(mechanism, 0.1, peers=["nobody"])
    with pytest.raises(vi.ArgumentError, match="peers must be"):
        vi.compare(mechanism, 0.1, peers=[3])


@pytest.mark.slow
def test_the_command(capsys, tmp_path):
    _installed("mujoco")
    steps = ["--duration", "0.1", "--dt", "0.01,0.005"]
    assert main(["compare", "double_pendulum", *steps, "--peer", "mujoco", "--peer", "mujoco:rk4"]) == 0
    assert "mujoco rk4" in capsys.readouterr().out
    run = tmp_path / "run.h5"
    assert main(["run", "double_pendulum", "--peer", "mujoco:rk4", "--duration", "0.1", "-o", str(run)]) == 0
    assert vi.load(run).settings["integrator"] == "mujoco rk4"
    with pytest.raises(SystemExit):
        main(["run", "double_pendulum", "--peer", "mujoco", "--integrator", "dop853"])
    assert "not allowed with argument --peer" in capsys.readouterr().err


@pytest.mark.slow
def test_ensembles():
    _installed("mujoco")
    result = vi.ensemble(
        "double_pendulum", {"angle": [0.1, 0.2]}, 0.1, 0.01, formulation="peer", simulator="mujoco:rk4", workers=1
    )
    assert not result.failures
    assert len(result) == 2
