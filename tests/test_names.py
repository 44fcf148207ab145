"""Names of public classes occur once in the package; formulations are named in the registry and their files alone."""

import ast
import inspect
import re
from collections import Counter
from pathlib import Path

import varint as vi
from varint.runs.method import PLACES

PACKAGE = Path(__file__).parent.parent / "varint"
FILES = sorted(PACKAGE.rglob("*.py"))
HOMES = {"runs/method.py", *(f"{module.replace('.', '/')}.py" for module in PLACES.values())}
OTHER_MEANING = {"studies/order_study.py"}  # "reduced", a kind of reference


def twice(names):
    return {name for name, count in Counter(names).items() if count > 1}


def test_a_name_of_a_public_class_occurs_once():
    classes = (name for path in FILES for name in re.findall(r"^ *class ([A-Za-z]\w*)[(:]", path.read_text(), re.M))
    assert twice(classes) == set()


def signatures():
    """Name to signature of the public functions, the methods of public classes, and the mechanisms."""
    public = {name: getattr(vi, name) for name in dir(vi) if not name.startswith("_")}
    own = {
        name: thing
        for name, thing in public.items()
        if callable(thing)
        and getattr(thing, "__module__", "").startswith("varint")
        and not (inspect.isclass(thing) and issubclass(thing, Exception | Warning))
    }
    methods = {
        f"{name}.{key}": method
        for name, thing in own.items()
        if inspect.isclass(thing)
        for key, method in vars(thing).items()
        if inspect.isfunction(method) and not key.startswith("_")
    }
    mechanisms = {name: getattr(vi.mechanisms, name) for name in vi.mechanisms.NAMES}
    return {name: str(inspect.signature(thing)) for name, thing in {**own, **methods, **mechanisms}.items()}


def test_signatures_can_be_read():
    """What help() prints: ArrayLike is not spelled out, and no annotation shows a function."""
    assert [name for name, text in signatures().items() if "_SupportsArray" in text or "<function" in text] == []


def named_formulations(text):
    """Strings in code that are the name of a formulation, but for docstrings and defaults of parameters."""
    if not any(f'"{name}"' in text for name in PLACES):  # as the formatter writes strings
        return set()
    tree, silent = ast.parse(text), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            silent.add(node.value)
        if isinstance(node, ast.arguments):
            silent |= {*node.defaults, *node.kw_defaults}
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and node not in silent)
    return {node.value for node in constants if node.value in PLACES}


def test_the_counter_sees_code_only():
    text = 'def f(x="maximal"):\n    """reduced"""\n    return x\n'
    assert named_formulations(text) == set()
    assert named_formulations(text + 'f("reduced")\n') == {"reduced"}


def test_formulations_are_named_in_the_registry_and_their_files_alone():
    for path in FILES:
        place = path.relative_to(PACKAGE).as_posix()
        if place not in HOMES | OTHER_MEANING:
            assert not named_formulations(path.read_text()), place
