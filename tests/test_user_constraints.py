"""Constraints by functions of poses that users write, against closed forms, own equations and each other."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import varint as vi

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))

import rope_over_pulleys

POINTS = np.array([[0.1, 0.2, 0.3], [0.0, -0.1, 0.2], [-0.2, 0.1, 0.0]])
NAMES = ["a", "b", "c"]


def bent(position, rotation):
    """Two rows of three bodies that turn: the length of a path, and a curve that places keep to."""
    ends = [position[k] + rotation[k] @ point for k, point in enumerate(POINTS)]
    path = np.linalg.norm(ends[1] - ends[0]) + 0.7 * np.linalg.norm(ends[2] - ends[1])
    x, y, _ = position[0] + 2.0
    return [path, 0.3 * np.arctan2(y, x) + 0.1 * np.sin(position[1, 0] * position[2, 1])]


class Kept:
    """`bent`, less its values ``at`` the reference."""

    def __init__(self, at=(0.0, 0.0)):
        self.at = at

    def __call__(self, position, rotation):
        return [value - at for value, at in zip(bent(position, rotation), self.at, strict=True)]


def three():
    """Three bodies on springs, which float otherwise, and two rows that they keep."""
    places = (0.0, 0.0, 0.0), (1.0, 0.2, 0.1), (0.3, 1.0, -0.2)
    bodies = [
        vi.Body.box(name, (0.3, 0.2, 0.1), 1.0 + k, position=place)
        for k, (name, place) in enumerate(zip(NAMES, places, strict=True))
    ]
    joints = [vi.Free(f"free {name}", "world", name) for name in NAMES]
    at = tuple(float(value) for value in bent(np.array(places), np.array([np.eye(3)] * 3)))
    springs = [
        vi.Spring(f"s{k}", "world", name, point_a=(0, 0, 1), point_b=place, stiffness=20.0, rest_length=1.0)
        for k, (name, place) in enumerate(zip(NAMES, places, strict=True))
    ]
    keeps = vi.UserConstraint("keeps", NAMES, Kept(at))
    return vi.Mechanism("three", bodies, joints, forces=[*springs, keeps], gravity=(0, 0, 0))


def moving(mechanism):
    return mechanism.state(rates={"free a": (0.1, 0.3, 0.0, 0.5, 0.2, 0.4), "free c": (0.0, 0.2, 0.3, 0.1, 0.8, 0.3)})


def rows_of(run):
    R = Rotation.from_quat(run.quat_wxyz.reshape(-1, 4), scalar_first=True).as_matrix().reshape(len(run), -1, 3, 3)
    g = run.mechanism.force("keeps").g
    return np.array([g(x, turned) for x, turned in zip(run.position, R, strict=True)])


def test_three_weights_fall_as_in_closed_form():
    run = vi.simulate(rope_over_pulleys.build(), 0.5, 0.01)
    tension = rope_over_pulleys.tension()
    up = tension * np.array([1.0, 1.0, 2.0]) / rope_over_pulleys.MASSES - 9.81
    expected = np.array(rope_over_pulleys.HEIGHTS) + 0.5 * up * run.t[:, None] ** 2
    assert run.position[:, :, 2] == pytest.approx(expected, abs=1e-12)
    assert run.force["rope"] == pytest.approx(np.full((len(run), 1), -tension), rel=1e-10)
    assert run.work == pytest.approx(np.zeros_like(run.work), abs=0)


def heights(t, apart):
    """Of the three weights at times ``t``, by their equations of motion with the tension eliminated."""
    masses = np.array(rope_over_pulleys.MASSES)

    def rate(_, y):
        z, v = np.split(y, 2)
        slope = z[2] / np.sqrt(apart**2 + z[2] ** 2)
        G, bend = np.array([-1.0, -1.0, 2 * slope]), 2 * (1 - slope**2) / np.sqrt(apart**2 + z[2] ** 2) * v[2] ** 2
        pull = (-bend + 9.81 * G.sum()) / (G @ (G / masses))
        return np.concatenate([v, G * pull / masses - 9.81])

    start = np.concatenate([rope_over_pulleys.HEIGHTS, np.zeros(3)])
    return solve_ivp(rate, (0, t[-1]), start, t_eval=t, rtol=1e-12, atol=1e-13, method="DOP853").y[:3].T


@pytest.mark.parametrize("order", [2, 4])
def test_the_rope_between_pulleys_apart_has_the_order(order):
    errors = []
    for dt in (0.1, 0.05):
        run = vi.simulate(rope_over_pulleys.build(0.5), 0.6, dt, order=order)
        errors.append(np.abs(run.position[:, :, 2] - heights(run.t, 0.5)).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)


def test_the_energy_has_no_trend_and_the_rows_stay_closed():
    mechanism = three()
    state = mechanism.state(rates={"free a": (0.0, 0.1, 0.0, 0.0, 0.1, 0.1), "free c": (0.0, 0.0, 0.1, 0.0, 0.1, 0.1)})
    run = vi.simulate(mechanism, 20.0, 0.01, state=state)  # longer: round-off decides, the motion is chaotic
    residual = run.energy - run.energy[0]
    early, late = residual[: len(run) // 6].mean(), residual[-len(run) // 6 :].mean()
    assert np.abs(residual).max() < 2e-2 * run.kinetic.max()
    assert abs(late - early) < 0.25 * np.ptp(residual)
    assert np.abs(rows_of(run)).max() < 1e-12


def test_both_formulations_agree():
    mechanism = three()
    state = moving(mechanism)
    ours = vi.simulate(mechanism, 0.5, 0.005, state=state, order=4)
    reduced = vi.redmax.simulate(mechanism, 0.5, 0.005, state=state, rtol=1e-11)
    assert ours.position == pytest.approx(reduced.position, abs=1e-8)
    assert ours.force["keeps"] == pytest.approx(reduced.force["keeps"], abs=1e-6)
    assert ours.force["keeps"].shape == (len(ours), 2)


def objective(state):
    return float(
        np.sum(np.arange(9.0).reshape(3, 3) * state.position) + state.velocity[0, 1] + state.angular_velocity[2, 0]
    )


@pytest.mark.slow
@pytest.mark.parametrize("way", [vi.gradient, vi.redmax.gradient], ids=["maximal", "reduced"])
def test_gradients_against_differences(way):
    mechanism = three()
    state, more = moving(mechanism), {} if way is vi.gradient else {"scheme": "bdf2"}
    found = way(mechanism, objective, 0.1, 0.005, state=state, with_respect_to=["a.mass", "s1.stiffness"], **more)

    def value(changed):
        if way is vi.gradient:
            run = vi.simulate(changed, 0.1, 0.005, state=state, tol=1e-13)
        else:
            run = vi.redmax.simulate(changed, 0.1, 0.005, state=state, integrator="bdf2")
        return objective(run.state(len(run) - 1))

    def heavier(by):
        bodies = [replace(body, mass=body.mass + by) if body.name == "a" else body for body in mechanism.bodies]
        return value(replace(mechanism, bodies=bodies))

    def stiffer(by):
        forces = [replace(f, stiffness=f.stiffness + by) if f.name == "s1" else f for f in mechanism.forces]
        return value(replace(mechanism, forces=forces))

    for name, along, h in (("a.mass", heavier, 1e-3), ("s1.stiffness", stiffer, 1e-2)):
        slope = (8 * (along(h / 2) - along(-h / 2)) - (along(h) - along(-h))) / (6 * h)
        assert found[name] == pytest.approx(slope, rel=1e-7)


def test_it_goes_on_from_a_node_and_from_a_file_to_the_same_bits(tmp_path):
    mechanism = three()
    state = moving(mechanism)
    whole = vi.simulate(mechanism, 0.2, 0.01, state=state)
    again = vi.simulate(mechanism, 0.2, 0.01, state=state, output_times=[0.0, 0.1, 0.2])
    assert np.array_equal(whole.position[[0, 10, 20]], again.position)
    with pytest.raises(vi.MechanismError, match="g of userconstraint 'keeps' is a function, which no file can hold"):
        vi.save_mechanism(mechanism, tmp_path / "three.json")


def test_a_start_off_the_rows_is_refused():
    mechanism = three()
    state = mechanism.state()
    moved = replace(state, position=state.position + [[0.01, 0, 0], [0, 0, 0], [0, 0, 0]])
    with pytest.raises(vi.StateError, match=r"g of userconstraint 'keeps' is -?0\.0\d+ m at the start, not zero"):
        vi.simulate(mechanism, 0.1, 0.01, state=moved)
    with pytest.raises(vi.StateError, match="leaves a joint, an attachment or a constraint"):
        vi.redmax.simulate(mechanism, 0.1, 0.01, state=moved)
    run = vi.simulate(mechanism, 0.1, 0.01, state=mechanism.assemble(moved))
    assert np.abs(rows_of(run)).max() < 1e-12


def test_welded_bodies_can_be_named():
    """They are not merged, as the function asks for the pose of each; the motion is the one of a heavier weight."""
    mechanism = rope_over_pulleys.build()
    extra = vi.Body.box("extra", (0.1, 0.1, 0.1), 1.0, position=(0.5, 0.0, -0.9))
    weld = vi.Fixed("weld", "right", "extra", point=(0.5, 0.0, -0.8))
    run = vi.simulate(
        replace(mechanism, bodies=[*mechanism.bodies, extra], joints=[*mechanism.joints, weld]), 0.3, 0.01
    )
    heavy = [replace(body, mass=4.0) if body.name == "right" else body for body in mechanism.bodies]
    alone = vi.simulate(replace(mechanism, bodies=heavy), 0.3, 0.01)
    assert run.position[:, :3, 2] == pytest.approx(alone.position[:, :, 2], abs=1e-12)


def made(function, bodies=("a", "b", "c")):
    mechanism = three()
    return replace(mechanism, forces=[vi.UserConstraint("own", bodies, function)])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x, R: x[0, 0] + 1.0, r"g of userconstraint 'own' must be zero in the reference configuration: row 0"),
        (
            lambda x, R: [x[0, 0], x[0, 0] / (x[0, 0] * 0.0 + x[0, 1])],
            r"row 1 of g of userconstraint 'own' must be finite",
        ),
        (lambda x, R: np.sqrt(x[0] - 1.0), r"row 0 of g of userconstraint 'own' must be finite"),
        (lambda x, R: x, r"g of userconstraint 'own' must give a number or an array \(m,\), got the shape \(3, 3\)"),
        (lambda x, R: [], r"must give a number or an array \(m,\), got the shape \(0,\)"),
        (lambda x, R: "far", "must give numbers: a result is str"),
        (lambda x, R: x[0, 0] if x[0, 0] > 0 else 0.0, "is compared or taken apart, which has no derivative"),
        (lambda x, R: float(x[0, 0]), "is compared or taken apart"),
        (lambda x, R: x[7, 0], "raised IndexError"),
        (lambda x: x[0, 0], "raised TypeError"),
        (3.0, "g of userconstraint 'own' must be a function"),
    ],
)
def test_wrong_functions_are_refused(function, message):
    with pytest.raises(vi.MechanismError, match=message):
        made(function)


def test_a_function_with_a_memory_is_refused():
    count = []

    def counting(x, R):
        count.append(1)
        return x[0, 0] * (2.0 if len(count) == 1 else 3.0)

    with pytest.raises(vi.MechanismError, match="is not a function of position and rotation alone: row 0, entry 0"):
        made(counting)


@pytest.mark.parametrize("bodies", [[], ["a", "a"], ["world", "a"], ["nobody"]])
def test_wrong_bodies_are_refused(bodies):
    with pytest.raises(vi.MechanismError, match="userconstraint 'own'"):
        made(lambda x, R: x[0, 0] * 0.0, bodies)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.sqrt(x) + np.exp(x) * np.log(x) - x**3 + 2.0**x - 1 / x,
        lambda x: np.sin(x) / np.cos(x) + np.tan(x) + np.abs(-x) + x**0.3 + x ** (x * 1.0),
        lambda x: np.arcsin(x / 2) * np.arccos(x / 2) - np.arctan(x) + np.arctan2(x, 2 - x) + np.hypot(x, 1.0 + 0 * x),
        lambda x: np.sinh(x) * np.tanh(x) - np.cosh(x) + np.square(x) + np.dot([x, x], [1.0, x]) + (-x) ** 2,
    ],
)
def test_every_operation_has_exact_derivatives(function):
    """The gradient and its change of a formula, against differences of sixth order."""
    from varint.step.measures import measure_at, weighted_curvature
    from varint.step.workspace import joint_workspace

    body = vi.Body.box("a", (0.3, 0.2, 0.1), 1.0)
    at = function(0.7)
    keeps = vi.UserConstraint("own", ["a"], lambda x, R: function(x[0, 0] + 0.7) - at)
    plan = vi.Mechanism("one", [body], [vi.Free("free", "world", "a")], forces=[keeps]).compiled.plan
    ws, R, r = joint_workspace(plan), np.array([np.eye(3)] * 2), int(plan.constraints.row[0])
    side = int(np.flatnonzero(plan.measures.body[r] == 0)[0])

    def at_shift(x):
        gradient = np.zeros((2, 6))
        value = measure_at(plan, ws, r, np.array([[x, 0, 0], [0, 0, 0]]), R, gradient)
        return np.array([value, gradient[side, 0]])

    h = 4e-3
    value, slope = at_shift(0.0)
    by_value, by_slope = sum(
        c * (at_shift(k * h) - at_shift(-k * h)) for k, c in zip((1, 2, 3), (45, -9, 1), strict=True)
    ) / (60 * h)
    motion, out = np.zeros((2, 6)), np.zeros((2, 6))
    motion[side, 0] = 1.0
    weighted_curvature(plan, ws, r, np.zeros((2, 3)), R, motion, out)
    assert value == pytest.approx(0.0, abs=1e-15)
    assert slope == pytest.approx(by_value, rel=1e-9)
    assert out[side, 0] == pytest.approx(by_slope, rel=1e-9)
