"""Collocation with masses along paths: orders, energy, runs that go on, events, refusals."""

import dataclasses

import numpy as np
import pytest

import varint as vi

FOUR = [
    ("upper", (0.1, 0.0, -0.2)),
    ("upper", (0.12, 0.03, -0.9)),
    ("lower", (0.1, 0.05, -1.2)),
    ("lower", (0.08, 0, -1.7)),
]
TWO = [("world", (0.4, 0.1, 0.0)), ("lower", (0.1, 0.0, -1.4))]


def rods(*forces, elbow=None):
    """Two rods that hang from a hinge, in space: the second from a ball joint."""
    bodies = [
        vi.Body.box(name, (0.1, 0.2, 1.0), 1.0, position=(0, 0, z)) for name, z in (("upper", -0.5), ("lower", -1.5))
    ]
    joints = [
        vi.Revolute("shoulder", "world", "upper", point=(0, 0, 0), axis=(0, 1, 0)),
        elbow or vi.Spherical("elbow", "upper", "lower", point=(0, 0, -1)),
    ]
    return vi.Mechanism("rods", bodies, joints, forces=forces)


def tendon(path, mass=0.8, name="tendon", **given):
    return vi.PathMass(name, path=[vi.At(*point) for point in path], mass=mass, **given)


def four_bar():
    mechanism = vi.mechanisms.four_bar()
    ends = [(body.name, body.position + (0.03, 0.02, 0.04)) for body in mechanism.bodies]
    path = [("world", (0.0, 0.0, 0.3)), *ends]
    return dataclasses.replace(mechanism, forces=[*mechanism.forces, tendon(path, 0.5)])


def muscle(path, **given):
    numbers = {"max_force": 50.0, "optimal_length": 0.9, "slack_length": 0.4, "mass": 0.6}
    return vi.Musculotendon("muscle", path=path, excitation=lambda t: 0.3 + 0.2 * np.sin(5 * t), **numbers, **given)


CASES = {
    "straight": lambda: rods(tendon(TWO)),
    "over points": lambda: rods(tendon(FOUR)),
    "a part of it": lambda: rods(tendon(FOUR, belly=(0.2, 0.7)), tendon(TWO, name="another", belly=(0.5, 1.0))),
    "a loop": four_bar,
}
SHAKEN = {"rates": {"shoulder": 1.5, "elbow": [0.4, -0.8, 1.1]}}


def problem_of(name, duration=0.3):
    mechanism = CASES[name]()
    return vi.Problem(mechanism, duration, None if name == "a loop" else mechanism.state(**SHAKEN))


@pytest.mark.slow
@pytest.mark.parametrize(("order", "steps"), [(4, (30, 60)), (6, (15, 30)), (8, (8, 16))])
@pytest.mark.parametrize("name", CASES)
def test_the_order_holds(name, order, steps):
    problem = problem_of(name)
    exact = vi.simulate(problem, vi.Reduced("dop853", rtol=1e-12, dt=problem.duration / 6)).position[-1]
    runs = [vi.simulate(problem, vi.Lobatto(problem.duration / n, order)) for n in steps]
    errors = [np.abs(run.position[-1] - exact).max() for run in runs]
    assert errors[1] < 2e-12 or np.log2(errors[0] / errors[1]) > order - 0.3, errors
    assert errors[1] < 1e-6
    assert runs[1].newton_iterations < 4.0 * steps[1]
    assert runs[1].drift.max() < 1e-13


@pytest.mark.slow
def test_a_muscle_with_mass_agrees_with_reduced_coordinates():
    mechanism = rods(muscle([vi.At(*point) for point in TWO]))
    problem = vi.Problem(mechanism, 0.2, mechanism.state(**SHAKEN))
    exact = vi.simulate(problem, vi.Reduced("dop853", rtol=1e-12, dt=0.1))
    errors = [
        np.abs(vi.simulate(problem, vi.Lobatto(dt, 8)).position[-1] - exact.position[-1]).max() for dt in (4e-3, 1e-3)
    ]
    assert errors[1] < 1e-11
    assert errors[1] < 1e-3 * errors[0]


def test_two_bodies_in_flight_with_mass_between_them():
    """Against compositions, and by their energy; and with the centre of all masses on a straight line."""
    bodies = [vi.Body.box(name, (0.1, 0.2, 0.3), 1.0, position=(x, 0, 0)) for name, x in (("a", 0.0), ("b", 1.0))]
    joints = [vi.Free(f"flight {name}", "world", name) for name in ("a", "b")]
    path = [("a", (0.05, 0.1, 0)), ("a", (0.1, -0.1, 0.1)), ("b", (0.9, 0.05, 0))]
    mechanism = vi.Mechanism("pair", bodies, joints, gravity=(0, 0, 0), forces=[tendon(path, 0.7)])
    rates = {"flight a": [0, 0, 0, 1.0, 2.0, 0.5], "flight b": [0, 0, 0, -2.0, 0.3, 1.0]}
    problem = vi.Problem(mechanism, 1.0, mechanism.state(rates=rates))
    run = vi.simulate(problem, vi.Lobatto(0.02, 8))
    exact = vi.simulate(problem, vi.Reduced("dop853", rtol=1e-12, dt=0.5))
    assert run.position[-1] == pytest.approx(exact.position[-1], abs=1e-9)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-9 * run.energy[0]


@pytest.mark.slow
def test_the_energy_has_no_trend():
    run = vi.simulate(problem_of("over points", 100.0), vi.Lobatto(0.01, 8), vi.Recording(every=10))
    change = run.energy - run.energy[0]
    size = np.abs(run.kinetic).max()
    assert np.abs(change).max() < 1e-10 * size
    late, early = change[-100:].mean(), change[1:101].mean()
    assert abs(late - early) < 1e-11 * size


def test_runs_stop_between_nodes_and_go_on_to_the_same_bits(tmp_path):
    problem, method, path = problem_of("over points"), vi.Lobatto(0.02, 8), tmp_path / "run.h5"
    times = np.array([0.013, 0.111, 0.25])
    between = vi.simulate(problem, method, vi.Recording(output_times=times))
    fine = vi.simulate(problem, vi.Lobatto(0.001, 8))
    assert between.position == pytest.approx(fine.position[np.round(between.t / 0.001).astype(int)], abs=1e-8)
    whole = vi.simulate(problem, method)
    vi.simulate(dataclasses.replace(problem, duration=0.14), method, vi.Recording(output=path))
    longer = vi.simulate(problem, method, vi.Recording(output=path, resume=True))
    stepper = vi.Stepper(problem.mechanism, method, state=problem.start(), every=15)
    assert stepper.step(15)
    for run in (longer, stepper.trajectory()):
        assert run.position[-1].tobytes() == whole.position[-1].tobytes()
        assert run.velocity[-1].tobytes() == whole.velocity[-1].tobytes()


def test_what_is_refused_has_a_name():
    ball = vi.SphereSurface((0.0, 0, -0.95), 0.05)
    path = [vi.At(*FOUR[0]), vi.Around("upper", ball), vi.At(*FOUR[3])]
    wound = rods(muscle(path, smoothing=0.002))
    with pytest.raises(vi.ArgumentError, match="'muscle' has mass that moves with its path around a surface"):
        vi.simulate(vi.Problem(wound, 0.1), vi.Lobatto(0.01))
    problem = problem_of("straight", 0.1)
    with pytest.raises(vi.ArgumentError, match="'tendon' has mass that moves with its path"):
        vi.gradient(problem, lambda run: run.position[-1, 0, 0], vi.Lobatto(0.01), with_respect_to=["start"])
    elbow = vi.Revolute("elbow", "upper", "lower", point=(0, 0, -1), axis=(0, 1, 0))
    stopped = rods(tendon(FOUR), vi.JointStop("stop", joint="elbow", upper=0.3), elbow=elbow)
    with pytest.raises(vi.ArgumentError, match="'stop' acts in impacts, which do not know such mass"):
        vi.simulate(vi.Problem(stopped, 0.1), vi.Lobatto(0.01))
