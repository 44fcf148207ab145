"""The JSON Schema of mechanism files allows what the package reads, and nothing that is misspelt."""

import copy
import json
from pathlib import Path

import numpy as np
import pytest
from force_samples import sample_mechanism, samples
from fuzz.json_files import originals
from jsonschema import Draft202012Validator
from test_mechanism_files import ENDS, LEVELS, PENDULUM, SAMPLES, WRONG_SHAPES, at

import varint as vi
from varint.files.own.body_data import SHAPES
from varint.model.forces import FORCES
from varint.model.joints import NAMES

ROOT = Path(__file__).parent.parent
SCHEMA = json.loads((ROOT / "docs" / "mechanism.schema.json").read_text())
VALIDATOR = Draft202012Validator(SCHEMA)


def allowed(data) -> bool:
    return VALIDATOR.is_valid(json.loads(json.dumps(data)))


def holds_functions(mechanism) -> bool:
    return any(callable(value) for force in mechanism.forces for value in vars(force).values())


def with_body(**entry):
    return {"name": "one", "bodies": [{"name": "b"} | entry], "joints": []}


def test_it_is_of_today(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    import generate

    assert generate.schema_text() == generate.SCHEMA.read_text(), "run make docs"


@pytest.mark.slow
def test_it_is_a_schema():
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == Draft202012Validator.META_SCHEMA["$id"]


def test_every_kind_is_in_it():
    """Forces that need a function can be in no file."""
    only_functions = {"UserSpring", "UserJointForce", "UserContact", "UserConstraint", "UserRateConstraint"}
    for one, registry in (("joint", NAMES), ("part", NAMES), ("force", set(FORCES) - only_functions)):
        assert set(SCHEMA["$defs"][one]["properties"]["type"]["enum"]) == set(registry)
    assert set(SHAPES) < set(SCHEMA["$defs"]["body"]["properties"])


@pytest.mark.parametrize("name", vi.mechanisms.NAMES)
def test_the_catalogue_is_allowed(tmp_path, name):
    mechanism = getattr(vi.mechanisms, name)()
    if holds_functions(mechanism):
        pytest.skip("a function, which no file can hold")
    vi.save_mechanism(mechanism, tmp_path / "m.json")
    VALIDATOR.validate(json.loads((tmp_path / "m.json").read_text()))


@pytest.mark.slow
def test_every_joint_and_force_is_allowed(rng, tmp_path):
    for name, data in originals().items():
        assert allowed(data), name
    pendulum = vi.mechanisms.double_pendulum()
    turned = vi.PrescribedMotion("turned", joint="joint 1", position=[0.0, 0.1, 0.3])
    led = vi.PrescribedPoint("led", body="link 1", point=(0, 0, 0), position=(0, 0, 0))
    moved = vi.PrescribedBody("moved", body="link 1", position=[(0, 0, 0)] * 3, quat_wxyz=[(1, 0, 0, 0)] * 3)
    forces = [turned, led, moved]
    mechanisms = [vi.Mechanism("turned", pendulum.bodies, pendulum.joints, forces=forces)]
    mechanisms += [sample_mechanism(rng, forces) for forces in samples(rng).values()]
    written = set()
    for mechanism in mechanisms:
        if not holds_functions(mechanism):
            vi.save_mechanism(mechanism, tmp_path / "m.json")
            VALIDATOR.validate(json.loads((tmp_path / "m.json").read_text()))
            written |= {type(force).__name__ for force in mechanism.forces}
    assert written >= set(SCHEMA["$defs"]["force"]["properties"]["type"]["enum"])


def test_what_is_written_by_hand_is_allowed():
    assert allowed(PENDULUM)
    assert allowed({"$schema": "mechanism.schema.json"} | PENDULUM)
    for shape, (value, _) in SAMPLES.items():
        mass = {"mass": 1.0} if "mass" in SHAPES[shape] else {}
        assert allowed(with_body(**{shape: value}, **mass)), shape


@pytest.mark.parametrize("level", LEVELS)
def test_misspelt_keys_are_not_allowed(level):
    for key in at(PENDULUM, LEVELS[level]):
        data = copy.deepcopy(PENDULUM)
        inside = at(data, LEVELS[level])
        inside[f"{key}x"] = inside.pop(key)
        assert not allowed(data), key
    data = copy.deepcopy(PENDULUM)
    at(data, LEVELS[level])["qqqq"] = 1
    assert not allowed(data)


@pytest.mark.parametrize("case", [case for case in WRONG_SHAPES if case != "negative"])
def test_wrong_shapes_are_not_allowed(case):
    """A sign is no matter of the schema."""
    entry, _ = WRONG_SHAPES[case]
    assert not allowed(with_body(**entry))


@pytest.mark.parametrize(
    "joint",
    [
        {"type": "Revolut", "axis": [0, 1, 0]},
        {"type": "Revolute"},
        {"type": "Revolute", "axis": [0, 1]},
        {"type": "Revolute", "axis": [0, 1, "0"]},
        {"type": "Revolute", "axis": [0, 1, 0], "lead": 0.1},
        {"type": "Helical", "axis": [0, 1, 0], "lead": None},
        {"type": "SplineCurve", "frames": np.eye(4).tolist()},
        {"type": "Composite", "parts": [{"type": "Revolute", "axis": [0, 0, 1], "name": "x"}]},
        {"type": "Composite", "parts": [{"axis": [0, 0, 1]}]},
    ],
)
def test_wrong_joints_are_not_allowed(joint):
    right = {"type": "Revolute", "name": "j", **ENDS, "body_b": "b", "axis": [0, 1, 0]}
    data = with_body(sphere=0.1, mass=1.0)
    assert allowed(data | {"joints": [right]})
    assert not allowed(data | {"joints": [{"name": "j", **ENDS, "body_b": "b"} | joint]})
