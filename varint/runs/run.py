"""`Run`: the contract of a mechanism on its path through time, whatever the method; all that simulates stands on it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from varint.mechanism.mechanism import Mechanism
from varint.model.state import State
from varint.results.record import Counts


class Block(NamedTuple):
    """Recorded nodes, one row each, by the names of their arrays, and the seconds of stepping that they took.

    ``diagnostics``: rows of the diagnostics of a run that has them.
    """

    nodes: dict[str, np.ndarray]
    seconds: float = 0.0
    diagnostics: dict[str, np.ndarray] | None = None


class Failure(NamedTuple):
    """A step that could not be solved: at ``time``, s, worst at ``body`` and ``joint``, where that is known."""

    message: str
    time: float
    body: str | None = None
    joint: str | None = None


class Reached(NamedTuple):
    """Progress of a run.

    time, end : s, of the present state and of the last one
    done, total : of the steps; seconds, where the integrator chooses its steps
    counts : of the work done so far
    """

    time: float
    end: float
    done: float
    total: float
    counts: Counts


def join_blocks(blocks: Sequence[Block]) -> Block:
    """Return one block of several without diagnostics, one after the other."""
    nodes = {name: np.concatenate([block.nodes[name] for block in blocks]) for name in blocks[0].nodes}
    return Block(nodes, sum(block.seconds for block in blocks))


class Run(ABC):
    """A mechanism on its path through time.

    Same mechanism, same arguments, same machine: the same bits, however the steps are cut into blocks, and whether or
    not the run was stopped and restored from a checkpoint.

    Attributes
    ----------
    failure : Failure or None
        Set by the step that could not be solved; there are no more after it.
    layout : dict
        See `Record`.
    """

    failure: Failure | None = None
    layout: dict = {}

    @property
    @abstractmethod
    def reached(self) -> Reached:
        """Progress of the run."""

    @property
    def finished(self) -> bool:
        """Whether the end is reached."""
        return self.reached.done >= self.reached.total

    @abstractmethod
    def start(self) -> Block:
        """Place the mechanism at its start, and record it."""

    @abstractmethod
    def advance(self, steps: int) -> Block:
        """March ``steps`` steps, or up to the end or to the one that fails."""

    @abstractmethod
    def tail(self) -> Block:
        """Return the last state, where `finished` or failed, if it is not among the nodes recorded so far.

        No checkpoint counts it: a run that goes on longer does not have it.
        """

    @abstractmethod
    def state(self) -> State:
        """Return the present state."""

    @abstractmethod
    def checkpoint(self) -> dict[str, np.ndarray]:
        """Return all that the steps to come depend on, and the number of nodes ``recorded`` before it, (1,)."""

    @abstractmethod
    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Go back to a `checkpoint` of the same run."""


class SteeredRun(Run):
    """A run whose constant inputs may be set between its steps, as by a `Stepper`.

    Attributes
    ----------
    mechanism : Mechanism
    constant : (ne,) inputs of the elements, where they are constant
    turns : dict
        Joint name to its coordinates (dof,) at the start, rad, as the initial state counts them.
    """

    mechanism: Mechanism
    constant: np.ndarray
    turns: Mapping[str, np.ndarray] = {}

    @property
    @abstractmethod
    def node(self) -> int:
        """Number of the present node."""

    def steer(self, steps: int) -> Block:
        """March ``steps`` nodes on, or up to the step that fails, with the inputs that are ``constant`` by now."""
        return self.advance(steps)

    def counted(self) -> dict[str, np.ndarray]:
        """Return joint name to coordinates (dof,) now, rad, of angles whose turns forces count; NaN for others."""
        return {}

    def unresolved(self, nodes: Mapping[str, np.ndarray]) -> int:
        """Return the number of a body that the last steps, with the recorded ``nodes``, did not resolve, or -1."""
        return -1

    def vertex_motion(self) -> np.ndarray:
        """Return positions, m, and velocities, m/s, (2, n, 3), world, of all vertices of deformable bodies now."""
        return np.zeros((2, 0, 3))
