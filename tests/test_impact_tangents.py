"""Derivatives of steps with hard stops: closed forms, differences, the transposes, and the users of them."""

from functools import cache

import numpy as np
import pytest
from force_samples import with_forces

import varint as vi
from varint.derivatives.along_run import go_back
from varint.derivatives.backward import adjoints_of
from varint.derivatives.linear.minimal_coordinates import moved
from varint.derivatives.linear.step_tangents import TangentRun
from varint.derivatives.numbers import differences, number_of, start_of
from varint.derivatives.taped import MaximalTape, TapeSetting
from varint.methods.variational.schemes import scheme

G = 9.81
TOL = 1e-13


def pendulum(*forces, restitution=0.6):
    stop = vi.JointStop("stop", joint="joint 1", lower=-0.05, upper=3.0, restitution=restitution)
    return with_forces(vi.mechanisms.double_pendulum(), stop, *forces)


def between_stops(restitution):
    """Both joints are met again and again, with forces and an input beside."""
    return pendulum(
        vi.JointStop("elbow", joint="joint 2", lower=-0.2, upper=0.15, restitution=restitution),
        vi.TorsionSpring("spring", joint="joint 2", stiffness=40.0, rest_angle=0.1, damping=0.3),
        vi.Spring("tie", "link 1", "world", point_a=(0.0, 0.0, -0.5), point_b=(0.5, 0.3, 0.2), stiffness=60.0),
        vi.Drag("air", "link 2", linear=0.2, angular=0.05),
        vi.Motor("motor", joint="joint 1", effort=-3.0),
        restitution=restitution,
    )


def geared():
    """Two wheels that are coupled; one meets a stop."""
    wheels = [vi.Body.cylinder(name, 0.2, 0.05, 1.0 + k, position=(0.5 * k, 0, 0)) for k, name in enumerate("ab")]
    axles = [vi.Revolute(f"axle {b.name}", "world", b.name, point=b.position, axis=(0, 0, 1)) for b in wheels]
    gear = vi.Gear("gear", joint_a="axle a", joint_b="axle b", radius_a=0.2, radius_b=0.3)
    spring = vi.TorsionSpring("spring", joint="axle b", stiffness=5.0)
    stop = vi.JointStop("stop", joint="axle b", lower=-0.1, upper=5.0, restitution=0.7)
    return vi.Mechanism("wheels", wheels, axles, forces=[gear, spring, stop])


def four_bar():
    """A loop with redundant rows."""
    plain = vi.mechanisms.four_bar()
    there = plain.coordinates(plain.state())["rocker pivot"]
    return with_forces(plain, vi.JointStop("stop", joint="rocker pivot", lower=there - 9.0, upper=there + 0.02,
                                           restitution=0.5))  # fmt: skip


@cache
def cases():
    """Name: mechanism, state, dt, steps, impacts."""
    hit = {"coordinates": {"joint 1": 0.02}, "rates": {"joint 1": -2.5, "joint 2": 0.5}}
    found = {}
    for name, e in (("bounces", 0.6), ("closes", 0.0)):
        found[name] = (pendulum(restitution=e), hit, 2e-3, 30)
        found[f"{name}, both"] = (between_stops(e), hit, 2e-3, 70 if e else 150)
    found["gear"] = (geared(), {"rates": {"axle b": -2.0}}, 2e-3, 60)
    bar = four_bar()
    sign = np.sign(bar.rates(bar.state(rates={"crank pivot": 1.0}))["rocker pivot"])
    found["loop"] = (bar, {"rates": {"crank pivot": 4.0 * sign}}, 2e-3, 40)
    return found


CASES = "bounces", "bounces, both", "closes", "closes, both", "gear", "loop"


def carried(mechanism, state, dt, steps):
    """Changes of a run's start along its coordinates, what they are at its end, and the run."""
    run = TangentRun(mechanism, scheme(2), state, dt, steps)
    basis = run.along(run.coordinates())
    return basis, run.advance(steps, basis), run


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_transposes(rng, name):
    """Changes that are carried ahead and gradients that are carried back have the same product."""
    mechanism, start, dt, steps = cases()[name]
    state = mechanism.state(**start)
    basis, ends, run = carried(mechanism, state, dt, steps)
    gradient = rng.standard_normal(ends.shape[1:])
    taped = MaximalTape(mechanism, state, TapeSetting(scheme(2), dt, TOL, steps), [steps])
    impacts = taped.tape.events
    assert impacts.count[0] >= (3 if "both" in name else 1)
    assert (run.rests is not None) == ("closes" in name)
    (adjoint,) = adjoints_of(taped, gradient[None, None], {})
    go_back(taped, [adjoint], [])
    back = adjoint.by_first_state()
    ahead, behind = (np.sum(each, axis=(1, 2)) for each in (ends * gradient, basis * back))
    size = max(np.abs(each).sum(axis=(1, 2)).max() for each in (ends * gradient, basis * back))
    assert np.abs(ahead - behind).max() < 1e-12 * size


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_differences(name):
    """Of fourth order, of the coordinates about the end by those about the start."""
    mechanism, start, dt, steps = cases()[name]
    state = mechanism.state(**start)
    basis, ends, run = carried(mechanism, state, dt, steps)
    about = run.coordinates()
    exact = about.read_changes(about.state, ends)

    def end(change):
        run = vi.simulate(mechanism, steps * dt, dt, state=moved(mechanism, state, change), tol=TOL)
        return about.read(run.state(steps))

    def slope(change, size):
        return (end(size * change) - end(-size * change)) / (2 * size)

    for change, found in zip(basis, exact.T, strict=True):
        near = (4 * slope(change, 5e-5) - slope(change, 1e-4)) / 3
        assert np.abs(found - near).max() < 1e-6 * np.abs(exact).max()


def bouncing_ball(e, height):
    ball = vi.Body.sphere("ball", 0.05, 2.0, position=(0.0, 0.0, height))
    slider = vi.Prismatic("slider", "world", "ball", point=(0.0, 0.0, height), axis=(0.0, 0.0, 1.0))
    floor = vi.JointStop("floor", joint="slider", lower=-height, upper=10.0, restitution=e)
    return vi.Mechanism("ball", [ball], [slider], forces=[floor])


def bounced(e, height, speed, time):
    """Height over the floor and speed (2,) after a time, and their derivatives (2, 2) by those at the start."""
    by_start = np.eye(2)
    while True:
        down = -np.sqrt(speed**2 + 2 * G * height)
        fall = (speed - down) / G
        if fall > time:
            flight = np.array([[1.0, time], [0.0, 1.0]])
            return np.array([height + speed * time - 0.5 * G * time**2, speed - G * time]), flight @ by_start
        # through the impact: position -e, speed -e, and what the instant has
        saltation = np.array([[-e, 0.0], [-(1 + e) * G / down, -e]])
        by_start = saltation @ np.array([[1.0, fall], [0.0, 1.0]]) @ by_start
        height, speed, time = 0.0, -e * down, time - fall


@pytest.mark.slow
@pytest.mark.parametrize("steps", [19, 40, 120])
def test_a_bouncing_ball(steps):
    """Before and after one impact and after several: position, speed and their derivatives in closed form."""
    e, height, speed, dt = 0.8, 0.2, 1.0, 0.0101
    mechanism = bouncing_ball(e, height)
    _, ends, run = carried(mechanism, mechanism.state(rates={"slider": speed}), dt, steps)
    about = run.coordinates()
    values, exact = bounced(e, height, speed, steps * dt)
    assert about.state.position[0, 2] == pytest.approx(values[0], abs=1e-9)
    assert about.state.velocity[0, 2] == pytest.approx(values[1], abs=1e-9)
    found = about.read_changes(about.state, ends)
    assert np.abs(found - exact).max() < 1e-9 * np.abs(exact).max()


@pytest.mark.slow
def test_a_step_through_an_impact():
    """Its matrices: B by differences, the determinant of A that of the restitution alone."""
    e = 0.6
    mechanism = bouncing_ball(e, 0.2)
    push = vi.Motor("push", joint="slider", effort=-3.0)
    pushed = with_forces(mechanism, *mechanism.forces, push)
    state = pushed.state(coordinates={"slider": -0.195}, rates={"slider": -1.0})
    found = vi.linearize(pushed, state, dt=0.01)
    assert np.linalg.det(found.A) == pytest.approx(e * e, rel=1e-12)

    def end(effort):
        other = with_forces(mechanism, *mechanism.forces, vi.Motor("push", joint="slider", effort=effort))
        return found.coordinates(vi.simulate(other, 0.01, 0.01, state=state, tol=TOL).state(1))

    def slope(size):
        return (end(-3.0 + size) - end(-3.0 - size)) / (2 * size)

    near = (4 * slope(0.05) - slope(0.1)) / 3
    assert np.abs(found.B[:, 0] - near).max() < 1e-8 * np.abs(near).max()


def on_a_moving_plate(e, amplitude, rate, phase):
    """A ball on a plate that moves by amplitude sin(rate t + phase)."""
    plate = vi.Body.box("plate", (0.2, 0.2, 0.02), 3.0)
    ball = vi.Body.sphere("ball", 0.05, 0.5, position=(0, 0, 0.1))
    lift = vi.Prismatic("lift", "world", "plate", point=(0, 0, 0), axis=(0, 0, 1))
    fly = vi.Prismatic("fly", "plate", "ball", point=(0, 0, 0), axis=(0, 0, 1))
    drive = vi.PrescribedMotion("drive", joint="lift", position=lambda t: amplitude * np.sin(rate * t + phase))
    floor = vi.JointStop("floor", joint="fly", lower=0.0, upper=9.0, restitution=e)
    return vi.Mechanism("ball on a plate", [plate, ball], [lift, fly], forces=[drive, floor])


def periodic_ball():
    """A mechanism, a start near a motion of one impact a period, the period and the trace of the monodromy.

    The ball leaves with u = g T / 2, where the plate has the speed u (1 - e) / (1 + e) and the acceleration b. From
    impact to impact instant and speed change by a matrix with the trace 1 + e^2 + (1 + e)^2 b / g and the determinant
    e^2.
    """
    e, amplitude, rate = 0.7, 0.004, 16 * np.pi
    period = 2 * np.pi / rate
    u = 0.5 * G * period
    angle = np.arccos((1 - e) / (1 + e) * u / (amplitude * rate))
    impact = 0.4321 * period
    phase = angle - rate * impact
    mechanism = on_a_moving_plate(e, amplitude, rate, phase)
    flown = period - impact
    at, speed = amplitude * np.sin(phase), amplitude * rate * np.cos(phase)
    height = amplitude * np.sin(angle) + u * flown - 0.5 * G * flown**2
    state = mechanism.state(
        coordinates={"lift": at, "fly": height - at + 1e-4}, rates={"lift": speed, "fly": u - G * flown - speed}
    )
    return mechanism, state, period, 1 + e * e - (1 + e) ** 2 * amplitude * rate**2 * np.sin(angle) / G, e, height - at


@pytest.mark.slow
def test_an_orbit_with_an_impact():
    """A ball on a moving plate: its height, and the multipliers of its motion in closed form."""
    mechanism, state, period, trace, e, height = periodic_ball()
    errors = []
    for steps in (64, 128):
        orbit = vi.periodic_orbit(mechanism, state, period, period / steps, fixed_period=True)
        assert orbit.gap < 1e-12
        assert mechanism.coordinates(orbit.state)["fly"] == pytest.approx(height, abs=1e-7)
        assert np.prod(orbit.multipliers) == pytest.approx(e * e, rel=1e-12)
        assert orbit.stable
        errors.append(abs(np.trace(orbit.monodromy) - trace))
    assert errors[0] < 1e-3
    assert errors[1] < 0.3 * errors[0]  # the plate's acceleration between nodes is of second order


@pytest.mark.slow
def test_exponents_with_impacts():
    """Of the same motion, they are those of its multipliers, which are a pair; their sum is what impacts take."""
    mechanism, state, period, _, e, _ = periodic_ball()
    found = vi.lyapunov_spectrum(mechanism, 60 * period, period / 64, state=state, interval=period)
    assert found.exponents.sum() == pytest.approx(np.log(e * e) / period, rel=1e-10)
    assert found.exponents == pytest.approx(np.log(e) / period, rel=0.05)


@pytest.mark.long
@pytest.mark.slow
def test_exponents_without_loss():
    """Impacts that lose no energy keep volumes, but for what steps that they cut do not."""
    mechanism = pendulum(restitution=1.0)
    found = vi.lyapunov_spectrum(
        mechanism, 4.0, 0.005, state=mechanism.state(coordinates={"joint 1": 1.0, "joint 2": 0.5})
    )
    assert found.exponents[0] > 1.0
    assert abs(found.exponents.sum()) < 1e-2


@pytest.mark.slow
def test_events_without_a_derivative(monkeypatch):
    ball = bouncing_ball(0.5, 0.2)
    with pytest.raises(vi.ArgumentError, match=r"'floor' is met at the very instant .* of a node"):
        vi.linearize(ball, ball.state(coordinates={"slider": -0.2}, rates={"slider": -1.0}), dt=0.01)
    with pytest.raises(vi.ArgumentError, match=r"'floor' on joint 'slider' is closed: it is at -0\.2 m"):
        vi.linearize(ball, ball.state(coordinates={"slider": -0.2}))
    dropped = bouncing_ball(0.0, 0.2)
    with pytest.raises(vi.ArgumentError, match=r"'floor' closes: .* minus infinity"):
        vi.lyapunov_spectrum(dropped, 1.0, 0.01)
    monkeypatch.setattr("varint.derivatives.event_checks.GRAZING", 1e3)  # as if it were the slowest of all
    with pytest.raises(vi.ArgumentError, match="'floor' is reached with zero speed"):
        vi.linearize(ball, ball.state(coordinates={"slider": -0.195}, rates={"slider": -1.0}), dt=0.01)


@pytest.mark.slow
def test_two_impacts_at_one_instant():
    """They have a derivative along changes that keep them at one instant, and none along others."""
    places = {"a": (0.0, 0.0, 0.2), "b": (1.0, 0.0, 0.2)}
    balls = [vi.Body.sphere(name, 0.05, 2.0, position=place) for name, place in places.items()]
    slides = [vi.Prismatic(f"slide {n}", "world", n, point=place, axis=(0, 0, 1)) for n, place in places.items()]
    floors = [vi.JointStop(f"floor {n}", joint=f"slide {n}", lower=-0.2, upper=9.0, restitution=0.8) for n in "ab"]
    mechanism = vi.Mechanism("two balls", balls, slides, forces=floors)
    steps, dt = 30, 0.0101
    run = TangentRun(mechanism, scheme(2), mechanism.state(), dt, steps)
    one, other, *rates = run.along(run.coordinates())
    ends = run.advance(steps, np.array([one + other, sum(rates)]))
    _, exact = bounced(0.8, 0.2, 0.0, steps * dt)
    for ball in range(2):
        assert np.abs(ends[:, ball][:, [2, 8]].T - exact).max() < 1e-9 * np.abs(exact).max()
    run = TangentRun(mechanism, scheme(2), mechanism.state(), dt, steps)
    with pytest.raises(vi.ArgumentError, match="at the very instant of another impact"):
        run.advance(steps, one[None])


def by_runs(mechanism, objective, steps, dt, state, names, given, loads):
    """Gradients by ``names`` along random directions, and differences of runs by the same values."""
    given_too = {"with_respect_to": names, "state": state, "tol": TOL, "on_unresolved": "ignore"}
    found = vi.gradient(mechanism, objective, steps * dt, dt, **given_too, **loads)
    for name in names:
        along = given[name]

        def value(share, name=name, along=along):
            body, _, what = name.partition(".")
            acting = dict(loads)
            if what in ("force", "torque"):
                acting[what] = {body: loads[what][body] + share * along}
                changed, start = mechanism, state
            else:
                number = number_of(mechanism, name)
                changed = number.replaced(number.value + share * along)
                start = start_of(changed, state)
            run = vi.simulate(changed, steps * dt, dt, state=start, tol=TOL, on_unresolved="ignore", **acting)
            return objective(run.state(len(run) - 1))

        yield name, float(np.sum(found[name] * along)), differences(value, 1e-4), found


def weighted(rng, mechanism):
    a, b, c = rng.standard_normal((3, len(mechanism.bodies), 3))
    return lambda state: float(np.sum(a * state.position**2 + b * state.velocity + c * state.angular_velocity))


@pytest.mark.slow
def test_gradients_while_inputs_and_loads_change(rng):
    """Several impacts; efforts and loads with one value a node."""
    steps, dt = 45, 2e-3
    motor = vi.Motor("drive", joint="joint 2", effort=4.0 * rng.standard_normal(steps + 1))
    mechanism = between_stops(0.6)
    mechanism = with_forces(mechanism, *mechanism.forces, motor)
    loads = {
        "force": {"link 2": 20.0 * rng.standard_normal((steps + 1, 3))},
        "torque": {"link 1": 5.0 * rng.standard_normal((steps + 1, 3))},
    }
    state = mechanism.state(coordinates={"joint 1": 0.02}, rates={"joint 1": -2.5, "joint 2": 0.5})
    names = ["drive.effort", "link 2.force", "link 1.torque", "link 2.mass", "stop.lower", "elbow.restitution"]
    sizes = [(steps + 1,), (steps + 1, 3), (steps + 1, 3), (), (), ()]
    along = {name: rng.standard_normal(size) for name, size in zip(names, sizes, strict=True)}
    along["link 2.force"] *= 20.0  # as large as the loads: the times of impacts have round-off too
    along["link 1.torque"] *= 5.0
    run = MaximalTape(
        mechanism, state, TapeSetting(scheme(2), dt, TOL, steps, (loads["force"], loads["torque"])), [steps]
    )
    assert run.tape.events.count[0] >= 3
    for name, found, exact, _ in by_runs(mechanism, weighted(rng, mechanism), steps, dt, state, names, along, loads):
        assert found == pytest.approx(exact, rel=1e-6), name


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["function", "series", "rate"])
def test_gradients_on_a_plate_that_moves(rng, kind):
    """Where the limit is at each instant is given from outside."""
    steps, dt = 60, 4e-3
    t = dt * np.arange(steps + 1)

    def at(t):
        return 0.02 * np.sin(20.0 * t) + 0.1 * t

    motion = {"rate": 0.3} if kind == "rate" else {"position": at if kind == "function" else at(t)}
    mechanism = on_a_moving_plate(0.7, 0.02, 20.0, 0.0)
    mechanism = with_forces(mechanism, vi.PrescribedMotion("drive", joint="lift", **motion), mechanism.forces[1])
    speed = 0.3 if kind == "rate" else 0.5
    state = mechanism.state(coordinates={"fly": 0.031}, rates={"lift": speed, "fly": -0.4})
    names = ["gravity", "floor.restitution", "floor.lower"]
    along = {"gravity": np.array([0.0, 0.0, 1.0]), "floor.restitution": 1.0, "floor.lower": 0.1}
    if kind != "function":
        name = "drive.rate" if kind == "rate" else "drive.position"
        names.append(name)
        along[name] = 1.0 if kind == "rate" else dt * np.sin(np.arange(steps + 1))
    objective = weighted(rng, mechanism)
    taped = MaximalTape(mechanism, state, TapeSetting(scheme(2), dt, TOL, steps), [steps])
    assert taped.tape.events.count[0] >= 2
    for name, found, exact, _ in by_runs(mechanism, objective, steps, dt, state, names, along, {}):
        assert found == pytest.approx(exact, rel=2e-6, abs=1e-7), name
    if kind == "series":  # in steps of another size it would be another motion
        return
    found = vi.gradient(
        mechanism, objective, steps * dt, dt, with_respect_to="dt", state=state, on_unresolved="ignore"
    )["dt"]

    def longer(share):
        run = vi.simulate(mechanism, steps * (dt + share), dt + share, state=state, tol=TOL, on_unresolved="ignore")
        return objective(run.state(len(run) - 1))

    assert found == pytest.approx(differences(longer, 1e-3 * dt), rel=1e-6)


@pytest.mark.slow
def test_changes_of_the_start_on_a_plate_that_moves(rng):
    """Carried ahead and back, while the plate moves: one product."""
    mechanism, state, period, *_ = periodic_ball()
    steps = 200
    basis, ends, _ = carried(mechanism, state, period / 64, steps)
    gradient = rng.standard_normal(ends.shape[1:])
    taped = MaximalTape(mechanism, state, TapeSetting(scheme(2), period / 64, TOL, steps), [steps])
    (adjoint,) = adjoints_of(taped, gradient[None, None], {})
    go_back(taped, [adjoint], [])
    back = adjoint.by_first_state()
    ahead, behind = (np.sum(each, axis=(1, 2)) for each in (ends * gradient, basis * back))
    assert np.abs(ahead - behind).max() < 1e-12 * np.abs(basis * back).sum(axis=(1, 2)).max()


@pytest.mark.slow
def test_an_orbit_with_a_free_period():
    """A ball that loses nothing bounces at any height, with the period of free fall: both multipliers are one."""
    ball = bouncing_ball(1.0, 0.2)
    orbit = vi.periodic_orbit(ball, ball.state(rates={"slider": 0.9}), 0.6, 0.0101)
    height, speed = orbit.state.position[0, 2], orbit.state.velocity[0, 2]
    assert orbit.period == pytest.approx(2 * np.sqrt(speed**2 + 2 * G * height) / G, rel=1e-9)
    assert np.trace(orbit.monodromy) == pytest.approx(2.0, abs=1e-9)
    assert np.linalg.det(orbit.monodromy) == pytest.approx(1.0, abs=1e-9)
