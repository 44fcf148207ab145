"""Shapes and roles that fields of records declare: allocation, checkpoints, copies and tapes follow from them."""

import ast
import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import pytest

import varint as vi
from varint.base.numba import (
    RESTORED,
    SPAN,
    STATE,
    STEP_STATE,
    TAPED,
    Bool1,
    CompiledRecord,
    Float1,
    Float2,
    Float3,
    Int1,
    allocate,
    copy_spans,
    njit,
    role_arrays,
    role_room,
    write_spans,
)
from varint.step.kept_arrays import ROLES
from varint.step.workspace import workspace

KERNELS = Path(vi.__file__).parent / "step"
SIZES = {"poses": 2, "nb": 3, "none": 0}


@dataclass(frozen=True, eq=False)
class Part(CompiledRecord, writable=True):
    charge: Annotated[Float2, "nb 6", STEP_STATE]
    level: Annotated[Bool1, "nb", STEP_STATE + TAPED]
    absent: Annotated[Float1, "none", STEP_STATE]
    scratch: Annotated[Float1, "nb"]


@dataclass(frozen=True, eq=False)
class Whole(CompiledRecord, writable=True):
    count: Annotated[Int1, STATE]
    place: Annotated[Float3, "poses nb 3", RESTORED]
    part: Part


@njit
def copied(spans, pose, words, back):
    copy_spans(spans, pose, words, back)


def filled(rng, record):
    """Arrays by name of a record and its parts, with random values."""
    found = {}
    for name in vars(record):
        value = getattr(record, name)
        if isinstance(value, CompiledRecord):
            found |= {f"{name} {key}": array for key, array in filled(rng, value).items()}
        elif isinstance(value, np.ndarray) and name != "words":
            value[...] = rng.integers(0, 2, value.shape) if value.dtype == bool else rng.integers(1, 99, value.shape)
            found[name] = value
    return found


def test_a_declared_field_is_allocated_and_listed():
    whole = allocate(Whole, SIZES)
    assert whole.count.shape == (1,)
    assert whole.part.charge.shape == (3, 6)
    assert whole.part.scratch.shape == (3,)
    assert [name for name, _ in role_arrays(whole, STATE)] == ["count", "part charge", "part level", "part absent"]
    assert [name for name, _ in role_arrays(whole, TAPED)] == ["part level"]
    assert dict(role_arrays(whole, STATE))["part charge"] is whole.part.charge


def test_a_size_that_is_unknown_is_an_error():
    with pytest.raises(KeyError, match="nb"):
        allocate(Whole, {"poses": 2, "none": 0})


@pytest.mark.parametrize("pose", [0, 1])
@pytest.mark.parametrize("way", [lambda whole: whole, copy.deepcopy], ids=["in one piece of memory", "apart"])
def test_a_declared_field_is_copied_and_brought_back(rng, way, pose):
    """Of two poses one; the fields of other roles stay as they are."""
    whole = way(allocate(Whole, SIZES))
    most, words = role_room(Whole, SIZES, RESTORED)
    spans, row = np.ones((most, SPAN), dtype=np.int64), np.zeros(words, dtype=np.int64)
    write_spans(whole, RESTORED, spans)
    before = {name: array.copy() for name, array in filled(rng, whole).items()}
    copied(spans, pose, row, False)
    after = {name: array.copy() for name, array in filled(rng, whole).items()}
    copied(spans, pose, row, True)
    now = {"count": whole.count, "place": whole.place}
    now |= {f"part {name}": getattr(whole.part, name) for name in ("charge", "level", "scratch")}
    assert np.array_equal(now["place"][pose], before["place"][pose])
    assert np.array_equal(now["place"][1 - pose], after["place"][1 - pose])
    for name in ("part charge", "part level"):
        assert np.array_equal(now[name], before[name]), name
    for name in ("count", "part scratch"):
        assert np.array_equal(now[name], after[name]), name


def roles_of(mechanism):
    ws = workspace(mechanism.compiled.plan, 2, mechanism.compiled.functions, kept=3)
    return ws, {name: dict(role_arrays(ws, role)) for name, role in ROLES.items()}


@pytest.mark.parametrize("name", ["double_pendulum", "roller_coaster"])
def test_arrays_of_a_workspace_come_back_by_their_roles(rng, name):
    ws, roles = roles_of(getattr(vi.mechanisms, name)())
    rows = {
        "restored": ws.saved_step.start,
        "taped": ws.tape.stage[1],
        "before_event": np.zeros(10_000, dtype=np.int64),
    }
    assert {"position", "momentum", "balance recent", "efforts target", "products q"} <= set(roles["restored"])
    for role, arrays in roles.items():
        before = {key: array.copy() for key, array in arrays.items()}
        copied(getattr(ws.spans, role), 0, rows[role], False)
        for array in arrays.values():
            array[...] = 1
        copied(getattr(ws.spans, role), 0, rows[role], True)
        for key, array in arrays.items():
            poses = slice(0, 1 if key.startswith(("position", "quat")) else None)
            assert np.array_equal(array[poses], before[key][poses]), (role, key)


def test_spans_of_a_copy_are_its_own():
    ws = workspace(vi.mechanisms.double_pendulum().compiled.plan)
    for other in (copy.deepcopy(ws), copy.copy(ws)):
        arrays = dict(role_arrays(other, RESTORED))
        addresses = {array.ctypes.data for array in arrays.values() if array.size}
        assert set(other.spans.restored[:, 0]) - {0} <= addresses
        assert other.spans is not ws.spans


def named(path):
    """Attributes that the code of a file reads or writes."""
    return {node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)}


def test_what_repeats_a_step_names_no_array():
    """A new array of a run is named in its record, and where it is calculated with."""
    assert named(KERNELS / "restart.py") == {"spans", "restored", "saved_step", "start"}
