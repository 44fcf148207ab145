"""A run as data: what a file holds of it and what a trajectory is made of."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from varint.base.display import Shown, described, names_text
from varint.base.errors import ArgumentError
from varint.mechanism.mechanism import Mechanism

DONE = "the run reached its end"


class Nodes(Protocol):
    """Arrays (T, ...) by name, wherever they are kept."""

    def __getitem__(self, name: str) -> np.ndarray: ...
    def __iter__(self) -> Iterator[str]: ...
    def __contains__(self, name: object) -> bool: ...
    def parts(self) -> Iterator["Nodes"]:
        """Return the same nodes in order, in parts that fit in memory."""
        ...


class HeldNodes(dict[str, np.ndarray]):
    """Nodes in memory."""

    def __repr__(self) -> str:
        return described(self, [names_text(self)])

    def parts(self) -> Iterator[Nodes]:
        """Yield the nodes themselves."""
        yield self


class ChosenNodes(Mapping[str, np.ndarray]):
    """Nodes first, first + step, ... of ``nodes``, taken array by array when asked for. Pickled they are in memory."""

    def __init__(self, nodes: Nodes, chosen: slice) -> None:
        self._nodes, self._chosen = nodes, chosen

    def __getitem__(self, name: str) -> np.ndarray:
        return self._nodes[name][self._chosen]

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(list(self._nodes))

    def __repr__(self) -> str:
        return described(self, [names_text(self)])

    def __reduce__(self) -> tuple:
        return HeldNodes, ({name: self[name].copy() for name in self},)

    def parts(self) -> Iterator[Nodes]:
        """Yield the nodes, in memory."""
        yield HeldNodes({name: self[name] for name in self})


class JoinedNodes(Mapping[str, np.ndarray]):
    """Nodes of ``blocks``, one after another; an array is joined when it is asked for. Pickled they are joined."""

    def __init__(self, blocks: Sequence[Mapping[str, np.ndarray]]) -> None:
        self.blocks = blocks
        self._known: dict[str, np.ndarray] = {}

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._known:
            self._known[name] = np.concatenate([block[name] for block in self.blocks])
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.blocks[0])

    def __len__(self) -> int:
        return len(self.blocks[0])

    def __repr__(self) -> str:
        return described(self, [names_text(self)])

    def __reduce__(self) -> tuple:
        return HeldNodes, (dict(self),)

    def parts(self) -> Iterator[Nodes]:
        """Yield the nodes themselves."""
        yield self


def checked_slice(index: slice, count: int) -> slice:
    """Return a slice of ``count`` nodes with its start and end. Raises ArgumentError for no node, and for backward."""
    try:
        chosen = range(count)[index]
    except (TypeError, ValueError) as problem:
        raise ArgumentError(f"the nodes of a trajectory are chosen by whole numbers: {problem}") from None
    if not len(chosen) or chosen.step < 0:
        sliced = f"{index.start}:{index.stop}:{index.step}"
        raise ArgumentError(f"the slice {sliced} of {count} nodes selects no node, or runs backward")
    return slice(chosen.start, chosen.stop, chosen.step)


def joined(blocks: list[dict[str, np.ndarray]]) -> HeldNodes:
    """Return the nodes of ``blocks`` joined.

    Taken out of the blocks, so that one array at a time is in memory twice.
    """
    return HeldNodes({name: np.concatenate([block.pop(name) for block in blocks]) for name in list(blocks[0])})


class Counts(NamedTuple):
    """Work of a run: steps, Newton iterations, sub-steps beyond one a step, evaluations of the accelerations."""

    steps: int = 0
    newton_iterations: int = 0
    substeps: int = 0
    evaluations: int = 0


@dataclass(frozen=True, eq=False)
class Record(Shown):
    """A run of T recorded nodes.

    Attributes
    ----------
    mechanism : Mechanism
    settings : dict
        Arguments of the run, JSON-ready; ``formulation`` says who made it.
    layout : dict
        JSON-ready: what the columns of the arrays belong to, where the mechanism alone does not say it.
    nodes : Nodes
        "t", "position", "quat_wxyz", "velocity", "angular_velocity", "work", "command", "law_state" as in `Trajectory`;
        "load" where it varies; "unresolved_body" in maximal, "q" and others in reduced coordinates.
    diagnostics : Nodes or None
        The arrays of `Diagnostics` by name, or None.
    load : (1, nb, 6) or None
        External force, N, world, and torque, N m, body, without gravity, where they are constant.
    counts : Counts
    status : int
        0 done, 1 a step could not be solved, -1 unfinished.
    message : str
    wall_time : float
        Seconds spent stepping, without compilation.
    checkpoint : dict of name to array, or None
        All that the steps to come depend on; None where the run cannot go on from here.
    inputs : tuple of arrays, or None
        Of the start and of what acts from outside, for the fingerprint of the run; None where that is known.
    fingerprint : str
        By which a run that goes on is known; empty where it is not known yet.
    """

    mechanism: Mechanism
    settings: dict
    layout: dict
    nodes: Nodes
    load: np.ndarray | None
    counts: Counts
    status: int
    message: str
    wall_time: float
    checkpoint: Mapping[str, np.ndarray] | None = None
    inputs: tuple[np.ndarray, ...] | None = None
    fingerprint: str = ""
    diagnostics: Nodes | None = None

    def part(self, nodes: Nodes) -> "Record":
        """Return the same run with other nodes, without diagnostics; it cannot be resumed."""
        return replace(self, nodes=nodes, checkpoint=None, inputs=None, fingerprint="", diagnostics=None)
