"""The gradient of a run by what is given at its nodes: inputs of forces, prescribed motions, loads on bodies."""

import numpy as np

from varint.gradients.taped import TapedRun
from varint.kernels.plan import ByNumbers
from varint.loads import motion_through


class Given:
    """The gradient by tables at the nodes.

    Parameters
    ----------
    run : TapedRun
    by : ByNumbers
        The gradient by what acted in its stages.
    by_rate : list of (nr,)
        By the rates of targets, at the start and at the nodes of the run's states.

    Attributes
    ----------
    value : (T, ne) by the inputs of the elements at the nodes; T = 1: constant
    slope : (T, ne) by their rates times dt, in the cubics between nodes
    rate : (T, ne) by the rates, in the velocities at nodes
    """

    def __init__(self, run: TapedRun, by: ByNumbers, by_rate: list[np.ndarray]) -> None:
        self.run, self.by = run, by
        self.value, self.slope, self.rate = np.zeros((3, *run.inputs.shape[1:]))
        tape, constraints, count, last = run.tape, run.compiled.plan.constraints, run.count, len(self.value) - 1
        node, middle = tape.node[:count], tape.share[:count, None]
        left, right = np.minimum(node, last), np.minimum(node + 1, last)
        np.add.at(self.value, left, (1.0 - middle) * by.input[:count])
        np.add.at(self.value, right, middle * by.input[:count])
        s = (tape.share + 0.5 * tape.h / run.dt)[:count, None]
        rows, elements = constraints.row[constraints.driven], constraints.element[constraints.driven]
        target, step = by.target[:count, rows], s * s * (3.0 - 2.0 * s)
        for at, table, weight in (  # the cubic of `constraints.set_targets`
            (left, self.value, 1.0 - step),
            (right, self.value, step),
            (left, self.slope, s * (1.0 - s) ** 2),
            (right, self.slope, s * s * (s - 1.0)),
        ):
            for k, e in enumerate(elements):
                np.add.at(table[:, e], at, (weight * target[:, k : k + 1])[:, 0])
        for number, by_rates in zip([0, *run.at], by_rate, strict=True):
            self.rate[min(number, last), elements] += by_rates[rows]

    def along(self, table: np.ndarray, dt: float) -> float:
        """The product with the change to another ``table`` (2, T, ne) of inputs and rates, at nodes ``dt`` apart."""
        value, rate = self.run.inputs
        by_rates = np.sum(self.slope * (table[1] * dt - rate * self.run.dt)) + np.sum(self.rate * (table[1] - rate))
        return float(np.sum(self.value * (table[0] - value)) + by_rates)

    def by_series(self, elements: np.ndarray, moves: bool) -> np.ndarray:
        """(T,) by the values at the nodes that are the input of ``elements``.

        ``moves``: of a prescribed motion. The first value is where the run starts: it cannot change alone, 0.
        """
        found = self.value[:, elements].sum(axis=1)
        if moves:
            rates = motion_through(np.eye(len(found)), 1.0)(np.arange(len(found)), 1)
            found += (self.slope + self.rate / self.run.dt)[:, elements].sum(axis=1) @ rates
            found[0] = 0.0
        return found

    def by_load(self, slot: int, columns: slice, nodes: int) -> np.ndarray:
        """(nodes, 3) by the force or torque on a body at the nodes, or (3,) for ``nodes`` = 0: a constant one."""
        tape, count = self.run.tape, self.run.count
        by = self.by.load[:count, :, slot, columns]
        if not nodes:
            return by.sum(axis=(0, 1))
        found, node, half = np.zeros((nodes, 3)), tape.node[:count], 0.5 * tape.h[:count] / self.run.dt
        for end, share in enumerate((tape.share[:count] - half, tape.share[:count] + half)):
            np.add.at(found, node, (1.0 - share)[:, None] * by[:, end])
            np.add.at(found, np.minimum(node + 1, nodes - 1), share[:, None] * by[:, end])
        return found
