"""Gradients beside kinks of laws."""

import dataclasses
from contextlib import nullcontext

import numpy as np
import pytest

import varint as vi
from varint.derivatives.stage_slopes import slopes_of

BALL = vi.Body.sphere("b", 0.05, 1.0, position=(0, 0, 0))
SLIDE = vi.Prismatic("s", "world", "b", axis=(0, 0, 1))
ENDS = {"point_a": (0, 0, 0.5), "point_b": (0, 0, 0), "stiffness": 500.0}
ROD = vi.Body.rod("fore", (0, 0, 0), (0.3, 0, 0), mass=1.2, radius=0.01)
ELBOW = vi.Revolute("elbow", "world", "fore", point=(0, 0, 0), axis=(0, -1, 0))
PATH = [vi.At("world", (0, 0, 0.3)), vi.At("fore", (0.05, 0, 0))]
MUSCLE = {"path": PATH, "max_force": 300.0, "optimal_length": 0.12, "slack_length": 0.18}


def one_sided(force, number, mechanism, duration, step=1e-6):
    """Differences of the run by a number to both sides, above and below."""

    def end(change):
        moved = dataclasses.replace(force, **{number: getattr(force, number) + change})
        run = vi.simulate(dataclasses.replace(mechanism, forces=[moved]), duration, 1e-3, tol=1e-13)
        return run.position[-1, 0, 2]

    here = end(0.0)
    return (end(step) - here) / step, (here - end(-step)) / step


def by_number(force, number, mechanism, duration):
    name = f"{force.name}.{number}"
    given = dataclasses.replace(mechanism, forces=[force])
    return vi.gradient(given, lambda s: s.position[0, 2], duration, 1e-3, with_respect_to=[name])[name]


@pytest.mark.filterwarnings("ignore::varint.KinkWarning")
@pytest.mark.parametrize("damping", [0.0, 3.0])
@pytest.mark.parametrize(
    ("kind", "number", "more"),
    [
        (vi.Cable, "rest_length", {"rest_length": 0.8}),
        (vi.LengthStop, "upper", {"upper": 0.8}),
    ],
)
def test_lengths_at_which_a_law_sets_in(kind, number, more, damping):
    force = kind("c", "world", "b", **ENDS, damping=damping, **more)
    mechanism = vi.Mechanism("m", [BALL], [SLIDE])
    sides = one_sided(force, number, mechanism, 0.4)
    assert by_number(force, number, mechanism, 0.4) == pytest.approx(np.mean(sides), rel=1e-5)


@pytest.mark.parametrize(
    ("excitation", "more", "side"),
    [
        (0.5, {"activation": 0.5}, 0),  # rises from there
        (0.5, {"activation": 0.5005}, 1),
        (0.0, {}, 0),
        (0.0, {"activation_times": None}, 0),
        (1.0, {"activation_times": None}, 1),
    ],
)
def test_excitations_at_a_kink_have_the_derivative_of_one_side(excitation, more, side):
    muscle = vi.Musculotendon("m", **MUSCLE, excitation=excitation, **more)
    mechanism = vi.Mechanism("arm", [ROD], [ELBOW])
    sides = one_sided(muscle, "excitation", mechanism, 0.05)
    beside = more.get("activation", excitation) != excitation
    with nullcontext() if beside else pytest.warns(vi.KinkWarning, match="at a kink of a force by 'm.excitation'"):
        slope = by_number(muscle, "excitation", mechanism, 0.05)
    assert slope == pytest.approx(sides[side], rel=1e-4)


@pytest.mark.parametrize("smoothing", [1e-2, 1e-3])
@pytest.mark.filterwarnings("ignore::varint.UnresolvedWarning")
def test_a_motor_that_saturates_within_a_step_of_its_number(smoothing):
    motor = vi.VelocityMotor("m", joint="elbow", speed=2.0, max_effort=5.0, smoothing=smoothing)
    mechanism = vi.Mechanism("arm", [ROD], [ELBOW])
    sides = one_sided(motor, "speed", mechanism, 0.05)
    assert by_number(motor, "speed", mechanism, 0.05) == pytest.approx(np.mean(sides), rel=1e-4)


def test_a_jump_is_told():
    cable = vi.Cable("c", "world", "b", **ENDS, damping=3.0, rest_length=0.8)
    mechanism = vi.Mechanism("m", [BALL], [SLIDE], forces=[cable])
    with pytest.warns(vi.KinkWarning, match=r"cable 'c' jumps by .* at t = 0\.24"):
        vi.gradient(mechanism, lambda s: s.position[0, 2], 0.4, 1e-3, with_respect_to=["start"])


def test_slopes_beside_kinks():
    """A kink at a distance of the step or less, on it, and a jump beside it."""
    away = np.array([0.1, 1e-3, 1e-7, 0.0, -0.05])

    def values(share, stages):
        x = share - away[stages]
        return 2.0 * share + np.where(x > 0.0, 3.0 * x, 0.0)

    slopes, kink = slopes_of(values, away.size)
    np.testing.assert_allclose(slopes, [2.0, 2.0, 2.0, 5.0, 5.0], rtol=1e-6)
    assert kink == pytest.approx(3.0, rel=1e-3)
    slopes, _ = slopes_of(lambda share, stages: np.where(share > away[stages], 7.0 + share, -share), away.size)
    np.testing.assert_allclose(slopes, [-1.0, -1.0, -1.0, -1.0, 1.0], rtol=1e-6)
