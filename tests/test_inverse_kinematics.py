"""Poses in which points are at targets: closed forms, stops, loops, branches, and what cannot be reached."""

import numpy as np
import pytest

import varint as vi

UP = (0, -1, 0)
TIP = (0.7, 0, 0)
L1, L2 = 0.4, 0.3


def arm(*forces):
    """Two rods along x, 0.4 m and 0.3 m, in the plane of x and z."""
    bodies = [
        vi.Body.rod("upper", (0, 0, 0), (L1, 0, 0), mass=2.0),
        vi.Body.rod("fore", (L1, 0, 0), TIP, mass=1.0),
    ]
    joints = [
        vi.Revolute("shoulder", "world", "upper", point=(0, 0, 0), axis=UP),
        vi.Revolute("elbow", "upper", "fore", point=(L1, 0, 0), axis=UP),
    ]
    return vi.Mechanism("arm", bodies, joints, forces=forces)


def elbow(target):
    """The angle of the elbow, up to its sign."""
    return np.arccos((target[0] ** 2 + target[2] ** 2 - L1**2 - L2**2) / (2 * L1 * L2))


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_two_links_reach_a_point_on_their_branch(side):
    mechanism, target = arm(), (0.3, 0.0, 0.4)
    start = mechanism.state(coordinates={"elbow": side * 0.5})
    state = mechanism.pose({("fore", TIP): target}, state=start)
    assert mechanism.point(state, "fore", TIP) == pytest.approx(target, abs=1e-10)
    assert float(mechanism.coordinates(state)["elbow"]) == pytest.approx(side * elbow(target), abs=1e-9)
    assert not state.velocity.any()
    vi.simulate(mechanism, 0.01, 0.01, state=state)  # its joints are closed


def test_a_stretched_arm_bends():
    mechanism, target = arm(), (0.4, 0.0, 0.0)
    state = mechanism.pose({("fore", TIP): target})
    assert mechanism.point(state, "fore", TIP) == pytest.approx(target, abs=1e-9)
    assert abs(float(mechanism.coordinates(state)["elbow"])) == pytest.approx(elbow(target), abs=1e-8)


def test_stops_bound_the_coordinates():
    target = (0.3, 0.0, 0.4)
    stops = vi.JointStop("stop", joint="elbow", lower=-2.0, upper=0.2)
    mechanism = arm(stops)
    start = mechanism.state(coordinates={"elbow": 0.1})
    state = mechanism.pose({("fore", TIP): target}, state=start)  # only with the elbow on the other side
    assert float(mechanism.coordinates(state)["elbow"]) == pytest.approx(-elbow(target), abs=1e-8)
    tight = arm(vi.JointStop("stop", joint="elbow", lower=-0.2, upper=0.2))
    with pytest.raises(vi.StateError, match=r"'fore' stays 0\.1\d+ m from .*, with 'elbow' at its stop"):
        tight.pose({("fore", TIP): target})


def test_the_distance_that_is_left_is_told():
    with pytest.raises(vi.StateError, match=r"does not reach its targets .* 'fore' stays 0\.3 m from \(1, 0, 0\)"):
        arm().pose({("fore", TIP): (1.0, 0.0, 0.0)})
    with pytest.raises(vi.StateError, match=r"stays 0\.1 m from"):
        arm().pose({("fore", TIP): (0.3, 0.1, 0.4)})  # beside its plane


def test_turns_go_on_from_the_state():
    mechanism = arm()
    start = mechanism.state(coordinates={"shoulder": 2 * np.pi + 0.3, "elbow": 0.5})
    state = mechanism.pose({("fore", TIP): (0.3, 0.0, 0.4)}, state=start)
    assert 2 * np.pi < float(mechanism.coordinates(state)["shoulder"]) < 2 * np.pi + 2.0


def test_a_loop_closes_and_held_joints_hold():
    mechanism = vi.mechanisms.four_bar()
    start = mechanism.state()
    there = mechanism.state(coordinates={"crank pivot": 0.9})
    name = mechanism.joint("rocker pin").body_a
    point = mechanism.joint("rocker pin").point
    target = mechanism.point(there, name, point)
    state = mechanism.pose({(name, tuple(point)): target}, state=start)
    assert state.position == pytest.approx(there.position, abs=1e-8)
    with pytest.raises(vi.StateError, match="does not reach its targets"):
        mechanism.pose({(name, tuple(point)): target}, hold="crank pivot", state=start)


@pytest.mark.slow
def test_six_legs_carry_a_platform():
    mechanism = vi.mechanisms.stewart_platform()
    start = mechanism.state()
    platform = max(mechanism.bodies, key=lambda body: body.mass)
    corners = platform.position + 0.1 * np.eye(3)
    goals = [mechanism.point(start, platform.name, corner) + (0.01, 0.02, 0.02) for corner in corners]
    targets = {(platform.name, tuple(corner)): goal for corner, goal in zip(corners, goals, strict=True)}
    state = mechanism.pose(targets)
    shift = state.position[mechanism.body_index[platform.name]] - start.position[mechanism.body_index[platform.name]]
    assert shift == pytest.approx([0.01, 0.02, 0.02], abs=1e-9)


def robot():
    """A turning base, two links, and a hand that a cube waits for; with stops."""
    bodies = [
        vi.Body.cylinder("base", radius=0.1, length=0.1, mass=3.0, position=(0, 0, 0.05)),
        vi.Body.rod("upper", (0, 0, 0.1), (0, 0, 0.6), mass=2.0),
        vi.Body.rod("fore", (0, 0, 0.6), (0.5, 0, 0.6), mass=1.0),
        vi.Body.box("hand", (0.1, 0.05, 0.05), 0.3, position=(0.55, 0, 0.6)),
        vi.Body.box("cube", (0.05, 0.05, 0.05), 0.2, position=(0.4, 0.3, 0.025)),
    ]
    y = {"axis": (0, 1, 0)}
    joints = [
        vi.Revolute("waist", "world", "base", point=(0, 0, 0), axis=(0, 0, 1)),
        vi.Revolute("shoulder", "base", "upper", point=(0, 0, 0.1), **y),
        vi.Revolute("elbow", "upper", "fore", point=(0, 0, 0.6), **y),
        vi.Revolute("wrist", "fore", "hand", point=(0.5, 0, 0.6), **y),
        vi.Free("cube floats", "world", "cube"),
    ]
    limits = {"shoulder": (-1.5, 1.5), "elbow": (-1.5, 2.5), "wrist": (-2.0, 2.0)}
    stops = [vi.JointStop(f"{name} stop", joint=name, lower=a, upper=b) for name, (a, b) in limits.items()]
    return vi.Mechanism("robot", bodies, joints, forces=stops), limits


def test_a_robot_reaches_down_to_a_cube():
    mechanism, limits = robot()
    start, above = mechanism.state(), np.array([0.4, 0.3, 0.1])
    targets = {("hand", (0.6, 0, 0.6)): above, ("hand", (0.5, 0, 0.6)): above + (0, 0, 0.1)}
    state = mechanism.pose(targets)
    assert mechanism.point(state, "hand", (0.6, 0, 0.6)) == pytest.approx(above, abs=1e-9)
    assert mechanism.point(state, "hand", (0.5, 0, 0.6)) == pytest.approx(above + (0, 0, 0.1), abs=1e-9)
    q = mechanism.coordinates(state)
    assert float(q["waist"]) == pytest.approx(np.arctan2(0.3, 0.4), abs=1e-9)
    assert all(low <= q[name] <= high for name, (low, high) in limits.items())
    assert state.position[4] == pytest.approx(start.position[4], abs=1e-12)  # the cube stays


def test_wrong_arguments_are_said():
    mechanism = arm()
    with pytest.raises(vi.ArgumentError, match="targets: no body 'for', did you mean 'fore'"):
        mechanism.pose({("for", TIP): (0, 0, 0)})
    with pytest.raises(vi.ArgumentError, match="targets: name a body, or write"):
        mechanism.pose({3: (0, 0, 0)})
    with pytest.raises(vi.ArgumentError, match="give at least one"):
        mechanism.pose({})
    with pytest.raises(vi.ArgumentError, match="target of 'fore'"):
        mechanism.pose({"fore": (0, 0)})
    with pytest.raises(vi.StateError, match="hold: no body or joint 'elbw'"):
        mechanism.pose({"fore": (0, 0, 0.3)}, hold="elbw")


def test_a_body_that_holds_stays():
    plain = arm()
    floating = vi.Mechanism("floating", plain.bodies, [vi.Free("base", "world", "upper"), plain.joints[1]])
    target = {("fore", TIP): (0.4, 0.0, 0.3)}
    held = floating.pose(target, hold="upper")
    assert held.position[0] == pytest.approx(floating.state().position[0], abs=1e-12)
    assert float(floating.coordinates(held)["elbow"]) == pytest.approx(np.pi / 2, abs=1e-9)
    with pytest.raises(vi.StateError, match="does not reach"):
        floating.pose({("fore", TIP): (0.4, 0.0, 0.5)}, hold="base")
    assert floating.point(floating.pose({("fore", TIP): (3, 2, 1)}), "fore", TIP) == pytest.approx([3, 2, 1], abs=1e-9)


def test_stops_of_euler_angles_are_refused_by_name():
    bob = vi.Body.rod("bob", (0, 0, 0), (0, 0, -1), mass=1.0)
    joint = vi.Spherical("ball", "world", "bob", point=(0, 0, 0))
    stop = vi.JointStop("s", joint="ball", coordinate=1, angles="xyz", lower=-0.2, upper=0.2)
    mechanism = vi.Mechanism("pendulum", [bob], [joint], forces=[stop])
    with pytest.raises(vi.ArgumentError, match=r"pose: .*'s' bounds an Euler angle .* Hold joint 'ball'"):
        mechanism.pose({("bob", (0, 0, -1)): (0, 1, 0)})


def test_an_open_start_closes_with_what_holds():
    plain = arm()
    mechanism = vi.Mechanism("floating", plain.bodies, [vi.Free("base", "world", "upper"), plain.joints[1]])
    start = mechanism.state()
    away = start.position + [[0, 0, 0], [0.01, 0, 0]]
    start = start.of_bodies(away, start.quat_wxyz, np.ones((2, 3)), np.ones((2, 3)))
    for hold in ("upper", "base"):
        state = mechanism.pose({("fore", TIP): (0.4, 0.0, 0.3)}, hold=hold, state=start)
        assert state.position[0] == pytest.approx(start.position[0], abs=1e-12)
        assert state.quat_wxyz[0] == pytest.approx(start.quat_wxyz[0], abs=1e-12)


def test_stops_of_a_loop_hold_to_round_off():
    plain = vi.mechanisms.four_bar()
    there, stop_at = plain.state(coordinates={"crank pivot": 0.9}), plain.state(coordinates={"crank pivot": 0.88})
    limit = float(plain.coordinates(stop_at)["rocker pivot"])
    inside = float(plain.coordinates(plain.state())["rocker pivot"])
    lower, upper = sorted((limit, limit + 3 * np.sign(inside - limit)))
    stop = vi.JointStop("stop", joint="rocker pivot", lower=lower, upper=upper)
    mechanism = vi.Mechanism("stopped", plain.bodies, plain.joints, forces=[*plain.forces, stop])
    pin = plain.joint("rocker pin")
    key = (pin.body_a, tuple(pin.point))
    with pytest.raises(vi.StateError, match=r"does not reach .* with 'rocker pivot' at its stop"):
        mechanism.pose({key: plain.point(there, *key)}, state=mechanism.state())
    state = mechanism.pose({key: plain.point(stop_at, *key)}, state=mechanism.state())
    assert lower - 2e-9 <= float(mechanism.coordinates(state)["rocker pivot"]) <= upper + 2e-9


def geared(ratio):
    """A pinion beside an arm of 1 m along x, which turns by 1 / ``ratio`` of it."""
    y = {"axis": (0, 1, 0)}
    bodies = [
        vi.Body.cylinder("pinion", radius=0.1, length=0.1, mass=1.0, position=(0, 1, 0)),
        vi.Body.rod("arm", (0, 0, 0), (1, 0, 0), mass=1.0),
    ]
    joints = [
        vi.Revolute("pinion pivot", "world", "pinion", point=(0, 1, 0), **y),
        vi.Revolute("arm pivot", "world", "arm", point=(0, 0, 0), **y),
    ]
    gear = vi.Coupling("gear", terms=[("pinion pivot", 0, 1.0), ("arm pivot", 0, -ratio)])
    return vi.Mechanism("geared", bodies, joints, forces=[gear])


def test_couplings_count_turns_from_the_state():
    mechanism = geared(3.0)
    start = mechanism.state(coordinates={"pinion pivot": 4 * np.pi})  # the arm at 4/3 pi
    target = 4 * np.pi / 3 + 0.2
    state = mechanism.pose({("arm", (1, 0, 0)): (np.cos(target), 0, -np.sin(target))}, state=start)
    q = mechanism.coordinates(state)
    assert float(q["pinion pivot"]) == pytest.approx(3 * target, abs=1e-8)
    assert np.cos(float(q["arm pivot"])) == pytest.approx(np.cos(target), abs=1e-8)


@pytest.mark.slow
def test_a_search_that_is_cut_says_so():
    with pytest.raises(vi.StateError, match=r"ended after 2100 steps while it still came nearer.* state= nearer"):
        geared(3000.0).pose({("arm", (1, 0, 0)): (0, 0, -1)})
