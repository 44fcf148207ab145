"""Start values of Newton's iteration in a stage of a composition, corrected by the errors of those of other stages.

Let D_s^k be the backward differences of the velocities of stage s over the steps, see `step._extrapolate`. The start
value, a polynomial of degree k through the velocities of stage s in the last steps, has the error D_s^(k + 1) of the
new step. The velocity of a stage is that of the motion at the middle of the stage, up to terms of the order of the step
squared, so that D_s^(k + 1) is about the same smooth function of time for all stages s. It is known for the stages
solved in this step, and for the others in the last step. From up to NEAREST of these, which `schemes.Scheme.starts`
chooses by time and size, it is extrapolated to the middle of the new stage (a stage of negative size goes back between
known ones: there it is interpolated), and added to the start value.
"""

from dataclasses import dataclass
from typing import Annotated

from varint.base.numba import CompiledRecord, Float1, Float2, Int2, njit

NEAREST = 3  # stages whose extrapolation errors correct the start value of a stage


@dataclass(frozen=True, eq=False)
class StageStarts(CompiledRecord, writable=True):
    """Stages whose extrapolation errors correct the start value of each stage, and their weights."""

    # indices of stages: one that is earlier in this step gives its error in this step, any other that in the last step
    near: Annotated[Int2, f"stages {NEAREST}"]
    share: Annotated[Float2, f"stages {NEAREST}"]  # weight of that error; zero where unused
    still: Float1  # m/s, (1,): velocities below that are round-off


@njit
def add_expected_error(ws, stage, degree):
    """Add to the start values ``ws.velocity`` the expected error of their extrapolation of degree ``degree``."""
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
