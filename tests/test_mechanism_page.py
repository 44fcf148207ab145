"""The examples of docs/mechanism_files.md load, run and fit the schema; its tables have what there is."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from test_schema import VALIDATOR

import varint as vi
from varint.files.own.body_data import OF_BODIES, SHAPES, own_parameters
from varint.files.own.mechanism_data import KINDS
from varint.model.forces import FORCES
from varint.model.start_arguments import MOTION_KEYS

PAGE = (Path(__file__).parent.parent / "docs" / "mechanism_files.md").read_text()
BLOCKS = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.S)]
(EXAMPLE,) = [block for block in BLOCKS if isinstance(block, dict)]
LISTS = [block for block in BLOCKS if isinstance(block, list)]


def whole(entries):
    """The mechanism that a list of the page belongs to: bodies float, joints and forces are those of the example."""
    if "type" not in entries[0]:
        names = [entry["name"] for entry in entries]
        joints = [{"type": "Free", "name": name, "body_a": "world", "body_b": name} for name in names]
        return EXAMPLE | {"bodies": entries, "joints": joints, "forces": [], "start": {}}
    if entries[0]["type"] in FORCES:
        return EXAMPLE | {"forces": entries}
    return EXAMPLE | {"joints": entries, "forces": [], "start": {}}


def read(folder, data, name="m.json"):
    (folder / name).write_text(data if isinstance(data, str) else json.dumps(data))
    return vi.load_mechanism(folder / name)


def first_column(title):
    section = PAGE.split(f"## {title}\n")[1].split("\n## ")[0]
    return [key for first in re.findall(r"^\| (`.+?`) \|", section, re.M) for key in re.findall(r"`(.+?)`", first)]


def test_the_example_does_what_the_text_says(tmp_path):
    """The crank turns at 5 rad/s, the slider as the loop has it, and the energy is what motor and spring make it."""
    mechanism = read(tmp_path, EXAMPLE)
    VALIDATOR.validate(EXAMPLE)
    state = mechanism.state()
    crank, slider = mechanism.body_index["crank"], mechanism.body_index["slider"]
    assert state.angular_velocity[crank] @ state.angular_velocity[crank] == pytest.approx(25.0)
    assert state.velocity[slider] == pytest.approx([5.0 * 0.2, 0, 0])
    run = vi.simulate(mechanism, 2.0, 0.001)
    assert run.success
    assert np.abs(run.energy_balance).max() < 1e-3 * np.ptp(run.kinetic)
    assert np.ptp(run.position[:, slider, 1:]) < 1e-9


@pytest.mark.parametrize("entries", LISTS, ids=lambda entries: entries[0]["name"])
def test_the_lists_load_and_run(tmp_path, entries):
    data = whole(entries)
    VALIDATOR.validate(data)
    assert vi.simulate(read(tmp_path, data), 0.01, 0.001).success


def test_there_is_a_list_of_each_kind():
    assert len(LISTS) == len(KINDS)


def test_the_tables_have_every_key():
    assert set(EXAMPLE) == set(vi.Mechanism.__dataclass_fields__) - {"import_report"}  # which is of the file itself
    assert sorted(first_column("The keys at the top")) == sorted(
        [*EXAMPLE, "$schema", "parameters", "include", "closures", "format"]
    )
    assert {"name", *first_column("Bodies")} == {*OF_BODIES, *SHAPES}
    assert first_column("Start") == list(MOTION_KEYS)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_table_of_shapes_has_their_arguments(shape):
    own, beside = re.search(rf"^\| `{shape}` \| (.*) \| (.*) \|$", PAGE, re.M).groups()
    assert re.findall(r"`(\w+)`", own) == list(own_parameters(shape))
    assert re.findall(r"`(\w+)`", beside) == [name for name in SHAPES[shape] if name in OF_BODIES and name != "name"]


def test_the_error_in_the_page_is_that_of_the_example(tmp_path):
    (text,) = [block for block in re.findall(r"```json\n(.*?)```", PAGE, re.S) if block.startswith("{")]
    (told,) = re.findall(r"```text\n('crank.json'.*?)\n```", PAGE)
    wrong = text.replace('"radius": 0.01}, "mass"', '"radius": 0.01}, "mas"')
    with pytest.raises(vi.MechanismError) as caught:
        read(tmp_path, wrong, "crank.json")
    assert str(caught.value).replace(f"{tmp_path}/", "") == told


def test_a_quaternion_of_four_digits_is_a_quarter_turn(tmp_path):
    (digits,) = re.findall(r"`(\[0\.7071.*?\])` is a quarter turn about y", PAGE)
    body = vi.Body.sphere("b", 0.1, 1.0, quat_wxyz=json.loads(digits))
    assert np.abs(body.quat_wxyz - np.sqrt([0.5, 0, 0.5, 0])).max() < 1e-15
