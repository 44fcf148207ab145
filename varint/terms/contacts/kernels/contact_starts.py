"""Start values of steps with contacts whose bodies slide or rest evenly.

Velocities that are extrapolated and impulses of the last step then solve a step within its tolerance, so that it takes
no iteration. But both are wrong by some round-off, which adds up from step to step until one does take an iteration.
What it changes is the drift of all steps since the last such one. The slope of the velocities and the impulses were
wrong by that over the number of these steps, and change by a `gain` of the last differences, which is one over it.
"""

from varint._numba import njit
from varint.algebra.vectors import ZERO, write

CALM = 1e-9  # m/s: slower than this, bodies that rest on contacts do not move; and by how much even motions may change
SMOOTH = 0.5  # share of the change of a slope below which its own change shows a curve, no round-off


@njit
def weigh_start(ws, iterations, h):
    """Set the gain after a step of ``h`` seconds that took so many iterations, and count those that took none."""
    work = ws.contacts
    drifted = iterations == 1 and work.drift[0] < CALM and h == work.span[0]
    work.gain[0] = 1.0 / (work.foreseen[0] + 1.0) if drifted else 1.0
    work.foreseen[0] = work.foreseen[0] + 1 if iterations == 0 else 0


@njit
def keep_impulses(ws):
    """Keep the impulses of the joints over a step for the next, in ``ws.last_multiplier``."""
    gain, last = ws.contacts.gain[0], ws.last_multiplier
    for r in range(last.size):
        last[r] = ws.multiplier[r] if gain == 1.0 else last[r] + gain * (ws.multiplier[r] - last[r])


@njit
def keep_line(ws, length):
    """Correct the slope of the velocities, ``ws.history[0, 1]``, at the end of a step; ``length``: m, of 1 rad."""
    history, gain, foreseen = ws.history[0], ws.contacts.gain[0], ws.contacts.foreseen[0]
    if gain == 1.0 and foreseen == 0:
        return
    bent = changed = 0.0
    for i in range(history.shape[1]):
        bend, change = history[2, i], history[3, i]
        for k in range(6):
            unit = 1.0 if k < 3 else length
            bent, changed = bent + (unit * bend[k]) ** 2, changed + (unit * change[k]) ** 2
    if bent == 0.0 or not bent < CALM * CALM or changed < SMOOTH * SMOOTH * bent:
        return
    share = gain if foreseen == 0 else 0.0
    for i in range(history.shape[1]):
        slope, bend = history[1, i], history[2, i]
        for k in range(6):
            slope[k] -= (1.0 - share) * bend[k]
        for j in range(2, history.shape[0]):
            write(history[j, i], ZERO, ZERO)
