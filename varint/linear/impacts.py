"""Impacts of a run whose derivatives are taken: their steps, and what changes with time while their instants move."""

from typing import NamedTuple

import numpy as np

from varint.errors import ArgumentError
from varint.kernels.plan import Tape
from varint.loads import Commands, Loads
from varint.mechanism import Mechanism
from varint.model.forces.base import Force
from varint.model.forces.commanded import Commanded

GRAZING = 1e-12  # of the fastest motion: how fast a stop is met at least
APART = 1e-9  # of the parts of the change of a gap: above this it changes


def _stop(mechanism: Mechanism, tape: Tape, j: int) -> Force:
    """The force whose limit is met in impact j."""
    compiled = mechanism.compiled
    return mechanism.forces[compiled.force[compiled.plan.limits.element[tape.impacts.limit[j]]]]


def check_met(mechanism: Mechanism, tape: Tape, j: int, rate: float) -> None:
    """Raise ArgumentError where the stop of impact j is met at no ``rate``: its instant has no derivative."""
    k = int(tape.impacts.stage[j]) - 1
    if abs(rate) <= GRAZING * np.abs(tape.velocity[k]).max() * mechanism.compiled.length:
        force = _stop(mechanism, tape, j)
        raise ArgumentError(f"{force.label} is met without speed, where the instant of an impact has no derivative")


def check_stays(mechanism: Mechanism, tape: Tape, j: int, gap: np.ndarray, changes: np.ndarray) -> None:
    """Raise ArgumentError where changes (n, nb, 12) take impact j away from its instant, which is that of another
    event: ``gap`` (nb, 12), the gradient of the gap there."""
    parts = gap * changes
    if (np.abs(parts.sum(axis=(1, 2))) > APART * np.abs(parts).sum(axis=(1, 2))).any():
        force = _stop(mechanism, tape, j)
        raise ArgumentError(
            f"{force.label} is met at the very instant of another impact, or of a node: it has no derivative then."
            " Change dt or the start a little"
        )


def last_of_step(tape: Tape, k: int, until: int) -> int:
    """The last stage of the step that stage k is in, of those before stage ``until``."""
    return int(np.flatnonzero(tape.node[:until] == tape.node[k])[-1])


def lets_go(tape: Tape, j: int) -> bool:
    """Whether impact j is that of a limit which was closed, and opens: no change of the start takes it off its gap."""
    impacts = tape.impacts
    stage, limit = impacts.stage[j], impacts.limit[j]
    closed_now = (impacts.stage[:j] == stage) & (impacts.limit[:j] == limit) & (impacts.restitution[:j] == 0.0)
    return bool(closed_now.any() or (stage > 0 and tape.closed[stage - 1, limit]))


def shares(tape: Tape, first: int, count: int) -> np.ndarray:
    """(count + 1,) of a sub-step of ``count`` stages from ``first`` on: where each begins, and the last one ends."""
    ends = np.cumsum(tape.h[first : first + count])
    return np.concatenate([[0.0], ends[:-1] / ends[-1], [1.0]])


class Drift(NamedTuple):
    """Rates at which what acts in a stage changes with the instant, by s."""

    input: np.ndarray  # (ne,)
    load: np.ndarray  # (nb, 6)
    target: np.ndarray  # (nr,) at the end of the stage
    target_rate: np.ndarray  # (nr,) likewise


class Drifts:
    """What changes with time in a run of steps of ``dt``, s: the ``commands`` and ``loads`` at its nodes, if any."""

    def __init__(self, mechanism: Mechanism, commands: Commands | None, loads: Loads | None, dt: float) -> None:
        self.compiled, self.commands, self.loads, self.dt = mechanism.compiled, commands, loads, dt
        forces = [mechanism.forces[k] for k in self.compiled.force]
        self.spans = np.array([force.input_span if isinstance(force, Commanded) else 1.0 for force in forces])

    @property
    def varies(self) -> bool:
        """Whether anything does."""
        return any(each is not None and each.varies for each in (self.commands, self.loads))

    def of_stage(self, tape: Tape, k: int) -> Drift:
        """Of stage k of the run."""
        plan, nodes = self.compiled.plan, tape.node[k] + np.arange(2)
        input, load = np.zeros(len(self.spans)), np.zeros((plan.bodies.mass.size, 6))
        target, target_rate = np.zeros((2, plan.rows.role.size))
        if self.loads is not None and self.loads.varies:
            load = np.diff(self.loads.at(nodes), axis=0)[0] / self.dt
        if self.commands is not None and self.commands.varies:
            (a, b), (p, q) = self.commands.at(nodes)
            p, q, s, constraints = p * self.dt, q * self.dt, tape.share[k] + 0.5 * tape.h[k] / self.dt, plan.constraints
            square, cube = 3.0 * (b - a) - 2.0 * p - q, 2.0 * (a - b) + p + q  # as of `constraints.set_targets`
            rows, elements = constraints.row[constraints.driven], constraints.element[constraints.driven]
            target[rows] = ((p + s * (2.0 * square + 3.0 * s * cube)) / self.dt)[elements]
            target_rate[rows] = ((2.0 * square + 6.0 * s * cube) / self.dt**2)[elements]
            input = (b - a) / self.dt
            input[[e for e, _ in self.commands.of_time]] = self._of_time(tape.node[k], tape.share[k])
            input[constraints.element] = 0.0
        return Drift(input, load, target, target_rate)

    def _of_time(self, node: int, share: float) -> np.ndarray:
        """(m,) of functions of time: of the parabolas through their values at start, middle and end of the step."""
        assert self.commands is not None
        a, b, c = self.commands.within(self.dt * (node + np.array([0.0, 0.5, 1.0])))
        return ((4.0 * share - 3.0) * a + (4.0 - 8.0 * share) * b + (4.0 * share - 1.0) * c) / self.dt
