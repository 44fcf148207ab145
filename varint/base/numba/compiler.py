"""Compilation of kernels: each function typed once, and made into machine code only where Python enters.

By itself numba optimises a function and makes machine code and a wrapper for Python of it for each of its signatures,
also where other compiled functions call it and nobody else. Here such a function is a *part*: typed, translated
to LLVM's language and no more. An *entry*, a function that Python or a pointer calls, takes all of its parts into one
library, and that one is optimised and kept in the cache folder.
"""

import gc
import inspect
import sys
from collections import defaultdict
from functools import cached_property
from typing import Any, ClassVar, get_type_hints

from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import PassManager
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NopythonRewrites

from varint.base.clock import stopped_clock
from varint.base.numba.ahead import ENTRIES, begin, wait_for
from varint.base.numba.cache import cache_folder, tell
from varint.base.numba.pace import PACE
from varint.base.numba.record_class import CompiledRecord, record_type, type_of

SUBJECTS: dict[str, list["Entry"]] = defaultdict(list)  # long to compile, by what is announced
_announced: set["Entry"] = set()  # and not compiled yet


class PartLibrary(JITCodeLibrary):
    """The code of one part, for other libraries."""

    def add_linking_library(self, library):
        self._linking_libraries.append(library)

    def finalize(self):
        self._finalized = True

    def closure(self):
        """Return this library and all libraries that it needs, each once and after all that call it.

        LLVM drops a function that nothing calls by the time it is linked.
        """
        found: dict[Any, None] = {}

        def visit(library):
            if library not in found:
                for needed in library._linking_libraries if isinstance(library, PartLibrary) else ():
                    visit(needed)
                found[library] = None

        visit(self)
        return list(reversed(found))


class EntryLibrary(JITCodeLibrary):
    """All code of an entry; of the functions in it only ``visible`` keep their names, which frees the optimiser."""

    visible: frozenset = frozenset()

    def _optimize_final_module(self):
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage.name.startswith("linkonce"):
                function.linkage = "external" if function.name in self.visible else "internal"
        # numba runs its passes twice, for reference counts, which kernels have not; and leaves rows of
        # scalars as they are, where vectors make the solver a quarter faster
        manager, builder = self._codegen._module_pass_manager(slp_vectorize=True)
        manager.run(self._final_module, builder)


class PartFlags(Flags):
    """numba's options of parts. numba asks for their hash at each operation that it types; these know it."""

    known: ClassVar[dict] = {}

    @classmethod
    def of(cls, flags):
        """Return the one object with the values of ``flags``."""
        flags.no_compile = True
        key = flags.summary()
        if key not in cls.known:
            cls.known[key] = cls(flags)
            cls.known[key].number = hash(key)
        return cls.known[key]

    def copy(self):
        return self

    def __hash__(self):
        return self.number

    def __eq__(self, other):
        return self is other


class PartCompiler(CompilerBase):
    """numba's own passes but for the rewriting of array expressions, which kernels have not, into a `PartLibrary`."""

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, locals):
        library = PartLibrary(targetctx.codegen(), "part")
        super().__init__(typingctx, targetctx, library, args, return_type, PartFlags.of(flags), locals)

    def define_pipelines(self):
        whole = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager = PassManager("part")
        manager.passes.extend(step for step in whole.passes if step[0] is not NopythonRewrites)
        manager.finalize()
        return [manager]


class PartDispatcher(CPUDispatcher):
    """The compiled forms of a function that other compiled functions call."""

    def __init__(self, py_func, locals=None, targetoptions=None):
        super().__init__(py_func, locals or {}, targetoptions, pipeline_class=PartCompiler)

    def get_call_template(self, args, kws):
        # one form for all constants: the optimiser finds them without types of their own
        args = tuple(types.unliteral(kind) for kind in args)
        kws = {name: types.unliteral(kind) for name, kind in kws.items()}
        return super().get_call_template(args, kws)

    def add_overload(self, cres):
        """Add a signature like numba, but without a function for Python: callers find the code by its description."""
        self.targetctx.insert_user_function(cres.fndesc, cres.fndesc, [cres.library])
        self.overloads[tuple(cres.signature.args)] = cres._replace(entry_point=cres.fndesc)


class EntryCompiler(_FunctionCompiler):
    """Makes the part of a function and all that it calls into one library, with a wrapper for Python."""

    def __init__(self, entry: "Entry", usual: _FunctionCompiler) -> None:
        self.__dict__.update(vars(usual))  # without another look at the function's arguments, for some 300 functions
        self.entry, self.pipeline_class = entry, PartCompiler

    def _compile_core(self, args, return_type):
        self._announce()
        usual = gc.get_threshold()
        gc.set_threshold(50_000, 20, 100)  # the objects of a compilation live long: looking for dead ones takes a tenth
        try:
            with PACE.timed(self.entry.seconds):
                return self._entry(args)
        finally:
            gc.set_threshold(*usual)

    def _announce(self):
        """Announce a long compilation and the entries that belong to it. Only uncached entries come here."""
        entry = self.entry
        if not entry.seconds or entry in _announced:
            _announced.discard(entry)
            return
        often = "once on a machine" if entry.keeps else "and again in each process"
        if cache_folder() is None:
            often += ", for no folder can be written: set NUMBA_CACHE_DIR"
        _tell_of(entry, often)
        for other in begin(entry):
            _tell_of(other, "at the same time")
            _announced.add(other)

    def _entry(self, args):
        self.entry.part.compile(tuple(args))
        found = self.entry.part.overloads[tuple(args)]
        context = found.target_context
        library = EntryLibrary(context.codegen(), found.fndesc.qualname)
        library.enable_object_caching()
        library.visible = frozenset([found.fndesc.llvm_func_name])
        for part in found.library.closure():
            library.add_linking_library(part)
        context.create_cpython_wrapper(library, found.fndesc, found.environment, found.call_helper, release_gil=True)
        function = context.get_executable(library, found.fndesc, found.environment)
        return found._replace(library=library, entry_point=function, metadata={})


def _tell_of(entry: "Entry", how: str) -> None:
    """Announce that an entry is compiled, with the other entries that belong to it."""
    together = [other for other in SUBJECTS[entry.what] if other is entry or not other.is_ready]
    _announced.update(other for other in together if other is not entry)
    tell(f"compiling {entry.what}, about {PACE.estimate(sum(other.seconds for other in together))} s, {how} ...")


class Entry(CPUDispatcher):
    """A compiled function: called from Python it is an entry, in compiled functions a part of theirs.

    ``seconds``: about how long it takes to compile as an entry; 0 if it need not be announced. ``what``: what is
    announced then, one for all entries that are needed together. ``ahead``: see `njit`.
    """

    _cache: Any

    def __init__(self, py_func, locals=None, targetoptions=None, seconds=0, what="", ahead=""):
        super().__init__(py_func, locals or {}, targetoptions)
        self.seconds, self.what = seconds, what or f"{py_func.__module__}.{py_func.__name__}"
        if seconds:
            SUBJECTS[self.what].append(self)
        if ahead:
            ENTRIES[ahead].append(self)
        self._compiler = EntryCompiler(self, self._compiler)

    @cached_property
    def part(self) -> PartDispatcher:
        """Compiled code for calls from other compiled functions; made where something is compiled."""
        return PartDispatcher(self.py_func, self.locals, self.targetoptions)

    @property
    def is_ready(self) -> bool:
        """Whether it is compiled in memory, in the cache folder or in the package."""
        return bool(self.signatures) or getattr(self._cache, "is_kept", False)

    @property
    def keeps(self) -> bool:
        """Whether a function compiled now will be there in later processes."""
        return getattr(self._cache, "keeps", False)

    def compile(self, sig):
        """Compile like numba, or read from the cache folder if another process is compiling the function now."""
        with stopped_clock():
            wait_for(self)
            return super().compile(sig)

    @property
    def annotated(self) -> tuple:
        """The types that the annotations of the arguments say."""
        hints = get_type_hints(self.py_func, include_extras=True)
        return tuple(type_of(hints[name]) for name in inspect.signature(self.py_func).parameters)

    @property
    def _numba_type_(self):
        return types.Dispatcher(self.part)

    def typeof_pyval(self, val):
        """Return numba's type of an argument. Kernels take records at every call, whose type is known at once."""
        return record_type(type(val)) if isinstance(val, CompiledRecord) else super().typeof_pyval(val)

    def __reduce__(self):
        """Return its name for pickling a function of a module: another process compiles it for itself."""
        module, name = sys.modules.get(self.__module__), self.__qualname__
        return name if getattr(module, name, None) is self else super().__reduce__()
