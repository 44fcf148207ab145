"""Features of two shapes that face each other, against hulls of Minkowski differences, clipped polygons and MuJoCo."""

import numpy as np
import pytest
from convex_distance import signed_distance

import varint as vi
from varint.geometry.features import CIRCLE_PLANE, LINE_LINE, POINT_LINE, POINT_PLANE, POINT_POINT, locate_features
from varint.geometry.narrow import find_features
from varint.geometry.shape_records import feature_space
from varint.model.rotation_vectors import matrix_from_vector, rotation_matrix
from varint.plan.shape_table import most_features, parts_of, shape_table

CUBE = vi.BoxShape([1, 1, 1])
STILL = np.eye(3)


def turn(*vector):
    return matrix_from_vector(np.array(vector, dtype=float))


class Found:
    """What `find_features` finds of two shapes at poses (position, axes)."""

    def __init__(self, a, b, pose_a, pose_b, reach=1e-3, capacity=None):
        self.poses = [(np.array(x, dtype=float), np.ascontiguousarray(R)) for x, R in (pose_a, pose_b)]
        table = shape_table(parts_of(0, [a]) + parts_of(1, [b]))
        self.out = feature_space(most_features(table, 0, 1) if capacity is None else capacity)
        self.count = find_features(table, 0, 1, *self.poses, reach, self.out)
        for name in ("kind", "gap", "swapped", "key"):
            setattr(self, name, getattr(self.out, name)[: self.count])

    @property
    def least(self):
        return self.gap.min() if self.count else np.inf

    def located(self):
        """Gap, normal from the second body to the first, and the points that touch, of each pair, by features.py."""
        for k in range(self.count):
            poses = self.poses[::-1] if self.swapped[k] else self.poses
            out = self.out
            yield locate_features(int(out.kind[k]), out.point[k], out.direction[k], out.radius[k], *poses)

    def normals(self):
        """From a to b, world."""
        return np.array(
            [n if s else -np.array(n) for (_, n, _, _), s in zip(self.located(), self.swapped, strict=True)]
        )

    def places(self):
        """On the first body, world."""
        return np.array([A for _, _, A, _ in self.located()])


def on(height, yaw=0.0, x=0.0, y=0.0):
    return [x, y, height], turn(0, 0, yaw)


def core_in_the_world(shape, pose):
    x, R = pose
    return np.asarray(x) + shape.core().vertices @ R.T


def true_distance(a, b, pose_a, pose_b):
    core = signed_distance(core_in_the_world(a, pose_a), core_in_the_world(b, pose_b))
    return core - a.core().radius - b.core().radius


def random_shape(rng, kind):
    if kind == "ball":
        return vi.SphereShape(0.3, 0.1 * rng.normal(size=3))
    if kind == "capsule":
        return vi.CapsuleShape(*0.3 * rng.normal(size=(2, 3)), 0.2)
    if kind == "box":
        quat = rng.normal(size=4)
        return vi.BoxShape(rng.uniform(0.3, 1.0, 3), 0.1 * rng.normal(size=3), quat / np.linalg.norm(quat))
    return vi.ConvexMesh(0.4 * rng.normal(size=(rng.integers(4, 20), 3)), hull=True)


def compare_random(seed, many):
    """The smallest gap is the distance or less the depth, and each gap is that of its own pair of features."""
    rng = np.random.default_rng(seed)
    kinds = ("ball", "capsule", "box", "mesh")
    for _ in range(many):
        a, b = (random_shape(rng, kinds[k]) for k in rng.integers(0, 4, 2))
        direction = rng.normal(size=3)
        pose_a = rng.normal(size=3), turn(*2 * rng.normal(size=3))
        pose_b = pose_a[0] + rng.uniform(0, 1.2) * direction / np.linalg.norm(direction), turn(*2 * rng.normal(size=3))
        found, distance = Found(a, b, pose_a, pose_b, reach=10.0), true_distance(a, b, pose_a, pose_b)
        assert found.least == pytest.approx(distance, abs=1e-9)
        for gap, (again, normal, _, _) in zip(found.gap, found.located(), strict=True):
            assert again == pytest.approx(gap, abs=1e-11)
            assert np.linalg.norm(normal) == pytest.approx(1.0)
        exchanged = Found(b, a, pose_b, pose_a, reach=10.0)
        assert exchanged.least == pytest.approx(found.least, abs=1e-12)


def test_distances_and_depths_at_random_poses():
    compare_random(0, 40)


@pytest.mark.long
@pytest.mark.slow
def test_distances_and_depths_at_thousands_of_random_poses():
    compare_random(1, 1500)


SPECIAL = [
    CUBE,
    vi.BoxShape([2, 1, 0.5]),
    vi.CapsuleShape([-0.5, 0, 0], [0.5, 0, 0], 0.25),
    vi.CapsuleShape([0, -0.5, 0], [0, 0.5, 0], 0.5),
    vi.SphereShape(0.5),
    vi.ConvexMesh(0.5 * np.vstack([STILL, -STILL])),
    vi.ConvexMesh([[0.5 * np.cos(t), 0.5 * np.sin(t), z] for t in np.arange(6) * np.pi / 3 for z in (-0.5, 0.5)]),
]


def compare_special(seed, many):
    """Faces on faces, edges on edges, corners on corners, all but exactly and exactly."""
    rng = np.random.default_rng(seed)
    angles = [0, 0, 0, np.pi / 4, np.pi / 2, np.pi, 1e-11, 1e-9, 1e-6, 1e-4]
    grid = np.array([0, 0.25, 0.5, 0.75, 1, -0.5, -1, np.sqrt(0.5), np.sqrt(2)])
    for _ in range(many):
        a, b = (SPECIAL[k] for k in rng.integers(0, len(SPECIAL), 2))
        axes = [
            turn(*STILL[rng.integers(3)] * rng.choice(angles)) @ turn(*STILL[rng.integers(3)] * rng.choice(angles))
            for _ in range(2)
        ]
        places = rng.choice(grid, (2, 3)) + rng.choice([0, 0, 1e-12, -1e-12, 1e-9, -1e-9, 1e-7, 1e-5], (2, 3))
        distance = true_distance(a, b, (places[0], axes[0]), (places[1], axes[1]))
        found = Found(a, b, (places[0], axes[0]), (places[1], axes[1]), reach=max(1e-3, distance + 1e-3))
        assert found.least == pytest.approx(distance, abs=1e-8)


def test_distances_and_depths_at_special_poses():
    compare_special(2, 60)


@pytest.mark.slow
def test_distances_and_depths_at_thousands_of_special_poses():
    compare_special(3, 1500)


@pytest.mark.parametrize(
    ("yaw", "x", "y", "corners"),
    [(0, 0, 0, 4), (0, 0.3, 0.2, 4), (0, 0.3, 0, 4), (np.pi / 4, 0, 0, 8), (0.3, 0, 0, 8), (0.3, 0.2, 0.1, 6)],
)
@pytest.mark.parametrize("tilt", [0.0, 1e-8, 1e-5])
def test_a_box_on_a_box_touches_at_the_corners_of_the_patch(yaw, x, y, corners, tilt):
    """Corners of the polygon in which two squares intersect: those of either in the other, and where sides cross."""
    R = turn(tilt, 0, 0) @ turn(0, 0, yaw)
    found = Found(CUBE, CUBE, ([0, 0, 0], STILL), ([x, y, 1 + tilt], R))
    square = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
    other = square @ R[:2, :2].T + [x, y]
    expected = [p for p in square if np.abs((p - [x, y]) @ R[:2, :2]).max() < 0.5 + 1e-7]
    expected += [p for p in other if np.abs(p).max() < 0.5 + 1e-7]
    for k in range(4):
        for m in range(4):
            p, u, q, w = square[k], square[k - 1] - square[k], other[m], other[m - 1] - other[m]
            if abs(np.linalg.det([u, w])) > 1e-6:
                s, t = np.linalg.solve(np.column_stack([u, -w]), q - p)
                if 0 <= s <= 1 and 0 <= t <= 1:
                    expected.append(p + s * u)
    for place in expected:
        assert np.abs(found.places()[:, :2] - place).max(axis=1).min() < 1e-4
    assert found.count == corners
    assert found.normals() == pytest.approx(np.tile([0, 0, 1], (corners, 1)), abs=1e-4)


def test_points_of_a_patch_have_gaps_of_their_own():
    tilt = 1e-4
    found = Found(vi.BoxShape([3, 3, 1]), CUBE, ([0, 0, 0], STILL), ([0, 0, 1.0], turn(tilt, 0, 0)))
    assert sorted(found.gap) == pytest.approx([-0.5 * tilt] * 2 + [0.5 * tilt] * 2, abs=1e-8)


def test_nothing_flickers_at_a_settled_box():
    """Round-off changes neither the pairs of features nor their order."""
    rng = np.random.default_rng(4)
    for yaw, x in ((0.0, 0.0), (0.0, 0.2), (0.4, 0.1), (np.pi / 4, 0.0)):
        settled = Found(CUBE, CUBE, ([0, 0, 0], STILL), ([x, 0, 1], turn(0, 0, yaw)))
        for _ in range(30):
            R = turn(*1e-11 * rng.normal(size=3)) @ turn(0, 0, yaw)
            found = Found(CUBE, CUBE, ([0, 0, 0], STILL), ([x, 0, 1] + 1e-11 * rng.normal(size=3), R))
            assert np.array_equal(found.key, settled.key)
            assert np.array_equal(found.kind, settled.kind)
            assert np.abs(found.gap).max() < 1e-10


@pytest.mark.parametrize("overlap", [5.6e-5, 1e-9, 0.0, -1e-9])
def test_boxes_that_overlap_at_a_corner_are_parted_along_a_face(overlap):
    """Two settled boxes, side by side corner to corner: the normal is level, and the depth is the overlap."""
    found = Found(CUBE, CUBE, ([0, 0, 0], STILL), ([1 - overlap, 1 - overlap, 0], STILL))
    assert found.least == pytest.approx(-overlap, abs=1e-12 if overlap >= 0 else 1e-9)
    assert np.abs(found.normals()[:, 2]).max() < 1e-12
    assert np.abs(found.normals()[:, :2]).max(axis=1) == pytest.approx(1.0)


def test_edges_that_cross():
    found = Found(CUBE, CUBE, ([0, 0, 0], turn(0, np.pi / 4, 0)), ([0, 0, np.sqrt(2)], turn(np.pi / 4, 0, 0)))
    assert found.kind.tolist() == [LINE_LINE]
    assert found.gap == pytest.approx([0.0], abs=1e-12)
    assert found.normals()[0] == pytest.approx([0, 0, 1])


def test_a_capsule_lies_on_a_box_and_across_it():
    rest = Found(vi.BoxShape([3, 3, 1]), SPECIAL[2], ([0, 0, 0], STILL), ([0, 0, 0.75], STILL))
    assert rest.kind.tolist() == [POINT_PLANE] * 2
    across = Found(CUBE, vi.CapsuleShape([-2, 0, 0], [2, 0, 0], 0.25), ([0, 0, 0], STILL), on(0.75, 0.1))
    assert across.kind.tolist() == [LINE_LINE] * 2
    assert sorted(across.places()[:, 0]) == pytest.approx([-0.5, 0.5])
    beside = Found(SPECIAL[2], SPECIAL[2], ([0, 0, 0], STILL), ([0.2, 0, 0.5], STILL))
    assert beside.kind.tolist() == [POINT_LINE] * 2
    ends = Found(SPECIAL[2], SPECIAL[2], ([0, 0, 0], STILL), ([1.5, 0, 0], STILL))
    assert ends.kind.tolist() == [POINT_POINT]
    for found in (rest, across, beside, ends):
        assert found.gap == pytest.approx(np.zeros(found.count), abs=1e-12)


def test_planes():
    ground = vi.PlaneShape([0, 0, 0.1], [0, 0, 2])
    for found in (
        Found(ground, CUBE, ([0, 0, 0], STILL), on(0.6, 0.3)),
        Found(CUBE, ground, on(0.6, 0.3), ([0, 0, 0], STILL)),
    ):
        assert found.kind.tolist() == [POINT_PLANE] * 4
        assert found.gap == pytest.approx(np.zeros(4), abs=1e-15)
        assert np.abs(found.normals()[:, 2]) == pytest.approx(np.ones(4))
    assert Found(ground, ground, ([0, 0, 0], STILL), ([0, 0, -1], STILL)).count == 0
    assert Found(ground, vi.SphereShape(0.2), ([0, 0, 0], STILL), on(0.25)).gap == pytest.approx([-0.05])


@pytest.mark.parametrize(
    ("tilt", "kinds"),
    [
        (0.0, [POINT_PLANE] * 4),
        (1e-5, [CIRCLE_PLANE] + [POINT_PLANE] * 3),
        (0.5, [CIRCLE_PLANE]),
        (np.pi / 2, [CIRCLE_PLANE] * 2),
    ],
)
def test_a_cylinder_on_a_plane(tilt, kinds):
    """The lowest point of a cylinder of radius r and half length h is r sin + h cos below its centre."""
    cylinder = vi.CylinderShape([0, 0, -0.5], [0, 0, 0.5], 0.3)
    below = 0.3 * np.sin(tilt) + 0.5 * np.cos(tilt)
    found = Found(vi.PlaneShape(), cylinder, ([0, 0, 0], STILL), ([0, 0, below - 1e-6], turn(tilt, 0, 0)))
    assert found.kind.tolist() == kinds
    assert found.least == pytest.approx(-1e-6, abs=1e-12)
    for gap, (again, *_) in zip(found.gap, found.located(), strict=True):
        assert again == pytest.approx(gap, abs=1e-12)


def test_where_there_is_little_space_the_deepest_are_kept():
    full = Found(CUBE, CUBE, ([0, 0, 0], STILL), ([0, 0, 1], turn(1e-4, 2e-4, 0) @ turn(0, 0, 0.4)))
    part = Found(*[CUBE] * 2, ([0, 0, 0], STILL), ([0, 0, 1], turn(1e-4, 2e-4, 0) @ turn(0, 0, 0.4)), capacity=3)
    assert part.count == 3
    assert sorted(part.gap) == pytest.approx(sorted(full.gap)[:3], abs=1e-15)


def test_what_is_out_of_reach_is_not_found():
    for a in SPECIAL:
        for b in SPECIAL:
            assert Found(a, b, ([0, 0, 0], STILL), ([0, 0, 3], STILL), reach=0.1).count == 0


# ------------------------------------------------------------------------------------------- against MuJoCo


def in_mujoco(a, b, pose_a, pose_b):
    """MuJoCo's data with two shapes, of bodies at these poses."""
    mujoco = pytest.importorskip("mujoco", reason="needs varint-dynamics[mjcf]")
    mechanism = vi.Mechanism(
        "two",
        [
            vi.Body(name, mass=1.0, inertia=STILL, position=x, quat_wxyz=quat_of(R), collision=[shape])
            for name, shape, (x, R) in (("a", a, pose_a), ("b", b, pose_b))
        ],
        [vi.Free("of a", "world", "a"), vi.Free("of b", "world", "b")],
    )
    from varint.files.mjcf.writer import Document

    model = mujoco.MjModel.from_xml_string(Document(mechanism, touching=True).text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return mujoco, model, data


def quat_of(R):
    from varint.model.rotation_vectors import quat_from_matrix

    return quat_from_matrix(R)


def compare_with_mujoco(seed, many):
    """Distances to 1e-6, MuJoCo's tolerance; boxes that overlap are not deeper than in MuJoCo.

    The axis of MuJoCo may be another than that of the least depth.
    """
    rng = np.random.default_rng(seed)
    for _ in range(many):
        a, b = (SPECIAL[k] for k in rng.integers(0, 5, 2))
        pose_a, pose_b = (([0, 0, 0], STILL), (rng.uniform(-1, 1, 3), turn(*2 * rng.normal(size=3))))
        found = Found(a, b, pose_a, pose_b, reach=10.0)
        mujoco, model, data = in_mujoco(a, b, pose_a, pose_b)
        if found.least > 1e-3:
            distance = mujoco.mj_geomDistance(model, data, 0, 1, 10.0, np.zeros(6))
            assert found.least == pytest.approx(distance, abs=1e-6)
        elif type(a) is type(b) is vi.BoxShape:
            assert found.least >= min(contact.dist for contact in data.contact) - 1e-9


@pytest.mark.slow
def test_distances_are_those_of_mujoco():
    compare_with_mujoco(5, 30)


@pytest.mark.slow
@pytest.mark.parametrize(("lift", "x", "yaw"), [(0.9999, 0.0, 0.0), (0.9, 0.1, 0.2), (0.8, 0.0, 0.5), (0.99, 0.3, 0.0)])
def test_deep_boxes_as_in_mujoco(lift, x, yaw):
    """A box that has sunk into another: every contact of MuJoCo has our depth, and its points are among ours."""
    pose = [x, 0, lift], turn(0, 0, yaw)
    found = Found(CUBE, CUBE, ([0, 0, 0], STILL), pose)
    _, _, data = in_mujoco(CUBE, CUBE, ([0, 0, 0], STILL), pose)
    assert len(data.contact)
    for contact in data.contact:
        assert contact.dist == pytest.approx(lift - 1.0, abs=1e-9)
        assert np.abs(found.places()[:, :2] - contact.pos[:2]).max(axis=1).min() < 1e-6
    assert found.gap == pytest.approx(np.full(found.count, lift - 1.0), abs=1e-12)


def test_rotation_of_a_shape_is_that_of_its_body():
    quat = np.array([0.5, 0.5, 0.5, 0.5])
    turned, plain = vi.BoxShape([1, 2, 3], [0.1, 0, 0], quat), vi.BoxShape([1, 2, 3], [0.1, 0, 0])
    R = rotation_matrix(quat)
    at = [0.3, 0.2, 3.0], R
    moved = plain.moved(np.array([0.1, 0, 0]) - R @ [0.1, 0, 0], R)
    assert moved.core().vertices == pytest.approx(turned.core().vertices)
    assert Found(turned, CUBE, ([0, 0, 0], STILL), at, 5.0).least == pytest.approx(
        Found(moved, CUBE, ([0, 0, 0], STILL), at, 5.0).least
    )
