"""Contacts between shapes in reduced coordinates with located events: closed forms, and the limit of `vi.simulate`."""

import dataclasses
import math

import numpy as np
import pytest
from test_contact_orders import STEPS, apart, bar
from test_hard_contact_variational import turn

import varint as vi
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.events.contacts import ContactEvents

G = 9.81
FLOOR = (vi.PlaneShape(),)
LOCATING = ("dop853", "rk45", "radau")


def sphere(name, radius, mass, position, **options):
    return vi.Body.sphere(name, radius, mass, position=position, collision=[vi.SphereShape(radius)], **options)


def box(name, size, mass, position, vector=(0, 0, 0)):
    shapes = [vi.BoxShape(size)]
    return vi.Body.box(name, size, mass, position=position, quat_wxyz=turn(vector), collision=shapes)


def scene(bodies, forces, ground=FLOOR, joints=(), gravity=(0, 0, -G)):
    """Bodies that no joint of ``joints`` has on its second side are free."""
    held = {joint.body_b for joint in joints}
    free = [vi.Free(f"free {body.name}", "world", body.name) for body in bodies if body.name not in held]
    return vi.Mechanism("shapes", bodies, [*joints, *free], gravity, forces=forces, ground=ground)


def slope(angle):
    return G * np.array([math.sin(angle), 0, -math.cos(angle)])


def rolling():
    mechanism = scene([sphere("ball", 0.1, 1.0, (0, 0, 0.1))], [vi.Contact("c", "ball", "world", friction=0.5)],
                      gravity=slope(0.3))  # fmt: skip
    return mechanism, mechanism.state(velocity={"ball": (0, 0.5, 0)}, angular_velocity={"ball": (-5, 0, 2)})


def ball_on_ball():
    high = 0.3 * np.array([math.sin(0.3), 0, math.cos(0.3)]) + (0, 0, 0.2)
    bodies = [sphere("low", 0.2, 2.0, (0, 0, 0.2)), sphere("high", 0.1, 1.0, high)]
    forces = [vi.Contact("c", "high", "low", friction=0.8), vi.Contact("floor", "low", "world", friction=0.6)]
    mechanism = scene(bodies, forces)
    return mechanism, mechanism.state()


def cradle(restitution=0.8):
    names, places = ("b0", "b1", "b2"), 0.101 * np.arange(3)
    bodies = [sphere(n, 0.05, 1.0, (x, 0, -0.5)) for n, x in zip(names, places, strict=True)]
    pins = [
        vi.Revolute(f"pin {n}", "world", n, point=(x, 0, 0), axis=(0, 1, 0)) for n, x in zip(names, places, strict=True)
    ]
    mechanism = scene(bodies, [vi.ContactPairs("c", bodies=names, restitution=restitution)], (), pins)
    return mechanism, mechanism.state(coordinates={"pin b0": 0.5})


def tipping():
    forces = [vi.Contact("c", "box", "world", friction=0.6)]
    mechanism = scene([box("box", (0.2, 0.2, 0.5), 1.0, (0, 0, 0.25))], forces, gravity=slope(0.5))
    return mechanism, mechanism.state()


def capsule():
    shape = vi.CapsuleShape((-0.2, 0, 0), (0.2, 0, 0), 0.1)
    body = vi.Body("b", mass=1.0, inertia=np.diag([0.01, 0.02, 0.02]), position=(0, 0, 0.1), collision=[shape])
    mechanism = scene([body], [vi.Contact("c", "b", "world", friction=0.4)], gravity=(0, 3, -9))
    return mechanism, mechanism.state(velocity={"b": (0, 0.5, 0)})


def on_a_slider():
    bodies = [box("box", (0.6, 0.4, 0.2), 2.0, (0, 0, 0)), sphere("ball", 0.1, 1.0, (0.05, 0, 0.4))]
    slide = vi.Prismatic("slide", "world", "box", axis=(1, 0, 0))
    mechanism = scene(bodies, [vi.Contact("c", "ball", "box", friction=0.3, restitution=0.6)], (), [slide])
    return mechanism, mechanism.state(velocity={"ball": (0.5, 0.1, 0)}, angular_velocity={"ball": (0, 10, 0)})


def struck():
    bodies = [sphere("bob", 0.1, 1.0, (0, 0, -1)), box("block", (0.3, 0.3, 0.3), 2.0, (0.5, 0, -1))]
    forces = [
        vi.Contact("c", "bob", "block", friction=0.2, restitution=0.3),
        vi.Contact("floor", "block", "world", friction=0.4),
    ]
    pin = vi.Revolute("pin", "world", "bob", point=(0, 0, 0), axis=(0, 1, 0))
    mechanism = scene(bodies, forces, (vi.PlaneShape(point=(0, 0, -1.15)),), [pin])
    return mechanism, mechanism.state(coordinates={"pin": 0.8})


def tray(restitution=0.2):
    bodies = [
        box("tray", (1.0, 0.6, 0.1), 2.0, (0, 0, 0)),
        sphere("a", 0.1, 1.0, (-0.2, 0, 0.15)),
        sphere("b", 0.1, 1.0, (0.15, 0.02, 0.15)),
    ]
    forces = [
        vi.ContactPairs("c", bodies=("tray", "a", "b"), friction=0.3, restitution=restitution),
        vi.TorsionSpring("spring", joint="hinge", stiffness=200.0),
    ]
    hinge = vi.Revolute("hinge", "world", "tray", point=(0, 0, 0), axis=(0, 1, 0))
    mechanism = scene(bodies, forces, (), [hinge])
    return mechanism, mechanism.state(velocity={"a": (1.0, 0, 0)})


def four_bar():
    """A coupler, 1.1 m, that falls on a ball of the world."""
    A, D = 0.4 * np.array([math.cos(math.radians(70)), 0, math.sin(math.radians(70))]), np.array([1.0, 0, 0])
    length = np.linalg.norm(D - A)
    along, x = (D - A) / length, (1.1**2 - 0.7**2 + length**2) / (2 * length)
    B = A + x * along + math.sqrt(1.1**2 - x * x) * np.array([-along[2], 0, along[0]])
    shape = vi.CapsuleShape((-0.55, 0, 0), (0.55, 0, 0), 0.03)
    coupler = dataclasses.replace(bar("coupler", A, B, 2.0), collision=[shape])
    bodies = [bar("crank", np.zeros(3), A, 1.0), coupler, bar("rocker", B, D, 1.0)]
    ends = ("world", "crank", (0, 0, 0)), ("crank", "coupler", A), ("coupler", "rocker", B), ("rocker", "world", D)
    joints = [vi.Revolute(f"{a} {b}", a, b, point=point, axis=(0, 1, 0)) for a, b, point in ends]
    stop = vi.Contact("c", "coupler", "world", friction=0.3, restitution=0.4)
    mechanism = vi.Mechanism("four-bar", bodies, joints, forces=[stop], ground=(vi.SphereShape(0.1, (0.5, 0, 0.1)),))
    return mechanism, mechanism.state()


def follower():
    """A slider-crank whose slider, a box, lifts the ball at the end of a lever."""
    A, B = np.array([0, 0, 0.2]), np.array([0.6, 0, 0])
    ball = [vi.SphereShape(0.05, (0.3, 0, 0))]
    lever = vi.Body("lever", mass=0.5, inertia=np.diag([0.01, 0.02, 0.02]), position=(0.55, 0, 0.1), collision=ball)
    bodies = [bar("crank", np.zeros(3), A, 1.0), bar("rod", A, B, 1.0), box("cam", (0.4, 0.3, 0.1), 1.0, (0.8, 0, 0))]
    ends = ("world", "crank", (0, 0, 0)), ("crank", "rod", A), ("rod", "cam", B), ("world", "lever", (0.3, 0, 0.1))
    joints = [vi.Revolute(f"{a} {b}", a, b, point=point, axis=(0, 1, 0)) for a, b, point in ends]
    joints.append(vi.Prismatic("way", "world", "cam", axis=(1, 0, 0)))
    contact = vi.Contact("c", "lever", "cam", friction=0.2)
    mechanism = vi.Mechanism("follower", [*bodies, lever], joints, (0, 0, -G), forces=[contact])
    return mechanism, mechanism.state(rates={"world crank": 3.0})


def corner_on_a_box():
    bodies = [
        box("low", (0.4, 0.4, 0.2), 2.0, (0, 0, 0.1)),
        box("high", (0.3, 0.3, 0.3), 1.0, (0.2, 0.02, 0.55), (0, 0.5, 0.3)),
    ]
    forces = [
        vi.Contact("c", "high", "low", friction=0.3, restitution=0.3),
        vi.Contact("floor", "low", "world", friction=0.5),
    ]
    mechanism = scene(bodies, forces)
    return mechanism, mechanism.state(velocity={"high": (-0.3, 0, 0)})


def edges_that_cross():
    bodies = [
        box("beam", (1.0, 0.1, 0.1), 2.0, (0, 0, 0), (math.pi / 4, 0, 0)),
        box("high", (0.1, 0.8, 0.1), 1.0, (0.1, 0.02, 0.3), (0, math.pi / 4, 0)),
    ]
    axle = vi.Revolute("axle", "world", "beam", point=(0, 0, 0), axis=(0, 1, 0))
    mechanism = scene(bodies, [vi.Contact("c", "high", "beam", friction=0.3, restitution=0.3)], (), [axle])
    return mechanism, mechanism.state()


SCENES = {  # start, s
    "ball on a slope": (rolling, 0.6),
    "ball on a ball": (ball_on_ball, 0.3),
    "cradle": (cradle, 0.9),
    "box that tips": (tipping, 0.35),
    "capsule": (capsule, 0.5),
    "ball on a box on a slider": (on_a_slider, 0.8),
    "pendulum and block": (struck, 1.0),
    "two balls on a tray": (tray, 0.6),
    "four-bar": (four_bar, 0.45),
    "follower": (follower, 0.4),
    "corner on a box": (corner_on_a_box, 0.35),
    "edges that cross": (edges_that_cross, 0.4),
}


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("name", SCENES)
def test_the_variational_integrator_tends_to_it_at_order_two(name):
    """Within 0.25, over steps of 10 ms to 0.6 ms; the reduced run gains no energy, and no shapes overlap."""
    start, duration = SCENES[name]
    mechanism, state = start()
    reference = vi.redmax.simulate(mechanism, duration, state=state, rtol=1e-10)
    errors = [apart(vi.simulate(mechanism, duration, dt, state=state, on_unresolved="ignore"), reference)
              for dt in STEPS]  # fmt: skip
    assert np.polyfit(np.log(STEPS), np.log(errors), 1)[0] == pytest.approx(2.0, abs=0.25)
    assert np.diff(reference.energy).max() < 1e-10
    assert np.abs(reference.energy_balance).max() < 1e-9
    assert reference.penetration["c"].max() < 1e-11


@pytest.mark.slow
@pytest.mark.parametrize("integrator", LOCATING)
def test_a_ball_rolls_down_a_slope(integrator):
    """At 5/7 g sin a, held by 2/7 of that."""
    mechanism, _ = rolling()
    run = vi.redmax.simulate(mechanism, 0.5, 0.1, integrator=integrator)
    way = 5 / 7 * G * math.sin(0.3) * 0.5**2 / 2
    assert run.position[-1, 0] == pytest.approx([way, 0, 0.1], abs=1e-9)
    assert run.force["c"] == pytest.approx(G * math.cos(0.3))
    assert run.contact_force["c"][1:] == pytest.approx(
        np.tile([-2 / 7 * G * math.sin(0.3), 0, G * math.cos(0.3)], (5, 1)), abs=1e-8
    )
    at = run.contacts.at(3)
    assert (at.body_a.tolist(), at.body_b.tolist()) == (["ball"], ["world"])
    assert at.point[0] == pytest.approx(run.position[3, 0] - [0, 0, 0.1], abs=1e-11)


@pytest.mark.slow
def test_a_ball_leaves_a_ball():
    """Without friction where cos a falls to 2/3 of that at the start, with the energy of its fall."""
    bodies = [
        sphere("low", 0.2, 1.0, (0, 0, 0)),
        sphere("high", 0.1, 1.0, (0.3 * math.sin(0.2), 0, 0.3 * math.cos(0.2))),
    ]
    mechanism = scene(bodies, [vi.Contact("c", "high", "low")], (), [vi.Fixed("weld", "world", "low")])
    run = vi.redmax.simulate(mechanism, 0.5, rtol=1e-9)
    distance = np.linalg.norm(run.position[:, 1], axis=1) - 0.3
    last = np.flatnonzero(distance < 1e-9)[-1]
    assert run.position[last, 1, 2] / 0.3 == pytest.approx(2 / 3 * math.cos(0.2), abs=1e-6)
    speed = math.sqrt(2 * G * 0.3 * math.cos(0.2) / 3)
    assert np.linalg.norm(run.velocity[last, 1]) == pytest.approx(speed, abs=1e-6)


@pytest.mark.slow
def test_a_ball_rolls_over_the_edge_of_a_table():
    """It turns about the edge where its centre has passed it, and all integrators locate that alike."""
    bodies = [box("table", (0.6, 0.6, 0.2), 2.0, (0, 0, -0.1)), sphere("ball", 0.1, 1.0, (0.25, 0, 0.1))]
    contact = vi.Contact("c", "ball", "table", friction=2.0)
    mechanism = scene(bodies, [contact], (), [vi.Fixed("weld", "world", "table")])
    state = mechanism.state(velocity={"ball": (0.1, 0, 0)}, angular_velocity={"ball": (0, 1, 0)})
    run = vi.redmax.simulate(mechanism, 0.7, state=state)
    assert np.any(np.abs(run.t - 0.5) < 1e-5)  # an event
    over = run.t > 0.5
    about = np.hypot(run.position[over, 1, 0] - 0.3, run.position[over, 1, 2])
    assert about == pytest.approx(0.1, abs=1e-9)
    other = vi.redmax.simulate(mechanism, 0.7, state=state, integrator="rk45", rtol=1e-9)
    assert apart(run, other) < 1e-6


@pytest.mark.slow
def test_a_box_slides_off_a_table():
    """A corner that has left the table does not hold it any more."""
    bodies = [box("table", (0.6, 0.6, 0.2), 2.0, (0, 0, -0.1)), box("box", (0.2, 0.2, 0.1), 1.0, (0.15, 0, 0.05))]
    mechanism = scene(bodies, [vi.Contact("c", "box", "table")], (), [vi.Fixed("weld", "world", "table")])
    run = vi.redmax.simulate(mechanism, 0.25, state=mechanism.state(velocity={"box": (1.0, 0, 0)}))
    flat = run.t < 0.15 - 1e-9  # until the centre is above the edge
    assert run.position[flat, 1, 2] == pytest.approx(0.05, abs=1e-10)
    assert run.angular_velocity[-1, 1, 1] > 0.5
    assert run.penetration["c"].max() < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("start", [ball_on_ball, on_a_slider, capsule, edges_that_cross, tray])
def test_accelerations_of_what_touches(start):
    """Gaps change as the rows say, and their rates, and where shapes touch the slip, by rows and curvature together."""
    rng = np.random.default_rng(4)
    mechanism, _ = start()
    e = Equations(mechanism)
    events, h = ContactEvents(e), 1e-4
    touching = start in (ball_on_ball, capsule, tray)
    q = np.zeros(e.nq) if touching else 0.02 * rng.normal(size=e.nq)
    events._seek(0.0, q, np.zeros(e.nq), 0.3)
    own = np.flatnonzero(e.ws.contacts.kind >= 0)
    assert own.size
    by_rates = np.array([events._rates_at(0.0, q, unit)[own, 0] for unit in np.eye(e.nq)]).T
    rates = rng.normal(size=e.nq)
    if touching:  # two points of bodies that part are no longer one
        rates -= np.linalg.pinv(by_rates) @ by_rates @ rates
    second = e.acceleration(0.0, q, rates).copy()
    rate, faster = events._rows_and_accelerations(own)[1:]
    frame = e.ws.contacts.frame[own].copy()

    def at(t):
        slip = events._rates_at(t, q + t * rates + t * t / 2 * second, rates + t * second)[own]
        return events._gap[own].copy(), slip, np.einsum("pa,pak->pk", slip, e.ws.contacts.frame[own])

    (gap, slip, moved), (gap_after, slip_after, moved_after) = at(-h), at(h)
    assert (gap_after - gap) / (2 * h) == pytest.approx(rate[:, 0], abs=1e-6)
    assert (slip_after - slip)[:, 0] / (2 * h) == pytest.approx(faster[:, 0], rel=1e-6, abs=1e-5)
    meets = np.abs(events._gap[own]) < 1e-3
    assert meets.any() == touching
    along = np.einsum("pak,pk->pa", frame, moved_after - moved) / (2 * h)
    assert along[meets, 1:] == pytest.approx(faster[meets, 1:], rel=1e-6, abs=1e-5)


@pytest.mark.slow
def test_a_run_goes_on_to_the_same_bits(tmp_path):
    mechanism, state = corner_on_a_box()
    whole = vi.redmax.simulate(mechanism, 0.3, 0.01, state=state)
    path = tmp_path / "run.h5"
    vi.redmax.simulate(mechanism, 0.2, 0.01, state=state, output=path)
    rest = vi.redmax.simulate(mechanism, 0.3, 0.01, state=state, output=path, resume=True)
    for name in ("position", "quat_wxyz", "velocity", "work"):
        assert np.array_equal(getattr(rest, name), getattr(whole, name))


@pytest.mark.slow
def test_contacts_are_those_of_maximal_coordinates():
    mechanism, state = tipping()
    expected = vi.simulate(mechanism, 0.1, 0.001, state=state)
    found = vi.redmax.simulate(mechanism, 0.1, 0.001, state=state)
    for node in (0, 50, 100):
        a, b = found.contacts.at(node), expected.contacts.at(node)
        assert a.contact.tolist() == b.contact.tolist()
        assert a.body_b.tolist() == b.body_b.tolist()
        assert a.point == pytest.approx(b.point, abs=1e-4)
        assert a.force.sum(axis=0) == pytest.approx(b.force.sum(axis=0), abs=1e-3)
    assert found.contact_force["c"] == pytest.approx(expected.contact_force["c"], abs=1e-3)
    assert found.force["c"] == pytest.approx(expected.force["c"], abs=1e-3)
    assert found.acceleration == pytest.approx(expected.acceleration, abs=1e-3)


@pytest.mark.slow
def test_shapes_that_no_step_foresees_are_told_once(monkeypatch):
    monkeypatch.setattr(ContactEvents, "overlooks", lambda *_: True)
    monkeypatch.setattr("varint.methods.reduced.events.search.MOST_SHORTER", 0)
    mechanism, state = rolling()
    with pytest.warns(vi.UnresolvedWarning, match=r"shapes of contact 'c' met at t = .* no step down to .* s") as told:
        run = vi.redmax.simulate(mechanism, 0.02, 0.01, state=state, integrator="dop853")
    assert len(told) == 1
    assert run.success


def test_rims_and_rolling_resistance_are_refused():
    """And what has no located events."""
    cylinder = vi.Body(
        "can",
        mass=1.0,
        inertia=0.01 * np.eye(3),
        position=(0, 0, 0.2),
        collision=[vi.CylinderShape((0, 0, -0.1), (0, 0, 0.1), 0.1)],
    )
    mechanism = scene([cylinder], [vi.Contact("c", "can", "world")])
    with pytest.raises(vi.ArgumentError, match="contact 'c' is a contact of a CylinderShape or a HeightField"):
        vi.redmax.simulate(mechanism, 0.1, 0.01)
    mechanism = scene([sphere("ball", 0.1, 1.0, (0, 0, 0.1))], [vi.Contact("c", "ball", "world", rolling=0.01)])
    with pytest.raises(vi.ArgumentError, match="contact 'c' has rolling resistance"):
        vi.redmax.simulate(mechanism, 0.1, 0.01)
    mechanism, _ = rolling()
    for integrator in ("euler", "rk4", "bdf2"):
        with pytest.raises(vi.ArgumentError, match="contact 'c' is a hard contact"):
            vi.redmax.simulate(mechanism, 0.1, 0.01, integrator=integrator)
