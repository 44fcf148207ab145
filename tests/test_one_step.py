"""Compiled functions that only one of the two steps calls: no more than docs/architecture.md says, and all by name."""

import importlib.util
import sys
from pathlib import Path

import pytest

from varint.step.limits.rows import write_closed_rows
from varint.step.newton import evaluate_step

ROOT = Path(__file__).parents[1]
WHAT_TO_DO = (
    "call a function of the role in both steps; else `python benchmarks/one_step.py --list` has the page's list"
)


@pytest.fixture(scope="module")
def one_step():
    spec = importlib.util.spec_from_file_location("one_step", ROOT / "benchmarks" / "one_step.py")
    sys.modules["one_step"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_functions_are_followed_through_hooks_and_pointers(one_step):
    if not hasattr(evaluate_step, "py_func"):
        pytest.skip("functions are not compiled")
    reached = one_step.reached([evaluate_step.py_func])
    assert write_closed_rows.py_func in reached
    assert one_step.role_of(write_closed_rows.py_func) == "hard limits"
    assert one_step.role_of(evaluate_step.py_func) == "the scheme itself"


def test_a_function_of_one_step_alone_is_counted_there(one_step):
    table = {("contacts", "back"): ({"contacts/adjoint.py f"}, set()), ("elimination", "back"): ({"ldu.py f"}, set())}
    assert one_step.counts(table)["contacts"] == (1, 0)
    assert not any(map(any, (pair for role, pair in one_step.counts(table).items() if role != "contacts")))
    assert list(one_step.names(table, "contacts")) == ["`contacts/adjoint.py` f"]


@pytest.mark.slow
def test_no_more_functions_than_before_are_called_by_one_step_alone(one_step):
    page = (ROOT / "docs" / "architecture.md").read_text()
    page = page[page.index("### What only one of the two steps calls") :]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("|")]
    most = {cell[0]: tuple(map(int, cell[-1].split(" + "))) for cell in cells if cell[0] in one_step.FILES}
    table = one_step.alone()
    today = one_step.counts(table)
    assert set(most) == set(today)
    more = {
        role: (pair, most[role]) for role, pair in today.items() if pair[0] > most[role][0] or pair[1] > most[role][1]
    }
    assert not more, WHAT_TO_DO
    assert all(reason and files for reason, files in one_step.GROUPS.values())
    assert {role for role, _ in table} <= {*one_step.FILES, *one_step.GROUPS}  # each belongs somewhere
    for role in one_step.FILES:
        missing = [each for each in one_step.names(table, role) if each not in page]
        assert not missing, WHAT_TO_DO
