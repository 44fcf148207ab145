"""Wheels that roll without slip and knife edges, against closed forms, independent equations and each other."""

import dataclasses

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import varint as vi
from varint.mechanisms import module
from varint.model.rotation_vectors import rotation_matrix

Z = np.array([0.0, 0.0, 1.0])
QUARTER = np.sqrt(0.5)


def slopes(errors):
    """Observed orders of errors at steps that are halved."""
    return np.log2(np.array(errors[:-1]) / errors[1:])


def leaning_disc(lean=0.4, spin=(0.4, 0.5, 6.0)):
    """A free disc that touches the plane, and its state with an angular velocity near ``spin``, body axes."""
    radius, half = 0.5, 0.5 * (lean - 0.5 * np.pi)
    place = {"position": (0, 0, radius * np.cos(lean)), "quat_wxyz": (np.cos(half), np.sin(half), 0, 0)}
    disc = vi.Body("disc", mass=1.3, inertia=np.diag([0.08, 0.08, 0.15]), **place)
    wheel = vi.RollingWheel("wheel", "disc", radius=radius, axis=(0, np.cos(lean), np.sin(lean)))
    mechanism = vi.Mechanism("disc", [disc], [vi.Free("free", "world", "disc")], forces=[wheel])
    return mechanism, mechanism.state(angular_velocity={"disc": spin})


def disc_by_equations(mechanism, state, duration):
    """x, y, z, R (3, 3), and angular velocity, world, at the end: balance of moments about the contact, by DOP853."""
    body, radius = mechanism.bodies[0], mechanism.forces[0].radius

    def lever(R):
        """From the centre to the contact, and the axis."""
        e = R[:, 2]
        k = Z - e[2] * e
        return -radius * k / np.linalg.norm(k), e

    def lever_rate(R, w):
        e = R[:, 2]
        de, k, size = np.cross(w, e), Z - e[2] * e, np.hypot(e[0], e[1])
        dk = -de[2] * e - e[2] * de
        return -radius * (dk / size - k * (k @ dk) / size**3)

    def slope(_, y):
        R, w = Rotation.from_quat(y[2:6], scalar_first=True).as_matrix(), y[6:]
        rho, _ = lever(R)
        J = R @ body.inertia @ R.T
        crossed = np.cross(np.eye(3), -rho)  # crossed @ a = rho x a
        moment = np.cross(rho, body.mass * (9.81 * Z - np.cross(w, lever_rate(R, w)))) - np.cross(w, J @ w)
        dw = np.linalg.solve(J - body.mass * crossed @ crossed, moment)
        q, v = y[2:6], np.cross(rho, w)
        dq = 0.5 * np.concatenate([[-w @ q[1:]], q[0] * w + np.cross(w, q[1:])])
        return np.concatenate([v[:2], dq, dw])

    R = rotation_matrix(state.quat_wxyz[0])
    start = np.concatenate([state.position[0, :2], state.quat_wxyz[0], R @ state.angular_velocity[0]])
    y = solve_ivp(slope, (0.0, duration), start, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    R = Rotation.from_quat(y[2:6], scalar_first=True).as_matrix()
    return np.array([*y[:2], -lever(R)[0][2]]), R, y[6:]


def error_of_disc(run, exact):
    R = rotation_matrix(run.quat_wxyz[-1, 0])
    reached = run.position[-1, 0], R, R @ run.angular_velocity[-1, 0]
    return max(np.abs(a - b).max() for a, b in zip(reached, exact, strict=True))


def cart():
    """Two wheels on one axle under a chassis whose centre of mass is below it; a motor turns the left one."""
    radius = 0.3
    bodies = [vi.Body.box("chassis", size=(0.5, 0.6, 0.1), mass=10.0, position=(0.1, 0, 0.2))]
    joints, forces = [vi.Free("free", "world", "chassis")], []
    for name, y in (("left", 0.4), ("right", -0.4)):
        place = {"position": (0, y, radius), "quat_wxyz": (QUARTER, QUARTER, 0, 0)}
        bodies.append(vi.Body.cylinder(name, radius, 0.05, 2.0, **place))
        joints.append(vi.Revolute(f"{name} axle", "chassis", name, axis=(0, 1, 0), point=(0, y, radius)))
        forces.append(vi.RollingWheel(name, name, radius=radius, axis=(0, 1, 0)))
    forces.append(vi.Motor("motor", joint="left axle", effort=0.5))
    return vi.Mechanism("cart", bodies, joints, forces=forces)


def bicycle():
    """The benchmark of Meijaard, Papadopoulos, Ruina and Schwab (2007), Table 1, with z up."""
    turn, tilt, base, trail = np.diag([1.0, -1.0, -1.0]), np.pi / 10, 1.02, 0.08
    frame = turn @ [[9.2, 0, 2.4], [0, 11, 0], [2.4, 0, 2.8]] @ turn
    fork = turn @ [[0.05892, 0, -0.00756], [0, 0.06, 0], [-0.00756, 0, 0.00708]] @ turn
    bodies = [
        vi.Body("frame", mass=85.0, inertia=frame, position=(0.3, 0, 0.9)),
        vi.Body("rear", mass=2.0, inertia=np.diag([0.0603, 0.12, 0.0603]), position=(0, 0, 0.3)),
        vi.Body("fork", mass=4.0, inertia=fork, position=(0.9, 0, 0.7)),
        vi.Body("front", mass=3.0, inertia=np.diag([0.1405, 0.28, 0.1405]), position=(base, 0, 0.35)),
    ]
    steer = {"axis": (np.sin(tilt), 0, -np.cos(tilt)), "point": (base + trail, 0, 0)}
    joints = [
        vi.Free("free", "world", "frame"),
        vi.Revolute("rear axle", "frame", "rear", axis=(0, 1, 0), point=(0, 0, 0.3)),
        vi.Revolute("steer", "frame", "fork", **steer),
        vi.Revolute("front axle", "fork", "front", axis=(0, 1, 0), point=(base, 0, 0.35)),
    ]
    forces = [
        vi.RollingWheel("rear contact", "rear", radius=0.3, axis=(0, 1, 0)),
        vi.RollingWheel("front contact", "front", radius=0.35, axis=(0, 1, 0)),
    ]
    return vi.Mechanism("bicycle", bodies, joints, forces=forces)


# ------------------------------------------------------------------------------------- order and closed forms


@pytest.mark.parametrize(("order", "steps"), [(2, 150), (4, 40)])
def test_order_of_a_rolling_disc(order, steps):
    mechanism, state = leaning_disc()
    exact = disc_by_equations(mechanism, state, 1.0)
    runs = [vi.simulate(mechanism, 1.0, 1.0 / n, state=state, order=order, tol=1e-13) for n in (steps, 2 * steps)]
    errors = [error_of_disc(run, exact) for run in runs]
    assert slopes(errors)[0] == pytest.approx(order, abs=0.15)
    assert errors[1] < 3e-3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("integrator", "steps", "order"), [("rk4", 100, 4), ("heun", 200, 2), ("bdf2", 200, 2), ("sdirk2", 100, 2)]
)
def test_order_of_reduced_integrators(integrator, steps, order):
    mechanism, state = leaning_disc()
    exact = disc_by_equations(mechanism, state, 0.5)
    errors = [
        error_of_disc(vi.redmax.simulate(mechanism, 0.5, 0.5 / n, state=state, integrator=integrator), exact)
        for n in (steps, 2 * steps)
    ]
    assert slopes(errors)[0] == pytest.approx(order, abs=0.3)


@pytest.mark.slow
def test_reduced_coordinates_with_error_control_follow_the_equations():
    mechanism, state = leaning_disc()
    exact = disc_by_equations(mechanism, state, 1.0)
    for integrator in ("dop853", "radau"):
        run = vi.redmax.simulate(mechanism, 1.0, 0.1, state=state, integrator=integrator, rtol=1e-11)
        assert error_of_disc(run, exact) < 1e-9


def test_a_disc_goes_round_in_a_steady_circle():
    mechanism, errors = vi.mechanisms.rolling_disc(), []
    state, radius = mechanism.state(), mechanism.forces[0].radius
    speed, turning = state.velocity[0, 0], 2.0
    middle = state.position[0, :2] + [0.0, speed / turning]
    end = 1.5
    cos, sin = np.cos(turning * end), np.sin(turning * end)
    exact = middle + [[cos, -sin], [sin, cos]] @ (state.position[0, :2] - middle)
    for steps in (150, 300, 600):
        run = vi.simulate(mechanism, end, end / steps, tol=1e-13)
        errors.append(np.abs(run.position[-1, 0, :2] - exact).max())
    assert slopes(errors) == pytest.approx(2.0, abs=0.15)
    reduced = vi.redmax.simulate(mechanism, end, 0.5, rtol=1e-11)
    assert np.abs(reduced.position[-1, 0, :2] - exact).max() < 1e-8
    np.testing.assert_allclose(reduced.position[:, 0, 2], radius * np.cos(0.3), atol=1e-9)
    push = mechanism.bodies[0].mass * np.array([0.0, speed * turning, 9.81])  # towards the middle, and up
    np.testing.assert_allclose(reduced.force["wheel"][0], push, atol=1e-9)


def test_chaplygins_sleigh():
    mechanism, entry, errors = vi.mechanisms.chaplygin_sleigh(), module("chaplygin_sleigh"), []
    inertia = mechanism.bodies[0].inertia[2, 2]

    def error(run):
        speed, turning = entry.speeds(run.t, 0.2, 1.0, 2.0, 1.0, inertia)
        heading = rotation_matrix(run.quat_wxyz[:, 0])[:, :, 0]
        return max(
            np.abs(run.angular_velocity[:, 0, 2] - turning).max(),
            np.abs(np.sum(run.velocity[:, 0] * heading, axis=1) - speed).max(),
        )

    for steps in (50, 100, 200):
        run = vi.simulate(mechanism, 2.0, 2.0 / steps, tol=1e-13)
        errors.append(error(run))
    assert slopes(errors) == pytest.approx(2.0, abs=0.15)
    reduced = vi.redmax.simulate(mechanism, 2.0, 0.1, rtol=1e-11)
    assert error(reduced) < 1e-8
    side = np.cross(Z, rotation_matrix(run.quat_wxyz[:, 0])[:, :, 0])
    force = np.sum(mechanism.bodies[0].mass * run.acceleration[:, 0] * side, axis=1)  # the only one sideways
    np.testing.assert_allclose(run.force["edge"], force, atol=1e-11)
    np.testing.assert_allclose(run.force["edge"][::10], reduced.force["edge"], atol=1e-3)


@pytest.mark.slow
def test_a_ball_on_a_turntable_goes_round_at_two_sevenths_of_its_rate():
    mechanism, entry, errors = vi.mechanisms.ball_on_turntable(), module("ball_on_turntable"), []

    def error(run):
        return np.abs(run.position[:, 1, :2] - entry.centre(run.t, 2.0, (0.2, 0.0), (0.0, 0.2))).max()

    for steps in (100, 200, 400):
        options = {"tol": 1e-13, "on_unresolved": "ignore"}  # its spin is not resolved to 0.3 %
        errors.append(error(vi.simulate(mechanism, 4.0, 4.0 / steps, **options)))
    assert slopes(errors) == pytest.approx(2.0, abs=0.15)
    assert error(vi.redmax.simulate(mechanism, 4.0, 0.2, rtol=1e-11)) < 1e-9


def test_steps_do_not_slip():
    """The displacement of each step at the mean lever, from the recorded poses, and the height of the rim."""
    mechanism, state = leaning_disc()
    run = vi.simulate(mechanism, 1.0, 0.01, state=state)
    R, radius = rotation_matrix(run.quat_wxyz[:, 0]), mechanism.forces[0].radius
    axis = R[:, :, 2]
    up = Z - axis[:, 2:] * axis
    lever = -radius * up / np.linalg.norm(up, axis=1, keepdims=True)
    turn = Rotation.from_matrix(R[1:] @ np.swapaxes(R[:-1], 1, 2)).as_rotvec()
    size = np.linalg.norm(turn, axis=1, keepdims=True)
    turn *= 2.0 * np.sin(0.5 * size) / size
    slip = np.diff(run.position[:, 0], axis=0) + np.cross(turn, 0.5 * (lever[1:] + lever[:-1]))
    assert np.abs(slip[:, :2]).max() < 1e-12
    assert np.abs(run.position[:, 0, 2] + lever[:, 2]).max() < 1e-12
    velocity = run.velocity[:, 0] + np.cross((R @ run.angular_velocity[:, 0, :, None])[..., 0], lever)
    assert np.abs(velocity).max() < 1e-12


# ------------------------------------------------------------------------------------- several bodies


def test_a_cart_of_two_wheels_in_both_formulations():
    """The sideways rows of its wheels are redundant."""
    mechanism = cart()
    state = mechanism.state(velocity={"chassis": (0.5, 0, 0)})
    assert mechanism.diagnose(state).mobility == 3
    exact = vi.redmax.simulate(mechanism, 1.0, 0.1, state=state, rtol=1e-11)
    runs = [vi.simulate(mechanism, 1.0, 1.0 / n, state=state, tol=1e-13) for n in (50, 100, 200)]
    errors = [np.abs(run.position[-1] - exact.position[-1]).max() for run in runs]
    assert slopes(errors) == pytest.approx(2.0, abs=0.15)
    for name in ("left", "right"):
        np.testing.assert_allclose(runs[-1].force[name][::20], exact.force[name], atol=0.05)
    pushes = runs[0].force["left"] + runs[0].force["right"]
    masses = np.array([body.mass for body in mechanism.bodies])
    inertia = np.einsum("n,tnk->tk", masses, runs[0].acceleration)
    np.testing.assert_allclose(pushes, inertia + [0.0, 0.0, 9.81 * masses.sum()], atol=1e-9)
    assert slopes([np.abs(run.energy_balance).max() for run in runs]) == pytest.approx(2.0, abs=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("order", [2, 4])
def test_a_cart_that_meets_a_hard_stop(order):
    """Impacts keep the wheels from slipping, and the order of the scheme."""
    given = cart()
    stop = vi.JointStop("stop", joint="right axle", lower=-1.0, upper=1.0, restitution=0.5)
    mechanism = dataclasses.replace(given, forces=[*given.forces, stop])
    state = mechanism.state(velocity={"chassis": (0.5, 0, 0)})
    exact = vi.redmax.simulate(mechanism, 1.5, 0.5, state=state, rtol=1e-11)
    runs = [vi.simulate(mechanism, 1.5, 1.5 / n, state=state, order=order, tol=1e-13) for n in (75, 150)]
    assert runs[0].work[-1, -1] < -1.0
    errors = [np.abs(run.position[-1] - exact.position[-1]).max() for run in runs]
    assert slopes(errors) == pytest.approx(order, abs=0.15)


def test_a_bicycle_has_the_published_eigenvalues():
    """At 5 m/s: weave, capsize and castering of Meijaard et al. (2007), Table 2, in a small motion of both runs."""
    mechanism, speed = bicycle(), 5.0
    rates = {"rear axle": speed / 0.3, "front axle": speed / 0.35}
    pushed = {"velocity": {"frame": (speed, 0, 0)}, "angular_velocity": {"frame": (1e-3, 0, 0)}}
    state = mechanism.state(rates=rates, **pushed)
    assert mechanism.diagnose(state).mobility == 3
    weave, capsize, caster = -0.77534188219585 + 4.46486771378823j, -0.32286642900409, -14.07838969279822

    def misfit(run):
        t, lean = run.t, 2.0 * run.quat_wxyz[:, 0, 1]
        swing = np.exp(weave * t)
        modes = np.column_stack([swing.real, swing.imag, np.exp(capsize * t), np.exp(caster * t)])
        share = np.linalg.lstsq(modes, lean, rcond=None)[0]
        return np.abs(modes @ share - lean).max() / np.abs(lean).max()

    assert misfit(vi.redmax.simulate(mechanism, 2.0, 0.02, state=state, rtol=1e-10)) < 1e-6
    options = {"state": state, "tol": 1e-13, "on_unresolved": "ignore"}  # wheels turn by 0.17 rad in a step
    errors = [misfit(vi.simulate(mechanism, 2.0, 2.0 / n, **options)) for n in (200, 400)]
    assert slopes(errors) == pytest.approx(2.0, abs=0.15)
    assert errors[1] < 1e-3


def test_momentum_stays_where_a_ball_rolls_on_a_free_plate():
    plate = vi.Body.box("plate", size=(1.0, 1.0, 0.1), mass=2.0, position=(0, 0, -0.05))
    ball = vi.Body.sphere("ball", radius=0.2, mass=1.0, position=(0.1, 0.0, 0.2))
    joints = [vi.Free(f"free {name}", "world", name) for name in ("plate", "ball")]
    contact = vi.RollingWheel("contact", "ball", radius=0.2, other="plate")
    mechanism = vi.Mechanism("plate", [plate, ball], joints, forces=[contact], gravity=(0, 0, 0))
    spins = {"ball": (1.0, 2.0, 3.0), "plate": (0.3, -0.2, 0.5)}
    state = mechanism.state(velocity={"ball": (0.3, 0.2, 0.0)}, angular_velocity=spins)
    run = vi.simulate(mechanism, 2.0, 0.01, state=state)
    assert np.ptp(run.linear_momentum, axis=0).max() < 1e-13
    assert np.ptp(run.angular_momentum, axis=0).max() < 1e-13
    exact = vi.redmax.simulate(mechanism, 2.0, 0.1, state=state, rtol=1e-11)
    finer = vi.simulate(mechanism, 2.0, 0.005, state=state)
    errors = [np.abs(each.position[-1] - exact.position[-1]).max() for each in (run, finer)]
    assert slopes(errors) == pytest.approx(2.0, abs=0.15)


# ------------------------------------------------------------------------------------- long runs, other runs


@pytest.mark.slow
@pytest.mark.parametrize("build", [leaning_disc, lambda: (vi.mechanisms.chaplygin_sleigh(), None)])
def test_energy_of_a_long_run(build):
    """1e5 steps: the error comes back and shows no trend beyond a hundredth of it (docs/theory.md section 13)."""
    mechanism, state = build()
    run = vi.simulate(mechanism, 1000.0, 0.01, state=state, every=100)
    error = run.energy - run.energy[0]
    assert np.abs(error).max() < 5e-5 * run.kinetic.max()
    tenth = len(error) // 10
    assert abs(error[-tenth:].mean() - error[:tenth].mean()) < 2e-6 * run.kinetic.max()


def test_a_run_goes_back_to_its_start():
    mechanism, state = leaning_disc()
    there = vi.simulate(mechanism, 1.0, 0.01, state=state, tol=1e-13)
    end = vi.State(*(part[-1] for part in (there.position, there.quat_wxyz, -there.velocity, -there.angular_velocity)))
    back = vi.simulate(mechanism, 1.0, 0.01, state=end, tol=1e-13)
    assert np.abs(back.position[-1] - state.position).max() < 1e-10
    assert np.abs(back.velocity[-1] + state.velocity).max() < 1e-10


@pytest.mark.slow
def test_adaptive_steps_follow_the_equations():
    mechanism, state = leaning_disc()
    exact = disc_by_equations(mechanism, state, 1.0)
    run = vi.simulate(mechanism, 1.0, 0.01, state=state, adaptive=True)
    assert run.t[-1] == pytest.approx(1.0)
    assert error_of_disc(run, exact) < 0.02


def test_a_run_goes_on_from_what_was_saved_to_the_same_bits():
    mechanism, state = leaning_disc()
    stepper = vi.Stepper(mechanism, 0.01, state=state)
    stepper.step(20)
    saved = stepper.save()
    stepper.step(20)
    whole = stepper.state
    stepper.restore(saved)
    stepper.step(20)
    assert np.array_equal(stepper.state.position, whole.position)
    assert np.array_equal(stepper.state.velocity, whole.velocity)


@pytest.mark.slow
@pytest.mark.parametrize("simulate", [vi.simulate, vi.redmax.simulate])
def test_files_of_runs(simulate, tmp_path):
    mechanism, state = leaning_disc()
    whole = simulate(mechanism, 0.5, 0.01, state=state, output=tmp_path / "run.h5")
    loaded = vi.load(tmp_path / "run.h5")
    assert np.array_equal(loaded.position, whole.position)
    assert np.array_equal(loaded.force["wheel"], whole.force["wheel"])


def test_velocities_of_the_start_are_replaced_by_the_nearest_that_do_not_slip():
    mechanism, _ = leaning_disc()
    body = mechanism.bodies[0]
    thrown = vi.State(body.position[None], body.quat_wxyz[None], np.array([[1.0, 0.0, 0.5]]), np.zeros((1, 3)))
    runs = vi.simulate(mechanism, 0.02, 0.01, state=thrown), vi.redmax.simulate(mechanism, 0.02, 0.01, state=thrown)
    assert runs[0].velocity[0] == pytest.approx(runs[1].velocity[0], abs=1e-12)
    assert runs[0].velocity[0, 0, 2] == pytest.approx(0.0, abs=0.3)


# ------------------------------------------------------------------------------------- descriptions and errors


def with_wheel(**given):
    body = vi.Body.sphere("ball", radius=0.2, mass=1.0, position=(0, 0, 0.2))
    force = vi.RollingWheel("wheel", "ball", **{"radius": 0.2} | given)
    return vi.Mechanism("ball", [body], [vi.Free("free", "world", "ball")], forces=[force])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"radius": 0.0}, "radius of rollingwheel 'wheel' must be positive"),
        ({"radius": 0.15}, "lowest point is 0.05 m above it"),
        ({"ground": (0, 0, 0.1)}, "lowest point is 0.1 m below it"),
        ({"axis": (0, 0, 2)}, "axis of rollingwheel 'wheel' is along the normal"),
        ({"normal": (0, 0, 0)}, "normal of rollingwheel 'wheel' must not be zero"),
        ({"other": "ball"}, "the plane is fixed to body 'ball' itself"),
        ({"other": "table"}, "table"),
    ],
)
def test_wrong_wheels(given, message):
    with pytest.raises(vi.MechanismError, match=message):
        with_wheel(**given).compiled  # noqa: B018


def test_wrong_edges():
    with pytest.raises(vi.MechanismError, match="direction of knifeedge 'edge' is along the normal"):
        vi.KnifeEdge("edge", "body", direction=(0, 0, 1))
    with pytest.raises(vi.MechanismError, match="direction of knifeedge 'edge' must not be zero"):
        vi.KnifeEdge("edge", "body", direction=(0, 0, 0))


@pytest.mark.parametrize("simulate", [vi.simulate, vi.redmax.simulate])
def test_a_start_off_the_plane_is_an_error(simulate):
    mechanism = with_wheel()
    state = vi.State(np.array([[0.0, 0.0, 0.3]]), np.array([[1.0, 0, 0, 0]]), np.zeros((1, 3)), np.zeros((1, 3)))
    with pytest.raises(vi.StateError, match=r"is 0\.1 m above it"):
        simulate(mechanism, 0.1, 0.01, state=state)
    assert mechanism.assemble(state).position[0, 2] == pytest.approx(0.2)


def test_what_needs_derivatives_refuses_by_name():
    mechanism, state = leaning_disc()
    calls = [
        lambda: vi.gradient(mechanism, lambda s: 0.0, 0.1, 0.01, state=state, with_respect_to=["gravity"]),
        lambda: vi.linearize(mechanism, state),
        lambda: vi.modes(mechanism),
        lambda: vi.redmax.simulate(mechanism, 0.1, 0.01, integrator="gauss"),
    ]
    for call in calls:
        with pytest.raises(vi.ArgumentError, match="'wheel' constrains velocities, not poses"):
            call()


@pytest.mark.parametrize("suffix", ["json", "toml"])
def test_files_hold_wheels_and_edges(suffix, tmp_path):
    for name in ("rolling_disc", "chaplygin_sleigh", "ball_on_turntable"):
        mechanism, path = getattr(vi.mechanisms, name)(), tmp_path / f"{name}.{suffix}"
        vi.save_mechanism(mechanism, path)
        again = vi.load_mechanism(path)
        one, other = (vi.simulate(each, 0.1, 0.01, state=mechanism.state()) for each in (mechanism, again))
        assert np.array_equal(one.position, other.position)


def test_pictures_show_the_rim_and_the_edge():
    mechanism = vi.mechanisms.rolling_disc()
    (wheel,) = mechanism.forces
    points = np.array([point for _, point in wheel.outline(mechanism)])
    assert points[:, 2].min() == pytest.approx(0.0, abs=0.01)
    np.testing.assert_allclose(np.linalg.norm(points[1:] - mechanism.bodies[0].position, axis=1), wheel.radius)
    mechanism = vi.mechanisms.chaplygin_sleigh()
    (edge,) = mechanism.forces
    assert np.array([point for _, point in edge.outline(mechanism)]).mean(axis=0) == pytest.approx(0.0)
