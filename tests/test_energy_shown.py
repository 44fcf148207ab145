"""Which energy pictures and summaries show: its change where nothing does work, else the balance with the work done."""

import dataclasses

import numpy as np
import pytest
from force_samples import NAMES, sample_mechanism, samples
from holonomic import TOUCHING

import varint as vi
from varint.results.derived import QUANTITIES

CHANGE, BALANCE = "energy - that at the start", "energy balance: energy - work done"
# of the catalogue, by a motor, with a damper, or by impacts
DRIVEN = {"andrews_squeezer", "ball_on_turntable", "finger_with_flexors", "governor", "spline_knee", *TOUCHING}
KEEP = {  # forces, with the parameters of `samples`, that keep the energy; all others do work, or take it out
    "CentralGravity", "TabulatedSpring", "TabulatedTorsionSpring", "MultiPointCable",
    "Gear", "RackAndPinion", "Screw", "Belt", "Equality", "Coupling", "CoordinateMap", "Attachment", "UserConstraint",
    "RollingWheel", "KnifeEdge", "UserRateConstraint", "PathMass",
}  # fmt: skip
ONLY_REDUCED = {"Contact", "ContactPairs", "DeformableBody", "HardContact", "JointCoulombFriction", "ParticleNet"}
RNG = 3


def shown(run):
    """The label of the energy in the picture, and what is drawn."""
    (found,) = [q for q in QUANTITIES.values() if "energy" in q.label and q.shown(run)]
    (row,) = [text for text, _ in found.rows(run) if "energy" in text]
    assert row == f"{found.label}, largest"
    return found.label, found.drawn(run)


def check(run, keeps, share=0.05, works=True):
    """The right one is shown; it is small, and where work is done (``works``) the change of energy is not."""
    label, drawn = shown(run)
    assert label == (CHANGE if keeps else BALANCE)
    expected = run.energy - run.energy[0] if keeps else run.energy_balance
    assert drawn == pytest.approx(expected, abs=1e-14)
    assert np.abs(drawn).max() < share * run.kinetic.max()
    if works and not keeps:
        assert np.abs(run.energy - run.energy[0]).max() > 2 * np.abs(drawn).max()


@pytest.mark.parametrize("name", vi.mechanisms.NAMES)
def test_of_the_catalogue(name):
    dt = vi.mechanisms.module(name).EXPECTED["dt"]
    run = vi.simulate(getattr(vi.mechanisms, name)(), 40 * dt, dt, on_unresolved="ignore")
    check(run, name not in DRIVEN, works=name not in TOUCHING)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ONLY_REDUCED])
def test_of_every_force(name):
    forces = samples(np.random.default_rng(RNG))[name]
    mechanism = sample_mechanism(np.random.default_rng(RNG), forces)
    driven = any(force.constraint and force.commanded for force in forces)
    state = mechanism.state(rates={"hinge": 0.6 if driven else 0.5})
    run = vi.simulate(mechanism, 0.1, 0.0025, state=state, on_unresolved="ignore")
    check(run, name in KEEP)


def test_every_force_is_listed():
    assert set(NAMES) > KEEP | ONLY_REDUCED


def four_bar(*forces, rate=2 * np.pi):
    return dataclasses.replace(vi.mechanisms.four_bar(rate=rate), forces=forces)


def turning(t):
    return 2 * np.pi * t + 0.3 * np.sin(2 * np.pi * t) ** 2


def swinging(t):
    return 0.2 * (1 - np.cos(3.0 * t)), 0.6 * np.sin(3.0 * t), 1.8 * np.cos(3.0 * t)


CASES = {
    "prescribed motion": (four_bar(vi.PrescribedMotion("drive", joint="crank pivot", position=turning)), {}, False),
    "motor": (four_bar(vi.Motor("drive", joint="crank pivot", effort=3.0)), {}, False),
    "motor that gives nothing": (four_bar(vi.Motor("drive", joint="crank pivot", effort=0.0)), {}, True),
    "damper": (four_bar(vi.JointDamper("oil", joint="crank pin", damping=0.2)), {}, False),
    "damper without damping": (four_bar(vi.JointDamper("oil", joint="crank pin", damping=0.0)), {}, True),
    "load": (four_bar(), {"force": {"coupler": (0, 0, 30.0)}}, False),
    "hard stop": (
        four_bar(vi.JointStop("stop", joint="crank pivot", upper=1.0, restitution=0.5), rate=3.0), {}, False
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_of_what_does_work(name):
    mechanism, options, keeps = CASES[name]
    check(vi.simulate(mechanism, 0.5, 0.002, **options), keeps)


@pytest.mark.slow
def test_of_reduced_runs():
    check(vi.redmax.simulate(vi.mechanisms.four_bar(), 0.5, dt=0.01), True)
    run = vi.redmax.simulate(vi.mechanisms.cart_pole(), 0.5, dt=0.01, prescribed={"track": swinging})
    check(run, False)
    forces = samples(np.random.default_rng(RNG))["JointCoulombFriction"]
    mechanism = sample_mechanism(np.random.default_rng(RNG), forces)
    state = mechanism.state(rates={"hinge": 2.0})
    check(vi.redmax.simulate(mechanism, 0.1, dt=0.001, state=state, integrator="euler"), False)
    body, base = vi.Body.sphere("ball", 0.1, 1.0, position=(0, 0, 0.1)), vi.Free("base", "world", "ball")
    floor = vi.HardContact("floor", "ball", radius=0.1, friction=0.3)
    mechanism = vi.Mechanism("sliding", [body], [base], forces=[floor])
    state = mechanism.state(velocity={"ball": (1.0, 0, 0)})
    check(vi.redmax.simulate(mechanism, 0.1, dt=0.001, state=state, integrator="euler"), False)
