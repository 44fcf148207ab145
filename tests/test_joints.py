"""Every joint of the registry: its rows, its motions and its coordinates say the same."""

from dataclasses import replace

import numpy as np
import pytest
from poses import measured, move_child, moved, pose_of, reachable, rows_at
from random_mechanisms import random_body, random_joint, unit

import varint as vi
from varint.kinematics.frames import JointFrames, reference_pose
from varint.measures.distance import Distance
from varint.measures.point import Along
from varint.measures.product import OnMotions
from varint.model.joints import REGISTRY
from varint.model.joints.base import ProductJoint
from varint.model.motion import Ball, Shift, Slide, joint_pose, motion_subspace
from varint.model.product_joint import Product
from varint.model.rotation_vectors import matrix_from_vector, quat_from_matrix

ENDS = [("world", "one"), ("one", "world"), ("one", "two"), ("two", "one")]
every_joint = pytest.mark.parametrize("kind", sorted(REGISTRY))
WITHOUT_ROWS, WITHOUT_ROWS_OF_POINTS, WITHOUT_COORDINATES = {"Free"}, {"Free", "Translational"}, {"Fixed"}
joints_with_rows = pytest.mark.parametrize("kind", sorted(set(REGISTRY) - WITHOUT_ROWS))
joints_with_coordinates = pytest.mark.parametrize("kind", sorted(set(REGISTRY) - WITHOUT_COORDINATES))
either_side = pytest.mark.parametrize("ends", ENDS, ids="-".join)


def random_mechanism(rng, kind, ends):
    """One or two bodies with a joint of that type, its anchors apart as far as it lets them be."""
    bodies = [random_body(rng, name) for name in ("one", "two") if name in ends]
    joint = random_joint(rng, kind, "joint", *ends, rng.standard_normal(3))
    if not any(isinstance(row, Distance | OnMotions) for row in joint.forbidden):
        held = {row.axis for row in joint.forbidden if isinstance(row, Along)}
        offset = [0.0 if axis in held else rng.standard_normal() for axis in range(3)]
        joint = replace(joint, point_b=joint.point + joint.frame @ offset)
    return vi.Mechanism("two bodies", bodies, [joint])


def random_coordinates(rng, joint):
    """Coordinates (dof,) anywhere that they are unique."""
    turn = 1.5 if isinstance(joint, vi.Rod) else 3.0  # beyond, the other half turn of the rod says the same
    parts = []
    for motion in joint.allowed:
        if isinstance(motion, Ball):
            parts.append(rng.uniform(0, 3.0) * unit(rng))
        elif isinstance(motion, Product) and not isinstance(joint, vi.Composite):
            parts.append(rng.uniform(0, 2 if motion.size == 2 else 6, motion.size))
        elif not isinstance(motion, Shift):
            parts.append([rng.uniform(-1, 1) * (1.0 if isinstance(motion, Slide) else turn)])
    return np.concatenate([*parts, []])


def random_pose(rng, mechanism):
    """A pose (x, R) that the joint allows, and its coordinates; one body anywhere, the other placed from it."""
    frames = JointFrames(mechanism, mechanism.joints[0])
    x, R = moved(*reference_pose(mechanism), *rng.standard_normal((2, len(mechanism.bodies), 3)))
    q = random_coordinates(rng, mechanism.joints[0])
    frames.place(rng.choice([body for body in (frames.a, frames.b) if body >= 0]), x, R, q)
    return x, R, q


@every_joint
@either_side
def test_rows_vanish_and_coordinates_return(kind, ends, rng):
    for _ in range(5):
        mechanism = random_mechanism(rng, kind, ends)
        x, R, q = random_pose(rng, mechanism)
        g, _ = rows_at(mechanism, x, R)
        assert (len(g) > 0) == (kind not in WITHOUT_ROWS)
        assert np.abs(g).max(initial=0.0) < 1e-13
        np.testing.assert_allclose(measured(mechanism, "joint", x, R), q, atol=1e-11)
        assert reachable(mechanism, "joint", x, R)


@every_joint
@either_side
def test_rows_forbid_all_but_the_motions(kind, ends, rng):
    for _ in range(5):
        mechanism = random_mechanism(rng, kind, ends)
        joint = mechanism.joints[0]
        frames = JointFrames(mechanism, joint)
        x, R, q = random_pose(rng, mechanism)
        _, G = rows_at(mechanism, x, R)
        S = motion_subspace(joint, q)
        assert S.shape == (6, joint.dof)
        assert np.linalg.matrix_rank(S, tol=1e-3) == joint.dof
        assert len(G) + joint.dof == 6
        if len(G):
            body = frames.b if frames.b >= 0 else frames.a
            assert np.linalg.matrix_rank(G[:, body], tol=1e-3) == len(G)
        v, w = np.zeros_like(x), np.zeros_like(x)  # one end moves as it likes, the other by random rates
        v[:-1], w[:-1] = rng.standard_normal((2, len(mechanism.bodies), 3))
        child = rng.choice([body for body in (frames.a, frames.b) if body >= 0])
        move_child(frames, child, x, R, v, w, rng.standard_normal(joint.dof))
        twist = np.hstack([v, np.einsum("nji,nj->ni", R, w)])[:-1]
        np.testing.assert_allclose(np.einsum("rnk,nk->r", G, twist), 0.0, atol=1e-12)


@joints_with_rows
@either_side
def test_row_jacobian_against_differences(kind, ends, rng):
    mechanism = random_mechanism(rng, kind, ends)
    n, h = len(mechanism.bodies), 1e-5
    near = None
    if OnMotions() in mechanism.joints[0].forbidden:  # not so far off that nothing is near
        *near, _ = random_pose(rng, mechanism)
        x, R = moved(*near, *(0.1 * rng.standard_normal((2, n, 3))))
    else:
        x, R = moved(*reference_pose(mechanism), *rng.standard_normal((2, n, 3)))  # off the joint as well
    _, G = rows_at(mechanism, x, R, near)
    assert np.abs(G).max() > 0.1
    for body in range(n):
        for k in range(6):
            step = np.zeros((n, 6))
            step[body, k] = h
            a, b, c, d = (
                rows_at(mechanism, *moved(x, R, t * step[:, :3], t * step[:, 3:]), near)[0] for t in (1, -1, 2, -2)
            )
            np.testing.assert_allclose(G[:, body, k], (8 * (a - b) - (c - d)) / (12 * h), atol=1e-8)


@joints_with_coordinates
def test_motion_subspace_against_differences(kind, rng):
    h = 1e-6
    joint = random_mechanism(rng, kind, ("one", "two")).joints[0]
    for q in (np.zeros(joint.dof), 1e-3 * random_coordinates(rng, joint), random_coordinates(rng, joint)):
        R, _ = joint_pose(joint, q)
        for k, column in enumerate(motion_subspace(joint, q).T):
            (R1, p1), (R0, p0) = (joint_pose(joint, q + s * h * np.eye(joint.dof)[k]) for s in (1, -1))
            spin = R.T @ (R1 - R0) / (2 * h)
            twist = [spin[2, 1], spin[0, 2], spin[1, 0], *(R.T @ (p1 - p0) / (2 * h))]
            np.testing.assert_allclose(column, twist, atol=1e-8)


@joints_with_coordinates
@either_side
def test_rates_are_those_of_the_coordinates(kind, ends, rng):
    h = 1e-6
    mechanism = random_mechanism(rng, kind, ends)
    joint = mechanism.joints[0]
    frames = JointFrames(mechanism, joint)
    for child in {frames.a, frames.b} - {-1}:
        x, R, _ = random_pose(rng, mechanism)
        rates = rng.standard_normal(joint.dof)
        v, w = np.zeros_like(x), np.zeros_like(x)
        if len(mechanism.bodies) == 2:
            v[1 - child], w[1 - child] = rng.standard_normal((2, 3))
        move_child(frames, child, x, R, v, w, rates)
        w = np.einsum("nji,nj->ni", R, w)
        ahead, behind = (measured(mechanism, "joint", *moved(x, R, s * h * v[:-1], s * h * w[:-1])) for s in (1, -1))
        np.testing.assert_allclose((ahead - behind) / (2 * h), rates, atol=1e-7)


def is_product(kind):
    return issubclass(REGISTRY[kind], ProductJoint)


@pytest.mark.parametrize(
    "kind", sorted(kind for kind in set(REGISTRY) - WITHOUT_ROWS_OF_POINTS if not is_product(kind))
)
@either_side
def test_anchors_apart_are_caught(kind, ends, rng):
    mechanism = random_mechanism(rng, kind, ends)
    joint = mechanism.joints[0]
    frames = JointFrames(mechanism, joint)
    of_points = [row for row in joint.forbidden if isinstance(row, Along | Distance)]
    assert of_points
    for row in of_points:
        axis = row.axis if isinstance(row, Along) else 2
        wrong = {"point_b": joint.point_b + 0.1 * joint.frame[:, axis]}
        if kind == "Rod":
            wrong["length"] = joint.length
        assert mechanism.is_closed
        apart = vi.Mechanism("apart", mechanism.bodies, [replace(joint, **wrong)])
        assert not apart.is_closed
        assert np.abs(rows_at(apart, *pose_of(apart.state()))[0]).max() < 1e-12
        x, R, _ = random_pose(rng, mechanism)
        gap = x[frames.b] + R[frames.b] @ frames.origin_b - x[frames.a] - R[frames.a] @ frames.origin_a
        direction = gap / np.linalg.norm(gap) if kind == "Rod" else R[frames.a] @ frames.axes_a[:, axis]
        x[frames.b if frames.b >= 0 else frames.a] += 0.1 * direction
        assert np.abs(rows_at(mechanism, x, R)[0]).max() > 0.08  # m, of 0.1


@pytest.mark.parametrize("kind", sorted(filter(is_product, REGISTRY)))
@either_side
def test_bodies_off_the_motions_of_a_product_are_caught(kind, ends, rng):
    """Rows see every small displacement that is at right angles to the allowed motions."""
    mechanism = random_mechanism(rng, kind, ends)
    joint = mechanism.joints[0]
    assert mechanism.is_closed
    apart = vi.Mechanism("apart", mechanism.bodies, [replace(joint, point_b=joint.point_b + 0.1 * unit(rng))])
    assert not apart.is_closed
    assert np.abs(rows_at(apart, *pose_of(apart.state()))[0]).max() < 1e-12
    frames, length = JointFrames(mechanism, joint), mechanism.compiled.plan.bodies.length[0]
    body, axes, origin = (
        (frames.b, frames.axes_b, frames.origin_b) if frames.b >= 0 else (frames.a, frames.axes_a, frames.origin_a)
    )
    for _ in range(5):
        x, R, q = random_pose(rng, mechanism)
        allowed = motion_subspace(joint, q) * np.repeat([length, 1.0], 3)[:, None]  # m
        columns = []
        for across in 1e-4 * np.linalg.svd(allowed)[0].T[joint.dof :]:
            # a twist of frame b seen from a, at b's origin in b's axes, angular first; the opposite one where a moves
            turn, shift = across[:3] / length, across[3:]
            if body == frames.a:
                relative, between = frames.relative_pose(x, R)
                turn, shift = -relative @ turn, -relative @ (shift - np.cross(turn, relative.T @ between))
            x_off, R_off = x.copy(), R.copy()
            R_off[body] = R[body] @ matrix_from_vector(axes @ turn)
            x_off[body] = x[body] + R[body] @ (origin + axes @ shift) - R_off[body] @ origin
            columns.append(rows_at(mechanism, x_off, R_off, (x, R))[0] / 1e-4)
        assert np.linalg.svd(columns, compute_uv=False)[-1] > 0.2


def allows_half_turn(joint, q, axis):
    """Whether the rotations of ``joint`` at ``q`` contain half a turn of b about one of its joint axes."""
    rotations = motion_subspace(joint, q)[:3]
    rank = np.linalg.matrix_rank(rotations, tol=1e-6)
    if rank == 1:
        about = rotations[:, np.abs(rotations).max(axis=0).argmax()]
        return abs(about[axis]) > 1 - 1e-9
    return rank > 0  # two turns at right angles to each other reach half turns as well


@every_joint
@either_side
@pytest.mark.parametrize("axis", "XYZ")
def test_flipped_bodies_are_caught(kind, ends, axis, rng):
    """Half a turn keeps axes at right angles: rows alone do not see that a hinge was put in backwards."""
    mechanism = random_mechanism(rng, kind, ends)
    frames = JointFrames(mechanism, mechanism.joints[0])
    x, R, q = random_pose(rng, mechanism)
    body, axes, origin = (
        (frames.b, frames.axes_b, frames.origin_b) if frames.b >= 0 else (frames.a, frames.axes_a, frames.origin_a)
    )
    anchor = x[body] + R[body] @ origin
    flip = 2 * np.outer(axes[:, "XYZ".index(axis)], axes[:, "XYZ".index(axis)]) - np.eye(3)
    R[body] = R[body] @ flip
    x[body] = anchor - R[body] @ origin
    g, _ = rows_at(mechanism, x, R)
    if is_product(kind):  # its rows do see it
        assert np.abs(g).max() > 1e-3
        return
    assert np.abs(g).max(initial=0.0) < 1e-12
    allowed = allows_half_turn(mechanism.joints[0], q, "XYZ".index(axis))
    assert reachable(mechanism, "joint", x, R) == allowed
    if allowed:
        return
    names = [body.name for body in mechanism.bodies]
    given = {
        "position": dict(zip(names, x, strict=False)),
        "quat_wxyz": dict(zip(names, quat_from_matrix(R), strict=False)),
    }
    with pytest.raises(vi.AssemblyError, match=r"'(joint|one|two)'"):
        mechanism.state(**given)


@pytest.mark.parametrize("kind", sorted(kind for kind in REGISTRY if not REGISTRY[kind].needs_point))
def test_default_anchor_is_the_centre_of_the_second_body(kind, rng):
    joint = random_joint(rng, kind, "joint", "one", "two", None)
    bodies = [random_body(rng, "one"), random_body(rng, "two")]
    mechanism, same = (
        vi.Mechanism("default", bodies, [j]) for j in (joint, replace(joint, point=bodies[1].position, point_b=None))
    )
    for expected, found in zip(same.anchors(same.joints[0]), mechanism.anchors(mechanism.joints[0]), strict=True):
        np.testing.assert_array_equal(expected, found)
    pose = moved(*reference_pose(mechanism), *rng.standard_normal((2, 2, 3)))
    for expected, found in zip(rows_at(same, *pose), rows_at(mechanism, *pose), strict=True):
        np.testing.assert_array_equal(expected, found)
