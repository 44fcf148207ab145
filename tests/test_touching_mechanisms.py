"""Mechanisms of the catalogue that touch, against closed forms, statics and reduced coordinates."""

import json
from functools import cache

import numpy as np
import pytest

import varint as vi
from varint.cli import main

G = 9.81


@cache
def moved(name, duration, dt=None, **parameters):
    mechanism = getattr(vi.mechanisms, name)(**parameters)
    return vi.simulate(mechanism, duration, dt or facts(name)["dt"], on_unresolved="ignore")


def facts(name):
    return vi.mechanisms.module(name).EXPECTED


def angle(run, joint):
    return np.unwrap(run.coordinates[joint].reshape(len(run.t), -1)[:, -1])


def test_a_cam_lifts_its_follower_by_the_closed_form():
    run, of = moved("cam_follower", 0.5), vi.mechanisms.module("cam_follower")
    lift = run.coordinates["guide"].ravel()
    assert np.abs(lift - 0.01 * np.sin(30.0 * run.t)).max() < 1e-12
    assert run.force["contact"] == pytest.approx(of.normal_force(30.0 * run.t, 30.0), abs=1e-8)
    assert run.penetration["contact"].max() < 1e-12


@pytest.mark.parametrize(("share", "leaves"), [(0.99, False), (1.01, True)])
def test_a_fast_cam_throws_its_follower_off(share, leaves):
    rate = share * vi.mechanisms.module("cam_follower").floating_rate()
    run = moved("cam_follower", 0.1, 5e-4, rate=rate)
    off = (run.coordinates["guide"].ravel() - 0.01 * np.sin(rate * run.t)).max()
    assert (off > 1e-5) == leaves
    if not leaves:
        assert off < 1e-12


def test_a_geneva_wheel_turns_by_quarters_within_its_clearance():
    run, of = moved("geneva_drive", 2.0), vi.mechanisms.module("geneva_drive")
    off = angle(run, "wheel") - of.wheel_angle(2.0 * np.pi * run.t)
    play = 2e-4 / (of.CENTRES * np.sin(np.radians(17.31)))  # lever of the flats of the hollow about the wheel
    assert 0.5 * play < np.abs(off).max() < 1.05 * play
    assert np.ptp(angle(run, "wheel")) == pytest.approx(np.pi, abs=2 * play)
    assert run.penetration["contact"].max() < 1e-10


@pytest.mark.parametrize(("teeth", "load"), [(12, 0.02), (20, 0.04)])
def test_a_pawl_holds_the_wheel_of_a_ratchet(teeth, load):
    run, pitch = moved("ratchet", 1.0, teeth=teeth, load=load), 2.0 * np.pi / teeth
    wheel = angle(run, "wheel")
    assert wheel.max() > 2.0 * pitch  # over two teeth at least
    assert 0.0 < wheel.max() - wheel[-1] < pitch
    late = run.t > 0.8
    assert np.ptp(wheel[late]) < 1e-11
    held = run.contacts.at(len(run.t) - 1)
    assert (held.body_a == "pawl").all()
    moment = np.cross(held.point, held.force).sum(axis=0)
    assert moment == pytest.approx([0.0, load, 0.0], abs=1e-10)  # the wheel bears as much from its motor
    assert run.penetration["catch"].max() < 1e-11


def test_a_pin_with_clearance_puts_the_slider_off_by_at_most_the_closed_form():
    run, bound = moved("slider_crank_clearance", 0.06), vi.mechanisms.module("slider_crank_clearance").farthest()
    turned = 150.0 * run.t
    ideal = 0.153 * np.cos(turned) + np.sqrt(0.306**2 - (0.153 * np.sin(turned)) ** 2)
    assert 0.98 * bound < np.abs(run.position[:, 2, 0] - ideal).max() < (1 + 1e-6) * bound
    assert run.penetration["pin"].max() < 1.1e-11


def test_a_cradle_swings_from_side_to_side_with_its_period():
    """The impacts pass all of the speed on: nothing is lost, and all come back to where they were after a period."""
    period = facts("newtons_cradle")["period"]
    run = moved("newtons_cradle", period, period / 512)
    angles = np.stack([angle(run, f"pivot {k}") for k in range(1, 6)], axis=1)
    assert angles[256] == pytest.approx([0, 0, 0, 0, 0.6], abs=1e-4)
    assert angles[-1] == pytest.approx([-0.6, 0, 0, 0, 0], abs=1e-4)
    assert np.abs(run.energy_balance).max() < 1e-4 * run.kinetic.max()


def test_two_balls_of_a_cradle_move_two():
    run = moved("newtons_cradle", 0.6, raised=2, angle=0.3)
    fastest = run.kinetic.argmax()
    after = np.flatnonzero(angle(run, "pivot 5") > 0.05)[0]
    speed = np.linalg.norm(run.velocity[after], axis=1)
    assert after > fastest - 2
    assert speed[:3] == pytest.approx(0.0, abs=1e-9)
    assert speed[3] == pytest.approx(speed[4], rel=1e-9)


@pytest.mark.parametrize("spokes", [8, 12])
def test_a_rimless_wheel_settles_at_its_walking_rate(spokes):
    slope = 0.08 if spokes == 8 else 0.05
    walking = vi.mechanisms.module("rimless_wheel").walking_rate(spokes, slope)
    run = moved("rimless_wheel", 8.0, 0.002, spokes=spokes, slope=slope)
    rate = run.angular_velocity[:, 0, 1]
    landed = 1 + np.flatnonzero(np.diff(rate) < -0.05)
    assert rate[landed[-1]] == pytest.approx(walking, rel=0.02)  # up to 2 ms after the landing
    wheel = run.mechanism.bodies[0]
    lost = run.energy[landed[-3:] - 1] - run.energy[landed[-3:] + 1]
    gained = 2.0 * wheel.mass * G * 0.5 * np.sin(np.pi / spokes) * np.sin(slope)
    assert lost == pytest.approx(gained, rel=2e-3)
    about = wheel.inertia[1, 1] + wheel.mass * 0.25
    kept = (wheel.inertia[1, 1] + wheel.mass * 0.25 * np.cos(2.0 * np.pi / spokes)) / about
    assert 2.0 * lost / about / (kept**-2 - 1.0) == pytest.approx(walking**2, rel=2e-3)
    assert len(landed) > 10
    steps = np.diff(run.t[landed])
    assert np.ptp(steps[-3:]) < 0.01  # nodes are 2 ms apart
    assert np.abs(run.position[:, 0, 1]).max() < 1e-9  # straight on


@pytest.mark.slow
def test_dominoes_fall_one_after_the_other():
    run = moved("dominoes", 2.0)
    tilt = 2.0 * np.arcsin(run.quat_wxyz[:, :, 2])
    begin = [run.t[np.argmax(tilt[:, k] > 0.01)] for k in range(1, 6)]
    first = vi.mechanisms.module("dominoes").first_hit()
    struck = run.t[np.argmax(np.abs(run.velocity[:, 1]).max(axis=1) > 1e-6)]
    assert struck == pytest.approx(first, abs=2e-3)  # nodes are 1 ms apart
    pace = np.diff(begin)
    assert (pace > 0.0).all()
    assert np.ptp(pace[2:]) < 0.2 * pace[-1]  # the wave comes to run at an even speed
    assert tilt[-1] == pytest.approx(0.5 * np.pi, abs=1e-9)  # all lie flat
    assert np.abs(run.velocity[-1]).max() < 1e-9
    assert np.abs(run.position[:, :, 1]).max() < 1e-9
    assert run.force["floor"][-1] == pytest.approx(0.06 * G, rel=1e-6)
    assert np.diff(run.energy).max() < 1e-3 * np.ptp(run.energy)


@pytest.mark.slow
def test_near_dominoes_come_to_lean_on_each_other():
    """They rock on the corners on which they come to rest ever lower and faster: that ends."""
    run = moved("dominoes", 0.8, n=3, spacing=0.02, friction=0.3, rough=0.8)
    tilt = np.degrees(2.0 * np.arcsin(run.quat_wxyz[-1, :, 2]))
    assert np.abs(run.velocity[-100:]).max() < 1e-9
    assert tilt[0] > 10.0
    assert run.force["floor"][-1] == pytest.approx(0.03 * G, rel=1e-6)
    assert max(depth.max() for depth in run.penetration.values()) < 1e-9


def test_a_rimless_wheel_that_is_too_slow_comes_to_rest_on_two_feet():
    run = moved("rimless_wheel", 6.0, rate=1.0)
    assert np.abs(run.velocity[-1]).max() < 1e-10
    feet = run.contacts.at(len(run.t) - 1)
    weight = run.mechanism.bodies[0].mass * G
    assert len(feet) == 4
    assert feet.force.sum(axis=0) == pytest.approx([0, 0, weight], abs=1e-8)


@pytest.mark.slow
def test_a_woodpecker_pecks_its_way_down_as_in_reduced_coordinates():
    run = moved("woodpecker", 0.15)
    reduced = vi.redmax.simulate(run.mechanism, 0.15, 2e-4, integrator="dop853")
    for joint, near in (("sleeve", 1e-3), ("spring", 2e-3)):
        assert run.coordinates[joint] == pytest.approx(reduced.coordinates[joint], abs=near)
    swing = angle(run, "sleeve") + angle(run, "spring")
    assert np.ptp(swing) > 0.5


@pytest.mark.slow
def test_a_woodpecker_settles_in_a_cycle():
    """Of a period below that of the free spring; it falls by the same in each, jammed a part of the time."""
    run = moved("woodpecker", 1.5)
    height, swing = run.coordinates["sleeve"][:, 0], angle(run, "sleeve") + angle(run, "spring")
    at = 1 + np.flatnonzero((swing[:-1] > -0.2788) & (swing[1:] <= -0.2788))
    assert len(at) > 8
    assert np.diff(run.t[at])[3:] == pytest.approx(0.1307, abs=2e-4)
    assert np.diff(height[at])[3:] == pytest.approx(-0.0145, abs=2e-4)
    stuck = np.abs(run.velocity[:, 0, 2]) < 1e-9
    assert 0.1 < stuck.mean() < 0.9
    hits = np.flatnonzero(np.diff(-run.angular_velocity[:, 1, 1]) < -5.0)
    assert len(hits) == pytest.approx(len(at), abs=1)  # one peck a cycle


def test_a_gripper_holds_a_cube_by_friction():
    run = moved("gripper", 0.5)
    assert run.position[-1, 3] - run.position[0, 3] == pytest.approx([0, 0, 0.05], abs=1e-11)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        assert run.contact_force[f"{side} grip"][1:] == pytest.approx(
            np.broadcast_to([10.0 * sign, 0.0, 0.25 * G], (len(run.t) - 1, 3)), abs=1e-6
        )


def test_points_that_touch_are_columns_of_a_table():
    touching = moved("gripper", 0.05).contacts
    table = touching.columns()
    assert list(table)[:5] == ["node", "t (s)", "contact", "body a", "body b"]
    assert {len(column) for column in table.values()} == {len(touching)}
    first = table["node"] == 3
    held = table["force z (N)"][first].sum()
    assert held == pytest.approx(0.5 * G, abs=1e-6)
    assert set(table["contact"]) == {"left grip", "right grip"}
    assert table["point x (m)"] == pytest.approx(touching.point[:, 0])


@pytest.mark.slow
def test_info_of_a_run_has_its_contacts(tmp_path, capsys):
    run = moved("gripper", 0.05)
    run.save(tmp_path / "run.h5")
    assert main(["info", str(tmp_path / "run.h5"), "--json"]) == 0
    left, right = json.loads(capsys.readouterr().out)["contacts"]
    assert (left["name"], right["name"]) == ("left grip", "right grip")
    assert (left["share"], left["points"]) == (1.0, 4)
    assert left["force"] == pytest.approx(np.hypot(10.0, 0.25 * G), rel=1e-6)
    assert left["penetration"] < 1e-12
    assert main(["info", str(tmp_path / "run.h5")]) == 0
    assert "right grip" in capsys.readouterr().out


def test_a_gripper_loses_what_is_too_heavy():
    """Friction of 4 N bears less than 4.905 N: the cube slides down between the fingers, slower than it would fall."""
    run = moved("gripper", 0.1, force=4.0)
    fallen = run.position[0, 3, 2] + 0.1 * run.t - run.position[:, 3, 2]
    assert fallen[-1] > 0.5 * (G - 8.0) * 0.1**2 * 0.99
    assert fallen[-1] < 0.5 * G * 0.1**2
    assert np.abs(run.energy_balance).max() < 1e-4


@pytest.mark.slow
def test_a_quadruped_lands_and_stands_on_its_springs():
    run = moved("minitaur_landing", 6.0)
    weight = G * sum(body.mass for body in run.mechanism.bodies)
    load = sum(run.contact_force[f"{body} on floor"][:, 2] for body in TOES)
    airborne = load == 0.0
    assert airborne[run.t < 0.1].all()
    assert airborne[run.t > 0.1].any()  # it hops
    assert load[run.t > 5.8] == pytest.approx(weight, rel=0.01)
    trunk = run.position[run.t > 5.5, 0]
    assert np.ptp(trunk, axis=0).max() < 1e-3
    assert max(depth.max() for depth in run.penetration.values()) < 1e-11
    assert run.drift.max() < 1e-11


TOES = [f"{end} {side} left lower" for end in ("front", "rear") for side in ("left", "right")]
