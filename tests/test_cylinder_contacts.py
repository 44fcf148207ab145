"""Cylinders that touch boxes, balls, capsules and meshes, against planes and closed forms."""

import math
from dataclasses import replace

import numpy as np
import pytest
from contact_scenes import free_scene
from scipy.integrate import solve_ivp

import varint as vi
from varint.model.rotation_vectors import quat_from_matrix

G, R = 9.81, 0.1  # m/s^2, m
UPRIGHT = np.eye(3)
TABLE = vi.BoxShape((2, 2, 0.4), (0, 0, -0.2))
ROD = vi.CylinderShape((0, 0, -0.2), (0, 0, 0.2), R)


def run_on(ground, duration, dt=0.005, axes=UPRIGHT, position=(0, 0, 0), spin=(0, 0, 0), **law):
    """A cylinder about its z that starts on the ground."""
    body = vi.Body.cylinder("b", R, 0.4, 1.0, position=position, quat_wxyz=quat_from_matrix(axes))
    mechanism = vi.Mechanism(
        "m", [replace(body, collision=[ROD])], [vi.Free("f", "world", "b")],
        forces=[vi.Contact("c", "b", "world", **law)], ground=[ground],
    )  # fmt: skip
    state = mechanism.state(angular_velocity={"b": spin})
    return vi.simulate(mechanism, duration, dt, state=state)


@pytest.mark.slow
@pytest.mark.parametrize("x", [0.0, 0.93, 0.99])
def test_a_cylinder_stands_on_a_box(x):
    """Also where it sticks out over the edge: the corners of the patch are where the edge crosses its rim."""
    run = run_on(TABLE, 0.5, position=(x, 0.013, 0.2), friction=0.4)
    assert np.abs(run.position - run.position[0]).max() < 1e-13
    assert run.force["c"][1:].ravel() == pytest.approx(G, rel=1e-9)


@pytest.mark.slow
def test_a_cylinder_falls_off_where_its_middle_is_beside_the_box():
    run = run_on(TABLE, 0.3, position=(1.01, 0.0, 0.2), friction=0.4)
    assert run.position[-1, 0, 0] > 1.012
    assert run.penetration["c"].max() < 1e-9
    assert np.diff(run.energy).max() < 1e-6


@pytest.mark.slow
def test_a_cylinder_rolls_down_a_tilted_box():
    """2/3 g sin(angle), order 2."""
    angle = 0.3
    tilt = np.array([[math.cos(angle), 0, math.sin(angle)], [0, 1, 0], [-math.sin(angle), 0, math.cos(angle)]])
    box = TABLE.moved(np.zeros(3), tilt)
    axes = tilt @ np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])  # its axis along y
    run = run_on(box, 0.4, 0.01, position=R * tilt[:, 2], axes=axes, friction=0.5)
    way = (run.position[:, 0] - run.position[0, 0]) @ tilt[:, 0]
    assert way == pytest.approx(0.5 * (2 / 3) * G * math.sin(angle) * run.t**2, abs=1e-9)
    assert run.angular_velocity[-1, 0, 2] == pytest.approx(way[-1] * 2 / 0.4 / R, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("lean", [0.05, 0.4])
def test_a_cylinder_on_its_rim_moves_as_on_a_plane(lean):
    """It rocks, rolls on its rim, and falls over."""
    axes = np.array([[math.cos(lean), 0, math.sin(lean)], [0, 1, 0], [-math.sin(lean), 0, math.cos(lean)]])
    height = 0.2 * math.cos(lean) + R * math.sin(lean)
    law = {"position": (0.0, 0.0, height), "axes": axes, "spin": (0.0, 0.0, 6.0), "friction": 0.4}
    box, plane = (run_on(ground, 0.4, **law) for ground in (TABLE, vi.PlaneShape()))
    assert np.abs(box.position - plane.position).max() < 1e-9
    assert np.abs(plane.position[-1, 0] - plane.position[0, 0]).max() > 0.005


def let_go(ground, tilt, spin, dt=0.004, duration=0.8, **law):
    """A cylinder on one side of its rim, which stays where it is at first."""
    r, half = 0.09, 0.11
    axes = np.array([[math.cos(tilt), 0, math.sin(tilt)], [0, 1, 0], [-math.sin(tilt), 0, math.cos(tilt)]])
    height = half * math.cos(tilt) + r * math.sin(tilt)
    place = {"position": (0.0, 0.0, height), "quat_wxyz": quat_from_matrix(axes)}
    body = vi.Body.cylinder("b", r, 2 * half, 1.0, **place)
    mechanism = vi.Mechanism(
        "m", [replace(body, collision=[vi.CylinderShape((0, 0, -half), (0, 0, half), r)])],
        [vi.Free("f", "world", "b")], forces=[vi.Contact("c", "b", "world", **law)], ground=[ground],
    )  # fmt: skip
    velocity = -np.cross(axes @ np.array(spin), axes @ np.array([r, 0.0, -half]))
    state = mechanism.state(velocity={"b": velocity}, angular_velocity={"b": spin})
    return vi.simulate(mechanism, duration, dt, state=state)


SPINS = (0, -0.5, 0), (0, -2, 0), (0, -4, 1), (0.1, -2, 0), (1e-3, -2, 0), (0.02, 0, 0)


@pytest.mark.slow
@pytest.mark.filterwarnings("error::varint.UnresolvedWarning")
@pytest.mark.parametrize("ground", [vi.PlaneShape(), TABLE], ids=["plane", "box"])
@pytest.mark.parametrize("tilt", [0.02, 0.2])
def test_a_cylinder_that_rocks_through_flat_gains_no_energy(tilt, ground):
    """It lands on the far side of its end, as a box does. What is gained is what falling alone gains at this step."""
    for spin in SPINS:
        run = let_go(ground, tilt, spin, friction=0.5)
        gained = run.energy - np.minimum.accumulate(run.energy)
        assert gained.max() < 4e-5, spin
        assert run.energy[-1] < run.energy[0]
        assert run.penetration["c"].max() < 1e-10


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::varint.UnresolvedWarning")
def test_a_cylinder_whose_lowest_point_runs_around_its_rim_gains_no_energy():
    """By up to half a radian in a step; the energy swings with the push and comes back."""
    for tilt in (0.02, 0.2):
        run = let_go(vi.PlaneShape(), tilt, (0.5, 0, 0.5), friction=0.5)
        assert (run.energy - np.minimum.accumulate(run.energy)).max() < 6e-4
        assert run.energy[-1] < run.energy[0]


@pytest.mark.slow
def test_a_ball_slides_off_the_end_of_a_cylinder():
    """Over its rim the centre moves on a circle about it, up to cos = 2/3 of the height that its energy is."""
    body = vi.Body.sphere("ball", R, 1.0, position=(0.3, 0, R), collision=True)
    mechanism = vi.Mechanism(
        "m", [body], [vi.Free("f", "world", "ball")], forces=[vi.Contact("c", "ball", "world")],
        ground=[vi.CylinderShape((0, 0, -1), (0, 0, 0), 0.35)],
    )  # fmt: skip
    run = vi.simulate(mechanism, 0.6, 0.002, state=mechanism.state(velocity={"ball": (0.2, 0, 0)}))
    x, z = run.position[:, 0, 0] - 0.35, run.position[:, 0, 2]
    over = (x > 0.0) & (run.force["c"].ravel() > 0.0)
    assert over.sum() > 20
    assert np.hypot(x, z)[over] == pytest.approx(R, abs=1e-10)
    assert run.energy == pytest.approx(run.energy[0], rel=3e-5)
    leaves = z[over][-1] / R  # cos of the angle: m v^2 / R = m g cos
    assert leaves == pytest.approx(2 / 3 * (1 + 0.2**2 / (2 * G * R)), abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_thrown_cylinders_gain_no_energy(seed):
    rng = np.random.default_rng(seed)
    hull = vi.ConvexMesh(0.12 * rng.standard_normal((12, 3)), hull=True)
    line = vi.CapsuleShape((-0.1, 0, 0), (0.1, 0, 0), 0.05)
    makes = {
        "rod": ROD,
        "disc": vi.CylinderShape((0, -0.03, 0), (0, 0.03, 0), 0.1),
        "hull": hull,
        "line": line,
        "box": vi.BoxShape((0.2, 0.15, 0.1)),
        "ball": vi.SphereShape(0.07),
    }
    bodies = [
        vi.Body(
            name, mass=1.0, inertia=0.004 * np.eye(3), position=(0.45 * (k - 2.5), 0.05 * k, 0.4), collision=[shape]
        )
        for k, (name, shape) in enumerate(makes.items())
    ]
    law = {"friction": rng.uniform(0, 1), "restitution": rng.uniform(0, 0.8)}
    contacts = [
        *(vi.Contact(f"rod {name}", "rod", name, **law) for name in makes if name != "rod"),
        vi.ContactPairs("floor", bodies=list(makes), others=["world"], **law),
    ]
    mechanism = replace(free_scene("thrown", bodies, contacts), ground=[TABLE.moved(np.zeros(3), np.eye(3))])
    state = mechanism.state()
    velocity = 0.5 * rng.standard_normal((6, 3)) - 2.0 * (state.position - state.position.mean(axis=0))
    spin = 5 * rng.standard_normal((6, 3))
    run = vi.simulate(mechanism, 0.6, 0.004, state=replace(state, velocity=velocity, angular_velocity=spin))
    assert run.energy[-1] < run.energy[0]
    assert (run.energy - np.minimum.accumulate(run.energy)).max() < 2e-3 * run.energy[0]
    assert max(depth.max() for depth in run.penetration.values()) < 1e-7


@pytest.mark.slow
@pytest.mark.parametrize(("x", "y"), [(0.0, 0.0), (0.03, 0.02)])
def test_cylinders_stand_on_each_other(x, y):
    bodies = [
        replace(vi.Body.cylinder(name, R, 0.4, 1.0, position=place), collision=[ROD])
        for name, place in (("low", (0, 0, 0.2)), ("high", (x, y, 0.6)))
    ]
    law = {"friction": 0.5}
    forces = [vi.Contact("floor", "low", "world", **law), vi.Contact("c", "high", "low", **law)]
    mechanism = free_scene("two", bodies, forces)
    run = vi.simulate(mechanism, 1.0, 0.005, state=mechanism.state())
    assert np.abs(run.position - run.position[0]).max() < 1e-13
    assert run.force["c"][1:].ravel() == pytest.approx(G, rel=1e-9)


@pytest.mark.slow
def test_a_cylinder_rolls_over_another():
    """(r + R) angle'' = 2/3 g sin(angle), until it leaves; order 2."""
    lying = quat_from_matrix(np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]))
    log, start, off = vi.CylinderShape((0, -0.5, 0), (0, 0.5, 0), 0.3), 0.05, []
    place = 0.4 * np.array([math.sin(start), 0.0, math.cos(start)])
    body = vi.Body.cylinder("b", R, 0.4, 1.0, position=place, quat_wxyz=lying)
    mechanism = vi.Mechanism(
        "m", [replace(body, collision=[ROD])], [vi.Free("f", "world", "b")],
        forces=[vi.Contact("c", "b", "world", friction=2.0)], ground=[log],
    )  # fmt: skip
    for dt in (0.01, 0.005):
        run = vi.simulate(mechanism, 0.5, dt, state=mechanism.state())
        x, z = run.position[:, 0, 0], run.position[:, 0, 2]
        assert np.hypot(x, z) == pytest.approx(0.4, abs=1e-12)
        exact = solve_ivp(
            lambda t, y: [y[1], 2 / 3 * G / 0.4 * math.sin(y[0])], (0, 0.5), [start, 0], rtol=1e-11, atol=1e-12
        )
        off.append(math.atan2(x[-1], z[-1]) - exact.y[0, -1])
    assert abs(off[1]) < 1e-5
    assert off[0] / off[1] == pytest.approx(4.0, rel=0.1)


@pytest.mark.slow
def test_a_cylinder_does_not_touch_what_is_hollow():
    with pytest.raises(vi.MechanismError, match="'world': a CylinderShape touches nothing hollow"):
        run_on(vi.HollowSphereShape(1.0), 0.1)
