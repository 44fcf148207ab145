"""Hard contacts between bodies in the variational integrator, against closed forms."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import varint as vi
from varint.model.rotation_vectors import rotation_matrix

G = 9.81
FLOOR = (vi.PlaneShape(),)


def scene(bodies, contacts, gravity=(0, 0, -G), ground=FLOOR, joints=None):
    free = [vi.Free(f"free {body.name}", "world", body.name) for body in bodies]
    return vi.Mechanism("scene", bodies, free if joints is None else joints, gravity, forces=contacts, ground=ground)


def ball(name, radius, mass, position):
    return vi.Body.sphere(name, radius, mass, position=position, collision=True)


def box(name, size, mass, position):
    return vi.Body.box(name, size, mass, position=position, collision=True)


def moving(mechanism, velocity, spin=0.0):
    state = mechanism.state()
    spin = np.broadcast_to(np.array(spin, float), state.velocity.shape)
    return replace(state, velocity=np.array(velocity, float), angular_velocity=spin)


def momenta(run):
    """Momentum and moment of momentum about the origin (T, 3)."""
    bodies = run.mechanism.bodies
    mass = np.array([body.mass for body in bodies])[:, None]
    inertia = np.array([body.inertia for body in bodies])
    own = rotation_matrix(run.quat_wxyz) @ (inertia @ run.angular_velocity[..., None])
    return (mass * run.velocity).sum(1), (np.cross(run.position, mass * run.velocity) + own[..., 0]).sum(1)


@pytest.mark.slow
@pytest.mark.parametrize("apart", [0.0, 1e-6])
def test_newtons_cradle(apart):
    """The last of five balls flies off, the others rest; the gaps are open, closed or rest closed from the start."""
    balls = [ball(f"b{k}", 0.2, 1.0, ((0.4 + apart) * k - (0.1 if k == 0 else 0.0), 0, 0)) for k in range(5)]
    contacts = [vi.Contact(f"c{k}", f"b{k}", f"b{k + 1}", restitution=1.0) for k in range(4)]
    mechanism = scene(balls, contacts, gravity=(0, 0, 0))
    run = vi.simulate(mechanism, 0.5, 0.01, state=moving(mechanism, [(1, 0, 0), *4 * [(0, 0, 0)]]))
    assert run.velocity[-1, :, 0] == pytest.approx([0, 0, 0, 0, 1], abs=1e-14)
    assert run.energy == pytest.approx(0.5, abs=1e-15)
    assert run.position[-1, 4, 0] == pytest.approx(1.6 + 4 * apart + 0.5 - 0.1 - 4 * apart, abs=1e-11)


@pytest.mark.parametrize("friction", [0.1, 0.8])
def test_an_oblique_impact_of_two_balls(friction):
    """It slides through the impact, or grips: closed form, with W = 1/m_1 + 1/m_2 along and 3.5 W across the normal."""
    first, second, normal = ball("a", 0.2, 1.0, (0, 0, 0)), ball("b", 0.3, 2.5, (0.8, 0, 0)), np.array([-1.0, 0, 0])
    mechanism = scene(
        [first, second], [vi.Contact("hit", "a", "b", friction=friction, restitution=0.7)], gravity=(0, 0, 0)
    )
    v, w = np.array([[2.0, 0.0, 0.0], [0, 0, 0]]), np.array([[1.0, 2, 3], [-3, 1, 5]])
    run = vi.simulate(mechanism, 0.5, 0.01, state=moving(mechanism, v, w))
    turned = rotation_matrix(run.quat_wxyz[-1])
    s = v[0] + np.cross(w[0], -0.2 * normal) - v[1] - np.cross(w[1], 0.3 * normal)
    W = 1.0 + 1 / 2.5
    across = s - (s @ normal) * normal
    pressing = 1.7 * -(s @ normal) / W
    grip = np.linalg.norm(across) / (3.5 * W)
    impulse = pressing * normal - across / np.linalg.norm(across) * min(grip, friction * pressing)
    assert 0.1 < grip / pressing < 0.8
    assert run.velocity[-1] == pytest.approx(np.array([v[0] + impulse, v[1] - impulse / 2.5]), abs=1e-12)
    spins = w[0] + np.cross(-0.2 * normal, impulse) / (0.4 * 0.04), w[1] - np.cross(0.3 * normal, impulse) / 0.09
    assert turned[0] @ run.angular_velocity[-1, 0] == pytest.approx(spins[0], abs=1e-11)
    assert turned[1] @ run.angular_velocity[-1, 1] == pytest.approx(spins[1], abs=1e-11)
    for kept in momenta(run):
        assert np.abs(kept - kept[0]).max() < 1e-15 * 50
    assert run.energy[-1] < run.energy[0]
    assert run.work[-1, 0] == pytest.approx(run.energy[-1] - run.energy[0], abs=1e-14)


@pytest.mark.slow
def test_a_ball_slides_and_rolls_on_a_plank_that_it_drags_along():
    """Of order 2, though the instant where it begins to roll is not located; momentum is kept."""
    grip = 1.5 / (0.3 * G * (3.5 + 1 / 3))
    drag = 0.3 * G / 3
    expected = [0.5 * drag * grip**2 + drag * grip * (0.6 - grip)]
    expected.append(-0.5 + 1.5 * grip - 0.15 * G * grip**2 + (1.5 - 0.3 * G * grip) * (0.6 - grip))
    errors = []
    for dt in (0.01, 0.0025):
        mechanism = scene(
            [box("plank", (2, 1, 0.1), 3.0, (0, 0, 0.05)), ball("ball", 0.1, 1.0, (-0.5, 0, 0.2))],
            [vi.Contact("rolls", "ball", "plank", friction=0.3), vi.Contact("floor", "plank", "world")],
        )
        run = vi.simulate(mechanism, 0.6, dt, state=moving(mechanism, [(0, 0, 0), (1.5, 0, 0)]))
        errors.append(np.abs(run.position[-1, :, 0] - expected).max())
        assert np.abs(momenta(run)[0][:, 0] - 1.5).max() < 1e-14
        assert run.penetration["rolls"].max() < 1e-12
        assert run.force["rolls"] == pytest.approx(G, abs=1e-9)
        assert run.force["floor"] == pytest.approx(4 * G, abs=1e-9)
        assert run.contact_force["rolls"][1] == pytest.approx([-0.3 * G, 0, G], abs=1e-8)
        assert run.velocity[-1, :, 0] == pytest.approx([drag * grip, 1.5 - 0.3 * G * grip], abs=1e-9)
    assert errors[0] < 2e-4
    assert errors[1] < errors[0] / 10


@pytest.mark.slow
def test_a_stack_of_ten_boxes_stands():
    """Masses from 1 to 1000 kg upwards."""
    masses = 1000.0 ** (np.arange(10) / 9)
    boxes = [box(f"b{k}", (1, 1, 1), masses[k], (0, 0, 0.5 + k)) for k in range(10)]
    contacts = [vi.Contact(f"c{k}", f"b{k}", f"b{k - 1}" if k else "world", friction=0.5) for k in range(10)]
    run = vi.simulate(scene(boxes, contacts), 0.5, 0.01)
    assert np.abs(run.position - run.position[0]).max() < 1e-10
    for k in range(10):
        assert run.force[f"c{k}"] == pytest.approx(G * masses[k:].sum(), rel=1e-9)
    assert run.newton_iterations < 2 * run.steps


@pytest.mark.parametrize("friction", [0.45, 0.55])
def test_a_box_slides_or_sticks_on_a_box_that_is_pulled(friction):
    """The lower box accelerates at g / 2, on a floor without friction."""
    boxes = [box("low", (2, 1, 0.5), 2.0, (0, 0, 0.25)), box("high", (0.5, 0.5, 0.5), 1.0, (-0.2, 0, 0.75))]
    contacts = [vi.Contact("grip", "high", "low", friction=friction), vi.Contact("floor", "low", "world")]
    drag = min(friction, 0.5) * G
    run = vi.simulate(scene(boxes, contacts), 0.5, 0.01, force={"low": (drag + G, 0, 0)})
    assert run.velocity[-1, 1, 0] == pytest.approx(0.5 * drag, abs=1e-10)
    assert run.velocity[-1, 0, 0] == pytest.approx(0.25 * G, abs=1e-10)
    assert run.contact_force["grip"][5] == pytest.approx([drag, 0, G], abs=1e-8)
    if friction > 0.5:
        assert np.abs(np.ptp(run.position[:, 0] - run.position[:, 1], axis=0)).max() < 1e-13


def thrown(rng, restitution):
    """Two balls and a box between them, thrown at each other, with friction up to 2 and masses up to 1:100."""
    turn = rng.standard_normal(4)
    other = {"position": (1.2, 0, 0), "quat_wxyz": turn / np.linalg.norm(turn), "collision": True}
    bodies = [
        ball("b0", 0.3, rng.uniform(0.1, 10), (0, 0, 0)),
        vi.Body.box("b1", rng.uniform(0.3, 0.8, 3), rng.uniform(0.1, 10), **other),
        ball("b2", 0.2, rng.uniform(0.1, 10), (2.2, 0, 0)),
    ]
    law = {"friction": rng.uniform(0, 2), "restitution": rng.uniform(*restitution)}
    contacts = [vi.Contact(f"{a}{b}", f"b{a}", f"b{b}", **law) for a, b in itertools.combinations(range(3), 2)]
    mechanism = scene(bodies, contacts, gravity=(0, 0, 0))
    v = 0.3 * rng.standard_normal((3, 3)) + np.array([[3.0, 0, 0], [0, 0, 0], [-3.0, 0, 0]])
    return mechanism, moving(mechanism, v, 2 * rng.standard_normal((3, 3)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_random_impacts_with_friction_gain_no_energy(seed):
    """From the node before the first impact to that after it."""
    rng, lost = np.random.default_rng(seed), 0
    for _ in range(25):
        mechanism, state = thrown(rng, (0.1, 1.0))
        run = vi.simulate(mechanism, 0.3, 0.01, state=state, on_unresolved="ignore")
        (hit, *_) = np.flatnonzero(np.abs(np.diff(run.velocity, axis=0)).max(axis=(1, 2)) > 1e-6)
        assert run.energy[hit + 1] < run.energy[hit] * (1 + 1e-12)
        lost += run.energy[hit + 1] < run.energy[hit] * (1 - 1e-6)
        for kept in momenta(run[: hit + 2]):
            assert np.abs(kept - kept[0]).max() < 1e-12 * 30
    assert lost > 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_bodies_that_collide_and_stay_together(seed):
    """They roll and slide on each other for a while, or bounce; the balance of energy falls with the step."""
    mechanism, state = thrown(np.random.default_rng(seed), (0.0, 0.5))
    run = vi.simulate(mechanism, 0.4, 0.00125, state=state, on_unresolved="ignore")
    assert run.energy[-1] < run.energy[0]
    assert np.diff(run.work.sum(axis=1)).max() < 1e-3 * run.energy[0]  # by what is known of the friction at a node
    balance = np.abs(run.energy_balance).max()
    assert balance < 0.01 * run.energy[0]
    finer = vi.simulate(mechanism, 0.4, 0.0003125, state=state, on_unresolved="ignore")
    assert np.abs(finer.energy_balance).max() < max(balance / 4, 1e-5 * run.energy[0])
    assert max(depth.max() for depth in run.penetration.values()) < 1.1e-11
    for kept in momenta(run):
        assert np.abs(kept - kept[0]).max() < 1e-12 * 30


def test_an_overlap_at_the_start_is_refused():
    mechanism = scene([ball("a", 0.2, 1, (0, 0, 0)), ball("b", 0.2, 1, (0.3, 0, 0))], [vi.Contact("c", "a", "b")])
    with pytest.raises(vi.StateError, match=r"contact 'c' starts with an overlap of 0\.1 m of body 'a' and body 'b'"):
        vi.simulate(mechanism, 0.1, 0.01)


def test_what_a_contact_refuses():
    bare = vi.Body.sphere("bare", 0.1, 1.0)
    for contact, message in (
        (vi.Contact("c", "a", "bare"), "body 'bare' has no collision shapes"),
        (vi.Contact("c", "a", "world"), "the world has no collision shapes"),
        (vi.Contact("c", "world", "a"), "acts on a body, not on the world"),
    ):
        with pytest.raises(vi.MechanismError, match=message):
            scene([ball("a", 0.1, 1, (0, 0, 0)), bare], [contact], ground=())
    with pytest.raises(vi.MechanismError, match="restitution of contact 'c' must be at most 1"):
        vi.Contact("c", "a", "b", restitution=1.1)
    with pytest.raises(vi.MechanismError, match="needs two bodies"):
        vi.Contact("c", "a", "a")
    mechanism = scene([ball("a", 0.1, 1, (0, 0, 1))], [vi.Contact("c", "a", "world")])
    for options in ({"order": 4}, {"adaptive": True}):
        with pytest.raises(vi.ArgumentError, match="contact 'c' is a hard contact"):
            vi.simulate(mechanism, 0.1, 0.01, **options)
    with pytest.raises(vi.ArgumentError, match="contact 'c' is a hard contact between shapes"):
        vi.redmax.simulate(mechanism, 0.1, 0.01, integrator="euler")


@pytest.mark.slow
def test_a_run_with_contacts_goes_on_to_the_same_bits(tmp_path):
    bodies = [box("low", (0.6, 0.6, 0.2), 1.0, (0, 0, 0.2)), ball("high", 0.1, 0.5, (0.1, 0.05, 0.6))]
    law = {"friction": 0.4, "restitution": 0.5}
    contacts = [vi.Contact("floor", "low", "world", **law), vi.Contact("pair", "high", "low", **law)]
    mechanism = scene(bodies, contacts)
    state, path = moving(mechanism, [(0.3, 0, 0), (0, 0.2, 0)]), tmp_path / "run.h5"
    whole = vi.simulate(mechanism, 0.6, 0.005, state=state)
    vi.simulate(mechanism, 0.4, 0.005, state=state, output=path)
    rest = vi.simulate(mechanism, 0.6, 0.005, state=state, output=path, resume=True)
    for name in ("position", "quat_wxyz", "velocity", "angular_velocity", "work"):
        assert np.array_equal(getattr(rest, name), getattr(whole, name))


def test_fast_balls_do_not_pass_each_other():
    """Each comes by three times its size in a step."""
    mechanism = scene(
        [ball("a", 0.05, 1, (-1.03, 0, 0)), ball("b", 0.05, 1, (1, 0.01, 0))],
        [vi.Contact("c", "a", "b", restitution=1.0)],
        gravity=(0, 0, 0),
    )
    run = vi.simulate(mechanism, 0.2, 0.01, state=moving(mechanism, [(15, 0, 0), (-15, 0, 0)]))
    assert run.velocity[-1, 0, 0] < -10
    assert run.energy == pytest.approx(run.energy[0], rel=1e-13)
    assert math.isclose(run.penetration["c"].max(), 0.0, abs_tol=1.1e-11)


def test_a_ball_rolls_in_a_bowl():
    """Small oscillations: 2 pi sqrt(7 (R - r) / 5 g) (1 + a^2 / 16), of order 2."""
    errors = []
    for dt in (0.02, 0.01):
        start = np.array([0.8 * math.sin(0.02), 0, 1 - 0.8 * math.cos(0.02)])
        mechanism = scene(
            [ball("ball", 0.2, 1.0, start)],
            [vi.Contact("bowl", "ball", "world", friction=1.0)],
            ground=[vi.HollowSphereShape(1.0, (0, 0, 1))],
        )
        run = vi.simulate(mechanism, 1.7, dt)
        x, t = run.position[:, 0, 0], run.t
        turns = [t[k] + dt * x[k] / (x[k] - x[k + 1]) for k in np.flatnonzero(x[:-1] * x[1:] < 0)]
        errors.append(2 * np.diff(turns)[0] / 2.1230744958 - 1)
        assert run.penetration["bowl"].max() < 1e-12
        assert np.abs(run.energy_balance).max() < 0.01 * np.ptp(run.kinetic)
    assert abs(errors[1]) < 5e-5
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.15)


@pytest.mark.slow
def test_a_slider_crank_with_clearance():
    """The pin is off the middle of its hole by at most the clearance c, the slider by c / cos(asin(1/2)) and c^2."""
    crank, rod, clearance = 0.153, 0.306, 1e-3
    bodies = [
        vi.Body.box("crank", (crank, 0.02, 0.02), 0.5, position=(crank / 2, 0, 0)),
        vi.Body("rod", mass=0.3, inertia=np.diag([1e-4, 3e-3, 3e-3]), position=(crank + rod / 2, 0, 0),
                collision=[vi.HollowCylinderShape((rod / 2, 0, -0.1), (rod / 2, 0, 0.1), 0.01 + clearance)]),
        ball("slider", 0.01, 0.4, (crank + rod, 0, 0)),
    ]  # fmt: skip
    joints = [
        vi.Revolute("pivot", "world", "crank", point=(0, 0, 0), axis=(0, 0, 1)),
        vi.Revolute("crank pin", "crank", "rod", point=(crank, 0, 0), axis=(0, 0, 1)),
        vi.Prismatic("guide", "world", "slider", point=(crank + rod, 0, 0), axis=(1, 0, 0)),
    ]
    drive = vi.PrescribedMotion("drive", joint="pivot", rate=150.0)
    forces = [drive, vi.Contact("pin", "slider", "rod", friction=0.0)]
    mechanism = vi.Mechanism("slider-crank", bodies, joints, (0, 0, 0), forces=forces)
    state = mechanism.state(rates={"pivot": 150.0, "crank pin": -225.0})
    run = vi.simulate(mechanism, 0.06, 1e-4, state=state, on_unresolved="ignore")
    angle = 150.0 * run.t
    ideal = crank * np.cos(angle) + np.sqrt(rod**2 - (crank * np.sin(angle)) ** 2)
    off = np.abs(run.position[:, 2, 0] - ideal).max()
    bound = math.sqrt(rod**2 - crank**2) - math.sqrt((rod - clearance) ** 2 - crank**2)
    assert bound == pytest.approx(clearance / math.cos(math.asin(crank / rod)), rel=1e-3)
    assert 0.98 * bound < off < (1 + 1e-6) * bound
    assert run.penetration["pin"].max() < 1.1e-11
    assert run.drift.max() < 1e-11


def test_pairs_of_groups_and_the_points_that_touch():
    """Two boxes side by side on the floor; a ball on one of them, at four corners and one point."""
    bodies = [box("a", (1, 1, 0.5), 2.0, (0, 0, 0.25)), box("b", (1, 1, 0.5), 3.0, (1.2, 0, 0.25))]
    bodies.append(ball("c", 0.2, 1.0, (0.1, 0.2, 0.7)))
    names = ["a", "b", "c"]
    forces = [
        vi.ContactPairs("all", bodies=names, friction=0.3),
        vi.ContactPairs("floor", bodies=names, others=["world"]),
    ]
    run = vi.simulate(scene(bodies, forces), 0.02, 0.01)
    assert run.force["all"] == pytest.approx(G, abs=1e-9)
    assert run.force["floor"] == pytest.approx(6 * G, abs=1e-9)
    points = run.contacts.at(1)
    assert len(points) == 9
    assert set(points.contact[points.body_a != "c"]) <= {"floor", "all"}
    (one,) = np.flatnonzero(points.contact == "all")
    upwards = 1.0 if points.body_a[one] == "c" else -1.0
    assert {points.body_a[one], points.body_b[one]} == {"a", "c"}
    assert points.point[one] == pytest.approx([0.1, 0.2, 0.5], abs=1e-9)
    assert points.normal[one] == pytest.approx([0, 0, upwards], abs=1e-12)
    assert points.force[one] == pytest.approx([0, 0, upwards * G], abs=1e-9)
    on_floor = points.contact == "floor"
    assert points.force[on_floor & (points.body_a == "b")].sum(axis=0) == pytest.approx([0, 0, 3 * G], abs=1e-9)
    assert (np.abs(points.point[on_floor, 2]) < 1e-12).all()
    assert len(run.contacts) == 27
    assert repr(run.contacts) == "TouchingPoints: 27 points, at 3 nodes"


def test_pairs_leave_out_what_a_joint_connects():
    arms = [box("a", (1, 0.1, 0.1), 1.0, (0.5, 0, 1)), box("b", (1, 0.1, 0.1), 1.0, (1.5, 0, 1))]
    joints = [
        vi.Revolute("root", "world", "a", point=(0, 0, 1), axis=(0, 1, 0)),
        vi.Revolute("elbow", "a", "b", point=(1, 0, 1), axis=(0, 1, 0)),
    ]
    with pytest.raises(vi.MechanismError, match="contactpairs 'p' has no pair of bodies left"):
        scene(arms, [vi.ContactPairs("p", bodies=["a", "b"])], joints=joints)
    mechanism = scene(arms, [vi.ContactPairs("p", bodies=["a", "b"], others=["b", "world"])], joints=joints)
    assert [element.bodies for element in mechanism.forces[0].elements(mechanism)] == [("world", "b")]


@pytest.mark.parametrize("restitution", [0.5, 1.0])
def test_a_driven_body_throws_a_resting_one(restitution):
    """The drive does work in the impact, J = m (1 + e) v at its speed v: that is no energy from nowhere."""
    bodies = [
        vi.Body.sphere(name, 0.1, mass, position=(x, 0, 0), collision=True)
        for name, mass, x in (("ram", 1.0, 0.0), ("puck", 0.5, 0.25))
    ]
    slides = [vi.Prismatic(f"{b.name} slide", "world", b.name, point=b.position, axis=(1, 0, 0)) for b in bodies]
    forces = [
        vi.Contact("hit", "ram", "puck", restitution=restitution),
        vi.PrescribedMotion("drive", joint="ram slide", rate=1.0),
    ]
    mechanism = vi.Mechanism("ram", bodies, slides, gravity=(0, 0, 0), forces=forces)
    run = vi.simulate(mechanism, 0.2, 0.01, state=mechanism.state(rates={"ram slide": 1.0}))
    assert run.rates["puck slide"][-1] == pytest.approx(1.0 + restitution, rel=1e-12)
    assert np.abs(run.energy_balance).max() < 1e-12
    assert not run.unresolved.size


def test_a_plane_that_turns_meets_what_is_far_from_its_axis():
    """A ball 20 m from the hinge of a plane, met at 100 m/s: it is taken along, and not overlapped."""
    arm, radius, rate = 20.0, 0.01, 5.0
    plate = vi.Body("plate", mass=1e3, inertia=1e6 * np.eye(3), collision=[vi.PlaneShape()])
    hinge = vi.Revolute("hinge", "world", "plate", point=(0, 0, 0), axis=(0, -1, 0))
    bodies = [plate, ball("ball", radius, 1.0, (arm, 0, radius + 0.3))]
    mechanism = scene(
        bodies, [vi.Contact("hit", "ball", "plate")], (0, 0, 0), (), [hinge, vi.Free("free", "world", "ball")]
    )
    state = mechanism.state(angular_velocity={"plate": (0, -rate, 0)})
    run = vi.simulate(mechanism, 0.02, 0.01, state=state, on_unresolved="ignore")
    assert run.penetration["hit"].max() < 1e-12
    shared = arm**2 / (1e6 + arm**2)  # of the plate's angular momentum, once the ball moves with it
    assert run.energy[-1] / run.energy[0] == pytest.approx(1.0 - shared, abs=1e-6)


@pytest.mark.parametrize("apart", [0.223, 0.437, 0.689, 0.811])
def test_fast_small_balls_do_not_pass_each_other(apart):
    """A step moves one by 500 of its diameters; they meet half a diameter off their line of centres."""
    radius, speed, off = 1e-3, 100.0, 0.5
    bodies = [ball("a", radius, 1.0, (0, 0, 0)), ball("b", radius, 1.0, (apart, 2 * radius * off, 0))]
    mechanism = scene(bodies, [vi.Contact("hit", "a", "b", restitution=1.0)], (0, 0, 0), ())
    run = vi.simulate(mechanism, 0.02, 0.01, state=mechanism.state(velocity={"a": (speed, 0, 0)}))
    assert run.velocity[-1, 1, 0] == pytest.approx(speed * (1 - off**2), rel=1e-9)
