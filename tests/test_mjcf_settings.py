"""Attributes of MJCF that are not read are in the report, by their reason."""

import pytest

import varint as vi

pytestmark = pytest.mark.slow  # MuJoCo
MODEL = """<mujoco><option {option}/><worldbody><body><joint name="h" axis="0 1 0" stiffness="1" {joint}/>
<geom size=".1" pos=".3 0 0" {geom}/><site name="s" {site}/></body></worldbody></mujoco>"""


def loaded(written, **attributes):
    pytest.importorskip("mujoco")
    return vi.load_mechanism(
        written(MODEL.format(**dict.fromkeys(("option", "joint", "geom", "site"), "") | attributes))
    )


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        (
            {"option": 'timestep="0.3" integrator="RK4"'},
            "'timestep', 'integrator', settings of MuJoCo's",
        ),
        ({"joint": 'solreflimit="0.3"'}, "'solreflimit', of soft constraints"),
        ({"geom": 'solmix="3" margin="0.1"'}, "'solmix', 'margin', of contacts"),
        ({"geom": 'contype="3"'}, "'contype', pairs that collide, which import_report.contacts has"),
        ({"geom": 'group="1"', "site": 'rgba="1 0 0 1"'}, "'group', 'rgba', of pictures"),
        ({"site": 'euler="1 0 0"'}, "'euler', of sites, which are points"),
        ({"joint": 'user="1 2"'}, "'user', data of users"),
        ({"joint": 'actuatorgravcomp="true"'}, "'actuatorgravcomp', the force against gravity"),
    ],
)
def test_what_is_left_out(written, attributes, reason):
    entries = [entry.what for entry in loaded(written, **attributes).import_report.approximated]
    assert any(entry.startswith(reason) for entry in entries)


@pytest.mark.parametrize("attributes", [{"option": 'wind="1 0 0"'}, {"geom": 'fluidshape="ellipsoid"'}])
def test_what_acts_and_is_not_there(written, attributes):
    (entry,) = loaded(written, **attributes).import_report.not_understood
    assert "there is no medium" in entry.what


def test_a_key_does_not_move_mocap_bodies(written):
    pytest.importorskip("mujoco")
    more = '<body mocap="true"/></worldbody><keyframe><key qpos="0.1" mpos="0 0 1"/></keyframe>'
    text = MODEL.format(**dict.fromkeys(("option", "joint", "geom", "site"), "")).replace("</worldbody>", more)
    (entry,) = vi.load_mechanism(written(text)).import_report.not_understood
    assert "mocap" in entry.what


def test_a_muscle_with_damping(written):
    if not hasattr(pytest.importorskip("mujoco").MjModel, "actuator_damping"):
        pytest.skip("a version whose actuators have no damping")
    more = '</worldbody><actuator><muscle joint="h" damping="1" lengthrange="0 1"/></actuator>'
    text = MODEL.format(**dict.fromkeys(("option", "joint", "geom", "site"), "")).replace("</worldbody>", more)
    with pytest.warns(vi.LeftOutWarning, match="damping of actuator"):
        report = vi.load_mechanism(written(text)).import_report
    assert any(entry.what.startswith("damping of actuator") for entry in report.not_understood)
