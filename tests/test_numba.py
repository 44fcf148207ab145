"""What the package builds on numba: records, calls through a pointer, users' laws; and the pieces of numba it uses."""

import copy
import os
import pickle
import subprocess
import sys
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import pytest
from llvmlite import binding
from numba.core import types
from numba.core.compiler import Flags
from numba.core.datamodel import default_manager
from poses import arrays_of

import varint as vi
from varint.base.numba import (
    Bool1,
    CompiledRecord,
    Float1,
    Float2,
    Int1,
    ReadOnly,
    addresses_of,
    call_back,
    compiled_law,
    indirect,
    inner_sizes,
    natural,
    njit,
)
from varint.base.numba.compiler import PartFlags, PartLibrary
from varint.base.numba.jit import config
from varint.base.numba.record_class import _descriptor, record_type
from varint.step.workspace import workspace

compiled_only = pytest.mark.skipif(config.DISABLE_JIT, reason="about compiled functions")


@dataclass(frozen=True, eq=False)
class Parts(CompiledRecord):
    mass: Float1
    count: Int1


@dataclass(frozen=True, eq=False)
class Whole(CompiledRecord):
    parts: Parts
    place: Annotated[Float2, "places 2"]
    open: Bool1


@dataclass(frozen=True, eq=False)
class Scratch(CompiledRecord, writable=True):
    total: Float1


def whole(scale=1.0):
    parts = Parts(scale * np.array([1.0, 2.0, 4.0]), np.array([3, 5]))
    return Whole(parts, scale * np.arange(6.0).reshape(3, 2), np.array([True, False]))


@njit
def summed(given, scratch):
    scratch.total[0] = given.parts.mass[0] + given.parts.mass[2] * given.parts.count[1]
    scratch.total[1] = given.place[2, 1] if given.open[0] else 0.0
    return given.parts.mass.size


def sums(given):
    scratch = Scratch(np.zeros(2))
    assert summed(given, scratch) == 3
    return scratch.total.tolist()


def test_fields_and_nested_records_are_read():
    assert sums(whole()) == [21.0, 5.0]
    assert sums(whole(2.0)) == [42.0, 10.0]


COPIES = {
    "pickle": lambda record: pickle.loads(pickle.dumps(record)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "replace": replace,
}


@pytest.mark.parametrize("way", COPIES)
def test_a_copy_has_an_address_of_its_own(way):
    record = whole()
    other = COPIES[way](record)
    assert type(other) is Whole
    assert other.address == other.words.ctypes.data != record.address
    assert other.words[0] == other.parts.address
    place = _descriptor(other.place)
    assert other.words[1 : 1 + len(place)].tolist() == place
    del record
    np.zeros(1000)  # where the first one was
    assert sums(other) == [21.0, 5.0]
    assert not other.place.flags.writeable
    assert not other.parts.mass.flags.writeable


def test_a_deep_copy_of_scratch_is_apart():
    scratch = Scratch(np.zeros(2))
    other = copy.deepcopy(scratch)
    summed(whole(), other)
    assert scratch.total.tolist() == [0.0, 0.0]
    assert other.total.tolist() == [21.0, 5.0]


WRONG = {
    "dtype": (np.arange(6).reshape(3, 2), "Whole.place must be an array of float64 of 2 dimensions, got int64 of 2"),
    "dimensions": (np.zeros(6), "Whole.place must be an array of float64 of 2 dimensions, got float64 of 1"),
    "sizes": (np.zeros((2, 3)), r"Whole.place must have the shape \(any, 2\), got \(2, 3\)"),
    "list": ([[0.0]], "Whole.place must be an array of float64 of 2 dimensions, got <class 'list'>"),
    "layout": (np.zeros((2, 3)).T, "Whole.place must be C-contiguous"),
    "byte order": (np.zeros((3, 2), dtype=">f8"), "Whole.place must be an array of float64"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_field_is_named(what):
    wrong, message = WRONG[what]
    with pytest.raises(TypeError, match=message):
        replace(whole(), place=wrong)


def test_a_wrong_record_is_named():
    with pytest.raises(TypeError, match=r"Whole\.parts must be a Parts"):
        replace(whole(), parts=Scratch(np.zeros(1)))


def test_scratch_must_be_writable():
    total = np.zeros(2)
    total.setflags(write=False)
    with pytest.raises(TypeError, match=r"Scratch\.total must be writable"):
        Scratch(total)


PAIRS = inner_sizes(2)


@njit
def last_of(array, at):
    hinted = PAIRS(array)
    return hinted[natural(at[0]), 1], hinted.shape[0], hinted.shape[1], hinted[natural(at[0])].sum()


def test_hints_change_no_result():
    array = np.arange(8.0).reshape(4, 2)
    assert last_of(array, np.array([2])) == (5.0, 4, 2, 9.0)


@compiled_only
def test_a_class_of_records_has_one_type():
    summed(whole(), Scratch(np.zeros(2)))
    summed(copy.deepcopy(whole()), Scratch(np.ones(7)))
    assert len(summed.signatures) == 1


@compiled_only
def test_compiled_functions_cannot_write_to_read_only_records():
    @njit
    def write(record):
        record.place[0, 0] = 1.0

    with pytest.raises(Exception, match="Cannot modify readonly array"):
        write(whole())


@indirect
def scaled(given: Parts, factor: float, number: int, vector: tuple[float, float], source: ReadOnly[Float1],
           out: Float1) -> float:  # fmt: skip
    for k in range(out.size):
        out[k] = factor * given.mass[k] + number * vector[k % 2] + source[k]
    return out[0]


@indirect
def never_prepared(out: Float1) -> None:
    out[0] = 1.0


@njit
def through_a_pointer(given, source, out):
    return scaled(given, 2.0, 3, (1.0, 10.0), source, out)


@njit
def through_an_empty_cell(out):
    never_prepared(out)


@pytest.mark.slow
def test_calls_through_a_pointer():
    scaled.prepare()
    frozen = np.ones(3)
    frozen.setflags(write=False)
    for source in (np.ones(3), frozen):
        out = np.zeros(3)
        assert through_a_pointer(whole().parts, source, out) == 6.0
        assert out.tolist() == [6.0, 35.0, 12.0]
    out = np.zeros(3)
    assert scaled(whole().parts, 2.0, 3, (1.0, 10.0), frozen, out) == 6.0


@compiled_only
def test_an_empty_cell_is_told():
    out = np.zeros(1)
    with pytest.raises(RuntimeError, match=r"never_prepared is not prepared: call its prepare\(\) before"):
        through_an_empty_cell(out)
    never_prepared.prepare()
    through_an_empty_cell(out)
    assert out[0] == 1.0


@compiled_only
def test_arguments_of_other_types_do_not_compile():
    @njit
    def call(given, out):
        return scaled(given, 2.0, 3, (1.0, 10.0), out, given.mass)  # read-only

    with pytest.raises(Exception, match="No implementation of function"):
        call(whole().parts, np.zeros(3))


def law(value, rate):
    return value - 2.0 * rate, 1.0, -2.0


@njit
def called_back(addresses, value, rate):
    return call_back(addresses[0], value, rate)


def test_users_laws_are_compiled_once_and_called_by_address():
    addresses = addresses_of([law, law])
    assert addresses.dtype == np.int64
    assert addresses[0] == addresses[1] == addresses_of([law])[0]
    assert called_back(addresses, 5.0, 1.0) == (3.0, 1.0, -2.0)
    assert compiled_law(law)(5.0, 1.0) == (3.0, 1.0, -2.0)
    assert compiled_law(law) is compiled_law(law)


@pytest.mark.parametrize("name", ["double_pendulum", "governor", "roller_coaster"])
def test_a_pickled_plan_and_workspace_run(name):
    """The addresses in it are those of its own arrays, and none is that of a function."""
    mechanism = getattr(vi.mechanisms, name)()
    plan = mechanism.compiled.plan
    for copied in (pickle.loads(pickle.dumps(plan)), copy.deepcopy(plan)):
        assert record_type(type(copied)) is record_type(type(plan))
        assert len(list(arrays_of(plan))) > 50
        assert all(np.array_equal(a, b) for a, b in zip(arrays_of(copied), arrays_of(plan), strict=True))
        copy.deepcopy(workspace(copied, 1))


@pytest.mark.slow
def test_records_and_calls_as_plain_python():
    """The same tests without compilation."""
    if config.DISABLE_JIT:
        return
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    done = subprocess.run(command, env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


SCRIPT = """
import sys
import numpy as np
from varint.base.numba import Float1, indirect, njit

@indirect
def doubled(out: Float1) -> float:
    out[0] *= 2.0
    return out[0]

@njit
def part(out):
    return doubled(out) + 1.0

@njit
def entry(out):
    return part(out)

doubled.prepare()
assert entry(np.array([3.0])) == 7.0
print(sum(entry.stats.cache_hits.values()), sum(doubled.compiled.stats.cache_hits.values()))
"""


@pytest.mark.slow
@compiled_only
def test_a_caller_from_the_cache_finds_its_cell_in_a_new_process(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, str(path)]
    first, second = (subprocess.check_output(command, env=environment, text=True) for _ in range(2))
    assert first.split() == ["0", "0"]
    assert second.split() == ["1", "1"]
    assert not list((tmp_path / "cache").rglob("*part*"))  # only what is entered is kept


# What follows uses the insides of numba as `_numba` does: where one of these fails after an update of numba, the
# module named in it is to be mended.


def uncached(function):
    """`njit`, compiled at each run of the tests."""
    entry = njit(function)
    entry._cache.disable()
    return entry


@compiled_only
def test_insides_record_layout_of_arrays():
    """record.py: `_descriptor` writes the words of this structure."""
    model = default_manager[types.Array(types.float64, 2, "C")]
    assert model._fields == ("meminfo", "parent", "nitems", "itemsize", "data", "shape", "strides")
    array = np.zeros((3, 4))
    assert _descriptor(array) == [0, 0, 12, 8, array.ctypes.data, 3, 4, 32, 8]


@compiled_only
def test_insides_compiler_a_part_is_typed_once_and_not_made_into_machine_code():
    """compiler.py: parts have code for others only; of an entry, itself and its wrapper keep their names."""

    @njit
    def part(x):
        return 3.0 * x

    @uncached
    def entry(x):
        return part(x) + part(2.0)

    assert entry(1.0) == 9.0
    assert not part.overloads  # no entry was made of it
    (found,) = part.part.overloads.values()
    assert isinstance(found.library, PartLibrary)
    assert found.entry_point is found.fndesc
    assert not found.library._object_caching_enabled
    (whole,) = entry.overloads.values()
    visible = {
        function.name
        for function in whole.library.get_defined_functions()
        if function.linkage.name == "external" and function.name.startswith("_ZN")
    }
    assert visible == {whole.fndesc.llvm_func_name, whole.fndesc.llvm_cpython_wrapper_name}


@compiled_only
def test_insides_compiler_passes_and_flags():
    """compiler.py: numba's pipeline holds the pass that is left out, as (class, text); flags tell their values."""
    flags = Flags()
    flags.no_compile = True
    assert "no_compile" in flags.summary()
    assert PartFlags.of(flags) is PartFlags.of(flags.copy())
    assert PartFlags.of(flags).copy() is PartFlags.of(flags)

    @uncached
    def function(x):
        return x

    function(1.0)
    (found,) = function.part.overloads.values()
    pipelines = found.metadata["pipeline_times"]
    assert list(pipelines) == ["part"]
    ran = [name.split("_", 1)[1] for name in pipelines["part"]]
    assert "native_lowering" in ran
    assert "nopython_rewrites" not in ran


@compiled_only
def test_insides_compiler_vectors():
    """compiler.py: rows of scalars become vectors; without, the solver takes a quarter more."""

    @uncached
    def add(a, b):
        a[0], a[1], a[2], a[3] = a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]

    a = np.ones(4)
    add(a, np.arange(4.0))
    assert a.tolist() == [1.0, 2.0, 3.0, 4.0]
    (found,) = add.overloads.values()
    found.library._disable_inspection = False  # says that it may be outdated, which it is not
    assert "x double>" in found.library.get_llvm_str()


@compiled_only
def test_insides_indirect_calls():
    """indirect.py: a call loads the address from a cell that the linker knows by name."""
    scaled.prepare()
    assert binding.address_of_symbol(scaled.symbol) == scaled.cell.ctypes.data
    assert scaled.cell[0] != 0
