"""The gradient of a run of collocation by what is given at the nodes of its steps: inputs and prescribed motions."""

import numpy as np

from varint.derivatives.collocation.tape import CollocationTape
from varint.derivatives.given import Given, LoadPlace, in_turn
from varint.derivatives.taped import TapedNode
from varint.mechanism.mechanism import Mechanism
from varint.model.state import State
from varint.results.inputs.at_nodes import motion_through
from varint.step.plan import ByNumbers


class CollocationGiven(Given):
    """See `Given`. Inputs are taken at the nodes of steps, prescribed motions on their course there.

    at : list of ((n,), (n, ne))
        Of the nodes of each part of the run, from the last one on: numbers, with shares of a step, and gradients.
    rates : list of (number of a node, (ne,))
        Gradients by rates, in the velocities at nodes of the run.
    """

    def __init__(self, run: CollocationTape, places: dict[str, LoadPlace]) -> None:
        super().__init__(run, places)
        self.at: list[tuple[np.ndarray, np.ndarray]] = []
        self.rates: list[tuple[int, np.ndarray]] = []
        self.steps = run.march.taped

    def add(self, count: int, by: ByNumbers) -> None:
        """See `Given`."""
        tape, s = self.run.tape, self.steps.given.shape[1]
        by_input = by.input[:count].copy()
        by_input[:, self.run.fed_back.elements] = 0.0
        by_input[:, self.elements] += by.target[:count, self.rows]
        self.target = in_turn(self.target, by.target[:count])
        self.size = in_turn(self.size, by.h[:count] * np.repeat(self.steps.h[: count // s], s))
        for name, place in self.places.items():
            self._add_load(self.load[name], place, by.load[:count, :, place.slot, place.columns])
        if self.run.commands.varies:
            self.at.append(((tape.node[:count] + tape.share[:count])[::-1], by_input[::-1]))
        self.value[0] = in_turn(self.value[0], by_input)  # of constant inputs

    def add_rate(self, node: TapedNode, by_rate: np.ndarray) -> None:
        """See `Given`."""
        by = np.zeros(self.value.shape[1])
        by[self.elements] = by_rate[self.rows]
        self.rates.append((node.number, by))

    def along(self, mechanism: Mechanism, start: State, dt: float) -> float:
        """See `Given`."""
        old, new = self.run.commands, self.run.commands_of(mechanism, start, dt)
        total = 0.0
        if old.varies:
            for nodes, by in self.at:
                total += np.sum(by * (new.at(nodes)[0] - old.at(nodes)[0]))
        else:
            total += np.sum(self.value[0] * (new.at(np.zeros(1)) - old.at(np.zeros(1)))[0, 0])
        for number, by in self.rates:
            at = np.array([number])
            total += float(by @ (new.at(at) - old.at(at))[1, 0])
        return float(total) + self.along_fed_back(mechanism, dt)

    def by_series(self, elements: np.ndarray, moves: bool) -> np.ndarray:
        """See `Given`."""
        if not self.at:
            return self.value[:1, elements].sum(axis=1)
        count = len(self.run.inputs[0])
        nodes = np.concatenate([each for each, _ in self.at])
        by_value = np.concatenate([by[:, elements].sum(axis=1) for _, by in self.at])
        if not moves:
            left, by_entry = np.floor(nodes).astype(int), np.zeros(count)
            np.add.at(by_entry, np.minimum(left, count - 1), (1.0 - nodes + left) * by_value)
            np.add.at(by_entry, np.minimum(left + 1, count - 1), (nodes - left) * by_value)
            return by_entry
        motion = motion_through(np.eye(count), self.run.dt)
        by_entry = by_value @ motion(self.run.dt * nodes, 0)
        for number, by in self.rates:
            by_entry += by[elements].sum() * motion(self.run.dt * np.array([number]), 1)[0]
        by_entry[0] = 0.0  # that of the initial state, which cannot change alone
        return by_entry
