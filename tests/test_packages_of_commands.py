"""``--packages DIR`` of the commands that load a mechanism: folders of meshes and includes of robot files."""

import pytest

from varint.cli import main
from varint.cli.shared import find_mechanism

SHORT = ("--duration", "0.02", "--dt", "0.01")
INERTIAL = (
    '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    '<visual><geometry><mesh filename="package://parts/a.stl"/></geometry></visual>'
)
URDF = (
    f'<robot name="r"><link name="base"/><link name="arm">{INERTIAL}</link>'
    '<joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>'
)
INNER = (
    '<?xml version="1.0"?><sdf version="1.9"><model name="box">'
    '<link name="l"><pose>0 0 1 0 0 0</pose></link></model></sdf>'
)
SDF = (
    '<?xml version="1.0"?><sdf version="1.9"><world name="w">'
    "<include><uri>model://box</uri><name>one</name></include></world></sdf>"
)


@pytest.fixture
def robot(tmp_path, monkeypatch):
    """Folder with a URDF, an SDF and an MJCF whose parts lie in another folder "ws"."""
    home, ws = tmp_path / "home", tmp_path / "ws"
    for folder in (home, ws / "parts", ws / "box"):
        folder.mkdir(parents=True)
    (home / "r.urdf").write_text(URDF)
    (ws / "parts" / "a.stl").touch()
    (home / "w.sdf").write_text(SDF)
    (ws / "box" / "model.sdf").write_text(INNER)
    (home / "r.toml").write_text('include = "w.sdf"\n[parameters]\nspeed = 1.0\n')
    (home / "m.xml").write_text('<mujoco><include file="../ws/body.xml"/></mujoco>')
    (ws / "body.xml").write_text(
        '<mujoco><worldbody><body name="ball"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>'
    )
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    monkeypatch.chdir(home)
    return ws


def test_a_mesh_of_a_urdf_is_found(robot):
    """In any of the folders; without them it is told that it is not."""
    for folders in (None, [str(robot / "box")]):
        assert find_mechanism("r.urdf", [], None, folders).import_report.shapes[0].mesh == "package://parts/a.stl"
    mechanism = find_mechanism("r.urdf", [], None, [str(robot / "box"), str(robot)])
    assert mechanism.import_report.shapes[0].mesh == str(robot / "parts" / "a.stl")


@pytest.mark.parametrize(
    "command",
    [
        ("info",),
        ("run", *SHORT),
        pytest.param(("convert", "out.json"), id="convert"),
        pytest.param(("view", *SHORT, "--html", "page.html"), marks=pytest.mark.slow),
        pytest.param(("compare", "--duration", "0.02", "--dt", "0.01,0.005"), marks=pytest.mark.slow),
        pytest.param(("analyse", "reversal", *SHORT), marks=pytest.mark.slow),
    ],
)
def test_an_included_model_is_found(command, robot, capsys):
    """Without the option the file is refused."""
    first = 2 if command[0] == "analyse" else 1
    words = [*command[:first], "w.sdf", *command[first:]]
    assert main(words) == 2
    assert "box" in capsys.readouterr().err
    assert main([*words, "--packages", str(robot)]) == 0


def test_an_include_within_a_toml_file_is_found(robot, capsys):
    assert main(["info", "r.toml"]) == 2
    capsys.readouterr()
    assert main(["info", "r.toml", "--packages", str(robot)]) == 0
    assert "speed" in capsys.readouterr().out


def test_an_include_of_an_mjcf_is_found(robot, capsys):
    pytest.importorskip("mujoco")
    assert main(["info", "m.xml"]) == 2
    assert "in a folder of --packages" in capsys.readouterr().err
    assert main(["info", "m.xml", "--packages", str(robot)]) == 0


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("info", "four_bar"), "--packages applies to files"),
        (("info",), "none is named: leave out --packages"),
        (("info", "run.h5"), "'run.h5' is a run: leave out --packages"),
        (("view", "run.h5"), "leave out --packages"),
        (("compare", "--all"), "--all takes one --order"),
        (("analyse", "energy-trend", "run.h5"), "--packages has no effect on energy-trend"),
    ],
)
def test_the_option_is_refused_where_it_has_no_effect(words, why, capsys):
    assert main([*words, "--packages", "."]) == 2
    assert why in capsys.readouterr().err


def test_a_folder_that_is_not_there(robot, capsys):
    assert main(["info", "r.urdf", "--packages", "nowhere"]) == 2
    assert "--packages: there is no folder 'nowhere'" in capsys.readouterr().err
