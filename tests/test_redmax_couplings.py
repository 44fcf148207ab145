"""Couplings and prescribed motions: reduced coordinates against the variational form."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from test_couplings import CASES, driven, gear, pair, rig, swing

import varint as vi
from varint.methods.reduced.equations import Equations


@pytest.mark.parametrize("name", CASES)
def test_both_formulations_agree(name):
    force, terms = CASES[name]
    mechanism = rig(force)
    (joint, _), *_ = terms
    turning = [0.3, 0.3 * 2 * np.pi / 0.5] if name == "screw" else 0.7
    state = mechanism.state(rates={joint: turning})
    red = vi.redmax.simulate(mechanism, 0.5, dt=0.01, state=state, rtol=1e-11)
    errors = []
    for dt in (0.01, 0.005):
        run = vi.simulate(mechanism, 0.5, dt, state=state, every=round(0.01 / dt))
        errors.append([np.abs(run.position - red.position).max(), np.abs(run.velocity - red.velocity).max()])
        np.testing.assert_allclose(run.force["f"], red.force["f"], atol=0.02 * np.abs(red.force["f"]).max() + 1e-4)
    ratio = np.array(errors[0]) / errors[1]
    assert (errors[0] < np.array([1e-3, 1e-2])).all()
    assert ((ratio > 3.6) & (ratio < 4.4) | (np.array(errors[0]) < 1e-9)).all(), ratio


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["euler", "bdf1", "bdf2", "sdirk2"])
def test_couplings_in_steps_of_one_size(integrator):
    mechanism = pair(gear())
    state = mechanism.state(coordinates={"a pivot": 0.4}, rates={"a pivot": 3.0})
    exact = vi.redmax.simulate(mechanism, 0.5, dt=0.01, state=state, rtol=1e-11)
    errors = []
    for dt in (0.005, 0.0025):
        red = vi.redmax.simulate(mechanism, 0.5, dt=dt, state=state, integrator=integrator, every=round(0.01 / dt))
        q = red.coordinates
        assert np.abs(0.3 * q["a pivot"] + 0.7 * q["b pivot"]).max() < 1e-9
        errors.append(np.abs(red.position - exact.position).max())
    order = 1 if integrator in ("euler", "bdf1") else 2
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["function", pytest.param("array", marks=pytest.mark.slow)])
def test_prescribed_motions(how):
    t = 0.01 * np.arange(401)
    mechanism = driven(swing if how == "function" else swing(t))
    state = mechanism.state(coordinates={"a pivot": 0.2})
    red = vi.redmax.simulate(mechanism, 4.0, dt=0.01, state=state) if how == "array" else None
    if how == "function":
        mechanism = dataclasses.replace(pair(*mechanism.forces))  # something is left to move
        state = mechanism.state(coordinates={"a pivot": 0.2, "b pivot": 1.0})
        red = vi.redmax.simulate(mechanism, 4.0, dt=0.01, state=state)
    run = vi.simulate(mechanism, 4.0, 0.01, state=state)
    assert np.abs(red.coordinates["a pivot"] - swing(t)).max() < 1e-9
    assert np.abs(run.position - red.position).max() < 2e-3
    assert np.abs(run.force["drive"] - red.force["drive"])[2:-2].max() < 2e-2


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["euler", "bdf1", "bdf2", "sdirk2"])
def test_driven_gears_in_steps_of_one_size(integrator):
    """The motion is given; what it takes, of the drive and between the teeth, is as in the variational form."""
    mechanism = pair(gear(), vi.PrescribedMotion("drive", joint="a pivot", position=lambda t: 0.4 * np.sin(3 * t)))
    state = mechanism.state(rates={"a pivot": 1.2})
    exact = vi.simulate(mechanism, 1.0, 0.002, state=state, every=5)
    red = vi.redmax.simulate(mechanism, 1.0, dt=0.01, state=state, integrator=integrator)
    close = 0.01 if integrator in ("euler", "bdf1") else 5e-4
    for name in ("drive", "gear"):
        assert red.force[name][1:-1] == pytest.approx(exact.force[name][1:-1], abs=close)
    assert red.acceleration[1:-1] == pytest.approx(exact.acceleration[1:-1], abs=close)


@pytest.mark.parametrize("name", ["crank pivot", "crank pin", "rocker pin", "rocker pivot"])
def test_any_joint_of_a_loop_is_driven(name):
    """Another one is cut."""
    mechanism = dataclasses.replace(
        vi.mechanisms.four_bar(), forces=[vi.PrescribedMotion("drive", joint=name, rate=1.0)]
    )
    state = mechanism.state(rates={name: 1.0})
    run = vi.simulate(mechanism, 0.1, 0.005, state=state, tol=1e-13)
    red = vi.redmax.simulate(mechanism, 0.1, dt=0.005, state=state, rtol=1e-11)
    assert red.position == pytest.approx(run.position, abs=1e-10)
    assert np.ptp(run.position, axis=0).max() > 0.02


@pytest.mark.parametrize("held", [("crank pivot", "rocker pin"), ("rocker pin", "rocker pivot")])
def test_any_joints_of_a_loop_are_coupled(held):
    """To a flywheel; the loop is open at another one."""
    plain = vi.mechanisms.four_bar()
    wheels = [vi.Body.cylinder(f"wheel {k}", 0.2, 0.1, 1.0, position=(0, 3.0 + k, 0)) for k in (0, 1)]
    axles = [vi.Revolute(f"axle {k}", "world", f"wheel {k}", point=(0, 3.0 + k, 0), axis=(0, 1, 0)) for k in (0, 1)]
    gears = [
        vi.Gear(f"gear {k}", joint_a=name, joint_b=f"axle {k}", radius_a=2.0, radius_b=1.0)
        for k, name in enumerate(held)
    ]
    mechanism = vi.Mechanism("geared", [*plain.bodies, *wheels], [*plain.joints, *axles], forces=gears)
    state = mechanism.state(rates={"crank pivot": 1.0})
    exact = vi.redmax.simulate(mechanism, 0.2, dt=0.02, state=state, rtol=1e-11)
    errors = []
    for dt in (0.02, 0.01):
        run = vi.simulate(mechanism, 0.2, dt, state=state, tol=1e-13, every=round(0.02 / dt))
        errors.append(np.abs(run.position - exact.position).max())
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


def clashing():
    """Both cranks of a four-bar: the first speeds up from rest, the second stays."""
    crank = vi.PrescribedMotion("drive", joint="crank pivot", position=lambda t: t**2)
    rocker = vi.PrescribedMotion("brake", joint="rocker pivot", rate=0.0)
    return dataclasses.replace(vi.mechanisms.four_bar(), forces=[crank, rocker])


CLASHES = {
    "maximal": lambda mechanism, **given: vi.simulate(mechanism, 1.0, 0.01, **given),
    "dop853": lambda mechanism, **given: vi.redmax.simulate(mechanism, 1.0, dt=0.01, **given),
    "bdf2": lambda mechanism, **given: vi.redmax.simulate(mechanism, 1.0, dt=0.01, integrator="bdf2", **given),
    "euler": lambda mechanism, **given: vi.redmax.simulate(mechanism, 1.0, dt=0.01, integrator="euler", **given),
}


@pytest.mark.parametrize("simulate", CLASHES.values(), ids=CLASHES)
def test_drives_that_a_loop_cannot_have_at_once(simulate):
    with pytest.raises(vi.ConvergenceError) as caught:
        simulate(clashing(), state=vi.mechanisms.four_bar().replace(start={}).state())
    for words in ("crank pivot", "rocker pivot", "cannot be had at once", "the loop '", "Free one of the joints"):
        assert words in str(caught.value)
    assert caught.value.time < 0.2


def test_a_drive_that_the_joints_cannot_follow():
    """The crank of a double rocker beyond the pose where it locks; the other drive is no part of the loop."""
    plain = vi.mechanisms.four_bar(case="double-rocker")
    wheel = vi.Body.cylinder("wheel", 0.2, 0.1, 1.0, position=(0, 3.0, 0))
    axle = vi.Revolute("axle", "world", "wheel", point=(0, 3.0, 0), axis=(0, 1, 0))
    drives = [vi.PrescribedMotion(f"of {name}", joint=name, rate=1.5) for name in ("axle", "crank pivot")]
    mechanism = vi.Mechanism("driven", [*plain.bodies, wheel], [*plain.joints, axle], forces=drives)
    state = mechanism.state(rates={"axle": 1.5, "crank pivot": 1.5})
    with pytest.raises(vi.ConvergenceError, match=r"motion 'of crank pivot' asks for .* cannot follow, [0-9.]+ rad"):
        vi.simulate(mechanism, 3.0, 0.01, state=state)


def test_wrong_requests_are_named():
    """Of four joints in a loop one is cut, whatever they are coupled with."""
    four_bar = vi.mechanisms.four_bar()
    names = [joint.name for joint in four_bar.joints]
    pairs = [vi.Equality(f"{a} e", joint_a=a, joint_b=b) for a, b in (names[:2], names[2:])]
    coupled = dataclasses.replace(four_bar, forces=pairs)
    with pytest.raises(vi.ArgumentError, match=r"equality '.* e': .* joint '.*' closes a loop, and the joints"):
        vi.redmax.simulate(coupled, 0.1, dt=0.01)
    with pytest.raises(vi.ArgumentError, match="needs dt="):
        vi.redmax.simulate(driven(np.zeros(11)), 0.1)


@pytest.mark.slow
def test_couplings_are_hyper_reduced_coordinates():
    """A chain whose angles are all the same: J^T M J with the chained Jacobian (DIFF eqs. 2.88 to 2.90), by hand."""
    chain = vi.mechanisms.n_pendulum(n=5)
    names = [joint.name for joint in chain.joints]
    same = [vi.Equality(f"as {a}", joint_a=a, joint_b=b) for a, b in pairwise(names)]
    mechanism = vi.Mechanism("curl", chain.bodies, chain.joints, forces=same)
    state = mechanism.state(coordinates=dict.fromkeys(names, 0.3), rates=dict.fromkeys(names, 0.8))
    equations = Equations(mechanism)
    q, rates = np.full(5, 0.3), np.full(5, 0.8)
    J_rR = np.ones((5, 1))
    acceleration = equations.acceleration(0.0, q, rates)
    equations.place(q)
    equations.move(q, rates)
    M, f = equations.mass_matrix(), equations.reduced_force(0.0)
    assert acceleration == pytest.approx(J_rR @ np.linalg.solve(J_rR.T @ M @ J_rR, J_rR.T @ f), abs=1e-11)
    run = vi.redmax.simulate(mechanism, 10.0, dt=0.1, state=state)
    assert np.ptp(run.q, axis=1).max() < 1e-11
    assert np.abs(run.energy_balance).max() < 1e-6 * run.kinetic.max()
