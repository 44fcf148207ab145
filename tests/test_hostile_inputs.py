"""Fifty inputs for each reader that were made to take time or memory: each ends within 2 s and 500 MB."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hostile_inputs import READERS, inputs_of
from hostile_runs import CHANGES

import varint as vi
from varint.model.mesh_file import read_mesh

LONGEST, MOST = 2.0, 500.0  # s of processor time, MB: what takes more grows without end, these take a tenth
LONGEST_MESSAGE = 10_000  # characters: twenty mistakes, each with a value
WORKER = Path(__file__).parent / "hostile_worker.py"


def ends_of(reader, folder):
    """Return how each input ended: refused or read, s and MB, by name."""
    command = [sys.executable, str(WORKER), reader, str(folder)]
    path = {"PYTHONPATH": str(Path(vi.__file__).parents[1])}
    output = subprocess.run(command, env=path, capture_output=True, text=True, timeout=900).stdout
    decoder, ends = json.JSONDecoder(), {}
    for line in output.splitlines():
        name, place = decoder.raw_decode(line)
        ends[name[0]] = json.loads(line[place:] or '["the process died", 0, 0]')
    return ends


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc")
@pytest.mark.parametrize("reader", [*READERS, "meshes"])
def test_inputs_without_end_are_refused_or_read_soon(reader, tmp_path):
    ends = ends_of(reader, tmp_path)
    assert len(ends) >= len({name for name, *_ in inputs_of(reader)}) >= 48
    wrong = {
        name: end
        for name, end in ends.items()
        if not end[0].startswith(("read", "refused"))
        or end[1] > LONGEST
        or end[2] > MOST
        or len(end[0]) > LONGEST_MESSAGE
    }
    assert not wrong


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc")
def test_run_files_that_lie_are_refused_before_memory_is_taken(tmp_path):
    ends = ends_of("runs", tmp_path)
    assert len(ends) == len(CHANGES) >= 50
    harmless = {"20000 names of nodes", "10^12 rows"}  # what is behind the nodes, and beside them, is not read
    wrong = {name: end for name, end in ends.items() if not end[0].startswith("refused") and name not in harmless}
    assert not wrong
    assert not {name: end for name, end in ends.items() if end[1] > LONGEST or end[2] > 300.0}


FAST = {"URDF": ["many attributes", "a long encoding"], "MJCF": ["copies of copies", "a flexcomp", "many attributes"],
        "TOML": ["lists by repetition, twelve deep", "brackets of an expression", "a call"],
        "meshes": [".glb one mesh many times", ".dae nodes by repetition", ".dae one mesh many times"]}  # fmt: skip


@pytest.mark.parametrize("reader", ["URDF", "MJCF", "TOML", pytest.param("meshes", marks=pytest.mark.slow)])
def test_what_grows_by_repetition_is_refused(reader, tmp_path):
    for name, suffix, content in inputs_of(reader):
        if name in FAST[reader]:
            path = tmp_path / f"case{suffix}"
            path.write_bytes(content)
            with pytest.raises(vi.VarintError) as problem:
                read_mesh(path) if reader == "meshes" else vi.load_mechanism(path)
            assert len(str(problem.value)) < 500
