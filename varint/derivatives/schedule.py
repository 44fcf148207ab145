"""Which nodes of a run to keep so that it can be gone back in a given memory: the binomial schedule.

Griewank and Walther, Algorithm 799: revolve, ACM Trans. Math. Softw. 26 (2000) 19. With s checkpoints, the start among
them, and r replays of each part at most, a run of (s + r choose s) parts can be gone back, and no other schedule goes
back along more. A part is as many steps as fit on the tape at once.
"""

from math import ceil, comb
from typing import NamedTuple


class Layout(NamedTuple):
    """Use of the memory: ``checkpoints``, and a tape with ``room`` for the stages of ``part`` steps."""

    checkpoints: int
    part: int
    room: int


def reach(checkpoints: int, replays: int) -> int:
    """Number of parts that can be covered with so many checkpoints and replays of each."""
    return comb(checkpoints + replays, replays) if replays >= 0 else 0


def replays_of(parts: int, checkpoints: int) -> int:
    """The fewest replays of each part with which so many can be gone back."""
    replays = 0
    while reach(checkpoints, replays) < parts:
        replays += 1
    return replays


def ahead(parts: int, checkpoints: int) -> int:
    """Number of parts from the last checkpoint to the next one, with so many parts left to go back.

    ``checkpoints``: that one and those that are free, more than one; ``parts``: more than one.
    """
    replays = replays_of(parts, checkpoints)
    return min(reach(checkpoints, replays - 1), parts - reach(checkpoints - 1, replays - 1))


def layout_of(steps: int, stages: float, memory: float, checkpoint: int, stage: int) -> Layout | None:
    """Use of ``memory``, bytes, for so many steps of so many ``stages`` each; None if it is too small.

    With as few replays as it allows, and with these as few parts as that. ``checkpoint``, ``stage``: bytes of one.
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
