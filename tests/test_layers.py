"""Imports point one way."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "varint"

# from the ground up; a module may import from its own layer and from those below
LAYERS = [
    {"errors", "display", "_numba"},
    {"algebra"},
    {"products"},
    {"measures"},
    {"model", "topology"},
    {"kernels"},
    {"compile"},
    {"kinematics"},
    {"mechanism", "courses", "loads", "record"},
    {"analysis"},
    {"io"},
    {"problem"},
    {"running"},
    {"diagnosing"},
    {"integrators", "redmax"},
    {"formulations"},
    {"simulation"},
    {"gradients", "linear"},
    {"viz", "bridges"},
    {"plot"},
    {"comparison"},
    {"ensembles"},
    {"studies"},
    {"warming"},
    {"cli"},
    {"__main__"},
]
FLOOR = {name: number for number, layer in enumerate(LAYERS) for name in layer}
FORBIDDEN = {
    ("kernels", "topology"),
    ("model", "topology"),
    ("topology", "measures"),
    ("topology", "model"),
    ("measures", "topology"),
    ("integrators", "analysis"),
    ("integrators", "redmax"),
    ("redmax", "integrators"),
    ("simulation", "viz"),
}
# all that a layer takes of another: names of a module
ONLY = {("kernels", "model"): {"varint.model.forces.LAWS"}, ("topology", "errors"): set()}
# methods that call what stands above them, imported when they are called
UPWARD = {
    "analysis/trajectory.py": {"varint.io.tables", "varint.io.save_run", "varint.viz"},
    "analysis/diagnostics.py": {"varint.io.tables"},
    "analysis/trajectory_display.py": {"varint.viz"},
    "analysis/viewed.py": {"varint.viz"},
    "mechanism.py": {"varint.viz"},
    "redmax/__init__.py": {"varint.formulations.reduced", "varint.gradients.reduced"},
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
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path):
    own = part(path)
    for name in imports(path):
        parts = name.split(".")
        if parts[0] in ("numba", "llvmlite"):
            assert own == "_numba", f"{path} imports {parts[0]}"
        if parts[0] != "varint" or len(parts) == 1 or parts[1] not in FLOOR:
            continue
        late = any(name.startswith(f"{module}.") for module in UPWARD.get(str(path.relative_to(PACKAGE)), ()))
        assert late or FLOOR[parts[1]] <= FLOOR[own], f"{path}: {own} imports from {parts[1]}, above it"
        assert (own, parts[1]) not in FORBIDDEN, f"{path}: {own} must not know {parts[1]}"
        assert name in ONLY.get((own, parts[1]), {name}), f"{path}: {own} takes {name} of {parts[1]}"


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        ("kernels/rows.py", "from varint.model.joints import REGISTRY"),
        ("kernels/rows.py", "import numba"),
        ("measures/point.py", "from varint.kernels import plan"),
        ("products/rows.py", "from varint.measures.base import Numbers"),
        ("topology/order.py", "from varint.model.body import WORLD"),
        ("redmax/tree.py", "import varint.integrators.march"),
        ("model/body.py", "from varint.kernels.plan import Plan"),
    ],
)
def test_what_is_forbidden_is_found(path, wrong, tmp_path, monkeypatch):
    monkeypatch.setattr("test_layers.PACKAGE", tmp_path)
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text(wrong)
    with pytest.raises(AssertionError):
        test_imports_point_down(file)
    file.write_text("import numpy")
    test_imports_point_down(file)


def test_the_page_on_architecture_has_this_order():
    page = (ROOT / "docs" / "architecture.md").read_text().split("```")[1]
    listed = [line.split()[0].strip("/").removesuffix(".py") for line in page.splitlines() if line.startswith("  ")]
    known = [name for name in listed if name in FLOOR]
    assert set(known) == set(FLOOR)
    assert [FLOOR[name] for name in known] == sorted(FLOOR[name] for name in known)


def test_every_part_has_a_layer():
    assert {part(path) for path in FILES} == set(FLOOR)


def test_catalogue_uses_only_the_public_names():
    for path in (ROOT / "mechanisms").glob("*.py"):
        for name in imports(path):
            assert not name.startswith("varint.") or name.startswith("varint.mechanisms"), f"{path} imports {name}"


def test_every_package_is_shipped():
    import tomllib

    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    found = {".".join(path.parent.relative_to(ROOT).parts) for path in PACKAGE.rglob("__init__.py")}
    assert found | {"varint.examples", "varint.mechanisms"} == set(listed)
