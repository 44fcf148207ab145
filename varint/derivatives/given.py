"""The gradient of a run by what is given at its nodes: inputs of forces, prescribed motions, loads on bodies."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from varint.derivatives.taped import MaximalTape, TapedNode
from varint.mechanism.mechanism import Mechanism
from varint.model.state import State
from varint.results.inputs.at_nodes import motion_through
from varint.step.plan import ByNumbers


class LoadPlace(NamedTuple):
    """A force or torque on a body: its slot and the columns of a load (6,). ``nodes``: 0 where it is constant."""

    slot: int
    columns: slice
    nodes: int


class Given:
    """The gradient by tables at the nodes, of which each part of the run adds its share, from the last one on.

    All sums go from the last stage to the first, term by term: they have the same bits however the run is cut.

    Parameters
    ----------
    run : TapedRun
    places : mapping of names to LoadPlace
        The loads that are asked for.

    Attributes
    ----------
    value : (T, ne) by the inputs of the elements at the nodes; T = 1: constant
    slope : (T, ne) by their rates times dt, in the cubics between nodes
    rate : (T, ne) by the rates, in the velocities at nodes and events
    steep : (T, ne) by the inputs over dt, in the velocities at events
    load : dict of names to (nodes, 3) by the loads at the nodes, (1, 3) where they are constant
    of_time : list of ((n,), (n, m))
        Of the stages of each part, from the last one on: times, s, and the gradient by inputs that are functions
    fed : (nodes, c) by the functions of the state, over the step from each node of the run
    target : (nr,) by the targets of constraints, where they stay as they are
    size : float, by the sizes of all stages, as shares of them
    """

    def __init__(self, run: MaximalTape, places: Mapping[str, LoadPlace]) -> None:
        self.run, self.places = run, places
        self.value, self.slope, self.rate, self.steep = np.zeros((4, *run.inputs.shape[1:]))
        self.load = {name: np.zeros((max(place.nodes, 1), 3)) for name, place in places.items()}
        constraints = run.compiled.plan.constraints
        self.rows, self.elements = constraints.row[constraints.driven], constraints.element[constraints.driven]
        self.called = [e for e, _ in run.commands.of_time]
        self.fed = np.zeros((len(run.nodes), run.fed_back.elements.size))
        self.of_time: list[tuple[np.ndarray, np.ndarray]] = []
        self.target, self.size = np.zeros(run.compiled.plan.rows.role.size), np.zeros(())

    def add(self, count: int, by: ByNumbers) -> None:
        """Add the first ``count`` stages on the tape; ``by``: gradient by numbers of these stages."""
        tape, dt = self.run.tape, self.run.dt
        node, share, h, last = tape.node[:count], tape.share[:count], tape.h[:count], len(self.value) - 1
        nodes, width = (np.minimum(node, last), np.minimum(node + 1, last)), self.run.widths(node)[:, None]
        middle, s = share[:, None] / width, (share + 0.5 * h / dt)[:, None] / width
        by_input = by.input[:count].copy()
        if self.called:
            self.of_time.append((dt * (self.run.knots[node] + share)[::-1], by_input[::-1, self.called]))
            by_input[:, self.called] = 0.0
        by_input[:, self.run.fed_back.elements] = 0.0
        left, right = (1.0 - middle) * by_input, middle * by_input
        target, step = by.target[:count, self.rows], s * s * (3.0 - 2.0 * s)
        left[:, self.elements] += (1.0 - step) * target  # the cubic of `constraints.set_targets`
        right[:, self.elements] += step * target
        _add(self.value, nodes, (left, right))
        slopes = np.zeros((2, *left.shape))
        slopes[0][:, self.elements] = width * s * (1.0 - s) ** 2 * target
        slopes[1][:, self.elements] = width * s * s * (s - 1.0) * target
        _add(self.slope, nodes, [*slopes])
        self.target, self.size = in_turn(self.target, by.target[:count]), in_turn(self.size, by.h[:count] * h)
        for name, place in self.places.items():
            self._add_load(self.load[name], place, by.load[:count, :, place.slot, place.columns])

    def _add_load(self, total: np.ndarray, place: LoadPlace, by: np.ndarray) -> None:
        """Add to the gradient ``total`` (nodes, 3) by a load; ``by`` (count, 2, 3): at start and end of each stage."""
        tape, count, last = self.run.tape, len(by), len(total) - 1
        nodes = [np.minimum(tape.node[:count], last), np.minimum(tape.node[:count] + 1, last)]
        if not place.nodes:
            _add(total, nodes, (by[:, 0], by[:, 1]))
            return
        half, middle = 0.5 * tape.h[:count] / self.run.dt, tape.share[:count]
        terms = []
        for end, share in enumerate((middle - half, middle + half)):
            terms += [(1.0 - share)[:, None] * by[:, end], share[:, None] * by[:, end]]
        _add(total, nodes * 2, terms)

    def add_rate(self, node: TapedNode, by_rate: np.ndarray) -> None:
        """Add the gradient (nr,) by the rates of targets at a node."""
        by, last = by_rate[self.rows], len(self.rate) - 1
        left, right = min(node.number, last), min(node.number + 1, last)
        if not node.share:
            self.rate[left, self.elements] += by
            return
        width = float(self.run.widths(np.array([node.number]))[0])
        s = node.share / width
        moved = 6.0 * s * (1.0 - s) / (width * self.run.dt) * by
        self.value[left, self.elements] -= moved
        self.value[right, self.elements] += moved
        self.rate[left, self.elements] += (1.0 - s) * (1.0 - 3.0 * s) * by
        self.rate[right, self.elements] += s * (3.0 * s - 2.0) * by

    def add_event(self, k: int, by_rate: np.ndarray) -> None:
        """Add the gradient (nr,) by the rates of targets at an event at the end of stage k, -1 for the start."""
        by, last, tape = by_rate[self.rows], len(self.value) - 1, self.run.tape
        if k < 0:
            self.rate[0, self.elements] += by
            return
        node, s = int(tape.node[k]), tape.share[k] + 0.5 * tape.h[k] / self.run.dt
        left, right, step = min(node, last), min(node + 1, last), 6.0 * s * (1.0 - s)
        self.steep[left, self.elements] -= step * by
        self.steep[right, self.elements] += step * by
        self.rate[left, self.elements] += (1.0 - s) * (1.0 - 3.0 * s) * by
        self.rate[right, self.elements] += s * (3.0 * s - 2.0) * by

    def along(self, mechanism: Mechanism, start: State, dt: float) -> float:
        """Return the product with the change of the inputs for a run of ``mechanism``.

        From ``start``, in steps of ``dt``, s.
        """
        (value, rate), (new, new_rate) = self.run.inputs, self.run.table(mechanism, start, dt)
        total = np.sum(self.slope * (new_rate * dt - rate * self.run.dt)) + np.sum(self.rate * (new_rate - rate))
        total += np.sum(self.steep * (new / dt - value / self.run.dt))
        if self.called:
            times, by = map(np.concatenate, zip(*self.of_time, strict=True))
            changed = self.run.functions_at(mechanism, times * (dt / self.run.dt))
            total += np.sum(by * (changed - self.run.functions_at(self.run.mechanism, times)))
        return float(np.sum(self.value * (new - value)) + total) + self.along_fed_back(mechanism, dt)

    def along_fed_back(self, mechanism: Mechanism, dt: float) -> float:
        """Return the product with the change of the inputs that are functions of the state, see `along`."""
        if not self.run.fed_back:
            return 0.0
        states, numbers = [node.state for node in self.run.nodes], [node.number for node in self.run.nodes]
        times, longer = self.run.dt * np.array(numbers), dt / self.run.dt - 1.0
        return float(np.sum(self.fed * self.run.fed_back.changes(mechanism, states, times, longer)))

    def by_series(self, elements: np.ndarray, moves: bool) -> np.ndarray:
        """Return the gradient (T,) by the values at the nodes of the input of ``elements``.

        ``moves``: a prescribed motion. Its first value is that of the initial state and cannot change alone: 0.
        """
        by = (self.value + self.steep / self.run.dt)[:, elements].sum(axis=1)
        if moves:
            rates = motion_through(np.eye(len(by)), 1.0)(np.arange(len(by)), 1)
            by += (self.slope + self.rate / self.run.dt)[:, elements].sum(axis=1) @ rates
            by[0] = 0.0
        return by

    def by_load(self, name: str) -> np.ndarray:
        """Return the gradient by the load ``name`` on a body: (nodes, 3) by its values at nodes, (3,) by a constant."""
        return self.load[name] if self.places[name].nodes else self.load[name][0]


def in_turn(total: np.ndarray, terms: np.ndarray) -> np.ndarray:
    """Return ``total`` (...) plus ``terms`` (N, ...), added one by one from the last to the first."""
    return np.add.accumulate(np.concatenate([total[None], terms[::-1]]))[-1]


def _add(table: np.ndarray, places: Sequence[np.ndarray], terms: Sequence[np.ndarray]) -> None:
    """Add ``terms`` (N, ...) to the rows ``places`` (N,) of ``table``, one each: from the last stage to the first."""
    rows = np.stack(places, axis=1)[::-1].ravel()
    np.add.at(table, rows, np.stack(terms, axis=1)[::-1].reshape(len(rows), *table.shape[1:]))
