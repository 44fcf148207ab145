"""Recorded nodes: arrays by name, one row a node."""

from collections.abc import Iterator
from typing import Protocol

import numpy as np


class Nodes(Protocol):
    """Arrays (T, ...) by name, wherever they are kept."""

    def __getitem__(self, name: str) -> np.ndarray: ...
    def __iter__(self) -> Iterator[str]: ...
    def __contains__(self, name: object) -> bool: ...
    def parts(self) -> Iterator["Nodes"]:
        """The same nodes in order, in parts that fit in memory."""
        ...


class HeldNodes(dict[str, np.ndarray]):
    """Nodes in memory."""

    def parts(self) -> Iterator[Nodes]:
        """Themselves."""
        yield self


def joined(blocks: list[dict[str, np.ndarray]]) -> HeldNodes:
    """The nodes of ``blocks``, one after the other; taken out of them, so that one array at a time is there twice."""
    return HeldNodes({name: np.concatenate([block.pop(name) for block in blocks]) for name in list(blocks[0])})
