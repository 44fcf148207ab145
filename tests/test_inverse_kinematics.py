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
