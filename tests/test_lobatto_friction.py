"""Dry friction of hard contacts in collocation: sticking, slipping, stopping, rolling, against own integrations."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from test_lobatto_contacts import simulate
from test_stops import GRAVITY

import varint as vi

EXACT = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-14}


def slope_of(errors, steps):
    return np.log(errors[0] / errors[-1]) / np.log(steps[-1] / steps[0])


def on_slope(angle, friction, speed, points=None):
    """A block of 1 kg on a slope, with a speed up along it; the direction up."""
    normal, up = np.array([-np.sin(angle), 0.0, np.cos(angle)]), np.array([np.cos(angle), 0.0, np.sin(angle)])
    block = vi.Body.box("block", (0.1, 0.1, 0.1), 1.0, position=(0, 0, 0))
    ground = vi.HardContact("ground", "block", points=points, normal=normal, friction=friction)
    mechanism = vi.Mechanism("block", [block], [vi.Free("base", "world", "block")], forces=[ground])
    state = mechanism.state()
    return mechanism, vi.State(state.position, state.quat_wxyz, speed * up[None], np.zeros((1, 3))), up


@pytest.mark.parametrize(("angle", "friction"), [(30.0, 0.8), (45.0, 0.3)])
@pytest.mark.parametrize("order", [4, 8])
def test_a_block_that_slides_up_stops_or_slides_down(angle, friction, order):
    """It stops within a step where friction holds it, else it slides back at once."""
    angle, speed = np.radians(angle), 2.0
    mechanism, state, up = on_slope(angle, friction, speed)
    run = simulate(mechanism, 0.6, 0.05, order, state)
    before, after = (GRAVITY * (np.sin(angle) + sign * friction * np.cos(angle)) for sign in (1.0, -1.0))
    when = speed / before
    late = np.maximum(run.t - when, 0.0)
    expected = np.where(run.t < when, speed * run.t - 0.5 * before * run.t**2, 0.5 * speed * when)
    expected -= 0.5 * max(after, 0.0) * late**2
    assert np.abs(run.position[:, 0] @ up - expected).max() < 1e-12
    assert np.abs(run.energy_balance).max() < 1e-12
    pull = np.sin(angle) if after < 0.0 else friction * np.cos(angle)
    assert run.contact_force["ground"][-1] @ up == pytest.approx(GRAVITY * pull, rel=1e-9)


LENGTH, HALF, INERTIA, MU, LEAN, RATE = 1.0, 0.5, 1.0 / 12.0, 0.35, 0.2, 0.3


def rod():
    """A rod of 1 kg that stands on its tip, leans and falls; its tip sticks at first."""
    at = HALF * np.array([np.sin(LEAN), 0.0, np.cos(LEAN)])
    body = vi.Body("rod", mass=1.0, inertia=np.diag([INERTIA, INERTIA, 1e-3]), position=at)
    plane = vi.Planar("base", "world", "rod", point=(0, 0, 0), axis=(0, 1, 0))
    tip = vi.HardContact("tip", "rod", points=[(0, 0, 0)], friction=MU)
    mechanism = vi.Mechanism("rod", [body], [plane], forces=[tip])
    state = mechanism.state()
    velocity = RATE * np.array([[at[2], 0.0, -at[0]]])
    return mechanism, vi.State(state.position, state.quat_wxyz, velocity, np.array([[0.0, RATE, 0.0]]))


def sticking(t, y):
    return [y[1], GRAVITY * HALF * np.sin(y[0]) / (INERTIA + HALF**2)]


def left_of_friction(t, y):
    a, s, c = sticking(t, y)[1], np.sin(y[0]), np.cos(y[0])
    return MU * (GRAVITY - HALF * (a * s + y[1] ** 2 * c)) - abs(HALF * (a * c - y[1] ** 2 * s))


left_of_friction.terminal = True


def slipping(t, y):
    """Rates of place, lean, velocity and rate of lean; the tip slips to -x."""
    _, lean, speed, rate = y
    s, c = np.sin(lean), np.cos(lean)
    arm = HALF * (s - MU * c)
    bend = (GRAVITY - HALF * rate**2 * c) * arm / (INERTIA + HALF * s * arm)
    return [speed, rate, MU * (GRAVITY - HALF * (bend * s + rate**2 * c)), bend]


def rod_at(end):
    """Place (2,), velocity along the ground and rate of the lean at an instant; when the tip slips."""
    first = solve_ivp(sticking, (0.0, end), [LEAN, RATE], events=left_of_friction, **EXACT)
    when, (lean, rate) = first.t[-1], first.y[:, -1]
    x, lean, speed, rate = HALF * np.sin(lean), lean, HALF * np.cos(lean) * rate, rate
    if when < end:
        x, lean, speed, rate = solve_ivp(slipping, (when, end), [x, lean, speed, rate], **EXACT).y[:, -1]
    return np.array([x, HALF * np.cos(lean), speed, rate]), when


@pytest.mark.slow
@pytest.mark.parametrize(("end", "order", "steps"), [
    (0.3, 4, (10, 20, 40)), (0.3, 6, (5, 10, 20)), (0.44, 4, (20, 40, 80, 160)), (0.44, 6, (10, 20, 40)),
])  # fmt: skip
def test_a_rod_sticks_on_its_tip_and_slips(end, order, steps):
    """The tip sticks up to 0.328 s."""
    mechanism, state = rod()
    (expected, when), errors = rod_at(end), []
    assert when == pytest.approx(min(end, 0.32822422581), abs=1e-10)
    for count in steps:
        run = simulate(mechanism, end, end / count, order, state)
        assert run.substeps == (end > when)
        place, velocity = run.position[-1, 0], run.velocity[-1, 0]
        got = np.array([place[0], place[2], velocity[0], run.angular_velocity[-1, 0, 1]])
        errors.append(np.abs(got - expected).max())
    assert slope_of(errors, steps) == pytest.approx(order, abs=0.3)


RADIUS = 0.1


def thrown_ball(friction, velocity, spin, tilt=0.0):
    """A ball of 1 kg on a plane that is tilted about y: gravity pulls along x."""
    ball = vi.Body.sphere("ball", RADIUS, 1.0, position=(0, 0, RADIUS))
    ground = vi.HardContact("ground", "ball", radius=RADIUS, friction=friction)
    gravity = GRAVITY * np.array([np.sin(tilt), 0.0, -np.cos(tilt)])
    mechanism = vi.Mechanism("ball", [ball], [vi.Free("base", "world", "ball")], forces=[ground], gravity=gravity)
    state = mechanism.state()
    return mechanism, vi.State(state.position, state.quat_wxyz, np.array([velocity]), np.array([spin]))


@pytest.mark.parametrize("order", [4, 8])
def test_a_ball_begins_to_roll(order):
    """At 5/7 of its speed, after 2/7 of it over the friction; it goes on so."""
    friction, speed = 0.3, 1.0
    mechanism, state = thrown_ball(friction, (speed, 0.0, 0.0), (0.0, 0.0, 0.0))
    run = simulate(mechanism, 0.3, 0.025, order, state)
    when = 2.0 / 7.0 * speed / (friction * GRAVITY)
    late = run.t > when
    x = np.where(late, speed * when - 0.5 * friction * GRAVITY * when**2 + 5.0 / 7.0 * speed * (run.t - when),
                 speed * run.t - 0.5 * friction * GRAVITY * run.t**2)  # fmt: skip
    assert np.abs(run.position[:, 0, 0] - x).max() < 1e-10
    assert run.velocity[late, 0, 0] == pytest.approx(5.0 / 7.0 * speed, abs=1e-10)
    assert RADIUS * run.angular_velocity[late, 0, 1] == pytest.approx(5.0 / 7.0 * speed, abs=1e-10)
    assert run.energy[-1] - run.energy[0] == pytest.approx(-(speed**2) / 7.0, abs=1e-9)


def slipping_ball(friction, tilt, end, state):
    """Place (2,) and velocity (2,) of a ball whose slip turns, while it slips."""
    pull, load, inertia = GRAVITY * np.sin(tilt), GRAVITY * np.cos(tilt), 0.4 * RADIUS**2

    def rates(t, y):
        slip = np.array([y[2] - RADIUS * y[5], y[3] + RADIUS * y[4]])
        force = -friction * load * slip / np.linalg.norm(slip)
        return [y[2], y[3], pull + force[0], force[1], RADIUS * force[1] / inertia, -RADIUS * force[0] / inertia]

    start = [0.0, 0.0, *state.velocity[0, :2], *state.angular_velocity[0, :2]]
    return solve_ivp(rates, (0.0, end), start, **EXACT).y[:4, -1]


@pytest.mark.slow
@pytest.mark.parametrize(("order", "steps"), [(4, (8, 16, 32)), (6, (4, 8))])
def test_the_order_holds_where_a_slip_turns(order, steps):
    mechanism, state = thrown_ball(0.3, (1.0, 0.5, 0.0), (3.0, 0.0, 2.0), 0.2)
    expected, errors = slipping_ball(0.3, 0.2, 0.08, state), []
    for count in steps:
        run = simulate(mechanism, 0.08, 0.08 / count, order, state)
        errors.append(np.abs(np.array([*run.position[-1, 0, :2], *run.velocity[-1, 0, :2]]) - expected).max())
    assert slope_of(errors, steps) == pytest.approx(order, abs=0.3)


def test_a_box_on_four_corners_does_not_creep():
    """Twelve rows of which six are redundant; what friction cannot hold slides by its own law."""
    corners = [(x, y, -0.05) for x in (-0.05, 0.05) for y in (-0.05, 0.05)]
    box = vi.Body.box("box", (0.1, 0.1, 0.1), 1.0, position=(0, 0, 0))
    angle = np.radians(20)
    gravity = GRAVITY * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    for friction, slides in ((0.5, 0.0), (0.2, 1.0)):
        ground = vi.HardContact("ground", "box", points=corners, ground=(0, 0, -0.05), friction=friction)
        mechanism = vi.Mechanism("box", [box], [vi.Free("base", "world", "box")], forces=[ground], gravity=gravity)
        run = simulate(mechanism, 0.5, 0.05, 6)
        speed_up = slides * GRAVITY * (np.sin(angle) - friction * np.cos(angle))
        assert run.position[:, 0, 0] == pytest.approx(0.5 * speed_up * run.t**2, abs=1e-11)
        assert np.abs(run.velocity[:, 0, 1:]).max() < 1e-11
        assert np.abs(run.energy_balance).max() < 1e-10


@pytest.mark.slow
def test_impacts_with_friction_agree_with_reduced_coordinates():
    """A ball that bounces with spin, then rolls."""
    ball = vi.Body.sphere("ball", RADIUS, 1.0, position=(0, 0, 0.3))
    ground = vi.HardContact("ground", "ball", radius=RADIUS, friction=0.4, restitution=0.6)
    mechanism = vi.Mechanism("ball", [ball], [vi.Free("base", "world", "ball")], forces=[ground])
    start = mechanism.state()
    state = vi.State(start.position, start.quat_wxyz, np.array([[1.0, 0, 0]]), np.array([[0, -8.0, 0]]))
    run = simulate(mechanism, 1.0, 0.02, 6, state)
    exact = vi.redmax.simulate(mechanism, 1.0, state=state, rtol=1e-11)
    assert np.abs(run.position[-1] - exact.position[-1]).max() < 1e-7
    assert np.abs(run.angular_velocity[-1] - exact.angular_velocity[-1]).max() < 1e-6


def test_runs_of_files_go_on_to_the_same_bits(tmp_path):
    (mechanism, state), path = rod(), tmp_path / "run.h5"
    whole = simulate(mechanism, 0.44, 0.02, 6, state)
    for duration in (0.2, 0.36, 0.44):  # sticks, slips
        joined = simulate(mechanism, duration, 0.02, 6, state, output=path, resume=path.exists())
    for name in ("position", "velocity", "work"):
        assert getattr(whole, name).tobytes() == getattr(joined, name).tobytes()
    times = np.array([0.1, 0.33, 0.4001])
    assert simulate(mechanism, 0.44, 0.02, 6, state, output_times=times).substeps == whole.substeps
