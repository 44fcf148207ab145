"""The tree of a mechanism, for formats that hold trees, and the joints that close its loops."""

from collections.abc import Callable
from typing import NamedTuple

from varint.mechanism.mechanism import Mechanism
from varint.model.body import WORLD
from varint.model.joints.base import Joint


class Branch(NamedTuple):
    """A ``body``, after that which moves it: ``joint`` ties it to ``above``, or it floats; ``reversed``: it is a."""

    body: str
    above: str
    joint: Joint | None
    reversed: bool


def spanning(mechanism: Mechanism, rank: Callable[[Joint], float]) -> tuple[list[Branch], list[Joint]]:
    """Return the branches and the joints left over; a low ``rank`` enters the tree first, an infinite one never."""
    top = {name: name for name in (WORLD, *mechanism.body_index)}

    def root(name: str) -> str:
        while top[name] != name:
            name = top[name]
        return name

    taken: dict[str, list[Joint]] = {name: [] for name in top}
    left = []
    for joint in sorted(mechanism.joints, key=rank):
        a, b = root(joint.body_a), root(joint.body_b)
        if a == b or rank(joint) == float("inf"):
            left.append(joint)
            continue
        top[b] = a
        taken[joint.body_a].append(joint)
        taken[joint.body_b].append(joint)
    branches: list[Branch] = []
    placed = {WORLD}
    for start in (WORLD, *mechanism.body_index):
        if start not in placed:
            placed.add(start)
            branches.append(Branch(start, WORLD, None, False))
        elif start != WORLD:
            continue
        waiting = [start]
        for above in waiting:
            for joint in taken[above]:
                body = joint.body_b if joint.body_a == above else joint.body_a
                if body not in placed:
                    placed.add(body)
                    waiting.append(body)
                    branches.append(Branch(body, above, joint, body == joint.body_a))
    return branches, left
