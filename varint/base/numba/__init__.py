"""Everything that the package takes from numba and llvmlite: no other part of it imports them.

jit        the compile decorator
compiler   how it compiles: parts, and entries made of them
cache      where entries are kept
record     dataclasses of arrays, which compiled functions take by pointer
indirect   functions that compiled callers call through a pointer
fused      the fused multiply-add of the processor
lanes      four numbers that one instruction works on
switch     functions chosen by a number, and functions called in turn
callback   users' functions, compiled, and called by their addresses
memory     records and bytes by their addresses
hints      facts about indices and arrays that the compiler cannot see
spans      arrays that are copied without their names
"""

from varint.base.numba.callback import addresses_of, call_back, compiled_law
from varint.base.numba.fused import fma
from varint.base.numba.hints import inner_sizes, natural
from varint.base.numba.indirect import Indirect, indirect
from varint.base.numba.jit import for_python, is_compiled, njit
from varint.base.numba.lanes import apart, four, root
from varint.base.numba.memory import record_at, word_of
from varint.base.numba.record_class import (
    BEFORE_EVENT,
    POSES,
    RESTORED,
    STATE,
    STEP_STATE,
    TAPED,
    Bool1,
    CompiledRecord,
    Float1,
    Float2,
    Float3,
    Float4,
    Int1,
    Int2,
    Int3,
    ReadOnly,
    allocate,
    role_arrays,
)
from varint.base.numba.spans import SPAN, copy_spans, role_room, spans_of, write_spans
from varint.base.numba.switch import in_turn, switch

__all__ = [
    "BEFORE_EVENT",
    "POSES",
    "RESTORED",
    "SPAN",
    "STATE",
    "STEP_STATE",
    "TAPED",
    "Bool1",
    "CompiledRecord",
    "Float1",
    "Float2",
    "Float3",
    "Float4",
    "Indirect",
    "Int1",
    "Int2",
    "Int3",
    "ReadOnly",
    "addresses_of",
    "allocate",
    "apart",
    "call_back",
    "compiled_law",
    "copy_spans",
    "fma",
    "for_python",
    "four",
    "in_turn",
    "indirect",
    "inner_sizes",
    "is_compiled",
    "natural",
    "njit",
    "record_at",
    "role_arrays",
    "role_room",
    "root",
    "spans_of",
    "switch",
    "word_of",
    "write_spans",
]
