"""Robots that other programs read and varint refuses: `repair` reads them, and reports what it changed."""

import copy
import json
import pickle
import re

import numpy as np
import pytest

import varint as vi
from varint.cli import main
from varint.files.robots.inertia_repair import POINT, SLENDER, nearest_inertia
from varint.files.robots.xml_defects import HYPHENS as IN_COMMENT
from varint.files.robots.xml_defects import defects_of, mended

HYPHENS = "<!-- a comment\n with -- in it -->"
WRONG = '<inertia ixx="1" iyy="1.2" izz="3" ixy="0.1" ixz="0.2" iyz="-0.1"/>'
MATRIX = np.array([[1.0, 0.1, 0.2], [0.1, 1.2, -0.1], [0.2, -0.1, 3.0]])
GOOD = '<inertia ixx="0.02" iyy="0.03" izz="0.04"/>'
TURNING = (  # a link that ends the tree
    '<link name="end"><inertial><inertia ixx="0.1" iyy="0.2" izz="0.25"/></inertial></link>'
    '<joint name="to end" type="continuous"><parent link="arm"/><child link="end"/></joint></robot>'
)
BOMB = '<!DOCTYPE r [<!ENTITY a "x">]>'


def urdf(inertia=GOOD, before="", inside=""):
    """One body on a hinge; its link is in line 3, or later by the lines of ``before`` and ``inside``."""
    return (
        f'{before}<robot name="r">{inside}\n<link name="base"/>\n'
        f'<link name="arm"><inertial><origin xyz="0 0 1"/><mass value="2"/>{inertia}</inertial></link>\n'
        '<joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>\n'
        "</robot>"
    )


def sdf(inertia=WRONG):
    values = " ".join(inertia.removeprefix("<inertia ").removesuffix("/>").split()).replace('"', "").split()
    moments = "".join("<{0}>{1}</{0}>".format(*value.split("=")) for value in values)
    return (
        f'<sdf version="1.9"><model name="m">\n<link name="arm"><inertial><mass>2</mass><inertia>{moments}</inertia>'
        "</inertial></link></model></sdf>"
    )


@pytest.fixture
def written(written):
    """Files without a name are URDF."""
    return lambda text, name="r.urdf": written(text, name)


# --------------------------------------------------------------------------------------------------- inertias


def possible(rng, least):
    """An inertia that a body can have, with no moment below ``least``."""
    parts = rng.exponential(1.0, 3) * rng.choice([0.0, 1.0], 3)  # second moments of mass
    moments = np.sum(parts) - parts + least
    axes = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    return axes @ np.diag(moments) @ axes.T


@pytest.mark.slow
def test_repaired_inertia_is_the_nearest_of_all():
    """The nearest point p of a convex set to x: (x - p) . (y - p) is not positive for any y of the set."""
    rng = np.random.default_rng(0)
    changed = 0
    for _ in range(300):
        given = rng.standard_normal((3, 3)) + np.diag(rng.uniform(-1, 3, 3))
        given = 0.5 * (given + given.T)
        moments = np.linalg.eigvalsh(given)
        if moments[2] <= POINT:
            continue
        nearest = nearest_inertia(given, 1.0)
        least = SLENDER * moments[2]
        if nearest is None:
            assert moments[0] >= least
            assert moments[2] <= moments[0] + moments[1]
            continue
        changed += 1
        vi.Body("b", mass=1.0, inertia=nearest)
        assert np.linalg.eigvalsh(nearest)[0] >= least * (1 - 1e-9)
        assert nearest @ given == pytest.approx(given @ nearest, abs=1e-12)  # the same principal axes
        for _ in range(30):
            other = possible(rng, least)
            assert np.sum((given - nearest) * (other - nearest)) <= 1e-12 * np.linalg.norm(other)
    assert changed > 100


def test_nearest_moments_by_hand():
    assert nearest_inertia(np.diag([1.0, 1.0, 3.0]), 1.0) == pytest.approx(np.diag([4 / 3, 4 / 3, 8 / 3]))
    assert nearest_inertia(np.diag([1.0, 0.0, 1.0]), 1.0) == pytest.approx(np.diag([1.0, 1e-4, 1.0]))
    assert nearest_inertia(np.diag([0.0, 0.0, 1.0]), 1.0) == pytest.approx(np.diag([1 / 3, 1 / 3, 2 / 3]))
    assert nearest_inertia(np.diag([-5.0, -5.0, 1.0]), 1.0) == pytest.approx(1e-4 * np.diag([1.0, 1.0, 2.0]))
    assert nearest_inertia(np.zeros((3, 3)), 2.0) == pytest.approx(2.0 * 0.4 * 0.001**2 * np.eye(3))
    assert nearest_inertia(np.diag([1e-20, -1e-20, 1e-19]), 2.0) == pytest.approx(8e-7 * np.eye(3))
    assert nearest_inertia(np.diag([1.0, 2.0, 3.0]), 1.0) is None
    assert nearest_inertia(np.diag([1.0, np.nan, 3.0]), 1.0) is None


@pytest.mark.parametrize(
    ("suffix", "line"), [(".urdf", 3), (".sdf", 2), pytest.param(".xml", 3, marks=pytest.mark.slow)]
)
def test_inertia_that_no_body_has(suffix, line, written):
    """An error that names the option; with it the nearest inertia, with the change in the report."""
    moments = np.linalg.eigvalsh(MATRIX)
    third = (moments[2] - moments[0] - moments[1]) / 3
    share = third * np.sqrt(3) / np.linalg.norm(MATRIX)
    text = {".urdf": urdf(WRONG), ".sdf": sdf()}.get(suffix)
    if text is None:
        pytest.importorskip("mujoco", reason="needs the extra varint-dynamics[mjcf]")
        full = " ".join(str(MATRIX[place]) for place in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
        text = (
            '<mujoco><worldbody><body name="arm">\n<joint/>\n'
            f'<inertial pos="0 0 1" mass="2" fullinertia="{full}"/></body></worldbody></mujoco>'
        )
    path = written(text, f"r{suffix}")
    with pytest.raises(vi.VarintError, match="load the file with repair=True"):
        vi.load_mechanism(path)
    read = vi.load_mechanism(path, repair=True, strict=True)
    inertia = read.body("arm").inertia
    expected = moments + third * np.array([1, 1, -1])
    assert np.linalg.eigvalsh(inertia) == pytest.approx(expected, rel=1e-12)
    assert inertia @ MATRIX == pytest.approx(MATRIX @ inertia, abs=1e-12)
    (entry,) = read.import_report.repaired
    assert (entry.file, entry.line) == (str(path), line)
    assert "'arm': no body has the principal moments of inertia (0.934" in entry.what
    assert entry.what.endswith(f"by {100 * share:.2g} % of their norm")
    for other in (copy.copy(read), pickle.loads(pickle.dumps(read))):
        assert other.import_report.repaired == read.import_report.repaired
    assert "\nrepaired: " in str(read.import_report)


def test_point_masses_get_a_small_extent(written):
    path = written(urdf('<inertia ixx="0" iyy="0" izz="0"/>'))
    with pytest.raises(vi.MechanismError, match=r"must be positive definite.* load the file with repair=True"):
        vi.load_mechanism(path)
    read = vi.load_mechanism(path, repair=True)
    assert read.body("arm").inertia == pytest.approx(2 * 0.4 * 0.001**2 * np.eye(3), rel=1e-12)
    assert read.import_report.repaired[0].what.endswith("those of a ball with a radius of 1 mm")


@pytest.mark.slow
@pytest.mark.parametrize("moments", ["3 1 1", "1 3 1", "1 1 3"])
def test_principal_moments_of_mjcf_keep_their_axes(moments, written):
    pytest.importorskip("mujoco", reason="needs the extra varint-dynamics[mjcf]")
    body = (
        '<mujoco>{}<worldbody><body name="a"><joint/><inertial pos="0 0 0" mass="1" euler="90 0 0" diaginertia="{}"/>'
        "</body></worldbody></mujoco>"
    )
    read = vi.load_mechanism(written(body.format("", moments), "a.xml"), repair=True)
    x, y, z = (8 / 3 if word == "3" else 4 / 3 for word in moments.split())
    assert read.body("a").inertia == pytest.approx(np.diag([x, z, y]), abs=1e-12)
    balanced = written(body.format('<compiler balanceinertia="true"/>', moments), "b.xml")
    read = vi.load_mechanism(balanced, repair=True)  # which MuJoCo changes by itself
    assert read.body("a").inertia == pytest.approx(5 / 3 * np.eye(3))
    assert not read.import_report.repaired


def test_nothing_is_changed_where_nothing_is_wrong(written):
    path = written(urdf('<inertia ixx="1e-9" iyy="1" izz="1"/>', before="<!-- fine - so -->\n"))
    one, other = vi.load_mechanism(path), vi.load_mechanism(path, repair=True)
    assert np.array_equal(one.body("arm").inertia, other.body("arm").inertia)
    assert other.import_report.repaired == ()


def test_what_repair_does_not_help_is_refused_without_naming_it(written):
    path = written(urdf('<inertia ixx="1e300" iyy="1e300" izz="1e300"/>'))
    for repair in (False, True):
        with pytest.raises(vi.VarintError) as caught:
            vi.load_mechanism(path, repair=repair)
        assert "repair=True" not in str(caught.value)
    with pytest.raises(vi.ArgumentError, match="repair"):
        vi.load_mechanism(path, repair="yes")


# ------------------------------------------------------------------------------------------- elements of URDF


@pytest.mark.parametrize(
    ("before", "after", "words", "what"),
    [
        ("</joint>", '<axis xyz="1 0 0"/></joint>', "has one <axis>", "second <axis> of joint 'j'"),
        ("</joint>", '<mimic joint="other"/></joint>', "no joint 'other'", "<mimic> left out"),
        ("</robot>", TURNING, "moments of inertia and no mass", "up to 0.25 kg m.2, left out"),
    ],
)
def test_elements_that_others_pass_over(before, after, words, what, written):
    path = written(urdf().replace(before, after, 1))
    with pytest.raises(vi.VarintError, match=rf"{words}.*load the file with repair=True"):
        vi.load_mechanism(path)
    read = vi.load_mechanism(path, repair=True)
    (entry,) = read.import_report.repaired
    assert re.search(what, entry.what)
    assert [body.name for body in read.bodies] == ["arm"]
    assert [joint.name for joint in read.joints] == ["j"]


# --------------------------------------------------------------------------------------------------- comments


@pytest.mark.parametrize(
    "comment", [HYPHENS, "<!-- a\n --->", "<!---- a\n ---->", "<!-- a <!-- b\n -->", "<!-----\n>-->"]
)
def test_comments_with_hyphens(comment, written):
    path = written(urdf(before=comment))
    with pytest.raises(vi.FileError, match=r"line [12]: a comment has '--' inside.*load the file with repair=True"):
        vi.load_mechanism(path)
    read = vi.load_mechanism(path, repair=True)
    assert read.body("arm").mass == 2.0
    assert [(entry.line, entry.what) for entry in read.import_report.repaired] == [
        (1, "comment with '--' inside, left out")
    ]
    assert any(entry.line == 4 and "'arm'" in entry.what for entry in read.import_report.read)


def test_lines_of_later_errors_are_unchanged(written):
    """Blank lines, two comments of two lines each, one of them inside; the link stands in line 8."""
    text = "\n\n" + urdf(before=HYPHENS + "\n", inside=HYPHENS)
    assert text.split("\n")[7].startswith('<link name="arm">')
    for broken, words in (
        ('value="-2"', "line 8: link 'arm' has a negative mass"),
        ('value="2', "line 8: .*not valid"),
    ):
        path = written(text.replace('value="2"', broken))
        with pytest.raises(vi.VarintError, match=words):
            vi.load_mechanism(path, repair=True)
    report = vi.load_mechanism(written(text), repair=True).import_report
    assert [entry.line for entry in report.repaired] == [3, 5]


def test_other_errors_of_xml_do_not_name_the_option(written):
    path = written(urdf(before=HYPHENS).replace("<robot", "<robot <", 1).replace(HYPHENS, "", 1))
    with pytest.raises(vi.FileError, match="not valid XML") as caught:
        vi.load_mechanism(path)
    assert "repair=True" not in str(caught.value)


@pytest.mark.parametrize(
    ("before", "after", "words", "what"),
    [
        ('<link name="base"/>', """<link a='1'name="base"/>""", "line 2: .*no blank between", "blank between"),
        ("</robot>", "</robot>\n\0\n\0", "line 6: .*ends with zero bytes", "zero bytes at the end"),
    ],
)
def test_defects_of_xml(before, after, words, what, written):
    path = written(urdf().replace(before, after, 1))
    with pytest.raises(vi.FileError, match=rf"{words}.*load the file with repair=True"):
        vi.load_mechanism(path)
    read = vi.load_mechanism(path, repair=True)
    assert read.body("arm").mass == 2.0
    (entry,) = read.import_report.repaired
    assert entry.what.startswith(what)
    assert f"line {entry.line}:" in words


def test_only_comments_are_touched():
    content = (
        b"<?pi <!-- a -- b --> ?><r x='<!-- a -- b -->' y=\"<!-- a -- b -->\">\n<![CDATA[<!-- a -- b -->]]>"
        b"<!-- a - b -->\n<!-- c -- d --><a/><!---->\n<!-- e --->-- <b><!-- f -- never closed"
    )
    defects = defects_of(content)
    assert [content[one.start : one.end] for one in defects] == [b" c -- d ", b" e -"]
    assert [(one.kind, one.line) for one in defects] == [(IN_COMMENT, 3), (IN_COMMENT, 4)]
    assert mended(content, defects) == content.replace(b" c -- d ", b" c    d ").replace(b" e --->", b" e  -->")
    for unclosed in (b"<a", b"<a x='>", b"<![CDATA[ <!-- a -- b -->", b"<!-- a -- b ->", b"<", b""):
        assert defects_of(unclosed) == []


def test_comments_are_looked_for_in_bounded_time():
    """Once through the file, whatever is never closed: a search anew from each "<" would take hours."""
    for piece in (b"<", b"<a x='", b'<a "', b"<!-", b"<!--", b"<?", b"<![CDATA["):
        assert defects_of(piece * 500_000) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BOMB + "<r>&a;</r>", "entities are not read"),
        (HYPHENS + BOMB + "<r>&a;</r>", "entities are not read"),
        ('<!DOCTYPE r SYSTEM "file:///etc/passwd">' + HYPHENS + "<r>&a;</r>", "entit"),
        (HYPHENS + "<a>" * 300, "deep"),
        (f"<r>{HYPHENS}<a/>{'x' * 200_000}</r>", "longer than"),
    ],
)
def test_security_rules_hold_with_repair(text, words, written):
    with pytest.raises(vi.FileError, match=words):
        vi.load_mechanism(written(text), repair=True)


def test_included_files_are_repaired_as_well(written):
    """SDF that an SDF includes, MJCF in MJCF, URDF in TOML: the report names the file."""
    model = written(HYPHENS + sdf(), "model.sdf")
    world = written(
        '<sdf version="1.9"><world name="w"><include><uri>model.sdf</uri></include></world></sdf>', "world.sdf"
    )
    robot = written(urdf(WRONG, before=HYPHENS))
    toml = written('include = "r.urdf"\n[parameters]\nspeed = 1.0\n[start.rates]\nj = "speed"\n', "r.toml")
    for path, part in ((world, model), (toml, robot)):
        with pytest.raises(vi.VarintError, match="repair=True"):
            vi.load_mechanism(path)
        report = vi.load_mechanism(path, repair=True).import_report
        assert [entry.file for entry in report.repaired] == [str(part), str(part)]
    read = vi.load_mechanism(toml, {"speed": 3.0}, repair=True)
    assert read.rates(read.state())["j"] == pytest.approx(3.0)


@pytest.mark.slow
def test_included_mjcf_with_hyphens(written):
    """MuJoCo reads them: they are no defect."""
    pytest.importorskip("mujoco", reason="needs the extra varint-dynamics[mjcf]")
    body = '<body name="a"><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>'
    part = written(f"{HYPHENS}<mujocoinclude>{body}</mujocoinclude>", "part.xml")
    path = written('<mujoco><worldbody><include file="part.xml"/></worldbody></mujoco>', "a.xml")
    for repair in (False, True):
        read = vi.load_mechanism(path, repair=repair)
        assert read.import_report.repaired == ()
        assert any(entry.file == str(part) for entry in read.import_report.read)


# ------------------------------------------------------------------------------------------------ the command

SHORT = ("--duration", "0.02", "--dt", "0.01")


@pytest.mark.parametrize(
    "command",
    [
        ("run", "FILE", *SHORT),
        ("run", "FILE", *SHORT, "--quiet"),
        ("convert", "FILE", "out.json"),
        ("compare", "FILE", "--duration", "0.02", "--dt", "0.01,0.005"),
        ("analyse", "reversal", "FILE", *SHORT),
        ("view", "FILE", *SHORT, "--html", "page.html"),
    ],
)
def test_commands_that_load_a_mechanism(command, written, tmp_path, monkeypatch, capsys):
    """The error names the option; with it the changes are lines on stderr."""
    monkeypatch.chdir(tmp_path)
    words = [str(written(urdf(WRONG))) if word == "FILE" else word for word in command]
    assert main(words) == 2
    assert "load the file with --repair" in capsys.readouterr().err
    assert main([*words, "--repair"]) == 0
    errors = capsys.readouterr().err
    assert errors.startswith(f"varint: repaired: '{tmp_path / 'r.urdf'}', line 3: link 'arm': no body has")


def test_info_lists_repairs(written, capsys):
    path = written(urdf(WRONG, before=HYPHENS + "\n"))
    assert main(["info", str(path)]) == 2
    assert "--repair" in capsys.readouterr().err
    assert main(["info", str(path), "--repair"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "2 repaired" in shown
    assert "line 1: comment with '--' inside, left out" in shown
    assert main(["info", str(path), "--repair", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["imported"]
    assert [(row["how"], row["line"]) for row in rows[:2]] == [("repaired", 1), ("repaired", 5)]
    toml = written('include = "r.urdf"\n[parameters]\nspeed = 1.0\n', "r.toml")
    assert main(["info", str(toml), "--repair"]) == 0
    assert "speed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("run", "four_bar"), "--repair applies to files"),
        (("info",), "none is named: leave out --repair"),
        (("info", "run.h5"), "'run.h5' is a run: leave out --repair"),
        (("view", "run.h5"), "leave out --repair"),
        (("compare", "--all"), "--all takes one --order"),
        (("analyse", "energy-trend", "run.h5"), "--repair has no effect on energy-trend"),
    ],
)
def test_the_option_is_refused_where_it_has_no_effect(words, why, capsys):
    assert main([*words, "--repair"]) == 2
    assert why in capsys.readouterr().err
