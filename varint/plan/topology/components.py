"""Components of a mechanism: bodies that joints or forces connect, other than through the world."""

from collections.abc import Collection, Iterable

import numpy as np


def find_components(count: int, groups: Iterable[Collection[int]]) -> np.ndarray:
    """Return the number of the component of each of ``count`` bodies (count,), in the order of their first bodies.

    ``groups``: bodies that a joint or a force connects, in indices of the description; the world is ``-1``.
    """
    root = list(range(count))

    def top(i: int) -> int:
        while root[i] != i:
            root[i] = i = root[root[i]]
        return i

    for group in groups:
        roots = {top(body) for body in group if body >= 0}
        for other in roots:
            root[other] = min(roots)
    return np.unique([top(i) for i in range(count)], return_inverse=True)[1]
