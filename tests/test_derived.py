"""What follows from a trajectory: quantities, what is shown of them, copies; one curve through tabulated motions."""

import copy
import pickle

import numpy as np
import pytest
from force_samples import with_forces
from scipy.interpolate import CubicHermiteSpline, CubicSpline

import varint as vi
from varint.cli import main
from varint.methods.reduced.couplings import prescribed_motions
from varint.results.derived import QUANTITIES, conserves_momentum
from varint.results.inputs.at_nodes import Commands
from varint.results.inputs.courses import Span

CHANGE, BALANCE = "energy - that at the start", "energy balance: energy - work done"


def pair(*forces, gravity=(0, 0, 0)):
    """Two floating bodies."""
    bodies = [vi.Body.box(name, (0.1, 0.2, 0.3), 1.0, position=(k, 0, 0)) for k, name in enumerate("ab")]
    hooke = vi.Universal("hooke", "a", "b", point=(0.5, 0, 0), axis=(1, 0, 0), axis_b=(0, 1, 0))
    joints = [vi.Free("base", "world", "a"), hooke]
    return vi.Mechanism("pair", bodies, joints, forces=forces, gravity=gravity)


def short(mechanism, **options):
    start = mechanism.state(velocity={"a": (0.1, 0.2, 0.3)}, rates={"hooke": (1.0, 0.5)})
    return vi.simulate(mechanism, 0.2, 0.01, state=start, **options)


ENDS = {"point_a": (0, 0, 0.2), "point_b": (1, 0, 0.2), "stiffness": 30.0, "rest_length": 0.9}
SPRING = vi.Spring("f", "a", "b", **ENDS)
DAMPED = vi.Spring("f", "a", "b", damping=0.3, **ENDS)
TO_WORLD = vi.Spring("f", "world", "b", **ENDS)
TORSION = vi.TorsionSpring("f", joint="hooke", stiffness=3.0, rest_angle=0.4)
DAMPER = vi.JointDamper("f", joint="hooke", damping=0.3)
MOTOR = vi.Motor("f", joint="hooke", effort=0.7)
IDLE = vi.Motor("f", joint="hooke", effort=0.0)
DRIVE = vi.PrescribedMotion("f", joint="hooke", position=0.0)
ATTRACTION = vi.CentralGravity("f", "world", "b", mu=0.5, point_a=(3, 0, 0))
PUSH = vi.PointForce("f", body="a", magnitude=1.0, direction=(0, 0, 1))


@pytest.mark.parametrize(
    ("force", "conservative", "closed"),
    [
        (None, True, True),
        (SPRING, True, True),
        (TORSION, True, True),
        (IDLE, True, True),
        (TO_WORLD, True, False),
        (ATTRACTION, True, False),
        (DAMPED, False, True),
        (DAMPER, False, True),
        (MOTOR, False, True),
        (PUSH, False, False),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, vi.Spring | vi.Motor) else str(value)[:20],
)
def test_what_stays(force, conservative, closed):
    run = short(pair(*([force] if force else [])))
    assert run.is_conservative == conservative
    assert conserves_momentum(run) == closed
    change = np.abs(run.energy - run.energy[0]).max()
    assert np.abs(run.energy_balance).max() < 5e-3
    if conservative:
        assert change < 1e-3
    moved = [np.abs(values - values[0]).max() for values in (run.linear_momentum, run.angular_momentum)]
    assert (max(moved) < 1e-10) == closed


@pytest.mark.slow
def test_loads_gravity_and_prescribed_motions_are_from_outside():
    assert not short(pair(), force={"a": (1.0, 0, 0)}).is_conservative
    assert not conserves_momentum(short(pair(), torque={"a": (0, 0, 1.0)}))
    falling = short(pair(gravity=(0, 0, -9.81)))
    assert falling.is_conservative
    assert not conserves_momentum(falling)
    inside = vi.simulate(pair(DRIVE), 0.2, 0.01)
    assert not inside.is_conservative
    assert conserves_momentum(inside)
    assert not vi.redmax.simulate(driven(0.0), 0.05, dt=0.01).is_conservative
    assert not vi.redmax.simulate(vi.mechanisms.governor(), 0.05, dt=0.01).is_conservative
    assert vi.redmax.simulate(vi.mechanisms.four_bar(), 0.05, dt=0.01).is_conservative


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--integrator", "bdf2")])
def test_summary_says_which_energy_it_shows(options, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, shown, other in (
        ("governor", BALANCE, CHANGE),
        ("four_bar", CHANGE, BALANCE),
    ):
        assert main(["run", name, "--duration", "0.2", "-o", f"{name}.h5", *options]) == 0
        out = capsys.readouterr().out
        assert f"{shown}, largest" in out
        assert other not in out
        run = vi.load(f"{name}.h5")
        values = run.energy_balance if shown == BALANCE else run.energy - run.energy[0]
        assert f"{np.abs(values).max():.3g} J" in out
    assert np.abs(run.energy_balance - (run.energy - run.energy[0])).max() < 1e-14


def test_energies_are_told_over_the_kinetic_one_where_something_moves():
    """A rod that is held at both ends moves by round-off."""
    rod = vi.Body.rod("rod", start=(0, 0, 0.1), end=(1, 0, 0), mass=1.0)
    ends = [
        vi.Revolute(name, "world", "rod", point=at, axis=(0, 1, 0))
        for name, at in (("a", (0, 0, 0.1)), ("b", (1, 0, 0)))
    ]
    for joints, told in ((ends[:1], True), (ends, False)):
        run = vi.simulate(vi.Mechanism("held", [rod], joints, gravity=(0, 0, -9.81)), 0.1, 0.01)
        texts = [text for what, text in QUANTITIES["energy"].rows(run) if what != "by a line"]
        assert texts
        assert all(("of the largest kinetic" in text) == told for text in texts)


def test_quantities_are_attributes_with_their_docs():
    for run in (short(pair()), vi.redmax.simulate(vi.mechanisms.four_bar(), 0.05, dt=0.01)):
        for name, quantity in QUANTITIES.items():
            values = getattr(run, name)
            assert values is getattr(run, name)
            assert len(values) == len(run.t)
            assert getattr(type(run), name).__doc__ == quantity.evaluate.__doc__
    with pytest.raises(AttributeError, match="speed_of_light"):
        run.speed_of_light  # noqa: B018


# ---------------------------------------------------------------------------------------- copies


def duplicates(thing):
    return [pickle.loads(pickle.dumps(thing)), copy.deepcopy(thing), copy.copy(thing)]


def test_mechanisms_and_states_pickle_and_copy():
    mechanism = vi.mechanisms.governor()
    state = mechanism.state()
    run = vi.simulate(mechanism, 0.1, 0.01, state=state)
    assert mechanism.compiled is mechanism.compiled  # what was worked out is there, and left behind
    for other in duplicates(mechanism):
        assert other.name == mechanism.name
        assert dict(other.start).keys() == dict(mechanism.start).keys()
        for body in other.bodies:
            with pytest.raises(ValueError, match="read-only"):
                body.position[0] = 1.0
        again = vi.simulate(other, 0.1, 0.01)
        assert again.position.tobytes() == run.position.tobytes()
    for other in duplicates(state):
        again = vi.simulate(mechanism, 0.1, 0.01, state=other)
        assert again.position.tobytes() == run.position.tobytes()


@pytest.mark.parametrize("reduced", [False, True])
def test_trajectories_pickle_and_copy(reduced):
    mechanism = vi.mechanisms.governor()
    run = vi.redmax.simulate(mechanism, 0.1, dt=0.01) if reduced else vi.simulate(mechanism, 0.1, 0.01)
    name, joint = mechanism.forces[0].name, mechanism.joints[0].name
    asked = run.energy, run.force[name], run.reactions[joint].force, run.coordinates[joint], run.dissipated[name]
    for other in duplicates(run):
        assert type(other) is type(run)
        again = other.energy, other.force[name], other.reactions[joint].force
        again += other.coordinates[joint], other.dissipated[name]
        for one, two in zip(asked, again, strict=True):
            assert one.tobytes() == two.tobytes()


# ---------------------------------------------------------------------------------------- one curve


def driven(positions):
    mechanism = vi.mechanisms.double_pendulum(angle=0.0)
    return with_forces(mechanism, vi.PrescribedMotion("m", joint="joint 1", position=positions))


@pytest.mark.slow
def test_tabulated_motion_is_one_curve_in_both_formulations():
    steps, dt = 20, 0.05
    t = dt * np.arange(steps + 1)
    positions = np.sin(3 * t) ** 2
    mechanism = driven(positions)
    values, rates = Commands(mechanism, mechanism.compiled, steps, dt).at(np.arange(steps + 1))[..., 0]
    fine = np.linspace(0, 1, 333)
    maximal = CubicHermiteSpline(t, values, rates)  # what the steps make of them
    reduced = prescribed_motions(mechanism, Span(steps, dt, 1.0))["joint 1"]
    spline = CubicSpline(t, positions)
    for derivative in range(2):
        expected = spline(fine, derivative)
        assert maximal(fine, derivative) == pytest.approx(expected, abs=1e-12)
        assert [float(reduced(time)[derivative, 0]) for time in fine] == pytest.approx(expected, abs=1e-12)
    slow = vi.simulate(mechanism, 1.0, dt, on_unresolved="ignore")
    fast = vi.redmax.simulate(mechanism, 1.0, dt=dt)
    for run in (slow, fast):
        assert run.coordinates["joint 1"] == pytest.approx(positions, abs=1e-9)
    assert fast.rates["joint 1"] == pytest.approx(spline(t, 1), abs=1e-12)
    along = np.abs(spline(t, 1))
    assert np.linalg.norm(slow.angular_velocity[:, 0], axis=1) == pytest.approx(along, abs=1e-8)


@pytest.mark.slow
def test_what_hangs_on_a_tabulated_motion_moves_alike():
    dt, steps = 0.02, 50
    positions = np.sin(3 * dt * np.arange(steps + 1)) ** 2
    mechanism = driven(positions)
    rate = float(CubicSpline(dt * np.arange(steps + 1), positions)(0.0, 1))
    state = mechanism.state(rates={"joint 1": rate})
    exact = vi.redmax.simulate(mechanism, 1.0, dt=dt, rtol=1e-11, state=state)
    for order, size in ((2, 3e-3), (4, 1e-6), (6, 1e-6)):
        run = vi.simulate(mechanism, 1.0, dt, order=order, state=state)
        assert np.abs(run.position - exact.position).max() < size
