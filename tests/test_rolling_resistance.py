"""Rolling resistance of contacts, against closed forms."""

import math
from dataclasses import replace

import numpy as np
import pytest
from contact_scenes import free_scene

import varint as vi

G, R, B = 9.81, 0.05, 0.004  # m/s^2, m, m
BRAKE = 5 / 7 * B / R * G  # m/s^2, of a ball that rolls on a level plane


def ball(position=(0, 0, R), **shape):
    return vi.Body.sphere("ball", R, 1.0, position=position, collision=True, **shape)


def rolls(dt, duration, speed, friction=0.5, normal=(0, 0, 1)):
    """A ball that begins to roll along x without slip."""
    position = R * np.array(normal)
    mechanism = vi.Mechanism(
        "rolls", [ball(position)], [vi.Free("free", "world", "ball")],
        forces=[vi.Contact("floor", "ball", "world", friction=friction, rolling=B)],
        ground=[vi.PlaneShape(normal=normal)],
    )  # fmt: skip
    state = mechanism.state(velocity={"ball": (speed, 0, 0)}, angular_velocity={"ball": (0, speed / R, 0)})
    return vi.simulate(mechanism, duration, dt, state=state)


@pytest.mark.slow
def test_a_ball_rolls_to_rest():
    """5/7 (b / r) g, whatever the friction; it stays where it stops; the path is of order 2."""
    errors = []
    for dt in (0.02, 0.01, 0.005):
        run = rolls(dt, 0.2, 1.0)
        assert run.velocity[:, 0, 0] == pytest.approx(1.0 - BRAKE * run.t, abs=1e-12)
        assert run.contact_force["floor"][5] == pytest.approx([-BRAKE, 0, G], abs=1e-9)
        assert np.diff(run.energy).max() < 0.0
        errors.append(run.position[-1, 0, 0] - (0.2 - 0.5 * BRAKE * 0.2**2))
    assert np.log2(np.abs(np.divide(errors[:-1], errors[1:]))) == pytest.approx(2.0, abs=0.05)
    run = rolls(0.01, 0.4, 0.05)
    rest = run.t > 0.05 / BRAKE + 0.01
    assert run.position[rest, 0, 0] == pytest.approx(0.05**2 / (2 * BRAKE), rel=1e-3)
    assert np.ptp(run.position[rest, 0, 0]) < 1e-15
    assert len(run.contacts.at(3)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.999, 1.05])
def test_a_ball_on_an_incline(share):
    """It rests up to tan = b / r, without creep, and rolls beyond it."""
    angle = math.atan(share * B / R)
    normal = np.array([math.sin(angle), 0, math.cos(angle)])
    run = rolls(0.01, 0.5, 0.0, normal=normal)
    way = (run.position[-1, 0] - run.position[0, 0]) @ [math.cos(angle), 0, -math.sin(angle)]
    if share < 1.0:
        assert abs(way) < 1e-15
    else:
        pull = 5 / 7 * G * (math.sin(angle) - B / R * math.cos(angle))
        assert way == pytest.approx(0.5 * pull * 0.5**2, rel=1e-6)


@pytest.mark.slow
def test_a_ball_on_a_plank_that_slides():
    """Momentum stays, and no slip: with a, A the accelerations of ball and plank, m a + M A = 0 and
    7/5 m a = -b/r m g + 2/5 m A."""
    plank = vi.Body.box("plank", (2, 0.4, 0.1), 3.0, position=(0, 0, 0.05), collision=True)
    mechanism = vi.Mechanism(
        "plank", [ball((0, 0, 0.1 + R)), plank],
        [vi.Free("free", "world", "ball"), vi.Prismatic("guide", "world", "plank", axis=(1, 0, 0))],
        forces=[vi.Contact("contact", "ball", "plank", friction=0.5, rolling=B)],
    )  # fmt: skip
    state = mechanism.state(velocity={"ball": (1, 0, 0)}, angular_velocity={"ball": (0, 1 / R, 0)})
    run = vi.simulate(mechanism, 0.2, 0.01, state=state)
    pull = -B / R * G / (7 / 5 + 2 / 5 / 3)
    assert run.velocity[:, 0, 0] == pytest.approx(1.0 + pull * run.t, abs=1e-12)
    assert run.velocity[:, 1, 0] == pytest.approx(-pull / 3 * run.t, abs=1e-12)
    assert np.diff(run.energy).max() < 0.0


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(6), 35, 79, 137, 168])
def test_thrown_balls_and_capsules_gain_no_energy(seed):
    """Rebounds with friction and rolling resistance, of bodies with each other and with the ground."""
    rng = np.random.default_rng(seed)
    line = ((-0.06, 0, 0), (0.06, 0, 0))
    rod = vi.Body("rod", mass=0.5, inertia=np.diag([2e-4, 9e-4, 9e-4]), position=(0.3, 0, 0.2))
    bodies = [ball((0, 0, 0.12)), replace(rod, collision=[vi.CapsuleShape(*line, 0.04)])]
    names = [body.name for body in bodies]
    law = {"friction": rng.uniform(0, 1), "restitution": rng.uniform(0, 0.9), "rolling": rng.uniform(0, 0.02)}
    contacts = [
        vi.ContactPairs("pairs", bodies=names, **law),
        vi.ContactPairs("floor", bodies=names, others=["world"], **law),
    ]
    mechanism = free_scene("thrown", bodies, contacts)
    velocity, spin = rng.standard_normal((2, 2, 3))
    velocity[0, 0] += 2.0
    start = replace(mechanism.state(), velocity=velocity, angular_velocity=9 * spin)
    run = vi.simulate(mechanism, 1.0, 0.005, state=start, on_unresolved="ignore")  # spins of 0.2 rad a step
    scale = run.energy[0]
    assert run.energy[-1] < run.energy[0]
    assert (run.energy - np.minimum.accumulate(run.energy)).max() < 2e-3 * scale
    assert max(depth.max() for depth in run.penetration.values()) < 1e-9


def falling_rod(rolling):
    """A rod with small balls at its ends, which slides on one of them, falls on the other and slides on."""
    half, radius, angle = 0.5, 0.01, 0.5
    turn = (math.cos(angle / 2), 0, math.sin(angle / 2), 0)
    place, ends = (0, 0, radius + half * math.cos(angle)), [vi.SphereShape(radius, (0, 0, z)) for z in (-half, half)]
    inertia = np.diag([half**2 / 3, half**2 / 3, 1e-3])
    rod = vi.Body("rod", mass=1.0, inertia=inertia, position=place, quat_wxyz=turn, collision=ends)
    mechanism = free_scene("rod", [rod], [vi.Contact("floor", "rod", "world", friction=0.3, rolling=rolling)])
    return vi.simulate(mechanism, 1.0, 5e-3, state=mechanism.state(velocity={"rod": (0.3, 0.1, 0)}))


def test_it_takes_no_more_iterations_than_friction():
    """Also far from the centre of mass, where the contact moves much more easily than by r of its ball."""
    free, slow = falling_rod(0.0), falling_rod(1e-3)
    assert slow.newton_iterations < 1.2 * free.newton_iterations
    assert 5e-4 < np.linalg.norm(slow.position[-1, 0] - free.position[-1, 0]) < 5e-3


def test_gradients_refuse_it():
    mechanism = vi.Mechanism(
        "rolls", [ball()], [vi.Free("free", "world", "ball")],
        forces=[vi.Contact("floor", "ball", "world", rolling=B)], ground=[vi.PlaneShape()],
    )  # fmt: skip
    with pytest.raises(vi.ArgumentError, match="contact 'floor' has rolling resistance"):
        vi.gradient(mechanism, lambda state: float(state.position[0, 0]), 0.1, 0.01, with_respect_to=["gravity"])
