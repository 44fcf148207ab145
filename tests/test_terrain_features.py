"""Features of shapes with corners and rims above a height field, against the height at which they touch it."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from test_narrow_phase import STILL, random_shape, turn

import varint as vi
from varint.geometry.features import CIRCLE_LINE, CIRCLE_PLANE, LINE_LINE, POINT_PLANE, lever_lengths, locate_features
from varint.geometry.narrow import find_features
from varint.geometry.shape_records import feature_space
from varint.plan.shape_table import most_features, parts_of, shape_table

SIDES = 400  # of the prism that stands for a cylinder


class Above:
    """What `find_features` finds of a height field and another shape, in both orders."""

    def __init__(self, field, shape, pose, pose_of_field=((0, 0, 0), STILL), reach=1e-3, capacity=None):
        poses = [(np.array(x, dtype=float), np.ascontiguousarray(R)) for x, R in (pose, pose_of_field)]
        table = shape_table(parts_of(0, [shape]) + parts_of(1, [field], whole=True))
        self.out = feature_space(capacity or most_features(table, 0, 1))
        count = find_features(table, 1, 0, *poses[::-1], reach, self.out)
        kinds = self.out.kind[:count].tolist()
        self.count = find_features(table, 0, 1, *poses, reach, self.out)
        assert self.out.kind[: self.count].tolist() == kinds
        self.kind, self.gap = self.out.kind[: self.count], self.out.gap[: self.count]
        self.located = [
            locate_features(
                int(self.kind[k]), self.out.point[k], self.out.direction[k], self.out.radius[k],
                *(poses[::-1] if self.out.swapped[k] else poses),
            )
            for k in range(self.count)
        ]  # fmt: skip

    @property
    def least(self):
        return self.gap.min() if self.count else np.inf


def corners_of(shape):
    core = shape.core()
    if not isinstance(shape, vi.CylinderShape):
        return core.vertices
    axis = core.vertices[1] - core.vertices[0]
    across = np.linalg.svd(axis[None])[2][1:]
    angles = 2 * np.pi * np.arange(SIDES) / SIDES
    ring = core.radius * (np.cos(angles)[:, None] * across[0] + np.sin(angles)[:, None] * across[1])
    return np.vstack([core.vertices[0] + ring, core.vertices[1] + ring])


def height_to_touch(field, corners):
    """How far a convex body of ``corners`` (n, 3) has to be raised to touch the field from above.

    The largest of the differences at its corners, at points of the grid and where edges cross in the projection.
    """
    m, n = field.heights.shape
    origin, spacing = field.position, field.spacing
    grid = np.stack(np.meshgrid(np.arange(m), np.arange(n), indexing="ij"), axis=2) * spacing + origin[:2]
    points = np.concatenate([grid, field.heights[:, :, None] + origin[2]], axis=2)
    hull = ConvexHull(corners)
    best = -np.inf
    for x, y, z in corners[hull.vertices]:
        u, v = (x - origin[0]) / spacing, (y - origin[1]) / spacing
        i, j = int(np.floor(u)), int(np.floor(v))
        if not (0 <= i < m - 1 and 0 <= j < n - 1):
            continue
        u, v, h = u - i, v - j, field.heights[i : i + 2, j : j + 2]
        if v <= u:
            height = h[0, 0] + u * (h[1, 0] - h[0, 0]) + v * (h[1, 1] - h[1, 0])
        else:
            height = h[0, 0] + v * (h[0, 1] - h[0, 0]) + u * (h[1, 1] - h[0, 1])
        best = max(best, height + origin[2] - z)
    normal, offset = hull.equations[:, :3], hull.equations[:, 3]
    lower, upper = normal[:, 2] < -1e-12, normal[:, 2] > 1e-12
    flat = points.reshape(-1, 3)
    rest = -(flat[:, :2] @ normal[:, :2].T + offset)
    floor = (rest[:, lower] / normal[lower, 2]).max(axis=1)
    ceiling = (rest[:, upper] / normal[upper, 2]).min(axis=1)
    inside = floor <= ceiling
    if inside.any():
        best = max(best, (flat[:, 2] - floor)[inside].max())
    sides = np.unique(np.sort(hull.simplices[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1), axis=0)
    P, E = corners[sides[:, 0]], corners[sides[:, 1]] - corners[sides[:, 0]]
    for start, end in ((points[:-1], points[1:]), (points[:, :-1], points[:, 1:]), (points[:-1, :-1], points[1:, 1:])):
        Q, F = start.reshape(-1, 3), (end - start).reshape(-1, 3)
        det = E[:, None, 0] * F[None, :, 1] - E[:, None, 1] * F[None, :, 0]
        apart = Q[None] - P[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            s = (apart[..., 0] * F[None, :, 1] - apart[..., 1] * F[None, :, 0]) / det
            t = (apart[..., 0] * E[:, None, 1] - apart[..., 1] * E[:, None, 0]) / det
            cross = (s >= 0) & (s <= 1) & (t >= 0) & (t <= 1)
        higher = (Q[None] + t[..., None] * F[None] - P[:, None] - s[..., None] * E[:, None])[..., 2]
        if cross.any():
            best = max(best, higher[cross].max())
    return best


def touch(rng, shape, rough, kinds):
    """The least gap is zero at the height where they touch, and falls with it."""
    field = vi.HeightField(rough * rng.random((9, 8)), 0.3, position=rng.uniform(-1.3, -1.1, 3))
    R = turn(*2 * rng.normal(size=3))
    corners = corners_of(shape) @ R.T
    lift = height_to_touch(field, corners)
    off = 2e-5 if isinstance(shape, vi.CylinderShape) else 1e-12
    found = Above(field, shape, ((0, 0, lift), R), reach=0.02)
    assert found.least == pytest.approx(0.0, abs=off)
    kinds.add(int(found.kind[found.gap.argmin()]))
    for k, (gap, normal, A, B) in enumerate(found.located):
        assert gap == pytest.approx(found.gap[k], abs=1e-12)
        assert np.linalg.norm(normal) == pytest.approx(1.0)
        levers = sum(lever_lengths(found.kind[k], found.out.radius[k]))
        assert np.subtract(A, B) == pytest.approx((gap + levers) * np.array(normal), abs=1e-9)
    for depth in (1e-4, -1e-4):
        moved = Above(field, shape, ((0, 0, lift - depth), R), reach=0.02)
        assert -depth * (1 + 1e-9) - off <= moved.least if depth > 0 else moved.least <= -depth + off
        assert (moved.least < 0) == (depth > 0)


@pytest.mark.parametrize("kind", ["box", "mesh", "rod"])
def test_shapes_touch_a_rough_field_where_they_should(kind):
    rng, kinds = np.random.default_rng(3), set()
    for _ in range(4):
        shape = vi.CylinderShape(*0.4 * rng.normal(size=(2, 3)), 0.2) if kind == "rod" else random_shape(rng, kind)
        touch(rng, shape, 0.2, kinds)


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("rough", [0.5, 0.2, 0.01])
@pytest.mark.parametrize("kind", ["box", "mesh", "rod"])
def test_shapes_touch_rough_fields_at_many_poses(kind, rough):
    rng, kinds = np.random.default_rng(4), set()
    for _ in range(12 if kind == "rod" else 60):
        shape = vi.CylinderShape(*0.4 * rng.normal(size=(2, 3)), 0.2) if kind == "rod" else random_shape(rng, kind)
        touch(rng, shape, rough, kinds)
    if rough == 0.2:
        assert kinds >= ({CIRCLE_PLANE, CIRCLE_LINE, LINE_LINE} if kind == "rod" else {POINT_PLANE, LINE_LINE})
