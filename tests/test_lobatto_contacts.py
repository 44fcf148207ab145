"""Hard contacts in collocation, without friction: impacts within a step, rest, letting go, and runs that go on."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from test_stepper import assert_same, stepped
from test_stops import GRAVITY
from test_stops_at_every_order import end_of

import varint as vi


def simulate(mechanism, duration, dt, order=8, state=None, **recording):
    method = vi.Lobatto(dt, order, on_unresolved="ignore")
    return vi.simulate(vi.Problem(mechanism, duration, state), method, vi.Recording(**recording))


def thrown(restitution, height=0.3):
    """A box that may touch the ground by its eight corners, on its way, turning."""
    size = np.array((0.3, 0.2, 0.1))
    box = vi.Body.box("box", size, 1.0, position=(0, 0, height))
    corners = box.position + 0.5 * size * [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    ground = vi.HardContact("ground", "box", points=corners, restitution=restitution)
    mechanism = vi.Mechanism("thrown", [box], [vi.Free("base", "world", "box")], forces=[ground])
    quat = np.array([1.0, 0.2, 0.3, 0.1]) / np.linalg.norm([1.0, 0.2, 0.3, 0.1])
    start = box.position[None], quat[None], np.array([[0.3, 0.0, -0.5]]), np.array([[2.0, 1.5, -1.0]])
    return mechanism, vi.State(*start)


@pytest.mark.slow
@pytest.mark.parametrize(("order", "steps"), [(4, (30, 60, 120)), (6, (30, 60)), (8, (20, 40))])
def test_the_order_holds_between_impacts(order, steps):
    """After five impacts of corners, against an integrator with error control in reduced coordinates."""
    mechanism, state = thrown(0.8)
    exact, errors = end_of(vi.redmax.simulate(mechanism, 0.6, state=state, rtol=1e-13)), []
    for count in steps:
        run = simulate(mechanism, 0.6, 0.6 / count, order, state)
        assert run.substeps == 5
        errors.append(np.abs(end_of(run) - exact).max())
    slope = np.log(errors[0] / errors[-1]) / np.log(steps[-1] / steps[0])
    assert slope == pytest.approx(order, abs=0.3)


LENGTH, INERTIA, LEAN = 1.0, 1.0 / 12.0, np.radians(70)


def ladder():
    """A rod of 1 kg that leans at a wall, on smooth ground."""
    x, z = LENGTH * np.cos(LEAN), LENGTH * np.sin(LEAN)
    rod = vi.Body("rod", mass=1.0, inertia=np.diag([INERTIA, INERTIA, 1e-3]), position=(0.5 * x, 0, 0.5 * z))
    plane = vi.Planar("base", "world", "rod", point=(0, 0, 0), axis=(0, 1, 0))
    ends = (
        vi.HardContact("ground", "rod", points=[(x, 0, 0)]),
        vi.HardContact("wall", "rod", points=[(0, 0, z)], normal=(1, 0, 0)),
    )
    return vi.Mechanism("ladder", [rod], [plane], forces=ends)


def fallen(later):
    """Place and velocity of its centre ``later`` after it left the wall, and that instant, where it is 2/3 as high."""

    def leaning(t, y):
        return [y[1], -0.5 * GRAVITY * np.cos(y[0]) / (0.25 + INERTIA)]

    def wall(t, y):
        return -0.5 * (np.sin(y[0]) * leaning(t, y)[1] + np.cos(y[0]) * y[1] ** 2)

    wall.terminal = True
    exact = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-14}
    first = solve_ivp(leaning, (0.0, 2.0), [LEAN, 0.0], events=wall, **exact)
    when, (angle, rate) = first.t_events[0][0], first.y_events[0][0]
    assert np.sin(angle) == pytest.approx(2.0 / 3.0 * np.sin(LEAN), abs=1e-10)

    def sliding(t, y):
        c, s = 0.5 * np.cos(y[0]), 0.5 * np.sin(y[0])
        return [y[1], c * (s * y[1] ** 2 - GRAVITY) / (INERTIA + c * c)]

    angle_at, rate_at = solve_ivp(sliding, (when, when + later), [angle, rate], **exact).y[:, -1]
    speed = -0.5 * np.sin(angle) * rate
    x = 0.5 * np.cos(angle) + speed * later
    return np.array([x, 0.5 * np.sin(angle_at), speed, 0.5 * np.cos(angle_at) * rate_at]), when + later


@pytest.mark.parametrize(("order", "steps"), [(4, (20, 40, 80)), (6, (10, 20))])
def test_a_ladder_leaves_the_wall_within_a_step(order, steps):
    expected, end = fallen(0.1)
    errors = []
    for count in steps:
        run = simulate(ladder(), end, end / count, order)
        assert run.substeps == 1
        errors.append(np.abs(np.array([run.position[-1, 0, ::2], run.velocity[-1, 0, ::2]]).ravel() - expected).max())
    slope = np.log(errors[0] / errors[-1]) / np.log(steps[-1] / steps[0])
    assert slope == pytest.approx(order, abs=0.3)
    run = simulate(ladder(), end, end / 20, 8)
    assert np.abs(np.array([run.position[-1, 0, ::2], run.velocity[-1, 0, ::2]]).ravel() - expected).max() < 1e-11
    assert np.abs(run.energy_balance).max() < 1e-11


@pytest.mark.parametrize("restitution", [0.0, 0.3])
def test_a_box_that_was_thrown_comes_to_lie(restitution):
    """It keeps its speed along the ground and its spin about the vertical, as no force changes them."""
    mechanism, state = thrown(restitution, 0.2)
    run = simulate(mechanism, 3.0, 0.02, 6, state)
    assert run.position[-1, 0] == pytest.approx([0.9, 0.0, 0.05], abs=1e-10)
    assert run.velocity[-1, 0] == pytest.approx([0.3, 0.0, 0.0], abs=1e-10)
    assert np.abs(run.angular_velocity[-1, 0, :2]).max() < 1e-9
    assert run.force["ground"][-1] == pytest.approx(GRAVITY, rel=1e-9)
    assert run.contact_force["ground"][-1] == pytest.approx([0.0, 0.0, GRAVITY], abs=1e-8)
    assert run.largest_penetration.max() < 2e-11
    assert run.dissipated["ground"][-1] == pytest.approx(run.energy[0] - run.energy[-1], rel=1e-3)


def falls_beside_a_stop():
    """A ball on the ground and a pendulum, whose joint stop it does not know: events of both in one run."""
    plain = vi.mechanisms.n_pendulum(n=1, angle=1.0)
    size = 0.1
    ball = vi.Body.sphere("ball", size, 1.0, position=(5.0, 0.0, 0.5))
    stop = vi.JointStop("stop", joint="joint 1", lower=-0.3, restitution=0.4)
    ground = vi.HardContact("ground", "ball", radius=size, restitution=0.5)
    joints = [*plain.joints, vi.Free("base", "world", "ball")]
    return vi.Mechanism("both", [*plain.bodies, ball], joints, forces=[stop, ground], start=plain.start)


def test_contacts_beside_stops():
    mechanism = falls_beside_a_stop()
    run = simulate(mechanism, 1.5, 0.02)
    alone = simulate(mechanism.with_forces(remove="ground"), 1.5, 0.02)
    assert np.abs(run.position[:, 0] - alone.position[:, 0]).max() < 1e-10
    assert run.position[-1, 1, 2] == pytest.approx(0.1, abs=1e-10)
    fall = np.sqrt(2 * 0.4 / GRAVITY)
    after = run.t[np.argmax(run.t > fall) :][:8]
    height = 0.1 + 0.5 * GRAVITY * (after - fall) * (fall - (after - fall))
    assert run.position[np.isin(run.t, after), 1, 2] == pytest.approx(height, abs=1e-12)


# runs


def driven(effort):
    """A slide that a motor drives against two walls."""
    body = vi.Body.box("body", (0.1, 0.1, 0.1), 1.0, position=(0, 0, 0))
    slide = vi.Prismatic("slide", "world", "body", point=(0, 0, 0), axis=(1, 0, 0))
    walls = [
        vi.HardContact("left", "body", ground=(-0.2, 0, 0), normal=(1, 0, 0), restitution=0.4),
        vi.HardContact("right", "body", ground=(0.2, 0, 0), normal=(-1, 0, 0)),
    ]
    return vi.Mechanism("driven", [body], [slide], forces=[vi.Motor("motor", joint="slide", effort=effort), *walls])


def pushed(t, state):
    return 6.0 * np.sin(4.0 * t) - 0.1 * state.velocity[0, 0]


@pytest.mark.parametrize("follows", [False, True])
def test_bits_of_simulate_in_a_stepper(follows):
    effort, dt = vi.extrapolated(pushed) if follows else pushed, 0.02
    run = simulate(driven(effort), 80 * dt, dt)
    assert run.substeps > 1
    sim = vi.Stepper(driven(0.0), vi.Lobatto(dt, on_unresolved="ignore"), every=1, extrapolate=follows)
    assert_same(stepped(sim, pushed, 80), run)


def test_a_motor_presses_and_lifts():
    """At rest on a wall under -2 + 3 t N up to 2/3 s; then 1 kg moves by (t - 2/3)^3 / 2 m."""
    run = simulate(driven(lambda t: 3.0 * t - 2.0), 1.2, 0.04, 4, driven(0.0).state(coordinates={"slide": -0.2}))
    late = np.maximum(run.t - 2 / 3, 0.0)
    assert np.abs(run.coordinates["slide"] + 0.2 - 0.5 * late**3).max() < 1e-11


def test_runs_of_files_go_on_to_the_same_bits(tmp_path):
    (mechanism, state), path = thrown(0.3, 0.2), tmp_path / "run.h5"
    whole = simulate(mechanism, 1.6, 0.04, 6, state)
    for duration in (0.2, 0.6, 1.6):  # in the air, bouncing, lying
        joined = simulate(mechanism, duration, 0.04, 6, state, output=path, resume=path.exists())
    for name in ("position", "velocity", "work"):
        assert getattr(whole, name).tobytes() == getattr(joined, name).tobytes()


def test_instants_between_nodes():
    times = np.array([0.05, 0.1933, 0.21, 0.3, 0.59])
    mechanism, state = thrown(0.8)
    run, whole = (
        simulate(mechanism, 0.6, 0.02, 8, state, output_times=times), simulate(mechanism, 0.6, 0.02, 8, state)
    )  # fmt: skip
    exact = vi.redmax.simulate(mechanism, 0.6, state=state, rtol=1e-12, output_times=run.t)
    assert np.abs(run.position - exact.position).max() < 1e-7
    assert (run.steps, run.substeps) == (whole.steps, whole.substeps)


def test_what_is_refused():
    box, base = vi.Body.sphere("box", 0.1, 1.0, position=(0, 0, 1)), vi.Free("base", "world", "box")

    def with_contact(force, **more):
        return vi.Mechanism("refused", [box], [base], forces=[force], **more)

    deep = with_contact(vi.HardContact("ground", "box", ground=(0, 0, 2)))
    with pytest.raises(vi.StateError, match="below its plane"):
        simulate(deep, 0.1, 0.01)
    smooth = with_contact(vi.HardContact("ground", "box"))
    with pytest.raises(vi.ArgumentError, match="gradients of collocation steps"):
        vi.gradient(
            vi.Problem(smooth, 0.1), lambda run: run.position[-1, 0, 2], vi.Lobatto(0.01), with_respect_to=["start"]
        )
