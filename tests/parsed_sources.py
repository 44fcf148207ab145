"""Sources of the package as trees, parsed once in a process for all tests that read them."""

import ast
import gc
from collections.abc import Iterator
from functools import cache
from pathlib import Path


@cache
def tree_of(path: Path) -> ast.Module:
    """Parse without the garbage collector: millions of nodes stay, and looking through them takes four fifths."""
    gc.disable()
    try:
        return ast.parse(path.read_text())
    finally:
        gc.enable()


def statements(node: ast.AST, typing: bool = True) -> Iterator[ast.AST]:
    """All statements below ``node``, at any depth; without ``typing`` not those that only a type checker sees.

    No statement stands within an expression: these, nine tenths of a tree, are passed over.
    """
    for part in ("body", "orelse", "handlers", "finalbody", "cases"):
        for child in getattr(node, part, ()):
            if typing or not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
                yield child
                yield from statements(child, typing)
