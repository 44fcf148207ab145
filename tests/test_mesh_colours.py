"""Colours inside mesh files are those of pages and films: of materials, of faces, of vertices."""

import numpy as np
import pytest
from test_view import CORNERS, FACES, ROBOT, data_of

import varint as vi
from varint.drawing.surfaces import surfaces_of
from varint.drawing.viewpoint import View
from varint.views.mesh_colours import MOST_COLOURS
from varint.views.mesh_files import meshed_solids, tinted_solids

RED, BLUE, GREEN = (1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 0.5), (0.0, 1.0, 0.0, 1.0)
VERTICES = "\n".join(f"v {x:g} {y:g} {z:g}" for x, y, z in CORNERS)
OBJ = f"mtllib {{library}}\n{VERTICES}\nusemtl red\nf 1 2 3\nf 1 2 4\nusemtl blue\nf 1 3 4\nusemtl plain\nf 2 3 4\n"
MTL = "newmtl red\nKd 1 0 0\nmap_Kd picture.png\nnewmtl blue\nKd 0 0 1\nd 0.5\nnewmtl plain\nNs 10\n"
PLY = """ply
format ascii 1.0
element vertex 4
property float x
property float y
property float z
{of_vertex}element face 4
property list uchar int vertex_indices
{of_face}end_header
{rows}"""
RGB = "property uchar red\nproperty uchar green\nproperty uchar blue\n"


@pytest.fixture(autouse=True)
def trimesh():
    return pytest.importorskip("trimesh", reason="needs varint-dynamics[view]")


def points():
    return [f"{x:g} {y:g} {z:g}" for x, y, z in CORNERS]


def corners_of(faces):
    return [f"3 {a} {b} {c}" for a, b, c in faces]


def write_obj(folder):
    (folder / "part.obj").write_text(OBJ.format(library="part.mtl"))
    (folder / "part.mtl").write_text(MTL)


def write_faces(folder):
    rows = [
        *points(),
        *(f"{row} {rgb}" for row, rgb in zip(corners_of(FACES), ["255 0 0"] * 3 + ["0 255 0"], strict=True)),
    ]
    (folder / "part.ply").write_text(PLY.format(of_vertex="", of_face=RGB, rows="\n".join(rows) + "\n"))


def write_vertices(folder):
    """Three vertices are red and one is black, so that a face is red and three are two thirds as bright."""
    rows = [f"{row} {rgb}" for row, rgb in zip(points(), ["255 0 0"] * 3 + ["0 0 0"], strict=True)]
    (folder / "part.ply").write_text(
        PLY.format(of_vertex=RGB, of_face="", rows="\n".join([*rows, *corners_of(FACES)]) + "\n")
    )


def write_scene(folder, suffix):
    """Two tetrahedra, one of an orange material and one without."""
    import trimesh
    from trimesh.visual import TextureVisuals
    from trimesh.visual.material import PBRMaterial

    orange, plain = (trimesh.Trimesh(CORNERS + shift, FACES) for shift in (0.0, 3.0))
    orange.visual = TextureVisuals(material=PBRMaterial(baseColorFactor=[255, 127, 0, 255]))
    whole = orange if suffix == "dae" else trimesh.Scene([orange, plain])
    whole.export(str(folder / f"part.{suffix}"))


ORANGE = (1.0, 127 / 255, 0.0, 1.0)
KINDS = {  # name to the suffix, what writes the file, and the number of triangles of each colour
    "materials of an OBJ": ("obj", write_obj, {RED: 2, BLUE: 1, None: 1}),
    "faces of a PLY": ("ply", write_faces, {RED: 3, GREEN: 1}),
    "vertices of a PLY": ("ply", write_vertices, {RED: 1, (170 / 255, 0.0, 0.0, 1.0): 3}),
    "materials of a GLB": ("glb", lambda folder: write_scene(folder, "glb"), {ORANGE: 4, None: 4}),
    "materials of a COLLADA file": ("dae", lambda folder: write_scene(folder, "dae"), {ORANGE: 4}),
}


def robot(folder, suffix, material=""):
    mesh = f'<mesh filename="part.{suffix}"/></geometry>{material}</visual><visual><geometry><sphere radius="0.1"/>'
    (folder / "r.urdf").write_text(ROBOT.format(visual=mesh))
    return vi.load_mechanism(folder / "r.urdf")


def counts(parts):
    return {
        colour and tuple(np.round(colour, 6)): len(solid.triangles) for solid, colour in parts if solid.kind == "mesh"
    }


@pytest.mark.parametrize("kind", KINDS)
def test_colours_of_files_are_those_of_the_page_and_of_films(kind, tmp_path):
    if kind.endswith("COLLADA file"):
        pytest.importorskip("collada", reason="needs varint-dynamics[view]")
    suffix, write, wanted = KINDS[kind]
    write(tmp_path)
    mech = robot(tmp_path, suffix)
    (parts,) = tinted_solids(mech, 1000).values()
    assert counts(parts) == {colour and tuple(np.round(colour, 6)): count for colour, count in wanted.items()}
    (body,) = data_of(vi.simulate(mech, 0.02, 0.01).view().html)["bodies"]
    shown = [part.get("colour") for part in body["parts"] if part["kind"] == "mesh"]
    assert {colour and tuple(np.round(colour, 4)) for colour in shown} == {
        colour and tuple(np.round(colour, 4)) for colour in wanted
    }
    whole = np.concatenate([solid.vertices[solid.triangles.astype(int)] for solid, _ in parts if solid.kind == "mesh"])
    assert np.ptp(whole, axis=(0, 1)) == pytest.approx(np.ptp(CORNERS, axis=0) + (3.0 if suffix == "glb" else 0.0))


def test_the_colour_of_the_robot_file_comes_first(tmp_path):
    write_obj(tmp_path)
    mech = robot(tmp_path, "obj", '<material name="m"><color rgba="0.2 0.4 0.6 1"/></material>')
    (parts,) = tinted_solids(mech, 1000).values()
    assert counts(parts) == {(0.2, 0.4, 0.6, 1.0): 4}


@pytest.mark.parametrize("library", ["../part.mtl", "/etc/hostname", "linked.mtl", "part.txt", "missing.mtl"])
def test_files_of_materials_are_beside_the_mesh(library, tmp_path):
    """Others are not opened; the mesh then has the colour of its body."""
    inside = tmp_path / "inside"
    inside.mkdir()
    for name in ("part.mtl", "inside/part.txt"):
        (tmp_path / name).write_text(MTL)
    (inside / "linked.mtl").symlink_to(tmp_path / "part.mtl")
    (inside / "part.obj").write_text(OBJ.format(library=library))
    (parts,) = tinted_solids(robot(inside, "obj"), 1000).values()
    assert counts(parts) == {None: 4}


def test_many_colours_are_rounded_and_simpler_meshes_keep_theirs(trimesh, tmp_path):
    ball = trimesh.creation.icosphere(subdivisions=4)
    height = ball.triangles_center[:, 2]
    shade = np.clip(127.5 * (1 + height), 0, 255).astype(np.uint8)
    ball.visual.face_colors = np.column_stack([shade, 255 - shade, 0 * shade, 0 * shade + 255])
    ball.export(str(tmp_path / "part.ply"))
    mech = robot(tmp_path, "ply")
    for large in (100_000, 1000):
        (parts,) = tinted_solids(mech, large).values()
        meshes = [each for each in parts if each.solid.kind == "mesh"]
        assert 8 < len(meshes) <= MOST_COLOURS
        assert sum(len(each.solid.triangles) for each in meshes) <= large
        for solid, colour in meshes:
            middle = solid.vertices[solid.triangles.astype(int)].mean(axis=1)[:, 2]
            assert np.abs(0.5 * (1 + middle) - colour[0]).max() < 0.2
            assert colour[1] == pytest.approx(1.0 - colour[0], abs=0.2)


def test_a_film_paints_triangles_in_their_colours(tmp_path):
    """Who looks along y sees the face of the tetrahedron at y = 0, which is red, and of the sphere its body's blue."""
    write_faces(tmp_path)
    tinted = tinted_solids(robot(tmp_path, "ply"), 1000)
    solids = {number: [each.solid for each in parts] for number, parts in tinted.items()}
    colours = {number: [each.colour for each in parts] for number, parts in tinted.items()}
    here = np.zeros((2, 3)), np.array([np.eye(3)] * 2)
    view = View(np.array([1.0, 0, 0]), np.array([0, 0, 1.0]), True)
    painted = surfaces_of(solids, colours).seen(*here, view)[1]
    hues = {int(np.argmax(colour)) for colour in painted}
    assert hues == {0, 1, 2}
    plain = surfaces_of(meshed_solids(robot(tmp_path, "ply"), 1000)).seen(*here, view)[1]
    assert {int(np.argmax(colour)) for colour in plain} == {2}
