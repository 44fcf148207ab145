"""Shapes that touch in descriptions: checked, in files of mechanisms and robots, listed and drawn."""

import dataclasses
import pickle

import numpy as np
import pytest

import varint as vi
from varint.files.own.mechanism_data import to_data
from varint.geometry.convex_hull import farthest_points
from varint.model.rotation_vectors import rotation_matrix
from varint.plan.shape_table import parts_of, shape_table
from varint.views.web_scene import scene_data

TURNED = np.array([0.5, 0.5, 0.5, 0.5])
TETRAHEDRON = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
SHAPES = [
    vi.SphereShape(0.1, [0, 1, 0]),
    vi.BoxShape([1, 2, 3], [1, 0, 0], TURNED, friction=0.4),
    vi.CapsuleShape([0, 0, 0], [1, 1, 0], 0.2, restitution=0.5),
    vi.CylinderShape([0, 0, 1], [1, 1, 0], 0.2),
    vi.ConvexMesh(TETRAHEDRON, [0.1, 0.2, 0.3], TURNED),
]
GROUND = [vi.PlaneShape([0, 0, -1], [0, 0.6, 0.8]), vi.BoxShape([1, 1, 1])]


def with_shapes(shapes=SHAPES, ground=GROUND):
    body = vi.Body("b", mass=1.0, inertia=np.eye(3), position=[1, 2, 3], quat_wxyz=TURNED, collision=shapes)
    hinge = vi.Revolute("hinge", "world", "b", point=[0, 0, 1], axis=[0, 1, 0])
    return vi.Mechanism("m", [body], [hinge], ground=ground)


def in_the_world(body, shape):
    return body.position + shape.core().vertices @ rotation_matrix(body.quat_wxyz).T


def assert_alike(found, expected, tolerance=0.0):
    """Shapes of bodies of the same classes in the same places of the world; corners of meshes in any order."""
    assert [type(shape) for shape in found.collision] == [type(shape) for shape in expected.collision]
    for one, other in zip(found.collision, expected.collision, strict=True):
        here, there = in_the_world(found, one), in_the_world(expected, other)
        assert np.abs(here[:, None] - there[None]).max(axis=2).min(axis=1).max() <= tolerance
        assert one.core().radius == pytest.approx(other.core().radius, abs=tolerance)


# -------------------------------------------------------------------------------------------- own shapes of bodies


@pytest.mark.parametrize("quat", [(1, 0, 0, 0), TURNED])
def test_bodies_take_their_own_shapes(quat):
    pose = {"position": [1, 2, 3], "quat_wxyz": quat, "collision": True}
    (box,) = vi.Body.box("b", [1, 2, 3], 1.0, **pose).collision
    (ball,) = vi.Body.sphere("b", 0.1, density=10.0, **pose).collision
    (capsule,) = vi.Body.capsule("b", 0.1, 2.0, 1.0, **pose).collision
    (cylinder,) = vi.Body.cylinder("b", 0.1, 2.0, 1.0, **pose).collision
    (rod,) = vi.Body.rod("b", [0, 0, 0], [0, 3, 4], 1.0, collision=True).collision
    assert isinstance(box, vi.BoxShape)
    assert box.size.tolist() == [1, 2, 3]
    assert isinstance(ball, vi.SphereShape)
    assert ball.radius == 0.1
    for shape, length, kind in (
        (capsule, 2, vi.CapsuleShape),
        (cylinder, 2, vi.CylinderShape),
        (rod, 5, vi.CylinderShape),
    ):
        assert isinstance(shape, kind)
        assert shape.b - shape.a == pytest.approx([0, 0, length])
        assert shape.a + shape.b == pytest.approx([0, 0, 0])
    assert vi.Body.sphere("b", 0.1, 1.0).collision == ()
    assert vi.Body.sphere("b", 0.1, 1.0, collision=SHAPES[:2]).collision == tuple(SHAPES[:2])


def test_a_mesh_takes_its_own_shape_about_its_centre():
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    body = vi.Body.mesh("b", np.array(TETRAHEDRON, dtype=float), faces, 1.0, position=[5, 0, 0], collision=True)
    assert in_the_world(body, body.collision[0]) == pytest.approx(np.array(TETRAHEDRON) + [5, 0, 0])


def test_a_composite_keeps_the_shapes_of_its_parts_in_place():
    parts = [
        vi.Body.box("x", [1, 2, 3], 1.0, position=[1, 0, 0], quat_wxyz=TURNED, collision=True),
        vi.Body.rod("r", [0, 0, 0], [0, 3, 4], 2.0, collision=True),
        vi.Body("s", mass=1.0, inertia=np.eye(3), position=[0, 1, 0], collision=[*SHAPES, GROUND[0]]),
    ]
    whole = vi.Body.composite("c", parts)
    places = [in_the_world(part, shape) for part in parts for shape in part.collision]
    for shape, place in zip(whole.collision, places, strict=True):
        assert in_the_world(whole, shape) == pytest.approx(place, abs=1e-12)
    normal = rotation_matrix(whole.quat_wxyz) @ whole.collision[-1].normal
    assert normal == pytest.approx(GROUND[0].normal)


def test_copies_keep_shapes():
    mechanism = with_shapes()
    for copy in (pickle.loads(pickle.dumps(mechanism)), dataclasses.replace(mechanism, name="n")):
        assert_alike(copy.bodies[0], mechanism.bodies[0])
        assert [repr(shape) for shape in copy.ground] == [repr(shape) for shape in mechanism.ground]
        with pytest.raises(ValueError, match="read-only"):
            copy.bodies[0].collision[0].center[0] = 1.0


def test_without_shapes_nothing_is_written():
    """So runs that were begun before there were shapes go on."""
    data = to_data(with_shapes([], []))
    assert "ground" not in data
    assert "collision" not in data["bodies"][0]


# ------------------------------------------------------------------------------------------------ convex meshes


def test_a_mesh_has_the_faces_of_its_hull():
    """Triangles in one plane are one face, and points on faces and sides are no corners."""
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    mesh = vi.ConvexMesh(np.vstack([corners, [[0.5, 0.5, 0], [0.5, 0, 0]]]), hull=True)
    assert len(mesh.vertices) == 8
    table = shape_table(parts_of(0, [mesh]))
    assert (len(table.normal), len(table.edge)) == (6, 12)
    assert sorted(map(tuple, table.normal.round(12) + 0.0)) == sorted(
        map(tuple, np.vstack([np.eye(3), -np.eye(3)]) + 0.0)
    )
    for face in range(6):
        heights = table.vertex @ table.normal[face] - table.offset[face]
        assert heights.max() == pytest.approx(0.0, abs=1e-15)
        assert (np.abs(heights) < 1e-12).sum() == 4


def test_edges_lie_between_their_faces():
    """The vectors along both faces lead inward: no vertex is beyond, and the solid angles of an edge are below pi."""
    rng = np.random.default_rng(0)
    table = shape_table(parts_of(0, [vi.ConvexMesh(rng.normal(size=(30, 3)), hull=True)]))
    assert len(table.vertex) - len(table.edge) + len(table.normal) == 2  # Euler
    for (start, _), along, inward in zip(table.edge, table.along, table.inward, strict=True):
        across = (table.vertex - table.vertex[start]) @ inward.T
        assert across.max(axis=0).min() > 0.0
        assert inward @ along == pytest.approx([0, 0], abs=1e-12)
        assert ((table.vertex - table.vertex[start]) @ np.cross(inward[0], along)).max() < 1e-12 or (
            (table.vertex - table.vertex[start]) @ np.cross(along, inward[0])
        ).max() < 1e-12


def test_meshes_of_files(tmp_path):
    trimesh = pytest.importorskip("trimesh", reason="needs varint-dynamics[view]")
    trimesh.creation.box([1, 2, 3]).export(tmp_path / "box.stl")
    trimesh.creation.annulus(0.5, 1.0, 0.3).export(tmp_path / "ring.obj")
    assert len(vi.ConvexMesh(tmp_path / "box.stl").vertices) == 8
    with pytest.raises(vi.MechanismError, match=r"ring.obj.* is not convex: .*hull=True"):
        vi.ConvexMesh(str(tmp_path / "ring.obj"))
    assert vi.ConvexMesh(tmp_path / "ring.obj", hull=True).vertices[:, 2].max() == pytest.approx(0.15)
    (tmp_path / "broken.stl").write_bytes(b"solid nothing")
    for name in ("none.stl", "broken.stl", "box.txt"):
        with pytest.raises((vi.FileError, vi.MechanismError), match=name):
            vi.ConvexMesh(tmp_path / name)


def test_few_points_stand_for_many():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(5000, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    few = farthest_points(points, 200)
    assert 150 < len(few) <= 200
    assert (few @ points.T).max(axis=0).min() > np.cos(0.2)
    assert farthest_points(points[:50], 200) is not None
    assert len(farthest_points(points[:50], 200)) == 50


# -------------------------------------------------------------------------------------------------- wrong shapes


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: vi.SphereShape(0.0), "radius of a SphereShape must be positive"),
        (lambda: vi.SphereShape(float("nan")), "radius of a SphereShape must be finite"),
        (lambda: vi.SphereShape(0.1, friction=-0.1), "friction of a SphereShape must be zero or positive"),
        (lambda: vi.SphereShape(0.1, restitution=1.5), "restitution of a SphereShape must be from 0 to 1"),
        (lambda: vi.CapsuleShape([0, 0, 1], [0, 0, 1], 0.1), "a and b of a CapsuleShape must be apart"),
        (lambda: vi.CylinderShape([0, 0, 1], [0, 0, np.nan], 0.1), "b of a CylinderShape must be finite"),
        (lambda: vi.BoxShape([1, 0, 1]), "size of a BoxShape must be positive"),
        (lambda: vi.BoxShape([1, 1, 1], [0, 0, 1e60]), "position of a BoxShape must be at most"),
        (lambda: vi.PlaneShape(normal=[0, 0, 0]), "normal of a PlaneShape must not be zero"),
        (lambda: vi.ConvexMesh(TETRAHEDRON[:3]), "a ConvexMesh must enclose a volume"),
        (lambda: vi.ConvexMesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]), "a ConvexMesh must enclose a volume"),
        (lambda: vi.ConvexMesh([*TETRAHEDRON, [0.1, 0.1, 0.1]]), "a ConvexMesh is not convex: .* 0.1 m inside"),
        (
            lambda: vi.ConvexMesh(
                [(x, y, z) for x, y in ((0, 0), (2, 0), (2, 1), (1, 0.7), (0, 1)) for z in (0.0, 1.0)]
            ),
            "a ConvexMesh: 2 of 10 vertices lie in faces of the hull of the others, as those of a notch do",
        ),
        (lambda: vi.ConvexMesh(np.zeros((0, 3))), "a ConvexMesh must enclose a volume"),
        (lambda: with_shapes([3]), "collision of body 'b': shape 0 must be one of SphereShape, .* got 3"),
        (lambda: with_shapes([{"type": "BoxShape"}]), "collision of body 'b': shape 0: 'size' missing"),
        (lambda: with_shapes([{"type": "Boxshape"}]), "collision of body 'b': .*did you mean 'BoxShape'"),
        (lambda: with_shapes([{"type": "ConvexMesh", "vertices": "/etc/passwd"}]), "vertices must be points"),
        (lambda: with_shapes(True), "collision of body 'b': it has no solid"),
        (lambda: with_shapes([], [vi.BoxShape]), "ground of mechanism 'm': shape 0 must be one of"),
        (lambda: vi.Body.ellipsoid("e", [1, 2, 3], 1.0, collision=True), "collision of body 'e': an ellipsoid"),
    ],
)
def test_wrong_shapes(make, words):
    with pytest.raises(vi.MechanismError, match=words):
        make()


# --------------------------------------------------------------------------------------------------------- files


@pytest.mark.parametrize("suffix", ["json", "toml"])
def test_mechanism_files_keep_shapes_to_the_same_bits(tmp_path, suffix):
    mechanism = with_shapes()
    vi.save_mechanism(mechanism, tmp_path / f"m.{suffix}")
    again = vi.load_mechanism(tmp_path / f"m.{suffix}")
    assert to_data(again) == to_data(mechanism)
    assert again.bodies[0].collision[1].friction == 0.4
    assert again.bodies[0].collision[2].restitution == 0.5


def test_shapes_of_a_toml_file(tmp_path):
    (tmp_path / "m.toml").write_text(
        """
        name = "box on the floor"
        [[ground]]
        type = "PlaneShape"
        point = [0, 0, -0.15]
        [bodies.box]
        box = [0.1, 0.2, 0.3]
        mass = 1.0
        collision = true
        [joints.free]
        type = "Free"
        body_a = "world"
        body_b = "box"
        """
    )
    mechanism = vi.load_mechanism(tmp_path / "m.toml")
    assert isinstance(mechanism.bodies[0].collision[0], vi.BoxShape)
    assert mechanism.ground[0].point.tolist() == [0, 0, -0.15]


@pytest.mark.slow
def test_mjcf_has_the_shapes(tmp_path):
    pytest.importorskip("mujoco", reason="needs varint-dynamics[mjcf]")
    mechanism = with_shapes()
    vi.save_mechanism(mechanism, tmp_path / "m.mjcf")
    again = vi.load_mechanism(tmp_path / "m.mjcf")
    assert_alike(again.bodies[0], mechanism.bodies[0], 1e-6)  # MuJoCo keeps vertices in single precision
    assert again.bodies[0].collision[1].friction == 0.4
    assert [type(shape) for shape in again.ground] == [vi.PlaneShape, vi.BoxShape]
    assert again.ground[0].normal == pytest.approx(GROUND[0].normal)
    assert "geoms can collide in MuJoCo" in str(again.import_report)


def test_urdf_and_its_companion_have_the_shapes(tmp_path):
    pytest.importorskip("trimesh", reason="needs varint-dynamics[view]")
    mechanism = with_shapes()
    vi.save_mechanism(mechanism, tmp_path / "m.urdf")
    again = vi.load_mechanism(tmp_path / "m.toml")
    assert_alike(again.bodies[0], mechanism.bodies[0], 1e-9)
    assert [repr(shape) for shape in again.ground] == [repr(shape) for shape in mechanism.ground]
    with pytest.raises(vi.FileError, match="URDF has no plane"):
        vi.save_mechanism(with_shapes([GROUND[0]]), tmp_path / "plane.urdf")


def test_urdf_without_the_file_of_a_mesh(tmp_path):
    pytest.importorskip("trimesh", reason="needs varint-dynamics[view]")
    vi.save_mechanism(with_shapes(SHAPES[3:], []), tmp_path / "m.urdf")
    (tmp_path / "m-mesh-0.obj").unlink()
    again = vi.load_mechanism(tmp_path / "m.urdf")
    assert [type(shape) for shape in again.bodies[0].collision] == [vi.CylinderShape]
    assert "a collision shape of link 'b', mesh, is left out" in str(again.import_report)


def test_sdf_has_shapes_with_their_surface(tmp_path):
    surface = "<surface><friction><ode><mu>0.7</mu></ode></friction><bounce><restitution_coefficient>0.2"
    surface += "</restitution_coefficient></bounce></surface>"
    (tmp_path / "m.sdf").write_text(
        f"""<sdf version="1.9"><world name="w">
        <model name="floor"><static>true</static><link name="floor"><collision name="c">
        <geometry><plane><normal>0 0.6 0.8</normal><size>1 1</size></plane></geometry></collision></link></model>
        <model name="ball"><pose>0 0 2 0 0 0</pose><link name="ball">
        <inertial><mass>1</mass></inertial>
        <collision name="c"><pose>0.1 0 0 0 0 0</pose><geometry><sphere><radius>0.3</radius></sphere></geometry>
        {surface}</collision>
        <collision name="d"><geometry><ellipsoid><radii>1 2 3</radii></ellipsoid></geometry></collision>
        </link></model></world></sdf>"""
    )
    mechanism = vi.load_mechanism(tmp_path / "m.sdf")
    (ball,) = mechanism.bodies[0].collision
    assert (ball.radius, ball.friction, ball.restitution) == (0.3, 0.7, 0.2)
    assert ball.center == pytest.approx([0.1, 0, 0])
    assert mechanism.ground[0].normal == pytest.approx([0, 0.6, 0.8])
    assert "ellipsoid, is left out" in str(mechanism.import_report)


@pytest.mark.slow
def test_peers_do_not_get_shapes():
    """MuJoCo's model that a run is compared with has no contacts."""
    pytest.importorskip("mujoco", reason="needs varint-dynamics[mjcf]")
    from varint.files.mjcf.writer import Document

    assert "<geom" not in Document(with_shapes()).text


# ----------------------------------------------------------------------------------------------- shown and drawn


def test_info_lists_shapes(tmp_path, capsys):
    from varint.cli import main

    vi.save_mechanism(with_shapes(), tmp_path / "m.json")
    assert main(["info", str(tmp_path / "m.json")]) in (0, None)
    shown = capsys.readouterr().out
    for word in ("BoxShape", "CapsuleShape", "PlaneShape", "0.4"):
        assert word in shown


def test_the_page_draws_shapes_where_a_body_has_no_solid():
    def drawn(mechanism):
        poses = mechanism.bodies[0].position, np.zeros(3)
        axes = rotation_matrix(mechanism.bodies[0].quat_wxyz), np.eye(3)
        return scene_data(mechanism, np.array(poses), np.array(axes), None)

    scene = drawn(with_shapes())
    assert [part["kind"] for part in scene["bodies"][0]["parts"]][:5] == [
        "sphere",
        "box",
        "capsule",
        "cylinder",
        "mesh",
    ]
    assert [part["kind"] for part in scene["world"]] == ["box", "box"]
    slab = next(part for part in scene["world"] if part["sizes"][2] < 0.1 * part["sizes"][0])
    top = np.array(slab["position"]) + 0.5 * slab["sizes"][2] * GROUND[0].normal
    assert GROUND[0].normal @ (top - GROUND[0].point) == pytest.approx(0.0, abs=1e-5)
    plain = dataclasses.replace(with_shapes(), bodies=[vi.Body.box("b", [1, 1, 1], 1.0, collision=SHAPES)])
    assert [part["kind"] for part in drawn(plain)["bodies"][0]["parts"]][:1] == ["box"]
    assert sum(part["kind"] in ("sphere", "mesh") for part in drawn(plain)["bodies"][0]["parts"]) == 0


@pytest.mark.parametrize("shape", [vi.HollowSphereShape(1.0), vi.HollowCylinderShape((0, 0, 0), (0, 0, 1), 0.5)])
@pytest.mark.parametrize("suffix", [".urdf", ".xml"])
def test_what_is_hollow_is_not_written_as_solid(shape, suffix, tmp_path):
    body = vi.Body.box("bowl", (1, 1, 1), 1.0, collision=[shape])
    mechanism = vi.Mechanism("m", [body], [vi.Fixed("f", "world", "bowl")])
    with pytest.raises(vi.FileError, match=type(shape).__name__):
        vi.save_mechanism(mechanism, tmp_path / f"m{suffix}")
