"""The line of the user that a warning is about."""

import sys

INSIDE = ("varint", "functools", "collections", "_collections_abc")  # these call properties and items of ours


def level_of_user() -> int:
    """Return the ``stacklevel`` with which a warning of the calling function names the line outside of this package."""
    level, frame = 0, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in INSIDE:
        level, frame = level + 1, frame.f_back
    return level
