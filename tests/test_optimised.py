"""The optimisations of docs/gallery.md reach a known truth, a closed form, or the optimum of a second method."""

import dataclasses
import re
import sys
from functools import cache
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
import scipy.optimize

import varint as vi

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "examples"))

import balanced_arm  # noqa: E402
import four_bar_through_points  # noqa: E402
import identify_double_pendulum  # noqa: E402
import jansen_torque  # noqa: E402
import muscle_tracking  # noqa: E402
import reach  # noqa: E402
import swing_up  # noqa: E402

PRINTED = {
    balanced_arm: "to hold the arm takes up to 2.55 N m before",
    four_bar_through_points: "under load: rocker pivot at",
    identify_double_pendulum: "standard error",
    jansen_torque: "balanced: the torque varies by 0.47 N m",
    muscle_tracking: "runs the angles are off by 0.0",
    reach: "the tip is",
    swing_up: "upright to",
}


@cache
def shared_run(example):
    return example.run()


def by_differences(function, x, step=1e-5):
    """(m, n) the derivatives of a function of (n,) to (m,)."""
    sides = [(function(x + step * unit), function(x - step * unit)) for unit in np.eye(len(x))]
    return np.array([ahead - behind for ahead, behind in sides]).T / (2 * step)


@pytest.mark.slow
@pytest.mark.parametrize(
    "example",
    [pytest.param(one, marks=[] if one in (balanced_arm, swing_up) else pytest.mark.long) for one in PRINTED],
    ids=lambda example: example.__name__,
)
def test_prints_and_draws(example, monkeypatch, tmp_path, capsys):
    kept = shared_run(example)
    monkeypatch.setattr(example, "run", lambda: kept)
    example.main(tmp_path / "picture.png")
    assert PRINTED[example] in capsys.readouterr().out
    assert matplotlib.image.imread(tmp_path / "picture.png").std() > 0.01


def test_page_shows_them_all():
    page = (ROOT / "docs" / "gallery.md").read_text()
    names = [example.__name__ for example in PRINTED]
    assert sorted(re.findall(r"\]\(\.\./examples/(\w+)\.py\)", page)) == names
    assert sorted(re.findall(r"\]\(images/(\w+)\.png\)", page)) == names
    for name in names:
        assert (ROOT / "docs" / "images" / f"{name}.png").stat().st_size < 50_000


@pytest.mark.long
@pytest.mark.slow
def test_pendulum_is_identified():
    """Within three standard errors of the truth; scipy's least squares by differences of runs finds the same."""
    _, measured, numbers, errors = shared_run(identify_double_pendulum)
    truth = np.array(list(identify_double_pendulum.TRUTH.values()))
    assert (abs(numbers - truth) < 3 * errors).all()
    assert (errors < 0.1 * truth).all()

    def residuals(x):
        return (identify_double_pendulum.track(x)[1] - measured).ravel() / identify_double_pendulum.NOISE

    found = scipy.optimize.least_squares(residuals, truth, jac=lambda x: by_differences(residuals, x), x_scale=truth)
    assert numbers == pytest.approx(found.x, abs=0.02 * errors.min())
    covariance = np.linalg.inv(found.jac.T @ found.jac)
    assert errors == pytest.approx(np.sqrt(np.diag(covariance)), rel=0.01)


@pytest.mark.long
@pytest.mark.slow
def test_pen_passes_its_points():
    """Turned evenly by position alone; under load in a run, and in one of the other formulation."""
    example = four_bar_through_points
    even, loaded = shared_run(example)
    places = np.array([even.joint(name).point[[0, 2]] for name in ("crank pin", "rocker pin", "rocker pivot")])
    assert example.slow(places) == pytest.approx(0.0, abs=1e-6)
    assert example.off(even).max() > 0.02
    assert example.off(loaded) == pytest.approx(0.0, abs=1e-7)
    other = vi.redmax.simulate(loaded, 2 * example.INTERVAL, example.INTERVAL, integrator="dop853", rtol=1e-9)
    assert other.position[:, 3][:, [0, 2]] == pytest.approx(example.POINTS, abs=2e-4)


@pytest.mark.slow
def test_tip_reaches_its_goal():
    """The reference's steps give its objective; the continuous motion those of the run, with and without torques."""
    found = shared_run(reach)
    assert found.fun < 1e-6 * reach.REFERENCE

    def objective(torques, **how):
        run = vi.redmax.simulate(reach.build(*torques), reach.DURATION, reach.DT, **how)
        return reach.cost_of_distance(run[-1]) + 0.5 * reach.FOR_TORQUE * float(np.sum(np.square(torques)))

    assert objective((0.0, 0.0), integrator="bdf1") == pytest.approx(reach.REFERENCE, rel=1e-9)
    exact = {"integrator": "dop853", "rtol": 1e-10}
    assert reach.value_and_slope(np.zeros(2))[0] == pytest.approx(objective((0.0, 0.0), **exact), rel=1e-6)
    assert objective(found.x, **exact) == pytest.approx(found.fun, rel=1e-4)
    for change in 1e-3 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]]):
        assert objective(found.x + change, **exact) > found.fun


@pytest.mark.slow
def test_pole_swings_up_with_least_effort():
    """It stands in the other formulation too; by differences of runs, effort falls only where the pole falls."""
    run = shared_run(swing_up)
    assert abs(swing_up.pole(run[0])[0]) == pytest.approx(np.pi)
    assert swing_up.pole(run[-1]) == pytest.approx([0.0, 0.0], abs=1e-5)
    assert run.position[-1, 0] == pytest.approx([0, 0, 0], abs=2e-3)
    assert run.velocity[-1] == pytest.approx(np.zeros((2, 3)), abs=1e-5)
    other = vi.redmax.simulate(run.mechanism, swing_up.DURATION, swing_up.DT, integrator="dop853", rtol=1e-9)
    assert swing_up.pole(other[-1])[0] == pytest.approx(0.0, abs=0.05)

    effort = run.mechanism.force("motor").effort / swing_up.UNIT
    factors = np.linalg.lstsq(swing_up.SHAPES, effort, rcond=None)[0]

    def end(x):
        last = vi.simulate(swing_up.build(x), swing_up.DURATION, swing_up.DT, tol=1e-12)[-1]
        return swing_up.pole(last)

    slopes = by_differences(end, factors)
    multipliers, *_ = np.linalg.lstsq(slopes.T, factors, rcond=None)
    assert slopes.T @ multipliers == pytest.approx(factors, abs=0.02 * np.linalg.norm(factors))


@pytest.mark.long
@pytest.mark.slow
def test_torque_of_the_crank_is_least():
    """At constant speed it is linear in the five numbers: what weight and spring take is their power over the speed."""
    numbers = shared_run(jansen_torque)
    alone = jansen_torque.driven(jansen_torque.LEG)
    place = jansen_torque.LEG.joint(jansen_torque.JOINT).point
    way = alone.path(jansen_torque.BODY, place)
    by_angle, angle = way.velocity / jansen_torque.RATE, jansen_torque.RATE * alone.t
    weight = 9.81 * jansen_torque.COUNTERWEIGHT * np.array([np.cos(angle), -np.sin(angle)])
    spring = 100 * np.array([np.sum(way.position * by_angle, axis=1), -by_angle[:, 0], -by_angle[:, 2]])
    taken = np.concatenate([weight, spring]).T[1:]
    exact, *_ = np.linalg.lstsq(taken, -alone.force["drive"][1:], rcond=None)
    assert numbers == pytest.approx(exact, abs=0.03)
    balanced = jansen_torque.driven(jansen_torque.build(numbers)).force["drive"]
    assert np.std(balanced[1:]) < 0.2 * np.std(alone.force["drive"][1:])
    assert np.std(balanced[1:]) == pytest.approx(np.std(alone.force["drive"][1:] + taken @ exact), rel=0.02)


@pytest.mark.slow
def test_arm_is_balanced_as_in_closed_form():
    numbers = shared_run(balanced_arm)
    exact = list(balanced_arm.EXACT.values())
    assert numbers == pytest.approx(exact, rel=1e-7, abs=1e-8)
    assert abs(balanced_arm.holding(numbers).force["hold"]).max() < 1e-6
    assert abs(balanced_arm.holding(balanced_arm.GUESS.values()).force["hold"]).max() > 1.0


@pytest.mark.slow
def test_gradient_by_knots_of_excitations():
    """The attribute that replaces differences of the objective, and the chain rule, against differences of runs."""
    mechanism = muscle_tracking.build()
    knots = 0.05 + 0.01 * np.sin(np.arange(len(muscle_tracking.MUSCLES) * muscle_tracking.KNOTS))
    _, slope = muscle_tracking.value_and_slope(knots, mechanism)
    for number in (1, 22, 40):
        step = 1e-4 * (np.arange(knots.size) == number)
        ends = [muscle_tracking.value_and_slope(knots + s, mechanism)[0] for s in (step, -step)]
        assert slope[number] == pytest.approx((ends[0] - ends[1]) / 2e-4, rel=1e-4)


@pytest.mark.slow
@pytest.mark.long
def test_muscles_track_the_motion():
    """In finer steps of order four too, with the excitations as functions of time."""
    mechanism, found = shared_run(muscle_tracking)
    forces = [
        dataclasses.replace(
            force, excitation=lambda t, u=force.excitation: float(np.interp(t, muscle_tracking.NODES, u))
        )
        if isinstance(force, vi.Musculotendon)
        else force
        for force in mechanism.forces
    ]
    fine = dataclasses.replace(mechanism, forces=forces)
    moved = vi.simulate(fine, muscle_tracking.DURATION, muscle_tracking.DT / 4, order=4)
    angles = np.column_stack([moved.coordinates[joint] for joint in muscle_tracking.JOINTS])
    assert np.sqrt(np.mean((angles - muscle_tracking.wanted(moved.t)) ** 2)) < 2e-3
    assert found.x.min() >= muscle_tracking.LEAST
    assert found.x.max() < 0.9
