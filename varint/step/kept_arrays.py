"""Arrays of a run that are saved by role: at the start of a step, to repeat it, and on a tape."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from varint.base.numba import (
    BEFORE_EVENT,
    RESTORED,
    SPAN,
    TAPED,
    CompiledRecord,
    Float3,
    Int1,
    Int2,
    role_room,
    write_spans,
)

ROLES = {"restored": RESTORED, "taped": TAPED, "before_event": BEFORE_EVENT}  # by the fields of `Spans`


@dataclass(frozen=True, eq=False)
class Spans(CompiledRecord, writable=True):
    """Spans (varint/base/numba/spans.py) of the arrays of each role in a workspace."""

    restored: Annotated[Int2, "restored span"]  # saved at the start of a step (restart.py)
    taped: Annotated[Int2, "taped span"]  # saved once a stage is solved: its start and its solution (tape.py)
    before_event: Annotated[Int2, "before_event span"]  # saved before an event (tape.py)


@dataclass(frozen=True, eq=False)
class SavedStep(CompiledRecord, writable=True):
    """The state at the start of a step, to repeat it (restart.py), and the velocities of its stages."""

    start: Annotated[Int1, "restored_words"]  # the arrays with the role RESTORED
    velocity: Annotated[Float3, "stages nb 6"]  # end of each stage; predicts that stage of the next step (step.py)


def span_sizes(cls: type[CompiledRecord], sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the dimensions of `Spans` and of the buffers: most spans and buffer words of each role, columns (SPAN).

    ``sizes``: length of each dimension that the fields of ``cls`` name.
    """
    lengths = {"span": SPAN}
    for name, role in ROLES.items():
        lengths[name], lengths[f"{name}_words"] = role_room(cls, sizes, role)
    return lengths


def write_role_spans(record: CompiledRecord, spans: Spans) -> None:
    """Write the spans of the arrays of each role in ``record`` to ``spans``."""
    for name, role in ROLES.items():
        write_spans(record, role, getattr(spans, name))
