"""Wheels with compiled functions for x86-64-v3, one without, and the source distribution: ``make wheels``.

    python packaging/build_wheels.py [--python PYTHON ...] [--here] [--kind KIND ...] [--out FOLDER]

A wheel is made for each PYTHON, in an environment of its own with what varint needs; where none is named, for each of
3.11 to 3.13 that is found. ``--here`` makes that of this Python in place of them, with the packages that it has.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSIONS = ("3.11", "3.12", "3.13")
PLATFORM = "manylinux_2_17_x86_64"  # the code calls the C library by way of numba alone, whose wheels ask for more
COPIED = ("varint", "mechanisms", "examples", "tests", "docs", "benchmarks", "packaging")
FILES = ("pyproject.toml", "MANIFEST.in", "Makefile", "README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.egg-info", "_compiled", ".ipynb_checkpoints")
WARM = """
import sys
from varint.cli.warming import warm
for done in warm(sys.argv[2:], jobs=int(sys.argv[1]), shipped=False):
    print(f"    {done.kind}: {done.compiled} functions, {done.seconds:.0f} s", flush=True)
"""
HOOK = """
import json, sys
from setuptools import build_meta
print(getattr(build_meta, sys.argv[1])(sys.argv[2], *json.loads(sys.argv[3])))
"""
ABOUT = """
import json
from varint.base.numba import shipped
print(json.dumps([shipped.ENVIRONMENT, shipped.manifest() | {"processors": shipped.CPU_CLASS}]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", action="append", default=[], help="make a wheel for this interpreter")
    parser.add_argument("--here", action="store_true", help="make that of this interpreter, with its packages")
    parser.add_argument("--kind", action="append", default=[], help="kind of run to compile for, default all")
    parser.add_argument("--jobs", type=int, default=0, help="processes at a time, default one a core")
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    out = args.out.resolve()
    with tempfile.TemporaryDirectory(prefix="varint-") as folder:
        source = copy_of_source(Path(folder) / "source")
        os.chdir(source)
        made("build_sdist", out)
        plain = made("build_wheel", out)
        pythons = [sys.executable] if args.here else args.python or found_pythons()
        for number, python in enumerate(pythons):
            place = Path(folder) / f"python {number}"
            if not args.here:
                python = environment(python, plain, place / "venv")
            compile_functions(python, plain, place, source / "varint" / "_compiled", args)
            tag = subprocess.check_output(
                [python, "-c", "import sys; print('cp{}{}'.format(*sys.version_info))"], text=True
            ).strip()
            options = ["--python-tag", tag, "--plat-name", PLATFORM]
            made("build_wheel", out, {"--build-option": options})


def copy_of_source(source: Path) -> Path:
    """What the distributions are made of, away from the checkout; nothing else can get into them."""
    for name in COPIED:
        shutil.copytree(ROOT / name, source / name, ignore=LEFT_OUT, symlinks=True)
    linked = source / "varint" / "mechanisms"
    if linked.is_symlink():
        linked.unlink()
    for name in FILES:
        shutil.copy(ROOT / name, source)
    return source


def made(hook: str, out: Path, *settings: dict) -> Path:
    """The path of a distribution that a function of setuptools makes, without all that it says."""
    shutil.rmtree("build", ignore_errors=True)
    command = [sys.executable, "-c", HOOK, hook, str(out), json.dumps(settings)]  # it remembers folders in its process
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{hook} failed: {done.stderr}")
    path = out / done.stdout.splitlines()[-1]
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB", flush=True)
    return path


def found_pythons() -> list[str]:
    """Of `VERSIONS`, the interpreters on the path and beside that of this process."""
    found = []
    for version in VERSIONS:
        beside = sorted(Path(sys.base_prefix).parent.glob(f"{version}.*/bin/python"))
        path = str(beside[-1]) if beside else shutil.which(f"python{version}")
        if f"{sys.version_info.major}.{sys.version_info.minor}" == version:
            path = getattr(sys, "_base_executable", sys.executable)
        if path:
            found.append(path)
        else:
            print(f"no Python {version} here: no wheel for it", flush=True)
    return found


def environment(python: str, wheel: Path, venv: Path) -> str:
    """The interpreter of a new environment with all that varint needs."""
    print(f"  installing what varint needs for {python}", flush=True)
    subprocess.run([python, "-m", "venv", str(venv)], check=True)
    own = str(venv / "bin" / "python")
    subprocess.run([own, "-m", "pip", "install", "--quiet", f"{wheel}[contact]"], check=True)
    name = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["name"]
    subprocess.run([own, "-m", "pip", "uninstall", "--quiet", "--yes", name], check=True)
    return own


def compile_functions(python: str, wheel: Path, place: Path, into: Path, args: argparse.Namespace) -> None:
    """Compile, from the contents of ``wheel``, what the kinds of runs need, and put it ``into`` a folder."""
    site, cache = place / "site", place / "cache"
    with zipfile.ZipFile(wheel) as file:
        file.extractall(site)
    variables = os.environ | {"PYTHONPATH": str(site), "NUMBA_CACHE_DIR": str(cache)}
    about = subprocess.check_output([python, "-c", ABOUT], env=variables, cwd=place, text=True)
    target, manifest = json.loads(about)
    print(f"  compiling for {manifest['python']}, numba {manifest['numba']}", flush=True)
    command = [python, "-c", WARM, str(args.jobs), *args.kind]
    subprocess.run(command, env=variables | target, cwd=place, check=True)
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir()
    for path in sorted(cache.rglob("*.nbc")):
        shutil.copy(path, into)
    (into / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main()
