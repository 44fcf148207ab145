"""Reports of imports, and XML that is read in bounded time and memory."""

import copy
import dataclasses
import json
import pickle

import pytest

import varint as vi
from varint.cli import main
from varint.files.robots import xml_files
from varint.files.robots.xml_files import read_xml
from varint.kinematics.frames import with_world
from varint.model.import_report import ImportNotes
from varint.views.mesh_files import imported_solids, meshed_solids
from varint.views.web_scene import scene_data

BOMB = '<!DOCTYPE r [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><r>&b;</r>'
OUTSIDE = '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><r>&a;</r>'


@pytest.fixture
def imported(tmp_path, monkeypatch):
    """The path of a file whose reader reads, approximates and does not understand."""

    def reader(root, notes, packages):
        notes.read("link 'a'", root)
        notes.approximated("friction", xml_files.XMLElement("friction", {}, 3, notes.path))
        notes.not_understood("<wheel> in <link>", xml_files.XMLElement("wheel", {}, 4, notes.path))
        notes.body_of["a"] = "b"
        return notes.attached(vi.mechanisms.free_body())

    monkeypatch.setitem(xml_files.READERS, "one", ("a test", reader))
    path = tmp_path / "m.xml"
    path.write_text("\n<one/>")
    return path


def test_report_of_an_import(imported, capsys):
    report = vi.load_mechanism(imported).import_report
    assert [(entry.what, entry.file, entry.line) for entry in report.read] == [("link 'a'", str(imported), 2)]
    assert str(report.not_understood[0]) == f"'{imported}', line 4: <wheel> in <link>"
    assert str(report).splitlines()[1] == f"approximated: '{imported}', line 3: friction"
    assert "1 read, 1 approximated, 1 not understood" in repr(report)
    assert main(["info", str(imported)]) == 0
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("1 read", "line 4: <wheel>", "line 3: friction"))
    assert main(["info", str(imported), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["imported"][0] == {
        "how": "not understood", "what": "<wheel> in <link>", "file": str(imported), "line": 4,
    }  # fmt: skip


def test_strict_refuses_what_is_not_understood(imported):
    with pytest.raises(vi.FileError, match="line 4: <wheel> in <link>"):
        vi.load_mechanism(imported, strict=True)


def test_copies_keep_the_report(imported):
    mechanism = vi.load_mechanism(imported)
    for other in (copy.copy(mechanism), pickle.loads(pickle.dumps(mechanism))):
        assert str(other.import_report) == str(mechanism.import_report)
        assert other.import_report.body_of == {"a": "b"}


def test_what_is_not_imported_has_an_empty_report():
    report = vi.mechanisms.free_body().import_report
    assert not report
    assert report.read == report.approximated == report.not_understood == ()


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no element found"),
        ("<r>", "line 1: this is not valid XML"),
        ("<r><a></r>", "mismatched tag"),
        (BOMB, "entities are not read"),
        (OUTSIDE, "entities are not read"),
        ("<r>&a;</r>", "undefined entity"),
        ("<a>" * 100_000, "deep"),
        (f"<r>{'<a/>' * 300_000}</r>", "more than 300000 elements"),
        (f"<r>{'x' * 200_000}</r>", "longer than"),
        (f'<r a="{"x" * 200_000}"/>', "longer than"),
        ('<?xml version="1.0" encoding="utf-7"?><r/>', "UTF-8"),
        ('<?xml version="1.0" encoding="nonsense"?><r/>', "UTF-8|encoding"),
        ("<robt/>", "no mechanism"),
        (b"\xff\xfe\x00", "not valid XML"),
        (b"<r>\xe9</r>", "not well-formed"),
    ],
)
def test_xml_that_is_refused(text, words, tmp_path):
    path = tmp_path / "m.xml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(vi.FileError, match=words) as caught:
        vi.load_mechanism(path)
    assert str(path) in str(caught.value)


@pytest.mark.slow
def test_blanks_between_elements_are_no_text(tmp_path):
    path = tmp_path / "m.xml"
    path.write_text("<r>" + "<a>1\n2</a>\n   " * 50_000 + "3 <!-- --> \n <a/> 4</r>")
    root = read_xml(path, ImportNotes(path))
    assert root.own_numbers(2) == [3.0, 4.0]
    assert root.children[0].own_numbers(2) == [1.0, 2.0]


def test_xml_that_is_too_large(tmp_path):
    path = tmp_path / "m.xml"
    with path.open("wb") as file:
        file.truncate(2_000_000_000)
    with pytest.raises(vi.FileError, match="larger than 16 MB"):
        vi.load_mechanism(path)


def test_elements_and_their_numbers(tmp_path):
    path = tmp_path / "m.xml"
    path.write_bytes("<r>\n <a x='1 -2e3\n 0.5'/>\n <b>7</b></r>".encode("utf-16"))
    root = read_xml(path, ImportNotes(path))
    assert (root.child("a").line, root.child("b").line) == (2, 4)
    assert root.child("a").numbers("x", 3) == [1.0, -2000.0, 0.5]
    assert root.child("b").own_number() == 7.0
    for wrong in ("1 2", "1 2 3 4", "1 2 x", "1 2 nan", "1 2 1e999", "1 2 1_0"):
        root.child("a").attributes["x"] = wrong
        with pytest.raises(vi.FileError, match="line 2: 'x' of <a> must be 3 numbers"):
            root.child("a").numbers("x", 3)


LINKS = """<robot name="r"><link name="world"/>{}</robot>"""
LINK = """<link name="{name}"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><box size="0.1 0.2 0.3"/></geometry></visual></link>
<joint name="j {name}" type="revolute"><parent link="{parent}"/><child link="{name}"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1"/></joint>"""


@pytest.fixture
def robot(tmp_path):
    path = tmp_path / "r.urdf"
    links = LINK.format(name="a", parent="world") + LINK.format(name="b", parent="a")
    path.write_text(LINKS.format(links))
    return vi.load_mechanism(path)


def test_copies_with_other_parts_keep_the_report_and_the_shapes(robot):
    motor = vi.Motor("motor", joint="j a", effort=1.0)
    spring = vi.TorsionSpring("spring", joint="j b", stiffness=2.0)
    copies = (
        dataclasses.replace(robot, forces=[motor]),
        robot.replace(gravity=(0, 0, 0)),
        robot.with_forces(add=[motor, spring], remove=vi.JointStop),
        robot.with_forces(add=motor).with_forces(remove="motor"),
        copy.copy(robot.rigid_twin),
    )
    for each in copies:
        assert str(each.import_report) == str(robot.import_report) != ""
        assert each.import_report.body_of == robot.import_report.body_of
        assert set(imported_solids(each).solids) == {"a", "b"}


def test_copies_without_a_body_leave_its_shapes_out(robot):
    less = robot.replace(bodies=robot.bodies[:1], joints=robot.joints[:1], forces=())
    assert [shape.body for shape in less.import_report.shapes] == ["a"]
    assert "b" not in less.import_report.body_of
    assert str(less.import_report) == str(robot.import_report)
    with pytest.raises(vi.MechanismError, match="import_report of mechanism 'r'"):
        robot.replace(import_report="none")


def test_a_body_with_solids_of_its_own_is_drawn_as_these_in_page_and_film(robot):
    ball = vi.Body.sphere("a", 0.1, 1.0, position=robot.body("a").position)
    other = robot.replace(bodies=[ball, robot.bodies[1]])
    assert list(meshed_solids(other, 1000)) == [1]
    state = other.state()
    page = scene_data(other, *with_world(state.position, state.quat_wxyz), None)
    assert [[part["kind"] for part in body["parts"]][:1] for body in page["bodies"]] == [["sphere"], ["box"]]


def test_forces_are_added_and_removed_by_name_and_class(robot):
    names = [force.name for force in robot.forces]
    motor = vi.Motor("motor", joint="j a", effort=1.0)
    driven = robot.with_forces(add=motor)
    assert [force.name for force in driven.forces] == [*names, "motor"]
    assert [force.name for force in driven.with_forces(remove=[vi.JointStop]).forces] == ["motor"]
    assert [force.name for force in driven.with_forces(remove=[names[0], vi.Motor]).forces] == names[1:]
    other = driven.with_forces(remove="motor", add=dataclasses.replace(motor, effort=2.0))
    assert other.force("motor").effort == 2.0
    assert other.body("a") is robot.body("a")


def test_forces_that_cannot_be_added_or_removed(robot):
    motor = vi.Motor("motor", joint="j a", effort=1.0)
    driven = robot.with_forces(add=motor)
    soft = driven.replace(joints=[dataclasses.replace(robot.joints[0], compliance=1e-6), robot.joints[1]])
    for change, words in (
        (lambda: driven.with_forces(remove="moter"), "mechanism 'r' has no force 'moter', did you mean 'motor'"),
        (lambda: driven.with_forces(remove=vi.Spring), "no force of class"),
        (lambda: driven.with_forces(remove=3), "remove must be a list of names or classes, got 3"),
        (lambda: driven.with_forces(add="motor"), "add must be a list of forces, got 'motor'"),
        (lambda: driven.with_forces(add=motor), "two forces are called 'motor'"),
        (lambda: soft.with_forces(remove="j a compliance"), "compliance of joint 'j a'.*compliance=None"),
    ):
        with pytest.raises(vi.MechanismError, match=words):
            change()
    with pytest.raises(vi.ArgumentError, match="no argument 'force', did you mean 'forces'"):
        driven.replace(force=[])
