"""The lint of words: the rules for functions see what they look for, and pass what keeps them."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "packaging" / "words.py"
KEEPS_ALL = '''
@property
def size(self):
    """Number of rows."""

@njit
def fill(plan, ws, rows, out):
    """Write the values of ``rows`` (n, 2, 6) to ``out`` (n,), and their sums to ``ws.sums``."""
    for r in range(rows.shape[0]):
        out[r] = rows[r, 0, 0]
        ws.sums[r] += out[r]

@njit
def turned(u):
    """Return three numbers ``u``, turned by a right angle about z."""
    return -u[1], u[0], u[2]
'''


@pytest.fixture(scope="module")
def words():
    spec = importlib.util.spec_from_file_location("words", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_functions_that_keep_the_rules_pass(words):
    assert list(words.broken_rules(KEEPS_ALL)) == []


@pytest.mark.parametrize(
    ("good", "bad", "rule"),
    [
        ('"""Write the', '"""To write the', "verb"),
        ('"""Return three', '"""Whether three', "verb"),
        ("Number of rows", "Number of those rows", "word"),
        ("Return three numbers", "Return what are three numbers", "word"),
        ("self", "given", "name"),
        ("for r in", "for own in", "name"),
        ("``rows`` (n, 2, 6)", "``rows``", "array"),
        ("``out`` (n,)", "``out``", "array"),
        (", and their sums to ``ws.sums``", "", "write"),
        ("Write the values of ``rows`` (n, 2, 6) to", "Compare ``rows`` (n, 2, 6),", "write"),
    ],
)
def test_each_rule_is_seen_to_be_broken(words, good, bad, rule):
    assert good in KEEPS_ALL
    assert {name for _, name, _ in words.broken_rules(KEEPS_ALL.replace(good, bad))} == {rule}


@pytest.mark.slow  # `make lint` runs it too
def test_clean_places_keep_the_rules(words):
    files = set(words.files_of(words.CLEAN)) - set(words.files_of(words.EXCEPT))
    assert [line for file in files for _, line in words.rule_complaints(file)] == []
