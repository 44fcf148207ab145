"""The formulas of a plan, and the scratch that they are evaluated in."""

from dataclasses import dataclass
from typing import Annotated

from varint.base.numba import CompiledRecord, Float1, Float2, Int1, Int2

POSE = 12  # inputs of a body: its position, then its rotation matrix, row by row


@dataclass(frozen=True, eq=False)
class Formulas(CompiledRecord):
    """Formulas of the poses of bodies, and the measures that are parts of them (measures/formula.py).

    Operations 12 i : 12 i + 12 of a formula are its inputs, the pose of its body i.
    """

    operation: Annotated[Int2, "operations 3"]  # code, and the numbers of both arguments in the formula
    constant: Float1  # (operations,) values of constants
    first: Int1  # (n + 1,) operations of formula f are first[f] : first[f + 1]
    output: Int1  # operations that are results, in the order of the formulas
    output_first: Int1  # (n + 1,)
    body: Int1  # slots of the bodies, in the order of the formulas
    body_first: Int1  # (n + 1,)
    part_of: Int1  # (nm,) part of each measure, -1 for measures that are none; of no size where there are none
    formula: Int1  # (parts,)
    end: Annotated[Int2, "parts 2"]  # bodies a and b of the formula, -1 for the world
    share: Annotated[Float2, "parts 2"]  # of the derivatives by a, by b that the part has
    leads: Int1  # (parts,) 1 where it has the value


@dataclass(frozen=True, eq=False)
class FormulaWork(CompiledRecord, writable=True):
    """Scratch, of the size of the longest formula."""

    value: Annotated[Float1, "operations"]
    slope: Annotated[Float2, "operations 2"]  # derivatives of an operation by its arguments
    tangent: Annotated[Float1, "operations"]  # changes along a motion
    pull: Annotated[Float1, "operations"]  # derivatives of a sum of the results by the operations
    pull_change: Annotated[Float1, "operations"]  # their changes along the motion
    factor: Annotated[Float1, "outputs"]  # of the results in that sum
    start: Annotated[Float1, "outputs"]  # results at the start of a step
