"""Blows on boxes whose faces rest on each other, with restitution and friction: energy, mirror images, overlaps."""

import itertools

import numpy as np
import pytest

import varint as vi

pytestmark = pytest.mark.filterwarnings("error::varint.UnresolvedWarning")
EDGE = 0.2  # m, of cubes of 1 kg


def struck(cubes, restitution, friction=0.5, speed=3.0, height=0.1):
    """Cubes on one another, hit by a ball of 3 kg from the left; the scene is its own image in the plane y = 0."""
    bodies = [
        vi.Body.box(f"b{k}", (EDGE,) * 3, 1.0, position=(0, 0, EDGE * (k + 0.5)), collision=True) for k in range(cubes)
    ]
    bodies.append(vi.Body.sphere("ball", 0.1, 3.0, position=(-0.6, 0, height), collision=True))
    law = {"bodies": "all", "friction": friction, "restitution": restitution}
    mechanism = vi.Mechanism(
        "struck",
        bodies,
        [vi.Free(f"free {body.name}", "world", body.name) for body in bodies],
        forces=[vi.ContactPairs("contacts", **law)],
        ground=(vi.PlaneShape(),),
    )
    return mechanism, mechanism.state(velocity={"ball": (speed, 0, 0)})


def sideways(run):
    """Return the largest velocity, m/s or rad/s, that a scene with the mirror plane y = 0 does not have."""
    return max(np.abs(run.velocity[:, :, 1]).max(), np.abs(run.angular_velocity[:, :, [0, 2]]).max())


@pytest.mark.slow
@pytest.mark.parametrize(("cubes", "restitution"), [(1, 0.1), (2, 0.1), (2, 0.0), (3, 0.1)])
def test_a_central_blow_keeps_its_plane_and_all_energy_is_accounted_for(cubes, restitution):
    mechanism, start = struck(cubes, restitution)
    for dt in (0.004, 0.002):
        run = vi.simulate(mechanism, 0.6, dt, state=start)
        assert sideways(run) < 1e-8
        assert np.ptp(run.energy_balance) < 60.0 * dt**2  # J of 20, second order
        assert np.diff(run.energy).max() < 1e-6
        assert run.dissipated["contacts"][-1] > 10.0


@pytest.mark.slow
def test_energy_of_other_blows_is_accounted_for():
    """Where faces turn over their edges, which round-off decides after some impacts."""
    for restitution, height in itertools.product((0.1, 0.5, 1.0), (0.1, 0.2)):
        mechanism, start = struck(2, restitution, height=height)
        run = vi.simulate(mechanism, 0.6, 0.002, state=start)
        assert np.ptp(run.energy_balance) < 0.01, (restitution, height)  # J of 20


@pytest.mark.slow
def test_bodies_that_jam_do_the_work_that_stops_them():
    """A tower that friction of 1 catches at the start: an impulse in the first step stops its foot."""
    cubes = [  # size, m, mass, kg, centre along x, m, speed, m/s
        ((0.2947, 0.1474, 0.2294), 1.333, -0.0261, 0.03),
        ((0.1805, 0.1532, 0.2973), 0.993, -0.0062, 1.2),
        ((0.125, 0.1223, 0.2969), 1.838, 0.0047, 0.84),
    ]
    heights = np.cumsum([size[2] for size, *_ in cubes])
    bodies = [
        vi.Body.box(f"b{k}", size, mass, position=(x, 0, top - size[2] / 2), collision=True)
        for k, ((size, mass, x, _), top) in enumerate(zip(cubes, heights, strict=True))
    ]
    pairs = vi.ContactPairs("contacts", bodies="all", friction=1.0, restitution=0.5)
    frees = [vi.Free(f"free {body.name}", "world", body.name) for body in bodies]
    tower = vi.Mechanism("tower", bodies, frees, forces=[pairs], ground=(vi.PlaneShape(),))
    start = tower.state(velocity={f"b{k}": (speed, 0, 0) for k, (*_, speed) in enumerate(cubes)})
    run = vi.simulate(tower, 0.1, 0.002, state=start)
    assert run.energy[0] - run.energy[1] > 0.3  # J
    assert np.ptp(run.energy_balance) < 0.01


@pytest.mark.slow
def test_a_part_of_a_step_that_ends_in_an_impact_overlooks_no_features():
    """Cubes of a stack that is hit crossed edges by 3e-6 m where the same part of a step ended in another impact."""
    rng = np.random.default_rng(13)
    bodies = [
        vi.Body.box(f"b{k}", (EDGE,) * 3, 1.0, position=(0, 0, EDGE * (k + 0.5)), collision=True) for k in range(5)
    ]
    aside = rng.uniform(-0.05, 0.05)
    bodies.append(vi.Body.sphere("ball", 0.15, 3.0, position=(-0.6, aside, 0.15), collision=True))
    pairs = vi.ContactPairs(
        "contacts", bodies="all", friction=rng.uniform(0.2, 0.8), restitution=rng.choice([0.0, 0.0, 0.3])
    )
    frees = [vi.Free(f"free {body.name}", "world", body.name) for body in bodies]
    stack = vi.Mechanism("stack", bodies, frees, forces=[pairs], ground=(vi.PlaneShape(),))
    speed = rng.uniform(2.0, 4.0)
    start = stack.state(velocity={"ball": (speed, 0, 0)}, angular_velocity={"ball": (0, speed / 0.15, 0)})
    run = vi.simulate(stack, 0.2, 0.005, state=start)
    assert run.largest_penetration.max() < 1e-10
    assert np.array_equal(run.largest_penetration, run.penetration["contacts"])


def test_the_largest_penetration_is_that_of_all_contacts():
    ball = vi.Body.sphere("ball", 0.1, 1.0, position=(0, 0, 0.1 - 2e-10), collision=True)
    floor = vi.HardContact("floor", "ball", points=[(0, 0, 0.1 - 2e-10)], radius=0.1 + 1e-10)
    free, plane = vi.Free("free", "world", "ball"), vi.PlaneShape()
    contacts = [vi.Contact("ground", "ball", "world"), floor]
    run = vi.simulate(vi.Mechanism("ball", [ball], [free], forces=contacts, ground=(plane,)), 0.01, 0.01)
    assert run.penetration["ground"][0] == pytest.approx(2e-10, rel=1e-5)
    assert run.largest_penetration[0] == pytest.approx(3e-10, rel=1e-5)
    none = vi.simulate(vi.mechanisms.n_pendulum(), 0.02, 0.01)
    assert np.array_equal(none.largest_penetration, np.zeros(3))
