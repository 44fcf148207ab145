"""Hard contacts with planes in the variational integrator, against closed forms and a reference of high accuracy."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import varint as vi
from varint.model.rotation_vectors import rotation_matrix

G = 9.81


def free(body, contact, gravity=(0.0, 0.0, -G)):
    return vi.Mechanism("one", [body], [vi.Free("joint", "world", body.name)], forces=[contact], gravity=gravity)


def moving(mechanism, velocity=(0, 0, 0), spin=(0, 0, 0)):
    state = mechanism.state()
    return replace(state, velocity=np.array([velocity], float), angular_velocity=np.array([spin], float))


def ball(radius, height, gravity=(0.0, 0.0, -G), **contact):
    body = vi.Body.sphere("ball", radius, 1.0, position=(0, 0, height))
    return free(body, vi.HardContact("floor", "ball", radius=radius, **contact), gravity)


def turn(vector):
    """(w, x, y, z) of the rotation vector."""
    angle = np.linalg.norm(vector)
    return np.append(math.cos(angle / 2), np.array(vector) / angle * math.sin(angle / 2)) if angle else np.eye(4)[0]


def box(size, position, vector=(0, 0, 0), mass=1.0, gravity=(0.0, 0.0, -G), levels=(-1, 1), **contact):
    """A box that touches with the corners at ``levels`` along its z axis."""
    half, x, R = np.array(size) / 2, np.array(position, float), rotation_matrix(turn(vector))
    corners = [x + R @ (half * (i, j, k)) for i in (-1, 1) for j in (-1, 1) for k in levels]
    body = vi.Body.box("box", size, mass, position=x, quat_wxyz=turn(vector))
    return free(body, vi.HardContact("floor", "box", points=corners, **contact), gravity)


@pytest.mark.parametrize(("dt", "error"), [(0.01, 3.1e-5), (0.001, 3.1e-7)])
def test_a_sliding_cube_stops(dt, error):
    """After v^2 / (2 mu g), and it never rises."""
    mechanism = box((1, 1, 1), (-1.5, -0.5, 0.5), levels=(-1,), friction=0.25)
    run = vi.simulate(mechanism, 2.0, dt, state=moving(mechanism, (4, 0.8, 0)))
    assert run.position[-1, 0, :2] == pytest.approx([1.8265774602, 0.1653154921], abs=error)
    assert np.abs(run.position[:, 0, 2] - 0.5).max() < 1e-12
    assert run.penetration["floor"].max() < 1e-12
    assert run.velocity[-1, 0] == pytest.approx([0, 0, 0], abs=1e-12)
    assert run.force["floor"] == pytest.approx(G, abs=1e-9)
    sliding = run.t < 1.6
    along = np.array([4, 0.8, 0]) / math.hypot(4, 0.8)
    assert run.contact_force["floor"][sliding] @ along == pytest.approx(-0.25 * G, abs=1e-8)
    assert np.abs(run.energy_balance).max() < 0.8 * dt**2
    assert run.work[-1, 0] == pytest.approx(-0.5 * 16.64, abs=dt**2)
    assert run.newton_iterations < 1.3 * run.steps


@pytest.mark.parametrize("tilted", [False, True])
@pytest.mark.parametrize(("factor", "duration", "moved"), [(1 - 1e-6, 10.0, 0.0), (1 + 1e-3, 2.0, 8.77257552694e-3)])
def test_a_cube_on_an_incline_sticks_or_slides(tilted, factor, duration, moved):
    """Sticking does not creep: the plane is at the angle of friction but for 1e-6 of it."""
    angle = math.atan(0.5 * factor)
    down = (math.sin(angle), 0, -math.cos(angle))
    if tilted:
        normal = np.array([-math.sin(angle), 0, math.cos(angle)])
        mechanism = box((1, 1, 1), 0.5 * normal, (0, -angle, 0), levels=(-1,), normal=normal, friction=0.5)
    else:
        mechanism = box((1, 1, 1), (0, 0, 0.5), gravity=G * np.array(down), levels=(-1,), friction=0.5)
    run = vi.simulate(mechanism, duration, 0.01)
    assert np.linalg.norm(run.position[-1, 0] - run.position[0, 0]) == pytest.approx(moved, abs=1e-11)


def test_a_ball_with_backspin_comes_to_roll():
    """Of order 2: the instant where it begins to roll is not located."""
    mechanism = ball(0.05, 0.05, friction=0.3)
    errors = []
    for dt in (0.01, 0.001):
        state = moving(mechanism, (1.5, 0, 0), (0, -2 * math.pi, 0))
        run = vi.simulate(mechanism, 1.0, dt, state=state, on_unresolved="ignore")  # 10 ms turn it 0.6 % too far
        errors.append(abs(run.position[-1, 0, 0] - 1.02731391))
        assert run.velocity[-1, 0, 0] == pytest.approx(0.98166878, abs=1e-8)
        assert run.angular_velocity[-1, 0, 1] == pytest.approx(run.velocity[-1, 0, 0] / 0.05, rel=1e-9)
    assert errors[1] < 2e-5
    assert errors[0] / errors[1] > 80


def rod(friction, angle, tip_speed=0.0):
    """A rod on its lower tip, tilted by ``angle`` from the vertical towards x."""
    centre = 0.5 * np.array([math.sin(angle), 0, math.cos(angle)])
    inertia = np.diag([1 / 12, 1 / 12, 1e-4])
    body = vi.Body("rod", mass=1.0, inertia=inertia, position=centre, quat_wxyz=turn((0, angle, 0)))
    mechanism = free(body, vi.HardContact("floor", "rod", points=[(0, 0, 0)], friction=friction))
    return mechanism, moving(mechanism, (tip_speed, 0, 0))


@pytest.mark.parametrize(("friction", "force"), [(1.0, 2.5), (1.3, 25.0)])
def test_the_force_of_a_sliding_rod(friction, force):
    """1 / (1.6 - 1.2 mu) of its weight, near the paradox of Painleve."""
    mechanism, state = rod(friction, math.radians(90 - 63.43494882), -1.0)
    run = vi.simulate(mechanism, 1e-3, 1e-4, state=state)
    assert run.force["floor"][0] / G == pytest.approx(force, rel=1e-4)


def test_a_rod_that_is_caught_in_sliding():
    """In the region of the paradox the tip stops at once, by an impulse."""
    mechanism, state = rod(2.0, math.radians(90 - 63.43494882), -1.0)
    run = vi.simulate(mechanism, 1e-3, 1e-4, state=state)
    assert run.work[-1, 0] == pytest.approx(-0.2, abs=1e-9)
    assert run.velocity[1, 0] == pytest.approx([-0.6, 0, 0.3], abs=5e-4)


def test_a_rod_turns_about_a_tip_that_sticks():
    mechanism, state = rod(2.0, 0.1)
    errors = []
    for dt in (0.01, 0.005):
        run = vi.simulate(mechanism, 0.7, dt, state=state)
        R = rotation_matrix(run.quat_wxyz[:, 0])
        assert np.abs(run.position[:, 0] - 0.5 * R[:, :, 2]).max() < 1e-11
        errors.append(np.abs(run.energy_balance).max())
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


def test_a_block_that_lands_on_its_other_edge():
    """Housner: the spin falls to 1 - 1.5 sin^2 a of itself, tan a = 1/2."""
    mechanism = box((1, 1, 2), (0, 0, 1), gravity=(0, 0, 0), levels=(-1,), friction=10.0)
    state = moving(mechanism, np.cross((0, -1, 0), (-0.5, 0, 1)), (0, -1, 0))
    run = vi.simulate(mechanism, 0.002, 1e-3, state=state)
    assert run.angular_velocity[1, 0] == pytest.approx([0, -0.7, 0], abs=1e-12)


@pytest.mark.parametrize("dt", [0.01, 0.001])
def test_a_ball_bounces_and_comes_to_rest(dt):
    mechanism = ball(0.05, 1.05, restitution=0.9)
    run = vi.simulate(mechanism, 9.0, dt)
    height = run.position[:, 0, 2] - 0.05
    assert height[-1] == pytest.approx(0.0, abs=1.1e-11)
    assert 8.54 < run.t[height > 1e-9][-1] < 8.5789491787
    assert run.penetration["floor"].max() < 1.1e-11
    hit = 0.4515236410
    before = run.t[run.t < hit][-1]
    k = np.searchsorted(run.t, before)
    assert height[k] == pytest.approx(1 - 0.5 * G * before**2, abs=1e-12)
    second = run.t[(run.t > hit) & (run.t < 1.2)]  # before it lands again
    fall, rise = second - hit, 0.9 * math.sqrt(2 * G)
    own = height[(run.t > hit) & (run.t < 1.2)]
    assert own == pytest.approx(rise * fall - 0.5 * G * fall**2, abs=1e-9)


# case 9: a disc on three feet, DOP853 to 1e-13
def disc():
    angle = 0.3 + np.radians(120 * np.arange(3))
    feet = 0.3 * np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    body = vi.Body("disc", mass=1.0, inertia=0.09 * np.diag([0.25, 0.25, 0.5]), position=(0, 0, 0.05))
    mechanism = free(body, vi.HardContact("floor", "disc", points=feet, friction=0.3))
    return mechanism, moving(mechanism, (2, 0, 0), (0, 0, 20))


def test_a_spinning_disc_is_of_second_order():
    mechanism, state = disc()
    errors = []
    for dt in (0.01, 0.005, 0.0025):
        run = vi.simulate(mechanism, 0.3, dt, state=state)
        w, _, _, z = run.quat_wxyz[-1, 0]
        yaw = 2 * math.atan2(z, w) % (2 * math.pi)
        assert run.penetration["floor"].max() < 1e-13
        errors.append([np.linalg.norm(run.position[-1, 0, :2] - [0.575414347, -0.001592112]), abs(yaw - 5.14717567)])
    assert errors[1][0] < 6e-5
    assert errors[1][1] < 6.6e-3
    for coarse, fine in itertools.pairwise(errors):
        assert np.log2(np.divide(coarse, fine)) == pytest.approx(2.0, abs=0.07)


@pytest.mark.parametrize("height", [2.9, 2.95, 3.0])
def test_an_elastic_ball_without_gravity(height):
    """The heights at the start and at the end add up to 6."""
    mechanism = ball(0.5, height, gravity=(0, 0, 0), restitution=1.0)
    run = vi.simulate(mechanism, 1.0, 0.01, state=moving(mechanism, (0, 0, -5)))
    assert height + run.position[-1, 0, 2] == pytest.approx(6.0, abs=1e-12)


@pytest.mark.parametrize(
    ("friction", "speed", "spin"), [(0.2, 2.28, 8.0), (0.6, 1.8571428571428572, 18.571428571428573)]
)
def test_an_oblique_impact_of_a_spinning_ball(friction, speed, spin):
    """It slides through the impact, or grips; the closed form."""
    mechanism = ball(0.1, 0.3, gravity=(0, 0, 0), friction=friction, restitution=0.8)
    run = vi.simulate(mechanism, 0.2, 0.01, state=moving(mechanism, (3, 0, -2), (0, -10, 0)))
    assert run.velocity[-1, 0] == pytest.approx([speed, 0, 1.6], abs=1e-12)
    assert run.angular_velocity[-1, 0] == pytest.approx([0, spin, 0], abs=1e-11)


def test_a_tumbling_elastic_box_keeps_its_energy():
    vector = 0.5 * np.array([3, 1, 2]) / math.sqrt(14)
    mechanism = box((0.8, 0.5, 0.3), (0, 0, 1.2), vector, mass=2.0, restitution=1.0)
    run = vi.simulate(mechanism, 12.0, 0.01, state=moving(mechanism, (-0.2, 0.3, 0), (0.5, -1, 2)))
    assert np.abs(run.energy / run.energy[0] - 1).max() < 1e-8
    assert run.penetration["floor"].max() < 1.1e-11
    assert np.abs(run.work).max() < 1e-9
    assert run.angular_velocity[-1, 0] != pytest.approx(run.angular_velocity[0, 0], abs=0.1)  # it was hit


@pytest.mark.slow
def test_a_rebound_with_friction_brings_no_energy_in():
    """Newton's restitution may gain energy with friction: it is lowered until it does not."""
    rng = np.random.default_rng(3)
    lowered = 0
    for _ in range(60):
        vector, velocity, spin = 1.5 * rng.standard_normal((3, 3))
        mechanism = box((0.8, 0.5, 0.3), (0, 0, 1.0), vector, gravity=(0, 0, 0), friction=1.5, restitution=0.95)
        velocity[2] = -abs(velocity[2]) - 0.5
        run = vi.simulate(mechanism, 0.6, 0.02, state=moving(mechanism, velocity, spin), on_unresolved="ignore")
        gain = np.diff(run.energy)
        assert gain.max() < 1e-9 * run.energy[0]
        lowered += run.energy[-1] < (1 - 1e-6) * run.energy[0]
    assert lowered > 10


def test_a_contact_that_never_touches_changes_nothing():
    arm = vi.Body.box("arm", (0.1, 0.1, 1.0), 1.0, position=(0, 0, -0.5))
    hinge = vi.Revolute("hinge", "world", "arm", point=(0, 0, 0), axis=(0, 1, 0))
    floor = vi.HardContact("floor", "arm", points=[(0, 0, -1)], ground=(0, 0, -3), friction=0.5)
    runs = []
    for forces in ([], [floor]):
        mechanism = vi.Mechanism("arm", [arm], [hinge], forces=forces)
        runs.append(vi.simulate(mechanism, 1.0, 0.01, state=mechanism.state(coordinates={"hinge": 1.0})))
    assert np.abs(runs[0].position - runs[1].position).max() < 1e-12
    assert not runs[1].contact_force["floor"].any()
    assert not runs[1].penetration["floor"].any()


def test_a_pendulum_of_two_links_falls_on_the_floor():
    """With joints: it comes to rest, and the reactions are those of the floor and the pin."""
    upper = vi.Body.box("upper", (0.05, 0.05, 1.0), 1.0, position=(0, 0, -0.5))
    lower = vi.Body.box("lower", (0.05, 0.05, 1.0), 1.0, position=(0, 0, -1.5))
    pin = vi.Revolute("pin", "world", "upper", point=(0, 0, 0), axis=(0, 1, 0))
    knee = vi.Revolute("knee", "upper", "lower", point=(0, 0, -1), axis=(0, 1, 0))
    floor = vi.HardContact("floor", "lower", points=[(0, 0, -2)], ground=(0, 0, -1.2), friction=0.8, restitution=0.3)
    mechanism = vi.Mechanism("two links", [upper, lower], [pin, knee], forces=[floor])
    state = mechanism.state(coordinates={"pin": 0.9, "knee": -2.0})
    run = vi.simulate(mechanism, 3.0, 0.005, state=state)
    assert run.penetration["floor"].max() < 1e-10
    assert run.drift.max() < 1e-10
    assert np.diff(run.energy).max() < 1e-3  # of some J: nothing but gravity, friction and impacts
    assert run.energy[-1] < run.energy[0]


@pytest.mark.slow
def test_a_run_goes_on_to_the_same_bits(tmp_path):
    """From a node where it slides, and between two impacts."""
    bouncing = box((0.8, 0.5, 0.3), (0, 0, 0.5), (0.3, 0.2, 0.1), friction=0.3, restitution=0.5)
    for mechanism, state in (disc(), (bouncing, moving(bouncing, (1, 0, 0)))):
        path = tmp_path / f"{mechanism.bodies[0].name}.h5"
        whole = vi.simulate(mechanism, 0.6, 0.005, state=state)
        vi.simulate(mechanism, 0.25, 0.005, state=state, output=path)
        rest = vi.simulate(mechanism, 0.6, 0.005, state=state, output=path, resume=True)
        for name in ("position", "quat_wxyz", "velocity", "angular_velocity", "work"):
            assert np.array_equal(getattr(rest, name), getattr(whole, name))


def test_a_start_below_the_plane_is_refused():
    with pytest.raises(vi.StateError, match=r"hardcontact 'floor' starts 0\.01 m below its plane"):
        vi.simulate(ball(0.1, 0.09), 0.1, 0.01)


def test_composed_and_adaptive_steps_refuse():
    mechanism = ball(0.1, 0.5)
    for options in ({"order": 4}, {"adaptive": True}):
        with pytest.raises(vi.ArgumentError, match="hardcontact 'floor' is a hard contact"):
            vi.simulate(mechanism, 0.1, 0.01, **options)


@pytest.mark.parametrize("points", [3, 4])
@pytest.mark.parametrize("friction", [0.3, 0.5, 0.9])
def test_bodies_come_to_rest(points, friction):
    """From many speeds, tipping on their way or not: then they neither move nor are rubbed."""
    corners = [(-0.05, -0.05, 0), (0.05, -0.05, 0), (0, 0.05, 0), (0.05, 0.05, 0)][:points]
    if points == 4:
        corners[2] = (-0.05, 0.05, 0)
    body = vi.Body.box("box", (0.1, 0.1, 0.1), 1.0, position=(0, 0, 0.05))
    mechanism = free(body, vi.HardContact("floor", "box", points=corners, friction=friction))
    for speed in np.linspace(0.3, 3.5, 9):
        state = moving(mechanism, (speed, 0.3 * speed, 0), (0, 0, speed))
        run = vi.simulate(mechanism, 1.6, 0.002, state=state, on_unresolved="ignore")  # where it tips over at first
        assert np.abs(run.velocity[-50:]).max() < 1e-12
        assert np.abs(np.diff(run.position[-50:], axis=0)).max() < 1e-14
        assert run.contact_force["floor"][-50:] == pytest.approx(np.tile([0, 0, G], (50, 1)), abs=1e-9)
        assert run.penetration["floor"].max() < 1e-10


def lying_chain(n, start):
    """A chain of ``n`` links of 0.2 m along x from ``start``, m, on four points each."""
    feet = np.array([(a, b, -0.025) for a in (-0.09, 0.09) for b in (-0.025, 0.025)])
    places = [np.array([start + 0.2 * i, 0.0, 0.025]) for i in range(n)]
    bodies = [vi.Body.box(f"b{i}", (0.2, 0.05, 0.05), 0.1, position=x) for i, x in enumerate(places)]
    joints = [vi.Free("free", "world", "b0")]
    joints += [vi.Spherical(f"j{i}", f"b{i - 1}", f"b{i}", point=places[i] - (0.1, 0, 0)) for i in range(1, n)]
    forces = [vi.HardContact(f"f{i}", f"b{i}", points=x + feet, friction=0.5) for i, x in enumerate(places)]
    return vi.Mechanism("chain", bodies, joints, forces=forces)


@pytest.mark.slow
def test_an_even_slide_of_a_chain_takes_hardly_any_iterations():
    """Far from the origin too, where positions are rounded by 1e-11 m/s over a step."""
    chain = lying_chain(6, 20.0)
    state = chain.state()
    along = np.array([0.96, 0.28, 0.0])
    run = vi.simulate(chain, 0.8, 1e-3, state=replace(state, velocity=state.velocity + 30.0 * along))
    assert run.newton_iterations < 0.15 * run.steps
    way = 30.0 * run.t - 0.25 * G * run.t**2
    moved = run.position - run.position[0]
    assert moved == pytest.approx(np.broadcast_to(way[:, None, None] * along, moved.shape), abs=1e-6)
    assert np.abs(moved - moved[:, :1]).max() < 1e-9
    assert run.drift.max() < 1e-11
    assert run.velocity[-1] == pytest.approx(np.broadcast_to((30.0 - 0.4 * G) * along, (6, 3)), abs=1e-9)


@pytest.mark.slow
def test_a_long_chain_that_slides_takes_few_iterations():
    """Its joints are closed without shifts of round-off, which would add up from link to link."""
    chain = lying_chain(1000, 0.0)
    state = chain.state()
    state = replace(state, velocity=state.velocity + np.array([28.8, 8.4, 0.0]))
    run = vi.simulate(chain, 0.1, 1e-3, state=state, every=100)
    assert run.newton_iterations < 0.2 * run.steps
    assert run.drift.max() < 1e-11
