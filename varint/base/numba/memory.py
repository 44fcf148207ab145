"""Memory by its address: a record as one word, which Python passes at the least cost, and copies of bytes."""

import ctypes
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from varint.base.numba.jit import config
from varint.base.numba.record_class import CompiledRecord, record_type


def word_of(record: CompiledRecord) -> Any:
    """Return the word by which compiled functions find ``record``, see `record_at`; it must live as long as they run.

    Python looks up the type of a record at each call, about a microsecond; the type of a word is known.
    """
    return record if config.DISABLE_JIT else vars(record)["address"]


def record_at(kind: type[CompiledRecord]) -> Any:
    """Return a compiled function that returns the record of a class by its `word_of`."""
    if config.DISABLE_JIT:
        return lambda word: word

    @intrinsic
    def at(context, word):
        def generate(context, builder, signature, arguments):
            return builder.inttoptr(arguments[0], ir.IntType(8).as_pointer())

        return record_type(kind)(types.int64), generate

    vars(at)["class_behind_word"] = kind  # whose layout is part of the code of a function that calls it, see digests.py
    return at


@intrinsic
def _copy(context, target, source, size):
    def generate(context, builder, signature, arguments):
        pointers = (builder.inttoptr(address, ir.IntType(8).as_pointer()) for address in arguments[:2])
        cgutils.raw_memcpy(builder, *pointers, arguments[2], 1)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


def _move(target, source, size):
    ctypes.memmove(int(target), int(source), int(size))


copy_bytes: Any = _move if config.DISABLE_JIT else _copy  # from an address to another, so many
