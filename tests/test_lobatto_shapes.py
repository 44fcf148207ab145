"""Contacts of shapes in collocation, by closed forms and integrators with error control."""

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from test_lobatto_contacts import simulate
from test_lobatto_friction import EXACT, slope_of
from test_stops import GRAVITY

import varint as vi
from varint.methods.variational import collocation_events

BOX = [vi.BoxShape((0.3, 0.2, 0.1))]
FLAT = {"ground": [vi.PlaneShape()]}


def resting(body, friction=0.0, restitution=0.0, gravity=(0, 0, -GRAVITY), ground=FLAT["ground"]):
    """A free body that may touch the ground."""
    contact = vi.Contact("floor", body.name, "world", friction=friction, restitution=restitution)
    base = vi.Free("base", "world", body.name)
    return vi.Mechanism("m", [body], [base], gravity, forces=[contact], ground=ground)


def started(mechanism, velocity, spin):
    state = mechanism.state()
    return vi.State(state.position, state.quat_wxyz, np.array([velocity]), np.array([spin]))


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e6])
def test_a_ball_bounces_on_a_plane(size):
    """Four impacts located to round-off, in steps that are not near them, at any size of the parts."""
    radius, second = 0.1 * size, np.sqrt(size)
    ball = vi.Body.sphere("ball", radius, 1.0, position=(0, 0, 5 * radius), collision=True)
    run = simulate(resting(ball, restitution=0.8), 1.0 * second, 0.1 * second, 4)
    rise, left = GRAVITY * np.sqrt(8 * radius / GRAVITY), second - np.sqrt(8 * radius / GRAVITY)
    impacts = 1
    while left > 0.0:
        rise, impacts = 0.8 * rise, impacts + 1
        left -= 2 * rise / GRAVITY
    left, impacts = left + 2 * rise / GRAVITY, impacts - 1
    assert run.position[-1, 0, 2] - radius == pytest.approx(rise * left - 0.5 * GRAVITY * left**2, abs=1e-13 * size)
    assert run.substeps >= impacts - 1


def two_balls(restitution, offset, friction=0.0):
    """Balls of 1 and 2 kg in free flight, which meet off their middles."""
    bodies = [
        vi.Body.sphere("a", 0.1, 1.0, position=(0, 0, 0), collision=True),
        vi.Body.sphere("b", 0.2, 2.0, position=(1, offset, 0), collision=True),
    ]
    joints = [vi.Free(f"free {body.name}", "world", body.name) for body in bodies]
    meet = vi.Contact("meet", "a", "b", restitution=restitution, friction=friction)
    mechanism = vi.Mechanism("balls", bodies, joints, (0, 0, 0), forces=[meet])
    return mechanism, mechanism.state(velocity={"a": (3.0, 0, 0)})


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_two_balls_meet_off_their_middles(restitution):
    mechanism, state = two_balls(restitution, 0.15)
    run = simulate(mechanism, 0.5, 0.1, 4, state)
    away = np.sqrt(0.3**2 - 0.15**2)
    normal = np.array([away, 0.15, 0.0]) / 0.3
    impulse = (1.0 + restitution) * 3.0 * normal[0] / (1.0 + 0.5)
    left = 0.5 - (1.0 - away) / 3.0
    first = np.array([1.0 - away, 0, 0]) + left * (np.array([3.0, 0, 0]) - impulse * normal)
    assert run.position[-1, 0] == pytest.approx(first, abs=1e-11)
    assert run.position[-1, 1] == pytest.approx([1, 0.15, 0] + left * 0.5 * impulse * normal, abs=1e-11)
    lost = 0.5 * (2.0 / 3.0) * (3.0 * normal[0]) ** 2 * (1.0 - restitution**2)
    assert run.energy[0] - run.energy[-1] == pytest.approx(lost, abs=1e-11)
    assert run.dissipated["meet"][-1] == pytest.approx(lost, abs=1e-11)


BIG, SMALL = 0.3, 0.1


def on_a_ball(friction):
    """A ball at rest a little off the top of a fixed one."""
    reach, lean = BIG + SMALL, 0.1
    ball = vi.Body.sphere("ball", SMALL, 1.0, position=(reach * np.sin(lean), 0, reach * np.cos(lean)), collision=True)
    return resting(ball, friction, ground=[vi.SphereShape(BIG)]), reach, lean


def test_a_ball_slides_off_a_ball_where_the_forces_say():
    """Without friction the angle a at which it leaves has cos a = 2/3 of that at the start; then it falls freely."""
    mechanism, reach, lean = on_a_ball(0.0)
    leaves = np.arccos(2.0 / 3.0 * np.cos(lean))
    fall = lambda a: 2.0 * np.sin(0.5 * (a + lean)) * np.sin(0.5 * (a - lean))  # noqa: E731
    rate = lambda a: np.sqrt(2 * GRAVITY * fall(a) / reach)  # noqa: E731
    when = quad(lambda s: 2 * s / rate(lean + s * s), 0.0, np.sqrt(leaves - lean), epsabs=1e-14, epsrel=1e-14)[0]
    speed, later = reach * rate(leaves), 0.05
    x = reach * np.sin(leaves) + speed * np.cos(leaves) * later
    z = reach * np.cos(leaves) - speed * np.sin(leaves) * later - 0.5 * GRAVITY * later**2
    errors, steps = [], (10, 20, 40)
    for count in steps:
        run = simulate(mechanism, when + later, (when + later) / count, 4)
        assert run.substeps in (1, 2)
        errors.append(np.hypot(*(run.position[-1, 0, ::2] - (x, z))))
    assert slope_of(errors, steps) == pytest.approx(4, abs=0.3)
    run = simulate(mechanism, when + later, (when + later) / 20, 8)
    assert run.position[-1, 0, ::2] == pytest.approx([x, z], abs=1e-10)
    assert np.abs(run.energy_balance).max() < 1e-10


def test_a_ball_rolls_off_a_ball():
    """It rolls from rest up to where friction ends, then slides and leaves: against own integrations."""
    friction = 0.3
    mechanism, reach, lean = on_a_ball(friction)

    def rolling(t, y):
        return [y[1], GRAVITY * np.sin(y[0]) / (1.4 * reach)]

    def grips(t, y):
        load = GRAVITY * np.cos(y[0]) - reach * y[1] ** 2
        return friction * load - 2.0 / 7.0 * GRAVITY * np.sin(y[0])

    def sliding(t, y):
        load = GRAVITY * np.cos(y[0]) - reach * y[1] ** 2
        return [y[1], (GRAVITY * np.sin(y[0]) - friction * load) / reach]

    def presses(t, y):
        return GRAVITY * np.cos(y[0]) - reach * y[1] ** 2

    grips.terminal = presses.terminal = True
    first = solve_ivp(rolling, (0, 5), [lean, 0.0], events=grips, **EXACT)
    second = solve_ivp(sliding, (first.t[-1], 5), first.y[:, -1], events=presses, **EXACT)
    later, (a, w) = 0.04, second.y[:, -1]
    end = second.t[-1] + later
    x = reach * (np.sin(a) + w * np.cos(a) * later)
    z = reach * (np.cos(a) - w * np.sin(a) * later) - 0.5 * GRAVITY * later**2
    errors, steps = [], (20, 40)
    for count in steps:
        run = simulate(mechanism, end, end / count, 6)
        assert run.substeps == 2
        errors.append(np.hypot(*(run.position[-1, 0, ::2] - (x, z))))
    assert slope_of(errors, steps) == pytest.approx(6, abs=0.7)
    assert errors[-1] < 1e-8
    assert np.abs(run.energy_balance).max() < 1e-8


@pytest.mark.parametrize("shape", ["box", "capsule", "mesh"])
def test_shapes_on_a_plane_are_points_on_it(shape):
    """They move as the same points of a `HardContact` do, through impacts with friction."""
    tips, radius = np.array([(-0.1, 0, 0), (0.1, 0, 0)]), 0.05
    if shape == "capsule":
        collision, points = [vi.CapsuleShape(*tips, radius)], tips
    else:
        points, radius = (
            0.5 * np.array([0.3, 0.2, 0.1]) * [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)],
            0.0,
        )
        collision = [vi.BoxShape((0.3, 0.2, 0.1))] if shape == "box" else [vi.ConvexMesh(points)]
    at = np.array([0, 0, 0.2])
    body = vi.Body("body", mass=1.0, inertia=np.diag([0.004, 0.008, 0.01]), position=at, collision=collision)
    law = {"friction": 0.3, "restitution": 0.8}
    shaped = resting(body, **law)
    pointed = vi.HardContact("floor", "body", points=points + at, radius=radius, **law)
    pointed = vi.Mechanism("p", [body], [vi.Free("base", "world", "body")], forces=[pointed])
    first, second = (
        simulate(each, 0.3, 0.01, 6, started(each, (0.5, 0.1, -0.5), (0.5, 1.0, 0.3))) for each in (shaped, pointed)
    )
    assert first.substeps == second.substeps > 0
    assert np.abs(first.position - second.position).max() < 1e-9
    assert np.abs(first.dissipated["floor"] - second.dissipated["floor"]).max() < 1e-9


def test_a_ball_on_a_plate_that_swings():
    """The plane is on a body that a motion drives: the ball slides along it, against its own equation."""
    swing = lambda t: 0.3 * np.sin(2 * t)  # noqa: E731
    plate = vi.Body("plate", mass=1.0, inertia=np.eye(3), collision=[vi.PlaneShape()])
    ball = vi.Body.sphere("ball", 0.1, 1.0, position=(0.2, 0, 0.1), collision=True)
    hinge = vi.Revolute("hinge", "world", "plate", point=(0, 0, 0), axis=(0, 1, 0))
    forces = [vi.PrescribedMotion("drive", joint="hinge", position=swing), vi.Contact("meet", "ball", "plate")]
    mechanism = vi.Mechanism("m", [plate, ball], [hinge, vi.Free("base", "world", "ball")], forces=forces)
    state = mechanism.state(rates={"hinge": 0.6}, velocity={"ball": (0.06, 0, -0.12)})

    def motion(t, y):  # along x of the plate, which turns from z towards x
        angle, rate, change = swing(t), 0.6 * np.cos(2 * t), -1.2 * np.sin(2 * t)
        return [y[1], GRAVITY * np.sin(angle) + rate**2 * y[0] - change * 0.1]

    end = 0.4
    exact = solve_ivp(motion, (0, end), [0.2, 0.0], **EXACT).y[0, -1]
    c, s = np.cos(swing(end)), np.sin(swing(end))
    errors, steps = [], (4, 8, 16)
    for count in steps:
        run = simulate(mechanism, end, end / count, 4, state)
        errors.append(np.abs(run.position[-1, 1, ::2] - (c * exact + s * 0.1, c * 0.1 - s * exact)).max())
    assert slope_of(errors, steps) == pytest.approx(4, abs=0.4)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "duration", "dt", "most"), [
    ("newtons_cradle", 0.6, 0.01, 1e-12), ("rimless_wheel", 1.0, 0.02, 1e-11), ("ratchet", 0.6, 0.002, 1e-11),
    ("cam_follower", 0.1, 0.004, 1e-12),
])  # fmt: skip
def test_mechanisms_of_the_catalogue(name, duration, dt, most):
    """Against an integrator with error control in reduced coordinates; the law of energy holds through all events."""
    mechanism = getattr(vi.mechanisms, name)()
    exact = vi.redmax.simulate(mechanism, duration, rtol=1e-11)
    run = simulate(mechanism, duration, dt)
    assert np.abs(run.position[-1] - exact.position[-1]).max() < most
    assert np.abs(run.energy_balance).max() < 1e-9 * np.abs(run.kinetic).max() + 1e-10
    assert run.largest_penetration.max() < 1e-11


def test_bits_of_a_run_that_goes_on_and_of_a_stepper(tmp_path):
    mechanism, path, dt = vi.mechanisms.ratchet(), tmp_path / "run.h5", 0.002
    whole = simulate(mechanism, 50 * dt, dt, 4)
    assert whole.substeps > 0
    for duration in (17 * dt, 50 * dt):
        joined = simulate(mechanism, duration, dt, 4, output=path, resume=path.exists())
    sim = vi.Stepper(mechanism, vi.Lobatto(dt, 4, on_unresolved="ignore"), every=1)
    for _ in range(50):
        sim.step()
    for name in ("position", "velocity", "work"):
        assert getattr(whole, name).tobytes() == getattr(joined, name).tobytes()
    assert sim.state.position.tobytes() == whole.position[-1].tobytes()


def test_what_is_refused():
    ends = (0, 0, -0.1), (0, 0, 0.1)
    disc = vi.Body.cylinder("disc", 0.1, 0.2, 1.0, position=(0, 0, 1), collision=[vi.CylinderShape(*ends, 0.1)])
    with pytest.raises(vi.ArgumentError, match=r"'floor'.*CylinderShape"):
        simulate(resting(disc), 0.1, 0.01)
    ball = vi.Body.sphere("ball", 0.1, 1.0, position=(0, 0, 1), collision=True)
    rolls = vi.Contact("floor", "ball", "world", friction=0.3, rolling=0.01)
    rolls = vi.Mechanism("m", [ball], [vi.Free("base", "world", "ball")], forces=[rolls], ground=[vi.PlaneShape()])
    with pytest.raises(vi.ArgumentError, match=r"'floor'.*rolling resistance"):
        simulate(rolls, 0.1, 0.01)
    with pytest.raises(vi.ArgumentError, match="gradients of collocation steps"):
        vi.gradient(
            vi.Problem(resting(ball), 0.1),
            lambda run: run.position[-1, 0, 2],
            vi.Lobatto(0.01),
            with_respect_to=["start"],
        )
    deep = vi.Body.sphere("ball", 0.1, 1.0, position=(0, 0, 0.05), collision=True)
    with pytest.raises(vi.StateError, match="overlap"):
        simulate(resting(deep), 0.1, 0.01)


@pytest.mark.long
def test_corners_pass_an_edge_together():
    """Of two dominoes the upper edge of one slides over the lower edge of the other, and both corners part there."""
    run = simulate(vi.mechanisms.dominoes(2), 0.308, 0.004)
    assert np.abs(run.energy_balance).max() < 1e-11
    assert run.energy[-1] == pytest.approx(0.0028895964, abs=1e-9)  # by steps of order 2 of 10 us
    assert np.abs(run.position[-1, :, 1]).max() < 1e-9


def test_a_capsule_lies_on_both_ends():
    """One end lands before the other, which has a row of its own while both touch."""
    capsule = [vi.CapsuleShape((-0.1, 0, 0), (0.1, 0, 0), 0.05)]
    body = vi.Body("body", mass=1.0, inertia=np.diag([0.001, 0.004, 0.004]), position=(0, 0, 0.06), collision=capsule)
    mechanism = resting(body)
    run = simulate(mechanism, 0.3, 0.01, 6, started(mechanism, (0.1, 0, 0), (0, 0.2, 0)))
    assert run.substeps >= 2
    assert run.position[-1, 0] == pytest.approx([0.03, 0, 0.05], abs=1e-10)
    assert np.abs(run.angular_velocity[-1]).max() < 1e-9
    assert np.abs(run.energy_balance).max() < 1e-9


def box_on_a_corner(restitution):
    box = vi.Body("box", mass=1.0, inertia=np.diag([0.004, 0.008, 0.01]), position=(0, 0, 0.25), collision=BOX)
    mechanism = resting(box, 0.1, restitution)
    return mechanism, started(mechanism, (0.5, 0.1, -0.5), (0.5, 1.0, 0.3))


@pytest.mark.parametrize(("restitution", "duration"), [(0.0, 1.0), (0.3, 0.25)])
def test_a_box_that_tumbles_loses_what_impacts_and_friction_take(restitution, duration):
    """Corners rebound while others slide: none is held where an impact elsewhere parts it."""
    mechanism, state = box_on_a_corner(restitution)
    run = simulate(mechanism, duration, 0.01, 8, state)
    assert run.substeps > 5
    assert np.abs(run.energy_balance).max() < 1e-7
    assert np.diff(run.energy).max() < 1e-9


@pytest.mark.parametrize("share", [1.0, 0.9])
def test_energy_that_an_event_takes_without_work_ends_the_run(share, monkeypatch):
    """Such an event is not taken silently, whatever brought it about."""
    act = collocation_events.act_event

    def acts(plan, ws, pose, timed):
        act(plan, ws, pose, timed)
        ws.momentum[:] *= share

    monkeypatch.setattr(collocation_events, "act_event", acts)
    ball = vi.Body.sphere("ball", 0.1, 1.0, position=(0, 0, 0.5), collision=True)
    bounces = resting(ball, restitution=0.8)
    if share == 1.0:
        assert np.abs(simulate(bounces, 0.4, 0.1, 4).energy_balance).max() < 1e-12
        return
    with pytest.raises(vi.ConvergenceError, match="could not be solved"):
        simulate(bounces, 0.4, 0.1, 4)


def test_events_without_end_end_the_run(monkeypatch):
    mechanism = on_a_ball(0.0)[0]
    assert simulate(mechanism, 0.8, 0.05, 6).substeps > 0
    monkeypatch.setattr(collocation_events, "MOST_CHANGES", -1000)
    with pytest.raises(vi.ConvergenceError, match="could not be solved"):
        simulate(mechanism, 0.8, 0.05, 6)
