"""Gradients beside kinks of laws."""

import dataclasses
from contextlib import nullcontext

import numpy as np
import pytest

import varint as vi
from varint.derivatives.stage_slopes import slopes_at_bound, slopes_of

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


@pytest.mark.slow
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
    with (
        nullcontext() if beside else pytest.warns(vi.KinkWarning, match="a kink at the current value of 'm.excitation'")
    ):
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


FORMULATIONS = {
    "maximal": (vi.gradient, vi.simulate, {"tol": 1e-13}),
    "reduced": (vi.redmax.gradient, vi.redmax.simulate, {"integrator": "bdf2"}),
}
STEP, SHORT = 2e-3, 0.02  # s
CABLE = vi.Cable("c", "world", "b", **ENDS, damping=3.0)
SOFT_STOP = vi.JointStop("c", joint="s", upper=0.0, stiffness=100.0, damping=2.0)
GROUND = vi.GroundContact("c", "b", point=(0, 0, 0), ground=(0, 0, 0), stiffness=500.0, damping=3.0)


def height(state):
    return float(state.position[0, 2] + 0.3 * state.velocity[0, 2])


def floating(force, **start):
    """A ball on a vertical slide without gravity."""
    mechanism = vi.Mechanism("m", [BALL], [SLIDE], forces=[force], gravity=(0, 0, 0))
    return mechanism, mechanism.state(**start)


def lifting(**numbers):
    mechanism = vi.Mechanism("arm", [ROD], [ELBOW], forces=[vi.Musculotendon("c", **MUSCLE, **numbers)])
    return mechanism, mechanism.state()


def side(formulation, mechanism, state, number, sign, step=2e-4):
    """Derivative of a run by a number to the side ``sign``, by one-sided differences."""
    _, simulate, more = FORMULATIONS[formulation]
    (force,) = mechanism.forces

    def end(change):
        moved = dataclasses.replace(force, **{number: getattr(force, number) + change})
        run = simulate(dataclasses.replace(mechanism, forces=[moved]), SHORT, STEP, state=state, **more)
        return height(run.state(len(run) - 1))

    values = [end(0.25 * k * sign * step) for k in range(5)]
    return np.dot([-25.0, 48.0, -36.0, 16.0, -3.0], values) / (3.0 * sign * step)


@pytest.mark.slow
@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize(
    ("case", "number", "sign", "word"),
    [
        (floating(CABLE), "rest_length", -1, "0 from above and -2.9.* from below"),
        (floating(SOFT_STOP), "upper", -1, "0 from above and .* from below"),
        (floating(GROUND), "radius", 1, "from above is returned: the value on the other side is out of bounds"),
        (lifting(), "activation", 1, "from above is returned: the value on the other side is out of bounds"),
        (lifting(excitation=0.5, activation=0.5), "activation", 1, "from above and .* from below"),
        (lifting(excitation=0.5, activation=0.5), "excitation", 1, "from above and .* from below"),
        (lifting(), "excitation", 1, "from above and 0 from below"),
        (lifting(excitation=1.0, activation=1.0), "excitation", -1, "0 from above and .* from below"),
    ],
)
def test_a_run_that_stands_at_a_kink_has_the_derivative_of_the_larger_side(formulation, case, number, sign, word):
    gradient, name = FORMULATIONS[formulation][0], f"c.{number}"
    with pytest.warns(vi.KinkWarning, match=f"a kink at the current value of '{name}': the derivative .*{word}"):
        found = gradient(case[0], height, SHORT, STEP, with_respect_to=[name], state=case[1])[name]
    assert found == pytest.approx(side(formulation, *case, number, sign), rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize(
    ("case", "number", "sign"),
    [
        (lifting(activation=1.0), "activation", -1),
        (lifting(excitation=1.0), "activation", 1),
        (lifting(excitation=0.5, activation=0.4999), "activation_blend", 1),  # the blend sets in where both are near
    ],
)
def test_bounds_that_are_no_kinks_have_the_one_derivative(formulation, case, number, sign):
    gradient, name = FORMULATIONS[formulation][0], f"c.{number}"
    found = gradient(case[0], height, SHORT, STEP, with_respect_to=[name], state=case[1])[name]
    assert found == pytest.approx(side(formulation, *case, number, sign, 1e-6), rel=1e-4, abs=1e-9)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_starts_at_a_kink_are_told(formulation):
    gradient, name = FORMULATIONS[formulation][0], {"maximal": "start", "reduced": "start.q"}[formulation]
    mechanism, state = floating(CABLE)
    with pytest.warns(vi.KinkWarning, match=f"at a kink of cable 'c': derivatives by '{name}' are those of the branch"):
        by = gradient(mechanism, height, SHORT, STEP, with_respect_to=[name], state=state)[name]
    by_height = by.position[0, 2] if name == "start" else by[0]
    assert by_height == pytest.approx(1.0, rel=1e-9)  # of the slack side
    gradient(mechanism, height, SHORT, STEP, with_respect_to=[name], state=mechanism.state(coordinates={"s": -0.01}))


@pytest.mark.slow
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_inputs_of_all_nodes_at_a_kink_are_those_of_a_run_above_it(formulation):
    gradient, nodes = FORMULATIONS[formulation][0], np.zeros(round(SHORT / STEP) + 1)
    mechanism, state = lifting(excitation=nodes)
    with pytest.warns(
        vi.KinkWarning, match="'c.excitation': the derivatives from above and below differ, and those from above"
    ):
        found = gradient(mechanism, height, SHORT, STEP, with_respect_to=["c.excitation"], state=state)["c.excitation"]
    assert found.sum() == pytest.approx(side(formulation, mechanism, state, "excitation", 1), rel=1e-5)


def test_kinks_are_told_by_the_names_that_were_asked_for():
    def build(rest):
        return floating(dataclasses.replace(CABLE, rest_length=rest))[0]

    with pytest.warns(vi.KinkWarning, match="a kink at the current value of 'rest': the derivative is 0 from above"):
        found = vi.gradient(build, height, SHORT, STEP, parameters={"rest": 0.5}, with_respect_to=["rest"])["rest"]
    assert found == pytest.approx(side("maximal", *floating(CABLE), "rest_length", -1), rel=1e-5)


@pytest.mark.slow
def test_a_restitution_above_zero_opens_what_closes():
    """At 0.2 m/s the stop is met after 0.01 s; the ball comes back with e 0.2 m/s."""
    mechanism, state = floating(vi.JointStop("c", joint="s", lower=-0.002), rates={"s": -0.2})
    with pytest.warns(vi.KinkWarning, match="'c.restitution': the derivative from above is returned"):
        found = vi.gradient(mechanism, height, SHORT, STEP, with_respect_to=["c.restitution"], state=state)
    assert found["c.restitution"] == pytest.approx(0.2 * 0.01 + 0.3 * 0.2, rel=1e-6)


@pytest.mark.slow
def test_masses_of_paths_from_zero_are_refused_by_name():
    mechanism, state = lifting(excitation=0.5)
    with pytest.raises(vi.ArgumentError, match=r"'c\.mass' cannot change"):
        vi.gradient(mechanism, height, SHORT, STEP, with_respect_to=["c.mass"], state=state)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_friction_from_zero_is_refused_by_name(formulation):
    other = vi.Body.sphere("other", 0.05, 1.0, position=(0, 0, -0.1))
    joints = [SLIDE, vi.Prismatic("t", "world", "other", axis=(0, 0, 1))]
    contact = vi.SphereContact("c", "b", "other", radius_a=0.05, radius_b=0.05, stiffness=500.0)
    mechanism = vi.Mechanism("two", [BALL, other], joints, forces=[contact])
    with pytest.raises(vi.ArgumentError, match=r"'c\.friction' cannot change"):
        FORMULATIONS[formulation][0](mechanism, height, SHORT, STEP, with_respect_to=["c.friction"])


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_jumps_are_told_in_both_formulations(formulation):
    falling = vi.Mechanism("m", [BALL], [SLIDE], forces=[dataclasses.replace(CABLE, rest_length=0.8)])
    with pytest.warns(vi.KinkWarning, match=r"cable 'c' jumps by .* at t = 0\.2"):
        FORMULATIONS[formulation][0](falling, height, 0.3, 1e-2, with_respect_to=["c.stiffness"])


def test_slopes_at_bounds():
    """Kinks at distances of a step or less, and one at the bound."""
    away = np.array([0.1, 1e-3, 0.0, 10.0])

    def values(share, stages):
        return 2.0 * share + np.maximum(3.0 * (abs(share) - away[stages]), 0.0) + 0.1 * share**3

    np.testing.assert_allclose(slopes_at_bound(values, away.size, 1.0), [2.0, 2.0, 5.0, 2.0], rtol=1e-6)
    np.testing.assert_allclose(slopes_at_bound(values, away.size, -1.0), [2.0, 2.0, -1.0, 2.0], rtol=1e-6)


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
