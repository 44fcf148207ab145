"""Which hard contacts slide at the present node of a collocation step, and their slips (friction.py)."""

import math

from varint.base.numba import natural, njit
from varint.step.contacts.cones import STILL
from varint.step.sizes import length_unit

SLOWEST = 1e-100  # m/s, of a contact that begins to slide


@njit
def slides(work, c):
    """Whether closed contact c with friction slides at the present node; else it sticks."""
    return work.touch.slide[c, 0] != 0.0 or work.touch.slide[c, 1] != 0.0


@njit
def hold_rows(ws, closures, work, c):
    """Let both rows of contact c across its normal be constraints where it sticks in the step to come, or none.

    To ``work.closures.held`` (rows,); clears ``gradient`` (s, rows, 2, 6) and ``by_rate`` (s, rows) of these rows.
    """
    own, sticks = work.closures, ws.contacts.closed[c] and not slides(work, c)
    for a in range(1, 3):
        r = natural(closures.contact[c, a])
        own.held[r] = sticks
        for k in range(own.gradient.shape[0]):
            own.by_rate[k, r] = 0.0
            for side in range(2):
                for m in range(6):
                    own.gradient[k, r, side, m] = 0.0


@njit
def keep_slip(plan, ws, work, c, first, second):
    """Keep the slip of contact c, which slides, at the present node: ``first`` and ``second``, m/s, along its plane.

    To ``ws.contacts.slip`` (contacts, 2), and its direction to ``work.touch.slide`` (contacts, 2). A slip against the
    direction, which is to end before, leaves the direction as it is.
    """
    size = math.sqrt(first * first + second * second)
    slide = work.touch.slide[c]
    if first * slide[0] + second * slide[1] <= 0.0:  # it is to end before
        begin_slip(ws, work, c, 0.0)
        return
    if size > STILL * length_unit(plan):
        slide[0], slide[1] = first / size, second / size
    begin_slip(ws, work, c, size)


@njit
def begin_slip(ws, work, c, size):
    """Let the slip of contact c, ``ws.contacts.slip`` (contacts, 2), be ``size``, m/s, along its direction.

    Never zero, which stands for contacts that stick.
    """
    for a in range(2):
        ws.contacts.slip[c, a] = max(size, SLOWEST) * work.touch.slide[c, a]
