"""Records of arrays, which compiled functions take by pointer.

A tuple of arrays travels member by member: some 900 machine words for a `Plan` and a `Workspace` at each
call, and a second of compilation in each function that takes them. A record travels as one word. The
descriptors of its arrays never change, which the compiler is told, so that it loads each of them once.
"""

import hashlib
from dataclasses import dataclass, fields

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, register_model, typeof_impl, unbox


@dataclass(frozen=True, eq=False)
class Record:
    """Base of records: frozen dataclasses whose fields are C-contiguous arrays. Contents may change, arrays may not."""

    def __post_init__(self):
        arrays = [(field.name, getattr(self, field.name)) for field in fields(self)]
        kind = RecordType(type(self).__name__, tuple((name, numba.typeof(array)) for name, array in arrays))
        words = [_descriptor(array) for _, array in arrays]
        object.__setattr__(self, "words", np.array([word for part in words for word in part], dtype=np.int64))
        object.__setattr__(self, "address", self.words.ctypes.data)
        object.__setattr__(self, "kind", kind)

    def __iter__(self):
        return (getattr(self, field.name) for field in fields(self))


def _descriptor(array):
    """Words of numba's array structure: two owners (none), items, their size, data, shape, strides."""
    return [0, 0, array.size, array.itemsize, array.ctypes.data, *array.shape, *array.strides]


class RecordType(types.Type):
    """numba's type of a record: its class and the types of its arrays."""

    def __init__(self, name, members):
        self.members = members
        self.index = {field: (k, kind) for k, (field, kind) in enumerate(members)}
        self.place = np.cumsum([0, *(5 + 2 * kind.ndim for _, kind in members)]).tolist()
        super().__init__(f"{name}-{hashlib.sha256(repr(members).encode()).hexdigest()[:8]}")


@typeof_impl.register(Record)
def _typeof(record, context):
    return record.kind


register_model(RecordType)(models.OpaqueModel)


@unbox(RecordType)
def _unbox(kind, record, c):
    address = c.pyapi.object_getattr_string(record, "address")
    pointer = c.pyapi.long_as_voidptr(address)
    c.pyapi.decref(address)
    return NativeValue(pointer)


@infer_getattr
class _Members(AttributeTemplate):
    key = RecordType

    def generic_resolve(self, record, field):
        return record.index[field][1] if field in record.index else None


@lower_getattr_generic(RecordType)
def _member(context, builder, record, pointer, field):
    number, kind = record.index[field]
    word = ir.IntType(64)
    words = builder.bitcast(pointer, word.as_pointer())
    unchanging = builder.module.add_metadata([])
    place = record.place[number]

    def load(part):
        nonlocal place
        if isinstance(part, ir.ArrayType):
            value = ir.Constant(part, ir.Undefined)
            for k in range(part.count):
                value = builder.insert_value(value, load(part.element), k)
            return value
        at = builder.gep(words, [ir.Constant(word, place)])
        place += 1
        loaded = builder.load(builder.bitcast(at, part.as_pointer()))
        loaded.set_metadata("invariant.load", unchanging)
        return loaded

    structure = context.get_value_type(kind)
    value = ir.Constant(structure, ir.Undefined)
    for k, part in enumerate(structure.elements):
        value = builder.insert_value(value, load(part), k)
    return value
