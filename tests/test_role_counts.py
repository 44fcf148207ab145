"""Files that name a role of a step, and questions which roles a plan has: no more than docs/architecture.md says."""

import ast
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def role_counts():
    spec = importlib.util.spec_from_file_location("role_counts", ROOT / "benchmarks" / "role_counts.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def counted(role_counts, text):
    tree = ast.parse(text)
    return role_counts.roles_named(tree), [asked for _, _, asked in role_counts.questions({"file.py": tree})]


def test_a_file_names_a_role_by_imports_arrays_and_words(role_counts):
    assert counted(role_counts, "from varint.step.limits.rows import f\nx = plan.loads.kind\ny = PathMass()")[0] == {
        "hard limits", "loads", "masses along paths"}  # fmt: skip
    assert not counted(role_counts, "'''contacts'''\nx = joint.limits\nloads = 1  # plan.loads")[0]


def test_a_question_is_a_condition_on_a_size(role_counts):
    text = "if has_rows(plan) and not plan.loads.kind.size:\n    a = 1 if plan.laws.kind.size > 0 else 2"
    assert counted(role_counts, text)[1] == ["has_rows(plan)", "plan.loads.kind.size", "plan.laws.kind.size > 0"]
    assert not counted(role_counts, "for l in range(plan.loads.kind.size): x[l] = k < plan.contacts.height.size")[1]


@pytest.mark.slow
def test_no_role_is_named_in_more_files_than_before(role_counts):
    files, asked = role_counts.counts()
    page = (ROOT / "docs" / "architecture.md").read_text()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("|")]
    today = files | {"questions": asked}
    most = {cell[0]: int(cell[-1]) for cell in cells if cell[0] in today and cell[-1].isdigit()}
    assert set(most) == set(today)
    assert not {name: (count, most[name]) for name, count in today.items() if count > most[name]}
