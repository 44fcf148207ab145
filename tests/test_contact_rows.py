"""Rates of contacts between features over a step, and their gradients, against differences."""

import numpy as np
import pytest
from test_features import KINDS, pair

import varint as vi
from varint.mathematics.quaternion import advance, rotation_matrix
from varint.model.rotation_vectors import quat_from_matrix
from varint.step.contacts.features import (
    acceleration_bias,
    feature_rates,
    locate_contact,
    rate_along,
    write_feature_frame,
)
from varint.step.contacts.rows import press_contacts, write_plane_rows
from varint.step.workspace import workspace

H = 1e-5  # s: the gradients leave out what the points and the normal change by at the end, in proportion to it


def contact(kind, seed, swapped, world=False):
    """The plan and workspace of two bodies, or of one and the world, whose only slot has features of a kind."""
    number, x, R = pair(kind, seed)
    bodies = [
        vi.Body.sphere(name, 1e-3, 1.0, position=(k, 0, 0), collision=True) for k, name in enumerate("ab")
    ]  # fmt: skip
    ground = [vi.SphereShape(1e-3, (-9, 0, 0))]
    mechanism = vi.Mechanism(
        "two", bodies, [vi.Free(f"free {body.name}", "world", body.name) for body in bodies],
        forces=[vi.Contact("c", "a", "world" if world else "b")], ground=ground,
    )  # fmt: skip
    compiled = mechanism.compiled
    ws, slots = workspace(compiled.plan), compiled.slot
    work = ws.contacts
    work.kind[0], work.swapped[0] = number[0], swapped
    work.place[0], work.axis[0], work.size[0] = number[1:]
    first, second = (1, 0) if swapped else (0, 1)
    for given, body in ((first, 0), (second, 1)):
        i = slots[body] if not (world and body == 1) else 2
        if i < 2:
            ws.position[:, i], ws.quat[:, i] = x[given], quat_from_matrix(R[given])
            for pose in range(2):
                rotation_matrix(ws.quat[pose, i], ws.rotation[pose, i])
    ws.velocity[:] = np.random.default_rng(seed + 9).standard_normal((2, 6))
    return compiled.plan, ws


def step(plan, ws, h=H):
    """Bring pose 1 to the end of a step from pose 0; the rates (3,)."""
    for i in range(2):
        ws.position[1, i] = ws.position[0, i] + h * ws.velocity[i, :3]
        rest = np.zeros(4)
        advance(ws.quat[0, i], rest, *ws.velocity[i, 3:], 0.5 * h, ws.quat[1, i], rest)
        rotation_matrix(ws.quat[1, i], ws.rotation[1, i])
    feature_rates(plan, ws, 0, 1, h, 0)
    return ws.contacts.rate[0].copy()


@pytest.mark.slow
@pytest.mark.parametrize(("swapped", "world"), [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("kind", KINDS)
def test_gradients_equal_differences(kind, swapped, world):
    plan, ws = contact(kind, 3, swapped, world)
    write_feature_frame(plan, ws, 0, 0)
    ws.contacts.held_gap[0] = locate_contact(plan, ws, 0, 0)[0]
    step(plan, ws)
    row, start = ws.contacts.row[0].copy(), ws.velocity.copy()
    moved = [plan.contacts.body[0]] if world else [plan.contacts.body[0], plan.contacts.other[0]]
    for side, i in enumerate(moved):
        u = 0.5 * H * start[i, 3:]
        to_spin = np.sqrt(1 - u @ u) * np.eye(3) + np.cross(np.eye(3), -u)
        for k in range(6):
            change = np.zeros(6)
            if k < 3:
                change[k] = 1.0
            else:
                change[3:] = to_spin[:, k - 3]
            rates = []
            for sign in (1, -1):
                ws.velocity[:] = start
                ws.velocity[i] += sign * change
                rates.append(step(plan, ws))
            assert row[:, 6 * side + k] == pytest.approx((rates[0] - rates[1]) / 2, abs=200 * H)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("swapped", [False, True])
def test_rates_over_short_steps_are_those_at_a_node(kind, swapped):
    """Where the bodies touch; of first order, as the middle of the step is half a step away."""
    plan, ws = contact(kind, 5, swapped)
    gap, normal, _, _ = locate_contact(plan, ws, 0, 0)
    ws.position[0, plan.contacts.body[0]] -= gap * np.array(normal)
    write_feature_frame(plan, ws, 0, 0)
    ws.contacts.held_gap[0] = locate_contact(plan, ws, 0, 0)[0]
    at_node = np.array([rate_along(plan, ws.contacts.upper, 0, a, ws.velocity) for a in range(3)])
    errors = [np.abs(step(plan, ws, h) - at_node).max() for h in (1e-4, 1e-5)]
    assert errors[1] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(10.0, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("swapped", [False, True])
def test_the_acceleration_of_the_gap_without_forces(kind, swapped):
    """The bias along the normal is the second derivative of the gap at constant velocities."""
    plan, ws = contact(kind, 7, swapped)
    write_feature_frame(plan, ws, 0, 0)
    bias = acceleration_bias(plan, ws, 0, 0, ws.velocity)
    h, gaps = 1e-4, []
    for share in (-1.0, 0.0, 1.0):
        step(plan, ws, share * h if share else 1e-300)
        gaps.append(locate_contact(plan, ws, 1, 0)[0])
    assert bias[0] == pytest.approx((gaps[0] - 2 * gaps[1] + gaps[2]) / h**2, rel=1e-4, abs=1e-5)


def on_plane(radius):
    """A body that turns fast, with a point or a ball that touches a tilted plane: plan, workspace, arm from the centre
    to the point or to the centre of the ball, body axes, and the frame of the contact."""
    normal = np.array([0.2, -0.3, 0.9]) / np.linalg.norm([0.2, -0.3, 0.9])
    body = vi.Body.box("a", (1, 2, 3), 1.0)
    floor = vi.HardContact("c", "a", points=[[0.3, -0.2, -0.5]], radius=radius, normal=normal, ground=-normal)
    compiled = vi.Mechanism("one", [body], [vi.Free("f", "world", "a")], forces=[floor]).compiled
    ws, turned = workspace(compiled.plan), np.array([0.5, 0.5, -0.1, np.sqrt(0.49)])
    for pose in range(2):
        ws.quat[pose, 0] = turned
        rotation_matrix(ws.quat[pose, 0], ws.rotation[pose, 0])
    ws.velocity[0] = np.random.default_rng(4).standard_normal(6)
    ws.contacts.near[0], ws.contacts.near_count[0], ws.contacts.taking[0], ws.contacts.share[0] = 0, 1, True, 1.0
    ws.contacts.z[0] = 2.0, 0.5, -0.7
    return compiled.plan, ws, compiled.plan.contacts.point[0], compiled.plan.contacts.frame[0]


def press(plan, ws, h):
    """Bring pose 1 to the end of a step; the rates (3,) of the contact and the residual (6,) of the body."""
    ws.position[1, 0] = ws.position[0, 0] + h * ws.velocity[0, :3]
    advance(ws.quat[0, 0], np.zeros(4), *ws.velocity[0, 3:], 0.5 * h, ws.quat[1, 0], np.zeros(4))
    rotation_matrix(ws.quat[1, 0], ws.rotation[1, 0])
    ws.residual_body[:] = 0.0
    press_contacts(plan, ws, 0, 1, h)
    return ws.contacts.rate[0].copy(), ws.residual_body[0].copy()


@pytest.mark.parametrize("radius", [0.0, 0.2])
def test_a_contact_with_a_plane_moves_and_pushes_as_its_point_does(radius):
    plan, ws, arm, frame = on_plane(radius)
    h, R = 0.05, ws.rotation[0, 0]
    rates, residual = press(plan, ws, h)
    moved = ws.position[1, 0] + ws.rotation[1, 0] @ arm - ws.position[0, 0] - R @ arm
    rolled = np.cross(R @ ws.velocity[0, 3:], -radius * frame[0])
    assert rates == pytest.approx(frame @ (moved / h + rolled), abs=1e-14)
    force, lever = ws.contacts.z[0] @ frame, R @ arm - radius * frame[0]
    assert residual == pytest.approx(-np.append(force, R.T @ np.cross(lever, force)), abs=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("radius", [0.0, 0.2])
def test_gradients_of_a_contact_with_a_plane_equal_differences(radius):
    plan, ws, _, _ = on_plane(radius)
    h, e, start = 0.05, 1e-6, ws.velocity[0].copy()
    press(plan, ws, h)
    write_plane_rows(plan, ws, 0, 1, h, 0)
    row, u = ws.contacts.row[0, :, :6].copy(), 0.5 * h * start[3:]
    changes = np.eye(6)
    changes[3:, 3:] = np.sqrt(1 - u @ u) * np.eye(3) + np.cross(u, np.eye(3)).T  # of w by the unknowns, see newton.py
    for k in range(6):
        rates = []
        for sign in (e, -e):
            ws.velocity[0] = start + sign * changes[:, k]
            rates.append(press(plan, ws, h)[0])
        assert row[:, k] == pytest.approx((rates[0] - rates[1]) / (2 * e), abs=1e-9)
    write_plane_rows(plan, ws, 0, 1, h, 0)
    assert press(plan, ws, h)[1] == pytest.approx(-ws.contacts.z[0] @ ws.contacts.upper[0, :, :6], abs=1e-15)
