"""Hard stops at every order and in adaptive steps: instants, energies, convergence between events, what lets go."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from test_gradients_memory import objective_of, stopped
from test_impact_tangents import CASES, TOL, between_stops, by_runs, cases, weighted
from test_stops import GRAVITY, ball, tethered

import varint as vi
from varint.derivatives.along_run import go_back
from varint.derivatives.backward import adjoints_of
from varint.derivatives.linear.minimal_coordinates import moved
from varint.derivatives.linear.step_tangents import TangentRun
from varint.derivatives.taped import MaximalTape, TapeSetting
from varint.methods.variational.schemes import scheme

RESTITUTION = 0.8
METHODS = [{"order": order} for order in (2, 4, 6, 8)] + [{"order": order, "adaptive": True} for order in (2, 4)]


def steps_apart(values, sizes):
    """Slopes of errors over step sizes, in logarithms."""
    return np.diff(np.log(values)) / np.diff(np.log(sizes))


def end_of(run):
    return np.concatenate([run.position[-1].ravel(), run.velocity[-1].ravel()])


def check_five_impacts(run, seconds, relative):
    """Check the times of five impacts of a `ball`, in closed form, and that e^2 of the energy is left after each."""
    height, speed = run.coordinates["slide"] + 1.0, run.velocity[:, 0, 2]
    energy = 0.5 * speed**2 + GRAVITY * height
    before = np.flatnonzero(np.diff(energy) < -1e-6)[:5]
    times = run.t[before] + (speed + np.sqrt(speed**2 + 2 * GRAVITY * height))[before] / GRAVITY
    fall = np.sqrt(2 / GRAVITY)
    exact = fall * (1 + 2 * np.cumsum([0.0, *RESTITUTION ** np.arange(1, 5)]))
    assert np.abs(times - exact).max() < seconds
    assert energy[before + 1] / energy[before] == pytest.approx(RESTITUTION**2, rel=relative)


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_instants_and_energies_of_a_ball(method):
    check_five_impacts(vi.simulate(ball(RESTITUTION), 3.0, 0.01, **method), 1e-9, 1e-10)


def limited():
    """A double pendulum with limits on both joints, and its state."""
    plain = vi.mechanisms.double_pendulum()
    stops = [
        vi.JointStop("one", joint="joint 1", lower=-0.4, upper=0.7, restitution=0.8),
        vi.JointStop("two", joint="joint 2", lower=-0.6, upper=0.5, restitution=0.8),
    ]
    mechanism = vi.Mechanism("limited", plain.bodies, plain.joints, forces=stops)
    rates = {"joint 1": 1.0, "joint 2": -2.0}
    return mechanism, mechanism.state(coordinates={"joint 1": 0.3, "joint 2": 0.1}, rates=rates)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("order", "sizes", "adaptive"),
    [(2, [2e-3, 1e-3, 5e-4], 0), (4, [1e-2, 5e-3, 2.5e-3], 0), (4, [1e-2, 5e-3, 2.5e-3], 10.0)],
)
def test_the_order_holds_between_impacts(order, sizes, adaptive):
    """After six impacts, against an integrator with error control in reduced coordinates."""
    mechanism, state = limited()

    def end(dt, order, **given):
        return vi.simulate(mechanism, 1.4, dt, state=state, tol=TOL, order=order, on_unresolved="ignore", **given)

    exact = vi.redmax.simulate(mechanism, 1.4, state=state, rtol=1e-12)
    assert end(1e-3, 8).substeps >= 6  # one for each impact
    given = [{"adaptive": adaptive * dt} if adaptive else {} for dt in sizes]
    errors = [
        np.abs(end_of(end(dt, order, **more)) - end_of(exact)).max() for dt, more in zip(sizes, given, strict=True)
    ]
    assert steps_apart(errors, sizes) == pytest.approx(order, abs=0.15)


def slack_at():
    """Position and velocity (2, 2) at 1.2 s of a box that leaves the circle of its tether, in its plane."""

    def pull(t, y):
        return y[1] ** 2 + GRAVITY * np.cos(y[0])

    pull.terminal = True
    start = [0.0, np.sqrt(3.5 * GRAVITY)]
    swing = solve_ivp(
        lambda t, y: [y[1], -GRAVITY * np.sin(y[0])], (0, 2), start, "DOP853", events=pull, rtol=1e-13, atol=1e-13
    )
    (angle, rate), left = swing.y[:, -1], 1.2 - swing.t[-1]
    place = np.array([np.sin(angle), -np.cos(angle)])
    speed = rate * np.array([np.cos(angle), np.sin(angle)])
    fall = np.array([0.0, -GRAVITY])
    return np.array([place + left * (speed + 0.5 * left * fall), speed + left * fall])


@pytest.mark.parametrize(("order", "sizes"), [(4, [2e-2, 1e-2, 5e-3]), (6, [2e-2, 1e-2])], ids=["order 4", "order 6"])
def test_a_tether_lets_go_within_a_step(order, sizes):
    """Where its force is zero; so positions after that are of the order of the scheme."""
    mechanism = tethered(0.0)
    state = mechanism.state(position={"box": (0, 0, -1)}, velocity={"box": (np.sqrt(3.5 * GRAVITY), 0, 0)})
    exact, errors = slack_at(), []
    for dt in sizes:
        run = vi.simulate(mechanism, 1.2, dt, state=state, order=order, tol=TOL)
        errors.append(np.abs(np.array([run.position[-1, 0, ::2], run.velocity[-1, 0, ::2]]) - exact).max())
    assert steps_apart(errors, sizes) == pytest.approx(order, abs=0.15)


@pytest.mark.parametrize("order", [2, 4, 6])
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_what_comes_to_rest_on_a_stop_stays(order, restitution):
    run = vi.simulate(ball(restitution), 2.0, 0.01, order=order)
    still = run.t > 1.5
    assert np.abs(run.coordinates["slide"][still] + 1.0).max() < 1e-10
    assert np.abs(run.velocity[still]).max() < 1e-10
    assert np.abs(run.energy_balance).max() < 1e-9


@pytest.mark.parametrize("order", [2, 4])
def test_several_stops_at_one_instant(order):
    """Three balls that fall together are three that fall alone, and no rate goes into a stop."""
    names = ["a", "b", "c"]
    balls = [vi.Body.sphere(name, 0.05, 1.0 + k, position=(k, 0, 1)) for k, name in enumerate(names)]
    slides = [vi.Prismatic(f"slide {b.name}", "world", b.name, point=b.position, axis=(0, 0, 1)) for b in balls]
    stops = [vi.JointStop(f"stop {n}", joint=f"slide {n}", lower=-1.0, restitution=0.8) for n in names]
    run = vi.simulate(vi.Mechanism("balls", balls, slides, forces=stops), 2.0, 0.01, order=order)
    alone = vi.simulate(ball(0.8), 2.0, 0.01, order=order)
    for k in range(3):
        assert np.abs(run.position[:, k, 2] - alone.position[:, 0, 2]).max() < 1e-9
        assert np.abs(run.velocity[:, k, 2] - alone.velocity[:, 0, 2]).max() < 1e-8


@pytest.mark.parametrize("order", [2, 4])
def test_steps_with_stops_are_done_again(order):
    """Where energy comes from nowhere, with impacts in the steps."""
    mechanism, state = limited()
    given = {"state": state, "order": order, "tol": 1e-12}
    coarse = vi.simulate(mechanism, 1.0, 0.02, on_unresolved="ignore", **given)
    redone = vi.simulate(mechanism, 1.0, 0.02, on_unresolved="substep", **given)
    assert redone.substeps >= coarse.substeps
    assert np.abs(redone.energy_balance).max() <= np.abs(coarse.energy_balance).max() + 1e-12
    for name, low, high in (("joint 1", -0.4, 0.7), ("joint 2", -0.6, 0.5)):
        assert redone.coordinates[name].min() > low - 1e-9
        assert redone.coordinates[name].max() < high + 1e-9


# derivatives


@pytest.mark.slow
@pytest.mark.parametrize("order", [4, 6])
@pytest.mark.parametrize("name", CASES)
def test_derivatives_at_every_order(name, order, rng):
    """Of impacts one after another, of stops that close and let go: differences, and the way back."""
    mechanism, start, dt, steps = cases()[name]
    dt, steps, state = 2.5 * dt, int(steps / 2.5), mechanism.state(**start)
    run = TangentRun(mechanism, scheme(order), state, dt, steps)
    basis = run.along(run.coordinates())
    ends = run.advance(steps, basis.copy())
    about = run.coordinates()
    exact = about.read_changes(about.state, ends)

    def end(change):
        start = moved(mechanism, state, change)
        return about.read(vi.simulate(mechanism, steps * dt, dt, state=start, tol=TOL, order=order).state(steps))

    def slope(change, size):
        return (end(size * change) - end(-size * change)) / (2 * size)

    for change, column in zip(basis, exact.T, strict=True):
        near = (4 * slope(change, 5e-5) - slope(change, 1e-4)) / 3
        assert np.abs(column - near).max() < 1e-7 * np.abs(exact).max()
    gradient = rng.standard_normal(ends.shape[1:])
    taped = MaximalTape(mechanism, state, TapeSetting(scheme(order), dt, TOL, steps), [steps])
    (adjoint,) = adjoints_of(taped, gradient[None, None], {})
    go_back(taped, [adjoint], [])
    back = adjoint.by_first_state()
    ahead, behind = (np.sum(each, axis=(1, 2)) for each in (ends * gradient, basis * back))
    assert np.abs(ahead - behind).max() < 1e-12 * np.abs(basis * back).sum(axis=(1, 2)).max()


@pytest.mark.slow
@pytest.mark.parametrize("order", [4, 6])
def test_gradients_by_numbers(order, rng, monkeypatch):
    """Of several impacts, while an input is a function of time."""
    push = vi.Motor("push", joint="joint 2", effort=lambda t: 3.0 * np.sin(9.0 * t))
    mechanism = between_stops(0.6)
    mechanism = vi.Mechanism("pushed", mechanism.bodies, mechanism.joints, forces=[*mechanism.forces, push])
    state = mechanism.state(coordinates={"joint 1": 0.02}, rates={"joint 1": -2.5, "joint 2": 0.5})
    steps, dt = 24, 5e-3
    simulate, derivative = vi.simulate, vi.gradient
    monkeypatch.setattr(vi, "simulate", lambda *args, **given: simulate(*args, order=order, **given))
    monkeypatch.setattr(vi, "gradient", lambda *args, **given: derivative(*args, order=order, **given))
    names = ["link 2.mass", "stop.lower", "elbow.restitution", "gravity"]
    along = dict.fromkeys(names, 1.0) | {"gravity": np.array([0.3, 0.0, 1.0])}
    for name, ours, near, _ in by_runs(mechanism, weighted(rng, mechanism), steps, dt, state, names, along, {}):
        assert ours == pytest.approx(near, rel=1e-6), name


@pytest.mark.slow
def test_gradients_of_adaptive_steps():
    """The sizes of the steps are held, so it is the derivative of the motion to the error of the steps."""
    mechanism, state = stopped()
    objective, names = objective_of(mechanism), {"with_respect_to": ["gravity"], "state": state, "order": 4}
    exact = vi.gradient(mechanism, objective, 0.25, 1e-3, **names)["gravity"]
    errors = []
    for dt in (0.01, 0.005):
        found = vi.gradient(mechanism, objective, 0.25, dt, adaptive=10 * dt, **names)
        errors.append(np.abs(found["gravity"] - exact).max())
    assert errors[0] < 1e-4 * np.abs(exact).max()
    assert errors[1] < 0.15 * errors[0]
