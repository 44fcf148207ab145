"""Choose the nodes of a run to keep so that the backward pass fits in a limited memory: the binomial schedule.

Griewank and Walther, Algorithm 799: revolve, ACM Trans. Math. Softw. 26 (2000) 19. With s checkpoints, the start among
them, and at most r replays of each part, the backward pass covers a run of (s + r choose s) parts, and no other
schedule covers more. A part is as many steps as fit on the tape at once.
"""

from math import ceil, comb
from typing import NamedTuple


class Layout(NamedTuple):
    """Use of the memory: ``checkpoints``, and a tape with ``room`` for the stages of ``part`` steps."""

    checkpoints: int
    part: int
    room: int


def reach(checkpoints: int, replays: int) -> int:
    """Return the number of parts that can be covered with ``checkpoints`` and at most ``replays`` of each part."""
    return comb(checkpoints + replays, replays) if replays >= 0 else 0


def replays_of(parts: int, checkpoints: int) -> int:
    """Return the least number of replays of each part with which ``parts`` can be covered with ``checkpoints``."""
    replays = 0
    while reach(checkpoints, replays) < parts:
        replays += 1
    return replays


def ahead(parts: int, checkpoints: int) -> int:
    """Return the number of parts from the last checkpoint to the next one, if ``parts`` follow the last one.

    ``checkpoints``: the last one and the free ones, at least two; ``parts``: at least two.
    """
    replays = replays_of(parts, checkpoints)
    return min(reach(checkpoints, replays - 1), parts - reach(checkpoints - 1, replays - 1))


def layout_of(steps: int, stages: float, memory: float, checkpoint: int, stage: int) -> Layout | None:
    """Return the use of ``memory``, bytes, for a run of ``steps`` with ``stages`` each; None if it is too small.

    The number of replays is the least possible, and for it the number of parts. ``stages`` is a mean. ``checkpoint``,
    ``stage``: bytes of one.
    """
    all_stages = ceil(steps * stages)
    if checkpoint + all_stages * stage <= memory:
        return Layout(1, steps, all_stages)
    most = int((memory - ceil(stages) * stage) // checkpoint)
    if most < 1:
        return None
    replays = 0
    while True:
        replays += 1
        count = max(1, min(most, int(memory * replays / (replays + 1) // checkpoint)))
        room = int((memory - count * checkpoint) // stage)
        part = int(room / stages)
        if part >= 1 and reach(count, replays) * part >= steps:
            return Layout(count, part, room)
