"""Descriptions of catalogue mechanisms and their parameters, from docstrings."""

import ast
import inspect
import re
from pathlib import Path
from typing import Any, NamedTuple

from varint import mechanisms

PARAMETERS = "\nParameters\n----------\n"
ZERO = "Zero of the coordinates:"
HEADER = re.compile(r"(\w+) : (.+?)(?:, ([^,]+))?")  # name : kind, unit


class Parameter(NamedTuple):
    """Parameter of a function of the catalogue: its ``name``, ``kind``, ``unit``, ``default`` and meaning."""

    name: str
    kind: str
    unit: str
    default: Any
    what: str


class CatalogueEntry(NamedTuple):
    """A mechanism of the catalogue.

    what : one line; text : what is built; zero : where the coordinates of its joints are zero
    """

    name: str
    what: str
    text: str
    zero: str
    parameters: list[Parameter]


def first_line(name: str) -> str:
    """Return the first line of the docstring of mechanism ``name``; its file is read, not imported."""
    text = (Path(mechanisms.__file__).parent / f"{name}.py").read_text(encoding="utf-8")
    return _plain(ast.get_docstring(ast.parse(text))).partition("\n")[0]


def entry(name: str) -> CatalogueEntry:
    """Return the description of the mechanism ``name``, from the docstrings of its file and of its function."""
    module = mechanisms.module(name)
    body, _, listed = _plain(inspect.getdoc(module.build)).partition(PARAMETERS)
    text, _, zero = body.partition(ZERO)
    summary = _plain(module.__doc__).partition("\n")[0]
    return CatalogueEntry(name, summary, _joined(text), _joined(zero), _parameters(module.build, listed))


def _parameters(build: Any, listed: str) -> list[Parameter]:
    """Return the parameters in the order of the docstring, each header with the lines indented below it."""
    defaults = inspect.signature(build).parameters
    parameters = []
    for block in re.split(r"\n(?=\S)", listed.strip()) if listed.strip() else []:
        header, _, text = block.partition("\n")
        match = HEADER.fullmatch(header)
        if match is None or match[1] not in defaults:
            raise ValueError(f"'{header}' in the docstring of a mechanism is no parameter: NAME : KIND, UNIT")
        default = defaults[match[1]].default
        parameters.append(Parameter(match[1], match[2], match[3] or "", default, _joined(text)))
    return parameters


def _plain(text: str | None) -> str:
    """Return the text with quotes in place of the marks of reST."""
    return (text or "").replace("``", "'").replace("`", "'")


def _joined(text: str) -> str:
    return " ".join(text.split())
