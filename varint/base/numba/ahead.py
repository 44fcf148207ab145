"""Entries that are compiled ahead: in a process of their own, while this one compiles what it needs first."""

import contextlib
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from varint.base.numba.cache import WantedCode

ENTRIES: dict[str, list[Any]] = defaultdict(list)  # of modules that are imported, by what is compiled first
_begun: dict[Any, subprocess.Popen] = {}
_PLACE = Path(__file__).parents[3]
_CHILD = """
import importlib, sys  # with -P: nothing of the folder that the user is in is imported
place, module, name = sys.argv[1:]
sys.path.append(place)
from varint.base.numba.cache import WantedCode
WantedCode.ahead = False
entry = getattr(importlib.import_module(module), name)
entry.compile(entry.annotated)
"""


def begin(first: Any) -> Iterator[Any]:
    """Begin compiling, each in its own process, entries that belong to ``first`` and are not ready; yield each of them.

    ``first``: an entry that this process compiles now. Another is begun only where a core is free for it and its result
    will be kept. If its compilation fails there, it is compiled here when it is called.
    """
    free = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for entry in ENTRIES.get(first.what, ()) if WantedCode.ahead and sys.executable else ():
        if free < 2 or entry in _begun or entry.is_ready or not entry.keeps:
            continue
        command = [sys.executable, "-P", "-c", _CHILD, str(_PLACE), entry.py_func.__module__, entry.py_func.__name__]
        nothing = subprocess.DEVNULL
        with contextlib.suppress(OSError):  # no process can be had
            _begun[entry] = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing)
            free -= 1
            yield entry


def wait_for(entry: Any) -> None:
    """Wait until the process that compiles ``entry``, if any, has ended: by then it lies in the cache folder."""
    process = _begun.pop(entry, None)
    if process is not None:
        process.wait()
