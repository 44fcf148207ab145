"""State that a step changes: stored at its start, to repeat it in halves or up to the instant of an event.

A composition keeps its order only where all its stages have their shares of one step, so a stage that cannot be solved
halves the whole step (measured: halving the stage alone leaves errors of second order).
"""

from varint.base.numba import copy_spans, njit
from varint.step.configuration import place
from varint.step.roles import copy_roles, place_role_rows

DEEPEST_SUBSTEP = 12  # a step is halved at most so many times
SHORTEST_SHARE = 1.0 / (1 << DEEPEST_SUBSTEP)  # of a step, and of sub-steps on the way to an event
GROWTH = 1.25  # ratio of a sub-step to the one before, where they begin short after an impact (damping/relaxing.py)
ACCEPTED, AGAIN, AT_START = 0, 1, 2  # verdicts of terms on the end of a trial


@njit
def copy_start(plan, ws, pose, back):
    """Copy the arrays with the role RESTORED, poses at ``pose`` alone, to ``ws.saved_step``, or back if ``back``."""
    copy_spans(ws.spans.restored, pose, ws.saved_step.start, back)
    copy_roles(plan, ws, back)


@njit
def go_back(plan, ws, pose):
    """Go back to the state at the start of the step, the pose ``pose``."""
    copy_start(plan, ws, pose, True)
    place(plan, ws, pose)
    place_role_rows(plan, ws, pose)
