"""Arrays of compliant rows and elements of beams in a plan, and of joints that ring in a run (ringing.py)."""

from dataclasses import dataclass
from typing import Annotated

from varint.base.numba import STATE, CompiledRecord, Float1, Float2, Float3, Float4, Int1

LAGS, FITTED = 8, 4  # of the changes by ringing: those that the next follows from, and that the shares are fitted to
RINGING = 3  # order of the differences of velocities that are ringing


@dataclass(frozen=True, eq=False)
class CompliantRows(CompiledRecord):
    """Rows whose efforts are unknowns of a step (compliant/rows.py)."""

    row: Int1  # (n,)
    sum: Int1  # (n,) the sum of laws, of one measure, that has the row
    joint_row: Int1  # (k,) those among them of joints (soft_joints.py)
    joint_sum: Int1  # (k,) their sums, the first k of all sums of laws


@dataclass(frozen=True, eq=False)
class Beams(CompiledRecord):
    """The elements of beams: six measures each, one after another, alone in as many sums (beams.py, beam_steps.py)."""

    first: Int1  # (n,) the first measure
    sum: Int1  # (n,) its sum


@dataclass(frozen=True, eq=False)
class Ringing(CompiledRecord, writable=True):
    """Ringing of the bodies of compliant joints, of each stage of a step (ringing.py); empty without such joints."""

    change: Annotated[Float4, f"ringing nb 6 {LAGS + 1}", STATE]  # u_0, u_1, ...: m/s and rad/s
    product: Annotated[Float3, f"ringing {LAGS + FITTED} {LAGS + 1}", STATE]  # u_n . u_(n + j), m^2/s^2
    share: Annotated[Float2, f"ringing {LAGS}", STATE]
    missed: Annotated[Float1, "ringing", STATE]  # m^2/s^2, the square of what the shares before missed at the last step
    normal: Annotated[Float2, f"{LAGS} {LAGS}"]  # scratch
