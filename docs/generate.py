"""Writes docs/reference.md, the tables of everything that has a registry, and the JSON Schema; `make docs` runs it."""

import dataclasses
import json
from pathlib import Path

from mechanism_schema import schema

from varint.model.forces import FORCES
from varint.model.joints import REGISTRY

PAGE = Path(__file__).with_name("reference.md")
SCHEMA = Path(__file__).with_name("mechanism.schema.json")
HEAD = """# Reference of joints and forces

Every joint and force with its parameters and the first sentence of its docstring. `help(vi.Revolute)` shows the rest:
shapes, units and frames. Made by `make docs` from the registries; do not edit.
"""
# of all joints; ends are named in the text of the forces
COMMON = ("name", "body_a", "body_b", "point_b", "compliance", "damping_time")


def first_sentence(thing) -> str:
    paragraph = " ".join(thing.__doc__.split("\n\n")[0].split())
    return paragraph.replace("``", "`").replace("|", "\\|")


def parameters(cls, hidden=()) -> str:
    return ", ".join(f"`{field.name}`" for field in dataclasses.fields(cls) if field.init and field.name not in hidden)


def table(title: str, registry: dict, hidden=()) -> str:
    rows = [
        f"| `{name}` | {parameters(cls, hidden)} | {first_sentence(cls)} |" for name, cls in sorted(registry.items())
    ]
    return "\n".join([f"\n## {title}\n", "| name | parameters | what it is |", "|---|---|---|", *rows, ""])


def page() -> str:
    """The text of docs/reference.md."""
    joints = table('Joints: between `body_a` and `body_b`, either may be `"world"`', REGISTRY, COMMON)
    return HEAD + joints + table("Forces, couplings and prescribed motions", FORCES, ("name",))


def schema_text() -> str:
    """The text of docs/mechanism.schema.json."""
    return json.dumps(schema(), indent=1) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
    SCHEMA.write_text(schema_text())
