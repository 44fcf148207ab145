"""Imports point one way."""

import ast
import re
from pathlib import Path

import networkx as nx
import pytest
from parsed_sources import statements, tree_of

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "varint"

# from the ground up; a module may import from its own room and from those below
ROOMS = [
    "base",
    "mathematics",
    "measures",
    "geometry",
    "model",
    "step",
    "plan",
    "kinematics",
    "meshes",
    "drawing",
    "mechanism",
    "results",
    "views",
    "files",
    "runs",
    "methods",
    "derivatives",
    "extras",
    "studies",
    "cli",
]
PUBLIC = {"__main__", "bridges", "formulations", "gym", "plot", "redmax"}  # names for users, which no room imports
FLOOR = {name: number for number, name in enumerate(ROOMS)} | dict.fromkeys(PUBLIC, len(ROOMS))
MOST_NAMES = 22  # directly below varint/, files apart
FORBIDDEN = {
    ("geometry", "measures"),
    ("results", "methods"),
    *((part, room) for part in ("runs", "methods") for room in ("drawing",)),
}
# parts of a room that know less than the room does: (part, what it must not import)
NARROW = {
    ("varint.step", "varint.plan.topology"),
    ("varint.model", "varint.plan.topology"),
    ("varint.plan.topology", "varint.measures"),
    ("varint.plan.topology", "varint.model"),
    ("varint.plan.topology", "varint.base.errors"),
    ("varint.geometry", "varint.mathematics.products"),
    ("varint.methods.variational", "varint.methods.reduced"),
    ("varint.methods.reduced", "varint.methods.variational"),
    ("varint.methods.reduced", "varint.views"),
    ("varint.methods.variational", "varint.views"),
}
# all that a room takes of another: names of a module
ONLY = {("step", "model"): {"varint.model.forces.LAWS"}}
# imports within functions of what stands above the module: (module, module above) to the reason
UPWARD = {
    ("varint.runs.trajectory", "varint.derivatives.linear.moment_arms"): (
        "traj.moment_arm is a method, and stands on the tree"
    ),
}
FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]


def file_of(module: str) -> Path:
    place = ROOT.joinpath(*module.split("."))
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


def room(path: Path) -> str:
    """The room that a file is in."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def module_of(path: Path) -> str:
    parts = (PACKAGE.name, *path.relative_to(PACKAGE).with_suffix("").parts)
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
    return FLOOR[module.split(".")[1]]


def upward(module: str, tree: ast.AST, modules: set[str]) -> set[tuple[str, str]]:
    """(module, module above) of each import within a function whose target stands in a higher layer."""
    targets = {module_named(name, modules) for name in late_imports(tree)} - {None, "varint"}
    return {(module, target) for target in targets if floor(target) > floor(module)}


def module_named(name: str, modules: set[str]) -> str | None:
    """The module of the package that ``name`` is, or is a name of."""
    return next((each for each in (name, name.rpartition(".")[0]) if each in modules), None)


def is_in(module: str, part: str) -> bool:
    return module == part or module.startswith(f"{part}.")


def check_imports(path):
    own, module = room(path), module_of(path)
    for name in imports(path):
        parts = name.split(".")
        if parts[0] in ("numba", "llvmlite"):
            assert is_in(module, "varint.base.numba"), f"{path} imports {parts[0]}"
        if parts[0] != "varint" or len(parts) == 1 or parts[1] not in FLOOR:
            continue
        target = parts[1]
        late = any(str(path) == str(file_of(a)) and name.startswith(f"{b}.") for a, b in UPWARD)
        assert late or FLOOR[target] <= FLOOR[own], f"{path}: {own} imports from {target}, above it"
        assert (own, target) not in FORBIDDEN, f"{path}: {own} must not know {target}"
        narrow = [(part, other) for part, other in NARROW if is_in(module, part) and is_in(name, other)]
        assert not narrow, f"{path}: {narrow} must not be imported"
        assert name in ONLY.get((own, target), {name}), f"{path}: {own} takes {name} of {target}"


def test_imports_point_down():
    for path in FILES:
        check_imports(path)


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        ("plan/topology/order.py", "from varint.base.errors import MechanismError"),
        ("step/rows.py", "from varint.model.joints import REGISTRY"),
        ("step/rows.py", "import numba"),
        ("measures/point.py", "from varint.step import plan"),
        ("mathematics/products/rows.py", "from varint.measures.base import Numbers"),
        ("plan/topology/order.py", "from varint.model.body import WORLD"),
        ("methods/reduced/tree.py", "import varint.methods.variational.march"),
        ("model/body.py", "from varint.step.plan import Plan"),
        ("step/step.py", "from varint.methods.reduced.events.selection import events_of"),
        ("step/one_sided.py", "from varint.methods.reduced.events.stops import Stops"),
    ],
)
def test_what_is_forbidden_is_found(path, wrong, tmp_path, monkeypatch):
    monkeypatch.setattr("test_layers.PACKAGE", tmp_path / "varint")
    file = tmp_path / "varint" / path
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
    tree = ast.parse("def plot(self):\n    def inner():\n        from varint.views.plots import plot\n")
    assert upward("varint.mechanism.mechanism", tree, {"varint.views.plots"}) == {
        ("varint.mechanism.mechanism", "varint.views.plots")
    }
    assert upward("varint.studies.trend", tree, {"varint.views.plots"}) == set()


def graph_of(name_of, typing: bool) -> nx.DiGraph:
    """Arrows between modules, as ``name_of`` names them; ``typing``: with imports for a type checker."""
    modules = {module_of(path) for path in FILES}
    graph = nx.DiGraph()
    for path in FILES:
        targets = {module_named(name, modules) for name in imported(tree_of(path), typing)} - {None, "varint"}
        pairs = ((name_of(module_of(path)), name_of(target)) for target in targets)
        graph.add_edges_from((a, b) for a, b in pairs if a != b)
    return graph


def rooms_graph() -> nx.DiGraph:
    """Arrows between rooms, without the late ones that go up."""
    graph = graph_of(lambda module: module.split(".")[1], typing=True)
    graph.remove_edges_from({(a.split(".")[1], b.split(".")[1]) for a, b in UPWARD})
    return graph


def circles(graph: nx.DiGraph) -> list[set[str]]:
    return [circle for circle in nx.strongly_connected_components(graph) if len(circle) > 1]


def test_modules_import_each_other_in_no_circle():
    """Late imports count, those for a type checker do not."""
    assert circles(graph_of(str, typing=False)) == []


def test_rooms_import_each_other_in_no_circle():
    """Imports for a type checker count; the late ones that go up do not."""
    assert circles(rooms_graph()) == []


def test_there_are_few_rooms():
    """Beside them one folder, of the public names of reduced coordinates, and single files."""
    assert {path.parent.name for path in PACKAGE.glob("*/__init__.py")} == {*ROOMS, "redmax"}
    assert len(ROOMS) + 1 <= MOST_NAMES


def test_the_page_on_architecture_has_this_order():
    page = (ROOT / "docs" / "architecture.md").read_text().split("```")[1]
    listed = [line.split()[0].strip("/").removesuffix(".py") for line in page.splitlines() if line.startswith("  ")]
    assert [name for name in listed if name in ROOMS] == ROOMS


def test_the_picture_of_the_rooms_is_of_today(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    import rooms

    assert rooms.svg() == rooms.PICTURE.read_text(), "run python docs/rooms.py"


def test_the_page_on_architecture_counts_the_lines_of_javascript():
    scripts = [path for path in (PACKAGE / "views" / "assets").glob("*.js") if path.name != "three.min.js"]
    (lines,) = re.findall(r"some (\d+) lines of JavaScript", (ROOT / "docs" / "architecture.md").read_text())
    assert int(lines) == pytest.approx(sum(len(path.read_text().splitlines()) for path in scripts), rel=0.1)


def test_every_file_is_in_a_room():
    assert {room(path) for path in FILES} == set(FLOOR)


def test_catalogue_uses_only_the_public_names():
    for path in (ROOT / "mechanisms").glob("*.py"):
        for name in imports(path):
            assert not name.startswith("varint.") or name.startswith("varint.mechanisms"), f"{path} imports {name}"


def test_every_package_is_shipped():
    import tomllib

    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    found = {".".join(path.parent.relative_to(ROOT).parts) for path in PACKAGE.rglob("__init__.py")}
    assert found | {"varint.examples", "varint.mechanisms"} == set(listed)
