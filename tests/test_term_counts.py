"""How many files name a term: hard limits, with their impacts and contact, are known to one folder and five files.

The rule. A *term* has a folder, ``varint/terms/limits``; every other file of ``varint/`` calls it by what any term
does, through the modules of ``varint/terms``. A file *names* the term where an identifier of its code does: a name, an
attribute, an argument, a keyword, a field, a function, a class, or a module that is imported. Comments, docstrings and
messages do not count: a user reads of hard stops there.

Identifiers that name it: those with ``limit``, ``impact`` or the plural ``stops`` among their words (``plan.limits``,
``LimitSearch``, ``set_limit``); ``rest_gap``; ``closed`` of ``efforts``; the search for an impact, ``search`` of a
workspace; and all that the folder defines, but for the operations that ``varint/terms`` takes from it.

`WITH_CONTACTS`: the other term with events, in reduced coordinates.

`OTHER_MEANING`: limits that are no term, as those of joints in the files of robots, of memory and of files, and what a
user runs. Kinds of force (`JointStop`) are counted in tests/test_touch_counts.py.
"""

import ast
import re
from functools import cache
from pathlib import Path

from parsed_sources import statements, tree_of

PACKAGE = Path(__file__).parent.parent / "varint"
HOME = "terms/limits/"
NAMED_IN = {
    "kernels/plan.py": "holds the arrays of all terms: a field in the plan, the workspace, the tape and the gradient",
    "model/forces/stop.py": "the force that a user describes has limits",
    "terms/kernels/term_events.py": "calls all terms: events in a step, and their derivatives",
    "terms/kernels/term_rows.py": "calls all terms: rows at a pose, their state and their numbers",
    "terms/reduced_events.py": "calls all terms in reduced coordinates",
}
WITH_CONTACTS = {
    "terms/contacts/contact_impacts.py": "impacts of contacts and hard limits at one instant are one problem",
    "terms/contacts/reduced_contacts.py": "holds the hard limits of equations that have contacts",
}
OTHER_MEANING = {
    "collision/cores.py": "limits of a search",
    "io/formats/sdf.py": "limits of joints in files",
    "io/formats/urdf.py": "limits of joints in files",
    "io/mjcf_forces.py": "limits of joints in files",
    "io/room.py": "limits of memory",
    "io/xml_files.py": "limits of a file",
    "configurations/sweep.py": "clearance of a pose from singular ones",
    "formulations/peer.py": "a run of another simulator stops",
    "peers/base.py": "stops of joints, and a run that stops",
    "peers/exudyn.py": "a run that stops",
    "warming.py": "runs mechanisms with hard stops, as a user does",
}
WORDS = {"limit", "limits", "impact", "impacts", "stops"}


@cache
def words(identifier: str) -> set[str]:
    """Words of an identifier, in lower case: ``LimitSearch`` and ``limit_search`` have the same."""
    return set(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", identifier).lower().split("_"))


def identifiers(tree: ast.AST):
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield f"{getattr(node.value, 'attr', getattr(node.value, 'id', ''))}.{node.attr}"
        elif isinstance(node, ast.arg | ast.keyword):
            yield node.arg or ""
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.ImportFrom):
            yield from (node.module or "").split(".")
            yield from (name for alias in node.names for name in (alias.name, alias.asname or ""))
        elif isinstance(node, ast.Import):
            yield from (part for alias in node.names for part in alias.name.split("."))


def defined(folder: Path) -> set[str]:
    """Names of the functions and classes of a folder."""
    nodes = (node for path in folder.rglob("*.py") for node in tree_of(path).body)
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def operations() -> set[str]:
    """What ``varint/terms`` takes from the folder, for others to call."""
    homes = HOME, "terms/contacts/"
    paths = [path for path in (PACKAGE / "terms").rglob("*.py") if not any(home in path.as_posix() for home in homes)]
    nodes = (node for path in paths for node in tree_of(path).body if isinstance(node, ast.ImportFrom))
    return {alias.asname or alias.name for node in nodes for alias in node.names}


def names_it(tree: ast.AST, own: set[str]) -> set[str]:
    """Identifiers of ``tree`` that name the term, of which ``own`` are defined in its folder."""
    found = set()
    for identifier in identifiers(tree):
        last = identifier.rpartition(".")[2]
        if words(last) & WORDS or last in own | {"rest_gap"} or identifier in ("efforts.closed", "ws.search"):
            found.add(identifier)
    return found


def files() -> dict[str, ast.AST]:
    paths = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.py")}
    return {name: tree_of(path) for name, path in paths.items() if not name.startswith(HOME)}


def own_names() -> set[str]:
    """What the folder defines and no other file does, without the operations."""
    elsewhere = {
        node.name
        for tree in files().values()
        for node in statements(tree)
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    return {name for name in defined(PACKAGE / HOME) if not name.startswith("_")} - operations() - elsewhere


def test_the_counter_sees_code_only():
    assert names_it(ast.parse('"""Hard limits."""\nx = y.limit_of  # limits\n'), set()) == {"y.limit_of"}
    assert names_it(ast.parse("closed = ws.efforts.closed\nslice(0).stop, w.closed\n"), set()) == {"efforts.closed"}
    assert names_it(ast.parse("from varint.terms.limits import x\n"), set()) == {"limits"}
    assert names_it(ast.parse("class LimitSearch: pass\ndef f(stops): ws.search\n"), set()) == {
        "LimitSearch",
        "stops",
        "ws.search",
    }
    assert names_it(ast.parse("clearance(1)\n"), {"clearance"}) == {"clearance"}
    assert names_it(ast.parse("unlimited = delimiter\n"), set()) == set()


def test_operations_speak_of_any_term():
    assert len(operations()) > 20
    assert not [name for name in operations() if words(name) & WORDS]


def test_a_term_is_one_folder_and_five_files():
    own = own_names()
    assert {"set_closed", "limit_gap", "LimitSearch", "complementary"} <= own
    found = {name for name, tree in files().items() if names_it(tree, own)}
    assert found == set(NAMED_IN) | set(WITH_CONTACTS) | set(OTHER_MEANING)
    assert len(NAMED_IN) <= 5
    assert all((*NAMED_IN.values(), *OTHER_MEANING.values()))
