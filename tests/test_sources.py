"""What the sources of the package may not contain: hidden protocols, and functions that nobody can read."""

import ast
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from parsed_sources import tree_of

import varint as vi
from varint.base.numba import CompiledRecord, addresses_of
from varint.step.plan import EffortWork, Plan
from varint.step.workspace import workspace

ROOT = Path(__file__).parent.parent
FILES = sorted((ROOT / "varint").rglob("*.py"))
MOST_LINES, MOST_LINES_OF_A_FILE = 80, 500
EXCEPTIONS = {
    "varint/derivatives/gradient.py gradient": "public; every option of a gradient, told in its docstring",
    "varint/studies/ensembles/ensemble_run.py ensemble": "public; every option of an ensemble, told in its docstring",
}
RUN_CODE = {  # what makes code of data, and the files that may
    "cloudpickle": {f"varint/studies/ensembles/{name}.py" for name in ("cluster", "ensemble_run", "worker")},
    "pickle": {"varint/base/numba/cache.py"},
    "exec": {"varint/base/numba/switch.py", "varint/files/formats/script.py"},
}
SERVE = {"http": {"varint/extras/live/page_server.py"}}  # what answers others, and the files that may
NEVER = ["__import__", "allow_pickle", "eval", "marshal", "requests", "shelve", "socket", "ssl", "urllib"]
ORDERED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
POSITIONAL = ("parameter", "parameters", "law_parameter", "law_parameters")


def kinds_in(trees) -> set[str]:
    """Constants that number the kinds of something: ``A, B = range(2)``, or several whole numbers at once."""
    found = set()
    for tree in trees:
        for node in tree.body:
            if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Tuple):
                continue
            names = [target.id for target in node.targets[0].elts if isinstance(target, ast.Name)]
            counted = isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "range"
            listed = isinstance(node.value, ast.Tuple) and all(
                isinstance(element, ast.Constant) and isinstance(element.value, int) for element in node.value.elts
            )
            asked = isinstance(node.value, ast.Tuple) and all("number_of" in ast.unparse(e) for e in node.value.elts)
            if counted or listed or asked:
                found |= {name for name in names if name.isupper()}
    return found


def ordered_kinds(tree, kinds) -> list[str]:
    """Comparisons by order with one of the constants ``kinds``."""
    return [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        and any(isinstance(operator, ORDERED) for operator in node.ops)
        and any(isinstance(part, ast.Name) and part.id in kinds for part in [node.left, *node.comparators])
    ]


def positional_parameters(tree) -> list[str]:
    """Subscripts by a number of an array of parameters."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            name = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
            places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            numbers = [place for place in places if isinstance(place, ast.Constant) and isinstance(place.value, int)]
            if name in POSITIONAL and numbers:
                found.append(ast.unparse(node))
    return found


def used_in(tree) -> set[str]:
    """Modules imported, functions called by their plain name, and names of arguments."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {part for alias in node.names for part in alias.name.split(".")}
        elif isinstance(node, ast.ImportFrom):
            found |= set(f"{node.module}".split(".")) | {alias.name for alias in node.names}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found.add(node.func.id)
        elif isinstance(node, ast.keyword) and node.arg:
            found.add(node.arg)
    return found


def functions_in(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def lines_of(function) -> int:
    """From the first line to the last, the docstring and decorators included."""
    return function.end_lineno - min([function.lineno, *(d.lineno for d in function.decorator_list)]) + 1


def too_long(trees: dict[str, ast.Module]) -> set[str]:
    return {
        f"{path} {function.name}"
        for path, tree in trees.items()
        for function in functions_in(tree)
        if lines_of(function) > MOST_LINES
    }


def sources() -> dict[str, ast.Module]:
    return {str(path.relative_to(ROOT)): tree_of(path) for path in FILES}


def test_the_reader_sees_what_it_looks_for():
    kinds = kinds_in(
        [ast.parse("JOINT, EFFORT = range(2)\nDEAD, HELD = 3, 4\nPOINT, AXIS = number_of(a), number_of(b)")]
    )
    assert kinds == {"JOINT", "EFFORT", "DEAD", "HELD", "POINT", "AXIS"}
    tree = ast.parse("a = kind >= HELD\nb = EFFORT < kind <= 3\nc = kind == JOINT\nd = x > EPSILON")
    assert ordered_kinds(tree, kinds) == ["kind >= HELD", "EFFORT < kind <= 3"]
    tree = ast.parse("plan.law_parameter[f, 1]; parameters[2]; parameter[k]; plan.laws.parameter[first + 1]; table[0]")
    assert positional_parameters(tree) == ["plan.law_parameter[f, 1]", "parameters[2]"]
    tree = ast.parse("import a.b as c\nfrom d.e import f\ng(h=1)\nx.y()")
    assert used_in(tree) == {"a", "b", "d", "e", "f", "g", "h"}
    long = ast.parse("def g():\n" + "    x = 1\n" * 80)
    short = ast.parse("def h(self, a, *, b):\n" + "    x = 1\n" * 79)
    assert too_long({"long": long, "short": short}) == {"long g"}


@pytest.mark.slow
def test_kinds_are_not_compared_by_their_order():
    trees = sources()
    kinds = kinds_in(trees.values())
    assert {"JOINT", "CONSTRAINT", "EFFORT", "SLIDING", "POINT"} <= kinds
    found = {path: wrong for path, tree in trees.items() if (wrong := ordered_kinds(tree, kinds))}
    assert not found


@pytest.mark.slow
def test_parameters_are_not_told_by_their_places():
    found = {path: wrong for path, tree in sources().items() if (wrong := positional_parameters(tree))}
    assert not found


@pytest.mark.slow
def test_functions_can_be_read():
    """No more than 80 lines, but for the exceptions; none of these is one without need."""
    assert len(EXCEPTIONS) <= 2
    assert too_long(sources()) == set(EXCEPTIONS)


@pytest.mark.slow
def test_code_is_made_of_data_only_where_it_is_told_and_no_connection_is_opened():
    """docs/security.md names these places."""
    used = {path: used_in(tree) for path, tree in sources().items()}
    for name, allowed in (RUN_CODE | SERVE).items():
        assert {path for path, found in used.items() if name in found} == allowed, name
    for name in NEVER:
        assert not {path for path, found in used.items() if name in found}, name


def test_no_file_above_500_lines():
    files = [*FILES, *Path(__file__).parent.rglob("*.py")]
    assert not [path for path in files if len(path.read_text().splitlines()) > MOST_LINES_OF_A_FILE]


def leaves(record, name=""):
    """Dotted name to each array of a record and of those in it."""
    for field in fields(record):
        part, own = getattr(record, field.name), f"{name}{field.name}"
        if isinstance(part, CompiledRecord):
            yield from leaves(part, f"{own}.")
        else:
            yield own, part


def push(value, rate):
    return -3.0 * value, -3.0, 0.0


def test_no_plan_holds_the_address_of_a_function():
    """That of a user's law, as a whole number or its bits in a float, stands in the workspace alone."""
    body = vi.Body.box("b", (0.1, 0.2, 0.3), 1.0)
    hinge = vi.Revolute("hinge", "world", "b", point=(0, 0, 0.1), axis=(0, 1, 0))
    force = vi.UserJointForce("f", joint="hinge", law=push)
    compiled = vi.Mechanism("one", [body], [hinge], forces=[force]).compiled
    (address,) = addresses_of([push]).tolist()
    assert isinstance(compiled.plan, Plan)

    def holding(record):
        near = [float(address), float(np.int64(address).view(np.float64))]
        return {name for name, array in leaves(record) if np.isin(array, [address, *near]).any() and address != 0}

    assert not holding(compiled.plan)
    ws = workspace(compiled.plan, functions=compiled.functions)
    assert holding(ws) == {"efforts.function"}
    assert [field.name for field in fields(EffortWork) if field.name in ("function", "address")] == ["function"]


def test_the_plan_is_read_only():
    """Every array frozen and contiguous: another type would compile everything twice."""
    for name in ("governor", "roller_coaster", "four_bar"):
        for where, array in leaves(getattr(vi.mechanisms, name)().compiled.plan):
            assert array.flags.c_contiguous, where
            assert not array.flags.writeable, where
