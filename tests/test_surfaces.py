"""Solids as triangles of pictures: closed, of the right size, sorted by depth; films show meshes."""

import numpy as np
import pytest
from PIL import Image
from test_view import CORNERS, FACES, ROBOT, write_stl

import varint as vi
from varint.drawing.surfaces import SHARE, surfaces_of
from varint.drawing.viewpoint import View, choose_view
from varint.model.solid import Solid
from varint.views.mesh_files import meshed_solids

X, Y, Z = np.eye(3)
FRONT = View(X, Z, True)
HERE = np.zeros((2, 3)), np.array([np.eye(3)] * 2)


def volume(corners):
    """Of a closed surface whose triangles are all wound one way."""
    return abs(np.linalg.det(corners).sum()) / 6.0


@pytest.mark.parametrize(
    ("kind", "sizes", "wanted"),
    [
        ("box", (0.2, 0.3, 0.5), 0.03),
        ("cylinder", (0.5, 2.0), np.pi / 4 * 2.0),
        ("sphere", (0.5,), np.pi / 6),
        ("ellipsoid", (0.2, 0.3, 0.5), 4 / 3 * np.pi * 0.03),
        ("capsule", (0.5, 1.0), np.pi / 4 + np.pi / 6),
    ],
)
def test_solids_are_closed_surfaces_of_their_size(kind, sizes, wanted):
    turn = (np.sqrt(0.5), np.sqrt(0.5), 0, 0)
    (corners,) = surfaces_of({0: [Solid(kind, sizes, (3.0, 0.0, 0.0), turn)]}).corners
    assert volume(corners) == pytest.approx(wanted, rel=0.05)
    assert volume(corners) <= wanted * (1 + 1e-12)  # inside the round one
    assert corners.mean(axis=(0, 1)) == pytest.approx((3, 0, 0), abs=1e-12)


def test_triangles_are_small_beside_the_body():
    (corners,) = surfaces_of({0: [Solid("box", (1.0, 0.2, 0.2))]}).corners
    assert np.linalg.norm(corners - np.roll(corners, -1, axis=1), axis=2).max() <= SHARE
    assert volume(corners) == pytest.approx(0.04)


def test_the_nearest_triangle_is_painted_last_in_the_colour_of_its_body():
    """Body 0 is blue, body 1 vermilion; who looks stands at negative y."""
    solids = {0: [Solid("sphere", (0.1,))], 1: [Solid("sphere", (0.1,))]}
    for nearer in (0, 1):
        x = np.zeros((3, 3))
        x[nearer] = -Y
        triangles, colours = surfaces_of(solids).seen(x, np.array([np.eye(3)] * 3), FRONT)
        red, _, blue = colours[-1]
        assert blue > red if nearer == 0 else red > blue
        assert np.abs(triangles).max() == pytest.approx(0.1, rel=0.01)


def test_a_face_towards_the_light_is_brighter_however_it_is_wound():
    mesh = Solid("mesh", vertices=CORNERS, triangles=FACES)
    turned = Solid("mesh", vertices=CORNERS, triangles=FACES[:, ::-1])
    view = choose_view(vi.mechanisms.four_bar(), "isometric")
    one, other = (surfaces_of({0: [each]}).seen(*HERE, view)[1] for each in (mesh, turned))
    assert np.sort(one, axis=0) == pytest.approx(np.sort(other, axis=0))
    assert np.ptp(one.sum(axis=1)) > 0.1


def test_without_a_mesh_pictures_are_drawn_as_links():
    assert meshed_solids(vi.mechanisms.four_bar(), 1000) == {}
    assert surfaces_of({}) is None


@pytest.mark.slow
def test_a_film_shows_the_mesh_of_a_robot(tmp_path):
    """A tetrahedron of edges 2 m: coloured where its centre is, which a link would leave white."""
    pytest.importorskip("trimesh", reason="needs varint-dynamics[view]")
    write_stl(tmp_path / "part.stl")
    (tmp_path / "r.urdf").write_text(ROBOT.format(visual='<mesh filename="part.stl" scale="2 2 2"/>'))
    mech = vi.load_mechanism(tmp_path / "r.urdf")
    assert list(meshed_solids(mech, 1000)) == [0]
    run = vi.simulate(mech, 0.02, 0.01)
    run.animate(tmp_path / "r.gif")
    with Image.open(tmp_path / "r.gif") as picture:
        pixels = np.asarray(picture.convert("RGB")).astype(int)
    coloured = np.ptp(pixels, axis=2) > 60
    assert 0.05 < coloured.mean() < 0.6
    stretch = np.ptp(np.argwhere(coloured), axis=0)
    assert coloured.sum() > 0.3 * stretch.prod()
