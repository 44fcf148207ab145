"""Every URDF, SDF and MJCF of packages of the extra test-peers: what becomes of it, as the table in docs/formats.md.

python benchmarks/robot_files.py            # prints the table, and writes it into the page
python benchmarks/robot_files.py FOLDER ... # of files that you have: loads, repaired, runs 1 s, agrees with MuJoCo
"""

import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from robot_files import found, label, models, packages_of  # noqa: E402

import varint as vi  # noqa: E402

PAGE = ROOT / "docs" / "formats.md"
BEGIN, END = "<!-- files of robots -->\n", "<!-- end -->\n"
HEAD = (
    "| file | bodies | joints | loops | forces | approximated | not understood | open after 1 s (m), or why refused |\n"
)
DT = 1e-3


def row(path: Path) -> str:
    """The line of a file."""
    name = label(path)
    try:
        mechanism = _loaded(path)
    except (vi.FileError, vi.MechanismError) as problem:
        why = str(problem).replace(f"'{path}', ", "").replace("|", "/")
        return f"| {name} | | | | | | | {why} |\n"
    report = mechanism.import_report
    loops = len(mechanism.joints) - len(mechanism.bodies) + sum(_floating(mechanism))
    counts = len(mechanism.bodies), len(mechanism.joints), loops, len(mechanism.forces)
    changes = f"with `repair=True`, {len(report.repaired)} changed: " if report.repaired else ""
    cells = [*counts, len(report.approximated), len(report.not_understood), changes + result(mechanism)]
    return f"| {name} | {' | '.join(map(str, cells))} |\n"


def _loaded(path: Path) -> vi.Mechanism:
    """The mechanism as the file has it, or else repaired. Raises FileError, MechanismError."""
    try:
        return vi.load_mechanism(path, packages=packages_of(path))
    except (vi.FileError, vi.MechanismError):
        return vi.load_mechanism(path, packages=packages_of(path), repair=True)


def _floating(mechanism: vi.Mechanism):
    """One for each group of bodies that no joint ties to the world."""
    above = {name: name for name in ("world", *mechanism.body_index)}

    def top(name: str) -> str:
        return name if above[name] == name else top(above[name])

    for joint in mechanism.joints:
        above[top(joint.body_b)] = top(joint.body_a)
    yield from (1 for name in {top(name) for name in above} if name != top("world"))


def result(mechanism: vi.Mechanism) -> str:
    """What a passive run of a second comes to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", vi.UnresolvedWarning)
        try:
            return f"{vi.simulate(mechanism, 1.0, DT, every=10).drift.max():.0e}"
        except vi.VarintError as problem:
            return f"the run ends: {str(problem).partition(';')[0]}"


def table() -> str:
    """All rows."""
    rows = [row(path) for path in [*found(".urdf"), *found(".sdf"), *models()]]
    return HEAD + "|---|---|---|---|---|---|---|---|\n" + "".join(rows)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        from robot_agreement import table as table_of_folders

        for line in table_of_folders([Path(folder) for folder in sys.argv[1:]]):
            print(line, end="", flush=True)
        sys.exit()
    text = table()
    print(text)
    page = PAGE.read_text()
    before, _, rest = page.partition(BEGIN)
    PAGE.write_text(before + BEGIN + text + END + rest.partition(END)[2])
