"""Files that other programs load: suffixes, includes by bare names, comments in other encodings, long skins."""

import pytest

import varint as vi

URDF = (
    '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>'
    '<inertia ixx="1" iyy="1" izz="1"/></inertial></link><joint name="j" type="revolute">'
    '<parent link="a"/><child link="b"/></joint></robot>'
)
LINK = '<link name="a"><inertial><mass>1</mass></inertial></link>'
SDF = f'<sdf version="1.6"><model name="m">{LINK}</model></sdf>'


@pytest.mark.parametrize(
    ("name", "text"), [("r.URDF", URDF), ("r.Urdf", URDF), ("r.xacro", URDF), ("w.world", SDF), ("w.WORLD", SDF)]
)
def test_suffixes(written, name, text):
    assert len(vi.load_mechanism(written(text, name), strict=True).bodies) == 1


@pytest.mark.parametrize("macro", ['"${m}"', '"$(arg m)"'])
def test_macros_are_named(written, macro, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    text = URDF.replace('value="1"', f"value={macro}")
    with pytest.raises(vi.FileError, match=r"`xacro r\.xacro"):
        vi.load_mechanism(written(text, "r.xacro"))
    if "${" in macro:
        with pytest.raises(vi.FileError, match="expand the file with xacro"):
            vi.load_mechanism(written(text, "r.urdf"))


STAND_IN = """import pathlib, xml.dom.minidom
def process_file(path):
    text = pathlib.Path(path).read_text()
    assert "fault" not in text, "undefined symbol"
    return xml.dom.minidom.parseString(text.replace("${m}", "2.5"))"""


def test_macros_are_expanded_by_the_package_xacro(written, tmp_path, monkeypatch):
    """With a package of that name whose macro is a number, so that the test needs no other."""
    (tmp_path / "of_xacro").mkdir()
    (tmp_path / "of_xacro" / "xacro.py").write_text(STAND_IN)
    monkeypatch.syspath_prepend(tmp_path / "of_xacro")
    text = URDF.replace('value="1"', 'value="${m}"')
    assert vi.load_mechanism(written(text, "r.xacro")).bodies[0].mass == 2.5
    with pytest.raises(vi.FileError, match="xacro cannot expand its macros: AssertionError: undefined symbol"):
        vi.load_mechanism(written(text.replace("</robot>", "<!-- fault --></robot>"), "r.xacro"))


def test_includes_by_bare_names_are_looked_for_in_packages(written, tmp_path):
    library = tmp_path / "models" / "lib" / "box"
    library.mkdir(parents=True)
    (library / "model.sdf").write_text(SDF)
    world = '<sdf version="1.9"><world name="w"><include><uri>{}</uri></include></world></sdf>'
    (tmp_path / "w").mkdir()
    path = tmp_path / "w" / "w.sdf"
    path.write_text(world.format("lib/box"))
    assert len(vi.load_mechanism(path, packages=[tmp_path / "models"], strict=True).bodies) == 1
    for outside in ("lib/box", "../models/lib/box", str(library)):
        path.write_text(world.format(outside))
        with pytest.raises(vi.FileError):
            vi.load_mechanism(path, packages=[] if outside == "lib/box" else [tmp_path / "w"])


@pytest.mark.parametrize("comment", [b"Ma\xdfe", b"\xff\xfe -- \xdf", b"gr\xfc\xdfe -"])
def test_comments_that_are_no_utf8(tmp_path, comment):
    path = tmp_path / "r.urdf"
    path.write_bytes(b"<!-- " + comment + b"-->" + URDF.encode())
    with pytest.raises(vi.FileError, match="UTF-8"):
        vi.load_mechanism(path)
    report = vi.load_mechanism(path, repair=True).import_report
    assert [entry.what for entry in report.repaired] == ["bytes of a comment that are no UTF-8, left out"]


def test_other_encodings_that_are_declared(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_bytes(b'<?xml version="1.0" encoding="latin-1"?><!-- Ma\xdfe -->' + URDF.encode())
    assert not vi.load_mechanism(path, strict=True).import_report.repaired


def test_long_skins_are_left_out(written):
    pytest.importorskip("mujoco", reason="needs the extra varint-dynamics[mjcf]")
    skin = f'<deformable><skin vertex="{"0 " * 60_000}"><bone vertid="{"0 " * 60_000}"/></skin></deformable>'
    body = '<worldbody><body><joint axis="0 1 0"/><geom size=".1" pos=".3 0 0"/></body></worldbody>'
    assert len(vi.load_mechanism(written(f"<mujoco>{body}{skin}</mujoco>", "m.xml"), strict=True).bodies) == 1
