"""Efforts that hold a pose: closed forms, virtual work in loops, and runs that stay."""

import dataclasses

import numpy as np
import pytest
from force_samples import with_forces

import varint as vi

G = 9.81
UP = (0, -1, 0)  # positive angles lift what lies along x


def rod_on_hinge(*forces, axis=UP):
    """A rod of 1 m and 2 kg that lies along x, on a hinge at its end."""
    rod = vi.Body.rod("rod", (0, 0, 0), (1, 0, 0), mass=2.0)
    return vi.Mechanism("rod", [rod], [vi.Revolute("h", "world", "rod", point=(0, 0, 0), axis=axis)], forces=forces)


def arm(*forces):
    """Two rods along x: 0.4 m of 2 kg, 0.3 m of 1 kg."""
    bodies = [
        vi.Body.rod("upper", (0, 0, 0), (0.4, 0, 0), mass=2.0),
        vi.Body.rod("fore", (0.4, 0, 0), (0.7, 0, 0), mass=1.0),
    ]
    joints = [
        vi.Revolute("shoulder", "world", "upper", point=(0, 0, 0), axis=UP),
        vi.Revolute("elbow", "upper", "fore", point=(0.4, 0, 0), axis=UP),
    ]
    return vi.Mechanism("arm", bodies, joints, forces=forces)


def motors():
    return vi.Motor("motor 1", joint="shoulder", effort=0.3), vi.Motor("motor 2", joint="elbow", effort=-7.0)


DRIVES = {
    "motor": lambda: vi.Motor("drive", joint="h", effort=5.0),
    "servo": lambda: vi.JointServo("drive", joint="h", target=0.4, stiffness=3.0, damping=1.0),
    "prescribed": lambda: vi.PrescribedMotion("drive", joint="h", rate=1.0),
    "speed": lambda: vi.VelocityMotor("drive", joint="h", speed=1.0, max_effort=0.1),
}


@pytest.mark.parametrize("drive", ["motor", "servo", "prescribed", "speed"])
def test_any_drive_holds_a_rod_by_its_weight_and_lever(drive):
    mechanism = rod_on_hinge(DRIVES[drive]())
    angle = 0.7
    state = mechanism.state(coordinates={"h": angle}, rates={"h": 2.0} if drive != "prescribed" else None)
    assert vi.holding(mechanism, state) == {"drive": pytest.approx(2.0 * G * 0.5 * np.cos(angle), rel=1e-12)}


def test_signs_follow_the_axis_and_forces_lift_along():
    assert vi.holding(rod_on_hinge(axis=(0, 1, 0)), joints=["h"]) == {"h": pytest.approx(-G)}
    spring = vi.TorsionSpring("spring", joint="h", stiffness=4.0, rest_angle=0.5)
    push = vi.PointForce("push", "rod", point=(1, 0, 0), direction=(0, 0, 1), magnitude=3.0)
    assert vi.holding(rod_on_hinge(spring, push), joints=["h"]) == {"h": pytest.approx(G - 4.0 * 0.5 - 3.0)}


def test_two_motors_of_an_arm_and_a_lift():
    mechanism = arm(*motors())
    held = vi.holding(mechanism, mechanism.state(coordinates={"shoulder": 0.5, "elbow": -1.2}))
    second = G * 0.15 * np.cos(0.7)
    assert held == pytest.approx(
        {"motor 1": G * (2.0 * 0.2 + 0.4) * np.cos(0.5) + second, "motor 2": second}, rel=1e-12
    )
    box = vi.Body.box("box", (0.1, 0.1, 0.1), 3.0)
    lift = vi.Mechanism("lift", [box], [vi.Prismatic("lift", "world", "box", point=(0, 0, 0), axis=(0, 0, -1))])
    assert vi.holding(lift, joints=["lift"]) == {"lift": pytest.approx(-3.0 * G)}  # N


def test_a_ball_joint_has_three_efforts():
    rod = vi.Body.rod("rod", (0, 0, 0), (1, 0, 0), mass=2.0)
    mechanism = vi.Mechanism("ball", [rod], [vi.Spherical("ball", "world", "rod", point=(0, 0, 0))])
    assert vi.holding(mechanism, joints=["ball"])["ball"] == pytest.approx([0.0, -G, 0.0], abs=1e-9)


@pytest.mark.parametrize("joint", ["crank pivot", "rocker pivot"])
def test_a_loop_is_held_by_virtual_work(joint):
    mechanism = vi.mechanisms.four_bar()
    state, h = mechanism.state(), 1e-4
    at = mechanism.coordinates(state)[joint]
    swept = mechanism.sweep(joint, [at - h, at + h], state)
    lower, upper = (sum(b.mass * G * z for b, z in zip(mechanism.bodies, x[:, 2], strict=True)) for x in swept.position)
    held = vi.holding(mechanism, state, [joint])[joint]
    assert held == pytest.approx((upper - lower) / (2 * h), rel=1e-6)
    both = vi.holding(mechanism, state, ["crank pivot", "rocker pivot"])
    assert np.linalg.norm(list(both.values())) < abs(held)  # the least of all that hold


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "minitaur_leg"])
def test_a_run_with_these_efforts_stays(name):
    joints = {"four_bar": ["rocker pivot"], "slider_crank": ["crank pivot"], "minitaur_leg": ["left hip", "right hip"]}
    plain = with_forces(getattr(vi.mechanisms, name)())
    state = plain.state()
    still = np.zeros_like(state.velocity)
    state = dataclasses.replace(state, velocity=still, angular_velocity=still)
    efforts = vi.holding(plain, state, joints[name])
    held = with_forces(plain, *(vi.Motor(n, joint=n, effort=effort) for n, effort in efforts.items()))
    run = vi.simulate(held, 0.1, 1e-3, state=state)
    assert run.position[-1] == pytest.approx(state.position, abs=1e-8)


def test_a_regulator_holds_an_arm_out():
    mechanism = arm(*motors())
    state = mechanism.state(coordinates={"shoulder": 0.5, "elbow": -1.2})
    with pytest.raises(vi.StateError, match="hold=True"):
        vi.lqr(mechanism, state)
    regulator = vi.lqr(mechanism, state, hold=True)
    held = vi.holding(mechanism, state)
    assert dict(zip(regulator.system.inputs, regulator.system.input, strict=True)) == pytest.approx(held)
    assert regulator.inputs(state) == pytest.approx(held)
    assert np.abs(regulator.system.offset).max() < 1e-9
    assert regulator.eigenvalues.real.max() < 0


def test_the_inputs_of_a_regulator_are_targets_where_servos_have_them():
    mechanism = rod_on_hinge(vi.JointServo("drive", joint="h", target=0.0, stiffness=40.0, damping=1.0))
    state = mechanism.state(coordinates={"h": 0.2})
    target = 0.2 + 2.0 * G * 0.5 * np.cos(0.2) / 40.0
    assert vi.lqr(mechanism, state, hold=True).system.input == pytest.approx([target])


def test_errors_say_what_cannot_be_held():
    mechanism = arm(motors()[1])
    with pytest.raises(
        vi.StateError, match=r"'motor 2' cannot hold 'arm' .* 'shoulder' accelerates at -.* rad/s\^2. D"
    ):
        vi.holding(mechanism)
    with pytest.raises(vi.StateError, match="cannot hold 'arm'"):
        vi.lqr(mechanism, mechanism.state(), hold=True)
    with pytest.raises(vi.ArgumentError, match=r"'arm' has no commanded force .*: use joints= to name"):
        vi.holding(arm())
    with pytest.raises(vi.ArgumentError, match=r"joints: 'arm' has no joint 'elbo'.*elbow"):
        vi.holding(arm(), joints=["elbo"])
