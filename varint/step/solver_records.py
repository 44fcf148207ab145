"""Arrays of the solver of Newton's system: the factors of the LDU, and its border."""

from dataclasses import dataclass
from typing import Annotated

from varint.base.numba import CompiledRecord, Float1, Float2, Float3, Float4, Int1, Int2


@dataclass(frozen=True, eq=False)
class Factors(CompiledRecord, writable=True):
    """The factors of the LDU (ldu.py)."""

    upper: Annotated[Float3, "nr 2 6"]  # G, axes of the world
    lower: Annotated[Float3, "nr 2 6"]  # H, axes of the world
    D: Annotated[Float3, "nb 6 6"]  # body pivots, then their LU factors; of a pair M, see lower_pairs.py
    X: Annotated[Float3, "nb 6 8"]  # D^-1 G^T, a column for a row of the joint; right-hand side, dense.py; of a pair U
    S: Annotated[Float3, "nb 6 8"]  # joint pivots, then their LU factors; of a pair E
    Y: Annotated[Float3, "nb 6 8"]  # S^-1 H at the parent, a row for each row of the joint; of a pair V
    frame: Annotated[Float4, "2 nb 6 6"]  # bases of motions of pairs, at both poses
    arm: Annotated[Float3, "2 nb 6"]  # from the parent to the child of a pair, and from the point of its POINT rows
    effort: Float3  # (2, nb, 6) P g and -h/2 df/dd of middle.py by the child of a sprung hinge; in world axes
    z: Float1  # (6,) scratch
    K: Float1  # matrix of the closures; then LU factors of the nodes K_nn, K_nn^-1 K_nm for later rows m
    pivot: Int2  # (2, nr) row and column order of the closure factors
    rank: Int1  # (nn,) numerical rank of each closure node
    last_pivot: Float1  # (nn,) smallest pivot that counted, relative
    closure_scale: Float1  # (nr,) scaling of the closure rows
    closure_column: Float2  # (2, largest node)
    fill_lower: Annotated[Float2, "ne 6"]  # F_{closure, body}
    fill_upper: Annotated[Float2, "ne 6"]  # F_{body, closure}, then D^-1 times it; of a pair u, see lower_pairs.py
    fill_joint_lower: Annotated[Float2, "ne 6"]  # F_{closure, joint}, of a pair l; at a top K_nn^-1 F_{closure, body}
    fill_joint_upper: Annotated[Float2, "ne 6"]  # S^-1 F_{joint, closure}: what a multiplier takes off those of rows


@dataclass(frozen=True, eq=False)
class Border(CompiledRecord, writable=True):
    """Rows beside the system of the LDU, of what couples bodies that are no neighbours (border.py)."""

    count: Annotated[Int1, "1"]  # of the rows in use
    body: Annotated[Int2, "border border_bodies"]  # slots of the bodies of a row, nb for none
    upper: Annotated[Float3, "border border_bodies 6"]  # rows of U^T: wrenches by y, world and body axes
    lower: Annotated[Float3, "border border_bodies 6"]  # rows of V: of motions ...
    first_row: Annotated[Int1, "border_joints"]  # ... and of multipliers, from this row on
    by_row: Annotated[Float2, "border_joints 5"]
    given: Annotated[Float1, "border"]
    y: Annotated[Float1, "border"]
    block: Annotated[Float1, "border_cells"]  # 1 + V A^-1 U, then its LU factors
    order: Annotated[Int1, "border"]
    column_body: Annotated[Float2, "border_slots 6"]  # scratch: A^-1 times a right-hand side
    column_row: Annotated[Float1, "border_nr"]
