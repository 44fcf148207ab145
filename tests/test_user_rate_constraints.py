"""Constraints on velocities by functions of users, against closed forms, own equations and other forces."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import varint as vi
from varint.step.rates import evaluate_rates
from varint.step.workspace import workspace

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))

import four_wheel_cart
import snakeboard

ARM = 0.2


def sideways(position, rotation):
    side = rotation[0][:, 1]
    return [[*side, *np.cross(rotation[0] @ np.array([-ARM, 0.0, 0.0]), side)]]


def sleigh():
    mechanism = vi.mechanisms.chaplygin_sleigh(arm=ARM)
    return replace(mechanism, forces=[vi.UserRateConstraint("edge", ["sleigh"], sideways)])


@pytest.mark.parametrize("order", [2, 4])
def test_chaplygins_sleigh_follows_its_closed_form_at_the_order(order):
    mechanism, errors = sleigh(), []
    speeds = vi.mechanisms.module("chaplygin_sleigh").speeds
    for dt in (0.04, 0.02):
        run = vi.simulate(mechanism, 2.0, dt, order=order)
        _, turning = speeds(run.t, ARM, 1.0, 2.0, 1.0, mechanism.bodies[0].inertia[2, 2])
        errors.append(np.abs(run.angular_velocity[:, 0, 2] - turning).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.2)


def test_the_sleigh_is_that_of_the_knife_edge():
    own, edge = (vi.simulate(m, 1.0, 0.01, order=4) for m in (sleigh(), vi.mechanisms.chaplygin_sleigh(arm=ARM)))
    assert own.position == pytest.approx(edge.position, abs=1e-8)
    assert own.force["edge"][:, 0] == pytest.approx(edge.force["edge"], abs=1e-8)
    assert own.force["edge"].shape == (len(own), 1)


def test_the_snakeboard_follows_its_own_equations_at_order_two():
    mechanism, errors = snakeboard.build(), []
    for dt in (0.01, 0.005):
        run = vi.simulate(mechanism, 1.0, dt)
        errors.append(np.abs(snakeboard.coordinates(run) - snakeboard.solution(run.t)).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert errors[1] < 1e-3


def test_the_energy_of_the_snakeboard_has_no_trend():
    run = vi.simulate(snakeboard.build(), 20.0, 0.01, on_unresolved="ignore")
    residual = run.energy - run.energy[0]
    early, late = residual[: len(run) // 6].mean(), residual[-len(run) // 6 :].mean()
    assert abs(late - early) < 0.2 * np.ptp(residual)
    assert np.abs(residual).max() < 5e-3 * run.kinetic.max()


def test_both_formulations_agree_on_the_snakeboard():
    mechanism = snakeboard.build()
    ours = vi.simulate(mechanism, 0.5, 0.005, order=4)
    reduced = vi.redmax.simulate(mechanism, 0.5, 0.005, rtol=1e-10)
    assert ours.position == pytest.approx(reduced.position, abs=1e-7)
    assert ours.force["wheels"] == pytest.approx(reduced.force["wheels"], abs=1e-4)
    assert snakeboard.coordinates(reduced) == pytest.approx(snakeboard.solution(reduced.t), abs=1e-8)


@pytest.mark.slow
def test_the_cart_follows_its_own_equations_at_order_two():
    """Two of its eight rows are redundant."""
    mechanism, errors = four_wheel_cart.build(), []
    for dt in (0.01, 0.005):
        run = vi.simulate(mechanism, 1.0, dt)
        errors.append(np.abs(run.position[:, 0, :2] - four_wheel_cart.solution(run.t)[:, :2]).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert errors[1] < 1e-4


def test_the_cart_is_that_of_rolling_wheels():
    mechanism = four_wheel_cart.build()
    spring = mechanism.forces[0]
    wheels = [
        vi.RollingWheel(name, name, radius=four_wheel_cart.RADIUS, axis=(0, 1, 0)) for name in four_wheel_cart.PLACES
    ]
    wheeled = replace(mechanism, forces=[spring, *wheels])
    own, known = (vi.simulate(m, 0.5, 0.005, order=4) for m in (mechanism, wheeled))
    assert own.position == pytest.approx(known.position, abs=1e-7)


def test_the_value_of_a_step_and_its_derivatives():
    """Of a row of three bodies that depends on all poses, against the formula, and differences of it."""
    names = ["a", "b", "c"]

    def factors(x, R):
        lean = np.sin(x[0, 0] * x[1, 1]) + R[2][0, 1]
        return [[*R[k][:, 1], *(lean * R[(k + 1) % 3][:, 0])] for k in range(3)]

    bodies = [vi.Body.box(name, (0.3, 0.2, 0.1), 1.0, position=(k, 0.3 * k, 0)) for k, name in enumerate(names)]
    joints = [vi.Free(f"free {name}", "world", name) for name in names]
    keeps = vi.UserRateConstraint("own", names, factors)
    compiled = vi.Mechanism("three", bodies, joints, forces=[keeps]).compiled
    plan, slot = compiled.plan, compiled.slot
    ws, rng, nb = workspace(plan), np.random.default_rng(0), 3

    def put(pose, x, turned):
        ws.position[pose, :nb], ws.quat[pose, :nb] = x, turned.as_quat(scalar_first=True)
        ws.rotation[pose, :nb] = turned.as_matrix()

    x, R = rng.standard_normal((nb, 3)), Rotation.random(nb, random_state=1)
    y, S = x + 0.1 * rng.standard_normal((nb, 3)), R * Rotation.from_rotvec(0.2 * rng.standard_normal((nb, 3)))
    put(0, x, R)

    def value(y, S):
        put(1, y, S)
        evaluate_rates(plan, ws, 0, 1, 1.0)
        return ws.residual_row[plan.constraints.rate].sum()

    A = [np.array(factors(p[slot], turned.as_matrix()[slot])) for p, turned in ((x, R), (y, S))]
    v = (S * R.inv()).as_quat(scalar_first=True)
    turns = 2 * v[:, 1:] * np.sign(v[:, :1])
    expected = np.sum(0.5 * (A[0] + A[1]) * np.hstack([y - x, turns])[slot])
    assert value(y, S) == pytest.approx(expected, rel=1e-13)
    gradient = np.zeros((nb + 1, 6))
    for r in plan.constraints.rate:
        for s in range(2):
            gradient[plan.measures.body[r, s]] += ws.jacobian[1, r, s]
    h = 1e-3
    for i in range(nb):
        for k in range(6):

            def along(share, i=i, k=k):
                change = np.zeros((nb, 6))
                change[i, k] = share
                return value(y + change[:, :3], S * Rotation.from_rotvec(change[:, 3:]))

            slope = sum(c * (along(n * h) - along(-n * h)) for n, c in zip((1, 2, 3), (45, -9, 1), strict=True)) / (
                60 * h
            )
            assert gradient[i, k] == pytest.approx(slope, abs=1e-10)


def test_gradients_are_refused_by_name():
    with pytest.raises(
        vi.ArgumentError, match="userrateconstraint 'edge' constrains velocities, not poses, which grad"
    ):
        vi.gradient(sleigh(), lambda state: state.position[0, 0], 0.1, 0.01, with_respect_to=["sleigh.mass"])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x, R: x, r"A of userrateconstraint 'own' must give factors \(1, 6\), or \(m, 1, 6\) for m rows, got"),
        (lambda x, R: [[0.0] * 6], "row 0 of A of userrateconstraint 'own' must not be zero"),
        (
            lambda x, R: [[np.sqrt(x[0, 0] - 9.0), 0, 0, 0, 0, 0]],
            "row 0 of A of userrateconstraint 'own' must be finite",
        ),
        (lambda x, R: [[abs(x[0, 0]) > 1, 0, 0, 0, 0, 0]], "is compared or taken apart"),
    ],
)
def test_wrong_functions_are_refused(function, message):
    with pytest.raises(vi.MechanismError, match=message):
        replace(sleigh(), forces=[vi.UserRateConstraint("own", ["sleigh"], function)])
