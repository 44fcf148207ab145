"""A short selection of tests with the oldest versions of all packages that are allowed: ``make test-oldest``.

    python packaging/oldest.py [--venv FOLDER] [--print] [TEST ...]

The versions are the lower bounds in pyproject.toml, of varint itself and of its extras; they are installed into an
environment of their own.
"""

import argparse
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXTRAS = ("contact", "parquet", "tables")  # whose tests are among these
TOOLS = ("pytest", "hypothesis", "jsonschema")  # of the extra test, any versions
TESTS = (
    "tests/test_trajectory.py",
    "tests/test_run_files.py",
    "tests/test_files.py",
    "tests/test_reduced_runs.py",
    "tests/test_redmax_stops.py",
    "tests/test_numba.py",
    "tests/test_cache.py",
    "tests/test_pictures.py",
    "tests/test_courses.py",
    "tests/test_command.py",
    "tests/test_doctor.py",
)


def bounds(extras: tuple[str, ...] = EXTRAS) -> list[str]:
    """``name==version`` of each lower bound. Raises ValueError for a requirement that has none."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = list(project["dependencies"])
    for extra in extras:
        needed += project["optional-dependencies"][extra]
    found = {}
    for text in needed:
        match = re.fullmatch(r"([\w.-]+)>=([\d.]+)(,<[\d.]+)?", text)
        if match is None:
            raise ValueError(f"'{text}' has no lower bound: NAME>=VERSION")
        found[match[1]] = f"{match[1]}=={match[2]}"
    return sorted(found.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", nargs="*", metavar="TEST", default=TESTS)
    parser.add_argument("--venv", type=Path, default=ROOT / "build" / "oldest")
    parser.add_argument("--print", action="store_true", help="print the constraints, and leave")
    args = parser.parse_args()
    if args.print:
        print("\n".join(bounds()))
        return
    python = args.venv.absolute() / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(args.venv)], check=True)
    constraints = args.venv / "constraints.txt"
    constraints.write_text("\n".join(bounds()) + "\n")
    packages = [bound.partition("==")[0] for bound in bounds()]
    install = [str(python), "-m", "pip", "install", "--quiet", "--constraint", str(constraints)]
    subprocess.run([*install, *packages, *TOOLS], check=True)
    variables = os.environ | {"PYTHONPATH": str(ROOT)}
    tests = [test for test in args.tests if (ROOT / test.partition("::")[0]).exists()]
    warnings = ["-W", "ignore::DeprecationWarning", "-W", "ignore::PendingDeprecationWarning"]  # theirs, of then
    command = [str(python), "-m", "pytest", "-q", "-m", "not slow", *warnings, *tests]
    sys.exit(subprocess.run(command, cwd=ROOT, env=variables).returncode)


if __name__ == "__main__":
    main()
