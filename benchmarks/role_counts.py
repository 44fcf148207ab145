"""How many files name each role of a step, and how often its kernels ask which roles a plan has.

    python benchmarks/role_counts.py            # the table, as docs/architecture.md has it
    python benchmarks/role_counts.py --files    # with the files, and the lines of the questions

A *role* is what a step is made of beside bodies and joints. A file of ``varint/`` *names* it if it imports from the
role's own files, reads its arrays in a plan or a run (``plan.limits``, ``ws.contacts``), or has an identifier of its
own words. A *question* is a condition in ``varint/step/`` on whether a plan has a role: a call of a function of
`ASKING`, or the size of one of its arrays, taken as true or false or compared with a number.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "varint"
HOLDERS = {"plan", "ws", "tape", "by", "at", "events"}  # what the arrays of roles are read from
ASKING = {
    "has_contacts", "has_efforts", "has_events", "has_massive_paths", "has_other_rows", "has_products", "has_rows",
    "has_terms",
}  # fmt: skip


@dataclass(frozen=True)
class Role:
    """A role: the files or folders of its own, the fields of plans and runs with its arrays, its words (a pattern)."""

    own: tuple[str, ...]
    fields: tuple[str, ...]
    words: str = "(?!)"

    @property
    def modules(self) -> tuple[str, ...]:
        """The beginnings of the names of its modules."""
        return tuple(f"varint.{path.removesuffix('.py').replace('/', '.')}" for path in self.own)


ROLES = {
    "laws": Role(("step/laws.py", "step/efforts.py", "step/damping/"), ("laws",), "^has_efforts$"),
    "loads": Role(("step/loads.py",), ("loads",)),
    "compliant rows": Role(("step/compliant/",), ("compliant", "beams", "ringing")),
    "products of exponentials": Role(("mathematics/products/", "step/derivatives/by_products.py"), ("products",)),
    "masses along paths": Role(
        (
            "step/paths/mass",
            "step/paths/straight_masses.py",
            "step/collocation/path_masses.py",
            "methods/variational/massive_paths.py",
            "plan/massive_path_arrays.py",
            "model/forces/path_mass.py",
        ),
        ("massive_paths",),
        "massive_path|path_mass|PathMass",
    ),
    "rows of rates": Role(("step/rates.py",), (), "^rate_rows?$|of_rates"),
    "prescribed motions": Role(("step/constraints.py",), ("constraints",)),
    "hard limits": Role(("step/limits/",), ("limits", "search"), "^has_rows$"),
    "contacts": Role(("step/contacts/",), ("contacts",), "^has_contacts$"),
    "bearings": Role(("step/bearings/", "plan/bearing_arrays.py"), ("bearings",)),
    "meshes": Role(("step/meshes/", "meshes/", "derivatives/meshes/"), (), "soft_mesh|SoftMesh|Deformable[A-Z]"),
}


def trees(folder: Path = PACKAGE) -> dict[str, ast.Module]:
    """Path below the package to the syntax tree of each file."""
    return {str(path.relative_to(PACKAGE)): ast.parse(path.read_text()) for path in sorted(folder.rglob("*.py"))}


def _ends_with(node: ast.AST, names: set[str] | tuple[str, ...]) -> bool:
    return (isinstance(node, ast.Name) and node.id in names) or (isinstance(node, ast.Attribute) and node.attr in names)


def _identifiers(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
            yield name
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.ImportFrom(module=str(module)):
            yield module.rpartition(".")[2]
            yield from (alias.name for alias in node.names)


def roles_named(tree: ast.Module) -> set[str]:
    """The roles that a file names."""
    modules, fields, words = set(), set(), set()
    for node in ast.walk(tree):
        words |= set(_identifiers(node))
        if isinstance(node, ast.ImportFrom):
            modules |= {f"{node.module}.", *(f"{node.module}.{alias.name}." for alias in node.names)}
        elif isinstance(node, ast.Attribute) and _ends_with(node.value, HOLDERS):
            fields.add(node.attr)
    text = "\n".join(words)
    return {
        name
        for name, role in ROLES.items()
        if any(module.startswith(role.modules) for module in modules)
        or fields & {*role.fields}
        or re.search(role.words, text, re.MULTILINE)
    }


def files_naming(sources: dict[str, ast.Module]) -> dict[str, list[str]]:
    """Name of each role to the files that name it, without its own."""
    named = {path: roles_named(tree) for path, tree in sources.items()}
    return {
        name: [path for path, names in named.items() if name in names and not path.startswith(role.own)]
        for name, role in ROLES.items()
    }


def _is_size(node: ast.AST) -> bool:
    """Whether an expression is the size of an array of a role, or a sum of such."""
    match node:
        case ast.BinOp(left=left, right=right):
            return _is_size(left) and _is_size(right)
        case ast.Attribute(attr="size", value=array) | ast.Subscript(value=ast.Attribute(attr="shape", value=array)):
            fields = tuple(field for role in ROLES.values() for field in role.fields)
            while isinstance(array, ast.Attribute):
                if array.attr in fields and _ends_with(array.value, {"plan"}):
                    return True
                array = array.value
    return False


def _asked(condition: ast.AST) -> Iterator[ast.AST]:
    """The questions in a condition."""
    match condition:
        case ast.BoolOp(values=values):
            for value in values:
                yield from _asked(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _asked(operand)
        case ast.Compare(left=left, comparators=[ast.Constant()]) if _is_size(left):
            yield condition
        case ast.Call(func=function) if _ends_with(function, ASKING):
            yield condition
        case _ if _is_size(condition):
            yield condition


def questions(sources: dict[str, ast.Module]) -> list[tuple[str, int, str]]:
    """File, line and text of each question."""
    found: dict[tuple[str, int, int], str] = {}
    for path, tree in sources.items():
        for node in ast.walk(tree):
            match node:
                case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                    conditions: list[ast.AST] = [test]
                case ast.BoolOp() | ast.Compare() | ast.UnaryOp(op=ast.Not()):
                    conditions = [node]
                case _:
                    continue
            for condition in conditions:
                for asked in _asked(condition):
                    found[path, asked.lineno, asked.col_offset] = ast.unparse(asked)  # type: ignore[attr-defined]
    return [(path, line, text) for (path, line, _), text in sorted(found.items())]


def counts() -> tuple[dict[str, int], int]:
    """The number of files that name each role, and that of the questions."""
    files = {name: len(paths) for name, paths in files_naming(trees()).items()}
    return files, len(questions(trees(PACKAGE / "step")))


def table() -> str:
    """Both as a table in Markdown."""
    files, asked = counts()
    lines = ["| role | files that name it, beside its own |", "|---|---|"]
    return "\n".join(lines + [f"| {name} | {count} |" for name, count in files.items()] + [f"| questions | {asked} |"])


def main() -> None:
    """See the top."""
    print(table())
    if "--files" in sys.argv:
        for name, paths in files_naming(trees()).items():
            print(f"\n{name}:", *paths, sep="\n  ")
        print("\nquestions:")
        for path, line, text in questions(trees(PACKAGE / "step")):
            print(f"  {path}:{line}  {text}")


if __name__ == "__main__":
    main()
