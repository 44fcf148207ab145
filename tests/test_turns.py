"""A state carries the turns of its angles, and internal variables of laws; restarts from it go on as the run."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm

import varint as vi

DISC = vi.Body.cylinder("disc", 0.1, 0.02, 1.0)  # 0.005 kg m^2
HINGE = vi.Revolute("h", "world", "disc", point=(0, 0, 0), axis=(0, 0, 1))
SPRING = vi.TorsionSpring("k", joint="h", stiffness=0.02)
WIDE = vi.JointStop("s", joint="h", lower=0.0, upper=9.0)
RUNS = {
    "order 2": lambda m, T, s: vi.simulate(m, T, 1e-3, state=s),
    "order 4": lambda m, T, s: vi.simulate(m, T, 1e-3, order=4, state=s),
    "dop853": lambda m, T, s: vi.redmax.simulate(m, T, 1e-2, state=s),
    "rk4": lambda m, T, s: vi.redmax.simulate(m, T, 1e-3, state=s, integrator="rk4"),
    "sdirk2": lambda m, T, s: vi.redmax.simulate(m, T, 1e-3, state=s, integrator="sdirk2"),
}
ONE_STEP = ("order 2", "order 4", "rk4", "sdirk2")
every_run = pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)


def disc(*forces, joint=HINGE):
    return vi.Mechanism("m", [DISC], [joint], gravity=(0, 0, 0), forces=forces)


def from_poses(state):
    """The state without what poses do not say."""
    return replace(state, turns={}, memory={})


@pytest.mark.slow
@every_run
def test_spring_is_wound_up_by_the_angle_asked_for(run):
    m = disc(SPRING)
    t = run(m, 1.0, m.state(coordinates={"h": 4.0}))
    assert t.coordinates["h"][0] == pytest.approx(4.0, abs=1e-12)
    assert t.energy[0] == pytest.approx(0.16, rel=1e-12)
    assert t.coordinates["h"][-1] == pytest.approx(4.0 * np.cos(2.0), abs=1e-4)


@every_run
def test_servo_does_not_unwind(run):
    m = disc(vi.JointServo("s", joint="h", target=23.2, stiffness=1.0, damping=0.1))
    q = run(m, 0.5, m.state(coordinates={"h": 23.0})).coordinates["h"]
    assert np.ptp(q) < 0.4
    assert q[0] == pytest.approx(23.0, abs=1e-12)


@pytest.mark.parametrize("name", ["order 2", "order 4", "dop853"])
@pytest.mark.parametrize("start", [3.0, 3.2, 4.5])
def test_stop_beyond_half_a_turn_holds(name, start):
    m = disc(vi.JointStop("s", joint="h", lower=0.0, upper=1.5 * np.pi), vi.Motor("t", joint="h", effort=0.01))
    t = RUNS[name](m, 2.0, m.state(coordinates={"h": start}))
    assert t.coordinates["h"][0] == pytest.approx(start, abs=1e-12)
    assert t.coordinates["h"][-1] == pytest.approx(1.5 * np.pi, abs=1e-7)
    assert t.force["s"][-1] == pytest.approx(-0.01, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["order 2", "order 4", "dop853"])
def test_a_differential_and_its_spring_count_turns(name):
    wheels = [vi.Body.cylinder(f"d{k}", 0.1, 0.02, 1.0, position=(0.3 * k, 0, 0)) for k in range(3)]
    hinges = [vi.Revolute(f"h{k}", "world", f"d{k}", point=(0.3 * k, 0, 0), axis=(0, 0, 1)) for k in range(3)]
    forces = [
        vi.Coupling("c", terms=[("h0", 0, 1.0), ("h1", 0, 1.0), ("h2", 0, -2.0)]),
        vi.TorsionSpring("k", joint="h2", stiffness=0.02),
    ]
    m = vi.Mechanism("m", wheels, hinges, gravity=(0, 0, 0), forces=forces)
    t = RUNS[name](m, 0.5, m.state(coordinates={"h0": 10.0, "h1": 6.0}))
    assert [t.coordinates[f"h{k}"][0] for k in range(3)] == pytest.approx([10.0, 6.0, 8.0], abs=1e-12)
    assert t.coordinates["h2"][-1] == pytest.approx(8.0 * np.cos(0.5 * np.sqrt(0.02 / 0.015)), abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["order 4", "dop853", "rk4"])
def test_a_table_is_read_at_angles_of_many_turns(name):
    angles = np.linspace(-20.0, 20.0, 41)
    m = disc(vi.TabulatedTorsionSpring("k", joint="h", values=angles, efforts=-0.02 * angles))
    q = RUNS[name](m, 1.0, m.state(coordinates={"h": 15.0})).coordinates["h"]
    assert q[-1] == pytest.approx(15.0 * np.cos(2.0), abs=1e-4)


@pytest.mark.parametrize("name", ["order 2", "dop853"])
def test_screw_stops_after_turns(name):
    nut = vi.Body.cylinder("n", 0.02, 0.01, 0.1)
    screw = vi.Helical("h", "world", "n", point=(0, 0, 0), axis=(0, 0, 1), lead=0.002)
    stop = vi.JointStop("s", joint="h", lower=0.0, upper=24 * np.pi)
    m = vi.Mechanism("m", [nut], [screw], gravity=(0, 0, 0), forces=[stop])
    q = RUNS[name](m, 1.0, m.state(coordinates={"h": 20 * np.pi}, rates={"h": 20.0})).coordinates["h"]
    assert q[0] == pytest.approx(20 * np.pi, abs=1e-9)
    assert q[-1] == pytest.approx(24 * np.pi, abs=1e-6)


def test_composite_joint_counts_its_turns():
    parts = [{"type": "Revolute", "axis": (0, 0, 1)}, {"type": "Prismatic", "axis": (1, 0, 0)}]
    joint = vi.Composite("c", "world", "disc", point=(0, 0, 0), parts=parts)
    m = disc(vi.TorsionSpring("k", joint="c", coordinate=0, stiffness=1.0), joint=joint)
    t = vi.simulate(m, 0.01, 1e-3, state=m.state(coordinates={"c": (4.0, 0.1)}))
    assert t.energy[0] == pytest.approx(8.0, rel=1e-12)
    np.testing.assert_allclose(t.coordinates["c"][0], (4.0, 0.1), atol=1e-12)


def test_coupled_joint_follows_its_turns():
    other = replace(DISC, name="other", position=(0.3, 0, 0))
    far = vi.Revolute("g", "world", "other", point=(0.3, 0, 0), axis=(0, 0, 1))
    gear = vi.Coupling("c", terms=[("h", 0, 2.0), ("g", 0, 1.0)])
    spring = vi.TorsionSpring("k", joint="g", stiffness=0.02)
    m = vi.Mechanism("m", [DISC, other], [HINGE, far], gravity=(0, 0, 0), forces=[gear, spring])
    for run in (RUNS["order 2"], RUNS["dop853"]):
        t = run(m, 0.05, m.state(coordinates={"h": 4.0}))
        assert t.coordinates["g"][0] == pytest.approx(-8.0, abs=1e-8)
        assert t.energy[0] == pytest.approx(0.01 * 64.0, rel=1e-8)


@every_run
def test_restart_of_a_wound_spring(run):
    m = disc(vi.TorsionSpring("k", joint="h", stiffness=0.02, rest_angle=6 * np.pi))
    t = run(m, 1.0, m.state())
    half = len(t) // 2
    assert t.coordinates["h"][half] > np.pi
    again = run(m, 0.5, t[half])
    assert again.coordinates["h"][0] == pytest.approx(t.coordinates["h"][half], abs=1e-12)
    assert again.rates["h"][-1] == pytest.approx(t.rates["h"][-1], rel=1e-6)


@pytest.mark.parametrize("name", ONE_STEP)
@pytest.mark.parametrize(
    "force",
    [
        vi.FirstOrderActuator("u", joint="h", gain=0.02, time_constant=0.3, command=1.0),
        vi.JointServo("u", joint="h", target=1.0, stiffness=0.05, damping=0.01, integral=0.1),
    ],
    ids=["actuator", "servo"],
)
def test_restart_keeps_internal_variables(name, force):
    m = disc(force)
    t = RUNS[name](m, 0.2, m.state())
    again = RUNS[name](m, 0.1, pickle.loads(pickle.dumps(t[100])))
    np.testing.assert_allclose(again.rates["h"], t.rates["h"][100:], rtol=0, atol=1e-12)
    np.testing.assert_allclose(again.law_state["u"], t.law_state["u"][100:], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(t[100].memory["u"], t.law_state["u"][100])


def test_poses_alone_take_the_turn_within_the_stops():
    m = disc(vi.JointStop("s", joint="h", lower=0.0, upper=1.5 * np.pi), vi.Motor("t", joint="h", effort=0.01))
    state = from_poses(m.state(coordinates={"h": 4.0}))
    assert m.coordinates(state)["h"] == pytest.approx(4.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert vi.simulate(m, 0.01, 1e-3, state=state).coordinates["h"][0] == pytest.approx(4.0)


def test_poses_alone_are_a_guess_between_wide_stops():
    m = disc(WIDE)
    state = from_poses(m.state(coordinates={"h": 7.0}))
    for run in (RUNS["order 2"], RUNS["dop853"]):
        with pytest.warns(vi.TurnsWarning, match=r"'s' leaves joint 'h' more than one turn.*0\.7168"):
            assert run(m, 0.01, state).coordinates["h"][0] == pytest.approx(7.0 - 2 * np.pi)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert run(m, 0.01, m.state(coordinates={"h": 7.0})).coordinates["h"][0] == pytest.approx(7.0)
            run(m, 0.01, m.state())


def test_wrong_turns_and_memory_are_named():
    m = disc(SPRING)
    for wrong, match in (
        ({"turns": {"x": 1.0}}, "turns of the state.*'x'"),
        ({"turns": {"h": (1.0, 2.0)}}, "turns of .*'h'"),
        ({"memory": {"k": (1.0,)}}, "memory of .*'k'"),
    ):
        with pytest.raises(vi.StateError, match=match):
            vi.simulate(m, 0.01, 1e-3, state=replace(m.state(), **wrong))


def test_readings_of_a_state_have_its_turns():
    m = disc(SPRING)
    state = m.state(coordinates={"h": 10.0})
    assert m.coordinates(state)["h"] == pytest.approx(10.0)
    assert vi.energy(m, state).total == pytest.approx(1.0)
    assert vi.accelerations(m, state).angular[0, 2] == pytest.approx(-0.02 * 10.0 / 0.005)
    assert m.coordinates(m.assemble(state))["h"] == pytest.approx(10.0)
    assert vi.redmax.reduced_state(m, state).q[0] == pytest.approx(10.0)
    reduced = vi.redmax.maximal_state(m, vi.redmax.reduced_state(m, state))
    assert m.coordinates(reduced)["h"] == pytest.approx(10.0)


def test_stepper_starts_and_resets_with_turns():
    m = disc(SPRING)
    stepper = vi.Stepper(m, 1e-3, state=m.state(coordinates={"h": 10.0}))
    assert stepper.coordinates[0] == pytest.approx(10.0)
    assert stepper.energy.total == pytest.approx(1.0)
    stepper.step(300)
    middle = stepper.state
    stepper.step(100)
    end = stepper.coordinates[0]
    stepper.reset(middle)
    stepper.step(100)
    assert stepper.coordinates[0] == pytest.approx(end, abs=1e-12)


def test_slices_times_and_files_keep_turns(tmp_path):
    m = disc(SPRING)
    t = vi.simulate(m, 0.2, 1e-3, state=m.state(coordinates={"h": 10.0}))
    part = t[100:]
    np.testing.assert_allclose(part.energy, t.energy[100:], rtol=1e-12)
    np.testing.assert_allclose(part.coordinates["h"], t.coordinates["h"][100:], rtol=1e-12)
    assert m.coordinates(t.at(0.0505))["h"] == pytest.approx(10.0 * np.cos(2.0 * 0.0505), abs=1e-4)
    t.save(tmp_path / "run.h5")
    again = vi.load(tmp_path / "run.h5")
    np.testing.assert_array_equal(again.coordinates["h"], t.coordinates["h"])
    np.testing.assert_array_equal(again.energy, t.energy)


def test_gradient_by_the_start_beyond_half_a_turn():
    m = disc(SPRING)
    spin = lambda s: s.angular_velocity[0, 2]  # noqa: E731
    start = m.state(coordinates={"h": 4.0})
    found = vi.gradient(m, spin, 0.5, 1e-3, with_respect_to=["k.stiffness", "k.rest_angle"], state=start)
    assert found.value == pytest.approx(-8.0 * np.sin(1.0), rel=1e-5)
    assert found["k.rest_angle"] == pytest.approx(2.0 * np.sin(1.0), rel=1e-5)
    by_stiffness = -4.0 * (np.sin(1.0) + np.cos(1.0)) / (2.0 * 2.0 * 0.005)
    assert found["k.stiffness"] == pytest.approx(by_stiffness, rel=1e-5)


# ---------------------------------------------------------------------------------------- bushings

MASS, INERTIA, K_LINE, K_TWIST, COUPLED = 0.5, 1.45e-4, 2.8, 7.86e-4, 9.27e-3


def wilberforce():
    stiffness = np.zeros((6, 6))
    stiffness[2, 2], stiffness[5, 5], stiffness[2, 5], stiffness[5, 2] = K_LINE, K_TWIST, COUPLED / 2, COUPLED / 2
    body = vi.Body("b", mass=MASS, inertia=np.diag([1e-4, 1e-4, INERTIA]))
    guide = vi.Cylindrical("c", "world", "b", point=(0, 0, 0), axis=(0, 0, 1))
    coil = vi.Bushing("s", "world", "b", point=(0, 0, 0), stiffness=stiffness)
    return vi.Mechanism("m", [body], [guide], gravity=(0, 0, 0), forces=[coil])


def swing(start, t):
    """Height, twist and their rates of the Wilberforce pendulum, which is linear."""
    A = np.zeros((4, 4))
    A[:2, 2:] = np.eye(2)
    A[2, :2] = -K_LINE / MASS, -COUPLED / 2 / MASS
    A[3, :2] = -COUPLED / 2 / INERTIA, -K_TWIST / INERTIA
    return expm(A * t) @ start


@pytest.mark.slow
@pytest.mark.parametrize("name", ["order 4", "dop853"])
def test_bushing_follows_the_twist_past_half_a_turn_and_more(name):
    m, start = wilberforce(), (0.3, 0.0, 0.0, 0.0)
    t = RUNS[name](m, 5.0, m.state(position={"b": (0, 0, 0.3)}))
    twist = np.array([swing(start, x)[1] for x in t.t[:: max(len(t) // 100, 1)]])
    assert np.abs(twist).max() > 2 * np.pi
    assert t.position[-1, 0, 2] == pytest.approx(swing(start, 5.0)[0], abs=2e-8)
    assert np.ptp(t.energy) < 1e-7 * t.energy[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["order 2", "rk4", pytest.param("sdirk2", marks=pytest.mark.slow)])
def test_restart_of_a_twisted_bushing(name):
    m = wilberforce()
    t = RUNS[name](m, 3.6, m.state(position={"b": (0, 0, 0.35)}))
    node = int(np.argmax(np.abs(t.coordinates["c"][:3500, 1])))
    assert abs(t.coordinates["c"][node, 1]) > 2 * np.pi
    assert t[node].memory["s"][2] == pytest.approx(t.coordinates["c"][node, 1], abs=1e-12)
    again = RUNS[name](m, 0.1, t[node])
    np.testing.assert_allclose(again.position, t.position[node : node + 101], rtol=0, atol=1e-12)
    np.testing.assert_allclose(again.energy[0], t.energy[0], rtol=1e-4)


@pytest.mark.parametrize("simulate", [vi.simulate, vi.redmax.simulate])
@pytest.mark.parametrize(
    ("turns", "words"),
    [
        ([1.0], "must be a dict"),
        ({"hh": 1.0}, "no joint 'hh'"),
        ({"h": "x"}, "turns of revolute joint 'h' in the state must be numbers"),
        ({"h": [1.0, 2.0]}, r"shape \(1,\)"),
        ({"h": np.inf}, "turns of revolute joint 'h' in the state"),
        ({"h": None}, "turns of revolute joint 'h' in the state"),
    ],
)
def test_wrong_turns_are_refused_by_the_name_of_the_joint(simulate, turns, words):
    disc, hinge = (
        vi.Body.cylinder("disc", 0.1, 0.02, 1.0),
        vi.Revolute("h", "world", "disc", point=(0, 0, 0), axis=(0, 0, 1)),
    )
    mechanism = vi.Mechanism("m", [disc], [hinge])
    state = vi.State(np.zeros((1, 3)), np.array([[1.0, 0, 0, 0]]), np.zeros((1, 3)), np.zeros((1, 3)), turns=turns)
    with pytest.raises(vi.StateError, match=words):
        simulate(mechanism, 0.01, 1e-3, state=state)


@pytest.mark.parametrize("simulate", [vi.simulate, vi.redmax.simulate])
def test_states_of_lists_are_states(simulate):
    mechanism = vi.mechanisms.n_pendulum(1)
    state = mechanism.state()
    lists = vi.State(*(array.tolist() for array in list(vars(state).values())[:4]))
    runs = [simulate(mechanism, 0.05, 1e-2, state=each).position for each in (state, lists)]
    assert np.array_equal(*runs)


def turned_stop(angle):
    m = disc(vi.JointStop("s", joint="h", lower=0.0, upper=1.5 * np.pi), vi.Motor("t", joint="h", effort=0.01))
    return m, m.state(coordinates={"h": angle})


def ends(run):
    return {"first": float(run.coordinates["h"][0]), "last": float(run.coordinates["h"][-1])}


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_members_of_ensembles_start_with_turns(formulation):
    given = {"workers": 1, "measure": ends, "formulation": formulation}
    table = vi.ensemble(turned_stop, {"angle": [3.0, 4.0]}, 3.0, 1e-2, **given).table
    np.testing.assert_allclose(table["first"], [3.0, 4.0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(table["last"], 1.5 * np.pi, rtol=0, atol=1e-7)


def test_episodes_start_with_turns():
    pytest.importorskip("gymnasium")
    m, start = turned_stop(4.0)
    made = vi.gym.make(m, reward=lambda stepper: 0.0, actions={"t": (-1.0, 1.0)}, start=lambda random: start, dt=0.01)
    for _ in range(2):
        assert made.reset()[0][0] == pytest.approx(4.0, abs=1e-12)
        for _ in range(300):
            last = made.step(np.array([0.01]))[0]
        assert last[0] == pytest.approx(1.5 * np.pi, abs=1e-7)
