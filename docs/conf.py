"""Of the documentation site: ``make site``."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import varint

project = "varint"
version = release = varint.__version__
copyright = "the varint authors"

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"varint {release}"
pygments_style = "friendly"

myst_enable_extensions = ["html_image"]
myst_heading_anchors = 3  # links of the pages lead to headings

default_role = "literal"  # docstrings have names of Python in single backticks
autodoc_typehints = "none"  # docstrings have shapes and units in their place
autodoc_member_order = "bysource"
numpydoc_show_class_members = False


def setup(app):
    app.connect("autodoc-process-docstring", tidy, priority=400)  # before numpydoc's
    app.connect("autodoc-skip-member", is_inside)


def tidy(_app, _what, _name, _thing, _options, lines):
    """A docstring as numpydoc takes it: text above the sections, and lists of attributes below a header."""
    text, sections = [], []
    for paragraph in re.split(r"\n\s*\n", "\n".join(lines)):
        first, *rest = paragraph.splitlines() or [""]
        if rest and all(re.match(r"\w+ : ", line) for line in (first, *rest)):
            first, *rest = ["Attributes", "----------", first, *rest]
            paragraph = "\n".join([first, *rest])
        header = rest and set(rest[0]) == {"-"}
        entry = sections and (" : " in first or any(line.startswith(" ") for line in rest) or first.startswith(" "))
        (sections if header or entry else text).append(paragraph)
    whole = "\n\n".join([*text, *sections, ""])
    lines[:] = re.sub(r"\|(\w+)\|", r"\|\1\|", whole).splitlines()  # a size, no substitution


def is_inside(_app, what, _name, thing, _skip, _options):
    """Whether it is a member of a joint or force, which users do not call."""
    module = getattr(getattr(thing, "fget", None) or thing, "__module__", None) or ""
    return True if what == "class" and module.startswith(("varint.model.joints", "varint.model.forces")) else None
