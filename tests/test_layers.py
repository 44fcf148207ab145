"""Imports point one way, and no file grows too long."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "varint"

# from the ground up; a module may import from its own layer and from those below
LAYERS = [
    {"errors", "_numba"},
    {"algebra"},
    {"kernels", "model", "topology"},
    {"products"},
    {"compile"},
    {"kinematics", "loads"},
    {"mechanism"},
    {"analysis"},
    {"io"},
    {"running"},
    {"integrators", "redmax"},
    {"simulation"},
    {"viz"},
    {"comparison"},
    {"cli"},
]
FLOOR = {name: number for number, layer in enumerate(LAYERS) for name in layer}
FORBIDDEN = {
    ("kernels", "model"),
    ("kernels", "topology"),
    ("topology", "model"),
    ("integrators", "analysis"),
    ("redmax", "integrators"),
}
FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]


def part(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imports(path: Path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module
            if node.module == "varint":
                yield from (f"varint.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path):
    own = part(path)
    for name in imports(path):
        parts = name.split(".")
        if parts[0] in ("numba", "llvmlite"):
            assert own == "_numba", f"{path} imports {parts[0]}"
        if parts[0] != "varint" or len(parts) == 1 or parts[1] not in FLOOR:
            continue
        assert FLOOR[parts[1]] <= FLOOR[own], f"{path}: {own} imports from {parts[1]}, above it"
        assert (own, parts[1]) not in FORBIDDEN, f"{path}: {own} must not know {parts[1]}"


def test_every_part_has_a_layer():
    assert {part(path) for path in FILES} == set(FLOOR)


def test_catalogue_uses_only_the_public_names():
    for path in (ROOT / "mechanisms").glob("*.py"):
        for name in imports(path):
            assert not name.startswith("varint.") or name.startswith("varint.mechanisms"), f"{path} imports {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_file_above_500_lines(path):
    assert len(path.read_text().splitlines()) <= 500


def test_every_package_is_shipped():
    import tomllib

    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    found = {".".join(path.parent.relative_to(ROOT).parts) for path in PACKAGE.rglob("__init__.py")}
    assert found | {"varint.mechanisms"} == set(listed)
