"""Gradients of runs through hard contacts and their impacts, against differences of whole runs and closed forms."""

import math
from dataclasses import replace

import numpy as np
import pytest
from contact_scenes import G, free_scene, linked_chain

import varint as vi
from varint.derivatives.numbers import number_of
from varint.derivatives.objective import changed_state

DT = 0.01
FEET = (("many", 0), ("more", 400))  # and the first point of each
ALONG = np.array([1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1.0])  # changes of the start of a ball that touches the floor
FLAT = np.array([1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1.0])  # the same of a body on more points


def ball(name, radius, mass, position):
    return vi.Body.sphere(name, radius, mass, position=position, collision=True)


def state_of(mechanism, velocity, spin):
    return replace(mechanism.state(), velocity=np.array(velocity, float), angular_velocity=np.array(spin, float))


def on_floor(body, velocity, spin, **contact):
    mechanism = free_scene("one", [body], [vi.HardContact("floor", body.name, **contact)])
    return mechanism, state_of(mechanism, [velocity], [spin])


def thrown(**contact):
    return on_floor(ball("ball", 0.1, 1.0, (0, 0, 0.3)), (1, 0.3, 0), (2, 1, -3), radius=0.1, **contact)


def rolling():
    """Sticks from the start."""
    return on_floor(ball("ball", 0.1, 1.0, (0, 0, 0.1)), (1, 0.3, 0), (-3, 10, -3), radius=0.1, friction=0.5)


def backspin():
    """Slides, its direction turns, then it rolls."""
    return on_floor(ball("ball", 0.05, 1.0, (0, 0, 0.05)), (1.5, 0.2, 0), (1, -6.28, 2), radius=0.05, friction=0.3)


def corners(size, position, levels=(-1, 1)):
    return [np.array(position) + 0.5 * np.array(size) * (i, j, k) for i in (-1, 1) for j in (-1, 1) for k in levels]


def sliding(friction=0.25, **other):
    """A cube on four points, more than determine its forces, which slide in one direction."""
    body = vi.Body.box("cube", (1, 1, 1), 1.0, position=(0, 0, 0.5))
    points = corners((1, 1, 1), body.position, (-1,))
    return on_floor(body, (4, 0.8, 0), (0, 0, 0), points=points, friction=friction, **other)


def disc():
    """Slides and spins on three feet: friction follows the mean of both directions of slip."""
    feet = [(0.3 * math.cos(a), 0.3 * math.sin(a), 0.0) for a in np.radians([30, 150, 270])]
    body = vi.Body("disc", mass=1.0, inertia=np.diag([0.0225, 0.0225, 0.045]), position=(0, 0, 0.05))
    return on_floor(body, (2, 0.2, 0), (0, 0, 20), points=feet, friction=0.3)


def tumbling():
    body = vi.Body.box("box", (0.8, 0.5, 0.3), 1.0, position=(0, 0, 0.7), quat_wxyz=np.array([5, 1, 1, 3]) / 6)
    points = [body.position + point for point in corners((0.8, 0.5, 0.3), (0, 0, 0))]
    return on_floor(body, (-0.2, 0.3, 0), (0.5, -1, 2), points=points, friction=0.1, restitution=0.5)


def two_balls(restitution, gravity=(0, 0, 0)):
    balls = [ball("a", 0.2, 1.0, (0, 0, 0)), ball("b", 0.3, 2.5, (0.8, 0.1, 0.05))]
    contact = vi.Contact("hit", "a", "b", friction=0.1 if restitution else 0.3, restitution=restitution)
    mechanism = replace(free_scene("two", balls, [contact], gravity), ground=())
    return mechanism, state_of(mechanism, [(2, 0, 0), (0, 0, 0)], [(1, 2, 3), (-3, 1, 5)])


def on_a_plank():
    """A ball slides on a plank that slides on ice."""
    bodies = [
        vi.Body.box("plank", (2, 1, 0.1), 3.0, position=(0, 0, 0.05), collision=True),
        ball("b", 0.2, 1.0, (0, 0, 0.3)),
    ]
    contacts = [vi.Contact("c", "b", "plank", friction=0.4), vi.Contact("ice", "plank", "world")]
    mechanism = free_scene("plank", bodies, contacts)
    return mechanism, state_of(mechanism, [(0, 0, 0), (1, 0.3, 0)], [(0, 0, 0), (2, -3, 1)])


def chain():
    """Three links that lie on the ground and slide, held together by ball joints."""
    mechanism, state = linked_chain(3)
    return mechanism, replace(state, velocity=state.velocity + (2.0, 0, 0))


EVERY, ICE = np.ones(12), np.repeat([0, 1, 0, 0], [6, 2, 1, 3])
SCENES = {  # scene, duration, changes of the start, numbers
    "rolls": (rolling, 0.1, ALONG, "ball.mass"),
    "slides, then rolls": (backspin, 0.25, ALONG, "floor.friction"),
    "bounces and slides": (
        lambda: thrown(friction=0.2, restitution=0.7), 0.35, EVERY,
        "floor.friction floor.restitution floor.radius gravity ball.inertia",
    ),
    "bounces and grips": (
        lambda: thrown(friction=2.0, restitution=0.7), 0.35, EVERY, "floor.restitution floor.ground ball.inertia"
    ),
    "lands": (
        lambda: thrown(friction=0.2), 0.35, EVERY, "floor.friction floor.radius ball.mass ball.inertia"
    ),
    "cube": (sliding, 0.1, FLAT, "floor.friction cube.mass"),
    "disc": (disc, 0.1, FLAT, "floor.friction disc.mass"),
    "tumbles": (tumbling, 0.4, EVERY, "floor.friction floor.restitution floor.points box.inertia"),
    "two balls": (lambda: two_balls(0.7), 0.3, EVERY, "hit.friction hit.restitution a.mass b.inertia"),
    "two balls in touch": (lambda: two_balls(0.0, (1, 0, 0)), 0.3, EVERY, "hit.friction a.mass"),
    "ball on a plank": (on_a_plank, 0.1, np.array([ICE, ALONG]), "c.friction plank.mass"),
    "chain": (chain, 0.1, np.array([1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0.0]), "gravity"),
}  # fmt: skip


def objective_of(mechanism, rng):
    a, b, c = rng.standard_normal((3, len(mechanism.bodies), 3))
    d = rng.standard_normal((len(mechanism.bodies), 4))
    return lambda state: float(
        np.sum(a * state.position**2 + b * state.velocity + c * state.angular_velocity) + np.sum(d * state.quat_wxyz)
    )


def end_of(mechanism, state, duration, dt=DT):
    run = vi.simulate(mechanism, duration, dt, state=state, tol=1e-13, on_unresolved="ignore")
    return run.state(len(run) - 1)


def slope(value, size):
    """The derivative at zero, by differences of fourth order."""
    return (8 * (value(size / 2) - value(-size / 2)) - (value(size) - value(-size))) / (6 * size)


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.long] * (n == "rolls")) for n in SCENES])
def test_against_differences_of_runs(name, rng):
    """By the start along a random change, and by each number along one."""
    (make, duration, free, names), size = SCENES[name], 2e-4
    (mechanism, state), names = make(), names.split()
    objective = objective_of(mechanism, rng)
    found = vi.gradient(
        mechanism, objective, duration, DT, with_respect_to=["start", *names], state=state, on_unresolved="ignore"
    )
    change = rng.standard_normal((len(mechanism.bodies), 12)) * free
    if name == "chain":
        change[:] = change[0]
    exact = slope(lambda s: objective(end_of(mechanism, changed_state(state, s * change), duration)), size)
    terms = np.hstack(found["start"]) * change
    assert terms.sum() == pytest.approx(exact, abs=1e-7 * np.abs(terms).max())
    for each in names:
        number = number_of(mechanism, each)
        direction = rng.standard_normal(number.value.shape) * number.size
        direction = 0.5 * (direction + direction.T) if number.symmetric else direction

        def value(share, number=number, direction=direction):
            return objective(end_of(number.replaced(number.value + share * direction), state, duration))

        terms = found[each] * direction
        assert terms.sum() == pytest.approx(slope(value, size), abs=1e-7 * max(np.abs(terms).max(), 1e-2)), each


@pytest.mark.slow
def test_two_balls_of_one_mass_change_places():
    """The second goes on as the first did: its end moves with the start and the speed of the first alone."""
    balls = [ball("a", 0.1, 1.0, (0, 0, 0)), ball("b", 0.1, 1.0, (0.503, 0, 0))]
    mechanism = free_scene("two", balls, [vi.Contact("hit", "a", "b", restitution=1.0)], (0, 0, 0))
    state = state_of(mechanism, [(1, 0, 0), (0, 0, 0)], np.zeros((2, 3)))
    found = vi.gradient(mechanism, lambda s: s.position[1, 0], 1.0, DT, with_respect_to=["start"], state=state)
    assert found.value == pytest.approx(1.2, abs=1e-10)
    by = [*found["start"].position[:, 0], *found["start"].velocity[:, 0]]
    assert by == pytest.approx([1, 0, 1, 0], abs=1e-10)


@pytest.mark.slow
def test_a_cube_that_has_stopped():
    """It stops after v^2 / (2 mu g); the instant is not located, so the derivatives are those to half a step."""
    mechanism, state = sliding()
    speed, along = math.hypot(4, 0.8), np.array([4, 0.8, 0]) / math.hypot(4, 0.8)
    for dt in (0.02, 0.005):
        found = vi.gradient(
            mechanism, lambda s: s.position[0] @ along, 2.0, dt, with_respect_to=["start", "floor.friction"],
            state=state, on_unresolved="ignore",
        )  # fmt: skip
        by_speed = found["start"].velocity[0]
        assert by_speed @ along == pytest.approx(speed / (0.25 * G), abs=0.5 * dt)
        assert by_speed @ (-along[1], along[0], 0) == pytest.approx(0, abs=1e-9)
        by_friction = -(speed**2) / (2 * 0.25**2 * G)
        assert found["floor.friction"] == pytest.approx(by_friction, abs=0.5 * dt * speed / 0.25)


@pytest.mark.slow
@pytest.mark.parametrize("bounces", [1, 3])
def test_a_bouncing_ball_in_closed_form(bounces):
    """Apex after the last bounce counted: e^(2 n) h above the floor."""
    e, h = 0.8, 1.0
    body = ball("ball", 0.1, 1.0, (0, 0, h + 0.1))
    mechanism, state = on_floor(body, (0, 0, 0), (0, 0, 0), radius=0.1, restitution=e)
    fall = math.sqrt(2 * h / G)
    duration = round(fall * (1 + 2 * sum(e**k for k in range(1, bounces)) + e**bounces), 2)

    def height(by):
        """At the end, of start, restitution."""
        h, e = by
        t = duration - math.sqrt(2 * h / G) * (1 + 2 * sum(e**k for k in range(1, bounces)))
        return e**bounces * math.sqrt(2 * G * h) * t - 0.5 * G * t**2

    names = ["start", "floor.restitution"]
    found = vi.gradient(
        mechanism, lambda s: s.position[0, 2] - 0.1, duration, DT, with_respect_to=names, state=state,
        on_unresolved="ignore",
    )  # fmt: skip
    assert found.value == pytest.approx(height((h, e)), abs=1e-9)
    by_height = slope(lambda x: height((h + x, e)), 1e-3)
    assert found["start"].position[0, 2] == pytest.approx(by_height, rel=1e-8)
    assert found["floor.restitution"] == pytest.approx(slope(lambda x: height((h, e + x)), 1e-3), rel=1e-8)


@pytest.mark.slow
def test_in_parts_to_the_same_bits():
    """In a memory that holds a few steps alone; objectives at several times."""
    mechanism, state = two_balls(0.7)
    names, times = ["start", "hit.restitution", "a.mass"], [0.1, 0.2, 0.3]

    def total(states):
        return sum(k * each.velocity[0, 0] + each.position[1, 1] for k, each in enumerate(states))

    run = {"with_respect_to": names, "times": times, "state": state, "on_unresolved": "ignore"}
    whole = vi.gradient(mechanism, total, 0.3, DT, **run)
    parts = vi.gradient(mechanism, total, 0.3, DT, memory=120_000, **run)
    assert np.array_equal(np.hstack(whole["start"]), np.hstack(parts["start"]))
    assert [whole[name] for name in names[1:]] == [parts[name] for name in names[1:]]


def height_of(state):
    return state.position[0, 2]


@pytest.mark.parametrize(
    ("more", "settings", "message"),
    [
        ([], {"order": 4}, "floor.* is a hard contact"),
        ([], {"adaptive": True}, "floor.* is a hard contact"),
        (
            [vi.LengthStop("stop", "world", "cube", point_a=(0, 0, 9), point_b=(0, 0, 0.5), upper=20.0)],
            {},
            "may act in one impact",
        ),
    ],
)
def test_refusals_before_the_run(more, settings, message):
    mechanism, state = sliding()
    mechanism = replace(mechanism, forces=[*mechanism.forces, *more])
    with pytest.raises(vi.ArgumentError, match=message):
        vi.gradient(mechanism, height_of, 0.1, DT, with_respect_to=["start"], state=state, **settings)


@pytest.mark.slow
def test_what_has_no_derivative_is_refused():
    """More points than determine their forces where these matter, other normals, an impact at a node."""
    mechanism, state = sliding()
    spun = replace(state, angular_velocity=np.array([[0, 0, 5.0]]))
    with pytest.raises(vi.ArgumentError, match=r"not determined.*three points"):
        vi.gradient(mechanism, lambda s: s.position[0, 0], 0.1, DT, with_respect_to=["start"], state=spun)
    for name, message in (("floor.points", "places of its points"), ("floor.normal", "normals of planes")):
        with pytest.raises(vi.ArgumentError, match=message):
            vi.gradient(mechanism, lambda s: s.position[0, 0], 0.1, DT, with_respect_to=[name], state=state)
    mechanism, state = chain()
    with pytest.raises(vi.ArgumentError, match="its friction"):
        vi.gradient(mechanism, lambda s: s.position[0, 0], 0.1, DT, with_respect_to=["f1.friction"], state=state)
    balls = [ball("a", 0.1, 1.0, (0, 0, 0)), ball("b", 0.1, 1.0, (0.5, 0, 0))]
    mechanism = free_scene("two", balls, [vi.Contact("hit", "a", "b", restitution=1.0)], (0, 0, 0))
    state = state_of(mechanism, [(1, 0, 0), (0, 0, 0)], np.zeros((2, 3)))
    with pytest.raises(vi.ArgumentError, match=r"'hit' is met at the very instant .* of a node"):
        vi.gradient(mechanism, lambda s: s.position[1, 0], 1.0, DT, with_respect_to=["start"], state=state)


@pytest.mark.slow
def test_more_points_than_a_gradient_has_space_for_are_told_by_name():
    corner = [(x, y, 0.05) for x in np.linspace(-0.4, 0.4, 3) for y in np.linspace(-0.4, 0.4, 135)]
    body = vi.Body.box("b", (1, 1, 0.1), 1.0, position=(0, 0, 0.05))
    contacts = [vi.HardContact(name, "b", radius=0.05, points=corner[k:][: 400 if k == 0 else 5]) for name, k in FEET]
    mechanism = vi.Mechanism("m", [body], [vi.Free("j", "world", "b")], forces=contacts)
    with pytest.raises(vi.ArgumentError, match="hardcontact 'more' has points beyond the 400"):
        vi.gradient(mechanism, height_of, 1e-3, 1e-3, with_respect_to=["start"])
