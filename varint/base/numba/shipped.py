"""Compiled functions that a wheel brings along, for one class of processors, one version of numba and one of Python.

They lie in a folder of the package, with a manifest that says what they are for. Where one of these differs here,
nothing of the folder is used. The code is that of `CPU_CLASS` on all processors of the class, whatever they are called.
"""

import functools
import json
import platform
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numba
from llvmlite import binding

from varint.base.numba.digests import COMPILER, PACKAGE, VERSIONS

config: Any = numba.config

FOLDER = PACKAGE / "_compiled"
MANIFEST = "manifest.json"
CPU_CLASS = "x86-64-v3"
LEVELS = {  # of processors, with what each adds to the one before, in the words of LLVM
    "x86-64": ("cmov", "cx8", "fxsr", "mmx", "sse", "sse2"),
    "x86-64-v2": ("cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"),
    CPU_CLASS: ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"),
    "x86-64-v4": ("avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"),
}
FEATURES = ",".join(f"+{name}" for level in list(LEVELS)[: list(LEVELS).index(CPU_CLASS) + 1] for name in LEVELS[level])
ENVIRONMENT = {"NUMBA_CPU_NAME": CPU_CLASS, "NUMBA_CPU_FEATURES": FEATURES}  # compiles for the class


class Shipped(NamedTuple):
    """``folder`` of the compiled functions that can be used here, or None, and ``why_not``, empty
    where the package brings nothing along."""

    folder: Path | None
    why_not: str = ""


def cpu_class() -> str:
    """Return the highest class that this processor belongs to; the name of the architecture if it is not x86-64."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return platform.machine()
    there = binding.get_host_cpu_features()
    found = "x86-64"
    for level, features in LEVELS.items():
        if not all(there.get(name, False) for name in features):
            break
        found = level
    return found


@functools.cache
def find() -> Shipped:
    """Find the compiled functions shipped with this package that can be used here."""
    path = FOLDER / MANIFEST
    try:
        made_for = json.loads(path.read_text())
    except FileNotFoundError:
        return Shipped(None)
    except (OSError, ValueError) as problem:
        return Shipped(None, f"'{path}' cannot be read ({problem})")
    for name, here in manifest().items():
        there = made_for.get(name) if isinstance(made_for, dict) else None
        if there != here:
            return Shipped(None, f"they are for {name} {there}, here is {here}")
    levels = list(LEVELS)
    own = cpu_class()
    if own not in levels or levels.index(own) < levels.index(CPU_CLASS):
        return Shipped(None, f"they are for processors of class {CPU_CLASS}, here is {own}")
    if config.CPU_NAME not in (None, CPU_CLASS):
        return Shipped(None, f"they are for processors of class {CPU_CLASS}, NUMBA_CPU_NAME names {config.CPU_NAME}")
    if config.CPU_FEATURES not in (None, FEATURES):
        return Shipped(None, "NUMBA_CPU_FEATURES names other features of the processor")
    return Shipped(FOLDER)


def manifest() -> dict[str, str]:
    """Return versions, system and compiler that compiled functions of this process depend on, besides the processor.

    The file name of a function covers the rest: the code that it is compiled from.
    """
    return VERSIONS | {"system": sys.platform, "compiler": COMPILER}


def is_of_class(codegen) -> bool:
    """Return whether ``codegen``, of numba, makes the code that is shipped."""
    _, name, features = codegen.magic_tuple()
    return (name, features) == (CPU_CLASS, FEATURES)


def host() -> str:
    """Return LLVM's name of this processor."""
    return binding.get_host_cpu_name()
