"""Python files of the user as modules: their names in sys.modules, and functions in numba's cache."""

import subprocess
import sys

import pytest

from varint.base.errors import FileError
from varint.cli.method import registered_by
from varint.files.formats.script import ENTERED, executed
from varint.runs.method import REGISTERED

CACHED = "import numba\n@numba.njit(cache=True)\ndef moved(x, v, dt): return x + dt * v\n"
METHOD = """
import varint as vi
from dataclasses import dataclass
from varint.formulations import Stepped, register
@register
@dataclass(frozen=True, eq=False)
class {name}(Stepped):
    formulation = "{name}"
    def stepper(self, problem):
        return lambda s, dt: s
"""


@pytest.fixture
def modules():
    """Leaves sys.modules as it is."""
    before = set(sys.modules)
    yield sys.modules
    for name in set(sys.modules) - before:
        del sys.modules[name]
        ENTERED.discard(name)


def write(folder, name, text):
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.py").write_text(text)
    return folder / f"{name}.py"


@pytest.mark.slow
def test_compiled_functions_are_found_again_by_every_process(tmp_path):
    first, second = (write(tmp_path / folder, "own_file", CACHED) for folder in "ab")
    loads = (
        "from pathlib import Path; from varint.files.formats.script import executed\n"
        "for path in {}:\n    with executed(Path(path)) as module: pass\n"
    )
    hits = "assert module.moved(1.0, 2.0, 0.5) == 2.0; print(sum(module.moved.stats.cache_hits.values()))"
    for text, cached in (
        (f"import sys; sys.path.insert(0, {str(first.parent)!r}); import own_file as module\n", 0),
        (loads.format([str(first)]), 1),
        (loads.format([str(first), str(second)]), 0),  # known by its second name, the stem is taken
        (loads.format([str(second)]), 1),
    ):
        found = subprocess.run([sys.executable, "-P", "-c", text + hits], capture_output=True, text=True, cwd="/")
        assert found.stdout == f"{cached}\n", found.stderr


def test_each_file_is_a_module_of_its_name(tmp_path, modules):
    first, second = (write(tmp_path / folder, "own_file", f"value = '{folder}'") for folder in "ab")
    with executed(first) as module:
        assert modules["own_file"] is module
    with executed(first) as again:
        assert modules["own_file"] is again is not module
    with executed(second) as other:
        assert modules["own_file"] is again
        assert modules[other.__name__] is other
        assert other.__name__.startswith("own_file_")
        assert (again.value, other.value) == ("a", "b")


def test_names_of_other_modules_are_theirs(tmp_path, modules):
    import json

    for name in ("json", "antigravity", "my.own"):  # imported, to be had, none
        with executed(write(tmp_path, name, "value = 1")) as module:
            assert module.__name__.startswith(name.replace(".", "_") + "_")
            assert modules[module.__name__] is module
    assert modules["json"] is json
    assert not {"antigravity", "my.own"} & set(modules)


def test_a_module_that_was_imported_stays(tmp_path, modules, monkeypatch):
    path = write(tmp_path, "own_file", "value = 1")
    monkeypatch.syspath_prepend(tmp_path)
    import own_file

    with executed(path) as module:
        assert module.__name__ == "own_file"
        assert modules["own_file"] is own_file is not module


def test_a_file_that_fails_leaves_nothing(tmp_path, modules):
    path, before, methods = tmp_path / "own_file.py", set(modules), dict(REGISTERED)
    write(tmp_path, "own_file", METHOD.format(name="First") + "raise ValueError('no')")
    with pytest.raises(FileError, match=r"own_file.py', line 11: ValueError: no"):
        registered_by(path)
    assert not [name for name in set(modules) - before if "own_file" in name]
    assert methods == REGISTERED
    write(tmp_path, "own_file", "value = 1")
    with executed(path) as module:
        pass
    write(tmp_path, "own_file", "raise SystemExit")
    with pytest.raises(SystemExit), executed(path):
        pass
    assert modules["own_file"] is module
