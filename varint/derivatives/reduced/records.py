"""Stored parts of a run in reduced coordinates: the setting, its steps with their stages, and nodes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from varint.mechanism.mechanism import Mechanism
from varint.methods.reduced.couplings import prescribed_motions
from varint.methods.reduced.equations import Equations
from varint.methods.reduced.implicit import Motion
from varint.methods.reduced.start import start_of
from varint.methods.reduced.states import ReducedState
from varint.methods.reduced.tree import Tree, find_tree
from varint.model.state import State
from varint.results.inputs.at_times import InputsAtTimes
from varint.results.inputs.courses import Span, Steady

SLOTS = 3  # places of a step: the node before its start, its start, and one a stage; of each q, rates and integrals


@dataclass(frozen=True, eq=False)
class ReducedSetting:
    """Settings of a run beside mechanism and start; see `varint.redmax.simulate`. ``rtol`` is for error control."""

    steps: int
    dt: float
    force: Mapping | None
    torque: Mapping | None
    baumgarte: float
    prescribed: Mapping[str, Callable]
    chart: str
    rtol: float

    def equations(
        self, mechanism: Mechanism, state: State | ReducedState, charts: Mapping[str, str] | None = None
    ) -> tuple[Equations, np.ndarray, np.ndarray]:
        """Return the equations of ``mechanism``, and q and rates (nq,) of ``state``; ``charts``: to start in."""
        motions = prescribed_motions(mechanism, Span(self.steps, self.dt, self.steps * self.dt))
        acting = self.steps, self.dt, self.force, self.torque, motions
        drives = motions | dict(self.prescribed)
        made = Equations(mechanism, lambda c: InputsAtTimes(mechanism, c, *acting), self.baumgarte, drives, self.chart)
        if charts is not None and charts != made.tree.charts:
            made.use(find_tree(mechanism, charts=charts))
        q, rates = start_of(made, state, motions)
        made.targets[:] = made.couplings.values(q)
        return made, q, rates


def steady_columns(equations: Equations) -> np.ndarray:
    """Return whether each coordinate (nq,) moves on at a constant rate from where the run starts."""
    steady = np.zeros(equations.nq, dtype=bool)
    for drive in equations.drives:
        steady[drive.columns] = isinstance(drive.function, Steady)
    return steady


class Stage(NamedTuple):
    """A stage that was solved, see methods/reduced/implicit.py; with s = 0 an explicit one, at x and ``rates``."""

    t: float
    s: float
    x: np.ndarray
    rates: np.ndarray
    second: np.ndarray
    multiplier: np.ndarray
    integral: np.ndarray


class StageShape(NamedTuple):
    """Linear combinations by which a step of n stages forms its places, factors (..., SLOTS (n + 2)).

    ``d``, ``e``, ``integral`` of each stage; ``end`` (3, ...): of q, rates and integrals at the end. Of implicit stages
    e = c - d; of explicit ones q = d and rates = e, and in the places of the stage are rates, ddq and flow.
    """

    d: np.ndarray
    e: np.ndarray
    integral: np.ndarray
    end: np.ndarray


class Step(NamedTuple):
    """A step: its tree, memories of the equations, start (in the charts of the tree), stages and end."""

    tree: Tree
    memory: dict[str, np.ndarray]
    start: Motion
    shape: StageShape
    stages: list[Stage]
    end: Motion


class ReducedNode(NamedTuple):
    """A node: its number, how many steps led there, the tree, q and rates there, and its state."""

    number: int
    steps: int
    tree: Tree
    motion: Motion
    state: State
