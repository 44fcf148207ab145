"""The digests in the names of compiled files: an edit compiles what it can change, and no more."""

import itertools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from linked_cache import link_cache

import varint as vi
from varint.base.numba import CompiledRecord
from varint.base.numba.jit import config
from varint.base.numba.record_class import record_type

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="about compiled functions")

FUNCTIONS = {  # file below varint/step to a compiled function of it
    "step": "advance_step",
    "ldu": "solve_newton",
    "laws": "law_effort",
    "contacts/rows": "press_contacts",
    "contacts/cones": "add_pushes",
    "derivatives/columns": "apply_wide",
    "march/steps": "take_steps",
}
WITH_DOT = {"contacts/rows", "derivatives/columns", "step"}  # call `dot` of vectors
TIMES = itertools.count(2_000_000_000)
DIGESTS = """
import importlib, json, sys
from varint.base.numba.digests import COMMON_HASH, digest_of
digests = {"all": COMMON_HASH}
for file, name in json.loads(sys.argv[1]).items():
    function = getattr(importlib.import_module(f"varint.step.{file.replace('/', '.')}"), name)
    digests[file] = digest_of(getattr(function, "compiled", function).py_func).hex()
print(json.dumps(digests))
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the package."""
    root, folder = Path(vi.__file__).parents[1], tmp_path_factory.mktemp("copy")
    for name in ("varint", "mechanisms"):
        shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "_compiled"))
    return folder


def outcome(copy, script, *arguments, **environment):
    command = [sys.executable, "-c", script, *arguments]
    options = {"cwd": copy, "env": os.environ | environment, "capture_output": True, "text": True}
    return subprocess.run(command, **options, check=True).stdout


def digests(copy, **environment):
    return json.loads(outcome(copy, DIGESTS, json.dumps(FUNCTIONS), **environment))


@pytest.fixture(scope="module")
def before(copy):
    return digests(copy)


@pytest.fixture
def edit(copy):
    """Replaces ``old`` in a file of the copy by ``new``; puts it back afterwards."""
    files = {}

    def write(path, text):
        path.write_text(text)
        seconds = next(TIMES)  # Python tells a changed file by its size and the second of its change
        os.utime(path, (seconds, seconds))

    def replace(file, old, new):
        path = copy / "varint" / f"{file}.py"
        files.setdefault(path, path.read_text())
        assert old in path.read_text()
        write(path, path.read_text().replace(old, new, 1))

    yield replace
    for path, text in files.items():
        write(path, text)


@pytest.mark.slow
def test_they_are_those_of_every_process(copy, before):
    assert digests(copy, PYTHONHASHSEED="1") == digests(copy, PYTHONHASHSEED="2") == before


@pytest.mark.slow
def test_comments_lines_and_docstrings_compile_nothing(copy, before, edit):
    for file in ("contacts/cones", "step", "ldu"):
        edit(f"step/{file}", "\n\n\n@njit\ndef", "\n\n\n# a comment\n\n\n@njit\ndef")
        edit(f"step/{file}", '    """', '    """Of another edition. ')
    edit("base/numba/spans", "\n\n\ndef", "\n\n\n# a comment\n\n\ndef")
    assert digests(copy) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "old", "new", "changed"),
    [
        ("step/contacts/cones", "NEARLY = 1.0 - 1e-10", "NEARLY = 1.0 - 2e-10", {"contacts/rows"}),
        ("step/ldu", "seconds=5", "seconds=6", set()),
        ("mathematics/vectors", "return a[0] * b[0]", "return b[0] * a[0]", WITH_DOT),
        ("model/forces/spring", "return -stiffness", "return 0.0 - stiffness", {"laws"}),
        ("step/march/records", "slot: Int1", "seat: Int1", {"march/steps"}),
        ("base/numba/jit", '"nogil": True', '"nogil": False', {"all", *FUNCTIONS}),
    ],
)
def test_an_edit_changes_what_it_is_compiled_into(file, old, new, changed, copy, before, edit):
    """Constants, functions that are called, kinds and laws behind a switch, records, options; not behind a pointer."""
    edit(file, old, new)
    after = digests(copy)
    assert {name for name in before if before[name] != after[name]} == changed


def test_the_type_of_a_record_tells_its_fields():
    waiting, records = [CompiledRecord], []
    while waiting:
        below = waiting.pop().__subclasses__()
        records += [record for record in below if record.__module__.startswith("varint.")]
        waiting += below
    assert len(records) > 20
    assert len({str(record_type(record)) for record in records}) == len(records)


SHORT = "vi.simulate(vi.mechanisms.double_pendulum(), 0.02, 0.01)"
RUN = f"""
import varint as vi
from varint.base.numba.cache import ORIGINS
{SHORT}
print(vi.__file__, ORIGINS["compiled"])
"""


@pytest.mark.slow
def test_an_edit_compiles_what_it_must(copy, edit, tmp_path):
    """A pendulum runs without compiling anything after a comment anywhere, or a changed constant of contacts."""

    def compiled():
        place, count = outcome(copy, RUN, NUMBA_CACHE_DIR=str(tmp_path)).split()
        assert place.startswith(str(copy))
        return int(count)

    eval(SHORT, {"vi": vi})  # the cache has all of it then
    link_cache(tmp_path, "varint.step.step.record_node-")
    assert compiled() == 1
    assert compiled() == 0
    edit("step/step", "\n\n\n@njit\ndef", "\n\n\n# a comment\n\n\n@njit\ndef")
    edit("step/contacts/cones", "NEARLY = 1.0 - 1e-10", "NEARLY = 1.0 - 2e-10")
    assert compiled() == 0
    edit("step/ldu", "\n\n\n@njit\ndef", "\n\n\n@njit\ndef unused(x):\n    return x\n\n\n@njit\ndef")
    assert compiled() == 0
