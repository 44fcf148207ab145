"""The files with compiled code, and all that compiled functions depend on.

A compiled function depends on its file and on what that imports, directly or not, among the files with compiled code.
A package that finds its files by itself, such as the registries of measures and of laws, stands for all of them. Some
files count for every function: the compiler's own, and those that define records, whose fields are part of the types
that functions are called with.
"""

import functools
import hashlib
import platform
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import llvmlite
import numba

PACKAGE = Path(__file__).parents[2]
COMPILED_FOLDERS = (
    "base/numba",
    "geometry",
    "mathematics",
    "measures",
    "meshes",
    "methods/reduced/recursions",
    "model/forces",
    "step",
)
IMPORTS = re.compile(
    r"^[ \t]*(?:from[ \t]+(varint[\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|import[ \t]+(varint[\w.]+))", re.M
)
RECORD = re.compile(r"^class \w+\(\w*Record\b", re.M)
FINDS_ITS_FILES = "iter_modules"


@functools.cache
def compiled_files() -> dict[str, str]:
    """Module name to the text of each file with compiled code."""
    paths = (path for folder in COMPILED_FOLDERS for path in sorted((PACKAGE / folder).rglob("*.py")))
    return {_module_of(path): path.read_text() for path in paths}


def _module_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(text: str) -> Iterator[str]:
    """Names of modules, packages, and of what is imported from them."""
    for package, names, module in IMPORTS.findall(text):
        if module:
            yield module
            continue
        yield package
        yield from (f"{package}.{name}" for name in re.findall(r"\w+", names))


@functools.cache
def _needed_by(module: str) -> frozenset[str]:
    """Modules with compiled code that ``module`` imports itself, and the files that it finds."""
    files = compiled_files()
    text = files[module]
    names = set(_imported(text))
    if FINDS_ITS_FILES in text:
        names |= {name for name in files if name.rpartition(".")[0] == module}
    return frozenset(names & files.keys())


@functools.cache
def digest_of_closure(module: str) -> bytes:
    """Digest of a module with compiled code and of all that it depends on. Raises KeyError for another module."""
    closure, waiting = set(), [module]
    while waiting:
        name = waiting.pop()
        if name not in closure:
            closure.add(name)
            waiting += _needed_by(name)
    return _digest(sorted(closure))


def _digest(modules: list[str]) -> bytes:
    digest = hashlib.sha256()
    for name in modules:
        digest.update(name.encode())
        digest.update(hashlib.sha256(compiled_files()[name].encode()).digest())
    return digest.digest()


SOURCES = _digest(sorted(compiled_files())).hex()[:16]
COMMON = _digest(
    [n for n, text in compiled_files().items() if n.startswith("varint.base.numba") or RECORD.search(text)]
)
# the minor version of Python: its bytecode stays the same within one
VERSIONS = {"numba": numba.__version__, "llvmlite": llvmlite.__version__, "python": f"{sys.implementation.cache_tag}"}
COMMON_HASH = hashlib.sha256(f"{COMMON.hex()} {VERSIONS} {platform.machine()}".encode()).hexdigest()[:16]
