"""Arrays as spans of memory, which compiled code copies to a buffer of words and back without knowing the fields."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from varint.base.numba.jit import config, njit
from varint.base.numba.memory import copy_bytes
from varint.base.numba.record_class import ALIGNMENT, POSES, CompiledRecord, role_arrays, role_fields

WORD = 8  # bytes
ADDRESS, BYTES, BY_POSE, OFFSET, SPAN = range(5)  # columns of spans, see `spans_of`, and the number of columns


def spans_of(arrays: Iterable[tuple[np.ndarray, bool]]) -> tuple[np.ndarray, int]:
    """Return the spans (n, SPAN) of ``arrays``, and the size of their buffer, words.

    Each array comes with a flag: True if it holds both poses of a step, the start and the end; its span then covers
    one. Other arrays that are contiguous share a span. Columns: address and size of the (first) pose, distance to the
    second pose or 0, offset in the buffer; all in bytes. Offsets depend on the sizes alone.
    """
    spans: list[list[int]] = []
    offset, memory, following = 0, None, 0  # ``following``: the address where a contiguous array begins
    for array, both_poses in arrays:
        size = array.nbytes // 2 if both_poses else array.nbytes
        if not size:
            continue
        address = array.__array_interface__["data"][0]
        if memory is not None and memory is array.base and address == following and not both_poses:
            spans[-1][BYTES] = address + size - spans[-1][ADDRESS]
        else:
            spans.append([address, size, size if both_poses else 0, offset])
        memory, following = None if both_poses else array.base, address + _aligned(size)
        offset += _aligned(size)
    return np.array(spans, dtype=np.int64).reshape(-1, SPAN), offset // WORD


def role_room(cls: type[CompiledRecord], sizes: Mapping[str, int], role: tuple[str]) -> tuple[int, int]:
    """Return (most spans, buffer words) of the fields with ``role`` of ``cls`` and its parts.

    ``sizes``: length of each dimension that the fields name.
    """
    kind: Any = cls
    return _role_room(kind, tuple(sizes.items()), role)


@lru_cache(maxsize=256)
def _role_room(cls: Any, sizes: tuple[tuple[str, int], ...], role: tuple[str]) -> tuple[int, int]:
    lengths, words, fields = dict(sizes), 0, role_fields(cls, role)
    for field in fields:
        size = field.dtype.itemsize
        for length in field.shape[1:] if field.shape[0] == POSES else field.shape:
            size *= length if isinstance(length, int) else lengths[length]
        words += _aligned(size) // WORD
    return len(fields), words


def write_spans(record: CompiledRecord, role: tuple[str], spans: np.ndarray) -> None:
    """Write the spans of the fields of ``record`` and its parts with ``role`` to ``spans``; zero the other rows."""
    kind: Any = type(record)
    both_poses = (field.shape[0] == POSES for field in role_fields(kind, role))
    arrays = (array for _, array in role_arrays(record, role))
    table, _ = spans_of(zip(arrays, both_poses, strict=True))
    spans[: len(table)], spans[len(table) :] = table, 0


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


@intrinsic
def _address(context, array):
    def generate(context, builder, signature, arguments):
        structure = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.ptrtoint(structure.data, ir.IntType(64))

    return types.int64(array), generate


# address of the first entry of an array
address_of: Any = (lambda array: array.ctypes.data) if config.DISABLE_JIT else _address


@njit
def copy_spans(spans, pose, words, back):
    """Copy the memory covered by ``spans`` (n, SPAN) to the buffer ``words``, or from it if ``back``.

    Spans of arrays with both poses cover number ``pose``, 0 or 1.
    """
    start = address_of(words)
    for n in range(spans.shape[0]):
        size = spans[n, BYTES]
        if size == 0:  # the rows that `write_spans` sets to zero
            return
        array = spans[n, ADDRESS] + pose * spans[n, BY_POSE]
        buffer = start + spans[n, OFFSET]
        if back:
            copy_bytes(array, buffer, size)
        else:
            copy_bytes(buffer, array, size)
