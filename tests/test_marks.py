"""Marks that cases of tests get by their names."""

import warnings

import pytest
from compiled_first import ROWS
from conftest import FEW, pytest_collection_modifyitems


class Case:
    """One case, as far as marks are concerned."""

    def __init__(self, name, *marks):
        self.nodeid, self.marks = name, list(marks)

    def get_closest_marker(self, mark):
        return mark if mark in self.marks else None

    def add_marker(self, mark):
        self.marks.append(mark)


def marked(name, count, *marks, more=()):
    cases = [Case(f"tests/test_it.py::{name}[{k}]", *marks) for k in [*range(count), *more]]
    pytest_collection_modifyitems([*cases, Case("tests/test_it.py::test_another")])
    return [case.marks for case in cases]


def test_few_of_many_cases_are_fast():
    marks = marked("test_each", 300)
    assert marks.count([]) == FEW
    assert marks.count(["slow"]) == 300 - FEW
    assert marks == marked("test_each", 300)


def test_the_fast_ones_have_each_value_and_what_is_usual():
    more = [f"{name}-{way}" for way in ("maximal", "reduced") for name in ("ring", "four_bar", "tree", "snake")]
    fast = {name for name, marks in zip(more, marked("test_each", 0, more=more), strict=True) if not marks}
    assert len(fast) == FEW
    assert {part for name in fast for part in name.split("-")} >= {"maximal", "reduced", "four_bar"}


def test_few_cases_are_all_fast():
    assert marked("test_each", FEW) == [[]] * FEW


def test_a_quarter_of_slow_ones_of_many_cases_is_not_long():
    marks = marked("test_each", 24, "slow", "many")
    assert 0 < sum("long" not in each for each in marks) < 12


@pytest.mark.slow
def test_what_is_compiled_first_runs():
    """What fails there is passed over, so that it fails in the tests; a run that cannot be made would never be seen."""
    runs = [run for row in ROWS for run in row]
    assert len(runs) == len({run.__name__ for run in runs})
    for run in runs:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run()
