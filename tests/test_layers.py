"""Imports point one way."""

import ast
from collections.abc import Sequence
from pathlib import Path

import networkx as nx
import pytest
from parsed_sources import statements, tree_of

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "varint"

# from the ground up; a module may import from its own layer and from those below
LAYERS = [
    {"errors", "display", "whole", "_numba"},
    {"algebra", "elasticity"},
    {"products"},
    {"measures"},
    {"collision"},
    {"model", "topology"},
    {"kernels"},
    {"compile"},
    {"kinematics"},
    {"drawing"},
    {"meshes"},
    {"configurations"},
    {"mechanism", "inputs", "record"},
    {"analysis"},
    {"viz"},
    {"io"},
    {"peers"},
    {"problem"},
    {"trajectory"},
    {"running"},
    {"diagnosing"},
    {"integrators", "redmax", "terms"},
    {"formulations"},
    {"simulation"},
    {"gradients", "linear"},
    {"stepper"},
    {"bridges", "gym"},
    {"plot"},
    {"comparison"},
    {"ensembles"},
    {"sliders", "serving"},
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
    *(("collision", part) for part in ("products", "measures")),
    ("integrators", "analysis"),
    ("integrators", "redmax"),
    ("redmax", "integrators"),
    *((part, room) for part in ("running", "integrators", "redmax", "simulation") for room in ("drawing", "viz")),
}
# all that a layer takes of another: names of a module
ONLY = {("kernels", "model"): {"varint.model.forces.LAWS"}, ("topology", "errors"): set()}
# imports within functions of what stands above the module: (module, module above) to the reason
UPWARD = {
    ("varint.redmax", "varint.formulations.reduced"): "vi.redmax.simulate is a public name, and stands on the method",
    (
        "varint.redmax",
        "varint.gradients.reduced_gradient",
    ): "vi.redmax.gradient is a public name, and stands on the tangents",
    ("varint.trajectory", "varint.linear.moment_arms"): "traj.moment_arm is a method, and stands on the tree",
}
FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]


def file_of(module: str) -> Path:
    place = ROOT.joinpath(*module.split("."))
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


def room(parts: Sequence[str]) -> str:
    """The room that a module is in, by its names below ``varint``; compiled code of terms is among the kernels."""
    return "kernels" if parts[0] == "terms" and "kernels" in parts else parts[0]


def part(path: Path) -> str:
    return room(path.relative_to(PACKAGE).with_suffix("").parts)


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(tree: ast.AST, typing: bool = True):
    """What is imported anywhere in ``tree``; without ``typing`` not what only a type checker imports."""
    for node in statements(tree, typing):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imports(path: Path):
    return imported(tree_of(path))


def late_imports(tree: ast.AST):
    """What is imported when a function is called, but for a type checker."""
    for node in statements(tree, typing=False):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from imported(node, typing=False)


def floor(module: str) -> int:
    return FLOOR[room(module.split(".")[1:])]


def upward(module: str, tree: ast.AST, modules: set[str]) -> set[tuple[str, str]]:
    """(module, module above) of each import within a function whose target stands in a higher layer."""
    targets = {module_named(name, modules) for name in late_imports(tree)} - {None, "varint"}
    return {(module, target) for target in targets if floor(target) > floor(module)}


def module_named(name: str, modules: set[str]) -> str | None:
    """The module of the package that ``name`` is, or is a name of."""
    return next((each for each in (name, name.rpartition(".")[0]) if each in modules), None)


def check_imports(path):
    own = part(path)
    for name in imports(path):
        parts = name.split(".")
        if parts[0] in ("numba", "llvmlite"):
            assert own == "_numba", f"{path} imports {parts[0]}"
        if parts[0] != "varint" or len(parts) == 1 or parts[1] not in FLOOR:
            continue
        target = room(parts[1:])
        late = any(str(path) == str(file_of(a)) and name.startswith(f"{b}.") for a, b in UPWARD)
        assert late or FLOOR[target] <= FLOOR[own], f"{path}: {own} imports from {target}, above it"
        assert (own, target) not in FORBIDDEN, f"{path}: {own} must not know {target}"
        assert name in ONLY.get((own, target), {name}), f"{path}: {own} takes {name} of {target}"


def test_imports_point_down():
    for path in FILES:
        check_imports(path)


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        ("kernels/rows.py", "from varint.model.joints import REGISTRY"),
        ("kernels/rows.py", "import numba"),
        ("measures/point.py", "from varint.kernels import plan"),
        ("products/product_rows.py", "from varint.measures.base import Numbers"),
        ("topology/order.py", "from varint.model.body import WORLD"),
        ("redmax/tree.py", "import varint.integrators.march"),
        ("model/body.py", "from varint.kernels.plan import Plan"),
        ("kernels/step.py", "from varint.terms.reduced_events import events_of"),
        ("terms/kernels/term_rows.py", "from varint.terms.limits.stops import Stops"),
    ],
)
def test_what_is_forbidden_is_found(path, wrong, tmp_path, monkeypatch):
    monkeypatch.setattr("test_layers.PACKAGE", tmp_path)
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text(wrong)
    with pytest.raises(AssertionError):
        check_imports(file)
    good = file.with_name("good.py")
    good.write_text("import numpy")
    check_imports(good)


def test_late_imports_go_up_where_a_reason_is_listed():
    modules = {module_of(path) for path in FILES}
    trees = {module_of(path): tree_of(path) for path in FILES}
    assert set().union(*(upward(module, tree, modules) for module, tree in trees.items())) == set(UPWARD)
    assert len(UPWARD) <= 3
    assert all(UPWARD.values())


def test_late_imports_that_go_up_are_seen():
    tree = ast.parse("def plot(self):\n    def inner():\n        from varint.viz.plots import plot\n")
    assert upward("varint.mechanism", tree, {"varint.viz.plots"}) == {("varint.mechanism", "varint.viz.plots")}
    assert upward("varint.studies.trend", tree, {"varint.viz.plots"}) == set()


def test_modules_import_each_other_in_no_circle():
    """Late imports count, those for a type checker do not."""
    modules = {module_of(path) for path in FILES}
    graph = nx.DiGraph()
    for path in FILES:
        targets = {module_named(name, modules) for name in imported(tree_of(path), typing=False)} - {None}
        graph.add_edges_from((module_of(path), target) for target in targets)
    circles = [circle for circle in nx.strongly_connected_components(graph) if len(circle) > 1]
    assert not circles


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
