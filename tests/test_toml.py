"""Mechanisms in TOML: parameters, arithmetic, included files, places in errors."""

import dataclasses
import math
import re
import tomllib

import numpy as np
import pytest

import varint as vi
from varint.cli import main
from varint.files.own.expressions import LONGEST, Refused, evaluated
from varint.files.own.mechanism_data import to_data
from varint.files.own.toml_places import line_and_column, places_of

ARM = """\
name = "arm"
gravity = [0, 0, "-g"]

[parameters]
g = 9.81
length = 0.4
tip = "(length, 0, 0)"

[bodies."upper arm"]
rod = {start = [0, 0, 0], end = "tip", radius = "length / 40"}
density = 2700

[joints.shoulder]
type = "Revolute"
body_a = "world"
body_b = "upper arm"
point = [0, 0, 0]
axis = [0, 1, 0]

[forces.spring]
type = "TorsionSpring"
joint = "shoulder"
stiffness = "3 * g * length"

[start.rates]
shoulder = "pi / 2"
"""


def loaded(tmp_path, text=ARM, **parameters):
    path = tmp_path / "arm.toml"
    path.write_text(text)
    return vi.load_mechanism(path, parameters)


def refused(tmp_path, text, **parameters):
    with pytest.raises((vi.FileError, vi.MechanismError)) as problem:
        loaded(tmp_path, text, **parameters)
    return str(problem.value).replace(f"'{tmp_path / 'arm.toml'}'", "FILE")


# ------------------------------------------------------------------------------------------------- what a file says


def test_what_it_says(tmp_path):
    mechanism = loaded(tmp_path)
    body = vi.Body.rod("upper arm", (0, 0, 0), (0.4, 0, 0), math.pi * 0.01**2 * 0.4 * 2700, radius=0.01)
    joint = vi.Revolute("shoulder", "world", "upper arm", point=(0, 0, 0), axis=(0, 1, 0))
    spring = vi.TorsionSpring("spring", joint="shoulder", stiffness=3 * 9.81 * 0.4)
    start = {"rates": {"shoulder": math.pi / 2}}
    own = vi.Mechanism("arm", bodies=[body], joints=[joint], forces=[spring], start=start)
    assert to_data(mechanism)["bodies"][0]["mass"] == pytest.approx(body.mass, rel=1e-15)
    np.testing.assert_allclose(mechanism.bodies[0].inertia, body.inertia, rtol=1e-15)
    for key in ("name", "gravity", "joints", "forces", "start"):
        assert to_data(mechanism)[key] == to_data(own)[key]


def test_parameters_are_changed(tmp_path):
    longer = loaded(tmp_path, length=0.8)
    assert longer.bodies[0].position[0] == 0.4
    assert longer.forces[0].stiffness == pytest.approx(3 * 9.81 * 0.8)
    assert loaded(tmp_path, tip=[0, 0, 0.1]).bodies[0].position[2] == 0.05
    assert loaded(tmp_path, length="2 * g").bodies[0].position[0] == pytest.approx(9.81)


@pytest.mark.parametrize("name", vi.mechanisms.NAMES)
def test_the_catalogue_comes_back_to_the_same_bits(tmp_path, name):
    mechanism = getattr(vi.mechanisms, name)()
    vi.save_mechanism(mechanism, tmp_path / "m.toml")
    assert repr(to_data(vi.load_mechanism(tmp_path / "m.toml"))) == repr(to_data(mechanism))


def test_names_of_any_kind_come_back(tmp_path):
    plain = vi.mechanisms.double_pendulum()
    for name in ('a "b".[c] = #d', "höhe'\x7f\t\\", "1.1", "name"):
        bodies = [dataclasses.replace(plain.bodies[0], name=name), plain.bodies[1]]
        ends = [("world", name), (name, plain.bodies[1].name)]
        joints = [
            dataclasses.replace(joint, body_a=a, body_b=b) for joint, (a, b) in zip(plain.joints, ends, strict=True)
        ]
        mechanism = vi.Mechanism(name, bodies=bodies, joints=joints)
        vi.save_mechanism(mechanism, tmp_path / "m.toml")
        assert to_data(vi.load_mechanism(tmp_path / "m.toml")) == to_data(mechanism)


def test_composites_and_couplings(tmp_path):
    text = (
        ARM
        + """
[bodies.hand]
composite = [
    {name = "palm", box = [0.1, "length / 20", 0.02], mass = 0.3, position = "tip"},
    [0.05, ["length + 0.1", 0, 0]],
]
[joints.wrist]
type = "Composite"
body_a = "upper arm"
body_b = "hand"
point = "tip"
parts = [{type = "Revolute", axis = [0, "sin(pi / 2)", 0]}, {type = "Prismatic", axis = [1, 0, 0]}]
[bodies.wheel]
cylinder = {radius = 0.1, length = 0.02}
mass = 0.1
[joints.axle]
type = "Revolute"
body_a = "world"
body_b = "wheel"
point = [0, 0, 0]
axis = [0, 1, 0]
[forces.tie]
type = "Coupling"
terms = [["shoulder", 0, "-length"], ["axle", 0, 1]]
"""
    )
    mechanism = loaded(tmp_path, text)
    assert mechanism.bodies[1].mass == pytest.approx(0.35)
    assert mechanism.joints[1].parts[0]["axis"] == [0, 1.0, 0]
    assert mechanism.forces[1].terms == (("shoulder", 0, -0.4), ("axle", 0, 1.0))


# ------------------------------------------------------------------------------------------------- included files


def test_files_are_included(tmp_path):
    (tmp_path / "parts").mkdir()
    hand = (
        ARM.split("[bodies")[0].replace("length = 0.4", "length = 0.1").replace('name = "arm"', "").replace("-g", "g")
    )
    hand += '[bodies.hand]\nsphere = "length"\nmass = 0.2\nposition = "tip"\n'
    hand += '[joints.wrist]\ntype = "Fixed"\nbody_a = "upper arm"\nbody_b = "hand"\npoint = "tip"\n'
    (tmp_path / "parts" / "hand.toml").write_text(hand)
    mechanism = loaded(tmp_path, 'include = ["parts/hand.toml"]\n' + ARM)
    assert [body.name for body in mechanism.bodies] == ["hand", "upper arm"]
    assert mechanism.bodies[0].inertia[0, 0] == pytest.approx(0.4 * 0.2 * 0.4**2)  # the file that includes wins
    assert mechanism.gravity[2] == -9.81
    vi.save_mechanism(mechanism, tmp_path / "arm.json")
    again = 'name = "again"\ninclude = "arm.json"\n'
    assert to_data(loaded(tmp_path, again))["bodies"] == to_data(mechanism)["bodies"]


WRONG_INCLUDES = {
    "outside": ('include = "../other.toml"', "FILE, line 1, column 1 includes .*outside the folder"),
    "anywhere": ('include = "/etc/passwd"', "outside the folder"),
    "itself": ('include = "arm.toml"', "is there already"),
    "a script": ('include = "script.py"', r"files that can be included end in \.toml or \.json"),
    "no file": ('include = "none.toml"', "cannot read .*none.toml'"),
    "numbers": ("include = [1]", "include must be the names of files, got 1"),
    "twice": ('include = "twice.toml"', r"bodies.upper arm stands in .*twice.toml', line 2, column 1 already"),
}


@pytest.mark.parametrize("case", WRONG_INCLUDES)
def test_what_is_not_included(tmp_path, case):
    line, words = WRONG_INCLUDES[case]
    (tmp_path / "script.py").write_text("raise SystemExit")
    (tmp_path / "twice.toml").write_text('\n[bodies."upper arm"]\nmass = 1\n')
    message = refused(tmp_path, f"{line}\n{ARM}")
    assert re.search(words, message), message


# ------------------------------------------------------------------------------------------------- errors

WRONG = {
    "unclosed": ("g = 9.81", "g = [9.81", r"FILE, line \d+, column \d+: unclosed array .*: close the list by \]"),
    "twice": ("g = 9.81", "g = 9.81\ng = 1", "FILE, line 6, column 6: cannot overwrite a value in 'g = 1': each key"),
    "no value": ("g = 9.81", "g = length / 2", "FILE, line 5, column 5: invalid value in 'g = length / 2': texts and"),
    "no key": ("g = 9.81", "g 9.81", "FILE, line 5, column 3: expected '=' after a key .*: write key = value"),
    "two keys": ("g = 9.81", "g = 9.81 h = 2", "FILE, line 5, column 10: expected newline .*: write one key a line"),
    "open text": ("g = 9.81", 'g = "9.81', "FILE, line 5, column 10: .*: close the text by a quote on the same line"),
    "top": ("gravity =", "gravty =", "FILE, line 2, column 1: unknown key 'gravty', did you mean 'gravity'"),
    "key": ("density =", "densty =", "FILE, line 11, column 1: body 'upper arm' .*unknown key 'densty'"),
    "type": ('"Revolute"', '"Revolut"', "FILE, line 14, column 1: .*did you mean 'Revolute'"),
    "name": ('"length / 40"', '"lenth / 40"', "FILE, line 10, column 1: .*'lenth', did you mean 'length'?"),
    "arithmetic": ('"length / 40"', '"length / (g - g)"', "line 10, column 1: .* has no value: float division by zero"),
    "root": ('"length / 40"', '"sqrt(-length)"', "line 10, column 1: .* has no value"),
    "circle": ("length = 0.4", 'length = "tip"', "line [67], column 1: .* it is needed for itself"),
    "text": ("length = 0.4", "length = true", "line 6, column 1: parameter 'length': must be a number"),
    "value": ("axis = [0, 1, 0]", "axis = [0, 0, 0]", "FILE, line 18, column 1: .*axis of .* must not be zero"),
    "table": ("[bodies.", "[bodies]\nb = 1\n[bodies.", "FILE, line 10, column 1: bodies.b must be a table"),
    "own name": ("density = 2700", 'density = 2700\nname = "b"', "FILE, line 12, column 1: leave out 'name'"),
    "number": ("[start.rates]\n", "[start.rates]\nelbow = 1\n", "no joint 'elbow'"),
    "gravity": ('"-g"]', '"-g", 0]', "FILE, line 2, column 1: gravity of mechanism 'arm' must be"),
    "a key for a text": ("body_b", "body_c", r"FILE, line 16, column 1: .*unknown key 'body_c'"),
    "a key for a list of texts": ('body_b = "upper arm"', 'between = ["world"]', r"FILE, line 16, .*key 'between'"),
    "no type": ("type =", "typ =", "FILE, line 14, column 1: .*'typ'"),
    "a table": ("[parameters]", "[x.y]\n[parameters]", "FILE, line 4, column 1: unknown key 'x': there are format"),
    "list": ("[parameters]", "[[parameters]]", "FILE, line 4, column 1: parameters must be a table"),
}


@pytest.mark.parametrize("case", WRONG)
def test_errors_tell_line_and_column(tmp_path, case):
    old, new, words = WRONG[case]
    assert old in ARM
    message = refused(tmp_path, ARM.replace(old, new, 1))
    assert re.search(words, message), message


def test_all_mistakes_are_told_at_once(tmp_path):
    """By their lines: unknown keys, expressions and values, in one table too, and none that another causes."""
    wrong = ARM
    for old, new in (
        ("gravity =", "gravty ="),
        ('"length / 40"', '"lenth / 40"'),
        ("body_b =", "body_c ="),
        ("axis = [0, 1, 0]", "axis = [0, 0, 0]"),
        ("stiffness = ", "stifness = "),
        ('"pi / 2"', '"pie / 2"'),
    ):
        assert wrong.count(old) == 1
        wrong = wrong.replace(old, new)
    words = ["'gravty'", "'lenth'", "unknown key 'body_c'", "axis of .* must not be zero", "'stifness'", "'pie'"]
    lines = refused(tmp_path, wrong).splitlines()
    assert [int(re.match(r"FILE, line (\d+), column 1: ", line)[1]) for line in lines] == [2, 10, 16, 18, 23, 26]
    for line, word in zip(lines, words, strict=True):
        assert re.search(word, line), line


def test_the_command_prints_a_line_for_each_mistake(tmp_path, capsys):
    from varint.cli import main

    path = tmp_path / "arm.toml"
    path.write_text(ARM.replace("gravity =", "gravty =").replace("body_b =", "body_c ="))
    for command in (["info", str(path)], ["info", str(path), "--json"]):
        assert main(command) == 2
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == 2
        for line, number in zip(lines, (2, 16), strict=True):
            assert line.startswith(f"varint: error: '{path}', line {number}, column 1: ")


def test_a_wrong_parameter_is_one_mistake(tmp_path):
    message = refused(tmp_path, ARM.replace("length = 0.4", 'length = "lenght"'))
    assert message.count("parameter 'length'") == 1
    assert refused(
        tmp_path, ARM.replace("[forces.spring]", "\n".join(f"[bodies.b{k}]" for k in range(30)) + "\n[forces.spring]")
    ).endswith("and 10 more")


def test_parameters_that_there_are_none(tmp_path):
    with pytest.raises(vi.ArgumentError, match="has no parameter 'lenght', did you mean 'length'"):
        loaded(tmp_path, lenght=1.0)
    vi.save_mechanism(vi.mechanisms.four_bar(), tmp_path / "m.json")
    with pytest.raises(vi.ArgumentError, match="has no parameters"):
        vi.load_mechanism(tmp_path / "m.json", {"a": 1})
    assert refused(tmp_path, ARM, length="a + ").startswith("parameter 'length': 'a + ' is no number")


def test_what_is_no_text_is_refused(tmp_path):
    path = tmp_path / "m.toml"
    path.write_bytes(b'name = "\xff"')
    with pytest.raises(vi.FileError, match="line 1: not a text file in UTF-8"):
        vi.load_mechanism(path)
    path.write_text("a = " + "[" * 100_000)
    with pytest.raises(vi.FileError, match=r"nested too deep|line 1"):
        vi.load_mechanism(path)
    path.write_text("a = " + "9" * 10_000)
    with pytest.raises(vi.FileError, match=r"m\.toml"):
        vi.load_mechanism(path)


# ------------------------------------------------------------------------------------------------- arithmetic


def value(text, **names):
    return evaluated(text, names.get, list(names))


def test_arithmetic():
    assert value("1 + 2 * 3 ** 2 / 4 - -1") == 1 + 2 * 9 / 4 + 1
    assert value("-a**2", a=3.0) == -9.0
    assert value("sqrt(2) * cos(pi / 3) + sin(1) / tan(1)") == math.sqrt(2) * math.cos(math.pi / 3) + math.cos(1) * (
        math.sin(1) / math.sin(1)
    ) * (math.sin(1) / math.tan(1)) / math.cos(1)
    assert value("(1, 2) + [3, 4] * 2 - (1, 1) / 2") == [6.5, 9.5]
    assert value("-(a, 2)", a=[1.0, 2.0]) == [[-1.0, -2.0], -2.0]


@pytest.mark.parametrize(
    "text",
    [
        "", "1 +", "a", "'a'", "1j", "True", "None", "a.b", "(1, 2)[0]", "[x for x in (1, 2)]", "lambda: 1",
        "1 if 1 else 2", "__import__('os')", "sqrt(1, 2)", "sqrt(x=1)", "sqrt", "abs(1)", "1 < 2", "1 // 2", "5 % 2",
        "2 @ 3", "~1", "not 1", "(1, 2) * (3, 4)", "(1, 2) / (3, 4)", "(1, 2) + (1, 2, 3)", "1 + (1, 2)", "1 / (1, 2)",
        "2 ** (1, 2)", "sqrt((1, 2))", "1 / 0", "10 ** 400", "(-1) ** 0.5", "9" * 5000, "(" * 300 + "1" + ")" * 300,
        "-" * (LONGEST - 1) + "1", "f'{1}'", "x := 1", "*(1, 2)", "1; 2", "\x00",
    ],
)  # fmt: skip
def test_all_else_is_refused(text):
    with pytest.raises(Refused):
        value(text)


def test_large_powers_end_at_once():
    assert value("2.0 ** 1000") == 2.0**1000
    with pytest.raises(Refused, match="has no value"):
        value("9 ** 9 ** 9 ** 9")


# ------------------------------------------------------------------------------------------------- places


def test_places():
    text = 'a = 1 # [b]\n"x.y" = """\n[c]\nz = 1\n"""\n[ t . "u v" ]\n  k.l = [\n  1, # =\n]\n'
    text += "m = {n = 1}\n[[list]]\n'q' = \"\"\n"
    tomllib.loads(text)
    found = {path: line_and_column(text, place) for path, place in places_of(text).items()}
    assert found == {
        ("a",): "line 1, column 1",
        ("x.y",): "line 2, column 1",
        ("t", "u v"): "line 6, column 1",
        ("t", "u v", "k", "l"): "line 7, column 3",
        ("t", "u v", "m"): "line 10, column 1",
        ("list",): "line 11, column 1",
        ("list", "q"): "line 12, column 1",
    }


# ------------------------------------------------------------------------------------------------- commands


def test_commands(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    loaded(tmp_path)
    assert main(["convert", "arm.toml", "arm.json", "-p", "length=0.5", "--quiet"]) == 0
    assert vi.load_mechanism("arm.json").bodies[0].position[0] == 0.25
    assert main(["convert", "arm.json", "arm.toml"]) == 2
    assert "'arm.toml' exists: --force to replace it" in capsys.readouterr().err
    assert main(["convert", "four_bar", "bar.toml", "--quiet"]) == 0
    assert to_data(vi.load_mechanism("bar.toml")) == to_data(vi.mechanisms.four_bar())
    assert main(["convert", "four_bar", "bar.urdf"]) == 2
    assert main(["info", "arm.toml", "-p", "lenght=1"]) == 2
    assert "no parameter 'lenght', did you mean 'length'" in capsys.readouterr().err
    (tmp_path / "bar.py").write_text(
        "import varint as vi\ndef build(crank=0.4):\n    return vi.mechanisms.four_bar(crank=crank)"
    )
    assert main(["convert", "bar.py", "script.json", "-p", "crank=0.3", "--quiet"]) == 0
    assert to_data(vi.load_mechanism("script.json")) == to_data(vi.mechanisms.four_bar(crank=0.3))


@pytest.mark.slow
def test_members_of_an_ensemble_have_its_parameters(tmp_path):
    loaded(tmp_path)
    found = vi.ensemble(tmp_path / "arm.toml", {"length": [0.3, 0.4]}, duration=0.01, dt=0.005, workers=1)
    assert [member.parameters["length"] for member in found] == [0.3, 0.4]
