"""Euler angles and rotation vectors that forces follow have the turns of the coordinates that a state was given."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest

import varint as vi

BALL = vi.Spherical("j", "world", "b", point=(0, 0, 0))
TOP = vi.Body("b", mass=1.0, inertia=np.diag([0.005, 0.005, 0.005]))
RUNS = {
    "maximal": lambda m, T, s: vi.simulate(m, T, 1e-3, state=s),
    "order 4": lambda m, T, s: vi.simulate(m, T, 1e-3, order=4, state=s),
    "dop853": lambda m, T, s: vi.redmax.simulate(m, T, 1e-2, state=s),
    "rk4": lambda m, T, s: vi.redmax.simulate(m, T, 1e-3, state=s, integrator="rk4"),
}
every_run = pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)


def top(*forces, joint=BALL):
    return vi.Mechanism("m", [TOP], [joint], gravity=(0, 0, 0), forces=forces)


def spring(angles="xyz", coordinate=2, name="k", stiffness=0.02):
    return vi.TorsionSpring(name, joint="j", coordinate=coordinate, angles=angles, stiffness=stiffness)


def about(axis, angle):
    return {"j": np.eye(3)[axis] * angle}


@every_run
@pytest.mark.parametrize("start", [4.0, -7.5])
def test_spring_along_an_euler_angle_is_wound_up_by_what_was_asked_for(run, start):
    m = top(spring())
    t = run(m, 1.0, m.state(coordinates=about(2, start)))
    assert t.energy[0] == pytest.approx(0.01 * start**2, rel=1e-12)
    assert t.coordinates["j"][-1][2] == pytest.approx(start * np.cos(2.0), rel=1e-4)
    assert vi.energy(m, t[0]).total == pytest.approx(0.01 * start**2, rel=1e-12)
    assert np.ptp(t.energy) < 1e-4 * t.energy[0]


@pytest.mark.parametrize("angles", ["xyz", "XYZ", "zxy", "ZYX", "yzx"])
@pytest.mark.parametrize("coordinate", [0, 2])
def test_outer_angles_of_every_order_have_turns(angles, coordinate):
    """About one axis alone that angle is the rotation; the second angle, within a quarter turn, has no turns."""
    m, axis = top(spring(angles, coordinate)), "xyz".index(angles[coordinate].lower())
    assert vi.energy(m, m.state(coordinates=about(axis, 10.0))).total == pytest.approx(1.0, rel=1e-12)


def test_turns_of_three_angles_are_those_of_the_straight_path():
    """A rotation vector of 5 rad: the angles that a body has which turns about it at 5 rad/s for 1 s."""
    vector = 5.0 * np.array([0.3, 0.2, 0.9]) / np.linalg.norm([0.3, 0.2, 0.9])
    for angles in ("xyz", "XYZ"):
        forces = [spring(angles, k, f"k{k}", 1e-9) for k in range(3)]
        m = top(*forces)
        t = vi.simulate(m, 1.0, 1e-3, order=4, state=m.state(rates={"j": vector}))
        asked = m.state(coordinates={"j": vector})
        for force in forces:
            wound = t.force_potential[force.name][-1]
            assert vi.simulate(m, 1e-3, 1e-3, state=asked).force_potential[force.name][0] == pytest.approx(
                wound, rel=1e-5
            )


@every_run
def test_restart_keeps_the_turns_of_euler_angles(run):
    """A node of a run, pickled; also of angles whose turns the rotation vector does not show."""
    m = top(spring(stiffness=0.05), vi.JointServo("s", joint="j", coordinate=0, angles="xyz", target=1.0,
            stiffness=0.03, damping=1e-4, integral=0.02))  # fmt: skip
    t = run(m, 0.4, m.state(coordinates={"j": (0.5, 0.3, 7.0)}, rates={"j": (3.0, 0.1, 0.5)}))
    half = len(t) // 2
    node = pickle.loads(pickle.dumps(t[half]))
    assert abs(node.memory["k"][-1]) > np.pi
    again = run(m, 0.2, node)
    bound = 1e-6 if len(t) < 200 else 1e-10
    np.testing.assert_allclose(again.angular_velocity[-1], t.angular_velocity[-1], rtol=0, atol=bound)
    np.testing.assert_allclose(again.force["k"][0], t.force["k"][half], rtol=0, atol=1e-12)
    np.testing.assert_allclose(again.force["s"][0], t.force["s"][half], rtol=0, atol=1e-9)


def test_steppers_files_and_parts_keep_the_turns_of_euler_angles(tmp_path):
    m = top(spring())
    start = m.state(coordinates=about(2, 10.0))
    t = vi.simulate(m, 0.2, 1e-3, state=start, output=tmp_path / "run.h5")
    read = vi.load(tmp_path / "run.h5")
    np.testing.assert_array_equal(read.energy, t.energy)
    np.testing.assert_allclose(read[100:].energy, t.energy[100:], rtol=1e-12)
    assert vi.energy(m, read.at(0.1005)).total == pytest.approx(1.0, rel=1e-5)
    stepper = vi.Stepper(m, 1e-3, state=start, every=1)
    assert stepper.energy.total == pytest.approx(1.0)
    stepper.step(200)
    np.testing.assert_allclose(stepper.trajectory(50).energy, t.energy[50:], rtol=1e-9)
    end = stepper.coordinates.copy()
    stepper.reset(read[100])
    stepper.step(100)
    np.testing.assert_allclose(stepper.coordinates[2], end[2], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["maximal", "dop853"])
@pytest.mark.parametrize("start", [3.6, 5.0])
def test_stop_along_an_euler_angle_beyond_half_a_turn_holds(name, start):
    """Of 3.5 to 5.5 rad; poses alone take the turn nearest to its middle."""
    stop = vi.JointStop("s", joint="j", coordinate=2, angles="xyz", lower=3.5, upper=5.5)
    m = top(stop, vi.Motor("t", joint="j", coordinate=2, angles="xyz", effort=0.01))
    state = m.state(coordinates=about(2, start))
    for each in (state, replace(state, turns={}, memory={})):
        t = RUNS[name](m, 2.0, each)
        assert t.coordinates["j"][-1][2] % (2 * np.pi) == pytest.approx(5.5, abs=1e-6)
        assert t.force["s"][-1] == pytest.approx(-0.01, abs=1e-7)
    with pytest.raises(vi.StateError, match="'s' does not allow this start: it is at 3 rad"):
        RUNS[name](m, 0.1, m.state(coordinates=about(2, 3.0)))


def test_wide_stops_along_an_euler_angle_leave_a_guess():
    stop = vi.JointStop("s", joint="j", coordinate=2, angles="xyz", lower=0.0, upper=9.0)
    m = top(stop)
    state = m.state(coordinates=about(2, 7.0))
    for run in (RUNS["maximal"], RUNS["dop853"]):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            node = run(m, 0.02, state)[1]
            run(m, 0.01, node)
        with pytest.warns(vi.TurnsWarning, match="'s' leaves joint 'j' more than one turn"):
            run(m, 0.01, replace(state, turns={}, memory={}))


def test_prescribed_euler_angle_goes_on_with_its_turns():
    m = top(vi.PrescribedMotion("p", joint="j", coordinate=2, angles="xyz", rate=1.0), spring())
    for run in (RUNS["maximal"], RUNS["order 4"]):
        t = run(m, 0.5, m.state(coordinates=about(2, 4.0)))
        assert t.force_potential["k"][0] == pytest.approx(0.16, rel=1e-9)
        assert t.force["k"][-1] == pytest.approx(-0.02 * 4.5, rel=1e-9)


@pytest.mark.parametrize("run", [RUNS["maximal"], RUNS["dop853"]])
@pytest.mark.parametrize("coordinate", [0, 1, 2])
def test_euler_angles_that_are_not_defined_on_the_way_are_refused(run, coordinate):
    """About the axis of the second angle by more than a quarter turn: the error names force, joint and coordinates."""
    m = top(spring("xyz", coordinate))
    for vector in ((0.0, 4.0, 0.0), (0.0, -2.0, 0.0)):
        with pytest.raises(
            vi.StateError, match="'k': the angles 'xyz' of spherical joint 'j' are not defined on the path"
        ):
            run(m, 0.01, m.state(coordinates={"j": vector}))
    run(m, 0.01, m.state(coordinates={"j": (0.0, 1.5, 0.0)}))
    run(m, 0.01, m.state(coordinates={"j": (0.3, 4.0, 0.2)}))


@pytest.mark.parametrize("run", [RUNS["maximal"], RUNS["dop853"]])
def test_rotation_vectors_beyond_half_a_turn_are_refused(run):
    m = top(spring(None))
    with pytest.raises(vi.StateError, match="'k': the state turns spherical joint 'j' by 4 rad, beyond half a turn"):
        run(m, 0.01, m.state(coordinates=about(2, 4.0)))
    assert run(m, 0.01, m.state(coordinates=about(2, 3.1))).energy[0] == pytest.approx(0.01 * 3.1**2)


@pytest.mark.parametrize("simulate", [vi.simulate, vi.redmax.simulate])
def test_other_joints_with_a_ball_have_turns(simulate):
    """A body that floats, and a ball on a hinge, whose rotation vector is followed itself."""
    free = top(spring(coordinate=5), joint=vi.Free("j", "world", "b"))
    state = free.state(coordinates={"j": (0.1, 0, 0, 0, 0, 4.0)})
    assert simulate(free, 0.01, 1e-3, state=state).energy[0] == pytest.approx(0.16, rel=1e-9)
    parts = [{"type": "Revolute", "axis": (0, 0, 1)}, {"type": "Prismatic", "axis": (1, 0, 0)}]
    chain = vi.Composite("j", "world", "b", point=(0, 0, 0), parts=[*parts, {"type": "Revolute", "axis": (0, 1, 0)}])
    for coordinate in (0, 2):
        m = top(spring(None, coordinate), joint=chain)
        q = [0.2, 0.1, 0.3]
        q[coordinate] = 10.0
        assert simulate(m, 0.01, 1e-3, state=m.state(coordinates={"j": q})).energy[0] == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("simulate", [vi.simulate, vi.redmax.simulate])
def test_bushings_have_the_turns_of_the_joints_between_their_bodies(simulate):
    """A twist of 4 rad on one hinge, of 2.5 + 2.5 rad on two, and of a reduced state."""
    other = vi.Body("o", mass=1.0, inertia=np.diag([0.005] * 3))
    first = vi.Revolute("g", "world", "o", point=(0, 0, 0), axis=(0, 0, 1))
    second = vi.Revolute("h", "o", "b", point=(0, 0, 0), axis=(0, 0, 1))
    coil = vi.Bushing("s", "world", "b", point=(0, 0, 0), stiffness=np.diag([1.0, 1, 1, 1, 1, 0.02]))
    m = vi.Mechanism("m", [other, TOP], [first, second], gravity=(0, 0, 0), forces=[coil])
    for q, twist in (({"g": 4.0}, 4.0), ({"g": 2.5, "h": 2.5}, 5.0), ({"g": -9.0, "h": 1.0}, -8.0)):
        state = m.state(coordinates=q)
        assert simulate(m, 0.01, 1e-3, state=state).energy[0] == pytest.approx(0.01 * twist**2, rel=1e-9)
        assert vi.energy(m, state).total == pytest.approx(0.01 * twist**2, rel=1e-9)
    reduced = vi.redmax.reduced_state(m, m.state(coordinates={"g": 2.5, "h": 2.5}))
    assert vi.redmax.simulate(m, 0.01, 1e-3, state=reduced).energy[0] == pytest.approx(0.25, rel=1e-9)


def test_reduced_states_have_the_turns_of_euler_angles():
    """Those of the path to their rotation vector, or a state that would lose them is refused."""
    m = top(spring())
    state, equations = m.state(coordinates=about(2, 4.0)), vi.EquationsOfMotion(m)
    for convert in (lambda: vi.redmax.reduced_state(m, state), lambda: equations.coordinates(state)):
        with pytest.raises(vi.StateError, match=r"'k' is turned by \[4.0\] rad, and .* that \[-2.283185\]"):
            convert()
    reduced = vi.redmax.ReducedState(np.array([0.0, 0.0, 4.0]), np.zeros(3))
    assert vi.redmax.simulate(m, 0.01, 1e-3, state=reduced).energy[0] == pytest.approx(0.16, rel=1e-12)
    assert equations.acceleration(0.0, reduced.q, reduced.qdot)[2] == pytest.approx(-16.0, rel=1e-9)
    near = vi.redmax.reduced_state(m, m.state(coordinates=about(2, 3.0)))
    assert vi.redmax.simulate(m, 0.01, 1e-3, state=near).energy[0] == pytest.approx(0.09, rel=1e-12)


def test_assembled_coordinates_replace_the_turns_of_a_node():
    m = top(spring())
    t = vi.simulate(m, 0.1, 1e-3, state=m.state(coordinates=about(2, 10.0)))
    assembled = m.assemble(t[50], coordinates=about(2, 4.0))
    assert vi.simulate(m, 0.01, 1e-3, state=assembled).force_potential["k"][0] == pytest.approx(0.16, rel=1e-9)


def test_gradient_by_a_start_with_turns_of_an_euler_angle():
    m = top(spring())
    result = vi.gradient(
        m, lambda s: s.angular_velocity[0, 2], 0.5, 1e-3, with_respect_to=["k.stiffness"],
        state=m.state(coordinates=about(2, 4.0)),
    )  # fmt: skip
    assert result.value == pytest.approx(-8.0 * np.sin(1.0), rel=1e-5)
    by_stiffness = -4.0 * (np.sin(1.0) + np.cos(1.0)) / (2.0 * 2.0 * 0.005)
    assert result["k.stiffness"] == pytest.approx(by_stiffness, rel=1e-5)


@pytest.mark.parametrize("angles", [None, "xyz"])
@pytest.mark.parametrize("described", [True, False])
def test_rollouts_of_bridges_start_with_turns(angles, described):
    """The run and the gradient beneath the functions of JAX and PyTorch, of a hinge and of a ball at 4 rad."""
    from varint.extras.bridges.rollout import Rollout, RolloutStates

    def build(stiffness):
        if angles is None:
            hinge = vi.Revolute("j", "world", "b", point=(0, 0, 0), axis=(0, 0, 1))
            return top(spring(None, 0, stiffness=stiffness), joint=hinge)
        return top(spring(angles, stiffness=stiffness))

    m, name = build(0.02), "k.stiffness" if described else "stiffness"
    start = m.state(coordinates={"j": 4.0 if angles is None else (0.0, 0.0, 4.0)})
    rollout = Rollout(m if described else build, 0.5, 1e-3, None, {"state": start})
    states = rollout.states({name: 0.02})
    assert states.angular_velocity[-1, 0, 2] == pytest.approx(-8.0 * np.sin(1.0), rel=1e-5)
    by = RolloutStates(*(np.zeros_like(array) for array in states))
    by.angular_velocity[-1, 0, 2] = 1.0
    by_stiffness = -4.0 * (np.sin(1.0) + np.cos(1.0)) / (2.0 * 2.0 * 0.005)
    assert float(rollout.back({name: 0.02}, [name], by)[0]) == pytest.approx(by_stiffness, rel=1e-5)


def test_every_episode_of_many_environments_starts_with_turns_and_internal_variables():
    """A wound spring and a stop along an Euler angle, a servo with an integral: the second episode is as the first."""
    pytest.importorskip("gymnasium")
    servo = vi.JointServo("s", joint="j", coordinate=0, angles="xyz", target=0.5, stiffness=0.03, damping=1e-3,
                          integral=0.05)  # fmt: skip
    stop = vi.JointStop("e", joint="j", coordinate=2, angles="xyz", lower=3.5, upper=5.5)
    push = vi.Motor("t", joint="j", coordinate=2, angles="xyz", effort=0.0)
    m = top(spring(), servo, stop, push)
    first = vi.simulate(m, 0.05, 0.01, state=m.state(coordinates={"j": (0.1, 0.0, 5.3)}))[-1]
    assert first.memory["s"][0] != 0.0
    task = {
        "reward": lambda sim: float(sim.coordinates[2]),
        "actions": {"t": (-1.0, 1.0)},
        "start": lambda random: first,
    }
    many = vi.gym.make_vector(m, 2, dt=0.01, steps=30, threads=1, **task)
    episodes = []
    observed = many.reset(seed=1)[0]
    for _ in range(3):
        rows, gains = [observed], []
        for _ in range(30):
            observed, rewards, _, truncated, _ = many.step(np.full((2, 1), 0.01))
            rows.append(observed)
            gains.append(rewards)
        assert truncated.all()
        episodes.append((np.array(rows), np.array(gains)))
        observed = many.step(np.full((2, 1), 0.01))[0]  # which begins the next
    for rows, gains in episodes[1:]:
        np.testing.assert_allclose(rows, episodes[0][0], rtol=0, atol=1e-12)
        np.testing.assert_allclose(gains, episodes[0][1], rtol=0, atol=1e-12)
    angle = vi.simulate(m, 0.01, 0.01, state=first).coordinates["j"][0]
    assert abs(first.memory["k"][-1]) > np.pi
    np.testing.assert_allclose(episodes[0][0][0, 0, :3], angle, rtol=0, atol=1e-12)
    many.close()
