"""The paths of muscles in a plan (paths/measures.py)."""

from dataclasses import dataclass

from varint.base.numba import CompiledRecord, Int1

OWN_ROWS = -2  # each measure of a sum has its row, or none, by itself


@dataclass(frozen=True, eq=False)
class Paths(CompiledRecord):
    """The pieces of paths, whose measures are evaluated together, and the rows of their sums."""

    measure: Int1  # (n,) the measure that has the length of a piece
    other: Int1  # (n,) the measure of its last point where that is a second one, else -1
    sum: Int1  # (n,) the sum that it is part of
    row: Int1  # (ns,) of all sums: the row of all measures together, -1 where a body takes them, or OWN_ROWS
