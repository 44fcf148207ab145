"""Impulses of the rows of a lower pair, as they act on its two bodies."""

from varint.base.numba import natural, njit
from varint.mathematics.vectors import ZERO, add, scale, turn_of, vector


@njit(inline="always")
def pair_impulses(multiplier, G, first, rows, points):
    """Return the impulse on side 0, opposite to that on side 1, and the impulsive torques on both, in their axes.

    The pair has ``rows`` rows from ``first`` on, the first ``points`` of them of the kind POINT, which push both bodies
    alike; AXIS rows push none. ``multiplier`` (nr,); ``G`` (nr, 2, 6): gradients.
    """
    push, turn, back = ZERO, ZERO, ZERO
    for number in range(first, first + rows):
        r = natural(number)
        f = multiplier[r]
        turn, back = add(turn, scale(f, turn_of(G[r, 0]))), add(back, scale(f, turn_of(G[r, 1])))
    for number in range(first, first + points):
        r = natural(number)
        push = add(push, scale(multiplier[r], vector(G[r, 0])))
    return push, turn, back
