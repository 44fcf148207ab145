"""The array of compliant rows in a plan (compliant_rows.py)."""

from dataclasses import dataclass

from varint._numba import CompiledRecord, Int1


@dataclass(frozen=True, eq=False)
class CompliantRows(CompiledRecord):
    """Rows whose efforts are unknowns of a step (compliant_rows.py)."""

    row: Int1  # (n,)
    sum: Int1  # (n,) the sum of laws, of one measure, that has the row
    joint_row: Int1  # (k,) those among them of joints (soft_joints.py)
    joint_sum: Int1  # (k,)
