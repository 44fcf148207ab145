"""What is read of an element or attribute survives each writer, or the writer refuses it by name."""

import dataclasses
import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from format_documents import FORMATS, without_angles, write_parts
from format_elements import is_container, places, put, text_of
from mechanisms_alike import check_alike

import varint as vi
from varint.files.own.mechanism_data import to_data

EXACT = (".toml", ".json")
WRITTEN = (*EXACT, ".urdf", ".xml")
SAME = 1e-9
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # the report has what they say


def documents(name: str, with_values: bool) -> Iterator[ET.Element]:
    """Yield the documents of a format, or those with each element and attribute in them."""
    listed, (cases, values) = places(name), FORMATS[name]
    for place in listed:
        for root, path, _ in cases(place) if not is_container(place, listed) else ():
            if not with_values:
                yield root
            for value in values(place) if with_values else ():
                yield put(without_angles(root, place), path, place.attribute, value)


def mechanisms(name: str, folder: Path, with_values: bool) -> Iterator[vi.Mechanism]:
    """Yield the different mechanisms in the documents without errors, at coordinates and rates that are not zero."""
    path, texts, contents = folder / f"a.{name}", set(), set()
    write_parts(folder)
    for text in map(text_of, documents(name, with_values)):
        if text in texts:
            continue
        texts.add(text)
        path.write_text(text)
        try:
            mechanism = vi.load_mechanism(path)
        except vi.VarintError:
            continue
        content = json.dumps(to_data(mechanism))
        if content not in contents:
            contents.add(content)
            if (moved := started(mechanism)) is not None:
                yield moved


def started(mechanism: vi.Mechanism) -> vi.Mechanism | None:
    """Return a mechanism with a start at random, of all joints, of the first or of none; None if it does not close."""
    rng = np.random.default_rng(1)
    for joints in (mechanism.joints, mechanism.joints[:1], ()):
        moving = [joint for joint in joints if joint.dof]
        start = {
            key: {joint.name: rng.uniform(0.2, 0.5, joint.dof) * rng.choice([-1, 1], joint.dof) for joint in moving}
            for key in ("coordinates", "rates")
        }
        try:
            moved = dataclasses.replace(mechanism, start=start) if joints else mechanism
            moved.state()
        except vi.VarintError:  # of loops, couplings and limits
            continue
        return moved
    return None


def stops(mechanism: vi.Mechanism) -> list[tuple[float, float]]:
    """Return the limits of a mechanism."""
    return sorted((force.lower, force.upper) for force in mechanism.forces if isinstance(force, vi.JointStop))


def shapes(mechanism: vi.Mechanism) -> list[str]:
    """Return the types of all collision shapes."""
    listed = [mechanism.ground, *(body.collision for body in mechanism.bodies)]
    return sorted(type(shape).__name__ for of_body in listed for shape in of_body)


def why_not_written(mechanism: vi.Mechanism, path: Path) -> str:
    """Write a mechanism; return the message of the refusal, "" if there is none."""
    try:
        vi.save_mechanism(mechanism, path)
    except vi.FileError as refusal:
        return str(refusal)
    return ""


def check_written(mechanism: vi.Mechanism, path: Path) -> None:
    """Write a mechanism and read it again; a refusal names a part of it."""
    beside = path.with_suffix(".toml")
    beside.unlink(missing_ok=True)
    refusal = why_not_written(mechanism, path)
    if refusal:
        names = [part.name for part in (*mechanism.bodies, *mechanism.joints, *mechanism.forces)]
        assert any(f"'{name}'" in refusal.partition("does not hold")[2] for name in names)
        return
    again = vi.load_mechanism(beside if path.suffix == ".urdf" and beside.exists() else path)
    if path.suffix in EXACT:
        assert to_data(again) == to_data(mechanism)
        return
    check_alike(mechanism, again, SAME)
    assert shapes(again) == shapes(mechanism)
    if path.suffix == ".urdf":  # whose companion has the forces
        assert to_data(again)["forces"] == to_data(mechanism)["forces"]
    assert np.allclose(stops(again), stops(mechanism), rtol=SAME, atol=SAME)


@pytest.mark.many
@pytest.mark.parametrize("with_values", [False, pytest.param(True, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", FORMATS)
def test_what_is_read_is_written(name, with_values, tmp_path):
    pytest.importorskip("mujoco")
    count = 0
    for mechanism in mechanisms(name, tmp_path, with_values):
        for suffix in WRITTEN:
            check_written(mechanism, tmp_path / f"w{suffix}")
        count += 1
    assert count
