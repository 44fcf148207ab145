"""Arrays that a run keeps by their roles: at the start of a step, to do it again, and on a tape."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from varint._numba import (
    BEFORE_EVENT,
    RESTORED,
    SPAN,
    TAPED,
    CompiledRecord,
    Float3,
    Int1,
    Int2,
    find_spans,
    role_room,
)

ROLES = {"restored": RESTORED, "taped": TAPED, "before_event": BEFORE_EVENT}


@dataclass(frozen=True, eq=False)
class Spans(CompiledRecord, writable=True):
    """The places of the arrays of each role in a workspace (`varint._numba.spans`)."""

    restored: Annotated[Int2, "restored span"]  # at the start of a step (restart.py)
    taped: Annotated[Int2, "taped span"]  # at the start of a stage, and its solution (tape.py)
    before_event: Annotated[Int2, "before_event span"]


@dataclass(frozen=True, eq=False)
class Kept(CompiledRecord, writable=True):
    """The state at the start of a step of several stages (restart.py), and the velocities of its stages."""

    start: Annotated[Int1, "restored_words"]
    velocity: Annotated[Float3, "stages nb 6"]


def kept_sizes(cls: type[CompiledRecord], sizes: Mapping[str, int]) -> dict[str, int]:
    """Sizes of the arrays here for records of a class in ``sizes``: of each role the spans and the words."""
    found = {"span": SPAN}
    for name, role in ROLES.items():
        found[name], found[f"{name}_words"] = role_room(cls, sizes, role)
    return found


def find_kept(record: CompiledRecord, spans: Spans) -> None:
    """Write the places of the arrays of each role in ``record`` to ``spans``."""
    for name, role in ROLES.items():
        find_spans(record, role, getattr(spans, name))
