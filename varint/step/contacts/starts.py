"""Start values of steps with contacts whose bodies slide or rest evenly.

Velocities that are extrapolated and impulses of the last step then solve a step within its tolerance, so that it takes
no iteration. But both are wrong by some round-off, which adds up from step to step until one does take an iteration.
Its correction is the drift of the n steps since the last iteration, this one included: in each step the slope of the
velocities and the impulses were wrong by 1 / n of it. So they change by a `gain` of 1 / n of their last differences.
"""

from varint.base.numba import indirect, njit
from varint.mathematics.vectors import ZERO, write
from varint.step.plan import Plan, Workspace
from varint.step.sizes import length_unit

CALM = 1e-9  # m/s, times `length_unit`: smaller velocities of bodies, and changes of their slope, are round-off
SMOOTH = 0.5  # below this |D^3| over |D^2| of the velocities show a curve, no round-off


@njit
def weigh_start(plan, ws, iterations, h):
    """Set the gain after a step of ``h`` seconds with ``iterations``, and count the steps in a row without any.

    Writes ``ws.contacts.gain`` and ``ws.contacts.foreseen`` (1,). Changes ``ws.last_multiplier`` (nr,), impulses of
    joints that the next step starts from, by `gain` of their change.
    """
    work = ws.contacts
    drifted = iterations == 1 and work.drift[0] < CALM * length_unit(plan) and h == work.span[0]
    work.gain[0] = 1.0 / (work.foreseen[0] + 1.0) if drifted else 1.0
    work.foreseen[0] = work.foreseen[0] + 1 if iterations == 0 else 0
    gain, last = work.gain[0], ws.last_multiplier
    for r in range(last.size):
        last[r] = ws.multiplier[r] if gain == 1.0 else last[r] + gain * (ws.multiplier[r] - last[r])


@indirect(seconds=1, what="contacts")
def keep_line(plan: Plan, ws: Workspace) -> None:
    """Keep the slope of the velocities, ``ws.history[0, 1]``, in even motion, but for `gain` of its last change.

    Clears the higher differences.
    """
    length = plan.bodies.length[0]  # scales rad/s to m/s
    history, gain, foreseen = ws.history[0], ws.contacts.gain[0], ws.contacts.foreseen[0]
    if gain == 1.0 and foreseen == 0:
        return
    bent = changed = 0.0
    for i in range(history.shape[1]):
        bend, change = history[2, i], history[3, i]
        for k in range(6):
            unit = 1.0 if k < 3 else length
            bent, changed = bent + (unit * bend[k]) ** 2, changed + (unit * change[k]) ** 2
    if bent == 0.0 or not bent < (CALM * length_unit(plan)) ** 2 or changed < SMOOTH * SMOOTH * bent:
        return
    share = gain if foreseen == 0 else 0.0
    for i in range(history.shape[1]):
        slope, bend = history[1, i], history[2, i]
        for k in range(6):
            slope[k] -= (1.0 - share) * bend[k]  # D^1 - D^2 is the slope of the step before
        for j in range(2, history.shape[0]):
            write(history[j, i], ZERO, ZERO)
