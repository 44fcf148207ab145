"""Rows of wheels and knife edges: velocities, curvature, and the value of a step with its derivative."""

import numpy as np
import pytest
from random_mechanisms import random_body, unit
from scipy.spatial.transform import Rotation

import varint as vi
from varint.model.rotation_vectors import rotation_matrix
from varint.step.measures import measure_at, weighted_curvature
from varint.step.rates import evaluate_rates
from varint.step.workspace import workspace


def pair_with_rates(rng):
    """Two free bodies; wheels and a knife edge of the second on a plane of the first, at a pose without meaning."""
    a, b = random_body(rng, "a"), random_body(rng, "b")
    normal, axis = unit(rng), unit(rng)
    radius, low = 0.7, normal - (normal @ axis) * axis
    plane = {"other": "a", "normal": normal}
    ground = b.position - 0.7 * low / np.linalg.norm(low)
    forces = [
        vi.RollingWheel("disc", "b", radius=radius, axis=axis, ground=ground, **plane),
        vi.RollingWheel("ball", "b", radius=0.4, ground=b.position - 0.4 * normal, **plane),
        vi.KnifeEdge("edge", "b", direction=unit(rng), point=b.position + unit(rng), **plane),
    ]
    joints = [vi.Free(f"free {name}", "world", name) for name in "ab"]
    return vi.Mechanism("pair", [a, b], joints, forces=forces)


def random_step(rng, plan):
    """A workspace with two poses of the pair, a moderate step apart."""
    ws = workspace(plan)
    ws.position[:, :2] = rng.standard_normal((2, 3))
    ws.position[1, :2] += 0.2 * rng.standard_normal((2, 3))
    for i in range(2):
        start = Rotation.random(rng=rng)
        for pose, turn in ((0, start), (1, start * Rotation.from_rotvec(0.3 * rng.standard_normal(3)))):
            ws.quat[pose, i] = turn.as_quat(scalar_first=True)
            ws.rotation[pose, i] = turn.as_matrix()
    return ws


def shifted(ws, pose, i, k, step):
    """Shift body ``i`` at a pose along motion ``k`` of six, in place; returns the arrays to go back to."""
    kept = ws.position[pose, i].copy(), ws.quat[pose, i].copy(), ws.rotation[pose, i].copy()
    if k < 3:
        ws.position[pose, i, k] += step
    else:
        turn = Rotation.from_quat(kept[1], scalar_first=True) * Rotation.from_rotvec(step * np.eye(3)[k - 3])
        ws.quat[pose, i], ws.rotation[pose, i] = turn.as_quat(scalar_first=True), turn.as_matrix()
    return kept


def restored(ws, pose, i, kept):
    ws.position[pose, i], ws.quat[pose, i], ws.rotation[pose, i] = kept


def differences(ws, pose, i, evaluate, step=1e-5):
    """Central differences of ``evaluate()``, an array, by the six motions of body ``i`` at a pose."""
    columns = []
    for k in range(6):
        ends = []
        for sign in (1.0, -1.0):
            kept = shifted(ws, pose, i, k, sign * step)
            ends.append(evaluate().copy())
            restored(ws, pose, i, kept)
        columns.append((ends[0] - ends[1]) / (2 * step))
    return np.array(columns)


def test_gradient_of_a_step_is_exact(rng):
    """The derivatives of the rows' values by the end pose: what Newton's matrix needs."""
    plan = pair_with_rates(rng).compiled.plan
    ws, rows = random_step(rng, plan), plan.constraints.rate
    assert rows.size == 5

    def values():
        evaluate_rates(plan, ws, 0, 1, 1.0)
        return ws.residual_row[rows]

    values()
    exact = ws.jacobian[1, rows].copy()
    for side in range(2):
        (i,) = set(plan.measures.body[rows, side])
        np.testing.assert_allclose(differences(ws, 1, i, values).T, exact[:, side], atol=1e-9)


def test_a_step_back_has_the_opposite_value(rng):
    plan = pair_with_rates(rng).compiled.plan
    ws, rows = random_step(rng, plan), plan.constraints.rate
    evaluate_rates(plan, ws, 0, 1, 1.0)
    ahead = ws.residual_row[rows].copy()
    evaluate_rates(plan, ws, 1, 0, 1.0)
    assert np.abs(ahead).max() > 0.01
    np.testing.assert_allclose(ws.residual_row[rows], -ahead, atol=1e-15)


def test_a_motion_of_both_bodies_together_does_not_change_a_step(rng):
    plan = pair_with_rates(rng).compiled.plan
    ws, rows = random_step(rng, plan), plan.constraints.rate
    evaluate_rates(plan, ws, 0, 1, 1.0)
    before = ws.residual_row[rows].copy()
    turn, shift = Rotation.random(rng=rng), rng.standard_normal(3)
    for i in range(2):
        ws.position[1, i] = turn.apply(ws.position[1, i]) + shift
        turned = turn * Rotation.from_quat(ws.quat[1, i], scalar_first=True)
        ws.quat[1, i], ws.rotation[1, i] = turned.as_quat(scalar_first=True), turned.as_matrix()
    evaluate_rates(plan, ws, 0, 1, 1.0)
    np.testing.assert_allclose(ws.residual_row[rows], before, atol=1e-14)


def contact(force, mechanism, ws):
    """Point of contact, and the directions of the rows of a force of `pair_with_rates`, world, at pose 0."""
    a, b = mechanism.compiled.slot
    turn_a, turn_b = (
        ws.rotation[0, i] @ rotation_matrix(body.quat_wxyz).T for i, body in zip((a, b), mechanism.bodies, strict=True)
    )
    n, place = turn_a @ force.normal, mechanism.bodies[1].position
    if isinstance(force, vi.KnifeEdge):
        side = np.cross(n, turn_b @ force.direction)
        return ws.position[0, b] + turn_b @ (force.point - place), [side / np.linalg.norm(side)]
    axis = np.zeros(3) if force.axis is None else turn_b @ force.axis
    up = n - (n @ axis) * axis
    return ws.position[0, b] - force.radius * up / np.linalg.norm(up), force.directions() @ turn_a.T


def test_rows_are_velocities_of_the_contact_and_their_curvature_is_exact(rng):
    mechanism = pair_with_rates(rng)
    compiled, velocity, change = mechanism.compiled, rng.standard_normal((2, 6)), np.zeros((2, 6))
    plan, ws = compiled.plan, random_step(rng, compiled.plan)
    a, b = compiled.slot
    spins = [ws.rotation[0, i] @ velocity[i, 3:] for i in range(2)]
    for number, force in enumerate(mechanism.forces):
        point, directions = contact(force, mechanism, ws)
        arms = point - ws.position[0, :2]
        slip = velocity[b, :3] - velocity[a, :3] + np.cross(spins[b], arms[b]) - np.cross(spins[a], arms[a])
        own = plan.constraints.row[compiled.force[plan.constraints.element] == number]
        for r, direction in zip(own.tolist(), directions, strict=True):
            gradient = np.zeros((2, 6))

            def evaluate(r=r, gradient=gradient):
                measure_at(plan, ws, r, ws.position[0], ws.rotation[0], gradient)
                return gradient

            evaluate()
            bodies = plan.measures.body[r]
            assert np.sum(gradient * velocity[bodies]) == pytest.approx(direction @ slip, abs=1e-13)
            changes = [differences(ws, 0, i, evaluate) for i in bodies]
            motion = rng.standard_normal((2, 6))
            weighted_curvature(plan, ws, r, ws.position[0], ws.rotation[0], motion, change)
            expected = sum(np.tensordot(motion[side], changes[side], 1) for side in range(2))
            np.testing.assert_allclose(change, expected, atol=1e-8)
