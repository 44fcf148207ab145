"""Collocation with joints that have a compliance: links along what rigid rows leave, springs along the others."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

import varint as vi
from varint.kinematics.frames import JointFrames
from varint.methods.variational.compliant_links import coordinates_of, motions_of
from varint.model.motion import Ball, Slide, Turn, joint_pose
from varint.model.rotation_vectors import quat_from_matrix

PARTS = ("t", "position", "quat_wxyz", "velocity", "angular_velocity", "work")
AT = {"point": (0, 0, 0), "axis": (1, 0, 0)}


def soft(mechanism, *numbers, **compliance):
    """The mechanism with a compliance of these joints, of all where there are no numbers."""
    joints = [
        dataclasses.replace(joint, **compliance) if not numbers or k in numbers else joint
        for k, joint in enumerate(mechanism.joints)
    ]
    return dataclasses.replace(mechanism, joints=joints)


CASES = {
    "all rows": ("double_pendulum", (1,), {"compliance": 1e-3}),
    "lengths": ("double_pendulum", (1,), {"compliance": [1e-3, 1e-3, 1e-3, 0, 0]}),
    "one angle": ("double_pendulum", (1,), {"compliance": [0, 0, 0, 1e-3, 0]}),
    "damped": ("double_pendulum", (0,), {"compliance": [1e-3, 0, 1e-3, 1e-2, 1e-2], "damping_time": 1e-3}),
    "a loop": ("four_bar", (), {"compliance": 1e-3}),
}


@pytest.mark.slow
@pytest.mark.parametrize(("order", "steps"), [(4, (40, 80)), (6, (20, 40)), (8, (10, 20))])
@pytest.mark.parametrize("name", CASES)
def test_the_order_holds(name, order, steps):
    kind, numbers, compliance = CASES[name]
    mechanism = soft(getattr(vi.mechanisms, kind)(), *numbers, **compliance)
    problem = vi.Problem(mechanism, 0.2)
    exact = vi.simulate(problem, vi.Reduced("dop853", rtol=1e-13, dt=0.025)).position[-1]
    runs = [vi.simulate(problem, vi.Lobatto(0.2 / n, order)) for n in steps]
    errors = [np.abs(run.position[-1] - exact).max() for run in runs]
    assert errors[1] < 1e-11 or np.log2(errors[0] / errors[1]) > order - 0.3
    assert errors[1] < 1e-6
    assert runs[1].newton_iterations < 4.5 * steps[1]
    assert runs[1].drift.max() < 1e-13  # of rigid rows


def test_a_body_on_a_compliant_slider_is_an_oscillator():
    """A weight that hangs from a Fixed joint with one compliance, along the vertical: z = g / w^2 (cos w t - 1)."""
    mass, alpha, g = 2.0, 1e-3, 9.81
    block = vi.Body.box("block", (0.2, 0.3, 0.1), mass)
    joint = vi.Fixed("joint", "world", "block", compliance=[0, 0, alpha, 0, 0, 0])
    run = vi.simulate(vi.Problem(vi.Mechanism("rig", [block], [joint]), 0.5), vi.Lobatto(0.01, 8))
    w = 1.0 / np.sqrt(mass * alpha)
    assert run.position[:, 0, 2] == pytest.approx(g / w**2 * (np.cos(w * run.t) - 1.0), abs=1e-9)
    assert np.abs(run.position[:, 0, :2]).max() == 0.0
    assert np.ptp(run.energy) < 1e-7
    assert run.reactions["joint"][0][:, 2] == pytest.approx(-run.position[:, 0, 2] / alpha, abs=1e-9)


def test_stiff_rows_take_few_increments():
    """A hinge that gives 1e-7 m/N: steps below 3 over its frequency take no more iterations than a rigid one takes."""
    plain = vi.mechanisms.double_pendulum()
    counts = [
        vi.simulate(vi.Problem(mechanism, 0.02), vi.Lobatto(1e-4, 6)).newton_iterations
        for mechanism in (plain, soft(plain, 1, compliance=[1e-7, 1e-7, 1e-7, 0, 0]))
    ]
    assert counts[1] <= 3.5 * 200


def test_steps_too_long_for_it_are_told():
    mechanism = soft(vi.mechanisms.four_bar(), 1, compliance=1e-5)
    with pytest.warns(vi.UnresolvedWarning, match="do not resolve the motion"):
        vi.simulate(vi.Problem(mechanism, 0.2), vi.Lobatto(0.02, 6))


def test_resumed_runs_have_the_same_bits(tmp_path):
    mechanism, path = soft(vi.mechanisms.four_bar(), compliance=1e-3), tmp_path / "run.h5"
    for duration in (0.05, 0.1):
        recording = vi.Recording(output=path, resume=duration > 0.05)
        vi.simulate(vi.Problem(mechanism, duration), vi.Lobatto(0.005), recording)
    whole, resumed = vi.simulate(vi.Problem(mechanism, 0.1), vi.Lobatto(0.005)), vi.load(path)
    for name in PARTS:
        assert np.array_equal(getattr(resumed, name), getattr(whole, name)), name


@pytest.mark.parametrize(
    ("joint", "motions"),
    [
        (vi.Revolute("j", "world", "b", **AT, compliance=1e-3), (Slide(0), Slide(1), Slide(2), Ball())),
        (vi.Revolute("j", "world", "b", **AT, compliance=[1e-3, 0, 0, 0, 0]), (Slide(0), Turn(2))),
        (vi.Revolute("j", "world", "b", **AT, compliance=[0, 0, 0, 1e-3, 0]), (Turn(1), Turn(2))),
        (vi.Universal("j", "world", "b", **AT, axis_b=(0, 1, 0), compliance=[0, 1e-3, 0, 0]), None),
        (vi.Fixed("j", "world", "b", compliance=[0, 1e-3, 0, 0, 0, 0]), (Slide(1),)),
    ],
)
def test_links_move_as_rigid_rows_allow(joint, motions):
    """The pose by the coordinates that are read from it is that pose, with the rigid rows at zero."""
    found = motions_of(joint)
    assert found == (motions or found)
    mechanism = vi.Mechanism("m", [vi.Body.box("b", (0.1, 0.2, 0.3), 1.0)], [joint])
    rng = np.random.default_rng(3)
    q = 0.7 * rng.standard_normal(sum(motion.size for motion in found))
    frames = JointFrames(mechanism, joint)
    R, p = joint_pose(SimpleNamespace(allowed=found), q)
    assert coordinates_of(found, R, p) == pytest.approx(q, abs=1e-14)
    axes = frames.axes_a @ R @ frames.axes_b.T
    place = frames.origin_a + frames.axes_a @ p - axes @ frames.origin_b
    state = vi.State(place[None], quat_from_matrix(axes)[None], np.zeros((1, 3)), np.zeros((1, 3)))
    assert vi.simulate(vi.Problem(mechanism, 0.001, state), vi.Lobatto(0.0005)).drift.max() < 1e-14


def test_rigid_rows_that_leave_no_turns_one_by_one_are_refused_by_name():
    mechanism = vi.Mechanism(
        "m",
        [vi.Body.box("b", (0.1, 0.2, 0.3), 1.0)],
        [vi.Fixed("clamp", "world", "b", compliance=[0, 0, 0, 1e-3, 0, 0])],
    )
    with pytest.raises(vi.ArgumentError, match="compliant joint 'clamp'"):
        vi.simulate(vi.Problem(mechanism, 0.1), vi.Lobatto(0.01))
