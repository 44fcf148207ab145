"""A process that reads hostile inputs one after another, and prints a line of JSON on each: how it ended, s, MB.

Arguments: the reader, or "runs", and a folder. MB are those that the process has at its peak above those before.
"""

import contextlib
import json
import sys
import time
import warnings
from pathlib import Path

from file_runs import run
from hostile_inputs import inputs_of
from hostile_runs import CHANGES
from signed_files import signed

import varint as vi
from varint.model.mesh_file import read_mesh


def resident(key):
    """Return MB of this process, of /proc."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith(key))


def ended(call, *arguments, **options):
    """Return how the call ended, its s of processor time, its MB."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before, begun = resident("VmRSS"), time.process_time()
    try:
        call(*arguments, **options)
        end = "read"
    except vi.VarintError as problem:
        end = f"refused: {str(problem)[:20_000]}"
    except BaseException as problem:
        end = f"{type(problem).__name__}: {str(problem)[:300]}"
    return end, time.process_time() - begun, resident("VmHWM") - before


def runs(folder):
    """Load each changed run file, and go on with it."""
    path = Path(folder, "run.h5")
    run(path)
    content = path.read_bytes()

    def used():
        trajectory = vi.load(path)
        return trajectory.position.sum() + len(trajectory.reactions)

    for name, change in CHANGES.items():
        path.write_bytes(content)
        with contextlib.suppress(Exception):  # checksums of what cannot be read
            signed(path, change)
        print(json.dumps([name]), end="", flush=True)
        print(json.dumps(ended(used)), flush=True)


def main(reader, folder):
    warnings.simplefilter("ignore")
    if reader == "runs":
        runs(folder)
        return
    ended(vi.load_mechanism, Path(folder, "none.toml"))  # imports
    for name, suffix, content in inputs_of(reader):
        path = Path(folder, f"case{suffix}")
        path.write_bytes(content)
        for repair in (False,) if reader in ("TOML", "JSON", "meshes") else (False, True):
            print(json.dumps([f"{name}, repair" if repair else name]), end="", flush=True)
            options = {"repair": True} if repair else {}
            end = ended(read_mesh if reader == "meshes" else vi.load_mechanism, path, **options)
            print(json.dumps(end), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
