"""Bodies that stand for armature: neither drawn nor listed, unless asked for."""

import dataclasses
import json
import re

import numpy as np
import pytest

import varint as vi
from varint.cli import main
from varint.drawing.following import floating_base
from varint.drawing.scene import make_scene
from varint.drawing.viewpoint import choose_view
from varint.extras.live.live_controls import coordinate_sliders

ARM = """<robot name="arm"><link name="world"/>
<joint name="lift" type="{base}"><parent link="world"/><child link="a"/><axis xyz="0 1 0"/></joint>
<link name="a"><inertial><origin xyz="0.2 0 0"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="bend" type="continuous"><parent link="a"/><child link="b"/>
<origin xyz="0.4 0 0"/><axis xyz="0 1 0"/></joint>
<link name="b"><inertial><origin xyz="0.2 0 0"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<transmission name="t"><joint name="bend"/><actuator name="m"><drake:rotor_inertia value="0.5"/>
<drake:gear_ratio value="3"/></actuator></transmission></robot>"""
ROTOR = "rotor of bend"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(ARM.format(base="continuous"))
    return path


@pytest.fixture
def arm(path):
    return vi.load_mechanism(path)


def data_of(page):
    (text,) = re.findall(r'<script id="data" type="application/json">(.*?)</script>', page, re.S)
    return json.loads(text)


def test_rotors_are_known_also_after_a_file_and_without_their_couplings(arm, tmp_path):
    assert arm.rotors == {ROTOR}
    vi.save_mechanism(arm, tmp_path / "arm.json")
    for other in (vi.load_mechanism(tmp_path / "arm.json"), dataclasses.replace(arm, forces=[])):
        assert other.rotors == {ROTOR}
    assert vi.mechanisms.four_bar().rotors == frozenset()


def test_a_body_with_a_shape_is_drawn_whatever_its_name(arm):
    ball = vi.Body.sphere(ROTOR, 0.1, 1.0, position=arm.body(ROTOR).position)
    shown = arm.replace(bodies=[ball if body.name == ROTOR else body for body in arm.bodies])
    assert shown.rotors == frozenset()
    number = arm.body_index[ROTOR]
    assert number in {outline.body for outline in make_scene(shown, choose_view(shown, None)).outlines}


def test_pictures_leave_rotors_out(arm):
    view = choose_view(arm, None)
    assert view.flat  # both joints turn about y; the rotor about z
    scene = make_scene(arm, view)
    number = arm.body_index[ROTOR]
    assert {outline.body for outline in scene.outlines} == set(range(len(arm.bodies))) - {number}
    assert number not in {mark.body for mark in scene.marks}
    assert len(scene.marks) == 2
    hidden = arm.replace(
        bodies=[dataclasses.replace(b, position=b.position + (b.name == ROTOR) * 9.0) for b in arm.bodies]
    )
    axes = hidden.plot(hidden.state(), plane="xz").axes[0]
    assert axes.get_xlim()[1] < 2.0
    assert all(np.abs(patch.get_xy()).max() < 2.0 for patch in axes.patches)
    texts = {text.get_text() for axes in arm.plot(labels=True).axes for text in axes.texts}
    assert {"a", "b", "lift", "bend"} <= texts
    assert not any("rotor" in text for text in texts)


def test_a_floating_robot_with_armature_is_followed(tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM.format(base="floating"))
    arm = vi.load_mechanism(tmp_path / "arm.urdf")
    assert arm.rotors == {ROTOR}
    assert arm.bodies[floating_base(arm)].name in ("a", "b")


def test_page_and_curves_leave_rotors_out(arm):
    run = vi.simulate(arm, 0.02, 0.01)
    data = data_of(run.view().html)
    shown = {body["name"]: body for body in data["bodies"]}
    assert shown[ROTOR]["parts"] == []
    assert [name for name, body in shown.items() if body["rotor"]] == [ROTOR]
    assert np.ptp([data["low"], data["high"]], axis=0).max() < 1.5  # the cube of its inertia has edges of 2.4 m
    assert not any(ROTOR in curve["name"] for curve in data["curves"])
    number = list(arm.joint_index).index(ROTOR)
    reactions = [arrows for arrows in data["frames"]["arrows"] if arrows["what"].startswith("reaction")]
    assert reactions
    assert all(number not in arrows["numbers"] for arrows in reactions)


def test_legends_name_rotors_if_asked_to(arm):
    run = vi.simulate(arm, 0.02, 0.01)

    def names(**options):
        (axes,) = run.plot("coordinates", **options).axes
        return [text.get_text() for text in axes.get_legend().get_texts()]

    assert names() == ["lift", "bend"]
    assert names(of=["bend", ROTOR]) == ["bend", ROTOR]
    assert vi.power_spectrum(vi.simulate(arm, 0.2, 0.01), "coordinates").columns == ("lift", "bend")
    assert ROTOR in run.coordinates


def test_tables_leave_rotors_out(arm):
    run = vi.simulate(arm, 0.02, 0.01)
    for text in (repr(arm.show()), arm.show()._repr_html_(), arm._repr_html_(), run._repr_html_()):
        assert "bend" in text
        assert ROTOR not in text


def test_info_lists_rotors_in_its_object_alone(path, capsys):
    assert main(["info", str(path)]) == 0
    shown = capsys.readouterr().out
    assert ROTOR not in shown
    assert "rotors of armatures" in shown
    assert re.search(r"mass\s+2 kg", shown)
    assert main(["info", str(path), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["rotors"] == [ROTOR]
    for kind in ("bodies", "joints", "forces"):
        assert ROTOR in [each["name"] for each in data[kind]]


def test_the_live_view_has_no_sliders_of_rotors(arm):
    assert [slider["name"] for slider in coordinate_sliders(vi.Stepper(arm, 0.01), 1.0)] == ["lift", "bend"]
