"""Arrays as spans of memory: compiled code copies them to a row of words, and back, without their names."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from varint._numba.jit import config, njit
from varint._numba.memory import copy_bytes
from varint._numba.record_class import ALIGNMENT, POSES, CompiledRecord, role_arrays, role_fields

WORD = 8  # bytes
ADDRESS, BYTES, BY_POSE, OFFSET, SPAN = range(5)  # columns of spans, and their number


def spans_of(arrays: Iterable[tuple[np.ndarray, bool]]) -> tuple[np.ndarray, int]:
    """Spans (n, SPAN) of arrays, those that lie next to each other in one piece of memory as one, and their words.

    Each array comes with whether one of two poses is meant. A span has the address and the bytes, of the first pose;
    bytes from there to the second, or zero; and its place in the row of words, bytes, which depends on sizes alone.
    """
    spans: list[list[int]] = []
    offset, base, following = 0, None, 0
    for array, by_pose in arrays:
        size = array.nbytes // 2 if by_pose else array.nbytes
        if not size:
            continue
        address = array.__array_interface__["data"][0]
        if base is not None and base is array.base and address == following and not by_pose:
            spans[-1][BYTES] = address + size - spans[-1][ADDRESS]
        else:
            spans.append([address, size, size if by_pose else 0, offset])
        base, following = None if by_pose else array.base, address + _aligned(size)
        offset += _aligned(size)
    return np.array(spans, dtype=np.int64).reshape(-1, SPAN), offset // WORD


def role_room(cls: type[CompiledRecord], sizes: Mapping[str, int], role: tuple[str]) -> tuple[int, int]:
    """The most spans, and the words, of the fields with the role of a record in ``sizes``."""
    own: Any = cls
    return _role_room(own, tuple(sizes.items()), role)


@lru_cache(maxsize=256)
def _role_room(cls: Any, sizes: tuple[tuple[str, int], ...], role: tuple[str]) -> tuple[int, int]:
    of, words, fields = dict(sizes), 0, role_fields(cls, role)
    for field in fields:
        size = field.dtype.itemsize
        for length in field.shape[1:] if field.shape[0] == POSES else field.shape:
            size *= length if isinstance(length, int) else of[length]
        words += _aligned(size) // WORD
    return len(fields), words


def find_spans(record: CompiledRecord, role: tuple[str], spans: np.ndarray) -> None:
    """Write the `spans_of` the fields with the role of a record and its parts to ``spans``, and zeros after them."""
    own: Any = type(record)
    by_pose = (field.shape[0] == POSES for field in role_fields(own, role))
    arrays = (array for _, array in role_arrays(record, role))
    found, _ = spans_of(zip(arrays, by_pose, strict=True))
    spans[: len(found)], spans[len(found) :] = found, 0


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


@intrinsic
def _address(context, array):
    def generate(context, builder, signature, arguments):
        structure = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.ptrtoint(structure.data, ir.IntType(64))

    return types.int64(array), generate


address_of: Any = (lambda array: array.ctypes.data) if config.DISABLE_JIT else _address


@njit
def copy_spans(spans, pose, words, back):
    """Copy spans (n, SPAN), of the pose ``pose`` where they have two, to a row of ``words``, or back if ``back``."""
    row = address_of(words)
    for n in range(spans.shape[0]):
        size = spans[n, BYTES]
        if size == 0:
            return
        there = spans[n, ADDRESS] + pose * spans[n, BY_POSE]
        here = row + spans[n, OFFSET]
        if back:
            copy_bytes(there, here, size)
        else:
            copy_bytes(here, there, size)
