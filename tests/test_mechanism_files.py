"""Mechanisms in JSON as written by hand: keys, shapes, quaternions, lines in errors, and the look of what is saved."""

import copy
import dataclasses
import json
import re

import numpy as np
import pytest

import varint as vi
from varint.base.checks import unit_quaternion
from varint.files.own.body_data import SHAPES

CURVE = [np.eye(4).tolist() for _ in range(4)]
for k, pose in enumerate(CURVE):
    pose[0][3] = 0.1 * k
ENDS = {"body_a": "world", "point": [0, 0, 0]}
PENDULUM = {
    "name": "pendulum",
    "gravity": [0, 0, -9.81],
    "bodies": [
        {"name": "bob", "box": [0.1, 0.2, 0.3], "mass": 2.0, "position": [0, 0, -1], "quat_wxyz": [1, 0, 0, 0]},
        {"name": "disc", "cylinder": {"radius": 0.1, "length": 0.02}, "mass": 1.0},
        {"name": "hull", "composite": [{"name": "core", "sphere": {"radius": 0.2}, "mass": 1.0}, [0.5, [0, 0, 1]]]},
        {"name": "plain", "mass": 1.0, "inertia": np.eye(3).tolist()},
    ],
    "joints": [
        {"type": "Revolute", "name": "hinge", **ENDS, "body_b": "bob", "axis": [0, 1, 0]},
        {
            "type": "Composite",
            "name": "wrist",
            **ENDS,
            "body_b": "disc",
            "parts": [{"type": "Revolute", "axis": [0, 0, 1]}, {"type": "Prismatic", "axis": [1, 0, 0]}],
        },
        {"type": "SplineCurve", "name": "rail", **ENDS, "body_b": "hull", "frames": CURVE},
        {"type": "Free", "name": "float", "body_a": "world", "body_b": "plain"},
    ],
    "forces": [{"type": "Motor", "name": "motor", "joint": "hinge", "effort": 0.5}],
    "start": {"rates": {"hinge": 1.0}, "velocity": {"plain": [0, 0, 1]}},
}


def loaded(folder, data):
    path = folder / "m.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data, indent=1))
    return vi.load_mechanism(path)


def refused(folder, data) -> str:
    with pytest.raises(vi.MechanismError) as caught:
        loaded(folder, data)
    message = str(caught.value)
    assert message.startswith(f"'{folder / 'm.json'}'")
    assert "__init__" not in message
    assert "argument" not in message
    return message


def body_of(folder, **entry):
    """The body that an entry gives, floating."""
    entry = {"name": "b"} | entry
    free = {"type": "Free", "name": "free", "body_a": "world", "body_b": "b"}
    return loaded(folder, {"name": "one", "bodies": [entry], "joints": [free]}).bodies[0]


def wrong_body(folder, **entry):
    with pytest.raises(vi.MechanismError) as caught:
        body_of(folder, **entry)
    assert "__init__" not in str(caught.value)
    assert "m.json', line 4: " in str(caught.value)
    assert any(words in str(caught.value) for words in ("'b' (bodies[0]): ", "bodies[0]: ", "bodies[0].composite[0]"))
    return str(caught.value)


# ----------------------------------------------------------------------------------------------------- keys

LEVELS = {
    "top": (),
    "body": ("bodies", 3),
    "body with a shape": ("bodies", 0),
    "arguments of a shape": ("bodies", 1, "cylinder"),
    "part of a composite body": ("bodies", 2, "composite", 0),
    "arguments of the shape of a part": ("bodies", 2, "composite", 0, "sphere"),
    "joint": ("joints", 0),
    "spline": ("joints", 2),
    "composite joint": ("joints", 1),
    "part of a composite joint": ("joints", 1, "parts", 1),
    "force": ("forces", 0),
    "start": ("start",),
}
NAMED = {"rates": (("start", "rates"), "joint"), "velocity": (("start", "velocity"), "body")}


def at(data, place):
    for key in place:
        data = data[key]
    return data


def places(data, place=()):
    """Of all objects in the data."""
    if isinstance(data, dict):
        yield place
    for key, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield from places(value, (*place, key))


def test_the_sample_loads_and_every_level_of_it_is_tried(tmp_path):
    loaded(tmp_path, PENDULUM)
    tried = {*LEVELS.values(), *(place for place, _ in NAMED.values())}
    alike = {("bodies", 1), ("bodies", 2), ("joints", 1, "parts", 0), ("joints", 3)}
    assert set(places(PENDULUM)) - alike == tried


@pytest.mark.parametrize("level", LEVELS)
def test_a_misspelt_key_is_told_with_the_nearest(tmp_path, level):
    """Each key that stands there, a required one too, and one that is near none."""
    for key in at(PENDULUM, LEVELS[level]):
        data = copy.deepcopy(PENDULUM)
        inside = at(data, LEVELS[level])
        wrong = f"{key}x"
        renamed = [(wrong if name == key else name, value) for name, value in inside.items()]
        inside.clear()
        inside.update(renamed)
        assert f"unknown key '{wrong}'; did you mean '{key}'?" in refused(tmp_path, data)
    data = copy.deepcopy(PENDULUM)
    at(data, LEVELS[level])["qqqq"] = 1
    known = next(iter(at(PENDULUM, LEVELS[level])))
    message = refused(tmp_path, data)
    assert "unknown key 'qqqq'; known are " in message
    assert known in message.split("known are ")[1]


@pytest.mark.parametrize("which", NAMED)
def test_a_misspelt_name_in_the_start_is_told_with_the_nearest(tmp_path, which):
    place, one = NAMED[which]
    data = copy.deepcopy(PENDULUM)
    inside = at(data, place)
    (name,) = inside
    inside[f"{name}x"] = inside.pop(name)
    assert f"{which}: no {one} '{name}x', did you mean '{name}'?" in refused(tmp_path, data)


@pytest.mark.parametrize(
    "place", [("gravity",), ("bodies", 0, "position"), ("bodies", 0, "box"), ("joints", 2, "frames")]
)
def test_an_object_in_place_of_numbers_is_refused(tmp_path, place):
    data = copy.deepcopy(PENDULUM)
    at(data, place[:-1])[place[-1]] = {"z": -9.81}
    message = refused(tmp_path, data)
    assert "must be an array of numbers" in message or "unknown key 'z'" in message


def test_a_term_of_a_coupling_is_no_object(tmp_path):
    data = copy.deepcopy(PENDULUM)
    data["forces"] = [{"type": "Coupling", "name": "c", "terms": [{"joint": "hinge"}, ["rail", 0, 1.0]]}]
    assert "coupling 'c'" in refused(tmp_path, data)


def test_a_schema_for_editors_is_allowed_at_the_top_alone(tmp_path):
    loaded(tmp_path, {"$schema": "mechanism.schema.json"} | PENDULUM)
    data = copy.deepcopy(PENDULUM)
    data["bodies"][0]["$schema"] = "mechanism.schema.json"
    assert "unknown key '$schema'" in refused(tmp_path, data)


# --------------------------------------------------------------------------------------------------- shapes

TETRAHEDRON = {
    "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "triangles": [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
}
TURNED = [0.6, 0.0, 0.8, 0.0]
SAMPLES = {  # the value of the key, and the same as arguments of the constructor
    "box": ([0.1, 0.2, 0.3], {"size": (0.1, 0.2, 0.3)}),
    "cylinder": ({"radius": 0.1, "length": 0.5},) * 2,
    "capsule": ({"radius": 0.1, "length": 0.5},) * 2,
    "sphere": (0.3, {"radius": 0.3}),
    "ellipsoid": ([0.1, 0.2, 0.3], {"semi_axes": (0.1, 0.2, 0.3)}),
    "rod": ({"start": [0, 0, 0], "end": [1, 0, 1], "radius": 0.02},) * 2,
    "mesh": (TETRAHEDRON, TETRAHEDRON),
    "composite": (
        [{"name": "ball", "sphere": 0.3, "mass": 2.0, "position": [1, 0, 0]}, [0.5, [0, 0, 1]]],
        {"parts": [vi.Body.sphere("ball", 0.3, 2.0, position=(1, 0, 0)), (0.5, (0, 0, 1))]},
    ),
}


def same_body(one, other):
    names = ("mass", "inertia", "position", "quat_wxyz")
    return all(np.asarray(getattr(one, n)).tobytes() == np.asarray(getattr(other, n)).tobytes() for n in names)


@pytest.mark.parametrize("shape", SHAPES)
def test_each_shape_is_that_of_the_constructor_and_is_saved_as_mass_inertia_and_solids(tmp_path, shape):
    value, sizes = SAMPLES[shape]
    beside = {"mass": 2.5, "position": [0.1, 0.2, 0.3], "quat_wxyz": TURNED}
    beside = {name: given for name, given in beside.items() if name in SHAPES[shape]}
    made = getattr(vi.Body, shape)("b", **sizes, **beside)
    body = body_of(tmp_path, **{shape: value}, **beside)
    assert same_body(body, made)
    mechanism = vi.load_mechanism(tmp_path / "m.json")
    vi.save_mechanism(mechanism, tmp_path / "again.json")
    (entry,) = json.loads((tmp_path / "again.json").read_text())["bodies"]
    assert set(entry) == {"name", "mass", "inertia", "position", "quat_wxyz", "solids"}
    again = vi.load_mechanism(tmp_path / "again.json").bodies[0]
    assert same_body(again, made)
    for solid, own in zip(again.solids, made.solids, strict=True):
        assert solid.kind == own.kind
        names = ("sizes", "position", "quat_wxyz", "vertices", "triangles")
        assert all(getattr(solid, name).tobytes() == getattr(own, name).tobytes() for name in names)


def test_every_constructor_of_a_body_is_a_shape():
    returned = {name for name, value in vars(vi.Body).items() if isinstance(value, classmethod) and name[0] != "_"}
    assert set(SHAPES) == returned == set(SAMPLES)


def test_defaults_of_the_constructors_hold(tmp_path):
    assert same_body(body_of(tmp_path, sphere=0.1, mass=1.0), vi.Body.sphere("b", 0.1, 1.0))
    rod = {"start": [0, 0, 0], "end": [0, 0, 1]}
    assert same_body(body_of(tmp_path, rod=rod, mass=1.0), vi.Body.rod("b", (0, 0, 0), (0, 0, 1), 1.0))
    assert same_body(body_of(tmp_path, box={"size": [1, 1, 1]}, mass=1.0), vi.Body.box("b", (1, 1, 1), 1.0))


def test_parts_of_a_part(tmp_path):
    inner = {"name": "pair", "composite": [{"name": "ball", "sphere": 0.3, "mass": 2.0}, [0.5, [0, 0, 1]]]}
    body = body_of(tmp_path, composite=[inner, [0.5, [0, 1, 0]]])
    pair = vi.Body.composite("pair", [vi.Body.sphere("ball", 0.3, 2.0), (0.5, (0, 0, 1))])
    assert same_body(body, vi.Body.composite("b", [pair, (0.5, (0, 1, 0))]))


EYE = np.eye(3).tolist()
WRONG_SHAPES = {
    "two": ({"box": [1, 1, 1], "sphere": 0.1, "mass": 1.0}, "a body has one shape, got 'box' and 'sphere'"),
    "an inertia": ({"box": [1, 1, 1], "inertia": EYE, "mass": 1.0}, "'inertia' follows from the shape, 'box'"),
    "no mass": ({"box": [1, 1, 1]}, "needs mass or density, one of the two, got neither"),
    "no length": ({"cylinder": {"radius": 0.1}, "mass": 1.0}, "'length' of 'cylinder' missing"),
    "a number for two": ({"cylinder": 0.1, "mass": 1.0}, "cylinder must be an object with radius, length, got 0.1"),
    "a list for two": ({"cylinder": [0.1, 1], "mass": 1.0}, "cylinder must be an object with radius, length, got [0.1"),
    "misspelt size": ({"sphere": {"radus": 0.1}, "mass": 1.0}, "sphere: unknown key 'radus'; did you mean 'radius'?"),
    "misspelt shape": ({"spere": 0.1, "mass": 1.0}, "unknown key 'spere'; did you mean 'sphere'?"),
    "mass inside": ({"sphere": {"radius": 0.1, "mass": 1.0}}, "sphere: unknown key 'mass'"),
    "density": ({"sphere": 0.1, "density": 1.0, "mass": 1.0}, "needs mass or density, one of the two, got both"),
    "density without a shape": ({"mass": 1.0, "density": 1.0}, "density needs a shape"),
    "name inside": ({"sphere": {"radius": 0.1, "name": "c"}, "mass": 1.0}, "sphere: unknown key 'name'"),
    "no size": ({"sphere": {}, "mass": 1.0}, "'radius' of 'sphere' missing"),
    "nothing": ({"sphere": None, "mass": 1.0}, "radius of body 'b' must be a number, got None"),
    "negative": ({"sphere": -1, "mass": 1.0}, "radius of body 'b' must be positive, got -1"),
    "sizes": ({"box": [1, 1], "mass": 1.0}, "size of body 'b' must be an array of numbers of shape (3,), got shape"),
    "place of a rod": (
        {"rod": {"start": [0, 0, 0], "end": [1, 0, 0]}, "mass": 1.0, "position": [0, 0, 0]},
        "'position' follows from 'rod': leave it out",
    ),
    "mass of parts": ({"composite": [[0.5, [0, 0, 1]]], "mass": 1.0}, "'mass' follows from 'composite': leave it out"),
    "no parts": ({"composite": []}, "body 'b' has no parts"),
    "parts no list": ({"composite": "all"}, "parts of body 'b' must be a list of bodies and point masses, got 'all'"),
    "a part without a name": ({"composite": [{"sphere": 1.0, "mass": 1.0}]}, "bodies[0].composite[0]: 'name' missing"),
    "a part misspelt": (
        {"composite": [{"name": "c", "sphere": 1.0, "mas": 1.0}]},
        "part 'c' (bodies[0].composite[0]): unknown key 'mas'; did you mean 'mass'?",
    ),
    "a point mass of one": ({"composite": [[0.5]]}, "part 0 of body 'b' must be a Body or (mass, position), got [0.5]"),
}


@pytest.mark.parametrize("case", WRONG_SHAPES)
def test_wrong_shapes_are_told_by_the_body(tmp_path, case):
    entry, words = WRONG_SHAPES[case]
    assert words in wrong_body(tmp_path, **entry)


def test_parts_nested_too_deep_are_told(tmp_path):
    """Those that JSON can still be read with; deeper ones than that are refused with the text."""

    def nested(deep):
        part = '{"name": "b", "composite": [' * deep + '{"name": "c", "sphere": 1.0, "mass": 1.0}' + "]}" * deep
        joint = '{"type": "Free", "name": "f", "body_a": "world", "body_b": "b"}'
        return f'{{"name": "m", "bodies": [{part}], "joints": [{joint}]}}'

    assert same_body(loaded(tmp_path, nested(50)).bodies[0], vi.Body.sphere("b", 1.0, 1.0))
    assert "parts of a body or a joint are nested too deep" in refused(tmp_path, nested(420))


# ---------------------------------------------------------------------------------------------- quaternions


def test_quaternions_of_a_few_digits_are_normalised(tmp_path):
    rounded = [0.7071, 0.7071, 0.0, 0.0]
    exact = np.array([np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0])
    body = body_of(tmp_path, sphere=0.1, mass=1.0, quat_wxyz=rounded)
    assert np.abs(body.quat_wxyz - exact).max() < 1e-15
    assert np.abs(vi.Body.sphere("b", 0.1, 1.0, quat_wxyz=rounded).quat_wxyz - exact).max() < 1e-15
    started = copy.deepcopy(PENDULUM)
    started["start"] = {"quat_wxyz": {"plain": rounded}}
    assert np.abs(loaded(tmp_path, started).state().quat_wxyz[3] - exact).max() < 1e-15


@pytest.mark.parametrize("scale", [1 - 1.01e-4, 1 + 1.01e-4, 0.0, 2.0])
def test_quaternions_that_are_none_are_refused(tmp_path, scale):
    quat = [0.6 * scale, 0.8 * scale, 0, 0]
    assert "quat_wxyz of body 'b' must have norm 1" in wrong_body(tmp_path, sphere=0.1, mass=1.0, quat_wxyz=quat)


def test_unit_quaternions_keep_their_bits(rng):
    for _ in range(500):
        quat = unit_quaternion(np.round(_unit(rng), 5), "q")
        assert abs(np.linalg.norm(quat) - 1) < 4e-16
        assert unit_quaternion(quat, "q").tobytes() == quat.tobytes()
        assert unit_quaternion(quat.tolist(), "q").tobytes() == quat.tobytes()


ROUNDED = 1 + 5e-5
USES = {
    "simulate": lambda mechanism, state: vi.simulate(mechanism, 0.1, 0.01, state=state).quat_wxyz[-1],
    "reduced": lambda mechanism, state: vi.redmax.simulate(mechanism, 0.1, state=state).quat_wxyz[-1],
    "diagnose": lambda mechanism, state: np.array([mechanism.diagnose(state).mobility]),
    "sweep": lambda mechanism, state: mechanism.sweep("joint 1", [0.1], state).position[-1],
    "assemble": lambda mechanism, state: mechanism.assemble(state).quat_wxyz,
}


@pytest.mark.parametrize("use", USES)
def test_states_take_rounded_quaternions_as_bodies_do(use):
    mechanism = vi.mechanisms.double_pendulum()
    state = mechanism.state(rates={"joint 1": 1.0})
    rounded, wrong = (dataclasses.replace(state, quat_wxyz=state.quat_wxyz * k) for k in (ROUNDED, 1.001))
    assert USES[use](mechanism, rounded) == pytest.approx(USES[use](mechanism, state), abs=1e-12)
    with pytest.raises(vi.StateError, match=r"quat_wxyz of body 'link 1' in the .* must have norm 1, got norm 1\.001"):
        USES[use](mechanism, wrong)


def _unit(rng):
    quat = rng.standard_normal(4)
    return quat / np.linalg.norm(quat)


# ------------------------------------------------------------------------------------------ lines in errors


def line_in(text, words):
    return next(number for number, line in enumerate(text.splitlines(), 1) if words in line)


@pytest.mark.parametrize(
    "change", [("bodies", 2, "mass"), ("bodies", 0, "mas"), ("joints", 1, "axs"), ("forces", 0, "efort")]
)
def test_wrong_elements_are_told_with_their_line(tmp_path, change):
    """Of the line that the element begins at."""
    which, number, key = change
    data = copy.deepcopy(PENDULUM)
    data[which][number] = {"name": "here", key: "wrong"} | data[which][number] | {"name": "here"}
    text = json.dumps(data, indent=1)
    begins = line_in(text, '"here"') - 1
    assert f"'{tmp_path / 'm.json'}', line {begins}: " in refused(tmp_path, text)


OF_THE_WHOLE = {
    "no such body": (("joints", 3, "body_b"), "planed", "free joint 'float': no body 'planed', did you mean 'plain'?"),
    "no joint": (("joints", 3, "body_b"), "hull", "body 'plain' is connected to nothing"),
    "no such joint": (("forces", 0, "joint"), "hing", "motor 'motor': no joint 'hing', did you mean 'hinge'?"),
    "no coordinate": (("forces", 0, "coordinate"), 1, "motor 'motor': revolute joint 'hinge' has no coordinate 1"),
}


@pytest.mark.parametrize("case", OF_THE_WHOLE)
def test_elements_that_do_not_fit_the_others_are_told_with_their_line(tmp_path, case):
    place, value, words = OF_THE_WHOLE[case]
    data = copy.deepcopy(PENDULUM)
    at(data, place[:-1])[place[-1]] = value
    lists = {key: "[\n" + ",\n".join(map(json.dumps, data[key])) + "]" for key in ("bodies", "joints", "forces")}
    text = '{"name": "m",\n' + ",\n".join(f'"{key}": {value}' for key, value in lists.items()) + "}"
    whose = words.split("'")[1]
    begins = line_in(text, f'"name": "{whose}"')
    assert f"m.json', line {begins}: {words}" in refused(tmp_path, text)


def test_a_key_that_is_repeated_is_told_with_its_line(tmp_path):
    """Of the second one, not where the key stands once in several objects, or as a value."""
    lines = [
        '{"name": "mass",',
        '"bodies": [{"mass": 1.0},',
        '{"name": "b", "mass": 1.0,',
        '"m\\u0061ss": 2.0}],',
        '"mass": 0}',
    ]
    with pytest.raises(vi.FileError, match=r"m\.json', line 4: the key 'mass' of 'b' stands there twice"):
        loaded(tmp_path, "\n".join(lines))


def test_the_line_is_that_of_the_list_at_the_top(tmp_path):
    """Not of one of the same name deeper, or of a text, and brackets inside texts do not count."""
    text = """{
"name": "bodies [{",
"start": {"rates": {"bodies": [1, 2]}},
"forces": [], "joints": [],
"b\\u006fdies": [
  {"name": "a ]}", "mass": 1.0, "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]},

  {"name": "b", "mass": 0.0,
   "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}
]}"""
    assert "m.json', line 8: bodies[1]: mass of body 'b' must be positive" in refused(tmp_path, text)


# ---------------------------------------------------------------------------------------- what is written


def test_arrays_stand_on_one_line_and_long_matrices_row_by_row(tmp_path):
    path = tmp_path / "m.json"
    mechanism = loaded(tmp_path, PENDULUM)
    vi.save_mechanism(mechanism, path)
    lines = [line.strip() for line in path.read_text().splitlines()]
    assert '"point": [0.0, 0.0, 0.0],' in lines
    assert '"inertia": [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],' in lines
    assert '"frames": [' in lines  # four matrices of 4 by 4, a matrix a line
    assert "[[1.0, 0.0, 0.0, 0.1], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]," in lines
    assert '"parts": [' in lines
    assert all(len(line) <= 120 for line in lines)
    inertia = np.eye(3) + np.full((3, 3), 1 / 30)
    turned = vi.Body("b", mass=1.0, inertia=inertia, quat_wxyz=TURNED)
    vi.save_mechanism(vi.Mechanism("one", [turned], [vi.Free("f", "world", "b")]), path)
    rows = path.read_text().split('"inertia": [')[1].split('],\n   "position')[0].splitlines()
    assert len(rows) == 5
    assert np.array_equal(json.loads("[" + "".join(rows) + "]"), turned.inertia)


@pytest.mark.parametrize("name", vi.mechanisms.NAMES)
def test_the_catalogue_comes_back_to_the_bit(tmp_path, name):
    from varint.files.own.mechanism_data import to_data

    mechanism = getattr(vi.mechanisms, name)()
    if any(callable(value) for force in mechanism.forces for value in vars(force).values()):
        with pytest.raises(vi.MechanismError, match="is a function, which no file can hold"):
            vi.save_mechanism(mechanism, tmp_path / "m.json")
        return
    vi.save_mechanism(mechanism, tmp_path / "m.json")
    assert json.loads((tmp_path / "m.json").read_text()) == json.loads(json.dumps(to_data(mechanism)))
    vi.save_mechanism(vi.load_mechanism(tmp_path / "m.json"), tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "m.json").read_bytes()


# ------------------------------------------------------------------------------------------------- suffixes


@pytest.mark.parametrize("name", ["m.yaml", "m", "m.JSONX", ".json.usd"])
def test_suffixes_that_are_not_known_are_refused(tmp_path, name):
    path = tmp_path / name
    ends = r"\.json or \.mjcf or \.toml or \.urdf or \.xml"
    with pytest.raises(vi.FileError, match=rf"cannot write .*: files of mechanisms that can be written end in {ends}$"):
        vi.save_mechanism(vi.mechanisms.double_pendulum(), path)
    assert not path.exists()
    path.write_text(json.dumps(PENDULUM))
    with pytest.raises(
        vi.FileError,
        match=r"cannot read .*: files of mechanisms that can be read end in \.json or \.mjcf or \.osim or \.py or",
    ):
        vi.load_mechanism(path)


def test_files_of_the_other_kind_are_told(tmp_path):
    mechanism = vi.mechanisms.double_pendulum()
    vi.save_mechanism(mechanism, tmp_path / "m.json")
    with pytest.raises(vi.FileError, match=r"file of a mechanism: varint\.load_mechanism reads it"):
        vi.load(tmp_path / "m.json")
    with pytest.raises(vi.FileError, match=r"varint\.load reads the run"):
        vi.load_mechanism(tmp_path / "m.h5")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty"),
        ('{\n"name": "m",\n"bodies": [],\n}', "line 3: a comma behind the last element"),
        ('{\n"bodies": [1, 2,\n]}', "line 2: a comma behind the last element"),
        ('{\n"name": "m", // mine\n"bodies": []}', "line 2: JSON has no comments"),
        ("<robot/>", "line 1: this is no JSON"),
    ],
)
def test_what_is_no_json_is_told_in_plain_words(text, words, tmp_path):
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(vi.FileError, match=re.escape(words)):
        vi.load_mechanism(tmp_path / "m.json")
