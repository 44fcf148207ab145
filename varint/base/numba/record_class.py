"""Records of arrays, which compiled functions take by pointer.

A tuple of arrays travels member by member: some 900 machine words for a `Plan` and a `Workspace` at each
call, and a second of compilation in each function that takes them. A record travels as one word. The
descriptors of its arrays never change, which is declared to the compiler, so that it loads each of them once.
"""

import hashlib
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import NativeValue, register_model, typeof_impl, unbox

from varint.base.display import Shown


class ArrayKind(NamedTuple):
    """Meaning of an annotation for a C-contiguous array."""

    kind: Any  # numba's type of an entry
    ndim: int


READ_ONLY = "read-only"
ALIGNMENT = 64  # bytes
DATA_WORD = 4  # of the words of an array: its address
# roles of a field; one may have several, the sum of these
STATE = ("state",)  # a run goes on from it
RESTORED = ("restored",)  # a step that is done again starts from it
STEP_STATE = STATE + RESTORED
TAPED = ("taped",)  # of a stage on a tape
BEFORE_EVENT = ("before event",)  # of an event on a tape
POSES = "poses"  # first size of an array of both poses, the start and the end of a step
_T = TypeVar("_T")
ReadOnly = Annotated[_T, READ_ONLY]  # of an argument: an array that is not written to
Float1 = Annotated[np.ndarray, ArrayKind(types.float64, 1)]
Float2 = Annotated[np.ndarray, ArrayKind(types.float64, 2)]
Float3 = Annotated[np.ndarray, ArrayKind(types.float64, 3)]
Float4 = Annotated[np.ndarray, ArrayKind(types.float64, 4)]
Int1 = Annotated[np.ndarray, ArrayKind(types.int64, 1)]
Int2 = Annotated[np.ndarray, ArrayKind(types.int64, 2)]
Int3 = Annotated[np.ndarray, ArrayKind(types.int64, 3)]
Bool1 = Annotated[np.ndarray, ArrayKind(types.boolean, 1)]

_DTYPES = {types.float64: np.dtype(np.float64), types.int64: np.dtype(np.int64), types.boolean: np.dtype(np.bool_)}


@dataclass(frozen=True, eq=False)
class CompiledRecord(Shown):
    """Base of records: frozen dataclasses whose fields are C-contiguous arrays, or records.

    The annotations of the fields (`Float1`, `Int2`, the class of another record, ...) fix numba's type of the class.
    A field may add its shape, ``Annotated[Float2, "nb 6"]``: compiled code takes the sizes that are numbers as known,
    which spares it multiplications in each access, and those that are names are for `allocate`. A field of what a run
    changes may add its roles as well, for `role_arrays` and `write_spans`. Arrays become read-only, in compiled code
    too. With ``writable=True`` they must be writable, and their contents may change; the arrays themselves may not.
    Copies, pickled ones too, are built anew. Writable records hold what one process works with, addresses of functions
    among it, and cannot be pickled.

    Raises TypeError, naming the field, for an array of another type, dimension, size or layout than annotated.
    """

    writable: ClassVar[bool] = False

    def __init_subclass__(cls, writable: bool = False, **rest):
        super().__init_subclass__(**rest)
        cls.writable = writable

    def __post_init__(self):
        words = []
        for name, record, dtype, shape in record_type(type(self)).parts:
            value = getattr(self, name)
            if record is not None:
                if type(value) is not record:
                    raise TypeError(f"{_place(self, name)} must be a {record.__name__}, got {type(value)}")
                words.append(value.address)
            else:
                _check(self, name, dtype, shape)
                words += _descriptor(value)
        object.__setattr__(self, "words", np.array(words, dtype=np.int64))
        object.__setattr__(self, "address", self.words.ctypes.data)

    def __iter__(self):
        return (getattr(self, field.name) for field in fields(self))

    def __copy__(self):
        return type(self)(*self)

    def __deepcopy__(self, memo):
        return type(self)(*(deepcopy(part, memo) for part in self))

    def __reduce__(self):
        if self.writable:
            name = type(self).__name__
            raise TypeError(f"a {name} holds addresses of its process and cannot be pickled: pickle the mechanism")
        return type(self), tuple(self)


def _place(record, name):
    return f"{type(record).__name__}.{name}"


def _check(record, name, dtype, shape):
    """Check that an array of a record is of a type and a `known_shape`; freeze it in a record that is read-only."""
    array = getattr(record, name)
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != len(shape):
        got = f"{array.dtype} of {array.ndim}" if isinstance(array, np.ndarray) else f"{type(array)}"
        raise TypeError(f"{_place(record, name)} must be an array of {dtype} of {len(shape)} dimensions, got {got}")
    if array.size and any(known not in (0, size) for known, size in zip(shape, array.shape, strict=True)):
        wanted = ", ".join(str(size or "any") for size in shape)
        raise TypeError(f"{_place(record, name)} must have the shape ({wanted}), got {array.shape}")
    flags = array.flags
    if not (flags.c_contiguous and flags.aligned):
        raise TypeError(f"{_place(record, name)} must be C-contiguous: use numpy.ascontiguousarray")
    if not record.writable:
        array.setflags(write=False)
    elif not flags.writeable:
        raise TypeError(f"{_place(record, name)} must be writable, got a read-only array")


def _descriptor(array):
    """Return words of numba's array structure: two owners (zero), items, their size, data, shape, strides."""
    return [0, 0, array.size, array.itemsize, array.__array_interface__["data"][0], *array.shape, *array.strides]


def type_of(annotation, writable=True):
    """Return numba's type of an annotation: `Float1` and its like, a record, int, float, bool, (named) tuples, None."""
    simple = {int: types.int64, float: types.float64, bool: types.boolean, None: types.none, type(None): types.none}
    if annotation in simple:
        return simple[annotation]
    if isinstance(annotation, type) and issubclass(annotation, CompiledRecord):
        return record_type(annotation)
    if isinstance(annotation, type) and issubclass(annotation, tuple) and hasattr(annotation, "_fields"):
        parts = get_type_hints(annotation, include_extras=True)
        return types.BaseTuple.from_types([type_of(parts[name]) for name in annotation._fields], annotation)
    if get_origin(annotation) is Annotated:
        array, *marks = annotation.__metadata__
        return types.Array(array.kind, array.ndim, "C", readonly=not writable or READ_ONLY in marks)
    if get_origin(annotation) is tuple:
        return types.BaseTuple.from_types([type_of(part) for part in get_args(annotation)])
    raise TypeError(f"no type of compiled code for {annotation!r}")


@cache
def record_type(cls) -> "RecordType":
    """Return numba's type of a class of records."""
    hints = get_type_hints(cls, include_extras=True)
    shapes = {field.name: _known_shape(hints[field.name]) for field in fields(cls)}
    return RecordType(
        cls, tuple((field.name, type_of(hints[field.name], cls.writable)) for field in fields(cls)), shapes
    )


def _declared(hint) -> list[str]:
    """Return sizes, or their names, of the array of an annotation; an empty list where it declares no size."""
    return next((mark.split() for mark in hint.__metadata__ if isinstance(mark, str)), [])


def _known_shape(hint) -> tuple[int, ...]:
    """Return the shape of an annotation's array, zeros for sizes that differ between records; empty for a record."""
    if isinstance(hint, type):
        return ()
    declared = _declared(hint) or ["any"] * hint.__metadata__[0].ndim
    return tuple(int(size) if size.isdecimal() else 0 for size in declared)


def allocate(cls: type[_T], sizes: Mapping[str, int], **given: CompiledRecord) -> _T:
    """Return a record of zeros with its parts, by the shapes of the fields, in ``sizes``.

    Records passed by name take the places of parts. The arrays lie in one piece of memory. Raises KeyError for a shape
    in a size that is not there.
    """
    kind: Any = cls
    arrays, parts, size, pattern, pointers, offsets, places = _pattern(kind, tuple(sizes.items()))
    memory = np.zeros(size, np.uint8)
    address = memory.ctypes.data
    memory.setflags(write=kind.writable)
    made: dict[str, Any] = {name: np.ndarray(shape, dtype, memory, offset) for name, dtype, shape, offset in arrays}
    made |= {name: given.get(name) or allocate(part, sizes) for name, part in parts}
    words = pattern.copy()
    words[pointers] = offsets + address
    words[places] = [made[name].address for name, _ in parts]
    record = object.__new__(kind)  # what the constructor checks of arrays holds of these
    record.__dict__.update(made, words=words, address=words.ctypes.data)
    return record


@lru_cache(maxsize=256)
def _pattern(cls: Any, sizes: tuple[tuple[str, int], ...]) -> tuple:
    """Return the layout that all records of a class in ``sizes`` share.

    (name, dtype, shape, offset) of each array in the bytes of their memory; (name, class) of each part; number of
    bytes; words, with zeros in place of addresses; where addresses of arrays belong, and their offsets; where those of
    parts.
    """
    of, layout = dict(sizes), _layout(cls)
    arrays: list[tuple] = []
    words: list[int] = []
    pointers: list[int] = []
    places: list[int] = []
    size = 0
    for name, part in layout.items():
        if isinstance(part, type):
            places.append(len(words))
            words.append(0)
            continue
        dtype, shape, _ = part
        array = np.zeros([length if isinstance(length, int) else of[length] for length in shape], dtype)
        pointers.append(len(words) + DATA_WORD)
        words += _descriptor(array)
        arrays.append((name, dtype, array.shape, size))
        size += -(-array.nbytes // ALIGNMENT) * ALIGNMENT
    parts = [(name, part) for name, part in layout.items() if isinstance(part, type)]
    offsets = np.array([offset for *_, offset in arrays], dtype=np.int64)
    template, at, of_parts = (np.array(numbers, dtype=np.int64) for numbers in (words, pointers, places))
    return arrays, parts, max(size, ALIGNMENT), template, at, offsets, of_parts


@cache  # annotations are slow to read, and each call of `Mechanism.state` allocates a workspace
def _layout(cls: Any) -> dict[str, Any]:
    """Name of each field of a class of records to its class, or to (dtype, sizes or their names, roles)."""
    hints: dict[str, Any] = get_type_hints(cls, include_extras=True)
    layout: dict[str, Any] = {}
    for field in fields(cls):
        hint = hints[field.name]
        if isinstance(hint, type):
            layout[field.name] = hint
            continue
        array, *marks = hint.__metadata__
        declared = _declared(hint) or ["1"] * array.ndim
        shape = [int(size) if size.isdecimal() else size for size in declared]
        layout[field.name] = (
            _DTYPES[array.kind],
            shape,
            tuple(role for mark in marks if isinstance(mark, tuple) for role in mark),
        )
    return layout


class RoleField(NamedTuple):
    """A field with a role of a record, or of the field ``part`` of a record."""

    part: str
    name: str
    dtype: np.dtype
    shape: list[int | str]


@cache
def role_fields(cls: Any, role: tuple[str, ...]) -> tuple[RoleField, ...]:
    """Return fields with the role of a class of records, then the ones of its parts."""
    parts = {name: part for name, part in _layout(cls).items() if isinstance(part, type)}
    return tuple(
        RoleField(part, name, field[0], field[1])
        for part, kind in {"": cls, **parts}.items()
        for name, field in _layout(kind).items()
        if not isinstance(field, type) and set(role) <= set(field[2])
    )


def role_arrays(record: CompiledRecord, role: tuple[str, ...]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield names and arrays of the fields with the role of a record, and of its parts as "part field"."""
    own: Any = type(record)
    for part, name, _, _ in role_fields(own, role):
        yield (f"{part} {name}", getattr(getattr(record, part), name)) if part else (name, getattr(record, name))


class RecordType(types.Type):
    """numba's type of a record: its class, the types of its fields, and what is known of their shapes."""

    def __init__(self, record, members, shapes):
        self.record, self.members, self.shapes = record, members, shapes
        self.index = {field: (k, kind) for k, (field, kind) in enumerate(members)}
        # (name, class of a record, dtype, shape) of each member: numba's types are slow to look at
        self.parts = [
            (field, kind.record, None, ())
            if isinstance(kind, RecordType)
            else (field, None, _DTYPES[kind.dtype], shapes[field])
            for field, kind in members
        ]
        sizes = (1 if isinstance(kind, RecordType) else 5 + 2 * kind.ndim for _, kind in members)
        self.place = np.cumsum([0, *sizes]).tolist()
        layout = repr((members, shapes))
        super().__init__(f"{record.__name__}-{hashlib.sha256(layout.encode()).hexdigest()[:8]}")


@typeof_impl.register(CompiledRecord)
def _typeof(record, context):
    return record_type(type(record))


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
    """Return a field: the array structure from its words and its known sizes, or the pointer to another record."""
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
    if isinstance(kind, RecordType):
        return load(structure)
    value = ir.Constant(structure, ir.Undefined)
    for k, part in enumerate(structure.elements):
        value = builder.insert_value(value, load(part), k)
    return with_known_sizes(context, builder, kind, value, record.shapes[field])


def with_known_sizes(context, builder, kind, value, shape):
    """Return the structure ``value`` of a C-contiguous array of the type ``kind`` with its known sizes as constants.

    Sizes in ``shape`` are known if not zero; strides that follow from them become constants too.
    """
    word, stride, names = ir.IntType(64), _DTYPES[kind.dtype].itemsize, context.data_model_manager[kind]._fields
    for axis in reversed(range(kind.ndim)):
        if stride:
            value = builder.insert_value(value, word(stride), (names.index("strides"), axis))
        if shape[axis]:
            value = builder.insert_value(value, word(shape[axis]), (names.index("shape"), axis))
        stride *= shape[axis]
    return value
