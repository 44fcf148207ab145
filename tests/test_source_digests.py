"""The digests of sources in the names of compiled files: an edit compiles what depends on it, and no more."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import varint as vi
from varint.base.numba import CompiledRecord, sources
from varint.base.numba.jit import config

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="about compiled functions")


def digests(monkeypatch, edited=None):
    """Module to the digest of what its functions depend on, with a line added to the file of ``edited``."""
    files = dict(sources.compiled_files())
    if edited:
        files[edited] += "\nX = 1\n"
    for name in ("_needed_by", "digest_of_closure"):
        getattr(sources, name).cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(sources, "compiled_files", lambda: files)
        found = {name: sources.digest_of_closure(name) for name in files}
    for name in ("_needed_by", "digest_of_closure"):
        getattr(sources, name).cache_clear()
    return found


@pytest.mark.parametrize(
    ("edited", "changed", "same"),
    [
        ("step.derivatives.columns", {"step.derivatives.columns"}, {"step.step", "step.ldu", "measures.length"}),
        ("step.ldu", {"step.ldu", "step.newton", "step.step"}, {"step.rows"}),
        ("measures.length", {"step.measures", "step.step"}, {"mathematics.vectors", "measures.point"}),
        ("model.forces.spring", {"step.laws", "step.efforts"}, {"step.ldu", "measures.length"}),
    ],
)
def test_an_edit_changes_what_depends_on_it(edited, changed, same, monkeypatch):
    """Kinds of measures and laws are dispatched to from registries that find their files."""
    before, after = digests(monkeypatch), digests(monkeypatch, f"varint.{edited}")
    different = {name.removeprefix("varint.") for name in before if before[name] != after[name]}
    assert changed <= different
    assert not same & different


def test_the_fields_of_records_count_for_every_function():
    """Types of arguments do not tell the fields of a record."""
    common = {name for name, text in sources.compiled_files().items() if sources.RECORD.search(text)}
    assert {"varint.step.plan", "varint.mathematics.products.records", "varint.step.inputs"} <= common
    waiting, records = [CompiledRecord], set()
    while waiting:
        records |= (below := set(waiting.pop().__subclasses__()))
        waiting += below
    assert {record.__module__ for record in records if record.__module__.startswith("varint.")} <= common


EDITED = """
import warnings
import varint as vi
from varint.base.numba.cache import ORIGINS
vi.simulate(vi.mechanisms.double_pendulum(), 0.02, 0.01)
print(vi.__file__, ORIGINS["compiled"], ORIGINS["kept"])
"""


@pytest.mark.slow
@pytest.mark.long
def test_an_edit_compiles_what_it_must(tmp_path):
    """Of a copy of the package, whose place does not matter either."""
    root = Path(vi.__file__).parents[1]
    for copy in ("a", "b"):
        for folder in ("varint", "mechanisms"):
            shutil.copytree(root / folder, tmp_path / copy / folder, ignore=shutil.ignore_patterns("__pycache__"))

    def compiled(copy):
        given = {"env": os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}, "cwd": tmp_path / copy}
        done = subprocess.run([sys.executable, "-c", EDITED], **given, capture_output=True, text=True, check=True)
        place, fresh, kept = done.stdout.split()
        assert place.startswith(str(tmp_path / copy))
        return int(fresh), int(kept)

    every, _ = compiled("a")
    assert every > 3
    assert compiled("b")[0] == 0
    for file, most in (("derivatives/columns", 0), ("step", every // 2), ("ldu", every)):
        path = tmp_path / "b" / "varint" / "step" / f"{file}.py"
        path.write_text(path.read_text() + "\nX = 1\n")
        fresh, _ = compiled("b")
        assert fresh <= most
        assert (fresh > 0) == (most > 0)
    assert compiled("a")[0] == 0
