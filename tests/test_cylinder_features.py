"""Features of a cylinder and another shape, against the planes that part them and crossings of edges and rims."""

import numpy as np
import pytest
from scipy.optimize import brentq
from test_narrow_phase import SPECIAL, STILL, Found, random_shape, turn

import varint as vi
from varint.geometry.features import (
    CIRCLE_CIRCLE,
    CIRCLE_LINE,
    CIRCLE_PLANE,
    CIRCLE_POINT,
    LINE_LINE,
    POINT_LINE,
    POINT_PLANE,
    lever_lengths,
)

ROD = vi.CylinderShape([0, 0, -0.5], [0, 0, 0.5], 0.3)
CYLINDERS = [ROD, vi.CylinderShape([-0.25, 0, 0], [0.25, 0, 0], 1.0), vi.CylinderShape([0, -1, 0], [0, 1, 0], 0.25)]
BOX = vi.BoxShape((2, 2, 1), (0, 0, -0.5))


def reach_along(shape, pose, n):
    """How far a shape reaches along each of the unit vectors ``n`` (..., 3), m."""
    (x, R), core = pose, shape.core()
    if not isinstance(shape, vi.CylinderShape):
        return (n @ (np.asarray(x) + core.vertices @ R.T).T).max(axis=-1) + core.radius
    axis = R @ (core.vertices[1] - core.vertices[0])
    length = np.linalg.norm(axis)
    across = np.linalg.norm(np.cross(n, axis / length), axis=-1)
    return n @ (x + R @ core.vertices.mean(axis=0)) + 0.5 * np.abs(n @ axis) + core.radius * across


def parted(a, b, pose_a, pose_b, n):
    """Distance of the planes square to ``n`` (..., 3) about both shapes, b beyond a: at most that of the shapes."""
    return -reach_along(b, pose_b, -n) - reach_along(a, pose_a, n)


def furthest_parted(rng, a, b, pose_a, pose_b):
    """The most that directions part two shapes, m, of those at random and about the best of these."""
    n = rng.standard_normal((4000, 3))
    n /= np.linalg.norm(n, axis=1)[:, None]
    best, size = n[parted(a, b, pose_a, pose_b, n).argmax()], 0.05
    for _ in range(60):
        near = np.vstack([best, best + size * rng.standard_normal((60, 3))])
        near /= np.linalg.norm(near, axis=1)[:, None]
        best, size = near[parted(a, b, pose_a, pose_b, near).argmax()], 0.8 * size
    return parted(a, b, pose_a, pose_b, best)


def compare(rng, a, b, pose_a, pose_b, slack=1e-11):
    """No direction parts them further than the smallest gap, and that of its own features parts them so far."""
    found = Found(a, b, pose_a, pose_b, reach=10.0)
    assert furthest_parted(rng, a, b, pose_a, pose_b) <= found.least + 1e-8
    deepest = found.gap.argmin()
    normals = found.normals()
    assert parted(a, b, pose_a, pose_b, normals).max() == pytest.approx(found.least, abs=1e-4)
    for k, (again, normal, A, B) in enumerate(found.located()):
        gap, levers = found.gap[k], sum(lever_lengths(found.kind[k], found.out.radius[k]))
        assert again == pytest.approx(gap, abs=slack)
        assert np.subtract(A, B) == pytest.approx((gap + levers) * np.array(normal), abs=1e3 * slack)
    exchanged = Found(b, a, pose_b, pose_a, reach=10.0)
    assert exchanged.least == pytest.approx(found.least, abs=slack)
    return int(found.kind[deepest]), found.least - parted(a, b, pose_a, pose_b, normals[deepest])


def compare_random(seed, many):
    """The normal of the smallest gap parts the shapes by all of it: it is the distance, or less the depth."""
    rng, kinds = np.random.default_rng(seed), set()
    for k in range(many):
        a = vi.CylinderShape(*0.4 * rng.standard_normal((2, 3)), rng.uniform(0.1, 0.4))
        b = random_shape(rng, ("ball", "capsule", "box", "mesh")[k % 4])
        direction = rng.standard_normal(3)
        pose_a = rng.standard_normal(3), turn(*2 * rng.standard_normal(3))
        away = rng.uniform(0.0, 1.3) * direction / np.linalg.norm(direction)
        kind, missing = compare(rng, a, b, pose_a, (pose_a[0] + away, turn(*2 * rng.standard_normal(3))))
        assert missing == pytest.approx(0.0, abs=1e-12)
        kinds.add(kind)
    return kinds


@pytest.mark.slow
def test_distances_and_depths_at_random_poses():
    compare_random(0, 12)


@pytest.mark.long
@pytest.mark.slow
def test_distances_and_depths_at_hundreds_of_random_poses():
    kinds = compare_random(1, 600)
    assert kinds == {POINT_PLANE, POINT_LINE, LINE_LINE, CIRCLE_PLANE, CIRCLE_POINT, CIRCLE_LINE}


@pytest.mark.slow
def test_distances_and_depths_at_special_poses():
    """Ends on faces, edges along the side, rims on edges, all but exactly and exactly."""
    rng = np.random.default_rng(2)
    angles = [0, 0, 0, np.pi / 4, np.pi / 2, np.pi, 1e-11, 1e-9, 1e-6, 1e-4, 1e-2]
    grid = np.array([0, 0.25, 0.5, 0.75, 1, -0.5, -1, np.sqrt(0.5), np.sqrt(2)])
    for _ in range(600):
        a, b = CYLINDERS[rng.integers(3)], SPECIAL[rng.integers(len(SPECIAL))]
        axes = [
            turn(*STILL[rng.integers(3)] * rng.choice(angles)) @ turn(*STILL[rng.integers(3)] * rng.choice(angles))
            for _ in range(2)
        ]
        places = rng.choice(grid, (2, 3)) + rng.choice([0, 0, 1e-12, -1e-12, 1e-9, -1e-9, 1e-7, 1e-5], (2, 3))
        compare(rng, a, b, (places[0], axes[0]), (places[1], axes[1]), slack=1e-8)


@pytest.mark.parametrize(
    ("x", "tilt", "kinds", "places"),
    [
        (0.2, 0.0, [POINT_PLANE] * 4, [(0.5, 0), (-0.1, 0), (0.2, 0.3), (0.2, -0.3)]),
        (0.9, 0.0, [POINT_PLANE] * 5, [(0.6, 0), (0.9, 0.3), (0.9, -0.3), (1, 0.08**0.5), (1, -(0.08**0.5))]),
        (1.1, 0.0, [POINT_PLANE] * 3, [(0.8, 0), (1, 0.08**0.5), (1, -(0.08**0.5))]),
        (0.2, -0.5, [CIRCLE_PLANE], [(0.2 - 0.3 * np.cos(0.5) + 0.5 * np.sin(0.5), 0)]),
    ],
)
def test_a_cylinder_stands_on_a_box(x, tilt, kinds, places):
    """At the four points of its rim that are on the box, and where the edge of the box crosses its rim."""
    height = 0.5 * np.cos(tilt) + 0.3 * np.sin(abs(tilt))
    found = Found(BOX, ROD, ([0, 0, 0], STILL), ([x, 0, height], turn(0, tilt, 0)), reach=1e-3)
    assert found.kind.tolist() == kinds
    assert found.gap == pytest.approx(0.0, abs=1e-15)
    swapped = np.array([B if s else A for (_, _, A, B), s in zip(found.located(), ~found.swapped, strict=True)])
    assert sorted(map(tuple, np.round(swapped[:, :2], 9) + 0.0)) == pytest.approx(np.array(sorted(places)), abs=1e-8)


@pytest.mark.slow
def test_a_cylinder_lies_on_a_box_and_its_rim_on_an_edge():
    lying = turn(0, np.pi / 2, 0)
    on = Found(BOX, ROD, ([0, 0, 0], STILL), ([0.1, 0, 0.3], lying))
    assert on.kind.tolist() == [CIRCLE_PLANE] * 2
    over = Found(BOX, ROD, ([0, 0, 0], STILL), ([0.8, 0, 0.3], lying))
    assert sorted(over.kind.tolist()) == [LINE_LINE, CIRCLE_PLANE]
    # its lower rim across the upper edge of the box, along y, with the axis inclined in the plane of x and y as well
    axes = turn(0.4, 0, 0) @ turn(0, -0.7, 0)
    rim = ROD.core().vertices[0] @ axes.T
    edge = vi.BoxShape((1, 4, 1), (-0.5, 0, -0.5))

    def gap(height, reach=10.0):
        return Found(edge, ROD, ([0, 0, 0], STILL), (np.array([0.2, 0, height]) - rim, axes), reach)

    lowest = brentq(lambda height: gap(height).least, -0.2, 0.4, xtol=1e-15)
    assert gap(lowest, 5e-3).kind.tolist() == [CIRCLE_LINE]
    assert gap(lowest + 1e-3).least == pytest.approx(gap(lowest).least - gap(lowest - 1e-3).least, rel=1e-2)


# ---------------------------------------------------------------------------------------------- two cylinders


def random_cylinder(rng):
    return vi.CylinderShape(*0.4 * rng.standard_normal((2, 3)), rng.uniform(0.1, 0.4))


def compare_cylinders(seed, many):
    rng, kinds = np.random.default_rng(seed), set()
    for _ in range(many):
        direction = rng.standard_normal(3)
        pose = rng.standard_normal(3), turn(*2 * rng.standard_normal(3))
        away = rng.uniform(0.0, 1.3) * direction / np.linalg.norm(direction)
        other = pose[0] + away, turn(*2 * rng.standard_normal(3))
        kind, missing = compare(rng, random_cylinder(rng), random_cylinder(rng), pose, other)
        assert missing == pytest.approx(0.0, abs=1e-12)
        kinds.add(kind)
    return kinds


@pytest.mark.slow
def test_distances_and_depths_of_two_cylinders():
    compare_cylinders(0, 4)


@pytest.mark.slow
def test_distances_and_depths_of_two_cylinders_at_many_poses():
    assert compare_cylinders(1, 300) == {LINE_LINE, CIRCLE_PLANE, CIRCLE_LINE, CIRCLE_CIRCLE}


@pytest.mark.slow
def test_distances_of_two_cylinders_at_special_poses():
    """Ends on ends, side by side, rims on rims, all but exactly and exactly; overlaps are not deep."""
    rng = np.random.default_rng(2)
    angles = [0, 0, 0, np.pi / 4, np.pi / 2, np.pi, 1e-11, 1e-9, 1e-6, 1e-2]
    grid = np.array([0, 0.25, 0.5, 0.75, 1, -0.5, -1, np.sqrt(0.5), np.sqrt(2)])
    for _ in range(300):
        a, b = CYLINDERS[rng.integers(3)], CYLINDERS[rng.integers(3)]
        axes = [
            turn(*STILL[rng.integers(3)] * rng.choice(angles)) @ turn(*STILL[rng.integers(3)] * rng.choice(angles))
            for _ in range(2)
        ]
        places = rng.choice(grid, (2, 3)) + rng.choice([0, 0, 1e-12, -1e-12, 1e-9, -1e-9, 1e-7, 1e-5], (2, 3))
        if Found(a, b, (places[0], axes[0]), (places[1], axes[1]), reach=10.0).least > -0.2:
            compare(rng, a, b, (places[0], axes[0]), (places[1], axes[1]), slack=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("x", "tilt", "kinds"),
    [
        (0.0, 0.0, [POINT_PLANE] * 4),
        (0.2, 0.0, [POINT_PLANE] * 2 + [CIRCLE_CIRCLE] * 2),
        (0.5, 0.0, [POINT_PLANE] * 2 + [CIRCLE_CIRCLE] * 2),
        (0.2, 0.3, [CIRCLE_PLANE]),
    ],
)
def test_a_cylinder_stands_on_a_cylinder(x, tilt, kinds):
    """At points of either rim that are in the other end, and where the rims cross."""
    height = 0.5 * np.cos(tilt) + 0.3 * np.sin(tilt)
    found = Found(ROD, ROD, ([0, 0, -0.5], STILL), ([x, 0, height], turn(0, -tilt, 0)), reach=1e-3)
    assert sorted(found.kind.tolist()) == kinds
    assert found.gap == pytest.approx(0.0, abs=1e-15)
    assert np.abs(found.normals() - [0, 0, 1]).max() < 1e-12
    places = np.array([A for _, _, A, _ in found.located()])[found.kind == CIRCLE_CIRCLE][:, :2]
    assert np.abs(places) == pytest.approx(np.tile([x / 2, np.sqrt(0.09 - x**2 / 4)], (len(places), 1)))


@pytest.mark.slow
@pytest.mark.parametrize(("along", "places"), [(0.0, (-0.5, 0.5)), (0.4, (-0.1, 0.5)), (1.2, ())])
def test_cylinders_side_by_side_touch_at_the_ends_of_their_common_length(along, places):
    found = Found(ROD, ROD, ([0, 0, 0], STILL), ([0.6, 0, along], STILL), reach=1e-3)
    assert set(found.kind.tolist()) <= {CIRCLE_LINE, CIRCLE_CIRCLE}
    assert sorted({round(B[2], 9) for _, _, _, B in found.located()}) == pytest.approx(list(places))
    assert found.gap == pytest.approx(0.0, abs=1e-15)


@pytest.mark.slow
def test_cylinders_cross():
    lying = turn(0, np.pi / 2, 0)
    found = Found(ROD, ROD, ([0, 0, 0], lying), ([0.1, 0.2, 0.6], turn(np.pi / 2, 0, 0)), reach=1e-3)
    assert found.kind.tolist() == [LINE_LINE]
    assert found.gap == pytest.approx(0.0, abs=1e-15)
