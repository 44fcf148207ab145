"""Shapes and roles that fields of records declare: allocation and checkpoints follow from them."""

from dataclasses import dataclass
from typing import Annotated

import pytest

from varint._numba import STATE, CompiledRecord, Float1, Float2, Int1, allocate, state_arrays


@dataclass(frozen=True, eq=False)
class Part(CompiledRecord, writable=True):
    charge: Annotated[Float2, "nb 6", STATE]
    scratch: Annotated[Float1, "nb"]


@dataclass(frozen=True, eq=False)
class Whole(CompiledRecord, writable=True):
    count: Annotated[Int1, STATE]
    part: Part


def test_a_declared_field_is_allocated_and_listed():
    whole = allocate(Whole, {"nb": 3})
    assert whole.count.shape == (1,)
    assert whole.part.charge.shape == (3, 6)
    assert whole.part.scratch.shape == (3,)
    assert [name for name, _ in state_arrays(whole)] == ["count", "part charge"]
    assert dict(state_arrays(whole))["part charge"] is whole.part.charge


def test_a_size_that_is_unknown_is_an_error():
    with pytest.raises(KeyError, match="nb"):
        allocate(Whole, {})
