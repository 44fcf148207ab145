"""The bracket of the instant of an event: two shares of a step, and the clearances there, by regula falsi.

Argument ``search``: a `LimitSearch`.
"""

from varint.base.numba import njit

SEARCH = 60  # trials for the instant of an event
SAME = 1e-13  # shares of a step that differ by less are one instant


@njit
def narrow(search, part, value):
    """Take the clearance ``value`` at a share ``part`` (0, 1] into the bracket; an end that stays twice counts half.

    Writes ``search.low``, ``search.low_value`` or ``search.high``, ``search.high_value``, and ``search.was_beyond``.
    """
    beyond = value < 0.0
    if beyond:
        search.high[0], search.high_value[0] = part, value
        if search.low_value[0] > 0.0 and search.was_beyond[0]:
            search.low_value[0] *= 0.5
    else:
        search.low[0], search.low_value[0] = part, value
        if not search.was_beyond[0]:
            search.high_value[0] *= 0.5
    search.was_beyond[0] = beyond


@njit
def is_lost(search):
    """Return whether the instant of the event is not found: all trials are used up, or their bracket is."""
    return search.trials[0] > SEARCH or (search.low[0] > 0.0 and search.high[0] - search.low[0] < SAME)


@njit
def crossing(search):
    """Return the share at the zero of the line through both ends of the bracket."""
    low, high = search.low_value[0], search.high_value[0]
    return search.low[0] + (search.high[0] - search.low[0]) * low / (low - high)
