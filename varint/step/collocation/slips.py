"""Which hard contacts slide at the present node of a collocation step, and their slips (friction.py)."""

import math

from varint.base.numba import natural, njit
from varint.step.contacts.cones import STILL
from varint.step.contacts.rows import set_slip
from varint.step.sizes import length_unit

SLOWEST = 1e-100  # m/s, of a contact that begins to slide


@njit
def slides(work, c):
    """Whether closed contact c with friction slides at the present node; else it sticks."""
    return work.touch.slide[c, 0] != 0.0 or work.touch.slide[c, 1] != 0.0


@njit
def hold_rows(ws, closures, work):
    """Let rows of closed contacts be constraints in the step to come, those across normals where contacts stick.

    To ``work.closures.held`` (rows,); rows that have no part in it are ``idle`` (rows,). Clears ``gradient`` (s, rows,
    2, 6) and ``by_rate`` (s, rows) of rows across.
    """
    own, touch = work.closures, work.touch
    for n in range(closures.contact.shape[0]):
        own.held[natural(closures.contact[n, 0])] = False
        own.idle[natural(closures.contact[n, 0])] = True
    for n in range(closures.across.size):
        r = natural(closures.across[n])
        own.held[r], own.idle[r] = False, True
        for k in range(own.gradient.shape[0]):
            own.by_rate[k, r] = 0.0
            for side in range(2):
                for m in range(6):
                    own.gradient[k, r, side, m] = 0.0
    for n in range(ws.contacts.near_count[0]):
        c = natural(ws.contacts.near[n])
        if not ws.contacts.closed[c] or touch.row[c, 0] < 0:
            continue
        own.held[natural(touch.row[c, 0])], own.idle[natural(touch.row[c, 0])] = True, False
        if touch.row[c, 1] < 0:
            continue
        own.idle[natural(touch.row[c, 1])] = False  # one that slides has the row of an effort there
        for a in range(1, 1 if slides(work, c) else 3):
            own.held[natural(touch.row[c, a])], own.idle[natural(touch.row[c, a])] = True, False


@njit
def keep_slip(plan, ws, work, c, first, second):
    """Keep the slip of contact c, which slides, at the present node: ``first`` and ``second``, m/s, along its plane.

    Both along the frame of `write_upper` there, which was called for it. To ``ws.contacts.slip`` (contacts, 2), and its
    direction to ``work.touch.slide`` (contacts, 2). A slip against the direction, which is to end before, leaves the
    direction as it is.
    """
    size = math.sqrt(first * first + second * second)
    slide = work.touch.slide[c]
    if first * slide[0] + second * slide[1] <= 0.0:  # it is to end before
        begin_slip(plan, ws, work, c, 0.0)
        return
    if size > STILL * length_unit(plan):
        slide[0], slide[1] = first / size, second / size
    begin_slip(plan, ws, work, c, size)


@njit
def begin_slip(plan, ws, work, c, size):
    """Let the slip of contact c, ``ws.contacts.slip`` (contacts, 2), be ``size``, m/s, along its direction.

    Never zero, which stands for contacts that stick.
    """
    speed, slide = max(size, SLOWEST), work.touch.slide[c]
    set_slip(plan, ws, c, speed * slide[0], speed * slide[1])
