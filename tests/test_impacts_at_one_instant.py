"""Impacts beside closed rows of every other role, against closed forms: each of them may open, none pulls.

A chain along x: a wall, a block and a ball of one mass, with a row between wall and block and a row between block and
ball, each of any role. One of them is closed, the other is reached at SPEED.
"""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import varint as vi

SPEED, GAP, RADIUS, DT = 1.0, 2e-3, 0.1, 1e-3  # m/s, m, m, s
PRESS = 0.1  # N: changes a speed by less than NEAR up to the end
NEAR = 2e-3  # m/s
AWAY, INTO = -1.0, 1.0  # side of the ball: it pushes the block away from the wall, or into it
RESTITUTIONS = (0.0, 0.5, 1.0)


def at_wall(role, gap, e):
    """The row between wall and block, whose gap is ``gap``: a force, and shapes of the world."""
    if role == "joint stop":
        return vi.JointStop("wall", joint="slide", lower=-gap, upper=9.0, restitution=e), []
    if role == "length stop":
        lengths = {"point_a": (-2.0, 0, 0), "point_b": (0, 0, 0), "lower": 2.0 - gap, "upper": 9.0}
        return vi.LengthStop("wall", "world", "block", restitution=e, **lengths), []
    if role == "plane":
        plane = {"points": [(-RADIUS, 0, 0)], "ground": (-RADIUS - gap, 0, 0), "normal": (1, 0, 0)}
        return vi.HardContact("wall", "block", restitution=e, **plane), []
    if role == "rolling":
        contact = vi.Contact("wall", "block", "world", restitution=e, friction=0.3, rolling=0.01)
    else:
        contact = vi.Contact("wall", "block", "world", restitution=e)
    return contact, [vi.BoxShape((0.1, 1, 1), position=(-RADIUS - gap - 0.05, 0, 0))]


def at_ball(role, gap, e, side):
    """The row between block and ball, on whose ``side`` it is."""
    if role == "joint stop":
        bounds = {"lower": -gap, "upper": 9.0} if side > 0 else {"lower": -9.0, "upper": gap}
        return vi.JointStop("ball", joint="apart", restitution=e, **bounds)
    reach = 2 * RADIUS + gap
    if role == "length stop":
        lengths = {"point_a": (0, 0, 0), "point_b": (side * reach, 0, 0), "lower": 2 * RADIUS, "upper": 9.0}
        return vi.LengthStop("ball", "block", "ball", restitution=e, **lengths)
    return vi.Contact("ball", "block", "ball", restitution=e)


WALLS = ("joint stop", "length stop", "plane", "shapes", "rolling")
BALLS = ("joint stop", "length stop", "shapes")


def scene(wall, ball, closed, side, e, pressed):
    """A mechanism and its state: the row ``closed``, "wall" or "ball", is so; the other has restitution ``e``."""
    gaps = (0.0, GAP) if closed == "wall" else (GAP, 0.0)
    restitution = (0.0, e) if closed == "wall" else (e, 0.0)
    reach = side * (2 * RADIUS + gaps[1])
    bodies = [
        vi.Body.sphere("block", RADIUS, 1.0, position=(0, 0, 0), collision=True),
        vi.Body.sphere("ball", RADIUS, 1.0, position=(reach, 0, 0), collision=True),
    ]
    joints = [
        vi.Prismatic("slide", "world", "block", axis=(1, 0, 0)),
        vi.Prismatic("apart", "block", "ball", axis=(1, 0, 0)),
    ]
    row, ground = at_wall(wall, gaps[0], restitution[0])
    forces = [row, at_ball(ball, gaps[1], restitution[1], side)]
    if pressed:
        who, way = ("block", -1) if closed == "wall" else ("ball", -side)
        forces.append(vi.PointForce("press", who, direction=(way, 0, 0), magnitude=PRESS))
        if closed == "ball":
            forces.append(vi.PointForce("support", "block", direction=(-way, 0, 0), magnitude=PRESS))
    mechanism = vi.Mechanism("chain", bodies, joints, (0, 0, 0), forces=forces, ground=ground)
    speeds = (0.0, -side * SPEED) if closed == "wall" else (-SPEED, -SPEED)
    return mechanism, mechanism.state(rates={"slide": speeds[0], "apart": speeds[1] - speeds[0]})


def after(closed, side, e):
    """Speeds of block and ball after the impact."""
    if closed == "wall":
        return ((1 + e) / 2, (1 - e) / 2) if side == AWAY else (0.0, e)
    return (e, -1.0) if side == AWAY else (e, e)


def check(wall, ball, closed, side, e, pressed, simulate):
    mechanism, state = scene(wall, ball, closed, side, e, pressed)
    run = simulate(mechanism, 4 * DT, DT, state=state)
    assert np.abs(run.velocity[-1, :, 0] - SPEED * np.array(after(closed, side, e))).max() < NEAR, (closed, side, e)


def at_order(order):
    return lambda *args, **more: vi.simulate(*args, order=order, **more)


@pytest.mark.parametrize("ball", BALLS)
@pytest.mark.parametrize("wall", WALLS)
def test_an_impact_beside_a_closed_row(wall, ball):
    for closed, side, pressed in product(("wall", "ball"), (AWAY, INTO), (False, True)):
        check(wall, ball, closed, side, 0.5, pressed, at_order(2))


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("ball", BALLS)
@pytest.mark.parametrize("wall", WALLS)
def test_an_impact_beside_a_closed_row_in_all_methods(wall, ball):
    runs = [at_order(1), at_order(2)]
    if wall != "rolling":  # reduced coordinates have no rolling resistance
        runs.append(vi.redmax.simulate)
    if "stop" in wall and "stop" in ball:
        runs.append(at_order(4))
    for run, closed, side, pressed, e in product(runs, ("wall", "ball"), (AWAY, INTO), (False, True), RESTITUTIONS):
        check(wall, ball, closed, side, e, pressed, run)


@pytest.mark.slow
@pytest.mark.parametrize("ball", BALLS)
def test_an_impact_on_a_body_with_prescribed_motion(ball):
    """The block moves at 0.3 m/s whatever hits it, by an impulse that the drive exerts."""
    for side, e in product((AWAY, INTO), RESTITUTIONS):
        mechanism, _ = scene("joint stop", ball, "wall", side, e, False)
        drive = vi.PrescribedMotion("drive", joint="slide", rate=0.3)
        mechanism = replace(mechanism, forces=[drive, mechanism.forces[1]])
        state = mechanism.state(rates={"slide": 0.3, "apart": -side * SPEED})
        for run in (vi.simulate, vi.redmax.simulate):
            speeds = run(mechanism, 4 * DT, DT, state=state).velocity[-1, :, 0]
            assert np.abs(speeds - (0.3, 0.3 + side * e * SPEED)).max() < 1e-9


@pytest.mark.parametrize("wall", ["plane", "shapes"])
def test_no_energy_is_lost_where_what_rests_on_a_block_flies_on(wall):
    """The block, which a ball rests on by a length, comes back from the wall at full speed."""
    mechanism, state = scene(wall, "length stop", "ball", AWAY, 1.0, True)
    run = vi.simulate(mechanism, 6 * DT, DT, state=state)
    energy = run.energy
    assert np.abs(run.velocity[-1, :, 0] - (1.0, -1.0)).max() < NEAR
    assert energy == pytest.approx(energy[0], abs=1e-3)


BAR = {  # restitutions of the two stops below its ends -> speed, m/s, and spin, rad/s
    (0.0, 0.0): (0.0, 0.0),
    (0.5, 0.5): (0.5, 0.0),
    (1.0, 1.0): (1.0, 0.0),
    (0.5, 0.8): (0.65, -0.15),
}


@pytest.mark.parametrize("kind", ["stops", "contacts", "a stop and a contact"])
def test_a_bar_that_lands_on_both_ends_at_once(kind):
    """Each end goes back with its own restitution, whatever holds it."""
    ways = [("order 2", at_order(2)), ("reduced", vi.redmax.simulate)]
    if kind == "stops":
        ways.append(("order 4", at_order(4)))
    for (first, second), expected in BAR.items():
        bar = vi.Body.box("bar", (2, 0.1, 0.1), 3.0, position=(0, 0, 0))
        bar = replace(bar, inertia=np.diag([1.0, 1.0, 1.0]))
        forces = []
        for k, (x, e) in enumerate(((-1, first), (1, second))):
            if kind == "contacts" or (k == 1 and kind != "stops"):
                plane = {"points": [(x, 0, 0)], "ground": (0, 0, -0.0102)}
                forces.append(vi.HardContact(f"end {k}", "bar", restitution=e, **plane))
            else:
                lengths = {"point_a": (x, 0, -1), "point_b": (x, 0, 0), "lower": 1 - 0.0102, "upper": 9.0}
                forces.append(vi.LengthStop(f"end {k}", "world", "bar", restitution=e, **lengths))
        joint = vi.Planar("free", "world", "bar", axis=(0, 1, 0))
        mechanism = vi.Mechanism("bar", [bar], [joint], (0, 0, 0), forces=forces)
        state = replace(mechanism.state(), velocity=np.array([[0, 0, -1.0]]))
        for _, simulate in ways:
            run = simulate(mechanism, 0.0104, 1e-3 * 0.8, state=state)
            assert run.velocity[-1, 0, 2] == pytest.approx(expected[0], abs=1e-6)
            assert run.angular_velocity[-1, 0, 1] == pytest.approx(expected[1], abs=1e-6)


@pytest.mark.slow
def test_an_impact_of_two_stops_at_once_has_no_derivative():
    """One that is a little earlier than the other would lead elsewhere."""
    bar = vi.Body.box("bar", (2, 0.1, 0.1), 3.0, position=(0, 0, 0))
    lengths = {"lower": 0.99, "upper": 9.0, "restitution": 0.5}
    stops = [vi.LengthStop(f"s{x}", "world", "bar", point_a=(x, 0, -1), point_b=(x, 0, 0), **lengths) for x in (-1, 1)]
    mechanism = vi.Mechanism("bar", [bar], [vi.Planar("free", "world", "bar", axis=(0, 1, 0))], forces=stops)

    def height(state):
        return state.position[0, 2]

    with pytest.raises(vi.ArgumentError, match="at the very instant of another impact"):
        vi.gradient(mechanism, height, 0.101, 0.0101, with_respect_to=["start"])


@pytest.mark.parametrize("simulate", [vi.simulate, vi.redmax.simulate])
@pytest.mark.parametrize("turn", [0.7, 2.0])
def test_angles_and_lengths_at_once_in_any_unit(turn, simulate):
    """A cart and the arm on it hit their stops at once: the faster one is first, whatever the unit of length."""

    def rates_in(unit):
        cart = vi.Body.box("cart", (unit, unit, unit), 1.0)
        arm = vi.Body.box("arm", (0.2 * unit, 0.2 * unit, unit), 1.0, position=(0, 0, -0.5 * unit))
        joints = [
            vi.Prismatic("slide", "world", "cart", axis=(1, 0, 0)),
            vi.Revolute("hinge", "cart", "arm", axis=(0, 1, 0), point=(0, 0, 0)),
        ]
        stops = [
            vi.JointStop("end", joint="slide", lower=-9 * unit, upper=0.0, restitution=1.0),
            vi.JointStop("block", joint="hinge", lower=-3.0, upper=0.0, restitution=1.0),
        ]
        mechanism = vi.Mechanism("cart", [cart, arm], joints, (0, 0, 0), forces=stops)
        start = mechanism.state(rates={"slide": unit, "hinge": turn})
        run = simulate(mechanism, 2 * DT, DT, state=start)
        return run.rates["slide"][-1] / unit, run.rates["hinge"][-1]

    assert rates_in(1.0) == pytest.approx(rates_in(0.05), abs=1e-9)
    assert rates_in(1.0) == pytest.approx(rates_in(4.0), abs=1e-9)


@pytest.mark.parametrize("simulate", [vi.simulate, vi.redmax.simulate])
def test_a_long_row_of_balls_hands_all_its_speeds_on(simulate):
    """Of 26 touching balls each is faster than the next: after 325 impacts at one instant their order is reversed."""
    n = 26
    balls = [vi.Body.sphere(f"b{i}", RADIUS, 1.0, position=(2 * RADIUS * i, 0, 0), collision=True) for i in range(n)]
    joints = [vi.Prismatic(f"p{i}", "world", f"b{i}", axis=(1, 0, 0)) for i in range(n)]
    contacts = [vi.Contact(f"c{i}", f"b{i}", f"b{i + 1}", restitution=1.0) for i in range(n - 1)]
    mechanism = vi.Mechanism("row", balls, joints, (0, 0, 0), forces=contacts)
    speeds = [0.1 * (n - i) ** 1.3 for i in range(n)]
    run = simulate(mechanism, 0.02, 0.01, state=mechanism.state(rates={f"p{i}": v for i, v in enumerate(speeds)}))
    assert run.velocity[-1, :, 0] == pytest.approx(speeds[::-1], abs=1e-12)


@pytest.mark.parametrize("simulate", [vi.simulate, vi.redmax.simulate])
@pytest.mark.parametrize("e", [0.0, 0.5])
def test_a_motion_into_a_stop_names_the_stop(e, simulate):
    """The motion forbids the rebound."""
    arm = vi.Body.box("arm", (0.6, 0.1, 0.1), 1.0, position=(0.3, 0, 0))
    joint = vi.Revolute("j", "world", "arm", axis=(0, 0, 1), point=(0, 0, 0))
    forces = [
        vi.JointStop("s", joint="j", lower=-9.0, upper=0.05, restitution=e),
        vi.PrescribedMotion("d", joint="j", rate=1.0),
    ]
    with pytest.raises(vi.ConvergenceError, match="'s'"):
        simulate(vi.Mechanism("driven", [arm], [joint], (0, 0, 0), forces=forces), 0.1, 0.01)
