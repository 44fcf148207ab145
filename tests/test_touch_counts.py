"""How many files an extension touches: each joint, mechanism ... is known to one file of the package.

The rule. A *kind* is an entry of a registry. The *machinery* is every file of ``varint/``; it treats all kinds of a
registry alike. A file of it *touches* a kind that is a class where it defines the class, imports it or its module, or
has its name as a whole string (a key, an argument, a comparison). It touches a kind that is a key of text where it has
the key as a whole string. Comments and docstrings do not count, nor does a key as the default of a parameter: some kind
has to be the default.

Files that describe something with kinds that exist, as a user does, are no machinery:

* ``mechanisms/``: the catalogue is built from joints, forces and other mechanisms;
* a file that defines kinds: it may derive from a kind of the same registry, and a force names the kind of its measure;
* ``DESCRIBES``: the few files that make a description for the user, with the reason.

Tests, tables in the documents and choices of the command line come from the registries and are not counted.
"""

import ast
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

import varint as vi
from varint.model.joints import REGISTRY

ROOT = Path(__file__).parent.parent
DESCRIBES = {
    "varint/model/deformable.py": "returns bodies, joints and springs to add to a mechanism",
    "varint/redmax/tree.py": "gives a group that floats its Free joint",
}


@dataclass
class Names:
    """What the code of a file names: modules and names that it imports, classes it defines, whole strings."""

    imports: set[str] = field(default_factory=set)
    classes: set[str] = field(default_factory=set)
    strings: set[str] = field(default_factory=set)


def names_in(text: str) -> Names:
    """Without comments, docstrings and the defaults of parameters."""
    names, silent = Names(), set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant() as docstring):
                silent.add(docstring)
            case ast.arguments():
                silent |= {*node.defaults, *node.kw_defaults}
            case ast.ClassDef():
                names.classes.add(node.name)
            case ast.Import():
                names.imports |= {alias.name for alias in node.names}
            case ast.ImportFrom():
                names.imports |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
            case ast.Constant(value=str()) if node not in silent:
                names.strings.add(node.value)
    return names


@cache
def machinery() -> dict[str, Names]:
    """Path to the names in it, of each file that describes nothing."""
    files = {str(path.relative_to(ROOT)): path for path in sorted((ROOT / "varint").rglob("*.py"))}
    return {name: names_in(path.read_text()) for name, path in files.items() if name not in DESCRIBES}


def files_of_class(cls: type, registry: dict[str, type], sources: dict[str, Names]) -> set[str]:
    """Files that touch a class of ``registry``; those that define other classes of it may derive from this one."""
    name, own = cls.__name__, path_of(cls.__module__)
    family = {path_of(other.__module__) for other in registry.values()} - {own}
    found = set()
    for path, names in sources.items():
        if path in family:
            continue
        package = cls.__module__.rpartition(".")[0]
        imported = {
            cls.__module__,
            *(f"{place}.{name}" for place in ("varint", package, cls.__module__)),
        } & names.imports
        if imported or name in names.strings or (path == own and name in names.classes):
            found.add(path)
    return found


def files_of_key(key: str, sources: dict[str, Names]) -> set[str]:
    """Files that touch a kind that is a key of text."""
    return {path for path, names in sources.items() if key in names.strings}


def path_of(module: str) -> str:
    return module.replace(".", "/") + ".py"


def in_one_file_each(found: dict[str, set[str]]):
    """Raises AssertionError with the kinds that no file or more than one file touches."""
    assert found
    assert not {kind: sorted(files) for kind, files in found.items() if len(files) != 1}


def test_the_counter_sees_code_only():
    text = (
        '"""Revolute."""\nfrom varint.model.joints import Prismatic\n# Spherical\n'
        'def f(kind="Rod"):\n    """Fixed"""\n    return kind == "Planar" or "has Free"\n'
    )
    names = names_in(text)
    assert names.strings == {"Planar", "has Free"}
    assert names.imports == {"varint.model.joints", "varint.model.joints.Prismatic"}


def test_the_counter_finds_a_second_file():
    sources = {"a.py": names_in('KEYS = {"euler": 1, "bdf1": 2}'), "b.py": names_in('fast = kind == "euler"')}
    assert files_of_key("euler", sources) == {"a.py", "b.py"}
    in_one_file_each({"bdf1": files_of_key("bdf1", sources)})
    for key in ("euler", "bdf3"):
        with pytest.raises(AssertionError):
            in_one_file_each({key: files_of_key(key, sources)})
    for code in ("from varint.model.joints import Revolute", "import varint.model.joints.revolute", 'x = {"Revolute"}'):
        found = files_of_class(vi.Revolute, REGISTRY, machinery() | {"varint/other.py": names_in(code)})
        assert found == {"varint/model/joints/revolute.py", "varint/other.py"}


def test_files_that_describe_exist():
    assert all((ROOT / path).exists() for path in DESCRIBES)


def test_a_joint_is_one_file():
    in_one_file_each({name: files_of_class(cls, REGISTRY, machinery()) for name, cls in REGISTRY.items()})


def test_a_mechanism_is_one_file():
    """The catalogue finds its files; nothing else of the package names one."""
    files = {path.stem for path in (ROOT / "mechanisms").glob("[!_]*.py")}
    assert files == set(vi.mechanisms.NAMES)
    finder = {"mechanisms/__init__.py": names_in((ROOT / "mechanisms" / "__init__.py").read_text())}
    assert not {name: found for name in files if (found := files_of_key(name, machinery() | finder))}
