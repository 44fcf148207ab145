"""What the first simulation of a mechanism compiles, where nothing is compiled yet.

    python benchmarks/first_run.py              # functions, bytes and bytes of all entries; ratios to first_run.json
    python benchmarks/first_run.py --write      # replaces first_run.json; the commit says why they changed
    python benchmarks/first_run.py --seconds    # processor seconds of all processes, from an empty cache

Counted are the functions that a run's machine code is made of and the bytes of their bytecode, each function once, and
in all entries that hold it: it is optimised anew in each. Neither the processor nor other work on the machine changes
these numbers. Exit status 1 where one is above that of the file by more than `LIMIT`,
2 where they cannot be compared: another minor version of Python, whose bytecode differs.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIMIT = 1.01  # of a ratio
COUNTS = Path(__file__).with_name("first_run.json")
PYTHON = f"{sys.implementation.cache_tag}"
RUNS = {  # name to the code of a run, by the public interface
    "double pendulum": "vi.simulate(vi.mechanisms.double_pendulum(), 0.1, 0.01)",
    "four-bar": "vi.simulate(vi.mechanisms.four_bar(), 0.1, 0.01)",
    "four-bar with springs": """
linkage = vi.mechanisms.four_bar()
springs = [vi.TorsionSpring(joint.name, joint=joint.name, stiffness=1.0, damping=0.1) for joint in linkage.joints]
given = {"forces": springs, "gravity": linkage.gravity, "start": linkage.start}
vi.simulate(vi.Mechanism("sprung", linkage.bodies, linkage.joints, **given), 0.1, 0.01)
""",
    "box on the ground": """
box = vi.Body.box("box", (1, 1, 1), 1.0, position=(0, 0, 0.5))
corners = [(x, y, 0) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
floor = vi.HardContact("floor", "box", points=corners, friction=0.25)
vi.simulate(vi.Mechanism("box", [box], [vi.Free("free", "world", "box")], forces=[floor]), 0.1, 0.01)
""",
}
COUNT = """
import json
from varint.base.numba.cache import USED
from varint.base.numba.digests import compiled_into

def size(functions):
    return sum(len(function.__code__.co_code) for function in functions)

entries = [compiled_into(function) for function in USED]
reached = set().union(*entries)
print(json.dumps([len(reached), size(reached), sum(map(size, entries))]))
"""


def run(tree: Path, code: str, **variables: str) -> str:
    """Run ``code`` with the package of ``tree`` in a process of its own; return what it prints."""
    environment = os.environ | {"PYTHONPATH": str(tree)} | variables
    done = subprocess.run(
        [sys.executable, "-c", f"import varint as vi\n{code}"], env=environment, cwd=tree, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def count(tree: Path, name: str) -> list[int]:
    """Numbers of functions, of bytes of bytecode, and of those of all entries, that a run compiles or has compiled."""
    return json.loads(run(tree, RUNS[name] + COUNT).splitlines()[-1])


def seconds(tree: Path, name: str) -> float:
    """Processor seconds of a run with an empty cache, those of all its processes."""
    with tempfile.TemporaryDirectory() as cache:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run(tree, RUNS[name], NUMBA_CACHE_DIR=cache)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Exit status: see the top."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="replace first_run.json")
    parser.add_argument("--seconds", action="store_true", help="processor seconds in place of counts")
    args = parser.parse_args()
    if args.seconds:
        for name in RUNS:
            print(f"{name:24}{seconds(ROOT, name):8.1f} s", flush=True)
        return 0
    known = json.loads(COUNTS.read_text()) if COUNTS.exists() else {"python": PYTHON, "runs": {}}
    if known["python"] != PYTHON and not args.write:
        print(f"{COUNTS.name} was made with {known['python']}, this is {PYTHON}")
        return 2
    counts, more = {}, False
    for name in RUNS:
        counts[name] = count(ROOT, name)
        ratios = [now / then for now, then in zip(counts[name], known["runs"].get(name, counts[name]), strict=True)]
        more = more or max(ratios) > LIMIT
        functions, size, repeated = counts[name]
        ratios_shown = " ".join(f"{ratio:.3f}" for ratio in ratios)
        print(f"{name:24}{functions:6} functions{size:10,}{repeated:10,} bytes   {ratios_shown}", flush=True)
    if args.write:
        COUNTS.write_text(json.dumps({"python": PYTHON, "runs": counts}, indent=1) + "\n", encoding="utf-8")
        return 0
    return int(more)


if __name__ == "__main__":
    sys.exit(main())
