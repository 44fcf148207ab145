"""A short selection of tests with other versions of all packages: ``make test-oldest``, ``make test-newest``.

    python packaging/versions.py {oldest,newest} [--venv FOLDER] [--print] [TEST ...]

The oldest are the lower bounds in pyproject.toml, of varint itself and of its extras. The newest are what can be
installed when the upper bounds are left out, numba and llvmlite with their pre-releases: whether the bound of numba can
be raised. They are installed into an environment of their own.
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


COMPILERS = ("llvmlite", "numba")  # their pre-releases are tried too


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
    parser.add_argument("which", choices=("oldest", "newest"))
    parser.add_argument("tests", nargs="*", metavar="TEST", default=TESTS)
    parser.add_argument("--venv", type=Path)
    parser.add_argument("--print", action="store_true", help="print the constraints, and leave")
    args = parser.parse_args()
    constraints = bounds() if args.which == "oldest" else []
    if args.print:
        print("\n".join(constraints))
        return
    venv = args.venv or ROOT / "build" / args.which
    python = venv.absolute() / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    file = venv / "constraints.txt"
    file.write_text("\n".join(constraints) + "\n")
    packages = [bound.partition("==")[0] for bound in bounds()]
    install = [str(python), "-m", "pip", "install", "--quiet", "--upgrade", "--constraint", str(file)]
    subprocess.run([*install, *packages, *TOOLS], check=True)
    if args.which == "newest":
        subprocess.run([*install, "--pre", *COMPILERS], check=True)
    subprocess.run([str(python), "-m", "pip", "list", "--format", "freeze"], check=True)
    variables = os.environ | {"PYTHONPATH": str(ROOT)}
    tests = [test for test in args.tests if (ROOT / test.partition("::")[0]).exists()]
    warnings = ["-W", "ignore::DeprecationWarning", "-W", "ignore::PendingDeprecationWarning"]  # theirs, of then
    command = [str(python), "-m", "pytest", "-q", "-m", "not slow", *warnings, *tests]
    sys.exit(subprocess.run(command, cwd=ROOT, env=variables).returncode)


if __name__ == "__main__":
    main()
