"""The page of a run: what is in it, how large it is, what it says to mistakes."""

import base64
import dataclasses
import html
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import varint as vi
from varint.model.solid import Solid
from varint.views.mesh_files import meshed_solids
from varint.views.page import stride


@pytest.fixture(scope="module")
def run():
    return vi.simulate(vi.mechanisms.four_bar(), 1.0, 0.01)


def data_of(page):
    """What the scripts of a page read."""
    (text,) = re.findall(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)
    return json.loads(text)


def decoded(text, kind, *shape):
    return np.frombuffer(base64.b64decode(text), kind).reshape(shape)


def span_of(values):
    return np.ptp(values) or 1.0


# ------------------------------------------------------------------------------------------- frames


def test_frames_come_back(run):
    data = data_of(run.view().html)
    frames, bodies = data["frames"], [body["name"] for body in data["bodies"]]
    assert bodies == list(run.mechanism.body_index)
    assert frames["count"] == len(run) == 101
    assert decoded(frames["t"], "<f8", 101).tobytes() == run.t.tobytes()
    assert decoded(frames["position"], "<f4", 101, 3, 3) == pytest.approx(run.position, rel=1e-7, abs=1e-12)
    assert decoded(frames["quat"], "<i2", 101, 3, 4) / 32767 == pytest.approx(run.quat_wxyz, abs=0.51 / 32767)


def test_curves_come_back(run):
    data = data_of(run.view().html)
    names = [curve["name"] for curve in data["curves"]]
    curves = data["frames"]["curves"]
    low, high = np.array(curves["low"]), np.array(curves["high"])
    found = low + decoded(curves["levels"], "<u2", 101, len(names)) / 65535 * (high - low)
    assert names[:4] == ["kinetic", "potential", "energy", "crank pivot"]
    assert [curve["unit"] for curve in data["curves"]][:4] == ["J", "J", "J", "rad"]
    wanted = {"kinetic": run.kinetic, "energy": run.energy} | dict(run.coordinates)
    wanted |= {f"{name} rate": rate for name, rate in run.rates.items()}
    for name, values in wanted.items():
        assert found[:, names.index(name)] == pytest.approx(values, abs=0.51 * span_of(values) / 65535), name


def test_arrows_come_back():
    mech = vi.mechanisms.governor()
    run = vi.simulate(mech, 0.2, 0.01)
    arrows = {each["what"]: each for each in data_of(run.view().html)["frames"]["arrows"]}
    for what, wanted in (
        ("reaction", np.stack([run.reactions[joint.name].force for joint in mech.joints], axis=1)),
        ("reaction torque", np.stack([run.reactions[joint.name].torque for joint in mech.joints], axis=1)),
        ("force", run.forces_along.load[..., :3]),
    ):
        each = arrows[what]
        numbers = each["numbers"]
        found = decoded(each["vectors"], "<i2", 21, len(numbers), 3) / 32767 * each["scale"]
        assert found == pytest.approx(wanted[:, numbers], abs=0.51 * each["scale"] / 32767), what
        assert not np.delete(wanted, numbers, axis=1).any(), what
    assert [arrows[what]["unit"] for what in ("reaction", "reaction torque")] == ["N", "N m"]


def test_contacts_come_back():
    run = vi.simulate(vi.mechanisms.gripper(), 0.05, 0.01)
    data = data_of(run.view().html)
    assert data["touches"]
    touching, found = run.contacts, data["frames"]["contacts"]
    assert len(touching) > 8
    counts = decoded(found["counts"], "<u2", len(run))
    assert counts == pytest.approx([len(run.contacts.at(node)) for node in range(len(run))])
    assert decoded(found["points"], "<f4", len(touching), 3) == pytest.approx(touching.point, abs=1e-7)
    assert decoded(found["forces"], "<f4", len(touching), 3) == pytest.approx(touching.force, abs=1e-5)


def test_long_runs_are_taken_evenly_and_it_is_said(run):
    page = run.view(frames=20)
    data = data_of(page.html)
    assert (page.frames, page.nodes) == (21, 101)
    assert decoded(data["frames"]["t"], "<f8", 21) == pytest.approx(run.t[::5])
    assert "21 of 101 recorded nodes, taken evenly" in data["notes"]
    assert repr(page).startswith("Page 'four-bar': 21 frames of 101 nodes, ")
    assert [stride(nodes, 1000) for nodes in (1, 1001, 1002, 2001, 2002)] == [1, 1, 2, 2, 3]
    assert data_of(run[:1].view().html)["frames"]["count"] == 1


def test_a_run_that_stopped_says_so():
    with pytest.raises(vi.ConvergenceError) as caught:
        vi.simulate(vi.mechanisms.free_body(spin=1000), 30.0, 3.0)
    assert caught.value.trajectory.message in data_of(caught.value.trajectory.view().html)["notes"]


def test_runs_in_reduced_coordinates_have_a_page():
    run = vi.redmax.simulate(vi.mechanisms.four_bar(), 0.1, dt=0.01)
    data = data_of(run.view().html)
    assert data["frames"]["count"] == len(run)
    assert "crank pivot" in [curve["name"] for curve in data["curves"]]


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("name", vi.mechanisms.NAMES)
def test_every_mechanism_of_the_catalogue_has_a_page(name):
    mech = getattr(vi.mechanisms, name)()
    dt = vi.mechanisms.module(name).EXPECTED["dt"]
    data = data_of(vi.simulate(mech, 2 * dt, dt).view().html)
    assert [body["name"] for body in data["bodies"]] == list(mech.body_index)
    assert all(body["parts"] for body in data["bodies"])
    assert np.all(np.array(data["high"]) >= data["low"])


# ------------------------------------------------------------------------------------------- the page itself


def test_a_page_needs_nothing_else(run):
    page = run.view().html
    policy = re.search(r'http-equiv="Content-Security-Policy" content="(.*?)"', page)[1]
    assert "default-src 'none'" in policy
    assert "https:" not in policy
    assert not re.search(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=[\"'](?!data:)", page)
    assert "The MIT License" in page
    assert "three.js authors" in page


def test_names_cannot_leave_their_place():
    wild = "</script><script>alert(1)</script>&\"'"
    mech = vi.Mechanism(wild, [vi.Body.sphere(wild, 0.1, 1.0)], [vi.Free(wild, "world", wild)])
    page = vi.simulate(mech, 0.02, 0.01).view().html
    assert "<script>alert" not in page
    assert data_of(page)["bodies"][0]["name"] == wild
    assert f"<title>{html.escape(wild)}</title>" in page


def test_a_notebook_shows_the_page_inline(run):
    shown = run.view()._repr_html_()
    (inside,) = re.findall(r'^<iframe style="[^"]*" srcdoc="([^"]*)"></iframe>$', shown)
    assert html.unescape(inside) == run.view().html


@pytest.mark.slow
def test_a_thousand_frames_of_jansens_leg_can_be_mailed(tmp_path):
    run = vi.simulate(vi.mechanisms.jansen_leg(), 10.0, 0.01)
    run.view(tmp_path / "leg.html")
    assert (tmp_path / "leg.html").stat().st_size < 3_000_000
    assert data_of((tmp_path / "leg.html").read_text())["frames"]["count"] == 1001


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"path": "run.png"}, vi.ArgumentError, ("'run.png' must end in .html",)),
        ({"path": "none/run.html"}, vi.FileError, ("no folder 'none'",)),
        ({"frames": 0}, vi.ArgumentError, ("frames must be",)),
        ({"frames": 2.5}, vi.ArgumentError, ("frames must be",)),
        ({"trace": "crnak"}, vi.ArgumentError, ("'crnak'", "did you mean 'crank'?")),
        ({"plane": "up"}, vi.ArgumentError, ("plane must be one of",)),
    ],
)
def test_mistakes(options, error, words, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error) as caught:
        run.view(**options)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert not list(tmp_path.iterdir())


# ------------------------------------------------------------------------------------------- what is drawn


def parts_of(mech):
    return {body["name"]: body["parts"] for body in data_of(vi.simulate(mech, 0.02, 0.01).view().html)["bodies"]}


def test_bodies_are_drawn_as_they_were_described():
    top = parts_of(vi.mechanisms.spinning_top())["top"]
    assert top[0]["kind"] == "cylinder"
    assert top[0]["sizes"] == pytest.approx(vi.mechanisms.spinning_top().bodies[0].solids[0].sizes)
    leg = parts_of(vi.mechanisms.jansen_leg())
    assert [part["kind"] for part in leg["crank"]] == ["box"]
    assert [part["kind"] for part in leg["upper triangle"]] == ["box"] * 3


def test_a_body_without_a_shape_is_a_link_through_its_joints():
    ends = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    rod = vi.Body("rod", mass=1.0, inertia=np.diag([0.01, 0.1, 0.1]), position=ends.mean(axis=0))
    weight = vi.Body.sphere("weight", 0.1, 1.0, position=(1.0, 0.0, 0.0))
    joints = [
        vi.Revolute("pivot", "world", "rod", point=ends[0], axis=(0, 1, 0)),
        vi.Revolute("pin", "rod", "weight", point=ends[1], axis=(0, 1, 0)),
    ]
    (part,) = parts_of(vi.Mechanism("m", [rod, weight], joints))["rod"]
    assert part["kind"] == "capsule"
    assert part["sizes"][1] == pytest.approx(1.0)
    assert part["position"] == pytest.approx([0, 0, 0], abs=1e-9)


def test_a_plate_is_a_closed_mesh_that_is_seen_from_outside():
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1.0]])
    plate = vi.Body("plate", mass=1.0, inertia=np.diag([1.0, 2.0, 1.0]) / 18, position=corners.mean(axis=0))
    ends = [vi.Body.sphere(f"end {k}", 0.01, 1.0, position=p) for k, p in enumerate(corners[1:])]
    joints = [vi.Revolute("pivot", "world", "plate", point=corners[0], axis=(0, 1, 0))]
    joints += [vi.Revolute(e.name, "plate", e.name, point=e.position, axis=(0, 1, 0)) for e in ends]
    (part,) = parts_of(vi.Mechanism("m", [plate, *ends], joints))["plate"]
    assert part["kind"] == "mesh"
    vertices = decoded(part["vertices"], "<f4", -1, 3).astype(float)
    triangles = decoded(part["triangles"], "<u4", -1, 3).astype(int)
    solid = vi.Body.mesh("again", vertices, triangles, 1.0)  # refuses what is open, or inside out
    assert np.abs(solid.position) == pytest.approx(0, abs=0.05)


@pytest.mark.slow
def test_springs_guides_and_tracks_are_drawn():
    data = data_of(vi.simulate(vi.mechanisms.governor(), 0.02, 0.01).view().html)
    assert {strand["look"] for strand in data["strands"]} == {"coil"}
    assert data_of(vi.simulate(vi.mechanisms.slider_crank(), 0.02, 0.01).view().html)["guides"]
    assert data_of(vi.simulate(vi.mechanisms.roller_coaster(), 0.02, 0.01).view().html)["tracks"]


def test_points_that_are_traced_are_named():
    run = vi.simulate(vi.mechanisms.four_bar(), 0.02, 0.01)
    data = data_of(run.view(trace=["crank pin", ("coupler", (0.6, 0, 0.9))]).html)
    assert [each["name"] for each in data["traced"]] == ["crank pin", "point of coupler"]


# ------------------------------------------------------------------------------------------- solids of a body


@pytest.mark.slow
def test_solids_are_kept_by_what_is_made_of_a_body(tmp_path):
    mech = vi.mechanisms.jansen_leg()
    vi.simulate(mech, 0.02, 0.01, output=tmp_path / "run.h5")
    for other in (vi.load(tmp_path / "run.h5").mechanism, vi.mechanisms.jansen_leg()):
        for body, own in zip(other.bodies, mech.bodies, strict=True):
            assert [solid.kind for solid in body.solids] == [solid.kind for solid in own.solids] != []


@pytest.mark.slow
def test_no_motion_depends_on_solids(tmp_path):
    """A run can go on under a description without them."""
    import dataclasses

    mech = vi.mechanisms.double_pendulum()
    bare = dataclasses.replace(mech, bodies=[dataclasses.replace(body, solids=()) for body in mech.bodies])
    vi.simulate(mech, 0.05, 0.01, output=tmp_path / "run.h5")
    longer = vi.simulate(bare, 0.1, 0.01, output=tmp_path / "run.h5", resume=True)
    assert longer.position.tobytes() == vi.simulate(mech, 0.1, 0.01).position.tobytes()


def test_parts_of_a_composite_stay_where_they_are():
    turned = (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0)
    parts = [
        vi.Body.box("a", (1, 2, 3), 1.0, position=(1, 0, 0), quat_wxyz=turned),
        vi.Body.cylinder("b", 0.1, 0.5, 2.0, position=(0, 0, 4)),
        (1.0, (0, 5, 0)),
    ]
    body = vi.Body.composite("c", parts)
    from varint.model.rotation_vectors import rotation_matrix

    R = rotation_matrix(body.quat_wxyz)
    for solid, part in zip(body.solids, parts, strict=False):
        assert body.position + R @ solid.position == pytest.approx(part.position)
        assert R @ rotation_matrix(solid.quat_wxyz) == pytest.approx(rotation_matrix(part.quat_wxyz))


@pytest.mark.parametrize(
    ("solid", "words"),
    [
        ({"kind": "sphre", "sizes": (1,)}, ("kind of a solid", "did you mean 'sphere'?")),
        ({"kind": "box", "sizes": (1, 1)}, ("sizes of a box", "(3,)")),
        ({"kind": "sphere", "sizes": (-1,)}, ("sizes of a sphere must be positive",)),
        ({"kind": "sphere", "sizes": (1,), "radius": 1}, ("radius",)),
        ({"kind": "mesh", "vertices": np.eye(3), "triangles": [[0, 1, 3]]}, ("vertices 0 to 2",)),
        ({"kind": "mesh", "vertices": np.eye(3), "triangles": [[0, 1, 1.5]]}, ("vertices 0 to 2",)),
        (3, ("number 0 must be a Solid",)),
    ],
)
def test_wrong_solids(solid, words):
    with pytest.raises(vi.MechanismError) as caught:
        vi.Body("b", mass=1.0, inertia=np.eye(3), solids=[solid])
    message = str(caught.value)
    assert message.startswith("solids of body 'b'")
    assert all(word in message for word in words), message


# ------------------------------------------------------------------------------------------- files of meshes

ROBOT = """<robot name="r"><link name="l"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><origin xyz="0 0 1"/><geometry>{visual}</geometry></visual>
<collision><geometry><box size="1 2 3"/></geometry></collision></link></robot>"""
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def write_stl(path):
    """A tetrahedron, binary."""
    one = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
    triangles = np.zeros(4, one)
    triangles["corners"] = CORNERS[FACES]
    path.write_bytes(b" " * 80 + np.uint32(4).tobytes() + triangles.tobytes())


def robot_page(folder, visual):
    (folder / "r.urdf").write_text(ROBOT.format(visual=visual))
    mech = vi.load_mechanism(folder / "r.urdf")
    return data_of(vi.simulate(mech, 0.02, 0.01).view().html)


MESH = '<mesh filename="{}" scale="2 2 2"/>'


def test_meshes_of_a_robot_are_drawn(tmp_path):
    pytest.importorskip("trimesh", reason="needs varint-dynamics[view]")
    write_stl(tmp_path / "part.stl")
    data = robot_page(tmp_path, MESH.format("part.stl"))
    ((part,),) = [body["parts"] for body in data["bodies"]]
    assert (part["kind"], part["position"]) == ("mesh", [0, 0, 1])
    vertices = decoded(part["vertices"], "<f4", -1, 3)
    assert vertices.min(axis=0) == pytest.approx([0, 0, 0])
    assert vertices.max(axis=0) == pytest.approx([2, 2, 2])
    assert decoded(part["triangles"], "<u4", -1, 3).shape == (4, 3)
    assert not data["notes"]


def test_what_cannot_be_read_is_told(tmp_path, monkeypatch):
    write_stl(tmp_path / "part.stl")
    (tmp_path / "broken.stl").write_bytes(b"no mesh")
    (tmp_path / "secret.txt").write_text("no mesh either")
    for name, words in (
        ("lost.stl", "no file of a mesh that can be read: 'lost.stl'"),
        ("secret.txt", "no file of a mesh that can be read: 'secret.txt'"),
    ):
        data = robot_page(tmp_path, MESH.format(name))
        assert words in data["notes"]
        assert data["bodies"][0]["parts"]  # something is drawn in its place
    monkeypatch.setitem(sys.modules, "trimesh", None)
    (note,) = robot_page(tmp_path, MESH.format("part.stl"))["notes"]
    assert 'pip install "varint-dynamics[view]" (in a checkout: pip install -e ".[view]"): \'part.stl\'' in note


def test_a_broken_mesh_is_told(tmp_path):
    pytest.importorskip("trimesh", reason="needs varint-dynamics[view]")
    (tmp_path / "broken.stl").write_bytes(b"no mesh")
    (note,) = robot_page(tmp_path, MESH.format("broken.stl"))["notes"]
    assert note.endswith("'broken.stl'")


def test_shapes_of_a_robot_are_drawn(tmp_path):
    data = robot_page(tmp_path, '<cylinder radius="0.2" length="0.7"/>')
    (part,) = data["bodies"][0]["parts"]
    assert (part["kind"], part["sizes"]) == ("cylinder", [0.2, 0.7])


def test_a_solid_says_what_it_is():
    assert repr(Solid("sphere", [1.0])).startswith("Solid: kind='sphere', sizes=(1)")
    assert Path(sys.modules["varint.views.page"].__file__).with_name("assets").is_dir()


def test_a_mesh_file_of_the_user_is_drawn(tmp_path):
    """As docs/viewing.md adds it to a body, in the page and in films; it changes no motion."""
    trimesh = pytest.importorskip("trimesh", reason="needs varint-dynamics[view]")
    trimesh.creation.box((100.0, 40.0, 20.0)).export(tmp_path / "cover.stl")
    cover = trimesh.load(tmp_path / "cover.stl", force="mesh")
    mesh = {"kind": "mesh", "vertices": 0.001 * cover.vertices, "triangles": cover.faces, "position": (0, 0, 0.02)}
    mech = vi.mechanisms.double_pendulum()
    first = dataclasses.replace(mech.bodies[0], solids=[*mech.bodies[0].solids, mesh])
    covered = dataclasses.replace(mech, bodies=[first, *mech.bodies[1:]])
    run = vi.simulate(covered, 0.1, 0.01)
    assert np.array_equal(run.position, vi.simulate(mech, 0.1, 0.01).position)
    part = data_of(run.view().html)["bodies"][0]["parts"][len(mech.bodies[0].solids)]
    assert (part["kind"], part["position"]) == ("mesh", [0, 0, 0.02])
    corners = decoded(part["vertices"], "<f4", len(cover.vertices), 3)
    assert np.ptp(corners, axis=0) == pytest.approx([0.1, 0.04, 0.02])
    assert list(meshed_solids(covered, 1000)) == [0]


def test_runs_over_one_another(run, tmp_path):
    """Each has its frames; names are numbered where they are the same, and notes say whose they are."""
    page = vi.show(run, run[::2], path=tmp_path / "runs.html", frames=20)
    data = data_of((tmp_path / "runs.html").read_text())
    assert page.frames == data["frames"]["count"] == 21
    name = run.mechanism.name
    assert data["name"] == f"{name}, run 1"
    (other,) = data["others"]
    assert (other["name"], other["frames"]["count"]) == (f"{name}, run 2", 17)
    assert data["notes"][0].startswith(f"{name}, run 1: 21 of 101 recorded nodes")
    own = data_of(run.view(frames=20).html)
    assert own["others"] == []
    assert own["frames"] == data["frames"]


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((), {}, "needs a trajectory"),
        ((3,), {}, "a run of show"),
        ((None,), {"names": ["one", "two"]}, "a name for each of the 1 runs, not 2"),
        ((None,), {"names": "one"}, "names must be a list of texts"),
        ((None,), {"names": [1]}, "a name of a run"),
        ((None,), {"path": "runs.png"}, "must end in .html"),
    ],
)
def test_mistakes_of_runs_over_one_another(arguments, options, words, run):
    with pytest.raises(vi.ArgumentError, match=words):
        vi.show(*(run if each is None else each for each in arguments), **options)
