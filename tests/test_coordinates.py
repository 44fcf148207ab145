"""Joint coordinates along a motion: stacks of poses, angles and rotation vectors past pi."""

import numpy as np
import pytest
from poses import measured_rates, pose_of
from random_mechanisms import LOWER, random_joint, random_tree, random_velocity_state, unit
from scipy.spatial.transform import Rotation

import varint as vi
from varint.kinematics.frames import JointFrames, continued
from varint.model.joints import REGISTRY
from varint.model.motion import joint_pose


def state_at(run, node):
    return vi.State(run.position[node], run.quat_wxyz[node], run.velocity[node], run.angular_velocity[node])


@pytest.mark.parametrize("kind", [*LOWER, "Helical"])
def test_measure_of_stacks(kind, rng):
    joint = random_joint(rng, kind, "joint", "world", "one", rng.standard_normal(3))
    R = Rotation.random(12, rng).as_matrix().reshape(3, 4, 3, 3)
    R[0, 0] = np.eye(3)
    p = rng.standard_normal((3, 4, 3))
    stack = joint.measure(R, p)
    assert stack.shape == (3, 4, joint.dof)
    for index in np.ndindex(3, 4):
        one = joint.measure(R[index], p[index])
        assert one.shape == (joint.dof,)
        np.testing.assert_allclose(stack[index], one, atol=1e-15)


@pytest.mark.parametrize("kind", sorted(REGISTRY))
def test_coordinates_lead_to_the_poses_without_jumps(kind, rng):
    mechanism = random_tree(rng, 3, kinds=(kind,), gravity=(0, 0, 0))
    speed = 0.5 if kind == "SplineSurface" else 3.0  # not off the surface
    run = vi.simulate(mechanism, 0.3, 0.01, state=random_velocity_state(rng, mechanism, speed))
    for joint in mechanism.joints:
        q = run.coordinates[joint.name]
        assert q.shape == ((31,) if joint.dof == 1 else (31, joint.dof))
        q = q.reshape(31, joint.dof)
        frames = JointFrames(mechanism, joint)
        for node in (0, 13, 30):
            pose = frames.relative_pose(*pose_of(state_at(run, node)))
            for one, other in zip(joint_pose(joint, q[node]), pose, strict=True):
                np.testing.assert_allclose(one, other, atol=1e-8)
        slopes = (q[14:16] - q[12:14]) / 0.02
        rates = [measured_rates(mechanism, joint.name, state_at(run, node)) for node in (13, 14)]
        # of second order in the step, by the third derivative, which grows with the cube of the rates
        np.testing.assert_allclose(slopes, rates, atol=2e-4 * (1 + np.abs(slopes).max(initial=0.0)) ** 3)


def test_angles_go_on_past_pi():
    mechanism = vi.mechanisms.n_pendulum(n=1)
    run = vi.simulate(mechanism, 3.0, 0.01, state=mechanism.state(rates={"joint 1": -12.0}), order=4)
    angle = run.coordinates["joint 1"]
    assert angle[-1] < -6 * np.pi
    assert np.abs(np.diff(angle)).max() < 0.2
    np.testing.assert_allclose(angle[-1], np.trapezoid(run.angular_velocity[:, 0, 1], run.t), atol=1e-3)


@pytest.mark.parametrize("start", [0.0, 1.0, np.pi])
def test_rotation_vector_of_a_steady_spin(start, rng):
    axis = unit(rng)
    turn = start + np.linspace(0, 50, 400)
    turn[7] = start  # back again
    shortest = Rotation.from_rotvec(turn[:, None] * axis).as_rotvec()
    found = continued(shortest)
    k = np.rint((found[0] @ axis - start) / (2 * np.pi))  # at pi, either of two is the shortest
    np.testing.assert_allclose(found, (turn + 2 * np.pi * k)[:, None] * axis, atol=1e-7)
    np.testing.assert_array_equal(found[0], shortest[0])


@pytest.mark.slow
def test_rotation_vector_is_the_nearest_of_all_that_say_the_same(rng):
    for size in (0.05, 0.3):
        steps = Rotation.from_rotvec(size * rng.standard_normal((500, 3)) + [0, 0, 0.2])
        turn, shortest = Rotation.identity(), []
        for step in steps:
            turn = turn * step
            shortest.append(turn.as_rotvec())
        found = continued(np.array(shortest))
        for before, vector, here in zip(found, shortest[1:], found[1:], strict=False):
            angle = np.linalg.norm(vector)
            all_of_them = [vector * (1 + 2 * np.pi * k / angle) for k in range(-9, 10)]
            nearest = min(all_of_them, key=lambda other: np.linalg.norm(other - before))
            np.testing.assert_allclose(here, nearest, atol=1e-9)
        assert np.linalg.norm(found, axis=1).max() > 1.5 * np.pi


def test_spinning_body_counts_its_turns():
    mechanism = vi.mechanisms.free_body(spin=20.0, perturbation=0.0)
    run = vi.simulate(mechanism, 3.0, 0.01, on_unresolved="ignore")  # steps turn it 0.7 % too far
    q = run.coordinates["free"]
    assert q.shape == (301, 6)
    np.testing.assert_allclose(q[:, 4], 20.0 * run.t, rtol=2e-2)
    np.testing.assert_allclose(q[:, [0, 1, 2, 3, 5]], 0.0, atol=1e-9)


def test_coordinates_of_a_loop_and_of_no_freedom():
    run = vi.simulate(vi.mechanisms.four_bar(), 2.0, 0.01)
    angles = [run.coordinates[name] for name in ("crank pivot", "crank pin", "rocker pin", "rocker pivot")]
    assert np.ptp(angles[0]) > 2 * np.pi
    np.testing.assert_allclose(angles[0] + angles[1] + angles[2], angles[3], atol=1e-9)
    box = vi.Body.box("box", (1, 1, 1), 1.0)
    weld = vi.simulate(vi.Mechanism("weld", [box], [vi.Fixed("weld", "world", "box")]), 0.1, 0.01)
    assert weld.coordinates["weld"].shape == (11, 0)
    with pytest.raises(vi.MechanismError, match="no joint 'wled', did you mean 'weld'"):
        _ = weld.coordinates["wled"]
