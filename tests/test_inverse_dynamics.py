"""Inverse dynamics: the inputs of runs come back, in both formulations, from motions that other forces made."""

import numpy as np
import pytest
from force_samples import with_forces

import varint as vi
from varint.derivatives.linear.inverse_dynamics import _maximal, _motion, _reduced
from varint.results.forces import forces_at


def chain(n=4):
    """Links on hinges, with a spring, dampers and a push."""
    plain = vi.mechanisms.n_pendulum(n, angle=0.3)
    forces = [vi.JointDamper(f"damper {k}", joint=f"joint {k + 1}", damping=0.2) for k in range(n)]
    tip = plain.bodies[-1].position
    forces.append(vi.Spring("spring", "world", plain.bodies[-1].name, point_a=(1, 0, -1), point_b=tip, stiffness=20.0))
    forces.append(vi.PointForce("push", plain.bodies[1].name, direction=(1, 0, 0), magnitude=1.5))
    return with_forces(plain, *forces)


def with_motors(mechanism, names, rng, steps):
    motors = [vi.Motor(f"motor {k}", joint=n, effort=rng.standard_normal(steps + 1)) for k, n in enumerate(names)]
    return with_forces(mechanism, *mechanism.forces, *motors), {motor.name: motor.effort for motor in motors}


def both(run, joints=None):
    """(T, c) in maximal and in reduced coordinates."""
    motion = _motion(run, joints)
    return _maximal(motion), _reduced(motion)


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["maximal", "reduced"])
def test_inputs_of_a_chain_come_back(rng, formulation):
    steps, dt = 50, 2e-3
    mechanism, efforts = with_motors(chain(), [f"joint {k}" for k in range(1, 5)], rng, steps)
    simulate = vi.simulate if formulation == "maximal" else vi.redmax.simulate
    run = simulate(mechanism, steps * dt, dt, state=mechanism.state(rates={"joint 1": 1.0, "joint 3": -2.0}))
    found = vi.inverse_dynamics(run)
    assert list(found) == list(efforts)
    for name, effort in efforts.items():
        assert found[name] == pytest.approx(effort, abs=1e-9)
    maximal, reduced = both(run)
    assert maximal == pytest.approx(reduced, abs=1e-9 * max(np.abs(reduced).max(), 1.0))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "joints"),
    [
        ("four_bar", ["rocker pivot"]),
        pytest.param("cart_pole", ["track", "pivot"], marks=pytest.mark.slow),
        pytest.param("four_bar", ["crank pivot"], marks=pytest.mark.slow),
        pytest.param("minitaur_leg", ["left hip", "right hip"], marks=pytest.mark.slow),
        pytest.param("slider_crank", ["crank pivot"], marks=pytest.mark.slow),
    ],
)
def test_a_motion_is_made_by_efforts_elsewhere(rng, name, joints):
    """A run by gravity and a push takes other motors; a run with these does the same motion."""
    plain, steps, dt = getattr(vi.mechanisms, name)(), 200, 1e-3
    body = plain.bodies[-1]
    still = with_forces(plain, *(f for f in plain.forces if not f.commanded))
    pushed = with_forces(still, *still.forces, vi.PointForce("push", body.name, direction=(1, 0, 1), magnitude=3.0))
    run = vi.simulate(pushed, steps * dt, dt)
    maximal, reduced = both(run, joints)
    assert maximal == pytest.approx(reduced, abs=1e-9 * max(np.abs(reduced).max(), 1.0))
    assert np.abs(maximal).max() < 1e-6  # the push is there still: nothing else is needed
    found = _without(run, "push", joints)
    motors = [vi.Motor(f"motor {n}", joint=n, effort=found[n]) for n in joints]
    again = vi.simulate(with_forces(still, *still.forces, *motors), steps * dt, dt, state=run[0])
    assert again.position[-1] == pytest.approx(run.position[-1], abs=1e-5)
    assert again.velocity[-1] == pytest.approx(run.velocity[-1], abs=1e-4)


def _without(run, force, joints):
    """Efforts at joints that make the motion of a run without one of its forces."""
    motion = _motion(run, joints)
    bare = with_forces(run.mechanism, *(f for f in run.mechanism.forces if f.name != force))
    command = np.delete(run.command, run.mechanism.force_index[force], axis=1)
    load = run.load + forces_at(bare, *motion.arrays, command).load
    motion = motion._replace(mechanism=bare, load=load)
    maximal, reduced = _maximal(motion), _reduced(motion)
    assert maximal == pytest.approx(reduced, abs=1e-8 * max(np.abs(reduced).max(), 1.0))
    return dict(zip(joints, maximal.T, strict=True))


@pytest.mark.slow
def test_a_drive_is_what_a_motor_has_to_do():
    """The effort of a prescribed motion, and of a motor that takes its place."""
    plain = vi.mechanisms.four_bar()
    drive = vi.PrescribedMotion("drive", joint="crank pivot", rate=6.28)
    run = vi.simulate(with_forces(plain, drive), 0.5, 1e-3)
    found = vi.inverse_dynamics(run)
    assert found["drive"] == pytest.approx(run.force["drive"], abs=1e-9 * np.abs(run.force["drive"]).max())
    by_joint = vi.inverse_dynamics(run, ["crank pivot"])
    assert by_joint["crank pivot"] == pytest.approx(found["drive"])


@pytest.mark.slow
def test_a_chain_at_rest_takes_its_weight():
    mechanism = vi.mechanisms.n_pendulum(2, angle=np.pi / 2)
    run = vi.simulate(mechanism, 1e-3, 1e-3)
    held = vi.inverse_dynamics(run, ["joint 1", "joint 2"])
    assert set(held) == {"joint 1", "joint 2"}
    assert np.abs(np.array([*held.values()])).max() < 1e-9  # it falls freely: that takes nothing


@pytest.mark.slow
def test_what_it_refuses():
    plain = vi.mechanisms.four_bar()
    run = vi.simulate(plain, 0.01, 1e-3)
    with pytest.raises(vi.ArgumentError, match="has no commanded force along a joint coordinate"):
        vi.inverse_dynamics(run)
    with pytest.raises(vi.ArgumentError, match="coordinates depend on each other in 'four-bar'"):
        vi.inverse_dynamics(run, ["crank pivot", "rocker pivot"])
    with pytest.raises(vi.ArgumentError, match="has no joint 'crank', did you mean 'crank pin'"):
        vi.inverse_dynamics(run, ["crank"])
    pendulum = vi.mechanisms.double_pendulum()
    motors = [vi.Motor(f"m{k}", joint=f"joint {k}", effort=1.0) for k in (1, 2)]
    moved = vi.simulate(with_forces(pendulum, *motors), 0.05, 1e-3)
    with pytest.raises(vi.ArgumentError, match="cannot produce the motion"):
        vi.inverse_dynamics(moved, ["joint 2"])
    with pytest.raises(vi.ArgumentError, match="trajectory"):
        vi.inverse_dynamics(pendulum)


INERTIA = np.diag([0.02, 0.03, 0.04])


def test_efforts_at_named_joints_replace_a_force_along_euler_angles():
    ball = vi.Spherical("ball", "world", "top", point=(0, 0, 0))
    body = vi.Body("top", mass=2.0, inertia=INERTIA, position=(0.1, 0.0, -0.3))
    roll = vi.Motor("roll", joint="ball", angles="xyz", effort=0.3)
    run = vi.redmax.simulate(vi.Mechanism("top", [body], [ball], forces=[roll]), 0.02, 1e-3)
    effort = vi.inverse_dynamics(run, ["ball"])["ball"]
    power = (effort * run.rates["ball"]).sum(axis=1)  # of the same moment, along other coordinates
    assert power == pytest.approx(run.power["roll"], rel=1e-6, abs=1e-9)
    with pytest.raises(vi.ArgumentError, match=r"motor 'roll' acts along Euler angles.*use joints="):
        vi.inverse_dynamics(run)


@pytest.mark.slow
@pytest.mark.parametrize("simulate", [vi.simulate, vi.redmax.simulate], ids=["maximal", "reduced"])
def test_the_force_along_euler_angles_may_be_at_another_joint(simulate):
    arm = vi.Body("arm", mass=1.0, inertia=INERTIA, position=(0.2, 0.0, 0.0))
    tip = vi.Body("tip", mass=1.0, inertia=INERTIA, position=(0.6, 0.0, 0.0))
    hinge = vi.Revolute("hinge", "world", "arm", point=(0, 0, 0), axis=(0, 1, 0))
    ball = vi.Spherical("ball", "arm", "tip", point=(0.4, 0, 0))
    lift = vi.Motor("lift", joint="hinge", effort=0.7)
    roll = vi.Motor("roll", joint="ball", angles="xyz", effort=0.0)
    run = simulate(vi.Mechanism("arm", [arm, tip], [hinge, ball], forces=[lift, roll]), 0.02, 1e-3)
    assert vi.inverse_dynamics(run, ["hinge"])["hinge"] == pytest.approx(0.7, rel=1e-6)
