"""Start values of Newton's iteration in a stage of a composition, by what is known of its neighbours in time.

Let D_s^k be the backward differences of the velocities of stage s over the steps, see `step._extrapolate`. The
polynomial of degree k through its velocities in the last steps misses the next one by the next D_s^(k + 1). A stage of
a step is near the motion at its middle, up to terms of the order of the square of the step, so this is about the same
smooth function of time for all stages. It is known for stages that are done in this step, and for all of the last
step. So it is extrapolated, or interpolated where a backward stage goes over a time that is known, from its values at
the middles of the nearest stages in time, and added.
"""

from dataclasses import dataclass
from typing import Annotated

from varint._numba import CompiledRecord, Float2, Int2, njit

NEAREST = 3  # stages that the start value of a stage takes part of


@dataclass(frozen=True, eq=False)
class StageStarts(CompiledRecord, writable=True):
    """Facts of the scheme, by the stage that starts."""

    near: Annotated[Int2, f"stages {NEAREST}"]  # of this step where it comes before that stage, else of the last one
    share: Annotated[Float2, f"stages {NEAREST}"]  # factor of what its polynomial missed


@njit
def add_missed(ws, stage, degree):
    """Add to ``ws.velocity``, of polynomials of that ``degree``, what they are expected to miss."""
    for n in range(NEAREST):
        j, share = ws.starts.near[stage, n], ws.starts.share[stage, n]
        history = ws.history[j]
        for i in range(ws.velocity.shape[0]):
            v = ws.velocity[i]
            v0, v1, v2, v3, v4, v5 = v[0], v[1], v[2], v[3], v[4], v[5]
            if j < stage:
                d = ws.saved_step.velocity[j, i]
                d0, d1, d2, d3, d4, d5 = d[0], d[1], d[2], d[3], d[4], d[5]
                for k in range(degree + 1):
                    d = history[k, i]
                    d0, d1, d2, d3, d4, d5 = d0 - d[0], d1 - d[1], d2 - d[2], d3 - d[3], d4 - d[4], d5 - d[5]
            else:
                d = history[degree + 1, i]
                d0, d1, d2, d3, d4, d5 = d[0], d[1], d[2], d[3], d[4], d[5]
            v[0], v[1], v[2] = v0 + share * d0, v1 + share * d1, v2 + share * d2
            v[3], v[4], v[5] = v3 + share * d3, v4 + share * d4, v5 + share * d5
